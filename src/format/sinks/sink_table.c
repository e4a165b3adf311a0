/* SPDX-License-Identifier: MIT */
/*
 * A table with columns as wide as their contents, or as a terminal has room for. The first rows are
 * kept to find the widths. If there are many rows, the rest is streamed, and a longer value shifts
 * the next ones of its line, until blanks make up for it.
 */
#include <stdlib.h>
#include <string.h>

#include "fastnet/sink.h"
#include "format/sinks/fit.h"
#include "format/sinks/totals.h"
#include "format/text/put.h"
#include "format/text/value.h"
#include "format/text/width.h"

enum {
    KEPT_ROWS = 1000,
    KEPT_BYTES = 256 * 1024,
    CELL_BOUND = 512, /* longer cells of a streamed row are written in pieces */
};

/* A kept row: this, then its cells. */
struct kept_row {
    size_t size; /* with this */
    uint64_t reasons;
};

/* A kept cell: this, then its text. */
struct kept_cell {
    size_t length, width;
};

struct fitted {
    struct sink sink;
    struct sink_options options;
    size_t rows;    /* kept */
    size_t used;    /* bytes of `kept` */
    bool streaming; /* the widths are fixed */
    bool is_plain;  /* cells are written as they are: whole, without colours, not counted */
    struct totals totals;
    char kept[KEPT_BYTES];
    struct fit_column columns[];
};

static bool is_right_aligned(const struct field *column)
{
    return column->type == VALUE_NUMBER || column->type == VALUE_SIGNED ||
           column->type == VALUE_DECIMAL || column->type == VALUE_FINE ||
           (column->type == VALUE_VIEW && column->gauge);
}

/* A line being written. Blanks are written before the next cell, so no line ends in blanks. */
struct table_line {
    struct fitted *table;
    uint64_t reasons; /* why people should look at the row */
    size_t column;
    size_t blanks; /* still to be written */
    size_t at;     /* columns of the terminal that are written */
    bool ended;    /* there is no room for more */
    size_t shift;  /* columns of the terminal that earlier cells took too many */
};

/* How many blanks fill the cell up, less what earlier cells took too many. */
static size_t padding_of(struct table_line *line, size_t width)
{
    const size_t fitted = line->table->columns[line->column].width;

    if (width >= fitted) {
        line->shift += width - fitted;
        return 0;
    }
    const size_t padding = fitted - width, less = padding < line->shift ? padding : line->shift;
    line->shift -= less;
    return padding - less;
}

static const char *colour_of(const struct table_line *line, const char *text,
                             const struct kept_cell *cell)
{
    const struct field *column = line->table->options.columns[line->column];

    if (!line->table->options.colour)
        return NULL;
    if (column->marks & line->reasons)
        return COLOUR_ATTENTION;
    return column->coloured ? colour_of_state(text, cell->length) : NULL;
}

/* The sign that the end of a text is missing: one column wide. */
#define CUT "…"

/*
 * Where a terminal has no room for it, leaves so much of a text that CUT fits behind it. If longer
 * cells have taken the room, the row ends here.
 */
static bool cut(struct table_line *line, const char *text, struct kept_cell *cell)
{
    const struct fit_column *fit = &line->table->columns[line->column];
    const size_t width = line->table->options.width, used = line->at + line->blanks;
    const size_t left = width > used ? width - used : 0;

    if (!width || fit->whole || (cell->width <= left && cell->width <= fit->width))
        return false;
    line->ended = left < fit->width;
    if (!left)
        line->blanks = width - line->at - 1;
    cell->width = line->ended ? (left ? left - 1 : 0) : fit->width - 1;
    cell->length = text_fitting(text, cell->length, &cell->width);
    cell->width++;
    return true;
}

static void put_cell(struct table_line *line, const char *text, struct kept_cell cell)
{
    struct writer *writer = line->table->sink.writer;
    const char *colour = colour_of(line, text, &cell);
    const size_t width = line->table->options.width;

    /* earlier cells left no room for a blank and CUT, and this one may be missing */
    if (width && line->at + 1 >= width && line->at && !line->table->columns[line->column].whole) {
        line->ended = true;
        return;
    }
    const bool is_cut = cut(line, text, &cell);
    const bool right = is_right_aligned(line->table->options.columns[line->column]);
    const bool is_whole = !width || line->table->columns[line->column].whole;
    const size_t used = line->at + line->blanks + cell.width;
    size_t padding = line->ended ? 0 : padding_of(line, cell.width);
    if (right && !is_whole && used + padding > width)
        padding = width > used ? width - used : 0;
    size_t blanks = line->blanks + (right ? padding : 0);

    line->at += blanks + cell.width;
    if (colour) {
        writer_put_after(writer, blanks, colour, strlen(colour));
        blanks = 0;
    }
    writer_put_after(writer, blanks, text, cell.length);
    if (is_cut)
        writer_puts(writer, CUT);
    if (colour)
        writer_puts(writer, COLOUR_RESET);
    line->blanks = FIT_GAP + (right ? 0 : padding);
}

