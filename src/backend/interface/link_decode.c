/* Interfaces and their addresses from rtnetlink(7) messages. */
#include "backend/interface/link_decode.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/netlink/attributes.h"

/* A string of the kernel's, up to its NUL. */
static struct text take_string(const struct attribute *attribute)
{
    return (struct text){attribute->data, strnlen(attribute->data, attribute->length)};
}

static void take_u32(const struct attribute *attribute, struct record *record, uint32_t *number,
                     uint64_t field)
{
    if (attribute_bytes(attribute, number, sizeof *number))
        record->has |= field;
}

static void take_lladdr(const struct attribute *attribute, struct record *record,
                        char text[LLADDR_TEXT_MAX])
{
    static const char digits[] = "0123456789abcdef";
    struct interface_record *interface = &record->interface;
    size_t length = attribute->length;
    char *end = text;

    if (length > sizeof interface->lladdr)
        length = sizeof interface->lladdr;
    memcpy(interface->lladdr, attribute->data, length);
    interface->lladdr_length = (uint8_t)length;
    for (size_t i = 0; i < length; i++) {
        if (i)
            *end++ = ':';
        *end++ = digits[interface->lladdr[i] >> 4];
        *end++ = digits[interface->lladdr[i] & 15];
    }
    interface->lladdr_text = (struct text){text, (size_t)(end - text)};
    record->has |= INTERFACE_LLADDR;
}

static void take_map(const struct attribute *attribute, struct record *record)
{
    struct interface_record *interface = &record->interface;
    struct rtnl_link_ifmap map;

    if (attribute->length < offsetof(struct rtnl_link_ifmap, port))
        return;
    memset(&map, 0, sizeof map);
    memcpy(&map, attribute->data, offsetof(struct rtnl_link_ifmap, port));
    interface->memory_start = map.mem_start;
    interface->memory_end = map.mem_end;
    interface->base_address = (uint16_t)map.base_addr;
    interface->irq = (uint8_t)map.irq;
    interface->dma = map.dma;
    record->has |= INTERFACE_MAP;
}

/* As /proc/net/dev adds them up (dev_seq_printf_stats(), net/core/net-procfs.c). */
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

/* Up to tx_compressed all kernels that have it agree. */
static void take_counters(const struct attribute *attribute, struct record *record)
{
    const size_t size = offsetof(struct rtnl_link_stats64, tx_compressed) + sizeof(uint64_t);
    struct rtnl_link_stats64 stats;

    memset(&stats, 0, sizeof stats);
    if (!attribute_bytes(attribute, &stats, size))
        return;
    set_counters(&record->interface, &stats);
    record->has |= INTERFACE_COUNTERS;
}

static void take_link_info(const struct attribute *nest, struct record *record)
{
    struct attributes info = attribute_nested(nest);
    struct attribute attribute;

    while (attributes_next(&info, &attribute))
        if (attribute.type == IFLA_INFO_KIND) {
            record->interface.kind = take_string(&attribute);
            record->has |= INTERFACE_KIND;
        }
}

static void take_text(const struct attribute *attribute, struct record *record, struct text *text,
                      uint64_t field)
{
    *text = take_string(attribute);
    record->has |= field;
}

static void take_link_attribute(const struct attribute *attribute, struct record *record,
                                char text[LLADDR_TEXT_MAX])
{
    struct interface_record *interface = &record->interface;

    switch (attribute->type) {
    case IFLA_IFNAME:
        interface->name = take_string(attribute);
        break;
    case IFLA_MTU:
        take_u32(attribute, record, &interface->mtu, INTERFACE_MTU);
        break;
    case IFLA_TXQLEN:
        take_u32(attribute, record, &interface->queue, INTERFACE_QUEUE);
        break;
    case IFLA_MASTER:
        take_u32(attribute, record, &interface->master, INTERFACE_MASTER);
        break;
    case IFLA_OPERSTATE:
        if (attribute_u8(attribute, &interface->state))
            record->has |= INTERFACE_STATE;
        break;
    case IFLA_ADDRESS:
        take_lladdr(attribute, record, text);
        break;
    case IFLA_MAP:
        take_map(attribute, record);
        break;
    case IFLA_STATS64:
        take_counters(attribute, record);
        break;
    case IFLA_LINKINFO:
        take_link_info(attribute, record);
        break;
    case IFLA_IFALIAS:
        take_text(attribute, record, &interface->alias, INTERFACE_ALIAS);
        break;
    default:
        break;
    }
}

/* The attributes behind a body of this size; false when the message is shorter than that. */
static bool start(const struct nlmsghdr *message, void *body, size_t size,
                  struct attributes *attributes)
{
    const char *data = (const char *)message + NLMSG_HDRLEN;
    const size_t offset = NLMSG_ALIGN(size);

    if (message->nlmsg_len < NLMSG_HDRLEN + offset)
        return false;
    memcpy(body, data, size);
    *attributes = (struct attributes){data + offset, (const char *)message + message->nlmsg_len};
    return true;
}

int link_decode(const struct nlmsghdr *message, struct record *record, char text[LLADDR_TEXT_MAX])
{
    struct attributes attributes;
    struct attribute attribute;
    struct ifinfomsg body;

    record->has = 0;
    if (!start(message, &body, sizeof body, &attributes))
        return -EBADMSG;
    record->kind = &kind_interface;
    record->has = INTERFACE_INDEX | INTERFACE_FLAGS | INTERFACE_TYPE;
    record->identity = 0;
    record->interface = (struct interface_record){
        .index = (uint32_t)body.ifi_index, .flags = body.ifi_flags, .type = body.ifi_type};
    while (attributes_next(&attributes, &attribute))
        take_link_attribute(&attribute, record, text);
    if (record->interface.name.length == 0)
        record->has = 0;
    return record->has && attributes_ended(&attributes) ? 0 : -EBADMSG;
}

static void take_address_attribute(const struct attribute *attribute,
                                   struct interface_address *address, uint8_t family)
{
    const size_t most = sizeof address->label - 1;

    switch (attribute->type) {
    case IFA_LOCAL:
        attribute_address(attribute, family, &address->local);
        break;
    case IFA_ADDRESS:
        attribute_address(attribute, family, &address->peer);
        break;
    case IFA_BROADCAST:
        attribute_address(attribute, family, &address->broadcast);
        break;
    case IFA_LABEL: {
        const struct text label = take_string(attribute);
        memcpy(address->label, label.data, label.length < most ? label.length : most);
        break;
    }
    default:
        break;
    }
}

int address_decode(const struct nlmsghdr *message, struct interface_address *address)
{
    struct attributes attributes;
    struct attribute attribute;
    struct ifaddrmsg body;

    if (!start(message, &body, sizeof body, &attributes))
        return -EBADMSG;
    if (body.ifa_family != AF_INET && body.ifa_family != AF_INET6)
        return -EAFNOSUPPORT;
    if (body.ifa_prefixlen > (body.ifa_family == AF_INET ? 32 : 128))
        return -EBADMSG;
    *address = (struct interface_address){
        .interface = body.ifa_index, .prefix = body.ifa_prefixlen, .peer.family = body.ifa_family};
    while (attributes_next(&attributes, &attribute))
        take_address_attribute(&attribute, address, body.ifa_family);
    if (!address->local.family)
        address->local = address->peer;
    return attributes_ended(&attributes) ? 0 : -EBADMSG;
}
