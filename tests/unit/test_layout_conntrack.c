/* SPDX-License-Identifier: MIT */
/* The lines of conntrack 1.4.7, byte for byte: the strings are its own, of such flows. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fastnet/hosts.h"
#include "fastnet/labels.h"
#include "fastnet/senders.h"
#include "flow_rows.h"
#include "format/flow/layout_conntrack_forms.h"
#include "kit.h"

/* --- Lines ------------------------------------------------------------------------------------ */

static void flows_are_lines_of_their_protocol(void **state)
{
    const struct record tcp = tcp_flow(), udp = udp_flow(), icmp = icmp_flow(), gre = gre_flow();
    const struct record sctp = sctp_flow();
    const struct record udplite = flow_of(IPPROTO_UDPLITE, 299, "192.0.2.1", "192.0.2.2", 1, 65535);
    const struct record other = flow_of(50, 599, "192.0.2.1", "192.0.2.4", 0, 0);

    (void)state;
    assert_string_equal(written_row(&plain, &tcp),
                        "tcp      6 43199 ESTABLISHED src=192.0.2.1 dst=198.51.100.2 sport=40000 "
                        "dport=443 src=198.51.100.2 dst=192.0.2.1 sport=443 dport=40000 [ASSURED] "
                        "mark=7 use=1\n");
    assert_string_equal(written_row(&plain, &udp),
                        "udp      17 29 src=192.0.2.1 dst=192.0.2.53 sport=5353 dport=53 "
                        "[UNREPLIED] src=192.0.2.53 dst=192.0.2.1 sport=53 dport=5353 mark=0 "
                        "use=1\n");
    assert_string_equal(written_row(&plain, &icmp),
                        "icmp     1 29 src=192.0.2.1 dst=192.0.2.2 type=8 code=0 id=4711 "
                        "[UNREPLIED] src=192.0.2.2 dst=192.0.2.1 type=0 code=0 id=4711 mark=0 "
                        "use=1\n");
    assert_string_equal(written_row(&plain, &gre),
                        "gre      47 299 src=192.0.2.1 dst=192.0.2.2 srckey=0x10 dstkey=0xabcd "
                        "[UNREPLIED] src=192.0.2.2 dst=192.0.2.1 srckey=0xabcd dstkey=0x10 mark=0 "
                        "use=1\n");
    assert_string_equal(written_row(&plain, &sctp),
                        "sctp     132 299 ESTABLISHED src=192.0.2.1 dst=192.0.2.2 sport=1000 "
                        "dport=36412 src=192.0.2.2 dst=192.0.2.1 sport=36412 dport=1000 [ASSURED] "
                        "mark=0 use=1\n");
    assert_string_equal(written_row(&plain, &udplite),
                        "udplite  136 299 src=192.0.2.1 dst=192.0.2.2 sport=1 dport=65535 "
                        "[UNREPLIED] src=192.0.2.2 dst=192.0.2.1 sport=65535 dport=1 mark=0 "
                        "use=1\n");
    assert_string_equal(written_row(&plain, &other),
                        "unknown  50 599 src=192.0.2.1 dst=192.0.2.4 [UNREPLIED] src=192.0.2.4 "
                        "dst=192.0.2.1 mark=0 use=1\n");
}

static void keys_of_gre_are_hexadecimal_without_zeroes_in_front(void **state)
{
    const struct record one = flow_of(IPPROTO_GRE, 299, "192.0.2.1", "192.0.2.2", 0, 5);
    const struct record other = flow_of(IPPROTO_GRE, 299, "192.0.2.1", "192.0.2.2", 0xfff, 0x100);

    (void)state;
    assert_non_null(strstr(written_row(&plain, &one), " srckey=0x0 dstkey=0x5 "));
    assert_non_null(strstr(written_row(&plain, &other), " srckey=0xfff dstkey=0x100 "));
}

