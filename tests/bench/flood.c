/* SPDX-License-Identifier: MIT */
/*
 * Measures the time that an event takes, with and without a command that counts it. Rounds with and
 * without the command take turns. The events are
 *
 *   packets      dropped packets: a flood to a socket on loopback whose receive buffer is full
 *   connections  of TCP over loopback, which end at once; both ends are counted
 *   reader       such connections, 10,000 a second; measured is the processor time of the command
 *
 *   flood packets|connections|reader COUNT ROUNDS COMMAND [ARG...] [-- OTHER [ARG...]]
 *
 * The other command, if there is one, runs in the rounds without the first command. Prints two
 * lines as runner does, with and without, in nanoseconds for each event in place of milliseconds;
 * the last number says in how many rounds the command failed, because it lost events. A command
 * runs until it is interrupted, and has loaded its program as soon as it has a link (bpf(2)).
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
enum events { PACKETS, CONNECTIONS, READER };

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

/* A listener for make_connections(). Returns it, and its address. */
static int make_listener(struct sockaddr_in *at)
{
    socklen_t length = sizeof *at;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);

    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (listener < 0 || bind(listener, (struct sockaddr *)at, sizeof *at) < 0 ||
        listen(listener, 8) < 0 || getsockname(listener, (struct sockaddr *)at, &length) < 0)
        err(1, "listener");
    return listener;
}

static void make_connections(int listener, const struct sockaddr_in *at, long count)
{
    for (long i = 0; i < count; i++) {
        const int client = socket(AF_INET, SOCK_STREAM, 0);
        if (client < 0 || connect(client, (const struct sockaddr *)at, sizeof *at) < 0)
            err(1, "connect");
        const int server = accept(listener, NULL, NULL);
        if (server < 0)
            err(1, "accept");
        close(client);
        close(server);
    }
}

static void send_packets(int sender, long count)
{
    for (long i = 0; i < count; i++)
        if (send(sender, "x", 1, 0) < 0)
            err(1, "send");
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

/* The socket that gets the packets, or the listener; and the function of a round. */
struct flood {
    enum events events;
    int socket;
    struct sockaddr_in at; /* address of the listener */
    long count;
};

/* Makes 10,000 connections a second, in batches of one millisecond. */
static void make_paced_connections(const struct flood *flood, long count)
{
    enum { BATCH = 10, BATCH_NANOSECONDS = 1000000, SECOND = 1000000000 };
    struct timespec next;

    clock_gettime(CLOCK_MONOTONIC, &next);
    for (; count > 0; count -= BATCH) {
        make_connections(flood->socket, &flood->at, count < BATCH ? count : BATCH);
        next.tv_nsec += BATCH_NANOSECONDS;
        next.tv_sec += next.tv_nsec / SECOND;
        next.tv_nsec %= SECOND;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
}

static void flood_some(const struct flood *flood, long count)
{
    if (flood->events == READER)
        make_paced_connections(flood, count);
    else if (flood->events == CONNECTIONS)
        make_connections(flood->socket, &flood->at, count);
    else
        send_packets(flood->socket, count);
}

/* The first tenth is not measured: it fills the buffer, and the command loads further programs.
 * pid: the command; 0: none. */
static void flood_measure(const struct flood *flood, pid_t pid, double *took, double *of_cpu)
{
    clockid_t processor = CLOCK_PROCESS_CPUTIME_ID;

    if (flood->events == READER && pid && clock_getcpuclockid(pid, &processor) != 0)
        errx(1, "processor time of a command");
    flood_some(flood, flood->count / 10 + 1);
    const double began = nanoseconds(CLOCK_MONOTONIC), before = nanoseconds(processor);
    flood_some(flood, flood->count);
    *of_cpu = (nanoseconds(processor) - before) / (double)flood->count;
    *took = flood->events == READER ? *of_cpu
                                    : (nanoseconds(CLOCK_MONOTONIC) - began) / (double)flood->count;
}

static void print(int which, int rounds, int failed)
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
    printf("0 %d %d\n", rounds, failed);
}

int main(int argc, char **argv)
{
    struct flood flood = {.events = argc < 2                              ? PACKETS
                                    : strcmp(argv[1], "connections") == 0 ? CONNECTIONS
                                    : strcmp(argv[1], "reader") == 0      ? READER
                                                                          : PACKETS,
                          .count = argc > 4 ? strtol(argv[2], NULL, 10) : 0};
    const long rounds = argc > 4 ? strtol(argv[3], NULL, 10) : 0;
    char **commands[BOTH] = {argv + 4, NULL};
    int failed[BOTH] = {0};

    if (flood.count <= 0 || rounds <= 0 || rounds > RUNS_MAX)
        errx(2,
             "usage: flood packets|connections|reader COUNT ROUNDS COMMAND [ARG...] [-- OTHER...]");
    flood.socket = flood.events == PACKETS ? make_sender() : make_listener(&flood.at);
    for (int i = 4; i < argc; i++)
        if (strcmp(argv[i], "--") == 0) {
            argv[i] = NULL;
            commands[WITHOUT] = argv + i + 1;
            break;
        }
    for (int i = 0; i < 2 * (int)rounds; i++) {
        const int which = (i + i / 2) % 2; /* there and back */
        const pid_t pid = commands[which] ? start(commands[which]) : 0;
        int status = 0;
        flood_measure(&flood, pid, &wall[which][i / 2], &cpu[which][i / 2]);
        if (pid) {
            kill(pid, SIGINT);
            waitpid(pid, &status, 0);
        }
        failed[which] += status != 0;
    }
    print(WITH, (int)rounds, failed[WITH]);
    print(WITHOUT, (int)rounds, failed[WITHOUT]);
    return 0;
}
