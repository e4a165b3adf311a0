/* SPDX-License-Identifier: MIT */
/* Links are only read, never followed: the file system of a program or directory may not answer
 * (FUSE, NFS). */
#include "fastnet/profiles.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/rights.h"
#include "lookup/number_map.h"
#include "lookup/processes.h"

static const char cut_sign[] = "...";

struct profiles {
    struct proc_tree tree;
    bool programs;
    bool has_boot;           /* `boot` was read */
    uint64_t boot;           /* btime of the tree's stat, seconds since 1970; 0: unknown */
    uint64_t tick;           /* nanoseconds of a clock tick */
    struct hash_table known; /* elements: struct known_profile */
    struct profiles_summary summary;
    char buffer[PROFILE_COMMAND_MAX + sizeof cut_sign];
};

struct known_profile {
    struct number_name pid;
    struct profile *profile; /* NULL: the process could not be visited */
    uint64_t tried_at;       /* when the last visit began: CLOCK_BOOTTIME, ns */
};

int profiles_create(struct profiles **profiles, const char *proc_root, bool programs)
{
    struct profiles *created = calloc(1, sizeof *created);
    int status;

    if (!created)
        return -ENOMEM;
    created->programs = programs;
    created->tick = CLOCK_SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
    rights_raise(proc_tree_is_own(proc_root) ? RIGHT_OWNERS : RIGHT_READ);
    status = proc_tree_init(&created->tree, proc_root);
    rights_lower();
    if (status < 0) {
        free(created);
        return status;
    }
    *profiles = created;
    return 0;
}

static void profile_destroy(struct profile *profile)
{
    if (!profile)
        return;
    free((char *)(uintptr_t)profile->command.data);
    free(profile->exe);
    free(profile->cwd);
    free(profile->ancestors);
    free(profile);
}

void profiles_forget(struct profiles *profiles)
{
    for (size_t i = 0; i < profiles->known.count; i++)
        profile_destroy(((struct known_profile *)hash_table_at(&profiles->known, i))->profile);
    number_map_finish(&profiles->known);
    profiles->summary = (struct profiles_summary){.denied = 0};
}

void profiles_destroy(struct profiles *profiles)
{
    if (!profiles)
        return;
    profiles_forget(profiles);
    proc_tree_finish(&profiles->tree);
    free(profiles);
}

const struct profiles_summary *profiles_summary(const struct profiles *profiles)
{
    return &profiles->summary;
}

/* --- A visit ---------------------------------------------------------------------------------- */

/* Reads "btime SECONDS" of stat, which follows the long line of interrupts. */
static uint64_t read_boot(const struct proc_tree *tree)
{
    const int fd = proc_tree_open(tree, "stat");
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    char line[512]; /* a line, or a piece of a line */
    uint64_t boot = 0;

    if (fd >= 0 && !file)
        close(fd);
    for (bool begins = true; file && !boot && fgets(line, sizeof line, file);
         begins = strchr(line, '\n'))
        if (begins && strncmp(line, "btime ", 6) == 0)
            boot = strtoull(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return boot < UINT64_MAX / CLOCK_SECOND / 2 ? boot : 0;
}

static int read_start(struct profiles *profiles, const struct proc_tree *directory,
                      struct profile *profile, struct process_stat *stat)
{
    const int status = process_read_stat(directory, "stat", stat);

    if (status < 0)
        return status;
    if (!profiles->has_boot)
        profiles->boot = read_boot(&profiles->tree);
    profiles->has_boot = true;
    profile->parent = stat->parent;
    profile->start = stat->start;
    if (profiles->boot && stat->start < UINT64_MAX / profiles->tick / 2)
        profile->started = profiles->boot * CLOCK_SECOND + stat->start * profiles->tick;
    memcpy(profile->name, stat->name, sizeof profile->name);
    return 0;
}

/* Makes the text of the `length` bytes of cmdline (proc(5)): a NUL follows each argument, and
 * further NULs fill the room that setproctitle(3) left. */
static int profiles_take_command(struct profile *profile, char *words, size_t length)
{
    const bool is_cut = length > PROFILE_COMMAND_MAX;

    length = is_cut ? PROFILE_COMMAND_MAX : length;
    while (length && !words[length - 1])
        length--;
    for (size_t i = 0; i < length; i++)
        words[i] = words[i] ? words[i] : ' ';
    if (is_cut)
        memcpy(words + length, cut_sign, sizeof cut_sign - 1);
    length += is_cut ? sizeof cut_sign - 1 : 0;
    char *copy = malloc(length + 1);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, words, length);
    copy[length] = '\0';
    profile->command = (struct text){copy, length};
    return 0;
}

