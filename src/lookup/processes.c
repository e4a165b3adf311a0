/* SPDX-License-Identifier: MIT */
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
#include "fastnet/cgroups.h"
#include "fastnet/clock.h"

/* struct linux_dirent64 of getdents64(2): a 16-bit record length, a type, then the name. */
enum { DIRENT_LENGTH = 16, DIRENT_NAME = 19, DIRENT_BUFFER = 8 * 1024 };

/* cgroup has a line for each hierarchy of version 1, then a line for version 2. */
enum { COMMAND_MAX = 511, LINK_MAX_LENGTH = 64, CGROUP_FILE_MAX = 3 * PATH_MAX };

bool error_is_absence(int error)
{
    return error == -ENOENT || error == -ESRCH || error == -ENOTDIR;
}

bool error_is_denial(int error)
{
    return error == -EACCES || error == -EPERM;
}

int error_to_report(int error)
{
    return error_is_absence(error) || error_is_denial(error) ? 0 : error;
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

int directory_each(int directory, int (*fn)(const char *name, void *arg), void *arg)
{
    _Alignas(8) char buffer[DIRENT_BUFFER];
    ssize_t length;

    while ((length = directory_read(directory, buffer, sizeof buffer)) > 0) {
        const char *name;
        for (size_t at = 0; (name = directory_next(buffer, (size_t)length, &at));) {
            const int result = fn(name, arg);
            if (result != 0)
                return result;
        }
    }
    return (int)length;
}

/* Parses a number without other characters. Refuses leading zeros: the kernel writes no such
 * numbers, and 1 and 01 would be one process. Also, without leading zeros, a number that was cut at
 * LINK_MAX_LENGTH has too many digits, and is refused. */
static bool number_parse(const char *text, const char *end, uint64_t max, uint64_t *number)
{
    uint64_t value = 0;
    if (text == end || (*text == '0' && end - text > 1))
        return false;
    for (; text < end; text++) {
        const unsigned digit = (unsigned char)(*text - '0');
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    if (value > max)
        return false;
    *number = value;
    return true;
}

/* Parses the number of a process or a descriptor. */
static bool name_parse(const char *name, int *number)
{
    uint64_t value;
    if (!number_parse(name, name + strlen(name), INT_MAX, &value))
        return false;
    *number = (int)value;
    return true;
}

/* Returns whether a link is "socket:[N]", or "[0000]:N" as before Linux 2.6. *inode is N. */
bool link_inode(const char *target, size_t length, uint64_t *inode)
{
    static const char now[] = "socket:[", once[] = "[0000]:";
    const size_t now_length = sizeof now - 1, once_length = sizeof once - 1;
    const char *end = target + length;

    if (length > now_length && memcmp(target, now, now_length) == 0)
        return end[-1] == ']' && number_parse(target + now_length, end - 1, UINT64_MAX, inode) &&
               *inode != 0;
    return length > once_length && memcmp(target, once, once_length) == 0 &&
           number_parse(target + once_length, end, UINT64_MAX, inode) && *inode != 0;
}

int descriptor_read_any(int directory, const char *name, int *fd, uint64_t *inode, bool *is_ring)
{
    static const char ring[] = "anon_inode:[io_uring]";
    char target[LINK_MAX_LENGTH];
    ssize_t length;

    if (!name_parse(name, fd))
        return 0;
    do
        length = readlinkat(directory, name, target, sizeof target);
    while (length < 0 && errno == EINTR);
    if (length < 0)
        return -errno;
    if (is_ring)
        *is_ring = length == sizeof ring - 1 && memcmp(target, ring, sizeof ring - 1) == 0;
    return link_inode(target, (size_t)length, inode);
}

int descriptor_read(int directory, const char *name, int *fd, uint64_t *inode)
{
    return descriptor_read_any(directory, name, fd, inode, NULL);
}

bool process_is_open(const struct proc_tree *tree, pid_t pid)
{
    char path[PROCESS_PATH_MAX];
    snprintf(path, sizeof path, "%d/comm", (int)pid);
    const int fd = proc_tree_open(tree, path);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || !error_is_denial(fd);
}

uint64_t process_count_descriptors(const struct proc_tree *tree, pid_t pid)
{
    char path[PROCESS_PATH_MAX];
    struct stat status;
    snprintf(path, sizeof path, "%d/fd", (int)pid);
    return fstatat(tree->fd, path, &status, 0) == 0 ? (uint64_t)status.st_size : UINT64_MAX;
}

int process_open_descriptors(const struct proc_tree *tree, pid_t pid)
{
    char path[PROCESS_PATH_MAX];
    snprintf(path, sizeof path, "%d/fd", (int)pid);
    return proc_tree_open_directory(tree, path);
}

/* Links of PID/task: ".", "..", and one for each thread (proc_task_getattr() of the kernel). */
bool process_has_threads(const struct proc_tree *tree, pid_t pid)
{
    enum { OF_ONE_THREAD = 3 };
    char path[PROCESS_PATH_MAX];
    struct stat status;

    snprintf(path, sizeof path, "%d/task", (int)pid);
    return fstatat(tree->fd, path, &status, 0) == 0 &&
           (!tree->living || status.st_nlink > OF_ONE_THREAD);
}

struct thread_walk {
    const struct proc_tree *tree;
    const char *tasks;
    int (*fn)(int directory, void *arg);
    void *arg;
};

static int pass_thread(const char *name, void *arg)
{
    const struct thread_walk *walk = arg;
    char path[2 * PROCESS_PATH_MAX];
    int tid, directory, result;

    if (!name_parse(name, &tid))
        return 0;
    snprintf(path, sizeof path, "%s/%d/fd", walk->tasks, tid);
    directory = proc_tree_open_directory(walk->tree, path);
    if (directory < 0) /* the thread has ended meanwhile */
        return 0;
    result = walk->fn(directory, walk->arg);
    close(directory);
    return result;
}

int process_each_thread(const struct proc_tree *tree, pid_t pid,
                        int (*fn)(int directory, void *arg), void *arg)
{
    char tasks[PROCESS_PATH_MAX];
    struct thread_walk walk = {tree, tasks, fn, arg};
    int directory, result = 0;

    snprintf(tasks, sizeof tasks, "%d/task", (int)pid);
    if (!process_has_threads(tree, pid))
        return 0;
    directory = proc_tree_open_directory(tree, tasks);
    if (directory < 0)
        return 0;
    result = directory_each(directory, pass_thread, &walk);
    close(directory);
    return error_is_absence(result) ? 0 : result;
}

/* Kernel threads and ended processes have an empty command line. Others have descriptors. */
bool process_is_uncaptured(const struct proc_tree *tree, pid_t pid)
{
    char text[2];

    return !tree->living && process_read_file(tree, pid, "cmdline", text, sizeof text) != 0;
}

struct first_link {
    int directory;
    int status;
};

static int read_first_link(const char *name, void *arg)
{
    struct first_link *first = arg;
    uint64_t inode;
    int fd;

    if (!name_parse(name, &fd))
        return 0;
    first->status = descriptor_read(first->directory, name, &fd, &inode);
    return 1;
}

int process_read(const struct proc_tree *tree, struct process *process)
{
    struct first_link first = {.directory = process_open_descriptors(tree, process->pid)};
    int status = first.directory;

    if (first.directory >= 0) {
        status = directory_each(first.directory, read_first_link, &first);
        status = first.status < 0 ? first.status : status < 0 ? status : 0;
        close(first.directory);
    }
    process->denied = error_is_denial(status);
    process->shut = process->denied && first.directory < 0;
    return error_to_report(status);
}

static int compare_pids(const void *a, const void *b)
{
    const pid_t left = ((const struct process *)a)->pid, right = ((const struct process *)b)->pid;
    return (left > right) - (left < right);
}

struct process *processes_find(const struct processes *processes, pid_t pid)
{
    const struct process key = {.pid = pid};
    if (processes->count == 0)
        return NULL;
    return bsearch(&key, processes->items, processes->count, sizeof key, compare_pids);
}

struct process_listing {
    struct processes *list;
    size_t known; /* number of processes that were in the list before, sorted */
    pid_t leader; /* list the threads of this process; 0: list processes */
};

static int processes_add_pid(struct processes *list, size_t known, struct process process)
{
    const struct processes before = {.items = list->items, .count = known};

    if (processes_find(&before, process.pid))
        return 0;
    struct process *added = ARRAY_ADD(list->items, list->count, list->capacity);
    if (added)
        *added = process;
    return added ? 0 : -ENOMEM;
}

int processes_add(struct processes *processes, size_t known, pid_t pid)
{
    return processes_add_pid(processes, known,
                             (struct process){.pid = pid, .leader = pid, .unread = true});
}

static int add_process(const char *name, void *arg)
{
    const struct process_listing *listing = arg;
    struct process process = {.unread = true};

    if (!name_parse(name, &process.pid))
        return 0;
    process.leader = listing->leader ? listing->leader : process.pid;
    return processes_add_pid(listing->list, listing->known, process);
}

void processes_sort(struct processes *processes)
{
    if (processes->count > 1)
        qsort(processes->items, processes->count, sizeof *processes->items, compare_pids);
}

/* Adds the threads of a process. If it vanishes or hides its threads, it adds none. */
static int list_threads(const struct proc_tree *tree, struct process_listing *listing)
{
    char path[PROCESS_PATH_MAX];
    int directory, status;

    snprintf(path, sizeof path, "%d/task", (int)listing->leader);
    directory = proc_tree_open_directory(tree, path);
    if (directory < 0)
        return error_to_report(directory);
    status = directory_each(directory, add_process, listing);
    close(directory);
    return error_to_report(status);
}

int processes_list(const struct proc_tree *tree, struct processes *processes, bool tasks)
{
    struct process_listing listing = {.list = processes, .known = processes->count};
    int status =
        lseek(tree->fd, 0, SEEK_SET) < 0 ? -errno : directory_each(tree->fd, add_process, &listing);
    if (status == -EBADF) /* O_PATH: files can be opened by name, but not listed */
        status = -EACCES;
    processes_sort(processes);
    /* threads are added after the processes, which stay sorted, so they can be searched */
    listing.known = processes->count;
    for (size_t i = 0; i < listing.known && status == 0 && tasks; i++) {
        listing.leader = processes->items[i].leader;
        if (listing.leader == processes->items[i].pid)
            status = list_threads(tree, &listing);
    }
    if (tasks)
        processes_sort(processes);
    return status;
}

void process_forget(struct process *process)
{
    free(process->command);
    free(process->cgroup);
    *process = (struct process){.pid = process->pid, .leader = process->leader, .unread = true};
}

void processes_finish(struct processes *processes)
{
    for (size_t i = 0; i < processes->count; i++)
        process_forget(&processes->items[i]);
    free(processes->items);
    *processes = (struct processes){0};
}

ssize_t process_read_file(const struct proc_tree *tree, pid_t pid, const char *file, char *text,
                          size_t size)
{
    char path[PROCESS_PATH_MAX];
    snprintf(path, sizeof path, "%d/%s", (int)pid, file);
    return proc_tree_read(tree, path, text, size);
}

/* Returns 1 if the link is this socket, 0 if not, or -errno. */
static int is_link_to(const struct proc_tree *tree, const char *path, uint64_t inode)
{
    char target[LINK_MAX_LENGTH];
    uint64_t found;
    const ssize_t length = readlinkat(tree->fd, path, target, sizeof target);

    if (length < 0)
        return -errno;
    return link_inode(target, (size_t)length, &found) && found == inode;
}

struct thread_search {
    const struct proc_tree *tree;
    pid_t pid;
    int fd;
    uint64_t inode;
};

static int thread_has_link(const char *tid, void *arg)
{
    const struct thread_search *search = arg;
    char path[2 * PROCESS_PATH_MAX];

    snprintf(path, sizeof path, "%d/task/%.16s/fd/%d", (int)search->pid, tid, search->fd);
    return is_link_to(search->tree, path, search->inode) == 1;
}

bool process_stat_parse(const char *line, struct process_stat *stat)
{
    enum { NUMBERS = 18 }; /* between the parent and the start */
    const char *begin = strchr(line, '('), *end = strrchr(line, ')');

    if (!begin || !end || end < begin || end[1] != ' ' || !end[2] || end[3] != ' ')
        return false;
    const size_t length = (size_t)(end - begin) - 1;
    snprintf(stat->name, sizeof stat->name, "%.*s", (int)length, begin + 1);
    stat->state = end[2];
    const char *number = end + 4;
    const unsigned long parent = strtoul(number, NULL, 10);
    stat->parent = parent <= INT_MAX ? (pid_t)parent : 0;
    for (unsigned i = 0; i < NUMBERS && number; i++) {
        const char *space = strchr(number, ' ');
        number = space ? space + 1 : NULL;
    }
    if (!number || *number < '0' || *number > '9')
        return false;
    stat->start = strtoull(number, NULL, 10);
    return true;
}

int process_read_stat(const struct proc_tree *tree, const char *path, struct process_stat *stat)
{
    char line[1024];
    const ssize_t length = proc_tree_read(tree, path, line, sizeof line);

    if (length < 0)
        return (int)length;
    return process_stat_parse(line, stat) ? 0 : -EBADMSG;
}

bool process_cut_deleted(char *path, const char *name, const char *argument)
{
    static const char sign[] = " (deleted)";
    const char *slash = strrchr(path, '/'), *word = strrchr(argument, '/');
    const char *file = slash ? slash + 1 : path;
    const size_t length = strlen(file), cut = length - (sizeof sign - 1);

    if (length < sizeof sign || strcmp(file + cut, sign) != 0)
        return false;
    const bool named =
        cut < PROCESS_NAME_MAX && strlen(name) > cut && strncmp(name, file, PROCESS_NAME_MAX) == 0;
    if (named || strcmp(word ? word + 1 : argument, file) == 0)
        return false;
    path[strlen(path) - (sizeof sign - 1)] = '\0';
    return true;
}

/* Whether the first thread has ended. */
static bool has_ended(const struct proc_tree *tree, pid_t pid)
{
    char stat[1024] = "";

    (void)process_read_file(tree, pid, "stat", stat, sizeof stat);
    const char *name_end = strrchr(stat, ')');
    return name_end && strncmp(name_end, ") Z", 3) == 0;
}

bool process_holds(const struct proc_tree *tree, pid_t pid, int fd, uint64_t inode)
{
    const struct thread_search search = {tree, pid, fd, inode};
    char path[PROCESS_PATH_MAX];
    int status, tasks;

    snprintf(path, sizeof path, "%d/fd/%d", (int)pid, fd);
    status = is_link_to(tree, path, inode);
    if (status >= 0 || !error_is_absence(status))
        return status != 0;
    if (!has_ended(tree, pid))
        return false;
    snprintf(path, sizeof path, "%d/task", (int)pid);
    tasks = proc_tree_open_directory(tree, path);
    status = tasks < 0 ? 0 : directory_each(tasks, thread_has_link, (void *)(uintptr_t)&search);
    if (tasks >= 0)
        close(tasks);
    return status > 0;
}

bool process_began_after(const struct proc_tree *tree, const struct process *process, uint64_t time)
{
    char path[PROCESS_PATH_MAX];
    struct process_stat stat;

    snprintf(path, sizeof path, "%d/stat", (int)process->pid);
    return process_read_stat(tree, path, &stat) == 0 &&
           stat.start > time / (CLOCK_SECOND / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void processes_take_name(struct process *process, const char *name, size_t length)
{
    length = length < PROCESS_NAME_MAX ? length : PROCESS_NAME_MAX;
    memcpy(process->name, name, length);
    process->name[length] = '\0';
    process->named = true;
}

/* Without comm (before Linux 2.6.33, or in trees of other programs): takes the name from stat,
 * where it is in (), or from cmdline. */
static bool read_name_elsewhere(const struct proc_tree *tree, struct process *process)
{
    char text[COMMAND_MAX + 1] = "";
    const char *begin, *end;

    (void)process_read_file(tree, process->pid, "stat", text, sizeof text);
    begin = strchr(text, '(');
    end = strrchr(text, ')');
    if (begin && end > begin) {
        processes_take_name(process, begin + 1, (size_t)(end - begin) - 1);
        return true;
    }
    if (process_read_file(tree, process->pid, "cmdline", text, sizeof text) <= 0 || !*text)
        return false;
    begin = strrchr(text, '/');
    begin = begin ? begin + 1 : text;
    processes_take_name(process, begin, strlen(begin));
    return true;
}

static int read_name(const struct proc_tree *tree, struct process *process)
{
    char buffer[PROCESS_NAME_MAX + 2];
    ssize_t length = process_read_file(tree, process->pid, "comm", buffer, sizeof buffer);
    process->unnamed = error_is_denial((int)length);
    process->gone = false;
    if (length < 0) {
        char path[PROCESS_PATH_MAX];
        struct stat status;
        snprintf(path, sizeof path, "%d", (int)process->pid);
        process->gone =
            fstatat(tree->fd, path, &status, AT_SYMLINK_NOFOLLOW) < 0 && error_is_absence(-errno);
        if (length == -ENOENT && !process->gone && read_name_elsewhere(tree, process))
            return 0;
        return error_to_report((int)length);
    }
    /* The name itself may end in newlines: remove only the newline that the file adds. */
    if (length > 0 && buffer[length - 1] == '\n')
        length--;
    processes_take_name(process, buffer, (size_t)length);
    return 0;
}

/* Replaces *kept by a copy of `text`, or by NULL. */
static int processes_keep(char **kept, const char *text)
{
    char *copy = text ? strdup(text) : NULL;

    if (text && !copy)
        return -ENOMEM;
    free(*kept);
    *kept = copy;
    return 0;
}

static int read_command(const struct proc_tree *tree, struct process *process)
{
    char buffer[COMMAND_MAX + 1];
    const ssize_t length = process_read_file(tree, process->pid, "cmdline", buffer, sizeof buffer);

    if (length < 0)
        return error_to_report((int)length);
    return processes_keep(&process->command, buffer[0] == '/' ? strrchr(buffer, '/') + 1 : buffer);
}

/* Returns 2 if the path names a container or a pod, 1 if it names a unit, else 0. Where version 2
 * is used beside version 1, Docker, containerd and k3s put containers into hierarchies of version 1
 * alone, and their processes are in the daemon's unit of version 2. So a container or a pod is
 * worth more than a unit. */
static size_t processes_name_count(const char *path)
{
    struct cgroup_names names;

    cgroup_names(path, &names);
    return *names.container || *names.pod ? 2 : *names.unit ? 1 : 0;
}

/* Returns the path in "HIERARCHY:CONTROLLERS:PATH", or NULL. *rank: how much the path says. */
static const char *group_of_line(const char *line, size_t *rank)
{
    const char *controllers = line + strspn(line, "0123456789");
    const bool unified = strncmp(line, "0::/", 4) == 0,
               systemd = strncmp(controllers, ":name=systemd:/", 15) == 0;
    const char *path = *controllers == ':' ? strstr(controllers, ":/") : NULL;

    if (!path || (path <= controllers + 1 && !unified))
        return NULL;
    *rank = 1;
    if (path[2])
        *rank += strlen(path) +
                 (3 * processes_name_count(path + 1) + (unified ? 2UL : systemd)) * CGROUP_FILE_MAX;
    return path + 1;
}

/* Returns the path with most information: of a container or a pod, or of a unit, or other than the
 * root. Among equal paths, that of version 2 comes first, then that of systemd's own hierarchy of
 * version 1, then the longest. cut: the last line may lack its end. */
static const char *group_in(char *file, bool cut)
{
    const char *found = NULL;
    size_t most = 0, rank = 0;
    char *end;

    for (char *line = file; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (!*end && cut)
            break;
        if (*end)
            *end++ = '\0';
        const char *path = group_of_line(line, &rank);
        if (path && rank > most) {
            found = path;
            most = rank;
        }
    }
    return found;
}

static int read_cgroup(const struct proc_tree *tree, struct process *process)
{
    char buffer[CGROUP_FILE_MAX + 1];
    const ssize_t length = process_read_file(tree, process->pid, "cgroup", buffer, sizeof buffer);

    return length < 0
               ? error_to_report((int)length)
               : processes_keep(&process->cgroup, group_in(buffer, length == CGROUP_FILE_MAX));
}

/* Returns the last number of "NSpid:\t812\t1\n", which has one number for each pid namespace, from
 * that of the tree inwards. Returns 0 if there is only one number, or if this is another line. */
static pid_t innermost_pid(const char *line)
{
    static const char start[] = "NSpid:";
    const char *const end = strchr(line, '\n'), *last = end;

    if (!end || strncmp(line, start, sizeof start - 1) != 0)
        return 0;
    line += sizeof start - 1;
    for (; last > line && last[-1] >= '0' && last[-1] <= '9'; last--)
        ;
    line += strspn(line, " \t");
    const unsigned long pid = last > line ? strtoul(last, NULL, 10) : 0;
    return pid <= INT_MAX ? (pid_t)pid : 0;
}

/* The line Groups, before NSpid, can have 65,536 numbers, so long lines are read in pieces. NSpid
 * has at most 32 numbers. */
static int read_pid_inside(const struct proc_tree *tree, struct process *process)
{
    char line[512]; /* a line, or a piece of a line */
    bool begins = true;
    snprintf(line, sizeof line, "%d/status", (int)process->pid);
    const int fd = proc_tree_open(tree, line);
    if (fd < 0)
        return error_to_report(fd);

    FILE *file = fdopen(fd, "r");
    if (!file) {
        close(fd);
        return -ENOMEM;
    }
    process->pid_inside = 0;
    for (; !process->pid_inside && fgets(line, sizeof line, file); begins = strchr(line, '\n'))
        process->pid_inside = begins ? innermost_pid(line) : 0;
    const int status = ferror(file) ? error_to_report(-errno) : 0;
    fclose(file);
    return status;
}

int process_read_names(const struct proc_tree *tree, struct process *process,
                       struct process_names asked)
{
    int status = read_name(tree, process), other = 0;

    process->unread &= process->gone;
    if (process->gone)
        return status;
    process->seen_at = clock_nanoseconds(CLOCK_BOOTTIME);
    if (asked.command)
        other = read_command(tree, process);
    status = status ? status : other;
    if (asked.cgroup)
        other = read_cgroup(tree, process);
    status = status ? status : other;
    if (asked.pid_inside)
        other = read_pid_inside(tree, process);
    return status ? status : other;
}
