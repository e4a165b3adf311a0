/* SPDX-License-Identifier: MIT */
/* conntrack 1.4.7 with -o xml and -o save, and its expectations, statistics and counts. */
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fastnet/kernel_abi.h"
#include "flow_rows.h"
#include "kit.h"

/* --- XML -------------------------------------------------------------------------------------- */

static void a_document_is_one_element_with_a_flow_a_line(void **state)
{
    const struct record records[] = {tcp_flow(), icmp_flow()};

    (void)state;
    assert_string_equal(
        written(&xml, &no_names, records, 2), XML_HEADER
        "<conntrack>\n"
        "<flow><meta direction=\"original\"><layer3 protonum=\"2\" protoname=\"ipv4\">"
        "<src>192.0.2.1</src><dst>198.51.100.2</dst></layer3><layer4 protonum=\"6\" "
        "protoname=\"tcp\"><sport>40000</sport><dport>443</dport></layer4></meta>"
        "<meta direction=\"reply\"><layer3 protonum=\"2\" protoname=\"ipv4\">"
        "<src>198.51.100.2</src><dst>192.0.2.1</dst></layer3><layer4 protonum=\"6\" "
        "protoname=\"tcp\"><sport>443</sport><dport>40000</dport></layer4></meta>"
        "<meta direction=\"independent\"><state>ESTABLISHED</state><timeout>43199</timeout>"
        "<mark>7</mark><use>1</use><id>3645521714</id><assured/></meta></flow>\n"
        "<flow><meta direction=\"original\"><layer3 protonum=\"2\" protoname=\"ipv4\">"
        "<src>192.0.2.1</src><dst>192.0.2.2</dst></layer3><layer4 protonum=\"1\" "
        "protoname=\"icmp\"></layer4></meta><meta direction=\"reply\"><layer3 protonum=\"2\" "
        "protoname=\"ipv4\"><src>192.0.2.2</src><dst>192.0.2.1</dst></layer3><layer4 "
        "protonum=\"1\" protoname=\"icmp\"></layer4></meta><meta direction=\"independent\">"
        "<timeout>29</timeout><mark>0</mark><use>1</use><id>3645521714</id><unreplied/></meta>"
        "</flow>\n"
        "</conntrack>\n");
    assert_string_equal(written(&xml, &no_names, records, 0), "");
}

static void xml_has_zones_counters_and_keys_by_direction(void **state)
{
    struct record record = gre_flow();

    (void)state;
    record.has |= FLOW_ORIG_ZONE | FLOW_REPLY_ZONE | FLOW_ORIG_COUNTERS | FLOW_REPLY_COUNTERS;
    record.flow.way[WAY_ORIG].zone = 4;
    record.flow.way[WAY_REPLY].zone = 5;
    record.flow.way[WAY_ORIG].packets = 1;
    record.flow.way[WAY_ORIG].bytes = 60;
    assert_string_equal(
        written_row(&xml, &record), XML_HEADER
        "<conntrack>\n"
        "<flow><meta direction=\"original\"><layer3 protonum=\"2\" protoname=\"ipv4\">"
        "<src>192.0.2.1</src><dst>192.0.2.2</dst></layer3><layer4 protonum=\"47\" "
        "protoname=\"gre\"><srckey>0x10</srckey><dstkey>0xabcd</dstkey></layer4><zone>4</zone>"
        "<counters><packets>1</packets><bytes>60</bytes></counters></meta>"
        "<meta direction=\"reply\"><layer3 protonum=\"2\" protoname=\"ipv4\">"
        "<src>192.0.2.2</src><dst>192.0.2.1</dst></layer3><layer4 protonum=\"47\" "
        "protoname=\"gre\"><srckey>0xabcd</srckey><dstkey>0x10</dstkey></layer4><zone>5</zone>"
        "<counters><packets>0</packets><bytes>0</bytes></counters></meta>"
        "<meta direction=\"independent\"><timeout>299</timeout><mark>0</mark><use>1</use>"
        "<id>3645521714</id><unreplied/></meta></flow>\n"
        "</conntrack>\n");
}

