/* SPDX-License-Identifier: MIT */
/* Counters that should stand still. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "doctor/rules.h"

/* Names the address that refused most, and who tried last, as far as that is known. */
static void add_refusing(struct finding *finding, const struct examination *examination)
{
    const struct sockets_reading *sockets = &examination->before->sockets;
    const struct busy *slots = sockets->refused, *most = slots;
    const size_t length = strlen(finding->summary);
    char address[ENDPOINT_TEXT], process[PROCESS_TEXT];
    const struct refused *whose;

    for (size_t i = 1; i < REFUSED_SLOTS; i++)
        if (slots[i].count > most->count)
            most = &slots[i];
    if (!most->count)
        return;
    endpoint_text(address, &(struct endpoint){most->key.remote, most->key.port});
    snprintf(finding->subject, sizeof finding->subject, "%s", address);
    snprintf(finding->summary + length, sizeof finding->summary - length,
             ", at least %" PRIu64 " of them by %s", most->count, address);
    whose = &sockets->whose[most - slots];
    if (!whose->pid)
        return;
    finding_process(finding, process, whose->process, whose->pid);
    finding_evidence(finding, "%s tried last", process);
}

static void say_growth(struct examination *examination, const struct growth *growth)
{
    const uint64_t all = counter_moved(examination, growth->counter);
    const uint64_t less = counter_moved(examination, growth->less);
    const uint64_t moved = all > less ? all - less : 0;
    const uint64_t whole = counter_moved(examination, growth->whole);
    struct finding finding;

    if (!moved || moved < growth->least ||
        (growth->percent && !reaches(moved, growth->percent, whole)))
        return;
    finding_begin(&finding, examination, SEVERITY_WARNING, "%s", growth->subject);
    finding_summary(&finding, "%s: %" PRIu64 " %s %s in %.7g s", growth->subject, moved,
                    loss_noun(&growth->loss, moved), growth->loss.what,
                    seconds_between(examination));
    finding_evidence(&finding, "%s grew by %" PRIu64, kernel_numbers[growth->counter].name, all);
    if (growth->less)
        finding_evidence(&finding, "%s grew by %" PRIu64, kernel_numbers[growth->less].name, less);
    if (growth->whole)
        finding_evidence(&finding, "%s grew by %" PRIu64, kernel_numbers[growth->whole].name,
                         whole);
    if (growth->counter == ATTEMPTS_FAILED)
        add_refusing(&finding, examination);
    finding_emit(&finding, examination, moved, UNTOLD, moved);
}

void rule_growth(struct examination *examination)
{
    for (const struct growth *growth = examination->rule->growths; growth->counter; growth++)
        say_growth(examination, growth);
}
