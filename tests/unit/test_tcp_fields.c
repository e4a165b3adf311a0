/* SPDX-License-Identifier: MIT */
/* The fields of a socket of IP that the kernel tells in structs of its own. */
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/kernel_info.h"
#include "kit.h"
#include "model/socket/nested.h"

static const struct kernel_tcp_info connection = {
    .state = TCP_ESTABLISHED,
    .ca_state = 3,
    .backoff = 2,
    .options = TCP_OPTION_TIMESTAMPS | TCP_OPTION_WSCALE | TCP_OPTION_TFO_CHILD,
    .snd_wscale = 7,
    .rcv_wscale = 10,
    .delivery_rate_app_limited = 1,
    .fastopen_client_fail = 2,
    .rto = 204000,
    .snd_mss = 1000,
    .unacked = 5,
    .last_data_sent = 1250,
    .rtt = 45,
    .rttvar = 1234567,
    .snd_ssthresh = TCP_SSTHRESH_NONE,
    .snd_cwnd = 9,
    .pacing_rate = UINT64_MAX,
    .max_pacing_rate = UINT32_MAX,
    .bytes_acked = UINT64_MAX,
    .min_rtt = UINT32_MAX,
    .busy_time = 3000001,
    .total_rto = 3,
    .total_rto_time = 2500,
    .received_ce = 4,
    .ecn_mode = 2,
};

static struct record socket_of(uint64_t has, const void *info, size_t length)
{
    struct record record = {.kind = &kind_socket, .has = has};

    record.socket.family = AF_INET;
    record.socket.protocol = IPPROTO_TCP;
    record.socket.state = TCP_ESTABLISHED;
    record.socket.info = (struct text){info, length};
    return record;
}

static void numbers_come_in_seconds_and_bytes(void **state)
{
    static const char *const expected[][2] = {
        {"rto", "0.204000"},
        {"rtt", "0.000045"},
        {"rttvar", "1.234567"},
        {"last_data_sent", "1.250"},
        {"busy_time", "3.000001"},
        {"total_rto_time", "2.500"},
        {"backoff", "2"},
        {"unacked", "5"},
        {"snd_cwnd", "9"},
        {"snd_wscale", "7"},
        {"rcv_wscale", "10"},
        {"bytes_acked", "18446744073709551615"},
        {"total_rto", "3"},
        {"received_ce", "4"},
        {"app_limited", "yes"},
        {"send_rate", "200000000"}, /* 9 * 1000 bytes in 45 microseconds */
        {"max_pacing_rate", "4294967295"},
        {NULL, NULL},
    };
    const struct record record =
        socket_of(SOCKET_TCP_INFO | SOCKET_TCP_BASICS, &connection, sizeof connection);

    (void)state;
    assert_fields(&record, expected);
}

static void numbers_that_mean_unknown_are_unknown(void **state)
{
    static const char *const names[] = {"min_rtt", "pacing_rate", "snd_ssthresh", "rcv_rtt"};
    const struct record record =
        socket_of(SOCKET_TCP_INFO | SOCKET_TCP_BASICS, &connection, sizeof connection);

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        assert_field(names[i], &record, "-");
}

static void states_are_words_and_options_are_a_set(void **state)
{
    static const char *const expected[][2] = {
        {"ca_state", "recovery"},
        {"ecn_mode", "accecn"},
        {"fastopen_client_fail", "data_not_acked"},
        {"tcp_options", "timestamps,wscale,tfo_child"},
        {NULL, NULL},
    };
    const struct record record =
        socket_of(SOCKET_TCP_INFO | SOCKET_TCP_BASICS, &connection, sizeof connection);

    (void)state;
    assert_fields(&record, expected);
}

static void without_the_option_there_is_no_scale(void **state)
{
    struct kernel_tcp_info info = connection;
    const struct record record = socket_of(SOCKET_TCP_INFO | SOCKET_TCP_BASICS, &info, sizeof info);

    (void)state;
    info.options = 0;
    assert_field("snd_wscale", &record, "-");
    assert_field("rcv_wscale", &record, "-");
    assert_field("tcp_options", &record, "-");
}

