/* SPDX-License-Identifier: MIT */
/* A listing carried out: which backend is asked, which rows come, what is told. */
#include <errno.h>
#include <linux/netlink_diag.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/engine.h"
#include "fastnet/predicate.h"
#include "kit.h"

enum { SECTIONS_MAX = 8 };

/* A sink that keeps what it gets. */
struct collector {
    struct sink sink;
    struct writer writer;
    struct kept kept;
    unsigned sections[SECTIONS_MAX];
    size_t section_count, begun, ended;
    size_t fail_after; /* writing fails at the row after so many */
};

struct scene {
    struct tree tree;
    struct peer peer;
    struct wire wire;
    struct engine *engine;
    struct collector sink;
    struct report report;
    struct listing_table tables[4];
    struct listing listing;
};

static void collect_begin(struct sink *sink)
{
    ((struct collector *)sink)->begun++;
}

static void collect_section(struct sink *sink, unsigned section)
{
    struct collector *collector = (struct collector *)sink;

    assert_in_range(collector->section_count, 0, SECTIONS_MAX - 1);
    collector->sections[collector->section_count++] = section;
}

static void collect_row(struct sink *sink, const struct record *record)
{
    struct collector *collector = (struct collector *)sink;

    if (collector->fail_after && collector->kept.count == collector->fail_after)
        sink->writer->error = ENOSPC;
    else
        assert_int_equal(keep_record(record, &collector->kept), 0);
}

static void collect_end(struct sink *sink)
{
    ((struct collector *)sink)->ended++;
}

static int run(struct scene *scene)
{
    static const struct sink_ops ops = {
        .begin = collect_begin, .section = collect_section, .row = collect_row, .end = collect_end};
    struct collector *sink = &scene->sink;
    int result;

    if (!scene->engine) {
        struct netlink *netlink = netlink_create(&scene->peer.netlink);
        assert_non_null(netlink);
        scene->engine = engine_create(netlink);
        assert_non_null(scene->engine);
    }
    sink->sink = (struct sink){&ops, &sink->writer, engine_context(scene->engine)};
    sink->begun = sink->ended = 0;
    if (scene->wire.length) {
        peer_add_wire(&scene->peer, &scene->wire);
        scene->wire.length = 0;
    }
    scene->listing.proc_root = scene->tree.root;
    result = engine_run(scene->engine, &scene->listing, &sink->sink, &scene->report);
    assert_int_equal(sink->begun, 1);
    assert_int_equal(sink->ended, 1);
    return result;
}

/* net/tcp with so many rows, on ports from 1000 on. */
static void put_rows(struct scene *scene, const char *file, unsigned rows)
{
    char text[8192], line[TCP_LINE_MAX];
    int length = snprintf(text, sizeof text, "%s", tcp_heading);

    for (unsigned i = 0; i < rows; i++) {
        tcp_line(line, 1000 + i, 1 + i);
        length += snprintf(text + length, sizeof text - (size_t)length, "%s", line);
        assert_in_range(length, 1, sizeof text - 1);
    }
    tree_puts(&scene->tree, file, text);
}

static void put_tcp(struct scene *scene, unsigned rows)
{
    put_rows(scene, "tcp", rows);
}

static void done(struct scene *scene, uint32_t sequence, int error)
{
    wire_done(&scene->wire, NLM_F_MULTI, sequence, error);
    peer_add_wire(&scene->peer, &scene->wire);
    scene->wire.length = 0;
}

static void assert_ports(const struct scene *scene, const unsigned *ports, size_t count)
{
    assert_int_equal(scene->sink.kept.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(scene->sink.kept.records[i].socket.local.port, ports[i]);
}

#define ASSERT_PORTS(scene, ...)                                                                   \
    assert_ports(scene, (const unsigned[]){__VA_ARGS__},                                           \
                 sizeof(const unsigned[]){__VA_ARGS__} / sizeof(unsigned))

static void assert_silent(const struct scene *scene)
{
    assert_int_equal(scene->report.count, 0);
    assert_false(scene->report.partial);
}

/* --- Which backend ---------------------------------------------------------------------------- */

static void netlink_comes_first_and_proc_is_left_alone(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 2);
    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 80, 1);
    done(scene, 1, 0);
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 80);
    assert_silent(scene);
}

static void a_refusal_falls_back_to_proc_in_silence(void **state)
{
    static const int refusals[] = {EPERM,      EACCES,       ENOENT,          ENOSYS,
                                   EOPNOTSUPP, EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT};
    struct scene *scene = *state;

    put_tcp(scene, 2);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        scene->peer.refusal = -refusals[i];
        kept_finish(&scene->sink.kept);
        assert_int_equal(run(scene), 0);
        ASSERT_PORTS(scene, 1000, 1001);
        assert_silent(scene);
    }
}

