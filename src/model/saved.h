/* SPDX-License-Identifier: MIT */
/* Makes saved rows (saved.h) of rows of JSON. */
#ifndef MODEL_SAVED_H
#define MODEL_SAVED_H

#include "fastnet/saved.h"
#include "text/json.h"

/* Makes rows of one kind. Its columns grow with new keys; they live until it is destroyed. */
struct saved_maker;

/* kind: of all rows. NULL: memory is short. */
struct saved_maker *saved_maker_create(const struct kind *kind);
void saved_maker_destroy(struct saved_maker *maker);

/* The rows that follow belong to this head, which must live until the next head is set; NULL: to no
 * head. Columns time, listing and host, if a row lacks them, are those of the head. They are copied
 * into each row, so rows can outlive the head. */
void saved_maker_set_head(struct saved_maker *maker, const struct saved_head *head);

/* Returns a row with the columns of `row`, valid until the next call. NULL: memory is short. Keys
 * that are not columns of the kind have cells without a field; a row of more than SAVED_COLUMNS_MAX
 * different keys loses the last. A key above 256 bytes is no column. */
const struct saved_row *saved_maker_row(struct saved_maker *maker, const struct json_row *row);

/* As saved_maker_row(), with the record of the row. */
const struct saved_row *saved_maker_record(struct saved_maker *maker, const struct json_row *row,
                                           struct record *record);

/* Memory for one row that is made at a time; the owner frees `row`. All zeroes: none yet. */
struct saved_row_room {
    struct saved_row *row;
    size_t capacity;
};

/* Begins a row with `count` cells, of which it has none yet, and room for `bytes` bytes of values.
 * NULL: memory is short. Until saved_row_end(), row->size is the place of the next value. */
struct saved_row *saved_row_begin(struct saved_row_room *room, const struct saved_columns *columns,
                                  size_t count, size_t bytes);
void saved_row_put(struct saved_row *row, size_t cell, enum saved_type type, struct text text);
/* Returns the row, which is valid until the next saved_row_begin(). */
struct saved_row *saved_row_end(struct saved_row *row);

/* --- Inside of the room ----------------------------------------------------------------------- */

enum {
    SAVED_COUNT_NUMBER = SAVED_COLUMNS_MAX - 1, /* saved_columns.place of field_count */
};
#define SAVED_NO_NUMBER UINT64_MAX /* the number of a VALUE_NAME whose name has no known number */

/* Returns the cell of a field; NULL: the row has no such column. */
const struct saved_cell *saved_cell_of(const struct record *record, const struct field *field);

struct text saved_text(const struct saved_row *row, const struct saved_cell *cell);

/* Returns the value of a cell, as the type of the field; unknown if the cell has another type. */
struct value saved_decode(const struct saved_row *row, const struct saved_cell *cell,
                          const struct field *field);

/* Reads a number of JSON, times 10^decimals. Returns false if that is not a whole number, or too
 * large. */
bool saved_parse_number(struct text text, int decimals, uint64_t *number, bool *negative);

/* Reads a time (RFC 3339). Returns false if the text is no time after 1970. */
bool saved_time(struct text text, uint64_t *nanoseconds);

/* Returns the owners of an end (owner_fields.h) as a VALUE_OWNERS; unknown if they were not saved.
 */
struct value saved_owners(const struct record *record, size_t end);

/* True if cell->owner is the owner whose columns (command ...) were saved. */
bool saved_is_first_owner(const struct cell *cell);

/* The columns of an end's owners; NULL: the kind has no such column. */
struct saved_owner_fields {
    const struct field *all, *pid, *process;
};
const struct saved_owner_fields *saved_owner_fields(const struct kind *kind, size_t end);

/* Finds the number that field->word() names so. Returns false if there is none. */
bool saved_word_number(const struct field *field, struct text name, uint64_t *number);

/* True if the row has all members without a presence bit, such as the protocol. */
bool saved_has_basics(const struct record *record);

#endif