/* As on kernels that no longer know DCCP. */
static void dccp_without_ports_has_them_as_zero(void **state)
{
    struct record dccp = flow_of(IPPROTO_DCCP, 299, "192.0.2.1", "192.0.2.2", 0, 0);

    (void)state;
    dccp.flow.status |= IPS_SEEN_REPLY;
    assert_string_equal(written_row(&plain, &dccp),
                        "dccp     33 299 src=192.0.2.1 dst=192.0.2.2 sport=0 dport=0 src=192.0.2.2 "
                        "dst=192.0.2.1 sport=0 dport=0 mark=0 use=1\n");
}

static void ipv6_is_written_in_full_and_mapped_addresses_stay_ipv6(void **state)
{
    const struct conntrack_layout extended = {.extended = true, .id = true};
    struct record icmp = icmpv6_flow();
    struct record tcp =
        flow_with_state(flow_of(IPPROTO_TCP, 59, "2001:db8::1", "2001:db8:0:1::2", 1024, 22),
                        TCP_CONNTRACK_TIME_WAIT, IPS_SEEN_REPLY | IPS_ASSURED | IPS_FIXED_TIMEOUT);

    (void)state;
    icmp.flow.id = 2608556446;
    tcp.flow.id = 99381785;
    assert_string_equal(written_row(&extended, &icmp),
                        "ipv6     10 icmpv6   58 59 src=::1 dst=::ffff:1.2.3.4 type=128 code=0 "
                        "id=9 [UNREPLIED] src=::ffff:1.2.3.4 dst=::1 type=129 code=0 id=9 mark=0 "
                        "use=1 id=2608556446\n");
    assert_string_equal(written_row(&extended, &tcp),
                        "ipv6     10 tcp      6 59 TIME_WAIT src=2001:db8::1 dst=2001:db8:0:1::2 "
                        "sport=1024 dport=22 src=2001:db8:0:1::2 dst=2001:db8::1 sport=22 "
                        "dport=1024 [ASSURED] mark=0 use=1 id=99381785\n");
}

static void extended_puts_the_network_layer_in_front(void **state)
{
    const struct conntrack_layout extended = {.extended = true};
    const struct record udp = udp_flow();

    (void)state;
    assert_string_equal(written_row(&extended, &udp),
                        "ipv4     2 udp      17 29 src=192.0.2.1 dst=192.0.2.53 sport=5353 "
                        "dport=53 [UNREPLIED] src=192.0.2.53 dst=192.0.2.1 sport=53 dport=5353 "
                        "mark=0 use=1\n");
}

static void zones_follow_their_direction(void **state)
{
    struct record both = udp_flow(), orig = udp_flow(), reply = udp_flow();

    (void)state;
    both.has |= FLOW_ZONE;
    both.flow.zone = 3;
    orig.has |= FLOW_ORIG_ZONE;
    orig.flow.way[WAY_ORIG].zone = 4;
    reply.has |= FLOW_REPLY_ZONE;
    reply.flow.way[WAY_REPLY].zone = 5;
    assert_string_equal(written_row(&plain, &both),
                        "udp      17 29 src=192.0.2.1 dst=192.0.2.53 sport=5353 dport=53 "
                        "[UNREPLIED] src=192.0.2.53 dst=192.0.2.1 sport=53 dport=5353 mark=0 "
                        "zone=3 use=1\n");
    assert_string_equal(written_row(&plain, &orig),
                        "udp      17 29 src=192.0.2.1 dst=192.0.2.53 sport=5353 dport=53 "
                        "zone-orig=4 [UNREPLIED] src=192.0.2.53 dst=192.0.2.1 sport=53 dport=5353 "
                        "mark=0 use=1\n");
    assert_string_equal(written_row(&plain, &reply),
                        "udp      17 29 src=192.0.2.1 dst=192.0.2.53 sport=5353 dport=53 "
                        "[UNREPLIED] src=192.0.2.53 dst=192.0.2.1 sport=53 dport=5353 zone-reply=5 "
                        "mark=0 use=1\n");
}

