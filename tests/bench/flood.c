/* SPDX-License-Identifier: MIT */
/*
 * Measures the time that a dropped packet takes, with and without a command that counts it: a flood
 * to a socket on loopback whose receive buffer is full. Rounds with and without the command take
 * turns.
 *
 *   flood PACKETS ROUNDS COMMAND [ARG...]
 *
 * Prints two lines as runner does, with and without, in nanoseconds for each packet in place of
 * milliseconds. The command runs until it is interrupted, and has loaded its program as soon as it
 * has a link (bpf(2)).
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "quartiles.h"

enum { WITH, WITHOUT, BOTH };

static double wall[BOTH][RUNS_MAX], cpu[BOTH][RUNS_MAX];

static double nanoseconds(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* A socket that sends to one that is never read. */
static int make_sender(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof to;
    const int receiver = socket(AF_INET, SOCK_DGRAM, 0), sender = socket(AF_INET, SOCK_DGRAM, 0);
    const int least = 1;

    if (receiver < 0 || sender < 0 ||
        setsockopt(receiver, SOL_SOCKET, SO_RCVBUF, &least, sizeof least) < 0 ||
        bind(receiver, (struct sockaddr *)&to, sizeof to) < 0 ||
        getsockname(receiver, (struct sockaddr *)&to, &length) < 0 ||
        connect(sender, (struct sockaddr *)&to, length) < 0)
        err(1, "sockets");
    return sender;
}

static bool has_link(pid_t pid)
{
    char path[64], text[512];
    const struct dirent *entry;
    bool found = false;
    DIR *directory;

    snprintf(path, sizeof path, "/proc/%d/fdinfo", (int)pid);
    directory = opendir(path);
    while (directory && !found && (entry = readdir(directory))) {
        const int fd = openat(dirfd(directory), entry->d_name, O_RDONLY | O_CLOEXEC);
        const ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
        text[size > 0 ? size : 0] = '\0';
        found = strstr(text, "link_type") != NULL;
        if (fd >= 0)
            close(fd);
    }
    if (directory)
        closedir(directory);
    return found;
}

static pid_t start(char **command)
{
    enum { PATIENCE = 10000 }; /* milliseconds */
    const struct timespec pause = {.tv_nsec = 1000000};
    const pid_t pid = fork();

    if (pid == 0) {
        const int null = open("/dev/null", O_RDWR);
        if (dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
            dup2(null, STDERR_FILENO) >= 0)
            execvp(*command, command);
        _exit(127);
    }
    for (int i = 0; i < PATIENCE && waitpid(pid, NULL, WNOHANG) == 0; i++) {
        if (has_link(pid))
            return pid;
        nanosleep(&pause, NULL);
    }
    errx(1, "%s does not watch", *command);
}

static void flood(int sender, long packets, double *took, double *of_cpu)
{
    const double began = nanoseconds(CLOCK_MONOTONIC),
                 before = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);

    for (long i = 0; i < packets; i++)
        if (send(sender, "x", 1, 0) < 0)
            err(1, "send");
    *of_cpu = (nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - before) / (double)packets;
    *took = (nanoseconds(CLOCK_MONOTONIC) - began) / (double)packets;
}

static void print(int which, int rounds)
{
    double ratios[RUNS_MAX] = {0}, differences[RUNS_MAX] = {0};

    for (int i = 0; i < rounds; i++) {
        ratios[i] = wall[WITH][i] / wall[which][i];
        differences[i] = wall[WITH][i] - wall[which][i];
    }
    print_quartiles(wall[which], rounds);
    print_quartiles(cpu[which], rounds);
    print_quartiles(ratios, rounds);
    print_quartiles(differences, rounds);
    printf("0 %d 0\n", rounds);
}

int main(int argc, char **argv)
{
    const long packets = argc > 3 ? strtol(argv[1], NULL, 10) : 0;
    const long rounds = argc > 3 ? strtol(argv[2], NULL, 10) : 0;
    const int sender = make_sender();

    if (packets <= 0 || rounds <= 0 || rounds > RUNS_MAX)
        errx(2, "usage: flood PACKETS ROUNDS COMMAND [ARG...]");
    flood(sender, packets, &wall[WITH][0], &cpu[WITH][0]); /* fills the buffer */
    for (int i = 0; i < 2 * (int)rounds; i++) {
        const int which = (i + i / 2) % 2; /* there and back */
        const pid_t pid = which == WITH ? start(argv + 3) : 0;
        flood(sender, packets, &wall[which][i / 2], &cpu[which][i / 2]);
        if (pid) {
            kill(pid, SIGINT);
            waitpid(pid, NULL, 0);
        }
    }
    print(WITH, (int)rounds);
    print(WITHOUT, (int)rounds);
    return 0;
}
