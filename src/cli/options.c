/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "cli/form.h"
#include "cli/misuse.h"
#include "fastnet/text.h"

#define UNIT_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct options_parser {
    const struct option_table *const *tables;
    int argc, at; /* at: index of the current word */
    char *const *argv;
    option_fn fn;
    void *arg;
    char *message;
};

static int options_refuse(struct options_parser *parser, const struct misuse *misuse)
{
    misuse_put(misuse, parser->message, OPTIONS_MESSAGE);
    return OPTIONS_MISUSE;
}

static int refuse_typed(struct options_parser *parser, const char *wrong, struct text typed)
{
    return options_refuse(parser, &(struct misuse){.wrong = wrong, .typed = typed});
}

const struct option *options_at(const struct option_table *const tables[], size_t index)
{
    for (; *tables; index -= (*tables++)->count)
        if (index < (*tables)->count)
            return &(*tables)->options[index];
    return NULL;
}

const struct option *options_named(const struct option_table *const tables[], const char *name)
{
    const struct option *option;

    for (size_t i = 0; (option = options_at(tables, i)); i++)
        if (option->name && option->help && strcmp(option->name, name) == 0)
            return option;
    return NULL;
}

const struct option *options_of_word(const struct option_table *const tables[], const char *word)
{
    for (size_t i = 0; i < tables[0]->count; i++) {
        const struct option *option = &tables[0]->options[i];
        if (option->name && option->help && option->group == 0 &&
            option->argument == ARGUMENT_NONE && strcasecmp(option->name, word) == 0)
            return option;
    }
    return NULL;
}

static const struct option *find_letter(const struct options_parser *parser, char letter)
{
    const struct option *option;

    for (size_t i = 0; (option = options_at(parser->tables, i)); i++)
        if (option->letter == letter)
            break;
    return option;
}

static bool begins_with(const struct option *option, const char *name, size_t length)
{
    return option->name && strncmp(option->name, name, length) == 0;
}

/* Options with one id mean the same, so an abbreviation of several of them means the first. */
static const struct option *find_abbreviated(const struct option_table *table, const char *name,
                                             size_t length, bool *ambiguous)
{
    const struct option *found = NULL;

    for (size_t i = 0; i < table->count; i++) {
        const struct option *option = &table->options[i];
        if (!begins_with(option, name, length) || option->form == FORM_INSTEAD)
            continue;
        if (!found || (found->newer && !option->newer))
            found = option;
        else if (found->id != option->id && found->newer == option->newer)
            *ambiguous = true;
    }
    return found;
}

/* Finds an option by its name or the beginning of its name. Earlier tables come first. */
static const struct option *find_long(const struct option_table *const tables[], const char *name,
                                      size_t length, const struct option_table **ambiguous)
{
    const struct option *option;

    *ambiguous = NULL;
    for (size_t i = 0; (option = options_at(tables, i)); i++)
        if (begins_with(option, name, length) && !option->name[length])
            return option;
    for (; !option && *tables; tables++) {
        bool several = false;
        option = find_abbreviated(*tables, name, length, &several);
        *ambiguous = several ? *tables : NULL;
    }
    return option;
}

bool options_is(const struct option_table *const tables[], const char *word, int id)
{
    const struct option_table *ambiguous = NULL;
    const struct option *option = strncmp(word, "--", 2) == 0
                                      ? find_long(tables, word + 2, strlen(word + 2), &ambiguous)
                                      : NULL;

    return option && !ambiguous && option->id == id;
}

/* Names the options that fit, except options that mean the same as the first. */
static int report_ambiguous(struct options_parser *parser, const struct option_table *table,
                            const char *word, size_t length)
{
    const struct option *first = NULL;

    refuse_typed(parser, "option '%s' is ambiguous; possibilities:", as_text(word));
    for (size_t i = 0; i < table->count; i++) {
        const struct option *option = &table->options[i];
        if (!begins_with(option, word + 2, length) || option->form == FORM_INSTEAD ||
            (first && option->id == first->id) ||
            strlen(parser->message) + strlen(option->name) + 6 > OPTIONS_MESSAGE)
            continue;
        first = first ? first : option;
        message_append(parser->message, OPTIONS_MESSAGE, " '--%s'", option->name);
    }
    return OPTIONS_MISUSE;
}

/* Length of the number at the beginning of a word: digits with or without a point. */
static size_t number_length(const char *word)
{
    size_t digits = strspn(word, "0123456789");
    size_t fraction = word[digits] == '.' ? 1 + strspn(word + digits + 1, "0123456789") : 0;

    return digits || fraction > 1 ? digits + fraction : 0;
}

