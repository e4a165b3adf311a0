/* SPDX-License-Identifier: MIT */
/* Sockets of TCP and UDP as they are destroyed: multicast groups of sock_diag(7). A message about a
 * destroyed socket has its last struct tcp_info, but its user and inode are lost. So sockets are
 * listed again and again, and remembered by their cookies. If a socket comes and goes between two
 * samples, a BPF program may have noted who connected (connects.h). Sources: linux/sock_diag.h,
 * sock_diag_broadcast_destroy() of net/core/sock_diag.c, inet_diag_handler_get_info() of
 * net/ipv4/inet_diag.c. */
#include <errno.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/netlink/attributes.h"
#include "backend/netlink/netlink.h"
#include "backend/socket/decode.h"
#include "backend/socket/netns_events.h"
#include "backend/socket/origin.h"
#include "backend/socket/sock_diag.h"
#include "backend/socket/socket_pass.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/connects.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/namespace.h"
#include "fastnet/report.h"

const struct table table_socket_events = {
    .name = "socket events", .kind = &kind_socket, .family = AF_UNSPEC, .endless = true};

/* Tables that messages are decoded with: sockets of both families. */
static const struct table of_tcp = {.kind = &kind_socket, .protocol = IPPROTO_TCP},
                          of_udp = {.kind = &kind_socket, .protocol = IPPROTO_UDP};

/* Numbers of groups begin with 1 (linux/sock_diag.h). */
unsigned socket_end_kind(uint8_t family, uint16_t protocol)
{
    const bool ipv6 = family == AF_INET6;

    if (protocol == IPPROTO_TCP)
        return 1u << ((ipv6 ? SKNLGRP_INET6_TCP_DESTROY : SKNLGRP_INET_TCP_DESTROY) - 1);
    if (protocol == IPPROTO_UDP)
        return 1u << ((ipv6 ? SKNLGRP_INET6_UDP_DESTROY : SKNLGRP_INET_UDP_DESTROY) - 1);
    return 0;
}

#define FIELDS_REMEMBERED (SOCKET_UID | SOCKET_INODE | SOCKET_CGROUP)
/* Fields that origin_take() can set; SOCKET_INODE for sockets that no sample had. */
#define FIELDS_ORIGIN (SOCKET_INODE | SOCKET_ORIGIN | SOCKET_AGE)
#define FIELDS_EVENT                                                                               \
    (SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_INTERFACE | SOCKET_COOKIE |          \
     SOCKET_RETRANSMITS | SOCKET_TCP_INFO | SOCKET_TCP_BASICS | SOCKET_BYTES | SOCKET_RECEIVED)

/* A socket that was listed before its end. */
struct known_socket {
    uint64_t cookie, inode, cgroup;
    uint64_t has; /* which of FIELDS_REMEMBERED are known */
    uint32_t uid;
    struct socket_before before;
};

struct events_reading {
    const struct query *query;
    record_fn fn;
    void *arg;
    /* Sockets of the last sample and of the sample before: a socket that is in neither is gone, and
     * its event was read. */
    struct hash_table now, before;
    struct hash_table listeners; /* listeners of the last sample (origin.h) */
    struct netns_events *all;    /* all network namespaces, with listeners of their own; or NULL */
    uint64_t sampled;            /* start of the last sample: CLOCK_MONOTONIC, nanoseconds */
    bool appeared;               /* the last sample has a new socket with an owner */
    uint64_t next_search;        /* time of the next sample: CLOCK_MONOTONIC, nanoseconds */
    uint64_t soonest; /* earliest time of an urgent sample: CLOCK_MONOTONIC, nanoseconds */
    bool failed;      /* a sample failed, which was reported */
    uint64_t lost;    /* events of connections that were lost and reported */
    bool passed;      /* events were passed since the wait before */
};

/* --- Remembered sockets ----------------------------------------------------------------------- */

/* The hash needs no secret: the kernel numbers its sockets (cookies), so nobody chooses cookies. */
static const struct known_socket *events_find(const struct hash_table *table, uint64_t cookie)
{
    return hash_table_find_number(table, hash_word(0, cookie), cookie);
}

