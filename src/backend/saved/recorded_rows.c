/* SPDX-License-Identifier: MIT */
#include "backend/saved/recorded_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/clock.h"
#include "fastnet/hash.h"
#include "fastnet/text.h"

enum { NUMBER_ROOM = 32, DEAD_FEW = 4096 };

/* An element of the table. */
struct recorded_row {
    uint64_t birth; /* 0: unknown */
    uint64_t hash;
    unsigned frame;          /* number of the last frame that had it */
    bool new;                /* it began in the span: its counters grew from 0 */
    struct saved_row *first; /* the row when the span began, if it changed since; or NULL */
    struct saved_row *row;   /* NULL: the row has ended */
};

/* --- Columns of a row ------------------------------------------------------------------------- */

static size_t field_number_of(const struct kind *kind, const char *name)
{
    const struct field *field;

    for (size_t i = 0; name && (field = field_at(kind, i)); i++)
        if (strcmp(field->name, name) == 0)
            return i;
    return SIZE_MAX;
}

void recorded_rows_init(struct recorded_rows *rows, const struct kind *kind,
                        const char *const keys[RECORDED_KEYS])
{
    static const char *const names[] = {[RECORDED_EVENT] = "event",
                                        [RECORDED_TIME] = "time",
                                        [RECORDED_AGE] = "age",
                                        [RECORDED_NETNS] = "netns",
                                        [RECORDED_NETNS_ID] = "netns_id",
                                        [RECORDED_STATE] = "state",
                                        [RECORDED_CONNECT_ERROR] = "connect_error"};

    *rows = (struct recorded_rows){.frame = 0};
    for (size_t i = 0; i < RECORDED_COLUMNS; i++)
        rows->fields[i] =
            field_number_of(kind, i < RECORDED_KEY ? names[i] : keys[i - RECORDED_KEY]);
}

/* The number of a column's cell in rows with these columns; SIZE_MAX: no row has the column. */
static size_t cell_of(const struct recorded_rows *rows, const struct saved_columns *columns,
                      enum recorded_column column)
{
    const size_t field = rows->fields[column];
    const size_t place = field < SAVED_COLUMNS_MAX ? columns->place[field] : 0;

    return place ? place - 1 : SIZE_MAX;
}

/* A cell that the row does not have has no bytes (offset 0). */
static struct saved_cell recorded_cell(const struct saved_row *row, size_t i)
{
    return i < row->count ? row->cells[i] : (struct saved_cell){.type = SAVED_NULL};
}

static struct text cell_text(const struct saved_row *row, struct saved_cell cell)
{
    return cell.type == SAVED_NULL ? (struct text){"", 0}
                                   : (struct text){(const char *)row + cell.offset, cell.length};
}

struct text recorded_text(const struct recorded_rows *rows, const struct saved_row *row,
                          enum recorded_column column)
{
    return cell_text(row, recorded_cell(row, cell_of(rows, row->columns, column)));
}

/* The value of a column; it is unknown if the row does not have it. */
static struct value row_value(const struct saved_row *row, const struct field *field)
{
    static const struct context nothing;
    struct record record;

    record_reset(&record, row->columns->kind);
    record.saved = row;
    return field ? field_value(field, &record, &nothing) : (struct value){.type = VALUE_UNKNOWN};
}

uint64_t recorded_time(const struct recorded_rows *rows, const struct saved_row *row,
                       uint64_t missing)
{
    const size_t cell = cell_of(rows, row->columns, RECORDED_TIME);
    const struct value value =
        recorded_cell(row, cell).offset
            ? row_value(row, field_at(row->columns->kind, rows->fields[RECORDED_TIME]))
            : (struct value){.type = VALUE_UNKNOWN};

    return value.type == VALUE_TIME && value.number ? value.number : missing;
}

uint64_t recorded_birth(const struct recorded_rows *rows, const struct saved_row *row,
                        uint64_t time)
{
    const struct value age =
        row_value(row, field_at(row->columns->kind, rows->fields[RECORDED_AGE]));
    uint64_t lived;

    if (text_is(recorded_text(rows, row, RECORDED_EVENT), "opened"))
        return recorded_time(rows, row, time);
    if (age.type != VALUE_DECIMAL ||
        __builtin_mul_overflow(age.number, CLOCK_MILLISECOND, &lived) || lived >= time)
        return 0;
    return time - lived;
}

