/* SPDX-License-Identifier: MIT */
/* Counters of the protocols out of /proc/net: pairs of lines, lines of pairs, and whole files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/counter/decode.h"
#include "kit.h"

/* --- Lines ------------------------------------------------------------------------------------ */

static struct line line_of(char *text)
{
    return (struct line){.data = text, .length = strlen(text)};
}

/* The counters of a block as "Protocol.Name=value ...", a bad one as "?". */
static const char *block(const char *names, const char *values)
{
    static char text[512];
    char *one = strdup(names), *other = strdup(values);
    struct line first = line_of(one), second = line_of(other);
    struct snmp_block counters;
    struct record record;
    size_t length = 0;
    int result = snmp_block_init(&counters, &first, &second);

    text[0] = '\0';
    while (result == 0 && (result = snmp_block_next(&counters, &record)) != 0) {
        const struct counter_record *counter = &record.counter;
        if (result < 0)
            length += (size_t)snprintf(text + length, sizeof text - length, "? ");
        else
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%.*s.%.*s=%s%llu ",
                                       counter->first ? ":" : "", (int)counter->protocol.length,
                                       counter->protocol.data, (int)counter->name.length,
                                       counter->name.data, counter->negative ? "-" : "",
                                       (unsigned long long)counter->magnitude);
        result = 0;
    }
    free(one);
    free(other);
    return result < 0 ? "refused" : text;
}

static void names_and_values_are_paired_by_their_places(void **state)
{
    (void)state;
    assert_string_equal(block("Tcp: MaxConn InSegs", "Tcp: -1 12"),
                        ":Tcp.MaxConn=-1 Tcp.InSegs=12 ");
    assert_string_equal(block("Ip:  A\tB ", "Ip: 1 \t 2\t"), ":Ip.A=1 Ip.B=2 ");
    assert_string_equal(block("Ip:", "Ip:"), "");
}

static void values_have_64_bits_and_a_sign(void **state)
{
    (void)state;
    assert_string_equal(block("Ip: A B C", "Ip: 18446744073709551615 -9223372036854775808 -0"),
                        ":Ip.A=18446744073709551615 Ip.B=-9223372036854775808 Ip.C=0 ");
}

static void a_value_that_is_no_number_costs_only_its_counter(void **state)
{
    (void)state;
    assert_string_equal(block("Ip: A B C", "Ip: x 2 3"), "? :Ip.B=2 Ip.C=3 ");
    assert_string_equal(block("Ip: A B", "Ip: 18446744073709551616 2"), "? :Ip.B=2 ");
    assert_string_equal(block("Ip: A B", "Ip: -9223372036854775809 2"), "? :Ip.B=2 ");
    assert_string_equal(block("Ip: A B C D", "Ip: 1x - +1 --1"), "? ? ? ? ");
}

static void lines_that_do_not_belong_together_are_refused(void **state)
{
    (void)state;
    assert_string_equal(block("Ip: A", "Icmp: 1"), "refused");
    assert_string_equal(block("Ip: A", "Ip 1"), "refused");
    assert_string_equal(block("Ip A", "Ip: 1"), "refused");
    assert_string_equal(block("Ip: A B", "Ip: 1"), "refused");
    assert_string_equal(block("Ip: A", "Ip: 1 2"), "refused");
    assert_string_equal(block(": A", ": 1"), "refused");
    assert_string_equal(block("", ""), "refused");
}

static void more_names_than_any_kernel_has_are_refused(void **state)
{
    char *names = malloc(8 + 2 * SNMP_NAMES_MAX), *end = stpcpy(names, "Ip:");

    (void)state;
    for (size_t i = 0; i <= SNMP_NAMES_MAX; i++)
        end = stpcpy(end, " 1");
    assert_string_equal(block(names, names), "refused");
    free(names);
}

static int decode_pair(const char *text, struct record *record)
{
    static char copy[256];
    struct line line = {.data = copy, .length = strlen(text)};

    memcpy(copy, text, line.length);
    return snmp_pair_decode(&line, record);
}

