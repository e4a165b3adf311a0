/* SPDX-License-Identifier: MIT */
/* Reads recordings (recording.h): a frame, and the ticks after it up to a moment. */
#include "fastnet/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/saved/marks.h"
#include "backend/saved/recorded_rows.h"
#include "backend/saved/recording_extent.h"
#include "backend/saved/segment_files.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/rights.h"
#include "model/saved.h"

/* Bytes of rows between two marks; more rows are not from fastnet. */
#define PENDING_MAX ((size_t)1 << 30)

enum { BOOT_ID = 40, NETNS_ID = 24 };

/* Seconds after the moment or span in which ticks may have rows of connections that existed then.
 * The kernel reports the end of a connection when its process closes the socket, perhaps long after
 * a reset. */
enum { NOTED_LATE = 60 };

/* A mark of a frame, of a tick or of findings. */
struct recording_mark {
    uint64_t time;
    uint64_t rows, lost, unseen, unnoted;
    bool complete;
};

struct recording {
    struct saved_source source; /* must be first */
    struct recording_query query;
    struct segment_files segments;
    struct recorded_rows rows;
    struct saved_maker *maker; /* makes the rows that are asked for */
    struct mark_head head;
    struct saved_head shown; /* `head` as the listing has it */
    struct saved_head made;  /* `head` of the rows that wait */
    bool has_rows;
    bool columns[SAVED_COLUMNS_MAX]; /* that the first row has, by number in kind_socket */
    char boot_id[BOOT_ID];           /* that the last head had */
    char netns[NETNS_ID];            /* id of the recorder's network namespace; empty: unknown */
    bool is_examined;                /* the doctor examined the namespace that is asked for */

    /* Rows since the last mark, as struct saved_row one after another. Their `columns` are those of
     * `maker`. */
    char *pending;
    size_t pending_size, pending_capacity, pending_count;
    bool overflow; /* pending rows were dropped */

    struct recording_extent extent;
    bool over;    /* a mark after the span was read */
    bool late;    /* `over` was set in the segment before */
    bool done;    /* later marks have no rows of the span */
    bool in_span; /* the state at the begin of the span was reached */

    /* During read(). */
    const struct query *engine_query;
    record_fn fn;
    void *arg;
    int result; /* that fn returned */
};

/* --- Passing rows on -------------------------------------------------------------------------- */

static bool is_span(const struct recording *recording)
{
    return recording->query.span.from != recording->query.span.to;
}

/* True if the network namespace that is asked for is that of the recorder. */
static bool is_recorders(const struct recording *recording)
{
    const struct recording_query *query = &recording->query;
    char id[NETNS_ID];

    snprintf(id, sizeof id, "%" PRIu64, query->netns_id);
    return query->netns && *recording->netns &&
           (strcmp(query->netns, recording->netns) == 0 || strcmp(id, recording->netns) == 0);
}

/* True if the row is of a network namespace that is asked for. */
static bool is_in_netns(const struct recording *recording, const struct saved_row *row)
{
    const struct recording_query *query = &recording->query;
    const struct text id = recorded_text(&recording->rows, row, RECORDED_NETNS_ID);

    if (query->findings && !id.length) /* a finding about the recorder's own */
        return !query->netns || is_recorders(recording);
    if (query->netns)
        return text_is(id, query->netns) ||
               text_is(recorded_text(&recording->rows, row, RECORDED_NETNS), query->netns);
    return query->all_netns || query->findings || !*recording->netns ||
           text_is(id, recording->netns);
}

/* A recorded_fn. */
static int recording_pass(const struct saved_row *row, void *arg)
{
    struct recording *recording = arg;
    struct record record;

    if (!is_in_netns(recording, row))
        return 0;
    recording->is_examined = true;
    saved_restore(&record, row);
    recording->result = recording->fn(&record, recording->arg);
    return recording->result < 0 ? recording->result : 0;
}

/* Rows that end in the span are passed on at once, so that they take no memory. */
static recorded_fn ended_fn(const struct recording *recording)
{
    return recording->in_span && is_span(recording) && !recording->query.ended ? recording_pass
                                                                               : NULL;
}

/* --- Rows that wait for their mark ------------------------------------------------------------ */

static void pending_drop(struct recording *recording)
{
    recording->pending_size = recording->pending_count = 0;
    recording->overflow = false;
}