static void a_missing_protocol_falls_back_to_proc(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 1);
    done(scene, 1, -ENOENT);
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 1000);
    assert_silent(scene);
}

static void a_fault_before_the_first_row_falls_back_and_is_reported(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 1);
    scene->peer.last_error = -ENOBUFS;
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 1000);
    assert_true(report_says(&scene->report, "tcp: netlink failed: No buffer space available"));
    assert_false(scene->report.partial);
}

/* Or else sockets were listed twice. */
static void after_the_first_row_there_is_no_falling_back(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 5);
    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 80, 1);
    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 81, 2);
    done(scene, 1, -ENOENT);
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 80, 81);
    assert_true(scene->report.partial);
    assert_int_equal(scene->report.count, 1);
    assert_true(report_says(&scene->report, "tcp: netlink failed after 2 rows: No such file"));
}

/* An or without parts. */
static const struct predicate no_row = {.operation = PREDICATE_OR};

static void rows_that_were_filtered_out_count_as_handed_on(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 5);
    scene->listing.where = &no_row;
    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 80, 1);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.kept.count, 0);
    assert_true(report_says(&scene->report, "failed after 1 row:"));
}

static void a_backend_that_was_named_is_the_only_one(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 1);
    scene->listing.backend = BACKEND_NETLINK;
    scene->peer.refusal = -EPERM;
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.kept.count, 0);
    assert_true(scene->report.partial);
    assert_true(report_says(&scene->report, "tcp: netlink: Operation not"));
    scene->report = (struct report){.partial = false};
    scene->listing.backend = BACKEND_PROC;
    scene->peer.request_count = 0;
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 1000);
    assert_int_equal(scene->peer.request_count, 0);
    assert_silent(scene);
}

static void a_table_that_nobody_has_is_missing(void **state)
{
    struct scene *scene = *state;

    scene->peer.refusal = -ENOENT;
    put_tcp(scene, 1);
    scene->tables[1] = (struct listing_table){.table = &table_udp6};
    scene->listing.table_count = 2;
    assert_int_equal(run(scene), 0);
    assert_silent(scene);
    scene->tables[1].missing = "no support for UDP over IPv6";
    assert_int_equal(run(scene), 0);
    assert_true(report_says(&scene->report, "/net/udp6 is missing"));
    assert_false(scene->report.partial);
}

/* Of a tree that was captured nobody knows what its kernel lacks. */
static void a_captured_tree_that_has_no_table_is_a_loss(void **state)
{
    struct scene *scene = *state;

    scene->peer.refusal = -ENOENT;
    assert_int_equal(run(scene), 0);
    assert_true(report_says(&scene->report, "/net/tcp is missing"));
    assert_true(scene->report.partial);
    scene->tables[1] = (struct listing_table){.table = &table_udp};
    scene->listing.table_count = 2;
    scene->report = (struct report){.partial = false};
    assert_int_equal(run(scene), 0);
    assert_true(report_says(&scene->report, "/net has none of these files:"));
    assert_true(scene->report.partial);
    scene->report = (struct report){.partial = false};
    scene->tables[0].missing = "no support for TCP";
    scene->tables[0].if_missing = MISSING_ENDS;
    assert_int_equal(run(scene), 0);
    assert_true(report_says(&scene->report, "/net/tcp is missing"));
    assert_false(report_says(&scene->report, "no support for TCP"));
}

static void a_required_table_that_is_missing_ends_the_listing(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 1);
    scene->tables[0] = (struct listing_table){
        .table = &table_udp, .missing = "no support for UDP", .if_missing = MISSING_ENDS};
    scene->tables[1] = (struct listing_table){.table = &table_tcp};
    scene->listing.table_count = 2;
    scene->peer.refusal = -ENOENT;
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.kept.count, 0);
    assert_true(scene->report.partial);
    scene->tables[0].if_missing = MISSING_IS_NOTED;
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 1000);
}

static void a_missing_table_can_cost_the_status_and_not_the_rest(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 1);
    scene->tables[1] = scene->tables[0];
    scene->tables[0] = (struct listing_table){
        .table = &table_udp, .missing = "no support for UDP", .if_missing = MISSING_COSTS_STATUS};
    scene->tables[2] =
        (struct listing_table){.missing = "no DCCP", .if_missing = MISSING_COSTS_STATUS};
    scene->tables[3] = (struct listing_table){
        .table = &table_vsock, .missing = "no vsock", .if_missing = MISSING_COSTS_STATUS};
    scene->listing.table_count = 4;
    scene->peer.refusal = -ENOENT;
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 1000);
    assert_true(report_says(&scene->report, "/net/udp is missing")); /* of a captured tree */
    assert_true(report_says(&scene->report, "no DCCP"));
    assert_true(report_says(&scene->report, "the kernel lacks the module vsock_diag"));
    assert_true(scene->report.partial && scene->report.ended);
}

