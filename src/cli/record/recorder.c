/* SPDX-License-Identifier: MIT */
/* Samples all sockets, and writes frames and ticks (recording.h). */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/netstat/netstat.h"
#include "cli/record/record.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/namespace.h"
#include "fastnet/socket_tracker.h"

enum {
    SEGMENT_SECONDS = 3600,
    SEGMENT_BYTES = 32 * 1024 * 1024, /* with FRAMES_MIN: a reader needs 500 ms at most */
    FRAMES_MIN = 4,                   /* a segment is at least as large as this number of frames */
    KEPT_MIN = 4,                     /* at least this number of segments fits into --keep */
    ENDS_PAUSE = 250,                 /* milliseconds between two readings of ends */
    TIDY_SECONDS = 60,
};

/* Columns of a changed row, after the columns that identify it. The hash of a row leaves out
 * NOT_COMPARED, which change all the time. */
#define MOVING                                                                                     \
    "event time netns_id cookie state recv_q send_q bytes_sent bytes_received bytes_retrans "      \
    "total_retrans rtt drops"
#define FIXED        "local_address local_port remote_address remote_port inode pid processes uid cgroup"
#define NOT_COMPARED "event time netns_id cookie rtt"

/* A set of columns. */
struct record_columns {
    const struct field *fields[LISTING_COLUMNS_MAX];
    size_t count;
};

/* A socket that the last ticks had, in 32 bytes. */
struct recorded_socket {
    uint64_t cookie;
    uint64_t began;         /* CLOCK_MONOTONIC, ns, as noted; 0: unknown */
    uint32_t netns;         /* inodes of network namespaces have 32 bits */
    uint32_t moving, fixed; /* hashes of columns */
    uint8_t missed;         /* number of samples without it */
    bool shown;             /* a row was written */
    bool ended; /* the row of its end was written; samples may still have it, as TIME_WAIT */
    bool gone;  /* samples do not have it any more */
};

/* A segment, and its sinks. */
struct record_output {
    struct segment segment;
    struct sink *whole, *changed;
};

struct recorder {
    struct sink sink; /* takes the rows of the live store */
    struct record_command *command;
    struct listing_command *listing;
    struct live *live;
    struct context context; /* the context of the row that is written, with the row's time */
    struct record_columns all, moving, fixed;
    struct record_output outputs[2], *now, *next; /* next: gets a frame, or NULL */
    struct hash_table known;
    struct stream stream;
    struct findings findings;
    struct unseen unseen;
    struct report report;
    uint64_t lost;      /* messages about ends that the kernel dropped, since the last tick */
    uint64_t unnoted;   /* ends of TCP connections whose time was not noted, since the last tick */
    uint64_t opened;    /* TCP connections of the own netns since the last tick */
    uint64_t own;       /* id of the own netns */
    uint64_t monotonic; /* CLOCK_MONOTONIC and CLOCK_REALTIME at the same moment, ns */
    uint64_t realtime;
    uint64_t segment_ends, tidy_at; /* CLOCK_MONOTONIC, ns */
    uint64_t segment_bytes;
    bool first;    /* before the first frame */
    bool set_back; /* the clock was set back */
    int error;
};

/* --- Rows ------------------------------------------------------------------------------------- */

static uint32_t recorder_hash(const struct recorder *recorder, const struct record_columns *columns,
                              const struct record *record)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < columns->count; i++) {
        const struct value value = field_value(columns->fields[i], record, recorder->sink.context);
        if (!text_has_word(NOT_COMPARED, columns->fields[i]->name))
            hash = value_hash(hash_word(hash, i), &value);
    }
    return (uint32_t)(hash ^ hash >> 32);
}

/* Reads both clocks. If another program runs between the two calls, the times of all rows would be
 * wrong by this pause: then reads the clocks again, a few times at most. If the clock was set back,
 * the former time goes on until the segment ends, because times of a segment only grow. */
static void recorder_read_clocks(struct recorder *recorder)
{
    enum { TRIES = 10 };
    const uint64_t before = recorder->realtime, then = recorder->monotonic;
    uint64_t elapsed = UINT64_MAX;

    for (int i = 0; i < TRIES && elapsed > CLOCK_MILLISECOND; i++) {
        recorder->monotonic = clock_nanoseconds(CLOCK_MONOTONIC);
        recorder->realtime = clock_nanoseconds(CLOCK_REALTIME);
        elapsed = clock_nanoseconds(CLOCK_MONOTONIC) - recorder->monotonic;
    }
    recorder->set_back |= recorder->realtime < before;
    if (recorder->set_back)
        recorder->realtime = before + recorder->monotonic - then;
}

