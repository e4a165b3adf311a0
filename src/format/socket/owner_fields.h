/* SPDX-License-Identifier: MIT */
/* Values of fields about the processes of a socket, and about its other end. */
#ifndef FORMAT_SOCKET_OWNER_FIELDS_H
#define FORMAT_SOCKET_OWNER_FIELDS_H

#include "fastnet/field.h"

/* field->index: whose owners. */
enum { OWN_END, OTHER_END };

/* All owners of an end: a VALUE_OWNERS, which has none where they are unknown, too. */
struct value owner_all(const struct record *record, const struct context *context, size_t end);
struct value owner_pid(const struct cell *cell);
struct value owner_pid_inside(const struct cell *cell);
struct value owner_process(const struct cell *cell);
struct value owner_processes(const struct cell *cell);
struct value owner_peer_processes(const struct cell *cell);
struct value owner_peer_path(const struct cell *cell);
/* field->index: which text of struct cgroup (lookup.h). */
struct value owner_group(const struct cell *cell);

#endif
