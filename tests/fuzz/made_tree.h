/* SPDX-License-Identifier: MIT */
/*
 * Trees of comparisons that an input describes, and what becomes of them: worked out once more, and
 * in the plainest way.
 */
#ifndef FUZZ_MADE_TREE_H
#define FUZZ_MADE_TREE_H

#include "bytes.h"
#include "fastnet/predicate.h"

enum { MADE_NODES_MAX = 24, MADE_TEXT_MAX = 16 };

struct made_tree {
    struct predicate nodes[MADE_NODES_MAX];
    char texts[MADE_NODES_MAX][MADE_TEXT_MAX];
    size_t count;
};

/*
 * A tree about fields of this record, from which it takes many of its constants. It borrows from
 * itself and from the record.
 */
const struct predicate *made_tree(struct made_tree *tree, const struct record *record,
                                  struct bytes *bytes);

/* In the order of how much is true: an and is the least of its parts, an or the most. */
enum outcome { FALSE, UNKNOWN, TRUE };
enum outcome made_outcome(const struct predicate *predicate, const struct record *record,
                          const struct context *context);

#endif
