/* SPDX-License-Identifier: MIT */
/* Single facts that evidence proves. The table of verdicts.c combines them. */
#ifndef WHY_FACTS_H
#define WHY_FACTS_H

#include <stdint.h>

#include "why/evidence.h"

/* Facts are bits of a set. A fact is missing if a part of the evidence that it needs was not read.
 */
#define FACT(number) (UINT64_C(1) << (number))
/* The attempt. */
#define NO_ATTEMPT FACT(0)
#define CONNECTED  FACT(1)
#define NO_RESULT  FACT(2) /* no answer so far, or ETIMEDOUT */
#define NO_ANSWERS FACT(3) /* NO_RESULT, and the attempt had all its time */
#define REFUSED    FACT(4) /* by a reset; UDP: by the peer's ICMP message */
#define WAS_RESET  FACT(5) /* after the handshake */
#define DATA_LOST  FACT(6) /* after the handshake, only small segments were acknowledged */
#define NO_PORT    FACT(7)
#define FORBIDDEN  FACT(8)
#define LACKS      FACT(9) /* the child could not take over all that --as names */
#define UDP        FACT(10)
/* ICMP messages that ended the attempt. */
#define SAYS_NET        FACT(11)
#define SAYS_HOST       FACT(12)
#define SAYS_PORT       FACT(13)
#define SAYS_PROHIBITED FACT(14)
#define SAYS_TTL        FACT(15)
#define SAYS_OTHER      FACT(60)
#define SAYS_ANYTHING   (SAYS_NET | SAYS_HOST | SAYS_PORT | SAYS_PROHIBITED | SAYS_TTL | SAYS_OTHER)
#define SAID_BY_PEER    FACT(63) /* by the peer, so no router did */
#define SAID_HERE       FACT(16) /* by an own address of this network namespace */
/* This machine: name, way and limits. */
#define NO_NAME          FACT(17)
#define WAY_NONE         FACT(18) /* WAY_*: connect(2) failed with the same error, or was not called */
#define WAY_BLACKHOLE    FACT(19)
#define WAY_UNREACHABLE  FACT(20)
#define WAY_PROHIBIT     FACT(21)
#define WAY_RULE         FACT(22)
#define LINK_DOWN        FACT(23)
#define NEIGHBOUR_SILENT FACT(24)
#define TABLE_FULL       FACT(25) /* there is no room for a flow where a packet was dropped */
#define MTU_LEARNT       FACT(26)
/* Events: packets of this connection. */
#define RULE_HERE      FACT(27) /* rules here dropped each SYN, or each answer */
#define RULE_THERE     FACT(28) /* rules in another network namespace did so */
#define RULE_SOMETIMES FACT(29) /* some of these packets were dropped, and others passed */
#define NO_SOCKET      FACT(30) /* a packet arrived where no socket takes it */
#define DROP_RP_FILTER FACT(31)
#define DROP_NO_ROUTE  FACT(32)
#define DROP_TTL       FACT(33)
#define DROP_TOO_BIG   FACT(34)
#define DROP_OTHER     FACT(35) /* for a reason that the kernel names */
#define ANY_DROP                                                                                   \
    (RULE_HERE | RULE_THERE | RULE_SOMETIMES | DROP_RP_FILTER | DROP_NO_ROUTE | DROP_TTL |         \
     DROP_OTHER | DROP_NAMELESS)
#define NAMED_DROP (ANY_DROP & ~DROP_NAMELESS)
#define STRAYS     FACT(48) /* a SYN was dropped elsewhere that may be that of the attempt */
#define SAW_DROPS  FACT(36) /* dropped packets and resets were noted, and no event is lost */
/* The end of the way, if it is on this machine. */
#define HOME_HERE       FACT(37)          /* this network namespace has the address */
#define HOME_THERE      FACT(38)          /* another network namespace has the address */
#define LISTENER        FACT(39)          /* a socket takes connections there */
#define MISS_ANY        FACT(40)          /* no socket takes connections there */
#define MISS_NEAR(miss) FACT(40 + (miss)) /* the nearest miss: MISS_INTERFACE ... */
#define QUEUE_FULL      FACT(50)
#define HALF_OPEN_FULL  FACT(51)
#define LISTENER_DROPS  FACT(52) /* it dropped connections while the attempt was made */
#define MAY_TRANSLATE   FACT(53) /* a NAT rule may lead packets elsewhere */
#define MAY_DIVERT      FACT(49) /* a rule or program may give packets to another socket */
#define DROP_NAMELESS                                                                              \
    FACT(56)             /* for no reason that the kernel names: a route of type blackhole         \
                          */
#define MTU_NEW FACT(57) /* a router reported an MTU while the attempt was made */
#define OTHERS_FAILED                                                                              \
    FACT(59) /* attempts of others: refused, or nobody was reached; which is not known */
#define DATA_WAITS   FACT(58) /* sent after the handshake, and not acknowledged */
#define PORT_ALONE   FACT(61) /* the evidence is about clients of a port of this machine */
#define IS_REACHED   FACT(62) /* PORT_ALONE: a client connected while fastnet watched */
#define NOT_TAKEN    FACT(54) /* connections arrive where no socket takes them */
#define NOT_ACCEPTED FACT(55) /* connections arrive at a listener that does not accept now */

/* Returns all facts that the evidence proves. */
uint64_t facts_of(const struct evidence *evidence);

/* Returns the first event that proves one of the facts; NULL: no event does. */
const struct evidence_event *facts_event(const struct evidence *evidence, uint64_t facts);

#endif