/* The time of day at a moment of CLOCK_MONOTONIC. */
static uint64_t recorder_time_at(const struct recorder *recorder, uint64_t monotonic)
{
    return recorder->realtime - recorder->monotonic + monotonic;
}

static void recorder_write(struct recorder *recorder, struct record_output *output,
                           struct sink *sink, const struct record *record, uint64_t time)
{
    recorder->context = *recorder->sink.context;
    recorder->context.time = time;
    sink->ops->row(sink, record);
    output->segment.rows++;
}

/* Sets event and age of a copy. The age is computed again, because the live store counts from the
 * first sample that had the row. */
static void recorder_copy(const struct recorder *recorder, const struct recorded_socket *known,
                          const struct record *record, uint8_t event, struct record *copy)
{
    const struct lasting *lasting = record->kind->lasting;
    const struct age age = {.ms = (recorder->monotonic - known->began) / CLOCK_MILLISECOND};

    memcpy(copy, record, record->kind->size);
    *((uint8_t *)copy + lasting->event) = event;
    copy->has = event ? copy->has | lasting->has_event : copy->has & ~lasting->has_event;
    if (known->began && known->began <= recorder->monotonic) {
        memcpy((char *)copy + lasting->age, &age, sizeof age);
        copy->has |= lasting->has_age;
    }
}

static uint64_t hash_of_socket(const struct recorded_socket *known)
{
    return hash_word(known->netns, known->cookie);
}

static bool is_recorded_socket(const void *element, const void *key)
{
    const struct recorded_socket *one = element, *other = key;

    return one->cookie == other->cookie && one->netns == other->netns;
}

/* Finds the socket, or adds it. Returns NULL if memory is short. */
static struct recorded_socket *recorder_find(struct recorder *recorder, const struct record *record)
{
    const struct netns *netns = recorder->sink.context->netns.netns;
    const struct recorded_socket key = {.cookie = record->identity,
                                        .netns = (uint32_t)(netns ? netns->id : recorder->own)};
    const uint64_t hash = hash_of_socket(&key);
    struct recorded_socket *known =
        hash_table_find(&recorder->known, hash, is_recorded_socket, &key);

    if (!known && (known = hash_table_add(&recorder->known, hash, sizeof *known))) {
        *known = key;
        known->began = live_begin_of(recorder->live, record->identity);
    }
    return known;
}

/* The moment at which the row began: as noted, or as its age says. */
static uint64_t recorder_begin(const struct recorder *recorder, const struct recorded_socket *known,
                               const struct record *record)
{
    struct age age = {.ms = 0};

    if (known->began && known->began <= recorder->monotonic)
        return recorder_time_at(recorder, known->began);
    if (record->has & record->kind->lasting->has_age)
        memcpy(&age, (const char *)record + record->kind->lasting->age, sizeof age);
    return recorder->realtime - age.ms * CLOCK_MILLISECOND;
}

/* True for sockets in TIME_WAIT: the connection has ended, and no row is written. */
static bool recorder_is_over(const struct record *record)
{
    const struct lasting *lasting = record->kind->lasting;

    return *((const uint8_t *)record + lasting->state) == lasting->over;
}

/* Writes a row of a sample: whole if it is new, or if more than its moving columns changed. */
static void recorder_take_sample(struct recorder *recorder, struct recorded_socket *known,
                                 const struct record *record)
{
    const bool is_new = !known->shown || known->gone;
    const uint32_t moving = recorder_hash(recorder, &recorder->moving, record),
                   fixed = recorder_hash(recorder, &recorder->fixed, record);
    const bool whole = is_new || fixed != known->fixed;
    struct record_output *now = recorder->now;
    struct record copy;

    known->missed = 0;
    if (known->ended || recorder_is_over(record))
        return;
    if (!recorder->first && (whole || moving != known->moving)) {
        recorder_copy(recorder, known, record, is_new ? LIVE_OPENED : LIVE_CHANGED, &copy);
        recorder_write(recorder, now, whole ? now->whole : now->changed, &copy,
                       is_new ? recorder_begin(recorder, known, record) : recorder->realtime);
    }
    known->moving = moving;
    known->fixed = fixed;
    known->gone = false;
    if (recorder->next) {
        recorder_copy(recorder, known, record, 0, &copy);
        recorder_write(recorder, recorder->next, recorder->next->whole, &copy, recorder->realtime);
    }
    recorder->opened +=
        is_new && !recorder->first && unseen_counts(record) && known->netns == recorder->own;
    known->shown = true;
}

