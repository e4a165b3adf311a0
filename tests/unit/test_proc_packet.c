/* SPDX-License-Identifier: MIT */
/* Sockets out of /proc/net/packet and netlink: lines made by hand, cut and twisted. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/proc/lines.h"
#include "backend/socket/decode.h"
#include "fastnet/array.h"
#include "kit.h"

#define PACKET_HEADING "sk               RefCnt Type Proto  Iface R Rmem   User   Inode\n"
#define PACKET_LINE    "00000000cb2ab5ac 3      3    0806   2     1 704    1000   54321 "
#define NETLINK_HEADING                                                                            \
    "sk               Eth Pid        Groups   Rmem     Wmem     Dump  Locks    Drops    Inode\n"
#define NETLINK_LINE                                                                               \
    "000000005e504c1f 15  4294963164 80000001 11       12       0     2        13       54321   "

static struct netlink_rest rest;

static int decode(const struct table *table, const char *text, bool unended, struct record *record)
{
    struct line line = {.length = strlen(text), .unended = unended};
    int result;

    line.data = malloc(line.length + 1); /* the sanitizers see a byte that is read behind it */
    assert_non_null(line.data);
    memcpy(line.data, text, line.length);
    memset(record, 0xa5, sizeof *record);
    result = table == &table_packet ? proc_packet_decode(&line, record)
                                    : proc_netlink_decode(&line, &rest, record);
    free(line.data);
    return result;
}

static struct record decoded(const struct table *table, const char *text)
{
    struct record record;

    assert_int_equal(decode(table, text, false, &record), 0);
    assert_int_equal(record.kind, &kind_socket);
    assert_int_equal(record.socket.family, table->family);
    assert_int_equal(record.socket.protocol, table->protocol);
    assert_int_equal(record.socket.state, TCP_CLOSE);
    return record;
}

/* --- Lines ------------------------------------------------------------------------------------ */

static void an_address_may_be_hidden(void **state)
{
    static const char hidden[] = "(____ptrval____)";
    char packet[] = PACKET_LINE, netlink[] = NETLINK_LINE;

    (void)state;
    memcpy(packet, hidden, strlen(hidden));
    memcpy(netlink, hidden, strlen(hidden));
    assert_int_equal(decoded(&table_packet, packet).socket.inode, 54321);
    assert_int_equal(decoded(&table_netlink, netlink).socket.inode, 54321);
    assert_true(decoded(&table_netlink, netlink).identity == 0);
}

static void a_packet_socket_has_all_that_its_line_says(void **state)
{
    const struct record record = decoded(&table_packet, PACKET_LINE);

    (void)state;
    assert_int_equal(record.has, backend_fields(&backend_proc_packet, &table_packet));
    assert_int_equal(record.socket.refcount, 3);
    assert_int_equal(record.socket.type, SOCK_RAW);
    assert_int_equal(record.socket.ether_protocol, 0x0806);
    assert_int_equal(record.socket.interface, 2);
    assert_int_equal(record.socket.recv_q, 704);
    assert_int_equal(record.socket.send_q, 0);
    assert_int_equal(record.socket.uid, 1000);
    assert_int_equal(record.socket.inode, 54321);
    assert_true(record.identity != 0);
}

static void a_netlink_socket_has_all_that_its_line_says(void **state)
{
    const struct record record = decoded(&table_netlink, NETLINK_LINE);
    const unsigned long expected = 0x80000001;

    (void)state;
    assert_int_equal(record.has, backend_fields(&backend_proc_netlink, &table_netlink));
    assert_int_equal(record.socket.netlink_protocol, 15);
    assert_int_equal(record.socket.portid, 4294963164);
    assert_int_equal(record.socket.recv_q, 11);
    assert_int_equal(record.socket.send_q, 12);
    assert_int_equal(record.socket.refcount, 2);
    assert_int_equal(record.socket.inode, 54321);
    assert_text(&record.socket.groups, (const char *)&expected, sizeof expected);
    assert_true(record.identity != 0);
}

/* Kernels before 3.11 have an address as Dump, or "(null)". */
static void an_old_netlink_line_is_read(void **state)
{
    (void)state;
    assert_int_equal(decoded(&table_netlink, "ffff8800 0   1234   00000000 0        0        "
                                             "(null)   2        0        9")
                         .socket.inode,
                     9);
}

