/* Connection tracking out of /proc: lines of a real kernel, cut ones, forged ones, whole trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/flow_usage.h"
#include "backend/lines.h"
#include "backend/netfilter_files.h"
#include "backend/proc_conntrack.h"
#include "fastnet/rights.h"
#include "scene.h"

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
    assert_int_equal(record.kind, RECORD_FLOW);
    assert_int_equal(record.has & ~backend_proc_conntrack.fields(&table_flows), 0);
    return record;
}

static struct record expectation_of(const char *line)
{
    struct record record;
    static char text[64];

    assert_int_equal(decode(line, strlen(line), true, &record, text), 0);
    assert_int_equal(record.kind, RECORD_EXPECTATION);
    return record;
}

static void refuse(const char *line)
{
    struct record record;
    char text[64];

    assert_int_equal(decode(line, strlen(line), false, &record, text), -EBADMSG);
}

static void a_flow_has_all_that_stands_in_its_line(void **state)
{
    struct record record = flow_of(tcp);
    const struct flow_record *flow = &record.flow;

    (void)state;
    assert_int_equal(record.has,
                     BASIC | FLOW_STATE | FLOW_MARK | FLOW_ORIG_COUNTERS | FLOW_REPLY_COUNTERS);
    assert_int_equal(flow->family, AF_INET);
    assert_int_equal(flow->timeout, 431999);
    assert_int_equal(flow->state, 3); /* TCP_CONNTRACK_ESTABLISHED */
    assert_int_equal(flow->orig.protocol, IPPROTO_TCP);
    assert_int_equal(flow->reply.protocol, IPPROTO_TCP);
    assert_memory_equal(flow->orig.src, "\x7f\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    assert_memory_equal(flow->orig.dst, "\x7f\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    assert_memory_equal(flow->reply.src, flow->orig.dst, 16);
    assert_memory_equal(flow->reply.dst, flow->orig.src, 16);
    assert_int_equal(flow->orig.src_port, 49214);
    assert_int_equal(flow->orig.dst_port, 21);
    assert_int_equal(flow->reply.src_port, 21);
    assert_int_equal(flow->reply.dst_port, 49214);
    assert_int_equal(flow->orig_packets, 6);
    assert_int_equal(flow->orig_bytes, 348);
    assert_int_equal(flow->reply_packets, 5);
    assert_int_equal(flow->reply_bytes, 321);
    assert_int_equal(flow->mark, 85);
    assert_int_equal(flow->status, IPS_CONFIRMED | IPS_SEEN_REPLY | IPS_ASSURED);
}

