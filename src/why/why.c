/* SPDX-License-Identifier: MIT */
#include "fastnet/why.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/addresses.h"
#include "fastnet/clock.h"
#include "fastnet/record.h"
#include "why/facts.h"
#include "why/packets.h"
#include "why/server.h"
#include "why/sight.h"
#include "why/steps.h"
#include "why/verdicts.h"

enum {
    TRIES_MAX = 3,        /* addresses of a name to which a connection is opened */
    SECOND_TRY_MS = 1000, /* the longest wait for addresses after the first */
    POLL_MS = 50,
    SETTLE_MS = 100, /* an answer to a packet of this machine comes within this time */
    /* The kernel asks for a neighbour three times, once a second, and reports its silence a moment
     * later: then --for=3 has just ended. */
    GRACE_MS = 500,
    LATE_MS = 1000, /* on a busy machine the child may report its result late */
};

/* Each of these facts proves at once where the connection ends. */
#define PROOFS (RULE_HERE | RULE_THERE | NO_SOCKET)

struct why {
    const struct why_options *options;
    struct why_summary summary;
    struct sight sight;
    struct report *report; /* takes the losses of the listing */
    struct evidence_netns here;
    uint64_t own_netns;
    unsigned lacks; /* ATTEMPT_LACKS_NETNS or ATTEMPT_LACKS_USER: the way is not that of --as */
    struct addresses addresses;
    uint64_t name_elapsed;
    struct attempt_probe *probe;
    struct attempt_probe_blind blind;
    struct bpf_refusal refusal;
    struct evidence tries[TRIES_MAX];
    size_t tried[TRIES_MAX]; /* indexes of their addresses */
    size_t count;
};

struct why *why_create(const struct why_options *options)
{
    struct why *why = calloc(1, sizeof *why);

    if (why)
        why->options = options;
    return why;
}

void why_destroy(struct why *why)
{
    free(why);
}

void why_begin(void *maker)
{
    struct why *why = maker;

    why->summary = (struct why_summary){.ending = ENDING_UNKNOWN};
}

const struct why_summary *why_summary(const struct why *why)
{
    return &why->summary;
}

/* --- Attempts --------------------------------------------------------------------------------- */

/* Shows once a second that the program waits. */
static void why_show(const struct why *why, uint64_t *shown)
{
    const struct clock_progress *progress = why->options->progress;
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);

    if (progress && now >= *shown + CLOCK_SECOND) {
        progress->show(progress, false);
        *shown = now;
    }
}

/* Reads the packets that were noted so far. Returns whether they prove where it ends. */
static bool why_read_packets(struct why *why, struct packets *packets)
{
    if (!why->probe)
        return false;
    packets_read(packets, why->probe);
    return facts_event(packets->evidence, PROOFS);
}

/* Waits until the attempt has a result, packets prove where it ends, or the time is over. */
static void why_wait(struct why *why, struct packets *packets, struct attempt *attempt,
                     unsigned milliseconds)
{
    struct evidence *evidence = packets->evidence;
    struct pollfd wait = {.fd = attempt_descriptor(attempt), .events = POLLIN};
    uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC), shown = now;
    uint64_t end = now + (milliseconds + GRACE_MS + LATE_MS) * CLOCK_MILLISECOND;
    bool proved = false, translated = false;

    while (!attempt_read(attempt, &evidence->attempt) && !clock_interrupted()) {
        if (!proved && why_read_packets(why, packets)) {
            proved = true;
            end = now + SETTLE_MS * CLOCK_MILLISECOND < end ? now + SETTLE_MS * CLOCK_MILLISECOND
                                                            : end;
        } else if (!proved && !translated && evidence->attempt.elapsed > SETTLE_MS) {
            translated = true;
            (void)packets_translate(packets);
        }
        now = clock_nanoseconds(CLOCK_MONOTONIC);
        if (now >= end)
            break;
        (void)poll(&wait, 1, POLL_MS);
        why_show(why, &shown);
    }
    (void)attempt_read(attempt, &evidence->attempt);
    evidence->has_waited = evidence->attempt.elapsed >= milliseconds * CLOCK_MILLISECOND;
    if (why->options->progress)
        why->options->progress->show(why->options->progress, true);
}

static void why_note_reading(const struct why *why, struct evidence *evidence)
{
    if (why->probe && !why->blind.drops)
        evidence->read |= EVIDENCE_DROPS;
    if (why->probe && (!why->blind.resets || evidence->protocol == IPPROTO_UDP))
        evidence->read |= EVIDENCE_RESETS;
}

