/* SPDX-License-Identifier: MIT */
#include "fastnet/arp_claims.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fastnet/rights.h"

/* Offsets in an ARP packet of IPv4 over Ethernet (RFC 826: ar$pro, ar$hln and ar$pln, ar$sha,
 * ar$spa), and its size. */
enum { ARP_PROTOCOL = 2, ARP_SIZES = 4, ARP_MAC = 8, ARP_ADDRESS = 14, ARP_SIZE = 28 };
enum { IPV4_ON_ETHERNET = MAC_SIZE << 8 | 4 }; /* both sizes */

/* --- The filter ------------------------------------------------------------------------------- */

static size_t arp_expect(struct sock_filter *code, size_t offset, uint32_t value)
{
    code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_H | BPF_ABS, (uint32_t)offset);
    code[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ, value, 1, 0);
    code[2] = (struct sock_filter)BPF_STMT(BPF_RET, 0);
    return 3;
}

/* A program returns the number of bytes to keep. */
size_t arp_program_make(const struct own_ipv4 *addresses, size_t count, struct sock_filter *code)
{
    size_t length = arp_expect(code, ARP_PROTOCOL, ETH_P_IP);

    length += arp_expect(code + length, ARP_SIZES, IPV4_ON_ETHERNET);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARP_ADDRESS);
    for (size_t i = 0; i < count && i < ARP_ADDRESSES_MAX; i++) {
        uint32_t address;
        memcpy(&address, addresses[i].bytes, sizeof address);
        code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ, ntohl(address), 0, 1);
        code[length++] = (struct sock_filter)BPF_STMT(BPF_RET, ARP_SIZE);
    }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET, 0);
    return length;
}

int arp_claims_watch(int fd, const struct own_ipv4 *addresses, size_t count)
{
    struct sock_filter code[ARP_PROGRAM_MAX];
    const struct sock_fprog program = {
        .len = (unsigned short)arp_program_make(addresses, count, code), .filter = code};

    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0 ? -errno : 0;
}

/* --- The socket ------------------------------------------------------------------------------- */

/* A socket of protocol 0 receives nothing until bind(2), so all packets go through the filter. */
int arp_claims_open(const struct own_ipv4 *addresses, size_t count)
{
    const struct sockaddr_ll arp = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ARP)};
    int error, fd;

    rights_raise(RIGHT_PACKETS);
    fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    error = fd < 0 ? -errno : 0;
    rights_lower();
    if (!error)
        error = arp_claims_watch(fd, addresses, count);
    if (!error && bind(fd, (const struct sockaddr *)&arp, sizeof arp) < 0)
        error = -errno;
    if (!error)
        return fd;
    if (fd >= 0)
        close(fd);
    return error;
}

bool arp_claim_decode(const uint8_t *packet, size_t length, struct arp_claim *claim)
{
    static const uint8_t zeroes[MAC_SIZE];

    if (length < ARP_SIZE || packet[ARP_PROTOCOL] << 8 != ETH_P_IP || packet[ARP_PROTOCOL + 1] ||
        packet[ARP_SIZES] != MAC_SIZE || packet[ARP_SIZES + 1] != sizeof claim->to.bytes)
        return false;
    memcpy(claim->mac, packet + ARP_MAC, sizeof claim->mac);
    memcpy(claim->to.bytes, packet + ARP_ADDRESS, sizeof claim->to.bytes);
    return !(claim->mac[0] & 1) && memcmp(claim->mac, zeroes, sizeof zeroes) != 0;
}

void arp_claims_read(int fd, void (*fn)(const struct arp_claim *claim, void *arg), void *arg)
{
    enum { AT_ONCE = 4096 }; /* then others have their turn */
    uint8_t packet[ARP_SIZE];

    for (size_t i = 0; i < AT_ONCE; i++) {
        struct sockaddr_ll from = {.sll_ifindex = 0};
        socklen_t size = sizeof from;
        struct arp_claim claim;
        const ssize_t length =
            recvfrom(fd, packet, sizeof packet, 0, (struct sockaddr *)&from, &size);
        if (length < 0 && errno != EINTR && errno != ENETDOWN)
            return;
        if (length < 0 || !arp_claim_decode(packet, (size_t)length, &claim))
            continue;
        claim.to.interface = (uint32_t)from.sll_ifindex;
        fn(&claim, arg);
    }
}