/* --- Making rows ------------------------------------------------------------------------------ */

static void row_copy_cell(struct saved_row *row, size_t cell, const struct saved_row *from)
{
    const struct saved_cell source = recorded_cell(from, cell);

    if (source.offset)
        saved_row_put(row, cell, source.type,
                      (struct text){(const char *)from + source.offset, source.length});
}

static struct saved_row *row_copy(const struct saved_row *row)
{
    struct saved_row *copy = malloc(row->size);

    return copy ? memcpy(copy, row, row->size) : NULL;
}

/* True if the column is about processes, `row` does not know it, and `later` does. */
static bool is_owner_known_later(const struct saved_row *row, const struct saved_row *later,
                                 size_t i)
{
    const struct field *field = later->columns->fields[i];

    return field && field->lookups & (NEED_ANY_OWNERS | NEED_CGROUPS) &&
           recorded_cell(row, i).type == SAVED_NULL && recorded_cell(later, i).type != SAVED_NULL;
}

static bool is_changed(const struct saved_row *row, const struct saved_row *change, size_t i)
{
    (void)row;
    return recorded_cell(change, i).offset;
}

/* Makes a row with the columns of `later` for which takes() is true; the others are those of `row`.
 */
static struct saved_row *
row_merged(struct recorded_rows *rows, const struct saved_row *row, const struct saved_row *later,
           bool (*takes)(const struct saved_row *row, const struct saved_row *later, size_t i))
{
    const size_t count = row->count > later->count ? row->count : later->count;
    struct saved_row *made =
        saved_row_begin(&rows->room, later->columns, count, (size_t)row->size + later->size);

    for (size_t i = 0; made && i < count; i++)
        row_copy_cell(made, i, takes(row, later, i) ? later : row);
    return made ? saved_row_end(made) : NULL;
}

/* --- Rows as they were ------------------------------------------------------------------------ */

/* Writes the growth of a counter. Returns an empty text if the column is not a counter that grew:
 * then its value stays. */
static struct text row_growth(const struct saved_row *row, const struct saved_row *first,
                              const struct field *field, char text[NUMBER_ROOM])
{
    struct value last = row_value(row, field);
    const struct value before = row_value(first, field);

    if (!value_is_number(last.type) || last.type == VALUE_SIGNED || before.type != last.type ||
        before.number > last.number)
        return (struct text){NULL, 0};
    last.number -= before.number;
    return (struct text){text, (size_t)(value_write(text, &last, NULL) - text)};
}

/* Passes a row on as it was at `time`: its age is that of this moment, its time is this moment
 * unless it is an end, and its counters show the growth since `first`, if there is one. */
static int row_pass(struct recorded_rows *rows, const struct saved_row *row, uint64_t birth,
                    const struct saved_row *first, uint64_t time, recorded_fn fn, void *arg)
{
    const size_t age = cell_of(rows, row->columns, RECORDED_AGE);
    const size_t event = cell_of(rows, row->columns, RECORDED_EVENT);
    const size_t when = cell_of(rows, row->columns, RECORDED_TIME);
    struct saved_row *made = saved_row_begin(&rows->room, row->columns, row->count,
                                             row->size + (size_t)row->count * NUMBER_ROOM);

    for (size_t i = 0; made && i < row->count; i++) {
        char text[NUMBER_ROOM];
        const struct field *field = row->columns->fields[i];
        const struct text growth = first && field && field->counter
                                       ? row_growth(row, first, field, text)
                                       : (struct text){NULL, 0};
        if (growth.length)
            saved_row_put(made, i, SAVED_NUMBER, growth);
        else if (i == age && birth && birth <= time)
            saved_row_put(
                made, i, SAVED_NUMBER,
                (struct text){
                    text, (size_t)(text_seconds(text, (time - birth) / CLOCK_MILLISECOND) - text)});
        else if (i == when)
            saved_row_put(made, i, SAVED_STRING,
                          (struct text){text, (size_t)(text_time(text, time) - text)});
        else if (i == event)
            continue; /* the row has no event */
        else
            row_copy_cell(made, i, row);
    }
    return made ? fn(saved_row_end(made), arg) : -ENOMEM;
}

