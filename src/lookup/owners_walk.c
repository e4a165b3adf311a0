/* SPDX-License-Identifier: MIT */
/* Threads take processes from one list. When the list is empty, they help with directories of
 * processes that hold very many descriptors: threads that call getdents64(2) on one open directory
 * get successive pieces of it. So several threads can share even a single process. */
#include "lookup/owners_walk.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/thread.h"

enum {
    THREADS_MAX = 8,
    DIRECTORY_BUFFER = 15 * 1024,
    DIRECTORY_SHARED = DIRECTORY_BUFFER / 2, /* if the first piece is that large, more follow */
    DIRENT_TYPICAL = 24,                     /* bytes of a descriptor's entry */

    /* Costs in readlink(2) calls, which take 3 microseconds: a process takes four system calls
     * before its first descriptor, and the start of a thread about 50 microseconds. Other threads
     * start after some milliseconds. */
    COST_PROCESS = 3,
    COST_ALONE = 1024,

    DOTS = 2, /* the entries "." and ".." of a directory */
};

/* The descriptor directory of one process while it is read. */
struct directory {
    int fd;
    size_t process;
    /* The lock of struct walk protects these members. */
    unsigned readers;
    bool denied;
    size_t sockets;
};

struct walk_worker {
    _Alignas(64) struct walk *walk; /* no two workers write to one cache line */
    struct directory own;
    struct holdings found; /* holder has the index of the process, not its pid */
    pthread_t thread;
};

struct walk {
    const struct walk_options *options;
    struct processes *processes;
    atomic_size_t next;
    atomic_int error;

    /* Only the first worker uses these members. */
    size_t cost; /* cost of its work so far */
    size_t worker_count;
    struct walk_worker workers[THREADS_MAX];

    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned busy; /* number of workers that may still offer a directory */
    size_t shared_count;
    struct directory *shared[THREADS_MAX]; /* at most one from each worker */
};

static int holdings_add(struct holdings *holdings, struct holding holding)
{
    struct holding *added = ARRAY_ADD(holdings->items, holdings->count, holdings->capacity);
    if (added)
        *added = holding;
    return added ? 0 : -ENOMEM;
}

/* Keeps the first error. error: 0 or -errno. */
static void owners_walk_note_error(struct walk *walk, int error)
{
    int none = 0;
    if (error != 0)
        atomic_compare_exchange_strong(&walk->error, &none, error);
}

static void *owners_walk_work(void *arg);

/* Only the first worker calls this. If no thread can be started, the walk only takes longer. */
static void start_workers(struct walk *walk, unsigned threads)
{
    bool started = true;

    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    while (started && walk->worker_count < threads) {
        struct walk_worker *worker = &walk->workers[walk->worker_count];
        worker->walk = walk;
        pthread_mutex_lock(&walk->lock); /* the thread must not end before it is counted */
        started = thread_start(&worker->thread, owners_walk_work, worker) == 0;
        walk->busy += started;
        walk->worker_count += started;
        pthread_mutex_unlock(&walk->lock);
    }
}

/* Adds to the cost of the first worker. Starts more workers when the work is worth it. */
static void add_cost(struct walk_worker *worker, size_t cost)
{
    struct walk *walk = worker->walk;
    if (worker != &walk->workers[0] || walk->cost > COST_ALONE)
        return;
    walk->cost += cost;
    if (walk->cost > COST_ALONE && walk->options->threads == 0)
        start_workers(walk, thread_cpus());
}

struct tally {
    bool denied;
    size_t sockets, entries; /* entries: includes "." and ".." */
};

bool ring_line_decode(const char *line, uint64_t *inode)
{
    const size_t blanks = strspn(line, " "), digits = strspn(line + blanks, "0123456789");
    const char *link = line + blanks + digits;

    if (!digits || strncmp(link, ": socket:", 9) != 0)
        return false;
    link += 2;
    return link_inode(link, strcspn(link, "\n"), inode);
}