/* Writes that a socket is not seen any more. */
static void recorder_put_lost(const struct recorder *recorder, struct segment *segment,
                              const struct recorded_socket *known)
{
    char time[TEXT_TIME_MAX + 1], line[256];

    *text_time(time, recorder->realtime) = '\0';
    snprintf(line, sizeof line,
             "{\"event\":\"lost\",\"time\":\"%s\",\"netns_id\":%" PRIu32 ",\"cookie\":%" PRIu64
             "}\n",
             time, known->netns, known->cookie);
    writer_puts(&segment->writer, line);
    segment->rows++;
}

/* Writes a row that ended, with the time that was noted for its end, if any. If a frame is being
 * written, the frame may have the row already. */
static void recorder_take_end(struct recorder *recorder, const struct recorded_socket *known,
                              const struct record *record)
{
    struct record_output *output = recorder->now ? recorder->now : recorder->next;
    const struct kind *kind = record->kind;
    struct socket_origin origin = {.noted = 0};
    struct record copy;
    struct text bytes;

    memcpy(&copy, record, kind->size);
    if (record->has & kind->has_origin) {
        memcpy(&bytes, (const char *)record + kind->origin, sizeof bytes);
        memcpy(&origin, bytes.data, sizeof origin);
    }
    if (origin.noted && copy.has & kind->event) {
        const uint64_t time = recorder_time_at(recorder, origin.noted);
        memcpy((char *)&copy + kind->received, &time, sizeof time);
    }
    recorder->unnoted += !origin.noted && unseen_counts(record);
    recorder_write(recorder, output, output->whole, &copy, recorder->realtime);
    if (recorder->next && recorder->next != output)
        recorder_put_lost(recorder, &recorder->next->segment, known);
}

static void recorder_take(struct sink *sink, const struct record *record)
{
    struct recorder *recorder = (struct recorder *)(void *)sink;
    const struct lasting *lasting = record->kind->lasting;
    const uint8_t event =
        (record->has & lasting->has_event) ? *((const uint8_t *)record + lasting->event) : 0;
    struct recorded_socket *known;

    if (event == LIVE_LOST) {
        recorder->lost++;
        return;
    }
    known = recorder_find(recorder, record);
    if (!known) {
        recorder->error = -ENOMEM;
    } else if (event != LIVE_CLOSED) {
        recorder_take_sample(recorder, known, record);
    } else if (!known->ended) {
        recorder->opened += !known->shown && unseen_counts(record) && known->netns == recorder->own;
        known->ended = true;
        recorder_take_end(recorder, known, record);
    }
}

/* Removes the sockets that are marked as gone. */
static int recorder_shrink(struct recorder *recorder)
{
    struct hash_table kept = {.count = 0};

    for (size_t i = 0; i < recorder->known.count; i++) {
        const struct recorded_socket *known = hash_table_at(&recorder->known, i);
        struct recorded_socket *copy =
            known->gone ? NULL : hash_table_add(&kept, hash_of_socket(known), sizeof *copy);
        if (copy) {
            *copy = *known;
        } else if (!known->gone) {
            hash_table_finish(&kept);
            return -ENOMEM;
        }
    }
    hash_table_finish(&recorder->known);
    recorder->known = kept;
    return 0;
}

/* Forgets sockets that the last sample did not have, if they ended or had no row, and others that
 * two samples did not have: the kernel's message about their end can be on its way. */
static int recorder_forget(struct recorder *recorder)
{
    size_t gone = 0;

    for (size_t i = 0; i < recorder->known.count; i++) {
        struct recorded_socket *known = hash_table_at(&recorder->known, i);
        const bool lasts = known->shown && !known->ended;
        if (!known->gone && known->missed > lasts) {
            if (lasts)
                recorder_put_lost(recorder, &recorder->now->segment, known);
            known->gone = true;
        }
        known->missed += !known->gone;
        gone += known->gone;
    }
    return gone > recorder->known.count / 4 ? recorder_shrink(recorder) : 0;
}

