/* SPDX-License-Identifier: MIT */
/* Finds the kernel's own sockets among rows without an owner, when all processes were searched. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "engine/run.h"
#include "fastnet/array.h"
#include "fastnet/kernel_sockets.h"

/* Searches this many network namespaces: TCP has one table for the machine, which each search walks
 * as a whole. */
enum { KERNEL_NETNS_MAX = 64 };

/* Whether the row's socket is of the protocol, or its kind does not say so. */
static bool kernel_owners_may_be(const struct record *record, uint16_t protocol)
{
    uint16_t its = protocol;

    if (record->kind->protocol)
        memcpy(&its, (const char *)record + record->kind->protocol, sizeof its);
    return its == protocol;
}

/* A network namespace of rows without an owner. */
struct unowned_netns {
    bool *searched; /* for each network namespace of the listing */
    size_t count;   /* network namespaces that were searched */
    uint64_t at;    /* number of the network namespace that this thread is in */
    uint16_t protocol;
};

/* Searches the network namespace of the row, unless that was done. */
static int kernel_owners_search_netns(struct run *run, struct unowned_netns *netns, uint64_t index)
{
    int error = 0;

    if (netns->searched[index] || netns->count == KERNEL_NETNS_MAX)
        return 0;
    if (index != netns->at)
        error = namespace_enter(run->netns_walk.found.list[index].fd);
    netns->searched[index] = true;
    netns->count++;
    if (error)
        return error;
    netns->at = index;
    return kernel_sockets_find(run->engine->kernel_sockets, netns->protocol);
}

/* Searches for sockets of one protocol. Returns 0, or -errno if there is no way back. */
static int kernel_owners_find(struct run *run, const struct rows *rows, size_t count,
                              struct unowned_netns *netns)
{
    const uint64_t here = netns->at;
    struct kept_row row;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < rows[i].count; j++) {
            const struct record *record = rows_glance(&rows[i], j, &row);
            if (record->netns_index < run->netns_walk.count &&
                kernel_owners_may_be(record, netns->protocol) && run_is_ownerless(run, record))
                (void)kernel_owners_search_netns(run, netns, record->netns_index);
        }
    return netns->at == here ? 0 : namespace_enter(run->netns_walk.found.list[here].fd);
}

int run_find_kernel_sockets(struct run *run, const struct rows *rows, size_t count)
{
    static const uint16_t protocols[] = {IPPROTO_UDP, IPPROTO_TCP};
    int error = 0;

    for (size_t i = 0; i < COUNT(protocols) && !error && run->engine->kernel_sockets; i++) {
        struct unowned_netns netns = {.at = run->keep_all ? 0 : run->netns_walk.current,
                                      .protocol = protocols[i]};
        netns.searched = calloc(run->netns_walk.count, sizeof *netns.searched);
        error = netns.searched ? kernel_owners_find(run, rows, count, &netns) : -ENOMEM;
        free(netns.searched);
    }
    return error;
}
