/* SPDX-License-Identifier: MIT */
/* The way of one flow, by rtnetlink(7): RTM_GETROUTE says where it leads or with which error it
 * ends, RTM_GETRULE and the routes of that type say which rule or table was the reason. */
#include "fastnet/routing.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/interface/decode.h"
#include "backend/neighbour/decode.h"
#include "backend/netlink/attributes.h"
#include "backend/netlink/netlink.h"
#include "backend/route/decode.h"
#include "backend/route/rules.h"
#include "fastnet/report.h"

enum { ROUTING_REQUEST_MAX = 256 };

/* Makes a request for one object, or for a dump. */
static struct nlmsghdr *routing_begin(char *buffer, uint16_t type, bool is_dump)
{
    struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);

    message->nlmsg_type = type;
    message->nlmsg_flags = NLM_F_REQUEST | (is_dump ? NLM_F_DUMP : NLM_F_ACK);
    return message;
}

/* Sends the request, and passes the answer to `fn`. Returns 0; -EAGAIN if the answer may lack
 * something; or another -errno. */
static int routing_send(struct netlink *netlink, struct nlmsghdr *request, netlink_fn fn, void *arg)
{
    struct report report = {.partial = false};
    const int result = netlink_dump(netlink, NETLINK_ROUTE, request, fn, arg, &report);

    return result < 0 ? result : report.partial ? -EAGAIN : 0;
}

/* --- Interfaces and neighbours ---------------------------------------------------------------- */

/* Takes the MTU from the numbers of net/ipv6/conf, in the order of DEVCONF_* of linux/ipv6.h. */
static bool take_mtu6(struct text content, void *member)
{
    enum { MTU6 = 2 }; /* DEVCONF_MTU6 */
    uint32_t numbers[MTU6 + 1];

    if (!attribute_bytes(content, numbers, sizeof numbers))
        return false;
    memcpy(member, &numbers[MTU6], sizeof numbers[MTU6]);
    return true;
}

static const struct target vrf_targets[] = {
    [IFLA_VRF_TABLE] = TAKE_INTO(struct routing_link, vrf_table, 0),
};
static const struct target info_targets[] = {
    [IFLA_INFO_DATA] = TAKE_NEST(vrf_targets),
};
static const struct target inet6_targets[] = {
    [IFLA_INET6_CONF] = TARGET(struct routing_link, mtu6, 0, TARGET_BY, .take = take_mtu6),
};
static const struct target family_targets[] = {
    [AF_INET6] = TAKE_NEST(inet6_targets),
};
static const struct target routing_link_targets[] = {
    [IFLA_LINKINFO] = TAKE_NEST(info_targets),
    [IFLA_AF_SPEC] = TAKE_NEST(family_targets),
};

static int routing_take_link(const struct nlmsghdr *message, void *arg)
{
    struct routing_link *link = arg;
    struct decoding decoding = {.object = link};
    struct attributes attributes;
    struct record record;

    if (message->nlmsg_type != RTM_NEWLINK || link_decode(message, &record) < 0 ||
        !message_header(message, sizeof(struct ifinfomsg), &attributes))
        return 0;
    const struct interface_record *interface = &record.interface;
    *link = (struct routing_link){.index = interface->index,
                                  .mtu = interface->mtu,
                                  .master = interface->master,
                                  .flags = interface->flags,
                                  .state = interface->state};
    memcpy(link->name, interface->name.data,
           interface->name.length < sizeof link->name ? interface->name.length
                                                      : sizeof link->name - 1);
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(routing_link_targets));
    link->is_vrf = interface->kind.length == 3 && memcmp(interface->kind.data, "vrf", 3) == 0;
    if (!link->is_vrf) /* IFLA_INFO_DATA of another kind has other numbers */
        link->vrf_table = 0;
    return 0;
}

