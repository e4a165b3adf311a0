/* SPDX-License-Identifier: MIT */
/* The sockets of a reading: suspects, and totals of all sockets. */
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/reading.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/hash.h"
#include "fastnet/kernel_info.h"

enum {
    BACKOFFS = 3,           /* retransmissions without an answer, which take some seconds */
    SILENT_MS = 10000,      /* longer than three retransmissions take at usual round-trip times */
    UNCLOSED_MS = 60000,    /* longer than programs need to finish what they were doing */
    KEPT_MS = 3000,         /* longer than a program that closes a little late */
    KEEPALIVES = 2,         /* probes without an answer: not just one lost packet */
    SYNS = 2,               /* SYNs without an answer for 3 s: not just one lost packet */
    LARGE_SEGMENT = 1000,   /* bytes: a little less than the usual MTUs of 1280 to 1500 */
    LIMITED_PERCENT = 50,   /* percent of the time in which data waited to be sent */
    REMEMBERED_MAX = 16384, /* 256 KiB, and twice as much for the slots */
    GIVEN_UP_MS = 2000,     /* one second less than SYNS take */
    DNS_WAITS_MS = 1000,    /* as long as one SYN takes */
    DNS_HANGS_MS = 3000,    /* as long as SYNS take */
    DNS_ACK_LEAST_MS = 20,  /* longer than a jiffy; peers wait for 40 to 200 ms (TCP_DELACK_MIN) */
    DNS_ACK_MOST_MS = 900,  /* less than one interval of keepalive */
    DNS_CONNECTIONS = 1024, /* 48 KiB: a server of DNS may have connections to many others */
};

/* --- What the reading before knew ------------------------------------------------------------- */

static uint64_t sockets_hash_of(uint64_t cookie)
{
    return hash_word(hash_seed(), cookie);
}

static const struct remembered_socket *find_remembered(const struct reading *before,
                                                       uint64_t cookie)
{
    return before && cookie ? hash_table_find_number(&before->sockets.remembered,
                                                     sockets_hash_of(cookie), cookie)
                            : NULL;
}

/* Remembers a number of a socket for the next reading, unless too many are remembered. */
static int sockets_remember(struct sockets_reading *sockets, uint64_t cookie, uint64_t number)
{
    struct remembered_socket *remembered;

    if (!cookie || sockets->remembered.count == REMEMBERED_MAX)
        return 0;
    remembered = hash_table_add(&sockets->remembered, sockets_hash_of(cookie), sizeof *remembered);
    if (!remembered)
        return -ENOMEM;
    *remembered = (struct remembered_socket){cookie, number};
    return 0;
}

/* --- Suspects --------------------------------------------------------------------------------- */

static struct suspect suspect_of(const struct record *record)
{
    const struct socket_record *socket = &record->socket;

    return (struct suspect){.inode = socket->inode,
                            .local = socket->local,
                            .remote = socket->remote,
                            .retransmits = socket->retransmits};
}

/* Returns whether a is worse than b. For connections to a silent peer, those that a process still
 * has come first, because the finding can name it. */
static bool suspect_is_worse(enum suspicion why, const struct suspect *a, const struct suspect *b)
{
    const bool is_silent = why == SILENT_PEERS || why == LARGE_SEGMENTS || why == LARGE_SILENCE;

    return is_silent && !a->inode != !b->inode ? a->inode != 0 : a->value > b->value;
}

/* Keeps the suspect if it is among the worst. */
static void sockets_add(struct sockets_reading *sockets, enum suspicion why,
                        const struct suspect *suspect)
{
    struct suspects *suspects = &sockets->suspects[why];
    struct suspect *worst = suspects->worst;
    size_t at = suspects->kept;

    suspects->count++;
    while (at > 0 && suspect_is_worse(why, suspect, &worst[at - 1]))
        at--;
    if (at == SUSPECTS_MAX)
        return;
    if (suspects->kept < SUSPECTS_MAX)
        suspects->kept++;
    memmove(&worst[at + 1], &worst[at], (suspects->kept - at - 1) * sizeof *worst);
    worst[at] = *suspect;
}

/* Returns the number of drops that the kernel counted for the socket since the reading before. If
 * that reading had no room for all sockets, sockets that it lacks are not compared. */
static uint32_t dropped_since(const struct reading *before, const struct record *record)
{
    const struct remembered_socket *remembered = find_remembered(before, record->identity);

    if (!before || (!remembered && before->sockets.remembered.count == REMEMBERED_MAX))
        return 0;
    return socket_drops(record) - (remembered ? (uint32_t)remembered->number : 0);
}

