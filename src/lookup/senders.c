/* SPDX-License-Identifier: MIT */
/* Finds the process of a netlink port: PROC_ROOT/net/netlink (netlink_seq_show() of the kernel's
 * af_netlink.c) has the inode of the port's socket, and PROC_ROOT/PID/fd shows which process holds
 * that socket. */
#include "fastnet/senders.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/rights.h"
#include "lookup/processes.h"

/* The columns of net/netlink: sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode. */
enum { COLUMN_PROTOCOL = 1, COLUMN_PORT = 2, COLUMN_INODE = 9, COLUMNS };

struct senders {
    const char *proc_root;
    bool known; /* the answer for `port` is known */
    bool named;
    uint32_t port;
    struct process process; /* process of the port; only its name is filled */
    struct process latest;  /* process of the last senders_process() */
};

static const struct process_names name_alone = {.command = false};

struct senders *senders_create(const char *proc_root)
{
    struct senders *senders = calloc(1, sizeof *senders);
    if (senders)
        senders->proc_root = proc_root;
    return senders;
}

void senders_destroy(struct senders *senders)
{
    free(senders);
}

/* Parses a column as a decimal number. Returns false if it is not a number. */
static bool column_number(const char *text, uint64_t *number)
{
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return false;
    *number = strtoull(text, &end, 10);
    return *end == '\0' && *number != UINT64_MAX;
}

/* Returns whether the line is the NETLINK_NETFILTER socket of the port. *inode is its inode. */
static bool line_inode(char *line, uint32_t port, uint64_t *inode)
{
    char *columns[COLUMNS] = {NULL}, *rest = NULL;
    uint64_t protocol, line_port;
    size_t count = 0;

    for (char *word = strtok_r(line, " \n", &rest); word && count < COLUMNS;
         word = strtok_r(NULL, " \n", &rest))
        columns[count++] = word;
    return count == COLUMNS && column_number(columns[COLUMN_PROTOCOL], &protocol) &&
           protocol == NETLINK_NETFILTER && column_number(columns[COLUMN_PORT], &line_port) &&
           line_port == port && column_number(columns[COLUMN_INODE], inode);
}

static bool find_socket(const struct senders *senders, uint32_t port, uint64_t *inode)
{
    char *line = NULL;
    size_t capacity = 0;
    bool found = false;

    const int fd = proc_tree_open_file(senders->proc_root, "net/netlink");
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    if (fd >= 0 && !file)
        close(fd);
    if (!file)
        return false;
    while (!found && getline(&line, &capacity, file) >= 0)
        found = line_inode(line, port, inode);
    free(line);
    fclose(file);
    return found;
}

/* A search for the wanted socket among the descriptors of a process. */
struct sender_search {
    int directory;
    uint64_t inode;
    size_t entries; /* includes "." and ".." */
};

static int is_socket(const char *name, void *arg)
{
    struct sender_search *search = arg;
    uint64_t held;
    int fd;

    search->entries++;
    return descriptor_read(search->directory, name, &fd, &held) > 0 && held == search->inode;
}

static int is_held(int directory, void *arg)
{
    struct sender_search *search = arg;

    search->directory = directory;
    return directory_each(directory, is_socket, search);
}

static bool senders_take_process(struct senders *senders, const struct proc_tree *tree, pid_t pid,
                                 uint64_t inode)
{
    enum { DOTS = 2 };
    struct sender_search search = {process_open_descriptors(tree, pid), inode, 0};
    bool found;

    if (search.directory < 0)
        return false;
    found = directory_each(search.directory, is_socket, &search) > 0;
    close(search.directory);
    if (search.entries <= DOTS) /* the first thread may have ended */
        found = process_each_thread(tree, pid, is_held, &search) > 0;
    if (!found)
        return false;
    senders->process = (struct process){.pid = pid};
    return process_read_names(tree, &senders->process, name_alone) == 0 &&
           senders->process.name[0] != '\0';
}

/* Finds the lowest pid that holds the socket, except `tried`, which was checked before. */
static bool find_holder(struct senders *senders, const struct proc_tree *tree, pid_t tried,
                        uint64_t inode)
{
    struct processes processes = {0};
    bool found = false;

    if (processes_list(tree, &processes, false) < 0)
        return false;
    for (size_t i = 0; !found && i < processes.count; i++)
        if (processes.items[i].pid != tried)
            found = senders_take_process(senders, tree, processes.items[i].pid, inode);
    processes_finish(&processes);
    return found;
}

/* First tries the port as a pid: the first port of a process is its pid (netlink_autobind()). */
static bool find_sender(struct senders *senders, uint32_t port)
{
    const pid_t likely = port <= INT_MAX ? (pid_t)port : 0;
    uint64_t inode;

    if (port == 0 || !find_socket(senders, port, &inode))
        return false;
    struct proc_tree tree;
    if (proc_tree_init(&tree, senders->proc_root) < 0)
        return false;
    const bool found = (likely != 0 && senders_take_process(senders, &tree, likely, inode)) ||
                       find_holder(senders, &tree, likely, inode);
    proc_tree_finish(&tree);
    return found;
}

const char *senders_name(struct senders *senders, uint32_t port)
{
    if (!senders->known || senders->port != port) {
        rights_raise(RIGHT_OWNERS);
        senders->named = find_sender(senders, port);
        rights_lower();
        senders->known = true;
        senders->port = port;
    }
    return senders->named ? senders->process.name : NULL;
}

void senders_forget(struct senders *senders)
{
    if (senders)
        senders->known = false;
}

const char *senders_process(struct senders *senders, uint32_t port)
{
    struct proc_tree tree;
    int error;

    if (port == 0 || port > INT_MAX || proc_tree_init(&tree, senders->proc_root) < 0)
        return NULL;
    senders->latest = (struct process){.pid = (pid_t)port};
    error = process_read_names(&tree, &senders->latest, name_alone);
    proc_tree_finish(&tree);
    return !error && senders->latest.name[0] ? senders->latest.name : NULL;
}
