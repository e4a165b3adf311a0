/* SPDX-License-Identifier: MIT */
/* Sockets out of /proc/net: whole lines, cut ones, forged ones, and what is told of them. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/net.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/proc/lines.h"
#include "backend/socket/decode.h"
#include "fastnet/array.h"
#include "kit.h"

#define TCP_FIELDS                                                                                 \
    (SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_UID | SOCKET_INODE | SOCKET_TIMER |  \
     SOCKET_RETRANSMITS)

static const char established[] =
    "  52: 0100007F:CB74 0200007F:0016 01 0000000F:00000003 01:0000002A 00000002  1000        3 "
    "3999703 2 0000000041f7f540 81 0 0 1 -1                    ";

/* --- One line --------------------------------------------------------------------------------- */

/* The line is decoded where nothing lies behind it, so that a sanitizer sees a byte too many. */
static int decode(const char *data, size_t length, const struct table *table, struct record *record,
                  char path[SOCKET_PATH_MAX])
{
    char *exact = malloc(length ? length : 1);
    struct line line = {.data = exact, .length = length};
    int result;

    assert_non_null(exact);
    memcpy(exact, data, length);
    memset(record, 0xa5, sizeof *record);
    result = table->family == AF_UNIX ? proc_net_decode_unix(&line, record)
                                      : proc_net_decode_inet(&line, table, record);
    if (result == 0 && table->family == AF_UNIX && path) {
        assert_in_range(record->socket.path.length, 0, SOCKET_PATH_MAX);
        memcpy(path, record->socket.path.data, record->socket.path.length);
        record->socket.path.data = path;
    }
    free(exact);
    return result;
}

static struct record decoded(const char *line, const struct table *table)
{
    struct record record;

    assert_int_equal(decode(line, strlen(line), table, &record, NULL), 0);
    return record;
}

/* Writes an address into a line as the kernel does: as numbers of this machine. */
static void print_address(char *at, int family, const char *address)
{
    uint32_t words[4];

    assert_int_equal(inet_pton(family, address, words), 1);
    for (size_t i = 0; i < (family == AF_INET ? 1 : 4); i++) {
        char digits[9];
        snprintf(digits, sizeof digits, "%08" PRIX32, words[i]);
        memcpy(at + 8 * i, digits, 8);
    }
}

static void refuse(const char *line, const struct table *table)
{
    struct record record;

    assert_int_equal(decode(line, strlen(line), table, &record, NULL), -EBADMSG);
}

static void a_tcp_line_fills_every_field(void **state)
{
    char line[sizeof established];
    struct record record;

    (void)state;
    memcpy(line, established, sizeof line);
    print_address(line + 6, AF_INET, "127.0.0.1");
    print_address(line + 20, AF_INET, "127.0.0.2");
    record = decoded(line, &table_tcp);
    assert_int_equal(record.kind, &kind_socket);
    assert_int_equal(record.has, TCP_FIELDS | SOCKET_POINTER);
    assert_int_equal(record.socket.endpoint, 0x41f7f540);
    assert_true(record.identity != 0);
    assert_int_equal(record.socket.family, AF_INET);
    assert_int_equal(record.socket.protocol, IPPROTO_TCP);
    assert_int_equal(record.socket.state, TCP_ESTABLISHED);
    assert_ip(&record.socket.local.address, "127.0.0.1");
    assert_ip(&record.socket.remote.address, "127.0.0.2");
    assert_int_equal(record.socket.local.port, 0xcb74);
    assert_int_equal(record.socket.remote.port, 22);
    assert_int_equal(record.socket.send_q, 15);
    assert_int_equal(record.socket.recv_q, 3);
    assert_int_equal(record.socket.timer, TIMER_RETRANSMIT);
    assert_int_equal(record.socket.timer_ms, 420);
    assert_int_equal(record.socket.retransmits, 2);
    assert_int_equal(record.socket.uid, 1000);
    assert_int_equal(record.socket.probes, 3);
    assert_int_equal(record.socket.inode, 3999703);
}

static void a_tcp6_address_is_in_network_byte_order(void **state)
{
    char line[] =
        "   1: 0000000000000000FFFF00000100007F:01BB 000080FE000000000000000001000000:E308 "
        "06 00000000:00000000 03:0000176C 00000000     0        0 0 3 0000000000000000";
    struct record record;

    (void)state;
    print_address(line + 6, AF_INET6, "::ffff:127.0.0.1");
    print_address(line + 44, AF_INET6, "fe80::1");
    record = decoded(line, &table_tcp6);
    assert_ip(&record.socket.local.address, "::ffff:127.0.0.1");
    assert_ip(&record.socket.remote.address, "fe80::1");
    assert_int_equal(record.socket.state, TCP_TIME_WAIT);
    assert_int_equal(record.socket.timer, TIMER_TIME_WAIT);
    assert_int_equal(record.socket.timer_ms, 59960);
    assert_int_equal(record.has, TCP_FIELDS & ~(SOCKET_UID | SOCKET_INODE));
}

