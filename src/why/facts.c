/* SPDX-License-Identifier: MIT */
#include "why/facts.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"

static uint64_t icmp_fact(const struct attempt_result *attempt)
{
    static const uint64_t codes[] = {
        [ICMP_NET_UNREACH] = SAYS_NET,       [ICMP_HOST_UNREACH] = SAYS_HOST,
        [ICMP_PORT_UNREACH] = SAYS_PORT,     [ICMP_NET_UNKNOWN] = SAYS_NET,
        [ICMP_HOST_UNKNOWN] = SAYS_HOST,     [ICMP_NET_ANO] = SAYS_PROHIBITED,
        [ICMP_HOST_ANO] = SAYS_PROHIBITED,   [ICMP_NET_UNR_TOS] = SAYS_NET,
        [ICMP_HOST_UNR_TOS] = SAYS_HOST,     [ICMP_PKT_FILTERED] = SAYS_PROHIBITED,
        [ICMP_PREC_CUTOFF] = SAYS_PROHIBITED};
    /* RFC 4443, 3.1 */
    static const uint64_t codes6[] = {SAYS_NET,  SAYS_PROHIBITED, SAYS_NET,       SAYS_HOST,
                                      SAYS_PORT, SAYS_PROHIBITED, SAYS_PROHIBITED};
    enum { ICMP6_UNREACHABLE = 1, ICMP6_TIME_EXCEEDED = 3 };
    const bool is_6 = attempt->offender.family == AF_INET6;
    const uint8_t code = attempt->icmp_code;

    if (attempt->icmp_type == (is_6 ? ICMP6_TIME_EXCEEDED : ICMP_TIME_EXCEEDED))
        return SAYS_TTL;
    if (attempt->icmp_type != (is_6 ? ICMP6_UNREACHABLE : ICMP_DEST_UNREACH))
        return SAYS_OTHER;
    if (is_6)
        return code < COUNT(codes6) ? codes6[code] : SAYS_OTHER;
    return code < COUNT(codes) && codes[code] ? codes[code] : SAYS_OTHER;
}

static uint64_t attempt_facts(const struct evidence *evidence)
{
    enum { LARGE = 1000 }; /* bytes of a segment that a smaller MTU could stop */
    const struct attempt_result *attempt = &evidence->attempt;
    const bool is_udp = evidence->protocol == IPPROTO_UDP;
    const bool failed = attempt->state == ATTEMPT_FAILED;
    const bool connected = attempt->state == ATTEMPT_CONNECTED;
    uint64_t facts = attempt->lacks ? LACKS : 0;

    if (attempt->state == ATTEMPT_NONE)
        return facts | NO_ATTEMPT;
    if (failed && attempt->has_icmp) {
        facts |= icmp_fact(attempt) | (evidence->offender_is_here ? SAID_HERE : 0);
        if (address_equal(&attempt->offender, &evidence->peer.address))
            facts |= SAID_BY_PEER;
        if (is_udp && facts & SAYS_PORT && facts & SAID_BY_PEER)
            facts = (facts & ~SAYS_PORT) | REFUSED;
        return facts;
    }
    if (connected)
        facts |= CONNECTED | (attempt->reset ? WAS_RESET : 0);
    if (connected && attempt->sent > attempt->acked)
        facts |= DATA_WAITS;
    if (connected && (attempt->mss >= LARGE || evidence->mtu_is_new) &&
        attempt->sent >= attempt->mss && attempt->acked && attempt->acked < attempt->mss &&
        attempt->data_retransmits > 1)
        facts |= DATA_LOST;
    if (attempt->state == ATTEMPT_WAITS ||
        (failed && (attempt->error == ETIMEDOUT || (is_udp && attempt->error == EPERM))))
        facts |= NO_RESULT | (evidence->has_waited || failed ? NO_ANSWERS : 0);
    if (failed && attempt->error == ECONNREFUSED)
        facts |= evidence->is_of_others ? OTHERS_FAILED : REFUSED;
    if (failed && attempt->at_once && attempt->error == EADDRNOTAVAIL)
        facts |= NO_PORT;
    if (failed && attempt->at_once && !is_udp &&
        (attempt->error == EPERM || (attempt->error == EACCES && evidence->read & EVIDENCE_ROUTE &&
                                     evidence->route.end == ROUTING_LEADS)))
        facts |= FORBIDDEN;
    return facts;
}

/* Returns whether the neighbour did not answer. `FAILED` may be old, so the state must have changed
 * during the attempt; without an attempt, a packet for the neighbour must have been sent just now.
 */