int routing_link(struct netlink *netlink, uint32_t index, struct routing_link *link)
{
    _Alignas(struct nlmsghdr) char buffer[ROUTING_REQUEST_MAX];
    struct nlmsghdr *request = routing_begin(buffer, RTM_GETLINK, false);
    struct ifinfomsg *body = mnl_nlmsg_put_extra_header(request, sizeof *body);
    struct routing_link found = {.index = 0};

    body->ifi_index = (int)index;
    const int result = routing_send(netlink, request, routing_take_link, &found);
    if (result < 0 || !found.index)
        return result < 0 ? result : -EBADMSG;
    *link = found;
    return 0;
}

/* Finds the VRF device of an interface: the interface itself, or its master. */
static bool routing_vrf(struct netlink *netlink, const struct routing_link *link,
                        struct routing_link *vrf)
{
    if (link->is_vrf || !link->master)
        *vrf = *link;
    else if (routing_link(netlink, link->master, vrf) < 0)
        return false;
    return vrf->is_vrf;
}

static int routing_take_neighbour(const struct nlmsghdr *message, void *arg)
{
    struct record record;

    if (message->nlmsg_type == RTM_NEWNEIGH && neighbour_decode(message, &record) == 0)
        *(struct record *)arg = record;
    return 0;
}

int routing_neighbour(struct netlink *netlink, const struct address *address, uint32_t interface,
                      struct record *record)
{
    _Alignas(struct nlmsghdr) char buffer[ROUTING_REQUEST_MAX];
    struct nlmsghdr *request = routing_begin(buffer, RTM_GETNEIGH, false);
    struct ndmsg *body = mnl_nlmsg_put_extra_header(request, sizeof *body);
    struct record found = {.kind = NULL};

    body->ndm_family = address->family;
    body->ndm_ifindex = (int)interface;
    mnl_attr_put(request, NDA_DST, address_size(address), address->bytes);
    const int result = routing_send(netlink, request, routing_take_neighbour, &found);
    if (result < 0 || !found.kind)
        return result < 0 ? result : -EBADMSG;
    *record = found;
    return 0;
}

/* --- The route -------------------------------------------------------------------------------- */

/* A question, and facts that its answer needs. */
struct routing {
    struct netlink *netlink;
    struct routing_question question; /* with the addresses that connect(2) would use */
    struct routing_answer *answer;
    struct routing_link bound, bound_vrf; /* the interface of the question, and its VRF */
    bool has_source;                      /* the caller chose the source */
    bool is_refused; /* connect(2) has an errno that RTM_GETROUTE does not explain */
};

/* One route of an answer. */
struct routing_route {
    bool is_there;
    uint64_t has;
    struct route_record route;
    unsigned next_hops;
};

static int routing_take_route(const struct nlmsghdr *message, void *arg)
{
    struct routing_route *taken = arg;
    struct route_rows rows;

    if (message->nlmsg_type != RTM_NEWROUTE)
        return 0;
    const int result = route_decode(message, &rows);
    if (!rows.record.has)
        return -EBADMSG;
    *taken = (struct routing_route){.is_there = true, .has = rows.record.has};
    taken->route = rows.record.route;
    if (result == 0)
        do
            taken->next_hops++;
        while (route_decode_nexthop(&rows) > 0);
    return 0;
}

/* Asks for the route of the question. flags: RTM_F_FIB_MATCH asks for the entry of the table; 0 for
 * the route with the source, the MTU and the next hop that the kernel chooses. */