static void a_pair_is_a_name_and_a_value(void **state)
{
    static const char *const bad[] = {"", "Ip6A", "Ip6A x", "Ip6A 1 2", "Ip6A 1x", " "};
    struct record record;

    (void)state;
    assert_int_equal(decode_pair("Ip6InReceives                   \t2", &record), 0);
    assert_int_equal(record.kind, &kind_counter);
    assert_int_equal(record.has, COUNTER_NAME | COUNTER_VALUE | COUNTER_GROWS | COUNTER_SCOPE);
    assert_false(record.counter.machine);
    assert_text(&record.counter.name, "Ip6InReceives", 13);
    assert_int_equal(record.counter.magnitude, 2);
    assert_int_equal(decode_pair("SctpCurrEstab -3", &record), 0);
    assert_true(record.counter.negative && record.counter.magnitude == 3);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(decode_pair(bad[i], &record), -EBADMSG);
}

static void states_and_limits_are_distinguished_from_counters(void **state)
{
    struct record record;

    (void)state;
    assert_int_equal(decode_pair("SctpCurrEstab 3", &record), 0);
    assert_false(record.has & COUNTER_GROWS);
    assert_int_equal(decode_pair("MPCurrEstab 3", &record), 0);
    assert_false(record.has & COUNTER_GROWS);
    assert_int_equal(decode_pair("CurrEsta 3", &record), 0);
    assert_true(record.has & COUNTER_GROWS);
    assert_int_equal(decode_pair("SctpActiveEstabs 3", &record), 0);
    assert_true(record.has & COUNTER_GROWS);
}

static void the_protocol_of_a_name_of_ipv6_ends_with_the_6(void **state)
{
    struct text protocol = snmp_protocol_of((struct text){"Icmp6InType136", 14});

    (void)state;
    assert_text(&protocol, "Icmp6", 5);
    protocol = snmp_protocol_of((struct text){"Other", 5});
    assert_text(&protocol, "Other", 5);
}

/* The counters of a line of sockstat: "PROTOCOL.NAME=value", those of the machine with a "!". */
static const char *sockets(const char *text)
{
    static char said[256];
    char *copy = strdup(text);
    struct line line = line_of(copy);
    struct snmp_block counters;
    struct record record;
    size_t length = 0;
    int result = sockstat_block_init(&counters, &line);

    said[0] = '\0';
    while (result == 0 && (result = snmp_block_next(&counters, &record)) != 0) {
        const struct counter_record *counter = &record.counter;
        assert_true(result < 0 || !(record.has & COUNTER_GROWS));
        length += (size_t)(result < 0 ? snprintf(said + length, sizeof said - length, "? ")
                                      : snprintf(said + length, sizeof said - length,
                                                 "%s%.*s.%.*s%s=%llu ", counter->first ? ":" : "",
                                                 (int)counter->protocol.length,
                                                 counter->protocol.data, (int)counter->name.length,
                                                 counter->name.data, counter->machine ? "!" : "",
                                                 (unsigned long long)counter->magnitude));
        result = 0;
    }
    free(copy);
    return result < 0 ? "refused" : said;
}

static void a_line_of_sockstat_has_names_with_their_values(void **state)
{
    (void)state;
    assert_string_equal(sockets("sockets: used 13"), ":sockets.used=13 ");
    assert_string_equal(sockets("FRAG6: inuse 1 memory 4294967295"),
                        ":FRAG6.inuse=1 FRAG6.memory=4294967295 ");
    assert_string_equal(sockets("UDP: inuse x  used\t3"), "? :UDP.used=3 ");
    assert_string_equal(sockets("RAW:"), "");
}

/* The kernel counts them for all network namespaces together. */
static void orphans_allocations_and_memory_are_those_of_the_machine(void **state)
{
    (void)state;
    assert_string_equal(sockets("TCP: inuse 1 orphan 2 tw 3 alloc 4 mem 5"),
                        ":TCP.inuse=1 TCP.orphan!=2 TCP.tw=3 TCP.alloc!=4 TCP.mem!=5 ");
    assert_string_equal(sockets("UDP: inuse 1 mem 2"), ":UDP.inuse=1 UDP.mem!=2 ");
}

static void a_line_of_sockstat_that_is_cut_or_has_a_name_alone_is_refused(void **state)
{
    struct line cut = {.data = strdup("RAW: inuse 1"), .length = 12, .cut = true};
    struct snmp_block counters;

    (void)state;
    assert_string_equal(sockets("TCP: inuse 1 orphan"), "refused");
    assert_string_equal(sockets("TCP inuse 1"), "refused");
    assert_string_equal(sockets(""), "refused");
    assert_int_equal(sockstat_block_init(&counters, &cut), -EBADMSG);
    free((char *)(uintptr_t)cut.data);
}