/* In the words of another program, whose name does not stand before them. */
static void a_missing_table_can_be_quoted(void **state)
{
    struct scene *scene = *state;

    scene->tables[0] =
        (struct listing_table){.missing = "cannot open it", .if_missing = MISSING_IS_QUOTED};
    put_tcp(scene, 1);
    scene->tables[1] = (struct listing_table){.table = &table_tcp};
    scene->listing.table_count = 2;
    scene->peer.refusal = -ENOENT;
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 1000);
    assert_true(report_says(&scene->report, "cannot open it"));
    assert_true(scene->report.verbatim[0]);
    assert_false(scene->report.partial || scene->report.ended);
}

static void a_table_that_no_backend_knows_is_missing(void **state)
{
    struct scene *scene = *state;

    scene->tables[0] = (struct listing_table){.missing = "no support for SCTP"};
    assert_int_equal(run(scene), 0);
    assert_true(report_says(&scene->report, "no support for SCTP"));
}

static void the_choice_is_made_for_each_table(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 1);
    tree_puts(&scene->tree, "udp",
              "    0: 0100007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0  "
              "      0 77 2 000000008554a4fd 0\n");
    scene->tables[1] = (struct listing_table){.table = &table_udp};
    scene->listing.table_count = 2;
    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 80, 1);
    done(scene, 1, 0);
    done(scene, 2, -ENOENT);
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 80, 53);
    assert_silent(scene);
}

static void proc_is_asked_first_for_fields_that_only_it_has(void **state)
{
    const struct unix_diag_msg diag = {.udiag_family = AF_UNIX,
                                       .udiag_type = SOCK_STREAM,
                                       .udiag_state = TCP_CLOSE,
                                       .udiag_ino = 5};
    struct scene *scene = *state;

    scene->tables[0].table = &table_unix;
    scene->listing.needs.fields = SOCKET_REFCOUNT | SOCKET_PENDING;
    tree_puts(&scene->tree, "unix", "1000: 00000007 00000000 00000000 0001 01 5 /run/a\n");
    wire_message(&scene->wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
    wire_put(&scene->wire, &diag, sizeof diag);
    wire_attribute(&scene->wire, UNIX_DIAG_NAME, "/run/a", 6);
    done(scene, 1, 0);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.kept.count, 1);
    assert_int_equal(scene->sink.kept.records[0].socket.refcount, 7);
    assert_silent(scene);
}

static void rows_that_netlink_does_not_list_are_reported_as_lost(void **state)
{
    struct scene *scene = *state;

    scene->tables[0].table = &table_unix;
    scene->listing.needs.fields = SOCKET_REFCOUNT | SOCKET_PENDING;
    done(scene, 1, 0);
    assert_int_equal(run(scene), 0);
    assert_true(scene->report.partial);
}

/* --- Which rows ------------------------------------------------------------------------------- */

static void a_socket_that_comes_again_is_listed_once(void **state)
{
    struct scene *scene = *state;

    for (uint16_t i = 0; i < 100; i++)
        wire_tcp(&scene->wire, NLM_F_MULTI, 1, (uint16_t)(2000 + i), 1 + i);
    peer_add_wire(&scene->peer, &scene->wire);
    scene->wire.length = 0;
    for (uint16_t i = 90; i < 110; i++)
        wire_tcp(&scene->wire, NLM_F_MULTI, 1, (uint16_t)(2000 + i), 1 + i);
    done(scene, 1, 0);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.kept.count, 110);
    assert_silent(scene);
}

static void put_netlink(struct scene *scene, uint32_t number)
{
    const struct netlink_diag_msg message = {
        .ndiag_family = AF_NETLINK, .ndiag_portid = number, .ndiag_cookie = {number, 0}};

    wire_message(&scene->wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
    wire_put(&scene->wire, &message, sizeof message);
}

/* The kernel lists netlink sockets with groups a second time, behind all others. */
static void a_netlink_socket_that_comes_again_far_away_is_listed_once(void **state)
{
    enum { SOCKETS = 5000, OF_A_DATAGRAM = 250 };
    struct scene *scene = *state;

    scene->tables[0].table = &table_netlink;
    for (uint32_t i = 1; i <= SOCKETS; i++) {
        put_netlink(scene, i);
        if (i % OF_A_DATAGRAM == 0) {
            peer_add_wire(&scene->peer, &scene->wire);
            scene->wire.length = 0;
        }
    }
    put_netlink(scene, 1);
    put_netlink(scene, SOCKETS + 1);
    done(scene, 1, 0);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.kept.count, SOCKETS + 1);
    assert_silent(scene);
}

