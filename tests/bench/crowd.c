/* SPDX-License-Identifier: MIT */
/*
 * Opens many sockets over several processes, prints "ready" and holds them until its input ends.
 *
 *   crowd tcp|clients|talkers|udp|unix|namespaces COUNT [PROCESSES]
 *
 * TCP sockets are both ends of connections over loopback, plus one listener a process; a process
 * has a listener address of its own and connects from many, so that ports do not run out. One
 * connection of each process comes from port 443, for filters that find little. Clients are the
 * same, but each connects from an address of its own. Of talkers, each connection carries 500 bytes
 * ten times a second. Namespaces are TCP sockets of processes that each have a network namespace of
 * their own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PORT = 7000, RARE_PORT = 443, PORTS_EACH = 20000, PROCESSES_MAX = 250, FILES_SPARE = 64 };
enum { TALK_SIZE = 500, TALK_MS = 100 };

/* Both ends of this process's connections: each pair is a connection. */
static int ends[2 * PORTS_EACH];
static size_t end_count;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "crowd: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static int open_socket(int family, int type)
{
    int fd = socket(family, type, 0);

    if (fd < 0)
        die("socket");
    return fd;
}

/* 127.PROCESS.HIGH.LOW */
static struct sockaddr_in loopback(unsigned process, unsigned host, unsigned port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(127u << 24 | process << 16 | host)};
}

static void bind_to(int fd, const struct sockaddr_in *address)
{
    if (bind(fd, (const struct sockaddr *)address, sizeof *address) < 0)
        die("bind");
}

/* Closing resets: a crowd that leaves must not stay behind in TIME_WAIT. */
static void reset_on_close(int fd)
{
    const struct linger linger = {.l_onoff = 1, .l_linger = 0};

    if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger) < 0)
        die("SO_LINGER");
}

static void open_connection(int listener, const struct sockaddr_in *to, unsigned process,
                            unsigned host, unsigned number)
{
    struct sockaddr_in from = loopback(process, 256 + host, number ? 0 : RARE_PORT);
    const int on = 1;
    int fd = open_socket(AF_INET, SOCK_STREAM);
    int accepted = -1;

    if (setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on) < 0)
        die("IP_BIND_ADDRESS_NO_PORT");
    bind_to(fd, &from);
    reset_on_close(fd);
    if (connect(fd, (const struct sockaddr *)to, sizeof *to) < 0)
        die("connect");
    accepted = accept(listener, NULL, NULL);
    if (accepted < 0)
        die("accept");
    reset_on_close(accepted);
    if (end_count + 2 <= sizeof ends / sizeof *ends) {
        ends[end_count++] = fd;
        ends[end_count++] = accepted;
    }
}

static void open_connections(unsigned process, unsigned count, unsigned each_host)
{
    struct sockaddr_in address = loopback(process, 1, PORT);
    int listener = open_socket(AF_INET, SOCK_STREAM);

    bind_to(listener, &address);
    if (listen(listener, 16) < 0)
        die("listen");
    for (unsigned i = 0; i < count / 2; i++)
        open_connection(listener, &address, process, i / each_host, i);
}

static void open_tcp(unsigned process, unsigned count)
{
    open_connections(process, count, PORTS_EACH);
}

static void open_clients(unsigned process, unsigned count)
{
    open_connections(process, count, 1);
}

static void open_udp(unsigned process, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct sockaddr_in address = loopback(process, 1 + i / PORTS_EACH, PORT + i % PORTS_EACH);
        bind_to(open_socket(AF_INET, SOCK_DGRAM), &address);
    }
}

/* Half of them connected pairs without a name, half listeners on abstract names. */
static void open_unix(unsigned process, unsigned count)
{
    for (unsigned i = 0; i < count / 4; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
            die("socketpair");
    }
    for (unsigned i = 0; i < count / 2; i++) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
                              "crowd/process-%u/socket-%u", process, i);
        int fd = open_socket(AF_UNIX, SOCK_STREAM);
        if (bind(fd, (const struct sockaddr *)&address,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) < 0 ||
            listen(fd, 16) < 0)
            die("abstract socket");
    }
}

