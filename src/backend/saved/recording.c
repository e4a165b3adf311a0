/* SPDX-License-Identifier: MIT */
/* Reads recordings (recording.h): a frame, and the ticks after it up to a moment. */
#include "fastnet/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backend/saved/marks.h"
#include "backend/saved/recorded_rows.h"
#include "backend/saved/segment_files.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/rights.h"
#include "model/saved.h"

/* Bytes of rows between two marks; more rows are not from fastnet. */
#define PENDING_MAX ((size_t)1 << 30)

enum { LATE_MAX = 5 /* seconds that a tick may be late */, BOOT_ID = 40, NETNS_ID = 24 };

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
    uint64_t interval;       /* between two ticks, ns */
    char *columns;         /* names of the columns of the first row, separated by spaces; or NULL */
    char boot_id[BOOT_ID]; /* that the last head had */
    char netns[NETNS_ID];  /* id of the recorder's network namespace; empty: unknown */

    /* Rows since the last mark, as struct saved_row one after another. Their `columns` are those of
     * `maker`. */
    char *pending;
    size_t pending_size, pending_capacity, pending_count;
    bool overflow; /* pending rows were dropped */

    uint64_t last;             /* time of the last mark that was applied; 0: none */
    bool over;                 /* a mark after the span was read */
    bool late;                 /* `over` was set in the segment before */
    bool done;                 /* later marks have no rows of the span */
    bool in_span;              /* the state at the begin of the span was reached */
    uint64_t lost, unseen;     /* sums within the span */
    uint64_t unnoted;          /* that of the first tick after the span */
    uint64_t gap_from, gap_to; /* the first gap */
    uint64_t gaps, gaps_time;
    bool reboot; /* another boot than before the gap */

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

/* True if the row is of a network namespace that is asked for. */
static bool is_in_netns(const struct recording *recording, const struct saved_row *row)
{
    const struct recording_query *query = &recording->query;
    const struct text id = recorded_text(&recording->rows, row, RECORDED_NETNS_ID);

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
    record_begin(&record, recording->source.kind,
                 recording->source.kind->size - offsetof(struct record, socket));
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

enum recorded_event { EVENT_NONE, EVENT_OPENED, EVENT_CHANGED, EVENT_CLOSED, EVENT_LOST };

static enum recorded_event event_of(const struct recording *recording, const struct saved_row *row)
{
    static const char *const words[] = {"", "opened", "changed", "closed", "lost"};
    const struct text word = recorded_text(&recording->rows, row, RECORDED_EVENT);
    size_t event = COUNT(words) - 1;

    while (event && !text_is(word, words[event]))
        event--;
    return (enum recorded_event)event;
}

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
    const enum recorded_event event = event_of(recording, row);

    switch (event) {
    case EVENT_OPENED:
        return when <= to && !recording->query.ended ? recorded_rows_put(rows, row, time, true) : 0;
    case EVENT_CHANGED:
        if (recording->query.ended)
            return 0;
        return time <= to ? recorded_rows_put(rows, row, time, false)
                          : recorded_rows_take_owner(rows, row);
    case EVENT_CLOSED:
    case EVENT_LOST:
        if (when <= to)
            return tick_close(recording, row, when, event == EVENT_CLOSED);
        if (recording->query.ended)
            return 0;
        if (recorded_rows_have(rows, row))
            return recorded_rows_take_owner(rows, row);
        if (event == EVENT_CLOSED && recorded_birth(rows, row, when) &&
            recorded_birth(rows, row, when) <= to)
            return recorded_rows_put_open(rows, row, when);
        return 0;
    default:
        return 0;
    }
}

static int apply_tick(struct recording *recording, uint64_t time)
{
    const struct saved_row *row;
    int error = 0;

    for (size_t at = 0; !error && (row = pending_next(recording, &at));)
        error = tick_apply(recording, row, time);
    return error;
}

static int apply_frame(struct recording *recording, uint64_t time)
{
    struct recorded_rows *rows = &recording->rows;
    const struct saved_row *row;
    int error = 0;

    if (recording->query.ended)
        return 0;
    recorded_rows_begin_frame(rows);
    for (size_t at = 0; !error && (row = pending_next(recording, &at));)
        error = recorded_rows_put(rows, row, time, true);
    return error ? error : recorded_rows_end_frame(rows, time, ended_fn(recording), recording);
}

/* --- Marks ------------------------------------------------------------------------------------ */

/* The longest time between two ticks that counts as no gap. Findings are noted once a minute.
 */
static uint64_t usual_time(const struct recording *recording)
{
    return recording->query.findings ? 150 * CLOCK_SECOND
                                     : 2 * recording->interval + LATE_MAX * CLOCK_SECOND;
}

