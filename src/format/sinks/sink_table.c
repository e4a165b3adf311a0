/* SPDX-License-Identifier: MIT */
/* A table with columns as wide as their contents, or as the terminal has room for. The first rows
 * are kept to find the widths. If there are more rows than can be kept, the rest is streamed, and a
 * value that is too long shifts the rest of its line until later spaces make up for it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/sink.h"
#include "format/sinks/fit.h"
#include "format/sinks/totals.h"
#include "model/value.h"
#include "text/put.h"
#include "text/width.h"

enum {
    KEPT_ROWS = 1000,
    KEPT_BYTES = 256 * 1024,
    CELL_BOUND = 512, /* longer cells of a plain row are written in pieces */
};

/* The head of a kept row; its cells follow. */
struct kept_line {
    size_t size; /* bytes of the whole row, with this struct */
    uint64_t reasons;
};

/* The head of a kept cell; its text follows. */
struct kept_cell {
    size_t length, width;
};

struct fitted {
    struct sink sink;
    struct sink_options options;
    size_t rows;    /* number of kept rows */
    size_t used;    /* bytes used in `kept` */
    bool streaming; /* the widths are fixed */
    bool is_plain;  /* cells are neither cut, coloured nor counted */
    size_t synonym; /* index of the column that shows options.synonym; options.count: no column */
    struct totals totals;
    char kept[KEPT_BYTES];
    struct fit_column columns[];
};

/* Whether all values of a column are ASCII, as words and numbers are. */
static bool sink_table_is_ascii(const struct field *column)
{
    const enum value_type type = column->type;

    return column->word || fit_is_right(column) ||
           (type != VALUE_TEXT && type != VALUE_SOCKET_NAME && type != VALUE_NAME &&
            type != VALUE_OWNERS && type != VALUE_FLAGS && type != VALUE_VIEW);
}

/* A line that is being written. Spaces come before the next cell, so no line ends with them. */
struct table_line {
    struct fitted *table;
    uint64_t reasons; /* bits: the reasons why the row needs attention */
    size_t column;
    size_t blanks; /* spaces to write before the next cell */
    size_t at;     /* columns of the terminal that are written */
    bool ended;    /* there is no room for more */
    size_t shift;  /* columns of the terminal by which earlier cells were too wide */
};

