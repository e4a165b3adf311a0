/* SPDX-License-Identifier: MIT */
#include "cli/pace.h"

#include <stdio.h>
#include <sys/resource.h>

#include "fastnet/text.h"

/* A sum of delays up to this is not reported. */
#define STRETCHED_UNREPORTED (CLOCK_SECOND / 10)

static uint64_t nanoseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * CLOCK_SECOND + (uint64_t)time.tv_usec * 1000;
}

static uint64_t cpu_time(int whose)
{
    struct rusage usage = {.ru_nswap = 0};

    getrusage(whose, &usage);
    return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
}

struct pace_time pace_now(void)
{
    return (struct pace_time){clock_nanoseconds(CLOCK_MONOTONIC),
                              cpu_time(RUSAGE_SELF) + cpu_time(RUSAGE_CHILDREN)};
}

/* Returns how long to wait, so that the listing's CPU time is at most half of the time until the
 * next listing begins. Time in which a listing waited for its reader counts as waiting. */
uint64_t pace_pause(struct pace *pace, struct pace_time took)
{
    const uint64_t enough = 2 * took.processor > took.clock ? 2 * took.processor - took.clock : 0;

    if (pace->strict || enough <= pace->interval)
        return pace->interval;
    pace->stretched += enough - pace->interval;
    return enough;
}

uint64_t pace_of_events(uint64_t processor)
{
    enum { SHARE = 100 };

    return processor < PACE_LONGEST / SHARE ? SHARE * processor : PACE_LONGEST;
}

uint64_t pace_of_samples(uint64_t waited, uint64_t processor)
{
    const uint64_t cheap = pace_of_events(processor);
    const uint64_t least = (waited < CLOCK_SECOND ? 50 : 200) * CLOCK_MILLISECOND;

    return cheap > least ? cheap : least;
}

bool pace_is_news(struct pace *pace)
{
    const bool news = !pace->reported && pace->stretched > STRETCHED_UNREPORTED;

    pace->reported |= news;
    return news;
}

bool pace_put_news(struct pace *pace, uint64_t processor, uint64_t pause, char news[PACE_NEWS])
{
    const double seconds = 1.0 / CLOCK_SECOND;
    char used[TEXT_ROUNDED], paused[TEXT_ROUNDED], interval[TEXT_ROUNDED];

    if (!pace_is_news(pace))
        return false;
    snprintf(news, PACE_NEWS,
             "a listing takes %s s of CPU time; -c pauses %s s after it instead of %s s, to "
             "use at most half of a CPU%s",
             text_rounded(used, (double)processor * seconds),
             text_rounded(paused, (double)pause * seconds),
             text_rounded(interval, (double)pace->interval * seconds),
             pace->has_option ? " (--strict-interval keeps the interval)" : "");
    return true;
}