static void twins_and_rows_without_identity_are_all_listed(void **state)
{
    struct scene *scene = *state;

    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 80, 1);
    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 80, 2);
    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 81, 0);
    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 81, 0);
    done(scene, 1, 0);
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 80, 80, 81, 81);
}

static void rows_of_either_pass_are_listed_once(void **state)
{
    struct scene *scene = *state;

    scene->listing.exact = true;
    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 80, 1);
    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 81, 2);
    done(scene, 1, 0);
    wire_tcp(&scene->wire, NLM_F_MULTI, 2, 83, 3); /* missed by the first pass */
    wire_tcp(&scene->wire, NLM_F_MULTI, 2, 80, 1);
    done(scene, 2, 0);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->peer.request_count, 2);
    ASSERT_PORTS(scene, 80, 81, 83);
    assert_silent(scene);
}

static void rows_without_identity_come_from_one_pass_and_that_is_a_loss(void **state)
{
    struct scene *scene = *state;

    scene->listing.exact = true;
    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 80, 0);
    done(scene, 1, 0);
    wire_tcp(&scene->wire, NLM_F_MULTI, 2, 80, 0);
    wire_tcp(&scene->wire, NLM_F_MULTI, 2, 81, 0);
    done(scene, 2, 0);
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 80);
    assert_true(scene->report.partial);
    assert_true(report_says(
        &scene->report,
        "tcp: rows may be missing: --exact cannot distinguish 2 rows with equal values"));
}

static void a_row_that_a_filter_left_out_is_left_out_once(void **state)
{
    struct scene *scene = *state;
    size_t refused = 0;

    scene->listing.exact = true;
    scene->listing.where = &no_row;
    scene->listing.refused = &refused;
    for (uint32_t pass = 1; pass <= 2; pass++) {
        wire_tcp(&scene->wire, NLM_F_MULTI, pass, 80, 1);
        wire_tcp(&scene->wire, NLM_F_MULTI, pass, 81, 2);
        done(scene, pass, 0);
    }
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.kept.count, 0);
    assert_int_equal(refused, 2);
}

/* It is kept until users have names, and looked at again then. */
static void a_row_that_waits_for_names_is_refused_once(void **state)
{
    const struct field *user = field_find(&kind_socket, "user", strlen("user"));
    const struct predicate nobody = predicate_text(user, "no such user");
    struct scene *scene = *state;
    size_t refused = 0;

    put_tcp(scene, 3);
    scene->peer.refusal = -EPERM;
    scene->listing.sort->field = user;
    scene->listing.where = &nobody;
    scene->listing.refused = &refused;
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.kept.count, 0);
    assert_int_equal(refused, 3);
}

/* With each row that is looked at, until there are so many, another socket is opened. */
static struct {
    struct scene *scene;
    unsigned rows, until;
} opening;

static struct value open_another(const struct cell *cell)
{
    (void)cell;
    if (opening.rows < opening.until) {
        const char *file = opening.scene->tables[0].table->file;
        char path[96];
        /* the pass under way goes on with the file that it opened */
        snprintf(path, sizeof path, "%s/net/%s", opening.scene->tree.root, file);
        assert_int_equal(unlink(path), 0);
        put_rows(opening.scene, file, ++opening.rows);
    }
    return (struct value){.type = VALUE_NUMBER};
}

/* By /proc. */
static void list_while_it_grows(struct scene *scene, const struct table *table, unsigned until)
{
    static const struct field opens = {
        .name = "opens", .fields = SOCKET_ADDRESSES, .value = open_another};
    const struct predicate where = predicate_known(&opens);

    opening.scene = scene;
    opening.rows = 1;
    opening.until = until;
    scene->tables[0].table = table;
    scene->peer.refusal = -EPERM;
    scene->listing.exact = true;
    scene->listing.where = &where;
    put_rows(scene, table->file, 1);
    assert_int_equal(run(scene), 0);
}

/* Its reads end within buckets so often that two passes can miss the same row. */
static void tcp_by_proc_is_read_three_times(void **state)
{
    struct scene *scene = *state;

    list_while_it_grows(scene, &table_tcp, 50);
    ASSERT_PORTS(scene, 1000, 1001, 1002);
    assert_silent(scene);
}

/* The kernel counts rows to find its place. */

static void udp_by_proc_is_read_until_two_passes_are_the_same(void **state)
{
    struct scene *scene = *state;

    list_while_it_grows(scene, &table_udp, 4);
    ASSERT_PORTS(scene, 1000, 1001, 1002, 1003);
    assert_silent(scene);
}

