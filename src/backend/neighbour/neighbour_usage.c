/* SPDX-License-Identifier: MIT */
/* Usage of the neighbour tables by rtnetlink(7): one dump of RTM_GETNEIGHTBL. The dump has all
 * numbers of /proc except one. In network namespaces other than the first, /proc has no such
 * numbers, but the dump has. Source: neightbl_fill_info() of net/core/neighbour.c. */
#include "backend/neighbour/decode.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/netlink/attributes.h"
#include "backend/netlink/netlink.h"
#include "fastnet/report.h"

const struct table table_neighbour_usage = {.name = "use of the neighbour tables",
                                            .kind = &kind_neighbour_usage};

static bool take_config(struct text content, void *member)
{
    struct neighbour_usage_record *usage = member;
    struct ndt_config config;

    if (!attribute_bytes(content, &config, sizeof config))
        return false;
    usage->entries = config.ndtc_entries;
    return true;
}

/* Takes the counters. Each has a presence bit of its own, so this function sets the bits itself. */
static bool take_stats(struct text content, void *member)
{
    struct record *record = member;

    for (size_t i = 0; i <= NEIGHBOUR_TABLE_FULLS && content.length >= (i + 1) * sizeof(uint64_t);
         i++) {
        memcpy(&record->neighbour_usage.counters[i], content.data + i * sizeof(uint64_t),
               sizeof(uint64_t));
        record->has |= NEIGHBOUR_COUNTER(i);
    }
    return false;
}

#define TAKE_THRESHOLD(i) TAKE_U32(neighbour_usage.thresholds[i], NEIGHBOUR_THRESHOLD(i))
static const struct target targets[] = {
    [NDTA_THRESH1] = TAKE_THRESHOLD(0),
    [NDTA_THRESH2] = TAKE_THRESHOLD(1),
    [NDTA_THRESH3] = TAKE_THRESHOLD(2),
    [NDTA_CONFIG] = TAKE_BY(take_config, neighbour_usage, NEIGHBOUR_ENTRIES),
    [NDTA_STATS] = TAKE_BY(take_stats, kind, 0), /* the first member: passes the record */
};

int neighbour_usage_decode(const struct nlmsghdr *message, struct record *record)
{
    struct decoding decoding = {.object = record};
    struct attributes attributes;
    const struct ndtmsg *header = message_header(message, sizeof *header, &attributes);

    if (!header)
        return -EBADMSG;
    if (header->ndtm_family != AF_INET && header->ndtm_family != AF_INET6)
        return -EAFNOSUPPORT;
    record_begin(record, &kind_neighbour_usage, sizeof record->neighbour_usage);
    record->neighbour_usage.family = header->ndtm_family;
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(targets));
    record->has |= decoding.has;
    if (decoding.malformed)
        return -EBADMSG;
    return (record->has & NEIGHBOUR_ENTRIES) ? 0 : -ENODATA;
}

struct usage_reading {
    const struct query *query;
    record_fn fn;
    void *arg;
    bool seen_ipv4, seen_ipv6; /* whether the table of this family was handed on */
};

static int neighbour_usage_take_message(const struct nlmsghdr *message, void *arg)
{
    struct usage_reading *reading = arg;
    struct record record;
    bool *seen;
    int error;

    if (message->nlmsg_type != RTM_NEWNEIGHTBL)
        return 0;
    error = neighbour_usage_decode(message, &record);
    if (error)
        return error == -EBADMSG ? report_malformed(reading->query) : 0;
    /* with many interfaces the kernel sends a table in several messages, each with the same
     * numbers */
    seen = record.neighbour_usage.family == AF_INET ? &reading->seen_ipv4 : &reading->seen_ipv6;
    if (*seen)
        return 0;
    *seen = true;
    neighbour_usage_complete(reading->query, &record);
    return reading->fn(&record, reading->arg);
}

static int neighbour_usage_dump(const struct query *query, record_fn fn, void *arg)
{
    _Alignas(struct nlmsghdr) char buffer[NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct ndtmsg))];
    struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
    struct usage_reading reading = {.query = query, .fn = fn, .arg = arg};

    mnl_nlmsg_put_extra_header(request, sizeof(struct ndtmsg));
    request->nlmsg_type = RTM_GETNEIGHTBL;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    return netlink_dump(query->netlink, NETLINK_ROUTE, request, neighbour_usage_take_message,
                        &reading, query->report);
}

const struct backend backend_neighbour_usage = {
    .name = "netlink",
    .source = BACKEND_NETLINK,
    .provides = PROVIDES({&table_neighbour_usage, UINT64_MAX}),
    .dump = neighbour_usage_dump,
};
