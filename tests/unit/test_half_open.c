/* SPDX-License-Identifier: MIT */
/* Half-open connections: what netlink does not know of them comes from /proc. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "kit.h"

#define NUMBERS (SOCKET_UID | SOCKET_RETRANSMITS)

struct scene {
    struct stage stage;
    char file[8192];
};

/* A half-open connection as netlink tells of it: to local port 80 from this port. */
static void tell(struct scene *scene, uint16_t remote_port)
{
    struct inet_diag_msg diag = tcp_message(80, remote_port);

    diag.idiag_state = TCP_SYN_RECV;
    diag.idiag_uid = 0;
    diag.idiag_inode = 0;
    diag.id.idiag_dport = htons(remote_port);
    wire_message(&scene->stage.wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
    wire_put(&scene->stage.wire, &diag, sizeof diag);
}

/* The same as the file has it, in any state. */
static void show(struct scene *scene, unsigned state, uint16_t remote_port, unsigned uid)
{
    size_t length = strlen(scene->file);

    snprintf(
        scene->file + length, sizeof scene->file - length,
        "   0: 0100007F:0050 010200C0:%04X %02X 00000000:00000000 01:00000023 %08X %5u %8u 0 0 "
        "00000000e4e9b2ea\n",
        remote_port, state, uid % 7, uid, uid % 5);
}

static int list_table(struct scene *scene, const struct table *table, uint64_t needs,
                      bool exclusive)
{
    scene->stage.query.needs = needs;
    scene->stage.query.exclusive = exclusive;
    stage_send_done(&scene->stage, 1, 0);
    if (*scene->file)
        tree_puts(&scene->stage.tree, "tcp", scene->file);
    return stage_list(&scene->stage, &backend_sock_diag, table, stage_keep);
}

static int list(struct scene *scene, uint64_t needs, bool exclusive)
{
    return list_table(scene, &table_tcp, needs, exclusive);
}

static void their_numbers_come_from_proc_by_the_two_ends(void **state)
{
    struct scene *scene = *state;

    for (uint16_t i = 0; i < 40; i++) {
        tell(scene, (uint16_t)(1000 + i));
        show(scene, TCP_SYN_RECV, (uint16_t)(1000 + (i * 7) % 40), 500u + (i * 7u) % 40);
    }
    assert_int_equal(list(scene, NUMBERS, false), 0);
    assert_int_equal(scene->stage.kept.count, 40);
    for (unsigned i = 0; i < 40; i++) {
        const struct record *record = &scene->stage.kept.records[i];
        assert_true((record->has & NUMBERS) == NUMBERS);
        assert_int_equal(record->socket.uid, 500 + i);
        assert_int_equal(record->socket.retransmits, (500 + i) % 7);
        assert_int_equal(record->socket.probes, (500 + i) % 5);
    }
    assert_int_equal(scene->stage.report.count, 0);
}

static void a_connection_that_proc_lost_has_no_user(void **state)
{
    struct scene *scene = *state;

    tell(scene, 1000);
    tell(scene, 1001);
    show(scene, TCP_SYN_RECV, 1001, 501);
    show(scene, TCP_ESTABLISHED, 1000, 7); /* it is whole by now: another row's numbers */
    assert_int_equal(list(scene, NUMBERS, false), 0);
    assert_int_equal(scene->stage.kept.records[0].has & NUMBERS, 0);
    assert_int_equal(scene->stage.kept.records[1].socket.uid, 501);
}

static void without_proc_they_stay_without_and_no_row_is_lost(void **state)
{
    struct scene *scene = *state;
    int result;

    tell(scene, 1000);
    tree_remove(&scene->stage.tree);
    result = list(scene, NUMBERS, false);
    tree_make(&scene->stage.tree);
    assert_int_equal(result, 0);
    assert_int_equal(scene->stage.kept.count, 1);
    assert_int_equal(scene->stage.kept.records[0].has & NUMBERS, 0);
    assert_false(scene->stage.report.partial);
    assert_int_equal(scene->stage.report.count, 1);
    assert_non_null(strstr(scene->stage.report.lines[0], "net/tcp: No such file or directory"));
}

static void without_one_of_the_two_files_only_its_connections_stay_without(void **state)
{
    struct scene *scene = *state;

    tell(scene, 1000);
    show(scene, TCP_SYN_RECV, 1000, 500);
    assert_int_equal(list_table(scene, &table_tcp_both, NUMBERS, false), 0);
    assert_int_equal(scene->stage.kept.records[0].socket.uid, 500);
    assert_int_equal(scene->stage.report.count, 0);
}

static void a_malformed_line_in_proc_is_no_loss_of_rows(void **state)
{
    struct scene *scene = *state;

    tell(scene, 1000);
    show(scene, TCP_SYN_RECV, 1000, 500);
    memcpy(scene->file + strlen(scene->file), "rubbish\n", 9);
    assert_int_equal(list(scene, NUMBERS, false), 0);
    assert_int_equal(scene->stage.kept.records[0].socket.uid, 500);
    assert_false(scene->stage.report.partial);
    assert_int_equal(scene->stage.report.count, 1);
    assert_non_null(strstr(scene->stage.report.lines[0], "malformed"));
}

static void netlink_alone_means_netlink_alone(void **state)
{
    struct scene *scene = *state;

    tell(scene, 1000);
    show(scene, TCP_SYN_RECV, 1000, 500);
    assert_int_equal(list(scene, NUMBERS, true), 0);
    assert_int_equal(scene->stage.kept.records[0].has & NUMBERS, 0);
}

static void fields_that_are_not_needed_are_not_read(void **state)
{
    struct scene *scene = *state;

    tell(scene, 1000);
    show(scene, TCP_SYN_RECV, 1000, 500);
    assert_int_equal(list(scene, SOCKET_ADDRESSES, false), 0);
    assert_int_equal(scene->stage.kept.records[0].has & NUMBERS, 0);
}

static int begin(void **state)
{
    stage_make_in(state, sizeof(struct scene));
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, stage_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(their_numbers_come_from_proc_by_the_two_ends),
        TEST(a_connection_that_proc_lost_has_no_user),
        TEST(without_proc_they_stay_without_and_no_row_is_lost),
        TEST(without_one_of_the_two_files_only_its_connections_stay_without),
        TEST(a_malformed_line_in_proc_is_no_loss_of_rows),
        TEST(netlink_alone_means_netlink_alone),
        TEST(fields_that_are_not_needed_are_not_read),
    };

    return cmocka_run_group_tests_name("half_open", tests, NULL, NULL);
}
