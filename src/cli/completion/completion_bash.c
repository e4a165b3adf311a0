#include "cli/completion/completion.h"

/* readline splits words at '='. */
static const char helpers[] =
    "_fastnet_begin() {\n"
    "    word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} attached=\n"
    "    if [[ $option == '=' ]]; then\n"
    "        option=${COMP_WORDS[COMP_CWORD - 2]} attached=yes\n"
    "    elif [[ $word == '=' ]]; then\n"
    "        word='' attached=yes\n"
    "    fi\n"
    "    COMPREPLY=()\n"
    "}\n"
    "_fastnet_has() { # REGEX: whether it matches what stands before\n"
    "    [[ \" ${COMP_WORDS[*]:1:COMP_CWORD - 1}\" =~ $1 ]]\n"
    "}\n"
    "_fastnet_offer() { # WORDS [BEFORE]: for what follows BEFORE\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"${2-}\" -W \"$1\" -- \"${word#\"${2-}\"}\")\n"
    "}\n"
    "_fastnet_offer_more() { # WORDS: for an element of a list, perhaps after a sign\n"
    "    local element=${word##*,}\n"
    "    element=${element#[-+!]}\n"
    "    _fastnet_offer \"$1\" \"${word%\"$element\"}\"\n"
    "    compopt -o nospace\n"
    "}\n";

static void put_word(const struct option *option, const struct script *script)
{
    if (option->letter)
        fprintf(script->stream, " -%c", option->letter);
    if (option->letter && completion_is_attached(option))
        fprintf(script->stream, " -%c=", option->letter);
    if (option->name)
        fprintf(script->stream, " --%s%s", option->name,
                option->argument == ARGUMENT_REQUIRED ? "=" : "");
    if (option->name && completion_is_attached(option))
        fprintf(script->stream, " --%s=", option->name);
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
    const enum completion_form form = completion_form(option);
    const bool more = form == COMPLETION_LIST || form == COMPLETION_EXPRESSION;

    fprintf(script->stream, "\n        _fastnet_offer%s '", more ? "_more" : "");
    completion_put_choices(option, script);
    fputs("'\n       ", script->stream);
}

/* Completes what follows an option: its argument, or if that may be missing another option, too. */
static void put_case(const struct option *option, const struct script *script)
{
    const bool may_follow = completion_may_follow(option);
    const bool attached = completion_is_attached(option);

    if (option->argument != ARGUMENT_REQUIRED && !may_follow && !attached)
        return;
    put_label(option, script);
    if (attached)
        fputs("\n        [[ $attached ]] &&", script->stream);
    if (completion_form(option) == COMPLETION_FILE ||
        completion_form(option) == COMPLETION_DIRECTORY)
        fprintf(script->stream,
                "\n        mapfile -t COMPREPLY < <(compgen -%c -- \"$word\")\n"
                "        compopt -o filenames\n       ",
                completion_form(option) == COMPLETION_FILE ? 'f' : 'd');
    if (completion_form(option) == COMPLETION_NAMESPACE)
        fputs("\n        mapfile -t COMPREPLY < <(cd /var/run/netns 2>/dev/null &&\n"
              "            compgen -f -- \"$word\")\n       ",
              script->stream);
    if (option->choices)
        put_offer(option, script);
    fputs(may_follow ? " [[ $word == -* ]] || return ;;\n"
          : attached ? " ;;\n"
                     : " return ;;\n",
          script->stream);
}

/* The words that can follow some others. Returns those that can stand elsewhere, or NULL. */
static const struct operands *put_operands(const struct script *script)
{
    const struct operands *operands = script->grammar->operands;

    for (; operands && operands->after; operands++) {
        fputs("    ", script->stream);
        completion_put_after(operands, " | ", script->stream);
        fputs(")\n        _fastnet_offer '", script->stream);
        completion_put_operands(operands, script);
        fputs("'\n        return ;;\n", script->stream);
    }
    return operands;
}

static void put_kind(const struct kind *kind, const struct script *script)
{
    fputs("_fastnet_of_", script->stream);
    completion_put_kind(kind, script->stream);
    fputs("() {\n", script->stream);
    for (size_t i = 0; i < COMPLETION_SETS; i++) {
        fprintf(script->stream, "    %s='", completion_sets[i]);
        completion_put_set(kind, i, script);
        fputs("'\n", script->stream);
    }
    fputs("}\n", script->stream);
}

static void put_grammar(const struct script *script)
{
    const struct operands *others;
    FILE *stream = script->stream;

    fprintf(stream, "_fastnet_%s() {\n    local word option attached columns numbers groups\n",
            script->grammar->name);
    completion_put_kinds(script, "    local kind=", "\n    _fastnet_has '", "' && kind=");
    fputs("    \"_fastnet_of_$kind\"\n    _fastnet_begin\n    case $option in\n", stream);
    completion_each_option(script, put_case);
    others = put_operands(script);
    fputs("    esac\n    [[ ! $attached ]] || return\n    _fastnet_offer '", stream);
    completion_each_option(script, put_word);
    if (others)
        completion_put_operands(others, script);
    fputs("'\n"
          "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
          "}\n",
          stream);
}

/* The meaning of the other words depends on the first. */
static void put_words(const struct script *script)
{
    FILE *stream = script->stream;

    fputs("_fastnet() {\n    local words='", stream);
    completion_put_names(script, false);
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

void completion_bash(struct script *script)
{
    fprintf(script->stream, "# bash completion for %s, by fastnet\n%s", script->command, helpers);
    completion_each_kind(script, put_kind);
    completion_each_grammar(script, put_grammar);
    if (script->has_words)
        put_words(script);
    else
        fprintf(script->stream, "complete -F _fastnet_%s %s\n", script->own->name,
                script->own->name);
}
