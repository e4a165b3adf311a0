/* SPDX-License-Identifier: MIT */
#include "model/socket/owner_fields.h"

#include <errno.h>
#include <netinet/in.h>

#include "fastnet/cgroups.h"
#include "fastnet/clock.h"
#include "fastnet/owners.h"
#include "fastnet/peers.h"
#include "fastnet/profiles.h"
#include "fastnet/reset_reasons.h"
#include "fastnet/users.h"
#include "model/fields/fields.h"
#include "model/saved.h"
#include "text/put.h"

/* Returns the inode of the end that field->index names; 0: unknown, or no inode. */
static uint64_t owner_inode_of(const struct cell *cell)
{
    const struct kind *kind = cell->record->kind;
    const bool is_other = cell->field->index == OTHER_END;
    uint64_t inode;

    if (is_other && !kind->other_inode)
        return peers_inode(cell->context->netns.peers, cell->record);
    memcpy(&inode, (const char *)cell->record + (is_other ? kind->other_inode : kind->inode),
           sizeof inode);
    return inode;
}

/* Returns the origin of a socket; zeroes are unknown. */
static struct socket_origin origin_of(const struct record *record)
{
    struct socket_origin origin = {.pid = 0};
    struct text text;

    if (!(record->has & record->kind->has_origin))
        return origin;
    memcpy(&text, (const char *)record + record->kind->origin, sizeof text);
    if (text.length == sizeof origin)
        memcpy(&origin, text.data, sizeof origin);
    return origin;
}

#define ERROR(name) [name] = #name
WORDS(connect_error_name, ERROR(ECONNREFUSED), ERROR(ETIMEDOUT), ERROR(EHOSTUNREACH),
      ERROR(ENETUNREACH), ERROR(ECONNRESET), ERROR(ENOPROTOOPT), ERROR(EACCES),
      ERROR(EADDRNOTAVAIL), ERROR(ECANCELED), ERROR(EHOSTDOWN), ERROR(ENONET), ERROR(EPERM),
      ERROR(EINVAL), ERROR(EPROTO), ERROR(EMSGSIZE));

struct value origin_error(const struct cell *cell)
{
    const struct socket_origin origin = origin_of(cell->record);

    return origin.error ? name(connect_error_name(origin.error), origin.error) : unknown;
}

WORDS(
    socket_ended_name, [ENDED_CLOSED] = "closed", [ENDED_RESET] = "reset",
    [ENDED_TIMEOUT] = "timeout", [ENDED_REFUSED] = "refused", [ENDED_UNREACHABLE] = "unreachable");
WORDS(socket_ended_by_name, [ENDED_BY_LOCAL] = "local", [ENDED_BY_PEER] = "peer",
      [ENDED_BY_KERNEL] = "kernel");

struct value origin_ended(const struct cell *cell)
{
    return string(socket_ended_name(origin_of(cell->record).ended));
}

struct value origin_ended_by(const struct cell *cell)
{
    return string(socket_ended_by_name(origin_of(cell->record).ended_by));
}

/* Returns the reason in the record, whose bytes outlive the value; empty: unknown. */
static struct text origin_reason(const struct record *record)
{
    const size_t at = offsetof(struct socket_origin, reset_reason);
    struct text text;

    if (!*origin_of(record).reset_reason)
        return (struct text){NULL, 0};
    memcpy(&text, (const char *)record + record->kind->origin, sizeof text);
    return as_text(text.data + at);
}

struct value origin_reset_reason(const struct cell *cell)
{
    const struct text reason = origin_reason(cell->record);

    return reason.length ? (struct value){.type = VALUE_TEXT, .text = reason} : unknown;
}

struct value origin_reset_meaning(const struct cell *cell)
{
    const char *meaning = reset_reason_meaning(origin_reason(cell->record));

    return meaning ? (struct value){.type = VALUE_TEXT, .spaced = true, .text = as_text(meaning)}
                   : unknown;
}

