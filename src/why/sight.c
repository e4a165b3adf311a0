/* SPDX-License-Identifier: MIT */
#include "why/sight.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/diversions.h"
#include "fastnet/engine.h"
#include "fastnet/kernel_info.h"
#include "fastnet/netlink.h"
#include "fastnet/predicate.h"
#include "fastnet/sysctl.h"

int sight_init(struct sight *sight, const struct why_options *options)
{
    *sight = (struct sight){.options = options, .whole = true};
    sight->engine = engine_create(netlink_create(NULL));
    sight->netlink = netlink_create(NULL);
    return sight->engine && sight->netlink ? 0 : -ENOMEM;
}

void sight_finish(struct sight *sight)
{
    engine_destroy(sight->engine);
    netlink_destroy(sight->netlink);
    owners_destroy(sight->owners);
    owners_program_destroy(sight->program);
    local_addresses_finish(&sight->local);
    for (size_t i = 0; i < sight->name_count; i++)
        free(sight->names[i]);
    free(sight->names);
    free(sight->tracking);
    *sight = (struct sight){.engine = NULL};
}

/* Remembers a name. Each name has its own memory, because verdicts borrow it. */
static struct netns_name *sight_name(struct sight *sight, uint64_t id, const char *name)
{
    struct netns_name **added;

    for (size_t i = 0; i < sight->name_count; i++)
        if (sight->names[i]->id == id)
            return sight->names[i];
    added = ARRAY_ADD(sight->names, sight->name_count, sight->name_capacity);
    if (!added)
        return NULL;
    *added = malloc(sizeof **added);
    if (!*added) {
        sight->name_count--;
        return NULL;
    }
    (*added)->id = id;
    snprintf((*added)->name, sizeof(*added)->name, "%s", name);
    return *added;
}

struct evidence_netns sight_netns(struct sight *sight, uint64_t id)
{
    const struct netns found = id ? namespace_of_id(id) : (struct netns){.id = 0};
    const struct netns_name *named = id ? sight_name(sight, id, found.name) : NULL;

    return (struct evidence_netns){id, named && *named->name ? named->name : NULL};
}

struct evidence_netns sight_row_netns(struct sight *sight)
{
    const struct netns *netns = engine_context(sight->engine)->netns.netns;
    const struct netns_name *named = netns ? sight_name(sight, netns->id, netns->name) : NULL;

    return named ? (struct evidence_netns){named->id, *named->name ? named->name : NULL}
                 : (struct evidence_netns){.id = namespace_own_id()};
}

/* Searches the processes that hold sockets, once. */
static struct owners *sight_owners(struct sight *sight)
{
    struct owners_options how = {.proc_root = sight->options->proc_root};
    int error;

    if (sight->searched_owners)
        return sight->owners;
    sight->searched_owners = true;
    if (sight->options->owners != OWNERS_PROC)
        sight->program = owners_program_create();
    if (sight->program &&
        owners_program_load(sight->program, sight->options->owners == OWNERS_BPF, NULL) == 0)
        how.program = sight->program;
    error = owners_create(&sight->owners, &how);
    if (error < 0)
        report_loss(&sight->losses, "owners: %s: %s", how.proc_root, strerror(-error));
    return sight->owners;
}

/* Sets the process that holds the socket. */
static void sight_owner(struct sight *sight, uint64_t inode, char process[16], uint32_t *pid)
{
    struct owners *owners = inode ? sight_owners(sight) : NULL;
    const struct owner *owner;

    if (!owners || !owners_find(owners, inode, &owner))
        return;
    snprintf(process, 16, "%s", owner->process->name);
    *pid = (uint32_t)owner->process->pid;
}

/* The argument of functions that take rows of sockets. */
struct sight_search {
    struct sight *sight;
    struct evidence *evidence;
};

/* Passes rows of two tables to `fn`. Returns whether they were read as a whole, or -ENOMEM. */
static int sight_gather(struct sight *sight, const struct table *const tables[2],
                        const struct predicate *where, uint64_t fields, bool all_netns,
                        record_fn fn, void *arg)
{
    const struct listing_table listed[] = {{.table = tables[0], .where = where, .unnamed = true},
                                           {.table = tables[1], .where = where, .unnamed = true}};
    const struct listing listing = {.needs.fields = fields,
                                    .proc_root = sight->options->proc_root,
                                    .tables = listed,
                                    .table_count = tables[1] ? 2 : 1,
                                    .all_netns = all_netns,
                                    .netns_implied = all_netns};
    struct report losses = {.partial = false};
    const int error = engine_gather(sight->engine, &listing, fn, arg, &losses);

    sight->whole &= !losses.netns_unread;
    report_hand_on(&sight->losses, &losses);
    return error == -ENOMEM ? error : !error && !losses.partial;
}