static void xml_events_have_their_type_and_time(void **state)
{
    const struct conntrack_layout timed = {.xml = true, .timestamp = true};
    static const char *const begins[] = {"<flow type=\"new\"><meta ",
                                         "<flow type=\"update\"><meta ",
                                         "<flow type=\"destroy\"><meta "};
    struct record record = udp_flow();

    (void)state;
    record.has |= FLOW_HELPER;
    record.flow.helper = (struct text){"ftp", 3};
    for (size_t event = FLOW_NEW; event <= FLOW_DESTROY; event++) {
        /* 13:02:08, a Friday */
        const struct record row_of_it = as_event(record, (uint8_t)event, 1795179728 * SECOND);
        const char *text = written_row(&timed, &row_of_it);
        assert_non_null(strstr(text, begins[event]));
        assert_string_equal(strstr(text, "<unreplied/>"),
                            "<unreplied/></meta><when><hour>13</hour><min>02</min><sec>08</sec>"
                            "<wday>6</wday><day>20</day><month>11</month><year>2026</year></when>"
                            "<helper>ftp</helper></flow>\n</conntrack>\n");
    }
    assert_null(strstr(written_row(&timed, &record), "<when>"));
}

static void xml_times_are_nanoseconds_and_the_rest_is_whole_seconds(void **state)
{
    const struct conntrack_layout times = {.xml = true, .ktimestamp = true};
    struct record record = udp_flow();

    (void)state;
    record.has |= FLOW_START | FLOW_STOP;
    record.flow.start = UINT64_C(1795180878848635998);
    record.flow.stop = UINT64_C(1795180880000000000); /* 1.15 s, not 2 as in a line */
    assert_string_equal(strstr(written_row(&times, &record), "<unreplied/>"),
                        "<unreplied/><timestamp><start>1795180878848635998</start>"
                        "<stop>1795180880000000000</stop></timestamp><deltatime>1</deltatime>"
                        "</meta></flow>\n</conntrack>\n");
    assert_string_equal(strstr(written_row(&xml, &record), "<unreplied/>"),
                        "<unreplied/><deltatime>1</deltatime></meta></flow>\n</conntrack>\n");
}

static void xml_names_states_of_sctp_as_those_of_tcp(void **state)
{
    const struct record record = sctp_flow();

    (void)state;
    assert_non_null(
        strstr(written_row(&xml, &record), "<state>FIN_WAIT</state><timeout>299</timeout>"));
}

static void a_listing_begun_again_is_a_document_of_its_own(void **state)
{
    struct writer writer = {.length = 0};
    const struct record record = udp_flow();
    const int fd = memfd_create("layout", 0);

    (void)state;
    assert_int_equal(writer_init(&writer, fd), 0);
    struct sink *sink = sink_create(&sink_conntrack, &xml, &writer, &no_names);
    off_t ends[2];
    for (size_t i = 0; i < 2; i++) {
        sink_begin(sink);
        sink->ops->row(sink, &record);
        sink_end(sink);
        assert_int_equal(writer_flush(&writer), 0);
        ends[i] = lseek(fd, 0, SEEK_CUR);
    }
    assert_int_equal(ends[1], 2 * ends[0]);
    sink_destroy(sink);
    writer_finish(&writer);
    close(fd);
}

/* --- -o save ---------------------------------------------------------------------------------- */

