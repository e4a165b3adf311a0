/* SPDX-License-Identifier: MIT */
/*
 * Programs that ask DNS, and servers.
 *
 *     dns serve ADDRESS DELAY LOST       answers after DELAY ms, but not one query in LOST (0: all)
 *     dns forward ADDRESS SERVER         passes queries and answers on
 *     dns relay ADDRESS SERVER           so, too, with a connected socket for each query
 *     dns tunnel ADDRESS SERVER PORT     so, too, with a connection by TCP that has 5 s
 *     dns ask HOW THREADS TIMEOUT EVERY SERVER...
 *     dns connect ADDRESS PORT EVERY     connects, asks and waits: for ever, or $PATIENCE ms
 *     dns talk ADDRESS PORT EVERY        one connection: 5 queries, one after another, and again
 *     dns converse ADDRESS PORT COUNT    answers the first COUNT queries of a connection
 *     dns listen ADDRESS PORT            accepts connections, and answers nothing
 *
 * ask: each thread asks all servers, one after another, waits for each answer at most TIMEOUT ms,
 * and begins again EVERY ms later. HOW: "connected" or "unconnected" sockets, a new socket for each
 * query; "first": connected sockets for two queries each, whose program takes the first answer;
 * "both": so, too, when both answers have come;
 * "kept": one unconnected socket for all; "unread": so, too, but no answer is read; "race": asks
 * all servers at once and takes the first answer; "idle": a connected socket that sends nothing.
 * $LENGTH: bytes of a datagram, at most LENGTH_MAX. Prints "ready", and ends when stdin ends.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "sockets.h"

enum { SERVERS = 16, QUEUE = 4096, QUERY = 29, LENGTH_MAX = 1400 };

static struct {
    const char *how;
    long timeout, every;
    struct place servers[SERVERS];
    size_t count;
} asked;

struct answer {
    uint64_t due;
    struct place to;
    char data[QUERY];
};

static uint64_t milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool has_ended(void)
{
    struct pollfd in = {STDIN_FILENO, 0, 0};

    return poll(&in, 1, 0) > 0;
}

static int is_how(const char *how)
{
    return strcmp(asked.how, how) == 0;
}

/* --- Servers ---------------------------------------------------------------------------------- */

static int open_server(const char *address)
{
    struct place place = place_of(address, 53, 0);
    const int fd = socket_new(place.address.ss_family, SOCK_DGRAM, 0);

    option_set(fd, SOL_SOCKET, SO_RCVBUF, 1 << 20);
    bind_to(fd, place);
    puts("ready");
    fflush(stdout);
    return fd;
}

static void serve(const char *address, uint64_t delay, long lost)
{
    static struct answer queue[QUEUE];
    size_t first = 0, last = 0;
    const int fd = open_server(address);
    long received = 0;

    while (!has_ended()) {
        struct answer *answer = &queue[last % QUEUE];
        struct pollfd of = {fd, POLLIN, 0};
        (void)poll(&of, 1, first < last ? 1 : 100);
        answer->to.size = sizeof answer->to.address;
        while (last - first < QUEUE && recvfrom(fd, answer->data, QUERY, MSG_DONTWAIT,
                                                place_address(&answer->to), &answer->to.size) > 0) {
            answer->due = milliseconds() + delay;
            if (!lost || ++received % lost)
                answer = &queue[++last % QUEUE];
            answer->to.size = sizeof answer->to.address;
        }
        for (; first < last && queue[first % QUEUE].due <= milliseconds(); first++) {
            answer = &queue[first % QUEUE];
            (void)!sendto(fd, answer->data, QUERY, 0, place_address(&answer->to), answer->to.size);
        }
    }
}

/* The id of a query names the socket that sent it. */
static void forward(const char *address, const char *server)
{
    static struct place clients[65536];
    const int fd = open_server(address);
    struct place to = place_of(server, 53, 0);
    const int upstream = socket_new(to.address.ss_family, SOCK_DGRAM, 0);
    uint16_t id;

    while (!has_ended()) {
        struct pollfd of[] = {{fd, POLLIN, 0}, {upstream, POLLIN, 0}};
        struct place from = {.size = sizeof from.address};
        char data[QUERY];
        (void)poll(of, 2, 100);
        if (recvfrom(fd, data, QUERY, MSG_DONTWAIT, place_address(&from), &from.size) > 0) {
            memcpy(&id, data, sizeof id);
            clients[id] = from;
            (void)!sendto(upstream, data, QUERY, 0, place_address(&to), to.size);
        }
        if (recv(upstream, data, QUERY, MSG_DONTWAIT) > 0) {
            memcpy(&id, data, sizeof id);
            (void)!sendto(fd, data, QUERY, 0, place_address(&clients[id]), clients[id].size);
        }
    }
}

