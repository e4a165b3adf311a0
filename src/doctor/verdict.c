/* SPDX-License-Identifier: MIT */
/* Where the connections of a finding end, as fastnet-why(8) concludes from the same evidence. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "doctor/rules.h"
#include "fastnet/namespace.h"
#include "fastnet/proc_tree.h"
#include "fastnet/rights.h"
#include "fastnet/why.h"
#include "why/sight.h"

static bool is_peer(const struct evidence *evidence, const struct endpoint *end)
{
    const struct address address = address_unmapped(&end->address);

    return (!evidence->peer.port || end->port == evidence->peer.port) &&
           address_equal(&address, &evidence->peer.address);
}

/* Adds dropped packets to the event with the same reason and network namespace. Packets that no
 * socket took had come in, so their destination is `local`: only then it is known that they were on
 * their way to the peer. */
static void verdict_take_drop(struct evidence *evidence, struct sight *sight,
                              const struct drop *drop)
{
    const struct drop_record *record = &drop->record.drop;
    const bool is_here = drop->netns == evidence->here.id;
    const bool of_local = is_peer(evidence, &record->local);
    struct evidence_event *event = evidence->events;

    while (event < evidence->events + evidence->event_count &&
           (event->netns.id != drop->netns || !text_is(record->reason, event->event.reason)))
        event++;
    if (event == evidence->events + EVIDENCE_EVENTS_MAX)
        return;
    if (event == evidence->events + evidence->event_count) {
        evidence->event_count++;
        *event = (struct evidence_event){
            .event = {.netns = drop->netns, .reason = record->reason.data},
            .netns = is_here ? evidence->here : sight_netns(sight, drop->netns),
            .is_here = is_here,
            .is_answer = !of_local,
        };
    }
    event->event.count += record->drops;
    evidence->peer.port = of_local ? record->local.port : record->remote.port;
    if (of_local && text_is(record->reason, "NO_SOCKET")) {
        evidence->has_arrived = true;
        evidence->home = event->netns;
    }
}

/* Returns whether a dropped packet is one of the connections that begin here. Other network
 * namespaces can have the same addresses: a packet there must have `source`, an address that no
 * other known network namespace has (AF_UNSPEC: there is no such address). */
static bool verdict_is_own(const struct evidence *evidence, const struct sight *sight,
                           const struct drop *drop, const struct address *source)
{
    const struct drop_record *record = &drop->record.drop;
    const bool of_local = is_peer(evidence, &record->local);
    const struct address end =
        address_unmapped(of_local ? &record->remote.address : &record->local.address);
    size_t i = 0;

    if (!(drop->record.has & DROP_PORTS) || record->protocol != IPPROTO_TCP ||
        !(of_local || is_peer(evidence, &record->remote)))
        return false;
    if (drop->netns == evidence->here.id)
        return true;
    while (i < sight->local.count && sight->local.networks[i].netns != drop->netns)
        i++;
    return i < sight->local.count && !rights_elevated() && address_equal(&end, source);
}

/* Takes the packets of connections to the peer that were dropped, first those of this network
 * namespace. If the port of the peer is unknown, it is the port of many such packets. */
static void verdict_take_drops(struct evidence *evidence, struct sight *sight,
                               const struct drop_probe *probe)
{
    const bool lacks_port = !evidence->peer.port;
    struct address source = {.family = AF_UNSPEC};

    if (local_addresses_netns(&sight->local, &evidence->route.source, 0) == evidence->here.id)
        source = evidence->route.source;
    for (int others = 0; probe && others < 2; others++) {
        uint64_t all = 0;
        for (size_t i = 0; i < drop_probe_count(probe); i++) {
            const struct drop *drop = drop_probe_at(probe, i);
            if ((drop->netns != evidence->here.id) == others &&
                verdict_is_own(evidence, sight, drop, &source))
                verdict_take_drop(evidence, sight, drop);
        }
        for (size_t i = 0; i < evidence->event_count; i++)
            all += evidence->events[i].event.count;
        if (lacks_port && all <= evidence->attempt.retransmits) {
            evidence->peer.port = 0;
            evidence->event_count = 0;
        }
    }
    evidence->target = evidence->peer;
}

/* Reads this thread's network namespace, which is that of the examination. */
static int verdict_read(struct evidence *evidence, struct sight *sight,
                        const struct examination *examination)
{
    const char *netns = examination->options->netns;
    const uint64_t id = namespace_own_id();
    int error = local_addresses_read(&sight->local, sight->engine, true);

    if (error)
        return error;
    sight->has_local = true;
    evidence->own_netns = examination->is_other_netns ? 0 : id;
    evidence->here = (struct evidence_netns){id, netns};
    if (examination->is_other_netns)
        evidence->here = sight_netns(sight, id);
    sight_read_route(sight, evidence, 0);
    verdict_take_drops(evidence, sight, examination->drops);
    if (!evidence->peer.port)
        return -ENOENT;
    const struct evidence_netns home = evidence->home;
    error = sight_read(sight, evidence);
    if (evidence->has_arrived)
        evidence->home = home;
    if (evidence->attempt.sent)
        evidence->read &= ~(unsigned)EVIDENCE_QUEUE; /* only new connections wait in it */
    return error;
}

bool finding_explain(struct finding *finding, const struct examination *examination,
                     const struct endpoint *peer, const struct attempt_result *attempt,
                     struct verdict *verdict)
{
    const struct doctor_options *options = examination->options;
    const struct why_options how = {
        .protocol = IPPROTO_TCP, .proc_root = options->proc_root, .owners = options->owners};
    struct evidence evidence = {.peer = {address_unmapped(&peer->address), peer->port},
                                .protocol = IPPROTO_TCP,
                                .is_of_others = true,
                                .has_waited = true,
                                .attempt = *attempt};
    struct sight sight;

    verdict->ending = ENDING_UNKNOWN;
    if (!proc_tree_is_own(options->proc_root) || options->backend != BACKEND_AUTO)
        return false;
    if (sight_init(&sight, &how) == 0 && verdict_read(&evidence, &sight, examination) == 0)
        verdict_find(&evidence, verdict);
    sight_finish(&sight);
    if (verdict->ending != ENDING_ENDS)
        return false;
    snprintf(finding->advice, sizeof finding->advice, "%s", verdict->advice);
    snprintf(finding->command, sizeof finding->command, "%s", verdict->command);
    finding->record.finding.advice = as_text(finding->advice);
    return true;
}
