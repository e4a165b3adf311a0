/* SPDX-License-Identifier: MIT */
/* Neighbours by rtnetlink(7): a dump of addresses that the kernel resolved, and a dump of proxies.
 * Sources: linux/neighbour.h, net/core/neighbour.c (neigh_fill_info, pneigh_fill_info). */
#include "backend/neighbour/decode.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/netlink/attributes.h"
#include "backend/netlink/netlink.h"
#include "fastnet/kernel_abi.h"
#include "fastnet/predicate.h"
#include "fastnet/report.h"
#include "model/explanation.h"

const struct table table_neighbours = {
    .name = "neighbours", .file = "arp", .kind = &kind_neighbour, .family = AF_UNSPEC};
const struct table table_neighbours4 = {
    .name = "IPv4 neighbours", .file = "arp", .kind = &kind_neighbour, .family = AF_INET};
const struct table table_neighbours6 = {
    .name = "IPv6 neighbours", .kind = &kind_neighbour, .family = AF_INET6};
const struct table table_arp = {
    .name = "arp", .file = "arp", .kind = &kind_neighbour, .family = AF_INET};

enum { MS_PER_TICK = 10 }; /* times are in USER_HZ, which is 100 on every machine */

#define FIELDS                                                                                     \
    (NEIGHBOUR_LLADDR | NEIGHBOUR_INTERFACE | NEIGHBOUR_STATE | NEIGHBOUR_FLAGS | NEIGHBOUR_TYPE | \
     NEIGHBOUR_PROTOCOL | NEIGHBOUR_CACHEINFO | NEIGHBOUR_PROBES | NEIGHBOUR_MASTER |              \
     NEIGHBOUR_NETNS | NEIGHBOUR_VLAN | NEIGHBOUR_VNI | NEIGHBOUR_PORT)

static bool neighbour_take_cacheinfo(struct text content, void *member)
{
    struct neighbour_record *neighbour = member;
    struct nda_cacheinfo info;

    if (!attribute_bytes(content, &info, sizeof info))
        return false;
    neighbour->used_ms = (uint64_t)info.ndm_used * MS_PER_TICK;
    neighbour->confirmed_ms = (uint64_t)info.ndm_confirmed * MS_PER_TICK;
    neighbour->updated_ms = (uint64_t)info.ndm_updated * MS_PER_TICK;
    neighbour->references = info.ndm_refcnt;
    return true;
}

static bool neighbour_take_lladdr(struct text content, void *member)
{
    struct neighbour_record *neighbour = member;

    return attribute_lladdr(content, neighbour->lladdr, &neighbour->lladdr_length);
}

/* Adds these bits to the flags. Returns false, because the field of flags is known without them. */
static bool take_flags_ext(struct text content, void *member)
{
    uint32_t *flags = member, ext = 0;

    attribute_u32(content, &ext);
    *flags |= ext << NEIGHBOUR_FLAGS_EXT_SHIFT;
    return false;
}

static const struct target targets[] = {
    [NDA_DST] = TAKE(neighbour.address, 0),
    [NDA_LLADDR] = TAKE_BY(neighbour_take_lladdr, neighbour, NEIGHBOUR_LLADDR),
    [NDA_CACHEINFO] = TAKE_BY(neighbour_take_cacheinfo, neighbour, NEIGHBOUR_CACHEINFO),
    [NDA_PROBES] = TAKE(neighbour.probes, NEIGHBOUR_PROBES),
    [NDA_PROTOCOL] = TAKE(neighbour.protocol, NEIGHBOUR_PROTOCOL),
    [NDA_MASTER] = TAKE(neighbour.master, NEIGHBOUR_MASTER),
    [NDA_LINK_NETNSID] = TAKE(neighbour.netns, NEIGHBOUR_NETNS),
    [NDA_VLAN] = TAKE(neighbour.vlan, NEIGHBOUR_VLAN),
    [NDA_VNI] = TAKE(neighbour.vni, NEIGHBOUR_VNI),
    [NDA_PORT] = TAKE_BE(neighbour.port, NEIGHBOUR_PORT),
    [NDA_FLAGS_EXT] = TAKE_BY(take_flags_ext, neighbour.flags, 0),
};

