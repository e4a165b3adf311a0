/* SPDX-License-Identifier: MIT */
/*
 * A sink for terminals: its rows are a table that stays in place, with lines of text above and
 * below. Only cells that changed are written, all of a frame in one write(2), in ECMA-48 with the
 * synchronized updates of newer terminals. Widths are those of wcwidth(3).
 */
#ifndef FASTNET_SCREEN_H
#define FASTNET_SCREEN_H

#include "fastnet/sink.h"

enum { SCREEN_ROWS = 200 }; /* lines of the table, at most */

/* How a line of text, or a row, stands out. */
enum screen_style {
    SCREEN_PLAIN,
    SCREEN_BOLD,
    SCREEN_DIM,
    SCREEN_NEW,     /* green, and a '+' before a row */
    SCREEN_ENDED,   /* dim, and a '-' before a row */
    SCREEN_CHOSEN,  /* reversed */
    SCREEN_PROBLEM, /* red */
};

/*
 * options->titles names columns in its heading; width does not matter. Rows are marked as new or
 * ended by this field of theirs, whose words begin with 'o' or 'c'; NULL: none are.
 */
struct sink *sink_screen_create(const struct sink_options *options, const struct field *event);

/*
 * Begins a frame for a terminal of this size, with a table or of lines alone. The writer is flushed
 * once, by screen_end().
 */
void screen_begin(struct sink *sink, size_t width, size_t height, bool table);

/* The same with the rows of the frame before. */
void screen_begin_again(struct sink *sink, size_t width, size_t height, bool table);

/* Draws `count` of the frame's rows, from `first` on. Without this call, all that have lines. */
void screen_draw_rows(struct sink *sink, size_t first, size_t count);

/* Makes room for `count` rows, and drops all rows; SCREEN_ROWS at first. Returns false
 * when memory is short: nothing changes. */
bool screen_keep_rows(struct sink *sink, size_t count);

/* A line of text above the table, or below it (screen_end()): UTF-8 without control characters. */
void screen_line(struct sink *sink, enum screen_style style, const char *text);

/* A row that is the sum of those after it: a title, ASCII that follows the title even if that is
 * cut (at most 32 bytes), and texts of some columns. */
void screen_title(struct sink *sink, struct text title, const char *behind,
                  const char *(*text)(const struct field *column, char room[32], void *arg),
                  void *arg);

/* How many rows fit below the lines so far, if so many lines follow. */
size_t screen_room(const struct sink *sink, size_t below);

/*
 * Ends a frame. sorted: the column whose heading stands out; chosen: the row that does, or
 * SIZE_MAX; last: a text at the bottom, of as many lines as it needs, or one if it is dim. Returns
 * 0 or -errno.
 */
int screen_end(struct sink *sink, const struct field *sorted, size_t chosen,
               enum screen_style style, const char *last);

/* Another program has written to the terminal, or its size has changed: the next frame is whole. */
void screen_forget(struct sink *sink);

/* Other titles of columns from the next frame on, as in sink_options.titles; they are borrowed. */
void screen_titles(struct sink *sink, const char *titles);

/* Other columns from the next frame on. Returns false when memory is short: nothing changes. */
bool screen_columns(struct sink *sink, const struct field *const *columns, size_t count);

#endif
