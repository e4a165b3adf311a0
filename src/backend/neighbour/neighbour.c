/*
 * Neighbours by rtnetlink(7): one dump of what the kernel resolved, one of what it answers for.
 * Sources: linux/neighbour.h, net/core/neighbour.c (neigh_fill_info, pneigh_fill_info).
 */
#include "backend/neighbour/neighbour.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/neighbour/neighbour_identity.h"
#include "backend/netlink/attributes.h"
#include "backend/netlink/netlink.h"
#include "fastnet/report.h"

const struct table table_neighbours = {
    .name = "neighbours", .file = "arp", .kind = &kind_neighbour, .family = AF_UNSPEC};
const struct table table_neighbours4 = {
    .name = "IPv4 neighbours", .file = "arp", .kind = &kind_neighbour, .family = AF_INET};
const struct table table_neighbours6 = {
    .name = "IPv6 neighbours", .kind = &kind_neighbour, .family = AF_INET6};
const struct table table_arp = {
    .name = "arp", .file = "arp", .kind = &kind_neighbour, .family = AF_INET};

enum {
    MS_PER_TICK = 10, /* times are in USER_HZ, which is 100 on every machine */
    FLAGS_EXT = 15,   /* NDA_FLAGS_EXT: newer than some linux/neighbour.h */
};

#define FIELDS                                                                                     \
    (NEIGHBOUR_LLADDR | NEIGHBOUR_INTERFACE | NEIGHBOUR_STATE | NEIGHBOUR_FLAGS | NEIGHBOUR_TYPE | \
     NEIGHBOUR_PROTOCOL | NEIGHBOUR_CACHEINFO | NEIGHBOUR_PROBES | NEIGHBOUR_MASTER |              \
     NEIGHBOUR_NETNS | NEIGHBOUR_VLAN | NEIGHBOUR_VNI | NEIGHBOUR_PORT)

static uint64_t fields(const struct table *table)
{
    return table->kind == &kind_neighbour ? FIELDS : 0;
}

/* What is to be known of a filter when there is none. */
static const struct neighbour_filter no_filter = {.entries = true, .proxies = true};

static uint64_t bit_if(bool taken, uint64_t bit)
{
    return taken ? bit : 0;
}

static uint64_t decode_cacheinfo(struct neighbour_record *neighbour,
                                 const struct attribute *attribute)
{
    struct nda_cacheinfo info;

    if (!attribute_bytes(attribute, &info, sizeof info))
        return 0;
    neighbour->used_ms = (uint64_t)info.ndm_used * MS_PER_TICK;
    neighbour->confirmed_ms = (uint64_t)info.ndm_confirmed * MS_PER_TICK;
    neighbour->updated_ms = (uint64_t)info.ndm_updated * MS_PER_TICK;
    neighbour->references = info.ndm_refcnt;
    return NEIGHBOUR_CACHEINFO;
}

static uint64_t decode_lladdr(struct neighbour_record *neighbour, const struct attribute *attribute)
{
    if (attribute->length > LLADDR_MAX)
        return 0;
    memcpy(neighbour->lladdr, attribute->data, attribute->length);
    neighbour->lladdr_length = (uint8_t)attribute->length;
    return NEIGHBOUR_LLADDR;
}

static void decode_flags_ext(struct neighbour_record *neighbour, const struct attribute *attribute)
{
    uint32_t flags;

    if (attribute_bytes(attribute, &flags, sizeof flags))
        neighbour->flags |= flags << NEIGHBOUR_FLAGS_EXT_SHIFT;
}

