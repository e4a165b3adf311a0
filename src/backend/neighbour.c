/*
 * Neighbours by rtnetlink(7): one dump of what the kernel resolved, one of what it answers for.
 * Sources: linux/neighbour.h, net/core/neighbour.c (neigh_fill_info, pneigh_fill_info).
 */
#include "backend/neighbour.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/neighbour_identity.h"
#include "backend/netlink.h"
#include "fastnet/report.h"

const struct table table_neighbours = {
    .name = "neighbours", .kind = RECORD_NEIGHBOUR, .family = AF_UNSPEC};
const struct table table_neighbours4 = {
    .name = "IPv4 neighbours", .kind = RECORD_NEIGHBOUR, .family = AF_INET};
const struct table table_neighbours6 = {
    .name = "IPv6 neighbours", .kind = RECORD_NEIGHBOUR, .family = AF_INET6};
const struct table table_arp = {.name = "arp", .kind = RECORD_NEIGHBOUR, .family = AF_INET};

enum {
    MS_PER_TICK = 10, /* times are in USER_HZ, which is 100 on every machine */
};

#define FIELDS                                                                                     \
    (NEIGHBOUR_LLADDR | NEIGHBOUR_INTERFACE | NEIGHBOUR_STATE | NEIGHBOUR_FLAGS | NEIGHBOUR_TYPE | \
     NEIGHBOUR_PROTOCOL | NEIGHBOUR_CACHEINFO | NEIGHBOUR_PROBES | NEIGHBOUR_MASTER |              \
     NEIGHBOUR_NAMESPACE | NEIGHBOUR_VLAN | NEIGHBOUR_VNI | NEIGHBOUR_PORT)

static uint64_t fields(const struct table *table)
{
    return table->kind == RECORD_NEIGHBOUR ? FIELDS : 0;
}

/* What is to be known of a filter when there is none. */
static const struct neighbour_filter no_filter = {.entries = true, .proxies = true};

/* Takes a number of 1, 2 or 4 bytes where the attribute is long enough. */
static bool take_number(const struct nlattr *attr, void *number, size_t size)
{
    if (mnl_attr_get_payload_len(attr) < size)
        return false;
    memcpy(number, mnl_attr_get_payload(attr), size);
    return true;
}

static uint64_t bit_if(bool taken, uint64_t bit)
{
    return taken ? bit : 0;
}

static uint64_t decode_cacheinfo(struct neighbour_record *neighbour, const struct nlattr *attr)
{
    struct nda_cacheinfo info;

    if (!take_number(attr, &info, sizeof info))
        return 0;
    neighbour->used_ms = (uint64_t)info.ndm_used * MS_PER_TICK;
    neighbour->confirmed_ms = (uint64_t)info.ndm_confirmed * MS_PER_TICK;
    neighbour->updated_ms = (uint64_t)info.ndm_updated * MS_PER_TICK;
    neighbour->references = info.ndm_refcnt;
    return NEIGHBOUR_CACHEINFO;
}

static uint64_t decode_lladdr(struct neighbour_record *neighbour, const struct nlattr *attr)
{
    const size_t length = mnl_attr_get_payload_len(attr);

    if (length > LLADDR_MAX)
        return 0;
    memcpy(neighbour->lladdr, mnl_attr_get_payload(attr), length);
    neighbour->lladdr_length = (uint8_t)length;
    return NEIGHBOUR_LLADDR;
}

static uint64_t decode_port(struct neighbour_record *neighbour, const struct nlattr *attr)
{
    if (!take_number(attr, &neighbour->port, sizeof neighbour->port))
        return 0;
    neighbour->port = ntohs(neighbour->port);
    return NEIGHBOUR_PORT;
}

static uint64_t decode_flags_ext(struct neighbour_record *neighbour, const struct nlattr *attr)
{
    uint32_t flags;

    if (take_number(attr, &flags, sizeof flags))
        neighbour->flags |= flags << NEIGHBOUR_FLAGS_EXT_SHIFT;
    return 0; /* flags are there without them, too */
}

/* Attributes that an entry has rarely or never. */
static uint64_t decode_rare_attribute(struct neighbour_record *neighbour, const struct nlattr *attr)
{
    switch (mnl_attr_get_type(attr)) {
    case NDA_MASTER:
        return bit_if(take_number(attr, &neighbour->master, sizeof neighbour->master),
                      NEIGHBOUR_MASTER);
    case NDA_LINK_NETNSID:
        return bit_if(take_number(attr, &neighbour->namespace, sizeof neighbour->namespace),
                      NEIGHBOUR_NAMESPACE);
    case NDA_VLAN:
        return bit_if(take_number(attr, &neighbour->vlan, sizeof neighbour->vlan), NEIGHBOUR_VLAN);
    case NDA_VNI:
        return bit_if(take_number(attr, &neighbour->vni, sizeof neighbour->vni), NEIGHBOUR_VNI);
    case NDA_PORT:
        return decode_port(neighbour, attr);
    default:
        return 0;
    }
}

/* Returns the presence bits of what was taken. */
static uint64_t decode_attribute(struct neighbour_record *neighbour, const struct nlattr *attr)
{
    switch (mnl_attr_get_type(attr)) {
    case NDA_LLADDR:
        return decode_lladdr(neighbour, attr);
    case NDA_CACHEINFO:
        return decode_cacheinfo(neighbour, attr);
    case NDA_PROBES:
        return bit_if(take_number(attr, &neighbour->probes, sizeof neighbour->probes),
                      NEIGHBOUR_PROBES);
    case NDA_PROTOCOL:
        return bit_if(take_number(attr, &neighbour->protocol, sizeof neighbour->protocol),
                      NEIGHBOUR_PROTOCOL);
    case NDA_FLAGS_EXT:
        return decode_flags_ext(neighbour, attr);
    default:
        return decode_rare_attribute(neighbour, attr);
    }
}

