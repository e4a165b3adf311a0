/* SPDX-License-Identifier: MIT */
/* The table on a terminal: its frames and its life. */
#include "cli/live/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live/terminal.h"
#include "fastnet/clock.h"

static const uint64_t NOTED = 5 * CLOCK_SECOND;

const char *screen_amount(char room[SCREEN_AMOUNT], double amount)
{
    const struct value value = {.type = VALUE_NUMBER, .number = (uint64_t)amount};

    *value_write_human(room, &value, UNIT_BYTES) = '\0';
    return room;
}

/* --- Frames ----------------------------------------------------------------------------------- */

void screen_put_first(const struct screen_state *state, const char *what, const char *how_often,
                      const char *note)
{
    const struct live_view *view = state->view;
    char text[1024];
    int length = snprintf(text, sizeof text, "fastnet %s, every %g s%s", what,
                          *state->interval_ms / 1000.0, how_often);
    const size_t room = sizeof text;

    if (*state->filter)
        length += snprintf(text + length, room - (size_t)length, "   filter: %.*s", FILTER_MAX,
                           TYPED(state->filter));
    if (view->group)
        length += snprintf(text + length, room - (size_t)length, "   by %s", view->group->name);
    if (state->command->listing.most)
        length += snprintf(text + length, room - (size_t)length, "   the first %" PRIu64,
                           state->command->listing.most);
    snprintf(text + length, room - (size_t)length, "%s%s%s%s%s",
             view->totals ? "   totals since it began" : "", view->idle ? "   with idle ones" : "",
             state->paused ? "   PAUSED" : "", *note ? "   " : "", note);
    screen_line(state->sink, SCREEN_BOLD, text);
}

static int put_bottom(struct screen_state *state)
{
    const struct listing_command *command = state->command;
    const struct field *sorted =
        state->sorted < command->shown_count ? command->shown[state->sorted] : NULL;

    if (state->typing) {
        char text[2048];
        snprintf(text, sizeof text, "filter: %s_  %s", TYPED(state->typed), state->message);
        return screen_end(state->sink, sorted, SIZE_MAX,
                          *state->message ? SCREEN_PROBLEM : SCREEN_BOLD, text);
    }
    if (*state->message)
        return screen_end(state->sink, sorted, state->chosen,
                          state->is_problem ? SCREEN_PROBLEM : SCREEN_BOLD, state->message);
    return screen_end(state->sink, sorted, state->chosen, SCREEN_DIM, state->ops->bottom);
}

static int draw_page(struct screen_state *state)
{
    screen_begin(state->sink, state->width, state->height, false);
    for (size_t i = state->page_first;
         i < state->page_count && i + 1 < state->page_first + state->height; i++)
        screen_line(state->sink, SCREEN_PLAIN, state->page[i]);
    return screen_end(state->sink, NULL, SIZE_MAX, SCREEN_DIM,
                      "up and down scroll, any other key goes back");
}

static int draw_table(struct screen_state *state)
{
    struct live_view *view = state->view;
    int error;

    screen_begin(state->sink, state->width, state->height, true);
    view->count = screen_room(state->sink, state->ops->count_lines(state) + 1);
    state->shown_count = 0;
    error = state->ops->show(state);
    if (view->first >= state->listed && view->first) {
        const size_t least = view->count ? view->count : 1; /* the last row is there, seen or not */
        view->first = state->listed > least ? state->listed - least : 0;
        return error < 0 ? error : draw_table(state);
    }
    if (state->chosen >= state->shown_count)
        state->chosen = state->shown_count ? state->shown_count - 1 : 0;
    state->ops->put_lines(state);
    const int written = put_bottom(state);
    return error < 0 ? error : written;
}

int screen_draw(struct screen_state *state)
{
    terminal_size(&state->width, &state->height);
    return state->page_count ? draw_page(state) : draw_table(state);
}