static bool options_is_number(const char *word)
{
    const size_t length = number_length(word);

    return length && !word[length];
}

/* True if the word is a time, or a number with letters after it: a wrong unit. */
static bool is_like_time(const char *word)
{
    const size_t length = number_length(word);
    double seconds;

    return length && (!word[length + strspn(word + length, UNIT_LETTERS)] ||
                      form_seconds(word, FORM_SECONDS_MAX, &seconds));
}

/* True if the option takes a time, and `next` is a unit that belongs to the number before it. */
static bool is_unit_of(const struct option *option, const char *argument, const char *next)
{
    char time[sizeof "1" + 8] = "1";
    double seconds;

    if (option->form != FORM_SECONDS && option->argument != ARGUMENT_DURATION)
        return false;
    strncat(time, next, sizeof time - strlen(time) - 1);
    return argument && options_is_number(argument) && *next && !next[strspn(next, UNIT_LETTERS)] &&
           form_seconds(time, FORM_SECONDS_MAX, &seconds);
}

static bool is_argument(const struct option *option, const char *word)
{
    switch (option->argument) {
    case ARGUMENT_REQUIRED:
        return true;
    case ARGUMENT_INTERVAL:
        return options_is_number(word);
    case ARGUMENT_DURATION:
        return is_like_time(word);
    case ARGUMENT_WORD:
        return *word != '-' && *word != '!';
    case ARGUMENT_ATTACHED: /* --wait 30s; in --wait 8080 the number is a port */
        return option->form == FORM_SECONDS && is_like_time(word) && !options_is_number(word);
    default:
        return false;
    }
}

/* True if the argument may be in the same word as the option. */
static bool takes_rest(const struct option *option)
{
    return option->argument == ARGUMENT_REQUIRED || option->argument == ARGUMENT_WORD ||
           option->argument == ARGUMENT_ATTACHED;
}

/* Hands on an option with its argument, which may be the next word. */
static int options_take(struct options_parser *parser, const struct option *option,
                        const char *argument)
{
    bool has_next = parser->at + 1 < parser->argc;

    if (!argument && has_next && is_argument(option, parser->argv[parser->at + 1]))
        argument = parser->argv[++parser->at];
    has_next = parser->at + 1 < parser->argc;
    if (has_next && is_unit_of(option, argument, parser->argv[parser->at + 1]))
        return refuse_typed(parser, "write the number and its unit as one word: '%s'",
                            as_text(MESSAGE_TEXT("%s%s", argument, parser->argv[parser->at + 1])));
    return parser->fn(option, argument, parser->arg);
}

static int parse_long(struct options_parser *parser)
{
    const char *word = parser->argv[parser->at];
    size_t length = strcspn(word + 2, "=");
    const char *argument = word[2 + length] ? word + length + 3 : NULL;
    const struct option_table *ambiguous;
    const struct option *option = find_long(parser->tables, word + 2, length, &ambiguous);

    if (ambiguous)
        return report_ambiguous(parser, ambiguous, word, length);
    if (!option) {
        struct misuse misuse = {.typed = {word + 2, length}, .before = "--"};
        for (size_t i = 0; (option = options_at(parser->tables, i)); i++)
            if (option->name && option->help)
                misuse_offer(&misuse, option->name);
        misuse.wrong = "unrecognized option '%s'";
        misuse.typed = as_text(word); /* the whole word */
        return options_refuse(parser, &misuse);
    }
    if (argument && !takes_rest(option) && option->argument != ARGUMENT_DURATION)
        return refuse_typed(parser, "option '--%s' doesn't allow an argument",
                            as_text(option->name));
    if (!argument && option->argument == ARGUMENT_REQUIRED && parser->at + 1 == parser->argc)
        return refuse_typed(parser, "option '--%s' requires an argument", as_text(option->name));
    return options_take(parser, option, argument);
}

/* Reports an unknown letter, and suggests an option. before: the byte before the letter. */
static int report_letter(struct options_parser *parser, const char *letter, char before)
{
    const struct option *option = find_letter(parser, before);
    struct misuse misuse = {.wrong = "invalid option -- '%s'", .typed = {letter, 1}};
    char interval[48] = "";

    if (option &&
        ((option->argument == ARGUMENT_INTERVAL && options_is_number(letter)) ||
         (option->argument == ARGUMENT_DURATION && is_like_time(letter))) &&
        strlen(letter) < sizeof interval - sizeof "-c ")
        snprintf(interval, sizeof interval, "-%c %s", before, letter);
    misuse.before = *interval ? NULL : "--";
    misuse.meant = as_text(*interval ? interval : NULL);
    for (size_t i = 0; !misuse.meant.data && (option = options_at(parser->tables, i)); i++)
        if (option->help && option->name && !option->letter && option->name[0] == *letter)
            misuse.meant = as_text(option->name);
    return options_refuse(parser, &misuse);
}

