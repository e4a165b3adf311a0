/* SPDX-License-Identifier: MIT */
/* Owners of sockets, by inode: the holdings that the walk over /proc or the BPF program found,
 * sorted and indexed. The index is not a struct hash_table, because its slots point to the sorted
 * holdings: a hash_table would store the holdings twice. */
#include "fastnet/owners.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/kernel_sockets.h"
#include "fastnet/profiles.h"
#include "fastnet/rights.h"
#include "lookup/owners_bpf.h"
#include "lookup/owners_walk.h"

/* How long a name that was read stays valid. */
static const uint64_t NAME_LASTS = CLOCK_SECOND / 20;

struct owners {
    struct walk_options walk;
    struct owners_program *program;              /* NULL: walk over /proc */
    const struct kernel_sockets *kernel_sockets; /* or NULL */
    struct process of_kernel;                    /* the kernel itself */
    struct owner kernel;                         /* the owner of kernel_sockets */
    bool names_at_once;
    struct profiles *profiles; /* NULL: no profiles are wanted, or they are read later */
    bool partial;              /* the tree may lack processes of this machine */
    uint64_t read_at;          /* CLOCK_BOOTTIME, ns: when the last search had read all processes */
    struct processes processes;
    struct holdings holdings; /* sorted by inode, then holder */
    struct owner *items;      /* the owner of each holding */
    uint32_t *slots;          /* hash of the inode -> 1 + index of its first holding; 0: empty */
    unsigned slot_bits;
    struct {
        uint64_t inode; /* 0: no inode was asked for yet */
        size_t start, count;
        bool past;          /* no process holds the socket any more: these processes held it last */
    } last;                 /* the inode asked for last: each row asks several times */
    struct process creator; /* process of the last owners_creator(), if no search has found it */
    struct owner made[8];   /* results of owners_creator() and owners_of_listener() */
    struct owners_summary summary;
};

static void raise_right(const struct owners *owners)
{
    rights_raise(owners->walk.tree.right);
}

/* Marks a holding of an earlier search. Descriptors are not negative, so the bit is free. */
#define HOLDER_PAST (UINT64_C(1) << 31)

/* Drops repeated holdings, inode 0, and past holdings of a socket that has a holder now. */
static void drop_repeats(struct holdings *holdings)
{
    struct holding *items = holdings->items, last = {0};
    size_t kept = 0;
    for (size_t i = 0, end; i < holdings->count; i = end) {
        const uint64_t inode = items[i].inode;
        bool is_held = false;
        for (end = i; end < holdings->count && items[end].inode == inode; end++)
            is_held |= !(items[end].holder & HOLDER_PAST);
        if (end == i + 1 && inode) { /* most sockets have one holder */
            items[kept++] = items[i];
            continue;
        }
        for (size_t j = i; j < end && inode; j++) {
            if ((is_held && items[j].holder & HOLDER_PAST) ||
                (items[j].inode == last.inode && items[j].holder == last.holder))
                continue;
            last = items[j];
            items[kept++] = last;
        }
    }
    holdings->count = kept;
}

/* Returns the slot of an inode, or the free slot where it belongs. Inodes are often consecutive, so
 * Fibonacci hashing spreads them. */
static inline uint32_t *owners_slot_of(const struct owners *owners, uint64_t inode)
{
    const size_t mask = ((size_t)1 << owners->slot_bits) - 1;
    size_t slot = (size_t)(inode * UINT64_C(0x9e3779b97f4a7c15) >> (64 - owners->slot_bits));
    while (owners->slots[slot] != 0 &&
           owners->holdings.items[owners->slots[slot] - 1].inode != inode)
        slot = (slot + 1) & mask;
    return &owners->slots[slot];
}

/* Fills process->shown. Its name is NULL if it was not read yet; callers never see that. */
static void show_process(const struct owners *owners, struct process *process)
{
    const char *command = process->command ? process->command : process->name;
    process->shown = (struct owner_process){
        .pid = process->leader,
        .unnamed = !process->named,
        .name = process->unread && !process->named ? NULL : process->name,
        .command = owners->walk.names.command ? command : NULL,
        .cgroup = process->cgroup,
        .pid_inside = process->pid_inside,
        .seen_at = process->seen_at,
    };
}

