/* SPDX-License-Identifier: MIT */
/* How much is used: what is read for it, what becomes of what is missing, and what people see. */
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/summary/summary.h"
#include "fastnet/array.h"
#include "fastnet/layouts.h"
#include "kit.h"

/* "tcp.orphans=3/4", memory in pages: "tcp.memory=2p/9p!8p"; '*' stands before the machine's. */
static int say(const struct record *record, void *arg)
{
    const struct summary_record *summary = &record->summary;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const struct {
        uint64_t field, number;
        const char *before, *behind;
    } numbers[] = {
        {SUMMARY_VALUE, summary->value, "", ""},
        {SUMMARY_LIMIT, summary->limit, "/", ""},
        {SUMMARY_BYTES, summary->bytes / page, "", "p"},
        {SUMMARY_LIMIT_BYTES, summary->limit_bytes / page, "/", "p"},
        {SUMMARY_PRESSURE, summary->pressure_bytes / page, "!", "p"},
    };

    assert_ptr_equal(record->kind, &kind_summary);
    stage_say(arg, "%s%.*s.%.*s=", summary->machine ? "*" : "", (int)summary->subject.length,
              summary->subject.data, (int)summary->name.length, summary->name.data);
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (record->has & numbers[i].field)
            stage_say(arg, "%s%llu%s", numbers[i].before, (unsigned long long)numbers[i].number,
                      numbers[i].behind);
    return stage_say(arg, " ");
}

static int list(struct stage *stage, const struct backend *backend, struct netlink *netlink)
{
    stage->query.netlink = netlink;
    return stage_list(stage, backend, &table_summary, say);
}

static int list_files(struct stage *stage)
{
    return list(stage, &backend_proc_summary, NULL);
}

static void put(const struct stage *stage, const char *path, const char *text)
{
    tree_put_file(&stage->tree, path, text);
}

static void put_counters(const struct stage *stage)
{
    put(stage, "net/sockstat",
        "sockets: used 153\nTCP: inuse 5 orphan 3 tw 7 alloc 90 mem 9\n"
        "UDP: inuse 4 mem 2\nUDPLITE: inuse 1\nRAW: inuse 2\n"
        "FRAG: inuse 6 memory 4096\n");
    put(stage, "net/sockstat6",
        "TCP6: inuse 2\nUDP6: inuse 3\nUDPLITE6: inuse 0\nRAW6: inuse 1\n"
        "FRAG6: inuse 0 memory 0\n");
    put(stage, "net/snmp", "Tcp: MaxConn CurrEstab\nTcp: -1 4\n");
}

static int make(void **state)
{
    put_counters(stage_make_in(state, sizeof(struct stage)));
    return 0;
}

/* --- What is read ----------------------------------------------------------------------------- */

static void counters_alone_make_rows_without_limits(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(list_files(stage), 0);
    assert_string_equal(
        stage->text,
        "all.sockets=153 tcp.sockets=7 tcp.ESTABLISHED=4 tcp.TIME_WAIT=7 *tcp.allocated=90 "
        "*tcp.orphans=3 *tcp.memory=9p udp.sockets=7 *udp.memory=2p udplite.sockets=1 "
        "raw.sockets=3 other.sockets=135 frag.datagrams=6 frag.memory=1p frag6.datagrams=0 "
        "frag6.memory=0p ");
    assert_int_equal(stage->report.count, 0);
}