/* --- Files ------------------------------------------------------------------------------------ */

struct scene {
    struct stage stage;
    size_t rows;
    size_t refuse; /* the row that is refused, from 1 */
};

static int make(void **state)
{
    stage_make_in(state, sizeof(struct scene));
    return 0;
}

static int take(const struct record *record, void *arg)
{
    struct scene *scene = arg;
    const struct counter_record *counter = &record->counter;

    assert_int_equal(record->has & ~COUNTER_GROWS,
                     COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE | COUNTER_SCOPE);
    if (++scene->rows == scene->refuse)
        return STOPPED;
    return stage_say(&scene->stage, "%s%.*s.%.*s=%llu ", counter->first ? ":" : "",
                     (int)counter->protocol.length, counter->protocol.data,
                     (int)counter->name.length, counter->name.data,
                     (unsigned long long)counter->magnitude);
}

static int list(struct scene *scene, const struct table *table)
{
    scene->rows = 0;
    return stage_list(&scene->stage, &backend_proc_snmp, table, take);
}

static void put_sctp(const struct scene *scene, const char *text)
{
    char path[96];

    snprintf(path, sizeof path, "%s/net/sctp", scene->stage.tree.root);
    mkdir(path, 0755);
    tree_puts(&scene->stage.tree, "sctp/snmp", text);
}

static void remove_sctp(const struct scene *scene)
{
    char path[96];

    snprintf(path, sizeof path, "%s/net/sctp/snmp", scene->stage.tree.root);
    unlink(path);
    snprintf(path, sizeof path, "%s/net/sctp", scene->stage.tree.root);
    rmdir(path);
}

static void files_are_read_in_the_order_of_netstat(void **state)
{
    struct scene *scene = *state;

    tree_puts(&scene->stage.tree, "netstat", "TcpExt: C\nTcpExt: 3\n");
    put_sctp(scene, "SctpD\t4\nSctpE\t5\n");
    tree_puts(&scene->stage.tree, "snmp", "Ip: A\nIp: 1\nTcp: B\nTcp: 2\n");
    assert_int_equal(list(scene, &table_counters), 0);
    assert_string_equal(scene->stage.text,
                        ":Ip.A=1 :Tcp.B=2 :TcpExt.C=3 :Sctp.SctpD=4 Sctp.SctpE=5 ");
    assert_int_equal(scene->stage.report.count, 0);
    remove_sctp(scene);
}

static void ipv6_has_tcp_from_the_file_of_ipv4(void **state)
{
    struct scene *scene = *state;

    tree_puts(&scene->stage.tree, "snmp6",
              "Ip6A\t1\nIp6B\t2\nIcmp6C\t3\nUdp6D\t4\nUdpLite6E\t5\nUdpLite6Udp6\t6\n");
    tree_puts(&scene->stage.tree, "snmp", "Ip: A\nIp: 1\nTcp: B\nTcp: 2\nUdp: C\nUdp: 3\n");
    assert_int_equal(list(scene, &table_counters6), 0);
    assert_string_equal(scene->stage.text,
                        ":Ip6.Ip6A=1 Ip6.Ip6B=2 :Icmp6.Icmp6C=3 :Udp6.Udp6D=4 "
                        ":UdpLite6.UdpLite6E=5 UdpLite6.UdpLite6Udp6=6 :Tcp.B=2 ");
    assert_int_equal(scene->stage.report.count, 0);
}

static void only_the_first_file_has_to_be_there(void **state)
{
    struct scene *scene = *state;
    char net[96];

    assert_int_equal(list(scene, &table_counters), -ENOENT);
    tree_puts(&scene->stage.tree, "snmp", "\nIp: A\nIp: 1\n");
    assert_int_equal(list(scene, &table_counters), 0);
    assert_string_equal(scene->stage.text, ":Ip.A=1 ");
    assert_int_equal(scene->stage.report.count, 0);
    assert_int_equal(list(scene, &table_counters6), -ENOENT);
    assert_int_equal(scene->rows, 0);
    snprintf(net, sizeof net, "%s/net/snmp", scene->stage.tree.root);
    assert_int_equal(unlink(net), 0);
    snprintf(net, sizeof net, "%s/net", scene->stage.tree.root);
    assert_int_equal(rmdir(net), 0);
    assert_int_equal(list(scene, &table_counters), -ENOTDIR);
}