static struct hash_table *events_listeners(struct events_reading *reading)
{
    return reading->all ? &heard_netns_at(reading->all, reading->all->current)->listeners
                        : &reading->listeners;
}

/* Remembers a socket. A closed socket that still sends has no inode: it keeps its old inode. */
static int events_remember(const struct record *record, void *arg)
{
    struct events_reading *reading = arg;
    const uint64_t cookie = record->identity;
    const struct known_socket *old = events_find(&reading->before, cookie);
    struct known_socket *known;

    if (!cookie || events_find(&reading->now, cookie))
        return 0;
    known = hash_table_add(&reading->now, hash_word(0, cookie), sizeof *known);
    if (!known)
        return -ENOMEM;
    if (old && !record->socket.inode)
        *known = *old;
    else
        *known = (struct known_socket){cookie,
                                       record->socket.inode,
                                       record->socket.cgroup,
                                       record->has & FIELDS_REMEMBERED,
                                       record->socket.uid,
                                       {old ? old->before.seen : reading->sampled,
                                        record->socket.local.address, record->socket.remote}};
    reading->appeared |= known->inode && (!old || !old->inode);
    return listeners_add(events_listeners(reading), record);
}

/* Lists the sockets of two groups of events: IPv4 and IPv6. netns: the network namespace, or NULL:
 * that of reading->query->netlink. */
static int events_list(struct events_reading *reading, const struct heard_netns *netns,
                       const struct table *table, const struct table *table6)
{
    const unsigned kinds = reading->query->events->kinds;
    const bool wants[] = {kinds & socket_end_kind(AF_INET, table->protocol),
                          kinds & socket_end_kind(AF_INET6, table->protocol)};
    const bool both = wants[0] && wants[1] && table->joint;
    const struct table *const tables[] = {both ? table->joint : table, table6};
    struct report report = {.partial = false};
    struct query query = *reading->query;
    int result = 0;

    query.needs = FIELDS_REMEMBERED | SOCKET_STATE | SOCKET_ADDRESSES;
    query.where = NULL;
    query.exclusive = true;
    query.report = &report;
    query.pass = netns ? reading->all->pass : NULL;
    if (netns) {
        query.netlink = netns->netlink;
        query.netns = netns->of.cookie;
    }
    for (size_t i = 0; i < COUNT(tables) && result == 0; i++) {
        query.table = tables[i];
        if (wants[i] && !(i && both))
            result = query.pass ? socket_pass_list(&query, events_remember, reading)
                                : inet_diag_dump(&query, events_remember, reading);
    }
    return result;
}

static int events_list_netns(const struct heard_netns *netns, void *arg)
{
    int result;

    hash_table_finish(events_listeners(arg));
    result = events_list(arg, netns, &table_tcp, &table_tcp6);
    return result < 0 ? result : events_list(arg, netns, &table_udp, &table_udp6);
}

static int events_list_all(struct events_reading *reading)
{
    struct socket_pass *pass = reading->all ? reading->all->pass : NULL;
    int result = pass ? socket_pass_begin(pass) : 0;

    if (!reading->all)
        return events_list_netns(NULL, reading);
    if (!result && pass)
        result = socket_pass_end(pass);
    return result < 0 ? result : netns_events_each(reading->all, events_list_netns, reading);
}

/* Lists the sockets once a second, or earlier if a connection came to an unknown listener. This
 * takes at most a twentieth of the time. */
static void events_sample(struct events_reading *reading)
{
    enum { SHARE = 20 };
    const uint64_t begun = clock_nanoseconds(CLOCK_MONOTONIC);
    uint64_t ended;
    int result;

    hash_table_finish(&reading->before);
    reading->before = reading->now;
    reading->now = (struct hash_table){.count = 0};
    reading->sampled = begun;
    reading->appeared = false;
    result = events_list_all(reading);
    if (result < 0 && !reading->failed)
        report_note(reading->query->report, "%s: users and owners are unknown: %s",
                    reading->query->table->name, strerror(-result));
    reading->failed |= result < 0;
    ended = clock_nanoseconds(CLOCK_MONOTONIC);
    reading->soonest = ended + (ended - begun) * SHARE;
    reading->next_search = ended + CLOCK_SECOND;
    if (reading->next_search < reading->soonest)
        reading->next_search = reading->soonest;
}

