#include "cli/completion/completion.h"

#include <string.h>

#include "cli/where/parser.h"
#include "fastnet/array.h"
#include "fastnet/field.h"

void completion_each_grammar(struct script *script, void (*fn)(const struct script *script))
{
    for (size_t i = 0; i < script->count; i++) {
        script->grammar = script->grammars[i];
        fn(script);
    }
}

void completion_each_option(const struct script *script,
                            void (*fn)(const struct option *option, const struct script *script))
{
    const struct option *option;

    for (size_t i = 0; (option = options_at(script->grammar->tables, i)); i++)
        if (option->help)
            fn(option, script);
}

enum completion_form completion_form(const struct option *option)
{
    if (option->metavar && strcmp(option->metavar, "DIR") == 0)
        return COMPLETION_DIRECTORY;
    if (option->metavar && strcmp(option->metavar, "FILE") == 0)
        return COMPLETION_FILE;
    if (option->metavar && strcmp(option->metavar, "NETNS") == 0)
        return COMPLETION_NAMESPACE;
    if (!option->choices)
        return COMPLETION_NONE;
    if (option->metavar && strstr(option->metavar, ",..."))
        return COMPLETION_LIST;
    if (option->metavar && strncmp(option->metavar, "[-]", 3) == 0)
        return COMPLETION_SIGNED;
    return COMPLETION_WORD;
}

/* The words that stand for the numbers of a column. */
static void put_values(const struct field *field, FILE *stream)
{
    const char *separator = "";

    for (uint64_t number = 0; number <= UINT8_MAX; number++) {
        const char *word = where_word(field, number);
        if (!word)
            continue;
        fprintf(stream, "%s%s", separator, word);
        separator = " ";
    }
}

void completion_put_choices(const struct option *option, const struct script *script,
                            const char *columns)
{
    FILE *stream = script->stream;

    if (strcmp(option->choices, CHOICES_COLUMNS) == 0)
        fputs(columns, stream);
    else if (strcmp(option->choices, CHOICES_VALUES) == 0)
        put_values(field_named(script->grammar->kind, option->columns), stream);
    else
        fprintf(stream, "%s%s", *option->choices == '(' ? script->substitution : "",
                option->choices);
}

bool completion_is_attached(const struct option *option)
{
    return option->argument == ARGUMENT_ATTACHED && option->choices;
}

bool completion_may_follow(const struct option *option)
{
    return option->argument == ARGUMENT_WORD && option->choices;
}

/* Letters of options: those of one id, or (id 0) those that another letter can follow. */
static void put_letters(const struct grammar *grammar, int id, FILE *stream)
{
    const struct option *option;

    for (size_t i = 0; (option = options_at(grammar->tables, i)); i++) {
        bool alone = option->argument == ARGUMENT_NONE || option->argument == ARGUMENT_INTERVAL;
        if (option->letter && (id ? option->id == id : alone))
            fputc(option->letter, stream);
    }
}

static bool has_letter(const struct grammar *grammar, int id)
{
    const struct option *option;

    for (size_t i = 0; (option = options_at(grammar->tables, i)); i++)
        if (option->id == id && option->letter)
            return true;
    return false;
}

static void put_pattern(const struct grammar *grammar, const struct listed *listed, FILE *stream)
{
    const struct option *option;
    const char *separator = "";

    fputs(" (", stream);
    if (has_letter(grammar, listed->id)) {
        fputs("-[", stream);
        put_letters(grammar, 0, stream);
        fputs("]*[", stream);
        put_letters(grammar, listed->id, stream);
        fputc(']', stream);
        separator = "|";
    }
    for (size_t i = 0; (option = options_at(grammar->tables, i)); i++)
        if (option->id == listed->id && option->name) {
            fprintf(stream, "%s--%s", separator, option->name);
            separator = "|";
        }
    fprintf(stream, ")%s%s", listed->argument ? "[ =]*" : "",
            listed->argument ? listed->argument : "");
}

/* With their texts where the shell shows them. */
static void put_names(const struct script *script, const struct kind *kind, const char *end)
{
    FILE *stream = script->stream;

    for (size_t i = 0; i < kind->field_count; i++) {
        const char *const *around = script->around_text;
        fprintf(stream, "%s%s%s", i ? " " : "", around ? "'" : "", kind->fields[i].name);
        if (!around)
            continue;
        fputs(around[0], stream);
        completion_put_quoted(kind->fields[i].help, stream);
        fprintf(stream, "%s'", around[1]);
    }
    fputs(end, stream);
}

void completion_put_columns(const struct script *script, const char *set, const char *test,
                            const char *then, const char *end)
{
    const struct grammar *grammar = script->grammar;

    fputs(set, script->stream);
    put_names(script, grammar->kind, end);
    for (size_t i = 0; i < grammar->listed_count; i++) {
        fputs(test, script->stream);
        put_pattern(grammar, &grammar->listed[i], script->stream);
        fputs(then, script->stream);
        put_names(script, grammar->listed[i].kind, end);
    }
}

void completion_put_after(const struct operands *operands, const char *between, FILE *stream)
{
    for (const char *at = operands->after; *at; at++)
        if (*at == ' ')
            fputs(between, stream);
        else
            fputc(*at, stream);
}

void completion_put_quoted(const char *text, FILE *stream)
{
    for (; *text; text++)
        fputc(strchr("'[]:\\", *text) ? ' ' : *text, stream);
}

void completion_put_names(const struct script *script, bool others)
{
    const char *separator = "";

    for (size_t i = 0; i < script->count; i++) {
        if (others && script->grammars[i] == script->own)
            continue;
        fprintf(script->stream, "%s%s", separator, script->grammars[i]->name);
        separator = " ";
    }
}

bool completion_print(const struct grammar *grammar, const struct grammar *const words[],
                      const char *shell, FILE *stream)
{
    static const struct {
        const char *name;
        void (*print)(struct script *script);
        const char *substitution;
        const char *around_text[2];
    } shells[] = {{"bash", completion_bash, "$", {NULL}},
                  {"zsh", completion_zsh, "$", {"[", "]"}},
                  {"fish", completion_fish, "", {"\t", ""}}};
    struct script script = {
        .stream = stream,
        .grammars = words ? words : &grammar,
        .count = !words,
        .command = words ? "fastnet" : grammar->name,
        .own = grammar,
        .has_words = words,
    };

    while (words && words[script.count])
        script.count++;
    for (size_t i = 0; i < COUNT(shells); i++)
        if (strcmp(shells[i].name, shell) == 0) {
            script.substitution = shells[i].substitution;
            script.around_text = shells[i].around_text[0] ? shells[i].around_text : NULL;
            shells[i].print(&script);
            return true;
        }
    return false;
}