/* Bits of the remembered number of a listener, above its drops (32 bits; of a unix socket: the
 * inode of the socket that has waited longest): its queue was full, or not empty. */
#define WAS_FULL    (UINT64_C(1) << 32)
#define HAS_WAITING (UINT64_C(1) << 33)

/* Takes a listener. Its queue is full when it has one more connection than its limit. */
static int sockets_take_listener(struct reading *reading, const struct record *record,
                                 enum suspicion why)
{
    struct sockets_reading *sockets = &reading->sockets;
    const struct socket_record *socket = &record->socket;
    const struct remembered_socket *remembered = find_remembered(reading->before, record->identity);
    struct suspect suspect = suspect_of(record);
    const uint32_t limit = (record->has & SOCKET_BACKLOG) ? socket->backlog : socket->send_q;
    const bool full = socket->recv_q > limit;
    const uint32_t drops = why == UNIX_QUEUES ? 0 : socket_drops(record);
    const uint32_t dropped = why == UNIX_QUEUES ? 0 : dropped_since(reading->before, record);
    const bool waits = why == ACCEPT_QUEUES && socket->recv_q;
    uint32_t first = 0;

    if (why == UNIX_QUEUES && record->has & SOCKET_ICONS && socket->waiting.length >= sizeof first)
        memcpy(&first, socket->waiting.data, sizeof first);
    if (waits)
        accepts_take_listener(&sockets->waiting, record, full, dropped,
                              remembered && remembered->number & HAS_WAITING);
    if (!full && !drops && !waits)
        return 0;
    suspect.value = full ? socket->recv_q : dropped;
    suspect.limit = limit;
    suspect.dropped = dropped;
    suspect.was_full = remembered && remembered->number & WAS_FULL;
    if (why == UNIX_QUEUES && record->has & SOCKET_PATH) {
        suspect.path_length = (uint8_t)socket->path.length;
        memcpy(suspect.path, socket->path.data, suspect.path_length);
    }
    suspect.accepted = first && suspect.was_full && (uint32_t)remembered->number &&
                       (uint32_t)remembered->number != first;
    if (full || dropped)
        sockets_add(sockets, full ? why : BURSTS, &suspect);
    return sockets_remember(sockets, record->identity,
                            (full ? WAS_FULL : 0) | (waits ? HAS_WAITING : 0) | drops | first);
}

/* --- TCP -------------------------------------------------------------------------------------- */

static size_t bit_of(const struct address *address)
{
    const struct address plain = address_unmapped(address);

    return hash_bytes(hash_seed(), plain.bytes, sizeof plain.bytes) % HEARD_BITS;
}

bool sockets_heard(const struct sockets_reading *sockets, const struct address *address)
{
    return bits_have(sockets->heard, bit_of(address));
}

/* Returns the milliseconds since anything came from the other end. */
static uint32_t silence_of(const struct kernel_tcp_info *info)
{
    return info->last_ack_recv < info->last_data_recv ? info->last_ack_recv : info->last_data_recv;
}

/* Takes a connection whose data the other end does not acknowledge. LARGE_SEGMENTS: packets come
 * from the other end, so only segments that are too large for the path are lost. Each
 * retransmission doubles the timeout, so after three the data was sent at least 7/8 of the timeout
 * ago: packets of the last 3/4 came later. LARGE_SILENCE: no packets come, and no large segment was
 * ever acknowledged. */
static void take_unacknowledged(struct sockets_reading *sockets, const struct record *record)
{
    const struct kernel_tcp_info info = tcp_info_of(record);
    struct suspect suspect = suspect_of(record);
    const bool silent = silence_of(&info) > SILENT_MS;

    if (info.backoff < BACKOFFS || !(record->has & SOCKET_TCP_INFO))
        return;
    suspect.value = record->socket.send_q;
    suspect.large = info.snd_mss > LARGE_SEGMENT && info.unacked &&
                    (record->socket.send_q - info.notsent_bytes) / info.unacked > LARGE_SEGMENT;
    if (silent && suspect.large && info.bytes_acked < info.snd_mss)
        sockets_add(sockets, LARGE_SILENCE, &suspect);
    else if (silent)
        sockets_add(sockets, SILENT_PEERS, &suspect);
    else if (info.snd_mss > LARGE_SEGMENT && record->socket.send_q >= info.snd_mss &&
             silence_of(&info) < info.rto / 1000 * 3 / 4)
        sockets_add(sockets, LARGE_SEGMENTS, &suspect);
}