/* The drops of a row, or -1, and its inode, or -1. */
static void assert_rest(const char *text, bool unended, int64_t drops, int64_t inode)
{
    struct record record;

    assert_int_equal(decode(&table_netlink, text, unended, &record), 0);
    assert_int_equal((record.has & SOCKET_DROPS) ? (int64_t)socket_drops(&record) : -1, drops);
    assert_int_equal((record.has & SOCKET_INODE) ? (int64_t)record.socket.inode : -1, inode);
}

/* Linux 2.6.18 has 8 columns, 2.6.32 has 9. */
static void a_netlink_line_of_an_old_kernel_lacks_drops_or_inode(void **state)
{
    (void)state;
    assert_rest("f7c0d800 0   0      00000000 0        0        00000000 2", false, -1, -1);
    assert_rest("f7c0d800 0   0      00000000 0        0        00000000 2        5", false, 5, -1);
    assert_rest("f7c0d800 0   0      00000000 0        0        0 2        5        8", false, 5,
                8);
    assert_rest("f7c0d800 0   0      00000000 0        0        0 2        -1       8", false,
                UINT32_MAX, 8);
    assert_rest("f7c0d800 0   0      00000000 0        0        0 2        5        8", true, 5,
                -1);
    assert_rest("f7c0d800 0   0      00000000 0        0        0 2        5", true, -1, -1);
    assert_rest("f7c0d800 0   0      00000000 0        0        0 2", true, -1, -1);
}

static void a_netlink_port_may_have_a_sign(void **state)
{
    (void)state;
    assert_int_equal(
        decoded(&table_netlink, "f7c0d800 15  -4127  1 0 0 00000000 2 0 9").socket.portid,
        4294963169);
}

static void an_address_that_is_hidden_identifies_nothing(void **state)
{
    (void)state;
    assert_true(decoded(&table_packet, "0000000000000000 3 3 0806 2 1 0 0 5").identity == 0);
    assert_true(decoded(&table_netlink, "0000000000000000 0 5 0 0 0 0 2 0 5").identity == 0);
}

static void sockets_at_one_address_are_distinguished(void **state)
{
    (void)state;
    assert_true(decoded(&table_packet, "00000000cb2ab5ac 3 3 0806 2 1 0 0 5").identity !=
                decoded(&table_packet, "00000000cb2ab5ac 3 3 0806 2 1 0 0 6").identity);
    assert_true(decoded(&table_packet, "00000000cb2ab5ac 3 3 0806 2 1 0 0 5").identity !=
                decoded(&table_packet, "00000000cb2ab5ac 3 3 0806 3 1 0 0 5").identity);
    assert_true(decoded(&table_netlink, "00000000cb2ab5ac 0 5 0 0 0 0 2 0 5").identity !=
                decoded(&table_netlink, "00000000cb2ab5ac 0 6 0 0 0 0 2 0 5").identity);
}

static void the_inode_of_a_line_without_an_end_may_be_half_of_one(void **state)
{
    struct record record;

    (void)state;
    assert_int_equal(decode(&table_packet, "00000000cb2ab5ac 3 3 0806 2 1 0 0 5", true, &record),
                     0);
    assert_false(record.has & SOCKET_INODE);
    assert_int_equal(record.socket.inode, 0);
}