static void udp_and_raw_have_no_retransmits(void **state)
{
    static const char line[] = " 4542: 0100007F:14E9 00000000:0000 07 00000000:00000340 "
                               "00:00000000 00000007     0        0 4002569 2 000000008554a4fd 9";

    (void)state;
    assert_int_equal(decoded(line, &table_udp).socket.retransmits, 0);
    assert_int_equal(decoded(line, &table_udp).socket.recv_q, 0x340);
    assert_int_equal(decoded(line, &table_raw).socket.protocol, IPPROTO_RAW);
}

static void a_ping_socket_has_no_remote_port_and_is_known_by_its_inode(void **state)
{
    char line[] =
        "   39: 0100007F:1234 0100007F:0009 01 00000000:00000340 00:00000000 00000000     "
        "0        0 4002569 2 0000000000000000 3";
    char *const inode = strstr(line, "4002569");
    uint64_t identity;

    (void)state;
    assert_int_equal(decoded(line, &table_icmp).socket.protocol, IPPROTO_ICMP);
    assert_int_equal(decoded(line, &table_icmp).socket.local.port, 0x1234);
    assert_int_equal(decoded(line, &table_icmp).socket.remote.port, 0);
    assert_int_equal(decoded(line, &table_udp).socket.remote.port, 9);
    identity = decoded(line, &table_icmp).identity;
    assert_true(identity != 0 && decoded(line, &table_udp).identity == 0);
    inode[0]++;
    assert_true(decoded(line, &table_icmp).identity != identity);
    memcpy(inode, "0000000", 7);
    assert_true(decoded(line, &table_icmp).identity == 0);
}

/* What stands behind the pointer, in a record of this line. */
static struct record with_rest(const char *text, const struct table *table, bool unended,
                               struct inet_rest *rest)
{
    char copy[256];
    struct line line = {.data = copy, .length = strlen(text), .unended = unended};
    struct record record;

    memcpy(copy, text, line.length);
    memset(rest, 0, sizeof *rest);
    assert_int_equal(proc_net_decode_inet(&line, table, &record), 0);
    proc_net_decode_rest(&line, rest, &record);
    return record;
}

#define TCP_ROW "   1: 0100007F:26A0 0100007F:D032 01 00000000:0001F3E5 00:00000000 00000000     "
#define UDP_ROW "  999: 0100007F:03E7 00000000:0000 07 00000000:00000900 00:00000000 00000000     "

static void tcp_has_its_timeouts_and_windows_in_ticks_and_packets(void **state)
{
    static const struct {
        const char *rest;
        bool known;
        uint32_t rto, ato, quick, cwnd, ssthresh;
    } lines[] = {
        {"0        0 7002 1 000000008e99f88b 20 8 0 10 -1", true, 200000, 80000, 0, 10,
         TCP_SSTHRESH_NONE},
        {"0        0 7002 1 8e99f88b 300 4 31 7 5                ", true, 3000000, 40000, 31, 7, 5},
        {"0        0 7002 1 000000008e99f88b 20 8 0 10 12\r", true, 200000, 80000, 0, 10, 12},
        {"0        0 0 3 000000008e99f88b", false, 0, 0, 0, 0, 0},
        {"0        0 7002 1 000000008e99f88b 20 8 0 10", false, 0, 0, 0, 0, 0},
        {"0        0 7002 1 000000008e99f88b 20 8 0 10 x", false, 0, 0, 0, 0, 0},
        {"0        0 7002 1 000000008e99f88b 20 8 0 10 12x", false, 0, 0, 0, 0, 0},
        {"0        0 7002 1 000000008e99f88b 429497 8 0 10 -1", false, 0, 0, 0, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(lines); i++) {
        char text[256];
        struct inet_rest rest;
        snprintf(text, sizeof text, TCP_ROW "%s", lines[i].rest);
        const struct record record = with_rest(text, &table_tcp, false, &rest);
        assert_int_equal(!!(record.has & SOCKET_TCP_BASICS), lines[i].known);
        assert_false(record.has & (SOCKET_TCP_INFO | SOCKET_DROPS));
        if (!lines[i].known)
            continue;
        assert_ptr_equal(record.socket.info.data, &rest.info);
        assert_int_equal(rest.info.tcp.rto, lines[i].rto);
        assert_int_equal(rest.info.tcp.ato, lines[i].ato);
        assert_int_equal(rest.info.quick, lines[i].quick);
        assert_int_equal(rest.info.tcp.snd_cwnd, lines[i].cwnd);
        assert_int_equal(rest.info.tcp.snd_ssthresh, lines[i].ssthresh);
    }
}

static void udp_and_raw_have_their_drops(void **state)
{
    static const struct table *const tables[] = {&table_udp, &table_udplite, &table_raw};
    static const struct {
        const char *rest;
        int64_t drops;
    } lines[] = {
        {"0        0 7001 2 00000000b423743a 49", 49},
        {"0        0 7001 2 00000000b423743a 4294967295          ", UINT32_MAX},
        {"0        0 7001 2 00000000b423743a -2", 4294967294},
        {"0        0 7001 2 (____ptrval____) 7", 7},
        {"0        0 7001 2 00000000b423743a 0\r", 0},
        {"0        0 7001 2 00000000b423743a", -1}, /* Linux before 2.6.27 */
        {"0        0 7001 2 00000000b423743a 4294967296", -1},
        {"0        0 7001 2 00000000b423743a 4x", -1},
        {"0        0 7001 ", -1},
    };
    struct inet_rest rest;

    (void)state;
    for (size_t i = 0; i < COUNT(tables) * COUNT(lines); i++) {
        const int64_t drops = lines[i / COUNT(tables)].drops;
        char text[256];
        snprintf(text, sizeof text, UDP_ROW "%s", lines[i / COUNT(tables)].rest);
        const struct record record = with_rest(text, tables[i % COUNT(tables)], false, &rest);
        assert_int_equal(!!(record.has & SOCKET_DROPS), drops >= 0);
        assert_false(record.has & (SOCKET_MEMORY | SOCKET_TCP_BASICS));
        assert_int_equal(socket_drops(&record), drops < 0 ? 0 : drops);
    }
    /* perhaps half of a number */
    assert_false(
        with_rest(UDP_ROW "0        0 7001 2 00000000b423743a 49", &table_udp, true, &rest).has &
        SOCKET_DROPS);
}

static void twins_differ_in_identity_and_a_hidden_address_is_none(void **state)
{
    static const char line[] = "   4: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 "
                               "00000000     0        0 3999696 1 %s 100 0 0 10 0";
    static const char *const hidden[] = {"0000000000000000", "(____ptrval____)", "00000000",
                                         "(null)"};
    char text[256];
    uint64_t first, second;

    (void)state;
    snprintf(text, sizeof text, line, "00000000d88872be");
    first = decoded(text, &table_tcp).identity;
    assert_true(decoded(text, &table_tcp).identity == first);
    snprintf(text, sizeof text, line, "00000000946296f4");
    second = decoded(text, &table_tcp).identity;
    assert_true(first != 0 && second != 0 && first != second);
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        snprintf(text, sizeof text, line, hidden[i]);
        assert_true(decoded(text, &table_tcp).identity == 0);
        assert_false(decoded(text, &table_tcp).has & SOCKET_POINTER);
    }
}

