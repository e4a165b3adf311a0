/* SPDX-License-Identifier: MIT */
/* --where: which predicate each text means, and what is said of those that mean none. */
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/filters.h"
#include "cli/misuse.h"
#include "cli/where/where.h"
#include "fastnet/hosts.h"
#include "fastnet/services.h"
#include "kit.h"
#include "predicates.h"

struct meaning {
    const char *text, *said;
};

/* The predicate in words, or the message. */
static const char *meaning_of(const struct kind *kind, const char *text)
{
    static char said[1024];
    struct where where = {.options = &filters_of_sockets};
    const struct predicate *predicate = where_parse(&where, kind, text);

    snprintf(said, sizeof said, "%s", predicate ? said_of(predicate) : where.message);
    where_finish(&where);
    return said;
}

/* What a predicate is written as. */
static const char *written_as(const struct kind *kind, const char *text)
{
    static char written[1024];
    struct where where = {.options = &filters_of_sockets};
    const struct predicate *predicate = where_parse(&where, kind, text);
    FILE *out = fmemopen(written, sizeof written, "w");

    assert_non_null(out);
    if (predicate)
        where_put(out, predicate);
    assert_int_equal(fclose(out), 0);
    where_finish(&where);
    return predicate ? written : NULL;
}

/* Each text has its meaning, or is refused; written as text again, it has the same one. */
static void mean(const struct kind *kind, const struct meaning *meanings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *written = written_as(kind, meanings[i].text);
        assert_string_equal(meaning_of(kind, meanings[i].text), meanings[i].said);
        if (written)
            assert_string_equal(meaning_of(kind, written), meanings[i].said);
    }
}

#define MEAN(kind, meanings) mean(kind, meanings, COUNT(meanings))

static void and_binds_closer_than_or_and_not_closer_than_both(void **state)
{
    static const struct meaning meanings[] = {
        {"uid = 1", "uid = 1"},
        {"uid = 1 or uid = 2 and uid = 3", "uid = 1 or (uid = 2 and uid = 3)"},
        {"uid = 1 and uid = 2 or uid = 3", "(uid = 1 and uid = 2) or uid = 3"},
        {"(uid = 1 or uid = 2) and uid = 3", "(uid = 1 or uid = 2) and uid = 3"},
        {"not uid = 1 and uid = 2", "not (uid = 1) and uid = 2"},
        {"not (uid = 1 and uid = 2)", "not (uid = 1 and uid = 2)"},
        {"uid=1||uid=2&&!uid=3", "uid = 1 or (uid = 2 and not (uid = 3))"},
        {"iud = 1", "at 1: no column 'iud' for sockets; did you mean uid?"},
        {"uid = 1 AND uid = 2", "uid = 1 and uid = 2"},
    };

    (void)state;
    MEAN(&kind_socket, meanings);
}

static void comparisons_have_one_meaning_in_each_spelling(void **state)
{
    static const struct meaning meanings[] = {
        {"uid == 1", "uid = 1"},
        {"uid != 1", "not uid = 1"},
        {"uid < 5", "uid < 5"},
        {"uid >= 5", "not uid < 5"},
        {"uid > 5", "uid > 5"},
        {"uid <= 5", "not uid > 5"},
        {"uid in 1,2", "uid = 1 or uid = 2"},
        {"uid = 1,2", "uid = 1 or uid = 2"},
        {"uid not in 1,2", "not (uid = 1 or uid = 2)"},
        {"uid != 1,2", "not (uid = 1 or uid = 2)"},
        {"uid in 10-19", "not (uid < 10) and not (uid > 19)"},
        {"uid = null", "not uid is known"},
        {"uid != null", "not not (uid is known)"},
        {"path ~ '/run/*'", "path ~ /run/*"},
        {"path !~ '/run/*'", "not path ~ /run/*"},
        {"path ~~ '@[ab]*'", "path ~~ @[ab]*"},
        {"path !~~ /Run/?", "not path ~~ /Run/?"},
        {"state ~~ 'fin_*'", "state ~~ fin_*"},
    };

    (void)state;
    MEAN(&kind_socket, meanings);
}

static void numbers_are_in_the_unit_of_their_column(void **state)
{
    static const struct meaning sockets[] = {
        {"send_q > 64k", "send_q > 65536"},
        {"send_q > 1.5M", "send_q > 1572864"},
        {"send_q = 18446744073709551615", "send_q = 18446744073709551615"},
        {"expires < 50ms", "expires < 50 thousandths"},
        {"rtt < 50us", "rtt < 50 millionths"},
        {"rtt < 1.000002", "rtt < 1000002 millionths"},
        {"rtt < 1.5ms", "rtt < 1500 millionths"},
        {"rtt < 2m", "rtt < 120000000 millionths"},
        {"expires < 1.5", "expires < 1500 thousandths"},
        {"expires < 2m", "expires < 120000 thousandths"},
        {"expires < 1h", "expires < 3600000 thousandths"},
        {"local_port in 8000-8999,22", "(not (local_port < 8000) and not (local_port > 8999)) "
                                       "or local_port = 22"},
        {"port = 22", "local_port = 22 or remote_port = 22"},
        {"port != 22", "not (local_port = 22) and not (remote_port = 22)"},
        {"port not in (22)", "not (local_port = 22) and not (remote_port = 22)"},
        {"port >= 1024", "not (local_port < 1024) or not (remote_port < 1024)"},
        {"not port = 22", "not (local_port = 22 or remote_port = 22)"},
        {"port = null", "not (local_port is known) or not (remote_port is known)"},
        {"port",
         "the filter is only 'port': did the shell take the > or <? quote it: --where 'port > 7'"},
        {"port = x", "at 8: local_port takes ports, such as 443, 8000-8999 or https, not 'x'"},
        {"uid = '1'", "uid = 1"},
        {"uid = 0x1f", "uid = 31"},
        {"uid = 0x12/0xff", "uid & 0xff = 0x12"},
    };
    static const struct meaning counters[] = {
        {"value in 0-59", "not (value < 0) and not (value > 59)"},
        {"value = -7", "value = -7"},
        {"value = x", "at 9: value takes numbers, such as 7, -7 or 1-9, not 'x'"},
    };
    static const struct meaning flows[] = {
        {"timeout > 2m", "timeout > 120"},
        {"timeout > 500ms",
         "at 11: timeout takes times, such as 50ms, 1.5s, 2m or 1h, not '500ms'"},
    };

    (void)state;
    MEAN(&kind_socket, sockets);
    MEAN(&kind_flow, flows);
    MEAN(&kind_counter, counters);
}

