/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/screen.h"
#include "fastnet/text.h"
#include "format/sinks/fit.h"
#include "text/put.h"
#include "text/width.h"

enum {
    WIDTH_MAX = 512,
    HEIGHT_MAX = 256,
    CELL_BYTES = 96, /* bytes of a value; a longer value is cut */
    CELL_WIDTH = 64,
    CELL_MARKS = 4, /* accents per character; Vietnamese and Thai need two */
    WRAP_INDENT = 4,
    GUTTER = 2,   /* columns before a row: a sign for opened or closed */
    PALETTE = 16, /* different colours of lines of text */
};

/* A column of a line on the screen. length UINT8_MAX: second column of a wide character. */
struct spot {
    const char *colour;              /* an escape sequence, or NULL */
    char text[4 * (1 + CELL_MARKS)]; /* a character and its marks */
    uint8_t length;                  /* 0: a space */
};

/* The text of one value of a row. */
struct screen_cell {
    char text[CELL_BYTES];
    uint8_t length, width;
    const char *colour;
};

struct screen {
    struct sink sink;
    struct sink_options options;
    const struct field *event;
    struct spot *now, *before; /* this frame and the last frame: WIDTH_MAX * HEIGHT_MAX each */
    size_t width, height;
    bool table;   /* the frame has a table */
    bool whole;   /* write all of the next frame, not only changes */
    size_t lines; /* lines above the table */
    enum screen_style *rows;
    struct screen_cell *cells; /* options.count cells per row */
    struct text *texts;        /* per row: its line of screen_text(); data NULL: it has cells */
    struct text heading;
    char palette[PALETTE][16]; /* the escape sequences of lines of text */
    size_t row_count, row_room;
    bool bits;           /* rates are in bits */
    size_t cursor;       /* column of the cursor in the last line; SIZE_MAX: no cursor */
    size_t first, drawn; /* the first row that is drawn, and the number of rows drawn */
    struct fit_column *columns;
};

static const char *const styles[] = {
    [SCREEN_PLAIN] = NULL,        [SCREEN_BOLD] = "\033[1m",  [SCREEN_DIM] = "\033[2m",
    [SCREEN_NEW] = "\033[32m",    [SCREEN_ENDED] = "\033[2m", [SCREEN_CHOSEN] = "\033[7m",
    [SCREEN_PROBLEM] = "\033[31m"};

static const char *style_of(const struct screen *screen, enum screen_style style)
{
    if (!screen->options.colour && (style == SCREEN_NEW || style == SCREEN_PROBLEM))
        return NULL;
    return styles[style];
}

/* --- The grid --------------------------------------------------------------------------------- */

static struct spot *spot_at(struct spot *grid, size_t line, size_t column)
{
    return &grid[line * WIDTH_MAX + column];
}

/* Returns the bytes of the first character. The text is valid UTF-8, as escape_text() writes it. */
static size_t bytes_of(const char *text, size_t length)
{
    size_t bytes = 1;

    while (bytes < length && ((unsigned char)text[bytes] & 0xc0) == 0x80)
        bytes++;
    return bytes;
}

/* Draws text on a line up to the right edge; returns the column after it. */
static size_t draw_text(struct screen *screen, size_t line, size_t column, const char *text,
                        size_t length, const char *colour)
{
    struct spot *last = NULL;

    if (line >= screen->height || !text) /* text is NULL if it is empty */
        return column;
    while (length > 0) {
        const size_t bytes = bytes_of(text, length), width = text_width(text, bytes);
        if (width && column + width > screen->width)
            break;
        if (width) {
            last = spot_at(screen->now, line, column);
            for (size_t i = 0; i < width; i++)
                last[i] = (struct spot){.colour = colour, .length = i ? UINT8_MAX : 0};
            column += width;
        }
        if (last && last->length + bytes <= sizeof last->text) {
            memcpy(last->text + last->length, text, bytes);
            last->length = (uint8_t)(last->length + bytes);
        }
        text += bytes;
        length -= bytes;
    }
    return column;
}

