/* SPDX-License-Identifier: MIT */
/*
 * Prints what the kernel does to packets of attempts to connect to one port (attempt_probe.h).
 *
 *     attempts tcp|udp PORT
 *
 * Prints "ready" when events are noted, with what it cannot see. For each line on stdin it prints
 * all events so far, a line each, then "end" and the number of lost events.
 */
#include <arpa/inet.h>
#include <err.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/attempt_probe.h"
#include "fastnet/clock.h"
#include "fastnet/rights.h"

static void put_end(const char *name, const struct endpoint *end)
{
    char text[INET6_ADDRSTRLEN] = "-";

    inet_ntop(end->address.family, end->address.bytes, text, sizeof text);
    printf(" %s=%s,%u", name, text, end->port);
}

static void put(const struct attempt_event *event, void *arg)
{
    static const char *const types[] = {"drop", "reset-sent", "reset-received"};

    (void)arg;
    printf("%s%s %s reason=%s netns=%u", types[event->type], event->of_icmp ? "-icmp" : "",
           event->protocol == IPPROTO_TCP ? "tcp" : "udp", event->reason ? event->reason : "-",
           event->netns);
    put_end("from", &event->source);
    put_end("to", &event->destination);
    printf(" flags=%s%s%s%s%s", event->flags & TH_SYN ? "S" : "", event->flags & TH_ACK ? "A" : "",
           event->flags & TH_RST ? "R" : "", event->flags & TH_FIN ? "F" : "",
           event->flags & TH_PUSH ? "P" : "");
    printf(" interface=%u cookie=%" PRIu64 " inode=%" PRIu64 " count=%" PRIu64 "\n",
           event->interface, event->cookie, event->inode, event->count);
}

int main(int argc, char *argv[])
{
    struct attempt_probe_blind blind = {.drops = false};
    struct bpf_refusal refusal = {.error = 0};
    struct attempt_probe *probe;
    char line[16];
    uint64_t lost;

    if (argc != 3)
        errx(2, "usage: attempts tcp|udp PORT");
    if (rights_init() < 0)
        errx(1, "capabilities");
    const uint64_t began = clock_nanoseconds(CLOCK_MONOTONIC);
    probe = attempt_probe_create(strcmp(argv[1], "udp") == 0 ? IPPROTO_UDP : IPPROTO_TCP,
                                 (uint16_t)strtoul(argv[2], NULL, 10), &blind, &refusal);
    if (!probe)
        errx(1, "%s", refusal.reason);
    warnx("%" PRIu64 " us", (clock_nanoseconds(CLOCK_MONOTONIC) - began) / 1000);
    printf("ready%s%s\n", blind.resets ? " without resets" : "",
           blind.reset_reasons ? " without reasons of resets" : "");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        const uint64_t at = clock_nanoseconds(CLOCK_MONOTONIC);
        if (attempt_probe_each(probe, put, NULL, &lost) < 0)
            errx(1, "cannot read the events");
        if (getenv("TIMES"))
            warnx("%" PRIu64 " us to read", (clock_nanoseconds(CLOCK_MONOTONIC) - at) / 1000);
        printf("end lost=%" PRIu64 "\n", lost);
        fflush(stdout);
    }
    attempt_probe_destroy(probe);
    return 0;
}