struct value origin_connect_time(const struct cell *cell)
{
    const uint64_t time = origin_of(cell->record).connect_time;

    return time ? (struct value){.type = VALUE_FINE, .number = time} : unknown;
}

static char *origin_write_end(char *dst, const struct value *view, bool human)
{
    const struct socket_origin origin = origin_of(view->view.record);
    const char *ended = socket_ended_name(origin.ended),
               *by = socket_ended_by_name(origin.ended_by);

    dst = put_string(dst, ended);
    if (by)
        dst = put_string(human ? PUT(dst, " by ") : PUT(dst, "_by_"), by);
    return dst;
}

struct value origin_end(const struct cell *cell)
{
    return origin_of(cell->record).ended ? view(cell, origin_write_end) : unknown;
}

/* Finds the owners that were saved with the row. */
static size_t owner_find_saved(const struct cell *cell, const struct owner **first,
                               enum owner_by *by)
{
    const struct value owners = saved_owners(cell->record, cell->field->index);

    *first = NULL;
    if (by)
        *by = OWNER_BY_SOCKET;
    if (owners.type != VALUE_OWNERS)
        return 0;
    *first = owners.owners.first;
    return owners.owners.count;
}

/* Finds the owners of an end; 0 if the lookup is missing. by: set to how the owners are known; may
 * be NULL. */
static size_t owner_find_owners(const struct cell *cell, const struct owner **first,
                                enum owner_by *by)
{
    struct owners *owners = cell->context->owners;
    enum owner_by unasked = OWNER_BY_SOCKET;
    size_t count;

    if (cell->record->saved)
        return owner_find_saved(cell, first, by);
    const uint64_t inode = owner_inode_of(cell);
    *first = NULL;
    if (owners && cell->field->index != OTHER_END && cell->record->kind->event & cell->record->has)
        count = owners_find_last(owners, inode, first); /* the socket has ended */
    else
        count = owners ? owners_find(owners, inode, first) : 0;
    by = by ? by : &unasked;
    *by = OWNER_BY_SOCKET;
    if (count || !owners || cell->field->index == OTHER_END)
        return count;
    const struct socket_origin origin = origin_of(cell->record);
    if (origin.pid) {
        *by = cell->record->kind == &kind_socket && cell->record->socket.protocol == IPPROTO_UDP
                  ? OWNER_BY_SEND
                  : OWNER_BY_CONNECT;
        *first = owners_creator(owners, (pid_t)origin.pid, origin.name);
        return 1;
    }
    *by = OWNER_BY_LISTENER;
    return origin.listener ? owners_of_listener(owners, origin.listener, first) : 0;
}

/* True if an end without a known owner certainly has no owner. */
static bool is_ownerless(const struct cell *cell)
{
    const struct owners *owners = cell->context->owners;
    const struct owners_summary *summary = owners ? owners_summary(owners) : NULL;

    if (owner_inode_of(cell) == 0)
        return !origin_of(cell->record)
                    .listener; /* some process held the listener that accepted it */
    /* if all processes were searched, there is no owner */
    return summary && owners_know_all(summary);
}

WORDS(owner_by_word, [OWNER_BY_SOCKET] = "socket", [OWNER_BY_CONNECT] = "connect",
      [OWNER_BY_LISTENER] = "listener", [OWNER_BY_SEND] = "send");

struct value owner_by(const struct cell *cell)
{
    const struct owner *first;
    enum owner_by by;

    return owner_find_owners(cell, &first, &by) ? string(owner_by_word(by)) : unknown;
}

struct value owner_pid(const struct cell *cell)
{
    const struct owner *first;

    return owner_find_owners(cell, &first, NULL) && first->process->pid
               ? number((uint64_t)first->process->pid)
               : unknown;
}

/* The pid in the process's own pid namespace; unknown if it is equal to the other pid. */
struct value owner_pid_inside(const struct cell *cell)
{
    const struct owner *first;
    const size_t count = owner_find_owners(cell, &first, NULL);