static void saved_flows_are_options_by_protocol(void **state)
{
    const struct record tcp = tcp_flow(), icmp = icmp_flow(), icmpv6 = icmpv6_flow();
    const struct record gre = gre_flow(), sctp = sctp_flow();
    const struct record other = flow_of(50, 599, "192.0.2.1", "192.0.2.4", 0, 0);

    (void)state;
    assert_string_equal(written_row(&save, &tcp),
                        "-A -t 43199 -u SEEN_REPLY,ASSURED -s 192.0.2.1 -d 198.51.100.2 -r "
                        "198.51.100.2 -q 192.0.2.1 -p tcp --sport 40000 --dport 443 "
                        "--reply-port-src 443 --reply-port-dst 40000 --state ESTABLISHED\n");
    assert_string_equal(written_row(&save, &icmp),
                        "-A -t 29 -u UNSET -s 192.0.2.1 -d 192.0.2.2 -r 192.0.2.2 -q 192.0.2.1 -p "
                        "icmp --icmp-type 8 --icmp-code 0 --icmp-id 4711\n");
    assert_string_equal(written_row(&save, &icmpv6),
                        "-A -t 59 -u UNSET -s ::1 -d ::ffff:1.2.3.4 -r ::ffff:1.2.3.4 -q ::1 -p "
                        "icmpv6 --icmpv6-type 128 --icmpv6-code 0 --icmpv6-id 9\n");
    assert_string_equal(
        written_row(&save, &gre),
        "-A -t 299 -u UNSET -s 192.0.2.1 -d 192.0.2.2 -r 192.0.2.2 -q 192.0.2.1 -p "
        "gre --srckey 16 --dstkey 43981 --reply-key-src 43981 --reply-key-dst 16\n");
    assert_string_equal(written_row(&save, &sctp),
                        "-A -t 299 -u SEEN_REPLY,ASSURED -s 192.0.2.1 -d 192.0.2.2 -r 192.0.2.2 -q "
                        "192.0.2.1 -p sctp --sport 1000 --dport 36412 --reply-port-src 36412 "
                        "--reply-port-dst 1000 --state ESTABLISHED --orig-vtag 111 --reply-vtag "
                        "222\n");
    assert_string_equal(written_row(&save, &other),
                        "-A -t 599 -u UNSET -s 192.0.2.1 -d 192.0.2.4 -r 192.0.2.4 -q 192.0.2.1 -p "
                        "50\n");
}

static void saved_dccp_has_ports_state_and_role_where_they_are_known(void **state)
{
    struct record unknown = flow_without_ports(IPPROTO_DCCP);
    struct record known =
        flow_with_state(flow_of(IPPROTO_DCCP, 299, "192.0.2.1", "192.0.2.2", 1, 2), DCCP_OPEN, 0);

    (void)state;
    unknown.flow.status |= IPS_SEEN_REPLY;
    assert_string_equal(written_row(&save, &unknown),
                        "-A -t 299 -u SEEN_REPLY -s 192.0.2.1 -d 192.0.2.2 -r 192.0.2.2 -q "
                        "192.0.2.1 -p dccp\n");
    known.has |= FLOW_ROLE;
    known.flow.role = 1;
    assert_string_equal(strstr(written_row(&save, &known), "-p dccp"),
                        "-p dccp --sport 1 --dport 2 --reply-port-src 2 --reply-port-dst 1 --state "
                        "OPEN --role server\n");
}

static void saved_ports_and_keys_are_0_where_they_are(void **state)
{
    static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_UDPLITE, IPPROTO_SCTP,
                                        IPPROTO_DCCP};
    static const char ports[] = " --sport 0 --dport 0 --reply-port-src 0 --reply-port-dst 0\n";
    const struct record no_keys = flow_without_ports(IPPROTO_GRE);
    struct record record;

    (void)state;
    for (size_t i = 0; i < sizeof protocols; i++) {
        record = flow_of(protocols[i], 299, "2001::1", "2001::2", 0, 0);
        assert_non_null(strstr(written_row(&save, &record), ports));
        record = flow_without_ports(protocols[i]);
        assert_null(strstr(written_row(&save, &record), "port"));
    }
    record = flow_of(IPPROTO_GRE, 299, "192.0.2.1", "192.0.2.2", 0, 0);
    assert_non_null(strstr(written_row(&save, &record),
                           "-p gre --srckey 0 --dstkey 0 --reply-key-src 0 --reply-key-dst 0\n"));
    assert_non_null(strstr(written_row(&save, &no_keys), "-p gre\n"));
}

