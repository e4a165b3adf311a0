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

/* Makes a request. flags: NLM_F_ACK for one object, or NLM_F_DUMP. */
static struct nlmsghdr *routing_begin(char *buffer, uint16_t type, uint16_t flags)
{
    struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);

    message->nlmsg_type = type;
    message->nlmsg_flags = NLM_F_REQUEST | flags;
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

static const struct target vrf_targets[] = {
    [IFLA_VRF_TABLE] = TAKE_INTO(struct routing_link, vrf_table, 0),
};
static const struct target info_targets[] = {
    [IFLA_INFO_DATA] = TAKE_NEST(vrf_targets),
};
static const struct target routing_link_targets[] = {
    [IFLA_LINKINFO] = TAKE_NEST(info_targets),
};

static int routing_take_link(const struct nlmsghdr *message, void *arg)
{
    struct routing_link *link = arg;
    struct decoding decoding = {.object = link};
    struct attributes attributes;
    struct record record;
    const struct interface_record *interface = &record.interface;

    if (message->nlmsg_type != RTM_NEWLINK || link_decode(message, &record) < 0 ||
        interface->name.length >= sizeof link->name ||
        !message_header(message, sizeof(struct ifinfomsg), &attributes))
        return 0;
    *link = (struct routing_link){.master = interface->master, .flags = interface->flags};
    memcpy(link->name, interface->name.data, interface->name.length);
    if (text_is(interface->kind, "vrf")) /* other kinds number their attributes otherwise */
        attributes_decode(&decoding, attributes, (struct targets)TARGETS(routing_link_targets));
    return 0;
}

int routing_link(struct netlink *netlink, uint32_t index, struct routing_link *link)
{
    _Alignas(struct nlmsghdr) char buffer[ROUTING_REQUEST_MAX];
    struct nlmsghdr *request = routing_begin(buffer, RTM_GETLINK, NLM_F_ACK);
    struct ifinfomsg *body = mnl_nlmsg_put_extra_header(request, sizeof *body);
    struct routing_link found = {.flags = 0};

    body->ifi_index = (int)index;
    const int result = routing_send(netlink, request, routing_take_link, &found);
    if (result < 0 || !*found.name)
        return result < 0 ? result : -EBADMSG;
    *link = found;
    return 0;
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
    struct nlmsghdr *request = routing_begin(buffer, RTM_GETNEIGH, NLM_F_ACK);
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
    struct routing_link bound; /* the interface of the question */
    uint32_t vrf_table;        /* table of its VRF; 0: none */
    bool is_refused;           /* if the way ends, routes and rules do not explain the errno */
    uint8_t end_type;          /* RTN_* of the routes that end ways with the errno of the answer */
    struct rule_search search;
};

/* A route of an answer. has: 0 if there is no route. */
struct routing_route {
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
    *taken = (struct routing_route){.has = rows.record.has, .route = rows.record.route};
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
    struct nlmsghdr *request = routing_begin(buffer, RTM_GETROUTE, NLM_F_ACK);
    struct rtmsg *body = mnl_nlmsg_put_extra_header(request, sizeof *body);

    *route = (struct routing_route){.has = 0};
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
    return result < 0 || route->has ? result : -EBADMSG;
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