/* Reads a link of the visited process. *path stays NULL if the process has no such file, as threads
 * of the kernel. Returns 0, or -errno. */
static int profiles_read_link(const struct proc_tree *directory, const char *name, char **path)
{
    char target[PATH_MAX + 1];
    ssize_t length;

    do
        length = readlinkat(directory->fd, name, target, sizeof target - 1);
    while (length < 0 && errno == EINTR);
    if (length < 0)
        return error_is_absence(-errno) ? 0 : -errno;
    target[length] = '\0';
    *path = strdup(target);
    return *path ? 0 : -ENOMEM;
}

/* Reads everything of a process whose directory is open. Returns 0, or -errno: the profile is
 * incomplete. A process that has ended and still waits for its parent (state Z) has no arguments
 * any more. */
static int profiles_read_files(struct profiles *profiles, const struct proc_tree *directory,
                               struct profile *profile, char state)
{
    char *const words = profiles->buffer;
    const ssize_t length = proc_tree_read(directory, "cmdline", words, PROFILE_COMMAND_MAX + 2);
    const bool is_absent = error_is_absence((int)length) && !directory->living;
    int status = length < 0 && !is_absent ? (int)length : 0;

    if (profiles->programs) {
        const int exe = profiles_read_link(directory, "exe", &profile->exe);
        const int cwd = profiles_read_link(directory, "cwd", &profile->cwd);
        status = status ? status : exe ? exe : cwd;
        if (profile->exe)
            profile->exe_deleted =
                process_cut_deleted(profile->exe, profile->name, length > 0 ? words : "");
    }
    if (length > 0 || (length == 0 && state != 'Z' && state != 'X'))
        status = profiles_take_command(profile, words, (size_t)length) < 0 ? -ENOMEM : status;
    profile->is_whole = true;
    return status;
}

/* Notes why a process was not read. status: 0 or -errno. */
static void profiles_note(struct profiles *profiles, pid_t pid, const char *name, int status)
{
    struct profiles_summary *summary = &profiles->summary;

    summary->absent += error_is_absence(status) && !profiles->tree.living;
    summary->error = summary->error ? summary->error : -error_to_report(status);
    if (!error_is_denial(status) || summary->denied++)
        return;
    summary->pid = pid;
    snprintf(summary->name, sizeof summary->name, "%s", name);
}

/* Visits a process in its opened directory. If its pid is used again meanwhile, the files of this
 * directory do not exist any more; in a captured tree, the start is the same before and after. */
static struct profile *visit_directory(struct profiles *profiles, struct proc_tree directory,
                                       pid_t pid, bool whole)
{
    struct profile *profile = calloc(1, sizeof *profile);
    struct process_stat stat, after;
    int status = profile ? read_start(profiles, &directory, profile, &stat) : -ENOMEM;
    const bool is_known = status == 0;

    if (is_known && whole) {
        status = profiles_read_files(profiles, &directory, profile, stat.state);
        if (process_read_stat(&directory, "stat", &after) < 0 || after.start != stat.start)
            status = -ESRCH;
    }
    profiles_note(profiles, pid, profile ? profile->name : "", status);
    profiles->summary.absent += !directory.living && is_known && whole && !profile->command.data;
    if (!is_known || (status < 0 && !error_is_denial(status))) {
        profile_destroy(profile);
        return NULL;
    }
    profile->pid = pid;
    return profile;
}

/* Returns the profile, or NULL. A program with rights that its user does not have (rights.h) shows
 * only what the user may read, so no right is raised then. */
static struct profile *profiles_visit(struct profiles *profiles, pid_t pid, bool whole)
{
    char path[PROCESS_PATH_MAX];
    struct proc_tree directory = profiles->tree;
    struct profile *profile = NULL;

