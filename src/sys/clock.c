/* SPDX-License-Identifier: MIT */
#include "fastnet/clock.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

/* These variables are at file scope, because a signal handler gets no pointer to them. */
static volatile sig_atomic_t interrupted;
static struct sigaction uncaught; /* what SIGINT did before it was caught */

static void interrupt(int signal)
{
    interrupted = true;
    sigaction(signal, &uncaught, NULL);
}

const char *clock_local(char text[CLOCK_LOCAL_SIZE], uint64_t nanoseconds)
{
    const time_t seconds = (time_t)(nanoseconds / CLOCK_SECOND);
    struct tm local;

    *text = '\0';
    if (!localtime_r(&seconds, &local))
        return text;
    const size_t length = strftime(text, CLOCK_LOCAL_SIZE - 1, "%FT%T%z", &local);
    if (length < 2)
        return text;
    memmove(text + length - 1, text + length - 2, 3); /* +0100 becomes +01:00 */
    text[length - 2] = ':';
    return text;
}

void clock_catch_interrupt(void)
{
    const struct sigaction own = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    struct sigaction former;

    sigaction(SIGINT, NULL, &former);
    if (former.sa_handler == SIG_IGN || former.sa_handler == interrupt)
        return;
    uncaught = former;
    sigaction(SIGINT, &own, NULL);
}

bool clock_interrupted(void)
{
    return interrupted;
}

/* ppoll() lets the signal in only while it waits, so a signal between the check and the wait is not
 * lost. */
void clock_wait(uint64_t until)
{
    sigset_t held, former;
    uint64_t now;

    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    pthread_sigmask(SIG_BLOCK, &held, &former);
    while (!interrupted && (now = clock_nanoseconds(CLOCK_MONOTONIC)) < until) {
        const struct timespec left = {.tv_sec = (time_t)((until - now) / CLOCK_SECOND),
                                      .tv_nsec = (long)((until - now) % CLOCK_SECOND)};
        (void)ppoll(NULL, 0, &left, &former);
    }
    pthread_sigmask(SIG_SETMASK, &former, NULL);
}

void clock_wait_shown(uint64_t until, const struct clock_progress *progress)
{
    uint64_t now;

    while (progress && !interrupted && (now = clock_nanoseconds(CLOCK_MONOTONIC)) < until) {
        progress->show(progress, false);
        clock_wait(until - now < CLOCK_SECOND ? until : now + CLOCK_SECOND);
    }
    if (progress)
        progress->show(progress, true);
    else
        clock_wait(until);
}