int recorded_rows_pass(struct recorded_rows *rows, const struct saved_row *row, uint64_t time,
                       recorded_fn fn, void *arg)
{
    return row_pass(rows, row, recorded_birth(rows, row, time), NULL, time, fn, arg);
}

static int recorded_row_pass(struct recorded_rows *rows, const struct recorded_row *row,
                             uint64_t time, recorded_fn fn, void *arg)
{
    const struct saved_row *first = row->first ? row->first : row->row;

    return row_pass(rows, row->row, row->birth, rows->span && !row->new ? first : NULL, time, fn,
                    arg);
}

/* --- The table -------------------------------------------------------------------------------- */

static uint64_t identity_hash(const struct recorded_rows *rows, const struct saved_row *row)
{
    uint64_t hash = hash_seed();

    for (size_t i = RECORDED_KEY; i < RECORDED_COLUMNS; i++) {
        const struct text text = recorded_text(rows, row, (enum recorded_column)i);
        hash = hash_word(hash_bytes(hash, text.data, text.length), text.length);
    }
    return hash;
}

struct identity {
    const struct recorded_rows *rows;
    const struct saved_row *row;
};

static bool same_identity(const void *element, const void *key)
{
    const struct recorded_row *known = element;
    const struct identity *identity = key;
    bool same = known->row && recorded_text(identity->rows, identity->row, RECORDED_KEY).length;

    for (size_t i = RECORDED_KEY; i < RECORDED_COLUMNS && same; i++)
        same = text_equal(recorded_text(identity->rows, known->row, (enum recorded_column)i),
                          recorded_text(identity->rows, identity->row, (enum recorded_column)i));
    return same;
}

static struct recorded_row *recorded_find(const struct recorded_rows *rows,
                                          const struct saved_row *row)
{
    return hash_table_find(&rows->table, identity_hash(rows, row), same_identity,
                           &(struct identity){rows, row});
}

bool recorded_rows_have(const struct recorded_rows *rows, const struct saved_row *row)
{
    return recorded_find(rows, row);
}

/* Makes a new table without the rows that have ended, if these are many. */
static int recorded_rows_shrink(struct recorded_rows *rows)
{
    struct hash_table table = {.count = 0};

    if (rows->dead < DEAD_FEW || rows->dead < rows->table.count / 2)
        return 0;
    for (size_t i = 0; i < rows->table.count; i++) {
        const struct recorded_row *known = hash_table_at(&rows->table, i);
        struct recorded_row *moved =
            known->row ? hash_table_add(&table, known->hash, sizeof *moved) : NULL;
        if (known->row && !moved) {
            hash_table_finish(&table);
            return -ENOMEM;
        }
        if (moved)
            *moved = *known;
    }
    hash_table_finish(&rows->table);
    rows->table = table;
    rows->dead = 0;
    return 0;
}

/* Passes a row to `fn`, and removes it. */
static int recorded_end(struct recorded_rows *rows, struct recorded_row *known, uint64_t time,
                        recorded_fn fn, void *arg)
{
    const int result = fn ? recorded_row_pass(rows, known, time, fn, arg) : 0;

    free(known->first);
    free(known->row);
    known->first = known->row = NULL;
    rows->dead++;
    return result;
}

static int recorded_add(struct recorded_rows *rows, const struct saved_row *row, uint64_t time)
{
    struct saved_row *copy = row_copy(row);
    const uint64_t hash = identity_hash(rows, row), birth = recorded_birth(rows, row, time);
    struct recorded_row *added = copy ? hash_table_add(&rows->table, hash, sizeof *added) : NULL;

    if (!added) {
        free(copy);
        return -ENOMEM;
    }
    *added = (struct recorded_row){.birth = birth,
                                   .hash = hash,
                                   .frame = rows->frame,
                                   .new = rows->span &&birth >= rows->span,
                                   .row = copy};
    return 0;
}

