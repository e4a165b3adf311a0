/* SPDX-License-Identifier: MIT */
/* What tests of connection tracking in /proc share: a tree, and the rows that come of it. */
#ifndef UNIT_FLOW_SCENE_H
#define UNIT_FLOW_SCENE_H

#include "scene.h"

struct flow_scene {
    struct tree tree;
    struct report report;
    struct record rows[8]; /* what they borrow is gone */
    size_t count;
    const char *resize; /* what the number of buckets becomes while rows are read */
    int refuse;         /* what the callback answers, when not 0 */
};

/* For cmocka_unit_test_setup_teardown(). */
int flow_scene_make(void **state);
int flow_scene_remove(void **state);

/* Makes PROC_ROOT/PATH and the directories on the way. */
void flow_scene_put(const struct flow_scene *scene, const char *path, const char *text);

/* Dumps a table of backend_proc_conntrack and returns what that returned. */
int flow_scene_list(struct flow_scene *scene, const struct table *table);

/* net/stat/nf_conntrack of two processors, as Linux 6.18 has it. */
extern const char flow_statistics_text[];

#endif
