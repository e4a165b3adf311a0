/* Reads a tree of processes laid out as in proc(5): their list, descriptors and names. */
#ifndef LOOKUP_PROCESSES_H
#define LOOKUP_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastnet/proc_tree.h"

/* TASK_COMM_LEN of the kernel's linux/sched.h is 16, with the NUL. */
enum { PROCESS_NAME_MAX = 15, PROCESS_PATH_MAX = 32 };

struct process {
    pid_t pid;
    bool denied;   /* some or all of its descriptors may not be seen */
    bool shut;     /* its directory of descriptors may not be opened */
    bool gone;     /* it vanished before its name was read */
    char *command; /* argv[0] without directories; NULL when unknown or not asked for */
    char name[PROCESS_NAME_MAX + 1];
};

struct processes {
    struct process *items; /* lowest pid first */
    size_t count;
};

/* Fills an empty list. Returns 0 or -errno. */
int processes_list(const struct proc_tree *tree, struct processes *processes);
void processes_finish(struct processes *processes);

/* Opens PID/fd. Returns a descriptor or -errno. */
int process_open_descriptors(const struct proc_tree *tree, pid_t pid);

/*
 * Reads comm and, if command is set, argv[0] as netstat cuts it: from the first 511 bytes of
 * cmdline. If that cannot be read, process->command stays NULL. A vanished process is marked as
 * gone. Returns 0, or -errno of an error other than a missing permission or a vanished process.
 */
int process_read_names(const struct proc_tree *tree, struct process *process, bool command);

/* getdents64(2). Returns the bytes read, 0 at the end, or -errno. */
ssize_t directory_read(int fd, char *buffer, size_t size);

/* The name at *offset, which moves on; NULL at the end of the length bytes read. */
const char *directory_next(const char *buffer, size_t length, size_t *offset);

/*
 * Parses a name of digits only, as a number that fits an int. A leading zero is refused: the kernel
 * writes no such name, and 1 and 01 would be one process.
 */
bool number_parse(const char *name, int *number);

/* readlinkat(2), repeated if it is interrupted. Returns the length or -errno. */
ssize_t link_read(int directory, const char *name, char *target, size_t size);

/*
 * The inode of "socket:[N]", or of "[0000]:N" as kernels before 2.6 wrote it; never 0. N has no
 * leading zero, so a target that was cut short is refused: its number is too large.
 */
bool link_inode(const char *target, size_t length, uint64_t *inode);

/* Errors of a process that ends during the walk, or of a tree that is not quite as in proc(5). */
bool error_is_absence(int error);
bool error_is_denial(int error);

#endif
