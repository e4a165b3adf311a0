/* SPDX-License-Identifier: MIT */
/* ARP packets (RFC 826) in which a machine gives an IPv4 address of this machine as its own. A
 * packet socket receives them; nothing is sent. */
#ifndef FASTNET_ARP_CLAIMS_H
#define FASTNET_ARP_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAC_SIZE = 6 /* ETH_ALEN */, ARP_ADDRESSES_MAX = 1000 };

/* An IPv4 address of an interface of this machine. */
struct own_ipv4 {
    uint32_t interface; /* index */
    uint8_t bytes[4];   /* network byte order */
};

struct arp_claim {
    struct own_ipv4 to;    /* the sender's IPv4 address; the interface that received the packet */
    uint8_t mac[MAC_SIZE]; /* the sender's MAC address */
};

/* Opens a socket in this thread's network namespace. It receives ARP packets whose sender has one
 * of these addresses: of the first ARP_ADDRESSES_MAX. Uses RIGHT_PACKETS. Returns a descriptor or
 * -errno. */
int arp_claims_open(const struct own_ipv4 *addresses, size_t count);

/* Replaces the addresses. Returns 0 or -errno. */
int arp_claims_watch(int fd, const struct own_ipv4 *addresses, size_t count);

/* Hands the packets that are queued to fn. */
void arp_claims_read(int fd, void (*fn)(const struct arp_claim *claim, void *arg), void *arg);

/* Fills the claim, except the interface, from an ARP packet without its link-layer header. Returns
 * false if it is not ARP of IPv4 over Ethernet, or if no machine can have the sender's MAC address:
 * a group address, or zeroes. */
bool arp_claim_decode(const uint8_t *packet, size_t length, struct arp_claim *claim);

struct sock_filter;

/* The filter needs two instructions for each address, and these. */
enum { ARP_PROGRAM_MORE = 8, ARP_PROGRAM_MAX = ARP_PROGRAM_MORE + 2 * ARP_ADDRESSES_MAX };

/* Writes the program that lets only the packets of arp_claims_open() pass. Returns the number of
 * its instructions, at most ARP_PROGRAM_MAX. */
size_t arp_program_make(const struct own_ipv4 *addresses, size_t count, struct sock_filter *code);

#endif
