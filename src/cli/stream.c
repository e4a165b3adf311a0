/* SPDX-License-Identifier: MIT */
#include "cli/stream.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/personality.h"

/* At file scope, because a signal handler gets no pointer to it. */
static int stop_descriptor = -1;

static void stop(int number)
{
    const uint64_t one = 1;
    const int error = errno;

    (void)number;
    if (write(stop_descriptor, &one, sizeof one) < 0)
        errno = error;
}

/* Returns a descriptor that becomes readable when the user wants the events to end. A second signal
 * kills the program, because it may be blocked at a pipe that nobody reads. If nohup(1) has SIGHUP
 * ignored, it stays ignored. */
static int open_stop(void)
{
    const struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND};
    struct sigaction hangup;

    stop_descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stop_descriptor < 0 || sigaction(SIGINT, &action, NULL) < 0 ||
        sigaction(SIGTERM, &action, NULL) < 0 || sigaction(SIGHUP, NULL, &hangup) < 0)
        return -1;
    if (hangup.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
    return stop_descriptor;
}

void stream_end_in(unsigned milliseconds)
{
    const struct sigaction action = {.sa_handler = stop};
    const struct itimerval end = {.it_value = {.tv_sec = (time_t)(milliseconds / 1000),
                                               .tv_usec = (suseconds_t)milliseconds % 1000 * 1000}};

    if (sigaction(SIGALRM, &action, NULL) == 0)
        setitimer(ITIMER_REAL, &end, NULL);
}

unsigned stream_kinds(const struct listing_table tables[], size_t count)
{
    unsigned kinds = 0;

    for (size_t i = 0; i < count; i++)
        if (tables[i].table) /* NULL: the kernel has no such table */
            kinds |= socket_end_kind(tables[i].table->family, tables[i].table->protocol);
    return kinds;
}

/* Enough for a burst of some thousand events; the kernel's usual 208 KiB holds a few hundred. */
enum { EVENT_BUFFER_SIZE = 4 * 1024 * 1024 };

/* Reports losses while the listing goes on, at most once a second. Its end reports the rest. */
static void stream_report_losses(void *arg, struct report *report)
{
    struct stream *stream = arg;
    const time_t now = time(NULL);

    if (!report->count || now == stream->reported)
        return;
    stream->reported = now;
    report_print(report, stderr, stream->common->program);
}

/* Number of events that --sort keeps until the listing ends; they take some 350 MB. */
enum { EVENTS_KEPT_MAX = 1000000 };

int stream_begin(struct stream *stream, const struct common *common, struct listing *listing,
                 size_t buffer_size, unsigned kinds)
{
    *stream = (struct stream){
        .common = common,
        .events = {.stop = open_stop(),
                   .buffer_size = buffer_size ? buffer_size : EVENT_BUFFER_SIZE,
                   .kinds = kinds},
    };
    if (stream->events.stop < 0) {
        perror(common->program);
        return STATUS_FAILURE;
    }
    if (common->sort && !common_counts(common))
        stream->most = EVENTS_KEPT_MAX;
    listing->limit = stream->most || common_counts(common) ? stream->most : common->limit;
    listing->events = &stream->events;
    listing->pause = stream_report_losses;
    listing->pause_arg = stream;
    return 0;
}

void stream_sum_up(const void *arg, struct report *report)
{
    const struct stream *stream = arg;

    if (stream->most && report->listed + report->unshown == stream->most)
        report_loss(report, "later events are missing, because --sort keeps at most %d events",
                    EVENTS_KEPT_MAX);
}

void stream_finish(struct stream *stream)
{
    if (stream->common && stream->events.stop >= 0)
        close(stream->events.stop);
}