static void counters_and_times_are_shown_where_the_kernel_keeps_them(void **state)
{
    const struct conntrack_layout times = {.ktimestamp = true};
    struct record record = tcp_flow();

    (void)state;
    record.has |= FLOW_ORIG_COUNTERS | FLOW_REPLY_COUNTERS | FLOW_START | FLOW_STOP;
    record.flow.way[WAY_ORIG].packets = 5;
    record.flow.way[WAY_ORIG].bytes = UINT64_MAX;
    record.flow.start = 1795180878 * SECOND + 999999999;
    record.flow.stop = 1795180880 * SECOND + 1;
    assert_string_equal(written_row(&plain, &record),
                        "tcp      6 43199 ESTABLISHED src=192.0.2.1 dst=198.51.100.2 sport=40000 "
                        "dport=443 packets=5 bytes=18446744073709551615 src=198.51.100.2 "
                        "dst=192.0.2.1 sport=443 dport=40000 packets=0 bytes=0 [ASSURED] mark=7 "
                        "delta-time=2 use=1\n");
    record.has &= ~(FLOW_ORIG_COUNTERS | FLOW_REPLY_COUNTERS);
    assert_string_equal(written_row(&times, &record),
                        "tcp      6 43199 ESTABLISHED src=192.0.2.1 dst=198.51.100.2 sport=40000 "
                        "dport=443 src=198.51.100.2 dst=192.0.2.1 sport=443 dport=40000 [ASSURED] "
                        "mark=7 delta-time=2 [start=Fri Nov 20 13:21:18 2026] [stop=Fri Nov 20 "
                        "13:21:20 2026] use=1\n");
}

static void a_flow_that_goes_on_has_lasted_until_now(void **state)
{
    const struct conntrack_layout times = {.ktimestamp = true};
    struct record record = udp_flow();
    (void)state;
    record.has |= FLOW_START;
    record.flow.start = (uint64_t)(time(NULL) - 1000) * SECOND;
    const char *found = strstr(written_row(&plain, &record), "delta-time=");
    assert_non_null(found);
    assert_in_range(strtoull(found + strlen("delta-time="), NULL, 10), 1000, 1060);
    record.flow.start = 0;
    found = strstr(written_row(&times, &record), " [start=");
    assert_non_null(found);
    assert_string_equal(found, " [start=Thu Jan  1 00:00:00 1970] use=1\n");
}

