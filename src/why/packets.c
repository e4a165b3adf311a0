/* SPDX-License-Identifier: MIT */
#include "why/packets.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>

#include "fastnet/attempt_probe.h"
#include "fastnet/clock.h"
#include "fastnet/flow_find.h"
#include "fastnet/netlink.h"
#include "why/sight.h"

static bool endpoint_fits(const struct endpoint *wanted, const struct endpoint *end)
{
    const struct address one = address_unmapped(&wanted->address);
    const struct address other = address_unmapped(&end->address);

    return wanted->port == end->port && address_equal(&one, &other);
}

static bool ends_fit(const struct packets *packets, const struct endpoint *source,
                     const struct endpoint *destination)
{
    for (size_t i = 0; i < packets->count; i++)
        if (endpoint_fits(&packets->ends[i].destination, destination) &&
            (packets->any_source || endpoint_fits(&packets->ends[i].source, source)))
            return true;
    return false;
}

static void packets_add(struct packets *packets, const struct endpoint *source,
                        const struct endpoint *destination)
{
    if (packets->count < PACKET_ENDS_MAX && !ends_fit(packets, source, destination))
        packets->ends[packets->count++] = (struct packet_ends){*source, *destination};
}

/* An attempt that ends within connect(2) does not know its own port, so it is read from packets. */
static void packets_learn_source(const struct attempt_event *event, void *arg)
{
    struct packets *packets = arg;
    struct evidence *evidence = packets->evidence;

    if (!event->cookie || event->cookie != evidence->attempt.cookie || evidence->attempt.local.port)
        return;
    evidence->attempt.local =
        endpoint_fits(&evidence->peer, &event->source) ? event->destination : event->source;
}

static bool packets_have_source(const struct packets *packets, const struct endpoint *source)
{
    for (size_t i = 0; i < packets->count; i++)
        if (endpoint_fits(&packets->ends[i].source, source))
            return true;
    return false;
}

static bool is_during(const struct attempt_result *attempt, const struct attempt_event *event)
{
    return event->first >= attempt->began && event->first <= attempt->began + attempt->elapsed;
}

/* The table of flows lacks a flow whose first packet a rule drops, or that is refused at once. If
 * another end gets a SYN from a source of this connection during the attempt, it is the SYN of this
 * connection after NAT. */
static void packets_learn_target(const struct attempt_event *event, void *arg)
{
    enum { SHORT_MS = 500 };
    struct packets *packets = arg;
    const struct attempt_result *attempt = &packets->evidence->attempt;
    const bool refused = attempt->state == ATTEMPT_FAILED && attempt->error == ECONNREFUSED &&
                         attempt->elapsed < SHORT_MS * CLOCK_MILLISECOND;
    const bool waits = attempt->state == ATTEMPT_WAITS && event->netns &&
                       event->netns != packets->evidence->here.id;

    if ((refused || waits) && !packets->any_source && event->type == ATTEMPT_DROP &&
        event->flags & TH_SYN && !(event->flags & TH_ACK) && attempt->local.port &&
        packets_have_source(packets, &event->source) && is_during(attempt, event))
        packets_add(packets, &event->source, &event->destination);
}

static bool is_socket_missing(const struct attempt_event *event)
{
    return event->type != ATTEMPT_RESET_RECEIVED && event->reason &&
           strcmp(event->reason, "NO_SOCKET") == 0;
}

static void packets_take(const struct attempt_event *event, void *arg)
{
    struct packets *packets = arg;
    struct evidence *evidence = packets->evidence;
    const bool own =
        !packets->any_source && event->cookie && event->cookie == evidence->attempt.cookie;
    const bool forward = ends_fit(packets, &event->source, &event->destination);
    const bool back = ends_fit(packets, &event->destination, &event->source) ||
                      (own && endpoint_fits(&evidence->peer, &event->source));
    struct evidence_event *taken;

    if (event->protocol != evidence->protocol || event->first < evidence->attempt.began)
        return;
    if (!(own || forward || back)) {
        evidence->has_strays |= event->type != ATTEMPT_RESET_RECEIVED && event->flags & TH_SYN &&
                                event->netns != evidence->here.id &&
                                is_during(&evidence->attempt, event);
        return;
    }
    if (evidence->event_count == EVIDENCE_EVENTS_MAX) {
        evidence->events_lost++;
        return;
    }
    taken = &evidence->events[evidence->event_count++];
    *taken = (struct evidence_event){.event = *event, .is_answer = back && !forward};
    taken->is_here = event->netns == evidence->here.id;
    taken->netns = taken->is_here ? evidence->here : sight_netns(packets->sight, event->netns);
    if (!is_socket_missing(event) || taken->is_answer != (event->type == ATTEMPT_RESET_SENT))
        return;
    evidence->has_arrived = true;
    evidence->target = taken->is_answer ? event->source : event->destination;
    evidence->home = taken->netns;
}

void packets_read(struct packets *packets, struct attempt_probe *probe)
{
    struct evidence *evidence = packets->evidence;
    uint64_t lost = 0;

    evidence->event_count = 0;
    evidence->has_strays = false;
    evidence->events_lost = 0;
    if (!packets->any_source) {
        (void)attempt_probe_each(probe, packets_learn_source, packets, &lost);
        packets->ends[0] = (struct packet_ends){evidence->attempt.local, evidence->peer};
    } else {
        packets->ends[0] = (struct packet_ends){.destination = evidence->peer};
    }
    packets->count += packets->count == 0;
    (void)attempt_probe_each(probe, packets_learn_target, packets, &lost);
    if (attempt_probe_each(probe, packets_take, packets, &lost) < 0)
        lost++;
    evidence->events_lost += lost;
}

void packets_read_entry(struct packets *packets)
{
    const struct sight *sight = packets->sight;
    struct evidence *evidence = packets->evidence;

    if (evidence->attempt.local.port &&
        flow_find(sight->netlink, sight->options->proc_root, evidence->protocol,
                  &evidence->attempt.local, &evidence->peer, &evidence->entry) == 0)
        evidence->read |= EVIDENCE_ENTRY;
}

/* Asks in the network namespace that this thread is in. */
static int packets_ask(void *arg)
{
    struct packets *packets = arg;
    struct netlink *netlink = netlink_create(NULL);
    const size_t count = packets->count;

    for (size_t i = 0; netlink && i < count; i++) {
        struct flow_found found = {.exists = false};
        if (flow_find(netlink, packets->sight->options->proc_root, packets->evidence->protocol,
                      &packets->ends[i].source, &packets->ends[i].destination, &found) == 0 &&
            found.exists && found.translated) {
            packets_add(packets, &found.source, &found.destination);
            if (!packets->evidence->is_home_here)
                packets->evidence->target = found.destination;
        }
    }
    netlink_destroy(netlink);
    return 0;
}

bool packets_translate(struct packets *packets)
{
    const size_t count = packets->count;
    const struct endpoint target = packets->evidence->target;
    bool whole;

    if (packets->any_source || !packets->evidence->attempt.local.port)
        return false;
    (void)namespaces_each(packets_ask, packets, &whole);
    if (!endpoint_fits(&target, &packets->evidence->target))
        (void)sight_read_target(packets->sight, packets->evidence);
    return packets->count > count;
}