void screen_say(struct screen_state *state, bool is_problem, const char *text)
{
    snprintf(state->message, sizeof state->message, "%s", text);
    state->is_problem = is_problem;
}

/* --- Its life --------------------------------------------------------------------------------- */

/* What went wrong is said at the bottom, each thing once; all of it is printed at the end. */
static void note_problem(struct screen_state *state)
{
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);

    if (*state->message && state->noted_at && now - state->noted_at > NOTED)
        *state->message = '\0';
    if (!*state->message)
        state->noted_at = 0;
    if (state->report.count == state->noted || *state->message || state->typing)
        return;
    screen_say(state, state->report.partial, state->report.lines[state->noted++]);
    state->noted_at = now;
}

/* Waits for a key, the next look, or events, which are read ten times a second at most. */
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

/* Looks again if it is time, or if events want it. Returns 1 if it did, 0 or -errno. */
static int look(struct screen_state *state)
{
    const uint64_t interval = *state->interval_ms * (CLOCK_SECOND / 1000);
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    int error = 0;

    if (state->paused)
        return 0;
    if (now >= state->next) {
        error = state->ops->look(state, false);
        state->next = state->next + interval > now ? state->next + interval : now + interval;
        return error < 0 ? error : 1;
    }
    if (state->ops->read_events && now >= state->events_read + CLOCK_SECOND / 10) {
        error = state->ops->read_events(state);
        state->events_read = now;
        if (error > 0)
            error = state->ops->look(state, true);
    }
    return error < 0 ? error : 0;
}

static int go_on(struct screen_state *state)
{
    const bool changed = terminal_changed();
    int error = 0, key;

    if (changed)
        screen_forget(state->sink);
    while (error >= 0 && !state->quits && (key = terminal_key()) != KEY_NONE) {
        error = screen_take_key(state, key);
        if (error >= 0) /* the next key may mean a row that is shown now */
            error = screen_draw(state);
    }
    if (error >= 0)
        error = look(state);
    note_problem(state);
    return error > 0 || (!error && changed) ? screen_draw(state) : error;
}

static int run(struct screen_state *state)
{
    const uint64_t began = clock_nanoseconds(CLOCK_MONOTONIC), millisecond = CLOCK_SECOND / 1000;
    const uint64_t end = state->for_ms ? began + state->for_ms * millisecond : UINT64_MAX;
    int error = state->ops->begin(state);

    state->next = began + *state->interval_ms * millisecond;
    note_problem(state);
    if (error >= 0)
        error = screen_draw(state);
    while (error >= 0 && !state->quits && clock_nanoseconds(CLOCK_MONOTONIC) < end && wait(state))
        error = go_on(state);
    return error;
}

/* The column that rows are sorted by at first. */
static size_t sorted_column(const struct screen_state *state)
{
    const struct listing_command *command = state->command;
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < command->shown_count; i++)
        if (command->shown[i] == state->view->order.field)
            found = i;
    return found;
}

int screen_run(struct screen_state *state, struct sink_options *options, const struct field *event)
{
    struct listing_command *command = state->command;
    const char *program = command->common->program;
    int error = -ENOMEM;

    options->context = command->context;
    options->columns = command->shown;
    options->count = command->shown_count;
    options->colour = command_colour(command->common);
    state->where = command->listing.where;
    state->sorted = sorted_column(state);
    state->sink = sink_screen_create(options, event);
    if (state->sink)
        error = terminal_begin();
    if (!error) {
        options->writer->full = WRITER_CAPACITY; /* a frame is one write(2) */
        error = run(state);
        terminal_end();
    }
    report_print(&state->report, stderr, program);
    if (error < 0 && error != -EPIPE)
        fprintf(stderr, "%s: %s\n", program, strerror(-error));
    where_finish(&state->typed_where);
    sink_destroy(state->sink);
    free(state->page);
    return error < 0 && error != -EPIPE ? STATUS_FAILURE : STATUS_OK;
}
