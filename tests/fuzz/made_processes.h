/* SPDX-License-Identifier: MIT */
/*
 * Processes of a made tree (tree.h), and what is to be found of them: the model that lookups are
 * compared with. It goes by what proc(5) and include/fastnet/owners.h say.
 */
#ifndef FUZZ_MADE_PROCESSES_H
#define FUZZ_MADE_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree.h"

enum { MADE_NAME_SIZE = 16, MADE_COMMAND_SIZE = 512 };

/* A descriptor that is a socket. */
struct made_socket {
    int pid, fd;
    uint64_t inode;
};

struct made_process {
    int pid;
    bool odd;                  /* comm, cmdline, cgroup or status is something else than a file */
    bool has_fifo;             /* cmdline is a FIFO: argv[0] is empty, or cannot be read */
    bool has_command;          /* cmdline is a file */
    bool has_comm;             /* there is a comm, of any type */
    bool has_stat;             /* stat has a name in parentheses */
    char name[MADE_NAME_SIZE]; /* of comm, or else of stat */
    char command[MADE_COMMAND_SIZE]; /* as owner.command has it */
    struct text cgroup;              /* as owner.cgroup has it; empty: none. Of the input */
};

struct made_processes {
    struct made_process processes[TREE_ENTRIES_MAX];
    struct made_socket sockets[TREE_ENTRIES_MAX];
    size_t process_count, socket_count;
};

/*
 * Makes an entry of the tree, and takes down what it adds to the processes. Links are made for
 * descriptors only: where others lead is not a matter of these lookups.
 */
void made_processes_make(struct made_processes *made, const struct tree_entry *entry);

/* NULL when there is none. */
const struct made_process *made_processes_find(const struct made_processes *made, int pid);

/* The name as owner.name has it: of comm, of stat, or else of cmdline. */
void made_process_name(const struct made_process *process, char name[MADE_NAME_SIZE]);

/* A decimal number as the kernel writes one: no sign, no zero before it, within an int. */
bool made_number(const char *text, size_t length, int *number);

#endif