static void udp_by_proc_that_always_changes_is_a_loss(void **state)
{
    struct scene *scene = *state;

    list_while_it_grows(scene, &table_udp, 50);
    assert_true(scene->report.partial);
    assert_true(report_says(&scene->report, "rows may be missing: --exact read "));
}

static void routes_are_read_once_and_may_lack_one_that_stood(void **state)
{
    struct scene *scene = *state;

    scene->tables[0].table = &table_route;
    scene->listing.exact = true;
    done(scene, 1, 0);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->peer.request_count, 1);
    assert_true(scene->report.partial);
    assert_true(report_says(&scene->report, "route: rows may be missing: --exact has no effect"));
}

static void a_captured_tree_is_read_once_and_may_lack_what_its_capture_missed(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 3);
    scene->listing.exact = true;
    scene->listing.backend = BACKEND_PROC;
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 1000, 1001, 1002);
    assert_false(scene->report.partial);
    assert_true(report_says(&scene->report, "rows that the capture missed stay missing"));
}

/* Any user can write rows into the file: without netlink nobody knows which of them are true. */
static void unix_rows_that_netlink_did_not_confirm_are_reported(void **state)
{
    struct scene *scene = *state;
    char expected[128];

    scene->tables[0].table = &table_unix;
    scene->listing.needs.fields = SOCKET_REFCOUNT | SOCKET_PENDING | SOCKET_UID;
    scene->peer.refusal = -EMFILE;
    tree_puts(&scene->tree, "unix",
              "1000: 00000007 00000000 00000000 0001 01 5 @x\n"
              "1001: 00000002 00000000 00010000 0001 01 6 /run/docker.sock\n");
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.kept.count, 2);
    assert_true(scene->report.partial);
    snprintf(expected, sizeof expected,
             "unix: netlink failed: %s; columns that only netlink provides are unknown",
             strerror(EMFILE));
    assert_true(report_says(&scene->report, expected));
    assert_true(report_says(&scene->report, "unix: 1 row of "));
}

static void a_second_pass_that_fails_is_a_loss(void **state)
{
    struct scene *scene = *state;

    scene->listing.exact = true;
    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 80, 1);
    done(scene, 1, 0);
    done(scene, 2, -EIO);
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 80);
    assert_true(scene->report.partial);
    assert_true(report_says(&scene->report, "tcp: cannot read a second time by netlink"));
}

/* How many requests a listing of this table takes; what it asks is answered with an empty table. */
static size_t requests_for(struct scene *scene, const struct table *table, bool exact)
{
    scene->tables[0].table = table;
    scene->listing.exact = exact;
    scene->peer.request_count = scene->sink.section_count = 0;
    assert_int_equal(run(scene), 0);
    return scene->peer.request_count;
}

static void a_second_pass_is_for_rows_that_can_be_distinguished(void **state)
{
    static const struct {
        const struct table *table;
        size_t passes;
    } tables[] = {
        {&table_tcp, 2},
        {&table_flows, 2},
        {&table_flow_one, 1},
        {&table_neighbours, 2},
        {&table_route, 1},
        {&table_route_cache, 1},
        {&table_interfaces, 1},
        {&table_flow_usage, 1},
        {&table_flow_statistics, 1},
        {&table_neighbour_usage, 1},
    };
    struct scene *scene = *state;

    scene->peer.replays = true;
    scene->listing.backend = BACKEND_NETLINK;
    done(scene, 1, 0);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        size_t once = requests_for(scene, tables[i].table, false);
        assert_in_range(once, 1, 2);
        assert_int_equal(requests_for(scene, tables[i].table, true), tables[i].passes * once);
    }
}

static void one_run_after_another_lists_everything_again(void **state)
{
    struct scene *scene = *state;

    scene->peer.replays = true;
    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 80, 1);
    done(scene, 1, 0);
    for (int i = 0; i < 3; i++) {
        kept_finish(&scene->sink.kept);
        assert_int_equal(run(scene), 0);
        ASSERT_PORTS(scene, 80);
    }
}

static void only_rows_that_the_filter_keeps_come(void **state)
{
    const struct predicate odd = predicate_masked(field_find(&kind_socket, "local_port", 10), 1, 1);
    struct scene *scene = *state;

    put_tcp(scene, 5);
    scene->peer.refusal = -EPERM;
    scene->listing.where = &odd;
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 1001, 1003);
}

