/* SPDX-License-Identifier: MIT */
/*
 * Owners of sockets in a made tree of processes, also when they are looked for a second time. The
 * first byte says how they are looked for; the rest is the tree (tree.h).
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/descriptors.h"
#include "fastnet/hosts.h"
#include "fastnet/owners.h"
#include "fastnet/text.h"
#include "fuzz.h"
#include "made_processes.h"

/* Bits of the first byte. Few inputs have a crowd, which takes its time. */
enum { THREADS = 3, COMMANDS = 4, TASKS = 0x40, CGROUPS = 0x80, CROWD = 0xf8, IS_CROWD = '8' };

/* One more process holds so many descriptors that threads share the reading of its directory. */
enum { CROWD_PID = 4194304, CROWD_FILES = 1500, CROWD_INODE = 1000000000 };

static bool is_before(const struct made_socket *a, const struct made_socket *b)
{
    return a->pid != b->pid ? a->pid < b->pid : a->fd < b->fd;
}

/* How many of the inode's sockets come before this one. */
static size_t place_of(const struct made_processes *made, const struct made_socket *sock)
{
    size_t place = 0;

    for (size_t i = 0; i < made->socket_count; i++)
        place += made->sockets[i].inode == sock->inode && is_before(&made->sockets[i], sock);
    return place;
}

static size_t count_of(const struct made_processes *made, uint64_t inode)
{
    size_t count = 0;

    for (size_t i = 0; i < made->socket_count; i++)
        count += made->sockets[i].inode == inode;
    return count;
}

static void check_command(const struct owner *owner, const struct made_process *process,
                          const char *name, bool commands)
{
    require(!owner->process->command == !commands);
    if (!commands)
        return;
    if (process->has_command)
        require(strcmp(owner->process->command, process->command) == 0);
    else
        require(strcmp(owner->process->command, name) == 0 ||
                (process->has_fifo && !owner->process->command[0]));
}

static void check_cgroup(const struct owner *owner, const struct made_process *process,
                         bool cgroups)
{
    const struct text *made = &process->cgroup;

    require(!owner->process->cgroup == (!cgroups || !made->length));
    require(!owner->process->cgroup || text_is(*made, owner->process->cgroup));
}

static void check_owners(struct owners *owners, const struct made_processes *made,
                         const struct owners_options *options)
{
    for (size_t i = 0; i < made->socket_count; i++) {
        const struct made_socket *sock = &made->sockets[i];
        const struct made_process *process = made_processes_find(made, sock->pid);
        const struct owner *first = NULL, *owner;
        require(owners_find(owners, sock->inode, &first) == count_of(made, sock->inode));
        owner = first + place_of(made, sock);
        require(owner->process->pid == sock->pid && owner->fd == sock->fd);
        require(owner->tid == 0 || owner->tid == owner->process->pid);
        char name[MADE_NAME_SIZE];
        made_process_name(process, name);
        require(strcmp(owner->process->name, name) == 0);
        check_command(owner, process, name, options->commands);
        check_cgroup(owner, process, options->cgroups);
        require(owner->process->pid_inside >= 0 &&
                (options->pids_inside || !owner->process->pid_inside));
    }
}

static int count_process(const struct process_descriptors *process, void *arg)
{
    require(memchr(process->name, '\0', sizeof process->name) != NULL && process->open > 0);
    ++*(size_t *)arg;
    return 0;
}

/* Of made processes some have limits, or what looks like these. */
static void count_descriptors(void)
{
    struct descriptors_missed missed;
    size_t count = 0;

    (void)descriptors_each(tree_root(), 1, count_process, &count, &missed);
    require(missed.error <= 0);
}

static void check_others(struct owners *owners, const struct made_processes *made)
{
    const struct owner *first = NULL;

    require(owners_find(owners, 0, &first) == 0);
    for (size_t i = 0; i < made->socket_count; i++) {
        const uint64_t next = made->sockets[i].inode + 1;
        const bool crowded = next >= CROWD_INODE && next < CROWD_INODE + CROWD_FILES;
        require(crowded || owners_find(owners, next, &first) == count_of(made, next));
    }
}

static void check_crowd(struct owners *owners)
{
    const struct owner *first = NULL;

    for (uint64_t i = 0; i < CROWD_FILES; i++) {
        require(owners_find(owners, CROWD_INODE + i, &first) >= 1);
        require(first->process->pid <= CROWD_PID);
    }
}

