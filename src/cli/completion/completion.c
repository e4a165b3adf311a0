#include "cli/completion/completion.h"

#include <string.h>

#include "cli/columns.h"
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
    if (option->metavar && (strstr(option->metavar, ",...") || option->metavar[0] == '['))
        return COMPLETION_LIST;
    if (option->metavar && strcmp(option->metavar, "EXPR") == 0)
        return COMPLETION_EXPRESSION;
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

bool completion_has_columns(const struct option *option)
{
    return option->choices && *option->choices == '$';
}

/* Words, or variables or a command as the shell writes them. */
static void put_choices(const char *choices, const struct script *script)
{
    for (; *choices; choices++)
        if (*choices == '$')
            fputs(script->variable, script->stream);
        else if (*choices == '(')
            fprintf(script->stream, "%s(", script->substitution);
        else
            fputc(*choices, script->stream);
}

void completion_put_choices(const struct option *option, const struct script *script)
{
    if (strcmp(option->choices, CHOICES_VALUES) == 0)
        put_values(field_named(script->grammar->kind, option->columns), script->stream);
    else
        put_choices(option->choices, script);
}

void completion_put_operands(const struct operands *operands, const struct script *script)
{
    operands->put(script->stream);
    if (!operands->choices)
        return;
    fputc(' ', script->stream);
    put_choices(operands->choices, script);
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

/* --- Columns ---------------------------------------------------------------------------------- */

const char *const completion_sets[COMPLETION_SETS] = {"columns", "numbers", "groups"};

/* With its text where the shell shows it. */
static void put_set_word(const char *word, const char *text, const struct script *script)
{
    const char *quote = script->before_text ? "'" : "";

    fprintf(script->stream, " %s%s", quote, word);
    if (script->before_text) {
        fputs(script->before_text, script->stream);
        completion_put_quoted(text, "", script);
    }
    fputs(quote, script->stream);
}

static void put_groups(const struct kind *kind, const struct script *script)
{
    char text[80];

    for (size_t i = 0; i < kind->group_count; i++) {
        snprintf(text, sizeof text, "all columns of the group %s", kind->groups[i].name);
        put_set_word(kind->groups[i].name, text, script);
    }
    put_set_word("all", "all columns but names of hosts", script);
    put_set_word("help", "lists all columns", script);
}

void completion_put_set(const struct kind *kind, size_t set, const struct script *script)
{
    const struct field *field;

    if (set == COMPLETION_GROUPS) {
        put_groups(kind, script);
        return;
    }
    for (size_t i = 0; (field = field_at(kind, i)); i++)
        if (set == COMPLETION_COLUMNS || columns_can_sum(field))
            put_set_word(field->name, field->help, script);
}

static const struct kind *kind_at(const struct grammar *grammar, size_t index)
{
    return index ? grammar->listed[index - 1].kind : grammar->kind;
}

void completion_each_kind(const struct script *script,
                          void (*fn)(const struct kind *kind, const struct script *script))
{
    enum { KINDS_MAX = 32 };
    const struct kind *kinds[KINDS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < script->count; i++)
        for (size_t j = 0; j <= script->grammars[i]->listed_count; j++) {
            const struct kind *kind = kind_at(script->grammars[i], j);
            size_t known = 0;
            while (known < count && kinds[known] != kind)
                known++;
            if (known < count || count == KINDS_MAX)
                continue;
            kinds[count++] = kind;
            fn(kind, script);
        }
}

void completion_put_kind(const struct kind *kind, FILE *stream)
{
    for (const char *at = kind->name; *at; at++)
        fputc(*at == ' ' ? '_' : *at, stream);
}

void completion_put_kinds(const struct script *script, const char *set, const char *test,
                          const char *then)
{
    const struct grammar *grammar = script->grammar;

    fputs(set, script->stream);
    completion_put_kind(grammar->kind, script->stream);
    for (size_t i = 0; i < grammar->listed_count; i++) {
        fputs(test, script->stream);
        put_pattern(grammar, &grammar->listed[i], script->stream);
        fputs(then, script->stream);
        completion_put_kind(grammar->listed[i].kind, script->stream);
    }
    fputc('\n', script->stream);
}

/* --- Text ------------------------------------------------------------------------------------- */

void completion_put_after(const struct operands *operands, const char *between, FILE *stream)
{
    for (const char *at = operands->after; *at; at++)
        if (*at == ' ')
            fputs(between, stream);
        else
            fputc(*at, stream);
}

void completion_put_quoted(const char *text, const char *special, const struct script *script)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs(script->apostrophe, script->stream);
        else
            fprintf(script->stream, "%s%c", strchr(special, *text) ? "\\" : "", *text);
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
        struct script script;
    } shells[] = {
        {"bash", completion_bash, {.substitution = "$", .variable = "$"}},
        {"zsh",
         completion_zsh,
         {.substitution = "$", .variable = "$fastnet_", .before_text = ":", .apostrophe = "'\\''"}},
        {"fish",
         completion_fish,
         {.substitution = "", .variable = "", .before_text = "\t", .apostrophe = "\\'"}},
    };

    for (size_t i = 0; i < COUNT(shells); i++) {
        struct script script = shells[i].script;
        if (strcmp(shells[i].name, shell) != 0)
            continue;
        script.stream = stream;
        script.grammars = words ? words : &grammar;
        script.count = !words;
        script.command = words ? "fastnet" : grammar->name;
        script.own = grammar;
        script.has_words = words;
        while (words && words[script.count])
            script.count++;
        shells[i].print(&script);
        return true;
    }
    return false;
}
