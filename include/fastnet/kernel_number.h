/* SPDX-License-Identifier: MIT */
/* Numbers of the kernel that are counters of protocols, or in a file: each is one row. */
#ifndef FASTNET_KERNEL_NUMBER_H
#define FASTNET_KERNEL_NUMBER_H

#include <stdint.h>

struct counter_record;

/*
 * COUNTER(member of the enum, protocol, name): a counter as the kernel names it (table_counters,
 * table_sockstat ...), or the column "sockets" of /proc/net/protocols. protocol NULL: of all
 * protocols. LIMITED: the same with its limit and unit. SYSCTL(member of the enum, name of
 * sysctl(8), limit, file below PROC_ROOT/sys, how many numbers it has, which of them).
 *
 * Files about memory are about the whole machine. TIME_WAIT_REUSE: 1 if connections in TIME_WAIT
 * leave their ports, 2 if only those of loopback do. SYNCOOKIES: 2 if each SYN is answered by one.
 */
#define EACH_KERNEL_NUMBER(COUNTER, LIMITED, SYSCTL)                                               \
    COUNTER(SOCKETS_USED, "sockets", "used")                                                       \
    COUNTER(TCP_IN_USE, "TCP", "inuse") /* from here on IPv4, and behind each the same of IPv6 */  \
    COUNTER(TCP6_IN_USE, "TCP6", "inuse")                                                          \
    COUNTER(UDP_IN_USE, "UDP", "inuse")                                                            \
    COUNTER(UDP6_IN_USE, "UDP6", "inuse")                                                          \
    COUNTER(RAW_IN_USE, "RAW", "inuse")                                                            \
    COUNTER(RAW6_IN_USE, "RAW6", "inuse")                                                          \
    COUNTER(FRAGMENTS, "FRAG", "inuse")                                                            \
    COUNTER(FRAGMENTS6, "FRAG6", "inuse")                                                          \
    COUNTER(UDPLITE_IN_USE, "UDPLITE", "inuse")                                                    \
    COUNTER(UDPLITE6_IN_USE, "UDPLITE6", "inuse")                                                  \
    COUNTER(TCP_ALLOCATED, "TCP", "alloc")                                                         \
    COUNTER(TCP_CONNECTIONS, "Tcp", "CurrEstab")                                                   \
    LIMITED(TCP_WAITING, "TCP", "tw", TIME_WAIT_MAX, IN_ROWS)                                      \
    LIMITED(TCP_ORPHANS, "TCP", "orphan", ORPHANS_MAX, IN_ROWS)                                    \
    LIMITED(TCP_PAGES, "TCP", "mem", TCP_PAGES_MAX, IN_PAGES)                                      \
    LIMITED(UDP_PAGES, "UDP", "mem", UDP_PAGES_MAX, IN_PAGES)                                      \
    LIMITED(FRAGMENTS_BYTES, "FRAG", "memory", FRAGMENTS_MAX, IN_BYTES)                            \
    LIMITED(FRAGMENTS6_BYTES, "FRAG6", "memory", FRAGMENTS6_MAX, IN_BYTES)                         \
    COUNTER(PING_SOCKETS, "PING", "sockets")                                                       \
    COUNTER(PING6_SOCKETS, "PINGv6", "sockets")                                                    \
    COUNTER(MPTCP_SOCKETS, "MPTCP", "sockets")                                                     \
    COUNTER(MPTCP6_SOCKETS, "MPTCPv6", "sockets")                                                  \
    COUNTER(SCTP_SOCKETS, "SCTP", "sockets")                                                       \
    COUNTER(SCTP6_SOCKETS, "SCTPv6", "sockets")                                                    \
    COUNTER(UNIX_SOCKETS, "UNIX", "sockets")                                                       \
    COUNTER(UNIX_STREAMS, "UNIX-STREAM", "sockets")                                                \
    COUNTER(PACKET_SOCKETS, "PACKET", "sockets")                                                   \
    COUNTER(NETLINK_SOCKETS, "NETLINK", "sockets")                                                 \
    COUNTER(VSOCK_SOCKETS, "AF_VSOCK", "sockets")                                                  \
    COUNTER(XDP_SOCKETS, "XDP", "sockets")                                                         \
    COUNTER(TIPC_SOCKETS, "TIPC", "sockets")                                                       \
    COUNTER(LISTEN_OVERFLOWS, "TcpExt", "ListenOverflows")                                         \
    COUNTER(LISTEN_DROPS, "TcpExt", "ListenDrops") /* with those */                                \
    COUNTER(SYNCOOKIES_SENT, "TcpExt", "SyncookiesSent")                                           \
    COUNTER(REQUESTS_DROPPED, "TcpExt", "TCPReqQFullDrop")                                         \
    COUNTER(TIME_WAIT_OVERFLOW, "TcpExt", "TCPTimeWaitOverflow")                                   \
    COUNTER(ABORTS_ON_MEMORY, "TcpExt", "TCPAbortOnMemory")                                        \
    COUNTER(MEMORY_PRESSURES, "TcpExt", "TCPMemoryPressures")                                      \
    COUNTER(SEGMENTS_SENT, "Tcp", "OutSegs")                                                       \
    COUNTER(SEGMENTS_RETRANSMITTED, "Tcp", "RetransSegs")                                          \
    COUNTER(SYNS_RETRANSMITTED, "TcpExt", "TCPSynRetrans")                                         \
    COUNTER(BLOCKS_IN_VAIN, "TcpExt", "TCPDSACKRecv") /* sent again, but the other end had them */ \
    COUNTER(SEGMENTS_IN_VAIN, "TcpExt", "TCPDSACKRecvSegs") /* their segments, from 5.10 on */     \
    COUNTER(UDP_BUFFER_ERRORS, "Udp", "RcvbufErrors")                                              \
    COUNTER(UDP6_BUFFER_ERRORS, "Udp6", "Udp6RcvbufErrors")                                        \
    COUNTER(UDP_MEMORY_ERRORS, "Udp", "MemErrors")                                                 \
    COUNTER(UDP6_MEMORY_ERRORS, "Udp6", "Udp6MemErrors")                                           \
    COUNTER(REASSEMBLY_FAILS, "Ip", "ReasmFails")                                                  \
    COUNTER(REASSEMBLY_REQUIRED, "Ip", "ReasmReqds")                                               \
    COUNTER(REASSEMBLY6_FAILS, "Ip6", "Ip6ReasmFails")                                             \
    COUNTER(REASSEMBLY6_REQUIRED, "Ip6", "Ip6ReasmReqds")                                          \
    COUNTER(ATTEMPTS, "Tcp", "ActiveOpens")                                                        \
    COUNTER(ATTEMPTS_FAILED, "Tcp", "AttemptFails")                                                \
    COUNTER(ATTEMPTS_OF_OTHERS, "TcpExt", "EmbryonicRsts") /* that failed; of ATTEMPTS_FAILED */   \
    COUNTER(REVERSE_PATH_FILTERED, "TcpExt", "IPReversePathFilter")                                \
    COUNTER(CHECKSUMS_IP, "IpExt", "InCsumErrors")                                                 \
    COUNTER(CHECKSUMS_TCP, "Tcp", "InCsumErrors")                                                  \
    COUNTER(CHECKSUMS_UDP, "Udp", "InCsumErrors")                                                  \
    COUNTER(CHECKSUMS_UDP6, "Udp6", "Udp6InCsumErrors")                                            \
    COUNTER(CHECKSUMS_ICMP, "Icmp", "InCsumErrors")                                                \
    COUNTER(CHECKSUMS_ICMP6, "Icmp6", "Icmp6InCsumErrors")                                         \
    COUNTER(SOFTNET_PROCESSED, NULL, "SoftnetProcessed")                                           \
    COUNTER(SOFTNET_DROPPED, NULL, "SoftnetDropped")                                               \
    COUNTER(SOFTNET_SQUEEZED, NULL, "SoftnetSqueezed")                                             \
    SYSCTL(TIME_WAIT_MAX, "net.ipv4.tcp_max_tw_buckets", NO_NUMBER, "net/ipv4/tcp_max_tw_buckets", \
           1, 0)                                                                                   \
    SYSCTL(ORPHANS_MAX, "net.ipv4.tcp_max_orphans", NO_NUMBER, "net/ipv4/tcp_max_orphans", 1, 0)   \
    SYSCTL(TCP_PAGES_PRESSURE, "net.ipv4.tcp_mem", NO_NUMBER, "net/ipv4/tcp_mem", 3, 1)            \
    SYSCTL(TCP_PAGES_MAX, "net.ipv4.tcp_mem", NO_NUMBER, "net/ipv4/tcp_mem", 3, 2)                 \
    SYSCTL(UDP_PAGES_PRESSURE, "net.ipv4.udp_mem", NO_NUMBER, "net/ipv4/udp_mem", 3, 1)            \
    SYSCTL(UDP_PAGES_MAX, "net.ipv4.udp_mem", NO_NUMBER, "net/ipv4/udp_mem", 3, 2)                 \
    SYSCTL(PORT_FIRST, NULL, NO_NUMBER, "net/ipv4/ip_local_port_range", 2, 0)                      \
    SYSCTL(PORT_LAST, NULL, NO_NUMBER, "net/ipv4/ip_local_port_range", 2, 1)                       \
    SYSCTL(TIME_WAIT_REUSE, NULL, NO_NUMBER, "net/ipv4/tcp_tw_reuse", 1, 0)                        \
    SYSCTL(SYNCOOKIES, NULL, NO_NUMBER, "net/ipv4/tcp_syncookies", 1, 0)                           \
    SYSCTL(SYN_BACKLOG, NULL, NO_NUMBER, "net/ipv4/tcp_max_syn_backlog", 1, 0)                     \
    /* files that are open, not used, and allowed (proc(5)) */                                     \
    SYSCTL(FILES_OPEN, NULL, FILES_MAX, "fs/file-nr", 3, 0)                                        \
    SYSCTL(FILES_MAX, "fs.file-max", NO_NUMBER, "fs/file-nr", 3, 2)                                \
    SYSCTL(FLOWS_TRACKED, NULL, FLOWS_MAX, "net/netfilter/nf_conntrack_count", 1, 0)               \
    SYSCTL(FLOWS_MAX, "net.netfilter.nf_conntrack_max", NO_NUMBER,                                 \
           "net/netfilter/nf_conntrack_max", 1, 0)                                                 \
    SYSCTL(FRAGMENTS_MAX, "net.ipv4.ipfrag_high_thresh", NO_NUMBER, "net/ipv4/ipfrag_high_thresh", \
           1, 0)                                                                                   \
    SYSCTL(FRAGMENTS6_MAX, "net.ipv6.ip6frag_high_thresh", NO_NUMBER,                              \
           "net/ipv6/ip6frag_high_thresh", 1, 0)

#define COUNTER(number, protocol, name)                           number,
#define LIMITED(number, protocol, name, limit, unit)              number,
#define SYSCTL(number, name, limit, file, file_numbers, at_index) number,
enum kernel_number {
    NO_NUMBER, /* is never known */
    EACH_KERNEL_NUMBER(COUNTER, LIMITED, SYSCTL) KERNEL_NUMBERS
};
#undef COUNTER
#undef LIMITED
#undef SYSCTL

extern const struct kernel_number_row {
    const char *protocol, *name;
    const char *file; /* NULL: it is a counter */
    uint8_t file_numbers, index;
    enum { IN_ROWS, IN_BYTES, IN_PAGES } unit; /* of this machine, also for a captured tree */
    enum kernel_number limit;                  /* or NO_NUMBER */
} kernel_numbers[KERNEL_NUMBERS];

/* NO_NUMBER: it has no row. */
enum kernel_number kernel_number_of(const struct counter_record *counter);

/* Reads one that is in a file. Returns 0 or -errno as sysctl_numbers() does; *value stays then. */
int kernel_number_read(const char *proc_root, enum kernel_number number, uint64_t *value);

#endif