static bool remembers(const struct query *query)
{
    return query->needs & (FIELDS_REMEMBERED | SOCKET_AGE);
}

/* --- Events ----------------------------------------------------------------------------------- */

static const struct table *table_of(const struct nlmsghdr *message)
{
    struct decoding decoding = {.has = 0};
    struct attributes attributes;
    struct attribute attribute;
    uint8_t protocol = 0;

    if (!message_header(message, sizeof(struct inet_diag_msg), &attributes))
        return NULL;
    while (attributes_next(&decoding, &attributes, &attribute))
        if (attribute.type == INET_DIAG_PROTOCOL)
            attribute_u8(attribute.content, &protocol);
    return protocol == IPPROTO_TCP ? &of_tcp : protocol == IPPROTO_UDP ? &of_udp : NULL;
}

/* Sets what samples know of the socket. Returns that, or NULL. */
static const struct known_socket *events_recall(const struct events_reading *reading,
                                                struct record *record)
{
    struct socket_record *sock = &record->socket;
    const struct known_socket *known = events_find(&reading->now, record->identity);

    if (!known)
        known = events_find(&reading->before, record->identity);
    sock->inode = 0;
    if (known) {
        record->has |= known->has;
        sock->uid = known->uid;
        sock->inode = known->inode;
        sock->cgroup = known->cgroup;
    }
    return known;
}

static void events_complete(struct events_reading *reading, struct record *record,
                            struct socket_origin *origin)
{
    const struct known_socket *known = events_recall(reading, record);

    if (reading->query->needs & FIELDS_ORIGIN &&
        !origin_take(reading->query->connects, events_listeners(reading),
                     known ? &known->before : NULL, record, origin))
        reading->next_search = reading->soonest;
}

int socket_event_decode(const struct nlmsghdr *message, struct record *record)
{
    const struct table *table =
        message->nlmsg_type == SOCK_DIAG_BY_FAMILY ? table_of(message) : NULL;
    struct socket_record *sock = &record->socket;

    if (!table || sock_diag_decode_inet(message, table, UINT64_MAX, record) < 0)
        return -EBADMSG;
    record->has &= FIELDS_EVENT;
    /* sk_wmem_alloc_get() (net/sock.h) subtracts a byte that is already gone */
    if (sock->protocol == IPPROTO_UDP && sock->send_q == UINT32_MAX)
        sock->send_q = 0;
    record->has |= SOCKET_RECEIVED;
    sock->received = clock_nanoseconds(CLOCK_REALTIME);
    return 0;
}