/* Those of the table, and of these what the listing wants; sorted or not. */
static void a_table_may_have_conditions_of_its_own(void **state)
{
    const struct field *port = field_find(&kind_socket, "local_port", 10);
    const struct predicate odd = predicate_masked(port, 1, 1);
    struct predicate below = predicate_number(port, 1004);
    struct scene *scene = *state;
    size_t refused = 0;

    below.operation = PREDICATE_BELOW;
    put_tcp(scene, 6);
    scene->peer.refusal = -EPERM;
    scene->tables[0].where = &odd;
    scene->listing.where = &below;
    scene->listing.refused = &refused;
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 1001, 1003);
    assert_int_equal(refused, 1); /* what is none of the table was not refused */
    kept_finish(&scene->sink.kept);
    scene->listing.sort->field = port;
    scene->listing.sort->descending = true;
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 1003, 1001);
}

static void a_filter_by_a_field_that_a_backend_lacks_is_a_loss(void **state)
{
    const struct predicate backlog = predicate_known(field_find(&kind_socket, "backlog", 7));
    struct scene *scene = *state;

    put_tcp(scene, 2);
    scene->peer.refusal = -EPERM;
    scene->listing.where = &backlog;
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.kept.count, 0);
    assert_true(scene->report.partial);
    assert_true(report_says(&scene->report, "tcp: the column backlog is not in "));
}

static void sections_are_announced_before_their_rows(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 1);
    tree_puts(&scene->tree, "unix", unix_heading);
    scene->peer.refusal = -EPERM;
    scene->tables[1] = (struct listing_table){.table = &table_tcp6};
    scene->tables[2] = (struct listing_table){.table = &table_unix, .section = 1};
    scene->listing.table_count = 3;
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.section_count, 2);
    assert_int_equal(scene->sink.sections[0], 0);
    assert_int_equal(scene->sink.sections[1], 1);
    scene->listing.sort->field = field_find(&kind_socket, "inode", 5);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.section_count, 4);
    assert_int_equal(scene->sink.sections[3], 1);
}

static void rows_are_sorted_across_tables_of_a_section(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 3);
    scene->peer.refusal = -EPERM;
    tree_puts(&scene->tree, "udp",
              "    0: 0100007F:03E9 00000000:0000 07 00000000:00000000 00:00000000 00000000     0  "
              "      0 77 2 000000008554a4fd 0\n");
    scene->tables[1] = (struct listing_table){.table = &table_udp};
    scene->listing.table_count = 2;
    scene->listing.sort->field = field_find(&kind_socket, "local_port", 10);
    scene->listing.sort->descending = true;
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 1002, 1001, 1001, 1000);
}

static void rows_are_counted_by_a_column(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 3);
    scene->peer.refusal = -EPERM;
    scene->listing.count_by[0] = field_find(&kind_socket, "state", 5);
    scene->listing.count_by_count = 1;
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.kept.count, 1);
    assert_int_equal(scene->sink.kept.records[0].kind, &kind_count);
    assert_int_equal(scene->sink.kept.records[0].count.count, 3);
    assert_int_equal(scene->sink.section_count, 0);
}

/* Of both tables of TCP, by state. */
static void count_states(struct scene *scene)
{
    scene->tables[1] = (struct listing_table){.table = &table_tcp6};
    scene->listing.table_count = 2;
    scene->listing.count_by[0] = field_named(&kind_socket, "state");
    scene->listing.count_by_count = 1;
    tree_puts(&scene->tree, "sockstat", "TCP: inuse 7001 tw 50\n");
    tree_puts(&scene->tree, "snmp", "Tcp: CurrEstab\nTcp: 7000\n");
}

/* One listener. */
static void put_listener(struct scene *scene, uint32_t sequence)
{
    struct inet_diag_msg message = tcp_message(80, 80);

    message.idiag_state = TCP_LISTEN;
    wire_message(&scene->wire, TCPDIAG_GETSOCK, NLM_F_MULTI, sequence);
    wire_put(&scene->wire, &message, sizeof message);
    done(scene, sequence, 0);
}

static bool asked_for_connections(const struct scene *scene, size_t number)
{
    struct {
        struct nlmsghdr header;
        struct inet_diag_req body;
    } request;

    memcpy(&request, scene->peer.requests[number], sizeof request);
    return request.body.idiag_states >> TCP_ESTABLISHED & 1;
}

static void states_are_counted_without_listing_connections(void **state)
{
    static const uint64_t counts[] = {7000, 50, 1};
    struct scene *scene = *state;

    count_states(scene);
    put_listener(scene, 1);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->peer.request_count, 1);
    assert_false(asked_for_connections(scene, 0));
    assert_int_equal(scene->sink.kept.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(scene->sink.kept.records[i].count.count, counts[i]);
    assert_int_equal(scene->report.listed, 7051);
    assert_silent(scene);
}