    if (routing->question.source.family != AF_UNSPEC)
        return result;
    if (is_ipv4 && result == 0 && route->has & ROUTE_SOURCE) {
        routing->question.source = route->route.source;
        /* a local route of another table than `local` gives a source that the kernel refuses */
        routing->is_refused = route->route.type == RTN_LOCAL;
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
static int routing_search(struct routing *routing)
{
    _Alignas(struct nlmsghdr) char buffer[ROUTING_REQUEST_MAX];
    const struct routing_question *question = &routing->question;
    struct rule_search *search = &routing->search;
    struct nlmsghdr *request = routing_begin(buffer, RTM_GETRULE, NLM_F_DUMP);
    struct fib_rule_hdr *body = mnl_nlmsg_put_extra_header(request, sizeof *body);
    const struct rule_flow flow = {.destination = question->peer.address,
                                   .source = question->source,
                                   .source_port = question->source_port,
                                   .destination_port = question->peer.port,
                                   .protocol = question->protocol,
                                   .mark = question->mark,
                                   .uid = question->has_uid ? question->uid : getuid(),
                                   .interface = routing->bound.name,
                                   .vrf_table = routing->vrf_table};

    body->family = question->peer.address.family;
    search->flow = &flow;
    const int result = routing_send(routing->netlink, request, routing_take_rule, search);
    search->flow = NULL;
    if (result < 0 && result != -EAFNOSUPPORT && result != -EOPNOTSUPP)
        return result;
    routing->answer->rule = search->first;
    routing->answer->rule.known = search->first_is_sure || search->candidates == 1;
    return 0;
}

/* --- The way leads ---------------------------------------------------------------------------- */

/* match: the entry of the table. */
static void routing_fill(const struct routing *routing, const struct routing_route *route,
                         const struct routing_route *match)
{
    struct routing_answer *answer = routing->answer;
    const struct route_record *found = &route->route;
    const bool is_local = found->type == RTN_LOCAL || found->type == RTN_BROADCAST;

    answer->end = ROUTING_LEADS;
    answer->type = found->type;
    /* As long as there are no rules but those of the start, IPv4 keeps the routes of the table
     * `local` in the table `main` (fib_trie_table() of net/ipv4/fib_trie.c). */
    answer->table =
        found->table == RT_TABLE_MAIN && is_local && match->route.protocol == RTPROT_KERNEL
            ? RT_TABLE_LOCAL
            : found->table;
    if (route->has & ROUTE_GATEWAY)
        answer->gateway = found->gateway;
    answer->source = routing->question.source;
    if (answer->source.family == AF_UNSPEC && route->has & ROUTE_SOURCE)
        answer->source = found->source;
    answer->interface = found->interface;
    answer->next_hops = match->next_hops;
    /* an exception is a route of the cache; a redirect has the MTU of the table's route */
    answer->mtu_is_learnt = found->cloned && route->has & ROUTE_MTU && route->has & ROUTE_EXPIRES &&
                            !(match->has & ROUTE_MTU && match->route.mtu == found->mtu);
    answer->mtu = answer->mtu_is_learnt ? found->mtu : 0;
    answer->mtu_expires = answer->mtu_is_learnt ? found->expires : 0;
}

/* Names the rule that led to the table of the route. */
static void routing_name_rule(struct routing *routing, const struct routing_route *match)
{
    struct routing_answer *answer = routing->answer;

    routing->search =
        (struct rule_search){.table = answer->table,
                             .prefix = match->route.prefix,
                             .has_prefix = match->has && match->route.table == answer->table};
    if (routing_search(routing) == 0 && routing->search.needs_port)
        /* with the port, the kernel may choose another way */
        *answer = (struct routing_answer){.end = ROUTING_UNKNOWN};
}

/* --- The way ends ----------------------------------------------------------------------------- */

/* Collects the tables with routes that may have ended the way. Routes of other types cannot have
 * been found, or the way would have ended otherwise. */
static int routing_take_end(const struct nlmsghdr *message, void *arg)
{
    struct routing *routing = arg;
    const struct address *peer = &routing->question.peer.address;
    struct routing_route taken = {.has = 0};
    const struct route_record *route = &taken.route;

    routing_take_route(message, &taken);
    if (!taken.has || (route->type != routing->end_type && route->type != RTN_THROW) ||
        route->cloned || route->tos || !address_is_within(peer, &route->destination, route->prefix))
        return 0;
    struct rule_table *table = rule_search_table(&routing->search, route->table);
    if (!table)
        return -E2BIG;
    int16_t *longest = route->type == RTN_THROW ? &table->throws : &table->ends;
    if (route->prefix > *longest)
        *longest = route->prefix;
    table->may_differ |= route->from_prefix > 0;
    return 0;
}

/* Reads the routes of two types from all tables. Old kernels send all types. A nexthop object
 * (ip-nexthop(8)) can make a blackhole of a route of any type. */
static int routing_find_ends(struct routing *routing)
{
    const int error = routing->answer->error;
    const uint8_t types[] = {error == EINVAL ? RTN_UNSPEC : routing->end_type, RTN_THROW};
    int result = 0;

    for (size_t i = 0; i < COUNT(types) && result == 0; i++) {
        _Alignas(struct nlmsghdr) char buffer[ROUTING_REQUEST_MAX];
        struct nlmsghdr *request = routing_begin(buffer, RTM_GETROUTE, NLM_F_DUMP);
        struct rtmsg *body = mnl_nlmsg_put_extra_header(request, sizeof *body);
        body->rtm_family = routing->question.peer.address.family;
        body->rtm_type = types[i];
        result = routing_send(routing->netlink, request, routing_take_end, routing);
    }
    return result;
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

static void routing_explain_end(struct routing *routing)
{
    struct routing_answer *answer = routing->answer;
    const bool is_ipv4 = routing->question.peer.address.family == AF_INET;

    answer->end = routing_conclude(answer, NULL);
    if (routing->is_refused)
        return;
    /* with an interface, IPv4 takes the peer for a neighbour if no route is found, so the reason is
     * the interface itself */
    if (*routing->bound.name && !routing->vrf_table &&
        (is_ipv4 || !(routing->bound.flags & IFF_UP))) {
        answer->end = answer->error == ENETUNREACH ? ROUTING_NONE : ROUTING_UNKNOWN;
        return;
    }
    routing->search = (struct rule_search){.error = answer->error};
    routing->end_type = answer->error == EINVAL         ? RTN_BLACKHOLE
                        : answer->error == EHOSTUNREACH ? RTN_UNREACHABLE
                                                        : RTN_PROHIBIT;
    /* no type of routes ends a way with ENETUNREACH */
    if ((answer->error != ENETUNREACH && routing_find_ends(routing) < 0) ||
        routing_search(routing) < 0)
        return;
    answer->end = routing_conclude(answer, &routing->search);
    answer->rule.known &= answer->end != ROUTING_UNKNOWN;
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
    if (!address_size(peer) ||
        (question->source.family != AF_UNSPEC && question->source.family != peer->family))
        return -EAFNOSUPPORT;
    if (peer->family == AF_INET6 && address_is_unspecified(peer))
        peer->bytes[15] = 1;
    if (!question->interface)
        return 0;
    struct routing_link master = {.vrf_table = 0};
    int result = routing_link(routing->netlink, question->interface, &routing->bound);
    if (result == 0 && routing->bound.master)
        result = routing_link(routing->netlink, routing->bound.master, &master);
    routing->vrf_table = routing->bound.vrf_table ? routing->bound.vrf_table : master.vrf_table;
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
           routing->question.interface && !routing->vrf_table &&
           route->route.interface != routing->question.interface;
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