int neighbour_decode(const struct nlmsghdr *message, struct record *record)
{
    struct neighbour_record *neighbour = &record->neighbour;
    struct decoding decoding = {.object = record};
    struct attributes attributes;
    const struct ndmsg *header = message_header(message, sizeof *header, &attributes);

    if (!header)
        return -EBADMSG;
    if (header->ndm_family != AF_INET && header->ndm_family != AF_INET6)
        return -EAFNOSUPPORT;
    record_begin(record, &kind_neighbour, sizeof record->neighbour);
    neighbour->type = header->ndm_type;
    neighbour->state = header->ndm_state;
    neighbour->flags = header->ndm_flags;
    neighbour->interface = header->ndm_ifindex > 0 ? (uint32_t)header->ndm_ifindex : 0;
    decoding.family = header->ndm_family;
    decoding.has = NEIGHBOUR_FLAGS | NEIGHBOUR_TYPE |
                   (neighbour->interface ? NEIGHBOUR_INTERFACE : 0) |
                   ((header->ndm_flags & NTF_PROXY) ? 0 : NEIGHBOUR_STATE);
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(targets));
    if (decoding.malformed || !neighbour->address.family)
        return -EBADMSG;
    record->has = decoding.has;
    record->identity = neighbour_identity(neighbour);
    return 0;
}

struct neighbour_reading {
    const struct query *query;
    uint32_t interface, master; /* the only interface or master wanted; 0: any */
    record_fn fn;
    void *arg;
};

/* Checks a row again: some kernels cannot filter by interface. */
static bool neighbour_is_wanted(const struct neighbour_reading *reading,
                                const struct record *record)
{
    const struct neighbour_record *neighbour = &record->neighbour;
    const uint8_t family = reading->query->table->family;

    /* /proc/net/arp leaves out entries that need no resolution, and entries not in use yet */
    if (reading->query->table == &table_arp && record->has & NEIGHBOUR_STATE &&
        !(neighbour->state & ~NUD_NOARP))
        return false;
    return (family == AF_UNSPEC || neighbour->address.family == family) &&
           (!reading->interface || neighbour->interface == reading->interface);
}

static int neighbour_take_message(const struct nlmsghdr *message, void *arg)
{
    struct neighbour_reading *reading = arg;
    struct record record;
    int error;

    if (message->nlmsg_type != RTM_NEWNEIGH)
        return 0;
    /* a row does not name its master, so the kernel must confirm that it filtered by master */
    if (reading->master && !(message->nlmsg_flags & NLM_F_DUMP_FILTERED))
        return -EOPNOTSUPP;
    error = neighbour_decode(message, &record);
    if (error == -EBADMSG)
        report_malformed(reading->query);
    if (error || !neighbour_is_wanted(reading, &record))
        return 0;
    if (reading->master) {
        record.neighbour.master = reading->master;
        record.has |= NEIGHBOUR_MASTER;
    }
    return reading->fn(&record, reading->arg);
}

enum { REQUEST_MAX = 64 }; /* bytes; the largest request has 44 */

static struct nlmsghdr *neighbour_put_request(const struct neighbour_reading *reading,
                                              uint8_t flags, char *buffer)
{
    struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
    struct ndmsg *request = mnl_nlmsg_put_extra_header(message, sizeof *request);

    message->nlmsg_type = RTM_GETNEIGH;
    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request->ndm_family = reading->query->table->family;
    request->ndm_flags = flags;
    if (reading->interface)
        mnl_attr_put_u32(message, NDA_IFINDEX, reading->interface);
    if (reading->master)
        mnl_attr_put_u32(message, NDA_MASTER, reading->master);
    return message;
}

static int dump_by_flags(struct neighbour_reading *reading, uint8_t flags)
{
    const struct query *query = reading->query;
    _Alignas(struct nlmsghdr) char buffer[REQUEST_MAX];

    return netlink_dump(query->netlink, NETLINK_ROUTE,
                        neighbour_put_request(reading, flags, buffer), neighbour_take_message,
                        reading, query->report);
}

