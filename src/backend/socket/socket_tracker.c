/* SPDX-License-Identifier: MIT */
/* Finds sockets again by exact requests of sock_diag(7), many in one send(2), and learns of their
 * ends from its multicast groups. Sources: linux/inet_diag.h, inet_diag_handler_cmd() and
 * inet_diag_find_one_icsk() of net/ipv4/inet_diag.c: a socket is found by its addresses, then its
 * cookie is compared; unix_diag_get_exact() of net/unix/diag.c. */
#include "fastnet/socket_tracker.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend/netlink/netlink.h"
#include "backend/socket/origin.h"
#include "backend/socket/sock_diag.h"
#include "fastnet/array.h"
#include "fastnet/hash_table.h"
#include "fastnet/report.h"

/* Room for some thousand events between two samples. */
enum { BUFFER_SIZE = 4 * 1024 * 1024 };

/* Tables that answers are decoded with: sockets of both families of IP. */
static const struct table of_protocols[] = {
    {.name = "tcp", .kind = &kind_socket, .protocol = IPPROTO_TCP},
    {.name = "udp", .kind = &kind_socket, .protocol = IPPROTO_UDP},
    {.name = "unix", .kind = &kind_socket, .family = AF_UNIX},
};

/* --- Ids -------------------------------------------------------------------------------------- */

static void take_id(struct row_id *row, const struct record *record)
{
    const struct socket_record *sock = &record->socket;
    const struct socket_id known = socket_id_of(row);
    const bool has_file =
        sock->inode; /* without a file the kernel reports user 0, which is not its user */
    struct socket_id id = {.local_port = sock->local.port,
                           .remote_port = sock->remote.port,
                           .interface = sock->interface,
                           .inode = has_file ? (uint32_t)sock->inode : known.inode,
                           .uid = has_file && record->has & SOCKET_UID ? sock->uid
                                  : known.inode                        ? known.uid
                                                                       : SOCKET_NO_UID,
                           .family = sock->family,
                           .protocol = (uint8_t)sock->protocol,
                           .state = sock->state,
                           .cookie = record->identity};
    memcpy(id.local, sock->local.address.bytes, sizeof id.local);
    memcpy(id.remote, sock->remote.address.bytes, sizeof id.remote);
    *row = socket_row_id(&id);
}

/* Fills members that the record lacks. The bytes of a TCP socket are set to unknown, because no
 * other counter has them; the caller may remember them. */
static void tracker_fill_record(const struct row_id *row, struct record *record)
{
    const struct socket_id id = socket_id_of(row);
    struct socket_record *sock = &record->socket;

    sock->inode = id.inode;
    record->has |= SOCKET_INODE;
    if (!(record->has & SOCKET_UID) && id.uid != SOCKET_NO_UID) {
        record->has |= SOCKET_UID;
        sock->uid = id.uid;
    }
    if (record->has & SOCKET_STATE) {
        const struct address local = address_make(id.family, id.local);
        origin_restore(record, &local,
                       &(struct endpoint){address_make(id.family, id.remote), id.remote_port},
                       true);
        return;
    }
    record->has |= SOCKET_STATE | SOCKET_COOKIE | SOCKET_INTERFACE |
                   (id.family == AF_UNIX ? 0 : SOCKET_ADDRESSES) |
                   (id.protocol == IPPROTO_TCP ? SOCKET_BYTES : 0);
    sock->bytes_sent = sock->bytes_received = UINT64_MAX;
    record->identity = id.cookie;
    sock->family = id.family;
    sock->protocol = id.protocol;
    sock->state = id.state;
    sock->interface = id.interface;
    sock->local = (struct endpoint){address_make(id.family, id.local), id.local_port};
    sock->remote = (struct endpoint){address_make(id.family, id.remote), id.remote_port};
}

static bool is_over(const struct record *record)
{
    return record->socket.protocol == IPPROTO_TCP && record->socket.timer == TIMER_TIME_WAIT;
}

/* --- The tracker ------------------------------------------------------------------------------ */

struct socket_tracker {
    struct netlink *netlink;
    struct netlink_listening listening;
    int events;                  /* a descriptor, or -1 */
    struct hash_table listeners; /* remembered listeners (origin.h) */
    struct connects *connects;
    record_fn fn;
    void *arg;
};

static int tracker_take_end(const struct nlmsghdr *message, void *arg)
{
    const struct socket_tracker *tracker = arg;
    struct socket_origin origin = {.pid = 0};
    struct record record;

    if (socket_event_decode(message, &record) < 0)
        return 0; /* the next sample finds that the socket is gone */
    record.socket.inode = 0;
    (void)origin_take(tracker->connects, &tracker->listeners, NULL, &record, &origin);
    return tracker->fn(&record, tracker->arg);
}