/* As the original, which takes the zeroes of its own memory for the ports. */
static void lines_and_xml_have_ports_of_0_in_any_case(void **state)
{
    const struct record dccp = flow_without_ports(IPPROTO_DCCP);
    const struct record gre = flow_without_ports(IPPROTO_GRE);

    (void)state;
    assert_non_null(strstr(written_row(&plain, &dccp), "dst=192.0.2.2 sport=0 dport=0 "));
    assert_non_null(strstr(written_row(&xml, &dccp), "<sport>0</sport><dport>0</dport>"));
    assert_non_null(strstr(written_row(&plain, &gre), "srckey=0x0 dstkey=0x0 "));
}

static void saved_translations_are_options_of_their_own(void **state)
{
    struct record record = flow_of(IPPROTO_UDP, 599, "192.0.2.1", "192.0.2.7", 2000, 21);

    (void)state;
    record.flow.way[WAY_REPLY].tuple.src = ip("10.8.8.8");
    record.flow.way[WAY_REPLY].tuple.dst = ip("10.9.9.9");
    record.flow.way[WAY_REPLY].tuple.dst_port = 99;
    record.flow.status |= IPS_SRC_NAT_DONE | IPS_DST_NAT_DONE;
    assert_string_equal(written_row(&save, &record),
                        "-A -t 599 -u UNSET -s 192.0.2.1 -d 192.0.2.7 -g 10.8.8.8 -n 10.9.9.9 -p "
                        "udp --sport 2000 --dport 21 --reply-port-src 21 --reply-port-dst 99\n");
    record.flow.status &= ~(uint32_t)IPS_SRC_NAT_DONE;
    assert_non_null(strstr(written_row(&save, &record), " -g 10.8.8.8 -q 10.9.9.9 -p"));
    record.flow.status &= ~(uint32_t)IPS_DST_NAT_DONE;
    assert_non_null(strstr(written_row(&save, &record), " -r 10.8.8.8 -q 10.9.9.9 -p"));
    record.has &= ~FLOW_STATUS;
    assert_non_null(strstr(written_row(&save, &record), " -g 10.8.8.8 -n 10.9.9.9 -p"));
}

static void saved_zones_and_marks_come_first(void **state)
{
    struct record record = udp_flow();

    (void)state;
    record.has |= FLOW_ZONE | FLOW_ORIG_ZONE | FLOW_REPLY_ZONE | FLOW_SECMARK;
    record.flow.zone = 3;
    record.flow.way[WAY_ORIG].zone = 4;
    record.flow.way[WAY_REPLY].zone = 5;
    record.flow.secmark = 6;
    record.flow.status = IPS_EXPECTED | IPS_SEEN_REPLY | IPS_CONFIRMED | IPS_FIXED_TIMEOUT;
    assert_string_equal(written_row(&save, &record),
                        "-A -t 29 -u EXPECTED,SEEN_REPLY,FIXED_TIMEOUT -c 6 -w 3 --orig-zone 4 "
                        "--reply-zone 5 -s 192.0.2.1 -d 192.0.2.53 -r 192.0.2.53 -q 192.0.2.1 -p "
                        "udp --sport 5353 --dport 53 --reply-port-src 53 --reply-port-dst 5353\n");
}

static void saved_events_are_commands(void **state)
{
    const struct record made = as_event(udp_flow(), FLOW_NEW, 0);
    const struct record changed = as_event(udp_flow(), FLOW_UPDATE, 0);
    const struct record gone = as_event(udp_flow(), FLOW_DESTROY, 0);

    (void)state;
    assert_memory_equal(written_row(&save, &made), "-A -t 29 -u ", 12);
    assert_memory_equal(written_row(&save, &changed), "-U -t 29 -u ", 12);
    assert_memory_equal(written_row(&save, &gone), "-D -t 29 -u ", 12);
}

/* --- Expectations ----------------------------------------------------------------------------- */

/* What the helper of FTP waits for after a PORT. */
static struct record ftp_expectation(const char *address, const char *mask)
{
    struct record record = {.kind = &kind_expectation,
                            .has = FLOW_ORIG | FLOW_MASK | FLOW_MASTER | FLOW_TIMEOUT | FLOW_FLAGS |
                                   FLOW_CLASS | FLOW_ID | FLOW_HELPER};
    struct expectation_record *expectation = &record.expectation;