/* Returns the spaces that fill a cell, fewer if earlier cells were too wide (by *shift columns). */
static inline size_t padding_of(size_t *shift, size_t fitted, size_t width)
{
    const size_t padding = fitted > width ? fitted - width : 0;
    const size_t less = padding < *shift ? padding : *shift;

    *shift += (width > fitted ? width - fitted : 0) - less;
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

/* If the terminal has no room for a text, shortens the text so that the sign of a cut fits after
 * it. If longer cells took the room of this cell, the line ends with this cell. */
static bool sink_table_cut(struct table_line *line, const char *text, struct kept_cell *cell)
{
    const struct fit_column *fit = &line->table->columns[line->column];
    const size_t width = line->table->options.width, used = line->at + line->blanks;
    const size_t left = width > used ? width - used : 0;

    if (!width || fit->whole || (cell->width <= left && cell->width <= fit->width))
        return false;
    line->ended = left < fit->width;
    if (!left)
        line->blanks = width - line->at - 1;
    const size_t columns = !line->ended ? fit->width : left ? left : 1;
    const struct text_fit part =
        text_cut((struct text){text, cell->length}, (struct text_room){SIZE_MAX, columns, SIZE_MAX},
                 fit_sign(&line->table->options));
    *cell = (struct kept_cell){part.length, part.width + part.cut};
    return part.cut;
}

static void sink_table_put_cell(struct table_line *line, const char *text, struct kept_cell cell)
{
    struct writer *writer = line->table->sink.writer;
    const char *colour = colour_of(line, text, &cell);
    const size_t width = line->table->options.width;

    /* earlier cells left no room for a space and the sign of a cut: leave out this cell */
    if (width && line->at + 1 >= width && line->at && !line->table->columns[line->column].whole) {
        line->ended = true;
        return;
    }
    const bool is_cut = sink_table_cut(line, text, &cell);
    const bool right = line->table->columns[line->column].right;
    const bool is_whole = !width || line->table->columns[line->column].whole;
    const size_t used = line->at + line->blanks + cell.width;
    size_t padding = line->ended ? 0
                                 : padding_of(&line->shift,
                                              line->table->columns[line->column].width, cell.width);
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
        writer_puts(writer, fit_sign(&line->table->options));
    if (colour)
        writer_puts(writer, COLOUR_RESET);
    line->blanks = FIT_GAP + (right ? 0 : padding);
}

/* Turns a name into its text, which may be written to `digits` (TEXT_U64_MAX bytes). Changes the
 * value in place, because to copy each value would cost more than to test its type. */
static inline void sink_table_prepare(struct value *value, const struct fitted *table,
                                      size_t column, char *digits)
{
    if (column == table->synonym && value->type == VALUE_TEXT)
        value->text = synonym_of(table->options.synonym, value->text);
    value_name_to_text(value, digits);
}

/* Returns an upper bound for the bytes of a cell. */
static inline size_t sink_table_bound_of(const struct value *value)
{
    const size_t most = value_most[value->type];

    return most                        ? most
           : value->type == VALUE_TEXT ? 1 + ESCAPE_FACTOR * value->text.length
                                       : value_bound(value);
}

/* Writes at most sink_table_bound_of() bytes; returns their end and sets *width. */
static inline char *write_cell(const struct fitted *table, size_t column, char *dst,
                               const struct value *value, size_t *width)
{
    char *const end =
        table->options.human
            ? value_write_human(dst, value, field_shown_unit(table->options.columns[column]))
            : value_write(dst, value, " ");

    *width = (size_t)(end - dst);
    if (!table->columns[column].is_ascii)
        *width = text_width(dst, *width);
    return end;
}

static void end_line(const struct table_line *line)
{
    writer_put(line->table->sink.writer, "\n", 1);
}

static void sink_table_put_headings(struct fitted *table)
{
    struct table_line line = {.table = table};

    writer_puts(table->sink.writer, table->options.colour ? COLOUR_HEADING : "");
    for (; line.column < table->options.count; line.column++) {
        const struct field *column = table->options.columns[line.column];
        const struct text title = fit_title(&table->options, column);
        char heading[CELL_BOUND];
        size_t length = 0;
        for (; length < sizeof heading && length < title.length; length++)
            heading[length] = (char)toupper((unsigned char)title.data[length]);
        if (table->columns[line.column].width)
            sink_table_put_cell(&line, heading, (struct kept_cell){length, length});
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

static void count_reasons(struct fitted *table, uint64_t reasons)
{
    table->totals.marked += reasons != 0;
    for (size_t i = 0; i < TOTALS_REASONS && reasons >> i; i++)
        table->totals.reasons[i] += reasons >> i & 1;
}

static struct table_line begin_line(struct fitted *table, uint64_t reasons)
{
    count_reasons(table, reasons);
    return (struct table_line){.table = table, .reasons = reasons};
}

/* Writes kept rows and counts their states. with: rows that need attention; without: others. */
static void put_kept_rows(struct fitted *table, bool with, bool without)
{
    struct kept_line row;

    for (const char *start = table->kept; start < table->kept + table->used; start += row.size) {
        const char *at = start + sizeof row;
        memcpy(&row, start, sizeof row);
        if (!(row.reasons ? with : without))
            continue;
        struct table_line line = begin_line(table, row.reasons);
        for (; line.column < table->options.count; line.column++) {
            struct kept_cell cell;
            memcpy(&cell, at, sizeof cell);
            at += sizeof cell;
            if (table->options.totals && table->options.columns[line.column]->coloured)
                totals_add_state(&table->totals, at, cell.length);
            if (table->columns[line.column].width && !line.ended)
                sink_table_put_cell(&line, at, cell);
            at += cell.length;
        }
        end_line(&line);
    }
}

/* Fixes the widths and writes the kept rows. more: other rows follow. */
static void sink_table_put_kept(struct fitted *table, bool more)
{
    const bool first = table->options.attention_first;

    fit_columns(table->columns, &table->options, more);
    for (size_t i = 0; i < table->options.count; i++)
        table->is_plain &= table->columns[i].width <= CELL_BOUND;
    if (table->options.header)
        sink_table_put_headings(table);
    put_kept_rows(table, true, !first);
    if (first)
        put_kept_rows(table, false, true);
    table->rows = 0;
    table->streaming = true;
}

/* Moves a cell that has `before` spaces before it but needs `padding`; returns its end. */
static char *sink_table_move(char *text, const char *end, size_t before, size_t padding)
{
    char *const moved = text + padding - before;

    memmove(moved, text, (size_t)(end - text));
    if (moved > text)
        memset(text, ' ', (size_t)(moved - text));
    return moved + (end - text);
}

/* Writes a plain row, each cell directly at its final position. Before a number, first writes the
 * number of spaces that the row above has there, because that is right in most rows. */
static void stream_plain(struct fitted *table, const struct record *record)
{
    enum { ROOM = 3 * CELL_BOUND + FIT_GAP + PUT_BLANKS_MORE + 1 };
    struct writer *const writer = table->sink.writer;
    char digits[TEXT_U64_MAX], *dst = writer_reserve(writer, WRITER_ROOM);
    size_t blanks = 0, shift = 0, width;

    for (size_t i = 0; i < table->options.count; i++) {
        struct fit_column *const column = &table->columns[i];
        struct value value = field_value(table->options.columns[i], record, table->sink.context);
        sink_table_prepare(&value, table, i, digits);
        if (sink_table_bound_of(&value) > CELL_BOUND) {
            writer_commit(writer, dst);
            writer_put_after(writer, blanks, "", 0);
            value_put(writer, &value, " ");
            blanks = FIT_GAP;
            dst = writer_reserve(writer, WRITER_ROOM);
            continue;
        }
        dst = writer_more(writer, dst, ROOM);
        char *const text = put_spaces(dst, blanks + column->before);
        dst = write_cell(table, i, text, &value, &width);
        const size_t padding = padding_of(&shift, column->width, width);
        blanks = FIT_GAP + (column->right ? 0 : padding);
        if (column->right && padding != column->before) {
            dst = sink_table_move(text, dst, column->before, padding);
            column->before = padding;
        }
    }
    writer_commit(writer, PUT(dst, "\n"));
}

/* Returns the end of the cell, or NULL if there is no room for it. */
static char *keep_cell(struct fitted *table, size_t column, char *at, const struct value *value)
{
    const size_t room = (size_t)(table->kept + KEPT_BYTES - at);
    const size_t bound = sink_table_bound_of(value);

    if (room < sizeof(struct kept_cell) || room - sizeof(struct kept_cell) < bound)
        return NULL;
    char *text = at + sizeof(struct kept_cell);
    struct kept_cell cell;
    char *end = write_cell(table, column, text, value, &cell.width);
    cell.length = (size_t)(end - text);
    memcpy(at, &cell, sizeof cell);
    if (cell.width > table->columns[column].contents)
        table->columns[column].contents = cell.width;
    if (cell.width > table->columns[column].usual && cell.width <= FIT_USUAL)
        table->columns[column].usual = cell.width;
    return end;
}

static bool keep_row(struct fitted *table, const struct record *record)
{
    char *start = table->kept + table->used, *at, digits[TEXT_U64_MAX];

    if (table->rows == KEPT_ROWS || table->used + sizeof(struct kept_line) > KEPT_BYTES)
        return false;
    at = start + sizeof(struct kept_line);
    for (size_t i = 0; i < table->options.count; i++) {
        struct value value = field_value(table->options.columns[i], record, table->sink.context);
        sink_table_prepare(&value, table, i, digits);
        at = keep_cell(table, i, at, &value);
        if (!at)
            return false;
    }
    const struct kept_line row = {(size_t)(at - start), reasons_of(table, record)};
    memcpy(start, &row, sizeof row);
    table->used += row.size;
    table->rows++;
    return true;
}

/* Writes a row that is too large to be kept: cells of any length, without padding. */
static void put_huge(struct fitted *table, const struct record *record)
{
    struct table_line line = begin_line(table, reasons_of(table, record));
    char digits[TEXT_U64_MAX];

    for (size_t i = 0; i < table->options.count; i++) {
        struct value value = field_value(table->options.columns[i], record, table->sink.context);
        if (!table->columns[i].width)
            continue;
        sink_table_prepare(&value, table, i, digits);
        writer_put_after(table->sink.writer, line.blanks, "", 0);
        value_put(table->sink.writer, &value, " ");
        line.blanks = FIT_GAP;
    }
    end_line(&line);
}

static void table_begin(struct sink *sink)
{
    struct fitted *table = (struct fitted *)sink;
    const struct sink_options *options = &table->options;

    table->rows = 0;
    table->used = 0;
    table->streaming = false;
    table->is_plain = !options->width && !options->colour && !options->totals;
    table->totals = (struct totals){.rows = 0};
    for (size_t i = 0; i < options->count; i++)
        table->columns[i] =
            (struct fit_column){.right = fit_is_right(options->columns[i]),
                                .is_ascii = sink_table_is_ascii(options->columns[i])};
}

static void table_row(struct sink *sink, const struct record *record)
{
    struct fitted *table = (struct fitted *)sink;

    table->totals.rows += record_rows(record);
    if (!table->streaming && keep_row(table, record))
        return;
    if (!table->streaming)
        sink_table_put_kept(table, true);
    table->rows = table->used = 0;
    if (table->is_plain)
        stream_plain(table, record);
    else if (keep_row(table, record))
        put_kept_rows(table, true, true);
    else
        put_huge(table, record);
}

/* Counts a row that is not shown: the totals include it. */
static void table_unshown(struct sink *sink, const struct record *record)
{
    struct fitted *table = (struct fitted *)sink;
    const struct sink_options *options = &table->options;
    char digits[TEXT_U64_MAX], text[CELL_BOUND];

    if (!options->totals)
        return;
    table->totals.rows += record_rows(record);
    count_reasons(table, reasons_of(table, record));
    for (size_t i = 0; i < options->count; i++) {
        if (!options->columns[i]->coloured)
            continue;
        struct value value = field_value(options->columns[i], record, sink->context);
        size_t width;
        sink_table_prepare(&value, table, i, digits);
        if (sink_table_bound_of(&value) <= sizeof text)
            totals_add_state(&table->totals, text,
                             (size_t)(write_cell(table, i, text, &value, &width) - text));
    }
}

static void table_end(struct sink *sink)
{
    struct fitted *table = (struct fitted *)sink;
    const struct sink_options *options = &table->options;

    if (options->silent && !table->totals.rows)
        return;
    if (!table->streaming)
        sink_table_put_kept(table, false);
    if (options->totals)
        totals_put(&table->totals, options);
}

/* Fixes the widths by the rows kept until now, if there are any. */
static void table_pause(struct sink *sink)
{
    struct fitted *table = (struct fitted *)sink;

    if (table->rows > 0 && !table->streaming)
        sink_table_put_kept(table, false);
}

struct sink *sink_table_create(const struct sink_options *options)
{
    static const struct sink_ops ops = {.begin = table_begin,
                                        .row = table_row,
                                        .unshown = table_unshown,
                                        .pause = table_pause,
                                        .end = table_end};
    struct fitted *table = calloc(1, sizeof *table + options->count * sizeof table->columns[0]);

    if (!table)
        return NULL;
    table->sink = (struct sink){&ops, options->writer, options->context};
    table->options = *options;
    while (options->synonym && table->synonym < options->count &&
           strcmp(options->columns[table->synonym]->name, options->synonym->column) != 0)
        table->synonym++;
    if (!options->synonym)
        table->synonym = options->count;
    return &table->sink;
}
