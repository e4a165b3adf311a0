/* SPDX-License-Identifier: MIT */
/*
 * Connections over 127.0.0.1 that are soon gone: a process "client" makes them to port 7401 of a
 * process "server", in a thread that has another name.
 *
 *     brief COUNT MILLISECONDS BYTES
 *
 * Each connection lasts MILLISECONDS and sends BYTES. Prints "ready" when the server listens, and
 * waits for a line on stdin; then prints "CLIENT SERVER", the processes, and the client's port of
 * each connection. The server stays until stdin ends, as a busy kernel reports ends of connections
 * late.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 7401, BYTES_MAX = 1000000, TRIES_MAX = 2000 };

static char bytes[BYTES_MAX];

static const struct sockaddr_in place = {.sin_family = AF_INET};

static struct sockaddr_in server_place(void)
{
    struct sockaddr_in at = place;

    at.sin_port = htons(PORT);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
}

/* One connection at a time: it ends when the client ends it. client: a pipe that ends with it. */
static void serve(int listener, int client)
{
    struct pollfd of[] = {{listener, POLLIN, 0}, {client, 0, 0}};

    for (;;) {
        while (poll(of, 2, -1) < 0 || !(of[0].revents & POLLIN)) {
            if (of[1].revents & POLLHUP && of[1].fd == STDIN_FILENO)
                exit(0);
            if (of[1].revents & POLLHUP)
                of[1].fd = STDIN_FILENO;
        }
        const int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            err(1, "accept");
        while (read(fd, bytes, sizeof bytes) > 0)
            ;
        close(fd);
    }
}

static long number(const char *text)
{
    char *end;
    const long value = strtol(text, &end, 10);

    if (end == text || *end || value < 0)
        errx(2, "no number: %s", text);
    return value;
}

static void connect_once(long milliseconds, size_t count)
{
    const struct timespec life = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    const struct sockaddr_in to = server_place();
    struct sockaddr_in own = {.sin_port = 0};
    socklen_t size = sizeof own;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (const void *)&to, sizeof to) < 0)
        err(1, "connect");
    for (size_t sent = 0; sent < count;) {
        const ssize_t more = write(fd, bytes, count - sent);
        if (more < 0)
            err(1, "write");
        sent += (size_t)more;
    }
    getsockname(fd, (void *)&own, &size);
    printf("%u\n", ntohs(own.sin_port));
    nanosleep(&life, NULL);
    close(fd);
}

/* arg: as that of main(). */
static void *connect_all(void *arg)
{
    char *const *argv = arg;

    prctl(PR_SET_NAME, "a thread");
    for (long i = 0; i < number(argv[1]); i++)
        connect_once(number(argv[2]), (size_t)number(argv[3]));
    return NULL;
}

int main(int argc, char *argv[])
{
    const struct sockaddr_in at = server_place();
    int lives[2];
    const int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool bound = false;
    pthread_t thread;
    char line[2];

    if (argc != 4 || number(argv[3]) > BYTES_MAX)
        errx(2, "usage: brief COUNT MILLISECONDS BYTES");
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    /* the server of the brief before may still have the port */
    for (int tries = 0;; tries++) {
        bound = bound || bind(listener, (const void *)&at, sizeof at) == 0;
        if (bound && listen(listener, 64) == 0)
            break;
        if (errno != EADDRINUSE || tries == TRIES_MAX)
            err(1, "port %d", PORT);
        poll(NULL, 0, 10);
    }
    prctl(PR_SET_NAME, "server"); /* before anybody can read another name */
    if (pipe2(lives, O_CLOEXEC) < 0)
        err(1, "pipe");
    const pid_t server = fork();
    if (server < 0)
        err(1, "fork");
    if (server == 0) {
        close(STDOUT_FILENO);
        close(lives[1]);
        serve(listener, lives[0]);
    }
    close(listener);
    prctl(PR_SET_NAME, "client");
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("ready");
    if (!fgets(line, sizeof line, stdin))
        errx(1, "no line came");
    printf("%d %d\n", (int)getpid(), (int)server);
    if (pthread_create(&thread, NULL, connect_all, argv) != 0 || pthread_join(thread, NULL) != 0)
        errx(1, "pthread_create");
    return 0;
}
