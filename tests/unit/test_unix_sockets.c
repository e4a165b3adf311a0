/* SPDX-License-Identifier: MIT */
/* Unix sockets: what netlink says is true, and of /proc/net/unix what agrees with it. */
#include <errno.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/thread.h"
#include "kit.h"

struct scene {
    struct stage stage;
    uint32_t answer;   /* to which request, the first is 1 */
    char file[131072]; /* net/unix, as far as it is written */
    size_t length;
};

struct facts {
    uint16_t type;
    uint8_t state;
    uint32_t waiting; /* a listener's connections that nobody has accepted */
};

static const struct facts plain = {SOCK_DGRAM, TCP_CLOSE, 0};

/* A socket as unix_diag tells of it. */
static void tell_facts(struct scene *scene, uint32_t inode, const char *name, size_t size,
                       struct facts facts)
{
    const struct unix_diag_msg diag = {.udiag_family = AF_UNIX,
                                       .udiag_type = (uint8_t)facts.type,
                                       .udiag_state = facts.state,
                                       .udiag_ino = inode,
                                       .udiag_cookie = {inode, 1}};
    const bool listens = facts.state == TCP_LISTEN;
    const struct unix_diag_rqlen queues = {listens ? facts.waiting : inode + 1, inode + 2};
    const uint32_t uid = inode + 3;

    wire_message(&scene->stage.wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, scene->answer);
    wire_put(&scene->stage.wire, &diag, sizeof diag);
    if (size)
        wire_attribute(&scene->stage.wire, UNIX_DIAG_NAME, name, size);
    wire_attribute(&scene->stage.wire, UNIX_DIAG_RQLEN, &queues, sizeof queues);
    wire_attribute(&scene->stage.wire, UNIX_DIAG_UID, &uid, sizeof uid);
}

static void tell(struct scene *scene, uint32_t inode, const char *name, size_t size)
{
    tell_facts(scene, inode, name, size, plain);
}

static void write_bytes(struct scene *scene, const char *data, size_t size)
{
    assert_in_range(scene->length + size, 0, sizeof scene->file);
    memcpy(scene->file + scene->length, data, size);
    scene->length += size;
}

/* A line of the file: its numbers, all but the address, and the name. */
static void show_line(struct scene *scene, unsigned address, const char *numbers, const char *name,
                      size_t size)
{
    char line[128];
    int length = snprintf(line, sizeof line, "%016x: %s%s", address, numbers, size ? " " : "");

    write_bytes(scene, line, (size_t)length);
    if (size && !name[0]) {
        for (size_t i = 0; i < size; i++)
            write_bytes(scene, name[i] ? name + i : "@", 1);
    } else if (size) {
        write_bytes(scene, name, size);
    }
    write_bytes(scene, "\n", 1);
}

/* The socket of tell() as the file has it. */
static void show(struct scene *scene, uint32_t inode, const char *name, size_t size)
{
    char numbers[64];

    snprintf(numbers, sizeof numbers, "00000002 00000000 00000000 0002 01 %5u", inode);
    show_line(scene, 0x1000 + inode, numbers, name, size);
}

static void both(struct scene *scene, uint32_t inode, const char *name, size_t size)
{
    tell(scene, inode, name, size);
    show(scene, inode, name, size);
}

static void both_listen(struct scene *scene, uint32_t inode, const char *name, size_t size,
                        uint32_t waiting)
{
    char numbers[64];

    tell_facts(scene, inode, name, size, (struct facts){SOCK_STREAM, TCP_LISTEN, waiting});
    snprintf(numbers, sizeof numbers, "00000002 00000000 00010000 0001 01 %5u", inode);
    show_line(scene, 0x1000 + inode, numbers, name, size);
}

/* A connection that waits to be accepted, of which only the file knows. */
static void show_pending(struct scene *scene, unsigned address, const char *name, size_t size)
{
    show_line(scene, address, "00000003 00000000 00000000 0001 02     0", name, size);
}

static void tell_all_over(struct scene *scene)
{
    wire_done(&scene->stage.wire, NLM_F_MULTI, scene->answer++, 0);
    peer_add_wire(&scene->stage.peer, &scene->stage.wire);
    scene->stage.wire.length = 0;
}

