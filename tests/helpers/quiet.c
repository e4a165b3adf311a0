/* SPDX-License-Identifier: MIT */
/*
 * Holds sockets that neither send nor receive.
 *
 *     quiet COUNT [UID]
 *     quiet --tcp COUNT
 *
 * For each of COUNT: a TCP connection to port 7100 (127.0.0.1 and ::1 by turns), a UDP socket and
 * an abstract unix socket; further a unix connection that is not accepted. With UID all of them,
 * and the process, are that user's (and group's). A second process holds them too. A third, always
 * of the user who started it, listens on port 7200. Prints "ready" when all are there, and ends
 * when stdin does.
 */
#include <arpa/inet.h>
#include <err.h>
#include <grp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PORT = 7100, OTHER_PORT = 7200, BACKLOG = 64 };

static socklen_t loopback(struct sockaddr_storage *address, int family, uint16_t port)
{
    memset(address, 0, sizeof *address);
    if (family == AF_INET) {
        struct sockaddr_in *inet = (struct sockaddr_in *)address;
        inet->sin_family = AF_INET;
        inet->sin_port = htons(port);
        inet->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return sizeof *inet;
    }
    struct sockaddr_in6 *inet6 = (struct sockaddr_in6 *)address;
    inet6->sin6_family = AF_INET6;
    inet6->sin6_port = htons(port);
    inet6->sin6_addr = in6addr_loopback;
    return sizeof *inet6;
}

static int open_socket(int family, int type)
{
    int fd = socket(family, type, 0);
    if (fd < 0)
        err(1, "socket");
    return fd;
}

static void bind_to(int fd, const struct sockaddr_storage *address, socklen_t length)
{
    if (bind(fd, (const struct sockaddr *)address, length) < 0)
        err(1, "bind");
}

static int listen_on(int family, uint16_t port)
{
    struct sockaddr_storage address;
    int fd = open_socket(family, SOCK_STREAM);
    bind_to(fd, &address, loopback(&address, family, port));
    if (listen(fd, BACKLOG) < 0)
        err(1, "listen");
    return fd;
}

static void connect_pair(int listener, int family)
{
    struct sockaddr_storage address;
    socklen_t length = loopback(&address, family, PORT);
    int fd = open_socket(family, SOCK_STREAM);
    if (connect(fd, (const struct sockaddr *)&address, length) < 0)
        err(1, "connect");
    if (accept(listener, NULL, NULL) < 0)
        err(1, "accept");
}

static void bind_udp(int family)
{
    struct sockaddr_storage address;
    bind_to(open_socket(family, SOCK_DGRAM), &address, loopback(&address, family, 0));
}

static socklen_t abstract(struct sockaddr_storage *storage, const char *name)
{
    struct sockaddr_un *address = (struct sockaddr_un *)storage;
    memset(storage, 0, sizeof *storage);
    address->sun_family = AF_UNIX;
    int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "%s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static void bind_unix(unsigned number)
{
    struct sockaddr_storage address;
    char name[32];
    snprintf(name, sizeof name, "quiet-%u", number);
    bind_to(open_socket(AF_UNIX, SOCK_DGRAM), &address, abstract(&address, name));
}

static void connect_unaccepted(void)
{
    struct sockaddr_storage address;
    socklen_t length = abstract(&address, "quiet-listener");
    int listener = open_socket(AF_UNIX, SOCK_STREAM);
    bind_to(listener, &address, length);
    if (listen(listener, BACKLOG) < 0 ||
        connect(open_socket(AF_UNIX, SOCK_STREAM), (const struct sockaddr *)&address, length) < 0)
        err(1, "unix connection");
}

static void allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        err(1, "getrlimit");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        err(1, "setrlimit");
}

static void wait_for_end(void)
{
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
}

/* Returns in the parent only, which does not keep the sockets. */
static void leave_to_other_process(void)
{
    int listeners[] = {listen_on(AF_INET, OTHER_PORT), listen_on(AF_INET6, OTHER_PORT)};
    pid_t other = fork();
    if (other < 0)
        err(1, "fork");
    if (other == 0) {
        close(STDOUT_FILENO);
        wait_for_end();
        exit(0);
    }
    close(listeners[0]);
    close(listeners[1]);
}

/* The descriptors of a process that changed its user are hidden from that user unless it says so.
 */
static void become(uid_t uid)
{
    if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0 ||
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
        err(1, "user %u", (unsigned)uid);
}

static void open_all(unsigned count)
{
    int listeners[] = {listen_on(AF_INET, PORT), listen_on(AF_INET6, PORT)};
    for (unsigned i = 0; i < count; i++) {
        int family = i % 2 ? AF_INET6 : AF_INET;
        connect_pair(listeners[i % 2], family);
        bind_udp(family);
        bind_unix(i);
    }
    connect_unaccepted();
}

static void open_connections(unsigned count)
{
    int listener = listen_on(AF_INET, PORT);
    for (unsigned i = 0; i < count; i++)
        connect_pair(listener, AF_INET);
}

int main(int argc, char **argv)
{
    bool only_tcp = argc == 3 && strcmp(argv[1], "--tcp") == 0;
    if (argc < 2 || argc > 3)
        errx(2, "usage: quiet COUNT [UID], or quiet --tcp COUNT");
    allow_descriptors();
    leave_to_other_process();
    if (argc > 2 && !only_tcp)
        become((uid_t)strtoul(argv[2], NULL, 10));
    if (only_tcp)
        open_connections((unsigned)strtoul(argv[2], NULL, 10));
    else
        open_all((unsigned)strtoul(argv[1], NULL, 10));
    pid_t second = fork();
    if (second < 0)
        err(1, "fork");
    if (second > 0) {
        puts("ready");
        fflush(stdout);
    }
    wait_for_end();
    return 0;
}