static int routing_find(const struct routing *routing, unsigned flags, struct routing_route *route)
{
    _Alignas(struct nlmsghdr) char buffer[ROUTING_REQUEST_MAX];
    const struct routing_question *question = &routing->question;
    const struct address *peer = &question->peer.address, *source = &question->source;
    struct nlmsghdr *request = routing_begin(buffer, RTM_GETROUTE, false);
    struct rtmsg *body = mnl_nlmsg_put_extra_header(request, sizeof *body);

    *route = (struct routing_route){.is_there = false};
    body->rtm_family = peer->family;
    body->rtm_dst_len = (uint8_t)(8 * address_size(peer));
    body->rtm_src_len = (uint8_t)(8 * address_size(source));
    /* IPv6 always names the table, and refuses this flag */
    body->rtm_flags = flags | (peer->family == AF_INET ? RTM_F_LOOKUP_TABLE : 0);
    mnl_attr_put(request, RTA_DST, address_size(peer), peer->bytes);
    if (address_size(source))
        mnl_attr_put(request, RTA_SRC, address_size(source), source->bytes);
    if (question->interface)
        mnl_attr_put_u32(request, RTA_OIF, question->interface);
    if (question->mark)
        mnl_attr_put_u32(request, RTA_MARK, question->mark);
    if (question->has_uid)
        mnl_attr_put_u32(request, RTA_UID, question->uid);
    if (question->protocol)
        mnl_attr_put_u8(request, RTA_IP_PROTO, question->protocol);
    if (question->source_port)
        mnl_attr_put_u16(request, RTA_SPORT, htons(question->source_port));
    if (question->peer.port)
        mnl_attr_put_u16(request, RTA_DPORT, htons(question->peer.port));
    const int result = routing_send(routing->netlink, request, routing_take_route, route);
    return result < 0 || route->is_there ? result : -EBADMSG;
}

/* True for the errors of the kernel that mean: no way leads to the peer. */
static bool routing_is_end(int error)
{
    return error == -ENETUNREACH || error == -EHOSTUNREACH || error == -EACCES || error == -EINVAL;
}

/* Finds the source address that IPv6 chooses if no route fits packets without a source: then
 * connect(2) searches again, with the best address for the peer (ip6_dst_lookup_tail() of
 * net/ipv6/ip6_output.c). A UDP socket that connects sends nothing. Returns 0, or -errno of
 * connect(2). */
static int choose_source6(struct routing *routing)
{
    const struct routing_question *question = &routing->question;
    struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                   .sin6_port =
                                       htons(question->peer.port ? question->peer.port : 9),
                                   .sin6_scope_id = question->interface};
    socklen_t length = sizeof address;
    const int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int result = 0;

    if (fd < 0)
        return -errno;
    memcpy(&address.sin6_addr, question->peer.address.bytes, sizeof address.sin6_addr);
    if (*routing->bound.name)
        setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, routing->bound.name,
                   (socklen_t)strlen(routing->bound.name));
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) < 0)
        result = -errno;
    else
        routing->question.source = address_make(AF_INET6, &address.sin6_addr);
    close(fd);
    return result;
}

/* Finds the route that connect(2) takes. For IPv4 it searches a second time, with the source that
 * the first route has (ip_route_connect() of include/net/route.h). */
static int routing_find_as_connect(struct routing *routing, struct routing_route *route)
{
    const bool is_ipv4 = routing->question.peer.address.family == AF_INET;
    const int result = routing_find(routing, 0, route);

    if (routing->has_source)
        return result;
    if (is_ipv4 && result == 0 && route->has & ROUTE_SOURCE) {
        routing->question.source = route->route.source;
        return routing_find(routing, 0, route);
    }
    if (is_ipv4 || !routing_is_end(result) || netlink_peer(routing->netlink))
        return result;
    const int refused = choose_source6(routing);
    if (refused == 0)
        return routing_find(routing, 0, route);
    routing->is_refused = refused != result;
    return refused;
}

/* --- The way leads ---------------------------------------------------------------------------- */

static void routing_fill_mtu(struct routing_answer *answer, const struct routing_route *route,
                             const struct routing_route *match, const struct routing_link *link)
{
    const bool is_ipv6 = route->route.destination.family == AF_INET6;

    if (!(route->has & ROUTE_MTU)) {
        answer->mtu = is_ipv6 && link->mtu6 ? link->mtu6 : link->mtu;
        return;
    }
    answer->mtu = route->route.mtu;
    /* an exception is a route of the cache; a redirect has the MTU of the table's route */
    answer->mtu_is_learnt = route->route.cloned && route->has & ROUTE_EXPIRES &&
                            !(match->has & ROUTE_MTU && match->route.mtu == answer->mtu);
    if (answer->mtu_is_learnt)
        answer->mtu_expires = route->route.expires;
}

/* Returns the table of the route. As long as only the three rules of the kernel exist, IPv4 keeps
 * the routes of the table `local` in the table `main` (fib_trie_table() of net/ipv4/fib_trie.c). */
