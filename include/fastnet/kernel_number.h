/* SPDX-License-Identifier: MIT */
/* Counters of the kernel, and numbers in its files. Each number is a row of kernel_numbers[]. */
#ifndef FASTNET_KERNEL_NUMBER_H
#define FASTNET_KERNEL_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

struct counter_record;

/* The three macros. COUNTER(enumerator, protocol, name): a counter by the kernel's names
 * (table_counters, table_sockstat ...), or the column "sockets" of /proc/net/protocols. protocol
 * NULL: a counter of all protocols. Further members of the row may follow. SYSCTL(enumerator, name
 * in sysctl(8), limit, file below PROC_ROOT/sys, number of values in the file, index of this
 * value). OF_ROWS(enumerator, name, limit): a number from rows of other kinds, such as the size of
 * the table of flows.
 *
 * Numbers of files about memory are about the whole machine. TIME_WAIT_REUSE: 1 if new connections
 * may use ports in TIME_WAIT, 2 only on loopback. SYNCOOKIES: 2 if every SYN is answered by a
 * cookie. */
#define EACH_KERNEL_NUMBER(COUNTER, SYSCTL, OF_ROWS)                                               \
    COUNTER(SOCKETS_USED, "sockets", "used")                                                       \
    COUNTER(TCP_IN_USE, "TCP", "inuse") /* from here on: IPv4, then the same for IPv6 */           \
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
    COUNTER(TCP_WAITING, "TCP", "tw", .limit = TIME_WAIT_MAX)                                      \
    COUNTER(TCP_ORPHANS, "TCP", "orphan", .limit = ORPHANS_MAX)                                    \
    COUNTER(TCP_PAGES, "TCP", "mem", .limit = TCP_PAGES_MAX, .unit = IN_PAGES)                     \
    COUNTER(UDP_PAGES, "UDP", "mem", .limit = UDP_PAGES_MAX, .unit = IN_PAGES)                     \
    COUNTER(FRAGMENTS_BYTES, "FRAG", "memory", .limit = FRAGMENTS_MAX, .unit = IN_BYTES)           \
    COUNTER(FRAGMENTS6_BYTES, "FRAG6", "memory", .limit = FRAGMENTS6_MAX, .unit = IN_BYTES)        \
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
    COUNTER(LISTEN_OVERFLOWS, "TcpExt", "ListenOverflows", .drops = "")                            \
    COUNTER(LISTEN_DROPS, "TcpExt", "ListenDrops", .drops = "") /* includes overflows */           \
    COUNTER(SYNCOOKIES_SENT, "TcpExt", "SyncookiesSent")                                           \
    COUNTER(REQUESTS_DROPPED, "TcpExt", "TCPReqQFullDrop", .drops = "")                            \
    COUNTER(TIME_WAIT_OVERFLOW, "TcpExt", "TCPTimeWaitOverflow")                                   \
    COUNTER(ABORTS_ON_MEMORY, "TcpExt", "TCPAbortOnMemory")                                        \
    COUNTER(MEMORY_PRESSURES, "TcpExt", "TCPMemoryPressures")                                      \
    COUNTER(SEGMENTS_SENT, "Tcp", "OutSegs")                                                       \
    COUNTER(SEGMENTS_RETRANSMITTED, "Tcp", "RetransSegs")                                          \
    COUNTER(SYNS_RETRANSMITTED, "TcpExt", "TCPSynRetrans")                                         \
    COUNTER(BLOCKS_DUPLICATED, "TcpExt", "TCPDSACKRecv") /* retransmitted in vain: D-SACKs */      \
    COUNTER(SEGMENTS_DUPLICATED, "TcpExt",                                                         \
            "TCPDSACKRecvSegs") /* segments in these D-SACKs (Linux 5.10) */                       \
    COUNTER(UDP_BUFFER_ERRORS, "Udp", "RcvbufErrors", .drops = "SOCKET_RCVBUFF")                   \
    COUNTER(UDP6_BUFFER_ERRORS, "Udp6", "Udp6RcvbufErrors", .drops = "SOCKET_RCVBUFF")             \
    COUNTER(UDP_MEMORY_ERRORS, "Udp", "MemErrors", .drops = "PROTO_MEM")                           \
    COUNTER(UDP6_MEMORY_ERRORS, "Udp6", "Udp6MemErrors", .drops = "PROTO_MEM")                     \
    COUNTER(REASSEMBLY_FAILS, "Ip", "ReasmFails", .drops = "FRAG_REASM_TIMEOUT")                   \
    COUNTER(REASSEMBLY_REQUIRED, "Ip", "ReasmReqds")                                               \
    COUNTER(REASSEMBLY6_FAILS, "Ip6", "Ip6ReasmFails")                                             \
    COUNTER(REASSEMBLY6_REQUIRED, "Ip6", "Ip6ReasmReqds")                                          \
    COUNTER(ATTEMPTS, "Tcp", "ActiveOpens")                                                        \
    COUNTER(ACCEPTED, "Tcp", "PassiveOpens")                                                       \
    COUNTER(ATTEMPTS_FAILED, "Tcp", "AttemptFails")                                                \
    COUNTER(ATTEMPTS_FAILED_INCOMING, "TcpExt", "EmbryonicRsts") /* part of ATTEMPTS_FAILED */     \
    COUNTER(REVERSE_PATH_FILTERED, "TcpExt", "IPReversePathFilter", .drops = "IP_RPFILTER")        \
    COUNTER(CHECKSUMS_IP, "IpExt", "InCsumErrors")                                                 \
    COUNTER(CHECKSUMS_TCP, "Tcp", "InCsumErrors", .drops = "TCP_CSUM")                             \
    COUNTER(CHECKSUMS_UDP, "Udp", "InCsumErrors", .drops = "UDP_CSUM")                             \
    COUNTER(CHECKSUMS_UDP6, "Udp6", "Udp6InCsumErrors", .drops = "UDP_CSUM")                       \
    COUNTER(CHECKSUMS_ICMP, "Icmp", "InCsumErrors", .drops = "ICMP_CSUM")                          \
    COUNTER(CHECKSUMS_ICMP6, "Icmp6", "Icmp6InCsumErrors", .drops = "ICMP_CSUM")                   \
    COUNTER(SOFTNET_PROCESSED, NULL, "SoftnetProcessed")                                           \
    COUNTER(SOFTNET_DROPPED, NULL, "SoftnetDropped", .drops = "CPU_BACKLOG")                       \
    COUNTER(SOFTNET_SQUEEZED, NULL, "SoftnetSqueezed")                                             \
    COUNTER(BACKLOG_DROPS, "TcpExt", "TCPBacklogDrop", .drops = "SOCKET_BACKLOG")                  \
    COUNTER(RECEIVE_QUEUE_DROPS, "TcpExt", "TCPRcvQDrop", .drops = "PROTO_MEM")                    \
    COUNTER(ZERO_WINDOW_DROPS, "TcpExt", "TCPZeroWindowDrop", .drops = "TCP_ZEROWINDOW")           \
    COUNTER(OUT_OF_ORDER_DROPS, "TcpExt", "TCPOFODrop", .drops = "TCP_OFO_DROP")                   \
    COUNTER(OUT_OF_ORDER_PRUNED, "TcpExt", "OfoPruned", .drops = "TCP_OFO_QUEUE_PRUNE")            \
    COUNTER(OLD_TIMESTAMPS, "TcpExt", "PAWSEstab", .drops = "TCP_RFC7323_PAWS")                    \
    COUNTER(MIN_TTL_DROPS, "TcpExt", "TCPMinTTLDrop", .drops = "TCP_MINTTL")                       \
    COUNTER(RESERVE_MEMORY_DROPS, "TcpExt", "PFMemallocDrop", .drops = "PFMEMALLOC")               \
    COUNTER(UDP_NO_PORTS, "Udp", "NoPorts", .drops = "NO_SOCKET")                                  \
    COUNTER(UDP6_NO_PORTS, "Udp6", "Udp6NoPorts", .drops = "NO_SOCKET")                            \
    COUNTER(HEADER_ERRORS, "Ip", "InHdrErrors", .drops = "IP_INHDR")                               \
    COUNTER(ADDRESS_ERRORS, "Ip", "InAddrErrors", .drops = "IP_INADDRERRORS")                      \
    COUNTER(UNKNOWN_PROTOCOLS, "Ip", "InUnknownProtos", .drops = "IP_NOPROTO")                     \
    COUNTER(NO_ROUTES_OUT, "Ip", "OutNoRoutes", .drops = "IP_OUTNOROUTES")                         \
    COUNTER(FRAGMENTATION_FAILS, "Ip", "FragFails", .drops = "PKT_TOO_BIG")                        \
    COUNTER(NO_ROUTES_IN, "IpExt", "InNoRoutes", .drops = "IP_INNOROUTES")                         \
    COUNTER(HEADER6_ERRORS, "Ip6", "Ip6InHdrErrors", .drops = "IP_INHDR")                          \
    COUNTER(ADDRESS6_ERRORS, "Ip6", "Ip6InAddrErrors", .drops = "IP_INADDRERRORS")                 \
    COUNTER(NO_ROUTES6_IN, "Ip6", "Ip6InNoRoutes", .drops = "IP_INNOROUTES")                       \
    COUNTER(NO_ROUTES6_OUT, "Ip6", "Ip6OutNoRoutes", .drops = "IP_OUTNOROUTES")                    \
    COUNTER(TOO_BIG6_ERRORS, "Ip6", "Ip6InTooBigErrors", .drops = "PKT_TOO_BIG")                   \
    COUNTER(SOFTNET_FLOW_LIMITED, NULL, "SoftnetFlowLimited", .drops = "CPU_BACKLOG")              \
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
    /* file-nr has three numbers: open, unused and allowed files (proc(5)) */                      \
    SYSCTL(FILES_OPEN, NULL, FILES_MAX, "fs/file-nr", 3, 0)                                        \
    SYSCTL(FILES_MAX, "fs.file-max", NO_NUMBER, "fs/file-nr", 3, 2)                                \
    SYSCTL(FLOWS_TRACKED, NULL, FLOWS_MAX, "net/netfilter/nf_conntrack_count", 1, 0)               \
    SYSCTL(FLOWS_MAX, "net.netfilter.nf_conntrack_max", NO_NUMBER,                                 \
           "net/netfilter/nf_conntrack_max", 1, 0)                                                 \
    SYSCTL(FRAGMENTS_MAX, "net.ipv4.ipfrag_high_thresh", NO_NUMBER, "net/ipv4/ipfrag_high_thresh", \
           1, 0)                                                                                   \
    SYSCTL(FRAGMENTS6_MAX, "net.ipv6.ip6frag_high_thresh", NO_NUMBER,                              \
           "net/ipv6/ip6frag_high_thresh", 1, 0)                                                   \
    SYSCTL(ARP_MAX, "net.ipv4.neigh.default.gc_thresh3", NO_NUMBER,                                \
           "net/ipv4/neigh/default/gc_thresh3", 1, 0)                                              \
    SYSCTL(NDISC_MAX, "net.ipv6.neigh.default.gc_thresh3", NO_NUMBER,                              \
           "net/ipv6/neigh/default/gc_thresh3", 1, 0)                                              \
    OF_ROWS(ARP_ENTRIES, "entries", ARP_MAX)                                                       \
    OF_ROWS(ARP_FULLS, "table_fulls", NO_NUMBER)                                                   \
    OF_ROWS(NDISC_ENTRIES, "entries", NDISC_MAX)                                                   \
    OF_ROWS(NDISC_FULLS, "table_fulls", NO_NUMBER)                                                 \
    OF_ROWS(FLOWS_DROPPED, "drop", NO_NUMBER)                                                      \
    OF_ROWS(FLOWS_SQUEEZED, "early_drop", NO_NUMBER) /* made room for new flows */                 \
    OF_ROWS(FLOWS_RACED, "insert_failed", NO_NUMBER) /* part of FLOWS_DROPPED */

