/* SPDX-License-Identifier: MIT */
/* Control groups (cgroups(7), version 2), and the names of units, containers and pods in their
 * paths. */
#ifndef FASTNET_CGROUPS_H
#define FASTNET_CGROUPS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct containers;

/* Finds the id of a group. path: its directory, or its path below the mount point of cgroup2.
 * Returns 0 or -errno. */
int cgroups_find(const char *path, uint64_t *id);

/* Opens cgroup.procs of a group for writing, to move processes into the group. path: as in
 * /proc/PID/cgroup. Uses RIGHT_CGROUPS. Returns a descriptor or -errno: -ENOENT, too, if cgroup2 is
 * not mounted or the group is outside of the cgroup namespace; -ENAMETOOLONG. */
int cgroups_open_processes(const char *path);

/* Names found in the directories of a group's path; empty: the path has no such name. */
enum { CGROUP_NAME_MAX = 255 }; /* NAME_MAX of a directory */
struct cgroup_names {
    /* The innermost unit of systemd(1) that is not a slice, as systemctl(1) shows it. A user
     * chooses the names of units below user@UID.service, so "user@UID.service/" comes before such a
     * name. */
    char unit[2 * CGROUP_NAME_MAX + 2];
    /* The innermost container: the first 12 digits of its id, or its name. */
    char container[CGROUP_NAME_MAX + 1];
    /* The pod: its uid in Kubernetes, or the first 12 digits of its id in podman(1). */
    char pod[CGROUP_NAME_MAX + 1];
};
/* Finds the names in `path`. If the path leads out of the cgroup namespace, only directories after
 * the last "/.." are searched. */
void cgroup_names(const char *path, struct cgroup_names *names);
/* True if `path`, from /proc/PID/cgroup, leads out of the cgroup namespace: it begins with "/.."
 * (cgroup_namespaces(7)). */
bool cgroup_is_outside(const char *path);

/* A group: its path below the mount point ("/" is the root), and the names in it. NULL: no name. */
struct cgroup {
    const char *path, *unit, *container, *pod;
};

/* Reads all groups with their ids. A group that is created later is found within a second. mounts:
 * a file in the form of fstab(5), borrowed; NULL: /proc/self/mounts; "": no ids are known, as in a
 * captured tree. Returns 0 or -ENOMEM. */
struct cgroups;
int cgroups_create(struct cgroups **cgroups, const char *mounts);
void cgroups_destroy(struct cgroups *cgroups);
/* Find a group by its id, or by its path in /proc/PID/cgroup. Return NULL if the group does not
 * exist (any more), or, by id, if it is outside of the cgroup namespace. The struct is valid until
 * the next call, its texts as long as `cgroups`. */
const struct cgroup *cgroups_by_id(struct cgroups *cgroups, uint64_t id);
const struct cgroup *cgroups_by_path(struct cgroups *cgroups, const char *path);
/* Returns the path of the group with this id, or NULL. */
const char *cgroups_path(struct cgroups *cgroups, uint64_t id);
/* The ids of all known groups, in no order: cgroups_id() with i from 0 to cgroups_count() - 1. */
size_t cgroups_count(const struct cgroups *cgroups);
uint64_t cgroups_id(const struct cgroups *cgroups, size_t i);

/* Searches for containers in hierarchies of version 1. Sets summary.mixed and returns it. */
bool cgroups_find_mixed(struct cgroups *cgroups);
/* Sets summary.mixed, for processes of another machine, whose hierarchies are not visible here. */
void cgroups_set_mixed(struct cgroups *cgroups);

/* cgroups_take_names() takes ownership of `containers`, or of NULL. cgroups_name() returns the name
 * of a container or pod. id: struct cgroup.container or .pod. If `id` is not an id but a name
 * already, cgroups_name() returns it. NULL: the name is unknown. */
void cgroups_take_names(struct cgroups *cgroups, struct containers *containers);
const char *cgroups_name(struct cgroups *cgroups, const char *id);

/* Facts about the groups, and results of searches. */
struct cgroups_summary {
    int error;     /* errno why ids have no groups (ENOENT: cgroup2 is not mounted), or 0 */
    bool version1; /* hierarchies of version 1 are mounted */
    bool mixed;    /* version 1 may have containers that version 2 lacks: use the owner's group */
    bool flat;     /* the root is the only group */
    bool inside;   /* this process is in a cgroup namespace, with a root of its own */
    bool asked;    /* a caller searched for a group */
    bool unknown;  /* a searched group has ended, or is outside of the cgroup namespace */
    bool closed;   /* some directories of groups are not readable */
    int nameless;  /* first errno that can be why cgroups_name() lacks names, or 0 */
};
/* Returns the summary, borrowed; calls of other functions change it. */
const struct cgroups_summary *cgroups_summary(const struct cgroups *cgroups);

/* True if the cgroup id of a socket can be resolved to a cgroup: not without cgroup2, and not where
 * version 1 is used. */
static inline bool cgroups_identify(const struct cgroups_summary *summary)
{
    return !summary->error && !(summary->flat && summary->version1);
}

/* True if groups are unknown because of a failure, not because of the machine or missing rights. */
static inline bool cgroups_failed(const struct cgroups_summary *summary)
{
    return summary->error && summary->error != ENOENT && summary->error != EACCES &&
           summary->error != EPERM;
}

#endif