/* Adds the sockets that are registered in a ring. A file that cannot be read has none. */
static int owners_walk_read_ring(struct walk_worker *worker, const struct directory *directory,
                                 int fd, struct tally *tally)
{
    const struct walk *walk = worker->walk;
    const uint64_t process = directory->process;
    char path[PROCESS_PATH_MAX + 16], *line = NULL;
    size_t capacity = 0;
    int status = 0;

    snprintf(path, sizeof path, "%d/fdinfo/%d", (int)walk->processes->items[process].pid, fd);
    const int descriptor = proc_tree_open(&walk->options->tree, path);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "r");
    if (descriptor >= 0 && !file)
        close(descriptor);
    while (file && status == 0 && getline(&line, &capacity, file) >= 0) {
        uint64_t inode;
        if (!ring_line_decode(line, &inode))
            continue;
        tally->sockets++;
        status = holdings_add(
            &worker->found, (struct holding){inode, process << HOLDER_PROCESS_SHIFT | HOLDER_RING});
    }
    free(line);
    if (file)
        fclose(file);
    return status;
}

static int owners_walk_read_link(struct walk_worker *worker, const struct directory *directory,
                                 const char *name, struct tally *tally)
{
    uint64_t inode;
    int fd;
    bool is_ring = false;
    const int status = descriptor_read_any(directory->fd, name, &fd, &inode, &is_ring);
    if (status < 0) {
        tally->denied |= error_is_denial(status);
        if (status != -EINVAL) /* not a link: a captured tree may contain other files */
            owners_walk_note_error(worker->walk, error_to_report(status));
    }
    if (status <= 0)
        return is_ring && worker->walk->options->rings
                   ? owners_walk_read_ring(worker, directory, fd, tally)
                   : 0;
    tally->sockets++;
    const uint64_t process = directory->process;
    return holdings_add(&worker->found,
                        (struct holding){inode, process << HOLDER_PROCESS_SHIFT | (unsigned)fd});
}

static struct tally read_pieces(struct walk_worker *worker, struct directory *directory)
{
    _Alignas(8) char buffer[DIRECTORY_BUFFER];
    struct walk *walk = worker->walk;
    struct tally tally = {0};
    bool shared = directory != &worker->own;
    ssize_t status;

    while ((status = directory_read(directory->fd, buffer, sizeof buffer)) > 0) {
        const size_t length = (size_t)status;
        if (!shared && length >= DIRECTORY_SHARED) {
            /* others join only when no process is left, so `own` is not reused meanwhile */
            pthread_mutex_lock(&walk->lock);
            walk->shared[walk->shared_count++] = directory;
            pthread_cond_broadcast(&walk->changed);
            pthread_mutex_unlock(&walk->lock);
            shared = true;
        }
        add_cost(worker, length / DIRENT_TYPICAL);
        const char *name;
        for (size_t at = 0; status >= 0 && (name = directory_next(buffer, length, &at));) {
            tally.entries++;
            status = owners_walk_read_link(worker, directory, name, &tally);
        }
        if (status < 0)
            break;
    }
    if (!error_is_absence((int)status))
        owners_walk_note_error(walk, (int)status);
    return tally;
}

/* The last reader closes the directory and, if it has sockets, reads the names of the process. */
static void leave_directory(struct walk *walk, struct directory *directory, struct tally tally)
{
    pthread_mutex_lock(&walk->lock);
    directory->denied |= tally.denied;
    directory->sockets += tally.sockets;
    for (size_t i = 0; i < walk->shared_count; i++)
        if (walk->shared[i] == directory)
            walk->shared[i] = walk->shared[--walk->shared_count];
    const bool last = --directory->readers == 0;
    pthread_mutex_unlock(&walk->lock);
    if (!last)
        return;

    struct process *process = &walk->processes->items[directory->process];
    process->denied = directory->denied;
    close(directory->fd);
    if (directory->sockets > 0)
        owners_walk_note_error(
            walk, process_read_names(&walk->options->tree, process, walk->options->names));
}

struct thread_reading {
    struct walk_worker *worker;
    size_t process;
    struct tally tally;
};

static int read_thread(int fd, void *arg)
{
    struct thread_reading *reading = arg;
    struct directory directory = {.fd = fd, .process = reading->process, .readers = 1};
    const struct tally tally = read_pieces(reading->worker, &directory);

    reading->tally.denied |= tally.denied;
    reading->tally.sockets += tally.sockets;
    return 0;
}

/* Reads the threads of a process without descriptors: its first thread may have ended, or a
 * captured tree may lack its descriptors. */
