/* SPDX-License-Identifier: MIT */
/*
 * Records what the kernel says of the sockets in this network namespace, for tests without one.
 *
 *     record DIRECTORY
 *
 * writes DIRECTORY/netlink/TABLE, the datagrams of a sock_diag dump, each after its length (four
 * bytes in the machine's order), renumbered to sequence 1 and port 1; and DIRECTORY/net/TABLE, the
 * table of /proc/net at the same time.
 *
 *     record --flows DIRECTORY
 *
 * does so for what ctnetlink says of connection tracking, and
 *
 *     record --events DIRECTORY
 *
 * for its events, as DIRECTORY/netlink/flow_events and expectation_events: says "ready", then
 * records until its input ends. The ports are then those of the processes that made the changes.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct source {
    const char *name;
    uint8_t family, protocol;
};

static const struct source sources[] = {
    {"tcp", AF_INET, IPPROTO_TCP},
    {"tcp6", AF_INET6, IPPROTO_TCP},
    {"udp", AF_INET, IPPROTO_UDP},
    {"udp6", AF_INET6, IPPROTO_UDP},
    {"udplite", AF_INET, IPPROTO_UDPLITE},
    {"udplite6", AF_INET6, IPPROTO_UDPLITE},
    {"raw", AF_INET, IPPROTO_RAW},
    {"raw6", AF_INET6, IPPROTO_RAW},
    {"unix", AF_UNIX, 0},
};

enum { ALL_STATES = 0xfff };

/* Of ctnetlink: one message of this subsystem and type asks for it. */
struct flow_source {
    const char *name, *file; /* below /proc/net; NULL: none */
    uint16_t subsystem, type, flags;
};

static const struct flow_source flow_sources[] = {
    {"flows", "nf_conntrack", NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_GET, NLM_F_DUMP},
    {"expectations", "nf_conntrack_expect", NFNL_SUBSYS_CTNETLINK_EXP, IPCTNL_MSG_EXP_GET,
     NLM_F_DUMP},
    {"flow_statistics", NULL, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_GET_STATS_CPU, NLM_F_DUMP},
    {"expectation_statistics", NULL, NFNL_SUBSYS_CTNETLINK_EXP, IPCTNL_MSG_EXP_GET_STATS_CPU,
     NLM_F_DUMP},
    {"usage", NULL, NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_GET_STATS, NLM_F_ACK},
};

/* What was received last; messages are walked in place. */
static union {
    struct nlmsghdr header;
    char bytes[64 * 1024];
} datagram;

static void request_inet(int fd, const struct source *source)
{
    const struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 diag;
    } request = {
        .header = {.nlmsg_len = sizeof request,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .diag = {.sdiag_family = source->family,
                 .sdiag_protocol = source->protocol,
                 .idiag_ext = 1 << (INET_DIAG_INFO - 1),
                 .idiag_states = ALL_STATES},
    };

    if (send(fd, &request, sizeof request, 0) < 0)
        err(1, "%s: send", source->name);
}

static void request_unix(int fd, const struct source *source)
{
    const struct {
        struct nlmsghdr header;
        struct unix_diag_req diag;
    } request = {
        .header = {.nlmsg_len = sizeof request,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .diag = {.sdiag_family = AF_UNIX,
                 .udiag_states = ALL_STATES,
                 .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_RQLEN | UDIAG_SHOW_UID},
    };

    if (send(fd, &request, sizeof request, 0) < 0)
        err(1, "%s: send", source->name);
}

/* Returns whether the dump ends with this datagram. */
static bool renumber(size_t size)
{
    bool done = false;

    for (size_t at = 0; at < size;) {
        struct nlmsghdr *message = (struct nlmsghdr *)(void *)(datagram.bytes + at);
        message->nlmsg_seq = message->nlmsg_pid = 1;
        done |= message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR;
        at += NLMSG_ALIGN(message->nlmsg_len);
    }
    return done;
}

static FILE *create(const char *directory, const char *kind, const char *name)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", directory, kind);
    if (mkdir(path, 0777) < 0 && errno != EEXIST)
        err(1, "%s", path);
    snprintf(path, sizeof path, "%s/%s/%s", directory, kind, name);
    file = fopen(path, "w");
    if (!file)
        err(1, "%s", path);
    return file;
}

static int open_netlink(int protocol, uint32_t groups)
{
    const struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) < 0)
        err(1, "netlink socket");
    return fd;
}

