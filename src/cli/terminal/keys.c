/* SPDX-License-Identifier: MIT */
/* The keys that all screens have, and the pages of text that they open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/screen.h"
#include "cli/terminal/terminal.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/command_line.h"

enum { PAGE_NAME = 24, PAGE_LEAST = 20 /* smallest width of a value, also on a narrow terminal */ };
enum { INTERVAL_LEAST = 100, INTERVAL_MOST = 3600 * 1000 }; /* milliseconds that keys can set */

/* --- Pages ------------------------------------------------------------------------------------ */

static char *keys_add_line(struct screen_state *state)
{
    char(*page)[PAGE_LINE] =
        array_with_room(state->page, &state->page_capacity, state->page_count + 1, sizeof *page);

    if (!page)
        return NULL;
    state->page = page;
    return page[state->page_count++];
}

void page_add(struct screen_state *state, size_t columns, const char *name, struct text value)
{
    const size_t width = state->width > columns + 1 ? state->width - columns - 1 : 0;
    const struct text_room room = {PAGE_LINE - columns - 2, width > PAGE_LEAST ? width : PAGE_LEAST,
                                   SIZE_MAX};
    char *line;

    for (size_t length; value.length && (line = keys_add_line(state)); name = "") {
        length = text_cut(value, room, "").length;
        snprintf(line, PAGE_LINE, "%-*s %.*s", (int)columns, name, (int)length, value.data);
        value = (struct text){value.data + length, value.length - length};
    }
}

/* Adds all known values of the record to the page. */
static int keys_put_values(const struct record *record, void *arg)
{
    struct screen_state *state = arg;
    const struct kind *kind = record->kind;

    for (size_t i = 0; i < kind->field_count; i++) {
        const struct field *field = &kind->fields[i];
        const struct value value = field_value(field, record, state->sink->context);
        char *text = value.type == VALUE_UNKNOWN ? NULL : malloc(value_bound(&value)), *end;
        if (!text)
            continue;
        end = value_write_human(text, &value, field_shown_unit(field));
        page_add(state, PAGE_NAME, field->name, (struct text){text, (size_t)(end - text)});
        free(text);
        if (strcmp(field->name, "pid") == 0) {
            const char *processes = state->command->listing.processes;
            char words[1024];
            page_add(state, PAGE_NAME, "command line",
                     as_text(process_command_line(processes ? processes : "/proc",
                                                  (pid_t)value.number, words, sizeof words)));
        }
    }
    return 0;
}

static int show_row(struct screen_state *state)
{
    state->page_count = state->page_first = 0;
    return state->chosen < state->shown_count
               ? state->ops->show_chosen(state, keys_put_values, state)
               : 0;
}

/* How many lines down a key moves; below 0: up. 0: the key does not move. all: number of lines. */
static long steps_of(int key, size_t page, size_t all)
{
    const size_t by = key == KEY_UP || key == KEY_DOWN             ? 1
                      : key == KEY_PAGE_UP || key == KEY_PAGE_DOWN ? page
                      : key == KEY_HOME || key == KEY_END          ? all
                                                                   : 0;

    return key == KEY_UP || key == KEY_PAGE_UP || key == KEY_HOME ? -(long)by : (long)by;
}

/* The number `at`, but at most `most` and not below 0. */
static size_t clamp(long at, long most)
{
    at = at < most ? at : most;
    return at > 0 ? (size_t)at : 0;
}

static int take_page_key(struct screen_state *state, int key)
{
    const size_t room = state->height > 1 ? state->height - 1 : 1;
    const long down = steps_of(key, room, state->page_count);

    if (!down) {
        state->page_count = 0;
        state->fill_page = NULL;
    }
    state->page_first = clamp((long)state->page_first + down, (long)state->page_count - (long)room);
    return 0;
}

/* --- Order and filter ------------------------------------------------------------------------- */

bool screen_can_group(const struct field *field)
{
    return field && !field->rate && !field->counter && !field->gauge &&
           field->type != VALUE_DECIMAL && field->type != VALUE_FINE && field->type != VALUE_TIME;
}

int screen_choose(struct screen_state *state)
{
    const struct listing_command *command = state->command;
    const struct field *column =
        state->sorted < command->shown_count ? command->shown[state->sorted] : NULL;
    const struct field *by =
        column ? field_compared(command->kind, column->name, strlen(column->name)) : NULL;

    if (by)
        state->view->order.field = by;
    state->view->first = 0;
    screen_renew(state);
    return state->ops->choose(state);
}