/* Members that are bits become known with the byte that has them. */
static void an_older_kernel_leaves_fields_unknown(void **state)
{
    static const struct {
        const char *name;
        size_t length;
    } ends[] = {
        {"snd_wscale", 8},
        {"fastopen_client_fail", 8},
        {"rto", 12},
        {"send_rate", 84},
        {"app_limited", 168},
        {"busy_time", 176},
        {"ecn_mode", sizeof connection},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(ends); i++)
        for (size_t length = 0; length <= sizeof connection; length++) {
            const struct record record =
                socket_of(SOCKET_TCP_INFO | SOCKET_TCP_BASICS, &connection, length);
            const struct value value = value_of(ends[i].name, &record, &no_names);
            assert_int_equal(value.type != VALUE_UNKNOWN, length >= ends[i].length);
        }
}

static void retransmitted_bytes_are_a_share_of_all_sent_bytes(void **state)
{
    struct kernel_tcp_info info = {.bytes_sent = 3000, .bytes_retrans = 1};
    const struct record record = socket_of(SOCKET_TCP_INFO | SOCKET_TCP_BASICS, &info, sizeof info);

    (void)state;
    assert_field("resent_percent", &record, "0.033");
    info.bytes_retrans = 3000;
    assert_field("resent_percent", &record, "100.000");
    info.bytes_sent = 0;
    assert_field("resent_percent", &record, "-");
}

static void a_listener_has_no_numbers_of_a_connection(void **state)
{
    static const char *const names[] = {"rtt",      "rto",      "unacked",     "last_data_sent",
                                        "snd_cwnd", "ca_state", "app_limited", "send_rate"};
    struct record record =
        socket_of(SOCKET_TCP_INFO | SOCKET_TCP_BASICS, &connection, sizeof connection);

    (void)state;
    record.socket.state = TCP_LISTEN;
    for (size_t i = 0; i < COUNT(names); i++)
        assert_field(names[i], &record, "-");
}

static void a_listeners_queue_is_filled_by_so_much(void **state)
{
    struct record record = socket_of(SOCKET_QUEUES | SOCKET_BACKLOG, NULL, 0);

    (void)state;
    record.socket.recv_q = 1;
    record.socket.backlog = 8;
    assert_field("backlog_percent", &record, "13");
    record.socket.recv_q = UINT32_MAX;
    assert_field("backlog_percent", &record, "53687091188");
    record.socket.backlog = 0; /* of listen(fd, 0) */
    record.socket.recv_q = 1;
    assert_field("backlog_percent", &record, "100");
    record.socket.recv_q = 0;
    assert_field("backlog_percent", &record, "0");
}

/* --- Congestion control ----------------------------------------------------------------------- */

static struct record controlled(uint16_t type, const void *info, size_t length)
{
    struct record record = socket_of(SOCKET_CC_INFO | SOCKET_CONGESTION, NULL, 0);

    record.socket.cc_type = type;
    record.socket.cc_info = (struct text){info, length};
    record.socket.congestion = (struct text){"bbr", 3};
    return record;
}

static void each_algorithm_has_numbers_of_its_own(void **state)
{
    const struct kernel_bbr_info bbr = {
        .bw_lo = 1, .bw_hi = 2, .min_rtt = 19, .pacing_gain = 739, .cwnd_gain = 256};
    const struct kernel_dctcp_info dctcp = {.enabled = 1, .ce_state = 1, .alpha = 512, .ab_tot = 7};
    const struct kernel_vegas_info vegas = {.rtt = 1000, .minrtt = INT32_MAX};
    struct record record = controlled(INET_DIAG_BBRINFO, &bbr, sizeof bbr);

    (void)state;
    assert_field("congestion", &record, "bbr");
    assert_field("bbr_bw", &record, "8589934593");
    assert_field("bbr_min_rtt", &record, "0.000019");
    assert_field("bbr_pacing_gain", &record, "2.887");
    assert_field("bbr_cwnd_gain", &record, "1.000");
    assert_field("dctcp_alpha", &record, "-");
    assert_field("vegas_rtt", &record, "-");
    record.socket.cc_type = INET_DIAG_VEGASINFO;
    assert_field("bbr_bw", &record, "-");
    record = controlled(INET_DIAG_DCTCPINFO, &dctcp, sizeof dctcp);
    assert_field("dctcp_ce_state", &record, "yes");
    assert_field("dctcp_alpha", &record, "512");
    assert_field("dctcp_ab_tot", &record, "7");
    assert_field("bbr_bw", &record, "-");
    record = controlled(INET_DIAG_VEGASINFO, &vegas, sizeof vegas);
    assert_field("vegas_rtt", &record, "0.001000");
    assert_field("vegas_minrtt", &record, "-");
}