/* Waits for each answer, or for its error. */
static void relay(const char *address, const char *server)
{
    const int fd = open_server(address);

    while (!has_ended()) {
        struct place from = {.size = sizeof from.address};
        char data[QUERY];
        (void)poll(&(struct pollfd){fd, POLLIN, 0}, 1, 100);
        if (recvfrom(fd, data, QUERY, MSG_DONTWAIT, place_address(&from), &from.size) <= 0)
            continue;
        const int upstream = socket_new(from.address.ss_family, SOCK_DGRAM, 0);
        connect_to(upstream, place_of(server, 53, 0));
        if (send(upstream, data, QUERY, 0) > 0 &&
            poll(&(struct pollfd){upstream, POLLIN, 0}, 1, 1000) > 0 &&
            recv(upstream, data, QUERY, MSG_DONTWAIT) > 0)
            (void)!sendto(fd, data, QUERY, 0, place_address(&from), from.size);
        close(upstream);
    }
}

/* No server of the tests answers by TCP, so there is no answer to pass on. */
static void tunnel(const char *address, const char *server, uint16_t port)
{
    const struct place to = place_of(server, port, 0);
    const int fd = open_server(address);
    char data[QUERY];

    while (!has_ended()) {
        (void)poll(&(struct pollfd){fd, POLLIN, 0}, 1, 100);
        if (recv(fd, data, QUERY, MSG_DONTWAIT) <= 0)
            continue;
        const int upstream = socket_new(to.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
        struct pollfd of[] = {{upstream, POLLOUT, 0}, {STDIN_FILENO, POLLIN, 0}};
        struct place peer = to;
        (void)connect(upstream, place_address(&peer), peer.size);
        if (poll(of, 2, 5000) > 0 && write(upstream, data, QUERY) > 0) {
            of[0].events = POLLIN;
            (void)poll(of, 2, 5000);
        }
        close(upstream);
    }
}

/* --- Clients ---------------------------------------------------------------------------------- */

/* With SO_PEEK_OFF, the second MSG_PEEK waits for the second datagram (socket(7)). */
static void await_both(int fd)
{
    const struct timeval timeout = {.tv_sec = asked.timeout / 1000};
    char data[QUERY];

    option_set(fd, SOL_SOCKET, SO_PEEK_OFF, 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    for (int i = 0; i < 2; i++)
        (void)!recv(fd, data, QUERY, MSG_PEEK);
}

static void ask_once(int kept, struct place *servers, size_t count, uint16_t id)
{
    const char *length = getenv("LENGTH");
    const size_t bytes = length ? strtoul(length, NULL, 10) : QUERY;
    char query[LENGTH_MAX] = "..\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0";
    const bool asks_twice = is_how("first") || is_how("both");
    const bool connects = is_how("connected") || asks_twice;
    struct pollfd sockets[SERVERS];

    memcpy(query, &id, sizeof id);
    for (size_t i = 0; i < count; i++) {
        struct place *to = &servers[i];
        sockets[i] = (struct pollfd){
            kept >= 0 ? kept : socket_new(to->address.ss_family, SOCK_DGRAM, 0), POLLIN, 0};
        if (connects && connect(sockets[i].fd, place_address(to), to->size) < 0) {
            close(sockets[i].fd);
            sockets[i].fd = -1; /* poll(2) ignores it */
            continue;
        }
        for (int left = asks_twice ? 2 : 1; left > 0; left--, query[0]++)
            (void)!sendto(sockets[i].fd, query, bytes, 0, connects ? NULL : place_address(to),
                          connects ? 0 : to->size);
    }
    if (!is_how("unread") && poll(sockets, count, (int)asked.timeout) > 0) {
        if (is_how("both"))
            await_both(sockets[0].fd);
        for (size_t i = 0; i < count; i++)
            if (sockets[i].revents)
                (void)!recv(sockets[i].fd, query, QUERY, MSG_DONTWAIT);
    }
    for (size_t i = 0; i < count && kept < 0; i++)
        close(sockets[i].fd);
}

static void *ask(void *arg)
{
    const int family = asked.servers[0].address.ss_family;
    const int kept = is_how("kept") || is_how("unread") ? socket_new(family, SOCK_DGRAM, 0) : -1;
    uint16_t id = (uint16_t)(uintptr_t)arg;

    if (is_how("idle"))
        connect_to(socket_new(family, SOCK_DGRAM, 0), asked.servers[0]);
    for (;; id += 31) {
        if (is_how("race"))
            ask_once(kept, asked.servers, asked.count, id);
        for (size_t i = 0; i < asked.count && !is_how("race") && !is_how("idle"); i++)
            ask_once(kept, &asked.servers[i], 1, id);
        (void)poll(&(struct pollfd){STDIN_FILENO, 0, 0}, 1, (int)asked.every);
    }
    return NULL;
}

static void begin_asking(char **words)
{
    pthread_t thread;

    asked.how = words[0];
    asked.timeout = strtol(words[2], NULL, 10);
    asked.every = strtol(words[3], NULL, 10);
    while (asked.count < SERVERS && words[4 + asked.count]) {
        asked.servers[asked.count] = place_of(words[4 + asked.count], 53, 0);
        asked.count++;
    }
    for (long i = strtol(words[1], NULL, 10); i > 0; i--)
        if (pthread_create(&thread, NULL, ask, (void *)(uintptr_t)(i * 1000)) != 0)
            errx(1, "pthread_create");
    hold_until_end();
}

/* Connections that end are made again. */
static void connect_for_ever(const char *address, uint16_t port, long every)
{
    struct place to = place_of(address, port, 0);
    const char *patience = getenv("PATIENCE");
    const long wait = patience ? strtol(patience, NULL, 10) : 0;
    char data[QUERY] = "\0\33";

    puts("ready");
    fflush(stdout);
    while (!has_ended()) {
        const int fd =
            socket_new(to.address.ss_family, SOCK_STREAM | (wait ? SOCK_NONBLOCK : 0), 0);
        const bool begins = connect(fd, place_address(&to), to.size) == 0 || errno == EINPROGRESS;
        if (wait)
            (void)poll(&(struct pollfd){fd, POLLOUT, 0}, 1, (int)wait);
        if (begins && write(fd, data, QUERY) > 0) {
            if (wait)
                (void)poll(&(struct pollfd){fd, POLLIN, 0}, 1, (int)wait);
            (void)!read(fd, data, QUERY);
        }
        close(fd);
        (void)poll(&(struct pollfd){STDIN_FILENO, 0, 0}, 1, (int)every);
    }
}

static void talk(const char *address, uint16_t port, long every)
{
    struct place to = place_of(address, port, 0);
    const int fd = socket_new(to.address.ss_family, SOCK_STREAM, 0);
    char data[QUERY] = "\0\33";

    connect_to(fd, to);
    puts("ready");
    fflush(stdout);
    while (!has_ended()) {
        for (int i = 0; i < 5 && write(fd, data, QUERY) > 0; i++)
            if (poll((struct pollfd[]){{fd, POLLIN, 0}, {STDIN_FILENO, 0, 0}}, 2, -1) < 0 ||
                has_ended() || read(fd, data, QUERY) <= 0)
                return;
        (void)poll(&(struct pollfd){STDIN_FILENO, 0, 0}, 1, (int)every);
    }
}

static void converse(const char *address, uint16_t port, long count)
{
    const int listener = tcp_listen(place_of(address, port, 0), 128);
    char data[QUERY];

    puts("ready");
    fflush(stdout);
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    while (!has_ended())
        if (poll(&(struct pollfd){fd, POLLIN, 0}, 1, 100) > 0 &&
            (read(fd, data, QUERY) <= 0 || (count-- > 0 && write(fd, data, QUERY) < 0)))
            return;
}

int main(int argc, char *argv[])
{
    const char *role = argc > 3 ? argv[1] : "";

    if (strcmp(role, "serve") == 0 && argc == 5) {
        serve(argv[2], strtoul(argv[3], NULL, 10), strtol(argv[4], NULL, 10));
    } else if (strcmp(role, "forward") == 0 && argc == 4) {
        forward(argv[2], argv[3]);
    } else if (strcmp(role, "relay") == 0 && argc == 4) {
        relay(argv[2], argv[3]);
    } else if (strcmp(role, "tunnel") == 0 && argc == 5) {
        tunnel(argv[2], argv[3], (uint16_t)strtoul(argv[4], NULL, 10));
    } else if (strcmp(role, "ask") == 0 && argc > 6) {
        begin_asking(argv + 2);
    } else if (strcmp(role, "connect") == 0 && argc == 5) {
        connect_for_ever(argv[2], (uint16_t)strtoul(argv[3], NULL, 10), strtol(argv[4], NULL, 10));
    } else if (strcmp(role, "talk") == 0 && argc == 5) {
        talk(argv[2], (uint16_t)strtoul(argv[3], NULL, 10), strtol(argv[4], NULL, 10));
    } else if (strcmp(role, "converse") == 0 && argc == 5) {
        converse(argv[2], (uint16_t)strtoul(argv[3], NULL, 10), strtol(argv[4], NULL, 10));
    } else if (strcmp(role, "listen") == 0 && argc == 4) {
        tcp_listen(place_of(argv[2], (uint16_t)strtoul(argv[3], NULL, 10), 0), 128);
        hold_until_end();
    } else {
        errx(2, "usage: dns serve|forward|relay|tunnel|ask|connect|listen ...");
    }
    return 0;
}