/* The kernel reuses the memory of a socket that went for one that comes. */
static void another_socket_in_the_same_place_is_not_the_same(void **state)
{
    static const char line[] = "   4: 00000000:%04X 0100007F:%04X 01 00000000:00000000 00:00000000 "
                               "00000000     0        0 %d 1 00000000d88872be 20 0 0 10 0";
    char one[256], other[256];

    (void)state;
    snprintf(one, sizeof one, line, 80, 40000, 0);
    snprintf(other, sizeof other, line, 80, 40001, 0);
    assert_true(decoded(one, &table_tcp).identity != decoded(other, &table_tcp).identity);
    snprintf(other, sizeof other, line, 80, 40000, 5);
    assert_true(decoded(one, &table_tcp).identity != decoded(other, &table_tcp).identity);
}

static void unknown_states_stay_as_they_are(void **state)
{
    static const unsigned states[] = {0, 0x0d, 0x63, 0xff};
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        snprintf(text, sizeof text, "%.34s%02X%s", established, states[i], established + 36);
        assert_int_equal(decoded(text, &table_tcp).socket.state, states[i]);
    }
}

static void numbers_are_taken_up_to_their_bounds(void **state)
{
    struct record record = decoded(
        "   0: 0100007F:FFFF FFFFFFFF:0000 01 FFFFFFFF:FFFFFFFF 02:FFFFFFFFFFFFFFFF FFFFFFFF "
        "4294967295 4294967295 18446744073709551615 1 ffffffffffffffff",
        &table_tcp);

    (void)state;
    assert_int_equal(record.socket.uid, UINT32_MAX);
    assert_int_equal(record.socket.send_q, UINT32_MAX);
    assert_int_equal(record.socket.recv_q, UINT32_MAX);
    assert_int_equal(record.socket.probes, UINT32_MAX);
    assert_true(record.socket.inode == UINT64_MAX);
    assert_true(record.socket.timer_ms == UINT64_MAX);
}

#define GOOD_ENDS "   0: 0100007F:0050 00000000:0000 0A "

