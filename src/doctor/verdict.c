/* SPDX-License-Identifier: MIT */
/* Where the connections of a finding end, as fastnet-why(8) concludes from the same evidence. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "doctor/rules.h"
#include "fastnet/namespace.h"
#include "fastnet/proc_tree.h"
#include "fastnet/why.h"
#include "why/sight.h"

static bool is_peer(const struct evidence *evidence, const struct endpoint *end)
{
    const struct address address = address_unmapped(&end->address);

    return (!evidence->peer.port || end->port == evidence->peer.port) &&
           address_equal(&address, &evidence->peer.address);
}

/* Returns whether a dropped packet belongs to a connection of `waiting` (NULL: to any connection)
 * from here to the peer. Other network namespaces can have the same addresses: there the packet
 * must have the source of the route, if only this network namespace has this address. Attempts that
 * were given up have lost their inodes. */
static bool verdict_is_own(const struct evidence *evidence, const struct sight *sight,
                           const struct suspects *waiting, const struct drop *drop)
{
    const struct drop_record *record = &drop->record.drop;
    const struct address *source = &evidence->route.source;
    const bool to_local = is_peer(evidence, &record->local);
    const struct address end =
        address_unmapped(to_local ? &record->remote.address : &record->local.address);
    size_t i = 0;

    if (!(drop->record.has & DROP_PORTS) || record->protocol != IPPROTO_TCP ||
        !(to_local || is_peer(evidence, &record->remote)))
        return false;
    if (drop->netns == evidence->here.id) {
        while (waiting && record->inode && i < waiting->kept &&
               waiting->worst[i].inode != record->inode && !waiting->worst[i].given_up)
            i++;
        return !waiting || i < waiting->kept;
    }
    while (i < sight->local.count && sight->local.networks[i].netns != drop->netns)
        i++;
    return i < sight->local.count && address_equal(&end, source) &&
           local_addresses_netns(&sight->local, source, 0) == evidence->here.id;
}

/* Adds dropped packets to the event with the same reason and network namespace. A packet that came
 * in has the peer as its `local` end. The first packet sets the peer's port if it is unknown: then
 * the failures are those of all ports, and the packets of this port must explain them all. */
static void verdict_take_drop(struct evidence *evidence, struct sight *sight,
                              const struct drop *drop)
{
    const struct drop_record *record = &drop->record.drop;
    const bool is_here = drop->netns == evidence->here.id;
    const bool to_local = is_peer(evidence, &record->local);
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
            .is_answer = !to_local,
        };
    }
    event->event.count += record->drops;
    evidence->peer.port = to_local ? record->local.port : record->remote.port;
}

/* Takes the dropped packets. Returns whether they can be those of the failed connections: if a
 * packet found no socket, all did; and a rule that refuses connections drops one packet of each
 * (and some before the failures are counted), while a rule that drops more packets may concern
 * other connections. */
static bool verdict_take_drops(struct evidence *evidence, struct sight *sight,
                               const struct suspects *waiting, const struct drop_probe *probe)
{
    const uint64_t least = 1 + (uint64_t)evidence->attempt.retransmits;
    bool fits = true;

    for (size_t i = 0; probe && i < drop_probe_count(probe); i++)
        if (verdict_is_own(evidence, sight, waiting, drop_probe_at(probe, i)))
            verdict_take_drop(evidence, sight, drop_probe_at(probe, i));
    for (size_t i = 0; i < evidence->event_count; i++) {
        const struct attempt_event *event = &evidence->events[i].event;
        fits &= strcmp(event->reason, "NO_SOCKET") == 0 ? event->count >= least
                                                        : waiting || event->count <= 2 * least;
    }
    return fits;
}

