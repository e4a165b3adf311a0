/* SPDX-License-Identifier: MIT */
/* Two tables of TCP that are read in one dump: what is asked, in which order rows come. */
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/engine.h"
#include "fastnet/layouts.h"
#include "kit.h"

struct joined {
    struct peer peer;
    struct wire wire;
    struct report report;
    char *output; /* what was written, terminated */
};

static int make_joined(void **state)
{
    struct joined *joined = calloc(1, sizeof *joined);

    assert_non_null(joined);
    peer_init(&joined->peer);
    *state = joined;
    return 0;
}

static int remove_joined(void **state)
{
    struct joined *joined = *state;

    peer_finish(&joined->peer);
    free(joined->output);
    free(joined);
    return 0;
}

static void put_row(struct joined *joined, uint8_t family, uint16_t port, uint32_t sequence)
{
    struct inet_diag_msg message = tcp_message(port, port);

    message.idiag_family = family;
    wire_message(&joined->wire, TCPDIAG_GETSOCK, NLM_F_MULTI, sequence);
    wire_put(&joined->wire, &message, sizeof message);
}

static void send_datagram(struct joined *joined)
{
    peer_add_wire(&joined->peer, &joined->wire);
    joined->wire.length = 0;
}

static void put_end(struct joined *joined, uint32_t sequence, int error)
{
    wire_done(&joined->wire, NLM_F_MULTI, sequence, error);
    send_datagram(joined);
}

static char *read_back(FILE *file)
{
    long length = ftell(file);
    char *text = calloc(1, (size_t)length + 1);

    assert_non_null(text);
    rewind(file);
    assert_int_equal(fread(text, 1, (size_t)length, file), length);
    return text;
}

static struct sink *make_netstat(struct writer *writer, const struct context *context)
{
    static const struct netstat_layout layout = {.show = SHOW_ALL,
                                                 .numeric_hosts = true,
                                                 .numeric_ports = true,
                                                 .numeric_users = true,
                                                 .header = true};

    return sink_create(&sink_netstat, &layout, writer, context);
}

/* A sink without clones. */
static struct sink *make_csv(struct writer *writer, const struct context *context)
{
    static const struct field *column;

    column = field_named(&kind_socket, "local_port");
    return sink_csv_create(&(struct sink_options){
        .writer = writer, .context = context, .columns = &column, .count = 1});
}

typedef struct sink *make_fn(struct writer *writer, const struct context *context);

/* netstat -tan, by netlink alone; lookups: what else is looked up (NEED_*). */
static void list_with(struct joined *joined, const char *proc_root, bool exact, make_fn *make,
                      uint32_t lookups)
{
    static const struct listing_table tables[] = {
        {.table = &table_tcp, .section = SECTION_INTERNET},
        {.table = &table_tcp6, .section = SECTION_INTERNET},
    };
    const struct listing listing = {.tables = tables,
                                    .table_count = 2,
                                    .proc_root = proc_root,
                                    .backend = BACKEND_NETLINK,
                                    .needs.lookups = lookups,
                                    .exact = exact};
    FILE *file = tmpfile();
    struct engine *engine = NULL;
    struct writer writer;
    struct sink *sink;

    assert_non_null(file);
    assert_int_equal(writer_init(&writer, fileno(file)), 0);
    engine = engine_create(netlink_create(&joined->peer.netlink));
    assert_non_null(engine);
    sink = make(&writer, engine_context(engine));
    assert_int_equal(engine_run(engine, &listing, sink, &joined->report), 0);
    assert_int_equal(writer_flush(&writer), 0);
    sink_destroy(sink);
    writer_finish(&writer);
    engine_destroy(engine);
    fseek(file, 0, SEEK_END);
    joined->output = read_back(file);
    fclose(file);
}

static void list_passes(struct joined *joined, const char *proc_root, bool exact, make_fn *make)
{
    list_with(joined, proc_root, exact, make, 0);
}

static void list(struct joined *joined, const char *proc_root)
{
    list_passes(joined, proc_root, false, make_netstat);
}

static uint16_t type_of_request(const struct joined *joined, size_t number)
{
    struct nlmsghdr header;

    memcpy(&header, joined->peer.requests[number], sizeof header);
    return header.nlmsg_type;
}

