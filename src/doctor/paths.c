/* SPDX-License-Identifier: MIT */
#include "doctor/paths.h"

#include <errno.h>
#include <stddef.h>

#include "doctor/reading.h"
#include "fastnet/clock.h"
#include "fastnet/hash.h"

enum {
    SENDER_LEAST = 256, /* segments: connections that sent fewer and repeated none are forgotten */
    TIMED_LEAST = 5,    /* segments with data, so that a single delayed answer does not count */
    UNANSWERED = 2,     /* timeouts in a row: the peer may be gone */
    HEARD_MS = 2000,    /* longer than UNANSWERED timeouts take at first */
};

/* --- Connections ------------------------------------------------------------------------------ */

/* Segments that were retransmitted because the path lost them. Not counted: segments that the peer
 * already had (D-SACK), as after a tail loss probe; segments that are not acknowledged yet, because
 * the peer may be gone; and SYNs, which have no data. */
static uint32_t sender_lost(const struct kernel_tcp_info *info)
{
    const uint32_t needless = info->dsack_dups + info->retransmits;

    return info->bytes_retrans && info->total_retrans > needless ? info->total_retrans - needless
                                                                 : 0;
}

static uint64_t sender_hash(uint64_t cookie)
{
    return hash_word(hash_seed(), cookie);
}

static const struct sender *sender_find(const struct paths_reading *paths, uint64_t cookie)
{
    return hash_table_find_number(&paths->senders, sender_hash(cookie), cookie);
}

static int sender_remember(struct paths_reading *paths, uint64_t cookie,
                           const struct kernel_tcp_info *info)
{
    const uint32_t lost = sender_lost(info);
    struct sender *sender;

    if (!cookie || (!info->total_retrans && info->data_segs_out < SENDER_LEAST) ||
        paths->senders.count == SENDERS_MAX)
        return 0;
    sender = hash_table_add(&paths->senders, sender_hash(cookie), sizeof *sender);
    if (!sender)
        return -ENOMEM;
    *sender = (struct sender){cookie,
                              info->data_segs_out,
                              lost,
                              info->total_retrans,
                              info->total_rto,
                              info->total_rto_recoveries,
                              info->retransmits};
    return 0;
}

/* Returns how many segments can be lost at the same time, because a queue overflows or a device
 * roams: at most a window. Such a loss reduces the window, by less than half. */
static uint64_t lost_at_once(const struct kernel_tcp_info *info)
{
    const uint32_t threshold =
        info->snd_ssthresh < TCP_SSTHRESH_NONE ? info->snd_ssthresh : info->snd_cwnd;

    return UINT64_C(2) * (threshold > info->snd_cwnd ? threshold : info->snd_cwnd);
}

/* Adds what a connection sent and lost since the reading `before`. A connection that this reading
 * lacks is new, or had sent little: then all of it counts. */
static void path_count(struct path_counts *counts, const struct sender *before,
                       const struct kernel_tcp_info *info)
{
    static const struct sender none;
    const struct sender *from = before ? before : &none;
    const uint32_t lost = sender_lost(info);
    const uint32_t more = lost > from->lost ? lost - from->lost : 0;
    /* times of repeated timeouts: one may have begun before the reading */
    const uint16_t times =
        (uint16_t)(info->total_rto_recoveries - from->recoveries + (from->retransmits > 0));
    const uint16_t timeouts = (uint16_t)(info->total_rto - from->timeouts + from->retransmits);

    /* repeated timeouts: for a time nothing passed, which is another problem than a lossy path */
    if (info->retransmits >= UNANSWERED || (times && timeouts >= UNANSWERED * times)) {
        counts->silent++;
        counts->unsure += info->total_retrans - from->lost;
        counts->outage += !info->retransmits && times == 1 && more <= lost_at_once(info) ? more : 0;
        return;
    }
    counts->sent += info->data_segs_out - from->sent;
    counts->sent_before += from->sent;
    counts->lost_before += from->lost;
    counts->lost += more;
    counts->lossy += more > 0;
    counts->steady += more > lost_at_once(info);
}

/* Adds what a connection retransmitted since the reading `before`, and since the peer acknowledged
 * nothing any more: a segment at each timeout, and a tail loss probe before the first. */
static void path_count_unanswered(struct path_counts *counts, const struct sender *before,
                                  const struct kernel_tcp_info *info)
{
    const uint32_t more = info->total_retrans - (before ? before->repeated : 0);
    const uint32_t most = info->retransmits + UINT32_C(1);

    if (info->retransmits >= UNANSWERED)
        counts->unanswered += more < most ? more : most;
    else if (!info->retransmits && info->last_ack_recv < HEARD_MS)
        counts->heard++;
}