/* Takes a connection whose keepalive probes get no answer. */
static void take_unprobed(struct sockets_reading *sockets, const struct record *record,
                          const struct kernel_tcp_info *info)
{
    struct suspect suspect = suspect_of(record);

    suspect.value = suspect.retransmits = info->probes;
    suspect.is_probed = true;
    if (info->probes >= KEEPALIVES && silence_of(info) > SILENT_MS)
        sockets_add(sockets, SILENT_PEERS, &suspect);
}

/* Takes a connection whose peer has closed the window. The window stays closed if nothing was
 * acknowledged since the reading before. */
static int take_probing(struct reading *reading, const struct record *record)
{
    const struct kernel_tcp_info info = tcp_info_of(record);
    const struct remembered_socket *remembered = find_remembered(reading->before, record->identity);
    const uint64_t limited = info.busy_time ? info.rwnd_limited * 100 / info.busy_time : 0;
    struct suspect suspect = suspect_of(record);

    if (!record->socket.send_q || !(record->has & SOCKET_TCP_INFO))
        return 0;
    suspect.value = record->socket.send_q;
    if (limited >= LIMITED_PERCENT && remembered && remembered->number == info.bytes_acked)
        sockets_add(&reading->sockets, CLOSED_WINDOWS, &suspect);
    return sockets_remember(&reading->sockets, record->identity, info.bytes_acked);
}

/* Takes a connection whose own program has read nothing since the reading before, although data
 * waits, so that the other end has to wait. Before Linux 6.2 the kernel does not report the window:
 * then it counts as closed. */
static int take_unread(struct reading *reading, const struct record *record)
{
    const struct kernel_tcp_info info = tcp_info_of(record);
    const struct remembered_socket *remembered = find_remembered(reading->before, record->identity);
    const uint64_t read = info.bytes_received - record->socket.recv_q;
    struct suspect suspect = suspect_of(record);

    if (!(record->has & SOCKET_TCP_INFO) || info.rcv_space > record->socket.recv_q ||
        (info.rcv_wnd && info.rcv_wnd >= info.advmss))
        return 0;
    suspect.value = record->socket.recv_q;
    if (remembered && remembered->number == read)
        sockets_add(&reading->sockets, FULL_BUFFERS, &suspect);
    return sockets_remember(&reading->sockets, record->identity, read);
}

static int held_sockets_add(struct doctor_sockets *held, uint64_t inode, const struct endpoint *end,
                            uint8_t state)
{
    struct doctor_socket *added = ARRAY_ADD(held->list, held->count, held->capacity);

    if (added)
        *added = (struct doctor_socket){.inode = inode, .end = *end, .state = state};
    return added ? 0 : -ENOMEM;
}

/* The remembered number of a connection in CLOSE_WAIT. */
#define UNCLOSED UINT64_MAX

bool sockets_have_unclosed(const struct sockets_reading *sockets, uint64_t cookie)
{
    const struct remembered_socket *remembered =
        hash_table_find_number(&sockets->remembered, sockets_hash_of(cookie), cookie);

    return remembered && remembered->number == UNCLOSED;
}

/* Takes a connection that the other end has closed, some time ago, as its last acknowledgement
 * shows. Young connections are remembered only up to a limit. */
static int take_unclosed(struct reading *reading, const struct record *record,
                         const struct kernel_tcp_info *info)
{
    struct sockets_reading *sockets = &reading->sockets;
    const struct socket_record *socket = &record->socket;
    const bool is_client = sockets->half_open[socket->local.port].backlog;
    const uint64_t port = is_client ? socket->local.port : socket->remote.port;
    const bool is_old = silence_of(info) > UNCLOSED_MS;

    if (!socket->inode || (!is_old && sockets->remembered.count == REMEMBERED_MAX))
        return 0;
    if (held_sockets_add(&sockets->unclosed, socket->inode, &socket->remote, 0) < 0)
        return -ENOMEM;
    struct doctor_socket *added = &sockets->unclosed.list[sockets->unclosed.count - 1];
    added->cookie = record->identity;
    added->is_old = is_old;
    added->silence = silence_of(info);
    added->service = (uint16_t)hash_word(hash_seed(), port << 1 | is_client);
    added->is_kept = silence_of(info) > KEPT_MS && reading->before &&
                     sockets_have_unclosed(&reading->before->sockets, record->identity);
    return sockets_remember(sockets, record->identity, UNCLOSED);
}

/* The newest data of a connection is a query without an answer if it has received nothing since; a
 * FIN counts as a byte. Query and answer may have the same time. An answer acknowledges its query,
 * so an acknowledgement that came alone, a little later, is that of a newer query. Much later it
 * may be that of a keepalive probe. */