static void an_ipv6_flow_without_accounting_has_no_counters(void **state)
{
    struct record record = flow_of(udp6);

    (void)state;
    assert_int_equal(record.has, BASIC | FLOW_MARK);
    assert_int_equal(record.flow.family, AF_INET6);
    assert_memory_equal(record.flow.orig.src, "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
    assert_memory_equal(record.flow.reply.src, "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\2", 16);
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
    assert_int_equal(record.flow.orig.icmp_type, 8);
    assert_int_equal(record.flow.orig.icmp_code, 1);
    assert_int_equal(record.flow.orig.src_port, 4660);
    assert_int_equal(record.flow.orig.dst_port, 0);
    assert_int_equal(record.flow.reply.icmp_type, 0);
    assert_int_equal(record.flow.reply.src_port, 4660);
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
    assert_int_equal(record.flow.orig.src_port, 0);
    assert_int_equal(record.flow.orig.dst_port, 0xfffe);
    assert_int_equal(record.flow.reply.src_port, 0xfffe);
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
    assert_int_equal(record.flow.orig.protocol, IPPROTO_DCCP);
    assert_int_equal(record.flow.orig.src_port, 0);
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
    assert_int_equal(record.flow.orig_zone, 8);
    snprintf(text, sizeof text, line, "", "zone-reply=9", "");
    record = flow_of(text);
    assert_int_equal(record.has, BASIC | FLOW_MARK | FLOW_REPLY_ZONE);
    assert_int_equal(record.flow.reply_zone, 9);
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

static void words_that_nobody_knows_are_passed_over(void **state)
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

static void an_overlong_line_is_refused(void **state)
{
    char text[sizeof tcp];
    struct line line = {.data = text, .length = sizeof tcp - 1, .cut = true};
    struct flow_counter_columns columns;
    struct flow_counters counters;
    struct record record;
    uint64_t size;

    (void)state;
    memcpy(text, tcp, sizeof text);
    assert_int_equal(proc_conntrack_decode_flow(&line, &record), -EBADMSG);
    assert_int_equal(proc_conntrack_decode_expectation(&line, &record), -EBADMSG);
    memcpy(text, "found", 6);
    line.length = 5;
    assert_int_equal(flow_counters_heading(&line, &columns), -EBADMSG);
    line.cut = false;
    assert_int_equal(flow_counters_heading(&line, &columns), 0);
    line.cut = true;
    assert_int_equal(flow_counters_decode(&line, &columns, &counters), -EBADMSG);
    assert_int_equal(flow_slab_decode(&line, &size), -EBADMSG);
}

/* --- One expectation -------------------------------------------------------------------------- */

static void an_expectation_has_all_that_stands_in_its_line(void **state)
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
    assert_memory_equal(expectation->orig.src, "\x7f\0\0\1", 4);
    assert_memory_equal(expectation->orig.dst, "\x7f\0\0\2", 4);
    assert_int_equal(expectation->orig.src_port, 0);
    assert_int_equal(expectation->orig.dst_port, 25602);
    assert_text(&expectation->helper, "ftp", 3);
}

#define EXPECTED "12 l3proto = 2 proto=17 src=1.2.3.4 dst=5.6.7.8 sport=0 dport=9 "

static void flags_and_policy_are_told_from_the_helper(void **state)
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
    assert_int_equal(record.expectation.orig.dst[15], 1);
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

/* --- Counters and sizes ----------------------------------------------------------------------- */

static const char statistics_now[] =
    "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop "
    "early_drop icmp_error  expect_new expect_create expect_delete search_restart\n"
    "00000010  00000001 00000002 00000000 00000003 00000000 00000000 00000004 00000005 00000006 "
    "00000007 00000008 00000009  0000000a 0000000b 0000000c ffffffff\n"
    "00000010  00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
    "00000100 00000200 00000002  00000000 00000002 00000001 00000000\n";
/* As Linux 4.4 has it. */
static const char statistics_then[] =
    "entries  searched found new invalid ignore delete delete_list insert insert_failed drop "
    "early_drop icmp_error  expect_new expect_create expect_delete search_restart\n"
    "00000010  00000001 00000002 00000003 00000004 00000005 00000006 00000007 00000008 00000009 "
    "0000000a 0000000b 0000000c  0000000d 0000000e 0000000f 00000010\n";

static struct line line_of(char *text)
{
    return (struct line){.data = text, .length = strlen(text)};
}

static int decode_counters(const char *heading, const char *values, struct flow_counters *counters)
{
    struct flow_counter_columns columns;
    char *copy = strdup(heading), *line_copy = strdup(values);
    struct line line = line_of(copy), line_values = line_of(line_copy);
    int result = flow_counters_heading(&line, &columns);

    if (result == 0)
        result = flow_counters_decode(&line_values, &columns, counters);
    free(copy);
    free(line_copy);
    return result;
}

static void counters_are_known_by_their_names_in_any_order(void **state)
{
    struct flow_counters counters;

    (void)state;
    assert_int_equal(
        decode_counters("icmp_error what expect_new entries", "9 ffffffff 00000002 3", &counters),
        0);
    assert_int_equal(counters.has[COUNTERS_FLOWS], 1 << CTA_STATS_ERROR);
    assert_int_equal(counters.values[COUNTERS_FLOWS][CTA_STATS_ERROR], 9);
    assert_int_equal(counters.has[COUNTERS_EXPECTATIONS], 1 << CTA_STATS_EXP_NEW);
    assert_int_equal(counters.values[COUNTERS_EXPECTATIONS][CTA_STATS_EXP_NEW], 2);
    assert_int_equal(counters.values[COUNTERS_GLOBAL][CTA_STATS_GLOBAL_ENTRIES], 3);
}

static void counters_that_are_none_of_the_kernels_are_refused(void **state)
{
    struct flow_counters counters;
    char long_heading[FLOW_COLUMNS_MAX * 6 + 7] = "";

    (void)state;
    assert_int_equal(decode_counters("", "", &counters), -EBADMSG);
    assert_int_equal(decode_counters("00000010  00000001", "1 2", &counters), -EBADMSG);
    assert_int_equal(decode_counters("found drop", "1", &counters), -EBADMSG);
    assert_int_equal(decode_counters("found drop", "1 2 3", &counters), -EBADMSG);
    assert_int_equal(decode_counters("found drop", "1 2x", &counters), -EBADMSG);
    assert_int_equal(decode_counters("found drop", "1 123456789", &counters), -EBADMSG);
    for (size_t i = 0; i <= FLOW_COLUMNS_MAX; i++)
        strcat(long_heading, "found ");
    assert_int_equal(decode_counters(long_heading, "1", &counters), -EBADMSG);
}

static int slab(const char *text, uint64_t *size)
{
    char *copy = strdup(text);
    struct line line = line_of(copy);
    int result = flow_slab_decode(&line, size);

    free(copy);
    return result;
}

static void the_slab_of_flows_says_the_size_of_one(void **state)
{
    static const char *const others[] = {
        "nf_conntrack_expect    0      0    208   19    1 : tunables 0",
        "nf_conntrack_          0      0    208   19    1 : tunables 0",
        "nf_conntracks          0      0    208   19    1 : tunables 0",
        "nf_conntrac            0      0    208   19    1 : tunables 0",
        "# name            <active_objs> <num_objs> <objsize>",
        "nf_conntrack           0      0    256",
        "nf_conntrack           0      0      0   16",
        "nf_conntrack           0      x    256   16",
        "nf_conntrack",
        "",
    };
    uint64_t size = 0;

    (void)state;
    assert_int_equal(slab("nf_conntrack           0      0    256   16    1 : tunables 0", &size),
                     0);
    assert_int_equal(size, 256);
    assert_int_equal(slab("nf_conntrack_ffffffff81d39400     1     26    312   26    2 :", &size),
                     0);
    assert_int_equal(size, 312);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(slab(others[i], &size), -EBADMSG);
    assert_int_equal(size, 312);
}

/* --- Whole trees ------------------------------------------------------------------------------ */

struct scene {
    struct tree tree;
    struct report report;
    struct record rows[8];
    size_t count;
    const char *resize; /* what the number of buckets becomes while rows are read */
    int refuse;         /* what the callback answers, when not 0 */
};

/* Makes PROC_ROOT/PATH and the directories on the way. */
static void put(const struct scene *scene, const char *path, const char *text)
{
    char full[256];
    FILE *file;

    snprintf(full, sizeof full, "%s/%s", scene->tree.root, path);
    for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
    file = fopen(full, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int keep(const struct record *record, void *arg)
{
    struct scene *scene = arg;

    assert_true(scene->count < sizeof scene->rows / sizeof *scene->rows);
    scene->rows[scene->count++] = *record;
    if (scene->resize)
        put(scene, "sys/net/netfilter/nf_conntrack_buckets", scene->resize);
    return scene->refuse;
}

static int list(struct scene *scene, const struct table *table)
{
    struct query query = {.table = table,
                          .needs = UINT64_MAX,
                          .proc_root = scene->tree.root,
                          .report = &scene->report};

    scene->count = 0;
    scene->report = (struct report){.partial = false};
    return backend_proc_conntrack.dump(&query, keep, scene);
}

static void flows_and_expectations_come_from_their_files(void **state)
{
    struct scene *scene = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s\n%s\n", tcp, udp6);
    put(scene, "net/nf_conntrack", text);
    snprintf(text, sizeof text, "%s\n", expected_ftp);
    put(scene, "net/nf_conntrack_expect", text);
    assert_int_equal(list(scene, &table_flows), 0);
    assert_int_equal(scene->count, 2);
    assert_int_equal(scene->rows[0].flow.family, AF_INET);
    assert_int_equal(scene->rows[1].flow.family, AF_INET6);
    assert_int_equal(list(scene, &table_expectations), 0);
    assert_int_equal(scene->count, 1);
    assert_int_equal(scene->rows[0].expectation.orig.dst_port, 25602);
    assert_int_equal(scene->report.count, 0);
    assert_false(scene->report.partial);
}

static void an_empty_file_is_an_empty_table(void **state)
{
    struct scene *scene = *state;

    put(scene, "net/nf_conntrack", "");
    put(scene, "net/nf_conntrack_expect", "");
    assert_int_equal(list(scene, &table_flows), 0);
    assert_int_equal(scene->count, 0);
    assert_int_equal(list(scene, &table_expectations), 0);
    assert_int_equal(scene->count, 0);
    assert_int_equal(list(scene, &table_expectation_count), 0);
    assert_int_equal(scene->count, 1);
    assert_int_equal(scene->rows[0].usage.entries, 0);
    assert_false(scene->report.partial);
}

static void malformed_lines_are_skipped_counted_and_told(void **state)
{
    struct scene *scene = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s\n\nbreak\n%.100s\n%s\n", tcp, tcp, udp6);
    put(scene, "net/nf_conntrack", text);
    assert_int_equal(list(scene, &table_flows), 0);
    assert_int_equal(scene->count, 2);
    assert_true(scene->report.partial);
    assert_int_equal(scene->report.count, 1);
    assert_true(report_says(&scene->report, "/net/nf_conntrack: skipped 2 malformed lines, the "
                                            "first is line 3"));
    snprintf(text, sizeof text, "x\n%s\n", expected_ftp);
    put(scene, "net/nf_conntrack_expect", text);
    assert_int_equal(list(scene, &table_expectation_count), 0);
    assert_int_equal(scene->rows[0].usage.entries, 1);
    assert_true(report_says(&scene->report, "/net/nf_conntrack_expect: skipped 1 malformed line, "
                                            "the first is line 1"));
}

static void a_file_that_ends_in_a_line_is_cut(void **state)
{
    struct scene *scene = *state;

    put(scene, "net/nf_conntrack", tcp);
    assert_int_equal(list(scene, &table_flows), 0);
    assert_int_equal(scene->count, 1);
    assert_true(scene->report.partial);
    assert_true(report_says(&scene->report, "net/nf_conntrack is cut: its last line has no end"));
}

static void a_row_that_is_refused_ends_the_dump(void **state)
{
    static const struct table *const tables[] = {&table_flows, &table_flow_count, &table_flow_usage,
                                                 &table_flow_statistics};
    struct scene *scene = *state;
    char text[1024];

    snprintf(text, sizeof text, "%s\n%s\n", tcp, udp6);
    put(scene, "net/nf_conntrack", text);
    put(scene, "net/stat/nf_conntrack", statistics_now);
    scene->refuse = STOPPED;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        assert_int_equal(list(scene, tables[i]), STOPPED);
        assert_int_equal(scene->count, 1);
    }
}

static void what_is_not_there_is_told_apart(void **state)
{
    static const struct table *const tables[] = {
        &table_flows,
        &table_flow_count,
        &table_flow_usage,
        &table_flow_statistics,
        &table_expectations,
        &table_expectation_count,
        &table_expectation_statistics,
    };
    struct scene *scene = *state;
    char net[96];

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        assert_true(backend_proc_conntrack.fields(tables[i]) != 0);
        assert_int_equal(list(scene, tables[i]), -ENOENT);
        assert_non_null(strstr(backend_proc_conntrack.remedy(tables[i], -ENOENT), "module"));
    }
    snprintf(net, sizeof net, "%s/net", scene->tree.root);
    assert_int_equal(rmdir(net), 0);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        assert_int_equal(list(scene, tables[i]), -ENOTDIR);
}

static void the_remedy_names_the_file_and_the_right(void **state)
{
    (void)state;
    assert_string_equal(backend_proc_conntrack.remedy(&table_flows, -EACCES),
                        "/proc/net/nf_conntrack needs root or CAP_DAC_READ_SEARCH");
    assert_string_equal(backend_proc_conntrack.remedy(&table_expectation_count, -EPERM),
                        "/proc/net/nf_conntrack_expect needs root or CAP_DAC_READ_SEARCH");
    assert_null(backend_proc_conntrack.remedy(&table_flows, -EIO));
    assert_null(backend_proc_conntrack.remedy(&table_flows_dying, -ENOENT));
}

static void tables_that_no_file_has_are_not_its_own(void **state)
{
    static const struct table *const tables[] = {
        &table_flows_zeroed, &table_flows_dying,        &table_flows_unconfirmed,
        &table_flow_events,  &table_expectation_events, &table_tcp,
    };

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        assert_int_equal(backend_proc_conntrack.fields(tables[i]), 0);
        assert_int_equal(list(*state, tables[i]), -ENOENT);
    }
}