static void units_are_typed_as_people_write_them(void **state)
{
    static const struct meaning sockets[] = {
        {"rtt < 50 ms", "rtt < 50000 millionths"},
        {"rtt<50\tms and uid = 1", "rtt < 50000 millionths and uid = 1"},
        {"rtt < '50 ms'", "rtt < 50000 millionths"},
        {"rtt in 50 ms, 1 s", "rtt = 50000 millionths or rtt = 1000000 millionths"},
        {"rtt < 3h05m", "rtt < 11100000000 millionths"},
        {"rtt < 1m30sec", "rtt < 90000000 millionths"},
        {"rtt < 2min", "rtt < 120000000 millionths"},
        {"rtt < 0.5m", "rtt < 30000000 millionths"},
        {"rtt < .5s", "rtt < 500000 millionths"},
        {"rtt < 5 uid = 1", "at 9: expected 'and', 'or' or the end, not 'uid'"},
        {"rtt < 5 minutes", "at 7: rtt takes times, such as 50ms, 1.5s, 2m or 1h, not '5 minutes'"},
        {"send_q > 1MB", "send_q > 1048576"},
        {"send_q > 1 MiB", "send_q > 1048576"},
        {"send_q > 1mb", "send_q > 1048576"},
        {"send_q > 1kB", "send_q > 1024"},
        {"send_q > 2 KiB or uid = 1", "send_q > 2048 or uid = 1"},
        {"send_q > 100B", "send_q > 100"},
        {"send_q > 1.3M", "send_q > 1363148"}, /* 1363148.8 */
        {"send_q in 1kB-2kB", "not (send_q < 1024) and not (send_q > 2048)"},
        {"pacing_rate > 1MB/s", "pacing_rate > 1048576"},
        {"pacing_rate > 10Mbit", "pacing_rate > 1250000"},
        {"pacing_rate > 10 Mbit/s", "pacing_rate > 1250000"},
        {"pacing_rate > 1.5Gbps", "pacing_rate > 187500000"},
        {"pacing_rate > 8kbit", "pacing_rate > 1000"},
        {"resent_percent > 5%", "resent_percent > 5000 thousandths"},
        {"resent_percent > 0.5 %", "resent_percent > 500 thousandths"},
        {"uid = 2k", "uid = 2048"},
    };

    (void)state;
    MEAN(&kind_socket, sockets);
}

static void units_that_do_not_fit_are_refused(void **state)
{
    static const char *const wrong[] = {
        "rtt < 1x",
        "rtt < s",
        "rtt < ms",
        "rtt < -5ms",
        "rtt < 1e9",
        "rtt < 1s5",
        "rtt < 5M",
        "rtt < 1MB",
        "send_q > 5s",
        "send_q > 10Mbit",
        "send_q > 1Mb",
        "send_q > 1MB/s",
        "send_q > 0.5B",
        "send_q > 1kk",
        "send_q > B",
        "send_q > -1k",
        "send_q > 0x1kB",
        "uid = 1kB",
        "uid = 5%",
        "pacing_rate > 10bit",
        "pacing_rate > 5%",
        "send_q > 16777216T",
        "rtt < 99999999999999999999d",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++)
        if (memcmp(meaning_of(&kind_socket, wrong[i]), "at ", 3) != 0)
            fail_msg("'%s' is accepted: %s", wrong[i], meaning_of(&kind_socket, wrong[i]));
}

/* In --where rtt > 50ms without quotes, the shell takes the sign and the value. */
static void a_lone_column_asks_for_quotes(void **state)
{
    static const struct meaning meanings[] = {
        {"rtt", "the filter is only 'rtt': did the shell take the > or <? quote it: "
                "--where 'rtt > 50ms'"},
        {" recv ", "the filter is only 'recv': did the shell take the > or <? quote it: "
                   "--where 'recv > 64k'"},
        {"uid", "the filter is only 'uid': did the shell take the > or <? quote it: "
                "--where 'uid > 7'"},
        {"state", "at the end: expected = != < <= > >= ~ !~ ~~ !~~ or in"},
    };

    (void)state;
    MEAN(&kind_socket, meanings);
}

static void localhost_is_not_looked_up(void **state)
{
    static const struct meaning meanings[] = {
        {"local_address = localhost", "local_address = 127.0.0.1 or local_address = ::1"},
        {"local = LOCALHOST:80",
         "(local_address = 127.0.0.1 or local_address = ::1) and local_port = 80"},
    };

    (void)state;
    MEAN(&kind_socket, meanings);
}

static void numbers_that_a_column_cannot_have_are_refused(void **state)
{
    static const struct meaning refused[] = {
        {"send_q > 0.3",
         "at 10: send_q takes numbers of bytes, such as 1500, 64k or 1MB, not '0.3'"},
        {"send_q > 5s", "at 10: send_q takes numbers of bytes, such as 1500, 64k or 1MB, not '5s'"},
        {"send_q > 18446744073709551616", "at 10: send_q takes numbers of bytes, such as 1500, 64k "
                                          "or 1MB, not '18446744073709551616'"},
        {"send_q > 99999999999T",
         "at 10: send_q takes numbers of bytes, such as 1500, 64k or 1MB, not '99999999999T'"},
        {"expires < 5us", "at 11: expires takes times, such as 50ms, 1.5s, 2m or 1h, not '5us'"},
        {"rtt < 0.1us", "at 7: rtt takes times, such as 50ms, 1.5s, 2m or 1h, not '0.1us'"},
        {"expires < 5k", "at 11: expires takes times, such as 50ms, 1.5s, 2m or 1h, not '5k'"},
        {"uid = -1", "at 7: uid takes numbers, such as 7 or 1-9, not '-1'"},
        {"uid in 9-1", "at 8: the end of this range is below its beginning"},
        {"user in 9-1", "at 9: the end of this range is below its beginning"},
        {"uid = 0x", "at 7: uid takes numbers, such as 7 or 1-9, not '0x'"},
        {"uid = 0x0x50", "at 7: uid takes numbers, such as 7 or 1-9, not '0x0x50'"},
        {"uid = 0x1fk", "at 7: uid takes numbers, such as 7 or 1-9, not '0x1fk'"},
        {"uid = 0x10000000000000000",
         "at 7: uid takes numbers, such as 7 or 1-9, not '0x10000000000000000'"},
        {"local_port = 1/3",
         "at 14: local_port takes ports, such as 443, 8000-8999 or https, not '1/3'"},
        {"uid > 1-9", "at 7: uid takes numbers, such as 7 or 1-9, not '1-9'"},
        {"uid ~ 1", "at 7: uid has no text to compare with a pattern"},
        {"uid ~~ 1", "at 8: uid has no text to compare with a pattern"},
        {"local_port = 65536",
         "at 14: local_port takes ports, such as 443, 8000-8999 or https, not '65536'"},
        {"local_port = no_such_service",
         "at 14: local_port takes ports, such as 443, 8000-8999 or https, not 'no_such_service'"},
        {"local_port = 10.0.0.0/8",
         "at 14: local_port takes ports, such as 443, 8000-8999 or https, not '10.0.0.0/8'"},
    };

    (void)state;
    MEAN(&kind_socket, refused);
}

static void words_are_known_in_any_case(void **state)
{
    static const struct meaning sockets[] = {
        {"state = listen", "state = 10"},
        {"state in Established,CLOSE_WAIT", "state = 1 or state = 8"},
        {"state ~ 'FIN_*'", "state ~ FIN_*"},
        {"state = Unconn", "state = 7"},
        {"state not in unconn,listen", "not (state = 7 or state = 10)"},
        {"protocol = unconn",
         "at 12: no protocol 'unconn'; it can be unix, icmp, tcp, udp, "
         "dccp, sctp, udplite, raw, mptcp, packet, netlink, vsock, xdp, tipc, "
         "ax25, ipx, appletalk, netrom, bridge, atmpvc, x25, rose, decnet, ..."},
        {"state = CLOSEE", "at 9: no state 'CLOSEE'; did you mean CLOSE?"},
        {"state = UNCON", "at 9: no state 'UNCON'; did you mean UNCONN?"},
        {"state = 10", "at 9: no state '10'; it can be ESTABLISHED, SYN_SENT, SYN_RECV, FIN_WAIT1, "
                       "FIN_WAIT2, TIME_WAIT, CLOSE, CLOSE_WAIT, LAST_ACK, LISTEN, CLOSING, "
                       "NEW_SYN_RECV, BOUND_INACTIVE"},
        {"state < LISTEN", "at 9: state: words cannot be compared with < or >"},
        {"protocol = TCP", "protocol = 6"},
        {"family = inet6", "family = 10"},
    };
    static const struct meaning flows[] = {
        {"protocol = UDP", "protocol = 17"},
        {"protocol = 132", "protocol = 132"},
        {"state = established", "state = ESTABLISHED"},
        {"state = ESTABLISHD", "at 9: no state 'ESTABLISHD'; did you mean ESTABLISHED?"},
    };

    (void)state;
    MEAN(&kind_socket, sockets);
    MEAN(&kind_flow, flows);
}

