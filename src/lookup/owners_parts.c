/* SPDX-License-Identifier: MIT */
#include "lookup/owners_bpf.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/bpf_iterator.h"
#include "fastnet/rights.h"
#include "fastnet/thread.h"

enum {
    /* A descriptor takes 0.3 microseconds, a walk over one process takes 20, and a thread needs 50
     * until it runs. So parts are faster with many descriptors in few processes, if more than one
     * process has many descriptors. */
    DESCRIPTORS_WORTH = 16384,
    PROCESSES_MOST = 256,
    THREADS = 2,
};

/* A process, and where its holdings are. */
struct owners_part {
    pid_t pid;
    uint64_t open; /* number of its descriptors */
    int fd;        /* BPF iterator over its descriptors; -1: none */
    const struct holdings *holdings;
    size_t from, count; /* its part of `holdings` */
};

struct parts_worker {
    _Alignas(64) struct parts *parts; /* no two workers write to one cache line */
    struct holdings found;
    int status;
    pthread_t thread;
};

struct parts {
    struct owners_part items[PROCESSES_MOST];
    size_t count;
    struct holdings ended;  /* holdings of processes whose first thread has ended, from /proc */
    uint64_t open, largest; /* number of descriptors: of all processes; of the largest process */
    atomic_size_t next;
    struct parts_worker workers[THREADS];
};

/* --- Which processes -------------------------------------------------------------------------- */

struct ended {
    struct holdings *found;
    pid_t pid;
    int directory; /* PID/task/TID/fd of a thread */
};

static int take_descriptor(const char *name, void *arg)
{
    const struct ended *ended = arg;
    struct holdings *found = ended->found;
    uint64_t inode;
    int fd;

    if (descriptor_read(ended->directory, name, &fd, &inode) <= 0)
        return 0;
    struct holding *added = ARRAY_ADD(found->items, found->count, found->capacity);
    if (!added)
        return -ENOMEM;
    *added = (struct holding){inode, (uint64_t)ended->pid << HOLDER_PROCESS_SHIFT | (unsigned)fd};
    return 0;
}

static int take_thread(int directory, void *arg)
{
    struct ended *ended = arg;
    int status;

    ended->directory = directory;
    status = directory_each(directory, take_descriptor, ended);
    return status == -ENOMEM ? status : 0;
}

/* Adds a part for each process. A walk over one process ends at its first thread if that has no
 * descriptors, so a process whose first thread has ended is read from /proc here. */
static int parts_take_processes(struct parts *parts, const struct proc_tree *tree,
                                const struct processes *listed)
{
    for (size_t i = 0; i < listed->count; i++) {
        const pid_t pid = listed->items[i].pid;
        const uint64_t open = process_count_descriptors(tree, pid);
        struct ended ended = {&parts->ended, pid, -1};
        if (!open && process_each_thread(tree, pid, take_thread, &ended) < 0)
            return -ENOMEM;
        if (!open || open == UINT64_MAX) /* kernel threads */
            continue;
        if (parts->count == PROCESSES_MOST)
            return -ENOTSUP;
        parts->items[parts->count++] = (struct owners_part){.pid = pid, .open = open, .fd = -1};
        parts->open += open;
        parts->largest = open > parts->largest ? open : parts->largest;
    }
    return parts->open >= DESCRIPTORS_WORTH && parts->largest <= parts->open / 4 * 3 ? 0 : -ENOTSUP;
}

static int parts_list_processes(struct parts *parts)
{
    struct processes listed = {.count = 0};
    struct proc_tree tree;
    int status;

    rights_raise(RIGHT_OWNERS); /* hidepid= of proc(5) may hide processes */
    status = proc_tree_init(&tree, "/proc");
    if (status == 0) {
        status = processes_list(&tree, &listed, false);
        if (status == 0)
            status = parts_take_processes(parts, &tree, &listed);
        proc_tree_finish(&tree);
    }
    rights_lower();
    processes_finish(&listed);
    return status;
}

/* --- Reading them ----------------------------------------------------------------------------- */

