/* SPDX-License-Identifier: MIT */
#include "fastnet/descriptors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/rights.h"
#include "lookup/processes.h"

/* --- How many --------------------------------------------------------------------------------- */

static int count_one(const char *name, void *arg)
{
    *(uint64_t *)arg += *name != '.';
    return 0;
}

/* Raises *arg to the number of descriptors of this thread. The threads of a process usually share
 * their descriptors, so the sum would be wrong. */
static int count_of_thread(int directory, void *arg)
{
    uint64_t *highest = arg, open = 0;
    const int status = directory_each(directory, count_one, &open);

    *highest = open > *highest ? open : *highest;
    return status;
}

static int count_of_threads(const struct proc_tree *tree, pid_t pid, uint64_t *open)
{
    int status;

    rights_raise(tree->right);
    status = process_each_thread(tree, pid, count_of_thread, open);
    rights_lower();
    return status;
}

/* Counts the open descriptors of a process. Since Linux 6.2 the size of PID/fd is their number. A
 * captured directory has another size, and on older kernels even this process has 0: then PID/fd is
 * listed, if the user or a right allows to open it. */
static int count_descriptors(const struct proc_tree *tree, pid_t pid, uint64_t *open)
{
    int directory, result;

    *open = !tree->living ? UINT64_MAX : process_count_descriptors(tree, pid);
    if (*open != UINT64_MAX &&
        (*open || process_count_descriptors(tree, procfs_self(tree)) + 1 > 1))
        return *open ? 0 : count_of_threads(tree, pid, open);
    *open = 0;
    if (!process_is_open(tree, pid))
        return -EACCES;
    rights_raise(tree->right);
    directory = process_open_descriptors(tree, pid);
    rights_lower();
    if (directory < 0)
        return directory;
    result = directory_each(directory, count_one, open);
    close(directory);
    return result || *open ? result : count_of_threads(tree, pid, open);
}

/* --- How many it may have --------------------------------------------------------------------- */

/* Reads the soft limit: the first number in the line "Max open files" of /proc/PID/limits. */
static int read_limit(const struct proc_tree *tree, pid_t pid, uint64_t *limit)
{
    static const char name[] = "\nMax open files ";
    char text[2048], *end;
    const ssize_t length = process_read_file(tree, pid, "limits", text, sizeof text);

    if (length < 0)
        return (int)length;
    const char *line = strstr(text, name);
    if (!line)
        return -EBADMSG;
    line += strlen(name);
    line += strspn(line, " ");
    if (strncmp(line, "unlimited", 9) == 0) {
        *limit = UINT64_MAX;
        return 0;
    }
    *limit = strtoull(line, &end, 10);
    return end == line ? -EBADMSG : 0;
}

static int descriptors_complete(const struct proc_tree *tree, struct process_descriptors *process)
{
    const int error = read_limit(tree, process->pid, &process->limit);
    ssize_t length;

    if (error)
        return error;
    length = process_read_file(tree, process->pid, "comm", process->name, sizeof process->name);
    if (length > 0 && process->name[length - 1] == '\n')
        process->name[length - 1] = '\0';
    return length < 0 ? (int)length : 0;
}

/* --- Of all processes ------------------------------------------------------------------------- */

struct descriptors_reading {
    const struct proc_tree *tree;
    uint64_t least;
    descriptors_fn fn;
    void *arg;
    struct descriptors_missed *missed;
};

static int descriptors_take(const struct descriptors_reading *reading, pid_t pid)
{
    struct descriptors_missed *missed = reading->missed;
    struct process_descriptors process = {.pid = pid};
    int error = count_descriptors(reading->tree, pid, &process.open);

    if ((error == -ENOENT || !process.open) && process_is_uncaptured(reading->tree, pid)) {
        missed->unlisted++;
        return 0;
    }
    missed->counted += !error;
    if (!error && process.open < reading->least)
        return 0;
    if (!error)
        error = descriptors_complete(reading->tree, &process);
    missed->limits += error == -ENOENT && !reading->tree->living;
    missed->denied += error_is_denial(error);
    missed->error = missed->error ? missed->error : error_to_report(error);
    return error ? 0 : reading->fn(&process, reading->arg);
}

int descriptors_each(const char *proc_root, uint64_t least, descriptors_fn fn, void *arg,
                     struct descriptors_missed *missed)
{
    struct proc_tree tree;
    const struct descriptors_reading reading = {&tree, least, fn, arg, missed};
    struct processes processes = {.count = 0};
    int result = proc_tree_init(&tree, proc_root);

    *missed = (struct descriptors_missed){.denied = 0};
    if (result)
        return result;
    result = processes_list(&tree, &processes, false);
    /* process 1 is in every pid namespace: if it is missing, others may be hidden, too */
    missed->none = !processes.count && !tree.living;
    missed->hidden = tree.living && (!processes.count || processes.items[0].pid != 1);
    for (size_t i = 0; i < processes.count && result == 0; i++)
        result = descriptors_take(&reading, processes.items[i].pid);
    processes_finish(&processes);
    proc_tree_finish(&tree);
    return result;
}

int descriptors_of(const char *proc_root, pid_t pid, struct process_descriptors *process)
{
    struct proc_tree tree;
    int result = proc_tree_init(&tree, proc_root);

    if (result < 0)
        return result;
    process->pid = pid;
    result = count_descriptors(&tree, pid, &process->open);
    if (result == 0)
        result = descriptors_complete(&tree, process);
    proc_tree_finish(&tree);
    return result;
}
