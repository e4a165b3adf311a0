/* SPDX-License-Identifier: MIT */
/* What options of ss show behind the columns, and on lines of their own. */
#include <linux/filter.h>
#include <linux/packet_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/kernel_info.h"
#include "kit.h"
#include "ss_rows.h"

enum { FAMILY_XDP = 44 }; /* AF_XDP of linux/socket.h */

static const struct ss_layout timers = {.timers = true};
static const struct ss_layout extended = {.extended = true};
static const struct ss_layout extended_line = {.extended = true, .one_line = true};
static const struct ss_layout memory = {.memory = true};
static const struct ss_layout info = {.info = true};

static struct record tcp(uint64_t fields)
{
    struct record record = tcp_row("192.0.2.1", 1, "192.0.2.2", 2);

    record.has |= fields;
    return record;
}

/* --- Internet --------------------------------------------------------------------------------- */

static const char *timer(uint8_t kind, uint64_t milliseconds, uint8_t count)
{
    struct record record = tcp(SOCKET_TIMER | SOCKET_TIMER_COUNT);

    record.socket.timer = kind;
    record.socket.timer_ms = milliseconds;
    record.socket.timer_count = count;
    return ss_tokens(&timers, &record);
}

static void a_timer_has_a_name_a_time_and_a_count(void **state)
{
    (void)state;
    assert_string_equal(timer(TIMER_OFF, 5, 0), "");
    assert_string_equal(timer(TIMER_RETRANSMIT, 5, 3), " timer:(on,005ms,3)");
    assert_string_equal(timer(TIMER_KEEPALIVE, 7199250, 0), " timer:(keepalive,119min,0)");
    assert_string_equal(timer(TIMER_TIME_WAIT, 59999, 0), " timer:(timewait,59sec,0)");
    assert_string_equal(timer(TIMER_PROBE, 1040, 0), " timer:(persist,1.040sec,0)");
    assert_string_equal(timer(5, 9000, 0), " timer:(delack,9sec,0)");
    assert_string_equal(timer(6, 61500, 0), " timer:(unknown,1min1sec,0)");
    assert_string_equal(timer(TIMER_RETRANSMIT, 540000, 0), " timer:(on,9min,0)");
    assert_string_equal(timer(TIMER_RETRANSMIT, 0, 255), " timer:(on,,255)");
}

static void a_timer_of_proc_counts_retransmits_or_probes(void **state)
{
    struct record record = tcp(SOCKET_TIMER | SOCKET_RETRANSMITS);

    (void)state;
    record.socket.timer = TIMER_RETRANSMIT;
    record.socket.retransmits = 4;
    record.socket.probes = 5;
    assert_string_equal(ss_tokens(&timers, &record), " timer:(on,,4)");
    record.socket.timer = TIMER_KEEPALIVE;
    assert_string_equal(ss_tokens(&timers, &record), " timer:(keepalive,,5)");
    record.has &= ~SOCKET_RETRANSMITS;
    assert_string_equal(ss_tokens(&timers, &record), " timer:(keepalive,,)");
}

static void sctp_has_one_timer(void **state)
{
    struct record record = tcp(SOCKET_TIMER | SOCKET_TIMER_COUNT);

    (void)state;
    record.socket.protocol = IPPROTO_SCTP;
    record.socket.timer = TIMER_PROBE;
    record.socket.timer_ms = 1;
    assert_string_equal(ss_tokens(&timers, &record), " timer:(T3_RTX,001ms,0)");
}

static void e_shows_whose_a_socket_is_and_what_is_open(void **state)
{
    struct record record = tcp(SOCKET_UID | SOCKET_MARK | SOCKET_CGROUP | SOCKET_SHUTDOWN);

    (void)state;
    record.identity = 0xabc;
    record.socket.inode = 77;
    assert_string_equal(ss_tokens(&extended, &record), " ino:77 sk:abc <->");
    record.socket.uid = 1000;
    record.socket.mark = 0x1f;
    record.socket.cgroup = 0x123;
    record.socket.shutdown = 3;
    assert_string_equal(ss_tokens(&extended, &record),
                        " uid:1000 ino:77 sk:abc fwmark:0x1f cgroup:unreachable:123 ---");
    record.socket.family = record.socket.local.address.family =
        record.socket.remote.address.family = AF_INET6;
    record.socket.v6only = 1;
    record.socket.shutdown = 1;
    assert_string_equal(ss_tokens(&extended, &record),
                        " uid:1000 ino:77 sk:abc fwmark:0x1f cgroup:unreachable:123 v6only:1 -->");
}

