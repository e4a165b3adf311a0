/* SPDX-License-Identifier: MIT */
/* The table on a terminal: its frames. */
#include "cli/live/screen.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/live/terminal.h"

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

    snprintf(text, sizeof text, "fastnet %s, every %g s%s", what, *state->interval_ms / 1000.0,
             how_often);
    if (*state->filter)
        said_add(text, sizeof text, "   filter: %s", TYPED(state->filter));
    if (view->group)
        said_add(text, sizeof text, "   by %s", view->group->name);
    if (state->command->listing.most)
        said_add(text, sizeof text, "   the first %" PRIu64, state->command->listing.most);
    said_add(text, sizeof text, "%s%s%s%s%s", view->totals ? "   totals since it began" : "",
             view->idle ? "   with idle ones" : "", state->paused ? "   PAUSED" : "",
             *note ? "   " : "", note);
    screen_line(state->sink, SCREEN_BOLD, text);
}

static int put_bottom(struct screen_state *state)
{
    const struct listing_command *command = state->command;
    const struct field *sorted =
        state->sorted < command->shown_count ? command->shown[state->sorted] : NULL;

    if (state->typing) {
        char escaped[ESCAPE_FACTOR * FILTER_MAX + 1], text[2048];
        *escape_text(escaped, state->typed, strlen(state->typed), NULL) = '\0';
        snprintf(text, sizeof text, "filter: %s_  %s", escaped, state->message);
        return screen_end(state->sink, sorted, SIZE_MAX,
                          *state->message ? SCREEN_PROBLEM : SCREEN_BOLD, text);
    }
    if (*state->message)
        return screen_end(state->sink, sorted, state->chosen,
                          state->is_problem ? SCREEN_PROBLEM : SCREEN_BOLD, state->message);
    return screen_end(state->sink, sorted, state->chosen, SCREEN_DIM, state->ops->bottom);
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
    if (!state->page_count)
        return draw_table(state);
    screen_begin(state->sink, state->width, state->height, false);
    for (size_t i = state->page_first;
         i < state->page_count && i + 1 < state->page_first + state->height; i++)
        screen_line(state->sink, SCREEN_PLAIN, state->page[i]);
    return screen_end(state->sink, NULL, SIZE_MAX, SCREEN_DIM,
                      "up and down scroll, any other key goes back");
}

void screen_say(struct screen_state *state, bool is_problem, const char *text)
{
    *state->message = '\0';
    said_add(state->message, sizeof state->message, "%s", text);
    state->is_problem = is_problem;
}
