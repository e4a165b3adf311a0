/* SPDX-License-Identifier: MIT */
/* Runs the doctor in a child, and records its findings. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/record/record.h"
#include "fastnet/clock.h"

enum { FINDINGS_SECONDS = 60, FINDINGS_MAX = 1024 * 1024, FINDINGS_PIECE = 16 * 1024 };

/* Columns of --no-remote: texts and command lines may have addresses. */
#define NO_TEXTS "--columns=severity,rule,process,pid,value,limit,moved,scope"

/* Becomes the doctor, whose rows go to the pipe. */
static void findings_run(const struct record_command *command, int to, pid_t parent)
{
    static char name[] = "doctor", form[] = "--ndjson", no_texts[] = NO_TEXTS;
    char *const arguments[] = {name, form, command->no_remote ? no_texts : NULL, NULL};
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || nowhere < 0 || dup2(to, STDOUT_FILENO) < 0 ||
        dup2(nowhere, STDERR_FILENO) < 0 || dup2(nowhere, STDIN_FILENO) < 0)
        _exit(STATUS_FAILURE);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    close(command->segments.lock); /* the next recorder must not wait for this child */
    _exit(doctor_run(command->no_remote ? 3 : 2, arguments));
}

void findings_start(struct findings *findings, const struct record_command *command)
{
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    const pid_t self = getpid();
    int ends[2];

    if (findings->child || now < findings->next || pipe2(ends, O_CLOEXEC) < 0)
        return;
    findings->next = now + FINDINGS_SECONDS * CLOCK_SECOND;
    findings->child = fork();
    if (findings->child == 0)
        findings_run(command, ends[1], self);
    close(ends[1]);
    findings->pipe = ends[0];
    if (findings->child < 0) {
        close(ends[0]);
        findings->child = 0;
    }
}

/* Ends the child. Returns true if the doctor could read all. */
static bool findings_reap(struct findings *findings)
{
    int status = 0;
    pid_t ended;

    close(findings->pipe);
    while ((ended = waitpid(findings->child, &status, 0)) < 0 && errno == EINTR)
        continue;
    findings->child = 0;
    return ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) != STATUS_FAILURE;
}

/* Writes the rows, which are whole lines, and the mark. */
static void findings_put(struct findings *findings, bool complete, struct segment *segment)
{
    uint64_t rows = 0;
    size_t length = findings->length;

    while (length > 0 && findings->rows[length - 1] != '\n')
        length--;
    for (size_t i = 0; i < length; i++)
        rows += findings->rows[i] == '\n';
    const struct mark mark = {.name = "findings",
                              .time = clock_nanoseconds(CLOCK_REALTIME),
                              .rows = rows,
                              .complete = complete && length == findings->length,
                              .more = ""};
    writer_put(&segment->writer, findings->rows, length);
    segment->rows += rows;
    segment->marked += rows; /* rows of sockets before them belong to the next tick */
    mark_put(segment, &mark);
}

void findings_read(struct findings *findings, struct segment *segment)
{
    char *larger = realloc(findings->rows, findings->length + FINDINGS_PIECE);
    const bool fits = larger && findings->length + FINDINGS_PIECE <= FINDINGS_MAX;
    ssize_t got = 0;

    if (larger)
        findings->rows = larger;
    if (fits)
        got = read(findings->pipe, findings->rows + findings->length, FINDINGS_PIECE);
    if (got > 0)
        findings->length += (size_t)got;
    if (got > 0 || (got < 0 && errno == EINTR))
        return;
    if (!fits)
        kill(findings->child, SIGKILL);
    if (larger)
        findings_put(findings, findings_reap(findings) && got == 0, segment);
    else
        (void)findings_reap(findings);
    findings->length = 0;
}

void findings_finish(struct findings *findings)
{
    if (findings->child) {
        kill(findings->child, SIGKILL);
        (void)findings_reap(findings);
    }
    free(findings->rows);
}
