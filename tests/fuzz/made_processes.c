/* SPDX-License-Identifier: MIT */
#include "made_processes.h"

#include <limits.h>
#include <string.h>

#include "fastnet/cgroups.h"
#include "fastnet/hosts.h"
#include "fuzz.h"

enum { CGROUP_SIZE = 3 * PATH_MAX }; /* more of the file is not read */

bool made_number(const char *text, size_t length, int *number)
{
    int64_t value = 0;

    if (length == 0 || length > 10 || (length > 1 && text[0] == '0'))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (text[i] - '0');
    }
    *number = (int)value;
    return value <= INT_MAX;
}

const struct made_process *made_processes_find(const struct made_processes *made, int pid)
{
    for (size_t i = 0; i < made->process_count; i++)
        if (made->processes[i].pid == pid)
            return &made->processes[i];
    return NULL;
}

static struct made_process *find_or_add(struct made_processes *made, int pid)
{
    struct made_process *process;

    for (size_t i = 0; i < made->process_count; i++)
        if (made->processes[i].pid == pid)
            return &made->processes[i];
    require(made->process_count < TREE_ENTRIES_MAX);
    process = &made->processes[made->process_count++];
    *process = (struct made_process){.pid = pid};
    return process;
}

static bool begins_with(struct text text, const char *start)
{
    return text.length >= strlen(start) && memcmp(text.data, start, strlen(start)) == 0;
}

/* "socket:[N]", or "[0000]:N" of old kernels; 0 when it is neither, or N begins with 0. */
static uint64_t inode_of(struct text target)
{
    uint64_t inode = 0;

    if (begins_with(target, "socket:[") && target.data[target.length - 1] == ']')
        target = (struct text){target.data + 8, target.length - 9};
    else if (begins_with(target, "[0000]:"))
        target = (struct text){target.data + 7, target.length - 7};
    else
        return 0;
    for (size_t i = 0; i < target.length; i++) {
        const unsigned digit = (unsigned char)target.data[i] - (unsigned)'0';
        if (digit > 9 || (digit == 0 && i == 0) || __builtin_mul_overflow(inode, 10u, &inode) ||
            __builtin_add_overflow(inode, digit, &inode))
            return 0;
    }
    return inode;
}

static void take_descriptor(struct made_processes *made, int pid, const char *name,
                            const struct tree_entry *entry)
{
    const uint64_t inode = entry->kind == TREE_LINK ? inode_of(entry->content) : 0;
    int fd;

    if (inode && made_number(name, strlen(name), &fd))
        made->sockets[made->socket_count++] = (struct made_socket){pid, fd, inode};
}

/* The string that ends with a NUL or with the space. */
static void copy_string(char *to, size_t size, const char *from, size_t length)
{
    size_t end = strnlen(from, length);

    end = end < size ? end : size - 1;
    memcpy(to, from, end);
    to[end] = '\0';
}

/* Only the newline that the kernel adds is taken off. */
static void take_name(struct made_process *process, struct text content)
{
    const bool whole = content.length <= MADE_NAME_SIZE;

    if (whole && content.length && content.data[content.length - 1] == '\n')
        content.length--;
    copy_string(process->name, sizeof process->name, content.data, content.length);
}

static void take_command(struct made_process *process, struct text content)
{
    char whole[MADE_COMMAND_SIZE];
    const char *slash;

    copy_string(whole, sizeof whole, content.data, content.length);
    slash = whole[0] == '/' ? strrchr(whole, '/') : NULL;
    memmove(process->command, slash ? slash + 1 : whole, strlen(slash ? slash + 1 : whole) + 1);
    process->has_command = true;
}

/* Whole lines: NUMBER:CONTROLLERS:PATH, without controllers only "0::PATH". */
static struct text path_in(struct text line)
{
    size_t at = 0;

    if (begins_with(line, "0::/"))
        return (struct text){line.data + 3, line.length - 3};
    while (at < line.length && line.data[at] >= '0' && line.data[at] <= '9')
        at++;
    for (size_t colon = at + 1; at < line.length && line.data[at] == ':' && colon < line.length;
         colon++)
        if (line.data[colon - 1] == ':' && line.data[colon] == '/')
            return colon > at + 2 ? (struct text){line.data + colon, line.length - colon}
                                  : (struct text){"", 0};
    return (struct text){"", 0};
}