static bool neighbour_is_silent(const struct evidence *evidence)
{
    enum { ASKED_MS = 1500, USED_MS = 15000, SLACK_MS = 500 };
    const struct evidence_neighbour *neighbour = &evidence->neighbour;
    const struct attempt_result *attempt = &evidence->attempt;
    const uint64_t tried = attempt->elapsed / CLOCK_MILLISECOND;

    if (!(evidence->read & EVIDENCE_NEIGHBOUR) ||
        !(neighbour->state & (NUD_INCOMPLETE | NUD_FAILED)))
        return false;
    if (attempt->state == ATTEMPT_NONE)
        return neighbour->state == NUD_FAILED ? neighbour->used_ms <= USED_MS
                                              : neighbour->updated_ms >= ASKED_MS;
    return neighbour->state == NUD_FAILED ? neighbour->updated_ms <= tried + SLACK_MS
                                          : tried >= ASKED_MS;
}

static uint64_t way_facts(const struct evidence *evidence)
{
    static const uint64_t ends[] = {[ROUTING_NONE] = WAY_NONE,
                                    [ROUTING_BLACKHOLE] = WAY_BLACKHOLE,
                                    [ROUTING_UNREACHABLE] = WAY_UNREACHABLE,
                                    [ROUTING_PROHIBIT] = WAY_PROHIBIT};
    const struct attempt_result *attempt = &evidence->attempt;
    const struct routing_answer *route = &evidence->route;
    const bool agree =
        attempt->state == ATTEMPT_NONE || (attempt->at_once && attempt->error == route->error);
    uint64_t facts = evidence->no_name && evidence->read & EVIDENCE_NAME ? NO_NAME : 0;

    if (evidence->read & EVIDENCE_ROUTE && agree && route->end < COUNT(ends) && ends[route->end])
        facts |= route->rule.known && route->rule.ends ? WAY_RULE : ends[route->end];
    if (evidence->read & EVIDENCE_ROUTE && route->mtu_is_learnt)
        facts |= MTU_LEARNT | (evidence->mtu_is_new ? MTU_NEW : 0);
    if (evidence->read & EVIDENCE_LINK && !(evidence->is_up && evidence->has_link))
        facts |= LINK_DOWN;
    return facts | (neighbour_is_silent(evidence) ? NEIGHBOUR_SILENT : 0);
}

/* Reasons of drops (SKB_DROP_REASON_* of the kernel's net/dropreason-core.h) and their facts. */
static const struct reason {
    const char *name;
    uint64_t fact; /* 0: the drop proves nothing */
} reasons[] = {
    {"NETFILTER_DROP", RULE_THERE},
    {"IP_RPFILTER", DROP_RP_FILTER},
    {"IP_INNOROUTES", DROP_NO_ROUTE},
    {"IP_OUTNOROUTES", DROP_NO_ROUTE},
    {"IP_INADDRERRORS", DROP_NO_ROUTE},
    {"IP_INHDR", DROP_TTL}, /* the kernel's own SYN has no other fault in its header */
    {"PKT_TOO_BIG", DROP_TOO_BIG},
    {"TCP_LISTEN_OVERFLOW", LISTENER_DROPS},
    {"NEIGH_FAILED", 0}, /* NEIGH_*: the state of the neighbour says more */
    {"NEIGH_QUEUEFULL", 0},
    {"OTHERHOST", 0}, /* a bridge sends copies to several ports */
    {"PACKET_SOCK_ERROR", 0},
    {"NOT_SPECIFIED", DROP_NAMELESS},
};

/* Before the handshake has ended, only drops of its packets prove something. */
static uint64_t event_fact(const struct evidence *evidence, const struct evidence_event *event)
{
    const struct attempt_event *noted = &event->event;
    const bool can_decide = noted->flags & TH_SYN || evidence->protocol == IPPROTO_UDP ||
                            evidence->is_of_others || evidence->attempt.state == ATTEMPT_CONNECTED;

    if (noted->type == ATTEMPT_RESET_RECEIVED || noted->of_icmp || !noted->reason)
        return 0;
    if (strcmp(noted->reason, "NO_SOCKET") == 0) /* not an answer to a closed socket */
        return event->is_answer == (noted->type == ATTEMPT_RESET_SENT) ? NO_SOCKET : 0;
    if (noted->type == ATTEMPT_RESET_SENT)
        return 0;
    if (!can_decide)
        return 0;
    for (const struct reason *reason = reasons; reason < reasons + COUNT(reasons); reason++)
        if (strcmp(reason->name, noted->reason) == 0)
            return reason->fact == RULE_THERE && event->is_here ? RULE_HERE : reason->fact;
    return evidence->attempt.state == ATTEMPT_CONNECTED ? 0 : DROP_OTHER;
}