static void list(struct scene *scene)
{
    tell_all_over(scene);
    tree_put(&scene->stage.tree, "unix", scene->file, scene->length);
    assert_int_equal(stage_list(&scene->stage, &backend_unix, &table_unix, stage_keep), 0);
}

static void assert_name(const struct scene *scene, uint32_t inode, const char *name, size_t size)
{
    const struct record *record = kept_inode(&scene->stage.kept, inode);

    assert_non_null(record);
    assert_text(&record->socket.path, name, size);
}

/* Once, and with this RefCnt, or with none where it is 0. */
static void assert_once(const struct scene *scene, uint32_t inode, unsigned refcount)
{
    size_t found = 0;

    for (size_t i = 0; i < scene->stage.kept.count; i++) {
        const struct record *record = &scene->stage.kept.records[i];
        if (record->socket.inode != inode)
            continue;
        found++;
        assert_int_equal((record->has & SOCKET_REFCOUNT) != 0, refcount != 0);
        if (refcount)
            assert_int_equal(record->socket.refcount, refcount);
    }
    assert_int_equal(found, 1);
}

static size_t count_name(const struct scene *scene, uint32_t inode, const char *name, size_t size)
{
    size_t count = 0;

    for (size_t i = 0; i < scene->stage.kept.count; i++) {
        const struct socket_record *sock = &scene->stage.kept.records[i].socket;
        count += sock->inode == inode && sock->path.length == size &&
                 memcmp(sock->path.data, name, size) == 0;
    }
    return count;
}

static void assert_silent(const struct scene *scene, size_t rows)
{
    assert_int_equal(scene->stage.kept.count, rows);
    assert_int_equal(scene->stage.report.count, 0);
    assert_false(scene->stage.report.partial);
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
    assert_null(kept_inode(&scene->stage.kept, 6666));
    assert_name(scene, 2, NAME("x\n" FORGED));
    assert_name(scene, 4, NAME("z"));
}

#define FORGED_TWO(refcount) "0000000000001002: " refcount " 00000000 00000000 0002 01     2 /two"

/* What forges can be gone again when netlink is asked: the rows themselves must not be believed. */
static void a_row_that_netlink_does_not_know_is_none(void **state)
{
    struct scene *scene = *state;

    both(scene, 2, NAME("/two"));
    show(scene, 3, NAME("gone\n" FORGED));
    both(scene, 4, NAME("z"));
    list(scene);
    assert_silent(scene, 2);
    assert_once(scene, 2, 2);
    assert_once(scene, 4, 2);
}

static void a_forged_row_cannot_replace_another_socket(void **state)
{
    struct scene *scene = *state;

    show(scene, 3, NAME("gone\n0000000000001002: 00000063 00000000 00010000 0001 01 2 /other"));
    both(scene, 2, NAME("/two"));
    show(scene, 4, NAME("gone\n0000000000001002: 00000063 00000000 00000000 0002 03 2 /two"));
    list(scene);
    assert_silent(scene, 1);
    assert_once(scene, 2, 2);
    assert_name(scene, 2, NAME("/two"));
    assert_int_equal(kept_inode(&scene->stage.kept, 2)->socket.state, TCP_CLOSE);
    assert_int_equal(kept_inode(&scene->stage.kept, 2)->socket.flags, 0);
}

static void forged_rows_that_differ_only_in_refcnt_are_not_listed(void **state)
{
    struct scene *scene = *state;

    show(scene, 3, NAME("gone\n" FORGED_TWO("00000063")));
    both(scene, 2, NAME("/two"));
    both(scene, 5, NAME("/five"));
    show(scene, 5, NAME("/five"));
    list(scene);
    assert_silent(scene, 2);
    assert_once(scene, 2, 0);
    assert_once(scene, 5, 2);
}

static void the_lines_of_a_name_that_is_known_forge_nothing(void **state)
{
    struct scene *scene = *state;

    both(scene, 3, NAME("there\n" FORGED_TWO("00000063")));
    both(scene, 2, NAME("/two"));
    both(scene, 4, NAME("\0there\n" FORGED_TWO("00000063") "\nx"));
    list(scene);
    assert_silent(scene, 3);
    assert_once(scene, 2, 2);
    assert_once(scene, 3, 2);
    assert_once(scene, 4, 2);
}

