#include <string.h>

#include "cli/completion/completion.h"

static const char helpers[] =
    "_fastnet_has() { # REGEX: whether it matches what stands before\n"
    "    local MATCH MBEGIN MEND\n"
    "    local -a match mbegin mend\n"
    "    [[ \" ${words[2,CURRENT-1]}\" =~ $1 ]]\n"
    "}\n"
    "_fastnet_more() { # WORD[:TEXT]...: an element of a list, perhaps after a sign\n"
    "    local -a fastnet_words=(\"$@\")\n"
    "    compset -P '*,'\n"
    "    compset -P '[-+!]'\n"
    "    _describe word fastnet_words -S ''\n"
    "}\n";

/*
 * The completion of an argument, as a specification for zsh's _arguments. A blank before a command
 * keeps it from being given options of compadd.
 */
static void put_action(const struct option *option, const struct script *script)
{
    static const char *const actions[] = {[COMPLETION_NONE] = "",
                                          [COMPLETION_FILE] = "_files",
                                          [COMPLETION_DIRECTORY] = "_files -/",
                                          [COMPLETION_NAMESPACE] = "_files -W /var/run/netns",
                                          [COMPLETION_WORD] = "(",
                                          [COMPLETION_LIST] = " _fastnet_more ",
                                          [COMPLETION_EXPRESSION] = " _fastnet_more "};
    const enum completion_form form = completion_form(option);

    if (completion_is_attached(option)) /* "=" is part of it where a letter stands before */
        fputs("{ compset -P =; compadd - ", script->stream);
    else
        fputs(actions[form], script->stream);
    if (option->choices)
        completion_put_choices(option, script);
    if (form == COMPLETION_WORD)
        fputs(completion_is_attached(option) ? " }" : ")", script->stream);
}

/* _arguments would take any word for an argument that may be the next word or missing. */
static void put_spec(const struct option *option, const char *name, const char *join,
                     const struct script *script)
{
    FILE *stream = script->stream;
    const bool may_follow = completion_may_follow(option);
    const bool attached = completion_is_attached(option);
    const bool takes_argument = option->argument == ARGUMENT_REQUIRED || may_follow || attached;

    fprintf(stream, "        '*%s%s%s[", name, takes_argument ? join : "",
            may_follow || attached ? "-" : "");
    completion_put_quoted(option->help, "[]:\\", script);
    fputc(']', stream);
    if (takes_argument) {
        fputs(may_follow || attached ? "::" : ":", stream);
        completion_put_quoted(option->metavar, ":\\", script);
        fputc(':', stream);
        put_action(option, script);
    }
    fputs("' \\\n", stream);
}

static void put_option(const struct option *option, const struct script *script)
{
    char name[80];

    if (option->letter) {
        snprintf(name, sizeof name, "-%c", option->letter);
        put_spec(option, name,
                 completion_may_follow(option) || completion_is_attached(option) ? "" : "+",
                 script);
    }
    if (option->name) {
        snprintf(name, sizeof name, "--%s", option->name);
        put_spec(option, name, "=", script);
    }
}

static void put_next_word(const struct option *option, const struct script *script)
{
    if (completion_may_follow(option))
        fprintf(script->stream, "    -%c | --%s) fastnet_next=(%s) ;;\n", option->letter,
                option->name, option->choices);
}

static void put_operands(const struct script *script)
{
    const struct operands *operands = script->grammar->operands;

    for (bool more = operands; more; operands++) {
        more = operands->after;
        fputs("    ", script->stream);
        completion_put_after(more ? operands : &(struct operands){.after = "*"}, " | ",
                             script->stream);
        fputs(") fastnet_next=(", script->stream);
        completion_put_operands(operands, script);
        fputs(") ;;\n", script->stream);
    }
}

static void put_kind(const struct kind *kind, const struct script *script)
{
    fputs("_fastnet_of_", script->stream);
    completion_put_kind(kind, script->stream);
    fputs("() {\n", script->stream);
    for (size_t i = 0; i < COMPLETION_SETS; i++) {
        fprintf(script->stream, "    fastnet_%s=(", completion_sets[i]);
        completion_put_set(kind, i, script);
        fputs(")\n", script->stream);
    }
    fputs("}\n", script->stream);
}

static void put_grammar(const struct script *script)
{
    fprintf(script->stream, "_fastnet_%s() {\n", script->grammar->name);
    fputs("    local -a fastnet_columns fastnet_numbers fastnet_groups fastnet_next\n",
          script->stream);
    completion_put_kinds(script, "    local fastnet_kind=", "\n    _fastnet_has '",
                         "' && fastnet_kind=");
    fputs("    _fastnet_of_$fastnet_kind\n    case ${words[CURRENT-1]} in\n", script->stream);
    completion_each_option(script, put_next_word);
    put_operands(script);
    fputs("    esac\n    _arguments -s \\\n", script->stream);
    completion_each_option(script, put_option);
    fputs("        '*: :($fastnet_next)'\n}\n", script->stream);
}

static void put_word(const struct script *script)
{
    fprintf(script->stream, "        '%s:", script->grammar->name);
    completion_put_quoted(script->grammar->help, "", script);
    fputs("'\n", script->stream);
}

/* The meaning of the other words depends on the first. */
static void put_words(struct script *script)
{
    fputs("_fastnet() {\n    local -a fastnet_words\n    fastnet_words=(\n", script->stream);
    completion_each_grammar(script, put_word);
    fprintf(script->stream,
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
void completion_zsh(struct script *script)
{
    const char *prefix = script->has_words ? "" : "fastnet_";

    fprintf(script->stream, "#compdef %s\n# zsh completion for %s, by fastnet\n%s", script->command,
            script->command, helpers);
    completion_each_kind(script, put_kind);
    completion_each_grammar(script, put_grammar);
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