/* Returns the size of the next datagram. */
static size_t receive(int fd, const char *name)
{
    ssize_t size = recv(fd, &datagram, sizeof datagram, 0);

    if (size < 0)
        err(1, "%s: recv", name);
    return (size_t)size;
}

static void put_datagram(FILE *file, size_t size)
{
    uint32_t length = (uint32_t)size;

    fwrite(&length, sizeof length, 1, file);
    fwrite(&datagram, size, 1, file);
}

static void finish(FILE *file, const char *name)
{
    if (fclose(file) != 0)
        err(1, "%s", name);
}

static void record_answer(int fd, const char *directory, const char *name)
{
    FILE *file = create(directory, "netlink", name);
    bool done = false;

    while (!done) {
        size_t size = receive(fd, name);
        done = renumber(size);
        put_datagram(file, size);
    }
    close(fd);
    finish(file, name);
}

static void record_sockets(const char *directory, const struct source *source)
{
    int fd = open_netlink(NETLINK_SOCK_DIAG, 0);

    if (source->family == AF_UNIX)
        request_unix(fd, source);
    else
        request_inet(fd, source);
    record_answer(fd, directory, source->name);
}

static void record_flows(const char *directory, const struct flow_source *source)
{
    const struct {
        struct nlmsghdr header;
        struct nfgenmsg general;
    } request = {
        .header = {.nlmsg_len = sizeof request,
                   .nlmsg_type = (uint16_t)(source->subsystem << 8 | source->type),
                   .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | source->flags)},
        .general = {.version = NFNETLINK_V0},
    };
    int fd = open_netlink(NETLINK_NETFILTER, 0);

    if (send(fd, &request, sizeof request, 0) < 0)
        err(1, "%s: send", source->name);
    record_answer(fd, directory, source->name);
}

static uint32_t group(unsigned number)
{
    return UINT32_C(1) << (number - 1);
}

static void record_events(const char *directory)
{
    struct pollfd pollfds[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.events = POLLIN}};
    FILE *flows = create(directory, "netlink", "flow_events");
    FILE *expectations = create(directory, "netlink", "expectation_events");

    pollfds[1].fd = open_netlink(
        NETLINK_NETFILTER, group(NFNLGRP_CONNTRACK_NEW) | group(NFNLGRP_CONNTRACK_UPDATE) |
                               group(NFNLGRP_CONNTRACK_DESTROY) | group(NFNLGRP_CONNTRACK_EXP_NEW) |
                               group(NFNLGRP_CONNTRACK_EXP_DESTROY));
    puts("ready");
    fflush(stdout);
    do {
        if (poll(pollfds, 2, -1) < 0)
            err(1, "poll");
        if (pollfds[1].revents) {
            size_t size = receive(pollfds[1].fd, "events");
            bool expectation = datagram.header.nlmsg_type >> 8 == NFNL_SUBSYS_CTNETLINK_EXP;
            put_datagram(expectation ? expectations : flows, size);
        }
    } while (pollfds[1].revents || !pollfds[0].revents);
    finish(flows, "flow_events");
    finish(expectations, "expectation_events");
}

static void record_file(const char *directory, const char *name)
{
    char path[64], bytes[4096];
    FILE *from, *to = create(directory, "net", name);
    size_t size;

    snprintf(path, sizeof path, "/proc/net/%s", name);
    from = fopen(path, "r");
    if (!from)
        err(1, "%s", path);
    while ((size = fread(bytes, 1, sizeof bytes, from)) > 0)
        fwrite(bytes, 1, size, to);
    fclose(from);
    finish(to, name);
}

int main(int argc, char **argv)
{
    const bool flows = argc == 3 && strcmp(argv[1], "--flows") == 0;
    const bool events = argc == 3 && strcmp(argv[1], "--events") == 0;

    if (argc != 2 && !flows && !events)
        errx(2, "usage: record [--flows | --events] DIRECTORY");
    for (size_t i = 0; argc == 2 && i < sizeof sources / sizeof *sources; i++) {
        record_sockets(argv[1], &sources[i]);
        record_file(argv[1], sources[i].name);
    }
    for (size_t i = 0; flows && i < sizeof flow_sources / sizeof *flow_sources; i++) {
        record_flows(argv[2], &flow_sources[i]);
        if (flow_sources[i].file)
            record_file(argv[2], flow_sources[i].file);
    }
    if (events)
        record_events(argv[2]);
    return 0;
}
