/* SPDX-License-Identifier: MIT */
#include "backend/proc/lines.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/proc_tree.h"

int lines_init(struct lines *lines, int fd)
{
    *lines = (struct lines){.fd = fd, .buffer = malloc(LINES_CAPACITY), .capacity = LINES_CAPACITY};
    if (lines->buffer)
        return 0;
    lines_close(lines);
    return -ENOMEM;
}

int lines_open(struct lines *lines, const char *proc_root, const char *path)
{
    char net[PATH_MAX];
    int fd = proc_tree_open_file(proc_root, path);

    *lines = (struct lines){.fd = -1};
    if (fd >= 0)
        return lines_init(lines, fd);
    if (fd != -ENOENT)
        return fd;
    snprintf(net, sizeof net, "%s/net", proc_root);
    return access(net, F_OK) < 0 ? -ENOTDIR : -ENOENT;
}

void lines_close(struct lines *lines)
{
    if (lines->fd >= 0)
        close(lines->fd);
    free(lines->buffer);
    *lines = (struct lines){.fd = -1};
}

/* Moves the bytes that are left to the front of the buffer, and reads once after them. */
static int lines_fill(struct lines *lines)
{
    ssize_t length;

    if (lines->from) {
        memmove(lines->buffer, lines->buffer + lines->from, lines->to - lines->from);
        lines->to -= lines->from;
        lines->from = 0;
    }
    length = proc_read(lines->fd, lines->buffer + lines->to, lines->capacity - lines->to);
    if (length < 0)
        return (int)length;
    lines->ended = length == 0;
    lines->to += (size_t)length;
    return 0;
}

int lines_read(struct lines *lines, size_t size)
{
    int error = 0;

    while (!error && !lines->ended && lines->to - lines->from < size) {
        char *buffer = array_with_room(lines->buffer, &lines->capacity, lines->to + 1, 1);
        if (!buffer)
            return -ENOMEM;
        lines->buffer = buffer;
        error = lines_fill(lines);
    }
    return error;
}

static void lines_hand_out(struct lines *lines, struct line *line, size_t length, size_t consumed)
{
    line->data = lines->buffer + lines->from;
    line->length = length;
    lines->from += consumed;
    lines->number++;
}

/* Skips the rest of a line that was cut. Returns false if the end of the line is not read yet. */
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
            lines_hand_out(lines, line, length, length + (newline != NULL));
            return 1;
        }
        if (lines->ended) {
            line->unended = true;
            if (left)
                lines_hand_out(lines, line, left, left);
            return left > 0;
        }
        searched = left;
        int error = lines_fill(lines);
        if (error)
            return error;
    }
}
