/* SPDX-License-Identifier: MIT */
/*
 * What it costs to count packets by flow: several commands in turn count those of a flood of small
 * frames over a veth pair.
 *
 *   capture PACKETS ROUNDS FROM FLOWS [terminal] -- COMMAND... [-- COMMAND...]...
 *   capture recv INTERFACE          counts with recv(2), until it is interrupted
 *   capture libpcap INTERFACE       ... with libpcap
 *
 * Prints a line for each command as runner does, in nanoseconds for each packet in place of
 * milliseconds: the processor time of its process where runner has the wall time, and the part of
 * it in user space where runner has the processor time. What a command takes without packets, in
 * the median of as many runs, is subtracted. The line of a command that cannot count is empty. A
 * command counts as soon as it has a second thread, and until it is interrupted. terminal: it has
 * one.
 */
#include "../helpers/frames.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "quartiles.h"

enum { COMMANDS_MAX = 8, SNAP = 128, RING = 32 << 20, WAIT_MS = 20 };

/* --- Counters to compare with ------------------------------------------------------------------
 */

struct flow {
    uint32_t from, to, ports, protocol;
    uint64_t packets, bytes;
};

enum { SLOTS = 1 << 17 }; /* twice the 65,536 flows that fastnet has room for */

static struct flow slots[SLOTS];
static volatile sig_atomic_t ended;

static void end(int signal)
{
    (void)signal;
    ended = 1;
}

static void count_packet(const uint8_t *bytes, size_t captured, size_t length)
{
    struct flow key = {.protocol = 0};
    uint64_t hash;
    size_t slot;

    if (captured < 38 || bytes[12] != 8 || bytes[13])
        return;
    memcpy(&key.from, bytes + 26, sizeof key.from);
    memcpy(&key.to, bytes + 30, sizeof key.to);
    memcpy(&key.ports, bytes + 34, sizeof key.ports);
    key.protocol = bytes[23];
    hash = (((uint64_t)key.from << 32 | key.ports) ^ key.to) * UINT64_C(0x9e3779b97f4a7c15);
    slot = (size_t)(hash >> 47);
    while (slots[slot].packets && memcmp(&slots[slot], &key, offsetof(struct flow, packets)) != 0)
        slot = (slot + 1) % SLOTS;
    if (!slots[slot].packets)
        slots[slot] = key;
    slots[slot].packets++;
    slots[slot].bytes += length;
}

static void *do_nothing(void *arg)
{
    for (;;)
        pause();
    return arg;
}

/* From now on it has a second thread. */
static void tell_ready(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, do_nothing, NULL) != 0)
        errx(2, "no thread");
}

/* Returns whether packets were lost. */
static bool count_by_recv(const char *interface)
{
    const struct sockaddr_ll all = {.sll_family = AF_PACKET,
                                    .sll_protocol = htons(ETHERTYPE_IP),
                                    .sll_ifindex = (int)if_nametoindex(interface)};
    const struct timeval wait = {.tv_usec = 1000L * WAIT_MS};
    const int fd = socket(AF_PACKET, SOCK_RAW, 0), room = RING;
    struct tpacket_stats statistics = {0, 0};
    socklen_t size = sizeof statistics;
    uint8_t bytes[SNAP];

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) < 0 ||
        bind(fd, (const struct sockaddr *)&all, sizeof all) < 0)
        err(2, "%s", interface);
    tell_ready();
    while (!ended) {
        const ssize_t length = recv(fd, bytes, sizeof bytes, MSG_TRUNC);
        if (length > 0)
            count_packet(bytes, (size_t)length < SNAP ? (size_t)length : SNAP, (size_t)length);
    }
    return getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &size) == 0 &&
           statistics.tp_drops > 0;
}

/* As in pcap/pcap.h, which need not be installed. */
struct pcap_pkthdr {
    struct timeval time;
    uint32_t captured, length;
};
enum { PCAP_RECEIVED, PCAP_DROPPED, PCAP_DROPPED_BY_INTERFACE, PCAP_STATISTICS };

static void take_from_pcap(uint8_t *arg, const struct pcap_pkthdr *header, const uint8_t *bytes)
{
    (void)arg;
    count_packet(bytes, header->captured, header->length);
}

static void *library;

static void load(void *function, const char *name) /* a pointer to a pointer to a function */
{
    void *found = dlsym(library, name);

    if (!found)
        errx(2, "%s", dlerror());
    memcpy(function, &found, sizeof found);
}

