/* SPDX-License-Identifier: MIT */
/* The fields of a record, as values and as a table shows them. */
#ifndef UNIT_CELLS_H
#define UNIT_CELLS_H

#include <stddef.h>

#include "fastnet/field.h"
#include "fastnet/kind.h"

/* Nothing is looked up. */
extern const struct context no_names;

/* The record's kind has a field of that name, and its value is of the field's type or unknown. */
struct value value_of(const char *name, const struct record *record, const struct context *context);

/* Values of any kind, and that which a record of struct count_record has at a field's index. */
struct value text_value(const char *data, size_t length);
struct value string_value(const char *string);
struct value number_value(uint64_t number);
struct value given_value(const struct cell *cell);

/* One interface, with index 7. */
struct interfaces *one_interface(const char *name);

/* As a table shows it; until the next call. */
const char *text_of_value(const struct value *value);
const char *text_of(const char *name, const struct record *record, const struct context *context);

/* Without names that are looked up. */
void assert_field(const char *name, const struct record *record, const char *expected);
/* Pairs of a name and the expected text, up to NULL. */
void assert_fields(const struct record *record, const char *const (*expected)[2]);

/* These fields, in this order, and no others. */
void assert_names(const struct kind *kind, const char *const *names, size_t count);
#define ASSERT_NAMES(kind, names) assert_names(kind, names, sizeof(names) / sizeof *(names))

#endif
