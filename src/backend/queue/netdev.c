/* SPDX-License-Identifier: MIT */
/* Queues of network cards by the generic netlink family "netdev" (Linux 6.9): a dump of counters
 * (NETDEV_CMD_QSTATS_GET), in which the kernel leaves out interfaces that are down or whose driver
 * has no such counters. If needed, dumps of the NAPI instances of queues and of their interrupts.
 * Source: net/core/netdev-genl.c and Documentation/netlink/specs/netdev.yaml of the kernel. */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdbool.h>

#include "backend/netlink/attributes.h"
#include "backend/netlink/netlink.h"
#include "backend/queue/decode.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/kernel_abi.h"
#include "fastnet/query.h"
#include "fastnet/report.h"

const struct table table_queues = {.name = "queues of network cards", .kind = &kind_queue};

/* --- Decoders --------------------------------------------------------------------------------- */

/* Presence bits of attributes that a message must have; no field has these bits. */
#define HAS_INTERFACE (UINT64_C(1) << 61)
#define HAS_DIRECTION (UINT64_C(1) << 62)
#define HAS_ID        (UINT64_C(1) << 63)
#define HAS_ALL       (HAS_INTERFACE | HAS_DIRECTION | HAS_ID)

#define TAKE_COUNTER(i) TAKE_UINT(queue.counters[i], QUEUE_COUNTER(i))
static const struct target counter_targets[] = {
    [QSTATS_IFINDEX] = TAKE(queue.interface, HAS_INTERFACE),
    [QSTATS_QUEUE_TYPE] = TAKE(queue.direction, HAS_DIRECTION),
    [QSTATS_QUEUE_ID] = TAKE(queue.id, HAS_ID),
    [QSTATS_RX_PACKETS] = TAKE_COUNTER(QUEUE_PACKETS),
    [QSTATS_RX_BYTES] = TAKE_COUNTER(QUEUE_BYTES),
    [QSTATS_TX_PACKETS] = TAKE_COUNTER(QUEUE_PACKETS),
    [QSTATS_TX_BYTES] = TAKE_COUNTER(QUEUE_BYTES),
    [QSTATS_RX_ALLOC_FAIL] = TAKE_COUNTER(QUEUE_ALLOC_FAIL),
    [QSTATS_RX_HW_DROPS] = TAKE_COUNTER(QUEUE_HW_DROPS),
    [QSTATS_RX_HW_DROP_OVERRUNS] = TAKE_COUNTER(QUEUE_HW_DROP_OVERRUNS),
    [QSTATS_RX_CSUM_COMPLETE] = TAKE_COUNTER(QUEUE_CSUM_COMPLETE),
    [QSTATS_RX_CSUM_UNNECESSARY] = TAKE_COUNTER(QUEUE_CSUM_UNNECESSARY),
    [QSTATS_RX_CSUM_NONE] = TAKE_COUNTER(QUEUE_CSUM_NONE),
    [QSTATS_RX_CSUM_BAD] = TAKE_COUNTER(QUEUE_CSUM_BAD),
    [QSTATS_RX_HW_GRO_PACKETS] = TAKE_COUNTER(QUEUE_HW_GRO_PACKETS),
    [QSTATS_RX_HW_GRO_BYTES] = TAKE_COUNTER(QUEUE_HW_GRO_BYTES),
    [QSTATS_RX_HW_GRO_WIRE_PACKETS] = TAKE_COUNTER(QUEUE_HW_GRO_WIRE_PACKETS),
    [QSTATS_RX_HW_GRO_WIRE_BYTES] = TAKE_COUNTER(QUEUE_HW_GRO_WIRE_BYTES),
    [QSTATS_RX_HW_DROP_RATELIMITS] = TAKE_COUNTER(QUEUE_HW_DROP_RATELIMITS),
    [QSTATS_TX_HW_DROPS] = TAKE_COUNTER(QUEUE_HW_DROPS),
    [QSTATS_TX_HW_DROP_ERRORS] = TAKE_COUNTER(QUEUE_HW_DROP_ERRORS),
    [QSTATS_TX_CSUM_NONE] = TAKE_COUNTER(QUEUE_CSUM_NONE),
    [QSTATS_TX_NEEDS_CSUM] = TAKE_COUNTER(QUEUE_NEEDS_CSUM),
    [QSTATS_TX_HW_GSO_PACKETS] = TAKE_COUNTER(QUEUE_HW_GSO_PACKETS),
    [QSTATS_TX_HW_GSO_BYTES] = TAKE_COUNTER(QUEUE_HW_GSO_BYTES),
    [QSTATS_TX_HW_GSO_WIRE_PACKETS] = TAKE_COUNTER(QUEUE_HW_GSO_WIRE_PACKETS),
    [QSTATS_TX_HW_GSO_WIRE_BYTES] = TAKE_COUNTER(QUEUE_HW_GSO_WIRE_BYTES),
    [QSTATS_TX_HW_DROP_RATELIMITS] = TAKE_COUNTER(QUEUE_HW_DROP_RATELIMITS),
    [QSTATS_TX_STOP] = TAKE_COUNTER(QUEUE_STOP),
    [QSTATS_TX_WAKE] = TAKE_COUNTER(QUEUE_WAKE),
};