static void assert_order(const char *text, const char *first, const char *second)
{
    const char *one = strstr(text, first), *other = strstr(text, second);

    assert_non_null(one);
    assert_non_null(other);
    assert_true(one < other);
}

static void one_request_lists_both_families_in_netstats_order(void **state)
{
    struct joined *joined = *state;

    put_row(joined, AF_INET6, 1006, 1);
    put_row(joined, AF_INET, 1004, 1);
    put_end(joined, 1, 0);
    list(joined, "/proc");
    assert_int_equal(joined->peer.request_count, 1);
    assert_int_equal(type_of_request(joined, 0), TCPDIAG_GETSOCK);
    assert_order(joined->output, "Active Internet", ":1004 ");
    assert_order(joined->output, ":1004 ", ":1006 ");
    assert_false(joined->report.partial);
}

static void the_heading_stays_first_when_the_second_table_is_large(void **state)
{
    enum { DATAGRAMS = 20, ROWS = 100 }; /* of 100 bytes: three buffers of the writer */
    struct joined *joined = *state;

    for (unsigned datagram = 0; datagram < DATAGRAMS; datagram++) {
        for (unsigned row = 0; row < ROWS; row++)
            put_row(joined, AF_INET6, (uint16_t)(10000 + datagram * ROWS + row), 1);
        send_datagram(joined);
    }
    put_row(joined, AF_INET, 1004, 1);
    put_end(joined, 1, 0);
    list(joined, "/proc");
    assert_ptr_equal(strstr(joined->output, "Active Internet"), joined->output);
    assert_non_null(strstr(joined->output, ":1004 "));
    for (unsigned port = 10000; port < 10000 + DATAGRAMS * ROWS; port++) {
        char text[16];
        snprintf(text, sizeof text, ":%u ", port);
        assert_non_null(strstr(joined->output, text));
    }
}

static void rows_wait_for_those_of_the_first_table_where_a_sink_has_no_clone(void **state)
{
    struct joined *joined = *state;

    put_row(joined, AF_INET6, 1006, 1);
    put_row(joined, AF_INET, 1004, 1);
    put_row(joined, AF_INET6, 2006, 1);
    put_end(joined, 1, 0);
    list_passes(joined, "/proc", false, make_csv);
    assert_int_equal(joined->peer.request_count, 1);
    assert_string_equal(joined->output, "1004\r\n1006\r\n2006\r\n");
}

/* Nor do they take more and more memory. */
static void too_many_rows_do_not_wait_for_those_of_the_first_table(void **state)
{
    enum { DATAGRAMS = 100, ROWS = 164, WAITING = 16384 };
    struct joined *joined = *state;
    const char *at;

    for (unsigned row = 0; row < DATAGRAMS * ROWS; row++) {
        put_row(joined, AF_INET6, (uint16_t)(10000 + row), 1);
        if (row % ROWS == ROWS - 1)
            send_datagram(joined);
    }
    put_row(joined, AF_INET, 1004, 1);
    put_end(joined, 1, 0);
    list_passes(joined, "/proc", false, make_csv);
    at = joined->output;
    for (unsigned row = 0; row < DATAGRAMS * ROWS; row++) {
        if (row == WAITING)
            assert_int_equal(strtoul(at, (char **)(uintptr_t)&at, 10), 1004);
        assert_int_equal(strtoul(at, (char **)(uintptr_t)&at, 10), 10000 + row);
    }
    assert_string_equal(at, "\r\n");
}

/* --- Rows without an owner wait for a second look, and those after them wait, too ------------- */

/* A tree with a process that holds the sockets of these ports; 0 ends the list. */
static void make_owner(char *root, const uint16_t *ports)
{
    char path[64], link[32];

    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof path, "%s/7", root);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/7/fd", root);
    assert_int_equal(mkdir(path, 0755), 0);
    for (int fd = 3; *ports; ports++, fd++) {
        snprintf(path, sizeof path, "%s/7/fd/%d", root, fd);
        snprintf(link, sizeof link, "socket:[%d]", 50000 + *ports);
        assert_int_equal(symlink(link, path), 0);
    }
}