static bool dns_is_answered(const struct kernel_tcp_info *info)
{
    const uint32_t later =
        info->last_data_recv > info->last_ack_recv ? info->last_data_recv - info->last_ack_recv : 0;
    const bool is_acknowledged = later >= DNS_ACK_LEAST_MS && later <= DNS_ACK_MOST_MS;

    return info->bytes_received > 1 &&
           (info->last_data_recv < info->last_data_sent ||
            (info->last_data_recv == info->last_data_sent && !is_acknowledged));
}

/* Returns whether a connection to a server of DNS has only begun TLS 1.3, and is kept for later
 * queries: the last message then comes from the client. Its first message fills segments, and the
 * last message has one of its own. A query would take another segment. */
static bool dns_is_kept_ready(uint16_t port, const struct kernel_tcp_info *info)
{
    const uint32_t filled = info->snd_mss ? (uint32_t)(info->bytes_acked / info->snd_mss) : 0;

    return port == DNS_TLS_PORT && info->bytes_received > 1 && info->data_segs_out == 2 + filled;
}

/* Takes a connection to a server of DNS. */
static int sockets_take_dns(struct sockets_reading *sockets, const struct record *record)
{
    const struct socket_record *socket = &record->socket;
    const struct kernel_tcp_info info = tcp_info_of(record);
    const uint64_t syns =
        socket->retransmits > socket->timer_count ? socket->retransmits : socket->timer_count;
    const bool is_answered = dns_is_answered(&info);
    enum dns_connection state = DNS_ANSWERED;

    if (sockets->dns_connections.count == DNS_CONNECTIONS || !socket->inode)
        return 0;
    if (socket->state == TCP_SYN_SENT && syns)
        state = syns < SYNS ? DNS_WAITS : DNS_HANGS;
    else if (socket->state != TCP_ESTABLISHED || !(record->has & SOCKET_TCP_INFO) ||
             (!is_answered && (info.bytes_acked <= 1 || info.last_data_sent < DNS_WAITS_MS ||
                               dns_is_kept_ready(socket->remote.port, &info))))
        return 0;
    else if (!is_answered)
        state = info.last_data_sent < DNS_HANGS_MS ? DNS_WAITS : DNS_HANGS;
    return held_sockets_add(&sockets->dns_connections, socket->inode, &socket->remote,
                            (uint8_t)state);
}

static void note_answered(uint64_t bits[ANSWERED_BITS / 64], const struct address *address)
{
    bits_add(bits, bit_of(address) % ANSWERED_BITS);
}

bool sockets_have_many(const struct sockets_reading *sockets)
{
    return bits_count(sockets->answered, ANSWERED_BITS / 64) >= ANSWERED_LEAST;
}

/* Returns whether the destination is a listener of this machine whose queue is full, or may be. */
static bool has_full_queue(const struct sockets_reading *sockets, const struct address *from,
                           const struct endpoint *to)
{
    static const enum suspicion full[] = {ACCEPT_QUEUES, BURSTS};
    bool has_full = sockets->half_open[to->port].may_be_full;

    if (!address_is_loopback(&to->address) && !address_equal(&to->address, from))
        return false;
    for (size_t i = 0; i < COUNT(full); i++)
        for (size_t j = 0; j < sockets->suspects[full[i]].kept; j++)
            has_full |= sockets->suspects[full[i]].worst[j].local.port == to->port;
    return has_full;
}

/* Takes a connection whose SYNs get no answer. If it waits for a listener of this machine whose
 * queue is full, that listener is the finding; if the queue may be full, there is none. One
 * repeated SYN is enough if programs have given up other attempts before. */
static void take_unanswered(struct reading *reading, const struct record *record)
{
    struct sockets_reading *sockets = &reading->sockets;
    const struct socket_record *socket = &record->socket;
    const struct sockets_reading *before = reading->before ? &reading->before->sockets : NULL;
    const bool were_given_up = before &&
                               attempts_waited(&before->attempts, &socket->remote) >= GIVEN_UP_MS &&
                               !sockets_have_many(before);
    struct suspect suspect = suspect_of(record);

    sockets->connecting[bit_of(&socket->remote.address) % CONNECTING_SLOTS] =
        (struct doctor_socket){.inode = socket->inode, .end = socket->remote};
    suspect.value =
        socket->retransmits > socket->timer_count ? socket->retransmits : socket->timer_count;
    if (suspect.value < (were_given_up ? 1 : SYNS) ||
        has_full_queue(sockets, &socket->local.address, &socket->remote))
        return;
    note_answered(sockets->unanswered, &socket->remote.address);
    sockets_add(sockets, NO_ANSWERS, &suspect);
}