static void limits_are_beside_the_numbers_that_they_limit(void **state)
{
    struct stage *stage = *state;

    put(stage, "sys/net/ipv4/tcp_max_tw_buckets", "100\n");
    put(stage, "sys/net/ipv4/tcp_max_orphans", "200\n");
    put(stage, "sys/net/ipv4/tcp_mem", "10\t20\t30\n");
    put(stage, "sys/net/ipv4/udp_mem", "40\t50\t60\n");
    put(stage, "sys/net/ipv4/ipfrag_high_thresh", "8192\n");
    put(stage, "sys/net/netfilter/nf_conntrack_count", "12\n");
    put(stage, "sys/net/netfilter/nf_conntrack_max", "99\n");
    put(stage, "sys/fs/file-nr", "1000\t0\t5000\n");
    assert_int_equal(list_files(stage), 0);
    assert_string_equal(
        stage->text,
        "all.sockets=153 tcp.sockets=7 tcp.ESTABLISHED=4 tcp.TIME_WAIT=7/100 *tcp.allocated=90 "
        "*tcp.orphans=3/200 *tcp.memory=9p/30p!20p udp.sockets=7 *udp.memory=2p/60p!50p "
        "udplite.sockets=1 raw.sockets=3 other.sockets=135 frag.datagrams=6 frag.memory=1p/2p "
        "frag6.datagrams=0 "
        "frag6.memory=0p flows.tracked=12/99 *files.open=1000/5000 ");
}

static void a_limit_that_is_malformed_or_no_limit_is_unknown(void **state)
{
    struct stage *stage = *state;

    put(stage, "sys/net/ipv4/tcp_max_orphans", "many\n");
    put(stage, "sys/net/ipv4/tcp_mem", "10\t20\n");
    put(stage, "sys/net/netfilter/nf_conntrack_count", "12\n");
    put(stage, "sys/net/netfilter/nf_conntrack_max", "0\n");
    assert_int_equal(list_files(stage), 0);
    assert_non_null(strstr(stage->text, "*tcp.orphans=3 *tcp.memory=9p "));
    assert_non_null(strstr(stage->text, "flows.tracked=12 "));
    assert_true(report_says(&stage->report, "sys/net/ipv4/tcp_max_orphans: malformed"));
    assert_true(report_says(&stage->report, "sys/net/ipv4/tcp_mem: malformed"));
    assert_false(stage->report.partial);
    put(stage, "sys/fs/file-nr", "1\n");
    assert_int_equal(list_files(stage), 0);
    assert_true(stage->report.partial);
}

static void sockets_of_other_families_are_counted_by_name(void **state)
{
    struct stage *stage = *state;

    put(stage, "net/protocols",
        "protocol  size sockets  memory press maxhdr  slab module     cl co di ac\n"
        "PACKET    1600      3      -1   NI       0   no   kernel      n  n  n  n\n"
        "UNIX-STREAM 1152    20     -1   NI       0   yes  kernel      y  n  n  n\n"
        "UNIX      1152      2      -1   NI       0   yes  kernel      y  n  n  n\n"
        "SOMETHING 1152      2      -1   NI       0   yes  kernel      y  n  n  n\n"
        "NETLINK   1096     -1      -1   NI       0   no   kernel      n  n  n  n\n"
        "XDP       1088\n");
    assert_int_equal(list_files(stage), 0);
    assert_non_null(strstr(
        stage->text, " raw.sockets=3 unix.sockets=22 packet.sockets=3 other.sockets=110 frag."));
    assert_null(strstr(stage->text, "netlink"));
    assert_null(strstr(stage->text, "xdp"));
    assert_int_equal(stage->report.count, 0);
}

static void without_counters_there_is_no_summary(void **state)
{
    struct stage *stage = *state;
    static const char *const files[] = {"sockstat", "sockstat6", "snmp"};
    char path[128];

    stage->kept.answer = STOPPED;
    assert_int_equal(list_files(stage), STOPPED);
    assert_string_equal(stage->text, "all.sockets=153 ");
    stage->kept.answer = 0;
    for (size_t i = 0; i < COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/net/%s", stage->tree.root, files[i]);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(list_files(stage), i < 2 ? 0 : -ENOENT);
        if (i == 0) /* no sum of IPv6 alone */
            assert_string_equal(stage->text,
                                "tcp.ESTABLISHED=4 frag6.datagrams=0 frag6.memory=0p ");
    }
}

