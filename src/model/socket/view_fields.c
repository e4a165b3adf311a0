/* SPDX-License-Identifier: MIT */
#include "model/socket/view_fields.h"

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "fastnet/cgroups.h"
#include "fastnet/kernel_info.h"
#include "fastnet/owners.h"
#include "fastnet/saved.h"
#include "model/fields/fields.h"
#include "model/socket/owner_fields.h"
#include "model/value.h"
#include "text/put.h"

/* --- Whose it is ------------------------------------------------------------------------------ */

enum { NAME_ROOM = 2 + ESCAPE_FACTOR * 16 + 5 + TEXT_U64_MAX, NAMES_SHOWN = 5 };
_Static_assert((size_t)NAMES_SHOWN *NAME_ROOM + sizeof ",..." <= VALUE_VIEW_MAX,
               "owners have room");

/* Writes a name, and after it the number of processes with that name. ascii: the sign before the
 * number is x or, if no space is before the sign, *, because a name can end with "x4". */
static char *socket_view_put_name(char *dst, const struct value *owners,
                                  const struct owner_process *one, bool human, bool ascii)
{
    const struct owner *first = owners->owners.first;
    size_t count = 0;

    /* owners of one process with several descriptors follow each other */
    for (size_t i = 0; i < owners->owners.count; i++)
        count += (i == 0 || first[i].process->pid != first[i - 1].process->pid) &&
                 strcmp(first[i].process->name, one->name) == 0;
    if (!*one->name)
        dst = one->unnamed ? PUT(dst, "-") : PUT(dst, "''");
    else if (strcmp(one->name, "-") == 0) /* a single "-" would mean that the owner is unknown */
        dst = put_escaped(dst, one->name, "-");
    else
        dst = put_escaped(dst, one->name, human ? "," : " ,");
    if (count == 1)
        return dst;
    dst = human ? PUT(dst, " ") : dst;
    return text_u64(!ascii ? PUT(dst, "×") : human ? PUT(dst, "x") : PUT(dst, "*"), count);
}

/* Writes each name once, followed by '?' if another process may own the socket. */
static char *write_owners(char *dst, const struct value *view, bool human)
{
    enum owner_by by;
    const struct value owners =
        owner_all(view->view.record, view->view.context, view->view.field->index, &by);
    const char *names[NAMES_SHOWN];
    size_t count = 0;

    for (size_t i = 0; i < owners.owners.count; i++) {
        const struct owner_process *one = owners.owners.first[i].process;
        size_t known = 0;
        while (known < count && strcmp(names[known], one->name) != 0)
            known++;
        if (known < count)
            continue;
        if (count)
            dst = human ? PUT(dst, ", ") : PUT(dst, ",");
        if (count == NAMES_SHOWN)
            return PUT(dst, "...");
        names[count++] = one->name;
        dst = socket_view_put_name(dst, &owners, one, human, view->view.context->ascii);
        dst = by == OWNER_BY_LISTENER ? PUT(dst, "?") : dst;
    }
    return dst;
}

struct value view_owners(const struct cell *cell)
{
    const size_t end = cell->field->index;

    return owner_all(cell->record, cell->context, end, NULL).owners.count ? view(cell, write_owners)
                                                                          : unknown;
}

/* The systemd unit that made the socket, if the socket's processes are not known. */
static struct value socket_view_unit_of(const struct record *record, const struct context *context)
{
    static const struct field unit = {.index = offsetof(struct cgroup, unit)};

    return owner_group(&(struct cell){&unit, record, context, NULL});
}

static char *write_whose(char *dst, const struct value *view, bool human)
{
    const struct record *record = view->view.record;
    const struct context *context = view->view.context;

    if (owner_all(record, context, OWN_END, NULL).owners.count)
        return write_owners(dst, view, human);
    const struct text unit = socket_view_unit_of(record, context).text;
    const size_t most = VALUE_VIEW_MAX / ESCAPE_FACTOR;
    return escape_text(dst, unit.data, unit.length < most ? unit.length : most, "");
}

struct value view_whose(const struct cell *cell)
{
    if (owner_all(cell->record, cell->context, OWN_END, NULL).owners.count == 0 &&
        socket_view_unit_of(cell->record, cell->context).type == VALUE_UNKNOWN)
        return unknown;
    return view(cell, write_whose);
}

/* --- Its ends --------------------------------------------------------------------------------- */

static char *socket_view_put_end(char *dst, const struct value *view, const struct endpoint *end,
                                 bool scoped)
{
    const uint32_t index = scoped ? view->view.record->socket.interface : 0;
    const struct value interface = interface_named(view->view.context, index);
    char digits[TEXT_U64_MAX];
    const struct text scope =
        interface.type == VALUE_NAME
            ? value_text(&interface, digits)
            : as_text(scoped ? saved_string(view->view.record, "interface") : NULL);

    return text_address_port(dst, &end->address, scope, end->port);
}

