/* SPDX-License-Identifier: MIT */
#include "fastnet/saved.h"

struct value saved_value(const struct cell *cell)
{
    (void)cell;
    return (struct value){.type = VALUE_UNKNOWN};
}