static void one_status_is_shown_the_strongest(void **state)
{
    static const struct {
        uint32_t status;
        const char *end;
    } cases[] = {
        {IPS_SEEN_REPLY, "dport=5353 mark=0 use=1\n"},
        {IPS_SEEN_REPLY | IPS_ASSURED, "dport=5353 [ASSURED] mark=0 use=1\n"},
        {IPS_SEEN_REPLY | IPS_ASSURED | IPS_OFFLOAD, "dport=5353 [OFFLOAD] mark=0 use=1\n"},
        {IPS_ASSURED | IPS_OFFLOAD | IPS_HW_OFFLOAD, "dport=5353 [HW_OFFLOAD] mark=0 use=1\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct record record = udp_flow();
        record.flow.status = cases[i].status;
        const char *text = written_row(&plain, &record);
        assert_string_equal(text + strlen(text) - strlen(cases[i].end), cases[i].end);
        assert_int_equal(strstr(text, "[UNREPLIED]") == NULL,
                         (cases[i].status & IPS_SEEN_REPLY) != 0);
    }
}

static void states_are_named_by_protocol_and_unknown_ones_are_none(void **state)
{
    struct record tcp = tcp_flow(), sctp = sctp_flow();
    struct record dccp =
        flow_with_state(flow_of(IPPROTO_DCCP, 9, "192.0.2.1", "192.0.2.2", 1, 2), DCCP_OPEN, 0);

    (void)state;
    tcp.flow.state = 200;
    assert_non_null(strstr(written_row(&plain, &tcp), "tcp      6 43199 NONE src="));
    tcp.flow.state = TCP_CONNTRACK_SYN_SENT2;
    assert_non_null(strstr(written_row(&plain, &tcp), "tcp      6 43199 SYN_SENT2 src="));
    sctp.flow.state = 7;
    assert_non_null(strstr(written_row(&plain, &sctp), "sctp     132 299 SHUTDOWN_ACK_SENT src="));
    assert_non_null(strstr(written_row(&plain, &dccp), "dccp     33 9 OPEN src="));
}

static void unknown_fields_are_left_out(void **state)
{
    struct record record = udp_flow();

    (void)state;
    record.has = FLOW_ORIG | FLOW_REPLY;
    assert_string_equal(written_row(&plain, &record),
                        "udp      17 src=192.0.2.1 dst=192.0.2.53 sport=5353 dport=53 "
                        "src=192.0.2.53 dst=192.0.2.1 sport=53 dport=5353\n");
}

/* --- Text that others chose ------------------------------------------------------------------- */

static void helpers_and_contexts_are_escaped(void **state)
{
    struct record record = udp_flow();

    (void)state;
    record.has |= FLOW_HELPER | FLOW_SECCTX | FLOW_SECMARK;
    record.flow.helper = (struct text){"f t=p\n<&>\"", 10};
    record.flow.secctx = (struct text){"a:b,c d\033", 8};
    record.flow.secmark = 12;
    const char *text = written_row(&plain, &record);
    assert_string_equal(strstr(text, "mark=0"),
                        "mark=0 secmark=12 secctx=a:b,c\\x20d\\x1b helper=f\\x20t=p\\x0a<&>\" "
                        "use=1\n");
    text = written_row(&xml, &record);
    assert_non_null(strstr(text, "<mark>0</mark><secmark>12</secmark><secctx>a:b,c d\\x1b</secctx>"
                                 "<use>1</use>"));
    assert_non_null(
        strstr(text, "</meta><helper>f t=p\\x0a\\x3c\\x26\\x3e\\x22</helper></flow>\n"));
}

static void long_texts_are_not_cut(void **state)
{
    enum { LONG = 40000 };
    char *data = malloc(LONG + 1);
    struct record record = udp_flow();

    (void)state;
    assert_non_null(data);
    memset(data, 'x', LONG);
    data[LONG] = '\0';
    record.has |= FLOW_HELPER | FLOW_SECCTX;
    record.flow.helper = record.flow.secctx = (struct text){data, LONG};
    const char *at = strstr(written_row(&plain, &record), " secctx=");
    assert_non_null(at);
    at += strlen(" secctx=");
    assert_memory_equal(at, data, LONG);
    assert_memory_equal(at + LONG, " helper=", 8);
    at += LONG + 8;
    assert_memory_equal(at, data, LONG);
    assert_string_equal(at + LONG, " use=1\n");
    at = strstr(written_row(&xml, &record), "<helper>");
    assert_non_null(at);
    assert_memory_equal(at + 8, data, LONG);
    assert_string_equal(at + 8 + LONG, "</helper></flow>\n</conntrack>\n");
    free(data);
}

static void labels_are_joined_by_commas(void **state)
{
    const struct conntrack_layout layout = {.labels = true, .id = true};
    const struct conntrack_layout in_xml = {.labels = true, .xml = true};
    const struct context context = {.labels = make_labels()};
    struct record record = udp_flow();

    (void)state;
    record.has |= FLOW_LABELS;
    record.flow.labels[0] = 1U << 0 | 1U << 1 | 1U << 2; /* the last has no name */
    record.flow.labels[2] = 1;
    record.flow.labels[3] = 1U << 31;
    assert_string_equal(strstr(written(&layout, &context, &record, 1), " use="),
                        " use=1 id=3645521714 labels=zero,with\\x20blank,far-off,last\n");
    assert_non_null(strstr(written(&in_xml, &context, &record, 1),
                           "<mark>0</mark><labels><label>zero</label><label>with blank</label>"
                           "<label>far-off</label><label>last</label></labels><use>1</use>"));
    assert_string_equal(strstr(written(&plain, &context, &record, 1), " use="), " use=1\n");
    labels_destroy(context.labels);
}

static void without_a_name_for_any_there_is_just_the_word(void **state)
{
    const struct conntrack_layout layout = {.labels = true, .id = true};
    const struct conntrack_layout in_xml = {.labels = true, .xml = true};
    const struct context context = {.labels = make_labels()};
    struct record record = udp_flow();

    (void)state;
    record.has |= FLOW_LABELS;
    record.flow.labels[0] = 1U << 2;
    assert_string_equal(strstr(written(&layout, &context, &record, 1), " use="),
                        " use=1 id=3645521714 labels\n");
    assert_non_null(strstr(written(&in_xml, &context, &record, 1),
                           "<mark>0</mark><labels></labels><use>1</use>"));
    /* No file of labels: nothing is said of them. */
    assert_string_equal(strstr(written_row(&layout, &record), " use="), " use=1 id=3645521714\n");
    labels_destroy(context.labels);
}

/* --- Events ----------------------------------------------------------------------------------- */

static void events_begin_with_their_type_and_time(void **state)
{
    const struct conntrack_layout timed = {.extended = true, .timestamp = true, .id = true};
    struct record record = udp_flow();
    uint64_t received = 1795180938 * SECOND + 131019876;

    (void)state;
    record.has &= ~(FLOW_USE | FLOW_MARK);
    struct record event = as_event(record, FLOW_NEW, received);
    assert_string_equal(written_row(&plain, &event),
                        "    [NEW] udp      17 29 src=192.0.2.1 dst=192.0.2.53 sport=5353 dport=53 "
                        "[UNREPLIED] src=192.0.2.53 dst=192.0.2.1 sport=53 dport=5353\n");
    assert_string_equal(written_row(&timed, &event),
                        "[1795180938.131019]\t    [NEW] ipv4     2 udp      17 29 src=192.0.2.1 "
                        "dst=192.0.2.53 sport=5353 dport=53 [UNREPLIED] src=192.0.2.53 "
                        "dst=192.0.2.1 sport=53 dport=5353 id=3645521714\n");
    event = as_event(record, FLOW_UPDATE, 5 * SECOND + 7000);
    assert_memory_equal(written_row(&timed, &event), "[00000005.000007]\t [UPDATE] ipv4     2 ",
                        38);
    event = as_event(record, FLOW_DESTROY, 5 * SECOND);
    assert_memory_equal(written_row(&timed, &event), "[00000005.000000]\t[DESTROY] ipv4     2 ",
                        38);
    /* Flows that are listed have no such time. */
    assert_memory_equal(written_row(&timed, &record), "ipv4     2 udp ", 15);
}

/* A netlink port of this process. */
static uint32_t open_port(int *fd)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    socklen_t size = sizeof address;

    *fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
    if (*fd < 0 && errno == EPROTONOSUPPORT)
        skip(); /* by an emulator */
    assert_true(*fd >= 0);
    assert_int_equal(bind(*fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(*fd, (struct sockaddr *)&address, &size), 0);
    return address.nl_pid;
}

static void events_end_with_who_brought_them_about(void **state)
{
    const struct context context = {.senders = senders_create("/proc")};
    struct record record = as_event(udp_flow(), FLOW_NEW, SECOND);
    char expected[128], name[16];
    int fd;

    (void)state;
    record.has |= FLOW_SENDER;
    record.flow.sender = 4294967295;
    assert_string_equal(strstr(written_row(&plain, &record), " use=1"),
                        " use=1 [USERSPACE] portid=4294967295\n");
    record.flow.sender = open_port(&fd);
    prctl(PR_GET_NAME, name);
    prctl(PR_SET_NAME, "a b=<c>");
    snprintf(expected, sizeof expected, " [USERSPACE] portid=%u progname=a\\x20b=<c>\n",
             record.flow.sender);
    assert_string_equal(strstr(written(&plain, &context, &record, 1), " [USERSPACE]"), expected);
    assert_string_equal(strstr(written(&save, &context, &record, 1), " [USERSPACE]"), expected);
    snprintf(expected, sizeof expected,
             "</flow> [USERSPACE] portid=%u progname=a\\x20b=\\x3cc\\x3e\n</conntrack>\n",
             record.flow.sender);
    assert_string_equal(strstr(written(&xml, &context, &record, 1), "</flow>"), expected);
    prctl(PR_SET_NAME, name);
    senders_destroy(context.senders);
    close(fd);
}

/* --- Bounds ----------------------------------------------------------------------------------- */

/* Everything that a row can have, as wide as it gets. */
static struct record widest(void)
{
    static char worst[SHORT_TEXT_MAX];
    struct record record;

    memset(worst, '\n', sizeof worst);
    memset(&record, 0xff, sizeof record);
    record.kind = &kind_flow;
    record.flow.family = AF_INET6;
    record.flow.way[WAY_ORIG].tuple.protocol = record.flow.way[WAY_REPLY].tuple.protocol =
        IPPROTO_SCTP;
    record.flow.way[WAY_ORIG].tuple.has_ports = record.flow.way[WAY_REPLY].tuple.has_ports = true;
    record.flow.state = 7;
    record.flow.event = FLOW_DESTROY;
    record.flow.status = (uint32_t)~IPS_SEEN_REPLY;
    record.flow.role = 1;
    record.flow.helper = record.flow.secctx = (struct text){worst, sizeof worst};
    return record;
}

static void the_widest_row_stays_within_what_is_reserved(void **state)
{
    static const struct conntrack_layout layouts[] = {
        {.extended = true, .id = true, .timestamp = true, .ktimestamp = true, .labels = true},
        {.xml = true, .timestamp = true, .ktimestamp = true, .labels = true},
        {.save = true},
    };
    const struct record record = widest();

    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        /* Two such texts are in a row; of the third, a program's name, there is room besides. */
        const size_t length = strlen(written_row(&layouts[i], &record));
        assert_in_range(length, 1, ROW_MAX - ESCAPE_FACTOR * SHORT_TEXT_MAX);
    }
}