/* --- The way ---------------------------------------------------------------------------------- */

void sight_read_route(struct sight *sight, struct evidence *evidence)
{
    const struct attempt_as *as = sight->options->as;
    const struct routing_question question = {
        .peer = evidence->peer,
        .source = evidence->attempt.local.port ? evidence->attempt.local.address
                                               : (struct address){.family = AF_UNSPEC},
        .source_port = evidence->attempt.local.port,
        .protocol = evidence->protocol,
        .mark = sight->options->mark,
        .interface = evidence->scope,
        .uid = as ? as->uid : 0,
        .has_uid = as && as->has_user,
    };

    evidence->read &= ~(unsigned)EVIDENCE_ROUTE;
    if (routing_ask(sight->netlink, &question, &evidence->route) == 0 &&
        evidence->route.end != ROUTING_UNKNOWN)
        evidence->read |= EVIDENCE_ROUTE;
    evidence->is_home_here = evidence->read & EVIDENCE_ROUTE &&
                             evidence->route.end == ROUTING_LEADS &&
                             evidence->route.type == RTN_LOCAL;
}

/* Reads the interface and the next hop. If the route has several next hops, the ports of the
 * connection decide, so they are known only after an attempt. */
static void sight_read_hop(struct sight *sight, struct evidence *evidence)
{
    const struct routing_answer *route = &evidence->route;
    const struct address *hop =
        route->gateway.family == AF_UNSPEC ? &evidence->peer.address : &route->gateway;
    struct routing_link link = {.flags = 0};
    struct record record;
    int error;

    evidence->read &= ~(unsigned)(EVIDENCE_LINK | EVIDENCE_NEIGHBOUR);
    if (!(evidence->read & EVIDENCE_ROUTE) || route->end != ROUTING_LEADS ||
        (route->next_hops > 1 && !evidence->attempt.local.port))
        return;
    if (routing_link(sight->netlink, route->interface, &link) == 0) {
        snprintf(evidence->interface, sizeof evidence->interface, "%s", link.name);
        evidence->is_up = link.flags & IFF_UP;
        evidence->has_link = link.flags & IFF_LOWER_UP;
        evidence->read |= EVIDENCE_LINK;
    }
    if (evidence->is_home_here || link.flags & (IFF_NOARP | IFF_LOOPBACK))
        return;
    error = routing_neighbour(sight->netlink, hop, route->interface, &record);
    evidence->neighbour = (struct evidence_neighbour){.address = *hop};
    if (error == 0)
        evidence->neighbour = (struct evidence_neighbour){
            *hop, record.neighbour.state, record.neighbour.used_ms, record.neighbour.updated_ms};
    if (error == 0 || error == -ENOENT)
        evidence->read |= EVIDENCE_NEIGHBOUR;
}

/* --- Connection tracking ---------------------------------------------------------------------- */

static int sight_take_tracking(const struct record *record, void *arg)
{
    struct sight *sight = arg;
    const uint64_t netns = sight_row_netns(sight).id;
    struct sight_tracking *tracking = sight->tracking;
    size_t i = 0;

    while (i < sight->tracking_count && tracking[i].netns != netns)
        i++;
    if (i == sight->tracking_count &&
        !ARRAY_ADD(sight->tracking, sight->tracking_count, sight->tracking_capacity))
        return -ENOMEM;
    tracking = &sight->tracking[i];
    tracking->netns = netns;
    if (record->kind == &kind_flow_usage && record->has & USAGE_ENTRIES) {
        tracking->flows = record->usage.entries;
        tracking->flows_max = (record->has & USAGE_MAXIMUM) ? record->usage.maximum : 0;
    } else if (record->kind == &kind_flow_statistics) {
        tracking->dropped += record->statistics.counters[CTA_STATS_DROP];
    }
    return 0;
}

/* Sets flows_full to a network namespace whose table is nearly full, and where connection tracking
 * has dropped packets since the reading `before`. */
