/* SPDX-License-Identifier: MIT */
/*
 * Which flows are wanted: criteria and a flow are made from the input. The predicate that stands
 * for the criteria must hold exactly if the flow meets them. What the kernel is asked to leave out
 * must be a request that it understands, and must never be a flow that is wanted. The input: the
 * table, how often the kernel refuses, then what made_filter() and made_flow() take, then the
 * fields of the flow that are known; what is missing is 0.
 */
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "ct_request.h"
#include "fastnet/flow_names.h"
#include "fastnet/netlink.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fuzz.h"
#include "made_flow.h"

/* --- What the filter keeps -------------------------------------------------------------------- */

#define FLOW(member)  offsetof(struct flow_record, member)
#define ORIG(member)  FLOW(way[WAY_ORIG].member)
#define REPLY(member) FLOW(way[WAY_REPLY].member)
#define NO_MASK       SIZE_MAX

/* A number of a flow, what a filter says of it, and what must be there besides. */
static const struct number {
    uint32_t field;
    size_t flow, filter, mask; /* offsets; mask of NO_MASK: all bits count */
    size_t size;               /* bytes */
    uint64_t has;
} numbers[] = {
    {FILTER_PROTOCOL, ORIG(tuple.protocol), FILTER(protocol), NO_MASK, SIZE(protocol), 0},
    {FILTER_ORIG_SRC, ORIG(tuple.src.bytes), FILTER(orig_src.network), FILTER(orig_src.mask),
     SIZE(orig_src.network), 0},
    {FILTER_ORIG_DST, ORIG(tuple.dst.bytes), FILTER(orig_dst.network), FILTER(orig_dst.mask),
     SIZE(orig_dst.network), 0},
    {FILTER_REPLY_SRC, REPLY(tuple.src.bytes), FILTER(reply_src.network), FILTER(reply_src.mask),
     SIZE(reply_src.network), 0},
    {FILTER_REPLY_DST, REPLY(tuple.dst.bytes), FILTER(reply_dst.network), FILTER(reply_dst.mask),
     SIZE(reply_dst.network), 0},
    {FILTER_ORIG_SRC_PORT, ORIG(tuple.src_port), FILTER(orig_src_port), NO_MASK,
     SIZE(orig_src_port), 0},
    {FILTER_ORIG_DST_PORT, ORIG(tuple.dst_port), FILTER(orig_dst_port), NO_MASK,
     SIZE(orig_dst_port), 0},
    {FILTER_REPLY_SRC_PORT, REPLY(tuple.src_port), FILTER(reply_src_port), NO_MASK,
     SIZE(reply_src_port), 0},
    {FILTER_REPLY_DST_PORT, REPLY(tuple.dst_port), FILTER(reply_dst_port), NO_MASK,
     SIZE(reply_dst_port), 0},
    {FILTER_ICMP_TYPE, ORIG(tuple.icmp_type), FILTER(icmp_type), NO_MASK, SIZE(icmp_type), 0},
    {FILTER_ICMP_CODE, ORIG(tuple.icmp_code), FILTER(icmp_code), NO_MASK, SIZE(icmp_code), 0},
    {FILTER_ICMP_ID, ORIG(tuple.src_port), FILTER(icmp_id), NO_MASK, SIZE(icmp_id), 0},
    {FILTER_STATE, FLOW(state), FILTER(state), NO_MASK, SIZE(state), FLOW_STATE},
    {FILTER_STATUS, FLOW(status), FILTER(status), FILTER(status_mask), SIZE(status), FLOW_STATUS},
    {FILTER_MARK, FLOW(mark), FILTER(mark), FILTER(mark_mask), SIZE(mark), FLOW_MARK},
    {FILTER_SECMARK, FLOW(secmark), FILTER(secmark), NO_MASK, SIZE(secmark), 0},
    {FILTER_ZONE, FLOW(zone), FILTER(zone), NO_MASK, SIZE(zone), 0},
    {FILTER_ORIG_ZONE, ORIG(zone), FILTER(orig_zone), NO_MASK, SIZE(orig_zone), 0},
    {FILTER_REPLY_ZONE, REPLY(zone), FILTER(reply_zone), NO_MASK, SIZE(reply_zone), 0},
    {FILTER_ID, FLOW(id), FILTER(id), NO_MASK, SIZE(id), FLOW_ID},
    {FILTER_LABELS, FLOW(labels), FILTER(labels), FILTER(labels), SIZE(labels), FLOW_LABELS},
    {FILTER_ORIG_VTAG, ORIG(vtag), FILTER(orig_vtag), NO_MASK, SIZE(orig_vtag), FLOW_ORIG_VTAG},
    {FILTER_REPLY_VTAG, REPLY(vtag), FILTER(reply_vtag), NO_MASK, SIZE(reply_vtag),
     FLOW_REPLY_VTAG},
    {FILTER_ROLE, FLOW(role), FILTER(role), NO_MASK, SIZE(role), FLOW_ROLE},
};