static void counters_that_cannot_be_read_cost_their_rows(void **state)
{
    struct stage *stage = *state;
    char path[128];

    put(stage, "sys/fs/file-nr", "1000\t0\t5000\n");
    snprintf(path, sizeof path, "%s/net/sockstat", stage->tree.root);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(list_files(stage), 0);
    assert_string_equal(stage->text, "*files.open=1000/5000 ");
    assert_true(report_says(&stage->report, "net/sockstat: Is a directory"));
    assert_true(stage->report.partial);
    assert_int_equal(rmdir(path), 0);
}

/* --- TCP by state ----------------------------------------------------------------------------- */

static void put_socket(struct wire *wire, uint8_t state, uint16_t port)
{
    struct inet_diag_msg message = tcp_message(port, port);

    message.idiag_state = state;
    wire_message(wire, TCPDIAG_GETSOCK, NLM_F_MULTI, 1);
    wire_put(wire, &message, sizeof message);
}

/* The answer about IPv4, and that about IPv6, which is empty. */
static int list_answers(struct stage *stage, struct wire *wire, int error)
{
    struct peer peer;
    struct netlink *netlink;
    int result;

    peer_init(&peer);
    wire_done(wire, NLM_F_MULTI, 1, error);
    peer_add_wire(&peer, wire);
    wire->length = 0;
    wire_done(wire, NLM_F_MULTI, 2, 0);
    peer_add_wire(&peer, wire);
    netlink = netlink_create(&peer.netlink);
    result = list(stage, &backend_summary, netlink);
    netlink_destroy(netlink);
    peer_finish(&peer);
    return result;
}

static void every_state_has_a_row(void **state)
{
    struct stage *stage = *state;
    struct wire wire = {.length = 0};

    put_socket(&wire, TCP_LISTEN, 1);
    put_socket(&wire, TCP_LISTEN, 2);
    put_socket(&wire, TCP_CLOSE_WAIT, 3);
    put_socket(&wire, TCP_SYN_SENT, 4);
    assert_int_equal(list_answers(stage, &wire, 0), 0);
    assert_non_null(
        strstr(stage->text,
               "tcp.sockets=7 tcp.LISTEN=2 tcp.ESTABLISHED=3 tcp.SYN_SENT=1 tcp.SYN_RECV=0 "
               "tcp.FIN_WAIT1=0 tcp.FIN_WAIT2=0 tcp.TIME_WAIT=7 tcp.CLOSE_WAIT=1 tcp.LAST_ACK=0 "
               "tcp.CLOSING=0 *tcp.allocated=90 "));
    assert_int_equal(stage->report.count, 0);
}

static void if_sockets_cannot_be_listed_the_counters_are_left(void **state)
{
    struct stage *stage = *state;
    struct wire wire = {.length = 0};

    assert_int_equal(list_answers(stage, &wire, -EPERM), 0);
    assert_non_null(
        strstr(stage->text, "tcp.sockets=7 tcp.ESTABLISHED=4 tcp.TIME_WAIT=7 *tcp.allocated=90 "));
    assert_true(report_says(&stage->report, "cannot count TCP sockets by state"));
    assert_true(stage->report.partial);
}

/* --- How it is shown -------------------------------------------------------------------------- */

static void promised_columns_are_there(void **state)
{
    static const char *const promised[] = {
        "subject",     "name",           "value",        "limit", "bytes",
        "limit_bytes", "pressure_bytes", "percent_full", "scope", "sysctl"};

    (void)state;
    ASSERT_NAMES(&kind_summary, promised);
}