static char *write_local(char *dst, const struct value *view, bool human)
{
    const struct record *record = view->view.record;
    const struct text *path = &record->socket.path;

    if (record->has & SOCKET_ADDRESSES)
        return socket_view_put_end(dst, view, &record->socket.local, true);
    return escape_socket_name(dst, path->data, path->length, human ? NULL : " ");
}

struct value view_local(const struct cell *cell)
{
    const uint64_t has = cell->record->has;
    const struct socket_record *sock = &cell->record->socket;
    const bool named = sock->family == AF_UNIX && has & SOCKET_PATH && sock->path.length;

    return named || has & SOCKET_ADDRESSES ? view(cell, write_local) : unknown;
}

static char *write_remote(char *dst, const struct value *view, bool human)
{
    const struct endpoint *remote = &view->view.record->socket.remote;
    const uint8_t *bytes = remote->address.bytes;
    const bool is_link_local =
        remote->address.family == AF_INET6 && bytes[0] == 0xfe && bytes[1] >> 6 == 2;

    (void)human;
    if (!remote->port && address_is_unspecified(&remote->address))
        return PUT(dst, "*");
    return socket_view_put_end(dst, view, remote, is_link_local);
}

struct value view_remote(const struct cell *cell)
{
    return (cell->record->has & SOCKET_ADDRESSES) ? view(cell, write_remote) : unknown;
}

/* --- Its queues ------------------------------------------------------------------------------- */

static bool is_listener(const struct record *record)
{
    return record->socket.state == TCP_LISTEN;
}

/* The limit of connections that wait for accept(2). For a unix listener the kernel sends it as
 * send_q. */
static uint32_t backlog_of(const struct record *record)
{
    if (record->has & SOCKET_BACKLOG)
        return record->socket.backlog;
    return record->socket.family == AF_UNIX ? record->socket.send_q : 0;
}

/* A buffer counts as full at 9/10 of its limit: a packet takes more memory than its data. */
static bool is_full(uint32_t used, uint32_t limit)
{
    return limit && used >= limit - limit / 10;
}

/* Writes use and limit. For people, the limit is written only if at least half of it is used. */
static char *put_share(char *dst, uint32_t used, uint32_t limit, bool human)
{
    dst = put_amount(dst, used, human);
    if (!limit || (human && used < limit / 2))
        return dst;
    *dst++ = '/';
    return put_amount(dst, limit, human);
}

char *write_recv(char *dst, const struct value *view, bool human)
{
    const struct record *record = view->view.record;

    if (!is_listener(record))
        return put_share(dst, record->socket.recv_q, socket_memory(record, SK_MEMINFO_RCVBUF),
                         human);
    dst = text_u64(dst, record->socket.recv_q);
    if (!backlog_of(record))
        return dst;
    *dst++ = '/';
    return text_u64(dst, backlog_of(record));
}

char *write_send(char *dst, const struct value *view, bool human)
{
    const struct record *record = view->view.record;

    if (is_listener(record))
        return PUT(dst, "0");
    return put_share(dst, record->socket.send_q, socket_memory(record, SK_MEMINFO_SNDBUF), human);
}

/* --- Why people should look at it ------------------------------------------------------------- */

const struct flag_names view_reasons =
    FLAG_NAMES("accept_queue_full", "receive_buffer_full", "send_buffer_full", "not_acknowledged",
               "peer_not_reading", "dropped_packets");

/* Whether data was retransmitted, or has waited more than a second for its acknowledgement. */
static bool is_stuck(const struct record *record)
{
    enum { PATIENCE = 1000 }; /* milliseconds */
    const struct socket_record *sock = &record->socket;
    const struct kernel_tcp_info info = tcp_info_of(record);

    if (!sock->send_q)
        return false;
    return (record->has & SOCKET_RETRANSMITS && (sock->retransmits || sock->probes)) ||
           (info.last_ack_recv > PATIENCE && info.last_data_sent > PATIENCE);
}

/* Returns whether data waits to be read, and the first reason why data waits to be sent. */
static unsigned reasons_of_connection(const struct record *record)
{
    const bool receive_full = is_full(socket_memory(record, SK_MEMINFO_RMEM_ALLOC),
                                      socket_memory(record, SK_MEMINFO_RCVBUF)),
               send_full = is_full(socket_memory(record, SK_MEMINFO_WMEM_QUEUED),
                                   socket_memory(record, SK_MEMINFO_SNDBUF)),
               probing = record->has & SOCKET_TIMER && record->socket.timer == TIMER_PROBE;

    return (receive_full ? REASON_RECEIVE_BUFFER : 0) |
           (is_stuck(record)                   ? REASON_ACKNOWLEDGEMENT
            : record->socket.send_q && probing ? REASON_WINDOW
            : send_full                        ? REASON_SEND_BUFFER
                                               : 0);
}

/* Whether all fields that could be a reason are known. TIME_WAIT and SYN_RECV sockets have no
 * buffers. */
