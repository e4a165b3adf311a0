/* SPDX-License-Identifier: MIT */
#include "why/verdicts.h"

#include <stdio.h>

#include "fastnet/array.h"
#include "fastnet/kind.h"
#include "why/facts.h"
#include "why/sentence.h"

WORDS(cause_name, [CAUSE_UNKNOWN] = "unknown", [CAUSE_OPEN] = "open",
      [CAUSE_NO_ADDRESS] = "no-address", [CAUSE_FIRST_ADDRESS] = "first-address",
      [CAUSE_NO_ROUTE] = "no-route", [CAUSE_ROUTE_BLACKHOLE] = "route-blackhole",
      [CAUSE_ROUTE_UNREACHABLE] = "route-unreachable", [CAUSE_ROUTE_PROHIBIT] = "route-prohibit",
      [CAUSE_POLICY_RULE] = "policy-rule", [CAUSE_LINK_DOWN] = "link-down",
      [CAUSE_NO_NEIGHBOUR] = "no-neighbour", [CAUSE_NO_LOCAL_PORT] = "no-local-port",
      [CAUSE_TRACKING_FULL] = "tracking-full", [CAUSE_NOT_PERMITTED] = "not-permitted",
      [CAUSE_NOBODY_LISTENS] = "nobody-listens", [CAUSE_LISTENS_LOOPBACK] = "listens-loopback",
      [CAUSE_LISTENS_ADDRESS] = "listens-address", [CAUSE_LISTENS_INTERFACE] = "listens-interface",
      [CAUSE_LISTENS_NETNS] = "listens-netns", [CAUSE_LISTENS_FAMILY] = "listens-family",
      [CAUSE_ACCEPT_QUEUE] = "accept-queue", [CAUSE_HALF_OPEN_QUEUE] = "half-open-queue",
      [CAUSE_OWN_RULE_DROPS] = "own-rule-drops", [CAUSE_OWN_RULE_REJECTS] = "own-rule-rejects",
      [CAUSE_OWN_RULE_RESETS] = "own-rule-resets", [CAUSE_THEIR_RULE_DROPS] = "their-rule-drops",
      [CAUSE_THEIR_RULE_REJECTS] = "their-rule-rejects",
      [CAUSE_THEIR_RULE_RESETS] = "their-rule-resets", [CAUSE_RP_FILTER] = "rp-filter",
      [CAUSE_ROUTER_NO_ROUTE] = "router-no-route", [CAUSE_ROUTER_TTL] = "router-ttl",
      [CAUSE_DROPPED] = "dropped", [CAUSE_NET_UNREACHABLE] = "net-unreachable",
      [CAUSE_HOST_UNREACHABLE] = "host-unreachable", [CAUSE_PORT_UNREACHABLE] = "port-unreachable",
      [CAUSE_PROHIBITED] = "prohibited", [CAUSE_TOO_BIG] = "too-big", [CAUSE_MTU] = "mtu",
      [CAUSE_RESET] = "reset", [CAUSE_REFUSED] = "refused", [CAUSE_NO_ANSWER] = "no-answer");

/* --- The table -------------------------------------------------------------------------------- */

/* Which network namespace a verdict is about. */
enum verdict_place {
    AT_NONE,
    AT_HERE,
    AT_EVENT,    /* where the kernel dropped or reset the packet of a fact in `seen` or `any` */
    AT_HOME,     /* where connections arrive */
    AT_TABLE,    /* whose table of flows is full */
    AT_OFFENDER, /* which has the address that sent the ICMP message */
};

/* A row holds if all facts of `seen` are known, at least one fact of `any` (0: no such condition),
 * and no fact of `unless`. The first row that holds wins. sentence.c fills the {slots}. */
struct verdict_rule {
    enum cause cause;
    enum ending ending;
    enum verdict_place place;
    uint64_t seen, any, unless;
    const char *sentence, *advice;
    const char *command; /* may be empty; gets the options for the network namespace */
};

#define FIND_RULE                                                                                  \
    "find the rule (nft list ruleset, iptables -S), and let it accept connections to {peer}"