static void without_the_first_file_the_others_are_listed(void **state)
{
    struct scene *scene = *state;

    tree_puts(&scene->stage.tree, "netstat", "TcpExt: C\nTcpExt: 3\n");
    assert_int_equal(list(scene, &table_counters), 0);
    assert_string_equal(scene->stage.text, ":TcpExt.C=3 ");
    assert_true(report_says(&scene->stage.report, "/net/snmp: No such file or directory"));
    assert_true(scene->stage.report.partial);
    tree_puts(&scene->stage.tree, "netstat", ""); /* there is nothing to list */
    assert_int_equal(list(scene, &table_counters), -ENOENT);
}

static void a_further_file_that_cannot_be_read_is_reported(void **state)
{
    struct scene *scene = *state;
    char path[96];

    tree_puts(&scene->stage.tree, "snmp", "Ip: A\nIp: 1\n");
    snprintf(path, sizeof path, "%s/net/netstat", scene->stage.tree.root);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(list(scene, &table_counters), 0);
    assert_string_equal(scene->stage.text, ":Ip.A=1 ");
    assert_true(report_says(&scene->stage.report, "/net/netstat: Is a directory"));
    assert_true(scene->stage.report.partial);
    rmdir(path);
}

static void sockets_are_counted_by_three_files(void **state)
{
    struct scene *scene = *state;

    tree_puts(&scene->stage.tree, "sockstat", "sockets: used 3\nTCP: inuse 1 tw 2\n");
    tree_puts(&scene->stage.tree, "sockstat6", "TCP6: inuse 4\n");
    tree_puts(&scene->stage.tree, "snmp",
              "Ip: CurrEstab\nIp: 9\nTcp: InSegs CurrEstab\nTcp: 7 5\n");
    assert_int_equal(list(scene, &table_sockstat), 0);
    assert_string_equal(scene->stage.text,
                        ":sockets.used=3 :TCP.inuse=1 TCP.tw=2 :TCP6.inuse=4 Tcp.CurrEstab=5 ");
    assert_int_equal(scene->stage.report.count, 0);
    scene->refuse = 4;
    assert_int_equal(list(scene, &table_sockstat), STOPPED);
    assert_int_equal(scene->rows, 4);
}

/* A kernel may lack IPv6; it never counts sockets and not segments. */
static void only_the_sockets_of_ipv6_may_be_missing(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(list(scene, &table_sockstat), -ENOENT);
    tree_puts(&scene->stage.tree, "sockstat", "UDP: inuse 1\nUDP: inuse\n");
    assert_int_equal(list(scene, &table_sockstat), 0);
    assert_string_equal(scene->stage.text, ":UDP.inuse=1 ");
    assert_int_equal(scene->stage.report.count, 2);
    assert_true(report_says(&scene->stage.report, "/net/snmp: No such file or directory"));
    assert_true(report_says(&scene->stage.report,
                            "/net/sockstat: skipped 1 malformed line or counter, "
                            "the first in line 2"));
}

static void sockets_of_ipv6_are_counted_without_those_of_ipv4(void **state)
{
    struct scene *scene = *state;

    tree_puts(&scene->stage.tree, "sockstat6", "TCP6: inuse 4\n");
    tree_puts(&scene->stage.tree, "snmp", "Tcp: CurrEstab\nTcp: 5\n");
    assert_int_equal(list(scene, &table_sockstat), 0);
    assert_string_equal(scene->stage.text, ":TCP6.inuse=4 :Tcp.CurrEstab=5 ");
    assert_true(report_says(&scene->stage.report, "/net/sockstat: No such file or directory"));
    assert_true(scene->stage.report.partial);
}

static void malformed_lines_are_skipped_counted_and_reported(void **state)
{
    struct scene *scene = *state;

    tree_puts(&scene->stage.tree, "snmp", "Ip: A B\nIp: 1\nTcp: B C\nTcp: 2 x\nUdp: D\n");
    assert_int_equal(list(scene, &table_counters), 0);
    assert_string_equal(scene->stage.text, ":Tcp.B=2 ");
    assert_true(report_says(&scene->stage.report,
                            "/net/snmp: skipped 3 malformed lines or counters, the "
                            "first in line 1"));
    tree_puts(&scene->stage.tree, "snmp6", "Ip6A 1\nbad\nIp6B 2\n");
    assert_int_equal(list(scene, &table_counters6), 0);
    assert_true(report_says(&scene->stage.report,
                            "/net/snmp6: skipped 1 malformed line or counter, "
                            "the first in line 2"));
}

