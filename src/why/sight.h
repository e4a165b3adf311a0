/* SPDX-License-Identifier: MIT */
/* Reads evidence from the tables of the kernel, in all network namespaces that can be entered. */
#ifndef WHY_SIGHT_H
#define WHY_SIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/namespace.h"
#include "fastnet/report.h"
#include "fastnet/why.h"
#include "makers/local_addresses.h"
#include "why/evidence.h"

struct engine;
struct netlink;

/* The name of a network namespace. */
struct netns_name {
    uint64_t id;
    char name[NAME_MAX + 1]; /* empty: it has none */
};

/* Connection tracking in one network namespace. */
struct sight_tracking {
    uint64_t netns;
    uint64_t flows, flows_max;
    uint64_t dropped; /* packets, since boot; known only with CAP_NET_ADMIN */
};

struct sight {
    const struct why_options *options;
    struct engine *engine;
    struct netlink *netlink;      /* asks in this thread's network namespace */
    struct local_addresses local; /* own addresses of all network namespaces */
    bool has_local;
    bool whole;           /* all network namespaces could be read */
    struct report losses; /* why something could not be read */
    struct owners_program *program;
    struct owners *owners; /* NULL until they are needed, or if they cannot be read */
    bool searched_owners;
    struct netns_name **names;
    size_t name_count, name_capacity;
    struct sight_tracking *tracking;
    size_t tracking_count, tracking_capacity;
};

/* Returns 0 or -ENOMEM. The thread is in the network namespace whose connections are explained. */
int sight_init(struct sight *sight, const struct why_options *options);
void sight_finish(struct sight *sight);

/* Returns the network namespace with its name, which is valid until sight_finish(). */
struct evidence_netns sight_netns(struct sight *sight, uint64_t id);

/* Returns the network namespace of the row that sight->engine passes on. */
struct evidence_netns sight_row_netns(struct sight *sight);

/* Reads the way to evidence->peer. */
void sight_read_route(struct sight *sight, struct evidence *evidence);

/* Reads all evidence that exists before an attempt. Returns 0 or -ENOMEM. */
int sight_read(struct sight *sight, struct evidence *evidence);

/* Reads the listeners of evidence->target again, because NAT has changed it. Returns 0 or -errno.
 */
int sight_read_target(struct sight *sight, struct evidence *evidence);

/* Counts the half-open connections of evidence->listener, if SYN cookies are off: counting walks
 * over all connections of the machine. Returns 0 or -ENOMEM. */
int sight_read_half_open(struct sight *sight, struct evidence *evidence);

/* Reads again what an attempt may have changed, for evidence->target. Returns 0 or -ENOMEM. */
int sight_read_after(struct sight *sight, struct evidence *evidence);

#endif
