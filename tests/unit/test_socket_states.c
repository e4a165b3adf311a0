/* SPDX-License-Identifier: MIT */
/* TCP sockets counted by their states: what is asked, and what the counters add. */
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/predicate.h"
#include "kit.h"

#define STATE(state) (UINT64_C(1) << (state))

enum { STATES = 32 };

struct scene {
    struct stage stage;
    struct predicate where;
    const struct predicate *wanted;
    uint64_t rows[STATES];
    size_t records;
    unsigned dumps;
};

static void put_files(const struct scene *scene, unsigned established, unsigned time_wait,
                      unsigned in_use, unsigned in_use6)
{
    char text[128];

    snprintf(text, sizeof text, "Ip: Forwarding\nIp: 1\nTcp: MaxConn CurrEstab\nTcp: -1 %u\n",
             established);
    tree_puts(&scene->stage.tree, "snmp", text);
    snprintf(text, sizeof text, "sockets: used 9\nTCP: inuse %u orphan 0 tw %u alloc 9 mem 1\n",
             in_use, time_wait);
    tree_puts(&scene->stage.tree, "sockstat", text);
    snprintf(text, sizeof text, "TCP6: inuse %u\nUDP6: inuse 77\n", in_use6);
    tree_puts(&scene->stage.tree, "sockstat6", text);
}

/* So many sockets are in the answer. */
static void put_sockets(struct scene *scene, uint8_t state, uint8_t timer, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct inet_diag_msg message = tcp_message((uint16_t)(1000 + i), state * 1000u + i);
        message.idiag_state = state;
        message.idiag_timer = timer;
        message.idiag_family = i % 2 ? AF_INET6 : AF_INET;
        wire_message(&scene->stage.wire, TCPDIAG_GETSOCK, NLM_F_MULTI, scene->dumps + 1);
        wire_put(&scene->stage.wire, &message, sizeof message);
    }
}

static void end_answer(struct scene *scene, int error)
{
    wire_done(&scene->stage.wire, NLM_F_MULTI, ++scene->dumps, error);
    peer_add_wire(&scene->stage.peer, &scene->stage.wire);
    scene->stage.wire.length = 0;
}

static int take(const struct record *record, void *arg)
{
    struct scene *scene = arg;

    assert_int_equal(record->has, SOCKET_STATE);
    assert_in_range(record->socket.state, 1, STATES - 1);
    assert_int_not_equal(record->rows, 0);
    assert_int_equal(scene->rows[record->socket.state], 0);
    scene->rows[record->socket.state] = record->rows;
    scene->records++;
    return 0;
}

static int count(struct scene *scene)
{
    scene->stage.query.needs = SOCKET_STATE;
    scene->stage.query.where = scene->wanted;
    memset(scene->rows, 0, sizeof scene->rows);
    scene->records = 0;
    return stage_list(&scene->stage, &backend_socket_states, &table_tcp_states, take);
}

static void want(struct scene *scene, uint64_t states)
{
    scene->where = predicate_one_of(field_named(&kind_socket, "state"), states);
    scene->wanted = &scene->where;
}

static uint32_t asked_states(const struct scene *scene, size_t number)
{
    struct {
        struct nlmsghdr header;
        struct inet_diag_req body;
    } request;

    memcpy(&request, scene->stage.peer.requests[number], sizeof request);
    assert_int_equal(request.header.nlmsg_type, TCPDIAG_GETSOCK);
    return request.body.idiag_states;
}

/* --- On a quiet machine ----------------------------------------------------------------------- */

