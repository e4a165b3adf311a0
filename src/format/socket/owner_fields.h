/* SPDX-License-Identifier: MIT */
/* Values of fields about the processes of a socket, and about its other end. */
#ifndef FORMAT_SOCKET_OWNER_FIELDS_H
#define FORMAT_SOCKET_OWNER_FIELDS_H

#include "fastnet/field.h"
#include "fastnet/record.h"

/* field->index: whose owners. */
enum { OWN_END, OTHER_END };

/* How the owners of a socket are known: they hold it, they connected it, they hold its listener. */
enum owner_by { OWNER_BY_SOCKET, OWNER_BY_CONNECT, OWNER_BY_LISTENER };
const char *owner_by_word(uint64_t by);
struct value owner_by(const struct cell *cell);

/* Where a socket comes from; zeroes where that is unknown. */
struct socket_origin origin_of(const struct record *record);
struct value origin_age(const struct cell *cell);
struct value origin_age_at_least(const struct cell *cell);
struct value origin_error(const struct cell *cell);
const char *connect_error_name(uint64_t error);

/* All owners of an end: a VALUE_OWNERS, which has none where they are unknown, too. */
struct value owner_all(const struct record *record, const struct context *context, size_t end);
/* Whether they hold only the listener that the socket came to: which accepts nobody knows. */
bool owner_is_guess(const struct record *record, const struct context *context, size_t end);
struct value owner_pid(const struct cell *cell);
struct value owner_pid_inside(const struct cell *cell);
struct value owner_process(const struct cell *cell);
struct value owner_processes(const struct cell *cell);
struct value owner_peer_processes(const struct cell *cell);
struct value owner_peer_path(const struct cell *cell);
/* field->index: which text of struct cgroup (lookup.h). */
struct value owner_group(const struct cell *cell);

#endif
