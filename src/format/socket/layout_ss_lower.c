/* SPDX-License-Identifier: MIT */
/* The layout of ss: details of packet, XDP and TIPC sockets. */
#include <linux/filter.h>
#include <linux/packet_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/kernel_info.h"
#include "format/socket/layout_ss.h"
#include "model/socket/nested.h"

static uint32_t u32_at(struct text bytes, size_t offset)
{
    return (uint32_t)text_number(bytes, offset, sizeof(uint32_t));
}

static uint64_t u64_at(struct text bytes, size_t offset)
{
    return text_number(bytes, offset, sizeof(uint64_t));
}

/* --- Packet sockets --------------------------------------------------------------------------- */

static char *put_packet_info(char *dst, struct ss_row *row)
{
    static const struct flag_text texts[] = {
        {PDI_RUNNING, "running"},  {PDI_AUXDATA, " auxdata"}, {PDI_ORIGDEV, " origdev"},
        {PDI_VNETHDR, " vnethdr"}, {PDI_LOSS, " loss"},
    };
    const struct socket_record *sock = &row->record->socket;

    dst = put_signed(PUT(ss_break(row, dst), "ver:"), sock->packet_version);
    dst = put_signed(PUT(dst, " cpy_thresh:"), sock->copy_threshold);
    dst = PUT(dst, " flags( ");
    if (!sock->packet_flags)
        dst = PUT(dst, "0");
    return PUT(put_flags(dst, sock->packet_flags, texts, COUNT(texts)), " )");
}

#define RING(name, member) name, offsetof(struct packet_diag_ring, member)

static char *put_packet_ring(char *dst, struct ss_row *row, const char *name, struct text ring)
{
    static const struct {
        const char *name;
        size_t offset;
    } numbers[] = {
        {RING("blk_size:", pdr_block_size)},  {RING(",blk_nr:", pdr_block_nr)},
        {RING(",frm_size:", pdr_frame_size)}, {RING(",frm_nr:", pdr_frame_nr)},
        {RING(",tmo:", pdr_retire_tmo)},
    };

    dst = put_string(ss_break(row, dst), name);
    for (size_t i = 0; i < COUNT(numbers); i++)
        dst = put_signed(put_string(dst, numbers[i].name), u32_at(ring, numbers[i].offset));
    dst = put_hex(PUT(dst, ",features:0x"),
                  u32_at(ring, offsetof(struct packet_diag_ring, pdr_features)));
    return PUT(dst, ")");
}

static char *put_filter(char *dst, struct ss_row *row)
{
    const struct text *filter = &row->record->socket.filter;
    const size_t count = filter->length / sizeof(struct sock_filter);

    dst = PUT(text_u64(PUT(ss_break(row, dst), "bpf filter ("), count), "): ");
    for (size_t i = 0; i < count; i++) {
        struct sock_filter instruction;
        memcpy(&instruction, filter->data + i * sizeof instruction, sizeof instruction);
        dst = PUT(dst, " 0x");
        dst = put_hex(instruction.code < 0x10 ? PUT(dst, "0") : dst, instruction.code);
        dst = text_u64(PUT(dst, " "), instruction.jt);
        dst = text_u64(PUT(dst, " "), instruction.jf);
        dst = ss_more(row, PUT(text_u64(PUT(dst, " "), instruction.k), ","));
    }
    return dst;
}

char *ss_put_packet(char *dst, struct ss_row *row)
{
    /* PACKET_FANOUT_* of linux/if_packet.h */
    static const char *const types[] = {"hash", "lb", "cpu", "roll", "random", "qm"};
    const struct socket_record *sock = &row->record->socket;
    const char *type = POINTER_AT(types, sock->fanout >> 16);

    if (row->layout->extended) {
        dst = ss_put_extended(dst, row);
        if (ss_has(row, SOCKET_PACKET))
            dst = put_packet_info(dst, row);
        if (ss_has(row, SOCKET_RX_RING))
            dst = put_packet_ring(dst, row, "ring_rx(", sock->rx_ring);
        if (ss_has(row, SOCKET_TX_RING))
            dst = put_packet_ring(dst, row, "ring_tx(", sock->tx_ring);
        if (ss_has(row, SOCKET_FANOUT)) {
            dst = text_u64(PUT(ss_break(row, dst), "fanout(id:"), sock->fanout & UINT16_MAX);
            dst = PUT(dst, ",type:");
            dst = type ? put_string(dst, type) : put_hex(PUT(dst, "0x"), sock->fanout >> 16);
            dst = PUT(dst, ")");
        }
    }
    /* without CAP_NET_ADMIN the kernel sends an empty filter */
    if (row->layout->filters && ss_has(row, SOCKET_FILTER) && sock->filter.length)
        dst = put_filter(dst, row);
    return ss_put_memory(dst, row);
}

/* --- XDP: structs of linux/xdp_diag.h --------------------------------------------------------- */

static char *put_xdp_ring(char *dst, struct ss_row *row, const char *name, struct text ring)
{
    dst = put_string(ss_break(row, dst), name);
    return PUT(text_u64(PUT(dst, "(entries:"), u32_at(ring, 0)), ")");
}

