/* SPDX-License-Identifier: MIT */
/* The frames of a screen. */
#include "cli/terminal/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/terminal.h"
#include "fastnet/clock.h"

const char *screen_amount(char room[SCREEN_AMOUNT], double amount)
{
    return human_number(room, (uint64_t)amount, UNIT_BYTES);
}

const char *screen_rate_cell(const struct screen_state *state, char room[SCREEN_AMOUNT],
                             double bytes)
{
    return human_number(room, (uint64_t)bytes,
                        state->bits ? UNIT_BITS_PER_SECOND : UNIT_BYTES_PER_SECOND);
}

const char *screen_rate(const struct screen_state *state, char room[SCREEN_AMOUNT], double bytes)
{
    screen_rate_cell(state, room, bytes);
    stpcpy(room + strlen(room), state->bits ? "/s" : "B/s");
    return room;
}

#define PROMPT "filter: "

/* --- Frames ----------------------------------------------------------------------------------- */

void screen_put_first(const struct screen_state *state, const char *what, const char *how_often,
                      const char *note)
{
    const struct live_view *view = state->view;
    char text[1024];

    snprintf(text, sizeof text, "fastnet %s, every %g s%s", what, *state->interval_ms / 1000.0,
             how_often);
    message_append(text, sizeof text, "%s", state->paused ? "   PAUSED" : "");
    if (*state->filter)
        message_append(text, sizeof text, "   filter: %s", TYPED(state->filter));
    if (state->sorted == SIZE_MAX && view->order.field)
        message_append(text, sizeof text, "   sorted by %s", view->order.field->name);
    if (view->group)
        message_append(text, sizeof text, "   by %s", view->group->name);
    if (state->command->listing.most)
        message_append(text, sizeof text, "   the first %" PRIu64, state->command->listing.most);
    message_append(text, sizeof text, "%s%s%s%s",
                   view->totals ? "   totals since top was started" : "",
                   view->idle ? "   with idle sockets" : "", *note ? "   " : "", note);
    screen_line(state->sink, SCREEN_BOLD, text);
}

/* Draws the line that the user types, below a message about it. */
static int put_typed_line(struct screen_state *state, const struct field *sorted)
{
    const size_t before = sizeof PROMPT - 1, width = state->width;
    char shown[LINE_SHOWN], text[sizeof state->message + sizeof shown + sizeof PROMPT];

    screen_cursor(state->sink,
                  before + line_edit_show(&state->line, width > before ? width - before : 0,
                                          command_is_utf8() ? TEXT_CUT : TEXT_CUT_ASCII, shown));
    snprintf(text, sizeof text, "%s%s" PROMPT "%s", state->message, *state->message ? "\n" : "",
             shown);
    return screen_end(state->sink, sorted, SIZE_MAX,
                      *state->message && state->is_problem ? SCREEN_PROBLEM : SCREEN_BOLD, text);
}

static int put_bottom(struct screen_state *state)
{
    const struct listing_command *command = state->command;
    const struct field *sorted = state->sorted < command->shown_count
                                     ? command->shown[state->sorted]
                                 : state->view->order.field ? NULL
                                                            : state->usual;

    if (state->typing)
        return put_typed_line(state, sorted);
    if (*state->message)
        return screen_end(state->sink, sorted, state->chosen,
                          state->is_problem ? SCREEN_PROBLEM : SCREEN_BOLD, state->message);
    return screen_end(state->sink, sorted, state->chosen, SCREEN_DIM, state->ops->bottom);
}

/* --- Rows ------------------------------------------------------------------------------------- */

static bool screen_is_same(const struct screen_row *one, const struct screen_row *other)
{
    return one->id && one->id == other->id && one->netns_index == other->netns_index &&
           one->group == other->group;
}

bool screen_add_row(struct screen_state *state, struct screen_row row)
{
    const size_t at = state->row_count;

    if (state->searching && !row.ended && screen_is_same(&row, &state->chosen_row))
        state->found = at;
    if (!state->searching && at == state->row_room)
        return false;
    if (!state->searching)
        state->rows[at] = row;
    state->row_count++;
    return !state->searching;
}

/* Adds rows from the view's first row on, until the screen has `most`. */
static int add_rows(struct screen_state *state, size_t most)
{
    struct live_view *view = state->view;
    const size_t first = view->first;
    size_t before;
    int error = 0;

    state->row_count = 0;
    do {
        before = state->row_count;
        view->first = first + before;
        view->count = most - before;
        error = state->ops->show(state);
    } while (!error && state->row_count > before && state->row_count < most &&
             first + state->row_count < state->listed);
    view->first = first;
    return error;
}

static bool screen_make_room(struct screen_state *state, size_t count)
{
    struct screen_row *rows = calloc(count, sizeof *rows);

    if (!rows || !screen_keep_rows(state->sink, count)) {
        free(rows);
        return false;
    }
    free(state->rows);
    state->rows = rows;
    state->row_room = count;
    return true;
}