/* Draws text in at most `room` columns; a longer text ends with the sign of a cut. */
static size_t draw_cut(struct screen *screen, size_t line, size_t column, size_t room,
                       struct text text, const char *colour)
{
    const char *sign = fit_sign(&screen->options);
    const struct text_fit fit =
        text_cut(text, (struct text_room){SIZE_MAX, room, CELL_MARKS}, sign);

    column = draw_text(screen, line, column, text.data, fit.length, colour);
    return fit.cut && room ? draw_text(screen, line, column, sign, strlen(sign), colour) : column;
}

/* Returns the same pointer for the same escape sequence, because spots compare pointers. NULL: the
 * sequence ends a colour, or is unknown. */
static const char *colour_of_sequence(struct screen *screen, struct text sequence)
{
    char known[sizeof screen->palette[0]] = "";

    if (!sequence.length || sequence.length >= sizeof known || text_is(sequence, COLOUR_RESET))
        return NULL;
    memcpy(known, sequence.data, sequence.length);
    if (strspn(known, "\033[0123456789;m") != sequence.length) /* not only a colour */
        return NULL;
    for (size_t i = 0; i < PALETTE; i++) {
        if (!*screen->palette[i])
            memcpy(screen->palette[i], sequence.data, sequence.length);
        if (text_is(sequence, screen->palette[i]))
            return screen->palette[i];
    }
    return NULL;
}

/* Takes the first piece of one colour from the line; *colour becomes the colour after it. */
static struct text coloured_piece(struct screen *screen, struct text *line, const char **colour)
{
    const char *escape = line->length ? memchr(line->data, '\033', line->length) : NULL;
    const struct text piece = {line->data, escape ? (size_t)(escape - line->data) : line->length};
    const size_t left = line->length - piece.length;
    const char *end = escape ? memchr(escape, 'm', left) : NULL;
    const struct text sequence = {escape ? escape : "", end ? (size_t)(end + 1 - escape) : left};

    *colour = colour_of_sequence(screen, sequence);
    *line = (struct text){piece.data + piece.length + sequence.length, left - sequence.length};
    return piece;
}

/* Draws a line of text with its colours. A line that is too long ends with the sign of a cut. */
static void draw_coloured(struct screen *screen, size_t line, struct text text)
{
    const char *sign = fit_sign(&screen->options), *colour = NULL, *next;
    size_t width = 0, column = 0;

    for (struct text rest = text, piece; rest.length; width += text_width(piece.data, piece.length))
        piece = coloured_piece(screen, &rest, &next);
    const bool cut = width > screen->width;
    while (text.length) {
        const struct text piece = coloured_piece(screen, &text, &next);
        const struct text_room room = {SIZE_MAX, screen->width - cut - column, CELL_MARKS};
        const size_t length = text_cut(piece, room, "").length;
        column = draw_text(screen, line, column, piece.data, length, colour);
        if (length < piece.length)
            break;
        colour = next;
    }
    if (cut)
        draw_text(screen, line, column, sign, strlen(sign), NULL);
}

static void colour_line(struct screen *screen, size_t line, const char *colour)
{
    for (size_t i = 0; i < screen->width && line < screen->height; i++) {
        struct spot *spot = spot_at(screen->now, line, i);
        if (!spot->colour || colour == styles[SCREEN_CHOSEN])
            spot->colour = colour;
    }
}

static bool sink_screen_is_same(const struct spot *a, const struct spot *b)
{
    return a->colour == b->colour && a->length == b->length &&
           (a->length == UINT8_MAX || memcmp(a->text, b->text, a->length) == 0);
}

static void put_spot(struct writer *writer, const struct spot *spot, const char **colour)
{
    if (*colour != spot->colour) {
        writer_puts(writer, COLOUR_RESET);
        writer_puts(writer, spot->colour ? spot->colour : "");
        *colour = spot->colour;
    }
    if (spot->length == 0)
        writer_put(writer, " ", 1);
    else if (spot->length != UINT8_MAX)
        writer_put(writer, spot->text, spot->length);
}