static void a_line_that_is_none_of_the_kernels_is_refused(void **state)
{
    static const char *const lines[] = {
        "",
        " ",
        "x",
        "0:",
        "   0",
        "   0: 0100007F",
        "   0: 0100007G:0050 00000000:0000 0A",
        "   x: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1 1",
        "   0: 0100007F:00050 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1 1",
        "   0: 0100007F0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1 1",
        "   0: 0100007F:0050 00000000:0000 0AA 00000000:00000000 00:00000000 00000000 0 0 1 1",
        GOOD_ENDS "000000000:00000000 00:00000000 00000000     0        0 1 1",
        GOOD_ENDS "00000000:100000000 00:00000000 00000000     0        0 1 1",
        GOOD_ENDS "00000000:00000000 000:00000000 00000000     0        0 1 1",
        GOOD_ENDS "00000000:00000000 00:00000000 000000000     0        0 1 1",
        GOOD_ENDS "00000000:00000000 00:00000000 00000000    -1        0 1 1",
        GOOD_ENDS "00000000:00000000 00:00000000 00000000 4294967296  0 1 1",
        GOOD_ENDS "00000000:00000000 00:00000000 00000000     0        0 18446744073709551616 1",
        GOOD_ENDS "00000000:00000000 00:00000000 00000000     0        0 12x 1",
        GOOD_ENDS "00000000:00000000 00:00000000 00000000     0        0 12\0011",
        GOOD_ENDS "00000000:00000000 00:00000000\t00000000     0        0 1 1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        refuse(lines[i], &table_tcp);
    refuse(established, &table_tcp6);
}

/* Above all a number that was cut is not taken for a smaller one. */
static void a_line_cut_at_any_byte_is_refused_or_right(void **state)
{
    const struct record whole = decoded(established, &table_tcp);
    const size_t inode_ends = (size_t)(strstr(established, "3999703") - established) + 7;
    struct record record;

    (void)state;
    for (size_t length = 0; length < strlen(established); length++) {
        int result = decode(established, length, &table_tcp, &record, NULL);
        if (length <= inode_ends) {
            assert_int_equal(result, -EBADMSG);
            continue;
        }
        assert_int_equal(result, 0);
        assert_int_equal(record.has | SOCKET_POINTER, whole.has);
        assert_int_equal(record.socket.inode, whole.socket.inode);
        assert_int_equal(record.socket.uid, whole.socket.uid);
    }
}

/* What waits out its time has no user and no inode any more. */
static uint64_t fields_of(const struct record *record)
{
    const bool is_gone = record->socket.timer == TIMER_TIME_WAIT;
    const uint64_t fields = record->identity ? TCP_FIELDS | SOCKET_POINTER : TCP_FIELDS;

    return is_gone ? fields & ~(SOCKET_UID | SOCKET_INODE) : fields;
}

static void a_line_with_any_byte_changed_is_refused_or_a_row(void **state)
{
    char line[sizeof established];
    struct record record;

    (void)state;
    for (size_t at = 0; at < sizeof established - 1; at++)
        for (int byte = 0; byte < 256; byte++) {
            memcpy(line, established, sizeof line);
            line[at] = (char)byte;
            if (decode(line, sizeof line - 1, &table_tcp, &record, NULL) == 0)
                assert_int_equal(record.has, fields_of(&record));
        }
}

/* Returns whether the line is read by columns: then word by word it is the same record. */
static bool is_read_by_columns(const char *data, size_t length, const struct table *table)
{
    char *exact = malloc(length ? length : 1); /* a sanitizer sees a byte too many */
    const struct line line = {.data = exact, .length = length};
    struct record fast, slow;
    bool by_columns;

    assert_non_null(exact);
    memcpy(exact, data, length);
    memset(&fast, 0xa5, sizeof fast);
    memset(&slow, 0xa5, sizeof slow);
    by_columns = proc_net_decode_columns(&line, table, &fast);
    if (by_columns) {
        assert_int_equal(proc_net_decode_words(&line, table, &slow), 0);
        assert_memory_equal(&fast, &slow, sizeof fast);
    }
    free(exact);
    return by_columns;
}

/* As Linux 6.18 writes them, also of users and slots that are wider than their columns. */
static const struct kernel_line {
    const struct table *table;
    const char *text;
} kernel_lines[] = {
    {&table_tcp, established},
    {&table_tcp, "   0: 00000000:1F90 00000000:0000 0A 00000000:00000080 00:00000000 00000000     0"
                 "        0 1 1 0000000000000000 100 0 0 10 0"},
    {&table_tcp, "123456789: 0100007F:1F90 0100007F:AbCd 06 00000000:00000000 03:0000176C 0000000a"
                 " 65534 12345678 0 3 00000000d88872be"},
    {&table_tcp6,
     "   1: 0000000000000000FFFF00000100007F:01BB 000080FE000000000000000001000000:E308 "
     "01 00000009:0000000A 02:0000176C FFFFFFFF  1000        0 4294967295 2 "
     "ffffffff9def0123 20 4 30 10 -1"},
    {&table_udp,
     " 4542: 0100007F:14E9 00000000:0000 07 00000000:00000340 00:00000000 00000000   101"
     "        0 12345678901234567890 2 000000008554a4fd 9"},
    {&table_raw6,
     "   58: 00000000000000000000000000000000:003A 00000000000000000000000000000000:0000"
     " 07 00000000:00000000 00:00000000 00000000     0        0 12345678 2 "
     "000000008554a4fd 0"},
};

static void a_line_of_the_kernel_is_read_by_columns(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(kernel_lines); i++)
        assert_true(is_read_by_columns(kernel_lines[i].text, strlen(kernel_lines[i].text),
                                       kernel_lines[i].table));
}

/* Every byte at every place, and every length. */
static void columns_and_words_give_the_same_row(void **state)
{
    char text[256];
    size_t by_columns = 0, all = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(kernel_lines); i++) {
        const struct kernel_line *line = &kernel_lines[i];
        const size_t length = strlen(line->text);
        for (size_t at = 0; at < length; at++, all++) {
            memcpy(text, line->text, length);
            for (int byte = 0; byte < 256; byte++) {
                text[at] = (char)byte;
                by_columns += is_read_by_columns(text, length, line->table);
            }
            is_read_by_columns(line->text, at, line->table);
        }
    }
    assert_in_range(by_columns, all, 255 * all); /* some of both */
}

