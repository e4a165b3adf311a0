/* SPDX-License-Identifier: MIT */
/* The keys that all screens have, and the pages of text that they open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/screen.h"
#include "cli/terminal/terminal.h"
#include "fastnet/clock.h"
#include "fastnet/command_line.h"

enum { PAGE_NAME = 24 /* columns of a name on the page of a row */ };
enum { INTERVAL_LEAST = 100, INTERVAL_MOST = 3600 * 1000 }; /* milliseconds that keys can set */

/* --- The page of a row ------------------------------------------------------------------------ */

/* Adds all known values of the record to the page. */
static int keys_put_values(const struct record *record, void *arg)
{
    struct screen_state *state = arg;
    const struct kind *kind = record->kind;

    state->page_count = 0;
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

static int keys_fill_row(struct screen_state *state)
{
    return state->chosen < state->shown_count
               ? state->ops->show_chosen(state, keys_put_values, state)
               : 0;
}

static int show_row(struct screen_state *state)
{
    return screen_page_open(state, keys_fill_row, 0, NULL);
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

/* Sorts by a shown column: numbers that differ from row to row begin with the largest number, all
 * other values with the smallest. */
static int keys_sort_column(struct screen_state *state, size_t column)
{
    const struct field *shown = state->command->shown[column];
    const struct field *by = field_compared(state->command->kind, shown->name, strlen(shown->name));

    state->sorted = column;
    state->view->order.descending = by && !screen_can_group(by);
    return screen_choose(state);
}

/* Sorts by the next column. In the usual order, < takes the first highlighted one, > the last. */
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
        if (state->ops->is_text || screen_shows(state->sink, at))
            return keys_sort_column(state, at);
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

static int keys_show_bits(struct screen_state *state)
{
    state->bits = !state->bits;
    screen_bits(state->sink, state->bits);
    screen_renew(state);
    return 0;
}

/* --- The list of columns ---------------------------------------------------------------------- */

/* Returns column number `i` of the list: columns that are shown, and then other columns that have
 * an order and need no host names. If rows are counted, only shown columns have values. NULL: the
 * list has fewer columns. */
static const struct field *keys_column(const struct screen_state *state, size_t i)
{
    const struct listing_command *command = state->command;
    const struct field *field;

    if (i < command->shown_count)
        return command->shown[i];
    i -= command->shown_count;
    for (size_t n = 0; !listing_counts(&command->listing) && (field = field_at(command->kind, n));
         n++) {
        bool is_listed = field->type == VALUE_VIEW || field->type == VALUE_OWNERS ||
                         field->type == VALUE_FLAGS || field->type == VALUE_NETWORKS ||
                         (field->lookups & NEED_NAMES) != 0;
        for (size_t k = 0; k < command->shown_count; k++)
            is_listed |= strcmp(command->shown[k]->name, field->name) == 0;
        if (!is_listed && i-- == 0)
            return field;
    }
    return NULL;
}

static int keys_fill_columns(struct screen_state *state)
{
    const struct field *field;

    state->page_count = 0;
    for (size_t i = 0; (field = keys_column(state, i)); i++)
        screen_page_add_line(state, PAGE_NAME, field->name,
                             as_text(field->help ? field->help : ""));
    return 0;
}

static int keys_list_columns(struct screen_state *state)
{
    const size_t sorted = state->sorted < state->command->shown_count ? state->sorted : 0;

    return screen_page_open(
        state, keys_fill_columns, sorted + 1,
        "up and down choose, Enter sorts by the column, any other key goes back");
}

/* Sorts by the chosen column of the list. If the table does not show that column, its field is read
 * for each row, as the fields of a filter are. */
static int keys_take_column(struct screen_state *state)
{
    struct listing_command *command = state->command;
    const size_t chosen = state->page_chosen - 1;
    const struct field *column = keys_column(state, chosen);

    screen_page_close(state);
    if (column) /* sorts numbers from the largest down, names from A on */
        state->view->order.descending = !screen_can_group(column) ||
                                        column->type == VALUE_DECIMAL || column->type == VALUE_FINE;
    state->sorted = column && chosen < command->shown_count ? chosen : SIZE_MAX;
    if (!column || state->sorted != SIZE_MAX)
        return screen_choose(state);
    state->view->order.field = column;
    needs_add(&command->listing.needs, field_needs(column));
    state->view->first = 0;
    screen_renew(state);
    return state->ops->filter(state);
}

/* --- Position, pause and interval ------------------------------------------------------------- */

/* Moves the chosen row, and scrolls if it would leave the screen. The wheel only scrolls. */
static int keys_move(struct screen_state *state)
{
    const bool is_wheel = state->key == KEY_WHEEL_UP || state->key == KEY_WHEEL_DOWN;
    const long room = state->shown_count ? (long)state->shown_count : 1;
    const long steps = screen_steps(state->key, state->height, state->listed);
    const long at = (long)state->chosen + (is_wheel ? 0 : steps);
    const long beyond = is_wheel ? steps : at < 0 ? at : at >= room ? at - room + 1 : 0;
    const struct screen_row unknown_row = {.id = 0};
    struct live_view *view = state->view;

    if (state->ops->is_text) {
        view->first =
            screen_clamp((long)view->first + screen_steps(state->key, (size_t)room, state->listed),
                         (long)state->listed - room);
        return 0;
    }
    if (beyond)
        view->first = screen_clamp((long)view->first + beyond, (long)state->listed - room);
    state->chosen = screen_clamp(at, room - 1);
    state->chosen_row = beyond || !state->shown_count
                            ? unknown_row /* the next frame chooses the row on that line */
                            : state->rows[(state->held ? view->first : 0) + state->chosen];
    state->follows = state->key != KEY_HOME;
    return 0;
}

/* Chooses the row under the mouse. */
static int keys_click(struct screen_state *state)
{
    const size_t first = screen_first_row(state->sink);
    size_t column, line;

    terminal_click(&column, &line);
    if (line < first || line - first >= state->shown_count)
        return 0;
    state->chosen = line - first;
    state->chosen_row = state->rows[(state->held ? state->view->first : 0) + state->chosen];
    state->follows = true;
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

static int keys_fill_help(struct screen_state *state)
{
    enum { KEYS = 12 /* columns of the names of keys */, INDENT = 2 };
    char names[KEYS + 1];
    const char *notes = state->ops->notes;

    state->page_count = 0;
    for (const struct key_binding *const *table = state->ops->keys; *table; table++)
        for (const struct key_binding *key = *table; key->press; key++) {
            const size_t length = key->help ? strcspn(key->help, "|") : 0;
            if (!key->help)
                continue;
            snprintf(names, sizeof names, "%.*s", (int)length, key->help);
            page_add(state, KEYS, names, as_text(key->help + length + 1));
        }
    page_add(state, 0, "", as_text(""));
    for (struct text note; text_next(&notes, '\n', &note);)
        page_add(state, INDENT, "", note);
    return 0;
}

static int show_help(struct screen_state *state)
{
    return screen_page_open(state, keys_fill_help, 0, NULL);
}

const struct key_binding keys_of_order[] = {
    {'<', keys_sort_by, "< >|sort by the column to the left or right"},
    {'>', keys_sort_by, NULL},
    {KEY_LEFT, keys_sort_by, NULL},
    {KEY_RIGHT, keys_sort_by, NULL},
    {'s', keys_list_columns, "s|choose the column to sort by from a list"},
    {'r', reverse, "r|reverse the order"},
    {'/', prompt_begin,
     "/|show only rows with a word: owner, address, port ...; !word: all others. Also a filter in "
     "the syntax of --where; Tab completes columns. An empty line shows all rows"},
    {0, NULL, NULL},
};
const struct key_binding keys_of_rates[] = {
    {'b', keys_show_bits, "b|rates in bits per second, or in bytes"},
    {0, NULL, NULL},
};
const struct key_binding keys_of_position[] = {
    {' ', pause_samples, "space|pause: rows do not change, but can be scrolled"},
    {KEY_UP, keys_move,
     "up, down|choose a row, and follow it; also k, j, page up/down, home, end "
     "or G, and a click; the mouse wheel scrolls"},
    {KEY_DOWN, keys_move, NULL},
    {'k', keys_move, NULL},
    {'j', keys_move, NULL},
    {KEY_PAGE_UP, keys_move, NULL},
    {KEY_PAGE_DOWN, keys_move, NULL},
    {KEY_HOME, keys_move, NULL},
    {KEY_END, keys_move, NULL},
    {'G', keys_move, NULL},
    {KEY_WHEEL_UP, keys_move, NULL},
    {KEY_WHEEL_DOWN, keys_move, NULL},
    {KEY_CLICK, keys_click, NULL},
    {KEY_ENTER, show_row, "Enter|show everything about the chosen row"},
    {'+', set_interval, "+ -|refresh more or less often"},
    {'-', set_interval, NULL},
    {0, NULL, NULL},
};
const struct key_binding keys_of_scrolling[] = {
    {' ', pause_samples, "space|pause: rows do not change, but can be scrolled"},
    {KEY_UP, keys_move,
     "up, down|scroll; also k, j, page up/down, home, end or G, and the mouse wheel"},
    {KEY_DOWN, keys_move, NULL},
    {KEY_PAGE_UP, keys_move, NULL},
    {KEY_PAGE_DOWN, keys_move, NULL},
    {KEY_HOME, keys_move, NULL},
    {KEY_END, keys_move, NULL},
    {'k', keys_move, NULL},
    {'j', keys_move, NULL},
    {'G', keys_move, NULL},
    {KEY_WHEEL_UP, keys_move, NULL},
    {KEY_WHEEL_DOWN, keys_move, NULL},
    {'+', set_interval, "+ -|refresh more or less often"},
    {'-', set_interval, NULL},
    {0, NULL, NULL},
};
const struct key_binding keys_of_end[] = {
    {'?', show_help, "? h F1|this help"},
    {'h', show_help, NULL},
    {KEY_F1, show_help, NULL},
    {'q', quit, "q F10|quit"},
    {KEY_F10, quit, NULL},
    {0, NULL, NULL},
};

int screen_take_key(struct screen_state *state, int pressed)
{
    if (state->page_count && state->fill_page == keys_fill_columns && pressed == KEY_ENTER)
        return keys_take_column(state);
    if (state->page_count)
        return screen_page_take_key(state, pressed);
    if (state->typing)
        return prompt_take_key(state, pressed);
    state->key = pressed;
    *state->message = '\0';
    for (const struct key_binding *const *table = state->ops->keys; *table; table++)
        for (const struct key_binding *key = *table; key->press; key++)
            if (key->key == pressed)
                return key->press(state);
    screen_hint(state, "? shows the keys");
    return 0;
}
