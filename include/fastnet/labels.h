/* SPDX-License-Identifier: MIT */
/* Names of connection labels. */
#ifndef FASTNET_LABELS_H
#define FASTNET_LABELS_H

#include <stddef.h>

/* Names of connection labels: connlabel.conf(5), /etc/xtables/connlabel.conf. Ignores malformed
 * lines, and names with characters other than letters, digits, space and '-'. */
struct labels;
struct flag_names;
/* Reads the file `path`; NULL: /etc/xtables/connlabel.conf. Returns 0 or -errno. */
int labels_create(struct labels **labels, const char *path);
void labels_destroy(struct labels *labels);
/* Returns the bit of a label by its name (`length` bytes), or -1. */
int labels_bit(const struct labels *labels, const char *name, size_t length);
/* Returns the names by bit, borrowed. If `labels` is NULL, no bit has a name. */
const struct flag_names *labels_names(const struct labels *labels);

#endif
