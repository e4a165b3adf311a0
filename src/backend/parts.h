/* Whether a dump is worth more than one thread. */
#ifndef BACKEND_PARTS_H
#define BACKEND_PARTS_H

#include <stddef.h>

#include "fastnet/query.h"

/*
 * In how many parts query->table is best read: 1 unless it is a large table of TCP and processors
 * are idle, since parts take more processor time together than one dump would.
 */
size_t parts_that_pay(const struct query *query);

#endif