/* --- Paths ------------------------------------------------------------------------------------ */

static bool path_has_key(const void *element, const void *key)
{
    const struct path_key *a = &((const struct path *)element)->key, *b = key;

    return a->port == b->port && a->is_client == b->is_client && address_equal(&a->peer, &b->peer);
}

/* Returns NULL if memory is short, or if there are PATHS_MAX others. */
static struct path *path_find(struct paths_reading *paths, const struct path_key *key)
{
    const uint64_t hash =
        hash_bytes(hash_word(hash_seed(), UINT64_C(2) * key->port + key->is_client),
                   key->peer.bytes, sizeof key->peer.bytes);
    struct path *path = hash_table_find(&paths->paths, hash, path_has_key, key);

    if (path || paths->paths.count == PATHS_MAX)
        return path;
    path = hash_table_add(&paths->paths, hash, sizeof *path);
    if (path)
        path->key = *key;
    return path;
}

/* Returns whether the kernel reports enough about the path: Linux 4.19 is the first. A peer without
 * SACK cannot say that a retransmission was needless. */
static bool path_is_measured(const struct record *record, const struct kernel_tcp_info *info)
{
    return record->socket.info.length >=
               offsetof(struct kernel_tcp_info, dsack_dups) + sizeof info->dsack_dups &&
           info->options & TCP_OPTION_SACK;
}

/* Returns whether the packets leave this network namespace. */
static bool path_leaves(const struct socket_record *socket, const struct address *peer)
{
    return !address_is_loopback(peer) &&
           !address_equal(&socket->local.address, &socket->remote.address);
}

static void path_take_rtt(struct path *path, const struct kernel_tcp_info *info)
{
    if (info->data_segs_out < TIMED_LEAST || !info->min_rtt || info->min_rtt == UINT32_MAX)
        return;
    path->timed++;
    if (!path->rtt || info->min_rtt < path->rtt)
        path->rtt = info->min_rtt;
}

/* Returns whether all that this connection did since the reading before is known. */
static bool sender_is_known(const struct paths_reading *before, const struct sender *sender)
{
    return sender || (before->knows_ended && before->senders.count < SENDERS_MAX);
}

int paths_take(struct reading *reading, const struct record *record,
               const struct kernel_tcp_info *info)
{
    struct paths_reading *paths = &reading->sockets.paths;
    const struct socket_record *socket = &record->socket;
    const struct paths_reading *before = reading->before ? &reading->before->sockets.paths : NULL;
    const struct address peer = address_unmapped(&socket->remote.address);

    if (!paths->is_wanted || !path_leaves(socket, &peer))
        return 0;
    if (before || paths->is_only) {
        const bool is_client = reading->sockets.half_open[socket->local.port].backlog;
        struct path *path = path_find(
            paths, &(struct path_key){peer, is_client,
                                      is_client ? socket->local.port : socket->remote.port});
        const struct sender *sender = before ? sender_find(before, record->identity) : NULL;
        if (path && path_is_measured(record, info) && before) {
            path_count_unanswered(&path->counts, sender, info);
            if (sender_is_known(before, sender))
                path_count(&path->counts, sender, info);
        }
        if (path)
            path_take_rtt(path, info);
    }
    return path_is_measured(record, info) ? sender_remember(paths, record->identity, info) : 0;
}

void paths_take_ended(struct paths_reading *paths, const struct record *record,
                      const struct kernel_tcp_info *info, uint64_t now)
{
    const struct path_key key = {.peer = address_unmapped(&record->socket.remote.address)};
    struct path *path = paths->is_wanted && path_is_measured(record, info) &&
                                path_leaves(&record->socket, &key.peer)
                            ? path_find(paths, &key)
                            : NULL;

    const uint32_t lossy = path ? path->counts.lossy : 0;

    if (!path)
        return;
    path_count_unanswered(&path->counts, sender_find(paths, record->identity), info);
    path_count(&path->counts, sender_find(paths, record->identity), info);
    if (path->counts.lossy > lossy)
        path->counts.seconds |= UINT32_C(1) << now / CLOCK_SECOND % 32;
}

void paths_trim(struct paths_reading *paths)
{
    hash_table_finish(&paths->paths);
}

void paths_finish(struct paths_reading *paths)
{
    paths_trim(paths);
    hash_table_finish(&paths->senders);
}
