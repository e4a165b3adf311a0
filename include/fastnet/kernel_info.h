/* SPDX-License-Identifier: MIT */
/* The structs that inet_diag sends whole, as of Linux 7.1: the headers to build with may be older.
 * Members have the kernel's names without the prefix. The kernel adds members only at the end, so a
 * message may be shorter or longer than these structs: check its length first. Sources:
 * linux/tcp.h, linux/inet_diag.h, linux/mptcp.h, linux/sctp.h. */
#ifndef FASTNET_KERNEL_INFO_H
#define FASTNET_KERNEL_INFO_H

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/address.h"
#include "fastnet/record.h"

/* --- TCP -------------------------------------------------------------------------------------- */

/* struct tcp_info of linux/tcp.h */
struct kernel_tcp_info {
    uint8_t state;       /* TCP_ESTABLISHED ... */
    uint8_t ca_state;    /* TCP_CA_Open ... */
    uint8_t retransmits; /* timeouts in a row without an answer */
    uint8_t probes;      /* probes in a row without an answer */
    uint8_t backoff;
    uint8_t options; /* TCP_OPTION_* */
    uint8_t snd_wscale : 4, rcv_wscale : 4;
    uint8_t delivery_rate_app_limited : 1, fastopen_client_fail : 2;
    uint32_t rto, ato; /* microseconds */
    uint32_t snd_mss, rcv_mss;
    uint32_t unacked; /* packets; listener: connections that wait for accept(2) */
    uint32_t sacked;  /* packets; listener: limit of waiting connections */
    uint32_t lost, retrans, fackets;
    uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv; /* milliseconds ago */
    uint32_t pmtu;
    uint32_t rcv_ssthresh;
    uint32_t rtt, rttvar;  /* microseconds */
    uint32_t snd_ssthresh; /* packets; TCP_SSTHRESH_NONE or above: not set yet */
    uint32_t snd_cwnd;     /* packets */
    uint32_t advmss;
    uint32_t reordering;
    uint32_t rcv_rtt; /* microseconds */
    uint32_t rcv_space;
    uint32_t total_retrans;
    uint64_t pacing_rate, max_pacing_rate; /* bytes per second; UINT64_MAX: no limit */
    uint64_t bytes_acked, bytes_received;
    uint32_t segs_out, segs_in;
    uint32_t notsent_bytes;
    uint32_t min_rtt; /* microseconds; UINT32_MAX: not measured yet */
    uint32_t data_segs_in, data_segs_out;
    uint64_t delivery_rate;                           /* bytes per second */
    uint64_t busy_time, rwnd_limited, sndbuf_limited; /* microseconds */
    uint32_t delivered, delivered_ce;
    uint64_t bytes_sent, bytes_retrans;
    uint32_t dsack_dups;
    uint32_t reord_seen;
    uint32_t rcv_ooopack;
    uint32_t snd_wnd, rcv_wnd;
    uint32_t rehash;
    uint16_t total_rto, total_rto_recoveries;
    uint32_t total_rto_time; /* milliseconds */
    uint32_t received_ce;
    uint32_t delivered_e1_bytes, delivered_e0_bytes, delivered_ce_bytes;
    uint32_t received_e1_bytes, received_e0_bytes, received_ce_bytes;
    uint32_t ecn_mode : 2, accecn_opt_seen : 2, accecn_fail_mode : 4, options2 : 24;
};

_Static_assert(offsetof(struct kernel_tcp_info, rto) == 8, "linux/tcp.h");
_Static_assert(offsetof(struct kernel_tcp_info, pacing_rate) == 104, "linux/tcp.h");
_Static_assert(offsetof(struct kernel_tcp_info, delivery_rate) == 160, "linux/tcp.h");
_Static_assert(offsetof(struct kernel_tcp_info, rehash) == 236, "linux/tcp.h");
_Static_assert(sizeof(struct kernel_tcp_info) == 280, "linux/tcp.h");

/* The numbers that follow the pointer in a line of /proc/net/tcp. The backend fills rto and ato (in
 * steps of 10 ms), snd_cwnd and snd_ssthresh; the rest of `tcp` is 0. */
struct file_tcp_info {
    struct kernel_tcp_info tcp;
    uint32_t quick; /* ACKs to send at once, times 2, plus 1 if data goes in both directions */
};