static uint32_t routing_table(const struct routing_route *route, const struct routing_route *match)
{
    const bool is_local = route->route.type == RTN_LOCAL || route->route.type == RTN_BROADCAST;

    return route->route.table == RT_TABLE_MAIN && is_local && match->is_there &&
                   match->route.protocol == RTPROT_KERNEL
               ? RT_TABLE_LOCAL
               : route->route.table;
}

static void routing_fill(const struct routing *routing, const struct routing_route *route,
                         const struct routing_route *match)
{
    struct routing_answer *answer = routing->answer;
    struct routing_link link = {.index = 0}, vrf;

    answer->end = ROUTING_LEADS;
    answer->type = route->route.type;
    answer->table = routing_table(route, match);
    if (route->has & ROUTE_GATEWAY)
        answer->gateway = route->route.gateway;
    answer->source = routing->question.source;
    if (answer->source.family == AF_UNSPEC && route->has & ROUTE_SOURCE)
        answer->source = route->route.source;
    answer->interface = route->route.interface;
    answer->next_hops = match->next_hops;
    if (routing_link(routing->netlink, answer->interface, &link) == 0 &&
        routing_vrf(routing->netlink, &link, &vrf))
        answer->vrf = vrf.index;
    routing_fill_mtu(answer, route, match, &link);
}

/* --- The rule --------------------------------------------------------------------------------- */

static int routing_take_rule(const struct nlmsghdr *message, void *arg)
{
    struct policy_rule rule;

    if (message->nlmsg_type != RTM_NEWRULE)
        return 0;
    const int result = rule_decode(message, &rule);
    if (result == 0)
        rule_search_take(arg, &rule);
    return result;
}

/* Compares all rules with the flow. Returns 0, also if the kernel was built without rules. */
static int routing_search(const struct routing *routing, struct rule_search *search)
{
    _Alignas(struct nlmsghdr) char buffer[ROUTING_REQUEST_MAX];
    const struct routing_question *question = &routing->question;
    struct nlmsghdr *request = routing_begin(buffer, RTM_GETRULE, true);
    struct fib_rule_hdr *body = mnl_nlmsg_put_extra_header(request, sizeof *body);
    const struct rule_flow flow = {.destination = question->peer.address,
                                   .source = question->source,
                                   .source_port = question->source_port,
                                   .destination_port = question->peer.port,
                                   .protocol = question->protocol,
                                   .mark = question->mark,
                                   .uid = question->has_uid ? question->uid : getuid(),
                                   .interface = routing->bound.name,
                                   .in_vrf = routing->bound_vrf.is_vrf,
                                   .vrf_table = routing->bound_vrf.vrf_table};

    body->family = question->peer.address.family;
    search->flow = &flow;
    const int result = routing_send(routing->netlink, request, routing_take_rule, search);
    search->flow = NULL;
    routing->answer->may_differ = search->needs_port;
    return result == -EAFNOSUPPORT || result == -EOPNOTSUPP ? 0 : result;
}

/* Names the rule that led to the table of the route. */
static void routing_name_rule(const struct routing *routing, const struct routing_route *match)
{
    struct routing_answer *answer = routing->answer;
    struct rule_search search = {.table = answer->table,
                                 .prefix = match->route.prefix,
                                 .has_prefix =
                                     match->is_there && match->route.table == answer->table};

    if (!answer->table || routing_search(routing, &search) < 0)
        return;
    answer->rule = search.first;
    answer->rule.known = search.first_is_sure || search.candidates == 1;
}

/* --- The way ends ----------------------------------------------------------------------------- */

/* Collects the tables with routes that may have ended the way. */
struct routing_ends {
    const struct routing *routing;
    struct rule_search *search;
    uint8_t type; /* RTN_* of routes that end ways with the errno of the answer */
};