/* Returns the index of the interface (or master) that all wanted rows must have; 0: any. The filter
 * may name the interface instead of its index. */
static uint32_t required_index(const struct predicate *where, size_t offset)
{
    const struct predicate *equal = predicate_requires(where, offset, PREDICATE_EQUAL);
    char name[INTERFACE_NAME_SIZE] = "";

    if (!equal)
        return 0;
    if (equal->constant.type == VALUE_NUMBER)
        return equal->constant.number <= INT32_MAX ? (uint32_t)equal->constant.number : 0;
    if (equal->constant.type == VALUE_TEXT && equal->constant.text.length < sizeof name)
        memcpy(name, equal->constant.text.data, equal->constant.text.length);
    return if_nametoindex(name);
}

/* True if rows that the filter wants may be entries or, if `proxy`, proxies. */
static bool neighbour_may_be_wanted(const struct predicate *where, bool proxy)
{
    const struct predicate *flags =
        predicate_requires(where, offsetof(struct record, neighbour.flags), PREDICATE_MASKED);
    const struct record proxies = {.kind = &kind_neighbour};

    if (flags && flags->mask.bits[0] & NTF_PROXY)
        return proxy == ((predicate_bits(flags) & NTF_PROXY) != 0);
    return !proxy || predicate_may_hold(where, &proxies, NEIGHBOUR_STATE); /* without state */
}

static struct neighbour_reading start_reading(const struct query *query, record_fn fn, void *arg)
{
    return (struct neighbour_reading){
        .query = query,
        .interface = required_index(query->where, offsetof(struct record, neighbour.interface)),
        .master = required_index(query->where, offsetof(struct record, neighbour.master)),
        .fn = fn,
        .arg = arg};
}

static int neighbour_dump(const struct query *query, record_fn fn, void *arg)
{
    struct neighbour_reading reading = start_reading(query, fn, arg);
    int result = 0;

    if (neighbour_may_be_wanted(query->where, false))
        result = dump_by_flags(&reading, 0);
    if (result == 0 && neighbour_may_be_wanted(query->where, true))
        result = dump_by_flags(&reading, NTF_PROXY);
    return result;
}

static void explain_request(const struct nlmsghdr *message, struct explanation *explanation)
{
    struct decoding decoding = {.object = explanation};
    struct attributes attributes;
    struct attribute attribute;
    uint32_t index;

    if (!message_header(message, sizeof(struct ndmsg), &attributes))
        return;
    while (attributes_next(&decoding, &attributes, &attribute)) {
        const bool master = attribute.type == NDA_MASTER;
        if (!attribute_u32(attribute.content, &index))
            continue;
        explanation_add(explanation, master ? offsetof(struct record, neighbour.master)
                                            : offsetof(struct record, neighbour.interface));
        explanation_describe(explanation, "%s %u", master ? "master" : "interface", index);
    }
}

static void neighbour_explain(const struct query *query, struct explanation *explanation)
{
    const struct neighbour_reading reading = start_reading(query, NULL, NULL);
    const bool entries = neighbour_may_be_wanted(query->where, false),
               proxies = neighbour_may_be_wanted(query->where, true);
    _Alignas(struct nlmsghdr) char buffer[REQUEST_MAX];

    explain_request(neighbour_put_request(&reading, 0, buffer), explanation);
    if (!entries)
        explanation_add(explanation, offsetof(struct record, neighbour.flags));
    if (!entries || !proxies)
        explanation_describe(explanation, "%s",
                             entries   ? "no proxies"
                             : proxies ? "proxies only"
                                       : "no request is sent");
}

const struct backend backend_neighbour = {
    .name = "netlink",
    .source = BACKEND_NETLINK,
    .provides = PROVIDES({&table_neighbours, FIELDS}, {&table_neighbours4, FIELDS},
                         {&table_neighbours6, FIELDS}, {&table_arp, FIELDS}),
    .dump = neighbour_dump,
    .explain = neighbour_explain,
};
