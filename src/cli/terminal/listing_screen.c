/* SPDX-License-Identifier: MIT */
/* Each sample runs the whole listing, whose sink writes into a file in memory: the run may be made
 * by a child. The lines of this file are the rows of the screen, so that every table and every
 * layout can be shown. */
#include "cli/terminal/listing_screen.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/pace.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/terminal.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"

struct listing_screen {
    struct screen_state state; /* must be first */
    struct screen_ops ops;
    struct live_view view; /* only `order` and `first` are used */
    struct repeated_listing *repeated;
    struct writer *writer;
    unsigned interval_ms;
    struct pace pace;
    uint64_t not_before; /* the next listing must not begin earlier; CLOCK_MONOTONIC */
    int output;          /* descriptor of the file in memory */
    char *text;          /* its contents */
    size_t size, capacity;
    struct text *lines; /* the lines of `text` without the clock and the heading */
    size_t line_count, line_capacity;
    size_t width;          /* width of the screen at the last listing */
    struct report *report; /* report of the last listing; shared with a child */
    struct report reported;
    bool awaited; /* the next listing will have a new order or filter */
    int status;
};

static struct listing_screen *listing_screen_of(const struct screen_state *state)
{
    return (struct listing_screen *)(uintptr_t)state;
}

bool listing_screen_is_wanted(const struct common *common)
{
    return common->interval_ms && common->grammar->in_place && common->format == FORMAT_PLAIN &&
           !common->output && !common->explain && terminal_is_there();
}

/* --- Listings --------------------------------------------------------------------------------- */

/* Copies the output into screen->text. Returns 0 or -errno. */
static int listing_screen_read(struct listing_screen *screen)
{
    struct stat file;
    ssize_t length;

    screen->size = 0;
    if (fstat(screen->output, &file) < 0)
        return -errno;
    char *text =
        array_with_room(screen->text, &screen->capacity, (size_t)file.st_size + 1, sizeof *text);
    if (!text)
        return -ENOMEM;
    screen->text = text;
    while ((length = pread(screen->output, text + screen->size, (size_t)file.st_size - screen->size,
                           (off_t)screen->size)) > 0)
        screen->size += (size_t)length;
    return length < 0 ? -errno : 0;
}

/* Finds the lines of screen->text. The line of the clock is left out, because the first line of the
 * screen shows the time. The heading does not scroll. */
static int listing_screen_split(struct listing_screen *screen)
{
    const struct listing_command *command = screen->repeated->command;
    const bool headed = columns_used(command) && !command->common->no_header;
    const size_t above = command_has_clock(command) + headed;
    struct text heading = {NULL, 0};
    size_t number = 0;

    for (const char *at = screen->text, *stop = at + screen->size, *end; at < stop; at = end + 1) {
        end = memchr(at, '\n', (size_t)(stop - at));
        end = end ? end : stop;
        const struct text line = {at, (size_t)(end - at)};
        struct text *room =
            number < above ? &heading
                           : ARRAY_ADD(screen->lines, screen->line_count, screen->line_capacity);
        if (!room)
            return -ENOMEM;
        *room = line;
        number++;
    }
    screen_heading(screen->state.sink, headed ? heading : (struct text){NULL, 0});
    return 0;
}

/* Sets when the next listing may begin. After a listing the screen waits at least for its CPU time,
 * so that listings use at most half of a CPU. */
static void listing_screen_set_pace(struct listing_screen *screen, struct pace_time began)
{
    const uint64_t took = pace_now().processor - began.processor;
    char news[PACE_NEWS];

    screen->pace.interval = screen->interval_ms * CLOCK_MILLISECOND;
    const uint64_t pause = pace_pause(&screen->pace, (struct pace_time){0, took});
    screen->not_before = pause > screen->pace.interval ? began.clock + pause : 0;
    if (pace_put_news(&screen->pace, took, pause, news))
        report_note(&screen->state.report, "%s", news);
}

