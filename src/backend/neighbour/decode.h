/* SPDX-License-Identifier: MIT */
/* Decoders of neighbours, and of the usage of their tables. */
#ifndef BACKEND_NEIGHBOUR_DECODE_H
#define BACKEND_NEIGHBOUR_DECODE_H

#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "fastnet/hash.h"
#include "fastnet/query.h"

struct line;
struct sock_filter;
struct stat_file;
struct stat_values;

/* Fills the record from one RTM_NEWNEIGH message; ignores attributes that are unknown or too short.
 * Returns 0; -EAFNOSUPPORT for a family other than IPv4 and IPv6, as in a bridge's forwarding
 * table; -EBADMSG if the message is too short, has no address, or its attributes do not end where
 * the message ends. */
int neighbour_decode(const struct nlmsghdr *message, struct record *record);

/* Fills the record from one line of PROC_ROOT/net/arp. Returns 0, or -EBADMSG if the line does not
 * have that form; do not use the record then. */
int proc_arp_decode(const struct line *line, struct record *record);

/* Fills the record from one RTM_NEWNEIGHTBL. Returns 0; -EAFNOSUPPORT for a family other than IPv4
 * and IPv6; -ENODATA for a message about an interface, which has no numbers of the table; -EBADMSG
 * if the message is too short, or its attributes do not end where it ends. */
int neighbour_usage_decode(const struct nlmsghdr *message, struct record *record);

/* PROC_ROOT/net/stat/arp_cache and ndisc_cache (neigh_stat_seq_show() of net/core/neighbour.c). */
extern const struct stat_file neighbour_stat_file, neighbour_stat_file6;

/* Adds the counters of one CPU to the record. */
void neighbour_usage_add(const struct stat_values *values, struct record *record);

/* Fills counters that netlink does not have, from the family's file in PROC_ROOT/net/stat. The
 * kernel shows this file in the first network namespace only: elsewhere they stay unknown. */
void neighbour_usage_complete(const struct query *query, struct record *record);

/* Writes the classic BPF program of sockets for neighbour_events_open(), and returns the number of
 * its instructions. It leaves out entries of bridges (AF_BRIDGE), and states that no entry has when
 * it gets a MAC address: a busy network has many such events. */
enum { NEIGHBOUR_FILTER_SIZE = 10 };
size_t neighbour_filter_make(struct sock_filter *code);

/* The identity (record.identity) of a neighbour: its address, its interface, and whether it is a
 * proxy. The kernel has only one entry with these three (net/core/neighbour.c). For IPv4 they fit
 * into the number. For IPv6 the number is their hash under a secret: a machine on the link can
 * choose its addresses, but it cannot choose two addresses that have the same identity. */
static inline uint64_t neighbour_identity(const struct neighbour_record *neighbour)
{
    const uint64_t which =
        (uint64_t)neighbour->interface << 1 | ((neighbour->flags & NTF_PROXY) != 0);
    uint64_t secret[2], hash;
    uint32_t ipv4;

    if (neighbour->address.family == AF_INET && neighbour->interface) {
        memcpy(&ipv4, neighbour->address.bytes, sizeof ipv4);
        return (uint64_t)ipv4 << 32 | which;
    }
    hash_secret(secret);
    hash = hash_bytes(secret[0], neighbour->address.bytes, sizeof neighbour->address.bytes);
    hash = hash_word(hash, secret[1] ^ (which << 8 | neighbour->address.family));
    return hash_bytes(hash, neighbour->interface_name, sizeof neighbour->interface_name);
}

#endif
