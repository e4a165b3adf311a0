/* How values compare: numbers and addresses as numbers, text by its bytes. */
#ifndef ENGINE_ORDER_H
#define ENGINE_ORDER_H

#include "fastnet/field.h"

/* Negative, 0 or positive. Values of one column; an unknown one is greater than every other. */
int value_compare(const struct value *a, const struct value *b);

#endif
