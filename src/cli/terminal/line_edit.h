/* SPDX-License-Identifier: MIT */
/* A line of text that the user edits: the cursor, the history of this run, and completion. */
#ifndef CLI_TERMINAL_LINE_EDIT_H
#define CLI_TERMINAL_LINE_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "fastnet/text.h"

enum { LINE_MAX_BYTES = 240, LINE_HISTORY = 16 };

struct line_edit {
    char text[LINE_MAX_BYTES + 1]; /* valid UTF-8 without control characters */
    size_t at;                     /* byte of the cursor, at the beginning of a character */
    size_t first;                  /* byte of the first character that is shown */
    char history[LINE_HISTORY][LINE_MAX_BYTES + 1]; /* from the oldest line on */
    size_t history_count, history_at;
    char draft[LINE_MAX_BYTES + 1]; /* the text before the history replaced it */
    /* While KEY_TAB is pressed again and again: the beginning that the user typed, its place in the
     * text, and the next word. */
    char prefix[LINE_MAX_BYTES + 1];
    size_t prefix_at, word;
    bool completes;
};

/* Begins to edit a text, with the cursor at its end. */
void line_edit_begin(struct line_edit *line, const char *text);

/* Adds the text to the history, unless it is empty or the last line of the history. */
void line_edit_remember(struct line_edit *line);

/* Changes the text or moves the cursor. Returns false if the key has no meaning for a line. */
bool line_edit_key(struct line_edit *line, int key);

/* Completes the word before the cursor: first as far as all candidates agree, then, if called again
 * before another key, with each candidate in turn. candidate(): returns word number `i`, or NULL
 * after the last word. Writes the candidates to `list`, if there are several, or "no ..." if there
 * is none. */
void line_edit_complete(struct line_edit *line, const char *(*candidate)(const void *arg, size_t i),
                        const void *arg, char *list, size_t size);

/* Writes the part of the text that fits `columns` columns of a terminal. `sign`, which takes one
 * column, marks an end where text is missing; after the last character there is a '_'. Returns the
 * column of the cursor. */
enum { LINE_SHOWN = ESCAPE_FACTOR * LINE_MAX_BYTES + 16 };
size_t line_edit_show(struct line_edit *line, size_t columns, const char *sign,
                      char dst[LINE_SHOWN]);

#endif
