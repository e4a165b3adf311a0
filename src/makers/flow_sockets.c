/* SPDX-License-Identifier: MIT */
/* Connection tracking sees a packet before or after NAT, in one network namespace. The socket that
 * sent the first packet may be in another network namespace, but it has the addresses of the
 * original direction; the socket that answers has those of the reply. */
#include "makers/flow_sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "fastnet/flow_names.h"
#include "fastnet/namespace.h"
#include "fastnet/netlink.h"
#include "fastnet/proc_tree.h"
#include "fastnet/rights.h"

/* --- Reading ---------------------------------------------------------------------------------- */

/* Reports why sockets may be missing. A filter that compares their owners may have refused rows. */
static void flow_sockets_report(const struct listing *listing, const struct report *losses,
                                int error, struct report *report)
{
    const bool filtered = predicate_needs(listing->where).fields & FLOW_SOCKETS;
    const char *why = error                  ? strerror(-error)
                      : losses->netns_unread ? "some network namespaces cannot be read"
                      : losses->partial      ? losses->lines[0]
                                             : NULL;

    if (why)
        report_add(report, filtered ? REPORT_LOSS : REPORT_NOTE,
                   "owners of flows are partly unknown: %s%s%s", why,
                   !error && losses->netns_unread ? rights_advice() : "",
                   filtered ? ": rows may be missing" : "");
}

int flow_sockets_read(void *arg, const struct listing *listing, struct report *report)
{
    struct flow_sockets *sockets = arg;
    struct report losses = {.partial = false};
    int error;

    socket_index_finish(&sockets->index);
    sockets->captured = !proc_tree_is_own(listing->proc_root);
    sockets->own = sockets->captured ? 0 : namespace_own_id();
    if (!sockets->engine && !(sockets->engine = engine_create(netlink_create(NULL))))
        return -ENOMEM;
    /* No process holds a socket in TIME_WAIT. If the listing does not want these sockets, one pass
     * of BPF has all others (socket_pass.h). */
    struct predicate_tree held = {.count = 0};
    predicate_tree_refuse(&held, &held.whole,
                          predicate_number(field_named(&kind_socket, "state"), TCP_TIME_WAIT));
    const struct listing all = {.where = predicate_of(&held),
                                .proc_root = listing->proc_root,
                                .backend = listing->backend,
                                .owners = listing->owners,
                                .all_netns = !sockets->captured,
                                .netns_implied = !sockets->captured};
    error = socket_index_read(&sockets->index, sockets->engine, &all, NULL, &losses);
    if (!error && !sockets->captured)
        error = local_addresses_read(&sockets->local, sockets->engine, true);
    if (error == -ENOMEM)
        return error;
    flow_sockets_report(listing, &losses, error, report);
    return 0;
}

void flow_sockets_finish(struct flow_sockets *sockets)
{
    engine_destroy(sockets->engine);
    socket_index_finish(&sockets->index);
    local_addresses_finish(&sockets->local);
    *sockets = (struct flow_sockets){.engine = NULL};
}

/* --- The socket at one end -------------------------------------------------------------------- */

/* One end of a flow. local: the address of its socket; remote: the address of the other end. */
struct flow_end {
    uint8_t protocol;
    struct endpoint local, remote;
    uint64_t table; /* the network namespace in whose table the flow is */
};

/* A socket that is not connected: bound to the address, or to any address of its network
 * namespace. */
static const struct indexed_sockets *flow_end_bound(const struct flow_sockets *sockets,
                                                    const struct flow_end *end, uint64_t netns)
{
    const struct indexed_sockets *found = NULL;
    const enum socket_match last = sockets->captured ? MATCH_BOUND : MATCH_ANY;

    for (enum socket_match match = MATCH_BOUND; match <= last && !found; match++)
        found = socket_index_find(&sockets->index, match, end->protocol, &end->local, &end->remote,
                                  netns);
    return found;
}

/* A process holds no descriptor of a connection that waits to be accepted. In these states a socket
 * without a file is no orphan, because close(2) changes the state. */
static bool is_unaccepted(const struct indexed_sockets *found)
{
    return !found->inode && (found->state == TCP_ESTABLISHED || found->state == TCP_SYN_RECV ||
                             found->state == TCP_CLOSE_WAIT);
}

/* The socket in another network namespace may have an address that the table's network namespace
 * has, too: then it is not the end of this flow. */
static bool is_elsewhere(const struct flow_sockets *sockets, const struct flow_end *end,
                         const struct indexed_sockets *found)
{
    return end->table && found->netns != end->table &&
           local_addresses_netns(&sockets->local, &end->local.address, end->table) == end->table;
}

/* Returns the only socket that can be this end; NULL: none or several. */
static const struct indexed_sockets *flow_end_find(const struct flow_sockets *sockets,
                                                   const struct flow_end *end)
{
    const struct indexed_sockets *found = socket_index_find(
        &sockets->index, MATCH_CONNECTED, end->protocol, &end->local, &end->remote, end->table);
    uint64_t netns = end->table;

    if (found && is_elsewhere(sockets, end, found))
        found = NULL;
    if (found && end->protocol == IPPROTO_TCP && is_unaccepted(found)) {
        const struct indexed_sockets *listener = flow_end_bound(sockets, end, found->netns);
        found = listener && listener->count == 1 ? listener : found;
    }
    if (!found && end->protocol == IPPROTO_UDP) {
        if (!sockets->captured)
            netns = local_addresses_netns(&sockets->local, &end->local.address, end->table);
        found = flow_end_bound(sockets, end, netns);
    }
    return found && found->count == 1 ? found : NULL;
}

void flow_sockets_complete(void *arg, struct record *record, uint64_t netns)
{
    const struct flow_sockets *sockets = arg;
    struct flow_record *flow = &record->flow;

    for (enum flow_way way = WAY_ORIG; way < FLOW_WAYS; way++) {
        const struct flow_tuple *tuple = &flow->way[way].tuple;
        const struct flow_end end = {tuple->protocol,
                                     {tuple->src, tuple->src_port},
                                     {tuple->dst, tuple->dst_port},
                                     netns ? netns : sockets->own};
        const struct indexed_sockets *found =
            record->has & (way == WAY_ORIG ? FLOW_ORIG : FLOW_REPLY) && tuple->has_ports &&
                    (tuple->protocol == IPPROTO_TCP || tuple->protocol == IPPROTO_UDP)
                ? flow_end_find(sockets, &end)
                : NULL;
        if (!found)
            continue;
        flow->inodes[way] = found->inode;
        flow->netns[way] = socket_index_netns(&sockets->index, found->netns);
        record->has |= way == WAY_ORIG ? FLOW_ORIG_SOCKET : FLOW_REPLY_SOCKET;
    }
}