static void a_resize_during_the_listing_is_told(void **state)
{
    struct scene *scene = *state;
    char text[512];

    snprintf(text, sizeof text, "%s\n", tcp);
    put(scene, "net/nf_conntrack", text);
    put(scene, "sys/net/netfilter/nf_conntrack_buckets", "65536\n");
    assert_int_equal(list(scene, &table_flows), 0);
    assert_false(scene->report.partial);
    scene->resize = "1024\n";
    assert_int_equal(list(scene, &table_flows), 0);
    assert_int_equal(scene->count, 1);
    assert_true(scene->report.partial);
    assert_true(report_says(&scene->report, "resized"));
}

static void each_processor_has_a_row_of_counters(void **state)
{
    struct scene *scene = *state;
    const struct flow_statistics_record *row = &scene->rows[0].statistics;

    put(scene, "net/stat/nf_conntrack", statistics_now);
    assert_int_equal(list(scene, &table_flow_statistics), 0);
    assert_int_equal(scene->count, 2);
    assert_int_equal(scene->rows[0].kind, RECORD_FLOW_STATISTICS);
    assert_int_equal(row->cpu, 0);
    assert_false(row->expectations);
    assert_int_equal(row->counters[CTA_STATS_CLASH_RESOLVE], 1);
    assert_int_equal(row->counters[CTA_STATS_FOUND], 2);
    assert_int_equal(row->counters[CTA_STATS_INVALID], 3);
    assert_int_equal(row->counters[CTA_STATS_CHAIN_TOOLONG], 4);
    assert_int_equal(row->counters[CTA_STATS_INSERT], 5);
    assert_int_equal(row->counters[CTA_STATS_INSERT_FAILED], 6);
    assert_int_equal(row->counters[CTA_STATS_DROP], 7);
    assert_int_equal(row->counters[CTA_STATS_EARLY_DROP], 8);
    assert_int_equal(row->counters[CTA_STATS_ERROR], 9);
    assert_int_equal(row->counters[CTA_STATS_SEARCH_RESTART], UINT32_MAX);
    assert_int_equal(scene->rows[1].statistics.cpu, 1);
    assert_int_equal(scene->rows[1].statistics.counters[CTA_STATS_ERROR], 2);
    assert_int_equal(list(scene, &table_expectation_statistics), 0);
    assert_int_equal(scene->count, 2);
    assert_true(row->expectations);
    assert_int_equal(scene->rows[0].has, 1 << CTA_STATS_EXP_NEW | 1 << CTA_STATS_EXP_CREATE |
                                             1 << CTA_STATS_EXP_DELETE);
    assert_int_equal(row->counters[CTA_STATS_EXP_NEW], 10);
    assert_int_equal(row->counters[CTA_STATS_EXP_CREATE], 11);
    assert_int_equal(row->counters[CTA_STATS_EXP_DELETE], 12);
}

