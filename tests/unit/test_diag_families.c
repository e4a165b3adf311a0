/* SPDX-License-Identifier: MIT */
/* Sockets that are not of IP out of sock_diag messages, which are made by hand. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink_diag.h>
#include <linux/packet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tipc_netlink.h>
#include <linux/tipc_sockets_diag.h>
#include <linux/vm_sockets_diag.h>
#include <linux/xdp_diag.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/socket/decode.h"
#include "backend/socket/sock_diag.h"
#include "fastnet/predicate.h"
#include "kit.h"

#define ALWAYS (SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_COOKIE)

static const uint32_t memory[] = {11, 12, 13, 14, 15, 16, 17, 18, 19};

/* A message of the family that begins with a header. */
static struct wire *begin(const void *header, size_t size)
{
    static struct wire wire;

    wire.length = 0;
    wire_message(&wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
    wire_put(&wire, header, size);
    return &wire;
}

static struct record decoded(const struct diag_family *family, struct wire *wire)
{
    struct record record;

    memset(&record, 0xa5, sizeof record);
    assert_int_equal(diag_decode(family, wire_last(wire), &record), 0);
    assert_int_equal(record.kind, &kind_socket);
    assert_int_equal(record.has & ~backend_fields(&backend_sock_diag, family->table), 0);
    assert_int_equal(record.socket.family, family->table->family);
    assert_int_equal(record.socket.protocol, family->table->protocol);
    return record;
}

static void assert_bytes(const struct text *text, const void *bytes, size_t size)
{
    assert_text(text, bytes, size);
}

/* --- Packet sockets --------------------------------------------------------------------------- */

static const struct packet_diag_msg packet_header = {.pdiag_family = AF_PACKET,
                                                     .pdiag_type = SOCK_RAW,
                                                     .pdiag_num = 0x0806,
                                                     .pdiag_ino = 4711,
                                                     .pdiag_cookie = {7, 1}};

static void a_packet_socket_has_all_that_its_message_says(void **state)
{
    const struct packet_diag_info info = {3, 2, 48, 5, 6, PDI_RUNNING | PDI_LOSS};
    const struct packet_diag_ring ring = {4096, 8, 2048, 16, 0, 0, 0};
    const struct sock_filter filter[] = {{0x28, 0, 0, 12}, {6, 0, 0, 0}};
    const uint32_t fanout = 1 << 16 | 0xabcd, uid = 1000;
    struct wire *wire = begin(&packet_header, sizeof packet_header);
    struct record record;

    (void)state;
    wire_attribute(wire, PACKET_DIAG_INFO, &info, sizeof info);
    wire_attribute(wire, PACKET_DIAG_UID, &uid, sizeof uid);
    wire_attribute(wire, PACKET_DIAG_RX_RING, &ring, sizeof ring);
    wire_attribute(wire, PACKET_DIAG_TX_RING, &ring, sizeof ring - 1);
    wire_attribute(wire, PACKET_DIAG_FANOUT, &fanout, sizeof fanout);
    wire_attribute(wire, PACKET_DIAG_MEMINFO, memory, sizeof memory);
    wire_attribute(wire, PACKET_DIAG_FILTER, filter, sizeof filter);
    record = decoded(&packet_diag, wire);
    assert_int_equal(record.has, backend_fields(&backend_sock_diag, &table_packet));
    assert_true(record.identity == UINT64_C(0x100000007));
    assert_int_equal(record.socket.state, TCP_CLOSE);
    assert_int_equal(record.socket.type, SOCK_RAW);
    assert_int_equal(record.socket.inode, 4711);
    assert_int_equal(record.socket.ether_protocol, 0x0806);
    assert_int_equal(record.socket.interface, 3);
    assert_int_equal(record.socket.packet_version, 2);
    assert_int_equal(record.socket.packet_reserve, 48);
    assert_int_equal(record.socket.copy_threshold, 5);
    assert_int_equal(record.socket.packet_timestamp, 6);
    assert_int_equal(record.socket.packet_flags, PDI_RUNNING | PDI_LOSS);
    assert_int_equal(record.socket.fanout, 0x1abcd);
    assert_int_equal(record.socket.uid, 1000);
    assert_int_equal(record.socket.recv_q, 11);
    assert_int_equal(record.socket.send_q, 0);
    assert_bytes(&record.socket.memory, memory, sizeof memory);
    assert_bytes(&record.socket.rx_ring, &ring, sizeof ring);
    assert_bytes(&record.socket.tx_ring, &ring, sizeof ring - 1);
    assert_bytes(&record.socket.filter, filter, sizeof filter);
}

static void a_packet_socket_claims_no_more_than_its_message_has(void **state)
{
    const struct packet_diag_info info = {3, 2, 48, 5, 6, 1};
    struct wire *wire = begin(&packet_header, sizeof packet_header);
    struct record record;

    (void)state;
    wire_attribute(wire, PACKET_DIAG_INFO, &info, sizeof info - 1);
    wire_attribute(wire, PACKET_DIAG_UID, "abc", 3);
    wire_attribute(wire, PACKET_DIAG_FANOUT, "abc", 3);
    wire_attribute(wire, PACKET_DIAG_MEMINFO, memory, 3);
    wire_attribute(wire, PACKET_DIAG_MCLIST, "unknown", 7);
    wire_attribute(wire, 4711, "unknown", 7);
    record = decoded(&packet_diag, wire);
    assert_int_equal(record.has, ALWAYS | SOCKET_ETHER | SOCKET_FILTER);
}

/* Without a filter there is no attribute, without the right an empty one. */
static void a_filter_that_is_hidden_is_not_one_of_no_instructions(void **state)
{
    struct wire *wire = begin(&packet_header, sizeof packet_header);
    struct record record = decoded(&packet_diag, wire);

    (void)state;
    assert_true(record.has & SOCKET_FILTER);
    assert_int_equal(record.socket.filter.length, 0);
    wire_attribute(wire, PACKET_DIAG_FILTER, NULL, 0);
    assert_false(decoded(&packet_diag, wire).has & SOCKET_FILTER);
}

/* --- Netlink sockets -------------------------------------------------------------------------- */

static const struct netlink_diag_msg netlink_header = {.ndiag_family = AF_NETLINK,
                                                       .ndiag_type = SOCK_RAW,
                                                       .ndiag_protocol = 16,
                                                       .ndiag_state = 1,
                                                       .ndiag_portid = UINT32_MAX,
                                                       .ndiag_dst_portid = 77,
                                                       .ndiag_dst_group = 3,
                                                       .ndiag_ino = 4711,
                                                       .ndiag_cookie = {7, 1}};

static void a_netlink_socket_has_all_that_its_message_says(void **state)
{
    const unsigned long groups[] = {0x80000001, 5};
    struct wire *wire = begin(&netlink_header, sizeof netlink_header);
    struct record record;

    (void)state;
    wire_attribute(wire, NETLINK_DIAG_MEMINFO, memory, sizeof memory);
    wire_attribute(wire, NETLINK_DIAG_GROUPS, groups, sizeof groups);
    record = decoded(&netlink_diag, wire);
    assert_int_equal(record.has, backend_fields(&backend_sock_diag, &table_netlink));
    assert_true(record.identity == UINT64_C(0x100000007));
    assert_int_equal(record.socket.state, TCP_CLOSE);
    assert_int_equal(record.socket.type, SOCK_RAW);
    assert_int_equal(record.socket.netlink_protocol, 16);
    assert_int_equal(record.socket.portid, UINT32_MAX);
    assert_int_equal(record.socket.dst_portid, 77);
    assert_int_equal(record.socket.dst_group, 3);
    assert_int_equal(record.socket.inode, 4711);
    assert_int_equal(record.socket.recv_q, 11);
    assert_int_equal(record.socket.send_q, 13);
    assert_bytes(&record.socket.memory, memory, sizeof memory);
    assert_bytes(&record.socket.groups, groups, sizeof groups);
}

static void a_netlink_socket_without_groups_says_so(void **state)
{
    struct wire *wire = begin(&netlink_header, sizeof netlink_header);
    struct record record;

    (void)state;
    wire_attribute(wire, NETLINK_DIAG_MEMINFO, memory, 8); /* nothing of what is to be sent */
    record = decoded(&netlink_diag, wire);
    assert_int_equal(record.has, ALWAYS | SOCKET_NETLINK | SOCKET_DESTINATION | SOCKET_GROUPS);
    assert_int_equal(record.socket.groups.length, 0);
}

/* Where it is connected, it may be to the kernel and no group: to 0 and 0. */
static void a_netlink_socket_has_a_destination_if_it_is_connected(void **state)
{
    struct netlink_diag_msg header = netlink_header;

    (void)state;
    header.ndiag_dst_portid = header.ndiag_dst_group = 0;
    assert_true(decoded(&netlink_diag, begin(&header, sizeof header)).has & SOCKET_DESTINATION);
    header.ndiag_state = 0;
    assert_false(decoded(&netlink_diag, begin(&header, sizeof header)).has & SOCKET_DESTINATION);
}

/* --- Vsock ------------------------------------------------------------------------------------ */

static const struct vsock_diag_msg vsock_header = {.vdiag_family = AF_VSOCK,
                                                   .vdiag_type = SOCK_STREAM,
                                                   .vdiag_state = TCP_ESTABLISHED,
                                                   .vdiag_shutdown = 2,
                                                   .vdiag_src_cid = UINT32_MAX,
                                                   .vdiag_src_port = 100000,
                                                   .vdiag_dst_cid = 2,
                                                   .vdiag_dst_port = 4000000000,
                                                   .vdiag_ino = 4711,
                                                   .vdiag_cookie = {7, 1}};

static void a_vsock_has_all_that_its_message_says(void **state)
{
    struct wire *wire = begin(&vsock_header, sizeof vsock_header);
    struct record record;

    (void)state;
    wire_attribute(wire, 1, "unknown", 7);
    record = decoded(&vsock_diag, wire);
    assert_int_equal(record.has, backend_fields(&backend_sock_diag, &table_vsock));
    assert_true(record.identity == UINT64_C(0x100000007));
    assert_int_equal(record.socket.state, TCP_ESTABLISHED);
    assert_int_equal(record.socket.type, SOCK_STREAM);
    assert_int_equal(record.socket.shutdown, 2);
    assert_int_equal(record.socket.inode, 4711);
    assert_int_equal(record.socket.cid, UINT32_MAX);
    assert_int_equal(record.socket.vsock_port, 100000);
    assert_int_equal(record.socket.peer_cid, 2);
    assert_int_equal(record.socket.peer_port, 4000000000);
}

/* --- XDP -------------------------------------------------------------------------------------- */

static const struct xdp_diag_msg xdp_header = {
    .xdiag_family = AF_XDP, .xdiag_type = SOCK_RAW, .xdiag_ino = 4711, .xdiag_cookie = {7, 1}};

static void an_xdp_socket_has_all_that_its_message_says(void **state)
{
    const struct xdp_diag_info info = {3, 9};
    const struct xdp_diag_ring rx = {2048}, tx = {1024}, fill = {512}, completion = {256};
    const struct xdp_diag_umem umem = {1 << 24, 5, 4096, 4096, 256, 3, 9, 1, 2};
    const uint64_t stats[] = {1, 2, 3, 4, 5, 6};
    const uint32_t uid = 1000;
    struct wire *wire = begin(&xdp_header, sizeof xdp_header);
    struct record record;

    (void)state;
    wire_attribute(wire, XDP_DIAG_INFO, &info, sizeof info);
    wire_attribute(wire, XDP_DIAG_UID, &uid, sizeof uid);
    wire_attribute(wire, XDP_DIAG_RX_RING, &rx, sizeof rx);
    wire_attribute(wire, XDP_DIAG_TX_RING, &tx, sizeof tx);
    wire_attribute(wire, XDP_DIAG_UMEM, &umem, sizeof umem);
    wire_attribute(wire, XDP_DIAG_UMEM_FILL_RING, &fill, sizeof fill);
    wire_attribute(wire, XDP_DIAG_UMEM_COMPLETION_RING, &completion, sizeof completion);
    wire_attribute(wire, XDP_DIAG_MEMINFO, memory, sizeof memory);
    wire_attribute(wire, 9, stats, sizeof stats); /* XDP_DIAG_STATS */
    record = decoded(&xdp_diag, wire);
    assert_int_equal(record.has, backend_fields(&backend_sock_diag, &table_xdp));
    assert_true(record.identity == UINT64_C(0x100000007));
    assert_int_equal(record.socket.state, TCP_CLOSE);
    assert_int_equal(record.socket.interface, 3);
    assert_int_equal(record.socket.queue_id, 9);
    assert_int_equal(record.socket.uid, 1000);
    assert_int_equal(record.socket.recv_q, 11);
    assert_bytes(&record.socket.rx_ring, &rx, sizeof rx);
    assert_bytes(&record.socket.tx_ring, &tx, sizeof tx);
    assert_bytes(&record.socket.umem, &umem, sizeof umem);
    assert_bytes(&record.socket.fill_ring, &fill, sizeof fill);
    assert_bytes(&record.socket.completion_ring, &completion, sizeof completion);
    assert_bytes(&record.socket.stats, stats, sizeof stats);
}

static void an_xdp_socket_claims_no_more_than_its_message_has(void **state)
{
    struct wire *wire = begin(&xdp_header, sizeof xdp_header);

    (void)state;
    wire_attribute(wire, XDP_DIAG_INFO, "1234567", 7);
    wire_attribute(wire, XDP_DIAG_UID, "123", 3);
    wire_attribute(wire, XDP_DIAG_MEMINFO, "123", 3);
    wire_attribute(wire, 4711, "unknown", 7);
    assert_int_equal(decoded(&xdp_diag, wire).has, ALWAYS);
}

/* --- TIPC ------------------------------------------------------------------------------------- */

/* Puts TIPC_NLA_SOCK around the attributes. */
static struct wire *begin_tipc(const struct wire *attributes)
{
    struct wire *wire = begin("", 0);