static void two_states_come_from_counters_and_the_others_from_a_dump(void **state)
{
    struct scene *scene = *state;

    put_files(scene, 70003, 20002, 60000, 10000 + 4 + 3 + 1);
    put_sockets(scene, TCP_LISTEN, TIMER_OFF, 4);
    put_sockets(scene, TCP_CLOSE_WAIT, TIMER_OFF, 3);
    put_sockets(scene, TCP_FIN_WAIT2, TIMER_KEEPALIVE, 1);
    put_sockets(scene, TCP_FIN_WAIT2, TIMER_TIME_WAIT, 2);
    end_answer(scene, 0);
    assert_int_equal(count(scene), 0);
    assert_int_equal(scene->rows[TCP_ESTABLISHED], 70000);
    assert_int_equal(scene->rows[TCP_TIME_WAIT], 20000);
    assert_int_equal(scene->rows[TCP_LISTEN], 4);
    assert_int_equal(scene->rows[TCP_CLOSE_WAIT], 3);
    assert_int_equal(scene->rows[TCP_FIN_WAIT2], 3);
    assert_int_equal(scene->records, 5);
    assert_int_equal(scene->stage.report.count, 0);
    assert_int_equal(asked_states(scene, 0) & (STATE(TCP_ESTABLISHED) | STATE(TCP_TIME_WAIT)), 0);
    assert_int_equal(asked_states(scene, 0),
                     UINT32_MAX & ~(STATE(TCP_ESTABLISHED) | STATE(TCP_TIME_WAIT)));
}

/* Before Linux 6.10 CurrEstab did not count CLOSE_WAIT: sockstat shows which kernel it is. */
static void close_wait_is_subtracted_only_where_it_was_counted(void **state)
{
    struct scene *scene = *state;

    put_files(scene, 50, 0, 53, 0);
    put_sockets(scene, TCP_CLOSE_WAIT, TIMER_OFF, 3);
    end_answer(scene, 0);
    assert_int_equal(count(scene), 0);
    assert_int_equal(scene->rows[TCP_ESTABLISHED], 50);
    put_files(scene, 53, 0, 53, 0);
    put_sockets(scene, TCP_CLOSE_WAIT, TIMER_OFF, 3);
    end_answer(scene, 0);
    assert_int_equal(count(scene), 0);
    assert_int_equal(scene->rows[TCP_ESTABLISHED], 50);
}

static void half_open_connections_may_be_in_use_or_not(void **state)
{
    struct scene *scene = *state;

    for (unsigned in_use = 50; in_use <= 52; in_use++) {
        put_files(scene, 50, 0, in_use, 0);
        put_sockets(scene, TCP_SYN_RECV, TIMER_RETRANSMIT, 2);
        end_answer(scene, 0);
        assert_int_equal(count(scene), 0);
        assert_int_equal(scene->rows[TCP_ESTABLISHED], 50);
        assert_int_equal(scene->rows[TCP_SYN_RECV], 2);
    }
}

static void bound_sockets_are_counted_apart_and_are_not_in_use(void **state)
{
    struct scene *scene = *state;

    put_files(scene, 5, 0, 5, 0);
    put_sockets(scene, TCP_CLOSE, TIMER_OFF, 2);
    end_answer(scene, 0);
    assert_int_equal(count(scene), 0);
    assert_int_equal(scene->rows[STATE_BOUND_INACTIVE], 2);
    assert_int_equal(scene->rows[TCP_CLOSE], 0);
    assert_int_equal(scene->rows[TCP_ESTABLISHED], 5);
}

static void states_without_sockets_have_no_record(void **state)
{
    struct scene *scene = *state;

    put_files(scene, 0, 0, 0, 0);
    end_answer(scene, 0);
    assert_int_equal(count(scene), 0);
    assert_int_equal(scene->records, 0);
}

static void a_kernel_without_ipv6_has_all_of_them_in_one_file(void **state)
{
    struct scene *scene = *state;
    char path[96];

    put_files(scene, 5, 1, 5, 0);
    snprintf(path, sizeof path, "%s/net/sockstat6", scene->stage.tree.root);
    assert_int_equal(remove(path), 0);
    end_answer(scene, 0);
    assert_int_equal(count(scene), 0);
    assert_int_equal(scene->rows[TCP_ESTABLISHED], 5);
    assert_int_equal(scene->rows[TCP_TIME_WAIT], 1);
}

/* --- What is wanted --------------------------------------------------------------------------- */

