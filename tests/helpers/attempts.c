/* SPDX-License-Identifier: MIT */
/*
 * Prints what the kernel does to packets of attempts to connect to one port (attempt_probe.h).
 *
 *     attempts tcp|udp PORT
 *     attempts flow ADDRESS PORT ADDRESS PORT    the TCP flow between these ends (flow_find.h)
 *
 * Prints "ready" when events are noted, and on stderr what it cannot see. For each line on stdin, a
 * port, it prints all events so far with this port, a line each, then "end" and the number of lost
 * events.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/attempt_probe.h"
#include "fastnet/clock.h"
#include "fastnet/flow_find.h"
#include "fastnet/netlink.h"
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

    const unsigned *port = arg;
    if (event->source.port != *port && event->destination.port != *port)
        return;
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

static struct endpoint end_of(const char *address, const char *port)
{
    struct endpoint end = {.port = (uint16_t)strtoul(port, NULL, 10)};

    end.address.family = strchr(address, ':') ? AF_INET6 : AF_INET;
    if (inet_pton(end.address.family, address, end.address.bytes) != 1)
        errx(2, "no address: %s", address);
    return end;
}

static int put_flow(char *const ends[4])
{
    const struct endpoint source = end_of(ends[0], ends[1]), destination = end_of(ends[2], ends[3]);
    struct netlink *netlink = netlink_create(NULL);
    struct flow_found found;
    const int error =
        netlink ? flow_find(netlink, "/proc", IPPROTO_TCP, &source, &destination, &found) : -ENOMEM;

    netlink_destroy(netlink);
    if (error < 0)
        errx(1, "%s", strerror(-error));
    if (!found.exists) {
        puts("none");
        return 0;
    }
    printf("translated=%d", found.translated);
    put_end("from", &found.source);
    put_end("to", &found.destination);
    puts("");
    return 0;
}

static void put_events(struct attempt_probe *probe, unsigned port)
{
    const uint64_t began = clock_nanoseconds(CLOCK_MONOTONIC);
    uint64_t lost;

    if (attempt_probe_each(probe, put, &port, &lost) < 0)
        errx(1, "cannot read the events");
    if (getenv("TIMES"))
        warnx("%" PRIu64 " us to read", (clock_nanoseconds(CLOCK_MONOTONIC) - began) / 1000);
    printf("end lost=%" PRIu64 "\n", lost);
    fflush(stdout);
}

int main(int argc, char *argv[])
{
    struct attempt_probe_blind blind = {.drops = false};
    struct bpf_refusal refusal = {.error = 0};
    struct attempt_probe *probe;
    char line[16];

    if (rights_init() < 0)
        errx(1, "capabilities");
    if (argc == 6 && strcmp(argv[1], "flow") == 0)
        return put_flow(argv + 2);
    if (argc != 3)
        errx(2, "usage: attempts tcp|udp PORT, or attempts flow ADDRESS PORT ADDRESS PORT");
    const uint64_t began = clock_nanoseconds(CLOCK_MONOTONIC);
    probe = attempt_probe_create(strcmp(argv[1], "udp") == 0 ? IPPROTO_UDP : IPPROTO_TCP,
                                 (uint16_t)strtoul(argv[2], NULL, 10), &blind, &refusal);
    if (!probe)
        errx(1, "%s", refusal.reason);
    if (getenv("TIMES"))
        warnx("%" PRIu64 " us", (clock_nanoseconds(CLOCK_MONOTONIC) - began) / 1000);
    if (blind.resets || blind.reset_reasons)
        warnx("cannot see %s", blind.resets ? "resets" : "reasons of resets");
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        put_events(probe, (unsigned)strtoul(line, NULL, 10));
    attempt_probe_destroy(probe);
    return 0;
}