    return count && first->process->pid_inside ? number((uint64_t)first->process->pid_inside)
                                               : unknown;
}

struct value owner_process(const struct cell *cell)
{
    const struct owner *first;

    return owner_find_owners(cell, &first, NULL) && *first->process->name
               ? string(first->process->name)
               : unknown;
}

struct value owner_all(const struct record *record, const struct context *context, size_t end,
                       enum owner_by *by)
{
    const struct field of_end = {.index = end};
    const struct owner *first;
    const size_t count =
        owner_find_owners(&(struct cell){&of_end, record, context, NULL}, &first, by);

    return (struct value){.type = VALUE_OWNERS, .owners = {first, count}};
}

/* Known in TIME_WAIT, too: then the inode is unknown, but no process can hold the socket. */
struct value owner_processes(const struct cell *cell)
{
    const struct record *record = cell->record;
    const struct owner *first;
    const size_t count = owner_find_owners(cell, &first, NULL);
    const bool is_end_known = cell->field->index == OTHER_END && !record->kind->other_inode
                                  ? owner_inode_of(cell)
                                  : record->kind != &kind_socket || record->has & SOCKET_INODE ||
                                        record->socket.timer == TIMER_TIME_WAIT;

    if (!is_end_known || (count == 0 && !is_ownerless(cell)))
        return unknown;
    return (struct value){.type = VALUE_OWNERS, .owners = {first, count}};
}

/* --- What the process is ---------------------------------------------------------------------- */

/* Returns the time at which the ended connection of a row began, ns since 1970; 0: unknown. */
static uint64_t connected_at(const struct record *record)
{
    const uint64_t needed = SOCKET_AGE | SOCKET_RECEIVED;

    if (record->kind != &kind_socket || needed & ~record->has)
        return 0;
    return record->socket.received - record->socket.age.ms * 1000000;
}

/* Returns the profile of the owner that is meant, or of a finding's process; NULL: unknown. */
static const struct profile *profile_of(const struct cell *cell)
{
    struct profiles *profiles = cell->context->profiles;
    const struct record *record = cell->record;
    const struct owner *owner = cell->owner;
    enum owner_by by = OWNER_BY_SOCKET;

    if (!profiles)
        return NULL;
    if (record->kind == &kind_finding) {
        const struct profile *profile = profiles_find(profiles, (pid_t)record->finding.pid, 0);
        /* another name: another process has the pid now */
        return profile && text_is(record->finding.process, profile->name) ? profile : NULL;
    }
    if (!owner && !owner_find_owners(cell, &owner, &by))
        return NULL;
    const struct owner_process *process = owner->process;
    const struct profile *profile =
        process->seen_at ? profiles_find(profiles, process->pid, process->seen_at) : NULL;
    const uint64_t connected = by == OWNER_BY_CONNECT ? connected_at(record) : 0;
    /* a process that began later has the pid and the name of the process that connected */
    return profile && connected && profile->started > connected + CLOCK_SECOND ? NULL : profile;
}

/* Returns a text that may contain spaces. */
static struct value profile_text(struct text text)
{
    return text.data ? (struct value){.type = VALUE_TEXT, .spaced = true, .text = text} : unknown;
}

static struct value profile_path(const char *path)
{
    return profile_text(path ? as_text(path) : (struct text){NULL, 0});
}

struct value profile_command(const struct cell *cell)
{
    const struct profile *profile = profile_of(cell);

    return profile ? profile_text(profile->command) : unknown;
}

struct value profile_exe(const struct cell *cell)
{
    const struct profile *profile = profile_of(cell);

    return profile_path(profile ? profile->exe : NULL);
}

struct value profile_exe_deleted(const struct cell *cell)
{
    const struct profile *profile = profile_of(cell);

    return profile && profile->exe ? boolean(profile->exe_deleted) : unknown;
}

