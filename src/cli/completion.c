/* SPDX-License-Identifier: MIT */
#include "cli/completion.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cli/command.h"
#include "cli/help.h"
#include "cli/known_names.h"
#include "cli/where/parser.h"
#include "fastnet/array.h"
#include "fastnet/field.h"

/* --- Scripts ---------------------------------------------------------------------------------- */

/* In these scripts, \1 is replaced by the command. */

/* readline splits words at '=', and replaces only the part after the '='. */
static const char bash[] =
    "# bash completion for \1, by fastnet\n"
    "_fastnet_\1() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} form before line\n"
    "    local -a words=() offered\n"
    "    for line in \"${COMP_WORDS[@]:0:COMP_CWORD + 1}\"; do\n"
    "        if ((${#words[@]})) && [[ ${words[-1]} == -*= || ${words[-1]} == -* && $line == = ]]; "
    "then\n"
    "            words[-1]+=$line\n"
    "        else\n"
    "            words+=(\"$line\")\n"
    "        fi\n"
    "    done\n"
    "    mapfile -t offered < <(command \"${words[0]}\" --complete -- \"${words[@]}\" 2>/dev/null "
    "|\n"
    "        while IFS= read -r line; do\n"
    "            case $line in \\!*) eval \"${line#!}\" ;; *) printf '%s\\n' \"$line\" ;; esac\n"
    "        done)\n"
    "    IFS=$'\\t' read -r form before <<<\"${offered[0]-}\"\n"
    "    [[ ${words[-1]} != -*=* ]] || before=${before#*=} word=${word#=}\n"
    "    COMPREPLY=()\n"
    "    for line in \"${offered[@]:1}\"; do\n"
    "        line=$before${line%%$'\\t'*}\n"
    "        [[ $line != \"$word\"* ]] || COMPREPLY+=(\"$line\")\n"
    "    done\n"
    "    case $form in\n"
    "    part) compopt -o nospace ;;\n"
    "    file) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
    "    directory) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
    "    esac\n"
    "    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace\n"
    "}\n"
    "complete -F _fastnet_\1 \1\n";

/* zsh runs an autoloaded file as the function _COMMAND; a sourced file registers that function. */
static const char zsh[] = "#compdef \1\n"
                          "# zsh completion for \1, by fastnet\n"
                          "_fastnet_\1() {\n"
                          "    local line form before\n"
                          "    local -a lines offered begun\n"
                          "    lines=(\"${(@f)$(command ${words[1]} --complete -- "
                          "\"${(@Q)words[1,CURRENT]}\" 2>/dev/null)}\")\n"
                          "    form=${lines[1]%%$'\\t'*} before=${lines[1]#*$'\\t'}\n"
                          "    for line in \"${(@)lines[2,-1]}\"; do\n"
                          "        if [[ $line == '!'* ]]; then\n"
                          "            offered+=(${(f)\"$(eval ${line#!})\"})\n"
                          "        elif [[ ${line%%$'\\t'*} == *= ]]; then\n"
                          "            begun+=(\"${line/$'\\t'/:}\")\n"
                          "        else\n"
                          "            offered+=(\"${line/$'\\t'/:}\")\n"
                          "        fi\n"
                          "    done\n"
                          "    compset -p ${#before}\n"
                          "    case $form in\n"
                          "    file) _files ;;\n"
                          "    directory) _files -/ ;;\n"
                          "    part) _describe word offered -S '' ;;\n"
                          "    *) _describe word offered -- begun -S '' ;;\n"
                          "    esac\n"
                          "}\n"
                          "if [[ ${funcstack[1]} == _\1 ]]; then\n"
                          "    _fastnet_\1\n"
                          "else\n"
                          "    compdef _fastnet_\1 \1\n"
                          "fi\n";

static const char fish[] =
    "# fish completion for \1, by fastnet\n"
    "function __fastnet_\1\n"
    "    set -l words (commandline -opc)\n"
    "    set -l token (commandline -ct)\n"
    "    set -l lines (command $words[1] --complete -- $words \"$token\" 2>/dev/null)\n"
    "    set -l head (string split \\t -- $lines[1])\n"
    "    set -l rest (string sub -s (math 1 + (string length -- \"$head[2]\")) -- \"$token\")\n"
    "    set -l offered\n"
    "    for line in $lines[2..-1]\n"
    "        if string match -q '!*' -- $line\n"
    "            set -a offered (eval (string sub -s 2 -- $line) | string match -- \"$rest*\")\n"
    "        else\n"
    "            set -a offered $line\n"
    "        end\n"
    "    end\n"
    "    switch \"$head[1]\"\n"
    "        case file\n"
    "            set offered (__fish_complete_path \"$rest\")\n"
    "        case directory\n"
    "            set offered (__fish_complete_directories \"$rest\")\n"
    "    end\n"
    "    test -z \"$offered\"; or printf '%s\\n' \"$head[2]\"$offered\n"
    "end\n"
    "complete -c \1 -f -a '(__fastnet_\1)'\n";

