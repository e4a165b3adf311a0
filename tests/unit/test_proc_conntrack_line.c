/* SPDX-License-Identifier: MIT */
/* Flows and expectations: lines of a real kernel, cut ones, forged ones. */
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/flow/decode.h"
#include "backend/proc/lines.h"
#include "kit.h"

#define BASIC (FLOW_ORIG | FLOW_REPLY | FLOW_STATUS | FLOW_USE | FLOW_TIMEOUT)

/* As Linux 6.18 wrote them, with accounting and timestamps. */
static const char tcp[] =
    "ipv4     2 tcp      6 431999 ESTABLISHED src=127.0.0.1 dst=127.0.0.2 sport=49214 dport=21 "
    "packets=6 bytes=348 src=127.0.0.2 dst=127.0.0.1 sport=21 dport=49214 packets=5 bytes=321 "
    "[ASSURED] mark=85 zone=0 delta-time=7 use=2";
static const char udp6[] =
    "ipv6     10 udp      17 29 src=2001:0db8:0000:0000:0000:0000:0000:0001 "
    "dst=2001:0db8:0000:0000:0000:0000:0000:0002 sport=44307 dport=53 [UNREPLIED] "
    "src=2001:0db8:0000:0000:0000:0000:0000:0002 dst=2001:0db8:0000:0000:0000:0000:0000:0001 "
    "sport=53 dport=44307 mark=0 zone=0 use=2";
static const char expected_ftp[] =
    "299 l3proto = 2 proto=6 src=127.0.0.1 dst=127.0.0.2 sport=0 dport=25602 ftp";

/* --- One flow --------------------------------------------------------------------------------- */

/* The line is decoded where nothing lies behind it, so that a sanitizer sees a byte too many. */
static int decode(const char *data, size_t length, bool expectation, struct record *record,
                  char text[64])
{
    char *exact = malloc(length ? length : 1);
    struct line line = {.data = exact, .length = length};
    int result;

    assert_non_null(exact);
    memcpy(exact, data, length);
    memset(record, 0xa5, sizeof *record);
    result = expectation ? proc_conntrack_decode_expectation(&line, record)
                         : proc_conntrack_decode_flow(&line, record);
    if (result == 0) {
        struct text *borrowed = expectation ? &record->expectation.helper : &record->flow.secctx;
        assert_in_range(borrowed->length, 0, length);
        if (borrowed->length && borrowed->length < 64)
            memcpy(text, borrowed->data, borrowed->length);
        borrowed->data = text;
    }
    free(exact);
    return result;
}

static struct record flow_of(const char *line)
{
    struct record record;
    static char text[64];

    assert_int_equal(decode(line, strlen(line), false, &record, text), 0);
    assert_int_equal(record.kind, &kind_flow);
    assert_int_equal(record.has & ~backend_fields(&backend_proc_conntrack, &table_flows), 0);
    return record;
}

static struct record expectation_of(const char *line)
{
    struct record record;
    static char text[64];

    assert_int_equal(decode(line, strlen(line), true, &record, text), 0);
    assert_int_equal(record.kind, &kind_expectation);
    return record;
}

static void refuse(const char *line)
{
    struct record record;
    char text[64];

    assert_int_equal(decode(line, strlen(line), false, &record, text), -EBADMSG);
}