/* Which leaves just the counters that ctnetlink has of the same kernel. */
static void counters_that_are_no_longer_used_are_absent(void **state)
{
    static const uint64_t unused = 1 << CTA_STATS_SEARCHED | 1 << CTA_STATS_NEW |
                                   1 << CTA_STATS_IGNORE | 1 << CTA_STATS_DELETE |
                                   1 << CTA_STATS_DELETE_LIST;
    struct scene *scene = *state;

    put(scene, "net/stat/nf_conntrack", statistics_now);
    assert_int_equal(list(scene, &table_flow_statistics), 0);
    assert_int_equal(scene->rows[0].has, (2u << CTA_STATS_MAX) - 2 - unused);
    put(scene, "net/stat/nf_conntrack", statistics_then);
    assert_int_equal(list(scene, &table_flow_statistics), 0);
    assert_int_equal(scene->count, 1);
    assert_int_equal(scene->rows[0].has & unused, unused);
    assert_int_equal(scene->rows[0].statistics.counters[CTA_STATS_SEARCHED], 1);
    assert_int_equal(scene->rows[0].statistics.counters[CTA_STATS_DELETE_LIST], 7);
    assert_false(scene->rows[0].has & (1 << CTA_STATS_CLASH_RESOLVE));
}

static void malformed_counters_are_skipped_and_told(void **state)
{
    struct scene *scene = *state;

    put(scene, "net/stat/nf_conntrack", "found drop\n1 2\n1\n5 6\n");
    assert_int_equal(list(scene, &table_flow_statistics), 0);
    assert_int_equal(scene->count, 2);
    assert_int_equal(scene->rows[1].statistics.cpu, 2);
    assert_true(scene->report.partial);
    assert_true(report_says(&scene->report, "net/stat/nf_conntrack: skipped 1 malformed line, the "
                                            "first is line 3"));
    put(scene, "net/stat/nf_conntrack", "");
    assert_int_equal(list(scene, &table_flow_statistics), -EBADMSG);
    put(scene, "net/stat/nf_conntrack", "1 2 3\n");
    assert_int_equal(list(scene, &table_flow_statistics), -EBADMSG);
}

