/* SPDX-License-Identifier: MIT */
/* Connections that wait long for accept(2). A full queue is for rule_accept_queue(). */
#include <inttypes.h>
#include <stdio.h>

#include "doctor/rules.h"
#include "fastnet/clock.h"

/* Names the process of the listener, or of all twins, if it is one. */
static void name_twins(char text[PROCESS_TEXT], struct examination *examination,
                       struct finding *finding, const struct waiting_listener *listener)
{
    const struct owner *first = owner_of(examination, listener->of_twins[0]);
    bool is_one = listener->twins <= TWINS_KEPT;

    for (unsigned i = 1; i < listener->twins && is_one; i++) {
        const struct owner *owner = owner_of(examination, listener->of_twins[i]);
        is_one = first && owner && owner->process->pid == first->process->pid;
    }
    if (is_one)
        process_text(text, examination, finding, listener->inode);
    else
        snprintf(text, PROCESS_TEXT, "one of %u listeners", listener->twins);
}

static void emit_waits(struct examination *examination, const struct waiting_listener *listener)
{
    const uint64_t tenths = listener->longest / (CLOCK_SECOND / 10);
    char process[PROCESS_TEXT], local[ENDPOINT_TEXT];
    struct finding finding;

    finding_begin(&finding, examination, SEVERITY_WARNING, "%s",
                  endpoint_text(local, &listener->local));
    name_twins(process, examination, &finding, listener);
    finding_summary(&finding,
                    "%s lets %" PRIu64 " connection%s on %s wait for accept(2)%s for at least "
                    "%" PRIu64 ".%" PRIu64 " s",
                    process, listener->waiting, listener->waiting == 1 ? "" : "s", local,
                    listener->waiting == 1 ? "" : ", one of them", tenths / 10, tenths % 10);
    finding_evidence(&finding, "Recv-Q %" PRIu32 " of %s, its backlog %" PRIu32, listener->queued,
                     listener->twins > 1 ? "the fullest listener" : "the listener",
                     listener->backlog);
    finding_evidence(&finding, "in both readings, no process held these connections");
    finding_emit(&finding, examination, listener->waiting, listener->backlog, ABSENT);
}

void rule_accept_wait(struct examination *examination)
{
    const struct waiting_listeners *listeners = &examination->now->sockets.waiting;
    const bool overflows = counter_moved(examination, LISTEN_OVERFLOWS);

    for (size_t i = 0; i < listeners->count; i++) {
        const struct waiting_listener *listener = &listeners->list[i];
        if (listener->waiting && !listener->full && !(listener->dropped && overflows))
            emit_waits(examination, listener);
    }
}
