#include "cli/completion/completion.h"

#include <string.h>

static const char helpers[] = "_fastnet_has() { # REGEX: whether it matches what stands before\n"
                              "    local MATCH MBEGIN MEND\n"
                              "    local -a match mbegin mend\n"
                              "    [[ \" ${words[2,CURRENT-1]}\" =~ $1 ]]\n"
                              "}\n"
                              "_fastnet_signed() {\n"
                              "    compset -P -\n"
                              "    compadd \"$@\"\n"
                              "}\n";

/* The completion of an argument, as a specification for zsh's _arguments. */
static void put_action(const struct option *option, FILE *stream)
{
    const bool columns = completion_of_columns(option);

    switch (completion_form(option)) {
    case COMPLETION_WORD:
        fprintf(stream, "(%s)", columns ? "$fastnet_columns" : option->choices);
        break;
    case COMPLETION_LIST:
        fprintf(stream, "_sequence compadd - %s", columns ? "$fastnet_columns" : option->choices);
        break;
    case COMPLETION_SIGNED:
        fprintf(stream, "_fastnet_signed %s", columns ? "$fastnet_columns" : option->choices);
        break;
    case COMPLETION_NONE:
        if (strcmp(option->metavar, "DIR") == 0)
            fputs("_files -/", stream);
    }
}

/* An argument that may be the next word or missing: _arguments would take any word for it. */
static bool may_follow(const struct option *option)
{
    return option->argument == ARGUMENT_WORD && option->choices;
}

static bool takes_argument(const struct option *option)
{
    return option->argument == ARGUMENT_REQUIRED || may_follow(option);
}

static void put_spec(const struct option *option, const char *name, const char *join, FILE *stream)
{
    fprintf(stream, "        '*%s%s%s[", name, takes_argument(option) ? join : "",
            may_follow(option) ? "-" : "");
    completion_put_quoted(option->help, stream);
    fputc(']', stream);
    if (takes_argument(option)) {
        fputs(may_follow(option) ? "::" : ":", stream);
        completion_put_quoted(option->metavar, stream);
        fputc(':', stream);
        put_action(option, stream);
    }
    fputs("' \\\n", stream);
}

static void put_option(const struct option *option, const struct grammar *grammar,
                       const struct script *script)
{
    char name[80];

    (void)grammar;
    if (option->letter) {
        snprintf(name, sizeof name, "-%c", option->letter);
        put_spec(option, name, may_follow(option) ? "" : "+", script->stream);
    }
    if (option->name) {
        snprintf(name, sizeof name, "--%s", option->name);
        put_spec(option, name, "=", script->stream);
    }
}

static void put_next_word(const struct option *option, const struct grammar *grammar,
                          const struct script *script)
{
    (void)grammar;
    if (may_follow(option))
        fprintf(script->stream, "    -%c | --%s) fastnet_next=(%s) ;;\n", option->letter,
                option->name, option->choices);
}

static void put_columns(const struct grammar *grammar, FILE *stream)
{
    fputs("    local -a fastnet_columns\n    fastnet_columns=(", stream);
    completion_put_columns(grammar->kind, stream);
    fputs(")\n", stream);
    for (size_t i = 0; i < grammar->listed_count; i++) {
        fputs("    _fastnet_has '", stream);
        completion_put_pattern(grammar, &grammar->listed[i], stream);
        fputs("' && fastnet_columns=(", stream);
        completion_put_columns(grammar->listed[i].kind, stream);
        fputs(")\n", stream);
    }
}

static void put_grammar(const struct grammar *grammar, const struct script *script)
{
    fprintf(script->stream, "_fastnet_%s() {\n", grammar->name);
    put_columns(grammar, script->stream);
    fputs("    local -a fastnet_next\n    case ${words[CURRENT-1]} in\n", script->stream);
    completion_each_option(grammar, put_next_word, script);
    fputs("    esac\n    _arguments -s \\\n", script->stream);
    completion_each_option(grammar, put_option, script);
    fputs("        '*: :($fastnet_next)'\n}\n", script->stream);
}

/* The meaning of the other words depends on the first. */
static void put_words(const struct script *script)
{
    FILE *stream = script->stream;

    fputs("_fastnet() {\n"
          "    local -a fastnet_words\n"
          "    fastnet_words=(\n",
          stream);
    for (size_t i = 0; i < script->count; i++) {
        fprintf(stream, "        '%s:", script->grammars[i]->name);
        completion_put_quoted(script->grammars[i]->help, stream);
        fputs("'\n", stream);
    }
    fprintf(stream,
            "    )\n"
            "    if ((CURRENT > 2)) && [[ -n ${(M)fastnet_words:#${words[2]}:*} ]]; then\n"
            "        shift words\n"
            "        ((CURRENT--))\n"
            "        _fastnet_${words[1]}\n"
            "    elif ((CURRENT == 2)) && [[ $PREFIX != -* ]]; then\n"
            "        _describe word fastnet_words\n"
            "    else\n"
            "        _fastnet_%s\n"
            "    fi\n"
            "}\n",
            script->own->name);
}

/* zsh runs the file as the function _COMMAND; a file that is sourced registers that function. */
void completion_zsh(const struct script *script)
{
    const char *prefix = script->has_words ? "" : "fastnet_";

    fprintf(script->stream, "#compdef %s\n# zsh completion for %s, by fastnet\n%s", script->command,
            script->command, helpers);
    for (size_t i = 0; i < script->count; i++)
        put_grammar(script->grammars[i], script);
    if (script->has_words)
        put_words(script);
    fprintf(script->stream,
            "if [[ ${funcstack[1]} == _%s ]]; then\n"
            "    _%s%s\n"
            "else\n"
            "    compdef _%s%s %s\n"
            "fi\n",
            script->command, prefix, script->command, prefix, script->command, script->command);
}
