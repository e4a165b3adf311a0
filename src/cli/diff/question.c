/* SPDX-License-Identifier: MIT */
#include "cli/diff/question.h"

#include <stdio.h>
#include <string.h>

#include "cli/filters.h"
#include "cli/misuse.h"
#include "fastnet/array.h"

/* Options that every command has. Filters are not among them: each filter chooses rows. */
#define ROWS_OF_ALL  "exact backend netns all-netns owners"
#define SHOWS_OF_ALL "columns sort numeric p O table"

/* Options that say where rows go and in which form. They are left out: a saved listing always has
 * one of them, and rows of a new listing go to diff. */
static const char dropped[] =
    "save output json ndjson csv csv-safe prometheus openmetrics no-header human color H";

static const struct lister listers[] = {
    {sockets_run, &sockets_grammar,
     "tcp udp raw unix all listening unlisted attention ipv4 ipv6 protocol interface summary",
     "r e o i m"},
    {doctor_run, &doctor_grammar, "for only skip exposed", "verbose"},
    {ss_run, &ss_grammar,
     "dccp tcp sctp udp raw unix tipc vsock all listening bound-inactive ipv4 ipv6 packet family "
     "socket query net xdp mptcp summary",
     "resolve options extended memory info processes threads bpf tipcinfo tos cgroup no-queues "
     "oneline inet-sockopt"},
    {netstat_run, &netstat_grammar,
     "i interfaces route masquerade protocol 4 6 tcp sctp udp udplite raw unix inet inet6 "
     "listening "
     "all statistics cache fib groups summary queues qdisc",
     "timers extend programs verbose wide numeric-hosts numeric-ports numeric-users symbolic"},
    {conntrack_run, &conntrack_grammar,
     "dump get counter stats usage family protonum orig-src src orig-dst dst reply-src reply-dst "
     "mask-src mask-dst status mark secmark label zone orig-zone reply-zone src-nat dst-nat "
     "any-nat "
     "sport orig-port-src dport orig-port-dst reply-port-src reply-port-dst state icmp-type "
     "icmp-code "
     "icmp-id icmpv6-type icmpv6-code icmpv6-id srckey orig-key-src dstkey orig-key-dst "
     "reply-key-src reply-key-dst orig-vtag reply-vtag role",
     ""},
    {neigh_run, &neigh_grammar, "4 6 device proxy master usage", ""},
    {arp_run, &arp_grammar, "device hw-type t protocol", "verbose all e"},
    {drops_run, &drops_grammar, "for all", ""},
};

static const struct lister *find_lister(const char *name)
{
    for (size_t i = 0; i < COUNT(listers); i++)
        if (strcmp(listers[i].grammar->name, name) == 0 ||
            (listers[i].grammar->alias && strcmp(listers[i].grammar->alias, name) == 0))
            return &listers[i];
    return NULL;
}

static int question_refuse(struct question *question, const char *why)
{
    question->is_refused = true;
    snprintf(question->message, sizeof question->message, "%s", why);
    return 0;
}

/* Adds a word, "BEFORE=AFTER", "BEFOREAFTER" or one of both. */
static int question_add(struct question *question, const char *before, const char *between,
                        const char *after, bool shows)
{
    char *word = question->bytes + question->used;
    const size_t room = sizeof question->bytes - question->used;
    const int length = snprintf(word, room, "%s%s%s", before, between, after);

    if (length < 0 || (size_t)length >= room || question->count == QUESTION_WORDS_MAX)
        return question_refuse(question, "it has too many arguments");
    question->shows[question->count] = shows;
    question->words[question->count++] = word;
    question->used += (size_t)length + 1;
    return 0;
}