    snprintf(path, sizeof path, "%d", (int)pid);
    if (!rights_elevated())
        rights_raise(profiles->tree.right);
    directory.fd = proc_tree_open_directory(&profiles->tree, path);
    if (directory.fd >= 0) {
        profile = visit_directory(profiles, directory, pid, whole);
        close(directory.fd);
    } else {
        profiles_note(profiles, pid, "", directory.fd);
    }
    rights_lower();
    return profile;
}

/* --- All processes ---------------------------------------------------------------------------- */

/* Visits the process. If it has ended, its earlier profile stays. Returns NULL if memory is short.
 */
static struct known_profile *profiles_renew(struct profiles *profiles, pid_t pid, bool whole)
{
    const uint64_t now = clock_nanoseconds(CLOCK_BOOTTIME);
    struct profile *profile = profiles_visit(profiles, pid, whole);
    struct known_profile *known =
        number_map_put(&profiles->known, (uint64_t)pid, NULL, sizeof *known);

    if (!known) {
        profile_destroy(profile);
        return NULL;
    }
    known->tried_at = now;
    if (!profile)
        return known;
    profile->read_at = now;
    profile_destroy(known->profile);
    known->profile = profile;
    return known;
}

/* Returns the profile that the process had at the time `seen`, or NULL. whole: is_whole is set. */
static struct profile *profiles_get(struct profiles *profiles, pid_t pid, uint64_t seen, bool whole)
{
    const struct known_profile *known = number_map_find(&profiles->known, (uint64_t)pid);

    whole |= known && known->profile && known->profile->is_whole;
    if (!known || known->tried_at < seen || (whole && known->profile && !known->profile->is_whole))
        known = profiles_renew(profiles, pid, whole);
    if (!known || !known->profile || known->profile->read_at < seen)
        return NULL;
    known->profile->is_whole |= whole; /* also if its files were not read: it has ended */
    return known->profile;
}

const struct profile *profiles_find(struct profiles *profiles, pid_t pid, uint64_t seen)
{
    const struct profile *profile = profiles_get(profiles, pid, seen, true);

    /* the kernel does not use a pid again within one clock tick */
    return profile && seen && profiles->tree.living && profile->start > seen / profiles->tick
               ? NULL
               : profile;
}

/* Copies the names of the ancestors, of which the parent is the first. */
static void keep_ancestors(struct profile *profile, const struct profile *const *from, size_t count)
{
    enum { NAME = sizeof profile->name };
    const char **names = malloc(count * (sizeof *names + NAME));
    char *text = (char *)(names + (names ? count : 0));

    if (!names)
        return;
    for (size_t i = 0; i < count; i++, text += NAME)
        names[i] = memcpy(text, from[count - 1 - i]->name, NAME);
    profile->ancestors = names;
    profile->ancestor_count = count;
}

/* Visits the ancestors, unless they were visited after `since`. A process is never older than its
 * parent: if it seems to be, its parent has ended, and another process has got the pid. */
static void read_lineage(struct profiles *profiles, struct profile *profile, uint64_t since)
{
    const struct profile *chain[PROFILE_ANCESTORS_MAX], *last = profile;
    size_t count = 0;

    while (count < COUNT(chain) && last->parent) {
        const struct profile *parent = profiles_get(profiles, last->parent, since, false);
        if (!parent || parent->start > last->start)
            break;
        last = chain[count++] = parent;
    }
    if (count)
        keep_ancestors(profile, chain, count);
    profile->has_lineage = true;
}

const char *profiles_parent(struct profiles *profiles, pid_t pid)
{
    const struct known_profile *known = number_map_find(&profiles->known, (uint64_t)pid);
    struct profile *profile = known ? known->profile : NULL;

    if (!profile)
        return NULL;
    if (!profile->has_lineage)
        read_lineage(profiles, profile, 0);
    return profile->ancestor_count ? profile->ancestors[profile->ancestor_count - 1] : NULL;
}

/* Ancestors can change their names, too (execve(2)): they are visited again after a second. */
void profiles_read(struct profiles *profiles, pid_t pid)
{
    const uint64_t now = clock_nanoseconds(CLOCK_BOOTTIME);
    const struct known_profile *known = profiles_renew(profiles, pid, true);

    if (known && known->profile && !known->profile->has_lineage)
        read_lineage(profiles, known->profile, now > CLOCK_SECOND ? now - CLOCK_SECOND : 0);
}