static void note_gap(struct recording *recording, uint64_t to)
{
    if (!recording->last || to <= recording->last ||
        to - recording->last <= usual_time(recording) || to < recording->query.span.from)
        return;
    if (!recording->gaps++) {
        recording->gap_from = recording->last;
        recording->gap_to = to;
    }
    recording->gaps_time += to - recording->last;
}

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
        recorded_rows_begin_span(&recording->rows, recording->query.span.from);
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
    recording->unnoted = recording->over ? mark->unnoted : 0;
    if (tick && !recording->last) /* its frame is missing */
        return 0;
    if (mark->time >= span->from && recording->last < span->to) {
        recording->lost += mark->lost;
        recording->unseen += mark->unseen;
    }
    note_gap(recording, recording->over ? span->to : mark->time);
    if (tick || !recording->over)
        check_mark(recording, reader, mark);
    if (tick)
        error = apply_tick(recording, mark->time);
    else if (!recording->over)
        error = apply_frame(recording, mark->time);
    if (!recording->over)
        recording->last = mark->time;
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
    recording->interval = recording_interval(row);
    *recording->netns = '\0';
    if (mark_number(row, "netns_id", &netns))
        snprintf(recording->netns, sizeof recording->netns, "%" PRIu64, netns);
    if (*recording->boot_id && strcmp(recording->boot_id, head->head.boot_id) != 0) {
        recording->reboot = true; /* cookies begin at 1 again */
        error =
            recorded_rows_clear(&recording->rows, recording->last, ended_fn(recording), recording);
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
    if (!recording->last || !recording->over || recording->done ||
        i + 1 >= recording->segments.count)
        return 0;
    recording->late = true;
    return read_segment(recording, i + 1);
}

/* --- Reports ---------------------------------------------------------------------------------- */

static const char *duration(uint64_t nanoseconds, char text[32])
{
    const struct value value = {.type = VALUE_NUMBER, .number = nanoseconds / CLOCK_SECOND};

    *value_write_human(text, &value, UNIT_SECONDS) = '\0';
    return text;
}

static void report_lost(const struct recording *recording, struct report *report)
{
    if (recording->lost)
        report_loss(report,
                    "the recorder lost %" PRIu64 " messages about ends: ended connections may be "
                    "missing",
                    recording->lost);
    if (recording->unseen)
        report_loss(report,
                    "%" PRIu64 " connections came and went between two ticks without a row (the "
                    "recorder had no BPF)",
                    recording->unseen);
}

/* Reports how old the rows are. */
static void report_moment(const struct recording *recording, struct report *report)
{
    const uint64_t at = recording->query.span.to, last = recording->last;
    const char *what = recording->query.findings ? "findings" : "rows";
    char local[2][CLOCK_LOCAL_SIZE], age[32];

    if (recording->gaps)
        report_loss(report, "nothing was recorded at %s; %s as of %s, %s before%s",
                    clock_local(local[0], at), what, clock_local(local[1], last),
                    duration(at - last, age),
                    recording->reboot ? "; the machine was started again in between" : "");
    else
        report_note(report, "%s as of %s; %s recorded %s before", what, clock_local(local[0], at),
                    recording->query.findings ? "they were" : "states, queues and counters were",
                    duration(at - last, age));
    if (recording->unnoted)
        report_note(report,
                    "up to %" PRIu64 " of the connections may have ended before this moment: the "
                    "times of their ends were not noted",
                    recording->unnoted);
}

static void report_span(const struct recording *recording, struct report *report)
{
    const char *reboot = recording->reboot ? "; the machine was started again in between" : "";

    if (recording->gaps == 1) {
        char local[2][CLOCK_LOCAL_SIZE];
        report_loss(report, "nothing was recorded from %s to %s%s",
                    clock_local(local[0], recording->gap_from),
                    clock_local(local[1], recording->gap_to), reboot);
    } else if (recording->gaps) {
        char together[32];
        report_loss(report,
                    "nothing was recorded in %" PRIu64 " parts of this time, together %s%s (see "
                    "fastnet record --list)",
                    recording->gaps, duration(recording->gaps_time, together), reboot);
    } else if (recording->reboot) {
        report_note(report, "the machine was started again in this time");
    }
}

static void report_nothing(const struct recording *recording, struct report *report)
{
    char local[CLOCK_LOCAL_SIZE];

    if (recording->query.findings)
        report_loss(report,
                    "the recorder noted no findings before %s (was it started with "
                    "--no-doctor?)",
                    clock_local(local, recording->query.span.to));
    else
        report_loss(report, "the recording begins at %s",
                    clock_local(local, recording->segments.list[0].segment.time));
}

/* --- A moment, a span ------------------------------------------------------------------------- */

/* Finds whether the machine was started again after the last mark, if the moment is in a gap. */
static int look_for_reboot(struct recording *recording, size_t i)
{
    struct segment_reader reader;
    struct json_row row;
    struct report ignored = {.partial = false};
    struct mark_head head = {.texts = NULL};
    int error = 0;

    if (!recording->gaps || i + 1 >= recording->segments.count ||
        segment_reader_open(&reader, &recording->segments, i + 1, &ignored) != 0)
        return 0;
    if (segment_reader_next(&reader, &row, &ignored) && mark_is_named(&row, "head"))
        error = mark_take_head(&head, &row, reader.segment->name);
    if (!error && head.texts)
        recording->reboot = strcmp(head.head.boot_id, recording->boot_id) != 0;
    segment_reader_close(&reader, false, &ignored);
    mark_forget_head(&head, NULL);
    return error;
}