static void an_association_has_the_cookie_of_its_endpoint(void **state)
{
    struct record record = tcp(SOCKET_PEERS);

    (void)state;
    record.has &= ~SOCKET_COOKIE;
    record.identity = 0xabc;
    record.socket.protocol = IPPROTO_SCTP;
    record.socket.endpoint = 0x77;
    assert_string_equal(ss_tokens(&extended, &record), " ino:0 sk:77");
}

static void a_row_of_proc_has_the_address_in_the_kernel(void **state)
{
    struct record record = tcp(SOCKET_POINTER);

    (void)state;
    record.has &= ~SOCKET_COOKIE;
    record.identity = 0xabc; /* a hash of the program's own */
    record.socket.endpoint = 0xd88872be;
    assert_string_equal(ss_tokens(&extended, &record), " ino:0 sk:d88872be");
    record.has &= ~SOCKET_POINTER;
    assert_string_equal(ss_tokens(&extended, &record), " ino:0");
}

static void numbers_that_are_unknown_have_no_token(void **state)
{
    struct record record = tcp(0);

    (void)state;
    record.has &= ~(SOCKET_INODE | SOCKET_COOKIE);
    record.socket.uid = record.socket.mark = 5;
    assert_string_equal(ss_tokens(&extended, &record), "");
    record.socket.timer = TIMER_TIME_WAIT;
    record.has |= SOCKET_TIMER;
    assert_non_null(strstr(ss_tokens(&extended, &record), " ino:0"));
}

static void classes_are_hexadecimal_and_zero_is_plain(void **state)
{
    const struct ss_layout layout = {.tos = true};
    struct record record = tcp(SOCKET_TOS | SOCKET_TCLASS | SOCKET_CLASS_ID);

    (void)state;
    record.socket.tos = 0x10;
    record.socket.class_id = UINT32_MAX;
    assert_string_equal(ss_tokens(&layout, &record), " tos:0x10 tclass:0 class_id:0xffffffff");
}

static void a_control_group_is_shown_once(void **state)
{
    const struct ss_layout group = {.cgroup = true}, both = {.cgroup = true, .extended = true};
    struct record record = tcp(SOCKET_CGROUP);

    (void)state;
    record.socket.cgroup = 1;
    assert_string_equal(ss_tokens(&group, &record), " cgroup:unreachable:1");
    assert_string_equal(ss_tokens(&both, &record), " ino:0 sk:0 cgroup:unreachable:1");
}

static void options_have_a_line_of_their_own(void **state)
{
    const struct ss_layout lines = {.options = true}, line = {.options = true, .one_line = true};
    struct record record = tcp(SOCKET_OPTIONS);

    (void)state;
    record.socket.options = 0x7ff;
    assert_string_equal(ss_tokens(&lines, &record),
                        "\n\tinet-sockopt: ( recverr is_icsk freebind hdrincl mc_loop transparent"
                        " mc_all nodefrag bind_addr_no_port recverr_rfc4884 defer_connect)");
    record.socket.options = 0x100;
    assert_string_equal(ss_tokens(&line, &record), " inet-sockopt: ( bind_addr_no_port)");
}

static void memory_has_as_many_numbers_as_the_kernel_says(void **state)
{
    const uint32_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    struct record record = tcp(SOCKET_MEMORY);

    (void)state;
    record.socket.memory = (struct text){(const char *)numbers, sizeof numbers};
    assert_string_equal(ss_tokens(&memory, &record), "\n\t skmem:(r1,rb2,t3,tb4,f5,w6,o7,bl8,d9)");
    record.socket.memory.length = 7 * sizeof *numbers;
    assert_string_equal(ss_tokens(&memory, &record), "\n\t skmem:(r1,rb2,t3,tb4,f5,w6,o7)");
    record.socket.memory.length--;
    assert_string_equal(ss_tokens(&memory, &record), "\n\t");
}

static void the_line_of_i_is_there_without_numbers_but_not_for_udp(void **state)
{
    struct record record = tcp(0);

    (void)state;
    assert_string_equal(ss_tokens(&info, &record), "\n\t");
    record.socket.protocol = IPPROTO_UDP;
    assert_string_equal(ss_tokens(&info, &record), "");
    assert_string_equal(ss_tokens(&memory, &record), "\n\t");
    record.socket.protocol = IPPROTO_RAW;
    assert_string_equal(ss_tokens(&info, &record), "\n\t");
    record.socket.local.port = IPPROTO_UDP;
    assert_string_equal(ss_tokens(&info, &record), "");
    record.has &= ~SOCKET_COOKIE;
    record.socket.protocol = IPPROTO_SCTP; /* an association has none */
    assert_string_equal(ss_tokens(&info, &record), "\n\t");
}

