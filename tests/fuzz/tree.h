/* SPDX-License-Identifier: MIT */
/*
 * A tree of files as an input describes it, below a temporary directory: an entry is a line with a
 * mark and a path, and what stands between it and the next one is the content.
 *
 *     == PATH    a file, to the end of its last line
 *     =| PATH    the same without the newline there
 *     -> PATH    a symbolic link; the content is its target, without the newline
 *     ?? PATH    a FIFO
 *     // PATH    a directory
 *     ++         what follows is made later, if the target has a later
 */
#ifndef FUZZ_TREE_H
#define FUZZ_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/record.h"

enum { TREE_PATH_SIZE = 256, TREE_ENTRIES_MAX = 64 };

enum tree_kind { TREE_FILE, TREE_LINK, TREE_FIFO, TREE_DIRECTORY, TREE_LATER };

struct tree_entry {
    enum tree_kind kind;
    char path[TREE_PATH_SIZE]; /* terminated; empty when it is not one */
    struct text content;       /* borrowed from the input */
};

struct tree_input {
    const char *at, *end;
    size_t count; /* entries that were handed out */
};

struct tree_input tree_input(const uint8_t *data, size_t size);

/* The next entry; false when there is no more, or when there were TREE_ENTRIES_MAX. */
bool tree_next(struct tree_input *input, struct tree_entry *entry);

/* The directory, made when first asked for and removed when the program exits. */
const char *tree_root(void);

/* Another one beside it, which tree_clear() leaves alone. */
const char *tree_beside(void);

/*
 * Makes the entry and the directories that it is in, never through a link. Returns false, and then
 * nothing is changed but for such directories, when it cannot be made: something is there already,
 * or the path is not one within the tree.
 */
bool tree_make(const struct tree_entry *entry);

/* Removes everything below the directory. */
void tree_clear(void);

#endif
