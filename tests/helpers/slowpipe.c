/* SPDX-License-Identifier: MIT */
/*
 * Runs a program whose stdout is a small pipe that does not block and is read slowly.
 *
 *     slowpipe PROGRAM [ARGUMENT...]
 *
 * What the program writes is copied to stdout; its exit status is the one returned.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIPE_SIZE = 4096 };

static pid_t start(char **command, const int ends[2])
{
    pid_t child = fork();
    if (child < 0)
        err(2, "fork");
    if (child > 0)
        return child;
    if (dup2(ends[1], STDOUT_FILENO) < 0)
        err(2, "dup2");
    close(ends[0]);
    close(ends[1]);
    execvp(command[0], command);
    err(2, "%s", command[0]);
}

int main(int argc, char **argv)
{
    static const struct timespec pause = {.tv_nsec = 2000000};
    char buffer[PIPE_SIZE];
    int ends[2], status;
    ssize_t length;

    if (argc < 2)
        errx(2, "usage: slowpipe PROGRAM [ARGUMENT...]");
    if (pipe(ends) < 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) < 0)
        err(2, "pipe");
    (void)fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE);
    pid_t child = start(argv + 1, ends);
    close(ends[1]);
    do {
        nanosleep(&pause, NULL);
        length = read(ends[0], buffer, sizeof buffer);
        if (length > 0 && fwrite(buffer, 1, (size_t)length, stdout) != (size_t)length)
            err(2, "write");
    } while (length > 0);
    if (waitpid(child, &status, 0) != child)
        err(2, "wait");
    if (WIFSIGNALED(status))
        return 128 + WTERMSIG(status);
    return WEXITSTATUS(status);
}
