/* SPDX-License-Identifier: MIT */
#include "doctor/storms.h"

#include <stdio.h>
#include <string.h>

void storms_take(struct storms *storms, const struct destination *to, uint64_t timer_ms)
{
    const uint64_t length = TIME_WAIT_S * UINT64_C(1000);
    const uint64_t second = (length > timer_ms ? length - timer_ms : 0) / 1000;
    const struct busy *slot = busiest_add(storms->slots, STORM_SLOTS, to);
    struct storm *storm = slot ? &storms->of[slot - storms->slots] : NULL;

    if (storm && slot->count == 1)
        memset(storm, 0, sizeof *storm);
    if (second >= STORM_SECONDS)
        return;
    storms->all.ended[second]++;
    if (storm)
        storm->ended[second]++;
}

void storms_take_ended(struct ended_connections *ended, const struct endpoint *peer,
                       const struct socket_origin *origin)
{
    const struct destination to = {.remote = address_unmapped(&peer->address), .port = peer->port};
    const struct busy *slot = busiest_add(ended->slots, ENDED_SLOTS, &to);
    struct ended_process *process = slot ? &ended->of[slot - ended->slots] : NULL;

    if (!process)
        return;
    if (slot->count == 1)
        process->count = 0;
    if (!process->count) {
        snprintf(process->name, sizeof process->name, "%s", origin->name);
        process->pid = origin->pid;
        process->several = false;
    }
    if (strcmp(process->name, origin->name) == 0) {
        process->several |= process->pid != origin->pid;
        process->pid = origin->pid;
        process->count++;
    } else {
        process->count--;
    }
}

const struct ended_process *storms_process(const struct ended_connections *ended,
                                           const struct endpoint *peer)
{
    const struct destination to = {.remote = address_unmapped(&peer->address), .port = peer->port};
    const struct busy *slot = busiest_find(ended->slots, ENDED_SLOTS, &to);
    const struct ended_process *process = slot ? &ended->of[slot - ended->slots] : NULL;

    return process && process->count > slot->count / 2 ? process : NULL;
}
