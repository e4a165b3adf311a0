/* SPDX-License-Identifier: MIT */
/*
 * Makes network namespaces that a test can identify: each has a TCP listener on a port of its own,
 * and the MTU of its loopback interface is that port.
 *
 *     namespaces COUNT PORT LOG    COUNT of them, ports from PORT on; each is left for a new one
 *                                  again and again
 *     namespaces DEVICE PORT       only a listener, in this namespace, bound to the interface
 *
 * "INODE PORT" is appended to LOG before a namespace has its port. Prints "ready" when
 * all are there, and ends when its input does.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHORTEST = 300000, LONGEST = 3000000 }; /* microseconds that a namespace lives */

static int listener(uint16_t port, const char *device)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 ||
        (device &&
         setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t)strlen(device)) < 0) ||
        bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 1) < 0)
        err(1, "port %u", port);
    return fd;
}

static void tell(int log, uint16_t port)
{
    struct stat file;
    char line[64];
    int length;

    if (stat("/proc/self/ns/net", &file) < 0)
        err(1, "/proc/self/ns/net");
    length = snprintf(line, sizeof line, "%llu %u\n", (unsigned long long)file.st_ino, port);
    if (write(log, line, (size_t)length) != length)
        err(1, "log");
}

/* Loopback is there at once, with an MTU that is no port here. */
static int begin(int log, uint16_t port)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_mtu = port};
    int fd;

    if (unshare(CLONE_NEWNET) < 0)
        err(1, "unshare");
    tell(log, port);
    fd = listener(port, NULL);
    if (ioctl(fd, SIOCSIFMTU, &request) < 0)
        err(1, "mtu");
    return fd;
}

static _Noreturn void come_and_go(int ready, int log, uint16_t port)
{
    int fd = begin(log, port);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    srandom((unsigned)port);
    if (write(ready, "", 1) != 1)
        err(1, "ready");
    for (;;) {
        usleep(SHORTEST + (useconds_t)random() % (LONGEST - SHORTEST));
        close(fd);
        fd = begin(log, port);
    }
}

static void wait_for_end(void)
{
    char byte;

    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
}

static void run_many(size_t count, uint16_t port, int log)
{
    pid_t *children = calloc(count, sizeof *children);
    int ready[2];
    char byte;

    if (!children || log < 0 || pipe(ready) < 0)
        err(1, "log");
    for (size_t i = 0; i < count; i++) {
        children[i] = fork();
        if (children[i] < 0)
            err(1, "fork");
        if (children[i] == 0)
            come_and_go(ready[1], log, (uint16_t)(port + i));
    }
    close(ready[1]);
    for (size_t i = 0; i < count; i++)
        if (read(ready[0], &byte, 1) != 1)
            errx(1, "a namespace could not be made");
    wait_for_end();
    for (size_t i = 0; i < count; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    free(children);
}

int main(int argc, char *argv[])
{
    const uint16_t port = argc > 2 ? (uint16_t)strtoul(argv[2], NULL, 10) : 0;

    if (argc == 4) {
        run_many(strtoul(argv[1], NULL, 10), port,
                 open(argv[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    } else if (argc == 3) {
        listener(port, argv[1]);
        wait_for_end();
    } else {
        errx(2, "usage: namespaces COUNT PORT LOG | namespaces DEVICE PORT");
    }
    return 0;
}