void sockets_take_attempts(struct sockets_reading *sockets, const struct sockets_reading *before)
{
    const struct attempts *attempts = &before->attempts;

    for (size_t i = 0; i < ATTEMPT_SLOTS; i++) {
        const struct busy *slot = &attempts->slots[i];
        const struct given_up *given_up = &attempts->of[i];
        struct suspect suspect = {.value = given_up->repeats,
                                  .retransmits = given_up->repeats,
                                  .remote = {slot->key.remote, slot->key.port},
                                  .given_up = (uint32_t)slot->count,
                                  .pid = given_up->pid};
        if (!attempts_are_silent(attempts, i, &sockets->attempts, sockets_have_many(before)) ||
            has_full_queue(sockets, &given_up->from, &suspect.remote))
            continue;
        memcpy(suspect.process, given_up->process, sizeof suspect.process);
        note_answered(sockets->unanswered, &suspect.remote.address);
        sockets_add(sockets, NO_ANSWERS, &suspect);
        sockets->suspects[NO_ANSWERS].count += slot->count - 1;
    }
}

/* Counts connections by destination, because each uses a port of the ephemeral range. But the
 * kernel may give the port of a connection in TIME_WAIT to a new connection, a second after the
 * last segment (net.ipv4.tcp_tw_reuse): always, or only within this machine. */
static int count_ports(struct reading *reading, const struct socket_record *socket)
{
    struct sockets_reading *sockets = &reading->sockets;
    const uint64_t reuse =
        reading->counts.known[TIME_WAIT_REUSE] ? reading->counts.numbers[TIME_WAIT_REUSE] : 1;

    if (!is_ephemeral_port(reading, socket->local.port) || !socket->remote.port)
        return 0;
    const struct destination key = {
        .local = address_unmapped(&socket->local.address),
        .remote = address_unmapped(&socket->remote.address),
        .port = socket->remote.port,
    };
    if (socket->state == TCP_TIME_WAIT) {
        if (reuse == 1 || (reuse == 2 && address_is_loopback(&key.remote)))
            return 0;
        if (!sockets->storms && !(sockets->storms = calloc(1, sizeof *sockets->storms)))
            return -ENOMEM;
        storms_take(sockets->storms, &key, socket->timer_ms);
    }
    busiest_add(sockets->busiest, BUSIEST_SLOTS, &key);
    return 0;
}

/* A bit of a remembered number: the other bits are the time when the connection was first seen. */
#define UNACCEPTED (UINT64_C(1) << 63)

/* Takes a connection that the listener has not accepted yet. */
static int take_unaccepted(struct reading *reading, const struct record *record,
                           struct waiting_listener *listener)
{
    const struct remembered_socket *remembered = find_remembered(reading->before, record->identity);
    const bool waited = remembered && remembered->number & UNACCEPTED;
    const uint64_t since = waited ? remembered->number & ~UNACCEPTED : reading->at;

    if (waited || record->has & SOCKET_TCP_INFO)
        accepts_count(listener, accepts_waited(record, reading->at, since), waited);
    return sockets_remember(&reading->sockets, record->identity, since | UNACCEPTED);
}

/* Keeps the connections that received most segments, in no order. */
static void take_receiver(struct busy_receiver receivers[RECEIVERS], uint64_t cookie,
                          uint32_t segments)
{
    struct busy_receiver *least = receivers;

    for (size_t i = 1; i < RECEIVERS; i++)
        if (receivers[i].segments < least->segments)
            least = &receivers[i];
    if (segments > least->segments)
        *least = (struct busy_receiver){cookie, segments};
}