static int pending_add(struct recording *recording, const struct saved_row *row)
{
    const size_t needed = recording->pending_size + row->size;
    char *larger = recording->pending;

    recording->pending_count++;
    if (needed > PENDING_MAX) {
        recording->overflow = true;
        return 0;
    }
    if (needed > recording->pending_capacity)
        larger = array_with_room(larger, &recording->pending_capacity, needed, 1);
    if (!larger)
        return -ENOMEM;
    recording->pending = larger;
    memcpy(larger + recording->pending_size, row, row->size);
    recording->pending_size = needed;
    return 0;
}

/* The next of the rows that wait; *at: 0 at first. */
static const struct saved_row *pending_next(const struct recording *recording, size_t *at)
{
    const struct saved_row *row =
        *at < recording->pending_size ? (const void *)(recording->pending + *at) : NULL;

    *at += row ? row->size : 0;
    return row;
}

/* --- Ticks ------------------------------------------------------------------------------------ */

/* A row has ended at `time`, which is not after the moment or span. */
static int tick_close(struct recording *recording, const struct saved_row *row, uint64_t time,
                      bool whole)
{
    struct recorded_rows *rows = &recording->rows;
    const uint64_t from = recording->query.span.from;
    const bool within = is_span(recording) && time > from;
    int error = 0;

    if (recording->query.ended)
        return within && whole ? recorded_rows_pass(rows, row, time, recording_pass, recording) : 0;
    if (within && !recorded_rows_have(rows, row)) /* it was shorter than a tick */
        return whole ? recorded_rows_pass(rows, row, time, recording_pass, recording) : 0;
    if (within && whole)
        error = recorded_rows_put(rows, row, time, true);
    return error ? error
                 : recorded_rows_remove(rows, row, time, within ? recording_pass : NULL, recording);
}

/* Applies a row of the tick at `time`. A row that ended after the moment still exists, with the
 * columns of the tick before. */
static int tick_apply(struct recording *recording, const struct saved_row *row, uint64_t time)
{
    struct recorded_rows *rows = &recording->rows;
    const uint64_t to = recording->query.span.to, when = recorded_time(rows, row, time);
    const struct text event = recorded_text(rows, row, RECORDED_EVENT);
    const bool is_closed = text_is(event, "closed"), only_ended = recording->query.ended;

    if (text_is(event, "opened"))
        return when <= to && !only_ended ? recorded_rows_put(rows, row, time, true) : 0;
    if (text_is(event, "changed"))
        return only_ended   ? 0
               : time <= to ? recorded_rows_put(rows, row, time, false)
                            : recorded_rows_take_owner(rows, row);
    if (!is_closed && !text_is(event, "lost"))
        return 0;
    if (when <= to)
        return tick_close(recording, row, when, is_closed);
    if (only_ended)
        return 0;
    if (recorded_rows_have(rows, row))
        return recorded_rows_take_owner(rows, row);
    const uint64_t birth = is_closed ? recorded_birth(rows, row, when) : 0;
    return birth && birth <= to ? recorded_rows_put_open(rows, row, when) : 0;
}

static int apply_tick(struct recording *recording, uint64_t time)
{
    const struct saved_row *row;
    int error = 0;

    for (size_t at = 0; !error && (row = pending_next(recording, &at));)
        error = tick_apply(recording, row, time);
    return error;
}

/* Applies a row of the frame at `time`. A socket may have ended while the frame was written: then
 * this frame has the row of its end, or only says so, because the segment before has that row. */
static int frame_apply(struct recording *recording, const struct saved_row *row, uint64_t time)
{
    struct recorded_rows *rows = &recording->rows;
    const struct text event = recorded_text(rows, row, RECORDED_EVENT);

    if (text_is(event, "closed"))
        return tick_apply(recording, row, time);
    if (recording->query.ended)
        return 0;
    return text_is(event, "lost") ? recorded_rows_remove(rows, row, time, NULL, NULL)
                                  : recorded_rows_put(rows, row, time, true);
}

static int apply_frame(struct recording *recording, uint64_t time)
{
    struct recorded_rows *rows = &recording->rows;
    const struct saved_row *row;
    int error = 0;

    rows->frame++;
    for (size_t at = 0; !error && (row = pending_next(recording, &at));)
        error = frame_apply(recording, row, time);
    return error ? error : recorded_rows_end_frame(rows, time, ended_fn(recording), recording);
}

