/* SPDX-License-Identifier: MIT */
#include "fastnet/process_netns.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/cgroups.h"
#include "fastnet/containers.h"
#include "fastnet/namespace.h"
#include "fastnet/rights.h"
#include "lookup/processes.h"

struct netns_search {
    const char *proc_root;
    struct proc_tree tree;
    const struct process_wanted *wanted;
    uint64_t own;
    struct process_found *found;
};

static bool is_wanted_text(const struct process_wanted *wanted, const char *text)
{
    if (wanted->names && text)
        text = containers_name(wanted->names, text);
    return text && *text && text_is(wanted->text, text);
}

static bool is_wanted(const struct process_wanted *wanted, const struct process *process)
{
    struct cgroup_names names;

    switch (wanted->property) {
    case PROCESS_PID:
        return process->pid == wanted->pid;
    case PROCESS_NAME:
        return process->named && is_wanted_text(wanted, process->name);
    default:
        if (!process->cgroup)
            return false;
        cgroup_names(process->cgroup, &names);
        return is_wanted_text(wanted, wanted->property == PROCESS_UNIT        ? names.unit
                                      : wanted->property == PROCESS_CONTAINER ? names.container
                                                                              : names.pod);
    }
}

static int is_any_socket(const char *name, void *arg)
{
    const int *directory = arg;
    uint64_t inode;
    int fd;
    const int result = descriptor_read(*directory, name, &fd, &inode);

    return result > 0 || error_is_denial(result);
}

static bool may_hold_sockets(const struct proc_tree *tree, pid_t pid)
{
    int directory;

    rights_raise(tree->right);
    directory = process_open_descriptors(tree, pid);
    const int held =
        directory < 0 ? directory : directory_each(directory, is_any_socket, &directory);
    rights_lower();
    if (directory >= 0)
        close(directory);
    return held != 0; /* true, too, if the descriptors may not be read */
}

static void netns_search_add(struct netns_search *search, const struct process *process)
{
    struct process_found *found = search->found;
    const uint64_t netns = namespace_of_process(search->proc_root, process->pid);
    const bool is_other = netns && search->own && netns != search->own;

    found->netns_hidden |= !netns;
    if (!is_other && !found->holds_sockets)
        found->holds_sockets = may_hold_sockets(&search->tree, process->pid);
    if (!found->count++ || (is_other && !found->is_other)) {
        found->is_other = is_other;
        found->pid = process->pid;
        found->netns = netns;
        memcpy(found->name, process->name, sizeof found->name);
    }
}

static int netns_search_all(struct netns_search *search)
{
    const enum process_property property = search->wanted->property;
    const struct process_names asked = {.cgroup = property >= PROCESS_UNIT};
    struct processes processes = {.count = 0};
    int error = property == PROCESS_PID ? processes_add(&processes, 0, search->wanted->pid)
                                        : processes_list(&search->tree, &processes, false);

    for (size_t i = 0; i < processes.count && !error; i++) {
        struct process *process = &processes.items[i];
        error = process_read_names(&search->tree, process, asked);
        if (!error && !process->gone && is_wanted(search->wanted, process))
            netns_search_add(search, process);
    }
    processes_finish(&processes);
    return error;
}

int process_netns_find(const char *proc_root, const struct process_wanted *wanted, uint64_t own,
                       struct process_found *found)
{
    struct netns_search search = {
        .proc_root = proc_root, .wanted = wanted, .own = own, .found = found};
    int error = proc_tree_init(&search.tree, proc_root);

    *found = (struct process_found){.count = 0};
    if (error)
        return error;
    error = netns_search_all(&search);
    proc_tree_finish(&search.tree);
    return error;
}
