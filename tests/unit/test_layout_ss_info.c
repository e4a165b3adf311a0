/* SPDX-License-Identifier: MIT */
/* What ss -i shows, token for token. */
#include <linux/inet_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/kernel_info.h"
#include "kit.h"
#include "ss_rows.h"

static const struct ss_layout brief = {.one_line = true, .info = true};
static const struct ss_layout with_options = {.one_line = true, .info = true, .timers = true};
static const struct ss_layout numeric = {.one_line = true, .info = true, .numeric = true};

static struct record with_info(const struct kernel_tcp_info *info, size_t length)
{
    struct record record = tcp_row("192.0.2.1", 1, "192.0.2.2", 2);

    record.has |= SOCKET_TCP_INFO | SOCKET_TCP_BASICS;
    record.socket.info = (struct text){(const char *)info, length};
    return record;
}

static const char *tokens(const struct ss_layout *layout, const struct kernel_tcp_info *info)
{
    const struct record record = with_info(info, sizeof *info);

    return ss_tokens(layout, &record);
}

static void numbers_of_zero_have_no_token(void **state)
{
    const struct kernel_tcp_info none = {.reordering = 3};

    (void)state;
    assert_string_equal(tokens(&brief, &none), "");
}

static void every_number_has_its_place_and_its_name(void **state)
{
    /* clang-format off */
    const struct kernel_tcp_info info = {
        .options = 0xff, .snd_wscale = 7, .rcv_wscale = 8, .backoff = 2, .rto = 204000, .ato = 40000,
        .snd_mss = 1448, .rcv_mss = 536, .unacked = 3, .sacked = 4, .lost = 5, .retrans = 6,
        .fackets = 7, .last_data_sent = 8, .last_ack_sent = 9, .last_data_recv = 10,
        .last_ack_recv = 11, .pmtu = 1500, .rcv_ssthresh = 64088, .rtt = 40125, .rttvar = 20001,
        .snd_ssthresh = 12, .snd_cwnd = 10, .advmss = 1460, .reordering = 4, .rcv_rtt = 1234567,
        .rcv_space = 14600, .total_retrans = 13, .pacing_rate = 1250000,
        .max_pacing_rate = 124950000, .bytes_acked = 14, .bytes_received = 15, .segs_out = 16,
        .segs_in = 17, .notsent_bytes = 18, .min_rtt = 19, .data_segs_in = 20, .data_segs_out = 21,
        .delivery_rate = 100, .delivery_rate_app_limited = 1, .busy_time = 3000,
        .rwnd_limited = 1000, .sndbuf_limited = 2000, .delivered = 22, .delivered_ce = 23,
        .bytes_sent = 24, .bytes_retrans = 25, .dsack_dups = 26, .reord_seen = 27,
        .rcv_ooopack = 28, .snd_wnd = 29, .rcv_wnd = 30, .rehash = 31};
    /* clang-format on */

    (void)state;
    assert_string_equal(
        tokens(&with_options, &info),
        " ts usec_ts sack ecn ecnseen fastopen wscale:7,8 rto:204 backoff:2 rtt:40.125/20.001"
        " ato:40 mss:1448 pmtu:1500 rcvmss:536 advmss:1460 cwnd:10 ssthresh:12 bytes_sent:24"
        " bytes_retrans:25 bytes_acked:14 bytes_received:15 segs_out:16 segs_in:17"
        " data_segs_out:21 data_segs_in:20 send 2.89Mbps lastsnd:8 lastrcv:10 lastack:11"
        " pacing_rate 10Mbps/1e+03Mbps delivery_rate 800bps delivered:22 delivered_ce:23"
        " app_limited busy:3ms rwnd_limited:1ms(33.3%) sndbuf_limited:2ms(66.7%) unacked:3"
        " retrans:6/13 lost:5 sacked:4 dsack_dups:26 fackets:7 reordering:4 reord_seen:27"
        " rcv_rtt:1234.57 rcv_space:14600 rcv_ssthresh:64088 notsent:18 minrtt:0.019"
        " rcv_ooopack:28 snd_wnd:29 rcv_wnd:30 rehash:31");
}

