/* SPDX-License-Identifier: MIT */
#include "backend/saved/decompress.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/rights.h"

static const struct {
    const char *suffix, *program;
} programs[] = {{".zst", "zstd"}, {".gz", "gzip"}};

/* Returns the number of the program for a file; COUNT(programs) if the file is not compressed. */
static size_t program_of(const char *name)
{
    const size_t length = strlen(name);
    size_t i = 0;

    while (i < COUNT(programs) &&
           (length <= strlen(programs[i].suffix) ||
            strcmp(name + length - strlen(programs[i].suffix), programs[i].suffix) != 0))
        i++;
    return i;
}

bool decompress_is_needed(const char *name)
{
    return program_of(name) < COUNT(programs);
}

/* Room for one descriptor in a message (cmsg(3)). */
union descriptor_message {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))]; /* cppcheck-suppress unusedStructMember ; is the size */
};

/* Sends a byte with a descriptor. Returns 0 or -errno. */
static int send_descriptor(int socket, char byte, int fd)
{
    union descriptor_message control = {.bytes = {0}};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};

    control.header = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    while (sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
        if (errno != EINTR)
            return -errno;
    return 0;
}

/* Receives a byte, and a descriptor if the sender sent it. Returns 0 or -errno. */
static int receive_descriptor(int socket, unsigned char *byte, int *fd)
{
    union descriptor_message control = {.bytes = {0}};
    struct iovec part = {byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t length;

    *fd = -1;
    do
        length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (length < 0 && errno == EINTR);
    if (length != 1)
        return length < 0 ? -errno : -EPIPE;
    if (message.msg_controllen >= CMSG_LEN(sizeof *fd) && control.header.cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(&control.header), sizeof *fd);
    return 0;
}

/* --- The process ------------------------------------------------------------------------------ */

static _Noreturn void run_program(const char *program, int input, int output)
{
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    signal(SIGPIPE, SIG_DFL);
    if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
        (null < 0 || dup2(null, STDERR_FILENO) >= 0))
        execlp(program, program, "-dcq", (char *)NULL);
    _exit(127);
}

/* Decompresses a file: sends the descriptor to read from, then the exit status. */
static void serve_file(int socket, size_t program, int input)
{
    char answer;
    int ends[2], status = 0;

    if (pipe2(ends, O_CLOEXEC) < 0)
        _exit(1);
    const pid_t child = fork();
    if (child == 0)
        run_program(programs[program].program, input, ends[1]);
    close(ends[1]);
    close(input);
    if (child < 0 || send_descriptor(socket, 0, ends[0]) < 0)
        _exit(1);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            _exit(1);
    answer = (char)(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    while (send(socket, &answer, 1, MSG_NOSIGNAL) < 0)
        if (errno != EINTR)
            _exit(1);
}

static _Noreturn void serve(int socket)
{
    unsigned char program;
    int input;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    rights_drop();
    while (receive_descriptor(socket, &program, &input) == 0 && input >= 0 &&
           program < COUNT(programs))
        serve_file(socket, program, input);
    _exit(0);
}

int decompress_begin(struct decompress *decompress)
{
    int ends[2];

    *decompress = (struct decompress){.socket = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -errno;
    decompress->process = fork();
    if (decompress->process == 0) {
        close(ends[0]);
        serve(ends[1]);
    }
    close(ends[1]);
    if (decompress->process < 0) {
        const int error = -errno;
        close(ends[0]);
        return error;
    }
    decompress->socket = ends[0];
    return 0;
}

void decompress_finish(struct decompress *decompress)
{
    if (decompress->socket < 0)
        return;
    /* close(2) would not end the connection: a process that was started later, for other files, has
     * a copy of the descriptor */
    (void)shutdown(decompress->socket, SHUT_RDWR);
    close(decompress->socket);
    decompress->socket = -1;
    while (waitpid(decompress->process, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* --- The caller ------------------------------------------------------------------------------- */

/* Returns a descriptor to read the decompressed bytes of `file` from, or -errno. */
static int decompress_open(const struct decompress *decompress, const char *name, int file)
{
    unsigned char byte;
    int fd, error = -EBADF;

    if (decompress->socket >= 0)
        error = send_descriptor(decompress->socket, (char)program_of(name), file);
    if (!error)
        error = receive_descriptor(decompress->socket, &byte, &fd);
    return error ? error : fd < 0 ? -EPIPE : fd;
}

int row_file_open(struct row_file *file, struct decompress *decompress, const char *name, int fd)
{
    *file = (struct row_file){.name = name, .file = fd, .fd = fd, .decompress = decompress};
    if (decompress_is_needed(name))
        file->fd = decompress_open(decompress, name, fd);
    const int error = file->fd < 0 ? file->fd : 0;
    file->reader = error ? NULL : json_reader_create(file->fd);
    if (!file->reader)
        row_file_close(file, NULL);
    return error ? error : file->reader ? 0 : -ENOMEM;
}

void row_file_close(struct row_file *file, struct report *report)
{
    unsigned char status = 0;
    int none;

    if (file->fd >= 0)
        close(file->fd);
    if (file->fd != file->file)
        close(file->file);
    /* the program ends now, because nobody reads its output; 127: it is not installed */
    if (file->fd >= 0 && file->fd != file->file &&
        receive_descriptor(file->decompress->socket, &status, &none) < 0)
        status = 1;
    if (report && status == 127)
        report_loss(report, "%s: needs %s(1), which is not installed", file->name,
                    programs[program_of(file->name)].program);
    else if (report && status)
        report_loss(report, "%s: %s cannot read the whole file", file->name,
                    programs[program_of(file->name)].program);
    json_reader_destroy(file->reader);
    file->reader = NULL;
    file->file = file->fd = -1;
}
