/* SPDX-License-Identifier: MIT */
#include "format/sinks/fit.h"

#include <string.h>

/* Least width of a column that is cut: TEXT_COMFORTABLE while other columns can still be left out,
 * later TEXT_LEAST. Columns in options.whole stay WHOLE_MORE wider. */
enum { TEXT_LEAST = 6, TEXT_COMFORTABLE = 12, WHOLE_MORE = 20 };
/* A time is cut after its date at most. */
enum { TIME_LEAST = 11 };
/* On a terminal at least this wide, the two longest addresses fit beside an owner and a state. So
 * all columns in options.drop may be left out to keep IPv6 addresses whole. */
enum { FIT_WIDE = 120 };

struct text fit_title(const struct sink_options *options, const struct field *column)
{
    const char *titles = options->titles;

    for (struct text pair; text_next(&titles, ' ', &pair);) {
        const char *equals = memchr(pair.data, '=', pair.length);
        const struct text name = {pair.data, equals ? (size_t)(equals - pair.data) : 0};
        if (equals && text_is(name, column->name))
            return (struct text){equals + 1, pair.length - name.length - 1};
    }
    return as_text(column->name);
}

/* Texts about a process (command, exe ...) can have any length, in the tables of all commands. */
static bool fit_may_cut(const struct sink_options *options, const struct field *column)
{
    return (column->each_owner && (column->type == VALUE_TEXT || column->type == VALUE_NAMES ||
                                   column->type == VALUE_TIME)) ||
           text_among(options->shorten, column->name);
}

struct fit {
    struct fit_column *columns;
    const struct sink_options *options;
};

/* Returns by how many columns of the terminal the table is too wide. */
static size_t excess_width(const struct fit *fit)
{
    size_t all = 0;

    for (size_t i = 0; i < fit->options->count; i++)
        all += fit->columns[i].width ? fit->columns[i].width + FIT_GAP : 0;
    return all > fit->options->width + FIT_GAP ? all - FIT_GAP - fit->options->width : 0;
}

/* Returns the widest column that may be cut and is wider than `than`, or NULL. While columns can
 * still be left out, a heading is not cut. */
static struct fit_column *widest_text(const struct fit *fit, size_t than)
{
    struct fit_column *widest = NULL;

    for (size_t i = 0; i < fit->options->count; i++) {
        struct fit_column *column = &fit->columns[i];
        const char *name = fit->options->columns[i]->name;
        const bool is_time = fit->options->columns[i]->type == VALUE_TIME;
        const size_t more = text_among(fit->options->whole, name) ? WHOLE_MORE
                            : is_time && than < TIME_LEAST        ? TIME_LEAST - than
                                                                  : 0;
        const bool heading = than == TEXT_COMFORTABLE && column->width <= strlen(name);
        if (column->width > than + more && !heading && (!widest || column->width > widest->width) &&
            fit_may_cut(fit->options, fit->options->columns[i]))
            widest = column;
    }
    return widest;
}

static void narrow_texts(const struct fit *fit, size_t least)
{
    struct fit_column *widest;

    while (excess_width(fit) && (widest = widest_text(fit, least)))
        widest->width--;
}

/* Sets the width of each column by its contents and heading, as if the terminal had no edge. */
static void widen_columns(const struct fit *fit)
{
    for (size_t i = 0; i < fit->options->count; i++) {
        struct fit_column *column = &fit->columns[i];
        const size_t heading =
            fit->options->header ? fit_title(fit->options, fit->options->columns[i]).length : 1;
        if (column->width)
            column->width = column->contents > heading ? column->contents : heading;
    }
}

/* Leaves out the column with this name (length bytes), unless the user asked for it. */
static void drop_column(const struct fit *fit, const char *name, size_t length)
{
    for (size_t i = 0; i < fit->options->count; i++) {
        const char *column = fit->options->columns[i]->name;
        if (text_is((struct text){name, length}, column) && !text_among(fit->options->keep, column))
            fit->columns[i].width = 0;
    }
}

/* Leaves out columns until the table fits. important: also those after '|' in options.drop. */
static bool fit_fits(const struct fit *fit, bool important)
{
    const char *names = fit->options->drop ? fit->options->drop : "";

    for (;;) {
        widen_columns(fit);
        narrow_texts(fit, TEXT_COMFORTABLE);
        if (!excess_width(fit) || !*names || (*names == '|' && !important))
            break;
        const size_t length = strcspn(names, " ");
        drop_column(fit, names, length);
        names += length + strspn(names + length, " ");
    }
    if (important)
        narrow_texts(fit, TEXT_LEAST);
    return !excess_width(fit);
}

void fit_columns(struct fit_column *columns, const struct sink_options *options, bool more)
{
    const struct fit fit = {columns, options};

    for (size_t i = 0; i < options->count; i++) {
        columns[i].width = 1;
        columns[i].whole = text_among(options->whole, options->columns[i]->name) &&
                           !text_among(options->shorten, options->columns[i]->name);
        if (more && columns[i].whole && options->width)
            columns[i].usual = FIT_USUAL;
        if (columns[i].contents < columns[i].usual)
            columns[i].contents = columns[i].usual;
    }
    widen_columns(&fit);
    if (!options->width || fit_fits(&fit, options->width >= FIT_WIDE))
        return;
    /* long IPv6 addresses do not fit: columns stay narrow, and such addresses shift their rows */
    for (size_t i = 0; i < options->count; i++) {
        columns[i].width = 1;
        if (columns[i].whole)
            columns[i].contents = columns[i].usual;
    }
    fit_fits(&fit, true);
}
