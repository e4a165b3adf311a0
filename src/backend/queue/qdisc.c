/* SPDX-License-Identifier: MIT */
/* Queueing disciplines by rtnetlink(7): the rows of `tc -s qdisc`. TCA_DUMP_INVISIBLE is not asked
 * for: the disciplines that the kernel puts below classes by itself are counted by their parents.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "backend/netlink/attributes.h"
#include "backend/netlink/netlink.h"
#include "backend/queue/decode.h"
#include "fastnet/query.h"
#include "text/put.h"

const struct table table_qdiscs = {.name = "queueing disciplines", .kind = &kind_qdisc};

static bool qdisc_take_basic(struct text content, void *member)
{
    struct qdisc_record *qdisc = member;

    if (content.length < sizeof(uint64_t) + sizeof(uint32_t))
        return false;
    qdisc->bytes = text_number(content, 0, sizeof(uint64_t));
    qdisc->packets = text_number(content, sizeof(uint64_t), sizeof(uint32_t));
    return true;
}

static bool qdisc_take_queue(struct text content, void *member)
{
    struct qdisc_record *qdisc = member;
    struct gnet_stats_queue stats;

    if (!attribute_bytes(content, &stats, sizeof stats))
        return false;
    qdisc->qlen = stats.qlen;
    qdisc->backlog = stats.backlog;
    qdisc->drops = stats.drops;
    qdisc->requeues = stats.requeues;
    qdisc->overlimits = stats.overlimits;
    return true;
}

/* The kernel sends TCA_STATS_PKT64 after TCA_STATS_BASIC, and only if 32 bits are not enough. */
static const struct target qdisc_statistics[] = {
    [TCA_STATS_BASIC] = TAKE_BY(qdisc_take_basic, qdisc, QDISC_BASIC),
    [TCA_STATS_QUEUE] = TAKE_BY(qdisc_take_queue, qdisc, QDISC_QUEUE),
    [TCA_STATS_PKT64] = TAKE(qdisc.packets, 0),
};
static const struct target qdisc_targets[] = {
    [TCA_KIND] = TAKE(qdisc.kind, QDISC_KIND),
    [TCA_STATS2] = TAKE_NEST(qdisc_statistics),
};

/* Writes a handle as tc(8) does: "8001:", "1:10", ":1". */
static void qdisc_put_handle(char text[QDISC_HANDLE], uint32_t handle)
{
    const uint32_t major = handle >> 16, minor = handle & 0xffff;
    char *end = major || !minor ? put_hex(text, major) : text;

    *end++ = ':';
    *(minor ? put_hex(end, minor) : end) = '\0';
}

int qdisc_decode(const struct nlmsghdr *message, struct record *record)
{
    struct qdisc_record *qdisc = &record->qdisc;
    struct decoding decoding = {.object = record};
    struct attributes attributes;
    const struct tcmsg *header = message_header(message, sizeof *header, &attributes);

    record_begin(record, &kind_qdisc, sizeof record->qdisc);
    if (!header)
        return -EBADMSG;
    qdisc->interface = (uint32_t)header->tcm_ifindex;
    qdisc->parent_handle = header->tcm_parent;
    qdisc_put_handle(qdisc->handle, header->tcm_handle);
    qdisc_put_handle(qdisc->parent, header->tcm_parent);
    if (header->tcm_parent == TC_H_ROOT)
        memcpy(qdisc->parent, "root", sizeof "root");
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(qdisc_targets));
    record->has = decoding.has;
    return decoding.malformed ? -EBADMSG : 0;
}

struct qdisc_reading {
    const struct query *query;
    record_fn fn;
    void *arg;
};

static int qdisc_take(const struct nlmsghdr *message, void *arg)
{
    struct qdisc_reading *reading = arg;
    struct record record;

    if (message->nlmsg_type != RTM_NEWQDISC)
        return 0;
    if (qdisc_decode(message, &record) < 0)
        return report_malformed(reading->query);
    return reading->fn(&record, reading->arg);
}

int qdiscs_dump(struct netlink *netlink, netlink_fn fn, void *arg, struct report *report)
{
    _Alignas(struct nlmsghdr) char buffer[NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct tcmsg))];
    struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);

    mnl_nlmsg_put_extra_header(request, sizeof(struct tcmsg));
    request->nlmsg_type = RTM_GETQDISC;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    return netlink_dump(netlink, NETLINK_ROUTE, request, fn, arg, report);
}

/* A kernel without queueing disciplines (CONFIG_NET_SCHED) has no such dump. */
static int qdisc_dump(const struct query *query, record_fn fn, void *arg)
{
    struct qdisc_reading reading = {query, fn, arg};
    const int result = qdiscs_dump(query->netlink, qdisc_take, &reading, query->report);

    return result == -EOPNOTSUPP ? -ENOENT : result;
}

const struct backend backend_qdiscs = {
    .name = "netlink",
    .source = BACKEND_NETLINK,
    .provides = PROVIDES({&table_qdiscs, UINT64_MAX}),
    .dump = qdisc_dump,
};
