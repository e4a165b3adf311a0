/* SPDX-License-Identifier: MIT */
/* The main loop of a screen: it waits, samples, and takes keys, until its end. */
#include "cli/terminal/screen.h"

#include "cli/known_names.h"
#include "cli/terminal/terminal.h"
#include "fastnet/clock.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t NOTED = 5 * CLOCK_SECOND;

/* Shows a line of a report, which is not escaped, for some seconds. */
static void terminal_run_note(struct screen_state *state, bool is_problem, const char *line)
{
    char escaped[ESCAPE_FACTOR * REPORT_LENGTH + 1];

    *escape_text(escaped, line, strlen(line), NULL) = '\0';
    screen_note(state, is_problem, escaped);
    state->noted_at = clock_nanoseconds(CLOCK_MONOTONIC);
}

/* Shows each reported problem once, at the bottom. All are printed at the end. */
static void note_problem(struct screen_state *state)
{
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);

    if (*state->message && state->noted_at && now - state->noted_at > NOTED)
        *state->message = '\0';
    if (!*state->message)
        state->noted_at = 0;
    if (state->noted == state->report.count || state->noted == REPORT_LINES || *state->message ||
        state->typing)
        return;
    terminal_run_note(state, state->report.partial, state->report.lines[state->noted++]);
}

/* Waits for a key, for the time of the next sample, or for events, which are read at most ten times
 * a second. Returns false if stdin has ended. */
static bool wait(struct screen_state *state)
{
    enum { MOST = 255, PAUSE = 10 };
    int descriptors[MOST];
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    const uint64_t ready = state->events_read + CLOCK_SECOND / PAUSE;
    const bool has_events = state->ops->descriptors && !state->paused;
    const size_t count =
        has_events && now >= ready ? state->ops->descriptors(state, descriptors, MOST) : 0;
    uint64_t until = state->paused ? now + CLOCK_SECOND : state->next;

    if (has_events && now < ready && ready < until)
        until = ready;
    return terminal_wait(until > now ? until - now : 0, descriptors, count);
}

/* Samples if it is time, or if events need it. Returns 1 if it did, 0 or -errno. */
static int terminal_run_sample(struct screen_state *state)
{
    const uint64_t interval = *state->interval_ms * CLOCK_MILLISECOND;
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    int error = 0;

    if (state->paused)
        return 0;
    if (now >= state->next) {
        error = state->ops->sample(state, false);
        state->next = state->next + interval > now ? state->next + interval : now + interval;
        return error < 0 ? error : 1;
    }
    if (state->ops->read_events && now >= state->events_read + CLOCK_SECOND / 10) {
        error = state->ops->read_events(state);
        state->events_read = now;
        if (error > 0)
            error = state->ops->sample(state, true);
    }
    return error < 0 ? error : 0;
}

static int terminal_run_step(struct screen_state *state)
{
    const bool changed = terminal_changed();
    int error = 0, key;

    if (changed)
        screen_forget(state->sink);
    while (error >= 0 && !state->quits && (key = terminal_key()) != KEY_NONE) {
        error = screen_take_key(state, key);
        if (error >= 0) /* the next key acts on rows that are shown by then */
            error = screen_draw(state);
    }
    if (error >= 0)
        error = terminal_run_sample(state);
    if (error > 0 && state->page_count && state->fill_page && screen_page_refill(state) < 0)
        screen_page_close(state);
    note_problem(state);
    return error > 0 || (!error && changed) ? screen_draw(state) : error;
}

/* Notes a name of the command line that no process, user or group has. It was reported before the
 * screen began, but the screen hides that line. */
static void terminal_run_note_names(struct screen_state *state)
{
    const struct listing_command *command = state->command;
    struct report report = {.partial = false};

    if (!state->ops->is_text) /* the listings of a screen with text report it */
        known_names_report(command->common, command->kind, true, &report);
    if (report.count)
        terminal_run_note(state, false, report.lines[0]);
}

static int terminal_run_loop(struct screen_state *state)
{
    const uint64_t began = clock_nanoseconds(CLOCK_MONOTONIC);
    const uint64_t end = state->for_ms ? began + state->for_ms * CLOCK_MILLISECOND : UINT64_MAX;
    int error = state->ops->begin(state);

    terminal_run_note_names(state);
    state->next = began + *state->interval_ms * CLOCK_MILLISECOND;
    note_problem(state);
    if (error >= 0)
        error = screen_draw(state);
    while (error >= 0 && !state->quits && !clock_interrupted() &&
           clock_nanoseconds(CLOCK_MONOTONIC) < end && wait(state))
        error = terminal_run_step(state);
    return error;
}

int screen_run(struct screen_state *state, struct sink_options *options, const struct field *event)
{
    struct listing_command *command = state->command;
    const char *program = command->common->program;
    int error = -ENOMEM;

    options->context = command->context;
    options->columns = command->shown;
    options->count = state->ops->is_text ? 0 : command->shown_count;
    options->colour = command_colour(command->common);
    options->ascii = !command_is_utf8();
    state->where = command->listing.where;
    state->sorted = SIZE_MAX;
    for (size_t i = 0; i < command->shown_count; i++)
        if (command->shown[i] == state->view->order.field)
            state->sorted = i;
    state->sink = sink_screen_create(options, event);
    if (state->sink)
        error = terminal_begin();
    if (!error) {
        options->writer->full = WRITER_CAPACITY; /* a frame is one write(2) */
        error = terminal_run_loop(state);
        terminal_end();
        if (error >= 0 && state->ops->leave)
            state->ops->leave(state);
    }
    if (state->last_words)
        puts(state->last_words);
    report_print(&state->report, stderr, program);
    if (error < 0 && error != -EPIPE)
        fprintf(stderr, "%s: %s\n", program, strerror(-error));
    where_finish(&state->typed_where);
    sink_destroy(state->sink);
    free(state->last_words);
    free(state->condition);
    free(state->page);
    free(state->rows);
    return error < 0 && error != -EPIPE ? STATUS_FAILURE : STATUS_OK;
}
