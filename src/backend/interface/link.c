/* SPDX-License-Identifier: MIT */
/* Interfaces by rtnetlink(7): if needed, a dump of their addresses (RTM_GETADDR) and a dump of
 * their queues (RTM_GETQDISC), then a dump of all interfaces (RTM_GETLINK). */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/interface/decode.h"
#include "backend/netlink/netlink.h"
#include "backend/queue/decode.h"
#include "fastnet/array.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/interfaces.h"
#include "fastnet/query.h"
#include "fastnet/report.h"

const struct table table_interfaces = {.name = "dev", .file = "dev", .kind = &kind_interface};

/* Packets that the queueing discipline of an interface dropped (tc(8)). */
struct interface_queue {
    uint64_t interface; /* index of the interface, key of the hash table */
    uint32_t drops;     /* packets */
};

struct link_reading {
    const struct query *query;
    record_fn fn;
    void *arg;
    struct interface_address *addresses; /* in the order of the dump, later sorted by interface */
    size_t count, capacity;
    struct hash_table queues; /* struct interface_queue */
    struct record record;
};

struct link_request {
    _Alignas(struct nlmsghdr) char bytes[40]; /* at most two headers and an attribute */
};

/* Makes a dump request: RTM_GETLINK or RTM_GETADDR. size: bytes of its header. */
static struct nlmsghdr *link_put_request(struct link_request *request, uint16_t type, size_t size)
{
    struct nlmsghdr *message = mnl_nlmsg_put_header(request->bytes);

    message->nlmsg_type = type;
    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    mnl_nlmsg_put_extra_header(message, size);
    return message;
}

static int link_ask(struct link_reading *reading, uint16_t type, size_t size, netlink_fn fn)
{
    const struct query *query = reading->query;
    struct link_request request;

    return netlink_dump(query->netlink, NETLINK_ROUTE, link_put_request(&request, type, size), fn,
                        reading, query->report);
}

/* --- Addresses -------------------------------------------------------------------------------- */

static int link_take_address(const struct nlmsghdr *message, void *arg)
{
    struct link_reading *reading = arg;
    struct interface_address address, *added;
    int result;

    if (message->nlmsg_type != RTM_NEWADDR)
        return 0;
    result = address_decode(message, &address);
    if (result < 0)
        return result == -EBADMSG ? report_malformed(reading->query) : 0;
    added = ARRAY_ADD(reading->addresses, reading->count, reading->capacity);
    if (!added)
        return -ENOMEM;
    *added = address;
    return 0;
}

static int link_compare_interfaces(const void *a, const void *b, void *arg)
{
    const uint32_t left = ((const struct interface_address *)a)->interface;
    const uint32_t right = ((const struct interface_address *)b)->interface;

    (void)arg;
    return (left > right) - (left < right);
}

static void set_addresses(struct link_reading *reading)
{
    struct interface_record *interface = &reading->record.interface;
    size_t at = 0, to = reading->count;

    if (!(reading->query->needs & INTERFACE_ADDRESSES))
        return;
    reading->record.has |= INTERFACE_ADDRESSES;
    if (!reading->count) /* there is no array then */
        return;
    while (at < to) { /* a binary search for the interface's first address */
        const size_t middle = at + (to - at) / 2;
        if (reading->addresses[middle].interface < interface->index)
            at = middle + 1;
        else
            to = middle;
    }
    interface->addresses = reading->addresses + at;
    for (; at < reading->count && reading->addresses[at].interface == interface->index; at++)
        interface->address_count++;
}

/* --- Queues ----------------------------------------------------------------------------------- */

/* Takes the drops of the root. A queueing discipline includes the drops of all disciplines below,
 * so the root has all drops of the interface. */
static int take_queue(const struct nlmsghdr *message, void *arg)
{
    struct link_reading *reading = arg;
    const struct qdisc_record *qdisc = &reading->record.qdisc;
    struct interface_queue *added;

    if (message->nlmsg_type != RTM_NEWQDISC)
        return 0;
    if (qdisc_decode(message, &reading->record) < 0)
        return report_malformed(reading->query);
    if (qdisc->parent_handle != TC_H_ROOT || !(reading->record.has & QDISC_QUEUE))
        return 0;
    added = hash_table_add(&reading->queues, hash_word(0, qdisc->interface), sizeof *added);
    if (!added)
        return -ENOMEM;
    *added = (struct interface_queue){.interface = qdisc->interface, .drops = qdisc->drops};
    return 0;
}

/* --- Interfaces ------------------------------------------------------------------------------- */

static bool has_label(const void *element, const void *label)
{
    const char *const *known = element;

    return strcmp(*known, label) == 0;
}

/* Returns 1 if it added the label, 0 if the table had it, or -ENOMEM. The label is borrowed. */
static int link_add_label(struct hash_table *labels, struct text label)
{
    const uint64_t hash = hash_bytes(hash_seed(), label.data, label.length);
    const char **added;

    if (hash_table_find(labels, hash, has_label, label.data))
        return 0;
    added = hash_table_add(labels, hash, sizeof *added);
    if (!added)
        return -ENOMEM;
    *added = label.data;
    return 1;
}