static void options_of_tcp_need_o(void **state)
{
    const struct kernel_tcp_info info = {.options = 0xff, .reordering = 3};

    (void)state;
    assert_string_equal(tokens(&brief, &info), " wscale:0,0");
}

static void numbers_that_mean_nothing_yet_have_no_token(void **state)
{
    const struct kernel_tcp_info info = {.rto = 3000000,
                                         .snd_ssthresh = TCP_SSTHRESH_NONE,
                                         .pacing_rate = UINT64_MAX,
                                         .min_rtt = UINT32_MAX,
                                         .reordering = 3};

    (void)state;
    assert_string_equal(tokens(&brief, &info), "");
}

static void a_listeners_queue_limit_is_not_sacked(void **state)
{
    const struct kernel_tcp_info info = {.sacked = 128, .unacked = 1, .reordering = 3};
    struct record record = with_info(&info, sizeof info);

    (void)state;
    record.socket.state = TCP_LISTEN;
    assert_string_equal(ss_tokens(&brief, &record), " unacked:1");
}

static void numbers_that_ss_takes_for_signed_are_negative(void **state)
{
    const struct kernel_tcp_info info = {.snd_mss = UINT32_MAX, .reordering = 3};

    (void)state;
    assert_string_equal(tokens(&brief, &info), " mss:-1");
}

/* 104, 192 and 232 bytes are those of Linux 2.6, 4.10 and 5.5; later ones may send more than ours.
 */
static void older_and_newer_kernels_say_less_and_more(void **state)
{
    static const struct {
        size_t length;
        const char *tokens;
    } kernels[] = {
        {0, " reordering:0"},
        {100, " rto:0.001 reordering:4 rcv_space:5"},
        {104, " rto:0.001 retrans:0/6 reordering:4 rcv_space:5"},
        {192, " rto:0.001 pacing_rate 1kbps busy:8ms sndbuf_limited:4ms(50.0%) retrans:0/6"
              " reordering:4 rcv_space:5 minrtt:7"},
        {232, " rto:0.001 pacing_rate 1kbps delivered:9 busy:8ms sndbuf_limited:4ms(50.0%)"
              " retrans:0/6 reordering:4 rcv_space:5 minrtt:7 rcv_ooopack:10 snd_wnd:11"},
        {320, " rto:0.001 pacing_rate 1kbps delivered:9 busy:8ms sndbuf_limited:4ms(50.0%)"
              " retrans:0/6 reordering:4 rcv_space:5 minrtt:7 rcv_ooopack:10 snd_wnd:11"
              " rcv_wnd:12 rehash:13"},
    };
    struct {
        struct kernel_tcp_info info;
        char more[40];
    } sent = {{.rto = 1,
               .reordering = 4,
               .rcv_space = 5,
               .total_retrans = 6,
               .pacing_rate = 125,
               .min_rtt = 7000,
               .busy_time = 8000,
               .sndbuf_limited = 4000,
               .delivered = 9,
               .rcv_ooopack = 10,
               .snd_wnd = 11,
               .rcv_wnd = 12,
               .rehash = 13},
              ""};

    (void)state;
    memset(sent.more, 0x55, sizeof sent.more);
    for (size_t i = 0; i < COUNT(kernels); i++) {
        const struct record record = with_info(&sent.info, kernels[i].length);
        assert_string_equal(ss_tokens(&brief, &record), kernels[i].tokens);
    }
}

static void n_shows_plain_bits_a_second(void **state)
{
    const struct kernel_tcp_info info = {
        .pacing_rate = 124950001, .delivery_rate = UINT64_MAX, .reordering = 3};

    (void)state;
    assert_string_equal(tokens(&numeric, &info),
                        " pacing_rate 999600008bps delivery_rate 147573952589676412928bps");
}

static void rates_have_the_largest_unit(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *token;
    } rates[] = {
        {1, " delivery_rate 8bps"},
        {124, " delivery_rate 992bps"},
        {125, " delivery_rate 1kbps"},
        {124950, " delivery_rate 1e+03kbps"},
        {125000000000, " delivery_rate 1Tbps"},
        {125125, " delivery_rate 1Mbps"},
        {154321, " delivery_rate 1.23Mbps"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        const struct kernel_tcp_info info = {.delivery_rate = rates[i].bytes, .reordering = 3};
        assert_string_equal(tokens(&brief, &info), rates[i].token);
    }
}