/* --- Marks ------------------------------------------------------------------------------------ */

/* Reports problems of a mark. */
static void check_mark(const struct recording *recording, const struct segment_reader *reader,
                       const struct recording_mark *mark)
{
    struct report *report = recording->engine_query->report;
    const char *name = reader->segment->name;
    char local[CLOCK_LOCAL_SIZE];

    if (recording->overflow)
        report_loss(report, "%s: more than %zu bytes of rows without a mark", name, PENDING_MAX);
    else if (mark->rows != recording->pending_count)
        report_loss(report, "%s: %" PRIu64 " rows are missing or damaged before %s", name,
                    mark->rows > recording->pending_count ? mark->rows - recording->pending_count
                                                          : 1,
                    clock_local(local, mark->time));
    else if (!mark->complete)
        report_loss(report, "the recorder could not read all rows at %s",
                    clock_local(local, mark->time));
}

/* The state at the begin of the span is reached: growth is counted from here on. */
static void begin_span(struct recording *recording, uint64_t time)
{
    if (recording->in_span || time <= recording->query.span.from)
        return;
    recording->in_span = true;
    if (is_span(recording) && !recording->query.ended && !recording->query.findings)
        recording->rows.span = recording->query.span.from;
}

/* Applies the rows before a mark, as far as they belong to the moment or span. tick: the rows are
 * events; otherwise they are all rows. */
static int recording_take_mark(struct recording *recording, const struct segment_reader *reader,
                               bool tick, const struct recording_mark *mark)
{
    const struct recording_span *span = &recording->query.span;
    int error = 0;

    recording->done =
        mark->time > span->to &&
        (recording->query.findings || mark->time - span->to > NOTED_LATE * (uint64_t)CLOCK_SECOND);
    if (recording->over) {
        recording->done |= mark->time <= span->to; /* the clock was set back */
        return tick && !recording->done ? apply_tick(recording, mark->time) : 0;
    }
    begin_span(recording, mark->time);
    recording->over = mark->time > span->to;
    recording->extent.unnoted = recording->over ? mark->unnoted : 0;
    if (tick && !recording->extent.last) /* its frame is missing */
        return 0;
    if (mark->time >= span->from && recording->extent.last < span->to) {
        recording->extent.lost += mark->lost;
        recording->extent.unseen += mark->unseen;
    }
    recording_note_gap(&recording->extent, recording->over ? span->to : mark->time);
    if (tick || !recording->over)
        check_mark(recording, reader, mark);
    if (tick)
        error = apply_tick(recording, mark->time);
    else if (!recording->over)
        error = apply_frame(recording, mark->time);
    if (!recording->over) {
        recording->extent.last = mark->time;
        recording->extent.stopped = false;
    }
    return error;
}

/* The listing has the head of the segment, with the moment as its time. */
static void recording_show_head(struct recording *recording)
{
    recording->shown = recording->head.head;
    recording->shown.kind = recording->source.kind;
    recording->shown.time = recording->query.span.to;
    recording->source.head = &recording->shown;
}

/* Reads a head. Returns 0, -ENOMEM, or -EBADMSG after a report: the segment cannot be used. */
static int take_head(struct recording *recording, const struct segment_reader *reader,
                     const struct json_row *row)
{
    struct report *report = recording->engine_query->report;
    struct mark_head *head = &recording->head;
    const char *name = reader->segment->name;
    uint64_t netns;
    int error = mark_take_head(head, row, name);

    recording_show_head(recording); /* the texts of the head before it are freed */
    recording->made = recording->shown;
    recording->made.time = 0; /* a row without a time has no time of its own */
    if (error)
        return error;
    if (head->format > SAVED_FORMAT) {
        report_loss(report, "%s: made by a newer fastnet, %s", name, head->head.version);
        return -EBADMSG;
    }
    if (strcmp(head->kind_name, kind_socket.name) != 0) {
        report_loss(report, "%s: rows of kind '%s' are no recording", name, head->kind_name);
        return -EBADMSG;
    }
    if (recording->late && strcmp(recording->boot_id, head->head.boot_id) != 0) {
        recording->done = true;
        return 0;
    }
    recording->extent.interval = recording_interval(row);
    *recording->netns = '\0';
    if (mark_number(row, "netns_id", &netns))
        snprintf(recording->netns, sizeof recording->netns, "%" PRIu64, netns);
    recording->is_examined |= is_recorders(recording);
    if (*recording->boot_id && strcmp(recording->boot_id, head->head.boot_id) != 0) {
        recording->extent.reboot = true; /* cookies begin at 1 again */
        error = recorded_rows_clear(&recording->rows, recording->extent.last, ended_fn(recording),
                                    recording);
    }
    snprintf(recording->boot_id, sizeof recording->boot_id, "%s", head->head.boot_id);
    saved_maker_set_head(recording->maker, &recording->made);
    return error;
}

