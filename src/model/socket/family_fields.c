/* SPDX-License-Identifier: MIT */
#include "model/socket/family_fields.h"

#include <linux/packet_diag.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>

#include "fastnet/kernel_info.h"
#include "model/fields/fields.h"
#include "model/socket/nested.h"

/* --- Names ------------------------------------------------------------------------------------ */

/* The ETH_P_* of linux/if_ether.h that packet sockets are often bound to. */
const char *family_ether_protocol(uint64_t protocol)
{
    static const struct {
        uint16_t number;
        const char *name;
    } names[] = {
        {0x0003, "all"},   {0x0800, "ip"},     {0x0806, "arp"},  {0x8035, "rarp"},
        {0x8100, "8021q"}, {0x86dd, "ipv6"},   {0x8847, "mpls"}, {0x8863, "pppoe_disc"},
        {0x888e, "pae"},   {0x88a8, "8021ad"}, {0x88cc, "lldp"}, {0x88f7, "1588"},
    };

    for (size_t i = 0; i < COUNT(names); i++)
        if (names[i].number == protocol)
            return names[i].name;
    return NULL;
}

/* NETLINK_* of linux/netlink.h */
WORDS(family_netlink_protocol, "route", "unused", "usersock", "firewall", "sock_diag", "nflog",
      "xfrm", "selinux", "iscsi", "audit", "fib_lookup", "connector", "netfilter", "ip6_fw",
      "dnrtmsg", "kobject_uevent", "generic", "", "scsitransport", "ecryptfs", "rdma", "crypto",
      "smc");

/* PDI_* of linux/packet_diag.h */
const struct flag_names family_packet_flags =
    FLAG_NAMES("running", "auxdata", "origdev", "vnethdr", "loss");

/* Groups are shown as numbers, because each netlink protocol has its own names. */
const struct flag_names family_groups = {NULL, 0};

struct value family_elements(const struct cell *cell)
{
    return number(member_text(cell).length / cell->field->index);
}

/* --- Unix sockets ----------------------------------------------------------------------------- */

/* The device number of stat(2), made from the kernel's. */
struct value family_file_device(const struct cell *cell)
{
    const uint32_t device = cell->record->socket.file_device;

    return number(makedev(device >> 20, device & 0xfffff));
}

/* --- Packet sockets and XDP ------------------------------------------------------------------- */

struct value family_ring(const struct cell *cell)
{
    const bool is_xdp = cell->record->socket.family == AF_XDP;
    const size_t offset = is_xdp ? offsetof(struct xdp_diag_ring, entries)
                                 : offsetof(struct packet_diag_ring, pdr_frame_nr);
    const struct text ring = member_text(cell);

    return ring.length < offset + sizeof(uint32_t)
               ? unknown
               : number(text_number(ring, offset, sizeof(uint32_t)));
}

struct value family_fanout(const struct cell *cell)
{
    return number(cell->record->socket.fanout & UINT16_MAX);
}

/* PACKET_FANOUT_* of linux/if_packet.h */
WORDS(family_fanout_word, "hash", "lb", "cpu", "rollover", "random", "qm", "cbpf", "ebpf");

/* The fanout type without the flags in the highest four bits. */
struct value family_fanout_type(const struct cell *cell)
{
    return string(family_fanout_word(cell->record->socket.fanout >> 16 & 0xfff));
}

/* --- Netlink sockets -------------------------------------------------------------------------- */

/* The joined groups: group n is bit n - 1 of the kernel's mask. Groups above 127 do not fit. */
struct value family_groups_joined(const struct cell *cell)
{
    struct value value = {.type = VALUE_FLAGS, .flags.names = &family_groups};
    const struct text *groups = &cell->record->socket.groups;

    for (size_t group = 1; group < VALUE_FLAG_BITS && group <= groups->length * 8; group++) {
        const size_t size = sizeof(unsigned long), word = (group - 1) / (8 * size);
        const uint64_t mask = text_number(*groups, word * size, size);
        value.flags.bits[group / 64] |= (mask >> (group - 1) % (8 * size) & 1) << group % 64;
    }
    return value;
}

/* --- TIPC ------------------------------------------------------------------------------------- */

enum congestion { CONGESTION_NONE, CONGESTION_LINK, CONGESTION_CONNECTION };

WORDS(family_tipc_word, "none", "link", "connection");

struct value family_tipc_congestion(const struct cell *cell)
{
    const struct text statistics = nested_find(cell->record->socket.tipc, TIPC_SOCK_STAT);

    if (!statistics.data)
        return unknown;
    return string(
        family_tipc_word(nested_find(statistics, TIPC_STAT_LINK_CONG).data   ? CONGESTION_LINK
                         : nested_find(statistics, TIPC_STAT_CONN_CONG).data ? CONGESTION_CONNECTION
                                                                             : CONGESTION_NONE));
}