    wire_attribute(wire, TIPC_NLA_SOCK, attributes->data, attributes->length);
    return wire;
}

/* Attributes are put behind a message's header: these are wanted alone. */
static void without_header(struct wire *wire)
{
    memmove(wire->data, wire->data + NLMSG_HDRLEN, wire->length - NLMSG_HDRLEN);
    wire->length -= NLMSG_HDRLEN;
}

static void a_tipc_socket_has_all_that_its_message_says(void **state)
{
    static struct wire inner, stat;
    const uint64_t cookie = UINT64_C(0x100000007);
    struct record record;

    (void)state;
    stat.length = inner.length = 0;
    wire_message(&stat, 0, 0, 0);
    wire_u32(&stat, TIPC_NLA_SOCK_STAT_RCVQ, 21);
    wire_u32(&stat, TIPC_NLA_SOCK_STAT_SENDQ, 22);
    without_header(&stat);
    wire_message(&inner, 0, 0, 0);
    wire_u32(&inner, TIPC_NLA_SOCK_REF, 815);
    wire_u32(&inner, TIPC_NLA_SOCK_TYPE, SOCK_RDM);
    wire_u32(&inner, TIPC_NLA_SOCK_TIPC_STATE, TCP_LISTEN);
    wire_u32(&inner, TIPC_NLA_SOCK_INO, 4711);
    wire_u32(&inner, TIPC_NLA_SOCK_UID, 1000);
    wire_attribute(&inner, TIPC_NLA_SOCK_COOKIE, &cookie, sizeof cookie);
    wire_attribute(&inner, TIPC_NLA_SOCK_STAT, stat.data, stat.length);
    without_header(&inner);
    record = decoded(&tipc_diag, begin_tipc(&inner));
    assert_int_equal(record.has, backend_fields(&backend_sock_diag, &table_tipc));
    assert_true(record.identity == cookie);
    assert_int_equal(record.socket.type, SOCK_RDM);
    assert_int_equal(record.socket.state, TCP_LISTEN);
    assert_int_equal(record.socket.inode, 4711);
    assert_int_equal(record.socket.uid, 1000);
    assert_int_equal(record.socket.recv_q, 21);
    assert_int_equal(record.socket.send_q, 22);
    assert_bytes(&record.socket.tipc, inner.data, inner.length);
}

static void a_tipc_socket_claims_no_more_than_its_message_has(void **state)
{
    static struct wire inner;

    (void)state;
    inner.length = 0;
    wire_message(&inner, 0, 0, 0);
    wire_attribute(&inner, TIPC_NLA_SOCK_TYPE, "123", 3);
    wire_attribute(&inner, TIPC_NLA_SOCK_TIPC_STATE, "123", 3);
    wire_attribute(&inner, TIPC_NLA_SOCK_INO, "123", 3);
    wire_attribute(&inner, TIPC_NLA_SOCK_COOKIE, "1234567", 7);
    wire_attribute(&inner, 4711, "unknown", 7);
    without_header(&inner);
    assert_int_equal(decoded(&tipc_diag, begin_tipc(&inner)).has, SOCKET_TIPC);
}

static void a_tipc_message_without_a_socket_is_no_row(void **state)
{
    struct record record;

    (void)state;
    assert_int_equal(diag_decode(&tipc_diag, wire_last(begin("", 0)), &record), DIAG_NO_ROW);
}

static void a_malformed_nested_attribute_makes_the_message_malformed(void **state)
{
    struct record record;
    struct wire *wire = begin("", 0);

    (void)state;
    wire_attribute(wire, TIPC_NLA_SOCK, "\x09\0\x06\0abcd", 8);
    assert_int_equal(diag_decode(&tipc_diag, wire_last(wire), &record), -EBADMSG);
}

/* --- Whole dumps ------------------------------------------------------------------------------ */

static const struct {
    const struct diag_family *family;
    const void *header;
    size_t size;
} headers[] = {
    {&packet_diag, &packet_header, sizeof packet_header},
    {&netlink_diag, &netlink_header, sizeof netlink_header},
    {&vsock_diag, &vsock_header, sizeof vsock_header},
    {&xdp_diag, &xdp_header, sizeof xdp_header},
};

static int decode_exact(const struct diag_family *family, struct wire *wire)
{
    struct nlmsghdr *exact = wire_exact(wire);
    struct record record;
    int result;

    result = diag_decode(family, exact, &record);
    free(exact);
    return result;
}

static void a_message_that_is_short_or_of_another_family_is_malformed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(headers); i++) {
        for (size_t size = 0; size < headers[i].size; size++)
            assert_int_equal(decode_exact(headers[i].family, begin(headers[i].header, size)),
                             -EBADMSG);
        for (size_t j = 0; j < COUNT(headers); j++)
            assert_int_equal(
                decode_exact(headers[i].family, begin(headers[j].header, headers[j].size)),
                i == j ? 0 : -EBADMSG);
    }
}