static void what_changed_between_file_and_netlink_is_listed_as_it_is_now(void **state)
{
    struct scene *scene = *state;

    tell(scene, 2, NAME("bound\n" FORGED));
    show(scene, 2, NAME(""));
    tell_facts(scene, 3, NAME("listens"), (struct facts){SOCK_STREAM, TCP_LISTEN, 0});
    show_line(scene, 0x1003, "00000002 00000000 00000000 0001 01     3", NAME("listens"));
    tell(scene, 4, NAME("new"));
    show(scene, 5, NAME("gone"));
    both(scene, 6, NAME(""));
    list(scene);
    assert_silent(scene, 4);
    assert_once(scene, 2, 0);
    assert_name(scene, 2, NAME("bound\n" FORGED));
    assert_once(scene, 3, 0);
    assert_int_equal(kept_inode(&scene->stage.kept, 3)->socket.state, TCP_LISTEN);
    assert_int_equal(kept_inode(&scene->stage.kept, 3)->socket.flags, UNIX_ACCEPTCON);
    assert_once(scene, 4, 0);
    assert_once(scene, 6, 2);
}

static void a_socket_that_netlink_repeats_is_one(void **state)
{
    struct scene *scene = *state;

    both(scene, 2, NAME("a"));
    both(scene, 3, NAME("b"));
    tell(scene, 2, NAME("a"));
    list(scene);
    assert_silent(scene, 2);
    assert_once(scene, 2, 2);
}

/* As after a change between the two readings: what is known of them is the same. */
static void rows_in_another_order_find_their_sockets(void **state)
{
    enum { SOCKETS = 40 };
    struct scene *scene = *state;
    char name[] = "name 00";

    for (uint32_t i = 0; i < SOCKETS; i++) {
        name[5] = (char)('0' + i / 10), name[6] = (char)('0' + i % 10);
        tell(scene, 100 + i, NAME(name));
    }
    for (uint32_t i = SOCKETS; i-- > 0;) {
        name[5] = (char)('0' + i / 10), name[6] = (char)('0' + i % 10);
        show(scene, 100 + i, NAME(name));
    }
    list(scene);
    assert_silent(scene, SOCKETS);
    for (uint32_t i = 0; i < SOCKETS; i++)
        assert_once(scene, 100 + i, 2);
}

/* Lines that are no rows are of names, where there are such names. */
static void a_malformed_line_is_reported_when_no_name_can_have_made_it(void **state)
{
    struct scene *scene = *state;

    both(scene, 2, NAME("a"));
    write_bytes(scene, "what is this\n", 13);
    list(scene);
    assert_int_equal(scene->stage.kept.count, 1);
    assert_true(report_says(&scene->stage.report, "skipped 1 malformed line, the first is line 3"));
    assert_true(scene->stage.report.partial);
}

static void a_line_of_a_name_that_is_gone_is_not_told_when_there_are_such_names(void **state)
{
    struct scene *scene = *state;

    both(scene, 2, NAME("x\nsecond"));
    show(scene, 3, NAME("gone\nalready"));
    both(scene, 4, NAME("z"));
    list(scene);
    assert_silent(scene, 2);
}

static void a_nul_and_an_at_sign_in_an_abstract_name_are_distinguished(void **state)
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

static void a_connection_that_waits_to_be_accepted_has_its_listeners_name(void **state)
{
    struct scene *scene = *state;

    both_listen(scene, 2, NAME("listener\n" FORGED), 2);
    show_pending(scene, 1, NAME("listener\n" FORGED));
    show_pending(scene, 2, NAME("listener\n" FORGED));
    both_listen(scene, 3, NAME("\0@"), 1);
    show_pending(scene, 3, NAME("\0@"));
    list(scene);
    assert_silent(scene, 5);
    assert_int_equal(count_name(scene, 0, NAME("listener\n" FORGED)), 2);
    assert_int_equal(count_name(scene, 0, NAME("\0@")), 1);
}

/* netlink alone lists none of them, so they are rows only where these are asked for. */
static void a_connection_that_waits_is_no_row_unless_it_is_needed(void **state)
{
    struct scene *scene = *state;

    both_listen(scene, 2, NAME("listener"), 1);
    show_pending(scene, 1, NAME("listener"));
    scene->stage.query.needs = SOCKET_REFCOUNT;
    list(scene);
    assert_silent(scene, 1);
}

