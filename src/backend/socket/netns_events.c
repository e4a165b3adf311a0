/* SPDX-License-Identifier: MIT */
/* The kernel sends the end of a socket only to listeners in its network namespace, so there is a
 * socket in each. Nothing reports that a namespace begins or ends, so they are searched for again
 * and again. A namespace cannot end while a socket is open in it: the search closes the sockets in
 * namespaces that no process and no mount has any more. */
#include "backend/socket/netns_events.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/hash.h"
#include "fastnet/namespace.h"
#include "fastnet/netlink.h"
#include "fastnet/socket_pass.h"

static const struct netns_hooks *hooks_of(const struct netns_events *events)
{
    return events->query->events->netns;
}

/* --- One namespace ---------------------------------------------------------------------------- */

/* Its socket stays readable, and its turn comes again, if it has more events than `most`. */
static int heard_read(struct netns_events *events, const struct heard_netns *heard)
{
    const struct netns *netns;
    int result;

    events->current = heard->of.number;
    netns = hooks_of(events)->use(events->query->events->idle_arg, heard->index);
    result = netlink_read_events(events->query->netlink, heard->fd, &events->listening,
                                 events->query->report);
    if (result != -ENOBUFS)
        return result;
    report_loss(events->query->report,
                "events of network namespace %s%s%llu were lost, because fastnet reads them too "
                "slowly",
                netns->name, *netns->name ? ", " : "", (unsigned long long)netns->id);
    return 0;
}

/* Closes the socket; the kernel then removes it from the epoll instance. */
static void heard_close(void *entry)
{
    struct heard_netns *heard = entry;
    struct netns_events *events = heard->events;

    if (heard->index >= 0 && events->query) { /* false at the end of the listing */
        (void)heard_read(events, heard);
        hooks_of(events)->forget(events->query->events->idle_arg, heard->index);
    }
    if (heard->index >= 0)
        close(heard->fd);
    netlink_destroy(heard->netlink);
    hash_table_finish(&heard->listeners);
}

/* Opens the sockets, in this thread's network namespace. Returns 0 or -errno. */
static int heard_open(struct netns_events *events, struct heard_netns *heard)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = heard->of.number};
    int result = 0;

    heard->fd = netlink_join(events->query->netlink, &events->listening);
    if (heard->fd < 0)
        return heard->fd;
    if (!events->pass) {
        heard->netlink = netlink_create(NULL);
        result = heard->netlink ? netlink_open(heard->netlink, NETLINK_SOCK_DIAG) : -ENOMEM;
    }
    if (!result && epoll_ctl(events->epoll, EPOLL_CTL_ADD, heard->fd, &event) < 0)
        result = -errno;
    if (!result)
        return 0;
    close(heard->fd);
    netlink_destroy(heard->netlink);
    heard->netlink = NULL;
    return result;
}

/* --- The search ------------------------------------------------------------------------------- */

/* Takes a namespace that the search found. A known namespace may have got its name late:
 * ip-netns(8) mounts it after it began. */
static int netns_events_take(struct netns_events *events, const struct netns *netns, bool own)
{
    const struct netns_hooks *hooks = hooks_of(events);
    void *const arg = events->query->events->idle_arg;
    const uint64_t name = hash_bytes(0, netns->name, strlen(netns->name));
    struct heard_netns *heard = netns_store_find(&events->heard, netns->id);
    const bool is_new = !heard;
    int result;

    if (is_new && !(heard = netns_store_add(&events->heard, netns->id)))
        return -ENOMEM;
    heard->of.is_read = true;
    if (is_new)
        heard->index = -1;
    if (!is_new && heard->name == name)
        return 0;
    heard->name = name;
    heard->events = events;
    if (heard->index >= 0) {
        hooks->rename(arg, heard->index, netns);
        return 0;
    }
    heard->index = hooks->enter(arg, netns, own);
    if (heard->index < 0)
        return heard->index == -ENOMEM ? -ENOMEM : 0;
    result = heard_open(events, heard);
    if (result == 0)
        return 0;
    hooks->forget(arg, heard->index);
    heard->index = -1;
    heard->name = ~name; /* the next search tries again */
    events->unheard++;
    events->unheard_error = result;
    return 0;
}

/* Each problem is reported once: the searches go on. */
static int netns_events_search(struct netns_events *events)
{
    enum { SHARE = 20 };
    const uint64_t begun = clock_nanoseconds(CLOCK_MONOTONIC);
    struct report problems = {.verbose = events->query->report->verbose};
    struct namespaces found;
    int result = namespaces_find(&found, &problems);

    events->unheard = 0;
    for (size_t i = 0; i < found.count && !result; i++)
        result = netns_events_take(events, &found.list[i], i == 0);
    if (!result)
        result = hooks_of(events)->leave(events->query->events->idle_arg, found.list, &problems);
    namespaces_finish(&found);
    if (!result)
        netns_store_next(&events->heard, heard_close);
    if (events->unheard)
        report_loss(&problems, "cannot listen in %u network namespace%s: %s", events->unheard,
                    events->unheard == 1 ? "" : "s", strerror(-events->unheard_error));
    report_add_news(events->query->report, &problems, &events->reported);
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC), pause = SHARE * (now - begun);
    events->next_search = now + (pause > CLOCK_SECOND ? pause : CLOCK_SECOND);
    return result;
}

/* --- Events ----------------------------------------------------------------------------------- */

int netns_events_begin(struct netns_events *events, const struct query *query,
                       const struct netlink_listening *listening)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = UINT64_MAX};

    *events = (struct netns_events){.query = query, .listening = *listening};
    events->heard.size = sizeof(struct heard_netns);
    events->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (events->epoll < 0 || epoll_ctl(events->epoll, EPOLL_CTL_ADD, listening->stop, &event) < 0)
        return -errno;
    if (query->connects) /* otherwise BPF is not wanted */
        (void)socket_pass_create(&events->pass, false, NULL);
    return netns_events_search(events);
}

void netns_events_finish(struct netns_events *events)
{
    events->query = NULL;
    netns_store_finish(&events->heard, heard_close);
    socket_pass_destroy(events->pass);
    if (events->epoll >= 0)
        close(events->epoll);
}

int netns_events_read(struct netns_events *events, uint64_t until)
{
    enum { AT_ONCE = 64 };
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    const uint64_t end = until < events->next_search ? until : events->next_search;
    const int wait = end > now ? (int)((end - now) / CLOCK_MILLISECOND) + 1 : 0;
    struct epoll_event ready[AT_ONCE];
    int count = epoll_wait(events->epoll, ready, AT_ONCE, wait), result = 0;

    if (count < 0)
        return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < count && !result; i++)
        result = ready[i].data.u64 == UINT64_MAX
                     ? 1
                     : heard_read(events, heard_netns_at(events, (size_t)ready[i].data.u64));
    if (!result && clock_nanoseconds(CLOCK_MONOTONIC) >= events->next_search)
        result = netns_events_search(events);
    return result;
}

int netns_events_each(struct netns_events *events,
                      int (*fn)(const struct heard_netns *netns, void *arg), void *arg)
{
    int result = 0;

    for (size_t i = 0; i < events->heard.count && result >= 0; i++) {
        const struct heard_netns *heard = heard_netns_at(events, i);
        events->current = i;
        if (heard->of.is_used && heard->index >= 0)
            result = fn(heard, arg);
    }
    return result < 0 ? result : 0;
}
