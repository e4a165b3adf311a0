/* SPDX-License-Identifier: MIT */
/* Programs that open and end a connection for each request, until no local port is left. */
#include <inttypes.h>
#include <stdio.h>

#include "doctor/rules.h"

/* A storm uses USED_PERCENT of the ports, and will use SOON_PERCENT if it lasts. At HALF_PERCENT,
 * all ports of one parity are used: each connect(2) searches them first (__inet_hash_connect() of
 * the kernel's net/ipv4/inet_hashtables.c), so that the storm becomes slower. A machine that
 * connects to many destinations alike is a proxy or a crawler: only a destination with PART_PERCENT
 * of its connections counts. */
enum {
    STORM_LEAST = 100,
    USED_PERCENT = 20,
    HALF_PERCENT = 50,
    GOES_ON_PERCENT = 10,
    SOON_PERCENT = 66,
    PART_PERCENT = 25
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
                     "%s%s had %" PRIu64 " connections there that ended between the readings",
                     process, ended->several ? " and others of its name" : "", ended->count);
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
static uint64_t storm_rate(const struct storm *storm)
{
    uint64_t least = storm->ended[0];

    for (size_t i = 1; i < STORM_PARTS; i++)
        least = storm->ended[i] < least ? storm->ended[i] : least;
    return least / STORM_PART_S;
}

static bool is_storm(const struct busy *waiting, const struct storm *storm, const struct storm *all,
                     uint64_t ports)
{
    const uint64_t soon = storm_rate(storm) * TIME_WAIT_S;

    return waiting->count >= STORM_LEAST && reaches(waiting->count, USED_PERCENT, ports) &&
           reaches(soon, GOES_ON_PERCENT, ports) &&
           (reaches(waiting->count, HALF_PERCENT, ports) || reaches(soon, SOON_PERCENT, ports)) &&
           reaches(storm_rate(storm), PART_PERCENT, storm_rate(all));
}

/* If the ports are nearly used up, rule_ephemeral_ports() reports them. */
void rule_storm(struct examination *examination)
{
    const struct sockets_reading *sockets = &examination->now->sockets;
    const struct storms *storms = sockets->storms;
    const uint64_t ports = ephemeral_ports(examination);

    for (size_t i = 0; i < STORM_SLOTS && ports && storms; i++) {
        const struct busy *waiting = &storms->slots[i];
        const struct busy *used = is_storm(waiting, &storms->of[i], &storms->all, ports)
                                      ? busiest_find(sockets->busiest, BUSIEST_SLOTS, &waiting->key)
                                      : NULL;
        if (used && !reaches(used->count, NEARLY_PERCENT, ports))
            emit_storm(examination, waiting, storm_rate(&storms->of[i]), ports);
    }
}