/* Whether a column must be written: it changed, or is half of a wide character that changed. */
static bool is_written(const struct screen *screen, size_t line, size_t column)
{
    const struct spot *now = spot_at(screen->now, line, column);
    const struct spot *before = spot_at(screen->before, line, column);
    bool changed = !sink_screen_is_same(now, before);

    if (now->length == UINT8_MAX && column)
        changed |= !sink_screen_is_same(now - 1, before - 1);
    if (column + 1 < screen->width && now[1].length == UINT8_MAX)
        changed |= !sink_screen_is_same(now + 1, before + 1);
    return changed;
}

static void put_changes(struct screen *screen)
{
    struct writer *writer = screen->sink.writer;
    const char *colour = NULL;

    for (size_t line = 0; line < screen->height; line++) {
        size_t at = SIZE_MAX; /* column of the terminal's cursor; SIZE_MAX: on another line */
        for (size_t column = 0; column < screen->width; column++) {
            if (!is_written(screen, line, column))
                continue;
            if (at != column) {
                char *dst = PUT(writer_reserve(writer, 2 * TEXT_U64_MAX + 8), "\033[");
                dst = PUT(text_u64(dst, line + 1), ";");
                writer_commit(writer, PUT(text_u64(dst, column + 1), "H"));
            }
            put_spot(writer, spot_at(screen->now, line, column), &colour);
            at = column + 1;
        }
    }
    writer_puts(writer, colour ? COLOUR_RESET : "");
}

/* --- Rows ------------------------------------------------------------------------------------- */

static struct screen_cell *cell_at(const struct screen *screen, size_t row, size_t column)
{
    return &screen->cells[row * screen->options.count + column];
}

/* Sets the text of a cell. suffix: ASCII text that is added and never cut. Combining marks before
 * the first character are put on a dotted circle, the base that Unicode uses for them (23.1). */
static void set_cell(struct screen *screen, size_t column, struct text text, struct text suffix)
{
    const char *circle = screen->options.ascii ? "o" : "◌";
    struct screen_cell *cell = cell_at(screen, screen->row_count, column);
    const char *sign = fit_sign(&screen->options);
    const bool is_bare = text.length && !text_width(text.data, bytes_of(text.data, text.length));
    const size_t before = is_bare ? strlen(circle) : 0, columns = is_bare ? 1 : 0;
    const struct text_room room = {CELL_BYTES - before - suffix.length,
                                   CELL_WIDTH - columns - suffix.length, CELL_MARKS};
    const struct text_fit part = text_cut(text, room, sign);
    char *end = put_bytes(cell->text, circle, before);

    end = put_bytes(end, text.data, part.length);
    end = put_bytes(part.cut ? put_string(end, sign) : end, suffix.data, suffix.length);
    cell->length = (uint8_t)(end - cell->text);
    cell->width = (uint8_t)(columns + part.width + part.cut + suffix.length);
    cell->colour = NULL;
}

/* Widens a column for a cell. Columns never become narrower while the screen stays. */
static void measure_cell(struct screen *screen, size_t row, size_t column)
{
    const size_t width = cell_at(screen, row, column)->width;
    struct fit_column *fit = &screen->columns[column];

    if (width > fit->contents)
        fit->contents = width;
    if (width > fit->usual && width <= FIT_USUAL)
        fit->usual = width;
}

static enum screen_style mark_of(const struct screen *screen, const struct record *record)
{
    const struct value value = screen->event
                                   ? field_value(screen->event, record, screen->sink.context)
                                   : (struct value){.type = VALUE_UNKNOWN};

    if (value.type != VALUE_TEXT)
        return SCREEN_PLAIN;
    return text_is(value.text, "opened")   ? SCREEN_NEW
           : text_is(value.text, "closed") ? SCREEN_ENDED
                                           : SCREEN_PLAIN;
}