static const char *with_cc_info(uint16_t type, const void *data, size_t length,
                                const struct kernel_tcp_info *info)
{
    struct record record = with_info(info, sizeof *info);

    record.has |= SOCKET_CC_INFO | SOCKET_CONGESTION;
    record.socket.congestion = (struct text){"cc name\n", 8};
    record.socket.cc_type = type;
    record.socket.cc_info = (struct text){data, length};
    return ss_tokens(&brief, &record);
}

static void congestion_control_has_numbers_of_its_own(void **state)
{
    const struct kernel_tcp_info info = {
        .reordering = 3, .snd_cwnd = 1, .snd_mss = 1000, .rtt = 8000};
    const struct kernel_bbr_info bbr = {
        .bw_lo = 125000, .min_rtt = UINT32_MAX, .pacing_gain = 739, .cwnd_gain = 512};
    const struct kernel_dctcp_info dctcp = {1, 2, 3, 4, 5}, off = {.alpha = 1};
    const struct kernel_vegas_info vegas = {.enabled = 1, .rtt = 80};

    (void)state;
    assert_string_equal(
        with_cc_info(INET_DIAG_BBRINFO, &bbr, sizeof bbr, &info),
        " cc\\x20name\\x0a rtt:8/0 mss:1000 cwnd:1"
        " bbr:(bw:1Mbps,mrtt:4.29497e+06,pacing_gain:2.88672,cwnd_gain:2) send 1Mbps");
    assert_string_equal(with_cc_info(INET_DIAG_BBRINFO, &bbr, 8, &info),
                        " cc\\x20name\\x0a rtt:8/0 mss:1000 cwnd:1 bbr:(bw:1Mbps,mrtt:0)"
                        " send 1Mbps");
    assert_string_equal(with_cc_info(INET_DIAG_DCTCPINFO, &dctcp, sizeof dctcp, &info),
                        " cc\\x20name\\x0a rtt:8/0 mss:1000 cwnd:1"
                        " dctcp:(ce_state:2,alpha:3,ab_ecn:4,ab_tot:5) send 1Mbps");
    assert_string_equal(with_cc_info(INET_DIAG_DCTCPINFO, &off, sizeof off, &info),
                        " cc\\x20name\\x0a rtt:8/0 mss:1000 cwnd:1 dctcp:fallback_mode"
                        " send 1Mbps");
    assert_string_equal(with_cc_info(INET_DIAG_VEGASINFO, &vegas, sizeof vegas, &info),
                        " cc\\x20name\\x0a rtt:8/0 mss:1000 cwnd:1 send 100Mbps");
}

/* --- MPTCP and SCTP --------------------------------------------------------------------------- */

static void mptcp_has_tokens_of_its_own(void **state)
{
    /* clang-format off */
    const struct kernel_mptcp_info info = {
        .subflows = 1, .add_addr_signal = 2, .add_addr_accepted = 3, .subflows_max = 4,
        .add_addr_signal_max = 5, .add_addr_accepted_max = 6, .flags = 3, .token = 0xabcdef,
        .write_seq = 7, .snd_una = 8, .rcv_nxt = UINT64_MAX, .local_addr_used = 9,
        .local_addr_max = 10, .csum_enabled = 1, .retransmits = 11, .bytes_retrans = 12,
        .bytes_sent = 13, .bytes_received = 14, .bytes_acked = 15, .subflows_total = 16,
        .endp_laminar_max = 17, .last_data_sent = 18, .last_data_recv = 19, .last_ack_recv = 20};
    /* clang-format on */
    struct record record = tcp_row("192.0.2.1", 1, "192.0.2.2", 2);

    (void)state;
    record.has |= SOCKET_MPTCP_INFO;
    record.socket.protocol = PROTOCOL_MPTCP;
    record.socket.info = (struct text){(const char *)&info, sizeof info};
    assert_string_equal(
        ss_tokens(&brief, &record),
        " subflows:1 add_addr_signal:2 add_addr_accepted:3 subflows_max:4 add_addr_signal_max:5"
        " add_addr_accepted_max:6 fallback remote_key token:abcdef write_seq:7 snd_una:8"
        " rcv_nxt:18446744073709551615 local_addr_used:9 local_addr_max:10 csum_enabled:1"
        " retransmits:11 bytes_retrans:12 bytes_sent:13 bytes_received:14 bytes_acked:15"
        " subflows_total:16 endp_laminar_max:17 last_data_sent:18 last_data_recv:19"
        " last_ack_recv:20");
    record.socket.info.length = offsetof(struct kernel_mptcp_info, write_seq); /* Linux 5.9 */
    assert_string_equal(ss_tokens(&brief, &record),
                        " subflows:1 add_addr_signal:2 add_addr_accepted:3 subflows_max:4"
                        " add_addr_signal_max:5 add_addr_accepted_max:6 fallback remote_key"
                        " token:abcdef");
}