/* Fills owners->items. Neighbouring inodes often belong to one process, which is tried first. */
static void fill_owners(struct owners *owners)
{
    const struct process *process = owners->processes.items;
    for (size_t i = 0; i < owners->holdings.count; i++) {
        const uint64_t holder = owners->holdings.items[i].holder;
        const pid_t pid = (pid_t)(holder >> HOLDER_PROCESS_SHIFT);
        if (process->pid != pid)
            process = processes_find(&owners->processes, pid);
        owners->items[i] = (struct owner){
            .process = &process->shown,
            .tid = owners->walk.tasks ? pid : 0,
            .fd = (int)(uint32_t)(holder & ~HOLDER_PAST),
        };
        if (owners->walk.rings && owners->items[i].fd == HOLDER_RING)
            owners->items[i].fd = -1;
    }
}

/* Orders the owners of an inode by process, first thread, thread and descriptor. The holdings of an
 * inode are sorted by thread alone. */
static int compare_tasks(const void *a, const void *b)
{
    const struct owner *left = a, *right = b;
    const pid_t mine = left->process->pid, its = right->process->pid;
    const bool thread = left->tid != mine, other = right->tid != its;

    if (mine != its)
        return mine < its ? -1 : 1;
    if (thread != other)
        return thread ? 1 : -1;
    if (left->tid != right->tid)
        return left->tid < right->tid ? -1 : 1;
    return (left->fd > right->fd) - (left->fd < right->fd);
}

static void sort_tasks(const struct owners *owners)
{
    const struct holding *items = owners->holdings.items;
    size_t start = 0;

    for (size_t i = 1; i <= owners->holdings.count; i++)
        if (i == owners->holdings.count || items[i].inode != items[start].inode) {
            qsort(&owners->items[start], i - start, sizeof *owners->items, compare_tasks);
            start = i;
        }
}

static void forget_index(struct owners *owners)
{
    free(owners->items);
    free(owners->slots);
    owners->items = NULL;
    owners->slots = NULL;
    owners->last.inode = 0;
}

static int build_index(struct owners *owners)
{
    if (owners->holdings.count == 0)
        return 0;
    if (owners->holdings.count >= UINT32_MAX)
        return -EOVERFLOW;
    struct holdings *holdings = &owners->holdings;
    int status = sort_numbers(holdings->items, holdings->count, offsetof(struct holding, holder));
    if (status == 0)
        status = sort_numbers(holdings->items, holdings->count, offsetof(struct holding, inode));
    if (status < 0)
        return status;
    drop_repeats(holdings);

    owners->slot_bits = 4;
    while (((size_t)1 << owners->slot_bits) < 2 * owners->holdings.count)
        owners->slot_bits++;
    owners->items = reallocarray(NULL, owners->holdings.count, sizeof *owners->items);
    owners->slots = calloc((size_t)1 << owners->slot_bits, sizeof *owners->slots);
    if (!owners->items || !owners->slots) {
        forget_index(owners);
        return -ENOMEM;
    }
    for (size_t i = 0; i < owners->processes.count; i++)
        show_process(owners, &owners->processes.items[i]);
    fill_owners(owners);
    if (owners->walk.tasks)
        sort_tasks(owners);
    for (size_t i = 0; i < owners->holdings.count; i++) {
        uint32_t *slot = owners_slot_of(owners, owners->holdings.items[i].inode);
        if (*slot == 0)
            *slot = (uint32_t)i + 1;
    }
    return 0;
}