static struct tally read_empty(struct walk_worker *worker, size_t index)
{
    const struct walk *walk = worker->walk;
    const struct proc_tree *tree = &walk->options->tree;
    struct process *process = &walk->processes->items[index];
    struct thread_reading reading = {worker, index, {0}};

    if (!walk->options->tasks) /* with `tasks`, all threads are read anyway */
        (void)process_each_thread(tree, process->pid, read_thread, &reading);
    process->unlisted = !reading.tally.sockets && process_is_uncaptured(tree, process->pid);
    return reading.tally;
}

static void read_process(struct walk_worker *worker, size_t index)
{
    struct walk *walk = worker->walk;
    struct process *process = &walk->processes->items[index];

    add_cost(worker, COST_PROCESS);
    if (process->hidden)
        return;
    const int fd = process_open_descriptors(&walk->options->tree, process->pid);
    if (fd < 0) {
        process->denied |= error_is_denial(fd);
        process->shut |= error_is_denial(fd);
        process->unlisted =
            fd == -ENOENT && process_is_uncaptured(&walk->options->tree, process->pid);
        owners_walk_note_error(walk, error_to_report(fd));
        return;
    }
    worker->own = (struct directory){.fd = fd, .process = index, .readers = 1};
    struct tally tally = read_pieces(worker, &worker->own);
    if (tally.entries <= DOTS)
        tally = read_empty(worker, index);
    leave_directory(walk, &worker->own, tally);
}

/* Returns the offered directory that has the fewest readers, or NULL. */
static struct directory *shared_directory(const struct walk *walk)
{
    struct directory *best = NULL;
    for (size_t i = 0; i < walk->shared_count; i++)
        if (!best || walk->shared[i]->readers < best->readers)
            best = walk->shared[i];
    return best;
}

/* Waits until another worker shares a directory, and returns it; NULL: the walk is over. */
static struct directory *owners_walk_join(struct walk *walk)
{
    pthread_mutex_lock(&walk->lock);
    if (--walk->busy == 0)
        pthread_cond_broadcast(&walk->changed);
    struct directory *directory;
    while (!(directory = shared_directory(walk)) && walk->busy > 0)
        pthread_cond_wait(&walk->changed, &walk->lock);
    if (directory) {
        directory->readers++;
        walk->busy++;
    }
    pthread_mutex_unlock(&walk->lock);
    return directory;
}

static void *owners_walk_work(void *arg)
{
    struct walk_worker *worker = arg;
    struct walk *walk = worker->walk;
    struct directory *directory;
    size_t index;

    while ((index = atomic_fetch_add(&walk->next, 1)) < walk->processes->count)
        read_process(worker, index);
    while ((directory = owners_walk_join(walk)))
        leave_directory(walk, directory, read_pieces(worker, directory));
    return NULL;
}

static int take_findings(const struct walk *walk, const struct holdings *more,
                         struct holdings *found)
{
    for (size_t i = 0; i < more->count; i++) {
        const struct holding holding = more->items[i];
        const struct process *process =
            &walk->processes->items[holding.holder >> HOLDER_PROCESS_SHIFT];
        const uint64_t holder =
            (uint64_t)process->pid << HOLDER_PROCESS_SHIFT | (uint32_t)holding.holder;
        if (!process->gone && holdings_add(found, (struct holding){holding.inode, holder}) < 0)
            return -ENOMEM;
    }
    return 0;
}

int owners_walk(const struct walk_options *options, struct processes *processes,
                struct holdings *found)
{
    struct walk walk = {.options = options, .processes = processes, .busy = 1};
    walk.workers[0].walk = &walk;
    walk.worker_count = 1;
    pthread_mutex_init(&walk.lock, NULL);
    pthread_cond_init(&walk.changed, NULL);

    start_workers(&walk, options->threads);
    owners_walk_work(&walk.workers[0]);
    for (size_t i = 1; i < walk.worker_count; i++)
        pthread_join(walk.workers[i].thread, NULL);
    for (size_t i = 0; i < walk.worker_count; i++) {
        owners_walk_note_error(&walk, take_findings(&walk, &walk.workers[i].found, found));
        free(walk.workers[i].found.items);
    }

    pthread_cond_destroy(&walk.changed);
    pthread_mutex_destroy(&walk.lock);
    return atomic_load(&walk.error);
}