static void wider_or_hidden_columns_are_read_by_words(void **state)
{
    static const char *const lines[] = {
        "   0: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000 100000        "
        "0 "
        "12 1 0000000000000000",
        "   0: 0100007F:0050 00000000:0000 0A 00000000:00000000 02:123456789 00000000     0        "
        "0 "
        "12 1 0000000000000000",
        "   0: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        "
        "0 "
        "12 1 (____ptrval____)",
        "   0: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        "
        "0 "
        "12 1 c1234567 1 2 3 4 5 6 7 8",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(lines); i++) {
        assert_false(is_read_by_columns(lines[i], strlen(lines[i]), &table_tcp));
        assert_int_equal(decoded(lines[i], &table_tcp).socket.inode, 12);
    }
}

static void an_overlong_line_is_refused(void **state)
{
    char text[sizeof established];
    struct line line = {.data = text, .length = sizeof established - 1, .cut = true};
    struct record record;

    (void)state;
    memcpy(text, established, sizeof text);
    assert_int_equal(proc_net_decode_inet(&line, &table_tcp, &record), -EBADMSG);
    assert_int_equal(proc_net_decode_unix(&line, &record), -EBADMSG);
}

/* --- One line of unix sockets ----------------------------------------------------------------- */

#define UNIX_NUMBERS "0000000080ab2f27: 00000003 00000000 00010000 0005 01 "

static void a_unix_line_fills_every_field(void **state)
{
    char path[SOCKET_PATH_MAX];
    struct record record;
    static const char line[] = UNIX_NUMBERS "4002605 /run/a b";

    (void)state;
    assert_int_equal(decode(line, sizeof line - 1, &table_unix, &record, path), 0);
    assert_int_equal(record.has, SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_REFCOUNT |
                                     SOCKET_PATH | SOCKET_UNIX_FLAGS);
    assert_int_equal(record.socket.family, AF_UNIX);
    assert_int_equal(record.socket.refcount, 3);
    assert_int_equal(record.socket.flags, 1 << 16);
    assert_int_equal(record.socket.type, SOCK_SEQPACKET);
    assert_int_equal(record.socket.unix_state, SS_UNCONNECTED);
    assert_int_equal(record.socket.state, TCP_LISTEN);
    assert_int_equal(record.socket.inode, 4002605);
    assert_text(&record.socket.path, "/run/a b", 8);
}

/* Where the file is all there is, a forged row must not pass for a real one come again. */
static void a_unix_row_is_another_when_anything_but_refcnt_differs(void **state)
{
    static const char *const others[] = {
        "0000000080ab2f27: 00000003 00000000 00010000 0005 01 7",
        "0000000080ab2f27: 00000003 00000000 00010000 0005 01 7 /run/b",
        "0000000080ab2f27: 00000003 00000000 00010000 0005 01 7 /run/a ",
        "0000000080ab2f27: 00000003 00000000 00010000 0005 01 8 /run/a",
        "0000000080ab2f27: 00000003 00000000 00010000 0005 03 7 /run/a",
        "0000000080ab2f27: 00000003 00000000 00010000 0001 01 7 /run/a",
        "0000000080ab2f27: 00000003 00000000 00000000 0005 01 7 /run/a",
        "0000000080ab2f28: 00000003 00000000 00010000 0005 01 7 /run/a",
    };
    uint64_t identity = decoded(UNIX_NUMBERS "7 /run/a", &table_unix).identity;

    (void)state;
    assert_true(identity != 0);
    assert_true(
        decoded("0000000080ab2f27: 00000009 00000000 00010000 0005 01 7 /run/a", &table_unix)
            .identity == identity);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(decoded(others[i], &table_unix).identity != identity);
    assert_true(
        decoded("0000000000000000: 00000003 00000000 00010000 0005 01 7", &table_unix).identity ==
        0);
}

static void a_unix_socket_may_have_no_name(void **state)
{
    (void)state;
    assert_int_equal(decoded(UNIX_NUMBERS "    7", &table_unix).socket.path.length, 0);
    assert_int_equal(decoded(UNIX_NUMBERS "    7", &table_unix).socket.inode, 7);
}

static void an_abstract_name_has_nuls_where_the_file_has_at_signs(void **state)
{
    char path[SOCKET_PATH_MAX];
    struct record record;
    static const char line[] = UNIX_NUMBERS "    7 @NULs@in@side@@";
    static const char plain[] = UNIX_NUMBERS "    7 /a@b";
    static const char only[] = UNIX_NUMBERS "    7 @";

    (void)state;
    assert_int_equal(decode(line, sizeof line - 1, &table_unix, &record, path), 0);
    assert_text(&record.socket.path, "\0NULs\0in\0side\0\0", 15);
    assert_int_equal(decode(plain, sizeof plain - 1, &table_unix, &record, path), 0);
    assert_text(&record.socket.path, "/a@b", 4);
    assert_int_equal(decode(only, sizeof only - 1, &table_unix, &record, path), 0);
    assert_text(&record.socket.path, "\0", 1);
}