static void a_flow_has_every_word_of_its_line(void **state)
{
    struct record record = flow_of(tcp);
    const struct flow_record *flow = &record.flow;

    (void)state;
    assert_int_equal(record.has,
                     BASIC | FLOW_STATE | FLOW_MARK | FLOW_ORIG_COUNTERS | FLOW_REPLY_COUNTERS);
    assert_int_equal(flow->family, AF_INET);
    assert_int_equal(flow->timeout, 431999);
    assert_int_equal(flow->state, 3); /* TCP_CONNTRACK_ESTABLISHED */
    assert_int_equal(flow->way[WAY_ORIG].tuple.protocol, IPPROTO_TCP);
    assert_int_equal(flow->way[WAY_REPLY].tuple.protocol, IPPROTO_TCP);
    assert_ip(&flow->way[WAY_ORIG].tuple.src, "127.0.0.1");
    assert_ip(&flow->way[WAY_ORIG].tuple.dst, "127.0.0.2");
    assert_ip(&flow->way[WAY_REPLY].tuple.src, "127.0.0.2");
    assert_ip(&flow->way[WAY_REPLY].tuple.dst, "127.0.0.1");
    assert_int_equal(flow->way[WAY_ORIG].tuple.src_port, 49214);
    assert_int_equal(flow->way[WAY_ORIG].tuple.dst_port, 21);
    assert_int_equal(flow->way[WAY_REPLY].tuple.src_port, 21);
    assert_int_equal(flow->way[WAY_REPLY].tuple.dst_port, 49214);
    assert_true(flow->way[WAY_ORIG].tuple.has_ports && flow->way[WAY_REPLY].tuple.has_ports);
    assert_int_equal(flow->way[WAY_ORIG].packets, 6);
    assert_int_equal(flow->way[WAY_ORIG].bytes, 348);
    assert_int_equal(flow->way[WAY_REPLY].packets, 5);
    assert_int_equal(flow->way[WAY_REPLY].bytes, 321);
    assert_int_equal(flow->mark, 85);
    assert_int_equal(flow->status, IPS_CONFIRMED | IPS_SEEN_REPLY | IPS_ASSURED);
}

static void an_ipv6_flow_without_accounting_has_no_counters(void **state)
{
    struct record record = flow_of(udp6);

    (void)state;
    assert_int_equal(record.has, BASIC | FLOW_MARK);
    assert_int_equal(record.flow.family, AF_INET6);
    assert_ip(&record.flow.way[WAY_ORIG].tuple.src, "2001:db8::1");
    assert_ip(&record.flow.way[WAY_REPLY].tuple.src, "2001:db8::2");
    assert_int_equal(record.flow.status, IPS_CONFIRMED);
}

/* conntrack -L says use=1 of the flow that the file says use=2 of. */
static void the_reference_of_reading_is_not_counted(void **state)
{
    (void)state;
    assert_int_equal(flow_of(tcp).flow.use, 1);
    assert_int_equal(flow_of("ipv4 2 unknown 253 599 src=1.2.3.4 dst=5.6.7.8 src=5.6.7.8 "
                             "dst=1.2.3.4 use=0")
                         .flow.use,
                     0);
}

static void icmp_has_type_code_and_id(void **state)
{
    struct record record =
        flow_of("ipv4     2 icmp     1 29 src=10.0.0.1 dst=10.0.0.2 type=8 code=1 id=4660 "
                "src=10.0.0.2 dst=10.0.0.1 type=0 code=1 id=4660 mark=0 use=2");

    (void)state;
    assert_int_equal(record.flow.way[WAY_ORIG].tuple.icmp_type, 8);
    assert_int_equal(record.flow.way[WAY_ORIG].tuple.icmp_code, 1);
    assert_int_equal(record.flow.way[WAY_ORIG].tuple.src_port, 4660);
    assert_int_equal(record.flow.way[WAY_ORIG].tuple.dst_port, 0);
    assert_int_equal(record.flow.way[WAY_REPLY].tuple.icmp_type, 0);
    assert_int_equal(record.flow.way[WAY_REPLY].tuple.src_port, 4660);
    assert_false(record.flow.way[WAY_ORIG].tuple.has_ports);
    assert_false(record.has & FLOW_STATE);
    assert_int_equal(record.flow.status, IPS_CONFIRMED | IPS_SEEN_REPLY);
}

static void gre_has_keys_and_its_own_timeouts_are_passed_over(void **state)
{
    struct record record = flow_of(
        "ipv4     2 gre      47 29 timeout=30, stream_timeout=180 src=127.0.0.1 dst=127.0.0.1 "
        "srckey=0x0 dstkey=0xfffe [UNREPLIED] src=127.0.0.1 dst=127.0.0.1 srckey=0xfffe "
        "dstkey=0x0 mark=85 zone=0 use=2");

    (void)state;
    assert_int_equal(record.flow.timeout, 29);
    assert_int_equal(record.flow.way[WAY_ORIG].tuple.src_port, 0);
    assert_int_equal(record.flow.way[WAY_ORIG].tuple.dst_port, 0xfffe);
    assert_int_equal(record.flow.way[WAY_REPLY].tuple.src_port, 0xfffe);
    assert_true(record.flow.way[WAY_ORIG].tuple.has_ports &&
                record.flow.way[WAY_REPLY].tuple.has_ports);
    assert_int_equal(record.flow.status, IPS_CONFIRMED);
}