static int events_take_event(const struct nlmsghdr *message, void *arg)
{
    struct events_reading *reading = arg;
    struct socket_origin origin = {.pid = 0};
    struct record record;

    if (message->nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return 0;
    if (socket_event_decode(message, &record) < 0)
        return report_malformed(reading->query);
    events_complete(reading, &record, &origin);
    return reading->fn(&record, reading->arg);
}

static int events_idle(void *arg)
{
    struct events_reading *reading = arg;
    const struct query_events *events = reading->query->events;
    const int result = events->idle ? events->idle(events->idle_arg) : 0;

    if (result < 0 || !remembers(reading->query) ||
        clock_nanoseconds(CLOCK_MONOTONIC) < reading->next_search)
        return result;
    events_sample(reading);
    if (reading->appeared && events->appeared)
        events->appeared(events->idle_arg);
    return result;
}

unsigned socket_end_notes(unsigned kinds)
{
    const unsigned tcp =
        socket_end_kind(AF_INET, IPPROTO_TCP) | socket_end_kind(AF_INET6, IPPROTO_TCP);
    const unsigned udp =
        socket_end_kind(AF_INET, IPPROTO_UDP) | socket_end_kind(AF_INET6, IPPROTO_UDP);

    return ((kinds & tcp) ? NOTE_CONNECTS : 0) | ((kinds & udp) ? NOTE_SENDS : 0);
}

/* Starts the programs that note who connects and who sends. Reports which owners stay unknown
 * without them. */
static void events_begin_notes(const struct query *query)
{
    const uint64_t netns = query->events->netns ? 0 : namespace_own_id();
    const unsigned what = socket_end_notes(query->events->kinds);
    struct bpf_refusal refusal;
    const bool is_refused = connects_begin(query->connects, what, netns, &refusal) < 0;

    if (!(query->needs & (SOCKET_ORIGIN | SOCKET_AGE)))
        return;
    if (is_refused)
        report_note(query->report,
                    "owners are searched only once a second (%s): connections that last less than "
                    "a second have no owner, and are missing if their program resets them; how "
                    "connections end is unknown",
                    refusal.reason);
    else if (what & NOTE_SENDS && !connects_note_sends(query->connects))
        report_note(query->report,
                    "owners of UDP sockets are searched only once a second (this kernel has no "
                    "tracepoint sock_send_length: Linux 6.3): sockets that last less than a second "
                    "have no owner");
}

/* Listens in all network namespaces. Returns 0 at the end, -errno, or fn's negative value. */
static int events_listen_everywhere(struct events_reading *reading,
                                    const struct netlink_listening *listening)
{
    struct netns_events all;
    int result = netns_events_begin(&all, reading->query, listening);

    reading->all = &all;
    if (!result && remembers(reading->query))
        events_sample(reading);
    while (result == 0) {
        result = events_idle(reading);
        if (result == 0)
            result = netns_events_read(&all, remembers(reading->query) ? reading->next_search
                                                                       : UINT64_MAX);
    }
    netns_events_finish(&all);
    reading->all = NULL;
    return result < 0 ? result : 0;
}

static int events_dump(const struct query *query, record_fn fn, void *arg)
{
    enum { SECOND = 1000, AT_ONCE = 256 };
    struct events_reading reading = {.query = query, .fn = fn, .arg = arg};
    const struct netlink_listening listening = {
        .protocol = NETLINK_SOCK_DIAG,
        .groups = query->events->kinds,
        .buffer_size = query->events->buffer_size,
        .stop = query->events->stop,
        .interval = remembers(query) ? SECOND : query->events->interval,
        .most = AT_ONCE,
        .fn = events_take_event,
        .idle = events_idle,
        .arg = &reading,
    };
    int result;

    if (query->needs & FIELDS_ORIGIN && query->connects)
        events_begin_notes(query);
    if (remembers(query) && !query->events->netns)
        events_sample(&reading);
    result = query->events->netns ? events_listen_everywhere(&reading, &listening)
                                  : netlink_listen(query->netlink, &listening, query->report);
    hash_table_finish(&reading.now);
    hash_table_finish(&reading.before);
    hash_table_finish(&reading.listeners);
    return result;
}

/* --- Events of connections -------------------------------------------------------------------- */

const struct table table_socket_trace = {.name = "socket trace",
                                         .kind = &kind_socket,
                                         .family = AF_UNSPEC,
                                         .endless = true,
                                         .recurs = true};

#define FIELDS_TRACE (SOCKET_ADDRESSES | SOCKET_COOKIE | SOCKET_EVENT | SOCKET_RECEIVED)

/* The time of an event, which was some time ago, on CLOCK_REALTIME. */
static uint64_t trace_time(const struct connect_happened *happened)
{
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);

    return clock_nanoseconds(CLOCK_REALTIME) - (happened->time < now ? now - happened->time : 0);
}