static void many_long_labels_fit_a_row_after_row(void **state)
{
    const struct conntrack_layout layout = {.labels = true};
    char path[] = "/tmp/fastnet-labels-XXXXXX", name[SHORT_TEXT_MAX - 3];
    struct context context = {.labels = NULL};
    struct record records[5];
    size_t commas = 0;

    (void)state;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int bit = 0; bit < FLOW_LABEL_BITS; bit++)
        dprintf(fd, "%d %s%d\n", bit, name, bit);
    close(fd);
    assert_int_equal(labels_create(&context.labels, path), 0);
    unlink(path);
    for (size_t i = 0; i < 5; i++) {
        records[i] = udp_flow();
        records[i].has |= FLOW_LABELS;
        memset(records[i].flow.labels, 0xff, sizeof records[i].flow.labels);
    }
    for (const char *at = written(&layout, &context, records, 5); *at != '\0'; at++)
        commas += *at == ',';
    assert_int_equal(commas, 5 * (FLOW_LABEL_BITS - 1));
    labels_destroy(context.labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_are_lines_of_their_protocol),
        cmocka_unit_test(keys_of_gre_are_hexadecimal_without_zeroes_in_front),
        cmocka_unit_test(dccp_without_ports_has_them_as_zero),
        cmocka_unit_test(ipv6_is_written_in_full_and_mapped_addresses_stay_ipv6),
        cmocka_unit_test(extended_puts_the_network_layer_in_front),
        cmocka_unit_test(zones_follow_their_direction),
        cmocka_unit_test(counters_and_times_are_shown_where_the_kernel_keeps_them),
        cmocka_unit_test(a_flow_that_goes_on_has_lasted_until_now),
        cmocka_unit_test(one_status_is_shown_the_strongest),
        cmocka_unit_test(states_are_named_by_protocol_and_unknown_ones_are_none),
        cmocka_unit_test(unknown_fields_are_left_out),
        cmocka_unit_test(helpers_and_contexts_are_escaped),
        cmocka_unit_test(long_texts_are_not_cut),
        cmocka_unit_test(labels_are_joined_by_commas),
        cmocka_unit_test(without_a_name_for_any_there_is_just_the_word),
        cmocka_unit_test(events_begin_with_their_type_and_time),
        cmocka_unit_test(events_end_with_who_brought_them_about),
        cmocka_unit_test(the_widest_row_stays_within_what_is_reserved),
        cmocka_unit_test(many_long_labels_fit_a_row_after_row),
    };

    return cmocka_run_group_tests_name("layout_conntrack", tests, set_time_zone, NULL);
}