/* Writes a value for people: rates in bits if the user wants, and whole packets per second. */
static size_t write_shown(const struct screen *screen, char text[VALUE_PART],
                          const struct value *value, const struct field *column)
{
    const int unit = field_shown_unit(column);
    struct value rounded = {.type = VALUE_NUMBER};

    if (unit == UNIT_PACKETS_PER_SECOND && value->type == VALUE_DECIMAL) {
        rounded.number = value->number / 1000 + (value->number % 1000 >= 500);
        return value_write_part(text, &rounded, unit);
    }
    return value_write_part(
        text, value, screen->bits && unit == UNIT_BYTES_PER_SECOND ? UNIT_BITS_PER_SECOND : unit);
}

static void screen_row(struct sink *sink, const struct record *record)
{
    struct screen *screen = (struct screen *)sink;
    char text[VALUE_PART];

    if (screen->row_count == screen->row_room)
        return;
    for (size_t i = 0; i < screen->options.count; i++) {
        const struct field *column = screen->options.columns[i];
        const struct value value = field_value(column, record, sink->context);
        const struct text shown = {text, write_shown(screen, text, &value, column)};
        const struct synonym *synonym = screen->options.synonym;
        const bool has_synonym = synonym && strcmp(column->name, synonym->column) == 0;
        set_cell(screen, i, has_synonym ? synonym_of(synonym, shown) : shown, as_text(""));
        if (screen->options.colour && column->coloured)
            cell_at(screen, screen->row_count, i)->colour = colour_of_state(text, shown.length);
    }
    screen->rows[screen->row_count++] = mark_of(screen, record);
}

void screen_title(struct sink *sink, struct text title, const char *suffix,
                  const char *(*text)(const struct field *column, char room[32], void *arg),
                  void *arg)
{
    struct screen *screen = (struct screen *)sink;
    char room[32];

    if (screen->row_count == screen->row_room)
        return;
    for (size_t i = 0; i < screen->options.count; i++) {
        const char *of = text(screen->options.columns[i], room, arg);
        set_cell(screen, i, as_text(of ? of : ""), as_text(""));
    }
    if (screen->options.count)
        set_cell(screen, 0, title, as_text(suffix));
    screen->rows[screen->row_count++] = SCREEN_BOLD;
}

void screen_text(struct sink *sink, struct text line)
{
    struct screen *screen = (struct screen *)sink;

    if (screen->row_count == screen->row_room)
        return;
    screen->texts[screen->row_count] = line.data ? line : as_text("");
    screen->rows[screen->row_count++] = SCREEN_PLAIN;
}

void screen_heading(struct sink *sink, struct text line)
{
    ((struct screen *)sink)->heading = line;
}

/* --- A frame ---------------------------------------------------------------------------------- */

void screen_begin(struct sink *sink, size_t width, size_t height, bool table)
{
    ((struct screen *)sink)->row_count = 0;
    screen_begin_again(sink, width, height, table);
    screen_draw_rows(sink, 0, SCREEN_ROWS);
}

void screen_draw_rows(struct sink *sink, size_t first, size_t count)
{
    struct screen *screen = (struct screen *)sink;

    screen->first = first;
    screen->drawn = count;
}

void screen_begin_again(struct sink *sink, size_t width, size_t height, bool table)
{
    struct screen *screen = (struct screen *)sink;

    width = width < WIDTH_MAX ? width : WIDTH_MAX;
    height = height < HEIGHT_MAX ? height : HEIGHT_MAX;
    if (width != screen->width || height != screen->height)
        screen_forget(sink);
    screen->width = width;
    screen->height = height;
    screen->table = table;
    screen->lines = 0;
    memset(screen->now, 0, WIDTH_MAX * height * sizeof *screen->now);
}

void screen_line(struct sink *sink, enum screen_style style, const char *text)
{
    struct screen *screen = (struct screen *)sink;

    draw_cut(screen, screen->lines++, 0, screen->width, as_text(text), style_of(screen, style));
}

/* The columns that a line of a wrapped text has after its indentation. */
static size_t columns_of_line(const struct screen *screen, size_t indent)
{
    return screen->width > 2 * indent ? screen->width - indent : screen->width;
}

