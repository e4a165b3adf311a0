/* SPDX-License-Identifier: MIT */
#include "flow_rows.h"

#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fastnet/flow_names.h"
#include "fastnet/hosts.h"
#include "fastnet/labels.h"
#include "kit.h"

const char flow_statistics_text[] =
    "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop "
    "early_drop icmp_error  expect_new expect_create expect_delete search_restart\n"
    "00000010  00000001 00000002 00000000 00000003 00000000 00000000 00000004 00000005 00000006 "
    "00000007 00000008 00000009  0000000a 0000000b 0000000c ffffffff\n"
    "00000010  00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
    "00000100 00000200 00000002  00000000 00000002 00000001 00000000\n";

const struct conntrack_layout plain;
const struct conntrack_layout xml = {.xml = true};
const struct conntrack_layout save = {.save = true};

const char *written(const struct conntrack_layout *layout, const struct context *context,
                    const struct record *records, size_t count)
{
    return output_of(&sink_conntrack, layout, context, -1, records, count);
}

const char *written_row(const struct conntrack_layout *layout, const struct record *record)
{
    return written(layout, &no_names, record, 1);
}

struct flow_tuple flow_tuple_of(uint8_t protocol, const char *src, const char *dst,
                                uint16_t src_port, uint16_t dst_port)
{
    return (struct flow_tuple){.src = ip(src),
                               .dst = ip(dst),
                               .src_port = src_port,
                               .dst_port = dst_port,
                               .protocol = protocol,
                               .has_ports = flow_has_ports(protocol) || protocol == IPPROTO_GRE};
}

struct record flow_of(uint8_t protocol, uint32_t timeout, const char *src, const char *dst,
                      uint16_t src_port, uint16_t dst_port)
{
    struct record record = {.kind = &kind_flow,
                            .has = FLOW_ORIG | FLOW_REPLY | FLOW_TIMEOUT | FLOW_STATUS | FLOW_MARK |
                                   FLOW_USE | FLOW_ID};
    struct flow_record *made = &record.flow;

    made->family = strchr(src, ':') != NULL ? AF_INET6 : AF_INET;
    made->timeout = timeout;
    made->use = 1;
    made->id = 3645521714;
    made->status = IPS_CONFIRMED;
    made->way[WAY_ORIG].tuple = flow_tuple_of(protocol, src, dst, src_port, dst_port);
    made->way[WAY_REPLY].tuple = flow_tuple_of(protocol, dst, src, dst_port, src_port);
    return record;
}

struct record flow_without_ports(uint8_t protocol)
{
    struct record record = flow_of(protocol, 299, "192.0.2.1", "192.0.2.2", 0, 0);

    record.flow.way[WAY_ORIG].tuple.has_ports = record.flow.way[WAY_REPLY].tuple.has_ports = false;
    return record;
}

struct record flow_with_state(struct record record, uint8_t state, uint32_t status)
{
    record.has |= FLOW_STATE;
    record.flow.state = state;
    record.flow.status |= status;
    return record;
}

struct record tcp_flow(void)
{
    struct record record = flow_of(IPPROTO_TCP, 43199, "192.0.2.1", "198.51.100.2", 40000, 443);

    record.flow.mark = 7;
    return flow_with_state(record, TCP_CONNTRACK_ESTABLISHED, IPS_ASSURED | IPS_SEEN_REPLY);
}

struct record udp_flow(void)
{
    return flow_of(IPPROTO_UDP, 29, "192.0.2.1", "192.0.2.53", 5353, 53);
}

struct record icmp_flow(void)
{
    struct record record = flow_of(IPPROTO_ICMP, 29, "192.0.2.1", "192.0.2.2", 4711, 0);

    record.flow.way[WAY_ORIG].tuple.icmp_type = 8;
    record.flow.way[WAY_REPLY].tuple.src_port = 4711;
    return record;
}

struct record icmpv6_flow(void)
{
    struct record record = flow_of(IPPROTO_ICMPV6, 59, "::1", "::ffff:1.2.3.4", 9, 0);

    record.flow.way[WAY_ORIG].tuple.icmp_type = 128;
    record.flow.way[WAY_REPLY].tuple.icmp_type = 129;
    record.flow.way[WAY_REPLY].tuple.src_port = 9;
    return record;
}

struct record gre_flow(void)
{
    return flow_of(IPPROTO_GRE, 299, "192.0.2.1", "192.0.2.2", 0x10, 0xabcd);
}

struct record sctp_flow(void)
{
    struct record record = flow_of(IPPROTO_SCTP, 299, "192.0.2.1", "192.0.2.2", 1000, 36412);

    record.has |= FLOW_ORIG_VTAG | FLOW_REPLY_VTAG;
    record.flow.way[WAY_ORIG].vtag = htonl(111); /* what conntrack calls 111 */
    record.flow.way[WAY_REPLY].vtag = htonl(222);
    return flow_with_state(record, SCTP_ESTABLISHED, IPS_ASSURED | IPS_SEEN_REPLY);
}

struct record as_event(struct record record, uint8_t event, uint64_t received)
{
    record.has |= FLOW_EVENT;
    if (record.kind == &kind_expectation) {
        record.expectation.event = event;
        record.expectation.received = received;
    } else {
        record.flow.event = event;
        record.flow.received = received;
    }
    return record;
}

struct labels *make_labels(void)
{
    char path[] = "/tmp/fastnet-labels-XXXXXX";
    static const char lines[] = "0 zero\n1 with blank\n64 far-off\n127 last\n";
    const int fd = mkstemp(path);
    struct labels *labels = NULL;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, lines, sizeof lines - 1), sizeof lines - 1);
    close(fd);
    assert_int_equal(labels_create(&labels, path), 0);
    unlink(path);
    return labels;
}

int set_time_zone(void **state)
{
    (void)state;
    setenv("TZ", "UTC0", 1);
    tzset();
    return 0;
}
