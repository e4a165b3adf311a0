/* SPDX-License-Identifier: MIT */
#include "cli/foreign.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "cli/where/parser.h"
#include "cli/words.h"
#include "fastnet/array.h"
#include "fastnet/text.h"

enum { FOREIGN_TOKENS = 64, FOREIGN_TEXT = 2048, FOREIGN_WORD = 256 };

/* A translation in two forms: `filter` is complete, `options` cannot express all filters. */
struct foreign_line {
    const struct common *common;
    char tokens[FOREIGN_TOKENS][FOREIGN_WORD];
    size_t count, at;
    char flags[FOREIGN_TEXT]; /* options of both forms */
    char options[FOREIGN_TEXT], filter[FOREIGN_TEXT];
    bool is_simple;  /* options can express the whole filter */
    bool unfinished; /* a value is missing; a word in capitals stands for it */
    bool is_unknown; /* a part of the filter cannot be translated */
};

#define FOREIGN_SIGNS  "= == != < > <= >= eq neq ne gt lt geq ge leq le"
#define FOREIGN_JOINTS "and && or || not ( )"
#define FOREIGN_NAMES  "sport dport port portrange host net src dst state nud exclude dev"

bool foreign_begins(const char *word)
{
    return text_among(FOREIGN_NAMES " tcp udp icmp ip ip6 not", word);
}

/* --- Tokens ----------------------------------------------------------------------------------- */

/* Splits a word as ss and tcpdump do: at spaces and signs. */
static void foreign_split(struct foreign_line *line, const char *word)
{
    static const char signs[] = "=!<>&|()";

    while (*(word += strspn(word, TOKEN_SPACES)) && line->count < FOREIGN_TOKENS) {
        size_t length = strcspn(word, TOKEN_SPACES "=!<>&|()");
        if (!length)
            length = strchr("()", *word) ? 1 : strspn(word, signs);
        line->is_unknown |= length >= FOREIGN_WORD;
        snprintf(line->tokens[line->count++], FOREIGN_WORD, "%.*s", (int)length, word);
        word += length;
    }
}

static const char *foreign_now(const struct foreign_line *line)
{
    return line->at < line->count ? line->tokens[line->at] : "";
}

/* Skips the current token if it is among the words. */
static bool foreign_take(struct foreign_line *line, const char *words)
{
    const bool taken = *foreign_now(line) && text_among(words, foreign_now(line));

    line->at += taken;
    return taken;
}

static const char *foreign_sign(struct foreign_line *line)
{
    static const char *const signs[][2] = {{"= == eq", "="},    {"!= ne neq", "!="},
                                           {"< lt", "<"},       {"> gt", ">"},
                                           {"<= le leq", "<="}, {">= ge geq", ">="}};

    for (size_t i = 0; i < COUNT(signs); i++)
        if (foreign_take(line, signs[i][0]))
            return signs[i][1];
    return "=";
}

/* --- Parts of the translation ----------------------------------------------------------------- */

static const struct option *foreign_option(const struct foreign_line *line, const char *name)
{
    return options_named(line->common->grammar->tables, name);
}

/* Adds a word to a command line, in quotes if a shell needs them. */
static void foreign_put_word(struct foreign_line *line, char text[FOREIGN_TEXT], const char *before,
                             const char *word)
{
    const size_t used = strlen(text);
    FILE *stream = used + 2 < FOREIGN_TEXT ? fmemopen(text + used, FOREIGN_TEXT - used, "w") : NULL;

    if (stream)
        text_put_word(stream, before, word);
    line->is_unknown |= !stream || fclose(stream) != 0 || strlen(text) + 2 > FOREIGN_TEXT;
}

static void foreign_put_option(struct foreign_line *line, const char *name, const char *sign,
                               const char *value)
{
    char text[FOREIGN_WORD + 1];

    if (!foreign_option(line, name) || (strcmp(sign, "=") != 0 && strcmp(sign, "!=") != 0))
        line->is_simple = false;
    snprintf(text, sizeof text, "%s%s", *sign == '!' ? "!" : "", value);
    foreign_put_word(line, line->options, MESSAGE_TEXT(" --%s=", name), text);
}

