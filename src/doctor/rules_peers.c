/* SPDX-License-Identifier: MIT */
/* Other machines and the way to them: peers that acknowledge, answer or read nothing. */
#include <inttypes.h>
#include <stdio.h>

#include "doctor/rules.h"
#include "fastnet/array.h"

static bool is_same_peer(const struct suspect *a, const struct suspect *b)
{
    return a->remote.port == b->remote.port &&
           address_equal(&a->remote.address, &b->remote.address);
}

/* Adds up to three peers of the suspects, each once: "10.2.0.2:8080 x3: 600 bytes ..." */
static void add_examples(struct finding *finding, const struct suspects *suspects, const char *what)
{
    size_t left = 3;

    for (size_t i = 0; i < suspects->kept && left; i++) {
        const struct suspect *suspect = &suspects->worst[i];
        char remote[ENDPOINT_TEXT], times[32] = "";
        uint64_t count = 0, value = 0;
        size_t first = suspects->kept;
        for (size_t j = suspects->kept; j-- > 0;)
            if (is_same_peer(suspect, &suspects->worst[j]) &&
                suspect->is_probed == suspects->worst[j].is_probed) {
                first = j;
                count += suspects->worst[j].given_up ? suspects->worst[j].given_up : 1;
                value += suspects->worst[j].value;
            }
        if (first < i)
            continue;
        if (count > 1)
            snprintf(times, sizeof times, " x%" PRIu64, count);
        finding_evidence(finding, "%s%s: %" PRIu64 " %s", endpoint_text(remote, &suspect->remote),
                         times, value,
                         suspect->is_probed ? "keepalive probes without an answer" : what);
        left--;
    }
}

/* Returns how many packets these connections have sent again to the peer since `before`. */
static uint64_t sent_again(const struct suspects *now, const struct suspects *before,
                           const struct suspect *peer)
{
    uint64_t again = 0;

    for (size_t i = 0; i < now->kept; i++) {
        const struct suspect *suspect = &now->worst[i];
        again += is_same_peer(peer, suspect) ? suspect->retransmits : 0;
        for (size_t j = 0; is_same_peer(peer, suspect) && j < before->kept; j++)
            if (before->worst[j].inode == suspect->inode &&
                before->worst[j].retransmits <= suspect->retransmits)
                again -= before->worst[j].retransmits;
    }
    return again;
}

/* Finds why nothing comes from the peer. */
static void explain_silence(struct finding *finding, const struct examination *examination,
                            enum suspicion suspicion)
{
    const struct suspects *now = &examination->now->sockets.suspects[suspicion];
    const struct suspect *peer = now->worst;
    const uint64_t again = sent_again(now, &examination->before->sockets.suspects[suspicion], peer);
    const struct attempt_result attempt = {
        .state = ATTEMPT_WAITS,
        .elapsed = examination->before->at ? examination->now->at - examination->before->at : 0,
        .retransmits = again ? (uint32_t)again - 1 : 0,
        .sent = suspicion == SILENT_PEERS && !peer->is_probed ? peer->value : 0,
    };

    if ((suspicion == SILENT_PEERS || suspicion == NO_ANSWERS) && !peer->silent_gateway)
        finding_explain(finding, examination, now, &peer->remote, &attempt);
}

/* Makes a finding about the worst connection, with the number of all connections. */
static void emit_peers(struct examination *examination, enum suspicion suspicion, const char *what,
                       const char *unit)
{
    const struct reading *now = examination->now;
    const struct suspects *suspects = &now->sockets.suspects[suspicion];
    const struct suspect *worst = suspects->worst;
    char process[PROCESS_TEXT], remote[ENDPOINT_TEXT];
    bool to_others = false;
    struct finding finding;

    if (!suspects->kept)
        return;
    for (size_t i = 1; i < suspects->kept; i++)
        to_others |= !is_same_peer(worst, &suspects->worst[i]);
    finding_begin(&finding, examination, SEVERITY_WARNING, "%s",
                  endpoint_text(remote, &worst->remote));
    if (worst->given_up && !worst->pid)
        snprintf(process, sizeof process, "a program");
    else if (worst->given_up)
        finding_process(&finding, process, worst->process, worst->pid);
    else
        process_text(process, examination, &finding, worst->inode);
    explain_silence(&finding, examination, suspicion);
    finding_summary(&finding, "%s waits for %s: %s%s%s (%" PRIu64 " connection%s%s)", process,
                    remote, what, *finding.cause ? "; " : "", finding.cause, suspects->count,
                    suspects->count == 1 ? "" : "s", to_others ? ", also to others" : "");
    add_examples(&finding, suspects, unit);
    if (worst->given_up)
        finding_evidence(&finding, "programs gave up %" PRIu32 " of these attempts in %.7g s",
                         worst->given_up, seconds_between(examination));
    if (worst->silent_gateway) {
        char address[ENDPOINT_TEXT];
        finding.record.finding.advice = as_text("first follow the advice of the rule gateway");
        finding_evidence(&finding, "the gateway %s does not answer",
                         address_text(address, &now->silent[worst->silent_gateway - 1].address));
    }
    finding_emit(&finding, examination, suspects->count, ABSENT, ABSENT);
}