static void protocols_have_states_of_their_own(void **state)
{
    static const char line[] =
        "ipv4     2 %s 9 %s src=127.0.0.1 dst=127.0.0.1 sport=1000 dport=2000 "
        "src=127.0.0.1 dst=127.0.0.1 sport=2000 dport=1000 use=2";
    static const struct {
        const char *protocol, *name;
        uint8_t state;
    } cases[] = {
        {"tcp 6", "SYN_SENT", 1},          {"tcp 6", "CLOSE", 8},
        {"tcp 6", "SYN_SENT2", 9},         {"sctp 132", "CLOSED", 1},
        {"sctp 132", "ESTABLISHED", 4},    {"sctp 132", "HEARTBEAT_ACKED", 9},
        {"unknown 132", "COOKIE_WAIT", 2}, {"dccp 33", "REQUEST", 1},
        {"dccp 33", "INVALID", 9},
    };
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, line, cases[i].protocol, cases[i].name);
        assert_true(flow_of(text).has & FLOW_STATE);
        assert_int_equal(flow_of(text).flow.state, cases[i].state);
    }
    snprintf(text, sizeof text, line, "tcp 6", "NEW_STATE");
    assert_false(flow_of(text).has & FLOW_STATE);
    snprintf(text, sizeof text, line, "udp 17", "ESTABLISHED");
    assert_false(flow_of(text).has & FLOW_STATE);
}

static void a_protocol_that_is_not_tracked_has_no_ports(void **state)
{
    struct record record =
        flow_of("ipv4     2 unknown  33 599 src=127.0.0.1 dst=127.0.0.1 packets=1 bytes=44 "
                "[UNREPLIED] src=127.0.0.1 dst=127.0.0.1 packets=0 bytes=0 mark=85 zone=0 use=2");

    (void)state;
    assert_int_equal(record.flow.way[WAY_ORIG].tuple.protocol, IPPROTO_DCCP);
    assert_int_equal(record.flow.way[WAY_ORIG].tuple.src_port, 0);
    assert_false(record.flow.way[WAY_ORIG].tuple.has_ports ||
                 record.flow.way[WAY_REPLY].tuple.has_ports);
    assert_true(record.has & FLOW_REPLY_COUNTERS);
    assert_int_equal(record.flow.timeout, 599);
}

static void an_offloaded_flow_has_neither_timeout_nor_state(void **state)
{
    static const char line[] =
        "ipv4     2 tcp      6 src=127.0.0.1 dst=127.0.0.2 sport=1 dport=2 src=127.0.0.2 "
        "dst=127.0.0.1 sport=2 dport=1 %s mark=0 use=2";
    char text[256];
    struct record record;

    (void)state;
    snprintf(text, sizeof text, line, "[OFFLOAD]");
    record = flow_of(text);
    assert_int_equal(record.has, (BASIC & ~FLOW_TIMEOUT) | FLOW_MARK);
    assert_int_equal(record.flow.status, IPS_CONFIRMED | IPS_SEEN_REPLY | IPS_OFFLOAD);
    snprintf(text, sizeof text, line, "[HW_OFFLOAD]");
    assert_int_equal(flow_of(text).flow.status,
                     IPS_CONFIRMED | IPS_SEEN_REPLY | IPS_OFFLOAD | IPS_HW_OFFLOAD);
    snprintf(text, sizeof text, line, "[OFFLOAD]er");
    assert_int_equal(flow_of(text).flow.status, IPS_CONFIRMED | IPS_SEEN_REPLY);
}