/* --- Segments --------------------------------------------------------------------------------- */

/* Reads a mark other than a head. Rows of findings and rows of sockets have marks of their own, and
 * may come between each other. */
static int take_other_mark(struct recording *recording, const struct segment_reader *reader,
                           const struct json_row *row)
{
    const bool findings = recording->query.findings, tick = mark_is_named(row, "tick");
    struct recording_mark mark = {.complete = mark_is_true(row, "complete")};
    int error = 0;

    if (mark_is_named(row, "end"))
        recording->extent.stopped = !mark_is_true(row, "continues");
    if (findings ? !mark_is_named(row, "findings") : !tick && !mark_is_named(row, "frame"))
        return 0;
    if (mark_time(row, &mark.time) && mark_number(row, "rows", &mark.rows)) {
        (void)mark_number(row, "lost", &mark.lost);
        (void)mark_number(row, "unseen", &mark.unseen);
        (void)mark_number(row, "unnoted", &mark.unnoted);
        error = recording_take_mark(recording, reader, tick && !findings, &mark);
    } else {
        report_loss(recording->engine_query->report,
                    "%s:%" PRIu64 ": a mark has no time or no number of rows",
                    reader->segment->name, row->line);
    }
    pending_drop(recording);
    return error;
}

static bool row_is_finding(const struct json_row *row)
{
    return row->count && text_is(json_key(row, row->members), "severity");
}

static int take_row(struct recording *recording, const struct json_row *row)
{
    const struct saved_row *made;

    if (row_is_finding(row) != recording->query.findings)
        return 0;
    made = saved_maker_row(recording->maker, row);
    return made ? pending_add(recording, made) : -ENOMEM;
}

/* Reads a segment, up to the last mark that may have rows of the span. Returns 0 or an error that
 * ends the listing. */
static int read_segment(struct recording *recording, size_t i)
{
    struct report *report = recording->engine_query->report;
    struct segment_reader reader;
    struct json_row row;
    bool has_head = false;
    int error = segment_reader_open(&reader, &recording->segments, i, report);

    if (error)
        return error == -ENOMEM ? error : 0;
    pending_drop(recording);
    recording->over = recording->late;
    recording->done = false;
    while (!error && !recording->done && segment_reader_next(&reader, &row, report)) {
        if (mark_is_named(&row, "head"))
            error = take_head(recording, &reader, &row);
        else if (!has_head)
            error = -EBADMSG;
        else
            error = mark_is(&row) ? take_other_mark(recording, &reader, &row)
                                  : take_row(recording, &row);
        if (!has_head && error == -EBADMSG && !mark_is_named(&row, "head"))
            report_loss(report, "%s: does not begin with a head", reader.segment->name);
        has_head = true;
    }
    pending_drop(recording);
    segment_reader_close(&reader, !error && !recording->done, report);
    return error == -EBADMSG ? 0 : error;
}

/* Segment `i` was read. Reads rows of the span that were written so late that the next segment has
 * them. */
static int read_late_rows(struct recording *recording, size_t i)
{
    if (!recording->extent.last || !recording->over || recording->done ||
        i + 1 >= recording->segments.count)
        return 0;
    recording->late = true;
    return read_segment(recording, i + 1);
}

/* --- A moment, a span ------------------------------------------------------------------------- */

/* Finds whether the machine was started again after the last mark, if the moment is in a gap. */
static void look_for_reboot(struct recording *recording, size_t i)
{
    struct segment_reader reader;
    struct json_row row;
    struct report ignored = {.partial = false};

    if (!recording->extent.gaps || i + 1 >= recording->segments.count ||
        segment_reader_open(&reader, &recording->segments, i + 1, &ignored) != 0)
        return;
    if (segment_reader_next(&reader, &row, &ignored) && mark_is_named(&row, "head")) {
        char boot_id[BOOT_ID];
        mark_copy(&row, "boot_id", boot_id, sizeof boot_id);
        recording->extent.reboot = strcmp(boot_id, recording->boot_id) != 0;
    }
    segment_reader_close(&reader, false, &ignored);
}

