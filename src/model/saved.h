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

/* The rows that follow belong to this head; NULL: to no head. Columns time, listing and host, if a
 * row lacks them, are those of the head, which need not outlive the call. */
void saved_maker_set_head(struct saved_maker *maker, const struct saved_head *head);

/* Returns a row with the columns of `row`, valid until the next call. NULL: memory is short. Keys
 * that are no columns of the kind have cells without a field; a row of more than SAVED_COLUMNS_MAX
 * different keys loses the last. */
const struct saved_row *saved_maker_row(struct saved_maker *maker, const struct json_row *row);

/* As saved_maker_row(), with the record of the row. */
const struct saved_row *saved_maker_record(struct saved_maker *maker, const struct json_row *row,
                                           struct record *record);

#endif