/* Hands on a row for each label that differs from the interface's name. ifconfig(8) calls such
 * labels aliases, and shows them as interfaces without statistics and IPv6. ifconfig shows only one
 * address of an alias, so the row has only one address. */
static int hand_on_labels(struct link_reading *reading)
{
    const struct interface_record *interface = &reading->record.interface;
    struct hash_table labels = {0};
    int result = 0;

    for (size_t i = 0; i < interface->address_count && result >= 0; i++) {
        const struct interface_address *address = &interface->addresses[i];
        const struct text label = {address->label, strlen(address->label)};
        struct record row = reading->record;
        if (!label.length || text_equal(label, interface->name))
            continue;
        result = link_add_label(&labels, label);
        if (result <= 0)
            continue;
        row.has &=
            ~(INTERFACE_COUNTERS | INTERFACE_DETAILS | INTERFACE_NOHANDLER | INTERFACE_QUEUE_DROPS);
        row.interface.name = label;
        row.interface.labelled = true;
        row.interface.addresses = address;
        row.interface.address_count = 1;
        result = reading->fn(&row, reading->arg);
    }
    hash_table_finish(&labels);
    return result;
}

static int take_link(const struct nlmsghdr *message, void *arg)
{
    struct link_reading *reading = arg;
    struct interface_record *interface = &reading->record.interface;
    const struct interface_queue *queue;
    int result;

    if (message->nlmsg_type != RTM_NEWLINK)
        return 0;
    if (link_decode(message, &reading->record) < 0)
        report_malformed(reading->query);
    if (!reading->record.has)
        return 0;
    set_addresses(reading);
    queue =
        hash_table_find_number(&reading->queues, hash_word(0, interface->index), interface->index);
    if (queue) {
        interface->queue_drops = queue->drops;
        reading->record.has |= INTERFACE_QUEUE_DROPS;
    }
    result = reading->fn(&reading->record, reading->arg);
    return result < 0 ? result : hand_on_labels(reading);
}

static int link_dump(const struct query *query, record_fn fn, void *arg)
{
    struct link_reading reading = {.query = query, .fn = fn, .arg = arg};
    int result = 0;

    if (query->needs & INTERFACE_ADDRESSES)
        result = link_ask(&reading, RTM_GETADDR, sizeof(struct ifaddrmsg), link_take_address);
    /* addresses of an interface stay in the order of the dump: IPv4 before IPv6 */
    if (result == 0)
        result = sort_stable(reading.addresses, reading.count, sizeof *reading.addresses,
                             link_compare_interfaces, NULL);
    if (result == 0 && query->needs & INTERFACE_QUEUE_DROPS)
        result = qdiscs_dump(query->netlink, take_queue, &reading, query->report);
    /* a kernel without queueing disciplines (CONFIG_NET_SCHED) has no such dump */
    if (result == -EOPNOTSUPP && query->needs & INTERFACE_QUEUE_DROPS)
        result = 0;
    if (result == 0)
        result = link_ask(&reading, RTM_GETLINK, sizeof(struct ifinfomsg), take_link);
    free(reading.addresses);
    hash_table_finish(&reading.queues);
    return result;
}

/* --- Details for rows of other kinds ---------------------------------------------------------- */

struct completing {
    interface_fn fn;
    void *arg;
};

static int take_details(const struct nlmsghdr *message, void *arg)
{
    const struct completing *completing = arg;
    char name[INTERFACE_NAME_SIZE];
    struct record record;
    const struct interface_record *link = &record.interface;

    if (message->nlmsg_type != RTM_NEWLINK)
        return 0;
    link_decode(message, &record);
    if (!record.has || !link->index || link->name.length >= sizeof name)
        return 0; /* the caller will ask for this interface by ioctl(2) */
    memcpy(name, link->name.data, link->name.length);
    name[link->name.length] = '\0';
    return completing->fn(
        &(struct interface){.index = link->index,
                            .hardware = link->type,
                            .master = link->master,
                            .netns = (record.has & INTERFACE_NETNS) ? link->netns : -1,
                            .name = name},
        completing->arg);
}

int links_dump(struct netlink *netlink, interface_fn fn, void *arg, struct report *report)
{
    struct completing completing = {fn, arg};
    struct link_request request;
    struct nlmsghdr *message = link_put_request(&request, RTM_GETLINK, sizeof(struct ifinfomsg));

    mnl_attr_put_u32(message, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
    return netlink_dump(netlink, NETLINK_ROUTE, message, take_details, &completing, report);
}

const struct backend backend_link = {
    .name = "netlink",
    .source = BACKEND_NETLINK,
    .provides = PROVIDES({&table_interfaces, UINT64_MAX}),
    .dump = link_dump,
};
