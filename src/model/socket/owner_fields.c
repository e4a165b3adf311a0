/* SPDX-License-Identifier: MIT */
#include "model/socket/owner_fields.h"

#include <errno.h>

#include "fastnet/cgroups.h"
#include "fastnet/owners.h"
#include "fastnet/peers.h"
#include "fastnet/users.h"
#include "model/fields/fields.h"

/* Returns the inode of the end that field->index names; 0: unknown, or no inode. */
static uint64_t owner_inode_of(const struct cell *cell)
{
    uint64_t inode;

    if (cell->field->index == OTHER_END)
        return peers_inode(cell->context->netns.peers, cell->record);
    memcpy(&inode, (const char *)cell->record + cell->record->kind->inode, sizeof inode);
    return inode;
}

/* Returns the origin of a socket; zeroes are unknown. */
static struct socket_origin origin_of(const struct record *record)
{
    const struct text *text = &record->socket.origin;
    struct socket_origin origin = {.pid = 0};

    if (record->kind == &kind_socket && record->has & SOCKET_ORIGIN &&
        text->length == sizeof origin)
        memcpy(&origin, text->data, sizeof origin);
    return origin;
}

#define ERROR(name) [name] = #name
WORDS(connect_error_name, ERROR(ECONNREFUSED), ERROR(ETIMEDOUT), ERROR(EHOSTUNREACH),
      ERROR(ENETUNREACH), ERROR(ECONNRESET), ERROR(ENOPROTOOPT), ERROR(EACCES),
      ERROR(EADDRNOTAVAIL), ERROR(ECANCELED), ERROR(EHOSTDOWN), ERROR(ENONET));

struct value origin_error(const struct cell *cell)
{
    const struct socket_origin origin = origin_of(cell->record);

    return origin.error ? name(connect_error_name(origin.error), origin.error) : unknown;
}

/* Finds the owners of an end; 0 if the lookup is missing. by: set to how they are known; may be
 * NULL. */
static size_t owner_find_owners(const struct cell *cell, const struct owner **first,
                                enum owner_by *by)
{
    struct owners *owners = cell->context->owners;
    const uint64_t inode = owner_inode_of(cell);
    enum owner_by unasked = OWNER_BY_SOCKET;
    size_t count;

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
        *by = OWNER_BY_CONNECT;
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
      [OWNER_BY_LISTENER] = "listener");

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

/* Unknown if it is equal to the pid. */
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
    const size_t count = owner_find_owners(&(struct cell){&of_end, record, context}, &first, by);

    return (struct value){.type = VALUE_OWNERS, .owners = {first, count}};
}

/* In TIME_WAIT the inode is unknown, but no process can hold the socket. */
struct value owner_processes(const struct cell *cell)
{
    const struct record *record = cell->record;
    const struct owner *first;
    const size_t count = owner_find_owners(cell, &first, NULL);
    const bool is_end_known = cell->field->index == OTHER_END
                                  ? owner_inode_of(cell)
                                  : record->kind != &kind_socket || record->has & SOCKET_INODE ||
                                        record->socket.timer == TIMER_TIME_WAIT;

    if (!is_end_known || (count == 0 && !is_ownerless(cell)))
        return unknown;
    return (struct value){.type = VALUE_OWNERS, .owners = {first, count}};
}

static bool is_in_container(const struct cgroup *group)
{
    return group && (group->container || group->pod);
}

/* Returns the current group's path of the first owner; NULL: no owner, or the path was not read. */
static const char *owners_group(const struct cell *cell)
{
    const struct field field = {.index = 0};
    const struct owner *first;

    return owner_find_owners(&(struct cell){&field, cell->record, cell->context}, &first, NULL)
               ? first->process->cgroup
               : NULL;
}

/* Returns the group in which the socket was made. Returns the current group of its first owner if
 * the kernel does not send the former, or sends the root for all sockets; if the owner is outside
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