/* An address of another length than its family's is none. */
static bool decode_address(struct neighbour_record *neighbour, const struct nlattr *attr)
{
    const size_t length = neighbour->family == AF_INET ? 4 : 16;

    if (mnl_attr_get_payload_len(attr) != length)
        return false;
    memcpy(neighbour->address, mnl_attr_get_payload(attr), length);
    return true;
}

static int decode_attributes(struct record *record, const struct nlmsghdr *message)
{
    const char *end = (const char *)message + message->nlmsg_len;
    const struct nlattr *attr = mnl_nlmsg_get_payload_offset(message, sizeof(struct ndmsg));
    struct neighbour_record *neighbour = &record->neighbour;
    bool has_address = false;

    for (; mnl_attr_ok(attr, (int)(end - (const char *)attr)); attr = mnl_attr_next(attr))
        if (mnl_attr_get_type(attr) == NDA_DST)
            has_address = decode_address(neighbour, attr);
        else
            record->has |= decode_attribute(neighbour, attr);
    return (const char *)attr < end || !has_address ? -EBADMSG : 0;
}

int neighbour_decode(const struct nlmsghdr *message, struct record *record)
{
    const struct ndmsg *header = mnl_nlmsg_get_payload(message);
    struct neighbour_record *neighbour = &record->neighbour;

    if (mnl_nlmsg_get_payload_len(message) < sizeof *header)
        return -EBADMSG;
    if (header->ndm_family != AF_INET && header->ndm_family != AF_INET6)
        return -EAFNOSUPPORT;
    record->kind = RECORD_NEIGHBOUR;
    record->has = NEIGHBOUR_FLAGS | NEIGHBOUR_TYPE;
    *neighbour = (struct neighbour_record){.family = header->ndm_family,
                                           .type = header->ndm_type,
                                           .state = header->ndm_state,
                                           .flags = header->ndm_flags};
    if (header->ndm_ifindex > 0) {
        neighbour->interface = (uint32_t)header->ndm_ifindex;
        record->has |= NEIGHBOUR_INTERFACE;
    }
    record->has |= bit_if(!(header->ndm_flags & NTF_PROXY), NEIGHBOUR_STATE);
    if (decode_attributes(record, message) < 0)
        return -EBADMSG;
    record->identity = neighbour_identity(neighbour);
    return 0;
}

/* One reading of one table. */
struct reading {
    const struct query *query;
    const struct neighbour_filter *filter;
    record_fn fn;
    void *arg;
};

/* What a kernel that cannot tell rows by their interface hands on all the same. */
static bool is_wanted(const struct reading *reading, const struct record *record)
{
    const struct neighbour_record *neighbour = &record->neighbour;
    const uint8_t family = reading->query->table->family;

    return (family == AF_UNSPEC || neighbour->family == family) &&
           (!reading->filter->interface || neighbour->interface == reading->filter->interface);
}

static int take_message(const struct nlmsghdr *message, void *arg)
{
    struct reading *reading = arg;
    struct record record;
    int error;

    if (message->nlmsg_type != RTM_NEWNEIGH)
        return 0;
    /* a master is no part of a message: without the kernel rows cannot be told by it */
    if (reading->filter->master && !(message->nlmsg_flags & NLM_F_DUMP_FILTERED))
        return -EOPNOTSUPP;
    error = neighbour_decode(message, &record);
    if (error == -EBADMSG)
        report_loss(reading->query->report, "%s: skipped a netlink message that is malformed",
                    reading->query->table->name);
    if (error || !is_wanted(reading, &record))
        return 0;
    return reading->fn(&record, reading->arg);
}

enum { REQUEST_MAX = 64 }; /* bytes; the largest is 44 */

static int dump_by_flags(struct reading *reading, uint8_t flags)
{
    const struct query *query = reading->query;
    const struct neighbour_filter *filter = reading->filter;
    _Alignas(struct nlmsghdr) char buffer[REQUEST_MAX];
    struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
    struct ndmsg *request = mnl_nlmsg_put_extra_header(message, sizeof *request);

    message->nlmsg_type = RTM_GETNEIGH;
    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request->ndm_family = query->table->family;
    request->ndm_flags = flags;
    if (filter->interface)
        mnl_attr_put_u32(message, NDA_IFINDEX, filter->interface);
    if (filter->master)
        mnl_attr_put_u32(message, NDA_MASTER, filter->master);
    return netlink_dump(query->netlink, NETLINK_ROUTE, message, take_message, reading,
                        query->report);
}

static int dump(const struct query *query, record_fn fn, void *arg)
{
    struct reading reading = {.query = query, .fn = fn, .arg = arg};
    int result = 0;

    reading.filter = query->neighbours ? query->neighbours : &no_filter;
    if (reading.filter->entries)
        result = dump_by_flags(&reading, 0);
    if (result == 0 && reading.filter->proxies)
        result = dump_by_flags(&reading, NTF_PROXY);
    return result;
}

const struct backend backend_neighbour = {"netlink", BACKEND_NETLINK, fields, dump};