/* True if no segment before segment `i`, which was read, can have more of the moment. If the
 * clock was set back before the segment, the moment may be in the segment before it, although this
 * segment ended before the moment. */
static bool has_moment(const struct recording *recording, size_t i)
{
    return recording->extent.last &&
           (recording->over || segment_files_continue(&recording->segments, i - 1) ||
            recording->query.span.to - recording->extent.last <=
                recording_usual_time(&recording->extent));
}

/* Reads the last segment that has the moment. If that segment has nothing before the moment, reads
 * the segment before it. */
static int read_moment(struct recording *recording)
{
    const uint64_t at = recording->query.span.to;
    size_t i = recording->segments.count, read = i;
    int error = 0;

    while (i > 0 && !error && !has_moment(recording, read)) {
        if (recording->segments.list[--i].segment.time > at)
            continue;
        recording->extent.last = 0;
        *recording->boot_id = '\0';
        error = recorded_rows_clear(&recording->rows, 0, NULL, NULL);
        error = error ? error : read_segment(recording, i);
        read = i;
    }
    if (!error)
        error = read_late_rows(recording, read);
    if (!error && recording->extent.last && !recording->over) {
        recording_note_gap(&recording->extent, at);
        look_for_reboot(recording, read);
    }
    return error;
}

static int read_span(struct recording *recording)
{
    const struct recording_span *span = &recording->query.span;
    const size_t count = recording->segments.count;
    size_t first = 0, end = 0;
    int error = 0;

    while (first < count && !segment_files_cover(&recording->segments, first, span->from, span->to))
        first++;
    recording->extent.stopped = first == 0; /* no segment before it */
    for (size_t i = first; i < count; i++)
        end = segment_files_cover(&recording->segments, i, span->from, span->to) ? i + 1 : end;
    for (size_t i = first; i < end && !error; i++)
        error = read_segment(recording, i);
    if (!error && end > first)
        error = read_late_rows(recording, end - 1);
    if (!error && recording->extent.last && !recording->over)
        recording_note_gap(&recording->extent, span->to);
    return error;
}

/* The caller may have changed the kind since the recording was opened. */
static int begin_reading(struct recording *recording)
{
    static const char *const sockets[RECORDED_KEYS] = {"cookie", "netns_id"};
    static const char *const findings[RECORDED_KEYS] = {"rule", "subject", "process", "netns_id"};

    recorded_rows_init(&recording->rows, recording->source.kind,
                       recording->query.findings ? findings : sockets);
    recording->extent.begin = recording->segments.list[0].segment.time;
    recording->maker = saved_maker_create(recording->source.kind);
    return recording->maker ? 0 : -ENOMEM;
}

static int recording_read(struct saved_source *source, const struct query *query, record_fn fn,
                          void *arg)
{
    struct recording *recording = (struct recording *)(void *)source;
    struct report *report = query->report;
    int error;

    recording->engine_query = query;
    recording->fn = fn;
    recording->arg = arg;
    error = begin_reading(recording);
    if (!error)
        error = is_span(recording) ? read_span(recording) : read_moment(recording);
    if (!error && !recording->query.ended)
        error = recorded_rows_each(&recording->rows, recording->query.span.to, recording_pass,
                                   recording);
    if (!error)
        recording_report(&recording->extent, report);
    if (!error && recording->query.findings && recording->query.netns && !recording->is_examined)
        report_loss(report, "the recording has only findings of the network namespace that it was "
                            "made in");
    return error;
}

/* --- Opening ---------------------------------------------------------------------------------- */

static void recording_destroy(struct saved_source *source)
{
    struct recording *recording = (struct recording *)(void *)source;

    recorded_rows_finish(&recording->rows);
    saved_maker_destroy(recording->maker);
    segment_files_finish(&recording->segments);
    mark_forget_head(&recording->head, NULL);
    free(recording->pending);
    free(recording);
}