static void sight_find_full(struct sight *sight, struct evidence *evidence,
                            const struct sight_tracking *before, size_t count)
{
    for (size_t i = 0; i < sight->tracking_count; i++) {
        const struct sight_tracking *now = &sight->tracking[i];
        size_t at = 0;
        while (at < count && before[at].netns != now->netns)
            at++;
        if (at < count && now->dropped > before[at].dropped && now->flows_max &&
            now->flows >= now->flows_max - now->flows_max / 16)
            evidence->flows_full = sight_netns(sight, now->netns);
    }
}

static int sight_read_tracking(struct sight *sight, struct evidence *evidence, bool all_netns)
{
    static const struct table *const usage[2] = {&table_flow_usage}, *const statistics[2] = {
                                                                         &table_flow_statistics};
    struct sight_tracking *before = sight->tracking;
    const size_t count = sight->tracking_count;
    int status;

    sight->tracking = NULL;
    sight->tracking_count = sight->tracking_capacity = 0;
    status = sight_gather(sight, usage, NULL, USAGE_ENTRIES | USAGE_MAXIMUM, all_netns,
                          sight_take_tracking, sight);
    if (status >= 0 && all_netns)
        status = sight_gather(sight, statistics, NULL, UINT64_C(1) << CTA_STATS_DROP, all_netns,
                              sight_take_tracking, sight);
    for (size_t i = 0; i < sight->tracking_count; i++)
        if (sight->tracking[i].netns == evidence->here.id) {
            evidence->flows = sight->tracking[i].flows;
            evidence->flows_max = sight->tracking[i].flows_max;
            evidence->read |= EVIDENCE_TRACKING;
        }
    if (count)
        sight_find_full(sight, evidence, before, count);
    free(before);
    return status < 0 ? status : 0;
}

/* --- Listeners -------------------------------------------------------------------------------- */

/* Returns why the socket of a row does not get connections to the target. */
static enum evidence_miss sight_miss(const struct evidence *evidence, const struct record *record,
                                     uint64_t netns)
{
    const struct socket_record *socket = &record->socket;
    const struct address local = address_unmapped(&socket->local.address);
    const struct address target = address_unmapped(&evidence->target.address);
    const bool any = address_is_unspecified(&local);
    const bool other_family =
        local.family != target.family && (local.family == AF_INET || !any || socket->v6only);
    const bool fits = address_equal(&local, &target);
    /* the index of an interface says nothing in another network namespace */
    const bool is_scope = local.family == AF_INET6 && local.bytes[0] == 0xfe &&
                          (!evidence->is_home_here || socket->interface == evidence->scope);

    if (netns != evidence->home.id)
        return MISS_NETNS;
    if ((any && !other_family) || fits)
        return socket->interface && !is_scope ? MISS_INTERFACE : MISS_NONE;
    if (address_is_loopback(&local) && !address_is_loopback(&target))
        return MISS_LOOPBACK;
    return other_family ? MISS_FAMILY : MISS_ADDRESS;
}

/* Returns how many connections the queue can still take; negative: it is full. */
static int64_t sight_room(const struct evidence_listener *listener)
{
    return (int64_t)listener->queue_limit - listener->queue;
}

/* Returns whether nothing outside its network namespace can reach the address, so that a listener
 * there has nothing to do with the target. */
static bool sight_is_far(const struct address *local, const struct evidence *evidence)
{
    const struct address address = address_unmapped(local),
                         target = address_unmapped(&evidence->target.address);

    return address_is_loopback(&address) && !address_is_loopback(&target);
}

static int sight_take_listener(const struct record *record, void *arg)
{
    const struct sight_search *search = arg;
    struct evidence_listener *best = &search->evidence->listener;
    const struct socket_record *socket = &record->socket;
    struct evidence_listener listener = {
        .local = socket->local,
        .interface = socket->interface,
        .netns = sight_row_netns(search->sight),
        .inode = socket->inode,
        .queue = socket->recv_q,
        .queue_limit = (record->has & SOCKET_BACKLOG) ? socket->backlog : socket->send_q,
        .drops = socket_drops(record),
    };

    if (socket->remote.port)
        return 0; /* a connected UDP socket */
    listener.miss = (uint8_t)sight_miss(search->evidence, record, listener.netns.id);
    if (listener.miss == MISS_NETNS && sight_is_far(&socket->local.address, search->evidence))
        return 0;
    /* several listeners can fit (SO_REUSEPORT): the emptiest is kept; if it is full, all are */
    if (best->miss != MISS_NO_LISTENER &&
        (listener.miss > best->miss ||
         (listener.miss == best->miss && sight_room(&listener) <= sight_room(best))))
        return 0;
    *best = listener;
    return 0;
}

