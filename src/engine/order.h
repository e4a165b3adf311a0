/* How values compare: numbers and addresses as numbers, text by its bytes. */
#ifndef ENGINE_ORDER_H
#define ENGINE_ORDER_H

#include "fastnet/field.h"

/* Returns negative, 0 or positive. Both are values of one column; unknown is the greatest. */
int value_compare(const struct value *a, const struct value *b);

#endif