static void usage_is_put_together_from_several_files(void **state)
{
    struct scene *scene = *state;
    const struct record *row = &scene->rows[0];

    put(scene, "net/stat/nf_conntrack", statistics_now);
    put(scene, "sys/net/netfilter/nf_conntrack_count", "17\n");
    put(scene, "sys/net/netfilter/nf_conntrack_max", "262144\n");
    put(scene, "sys/net/netfilter/nf_conntrack_buckets", "65536\n");
    put(scene, "slabinfo",
        "slabinfo - version: 2.1\n"
        "# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab>\n"
        "nf_conntrack_expect      0      0    208   19    1 : tunables    0    0    0\n"
        "nf_conntrack           0      0    256   16    1 : tunables    0    0    0\n");
    assert_int_equal(list(scene, &table_flow_usage), 0);
    assert_int_equal(scene->count, 1);
    assert_int_equal(row->kind, RECORD_FLOW_USAGE);
    assert_int_equal(row->has, backend_proc_conntrack.fields(&table_flow_usage));
    assert_int_equal(row->usage.entries, 17);
    assert_int_equal(row->usage.maximum, 262144);
    assert_int_equal(row->usage.buckets, 65536);
    assert_int_equal(row->usage.entry_size, 256);
    assert_int_equal(row->usage.drop, 0x107);
    assert_int_equal(row->usage.early_drop, 0x208);
    assert_int_equal(list(scene, &table_flow_count), 0);
    assert_int_equal(row->has, USAGE_ENTRIES);
    assert_int_equal(row->usage.entries, 17);
}

