#include "lookup/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fastnet/array.h"

/* struct linux_dirent64 of getdents64(2): the name follows a 16-bit record length and a type. */
enum { DIRENT_LENGTH = 16, DIRENT_NAME = 19, DIRENT_BUFFER = 32 * 1024 };

enum { COMMAND_MAX = 511 };

bool error_is_absence(int error)
{
    return error == ENOENT || error == ESRCH || error == ENOTDIR;
}

bool error_is_denial(int error)
{
    return error == EACCES || error == EPERM;
}

ssize_t directory_read(int fd, char *buffer, size_t size)
{
    for (;;) {
        const long length = syscall(SYS_getdents64, fd, buffer, size);
        if (length >= 0)
            return length;
        if (errno != EINTR)
            return -errno;
    }
}

const char *directory_next(const char *buffer, size_t length, size_t *offset)
{
    uint16_t size;
    if (length - *offset <= DIRENT_NAME)
        return NULL;
    const char *entry = buffer + *offset;
    memcpy(&size, entry + DIRENT_LENGTH, sizeof size);
    if (size <= DIRENT_NAME || size > length - *offset)
        return NULL;
    *offset += size;
    return entry + DIRENT_NAME;
}

bool number_parse(const char *name, int *number)
{
    int value = 0;
    if (*name == '\0' || (name[0] == '0' && name[1] != '\0'))
        return false;
    for (; *name != '\0'; name++) {
        if (*name < '0' || *name > '9')
            return false;
        const int digit = *name - '0';
        if (value > (INT_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    return true;
}

ssize_t link_read(int directory, const char *name, char *target, size_t size)
{
    for (;;) {
        const ssize_t length = readlinkat(directory, name, target, size);
        if (length >= 0)
            return length;
        if (errno != EINTR)
            return -errno;
    }
}

static bool inode_parse(const char *digits, const char *end, uint64_t *inode)
{
    uint64_t value = 0;
    if (digits < end && *digits == '0')
        return false;
    for (; digits < end; digits++) {
        if (*digits < '0' || *digits > '9')
            return false;
        const uint64_t digit = (uint64_t)(*digits - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *inode = value;
    return value != 0;
}

bool link_inode(const char *target, size_t length, uint64_t *inode)
{
    static const char now[] = "socket:[", once[] = "[0000]:";
    const size_t now_length = sizeof now - 1, once_length = sizeof once - 1;

    if (length > now_length && memcmp(target, now, now_length) == 0)
        return target[length - 1] == ']' &&
               inode_parse(target + now_length, target + length - 1, inode);
    if (length > once_length && memcmp(target, once, once_length) == 0)
        return inode_parse(target + once_length, target + length, inode);
    return false;
}

int process_open_descriptors(const struct proc_tree *tree, pid_t pid)
{
    char path[PROCESS_PATH_MAX];
    snprintf(path, sizeof path, "%d/fd", (int)pid);
    return proc_tree_open_directory(tree, path);
}

static int process_append(struct processes *list, size_t *capacity, pid_t pid)
{
    struct process *items = array_with_room(list->items, capacity, list->count + 1, sizeof *items);
    if (!items)
        return -ENOMEM;
    list->items = items;
    items[list->count++] = (struct process){.pid = pid};
    return 0;
}

static int list_append_all(int root, char *buffer, struct processes *list)
{
    size_t capacity = list->count;
    for (;;) {
        const ssize_t length = directory_read(root, buffer, DIRENT_BUFFER);
        if (length <= 0)
            return (int)length;
        const char *name;
        for (size_t at = 0; (name = directory_next(buffer, (size_t)length, &at));) {
            int pid;
            if (!number_parse(name, &pid))
                continue;
            const int status = process_append(list, &capacity, pid);
            if (status < 0)
                return status;
        }
    }
}

static int compare_pids(const void *a, const void *b)
{
    const pid_t left = ((const struct process *)a)->pid, right = ((const struct process *)b)->pid;
    return (left > right) - (left < right);
}

int processes_list(const struct proc_tree *tree, struct processes *processes)
{
    struct processes list = {0};
    char *buffer = malloc(DIRENT_BUFFER);
    if (!buffer)
        return -ENOMEM;

    int status =
        lseek(tree->fd, 0, SEEK_SET) < 0 ? -errno : list_append_all(tree->fd, buffer, &list);
    if (status == -EBADF) /* O_PATH: files can be opened by name, but not listed */
        status = -EACCES;
    free(buffer);
    if (status < 0) {
        processes_finish(&list);
        return status;
    }
    if (list.count > 1)
        qsort(list.items, list.count, sizeof *list.items, compare_pids);
    *processes = list;
    return 0;
}

void processes_finish(struct processes *processes)
{
    for (size_t i = 0; i < processes->count; i++)
        free(processes->items[i].command);
    free(processes->items);
    *processes = (struct processes){0};
}

/* Reads up to size bytes of PID/file by one read(2): the kernel returns these files whole. */
static ssize_t process_read_file(const struct proc_tree *tree, pid_t pid, const char *file,
                                 char *buffer, size_t size)
{
    char path[PROCESS_PATH_MAX];
    snprintf(path, sizeof path, "%d/%s", (int)pid, file);
    const int fd = proc_tree_open(tree, path);
    if (fd < 0)
        return fd;

    ssize_t length;
    do
        length = read(fd, buffer, size);
    while (length < 0 && errno == EINTR);
    if (length < 0)
        length = -errno;
    close(fd);
    return length;
}

static bool process_is_gone(const struct proc_tree *tree, pid_t pid)
{
    char path[PROCESS_PATH_MAX];
    struct stat status;
    snprintf(path, sizeof path, "%d", (int)pid);
    return fstatat(tree->fd, path, &status, AT_SYMLINK_NOFOLLOW) < 0 && error_is_absence(errno);
}

static int harmless(ssize_t error)
{
    return error_is_absence((int)-error) || error_is_denial((int)-error) ? 0 : (int)error;
}

static int read_name(const struct proc_tree *tree, struct process *process)
{
    char buffer[PROCESS_NAME_MAX + 1];
    ssize_t length = process_read_file(tree, process->pid, "comm", buffer, sizeof buffer);
    if (length < 0) {
        process->gone = process_is_gone(tree, process->pid);
        return harmless(length);
    }
    /* The name itself may end in newlines: remove only the one that the file adds. */
    if (length > 0 && buffer[length - 1] == '\n')
        length--;
    if (length > PROCESS_NAME_MAX)
        length = PROCESS_NAME_MAX;
    memcpy(process->name, buffer, (size_t)length);
    process->name[length] = '\0';
    return 0;
}

static int read_command(const struct proc_tree *tree, struct process *process)
{
    char buffer[COMMAND_MAX + 1];
    const ssize_t length = process_read_file(tree, process->pid, "cmdline", buffer, COMMAND_MAX);
    if (length < 0)
        return harmless(length);
    buffer[length] = '\0';

    const char *command = buffer[0] == '/' ? strrchr(buffer, '/') + 1 : buffer;
    char *copy = strdup(command);
    if (!copy)
        return -ENOMEM;
    free(process->command);
    process->command = copy;
    return 0;
}

int process_read_names(const struct proc_tree *tree, struct process *process, bool command)
{
    const int status = read_name(tree, process);
    if (process->gone || !command)
        return status;
    const int other = read_command(tree, process);
    return status != 0 ? status : other;
}
