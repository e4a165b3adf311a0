/* SPDX-License-Identifier: MIT */
/*
 * Puts the kernel of live_world.h in place of the real one: the linker takes these functions, and
 * not those of the archives. One file of a test program includes this.
 */
#ifndef UNIT_LIVE_LINKS_H
#define UNIT_LIVE_LINKS_H

#include <errno.h>
#include <stdlib.h>

#include "live_world.h"

const struct backend *const backends[] = {&world_backend};
const size_t backend_count = COUNT(backends);

uint64_t backends_fields(const struct table *table)
{
    return backend_fields(backends[0], table);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    return world_clock(clock, time);
}

/* Memory is short from a call on, or for much at once. */
void *reallocarray(void *at, size_t count, size_t size)
{
    if (world.allocations == 1 || (world.largest && count * size > world.largest)) {
        world.allocations_failed++;
        return NULL;
    }
    world.allocations -= world.allocations > 0;
    void *moved = realloc(at, count * size + 1);
    if (moved && !at)
        memset(moved, 0xa5, count * size); /* nobody may count on zeroes */
    return moved;
}

/* --- Network namespaces (fastnet/namespace.h) ------------------------------------------------- */

int namespaces_find(struct namespaces *namespaces, struct report *report)
{
    (void)report;
    return world_namespaces_find(namespaces);
}

void namespaces_finish(struct namespaces *namespaces)
{
    free(namespaces->list);
    *namespaces = (struct namespaces){.count = 0};
}

int namespace_enter(int fd)
{
    return world_namespace_enter(fd);
}

int namespace_open_own(void)
{
    return -1;
}

struct netns namespace_own(void)
{
    return world_namespace();
}

uint64_t namespace_own_id(void)
{
    return world_namespace().id;
}

uint64_t namespace_own_cookie(void)
{
    return world_cookie();
}

uint64_t namespace_of_process(const char *proc_root, pid_t pid)
{
    (void)proc_root, (void)pid;
    return 0;
}

/* --- Who connects (fastnet/connects.h) -------------------------------------------------------- */

struct connects *connects_create(void)
{
    world.connects_made++;
    return (struct connects *)&world.connects_made;
}

/* cppcheck-suppress constParameter ; as connects.h declares it */
void connects_destroy(struct connects *connects)
{
    assert_true(!connects || connects == (struct connects *)&world.connects_made);
}

int connects_begin(struct connects *connects, unsigned what, uint64_t netns,
                   struct bpf_refusal *refusal)
{
    (void)refusal;
    world.connects_what = what;
    assert_ptr_equal(connects, &world.connects_made);
    world.connects_watched++;
    world.connects_netns = netns;
    return world.connects_refused ? -EPERM : 0;
}

bool connects_note_sends(const struct connects *connects)
{
    (void)connects;
    return false;
}

bool connects_find(struct connects *connects, uint64_t cookie, struct connect *made)
{
    (void)connects, (void)cookie, (void)made;
    return false;
}

bool connects_take(struct connects *connects, uint64_t cookie, struct connect *made)
{
    (void)connects, (void)cookie, (void)made;
    return false;
}

bool connects_next(struct connects *connects, struct connect_happened *happened)
{
    (void)connects, (void)happened;
    return false;
}

int connects_descriptor(const struct connects *connects)
{
    (void)connects;
    return -1;
}

uint64_t connects_lost(const struct connects *connects)
{
    (void)connects;
    return 0;
}

/* --- Bytes of sockets for which the kernel has no counters (fastnet/byte_counts.h) ------------ */

struct byte_counts *byte_counts_create(void)
{
    return (struct byte_counts *)&world.counted;
}

void byte_counts_destroy(struct byte_counts *counts)
{
    (void)counts;
}

int byte_counts_begin(struct byte_counts *counts, struct bpf_refusal *refusal)
{
    (void)counts, (void)refusal;
    return 0;
}

int byte_counts_read(struct byte_counts *counts)
{
    (void)counts;
    return world.count_error;
}

void byte_counts_complete(const struct byte_counts *counts, struct record *record)
{
    if (!counts || record->has & SOCKET_BYTES)
        return;
    record->has |= SOCKET_BYTES;
    record->socket.bytes_sent = record->socket.bytes_received = world.counted;
}

void byte_counts_take(const struct byte_counts *counts, struct record *record)
{
    if (counts && !(record->has & SOCKET_BYTES))
        world.taken = record->identity;
    byte_counts_complete(counts, record);
}

#endif