static void a_listener_has_no_more_connections_than_are_in_its_queue(void **state)
{
    struct scene *scene = *state;

    show(scene, 9, NAME("gone\n0000000000000099: 00000003 00000000 00000000 0001 02     0 /l"));
    both_listen(scene, 2, NAME("/l"), 2);
    show_pending(scene, 1, NAME("/l"));
    show_pending(scene, 2, NAME("/l"));
    both_listen(scene, 3, NAME("/none"), 0);
    show_pending(scene, 3, NAME("/none"));
    show_pending(scene, 4, NAME("/nobody"));
    list(scene);
    assert_silent(scene, 4);
    assert_int_equal(count_name(scene, 0, NAME("/l")), 2);
}

static void a_waiting_connection_is_of_its_listeners_type_and_does_not_listen(void **state)
{
    struct scene *scene = *state;

    both_listen(scene, 2, NAME("/l"), 9);
    show_line(scene, 1, "00000003 00000000 00000000 0005 02     0", NAME("/l"));
    show_line(scene, 2, "00000003 00000000 00010000 0001 02     0", NAME("/l"));
    show_line(scene, 3, "00000003 00000000 00000000 0001 01     0", NAME("/l"));
    show_line(scene, 4, "00000003 00000000 00000000 0002 02     0", NAME("/l"));
    show_line(scene, 5, "00000003 00000000 00000000 0002 02     0", NAME(""));
    list(scene);
    assert_silent(scene, 1);
}

static void equal_listeners_have_their_own_queue_lengths(void **state)
{
    struct scene *scene = *state;

    both_listen(scene, 2, NAME("\0a@"), 1);
    both_listen(scene, 3, NAME("\0a\0"), 2);
    both_listen(scene, 4, NAME("\0a@\nx"), 1);
    tell_facts(scene, 5, NAME("\0a\0"), (struct facts){SOCK_SEQPACKET, TCP_LISTEN, 0});
    for (unsigned i = 0; i < 4; i++)
        show_pending(scene, 1 + i, NAME("\0a@"));
    show_pending(scene, 5, NAME("\0a@\nx"));
    list(scene);
    assert_silent(scene, 8);
    assert_int_equal(count_name(scene, 0, NAME("\0a@")), 1);
    assert_int_equal(count_name(scene, 0, NAME("\0a\0")), 2);
    assert_int_equal(count_name(scene, 0, NAME("\0a@\nx")), 1);
}

/* Of a forger's listener, with the address of another's connection. */
static void a_forged_connection_does_not_pass_for_another_come_again(void **state)
{
    struct scene *scene = *state;

    both_listen(scene, 2, NAME("/l"), 1);
    both_listen(scene, 3, NAME("/l\nx"), 1);
    show_pending(scene, 7, NAME("/l\nx"));
    show_pending(scene, 7, NAME("/l"));
    list(scene);
    assert_silent(scene, 4);
    assert_true(scene->stage.kept.records[2].identity != 0);
    assert_true(scene->stage.kept.records[2].identity != scene->stage.kept.records[3].identity);
}

static void a_connection_that_waits_for_a_place_in_the_queue_has_no_name(void **state)
{
    struct scene *scene = *state;

    both_listen(scene, 2, NAME("/l"), 0);
    show_line(scene, 1, "00000002 00000000 00000000 0000 04     0", NAME(""));
    list(scene);
    assert_silent(scene, 2);
    assert_int_equal(count_name(scene, 0, NAME("")), 1);
}

static void text_after_the_name_of_a_closed_socket_may_belong_to_the_name(void **state)
{
    struct scene *scene = *state;

    show(scene, 9, NAME("gone\n1: 1 0 0 1 4 0"));
    both_listen(scene, 2, NAME("/a-name-that-is-known-takes-the-doubt-no-further"), 0);
    both_listen(scene, 3, NAME("/and-the-longest-that-a-name-can-be-is-108-bytes-which-is-past"),
                0);
    show_line(scene, 1, "00000002 00000000 00000000 0000 04     0", NAME(""));
    list(scene);
    assert_silent(scene, 3);
    assert_int_equal(count_name(scene, 0, NAME("")), 1);
}