bool completion_put_script(const char *shell, const char *command, FILE *stream)
{
    static const struct {
        const char *shell, *script;
    } scripts[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

    for (size_t i = 0; i < COUNT(scripts); i++) {
        const char *at = scripts[i].script;
        if (strcmp(scripts[i].shell, shell) != 0)
            continue;
        for (; *at; at++)
            if (*at == '\1')
                fputs(command, stream);
            else
                fputc(*at, stream);
        return true;
    }
    return false;
}

/* --- Offers ----------------------------------------------------------------------------------- */

struct offer {
    FILE *stream;
    const struct grammar *grammar;
    const char *word;            /* the last word, which is completed */
    const char *before;          /* the word before the last */
    const struct kind *kind;     /* kind of the rows that are listed */
    const struct option *option; /* the option whose argument is completed, or NULL */
    const char *argument;        /* where the argument begins */
    bool operand;                /* the last word is not an option */
};

bool completion_is_asked(int argc, char *const argv[])
{
    return argc > 3 && strcmp(argv[1], "--complete") == 0 && strcmp(argv[2], "--") == 0;
}

static void put_form(const struct offer *offer, const char *form, const char *rest)
{
    fprintf(offer->stream, "%s\t%.*s\n", form, (int)(rest - offer->word), offer->word);
}

/* Offers a word if it begins with `rest`; in small letters if the user types small letters. */
static void completion_put(const struct offer *offer, const char *rest, const char *word,
                           const char *help)
{
    const size_t length = strlen(rest);

    if (strncasecmp(word, rest, length) != 0 ||
        (strncmp(word, rest, length) != 0 && !islower(*rest)))
        return;
    for (; *word; word++)
        fputc(islower(*rest) ? tolower(*word) : *word, offer->stream);
    fprintf(offer->stream, "%s%s\n", help ? "\t" : "", help ? help : "");
}

struct offered_groups {
    const struct offer *offer;
    const char *rest;
};

/* A known_name_fn: offers a name unless a shell would interpret a character of it. */
static void put_group(const char *name, void *arg)
{
    const struct offered_groups *groups = arg;
    bool simple = true;

    for (const char *at = name; *at && simple; at++)
        simple = isalnum((unsigned char)*at) || strchr("_.@:/-", *at);
    if (simple)
        completion_put(groups->offer, groups->rest, name, NULL);
}

/* Offers values of the last column in `columns`, which has names instead of ids. */
static void completion_put_values(const struct offer *offer, const char *rest, const char *columns)
{
    const char *space = strrchr(columns, ' ');
    const struct field *field = field_named(offer->grammar->kind, space ? space + 1 : columns);
    const struct synonym *synonym = where_synonym(offer->grammar->kind, field);

    if (field->lookups & NEED_CGROUPS)
        known_groups(field, put_group, &(struct offered_groups){offer, rest});
    for (uint64_t number = 0; number <= UINT8_MAX; number++) {
        const char *word = where_word(field, number);
        if (word)
            completion_put(offer, rest, word, NULL);
    }
    if (synonym)
        completion_put(offer, rest, synonym->other, NULL);
}

static void put_columns(const struct offer *offer, const char *rest, const char *choices)
{
    const bool times = strcmp(choices, CHOICES_MEASURES) == 0;
    const bool numbers = times || strcmp(choices, CHOICES_NUMBERS) == 0;
    const struct field *field;
    char text[COLUMNS_HELP_MEANING];

    for (size_t i = 0; (field = field_at(offer->kind, i)); i++)
        if (!numbers || value_is_number(field->type) || (times && field->type == VALUE_TIME))
            completion_put(offer, rest, field->name,
                           columns_help_meaning(offer->kind, field, text));
    if (strcmp(choices, CHOICES_SHOWN) != 0)
        return;
    for (size_t i = 0; i < offer->kind->group_count; i++) {
        snprintf(text, sizeof text, "all columns of the group %s", offer->kind->groups[i].name);
        completion_put(offer, rest, offer->kind->groups[i].name, text);
    }
    completion_put(offer, rest, "all", "all columns, except views and slow lookups");
    completion_put(offer, rest, "help", "lists all columns");
}

static void completion_put_words(const struct offer *offer, const char *rest, const char *words)
{
    for (struct text text; text_next(&words, ' ', &text);) {
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)text.length, text.data);
        completion_put(offer, rest, word, NULL);
    }
}

static void put_choices(const struct offer *offer, const char *rest, const char *choices)
{
    if (*choices == '$')
        put_columns(offer, rest, choices);
    else if (*choices == '!')
        fprintf(offer->stream, "%s\n", choices);
    else
        completion_put_words(offer, rest, choices);
}