/* --- Ticks and segments ----------------------------------------------------------------------- */

static int output_open(struct recorder *recorder, struct record_output *output)
{
    const struct sink_options whole = {.writer = &output->segment.writer,
                                       .context = &recorder->context,
                                       .columns = recorder->all.fields,
                                       .count = recorder->all.count};
    struct sink_options changed = whole;
    const int error = segment_create(&output->segment, &recorder->command->segments,
                                     clock_nanoseconds(CLOCK_REALTIME));

    if (error)
        return error;
    changed.columns = recorder->moving.fields;
    changed.count = recorder->moving.count;
    output->whole = sink_ndjson_create(&whole);
    output->changed = sink_ndjson_create(&changed);
    if (!output->whole || !output->changed)
        return -ENOMEM;
    mark_put_head(&output->segment, recorder->command);
    return 0;
}

static void output_close(struct record_output *output)
{
    sink_destroy(output->whole);
    sink_destroy(output->changed);
    output->whole = output->changed = NULL;
    segment_close(&output->segment);
}

static void recorder_mark(const struct recorder *recorder, struct record_output *output,
                          const char *name, const char *more)
{
    struct segment *segment = &output->segment;
    const bool is_end = strcmp(name, "end") == 0;
    const struct mark mark = {.name = name,
                              .time = recorder->realtime,
                              .rows = segment->rows - (is_end ? 0 : segment->marked),
                              .complete = !recorder->report.partial,
                              .more = more};

    mark_put(segment, &mark);
    segment->marked = segment->rows;
}

/* Makes `next` the segment that ticks are written to. */
static int recorder_change_segment(struct recorder *recorder)
{
    const uint64_t keep = recorder->command->segments.keep_bytes / KEPT_MIN,
                   seconds = recorder->command->segments.keep_seconds / KEPT_MIN;
    struct record_output *before = recorder->now;
    int error;

    if (before)
        output_close(before); /* if the disk is full, it may be dropped */
    recorder_mark(recorder, recorder->next, "frame", "");
    error = segment_commit(&recorder->next->segment);
    const uint64_t frame = recorder->next->segment.size;
    recorder->now = recorder->next;
    recorder->next = NULL;
    recorder->segment_ends = recorder->monotonic +
                             (seconds < SEGMENT_SECONDS ? seconds : SEGMENT_SECONDS) * CLOCK_SECOND;
    recorder->segment_bytes = keep < SEGMENT_BYTES ? keep : SEGMENT_BYTES;
    if (recorder->segment_bytes < FRAMES_MIN * frame)
        recorder->segment_bytes = FRAMES_MIN * frame;
    recorder->tidy_at = 0;
    return error;
}

static int recorder_end_tick(struct recorder *recorder, bool last)
{
    struct record_output *now = recorder->now;
    int error = 0;

    if (now) {
        char more[128];
        snprintf(
            more, sizeof more, ",\"lost\":%" PRIu64 ",\"unseen\":%" PRIu64 ",\"unnoted\":%" PRIu64,
            recorder->lost, unseen_take(&recorder->unseen, recorder->opened), recorder->unnoted);
        recorder_mark(recorder, now, "tick", more);
        recorder->lost = recorder->opened = recorder->unnoted = 0;
        if (last || recorder->next)
            recorder_mark(recorder, now, "end",
                          last ? ",\"continues\":false" : ",\"continues\":true");
        error = segment_commit(&now->segment);
    }
    return !error && recorder->next ? recorder_change_segment(recorder) : error;
}

static bool recorder_wants_segment(const struct recorder *recorder)
{
    return !recorder->now || clock_nanoseconds(CLOCK_MONOTONIC) >= recorder->segment_ends ||
           recorder->now->segment.size >= recorder->segment_bytes;
}