    expectation->family = ip(address).family;
    expectation->timeout = 299;
    expectation->helper = (struct text){"ftp", 3};
    expectation->orig = flow_tuple_of(IPPROTO_TCP, address, address, 0, 51210);
    expectation->mask = flow_tuple_of(IPPROTO_TCP, mask, mask, 0, 65535);
    expectation->master = flow_tuple_of(IPPROTO_TCP, address, address, 48534, 2121);
    return record;
}

#define FTP_LINE                                                                                   \
    "299 proto=6 src=127.0.0.1 dst=127.0.0.1 sport=0 dport=51210 mask-src=255.255.255.255 "        \
    "mask-dst=255.255.255.255 sport=0 dport=65535 master-src=127.0.0.1 master-dst=127.0.0.1 "      \
    "sport=48534 dport=2121 "

static void expectations_are_lines_with_mask_and_master(void **state)
{
    struct record record = ftp_expectation("127.0.0.1", "255.255.255.255");
    const struct record v6 = ftp_expectation("::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");

    (void)state;
    assert_string_equal(written_row(&plain, &record), FTP_LINE "class=0 helper=ftp\n");
    assert_string_equal(written_row(&save, &record), FTP_LINE "class=0 helper=ftp\n");
    assert_string_equal(written_row(&plain, &v6),
                        "299 proto=6 src=::1 dst=::1 sport=0 dport=51210 "
                        "mask-src=ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
                        "mask-dst=ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff sport=0 dport=65535 "
                        "master-src=::1 master-dst=::1 sport=48534 dport=2121 class=0 "
                        "helper=ftp\n");
    record.has &= ~FLOW_HELPER;
    assert_string_equal(written_row(&plain, &record), FTP_LINE "class=0\n");
}

static void flags_of_expectations_are_joined_by_commas(void **state)
{
    struct record record = ftp_expectation("127.0.0.1", "255.255.255.255");

    (void)state;
    record.has |= FLOW_ZONE;
    record.expectation.zone = 9;
    record.expectation.flags = NF_CT_EXPECT_PERMANENT | NF_CT_EXPECT_USERSPACE;
    record.expectation.class = 2;
    record.expectation.helper = (struct text){"a b", 3};
    assert_string_equal(written_row(&plain, &record),
                        FTP_LINE "zone=9 PERMANENT,USERSPACE class=2 helper=a\\x20b\n");
    record.expectation.flags = NF_CT_EXPECT_INACTIVE;
    assert_string_equal(written_row(&plain, &record),
                        FTP_LINE "zone=9 INACTIVE class=2 helper=a\\x20b\n");
}

static void times_of_expectations_are_filled_with_blanks(void **state)
{
    const struct conntrack_layout timed = {.timestamp = true};
    struct record record = ftp_expectation("127.0.0.1", "255.255.255.255");
    (void)state;
    const struct record event = as_event(record, FLOW_NEW, 5 * SECOND + 7000);
    assert_string_equal(written_row(&timed, &event),
                        "[5       .7     ]\t    [NEW] " FTP_LINE "class=0 helper=ftp\n");
    assert_string_equal(written_row(&plain, &event), "    [NEW] " FTP_LINE "class=0 helper=ftp\n");
    /* Listed ones were received now. */
    const uint64_t now = (uint64_t)time(NULL);
    assert_in_range(strtoull(written_row(&timed, &record) + 1, NULL, 10), now, now + 60);
}