static int take_connection(struct reading *reading, const struct record *record)
{
    const struct socket_record *socket = &record->socket;
    const struct kernel_tcp_info info = tcp_info_of(record);
    const bool is_half_closed = socket->state == TCP_CLOSE_WAIT;
    struct waiting_listener *listener = socket->state == TCP_ESTABLISHED || is_half_closed
                                            ? accepts_find(&reading->sockets.waiting, socket)
                                            : NULL;

    if (record->has & SOCKET_TCP_INFO && silence_of(&info) <= SILENT_MS)
        bits_add(reading->sockets.heard, bit_of(&socket->remote.address));
    if (info.bytes_acked)
        bits_add(reading->sockets.attempts.ports, socket->remote.port);
    if (record->has & SOCKET_TCP_INFO)
        take_receiver(reading->sockets.receivers, record->identity, info.segs_in);
    if (paths_take(reading, record, &info) < 0)
        return -ENOMEM;
    if (listener)
        return take_unaccepted(reading, record, listener);
    if (socket->timer == TIMER_RETRANSMIT)
        take_unacknowledged(&reading->sockets, record);
    if (socket->timer == TIMER_KEEPALIVE)
        take_unprobed(&reading->sockets, record, &info);
    if (socket->timer == TIMER_PROBE) /* in CLOSE_WAIT, too, the program still sends */
        return take_probing(reading, record);
    if (is_half_closed)
        return take_unclosed(reading, record, &info);
    /* after shutdown(2), the other end may still send; an orphan has no program that reads */
    if (socket->recv_q &&
        (socket->state == TCP_ESTABLISHED || (socket->state == TCP_FIN_WAIT2 && socket->inode)))
        return take_unread(reading, record);
    return 0;
}

/* The timeout of a half-open connection begins at 1 s, and doubles each time. The kernel sends no
 * SYN-ACK again if the peer has acknowledged the SYN-ACK, but the listener waits for its data
 * (TCP_DEFER_ACCEPT of tcp(7); syn_ack_recalc() of the kernel's net/ipv4/inet_connection_sock.c).
 * So there were more timeouts, which /proc counts, than SYN-ACKs, which sock_diag counts; or the
 * timeout is longer than their number allows. */
static bool is_deferred(const struct record *record)
{
    enum { FIRST_MS = 1100, SHIFTS_MAX = 16 };
    const struct socket_record *socket = &record->socket;
    const uint32_t sent = socket->timer_count;

    return record->has & SOCKET_TIMER_COUNT && sent < SHIFTS_MAX &&
           ((record->has & SOCKET_RETRANSMITS && socket->retransmits > sent) ||
            socket->timer_ms > (uint64_t)FIRST_MS << sent);
}

static int take_tcp(struct reading *reading, const struct record *record)
{
    struct sockets_reading *sockets = &reading->sockets;
    const struct socket_record *socket = &record->socket;

    if (socket->state == TCP_LISTEN) {
        /* without cookies, a quarter is reserved for known peers: tcp_conn_request() */
        const uint64_t most = reading->counts.known[SYN_BACKLOG] &&
                                      reading->counts.known[SYNCOOKIES] &&
                                      !reading->counts.numbers[SYNCOOKIES]
                                  ? reading->counts.numbers[SYN_BACKLOG] / 4 * 3
                                  : UINT64_MAX;
        struct half_open_queue *half_open = &sockets->half_open[socket->local.port];
        if (!(record->has & SOCKET_BACKLOG)) {
            half_open->may_be_full |= socket->recv_q != 0;
            return 0;
        }
        half_open->backlog += socket->backlog < most ? socket->backlog : (uint32_t)most;
        return sockets_take_listener(reading, record, ACCEPT_QUEUES);
    }
    if (count_ports(reading, socket) < 0)
        return -ENOMEM;
    if ((socket->remote.port == DNS_PORT || socket->remote.port == DNS_TLS_PORT) &&
        sockets_take_dns(sockets, record) < 0)
        return -ENOMEM;
    switch (socket->state) {
    case TCP_SYN_RECV:
        sockets->half_open[socket->local.port].count++;
        sockets->half_open[socket->local.port].deferred += is_deferred(record);
        sockets->half_open_count++;
        return 0;
    case TCP_SYN_SENT:
        take_unanswered(reading, record);
        return 0;
    case TCP_CLOSE_WAIT:
        /* those that nobody closes wait for nothing: they would hide a peer that is gone */
        sockets->connections += socket->timer != TIMER_OFF;
        return take_connection(reading, record);
    case TCP_TIME_WAIT:
        return 0;
    default:
        sockets->connections++;
        return take_connection(reading, record);
    }
}

/* --- UDP -------------------------------------------------------------------------------------- */

bool socket_has_received(const struct record *record)
{
    return !(record->has & SOCKET_MEMORY) || record->socket.recv_q ||
           socket_memory(record, SK_MEMINFO_FWD_ALLOC);
}

/* Returns whether a process may ask servers of DNS with a socket that has received data before, or
 * is a resolver: its sockets may be closed before the doctor sees a query. */
static bool may_ask_again(const struct record *record)
{
    const struct socket_record *socket = &record->socket;

    return socket->local.port == DNS_PORT ||
           ((socket->remote.port == DNS_PORT ||
             (!socket->remote.port && socket->local.port >= IPPORT_RESERVED)) &&
            socket_has_received(record));
}

