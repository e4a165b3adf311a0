/* SPDX-License-Identifier: MIT */
/* Values of fields of sockets that are not of IP. */
#ifndef FORMAT_SOCKET_FAMILY_FIELDS_H
#define FORMAT_SOCKET_FAMILY_FIELDS_H

#include <linux/types.h>
#include <linux/xdp_diag.h>

#include "fastnet/field.h"

/* struct xdp_diag_stats of linux/xdp_diag.h, which is of Linux 5.9. */
struct kernel_xdp_stats {
    uint64_t rx_dropped, rx_invalid, rx_full, fill_ring_empty, tx_invalid, tx_ring_empty;
};

/* Names of numbers, NULL if they have none. */
const char *family_ether_protocol(uint64_t protocol);
const char *family_netlink_protocol(uint64_t protocol);
const char *family_fanout_word(uint64_t number);
const char *family_tipc_word(uint64_t congestion);

extern const struct flag_names family_packet_flags, family_groups;

/* How many elements of field->index bytes the member has. */
struct value family_elements(const struct cell *cell);
struct value family_file_device(const struct cell *cell);
/* The number of frames in the ring of the field's member. */
struct value family_ring(const struct cell *cell);
struct value family_fanout(const struct cell *cell);
struct value family_fanout_type(const struct cell *cell);
struct value family_groups_joined(const struct cell *cell);
struct value family_tipc_congestion(const struct cell *cell);

#endif
