/* SPDX-License-Identifier: MIT */
/*
 * A table on a terminal that is looked at again and again. Its frames and the keys of all such
 * tables are here; what its rows are, what stands above them, and which keys it has of its own,
 * says the personality (struct screen_ops).
 */
#ifndef CLI_TERMINAL_SCREEN_H
#define CLI_TERMINAL_SCREEN_H

#include "cli/command.h"
#include "fastnet/live.h"
#include "fastnet/screen.h"

enum { FILTER_MAX = 240, PAGE_LINE = 256 };
enum { HELD_ROWS = 10000 /* that can be scrolled in a pause: about 15 MB */ };

struct screen_ops;

/* The object that a row shows, at each look. id 0: an object that cannot be found again. */
struct screen_row {
    uint64_t id; /* identity of a socket, a group, ... */
    uint64_t place;
    bool group, ended;
};

/* The first member of the personality's own state, which is zeroed and has set what is above. */
struct screen_state {
    const struct screen_ops *ops;
    struct listing_command *command;
    struct live_view *view;
    unsigned *interval_ms, for_ms; /* for_ms: 0: until somebody ends it */

    struct sink *sink;
    const struct predicate *where; /* of the command line */
    struct where typed_where;      /* of `/` */
    /* The rows of the frame, or of the pause; shown_count: those on the screen. */
    struct screen_row *rows;
    size_t row_count, row_room, shown_count;
    bool held;                    /* they stay as they are: it is paused */
    size_t listed;                /* rows that the view has */
    size_t chosen;                /* number of the highlighted row on the screen */
    struct screen_row chosen_row; /* its object, which is followed */
    bool follows;                 /* also if it leaves the screen, because the user chose it */
    bool searching;               /* rows are only counted, and compared with the chosen one */
    size_t found;                 /* number of that row; SIZE_MAX: there is none */
    size_t sorted;                /* the column */
    int key;                      /* that was pressed (terminal.h) */
    size_t width, height;
    bool paused, typing, quits;
    char filter[FILTER_MAX + 1], typed[FILTER_MAX + 1];
    char message[512]; /* at the bottom; empty: keys */
    bool is_problem;
    /* A page of text in place of the table; count 0: none. */
    char (*page)[PAGE_LINE];
    size_t page_count, page_capacity, page_first;
    uint64_t next, events_read; /* CLOCK_MONOTONIC */
    struct report report;
    size_t noted;      /* lines of the report that were said */
    uint64_t noted_at; /* ... and the last one when; 0: the message is another one */
};

/* A row of a table, which one without press() ends. */
struct key_binding {
    int key;
    int (*press)(struct screen_state *state);
    const char *help; /* "KEYS|what they do"; NULL: with the one before */
};

/* All that can fail returns 0 or -errno. */
struct screen_ops {
    const char *bottom;                /* the line below the table that names some keys */
    const struct key_binding *keys[6]; /* tables, as the help has them; NULL ends them */
    const char *notes;                 /* lines below them in the help, each ends with a newline */
    /* The first looks; may draw. */
    int (*begin)(struct screen_state *state);
    /* Looks again. all: whatever it costs. */
    int (*look)(struct screen_state *state, bool all);
    /* Rows are to have another order, or another filter (listing.where). */
    int (*choose)(struct screen_state *state);
    int (*filter)(struct screen_state *state);
    /* How many lines stand above the table. Puts them, when rows were shown. */
    size_t (*count_lines)(const struct screen_state *state);
    void (*put_lines)(struct screen_state *state);
    /* Hands the rows of the view to the sink if screen_add_row() says so, and sets `listed`. */
    int (*show)(struct screen_state *state);
    /* Hands the chosen row to fn, with all that is known of it; or nothing. */
    int (*show_chosen)(struct screen_state *state, record_fn fn, void *arg);
    /* Descriptors that can be read between two looks, and what reads them: returns 1 if a look is
     * needed. NULL: there are none. */
    size_t (*descriptors)(const struct screen_state *state, int *descriptors, size_t most);
    int (*read_events)(struct screen_state *state);
};

/* The table, until somebody ends it (run.c). These options are completed. Returns the exit status.
 */
int screen_run(struct screen_state *state, struct sink_options *options, const struct field *event);

int screen_draw(struct screen_state *state);

/* For ops->show: what the next row is of. Returns whether the sink gets it. */
bool screen_add_row(struct screen_state *state, struct screen_row row);

/* The order, the filter or the groups are others: in a pause, the rows are those of the next frame
 * from then on. */
void screen_renew(struct screen_state *state);

/* The first line: "fastnet WHAT, every 1 s", and what the view is. */
void screen_put_first(const struct screen_state *state, const char *what, const char *how_often,
                      const char *note);

/* A message at the bottom, until the next key. */
void screen_say(struct screen_state *state, bool is_problem, const char *text);

/* A number of bytes, or of anything else, as people read it. */
enum { SCREEN_AMOUNT = 32 };
const char *screen_amount(char room[SCREEN_AMOUNT], double amount);

/* --- Keys (keys.c) ---------------------------------------------------------------------------- */

extern const struct key_binding keys_of_order[], keys_of_place[], keys_of_end[];

/* Another order or group was chosen. */
int screen_choose(struct screen_state *state);

/*
 * The column that rows are sorted by, or else the first one that is no number, because numbers
 * differ from row to row. NULL, which is said, if there is none.
 */
const struct field *screen_group_column(struct screen_state *state);

/* Does what a key means now. */
int screen_take_key(struct screen_state *state, int key);

#endif
