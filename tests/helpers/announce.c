/* SPDX-License-Identifier: MIT */
/*
 * Packets of ARP and of neighbour discovery, as other machines of a network send them. Prints
 * "ready", sends again and again, with EVERY milliseconds between two packets, and ends when stdin
 * does.
 *
 *     announce claim INTERFACE EVERY ADDRESS MAC...   each MAC in turn says that it has ADDRESS: by
 *                                                     gratuitous ARP, or by a neighbour
 * advertisement announce probe INTERFACE EVERY ADDRESS MAC...   ... asks whether ADDRESS is free
 *     announce many INTERFACE EVERY ADDRESS COUNT     COUNT machines from ADDRESS (IPv4) on
 *     announce scan INTERFACE EVERY ADDRESS COUNT     not an announcement: a socket sends a
 * datagram to each of COUNT addresses from ADDRESS on announce knock INTERFACE EVERY ADDRESS COUNT
 * ... a socket connects to each of them
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/ip6.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>

#include "sockets.h"

struct station {
    int fd;
    unsigned interface;
    const char *does;
    int every;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6; /* family 0: the address is IPv4 */
};

struct advertisement {
    struct ether_header link;
    struct ip6_hdr ip;
    struct nd_neighbor_advert advert;
    struct nd_opt_hdr option;
    uint8_t mac[6];
} __attribute__((packed));

/* The checksum of ICMPv6 covers a pseudo header (RFC 8200 8.1). */
static uint16_t checksum(const struct advertisement *frame)
{
    const size_t size = sizeof *frame - offsetof(struct advertisement, advert);
    const uint8_t *bytes = (const uint8_t *)&frame->ip.ip6_src;
    const size_t count = 2 * sizeof frame->ip.ip6_src + size;
    uint32_t sum = (uint32_t)size + IPPROTO_ICMPV6;

    for (size_t i = 0; i < count; i += 2)
        sum += (uint32_t)(bytes[i] << 8 | bytes[i + 1]);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return htons((uint16_t)~sum);
}

/* Solicited, so that an entry becomes REACHABLE, and with the flag to override the old address. */
static void advertise(const struct station *station, const uint8_t *mac)
{
    static const uint8_t all[] = {0x33, 0x33, 0, 0, 0, 1};
    struct advertisement frame = {.link.ether_type = htons(ETHERTYPE_IPV6)};

    memcpy(frame.link.ether_dhost, all, sizeof all);
    memcpy(frame.link.ether_shost, mac, sizeof frame.link.ether_shost);
    frame.ip.ip6_flow = htonl(6u << 28);
    frame.ip.ip6_plen = htons(sizeof frame - offsetof(struct advertisement, advert));
    frame.ip.ip6_nxt = IPPROTO_ICMPV6;
    frame.ip.ip6_hlim = 255;
    frame.ip.ip6_src = station->v6.sin6_addr;
    inet_pton(AF_INET6, "ff02::1", &frame.ip.ip6_dst);
    frame.advert.nd_na_type = ND_NEIGHBOR_ADVERT;
    frame.advert.nd_na_flags_reserved = ND_NA_FLAG_OVERRIDE;
    frame.advert.nd_na_target = station->v6.sin6_addr;
    frame.option = (struct nd_opt_hdr){ND_OPT_TARGET_LINKADDR, 1};
    memcpy(frame.mac, mac, sizeof frame.mac);
    frame.advert.nd_na_cksum = checksum(&frame);
    if (send(station->fd, &frame, sizeof frame, 0) < 0)
        err(1, "send");
}

static void speak_arp(const struct station *station, const uint8_t *mac, struct in_addr address)
{
    struct {
        struct ether_header link;
        struct ether_arp arp;
        uint8_t padding[18];
    } __attribute__((packed)) frame = {.link.ether_type = htons(ETHERTYPE_ARP)};

    memset(frame.link.ether_dhost, 0xff, sizeof frame.link.ether_dhost);
    memcpy(frame.link.ether_shost, mac, sizeof frame.link.ether_shost);
    frame.arp.ea_hdr =
        (struct arphdr){htons(ARPHRD_ETHER), htons(ETHERTYPE_IP), 6, 4, htons(ARPOP_REQUEST)};
    memcpy(frame.arp.arp_sha, mac, sizeof frame.arp.arp_sha);
    if (strcmp(station->does, "probe") != 0)
        memcpy(frame.arp.arp_spa, &address, sizeof frame.arp.arp_spa);
    memcpy(frame.arp.arp_tpa, &address, sizeof frame.arp.arp_tpa);
    if (send(station->fd, &frame, sizeof frame, 0) < 0)
        err(1, "send");
}

