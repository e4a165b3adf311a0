#include "cli/completion/completion.h"

#include <string.h>

/* readline splits words at '='. */
static const char helpers[] =
    "_fastnet_begin() {\n"
    "    word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    if [[ $option == '=' ]]; then\n"
    "        option=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    elif [[ $word == '=' ]]; then\n"
    "        word=''\n"
    "    fi\n"
    "    COMPREPLY=()\n"
    "}\n"
    "_fastnet_has() { # REGEX: whether it matches what stands before\n"
    "    [[ \" ${COMP_WORDS[*]:1:COMP_CWORD - 1}\" =~ $1 ]]\n"
    "}\n"
    "_fastnet_offer() { # BEFORE WORDS: for what follows BEFORE\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"$1\" -W \"$2\" -- \"${word#\"$1\"}\")\n"
    "}\n";

static const char *before(enum completion_form form)
{
    switch (form) {
    case COMPLETION_LIST:
        return "\"${word%\"${word##*,}\"}\"";
    case COMPLETION_SIGNED:
        return "\"${word%%[!-]*}\"";
    default:
        return "''";
    }
}

static void put_word(const struct option *option, const struct grammar *grammar,
                     const struct script *script)
{
    (void)grammar;
    if (option->letter)
        fprintf(script->stream, " -%c", option->letter);
    if (option->name)
        fprintf(script->stream, " --%s%s", option->name,
                option->argument == ARGUMENT_REQUIRED ? "=" : "");
}

static void put_label(const struct option *option, const struct script *script)
{
    fputs("    ", script->stream);
    if (option->letter)
        fprintf(script->stream, "-%c%s", option->letter, option->name ? " | " : "");
    if (option->name)
        fprintf(script->stream, "--%s", option->name);
    fputc(')', script->stream);
}

static void put_offer(const struct option *option, const struct script *script)
{
    fprintf(script->stream, "\n        _fastnet_offer %s ", before(completion_form(option)));
    if (completion_of_columns(option))
        fputs("\"$columns\"\n       ", script->stream);
    else
        fprintf(script->stream, "'%s'\n       ", option->choices);
}

/* Completes what follows an option: its argument, or if that may be missing another option, too. */
static void put_case(const struct option *option, const struct grammar *grammar,
                     const struct script *script)
{
    const bool may_follow = option->argument == ARGUMENT_WORD && option->choices;

    (void)grammar;
    if (option->argument != ARGUMENT_REQUIRED && !may_follow)
        return;
    put_label(option, script);
    if (strcmp(option->metavar, "DIR") == 0)
        fputs("\n        mapfile -t COMPREPLY < <(compgen -d -- \"$word\")\n       ",
              script->stream);
    if (option->choices)
        put_offer(option, script);
    fputs(may_follow ? " [[ $word == -* ]] || return ;;\n" : " return ;;\n", script->stream);
}

static void put_columns(const struct grammar *grammar, FILE *stream)
{
    fputs("    local columns='", stream);
    completion_put_columns(grammar->kind, stream);
    fputs("'\n", stream);
    for (size_t i = 0; i < grammar->listed_count; i++) {
        fputs("    _fastnet_has '", stream);
        completion_put_pattern(grammar, &grammar->listed[i], stream);
        fputs("' && columns='", stream);
        completion_put_columns(grammar->listed[i].kind, stream);
        fputs("'\n", stream);
    }
}

static void put_grammar(const struct grammar *grammar, const struct script *script)
{
    FILE *stream = script->stream;

    fprintf(stream, "_fastnet_%s() {\n    local word option\n", grammar->name);
    put_columns(grammar, stream);
    fputs("    _fastnet_begin\n    case $option in\n", stream);
    completion_each_option(grammar, put_case, script);
    fputs("    esac\n    _fastnet_offer '' '", stream);
    completion_each_option(grammar, put_word, script);
    fputs("'\n"
          "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
          "}\n",
          stream);
}

/* The meaning of the other words depends on the first. */
static void put_words(const struct script *script)
{
    FILE *stream = script->stream;

    fputs("_fastnet() {\n"
          "    local words='",
          stream);
    completion_put_names(script, false, stream);
    fprintf(stream,
            "'\n"
            "    if ((COMP_CWORD > 1)) && [[ \" $words \" == *\" ${COMP_WORDS[1]} \"* ]]; then\n"
            "        \"_fastnet_${COMP_WORDS[1]}\"\n"
            "        return\n"
            "    fi\n"
            "    _fastnet_%s\n"
            "    if ((COMP_CWORD == 1)); then\n"
            "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY \\\n"
            "            < <(compgen -W \"$words\" -- \"${COMP_WORDS[1]}\")\n"
            "    fi\n"
            "}\n"
            "complete -F _fastnet fastnet\n",
            script->own->name);
}

void completion_bash(const struct script *script)
{
    fprintf(script->stream, "# bash completion for %s, by fastnet\n%s", script->command, helpers);
    for (size_t i = 0; i < script->count; i++)
        put_grammar(script->grammars[i], script);
    if (script->has_words)
        put_words(script);
    else
        fprintf(script->stream, "complete -F _fastnet_%s %s\n", script->own->name,
                script->own->name);
}
