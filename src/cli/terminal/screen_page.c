/* SPDX-License-Identifier: MIT */
/* Pages of text that a screen shows in place of its table: help, all values of a row, lists to
 * choose from. */
#include <stdio.h>
#include <string.h>

#include "cli/terminal/screen.h"
#include "cli/terminal/terminal.h"
#include "fastnet/array.h"

enum { WHEEL_LINES = 3 };
enum { PAGE_LEAST = 20 /* smallest width of a text, also on a narrow terminal */ };

long screen_steps(int key, size_t page, size_t all)
{
    switch (key) {
    case KEY_UP:
    case 'k':
        return -1;
    case KEY_DOWN:
    case 'j':
        return 1;
    case KEY_WHEEL_UP:
        return -WHEEL_LINES;
    case KEY_WHEEL_DOWN:
        return WHEEL_LINES;
    case KEY_PAGE_UP:
        return -(long)page;
    case KEY_PAGE_DOWN:
        return (long)page;
    case KEY_HOME:
        return -(long)all;
    case KEY_END:
    case 'G':
        return (long)all;
    default:
        return 0;
    }
}

size_t screen_clamp(long at, long most)
{
    at = at < most ? at : most;
    return at > 0 ? (size_t)at : 0;
}

/* Lines of the terminal for the page; the last line is for the keys. */
static size_t page_room(const struct screen_state *state)
{
    return state->height > 1 ? state->height - 1 : 1;
}

void screen_page_add_line(struct screen_state *state, size_t columns, const char *name,
                          struct text text)
{
    char(*page)[PAGE_LINE] =
        array_with_room(state->page, &state->page_capacity, state->page_count + 1, sizeof *page);
    const struct text_room room = {PAGE_LINE - columns - 2, SIZE_MAX, SIZE_MAX};

    if (!page)
        return;
    state->page = page;
    snprintf(page[state->page_count++], PAGE_LINE, "%-*s%s%.*s", (int)columns, name,
             columns ? " " : "", (int)text_cut(text, room, "").length, text.data ? text.data : "");
}

void page_add(struct screen_state *state, size_t columns, const char *name, struct text text)
{
    const size_t before = columns ? columns + 1 : 0;
    const size_t width = state->width > before + PAGE_LEAST ? state->width - before : PAGE_LEAST;
    const struct text_room room = {PAGE_LINE - columns - 2, SIZE_MAX, SIZE_MAX};

    do {
        struct text part = {text.data, text_cut(text, room, "").length};
        const struct text line = text_take_line(&part, width);
        screen_page_add_line(state, columns, name, line);
        text.length -= (size_t)(part.data - text.data);
        text.data = part.data;
        name = "";
    } while (text.length);
}

int screen_page_open(struct screen_state *state, int (*fill)(struct screen_state *state),
                     size_t chosen, const char *bottom)
{
    state->page_count = state->page_first = 0;
    state->page_chosen = chosen;
    state->page_bottom = bottom;
    state->fill_page = fill;
    return screen_page_refill(state);
}

int screen_page_refill(struct screen_state *state)
{
    state->page_width = state->width;
    return state->fill_page(state);
}

void screen_page_close(struct screen_state *state)
{
    state->page_count = state->page_chosen = 0;
    state->page_bottom = NULL;
    state->fill_page = NULL;
    *state->message = '\0';
}

/* Sets the first line, so that the page fills the screen and the chosen line is visible. */
static void page_scroll(struct screen_state *state, long first)
{
    const size_t room = page_room(state), at = state->page_chosen;

    state->page_first = screen_clamp(first, (long)state->page_count - (long)room);
    if (at && at <= state->page_first)
        state->page_first = at - 1;
    else if (at > state->page_first + room)
        state->page_first = at - room;
}

int screen_page_take_key(struct screen_state *state, int key)
{
    const long down = screen_steps(key, page_room(state), state->page_count);

    if (key == KEY_CLICK && state->page_chosen) {
        size_t column, line;
        terminal_click(&column, &line);
        if (state->page_first + line < state->page_count)
            state->page_chosen = state->page_first + line + 1;
        return 0;
    }
    if (!down) {
        screen_page_close(state);
        return 0;
    }
    if (state->page_chosen)
        state->page_chosen =
            screen_clamp((long)state->page_chosen - 1 + down, (long)state->page_count - 1) + 1;
    page_scroll(state, (long)state->page_first + (state->page_chosen ? 0 : down));
    return 0;
}

int screen_page_draw(struct screen_state *state)
{
    const char *bottom =
        state->page_bottom ? state->page_bottom : "up and down scroll, any other key goes back";
    const int error =
        state->page_width != state->width && state->fill_page ? screen_page_refill(state) : 0;

    page_scroll(state, (long)state->page_first);
    screen_begin_again(state->sink, state->width, state->height, false);
    screen_draw_rows(state->sink, 0, 0);
    for (size_t i = state->page_first;
         i < state->page_count && i < state->page_first + page_room(state); i++)
        screen_line(state->sink, i + 1 == state->page_chosen ? SCREEN_CHOSEN : SCREEN_PLAIN,
                    state->page[i]);
    const int written =
        screen_end(state->sink, NULL, SIZE_MAX, *state->message ? SCREEN_PROBLEM : SCREEN_DIM,
                   *state->message ? state->message : bottom);
    return error < 0 ? error : written;
}
