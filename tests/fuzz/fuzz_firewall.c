/* SPDX-License-Identifier: MIT */
/*
 * Rules of nftables, as a peer lists them: first a packet, then messages. Each has a byte for its
 * type, a byte for its family, two bytes of length, the lower first, and its attributes. Less that
 * is known of a packet must never prove more.
 */
#include <errno.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <string.h>

#include "bytes.h"
#include "fastnet/netlink.h"
#include "fuzz.h"
#include "lookup/firewall.h"

enum { MESSAGE_MAX = 8192 };

struct kernel {
    struct bytes all, left; /* messages; those that the answer does not have yet */
    uint16_t asked;         /* type of the request */
    uint32_t sequence;
    bool ended;
};

static int kernel_asked(void *arg, const void *message, size_t size)
{
    struct kernel *kernel = arg;
    struct nlmsghdr header;

    require(size >= sizeof header);
    memcpy(&header, message, sizeof header);
    require(header.nlmsg_type >> 8 == NFNL_SUBSYS_NFTABLES);
    kernel->asked = header.nlmsg_type & 0xff;
    kernel->sequence = header.nlmsg_seq;
    kernel->left = kernel->all;
    kernel->ended = false;
    return 0;
}

/* The next message of the type that was asked for; the messages NFT_MSG_NEW* are one before their
 * NFT_MSG_GET*. Returns false if there is no further one. */
static bool kernel_next(struct kernel *kernel, char *buffer, size_t *length)
{
    static const uint16_t types[] = {NFT_MSG_NEWTABLE, NFT_MSG_NEWCHAIN, NFT_MSG_NEWSET,
                                     NFT_MSG_NEWRULE, NFT_MSG_NEWSETELEM};
    struct nlmsghdr *header = (void *)buffer;

    while (kernel->left.left >= 4) {
        const uint16_t type = types[bytes_u8(&kernel->left) % 5];
        const uint8_t family = bytes_u8(&kernel->left);
        size_t size = bytes_u16(&kernel->left) % MESSAGE_MAX;
        size = size < kernel->left.left ? size : kernel->left.left;
        *header = (struct nlmsghdr){.nlmsg_len =
                                        (uint32_t)(NLMSG_HDRLEN + sizeof(struct nfgenmsg) + size),
                                    .nlmsg_type = (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type),
                                    .nlmsg_flags = NLM_F_MULTI,
                                    .nlmsg_seq = kernel->sequence,
                                    .nlmsg_pid = 1};
        *(struct nfgenmsg *)(void *)(header + 1) = (struct nfgenmsg){.nfgen_family = family};
        bytes_take(&kernel->left, buffer + NLMSG_HDRLEN + sizeof(struct nfgenmsg), size);
        *length = header->nlmsg_len;
        if (type + 1 == kernel->asked)
            return true;
    }
    return false;
}

static ssize_t kernel_answers(void *arg, void *buffer, size_t size, uint32_t *port)
{
    struct kernel *kernel = arg;
    struct nlmsghdr *done = buffer;
    size_t length;

    require(size >= NLMSG_HDRLEN + sizeof(struct nfgenmsg) + MESSAGE_MAX);
    *port = 0;
    if (kernel->ended)
        return -EIO;
    if (kernel_next(kernel, buffer, &length))
        return (ssize_t)length;
    kernel->ended = true;
    *done =
        (struct nlmsghdr){NLMSG_HDRLEN + sizeof(int), NLMSG_DONE, NLM_F_MULTI, kernel->sequence, 1};
    memset(done + 1, 0, sizeof(int));
    return NLMSG_HDRLEN + sizeof(int);
}

static struct firewall_packet take_packet(struct bytes *bytes)
{
    const uint8_t options = bytes_u8(bytes);
    struct firewall_packet packet = {.family = options & 1 ? AF_INET6 : AF_INET,
                                     .protocol = bytes_u8(bytes),
                                     .has_port = true,
                                     .port = bytes_u16(bytes)};
    uint8_t address[16];

    bytes_take(bytes, address, sizeof address);
    packet.destination = address_make(packet.family, address);
    return packet;
}

/* A packet of which more is known has the same fate, if that was certain. */
static void check_less(struct firewall *firewall, enum firewall_reach reach,
                       struct firewall_packet less)
{
    const enum firewall_reach other = firewall_judge(firewall, &less);

    require(other != REACH_NO || reach == REACH_NO);
    require(other != REACH_YES || reach == REACH_YES);
}

/* Outcomes that rules keep for other packets change no answer. */
static void check_order(struct kernel *kernel, const struct firewall_packet *packet,
                        enum firewall_reach reach)
{
    const struct netlink_peer peer = {kernel_asked, kernel_answers, kernel};
    struct netlink *netlink = netlink_create(&peer);
    struct firewall_packet other = *packet;
    struct firewall *firewall;

    require(netlink != NULL);
    (void)firewall_read(&firewall, netlink, "/nonexistent");
    require(firewall != NULL);
    other.port ^= 1;
    other.destination.bytes[3] ^= 1;
    (void)firewall_judge(firewall, &other);
    require(firewall_judge(firewall, packet) == reach);
    firewall_destroy(firewall);
    netlink_destroy(netlink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    const struct firewall_packet packet = take_packet(&bytes);
    struct kernel kernel = {.all = bytes};
    const struct netlink_peer peer = {kernel_asked, kernel_answers, &kernel};
    struct netlink *netlink = netlink_create(&peer);
    struct firewall *firewall;
    enum firewall_reach reach;
    int error;

    require(netlink != NULL);
    error = firewall_read(&firewall, netlink, "/nonexistent");
    require(error <= 0 && firewall != NULL);
    reach = firewall_judge(firewall, &packet);
    require(!error || reach == REACH_UNKNOWN);
    require(firewall_judge(firewall, &packet) == reach);
    check_order(&kernel, &packet, reach);
    struct firewall_packet less = packet;
    less.destination = (struct address){.family = AF_UNSPEC};
    check_less(firewall, reach, less);
    less.has_port = false;
    check_less(firewall, reach, less);
    firewall_destroy(firewall);
    netlink_destroy(netlink);
    return 0;
}