static void sockets_are_listed_if_rows_are_needed(void **state)
{
    struct scene *scene = *state;
    struct listing *listing = &scene->listing;
    const struct predicate all = {.operation = PREDICATE_AND};

    count_states(scene);
    const struct listing plain = *listing;
    for (unsigned which = 0; which < 6; which++) {
        *listing = plain;
        listing->where = which == 0 ? &all : NULL;
        listing->exact = which == 1;
        listing->backend = which == 2 ? BACKEND_NETLINK : BACKEND_AUTO;
        listing->sum[0] = field_named(&kind_socket, "recv_q");
        listing->sum_count = which == 3;
        listing->count_by[1] = field_named(&kind_socket, which == 4 ? "family" : "uid");
        listing->count_by_count = which >= 4 ? 2 : 1;
        scene->peer.request_count = 0;
        run(scene);
        assert_int_not_equal(scene->peer.request_count, 0);
        assert_true(asked_for_connections(scene, 0));
    }
}

static void states_that_cannot_be_counted_are_listed_in_silence(void **state)
{
    struct scene *scene = *state;

    count_states(scene);
    tree_puts(&scene->tree, "snmp", "Tcp: CurrEstab\nTcp: lots\n");
    put_listener(scene, 1);
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->peer.request_count, 1);
    assert_true(asked_for_connections(scene, 0));
    assert_int_equal(scene->sink.kept.count, 1);
    assert_int_equal(scene->sink.kept.records[0].count.count, 1);
    assert_silent(scene);
}

static void only_the_first_rows_are_shown_and_the_rest_is_counted(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 5);
    scene->peer.refusal = -EPERM;
    scene->listing.most = 2;
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 1000, 1001);
    assert_int_equal(scene->report.listed, 2);
    assert_int_equal(scene->report.unshown, 3);
    assert_false(scene->report.partial);
    kept_finish(&scene->sink.kept);
    scene->report = (struct report){.partial = false};
    scene->listing.sort->field = field_find(&kind_socket, "local_port", 10);
    scene->listing.sort->descending = true;
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 1004, 1003);
}

static void only_the_largest_groups_are_shown_and_all_rows_are_counted(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 5);
    scene->peer.refusal = -EPERM;
    scene->listing.most = 2;
    scene->listing.count_by[0] = field_find(&kind_socket, "local_port", 10);
    scene->listing.count_by_count = 1;
    assert_int_equal(run(scene), 0);
    assert_int_equal(scene->sink.kept.count, 2);
    assert_int_equal(scene->report.listed, 5);
    assert_int_equal(scene->report.unshown, 3);
}

static void a_failing_write_ends_the_listing_at_once(void **state)
{
    struct scene *scene = *state;

    put_tcp(scene, 5);
    scene->peer.refusal = -EPERM;
    scene->sink.fail_after = 2;
    scene->tables[1] = scene->tables[0];
    scene->listing.table_count = 2;
    assert_int_equal(run(scene), -ENOSPC);
    assert_int_equal(scene->sink.kept.count, 2);
}

static void a_cut_dump_is_partial_whatever_the_listing(void **state)
{
    struct scene *scene = *state;

    scene->listing.sort->field = field_find(&kind_socket, "local_port", 10);
    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 81, 1);
    wire_tcp(&scene->wire, NLM_F_MULTI, 1, 80, 2);
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 80, 81);
    assert_true(scene->report.partial);
}

static void lost_interfaces_are_reported_and_rows_are_complete(void **state)
{
    struct scene *scene = *state;

    scene->listing.needs.lookups = NEED_INTERFACES | NEED_LINKS;
    wire_tcp(&scene->wire, NLM_F_MULTI, 7, 80, 1); /* an answer to another request */
    done(scene, 1, 0);
    wire_tcp(&scene->wire, NLM_F_MULTI, 2, 80, 1);
    done(scene, 2, 0);
    assert_int_equal(run(scene), 0);
    ASSERT_PORTS(scene, 80);
    assert_false(scene->report.partial);
    assert_int_equal(scene->report.count, 1);
    assert_non_null(strstr(scene->report.lines[0], "interfaces: some details are missing"));
}

static int begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    tree_make(&scene->tree);
    peer_init(&scene->peer);
    scene->tables[0] = (struct listing_table){.table = &table_tcp};
    scene->listing.tables = scene->tables;
    scene->listing.table_count = 1;
    *state = scene;
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;

    engine_destroy(scene->engine);
    peer_finish(&scene->peer);
    kept_finish(&scene->sink.kept);
    tree_remove(&scene->tree);
    free(scene);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

/* --- Sockets of rows -------------------------------------------------------------------------- */

struct completing {
    unsigned reads, rows;
    int error;
};