/* Returns the kernel's data about a TCP socket. Members that the kernel did not send are 0. */
static inline struct kernel_tcp_info tcp_info_of(const struct record *record)
{
    const struct text *sent = &record->socket.info;
    struct kernel_tcp_info known = {.state = 0};

    if (record->has & SOCKET_TCP_INFO && sent->length)
        memcpy(&known, sent->data, sent->length < sizeof known ? sent->length : sizeof known);
    return known;
}

/* Returns number `which` (SK_MEMINFO_* of linux/sock_diag.h) of a socket's memory; 0 if it is
 * unknown. */
static inline uint32_t socket_memory(const struct record *record, size_t which)
{
    const size_t size = sizeof(uint32_t);

    return (record->has & SOCKET_MEMORY)
               ? (uint32_t)text_number(record->socket.memory, which * size, size)
               : 0;
}

/* Returns the number of packets that a socket dropped; 0 if it is unknown. */
static inline uint32_t socket_drops(const struct record *record)
{
    const size_t size = sizeof(uint32_t);

    return (record->has & SOCKET_DROPS)
               ? (uint32_t)text_number(record->socket.memory, SK_MEMINFO_DROPS * size, size)
               : 0;
}

/* Bits of tcp_info.options: TCPI_OPT_* of linux/tcp.h. */
enum {
    TCP_OPTION_TIMESTAMPS = 1,
    TCP_OPTION_SACK = 2,
    TCP_OPTION_WSCALE = 4,
    TCP_OPTION_ECN = 8,
    TCP_OPTION_ECN_SEEN = 16,
    TCP_OPTION_SYN_DATA = 32,
    TCP_OPTION_USEC_TS = 64,
    TCP_OPTION_TFO_CHILD = 128,
};

/* TCP_INFINITE_SSTHRESH of include/net/tcp.h: not set. */
enum { TCP_SSTHRESH_NONE = 0x7fffffff };

/* Three structs of congestion controls. INET_DIAG_VEGASINFO asks for the data; the type of the
 * attribute in the answer says which struct it is. */
struct kernel_vegas_info {
    uint32_t enabled, rttcnt;
    uint32_t rtt, minrtt; /* microseconds; 0x7fffffff: not measured yet */
};

struct kernel_dctcp_info {
    uint16_t enabled, ce_state;
    uint32_t alpha; /* in 1/1024 (DCTCP_MAX_ALPHA of net/ipv4/tcp_dctcp.c) */
    uint32_t ab_ecn, ab_tot;
};

struct kernel_bbr_info {
    uint32_t bw_lo, bw_hi;           /* lower and upper half of a number, bytes per second */
    uint32_t min_rtt;                /* microseconds; UINT32_MAX: not measured yet */
    uint32_t pacing_gain, cwnd_gain; /* in 1/256 */
};

/* struct tcp_diag_md5sig of linux/tcp.h */
struct kernel_md5_key {
    uint8_t family, prefix;
    uint16_t key_length;
    uint8_t address[16];
    uint8_t key[80];
};

_Static_assert(sizeof(struct kernel_md5_key) == 100, "linux/tcp.h");

/* --- MPTCP ------------------------------------------------------------------------------------ */

/* struct mptcp_info of linux/mptcp.h */
struct kernel_mptcp_info {
    uint8_t subflows, add_addr_signal, add_addr_accepted;
    uint8_t subflows_max, add_addr_signal_max, add_addr_accepted_max;
    uint32_t flags; /* MPTCP_INFO_FLAG_* of linux/mptcp.h */
    uint32_t token;
    uint64_t write_seq, snd_una, rcv_nxt;
    uint8_t local_addr_used, local_addr_max;
    uint8_t csum_enabled;
    uint32_t retransmits;
    uint64_t bytes_retrans, bytes_sent, bytes_received, bytes_acked;
    uint8_t subflows_total, endp_laminar_max, endp_fullmesh_max, reserved;
    uint32_t last_data_sent, last_data_recv, last_ack_recv; /* milliseconds ago */
};

_Static_assert(offsetof(struct kernel_mptcp_info, write_seq) == 16, "linux/mptcp.h");
_Static_assert(offsetof(struct kernel_mptcp_info, retransmits) == 44, "linux/mptcp.h");
_Static_assert(sizeof(struct kernel_mptcp_info) == 96, "linux/mptcp.h");

/* --- TIPC: TIPC_NLA_SOCK_*, TIPC_NLA_CON_* and TIPC_NLA_SOCK_STAT_* of linux/tipc_netlink.h -----
 */