static void enter_namespace(void)
{
    struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int fd;

    if (unshare(CLONE_NEWNET) < 0)
        die("unshare");
    fd = open_socket(AF_INET, SOCK_DGRAM);
    if (ioctl(fd, SIOCSIFFLAGS, &up) < 0)
        die("lo");
    close(fd);
}

static void open_namespace(unsigned process, unsigned count)
{
    enter_namespace();
    open_connections(process, count, PORTS_EACH);
}

struct crowd {
    const char *name;
    void (*open)(unsigned process, unsigned count);
    bool talks;
};

static const struct crowd crowds[] = {
    {"tcp", open_tcp, false},    {"clients", open_clients, false},
    {"talkers", open_tcp, true}, {"udp", open_udp, false},
    {"unix", open_unix, false},  {"namespaces", open_namespace, false},
};

static const struct crowd *crowd_find(const char *name)
{
    for (size_t i = 0; i < sizeof crowds / sizeof *crowds; i++)
        if (strcmp(crowds[i].name, name) == 0)
            return &crowds[i];
    return NULL;
}

static void allow_files(unsigned count)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        die("getrlimit");
    limit.rlim_cur = count + FILES_SPARE;
    if (limit.rlim_max < limit.rlim_cur)
        limit.rlim_max = limit.rlim_cur; /* root may */
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        die("setrlimit");
}

/* Until hold ends. */
static void talk(int hold)
{
    struct pollfd end = {.fd = hold};
    char bytes[TALK_SIZE] = {0};

    while (poll(&end, 1, TALK_MS) == 0)
        for (size_t i = 0; i < end_count; i += 2)
            if (send(ends[i], bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ||
                recv(ends[i + 1], bytes, sizeof bytes, 0) < 0)
                die("talk");
}

/* Opens its share, says so by a byte to ready, and stays until hold ends. */
static _Noreturn void member(const struct crowd *crowd, unsigned process, unsigned count, int ready,
                             int hold)
{
    char byte = 1;

    allow_files(count);
    crowd->open(process, count);
    if (write(ready, &byte, 1) != 1)
        die("ready");
    close(ready);
    if (crowd->talks)
        talk(hold);
    while (read(hold, &byte, 1) > 0)
        ;
    _exit(EXIT_SUCCESS);
}

/*
 * Returns when every member is ready, with the descriptor that holds them: when it is closed, also
 * by the end of this process, they leave.
 */
static int gather(const struct crowd *crowd, unsigned count, unsigned processes)
{
    int ready[2];
    int hold[2];

    if (pipe(ready) < 0 || pipe(hold) < 0)
        die("pipe");
    for (unsigned i = 0; i < processes; i++) {
        pid_t pid = fork();
        if (pid < 0)
            die("fork");
        if (pid == 0) {
            close(ready[0]);
            close(hold[1]);
            member(crowd, i + 1, count / processes, ready[1], hold[0]);
        }
    }
    close(ready[1]);
    for (unsigned i = 0; i < processes; i++) {
        char byte;
        if (read(ready[0], &byte, 1) != 1)
            die("a member failed");
    }
    return hold[1];
}

int main(int argc, char **argv)
{
    const struct crowd *crowd = argc > 2 ? crowd_find(argv[1]) : NULL;
    unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    unsigned long processes = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
    char byte;

    if (!crowd || count == 0 || processes == 0 || processes > PROCESSES_MAX) {
        fprintf(stderr, "usage: crowd tcp|clients|talkers|udp|unix|namespaces COUNT [PROCESSES]\n");
        return 2;
    }
    int hold = gather(crowd, (unsigned)count, (unsigned)processes);
    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    close(hold);
    while (wait(NULL) > 0)
        ;
    return EXIT_SUCCESS;
}