static const struct target napi_targets[] = {
    [NIC_QUEUE_ID] = TAKE(queue.id, HAS_ID),
    [NIC_QUEUE_IFINDEX] = TAKE(queue.interface, HAS_INTERFACE),
    [NIC_QUEUE_TYPE] = TAKE(queue.direction, HAS_DIRECTION),
    [NIC_QUEUE_NAPI] = TAKE(queue.napi, QUEUE_NAPI),
};

static const struct target irq_targets[] = {
    [NAPI_ID] = TAKE(queue.napi, QUEUE_NAPI),
    [NAPI_IRQ] = TAKE(queue.irq, QUEUE_IRQ),
};

/* Decodes one message of the family "netdev". required: the bits that it must have. */
static int netdev_decode(const struct nlmsghdr *message, struct record *record,
                         struct targets targets, uint64_t required)
{
    struct decoding decoding = {.object = record};
    struct attributes attributes;

    record_begin(record, &kind_queue, sizeof record->queue);
    if (!message_header(message, sizeof(struct genlmsghdr), &attributes))
        return -EBADMSG;
    attributes_decode(&decoding, attributes, targets);
    if (decoding.malformed)
        return -EBADMSG;
    record->has = decoding.has & ~HAS_ALL;
    return (decoding.has & required) == required && record->queue.direction <= QUEUE_TX ? 0
                                                                                        : -ENODATA;
}

int queue_decode(const struct nlmsghdr *message, struct record *record)
{
    return netdev_decode(message, record, (struct targets)TARGETS(counter_targets), HAS_ALL);
}

/* Makes one number of interface, direction (one bit) and id. The kernel's indices of interfaces
 * have 31 bits. */
static uint64_t queue_key(const struct queue_record *queue)
{
    return (uint64_t)queue->interface << 33 | (uint64_t)queue->direction << 32 | queue->id;
}

int queue_decode_napi(const struct nlmsghdr *message, struct queue_link *link)
{
    struct record record;
    const int error = netdev_decode(message, &record, (struct targets)TARGETS(napi_targets),
                                    HAS_ALL | QUEUE_NAPI);

    if (error)
        return error;
    *link = (struct queue_link){.from = queue_key(&record.queue), .to = record.queue.napi};
    return 0;
}

int queue_decode_irq(const struct nlmsghdr *message, struct queue_link *link)
{
    struct record record;
    const int error = netdev_decode(message, &record, (struct targets)TARGETS(irq_targets),
                                    QUEUE_NAPI | QUEUE_IRQ);

    if (error)
        return error;
    *link = (struct queue_link){.from = record.queue.napi, .to = record.queue.irq};
    return 0;
}

/* --- Requests --------------------------------------------------------------------------------- */

struct queue_reading {
    const struct query *query;
    record_fn fn;
    void *arg;
    uint16_t family;               /* number of the family "netdev"; 0: not found */
    struct hash_table napis, irqs; /* struct queue_link */
};

/* Dumps an answer of the family to the command. scope: NETDEV_SCOPE_QUEUE; 0: the command has no
 * scope. */
static int netdev_ask(struct queue_reading *reading, uint16_t family, uint8_t command,
                      uint32_t scope, netlink_fn fn)
{
    _Alignas(struct nlmsghdr) char buffer[NLMSG_HDRLEN + GENL_HDRLEN + 2 * sizeof(struct nlattr)];
    struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
    struct genlmsghdr *header = mnl_nlmsg_put_extra_header(request, sizeof *header);

    request->nlmsg_type = family;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    *header = (struct genlmsghdr){.cmd = command, .version = 1};
    if (scope)
        mnl_attr_put_u32(request, QSTATS_SCOPE, scope);
    return netlink_dump(reading->query->netlink, NETLINK_GENERIC, request, fn, reading,
                        reading->query->report);
}