static int parse_letters(struct options_parser *parser)
{
    const char *letters = parser->argv[parser->at] + 1;
    int result = 0;

    for (; *letters && result == 0; letters++) {
        const struct option *option = find_letter(parser, *letters);
        bool last = letters[1] == '\0';
        if (!option)
            return report_letter(parser, letters, letters[-1]);
        if (option->argument == ARGUMENT_REQUIRED && last && parser->at + 1 == parser->argc)
            return refuse_typed(parser, "option requires an argument -- '%s'",
                                (struct text){letters, 1});
        if (takes_rest(option))
            return options_take(parser, option, last ? NULL : letters + 1);
        if (last)
            return options_take(parser, option, NULL);
        result = parser->fn(option, NULL, parser->arg);
    }
    return result;
}

int options_parse(const struct option_table *const tables[], int argc, char *const argv[],
                  option_fn fn, void *arg, char message[OPTIONS_MESSAGE])
{
    static const struct option operand = {.id = OPTION_OPERAND};
    struct options_parser parser = {tables, argc, 1, argv, fn, arg, message};
    bool ended = false;
    int result = 0;

    for (; parser.at < argc && result == 0; parser.at++) {
        const char *word = argv[parser.at];
        if (ended || word[0] != '-' || !word[1])
            result = fn(&operand, word, arg);
        else if (strcmp(word, "--") == 0)
            ended = true;
        else if (strncmp(word, "--", 2) == 0)
            result = parse_long(&parser);
        else
            result = parse_letters(&parser);
    }
    return result;
}

static void help_line(const struct option *option, FILE *stream)
{
    enum { HELP_COLUMN = 30 };
    const char *separator = option->argument == ARGUMENT_ATTACHED   ? " [="
                            : option->argument != ARGUMENT_REQUIRED ? " "
                            : option->name                          ? "="
                                                                    : "";
    char synopsis[80];

    snprintf(synopsis, sizeof synopsis, "  %s%c%s%s%s%s%s", option->letter ? "-" : " ",
             option->letter ? option->letter : ' ', option->name ? "" : " ",
             option->name ? (option->letter ? ", --" : "  --") : "",
             option->name ? option->name : "", option->metavar ? separator : "",
             option->metavar ? option->metavar : "");
    if (option->argument == ARGUMENT_ATTACHED)
        strncat(synopsis, "]", sizeof synopsis - strlen(synopsis) - 1);
    fprintf(stream, "%-*s%s\n", HELP_COLUMN, synopsis, option->help);
}

static bool is_called(const struct option *option, const char *word, size_t length)
{
    return length == 1 ? option->letter == *word
                       : begins_with(option, word, length) && !option->name[length];
}

static bool options_is_among(const struct option *option, const char *words)
{
    for (struct text word; text_next(&words, ' ', &word);)
        if (is_called(option, word.data, word.length))
            return true;
    return false;
}

const struct refused *options_refused(const struct refused *list, const struct option *option)
{
    while (list && list->options && !(option->name && text_among(list->options, option->name)))
        list++;
    return list && list->options ? list : NULL;
}

void options_help(const struct option_table *table, size_t first, size_t count,
                  const char *important, const struct refused *refused, FILE *stream)
{
    const struct option *options = table->options;

    for (size_t group = first; group < first + count; group++) {
        if (table->groups[group])
            fprintf(stream, "\n%s:\n", table->groups[group]);
        for (int rest = 0; rest < 2; rest++)
            for (size_t i = 0; i < table->count; i++)
                if (options[i].help && options[i].group == group &&
                    options_is_among(&options[i], important) == !rest &&
                    !options_refused(refused, &options[i]))
                    help_line(&options[i], stream);
    }
}

void options_help_some(const struct option_table *const tables[], const char *words, FILE *stream)
{
    const struct option *option;

    for (struct text word; text_next(&words, ' ', &word);)
        for (size_t i = 0; (option = options_at(tables, i)); i++)
            if (option->help && is_called(option, word.data, word.length))
                help_line(option, stream);
}
