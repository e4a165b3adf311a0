/* SPDX-License-Identifier: MIT */
#include "probes/connects_decode.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

void connect_note_decode(const struct connect_note *note, const struct drop_names *reset_reasons,
                         struct connect *made)
{
    const bool v4 = note->family == AF_INET;
    const char *const reason =
        note->reset_reason ? drop_names_find(reset_reasons, note->reset_reason - 1U) : NULL;

    *made = (struct connect){
        .time = note->time,
        .connected = note->connected,
        .ended = note->ended,
        .end = {.state = note->old_state,
                .reset_state = note->reset_state,
                .error = (int)note->end_error,
                .received_reset = note->received_reset},
        .accepted = note->accepted,
        .pid = (pid_t)note->pid,
        .uid = note->uid,
        .cgroup = note->cgroup,
        .failed = note->failed,
        .closed = note->closed,
        .given_up = note->given_up,
        .error = (int)note->error,
        .remote = address_make((uint8_t)note->family, v4 ? note->v4 : note->v6),
        .local = address_make((uint8_t)note->family, v4 ? note->local_v4 : note->local_v6),
        .port = ntohs(note->port),
    };
    memcpy(made->name, note->name, sizeof note->name);
    made->name[sizeof made->name - 1] = '\0';
    if (reason && strlen(reason) < sizeof made->end.reset_reason)
        snprintf(made->end.reset_reason, sizeof made->end.reset_reason, "%s", reason);
}

bool connect_event_decode(struct text event, const struct drop_names *reset_reasons,
                          struct connect_happened *happened)
{
    struct connect_note note;

    if (event.length != sizeof note)
        return false;
    memcpy(&note, event.data, sizeof note);
    if (note.event < CONNECT_MADE || note.event > CONNECT_END ||
        (note.family != AF_INET && note.family != AF_INET6))
        return false;
    happened->event = note.event;
    happened->cookie = note.cookie;
    happened->time = note.happened;
    happened->port = ntohs((uint16_t)note.local_port);
    connect_note_decode(&note, reset_reasons, &happened->note);
    return true;
}