/* Whether the heading of column i is highlighted while rows have the usual order. */
static bool keys_is_usual(const struct screen_state *state, size_t i)
{
    const struct field *column = state->command->shown[i], *usual = state->usual;

    return usual && column->rate && !column->pair &&
           (strcmp(column->of->name, usual->of[0].name) == 0 ||
            strcmp(column->of->name, usual->of[1].name) == 0);
}

/* Numbers that differ from row to row begin with the largest number, all other values with the
 * smallest. */
int screen_sort_by(struct screen_state *state, size_t column)
{
    const struct field *shown = state->command->shown[column];
    const struct field *by = field_compared(state->command->kind, shown->name, strlen(shown->name));

    state->sorted = column;
    state->view->order.descending = by && !screen_can_group(by);
    return screen_choose(state);
}

/* From the usual order, < chooses the first highlighted column, and > the last. */
static int keys_sort_by(struct screen_state *state)
{
    const size_t count = state->command->shown_count;
    const size_t step = state->key == '>' || state->key == KEY_RIGHT ? 1 : count - 1;
    size_t at = state->sorted < count ? state->sorted : step == 1 ? count - 1 : 0;

    for (size_t i = 0; i < count && state->sorted >= count; i++)
        if (keys_is_usual(state, step == 1 ? i : count - 1 - i))
            at = (step == 1 ? i : count - 1 - i) + count - step;
    for (size_t i = 0; i < count; i++) {
        at = (at + step) % count;
        if (screen_shows(state->sink, at))
            return screen_sort_by(state, at);
    }
    return 0;
}

static int reverse(struct screen_state *state)
{
    state->view->order.descending = !state->view->order.descending;
    return screen_choose(state);
}

const struct field *screen_group_column(struct screen_state *state)
{
    const struct listing_command *command = state->command;
    const struct field *by = state->view->order.field;

    for (size_t i = 0; !screen_can_group(by) && i < command->shown_count; i++)
        by =
            field_compared(command->kind, command->shown[i]->name, strlen(command->shown[i]->name));
    if (screen_can_group(by))
        return by;
    screen_note(state, true, "cannot group: no shown column has text to group by");
    return NULL;
}

static int type_filter(struct screen_state *state)
{
    state->typing = true;
    snprintf(state->typed, sizeof state->typed, "%s", state->filter);
    return 0;
}

static int set_filter(struct screen_state *state)
{
    struct listing_command *command = state->command;
    struct where where = {.interfaces_are_own = command->where.interfaces_are_own};
    const struct predicate *typed = NULL, *both = state->where;

    if (*state->typed)
        typed = where_parse(&where, command->kind, state->typed);
    if (typed)
        both = where_both(&where, state->where, typed);
    if (*state->typed && (!typed || !both)) {
        screen_note(state, true, where.message);
        where_finish(&where);
        return 0;
    }
    where_finish(&state->typed_where);
    state->typed_where = where;
    snprintf(state->filter, sizeof state->filter, "%s", state->typed);
    command->listing.where = both;
    command->listing.typed = typed;
    needs_add(&command->listing.needs, predicate_needs(both));
    state->typing = false;
    screen_renew(state);
    return state->ops->filter(state);
}

/* A character of UTF-8 is typed as several bytes, and deleted as a whole. */
static int type_key(struct screen_state *state, int key)
{
    size_t length = strlen(state->typed);

    *state->message = '\0';
    if (key == KEY_ENTER) {
        state->typing = false;
        const int error = set_filter(state);
        state->typing = *state->message && error >= 0; /* the user can correct it */
        return error;
    }
    if (key == KEY_ESCAPE)
        state->typing = false;
    else if (key >= ' ' && key < KEY_UP && key != KEY_BACKSPACE && length < FILTER_MAX)
        snprintf(state->typed + length, 2, "%c", key);
    while (key == KEY_BACKSPACE && length--) {
        const unsigned char byte = (unsigned char)state->typed[length];
        state->typed[length] = '\0';
        if ((byte & 0xc0) != 0x80)
            break;
    }
    return 0;
}

/* --- Position, pause and interval ------------------------------------------------------------- */

