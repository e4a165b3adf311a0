/* SPDX-License-Identifier: MIT */
/* Values of fields about the processes of a socket, and about its other end. */
#ifndef MODEL_SOCKET_OWNER_FIELDS_H
#define MODEL_SOCKET_OWNER_FIELDS_H

#include "fastnet/cgroups.h"
#include "fastnet/field.h"
#include "fastnet/kernel_types.h"
#include "fastnet/record.h"

/* field->index: the end whose owners are meant. */
enum { OWN_END, OTHER_END };

/* How the owners are known: they hold the socket, they connected it, or they hold its listener. */
enum owner_by { OWNER_BY_SOCKET, OWNER_BY_CONNECT, OWNER_BY_LISTENER, OWNER_BY_SEND };
word_fn owner_by_word, connect_error_name, socket_ended_name, socket_ended_by_name;
field_fn owner_by, origin_error, origin_ended, origin_ended_by, origin_reset_reason,
    origin_reset_meaning, origin_connect_time, origin_end;

/* Returns all owners of an end as a VALUE_OWNERS, empty also if they are unknown. by: set to how
 * the owners are known; may be NULL. For OWNER_BY_LISTENER it is unknown which of them accepted the
 * connection. */
struct value owner_all(const struct record *record, const struct context *context, size_t end,
                       enum owner_by *by);
field_fn owner_pid, owner_pid_inside, owner_process, owner_processes, owner_peer_path;
/* field->index: the offset of a text in struct cgroup (cgroups.h). */
field_fn owner_group;
/* The name of the user whose uid is the field's member. */
field_fn owner_user;

field_fn profile_command, profile_exe, profile_exe_deleted, profile_cwd, profile_started,
    profile_parent_pid, profile_parent, profile_ancestors;

/* The fields of the socket that a row of another kind belongs to. filled: the presence bit without
 * which the socket is unknown; uid_path: the member with the socket's uid. */
/* clang-format off */
#define FIELDS_OF_SOCKET(filled, uid_path)                                                         \
    FIELD_OF_OWNER(pid, VALUE_NUMBER, owner_pid, filled,                                           \
                   "process that holds the socket open; the lowest number if there are several"),      \
    FIELD_OF_OWNER(process, VALUE_TEXT, owner_process, filled, "name of that process"),            \
    COMPUTED(processes, VALUE_OWNERS, owner_processes, filled,                                     \
             "all processes that hold the socket open: name/pid/fd; objects in JSON",                      \
             .lookups = NEED_OWNERS),                                                              \
    NUMBER(uid, uid_path, filled, "number of the user who made the socket"),                      \
    COMPUTED(user, VALUE_NAME, owner_user, filled, "user who made the socket", MEMBER(uid_path),           \
             .lookups = NEED_USERS),                                                               \
    FIELD_OF_GROUP(cgroup, path, 0, filled, "path of the cgroup2 of that process; / is the root"), \
    FIELD_OF_GROUP(unit, unit, 0, filled, "service or scope of systemd that the cgroup belongs to"),   \
    FIELD_OF_GROUP(container, container, 0, filled,                                                \
                   "first 12 digits of the container's id, or its name"),                          \
    FIELD_OF_GROUP(pod, pod, 0, filled, "uid of the pod in Kubernetes"),                           \
    FIELD_OF_GROUP(container_name, container, NEED_CONTAINERS, filled,                             \
                   "name of that container"),                                                      \
    FIELD_OF_GROUP(pod_name, pod, NEED_CONTAINERS, filled,                                         \
                   "namespace and name of that pod in Kubernetes"),                                \
    VIEW(owners, view_owners, filled, 0,                                                           \
         "processes that hold it open: each name once, with their number",                      \
         .lookups = NEED_OWNERS),                                                              \
    FIELDS_OF_PROFILE(filled, command, NEED_OWNERS)
/* What the process in `pid` is. command: name of the column with its arguments. */
#define FIELDS_OF_PROFILE(filled, command, needs)                                                  \
    FIELD_OF_PROFILE(command, VALUE_TEXT, profile_command, filled, needs,                          \
                     "arguments of that process, as ps(1) shows them"),             \
    FIELD_OF_PROFILE(exe, VALUE_TEXT, profile_exe, filled, (needs) | NEED_PROGRAMS,                \
                     "path of the program that the process runs"),                      \
    FIELD_OF_PROFILE(exe_deleted, VALUE_BOOLEAN, profile_exe_deleted, filled,                      \
                     (needs) | NEED_PROGRAMS,                                                      \
                     "whether that file was deleted or replaced since it was started"),            \
    FIELD_OF_PROFILE(cwd, VALUE_TEXT, profile_cwd, filled, (needs) | NEED_PROGRAMS,                \
                     "path of the process's working directory"),                      \
    FIELD_OF_PROFILE(started, VALUE_TIME, profile_started, filled, needs,                          \
                     "when the process began; its sockets can be younger, or older"),              \
    FIELD_OF_PROFILE(parent_pid, VALUE_NUMBER, profile_parent_pid, filled, needs,                  \
                     "number of the process's parent"),                                            \
    FIELD_OF_PROFILE(parent, VALUE_NAME, profile_parent, filled, needs,                            \
                     "name of the process's parent; the number if the name cannot be read"),       \
    FIELD_OF_PROFILE(ancestors, VALUE_NAMES, profile_ancestors, filled, needs,                     \
                     "names of the process's ancestors, from the first process to the parent")
#define FIELD_OF_PROFILE(id, type, function, filled, needs, ...)                                   \
    COMPUTED(id, type, function, filled, __VA_ARGS__, .lookups = (needs) | NEED_PROFILES,          \
             .each_owner = true)
#define FIELD_OF_OWNER(id, type, function, filled, help)                                           \
    COMPUTED(id, type, function, filled, help, .lookups = NEED_OWNERS, .owner = true)
#define FIELD_OF_GROUP(id, member_of_group, needs, filled, help)                                   \
    COMPUTED(id, VALUE_TEXT, owner_group, filled, help,                                            \
             .lookups = NEED_CGROUPS | NEED_OWNERS_CGROUPS | (needs),                              \
             .index = offsetof(struct cgroup, member_of_group))
/* clang-format on */

#endif