/* Counts the next cell for the totals, and writes it if its column is shown. */
static void take_cell(struct table_line *line, const char *text, struct kept_cell cell)
{
    struct fitted *table = line->table;

    if (table->options.totals && table->options.columns[line->column]->coloured)
        totals_add_state(&table->totals, text, cell.length);
    if (table->columns[line->column].width && !line->ended)
        put_cell(line, text, cell);
    line->column++;
}

/* In place, because to copy a value takes longer than to look at it. */
static void put_synonym(const struct fitted *table, size_t column, struct value *value)
{
    const struct synonym *synonym = table->options.synonym;

    if (value->type == VALUE_TEXT && text_is(value->text, synonym->word) &&
        strcmp(table->options.columns[column]->name, synonym->column) == 0)
        value->text = as_text(synonym->other);
}

/* The width of a written value. Of most types all characters are ASCII. */
static size_t width_of(const struct value *value, const char *text, size_t length)
{
    switch (value->type) {
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_NAME:
    case VALUE_OWNERS:
    case VALUE_FLAGS:
    case VALUE_VIEW:
        return text_width(text, length);
    default:
        return length;
    }
}

/* Writes a cell of a column; returns its end. value_bound() is enough for it. */
static char *write_cell(const struct fitted *table, size_t column, char *dst,
                        const struct value *value)
{
    if (table->options.human)
        return value_write_human(dst, value, (int)table->options.columns[column]->unit);
    return value_write(dst, value, " ");
}

static void end_line(const struct table_line *line)
{
    writer_put(line->table->sink.writer, "\n", 1);
}

/* The name in capitals; returns its length. */
static size_t put_capitals(char heading[CELL_BOUND], const char *name)
{
    size_t length;

    for (length = 0; length < CELL_BOUND && name[length]; length++)
        heading[length] =
            name[length] >= 'a' && name[length] <= 'z' ? (char)(name[length] - 32) : name[length];
    return length;
}

static void put_headings(struct fitted *table)
{
    struct table_line line = {.table = table};

    writer_puts(table->sink.writer, table->options.colour ? COLOUR_HEADING : "");
    for (size_t i = 0; i < table->options.count; i++, line.column++) {
        char heading[CELL_BOUND];
        size_t length = put_capitals(heading, table->options.columns[i]->name);
        if (length > table->columns[i].width)
            length = table->columns[i].width;
        if (length)
            put_cell(&line, heading, (struct kept_cell){length, length});
    }
    writer_puts(table->sink.writer, table->options.colour ? COLOUR_RESET : "");
    end_line(&line);
}

static uint64_t reasons_of(const struct fitted *table, const struct record *record)
{
    const struct field *attention = table->options.attention;
    const struct value value =
        attention ? field_value(attention, record, table->sink.context) : (struct value){0};

    return value.type == VALUE_FLAGS ? value.flags.bits[0] : 0;
}

static struct table_line begin_line(struct fitted *table, uint64_t reasons)
{
    table->totals.marked += reasons != 0;
    for (size_t i = 0; i < TOTALS_REASONS && reasons >> i; i++)
        table->totals.reasons[i] += reasons >> i & 1;
    return (struct table_line){.table = table, .reasons = reasons};
}

static void put_kept_row(struct fitted *table, const char *at, uint64_t reasons)
{
    struct table_line line = begin_line(table, reasons);

    for (size_t i = 0; i < table->options.count; i++) {
        struct kept_cell cell;
        memcpy(&cell, at, sizeof cell);
        at += sizeof cell;
        take_cell(&line, at, cell);
        at += cell.length;
    }
    end_line(&line);
}

/* Writes the kept rows that need attention, or the others, or all. */
static void put_kept_rows(struct fitted *table, bool with, bool without)
{
    struct kept_row row;

    for (const char *at = table->kept; at < table->kept + table->used; at += row.size) {
        memcpy(&row, at, sizeof row);
        if (row.reasons ? with : without)
            put_kept_row(table, at + sizeof row, row.reasons);
    }
}

/* Fixes the widths and writes the kept rows. more: others follow. */
static void put_kept(struct fitted *table, bool more)
{
    const bool first = table->options.attention_first;

    fit_columns(table->columns, &table->options, more);
    if (table->options.header)
        put_headings(table);
    put_kept_rows(table, true, !first);
    if (first)
        put_kept_rows(table, false, true);
    table->rows = 0;
    table->streaming = true;
}