/* A socket that is connected to a DNS server waits for an answer if it has never received
 * anything. */
static int sockets_take_queries(struct reading *reading, const struct record *record)
{
    struct sockets_reading *sockets = &reading->sockets;
    const struct socket_record *socket = &record->socket;

    if (!socket->inode || !(record->has & SOCKET_MEMORY))
        return 0;
    if (socket->local.port == DNS_PORT)
        return held_sockets_add(&sockets->resolvers, socket->inode, &socket->local,
                                socket->recv_q ? DNS_QUERIES_WAIT : 0);
    return !socket_has_received(record) && find_remembered(reading->before, record->identity)
               ? held_sockets_add(&sockets->queries, socket->inode, &socket->remote, 0)
               : 0;
}

/* Takes a UDP socket. The kernel counts the datagrams that did not fit into its buffer. */
static int take_udp(struct reading *reading, const struct record *record)
{
    struct sockets_reading *sockets = &reading->sockets;
    const struct address *local = &record->socket.local.address;
    const bool asks = record->socket.remote.port == DNS_PORT;
    const uint32_t drops = socket_drops(record);
    struct suspect suspect = suspect_of(record);

    if (sockets->only_queries)
        return asks && !find_remembered(reading, record->identity)
                   ? sockets_remember(sockets, record->identity, 0)
                   : 0;
    sockets->may_ask |= may_ask_again(record);
    suspect.value = dropped_since(reading->before, record);
    suspect.limit = socket_memory(record, SK_MEMINFO_RCVBUF);
    suspect.multicast =
        local->family == AF_INET ? (local->bytes[0] & 0xf0) == 0xe0 : local->bytes[0] == 0xff;
    if (suspect.value)
        sockets_add(sockets, UDP_DROPS, &suspect);
    if ((asks || record->socket.local.port == DNS_PORT) &&
        sockets_take_queries(reading, record) < 0)
        return -ENOMEM;
    return asks || drops ? sockets_remember(sockets, record->identity, drops) : 0;
}

bool sockets_dns_answers(const struct sockets_reading *sockets, const struct address *server)
{
    return bits_have(sockets->dns_answers, bit_of(server) % ANSWERED_BITS);
}

/* If several clients have the same hash, only the first is remembered. */
int sockets_take_query(struct reading *reading, const struct record *record)
{
    struct sockets_reading *sockets = &reading->sockets;
    const struct flow_tuple *tuple = &record->flow.way[WAY_ORIG].tuple;
    struct dns_client *client = &sockets->clients[bit_of(&tuple->src) % DNS_CLIENTS];
    const uint32_t status = record->flow.status;

    if (status & IPS_SEEN_REPLY)
        note_answered(sockets->dns_answers, &tuple->dst);
    if (client->address.family == AF_UNSPEC)
        client->address = tuple->src;
    if (!address_equal(&client->address, &tuple->src))
        return 0;
    client->answered |= status & IPS_SEEN_REPLY;
    if (client->answered)
        return 0;
    if (find_remembered(reading->before, record->identity)) {
        if (!client->waiting)
            client->server = tuple->dst;
        client->is_translated |= status & IPS_DST_NAT;
        client->waiting += address_equal(&client->server, &tuple->dst);
    }
    return sockets_remember(sockets, record->identity, 0);
}

static void count_process(struct busy *slots, struct refused_process *processes,
                          const struct destination *key, const struct socket_origin *origin)
{
    const struct busy *slot = busiest_add(slots, REFUSED_SLOTS, key);

    if (!slot)
        return;
    processes[slot - slots].pid = origin->pid;
    memcpy(processes[slot - slots].process, origin->name, sizeof processes->process);
}

/* Takes a connection to a server of DNS that has ended. */
static void take_dns_ended(struct sockets_reading *sockets, const struct destination *server,
                           const struct kernel_tcp_info *info, const struct socket_origin *origin)
{
    const bool is_open = info->bytes_acked > 1; /* not only the SYN was acknowledged */
    const bool is_answered = dns_is_answered(info);
    const bool waited =
        is_open ? info->last_data_sent >= DNS_WAITS_MS : info->total_retrans && !info->bytes_acked;
    const bool hung =
        is_open ? info->last_data_sent >= DNS_HANGS_MS : waited && info->total_retrans >= SYNS;

    if ((is_answered || hung) && sockets->dns_connections.count < DNS_CONNECTIONS)
        (void)held_sockets_add(&sockets->dns_connections, 0,
                               &(struct endpoint){server->remote, server->port},
                               is_answered ? DNS_ENDED : DNS_HANGS);
    if (waited && !is_answered)
        count_process(sockets->given_up, sockets->given_up_processes, server, origin);
    else if (origin->error == ECANCELED && !info->bytes_acked)
        count_process(sockets->cut_short, sockets->cut_short_processes, server, origin);
}