static int completing_read(void *arg, const struct listing *listing, struct report *report)
{
    struct completing *completing = arg;

    (void)listing;
    (void)report;
    completing->reads++;
    return completing->error;
}

static void completing_row(void *arg, struct record *record, uint64_t netns)
{
    struct completing *completing = arg;

    assert_int_equal(netns, 0);
    completing->rows++;
    record->socket.age = (struct age){.ms = 7};
    record->has |= SOCKET_AGE;
}

static void sockets_of_rows_are_read_once_and_only_if_a_column_needs_them(void **state)
{
    struct scene *scene = *state;
    struct completing completing = {.reads = 0};
    const struct listing_sockets sockets = {SOCKET_AGE, completing_read, completing_row,
                                            &completing};
    const struct predicate aged = predicate_known(field_named(&kind_socket, "age"));

    put_tcp(scene, 3);
    scene->tables[0].table = &table_tcp;
    scene->listing.table_count = 1;
    scene->listing.backend = BACKEND_PROC;
    scene->listing.sockets = &sockets;
    scene->listing.needs.fields = SOCKET_ADDRESSES;
    assert_int_equal(run(scene), 0);
    assert_int_equal(completing.reads + completing.rows, 0);

    scene->listing.where = &aged;
    assert_int_equal(run(scene), 0);
    assert_int_equal(completing.reads, 1);
    assert_int_equal(completing.rows, 3);
    assert_int_equal(scene->report.listed, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(netlink_comes_first_and_proc_is_left_alone),
        TEST(sockets_of_rows_are_read_once_and_only_if_a_column_needs_them),
        TEST(a_refusal_falls_back_to_proc_in_silence),
        TEST(a_missing_protocol_falls_back_to_proc),
        TEST(a_fault_before_the_first_row_falls_back_and_is_reported),
        TEST(after_the_first_row_there_is_no_falling_back),
        TEST(rows_that_were_filtered_out_count_as_handed_on),
        TEST(a_backend_that_was_named_is_the_only_one),
        TEST(a_table_that_nobody_has_is_missing),
        TEST(a_captured_tree_that_has_no_table_is_a_loss),
        TEST(a_required_table_that_is_missing_ends_the_listing),
        TEST(a_missing_table_can_cost_the_status_and_not_the_rest),
        TEST(a_missing_table_can_be_quoted),
        TEST(a_table_that_no_backend_knows_is_missing),
        TEST(the_choice_is_made_for_each_table),
        TEST(proc_is_asked_first_for_fields_that_only_it_has),
        TEST(rows_that_netlink_does_not_list_are_reported_as_lost),
        TEST(a_socket_that_comes_again_is_listed_once),
        TEST(a_netlink_socket_that_comes_again_far_away_is_listed_once),
        TEST(twins_and_rows_without_identity_are_all_listed),
        TEST(rows_of_either_pass_are_listed_once),
        TEST(rows_without_identity_come_from_one_pass_and_that_is_a_loss),
        TEST(a_row_that_a_filter_left_out_is_left_out_once),
        TEST(a_row_that_waits_for_names_is_refused_once),
        TEST(tcp_by_proc_is_read_three_times),
        TEST(udp_by_proc_is_read_until_two_passes_are_the_same),
        TEST(udp_by_proc_that_always_changes_is_a_loss),
        TEST(routes_are_read_once_and_may_lack_one_that_stood),
        TEST(a_captured_tree_is_read_once_and_may_lack_what_its_capture_missed),
        TEST(unix_rows_that_netlink_did_not_confirm_are_reported),
        TEST(a_second_pass_that_fails_is_a_loss),
        TEST(a_second_pass_is_for_rows_that_can_be_distinguished),
        TEST(one_run_after_another_lists_everything_again),
        TEST(only_rows_that_the_filter_keeps_come),
        TEST(a_table_may_have_conditions_of_its_own),
        TEST(a_filter_by_a_field_that_a_backend_lacks_is_a_loss),
        TEST(sections_are_announced_before_their_rows),
        TEST(rows_are_sorted_across_tables_of_a_section),
        TEST(rows_are_counted_by_a_column),
        TEST(states_are_counted_without_listing_connections),
        TEST(sockets_are_listed_if_rows_are_needed),
        TEST(states_that_cannot_be_counted_are_listed_in_silence),
        TEST(only_the_first_rows_are_shown_and_the_rest_is_counted),
        TEST(only_the_largest_groups_are_shown_and_all_rows_are_counted),
        TEST(a_failing_write_ends_the_listing_at_once),
        TEST(a_cut_dump_is_partial_whatever_the_listing),
        TEST(lost_interfaces_are_reported_and_rows_are_complete),
    };

    return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
