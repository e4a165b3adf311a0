/* What unix_diag adds to /proc/net/unix: names that the file cannot say, queues and users. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "peer.h"
#include "scene.h"

struct scene {
    struct tree tree;
    struct peer peer;
    struct netlink *netlink;
    struct wire wire;
    struct kept kept;
    struct report report;
    char file[8192]; /* net/unix, as far as it is written */
    size_t length;
    uint64_t needs;
    bool exclusive;
};

/* A socket as unix_diag tells of it. */
static void tell(struct scene *scene, uint32_t inode, const char *name, size_t size)
{
    const struct unix_diag_msg diag = {.udiag_family = AF_UNIX,
                                       .udiag_type = SOCK_DGRAM,
                                       .udiag_state = TCP_CLOSE,
                                       .udiag_ino = inode,
                                       .udiag_cookie = {inode, 1}};
    const struct unix_diag_rqlen queues = {inode + 1, inode + 2};
    const uint32_t uid = inode + 3;

    wire_message(&scene->wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
    wire_put(&scene->wire, &diag, sizeof diag);
    if (size)
        wire_attribute(&scene->wire, UNIX_DIAG_NAME, name, size);
    wire_attribute(&scene->wire, UNIX_DIAG_RQLEN, &queues, sizeof queues);
    wire_attribute(&scene->wire, UNIX_DIAG_UID, &uid, sizeof uid);
}

static void write_bytes(struct scene *scene, const char *data, size_t size)
{
    assert_in_range(scene->length + size, 0, sizeof scene->file);
    memcpy(scene->file + scene->length, data, size);
    scene->length += size;
}

/* The same socket as the file has it; a pending connection has inode 0. */
static void show(struct scene *scene, uint32_t inode, const char *name, size_t size)
{
    char line[128];
    int length = snprintf(line, sizeof line, "%016x: 00000002 00000000 00000000 0002 01 %5u%s",
                          0x1000 + inode, inode, size ? " " : "");

    write_bytes(scene, line, (size_t)length);
    if (size && !name[0]) {
        for (size_t i = 0; i < size; i++)
            write_bytes(scene, name[i] ? name + i : "@", 1);
    } else if (size) {
        write_bytes(scene, name, size);
    }
    write_bytes(scene, "\n", 1);
}

static void both(struct scene *scene, uint32_t inode, const char *name, size_t size)
{
    tell(scene, inode, name, size);
    show(scene, inode, name, size);
}

static void list(struct scene *scene)
{
    struct query query = {.table = &table_unix,
                          .needs = scene->needs,
                          .states = STATES_ALL,
                          .proc_root = scene->tree.root,
                          .netlink = scene->netlink,
                          .report = &scene->report,
                          .exclusive = scene->exclusive};

    wire_done(&scene->wire, NLM_F_MULTI, 1, 0);
    peer_add_wire(&scene->peer, &scene->wire);
    tree_put(&scene->tree, "unix", scene->file, scene->length);
    assert_int_equal(backend_proc_net.dump(&query, keep_record, &scene->kept), 0);
}

static void assert_name(const struct scene *scene, uint32_t inode, const char *name, size_t size)
{
    const struct record *record = kept_inode(&scene->kept, inode);

    assert_non_null(record);
    assert_text(&record->socket.path, name, size);
}

static void assert_silent(const struct scene *scene, size_t rows)
{
    assert_int_equal(scene->kept.count, rows);
    assert_int_equal(scene->report.count, 0);
    assert_false(scene->report.partial);
}

#define NAME(literal) (literal), sizeof(literal) - 1

static void a_name_of_several_lines_is_one_name(void **state)
{
    struct scene *scene = *state;

    both(scene, 1, NAME("before"));
    both(scene, 2, NAME("three\n\nlines"));
    both(scene, 3, NAME("\nnewline first"));
    both(scene, 4, NAME("newline last\n"));
    both(scene, 5, NAME("\0abstract\n@\0\nlines"));
    both(scene, 6, NAME("\n"));
    both(scene, 7, NAME("after"));
    list(scene);
    assert_silent(scene, 7);
    assert_name(scene, 2, NAME("three\n\nlines"));
    assert_name(scene, 3, NAME("\nnewline first"));
    assert_name(scene, 4, NAME("newline last\n"));
    assert_name(scene, 5, NAME("\0abstract\n@\0\nlines"));
    assert_name(scene, 6, NAME("\n"));
    assert_name(scene, 7, NAME("after"));
}

#define FORGED "0000000000006666: 00000002 00000000 00010000 0001 01  6666 /run/forged"

static void a_name_that_forges_a_row_stays_a_name(void **state)
{
    struct scene *scene = *state;

    both(scene, 2, NAME("x\n" FORGED));
    both(scene, 3, NAME("\0y\n1: 2 0 0 1 1 6666 /f\n" FORGED));
    both(scene, 4, NAME("z"));
    list(scene);
    assert_silent(scene, 3);
    assert_null(kept_inode(&scene->kept, 6666));
    assert_name(scene, 2, NAME("x\n" FORGED));
    assert_name(scene, 4, NAME("z"));
}

/* A row that only looks like the second line of the name before it is a row, when it is none. */
static void a_row_behind_such_a_name_is_a_row(void **state)
{
    struct scene *scene = *state;

    both(scene, 2, NAME("x\nsecond"));
    tell(scene, 3, NAME("gone\nalready"));
    show(scene, 3, NAME("gone"));
    both(scene, 4, NAME("z"));
    list(scene);
    assert_int_equal(scene->kept.count, 3);
    assert_name(scene, 4, NAME("z"));
    assert_false(scene->report.partial);
}

static void a_nul_and_an_at_sign_in_an_abstract_name_are_told_apart(void **state)
{
    struct scene *scene = *state;

    both(scene, 2, NAME("\0a@b\0c@"));
    both(scene, 3, NAME("\0a\0b\0c\0"));
    both(scene, 4, NAME("@not-abstract"));
    both(scene, 5, NAME("\0plain"));
    list(scene);
    assert_silent(scene, 4);
    assert_name(scene, 2, NAME("\0a@b\0c@"));
    assert_name(scene, 3, NAME("\0a\0b\0c\0"));
    assert_name(scene, 4, NAME("@not-abstract"));
    assert_name(scene, 5, NAME("\0plain"));
}

static void a_connection_that_waits_to_be_accepted_has_its_listeners_lines(void **state)
{
    struct scene *scene = *state;

    both(scene, 2, NAME("listener\n" FORGED));
    show(scene, 0, NAME("listener\n" FORGED));
    show(scene, 0, NAME("other"));
    both(scene, 3, NAME("z"));
    list(scene);
    assert_silent(scene, 4);
    assert_null(kept_inode(&scene->kept, 6666));
    assert_text(&scene->kept.records[1].socket.path, NAME("listener\n" FORGED));
    assert_text(&scene->kept.records[2].socket.path, NAME("other"));
}

static void queues_users_and_cookies_come_when_they_are_needed(void **state)
{
    const uint64_t wanted = SOCKET_QUEUES | SOCKET_UID | SOCKET_COOKIE;
    struct scene *scene = *state;
    const struct record *record;

    both(scene, 20, NAME("name"));
    both(scene, 10, NAME(""));
    show(scene, 30, NAME("unknown to netlink"));
    scene->needs = wanted;
    list(scene);
    assert_silent(scene, 3);
    record = kept_inode(&scene->kept, 20);
    assert_true((record->has & (wanted | SOCKET_REFCOUNT)) == (wanted | SOCKET_REFCOUNT));
    assert_int_equal(record->socket.recv_q, 21);
    assert_int_equal(record->socket.send_q, 22);
    assert_int_equal(record->socket.uid, 23);
    assert_true(record->identity == (UINT64_C(1) << 32 | 20));
    assert_int_equal(kept_inode(&scene->kept, 10)->socket.uid, 13);
    assert_int_equal(kept_inode(&scene->kept, 30)->has & wanted, 0);
}

static void nothing_is_claimed_that_was_not_needed(void **state)
{
    struct scene *scene = *state;

    both(scene, 20, NAME("name"));
    list(scene);
    assert_int_equal(kept_inode(&scene->kept, 20)->has & (SOCKET_QUEUES | SOCKET_UID), 0);
}

static void without_unix_diag_the_file_is_all_there_is(void **state)
{
    struct scene *scene = *state;

    scene->peer.refusal = -ENOENT;
    both(scene, 2, NAME("\0a@b"));
    both(scene, 3, NAME("c"));
    list(scene);
    assert_silent(scene, 2);
    assert_name(scene, 2, NAME("\0a\0b"));
    assert_name(scene, 3, NAME("c"));
}

static void a_listing_by_proc_alone_asks_nobody_else(void **state)
{
    struct scene *scene = *state;

    scene->exclusive = true;
    both(scene, 2, NAME("a"));
    list(scene);
    assert_silent(scene, 1);
    assert_int_equal(scene->peer.request_count, 0);
}

/* The file has every row: what netlink gets wrong costs names, not rows, and is no loss. */
static void a_malformed_message_is_no_loss_of_rows(void **state)
{
    struct scene *scene = *state;

    wire_message(&scene->wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
    wire_put(&scene->wire, "short", 5);
    both(scene, 2, NAME("a"));
    list(scene);
    assert_silent(scene, 1);
}

static void recorded_and_captured_at_once_they_agree(void **state)
{
    struct scene *scene = *state;
    struct query query = {.table = &table_unix,
                          .needs = SOCKET_PATH | SOCKET_REFCOUNT | SOCKET_UID,
                          .states = STATES_ALL,
                          .proc_root = "tests/fixtures/zoo",
                          .netlink = scene->netlink,
                          .report = &scene->report};

    peer_add_recorded(&scene->peer, "tests/fixtures/zoo/netlink/unix", SIZE_MAX);
    assert_int_equal(backend_proc_net.dump(&query, keep_record, &scene->kept), 0);
    assert_silent(scene, 38);
    assert_name(scene, 4002623, NAME("line\nbreak"));
    assert_name(scene, 4002631, NAME("\0abstract @ with\0\033\n\xff\\"));
    assert_name(scene, 4002617, NAME("\0NULs\0in\0side\0\0"));
    assert_name(scene, 4002628, NAME("@not-abstract"));
}

static int begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    tree_make(&scene->tree);
    peer_init(&scene->peer);
    scene->netlink = netlink_create_with(&scene->peer.netlink);
    assert_non_null(scene->netlink);
    write_bytes(scene, unix_heading, strlen(unix_heading));
    *state = scene;
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;

    netlink_destroy(scene->netlink);
    peer_finish(&scene->peer);
    kept_finish(&scene->kept);
    tree_remove(&scene->tree);
    free(scene);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_name_of_several_lines_is_one_name),
        TEST(a_name_that_forges_a_row_stays_a_name),
        TEST(a_row_behind_such_a_name_is_a_row),
        TEST(a_nul_and_an_at_sign_in_an_abstract_name_are_told_apart),
        TEST(a_connection_that_waits_to_be_accepted_has_its_listeners_lines),
        TEST(queues_users_and_cookies_come_when_they_are_needed),
        TEST(nothing_is_claimed_that_was_not_needed),
        TEST(without_unix_diag_the_file_is_all_there_is),
        TEST(a_listing_by_proc_alone_asks_nobody_else),
        TEST(a_malformed_message_is_no_loss_of_rows),
        TEST(recorded_and_captured_at_once_they_agree),
    };

    return cmocka_run_group_tests_name("unix_details", tests, NULL, NULL);
}