/* Returns whether the ports are those of a connection that this machine began. */
static bool is_outgoing(const struct reading *reading, const struct socket_record *socket)
{
    const uint64_t first = reading->counts.numbers[PORT_FIRST];

    return reading->counts.known[PORT_FIRST] && socket->local.port >= first &&
           socket->remote.port < first;
}

/* Takes a socket whose connection failed: nothing was acknowledged, not even the SYN, and nothing
 * came. If connect(2) waited for the answer, the port is known only if a probe noted the call, and
 * then the process is known, too. */
void sockets_take_destroyed(struct reading *reading, const struct record *record)
{
    struct sockets_reading *sockets = &reading->sockets;
    const struct destination key = {.remote = address_unmapped(&record->socket.remote.address),
                                    .port = record->socket.remote.port};
    const struct kernel_tcp_info info = tcp_info_of(record);
    struct socket_origin origin = {.pid = 0};

    if (record->has & SOCKET_ORIGIN)
        memcpy(&origin, record->socket.origin.data, sizeof origin);
    if (key.port != DNS_PORT && key.port != DNS_TLS_PORT) /* those have the rule dns */
        attempts_take_ended(&sockets->attempts, record, &origin);
    if (origin.pid && !origin.error)
        storms_take_ended(&sockets->ended, &record->socket.remote, &origin);
    if (info.bytes_acked && is_outgoing(reading, &record->socket))
        note_answered(sockets->answered, &record->socket.remote.address);
    if (record->has & SOCKET_TCP_INFO)
        paths_take_ended(&sockets->paths, record, &info, clock_nanoseconds(CLOCK_MONOTONIC));
    if (record->has & SOCKET_TCP_INFO && (key.port == DNS_PORT || key.port == DNS_TLS_PORT) &&
        (dns_is_answered(&info) || !dns_is_kept_ready(key.port, &info)))
        take_dns_ended(sockets, &key, &info, &origin);
    if (!(record->has & SOCKET_TCP_INFO) || info.bytes_acked || info.bytes_received ||
        address_is_unspecified(&key.remote))
        return;
    /* nobody refused an attempt that was given up, or that found no port */
    if ((origin.pid && !origin.error) || origin.error == EADDRNOTAVAIL || origin.error == ECANCELED)
        return;
    if (origin.closed)
        sockets->uncounted++;
    else if (origin.error < CONNECT_ERRNOS)
        sockets->failed[origin.error]++;
    count_process(sockets->refused, sockets->refused_processes, &key, &origin);
    bits_add(sockets->refusing, (bit_of(&key.remote) + key.port) % ANSWERED_BITS);
}

/* Returns the needs that a row from a file does not meet. */
static unsigned lacks(const struct record *record)
{
    static const unsigned connected = 1u << TCP_ESTABLISHED | 1u << TCP_FIN_WAIT1 |
                                      1u << TCP_CLOSE_WAIT | 1u << TCP_LAST_ACK | 1u << TCP_CLOSING;
    const struct socket_record *socket = &record->socket;
    const bool informed = socket->state <= TCP_CLOSING && connected >> socket->state & 1;

    if (socket->protocol == IPPROTO_UDP)
        return ((record->has & SOCKET_DROPS) ? 0 : READS_UDP) |
               ((record->has & SOCKET_MEMORY) ? 0 : READS_QUERIES);
    if (socket->protocol != IPPROTO_TCP)
        return socket->state != TCP_LISTEN || record->has & SOCKET_QUEUES ? 0 : READS_UNIX;
    if (socket->state == TCP_LISTEN)
        return (record->has & SOCKET_BACKLOG) ? 0 : READS_TCP_INFO;
    return informed && !(record->has & SOCKET_TCP_INFO) ? READS_TCP_INFO : 0;
}

int sockets_take(struct reading *reading, const struct record *record)
{
    const struct socket_record *socket = &record->socket;
    const unsigned lacking = lacks(record);

    reading->lacking |= lacking;
    reading->listed += socket->inode != 0;
    if (socket->protocol == IPPROTO_TCP)
        return take_tcp(reading, record);
    if (socket->protocol == IPPROTO_UDP)
        return take_udp(reading, record);
    return lacking || socket->state != TCP_LISTEN
               ? 0
               : sockets_take_listener(reading, record, UNIX_QUEUES);
}