static void a_protocol_with_an_endless_name_is_malformed(void **state)
{
    struct scene *scene = *state;
    char name[SNMP_PROTOCOL_MAX + 2] = {0}, text[256];

    memset(name, 'x', SNMP_PROTOCOL_MAX + 1);
    snprintf(text, sizeof text, "%s 1\nIp6B 2\n", name);
    tree_puts(&scene->stage.tree, "snmp", "Tcp: A\nTcp: 1\n");
    tree_puts(&scene->stage.tree, "snmp6", text);
    assert_int_equal(list(scene, &table_counters6), 0);
    assert_string_equal(scene->stage.text, ":Ip6.Ip6B=2 :Tcp.A=1 ");
    assert_true(scene->stage.report.partial);
}

static void files_that_are_cut_or_empty_are_reported(void **state)
{
    struct scene *scene = *state;

    tree_puts(&scene->stage.tree, "snmp", "Ip: A\nIp: 1");
    tree_puts(&scene->stage.tree, "netstat", "");
    assert_int_equal(list(scene, &table_counters), 0);
    assert_string_equal(scene->stage.text, ":Ip.A=1 ");
    assert_true(
        report_says(&scene->stage.report, "/net/snmp is truncated: its last line has no newline"));
    assert_true(report_says(&scene->stage.report, "/net/netstat is empty"));
    assert_true(scene->stage.report.partial);
}

static void a_row_that_is_refused_ends_the_dump(void **state)
{
    struct scene *scene = *state;

    tree_puts(&scene->stage.tree, "snmp", "Ip: A B\nIp: 1 2\n");
    tree_puts(&scene->stage.tree, "netstat", "TcpExt: A B\nTcpExt: 1 2\n");
    tree_puts(&scene->stage.tree, "snmp6", "Ip6A 1\nIp6B 2\n");
    for (scene->refuse = 1; scene->refuse <= 4; scene->refuse++) {
        assert_int_equal(list(scene, &table_counters), STOPPED);
        assert_int_equal(scene->rows, scene->refuse);
    }
    scene->refuse = 2;
    assert_int_equal(list(scene, &table_counters6), STOPPED);
    assert_int_equal(scene->rows, 2);
}

static void the_backend_reads_no_other_table(void **state)
{
    (void)state;
    assert_int_equal(backend_fields(&backend_proc_snmp, &table_tcp), 0);
    assert_int_equal(backend_fields(&backend_proc_snmp, &table_counters),
                     COUNTER_PROTOCOL | COUNTER_NAME | COUNTER_VALUE | COUNTER_GROWS |
                         COUNTER_SCOPE);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, make, stage_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_values_are_paired_by_their_places),
        cmocka_unit_test(values_have_64_bits_and_a_sign),
        cmocka_unit_test(a_value_that_is_no_number_costs_only_its_counter),
        cmocka_unit_test(lines_that_do_not_belong_together_are_refused),
        cmocka_unit_test(more_names_than_any_kernel_has_are_refused),
        cmocka_unit_test(a_pair_is_a_name_and_a_value),
        cmocka_unit_test(states_and_limits_are_distinguished_from_counters),
        cmocka_unit_test(the_protocol_of_a_name_of_ipv6_ends_with_the_6),
        cmocka_unit_test(a_line_of_sockstat_has_names_with_their_values),
        cmocka_unit_test(orphans_allocations_and_memory_are_those_of_the_machine),
        cmocka_unit_test(a_line_of_sockstat_that_is_cut_or_has_a_name_alone_is_refused),
        TEST(files_are_read_in_the_order_of_netstat),
        TEST(ipv6_has_tcp_from_the_file_of_ipv4),
        TEST(only_the_first_file_has_to_be_there),
        TEST(without_the_first_file_the_others_are_listed),
        TEST(a_further_file_that_cannot_be_read_is_reported),
        TEST(sockets_are_counted_by_three_files),
        TEST(only_the_sockets_of_ipv6_may_be_missing),
        TEST(sockets_of_ipv6_are_counted_without_those_of_ipv4),
        TEST(malformed_lines_are_skipped_counted_and_reported),
        TEST(a_protocol_with_an_endless_name_is_malformed),
        TEST(files_that_are_cut_or_empty_are_reported),
        TEST(a_row_that_is_refused_ends_the_dump),
        cmocka_unit_test(the_backend_reads_no_other_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
