/* SPDX-License-Identifier: MIT */
/*
 * One end of the connections between two programs. Each end runs in a network namespace of its
 * own. Each prints "ready", goes on every EVERY milliseconds, and ends when stdin does.
 *
 *     traffic serve ADDRESS PORT ANSWER                 answers each piece with ANSWER bytes
 *     traffic talk ADDRESS PORT COUNT BYTES EVERY       COUNT connections, BYTES on each
 *     traffic visit ADDRESS PORT COUNT EVERY            ... which are opened, used and closed
 *                       $PEERS: connection i goes to ADDRESS + i % PEERS
 *                       $KEEPALIVE: serve sets SO_KEEPALIVE
 *                       $SOURCE: connection i comes from SOURCE + i % PEERS
 *     traffic ask ADDRESS PORT COUNT EVERY              a datagram from each of COUNT sockets
 *     traffic lookup ADDRESS PORT COUNT EVERY           ... for a time, then from other sockets
 *     traffic resolve ADDRESS PORT COUNT EVERY          ... of a process that has port 53 itself
 *     traffic answer ADDRESS PORT 0                     answers each datagram
 *     traffic try ADDRESS PORT COUNT EVERY              connects, and closes what is refused
 *     traffic scan ADDRESS PORT COUNT EVERY             connects to the next COUNT ports, from PORT
 *     traffic scan-udp ADDRESS PORT COUNT EVERY         sends to them, from port $SOURCE if set
 *
 * HOSTS and PORTS in the environment: each connection goes to the next of this number of IPv4
 * addresses and ports, from ADDRESS and PORT on.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>

#include "sockets.h"

enum { CONNECTIONS_MAX = 4096, CHUNK = 65536 };

struct end {
    struct pollfd sockets[CONNECTIONS_MAX]; /* the first is stdin */
    nfds_t count;
    struct place place;
    long wanted, bytes, every; /* connections, bytes of each piece, milliseconds */
};

static int add(struct end *end, int fd)
{
    if (end->count == CONNECTIONS_MAX)
        errx(1, "too many connections");
    if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
        err(1, "O_NONBLOCK");
    end->sockets[end->count++] = (struct pollfd){.fd = fd, .events = POLLIN};
    return fd;
}

/* A full buffer, or a peer that is gone, is nothing to end for. */
static void write_piece(int fd, long bytes)
{
    static const char nothing[CHUNK];

    while (bytes > 0) {
        const ssize_t sent = send(fd, nothing, bytes < CHUNK ? (size_t)bytes : CHUNK, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes -= sent;
    }
}

/* Returns the place whose address is larger by `more`. Only its last two bytes change. */
static struct place place_after(struct place place, long more)
{
    uint8_t *end = place.address.ss_family == AF_INET
                       ? (uint8_t *)&((struct sockaddr_in *)&place.address)->sin_addr + 4
                       : (uint8_t *)&((struct sockaddr_in6 *)&place.address)->sin6_addr + 16;
    const long last = end[-2] * 256 + end[-1] + more;

    end[-2] = (uint8_t)(last / 256);
    end[-1] = (uint8_t)last;
    return place;
}

static unsigned long number_in_environment(const char *name)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : 1;
}

/* Where the next connection goes. */
static struct place next_place(const struct end *end)
{
    static unsigned long serial, hosts, ports;
    struct place place = end->place;
    struct sockaddr_in *v4 = (struct sockaddr_in *)place_address(&place);

    if (!hosts) {
        hosts = number_in_environment("HOSTS");
        ports = number_in_environment("PORTS");
    }
    if (place.address.ss_family == AF_INET) {
        v4->sin_addr.s_addr = htonl(ntohl(v4->sin_addr.s_addr) + (uint32_t)(serial % hosts));
        v4->sin_port = htons((uint16_t)(ntohs(v4->sin_port) + serial / hosts % ports));
    }
    serial++;
    return place;
}

