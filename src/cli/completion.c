#include <string.h>

#include "cli/options.h"

typedef void (*completion_fn)(const struct option *option, FILE *stream);

static void each_option(const struct option_table *const tables[], size_t table_count,
                        completion_fn fn, FILE *stream)
{
    for (size_t t = 0; t < table_count; t++)
        for (size_t i = 0; i < tables[t]->count; i++)
            if (tables[t]->options[i].help)
                fn(&tables[t]->options[i], stream);
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

static void bash_word(const struct option *option, FILE *stream)
{
    if (option->letter)
        fprintf(stream, " -%c", option->letter);
    if (option->name)
        fprintf(stream, " --%s%s", option->name, option->argument == ARGUMENT_REQUIRED ? "=" : "");
}

static void bash_case(const struct option *option, FILE *stream)
{
    if (option->choices && option->letter)
        fprintf(stream, "    -%c)\n        ;&\n", option->letter);
    if (option->choices)
        fprintf(stream,
                "    --%s)\n"
                "        mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$word\")\n"
                "        return\n"
                "        ;;\n",
                option->name, option->choices);
}

static void print_bash(const struct option_table *const tables[], size_t count, FILE *stream)
{
    fputs("# bash completion for fastnet\n"
          "_fastnet() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    if [[ $option == '=' ]]; then\n"
          "        option=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    elif [[ $word == '=' ]]; then\n"
          "        word=''\n"
          "    fi\n"
          "    case $option in\n",
          stream);
    each_option(tables, count, bash_case, stream);
    fputs("    --proc-root)\n"
          "        mapfile -t COMPREPLY < <(compgen -d -- \"$word\")\n"
          "        return\n"
          "        ;;\n"
          "    esac\n"
          "    mapfile -t COMPREPLY < <(compgen -W '",
          stream);
    each_option(tables, count, bash_word, stream);
    fputs("' -- \"$word\")\n"
          "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
          "}\n"
          "complete -F _fastnet fastnet\n",
          stream);
}

static void zsh_argument(const struct option *option, FILE *stream)
{
    if (option->argument != ARGUMENT_REQUIRED)
        return;
    fprintf(stream, ":%s:", option->metavar);
    if (option->choices)
        fprintf(stream, "(%s)", option->choices);
    else if (strcmp(option->metavar, "DIR") == 0)
        fputs("_files -/", stream);
}

static void zsh_spec(const struct option *option, FILE *stream)
{
    if (option->letter) {
        fprintf(stream, "    '*-%c%s[", option->letter,
                option->argument == ARGUMENT_REQUIRED ? "+" : "");
        quote(option->help, stream);
        fputc(']', stream);
        zsh_argument(option, stream);
        fputs("' \\\n", stream);
    }
    if (option->name) {
        fprintf(stream, "    '*--%s%s[", option->name,
                option->argument == ARGUMENT_REQUIRED ? "=" : "");
        quote(option->help, stream);
        fputc(']', stream);
        zsh_argument(option, stream);
        fputs("' \\\n", stream);
    }
}

static void print_zsh(const struct option_table *const tables[], size_t count, FILE *stream)
{
    fputs("#compdef fastnet\n_arguments -s \\\n", stream);
    each_option(tables, count, zsh_spec, stream);
    fputs("    '*: :'\n", stream);
}

static void fish_line(const struct option *option, FILE *stream)
{
    fputs("complete -c fastnet", stream);
    if (option->letter)
        fprintf(stream, " -s %c", option->letter);
    if (option->name)
        fprintf(stream, " -l %s", option->name);
    if (option->argument == ARGUMENT_REQUIRED)
        fputs(strcmp(option->metavar, "DIR") == 0 ? " -r" : " -x", stream);
    if (option->choices)
        fprintf(stream, " -a '%s'", option->choices);
    fputs(" -d '", stream);
    quote(option->help, stream);
    fputs("'\n", stream);
}

static void print_fish(const struct option_table *const tables[], size_t count, FILE *stream)
{
    fputs("# fish completion for fastnet\ncomplete -c fastnet -f\n", stream);
    each_option(tables, count, fish_line, stream);
}

int options_completion(const struct option_table *const tables[], size_t table_count,
                       const char *shell, FILE *stream)
{
    if (strcmp(shell, "bash") == 0)
        print_bash(tables, table_count, stream);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(tables, table_count, stream);
    else if (strcmp(shell, "fish") == 0)
        print_fish(tables, table_count, stream);
    else
        return -1;
    return 0;
}