/* Written where it will stand; a number is then moved to the right. */
static void put_plain(struct table_line *line, const struct value *value, size_t bound)
{
    struct fitted *table = line->table;
    const bool right = is_right_aligned(table->options.columns[line->column]);
    char *dst = writer_reserve(table->sink.writer,
                               line->blanks + table->columns[line->column].width + bound);
    char *text = dst + line->blanks, *end = write_cell(table, line->column, text, value);
    const size_t length = (size_t)(end - text);
    const size_t padding = padding_of(line, width_of(value, text, length));

    memset(dst, ' ', line->blanks);
    writer_commit(table->sink.writer, right ? align_right(end, text, length + padding) : end);
    line->blanks = FIT_GAP + (right ? 0 : padding);
    line->column++;
}

static void stream_cell(struct table_line *line, const struct value *value)
{
    char text[CELL_BOUND];
    const size_t bound = value_bound(value);

    if (line->table->is_plain && bound <= CELL_BOUND && line->blanks <= CELL_BOUND &&
        line->table->columns[line->column].width <= CELL_BOUND) {
        put_plain(line, value, bound);
        return;
    }
    if (bound <= sizeof text) {
        const size_t length = (size_t)(write_cell(line->table, line->column, text, value) - text);
        take_cell(line, text, (struct kept_cell){length, width_of(value, text, length)});
        return;
    }
    struct writer *writer = line->table->sink.writer;
    writer_put_after(writer, line->blanks, "", 0);
    value_put(writer, value, " ");
    line->blanks = FIT_GAP;
    line->column++;
}

/* Returns the end of the cell, or NULL when there is no room for it. */
static char *keep_cell(struct fitted *table, size_t column, char *at, const struct value *value)
{
    const size_t room = (size_t)(table->kept + KEPT_BYTES - at);
    const size_t bound = value_bound(value);

    if (room < sizeof(struct kept_cell) || room - sizeof(struct kept_cell) < bound)
        return NULL;
    char *text = at + sizeof(struct kept_cell);
    char *end = write_cell(table, column, text, value);
    const size_t length = (size_t)(end - text);
    const struct kept_cell cell = {length, width_of(value, text, length)};
    memcpy(at, &cell, sizeof cell);
    if (cell.width > table->columns[column].contents)
        table->columns[column].contents = cell.width;
    if (cell.width > table->columns[column].usual && cell.width <= FIT_USUAL)
        table->columns[column].usual = cell.width;
    return end;
}

static bool keep_row(struct fitted *table, const struct record *record)
{
    char *start = table->kept + table->used, *at;

    if (table->rows == KEPT_ROWS || table->used + sizeof(struct kept_row) > KEPT_BYTES)
        return false;
    at = start + sizeof(struct kept_row);
    for (size_t i = 0; i < table->options.count; i++) {
        struct value value = field_value(table->options.columns[i], record, table->sink.context);
        if (table->options.synonym)
            put_synonym(table, i, &value);
        at = keep_cell(table, i, at, &value);
        if (!at)
            return false;
    }
    const struct kept_row row = {(size_t)(at - start), reasons_of(table, record)};
    memcpy(start, &row, sizeof row);
    table->used += row.size;
    table->rows++;
    return true;
}

static void table_begin(struct sink *sink)
{
    struct fitted *table = (struct fitted *)sink;

    table->rows = 0;
    table->used = 0;
    table->streaming = false;
    table->totals = (struct totals){.rows = 0};
    for (size_t i = 0; i < table->options.count; i++)
        table->columns[i] = (struct fit_column){.contents = 0};
}

static void table_row(struct sink *sink, const struct record *record)
{
    struct fitted *table = (struct fitted *)sink;
    struct table_line line;

    table->totals.rows += record_rows(record);
    if (!table->streaming && keep_row(table, record))
        return;
    if (!table->streaming)
        put_kept(table, true);
    line = begin_line(table, reasons_of(table, record));
    for (size_t i = 0; i < table->options.count; i++) {
        struct value value = field_value(table->options.columns[i], record, sink->context);
        if (table->options.synonym)
            put_synonym(table, i, &value);
        stream_cell(&line, &value);
    }
    end_line(&line);
}

static void show_kept(struct sink *sink)
{
    struct fitted *table = (struct fitted *)sink;

    if (!table->streaming)
        put_kept(table, false);
}

static void table_end(struct sink *sink)
{
    struct fitted *table = (struct fitted *)sink;
    const struct sink_options *options = &table->options;

    show_kept(sink);
    if (options->totals)
        totals_put(&table->totals, options);
}

/* Fixes the widths by the rows so far, if there are any. */
static void table_pause(struct sink *sink)
{
    if (((struct fitted *)sink)->rows > 0)
        show_kept(sink);
}

struct sink *sink_table_create(const struct sink_options *options)
{
    static const struct sink_ops ops = {
        .begin = table_begin, .row = table_row, .pause = table_pause, .end = table_end};
    struct fitted *table = calloc(1, sizeof *table + options->count * sizeof table->columns[0]);

    if (!table)
        return NULL;
    table->sink = (struct sink){&ops, options->writer, options->context};
    table->options = *options;
    table->is_plain = !options->width && !options->colour && !options->totals;
    return &table->sink;
}
