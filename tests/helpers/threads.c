/* SPDX-License-Identifier: MIT */
/*
 * Holds a UDP socket in two processes that have threads.
 *
 *     threads PORT
 *
 * The socket is bound to 127.0.0.1. The first process has two further threads, "second" and
 * "third"; its child has one, "third". Prints "ready" when all are there, and ends when stdin does.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void *wait_forever(void *arg)
{
    (void)arg;
    for (;;)
        pause();
    return NULL;
}

static void start(const char *name)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, wait_forever, NULL) != 0 ||
        pthread_setname_np(thread, name) != 0)
        errx(1, "pthread_create");
}

static pid_t start_child(void)
{
    int ready[2];
    char byte = 0;
    pid_t child;

    if (pipe(ready) < 0 || (child = fork()) < 0)
        err(1, "fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        start("third");
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        wait_forever(NULL);
    }
    if (read(ready[0], &byte, 1) != 1)
        err(1, "read");
    return child;
}

int main(int argc, char *argv[])
{
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    pid_t child;

    if (argc != 2)
        errx(2, "usage: threads PORT");
    address.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0)
        err(1, "bind");
    child = start_child();
    start("second");
    start("third");
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    kill(child, SIGKILL);
    return 0;
}
