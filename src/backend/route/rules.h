/* SPDX-License-Identifier: MIT */
/* Policy rules (ip-rule(8)): their decoder, and the search for the rule that the kernel applied. */
#ifndef BACKEND_ROUTE_RULES_H
#define BACKEND_ROUTE_RULES_H

#include <linux/fib_rules.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>

#include "fastnet/address.h"
#include "fastnet/routing.h"
#include "fastnet/text.h"

/* Members of FRA_*; zeroes and empty texts: the rule does not compare them. */
struct policy_rule {
    struct fib_rule_hdr header;
    uint32_t priority, table;
    uint32_t target; /* FR_ACT_GOTO: the priority of the next rule */
    uint32_t mark, mask;
    uint8_t protocol;     /* IPPROTO_* */
    uint8_t l3mdev;       /* 1: for flows in a VRF, whose table is used */
    uint64_t tunnel;      /* id of a tunnel, which packets of sockets do not have */
    struct text iif, oif; /* names of interfaces, borrowed */
    struct address destination, source;
    struct fib_rule_uid_range uids; /* 0 to UINT32_MAX: any user */
    struct fib_rule_port_range sports, dports;
    uint16_t sport_mask, dport_mask; /* 0: all ports of the range; else only these bits count */
    uint8_t dscp, dscp_mask;         /* DSCP (RFC 2474) instead of header.tos */
    int32_t suppress_prefix;         /* routes with at most this prefix are not used; -1: all are */
    int32_t suppress_group; /* routes by interfaces of this group are not used; -1: all are */
    bool is_unknown;        /* has an attribute that this decoder does not know */
};

/* Fills *rule from an RTM_NEWRULE. Returns 0, or -EBADMSG if the message is too short, lacks an
 * address that its header promises, or something is not a valid attribute. */
int rule_decode(const struct nlmsghdr *message, struct policy_rule *rule);

/* A flow that leaves this machine, as rules see it. */
struct rule_flow {
    struct address destination, source; /* source: AF_UNSPEC if it is not known yet */
    uint16_t source_port, destination_port;
    uint8_t protocol;
    uint32_t mark, uid;
    const char *interface; /* name of the interface that the socket is bound to; "": none */
    uint32_t vrf_table;    /* table of the VRF that this interface is in, or is; 0: none */
};

enum rule_match { RULE_DIFFERS, RULE_MAY_MATCH, RULE_MATCHES };

/* Compares as fib_rule_match() of the kernel's net/core/fib_rules.c does. */
enum rule_match rule_matches(const struct policy_rule *rule, const struct rule_flow *flow);

/* A table of routes in which the way may have ended. */
struct rule_table {
    uint32_t table;
    /* The longest prefixes of routes that cover the peer; -1: no such route. ends: routes that end
     * the way. throws: routes that send the kernel on to the next rule (ip-route(8)). */
    int16_t ends, throws;
    bool may_differ; /* some of these routes may be for other flows */
};

enum { RULE_TABLES_MAX = 32 };

/* Searches the rules, in the order of the kernel's dump, for those that may have been applied. */
struct rule_search {
    const struct rule_flow *flow;
    int error;          /* errno with which the way ended; 0: it leads */
    uint32_t table;     /* if the way leads: the table of its route */
    uint8_t prefix;     /* the prefix of that route */
    bool has_prefix;    /* `prefix` is known */
    size_t table_count; /* if the way ended: tables in which it may have ended */
    struct rule_table tables[RULE_TABLES_MAX];
    uint32_t target;     /* rules with a lower priority are skipped */
    bool may_skip;       /* it is not certain that they are skipped */
    unsigned candidates; /* number of rules that may have been applied */
    bool first_is_sure;  /* the first of them has been applied */
    struct routing_rule first;
    bool needs_port; /* the answer depends on the source port of the flow, which is unknown */
};

/* Returns the entry of `tables` for this table, which is made if it does not exist; NULL if there
 * is no room. */
struct rule_table *rule_search_table(struct rule_search *search, uint32_t table);

/* Takes the next rule of the dump. */
void rule_search_take(struct rule_search *search, const struct policy_rule *rule);

#endif
