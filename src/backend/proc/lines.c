#include "backend/proc/lines.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/proc_tree.h"

int lines_init(struct lines *lines, int fd)
{
    *lines = (struct lines){.fd = fd, .buffer = malloc(LINES_CAPACITY)};
    if (lines->buffer)
        return 0;
    lines_close(lines);
    return -ENOMEM;
}

static int open_below(struct lines *lines, const char *proc_root, const char *directory,
                      const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s%s", directory, name);
    int fd;

    *lines = (struct lines){.fd = -1};
    if (length < 0 || (size_t)length >= sizeof path)
        return -ENAMETOOLONG;
    fd = proc_tree_open_file(proc_root, path);
    return fd < 0 ? fd : lines_init(lines, fd);
}

int lines_open(struct lines *lines, const char *proc_root, const char *name)
{
    return open_below(lines, proc_root, "net/", name);
}

int lines_open_table(struct lines *lines, const char *proc_root, const char *name)
{
    int error = lines_open(lines, proc_root, name);
    char path[PATH_MAX];

    if (error != -ENOENT)
        return error;
    snprintf(path, sizeof path, "%s/net", proc_root); /* it fits, for the longer one did */
    return access(path, F_OK) < 0 ? -ENOTDIR : -ENOENT;
}

int lines_open_path(struct lines *lines, const char *proc_root, const char *path)
{
    return open_below(lines, proc_root, "", path);
}

void lines_close(struct lines *lines)
{
    if (lines->fd >= 0)
        close(lines->fd);
    free(lines->buffer);
    *lines = (struct lines){.fd = -1};
}

/* One read behind what is there already; that is moved to the front where room is short. */
static int fill(struct lines *lines)
{
    ssize_t length;

    if (lines->from) {
        memmove(lines->buffer, lines->buffer + lines->from, lines->to - lines->from);
        lines->to -= lines->from;
        lines->from = 0;
    }
    do {
        length = read(lines->fd, lines->buffer + lines->to, LINES_CAPACITY - lines->to);
        if (length < 0 && errno == EAGAIN)
            poll(&(struct pollfd){.fd = lines->fd, .events = POLLIN}, 1, 100);
    } while (length < 0 && (errno == EINTR || errno == EAGAIN));
    if (length < 0)
        return -errno;
    lines->ended = length == 0;
    lines->to += (size_t)length;
    return 0;
}

static void hand_out(struct lines *lines, struct line *line, size_t length, size_t consumed)
{
    line->data = lines->buffer + lines->from;
    line->length = length;
    lines->from += consumed;
    lines->number++;
}

/* Drops what belongs to a line that was handed out cut; false when its end was not seen yet. */
static bool skip_overlong(struct lines *lines)
{
    char *start = lines->buffer + lines->from;
    char *newline = memchr(start, '\n', lines->to - lines->from);

    lines->from = newline ? (size_t)(newline + 1 - lines->buffer) : lines->to;
    lines->overlong = !newline;
    return newline;
}

int lines_next(struct lines *lines, struct line *line)
{
    size_t searched = 0;

    for (;;) {
        char *start = lines->buffer + lines->from;
        size_t left = lines->to - lines->from;
        char *newline;

        if (lines->overlong && left && skip_overlong(lines))
            continue;
        left = lines->to - lines->from;
        newline = left > searched ? memchr(start + searched, '\n', left - searched) : NULL;
        line->cut = !newline && left == LINES_CAPACITY;
        line->unended = false;
        if (newline || line->cut) {
            size_t length = newline ? (size_t)(newline - start) : left;
            lines->overlong = line->cut;
            hand_out(lines, line, length, length + (newline != NULL));
            return 1;
        }
        if (lines->ended) {
            line->unended = true;
            if (left)
                hand_out(lines, line, left, left);
            return left > 0;
        }
        searched = left;
        int error = fill(lines);
        if (error)
            return error;
    }
}