/* An option_fn: decides about one option or operand. */
static int question_take(const struct option *option, const char *argument, void *arg)
{
    struct question *question = arg;
    const char letter[] = {option->letter, '\0'}, *name = option->name ? option->name : letter;
    const char *value = argument ? argument : "";
    char typed[64];

    if (option->id == OPTION_OPERAND && !option->name && !option->letter)
        return *value == '-'
                   ? question_refuse(question, "a word that is not an option begins with '-'")
                   : question_add(question, value, "", "", false);
    snprintf(typed, sizeof typed, "%s%s", option->name ? "--" : "-", name);
    if (text_among(dropped, name))
        return 0;
    if (text_among("at record", name)) /* another moment of the same rows */
        return question_refuse(question, "it shows a moment of a recording");
    question->is_limited |= strcmp(name, "limit") == 0;
    question->has_columns |= strcmp(name, "columns") == 0 && *value != '+' && *value != '-';
    const bool shows = text_among(SHOWS_OF_ALL, name) || text_among(question->lister->shows, name);
    const bool is_path = strchr(value, '/') && (text_among("netns net", name));
    const bool rows = filters_are(option, argument) || text_among(ROWS_OF_ALL, name) ||
                      text_among(question->lister->rows, name);
    if ((!shows && !rows) || is_path)
        question_refuse(question, MESSAGE_TEXT("%s%s%.64s is not an option that diff repeats",
                                               typed, argument ? "=" : "", TYPED_SHORT(value)));
    return question_add(question, typed, argument && option->name ? "=" : "", value, shows);
}

void question_read(struct question *question, const char *const *arguments)
{
    static char netstat[] = "netstat"; /* fastnet without a command lists as netstat does */
    char *argv[QUESTION_WORDS_MAX] = {netstat}, message[OPTIONS_MESSAGE];
    const bool has_command = arguments && *arguments && **arguments != '-';
    size_t from = has_command;
    int argc = 1;

    memset(question, 0, sizeof *question);
    if (!arguments || !*arguments) {
        snprintf(question->message, sizeof question->message, "it does not say how it was listed");
        return;
    }
    question->lister = find_lister(has_command ? *arguments : netstat);
    for (; arguments[from] && argc < QUESTION_WORDS_MAX - 1; from++)
        argv[argc++] = (char *)(uintptr_t)arguments[from]; /* options_parse() does not change it */
    argv[argc] = NULL;
    if (!question->lister)
        snprintf(question->message, sizeof question->message, "diff does not repeat 'fastnet %s'",
                 TYPED_SHORT(*arguments));
    else if (arguments[from])
        question_refuse(question, "it has too many arguments");
    else if (options_parse(question->lister->grammar->tables, argc, argv, question_take, question,
                           message))
        question_refuse(question, message);
}

/* Index of the next word that chooses rows, and is or is not an option. */
static size_t question_next(const struct question *question, size_t i, bool option)
{
    while (i < question->count && (question->shows[i] || (*question->words[i] == '-') != option))
        i++;
    return i;
}

static size_t question_count(const struct question *question, const char *word)
{
    size_t count = 0;

    for (size_t i = question_next(question, 0, true); i < question->count;
         i = question_next(question, i + 1, true))
        count += strcmp(question->words[i], word) == 0;
    return count;
}

/* True if each option of `one` that chooses rows is as often in `other`. */
static bool question_has_options(const struct question *one, const struct question *other)
{
    bool has = true;

    for (size_t i = question_next(one, 0, true); i < one->count && has;
         i = question_next(one, i + 1, true))
        has = question_count(one, one->words[i]) == question_count(other, one->words[i]);
    return has;
}

bool question_is_same(const struct question *one, const struct question *other)
{
    size_t i = question_next(one, 0, false), j = question_next(other, 0, false);

    if (one->lister != other->lister || !question_has_options(one, other) ||
        !question_has_options(other, one))
        return false;
    for (; i < one->count && j < other->count;
         i = question_next(one, i + 1, false), j = question_next(other, j + 1, false))
        if (strcmp(one->words[i], other->words[j]) != 0)
            return false;
    return i == one->count && j == other->count;
}
