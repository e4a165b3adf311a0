/* SPDX-License-Identifier: MIT */
/* Tables, memory and ports of limited size. */
#include <inttypes.h>
#include <stdio.h>

#include "doctor/rules.h"
#include "fastnet/array.h"

/* How full something is, and the growth and the total of its counters. */
struct usage {
    uint64_t value, limit, moved, total;
};

static uint64_t without(uint64_t number, uint64_t part)
{
    return number > part ? number - part : 0;
}

/* Returns the limit of the gauge; UINT64_MAX: it has no limit, or the limit is unknown. */
static uint64_t limit_of(const struct examination *examination, enum kernel_number gauge)
{
    const enum kernel_number limit = kernel_numbers[gauge].limit;

    return examination->now->counts.known[limit] ? examination->now->counts.numbers[limit]
                                                 : UINT64_MAX;
}

static struct usage usage_of(const struct examination *examination, const struct filling *filling)
{
    struct usage usage = {.value = counter_total(examination, filling->gauge),
                          .limit = limit_of(examination, filling->gauge)};

    for (size_t i = 0; i < COUNT(filling->losses); i++) {
        const enum kernel_number loss = filling->losses[i], less = i ? NO_NUMBER : filling->less;
        usage.moved += without(counter_moved(examination, loss), counter_moved(examination, less));
        usage.total += without(counter_total(examination, loss), counter_total(examination, less));
    }
    return usage;
}

/* Makes a finding if something is full and loses, or is nearly full. Else reports past losses. */
static void emit_filling(struct examination *examination, const struct filling *filling,
                         struct usage usage)
{
    const bool nearly = filling->percent && reaches(usage.value, filling->percent, usage.limit);
    const bool known = examination->now->counts.known[filling->gauge];
    const char *counter =
        filling->counter ? filling->counter : kernel_numbers[filling->losses[0]].name;
    struct finding finding;
    char of[32] = "", now[192] = "";

    if (!usage.moved && !nearly) {
        emit_past(examination, usage.total, counter, &filling->loss);
        return;
    }
    if (usage.limit != UINT64_MAX) /* there is a limit, and it is known */
        snprintf(of, sizeof of, " of %" PRIu64, usage.limit);
    if (known)
        snprintf(now, sizeof now, "; now there are %" PRIu64 "%s %s", usage.value, of,
                 filling->what);
    finding_begin(&finding, examination,
                  usage.moved && !filling->harmless ? SEVERITY_FAULT : SEVERITY_WARNING, "%s",
                  filling->subject);
    if (usage.moved)
        finding_summary(&finding, "%s: in %.7g s %" PRIu64 " %s %s%s", filling->subject,
                        seconds_between(examination), usage.moved,
                        loss_noun(&filling->loss, usage.moved), filling->loss.what, now);
    else
        finding_summary(&finding, "%s: %" PRIu64 "%s %s, %" PRIu64 " %%", filling->subject,
                        usage.value, of, filling->what, usage.value * 100 / usage.limit);
    if (known)
        finding_evidence(&finding, "%" PRIu64 "%s", usage.value, of);
    if (examination->before->at && counter)
        finding_evidence(&finding, "%s grew by %" PRIu64, counter, usage.moved);
    finding_emit(&finding, examination, known ? usage.value : ABSENT, usage.limit, usage.moved);
}

void rule_filling(struct examination *examination)
{
    const struct filling *filling = examination->rule->filling;

    emit_filling(examination, filling, usage_of(examination, filling));
}

/* Above the second number of tcp_mem TCP saves memory; at the third it has no memory left. */
void rule_tcp_memory(struct examination *examination)
{
    const struct filling *filling = examination->rule->filling;
    struct usage usage = usage_of(examination, filling);

    if (!reaches(usage.value, NEARLY_PERCENT, usage.limit))
        usage.limit = sysctl_of(examination, TCP_PAGES_PRESSURE);
    emit_filling(examination, filling, usage);
}

/* --- Flows and neighbours --------------------------------------------------------------------- */

/* A few packets a second are usual: resolvers send two queries at once, and these race. */
enum { INSERTIONS_A_SECOND = 2 };

void rule_flow_races(struct examination *examination)
{
    const uint64_t failed = counter_moved(examination, FLOWS_RACED);
    struct finding finding;

    if (!failed || (double)failed < (double)INSERTIONS_A_SECOND * seconds_between(examination))
        return;
    finding_begin(&finding, examination, SEVERITY_WARNING, "conntrack");
    finding_summary(&finding,
                    "%" PRIu64 " packets were dropped in %.7g s because their connection was "
                    "tracked already: two packets raced, or no port is left for NAT",
                    failed, seconds_between(examination));
    finding_evidence(&finding, "insert_failed grew by %" PRIu64, failed);
    finding_emit(&finding, examination, ABSENT, ABSENT, failed);
}

