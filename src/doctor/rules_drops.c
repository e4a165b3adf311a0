/* SPDX-License-Identifier: MIT */
/* Dropped packets: a rule of its own, and evidence for other rules. */
#include <inttypes.h>
#include <netinet/in.h>
#include <string.h>

#include "doctor/rules.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/drop_reasons.h"
#include "fastnet/namespace.h"
#include "makers/local_addresses.h"

/* Reasons that other rules report. of_peer: count only packets to the finding's peer. */
static const struct {
    const char *reason, *rule;
    bool of_peer;
} evidence[] = {
    {"SOCKET_RCVBUFF", "udp-buffer", false},
    {"TCP_LISTEN_OVERFLOW", "accept-queue", false},
    {"NETFILTER_DROP", "conntrack-full", false},
    {"NETFILTER_DROP", "no-answer", true},
    {"NETFILTER_DROP", "peer-gone", true},
    {"NETFILTER_DROP", "refused", true},
    {"NEIGH_FAILED", "no-answer", true},
    {"NEIGH_QUEUEFULL", "no-answer", true},
    {"NEIGH_CREATEFAIL", "neighbour-table", false},
    {"PROTO_MEM", "udp-memory", false},
    {"CPU_BACKLOG", "softnet", false},
    {"QDISC_DROP", "queue-drops", false},
    {"QDISC_OVERLIMIT", "queue-drops", false},
    {"FQ_FLOW_LIMIT", "queue-drops", false},
    {"FQ_BAND_LIMIT", "queue-drops", false},
    {"IP_RPFILTER", "reverse-path", false},
    {"FRAG_REASM_TIMEOUT", "fragments", false},
    {"IP_CSUM", "checksums", false},
    {"TCP_CSUM", "checksums", false},
    {"UDP_CSUM", "checksums", false},
    {"SKB_CSUM", "checksums", false},
    {"ICMP_CSUM", "checksums", false},
};

/* Returns whether the packet was sent to `peer`: an address with its port, or the address alone if
 * the port of a connection is unknown. A packet that this machine sends to itself may be dropped
 * when it is received: then the peer is the local end. */
static bool is_to(const struct record *record, const char *peer)
{
    const struct drop_record *drop = &record->drop;
    char text[ENDPOINT_TEXT];

    return record->has & DROP_PORTS && drop->protocol == IPPROTO_TCP &&
           (strcmp(endpoint_text(text, &drop->remote), peer) == 0 ||
            strcmp(endpoint_text(text, &drop->local), peer) == 0 ||
            strcmp(address_text(text, &drop->remote.address), peer) == 0);
}

uint64_t drops_of(const struct examination *examination, const char *reason, const char *peer)
{
    const struct drop_probe *probe = examination->drops;
    const uint64_t own = namespace_own_id();
    uint64_t packets = 0;

    for (size_t i = 0; probe && i < drop_probe_count(probe); i++) {
        const struct drop *drop = drop_probe_at(probe, i);
        if (own && drop->netns == own && text_is(drop->record.drop.reason, reason) &&
            (!peer || is_to(&drop->record, peer)))
            packets += drop->record.drop.drops;
    }
    return packets;
}

/* --- Broadcasts ------------------------------------------------------------------------------- */

static bool is_to_group(const struct drop *drop, struct local_addresses *own,
                        const struct examination *examination)
{
    const struct record *record = &drop->record;
    const struct address *to = &record->drop.local.address;

    if (!(record->has & DROP_PORTS) || record->drop.protocol != IPPROTO_UDP ||
        !record->drop.received || drop->others)
        return false;
    if (address_is_multicast(to))
        return true;
    if (!own->count && examination->engine)
        (void)local_addresses_read(own, examination->engine, false);
    return local_addresses_find(own, to) == RECEPTION_ALL;
}