/* Attributes that an entry has rarely or never. */
static uint64_t decode_rare_attribute(struct neighbour_record *neighbour,
                                      const struct attribute *attribute)
{
    switch (attribute->type) {
    case NDA_MASTER:
        return bit_if(attribute_bytes(attribute, &neighbour->master, sizeof neighbour->master),
                      NEIGHBOUR_MASTER);
    case NDA_LINK_NETNSID:
        return bit_if(attribute_bytes(attribute, &neighbour->netns, sizeof neighbour->netns),
                      NEIGHBOUR_NETNS);
    case NDA_VLAN:
        return bit_if(attribute_bytes(attribute, &neighbour->vlan, sizeof neighbour->vlan),
                      NEIGHBOUR_VLAN);
    case NDA_VNI:
        return bit_if(attribute_bytes(attribute, &neighbour->vni, sizeof neighbour->vni),
                      NEIGHBOUR_VNI);
    case NDA_PORT:
        return bit_if(attribute_be16(attribute, &neighbour->port), NEIGHBOUR_PORT);
    default:
        return 0;
    }
}

/* Returns the presence bits of what was taken. */
static uint64_t decode_attribute(struct neighbour_record *neighbour,
                                 const struct attribute *attribute)
{
    switch (attribute->type) {
    case NDA_LLADDR:
        return decode_lladdr(neighbour, attribute);
    case NDA_CACHEINFO:
        return decode_cacheinfo(neighbour, attribute);
    case NDA_PROBES:
        return bit_if(attribute_bytes(attribute, &neighbour->probes, sizeof neighbour->probes),
                      NEIGHBOUR_PROBES);
    case NDA_PROTOCOL:
        return bit_if(attribute_u8(attribute, &neighbour->protocol), NEIGHBOUR_PROTOCOL);
    case FLAGS_EXT:
        decode_flags_ext(neighbour, attribute);
        return 0; /* flags are there without them, too */
    default:
        return decode_rare_attribute(neighbour, attribute);
    }
}

static int decode_attributes(struct record *record, struct attributes attributes, uint8_t family)
{
    struct neighbour_record *neighbour = &record->neighbour;
    struct attribute attribute;
    bool has_address = false;

    while (attributes_next(&attributes, &attribute))
        if (attribute.type == NDA_DST)
            has_address = attribute_address(&attribute, family, &neighbour->address);
        else
            record->has |= decode_attribute(neighbour, &attribute);
    return attributes_ended(&attributes) && has_address ? 0 : -EBADMSG;
}

/* What stands behind the header of a message. */
static struct attributes attributes_of(const struct nlmsghdr *message)
{
    const char *start = (const char *)message;

    return (struct attributes){start + NLMSG_LENGTH(sizeof(struct ndmsg)),
                               start + message->nlmsg_len};
}

/* What no presence bit tells of; to clear the whole record would take longer than to decode it. */
static void begin(struct neighbour_record *neighbour, const struct ndmsg *header)
{
    neighbour->type = header->ndm_type;
    neighbour->state = header->ndm_state;
    neighbour->flags = header->ndm_flags;
    neighbour->interface = 0;
    neighbour->lladdr_length = 0;
    memset(neighbour->interface_name, 0, sizeof neighbour->interface_name);
}

int neighbour_decode(const struct nlmsghdr *message, struct record *record)
{
    const struct ndmsg *header = (const void *)(message + 1);
    struct neighbour_record *neighbour = &record->neighbour;

    if (message->nlmsg_len < NLMSG_LENGTH(sizeof *header))
        return -EBADMSG;
    if (header->ndm_family != AF_INET && header->ndm_family != AF_INET6)
        return -EAFNOSUPPORT;
    record->kind = &kind_neighbour;
    record->has = NEIGHBOUR_FLAGS | NEIGHBOUR_TYPE;
    begin(neighbour, header);
    if (header->ndm_ifindex > 0) {
        neighbour->interface = (uint32_t)header->ndm_ifindex;
        record->has |= NEIGHBOUR_INTERFACE;
    }
    record->has |= bit_if(!(header->ndm_flags & NTF_PROXY), NEIGHBOUR_STATE);
    if (decode_attributes(record, attributes_of(message), header->ndm_family) < 0)
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

    return (family == AF_UNSPEC || neighbour->address.family == family) &&
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

const struct backend backend_neighbour = {
    .name = "netlink",
    .source = BACKEND_NETLINK,
    .fields = fields,
    .dump = dump,
};