static void usage_lacks_what_cannot_be_read(void **state)
{
    struct scene *scene = *state;
    const struct record *row = &scene->rows[0];

    put(scene, "sys/net/netfilter/nf_conntrack_count", "17\n");
    put(scene, "sys/net/netfilter/nf_conntrack_buckets", "many\n");
    put(scene, "sys/net/nf_conntrack_max", "1000\n");
    assert_int_equal(list(scene, &table_flow_usage), 0);
    assert_int_equal(row->has, USAGE_ENTRIES | USAGE_MAXIMUM);
    assert_int_equal(row->usage.maximum, 1000);
}

static void the_number_of_flows_may_come_from_the_counters(void **state)
{
    struct scene *scene = *state;

    put(scene, "net/stat/nf_conntrack", statistics_now);
    assert_int_equal(list(scene, &table_flow_count), 0);
    assert_int_equal(scene->count, 1);
    assert_int_equal(scene->rows[0].has, USAGE_ENTRIES);
    assert_int_equal(scene->rows[0].usage.entries, 16);
    assert_int_equal(list(scene, &table_flow_usage), 0);
    assert_int_equal(scene->rows[0].has, USAGE_ENTRIES | USAGE_DROPS);
    assert_int_equal(scene->rows[0].usage.entries, 16);
}