struct value profile_cwd(const struct cell *cell)
{
    const struct profile *profile = profile_of(cell);

    return profile_path(profile ? profile->cwd : NULL);
}

struct value profile_started(const struct cell *cell)
{
    const struct profile *profile = profile_of(cell);

    return profile && profile->started
               ? (struct value){.type = VALUE_TIME, .number = profile->started}
               : unknown;
}

struct value profile_parent_pid(const struct cell *cell)
{
    const struct profile *profile = profile_of(cell);

    return profile && profile->parent ? number((uint64_t)profile->parent) : unknown;
}

struct value profile_parent(const struct cell *cell)
{
    const struct profile *profile = profile_of(cell);

    return profile && profile->parent ? name(profiles_parent(cell->context->profiles, profile->pid),
                                             (uint64_t)profile->parent)
                                      : unknown;
}

/* Process 1 certainly has no ancestors. */
struct value profile_ancestors(const struct cell *cell)
{
    const struct profile *profile = profile_of(cell);

    if (!profile || (!profiles_parent(cell->context->profiles, profile->pid) && profile->pid != 1))
        return unknown;
    return (struct value){.type = VALUE_NAMES,
                          .names = {profile->ancestors, profile->ancestor_count}};
}

/* --- Control groups --------------------------------------------------------------------------- */

static bool is_in_container(const struct cgroup *group)
{
    return group && (group->container || group->pod);
}

/* Returns the current group's path of the first owner; NULL: no owner, or the path was not read. */
static const char *owners_group(const struct cell *cell)
{
    const struct field field = {.index = 0};
    const struct owner *first;

    return owner_find_owners(&(struct cell){&field, cell->record, cell->context, NULL}, &first,
                             NULL)
               ? first->process->cgroup
               : NULL;
}

/* Returns the group in which the socket was made. Returns the current group of its first owner if
 * the kernel does not send that group, or sends the root for all sockets; if the owner is outside
 * of the cgroup namespace, where ids are missing; or if only version 1 has containers. */
static const struct cgroup *group_of(const struct cell *cell)
{
    struct cgroups *cgroups = cell->context->cgroups;
    const struct record *record = cell->record;
    const bool has_cgroup = record->has & record->kind->cgroup; /* only sockets have this bit */
    const struct cgroups_summary *summary;
    const struct cgroup *made_in = NULL;

    if (!cgroups)
        return NULL;
    summary = cgroups_summary(cgroups);
    const char *path = owners_group(cell);
    const bool is_outside = path && summary->inside && cgroup_is_outside(path);
    if (has_cgroup && cgroups_identify(summary) && !is_outside)
        made_in = cgroups_by_id(cgroups, record->socket.cgroup);
    if (made_in && (!path || !summary->mixed || is_in_container(made_in)))
        return made_in;
    const struct cgroup *held_in = path ? cgroups_by_path(cgroups, path) : NULL;
    if (held_in && (!made_in || is_in_container(held_in)))
        return held_in;
    return made_in || !has_cgroup || summary->error || cgroups_identify(summary)
               ? made_in
               : cgroups_by_id(cgroups, record->socket.cgroup);
}

struct value owner_user(const struct cell *cell)
{
    const uint64_t uid = field_number(cell->field, cell->record);

    return name(cell->context->users ? users_name(cell->context->users, (uint32_t)uid) : NULL, uid);
}

struct value owner_group(const struct cell *cell)
{
    const struct cgroup *group = group_of(cell);
    const char *text = NULL;

    if (group)
        memcpy(&text, (const char *)group + cell->field->index, sizeof text);
    if (cell->field->lookups & NEED_CONTAINERS && text)
        text = cgroups_name(cell->context->cgroups, text);
    return string(text);
}

struct value owner_peer_path(const struct cell *cell)
{
    const struct text path = peers_path(cell->context->netns.peers, owner_inode_of(cell));

    return path.length ? (struct value){.type = VALUE_SOCKET_NAME, .text = path} : unknown;
}