static int parts_most_first(const void *a, const void *b)
{
    const struct owners_part *one = a, *other = b;

    return (one->open < other->open) - (one->open > other->open);
}

static int parts_by_process(const void *a, const void *b)
{
    const struct owners_part *one = a, *other = b;

    return (one->pid > other->pid) - (one->pid < other->pid);
}

static void *parts_work(void *arg)
{
    struct parts_worker *worker = arg;
    struct parts *parts = worker->parts;

    for (size_t i; worker->status == 0 && (i = atomic_fetch_add(&parts->next, 1)) < parts->count;) {
        struct owners_part *part = &parts->items[i];
        part->holdings = &worker->found;
        part->from = worker->found.count;
        worker->status = owners_program_take(part->fd, &worker->found);
        part->count = worker->found.count - part->from;
        const struct holding *items = worker->found.items + part->from;
        /* a kernel that ignored the number of the process would walk over all processes */
        if (worker->status == 0 && part->count &&
            ((pid_t)(items[0].holder >> HOLDER_PROCESS_SHIFT) != part->pid ||
             (pid_t)(items[part->count - 1].holder >> HOLDER_PROCESS_SHIFT) != part->pid))
            worker->status = -EIO;
    }
    return NULL;
}

/* Reads all parts in two threads, or in this thread alone if no other can be started. */
static int read_parts(struct parts *parts)
{
    struct parts_worker *other = &parts->workers[1], *own = &parts->workers[0];
    bool started;

    own->parts = other->parts = parts;
    qsort(parts->items, parts->count, sizeof *parts->items, parts_most_first);
    started = thread_start(&other->thread, parts_work, other) == 0;
    parts_work(own);
    if (started)
        pthread_join(other->thread, NULL);
    return own->status ? own->status : other->status;
}

/* --- Together --------------------------------------------------------------------------------- */

/* Adds the holdings in the order of pids, as one walk over all processes would. */
static int join_parts(struct parts *parts, struct processes *processes, struct holdings *found)
{
    const size_t from = found->count, all = parts->workers[0].found.count +
                                            parts->workers[1].found.count + parts->ended.count;
    struct holding *items =
        array_with_room(found->items, &found->capacity, from + all, sizeof *items);
    int status;

    if (!items)
        return -ENOMEM;
    found->items = items;
    qsort(parts->items, parts->count, sizeof *parts->items, parts_by_process);
    for (size_t i = 0; i < parts->count; i++) {
        const struct owners_part *part = &parts->items[i];
        if (part->count)
            memcpy(items + found->count, part->holdings->items + part->from,
                   part->count * sizeof *items);
        found->count += part->count;
    }
    if (parts->ended.count)
        memcpy(items + found->count, parts->ended.items, parts->ended.count * sizeof *items);
    found->count += parts->ended.count;
    status = owners_program_add(processes, found, from);
    if (status < 0)
        found->count = from;
    return status;
}

int owners_parts_walk(int program, struct processes *processes, struct holdings *found)
{
    struct parts *parts =
        thread_cpus() >= THREADS ? aligned_alloc(_Alignof(struct parts), sizeof *parts) : NULL;
    int status;

    if (!parts)
        return -ENOTSUP;
    memset(parts, 0, sizeof *parts);
    status = parts_list_processes(parts);
    for (size_t i = 0; i < parts->count && status == 0; i++) {
        /* this thread has the rights, so it begins all walks */
        parts->items[i].fd = bpf_iterator_start(program, (uint32_t)parts->items[i].pid);
        status = parts->items[i].fd < 0 ? parts->items[i].fd : 0;
    }
    if (status == 0)
        status = read_parts(parts);
    if (status == 0)
        status = join_parts(parts, processes, found);
    for (size_t i = 0; i < parts->count; i++)
        if (parts->items[i].fd >= 0)
            close(parts->items[i].fd);
    for (size_t i = 0; i < THREADS; i++)
        free(parts->workers[i].found.items);
    free(parts->ended.items);
    free(parts);
    return status;
}