static bool agrees(const struct number *number, const struct flow_filter *filter,
                   const struct record *record)
{
    const uint8_t *value = (const uint8_t *)&record->flow + number->flow;
    const uint8_t *wanted = (const uint8_t *)filter + number->filter;
    const uint8_t *mask = number->mask == NO_MASK ? NULL : (const uint8_t *)filter + number->mask;

    for (size_t i = 0; i < number->size; i++)
        if ((value[i] & (mask ? mask[i] : 0xff)) != wanted[i])
            return false;
    return (record->has & number->has) == number->has;
}

/* Ports that are asked for are there, even where they are 0. */
static bool agree_ports(const struct flow_filter *filter, const struct flow_record *flow)
{
    const uint32_t orig = FILTER_ORIG_SRC_PORT | FILTER_ORIG_DST_PORT;
    const uint32_t reply = FILTER_REPLY_SRC_PORT | FILTER_REPLY_DST_PORT;

    return (!(filter->fields & orig) || flow->way[WAY_ORIG].tuple.has_ports) &&
           (!(filter->fields & reply) || flow->way[WAY_REPLY].tuple.has_ports);
}

/* The same for the numbers of ICMP. */
static bool agree_icmp(const struct flow_filter *filter, const struct flow_record *flow)
{
    return !(filter->fields & (FILTER_ICMP_TYPE | FILTER_ICMP_CODE | FILTER_ICMP_ID)) ||
           flow_is_icmp(flow->way[WAY_ORIG].tuple.protocol);
}

/* What was translated is another than before, and what is asked for. */
static bool is_translated(const struct flow_nat *nat, const struct address *from,
                          const struct address *to, uint16_t from_port, uint16_t to_port)
{
    const bool address = !address_equal(from, to), port = from_port != to_port;

    return (address || port) &&
           (!nat->has_address || (address && memcmp(to->bytes, nat->address, 16) == 0)) &&
           (!nat->has_port || (port && to_port == nat->port));
}

static bool agree_translations(const struct flow_filter *filter, const struct record *record)
{
    const struct flow_record *flow = &record->flow;
    const struct flow_tuple *orig = &flow->way[WAY_ORIG].tuple,
                            *reply = &flow->way[WAY_REPLY].tuple;
    const bool ports = flow_has_ports(orig->protocol);
    const uint32_t status = (record->has & FLOW_STATUS) ? flow->status : UINT32_MAX;
    const bool src = status & IPS_SRC_NAT_DONE &&
                     is_translated(&filter->src_nat, &orig->src, &reply->dst,
                                   ports ? orig->src_port : 0, ports ? reply->dst_port : 0);
    const bool dst = status & IPS_DST_NAT_DONE &&
                     is_translated(&filter->dst_nat, &orig->dst, &reply->src,
                                   ports ? orig->dst_port : 0, ports ? reply->src_port : 0);

    return (!(filter->fields & FILTER_SRC_NAT) || src) &&
           (!(filter->fields & FILTER_DST_NAT) || dst) &&
           (!(filter->fields & FILTER_ANY_NAT) || src || dst);
}

