/* SPDX-License-Identifier: MIT */
/* The widths of a table's columns, and how they are made to fit a terminal. */
#ifndef FORMAT_SINKS_FIT_H
#define FORMAT_SINKS_FIT_H

#include "fastnet/sink.h"
#include "fastnet/text.h"

enum {
    FIT_GAP = 2,    /* blanks between columns */
    FIT_USUAL = 21, /* 255.255.255.255:65535 */
};

struct fit_column {
    size_t contents; /* the widest cell */
    size_t usual;    /* ... of those as long as an IPv4 address with a port, or shorter */
    size_t width;    /* set by fit_columns(): of the column; 0: it is left out */
    bool whole;      /* a longer cell is not cut */
    bool right;      /* cells are at its right edge */
    bool is_ascii;   /* no cell has other characters */
    size_t before;   /* blanks before the last cell, if these are at the right edge */
};

/* Whether the cells of a column are at its right edge. */
static inline bool fit_is_right(const struct field *column)
{
    return value_is_number(column->type) || (column->type == VALUE_VIEW && column->gauge);
}

/* The sign that the end of a text is missing. */
static inline const char *fit_sign(const struct sink_options *options)
{
    return options->ascii ? TEXT_CUT_ASCII : TEXT_CUT;
}

/*
 * Finds the widths by the contents, the headings and the width of the terminal. more: rows follow
 * whose contents are not known.
 */
void fit_columns(struct fit_column *columns, const struct sink_options *options, bool more);

#endif
