/* SPDX-License-Identifier: MIT */
/* What tests of backends and of the engine share: a tree to read, rows that were handed on. */
#ifndef UNIT_SCENE_H
#define UNIT_SCENE_H

#include <stddef.h>

#include "fastnet/query.h"
#include "fastnet/record.h"
#include "fastnet/report.h"

/* A directory that stands for /proc, with an empty net/ in it, of a little-endian machine. */
struct tree {
    char root[64];
};

void tree_make(struct tree *tree);
void tree_remove(struct tree *tree);
/* Makes or replaces net/NAME. */
void tree_put(const struct tree *tree, const char *name, const void *data, size_t size);
void tree_puts(const struct tree *tree, const char *name, const char *text);
/* The same of any PATH, with the directories on the way. */
void tree_put_file(const struct tree *tree, const char *path, const char *text);

/* True if the kernel can keep links inside of a tree: openat2(2), which emulators lack, too. */
bool links_stay_inside(void);

/* The first lines of /proc/net/tcp, tcp6, and unix. */
extern const char tcp_heading[], tcp6_heading[], unix_heading[];

/* One whole line of /proc/net/tcp: 127.0.0.1:PORT, listening, with this inode. */
enum { TCP_LINE_MAX = 160 };
int tcp_line(char line[TCP_LINE_MAX], unsigned port, unsigned inode);

/* A whole file in memory that malloc() gave, with a NUL behind it. */
char *read_whole(const char *path, size_t *size);

/* Rows, as a backend handed them on; with what they borrow. */
struct kept {
    struct record *records;
    size_t count;
    size_t stop_after; /* the callback refuses the row after so many; 0: never */
};

enum { STOPPED = -4711 };
int keep_record(const struct record *record, void *arg);
void kept_finish(struct kept *kept);
/* NULL when no row has that local port or inode. */
const struct record *kept_port(const struct kept *kept, unsigned port);
const struct record *kept_inode(const struct kept *kept, uint64_t inode);

/* Whether a line of the report holds these words. */
bool report_says(const struct report *report, const char *words);

void assert_text(const struct text *text, const char *expected, size_t length);

#endif
