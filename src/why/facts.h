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
#define NO_ATTEMPT    FACT(0)
#define CONNECTED     FACT(1)
#define NO_RESULT     FACT(2) /* no answer so far, or ETIMEDOUT */
#define NO_ANSWERS    FACT(3) /* NO_RESULT, and the attempt had all its time */
#define REFUSED       FACT(4) /* by a reset; UDP: by the peer's ICMP message */
#define OTHERS_FAILED FACT(5) /* attempts of others: refused, or no answer; which is unknown */
#define WAS_RESET     FACT(6) /* after the handshake */
#define DATA_LOST     FACT(7) /* after the handshake, only small segments were acknowledged */
#define DATA_WAITS    FACT(8) /* sent after the handshake, and not acknowledged */
#define NO_PORT       FACT(9)
#define FORBIDDEN     FACT(10)
#define LACKS         FACT(11) /* the child could not take over all that --as names */
#define UDP           FACT(12)
/* ICMP messages that ended the attempt. */
#define SAYS_NET        FACT(13)
#define SAYS_HOST       FACT(14)
#define SAYS_PORT       FACT(15)
#define SAYS_PROHIBITED FACT(16)
#define SAYS_TTL        FACT(17)
#define SAYS_OTHER      FACT(18)
#define SAID_BY_PEER    FACT(19) /* so no router sent it */
#define SAID_HERE       FACT(20) /* by an own address of this network namespace */
/* This machine: name, way and limits. */
#define NO_NAME          FACT(21)
#define WAY_NONE         FACT(22) /* WAY_*: connect(2) failed with the same error, or was not called */
#define WAY_BLACKHOLE    FACT(23)
#define WAY_UNREACHABLE  FACT(24)
#define WAY_PROHIBIT     FACT(25)
#define WAY_RULE         FACT(26)
#define LINK_DOWN        FACT(27)
#define NEIGHBOUR_SILENT FACT(28)
#define TABLE_FULL       FACT(29) /* there is no room for a flow where a packet was dropped */
#define MTU_LEARNT       FACT(30)
#define MTU_NEW          FACT(31) /* a router reported an MTU while the attempt was made */
/* Events: packets of this connection. */
#define RULE_HERE      FACT(32) /* rules here dropped each SYN, or each answer */
#define RULE_THERE     FACT(33) /* rules in another network namespace did so */
#define RULE_SOMETIMES FACT(34) /* some of these packets were dropped, and others passed */
#define NO_SOCKET      FACT(35) /* a packet arrived where no socket takes it */
#define DROP_RP_FILTER FACT(36)
#define DROP_NO_ROUTE  FACT(37)
#define DROP_TTL       FACT(38)
#define DROP_TOO_BIG   FACT(39)
#define DROP_OTHER     FACT(40) /* for a reason that the kernel names */
#define DROP_NAMELESS  FACT(41) /* without a name, as by a route of type blackhole */
#define STRAYS         FACT(42) /* a SYN was dropped elsewhere that may be that of the attempt */
#define SAW_DROPS      FACT(43) /* dropped packets and resets were noted, and no event is lost */
/* The end of the way, if it is on this machine. */
#define HOME_HERE      FACT(44) /* this network namespace has the address */
#define HOME_THERE     FACT(45) /* another network namespace has the address */
#define LISTENER       FACT(46) /* a socket takes connections there */
#define MISS_ANY       FACT(47) /* no socket takes connections there */
#define QUEUE_FULL     FACT(48)
#define HALF_OPEN_FULL FACT(49)
#define LISTENER_DROPS FACT(50) /* it dropped connections while the attempt was made */
#define MAY_TRANSLATE  FACT(51) /* a NAT rule may lead packets elsewhere */
#define MAY_DIVERT     FACT(52) /* a rule or program may give packets to another socket */
#define NOT_TAKEN      FACT(53) /* connections arrive where no socket takes them */
#define NOT_ACCEPTED   FACT(54) /* connections arrive at a listener that does not accept now */
#define PORT_ALONE     FACT(55) /* the evidence is about clients of a port of this machine */
#define IS_REACHED     FACT(56) /* PORT_ALONE: a client connected while fastnet watched */
/* The nearest miss: MISS_INTERFACE (2) to MISS_OTHER (7) of enum evidence_miss. */
#define MISS_NEAR(miss) FACT(56 + (miss))
/* Sets of which one fact is enough. */
#define SAYS_ANYTHING (SAYS_NET | SAYS_HOST | SAYS_PORT | SAYS_PROHIBITED | SAYS_TTL | SAYS_OTHER)
#define NAMED_DROP                                                                                 \
    (RULE_HERE | RULE_THERE | RULE_SOMETIMES | DROP_RP_FILTER | DROP_NO_ROUTE | DROP_TTL |         \
     DROP_OTHER)
#define ANY_DROP (NAMED_DROP | DROP_NAMELESS)

/* Returns all facts that the evidence proves. */
uint64_t facts_of(const struct evidence *evidence);

/* Returns the first event that proves one of the facts; NULL: no event does. */
const struct evidence_event *facts_event(const struct evidence *evidence, uint64_t facts);

#endif
