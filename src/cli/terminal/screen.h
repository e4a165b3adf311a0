/* SPDX-License-Identifier: MIT */
/* A screen: a table that stays in place on a terminal and is drawn again after each sample. Frames
 * and common keys are here. A personality adds its rows, the lines above them and its own keys
 * (struct screen_ops). */
#ifndef CLI_TERMINAL_SCREEN_H
#define CLI_TERMINAL_SCREEN_H

#include "cli/command.h"
#include "cli/terminal/line_edit.h"
#include "fastnet/live.h"
#include "fastnet/screen.h"

enum { PAGE_LINE = 1024 };
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
    char *condition;               /* that filter as --where takes it; NULL: no filter */
    /* The rows of the frame; while paused, of the last frame. shown_count: rows on the screen. */
    struct screen_row *rows;
    size_t row_count, row_room, shown_count;
    bool held;                    /* paused: the rows do not change */
    size_t listed;                /* number of rows of the view */
    size_t chosen;                /* line of the highlighted row */
    struct screen_row chosen_row; /* the object of that row */
    bool follows;                 /* scroll to this row, because the user chose it */
    bool searching;               /* rows are only compared with the chosen row, not shown */
    size_t found;                 /* index of the chosen row; SIZE_MAX: not found */
    size_t sorted;                /* index of the sort column; SIZE_MAX: it is not shown */
    const struct field *usual;    /* sort column if view->order.field is NULL: a pair, or NULL */
    int key;                      /* the pressed key (terminal.h) */
    size_t width, height;
    bool paused, typing, quits;
    bool bits;                       /* rates are in bits, not in bytes */
    char filter[LINE_MAX_BYTES + 1]; /* as typed: a condition, or a word to search for */
    struct line_edit line;           /* the filter while it is typed */
    char message[2048];              /* the bottom line; empty: screen_ops.bottom is shown */
    bool is_problem;
    char *last_words; /* printed when the terminal is restored, or NULL */
    /* A page of text in place of the table. page_count 0: no page. fill_page(): fills the page
     * again, after a sample or for another width; it sets page_count to 0 first, unless the row is
     * gone. page_chosen: number of the highlighted line from 1 on, or 0. page_bottom: the bottom
     * line; NULL: how to scroll. */
    char (*page)[PAGE_LINE];
    size_t page_count, page_capacity, page_first, page_chosen, page_width;
    int (*fill_page)(struct screen_state *state);
    const char *page_bottom;
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
    const struct key_binding *keys[8]; /* tables in the order of the help; NULL ends them */
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
    /* Rows are lines of text (screen_text()): keys scroll, and no row is chosen. */
    bool is_text;
    /* Passes the chosen row to fn, with all its fields. Does not call fn for a group. NULL: the
     * screen has a key table with its own Enter, or is_text. */
    int (*show_chosen)(struct screen_state *state, record_fn fn, void *arg);
    /* Descriptors to wait for between two samples, and the function that reads them. It returns 1
     * if a sample is needed. NULL: the screen has no events. */
    size_t (*descriptors)(const struct screen_state *state, int *descriptors, size_t most);
    int (*read_events)(struct screen_state *state);
    /* Called after the screen has ended and the terminal is restored; or NULL. */
    void (*leave)(struct screen_state *state);
};

/* Runs the screen until its end. Completes `options`. Returns the exit status. */
int screen_run(struct screen_state *state, struct sink_options *options, const struct field *event);

int screen_draw(struct screen_state *state);

/* For ops->show(): adds the next row. Returns whether the sink gets it. */
bool screen_add_row(struct screen_state *state, struct screen_row row);

/* Call this after another order, filter or group: in a pause, the next frame takes new rows. */
void screen_renew(struct screen_state *state);

/* Draws the first line: "fastnet WHAT, every 1 s", filter, group and modes of the view. */
void screen_put_first(const struct screen_state *state, const char *what, const char *how_often,
                      const char *note);

/* Shows a message at the bottom, until the next key. */
void screen_note(struct screen_state *state, bool is_problem, const char *text);

/* As screen_note(), for some seconds. */
void screen_hint(struct screen_state *state, const char *text);

/* Keeps a copy of the message at the bottom, which is printed again after the screen is gone. */
void screen_keep_message(struct screen_state *state);

/* Formats an amount with a unit prefix, as in "1.5 M". */
enum { SCREEN_AMOUNT = 32 };
const char *screen_amount(char room[SCREEN_AMOUNT], double amount);
/* Formats a rate of `bytes` per second for a column: "1.5M" or, if rates are in bits, "12Mbit". */
const char *screen_rate_cell(const struct screen_state *state, char room[SCREEN_AMOUNT],
                             double bytes);
/* As screen_rate_cell(), for a line: "1.5MB/s" or "12Mbit/s". */
const char *screen_rate(const struct screen_state *state, char room[SCREEN_AMOUNT], double bytes);

/* --- Pages (screen_page.c) -------------------------------------------------------------------- */

/* How many lines down a key moves; below 0: up. 0: the key does not move. page: lines of the
 * screen. all: number of lines. */
long screen_steps(int key, size_t page, size_t all);
/* The number `at`, but at most `most` and not below 0. */
size_t screen_clamp(long at, long most);

/* Opens a page; the other parameters are those of struct screen_state. */
int screen_page_open(struct screen_state *state, int (*fill)(struct screen_state *state),
                     size_t chosen, const char *bottom);
void screen_page_close(struct screen_state *state);
/* Adds a name in `columns` columns, a space, and a text that continues below its beginning. columns
 * 0: without the space. */
void page_add(struct screen_state *state, size_t columns, const char *name, struct text text);
/* Adds a name and a text on one line. If it is too long, its end is cut, and a sign shows that. */
void screen_page_add_line(struct screen_state *state, size_t columns, const char *name,
                          struct text text);
/* Fills the page again, because its contents or the width changed. */
int screen_page_refill(struct screen_state *state);
int screen_page_draw(struct screen_state *state);
/* Scrolls, moves the highlighted line, or closes the page. */
int screen_page_take_key(struct screen_state *state, int key);

/* --- The line at the bottom (prompt.c) -------------------------------------------------------- */

/* Lets the user type a filter. */
int prompt_begin(struct screen_state *state);
int prompt_take_key(struct screen_state *state, int key);

/* --- Keys (keys.c) ---------------------------------------------------------------------------- */

extern const struct key_binding keys_of_order[], keys_of_rates[], keys_of_position[],
    keys_of_scrolling[], keys_of_end[];

/* Applies another order or group. Returns 0 or -errno. */
int screen_choose(struct screen_state *state);

/* Whether rows can be grouped by the field: it is not a number that differs from row to row. */
bool screen_can_group(const struct field *field);

/* The column to group by: the sort column or, if that is a number, the first other column that is
 * not a number. Numbers differ from row to row. NULL, with a message: all columns are numbers. */
const struct field *screen_group_column(struct screen_state *state);

/* Does what the key means now. Returns 0 or -errno. */
int screen_take_key(struct screen_state *state, int key);

#endif
