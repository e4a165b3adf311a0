#include "cli/completion/completion.h"

#include <string.h>

static const char helpers[] =
    "function __fastnet_word # WORD...: whether the first word is one of these\n"
    "    set -l words (commandline -opc)\n"
    "    contains -- \"$words[2]\" $argv\n"
    "end\n"
    "function __fastnet_first # whether the first word is what is completed\n"
    "    test (count (commandline -opc)) -eq 1\n"
    "end\n"
    "function __fastnet_after # OPTION...: whether one of these was the word before\n"
    "    set -l words (commandline -opc)\n"
    "    contains -- \"$words[-1]\" $argv\n"
    "end\n"
    "function __fastnet_has # REGEX: whether it matches what stands before\n"
    "    set -l words (commandline -opc)\n"
    "    string match -qr -- $argv[1] ' '\"$words[2..-1]\"\n"
    "end\n"
    "function __fastnet_offer # REGEX WORD...: for what follows what the REGEX matches\n"
    "    set -l token (commandline -ct | string replace -r -- '^--[^=]*=' '')\n"
    "    set -l before (string match -r -- \"^$argv[1]\" \"$token\")\n"
    "    printf '%s\\n' \"$before\"$argv[2..-1]\n"
    "end\n";

/* The condition for options of this grammar, if there is one. */
static void put_condition(const struct grammar *grammar, const char *more,
                          const struct script *script)
{
    FILE *stream = script->stream;

    if (!script->has_words && !*more)
        return;
    fputs(" -n '", stream);
    if (script->has_words && grammar == script->own) {
        fputs("not __fastnet_word ", stream);
        completion_put_names(script, true, stream);
    } else if (script->has_words) {
        fprintf(stream, "__fastnet_word %s", grammar->name);
    }
    fprintf(stream, "%s%s'", script->has_words && *more ? "; and " : "", more);
}

static void put_words(const struct option *option, const struct grammar *grammar, FILE *stream)
{
    const enum completion_form form = completion_form(option);

    if (form == COMPLETION_NONE)
        return;
    fputs(" -a '", stream);
    if (form == COMPLETION_LIST)
        fputs("(__fastnet_offer \"(?:.*,)?\" ", stream);
    else if (form == COMPLETION_SIGNED)
        fputs("(__fastnet_offer \"-?\" ", stream);
    if (completion_of_columns(option))
        fprintf(stream, "(__fastnet_columns_%s)", grammar->name);
    else
        fputs(option->choices, stream);
    fputs(form == COMPLETION_WORD ? "'" : ")'", stream);
}

/* fish cannot complete an argument that may be missing and is a word of its own. */
static void put_next_word(const struct option *option, const struct grammar *grammar,
                          const struct script *script)
{
    char after[160];

    snprintf(after, sizeof after, "__fastnet_after -%c --%s", option->letter, option->name);
    fprintf(script->stream, "complete -c %s", script->command);
    put_condition(grammar, after, script);
    put_words(option, grammar, script->stream);
    fputc('\n', script->stream);
}

static void put_option(const struct option *option, const struct grammar *grammar,
                       const struct script *script)
{
    FILE *stream = script->stream;

    fprintf(stream, "complete -c %s", script->command);
    put_condition(grammar, "", script);
    if (option->letter)
        fprintf(stream, " -s %c", option->letter);
    if (option->name)
        fprintf(stream, " -l %s", option->name);
    if (option->argument == ARGUMENT_REQUIRED)
        fputs(strcmp(option->metavar, "DIR") == 0 ? " -x -a '(__fish_complete_directories)'"
                                                  : " -x",
              stream);
    put_words(option, grammar, stream);
    fputs(" -d '", stream);
    completion_put_quoted(option->help, stream);
    fputs("'\n", stream);
    if (option->argument == ARGUMENT_WORD && option->choices)
        put_next_word(option, grammar, script);
}

static void put_columns(const struct grammar *grammar, FILE *stream)
{
    fprintf(stream, "function __fastnet_columns_%s\n    set -l columns ", grammar->name);
    completion_put_columns(grammar->kind, stream);
    fputc('\n', stream);
    for (size_t i = 0; i < grammar->listed_count; i++) {
        fputs("    __fastnet_has '", stream);
        completion_put_pattern(grammar, &grammar->listed[i], stream);
        fputs("'\n    and set columns ", stream);
        completion_put_columns(grammar->listed[i].kind, stream);
        fputc('\n', stream);
    }
    fputs("    printf '%s\\n' $columns\nend\n", stream);
}

void completion_fish(const struct script *script)
{
    FILE *stream = script->stream;

    fprintf(stream, "# fish completion for %s, by fastnet\n%s", script->command, helpers);
    fprintf(stream, "complete -c %s -f\n", script->command);
    for (size_t i = 0; i < script->count; i++) {
        const struct grammar *grammar = script->grammars[i];
        put_columns(grammar, stream);
        if (script->has_words) {
            fprintf(stream, "complete -c %s -n __fastnet_first -a %s -d '", script->command,
                    grammar->name);
            completion_put_quoted(grammar->help, stream);
            fputs("'\n", stream);
        }
        completion_each_option(grammar, put_option, script);
    }
}