/* Adds a comparison of each column that the kind has, joined by `or`; after a '!' sign by `and`. */
static void foreign_put_columns(struct foreign_line *line, const char *columns, const char *sign,
                                const char *value)
{
    const struct kind *kind = line->common->grammar->kind;
    const bool all = *sign == '!';
    char text[FOREIGN_TEXT] = "";

    for (struct text name; text_next(&columns, ' ', &name);)
        if (field_find(kind, name.data, name.length) || text_is(name, "port"))
            message_append(text, sizeof text, "%s%.*s %s %s",
                           !*text ? ""
                           : all  ? " and "
                                  : " or ",
                           (int)name.length, name.data, sign, value);
    const bool several = strstr(text, all ? " and " : " or ");
    message_append(line->filter, sizeof line->filter, several ? "(%s)" : "%s", text);
    line->is_unknown |= !*text;
}

/* Takes a value, or a placeholder if the value is missing. */
static const char *foreign_value(struct foreign_line *line, const char *placeholder)
{
    if (line->at < line->count &&
        !text_among(FOREIGN_JOINTS " ! " FOREIGN_SIGNS, foreign_now(line)))
        return line->tokens[line->at++];
    line->unfinished = true;
    return placeholder;
}

enum foreign_end { FOREIGN_EITHER, FOREIGN_LOCAL, FOREIGN_REMOTE };

static void foreign_put_port(struct foreign_line *line, enum foreign_end end, const char *sign,
                             const char *value)
{
    static const char *const options[] = {"port", "local-port", "remote-port"};
    static const char *const columns[] = {"port", "local_port sport", "remote_port dport"};

    value += strncmp(value, "*:", 2) == 0 ? 2 : *value == ':';
    foreign_put_option(line, options[end], sign, value);
    foreign_put_columns(line, columns[end], sign, value);
}

static void foreign_put_address(struct foreign_line *line, enum foreign_end end, const char *sign,
                                const char *value)
{
    static const char *const options[] = {"host", "local", "remote"};
    static const char *const columns[] = {"local_address remote_address src dst",
                                          "local_address src", "remote_address dst"};
    const bool neighbours = !field_named(line->common->grammar->kind, "src") &&
                            !field_named(line->common->grammar->kind, "local_address");

    foreign_put_option(line, neighbours ? "host" : options[end], sign, value);
    foreign_put_columns(line, neighbours ? "address" : columns[end], sign, value);
}

/* Translates the name of a state, which people write in several ways. */
static void foreign_put_state(struct foreign_line *line, const char *sign)
{
    const struct kind *kind = line->common->grammar->kind;
    const struct field *states = field_named(kind, "state");
    const char *typed = foreign_value(line, "STATE");
    struct misuse state = {.typed = as_text(typed)};
    char value[FOREIGN_WORD];

    if (states && !line->unfinished)
        where_offer_words(&state, kind, states);
    snprintf(value, sizeof value, "%s", state.meant.data ? state.meant.data : typed);
    foreign_put_option(line, "state", sign, value);
    foreign_put_columns(line, "state", sign, value);
}

/* --- Grammar ---------------------------------------------------------------------------------- */

/* Translates a part that begins with src, dst, host, net, port, portrange, sport or dport. */
static bool foreign_part_of_end(struct foreign_line *line)
{
    const size_t began = line->at;
    const enum foreign_end end = foreign_take(line, "src sport")   ? FOREIGN_LOCAL
                                 : foreign_take(line, "dst dport") ? FOREIGN_REMOTE
                                                                   : FOREIGN_EITHER;
    const bool named = end && strstr(line->tokens[began], "port");
    const bool port = named || foreign_take(line, "port portrange");

    if (!port && !foreign_take(line, "host net") && !end)
        return false;
    const char *sign = foreign_sign(line), *value = foreign_value(line, port ? "N" : "ADDRESS");
    if (port || *value == ':' || strncmp(value, "*:", 2) == 0)
        foreign_put_port(line, end, sign, value);
    else
        foreign_put_address(line, end, sign, value);
    return true;
}