static void what_usage_has_already_stays(void **state)
{
    struct scene *scene = *state;
    struct record record = {.kind = RECORD_FLOW_USAGE, .has = USAGE_MAXIMUM};

    record.usage.maximum = 5;
    put(scene, "sys/net/netfilter/nf_conntrack_max", "262144\n");
    put(scene, "sys/net/netfilter/nf_conntrack_buckets", "65536\n");
    flow_usage_complete(scene->tree.root, &record);
    assert_int_equal(record.has, USAGE_MAXIMUM | USAGE_BUCKETS);
    assert_int_equal(record.usage.maximum, 5);
    assert_int_equal(record.usage.buckets, 65536);
}

static void a_number_is_all_that_its_file_holds(void **state)
{
    static const char *const others[] = {"",        "\n",     "-1\n",
                                         "12 13\n", "0x10\n", "18446744073709551616\n"};
    struct scene *scene = *state;
    uint64_t number = 4711;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        put(scene, "sys/number", others[i]);
        assert_int_equal(netfilter_number(scene->tree.root, "sys/number", &number), -EBADMSG);
    }
    assert_int_equal(number, 4711);
    put(scene, "sys/number", "18446744073709551615\n");
    assert_int_equal(netfilter_number(scene->tree.root, "sys/number", &number), 0);
    assert_true(number == UINT64_MAX);
}

/* --- Rights ----------------------------------------------------------------------------------- */

static bool is_effective(void)
{
    cap_flag_value_t flag = CAP_SET;
    cap_t caps = cap_get_proc();

    cap_get_flag(caps, CAP_DAC_READ_SEARCH, CAP_EFFECTIVE, &flag);
    cap_free(caps);
    return flag == CAP_SET;
}

/* Becomes a user to whom nothing but one capability is permitted. */
static bool become_nobody(void)
{
    const cap_value_t kept = CAP_DAC_READ_SEARCH, needed = CAP_SETUID;
    cap_t caps = cap_init();
    bool done;

    cap_set_flag(caps, CAP_PERMITTED, 1, &kept, CAP_SET);
    cap_set_flag(caps, CAP_PERMITTED, 1, &needed, CAP_SET);
    cap_set_flag(caps, CAP_EFFECTIVE, 1, &needed, CAP_SET);
    done = cap_set_proc(caps) == 0 && cap_setuid(65534) == 0;
    cap_clear(caps);
    cap_set_flag(caps, CAP_PERMITTED, 1, &kept, CAP_SET);
    done = done && cap_set_proc(caps) == 0;
    cap_free(caps);
    return done;
}

