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

/* The members of FRA_* that a rule has only if it compares them. */
#define RULE_DESTINATION (UINT64_C(1) << 0)
#define RULE_SOURCE      (UINT64_C(1) << 1)
#define RULE_IIF         (UINT64_C(1) << 2)
#define RULE_OIF         (UINT64_C(1) << 3)
#define RULE_UIDS        (UINT64_C(1) << 4)
#define RULE_SPORTS      (UINT64_C(1) << 5)
#define RULE_DPORTS      (UINT64_C(1) << 6)
#define RULE_PREFIX      (UINT64_C(1) << 7) /* suppress_prefix */
#define RULE_GROUP       (UINT64_C(1) << 8) /* suppress_group */
/* The rule has an attribute that this decoder does not know, so what it matches is unknown. */
#define RULE_UNKNOWN (UINT64_C(1) << 9)

struct rule {
    uint64_t has;
    struct fib_rule_hdr header;
    uint32_t priority, table;
    uint32_t target;      /* of FR_ACT_GOTO: the priority of the next rule */
    uint32_t mark, mask;  /* mask 0: any mark */
    uint8_t protocol;     /* IPPROTO_*; 0: any */
    uint8_t l3mdev;       /* 1: for flows in a VRF, whose table is used */
    uint64_t tunnel;      /* id of a tunnel, which packets of sockets do not have; 0: any */
    struct text iif, oif; /* names of interfaces, borrowed */
    struct address destination, source;
    struct fib_rule_uid_range uids;
    struct fib_rule_port_range sports, dports;
    uint16_t sport_mask, dport_mask; /* 0: any port of the range; else compare these bits */
    uint8_t dscp, dscp_mask;         /* DSCP (RFC 2474) instead of header.tos */
    int32_t suppress_prefix;         /* routes with at most this prefix are not used; -1: all are */
    int32_t suppress_group; /* routes by interfaces of this group are not used; -1: all are */
};

/* Fills *rule from an RTM_NEWRULE. Returns 0, or -EBADMSG if the message is too short, lacks an
 * address that its header promises, or something is not a valid attribute. */
int rule_decode(const struct nlmsghdr *message, struct rule *rule);

/* A flow that leaves this machine, as rules see it. */
struct rule_flow {
    struct address destination, source; /* source: AF_UNSPEC if it is not known yet */
    uint16_t source_port, destination_port;
    uint8_t protocol;
    uint32_t mark, uid;
    const char *interface; /* name of the interface that the socket is bound to; "": none */
    bool in_vrf;           /* that interface is in a VRF, or is the VRF device */
    uint32_t vrf_table;    /* table of the VRF; 0: unknown */
};

enum rule_match { RULE_DIFFERS, RULE_MAY_MATCH, RULE_MATCHES };

/* Compares as fib_rule_match() of the kernel's net/core/fib_rules.c does. */
enum rule_match rule_matches(const struct rule *rule, const struct rule_flow *flow);

/* A table of routes in which the way may have ended. */
struct rule_table {
    uint32_t table;
    /* Of routes that cover the peer, the longest prefix of those that end the way, and of those
     * that send the kernel on to the next rule (ip-route(8): throw). -1: there is no such route. */
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
};

/* Takes the next rule of the dump. */
void rule_search_take(struct rule_search *search, const struct rule *rule);

#endif
