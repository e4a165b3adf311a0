/* SPDX-License-Identifier: MIT */
/* Interfaces and their addresses from rtnetlink(7) messages. */
#include "backend/interface/decode.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/netlink/attributes.h"

static bool link_decode_take_lladdr(struct text content, void *member)
{
    struct interface_record *interface = member;

    return attribute_lladdr(content, interface->lladdr, &interface->lladdr_length);
}

static bool link_decode_take_map(struct text content, void *member)
{
    struct interface_record *interface = member;
    struct rtnl_link_ifmap map = {.mem_start = 0};

    if (!attribute_bytes(content, &map, offsetof(struct rtnl_link_ifmap, port)))
        return false;
    interface->memory_start = map.mem_start;
    interface->memory_end = map.mem_end;
    interface->base_address = (uint16_t)map.base_addr;
    interface->irq = (uint8_t)map.irq;
    interface->dma = map.dma;
    return true;
}

/* Sums counters as /proc/net/dev does (dev_seq_printf_stats(), net/core/net-procfs.c). */
static void set_counters(struct interface_record *interface, const struct rtnl_link_stats64 *stats)
{
    const uint64_t counters[INTERFACE_COUNTERS_MAX] = {
        [RX_BYTES] = stats->rx_bytes,
        [RX_PACKETS] = stats->rx_packets,
        [RX_ERRORS] = stats->rx_errors,
        [RX_DROPPED] = stats->rx_dropped + stats->rx_missed_errors,
        [RX_OVERRUNS] = stats->rx_fifo_errors,
        [RX_FRAME] = stats->rx_length_errors + stats->rx_over_errors + stats->rx_crc_errors +
                     stats->rx_frame_errors,
        [RX_COMPRESSED] = stats->rx_compressed,
        [RX_MULTICAST] = stats->multicast,
        [TX_BYTES] = stats->tx_bytes,
        [TX_PACKETS] = stats->tx_packets,
        [TX_ERRORS] = stats->tx_errors,
        [TX_DROPPED] = stats->tx_dropped,
        [TX_OVERRUNS] = stats->tx_fifo_errors,
        [TX_COLLISIONS] = stats->collisions,
        [TX_CARRIER] = stats->tx_carrier_errors + stats->tx_aborted_errors +
                       stats->tx_window_errors + stats->tx_heartbeat_errors,
        [TX_COMPRESSED] = stats->tx_compressed,
    };

    memcpy(interface->counters, counters, sizeof counters);
}

static void set_details(struct interface_record *interface, const struct rtnl_link_stats64 *stats)
{
    const uint64_t details[INTERFACE_DETAILS_MAX] = {
        [RX_MISSED] = stats->rx_missed_errors,
        [RX_LENGTH_ERRORS] = stats->rx_length_errors,
        [RX_OVER_ERRORS] = stats->rx_over_errors,
        [RX_CRC_ERRORS] = stats->rx_crc_errors,
        [RX_FRAME_ERRORS] = stats->rx_frame_errors,
        [RX_NOHANDLER] = stats->rx_nohandler,
        [TX_ABORTED_ERRORS] = stats->tx_aborted_errors,
        [TX_CARRIER_ERRORS] = stats->tx_carrier_errors,
        [TX_HEARTBEAT_ERRORS] = stats->tx_heartbeat_errors,
        [TX_WINDOW_ERRORS] = stats->tx_window_errors,
    };

    memcpy(interface->details, details, sizeof details);
}

/* Takes counters. Kernels that send them send all up to tx_compressed; rx_nohandler came later.
 * Sets presence bits itself, because they depend on the length. */
static bool link_decode_take_counters(struct text content, void *member)
{
    const size_t size = offsetof(struct rtnl_link_stats64, rx_nohandler);
    struct rtnl_link_stats64 stats = {.rx_packets = 0};
    struct record *record = member;

    if (!attribute_bytes(content, &stats, size))
        return false;
    if (attribute_bytes(content, &stats, size + sizeof stats.rx_nohandler))
        record->has |= INTERFACE_NOHANDLER;
    record->has |= INTERFACE_COUNTERS | INTERFACE_DETAILS;
    set_counters(&record->interface, &stats);
    set_details(&record->interface, &stats);
    return false;
}

