/* SPDX-License-Identifier: MIT */
/* Names of connection labels. */
#ifndef FASTNET_LABELS_H
#define FASTNET_LABELS_H

#include <stddef.h>

/*
 * Connection labels: connlabel.conf(5), /etc/xtables/connlabel.conf. Ignores malformed lines, and
 * names with characters other than letters, digits, blank and '-'.
 */
struct labels;
struct flag_names;
/* path NULL: that file. Returns 0, or -errno when it cannot be read. */
int labels_create(struct labels **labels, const char *path);
void labels_destroy(struct labels *labels);
/* The bit of a name (length bytes), or -1. */
int labels_bit(const struct labels *labels, const char *name, size_t length);
/* The names by bit. labels may be NULL: no bit has a name then. */
const struct flag_names *labels_names(const struct labels *labels);

#endif