struct netdev_family {
    struct text name;
    uint16_t id;
};

static int netdev_take_family(const struct nlmsghdr *message, void *arg)
{
    static const struct target targets[] = {
        [CTRL_ATTR_FAMILY_ID] = TAKE_INTO(struct netdev_family, id, 0),
        [CTRL_ATTR_FAMILY_NAME] = TAKE_INTO(struct netdev_family, name, 0),
    };
    struct queue_reading *reading = arg;
    struct netdev_family family = {.id = 0};
    struct decoding decoding = {.object = &family};
    struct attributes attributes;

    if (!message_header(message, sizeof(struct genlmsghdr), &attributes))
        return report_malformed(reading->query);
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(targets));
    if (family.name.length && text_is(family.name, NETDEV_FAMILY_NAME))
        reading->family = family.id;
    return 0;
}

static int queue_take_link(struct queue_reading *reading, struct hash_table *table, int error,
                           const struct queue_link *link)
{
    struct queue_link *added;

    if (error)
        return error == -EBADMSG ? report_malformed(reading->query) : 0;
    if (hash_table_find_number(table, hash_word(0, link->from), link->from))
        return 0;
    added = hash_table_add(table, hash_word(0, link->from), sizeof *added);
    if (!added)
        return -ENOMEM;
    *added = *link;
    return 0;
}

static int queue_take_napi(const struct nlmsghdr *message, void *arg)
{
    struct queue_reading *reading = arg;
    struct queue_link link;
    const int error = queue_decode_napi(message, &link);

    return queue_take_link(reading, &reading->napis, error, &link);
}

static int queue_take_irq(const struct nlmsghdr *message, void *arg)
{
    struct queue_reading *reading = arg;
    struct queue_link link;
    const int error = queue_decode_irq(message, &link);

    return queue_take_link(reading, &reading->irqs, error, &link);
}

static void queue_find_napi(const struct queue_reading *reading, struct record *record)
{
    const uint64_t key = queue_key(&record->queue);
    const struct queue_link *napi = hash_table_find_number(&reading->napis, hash_word(0, key), key);
    const struct queue_link *irq =
        napi ? hash_table_find_number(&reading->irqs, hash_word(0, napi->to), napi->to) : NULL;

    if (napi) {
        record->queue.napi = napi->to;
        record->has |= QUEUE_NAPI;
    }
    if (irq) {
        record->queue.irq = irq->to;
        record->has |= QUEUE_IRQ;
    }
}

static int queue_take(const struct nlmsghdr *message, void *arg)
{
    struct queue_reading *reading = arg;
    struct record record;
    const int error =
        message->nlmsg_type == reading->family ? queue_decode(message, &record) : -ENODATA;

    if (error)
        return error == -EBADMSG ? report_malformed(reading->query) : 0;
    queue_find_napi(reading, &record);
    return reading->fn(&record, reading->arg);
}

/* Old kernels have no such family, or not this command. Families are dumped, because a request for
 * one family by its name would make the kernel look for a module. */
static int queue_dump(const struct query *query, record_fn fn, void *arg)
{
    struct queue_reading reading = {.query = query, .fn = fn, .arg = arg};
    int result = netdev_ask(&reading, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, netdev_take_family);

    if (result == 0 && !reading.family)
        result = -ENOENT;
    if (result == 0 && query->needs & (QUEUE_NAPI | QUEUE_IRQ))
        result = netdev_ask(&reading, reading.family, NETDEV_COMMAND_QUEUE_GET, 0, queue_take_napi);
    if (result == 0 && query->needs & QUEUE_IRQ)
        result = netdev_ask(&reading, reading.family, NETDEV_COMMAND_NAPI_GET, 0, queue_take_irq);
    if (result == 0)
        result = netdev_ask(&reading, reading.family, NETDEV_COMMAND_QSTATS_GET, NETDEV_SCOPE_QUEUE,
                            queue_take);
    hash_table_finish(&reading.napis);
    hash_table_finish(&reading.irqs);
    return result == -EOPNOTSUPP ? -ENOENT : result;
}

const struct backend backend_queues = {
    .name = "netlink",
    .source = BACKEND_NETLINK,
    .provides = PROVIDES({&table_queues, UINT64_MAX}),
    .dump = queue_dump,
};
