/* SPDX-License-Identifier: MIT */
/* Concludes from evidence where a connection ends. The doctor and `closed` use the same causes. */
#ifndef WHY_VERDICTS_H
#define WHY_VERDICTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/record/step.h"
#include "why/evidence.h"

/* The names, sentences and advice are in verdicts.c. */
enum cause {
    CAUSE_UNKNOWN,
    CAUSE_OPEN,
    CAUSE_NO_ADDRESS,    /* no address was found for the name */
    CAUSE_FIRST_ADDRESS, /* the first address of the name fails, and another works */
    CAUSE_NO_ROUTE,
    CAUSE_ROUTE_BLACKHOLE,
    CAUSE_ROUTE_UNREACHABLE,
    CAUSE_ROUTE_PROHIBIT,
    CAUSE_POLICY_RULE, /* a rule of ip-rule(8) ends the way */
    CAUSE_LINK_DOWN,
    CAUSE_NO_NEIGHBOUR,
    CAUSE_NO_LOCAL_PORT,
    CAUSE_TRACKING_FULL,
    CAUSE_NOT_PERMITTED, /* connect(2) is refused by a program of a control group, for example */
    CAUSE_NOBODY_LISTENS,
    CAUSE_LISTENS_LOOPBACK,
    CAUSE_LISTENS_ADDRESS,
    CAUSE_LISTENS_INTERFACE,
    CAUSE_LISTENS_NETNS,
    CAUSE_LISTENS_FAMILY,
    CAUSE_ACCEPT_QUEUE,
    CAUSE_HALF_OPEN_QUEUE,
    CAUSE_OWN_RULE_DROPS,
    CAUSE_OWN_RULE_REJECTS, /* answers with ICMP */
    CAUSE_OWN_RULE_RESETS,
    CAUSE_THEIR_RULE_DROPS, /* a rule in another network namespace of this machine */
    CAUSE_THEIR_RULE_REJECTS,
    CAUSE_THEIR_RULE_RESETS,
    CAUSE_RP_FILTER, /* this and the next three: in any network namespace of this machine */
    CAUSE_ROUTER_NO_ROUTE,
    CAUSE_ROUTER_TTL,
    CAUSE_DROPPED,         /* for another reason, which the kernel names */
    CAUSE_NET_UNREACHABLE, /* this and the next four: a router answers with ICMP */
    CAUSE_HOST_UNREACHABLE,
    CAUSE_PORT_UNREACHABLE,
    CAUSE_PROHIBITED,
    CAUSE_TOO_BIG,
    CAUSE_MTU,       /* large segments get no answer after the handshake */
    CAUSE_RESET,     /* by the peer, after the handshake */
    CAUSE_REFUSED,   /* by a machine elsewhere */
    CAUSE_NO_ANSWER, /* from machines elsewhere */
    CAUSES
};

/* "no-route" ...; NULL for any other number. */
const char *cause_name(uint64_t cause);
/* What the cause means, in a line; NULL for any other number. */
const char *cause_meaning(uint64_t cause);

enum { VERDICT_TEXT = 400 };

struct verdict {
    enum cause cause;
    enum ending ending;
    struct evidence_netns netns; /* the network namespace that it is about; id 0: none of this
                                    machine */
    bool is_other;               /* it is not evidence.here */
    char sentence[VERDICT_TEXT]; /* without a full stop */
    char advice[VERDICT_TEXT];
    char command[VERDICT_TEXT]; /* may be empty */
};

/* Finds the verdict: the first row of the table of causes that the evidence proves. Evidence may be
 * partial: a cause needs only its own parts. The verdict is never a guess; without a proof it is
 * CAUSE_UNKNOWN. */
void verdict_find(const struct evidence *evidence, struct verdict *verdict);

/* Makes the verdict about a name whose first address has the evidence `first` and the verdict
 * *verdict, which this verdict replaces, while `other` works. */
void verdict_first_address(const struct evidence *first, const struct evidence *other,
                           struct verdict *verdict);

#endif