#define COUNTER(number, ...) number,
#define SYSCTL(number, ...)  number,
#define OF_ROWS(number, ...) number,
enum kernel_number {
    NO_NUMBER, /* never known */
    EACH_KERNEL_NUMBER(COUNTER, SYSCTL, OF_ROWS) KERNEL_NUMBERS
};
#undef COUNTER
#undef SYSCTL
#undef OF_ROWS

/* The numbers; kernel_numbers[NO_NUMBER] is empty. */
extern const struct kernel_number_row {
    const char *protocol, *name;
    const char *file; /* below PROC_ROOT/sys; NULL: a counter, or a number from rows */
    uint8_t file_numbers, index;
    enum { IN_ROWS, IN_BYTES, IN_PAGES } unit; /* pages of this machine, also for a captured tree */
    enum kernel_number limit; /* the number that limits this number, or NO_NUMBER */
    /* For a counter of dropped packets: the reason that drop_probe.h gives these packets, "" if the
     * probe never sees them. NULL: the counter is not about dropped packets. */
    const char *drops;
} kernel_numbers[KERNEL_NUMBERS];

/* Returns the number of a counter's row, or NO_NUMBER if it has no row. */
enum kernel_number kernel_number_of(const struct counter_record *counter);

/* Values of the numbers, as far as they are known. */
struct kernel_counts {
    uint64_t numbers[KERNEL_NUMBERS];
    bool known[KERNEL_NUMBERS];
};

/* Stores the value of a counter that has a row. A counter of all protocols is added up, because
 * each CPU has one. For other counters the last value stays, because the kernel sends the counters
 * of TCP twice, with IPv4 and IPv6. Returns kernel_number_of(counter). */
enum kernel_number kernel_counts_take(struct kernel_counts *counts,
                                      const struct counter_record *counter);

/* Reads a number that is in a file. Returns 0 or -errno as sysctl_numbers(); *value stays on
 * failure. */
int kernel_number_read(const char *proc_root, enum kernel_number number, uint64_t *value);

#endif