static void half_a_struct_is_none(void **state)
{
    const struct kernel_bbr_info bbr = {.bw_lo = 1};
    const struct kernel_dctcp_info off = {.alpha = 512};
    struct record record = controlled(INET_DIAG_BBRINFO, &bbr, sizeof bbr - 1);

    (void)state;
    assert_field("bbr_bw", &record, "-");
    assert_field("bbr_cwnd_gain", &record, "-");
    record = controlled(INET_DIAG_DCTCPINFO, &off, sizeof off);
    assert_field("dctcp_alpha", &record, "-");
    record.socket.cc_info.length--;
    assert_field("dctcp_alpha", &record, "-");
}

/* --- Others ----------------------------------------------------------------------------------- */

static void memory_and_marks_are_numbers(void **state)
{
    const uint32_t memory[SK_MEMINFO_VARS] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct record record = socket_of(UINT64_MAX & ~SOCKET_TCP_INFO, NULL, 0);

    (void)state;
    record.socket.memory = (struct text){(const char *)memory, sizeof memory};
    record.socket.mark = 0xfedcba98;
    record.socket.cgroup = UINT64_MAX;
    record.socket.tos = 0xb8;
    record.socket.options = 1 << 2 | 1 << 10;
    record.socket.shutdown = 2;
    assert_field("mem_rmem", &record, "1");
    assert_field("mem_sndbuf", &record, "4");
    assert_field("mem_backlog", &record, "8");
    assert_field("drops", &record, "9");
    assert_field("mark", &record, "4275878552");
    assert_field("cgroup_id", &record, "18446744073709551615");
    assert_field("tos", &record, "184");
    assert_field("sockopts", &record, "freebind,defer_connect");
    assert_field("shutdown", &record, "send");
    record.socket.memory.length = 7 * sizeof *memory; /* before Linux 4.7 */
    assert_field("drops", &record, "-");
    assert_field("mem_optmem", &record, "7");
}

static void mptcp_and_sctp_have_structs_of_their_own(void **state)
{
    const struct kernel_mptcp_info mptcp = {
        .subflows = 1, .flags = 3, .token = 77, .bytes_sent = 5, .last_data_recv = 1500};
    const struct kernel_sctp_info sctp = {.state = 3, .outstrms = 10, .rtxchunks = 6};
    struct record record = socket_of(SOCKET_MPTCP_INFO, &mptcp, sizeof mptcp);

    (void)state;
    assert_field("mptcp_subflows", &record, "1");
    assert_field("mptcp_flags", &record, "fallback,remote_key");
    assert_field("mptcp_token", &record, "77");
    assert_field("mptcp_bytes_sent", &record, "5");
    assert_field("mptcp_last_data_recv", &record, "1.500");
    assert_field("rtt", &record, "-");
    record = socket_of(SOCKET_SCTP_INFO, &sctp, sizeof sctp);
    assert_field("sctp_state", &record, "ESTABLISHED");
    assert_field("sctp_outstrms", &record, "10");
    assert_field("sctp_rtxchunks", &record, "6");
    assert_field("mptcp_token", &record, "-");
}

/* --- Upper layers ----------------------------------------------------------------------------- */

struct nest {
    char bytes[256];
    size_t length;
};

static void nest_put(struct nest *nest, unsigned type, const void *data, size_t size)
{
    const struct nlattr header = {(uint16_t)(sizeof header + size), (uint16_t)type};

    memcpy(nest->bytes + nest->length, &header, sizeof header);
    memcpy(nest->bytes + nest->length + sizeof header, data, size);
    nest->length += (size_t)NLA_ALIGN((int)(sizeof header + size));
}

static void put_u16(struct nest *nest, unsigned type, uint16_t number)
{
    nest_put(nest, type, &number, sizeof number);
}

static void tls_shows_its_version_and_cipher(void **state)
{
    struct nest tls = {.length = 0}, ulp = {.length = 0};
    struct record record = socket_of(SOCKET_ULP, NULL, 0);

    (void)state;
    put_u16(&tls, TLS_VERSION, 0x0304);
    put_u16(&tls, TLS_CIPHER, 52);
    put_u16(&tls, TLS_TXCONF, 2);
    nest_put(&tls, TLS_RX_NO_PAD, "", 0);
    nest_put(&ulp, ULP_NAME, "tls", 4);
    nest_put(&ulp, NLA_F_NESTED | ULP_TLS, tls.bytes, tls.length);
    record.socket.ulp = (struct text){ulp.bytes, ulp.length};
    assert_field("ulp", &record, "tls");
    assert_field("tls_version", &record, "1.3");
    assert_field("tls_cipher", &record, "aes-gcm-256");
    assert_field("tls_tx", &record, "software");
    assert_field("tls_rx", &record, "-");
    assert_field("tls_zc_ro_tx", &record, "no");
    assert_field("tls_no_pad_rx", &record, "yes");
    record.socket.ulp.length = 8; /* the name alone */
    assert_field("ulp", &record, "tls");
    assert_field("tls_version", &record, "-");
    assert_field("tls_zc_ro_tx", &record, "-");
    assert_field("tls_no_pad_rx", &record, "-");
}

