/* SPDX-License-Identifier: MIT */
/* Small frames by AF_PACKET, as fast as one processor makes them. The peer's machine ignores them:
 * it has another link-layer address. */
#ifndef HELPERS_FRAMES_H
#define HELPERS_FRAMES_H

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FRAME_BYTES = 60, FRAMES_BATCH = 64 };

struct frames {
    int fd;
    unsigned count; /* filled */
    uint8_t bytes[FRAMES_BATCH][FRAME_BYTES];
    struct iovec parts[FRAMES_BATCH];
    struct mmsghdr messages[FRAMES_BATCH];
};

static inline void frames_open(struct frames *frames, const char *interface)
{
    const struct sockaddr_ll to = {.sll_family = AF_PACKET,
                                   .sll_protocol = htons(ETHERTYPE_IP),
                                   .sll_ifindex = (int)if_nametoindex(interface)};
    const int yes = 1;

    memset(frames, 0, sizeof *frames);
    frames->fd = socket(AF_PACKET, SOCK_RAW, 0); /* it receives nothing */
    if (frames->fd < 0 || bind(frames->fd, (const struct sockaddr *)&to, sizeof to) < 0)
        err(1, "%s", interface);
    (void)setsockopt(frames->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &yes, sizeof yes);
    for (unsigned i = 0; i < FRAMES_BATCH; i++) {
        frames->parts[i] = (struct iovec){frames->bytes[i], FRAME_BYTES};
        frames->messages[i].msg_hdr =
            (struct msghdr){.msg_iov = &frames->parts[i], .msg_iovlen = 1};
    }
}

static inline void frames_send(struct frames *frames)
{
    for (unsigned sent = 0; sent < frames->count;) {
        const int more = sendmmsg(frames->fd, frames->messages + sent, frames->count - sent, 0);
        if (more < 0 && errno != ENOBUFS && errno != EINTR)
            err(1, "sendmmsg");
        sent += more > 0 ? (unsigned)more : 0;
    }
    frames->count = 0;
}

/* One more, of this protocol (IPPROTO_TCP: a SYN), to 198.18.0.1:443; from: host byte order. */
static inline void frames_add(struct frames *frames, uint8_t protocol, uint32_t from,
                              uint16_t from_port)
{
    static const uint8_t begin[] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 46};
    static const uint8_t to[] = {198, 18, 0, 1};
    const uint16_t ports[] = {htons(from_port), htons(443)};
    uint8_t *bytes = frames->bytes[frames->count++];

    from = htonl(from);
    memcpy(bytes, begin, sizeof begin);
    bytes[22] = 64;
    bytes[23] = protocol;
    memcpy(bytes + 26, &from, sizeof from);
    memcpy(bytes + 30, to, sizeof to);
    memcpy(bytes + 34, ports, sizeof ports);
    bytes[46] = 0x50;
    bytes[47] = 2;
    if (frames->count == FRAMES_BATCH)
        frames_send(frames);
}

#endif