/* Returns the entry of the table; NULL if there is no room. */
static struct rule_table *routing_table_entry(struct rule_search *search, uint32_t table)
{
    for (size_t i = 0; i < search->table_count; i++)
        if (search->tables[i].table == table)
            return &search->tables[i];
    if (search->table_count == RULE_TABLES_MAX)
        return NULL;
    search->tables[search->table_count] = (struct rule_table){table, -1, -1, false};
    return &search->tables[search->table_count++];
}

/* Routes of other types cannot have been found, or the way would have ended otherwise. */
static int routing_take_end(const struct nlmsghdr *message, void *arg)
{
    const struct routing_ends *ends = arg;
    const struct address *peer = &ends->routing->question.peer.address;
    struct routing_route taken = {.is_there = false};
    const struct route_record *route = &taken.route;

    routing_take_route(message, &taken);
    if (!taken.is_there || (route->type != ends->type && route->type != RTN_THROW) ||
        route->cloned || route->tos || !address_is_within(peer, &route->destination, route->prefix))
        return 0;
    struct rule_table *table = routing_table_entry(ends->search, route->table);
    if (!table)
        return -E2BIG;
    int16_t *longest = route->type == RTN_THROW ? &table->throws : &table->ends;
    if (route->prefix > *longest)
        *longest = route->prefix;
    table->may_differ |= route->from_prefix > 0;
    return 0;
}

/* Reads the routes of this type from all tables; 0: of all types. Old kernels send all types. */
static int routing_read_ends(struct routing_ends *ends, uint8_t type)
{
    _Alignas(struct nlmsghdr) char buffer[ROUTING_REQUEST_MAX];
    struct nlmsghdr *request = routing_begin(buffer, RTM_GETROUTE, true);
    struct rtmsg *body = mnl_nlmsg_put_extra_header(request, sizeof *body);

    body->rtm_family = ends->routing->question.peer.address.family;
    body->rtm_type = type;
    return routing_send(ends->routing->netlink, request, routing_take_end, ends);
}

/* A nexthop object (ip-nexthop(8)) can make a blackhole of a route of another type, so for
 * blackholes all routes are read. */
static int routing_find_ends(const struct routing *routing, struct rule_search *search)
{
    const int error = routing->answer->error;
    struct routing_ends ends = {.routing = routing,
                                .search = search,
                                .type = error == EINVAL         ? RTN_BLACKHOLE
                                        : error == EHOSTUNREACH ? RTN_UNREACHABLE
                                                                : RTN_PROHIBIT};
    int result;

    if (error == ENETUNREACH) /* routes of no type give this error */
        return 0;
    if (error == EINVAL)
        return routing_read_ends(&ends, RTN_UNSPEC);
    result = routing_read_ends(&ends, ends.type);
    return result < 0 ? result : routing_read_ends(&ends, RTN_THROW);
}

/* Concludes from the errno and the rules. The kernel also gives EINVAL for addresses that it does
 * not accept, and ENETUNREACH both for no route and for a rule of the type `unreachable`. */
static enum routing_end routing_conclude(const struct routing_answer *answer,
                                         const struct rule_search *search)
{
    switch (answer->error) {
    case EACCES:
        return ROUTING_PROHIBIT;
    case EHOSTUNREACH:
        return ROUTING_UNREACHABLE;
    case EINVAL:
        return search && search->first_is_sure ? ROUTING_BLACKHOLE : ROUTING_UNKNOWN;
    case ENETUNREACH:
        return search && !search->candidates     ? ROUTING_NONE
               : search && search->first_is_sure ? ROUTING_UNREACHABLE
                                                 : ROUTING_UNKNOWN;
    default:
        return ROUTING_UNKNOWN;
    }
}

/* True if the source of the question is an address of this network namespace. Without it, IPv4
 * gives ENETUNREACH before it searches for a route (ip_route_output_key_hash_rcu()). */
static bool routing_owns_source(const struct routing *routing)
{
    struct routing own = {.netlink = routing->netlink};
    struct routing_route route;

    own.question.peer.address = routing->question.source;
    return routing_find(&own, 0, &route) == 0 && route.route.type == RTN_LOCAL;
}