#define ROW(of_subject, of_name, ...)                                                              \
    {                                                                                              \
        .kind = &kind_summary, .summary = {                                                        \
            .subject = TEXT_LITERAL(of_subject),                                                   \
            .name = TEXT_LITERAL(of_name),                                                         \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static void the_part_of_a_limit_is_in_percent(void **state)
{
    struct record record = ROW("tcp", "orphans", .value = 1, .limit = 3);

    (void)state;
    record.has = SUMMARY_VALUE | SUMMARY_LIMIT;
    assert_field("percent_full", &record, "33.333");
    assert_field("scope", &record, "namespace");
    assert_field("sysctl", &record, "-");
    record.summary.limit = 0;
    assert_field("percent_full", &record, "-");
    record.has = SUMMARY_VALUE;
    assert_field("percent_full", &record, "-");
    record.summary.bytes = 5;
    record.summary.limit_bytes = 4;
    record.has = SUMMARY_BYTES | SUMMARY_LIMIT_BYTES;
    assert_field("percent_full", &record, "125.000");
    assert_field("value", &record, "-");
}

static const char *shown(const struct summary_layout *layout, const struct record *records,
                         size_t count)
{
    struct output output;
    struct sink *sink =
        sink_create(&sink_summary, layout, output_begin(&output), &(struct context){.hosts = NULL});

    assert_non_null(sink);
    sink_begin(sink);
    for (size_t i = 0; i < count; i++)
        sink->ops->row(sink, &records[i]);
    sink_end(sink);
    return output_end(&output, sink);
}

static void people_see_values_beside_limits(void **state)
{
    struct record records[] = {
        ROW("all", "sockets", .value = 0),
        ROW("tcp", "sockets", .value = 12),
        ROW("tcp", "SYN_SENT", .value = 0),
        ROW("tcp", "CLOSE_WAIT", .value = 4),
        ROW("tcp", "TIME_WAIT", .value = 90, .limit = 100),
        ROW("tcp", "orphans", .value = 100, .limit = 100, .machine = true),
        ROW("tcp", "memory", .bytes = 2048, .limit_bytes = 4096, .pressure_bytes = 2048,
            .machine = true),
        ROW("xdp", "sockets", .value = 0),
        ROW("other", "sockets", .value = 3, .unnamed = true),
        ROW("frag", "memory", .bytes = 5000),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(records); i++)
        records[i].has = records[i].summary.bytes ? SUMMARY_BYTES : SUMMARY_VALUE;
    records[4].has |= SUMMARY_LIMIT;
    records[5].has |= SUMMARY_LIMIT;
    records[6].has |= SUMMARY_LIMIT_BYTES | SUMMARY_PRESSURE;
    assert_string_equal(
        shown(&(struct summary_layout){.header = true}, records, COUNT(records)),
        "                          USED       LIMIT    FULL\n"
        "all sockets                  0\n"
        "tcp sockets                 12\n"
        "  CLOSE_WAIT                 4\n"
        "  TIME_WAIT                 90         100  90.0 %  close to its limit\n"
        "  orphans                  100         100 100.0 %  whole machine  at its limit\n"
        "  memory               2.0 KiB     4.0 KiB  50.0 %  pressure from 2.0 KiB  whole machine"
        "  under pressure\n"
        "other sockets                3                      unlisted, or other families\n"
        "frag memory            4.9 KiB\n");
    records[4].summary.value = 89;
    assert_string_equal(shown(&(struct summary_layout){.colour = true}, &records[4], 2),
                        "tcp TIME_WAIT               89         100  89.0 %\n"
                        "  orphans                  100         100 100.0 %  whole machine  "
                        "\033[1;31mat its limit\033[0m\n");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make, stage_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(counters_alone_make_rows_without_limits),
        TEST(limits_are_beside_the_numbers_that_they_limit),
        TEST(a_limit_that_is_malformed_or_no_limit_is_unknown),
        TEST(sockets_of_other_families_are_counted_by_name),
        TEST(without_counters_there_is_no_summary),
        TEST(counters_that_cannot_be_read_cost_their_rows),
        TEST(every_state_has_a_row),
        TEST(if_sockets_cannot_be_listed_the_counters_are_left),
        cmocka_unit_test(promised_columns_are_there),
        cmocka_unit_test(the_part_of_a_limit_is_in_percent),
        cmocka_unit_test(people_see_values_beside_limits),
    };

    return cmocka_run_group_tests_name("summary", tests, NULL, NULL);
}