/* Reads this thread's network namespace, which is that of the examination. */
static bool verdict_read(struct evidence *evidence, struct sight *sight,
                         const struct examination *examination, const struct suspects *waiting)
{
    const uint64_t id = namespace_own_id();

    evidence->own_netns = examination->is_other_netns ? 0 : id;
    evidence->here = (struct evidence_netns){id, examination->options->netns};
    if (examination->is_other_netns)
        evidence->here = sight_netns(sight, id);
    sight_read_route(sight, evidence);
    sight->has_local = local_addresses_read(&sight->local, sight->engine, true) == 0;
    if (!sight->has_local || !verdict_take_drops(evidence, sight, waiting, examination->drops) ||
        !evidence->peer.port)
        return false;
    evidence->target = evidence->peer;
    return sight_read(sight, evidence) == 0;
}

/* Returns whether the tables of this machine can be asked, not those of a captured tree. */
static bool verdict_is_live(const struct doctor_options *options)
{
    return proc_tree_is_own(options->proc_root) && options->backend == BACKEND_AUTO;
}

static struct evidence evidence_of(const struct endpoint *peer)
{
    const struct endpoint unmapped = {address_unmapped(&peer->address), peer->port};

    return (struct evidence){
        .peer = unmapped, .target = unmapped, .protocol = IPPROTO_TCP, .is_of_others = true};
}

void reading_note_listener(struct reading *reading, const struct doctor_options *options)
{
    const struct suspects *unanswered = &reading->sockets.suspects[NO_ANSWERS];
    const struct endpoint *peer = &unanswered->worst[0].remote;
    const struct why_options how = {
        .protocol = IPPROTO_TCP, .proc_root = options->proc_root, .owners = OWNERS_PROC};
    struct evidence evidence;
    struct sight sight;

    if (!unanswered->kept || !peer->port || !verdict_is_live(options))
        return;
    evidence = evidence_of(peer);
    evidence.here.id = namespace_own_id();
    if (sight_init(&sight, &how) == 0) {
        sight_read_route(&sight, &evidence);
        sight.has_local = local_addresses_read(&sight.local, sight.engine, true) == 0;
        if (!evidence.is_home_here && sight_read_target(&sight, &evidence) == 0 &&
            evidence.listener.miss == MISS_NONE)
            reading->sockets.unanswering =
                (struct noted_listener){*peer, evidence.listener.inode, evidence.listener.drops};
    }
    sight_finish(&sight);
}

void finding_explain(struct finding *finding, const struct examination *examination,
                     const struct suspects *waiting, const struct endpoint *peer,
                     const struct attempt_result *attempt)
{
    const struct doctor_options *options = examination->options;
    const struct why_options how = {
        .protocol = IPPROTO_TCP, .proc_root = options->proc_root, .owners = options->owners};
    const struct noted_listener *noted = &examination->before->sockets.unanswering;
    struct evidence evidence = evidence_of(peer);
    struct verdict verdict = {.ending = ENDING_UNKNOWN};
    struct sight sight;

    if (!verdict_is_live(options))
        return;
    evidence.has_waited = true;
    evidence.attempt = *attempt;
    if (waiting && noted->local.port == peer->port &&
        address_equal(&noted->local.address, &peer->address))
        evidence.listener =
            (struct evidence_listener){.inode = noted->inode, .drops = noted->drops};
    if (sight_init(&sight, &how) == 0 && verdict_read(&evidence, &sight, examination, waiting))
        verdict_find(&evidence, &verdict);
    sight_finish(&sight);
    /* a policy rule for the user or mark of the process gives EACCES, too */
    if (verdict.ending != ENDING_ENDS ||
        (verdict.cause == CAUSE_NOT_PERMITTED && attempt->error == EACCES))
        return;
    snprintf(finding->cause, sizeof finding->cause, "%s", verdict.sentence);
    snprintf(finding->advice, sizeof finding->advice, "%s", verdict.advice);
    snprintf(finding->command, sizeof finding->command, "%s", verdict.command);
    finding->record.finding.advice = as_text(finding->advice);
}