static void sctp_has_addresses_and_tokens_of_its_own(void **state)
{
    /* clang-format off */
    const struct kernel_sctp_info info = {
        .tag = 0x1f, .state = 3, .rwnd = UINT32_MAX, .unackdata = 1, .penddata = 2, .instrms = 3,
        .outstrms = 4, .inqueue = 5, .outqueue = 6, .overall_error = 7, .max_burst = 8,
        .maxseg = 9, .peer_rwnd = 10, .peer_tag = 0xff, .peer_capable = 11, .peer_sack = 12,
        .s_autoclose = 13, .s_adaptation_ind = 14, .s_pd_point = 15, .s_nodelay = 16,
        .s_disable_fragments = 17, .s_v4mapped = 18, .s_frag_interleave = 19};
    /* clang-format on */
    struct sockaddr_storage locals[2] = {{.ss_family = AF_INET}, {.ss_family = AF_INET6}};
    struct record record = tcp_row("192.0.2.1", 1, "192.0.2.2", 2);

    (void)state;
    memcpy(&((struct sockaddr_in6 *)&locals[1])->sin6_addr, ip("::ffff:192.0.2.1").bytes, 16);
    record.has |= SOCKET_SCTP_INFO | SOCKET_LOCALS | SOCKET_PEERS;
    record.socket.protocol = IPPROTO_SCTP;
    record.socket.info = (struct text){(const char *)&info, sizeof info};
    record.socket.locals = (struct text){(const char *)locals, sizeof locals};
    record.socket.peers = (struct text){(const char *)locals, sizeof *locals};
    assert_string_equal(
        ss_tokens(&brief, &record),
        " locals:0.0.0.0,::ffff:192.0.2.1 peers:0.0.0.0 tag:1f state:ESTAB rwnd:-1 unackdata:1"
        " penddata:2 instrms:3 outstrms:4 inqueue:5 outqueue:6 overerr:7 maxburst:8 maxseg:9"
        " prwnd:10 ptag:ff pcapable:11 psack:12 autoclose:13 adapind:14 pdpoint:15 nodelay:16"
        " nofrag:17 v4mapped:18 fraginl:19");
    record.socket.info.length = offsetof(struct kernel_sctp_info, unackdata);
    record.has &= ~(SOCKET_LOCALS | SOCKET_PEERS);
    assert_string_equal(ss_tokens(&brief, &record), " tag:1f state:ESTAB rwnd:-1");
}

/* --- Attributes behind the numbers ------------------------------------------------------------ */

static void md5_keys_are_in_octal_where_they_are_not_plain(void **state)
{
    struct kernel_md5_key keys[2] = {
        {.family = AF_INET, .prefix = 32, .key_length = 8, .key = "a ,\\\1\377z"},
        {.family = AF_INET6, .prefix = 64, .key_length = 999, .key = ""}};
    struct record record = tcp_row("192.0.2.1", 1, "192.0.2.2", 2);
    char expected[512] = " md5keys:10.1.2.3/32=a\\040\\054\\134\\001\\377z\\000,::1/64=";

    (void)state;
    memcpy(keys[0].address, (const uint8_t[]){10, 1, 2, 3}, 4);
    keys[1].address[15] = 1;
    memset(keys[1].key, 'k', sizeof keys[1].key);
    memset(expected + strlen(expected), 'k', sizeof keys[1].key);
    record.has |= SOCKET_MD5;
    record.socket.md5 = (struct text){(const char *)keys, sizeof keys + 50};
    record.socket.md5.length -= 50; /* all of them */
    assert_string_equal(ss_tokens(&brief, &record), expected);
    record.socket.md5.length--; /* the last one is cut */
    assert_string_equal(ss_tokens(&brief, &record),
                        " md5keys:10.1.2.3/32=a\\040\\054\\134\\001\\377z\\000");
    record.socket.md5.length = 0;
    assert_string_equal(ss_tokens(&brief, &record), "");
}