/* Replaces a row. The first row of a span stays. */
static int recorded_replace(struct recorded_rows *rows, struct recorded_row *row,
                            const struct saved_row *by)
{
    struct saved_row *copy = row_copy(by);

    if (!copy)
        return -ENOMEM;
    if (rows->span && !row->new && !row->first)
        row->first = row->row;
    else
        free(row->row);
    row->row = copy;
    return 0;
}

int recorded_rows_put(struct recorded_rows *rows, const struct saved_row *row, uint64_t time,
                      bool whole)
{
    struct recorded_row *known = recorded_find(rows, row);
    const int error = known ? 0 : recorded_rows_shrink(rows);

    if (error || !known)
        return error ? error : recorded_add(rows, row, time);
    known->frame = rows->frame;
    if (!known->birth)
        known->birth = recorded_birth(rows, row, time);
    const struct saved_row *by = whole ? row : row_merged(rows, known->row, row, is_changed);
    return by ? recorded_replace(rows, known, by) : -ENOMEM;
}

int recorded_rows_take_owner(struct recorded_rows *rows, const struct saved_row *row)
{
    struct recorded_row *known = recorded_find(rows, row);
    const struct saved_row *before = known ? known->row : NULL;
    const struct saved_row *made;
    size_t i = 0;

    while (before && i < row->count && !is_owner_known_later(before, row, i))
        i++;
    if (!before || i == row->count)
        return 0;
    made = row_merged(rows, before, row, is_owner_known_later);
    return made ? recorded_replace(rows, known, made) : -ENOMEM;
}

int recorded_rows_put_open(struct recorded_rows *rows, const struct saved_row *row, uint64_t time)
{
    static const char state[] = "ESTABLISHED", attempt[] = "SYN_SENT";
    const size_t cell = cell_of(rows, row->columns, RECORDED_STATE);
    struct saved_row *made =
        saved_row_begin(&rows->room, row->columns, row->count, row->size + sizeof state);

    for (size_t i = 0; made && i < row->count; i++)
        if (i == cell && text_is(recorded_text(rows, row, RECORDED_STATE), "CLOSE"))
            saved_row_put(
                made, i, SAVED_STRING,
                as_text(recorded_text(rows, row, RECORDED_CONNECT_ERROR).length ? attempt : state));
        else
            row_copy_cell(made, i, row);
    return made ? recorded_rows_put(rows, saved_row_end(made), time, true) : -ENOMEM;
}

int recorded_rows_remove(struct recorded_rows *rows, const struct saved_row *row, uint64_t time,
                         recorded_fn fn, void *arg)
{
    struct recorded_row *known = recorded_find(rows, row);

    return known ? recorded_end(rows, known, time, fn, arg) : 0;
}

int recorded_rows_end_frame(struct recorded_rows *rows, uint64_t time, recorded_fn fn, void *arg)
{
    int result = 0;

    for (size_t i = 0; i < rows->table.count && !result; i++) {
        struct recorded_row *known = hash_table_at(&rows->table, i);
        if (known->row && known->frame != rows->frame)
            result = recorded_end(rows, known, time, fn, arg);
    }
    return result;
}

int recorded_rows_clear(struct recorded_rows *rows, uint64_t time, recorded_fn fn, void *arg)
{
    rows->frame++;
    const int result = recorded_rows_end_frame(rows, time, fn, arg);
    hash_table_finish(&rows->table);
    rows->dead = 0;
    return result;
}

int recorded_rows_each(struct recorded_rows *rows, uint64_t time, recorded_fn fn, void *arg)
{
    int result = 0;

    for (size_t i = 0; i < rows->table.count && result >= 0; i++) {
        const struct recorded_row *known = hash_table_at(&rows->table, i);
        if (known->row)
            result = recorded_row_pass(rows, known, time, fn, arg);
    }
    return result < 0 ? result : 0;
}

void recorded_rows_finish(struct recorded_rows *rows)
{
    (void)recorded_rows_clear(rows, 0, NULL, NULL);
    free(rows->room.row);
    rows->room = (struct saved_row_room){.row = NULL};
}
