/* SPDX-License-Identifier: MIT */
#include "ct_scene.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdlib.h>

void ct_put_buckets(const struct ct_scene *scene, const char *number)
{
    tree_put_file(&scene->tree, "sys/net/netfilter/nf_conntrack_buckets", number);
}

static int keep(const struct record *record, void *arg)
{
    struct ct_scene *scene = arg;

    assert_true(scene->count < CT_ROWS);
    scene->rows[scene->count++] = *record;
    return scene->answer;
}

static int count_idle(void *arg)
{
    struct ct_scene *scene = arg;

    scene->idle++;
    return scene->answer_idle;
}

static int hooked_send(void *arg, const void *message, size_t size)
{
    struct ct_scene *scene = arg;

    return scene->peer.netlink.send(scene->peer.netlink.arg, message, size);
}

static ssize_t hooked_receive(void *arg, void *buffer, size_t size, uint32_t *port)
{
    struct ct_scene *scene = arg;
    const struct netlink_peer *peer = &scene->peer.netlink;

    if (scene->after && *scene->after)
        ct_put_buckets(scene, *scene->after++);
    return peer->receive(peer->arg, buffer, size, port);
}

int ct_scene_make(void **state)
{
    struct ct_scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    tree_make(&scene->tree);
    peer_init(&scene->peer);
    scene->hooked = (struct netlink_peer){hooked_send, hooked_receive, scene};
    scene->netlink = netlink_create(&scene->hooked);
    assert_non_null(scene->netlink);
    scene->events = (struct query_events){.stop = -1, .idle = count_idle, .idle_arg = scene};
    scene->query = (struct query){.needs = UINT64_MAX,
                                  .proc_root = scene->tree.root,
                                  .netlink = scene->netlink,
                                  .report = &scene->report,
                                  .events = &scene->events};
    *state = scene;
    return 0;
}

int ct_scene_remove(void **state)
{
    struct ct_scene *scene = *state;

    netlink_destroy(scene->netlink);
    peer_finish(&scene->peer);
    tree_remove(&scene->tree);
    free(scene);
    return 0;
}

void ct_send(struct ct_scene *scene)
{
    peer_add_wire(&scene->peer, &scene->wire);
    scene->wire.length = 0;
}

void ct_send_done(struct ct_scene *scene, uint32_t sequence, int error)
{
    wire_done(&scene->wire, NLM_F_MULTI, sequence, error);
    ct_send(scene);
}

void ct_send_error(struct ct_scene *scene, uint32_t sequence, int error)
{
    const struct nlmsgerr body = {.error = error, .msg = {.nlmsg_len = sizeof body.msg}};

    wire_message(&scene->wire, NLMSG_ERROR, NLM_F_CAPPED, sequence);
    wire_put(&scene->wire, &body, sizeof body);
    ct_send(scene);
}

int ct_list(struct ct_scene *scene, const struct table *table)
{
    scene->query.table = table;
    scene->count = 0;
    return backend_ctnetlink.dump(&scene->query, keep, scene);
}