static void a_unix_name_is_at_most_as_long_as_the_kernel_has_them(void **state)
{
    char path[SOCKET_PATH_MAX], line[256];
    struct record record;
    int length = snprintf(line, sizeof line, UNIX_NUMBERS "    7 %108s", "x");

    (void)state;
    assert_int_equal(decode(line, (size_t)length, &table_unix, &record, path), 0);
    assert_int_equal(record.socket.path.length, 108);
    length = snprintf(line, sizeof line, UNIX_NUMBERS "    7 %109s", "x");
    assert_int_equal(decode(line, (size_t)length, &table_unix, &record, path), -EBADMSG);
}

static void a_unix_row_may_hide_its_address(void **state)
{
    struct record record;

    (void)state;
    record = decoded("(____ptrval____): 00000003 00000000 00010000 0005 01 12 /x", &table_unix);
    assert_int_equal(record.socket.inode, 12);
    assert_true(record.identity == 0);
}

/* Every byte at every place: without the first 0 of its address a line is read word by word. */
static void unix_columns_and_words_give_the_same_row(void **state)
{
    char line[] = UNIX_NUMBERS "4002605 @name", path[2][SOCKET_PATH_MAX];
    size_t rows = 0;

    (void)state;
    for (size_t at = 1; at < sizeof line - 1; at++) {
        const char before = line[at];
        for (int byte = 0; byte < 256; byte++) {
            struct record record, other;
            line[at] = (char)byte;
            const int result = decode(line, sizeof line - 1, &table_unix, &record, path[0]);
            assert_int_equal(decode(line + 1, sizeof line - 2, &table_unix, &other, path[1]),
                             result);
            if (result < 0)
                continue;
            assert_text(&other.socket.path, record.socket.path.data, record.socket.path.length);
            other.socket.path = record.socket.path;
            assert_memory_equal(&other, &record, sizeof other);
            rows++;
        }
        line[at] = before;
    }
    assert_in_range(rows, 40 * 16, 60 * 256); /* some of both */
}

static void a_unix_line_that_is_none_of_the_kernels_is_refused(void **state)
{
    static const char *const lines[] = {
        "",
        "break",
        "(____ptrval",
        "(____ptrval_____: 00000003 00000000 00010000 0005 01 12",
        "Num       RefCount Protocol Flags    Type St Inode Path",
        "0000000080ab2f27: 00000003 00000000 00010000 0005 01",
        "0000000080ab2f27: 00000003 00000000 00010000 0005 01 ",
        "0000000080ab2f27: 00000003 00000000 00010000 0005 01 x",
        "0000000080ab2f27: 00000003 00000000 00010000 0005 01 12x",
        "0000000080ab2f27  00000003 00000000 00010000 0005 01 12",
        "0000000080ab2f27: 00000003 00000000 00010000 00005 01 12",
        "0000000080ab2f27: 00000003 00000000 00010000 0005 001 12",
        "00000000080ab2f27: 00000003 00000000 00010000 0005 01 12",
        "0000000080ab2f27: 00000003 00000000 00010000 0005 01 99999999999999999999",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        refuse(lines[i], &table_unix);
}

/* --- Whole files ------------------------------------------------------------------------------ */

static int list(struct stage *stage, const struct table *table)
{
    stage->query.needs = TCP_FIELDS;
    stage->query.exclusive = true;
    return stage_list(stage, &backend_proc_net, table, stage_keep);
}

/* Three rows, with this between the first and the second. */
static void put_around(struct stage *stage, const void *middle, size_t size)
{
    char *text = malloc(1024 + size), line[TCP_LINE_MAX];
    size_t length = strlen(tcp_heading);

    memcpy(text, tcp_heading, length);
    tcp_line(line, 80, 1);
    memcpy(text + length, line, strlen(line));
    length += strlen(line);
    memcpy(text + length, middle, size);
    length += size;
    for (unsigned i = 2; i <= 3; i++) {
        tcp_line(line, 80, i);
        memcpy(text + length, line, strlen(line));
        length += strlen(line);
    }
    tree_put(&stage->tree, "tcp", text, length);
    free(text);
}

static void assert_three_rows(struct stage *stage)
{
    assert_int_equal(list(stage, &table_tcp), 0);
    assert_int_equal(stage->kept.count, 3);
    for (unsigned i = 1; i <= 3; i++)
        assert_int_equal(stage->kept.records[i - 1].socket.inode, i);
}

#define BYTES(literal) (literal), sizeof(literal) - 1

static void a_malformed_line_never_loses_the_rows_around_it(void **state)
{
    static const struct {
        const char *data;
        size_t size;
    } middles[] = {
        {BYTES("rubbish\n")},
        {BYTES("\0\0\0\0\n")},
        {BYTES("   1: 0100007F:0050 00000000:00\n")},
        {BYTES("\xff\xfe\x80\x1b[2J\r\n")},
        {BYTES("   0: \0"
               "0100007F:0050 00000000:0000 0A\n")},
    };
    struct stage *stage = *state;

    for (size_t i = 0; i < sizeof middles / sizeof *middles; i++) {
        put_around(stage, middles[i].data, middles[i].size);
        assert_three_rows(stage);
        assert_true(stage->report.partial);
        assert_int_equal(stage->report.count, 1);
        assert_true(report_says(&stage->report, "/net/tcp: skipped 1 malformed line, the first "
                                                "is line 3"));
    }
}

static void malformed_lines_are_counted_and_reported_in_one_line(void **state)
{
    struct stage *stage = *state;

    put_around(stage, "x\ny\nz\n", 6);
    assert_three_rows(stage);
    assert_int_equal(stage->report.count, 1);
    assert_true(report_says(&stage->report, "skipped 3 malformed lines, the first is line 3"));
}

static void an_overlong_line_never_loses_the_rows_around_it(void **state)
{
    struct stage *stage = *state;
    size_t size = (size_t)3 * LINES_CAPACITY;
    char *middle = malloc(size);

    memset(middle, '7', size);
    middle[size - 1] = '\n';
    put_around(stage, middle, size);
    assert_three_rows(stage);
    assert_true(stage->report.partial);
    assert_true(report_says(&stage->report, "skipped 1 malformed line, the first is line 3"));
    free(middle);
}

static void blank_lines_are_nothing(void **state)
{
    struct stage *stage = *state;

    put_around(stage, "\n\n", 2);
    assert_three_rows(stage);
    assert_int_equal(stage->report.count, 0);
    assert_false(stage->report.partial);
}

static void an_empty_file_is_a_cut_one(void **state)
{
    static const struct table *const tables[] = {&table_tcp, &table_udp6, &table_unix};
    struct stage *stage = *state;
    char told[64];

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        tree_puts(&stage->tree, tables[i]->name, "");
        assert_int_equal(list(stage, tables[i]), 0);
        snprintf(told, sizeof told, "net/%s is empty: it lacks even the heading line",
                 tables[i]->name);
        assert_true(report_says(&stage->report, told));
        assert_true(stage->report.partial);
    }
}

