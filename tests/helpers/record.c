/*
 * Records what the kernel says of the sockets in this network namespace, for tests without one.
 *
 *     record DIRECTORY
 *
 * writes DIRECTORY/netlink/TABLE, the datagrams of a sock_diag dump, each after its length (four
 * bytes in the machine's order), renumbered to sequence 1 and port 1; and DIRECTORY/net/TABLE, the
 * table of /proc/net at the same time.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
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

static void record_dump(const char *directory, const struct source *source)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    FILE *file = create(directory, "netlink", source->name);
    bool done = false;

    if (fd < 0)
        err(1, "socket");
    if (source->family == AF_UNIX)
        request_unix(fd, source);
    else
        request_inet(fd, source);
    while (!done) {
        ssize_t size = recv(fd, &datagram, sizeof datagram, 0);
        uint32_t length = (uint32_t)size;
        if (size < 0)
            err(1, "%s: recv", source->name);
        done = renumber((size_t)size);
        fwrite(&length, sizeof length, 1, file);
        fwrite(&datagram, length, 1, file);
    }
    close(fd);
    if (fclose(file) != 0)
        err(1, "%s", source->name);
}

static void record_file(const char *directory, const struct source *source)
{
    char path[64], bytes[4096];
    FILE *from, *to = create(directory, "net", source->name);
    size_t size;

    snprintf(path, sizeof path, "/proc/net/%s", source->name);
    from = fopen(path, "r");
    if (!from)
        err(1, "%s", path);
    while ((size = fread(bytes, 1, sizeof bytes, from)) > 0)
        fwrite(bytes, 1, size, to);
    fclose(from);
    if (fclose(to) != 0)
        err(1, "%s", source->name);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        errx(2, "usage: record DIRECTORY");
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        record_dump(argv[1], &sources[i]);
        record_file(argv[1], &sources[i]);
    }
    return 0;
}