/* The counters include sockets in other states, which are asked for in any case. */
static void what_the_counters_include_is_asked_for_even_if_it_is_not_wanted(void **state)
{
    struct scene *scene = *state;
    const uint64_t included = STATE(TCP_CLOSE_WAIT) | STATE(TCP_FIN_WAIT2) | STATE(TCP_LISTEN);

    want(scene, STATE(TCP_ESTABLISHED) | STATE(TCP_TIME_WAIT));
    put_files(scene, 7, 3, 7, 0);
    put_sockets(scene, TCP_CLOSE_WAIT, TIMER_OFF, 2);
    put_sockets(scene, TCP_FIN_WAIT2, TIMER_TIME_WAIT, 1);
    end_answer(scene, 0);
    assert_int_equal(count(scene), 0);
    assert_int_equal(asked_states(scene, 0) & included, included);
    assert_int_equal(asked_states(scene, 0) & STATE(STATE_BOUND_INACTIVE), 0);
    assert_int_equal(scene->rows[TCP_ESTABLISHED], 5);
    assert_int_equal(scene->rows[TCP_TIME_WAIT], 2);
}

static void without_the_two_states_there_is_nothing_to_gain(void **state)
{
    struct scene *scene = *state;

    put_files(scene, 7, 3, 7, 0);
    want(scene, STATE(TCP_LISTEN));
    assert_int_equal(count(scene), -EOPNOTSUPP);
    assert_int_equal(scene->stage.peer.request_count, 0);
}

static void a_filter_of_anything_but_states_needs_rows(void **state)
{
    struct scene *scene = *state;

    put_files(scene, 7, 3, 7, 0);
    scene->where = predicate_number(field_named(&kind_socket, "local_port"), 22);
    scene->wanted = &scene->where;
    assert_int_equal(count(scene), -EOPNOTSUPP);
    scene->where = predicate_text(field_named(&kind_socket, "protocol"), "tcp");
    assert_int_equal(count(scene), -EOPNOTSUPP);
    assert_int_equal(scene->stage.peer.request_count, 0);
}

/* --- While sockets come and go ---------------------------------------------------------------- */

static void grow(void *arg)
{
    struct scene *scene = arg;

    put_files(scene, 1200, 60, 1200, 0);
}

static void counters_that_move_are_taken_from_the_middle(void **state)
{
    struct scene *scene = *state;

    for (int verbose = 0; verbose < 2; verbose++) {
        scene->stage.report.verbose = verbose;
        put_files(scene, 1000, 40, 1000, 0);
        put_sockets(scene, TCP_CLOSE_WAIT, TIMER_OFF, 100);
        end_answer(scene, 0);
        if (!verbose)
            scene->stage.peer.asked = grow;
        assert_int_equal(count(scene), 0);
        assert_int_equal(scene->rows[TCP_ESTABLISHED], 1000);
        assert_int_equal(scene->rows[TCP_TIME_WAIT], 50);
        assert_int_equal(scene->stage.report.count, verbose);
    }
    assert_true(report_says(&scene->stage.report, "CurrEstab from 1000 to 1200, tw from 40 to 60"));
    assert_false(scene->stage.report.partial);
}

static void shrink(void *arg)
{
    struct scene *scene = arg;

    put_files(scene, 1, 1, 1, 0);
}

static void a_number_below_zero_is_none(void **state)
{
    struct scene *scene = *state;

    put_files(scene, 3, 1, 3, 0);
    put_sockets(scene, TCP_CLOSE_WAIT, TIMER_OFF, 9);
    put_sockets(scene, TCP_FIN_WAIT2, TIMER_TIME_WAIT, 9);
    end_answer(scene, 0);
    scene->stage.peer.asked = shrink;
    assert_int_equal(count(scene), 0);
    assert_int_equal(scene->rows[TCP_ESTABLISHED], 0);
    assert_int_equal(scene->rows[TCP_TIME_WAIT], 0);
}

/* A socket changed between the files and the dump, and the counters came back to what they were. */
static void counters_that_contradict_each_other_are_counted_again(void **state)
{
    struct scene *scene = *state;

    put_files(scene, 9, 0, 10, 0);
    end_answer(scene, 0);
    put_sockets(scene, TCP_LISTEN, TIMER_OFF, 1);
    end_answer(scene, 0);
    assert_int_equal(count(scene), 0);
    assert_int_equal(scene->rows[TCP_ESTABLISHED], 9);
    assert_int_equal(scene->rows[TCP_LISTEN], 1);
    assert_int_equal(scene->stage.peer.request_count, 2);
}

/* --- Counters that cannot be used ------------------------------------------------------------- */