/* Opens one connection, and completes its evidence. Returns 0 or -errno. */
static int why_try(struct why *why, struct evidence *evidence)
{
    const struct why_options *options = why->options;
    const unsigned milliseconds = why->count > 1 && options->milliseconds > SECOND_TRY_MS
                                      ? SECOND_TRY_MS
                                      : options->milliseconds;
    const struct attempt_question question = {.peer = evidence->peer,
                                              .interface = evidence->scope,
                                              .protocol = evidence->protocol,
                                              .mark = options->mark,
                                              .milliseconds = milliseconds + GRACE_MS,
                                              .bytes = options->bytes,
                                              .as = options->as};
    struct packets packets = {.evidence = evidence, .sight = &why->sight};
    struct attempt *attempt = NULL;
    int status = attempt_begin(&attempt, &question);

    if (status < 0) {
        report_loss(why->report, "the connection could not be tried: %s", strerror(-status));
        return 0;
    }
    why_wait(why, &packets, attempt, milliseconds);
    attempt_end(attempt);
    why_note_reading(why, evidence);
    (void)why_read_packets(why, &packets);
    packets_read_entry(&packets);
    while (evidence->attempt.state != ATTEMPT_CONNECTED && why->probe &&
           !facts_event(evidence, ANY_DROP | NO_SOCKET) && packets_translate(&packets))
        (void)why_read_packets(why, &packets);
    return sight_read_after(&why->sight, evidence);
}

/* Watches attempts of others to connect to the peer. */
static int why_watch(struct why *why, struct evidence *evidence)
{
    const uint64_t end =
        clock_nanoseconds(CLOCK_MONOTONIC) + why->options->milliseconds * CLOCK_MILLISECOND;
    struct packets packets = {.evidence = evidence, .sight = &why->sight, .any_source = true};

    clock_wait_shown(end, why->options->progress);
    why_note_reading(why, evidence);
    (void)why_read_packets(why, &packets);
    return sight_read(&why->sight, evidence);
}

/* --- Addresses -------------------------------------------------------------------------------- */

static bool is_numeric(const char *host)
{
    struct in6_addr bytes;

    return inet_pton(AF_INET, host, &bytes) == 1 || inet_pton(AF_INET6, host, &bytes) == 1 ||
           strchr(host, '%');
}

static int why_find_addresses(struct why *why)
{
    const struct why_options *options = why->options;
    const uint64_t began = clock_nanoseconds(CLOCK_MONOTONIC);
    const int status =
        addresses_find(&why->addresses, options->host, options->family, ADDRESSES_WAIT_MS);

    why->name_elapsed = clock_nanoseconds(CLOCK_MONOTONIC) - began;
    return status;
}

/* Begins the evidence about an address of the list, and asks for the way to it. */
static void why_begin_evidence(struct why *why, struct evidence *evidence, size_t index)
{
    const struct why_options *options = why->options;
    const struct addresses *addresses = &why->addresses;

    *evidence = (struct evidence){
        .read = EVIDENCE_NAME,
        .peer = {addresses->list[index], options->port},
        .scope = addresses->interfaces[index],
        .protocol = options->protocol,
        .here = why->here,
        .own_netns = why->own_netns,
        .attempt.lacks = why->lacks,
        .name = is_numeric(options->host) ? NULL : options->host,
        .addresses = addresses->count + addresses->more,
    };
    evidence->target = evidence->peer;
    if (!addresses->count) {
        evidence->name = options->host;
        evidence->no_name = strchr(options->host, '%') ? "there is no such interface"
                                                       : addresses_error(addresses->error);
        return;
    }
    sight_read_route(&why->sight, evidence);
}

/* Finds the first address from `index` on to which a way leads; the number of addresses if no way
 * leads to any of them. */
static size_t why_next_address(struct why *why, struct evidence *evidence, size_t index)
{
    for (; index < why->addresses.count; index++) {
        why_begin_evidence(why, evidence, index);
        if (evidence->read & EVIDENCE_ROUTE && evidence->route.end == ROUTING_LEADS)
            break;
    }
    return index;
}

static int why_look(struct why *why, struct evidence *evidence)
{
    const struct why_options *options = why->options;
    int status = sight_read(&why->sight, evidence);

    if (status == 0 && options->probe)
        status = why_try(why, evidence);
    else if (status == 0 && why->probe)
        status = why_watch(why, evidence);
    return status;
}

/* Reads the first address with a way. With --probe also further addresses, until one connects. */
static int why_look_at_all(struct why *why)
{
    size_t index = why_next_address(why, &why->tries[0], 0);

    why->count = 1;
    if (why->lacks & ATTEMPT_LACKS_NETNS)
        return 0;
    if (index >= why->addresses.count) {
        why->tried[0] = 0;
        why_begin_evidence(why, &why->tries[0], 0);
        return why->addresses.count ? why_look(why, &why->tries[0]) : 0;
    }
    do {
        why->tried[why->count - 1] = index;
        const int status = why_look(why, &why->tries[why->count - 1]);
        if (status < 0 || !why->options->probe || why->count == TRIES_MAX ||
            why->tries[why->count - 1].attempt.state == ATTEMPT_CONNECTED)
            return status;
        index = why_next_address(why, &why->tries[why->count], index + 1);
    } while (index < why->addresses.count && ++why->count);
    return 0;
}

