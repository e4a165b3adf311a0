/* SPDX-License-Identifier: MIT */
/*
 * Records what the kernel says of the neighbours in this network namespace, for tests without one.
 *
 *     record_neighbours DIRECTORY
 *
 * writes DIRECTORY/netlink/neighbours and DIRECTORY/netlink/proxies, the datagrams of two dumps by
 * rtnetlink, each after its length (four bytes in the machine's order), renumbered to sequence 1
 * and port 1; and DIRECTORY/net/arp, /proc/net/arp at the same time.
 */
#include <err.h>
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* What was received last; messages are walked in place. */
static union {
    struct nlmsghdr header;
    char bytes[64 * 1024];
} datagram;

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

static void record_dump(const char *directory, const char *name, uint8_t flags)
{
    const struct {
        struct nlmsghdr header;
        struct ndmsg body;
    } request = {
        .header = {.nlmsg_len = sizeof request,
                   .nlmsg_type = RTM_GETNEIGH,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .body = {.ndm_flags = flags},
    };
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    FILE *file = create(directory, "netlink", name);
    bool done = false;

    if (fd < 0 || send(fd, &request, sizeof request, 0) < 0)
        err(1, "%s", name);
    while (!done) {
        ssize_t size = recv(fd, &datagram, sizeof datagram, 0);
        uint32_t length = (uint32_t)size;
        if (size < 0)
            err(1, "%s", name);
        done = renumber((size_t)size);
        fwrite(&length, sizeof length, 1, file);
        fwrite(&datagram, length, 1, file);
    }
    close(fd);
    if (fclose(file) != 0)
        err(1, "%s", name);
}

static void record_file(const char *directory)
{
    char bytes[4096];
    FILE *from = fopen("/proc/net/arp", "r"), *to = create(directory, "net", "arp");
    size_t size;

    if (!from)
        err(1, "/proc/net/arp");
    while ((size = fread(bytes, 1, sizeof bytes, from)) > 0)
        fwrite(bytes, 1, size, to);
    fclose(from);
    if (fclose(to) != 0)
        err(1, "arp");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        errx(2, "usage: record_neighbours DIRECTORY");
    record_dump(argv[1], "neighbours", 0);
    record_dump(argv[1], "proxies", NTF_PROXY);
    record_file(argv[1]);
    return 0;
}
