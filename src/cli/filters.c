/* SPDX-License-Identifier: MIT */
#include "cli/filters.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/misuse.h"
#include "cli/where/parser.h"
#include "cli/words.h"
#include "fastnet/array.h"

static const char *const groups[] = {"Filter (!VALUE means: all but VALUE)"};

#define ADDRESSES                                                                                  \
    "local_address remote_address orig_src orig_dst reply_src reply_dst address destination src "  \
    "dst"

#define WHERE(example)                                                                             \
    OPTION_ROW(OPTION_FILTER, 'X', "where", 0, "rows that match EXPR: " example, TAKES("EXPR"),    \
               OF(CHOICES_COLUMNS))
/* A short form of --where: it compares its value with those columns in `of` that rows have. */
#define LETTER(letter, name, metavar, of, ...)                                                     \
    OPTION_ROW(OPTION_FILTER, letter, name, 0, __VA_ARGS__, TAKES(metavar), COMPARES(of))
#define SHORT(...) LETTER(0, __VA_ARGS__)
#define PORT                                                                                       \
    LETTER('P', "port", "N,N-M,...", WHERE_PORTS, "with this port or service at either end")
#define HOST_OF(of) SHORT("host", "ADDRESS,...", of, "with this address or network at either end")
#define HOST        HOST_OF(ADDRESSES)

/* For rows that have owners. */
#define OF_OWNERS                                                                                  \
    SHORT("pid", "N,...", "pid", "held open by one of these processes", OF(CHOICES_PIDS)),         \
        SHORT("process", "NAME,...", "process", "held open by a process of this name",             \
              OF(CHOICES_PROCESSES)),                                                              \
        SHORT("command", "PATTERN", "command", "held open by a process with such arguments",       \
              .form = FORM_PATTERN, .newer = true),                                                \
        SHORT("parent", "PID,NAME,...", "parent", "held open by a process with such a parent",     \
              OF(CHOICES_PROCESSES), .newer = true),                                               \
        SHORT("user", "NAME,...", "user", "made by one of these users", OF(CHOICES_USERS)),        \
        SHORT("unit", "NAME,...", "unit", "of one of these systemd units", OF(CHOICES_VALUES)),    \
        SHORT("container", "NAME,...", "container container_name",                                 \
              "of one of these containers, by name or id", OF(CHOICES_VALUES)),                    \
        SHORT("pod", "NAME,...", "pod pod_name", "of one of these pods, by name or uid",           \
              OF(CHOICES_VALUES), .newer = true)

static const struct option of_sockets[] = {
    WHERE("'recv_q > 0'"),
    SHORT("state", "A,B,...", "state", "in one of these states", OF(CHOICES_VALUES)),
    PORT,
    SHORT("local-port", "N,N-M,...", "local_port", "with this local port"),
    SHORT("remote-port", "N,N-M,...", "remote_port", "with this remote port"),
    HOST,
    SHORT("local", "ADDRESS,...", "local_address", "with this local address or network"),
    SHORT("remote", "ADDRESS,...", "remote_address", "with this remote address or network"),
    OF_OWNERS,
};
static const struct option of_flows[] = {
    WHERE("'mark = 7'"), PORT, HOST,
    SHORT("pid", "N,...", "orig_pid reply_pid", "with an end that one of these processes holds",
          OF(CHOICES_PIDS)),
    SHORT("process", "NAME,...", "orig_process reply_process",
          "with an end that a process of this name holds", OF(CHOICES_PROCESSES))};
static const struct option of_neighbours[] = {
    WHERE("'probes > 2'"),
    SHORT("state", "A,B,...", "state", "in one of these states", OF(CHOICES_VALUES)),
    SHORT("host", "ADDRESS,...", "address", "with this address, or in this network")};

