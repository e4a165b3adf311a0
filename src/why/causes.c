/* SPDX-License-Identifier: MIT */
/* The meaning of each cause: fastnet why --list, and the table of fastnet-why(8). */
#include "fastnet/array.h"
#include "why/verdicts.h"

const char *cause_meaning(uint64_t cause)
{
    static const char meanings[][72] = {
        [CAUSE_UNKNOWN] = "no cause is proven",
        [CAUSE_OPEN] = "the connection can be made",
        [CAUSE_NO_ADDRESS] = "no address was found for the name",
        [CAUSE_FIRST_ADDRESS] = "the first address of the name is broken, another address works",
        [CAUSE_NO_ROUTE] = "no route leads to the address",
        [CAUSE_ROUTE_BLACKHOLE] = "a route of type blackhole discards the packets",
        [CAUSE_ROUTE_UNREACHABLE] = "a route of type unreachable refuses the packets",
        [CAUSE_ROUTE_PROHIBIT] = "a route of type prohibit forbids the packets",
        [CAUSE_POLICY_RULE] = "a policy rule (ip-rule(8)) stops the packets",
        [CAUSE_LINK_DOWN] = "the interface is down, or has no carrier",
        [CAUSE_NO_NEIGHBOUR] = "the next machine on the way does not answer",
        [CAUSE_NO_LOCAL_PORT] = "no local port is free",
        [CAUSE_TRACKING_FULL] = "the table of connection tracking is full",
        [CAUSE_NOT_PERMITTED] = "a policy of this machine refuses connect(2)",
        [CAUSE_NOBODY_LISTENS] = "no socket listens on the port",
        [CAUSE_LISTENS_LOOPBACK] = "a socket listens, but only on a loopback address",
        [CAUSE_LISTENS_ADDRESS] = "a socket listens, but on another address",
        [CAUSE_LISTENS_INTERFACE] = "a socket listens, but only on another interface",
        [CAUSE_LISTENS_NETNS] = "a socket listens, but in another network namespace",
        [CAUSE_LISTENS_FAMILY] = "a socket listens, but only for the other IP version",
        [CAUSE_ACCEPT_QUEUE] = "the accept queue of the listener is full",
        [CAUSE_HALF_OPEN_QUEUE] = "the queue of half-open connections is full, without SYN cookies",
        [CAUSE_OWN_RULE_DROPS] = "a firewall rule of this machine drops the packets",
        [CAUSE_OWN_RULE_REJECTS] = "a firewall rule of this machine rejects with an ICMP message",
        [CAUSE_OWN_RULE_RESETS] = "a firewall rule of this machine rejects with a reset",
        [CAUSE_THEIR_RULE_DROPS] = "a firewall rule in another network namespace drops the packets",
        [CAUSE_THEIR_RULE_REJECTS] =
            "a firewall rule in another network namespace rejects with ICMP",
        [CAUSE_THEIR_RULE_RESETS] = "a firewall rule in another network namespace sends a reset",
        [CAUSE_RP_FILTER] = "the reverse path filter (rp_filter) drops the packets",
        [CAUSE_ROUTER_NO_ROUTE] = "this machine, as a router, has no route for the packets",
        [CAUSE_ROUTER_TTL] = "the TTL of the packets ends at a router",
        [CAUSE_DROPPED] = "the kernel drops the packets for another reason, which it names",
        [CAUSE_NET_UNREACHABLE] = "a router answers that it has no route",
        [CAUSE_HOST_UNREACHABLE] = "a router answers that it cannot reach the machine",
        [CAUSE_PORT_UNREACHABLE] = "a machine rejects the port with an ICMP message",
        [CAUSE_PROHIBITED] = "a machine answers that the connection is prohibited",
        [CAUSE_TOO_BIG] = "a router reported that packets are too big, and they are lost",
        [CAUSE_MTU] = "after the handshake, large packets are lost without a message",
        [CAUSE_RESET] = "the peer accepts the connection, and resets it",
        [CAUSE_REFUSED] = "another machine refuses the connection",
        [CAUSE_NO_ANSWER] = "packets left this machine, and nothing came back",
    };

    return cause < COUNT(meanings) ? meanings[cause] : NULL;
}