/* Writes a struct xdp_diag_umem. */
static char *put_umem(char *dst, struct ss_row *row)
{
    const struct text umem = row->record->socket.umem;

    dst = text_u64(PUT(ss_break(row, dst), "umem(id:"), u32_at(umem, 8));
    dst = text_u64(PUT(dst, ",size:"), u64_at(umem, 0));
    dst = text_u64(PUT(dst, ",num_pages:"), u32_at(umem, 12));
    dst = text_u64(PUT(dst, ",chunk_size:"), u32_at(umem, 16));
    dst = text_u64(PUT(dst, ",headroom:"), u32_at(umem, 20));
    dst = text_u64(PUT(dst, ",ifindex:"), u32_at(umem, 24));
    dst = text_u64(PUT(dst, ",qid:"), u32_at(umem, 28));
    dst = text_u64(PUT(dst, ",zc:"), u32_at(umem, 32) & 1); /* XDP_DU_F_ZEROCOPY */
    return PUT(text_u64(PUT(dst, ",refs:"), u32_at(umem, 36)), ")");
}

char *ss_put_xdp(char *dst, struct ss_row *row)
{
    /* the numbers of struct xdp_diag_stats, 8 bytes each */
    static const char *const numbers[] = {
        "stats(rx dropped:",    ",rx invalid:", ",rx queue full:",
        ",rx fill ring empty:", ",tx invalid:", ",tx ring empty:"};
    const struct socket_record *sock = &row->record->socket;

    if (!row->layout->extended)
        return ss_put_memory(dst, row);
    dst = ss_put_extended(dst, row);
    if (ss_has(row, SOCKET_RX_RING))
        dst = put_xdp_ring(dst, row, "rx", sock->rx_ring);
    if (ss_has(row, SOCKET_TX_RING))
        dst = put_xdp_ring(dst, row, "tx", sock->tx_ring);
    if (ss_has(row, SOCKET_UMEM))
        dst = put_umem(dst, row);
    if (ss_has(row, SOCKET_UMEM | SOCKET_FILL_RING))
        dst = put_xdp_ring(dst, row, "fr", sock->fill_ring);
    if (ss_has(row, SOCKET_UMEM | SOCKET_COMPLETION_RING))
        dst = put_xdp_ring(dst, row, "cr", sock->completion_ring);
    if (ss_has(row, SOCKET_XDP_STATS)) {
        dst = ss_break(row, dst);
        for (size_t i = 0; i < COUNT(numbers); i++)
            dst = text_u64(put_string(dst, numbers[i]), u64_at(sock->stats, i * sizeof(uint64_t)));
        dst = PUT(dst, ")");
    }
    return ss_put_memory(dst, row);
}

/* --- TIPC ------------------------------------------------------------------------------------- */

static struct text tipc_attributes(const struct ss_row *row)
{
    return ss_has(row, SOCKET_TIPC) ? row->record->socket.tipc : (struct text){NULL, 0};
}

/* Writes an end: the node, or the number of the socket on that node (port). */
char *ss_put_tipc_end(char *dst, const struct ss_row *row, bool peer, bool port)
{
    const struct text all = tipc_attributes(row),
                      end = peer ? nested_find(all, TIPC_SOCK_CON) : all;

    if (peer && !end.data)
        return port ? dst : PUT(dst, "-");
    if (port)
        return text_u64(dst, u32_at(nested_find(end, peer ? TIPC_CON_SOCK : TIPC_SOCK_REF), 0));
    return PUT(text_u64(dst, u32_at(nested_find(end, peer ? TIPC_CON_NODE : TIPC_SOCK_ADDR), 0)),
               ":");
}

static char *put_tipc_info(char *dst, struct ss_row *row)
{
    static const char *const types[] = {
        [SOCK_STREAM] = "STREAM",
        [SOCK_DGRAM] = "DGRAM",
        [SOCK_RDM] = "RDM",
        [SOCK_SEQPACKET] = "SEQPACKET",
    };
    const struct text all = tipc_attributes(row);
    const struct text statistics = nested_find(all, TIPC_SOCK_STAT);
    const struct text connection = nested_find(all, TIPC_SOCK_CON);
    const char *type = POINTER_AT(types, row->record->socket.type);

    dst = row->layout->one_line ? PUT(dst, " type:") : PUT(ss_break(row, dst), "type:");
    dst = put_string(dst, type ? type : "UNKNOWN");
    dst = put_string(PUT(dst, " cong:"), nested_find(statistics, TIPC_STAT_LINK_CONG).data ? "link "
                                         : nested_find(statistics, TIPC_STAT_CONN_CONG).data
                                             ? "conn "
                                             : "none ");
    dst = put_signed(PUT(dst, " drop:"), u32_at(nested_find(statistics, TIPC_STAT_DROP), 0));
    if (nested_find(all, TIPC_SOCK_HAS_PUBL).data)
        dst = PUT(dst, " publ");
    if (!nested_find(connection, TIPC_CON_FLAG).data)
        return dst;
    dst = text_u64(PUT(dst, " via {"), u32_at(nested_find(connection, TIPC_CON_TYPE), 0));
    dst = text_u64(PUT(dst, ","), u32_at(nested_find(connection, TIPC_CON_INST), 0));
    return PUT(dst, "}");
}

char *ss_put_tipc(char *dst, struct ss_row *row)
{
    if (row->layout->extended)
        dst = ss_put_extended(dst, row);
    return row->layout->tipc ? put_tipc_info(dst, row) : dst;
}