void screen_lines(struct sink *sink, enum screen_style style, const char *text, size_t most)
{
    struct screen *screen = (struct screen *)sink;
    struct text rest = as_text(text);
    size_t indent = 0;

    for (size_t i = 0; i < most && (rest.length || !i); i++, indent = WRAP_INDENT) {
        const size_t room = columns_of_line(screen, indent);
        const struct text line = i + 1 < most ? text_take_line(&rest, room) : rest;
        draw_cut(screen, screen->lines++, screen->width - room, room, line,
                 style_of(screen, style));
    }
}

size_t screen_lines_of(const struct sink *sink, const char *text)
{
    const struct screen *screen = (const struct screen *)sink;
    struct text rest = as_text(text);
    size_t count = 0;

    do
        text_take_line(&rest, columns_of_line(screen, count ? WRAP_INDENT : 0));
    while (count++, rest.length);
    return count;
}

size_t screen_room(const struct sink *sink, size_t below)
{
    const struct screen *screen = (const struct screen *)sink;
    const size_t used = screen->lines + 1 + below;
    const size_t room = screen->height > used ? screen->height - used : 0;

    return room < SCREEN_ROWS ? room : SCREEN_ROWS;
}

/* Where the cells of a line are drawn. */
struct screen_position {
    size_t at;    /* the first free column */
    size_t start; /* the column of the next cell if no cell before it was too long */
};

/* Draws a cell. At the screen's edge a text is cut; a number becomes the sign of a cut. */
static void sink_screen_put_cell(struct screen *screen, size_t line, struct screen_position *cursor,
                                 size_t column, struct text text, size_t width, const char *colour)
{
    const struct fit_column *fit = &screen->columns[column];
    const bool right = fit_is_right(screen->options.columns[column]);
    const size_t end = cursor->start + fit->width;
    size_t at = cursor->at > cursor->start ? cursor->at : cursor->start;

    if (right && at + width < end)
        at = end - width;
    const size_t edge = screen->width > at ? screen->width - at : 0;
    const size_t room = fit->whole || fit->width > edge ? edge : fit->width;
    if (right && width > room && room)
        text = as_text(fit_sign(&screen->options));
    cursor->at = draw_cut(screen, line, at, room, text, colour) + FIT_GAP;
    cursor->start = end + FIT_GAP;
}

static void sink_screen_put_row(struct screen *screen, size_t row, size_t line)
{
    const enum screen_style style = screen->rows[row];
    const char *colour = style_of(screen, style);
    struct screen_position cursor = {GUTTER, GUTTER};

    draw_coloured(screen, line, screen->texts[row]);
    if (style == SCREEN_NEW || style == SCREEN_ENDED)
        draw_text(screen, line, 0, style == SCREEN_NEW ? "+" : "-", 1, colour);
    for (size_t i = 0; i < screen->options.count; i++) {
        const struct screen_cell *cell = cell_at(screen, row, i);
        if (!screen->columns[i].width)
            continue;
        sink_screen_put_cell(screen, line, &cursor, i, (struct text){cell->text, cell->length},
                             cell->width,
                             cell->colour && style != SCREEN_ENDED ? cell->colour : colour);
    }
}

/* Whether rows are sorted by this column, or by a pair of rates that includes it. */
static bool is_sorted(const struct field *column, const struct field *sorted)
{
    if (!sorted || !sorted->pair || !column->rate || column->pair)
        return column == sorted;
    return strcmp(column->of->name, sorted->of[0].name) == 0 ||
           strcmp(column->of->name, sorted->of[1].name) == 0;
}

static void sink_screen_put_headings(struct screen *screen, const struct field *sorted)
{
    struct screen_position cursor = {GUTTER, GUTTER};

    draw_coloured(screen, screen->lines, screen->heading);
    for (size_t i = 0; i < screen->options.count; i++) {
        const struct text title = fit_title(&screen->options, screen->options.columns[i]);
        char capitals[CELL_BYTES];
        const bool is_name = title.data == screen->options.columns[i]->name;
        size_t length = 0;
        if (!screen->columns[i].width)
            continue;
        for (; length < title.length && length < sizeof capitals; length++)
            capitals[length] =
                is_name ? (char)toupper((unsigned char)title.data[length]) : title.data[length];
        sink_screen_put_cell(
            screen, screen->lines, &cursor, i, (struct text){capitals, length}, length,
            styles[is_sorted(screen->options.columns[i], sorted) ? SCREEN_CHOSEN : SCREEN_BOLD]);
    }
}