/* Process 1 is in every pid namespace: if it is not listed, hidepid= has hidden processes. */
static void summarize(struct owners *owners)
{
    const struct processes *processes = &owners->processes;
    const struct holdings *holdings = &owners->holdings;
    /* fastnet itself does not count: it may hold a netlink socket of an earlier run */
    const pid_t self = owners->walk.tree.living ? procfs_self(&owners->walk.tree) : -1;
    struct owners_summary summary = {.error = owners->summary.error, .partial = owners->partial};

    if (!owners->program) { /* the program is only loaded where process 1 is seen */
        summary.none = processes->count == 0;
        summary.hidden = owners->walk.tree.living && (summary.none || processes->items[0].pid != 1);
    }
    for (size_t i = 0; i < processes->count; i++) {
        if (processes->items[i].denied && processes->items[i].leader == processes->items[i].pid &&
            !summary.denied++)
            summary.denied_pid = processes->items[i].pid;
        summary.unlisted += processes->items[i].unlisted;
        summary.shut_out |= processes->items[i].shut;
        summary.unnamed += processes->items[i].unnamed;
    }
    struct process *denied = processes_find(&owners->processes, summary.denied_pid);
    if (summary.denied && denied) {
        if (!denied->named)
            (void)process_read_names(&owners->walk.tree, denied, owners->walk.names);
        snprintf(summary.denied_name, sizeof summary.denied_name, "%s",
                 denied->named ? denied->name : "");
    }
    for (size_t i = 0; i < holdings->count && !summary.any; i++)
        summary.any = (pid_t)(holdings->items[i].holder >> HOLDER_PROCESS_SHIFT) != self;
    owners->summary = summary;
}

const char *owners_denied_text(char text[OWNERS_DENIED_TEXT], const struct owners_summary *summary)
{
    char number[48] = "";

    if (summary->denied > 1)
        snprintf(number, sizeof number, "%zu processes, such as ", summary->denied);
    snprintf(text, OWNERS_DENIED_TEXT, "not allowed to read the open files of %s%s (pid %ld)",
             number, *summary->denied_name ? summary->denied_name : "a process",
             (long)summary->denied_pid);
    return text;
}

/* Keeps the first error. status: 0 or -errno. */
static void owners_note_error(struct owners *owners, int status)
{
    if (owners->summary.error == 0)
        owners->summary.error = -error_to_report(status);
}

/* Processes that hidepid= hides from the user stay hidden, even if the program's file has
 * capabilities: then the processes are listed without these rights. The processes that are not
 * hidden are walked with these rights. */
static int owners_list_processes(struct owners *owners)
{
    const bool elevated = owners->walk.tree.living && rights_elevated();

    if (elevated)
        rights_lower();
    else
        raise_right(owners);
    const int status = processes_list(&owners->walk.tree, &owners->processes, owners->walk.tasks);
    for (size_t i = 0; i < owners->processes.count && elevated; i++) {
        struct process *process = &owners->processes.items[i];
        process->hidden = !process_is_open(&owners->walk.tree, process->pid);
        process->denied |= process->hidden;
        process->shut |= process->hidden;
    }
    raise_right(owners);
    return status;
}

/* The kernel reuses the numbers of processes, but not twice in one clock tick. If a process began
 * after the last search, its number belonged to another process: forgets that process's name and
 * holdings. */
static void forget_replaced(struct owners *owners)
{
    raise_right(owners);
    for (size_t i = 0; i < owners->processes.count; i++) {
        struct process *process = &owners->processes.items[i];
        if (process->unread || !process_began_after(&owners->walk.tree, process, owners->read_at))
            continue;
        for (size_t j = 0; j < owners->holdings.count; j++)
            if ((pid_t)(owners->holdings.items[j].holder >> HOLDER_PROCESS_SHIFT) == process->pid)
                owners->holdings.items[j].inode = 0;
        process_forget(process);
    }
    rights_lower();
}

/* Finds the holdings. If the program fails, /proc is walked from now on. */
static int find_holdings(struct owners *owners)
{
    const bool again = owners->processes.count;
    int error = 0, status = 0;

    if (owners->program &&
        owners_program_walk(owners->program, &owners->processes, &owners->holdings) == 0) {
        if (!again)
            return 0;
        /* a row has no owner: find the processes that hide their descriptors */
        raise_right(owners);
        status = processes_list(&owners->walk.tree, &owners->processes, false);
        for (size_t i = 0; i < owners->processes.count && status == 0; i++)
            owners_note_error(owners,
                              process_read(&owners->walk.tree, &owners->processes.items[i]));
        rights_lower();
        return status;
    }
    owners->program = NULL;
    status = owners_list_processes(owners);
    if (status == 0)
        error = owners_walk(&owners->walk, &owners->processes, &owners->holdings);
    rights_lower();
    owners_note_error(owners, error);
    return status;
}