static void put_u32(struct nest *nest, unsigned type, uint32_t number)
{
    nest_put(nest, type, &number, sizeof number);
}

static void a_subflow_shows_its_role_in_the_connection(void **state)
{
    static const char *const expected[][2] = {
        {"subflow_flags", "mp_join_local,backup_remote,map_valid"},
        {"subflow_token_local", "1000"},
        {"subflow_token_remote", "2000"},
        {"subflow_id_local", "3"},
        {"subflow_id_remote", "4"},
        {"subflow_map_seq", "5"},
        {"subflow_map_sfseq", "6"},
        {"subflow_ssn_offset", "7"},
        {"subflow_map_datalen", "-"},
        {NULL, NULL},
    };
    struct nest subflow = {.length = 0}, ulp = {.length = 0};
    struct record record = socket_of(SOCKET_ULP, NULL, 0);

    (void)state;
    put_u32(&subflow, SUBFLOW_FLAGS, 1 << 3 | 1 << 4 | 1 << 8);
    put_u32(&subflow, SUBFLOW_TOKEN_LOC, 1000);
    put_u32(&subflow, SUBFLOW_TOKEN_REM, 2000);
    nest_put(&subflow, SUBFLOW_ID_LOC, "\3", 1);
    nest_put(&subflow, SUBFLOW_ID_REM, "\4", 1);
    nest_put(&subflow, SUBFLOW_MAP_SEQ, &(uint64_t){5}, sizeof(uint64_t));
    put_u32(&subflow, SUBFLOW_MAP_SFSEQ, 6);
    put_u32(&subflow, SUBFLOW_SSN_OFFSET, 7);
    put_u32(&ulp, SUBFLOW_TOKEN_LOC, 99); /* not inside of the subflow's attribute */
    nest_put(&ulp, NLA_F_NESTED | ULP_MPTCP, subflow.bytes, subflow.length);
    record.socket.ulp = (struct text){ulp.bytes, ulp.length};
    assert_fields(&record, expected);
    record.socket.ulp.length = 0;
    assert_field("subflow_flags", &record, "-");
}

static void a_tipc_socket_shows_both_ends_and_why_it_waits(void **state)
{
    static const char *const expected[][2] = {
        {"tipc_node", "10"},          {"tipc_port", "20"},
        {"tipc_peer_node", "11"},     {"tipc_peer_port", "21"},
        {"tipc_service_type", "500"}, {"tipc_service_instance", "2"},
        {"tipc_congestion", "link"},  {"tipc_drops", "9"},
        {"tipc_published", "yes"},    {NULL, NULL},
    };
    struct nest all = {.length = 0}, peer = {.length = 0}, statistics = {.length = 0};
    struct record record = socket_of(SOCKET_TIPC, NULL, 0);

    (void)state;
    put_u32(&all, TIPC_SOCK_ADDR, 10);
    put_u32(&all, TIPC_SOCK_REF, 20);
    record.socket.tipc = (struct text){all.bytes, all.length};
    assert_field("tipc_port", &record, "20");
    assert_field("tipc_peer_port", &record, "-");
    assert_field("tipc_congestion", &record, "-");
    assert_field("tipc_published", &record, "no");
    put_u32(&peer, TIPC_CON_NODE, 11);
    put_u32(&peer, TIPC_CON_SOCK, 21);
    put_u32(&peer, TIPC_CON_TYPE, 500);
    put_u32(&peer, TIPC_CON_INST, 2);
    put_u32(&statistics, TIPC_STAT_DROP, 9);
    nest_put(&statistics, TIPC_STAT_LINK_CONG, "", 0);
    nest_put(&all, TIPC_SOCK_HAS_PUBL, "", 0);
    nest_put(&all, NLA_F_NESTED | TIPC_SOCK_CON, peer.bytes, peer.length);
    nest_put(&all, NLA_F_NESTED | TIPC_SOCK_STAT, statistics.bytes, statistics.length);
    record.socket.tipc.length = all.length;
    assert_fields(&record, expected);
}