static int listing_screen_list(struct listing_screen *screen)
{
    const struct pace_time began = pace_now();
    bool last = false;
    int error;

    if (ftruncate(screen->output, 0) < 0 || lseek(screen->output, 0, SEEK_SET) < 0)
        return -errno;
    screen->awaited = false;
    screen->line_count = 0;
    screen_heading(screen->state.sink, (struct text){NULL, 0});
    screen->width = screen->state.width;
    *screen->report = (struct report){.partial = false};
    screen->status = screen->repeated->run(screen->repeated, screen->output, screen->report, &last);
    screen->state.quits |= last;
    report_add_news(&screen->state.report, screen->report, &screen->reported);
    error = listing_screen_read(screen);
    if (!error)
        error = listing_screen_split(screen);
    listing_screen_set_pace(screen, began);
    screen_renew(&screen->state);
    return error;
}

static int listing_screen_sample(struct screen_state *state, bool all)
{
    struct listing_screen *screen = listing_screen_of(state);
    struct repeated_listing *repeated = screen->repeated;

    if (clock_nanoseconds(CLOCK_MONOTONIC) < screen->not_before ||
        (!all && repeated->is_due && !repeated->is_due(repeated)))
        return 0;
    return listing_screen_list(screen);
}

static size_t listing_screen_descriptors(const struct screen_state *state, int *fds, size_t most)
{
    return live_descriptors(*listing_screen_of(state)->repeated->live, fds, most);
}

static int listing_screen_read_events(struct screen_state *state)
{
    struct repeated_listing *repeated = listing_screen_of(state)->repeated;

    return repeated->read_events(repeated, &state->report);
}

/* True if the next listing cannot be made at once, because it shows what happened in the time since
 * the last listing. */
static bool listing_screen_waits(const struct screen_state *state)
{
    return state->command->listing.maker || state->command->common->delta ||
           listing_screen_of(state)->repeated->live;
}

/* Makes the first listing. A maker may take some time to begin, so a message is drawn before. */
static int listing_screen_begin(struct screen_state *state)
{
    struct listing_screen *screen = listing_screen_of(state);
    int error = 0;

    clock_catch_interrupt();
    if (state->command->listing.maker) {
        screen_note(state, false, "watching; ctrl-C ends this and shows the rows");
        error = screen_draw(state);
        *state->message = '\0';
    }
    if (!error)
        error = listing_screen_list(screen);
    if (state->command->common->delta || screen->repeated->live)
        screen_hint(state, "rates begin with the next listing");
    return error;
}

/* --- Order and filter ------------------------------------------------------------------------- */

/* Lists again, unless a listing shows what happened since the last listing. */
static int listing_screen_again(struct screen_state *state)
{
    const struct listing_command *command = state->command;

    if (state->view->order.field && !listing_counts(&command->listing) && columns_used(command))
        *state->command->listing.sort = state->view->order;
    if (!listing_screen_waits(state))
        return listing_screen_list(listing_screen_of(state));
    listing_screen_of(state)->awaited = true;
    return 0;
}

/* Sorts by the chosen column; groups are sorted by their own columns. */
static int listing_screen_choose(struct screen_state *state)
{
    const struct listing_command *command = state->command;
    struct sort_key *sort = state->command->listing.sort;

    if (!columns_used(command)) {
        screen_hint(state, "only rows with columns can be sorted");
        return 0;
    }
    *sort = state->view->order;
    if (listing_counts(&command->listing) && state->sorted < command->shown_count)
        sort->field = command->shown[state->sorted];
    sort[1].field = NULL;
    if (sort->field)
        needs_add(&state->command->listing.needs, field_needs(sort->field));
    return listing_screen_again(state);
}

/* --- Frames ----------------------------------------------------------------------------------- */

static size_t listing_screen_count_lines(const struct screen_state *state)
{
    (void)state;
    return 1;
}