static void a_row_of_proc_has_no_line_of_i_and_m(void **state)
{
    struct record record = tcp(SOCKET_RETRANSMITS);

    (void)state;
    record.has &= ~SOCKET_COOKIE;
    assert_string_equal(ss_tokens(&memory, &record), "");
    record.socket.protocol = IPPROTO_UDP;
    assert_string_equal(ss_tokens(&info, &record), "");
}

/* As ss has them: seconds, a window of 2 where the file has none, and a reordering of 0. */
static void a_row_of_proc_has_the_numbers_of_its_file(void **state)
{
    struct file_tcp_info numbers = {
        .tcp = {.rto = 200000, .ato = 80000, .snd_cwnd = 10, .snd_ssthresh = TCP_SSTHRESH_NONE}};
    struct record record = tcp(SOCKET_RETRANSMITS);

    (void)state;
    record.has &= ~SOCKET_COOKIE;
    assert_string_equal(ss_tokens(&info, &record), " cwnd:2 reordering:0");
    record.has |= SOCKET_TCP_BASICS;
    record.socket.info = (struct text){(const char *)&numbers, sizeof numbers};
    assert_string_equal(ss_tokens(&info, &record), " rto:0.2 ato:0.08 cwnd:10 reordering:0");
    numbers.quick = 31;
    numbers.tcp.rto = 3000000;
    numbers.tcp.snd_ssthresh = 70000;
    record.socket.timer = TIMER_RETRANSMIT;
    record.socket.retransmits = 4;
    record.socket.probes = 5;
    assert_string_equal(ss_tokens(&info, &record),
                        " ato:0.08 qack:15 bidir cwnd:10 ssthresh:70000 retrans:4/0 reordering:0");
    record.socket.timer = TIMER_PROBE;
    numbers.quick &= 1; /* data in both directions, which ss looks for in the wrong bit */
    assert_string_equal(ss_tokens(&info, &record),
                        " ato:0.08 cwnd:10 ssthresh:70000 retrans:5/0 reordering:0");
}

static void storages_are_shown_byte_by_byte(void **state)
{
    const struct ss_layout lines = {.storages = true}, line = {.storages = true, .one_line = true};
    struct attribute_bytes storage = {0}, storages = {0};
    struct record record = tcp(SOCKET_STORAGES);

    (void)state;
    put_u32(&storage, 2, 7);
    put_attribute(&storage, 3, "\1\377z", 3);
    put_attribute(&storages, 1, storage.data, storage.length);
    put_attribute(&storages, 1, storage.data, 8);
    record.socket.storages = (struct text){storages.data, storages.length};
    assert_string_equal(ss_tokens(&lines, &record),
                        "\n\tmap_id:7 [\n\t\t0x01ff7a\n\t]\n\tmap_id:7 [\n\t\t0x\n\t]");
    assert_string_equal(ss_tokens(&line, &record), " map_id:7 0x01ff7a map_id:7 0x");
}

static void a_storage_of_any_length_is_whole(void **state)
{
    enum { LENGTH = 20000 };
    const struct ss_layout line = {.storages = true, .one_line = true};
    static char bytes[LENGTH + 16];
    const uint16_t headers[] = {LENGTH + 16, 1, 8, 2, 0, 0, LENGTH + 4, 3};
    const uint32_t id = 1;
    struct record record = tcp(SOCKET_STORAGES);
    const char *tokens;

    (void)state;
    memcpy(bytes, headers, sizeof headers);
    memcpy(bytes + 8, &id, sizeof id);
    memset(bytes + sizeof headers, 0x55, LENGTH);
    record.socket.storages = (struct text){bytes, sizeof bytes};
    tokens = ss_tokens(&line, &record);
    assert_int_equal(strlen(tokens), strlen(" map_id:1 0x") + 2 * (size_t)LENGTH);
    assert_int_equal(strspn(tokens + strlen(" map_id:1 0x"), "5"), 2 * LENGTH);
}

/* --- Unix, netlink ---------------------------------------------------------------------------- */

