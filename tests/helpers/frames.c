/* SPDX-License-Identifier: MIT */
/*
 * Floods an interface with small frames to 198.18.0.1:443.
 *
 *     frames INTERFACE COUNT FLOWS            of UDP, in FLOWS flows from 10.0.0.0 on
 *     frames INTERFACE COUNT random LARGE     SYNs from random sources, and among them large flows
 *
 * Of large flows the first, from 192.0.2.1, has a thousandth of the frames, the next two, ... The
 * large flows are spread over the whole flood.
 */
#include "frames.h"

#include <netinet/in.h>

static void spread(struct frames *frames, long count, long flows)
{
    for (long i = 0; i < count; i++)
        frames_add(frames, IPPROTO_UDP, 0x0a000000 + (uint32_t)(i % flows), 1024);
}

/* Marsaglia's xorshift; others in each process. */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void flood(struct frames *frames, long count, long large)
{
    uint64_t state = UINT64_C(88172645463325252) ^ (uint64_t)getpid();

    for (long i = 0; i < count; i++) {
        const long turn = i % 1000;
        long flow = 1, before = 0;
        while (flow <= large && turn >= before + flow)
            before += flow++;
        if (flow <= large) {
            frames_add(frames, IPPROTO_TCP, 0xc0000200 + (uint32_t)flow, 1024);
        } else {
            const uint64_t number = random_next(&state);
            frames_add(frames, IPPROTO_TCP, (uint32_t)(number >> 32), (uint16_t)(number >> 16));
        }
    }
}

int main(int argc, char **argv)
{
    static struct frames frames;
    const long count = argc > 3 ? strtol(argv[2], NULL, 10) : 0;

    if (argc == 5 && strcmp(argv[3], "random") == 0 && count > 0) {
        frames_open(&frames, argv[1]);
        flood(&frames, count, strtol(argv[4], NULL, 10));
    } else if (argc == 4 && count > 0 && strtol(argv[3], NULL, 10) > 0) {
        frames_open(&frames, argv[1]);
        spread(&frames, count, strtol(argv[3], NULL, 10));
    } else {
        errx(2, "usage: frames INTERFACE COUNT FLOWS | frames INTERFACE COUNT random LARGE");
    }
    frames_send(&frames);
    return 0;
}