/* The text before a newline. */
static struct text as_line(struct text text)
{
    const char *newline = text.data ? memchr(text.data, '\n', text.length) : NULL;

    return (struct text){text.data, newline ? (size_t)(newline - text.data) : text.length};
}

/* Takes the first line of the message at the bottom. */
static struct text take_last_line(const struct screen *screen, struct text *rest)
{
    struct text part = as_line(*rest);
    const bool has_newline = part.length < rest->length;
    const struct text line = text_take_line(&part, screen->width);
    const size_t skipped = (size_t)(part.data - rest->data) + (has_newline && !part.length);

    *rest = (struct text){rest->data + skipped, rest->length - skipped};
    return line;
}

/* Leaves out the last items, which are separated by two spaces, until the text fits. */
static struct text without_last_items(const struct screen *screen, struct text text)
{
    const struct text_room room = {SIZE_MAX, screen->width, SIZE_MAX};
    const struct text_fit fit = text_cut(text, room, "");
    size_t end = fit.length;

    if (!fit.cut)
        return text;
    while (end && (text.data[end] != ' ' || text.data[end + 1] != ' '))
        end--;
    return (struct text){text.data, end ? end : text.length};
}

/* Draws a message or the line of keys (SCREEN_DIM) at the bottom. A long message takes several
 * lines and covers rows. */
static void put_last(struct screen *screen, enum screen_style style, struct text text)
{
    const size_t height = screen->height;
    size_t lines = 0;

    if (style == SCREEN_DIM)
        text = without_last_items(screen, text);
    for (struct text rest = text; rest.length && lines < height; lines++)
        take_last_line(screen, &rest);
    lines += style == SCREEN_DIM && !lines && height;
    for (size_t line = height - lines; line < height; line++) {
        const bool is_last = line + 1 == height;
        const struct text part = is_last ? as_line(text) : take_last_line(screen, &text);
        memset(spot_at(screen->now, line, 0), 0, screen->width * sizeof *screen->now);
        draw_cut(screen, line, 0, screen->width, part, style_of(screen, style));
    }
}

/* Reverses the character under the cursor, which can have two columns. */
static void put_cursor(struct screen *screen)
{
    if (screen->cursor >= screen->width || !screen->height)
        return;
    struct spot *spot = spot_at(screen->now, screen->height - 1, screen->cursor);
    spot->colour = styles[SCREEN_CHOSEN];
    if (screen->cursor + 1 < screen->width && spot[1].length == UINT8_MAX)
        spot[1].colour = styles[SCREEN_CHOSEN];
}

int screen_end(struct sink *sink, const struct field *sorted, size_t chosen,
               enum screen_style style, const char *last)
{
    struct screen *screen = (struct screen *)sink;
    struct spot *before = screen->before;
    const size_t left = screen->row_count > screen->first ? screen->row_count - screen->first : 0,
                 count = left < screen->drawn ? left : screen->drawn;

    for (size_t i = 0; i < screen->options.count; i++) {
        const size_t title = fit_title(&screen->options, screen->options.columns[i]).length;
        if (screen->columns[i].contents < title)
            screen->columns[i].contents = title;
        for (size_t row = 0; row < count; row++)
            measure_cell(screen, screen->first + row, i);
    }
    screen->options.width = screen->width > GUTTER ? screen->width - GUTTER : 1;
    fit_columns(screen->columns, &screen->options, false);
    if (screen->table)
        sink_screen_put_headings(screen, sorted);
    for (size_t i = 0; i < count; i++) {
        sink_screen_put_row(screen, screen->first + i, screen->lines + 1 + i);
        if (i == chosen)
            colour_line(screen, screen->lines + 1 + i, styles[SCREEN_CHOSEN]);
    }
    put_last(screen, style, as_text(last));
    put_cursor(screen);
    screen->cursor = SIZE_MAX;
    writer_puts(sink->writer, screen->whole ? "\033[?2026h\033[0m\033[2J" : "\033[?2026h");
    if (screen->whole)
        memset(before, 0, WIDTH_MAX * screen->height * sizeof *before);
    screen->whole = false;
    put_changes(screen);
    writer_puts(sink->writer, "\033[?2026l");
    screen->before = screen->now;
    screen->now = before;
    return writer_flush(sink->writer);
}

