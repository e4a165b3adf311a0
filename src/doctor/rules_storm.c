/* SPDX-License-Identifier: MIT */
/* Programs that open and end a connection for each request, until no local port is left. */
#include <inttypes.h>
#include <stdio.h>

#include "doctor/rules.h"
#include "fastnet/clock.h"

/* A storm uses USED_PERCENT of the ports, and will use SOON_PERCENT if it lasts. At HALF_PERCENT,
 * all ports of one parity are used: each connect(2) searches them first (__inet_hash_connect() of
 * the kernel's net/ipv4/inet_hashtables.c), so that the storm becomes slower. A machine that
 * connects to many destinations alike is a proxy or a crawler: only a destination with PART_PERCENT
 * of its connections counts.
 *
 * A rate is the lowest of the rates in several parts of equal length, so that a burst is no storm.
 * YOUNG: a storm that went on in each second between the readings; at least 2 s are examined. OLD:
 * a storm that may pause for some seconds. */
enum {
    STORM_LEAST = 100,
    USED_PERCENT = 20,
    HALF_PERCENT = 50,
    GOES_ON_PERCENT = 10,
    SOON_PERCENT = 66,
    PART_PERCENT = 25,
    OLD_PARTS = 3,
    OLD_PART_S = 5,
    YOUNG_PARTS_LEAST = 2,
    YOUNG_PART_S = 1
};

bool storm_add_process(struct finding *finding, const struct examination *examination,
                       const struct endpoint *peer, char process[PROCESS_TEXT])
{
    const struct ended_process *ended = storms_process(&examination->before->sockets.ended, peer);

    snprintf(process, PROCESS_TEXT, "this machine");
    if (!ended)
        return false;
    finding_process(finding, process, ended->name, ended->pid);
    finding_evidence(finding,
                     "%s%s had %s%" PRIu64 " connections there that ended between the readings",
                     process, ended->several ? " and others of its name" : "",
                     examination->before->sockets.ended.missed ? "at least " : "", ended->count);
    return ended->several;
}

static void emit_storm(struct examination *examination, const struct busy *waiting, uint64_t rate,
                       uint64_t ports)
{
    const struct endpoint remote = {waiting->key.remote, waiting->key.port};
    char process[PROCESS_TEXT], local[ENDPOINT_TEXT], to[ENDPOINT_TEXT];
    struct finding finding;
    bool several;

    finding_begin(&finding, examination, SEVERITY_WARNING, "%s", endpoint_text(to, &remote));
    finding_evidence(&finding, "%s%" PRIu64 " connections from %s to %s in TIME_WAIT",
                     waiting->missed ? "at least " : "", waiting->count,
                     address_text(local, &waiting->key.local), to);
    finding_evidence(&finding,
                     "ip_local_port_range %" PRIu64 " to %" PRIu64 ", %" PRIu64 " of them reserved",
                     sysctl_of(examination, PORT_FIRST), sysctl_of(examination, PORT_LAST),
                     examination->now->ports_reserved);
    several = storm_add_process(&finding, examination, &remote, process);
    finding_summary(&finding,
                    "%s %s %" PRIu64 " connections a second to %s: %" PRIu64
                    " %% of the local ports are in TIME_WAIT%s",
                    process, several ? "and others of its name open and end" : "opens and ends",
                    rate, to, waiting->count * 100 / ports,
                    rate * TIME_WAIT_S >= ports ? ", soon no port is left" : "");
    finding_emit(&finding, examination, waiting->count, ports, ABSENT);
}

/* Returns the connections a second that ended lately: the lowest rate of all parts. */
static uint64_t storm_rate(const struct storm *storm, size_t parts, size_t part_s)
{
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < parts; i++) {
        uint64_t ended = 0;
        for (size_t second = i * part_s; second < (i + 1) * part_s; second++)
            ended += storm->ended[second];
        least = ended < least ? ended : least;
    }
    return least / part_s;
}

/* Returns the number of whole seconds between the readings, at most STORM_SECONDS. */
static size_t storm_seconds(const struct examination *examination)
{
    const uint64_t seconds = examination->before->at
                                 ? (examination->now->at - examination->before->at) / CLOCK_SECOND
                                 : 0;

    return seconds < STORM_SECONDS ? (size_t)seconds : STORM_SECONDS;
}

/* Returns the rate of a storm; 0: it is none. */
static uint64_t storm_find(const struct busy *waiting, const struct storm *storm,
                           const struct storm *all, size_t seconds, uint64_t ports)
{
    const uint64_t old = storm_rate(storm, OLD_PARTS, OLD_PART_S);
    const uint64_t young =
        seconds >= YOUNG_PARTS_LEAST ? storm_rate(storm, seconds, YOUNG_PART_S) : 0;

    if (waiting->count < STORM_LEAST || !reaches(waiting->count, USED_PERCENT, ports))
        return 0;
    if (reaches(old * TIME_WAIT_S, GOES_ON_PERCENT, ports) &&
        (reaches(waiting->count, HALF_PERCENT, ports) ||
         reaches(old * TIME_WAIT_S, SOON_PERCENT, ports)) &&
        reaches(old, PART_PERCENT, storm_rate(all, OLD_PARTS, OLD_PART_S)))
        return old;
    return reaches(young * TIME_WAIT_S, SOON_PERCENT, ports) &&
                   reaches(young, PART_PERCENT, storm_rate(all, seconds, YOUNG_PART_S))
               ? young
               : 0;
}

/* If the ports are nearly used up, rule_ephemeral_ports() reports them. */
void rule_storm(struct examination *examination)
{
    const struct sockets_reading *sockets = &examination->now->sockets;
    const struct storms *storms = sockets->storms;
    const uint64_t ports = ephemeral_ports(examination);
    const size_t seconds = storm_seconds(examination);

    for (size_t i = 0; i < STORM_SLOTS && ports && storms; i++) {
        const struct busy *waiting = &storms->slots[i];
        const uint64_t rate = storm_find(waiting, &storms->of[i], &storms->all, seconds, ports);
        const struct busy *used =
            rate ? busiest_find(sockets->busiest, BUSIEST_SLOTS, &waiting->key) : NULL;
        if (used && !reaches(used->count, NEARLY_PERCENT, ports))
            emit_storm(examination, waiting, rate, ports);
    }
}
