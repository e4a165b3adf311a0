/* SPDX-License-Identifier: MIT */
/*
 * Makes one of every socket, prints "ready" and holds them until stdin ends.
 *
 *     zoo [--plain] DIRECTORY DEVICE
 *
 * DIRECTORY takes the unix sockets. DEVICE is up and has the address fe80::1. --plain leaves out
 * all text that listings may show in different ways: control bytes, backslashes, bytes that are
 * not UTF-8 and socket names with blanks or '@'.
 *
 * No firewall is needed to get TCP sockets stuck half way: a socket filter (socket(7),
 * SO_ATTACH_FILTER) that drops what arrives makes a peer deaf.
 */
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "sockets.h"

/* Users: one that has a name everywhere, one that has none, one that tests give a long name. */
enum { NOBODY = 65534, NAMELESS = 12345, LONG_NAMED = 12346 };
#define BEYOND_INT UINT32_C(4000000000) /* netstat shows it as a negative number */

struct zoo {
    bool plain;
    const char *device;
    int lifeline[2]; /* children live as long as its writing end is open */
};

/* A string with its length, for names that hold NUL. */
struct name {
    const char *data;
    size_t length;
};

#define NAME(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

/* Starts a connection that may never be answered. */
static void connect_start(int fd, struct place place)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        err(1, "fcntl");
    if (connect(fd, place_address(&place), place.size) < 0 && errno != EINPROGRESS)
        err(1, "connect");
}

/* Drops everything that arrives at the socket. */
static void make_deaf(int fd)
{
    struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
    filter_attach(fd, code, ARRAY_SIZE(code));
}

/* Lets only the first segment of a connection in: flags (RFC 9293, 3.1) are exactly SYN. */
static void hear_only_syn(int fd)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0xffff),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    filter_attach(fd, code, ARRAY_SIZE(code));
}

