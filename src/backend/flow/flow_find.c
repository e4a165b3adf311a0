/* SPDX-License-Identifier: MIT */
#include "fastnet/flow_find.h"

#include <errno.h>

#include "fastnet/query.h"
#include "fastnet/record.h"
#include "fastnet/report.h"
#include "fastnet/sysctl.h"

struct flow_search {
    const struct flow_tuple *tuple;
    struct flow_found *found;
};

static bool flow_find_is(const struct flow_tuple *a, const struct flow_tuple *b)
{
    return address_equal(&a->src, &b->src) && address_equal(&a->dst, &b->dst) &&
           a->src_port == b->src_port && a->dst_port == b->dst_port;
}

/* The kernel finds a flow by the tuple of either direction. After NAT, packets of a direction have
 * the ends of the other direction's tuple, reversed. */
static int flow_find_take(const struct record *record, void *arg)
{
    const struct flow_search *search = arg;
    const struct flow_direction *way = record->flow.way;
    struct flow_found *found = search->found;

    if (record->kind != &kind_flow || !(record->has & FLOW_ORIG) || !(record->has & FLOW_REPLY))
        return 0;
    const struct flow_tuple *other = flow_find_is(search->tuple, &way[WAY_ORIG].tuple)
                                         ? &way[WAY_REPLY].tuple
                                         : &way[WAY_ORIG].tuple;
    *found = (struct flow_found){
        .exists = true,
        .source = {.address = other->dst, .port = other->dst_port},
        .destination = {.address = other->src, .port = other->src_port},
    };
    found->translated = !address_equal(&found->source.address, &search->tuple->src) ||
                        !address_equal(&found->destination.address, &search->tuple->dst) ||
                        found->source.port != search->tuple->src_port ||
                        found->destination.port != search->tuple->dst_port;
    return 0;
}

int flow_find(struct netlink *netlink, const char *proc_root, uint8_t protocol,
              const struct endpoint *source, const struct endpoint *destination,
              struct flow_found *found)
{
    struct report unreported = {.partial = false};
    struct record key = {
        .kind = &kind_flow, .has = FLOW_ORIG, .flow.family = source->address.family};
    struct flow_tuple *tuple = &key.flow.way[WAY_ORIG].tuple;
    struct flow_search search = {tuple, found};
    const struct query query = {.table = &table_flow_one,
                                .needs = FLOW_REPLY,
                                .proc_root = proc_root,
                                .netlink = netlink,
                                .report = &unreported,
                                .key = &key};
    uint64_t count;
    int result;

    *found = (struct flow_found){.source = *source, .destination = *destination};
    /* the request would load the module, which then tracks nothing */
    if (sysctl_number(proc_root, "net/netfilter/nf_conntrack_count", &count) == -ENOENT)
        return 0;
    *tuple = (struct flow_tuple){.src = source->address,
                                 .dst = destination->address,
                                 .src_port = source->port,
                                 .dst_port = destination->port,
                                 .protocol = protocol,
                                 .has_ports = true};
    result = backend_ctnetlink.dump(&query, flow_find_take, &search);
    return result == -ENOENT ? 0 : result;
}
