/* SPDX-License-Identifier: MIT */
/* Numbers and structs of the kernel that old headers lack; headers of Linux 5.10 and later have all
 * others that are used. These numbers never change, so the program does not depend on the headers
 * it was built with. A kernel that does not know a number refuses the call. #ifndef does not see
 * enumerators, so a number of an enum is defined as a macro in every case. */
#ifndef FASTNET_KERNEL_ABI_H
#define FASTNET_KERNEL_ABI_H

#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/fib_rules.h>
#include <linux/neighbour.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <stdint.h>
#include <sys/syscall.h>

/* include/uapi/linux/if_packet.h: PACKET_FANOUT_FLAG_IGNORE_OUTGOING, Linux 5.12; older kernels
 * ignore it */
#define PACKET_FANOUT_IGNORES_OUTGOING 0x4000

/* include/uapi/linux/virtio_net.h: Linux 6.2 */
#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

/* include/uapi/linux/neighbour.h: an enumerator, Linux 5.16 */
#define NDA_FLAGS_EXT 15

/* include/uapi/linux/netdev.h, which old headers lack: commands and attributes of the generic
 * netlink family "netdev", Linux 6.9 */
#define NETDEV_FAMILY_NAME        "netdev"
#define NETDEV_COMMAND_QUEUE_GET  10
#define NETDEV_COMMAND_NAPI_GET   11
#define NETDEV_COMMAND_QSTATS_GET 12
#define NETDEV_SCOPE_QUEUE        1
enum kernel_napi_attribute { NAPI_ID = 2, NAPI_IRQ = 3 };
enum kernel_queue_attribute { NIC_QUEUE_ID = 1, NIC_QUEUE_IFINDEX, NIC_QUEUE_TYPE, NIC_QUEUE_NAPI };
enum kernel_qstats_attribute {
    QSTATS_IFINDEX = 1,
    QSTATS_QUEUE_TYPE,
    QSTATS_QUEUE_ID,
    QSTATS_SCOPE,
    QSTATS_RX_PACKETS = 8,
    QSTATS_RX_BYTES,
    QSTATS_TX_PACKETS,
    QSTATS_TX_BYTES,
    QSTATS_RX_ALLOC_FAIL,
    QSTATS_RX_HW_DROPS,
    QSTATS_RX_HW_DROP_OVERRUNS,
    QSTATS_RX_CSUM_COMPLETE,
    QSTATS_RX_CSUM_UNNECESSARY,
    QSTATS_RX_CSUM_NONE,
    QSTATS_RX_CSUM_BAD,
    QSTATS_RX_HW_GRO_PACKETS,
    QSTATS_RX_HW_GRO_BYTES,
    QSTATS_RX_HW_GRO_WIRE_PACKETS,
    QSTATS_RX_HW_GRO_WIRE_BYTES,
    QSTATS_RX_HW_DROP_RATELIMITS,
    QSTATS_TX_HW_DROPS,
    QSTATS_TX_HW_DROP_ERRORS,
    QSTATS_TX_CSUM_NONE,
    QSTATS_TX_NEEDS_CSUM,
    QSTATS_TX_HW_GSO_PACKETS,
    QSTATS_TX_HW_GSO_BYTES,
    QSTATS_TX_HW_GSO_WIRE_PACKETS,
    QSTATS_TX_HW_GSO_WIRE_BYTES,
    QSTATS_TX_HW_DROP_RATELIMITS,
    QSTATS_TX_STOP,
    QSTATS_TX_WAKE,
};

/* include/uapi/linux/fib_rules.h: enumerators, Linux 6.13 and 6.15 */
#define FRA_DSCP       25
#define FRA_SPORT_MASK 28
#define FRA_DPORT_MASK 29
#define FRA_DSCP_MASK  30

/* include/uapi/linux/netfilter/nfnetlink_conntrack.h: enum ctattr_type, ctattr_stats_cpu */
#define CTA_STATUS_MASK         26
#define CTA_STATS_CHAIN_TOOLONG 15

/* include/uapi/linux/bpf.h: enum bpf_func_id, and the member `task` of union bpf_iter_link_info */
#define BPF_FUNC_get_ns_current_pid_tgid 120 /* Linux 5.7 */
#define BPF_FUNC_get_current_task_btf    158 /* Linux 5.11 */
#define BPF_FUNC_sock_from_file          162 /* Linux 5.11 */
#define BPF_FUNC_task_pt_regs            175 /* Linux 5.15 */
struct kernel_task_iterator {                /* Linux 6.1 */
    uint32_t tid, pid, pid_fd;
    uint32_t unused; /* as large as the union, whose largest member is for control groups */
};
#ifndef BPF_CMPXCHG
#define BPF_CMPXCHG 0xf1 /* Linux 5.12 */
#endif
#ifndef BPF_PSEUDO_KFUNC_CALL
#define BPF_PSEUDO_KFUNC_CALL 2 /* Linux 5.13 */
#endif

/* include/uapi/asm-generic/unistd.h */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* Linux 5.3 */
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438 /* Linux 5.6 */
#endif
#ifndef SYS_openat2
#define SYS_openat2 437 /* Linux 5.6; the C library may be older than the headers */
#endif
#ifndef SYS_landlock_create_ruleset /* Linux 5.13 */
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self  446
#endif
/* include/linux/proc_ns.h: inode of the root of each proc file system; enum in linux/fs.h, 6.11 */
#define PROC_ROOT_INODE 1

/* include/uapi/linux/landlock.h, which no file here includes */
#define LANDLOCK_CREATE_RULESET_VERSION 1

/* include/uapi/linux/capability.h: Linux 5.8, but libcap may have an older copy */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

#endif