/* Translates a part that begins with the name of an option or of a column. */
static bool foreign_part_of_name(struct foreign_line *line)
{
    const char *name = foreign_now(line);
    const struct option *option = foreign_option(line, name);
    const struct field *column = field_compared(line->common->grammar->kind, name, strlen(name));
    const bool compared =
        line->at + 1 < line->count && text_among(FOREIGN_SIGNS, line->tokens[line->at + 1]);

    if (!(option && option->argument == ARGUMENT_REQUIRED) && !(column && compared))
        return false;
    line->at++;
    const char *sign = foreign_sign(line);
    const char *value = foreign_value(line, option && option->metavar ? option->metavar : "VALUE");
    if (option && !filters_are(option, value)) {
        foreign_put_word(line, line->flags, MESSAGE_TEXT(" --%s=", name), value);
        return true;
    }
    foreign_put_option(line, name, sign, value);
    foreign_put_columns(line, option && option->columns ? option->columns : name, sign, value);
    return true;
}

/* Translates any other word: its form says which filter it is. */
static void foreign_part_of_word(struct foreign_line *line)
{
    struct word_filter filter = {.kind = line->common->grammar->kind};
    const char *word = foreign_value(line, "WORD");
    char text[FOREIGN_TEXT] = "";
    FILE *stream = fmemopen(text, sizeof text - 1, "w");
    const bool is_filter = stream && words_put(&filter, word, stream);

    line->is_unknown |= !stream || fclose(stream) != 0 || !is_filter;
    foreign_put_word(line, line->options, " ", word);
    message_append(line->filter, sizeof line->filter, strstr(text, " or ") ? "(%s)" : "%s", text);
}

/* Translates one part. Returns false for an option without a value, which is not a condition. */
static bool foreign_part(struct foreign_line *line)
{
    const struct option *option = foreign_option(line, foreign_now(line));
    const size_t flags = strlen(line->flags);

    if (foreign_take(line, "ip ip6 inet inet6"))
        return false;
    if (option && option->argument == ARGUMENT_NONE) {
        message_append(line->flags, sizeof line->flags, " --%s", option->name);
        line->at++;
    } else if (foreign_take(line, "exclude")) {
        foreign_put_state(line, "!=");
    } else if (foreign_take(line, "state nud")) {
        foreign_put_state(line, foreign_sign(line));
    } else if (foreign_take(line, "dev")) {
        const char *value = foreign_value(line, "IF");
        foreign_put_option(line, "interface", "=", value);
        foreign_put_columns(line, "interface", "=", value);
    } else if (!foreign_part_of_end(line) && !foreign_part_of_name(line)) {
        foreign_part_of_word(line);
    }
    return strlen(line->flags) == flags;
}

/* Translates all tokens. Options can only follow each other: `or`, `not` and ( ) need --where. */
static void foreign_translate(struct foreign_line *line)
{
    bool follows = false; /* a condition comes before, so `and` or `or` is needed */

    line->is_simple = true;
    while (line->at < line->count && !line->is_unknown) {
        const bool opens = text_among("not ! (", foreign_now(line));
        const bool either = text_among("or ||", foreign_now(line));
        const bool joint = either || text_among("and &&", foreign_now(line));
        const bool closes = text_among(")", foreign_now(line));
        const char *before = !follows || closes ? "" : either ? " or " : " and ";
        message_append(line->filter, sizeof line->filter, "%s%s", before,
                       opens || closes
                           ? (strcmp(foreign_now(line), "!") == 0 ? "not" : foreign_now(line))
                           : "");
        if (opens && !text_among("(", foreign_now(line)))
            message_append(line->filter, sizeof line->filter, " ");
        line->is_simple &= !opens && !closes && !either;
        line->at += opens || closes || joint;
        follows = closes || (!opens && !joint && (foreign_part(line) || (follows && !*before)));
    }
    line->is_unknown |= line->count == FOREIGN_TOKENS || strlen(line->filter) + 2 > FOREIGN_TEXT;
}

/* --- The message ------------------------------------------------------------------------------ */

/* True if the word is no filter by its form, but of another language, or the name of an option. */
static bool foreign_is(const struct foreign_line *line, const char *word)
{
    return text_among(FOREIGN_NAMES " " FOREIGN_JOINTS " " FOREIGN_SIGNS, word) ||
           (foreign_option(line, word) && !options_of_word(line->common->grammar->tables, word)) ||
           word[strcspn(word, "=<>")];
}