static void words_are_known_with_dashes_or_without(void **state)
{
    static const struct meaning sockets[] = {
        {"state = close-wait", "state = 8"},
        {"state = Close_Wait,closewait", "state = 8 or state = 8"},
        {"state in (fin-wait-1, fin_wait_2)", "state = 4 or state = 5"},
        {"state = fin-wait", "at 9: no state 'fin-wait'; did you mean FIN_WAIT1?"},
        {"state = -", "not (state is known) or state = "}, /* what tables show as a dash */
        {"attention = peer-not-reading", "attention & 0x10 = 0x10"},
        {"tls_cipher = AES_GCM_256", "tls_cipher = aes-gcm-256"},
    };
    static const struct meaning flows[] = {
        {"state = time-wait", "state = TIME_WAIT"},
        {"state = Time_Wait", "state = TIME_WAIT"},
        {"state = timewait", "state = TIMEWAIT"}, /* a state that only DCCP has */
        {"status = seen-reply", "status & 0x2 = 0x2"},
    };

    (void)state;
    MEAN(&kind_socket, sockets);
    MEAN(&kind_flow, flows);
    assert_string_equal(meaning_of(&kind_drop, "reason = No-Socket"), "reason = NO_SOCKET");
}

static void states_have_the_names_of_ss(void **state)
{
    static const struct meaning sockets[] = {
        {"state = estab", "state = 1"},
        {"state = ESTAB,syn-rcv", "state = 1 or state = 3"},
        {"state = listening", "state = 10"},
        {"state = unconnected,closed", "state = 7 or state = 7"},
        {"state = connected", "not (state = 7 or state = 10)"},
        {"state != connected", "not not ((state = 7 or state = 10))"},
        {"state = synchronized", "not ((state = 7 or state = 10) or state = 2)"},
        {"state = bucket", "state = 3 or state = 6"},
        {"state = big", "not (state = 3 or state = 6)"},
        {"protocol = estab",
         "at 12: no protocol 'estab'; it can be unix, icmp, tcp, udp, "
         "dccp, sctp, udplite, raw, mptcp, packet, netlink, vsock, xdp, tipc, "
         "ax25, ipx, appletalk, netrom, bridge, atmpvc, x25, rose, decnet, ..."},
        {"family = ipv4,IPv6", "family = 2 or family = 10"},
    };
    static const struct meaning flows[] = {
        {"state = estab", "state = ESTABLISHED"},
        {"state = closed", "state = CLOSED"}, /* a state that only SCTP has */
    };

    (void)state;
    MEAN(&kind_socket, sockets);
    MEAN(&kind_flow, flows);
    assert_string_equal(meaning_of(&kind_neighbour, "state = stale"), "state = 4");
}

static void names_of_the_kernel_are_known_in_any_case(void **state)
{
    static const struct meaning meanings[] = {
        {"congestion = BBR", "congestion ~~ BBR"},
        {"congestion != 'Cubic'", "not congestion ~~ Cubic"},
        {"congestion ~ 'BB*'", "congestion ~ BB*"},
        {"congestion = 'b*'", "congestion = b*"}, /* the sign stays a sign */
        {"ulp = TLS", "ulp ~~ TLS"},
        {"process = Nginx", "processes = Nginx"},
        {"path = /Run/x", "path = /Run/x"},
    };

    (void)state;
    MEAN(&kind_socket, meanings);
    assert_string_equal(meaning_of(&kind_interface, "kind = VETH"), "kind ~~ VETH");
    assert_string_equal(meaning_of(&kind_interface, "interface = ETH0"), "interface = ETH0");
    assert_string_equal(meaning_of(&kind_counter, "name = insegs"), "name ~~ insegs");
    assert_string_equal(meaning_of(&kind_flow, "helper = FTP"), "helper ~~ FTP");
}

/* The kernel has them as bits or numbers that are parts of larger attributes. */
static void words_of_attributes_are_known_in_any_case(void **state)
{
    static const struct meaning meanings[] = {
        {"ca_state = Open", "ca_state = open"},
        {"ecn_mode = RFC3168", "ecn_mode = rfc3168"},
        {"fastopen_client_fail = Data_Not_Acked", "fastopen_client_fail = data_not_acked"},
        {"fanout_type = EBPF", "fanout_type = ebpf"},
        {"sctp_state = established", "sctp_state = ESTABLISHED"},
        {"tls_version = 1.3", "tls_version = 1.3"},
        {"tls_cipher = AES-GCM-256", "tls_cipher = aes-gcm-256"},
        {"tls_tx = Hardware", "tls_tx = hardware"},
        {"tipc_congestion = LINK", "tipc_congestion = link"},
        {"ca_state = x", "at 12: no ca_state 'x'; it can be open, disorder, cwr, recovery, loss"},
        {"tls_rx = x", "at 10: no tls_rx 'x'; it can be none, software, hardware, hardware_record"},
        {"tcp_options = SACK", "tcp_options & 0x2 = 0x2"},
        {"mptcp_flags = 1", "mptcp_flags & 0x2 = 0x2"},
        {"subflow_flags != CONNECTED", "not subflow_flags & 0x80 = 0x80"},
        {"mptcp_flags = x", "at 15: no mptcp_flags 'x'; it can be fallback, remote_key"},
        {"subflow_flags = backup", "at 17: no subflow_flags 'backup'; did you mean backup_remote?"},
    };

    (void)state;
    MEAN(&kind_socket, meanings);
    assert_string_equal(meaning_of(&kind_flow, "labels = 3"), "labels & 0x8 = 0x8");
}

static void numbers_with_names_are_known_by_both(void **state)
{
    static const struct meaning neighbours[] = {
        {"hardware = ETHER", "hardware = 1"},
        {"hardware = 65534", "hardware = 65534"},
        {"hardware = ethernet", "at 12: no hardware 'ethernet'; did you mean ether?"},
    };
    static const struct meaning routes[] = {
        {"table = Main", "table = 254"},
        {"table = 100000", "table = 100000"},
        {"table = 100-200", "not (table < 100) and not (table > 200)"},
        {"table = 3-1", "at 9: the end of this range is below its beginning"},
        {"table = x", "at 9: no table 'x'; it can be default, main, local"},
    };

    (void)state;
    MEAN(&kind_neighbour, neighbours);
    MEAN(&kind_route, routes);
}

/* Whatever is compared with whatever is read or refused, and what is written is read again. */
static void each_column_takes_or_refuses_each_value(void **state)
{
    static const struct kind *const kinds[] = {
        &kind_socket,     &kind_flow,      &kind_expectation,     &kind_flow_statistics,
        &kind_flow_usage, &kind_neighbour, &kind_route,           &kind_interface,
        &kind_group,      &kind_counter,   &kind_neighbour_usage, &kind_summary,
    };
    static const char *const values[] = {"= x",   "= 3",    "= 300-400", "!= null",
                                         "~ 'x'", "~~ '3'", "< 3",       "in 10.0.0.0/8"};

    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++)
        for (size_t j = 0; j < kinds[i]->field_count; j++)
            for (size_t k = 0; k < COUNT(values); k++) {
                char text[80], written[1024];
                snprintf(text, sizeof text, "%s %s", kinds[i]->fields[j].name, values[k]);
                if (!written_as(kinds[i], text))
                    continue;
                snprintf(written, sizeof written, "%s", written_as(kinds[i], text));
                assert_string_equal(written_as(kinds[i], written), written);
            }
}