static void remove_owner(const char *root, const uint16_t *ports)
{
    char path[64];

    for (int fd = 3; *ports; ports++, fd++) {
        snprintf(path, sizeof path, "%s/7/fd/%d", root, fd);
        assert_int_equal(unlink(path), 0);
    }
    snprintf(path, sizeof path, "%s/7/fd", root);
    assert_int_equal(rmdir(path), 0);
    snprintf(path, sizeof path, "%s/7", root);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(root), 0);
}

static void put_mixed_rows(struct joined *joined)
{
    put_row(joined, AF_INET6, 1006, 1);
    put_row(joined, AF_INET, 1004, 1);
    put_row(joined, AF_INET6, 2006, 1);
    put_row(joined, AF_INET, 2004, 1);
    put_row(joined, AF_INET, 3004, 1);
    put_row(joined, AF_INET6, 3006, 1);
    put_end(joined, 1, 0);
}

static void rows_with_and_without_owners_keep_their_order(void **state)
{
    static const uint16_t ports[][5] = {
        {1004, 3004, 1006, 3006}, {2004, 2006}, {3004, 3006}, {1006, 2006}, {0}};
    struct joined *joined = *state;

    for (size_t i = 0; i < COUNT(ports); i++) {
        char root[] = "/tmp/fastnet-joined-XXXXXX";
        make_owner(root, ports[i]);
        put_mixed_rows(joined);
        list_with(joined, root, false, make_csv, NEED_OWNERS);
        assert_string_equal(joined->output, "1004\r\n2004\r\n3004\r\n1006\r\n2006\r\n3006\r\n");
        free(joined->output);
        put_mixed_rows(joined);
        list_with(joined, root, false, make_netstat, NEED_OWNERS);
        assert_order(joined->output, ":1004 ", ":2004 ");
        assert_order(joined->output, ":2004 ", ":3004 ");
        assert_order(joined->output, ":3004 ", ":1006 ");
        assert_order(joined->output, ":1006 ", ":2006 ");
        assert_order(joined->output, ":2006 ", ":3006 ");
        free(joined->output);
        joined->output = NULL;
        remove_owner(root, ports[i]);
    }
}

/* More than are kept: 16384 before one look, and four times as many before the next one. */
static void many_rows_without_owners_keep_their_order(void **state)
{
    enum { DATAGRAMS = 120, ROWS = 164 };
    static const uint16_t ports[] = {10001, 20000, 40000, 0};
    char root[] = "/tmp/fastnet-joined-XXXXXX";
    struct joined *joined = *state;
    const char *at;

    make_owner(root, ports);
    for (unsigned row = 0; row < DATAGRAMS * ROWS; row++) {
        put_row(joined, AF_INET, (uint16_t)(10000 + row), 1);
        if (row % ROWS == ROWS - 1)
            send_datagram(joined);
    }
    put_end(joined, 1, 0);
    list_with(joined, root, false, make_csv, NEED_OWNERS);
    at = joined->output;
    for (unsigned row = 0; row < DATAGRAMS * ROWS; row++)
        assert_int_equal(strtoul(at, (char **)(uintptr_t)&at, 10), 10000 + row);
    assert_string_equal(at, "\r\n");
    remove_owner(root, ports);
}

static void a_kernel_that_refuses_is_asked_for_each_family(void **state)
{
    struct joined *joined = *state;

    put_end(joined, 1, -EINVAL);
    wire_tcp(&joined->wire, NLM_F_MULTI, 2, 1004, 4);
    put_end(joined, 2, 0);
    put_end(joined, 3, 0);
    list(joined, "/proc");
    assert_int_equal(joined->peer.request_count, 3);
    assert_int_equal(type_of_request(joined, 1), SOCK_DIAG_BY_FAMILY);
    assert_int_equal(type_of_request(joined, 2), SOCK_DIAG_BY_FAMILY);
    assert_non_null(strstr(joined->output, ":1004 "));
    assert_false(joined->report.partial);
}

static void a_failure_after_rows_is_reported_and_nothing_is_asked_again(void **state)
{
    struct joined *joined = *state;

    put_row(joined, AF_INET6, 1006, 1);
    put_row(joined, AF_INET, 1004, 1);
    put_end(joined, 1, -ENOBUFS);
    list(joined, "/proc");
    assert_int_equal(joined->peer.request_count, 1);
    assert_non_null(strstr(joined->output, ":1004 "));
    assert_non_null(strstr(joined->output, ":1006 "));
    assert_true(joined->report.partial);
}

