/* SPDX-License-Identifier: MIT */
/*
 * The filter language of ss: any words are a filter, or are refused with one line that a terminal
 * can show. In parentheses a filter means the same, and its opposite lists all other sockets: no
 * row is neither. The input: the options in front, the length of the text, the text (a NUL begins
 * the next argument), a socket.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/ss/ss_filter.h"
#include "fastnet/array.h"
#include "fastnet/hosts.h"
#include "fuzz.h"
#include "made_records.h"

enum { TEXT_MAX = 255, WORDS_MAX = 32 };

/* Of all lookups only the range of ports: without it, no predicate can tell what is autobound. */
static const struct context *names(void)
{
    static const struct context context = {.netns.ephemeral = {32768, 60999}};

    return &context;
}

static int resolve(const char *name, uint8_t family, int own_netns, unsigned milliseconds,
                   struct address addresses[], size_t most)
{
    const uint8_t length = (uint8_t)strlen(name);
    const uint8_t bytes[16] = {0x20, 1, length};

    require(own_netns == 0 && milliseconds > 0 && most >= 2 && !strpbrk(name, "/:[]"));
    if (length % 4 == 0)
        return -ENOENT;
    addresses[0] = address_make(family == AF_INET6 ? AF_INET6 : AF_INET, bytes);
    addresses[1] = address_make(family == AF_INET ? AF_INET : AF_INET6, bytes);
    return 2;
}

static void require_line(const char *message)
{
    require(message[0] && strlen(message) < WHERE_MESSAGE);
    for (; *message; message++)
        require((unsigned char)*message >= ' ' && *message != 0x7f);
}

/* Which tables and families options have chosen. */
static struct ss_selection selection_of(uint8_t options)
{
    static const uint8_t families[] = {AF_INET,    AF_INET6, AF_UNIX, AF_PACKET,
                                       AF_NETLINK, AF_VSOCK, AF_XDP,  AF_TIPC};
    struct ss_selection selection = {.chosen = false};

    if (options & 1)
        ss_select_table(&selection, options & 2 ? SS_TCP : SS_RAW);
    if (options & 4)
        ss_select_family(&selection, families[options >> 3 & 7]);
    ss_selection_complete(&selection);
    return selection;
}

struct input {
    const char *words[WORDS_MAX + 4];
    size_t count;
    uint8_t options;
    const struct record *record;
};

enum outcome { REFUSED, LISTED, NOT_LISTED, ELSEWHERE /* of a family that is not listed */ };

/* Whether the predicate can tell: every dump of such sockets says these of each. */
static bool is_whole(const struct record *record)
{
    static const struct {
        uint8_t family;
        uint64_t fields;
    } known[] = {{AF_INET, SOCKET_ADDRESSES},  {AF_INET6, SOCKET_ADDRESSES},
                 {AF_UNIX, SOCKET_PATH},       {AF_PACKET, SOCKET_ETHER},
                 {AF_NETLINK, SOCKET_NETLINK}, {AF_VSOCK, SOCKET_VSOCK}};

    if (record->kind != &kind_socket)
        return false;
    for (size_t i = 0; i < COUNT(known); i++)
        if (record->socket.family == known[i].family)
            return record->has & known[i].fields;
    return true;
}

static enum outcome outcome_of(const struct input *input)
{
    struct where where = {0};
    struct ss_selection selection = selection_of(input->options);
    struct ss_words words = {.arguments = input->words, .count = input->count};
    struct ss_filter filter = {
        .where = &where, .selection = &selection, .words = &words, .resolve = resolve};
    const struct predicate *predicate = ss_filter_parse(&filter);
    enum outcome outcome = ELSEWHERE;

    if (filter.failed) {
        require(!predicate);
        require_line(where.message);
        outcome = REFUSED;
    } else if (input->record->kind == &kind_socket && input->record->socket.family < 64 &&
               selection.families >> input->record->socket.family & 1) {
        outcome = predicate_holds(predicate, input->record, names()) ? LISTED : NOT_LISTED;
    }
    where_finish(&where);
    return outcome;
}

/* The same words between these. */
static enum outcome outcome_between(const struct input *input, const char *first,
                                    const char *second)
{
    struct input other = {.options = input->options, .record = input->record};

    if (first)
        other.words[other.count++] = first;
    other.words[other.count++] = second;
    memcpy(other.words + other.count, input->words, input->count * sizeof *input->words);
    other.count += input->count;
    other.words[other.count++] = ")";
    return outcome_of(&other);
}

static bool is_deep(const struct input *input)
{
    size_t count = 0;

    for (size_t i = 0; i < input->count; i++)
        for (const char *at = input->words[i]; *at; at++)
            count += *at == '(' || *at == '!' || *at == 'n';
    return count > 60;
}

static void check(const struct input *input)
{
    const enum outcome outcome = outcome_of(input);

    if (outcome == REFUSED || is_deep(input) || !is_whole(input->record))
        return;
    const enum outcome same = outcome_between(input, NULL, "(");
    const enum outcome opposite = outcome_between(input, "not", "(");
    if (same == REFUSED) /* there was no condition, or a backslash takes the parenthesis */
        return;
    require(same == outcome);
    require(outcome == ELSEWHERE ? opposite == ELSEWHERE
                                 : opposite == (outcome == LISTED ? NOT_LISTED : LISTED));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    struct input input = {.options = bytes_u8(&bytes)};
    const size_t length = bytes_u8(&bytes);
    char text[TEXT_MAX + 1] = "";
    struct made_record made;

    for (size_t i = 0; i < length; i++)
        text[i] = (char)bytes_u8(&bytes);
    for (size_t at = 0; at < length && input.count < WORDS_MAX; at += strlen(text + at) + 1)
        input.words[input.count++] = text + at;
    made_record_init(&made, 0, &bytes); /* a socket */
    input.record = &made.record;
    check(&input);
    made_record_finish(&made);
    return 0;
}
