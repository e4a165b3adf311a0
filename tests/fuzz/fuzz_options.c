/* SPDX-License-Identifier: MIT */
/*
 * Command lines: words, each up to a NUL byte, go through each program's parser, and what comes of
 * it. What they print is thrown away.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../helpers/libc.h"
#include "cli/arp/arp.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/conntrack/conntrack_options.h"
#include "cli/neigh/neigh.h"
#include "cli/netstat/netstat.h"
#include "cli/personality.h"
#include "cli/ss/ss.h"
#include "fastnet/array.h"
#include "fuzz.h"

enum { WORDS_MAX = 64 };

static void silence(void)
{
    static FILE *nowhere;

    if (nowhere)
        return;
    nowhere = fopen("/dev/null", "w");
    require(nowhere != NULL);
    require(dup2(fileno(nowhere), STDOUT_FILENO) >= 0);
    stderr_to(nowhere);
}

static int split(char *text, size_t size, char *words[])
{
    char *at = text;
    int count = 1;

    while (at < text + size && count < WORDS_MAX) {
        words[count++] = at;
        at += strlen(at) + 1;
    }
    return count;
}

static void check(const struct netstat_options *options, int status)
{
    require(status >= PARSED && status <= STATUS_MISUSE);
    if (status != PARSED)
        return;
    require(options->other_tables <= 1);
    require(!options->tcp || options->inet || options->inet6);
}

static void resolve(const struct common *common, const struct kind *kind)
{
    struct counting counting;
    struct listing_command command = {
        .common = common, .kind = kind, .columns = {"protocol"}, .counting = &counting};
    bool done = false;
    int status = command_resolve(&command, &done);

    where_finish(&command.where);
    require(status == STATUS_OK || status == STATUS_FAILURE ||
            (status == STATUS_REFUSED && common_is_metrics(common)) ||
            status ==
                (common->grammar->manner.status ? common->grammar->manner.status : STATUS_REFUSED));
    if (status != STATUS_OK || done)
        return;
    require(command.shown_count > 0 && command.shown_count <= LISTING_COLUMNS_MAX);
    for (size_t i = 0; i < command.shown_count; i++)
        require(command.shown[i] != NULL);
    require(command.listing.proc_root != NULL);
}

static void parse_netstat(int count, char *const words[])
{
    struct netstat_options options = {.all = false};
    int status = netstat_parse(&options, count, words);

    check(&options, status);
    if (status == PARSED)
        resolve(&options.common, &kind_socket);
}

/* Nothing of an address is outside of its mask, or no flow would be in it. */
static void check_network(const struct predicate *network, uint8_t family)
{
    const struct address *address = &network->constant.address;

    require_address(address, family);
    for (size_t i = 0; i < sizeof address->bytes; i++)
        require(!(address->bytes[i] & ~network->mask.address[i]));
}

/* The same for bits. */
static void check_bits(const struct predicate *masked)
{
    const bool flags = masked->field->type == VALUE_FLAGS;

    require(masked->constant.type == (flags ? VALUE_FLAGS : VALUE_NUMBER));
    for (size_t i = 0; i < (flags ? VALUE_FLAG_BITS / 64 : 1); i++) {
        const uint64_t bits = flags ? masked->constant.flags.bits[i] : masked->constant.number;
        require(!(bits & ~masked->mask.bits[i]));
    }
}

static void check_part(const struct conntrack_filter *filter, const struct predicate *part)
{
    require(part->field != NULL);
    for (size_t i = 0; i < filter->count; i++)
        require(&filter->parts[i] == part || filter->parts[i].field != part->field);
    if (part->operation == PREDICATE_WITHIN)
        check_network(part, filter->family);
    else if (part->operation == PREDICATE_MASKED)
        check_bits(part);
    else
        require(part->operation == PREDICATE_EQUAL &&
                (part->constant.type == VALUE_NUMBER || part->constant.type == VALUE_TEXT));
}

/* One flow is asked for by both ends of a direction. */
static void check_key(const struct record *key, uint8_t family)
{
    const enum flow_way way = (key->has & FLOW_ORIG) ? WAY_ORIG : WAY_REPLY;

    require(key->kind == &kind_flow && key->flow.family == family);
    require_address(&key->flow.way[way].tuple.src, family);
    require_address(&key->flow.way[way].tuple.dst, family);
}