static bool is_confirmed(struct owners *owners, size_t i);

/* Reads names again, because they may change: the BPF program finds processes, but not names. */
static void read_names_again(struct owners *owners)
{
    raise_right(owners);
    for (size_t i = 0; i < owners->processes.count; i++)
        if (owners->processes.items[i].named)
            owners_note_error(owners,
                              process_read_names(&owners->walk.tree, &owners->processes.items[i],
                                                 owners->walk.names));
    rights_lower();
}

int owners_refresh(struct owners *owners)
{
    const bool keeps_past = owners->names_at_once;

    forget_index(owners);
    if (keeps_past)
        forget_replaced(owners);
    for (size_t i = 0; i < owners->holdings.count && keeps_past; i++)
        owners->holdings.items[i].holder |= HOLDER_PAST;
    const int status = find_holdings(owners);
    owners->read_at = clock_nanoseconds(CLOCK_BOOTTIME);
    for (size_t i = 0; i < owners->holdings.count && status < 0; i++)
        owners->holdings.items[i].holder &= ~HOLDER_PAST;
    if (keeps_past && owners->program)
        read_names_again(owners);
    summarize(owners);
    const int built = build_index(owners);
    for (size_t i = 0; owners->names_at_once && built == 0 && i < owners->holdings.count; i++)
        (void)is_confirmed(owners, i); /* this call reads the name */
    for (size_t i = 0; owners->profiles && i < owners->processes.count; i++)
        if (owners->processes.items[i].named && !owners->processes.items[i].gone)
            profiles_read(owners->profiles, owners->processes.items[i].leader);
    return status < 0 ? status : built;
}

int owners_create(struct owners **owners, const struct owners_options *options)
{
    struct owners *created = calloc(1, sizeof *created);
    if (!created)
        return -ENOMEM;
    created->walk.names =
        (struct process_names){options->commands, options->cgroups, options->pids_inside};
    created->walk.tasks = options->tasks;
    created->walk.rings = options->rings;
    created->walk.threads = options->threads;
    created->program = options->program;
    created->kernel_sockets = options->kernel;
    created->of_kernel = (struct process){.named = true, .name = "kernel"};
    show_process(created, &created->of_kernel);
    created->kernel = (struct owner){.process = &created->of_kernel.shown, .fd = -1};
    created->names_at_once = options->names_at_once;
    rights_raise(proc_tree_is_own(options->proc_root) ? RIGHT_OWNERS : RIGHT_READ);
    int status = proc_tree_init(&created->walk.tree, options->proc_root);
    if (status == 0) {
        raise_right(created);
        created->partial = procfs_is_partial(&created->walk.tree);
        if (options->names_at_once || !created->walk.tree.living)
            created->profiles = options->profiles;
        status = owners_refresh(created);
    }
    rights_lower();
    if (status < 0) {
        owners_destroy(created);
        return status;
    }
    *owners = created;
    return 0;
}

void owners_destroy(struct owners *owners)
{
    if (!owners)
        return;
    proc_tree_finish(&owners->walk.tree);
    processes_finish(&owners->processes);
    free(owners->holdings.items);
    forget_index(owners);
    process_forget(&owners->creator);
    free(owners);
}

/* --- What the program found, confirmed by /proc ----------------------------------------------- */

/* Returns 1 if the opened PID/fd shows the socket of the holding, 0 if not, or -errno. */
static int directory_shows(int directory, void *holding)
{
    const struct holding *held = holding;
    char name[16];
    int fd;
    uint64_t inode = 0;

    snprintf(name, sizeof name, "%d", (int)(uint32_t)held->holder);
    const int status = descriptor_read(directory, name, &fd, &inode);
    return status < 0 ? status : inode == held->inode;
}

/* As directory_shows(), for a thread. 0, too, if it lacks a descriptor that another thread has. */
static int is_shown_by_thread(int directory, void *holding)
{
    const int status = directory_shows(directory, holding);

    return error_is_absence(status) ? 0 : status;
}

/* Returns 1 if /proc shows that the process holds the socket, 0 if not, or -errno. */
static int is_shown_by_tree(const struct owners *owners, const struct process *process,
                            struct holding *holding)
{
    const struct proc_tree *tree = &owners->walk.tree;
    const int directory = process_open_descriptors(tree, process->pid);