/* Paths of containers and pods come first, then those of units; the root comes last. */
static int class_of(struct text line, struct text path)
{
    size_t digits = 0;
    char whole[CGROUP_SIZE];
    struct cgroup_names names;

    if (path.length < 2)
        return 0;
    while (digits < line.length && line.data[digits] >= '0' && line.data[digits] <= '9')
        digits++;
    const struct text rest = {line.data + digits, line.length - digits};
    copy_string(whole, sizeof whole, path.data, path.length);
    cgroup_names(whole, &names);
    return (*names.container || *names.pod ? 7
            : *names.unit                  ? 4
                                           : 1) +
           (begins_with(line, "0::/") ? 2 : begins_with(rest, ":name=systemd:/"));
}

/* Within a class: the path of version 2, or of systemd, or the first of the longest. */
static void take_cgroup(struct made_process *process, struct text content)
{
    const bool whole = content.length < CGROUP_SIZE;
    int best = -1;

    content.length = strnlen(content.data, whole ? content.length : CGROUP_SIZE);
    while (content.length) {
        const char *end = memchr(content.data, '\n', content.length);
        const struct text line = {content.data,
                                  end ? (size_t)(end - content.data) : content.length},
                          path = path_in(line);
        const int class = class_of(line, path);
        if (path.length && (end || whole) &&
            (class > best || (class == best && path.length > process->cgroup.length))) {
            process->cgroup = path;
            best = class;
        }
        content.data += line.length + (end != NULL);
        content.length -= line.length + (end != NULL);
    }
}

static void take_stat(struct made_process *process, struct text content)
{
    char whole[MADE_COMMAND_SIZE];
    const char *begin, *end;

    copy_string(whole, sizeof whole, content.data, content.length);
    begin = strchr(whole, '(');
    end = strrchr(whole, ')');
    if (process->has_comm || !begin || !end || end < begin)
        return;
    process->has_stat = true;
    copy_string(process->name, sizeof process->name, begin + 1, (size_t)(end - begin) - 1);
}

/* There is a comm, so stat is not read. */
static void forget_stat(struct made_process *process)
{
    process->name[0] = process->has_comm ? process->name[0] : '\0';
    process->has_comm = true;
}

void made_process_name(const struct made_process *process, char name[MADE_NAME_SIZE])
{
    const bool by_command = !process->has_comm && !process->has_stat;
    const char *slash = strrchr(process->command, '/'), *from = !by_command ? process->name
                                                                : slash     ? slash + 1
                                                                            : process->command;

    copy_string(name, MADE_NAME_SIZE, from, strlen(from));
}

static void take_file(struct made_process *process, const char *name,
                      const struct tree_entry *entry)
{
    const bool is_comm = strcmp(name, "comm") == 0, is_file = entry->kind == TREE_FILE;

    if (strcmp(name, "stat") == 0 && is_file)
        take_stat(process, entry->content);
    if (strcmp(name, "cgroup") == 0) {
        process->odd |= !is_file;
        if (is_file && entry->content.length)
            take_cgroup(process, entry->content);
        return;
    }
    if (!is_comm && strcmp(name, "cmdline") != 0) {
        process->odd |= !is_file && strcmp(name, "status") == 0;
        return;
    }
    process->odd |= !is_file;
    if (is_comm)
        forget_stat(process);
    process->has_fifo |= entry->kind == TREE_FIFO && !is_comm;
    if (is_file && is_comm)
        take_name(process, entry->content);
    else if (is_file)
        take_command(process, entry->content);
}

static bool is_within(const char *name, const char *directory)
{
    const size_t length = strlen(directory);

    return strncmp(name, directory, length) == 0 && name[length] == '/';
}

void made_processes_make(struct made_processes *made, const struct tree_entry *entry)
{
    const char *slash = strchr(entry->path, '/'), *below = slash ? slash + 1 : "";
    const size_t length = slash ? (size_t)(slash - entry->path) : strlen(entry->path);
    const bool is_descriptor = is_within(below, "fd") && !strchr(below + 3, '/');
    struct made_process *process;
    int pid;

    if (entry->kind == TREE_LINK && !is_descriptor)
        return;
    const bool made_it = tree_make(entry);
    if (!made_number(entry->path, length, &pid) || (!made_it && !slash))
        return;
    process = find_or_add(made, pid);
    if (is_within(below, "comm"))
        forget_stat(process);
    process->odd |= is_within(below, "comm") || is_within(below, "cmdline") ||
                    is_within(below, "cgroup") || is_within(below, "status");
    if (made_it && is_descriptor)
        take_descriptor(made, pid, below + 3, entry);
    else if (made_it)
        take_file(process, below, entry);
}