/* Counts connections in SYN_RECV of the listener. */
static int sight_take_half_open(const struct record *record, void *arg)
{
    const struct sight_search *search = arg;
    struct evidence_listener *listener = &search->evidence->listener;

    (void)record;
    listener->half_open += sight_row_netns(search->sight).id == listener->netns.id;
    return 0;
}

static int sight_take_other(const struct record *record, void *arg)
{
    const struct sight_search *search = arg;
    struct evidence_others *others = &search->evidence->others;
    const uint32_t retransmits = record->socket.retransmits > record->socket.timer_count
                                     ? record->socket.retransmits
                                     : record->socket.timer_count;

    if (!others->count++ || retransmits > others->retransmits) {
        others->retransmits = retransmits;
        others->inode = record->socket.inode;
    }
    return 0;
}

/* Passes the sockets of `states` whose `field` has the number to `fn`. */
static int sight_gather_sockets(struct sight *sight, struct evidence *evidence, uint64_t states,
                                const char *port_field, uint16_t port, bool all_netns,
                                uint64_t fields, record_fn fn)
{
    static const struct table *const tcp[] = {&table_tcp, &table_tcp6}, *const udp[] = {
                                                                            &table_udp,
                                                                            &table_udp6};
    struct sight_search search = {sight, evidence};
    struct predicate_tree where = {.count = 0};

    predicate_tree_add(&where, &where.whole,
                       predicate_number(field_named(&kind_socket, port_field), port));
    if (evidence->protocol == IPPROTO_TCP)
        predicate_tree_add(&where, &where.whole,
                           predicate_one_of(field_named(&kind_socket, "state"), states));
    if (strcmp(port_field, "remote_port") == 0)
        predicate_tree_add(&where, &where.whole,
                           predicate_address(field_named(&kind_socket, "remote_address"),
                                             &evidence->peer.address));
    return sight_gather(sight, evidence->protocol == IPPROTO_TCP ? tcp : udp, predicate_of(&where),
                        SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_INODE | SOCKET_COOKIE | fields,
                        all_netns, fn, &search);
}

#define STATE(state) (UINT64_C(1) << (state))

static int sight_read_listeners(struct sight *sight, struct evidence *evidence)
{
    const uint32_t before = evidence->listener.drops;
    const uint64_t inode = evidence->listener.inode;
    int status;

    evidence->listener = (struct evidence_listener){.miss = MISS_NO_LISTENER};
    evidence->read &= ~(unsigned)(EVIDENCE_LISTENERS | EVIDENCE_MISSES | EVIDENCE_QUEUE);
    if (!evidence->home.id)
        return 0;
    status = sight_gather_sockets(sight, evidence, STATE(TCP_LISTEN), "local_port",
                                  evidence->target.port, true,
                                  SOCKET_QUEUES | SOCKET_BACKLOG | SOCKET_V6ONLY |
                                      SOCKET_INTERFACE | SOCKET_MEMORY | SOCKET_DROPS,
                                  sight_take_listener);
    if (status <= 0)
        return status;
    sight_owner(sight, evidence->listener.inode, evidence->listener.process,
                &evidence->listener.pid);
    evidence->read |= EVIDENCE_LISTENERS | EVIDENCE_QUEUE | (sight->whole ? EVIDENCE_MISSES : 0);
    if (inode && inode == evidence->listener.inode)
        evidence->listener.dropped = evidence->listener.drops - before;
    return 0;
}

/* --- The queue of half-open connections ------------------------------------------------------- */

/* Reads the sysctls of the network namespace that this thread is in, if it is the listener's. */
static int sight_read_cookies(void *arg)
{
    struct sight_search *search = arg;
    struct evidence_listener *listener = &search->evidence->listener;
    const char *root = search->sight->options->proc_root;
    uint64_t cookies, limit;

    if (namespace_own_id() != listener->netns.id)
        return 0;
    if (sysctl_number(root, "net/ipv4/tcp_syncookies", &cookies) == 0 &&
        sysctl_number(root, "net/ipv4/tcp_max_syn_backlog", &limit) == 0) {
        listener->has_cookies = cookies;
        /* tcp_conn_request() of the kernel's net/ipv4/tcp_input.c: the queue is full at the
         * listener's backlog; and for peers that the kernel does not know, at 3/4 of the sysctl */
        limit -= limit >> 2;
        listener->half_open_limit = listener->queue_limit && listener->queue_limit < limit
                                        ? listener->queue_limit
                                        : (uint32_t)limit;
    }
    return 1; /* no other network namespace is needed */
}