static bool count_by_pcap(const char *interface)
{
    void *(*create)(const char *, char *);
    int (*set_snaplen)(void *, int), (*set_timeout)(void *, int), (*set_buffer_size)(void *, int);
    int (*activate)(void *), (*setnonblock)(void *, int, char *), (*get_selectable_fd)(void *);
    int (*dispatch)(void *, int, void (*)(uint8_t *, const struct pcap_pkthdr *, const uint8_t *),
                    uint8_t *);
    int (*stats)(void *, unsigned *);
    unsigned statistics[PCAP_STATISTICS] = {0};
    char text[256];
    void *pcap;

    load(&create, "pcap_create");
    load(&set_snaplen, "pcap_set_snaplen");
    load(&set_timeout, "pcap_set_timeout");
    load(&set_buffer_size, "pcap_set_buffer_size");
    load(&activate, "pcap_activate");
    load(&setnonblock, "pcap_setnonblock");
    load(&get_selectable_fd, "pcap_get_selectable_fd");
    load(&dispatch, "pcap_dispatch");
    load(&stats, "pcap_stats");
    pcap = create(interface, text);
    if (!pcap || set_snaplen(pcap, SNAP) || set_timeout(pcap, WAIT_MS) ||
        set_buffer_size(pcap, RING) || activate(pcap) < 0 || setnonblock(pcap, 1, text) < 0)
        errx(2, "%s: libpcap cannot capture", interface);
    struct pollfd ready = {.fd = get_selectable_fd(pcap), .events = POLLIN};
    tell_ready();
    while (!ended)
        if (dispatch(pcap, -1, take_from_pcap, NULL) == 0)
            poll(&ready, 1, WAIT_MS);
    return stats(pcap, statistics) == 0 && statistics[PCAP_DROPPED] > 0;
}

static int count(const char *how, const char *interface)
{
    const struct sigaction action = {.sa_handler = end};

    sigaction(SIGINT, &action, NULL);
    memset(slots, 0, sizeof slots); /* no page of it is new later */
    if (strcmp(how, "recv") == 0)
        return count_by_recv(interface);
    if (!(library = dlopen("libpcap.so.0.8", RTLD_NOW)) &&
        !(library = dlopen("libpcap.so.1", RTLD_NOW)))
        errx(2, "%s", dlerror());
    return count_by_pcap(interface);
}

/* --- Rounds ------------------------------------------------------------------------------------
 */

static struct command {
    char **argv;
    double used[RUNS_MAX], user[RUNS_MAX];                 /* nanoseconds for each packet */
    double used_by_none[RUNS_MAX], user_by_none[RUNS_MAX]; /* without any, in the unit of each */
    long peak;                                             /* KiB */
    int status;                                            /* the worst */
    bool counts;
} commands[COMMANDS_MAX];

static long flows;
static bool has_terminal;

static int threads_of(pid_t pid)
{
    char path[64];
    int threads = 0;
    DIR *directory;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    directory = opendir(path);
    while (directory && readdir(directory))
        threads++;
    if (directory)
        closedir(directory);
    return threads - 2; /* . and .. */
}

static void sleep_ms(long milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    nanosleep(&time, NULL);
}

/* A terminal; a process of its own reads what it shows. */
static int open_terminal(void)
{
    const struct winsize size = {.ws_row = 40, .ws_col = 140};
    const int other = posix_openpt(O_RDWR | O_NOCTTY);
    const char *name = other < 0 || grantpt(other) || unlockpt(other) ? NULL : ptsname(other);
    const int terminal = name ? open(name, O_RDWR | O_NOCTTY) : -1;

    if (terminal < 0 || ioctl(terminal, TIOCSWINSZ, &size) < 0)
        err(1, "terminal");
    if (fork() == 0) {
        char bytes[4096];
        close(terminal);
        while (read(other, bytes, sizeof bytes) > 0)
            continue;
        _exit(0);
    }
    close(other);
    return terminal;
}

/* Returns -1 if it does not count. */
static pid_t start(char **argv)
{
    enum { PATIENCE = 10000 }; /* milliseconds */
    const int there = has_terminal ? open_terminal() : open("/dev/null", O_RDWR);
    const pid_t pid = fork();

    if (pid == 0) {
        if (dup2(there, STDIN_FILENO) >= 0 && dup2(there, STDOUT_FILENO) >= 0 &&
            dup2(there, STDERR_FILENO) >= 0 && close(there) == 0)
            execvp(*argv, argv);
        _exit(127);
    }
    close(there);
    for (int i = 0; i < PATIENCE && waitpid(pid, NULL, WNOHANG) == 0; i++) {
        if (threads_of(pid) > 1)
            return pid;
        sleep_ms(1);
    }
    return -1;
}

