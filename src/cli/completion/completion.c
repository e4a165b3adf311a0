#include "cli/completion/completion.h"

#include <string.h>

#include "fastnet/array.h"
#include "fastnet/field.h"

void completion_each_option(const struct grammar *grammar, completion_fn fn,
                            const struct script *script)
{
    for (size_t t = 0; t < grammar->table_count; t++)
        for (size_t i = 0; i < grammar->tables[t]->count; i++)
            if (grammar->tables[t]->options[i].help)
                fn(&grammar->tables[t]->options[i], grammar, script);
}

enum completion_form completion_form(const struct option *option)
{
    if (!option->choices)
        return COMPLETION_NONE;
    if (option->metavar && strstr(option->metavar, ",..."))
        return COMPLETION_LIST;
    if (option->metavar && strncmp(option->metavar, "[-]", 3) == 0)
        return COMPLETION_SIGNED;
    return COMPLETION_WORD;
}

bool completion_of_columns(const struct option *option)
{
    return option->choices && strcmp(option->choices, CHOICES_COLUMNS) == 0;
}

void completion_put_columns(const struct kind *kind, FILE *stream)
{
    for (size_t i = 0; i < kind->field_count; i++)
        fprintf(stream, "%s%s", i ? " " : "", kind->fields[i].name);
}

/* Letters of options: those of one id, or (id 0) those that another letter can follow. */
static void put_letters(const struct grammar *grammar, int id, FILE *stream)
{
    for (size_t t = 0; t < grammar->table_count; t++)
        for (size_t i = 0; i < grammar->tables[t]->count; i++) {
            const struct option *option = &grammar->tables[t]->options[i];
            bool alone = option->argument == ARGUMENT_NONE || option->argument == ARGUMENT_INTERVAL;
            if (option->letter && (id ? option->id == id : alone))
                fputc(option->letter, stream);
        }
}

static bool has_letter(const struct grammar *grammar, int id)
{
    for (size_t t = 0; t < grammar->table_count; t++)
        for (size_t i = 0; i < grammar->tables[t]->count; i++)
            if (grammar->tables[t]->options[i].id == id && grammar->tables[t]->options[i].letter)
                return true;
    return false;
}

void completion_put_pattern(const struct grammar *grammar, const struct listed *listed,
                            FILE *stream)
{
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
    for (size_t t = 0; t < grammar->table_count; t++)
        for (size_t i = 0; i < grammar->tables[t]->count; i++) {
            const struct option *option = &grammar->tables[t]->options[i];
            if (option->id != listed->id || !option->name)
                continue;
            fprintf(stream, "%s--%s", separator, option->name);
            separator = "|";
        }
    fputc(')', stream);
    if (listed->argument)
        fprintf(stream, "[ =]*%s", listed->argument);
}

void completion_put_quoted(const char *text, FILE *stream)
{
    for (; *text; text++)
        fputc(strchr("'[]:\\", *text) ? ' ' : *text, stream);
}

void completion_put_names(const struct script *script, bool others, FILE *stream)
{
    const char *separator = "";

    for (size_t i = 0; i < script->count; i++) {
        if (others && script->grammars[i] == script->own)
            continue;
        fprintf(stream, "%s%s", separator, script->grammars[i]->name);
        separator = " ";
    }
}

int completion_print(const struct grammar *grammar, const struct grammar *const words[],
                     size_t word_count, const char *shell, FILE *stream)
{
    static const struct {
        const char *name;
        void (*print)(const struct script *script);
    } shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};
    const struct script script = {
        .stream = stream,
        .grammars = word_count ? words : &grammar,
        .count = word_count ? word_count : 1,
        .command = word_count ? "fastnet" : grammar->name,
        .own = grammar,
        .has_words = word_count > 0,
    };

    for (size_t i = 0; i < COUNT(shells); i++)
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].print(&script);
            return 0;
        }
    return -1;
}