static void put_argument(const struct offer *offer)
{
    const struct option *option = offer->option;
    const char *metavar = option->metavar ? option->metavar : "";
    const char *rest = offer->argument;

    if (option->argument == ARGUMENT_ATTACHED && *rest == '=')
        rest++;
    if (strcmp(metavar, "FILE") == 0 || strcmp(metavar, "DIR") == 0) {
        put_form(offer, *metavar == 'F' ? "file" : "directory", rest);
        return;
    }
    if (strstr(metavar, ",...") || *metavar == '[') { /* a sign may begin an element */
        const char *comma = strrchr(rest, ',');
        rest = comma ? comma + 1 : rest;
        rest += *rest && strchr("-+!", *rest) ? 1 : 0;
        put_form(offer, "part", rest);
    } else {
        put_form(offer, strcmp(metavar, "EXPR") == 0 ? "part" : "word", rest);
    }
    if (strcmp(metavar, "NETNS") == 0)
        put_choices(offer, rest, CHOICES_NETNS);
    else if (option->choices && strcmp(option->choices, CHOICES_VALUES) == 0)
        completion_put_values(offer, rest, option->columns);
    else if (option->choices)
        put_choices(offer, rest, option->choices);
}

/* Offers the filters that a word can be: only once a word has begun, because there are many. */
static void completion_put_filters(const struct offer *offer)
{
    const struct kind *kind = offer->grammar->kind;

    if (!*offer->word)
        return;
    if (field_named(kind, "state"))
        completion_put_values(offer, offer->word, "state");
    put_choices(offer, offer->word,
                field_named(kind, "process") ? CHOICES_PROCESSES : CHOICES_INTERFACES);
    if (field_named(kind, "remote_port") || field_named(kind, "dport"))
        put_choices(offer, offer->word, CHOICES_SERVICES);
}

static void put_operands(const struct offer *offer)
{
    const struct operands *operands = offer->grammar->operands;

    while (operands && operands->after && !text_among(operands->after, offer->before))
        operands++;
    if (!operands)
        return;
    completion_put_words(offer, offer->word, operands->words);
    if (operands->choices && strcmp(operands->choices, CHOICES_WORDS) == 0)
        completion_put_filters(offer);
    else if (operands->choices)
        put_choices(offer, offer->word, operands->choices);
}

/* True if no earlier option has this long name, because parsing takes the first. */
static bool is_first(const struct option_table *const tables[], const struct option *option)
{
    const struct option *other;

    for (size_t i = 0; (other = options_at(tables, i)) != option; i++)
        if (other->help && other->name && strcmp(other->name, option->name) == 0)
            return false;
    return true;
}

static void completion_put_options(const struct offer *offer)
{
    const struct option *option;
    char text[80];

    for (size_t i = 0; (option = options_at(offer->grammar->tables, i)); i++) {
        const bool required = option->argument == ARGUMENT_REQUIRED;
        const bool attached = option->argument == ARGUMENT_ATTACHED && option->choices;
        if (option->help && option->letter && !options_refused(offer->grammar->refused, option)) {
            snprintf(text, sizeof text, "-%c", option->letter);
            completion_put(offer, offer->word, text, option->help);
        }
        if (!option->help || !option->name || !is_first(offer->grammar->tables, option) ||
            options_refused(offer->grammar->refused, option))
            continue;
        snprintf(text, sizeof text, "--%s%s", option->name, required ? "=" : "");
        completion_put(offer, offer->word, text, option->help);
        if (attached) {
            snprintf(text, sizeof text, "--%s=", option->name);
            completion_put(offer, offer->word, text, option->help);
        }
    }
}

static int completion_take(const struct option *option, const char *argument, void *arg)
{
    struct offer *offer = arg;
    const struct listed *listed = offer->grammar->listed;
    const size_t length = strlen(offer->word);

    for (; listed && listed->kind; listed++)
        if (option->id && listed->id == option->id &&
            (!listed->argument || (argument && strcmp(listed->argument, argument) == 0)))
            offer->kind = listed->kind;
    if (!argument || argument < offer->word || argument > offer->word + length)
        return 0;
    offer->operand = option->id == OPTION_OPERAND;
    if (!offer->operand)
        offer->option = option;
    offer->argument = argument;
    return 0;
}

static void offer_help_word(const char *word, const char *help, void *arg)
{
    const struct offer *offer = arg;

    completion_put(offer, offer->word, word, help);
}

void completion_offer(const struct grammar *grammar, const struct grammar *const grammars[],
                      bool commands, int count, char *const words[], FILE *stream)
{
    struct offer offer = {.stream = stream,
                          .grammar = grammar,
                          .word = words[count - 1],
                          .before = count > 1 ? words[count - 2] : "",
                          .kind = grammar->kind};
    char message[OPTIONS_MESSAGE];

    if (strchr(offer.word, '\n')) /* a shell might take the text after a newline for a command */
        return;
    options_parse(grammar->tables, count, words, completion_take, &offer, message);
    if (offer.option) {
        put_argument(&offer);
        return;
    }
    put_form(&offer, "word", offer.word);
    if (*offer.word == '-' && !strchr(offer.word, '='))
        completion_put_options(&offer);
    else if (offer.operand || !*offer.word)
        put_operands(&offer);
    for (size_t i = 0; commands && grammars[i]; i++)
        completion_put(&offer, offer.word, grammars[i]->name, grammars[i]->help);
    if (commands && count > 2 && *offer.word) /* too many to list them without a first letter */
        help_each_word(grammars, offer_help_word, &offer);
    if (commands && count == 2) {
        completion_put(&offer, offer.word, "help",
                       "what a command, column, state, rule or reason means");
        completion_put(&offer, offer.word, "version", "print the version");
    }
}