static void a_unix_socket_has_its_file_and_who_waits(void **state)
{
    const uint32_t waiting[] = {11, 0, UINT32_MAX}, numbers[9] = {1};
    const struct ss_layout both = {.extended = true, .memory = true};
    struct record record = other_row(AF_UNIX, SOCK_STREAM);

    (void)state;
    record.has |= SOCKET_SHUTDOWN | SOCKET_VFS | SOCKET_ICONS | SOCKET_MEMORY | SOCKET_UID;
    record.socket.uid = 5;
    record.socket.shutdown = 2;
    record.socket.file_inode = 99;
    record.socket.file_device = 254 << 20 | 300;
    record.socket.waiting = (struct text){(const char *)waiting, sizeof waiting};
    record.socket.memory = (struct text){(const char *)numbers, sizeof numbers};
    assert_string_equal(ss_tokens(&both, &record),
                        " skmem:(r1,rb0,t0,tb0,f0,w0,o0,bl0,d0) <-- ino:99 dev:254/300"
                        " peers: 11 0 4294967295");
}

static void a_netlink_socket_has_its_groups(void **state)
{
    const unsigned long groups[] = {0x405, 1};
    struct record record = other_row(AF_NETLINK, SOCK_RAW);

    (void)state;
    record.has |= SOCKET_GROUPS;
    record.identity = 0x1000;
    record.socket.groups = (struct text){(const char *)groups, sizeof groups};
    assert_string_equal(ss_tokens(&extended, &record), " sk=1000 cb=0 groups=0x00000405");
}

/* --- Packet, XDP, TIPC ------------------------------------------------------------------------ */

static void a_packet_socket_has_lines_for_its_parts(void **state)
{
    const struct packet_diag_ring ring = {4096, 4, 2048, 8, 60, 0, 0x1f};
    struct record record = other_row(AF_PACKET, SOCK_RAW);

    (void)state;
    record.has |= SOCKET_PACKET | SOCKET_RX_RING | SOCKET_TX_RING | SOCKET_FANOUT | SOCKET_UID;
    record.identity = 2;
    record.socket.uid = 1000;
    record.socket.packet_version = 2;
    record.socket.packet_flags = PDI_RUNNING | PDI_LOSS;
    record.socket.rx_ring = record.socket.tx_ring = (struct text){(const char *)&ring, sizeof ring};
    record.socket.fanout = 1 << 16 | 7;
    assert_string_equal(
        ss_tokens(&extended, &record),
        " uid:1000 ino:12345 sk:2\n\tver:2 cpy_thresh:0 flags( running loss )"
        "\n\tring_rx(blk_size:4096,blk_nr:4,frm_size:2048,frm_nr:8,tmo:60,features:0x1f)"
        "\n\tring_tx(blk_size:4096,blk_nr:4,frm_size:2048,frm_nr:8,tmo:60,features:0x1f)"
        "\n\tfanout(id:7,type:lb)");
    record.has &= ~(SOCKET_RX_RING | SOCKET_TX_RING);
    record.socket.packet_flags = 0;
    record.socket.fanout = 0xabcdffff;
    assert_string_equal(ss_tokens(&extended_line, &record),
                        " uid:1000 ino:12345 sk:2 ver:2 cpy_thresh:0 flags( 0 )"
                        " fanout(id:65535,type:0xabcd)");
}

static void a_filter_of_any_length_is_whole(void **state)
{
    enum { COUNT_MAX = 4096 };
    const struct ss_layout layout = {.filters = true};
    static struct sock_filter program[COUNT_MAX];
    struct record record = other_row(AF_PACKET, SOCK_RAW);
    const char *tokens;
    size_t commas = 0;

    (void)state;
    program[0] = (struct sock_filter){6, 0, 1, UINT32_MAX};
    program[1] = (struct sock_filter){0x128, 255, 2, 3};
    record.has |= SOCKET_FILTER;
    record.socket.filter = (struct text){(const char *)program, 2 * sizeof *program};
    assert_string_equal(ss_tokens(&layout, &record),
                        "\n\tbpf filter (2):  0x06 0 1 4294967295, 0x128 255 2 3,");
    record.socket.filter.length = sizeof program;
    tokens = ss_tokens(&layout, &record);
    for (size_t i = 0; tokens[i]; i++)
        commas += tokens[i] == ',';
    assert_int_equal(commas, COUNT_MAX);
}