static void assert_refused(struct scene *scene)
{
    assert_true(count(scene) < 0);
    assert_int_equal(scene->records, 0);
    assert_int_equal(scene->stage.report.count, 0);
    assert_false(scene->stage.report.partial);
}

static void counters_that_contradict_each_other_are_not_used(void **state)
{
    struct scene *scene = *state;

    scene->stage.peer.replays = true;
    end_answer(scene, 0);
    put_files(scene, 9, 0, 12, 0);
    assert_refused(scene);
    put_files(scene, 12, 0, 9, 0);
    scene->stage.peer.next = 0;
    assert_refused(scene);
}

static void fewer_waits_than_sockets_that_are_waited_for_are_not_used(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        put_sockets(scene, TCP_FIN_WAIT2, TIMER_TIME_WAIT, 2);
        end_answer(scene, 0);
    }
    put_files(scene, 9, 1, 9, 0);
    assert_refused(scene);
}

static void files_that_are_missing_or_garbled_are_not_used(void **state)
{
    static const struct {
        const char *name, *text; /* NULL: there is no such file */
    } files[] = {
        {"snmp", NULL},
        {"sockstat", NULL},
        {"snmp", ""},
        {"snmp", "Tcp: CurrEstab\n"},
        {"snmp", "Tcp: CurrEstab\nTcp: x\n"},
        {"snmp", "Tcp: CurrEstab\nTcp: -7\n"},
        {"snmp", "Tcp: CurrEstab\nTcp: 18446744073709551615\n"},
        {"snmp", "Tcp: CurrEstab\nTcp: 7\nTcp: CurrEstab\nTcp: 7\n"},
        {"snmp", "Udp: CurrEstab\nUdp: 7\n"},
        {"sockstat", "TCP: inuse 7\n"},
        {"sockstat", "TCP: tw 0\n"},
        {"sockstat", "TCP: inuse 7 tw\n"},
        {"sockstat", "TCP: inuse 7 tw 0x0\n"},
        {"sockstat", "TCP: inuse 7 tw 0"},
        {"sockstat6", "TCP6: inuse -1\n"},
        {"sockstat6", "garbage\n"},
    };
    struct scene *scene = *state;
    char path[96];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        put_files(scene, 7, 0, 7, 0);
        snprintf(path, sizeof path, "%s/net/%s", scene->stage.tree.root, files[i].name);
        if (files[i].text)
            tree_puts(&scene->stage.tree, files[i].name, files[i].text);
        else
            assert_int_equal(remove(path), 0);
        assert_refused(scene);
    }
    assert_int_equal(scene->stage.peer.request_count, 0);
}

static void a_dump_that_fails_hands_on_nothing(void **state)
{
    struct scene *scene = *state;

    put_files(scene, 7, 0, 7, 0);
    put_sockets(scene, TCP_LISTEN, TIMER_OFF, 3);
    end_answer(scene, -ENOBUFS);
    assert_refused(scene);
}

static int begin(void **state)
{
    struct scene *scene = stage_make_in(state, sizeof *scene);

    scene->stage.peer.arg = scene;
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, stage_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(two_states_come_from_counters_and_the_others_from_a_dump),
        TEST(close_wait_is_subtracted_only_where_it_was_counted),
        TEST(half_open_connections_may_be_in_use_or_not),
        TEST(bound_sockets_are_counted_apart_and_are_not_in_use),
        TEST(states_without_sockets_have_no_record),
        TEST(a_kernel_without_ipv6_has_all_of_them_in_one_file),
        TEST(what_the_counters_include_is_asked_for_even_if_it_is_not_wanted),
        TEST(without_the_two_states_there_is_nothing_to_gain),
        TEST(a_filter_of_anything_but_states_needs_rows),
        TEST(counters_that_move_are_taken_from_the_middle),
        TEST(a_number_below_zero_is_none),
        TEST(counters_that_contradict_each_other_are_counted_again),
        TEST(counters_that_contradict_each_other_are_not_used),
        TEST(fewer_waits_than_sockets_that_are_waited_for_are_not_used),
        TEST(files_that_are_missing_or_garbled_are_not_used),
        TEST(a_dump_that_fails_hands_on_nothing),
    };

    return cmocka_run_group_tests_name("socket_states", tests, NULL, NULL);
}