#define SHOW_RULE   "fastnet drops --where 'reason = NETFILTER_DROP'"
#define SHOW_ROUTES "fastnet netstat -rn{version}"
#define SHOW_PORT   "fastnet sockets --listening --where 'local_port = {port}'"
#define REMOVE_ROUTE                                                                               \
    "see why this route exists (ip route get {address}), and remove it if it is wrong"
#define TRY_CLIENT "try from the client: fastnet why --probe HOST:{port}"
#define NOBODY     "nobody listens on {target}{in}"
#define AT_REST    (NO_ATTEMPT | NO_RESULT) /* nothing has answered */

/* Rows for evidence that proves no cause come last, with CAUSE_UNKNOWN. */
static const struct verdict_rule verdict_rules[] = {
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_NONE, LACKS, 0, 0,
     "not known, because fastnet could not take over {lacks}: with them it may end elsewhere",
     "run fastnet as root", ""},
    {CAUSE_NO_ADDRESS, ENDING_ENDS, AT_HERE, NO_NAME, 0, 0,
     "no address was found for the name {name}: {no-name}",
     "check the name, and the servers of /etc/resolv.conf (getent ahosts {name})", ""},

    /* after the handshake */
    {CAUSE_RESET, ENDING_ENDS, AT_NONE, CONNECTED | WAS_RESET, 0, 0,
     "{peer} accepts the connection, and then resets it",
     "see the log of the server, and of a proxy or firewall in front of it", ""},
    {CAUSE_TOO_BIG, ENDING_ENDS, AT_HERE, CONNECTED | DATA_LOST | MTU_LEARNT, 0, 0,
     "connected, but segments of {mss} bytes do not arrive: a router reported that packets "
     "may have at most {mtu} bytes",
     "lower the MTU of {interface}, or let the routers forward larger packets", SHOW_ROUTES},
    {CAUSE_MTU, ENDING_ENDS, AT_EVENT, CONNECTED | DATA_LOST | DROP_TOO_BIG, 0, 0,
     "connected, but segments of {mss} bytes are too big and are dropped{in}; the ICMP message "
     "about this does not arrive",
     "let ICMP \"fragmentation needed\" and \"packet too big\" pass, or lower the MTU of "
     "{interface}",
     "fastnet drops --where 'reason = PKT_TOO_BIG'"},
    {CAUSE_MTU, ENDING_ENDS, AT_NONE, CONNECTED | DATA_LOST, 0, ANY_DROP,
     "connected, but no segment of {mss} bytes is acknowledged: small packets pass, and large "
     "packets do not",
     "look for a smaller MTU on the way (tunnels), and for a firewall that drops ICMP; or lower "
     "the MTU of {interface}",
     ""},
    {CAUSE_OPEN, ENDING_OPEN, AT_NONE, CONNECTED, 0, DATA_WAITS,
     "{peer} accepts connections: connected after {elapsed}", "", ""},

    /* connect(2) itself fails */
    {CAUSE_POLICY_RULE, ENDING_ENDS, AT_HERE, WAY_RULE, 0, 0,
     "the policy rule with priority {priority}{in} stops packets to {address} ({error})",
     "see ip rule list, and remove the rule if it is wrong", ""},
    {CAUSE_NO_ROUTE, ENDING_ENDS, AT_HERE, WAY_NONE, 0, 0, "no route leads to {address}{in}",
     "add a route, or the default route (ip route)", SHOW_ROUTES},
    {CAUSE_ROUTE_BLACKHOLE, ENDING_ENDS, AT_HERE, WAY_BLACKHOLE, 0, 0,
     "a route of type blackhole discards all packets to {address}{in}", REMOVE_ROUTE, SHOW_ROUTES},
    {CAUSE_ROUTE_UNREACHABLE, ENDING_ENDS, AT_HERE, WAY_UNREACHABLE, 0, 0,
     "a route of type unreachable refuses all packets to {address}{in}", REMOVE_ROUTE, SHOW_ROUTES},
    {CAUSE_ROUTE_PROHIBIT, ENDING_ENDS, AT_HERE, WAY_PROHIBIT, 0, 0,
     "a route of type prohibit forbids all packets to {address}{in}", REMOVE_ROUTE, SHOW_ROUTES},
    {CAUSE_NO_LOCAL_PORT, ENDING_ENDS, AT_HERE, NO_PORT, 0, 0,
     "no local port is free for a connection to {peer}{in}",
     "close connections to {peer}, or widen net.ipv4.ip_local_port_range",
     "fastnet sockets --all --where 'remote_port = {port}' --count-by state,process"},
    {CAUSE_NOT_PERMITTED, ENDING_ENDS, AT_HERE, FORBIDDEN, 0, 0,
     "a policy of this machine refuses connect(2) ({error}); which policy is not known",
     "EPERM: see the BPF programs of the control group (bpftool cgroup tree); EACCES: see the log "
     "of the security module, and whether landlock restricts the process",
     ""},

    /* packets of this connection are dropped on this machine */
    {CAUSE_TRACKING_FULL, ENDING_ENDS, AT_TABLE, TABLE_FULL, AT_REST, NO_SOCKET,
     "the table of connection tracking is full{in}, so the kernel drops the {packets}",
     "raise net.netfilter.nf_conntrack_max, or see which flows fill the table",
     "fastnet conntrack --count-by=orig_src"},
    {CAUSE_OWN_RULE_RESETS, ENDING_ENDS, AT_EVENT, RULE_HERE | REFUSED, 0, NO_SOCKET,
     "a rule of this machine's firewall{in} rejects the {packets} with a reset", FIND_RULE,
     SHOW_RULE},
    {CAUSE_OWN_RULE_REJECTS, ENDING_ENDS, AT_EVENT, RULE_HERE | OTHERS_FAILED, 0, NO_SOCKET,
     "a rule of this machine's firewall{in} rejects the {packets}", FIND_RULE, SHOW_RULE},
    {CAUSE_OWN_RULE_REJECTS, ENDING_ENDS, AT_EVENT, RULE_HERE, SAYS_ANYTHING, NO_SOCKET,
     "a rule of this machine's firewall{in} rejects the {packets} with an ICMP message", FIND_RULE,
     SHOW_RULE},
    /* the kernel of this machine sends these messages only for a rule */
    {CAUSE_OWN_RULE_REJECTS, ENDING_ENDS, AT_HERE, SAID_HERE, SAYS_PORT | SAYS_PROHIBITED, 0,
     "a rule of this machine's firewall{in} rejects packets to {peer} with an ICMP message",
     FIND_RULE, SHOW_RULE},
    {CAUSE_OWN_RULE_DROPS, ENDING_ENDS, AT_EVENT, RULE_HERE, AT_REST | DATA_LOST, NO_SOCKET,
     "a rule of this machine's firewall{in} drops the {packets}", FIND_RULE, SHOW_RULE},
    {CAUSE_THEIR_RULE_RESETS, ENDING_ENDS, AT_EVENT, RULE_THERE | REFUSED, 0, NO_SOCKET,
     "a firewall rule{in} rejects the {packets} with a reset", FIND_RULE, SHOW_RULE},
    {CAUSE_THEIR_RULE_REJECTS, ENDING_ENDS, AT_EVENT, RULE_THERE | OTHERS_FAILED, 0, NO_SOCKET,
     "a firewall rule{in} rejects the {packets}", FIND_RULE, SHOW_RULE},
    {CAUSE_THEIR_RULE_REJECTS, ENDING_ENDS, AT_EVENT, RULE_THERE, SAYS_ANYTHING, NO_SOCKET,
     "a firewall rule{in} rejects the {packets} with an ICMP message", FIND_RULE, SHOW_RULE},
    {CAUSE_THEIR_RULE_DROPS, ENDING_ENDS, AT_EVENT, RULE_THERE, AT_REST | DATA_LOST, NO_SOCKET,
     "a firewall rule{in} drops the {packets}", FIND_RULE, SHOW_RULE},

    /* ICMP answers */
    {CAUSE_LINK_DOWN, ENDING_ENDS, AT_HERE, LINK_DOWN, AT_REST | SAID_HERE, NAMED_DROP,
     "packets to {address} leave by the interface {interface}{in}, which {link}",
     "set it up (ip link set {interface} up), and check the cable or the other end",
     "fastnet netstat -i"},
    {CAUSE_NO_NEIGHBOUR, ENDING_ENDS, AT_HERE, SAYS_HOST | SAID_HERE | NEIGHBOUR_SILENT, 0,
     NAMED_DROP, "the neighbour {gateway} on {interface}{in} does not answer",
     "check that {gateway} runs, and that it is in the network of {interface} (address, prefix, "
     "VLAN)",
     "fastnet neigh"},
    {CAUSE_ROUTER_TTL, ENDING_ENDS, AT_OFFENDER, SAYS_TTL, 0, 0,
     "the TTL of the packets ends at the router {offender}{in}: it is too small, or routers send "
     "the packets in a circle",
     "look for two routers whose routes point at each other (traceroute {address})", ""},
    {CAUSE_NET_UNREACHABLE, ENDING_ENDS, AT_OFFENDER, SAYS_NET | SAID_BY_PEER, 0, SAID_HERE,
     "{offender}{in} itself answers that the network is unreachable: a rule there rejects, or NAT "
     "there leads to a network without a route",
     "find that rule there (nft list ruleset, iptables -S)", ""},
    {CAUSE_HOST_UNREACHABLE, ENDING_ENDS, AT_OFFENDER, SAYS_HOST | SAID_BY_PEER, 0, SAID_HERE,
     "{offender}{in} itself answers that the host is unreachable: a rule there rejects, or NAT "
     "there leads to a host that does not answer",
     "find that rule there (nft list ruleset, iptables -S)", ""},
    {CAUSE_NET_UNREACHABLE, ENDING_ENDS, AT_OFFENDER, SAYS_NET, 0, SAID_HERE,
     "the router {offender}{in} answers that it has no route to {address}",
     "check the routes of {offender}", SHOW_ROUTES},
    {CAUSE_HOST_UNREACHABLE, ENDING_ENDS, AT_OFFENDER, SAYS_HOST, 0, SAID_HERE,
     "the router {offender}{in} answers that it cannot reach {address}",
     "check that the machine with {address} runs, and that {offender} can reach it",
     "fastnet neigh"},
    {CAUSE_PORT_UNREACHABLE, ENDING_ENDS, AT_OFFENDER, SAYS_PORT, 0, SAID_HERE,
     "{offender}{in} rejects the connection with an ICMP message (port unreachable)",
     "find the firewall rule there that rejects the connection, and let it accept {peer}", ""},
    {CAUSE_PROHIBITED, ENDING_ENDS, AT_OFFENDER, SAYS_PROHIBITED, 0, SAID_HERE,
     "{offender}{in} answers that the connection is prohibited",
     "find the firewall rule or the route there that prohibits the connection", ""},

    /* this machine drops packets without an answer */
    {CAUSE_RP_FILTER, ENDING_ENDS, AT_EVENT, DROP_RP_FILTER, AT_REST, NO_SOCKET,
     "the reverse path filter{in} drops the {packets}: the route back to {source} leads through "
     "another interface",
     "correct the routes, or set net.ipv4.conf.all.rp_filter to 2 (loose)", SHOW_ROUTES},
    {CAUSE_ROUTER_TTL, ENDING_ENDS, AT_EVENT, DROP_TTL, AT_REST, NO_SOCKET,
     "the TTL of the {packets} ends{in}: it is too small, or routers send the packets in a circle",
     "look for two routers whose routes point at each other", SHOW_ROUTES},
    {CAUSE_ROUTER_NO_ROUTE, ENDING_ENDS, AT_EVENT, DROP_NO_ROUTE, AT_REST, NO_SOCKET,
     "the kernel drops the {packets}{in}: no route exists for them, or forwarding is off",
     "add the route, or set net.ipv4.ip_forward (net.ipv6.conf.all.forwarding) to 1", SHOW_ROUTES},

    {CAUSE_TOO_BIG, ENDING_ENDS, AT_HERE, NO_ANSWERS | MTU_NEW, 0, ANY_DROP | NO_SOCKET,
     "a router answered that packets to {address} are too big: they may have at most {mtu} bytes",
     "find the router with this MTU (tracepath {address})", SHOW_ROUTES},
    {CAUSE_NO_NEIGHBOUR, ENDING_ENDS, AT_HERE, NEIGHBOUR_SILENT, NO_ATTEMPT | NO_ANSWERS,
     NAMED_DROP, "the neighbour {gateway} on {interface}{in} does not answer",
     "check that {gateway} runs, and that it is in the network of {interface} (address, prefix, "
     "VLAN)",
     "fastnet neigh"},
    {CAUSE_DROPPED, ENDING_ENDS, AT_EVENT, DROP_OTHER, NO_ANSWERS, NO_SOCKET | LISTENER_DROPS,
     "the kernel drops the {packets}{in}: {reason}", "see what the reason means",
     "fastnet help {reason}"},
    {CAUSE_DROPPED, ENDING_ENDS, AT_EVENT, DROP_NAMELESS, NO_ANSWERS, NO_SOCKET | LISTENER_DROPS,
     "the kernel drops the {packets}{in}, and names no reason: a route of type blackhole, or an "
     "XDP program, does this",
     "see the routes there (ip route get {address})", SHOW_ROUTES},

    /* the end of the way is on this machine */
    {CAUSE_LISTENS_LOOPBACK, ENDING_ENDS, AT_HOME, NOT_TAKEN | MISS_NEAR(MISS_LOOPBACK), 0, 0,
     NOBODY "; {process} listens on {listening} there",
     "let it listen on {target-address}, or on all addresses", SHOW_PORT},
    {CAUSE_LISTENS_ADDRESS, ENDING_ENDS, AT_HOME, NOT_TAKEN | MISS_NEAR(MISS_ADDRESS), 0, 0,
     NOBODY "; {process} listens on {listening} there",
     "connect to {listening}, or let it listen on {target-address}", SHOW_PORT},
    {CAUSE_LISTENS_FAMILY, ENDING_ENDS, AT_HOME, NOT_TAKEN | MISS_NEAR(MISS_FAMILY), 0, 0,
     NOBODY "; {process} listens on {listening} there, only for {family}",
     "let it listen for the other IP version, too, or connect by {family}", SHOW_PORT},
    {CAUSE_LISTENS_NETNS, ENDING_ENDS, AT_HOME, NOT_TAKEN | MISS_NEAR(MISS_NETNS), 0, 0,
     NOBODY "; {process} listens on {listening}{in-listener}",
     "connect to an address of that network namespace, or publish the port (DNAT, a proxy)",
     "fastnet sockets --listening --all-netns --where 'local_port = {port}'"},
    {CAUSE_LISTENS_INTERFACE, ENDING_ENDS, AT_HOME,
     NOT_TAKEN | NO_SOCKET | MISS_NEAR(MISS_INTERFACE), 0, 0,
     NOBODY " for packets of this interface; {process} listens only on another interface",
     "let it listen on all interfaces (without SO_BINDTODEVICE), or on this interface", SHOW_PORT},
    {CAUSE_NOBODY_LISTENS, ENDING_ENDS, AT_HOME, NOT_TAKEN | MISS_NEAR(MISS_OTHER), 0, 0,
     NOBODY "{near}", "connect to that socket, or let the program listen on this port", SHOW_PORT},
    {CAUSE_NOBODY_LISTENS, ENDING_ENDS, AT_HOME, NOT_TAKEN, NO_SOCKET | MISS_ANY,
     LISTENER | MISS_NEAR(MISS_INTERFACE), NOBODY, "start the server, or check the port",
     SHOW_PORT},
    {CAUSE_ACCEPT_QUEUE, ENDING_ENDS, AT_HOME, NOT_ACCEPTED | QUEUE_FULL, 0, 0,
     "the accept queue of {process} on {listening}{in} is full: {queue} of {limit} connections "
     "wait to be accepted",
     "let the program accept faster; or raise its backlog (listen(2)) and net.core.somaxconn",
     SHOW_PORT},
    {CAUSE_HALF_OPEN_QUEUE, ENDING_ENDS, AT_HOME, NOT_ACCEPTED | HALF_OPEN_FULL, 0, 0,
     "the queue of half-open connections of {process} on {listening}{in} is full ({half-open} of "
     "{half-open-limit}), and SYN cookies are off",
     "set net.ipv4.tcp_syncookies to 1, or raise net.ipv4.tcp_max_syn_backlog", SHOW_PORT},

    /* the end of the way is on another machine */
    {CAUSE_REFUSED, ENDING_ENDS, AT_NONE, REFUSED | SAW_DROPS, 0,
     ANY_DROP | NO_SOCKET | HOME_HERE | STRAYS,
     "{peer} refused after {elapsed}: nobody listens there, or a firewall there rejects the "
     "connection",
     "on that machine, see who listens (fastnet sockets -l), and what the firewall rejects", ""},
    {CAUSE_NO_ANSWER, ENDING_ENDS, AT_NONE, NO_ANSWERS | SAW_DROPS, 0,
     ANY_DROP | NO_SOCKET | HOME_HERE | HOME_THERE | NEIGHBOUR_SILENT | LINK_DOWN | LISTENER_DROPS |
         UDP,
     "{syns} left by {interface}, and nothing came back in {elapsed}: the packets or the answers "
     "are lost where this machine does not see them",
     "see on the machine with {address}, or on a router on the way, whether packets arrive "
     "(tcpdump, fastnet drops)",
     ""},

    /* clients of a port of this machine */
    {CAUSE_OPEN, ENDING_OPEN, AT_NONE, PORT_ALONE | IS_REACHED, 0, 0,
     "{process} listens on {listening}, and clients reach it: {fresh} connected while fastnet "
     "watched",
     "", ""},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_NONE, PORT_ALONE | LISTENER | SAW_DROPS | UDP, 0,
     ANY_DROP | NO_SOCKET,
     "{process} listens on {listening}{reach}; no packet for it was dropped, but UDP does not "
     "confirm that packets arrive",
     TRY_CLIENT, SHOW_PORT},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_NONE, PORT_ALONE | LISTENER | SAW_DROPS, 0,
     ANY_DROP | NO_SOCKET,
     "{process} listens on {listening}{reach}; no packet for it was dropped, but no new "
     "connection was seen, either",
     TRY_CLIENT, SHOW_PORT},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_NONE, PORT_ALONE | LISTENER, 0, 0,
     "{process} listens on {listening}{reach}; {unseen}", TRY_CLIENT, SHOW_PORT},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_HOME, PORT_ALONE | MISS_ANY, 0, 0,
     NOBODY "{near}; a NAT rule may lead its packets elsewhere",
     "start the server, or check the port and the NAT rules", SHOW_PORT},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_HOME, PORT_ALONE, 0, 0,
     NOBODY "{near}; not all sockets could be read", "run fastnet as root", SHOW_PORT},

    /* no proof */
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_NONE, NO_ATTEMPT | HOME_HERE | LISTENER, 0, 0,
     "nothing seems to be in the way: {process} listens on {listening}; only --probe shows "
     "whether it answers",
     "try it: --probe opens one connection, and closes it", ""},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_HOME, NO_ATTEMPT | HOME_THERE | LISTENER | QUEUE_FULL, 0, 0,
     "the accept queue of {process} on {listening}{in}, which has this address, is full; only "
     "--probe shows whether packets arrive there",
     "try it: --probe opens one connection, and closes it", SHOW_PORT},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_HOME, NO_ATTEMPT | HOME_THERE | LISTENER, 0, 0,
     "nothing seems to be in the way: {process} listens on {listening}{in}, which has this "
     "address; only --probe shows whether packets arrive there",
     "try it: --probe opens one connection, and closes it", ""},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_HOME, NO_ATTEMPT | HOME_HERE | MISS_ANY, 0, 0,
     NOBODY "; only --probe shows whether a rule (NAT) or a BPF program leads packets "
            "elsewhere",
     "try it: --probe opens one connection, and closes it", SHOW_PORT},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_HOME, NO_ATTEMPT | HOME_THERE | MISS_ANY, 0, 0,
     NOBODY ", which has this address; only --probe shows whether packets arrive there",
     "try it: --probe opens one connection, and closes it", SHOW_PORT},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_NONE, NO_ATTEMPT, 0, 0,
     "nothing on this machine seems to be in the way; only --probe shows whether {peer} answers",
     "try it: --probe opens one connection, and closes it", ""},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_HOME, NO_ANSWERS | SAW_DROPS | HOME_THERE, 0,
     ANY_DROP | NO_SOCKET | LISTENER_DROPS | UDP,
     "nothing came back in {elapsed}; {address} is an address{in}, but it is not known whether "
     "packets arrive there",
     "see which XDP programs the interfaces there have (ip link): they can drop packets without a "
     "trace",
     ""},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_NONE, UDP | NO_RESULT | SAW_DROPS, 0, ANY_DROP,
     "a datagram left by {interface}, and no error came back; UDP does not confirm that it arrived",
     "see on the machine with {address} whether the datagram arrives (tcpdump)", ""},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_NONE, CONNECTED | DATA_WAITS, 0, 0,
     "{peer} accepts connections, but has not acknowledged all data in time",
     "try again with a longer time (--for)", ""},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_NONE, REFUSED | STRAYS, 0, ANY_DROP | NO_SOCKET,
     "{peer} refused after {elapsed}; another network namespace of this machine refused a SYN at "
     "that moment, which a NAT rule may have led there",
     "see which refused connections it has (fastnet drops --all-netns)", ""},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_HOME, REFUSED | HOME_HERE | MISS_ANY, 0, SAW_DROPS,
     "refused after {elapsed}, and " NOBODY "; whether a NAT rule leads packets elsewhere is not "
     "known",
     "start the server, or check the port; run fastnet as root to be sure", SHOW_PORT},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_NONE, REFUSED, 0, SAW_DROPS,
     "refused after {elapsed}; who refused is not known, because fastnet could not watch dropped "
     "packets and resets",
     "run fastnet as root", ""},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_NONE, NO_RESULT, 0, SAW_DROPS,
     "no answer in {elapsed}; whether this machine dropped the packets is not known",
     "run fastnet as root", ""},
    {CAUSE_UNKNOWN, ENDING_UNKNOWN, AT_NONE, 0, 0, 0,
     "not known: what was seen does not prove a cause", "see the steps above", ""},
};