static void addresses_are_compared_with_networks_and_ranges(void **state)
{
    static const struct meaning meanings[] = {
        {"local_address = 10.1.2.3", "local_address = 10.1.2.3"},
        {"local_address = 10.1.2.3/8", "local_address in 10.0.0.0/255.0.0.0"},
        {"local_address in 192.0.2.129/25,::1",
         "local_address in 192.0.2.128/255.255.255.128 or local_address = ::1"},
        {"local_address = [2001:db8::1]/33", "local_address in 2001:db8::/ffff:ffff:8000::"},
        {"local_address = [::ffff:10.0.0.1]", "local_address = 10.0.0.1"},
        {"local_address = 2001:db8::1/33", "local_address in 2001:db8::/ffff:ffff:8000::"},
        {"local_address in 0.0.0.0/0", "local_address in 0.0.0.0/0.0.0.0"},
        {"local_address in 10.9.8.7/255.0.255.0", "local_address in 10.0.8.0/255.0.255.0"},
        {"local_address = ::ffff:10.0.0.1", "local_address = 10.0.0.1"},
        {"local_address in ::ffff:10.0.0.0/104", "local_address in 10.0.0.0/255.0.0.0"},
        {"local_address in ::/0",
         "local_address in ::/:: and "
         "not (local_address in ::ffff:0.0.0.0/ffff:ffff:ffff:ffff:ffff:ffff::)"},
        {"local_address in 10.0.0.1-10.0.0.9",
         "not (local_address < 10.0.0.1) and not (local_address > 10.0.0.9)"},
        {"local_address = [10.0.0.1]",
         "at 17: local_address takes addresses, such as 192.0.2.1, "
         "10.0.0.0/8, 2001:db8::/32 or fe80::1%eth0, not '[10.0.0.1]'"},
        {"local_address = [::1", "at 17: local_address takes addresses, such as 192.0.2.1, "
                                 "10.0.0.0/8, 2001:db8::/32 or fe80::1%eth0, not '[::1'"},
        {"local_address = 10.0.0.0/33",
         "at 17: local_address takes addresses, such as 192.0.2.1, "
         "10.0.0.0/8, 2001:db8::/32 or fe80::1%eth0, not '10.0.0.0/33'"},
        {"local_address in ::ffff:10.0.0.1-::ffff:10.0.0.9",
         "not (local_address < 10.0.0.1) and not (local_address > 10.0.0.9)"},
        {"local_address in ::-2001::",
         "(not (local_address < ::) and not (local_address > 2001::)) and "
         "not (local_address in ::ffff:0.0.0.0/ffff:ffff:ffff:ffff:ffff:ffff::)"},
        {"local_address in 10.0.0.9-10.0.0.1",
         "at 18: the end of this range is below its beginning"},
        {"local_address > 10.0.0.1",
         "at 17: local_address: addresses cannot be compared with < or >"},
        {"local_address = ::ffff:0:0/64",
         "local_address in ::/ffff:ffff:ffff:ffff:: and "
         "not (local_address in ::ffff:0.0.0.0/ffff:ffff:ffff:ffff:ffff:ffff::)"},
        {"local_address = 10.0.0.1-::1",
         "at 17: local_address takes addresses, such as 192.0.2.1, "
         "10.0.0.0/8, 2001:db8::/32 or fe80::1%eth0, not '10.0.0.1-::1'"},
        {"local_address ~ '10.*'", "local_address ~ 10.*"},
    };
    static const struct meaning neighbours[] = {
        {"lladdr = 02:00:5E:10:00:ff", "lladdr = 02:00:5e:10:00:ff"},
        {"lladdr ~ '02:*'", "lladdr ~ 02:*"},
        {"mac ~ '02:*'", "lladdr ~ 02:*"},
        {"mac = 02:0", "at 7: lladdr takes MAC addresses, such as 02:00:5e:10:00:ff, not '02:0'"},
        {"lladdr = 02:0",
         "at 10: lladdr takes MAC addresses, such as 02:00:5e:10:00:ff, not '02:0'"},
        {"lladdr = 02:00x", "at 10: lladdr takes MAC addresses, such as 02:00:5e:10:00:ff, "
                            "not '02:00x'"},
        {"lladdr = 192.0.2.1", "lladdr = c0:00:02:01"},
    };

    (void)state;
    MEAN(&kind_socket, meanings);
    MEAN(&kind_neighbour, neighbours);
}

/* An address below it and one above it are not in a range. */
static void an_address_is_typed_as_tables_show_it(void **state)
{
    static const struct meaning meanings[] = {
        {"local_address = fe80::5%d0",
         "local_address = fe80::5 and (interface is known and interface = d0)"},
        {"local = [fe80::5%d0]:7004", "local_port = 7004 and (local_address = fe80::5 and "
                                      "(interface is known and interface = d0))"},
        {"local = [fe80::5]%d0:7004", "local_port = 7004 and (local_address = fe80::5 and "
                                      "(interface is known and interface = d0))"},
        {"local = fe80::5%d0:7004", "local_port = 7004 and (local_address = fe80::5 and (interface "
                                    "is known and interface = d0))"},
        {"local_address in 10.0.0.1%d0:*,::1",
         "local_address = ::1 or (local_port = 0 and (local_address = 10.0.0.1 and (interface is "
         "known and interface = d0)))"},
        {"local_address != fe80::5%d0",
         "not (local_address = fe80::5 and (interface is known and interface = d0))"},
        {"local_address in fe80::/64%d0", "local_address in fe80::/ffff:ffff:ffff:ffff:: and "
                                          "(interface is known and interface = d0)"},
        {"local_address in fe80::%d0/64", "local_address in fe80::/ffff:ffff:ffff:ffff:: and "
                                          "(interface is known and interface = d0)"},
        {"local_address = fe80::5%2",
         "local_address = fe80::5 and (interface is known and (interface = 2 or interface = 2))"},
        {"local_address = 127.0.0.1:80", "local_address = 127.0.0.1 and local_port = 80"},
        {"remote = *", "remote_address = 0.0.0.0 or remote_address = ::"},
        {"local = *%d0:80", "local_port = 80 and ((local_address = 0.0.0.0 or local_address = ::) "
                            "and (interface is known and interface = d0))"},
        {"local = @name", "path = @name or path = "},
        {"local = -", "not (local_address is known) and (not (path is known) or path = )"},
        {"local_address = fe80::5%", "at 17: local_address takes addresses, such as 192.0.2.1, "
                                     "10.0.0.0/8, 2001:db8::/32 or fe80::1%eth0, not 'fe80::5%'"},
        {"local_address = [fe80::5%d0",
         "at 17: local_address takes addresses, such as 192.0.2.1, 10.0.0.0/8, 2001:db8::/32 or "
         "fe80::1%eth0, not '[fe80::5%d0'"},
        {"local_address = %d0",
         "at 17: local_address takes addresses, such as 192.0.2.1, 10.0.0.0/8, "
         "2001:db8::/32 or fe80::1%eth0, not '%d0'"},
        {"local_address = fe80::5%d0:x",
         "at 17: local_port takes ports, such as 443, 8000-8999 or https, not 'fe80::5%d0:x'"},
        {"recv = 6/5", "recv_q = 6 and ((backlog = 5 or mem_rcvbuf = 5) or send_q = 5)"},
        {"path = 'a\\x20b'", "path = a\\x20b or path = a b"},
        {"shutdown = -",
         "not (shutdown is known) or shutdown & 0xffffffffffffffff:0xffffffffffffffff = 0"},
        {"recv_q = -", "not recv_q is known"},
        {"recv_q > -", "at 10: recv_q takes numbers of bytes, such as 1500, 64k or 1MB, not '-'"},
    };

    (void)state;
    MEAN(&kind_socket, meanings);
}