/* Reports why a recording cannot be read. */
static void recording_report_unopened(const char *directory, int error, struct report *report)
{
    if (error == -ENOENT)
        report_loss(report, "there is no recording in %s (see fastnet record)", directory);
    else
        report_loss(report, "%s: %s%s", directory, strerror(-error),
                    error == -EACCES ? rights_advice() : "");
}

static bool has_column(const struct recording *recording, const char *name)
{
    const struct field *field = field_named(&kind_socket, name);
    const size_t i = field ? field_index(&kind_socket, field) : SAVED_COLUMNS_MAX;

    return i < SAVED_COLUMNS_MAX && recording->columns[i];
}

/* Views are made of other columns. */
static bool recording_has(const struct saved_source *source, const char *column)
{
    const struct recording *recording = (const struct recording *)(const void *)source;
    const struct field *compared;

    if (!column || !recording->has_rows || has_column(recording, column))
        return recording->has_rows;
    compared = field_compared(source->kind, column, strlen(column));
    return compared && (has_column(recording, compared->name) ||
                        (compared->type == VALUE_OWNERS && has_column(recording, "processes")));
}

static struct recording *recording_create(const struct recording_query *query)
{
    struct recording *recording = calloc(1, sizeof *recording);

    if (!recording)
        return NULL;
    recording->query = *query;
    recording->extent.span = query->span;
    recording->extent.findings = query->findings;
    recording->segments.directory = recording->segments.decompress.socket = -1;
    recording->source =
        (struct saved_source){.kind = query->findings ? &kind_finding : &kind_socket,
                              .read = recording_read,
                              .head = &recording->shown,
                              .has = recording_has,
                              .all_tables = true,
                              .destroy = recording_destroy};
    mark_forget_head(&recording->head, "");
    recording->shown = recording->head.head;
    return recording;
}

/* Remembers the columns of the first row. Names of containers and pods are columns only if some row
 * has them: a machine without containers has no such columns. */
static void recording_note_columns(struct recording *recording, const struct json_row *row)
{
    const struct field *field;

    for (size_t i = 0; i < SAVED_COLUMNS_MAX && (field = field_at(&kind_socket, i)); i++) {
        const bool of_container = field->lookups & NEED_CONTAINERS;
        const struct json_member *member =
            of_container || !recording->has_rows ? mark_member(row, field->name) : NULL;
        recording->columns[i] |= member && !(of_container && member->type == JSON_NULL);
    }
    recording->has_rows = true;
}

/* Remembers the columns of the rows up to the moment, or to the end of the segment. */
static void recording_read_columns(struct recording *recording, struct segment_reader *reader)
{
    struct report ignored = {.partial = false};
    struct json_row row;
    uint64_t time;

    while (segment_reader_next(reader, &row, &ignored)) {
        if (mark_is(&row) && mark_time(&row, &time) && time > recording->query.span.to)
            break;
        if (!mark_is(&row) && !row_is_finding(&row))
            recording_note_columns(recording, &row);
    }
}

/* Reads the head of the segment that read() begins with, so that the caller knows the host, and the
 * rows, so that it knows the columns. */
static int recording_read_head(struct recording *recording)
{
    const struct recording_span *span = &recording->query.span;
    struct segment_reader reader;
    struct json_row row;
    struct report ignored = {.partial = false};
    size_t i = recording->segments.count;
    int error = 0;

    while (i > 1 && !segment_files_cover(&recording->segments, i - 1, span->from, span->to))
        i--;
    if (segment_reader_open(&reader, &recording->segments, i - 1, &ignored) == 0) {
        if (segment_reader_next(&reader, &row, &ignored) && mark_is_named(&row, "head"))
            error = mark_take_head(&recording->head, &row, reader.segment->name);
        if (!error && !recording->query.findings)
            recording_read_columns(recording, &reader);
        segment_reader_close(&reader, false, &ignored);
    }
    if (!error)
        recording_show_head(recording);
    return error;
}

struct saved_source *recording_open(const struct recording_query *query, struct report *report)
{
    struct recording *recording = recording_create(query);
    int error = recording ? segment_files_init(&recording->segments, query->directory) : -ENOMEM;

    if (!error && !recording->segments.count)
        error = -ENOENT;
    if (!error)
        error = recording_read_head(recording);
    if (!error)
        return &recording->source;
    recording_report_unopened(query->directory, error, report);
    if (recording)
        recording_destroy(&recording->source);
    return NULL;
}
