/* SPDX-License-Identifier: MIT */
/* Control groups (cgroups(7)). */
#ifndef FASTNET_CGROUPS_H
#define FASTNET_CGROUPS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct containers;

/*
 * Control groups (cgroups(7), version 2). Finds the id of a group by its directory, or by the path
 * below the place where cgroup2 is mounted. Returns 0 or -errno.
 */
int cgroups_find(const char *path, uint64_t *id);

/* What a path tells by the names of its directories; empty: nothing. */
enum { CGROUP_NAME_MAX = 255 }; /* NAME_MAX of a directory */
struct cgroup_names {
    /*
     * The innermost unit of systemd(1) that is no slice, as systemctl(1) shows it. A user may give
     * any name to units below his user@UID.service: that stands before them, and a slash.
     */
    char unit[2 * CGROUP_NAME_MAX + 2];
    /* The innermost container: the first 12 digits of its id, or its name. */
    char container[CGROUP_NAME_MAX + 1];
    /* The pod: its uid in Kubernetes, or the first 12 digits of its id in podman(1). */
    char pod[CGROUP_NAME_MAX + 1];
};
/*
 * In a path that leads out of the cgroup namespace, only the directories after the last "/.."
 * count.
 */
void cgroup_names(const char *path, struct cgroup_names *names);
/* Whether it leads there: /proc/PID/cgroup begins it with "/.." (cgroup_namespaces(7)). */
bool cgroup_is_outside(const char *path);

/* A group: its path below the mount ("/" is the root), and what that tells; NULL: nothing. */
struct cgroup {
    const char *path, *unit, *container, *pod;
};

/*
 * All groups by their ids, read when they are created; a group that was made later is found within
 * a second. mounts: a file in the form of fstab(5), borrowed; NULL: /proc/self/mounts; "": no ids
 * are known, as of a captured tree. Returns 0 or -ENOMEM.
 */
struct cgroups;
int cgroups_create(struct cgroups **cgroups, const char *mounts);
void cgroups_destroy(struct cgroups *cgroups);
/*
 * By its id, or by its path in /proc/PID/cgroup. NULL if there is no such group (any more), or by
 * its id if it is outside of the cgroup namespace. The result is valid until the next call, its
 * texts as long as `cgroups`.
 */
const struct cgroup *cgroups_by_id(struct cgroups *cgroups, uint64_t id);
const struct cgroup *cgroups_by_path(struct cgroups *cgroups, const char *path);
/* The path by the id, or NULL. */
const char *cgroups_path(struct cgroups *cgroups, uint64_t id);
/* The ids that are known, in any order: of group i, which is below the count. */
size_t cgroups_count(const struct cgroups *cgroups);
uint64_t cgroups_id(const struct cgroups *cgroups, size_t i);

/* Looks for containers in hierarchies of version 1, and sets summary.mixed. Returns that. */
bool cgroups_look_mixed(struct cgroups *cgroups);
/* Sets it: the processes are of another machine's view, whose hierarchies cannot be seen here. */
void cgroups_set_mixed(struct cgroups *cgroups);

/*
 * Takes over what names containers, or NULL. cgroups_name() is the name of a group's container or
 * pod, as struct cgroup has it: that itself if it is none of the ids that have names elsewhere.
 */
void cgroups_take_names(struct cgroups *cgroups, struct containers *containers);
const char *cgroups_name(struct cgroups *cgroups, const char *id);

struct cgroups_summary {
    int error; /* errno that left all ids without groups (ENOENT: no cgroup2 is mounted), or 0 */
    bool version1; /* hierarchies of version 1 are mounted */
    bool mixed;  /* version 1 may have containers that version 2 lacks: the owner's group decides */
    bool flat;   /* there is only the root */
    bool inside; /* of a cgroup namespace: its root is not the root of the machine */
    bool asked;  /* a group was asked for */
    bool unknown; /* ... that is gone, or outside of the namespace */
    bool closed;  /* some directories may not be read */
    int nameless; /* errno that cgroups_name() may not know a name for, or 0 */
};
const struct cgroups_summary *cgroups_summary(const struct cgroups *cgroups);

/* Whether the ids of sockets tell their groups: not without cgroup2, nor where version 1 is used.
 */
static inline bool cgroups_tell(const struct cgroups_summary *summary)
{
    return !summary->error && !(summary->flat && summary->version1);
}

/* Whether a failure, and not the machine, is the reason why groups are unknown. */
static inline bool cgroups_failed(const struct cgroups_summary *summary)
{
    return summary->error && summary->error != ENOENT && summary->error != EACCES &&
           summary->error != EPERM;
}

#endif