static void neighbours_and_flows_are_typed_as_tables_show_them(void **state)
{
    static const struct meaning neighbours[] = {
        {"address = fe80::5%d0", "address = fe80::5 and (interface is known and interface = d0)"},
        {"address = 10.0.0.1:80", "at 11: address has no port: '10.0.0.1:80'"},
    };
    static const struct meaning flows[] = {
        {"orig_src = fe80::5%d0",
         "at 12: flows have no column interface: type the address without '%'"},
        {"from = 10.0.0.1:80", "orig_src = 10.0.0.1 and orig_sport = 80"},
        {"protocol in igmp,ESP,ospf,2,ipsec-ah",
         "protocol = 2 or protocol = 50 or protocol = 89 or protocol = 2 or protocol = 51"},
        {"details = 'icmp_type=13,icmp_code=0,icmp_id=77'",
         "(icmp_type = 13 and icmp_code = 0) and icmp_id = 77"},
        {"details = 'icmp_id=x'",
         "at 12: icmp_id takes numbers, such as 7 or 1-9, not 'icmp_id=x'"},
    };

    (void)state;
    MEAN(&kind_neighbour, neighbours);
    MEAN(&kind_flow, flows);
}

static void a_range_is_met_by_one_address_of_a_list(void **state)
{
    static const struct meaning meanings[] = {
        {"addresses in 10.0.0.0-10.0.0.0", "addresses in 10.0.0.0/255.255.255.255"},
        {"addresses in 10.0.0.0-10.255.255.255", "addresses in 10.0.0.0/255.0.0.0"},
        {"addresses in 0.0.0.0-255.255.255.255", "addresses in 0.0.0.0/0.0.0.0"},
        {"addresses in 10.0.0.3-10.0.0.8", "addresses in 10.0.0.3/255.255.255.255 or "
                                           "addresses in 10.0.0.4/255.255.255.252 or "
                                           "addresses in 10.0.0.8/255.255.255.255"},
        {"addresses in 9.255.255.255-10.0.0.0", "addresses in 9.255.255.255/255.255.255.255 or "
                                                "addresses in 10.0.0.0/255.255.255.255"},
        {"addresses not in 255.255.255.254-255.255.255.255",
         "not addresses in 255.255.255.254/255.255.255.254"},
        {"addresses in fd00::ffff-fd00::1:1",
         "addresses in fd00::ffff/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff or "
         "addresses in fd00::1:0/ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe"},
    };

    (void)state;
    MEAN(&kind_interface, meanings);
}

static void texts_are_taken_as_they_are(void **state)
{
    static const struct meaning meanings[] = {
        {"user = root", "user = root"},
        {"user = 0", "user = 0"},
        {"interface = eth0", "interface = eth0"},
        {"process = nginx", "processes = nginx"},
        {"pid = 12", "processes = 12"},
        {"pid = '12'", "processes = 12"},
        {"pid > 12", "pid > 12"},
        {"pid = 18446744073709551615", "processes = 18446744073709551615"},
        {"pid = 18446744073709551616",
         "at 7: pid takes process ids, such as 812, not '18446744073709551616'"},
        {"pid = nginx", "at 7: pid takes process ids, such as 812, not 'nginx'"},
        {"process = '1234'", "processes = 1234"},
        {"user = '0'", "user = 0"},
        {"user in 0-99", "not (user < 0) and not (user > 99)"},
        {"flags = ACC", "flags & 0x1 = 0x1"},
        {"attention = Peer_Not_Reading", "attention & 0x10 = 0x10"},
        {"state in (LISTEN, CLOSE)", "state = 10 or state = 7"},
        {"state in (LISTEN", "at the end: expected a comma or a closing parenthesis"},
        {"path = 'it''s'", "path = it's"},
        {"path = \"it's\"", "path = it's"},
        {"path = 'and'", "path = and"},
        {"path = in", "path = in"},
        {"path = 'null'", "path = null"},
        {"user > root", "at 8: user: texts cannot be compared with < or >"},
    };

    (void)state;
    MEAN(&kind_socket, meanings);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void units_containers_and_pods_have_short_names(void **state)
{
    static const struct meaning meanings[] = {
        {"unit = nginx", "unit = nginx.service"},
        {"unit = nginx.socket", "unit = nginx.socket"},
        {"unit ~ nginx", "unit ~ nginx"},
        {"container = " ID, "container = 0123456789ab"},
        {"container = " ID "0", "container = " ID "0"},
        {"container = 0123", "container = 0123"},
        {"container_name = nginx", "container_name = nginx"},
        {"pod = web", "pod = web"},
        {"pod_name != web", "not pod_name ~ */web"},
        {"pod_name = default/web", "pod_name = default/web"},
        {"cgroup = web", "cgroup = web"},
    };

    (void)state;
    MEAN(&kind_socket, meanings);
}

static void booleans_have_several_words(void **state)
{
    static const struct meaning meanings[] = {
        {"autobound = true", "autobound = 1"},    {"autobound = No", "autobound = 0"},
        {"v6only != 1", "not v6only = 1"},        {"v6only in yes,no", "v6only = 1 or v6only = 0"},
        {"v6only = null", "not v6only is known"},
    };

    (void)state;
    mean(&kind_socket, meanings, COUNT(meanings));
}

static void times_are_utc_unless_they_say_otherwise(void **state)
{
    static const char refused[] =
        "at 8: time takes times, such as 2026-11-22T21:30:00Z or 2026-11-22, not '";
    static const struct meaning meanings[] = {
        {"time > 2026-11-20T13:21:18.848635Z", "time > 1795180878848635000 ns"},
        {"time = 2026-11-20T13:21:18.848635Z",
         "not (time < 1795180878848635000 ns) and not (time > 1795180878848635999 ns)"}, /* as shown
                                                                                          */
        {"time < 2026-11-20T13:21:18+01:30", "time < 1795175478000000000 ns"},
        {"time < 2026-11-20T13:21-00:01", "time < 1795180920000000000 ns"},
        {"time > 2024-02-29T23:59:60", "time > 1709251200000000000 ns"},
        {"time > 2026-11-20", "time > 1795132800000000000 ns"},
        {"start > 1795180878.5", "start > 1795180878500000000 ns"},
    };
    static const char *const wrong[] = {"13:21", "2026-11-20T",          "2026-13-20",
                                        "1e9",   "2026-02-29",           "2026-04-31T00:00:00Z",
                                        "-1",    "2026-11-20T13:21:18X", "99999999999999"};

    (void)state;
    mean(&kind_flow, meanings, COUNT(meanings));
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char text[64];
        snprintf(text, sizeof text, "time = %s", wrong[i]);
        assert_memory_equal(meaning_of(&kind_flow, text), refused, sizeof refused - 1);
    }
}