static void tracker_destroy(void *of)
{
    struct socket_tracker *tracker = of;

    if (!tracker)
        return;
    if (tracker->events >= 0)
        close(tracker->events);
    netlink_destroy(tracker->netlink);
    hash_table_finish(&tracker->listeners);
    free(tracker);
}

static void *tracker_create(unsigned kinds, const struct netlink_peer *peer, int *error)
{
    struct socket_tracker *tracker = calloc(1, sizeof *tracker);

    *error = -ENOMEM;
    if (!tracker)
        return NULL;
    tracker->events = -1;
    tracker->netlink = netlink_create(peer);
    tracker->listening = (struct netlink_listening){.protocol = NETLINK_SOCK_DIAG,
                                                    .groups = kinds,
                                                    .buffer_size = BUFFER_SIZE,
                                                    .fn = tracker_take_end,
                                                    .arg = tracker};
    int result = tracker->netlink ? 0 : -ENOMEM;
    if (!result)
        result = netlink_open(tracker->netlink, NETLINK_SOCK_DIAG);
    if (!result && kinds && !peer)
        tracker->events = netlink_join(tracker->netlink, &tracker->listening);
    if (!result && tracker->events < 0 && kinds && !peer)
        result = tracker->events;
    *error = result;
    if (!result)
        return tracker;
    tracker_destroy(tracker);
    return NULL;
}

static int descriptor(const void *of)
{
    const struct socket_tracker *tracker = of;

    return tracker->events;
}

static bool asks(const struct row_id *row)
{
    const struct socket_id id = socket_id_of(row);

    for (size_t i = 0; i < COUNT(of_protocols); i++)
        if (of_protocols[i].protocol == id.protocol)
            return true;
    return false;
}

/* A row in SYN_RECV is a request for a connection: the kernel does not report its end. */
static bool tracker_reports_end(const void *of, const struct row_id *row)
{
    const struct socket_tracker *tracker = of;
    const struct socket_id id = socket_id_of(row);

    return tracker->events >= 0 && id.state != TCP_SYN_RECV &&
           tracker->listening.groups & socket_end_kind(id.family, id.protocol);
}

/* Requests the ids of the table's protocol, at most SOCKETS_AT_ONCE at a time. */
static int ask_of(const struct query *query, const struct row_id ids[], size_t count, record_fn fn,
                  void *arg)
{
    struct socket_id some[SOCKETS_AT_ONCE];
    size_t chosen = 0;
    int result = 0;

    for (size_t i = 0; i <= count && result >= 0; i++) {
        if (i < count && (some[chosen] = socket_id_of(&ids[i])).protocol == query->table->protocol)
            chosen++;
        if (chosen == COUNT(some) || (chosen && i == count)) {
            result = query->table->family == AF_UNIX ? unix_diag_ask(query, some, chosen, fn, arg)
                                                     : inet_diag_ask(query, some, chosen, fn, arg);
            chosen = 0;
        }
    }
    return result;
}

static int tracker_ask(void *of, const struct row_id ids[], size_t count, uint64_t needs,
                       record_fn fn, void *arg, struct report *report)
{
    const struct socket_tracker *tracker = of;
    int result = 0;

    for (size_t i = 0; i < COUNT(of_protocols) && result >= 0; i++) {
        const struct query query = {.table = &of_protocols[i],
                                    .needs = needs,
                                    .proc_root = "/proc",
                                    .netlink = tracker->netlink,
                                    .report = report,
                                    .exclusive = true};
        result = ask_of(&query, ids, count, fn, arg);
    }
    return result;
}

static int note_listener(void *of, const struct record *row)
{
    struct socket_tracker *tracker = of;

    return listeners_add(&tracker->listeners, row);
}

static void tracker_forget(void *of)
{
    struct socket_tracker *tracker = of;

    hash_table_finish(&tracker->listeners);
}

static int read_ended(void *of, struct connects *connects, record_fn fn, void *arg,
                      struct report *report)
{
    struct socket_tracker *tracker = of;

    tracker->connects = connects;
    tracker->fn = fn;
    tracker->arg = arg;
    return netlink_read_events(tracker->netlink, tracker->events, &tracker->listening, report);
}

const struct row_tracker_ops socket_tracker = {
    .create = tracker_create,
    .destroy = tracker_destroy,
    .descriptor = descriptor,
    .take_id = take_id,
    .fill_record = tracker_fill_record,
    .is_over = is_over,
    .asks = asks,
    .reports_end = tracker_reports_end,
    .ask = tracker_ask,
    .note = note_listener,
    .forget = tracker_forget,
    .ended = read_ended,
};