static void wait_for_state(int fd, int state)
{
    for (int i = 0; i < 2000; i++) {
        struct tcp_info info;
        socklen_t size = sizeof info;
        if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
            err(1, "TCP_INFO");
        if (info.tcpi_state == state)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    errx(1, "a socket never reached TCP state %d", state);
}

static void make_established(int listener)
{
    pair_open(listener);

    struct pair unread = pair_open(listener);
    send_bytes(unread.client, "unread");

    struct pair alive = pair_open(listener);
    option_set(alive.client, SOL_SOCKET, SO_KEEPALIVE, 1);
    option_set(alive.client, IPPROTO_TCP, TCP_KEEPIDLE, 600);

    struct pair unanswered = pair_open(listener);
    make_deaf(unanswered.server);
    send_bytes(unanswered.client, "again and again");
}

/* Sends until the receiver's window is full, for good: what is left waits for the probe timer. */
static void make_zero_window(const char *host)
{
    static const char block[4096];
    int listener = tcp_bound(place_of(host, 0, 0), false);
    option_set(listener, SOL_SOCKET, SO_RCVBUF, 4096);
    if (listen(listener, 8) < 0)
        err(1, "listen");
    struct pair pair = pair_open(listener);
    for (int i = 0; i < 100; i++) {
        while (send(pair.client, block, sizeof block, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
            i = 0;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

/*
 * Nobody holds the client any more: FIN_WAIT2 as one of the small sockets of TIME_WAIT, or whole
 * with a timer when it is to linger for longer than those live (a minute).
 */
static void make_orphan(int listener, int linger_seconds)
{
    struct pair orphan = pair_open(listener);
    if (linger_seconds > 0)
        option_set(orphan.client, IPPROTO_TCP, TCP_LINGER2, linger_seconds);
    close(orphan.client);
    wait_for_state(orphan.server, TCP_CLOSE_WAIT);
}

static void make_closing_states(int listener)
{
    struct pair half = pair_open(listener);
    shutdown(half.client, SHUT_WR);
    wait_for_state(half.client, TCP_FIN_WAIT2);
    wait_for_state(half.server, TCP_CLOSE_WAIT);

    make_orphan(listener, 0);
    make_orphan(listener, 120);

    struct pair first = pair_open(listener);
    make_deaf(first.server);
    shutdown(first.client, SHUT_WR);
    wait_for_state(first.client, TCP_FIN_WAIT1);

    struct pair last = pair_open(listener);
    shutdown(last.client, SHUT_WR);
    wait_for_state(last.server, TCP_CLOSE_WAIT);
    make_deaf(last.client);
    shutdown(last.server, SHUT_WR);
    wait_for_state(last.server, TCP_LAST_ACK);

    struct pair both = pair_open(listener);
    make_deaf(both.server);
    shutdown(both.client, SHUT_WR);
    wait_for_state(both.client, TCP_FIN_WAIT1);
    shutdown(both.server, SHUT_WR);
    wait_for_state(both.client, TCP_CLOSING);

    struct pair done = pair_open(listener);
    close(done.client);
    wait_for_state(done.server, TCP_CLOSE_WAIT);
    close(done.server);
}

static void make_opening_states(const char *host)
{
    int deaf = tcp_listen(place_of(host, 0, 0), 8);
    make_deaf(deaf);
    int sent = socket_new(place_bound_to(deaf).address.ss_family, SOCK_STREAM, 0);
    connect_start(sent, place_bound_to(deaf));
    wait_for_state(sent, TCP_SYN_SENT);

    int half = tcp_listen(place_of(host, 0, 0), 8);
    hear_only_syn(half);
    int received = socket_new(place_bound_to(half).address.ss_family, SOCK_STREAM, 0);
    connect_start(received, place_bound_to(half));
    wait_for_state(received, TCP_ESTABLISHED);

    int full = tcp_listen(place_of(host, 0, 0), 1);
    for (int i = 0; i < 3; i++) {
        int fd = socket_new(place_bound_to(full).address.ss_family, SOCK_STREAM, 0);
        connect_start(fd, place_bound_to(full));
    }
}

static void make_twins(const char *host)
{
    for (int i = 0; i < 2; i++)
        if (listen(tcp_bound(place_of(host, 8080, 0), true), 16) < 0)
            err(1, "listen");
}

static void make_tcp(const char *loopback, const char *any)
{
    int listener = tcp_listen(place_of(loopback, 22, 0), 64);
    tcp_listen(place_of(any, 80, 0), 64);
    tcp_listen(place_of(loopback, 54321, 0), 64);
    tcp_bound(place_of(loopback, 8081, 0), false); /* bound only: no listing of netstat has it */
    make_twins(any);
    make_established(listener);
    make_zero_window(loopback);
    make_closing_states(listener);
    make_opening_states(loopback);
}

/* One socket that takes both families, and peers that show as v4-mapped. */
static void make_mapped(void)
{
    int fd = socket_new(AF_INET6, SOCK_STREAM, 0);
    option_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    bind_to(fd, place_of("::", 443, 0));
    if (listen(fd, 64) < 0)
        err(1, "listen");
    pair_to(fd, place_of("127.0.0.1", 443, 0));
    struct pair done = pair_to(fd, place_of("127.0.0.2", 443, 0));
    close(done.client);
    wait_for_state(done.server, TCP_CLOSE_WAIT);
    close(done.server);

    int mapped = socket_new(AF_INET6, SOCK_STREAM, 0);
    bind_to(mapped, place_of("::ffff:127.0.0.1", 444, 0));
    if (listen(mapped, 64) < 0)
        err(1, "listen");
    int udp = socket_new(AF_INET6, SOCK_DGRAM, 0);
    connect_to(udp, place_of("::ffff:127.0.0.1", 53, 0));
}

static void make_link_local(const char *device)
{
    uint32_t scope = if_nametoindex(device);
    if (scope == 0)
        err(1, "%s", device);
    int listener = tcp_listen(place_of("fe80::1", 7777, scope), 8);
    pair_open(listener);
    int udp = socket_new(AF_INET6, SOCK_DGRAM, 0);
    bind_to(udp, place_of("fe80::1", 7778, scope));
    int peer = socket_new(AF_INET6, SOCK_DGRAM, 0);
    connect_to(peer, place_of("fe80::1", 7778, scope));
}

static void make_datagram(int protocol, const char *loopback, const char *any)
{
    struct place place = place_of(loopback, 5353, 0);
    int family = place.address.ss_family;
    int probe = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
    if (probe < 0 && errno == EPROTONOSUPPORT)
        return; /* UDP-Lite: not every kernel has it */
    close(probe);

    int server = socket_new(family, SOCK_DGRAM, protocol);
    bind_to(server, place);
    int client = socket_new(family, SOCK_DGRAM, protocol);
    connect_to(client, place);
    send_bytes(client, "unread");
    for (int i = 0; i < 2; i++) {
        int twin = socket_new(family, SOCK_DGRAM, protocol);
        option_set(twin, SOL_SOCKET, SO_REUSEPORT, 1);
        if (family == AF_INET6)
            option_set(twin, IPPROTO_IPV6, IPV6_V6ONLY, 1);
        bind_to(twin, place_of(any, 53, 0));
    }
}

static void make_raw(int family, int protocol, const char *loopback)
{
    socket_new(family, SOCK_RAW, protocol);
    int bound = socket_new(family, SOCK_RAW, 253); /* for experiments: RFC 3692 */
    bind_to(bound, place_of(loopback, 0, 0));
    int connected = socket_new(family, SOCK_RAW, 253);
    connect_to(connected, place_of(loopback, 0, 0));
    send_bytes(connected, "unread");
    socket_new(family, SOCK_RAW, IPPROTO_RAW);
}

static int unix_bound(int type, const char *name, size_t length)
{
    struct place place = {.size = 0};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (length > sizeof address.sun_path)
        errx(1, "name too long");
    memcpy(address.sun_path, name, length);
    memcpy(&place.address, &address, sizeof address);
    place.size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    int fd = socket_new(AF_UNIX, type, 0);
    bind_to(fd, place);
    return fd;
}

/* A listener with one connection accepted and one that waits. */
static void make_unix_server(int type, const char *name)
{
    int listener = unix_bound(type, name, strlen(name));
    if (listen(listener, 8) < 0)
        err(1, "listen");
    int client = socket_new(AF_UNIX, type, 0);
    connect_to(client, place_bound_to(listener));
    if (accept4(listener, NULL, NULL, SOCK_CLOEXEC) < 0)
        err(1, "accept");
    send_bytes(client, "unread");
    int waiting = socket_new(AF_UNIX, type, 0);
    connect_to(waiting, place_bound_to(listener));
}

static void make_unix_pair(int type)
{
    int fds[2];
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) < 0)
        err(1, "socketpair");
}

static void make_unix(void)
{
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
    static const struct name names[] = {
        NAME("bound.socket"),        NAME("\0abstract"), NAME("\0NULs\0in\0side\0\0"), NAME("\0"),
        NAME("gr\303\266\303\237e"), NAME(""), /* the last: the kernel finds a name */
    };
    char longest[sizeof(((struct sockaddr_un *)0)->sun_path)];
    memset(longest, 'l', sizeof longest);

    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        socket_new(AF_UNIX, types[i], 0);
        make_unix_pair(types[i]);
    }
    make_unix_server(SOCK_STREAM, "stream.socket");
    make_unix_server(SOCK_SEQPACKET, "seqpacket.socket");
    int datagrams = unix_bound(SOCK_DGRAM, "dgram.socket", strlen("dgram.socket"));
    int client = socket_new(AF_UNIX, SOCK_DGRAM, 0);
    connect_to(client, place_bound_to(datagrams));
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        unix_bound(SOCK_DGRAM, names[i].data, names[i].length);
    unix_bound(SOCK_STREAM, longest, sizeof longest);
}

static void make_awkward_unix(void)
{
    static const struct name names[] = {
        NAME("with two blanks"),   NAME("line\nbreak"),
        NAME("escape\033[31mred"), NAME("invalid\377\300\257utf8"),
        NAME("back\\slash"),       NAME("quote\"comma,"),
        NAME("@not-abstract"),     NAME("override\342\200\256txt\342\200\254"),
        NAME("c1\302\233csi"),     NAME("\0abstract @ with\0\033\n\377\\"),
    };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        unix_bound(SOCK_DGRAM, names[i].data, names[i].length);
}

/* In a child: become user, keep only the socket and the lifeline, hold under another name. */
static _Noreturn void keep(const struct zoo *zoo, int fd, uid_t user, const char *argv0,
                           const char *comm)
{
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (self < 0 || dup2(zoo->lifeline[0], STDIN_FILENO) < 0 || (fd >= 0 && dup2(fd, 3) < 0))
        _exit(126);
    if (user != 0 && (setgroups(0, NULL) < 0 || setgid(user) < 0 || setuid(user) < 0))
        _exit(125); /* a user namespace with one user only */
    char *name = strdup(comm);
    char *first = strdup(argv0);
    char command[] = "hold";
    char *const arguments[] = {first, command, name, NULL};
    char *const environment[] = {NULL};
    fexecve(self, arguments, environment);
    _exit(127);
}

/*
 * argv0 NULL: a plain fork that shares the socket. All other descriptors of this process close on
 * exec; descriptor 3 of the child is the socket.
 */
static void spawn(const struct zoo *zoo, int fd, uid_t user, const char *argv0, const char *comm)
{
    int started[2];
    if (pipe2(started, O_CLOEXEC) < 0)
        err(1, "pipe");
    pid_t child = fork();
    if (child < 0)
        err(1, "fork");
    if (child == 0) {
        if (dup2(started[1], STDOUT_FILENO) < 0)
            _exit(126);
        keep(zoo, fd, user, argv0, comm);
    }
    close(started[1]);
    char byte;
    if (read(started[0], &byte, 1) != 1) {
        if (user == 0)
            errx(1, "a child did not start");
        waitpid(child, NULL, 0); /* what it has open would be hidden otherwise */
    }
    close(started[0]);
}

/* The child's life: says that it goes by its name, then waits for the parent's end. */
static int hold(const char *comm)
{
    char byte = 0;
    prctl(PR_SET_NAME, comm);
    if (write(STDOUT_FILENO, "+", 1) != 1)
        return 1;
    close(STDOUT_FILENO);
    return read(STDIN_FILENO, &byte, 1) < 0;
}

static void make_users(const struct zoo *zoo)
{
    static const uid_t users[] = {NOBODY, NAMELESS, LONG_NAMED, BEYOND_INT};
    size_t count = ARRAY_SIZE(users) - zoo->plain;
    for (size_t i = 0; i < count; i++) {
        uint16_t port = (uint16_t)(9000 + i);
        int tcp = tcp_listen(place_of("127.0.0.1", port, 0), 8);
        if (fchown(tcp, users[i], users[i]) < 0 && errno != EINVAL)
            err(1, "fchown");
        spawn(zoo, tcp, users[i], "other", "other");
        close(tcp);
    }
}

static void make_shared(const struct zoo *zoo)
{
    int fd = tcp_listen(place_of("127.0.0.1", 9100, 0), 8);
    spawn(zoo, fd, 0, "first", "first");
    spawn(zoo, fd, 0, "second", "second");
    spawn(zoo, fd, 0, "third", "third");
}

/* comm NULL: the same as the name. */
static void make_named(const struct zoo *zoo, uint16_t port, const char *comm,
                       const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int fd = tcp_listen(place_of("127.0.0.1", (uint16_t)(port + i), 0), 8);
        spawn(zoo, fd, 0, names[i], comm != NULL ? comm : names[i]);
        close(fd);
    }
}

static void make_processes(const struct zoo *zoo)
{
    static const char *const plain[] = {
        "/usr/sbin/daemon",
        "/usr/sbin/a-daemon-with-a-very-long-name",
        "nginx: worker process",
        "",
        "(sd-pam)",
        "a) S 1 (b",
        "\",pid=1,fd=3",
        "relative/path/name",
        "gr\303\266\303\237e",
        "-bash",
        "/",
        "/trailing/",
    };
    static const char *const awkward[] = {
        "line\nbreak",
        "\033[31mred",
        "back\\slash",
        "invalid\377utf8",
        "tab\tname",
        "a)\n1 (x) S",
        "eighteen-letters-\342\202\254",
        "\342\200\256over\342\200\254",
    };
    make_users(zoo);
    make_shared(zoo);
    make_named(zoo, 9200, "comm", plain, ARRAY_SIZE(plain));
    if (!zoo->plain)
        make_named(zoo, 9300, NULL, awkward, ARRAY_SIZE(awkward));
}

static void make_everything(const struct zoo *zoo)
{
    make_tcp("127.0.0.1", "0.0.0.0");
    make_tcp("::1", "::");
    make_mapped();
    make_link_local(zoo->device);
    make_datagram(IPPROTO_UDP, "127.0.0.1", "0.0.0.0");
    make_datagram(IPPROTO_UDP, "::1", "::");
    make_datagram(IPPROTO_UDPLITE, "127.0.0.1", "0.0.0.0");
    make_datagram(IPPROTO_UDPLITE, "::1", "::");
    make_raw(AF_INET, IPPROTO_ICMP, "127.0.0.1");
    make_raw(AF_INET6, IPPROTO_ICMPV6, "::1");
    make_unix();
    if (!zoo->plain)
        make_awkward_unix();
    make_processes(zoo);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "hold") == 0)
        return hold(argv[2]);

    struct zoo zoo = {.plain = argc == 4 && strcmp(argv[1], "--plain") == 0};
    if (argc != (zoo.plain ? 4 : 3))
        errx(2, "usage: zoo [--plain] DIRECTORY DEVICE");
    zoo.device = argv[argc - 1];
    if (chdir(argv[argc - 2]) < 0)
        err(1, "%s", argv[argc - 2]);
    if (pipe2(zoo.lifeline, O_CLOEXEC) < 0)
        err(1, "pipe");
    signal(SIGPIPE, SIG_IGN);

    make_everything(&zoo);
    hold_until_end();
    close(zoo.lifeline[1]);
    pid_t child;
    do {
        child = wait(NULL);
    } while (child > 0);
    return 0;
}
