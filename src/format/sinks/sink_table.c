/*
 * A table with columns as wide as their contents. The first rows are kept to find the widths. If
 * there are many rows, the rest is streamed, and a longer value shifts the rest of its line.
 */
#include <stdlib.h>
#include <string.h>

#include "fastnet/sink.h"
#include "format/text/put.h"
#include "format/text/value.h"
#include "format/text/width.h"

enum {
    KEPT_ROWS = 1000,
    KEPT_BYTES = 256 * 1024,
    GAP = 2,          /* blanks between columns */
    CELL_BOUND = 512, /* longer cells of a streamed row are written in pieces */
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
    char kept[KEPT_BYTES];
    size_t widths[];
};

/* Numbers and addresses are ASCII, so there is nothing to count. */
static size_t width_of(const struct value *value, const char *text, size_t length)
{
    const bool is_plain = value->type == VALUE_NUMBER || value->type == VALUE_ADDRESS;

    return is_plain ? length : text_width(text, length);
}

static bool is_right_aligned(const struct field *column)
{
    return column->type == VALUE_NUMBER || column->type == VALUE_SIGNED ||
           column->type == VALUE_DECIMAL || column->type == VALUE_FINE;
}

static void put_blanks(struct writer *writer, size_t count)
{
    while (count > 0) {
        const size_t size = count < WRITER_RESERVE_MAX ? count : WRITER_RESERVE_MAX;
        char *dst = writer_reserve(writer, size);
        memset(dst, ' ', size);
        writer_commit(writer, dst + size);
        count -= size;
    }
}

/* In one piece unless they are long, because a row has many cells. */
static void put_after_blanks(struct writer *writer, size_t blanks, const char *text, size_t length)
{
    if (blanks + length > WRITER_RESERVE_MAX) {
        put_blanks(writer, blanks);
        writer_put(writer, text, length);
        return;
    }
    char *dst = writer_reserve(writer, blanks + length);
    memset(dst, ' ', blanks);
    writer_commit(writer, put_bytes(dst + blanks, text, length));
}

/* A line being written. Blanks are written before the next cell, so no line ends in blanks. */
struct table_line {
    struct fitted *table;
    size_t column;
    size_t blanks; /* still to be written */
};

static void put_cell(struct table_line *line, const char *text, struct kept_cell cell,
                     const char *colour)
{
    struct writer *writer = line->table->sink.writer;
    const size_t fitted = line->table->widths[line->column];
    const size_t padding = fitted > cell.width ? fitted - cell.width : 0;
    const bool right = is_right_aligned(line->table->options.columns[line->column]);
    const size_t blanks = line->blanks + (right ? padding : 0);

    if (colour) {
        put_after_blanks(writer, blanks, colour, strlen(colour));
        writer_put(writer, text, cell.length);
        writer_puts(writer, COLOUR_RESET);
    } else {
        put_after_blanks(writer, blanks, text, cell.length);
    }
    line->blanks = GAP + (right ? 0 : padding);
    line->column++;
}

/* Writes a cell of a column; returns its end. value_bound() is enough for it. */
static char *write_cell(const struct fitted *table, size_t column, char *dst,
                        const struct value *value)
{
    if (table->options.human)
        return value_write_human(dst, value, (int)table->options.columns[column]->unit);
    return value_write(dst, value, " ");
}

/* The colour of a cell of the line's next column, or NULL. */
static const char *colour_of(const struct table_line *line, const char *text, size_t length)
{
    const struct sink_options *options = &line->table->options;

    if (!options->colour || !options->columns[line->column]->coloured)
        return NULL;
    return colour_of_state(text, length);
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

    for (size_t i = 0; i < table->options.count; i++) {
        char heading[CELL_BOUND];
        const size_t length = put_capitals(heading, table->options.columns[i]->name);
        put_cell(&line, heading, (struct kept_cell){length, length}, NULL);
    }
    end_line(&line);
}

static const char *put_kept_row(struct fitted *table, const char *at)
{
    struct table_line line = {.table = table};

    for (size_t i = 0; i < table->options.count; i++) {
        struct kept_cell cell;
        memcpy(&cell, at, sizeof cell);
        at += sizeof cell;
        put_cell(&line, at, cell, colour_of(&line, at, cell.length));
        at += cell.length;
    }
    end_line(&line);
    return at;
}

/* Fixes the widths and writes the kept rows. */
static void put_kept(struct fitted *table)
{
    const char *at = table->kept;

    if (table->options.header)
        put_headings(table);
    for (size_t i = 0; i < table->rows; i++)
        at = put_kept_row(table, at);
    table->rows = 0;
    table->streaming = true;
}

static void stream_cell(struct table_line *line, const struct value *value)
{
    char text[CELL_BOUND];

    if (value_bound(value) <= sizeof text) {
        const size_t length = (size_t)(write_cell(line->table, line->column, text, value) - text);
        const struct kept_cell cell = {length, width_of(value, text, length)};
        put_cell(line, text, cell, colour_of(line, text, length));
        return;
    }
    struct writer *writer = line->table->sink.writer;
    put_blanks(writer, line->blanks);
    value_put(writer, value, " ");
    line->blanks = GAP;
    line->column++;
}

static void stream_row(struct fitted *table, const struct record *record)
{
    struct table_line line = {.table = table};

    for (size_t i = 0; i < table->options.count; i++) {
        const struct value value =
            field_value(table->options.columns[i], record, table->sink.context);
        stream_cell(&line, &value);
    }
    end_line(&line);
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
    if (cell.width > table->widths[column])
        table->widths[column] = cell.width;
    return end;
}

static bool keep_row(struct fitted *table, const struct record *record)
{
    char *at = table->kept + table->used;

    if (table->rows == KEPT_ROWS)
        return false;
    for (size_t i = 0; i < table->options.count; i++) {
        const struct value value =
            field_value(table->options.columns[i], record, table->sink.context);
        at = keep_cell(table, i, at, &value);
        if (!at)
            return false;
    }
    table->used = (size_t)(at - table->kept);
    table->rows++;
    return true;
}

static void table_begin(struct sink *sink)
{
    struct fitted *table = (struct fitted *)sink;

    table->rows = 0;
    table->used = 0;
    table->streaming = false;
    for (size_t i = 0; i < table->options.count; i++)
        table->widths[i] = table->options.header ? strlen(table->options.columns[i]->name) : 0;
}

static void table_row(struct sink *sink, const struct record *record)
{
    struct fitted *table = (struct fitted *)sink;

    if (!table->streaming && keep_row(table, record))
        return;
    if (!table->streaming)
        put_kept(table);
    stream_row(table, record);
}

static void table_end(struct sink *sink)
{
    struct fitted *table = (struct fitted *)sink;

    if (!table->streaming)
        put_kept(table);
}

/* Fixes the widths by the rows so far, if there are any. */
static void table_pause(struct sink *sink)
{
    if (((struct fitted *)sink)->rows > 0)
        table_end(sink);
}

struct sink *sink_table_create(const struct sink_options *options)
{
    static const struct sink_ops ops = {
        .begin = table_begin, .row = table_row, .pause = table_pause, .end = table_end};
    struct fitted *table = calloc(1, sizeof *table + options->count * sizeof table->widths[0]);

    if (!table)
        return NULL;
    table->sink = (struct sink){&ops, options->writer, options->context};
    table->options = *options;
    return &table->sink;
}
