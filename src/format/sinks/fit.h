/* SPDX-License-Identifier: MIT */
/* The widths of a table's columns, and how they are made to fit a terminal. */
#ifndef FORMAT_SINKS_FIT_H
#define FORMAT_SINKS_FIT_H

#include "fastnet/sink.h"
#include "fastnet/text.h"

enum {
    FIT_GAP = 2,    /* spaces between columns */
    FIT_USUAL = 21, /* 255.255.255.255:65535 */
};

struct fit_column {
    size_t contents; /* width of the widest cell */
    size_t usual;    /* width of the widest cell that is not wider than FIT_USUAL */
    size_t width;    /* width of the column, set by fit_columns(); 0: the column is left out */
    bool whole;      /* a longer cell is not cut */
    bool right;      /* cells are aligned at the right */
    bool is_ascii;   /* all characters of all cells are ASCII */
    size_t before;   /* spaces before the last cell, if cells are at the right */
};

/* Whether the cells of a column are aligned at the right. */
static inline bool fit_is_right(const struct field *column)
{
    return value_is_number(column->type) || (column->type == VALUE_VIEW && column->gauge);
}

/* Returns the sign that replaces the cut end of a text. */
static inline const char *fit_sign(const struct sink_options *options)
{
    return options->ascii ? TEXT_CUT_ASCII : TEXT_CUT;
}

/* Returns the title of a column: TITLE if options->titles has "NAME=TITLE", else its name. */
struct text fit_title(const struct sink_options *options, const struct field *column);

/* Sets widths by contents, headings and terminal. more: rows with unknown contents follow. */
void fit_columns(struct fit_column *columns, const struct sink_options *options, bool more);

#endif