/* --- The answer ------------------------------------------------------------------------------- */

/* Sets the summary, and reports what could not be read if it may be the cause. */
static void why_conclude(struct why *why, const struct evidence *evidence,
                         const struct verdict *verdict)
{
    const bool asked = why->options->probe || why->options->milliseconds;

    why->summary.ending = (uint8_t)verdict->ending;
    why->summary.partial =
        verdict->ending == ENDING_UNKNOWN &&
        (!why->sight.whole || why->sight.losses.partial || evidence->attempt.lacks ||
         (asked && !(evidence->read & EVIDENCE_DROPS && evidence->read & EVIDENCE_RESETS)));
    if (verdict->ending == ENDING_UNKNOWN)
        report_hand_on(why->report, &why->sight.losses);
    if (verdict->ending == ENDING_UNKNOWN && !why->sight.whole)
        report_note(why->report, "some network namespaces could not be read");
}

static int why_emit(struct why *why, record_fn fn, void *arg)
{
    const struct evidence *first = &why->tries[0], *last = &why->tries[why->count - 1];
    const char *unseen = why->refusal.error ? why->refusal.reason : NULL;
    struct verdict verdict, other;
    char before[VERDICT_TEXT];
    struct steps steps = {.evidence = first,
                          .addresses = &why->addresses,
                          .name_elapsed = why->name_elapsed,
                          .unseen = unseen,
                          .probed = why->options->probe,
                          .watched = why->options->milliseconds,
                          .fn = fn,
                          .arg = arg};
    struct evidence skipped;
    int error;

    verdict_find(first, &verdict);
    verdict_find(last, &other);
    if (why->count > 1 && verdict.ending != ENDING_OPEN && other.ending == ENDING_OPEN)
        verdict_first_address(first, last, &verdict);
    if (why->tried[0]) {
        why_begin_evidence(why, &skipped, 0);
        verdict_find(&skipped, &other);
        memcpy(before, other.sentence, sizeof before);
        steps.first = before;
    }
    why_conclude(why, first, &verdict);
    error = why->lacks & ATTEMPT_LACKS_NETNS ? 0 : steps_emit(&steps);
    return error ? error : steps_emit_answer(&steps, &verdict);
}

/* Explains in the network namespace of this thread, which is that of --as. */
static int why_explain_here(struct why *why, record_fn fn, void *arg)
{
    const struct why_options *options = why->options;
    int status = sight_init(&why->sight, options);

    why->here = (struct evidence_netns){namespace_own_id(), options->netns};
    if (status == 0 && why->here.id != why->own_netns)
        why->here = sight_netns(&why->sight, why->here.id);
    if (status == 0 && why->addresses.count && (options->probe || options->milliseconds))
        why->probe =
            attempt_probe_create(options->protocol, options->port, &why->blind, &why->refusal);
    if (status == 0)
        status = why_look_at_all(why);
    if (status == 0)
        status = why_emit(why, fn, arg);
    attempt_probe_destroy(why->probe);
    why->probe = NULL;
    sight_finish(&why->sight);
    return status;
}

int why_explain(void *maker, const struct query *query, record_fn fn, void *arg)
{
    struct why *why = maker;
    const struct attempt_as *as = why->options->as;
    const int own = as && as->netns ? namespace_open_own() : -1;
    bool is_scoped;
    int status;

    why->report = query->report;
    if (!why->options->host)
        return server_explain(why->options, query->report, fn, arg, &why->summary);
    why->own_netns = namespace_own_id();
    is_scoped = strchr(why->options->host, '%'); /* an interface of the other network namespace */
    status = is_scoped ? 0 : why_find_addresses(why);
    why->lacks = as ? as->lacks & (ATTEMPT_LACKS_NETNS | ATTEMPT_LACKS_USER) : 0;
    if (own >= 0 && namespace_enter(as->netns) < 0)
        why->lacks |= ATTEMPT_LACKS_NETNS;
    if (is_scoped)
        status = why_find_addresses(why);
    if (status == 0)
        status = why_explain_here(why, fn, arg);
    else
        report_loss(why->report, "%s: %s", why->options->host, strerror(-status));
    if (own >= 0 && !(why->lacks & ATTEMPT_LACKS_NETNS) && namespace_enter(own) < 0 && status == 0)
        status = -EPERM;
    if (own >= 0)
        close(own);
    return status;
}
