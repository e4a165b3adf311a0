/* SPDX-License-Identifier: MIT */
/* A captured tree of /proc: a copy of it in which some files are mutated. */
#ifndef MUTATE_TREE_H
#define MUTATE_TREE_H

#include "chance.h"

/* Makes the directory "to", with what is in "from". */
void tree_mutate(const char *from, const char *to, struct chance *chance);

/* It is no error when it is not there. */
void tree_remove(const char *path);

#endif