static void check(struct owners *owners, const struct made_processes *made,
                  const struct owners_options *options, bool crowd)
{
    bool odd = false;

    for (size_t i = 0; i < made->process_count; i++)
        odd |= made->processes[i].odd;
    require(odd || owners_summary(owners)->error == 0);
    require(owners_summary(owners)->none == (made->process_count == 0 && !crowd));
    require(owners_summary(owners)->denied == 0 && !owners_summary(owners)->shut_out &&
            !owners_summary(owners)->hidden);
    if (crowd) {
        check_crowd(owners);
        return;
    }
    check_owners(owners, made, options);
    check_others(owners, made);
    for (size_t i = 0; i < made->socket_count; i++)
        require(owners_summary(owners)->any || made->sockets[i].pid == getpid());
    require(made->socket_count || !owners_summary(owners)->any);
}

/* Who made a connection: one of the processes, or one that has ended. A listener has no descriptor.
 */
static void check_makers(struct owners *owners, const struct made_processes *made)
{
    const struct owner *first;

    for (size_t i = 0; i < made->process_count; i++) {
        const struct owner *maker = owners_creator(owners, made->processes[i].pid, "elsewhere");
        require(maker->process->pid == made->processes[i].pid && maker->fd == -1);
        require(maker->process->name != NULL);
    }
    require(strcmp(owners_creator(owners, INT_MAX, "ended")->process->name, "ended") == 0);
    for (size_t i = 0; i < made->socket_count; i++) {
        const size_t count = owners_of_listener(owners, made->sockets[i].inode, &first);
        require(count > 0);
        for (size_t j = 0; j < count; j++)
            require(first[j].fd == -1 && made_processes_find(made, first[j].process->pid));
    }
}

/* Nothing has changed since they were found. */
static void check_holders(struct owners *owners, const struct made_processes *made)
{
    for (size_t i = 0; i < made->socket_count; i++)
        require(owners_confirm(owners, made->sockets[i].inode) == OWNERS_HOLD);
}

static void make_crowd(const char *path)
{
    int process, descriptors;

    require(mkdir(path, 0700) == 0);
    process = open(path, O_DIRECTORY | O_CLOEXEC);
    require(process >= 0 && mkdirat(process, "fd", 0700) == 0);
    descriptors = openat(process, "fd", O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < CROWD_FILES; i++) {
        char name[32], target[32];
        snprintf(name, sizeof name, "%d", i);
        snprintf(target, sizeof target, "socket:[%d]", CROWD_INODE + i);
        require(symlinkat(target, descriptors, name) == 0);
    }
    close(descriptors);
    close(process);
}

/* Moves the crowd, which is made once, into the tree or out of it. Returns whether it is there. */
static bool move_crowd(bool in)
{
    char outside[PATH_MAX + 32], inside[PATH_MAX + 32];

    snprintf(outside, sizeof outside, "%s/crowd", tree_beside());
    snprintf(inside, sizeof inside, "%s/%d", tree_root(), CROWD_PID);
    if (!in)
        return rename(inside, outside) < 0;
    if (access(outside, F_OK) < 0)
        make_crowd(outside);
    return access(inside, F_OK) < 0 && rename(outside, inside) == 0;
}

static void make_until_later(struct made_processes *made, struct tree_input *input)
{
    struct tree_entry entry;

    while (tree_next(input, &entry) && entry.kind != TREE_LATER)
        made_processes_make(made, &entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct made_processes made;
    struct tree_input input;
    struct owners *owners = NULL;

    if (size == 0)
        return 0;
    const struct owners_options options = {.proc_root = tree_root(),
                                           .commands = data[0] & COMMANDS,
                                           .cgroups = data[0] & CGROUPS,
                                           .pids_inside = data[0] & CGROUPS,
                                           .threads = data[0] & THREADS,
                                           .tasks = data[0] & TASKS};
    tree_clear();
    made = (struct made_processes){.process_count = 0};
    input = tree_input(data + 1, size - 1);
    make_until_later(&made, &input);
    const bool crowd = (data[0] & CROWD) == IS_CROWD && move_crowd(true);
    count_descriptors();
    require(owners_create(&owners, &options) == 0);
    check(owners, &made, &options, crowd);
    make_until_later(&made, &input);
    require(owners_refresh(owners) == 0);
    check(owners, &made, &options, crowd);
    if (!crowd) {
        check_holders(owners, &made);
        check_makers(owners, &made);
    }
    require(owners_refresh(owners) == 0);
    owners_destroy(owners);
    require(!crowd || !move_crowd(false));
    return 0;
}