void rule_peer_not_reading(struct examination *examination)
{
    emit_peers(examination, CLOSED_WINDOWS,
               "the program there does not read, its window stays closed", "bytes not sent");
}

/* Whether at least 1 % of all connections are affected. Fewer are usual: machines go away. */
static bool peers_are_many(const struct examination *examination, enum suspicion suspicion)
{
    const struct sockets_reading *sockets = &examination->now->sockets;

    return reaches(sockets->suspects[suspicion].count, 1, sockets->connections);
}

/* Returns whether the worst suspect sends large segments to an address that was heard lately. */
static bool hears_small_ones(const struct examination *examination, enum suspicion suspicion)
{
    const struct sockets_reading *sockets = &examination->now->sockets;
    const struct suspect *worst = sockets->suspects[suspicion].worst;

    return sockets->suspects[suspicion].kept && worst->large &&
           sockets_heard(sockets, &worst->remote.address);
}

/* At a terminal the finding waits for the second reading, because dropped packets may explain it.
 * Then it is shown even if the peer answers again. */
void rule_peer_gone(struct examination *examination)
{
    const struct reading *now = examination->now;

    if (examination->is_first && examination->drops)
        return;
    if (examination->follows_first && !now->sockets.suspects[SILENT_PEERS].kept)
        examination->now = examination->before;
    if (peers_are_many(examination, SILENT_PEERS) && !hears_small_ones(examination, SILENT_PEERS))
        emit_peers(examination, SILENT_PEERS,
                   "the peer has sent nothing for more than 10 s, not even an ACK",
                   "bytes not acknowledged");
    examination->now = now;
}

const char *interface_name(const struct reading *reading, uint32_t index)
{
    for (size_t i = 0; i < reading->interface_count; i++)
        if (reading->interfaces[i].index == index)
            return reading->interfaces[i].name;
    return "an unknown interface";
}

void rule_gateway(struct examination *examination)
{
    const struct reading *now = examination->now;

    for (size_t i = 0; i < now->silent_count; i++) {
        const struct silent_neighbour *silent = &now->silent[i];
        char address[ENDPOINT_TEXT], destination[TEXT_NETWORK_MAX + 1], used[TEXT_ROUNDED];
        struct finding finding;
        if (!silent->is_gateway)
            continue;
        *text_network(destination, &silent->destination) = '\0';
        finding_begin(&finding, examination, SEVERITY_FAULT, "%s",
                      address_text(address, &silent->address));
        finding_summary(&finding,
                        "the gateway %s on %s does not answer: packets to %s do not arrive",
                        address, interface_name(now, silent->interface), destination);
        finding_evidence(&finding, "its neighbour entry is FAILED or INCOMPLETE");
        finding_evidence(&finding, "the last packet for it was sent %s s ago",
                         text_rounded(used, (double)silent->used_ms / 1000));
        finding_emit(&finding, examination, ABSENT, ABSENT, ABSENT);
    }
}

/* Returns whether the connections without an answer are those of a program that connects to very
 * many hosts, such as a crawler or a proxy: a few hosts are always away. It does not try the same
 * host again and again. Few addresses have the same hash. */
static bool connects_to_many(const struct examination *examination)
{
    enum { UNANSWERED_PERCENT = 10 };
    const struct sockets_reading *before = &examination->before->sockets;
    const struct sockets_reading *now = &examination->now->sockets;
    const unsigned answered = bits_count(before->answered, ANSWERED_BITS / 64);
    const unsigned silent = bits_count(now->unanswered, ANSWERED_BITS / 64);

    return sockets_have_many(before) && !reaches(silent, UNANSWERED_PERCENT, answered) &&
           now->suspects[NO_ANSWERS].count <= silent + silent / 8;
}

/* Returns whether all these connections only try if servers of DNS have TLS. */
static bool peers_need_no_tls(const struct examination *examination,
                              const struct suspects *suspects)
{
    for (size_t i = 0; i < suspects->kept; i++)
        if (!dns_needs_no_tls(examination, examination->dns, &suspects->worst[i].remote))
            return false;
    return suspects->count == suspects->kept;
}

/* A lossy path drops SYNs, too: then the rule loss names the peer. */
void rule_no_answer(struct examination *examination)
{
    const struct suspects *suspects = &examination->now->sockets.suspects[NO_ANSWERS];
    const struct address peer = address_unmapped(&suspects->worst->remote.address);

    if (suspects->kept && (loss_names(examination, &peer) || connects_to_many(examination) ||
                           peers_need_no_tls(examination, suspects)))
        return;
    emit_peers(examination, NO_ANSWERS, "SYNs get no answer", "SYNs retransmitted");
}