/* Passes a row with the event. A reset that arrived comes from the peer. */
static int trace_pass(struct events_reading *reading, const struct connect_happened *happened)
{
    const struct connect *note = &happened->note;
    struct socket_origin origin = {.pid = 0};
    struct record record = {
        .kind = &kind_socket, .has = FIELDS_TRACE, .identity = happened->cookie};
    struct socket_record *sock = &record.socket;

    sock->family = note->remote.family;
    sock->protocol = IPPROTO_TCP;
    sock->event = (uint8_t)happened->event;
    sock->local = (struct endpoint){note->local, happened->port};
    sock->remote = (struct endpoint){note->remote, note->port};
    sock->received = trace_time(happened);
    const struct known_socket *known = events_recall(reading, &record);
    if (!origin_give(note, events_listeners(reading), known ? &known->before : NULL, &record,
                     &origin))
        reading->next_search = reading->soonest;
    if (happened->event == CONNECT_RESET && note->end.received_reset)
        origin.ended_by = ENDED_BY_PEER;
    if (happened->event == CONNECT_RESET)
        origin.ended = ENDED_RESET;
    return reading->fn(&record, reading->arg);
}

/* Passes all events that are left, and reports how many were lost since the call before. */
static int trace_pass_all(struct events_reading *reading)
{
    struct connects *connects = reading->query->connects;
    const uint64_t lost = connects_lost(connects);
    struct connect_happened happened;
    int result = 0;

    reading->passed = false;
    while (result >= 0 && connects_next(connects, &happened)) {
        reading->passed = true;
        if (happened.note.port) /* else a listener has ended */
            result = trace_pass(reading, &happened);
    }
    if (lost != reading->lost)
        report_loss(reading->query->report, "%" PRIu64 " events are missing: too many at once",
                    lost - reading->lost);
    reading->lost = lost;
    return result;
}

/* Waits for an event, or for the time of the next sample. Returns 1 if the listing ends. An event
 * that comes into an empty ring wakes this thread, which takes the connecting process more time
 * than the event itself (6 us). So after some events more of them can gather, which wake nobody. */
static int trace_wait(const struct events_reading *reading)
{
    enum { GATHER_MS = 2 };

    if (reading->passed)
        clock_wait(clock_nanoseconds(CLOCK_MONOTONIC) + GATHER_MS * CLOCK_MILLISECOND);
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    struct pollfd from[] = {
        {.fd = reading->query->events->stop, .events = POLLIN},
        {.fd = connects_descriptor(reading->query->connects), .events = POLLIN},
    };
    const int ms = reading->next_search > now
                       ? (int)((reading->next_search - now) / CLOCK_MILLISECOND) + 1
                       : 0;

    if (poll(from, COUNT(from), ms) < 0 && errno != EINTR)
        return -errno;
    return from[0].revents ? 1 : 0;
}

static int trace_dump(const struct query *query, record_fn fn, void *arg)
{
    struct events_reading reading = {.query = query, .fn = fn, .arg = arg};
    struct bpf_refusal refusal;
    int result = query->connects ? connects_begin(query->connects, NOTE_CONNECTS | NOTE_EVENTS,
                                                  namespace_own_id(), &refusal)
                                 : -ENOTSUP;

    if (result < 0) {
        report_loss(query->report, "connections cannot be traced without BPF (%s)",
                    query->connects ? refusal.reason : "it is not used");
        return 0;
    }
    events_sample(&reading);
    while (result >= 0) {
        const int over = trace_wait(&reading);
        result = over < 0 ? over : trace_pass_all(&reading);
        if (result >= 0)
            result = events_idle(&reading);
        if (over)
            break;
    }
    hash_table_finish(&reading.now);
    hash_table_finish(&reading.before);
    hash_table_finish(&reading.listeners);
    return result < 0 ? result : 0;
}

const struct backend backend_socket_trace = {
    .name = "netlink",
    .source = BACKEND_NETLINK,
    .provides = PROVIDES({&table_socket_trace, FIELDS_TRACE | FIELDS_REMEMBERED | FIELDS_ORIGIN}),
    .dump = trace_dump,
};

const struct backend backend_socket_events = {
    .name = "netlink",
    .source = BACKEND_NETLINK,
    .provides = PROVIDES({&table_socket_events, FIELDS_EVENT | FIELDS_REMEMBERED | FIELDS_ORIGIN}),
    .dump = events_dump,
};
