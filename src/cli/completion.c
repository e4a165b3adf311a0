#include <string.h>

#include "cli/options.h"

/* Where a script goes, and what it offers for columns. */
struct script {
    FILE *stream;
    const char *command; /* what is completed */
    const char *columns;
};

typedef void (*completion_fn)(const struct option *option, const struct script *script);

static const char *choices_of(const struct option *option, const struct script *script)
{
    if (option->choices && strcmp(option->choices, CHOICES_COLUMNS) == 0)
        return script->columns;
    return option->choices;
}

static void each_option(const struct option_table *const tables[], size_t table_count,
                        completion_fn fn, const struct script *script)
{
    for (size_t t = 0; t < table_count; t++)
        for (size_t i = 0; i < tables[t]->count; i++)
            if (tables[t]->options[i].help)
                fn(&tables[t]->options[i], script);
}

/* Help text inside single quotes, with what the shells would expand written as plain text. */
static void quote(const char *text, FILE *stream)
{
    for (; *text; text++)
        if (strchr("'[]:\\", *text))
            fputc(' ', stream);
        else
            fputc(*text, stream);
}

static void bash_word(const struct option *option, const struct script *script)
{
    if (option->letter)
        fprintf(script->stream, " -%c", option->letter);
    if (option->name)
        fprintf(script->stream, " --%s%s", option->name,
                option->argument == ARGUMENT_REQUIRED ? "=" : "");
}

static void bash_case(const struct option *option, const struct script *script)
{
    if (option->choices && option->letter)
        fprintf(script->stream, "    -%c)\n        ;&\n", option->letter);
    if (option->choices)
        fprintf(script->stream,
                "    --%s)\n"
                "        mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$word\")\n"
                "        return\n"
                "        ;;\n",
                option->name, choices_of(option, script));
}

static void print_bash(const struct option_table *const tables[], size_t count,
                       const struct script *script)
{
    fprintf(script->stream, "# bash completion for %s\n_%s() {\n", script->command,
            script->command);
    fputs("    local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    if [[ $option == '=' ]]; then\n"
          "        option=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    elif [[ $word == '=' ]]; then\n"
          "        word=''\n"
          "    fi\n"
          "    case $option in\n",
          script->stream);
    each_option(tables, count, bash_case, script);
    fputs("    --proc-root)\n"
          "        mapfile -t COMPREPLY < <(compgen -d -- \"$word\")\n"
          "        return\n"
          "        ;;\n"
          "    esac\n"
          "    mapfile -t COMPREPLY < <(compgen -W '",
          script->stream);
    each_option(tables, count, bash_word, script);
    fprintf(script->stream,
            "' -- \"$word\")\n"
            "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
            "}\n"
            "complete -F _%s %s\n",
            script->command, script->command);
}

static void zsh_argument(const struct option *option, const struct script *script)
{
    if (option->argument != ARGUMENT_REQUIRED)
        return;
    fprintf(script->stream, ":%s:", option->metavar);
    if (option->choices)
        fprintf(script->stream, "(%s)", choices_of(option, script));
    else if (strcmp(option->metavar, "DIR") == 0)
        fputs("_files -/", script->stream);
}

static void zsh_spec(const struct option *option, const struct script *script)
{
    if (option->letter) {
        fprintf(script->stream, "    '*-%c%s[", option->letter,
                option->argument == ARGUMENT_REQUIRED ? "+" : "");
        quote(option->help, script->stream);
        fputc(']', script->stream);
        zsh_argument(option, script);
        fputs("' \\\n", script->stream);
    }
    if (option->name) {
        fprintf(script->stream, "    '*--%s%s[", option->name,
                option->argument == ARGUMENT_REQUIRED ? "=" : "");
        quote(option->help, script->stream);
        fputc(']', script->stream);
        zsh_argument(option, script);
        fputs("' \\\n", script->stream);
    }
}

static void print_zsh(const struct option_table *const tables[], size_t count,
                      const struct script *script)
{
    fprintf(script->stream, "#compdef %s\n_arguments -s \\\n", script->command);
    each_option(tables, count, zsh_spec, script);
    fputs("    '*: :'\n", script->stream);
}

static void fish_line(const struct option *option, const struct script *script)
{
    fprintf(script->stream, "complete -c %s", script->command);
    if (option->letter)
        fprintf(script->stream, " -s %c", option->letter);
    if (option->name)
        fprintf(script->stream, " -l %s", option->name);
    if (option->argument == ARGUMENT_REQUIRED)
        fputs(strcmp(option->metavar, "DIR") == 0 ? " -r" : " -x", script->stream);
    if (option->choices)
        fprintf(script->stream, " -a '%s'", choices_of(option, script));
    fputs(" -d '", script->stream);
    quote(option->help, script->stream);
    fputs("'\n", script->stream);
}

static void print_fish(const struct option_table *const tables[], size_t count,
                       const struct script *script)
{
    fprintf(script->stream, "# fish completion for %s\ncomplete -c %s -f\n", script->command,
            script->command);
    each_option(tables, count, fish_line, script);
}

int options_completion(const struct option_table *const tables[], size_t table_count,
                       const char *command, const char *columns, const char *shell, FILE *stream)
{
    const struct script script = {stream, command, columns};

    if (strcmp(shell, "bash") == 0)
        print_bash(tables, table_count, &script);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(tables, table_count, &script);
    else if (strcmp(shell, "fish") == 0)
        print_fish(tables, table_count, &script);
    else
        return -1;
    return 0;
}
