/* SPDX-License-Identifier: MIT */
#include "flow_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

const char flow_statistics_text[] =
    "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop "
    "early_drop icmp_error  expect_new expect_create expect_delete search_restart\n"
    "00000010  00000001 00000002 00000000 00000003 00000000 00000000 00000004 00000005 00000006 "
    "00000007 00000008 00000009  0000000a 0000000b 0000000c ffffffff\n"
    "00000010  00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
    "00000100 00000200 00000002  00000000 00000002 00000001 00000000\n";

void flow_scene_put(const struct flow_scene *scene, const char *path, const char *text)
{
    tree_put_file(&scene->tree, path, text);
}

static int keep(const struct record *record, void *arg)
{
    struct flow_scene *scene = arg;

    assert_true(scene->count < sizeof scene->rows / sizeof *scene->rows);
    scene->rows[scene->count++] = *record;
    if (scene->resize)
        flow_scene_put(scene, "sys/net/netfilter/nf_conntrack_buckets", scene->resize);
    return scene->refuse;
}

int flow_scene_list(struct flow_scene *scene, const struct table *table)
{
    struct query query = {.table = table,
                          .needs = UINT64_MAX,
                          .proc_root = scene->tree.root,
                          .report = &scene->report};

    scene->count = 0;
    scene->report = (struct report){.partial = false};
    return backend_proc_conntrack.dump(&query, keep, scene);
}

int flow_scene_make(void **state)
{
    static struct flow_scene scene;

    scene = (struct flow_scene){.count = 0};
    tree_make(&scene.tree);
    *state = &scene;
    return 0;
}

int flow_scene_remove(void **state)
{
    struct flow_scene *scene = *state;

    tree_remove(&scene->tree);
    return 0;
}
