/* SPDX-License-Identifier: MIT */
/* The parts of a recording, from its marks. */
#include <errno.h>
#include <string.h>

#include "backend/saved/marks.h"
#include "backend/saved/segment_files.h"
#include "fastnet/clock.h"
#include "fastnet/recording.h"
#include "fastnet/rights.h"

enum { LIST_LATE_MAX = 5 /* seconds that a tick may be late */, LIST_BOOT_ID = 40 };

struct recording_lister {
    struct recording_part part;
    uint64_t interval; /* ns */
    char boot_id[LIST_BOOT_ID];
    bool reboot;  /* since the last mark */
    bool stopped; /* the recorder, after the last mark */
    void (*fn)(const struct recording_part *part, void *arg);
    void *arg;
};

static void list_end_part(struct recording_lister *lister)
{
    if (lister->part.from)
        lister->fn(&lister->part, lister->arg);
    lister->part = (struct recording_part){.reboot = lister->reboot};
    lister->reboot = false;
}

/* A frame or a tick. A part ends before it after a gap, another boot, a clock that was set back, or
 * a stop of the recorder. */
static void list_take_mark(struct recording_lister *lister, const struct json_row *row,
                           uint64_t size, bool *counted)
{
    struct recording_part *part = &lister->part;
    const uint64_t most = 2 * lister->interval + LIST_LATE_MAX * CLOCK_SECOND;
    uint64_t time, lost = 0, unseen = 0;

    if (!mark_time(row, &time))
        return;
    if (part->from &&
        (lister->reboot || lister->stopped || time < part->to || time - part->to > most))
        list_end_part(lister);
    lister->stopped = false;
    if (!part->from)
        part->from = time;
    part->to = time;
    (void)mark_number(row, "lost", &lost);
    (void)mark_number(row, "unseen", &unseen);
    part->lost += lost + unseen;
    part->ticks += mark_is_named(row, "tick");
    part->bytes += *counted ? 0 : size; /* the segment begins in this part */
    *counted = true;
}

static void list_take_head(struct recording_lister *lister, const struct json_row *row)
{
    char boot_id[LIST_BOOT_ID];

    mark_copy(row, "boot_id", boot_id, sizeof boot_id);
    lister->interval = recording_interval(row);
    lister->reboot = *lister->boot_id && strcmp(lister->boot_id, boot_id) != 0;
    memcpy(lister->boot_id, boot_id, sizeof boot_id);
}

static int list_segment(struct recording_lister *lister, struct segment_files *segments, size_t i,
                        struct report *report)
{
    struct segment_reader reader;
    struct json_row row;
    const int error = segment_reader_open(&reader, segments, i, report);
    bool counted = false;

    if (error)
        return error == -ENOMEM ? error : 0;
    while (segment_reader_next(&reader, &row, report)) {
        if (mark_is_named(&row, "head"))
            list_take_head(lister, &row);
        else if (mark_is_named(&row, "frame") || mark_is_named(&row, "tick"))
            list_take_mark(lister, &row, segments->list[i].size, &counted);
        else if (mark_is_named(&row, "end"))
            lister->stopped = !mark_is_true(&row, "continues");
    }
    segment_reader_close(&reader, true, report);
    return 0;
}

int recording_list(const char *directory, void (*fn)(const struct recording_part *part, void *arg),
                   void *arg, struct report *report)
{
    struct recording_lister lister = {.fn = fn, .arg = arg};
    struct segment_files segments;
    int error = segment_files_init(&segments, directory);

    if (error)
        return error;
    for (size_t i = 0; i < segments.count && !error; i++)
        error = list_segment(&lister, &segments, i, report);
    if (!error)
        list_end_part(&lister);
    segment_files_finish(&segments);
    return error;
}
