/* SPDX-License-Identifier: MIT */
/* What tests of backends and of the engine share: a tree to read, rows that were handed on. */
#ifndef UNIT_SCENE_H
#define UNIT_SCENE_H

#include <stddef.h>

#include "fastnet/query.h"
#include "fastnet/record.h"
#include "fastnet/report.h"
#include "peer.h"

/* A directory that stands for /proc, with an empty net/ in it, of a little-endian machine. */
struct tree {
    char root[64];
};

void tree_make(struct tree *tree);
void tree_remove(struct tree *tree);
/* The same for cmocka: *state is the tree. */
int tree_set_up(void **state);
int tree_tear_down(void **state);
#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_set_up, tree_tear_down)
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
    int answer;        /* what it returns to the others */
};

enum { STOPPED = -4711 };
int keep_record(const struct record *record, void *arg);
void kept_finish(struct kept *kept);
/* NULL when no row has that local port or inode. */
const struct record *kept_port(const struct kept *kept, unsigned port);
const struct record *kept_inode(const struct kept *kept, uint64_t inode);

/*
 * What stands for the machine while a backend lists, and what came of it. A test's own struct
 * begins with one.
 */
struct stage {
    struct tree tree; /* /proc ... */
    struct peer peer; /* ... and the kernel, which netlink asks */
    struct netlink *netlink;
    struct wire wire;
    struct report report;
    struct query query; /* of all fields, from the tree and the peer, with the report and events */
    struct query_events events;
    size_t idle;     /* how often there was nothing to read ... */
    int answer_idle; /* ... and what was said to that */
    int result;      /* what the backend returned last */
    struct kept kept;
    char text[4096]; /* rows in the words of stage_say() */
};

/* For cmocka_unit_test_setup_teardown(). */
int stage_make(void **state);
int stage_remove(void **state);
#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, stage_make, stage_remove)
/* The same of a struct that begins with a stage; all else in it is 0. It can be removed as one. */
void *stage_make_in(void **state, size_t size);

/* The peer has no answers and was asked nothing, and netlink counts its requests from 1 again. */
void stage_anew(struct stage *stage);

/*
 * Dumps a table and returns what the backend did; rows, words and lines of the report begin anew.
 * The callback is given the stage: stage_keep(), or one that says what a row is.
 */
int stage_list(struct stage *stage, const struct backend *backend, const struct table *table,
               record_fn row);
int stage_keep(const struct record *record, void *arg);
/* Adds to the text; returns what a callback is to return. */
__attribute__((format(printf, 2, 3))) int stage_say(struct stage *stage, const char *format, ...);

/* Queues the wire as a datagram and empties it. */
void stage_send(struct stage *stage);
/* The same, with NLMSG_DONE behind it. */
void stage_send_done(struct stage *stage, uint32_t sequence, int error);

/* Whether a line of the report holds these words. */
bool report_says(const struct report *report, const char *words);

void assert_text(const struct text *text, const char *expected, size_t length);

#endif