static void md5_shows_the_peers_of_its_keys_and_never_a_key(void **state)
{
    const struct kernel_md5_key keys[] = {
        {.family = AF_INET, .prefix = 24, .key_length = 3, .address = {192, 0, 2}, .key = "key"},
        {.family = AF_INET6, .prefix = 128, .address = {[15] = 1}},
    };
    struct record record = socket_of(SOCKET_MD5, NULL, 0);

    (void)state;
    assert_field("md5_peers", &record, "-");
    record.socket.md5 = (struct text){(const char *)keys, sizeof keys};
    assert_field("md5_peers", &record, "192.0.2.0/24,::1/128");
    record.socket.md5.length--;
    assert_field("md5_peers", &record, "192.0.2.0/24");
}

static void sctp_has_several_addresses_at_each_end(void **state)
{
    struct sockaddr_storage storage[3] = {
        {.ss_family = AF_INET}, {.ss_family = AF_INET6}, {.ss_family = AF_INET6}};
    struct record record = socket_of(SOCKET_LOCALS | SOCKET_PEERS, NULL, 0);

    (void)state;
    inet_pton(AF_INET, "192.0.2.1", &((struct sockaddr_in *)&storage[0])->sin_addr);
    inet_pton(AF_INET6, "2001:db8::1", &((struct sockaddr_in6 *)&storage[1])->sin6_addr);
    inet_pton(AF_INET6, "::ffff:192.0.2.2", &((struct sockaddr_in6 *)&storage[2])->sin6_addr);
    assert_field("sctp_local_addresses", &record, "-");
    record.socket.locals = (struct text){(const char *)storage, sizeof storage};
    record.socket.peers = (struct text){(const char *)storage, sizeof *storage};
    assert_field("sctp_local_addresses", &record, "192.0.2.1,2001:db8::1,192.0.2.2");
    assert_field("sctp_peer_addresses", &record, "192.0.2.1");
    record.socket.locals.length--; /* the last one is cut */
    assert_field("sctp_local_addresses", &record, "192.0.2.1,2001:db8::1");
    record.has = 0;
    assert_field("sctp_peer_addresses", &record, "-");
}

static void attributes_that_do_not_fit_are_none(void **state)
{
    struct nest ulp = {.length = 0};

    (void)state;
    nest_put(&ulp, 9, "?", 1);
    nest_put(&ulp, ULP_NAME, "mptcp", 5);
    for (size_t length = 0; length <= ulp.length; length++) {
        const struct text found = nested_find((struct text){ulp.bytes, length}, ULP_NAME);
        assert_int_equal(found.data != NULL, length >= 8 + 4 + 5);
        assert_int_equal(found.length, found.data ? 5 : 0);
    }
    ulp.bytes[0] = 3; /* shorter than its own header */
    assert_null(nested_find((struct text){ulp.bytes, ulp.length}, ULP_NAME).data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_in_seconds_and_bytes),
        cmocka_unit_test(numbers_that_mean_unknown_are_unknown),
        cmocka_unit_test(states_are_words_and_options_are_a_set),
        cmocka_unit_test(without_the_option_there_is_no_scale),
        cmocka_unit_test(an_older_kernel_leaves_fields_unknown),
        cmocka_unit_test(retransmitted_bytes_are_a_share_of_all_sent_bytes),
        cmocka_unit_test(a_listener_has_no_numbers_of_a_connection),
        cmocka_unit_test(a_listeners_queue_is_filled_by_so_much),
        cmocka_unit_test(each_algorithm_has_numbers_of_its_own),
        cmocka_unit_test(half_a_struct_is_none),
        cmocka_unit_test(memory_and_marks_are_numbers),
        cmocka_unit_test(mptcp_and_sctp_have_structs_of_their_own),
        cmocka_unit_test(tls_shows_its_version_and_cipher),
        cmocka_unit_test(a_subflow_shows_its_role_in_the_connection),
        cmocka_unit_test(a_tipc_socket_shows_both_ends_and_why_it_waits),
        cmocka_unit_test(md5_shows_the_peers_of_its_keys_and_never_a_key),
        cmocka_unit_test(sctp_has_several_addresses_at_each_end),
        cmocka_unit_test(attributes_that_do_not_fit_are_none),
    };

    return cmocka_run_group_tests_name("tcp_fields", tests, NULL, NULL);
}