/* Takes a sample, and writes it. last: no segment follows, or a segment with another clock. */
static int recorder_tick(struct recorder *recorder, bool last)
{
    int error;

    if (!last && recorder_wants_segment(recorder)) {
        recorder->next = &recorder->outputs[recorder->now == recorder->outputs];
        error = output_open(recorder, recorder->next);
        if (error)
            return error;
    }
    recorder_read_clocks(recorder);
    unseen_read(&recorder->unseen, recorder->live);
    error = live_read_ends(recorder->live, &recorder->report);
    error = error < 0 ? error : live_sample(recorder->live, &recorder->report);
    if (error < 0 && error != -ENOMEM)
        report_loss(&recorder->report, "%s", strerror(-error));
    if (error == -ENOMEM || recorder->error)
        return -ENOMEM;
    error = recorder->first ? 0 : recorder_forget(recorder);
    if (!error)
        error = recorder_end_tick(recorder, last);
    recorder->first = false;
    return error;
}

/* --- The loop --------------------------------------------------------------------------------- */

/* Waits until this time. Meanwhile reads ends of rows, and findings. Returns 1 when the user wants
 * to stop, 0, or -errno. */
static int recorder_wait(struct recorder *recorder, uint64_t until)
{
    enum { MOST = 256, OTHERS = 2 };
    struct pollfd pollfds[MOST];
    int descriptors[MOST], error = 0;
    uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC), ends_at = now;

    for (; error >= 0 && now < until; now = clock_nanoseconds(CLOCK_MONOTONIC)) {
        const size_t ends =
            now < ends_at ? 0 : live_descriptors(recorder->live, descriptors, MOST - OTHERS);
        const uint64_t left = (now < ends_at && ends_at < until ? ends_at : until) - now;
        const struct timespec time = {(time_t)(left / CLOCK_SECOND), (long)(left % CLOCK_SECOND)};
        pollfds[0] = (struct pollfd){.fd = recorder->stream.events.stop, .events = POLLIN};
        pollfds[1] = (struct pollfd){.fd = recorder->findings.child ? recorder->findings.pipe : -1,
                                     .events = POLLIN};
        for (size_t i = 0; i < ends; i++)
            pollfds[OTHERS + i] = (struct pollfd){.fd = descriptors[i], .events = POLLIN};
        const int ready = ppoll(pollfds, OTHERS + ends, &time, NULL);
        if (ready < 0 && errno != EINTR)
            return -errno;
        if (ready > 0 && pollfds[0].revents)
            return 1;
        if (ready > 0 && pollfds[1].revents)
            findings_read(&recorder->findings, &recorder->now->segment);
        if (ready > 0 && ready > !!pollfds[1].revents) {
            recorder_read_clocks(recorder);
            error = live_read_ends(recorder->live, &recorder->report);
            ends_at = recorder->monotonic + ENDS_PAUSE * CLOCK_MILLISECOND;
        }
    }
    return error < 0 ? error : 0;
}

/* Begins a segment with the clock as it is now, after the segment before has ended. It leaves out a
 * number, because the times of both segments may overlap. */
static int recorder_begin_again(struct recorder *recorder)
{
    output_close(recorder->now);
    recorder->now = NULL;
    recorder->command->segments.last++;
    recorder->realtime = 0;
    recorder->set_back = false;
    recorder->first = true;
    return recorder_tick(recorder, false);
}

static void recorder_print_report(struct recorder *recorder)
{
    struct record_segments *segments = &recorder->command->segments;

    if (segments->dropped)
        report_note(&recorder->report, "the disk is full: removed the oldest segment");
    segments->dropped = 0;
    report_print(&recorder->report, stderr, recorder->command->common.program);
    recorder->report.partial = false;
}

static int recorder_loop(struct recorder *recorder)
{
    const uint64_t interval = recorder->command->interval_ms * CLOCK_MILLISECOND;
    uint64_t next = clock_nanoseconds(CLOCK_MONOTONIC);
    int error = recorder_tick(recorder, false), stopped = 0;

    while (!error && !stopped) {
        const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
        recorder_print_report(recorder);
        if (now >= recorder->tidy_at) {
            segments_tidy(&recorder->command->segments, recorder->realtime);
            recorder->tidy_at = now + TIDY_SECONDS * CLOCK_SECOND;
        }
        if (!recorder->command->no_doctor)
            findings_start(&recorder->findings, recorder->command);
        while (next <= now) /* the machine slept, or a sample took longer */
            next += interval;
        stopped = recorder_wait(recorder, next);
        recorder_read_clocks(recorder);
        const bool set_back = recorder->set_back && !stopped;
        error = stopped < 0 ? stopped : recorder_tick(recorder, stopped || set_back);
        if (!error && set_back)
            error = recorder_begin_again(recorder);
    }
    return error;
}