static void queues_users_and_cookies_come_when_they_are_needed(void **state)
{
    const uint64_t wanted = SOCKET_QUEUES | SOCKET_UID | SOCKET_COOKIE;
    struct scene *scene = *state;
    const struct record *record;

    both(scene, 20, NAME("name"));
    both(scene, 10, NAME(""));
    scene->stage.query.needs = wanted;
    list(scene);
    assert_silent(scene, 2);
    record = kept_inode(&scene->stage.kept, 20);
    assert_true((record->has & (wanted | SOCKET_REFCOUNT)) == (wanted | SOCKET_REFCOUNT));
    assert_int_equal(record->socket.recv_q, 21);
    assert_int_equal(record->socket.send_q, 22);
    assert_int_equal(record->socket.uid, 23);
    assert_true(record->identity == (UINT64_C(1) << 32 | 20));
    assert_int_equal(kept_inode(&scene->stage.kept, 10)->socket.uid, 13);
}

/* The datagram that the first socket came in is gone when the rows are handed on. */
static void memory_and_waiting_connections_outlive_their_message(void **state)
{
    static const uint32_t memory[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, waiting[] = {71, 72};
    struct scene *scene = *state;
    const struct record *record;

    scene->stage.query.needs = SOCKET_MEMORY | SOCKET_ICONS;
    both_listen(scene, 1, NAME("/one"), 0);
    wire_attribute(&scene->stage.wire, UNIX_DIAG_MEMINFO, memory, sizeof memory);
    wire_attribute(&scene->stage.wire, UNIX_DIAG_ICONS, waiting, sizeof waiting);
    peer_add_wire(&scene->stage.peer, &scene->stage.wire);
    scene->stage.wire.length = 0;
    for (uint32_t inode = 2; inode < 9; inode++)
        both(scene, inode, NAME("/another of about the same length"));
    list(scene);
    assert_silent(scene, 8);
    record = kept_inode(&scene->stage.kept, 1);
    assert_text(&record->socket.memory, (const char *)memory, sizeof memory);
    assert_text(&record->socket.waiting, (const char *)waiting, sizeof waiting);
    assert_name(scene, 1, NAME("/one"));
    assert_name(scene, 8, NAME("/another of about the same length"));
    assert_int_equal(kept_inode(&scene->stage.kept, 2)->has & (SOCKET_MEMORY | SOCKET_ICONS), 0);
}

static void nothing_is_claimed_that_was_not_needed(void **state)
{
    struct scene *scene = *state;

    both(scene, 20, NAME("name"));
    list(scene);
    assert_int_equal(kept_inode(&scene->stage.kept, 20)->has & (SOCKET_QUEUES | SOCKET_UID), 0);
}

static void without_unix_diag_nothing_is_handed_on(void **state)
{
    struct scene *scene = *state;
    scene->stage.peer.refusal = -ENOENT;
    both(scene, 2, NAME("a"));
    tree_put(&scene->stage.tree, "unix", scene->file, scene->length);
    assert_int_equal(stage_list(&scene->stage, &backend_unix, &table_unix, stage_keep), -ENOENT);
    assert_silent(scene, 0);
}

static void list_by_file(struct scene *scene)
{
    tree_put(&scene->stage.tree, "unix", scene->file, scene->length);
    assert_int_equal(stage_list(&scene->stage, &backend_proc_net, &table_unix, stage_keep), 0);
    assert_int_equal(scene->stage.peer.request_count, 0);
}

static void rows_of_the_file_alone_that_no_name_has_room_for_are_true(void **state)
{
    static const char sixty[] = "0123456789 123456789 123456789 123456789 123456789 123456789";
    struct scene *scene = *state;

    show(scene, 2, "", 0);
    show(scene, 3, NAME("a name"));
    show(scene, 4, sixty, sizeof sixty - 1); /* with the newline 110 bytes behind "a name" */
    list_by_file(scene);
    assert_silent(scene, 3);
    assert_name(scene, 4, sixty, sizeof sixty - 1);
}

static void rows_of_the_file_alone_that_a_name_has_room_for_may_be_forged(void **state)
{
    struct scene *scene = *state;

    show(scene, 2, NAME("\0a@b"));
    show(scene, 3, NAME("c"));
    show(scene, 4, "", 0); /* behind c alone */
    list_by_file(scene);
    assert_int_equal(scene->stage.kept.count, 3);
    assert_name(scene, 2, NAME("\0a\0b"));
    assert_true(report_says(&scene->stage.report, "unix: 2 rows of "));
    assert_true(scene->stage.report.partial);
}

/* The other messages are listed all the same. */
static void a_malformed_message_is_a_loss_of_rows(void **state)
{
    struct scene *scene = *state;

    wire_message(&scene->stage.wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
    wire_put(&scene->stage.wire, "short", 5);
    both(scene, 2, NAME("a"));
    show(scene, 3, NAME("in the message that was skipped"));
    list(scene);
    assert_int_equal(scene->stage.kept.count, 1);
    assert_once(scene, 2, 2);
    assert_true(scene->stage.report.partial);
}

static void a_file_that_is_empty_costs_no_socket_and_is_reported(void **state)
{
    struct scene *scene = *state;

    tell(scene, 2, NAME("a"));
    scene->length = 0;
    list(scene);
    assert_once(scene, 2, 0);
    assert_true(
        report_says(&scene->stage.report, "net/unix is empty: it lacks even the heading line"));
    assert_true(scene->stage.report.partial);
}

/* So many sockets without a name that have gone that the file is worth a thread. */
static void make_long(struct scene *scene)
{
    while (scene->length < 100000)
        show(scene, 7777, "", 0);
}

static void a_long_file_whose_names_are_all_known_is_confirmed_at_once(void **state)
{
    struct scene *scene = *state;

    both_listen(scene, 2, NAME("/before\n" FORGED), 1);
    make_long(scene);
    show_pending(scene, 1, NAME("/before\n" FORGED));
    both(scene, 3, NAME("/behind"));
    tell(scene, 4, NAME("/new"));
    list(scene);
    assert_int_equal(scene->stage.peer.request_count, 1);
    assert_silent(scene, 4);
    assert_once(scene, 2, 2);
    assert_once(scene, 3, 2);
    assert_once(scene, 4, 0);
    assert_int_equal(count_name(scene, 0, NAME("/before\n" FORGED)), 1);
}

/* Sockets of which netlink knows one, and on another request all. */
static void list_what_netlink_learns(struct scene *scene)
{
    both(scene, 2, NAME("/two"));
    tell_facts(scene, 4, NAME("/gone"), plain);
    tell_all_over(scene);
    make_long(scene);
    tell(scene, 2, NAME("/two"));
    both_listen(scene, 3, NAME("/three"), 1);
    show_pending(scene, 1, NAME("/three"));
    both(scene, 5, NAME("new\n" FORGED_TWO("00000063")));
    both(scene, 6, NAME("/six"));
    show_line(scene, 2, "00000002 00000000 00000000 0000 04     0", NAME(""));
    list(scene);
}

static void names_that_netlink_could_not_know_yet_are_asked_for_again(void **state)
{
    struct scene *scene = *state;

    if (thread_cpus() == 1)
        skip();
    list_what_netlink_learns(scene);
    assert_int_equal(scene->stage.peer.request_count, 2);
    assert_silent(scene, 6);
    assert_once(scene, 2, 2);
    assert_once(scene, 3, 2);
    assert_once(scene, 5, 2);
    assert_int_equal(count_name(scene, 0, NAME("/three")), 1);
    assert_int_equal(count_name(scene, 0, NAME("")), 1);
}

static void on_one_processor_netlink_is_asked_after_the_file(void **state)
{
    struct scene *scene = *state;
    cpu_set_t before, one;

    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    list_what_netlink_learns(scene);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(scene->stage.peer.request_count, 1);
    assert_int_equal(scene->stage.kept.count, 2);
    assert_once(scene, 2, 0);
    assert_once(scene, 4, 0);
}

static void a_line_that_is_malformed_is_reported_once_after_two_requests(void **state)
{
    struct scene *scene = *state;

    tell_all_over(scene);
    make_long(scene);
    write_bytes(scene, "what is this\n", 13);
    both(scene, 3, NAME("/three"));
    list(scene);
    assert_int_equal(scene->stage.kept.count, thread_cpus() > 1);
    assert_int_equal(scene->stage.report.count, 1);
    assert_true(report_says(&scene->stage.report, "skipped 1 malformed line"));
}

static void recorded_and_captured_at_once_they_agree(void **state)
{
    struct scene *scene = *state;
    scene->stage.query.needs = SOCKET_PATH | SOCKET_REFCOUNT | SOCKET_UID | SOCKET_PENDING;
    scene->stage.query.proc_root = "tests/fixtures/zoo";
    peer_add_recorded(&scene->stage.peer, "tests/fixtures/zoo/netlink/unix", SIZE_MAX);
    assert_int_equal(stage_list(&scene->stage, &backend_unix, &table_unix, stage_keep), 0);
    assert_silent(scene, 38);
    for (size_t i = 0; i < scene->stage.kept.count; i++)
        assert_true(scene->stage.kept.records[i].has & SOCKET_REFCOUNT);
    assert_int_equal(count_name(scene, 0, NAME("stream.socket")), 1);
    assert_int_equal(count_name(scene, 0, NAME("seqpacket.socket")), 1);
    assert_name(scene, 4002623, NAME("line\nbreak"));
    assert_name(scene, 4002631, NAME("\0abstract @ with\0\033\n\xff\\"));
    assert_name(scene, 4002617, NAME("\0NULs\0in\0side\0\0"));
    assert_name(scene, 4002628, NAME("@not-abstract"));
}

static int begin(void **state)
{
    struct scene *scene = stage_make_in(state, sizeof *scene);

    write_bytes(scene, unix_heading, strlen(unix_heading));
    scene->answer = 1;
    scene->stage.query.needs = SOCKET_PENDING;
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, stage_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_name_of_several_lines_is_one_name),
        TEST(a_name_that_forges_a_row_stays_a_name),
        TEST(a_row_that_netlink_does_not_know_is_none),
        TEST(a_forged_row_cannot_replace_another_socket),
        TEST(forged_rows_that_differ_only_in_refcnt_are_not_listed),
        TEST(the_lines_of_a_name_that_is_known_forge_nothing),
        TEST(what_changed_between_file_and_netlink_is_listed_as_it_is_now),
        TEST(a_socket_that_netlink_repeats_is_one),
        TEST(rows_in_another_order_find_their_sockets),
        TEST(a_malformed_line_is_reported_when_no_name_can_have_made_it),
        TEST(a_line_of_a_name_that_is_gone_is_not_told_when_there_are_such_names),
        TEST(a_nul_and_an_at_sign_in_an_abstract_name_are_distinguished),
        TEST(a_connection_that_waits_to_be_accepted_has_its_listeners_name),
        TEST(a_connection_that_waits_is_no_row_unless_it_is_needed),
        TEST(a_listener_has_no_more_connections_than_are_in_its_queue),
        TEST(a_waiting_connection_is_of_its_listeners_type_and_does_not_listen),
        TEST(equal_listeners_have_their_own_queue_lengths),
        TEST(a_forged_connection_does_not_pass_for_another_come_again),
        TEST(a_connection_that_waits_for_a_place_in_the_queue_has_no_name),
        TEST(text_after_the_name_of_a_closed_socket_may_belong_to_the_name),
        TEST(queues_users_and_cookies_come_when_they_are_needed),
        TEST(memory_and_waiting_connections_outlive_their_message),
        TEST(nothing_is_claimed_that_was_not_needed),
        TEST(without_unix_diag_nothing_is_handed_on),
        TEST(rows_of_the_file_alone_that_no_name_has_room_for_are_true),
        TEST(rows_of_the_file_alone_that_a_name_has_room_for_may_be_forged),
        TEST(a_malformed_message_is_a_loss_of_rows),
        TEST(a_file_that_is_empty_costs_no_socket_and_is_reported),
        TEST(a_long_file_whose_names_are_all_known_is_confirmed_at_once),
        TEST(names_that_netlink_could_not_know_yet_are_asked_for_again),
        TEST(on_one_processor_netlink_is_asked_after_the_file),
        TEST(a_line_that_is_malformed_is_reported_once_after_two_requests),
        TEST(recorded_and_captured_at_once_they_agree),
    };

    return cmocka_run_group_tests_name("unix_sockets", tests, NULL, NULL);
}