static void a_file_with_just_a_heading_is_an_empty_table(void **state)
{
    struct stage *stage = *state;

    tree_puts(&stage->tree, "tcp", tcp_heading);
    assert_int_equal(list(stage, &table_tcp), 0);
    tree_puts(&stage->tree, "tcp6", tcp6_heading);
    assert_int_equal(list(stage, &table_tcp6), 0);
    tree_puts(&stage->tree, "unix", unix_heading);
    assert_int_equal(list(stage, &table_unix), 0);
    assert_int_equal(stage->kept.count, 0);
    assert_int_equal(stage->report.count, 0);
}

static void a_first_row_without_a_heading_is_a_row(void **state)
{
    struct stage *stage = *state;
    char line[TCP_LINE_MAX];

    tcp_line(line, 80, 1);
    tree_puts(&stage->tree, "tcp", line);
    assert_int_equal(list(stage, &table_tcp), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_false(stage->report.partial);
}

static void a_first_line_that_is_no_heading_is_reported(void **state)
{
    struct stage *stage = *state;
    char line[TCP_LINE_MAX];

    tcp_line(line, 80, 1);
    line[20] = '!';
    tree_puts(&stage->tree, "tcp", line);
    assert_int_equal(list(stage, &table_tcp), 0);
    assert_int_equal(stage->kept.count, 0);
    assert_true(stage->report.partial);
    assert_true(report_says(&stage->report, "skipped 1 malformed line, the first is line 1"));
}

static void a_last_line_without_newline_is_a_row_and_reported(void **state)
{
    struct stage *stage = *state;
    char text[1024], line[TCP_LINE_MAX];

    tcp_line(line, 80, 1);
    snprintf(text, sizeof text, "%s%s%s", tcp_heading, line, line);
    text[strlen(text) - 1] = '\0';
    tree_puts(&stage->tree, "tcp", text);
    assert_int_equal(list(stage, &table_tcp), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_true(stage->report.partial);
    assert_int_equal(stage->report.count, 1);
    assert_true(report_says(&stage->report, "is truncated"));
}

/* A captured file that breaks off: no row is invented, and unless it is between lines, it is told.
 */
static void a_file_cut_at_any_byte_gives_right_rows_only(void **state)
{
    struct stage *stage = *state;
    size_t size;
    char *whole = read_whole("tests/fixtures/zoo/net/tcp", &size);
    size_t start = strcspn(whole, "\n") - 20;

    for (size_t cut = start; cut < start + 500; cut++) {
        size_t lines = 0;
        for (size_t i = 0; i < cut; i++)
            lines += whole[i] == '\n';
        tree_put(&stage->tree, "tcp", whole, cut);
        assert_int_equal(list(stage, &table_tcp), 0);
        assert_in_range(stage->kept.count, lines ? lines - 1 : 0, lines);
        assert_int_equal(stage->report.partial, whole[cut - 1] != '\n');
        static const uint64_t inodes[] = {3999691, 4002065, 3999693, 4002067};
        for (size_t i = 0; i < stage->kept.count; i++)
            assert_int_equal(stage->kept.records[i].socket.inode, inodes[i]);
    }
    free(whole);
}

static void a_missing_file_and_a_missing_directory_are_distinguished(void **state)
{
    struct stage *stage = *state;
    char path[96];

    assert_int_equal(list(stage, &table_udplite), -ENOENT);
    assert_int_equal(stage->report.count, 0);
    snprintf(path, sizeof path, "%s/net", stage->tree.root);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(list(stage, &table_udplite), -ENOTDIR);
}

static void a_refusing_callback_ends_the_dump(void **state)
{
    struct stage *stage = *state;
    struct query query = {
        .table = &table_tcp, .proc_root = "tests/fixtures/zoo", .report = &stage->report};

    stage->kept.stop_after = 5;
    assert_int_equal(backend_proc_net.dump(&query, keep_record, &stage->kept), STOPPED);
    assert_int_equal(stage->kept.count, 5);
    assert_int_equal(stage->report.count, 0);
}

static void captured_files_give_all_their_rows(void **state)
{
    static const struct {
        const struct table *table;
        size_t rows;
    } captured[] = {
        {&table_tcp, 67},    {&table_tcp6, 46},    {&table_udp, 4}, {&table_udp6, 7},
        {&table_udplite, 4}, {&table_udplite6, 4}, {&table_raw, 4}, {&table_raw6, 4},
    };
    struct stage *stage = *state;

    for (size_t i = 0; i < sizeof captured / sizeof *captured; i++) {
        struct query query = {.table = captured[i].table,
                              .proc_root = "tests/fixtures/zoo",
                              .report = &stage->report};
        kept_finish(&stage->kept);
        assert_int_equal(backend_proc_net.dump(&query, keep_record, &stage->kept), 0);
        assert_int_equal(stage->kept.count, captured[i].rows);
        assert_int_equal(stage->report.count, 0);
    }
}

/* Without netlink nobody knows that a name goes on in the next line: that is skipped and told. */
static void a_newline_in_a_name_is_a_malformed_line_when_the_file_is_all_there_is(void **state)
{
    struct stage *stage = *state;
    struct query query = {.table = &table_unix,
                          .proc_root = "tests/fixtures/zoo",
                          .report = &stage->report,
                          .exclusive = true};

    assert_int_equal(backend_proc_net.dump(&query, keep_record, &stage->kept), 0);
    assert_int_equal(stage->kept.count, 38);
    assert_true(report_says(&stage->report, "skipped 2 malformed lines, the first is line 11"));
    assert_true(stage->report.partial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tcp_line_fills_every_field),
        cmocka_unit_test(a_tcp6_address_is_in_network_byte_order),
        cmocka_unit_test(udp_and_raw_have_no_retransmits),
        cmocka_unit_test(tcp_has_its_timeouts_and_windows_in_ticks_and_packets),
        cmocka_unit_test(udp_and_raw_have_their_drops),
        cmocka_unit_test(a_ping_socket_has_no_remote_port_and_is_known_by_its_inode),
        cmocka_unit_test(twins_differ_in_identity_and_a_hidden_address_is_none),
        cmocka_unit_test(another_socket_in_the_same_place_is_not_the_same),
        cmocka_unit_test(unknown_states_stay_as_they_are),
        cmocka_unit_test(numbers_are_taken_up_to_their_bounds),
        cmocka_unit_test(a_line_that_is_none_of_the_kernels_is_refused),
        cmocka_unit_test(a_line_cut_at_any_byte_is_refused_or_right),
        cmocka_unit_test(a_line_with_any_byte_changed_is_refused_or_a_row),
        cmocka_unit_test(a_line_of_the_kernel_is_read_by_columns),
        cmocka_unit_test(columns_and_words_give_the_same_row),
        cmocka_unit_test(wider_or_hidden_columns_are_read_by_words),
        cmocka_unit_test(an_overlong_line_is_refused),
        cmocka_unit_test(a_unix_line_fills_every_field),
        cmocka_unit_test(a_unix_row_is_another_when_anything_but_refcnt_differs),
        cmocka_unit_test(a_unix_socket_may_have_no_name),
        cmocka_unit_test(an_abstract_name_has_nuls_where_the_file_has_at_signs),
        cmocka_unit_test(a_unix_name_is_at_most_as_long_as_the_kernel_has_them),
        cmocka_unit_test(a_unix_row_may_hide_its_address),
        cmocka_unit_test(unix_columns_and_words_give_the_same_row),
        cmocka_unit_test(a_unix_line_that_is_none_of_the_kernels_is_refused),
        ON_STAGE(a_malformed_line_never_loses_the_rows_around_it),
        ON_STAGE(malformed_lines_are_counted_and_reported_in_one_line),
        ON_STAGE(an_overlong_line_never_loses_the_rows_around_it),
        ON_STAGE(blank_lines_are_nothing),
        ON_STAGE(an_empty_file_is_a_cut_one),
        ON_STAGE(a_file_with_just_a_heading_is_an_empty_table),
        ON_STAGE(a_first_row_without_a_heading_is_a_row),
        ON_STAGE(a_first_line_that_is_no_heading_is_reported),
        ON_STAGE(a_last_line_without_newline_is_a_row_and_reported),
        ON_STAGE(a_file_cut_at_any_byte_gives_right_rows_only),
        ON_STAGE(a_missing_file_and_a_missing_directory_are_distinguished),
        ON_STAGE(a_refusing_callback_ends_the_dump),
        ON_STAGE(captured_files_give_all_their_rows),
        ON_STAGE(a_newline_in_a_name_is_a_malformed_line_when_the_file_is_all_there_is),
    };

    return cmocka_run_group_tests_name("proc_net", tests, NULL, NULL);
}