int sight_read_half_open(struct sight *sight, struct evidence *evidence)
{
    struct sight_search search = {sight, evidence};
    bool whole;
    int status = 0;

    evidence->listener.has_cookies = true; /* unless the sysctl can be read */
    if (evidence->listener.miss != MISS_NONE || evidence->protocol != IPPROTO_TCP)
        return 0;
    if (!sight_read_cookies(&search))
        (void)namespaces_each(sight_read_cookies, &search, &whole);
    if (!evidence->listener.has_cookies)
        status = sight_gather_sockets(
            sight, evidence, STATE(TCP_SYN_RECV), "local_port", evidence->target.port,
            evidence->listener.netns.id != evidence->here.id, 0, sight_take_half_open);
    return status < 0 ? status : 0;
}

/* --- All together ----------------------------------------------------------------------------- */

static void sight_find_home(struct sight *sight, struct evidence *evidence)
{
    const struct address *address = &evidence->target.address;

    evidence->home = (struct evidence_netns){.id = 0};
    if (evidence->is_home_here) {
        evidence->home = evidence->here;
    } else if (sight->has_local) {
        evidence->home = sight_netns(sight, local_addresses_netns(&sight->local, address, 0));
        evidence->has_homes =
            !evidence->home.id && local_addresses_find(&sight->local, address) == RECEPTION_ONE;
    }
    if (sight->has_local && sight->whole)
        evidence->read |= EVIDENCE_HOME;
}

int sight_read(struct sight *sight, struct evidence *evidence)
{
    int status = 0;

    sight_read_hop(sight, evidence);
    if (!sight->has_local)
        status = local_addresses_read(&sight->local, sight->engine, true);
    sight->has_local = status == 0;
    sight_find_home(sight, evidence);
    if (status == 0)
        status = sight_read_tracking(sight, evidence, sight->options->probe);
    if (evidence->is_home_here)
        evidence->diversions = diversions_find(sight->netlink, sight->options->proc_root);
    if (status == 0)
        status = sight_read_listeners(sight, evidence);
    if (status == 0)
        status = sight_read_half_open(sight, evidence);
    if (status == 0 && evidence->protocol == IPPROTO_TCP) {
        status = sight_gather_sockets(
            sight, evidence, STATE(TCP_SYN_SENT), "remote_port", evidence->peer.port, false,
            SOCKET_TIMER | SOCKET_TIMER_COUNT | SOCKET_RETRANSMITS, sight_take_other);
        sight_owner(sight, evidence->others.inode, evidence->others.process, &evidence->others.pid);
        evidence->read |= status > 0 ? EVIDENCE_OTHERS : 0;
    }
    return status < 0 ? status : 0;
}

int sight_read_target(struct sight *sight, struct evidence *evidence)
{
    sight_find_home(sight, evidence);
    return sight_read_listeners(sight, evidence);
}

int sight_read_after(struct sight *sight, struct evidence *evidence)
{
    const struct routing_answer before = evidence->route;
    int status;

    if (!evidence->attempt.at_once)
        sight_read_route(sight, evidence);
    evidence->mtu_is_new = evidence->route.mtu_is_learnt &&
                           (!before.mtu_is_learnt || evidence->route.mtu != before.mtu ||
                            evidence->route.mtu_expires >= before.mtu_expires);
    sight_read_hop(sight, evidence);
    if (!evidence->has_arrived)
        sight_find_home(sight, evidence);
    evidence->offender_is_here = evidence->attempt.icmp_is_local;
    if (evidence->attempt.has_icmp && sight->has_local && !evidence->offender_is_here)
        evidence->offender_home =
            sight_netns(sight, local_addresses_netns(&sight->local, &evidence->attempt.offender,
                                                     evidence->here.id));
    evidence->offender_is_here |= evidence->offender_home.id == evidence->here.id &&
                                  evidence->here.id && evidence->attempt.has_icmp;
    status = sight_read_tracking(sight, evidence, true);
    if (status == 0)
        status = sight_read_listeners(sight, evidence);
    return status == 0 ? sight_read_half_open(sight, evidence) : status;
}