uint64_t drops_to_groups(const struct examination *examination, const char *reason,
                         const struct drop **other)
{
    const struct drop_probe *probe = examination->drops;
    const uint64_t own = namespace_own_id();
    struct local_addresses addresses = {.networks = NULL};
    uint64_t packets = 0;

    *other = NULL;
    for (size_t i = 0; probe && i < drop_probe_count(probe); i++) {
        const struct drop *drop = drop_probe_at(probe, i);
        if (!own || drop->netns != own || !text_is(drop->record.drop.reason, reason))
            continue;
        if (is_to_group(drop, &addresses, examination))
            packets += drop->record.drop.drops;
        else if (!*other)
            *other = drop;
    }
    local_addresses_finish(&addresses);
    return packets;
}

/* --- Evidence and the rule -------------------------------------------------------------------- */

void drops_add_evidence(struct finding *finding, const struct examination *examination)
{
    const char *rule = examination->rule->text.name;

    for (size_t i = 0; i < COUNT(evidence) && examination->drops; i++) {
        const char *peer = evidence[i].of_peer ? finding->subject : NULL;
        const uint64_t packets = strcmp(rule, evidence[i].rule) == 0
                                     ? drops_of(examination, evidence[i].reason, peer)
                                     : 0;
        if (packets)
            finding_evidence(finding, "the kernel dropped %" PRIu64 " packet%s: %s", packets,
                             packets == 1 ? "" : "s", evidence[i].reason);
    }
}

static void emit_drops(struct examination *examination, const struct drop *first,
                       const struct drop_reason *reason, uint64_t packets)
{
    const struct drop_record *drop = &first->record.drop;
    struct finding finding;

    finding_begin(&finding, examination, SEVERITY_WARNING, "%s", reason->name);
    finding_summary(&finding, "%" PRIu64 " packets were dropped in %.7g s: %s", packets,
                    seconds_between(examination), reason->meaning);
    if (first->record.has & DROP_ADDRESSES) {
        char local[ENDPOINT_TEXT], remote[ENDPOINT_TEXT];
        finding_evidence(&finding, "one of them was between %s and %s",
                         endpoint_text(local, &drop->local), endpoint_text(remote, &drop->remote));
    }
    finding_evidence(&finding, "reason %s", reason->name);
    finding_emit(&finding, examination, ABSENT, ABSENT, packets);
}

/* Reports each reason once, at its first row: rows with the most packets come first. */
void rule_drops(struct examination *examination)
{
    enum { EVERY_SECOND = 10 };
    const struct drop_probe *probe = examination->drops;
    const uint64_t own = namespace_own_id();

    for (size_t i = 0; probe && own && i < drop_probe_count(probe); i++) {
        const struct drop *drop = drop_probe_at(probe, i);
        const uint64_t elapsed = drop->record.drop.elapsed;
        const struct text name = drop->record.drop.reason;
        const struct drop_reason *reason = drop_reason_find(name, as_text(NULL));
        bool skip = drop->netns != own || !reason || reason->class != DROP_IS_LOSS ||
                    text_is(name, "NOT_SPECIFIED");
        for (size_t j = 0; j < COUNT(evidence) && !skip; j++) /* another rule reports it */
            skip = text_is(name, evidence[j].reason);
        for (size_t j = 0; j < i && !skip; j++)
            skip = drop_probe_at(probe, j)->netns == own &&
                   text_is(drop_probe_at(probe, j)->record.drop.reason, reason->name);
        uint64_t packets = skip ? 0 : drops_of(examination, reason->name, NULL);
        if (text_is(name, "IP_INNOROUTES"))
            packets -= packets < examination->explained ? packets : examination->explained;
        /* the broadcasts of one card come back by another card in the same network */
        if (packets && text_is(name, "IP_LOCAL_SOURCE"))
            packets -= drops_to_groups(examination, reason->name, &drop);
        if (packets / EVERY_SECOND >= elapsed / CLOCK_SECOND && packets >= EVERY_SECOND)
            emit_drops(examination, drop, reason, packets);
    }
}