    if (directory < 0)
        return directory;
    int status = directory_shows(directory, holding);
    close(directory);
    if (error_is_absence(status))
        status = process_each_thread(tree, process->pid, is_shown_by_thread, holding);
    return status;
}

/* Returns whether the owner of holding i may be shown, and reads the names of the process. The BPF
 * program also finds processes that /proc hides: they may be shown only if /proc shows that they
 * hold the socket. */
static bool is_confirmed(struct owners *owners, size_t i)
{
    struct holding *holding = &owners->holdings.items[i];
    if (owners->items[i].process->name || holding->holder & HOLDER_PAST)
        return owners->items[i].process->name;
    const pid_t pid = (pid_t)(holding->holder >> HOLDER_PROCESS_SHIFT);
    struct process *process = processes_find(&owners->processes, pid);
    if (!process->denied && holding->inode != 0) {
        raise_right(owners);
        int status = is_shown_by_tree(owners, process, holding);
        if (status > 0)
            status = process_read_names(&owners->walk.tree, process, owners->walk.names);
        rights_lower();
        process->denied |= error_is_denial(status);
        owners->summary.unnamed += process->unnamed;
        show_process(owners, process);
        owners_note_error(owners, status);
    }
    return process->shown.name != NULL;
}

/* Removes the owners of an inode that /proc does not confirm. Returns how many are left. */
static size_t confirm_all(struct owners *owners, size_t start, size_t end)
{
    struct holding *holdings = owners->holdings.items;
    size_t kept = start;
    for (size_t i = start; i < end; i++) {
        if (!is_confirmed(owners, i))
            continue;
        owners->items[kept] = owners->items[i];
        holdings[kept++] = holdings[i];
    }
    for (size_t i = kept; i < end; i++)
        holdings[i].inode = 0;
    return kept - start;
}

unsigned long owners_waiting_descriptors(const struct owners *owners, const struct owner *owner)
{
    static const char name[] = "\nscm_fds:";
    char file[PROCESS_PATH_MAX], text[512] = "";
    const char *found;
    ssize_t length;

    snprintf(file, sizeof file, "fdinfo/%d", owner->fd);
    raise_right(owners);
    length =
        process_read_file(&owners->walk.tree, owner->process->pid, file, text, sizeof text - 1);
    rights_lower();
    text[length > 0 ? length : 0] = '\0';
    found = strstr(text, name);
    return found ? strtoul(found + sizeof name - 1, NULL, 10) : 0;
}

size_t owners_find_last(struct owners *owners, uint64_t inode, const struct owner **first)
{
    if (inode == 0)
        return 0;
    if (owners->last.inode != inode) {
        const uint32_t slot = owners->slots ? *owners_slot_of(owners, inode) : 0;
        const size_t start = slot ? slot - 1 : 0;
        size_t end = start;
        while (slot && end < owners->holdings.count && owners->holdings.items[end].inode == inode)
            end++;
        owners->last.past = slot && owners->holdings.items[start].holder & HOLDER_PAST;
        owners->last.start = start;
        owners->last.count = confirm_all(owners, start, end);
        owners->last.inode = inode;
    }
    if (owners->last.count > 0)
        *first = &owners->items[owners->last.start];
    else if (kernel_sockets_have(owners->kernel_sockets, inode))
        return *first = &owners->kernel, 1;
    return owners->last.count;
}

size_t owners_find(struct owners *owners, uint64_t inode, const struct owner **first)
{
    const size_t count = owners_find_last(owners, inode, first);

    return owners->last.past ? 0 : count;
}

int owners_each_socket(const struct owners *owners,
                       int (*fn)(uint64_t inode, pid_t pid, int fd, void *arg), void *arg)
{
    const struct holding *items = owners->holdings.items;
    int result = 0;

    for (size_t i = 0; i < owners->holdings.count && !result; i++)
        if (items[i].inode && !(items[i].holder & HOLDER_PAST) &&
            (i == 0 || items[i].inode != items[i - 1].inode))
            result = fn(items[i].inode, (pid_t)(items[i].holder >> HOLDER_PROCESS_SHIFT),
                        owners->items[i].fd, arg);
    return result;
}

