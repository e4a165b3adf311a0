/* SPDX-License-Identifier: MIT */
/*
 * Programs without a fault: they open connections, send, read, answer and close as fast as usual
 * programs.
 *
 *     healthy DIRECTORY
 *
 * Over TCP (127.0.0.1 and ::1, port 7200), a unix socket in DIRECTORY, and UDP (port 7201). Prints
 * "ready" when all listen, and ends when stdin does.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/un.h>
#include <time.h>

#include "sockets.h"

enum { PORT = 7200, UDP_PORT = 7201, BACKLOG = 128, REQUEST = 1000, BURST = 10 };

static void pause_ms(long milliseconds)
{
    const struct timespec time = {.tv_nsec = milliseconds * 1000000};

    nanosleep(&time, NULL);
}

/* Runs a role in a process of its own, which ends with this one. */
static void start(void (*role)(int fd, struct place place), int fd, struct place place)
{
    const pid_t parent = getpid(), child = fork();

    if (child < 0)
        err(1, "fork");
    if (child > 0)
        return;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
        _exit(1);
    role(fd, place);
    _exit(1);
}

/* Returns whether so much came before the end. */
static bool read_all(int fd, size_t size)
{
    static char nowhere[REQUEST];

    while (size > 0) {
        const ssize_t got = read(fd, nowhere, size);
        if (got <= 0)
            return false;
        size -= (size_t)got;
    }
    return true;
}

static void write_all(int fd)
{
    static const char request[REQUEST];

    if (send(fd, request, sizeof request, MSG_NOSIGNAL) != sizeof request)
        err(1, "send");
}

/* Answers each request, until the client closes. */
static void serve(int listener, struct place place)
{
    (void)place;
    for (;;) {
        const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            err(1, "accept");
        while (read_all(fd, REQUEST))
            write_all(fd);
        close(fd);
    }
}

/* Some requests in each of many connections. */
static void ask(int unused, struct place place)
{
    (void)unused;
    for (;; pause_ms(10)) {
        const int fd = socket_new(place.address.ss_family, SOCK_STREAM, 0);
        connect_to(fd, place);
        for (int i = 0; i < BURST; i++) {
            write_all(fd);
            if (!read_all(fd, REQUEST))
                err(1, "read");
        }
        close(fd);
    }
}

static void answer_datagrams(int fd, struct place place)
{
    char data[REQUEST];

    for (;;) {
        place.size = sizeof place.address;
        if (recvfrom(fd, data, sizeof data, 0, place_address(&place), &place.size) < 0 ||
            sendto(fd, data, 1, 0, place_address(&place), place.size) < 0)
            err(1, "datagram");
    }
}

/* No more than are answered, so that they fit into any buffer. */
static void send_datagrams(int unused, struct place place)
{
    const int fd = socket_new(AF_INET, SOCK_DGRAM, 0);

    (void)unused;
    connect_to(fd, place);
    for (;; pause_ms(2)) {
        for (int i = 0; i < BURST; i++)
            write_all(fd);
        for (int i = 0; i < BURST; i++)
            if (!read_all(fd, 1))
                err(1, "read");
    }
}

static void start_streams(struct place place)
{
    const int listener = socket_new(place.address.ss_family, SOCK_STREAM, 0);

    bind_to(listener, place);
    if (listen(listener, BACKLOG) < 0)
        err(1, "listen");
    start(serve, listener, place);
    start(serve, listener, place);
    start(ask, -1, place);
    start(ask, -1, place);
}

static void start_unix(const char *directory)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct place place = {.size = sizeof address};

    snprintf(address.sun_path, sizeof address.sun_path, "%s/healthy", directory);
    memcpy(&place.address, &address, sizeof address);
    start_streams(place);
}

int main(int argc, char **argv)
{
    const struct place udp = place_of("127.0.0.1", UDP_PORT, 0);
    const int datagrams = socket_new(AF_INET, SOCK_DGRAM, 0);

    if (argc != 2)
        errx(2, "usage: healthy DIRECTORY");
    start_streams(place_of("127.0.0.1", PORT, 0));
    start_streams(place_of("::1", PORT, 0));
    start_unix(argv[1]);
    bind_to(datagrams, udp);
    start(answer_datagrams, datagrams, udp);
    start(send_datagrams, -1, udp);
    hold_until_end();
    return 0;
}