static const char *with_ulp(const struct attribute_bytes *bytes)
{
    struct record record = tcp_row("192.0.2.1", 1, "192.0.2.2", 2);

    record.has |= SOCKET_ULP;
    record.socket.ulp = (struct text){bytes->data, bytes->length};
    return ss_tokens(&brief, &record);
}

static void tls_says_how_it_encrypts(void **state)
{
    struct attribute_bytes tls = {0}, ulp = {0};

    (void)state;
    put_u16(&tls, 1, 0x0304); /* version */
    put_u16(&tls, 2, 52);     /* cipher */
    put_u16(&tls, 3, 2);      /* txconf */
    put_u16(&tls, 4, 9);      /* rxconf */
    put_attribute(&tls, 5, "", 0);
    put_attribute(&tls, 6, "", 0);
    put_attribute(&ulp, 1, "tls", 4);
    put_attribute(&ulp, 2, tls.data, tls.length);
    assert_string_equal(with_ulp(&ulp), " tcp-ulp-tls version: 1.3 cipher: aes-gcm-256"
                                        " rxconf: unknown(9) txconf: sw zc_ro_tx no_pad_rx");
}

static void a_subflow_says_whose_it_is(void **state)
{
    struct attribute_bytes subflow = {0}, ulp = {0};
    const uint64_t sequence = UINT64_MAX;

    (void)state;
    put_u32(&subflow, 8, 0x1ff); /* flags */
    put_u32(&subflow, 1, 0xab);  /* tokens and ids */
    put_u32(&subflow, 2, 0x12345);
    put_attribute(&subflow, 9, "\1", 1);
    put_attribute(&subflow, 10, "\377", 1);
    put_attribute(&subflow, 4, &sequence, sizeof sequence);
    put_u32(&subflow, 5, 1);
    put_u32(&subflow, 6, 2);
    put_u16(&subflow, 7, 400);
    put_attribute(&ulp, 1, "mptcp", 6);
    put_attribute(&ulp, 3, subflow.data, subflow.length);
    assert_string_equal(with_ulp(&ulp), " tcp-ulp-mptcp flags:MmJjBbecv"
                                        " token:00ab(id:1)/12345(id:255)"
                                        " seq:18446744073709551615 sfseq:1 ssnoff:2 maplen:400");
}

static void cut_attributes_say_nothing(void **state)
{
    struct attribute_bytes ulp = {0};

    (void)state;
    put_attribute(&ulp, 1, "tls", 4);
    for (ulp.length = 0; ulp.length < 8; ulp.length++)
        assert_string_equal(with_ulp(&ulp), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_zero_have_no_token),
        cmocka_unit_test(every_number_has_its_place_and_its_name),
        cmocka_unit_test(options_of_tcp_need_o),
        cmocka_unit_test(numbers_that_mean_nothing_yet_have_no_token),
        cmocka_unit_test(a_listeners_queue_limit_is_not_sacked),
        cmocka_unit_test(numbers_that_ss_takes_for_signed_are_negative),
        cmocka_unit_test(older_and_newer_kernels_say_less_and_more),
        cmocka_unit_test(n_shows_plain_bits_a_second),
        cmocka_unit_test(rates_have_the_largest_unit),
        cmocka_unit_test(congestion_control_has_numbers_of_its_own),
        cmocka_unit_test(mptcp_has_tokens_of_its_own),
        cmocka_unit_test(sctp_has_addresses_and_tokens_of_its_own),
        cmocka_unit_test(md5_keys_are_in_octal_where_they_are_not_plain),
        cmocka_unit_test(tls_says_how_it_encrypts),
        cmocka_unit_test(a_subflow_says_whose_it_is),
        cmocka_unit_test(cut_attributes_say_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