static void an_xdp_socket_has_its_rings_and_memory(void **state)
{
    const uint32_t ring = 2048;
    uint32_t umem[] = {0, 0, 3, 16, 2048, 0, 5, 1, 3, 2};
    const uint64_t size = UINT64_C(4294971392);
    const uint64_t stats[] = {1, 2, 3, 4, 5, UINT64_MAX};
    const struct text entries = {(const char *)&ring, sizeof ring};
    struct record record = other_row(FAMILY_XDP, SOCK_RAW);

    (void)state;
    memcpy(umem, &size, sizeof size);
    record.has |= SOCKET_RX_RING | SOCKET_TX_RING | SOCKET_UMEM | SOCKET_FILL_RING |
                  SOCKET_COMPLETION_RING | SOCKET_XDP_STATS;
    record.socket.rx_ring = record.socket.tx_ring = record.socket.fill_ring =
        record.socket.completion_ring = entries;
    record.socket.umem = (struct text){(const char *)umem, sizeof umem};
    record.socket.stats = (struct text){(const char *)stats, sizeof stats};
    assert_string_equal(
        ss_tokens(&extended, &record),
        " ino:12345 sk:0\n\trx(entries:2048)\n\ttx(entries:2048)\n\tumem(id:3,size:4294971392,"
        "num_pages:16,chunk_size:2048,headroom:0,ifindex:5,qid:1,zc:1,refs:2)"
        "\n\tfr(entries:2048)\n\tcr(entries:2048)\n\tstats(rx dropped:1,rx invalid:2,"
        "rx queue full:3,rx fill ring empty:4,tx invalid:5,"
        "tx ring empty:18446744073709551615)");
}

static void a_tipc_socket_has_its_ends_and_its_connection(void **state)
{
    const struct ss_layout plain = {.numeric = true};
    const struct ss_layout layout = {.tipc = true, .one_line = true};
    struct attribute_bytes all = {0}, connection = {0}, statistics = {0};
    struct record record = other_row(AF_TIPC, SOCK_SEQPACKET);

    (void)state;
    put_u32(&all, 1, 100);
    put_u32(&all, 2, 200);
    record.has |= SOCKET_TIPC;
    record.socket.tipc = (struct text){all.data, all.length};
    assert_string_equal(ss_written(&plain, &record), "100:200 -\n");
    assert_string_equal(ss_tokens(&layout, &record), " type:SEQPACKET cong:none  drop:0");
    put_attribute(&connection, 1, "", 0);
    put_u32(&connection, 2, 300);
    put_u32(&connection, 3, 400);
    put_u32(&connection, 4, 5);
    put_u32(&connection, 5, 6);
    put_attribute(&all, 3, connection.data, connection.length);
    put_attribute(&all, 4, "", 0);
    put_attribute(&statistics, 2, "", 0);
    put_u32(&statistics, 4, 9);
    put_attribute(&all, 5, statistics.data, statistics.length);
    record.socket.tipc.length = all.length;
    assert_string_equal(ss_written(&plain, &record), "100:200 300:400\n");
    assert_string_equal(ss_tokens(&layout, &record),
                        " type:SEQPACKET cong:link  drop:9 publ via {5,6}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_has_a_name_a_time_and_a_count),
        cmocka_unit_test(a_timer_of_proc_counts_retransmits_or_probes),
        cmocka_unit_test(sctp_has_one_timer),
        cmocka_unit_test(e_shows_whose_a_socket_is_and_what_is_open),
        cmocka_unit_test(an_association_has_the_cookie_of_its_endpoint),
        cmocka_unit_test(a_row_of_proc_has_the_address_in_the_kernel),
        cmocka_unit_test(numbers_that_are_unknown_have_no_token),
        cmocka_unit_test(classes_are_hexadecimal_and_zero_is_plain),
        cmocka_unit_test(a_control_group_is_shown_once),
        cmocka_unit_test(options_have_a_line_of_their_own),
        cmocka_unit_test(memory_has_as_many_numbers_as_the_kernel_says),
        cmocka_unit_test(the_line_of_i_is_there_without_numbers_but_not_for_udp),
        cmocka_unit_test(a_row_of_proc_has_no_line_of_i_and_m),
        cmocka_unit_test(a_row_of_proc_has_the_numbers_of_its_file),
        cmocka_unit_test(storages_are_shown_byte_by_byte),
        cmocka_unit_test(a_storage_of_any_length_is_whole),
        cmocka_unit_test(a_unix_socket_has_its_file_and_who_waits),
        cmocka_unit_test(a_netlink_socket_has_its_groups),
        cmocka_unit_test(a_packet_socket_has_lines_for_its_parts),
        cmocka_unit_test(a_filter_of_any_length_is_whole),
        cmocka_unit_test(an_xdp_socket_has_its_rings_and_memory),
        cmocka_unit_test(a_tipc_socket_has_its_ends_and_its_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