/* --- The verdict ------------------------------------------------------------------------------ */

static struct evidence_netns verdict_netns(const struct evidence *evidence,
                                           enum verdict_place place,
                                           const struct evidence_event *event)
{
    switch (place) {
    case AT_HERE:
        return evidence->here;
    case AT_EVENT:
        return event ? event->netns : (struct evidence_netns){.id = 0};
    case AT_HOME:
        return evidence->is_home_here ? evidence->here : event ? event->netns : evidence->home;
    case AT_TABLE:
        return evidence->flows_full;
    case AT_OFFENDER:
        return evidence->offender_home;
    default:
        return (struct evidence_netns){.id = 0};
    }
}

void verdict_find(const struct evidence *evidence, struct verdict *verdict)
{
    const uint64_t facts = facts_of(evidence);
    const struct verdict_rule *rule = verdict_rules;

    while ((facts & rule->seen) != rule->seen || (rule->any && !(facts & rule->any)) ||
           facts & rule->unless)
        rule++; /* the last rule always holds */
    const struct evidence_event *event =
        facts_event(evidence, (rule->seen | rule->any) & (ANY_DROP | NO_SOCKET | DROP_TOO_BIG));
    *verdict = (struct verdict){.cause = rule->cause,
                                .ending = rule->ending,
                                .netns = verdict_netns(evidence, rule->place, event)};
    verdict->is_other = verdict->netns.id && verdict->netns.id != evidence->here.id;
    const struct sentence sentence = {evidence, &verdict->netns, verdict->is_other, event, NULL};
    sentence_make(verdict->sentence, sizeof verdict->sentence, &sentence, rule->sentence);
    sentence_make(verdict->advice, sizeof verdict->advice, &sentence, rule->advice);
    sentence_make_command(verdict->command, sizeof verdict->command, &sentence, rule->command);
}

void verdict_first_address(const struct evidence *first, const struct evidence *other,
                           struct verdict *verdict)
{
    char works[TEXT_ADDRESS_MAX + 1], broken[TEXT_ADDRESS_MAX + 1];
    const struct verdict of_first = *verdict;

    *text_address(works, &other->peer.address) = '\0';
    *text_address(broken, &first->peer.address) = '\0';
    verdict->cause = CAUSE_FIRST_ADDRESS;
    verdict->ending = ENDING_ENDS;
    snprintf(verdict->sentence, sizeof verdict->sentence,
             "the address %s of %s does not work, but %s does: %.200s", broken,
             first->name ? first->name : "the name", works, of_first.sentence);
    snprintf(verdict->advice, sizeof verdict->advice,
             "remove this address from the name, or make it work: %.300s", of_first.advice);
}
