/* SPDX-License-Identifier: MIT */
/* A sink for terminals: its rows are a table that stays in place, with lines of text above and
 * below. Each frame writes only the cells that changed, in one write(2), in ECMA-48 with the
 * synchronized updates of newer terminals. Widths are those of Unicode (text/width.h). */
#ifndef FASTNET_SCREEN_H
#define FASTNET_SCREEN_H

#include "fastnet/sink.h"

enum { SCREEN_ROWS = 200 }; /* largest number of lines of the table */

/* How a line of text or a row is highlighted. */
enum screen_style {
    SCREEN_PLAIN,
    SCREEN_BOLD,
    SCREEN_DIM,
    SCREEN_NEW,     /* green; a row begins with '+' */
    SCREEN_ENDED,   /* dim; a row begins with '-' */
    SCREEN_CHOSEN,  /* reverse video */
    SCREEN_PROBLEM, /* red */
};

/* options->titles has titles of columns; options->width is ignored. event: field that marks rows as
 * new or ended, by words that begin with 'o' or 'c'; NULL: no row is marked. Returns NULL if memory
 * is short. */
struct sink *sink_screen_create(const struct sink_options *options, const struct field *event);

/* Begins a frame for a terminal with `width` columns and `height` lines. table: with a table;
 * false: only lines of text. Only screen_end() flushes the writer. */
void screen_begin(struct sink *sink, size_t width, size_t height, bool table);

/* As screen_begin(), but keeps the rows of the frame before. */
void screen_begin_again(struct sink *sink, size_t width, size_t height, bool table);

/* Draws `count` rows of the frame, from number `first` on. Without this call, draws all that
 * fit. */
void screen_draw_rows(struct sink *sink, size_t first, size_t count);

/* Makes room for `count` rows (at first SCREEN_ROWS) and drops all rows. Returns false if memory is
 * short: then nothing changes. */
bool screen_keep_rows(struct sink *sink, size_t count);

/* Adds a line of text above the table. text: UTF-8 without control characters. */
void screen_line(struct sink *sink, enum screen_style style, const char *text);

/* As screen_line(), but a text that is too long continues on further lines, which begin with four
 * spaces. It draws at most `most` lines; the last line is cut with a sign if the text is longer. */
void screen_lines(struct sink *sink, enum screen_style style, const char *text, size_t most);

/* Returns the number of lines that screen_lines() needs for the whole text, at least 1. */
size_t screen_lines_of(const struct sink *sink, const char *text);

/* Adds a row that is the sum of the rows after it. title: is cut if it is long. suffix: ASCII text
 * after the title, at most 32 bytes, never cut. text(): returns the text of a column, or NULL. */
void screen_title(struct sink *sink, struct text title, const char *suffix,
                  const char *(*text)(const struct field *column, char room[32], void *arg),
                  void *arg);

/* Adds a row that is a line of text, as a table or a layout writes it: its escape sequences become
 * colours. A line that is too long is cut. Borrows the text until all rows are dropped. */
void screen_text(struct sink *sink, struct text line);

/* Sets the heading of the rows of screen_text(), a line of text; borrowed until the next call. */
void screen_heading(struct sink *sink, struct text line);

/* Returns the number of rows that fit below the lines so far, if `below` lines follow. */
size_t screen_room(const struct sink *sink, size_t below);

/* Returns the line of the first row in the frame that was drawn last, from 0 on. */
size_t screen_first_row(const struct sink *sink);

/* Shows a cursor at the next screen_end(), in this column of the last line. */
void screen_cursor(struct sink *sink, size_t column);

/* From the next row on, shows columns in bytes per second as bits per second. */
void screen_bits(struct sink *sink, bool bits);

/* Ends a frame. sorted: the column whose heading is highlighted; a pair highlights both of its
 * rates. chosen: the row that is highlighted, or SIZE_MAX. last: text at the bottom, in `style`,
 * with as many lines as it needs; a newline begins another line. If `style` is dim, it has one
 * line, without the items that do not fit; items are separated by two spaces. Returns 0 or -errno.
 */
int screen_end(struct sink *sink, const struct field *sorted, size_t chosen,
               enum screen_style style, const char *last);

/* Draws the whole next frame: another program wrote to the terminal, or its size changed. */
void screen_forget(struct sink *sink);

/* Sets which columns are left out first, as sink_options.drop; borrowed. */
void screen_drop(struct sink *sink, const char *drop);

/* Whether the last frame had room for column number `column`. */
bool screen_shows(const struct sink *sink, size_t column);

/* Sets titles of columns from the next frame on, as in sink_options.titles; borrowed. */
void screen_titles(struct sink *sink, const char *titles);

/* Sets the columns from the next frame on. Returns false if memory is short: then nothing
 * changes. */
bool screen_columns(struct sink *sink, const struct field *const *columns, size_t count);

#endif