static void expectations_are_xml_in_a_root_of_their_own(void **state)
{
    const struct conntrack_layout timed = {.xml = true, .timestamp = true};
    struct record record = ftp_expectation("127.0.0.1", "255.255.255.255");

    (void)state;
    record = as_event(record, FLOW_NEW, 1795180979 * SECOND);
    assert_string_equal(
        written_row(&timed, &record), XML_HEADER
        "<expect>\n"
        "<flow type=\"new\"><layer3 protonum=\"2\" protoname=\"ipv4\"><expected>"
        "<src>127.0.0.1</src><dst>127.0.0.1</dst></expected><mask><src>255.255.255.255</src>"
        "<dst>255.255.255.255</dst></mask><master><src>127.0.0.1</src><dst>127.0.0.1</dst>"
        "</master></layer3><layer4 protonum=\"6\" protoname=\"tcp\"><expected><sport>0</sport>"
        "<dport>51210</dport></expected><mask><sport>0</sport><dport>65535</dport></mask><master>"
        "<sport>48534</sport><dport>2121</dport></master></layer4><meta>"
        "<helper-name>ftp</helper-name><timeout>299</timeout><class>0</class><when>"
        "<hour>13</hour><min>22</min><sec>59</sec><wday>6</wday><day>20</day><month>11</month>"
        "<year>2026</year></when></meta></flow>\n"
        "</expect>\n");
    record.has |= FLOW_ZONE;
    record.has &= ~FLOW_EVENT;
    record.expectation.flags = 7;
    assert_string_equal(strstr(written_row(&xml, &record), "<class>"),
                        "<class>0</class><zone>0</zone><permanent/><inactive/><userspace/></meta>"
                        "</flow>\n</expect>\n");
    assert_non_null(strstr(written_row(&timed, &record), "<when><hour>"));
}

/* --- Numbers ---------------------------------------------------------------------------------- */

static void statistics_are_a_line_a_processor(void **state)
{
    struct record record = {.kind = &kind_flow_statistics};

    (void)state;
    record.statistics.cpu = 1;
    record.has = 1 << CTA_STATS_FOUND | 1 << CTA_STATS_INSERT | 1 << CTA_STATS_CHAIN_TOOLONG;
    record.statistics.counters[CTA_STATS_FOUND] = 4294967295;
    record.statistics.counters[CTA_STATS_INSERT] = 10;
    assert_string_equal(written_row(&plain, &record),
                        "cpu=1   \tfound=4294967295 insert=10 chaintoolong=0 \n");
    record.has = (1 << FLOW_COUNTERS) - 1;
    record.statistics.cpu = 12345;
    assert_string_equal(written_row(&plain, &record),
                        "cpu=12345\tsearched=0 found=4294967295 new=0 invalid=0 ignore=0 delete=0 "
                        "delete_list=0 insert=10 insert_failed=0 drop=0 early_drop=0 error=0 "
                        "search_restart=0 clash_resolve=0 chaintoolong=0 unknown1=0 unknown2=0 "
                        "unknown3=0 unknown4=0 \n");
    record.statistics.expectations = true;
    assert_string_equal(written_row(&plain, &record),
                        "cpu=12345\texpect_new=0 expect_create=4294967295 "
                        "expect_delete=0 \n");
}

static struct record usage(uint64_t entries)
{
    return (struct record){
        .kind = &kind_flow_usage,
        .has = USAGE_ENTRIES | USAGE_MAXIMUM | USAGE_BUCKETS | USAGE_DROPS,
        .usage = {
            .entries = entries, .maximum = 262144, .buckets = 65536, .drop = 12, .early_drop = 3}};
}

static void a_count_is_a_number(void **state)
{
    struct record record = usage(11);

    (void)state;
    record.has = USAGE_ENTRIES;
    assert_string_equal(written_row(&plain, &record), "11\n");
    assert_string_equal(written_row(&xml, &record), "11\n");
}

static void usage_is_a_block_to_be_read(void **state)
{
    const bool wide = FLOW_BUCKET_SIZE == 8;
    struct record record = usage(100000);
    char expected[512];

    (void)state;
    snprintf(expected, sizeof expected,
             "entries        100000\n"
             "maximum        262144\n"
             "percent full   38.14\n"
             "buckets        65536\n"
             "average chain  3.05\n"
             "memory         %s MiB, estimated\n"
             "dropped        12\n"
             "dropped early  3\n"
             "sysctl         net.netfilter.nf_conntrack_max\n",
             wide ? "31.0" : "30.8");
    assert_string_equal(written_row(&plain, &record), expected);
    record.has |= USAGE_ENTRY_SIZE;
    record.usage.entry_size = 256;
    snprintf(expected, sizeof expected, "\nmemory         %s MiB\n", wide ? "24.9" : "24.7");
    assert_non_null(strstr(written_row(&plain, &record), expected));
}

