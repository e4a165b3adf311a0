/* SPDX-License-Identifier: MIT */
/* A screen: a table that stays in place on a terminal and is drawn again after each sample. Frames
 * and common keys are here. A personality adds its rows, the lines above them and its own keys
 * (struct screen_ops). */
#ifndef CLI_TERMINAL_SCREEN_H
#define CLI_TERMINAL_SCREEN_H

#include "cli/command.h"
#include "fastnet/live.h"
#include "fastnet/screen.h"

enum { FILTER_MAX = 240, PAGE_LINE = 256 };
enum { HELD_ROWS = 10000 /* rows that can be scrolled in a pause: about 15 MB */ };

struct screen_ops;

/* The object of a row, by which the next frame finds it again. id 0: it cannot be found. */
struct screen_row {
    uint64_t id; /* identity of a socket, hash of a group */
    uint64_t netns_index;
    bool group, ended;
};

/* The first member of the personality's state. The personality sets the first five members and
 * zeroes the others. */
struct screen_state {
    const struct screen_ops *ops;
    struct listing_command *command;
    struct live_view *view;
    unsigned *interval_ms, for_ms; /* for_ms: how long the screen runs; 0: no limit */

    struct sink *sink;
    const struct predicate *where; /* filter of the command line */
    struct where typed_where;      /* filter that `/` added */
    /* The rows of the frame; while paused, of the last frame. shown_count: rows on the screen. */
    struct screen_row *rows;
    size_t row_count, row_room, shown_count;
    bool held;                    /* paused: the rows do not change */
    size_t listed;                /* number of rows of the view */
    size_t chosen;                /* line of the highlighted row */
    struct screen_row chosen_row; /* the object of that row */
    bool follows;                 /* scroll to it, because the user chose it */
    bool searching;               /* rows are only compared with the chosen row, not shown */
    size_t found;                 /* index of the chosen row; SIZE_MAX: not found */
    size_t sorted;                /* index of the sort column */
    const struct field *usual;    /* the sort column without view->order.field: a pair, or NULL */
    int key;                      /* the pressed key (terminal.h) */
    size_t width, height;
    bool paused, typing, quits;
    char filter[FILTER_MAX + 1], typed[FILTER_MAX + 1];
    char message[512]; /* the bottom line; empty: screen_ops.bottom is shown */
    bool is_problem;
    /* A page of text in place of the table. page_count 0: no page. fill_page(): fills the page
     * again after a sample; NULL: the page does not change. */
    char (*page)[PAGE_LINE];
    size_t page_count, page_capacity, page_first;
    int (*fill_page)(struct screen_state *state);
    uint64_t next, events_read; /* next: time of the next sample. Both: CLOCK_MONOTONIC */
    struct report report;
    size_t noted;      /* lines of the report that were shown */
    uint64_t noted_at; /* when the last line was shown; 0: `message` is another text */
};

/* A row of a table of keys. A row without press() ends the table. */
struct key_binding {
    int key;
    int (*press)(struct screen_state *state);
    const char *help; /* "KEYS|what they do"; NULL: the row before has the help */
};

/* All functions that can fail return 0 or -errno. */
struct screen_ops {
    const char *bottom;                /* the bottom line, with the main keys */
    const struct key_binding *keys[6]; /* tables in the order of the help; NULL ends them */
    const char *notes; /* text at the end of the help; each line ends with a newline */
    /* Takes the first samples. It may draw. */
    int (*begin)(struct screen_state *state);
    /* Takes a sample. all: samples all rows, also if that exceeds the budget. */
    int (*sample)(struct screen_state *state, bool all);
    /* Called when the user chose another order, or another filter (listing.where). */
    int (*choose)(struct screen_state *state);
    int (*filter)(struct screen_state *state);
    /* count_lines() counts the lines above the table. put_lines() draws them, after show(). */
    size_t (*count_lines)(const struct screen_state *state);
    void (*put_lines)(struct screen_state *state);
    /* Passes the view's rows for which screen_add_row() returns true to the sink. Sets `listed`. */
    int (*show)(struct screen_state *state);
    /* Passes the chosen row to fn, with all its fields. Does not call fn for a group. NULL: the
     * screen has a key table with its own Enter, or rows are lines of text (screen_text()), which
     * nobody chooses. */
    int (*show_chosen)(struct screen_state *state, record_fn fn, void *arg);
    /* Descriptors to wait for between two samples, and the function that reads them. It returns 1
     * if a sample is needed. NULL: the screen has no events. */
    size_t (*descriptors)(const struct screen_state *state, int *descriptors, size_t most);
    int (*read_events)(struct screen_state *state);
    /* Called when the screen has ended and the terminal is as before; or NULL. */
    void (*leave)(struct screen_state *state);
};

/* Runs the screen until its end. Completes `options`. Returns the exit status. */
int screen_run(struct screen_state *state, struct sink_options *options, const struct field *event);

int screen_draw(struct screen_state *state);

/* For ops->show(): adds the next row. Returns whether the sink gets it. */
bool screen_add_row(struct screen_state *state, struct screen_row row);

/* After another order, filter or group: in a pause, the next frame takes new rows. */
void screen_renew(struct screen_state *state);

/* Draws the first line: "fastnet WHAT, every 1 s", filter, group and modes of the view. */
void screen_put_first(const struct screen_state *state, const char *what, const char *how_often,
                      const char *note);

/* Shows a message at the bottom, until the next key. */
void screen_note(struct screen_state *state, bool is_problem, const char *text);

/* Formats an amount with a unit prefix, as in "1.5 M". */
enum { SCREEN_AMOUNT = 32 };
const char *screen_amount(char room[SCREEN_AMOUNT], double amount);

/* --- Pages (keys.c) --------------------------------------------------------------------------- */

/* Adds a name in `columns` columns, and a text that continues on further lines if it is long. */
void page_add(struct screen_state *state, size_t columns, const char *name, struct text text);

/* --- Keys (keys.c) ---------------------------------------------------------------------------- */

extern const struct key_binding keys_of_order[], keys_of_position[], keys_of_scrolling[],
    keys_of_end[];

/* Applies another order or group. Returns 0 or -errno. */
int screen_choose(struct screen_state *state);

/* Sorts by a shown column. Returns 0 or -errno. */
int screen_sort_by(struct screen_state *state, size_t column);

/* Whether rows can be grouped by the field: it is not a number that differs from row to row. */
bool screen_can_group(const struct field *field);

/* The column to group by: the sort column or, if that is a number, the first other column that is
 * not a number. Numbers differ from row to row. NULL, with a message: all columns are numbers. */
const struct field *screen_group_column(struct screen_state *state);

/* Does what the key means now. Returns 0 or -errno. */
int screen_take_key(struct screen_state *state, int key);

#endif