/* Collects the tokens of all words. Returns true if one of them is foreign. */
static bool foreign_collect(struct foreign_line *line)
{
    const struct filters *filters = &line->common->filters;
    bool found = false;

    for (size_t i = 0; i < filters->count; i++) {
        const size_t before = line->count;
        const char *word = filters->typed[i].text;
        if (filters->typed[i].option != &filters_word)
            continue;
        found |= foreign_is(line, word);
        if (*word == '!' && word[1] && !strpbrk(word, TOKEN_SPACES "=")) {
            if (line->count < FOREIGN_TOKENS)
                snprintf(line->tokens[line->count++], FOREIGN_WORD, "%s", word);
            continue;
        }
        foreign_split(line, word);
        for (size_t at = before; line->count - before > 1 && at < line->count; at++)
            found |= foreign_is(line, line->tokens[at]);
    }
    return found;
}

static bool foreign_is_typed(const struct filters *filters, const char *word)
{
    bool is = false;

    for (size_t i = 0; i < filters->count; i++)
        is |= filters->typed[i].option == &filters_word && filters->typed[i].text == word;
    return is;
}

/* Writes the command line, with the translation in place of the words; `ss`: for ss, which reads
 * the words itself. Returns false if the line is too long, or if a terminal cannot show it. */
static bool foreign_put_line(struct foreign_line *line, bool ss, char *const argv[],
                             char text[FOREIGN_TEXT])
{
    char command[COMMON_COMMAND];
    const char *at = text;

    snprintf(text, FOREIGN_TEXT, "%s",
             ss ? "fastnet ss"
             : strcmp(line->common->grammar->name, "sockets") == 0
                 ? "fastnet s"
                 : common_command(line->common, command));
    for (size_t i = 1; argv[i]; i++)
        if (ss == foreign_is_typed(&line->common->filters, argv[i]) && strcmp(argv[i], "--") != 0)
            foreign_put_word(line, text, " ", argv[i]);
    if (!ss)
        message_append(text, FOREIGN_TEXT, "%s%s", line->flags,
                       line->is_simple ? line->options : "");
    if (!ss && !line->is_simple)
        foreign_put_word(line, text, " --where=", line->filter);
    while (*at >= ' ' && *at <= '~')
        at++;
    return !*at && strlen(text) + 2 < FOREIGN_TEXT && !line->is_unknown;
}

/* True if the translation is a filter of --where, so that the line works when it is typed. */
static bool foreign_works(const struct foreign_line *line)
{
    struct where where = {.parts = NULL};
    const bool works =
        !line->is_unknown && (line->unfinished || !*line->filter ||
                              where_parse(&where, line->common->grammar->kind, line->filter));

    where_finish(&where);
    return works;
}

static int foreign_report(struct foreign_line *line, char *const argv[])
{
    const char *first = line->count ? line->tokens[0] : "";
    const struct misuse nothing = {.wrong = "", .help = HELP_NONE};
    char text[FOREIGN_TEXT];
    struct misuse misuse = nothing;

    foreign_translate(line);
    const bool works = foreign_works(line);
    const bool ss =
        !works && line->common->grammar->kind == &kind_socket &&
        text_among("sport dport src dst state exclude dev autobound fwmark cgroup ( not", first);
    line->is_unknown &= !ss;
    if ((works || ss) && foreign_put_line(line, ss, argv, text))
        misuse.wrong = MESSAGE_TEXT("'%%s' is not a filter by itself; type: %s", text);
    else
        misuse.wrong =
            "'%s' is not a filter by itself; type a condition, such as --where='port = 443'";
    for (size_t i = 0; i < line->common->filters.count && !misuse.typed.data; i++)
        if (line->common->filters.typed[i].option == &filters_word &&
            foreign_is(line, line->common->filters.typed[i].text))
            misuse.typed = as_text(line->common->filters.typed[i].text);
    if (!misuse.typed.data)
        misuse.typed = as_text(first);
    return common_refuse(line->common, &misuse);
}

int foreign_refuse(const struct common *common, char *const argv[])
{
    struct foreign_line *line = NULL;
    int status = 0;

    for (size_t i = 0; i < common->filters.count && !line; i++)
        if (common->filters.typed[i].option == &filters_word)
            line = calloc(1, sizeof *line);
    if (!line)
        return 0;
    line->common = common;
    if (foreign_collect(line))
        status = foreign_report(line, argv);
    free(line);
    return status;
}