static void open_all(struct end *end, int type)
{
    const char *peers = getenv("PEERS"), *source = getenv("SOURCE");
    const long several = peers ? strtol(peers, NULL, 10) : 1;

    for (long i = 0; i < end->wanted; i++) {
        const int fd = socket_new(end->place.address.ss_family, type, 0);
        option_set(fd, SOL_SOCKET, SO_BROADCAST, 1);
        if (source) {
            option_set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
            bind_to(fd, place_after(place_of(source, 0, 0), i % several));
        }
        connect_to(fd, source  ? end->place
                       : peers ? place_after(end->place, i % several)
                               : next_place(end));
        add(end, fd);
        if (type == SOCK_STREAM)
            option_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    }
}

/* Whether something came; what has ended is closed. */
static bool take(struct end *end, nfds_t i)
{
    static char nowhere[CHUNK];
    struct pollfd *socket = &end->sockets[i];
    const ssize_t got = recv(socket->fd, nowhere, sizeof nowhere, 0);

    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == ECONNREFUSED)))
        return got > 0;
    close(socket->fd);
    *socket = end->sockets[--end->count];
    return false;
}

static void serve(struct end *end)
{
    int fd;

    while ((fd = accept4(end->sockets[1].fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        option_set(add(end, fd), IPPROTO_TCP, TCP_NODELAY, 1);
        option_set(fd, SOL_SOCKET, SO_KEEPALIVE, getenv("KEEPALIVE") != NULL);
    }
    for (nfds_t i = end->count - 1; i > 1; i--)
        if (end->sockets[i].revents && take(end, i))
            write_piece(end->sockets[i].fd, end->bytes);
}

static void begin_serving(struct end *end)
{
    add(end, tcp_listen(end->place, 128));
}

static void begin_talking(struct end *end)
{
    open_all(end, SOCK_STREAM);
    for (nfds_t i = 1; i < end->count && !end->every; i++)
        end->sockets[i].events |= POLLOUT;
}

static void talk(struct end *end)
{
    for (nfds_t i = end->count - 1; i > 0; i--)
        if (!(end->sockets[i].revents & ~POLLOUT) || take(end, i))
            write_piece(end->sockets[i].fd, end->bytes);
}

static void visit(struct end *end)
{
    char byte;

    open_all(end, SOCK_STREAM);
    for (; end->count > 1; end->count--) {
        struct pollfd *last = &end->sockets[end->count - 1];
        write_piece(last->fd, 1);
        (void)poll(last, 1, 1000);
        (void)!recv(last->fd, &byte, 1, 0);
        close(last->fd);
    }
}

static void begin_asking(struct end *end)
{
    open_all(end, SOCK_DGRAM);
}

static void ask(struct end *end)
{
    for (nfds_t i = end->count - 1; i > 0; i--) {
        take(end, i);
        write_piece(end->sockets[i].fd, 1);
    }
}

static void look_up(struct end *end)
{
    while (end->count > 1)
        close(end->sockets[--end->count].fd);
    open_all(end, SOCK_DGRAM);
    ask(end);
}

static void begin_resolving(struct end *end)
{
    bind_to(socket_new(AF_INET, SOCK_DGRAM, 0), place_of("127.0.0.1", 53, 0));
    begin_asking(end);
}

static void begin_answering(struct end *end)
{
    const int fd = add(end, socket_new(end->place.address.ss_family, SOCK_DGRAM, 0));
    /* room for what comes while a busy machine lets this process wait */
    option_set(fd, SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20);

    bind_to(fd, end->place);
}

static void answer(struct end *end)
{
    struct place from = {.size = sizeof from.address};
    char data[512];

    while (recvfrom(end->sockets[1].fd, data, sizeof data, 0, place_address(&from), &from.size) > 0)
        (void)!sendto(end->sockets[1].fd, data, 1, 0, place_address(&from), from.size);
}

static void try(struct end *end)
{
    for (long i = 0; i < end->wanted; i++) {
        const int fd = socket_new(end->place.address.ss_family, SOCK_STREAM, 0);
        if (connect(fd, place_address(&end->place), end->place.size) == 0)
            errx(1, "connected");
        close(fd);
    }
}

/* The same without blocking, as programs with a timeout do. */
static void knock(struct end *end)
{
    for (long i = 0; i < end->wanted; i++) {
        struct pollfd fd = {
            socket_new(end->place.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0), POLLOUT, 0};
        struct place place = next_place(end);
        int error;
        (void)connect(fd.fd, place_address(&place), place.size);
        (void)poll(&fd, 1, 1000);
        (void)getsockopt(fd.fd, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){sizeof error});
        close(fd.fd);
    }
}

static void scan_port(struct end *end, int type)
{
    const char *source = getenv("SOURCE");
    const int family = end->place.address.ss_family,
              fd = socket_new(family, type | SOCK_NONBLOCK, 0);
    struct pollfd connected = {fd, POLLOUT, 0};

    if (source && type == SOCK_DGRAM) {
        option_set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
        bind_to(fd, place_of(family == AF_INET ? "0.0.0.0" : "::",
                             (uint16_t)strtol(source, NULL, 10), 0));
    }
    (void)connect(fd, place_address(&end->place), end->place.size);
    if (type == SOCK_DGRAM)
        write_piece(fd, 1);
    else
        (void)poll(&connected, 1, 10);
    close(fd);
}

/* After 2,000 ports, begins again. */
static void scan_next(struct end *end, int type)
{
    for (long i = 0; i < end->wanted; i++) {
        struct sockaddr_in *address = (struct sockaddr_in *)&end->place.address;
        const uint16_t port = ntohs(address->sin_port); /* as in struct sockaddr_in6 */
        scan_port(end, type);
        end->bytes = end->bytes == 1999 ? 0 : end->bytes + 1;
        address->sin_port = htons((uint16_t)(end->bytes ? port + 1 : port - 1999));
    }
}

static void scan(struct end *end)
{
    scan_next(end, SOCK_STREAM);
}

static void scan_udp(struct end *end)
{
    scan_next(end, SOCK_DGRAM);
}

static const struct role {
    const char *name;
    int numbers; /* of arguments */
    void (*begin)(struct end *end);
    void (*again)(struct end *end);
} roles[] = {
    {"serve", 3, begin_serving, serve},
    {"talk", 5, begin_talking, talk},
    {"visit", 4, NULL, visit},
    {"ask", 4, begin_asking, ask},
    {"lookup", 4, look_up, look_up},
    {"resolve", 4, begin_resolving, ask},
    {"answer", 3, begin_answering, answer},
    {"try", 4, NULL, try},
    {"knock", 4, NULL, knock},
    {"scan", 4, NULL, scan},
    {"scan-udp", 4, NULL, scan_udp},
};

static const struct role *role_of(int count, char **words)
{
    for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
        if (count == roles[i].numbers + 2 && strcmp(words[1], roles[i].name) == 0)
            return &roles[i];
    errx(2, "usage: traffic serve|talk|visit|ask|try|knock|scan ...");
}

static long number_of(const char *word)
{
    return strtol(word, NULL, 10);
}

int main(int argc, char **argv)
{
    static struct end end = {.sockets = {{.fd = STDIN_FILENO, .events = POLLIN}}, .count = 1};
    const struct role *role = role_of(argc, argv);

    end.place = place_of(argv[2], (uint16_t)number_of(argv[3]), 0);
    if (role->again == serve)
        end.bytes = number_of(argv[4]);
    if (role->again == talk)
        end.bytes = number_of(argv[5]);
    if (role->numbers > 3) {
        end.wanted = number_of(argv[4]);
        end.every = number_of(argv[argc - 1]);
    }
    if (role->begin)
        role->begin(&end);
    puts("ready");
    fflush(stdout);
    for (;;) {
        if (end.every > 0)
            (void)poll(end.sockets, 1, (int)end.every);
        (void)poll(end.sockets, end.count, end.every > 0 ? 0 : -1);
        if (end.sockets[0].revents)
            return 0;
        role->again(&end);
    }
}