/* Permanent entries are counted, but the limit ignores them (neigh_alloc() of the kernel's
 * net/core/neighbour.c). So more entries than the limit show that many entries are permanent, not
 * that the table is full. */
static void emit_neighbours(struct examination *examination, struct filling filling)
{
    const struct usage usage = usage_of(examination, &filling);

    if (usage.value > usage.limit)
        filling.percent = 0;
    if (examination->now->counts.known[filling.gauge] && usage.limit != UINT64_MAX)
        emit_filling(examination, &filling, usage);
}

void rule_neighbours(struct examination *examination)
{
    struct filling filling = {.subject = "neighbours of IPv4 (ARP)",
                              .what = "entries",
                              .percent = NEARLY_PERCENT,
                              .gauge = ARP_ENTRIES,
                              .losses = {ARP_FULLS},
                              .loss = {"neighbour", "neighbours", "did not fit into the table"}};

    emit_neighbours(examination, filling);
    filling.subject = "neighbours of IPv6";
    filling.gauge = NDISC_ENTRIES;
    filling.losses[0] = NDISC_FULLS;
    emit_neighbours(examination, filling);
    if (parts_lack_number(examination, NDISC_ENTRIES) !=
        parts_lack_number(examination, NDISC_MAX)) /* without IPv6 there is neither */
        parts_add_missing(examination, "number or limit of ", "IPv6 entries");
}

/* --- Ports ------------------------------------------------------------------------------------ */

uint64_t ephemeral_ports(struct examination *examination)
{
    const uint64_t first = sysctl_of(examination, PORT_FIRST),
                   last = sysctl_of(examination, PORT_LAST);

    return last == UINT64_MAX || first > last
               ? 0
               : without(last - first + 1, examination->now->ports_reserved);
}

static void emit_ports(struct examination *examination, const struct busy *busy, uint64_t ports)
{
    const struct endpoint remote = {busy->key.remote, busy->key.port};
    const bool full = busy->count >= ports;
    char local[ENDPOINT_TEXT], to[ENDPOINT_TEXT], process[PROCESS_TEXT];
    struct finding finding;

    finding_begin(&finding, examination, full ? SEVERITY_FAULT : SEVERITY_WARNING, "%s to %s",
                  address_text(local, &busy->key.local), endpoint_text(to, &remote));
    finding_summary(&finding,
                    "%s: %s%" PRIu64 " of %" PRIu64 " ports for connections from %s to %s are used",
                    full ? "no port is left" : "ports are nearly used up",
                    busy->missed ? "at least " : "", busy->count, ports, local, to);
    finding_evidence(&finding,
                     "ip_local_port_range %" PRIu64 " to %" PRIu64 ", %" PRIu64 " of them reserved",
                     sysctl_of(examination, PORT_FIRST), sysctl_of(examination, PORT_LAST),
                     examination->now->ports_reserved);
    (void)storm_add_process(&finding, examination, &remote, process);
    finding_emit(&finding, examination, busy->count, ports, ABSENT);
}

void rule_ephemeral_ports(struct examination *examination)
{
    const struct reading *now = examination->now;
    const uint64_t first = sysctl_of(examination, PORT_FIRST),
                   last = sysctl_of(examination, PORT_LAST);
    const struct busy *busiest = now->sockets.busiest;
    struct finding finding;

    if (last == UINT64_MAX || first > last)
        return;
    if (last - first + 1 <= now->ports_reserved) {
        finding_begin(&finding, examination, SEVERITY_FAULT, "ip_local_port_range");
        finding_summary(&finding,
                        "no port is left: all ports that connections can have, %" PRIu64
                        " to %" PRIu64 ", are reserved",
                        first, last);
        finding_evidence(&finding, "%" PRIu64 " of them are in ip_local_reserved_ports",
                         now->ports_reserved);
        finding_emit(&finding, examination, ABSENT, ABSENT, ABSENT);
        return;
    }
    const uint64_t ports = ephemeral_ports(examination);
    for (size_t i = 0; i < BUSIEST_SLOTS; i++)
        if (reaches(busiest[i].count, NEARLY_PERCENT, ports))
            emit_ports(examination, &busiest[i], ports);
}