static const struct target link_info[] = {
    [IFLA_INFO_KIND] = TAKE(interface.kind, INTERFACE_KIND),
};
static const struct target link_targets[] = {
    [IFLA_IFNAME] = TAKE(interface.name, 0),
    [IFLA_MTU] = TAKE(interface.mtu, INTERFACE_MTU),
    [IFLA_TXQLEN] = TAKE(interface.queue, INTERFACE_QUEUE),
    [IFLA_MASTER] = TAKE(interface.master, INTERFACE_MASTER),
    [IFLA_LINK_NETNSID] = TAKE(interface.netns, INTERFACE_NETNS),
    [IFLA_OPERSTATE] = TAKE(interface.state, INTERFACE_STATE),
    [IFLA_ADDRESS] = TAKE_BY(link_decode_take_lladdr, interface, INTERFACE_LLADDR),
    [IFLA_MAP] = TAKE_BY(link_decode_take_map, interface, INTERFACE_MAP),
    [IFLA_STATS64] = TAKE_BY(link_decode_take_counters, kind, 0), /* `kind` is the first member */
    [IFLA_LINKINFO] = TAKE_NEST(link_info),
    [IFLA_IFALIAS] = TAKE(interface.alias, INTERFACE_ALIAS),
};

int link_decode(const struct nlmsghdr *message, struct record *record)
{
    struct interface_record *interface = &record->interface;
    struct decoding decoding = {.object = record};
    struct attributes attributes;
    const struct ifinfomsg *header = message_header(message, sizeof *header, &attributes);

    record_begin(record, &kind_interface, sizeof record->interface);
    if (!header)
        return -EBADMSG;
    interface->index = (uint32_t)header->ifi_index;
    interface->flags = header->ifi_flags;
    interface->type = header->ifi_type;
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(link_targets));
    if (interface->name.length > 0)
        record->has |= decoding.has | INTERFACE_INDEX | INTERFACE_FLAGS | INTERFACE_TYPE;
    else
        record->has = 0;
    return record->has && !decoding.malformed ? 0 : -EBADMSG;
}

static bool take_label(struct text content, void *member)
{
    struct interface_address *address = member;

    if (content.length >= sizeof address->label)
        content.length = sizeof address->label - 1;
    memcpy(address->label, content.data, strnlen(content.data, content.length));
    return true;
}

#define TAKE_ADDRESS(path) TAKE_INTO(struct interface_address, path, 0)
static const struct target address_targets[] = {
    [IFA_LOCAL] = TAKE_ADDRESS(local.address),
    [IFA_ADDRESS] = TAKE_ADDRESS(peer),
    [IFA_BROADCAST] = TAKE_ADDRESS(broadcast),
    [IFA_FLAGS] = TAKE_ADDRESS(flags),
    [IFA_LABEL] = {.form = TARGET_BY, .take = take_label},
};

int address_decode(const struct nlmsghdr *message, struct interface_address *address)
{
    struct decoding decoding = {.object = address};
    struct attributes attributes;
    const struct ifaddrmsg *header = message_header(message, sizeof *header, &attributes);

    if (!header)
        return -EBADMSG;
    if (header->ifa_family != AF_INET && header->ifa_family != AF_INET6)
        return -EAFNOSUPPORT;
    if (header->ifa_prefixlen > (header->ifa_family == AF_INET ? 32 : 128))
        return -EBADMSG;
    *address = (struct interface_address){.interface = header->ifa_index,
                                          .flags = header->ifa_flags,
                                          .local.prefix = header->ifa_prefixlen,
                                          .peer.family = header->ifa_family};
    decoding.family = header->ifa_family;
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(address_targets));
    if (!address->local.address.family)
        address->local.address = address->peer;
    return decoding.malformed ? -EBADMSG : 0;
}