/* Returns the address `i` after the first. */
static struct place place_after(const struct station *station, unsigned i)
{
    struct place place = {.size = sizeof station->v4};
    struct sockaddr_in v4 = station->v4;
    struct sockaddr_in6 v6 = station->v6;
    uint32_t low;

    if (v6.sin6_family) {
        memcpy(&low, &v6.sin6_addr.s6_addr[12], sizeof low);
        low = htonl(ntohl(low) + i);
        memcpy(&v6.sin6_addr.s6_addr[12], &low, sizeof low);
        memcpy(&place.address, &v6, sizeof v6);
        place.size = sizeof v6;
    } else {
        v4.sin_addr.s_addr = htonl(ntohl(v4.sin_addr.s_addr) + i);
        memcpy(&place.address, &v4, sizeof v4);
    }
    return place;
}

static void station_open(struct station *station, const char *interface, const char *address)
{
    const struct place place = place_of(address, 9, 0);
    struct sockaddr_ll to = {.sll_family = AF_PACKET};

    station->interface = if_nametoindex(interface);
    to.sll_ifindex = (int)station->interface;
    if (place.address.ss_family == AF_INET6)
        memcpy(&station->v6, &place.address, sizeof station->v6);
    else
        memcpy(&station->v4, &place.address, sizeof station->v4);
    station->fd = socket(AF_PACKET, SOCK_RAW, 0);
    if (station->fd < 0 || bind(station->fd, (const struct sockaddr *)&to, sizeof to) < 0)
        err(1, "%s", interface);
}

/* Returns false at the end of stdin. */
static bool station_wait(const struct station *station)
{
    struct pollfd pollfd = {.fd = 0, .events = POLLIN};
    char byte;

    return poll(&pollfd, 1, station->every) == 0 || read(0, &byte, 1) > 0;
}

static void send_number(const struct station *station, unsigned i)
{
    struct place place = place_after(station, i);
    const uint8_t mac[] = {2, 0, 0, 1, (uint8_t)(i >> 8), (uint8_t)i};

    if (strcmp(station->does, "many") == 0) {
        speak_arp(station, mac, ((struct sockaddr_in *)&place.address)->sin_addr);
        return;
    }
    /* each address has a socket, which is open for some time */
    static int recent[32];
    int *const fd = &recent[i % ARRAY_SIZE(recent)];
    const bool knocks = strcmp(station->does, "knock") == 0;
    if (*fd)
        close(*fd);
    *fd = socket(place.address.ss_family, (knocks ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK, 0);
    if (*fd < 0)
        err(1, "socket");
    if (connect(*fd, place_address(&place), place.size) == 0)
        (void)!send(*fd, "", 1, 0);
}

int main(int argc, char **argv)
{
    struct station station = {.does = argc > 1 ? argv[1] : ""};
    unsigned i = 0;

    if (argc < 6)
        errx(2, "usage: announce claim|probe|many|scan|knock INTERFACE EVERY ADDRESS MAC...|COUNT");
    station.every = (int)strtol(argv[3], NULL, 10);
    station_open(&station, argv[2], argv[4]);
    printf("ready\n");
    fflush(stdout);
    const bool counts = strcmp(station.does, "claim") != 0 && strcmp(station.does, "probe") != 0;
    const unsigned turns = counts ? (unsigned)strtoul(argv[5], NULL, 10) : (unsigned)argc - 5;
    do {
        const struct ether_addr *mac = counts ? NULL : ether_aton(argv[5 + i % turns]);
        if (counts)
            send_number(&station, i % turns);
        else if (!mac)
            errx(2, "not a MAC address: %s", argv[5 + i % turns]);
        else if (station.v6.sin6_family)
            advertise(&station, mac->ether_addr_octet);
        else
            speak_arp(&station, mac->ether_addr_octet, station.v4.sin_addr);
        i++;
    } while (station_wait(&station));
    return 0;
}
