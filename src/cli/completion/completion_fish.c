#include <string.h>

#include "cli/completion/completion.h"

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
    /* fish puts a blank behind the only word that fits, so a few words are offered twice */
    "function __fastnet_more # END WORD...: for an element of a list, perhaps after a sign\n"
    "    set -l token (commandline -ct | string replace -r -- '^--[^=]*=' '')\n"
    "    set -l before (string match -r -- '^(?:.*,)?[-+!]?' \"$token\")\n"
    "    set -l rest (string sub -s (math 1 + (string length -- \"$before\")) -- \"$token\")\n"
    "    set -l words (string match -- \"$rest*\" $argv[2..-1])\n"
    "    printf '%s\\n' \"$before\"$words\n"
    "    test (count $words) -le 20\n"
    "    and string replace -r '\\t.*|$' $argv[1] -- \"$before\"$words\n"
    "end\n";

/* The beginning of a line, with the condition for options of this grammar if there is one. */
static void put_command(const struct script *script, const char *more)
{
    FILE *stream = script->stream;

    fprintf(stream, "complete -c %s", script->command);
    if (!script->has_words && !*more)
        return;
    fputs(" -n '", stream);
    if (script->has_words && script->grammar == script->own) {
        fputs("not __fastnet_word ", stream);
        completion_put_names(script, true);
    } else if (script->has_words) {
        fprintf(stream, "__fastnet_word %s", script->grammar->name);
    }
    fprintf(stream, "%s%s'", script->has_words && *more ? "; and " : "", more);
}

static void put_words(const struct option *option, const struct script *script)
{
    static const char *const before[] = {[COMPLETION_LIST] = "(__fastnet_more , ",
                                         [COMPLETION_EXPRESSION] = "(__fastnet_more = ",
                                         [COMPLETION_WORD] = ""};
    const enum completion_form form = completion_form(option);

    if (!option->choices)
        return;
    fprintf(script->stream, " -a '%s", before[form]);
    if (completion_has_columns(option))
        fprintf(script->stream, "(__fastnet_%s ", script->grammar->name);
    completion_put_choices(option, script);
    fprintf(script->stream, "%s%s'", completion_has_columns(option) ? ")" : "",
            form == COMPLETION_WORD ? "" : ")");
}

static void put_description(const char *text, const struct script *script)
{
    fputs(" -d '", script->stream);
    completion_put_quoted(text, "\\", script);
    fputs("'\n", script->stream);
}

/* fish cannot complete an argument that may be missing and is a word of its own. */
static void put_next_word(const struct option *option, const struct script *script)
{
    char after[160];

    snprintf(after, sizeof after, "__fastnet_after -%c --%s", option->letter, option->name);
    put_command(script, after);
    put_words(option, script);
    fputc('\n', script->stream);
}

/* After a letter, '=' is part of the argument for fish. */
static void put_equals(const struct option *option, const struct script *script)
{
    char begun[80];

    snprintf(begun, sizeof begun, "string match -qr -- \"^-%c=\" (commandline -ct)",
             option->letter);
    put_command(script, begun);
    fprintf(script->stream, " -a '\"-%c=\"", option->letter);
    completion_put_choices(option, script);
    fputs("'\n", script->stream);
}

static void put_option(const struct option *option, const struct script *script)
{
    FILE *stream = script->stream;

    put_command(script, "");
    if (option->letter)
        fprintf(stream, " -s %c", option->letter);
    if (option->name)
        fprintf(stream, " -l %s", option->name);
    if (option->argument == ARGUMENT_REQUIRED)
        fputs(completion_form(option) == COMPLETION_FILE ? " -r -F" : " -x", stream);
    if (completion_form(option) == COMPLETION_DIRECTORY)
        fputs(" -a '(__fish_complete_directories)'", stream);
    if (completion_form(option) == COMPLETION_NAMESPACE)
        fputs(" -a '(command ls /var/run/netns 2>/dev/null)'", stream);
    put_words(option, script);
    put_description(option->help, script);
    if (option->letter && completion_is_attached(option))
        put_equals(option, script);
    if (completion_may_follow(option))
        put_next_word(option, script);
}

/* Words that can follow some others, and then those that can stand elsewhere. */
static void put_operands(const struct script *script)
{
    char others[160] = "not __fastnet_after";
    size_t length = strlen(others);

    for (const struct operands *operands = script->grammar->operands; operands; operands++) {
        char after[160];
        snprintf(after, sizeof after, "__fastnet_after %s", operands->after);
        put_command(script, operands->after ? after : others);
        fputs(" -a '", script->stream);
        completion_put_operands(operands, script);
        fputs("'\n", script->stream);
        if (!operands->after)
            break;
        length += (size_t)snprintf(others + length, sizeof others - length, " %s", operands->after);
    }
}

static void put_kind(const struct kind *kind, const struct script *script)
{
    FILE *stream = script->stream;

    fputs("function __fastnet_of_", stream);
    completion_put_kind(kind, stream);
    fputs("\n", stream);
    for (size_t i = 0; i < COMPLETION_SETS; i++) {
        fprintf(stream, "    set -l %s", completion_sets[i]);
        completion_put_set(kind, i, script);
        fputs("\n", stream);
    }
    fputs("    for set in $argv\n        printf '%s\\n' $$set\n    end\nend\n", stream);
}

static void put_grammar(const struct script *script)
{
    const struct grammar *grammar = script->grammar;
    FILE *stream = script->stream;

    fprintf(stream, "function __fastnet_%s # SET...: of columns\n", grammar->name);
    completion_put_kinds(script, "    set -l kind ", "\n    __fastnet_has '",
                         "'\n    and set kind ");
    fputs("    __fastnet_of_$kind $argv\nend\n", stream);
    if (script->has_words) {
        fprintf(stream, "complete -c %s -n __fastnet_first -a %s", script->command, grammar->name);
        put_description(grammar->help, script);
    }
    completion_each_option(script, put_option);
    put_operands(script);
}

void completion_fish(struct script *script)
{
    fprintf(script->stream, "# fish completion for %s, by fastnet\n%scomplete -c %s -f\n",
            script->command, helpers, script->command);
    completion_each_kind(script, put_kind);
    completion_each_grammar(script, put_grammar);
}