/* Returns whether LARGE_SEGMENTS is a finding about the same machine. */
static bool mtu_is_named(const struct examination *examination, enum suspicion suspicion)
{
    const struct suspects *suspects = examination->now->sockets.suspects;

    return suspects[LARGE_SEGMENTS].kept && suspects[suspicion].kept &&
           address_equal(&suspects[LARGE_SEGMENTS].worst->remote.address,
                         &suspects[suspicion].worst->remote.address);
}

void rule_mtu(struct examination *examination)
{
    static const char passes[] = "small segments pass, but large segments do not: maybe the path "
                                 "has a smaller MTU and ICMP is filtered";

    emit_peers(examination, LARGE_SEGMENTS, passes, "bytes not acknowledged");
    if (peers_are_many(examination, SILENT_PEERS) && hears_small_ones(examination, SILENT_PEERS) &&
        !mtu_is_named(examination, SILENT_PEERS))
        emit_peers(
            examination, SILENT_PEERS,
            "it no longer acknowledges large segments, but packets come from its address: maybe "
            "the path has a smaller MTU now and ICMP is filtered, or this program is gone",
            "bytes not acknowledged");
    if (mtu_is_named(examination, LARGE_SILENCE))
        return;
    if (hears_small_ones(examination, LARGE_SILENCE))
        emit_peers(examination, LARGE_SILENCE, passes, "bytes not acknowledged");
    else if (peers_are_many(examination, LARGE_SILENCE))
        emit_peers(examination, LARGE_SILENCE,
                   "it has never acknowledged a large segment: maybe the path has a smaller MTU "
                   "and ICMP is filtered, or the peer is gone",
                   "bytes not acknowledged");
}

/* One percent of lost segments is noticeable; five percent make TCP very slow. */
enum { SEGMENTS_LEAST = 100, LOSSES_LEAST = 10, LOSSES_WARNED = 1, LOSSES_RED = 5 };

/* OutSegs does not count retransmitted segments (RFC 1213, tcpOutSegs). Repeated SYNs are
 * subtracted, because the rule no-answer reports them. Data that the other end already had is
 * subtracted, too (D-SACK, RFC 2883): a tail loss probe retransmits data that a slow reader has not
 * acknowledged, although nothing was lost. */
struct segments segments_moved(const struct examination *examination)
{
    const uint64_t retransmitted = counter_moved(examination, SEGMENTS_RETRANSMITTED);
    const uint64_t syns = counter_moved(examination, SYNS_RETRANSMITTED);
    const uint64_t blocks = counter_moved(examination, BLOCKS_DUPLICATED);
    const uint64_t segments = counter_moved(examination, SEGMENTS_DUPLICATED);
    const uint64_t needless = syns + (segments > blocks ? segments : blocks);

    return (struct segments){
        .all = counter_moved(examination, SEGMENTS_SENT) +
               (retransmitted > needless ? retransmitted - needless : 0),
        .retransmitted = retransmitted,
        .needless = needless < retransmitted ? needless : retransmitted,
    };
}

/* If all the loss is on the way to some peers, the rule loss names them. */
void rule_retransmissions(struct examination *examination)
{
    const bool *known = examination->now->counts.known;
    const struct segments moved = segments_moved(examination);
    const uint64_t outages = losses_in_outages(examination);
    const uint64_t lost = moved.retransmitted - moved.needless;
    const uint64_t again = lost > outages ? lost - outages : 0;
    struct finding finding;

    if (!known[SEGMENTS_RETRANSMITTED] || !known[SYNS_RETRANSMITTED] || !known[BLOCKS_DUPLICATED]) {
        examination->lacking = true;
        return;
    }
    if (moved.all < SEGMENTS_LEAST || again < LOSSES_LEAST ||
        !reaches(again, LOSSES_WARNED, moved.all) || loss_is_explained(examination))
        return;
    finding_begin(&finding, examination,
                  reaches(again, LOSSES_RED, moved.all) ? SEVERITY_FAULT : SEVERITY_WARNING,
                  "RetransSegs");
    finding_summary(
        &finding,
        "%.1f %% of all segments were retransmitted: %" PRIu64 " of %" PRIu64 " in %.7g s",
        100.0 * (double)again / (double)moved.all, again, moved.all, seconds_between(examination));
    finding_evidence(&finding, "OutSegs grew by %" PRIu64, moved.all - lost);
    finding_evidence(&finding,
                     "RetransSegs grew by %" PRIu64 ", %" PRIu64
                     " of them SYNs or segments that had arrived before",
                     moved.retransmitted, moved.needless);
    if (outages)
        finding_evidence(&finding, "%" PRIu64 " others were lost while nothing passed for a time",
                         outages);
    finding_emit(&finding, examination, again, ABSENT, again);
}
