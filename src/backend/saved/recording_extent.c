/* SPDX-License-Identifier: MIT */
#include "backend/saved/recording_extent.h"

#include <inttypes.h>

#include "fastnet/clock.h"
#include "fastnet/field.h"

enum { LATE_MAX = 5 /* seconds that a tick may be late */ };

uint64_t recording_usual_time(const struct recording_extent *extent)
{
    return extent->findings  ? 150 * CLOCK_SECOND
           : extent->stopped ? 0
                             : 2 * extent->interval + LATE_MAX * CLOCK_SECOND;
}

void recording_note_gap(struct recording_extent *extent, uint64_t to)
{
    const uint64_t begin = extent->span.from;
    const uint64_t from = extent->last ? extent->last : begin;

    if (to <= from || to - from <= recording_usual_time(extent) || to < begin)
        return;
    if (!extent->gaps++) {
        extent->gap_from = from;
        extent->gap_to = to;
    }
    extent->gaps_time += to - from;
}

static void report_lost(const struct recording_extent *extent, struct report *report)
{
    if (extent->lost)
        report_loss(report,
                    "the recorder lost %" PRIu64 " messages about ends: ended connections may be "
                    "missing",
                    extent->lost);
    if (extent->unseen)
        report_loss(report,
                    "%" PRIu64 " connections came and went between two ticks without a row (the "
                    "recorder had no BPF)",
                    extent->unseen);
}

/* Reports how old the rows are. */
static void report_moment(const struct recording_extent *extent, struct report *report)
{
    const uint64_t at = extent->span.to, last = extent->last;
    const char *what = extent->findings ? "findings" : "rows";
    char local[2][CLOCK_LOCAL_SIZE], age[HUMAN_NUMBER];

    if (extent->gaps)
        report_loss(report, "nothing was recorded at %s; %s as of %s, %s before%s",
                    clock_local(local[0], at), what, clock_local(local[1], last),
                    human_number(age, (at - last) / CLOCK_SECOND, UNIT_SECONDS),
                    extent->reboot ? "; the machine was started again in between" : "");
    else
        report_note(report, "%s as of %s; %s recorded %s before", what, clock_local(local[0], at),
                    extent->findings ? "they were" : "states, queues and counters were",
                    human_number(age, (at - last) / CLOCK_SECOND, UNIT_SECONDS));
}

static void report_span(const struct recording_extent *extent, struct report *report)
{
    const char *reboot = extent->reboot ? "; the machine was started again in between" : "";

    if (extent->gaps == 1) {
        char local[2][CLOCK_LOCAL_SIZE];
        report_loss(report, "nothing was recorded from %s to %s%s",
                    clock_local(local[0], extent->gap_from), clock_local(local[1], extent->gap_to),
                    reboot);
    } else if (extent->gaps) {
        char together[HUMAN_NUMBER];
        report_loss(report,
                    "nothing was recorded in %" PRIu64 " parts of this time, together %s%s (see "
                    "fastnet record --list)",
                    extent->gaps,
                    human_number(together, extent->gaps_time / CLOCK_SECOND, UNIT_SECONDS), reboot);
    } else if (extent->reboot) {
        report_note(report, "the machine was started again in this time");
    }
}

static void report_nothing(const struct recording_extent *extent, struct report *report)
{
    const uint64_t to = extent->span.to, begin = extent->begin;
    char local[CLOCK_LOCAL_SIZE];

    if (!extent->findings && begin <= to)
        report_loss(report, "the recording has no complete rows of %s or before",
                    clock_local(local, to));
    else if (extent->findings)
        report_loss(report,
                    "the recorder noted no findings before %s (was it started with "
                    "--no-doctor?)",
                    clock_local(local, to));
    else
        report_loss(report, "the recording begins at %s", clock_local(local, begin));
}

void recording_report(const struct recording_extent *extent, struct report *report)
{
    if (!extent->last)
        report_nothing(extent, report);
    else if (extent->span.from == extent->span.to)
        report_moment(extent, report);
    else
        report_span(extent, report);
    report_lost(extent, report);
}