static void lines_that_are_none_are_malformed(void **state)
{
    static const char *const packet[] = {
        "",
        "00000000cb2ab5ac",
        "00000000cb2ab5acX 3      3    0806   2     1 704    1000   54321",
        "00000000cb2ab5ac 4294967296 3 0806 2 1 704 1000 54321",
        "00000000cb2ab5ac 3 65536 0806 2 1 704 1000 54321",
        "00000000cb2ab5ac 3 3 10806 2 1 704 1000 54321",
        "00000000cb2ab5ac 3 3 0806 2147483648 1 704 1000 54321",
        "00000000cb2ab5ac 3 3 0806 2 2 704 1000 54321",
        "00000000cb2ab5ac 3 3 0806 2 1 4294967296 1000 54321",
        "00000000cb2ab5ac 3 3 0806 2 1 704 4294967296 54321",
        "00000000cb2ab5ac 3 3 0806 2 1 704 1000 18446744073709551616",
        "00000000cb2ab5ac 3 3 0806 2 1 704 1000 54321 1",
        "00000000cb2ab5ac 3 3 0806 2 1 704 1000 -1",
    };
    static const char *const netlink[] = {
        "000000005e504c1f 256 1 00000000 11 12 0 2 13 54321",
        "000000005e504c1f 15 4294967296 00000000 11 12 0 2 13 54321",
        "000000005e504c1f 15 1 100000000 11 12 0 2 13 54321",
        "000000005e504c1f 15 1 00000000 4294967296 12 0 2 13 54321",
        "000000005e504c1f 15 1 00000000 11 4294967296 0 2 13 54321",
        "000000005e504c1f 15 1 00000000 11 12 0",
        "000000005e504c1f 15 --1 00000000 11 12 0 2 13 54321",
        "000000005e504c1f 15 1 00000000 11 12 0 2 13 x",
        "000000005e504c1f 15 1 00000000 11 12 0 2 13 54321 more",
    };
    struct record record;

    (void)state;
    for (size_t i = 0; i < COUNT(packet); i++)
        assert_int_equal(decode(&table_packet, packet[i], false, &record), -EBADMSG);
    for (size_t i = 0; i < COUNT(netlink); i++)
        assert_int_equal(decode(&table_netlink, netlink[i], false, &record), -EBADMSG);
}

/* --- Files ------------------------------------------------------------------------------------ */

static void list_file(struct stage *stage, const struct backend *backend, const struct table *table,
                      const char *text)
{
    assert_int_equal(stage_list(stage, backend, table, stage_keep), -ENOENT);
    tree_puts(&stage->tree, table->file, text);
    assert_int_equal(stage_list(stage, backend, table, stage_keep), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_true(report_says(&stage->report, "skipped 1 malformed line, the first is line 3"));
    assert_int_equal(stage->report.count, 1);
    assert_true(stage->report.partial);
}

static void a_file_gives_its_rows_and_malformed_lines_are_reported(void **state)
{
    list_file(*state, &backend_proc_packet, &table_packet,
              PACKET_HEADING PACKET_LINE "\nnonsense\n" PACKET_LINE "\n");
    list_file(*state, &backend_proc_netlink, &table_netlink,
              NETLINK_HEADING NETLINK_LINE "\nnonsense\n" NETLINK_LINE "\n");
}

/* Each table has the backends that know it, and no others. */
static void a_table_is_of_the_backend_of_its_file(void **state)
{
    (void)state;
    assert_int_equal(backend_fields(&backend_proc_packet, &table_netlink), 0);
    assert_int_equal(backend_fields(&backend_proc_netlink, &table_packet), 0);
    assert_int_equal(backend_fields(&backend_proc_net, &table_packet), 0);
    assert_int_equal(backend_fields(&backend_proc_net, &table_vsock), 0);
    assert_true(backend_counts_rows(&backend_proc_packet, &table_packet));
    assert_true(backend_counts_rows(&backend_proc_netlink, &table_netlink));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_may_be_hidden),
        cmocka_unit_test(a_packet_socket_has_all_that_its_line_says),
        cmocka_unit_test(a_netlink_socket_has_all_that_its_line_says),
        cmocka_unit_test(an_old_netlink_line_is_read),
        cmocka_unit_test(a_netlink_line_of_an_old_kernel_lacks_drops_or_inode),
        cmocka_unit_test(a_netlink_port_may_have_a_sign),
        cmocka_unit_test(an_address_that_is_hidden_identifies_nothing),
        cmocka_unit_test(sockets_at_one_address_are_distinguished),
        cmocka_unit_test(the_inode_of_a_line_without_an_end_may_be_half_of_one),
        cmocka_unit_test(lines_that_are_none_are_malformed),
        ON_STAGE(a_file_gives_its_rows_and_malformed_lines_are_reported),
        cmocka_unit_test(a_table_is_of_the_backend_of_its_file),
    };

    return cmocka_run_group_tests_name("proc_packet", tests, NULL, NULL);
}
