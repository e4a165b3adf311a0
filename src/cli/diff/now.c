/* SPDX-License-Identifier: MIT */
#include "cli/diff/now.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Never returns. */
static void now_run(const struct question *question, int to)
{
    static char program[] = "fastnet", save[] = "--save=-";
    char *argv[QUESTION_WORDS_MAX + 3] = {program};
    int argc = 1, status = STATUS_FAILURE;
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    for (size_t i = 0; i < question->count; i++)
        argv[argc++] = question->words[i];
    argv[argc++] = save;
    argv[argc] = NULL;
    if (dup2(to, STDOUT_FILENO) >= 0 && (nothing < 0 || dup2(nothing, STDIN_FILENO) >= 0))
        status = question->lister->run(argc, argv);
    fflush(stdout);
    _exit(status);
}

int now_begin(struct now_listing *now, const struct question *question)
{
    const pid_t self = getpid();
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    now->child = fork();
    if (now->child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* the child must not go on without a reader */
        if (getppid() != self)
            _exit(STATUS_FAILURE);
        now_run(question, ends[1]);
    }
    const int error = now->child < 0 ? -errno : 0;
    close(ends[1]);
    now->rows = ends[0];
    if (!error)
        return 0;
    close(ends[0]);
    now->child = 0;
    return error;
}

int now_finish(struct now_listing *now)
{
    int status = 0;
    pid_t ended = 0;

    if (!now->child)
        return 0;
    close(now->rows);
    do
        ended = waitpid(now->child, &status, 0);
    while (ended < 0 && errno == EINTR);
    now->child = 0;
    return ended >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
