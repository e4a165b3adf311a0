/* SPDX-License-Identifier: MIT */
#include "trial.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Seconds that a run may take; and that a sanitizer may take to say where it was ended. */
enum { PATIENCE = 10, LAST_WORDS = 5 };

static void path_of(const struct trial *trial, const char *name, char path[static PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", trial->directory, name);
}

/* --- Running ---------------------------------------------------------------------------------- */

static void redirect(const char *path, int flags, int to)
{
    const int fd = open(path, flags, 0644);

    if (fd < 0 || dup2(fd, to) < 0)
        err(2, "%s", path);
    if (fd != to)
        close(fd);
}

static pid_t start(char *const words[], const char *in, const char *out, const char *error)
{
    const pid_t pid = fork();
    const struct rlimit limit = {PATIENCE, PATIENCE + LAST_WORDS};
    sigset_t none;

    if (pid < 0)
        err(2, "fork");
    if (pid > 0)
        return pid;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CPU, &limit);
    redirect(in, O_RDONLY, STDIN_FILENO);
    redirect(out, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(error, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    execv(words[0], words);
    err(2, "%s", words[0]);
}

static struct timespec now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time;
}

/* Whether it ended within these seconds. SIGCHLD is blocked, so that it can be waited for. */
static bool ends_within(pid_t pid, int seconds, int *status)
{
    const struct timespec started = now();
    const struct timespec moment = {.tv_nsec = 100000000};
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    while (waitpid(pid, status, WNOHANG) != pid) {
        if (now().tv_sec - started.tv_sec > seconds)
            return false;
        sigtimedwait(&child, NULL, &moment);
    }
    return true;
}

/* Returns false for one that had to be ended; by SIGABRT first, for which sanitizers say where. */
static bool finish(pid_t pid, int *status)
{
    if (ends_within(pid, PATIENCE, status))
        return true;
    kill(pid, SIGABRT);
    if (!ends_within(pid, LAST_WORDS, status)) {
        kill(pid, SIGKILL);
        waitpid(pid, status, 0);
    }
    return false;
}

/* --- What is wrong ---------------------------------------------------------------------------- */

static bool fails(struct trial *trial, const char *reason)
{
    snprintf(trial->reason, sizeof trial->reason, "%s", reason);
    return false;
}

/* Control bytes that do not belong there; C1 included: after 0xC2 in UTF-8. */
static bool has_control_byte(const char *path, const char *allowed)
{
    FILE *file = fopen(path, "re");
    int byte, previous = 0;
    bool found = false;

    if (!file)
        err(2, "%s", path);
    while (!found && (byte = getc(file)) != EOF) {
        found = byte == '\0' || (byte < ' ' && !strchr(allowed, byte)) || byte == '\177' ||
                (previous == 0xC2 && byte >= 0x80 && byte < 0xA0);
        previous = byte;
    }
    fclose(file);
    return found;
}

static bool has_word(const struct trial *trial, const char *word)
{
    for (size_t i = 0; trial->words[i]; i++)
        if (strcmp(trial->words[i], word) == 0)
            return true;
    return false;
}

/* A program that could not begin to list, and said so, need not have written "[]" or a heading. */
static bool passes(const struct trial *trial, const char *judge, const char *option,
                   const char *path, bool partial)
{
    char program[PATH_MAX], word[16];
    char *words[] = {program, option ? word : NULL, NULL};
    struct stat out;
    int status = 0;

    if (stat(path, &out) == 0 && out.st_size == 0 && partial)
        return true;
    snprintf(program, sizeof program, "%s/%s", trial->helpers, judge);
    snprintf(word, sizeof word, "%s", option ? option : "");
    return finish(start(words, path, "/dev/null", "/dev/null"), &status) && status == 0;
}

static bool said_well(struct trial *trial, bool partial)
{
    const bool csv = has_word(trial, "--csv");
    char out[PATH_MAX], error[PATH_MAX];

    path_of(trial, "out", out);
    path_of(trial, "err", error);
    if (has_control_byte(out, csv ? "\r\n" : trial->tabs ? "\t\n" : "\n"))
        return fails(trial, "a control byte on stdout");
    if (has_control_byte(error, "\n"))
        return fails(trial, "a control byte on stderr");
    if (has_word(trial, "--json") && !passes(trial, "jsonlint", NULL, out, partial))
        return fails(trial, "JSON that is not valid");
    if (has_word(trial, "--ndjson") && !passes(trial, "jsonlint", "--lines", out, partial))
        return fails(trial, "JSON that is not valid");
    if (csv && !passes(trial, "csvlint", NULL, out, partial))
        return fails(trial, "CSV that is not valid");
    return true;
}

/* The status of fastnet doctor says what it found: 10 warnings, 20 faults. */
static bool has_findings(const struct trial *trial, int status)
{
    return has_word(trial, "doctor") && WIFEXITED(status) &&
           (WEXITSTATUS(status) == 10 || WEXITSTATUS(status) == 20);
}

static bool ended_well(struct trial *trial, int status)
{
    if (trial->report[0])
        return fails(trial, "a sanitizer's report");
    if ((WIFEXITED(status) && WEXITSTATUS(status) <= 1) || has_findings(trial, status))
        return true;
    snprintf(trial->reason, sizeof trial->reason, "%s %d",
             WIFEXITED(status) ? "exit status" : "ended by signal",
             WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return false;
}

bool trial_run(struct trial *trial)
{
    char out[PATH_MAX], error[PATH_MAX], report[PATH_MAX];
    int status = 0;
    bool in_time;
    pid_t pid;

    path_of(trial, "out", out);
    path_of(trial, "err", error);
    trial->reason[0] = trial->report[0] = '\0';
    pid = start(trial->words, "/dev/null", out, error);
    in_time = finish(pid, &status);
    snprintf(trial->report, sizeof trial->report, "report.%d", (int)pid);
    path_of(trial, trial->report, report);
    if (access(report, F_OK) < 0)
        trial->report[0] = '\0';
    if (!in_time || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
        return fails(trial, "not ended after 10 s");
    return ended_well(trial, status) &&
           said_well(trial, WEXITSTATUS(status) != 0 && !has_findings(trial, status));
}