/* Keeps all rows that the user can scroll to or, if memory is short, the rows of one screen. */
static int hold_rows(struct screen_state *state)
{
    struct live_view *view = state->view;
    const size_t first = view->first;
    int error;

    (void)screen_make_room(state, HELD_ROWS);
    screen_begin(state->sink, state->width, state->height, true);
    view->first = 0;
    error = state->row_room ? add_rows(state, state->row_room) : -ENOMEM;
    view->first = first;
    state->listed = state->row_count;
    state->held = true;
    return error;
}

void screen_renew(struct screen_state *state)
{
    state->held = false;
}

/* Sets state->found to the index of the chosen row, or to SIZE_MAX if it is not among MOST rows. */
static int search_chosen(struct screen_state *state)
{
    enum { MOST = 1000 };
    struct live_view *view = state->view;
    const size_t first = view->first, count = view->count, rows = state->row_count;
    int error = 0;

    state->found = SIZE_MAX;
    for (size_t i = 0; state->held && i < rows && state->found == SIZE_MAX; i++)
        if (!state->rows[i].ended && screen_is_same(&state->rows[i], &state->chosen_row))
            state->found = i;
    if (state->held)
        return 0;
    state->searching = true;
    view->first = 0;
    error = add_rows(state, MOST);
    state->searching = false;
    view->first = first;
    view->count = count;
    state->row_count = rows;
    return error;
}

/* Finds the chosen socket or group, and highlights its row. If the user chose it and it is not on
 * the screen, scrolls to it. If it is gone, highlights the next row. Returns 1 if the view moved
 * and must be drawn again, 0 or -errno. */
static int screen_find_chosen(struct screen_state *state, bool may_scroll)
{
    const struct screen_row *rows = state->rows + (state->held ? state->view->first : 0);
    struct live_view *view = state->view;
    size_t at = 0;

    if (state->ops->is_text) {
        state->chosen = SIZE_MAX;
        return 0;
    }
    while (at < state->shown_count && !screen_is_same(&rows[at], &state->chosen_row))
        at++;
    if (at == state->shown_count && state->follows && state->chosen_row.id && may_scroll) {
        const int error = search_chosen(state);
        if (error < 0)
            return error;
        if (state->found != SIZE_MAX && state->shown_count) {
            const bool above = state->found < view->first;
            view->first = above ? state->found : state->found - state->shown_count + 1;
            return 1;
        }
    }
    if (at < state->shown_count)
        state->chosen = at;
    else if (!state->follows && state->chosen_row.id)
        state->chosen = 0;
    if (state->chosen >= state->shown_count)
        state->chosen = state->shown_count ? state->shown_count - 1 : 0;
    state->chosen_row = state->shown_count ? rows[state->chosen] : (struct screen_row){.id = 0};
    return 0;
}

/* Draws the rows of the view for which the screen has room. Sets shown_count. */
static int screen_put_rows(struct screen_state *state)
{
    struct live_view *view = state->view;
    int error = 0;

    if (state->paused && !state->held)
        error = hold_rows(state);
    else if (!state->paused && state->row_room != SCREEN_ROWS &&
             !screen_make_room(state, SCREEN_ROWS))
        return -ENOMEM;
    if (state->paused)
        screen_begin_again(state->sink, state->width, state->height, true);
    else
        screen_begin(state->sink, state->width, state->height, true);
    view->count = screen_room(state->sink, state->ops->count_lines(state) + 1);
    if (!state->paused) {
        error = add_rows(state, view->count);
        state->shown_count = state->row_count;
        return error;
    }
    const size_t left = state->listed > view->first ? state->listed - view->first : 0;
    state->shown_count = left < view->count ? left : view->count;
    screen_draw_rows(state->sink, view->first, state->shown_count);
    return error;
}

static int draw_table(struct screen_state *state, bool may_scroll)
{
    struct live_view *view = state->view;
    int error = screen_put_rows(state);

    if (view->first >= state->listed && view->first) {
        const size_t least = view->count ? view->count : 1; /* for the last row */
        view->first = state->listed > least ? state->listed - least : 0;
        return error < 0 ? error : draw_table(state, may_scroll);
    }
    if (error >= 0)
        error = screen_find_chosen(state, may_scroll);
    if (error > 0)
        return draw_table(state, false);
    state->ops->put_lines(state);
    const int written = put_bottom(state);
    return error < 0 ? error : written;
}

int screen_draw(struct screen_state *state)
{
    terminal_size(&state->width, &state->height);
    return state->page_count ? screen_page_draw(state) : draw_table(state, true);
}

void screen_note(struct screen_state *state, bool is_problem, const char *text)
{
    *state->message = '\0';
    message_append(state->message, sizeof state->message, "%s", text);
    state->is_problem = is_problem;
}

void screen_hint(struct screen_state *state, const char *text)
{
    screen_note(state, false, text);
    state->noted_at = clock_nanoseconds(CLOCK_MONOTONIC);
}

void screen_keep_message(struct screen_state *state)
{
    free(state->last_words);
    state->last_words = strdup(state->message);
}