bool owners_deny(const struct owners *owners, pid_t pid)
{
    const struct process *process = processes_find(&owners->processes, pid);

    return process ? process->denied : owners->summary.hidden;
}

/* --- Whether they are still the owners -------------------------------------------------------- */

/* Moves the owners that still hold the socket to the front. Returns their number. */
static size_t move_holders_first(struct owners *owners, size_t start, size_t count)
{
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    size_t kept = start;

    for (size_t i = start; i < start + count; i++) {
        const struct holding holding = owners->holdings.items[i];
        const struct owner owner = owners->items[i];
        const pid_t pid = (pid_t)(holding.holder >> HOLDER_PROCESS_SHIFT);
        struct process *process = processes_find(&owners->processes, pid);
        if (!process_holds(&owners->walk.tree, pid, owner.fd, holding.inode))
            continue;
        if (now - process->named_at > NAME_LASTS) {
            owners_note_error(owners,
                              process_read_names(&owners->walk.tree, process, owners->walk.names));
            process->named_at = now;
            show_process(owners, process);
        }
        owners->holdings.items[i] = owners->holdings.items[kept];
        owners->items[i] = owners->items[kept];
        owners->holdings.items[kept] = holding;
        owners->items[kept++] = owner;
    }
    return kept - start;
}

enum owners_state owners_confirm(struct owners *owners, uint64_t inode)
{
    const struct owner *first;
    const size_t count = owners_find(owners, inode, &first), start = owners->last.start;

    if (owners->last.count == 0)
        return count ? OWNERS_HOLD : OWNERS_NONE; /* the kernel keeps its sockets */
    if (count == 0)
        return OWNERS_NONE;
    struct holding *holdings = &owners->holdings.items[start];
    const uint64_t began = owners->profiles ? clock_nanoseconds(CLOCK_BOOTTIME) : 0;
    raise_right(owners);
    const size_t kept = move_holders_first(owners, start, count);
    rights_lower();
    for (size_t i = start; owners->profiles && i < start + kept; i++)
        if (owners->items[i].process->seen_at >= began) /* its name was read again */
            profiles_read(owners->profiles, owners->items[i].process->pid);
    for (size_t i = kept; i < count; i++)
        if (kept)
            holdings[i].inode = 0;
        else
            holdings[i].holder |= HOLDER_PAST;
    owners->last.inode = 0;
    return kept == count ? OWNERS_HOLD : OWNERS_CHANGED;
}

/* Another process may have the pid by now, but hardly with the same name. */
const struct owner *owners_creator(struct owners *owners, pid_t pid, const char *name)
{
    const struct process *seen = processes_find(&owners->processes, pid);
    struct process *creator = &owners->creator;

    if (seen && seen->shown.name && strcmp(seen->shown.name, name) == 0) {
        *owners->made = (struct owner){.process = &seen->shown, .fd = -1};
        return owners->made;
    }
    if (creator->leader != pid || strcmp(creator->name, name) != 0) {
        process_forget(creator);
        creator->pid = creator->leader = pid;
        raise_right(owners);
        (void)process_read_names(&owners->walk.tree, creator, owners->walk.names);
        rights_lower();
        if (!creator->named || strcmp(creator->name, name) != 0) {
            process_forget(creator);
            creator->leader = pid;
            creator->named = true;
            creator->unread = false;
            snprintf(creator->name, sizeof creator->name, "%s", name);
        }
        show_process(owners, creator);
    }
    *owners->made = (struct owner){.process = &creator->shown, .fd = -1};
    return owners->made;
}

size_t owners_of_listener(struct owners *owners, uint64_t inode, const struct owner **first)
{
    size_t count = owners_find_last(owners, inode, first);

    count = count < COUNT(owners->made) ? count : COUNT(owners->made);
    for (size_t i = 0; i < count; i++)
        owners->made[i] = (struct owner){(*first)[i].process, (*first)[i].tid, -1};
    *first = owners->made;
    return count;
}

const struct owners_summary *owners_summary(const struct owners *owners)
{
    return &owners->summary;
}