static double nanoseconds(struct timeval time)
{
    return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

/* Returns the exit status, or 128 and the signal; -1: it does not count. */
static int run(struct command *command, struct frames *frames, long packets, struct rusage *usage)
{
    const pid_t pid = start(command->argv);
    int status;

    if (pid < 0)
        return -1;
    for (long i = 0; i < packets; i++)
        frames_add(frames, IPPROTO_UDP, 0x0a000000 + (uint32_t)(i % flows), 1024);
    frames_send(frames);
    sleep_ms(5L * WAIT_MS); /* all have been handed over, and counted */
    kill(pid, SIGINT);
    if (wait4(pid, &status, 0, usage) < 0)
        err(1, "wait4");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static double used_of(const struct rusage *usage)
{
    return nanoseconds(usage->ru_utime) + nanoseconds(usage->ru_stime);
}

/* Of so many packets; each: of how many the figures tell. */
static void measure_run(struct command *command, double *used, double *user, struct frames *frames,
                        long packets, long each)
{
    struct rusage usage;
    const int status = command->counts ? run(command, frames, packets, &usage) : -1;

    if (status < 0) {
        command->counts = false;
        return;
    }
    *used = used_of(&usage) / (double)each;
    *user = nanoseconds(usage.ru_utime) / (double)each;
    if (usage.ru_maxrss > command->peak)
        command->peak = usage.ru_maxrss;
    if (status > command->status)
        command->status = status;
}

/* The first run pays for memory in the pieces that another command left: it is not measured. */
static void measure(struct command *command, int round, struct frames *frames, long packets)
{
    double *none = &command->used_by_none[round], *user = &command->user_by_none[round];

    measure_run(command, none, user, frames, 0, packets);
    measure_run(command, none, user, frames, 0, packets);
    measure_run(command, &command->used[round], &command->user[round], frames, packets, packets);
}

/* Few packets can take less than none did: at least one nanosecond. */
static void subtract(double *with, const double *without, int rounds)
{
    const double none = median_of(without, rounds);

    for (int i = 0; i < rounds; i++)
        with[i] = with[i] - none > 1 ? with[i] - none : 1;
}

/* The kernel only guesses which part was in user space. */
static void finish(struct command *command, int rounds)
{
    subtract(command->used, command->used_by_none, rounds);
    subtract(command->user, command->user_by_none, rounds);
    for (int i = 0; i < rounds; i++)
        if (command->user[i] > command->used[i])
            command->user[i] = command->used[i];
}

static void print(const struct command *command, int rounds)
{
    double ratios[RUNS_MAX] = {0}, differences[RUNS_MAX] = {0};

    for (int i = 0; i < rounds; i++) {
        ratios[i] = commands->used[i] / command->used[i];
        differences[i] = commands->used[i] - command->used[i];
    }
    print_quartiles(command->used, rounds);
    print_quartiles(command->user, rounds);
    print_quartiles(ratios, rounds);
    print_quartiles(differences, rounds);
    printf("%ld %d %d\n", command->peak, rounds, command->status);
}

/* Splits the arguments at "--"; returns the number of commands. */
static int split(char **argv)
{
    int number = 0;

    for (; *argv && number < COMMANDS_MAX; argv++) {
        if (strcmp(*argv, "--") != 0)
            continue;
        *argv = NULL;
        commands[number++].argv = argv + 1;
    }
    return number;
}

int main(int argc, char **argv)
{
    static struct frames frames;
    const long packets = argc > 6 ? strtol(argv[1], NULL, 10) : 0;
    const long rounds = argc > 6 ? strtol(argv[2], NULL, 10) : 0;
    const int number = split(argv);

    flows = argc > 6 ? strtol(argv[4], NULL, 10) : 0;
    has_terminal = argc > 6 && argv[5] && strcmp(argv[5], "terminal") == 0;
    if (argc == 3)
        return count(argv[1], argv[2]);
    if (packets <= 0 || rounds <= 0 || rounds > RUNS_MAX || flows <= 0 || !number)
        errx(2, "usage: capture PACKETS ROUNDS FROM FLOWS [terminal] -- COMMAND... [-- ...]...");
    frames_open(&frames, argv[3]);
    for (int i = 0; i < number; i++)
        commands[i].counts = true;
    for (int i = 0; i < (int)rounds; i++)
        for (int j = 0; j < number; j++) /* there and back */
            measure(&commands[i % 2 ? number - 1 - j : j], i, &frames, packets);
    for (int i = 0; i < number; i++)
        finish(&commands[i], (int)rounds);
    for (int i = 0; i < number; i++)
        if (commands[i].counts)
            print(&commands[i], (int)rounds);
        else
            puts("");
    return 0;
}
