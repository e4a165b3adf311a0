/* SPDX-License-Identifier: MIT */
#include "cli/record/compress.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/rights.h"

/* Only directories that an ordinary user cannot write to; PATH is not used. */
static const struct {
    const char *program;
    enum recording_form form;
} compressors[] = {
    {"/usr/bin/zstd", RECORDING_ZSTD},       {"/bin/zstd", RECORDING_ZSTD},
    {"/usr/local/bin/zstd", RECORDING_ZSTD}, {"/usr/bin/gzip", RECORDING_GZIP},
    {"/bin/gzip", RECORDING_GZIP},
};

/* Becomes the program, from file to file. */
static void compress_execute(const char *program, int from, int to)
{
    static char quiet[] = "-q", to_stdout[] = "-c", path[] = "PATH=/usr/bin:/bin";
    static char name[] = "compress";
    char *const arguments[] = {name, quiet, to_stdout, NULL}, *const environment[] = {path, NULL};

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(from, STDIN_FILENO) >= 0 && dup2(to, STDOUT_FILENO) >= 0)
        (void)execve(program, arguments, environment);
    _exit(1);
}

/* Opens the raw segment, if it is a regular file of this user. */
static int compress_open(const struct record_segments *segments, const char *name)
{
    const int fd = openat(segments->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat file;

    return fd >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid()
               ? fd
               : -1;
}

/* Runs the program, and replaces the raw segment by its output. fdatasync() comes before the raw
 * segment is removed: otherwise, a loss of power could leave an empty file and no raw segment. */
static bool compress_replace(const struct record_segments *segments, const char *program,
                             const char *raw, const char *compressed)
{
    const int from = compress_open(segments, raw);
    const int to = openat(segments->directory, COMPRESS_TEMPORARY,
                          O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int status = 1;

    if (from < 0 || to < 0)
        return false;
    const pid_t child = fork();
    if (child == 0)
        compress_execute(program, from, to);
    if (child < 0 || waitpid(child, &status, 0) < 0 || status || fdatasync(to) < 0 ||
        renameat(segments->directory, COMPRESS_TEMPORARY, segments->directory, compressed) < 0) {
        (void)unlinkat(segments->directory, COMPRESS_TEMPORARY, 0);
        return false;
    }
    return unlinkat(segments->directory, raw, 0) == 0;
}

pid_t compress_start(const struct record_segments *segments, const struct recording_segment *raw)
{
    struct recording_segment segment = *raw;
    char name[RECORDING_NAME], compressed[RECORDING_NAME];
    const pid_t self = getpid();
    size_t i = 0;

    while (i < COUNT(compressors) && access(compressors[i].program, X_OK) < 0)
        i++;
    const pid_t child = i < COUNT(compressors) ? fork() : 0;
    if (child || i == COUNT(compressors))
        return child > 0 ? child : 0;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self)
        _exit(1);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    rights_drop();
    close(segments->lock); /* the next recorder must not wait for this child */
    (void)setpriority(PRIO_PROCESS, 0, 19);
    recording_segment_put(name, raw);
    segment.form = compressors[i].form;
    recording_segment_put(compressed, &segment);
    _exit(compress_replace(segments, compressors[i].program, name, compressed) ? 0 : 1);
}
