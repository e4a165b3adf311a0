/*
 * Times several commands side by side: they are run in turn, A B C A B C ..., so that whatever
 * else the machine does meanwhile meets all of them.
 *
 *   runner [-o] [-t SECONDS] [-r RUNS] -- COMMAND ARG... [-- COMMAND ARG...]...
 *
 * Each command is run once to warm up, then as often as SECONDS allow for all of them together, at
 * least 5 and at most RUNS times; with -o the last of them but once, for it takes long. A line a
 * command: median and minimum of the wall time in milliseconds, the largest peak memory in KiB, the
 * number of runs, the last exit status. Output goes to /dev/null.
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

enum { COMMANDS_MAX = 16, RUNS_MIN = 5, RUNS_MAX = 1001 };

struct command {
    char **argv;
    double times[RUNS_MAX]; /* milliseconds */
    long peak;              /* KiB */
    int status;             /* exit status, or 128 and the signal */
};

static struct command commands[COMMANDS_MAX];

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

static _Noreturn void execute(char **argv, int null)
{
    for (int fd = 0; fd < 3; fd++)
        if (dup2(null, fd) < 0)
            _exit(127);
    if (argv[0])
        execvp(argv[0], argv);
    _exit(127);
}

/* Runs it once and returns the milliseconds from fork to the end. */
static double run(struct command *command, int null)
{
    struct rusage usage;
    int status = 0;
    double start = now();
    pid_t pid = fork();

    if (pid < 0)
        die("fork");
    if (pid == 0)
        execute(command->argv, null);
    if (wait4(pid, &status, 0, &usage) < 0)
        die("wait4");
    double time = now() - start;
    if (usage.ru_maxrss > command->peak)
        command->peak = usage.ru_maxrss;
    command->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return time;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

static void print(struct command *command, int runs)
{
    qsort(command->times, (size_t)runs, sizeof *command->times, compare);
    printf("%.3f %.3f %ld %d %d\n", command->times[runs / 2], command->times[0], command->peak,
           runs, command->status);
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

/* Runs each command once; returns the milliseconds of all that will be run again. */
static double warm_up(int count, int again, int null)
{
    double round = 0;

    for (int i = 0; i < count; i++) {
        commands[i].times[0] = run(&commands[i], null);
        round += i < again ? commands[i].times[0] : 0;
    }
    return round;
}

int main(int argc, char **argv)
{
    double seconds = 10;
    int runs = 31;
    bool last_once = false;
    int option;

    while ((option = getopt(argc, argv, "+ot:r:")) != -1) {
        if (option == 'o')
            last_once = true;
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
            commands[j].times[i] = run(&commands[j], null);
    for (int i = 0; i < count; i++)
        print(&commands[i], i < again ? runs : 1);
    return EXIT_SUCCESS;
}
