/* How values compare: numbers and addresses as numbers, text by its bytes; and their hashes. */
#ifndef ENGINE_ORDER_H
#define ENGINE_ORDER_H

#include "fastnet/field.h"

/* Returns negative, 0 or positive. Both are values of one column; unknown is the greatest. */
int value_compare(const struct value *a, const struct value *b);

/* Adds the value to a hash (hash.h). Values that are equal have equal hashes. */
uint64_t value_hash(uint64_t hash, const struct value *value);

#endif