/* zone=0 is in every line, but ctnetlink has none then. */
static void a_zone_is_of_both_directions_or_of_one(void **state)
{
    static const char line[] =
        "ipv4 2 udp 17 29 src=127.0.0.1 dst=127.0.0.2 sport=1 dport=2 %s src=127.0.0.2 "
        "dst=127.0.0.1 sport=2 dport=1 %s mark=0 %s use=2";
    char text[256];
    struct record record;

    (void)state;
    snprintf(text, sizeof text, line, "", "", "zone=0");
    assert_int_equal(flow_of(text).has, BASIC | FLOW_MARK);
    snprintf(text, sizeof text, line, "", "", "zone=65535");
    record = flow_of(text);
    assert_int_equal(record.has, BASIC | FLOW_MARK | FLOW_ZONE);
    assert_int_equal(record.flow.zone, 65535);
    snprintf(text, sizeof text, line, "zone-orig=8", "", "");
    record = flow_of(text);
    assert_int_equal(record.has, BASIC | FLOW_MARK | FLOW_ORIG_ZONE);
    assert_int_equal(record.flow.way[WAY_ORIG].zone, 8);
    snprintf(text, sizeof text, line, "", "zone-reply=9", "");
    record = flow_of(text);
    assert_int_equal(record.has, BASIC | FLOW_MARK | FLOW_REPLY_ZONE);
    assert_int_equal(record.flow.way[WAY_REPLY].zone, 9);
    snprintf(text, sizeof text, line, "", "", "zone=65536");
    refuse(text);
}

static void a_security_context_may_hold_blanks(void **state)
{
    static const char line[] =
        "ipv4 2 udp 17 29 src=127.0.0.1 dst=127.0.0.2 sport=1 dport=2 src=127.0.0.2 "
        "dst=127.0.0.1 sport=2 dport=1 mark=0 secctx=%s use=2";
    char text[256];
    struct record record;

    (void)state;
    snprintf(text, sizeof text, line, "system_u:object_r:unlabeled_t:s0 zone=7 delta-time=3");
    record = flow_of(text);
    assert_text(&record.flow.secctx, "system_u:object_r:unlabeled_t:s0", 32);
    assert_int_equal(record.flow.zone, 7);
    snprintf(text, sizeof text, line, "/usr/sbin/a (enforce) mark=9");
    record = flow_of(text);
    assert_text(&record.flow.secctx, "/usr/sbin/a (enforce) mark=9", 28);
    assert_int_equal(record.flow.mark, 0);
    assert_int_equal(record.flow.use, 1);
}

static void unknown_words_are_passed_over(void **state)
{
    char text[512];
    const char *mark = strstr(tcp, "mark=");
    struct record record;

    (void)state;
    snprintf(text, sizeof text, "%.*slabels=0x1 [NEW] = x=y marker secmark=3 %s later=1",
             (int)(mark - tcp), tcp, mark);
    record = flow_of(text);
    assert_int_equal(record.has, flow_of(tcp).has | FLOW_SECMARK);
    assert_int_equal(record.flow.mark, 85);
    assert_int_equal(record.flow.secmark, 3);
}

static void a_reply_that_goes_elsewhere_is_nat(void **state)
{
    static const char line[] =
        "ipv4 2 udp 17 29 src=10.0.0.1 dst=10.0.0.2 sport=1 dport=2 [UNREPLIED] %s use=2";
    static const uint32_t source = IPS_SRC_NAT | IPS_SRC_NAT_DONE;
    static const uint32_t destination = IPS_DST_NAT | IPS_DST_NAT_DONE;
    static const struct {
        const char *reply;
        uint32_t status;
    } cases[] = {
        {"src=10.0.0.2 dst=10.0.0.1 sport=2 dport=1", 0},
        {"src=10.0.0.2 dst=10.0.0.9 sport=2 dport=1", source},
        {"src=10.0.0.2 dst=10.0.0.1 sport=2 dport=7", source},
        {"src=10.0.0.9 dst=10.0.0.1 sport=2 dport=1", destination},
        {"src=10.0.0.2 dst=10.0.0.1 sport=7 dport=1", destination},
        {"src=10.0.0.9 dst=10.0.0.9 sport=2 dport=1", source | destination},
    };
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, line, cases[i].reply);
        assert_int_equal(flow_of(text).flow.status, IPS_CONFIRMED | cases[i].status);
    }
    assert_int_equal(flow_of("ipv4 2 icmp 1 29 src=10.0.0.1 dst=10.0.0.2 type=8 code=0 id=5 "
                             "[UNREPLIED] src=10.0.0.2 dst=10.0.0.1 type=0 code=0 id=6 use=2")
                         .flow.status,
                     IPS_CONFIRMED | source);
}