static void routing_explain_end(const struct routing *routing)
{
    struct routing_answer *answer = routing->answer;
    const bool is_ipv4 = routing->question.peer.address.family == AF_INET;
    struct rule_search search = {.error = answer->error};

    answer->end = routing_conclude(answer, NULL);
    if (routing->is_refused)
        return;
    if (is_ipv4 && routing->has_source && !routing_owns_source(routing)) {
        answer->end = ROUTING_NO_SOURCE;
        return;
    }
    /* with an interface, IPv4 takes the peer for a neighbour if no route is found, so the reason is
     * the interface itself */
    if (routing->bound.index && !routing->bound_vrf.is_vrf &&
        (is_ipv4 || !(routing->bound.flags & IFF_UP))) {
        answer->end = answer->error == ENETUNREACH ? ROUTING_NONE : ROUTING_UNKNOWN;
        return;
    }
    if (routing_find_ends(routing, &search) < 0 || routing_search(routing, &search) < 0)
        return;
    answer->end = routing_conclude(answer, &search);
    answer->rule = search.first;
    answer->rule.known =
        answer->end != ROUTING_UNKNOWN && (search.first_is_sure || search.candidates == 1);
    answer->table = answer->rule.known ? answer->rule.table : 0;
}

/* --- Asking ----------------------------------------------------------------------------------- */

/* Prepares the question as connect(2) does: it takes :: for ::1 (tcp_v6_connect() of
 * net/ipv6/tcp_ipv6.c), and uses IPv4 for IPv4-mapped addresses. */
static int routing_prepare(struct routing *routing)
{
    struct routing_question *question = &routing->question;
    struct address *peer = &question->peer.address;

    *peer = address_unmapped(peer);
    question->source = address_unmapped(&question->source);
    if (address_is_unspecified(&question->source))
        question->source = (struct address){.family = AF_UNSPEC};
    routing->has_source = question->source.family != AF_UNSPEC;
    if (!address_size(peer) || (routing->has_source && question->source.family != peer->family))
        return -EAFNOSUPPORT;
    if (peer->family == AF_INET6 && address_is_unspecified(peer))
        peer->bytes[15] = 1;
    if (!question->interface)
        return 0;
    const int result = routing_link(routing->netlink, question->interface, &routing->bound);
    if (result == 0 && !routing_vrf(routing->netlink, &routing->bound, &routing->bound_vrf))
        routing->bound_vrf.is_vrf = false;
    return result;
}

static bool is_link_local(const struct address *address)
{
    return address->family == AF_INET6 && address->bytes[0] == 0xfe &&
           (address->bytes[1] & 0xc0) == 0x80;
}

/* If the question has a source and an interface, RTM_GETROUTE of IPv6 also finds routes by other
 * interfaces (ip6_route_output_flags() of net/ipv6/route.c); connect(2) does not. */
static bool is_other_interface(const struct routing *routing, const struct routing_route *route)
{
    return route->route.destination.family == AF_INET6 && route->route.type == RTN_UNICAST &&
           routing->bound.index && !routing->bound_vrf.is_vrf &&
           route->route.interface != routing->bound.index;
}

int routing_ask(struct netlink *netlink, const struct routing_question *question,
                struct routing_answer *answer)
{
    struct routing routing = {.netlink = netlink, .question = *question, .answer = answer};
    struct routing_route route, match;
    int result;

    *answer = (struct routing_answer){.end = ROUTING_UNKNOWN};
    result = routing_prepare(&routing);
    if (result < 0)
        return result;
    if (is_link_local(&routing.question.peer.address) && !question->interface) {
        *answer = (struct routing_answer){.error = EINVAL, .end = ROUTING_NEEDS_INTERFACE};
        return 0;
    }
    result = routing_find_as_connect(&routing, &route);
    if (result < 0) {
        answer->error = -result;
        if (!routing_is_end(result))
            return result;
        routing_explain_end(&routing);
        return 0;
    }
    routing_find(&routing, RTM_F_FIB_MATCH, &match); /* may fail: then less is known */
    if (is_other_interface(&routing, &route))
        return 0;
    routing_fill(&routing, &route, &match);
    routing_name_rule(&routing, &match);
    return 0;
}