static void errors_name_their_position(void **state)
{
    static const struct meaning meanings[] = {
        {"", "at the end: expected a column"},
        {"  ", "at the end: expected a column"},
        {"and", "at 1: expected a column, not 'and'"},
        {"'uid' = 1", "at 2: expected a column, not 'uid'"},
        {"remote_addres = 1",
         "at 1: no column 'remote_addres' for sockets; did you mean remote_address?"},
        {"remote-adress = ::",
         "at 1: no column 'remote-adress' for sockets; did you mean remote_address?"},
        {"destination-port = 22",
         "at 1: no column 'destination-port' for sockets (--columns=help lists them)"},
        {"host = ::", "at 8: host takes the name of a machine (--host= takes addresses), not '::'"},
        {"autobound = 2", "at 13: autobound takes = true or = false, not '2'"},
        {"autobound > no", "at 13: autobound: true and false cannot be compared with < or >"},
        {"autobound ~ no", "at 13: autobound has no text to compare with a pattern"},
        {"state = ESTABLISH", "at 9: no state 'ESTABLISH'; did you mean ESTABLISHED?"},
        {"state = syn-rec", "at 9: no state 'syn-rec'; did you mean SYN_RECV?"},
        {"xyzzy = 1", "at 1: no column 'xyzzy' for sockets (--columns=help lists them)"},
        {"autobound", "at the end: expected = != < <= > >= ~ !~ ~~ !~~ or in"},
        {"uid = 1 and uid", "at the end: expected = != < <= > >= ~ !~ ~~ !~~ or in"},
        {"uid 1", "at 5: expected = != < <= > >= ~ !~ ~~ !~~ or in, not '1'"},
        {"uid not 1", "at 9: expected in, not '1'"},
        {"uid =", "at the end: expected a value"},
        {"uid = ,", "at 7: expected a value, not ','"},
        {"uid = 1,", "at the end: expected a value"},
        {"uid < 1,2", "at 8: < <= > >= take only one value"},
        {"uid < null", "at 7: null can only be compared with = and !="},
        {"uid = 1 uid = 2", "at 9: expected 'and', 'or' or the end, not 'uid'"},
        {"uid = 1)", "at 8: expected 'and', 'or' or the end, not ')'"},
        {"(uid = 1", "at the end: expected 'and', 'or' or a closing parenthesis"},
        {"(uid = 1 2", "at 10: expected 'and', 'or' or a closing parenthesis, not '2'"},
        {"uid = 1 & uid = 2", "at 9: expected 'and', 'or' or the end, not '&'"},
        {"uid = 1 and", "at the end: expected a column"},
        {"path = 'x", "at 9: this quote is not closed"},
        {"uid \x01 1", "at 5: expected = != < <= > >= ~ !~ ~~ !~~ or in, not '\\x01'"},
    };

    (void)state;
    MEAN(&kind_socket, meanings);
}

static void a_value_may_be_another_column(void **state)
{
    static const struct meaning meanings[] = {
        {"rtt > 10*min_rtt", "rtt > 10000000 millionths of min_rtt"},
        {"rtt > 10 * min-rtt", "rtt > 10000000 millionths of min_rtt"},
        {"rtt > 10* min_rtt", "rtt > 10000000 millionths of min_rtt"},
        {"rtt <= 1.5 *min_rtt", "not rtt > 1500000 millionths of min_rtt"},
        {"recv_q >= backlog", "not recv_q < 1000000 millionths of backlog"},
        {"recv_q in send_q,5", "recv_q = 1000000 millionths of send_q or recv_q = 5"},
        {"remote_address != local", "not remote_address = 1000000 millionths of local_address"},
        {"local_port = remote_port", "local_port = 1000000 millionths of remote_port"},
        {"local_port = time", "local_port = 37"}, /* the service */
        {"local_port = 2*time",
         "at 14: local_port cannot be compared with '2*time': both must be numbers"},
        {"rtt > 2 *\nrecv_q",
         "at 7: rtt cannot be compared with '2 *\\x0arecv_q': their units differ"},
        {"rtt > recv_q", "at 7: rtt cannot be compared with 'recv_q': their units differ"},
        {"rtt = state", "at 7: rtt cannot be compared with 'state': both must be numbers"},
        {"uid = pid", "at 7: uid cannot be compared with 'pid': a socket can have several "
                      "processes, so this column is a list"},
        {"local_address = 2*local",
         "at 17: local_address cannot be compared with '2*local': both must be numbers"},
        {"local_address < local", "at 17: local_address: addresses cannot be compared with < or >"},
        {"rtt > 10*minrtt", "at 7: no column 'minrtt' for sockets; did you mean min_rtt?"},
        {"rtt > min_rtt*10", "at 7: write the number first: 10*min_rtt"},
        {"rtt > minrtt * 10", "at 7: rtt takes times, such as 50ms, 1.5s, 2m or 1h, not 'minrtt'"},
        {"rtt > min-rtt *1.5", "at 15: expected 'and', 'or' or the end, not '*1.5'"},
        {"rtt > 10*", "at 7: no column '' for sockets (--columns=help lists them)"},
        {"rtt > 9999999999*min_rtt",
         "at 7: rtt takes times, such as 50ms, 1.5s, 2m or 1h, not '9999999999*min_rtt'"},
        {"rtt > 'min_rtt'", "at 8: rtt takes times, such as 50ms, 1.5s, 2m or 1h, not 'min_rtt'"},
        {"process = state", "processes = state"},
        {"path ~ 5*rtt", "path ~ 5*rtt"},
        {"path ~ a* b", "at 11: expected 'and', 'or' or the end, not 'b'"},
    };

    (void)state;
    MEAN(&kind_socket, meanings);
}