/* Drops count only if no packet could pass: a rule must have dropped each SYN, also the repeated
 * SYNs. */
static uint64_t event_facts(const struct evidence *evidence)
{
    const uint64_t sent = 1 + (uint64_t)evidence->attempt.retransmits;
    uint64_t rules[2] = {0}, others = 0, facts = 0;

    for (size_t i = 0; i < evidence->event_count; i++) {
        const struct evidence_event *event = &evidence->events[i];
        const uint64_t fact = event_fact(evidence, event);
        rules[fact == RULE_THERE] += (fact & (RULE_HERE | RULE_THERE)) ? event->event.count : 0;
        others += (fact & ANY_DROP & ~(RULE_HERE | RULE_THERE)) ? event->event.count : 0;
        facts |= fact;
        if (evidence->flows_full.id && evidence->flows_full.id == event->netns.id &&
            fact & (RULE_HERE | RULE_THERE))
            facts |= TABLE_FULL;
    }
    if (rules[0] < sent && rules[1] < sent && facts & (RULE_HERE | RULE_THERE))
        facts = (facts & ~(RULE_HERE | RULE_THERE)) | RULE_SOMETIMES;
    if (others && others < sent)
        facts = (facts & (~ANY_DROP | RULE_HERE | RULE_THERE)) | RULE_SOMETIMES;
    if (evidence->read & EVIDENCE_DROPS && evidence->read & EVIDENCE_RESETS &&
        !evidence->events_lost)
        facts |= SAW_DROPS;
    return facts | (evidence->has_strays ? STRAYS : 0);
}

static uint64_t home_facts(const struct evidence *evidence)
{
    const struct evidence_listener *listener = &evidence->listener;
    uint64_t facts = (evidence->diversions & DIVERSION_NAT ? MAY_TRANSLATE : 0) |
                     (evidence->diversions & DIVERSION_OTHER ? MAY_DIVERT : 0);

    facts |= evidence->is_home_here ? HOME_HERE : evidence->home.id ? HOME_THERE : 0;
    if (listener->miss == MISS_NONE)
        facts |= LISTENER;
    else if (evidence->read & EVIDENCE_LISTENERS)
        facts |= MISS_ANY | (listener->miss == MISS_NO_LISTENER ? 0 : MISS_NEAR(listener->miss));
    if (!(evidence->read & EVIDENCE_QUEUE) || !(facts & LISTENER))
        return facts;
    if (listener->queue > listener->queue_limit)
        facts |= QUEUE_FULL;
    if (!listener->has_cookies && listener->half_open_limit &&
        listener->half_open >= listener->half_open_limit)
        facts |= HALF_OPEN_FULL;
    return facts | (listener->dropped ? LISTENER_DROPS : 0);
}

const struct evidence_event *facts_event(const struct evidence *evidence, uint64_t facts)
{
    for (size_t i = 0; i < evidence->event_count; i++)
        if (event_fact(evidence, &evidence->events[i]) & facts)
            return &evidence->events[i];
    return NULL;
}

/* If another network namespace has the address, this alone proves nothing: several can have it. */
uint64_t facts_of(const struct evidence *evidence)
{
    uint64_t facts = attempt_facts(evidence) | way_facts(evidence) | event_facts(evidence) |
                     home_facts(evidence);
    const bool arrives = facts & HOME_HERE && !(facts & (MAY_TRANSLATE | ANY_DROP)) &&
                         !(facts & NO_ATTEMPT && facts & MAY_DIVERT);

    if (evidence->protocol == IPPROTO_UDP)
        facts |= UDP;
    if (evidence->is_port)
        facts |= PORT_ALONE | (evidence->fresh ? IS_REACHED : 0);
    if ((arrives || facts & NO_SOCKET) && facts & (NO_ATTEMPT | REFUSED | OTHERS_FAILED))
        facts |= NOT_TAKEN;
    if ((arrives && facts & NO_ATTEMPT) || evidence->is_port ||
        (facts & NO_ANSWERS && facts & LISTENER_DROPS && !(facts & (ANY_DROP | UDP))))
        facts |= NOT_ACCEPTED;
    return facts;
}
