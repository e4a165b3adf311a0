/* SPDX-License-Identifier: MIT */
/* Decoders of neighbours, and of how full their tables are. */
#ifndef BACKEND_NEIGHBOUR_DECODE_H
#define BACKEND_NEIGHBOUR_DECODE_H

#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "fastnet/hash.h"
#include "fastnet/query.h"

struct line;
struct stat_file;
struct stat_values;

/*
 * Fills the record from one RTM_NEWNEIGH message; attributes that are unknown, or shorter than they
 * have to be, are skipped. Returns 0; -EAFNOSUPPORT for another family than IPv4 and IPv6, as a
 * bridge's forwarding table has; -EBADMSG when the message is too short, has no address, or its
 * attributes do not end where it does.
 */
int neighbour_decode(const struct nlmsghdr *message, struct record *record);

/*
 * Fills the record from one line of PROC_ROOT/net/arp. Returns 0, or -EBADMSG if the line does not
 * have that form; the record is then of no use.
 */
int proc_arp_decode(const struct line *line, struct record *record);

/*
 * Fills the record from one RTM_NEWNEIGHTBL. Returns 0; -EAFNOSUPPORT for a table of another family
 * than IPv4 and IPv6; -ENODATA for a message about an interface, which has nothing of the table;
 * -EBADMSG if the message is too short, or its attributes do not end where it does.
 */
int neighbour_usage_decode(const struct nlmsghdr *message, struct record *record);

/* PROC_ROOT/net/stat/arp_cache and ndisc_cache (neigh_stat_seq_show() of net/core/neighbour.c). */
extern const struct stat_file neighbour_stat_file, neighbour_stat_file6;

/* Adds the counters of one processor. */
void neighbour_usage_add(const struct stat_values *values, struct record *record);

/*
 * Fills in the counters that netlink does not have. They stay absent where there is no such file:
 * the kernel shows it in the first network namespace only.
 */
void neighbour_usage_complete(const struct query *query, struct record *record);

/*
 * For struct record.identity: address, interface, and whether it is a proxy, of which the kernel
 * has only one (net/core/neighbour.c). For IPv4 these are the identity, because they fit into it.
 * For IPv6 they are hashed under the secret: a machine on the link can choose its addresses, but
 * not so that one of them is taken for a repeat of another.
 */
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