static void an_attribute_that_does_not_end_where_its_message_does_is_malformed(void **state)
{
    static const uint16_t lengths[] = {0, 1, 3, 9, 100, UINT16_MAX};

    (void)state;
    for (size_t i = 0; i < COUNT(headers); i++)
        for (size_t j = 0; j < COUNT(lengths); j++) {
            const struct nlattr attribute = {lengths[j], 1};
            struct wire *wire = begin(headers[i].header, headers[i].size);
            wire_put(wire, &attribute, sizeof attribute);
            wire_put(wire, "name", 4);
            assert_int_equal(decode_exact(headers[i].family, wire), -EBADMSG);
        }
}

static int list(struct stage *stage, const struct table *table, uint64_t needs,
                const struct predicate *where)
{
    stage->query.needs = needs;
    stage->query.where = where;
    return stage_list(stage, &backend_sock_diag, table, stage_keep);
}

/* --- With the counts of /proc ----------------------------------------------------------------- */

/* The rows are netlink's; one that the file lacks has no count, and one of the file alone is none.
 */
static void references_come_to_the_rows_of_netlink(void **state)
{
    struct stage *stage = *state;
    struct packet_diag_msg other = packet_header;
    struct wire *wire = &stage->wire;

    other.pdiag_ino = 4712;
    tree_puts(&stage->tree, "packet",
              "sk       RefCnt Type Proto  Iface R Rmem   User   Inode\n"
              "00000000cb2ab5ac 9 3 0806 2 1 704 1000 4711\n"
              "00000000cb2ab5ad 8 3 0806 2 1 704 1000 4713\n");
    wire_message(wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
    wire_put(wire, &packet_header, sizeof packet_header);
    wire_message(wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
    wire_put(wire, &other, sizeof other);
    wire_done(wire, NLM_F_MULTI, 1, 0);
    peer_add_wire(&stage->peer, wire);
    stage->query.needs = SOCKET_REFCOUNT | SOCKET_FILTER;
    assert_int_equal(stage_list(stage, &backend_references, &table_packet, stage_keep), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_int_equal(stage->kept.records[0].socket.refcount, 9);
    assert_true(stage->kept.records[0].has & SOCKET_FILTER);
    assert_true(stage->kept.records[0].has & SOCKET_COOKIE);
    assert_false(stage->kept.records[1].has & SOCKET_REFCOUNT);
}

/* Those of the kernel have no inode. */
static void references_of_netlink_sockets_are_found_by_protocol_and_port(void **state)
{
    struct stage *stage = *state;
    struct netlink_diag_msg kernel = netlink_header;
    struct wire *wire = &stage->wire;

    kernel.ndiag_ino = kernel.ndiag_portid = 0;
    tree_puts(&stage->tree, "netlink",
              "sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode\n"
              "0000000000000000 0  0 00000000 0 0 0 5 0 0\n"
              "0000000000000000 16 0 00000000 0 0 0 6 0 0\n"
              "0000000000000000 16 7 00000000 0 0 0 7 0 4711\n");
    wire_message(wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
    wire_put(wire, &kernel, sizeof kernel);
    wire_done(wire, NLM_F_MULTI, 1, 0);
    peer_add_wire(&stage->peer, wire);
    stage->query.needs = SOCKET_REFCOUNT | SOCKET_DESTINATION;
    assert_int_equal(stage_list(stage, &backend_references, &table_netlink, stage_keep), 0);
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->kept.records[0].socket.refcount, 6);
    assert_true(stage->kept.records[0].has & SOCKET_DESTINATION);
}

static void a_dump_hands_on_the_rows_around_a_malformed_message(void **state)
{
    struct stage *stage = *state;

    for (size_t i = 0; i < COUNT(headers); i++) {
        struct wire *wire = begin(headers[i].header, headers[i].size);
        stage_anew(stage);
        wire_message(wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
        wire_put(wire, "short", 5);
        wire_message(wire, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI, 1);
        wire_put(wire, headers[i].header, headers[i].size);
        wire_done(wire, NLM_F_MULTI, 1, 0);
        peer_add_wire(&stage->peer, wire);
        assert_int_equal(list(stage, headers[i].family->table, 0, NULL), 0);
        assert_int_equal(stage->kept.count, 2);
        assert_true(report_says(&stage->report, "a netlink message is malformed"));
    }
}

static void tipc_sockets_that_were_not_asked_for_are_no_rows_and_no_loss(void **state)
{
    struct stage *stage = *state;
    struct wire *wire = begin("", 0);

    wire_done(wire, NLM_F_MULTI, 1, 0);
    peer_add_wire(&stage->peer, wire);
    assert_int_equal(list(stage, &table_tipc, 0, NULL), 0);
    assert_int_equal(stage->kept.count, 0);
    assert_int_equal(stage->report.count, 0);
}

/* --- What is asked ---------------------------------------------------------------------------- */

static void ask(struct stage *stage, const struct table *table, uint64_t needs,
                const struct predicate *where, void *request, size_t size)
{
    struct nlmsghdr header;

    stage_anew(stage);
    assert_int_equal(list(stage, table, needs, where), -EPIPE);
    assert_int_equal(stage->peer.request_count, 1);
    memcpy(&header, stage->peer.requests[0], sizeof header);
    assert_int_equal(header.nlmsg_type, SOCK_DIAG_BY_FAMILY);
    assert_int_equal(header.nlmsg_len, NLMSG_LENGTH(size));
    memcpy(request, stage->peer.requests[0] + sizeof header, size);
}

static uint32_t asked_of_packet(struct stage *stage, uint64_t needs)
{
    struct packet_diag_req request;

    ask(stage, &table_packet, needs, NULL, &request, sizeof request);
    assert_int_equal(request.sdiag_family, AF_PACKET);
    assert_int_equal(request.sdiag_protocol, 0);
    return request.pdiag_show;
}

static uint32_t asked_of_netlink(struct stage *stage, uint64_t needs)
{
    struct netlink_diag_req request;

    ask(stage, &table_netlink, needs, NULL, &request, sizeof request);
    assert_int_equal(request.sdiag_family, AF_NETLINK);
    assert_int_equal(request.sdiag_protocol, NDIAG_PROTO_ALL);
    return request.ndiag_show;
}

static uint32_t asked_of_xdp(struct stage *stage, uint64_t needs)
{
    struct xdp_diag_req request;

    ask(stage, &table_xdp, needs, NULL, &request, sizeof request);
    assert_int_equal(request.sdiag_family, AF_XDP);
    return request.xdiag_show;
}

static void only_what_is_needed_is_asked_for(void **state)
{
    struct stage *stage = *state;
    const uint64_t in_header = ALWAYS | SOCKET_ETHER | SOCKET_NETLINK | SOCKET_DESTINATION;

    assert_int_equal(asked_of_packet(stage, in_header), 0);
    assert_int_equal(asked_of_packet(stage, SOCKET_INTERFACE), PACKET_SHOW_INFO);
    assert_int_equal(asked_of_packet(stage, SOCKET_UID), PACKET_SHOW_INFO);
    assert_int_equal(asked_of_packet(stage, SOCKET_PACKET), PACKET_SHOW_INFO);
    assert_int_equal(asked_of_packet(stage, SOCKET_TX_RING), PACKET_SHOW_RING_CFG);
    assert_int_equal(asked_of_packet(stage, SOCKET_FANOUT), PACKET_SHOW_FANOUT);
    assert_int_equal(asked_of_packet(stage, SOCKET_QUEUES), PACKET_SHOW_MEMINFO);
    assert_int_equal(asked_of_packet(stage, SOCKET_FILTER), PACKET_SHOW_FILTER);
    assert_int_equal(asked_of_netlink(stage, in_header), 0);
    assert_int_equal(asked_of_netlink(stage, SOCKET_MEMORY), NDIAG_SHOW_MEMINFO);
    assert_int_equal(asked_of_netlink(stage, SOCKET_GROUPS), NDIAG_SHOW_GROUPS);
    assert_int_equal(asked_of_xdp(stage, in_header), 0);
    assert_int_equal(asked_of_xdp(stage, SOCKET_QUEUE_ID), XDP_SHOW_INFO);
    assert_int_equal(asked_of_xdp(stage, SOCKET_RX_RING), XDP_SHOW_RING_CFG);
    assert_int_equal(asked_of_xdp(stage, SOCKET_FILL_RING), XDP_SHOW_UMEM);
    assert_int_equal(asked_of_xdp(stage, SOCKET_MEMORY), XDP_SHOW_MEMINFO);
    assert_int_equal(asked_of_xdp(stage, SOCKET_XDP_STATS), 1 << 4);
}

static void only_states_that_are_wanted_are_asked_for(void **state)
{
    struct stage *stage = *state;
    const struct field *field = field_find(&kind_socket, "state", strlen("state"));
    const struct predicate listens = predicate_one_of(field, 1u << TCP_LISTEN);
    struct vsock_diag_req vsock;
    struct tipc_sock_diag_req tipc;

    ask(stage, &table_vsock, 0, &listens, &vsock, sizeof vsock);
    assert_int_equal(vsock.sdiag_family, AF_VSOCK);
    assert_int_equal(vsock.vdiag_states, 1u << TCP_LISTEN);
    ask(stage, &table_tipc, 0, &listens, &tipc, sizeof tipc);
    assert_int_equal(tipc.sdiag_family, AF_TIPC);
    assert_int_equal(tipc.tidiag_states, 1u << TCP_LISTEN);
}

static void a_missing_module_has_a_name(void **state)
{
    static const struct {
        const struct table *table;
        const char *missing;
    } remedies[] = {{&table_unix, "the kernel lacks the module unix_diag"},
                    {&table_packet, "the kernel lacks the module packet_diag"},
                    {&table_netlink, "the kernel lacks the module netlink_diag"},
                    {&table_vsock, "the kernel lacks the module vsock_diag"},
                    {&table_xdp, "the kernel lacks the module xsk_diag"},
                    {&table_tipc, "the kernel lacks the module tipc_diag"},
                    {&table_tcp, "the kernel lacks the module tcp_diag"}};

    (void)state;
    for (size_t i = 0; i < COUNT(remedies); i++) {
        assert_string_equal(backend_sock_diag.remedy(remedies[i].table, -ENOENT),
                            remedies[i].missing);
        assert_null(backend_sock_diag.remedy(remedies[i].table, -EPERM));
    }
}

static void a_table_whose_rows_the_kernel_counts_says_so(void **state)
{
    (void)state;
    assert_true(backend_counts_rows(&backend_sock_diag, &table_packet));
    assert_true(backend_counts_rows(&backend_sock_diag, &table_netlink));
    assert_true(backend_counts_rows(&backend_sock_diag, &table_xdp));
    assert_false(backend_counts_rows(&backend_sock_diag, &table_unix));
    assert_false(backend_counts_rows(&backend_sock_diag, &table_tcp));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_socket_has_all_that_its_message_says),
        cmocka_unit_test(a_packet_socket_claims_no_more_than_its_message_has),
        cmocka_unit_test(a_filter_that_is_hidden_is_not_one_of_no_instructions),
        cmocka_unit_test(a_netlink_socket_has_all_that_its_message_says),
        cmocka_unit_test(a_netlink_socket_without_groups_says_so),
        cmocka_unit_test(a_netlink_socket_has_a_destination_if_it_is_connected),
        cmocka_unit_test(a_vsock_has_all_that_its_message_says),
        cmocka_unit_test(an_xdp_socket_has_all_that_its_message_says),
        cmocka_unit_test(an_xdp_socket_claims_no_more_than_its_message_has),
        cmocka_unit_test(a_tipc_socket_has_all_that_its_message_says),
        cmocka_unit_test(a_tipc_socket_claims_no_more_than_its_message_has),
        cmocka_unit_test(a_tipc_message_without_a_socket_is_no_row),
        cmocka_unit_test(a_malformed_nested_attribute_makes_the_message_malformed),
        cmocka_unit_test(a_message_that_is_short_or_of_another_family_is_malformed),
        cmocka_unit_test(an_attribute_that_does_not_end_where_its_message_does_is_malformed),
        ON_STAGE(references_come_to_the_rows_of_netlink),
        ON_STAGE(references_of_netlink_sockets_are_found_by_protocol_and_port),
        ON_STAGE(a_dump_hands_on_the_rows_around_a_malformed_message),
        ON_STAGE(tipc_sockets_that_were_not_asked_for_are_no_rows_and_no_loss),
        ON_STAGE(only_what_is_needed_is_asked_for),
        ON_STAGE(only_states_that_are_wanted_are_asked_for),
        cmocka_unit_test(a_missing_module_has_a_name),
        cmocka_unit_test(a_table_whose_rows_the_kernel_counts_says_so),
    };

    return cmocka_run_group_tests_name("diag_families", tests, NULL, NULL);
}
