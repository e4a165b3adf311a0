/* SPDX-License-Identifier: MIT */
/*
 * Makes network namespaces with sockets that no process holds: one KIND in each, beside sockets
 * that a process holds.
 *
 *     unheld KIND...
 *
 * Prints "KIND INODE PROCESS" for each namespace, in which that process is, then "ready"; ends when
 * stdin does.
 */
#include <arpa/inet.h>
#include <err.h>
#include <linux/io_uring.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { MPTCP = 262 };

struct pair {
    int listener, client, server;
};

static int sock(int family, int type, int protocol)
{
    const int fd = socket(family, type, protocol);

    if (fd < 0)
        err(1, "socket %d %d %d", family, type, protocol);
    return fd;
}

static int bound(int family, int type, int protocol)
{
    const struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const struct sockaddr_in v4 = {.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = sock(family, type, protocol);

    if (family == AF_INET ? bind(fd, (const void *)&v4, sizeof v4) < 0
                          : bind(fd, (const void *)&v6, sizeof v6) < 0)
        err(1, "bind");
    return fd;
}

static int listener(int family, int protocol)
{
    const int fd = bound(family, SOCK_STREAM, protocol);

    if (listen(fd, 8) < 0)
        err(1, "listen");
    return fd;
}

static int client(int family, int protocol, int to)
{
    const int fd = sock(family, SOCK_STREAM, protocol);
    struct sockaddr_storage address;
    socklen_t size = sizeof address;

    if (getsockname(to, (struct sockaddr *)&address, &size) < 0 ||
        connect(fd, (const struct sockaddr *)&address, size) < 0)
        err(1, "connect");
    return fd;
}

static struct pair connected(int family, int protocol)
{
    struct pair pair = {.listener = listener(family, protocol)};

    pair.client = client(family, protocol, pair.listener);
    pair.server = accept(pair.listener, NULL, NULL);
    if (pair.server < 0)
        err(1, "accept");
    return pair;
}

/* More than the other end takes. */
static void fill(int fd)
{
    static const char bytes[65536];

    while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        continue;
}

/* Nobody but a queue holds it from now on. */
static void put_on_the_way(int fd)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))]; /* cppcheck-suppress unusedStructMember */
    } control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    char nothing = 0;
    struct iovec byte = {&nothing, 1};
    const struct msghdr message = {.msg_iov = &byte,
                                   .msg_iovlen = 1,
                                   .msg_control = &control,
                                   .msg_controllen = sizeof control};
    int ends[2];

    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0 || sendmsg(ends[0], &message, 0) < 0)
        err(1, "SCM_RIGHTS");
    close(fd);
}

/* Like put_on_the_way(). */
static void give_to_io_uring(int fd)
{
    struct io_uring_params params = {.flags = 0};
    const long ring = syscall(SYS_io_uring_setup, 1, &params);

    if (ring < 0 || syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, &fd, 1) < 0)
        err(77, "io_uring");
    close(fd);
}

static void orphan(int family, const char *which)
{
    const struct pair pair = connected(family, 0);
    const int longest = 120;

    if (strcmp(which, "fin-wait2") == 0 &&
        setsockopt(pair.client, IPPROTO_TCP, TCP_LINGER2, &longest, sizeof longest) < 0)
        err(1, "TCP_LINGER2");
    if (strcmp(which, "fin-wait2") != 0)
        fill(pair.client);
    if (strcmp(which, "last-ack") == 0)
        shutdown(pair.server, SHUT_WR);
    close(pair.client);
    if (strcmp(which, "closing") == 0)
        shutdown(pair.server, SHUT_WR);
}

static void time_wait(int family)
{
    const struct pair pair = connected(family, 0);

    close(pair.client);
    close(pair.server);
}

/* With this option a connection is half-open until data comes. */
static void half_open(int family)
{
    const int fd = listener(family, 0), seconds = 100;

    if (setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds) < 0)
        err(1, "TCP_DEFER_ACCEPT");
    client(family, 0, fd);
}

static void mapped(void)
{
    const struct sockaddr_in6 any = {.sin6_family = AF_INET6};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 address = {.sin6_port = 0};
    socklen_t size = sizeof address;
    const int fd = sock(AF_INET6, SOCK_STREAM, 0);

    if (bind(fd, (const void *)&any, sizeof any) < 0 || listen(fd, 8) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) < 0)
        err(1, "mapped");
    v4.sin_port = address.sin6_port;
    if (connect(sock(AF_INET, SOCK_STREAM, 0), (const void *)&v4, sizeof v4) < 0)
        err(1, "connect");
}

