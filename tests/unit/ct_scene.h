/* SPDX-License-Identifier: MIT */
/* What tests of ctnetlink's backend share: a peer in the kernel's place, a tree, rows. */
#ifndef UNIT_CT_SCENE_H
#define UNIT_CT_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ct_messages.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "scene.h"

enum { CT_ROWS = 256 };

struct ct_scene {
    struct tree tree;
    struct peer peer;
    struct wire wire;
    struct netlink_peer hooked; /* the peer, with what is to happen in between */
    struct netlink *netlink;
    struct report report;
    struct query query;
    struct query_events events;
    struct record rows[CT_ROWS]; /* what they borrow is gone */
    size_t count;
    int answer;               /* what the callback returns */
    const char *const *after; /* how many buckets there are after each datagram, up to NULL */
    size_t idle;              /* how often there was nothing to read ... */
    int answer_idle;          /* ... and what was said to that */
};

/* For cmocka_unit_test_setup_teardown(). */
int ct_scene_make(void **state);
int ct_scene_remove(void **state);

/* Queues the wire as a datagram and empties it. */
void ct_send(struct ct_scene *scene);
/* The same, with NLMSG_DONE behind it. */
void ct_send_done(struct ct_scene *scene, uint32_t sequence, int error);
/* The same with what ends the answer about one object: NLMSG_ERROR, 0 or an errno. */
void ct_send_error(struct ct_scene *scene, uint32_t sequence, int error);

/* Dumps a table of backend_ctnetlink and returns what that returned; rows begin anew. */
int ct_list(struct ct_scene *scene, const struct table *table);

/* So many buckets are in the tree's sysctl. */
void ct_put_buckets(const struct ct_scene *scene, const char *number);

#endif
