/* SPDX-License-Identifier: MIT */
/* TCP sockets out of saved answers: what is there comes, and whatever is wrong is reported. */
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/layouts.h"
#include "kit.h"

static void put(struct stage *stage, const void *data, size_t size)
{
    tree_put(&stage->tree, "saved", data, size);
}

static void put_wire(struct stage *stage)
{
    put(stage, stage->wire.data, stage->wire.length);
}

static int read_table(struct stage *stage, const struct table *table)
{
    return stage_list(stage, &backend_diag_file, table, stage_keep);
}

static void wire_tcp6(struct wire *wire, uint16_t port)
{
    struct inet_diag_msg diag = tcp_message(port, port);

    diag.idiag_family = AF_INET6;
    wire_message(wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
    wire_put(wire, &diag, sizeof diag);
}

/* An answer for each family, as ss saves them. */
static void put_both(struct stage *stage)
{
    wire_tcp(&stage->wire, NLM_F_MULTI, 1, 1000, 1);
    wire_tcp(&stage->wire, NLM_F_MULTI, 1, 1001, 2);
    wire_done(&stage->wire, NLM_F_MULTI, 1, 0);
    wire_tcp6(&stage->wire, 1002);
    wire_done(&stage->wire, NLM_F_MULTI, 1, 0);
    put_wire(stage);
}

/* As ss; with a word on a terminal. */
static void only_the_first_answer_is_listed(void **state)
{
    struct stage *stage = *state;

    put_both(stage);
    assert_int_equal(read_table(stage, &table_tcp_both), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_int_equal(stage->report.count, 0);
    stage->report.verbose = true;
    assert_int_equal(read_table(stage, &table_tcp_both), 0);
    assert_true(report_says(&stage->report,
                            "saved has several netlink dumps: as in ss, only the first is listed"));
    assert_int_equal(stage->report.count, 1);
    assert_false(stage->report.partial);
}

static void a_family_comes_without_the_other(void **state)
{
    struct stage *stage = *state;

    stage->report.verbose = true;
    wire_tcp(&stage->wire, NLM_F_MULTI, 1, 1000, 1);
    wire_tcp6(&stage->wire, 1002);
    wire_tcp(&stage->wire, NLM_F_MULTI, 1, 1001, 2);
    wire_done(&stage->wire, NLM_F_MULTI, 1, 0);
    put_wire(stage);
    assert_int_equal(read_table(stage, &table_tcp), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_int_equal(read_table(stage, &table_tcp6), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->kept.records[0].socket.family, AF_INET6);
    assert_int_equal(stage->report.count, 0);
}

static void only_tcp_is_in_such_a_file(void **state)
{
    static const struct table *const tcp[] = {&table_tcp, &table_tcp6, &table_tcp_both};
    static const struct table *const others[] = {&table_udp, &table_raw6, &table_unix,
                                                 &table_flows};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        assert_true(backend_fields(&backend_diag_file, tcp[i]) & SOCKET_MESSAGE);
    for (size_t i = 0; i < 4; i++)
        assert_true(backend_fields(&backend_diag_file, others[i]) == 0);
}

static void rows_before_the_cut_are_listed(void **state)
{
    struct stage *stage = *state;
    size_t whole;

    wire_tcp(&stage->wire, NLM_F_MULTI, 1, 1000, 1);
    whole = stage->wire.length;
    wire_tcp(&stage->wire, NLM_F_MULTI, 1, 1001, 2);
    for (size_t length = whole; length < stage->wire.length; length++) {
        put(stage, stage->wire.data, length);
        assert_int_equal(read_table(stage, &table_tcp), 0);
        assert_int_equal(stage->kept.count, 1);
        assert_true(stage->report.partial);
        assert_int_equal(stage->report.count, 1);
        assert_true(
            report_says(&stage->report, "saved is truncated: the kernel's answer is incomplete"));
    }
}

static void an_empty_file_is_no_answer(void **state)
{
    struct stage *stage = *state;

    put(stage, "", 0);
    assert_int_equal(read_table(stage, &table_tcp), 0);
    assert_true(stage->report.partial);
    assert_int_equal(stage->report.count, 1);
    assert_true(report_says(&stage->report, "saved is empty"));
}

static void an_answer_may_have_no_sockets(void **state)
{
    struct stage *stage = *state;

    wire_done(&stage->wire, NLM_F_MULTI, 1, 0);
    put_wire(stage);
    assert_int_equal(read_table(stage, &table_tcp), 0);
    assert_int_equal(stage->report.count, 0);
    assert_false(stage->report.partial);
}

/* Of which no reader could find the next message. */
static void a_message_shorter_than_its_header_ends_the_reading(void **state)
{
    struct stage *stage = *state;

    for (uint32_t length = 0; length < NLMSG_HDRLEN; length++) {
        stage->wire.length = 0;
        wire_tcp(&stage->wire, NLM_F_MULTI, 1, 1000, 1);
        wire_tcp(&stage->wire, NLM_F_MULTI, 1, 1001, 2);
        wire_last(&stage->wire)->nlmsg_len = length;
        put_wire(stage);
        assert_int_equal(read_table(stage, &table_tcp), 0);
        assert_int_equal(stage->kept.count, 1);
        assert_int_equal(stage->report.count, 1);
        assert_true(report_says(&stage->report, "no netlink message begins at byte 88"));
        assert_true(stage->report.partial);
    }
}

static void malformed_messages_are_counted_and_the_others_come(void **state)
{
    const struct inet_diag_msg unknown = {.idiag_family = AF_UNIX};
    struct stage *stage = *state;
    struct wire *wire = &stage->wire;

    wire_message(wire, SOCK_DIAG_BY_FAMILY, 0, 1); /* nothing but a header */
    wire_message(wire, SOCK_DIAG_BY_FAMILY, 0, 1); /* of no family of IP */
    wire_put(wire, &unknown, sizeof unknown);
    wire_message(wire, 4711, 0, 1); /* of an unknown type */
    wire_tcp(wire, 0, 1, 1000, 1);  /* with an attribute that is longer than the message */
    wire_put(wire, "\377\377\2\0", 4);
    wire_message(wire, NLMSG_NOOP, 0, 1);
    wire_tcp(wire, 0, 1, 1001, 2);
    wire_done(wire, 0, 1, 0);
    put_wire(stage);
    assert_int_equal(read_table(stage, &table_tcp), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_non_null(kept_port(&stage->kept, 1001));
    assert_int_equal(stage->report.count, 1);
    assert_true(report_says(&stage->report, "skipped 4 malformed messages, the first at byte "
                                            "0"));
    assert_true(stage->report.partial);
}

static void an_overlong_message_is_passed_over(void **state)
{
    enum { LONG = 1000001 };
    struct stage *stage = *state;
    const struct nlmsghdr header = {.nlmsg_len = LONG, .nlmsg_type = SOCK_DIAG_BY_FAMILY};
    char *data = calloc(1, LONG + 3 + sizeof stage->wire.data);

    assert_non_null(data);
    wire_tcp(&stage->wire, 0, 1, 1001, 2);
    wire_done(&stage->wire, 0, 1, 0);
    memcpy(data, &header, sizeof header);
    memcpy(data + LONG + 3, stage->wire.data, stage->wire.length);
    put(stage, data, LONG + 3 + stage->wire.length);
    assert_int_equal(read_table(stage, &table_tcp), 0);
    assert_non_null(kept_port(&stage->kept, 1001));
    assert_int_equal(stage->report.count, 1);
    assert_true(report_says(&stage->report, "skipped 1 malformed message,"));
    put(stage, data, LONG - 1000);
    assert_int_equal(read_table(stage, &table_tcp), 0);
    assert_true(report_says(&stage->report, "is truncated"));
    free(data);
}

static void errors_that_were_saved_are_reported(void **state)
{
    const struct nlmsgerr refused = {.error = -EPERM};
    struct stage *stage = *state;
    char expected[128];

    wire_message(&stage->wire, NLMSG_ERROR, 0, 1);
    wire_put(&stage->wire, &refused, sizeof refused);
    wire_done(&stage->wire, 0, 1, -ENOENT);
    put_wire(stage);
    assert_int_equal(read_table(stage, &table_tcp), 0);
    assert_true(report_says(&stage->report, "answered with an error: Operation not permitted"));
    assert_true(report_says(&stage->report, "answered with an error: No such file"));
    stage->wire.length = 0;
    wire_done(&stage->wire, 0, 1, INT32_MIN);
    put_wire(stage);
    assert_int_equal(read_table(stage, &table_tcp), 0);
    snprintf(expected, sizeof expected, "answered with an error: %s", strerror(EIO));
    assert_true(report_says(&stage->report, expected));
    assert_true(stage->report.partial);
}

static void files_that_cannot_be_read_are_named(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(read_table(stage, &table_tcp), 0);
    assert_true(report_says(&stage->report, "/net/saved: No such file or directory"));
    assert_true(stage->report.partial);
    stage->query.diag_file = stage->tree.root;
    assert_int_equal(read_table(stage, &table_tcp), 0);
    assert_true(report_says(&stage->report, ": Is a directory"));
    assert_true(stage->report.partial);
    assert_int_equal(stage->report.count, 1);
}

static void the_callbacks_result_ends_the_reading(void **state)
{
    struct stage *stage = *state;

    put_both(stage);
    stage->kept.stop_after = 1;
    assert_int_equal(read_table(stage, &table_tcp), STOPPED);
}

/* Two bytes at a time; the first message is longer than the buffer. */
static void *write_slowly(void *arg)
{
    const struct stage *stage = arg;
    static char overlong[200001 + 3];
    const struct nlmsghdr header = {.nlmsg_len = 200001, .nlmsg_type = SOCK_DIAG_BY_FAMILY};
    const int fd = open(stage->query.diag_file, O_WRONLY | O_CLOEXEC);

    memcpy(overlong, &header, sizeof header);
    if (write(fd, overlong, 17) < 0 || write(fd, overlong + 17, sizeof overlong - 17) < 0)
        return NULL;
    for (size_t at = 0; at < stage->wire.length; at += 3) {
        const size_t left = stage->wire.length - at;
        if (write(fd, stage->wire.data + at, left < 3 ? left : 3) < 0)
            return NULL;
    }
    close(fd);
    return NULL;
}

static void a_pipe_gives_as_much_as_it_has(void **state)
{
    struct stage *stage = *state;
    pthread_t writer;

    assert_int_equal(mkfifo(stage->query.diag_file, 0600), 0);
    for (uint16_t i = 0; i < 50; i++)
        wire_tcp(&stage->wire, 0, 1, (uint16_t)(1000 + i), i + 1u);
    wire_done(&stage->wire, 0, 1, 0);
    assert_int_equal(pthread_create(&writer, NULL, write_slowly, stage), 0);
    assert_int_equal(read_table(stage, &table_tcp_both), 0);
    pthread_join(writer, NULL);
    assert_int_equal(stage->kept.count, 50);
    assert_int_equal(stage->report.count, 1);
    assert_true(report_says(&stage->report, "skipped 1 malformed"));
}

/* --- Writing such files ----------------------------------------------------------------------- */

static int write_row(const struct record *record, void *arg)
{
    struct sink *sink = arg;

    sink->ops->row(sink, record);
    return 0;
}

/* Dumps the kernel's answer (a peer's) to the file. */
static void save(struct stage *stage, const struct table *table, uint64_t needs)
{
    struct writer writer;
    struct sink *sink;
    struct query query = stage->query;

    query.table = table;
    query.needs = needs;
    peer_add_wire(&stage->peer, &stage->wire);
    assert_int_equal(writer_init(&writer, open(stage->query.diag_file,
                                               O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)),
                     0);
    sink = sink_create(&sink_diag, NULL, &writer, NULL);
    assert_non_null(sink);
    sink_begin(sink);
    assert_int_equal(backend_sock_diag.dump(&query, write_row, sink), 0);
    sink_end(sink);
    assert_int_equal(writer_flush(&writer), 0);
    sink_destroy(sink);
    close(writer.fd);
    writer_finish(&writer);
    stage_anew(stage);
}

static void saved_messages_are_the_kernels_and_one_end_follows_them(void **state)
{
    struct stage *stage = *state;
    const struct wire *wire = &stage->wire;
    size_t rows, size;
    struct nlmsghdr last;
    char *data;

    wire_tcp(&stage->wire, NLM_F_MULTI, 1, 1000, 1);
    wire_attribute(&stage->wire, INET_DIAG_CONG, "cubic", 6);
    wire_tcp(&stage->wire, NLM_F_MULTI, 1, 1001, 2);
    rows = wire->length;
    wire_done(&stage->wire, NLM_F_MULTI, 1, 0);
    save(stage, &table_tcp, SOCKET_MESSAGE);
    data = read_whole(stage->query.diag_file, &size);
    assert_int_equal(size, rows + NLMSG_LENGTH(sizeof(int)));
    assert_memory_equal(data, wire->data, rows);
    memcpy(&last, data + rows, sizeof last);
    assert_int_equal(last.nlmsg_type, NLMSG_DONE);
    assert_int_equal(last.nlmsg_len, NLMSG_LENGTH(sizeof(int)));
    free(data);
    assert_int_equal(read_table(stage, &table_tcp_both), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_int_equal(stage->report.count, 0);
}

/* Some kernels leave out the last padding of a message; a reader needs it. */
static void saved_messages_are_aligned(void **state)
{
    const struct nlattr tos = {.nla_len = 5, .nla_type = INET_DIAG_TOS};
    struct stage *stage = *state;

    wire_tcp(&stage->wire, NLM_F_MULTI, 1, 1000, 1);
    wire_put(&stage->wire, &tos, sizeof tos);
    wire_put(&stage->wire, "\20", 1);
    wire_done(&stage->wire, NLM_F_MULTI, 1, 0);
    save(stage, &table_tcp, SOCKET_MESSAGE);
    assert_int_equal(read_table(stage, &table_tcp), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->report.count, 0);
}

static void messages_are_brought_only_where_they_are_needed(void **state)
{
    struct stage *stage = *state;

    put_both(stage);
    stage->query.needs = ~SOCKET_MESSAGE;
    assert_int_equal(read_table(stage, &table_tcp), 0);
    assert_false(stage->kept.records[0].has & SOCKET_MESSAGE);
    stage->query.needs = SOCKET_MESSAGE;
    assert_int_equal(read_table(stage, &table_tcp), 0);
    assert_true(stage->kept.records[0].has & SOCKET_MESSAGE);
    assert_int_equal(stage->kept.records[0].socket.message.length,
                     NLMSG_LENGTH(sizeof(struct inet_diag_msg)));
}

static int begin(void **state)
{
    static char path[96];
    struct stage *stage = stage_make_in(state, sizeof *stage);

    snprintf(path, sizeof path, "%s/net/saved", stage->tree.root);
    stage->query.proc_root = "/proc";
    stage->query.diag_file = path;
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, stage_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_the_first_answer_is_listed),
        TEST(a_family_comes_without_the_other),
        TEST(only_tcp_is_in_such_a_file),
        TEST(rows_before_the_cut_are_listed),
        TEST(an_empty_file_is_no_answer),
        TEST(an_answer_may_have_no_sockets),
        TEST(a_message_shorter_than_its_header_ends_the_reading),
        TEST(malformed_messages_are_counted_and_the_others_come),
        TEST(an_overlong_message_is_passed_over),
        TEST(errors_that_were_saved_are_reported),
        TEST(files_that_cannot_be_read_are_named),
        TEST(the_callbacks_result_ends_the_reading),
        TEST(a_pipe_gives_as_much_as_it_has),
        TEST(saved_messages_are_the_kernels_and_one_end_follows_them),
        TEST(saved_messages_are_aligned),
        TEST(messages_are_brought_only_where_they_are_needed),
    };

    return cmocka_run_group_tests_name("diag_file", tests, NULL, NULL);
}