static const struct option of_findings[] = {
    WHERE("'severity = fault'"),
    SHORT("process", "NAME,...", "process", "about a process of this name", OF(CHOICES_PROCESSES)),
    SHORT("pid", "PID,...", "pid", "about this process", OF(CHOICES_PIDS)),
    SHORT("command", "PATTERN", "process_command", "about a process with such arguments",
          .form = FORM_PATTERN, .newer = true),
    SHORT("parent", "PID,NAME,...", "parent", "about a process with such a parent",
          OF(CHOICES_PROCESSES), .newer = true),
};

static const struct option of_steps[] = {WHERE("'step = answer'")};

static const struct option of_drops[] = {WHERE("'process != null'"), PORT, HOST, OF_OWNERS};

static const struct option of_differences[] = {WHERE("'change = opened'")};

/* With the column "address" a flow would match once for each of its ends. */
static const struct option of_traffic[] = {WHERE("'packets > 9'"), PORT, HOST_OF("src dst"),
                                           OF_OWNERS};

const struct option_table filters_of_sockets = {groups, 1, of_sockets, COUNT(of_sockets)};
const struct option_table filters_of_flows = {groups, 1, of_flows, COUNT(of_flows)};
const struct option_table filters_of_neighbours = {groups, 1, of_neighbours, COUNT(of_neighbours)};
const struct option_table filters_of_findings = {groups, 1, of_findings, COUNT(of_findings)};
const struct option_table filters_of_differences = {groups, 1, of_differences,
                                                    COUNT(of_differences)};
const struct option_table filters_of_steps = {groups, 1, of_steps, COUNT(of_steps)};
const struct option_table filters_of_drops = {groups, 1, of_drops, COUNT(of_drops)};
const struct option_table filters_of_traffic = {groups, 1, of_traffic, COUNT(of_traffic)};

const struct option filters_word = {.id = OPTION_FILTER, .name = ""};

const char *filters_typed(const struct filters *filters, const char *name)
{
    const char *text = NULL;

    for (size_t i = 0; i < filters->count; i++)
        if (strcmp(filters->typed[i].option->name, name) == 0)
            text = filters->typed[i].text;
    return text;
}

bool filters_are(const struct option *option, const char *argument)
{
    return option->form < FORM_OWN &&
           (option->id == OPTION_FILTER || option->value || (option->columns && argument));
}

bool filters_take(struct filters *filters, const struct option *option, const char *argument)
{
    size_t i = 0;

    while (i < filters->count && !(option->form == FORM_TEXT && filters->typed[i].option == option))
        i++;
    if (i == FILTERS_MAX)
        return false;
    filters->typed[i].option = option;
    filters->typed[i].text = option->value ? option->value : argument;
    filters->count += i == filters->count;
    return true;
}

/* True if all words are ids of containers or uids of pods. */
static bool are_ids(const char *text)
{
    bool are = true;

    text += *text == '!';
    for (struct text id; are && text && *text && text_next(&text, ',', &id);) {
        const bool uuid = id.length == 36;
        are = (uuid || id.length == 12 || id.length == 32 || id.length == 64) &&
              strspn(id.data, uuid ? "0123456789abcdef-" : "0123456789abcdef") == id.length;
    }
    return are;
}

/* Makes the predicate of --where for an option with a pattern. */
static const struct predicate *filters_parse_pattern(struct where *where, const struct kind *kind,
                                                     const char *column, const char *pattern)
{
    const bool negated = *pattern == '!', whole = strpbrk(pattern, "*?");

    /* the empty text is in every value; other filters refuse it, too */
    if (!pattern[negated])
        return where_parse_list(where, kind, column, pattern);
    char *value = NULL, *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    const struct predicate *made = NULL;
    const char *kept = NULL;

    if (stream && asprintf(&value, whole ? "%s" : "*%s*", pattern + negated) >= 0) {
        fprintf(stream, "%s%s ~ ", negated ? "not " : "", column);
        where_put_value(stream, value);
        free(value);
    }
    if (stream && fclose(stream) == 0)
        kept = where_keep(where, text);
    free(text);
    if (kept)
        made = where_parse(where, kind, kept);
    else
        snprintf(where->message, sizeof where->message, "out of memory");
    return made;
}

