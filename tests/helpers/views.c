/* SPDX-License-Identifier: MIT */
/*
 * Makes sockets that need attention, and owners with all kinds of names.
 *
 *     views
 *
 * Four processes "nginx" hold a listener on port 443 whose accept queue is full. "log shipper"
 * holds a TCP connection that its peer has closed (7401), one whose peer is deaf (7402) and one
 * between two long addresses of IPv6 (7404), a UDP socket that drops packets (7403), and a unix
 * socket whose other end "reader" holds. UDP sockets are held under other names (7411 to 7414).
 * Prints "ready" when all are there, and ends when stdin does.
 */
#include <sys/prctl.h>

#include "sockets.h"

#define LONG_ADDRESS "2001:db8:85a3:1234:5678:8a2e:370:7334"

/* Another process of that name holds what is open now, but for this descriptor. */
static void hold_as(const char *name, int other)
{
    const pid_t child = fork();
    char byte;

    if (child < 0)
        err(1, "fork");
    if (child > 0)
        return;
    prctl(PR_SET_NAME, name);
    close(STDOUT_FILENO);
    close(other);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    _exit(0);
}

enum { BACKLOG = 5 };

static void listen_and_wait(void)
{
    const int listener = tcp_listen(place_of("0.0.0.0", 443, 0), BACKLOG);

    for (int i = 0; i < 4; i++)
        hold_as("nginx", -1);
    close(listener);
}

static void fill_accept_queue(void)
{
    for (int i = 0; i <= BACKLOG; i++)
        connect_to(socket_new(AF_INET, SOCK_STREAM, 0), place_of("127.0.0.1", 443, 0));
}

static struct pair pair_at(const char *host, uint16_t port)
{
    const int listener = tcp_listen(place_of(host, port, 0), 1);
    const struct pair pair = pair_open(listener);

    close(listener);
    return pair;
}

static void be_deaf(int fd)
{
    struct sock_filter none[] = {BPF_STMT(BPF_RET | BPF_K, 0)};

    filter_attach(fd, none, ARRAY_SIZE(none));
}

static int udp_at(uint16_t port)
{
    const int fd = socket_new(AF_INET, SOCK_DGRAM, 0);

    bind_to(fd, place_of("127.0.0.1", port, 0));
    return fd;
}

static void drop_packets(void)
{
    const int receiver = udp_at(7403), sender = socket_new(AF_INET, SOCK_DGRAM, 0);

    option_set(receiver, SOL_SOCKET, SO_RCVBUF, 4096);
    connect_to(sender, place_of("127.0.0.1", 7403, 0));
    for (int i = 0; i < 100; i++)
        send_bytes(sender, "more than anybody reads");
    close(sender);
}

static void hold_names(void)
{
    static const char *const names[] = {"\xe6\x9c\xac\xe5\xbd\x93\xe3\x81\xae\xe5\x90\x8d", "a,b c",
                                        "red\033[31m", "-"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const int fd = udp_at((uint16_t)(7411 + i));
        hold_as(names[i], -1);
        close(fd);
    }
}

/* Each process has one end: the reader is made first, without what it would hold besides. */
static void be_paired(void)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        err(1, "socketpair");
    hold_as("reader", ends[0]);
    close(ends[1]);
}

int main(void)
{
    struct pair pair;

    prctl(PR_SET_NAME, "log shipper");
    hold_names();
    listen_and_wait();
    be_paired();
    fill_accept_queue();
    close(pair_at("127.0.0.1", 7401).client);
    pair = pair_at("127.0.0.1", 7402);
    be_deaf(pair.server);
    send_bytes(pair.client, "is anybody there?");
    drop_packets();
    pair_at(LONG_ADDRESS, 7404);
    hold_until_end();
    return 0;
}