/* Removes the columns of the peer with --no-remote. */
static void recorder_take_columns(const struct recorder *recorder, const char *names,
                                  struct record_columns *columns)
{
    for (struct text name; text_next(&names, ' ', &name);) {
        const struct field *field = field_find(&kind_socket, name.data, name.length);
        if (field &&
            !(recorder->command->no_remote && text_has_word(RECORD_COLUMNS_OF_PEER, field->name)))
            columns->fields[columns->count++] = field;
    }
}

static int recorder_begin_live(struct recorder *recorder, struct engine *engine,
                               struct writer *writer)
{
    static const struct sink_ops ops = {.row = recorder_take};
    struct listing *listing = &recorder->listing->listing;
    const size_t count = listing->table_count;
    static const struct field *rates[2];
    int error;

    recorder->sink = (struct sink){&ops, writer, recorder->listing->context};
    recorder->own = namespace_own_id();
    rates[0] = field_named(&kind_socket, "bytes_sent");
    rates[1] = field_named(&kind_socket, "bytes_received");
    listing->rates = rates;
    listing->rate_count = COUNT(rates);
    for (size_t i = 0; i < COUNT(rates); i++)
        needs_add(&listing->needs, field_needs(rates[i]));
    recorder->live = live_create(engine, listing, &socket_tracker, &recorder->sink,
                                 stream_kinds(listing->tables, count), &error);
    if (!recorder->live)
        return error;
    live_stream_all(recorder->live);
    unseen_begin(&recorder->unseen, engine, listing);
    return 0;
}

/* Says why the recording ended. */
static int recorder_status(const struct recorder *recorder, int error)
{
    if (!error)
        return STATUS_OK;
    fprintf(stderr, "%s: '%s': %s\n", recorder->command->common.program,
            TYPED(recorder->command->directory), strerror(-error));
    return STATUS_FAILURE;
}

/* Opens the directory. Returns 0 or an exit status. */
static int recorder_open(struct record_command *command)
{
    const int error = segments_open(&command->segments, command->directory);

    command->segments.keep_bytes = command->keep_bytes;
    command->segments.keep_seconds = command->keep_seconds;
    if (!error)
        return 0;
    fprintf(stderr, "%s: '%s': %s\n", command->common.program, TYPED(command->directory),
            error == -EWOULDBLOCK ? "another recorder writes here" : strerror(-error));
    return error == -EWOULDBLOCK ? STATUS_REFUSED : STATUS_FAILURE;
}

int recorder_run(struct listing_command *command, struct engine *engine, struct sink *sink)
{
    struct recorder *recorder = calloc(1, sizeof *recorder);
    struct listing *listing = &command->listing;
    int status;

    if (!recorder)
        return no_memory_status(command->common->program);
    recorder->command = (struct record_command *)(uintptr_t)command->arg;
    recorder->listing = command;
    recorder->first = true;
    recorder->outputs[0].segment.fd = recorder->outputs[1].segment.fd = -1;
    recorder_take_columns(recorder, RECORD_COLUMNS, &recorder->all);
    if (recorder->command->no_remote) /* a reader makes it of both ends, and has only one */
        recorder_take_columns(recorder, "local", &recorder->all);
    recorder_take_columns(recorder, MOVING, &recorder->moving);
    recorder_take_columns(recorder, FIXED, &recorder->fixed);
    status = recorder_open(recorder->command);
    if (!status)
        status = stream_begin(&recorder->stream, command->common, listing, 0, 0);
    listing->events = NULL; /* each sample ends by itself */
    listing->limit = 0;
    if (!status) {
        char counted[COUNTS_TEXT];
        counts_begin(listing, counted, &recorder->report);
        int error = recorder_begin_live(recorder, engine, sink->writer);
        error = error ? error : recorder_loop(recorder);
        recorder_print_report(recorder);
        status = recorder_status(recorder, error);
    }
    findings_finish(&recorder->findings);
    live_destroy(recorder->live);
    for (size_t i = 0; i < COUNT(recorder->outputs); i++)
        output_close(&recorder->outputs[i]);
    hash_table_finish(&recorder->known);
    stream_finish(&recorder->stream);
    segments_close(&recorder->command->segments);
    free(recorder);
    return status;
}