static void listing_screen_put_lines(struct screen_state *state)
{
    const struct listing *listing = &state->command->listing;
    const time_t seconds = (time_t)(listing->time / CLOCK_SECOND);
    const struct sort_key *sort = listing->sort;
    char note[128] = "";
    struct tm local;

    if (localtime_r(&seconds, &local))
        strftime(note, sizeof note, "%T", &local);
    if (sort->field && state->sorted < state->command->shown_count)
        message_append(note, sizeof note, "   sorted by %s%s", sort->descending ? "-" : "",
                       sort->field->name);
    if (listing_screen_of(state)->awaited)
        message_append(note, sizeof note, "%s", " (from the next listing on)");
    screen_put_first(state, state->command->common->grammar->name, "", note);
}

static int listing_screen_show(struct screen_state *state)
{
    struct listing_screen *screen = listing_screen_of(state);
    const struct live_view *view = state->view;
    int error = 0;

    if (screen->width && screen->width != state->width && !listing_screen_waits(state) &&
        !state->paused)
        error = listing_screen_list(screen); /* the table must fit the new width */
    state->listed = screen->line_count;
    for (size_t i = view->first; i < screen->line_count && i - view->first < view->count; i++)
        if (screen_add_row(state, (struct screen_row){.id = 0}))
            screen_text(state->sink, screen->lines[i]);
    return error;
}

/* --- The end ---------------------------------------------------------------------------------- */

/* Prints the last listing and its report. If ctrl-C ended the screen, a maker first lists what it
 * has counted so far, as each end does with repeated_listing.last_run. */
static void listing_screen_leave(struct screen_state *state)
{
    struct listing_screen *screen = listing_screen_of(state);

    if ((clock_interrupted() && state->command->listing.maker && !state->quits) ||
        screen->repeated->last_run)
        (void)listing_screen_list(screen);
    writer_put(screen->writer, screen->text ? screen->text : "", screen->size);
    (void)writer_flush(screen->writer);
    state->report.count = 0;
    report_print(screen->report, stderr, state->command->common->program);
}

static const struct screen_ops listing_screen_ops = {
    .bottom = "? help  / filter  < > sort  r reverse  space pause  q quit",
    .keys = {keys_of_order, keys_of_scrolling, keys_of_end},
    .notes = "\nThe last listing stays on the terminal when the screen ends.\n",
    .begin = listing_screen_begin,
    .sample = listing_screen_sample,
    .choose = listing_screen_choose,
    .filter = listing_screen_again,
    .count_lines = listing_screen_count_lines,
    .put_lines = listing_screen_put_lines,
    .show = listing_screen_show,
    .is_text = true,
    .leave = listing_screen_leave,
};

int listing_screen_run(struct repeated_listing *repeated, struct writer *writer)
{
    struct listing_command *command = repeated->command;
    const struct common *common = command->common;
    struct sink_options options = {.writer = writer};
    struct listing_screen *screen = calloc(1, sizeof *screen);
    struct report *report =
        mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const int output = memfd_create("listing", MFD_CLOEXEC);
    int status = STATUS_FAILURE;

    if (screen && report != MAP_FAILED && output >= 0) {
        screen->ops = listing_screen_ops;
        screen->state.ops = &screen->ops;
        screen->state.command = command;
        screen->state.view = &screen->view;
        screen->state.interval_ms = &screen->interval_ms;
        screen->state.for_ms = repeated->for_ms;
        screen->view.order = command->listing.sort[0];
        screen->repeated = repeated;
        screen->writer = writer;
        screen->interval_ms = common->interval_ms;
        screen->pace.strict = common->strict_interval;
        screen->pace.has_option = options_named(common->grammar->tables, "strict-interval");
        screen->output = output;
        screen->report = report;
        if (repeated->live) {
            screen->ops.descriptors = listing_screen_descriptors;
            screen->ops.read_events = listing_screen_read_events;
        }
        if (!columns_used(command))
            screen->ops.bottom = "? help  / filter  space pause  q quit";
        status = screen_run(&screen->state, &options, NULL);
        status = status ? status : screen->status;
        free(screen->text);
        free(screen->lines);
    } else {
        (void)no_memory_status(common->program);
    }
    free(screen);
    if (report != MAP_FAILED)
        munmap(report, sizeof *report);
    if (output >= 0)
        close(output);
    if (clock_interrupted() && !command->listing.maker && !repeated->last_run)
        raise(SIGINT);
    return status;
}