size_t screen_first_row(const struct sink *sink)
{
    return ((const struct screen *)sink)->lines + 1;
}

void screen_cursor(struct sink *sink, size_t column)
{
    ((struct screen *)sink)->cursor = column;
}

void screen_bits(struct sink *sink, bool bits)
{
    ((struct screen *)sink)->bits = bits;
}

void screen_forget(struct sink *sink)
{
    struct screen *screen = (struct screen *)sink;

    screen->whole = true;
    for (size_t i = 0; i < screen->options.count; i++)
        screen->columns[i] = (struct fit_column){.contents = 0};
}

void screen_drop(struct sink *sink, const char *drop)
{
    ((struct screen *)sink)->options.drop = drop;
}

bool screen_shows(const struct sink *sink, size_t column)
{
    const struct screen *screen = (const struct screen *)sink;

    return column < screen->options.count && screen->columns[column].width;
}

void screen_titles(struct sink *sink, const char *titles)
{
    ((struct screen *)sink)->options.titles = titles;
}

bool screen_keep_rows(struct sink *sink, size_t count)
{
    struct screen *screen = (struct screen *)sink;
    struct screen_cell *cells = calloc((screen->options.count + 1) * count, sizeof *cells);
    enum screen_style *rows = calloc(count, sizeof *rows);
    struct text *texts = calloc(count, sizeof *texts);

    if (!cells || !rows || !texts) {
        free(cells);
        free(rows);
        free(texts);
        return false;
    }
    free(screen->cells);
    free(screen->rows);
    free(screen->texts);
    screen->cells = cells;
    screen->rows = rows;
    screen->texts = texts;
    screen->row_room = count;
    screen->row_count = 0;
    return true;
}

bool screen_columns(struct sink *sink, const struct field *const *columns, size_t count)
{
    struct screen *screen = (struct screen *)sink;
    struct screen_cell *cells = calloc((count + 1) * screen->row_room, sizeof *cells);
    struct fit_column *fits = calloc(count + 1, sizeof *fits);

    if (!cells || !fits) {
        free(cells);
        free(fits);
        return false;
    }
    free(screen->cells);
    free(screen->columns);
    screen->cells = cells;
    screen->columns = fits;
    screen->options.columns = columns;
    screen->options.count = count;
    screen->row_count = 0;
    screen->whole = true;
    return true;
}

static void screen_destroy(struct sink *sink)
{
    struct screen *screen = (struct screen *)sink;

    free(screen->now);
    free(screen->before);
    free(screen->rows);
    free(screen->cells);
    free(screen->texts);
    free(screen->columns);
}

struct sink *sink_screen_create(const struct sink_options *options, const struct field *event)
{
    static const struct sink_ops ops = {.size = sizeof(struct screen),
                                        .layout_size = sizeof *options,
                                        .row = screen_row,
                                        .destroy = screen_destroy};
    struct sink *sink = sink_create(&ops, options, options->writer, options->context);
    struct screen *screen = (struct screen *)sink;

    if (!screen)
        return NULL;
    screen->event = event;
    screen->cursor = SIZE_MAX;
    screen->options.header = false; /* screen_end() measures titles as contents of the columns */
    screen->now = calloc((size_t)WIDTH_MAX * HEIGHT_MAX, sizeof *screen->now);
    screen->before = calloc((size_t)WIDTH_MAX * HEIGHT_MAX, sizeof *screen->before);
    if (screen->now && screen->before && screen_keep_rows(sink, SCREEN_ROWS) &&
        screen_columns(sink, options->columns, options->count))
        return sink;
    sink_destroy(sink);
    return NULL;
}