static bool socket_view_is_judged(const struct record *record)
{
    const struct socket_record *sock = &record->socket;
    const bool is_tcp = sock->protocol == IPPROTO_TCP;
    uint64_t needed = SOCKET_STATE | SOCKET_QUEUES | SOCKET_MEMORY;

    if (is_tcp && (sock->timer == TIMER_TIME_WAIT || sock->state == TCP_SYN_RECV))
        needed &= ~SOCKET_MEMORY;
    else if (is_tcp)
        needed |= is_listener(record) ? SOCKET_BACKLOG : SOCKET_TCP_INFO;
    return !(needed & ~record->has);
}

/* Whether packets are dropped now. The kernel counts the drops since the socket was made, and does
 * not say when they happened: one drop must not mark a listener for ever. So the count must grow
 * between two samples or, in a single listing, the queue must be full. */
static bool is_dropping(const struct record *record, unsigned reasons)
{
    if (record->before)
        return socket_drops(record) != socket_drops(record->before);
    return socket_drops(record) && reasons & (REASON_ACCEPT_QUEUE | REASON_RECEIVE_BUFFER);
}

struct value view_attention(const struct cell *cell)
{
    const struct record *record = cell->record;
    /* the kernel lets one more connection wait than the backlog (sk_acceptq_is_full()) */
    const uint32_t backlog = is_listener(record) ? backlog_of(record) : 0;
    unsigned bits = 0;

    if (record->has & SOCKET_QUEUES && !is_listener(record))
        bits = reasons_of_connection(record);
    else if (record->has & SOCKET_QUEUES && backlog && record->socket.recv_q > backlog)
        bits = REASON_ACCEPT_QUEUE;
    bits |= is_dropping(record, bits) ? REASON_DROPS : 0;
    if (!bits && !socket_view_is_judged(record))
        return unknown;
    return (struct value){.type = VALUE_FLAGS, .flags = {&view_reasons, {bits}}};
}

/* --- What it does ----------------------------------------------------------------------------- */

static bool has_times(const struct record *record)
{
    return record->has & SOCKET_TCP_INFO && !is_listener(record) &&
           record->socket.info.length >= offsetof(struct kernel_tcp_info, last_ack_recv);
}

/* Reads a number of tcp_info that is known. Copying the whole struct would cost more. */
static uint32_t info_at(const struct record *record, size_t offset)
{
    uint32_t found;

    memcpy(&found, record->socket.info.data + offset, sizeof found);
    return found;
}

static uint32_t idle_of(const struct record *record)
{
    const uint32_t sent = info_at(record, offsetof(struct kernel_tcp_info, last_data_sent)),
                   received = info_at(record, offsetof(struct kernel_tcp_info, last_data_recv));

    return sent < received ? sent : received;
}

struct value view_idle(const struct cell *cell)
{
    return has_times(cell->record) ? decimal(idle_of(cell->record)) : unknown;
}

static char *put_seconds(char *dst, uint64_t milliseconds, bool human)
{
    const struct value value = decimal(milliseconds);

    return human ? value_write_human(dst, &value, UNIT_SECONDS) : text_seconds(dst, milliseconds);
}

char *write_lived(char *dst, const struct value *view, bool human)
{
    const struct age age = view->view.record->socket.age;

    return put_seconds(age.at_least ? PUT(dst, ">") : dst, age.ms, human);
}

/* What the timer does when it fires; NULL for timers that people need not know. */
static const char *timer_verb(const struct record *record)
{
    static const char *const verbs[] = {
        [TIMER_RETRANSMIT] = "retransmit", [TIMER_TIME_WAIT] = "ends", [TIMER_PROBE] = "probe"};
    const uint8_t timer = record->socket.timer;

    return record->has & SOCKET_TIMER && timer < COUNT(verbs) ? verbs[timer] : NULL;
}

static char *write_activity(char *dst, const struct value *view, bool human)
{
    const struct record *record = view->view.record;
    const char *verb = timer_verb(record);
    const uint64_t ms = verb ? record->socket.timer_ms : idle_of(record);

    if (!verb && human && ms < 1000)
        return PUT(dst, "active");
    dst = put_string(dst, verb ? verb : "idle");
    return put_seconds(put_string(dst, !human ? "=" : verb ? " in " : " "), ms, human);
}

struct value view_activity(const struct cell *cell)
{
    return timer_verb(cell->record) || has_times(cell->record) ? view(cell, write_activity)
                                                               : unknown;
}

/* --- Fields whose names are long ----------------------------------------------------------- */

static char *write_protocol(char *dst, const struct value *view, bool human)
{
    (void)human;
    return put_string(dst, socket_protocol_name(view->view.record->socket.protocol));
}

struct value view_protocol(const struct cell *cell)
{
    return socket_protocol_name(cell->record->socket.protocol) ? view(cell, write_protocol)
                                                               : unknown;
}

static char *write_retransmitted(char *dst, const struct value *view, bool human)
{
    (void)human;
    return text_u64(dst,
                    info_at(view->view.record, offsetof(struct kernel_tcp_info, total_retrans)));
}

struct value view_retransmitted(const struct cell *cell)
{
    const size_t end = offsetof(struct kernel_tcp_info, pacing_rate);

    return has_times(cell->record) && cell->record->socket.info.length >= end
               ? view(cell, write_retransmitted)
               : unknown;
}