static void memory_is_rounded_to_one_decimal(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *shown;
    } sizes[] = {{1023, "1023 B"},         {1024, "1.0 KiB"},      {1074, "1.0 KiB"},
                 {1076, "1.1 KiB"},        {63537152, "60.6 MiB"}, {UINT64_C(1) << 40, "1.0 TiB"},
                 {UINT64_MAX, "16.0 EiB"}, {1048575, "1024.0 KiB"}};
    struct record record = usage(1);
    char line[64];

    (void)state;
    record.has |= USAGE_ENTRY_SIZE;
    record.usage.buckets = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        record.usage.entry_size = sizes[i].bytes;
        snprintf(line, sizeof line, "\nmemory         %s\n", sizes[i].shown);
        assert_non_null(strstr(written_row(&plain, &record), line));
    }
}

static void above_ninety_percent_usage_warns(void **state)
{
    struct record record = usage(235930);

    (void)state;
    assert_string_equal(strstr(written_row(&plain, &record), "sysctl "),
                        "sysctl         net.netfilter.nf_conntrack_max\n"
                        "The table is 90.00 % full. When it is full, new connections are dropped. "
                        "Raise the sysctl.\n");
    record.usage.entries = 235929;
    assert_string_equal(strstr(written_row(&plain, &record), "sysctl "),
                        "sysctl         net.netfilter.nf_conntrack_max\n");
    record.usage.entries = 262144;
    assert_non_null(
        strstr(written_row(&plain, &record), "The table is full: new connections are dropped"));
}

static void unknown_usage_is_a_dash_and_no_maximum_is_unlimited(void **state)
{
    struct record record = usage(5);

    (void)state;
    record.has = USAGE_ENTRIES | USAGE_MAXIMUM;
    record.usage.maximum = 0;
    assert_string_equal(written_row(&plain, &record),
                        "entries        5\n"
                        "maximum        unlimited\n"
                        "percent full   -\n"
                        "buckets        -\n"
                        "average chain  -\n"
                        "memory         -\n"
                        "dropped        -\n"
                        "dropped early  -\n"
                        "sysctl         net.netfilter.nf_conntrack_max\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_one_element_with_a_flow_a_line),
        cmocka_unit_test(xml_has_zones_counters_and_keys_by_direction),
        cmocka_unit_test(xml_events_have_their_type_and_time),
        cmocka_unit_test(xml_times_are_nanoseconds_and_the_rest_is_whole_seconds),
        cmocka_unit_test(xml_names_states_of_sctp_as_those_of_tcp),
        cmocka_unit_test(a_listing_begun_again_is_a_document_of_its_own),
        cmocka_unit_test(saved_flows_are_options_by_protocol),
        cmocka_unit_test(saved_dccp_has_ports_state_and_role_where_they_are_known),
        cmocka_unit_test(saved_ports_and_keys_are_0_where_they_are),
        cmocka_unit_test(lines_and_xml_have_ports_of_0_in_any_case),
        cmocka_unit_test(saved_translations_are_options_of_their_own),
        cmocka_unit_test(saved_zones_and_marks_come_first),
        cmocka_unit_test(saved_events_are_commands),
        cmocka_unit_test(expectations_are_lines_with_mask_and_master),
        cmocka_unit_test(flags_of_expectations_are_joined_by_commas),
        cmocka_unit_test(times_of_expectations_are_filled_with_blanks),
        cmocka_unit_test(expectations_are_xml_in_a_root_of_their_own),
        cmocka_unit_test(statistics_are_a_line_a_processor),
        cmocka_unit_test(a_count_is_a_number),
        cmocka_unit_test(usage_is_a_block_to_be_read),
        cmocka_unit_test(memory_is_rounded_to_one_decimal),
        cmocka_unit_test(above_ninety_percent_usage_warns),
        cmocka_unit_test(unknown_usage_is_a_dash_and_no_maximum_is_unlimited),
    };

    return cmocka_run_group_tests_name("layout_conntrack_forms", tests, set_time_zone, NULL);
}