static bool is_kept(const struct flow_filter *filter, const struct record *record)
{
    bool kept = (!filter->family || filter->family == record->flow.family) &&
                agree_ports(filter, &record->flow) && agree_icmp(filter, &record->flow) &&
                agree_translations(filter, record);

    for (size_t i = 0; i < COUNT(numbers); i++)
        if (filter->fields & numbers[i].field)
            kept = kept && agrees(&numbers[i], filter, record);
    return kept;
}

/* Whatever part of a flow is known: if it is wanted, it may be. */
static void check_flow(const struct predicate *where, bool kept, const struct record *record,
                       uint64_t known)
{
    static const struct context nothing;

    require(predicate_holds(where, record, &nothing) == kept);
    require(predicate_may_hold(where, record, UINT64_MAX) == kept);
    require(!kept || predicate_may_hold(where, record, known));
}

/* Of expectations only the family counts. */
static void check_expectation(const struct flow_filter *filter, uint8_t family)
{
    static const struct context nothing;
    const struct record expectation = {.kind = &kind_expectation,
                                       .expectation = {.family = family}};
    struct made_where made;

    require(predicate_holds(made_where_init(&made, filter, &kind_expectation), &expectation,
                            &nothing) == (!filter->family || filter->family == family));
}

/* --- What the kernel is asked ----------------------------------------------------------------- */

/* A kernel with one flow, that may refuse requests with a filter. */
struct kernel {
    const struct table *table;
    const struct flow_record *flow;
    unsigned refusals; /* to come */
    int refusal;       /* -errno */
    bool listed;       /* it would have handed on the flow */
    struct nlmsghdr request;
    int answer;
};

static int take_request(void *arg, const void *message, size_t size)
{
    struct kernel *kernel = arg;
    struct ct_request request;

    ct_request_parse(&request, message, size);
    memcpy(&kernel->request, message, sizeof kernel->request);
    kernel->answer = 0;
    if (request.filters && kernel->refusals > 0) {
        kernel->refusals--;
        kernel->answer = kernel->refusal;
        return 0;
    }
    if (kernel->table == &table_expectation_one)
        require(request.expected.given);
    else if (kernel->table->single)
        kernel->listed |= ct_request_finds(&request, kernel->flow);
    else
        kernel->listed |= ct_request_lists(&request, kernel->flow);
    return 0;
}

/* The end of a dump, or that a request was refused or is answered. */
static ssize_t give_answer(void *arg, void *buffer, size_t size, uint32_t *port)
{
    const struct kernel *kernel = arg;
    const bool done = kernel->request.nlmsg_flags & NLM_F_DUMP && !kernel->answer;
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
    } answer = {.header = kernel->request, .error = {kernel->answer, kernel->request}};

    answer.header.nlmsg_len = sizeof answer;
    answer.header.nlmsg_type = done ? NLMSG_DONE : NLMSG_ERROR;
    answer.header.nlmsg_flags = NLM_F_CAPPED;
    require(size >= sizeof answer);
    memcpy(buffer, &answer, sizeof answer);
    *port = 0;
    return sizeof answer;
}

static int take_row(const struct record *record, void *arg)
{
    (void)record;
    (void)arg;
    require(0); /* none is sent */
    return 0;
}

/* Whether the filter has what conntrack's command line requires to ask for one flow. */
static bool names_one(const struct flow_filter *filter, bool reply)
{
    const uint32_t ends =
        reply ? FILTER_REPLY_SRC | FILTER_REPLY_DST : FILTER_ORIG_SRC | FILTER_ORIG_DST;
    const uint32_t ports = reply ? FILTER_REPLY_SRC_PORT | FILTER_REPLY_DST_PORT
                                 : FILTER_ORIG_SRC_PORT | FILTER_ORIG_DST_PORT;
    const uint32_t icmp = FILTER_ICMP_TYPE | FILTER_ICMP_CODE | FILTER_ICMP_ID;
    const bool has_ports = flow_has_ports(filter->protocol) || filter->protocol == IPPROTO_GRE;
    const uint32_t wanted = ends | FILTER_PROTOCOL | (has_ports ? ports : 0) |
                            (flow_is_icmp(filter->protocol) ? icmp : 0);
    const struct flow_network *src = reply ? &filter->reply_src : &filter->orig_src;
    const struct flow_network *dst = reply ? &filter->reply_dst : &filter->orig_dst;
    const size_t last = filter->family == AF_INET ? 3 : 15;

    return (filter->fields & wanted) == wanted && src->mask[last] == 0xff &&
           dst->mask[last] == 0xff;
}

