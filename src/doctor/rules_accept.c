/* SPDX-License-Identifier: MIT */
/* Connections that wait long for accept(2). A full queue is for rule_accept_queue(). */
#include <inttypes.h>

#include "doctor/rules.h"
#include "fastnet/clock.h"

static void emit_waits(struct examination *examination, const struct waiting_listener *listener)
{
    const uint64_t tenths = listener->longest / (CLOCK_SECOND / 10);
    char process[PROCESS_TEXT], local[ENDPOINT_TEXT];
    struct finding finding;

    finding_begin(&finding, examination, SEVERITY_WARNING, "%s",
                  endpoint_text(local, &listener->local));
    process_text(process, examination, &finding, listener->inode);
    finding_summary(&finding,
                    "%s lets %" PRIu64 " connection%s on %s wait for accept(2)%s for at least "
                    "%" PRIu64 ".%" PRIu64 " s",
                    process, listener->waiting, listener->waiting == 1 ? "" : "s", local,
                    listener->waiting == 1 ? "" : ", one of them", tenths / 10, tenths % 10);
    finding_evidence(&finding, "Recv-Q %" PRIu32 " of the listener, its backlog %" PRIu32,
                     listener->queued, listener->backlog);
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
