/* SPDX-License-Identifier: MIT */
#include "fastnet/changes.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "backend/netlink/netlink.h"
#include "backend/socket/sock_diag.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/kind.h"
#include "fastnet/namespace.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "probes/listener_events.h"

#define GROUP(number) (1u << ((number)-1))

/* Groups of kinds whose events do not depend on the table. */
static const struct kind_groups {
    const struct kind *kind;
    int protocol;
    uint32_t groups;
} groups_of_kinds[] = {
    {&kind_flow, NETLINK_NETFILTER,
     GROUP(NFNLGRP_CONNTRACK_NEW) | GROUP(NFNLGRP_CONNTRACK_UPDATE) |
         GROUP(NFNLGRP_CONNTRACK_DESTROY)},
    {&kind_expectation, NETLINK_NETFILTER,
     GROUP(NFNLGRP_CONNTRACK_EXP_NEW) | GROUP(NFNLGRP_CONNTRACK_EXP_UPDATE) |
         GROUP(NFNLGRP_CONNTRACK_EXP_DESTROY)},
    {&kind_neighbour, NETLINK_ROUTE, GROUP(RTNLGRP_NEIGH)},
    {&kind_route, NETLINK_ROUTE, GROUP(RTNLGRP_IPV4_ROUTE) | GROUP(RTNLGRP_IPV6_ROUTE)},
    {&kind_interface, NETLINK_ROUTE,
     GROUP(RTNLGRP_LINK) | GROUP(RTNLGRP_IPV4_IFADDR) | GROUP(RTNLGRP_IPV6_IFADDR)},
};

static void changes_join(struct changes *changes, int protocol, uint32_t groups)
{
    const bool is_other = !groups || (changes->groups && changes->protocol != protocol);

    changes->others |= is_other;
    if (is_other)
        return;
    changes->protocol = protocol;
    changes->groups |= groups;
}

/* Sockets that begin have no events, except listeners. */
static void changes_add_sockets(struct changes *changes, const struct table *table, uint32_t states,
                                bool gone)
{
    const uint32_t listening = UINT32_C(1) << TCP_LISTEN;

    if (!states) /* no row is possible */
        return;
    if (table->protocol == IPPROTO_TCP && states == listening)
        changes->listeners = true;
    else
        changes_join(changes, NETLINK_SOCK_DIAG,
                     gone ? socket_end_kind(table->family, table->protocol) : 0);
}

void changes_add(struct changes *changes, const struct table *table, const struct predicate *where,
                 const struct predicate *also, bool gone)
{
    const struct query first = {.table = table, .where = where};
    const struct query second = {.table = table, .where = also};
    size_t i = 0;

    if (table->kind == &kind_socket) {
        changes_add_sockets(changes, table, sock_diag_states(&first) & sock_diag_states(&second),
                            gone);
        return;
    }
    while (i < COUNT(groups_of_kinds) && groups_of_kinds[i].kind != table->kind)
        i++;
    if (i < COUNT(groups_of_kinds))
        changes_join(changes, groups_of_kinds[i].protocol, groups_of_kinds[i].groups);
    else
        changes->others = true;
}

void changes_open(struct changes *changes, bool all_netns)
{
    const struct netlink_listening listening = {.protocol = changes->protocol,
                                                .groups = changes->groups};

    changes->fd = -1;
    if (changes->groups && !all_netns && (changes->netlink = netlink_create(NULL)))
        changes->fd = netlink_join(changes->netlink, &listening);
    if (changes->listeners)
        changes->opened = listener_events_begin(all_netns ? 0 : namespace_own_id());
    changes->others |= changes->groups && changes->fd < 0;
    changes->others |= changes->listeners && !changes->opened;
}

void changes_finish(struct changes *changes)
{
    if (changes->fd >= 0)
        close(changes->fd);
    netlink_destroy(changes->netlink);
    listener_events_end(changes->opened);
}

static int ignore_event(const struct nlmsghdr *message, void *arg)
{
    (void)message;
    (void)arg;
    return 0;
}

bool changes_wait(struct changes *changes, uint64_t until)
{
    enum { AT_ONCE = 65536 }; /* events may come without end */
    const struct netlink_listening listening = {.fn = ignore_event, .most = AT_ONCE};
    struct pollfd waited[] = {
        {.fd = changes->fd, .events = POLLIN},
        {.fd = listener_events_descriptor(changes->opened), .events = POLLIN}};
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC), left = until > now ? until - now : 0;
    const struct timespec time = {.tv_sec = (time_t)(left / CLOCK_SECOND),
                                  .tv_nsec = (long)(left % CLOCK_SECOND)};
    struct report report = {.partial = false}; /* lost events are events, too */

    if (ppoll(waited, COUNT(waited), &time, NULL) <= 0)
        return false;
    if (waited[0].revents)
        (void)netlink_read_events(changes->netlink, changes->fd, &listening, &report);
    if (waited[1].revents)
        listener_events_forget(changes->opened);
    return true;
}