static size_t count_text(const char *text, const char *what)
{
    size_t count = 0;

    while ((text = strstr(text, what))) {
        text += strlen(what);
        count++;
    }
    return count;
}

/* Each family's rows come together, whichever pass found them. */
static void two_passes_over_both_families_are_two_requests(void **state)
{
    struct joined *joined = *state;

    put_row(joined, AF_INET6, 1006, 1);
    put_row(joined, AF_INET, 1004, 1);
    put_end(joined, 1, 0);
    put_row(joined, AF_INET6, 2006, 2); /* missed by the first pass, as the last one */
    put_row(joined, AF_INET6, 1006, 2);
    put_row(joined, AF_INET, 1004, 2);
    put_row(joined, AF_INET, 2004, 2);
    put_end(joined, 2, 0);
    list_passes(joined, "/proc", true, make_netstat);
    assert_int_equal(joined->peer.request_count, 2);
    assert_int_equal(type_of_request(joined, 1), TCPDIAG_GETSOCK);
    assert_order(joined->output, ":1004 ", ":2004 ");
    assert_order(joined->output, ":2004 ", ":1006 ");
    assert_order(joined->output, ":1006 ", ":2006 ");
    assert_int_equal(count_text(joined->output, ":1004 "), 1);
    assert_int_equal(count_text(joined->output, ":1006 "), 1);
    assert_false(joined->report.partial);
}

/* Not only within the window of the last rows. */
static void the_second_pass_repeats_no_row_of_the_second_family(void **state)
{
    enum { DATAGRAMS = 14, ROWS = 180 };
    struct joined *joined = *state;

    for (uint32_t pass = 1; pass <= 2; pass++) {
        for (unsigned row = 0; row < DATAGRAMS * ROWS; row++) {
            put_row(joined, AF_INET6, (uint16_t)(10000 + row), pass);
            if (row % ROWS == ROWS - 1)
                send_datagram(joined);
        }
        put_row(joined, AF_INET, 1004, pass);
        put_end(joined, pass, 0);
    }
    list_passes(joined, "/proc", true, make_netstat);
    assert_int_equal(count_text(joined->output, "\ntcp"), DATAGRAMS * ROWS + 1);
    assert_false(joined->report.partial);
}

static void rows_without_identity_of_both_families_are_counted_together(void **state)
{
    struct joined *joined = *state;

    for (uint32_t pass = 1; pass <= 2; pass++) {
        struct inet_diag_msg message = tcp_message(1006, 0);
        message.idiag_family = AF_INET6;
        for (unsigned row = 0; row < 3; row++) {
            wire_message(&joined->wire, TCPDIAG_GETSOCK, NLM_F_MULTI, pass);
            wire_put(&joined->wire, &message, sizeof message);
        }
        message.idiag_family = AF_INET;
        wire_message(&joined->wire, TCPDIAG_GETSOCK, NLM_F_MULTI, pass);
        wire_put(&joined->wire, &message, sizeof message);
        put_end(joined, pass, 0);
    }
    list_passes(joined, "/proc", true, make_netstat);
    assert_int_equal(count_text(joined->output, "\ntcp"), 4);
    assert_true(report_says(&joined->report, "--exact cannot distinguish 4 rows"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_joined, remove_joined)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_request_lists_both_families_in_netstats_order),
        TEST(the_heading_stays_first_when_the_second_table_is_large),
        TEST(rows_wait_for_those_of_the_first_table_where_a_sink_has_no_clone),
        TEST(too_many_rows_do_not_wait_for_those_of_the_first_table),
        TEST(rows_with_and_without_owners_keep_their_order),
        TEST(many_rows_without_owners_keep_their_order),
        TEST(a_kernel_that_refuses_is_asked_for_each_family),
        TEST(a_failure_after_rows_is_reported_and_nothing_is_asked_again),
        TEST(two_passes_over_both_families_are_two_requests),
        TEST(the_second_pass_repeats_no_row_of_the_second_family),
        TEST(rows_without_identity_of_both_families_are_counted_together),
    };

    return cmocka_run_group_tests_name("joined", tests, NULL, NULL);
}