/* 77: cannot be tried here; 0: as it must be; else where it failed. */
static int open_as_nobody(const struct scene *scene)
{
    char path[96];
    struct lines lines;

    put(scene, "slabinfo", "x\n");
    snprintf(path, sizeof path, "%s/slabinfo", scene->tree.root);
    chmod(path, 0);
    chmod(scene->tree.root, 0755);
    if (geteuid() != 0 || access("/proc/slabinfo", R_OK) != 0 || !become_nobody())
        return 77;
    if (open("/proc/slabinfo", O_RDONLY) >= 0)
        return 77;
    if (netfilter_open(&lines, "/proc", "slabinfo") != 0)
        return 1;
    lines_close(&lines);
    if (is_effective())
        return 2;
    return netfilter_open(&lines, scene->tree.root, "slabinfo") == -EACCES ? 0 : 3;
}

static void the_right_is_lent_for_the_kernels_own_files_alone(void **state)
{
    const pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0)
        _exit(open_as_nobody(*state));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int make_scene(void **state)
{
    static struct scene scene;

    scene = (struct scene){.count = 0};
    tree_make(&scene.tree);
    *state = &scene;
    return 0;
}

static int remove_scene(void **state)
{
    struct scene *scene = *state;

    tree_remove(&scene->tree);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_scene, remove_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_has_all_that_stands_in_its_line),
        cmocka_unit_test(an_ipv6_flow_without_accounting_has_no_counters),
        cmocka_unit_test(the_reference_of_reading_is_not_counted),
        cmocka_unit_test(icmp_has_type_code_and_id),
        cmocka_unit_test(gre_has_keys_and_its_own_timeouts_are_passed_over),
        cmocka_unit_test(protocols_have_states_of_their_own),
        cmocka_unit_test(a_protocol_that_is_not_tracked_has_no_ports),
        cmocka_unit_test(an_offloaded_flow_has_neither_timeout_nor_state),
        cmocka_unit_test(a_zone_is_of_both_directions_or_of_one),
        cmocka_unit_test(a_security_context_may_hold_blanks),
        cmocka_unit_test(words_that_nobody_knows_are_passed_over),
        cmocka_unit_test(a_reply_that_goes_elsewhere_is_nat),
        cmocka_unit_test(one_flow_has_one_identity_and_another_another),
        cmocka_unit_test(a_line_that_is_none_of_the_kernels_is_refused),
        cmocka_unit_test(a_line_cut_at_any_byte_is_refused),
        cmocka_unit_test(a_line_with_any_byte_changed_is_refused_or_a_row),
        cmocka_unit_test(an_overlong_line_is_refused),
        cmocka_unit_test(an_expectation_has_all_that_stands_in_its_line),
        cmocka_unit_test(flags_and_policy_are_told_from_the_helper),
        cmocka_unit_test(an_expectation_may_have_no_timeout),
        cmocka_unit_test(an_expectation_that_is_none_of_the_kernels_is_refused),
        cmocka_unit_test(counters_are_known_by_their_names_in_any_order),
        cmocka_unit_test(counters_that_are_none_of_the_kernels_are_refused),
        cmocka_unit_test(the_slab_of_flows_says_the_size_of_one),
        TEST(flows_and_expectations_come_from_their_files),
        TEST(an_empty_file_is_an_empty_table),
        TEST(malformed_lines_are_skipped_counted_and_told),
        TEST(a_file_that_ends_in_a_line_is_cut),
        TEST(a_row_that_is_refused_ends_the_dump),
        TEST(what_is_not_there_is_told_apart),
        TEST(the_remedy_names_the_file_and_the_right),
        TEST(tables_that_no_file_has_are_not_its_own),
        TEST(a_resize_during_the_listing_is_told),
        TEST(each_processor_has_a_row_of_counters),
        TEST(counters_that_are_no_longer_used_are_absent),
        TEST(malformed_counters_are_skipped_and_told),
        TEST(usage_is_put_together_from_several_files),
        TEST(usage_lacks_what_cannot_be_read),
        TEST(the_number_of_flows_may_come_from_the_counters),
        TEST(what_usage_has_already_stays),
        TEST(a_number_is_all_that_its_file_holds),
        TEST(the_right_is_lent_for_the_kernels_own_files_alone),
    };

    return cmocka_run_group_tests_name("proc_conntrack", tests, NULL, NULL);
}