/* Fields that only flows of some protocols have. */
static bool is_of_protocol(const struct field *field)
{
    static const char *const names[] = {
        "state",        "orig_sport",   "orig_dport", "reply_sport", "reply_dport",
        "icmp_type",    "icmp_code",    "icmp_id",    "orig_srckey", "orig_dstkey",
        "reply_srckey", "reply_dstkey", "orig_vtag",  "reply_vtag",  "role"};

    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(names[i], field->name) == 0)
            return true;
    return false;
}

static void check_conntrack(struct conntrack_options *options)
{
    struct conntrack_filter *filter = &options->filter;
    const struct predicate *where = conntrack_filter_where(filter, &kind_flow);
    const bool has_protocol = predicate_requires(
        where, offsetof(struct record, flow.way[WAY_ORIG].tuple.protocol), PREDICATE_EQUAL);

    require(options->command <= COMMAND_USAGE && options->table <= TABLE_UNCONFIRMED);
    require(options->table < TABLE_DYING || options->command == COMMAND_LIST);
    require(filter->family == AF_UNSPEC || filter->family == AF_INET || filter->family == AF_INET6);
    require((where != NULL) == (conntrack_filter_given(filter) || filter->family != AF_UNSPEC));
    for (size_t i = 0; i < filter->count; i++) {
        check_part(filter, &filter->parts[i]);
        require(has_protocol || !is_of_protocol(filter->parts[i].field));
    }
    if (options->command == COMMAND_GET)
        check_key(conntrack_filter_key(filter, &kind_flow), filter->family);
}

static void parse_conntrack(int count, char *const words[])
{
    struct conntrack_options options = {.zero = false};
    int status = conntrack_parse(&options, count, words);

    require(status >= PARSED && status <= STATUS_PARAMETER);
    if (status != PARSED)
        return;
    check_conntrack(&options);
    resolve(&options.common, &kind_flow);
}

static void take_by_others(int count, char *const words[])
{
    struct arp_options arp = {.all = false};
    struct neigh_options neigh = {.inet = false};
    int status = arp_parse(&arp, count, words);

    require((status >= PARSED && status <= STATUS_MISUSE) || status == STATUS_ARP_FAILURE);
    require(!arp.hardware || arp.hardware->arp || status == STATUS_ARP_FAILURE);
    status = neigh_parse(&neigh, count, words);
    require(status >= PARSED && status <= STATUS_REFUSED);
    require(status != PARSED || !filters_typed(&neigh.common.filters, "proxy") ||
            !filters_typed(&neigh.common.filters, "state"));
}

/* Whatever is selected are tables that there are, and the listing has room for them. */
static void parse_ss(int count, char *const words[])
{
    static struct ss_tables tables;
    struct ss_options options = {.events = false};
    int status = ss_parse(&options, count, words);

    require((status >= PARSED && status <= STATUS_REFUSED) || status == STATUS_SS_MISUSE);
    require(options.word_count <= (size_t)count);
    if (status == PARSED) {
        require(options.selection.tables && options.selection.families);
        require(options.selection.states && !(options.selection.states & ~SS_STATES_ALL));
        ss_choose_tables(&tables, &options);
        require(tables.count <= COUNT(tables.tables));
        resolve(&options.common, &kind_socket);
    }
    ss_options_finish(&options);
}

static void offer(int count, char *const words[])
{
    static const struct grammar *const grammars[] = {&netstat_grammar, &ss_grammar,
                                                     &conntrack_grammar, NULL};

    for (size_t i = 0; grammars[i]; i++)
        completion_offer(grammars[i], grammars, true, count, words, stdout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char program[] = "program";
    char *words[WORDS_MAX + 1] = {program}, *text = malloc(size + 1);
    int count;

    require(text != NULL);
    silence();
    memcpy(text, data, size);
    text[size] = '\0';
    count = split(text, size, words);
    parse_netstat(count, words);
    parse_conntrack(count, words);
    take_by_others(count, words);
    parse_ss(count, words);
    offer(count, words);
    free(text);
    return 0;
}