/* A flow in a zone is found only where the filter says so. */
static bool names_zone(const struct flow_filter *filter, const struct flow_record *flow)
{
    return (!flow->zone || filter->fields & FILTER_ZONE) &&
           (!flow->way[WAY_ORIG].zone || filter->fields & FILTER_ORIG_ZONE) &&
           (!flow->way[WAY_REPLY].zone || filter->fields & FILTER_REPLY_ZONE);
}

/* Whether the kernel must hand on the flow. */
static bool is_wanted(const struct table *table, const struct flow_filter *filter,
                      const struct record *record)
{
    const uint32_t ends = FILTER_ORIG_SRC | FILTER_ORIG_DST;
    bool by_orig;

    if (table->kind != &kind_flow || !is_kept(filter, record))
        return false;
    if (!table->single)
        return true;
    by_orig = (filter->fields & ends) == ends;
    return names_one(filter, !by_orig) && names_zone(filter, &record->flow);
}

/* Asking for one needs a family, as an address has one. */
static bool can_be_asked(const struct table *table, const struct flow_filter *filter)
{
    return !table->single || filter->family != AF_UNSPEC;
}

static void ask(struct kernel *kernel, const struct flow_filter *filter,
                const struct record *record)
{
    const struct netlink_peer peer = {take_request, give_answer, kernel};
    const struct record key = made_key(filter, kernel->table->kind);
    struct made_where where;
    struct report report = {.partial = false};
    struct query query = {.table = kernel->table,
                          .needs = UINT64_MAX,
                          .proc_root = "/nonexistent",
                          .netlink = netlink_create(&peer),
                          .report = &report,
                          .where = made_where_init(&where, filter, kernel->table->kind),
                          .key = kernel->table->single ? &key : NULL};
    const bool wanted = is_wanted(kernel->table, filter, record);
    int result;

    require(query.netlink != NULL);
    result = backend_ctnetlink.dump(&query, take_row, NULL);
    require(result <= 0 && (result == 0 || result == kernel->refusal));
    require(result < 0 || !wanted || kernel->listed);
    netlink_destroy(query.netlink);
}

/* Fields, and perhaps the members that each flow has. */
static uint64_t take_known(struct bytes *bytes)
{
    const uint32_t fields = bytes_u32(bytes);

    return fields | (bytes_u8(bytes) & 1 ? KNOWN_ALWAYS : 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct table *const tables[] = {&table_flows, &table_flow_one, &table_expectations,
                                                 &table_expectation_one, &table_flows_dying};
    static const int refusals[] = {-EINVAL, -EOPNOTSUPP, -ERANGE, -EAFNOSUPPORT, -EPERM};
    struct bytes bytes = {data, size};
    struct kernel kernel = {.table = tables[bytes_u8(&bytes) % COUNT(tables)]};
    const uint8_t refused = bytes_u8(&bytes);
    const struct flow_filter filter = made_filter(&bytes);
    const struct record record = made_flow(&bytes, &filter);
    struct made_where where;

    kernel.flow = &record.flow;
    kernel.refusals = refused & 3;
    kernel.refusal = refusals[(refused >> 2) % COUNT(refusals)];
    check_flow(made_where_init(&where, &filter, &kind_flow), is_kept(&filter, &record), &record,
               take_known(&bytes));
    check_expectation(&filter, record.flow.family);
    if (can_be_asked(kernel.table, &filter))
        ask(&kernel, &filter, &record);
    return 0;
}
