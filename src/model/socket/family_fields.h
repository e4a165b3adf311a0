/* SPDX-License-Identifier: MIT */
/* Values for fields of sockets other than IP. */
#ifndef MODEL_SOCKET_FAMILY_FIELDS_H
#define MODEL_SOCKET_FAMILY_FIELDS_H

#include <linux/types.h>
#include <linux/xdp_diag.h>

#include "fastnet/field.h"

/* struct xdp_diag_stats of linux/xdp_diag.h (Linux 5.9). */
struct kernel_xdp_stats {
    uint64_t rx_dropped, rx_invalid, rx_full, fill_ring_empty, tx_invalid, tx_ring_empty;
};

/* Names of numbers; NULL: the number has no name. */
word_fn family_ether_protocol, family_netlink_protocol, family_fanout_word, family_tipc_word;

extern const struct flag_names family_packet_flags, family_groups;

/* The number of elements of field->index bytes in the member. */
field_fn family_elements;
/* The number of frames in the ring of the field's member. */
field_fn family_ring;
field_fn family_file_device, family_fanout, family_fanout_type, family_groups_joined;
field_fn family_tipc_congestion;

#endif