static void one_flow_has_one_identity_and_another_another(void **state)
{
    static const char one[] =
        "ipv4 2 udp 17 29 src=127.0.0.1 dst=127.0.0.2 sport=1 dport=2 src=127.0.0.2 "
        "dst=127.0.0.1 sport=2 dport=1 mark=0 zone=7 use=2";
    static const char *const others[] = {
        "ipv4 2 udp 17 29 src=127.0.0.3 dst=127.0.0.2 sport=1 dport=2 src=127.0.0.2 "
        "dst=127.0.0.1 sport=2 dport=1 mark=0 zone=7 use=2",
        "ipv4 2 udp 17 29 src=127.0.0.1 dst=127.0.0.3 sport=1 dport=2 src=127.0.0.2 "
        "dst=127.0.0.1 sport=2 dport=1 mark=0 zone=7 use=2",
        "ipv4 2 udp 17 29 src=127.0.0.1 dst=127.0.0.2 sport=3 dport=2 src=127.0.0.2 "
        "dst=127.0.0.1 sport=2 dport=1 mark=0 zone=7 use=2",
        "ipv4 2 udp 17 29 src=127.0.0.1 dst=127.0.0.2 sport=1 dport=3 src=127.0.0.2 "
        "dst=127.0.0.1 sport=2 dport=1 mark=0 zone=7 use=2",
        "ipv4 2 tcp 6 29 src=127.0.0.1 dst=127.0.0.2 sport=1 dport=2 src=127.0.0.2 "
        "dst=127.0.0.1 sport=2 dport=1 mark=0 zone=7 use=2",
        "ipv4 2 udp 17 29 src=127.0.0.1 dst=127.0.0.2 sport=1 dport=2 src=127.0.0.2 "
        "dst=127.0.0.1 sport=2 dport=1 mark=0 zone=8 use=2",
        "ipv4 2 udp 17 29 src=127.0.0.1 dst=127.0.0.2 sport=1 dport=2 src=127.0.0.2 "
        "dst=127.0.0.1 sport=2 dport=1 mark=0 zone=0 use=2",
        "ipv4 2 udp 17 29 src=127.0.0.1 dst=127.0.0.2 sport=1 dport=2 zone-orig=7 src=127.0.0.2 "
        "dst=127.0.0.1 sport=2 dport=1 mark=0 use=2",
        "ipv4 2 udp 17 29 src=127.0.0.1 dst=127.0.0.2 sport=1 dport=2 src=127.0.0.2 "
        "dst=127.0.0.1 sport=2 dport=1 zone-reply=7 mark=0 use=2",
    };
    uint64_t identity = flow_of(one).identity;

    (void)state;
    assert_true(identity != 0);
    assert_true(flow_of("ipv4 2 udp 17 3 src=127.0.0.1 dst=127.0.0.2 sport=1 dport=2 packets=1 "
                        "bytes=9 src=127.0.0.2 dst=127.0.0.1 sport=2 dport=1 packets=1 bytes=9 "
                        "[ASSURED] mark=4 zone=7 use=9")
                    .identity == identity);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(flow_of(others[i]).identity != identity);
}

#define UDP_HEAD "ipv4 2 udp 17 29 "
#define UDP_ORIG "src=1.2.3.4 dst=5.6.7.8 sport=1 dport=2 "
#define UDP_BACK "src=5.6.7.8 dst=1.2.3.4 sport=2 dport=1 "