/* True if no segment before segment `i`, which was read, can tell more about the moment. If the
 * clock was set back before the segment, the moment may be in the segment before it, although this
 * segment ended before the moment. */
static bool has_moment(const struct recording *recording, size_t i)
{
    return recording->last &&
           (recording->over || segment_files_continue(&recording->segments, i - 1) ||
            recording->query.span.to - recording->last <= usual_time(recording));
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
        recording->last = 0;
        *recording->boot_id = '\0';
        error = recorded_rows_clear(&recording->rows, 0, NULL, NULL);
        error = error ? error : read_segment(recording, i);
        read = i;
    }
    if (!error)
        error = read_late_rows(recording, read);
    if (!error && recording->last && !recording->over) {
        note_gap(recording, at);
        error = look_for_reboot(recording, read);
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
    for (size_t i = first; i < count; i++)
        end = segment_files_cover(&recording->segments, i, span->from, span->to) ? i + 1 : end;
    for (size_t i = first; i < end && !error; i++)
        error = read_segment(recording, i);
    if (!error && end > first)
        error = read_late_rows(recording, end - 1);
    if (!error && recording->last && !recording->over)
        note_gap(recording, span->to);
    return error;
}

/* The caller may have changed the kind since the recording was opened. */
static int begin_reading(struct recording *recording)
{
    static const char *const sockets[RECORDED_KEYS] = {"cookie", "netns_id"};
    static const char *const findings[RECORDED_KEYS] = {"rule", "subject", "process", "netns_id"};

    recorded_rows_init(&recording->rows, recording->source.kind,
                       recording->query.findings ? findings : sockets);
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
    if (!error && !recording->last)
        report_nothing(recording, report);
    else if (!error)
        (is_span(recording) ? report_span : report_moment)(recording, report);
    if (!error)
        report_lost(recording, report);
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
    free(recording->columns);
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

/* Views are made of other columns. */
static bool recording_has(const struct saved_source *source, const char *column)
{
    const struct recording *recording = (const struct recording *)(const void *)source;
    const char *columns = recording->columns;
    const struct field *compared;

    if (!column || !columns || text_among(columns, column))
        return columns;
    compared = field_compared(source->kind, column, strlen(column));
    return compared && (text_among(columns, compared->name) ||
                        (compared->type == VALUE_OWNERS && text_among(columns, "processes")));
}

static struct recording *recording_create(const struct recording_query *query)
{
    struct recording *recording = calloc(1, sizeof *recording);

    if (!recording)
        return NULL;
    recording->query = *query;
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

static bool is_of_container(const struct field *field)
{
    return field && field->lookups & NEED_CONTAINERS;
}

static void recording_add_column(struct recording *recording, struct text name)
{
    char *end = recording->columns + strlen(recording->columns);

    memcpy(end, name.data, name.length);
    memcpy(end + name.length, " ", 2);
}

/* Remembers the columns of the first row, except the names of containers and pods. */
static int recording_take_columns(struct recording *recording, const struct json_row *row)
{
    const struct field *field;
    size_t size = 1;

    for (size_t i = 0; i < row->count; i++)
        size += row->members[i].key_length + 1;
    for (size_t i = 0; (field = field_at(&kind_socket, i)); i++)
        size += is_of_container(field) ? strlen(field->name) + 1 : 0;
    recording->columns = calloc(1, size);
    for (size_t i = 0; i < row->count && recording->columns; i++) {
        const struct text key = json_key(row, &row->members[i]);
        if (!is_of_container(field_find(&kind_socket, key.data, key.length)))
            recording_add_column(recording, key);
    }
    return recording->columns ? 0 : -ENOMEM;
}

/* Remembers the names of containers and pods, if the row has them: a machine without containers has
 * no such columns. */
static void recording_take_container(struct recording *recording, const struct json_row *row)
{
    const struct field *field;

    for (size_t i = 0; (field = field_at(&kind_socket, i)); i++) {
        const struct json_member *member =
            is_of_container(field) ? mark_member(row, field->name) : NULL;
        if (member && member->type != JSON_NULL && !text_among(recording->columns, field->name))
            recording_add_column(recording, as_text(field->name));
    }
}

/* Remembers the columns of the rows up to the moment, or to the end of the segment. */
static int recording_read_columns(struct recording *recording, struct segment_reader *reader)
{
    struct report ignored = {.partial = false};
    struct json_row row;
    uint64_t time;
    int error = 0;

    while (!error && segment_reader_next(reader, &row, &ignored)) {
        if (mark_is(&row) && mark_time(&row, &time) && time > recording->query.span.to)
            break;
        if (mark_is(&row) || row_is_finding(&row))
            continue;
        error = recording->columns ? 0 : recording_take_columns(recording, &row);
        if (!error)
            recording_take_container(recording, &row);
    }
    return error;
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
            error = recording_read_columns(recording, &reader);
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