/* Returns false if there is no such kind. "none" and "vxlan" have only what is held. */
static bool make(const char *kind)
{
    if (strcmp(kind, "time-wait") == 0 || strcmp(kind, "time-wait6") == 0)
        time_wait(strcmp(kind, "time-wait") == 0 ? AF_INET : AF_INET6);
    else if (strcmp(kind, "fin-wait2-timer") == 0)
        close(connected(AF_INET, 0).client);
    else if (strcmp(kind, "fin-wait1") == 0 || strcmp(kind, "fin-wait2") == 0 ||
             strcmp(kind, "last-ack") == 0 || strcmp(kind, "closing") == 0)
        orphan(AF_INET, kind);
    else if (strcmp(kind, "half-open") == 0 || strcmp(kind, "half-open6") == 0)
        half_open(strcmp(kind, "half-open") == 0 ? AF_INET : AF_INET6);
    else if (strcmp(kind, "not-accepted") == 0)
        client(AF_INET, 0, listener(AF_INET, 0));
    else if (strcmp(kind, "not-accepted6") == 0)
        client(AF_INET6, 0, listener(AF_INET6, 0));
    else if (strcmp(kind, "not-accepted-mapped") == 0)
        mapped();
    else if (strcmp(kind, "listener") == 0)
        put_on_the_way(listener(AF_INET, 0));
    else if (strcmp(kind, "bound") == 0)
        put_on_the_way(bound(AF_INET, SOCK_STREAM, 0));
    else if (strcmp(kind, "udp") == 0 || strcmp(kind, "udp6") == 0)
        put_on_the_way(bound(strcmp(kind, "udp") == 0 ? AF_INET : AF_INET6, SOCK_DGRAM, 0));
    else if (strcmp(kind, "udplite") == 0)
        put_on_the_way(bound(AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE));
    else if (strcmp(kind, "raw") == 0)
        put_on_the_way(bound(AF_INET, SOCK_RAW, IPPROTO_ICMP));
    else if (strcmp(kind, "io-uring") == 0)
        give_to_io_uring(listener(AF_INET6, 0));
    else if (strcmp(kind, "mptcp") == 0)
        connected(AF_INET, MPTCP);
    else if (strcmp(kind, "mptcp-bound") == 0)
        bound(AF_INET, SOCK_STREAM, MPTCP);
    else
        return strcmp(kind, "none") == 0 || strcmp(kind, "vxlan") == 0;
    return true;
}

/* A process in a namespace of its own. */
static void begin(const char *kind, int ready)
{
    struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    struct stat own;
    char line[128];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (unshare(CLONE_NEWNET) < 0 || stat("/proc/self/ns/net", &own) < 0 ||
        ioctl(sock(AF_INET, SOCK_DGRAM, 0), SIOCSIFFLAGS, &up) < 0)
        err(1, "a namespace");
    connected(AF_INET, 0);
    connected(AF_INET6, 0);
    bound(AF_INET, SOCK_STREAM, 0);
    bound(AF_INET, SOCK_DGRAM, 0);
    bound(AF_INET6, SOCK_DGRAM, 0);
    bound(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    if (!make(kind))
        errx(1, "%s: no such kind", kind);
    snprintf(line, sizeof line, "%s %llu %d\n", kind, (unsigned long long)own.st_ino, getpid());
    if (write(ready, line, strlen(line)) < 0)
        err(1, "write");
    for (;;)
        pause();
}

int main(int argc, char *argv[])
{
    char line[128];
    int ends[2];

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) {
        ssize_t length;
        pid_t child;
        if (pipe(ends) < 0 || (child = fork()) < 0)
            err(1, "process");
        if (child == 0)
            begin(argv[i], ends[1]);
        close(ends[1]);
        length = read(ends[0], line, sizeof line);
        if (length <= 0)
            errx(1, "%s: cannot be made", argv[i]);
        fwrite(line, 1, (size_t)length, stdout);
    }
    puts("ready");
    while (read(STDIN_FILENO, line, sizeof line) > 0)
        continue;
    return 0;
}