static void comparisons_are_written_as_they_were_typed(void **state)
{
    static const struct meaning sockets[] = {
        {"uid=1||uid=2&&!uid=3", "uid=1 or uid=2 and not uid=3"},
        {"(uid in 1,2 or uid in 3) and inode = 3", "(uid in 1,2 or uid in 3) and inode = 3"},
        {"uid not in (1,5-9) and inode = 3", "uid not in (1,5-9) and inode = 3"},
        {"((uid = 1) and inode = 2) and inode = 3", "uid = 1 and inode = 2 and inode = 3"},
        {"not (uid = 1 and inode = 3)", "not (uid = 1 and inode = 3)"},
        {"not (not uid = 1)", "not not uid = 1"},
        {"not (uid in 1,2)", "not uid in 1,2"},
        {"not recv_q >= 2 *\tsend_q", "not recv_q >= 2 * send_q"},
        {"send_q > 64k or expires < 1.5s", "send_q > 64k or expires < 1.5s"},
        {"local_port in 1,2,3,4,5,6,7,8,9,10", "local_port in 1,2,3,4,5,6,7,8,9,10"},
        {"local_address in ::/0,10.0.0.9/255.0.255.0",
         "local_address in ::/0,10.0.0.9/255.0.255.0"},
        {"path = @x or path != 'it''s',\"it's\"", "path = @x or path != 'it''s',\"it's\""},
        {"\n uid\n\t=  1\nand path = ' \"  x\n'\n", "uid = 1 and path = ' \"  x\n'"},
        {"process = a and uid = 1", "uid = 1 and process = a"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(sockets); i++)
        assert_string_equal(written_as(&kind_socket, sockets[i].text), sockets[i].said);
}

static void put_also(FILE *out, const struct predicate *predicate)
{
    const struct predicate not_so = {.operation = PREDICATE_NOT, .parts = predicate};

    where_put(out, predicate);
    fputs("; ", out);
    where_put(out, &not_so);
    fputc('\n', out);
}

/* Made by an option, and not typed. */
static void predicates_of_options_are_written_too(void **state)
{
    const struct network network = {IPV4(10, 0, 0, 0), 8};
    const struct field *local = field_named(&kind_socket, "local_address"),
                       *uid = field_named(&kind_socket, "uid"),
                       *mark = field_named(&kind_flow, "mark");
    struct predicate below = predicate_number(uid, 5), above = below, glob, masked;
    struct predicate parts[] = {below, predicate_number(uid, 6)};
    struct predicate others[] = {predicate_known(uid), predicate_within(local, &network)};
    char text[1024] = "";
    FILE *out = fmemopen(text, sizeof text, "w");

    (void)state;
    assert_non_null(out);
    below.operation = PREDICATE_BELOW;
    above.operation = PREDICATE_ABOVE;
    glob = predicate_text(field_named(&kind_socket, "path"), "it's *");
    glob.operation = PREDICATE_GLOB;
    masked = others[1];
    masked.mask.address[2] = 0xff;
    const struct predicate made[] = {
        predicate_masked(field_named(&kind_flow, "status"), IPS_ASSURED, IPS_ASSURED | IPS_SRC_NAT),
        predicate_one_of(field_named(&kind_socket, "state"), 1 << TCP_LISTEN | 1 << TCP_CLOSE),
        predicate_one_of(field_named(&kind_socket, "state"), 1 << TCP_LISTEN),
        predicate_masked(mark, 5, 7),
        predicate_known(uid),
        below,
        above,
        glob,
        predicate_text(field_named(&kind_socket, "interface"), "eth0"),
        predicate_number(field_named(&kind_socket, "autobound"), 1),
        predicate_address(local, &network.address),
        others[1],
        masked,
        whole_of(PREDICATE_OR, parts, COUNT(parts)),
        whole_of(PREDICATE_OR, others, COUNT(others)),
    };
    for (size_t i = 0; i < COUNT(made); i++)
        put_also(out, &made[i]);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "status = ASSURED and status != SRC_NAT; "
                              "not (status = ASSURED and status != SRC_NAT)\n"
                              "state in CLOSE,LISTEN; state not in CLOSE,LISTEN\n"
                              "state = LISTEN; state != LISTEN\n"
                              "mark = 0x5/0x7; mark != 0x5/0x7\n"
                              "uid != null; uid = null\n"
                              "uid < 5; uid >= 5\n"
                              "uid > 5; uid <= 5\n"
                              "path ~~ 'it''s *'; path !~~ 'it''s *'\n"
                              "interface = eth0; interface != eth0\n"
                              "autobound = true; autobound != true\n"
                              "local_address = 10.0.0.0; local_address != 10.0.0.0\n"
                              "local_address in 10.0.0.0/8; local_address not in 10.0.0.0/8\n"
                              "local_address in 10.0.0.0/255.0.255.0; "
                              "local_address not in 10.0.0.0/255.0.255.0\n"
                              "uid = 5 or uid = 6; not (uid = 5 or uid = 6)\n"
                              "uid != null or local_address in 10.0.0.0/8; "
                              "not (uid != null or local_address in 10.0.0.0/8)\n");
}

static void depth_has_a_bound_and_length_has_none(void **state)
{
    enum { DEEP = 70, LONG = 5000 };
    static char text[16 * LONG];
    char *at = text;

    (void)state;
    memset(text, '(', DEEP);
    sprintf(text + DEEP, "uid = 1");
    assert_string_equal(meaning_of(&kind_socket, text),
                        "at 65: the filter is nested more than 64 deep");
    for (size_t i = 0; i < LONG; i++)
        at += sprintf(at, "uid = 1 or ");
    sprintf(at, "uid = 2");

    struct where where = {0};
    const struct record record = {.kind = &kind_socket, .has = UINT64_MAX, .socket.uid = 2};
    assert_true(predicate_holds(where_parse(&where, &kind_socket, text), &record, &no_names));
    where_finish(&where);
}

/* --- Lists ------------------------------------------------------------------------------------ */

static const char *list_of(const struct kind *kind, const char *columns, const char *text)
{
    static char said[1024];
    struct where where = {0};
    const struct predicate *predicate = where_parse_list(&where, kind, columns, text);

    snprintf(said, sizeof said, "%s", predicate ? said_of(predicate) : where.message);
    where_finish(&where);
    return said;
}

static void a_list_is_for_all_columns_that_rows_have(void **state)
{
    static const char *const ports = "local_port remote_port orig_dport";

    (void)state;
    assert_string_equal(list_of(&kind_socket, ports, "22"), "local_port = 22 or remote_port = 22");
    assert_string_equal(list_of(&kind_flow, ports, "22"), "orig_dport = 22");
    assert_string_equal(
        list_of(&kind_route, ports, "22"),
        "routes have none of the columns that this filter compares (--columns=help lists theirs)");
    assert_string_equal(list_of(&kind_socket, "state", "listen,CLOSE"), "state = 10 or state = 7");
    assert_string_equal(list_of(&kind_socket, "state", "!listen"), "not state = 10");
    assert_string_equal(list_of(&kind_socket, ports, "22 23"),
                        "at 4: expected a comma or the end, not '23'");
    assert_string_equal(list_of(&kind_socket, ports, ""), "at the end: expected a value");
    assert_string_equal(list_of(&kind_socket, ports, "x"),
                        "at 1: it takes ports, such as 443, 8000-8999 or https, not 'x'");
    assert_string_equal(list_of(&kind_socket, "local_address remote_address", "[::1]"),
                        "local_address = ::1 or remote_address = ::1");
}

/* --- Rows ------------------------------------------------------------------------------------- */

static bool wants(const char *text, const struct record *record)
{
    struct where where = {0};
    const struct predicate *predicate = where_parse(&where, record->kind, text);
    bool holds;

    if (!predicate)
        fail_msg("%s: %s", text, where.message);
    holds = predicate_holds(predicate, record, &no_names);
    where_finish(&where);
    return holds;
}

static void a_long_list_of_numbers_is_one_comparison(void **state)
{
    static const struct meaning meanings[] = {
        {"local_port in 9,8,7,20-30,25-40,41,1,3,65535,3,50,60,70,80",
         "local_port among 1-1,3-3,7-9,20-41,50-50,60-60,70-70,80-80,65535-65535"},
        {"uid not in 0,2,4,6,8,10,12,14,16", "not uid among 0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,"
                                             "16-16"},
        {"uid in 18446744073709551615,0,2,4,6,8,10,12,14,16-18446744073709551614",
         "uid among 0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-18446744073709551615"},
        {"user in 0,2,4,6,8,10,12,14,100-200",
         "user among 0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,100-200"},
    };
    struct record record = {.kind = &kind_socket, .has = UINT64_MAX};

    (void)state;
    MEAN(&kind_socket, meanings);
    for (unsigned uid = 0; uid < 20; uid++) {
        record.socket.uid = uid;
        assert_int_equal(wants("uid in 1,5,3,9,7-8,13,11,15,17", &record),
                         (uid % 2 && uid < 19) || uid == 8);
    }
}

/* Groups of netlink have no names: they are shown, and matched, as numbers. */
static void a_flag_without_a_name_is_matched_by_its_number(void **state)
{
    static const unsigned long groups = 1UL << 6 | 1UL << 0;
    struct record record = {.kind = &kind_socket, .has = UINT64_MAX};

    (void)state;
    record.socket.groups = (struct text){(const char *)&groups, sizeof groups};
    assert_true(wants("groups = 7", &record));
    assert_true(wants("groups ~ '7'", &record));
    assert_true(wants("groups ~~ '?' and groups !~ '7?'", &record));
    assert_false(wants("groups !~ '1'", &record));
    assert_false(wants("groups ~ '6'", &record));
}