static int keys_move(struct screen_state *state)
{
    const long room = state->shown_count ? (long)state->shown_count : 1;
    const long at = (long)state->chosen + steps_of(state->key, state->height, state->listed);
    const long beyond = at < 0 ? at : at >= room ? at - room + 1 : 0;
    const struct screen_row unknown_row = {.id = 0};
    struct live_view *view = state->view;

    if (!state->ops->show_chosen) {
        view->first = clamp((long)view->first + steps_of(state->key, (size_t)room, state->listed),
                            (long)state->listed - room);
        return 0;
    }
    if (beyond)
        view->first = clamp((long)view->first + beyond, (long)state->listed - room);
    state->chosen = clamp(at, room - 1);
    state->chosen_row = beyond || !state->shown_count
                            ? unknown_row /* the next frame chooses the row on that line */
                            : state->rows[(state->held ? view->first : 0) + state->chosen];
    state->follows = state->key != KEY_HOME;
    return 0;
}

static int pause_samples(struct screen_state *state)
{
    state->paused = !state->paused;
    screen_renew(state);
    return 0;
}

static int set_interval(struct screen_state *state)
{
    unsigned *interval = state->interval_ms;

    if (state->key == '-' && *interval <= INTERVAL_MOST / 2)
        *interval *= 2;
    else if (state->key == '+' && *interval >= 2 * INTERVAL_LEAST)
        *interval /= 2;
    state->view->interval = *interval * CLOCK_MILLISECOND;
    state->next = 0;
    return 0;
}

/* --- What keys mean --------------------------------------------------------------------------- */

static int quit(struct screen_state *state)
{
    state->quits = true;
    return 0;
}

static int show_help(struct screen_state *state)
{
    const char *notes = state->ops->notes;
    char *line;

    state->page_count = state->page_first = 0;
    for (const struct key_binding *const *table = state->ops->keys; *table; table++)
        for (const struct key_binding *key = *table; key->press; key++) {
            const int keys = key->help ? (int)strcspn(key->help, "|") : 0;
            if (key->help && (line = keys_add_line(state)))
                snprintf(line, PAGE_LINE, "%-*.*s%s", 13, keys, key->help, key->help + keys + 1);
        }
    for (struct text note = {notes, 0}; *note.data; note.data += note.length + 1) {
        note.length = strcspn(note.data, "\n");
        if ((line = keys_add_line(state)))
            snprintf(line, PAGE_LINE, "%.*s", (int)note.length, note.data);
    }
    return 0;
}

const struct key_binding keys_of_order[] = {
    {'<', keys_sort_by, "< >|sort by the column to the left or right"},
    {'>', keys_sort_by, NULL},
    {KEY_LEFT, keys_sort_by, NULL},
    {KEY_RIGHT, keys_sort_by, NULL},
    {'r', reverse, "r|reverse the order"},
    {'/', type_filter, "/|type a filter in the syntax of --where; an empty filter shows all rows"},
    {0, NULL, NULL},
};
const struct key_binding keys_of_position[] = {
    {' ', pause_samples, "space|pause: rows do not change, but can be scrolled"},
    {KEY_UP, keys_move, "up, down|choose a row, and follow it; also page up/down, home, end"},
    {KEY_DOWN, keys_move, NULL},
    {KEY_PAGE_UP, keys_move, NULL},
    {KEY_PAGE_DOWN, keys_move, NULL},
    {KEY_HOME, keys_move, NULL},
    {KEY_END, keys_move, NULL},
    {KEY_ENTER, show_row, "Enter|show everything about the chosen row"},
    {'+', set_interval, "+ -|refresh more or less often"},
    {'-', set_interval, NULL},
    {0, NULL, NULL},
};
const struct key_binding keys_of_scrolling[] = {
    {' ', pause_samples, "space|pause: rows do not change, but can be scrolled"},
    {KEY_UP, keys_move, "up, down|scroll; also page up/down, home, end"},
    {KEY_DOWN, keys_move, NULL},
    {KEY_PAGE_UP, keys_move, NULL},
    {KEY_PAGE_DOWN, keys_move, NULL},
    {KEY_HOME, keys_move, NULL},
    {KEY_END, keys_move, NULL},
    {'+', set_interval, "+ -|refresh more or less often"},
    {'-', set_interval, NULL},
    {0, NULL, NULL},
};
const struct key_binding keys_of_end[] = {
    {'?', show_help, "?|this help"},
    {'q', quit, "q|quit"},
    {0, NULL, NULL},
};

int screen_take_key(struct screen_state *state, int pressed)
{
    if (state->page_count)
        return take_page_key(state, pressed);
    if (state->typing)
        return type_key(state, pressed);
    state->key = pressed;
    *state->message = '\0';
    for (const struct key_binding *const *table = state->ops->keys; *table; table++)
        for (const struct key_binding *key = *table; key->press; key++)
            if (key->key == pressed)
                return key->press(state);
    return 0;
}
