/* SPDX-License-Identifier: MIT */
/*
 * Times several commands side by side: A B C, C B A, A B C ..., so that whatever else the machine
 * does meanwhile, and what one command leaves in the caches, meets all of them.
 *
 *   runner [-o] [-l LINES] [-t SECONDS] [-r RUNS] -- COMMAND ARG... [-- COMMAND ARG...]...
 *
 * Each command is run once to warm up, then as often as SECONDS allow for all of them together, at
 * least 5 and at most RUNS times; with -o the last of them only once, because it takes long. Output
 * goes to /dev/null. With -l the output is read, as head(1) would, until there are LINES of it.
 *
 * Prints a line for each command:
 *   - quartile, median, quartile of the wall time, in milliseconds
 *   - the same of the CPU time, user and system
 *   - ... of the first command's wall time divided by this one's in the same round
 *   - ... of the first command's wall time less this one's
 *   - the largest peak of memory in KiB, the number of runs, the last exit status
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "quartiles.h"

enum { COMMANDS_MAX = 16, RUNS_MIN = 5 };

struct command {
    char **argv;
    double wall[RUNS_MAX], cpu[RUNS_MAX]; /* milliseconds */
    long peak;                            /* KiB */
    int runs;
    int status; /* exit status, or 128 and the signal */
};

static struct command commands[COMMANDS_MAX];
static long lines; /* 0: discard the output */

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "runner: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static double milliseconds(struct timeval time)
{
    return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

static _Noreturn void execute(char **argv, int null, int output)
{
    if (dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(null, STDERR_FILENO) < 0)
        _exit(127);
    if (argv[0])
        execvp(argv[0], argv);
    _exit(127);
}

static void read_lines(int fd)
{
    static char buffer[64 * 1024];
    long left = lines;
    ssize_t length;

    while (left > 0 && (length = read(fd, buffer, sizeof buffer)) > 0)
        for (const char *at = buffer; (at = memchr(at, '\n', (size_t)(buffer + length - at))); at++)
            left--;
}

/* Runs it once; the wall time is from fork to the end. */
static void run(struct command *command, int null)
{
    struct rusage usage;
    int status = 0;
    int output[2] = {-1, null};
    double start = now();

    if (lines && pipe2(output, O_CLOEXEC) < 0)
        die("pipe");
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0)
        execute(command->argv, null, output[1]);
    if (lines) {
        close(output[1]);
        read_lines(output[0]);
        close(output[0]);
    }
    if (wait4(pid, &status, 0, &usage) < 0)
        die("wait4");
    command->wall[command->runs] = now() - start;
    command->cpu[command->runs++] = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
    if (usage.ru_maxrss > command->peak)
        command->peak = usage.ru_maxrss;
    command->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void print(const struct command *command)
{
    const struct command *first = commands;
    double ratios[RUNS_MAX] = {0}, differences[RUNS_MAX] = {0};

    for (int i = 0; i < first->runs; i++) {
        double wall = command->wall[i < command->runs ? i : 0];
        ratios[i] = first->wall[i] / wall;
        differences[i] = first->wall[i] - wall;
    }
    print_quartiles(command->wall, command->runs);
    print_quartiles(command->cpu, command->runs);
    print_quartiles(ratios, first->runs);
    print_quartiles(differences, first->runs);
    printf("%ld %d %d\n", command->peak, command->runs, command->status);
}

/* Splits the arguments at "--"; returns the number of commands. */
static int split(char **argv)
{
    int count = 0;

    while (*argv) {
        if (count == COMMANDS_MAX)
            die("too many commands");
        commands[count++].argv = argv;
        while (*argv && strcmp(*argv, "--") != 0)
            argv++;
        if (*argv)
            *argv++ = NULL;
    }
    return count;
}

static int clamp(double value, int low, int high)
{
    if (value < low)
        return low;
    return value > high ? high : (int)value;
}

/* Runs each command once; returns the milliseconds of those that will be run again. */
static double warm_up(int count, int again, int null)
{
    double round = 0;

    for (int i = 0; i < count; i++)
        run(&commands[i], null);
    for (int i = 0; i < again; i++) {
        round += commands[i].wall[0];
        commands[i].runs = 0;
    }
    return round;
}

int main(int argc, char **argv)
{
    double seconds = 10;
    int runs = 101;
    bool last_once = false;
    int option;

    while ((option = getopt(argc, argv, "+ol:t:r:")) != -1) {
        if (option == 'o')
            last_once = true;
        else if (option == 'l')
            lines = strtol(optarg, NULL, 10);
        else if (option == 't')
            seconds = strtod(optarg, NULL);
        else if (option == 'r')
            runs = clamp(strtod(optarg, NULL), RUNS_MIN, RUNS_MAX);
        else
            return 2;
    }
    int count = split(argv + optind);
    int again = count - last_once;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        die("/dev/null");
    runs = clamp(seconds * 1e3 / warm_up(count, again, null), RUNS_MIN, runs);
    for (int i = 0; i < runs; i++)
        for (int j = 0; j < again; j++)
            run(&commands[i % 2 ? again - 1 - j : j], null);
    for (int i = 0; i < count; i++)
        print(&commands[i]);
    return EXIT_SUCCESS;
}