static void rows_are_met_and_missed(void **state)
{
    const struct record tcp = {
        .kind = &kind_socket,
        .has = UINT64_MAX,
        .socket = {.family = AF_INET,
                   .protocol = IPPROTO_TCP,
                   .state = TCP_LISTEN,
                   .recv_q = 70000,
                   .local = {IPV4(10, 1, 2, 3), 8443}},
    };
    struct record abstract = {.kind = &kind_socket, .has = UINT64_MAX};
    struct record path = abstract;

    (void)state;
    assert_true(wants("state = listen and local_address in 10.0.0.0/8", &tcp));
    assert_true(wants("local_port in 8000-8999 and recv_q > 64k", &tcp));
    assert_false(wants("local_port in 8444-8999", &tcp));
    assert_false(wants("local_address = 11.0.0.0/8", &tcp));
    assert_true(wants("local_address in 10.1.2.0-10.1.2.3", &tcp));
    assert_false(wants("local_address in 10.1.2.4-10.1.2.9", &tcp));
    assert_true(wants("local_address ~ '10.1.?.3'", &tcp));
    assert_true(wants("local_address !~ '10.1.?.4'", &tcp));

    assert_true(wants("recv_q > local_port and recv_q >= 8*local_port", &tcp));
    assert_false(wants("recv_q > 9*local_port or local_port = remote_port", &tcp));
    assert_false(wants("local_address = remote_address", &tcp));

    abstract.socket.family = path.socket.family = AF_UNIX;
    abstract.socket.path = (struct text){"\0x", 2};
    path.socket.path = (struct text){"@x", 2};
    assert_true(wants("path = @x", &abstract));
    assert_true(wants("path = @x", &path));
    assert_true(wants("path ~ '@?'", &abstract));
    assert_false(wants("path ~ '[@]X'", &path));
    assert_true(wants("path ~~ '[@]X'", &path));
    assert_true(wants("path ~~ '@X' and path !~~ '@[!x]'", &abstract));
    assert_false(wants("path = x", &abstract));
    assert_false(wants("local_port = 0", &path)); /* null matches nothing ... */
    assert_false(wants("local_port != 0", &path));
    assert_true(wants("local_port = null", &path)); /* ... but itself */
}

/* --- Names ------------------------------------------------------------------------------------ */

static void a_service_has_the_ports_of_all_its_lines(void **state)
{
    static const char file[] = "# https 1/tcp\n"
                               "ssh 22/tcp\n"
                               "ssh\t22/udp secure-shell # https\n"
                               "two 100/tcp\n"
                               "two 200/udp\n"
                               "bad\n"
                               "worse 70000/tcp\n"
                               "no-end 7/tcp alias";
    char path[] = "/tmp/test_where-XXXXXX";
    const int fd = mkstemp(path);
    uint16_t ports[4];

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, file, sizeof file - 1), sizeof file - 1);
    close(fd);
    assert_int_equal(services_ports(path, "SSH", NULL, ports, COUNT(ports)), 1);
    assert_int_equal(ports[0], 22);
    assert_int_equal(services_ports(path, "secure-shell", NULL, ports, COUNT(ports)), 1);
    assert_int_equal(services_ports(path, "two", NULL, ports, COUNT(ports)), 2);
    assert_int_equal(ports[0], 100);
    assert_int_equal(ports[1], 200);
    assert_int_equal(services_ports(path, "two", NULL, ports, 1), 1);
    assert_int_equal(services_ports(path, "two", "udp", ports, COUNT(ports)), 1);
    assert_int_equal(ports[0], 200);
    assert_int_equal(services_ports(path, "two", "udp tcp", ports, COUNT(ports)), 2);
    assert_int_equal(services_ports(path, "two", "", ports, COUNT(ports)), 0);
    assert_int_equal(services_ports(path, "alias", NULL, ports, COUNT(ports)), 1);
    assert_int_equal(services_ports(path, "https", NULL, ports, COUNT(ports)), 0);
    assert_int_equal(services_ports(path, "bad", NULL, ports, COUNT(ports)), 0);
    assert_int_equal(services_ports(path, "worse", NULL, ports, COUNT(ports)), 0);
    assert_int_equal(services_ports("/nonexistent", "ssh", NULL, ports, COUNT(ports)), 0);
    unlink(path);
}

static const char *meant(const char *typed)
{
    static const char *const words[] = {"remote_address", "remote_port", "state", "uid", "inode"};
    struct misuse misuse = {.typed = as_text(typed)};

    for (size_t i = 0; i < COUNT(words); i++)
        misuse_offer(&misuse, words[i]);
    return misuse.meant.data ? misuse.meant.data : "";
}

static void the_nearest_word_is_one_that_looks_alike(void **state)
{
    (void)state;
    assert_string_equal(meant("remote_addres"), "remote_address");
    assert_string_equal(meant("Remote-Address"), "remote_address");
    assert_string_equal(meant("remoteport"), "remote_port");
    assert_string_equal(meant("sttae"), "state");
    assert_string_equal(meant("indoe"), "inode");
    assert_string_equal(meant("rem"), "remote_address"); /* a beginning: the first that has it */
    assert_string_equal(meant("re"), "");
    assert_string_equal(meant("udi"), "uid");
    assert_string_equal(meant("gad"), ""); /* most of it is wrong */
    assert_string_equal(meant("nginx"), "");
    assert_string_equal(meant(""), "");
    assert_string_equal(meant("remote_address_that_is_far_too_long_for_a_column"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(and_binds_closer_than_or_and_not_closer_than_both),
        cmocka_unit_test(comparisons_have_one_meaning_in_each_spelling),
        cmocka_unit_test(numbers_are_in_the_unit_of_their_column),
        cmocka_unit_test(units_are_typed_as_people_write_them),
        cmocka_unit_test(units_that_do_not_fit_are_refused),
        cmocka_unit_test(a_lone_column_asks_for_quotes),
        cmocka_unit_test(localhost_is_not_looked_up),
        cmocka_unit_test(numbers_that_a_column_cannot_have_are_refused),
        cmocka_unit_test(words_are_known_in_any_case),
        cmocka_unit_test(words_are_known_with_dashes_or_without),
        cmocka_unit_test(states_have_the_names_of_ss),
        cmocka_unit_test(names_of_the_kernel_are_known_in_any_case),
        cmocka_unit_test(words_of_attributes_are_known_in_any_case),
        cmocka_unit_test(numbers_with_names_are_known_by_both),
        cmocka_unit_test(each_column_takes_or_refuses_each_value),
        cmocka_unit_test(addresses_are_compared_with_networks_and_ranges),
        cmocka_unit_test(an_address_is_typed_as_tables_show_it),
        cmocka_unit_test(neighbours_and_flows_are_typed_as_tables_show_them),
        cmocka_unit_test(a_range_is_met_by_one_address_of_a_list),
        cmocka_unit_test(texts_are_taken_as_they_are),
        cmocka_unit_test(units_containers_and_pods_have_short_names),
        cmocka_unit_test(booleans_have_several_words),
        cmocka_unit_test(times_are_utc_unless_they_say_otherwise),
        cmocka_unit_test(errors_name_their_position),
        cmocka_unit_test(a_long_list_of_numbers_is_one_comparison),
        cmocka_unit_test(a_value_may_be_another_column),
        cmocka_unit_test(comparisons_are_written_as_they_were_typed),
        cmocka_unit_test(predicates_of_options_are_written_too),
        cmocka_unit_test(depth_has_a_bound_and_length_has_none),
        cmocka_unit_test(a_list_is_for_all_columns_that_rows_have),
        cmocka_unit_test(a_flag_without_a_name_is_matched_by_its_number),
        cmocka_unit_test(rows_are_met_and_missed),
        cmocka_unit_test(a_service_has_the_ports_of_all_its_lines),
        cmocka_unit_test(the_nearest_word_is_one_that_looks_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