enum {
    TIPC_SOCK_ADDR = 1,
    TIPC_SOCK_REF = 2,
    TIPC_SOCK_CON = 3,
    TIPC_SOCK_HAS_PUBL = 4,
    TIPC_SOCK_STAT = 5,
    TIPC_CON_FLAG = 1,
    TIPC_CON_NODE = 2,
    TIPC_CON_SOCK = 3,
    TIPC_CON_TYPE = 4,
    TIPC_CON_INST = 5,
    TIPC_STAT_LINK_CONG = 2,
    TIPC_STAT_CONN_CONG = 3,
    TIPC_STAT_DROP = 4,
};

/* --- SCTP ------------------------------------------------------------------------------------- */

/* struct sctp_info of linux/sctp.h */
struct kernel_sctp_info {
    uint32_t tag;
    uint32_t state; /* enum sctp_state of net/sctp/constants.h: SCTP_STATE_CLOSED is 0 */
    uint32_t rwnd;
    uint16_t unackdata, penddata, instrms, outstrms;
    uint32_t fragmentation_point;
    uint32_t inqueue, outqueue;
    uint32_t overall_error;
    uint32_t max_burst, maxseg;
    uint32_t peer_rwnd, peer_tag;
    uint8_t peer_capable, peer_sack;
    uint16_t reserved1;
    uint64_t isacks, osacks, opackets, ipackets, rtxchunks, outofseqtsns, idupchunks, gapcnt;
    uint64_t ouodchunks, iuodchunks, oodchunks, iodchunks, octrlchunks, ictrlchunks;
    /* the primary transport; p_srtt and p_rto in milliseconds */
    struct sockaddr_storage p_address;
    int32_t p_state;
    uint32_t p_cwnd, p_srtt, p_rto, p_hbinterval, p_pathmaxrxt, p_sackdelay, p_sackfreq;
    uint32_t p_ssthresh, p_partial_bytes_acked, p_flight_size;
    uint16_t p_error, reserved2;
    /* options of the socket */
    uint32_t s_autoclose, s_adaptation_ind, s_pd_point;
    uint8_t s_nodelay, s_disable_fragments, s_v4mapped, s_frag_interleave;
    uint32_t s_type, reserved3;
};

_Static_assert(offsetof(struct kernel_sctp_info, isacks) == 56, "linux/sctp.h");
_Static_assert(offsetof(struct kernel_sctp_info, p_state) == 296, "linux/sctp.h");
_Static_assert(sizeof(struct kernel_sctp_info) == 368, "linux/sctp.h");

/* Returns the address in `bytes`, a struct sockaddr_storage. An IPv4-mapped address stays as it
 * is. */
static inline struct address sockaddr_address(const void *bytes)
{
    union {
        struct sockaddr_storage any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } from;

    memcpy(&from, bytes, sizeof from.any);
    if (from.any.ss_family == AF_INET)
        return address_make(AF_INET, &from.v4.sin_addr);
    return address_make(AF_INET6, &from.v6.sin6_addr);
}

/* --- Upper layers ----------------------------------------------------------------------------- */

enum { ULP_NAME = 1, ULP_TLS = 2, ULP_MPTCP = 3 }; /* INET_ULP_INFO_* of linux/inet_diag.h */

/* TLS_INFO_*, TLS_1_*_VERSION and TLS_CIPHER_* of linux/tls.h */
enum {
    TLS_VERSION = 1,
    TLS_CIPHER = 2,
    TLS_TXCONF = 3,
    TLS_RXCONF = 4,
    TLS_ZC_RO_TX = 5,
    TLS_RX_NO_PAD = 6,
    TLS_1_2 = 0x0303,
    TLS_1_3 = 0x0304,
    AES_GCM_128 = 51,
    AES_GCM_256 = 52,
};

/* MPTCP_SUBFLOW_ATTR_* of linux/mptcp.h */
enum {
    SUBFLOW_TOKEN_REM = 1,
    SUBFLOW_TOKEN_LOC = 2,
    SUBFLOW_MAP_SEQ = 4,
    SUBFLOW_MAP_SFSEQ = 5,
    SUBFLOW_SSN_OFFSET = 6,
    SUBFLOW_MAP_DATALEN = 7,
    SUBFLOW_FLAGS = 8,
    SUBFLOW_ID_REM = 9,
    SUBFLOW_ID_LOC = 10,
};

#endif
