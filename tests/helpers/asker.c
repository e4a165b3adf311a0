/* SPDX-License-Identifier: MIT */
/*
 * Short UDP sockets, as those of a program that asks for names: a process NAME asks a process
 * "resolver" at 127.0.0.1:PORT, in a thread that has another name.
 *
 *     asker COUNT PORT NAME
 *
 * Each of COUNT sockets sends one datagram, waits for the answer and is closed. Every second socket
 * is connected before. Prints "ready" when the resolver has its port, and waits for a line on
 * stdin; then prints its process, and the port of each socket with that of its peer (0: not
 * connected). The resolver stays until stdin ends.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in server = {.sin_family = AF_INET};
static long count;

static long number(const char *text)
{
    char *end;
    const long value = strtol(text, &end, 10);

    if (end == text || *end || value < 0 || value > 1000000)
        errx(2, "no number: %s", text);
    return value;
}

static void answer(int fd)
{
    struct pollfd of[] = {{fd, POLLIN, 0}, {STDIN_FILENO, 0, 0}};
    struct sockaddr_in from;
    char byte;

    while (poll(of, 2, -1) >= 0 && !(of[1].revents & POLLHUP)) {
        socklen_t size = sizeof from;
        if (of[0].revents & POLLIN && recvfrom(fd, &byte, 1, 0, (void *)&from, &size) >= 0)
            (void)!sendto(fd, &byte, 1, 0, (const void *)&from, size);
    }
    _exit(0);
}

static void ask_once(int connected)
{
    struct sockaddr_in own = {.sin_port = 0};
    socklen_t size = sizeof own;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char byte = 'q';

    if (fd < 0 || (connected && connect(fd, (const void *)&server, sizeof server) < 0) ||
        sendto(fd, &byte, 1, 0, connected ? NULL : (const void *)&server,
               connected ? 0 : sizeof server) != 1 ||
        recv(fd, &byte, 1, 0) != 1 || getsockname(fd, (void *)&own, &size) < 0)
        err(1, "ask");
    printf("%u %u\n", ntohs(own.sin_port), connected ? ntohs(server.sin_port) : 0);
    close(fd);
}

static void *ask_all(void *arg)
{
    (void)arg;
    prctl(PR_SET_NAME, "a thread");
    for (long i = 0; i < count; i++)
        ask_once(i % 2 == 0);
    return NULL;
}

int main(int argc, char *argv[])
{
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    pthread_t thread;
    char line[2];

    if (argc != 4)
        errx(2, "usage: asker COUNT PORT NAME");
    count = number(argv[1]);
    server.sin_port = htons((uint16_t)number(argv[2]));
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (const void *)&server, sizeof server) < 0)
        err(1, "port %s", argv[2]);
    prctl(PR_SET_NAME, "resolver"); /* before anybody can read another name */
    const pid_t resolver = fork();
    if (resolver < 0)
        err(1, "fork");
    if (resolver == 0) {
        close(STDOUT_FILENO);
        answer(fd);
    }
    close(fd);
    prctl(PR_SET_NAME, argv[3]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("ready");
    if (!fgets(line, sizeof line, stdin))
        errx(1, "no line came");
    printf("%d\n", (int)getpid());
    if (pthread_create(&thread, NULL, ask_all, NULL) != 0 || pthread_join(thread, NULL) != 0)
        errx(1, "pthread_create");
    return 0;
}