static void a_line_that_is_none_of_the_kernels_is_refused(void **state)
{
    static const char *const lines[] = {
        "",
        " ",
        "ipv4",
        "ipv4 2",
        "ipv4 2 udp 17",
        "ipv4 2 udp 17 29",
        "ipv4 3 udp 17 29 " UDP_ORIG UDP_BACK "use=2",
        "ipv4 2x udp 17 29 " UDP_ORIG UDP_BACK "use=2",
        "ipv4 2 udp 256 29 " UDP_ORIG UDP_BACK "use=2",
        "ipv6 10 udp 17 29 " UDP_ORIG UDP_BACK "use=2",
        UDP_HEAD UDP_ORIG UDP_BACK,
        UDP_HEAD UDP_ORIG "use=2",
        UDP_HEAD UDP_ORIG UDP_BACK UDP_BACK "use=2",
        UDP_HEAD UDP_ORIG UDP_BACK "use=",
        UDP_HEAD UDP_ORIG UDP_BACK "use=2x",
        UDP_HEAD UDP_ORIG UDP_BACK "use=4294967296",
        UDP_HEAD UDP_ORIG UDP_BACK "mark=-1 use=2",
        UDP_HEAD UDP_ORIG UDP_BACK "sport=9 use=2",
        UDP_HEAD UDP_ORIG UDP_BACK "zone=7 zone=0 use=2",
        UDP_HEAD UDP_ORIG UDP_BACK "use=2 use=2",
        UDP_HEAD "dst=5.6.7.8 sport=1 dport=2 " UDP_BACK "use=2",
        UDP_HEAD "src=1.2.3.4 sport=1 dport=2 " UDP_BACK "use=2",
        UDP_HEAD "src=1.2.3.4 dst=5.6.7.8 sport=1 " UDP_BACK "use=2",
        UDP_HEAD "src=1.2.3 dst=5.6.7.8 sport=1 dport=2 " UDP_BACK "use=2",
        UDP_HEAD "src=1.2.3.4.5 dst=5.6.7.8 sport=1 dport=2 " UDP_BACK "use=2",
        UDP_HEAD "src=1.2.3.256 dst=5.6.7.8 sport=1 dport=2 " UDP_BACK "use=2",
        UDP_HEAD "src=1.2.3.4 dst=5.6.7.8 sport=65536 dport=2 " UDP_BACK "use=2",
        UDP_HEAD "packets=1 " UDP_ORIG UDP_BACK "use=2",
        UDP_HEAD UDP_ORIG "packets=1 packets=2 " UDP_BACK "use=2",
        UDP_HEAD UDP_ORIG "packets=18446744073709551616 bytes=1 " UDP_BACK "use=2",
        "ipv4 2 icmp 1 29 src=1.2.3.4 dst=5.6.7.8 type=8 code=0 src=5.6.7.8 dst=1.2.3.4 type=0 "
        "code=0 id=1 use=2",
        "ipv4 2 icmp 1 29 src=1.2.3.4 dst=5.6.7.8 type=256 code=0 id=1 src=5.6.7.8 dst=1.2.3.4 "
        "type=0 code=0 id=1 use=2",
        "ipv4 2 gre 47 29 src=1.2.3.4 dst=5.6.7.8 srckey=0x1 src=5.6.7.8 dst=1.2.3.4 srckey=0x1 "
        "dstkey=0x1 use=2",
        "ipv4 2 sctp 132 29 src=1.2.3.4 dst=5.6.7.8 sport=1 src=5.6.7.8 dst=1.2.3.4 sport=2 "
        "dport=1 use=2",
        "ipv4 2 gre 47 29 src=1.2.3.4 dst=5.6.7.8 srckey=1 dstkey=0x1 src=5.6.7.8 dst=1.2.3.4 "
        "srckey=0x1 dstkey=0x1 use=2",
        "ipv6 10 udp 17 29 src=::1 dst=::1 sport=1 dport=2 src=::1 dst=::1 sport=2 dport=1 use=2",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        refuse(lines[i]);
    assert_int_equal(flow_of(UDP_HEAD UDP_ORIG UDP_BACK "use=2").has, BASIC);
}

/* Above all a number that was cut is not taken for a smaller one. */
static void a_line_cut_at_any_byte_is_refused(void **state)
{
    static const char *const lines[] = {tcp, udp6};
    struct record record;
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (size_t length = 0; length < strlen(lines[i]); length++)
            assert_int_equal(decode(lines[i], length, false, &record, text), -EBADMSG);
}

static void a_line_with_any_byte_changed_is_refused_or_a_row(void **state)
{
    char line[sizeof tcp], text[64];
    struct record record;

    (void)state;
    for (size_t at = 0; at < sizeof tcp - 1; at++)
        for (int byte = 0; byte < 256; byte++) {
            memcpy(line, tcp, sizeof line);
            line[at] = (char)byte;
            if (decode(line, sizeof line - 1, false, &record, text) == 0)
                assert_int_equal(record.has & (BASIC & ~FLOW_TIMEOUT), BASIC & ~FLOW_TIMEOUT);
        }
}

/* What is read at once only with single blanks is the same word by word: a changed byte, too. */
static void with_more_blanks_a_line_is_the_same(void **state)
{
    static const char *const lines[] = {tcp, udp6};
    char line[sizeof udp6 + sizeof tcp], text[2][64], blanks[2 * sizeof line];
    struct record record[2];

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (size_t at = 0; at < strlen(lines[i]); at++)
            for (int byte = 0; byte < 256; byte++) {
                const size_t length = strlen(lines[i]);
                size_t longer = 0;
                memcpy(line, lines[i], length);
                line[at] = (char)byte;
                for (size_t from = 0; from < length; from++) {
                    blanks[longer++] = line[from];
                    if (line[from] == ' ')
                        blanks[longer++] = ' ';
                }
                const int result = decode(line, length, false, &record[0], text[0]);
                assert_int_equal(decode(blanks, longer, false, &record[1], text[1]), result);
                record[0].flow.secctx = record[1].flow.secctx;
                if (result == 0)
                    assert_memory_equal(&record[0], &record[1], sizeof *record);
            }
}

static void an_overlong_line_is_refused(void **state)
{
    char text[sizeof tcp];
    struct line line = {.data = text, .length = sizeof tcp - 1, .cut = true};
    struct record record;

    (void)state;
    memcpy(text, tcp, sizeof text);
    assert_int_equal(proc_conntrack_decode_flow(&line, &record), -EBADMSG);
    memcpy(text, expected_ftp, sizeof expected_ftp);
    line.length = sizeof expected_ftp - 1;
    assert_int_equal(proc_conntrack_decode_expectation(&line, &record), -EBADMSG);
    line.cut = false;
    assert_int_equal(proc_conntrack_decode_expectation(&line, &record), 0);
}

/* --- One expectation -------------------------------------------------------------------------- */

static void an_expectation_has_every_word_of_its_line(void **state)
{
    struct record record = expectation_of(expected_ftp);
    const struct expectation_record *expectation = &record.expectation;

    (void)state;
    assert_int_equal(record.has, FLOW_ORIG | FLOW_TIMEOUT | FLOW_FLAGS | FLOW_HELPER);
    assert_int_equal(record.identity, 0);
    assert_int_equal(expectation->family, AF_INET);
    assert_int_equal(expectation->timeout, 299);
    assert_int_equal(expectation->flags, 0);
    assert_int_equal(expectation->orig.protocol, IPPROTO_TCP);
    assert_ip(&expectation->orig.src, "127.0.0.1");
    assert_ip(&expectation->orig.dst, "127.0.0.2");
    assert_int_equal(expectation->orig.src_port, 0);
    assert_int_equal(expectation->orig.dst_port, 25602);
    assert_true(expectation->orig.has_ports);
    assert_text(&expectation->helper, "ftp", 3);
}

#define EXPECTED "12 l3proto = 2 proto=17 src=1.2.3.4 dst=5.6.7.8 sport=0 dport=9 "

static void flags_and_policy_are_distinguished_from_the_helper(void **state)
{
    struct record record = expectation_of(EXPECTED "PERMANENT,INACTIVE,USERSPACE sip/signalling");

    (void)state;
    assert_int_equal(record.expectation.flags,
                     NF_CT_EXPECT_PERMANENT | NF_CT_EXPECT_INACTIVE | NF_CT_EXPECT_USERSPACE);
    assert_text(&record.expectation.helper, "sip", 3);
    record = expectation_of(EXPECTED "USERSPACE");
    assert_int_equal(record.expectation.flags, NF_CT_EXPECT_USERSPACE);
    assert_false(record.has & FLOW_HELPER);
    record = expectation_of(EXPECTED "PERMANENTLY here");
    assert_int_equal(record.expectation.flags, 0);
    assert_text(&record.expectation.helper, "PERMANENTLY here", 16);
    record = expectation_of(EXPECTED);
    assert_int_equal(record.has, FLOW_ORIG | FLOW_TIMEOUT | FLOW_FLAGS);
}

static void an_expectation_may_have_no_timeout(void **state)
{
    struct record record =
        expectation_of("- l3proto = 10 proto=17 src=0000:0000:0000:0000:0000:0000:0000:0001 "
                       "dst=0000:0000:0000:0000:0000:0000:0000:0001 sport=0 dport=9  ");

    (void)state;
    assert_int_equal(record.has, FLOW_ORIG | FLOW_FLAGS);
    assert_int_equal(record.expectation.family, AF_INET6);
    assert_int_equal(record.expectation.orig.dst.bytes[15], 1);
}

static void an_expectation_that_is_none_of_the_kernels_is_refused(void **state)
{
    static const char *const lines[] = {
        "",
        "12",
        "x l3proto = 2 proto=17 src=1.2.3.4 dst=5.6.7.8 sport=0 dport=9 ftp",
        "-1 l3proto = 2 proto=17 src=1.2.3.4 dst=5.6.7.8 sport=0 dport=9 ftp",
        "12 l3proto 2 proto=17 src=1.2.3.4 dst=5.6.7.8 sport=0 dport=9 ftp",
        "12 l3proto = 3 proto=17 src=1.2.3.4 dst=5.6.7.8 sport=0 dport=9 ftp",
        "12 l3proto = 2 proto=256 src=1.2.3.4 dst=5.6.7.8 sport=0 dport=9 ftp",
        "12 l3proto = 2 proto=17 dst=5.6.7.8 sport=0 dport=9 ftp",
        "12 l3proto = 2 proto=17 src=1.2.3.4 dst=5.6.7.8 sport=0 ftp",
        "12 l3proto = 2 proto=17 src=1.2.3.4 dst=5.6.7 sport=0 dport=9 ftp",
    };
    struct record record;
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(decode(lines[i], strlen(lines[i]), true, &record, text), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_has_every_word_of_its_line),
        cmocka_unit_test(an_ipv6_flow_without_accounting_has_no_counters),
        cmocka_unit_test(the_reference_of_reading_is_not_counted),
        cmocka_unit_test(icmp_has_type_code_and_id),
        cmocka_unit_test(gre_has_keys_and_its_own_timeouts_are_passed_over),
        cmocka_unit_test(protocols_have_states_of_their_own),
        cmocka_unit_test(a_protocol_that_is_not_tracked_has_no_ports),
        cmocka_unit_test(an_offloaded_flow_has_neither_timeout_nor_state),
        cmocka_unit_test(a_zone_is_of_both_directions_or_of_one),
        cmocka_unit_test(a_security_context_may_hold_blanks),
        cmocka_unit_test(unknown_words_are_passed_over),
        cmocka_unit_test(a_reply_that_goes_elsewhere_is_nat),
        cmocka_unit_test(one_flow_has_one_identity_and_another_another),
        cmocka_unit_test(a_line_that_is_none_of_the_kernels_is_refused),
        cmocka_unit_test(a_line_cut_at_any_byte_is_refused),
        cmocka_unit_test(a_line_with_any_byte_changed_is_refused_or_a_row),
        cmocka_unit_test(with_more_blanks_a_line_is_the_same),
        cmocka_unit_test(an_overlong_line_is_refused),
        cmocka_unit_test(an_expectation_has_every_word_of_its_line),
        cmocka_unit_test(flags_and_policy_are_distinguished_from_the_helper),
        cmocka_unit_test(an_expectation_may_have_no_timeout),
        cmocka_unit_test(an_expectation_that_is_none_of_the_kernels_is_refused),
    };

    return cmocka_run_group_tests_name("proc_conntrack_line", tests, NULL, NULL);
}