const char *filters_resolve(const struct filters *filters, struct where *where,
                            const struct kind *kind, const struct predicate **all)
{
    where->options = &filters_of_sockets;
    for (size_t i = 0; i < filters->count; i++) {
        const struct option *option = filters->typed[i].option;
        const char *text = filters->typed[i].text;
        const char *columns = option->columns;
        if (option == &filters_word)
            continue;
        char ids[16]; /* only the first column is compared, so names need not be known */
        if (columns && strstr(columns, "_name") && are_ids(text)) {
            snprintf(ids, sizeof ids, "%.*s", (int)strcspn(columns, " "), columns);
            columns = ids;
        }
        const struct predicate *one =
            !columns                       ? where_parse(where, kind, text)
            : option->form == FORM_TEXT    ? where_text(where, kind, columns, text)
            : option->form == FORM_PATTERN ? filters_parse_pattern(where, kind, columns, text)
                                           : where_parse_list(where, kind, columns, text);
        if (one)
            one = *all = where_both(where, *all, one);
        if (!one)
            return option->name;
    }
    return NULL;
}

/* Makes the predicate of a word. A message of --where begins with the position in a text that the
 * user did not type, so the word replaces it. */
static const struct predicate *filters_parse_word(struct where *where, struct word_filter *filter,
                                                  const char *word)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    const bool is_filter = stream && words_put(filter, word, stream);
    const char *kept = NULL, *message = where->message;

    if (stream && fclose(stream) == 0 && is_filter)
        kept = where_keep(where, text);
    free(text);
    if (!is_filter)
        snprintf(where->message, sizeof where->message, "%s",
                 stream ? filter->message : "out of memory");
    const struct predicate *made = kept ? where_parse(where, filter->kind, kept) : NULL;
    if (kept && !made && strncmp(message, "at ", 3) == 0 && strstr(message, ": "))
        snprintf(where->message, sizeof where->message, "'%s': %s", TYPED(word),
                 MESSAGE_TEXT("%s", strstr(message, ": ") + 2));
    return made;
}

bool filters_resolve_words(const struct filters *filters, struct where *where,
                           const struct kind *kind, bool captured, const struct predicate **all)
{
    struct word_filter filter = {.kind = kind, .captured = captured};

    for (size_t i = 0; i < filters->count; i++) {
        if (filters->typed[i].option != &filters_word)
            continue;
        const struct predicate *one = filters_parse_word(where, &filter, filters->typed[i].text);
        if (one)
            one = *all = where_both(where, *all, one);
        if (!one)
            return false;
    }
    return true;
}

/* --- Words that are not options --------------------------------------------------------------- */

/* True if rows of the kind have one of these columns, and it can be compared with the value. */
static bool takes(const struct kind *kind, const char *columns, const char *value)
{
    struct where where = {.parts = NULL};
    const bool taken = where_parse_list(&where, kind, columns, value);

    where_finish(&where);
    return taken;
}

bool filters_meant(const struct kind *kind, const char *word, char meant[FILTERS_MEANT])
{
    const char *port = *word == ':' ? word + 1 : word;
    const struct field *states = field_named(kind, "state");
    /* one letter may be wrong, or the last letter missing */
    struct misuse state = {.typed = as_text(word), .distance = 2};

    if (states)
        where_offer_words(&state, kind, states);
    if (isdigit((unsigned char)*port) && takes(kind, WHERE_PORTS, port))
        snprintf(meant, FILTERS_MEANT, "--port=%s", TYPED(port));
    else if (takes(kind, ADDRESSES, word))
        snprintf(meant, FILTERS_MEANT, "--host=%s", TYPED(word));
    else if (state.meant.data)
        snprintf(meant, FILTERS_MEANT, "--state=%s", state.meant.data);
    else
        return false;
    return true;
}
