/* SPDX-License-Identifier: MIT */
/* Paths to other machines that differ from the paths to machines like them: segments are lost on
 * the way to one peer or network, or its round-trip time is much longer. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "doctor/rules.h"
#include "fastnet/hash.h"

/* --- Networks --------------------------------------------------------------------------------- */

enum { NETWORK4 = 24, NETWORK6 = 64, HOST4 = 32, HOST6 = 128 };

static bool is_ipv4(const struct address *address)
{
    return address->family == AF_INET;
}

/* Returns the network of the address with this prefix. */
static struct network network_of(const struct address *address, uint8_t prefix)
{
    struct network network = {*address, prefix};

    for (size_t i = prefix / 8; i < sizeof address->bytes; i++)
        network.address.bytes[i] &= i == prefix / 8 ? (uint8_t) ~(0xff >> prefix % 8) : 0;
    return network;
}

static struct network peer_network(const struct address *peer)
{
    return network_of(peer, is_ipv4(peer) ? NETWORK4 : NETWORK6);
}

static struct network peer_host(const struct address *peer)
{
    return (struct network){*peer, is_ipv4(peer) ? HOST4 : HOST6};
}

static bool network_is_host(const struct network *network)
{
    return network->prefix == (is_ipv4(&network->address) ? HOST4 : HOST6);
}

/* What a group of paths has in common. The port is 0 if it does not matter. */
struct group_key {
    struct network network;
    bool is_client;
    uint16_t port;
};

static bool group_has_key(const void *element, const void *key)
{
    const struct group_key *a = element, *b = key;

    return a->port == b->port && a->is_client == b->is_client &&
           a->network.prefix == b->network.prefix &&
           address_equal(&a->network.address, &b->network.address);
}

/* Returns the group with this key, or adds it. All groups of a table have `size` bytes and begin
 * with their key; the rest of a new group is all zeroes. Returns NULL if memory is short. */
static void *group_add(struct hash_table *groups, size_t size, const struct group_key *key)
{
    const uint64_t port = UINT64_C(2) * key->port + key->is_client;
    const uint64_t seed = hash_word(hash_seed(), port << 8 | key->network.prefix);
    const uint64_t hash = hash_bytes(seed, key->network.address.bytes, 16);
    struct group_key *group = hash_table_find(groups, hash, group_has_key, key);

    if (!group && (group = hash_table_add(groups, hash, size)))
        *group = *key;
    return group;
}

static void take_shortest(uint32_t *shortest, uint32_t rtt)
{
    if (rtt && (!*shortest || rtt < *shortest))
        *shortest = rtt;
}

static const char *network_text(char text[TEXT_NETWORK_MAX + 1], const struct network *network)
{
    *(network_is_host(network) ? text_address(text, &network->address)
                               : text_network(text, network)) = '\0';
    return text;
}

/* --- Loss ------------------------------------------------------------------------------------- */

/* Percentages are those of segments with data. A busy path usually loses less than one percent. A
 * loss that continues was there before the first reading, too. A loss that is new must be larger,
 * and must be spread over time: connections that are open at the same time may lose segments in
 * one moment. */
enum {
    LOSS_PERCENT = 1,
    LOSS_LEAST = 3,   /* segments between the readings */
    LOSS_BEFORE = 10, /* segments before */
    LOSS_NEW_PERCENT = 2,
    LOSS_NEW = 20,
    LOSS_SECONDS = 3,  /* number of seconds in which lossy connections ended */
    LOSS_CLEANER = 10, /* to other peers, the percentage is at most a tenth */
    LOSS_SHARE = 5,    /* a network is lossy if a fifth is not lost by its worst peer */
    LOSSES_KEPT = 4,
};

/* Paths to a peer or to a network. */
struct loss_group {
    struct group_key key;
    uint32_t rtt; /* the shortest, in microseconds; 0: unknown */
    struct path_counts counts;
    uint64_t worst; /* the part of counts.lost that the worst peer has; only for networks */
};

/* Where segments are lost. */
struct losses {
    struct loss_group worst[LOSSES_KEPT]; /* the worst first */
    size_t count, kept;
    struct path_counts total;
};

static bool is_lossy(const struct loss_group *group)
{
    const struct path_counts *counts = &group->counts;
    const bool was_lossy = counts->lost_before >= LOSS_LEAST &&
                           reaches(counts->lost_before, LOSS_PERCENT, counts->sent_before);
    const bool is_new =
        counts->lost >= LOSS_NEW && reaches(counts->lost, LOSS_NEW_PERCENT, counts->sent) &&
        (was_lossy || counts->steady || __builtin_popcount(counts->seconds) >= LOSS_SECONDS);

    return counts->silent < counts->lossy && counts->lost >= LOSS_LEAST &&
           reaches(counts->lost, LOSS_PERCENT, counts->sent) &&
           ((was_lossy && counts->lost_before >= LOSS_BEFORE) || is_new);
}

/* Returns whether several peers of a network lose segments. */
static bool is_lossy_network(const struct loss_group *group)
{
    return !network_is_host(&group->key.network) && is_lossy(group) &&
           (group->counts.lost - group->worst) * LOSS_SHARE >= group->counts.lost;
}

static void counts_add(struct path_counts *counts, const struct path_counts *more)
{
    counts->sent += more->sent;
    counts->lost += more->lost;
    counts->unsure += more->unsure;
    counts->outage += more->outage;
    counts->unanswered += more->unanswered;
    counts->heard += more->heard;
    counts->sent_before += more->sent_before;
    counts->lost_before += more->lost_before;
    counts->lossy += more->lossy;
    counts->seconds |= more->seconds;
    counts->steady += more->steady;
    counts->silent += more->silent;
}

/* Adds the path to the group of its peer or network. Returns NULL if memory is short. */
static struct loss_group *losses_add(struct hash_table *groups, const struct network *network,
                                     const struct path *path)
{
    struct loss_group *group =
        group_add(groups, sizeof *group, &(struct group_key){.network = *network});

    if (group) {
        counts_add(&group->counts, &path->counts);
        take_shortest(&group->rtt, path->rtt);
    }
    return group;
}

/* Groups paths by peer and by network. Returns 0 or -ENOMEM. */
static int losses_group(struct hash_table *groups, const struct hash_table *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        const struct path *path = hash_table_at(paths, i);
        const struct network host = peer_host(&path->key.peer),
                             around = peer_network(&path->key.peer);
        const struct loss_group *peer = losses_add(groups, &host, path);
        const uint64_t lost = peer ? peer->counts.lost : 0;
        struct loss_group *network = peer ? losses_add(groups, &around, path) : NULL;
        if (!network)
            return -ENOMEM;
        network->worst = lost > network->worst ? lost : network->worst;
    }
    return 0;
}

/* Returns whether the group is named: a lossy network, or a lossy peer of another network. */
static bool is_culprit(struct hash_table *groups, const struct loss_group *group)
{
    const struct group_key key = {.network = peer_network(&group->key.network.address)};

    return network_is_host(&group->key.network)
               ? is_lossy(group) && !is_lossy_network(group_add(groups, sizeof *group, &key))
               : is_lossy_network(group);
}

static void losses_keep(struct losses *losses, const struct loss_group *group)
{
    size_t at = losses->kept;

    losses->count++;
    counts_add(&losses->total, &group->counts);
    while (at > 0 && losses->worst[at - 1].counts.lost < group->counts.lost)
        at--;
    if (at == LOSSES_KEPT)
        return;
    losses->kept += losses->kept < LOSSES_KEPT;
    memmove(&losses->worst[at + 1], &losses->worst[at],
            (losses->kept - at - 1) * sizeof *losses->worst);
    losses->worst[at] = *group;
}

/* Returns whether most segments of this network namespace go elsewhere, where hardly any are lost.
 * If not, this machine or its link may lose them, which the rule retransmissions reports.
 * sent: by all connections, also before the first reading if they had sent little. */
static bool losses_are_local(const struct losses *losses, const struct segments *moved,
                             uint64_t sent)
{
    const uint64_t again = moved->retransmitted - moved->needless;
    const uint64_t here = losses->total.lost + losses->total.unsure;
    const double rest =
        (double)(sent > moved->all ? sent : moved->all) - (double)losses->total.sent;
    const double rest_lost = again > here ? (double)(again - here) : 0;

    return losses->total.lost && rest >= (double)losses->total.sent &&
           rest_lost * (double)losses->total.sent * LOSS_CLEANER <=
               (double)losses->total.lost * rest;
}

static struct path_counts counts_of(const struct hash_table *paths, const struct hash_table *ended)
{
    struct path_counts all = {.sent = 0};

    for (size_t i = 0; i < paths->count; i++)
        counts_add(&all, &((const struct path *)hash_table_at(paths, i))->counts);
    for (size_t i = 0; i < ended->count; i++)
        counts_add(&all, &((const struct path *)hash_table_at(ended, i))->counts);
    return all;
}

/* Finds the peers and networks whose segments are lost. Returns false if there are none, or if
 * segments to other peers are lost, too, which only the counters show. */
static bool losses_find(struct examination *examination, struct losses *losses)
{
    const struct hash_table *now = &examination->now->sockets.paths.paths,
                            *ended = &examination->before->sockets.paths.paths;
    const struct segments moved = segments_moved(examination);
    const struct path_counts all = counts_of(now, ended);
    const bool *known = examination->now->counts.known;
    struct hash_table groups = {.count = 0};

    memset(losses, 0, sizeof *losses);
    if (all.lost < LOSS_LEAST || !known[SEGMENTS_SENT] || !known[SEGMENTS_RETRANSMITTED])
        return false;
    if (losses_group(&groups, now) < 0 || losses_group(&groups, ended) < 0)
        examination->error = -ENOMEM;
    for (size_t i = 0; i < groups.count && !examination->error; i++)
        if (is_culprit(&groups, hash_table_at(&groups, i)))
            losses_keep(losses, hash_table_at(&groups, i));
    hash_table_finish(&groups);
    return losses_are_local(losses, &moved, all.sent);
}

/* Returns whether packets of other connections pass, or a gateway does not answer: then it is not
 * the link of this machine that loses the packets to silent peers. */
static bool link_is_innocent(const struct examination *examination, const struct path_counts *all)
{
    const struct reading *now = examination->now;
    size_t i = 0;

    while (i < now->silent_count && !now->silent[i].is_gateway)
        i++;
    return all->heard || i < now->silent_count;
}

uint64_t losses_in_outages(const struct examination *examination)
{
    const struct path_counts all = counts_of(&examination->now->sockets.paths.paths,
                                             &examination->before->sockets.paths.paths);

    return all.outage + (link_is_innocent(examination, &all) ? all.unanswered : 0);
}

static bool loss_is_chosen(const struct examination *examination)
{
    for (size_t i = 0; i < rule_count; i++)
        if (rules[i].evaluate == rule_loss)
            return examination->options->rules >> i & 1;
    return false;
}

bool loss_is_explained(struct examination *examination)
{
    struct losses losses;

    return loss_is_chosen(examination) && losses_find(examination, &losses);
}

/* Returns whether the rule loss reports the network, or a part of it. */
static bool losses_have(const struct losses *losses, const struct network *network)
{
    for (size_t i = 0; i < losses->kept; i++) {
        const struct network *lossy = &losses->worst[i].key.network;
        const uint8_t prefix = lossy->prefix < network->prefix ? lossy->prefix : network->prefix;
        if (address_is_within(&network->address, &lossy->address, prefix))
            return true;
    }
    return false;
}

bool loss_names(struct examination *examination, const struct address *peer)
{
    const struct network host = peer_host(peer);
    struct losses losses;

    return loss_is_chosen(examination) && losses_find(examination, &losses) &&
           losses_have(&losses, &host);
}

static double loss_percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

void rule_loss(struct examination *examination)
{
    struct losses losses;
    const struct loss_group *worst = losses.worst;
    char text[TEXT_NETWORK_MAX + 1], command[256];
    struct finding finding;

    if (!losses_find(examination, &losses))
        return;
    const struct path_counts *counts = &worst->counts;
    finding_begin(&finding, examination, SEVERITY_WARNING, "%s",
                  network_text(text, &worst->key.network));
    finding_summary(&finding,
                    "segments to %s are lost: %.1f %%, %" PRIu64 " of %" PRIu64
                    ", were retransmitted in %.7g s; elsewhere hardly any are lost",
                    text, loss_percent(counts->lost, counts->sent), counts->lost, counts->sent,
                    seconds_between(examination));
    if (counts->lost_before)
        finding_evidence(&finding, "before that %.1f %%, %" PRIu64 " of %" PRIu64,
                         loss_percent(counts->lost_before, counts->sent_before),
                         counts->lost_before, counts->sent_before);
    finding_evidence(&finding, "%" PRIu32 " connection%s lost segments", counts->lossy,
                     counts->lossy == 1 ? "" : "s");
    if (worst->rtt) {
        char rtt[TEXT_ROUNDED];
        finding_evidence(&finding, "the shortest round-trip time is %s ms",
                         text_rounded(rtt, (double)worst->rtt / 1000));
    }
    snprintf(command, sizeof command,
             "fastnet sockets -t --where 'remote_address %s %s' --columns "
             "+data_segs_out,total_retrans,dsack_dups --sort -total_retrans",
             network_is_host(&worst->key.network) ? "=" : "in", text);
    for (size_t i = 1; i < losses.kept; i++)
        finding_evidence(&finding, "also %s: %" PRIu64 " of %" PRIu64,
                         network_text(text, &losses.worst[i].key.network),
                         losses.worst[i].counts.lost, losses.worst[i].counts.sent);
    if (losses.count > losses.kept)
        finding_evidence(&finding, "%zu more like this", losses.count - losses.kept);
    finding.record.finding.command = as_text(command);
    finding_emit(&finding, examination, counts->lost, ABSENT, counts->lost);
}

/* --- Round-trip times ------------------------------------------------------------------------- */

enum {
    SLOW_TIMES = 10,
    SLOW_US = 20000,     /* a shorter time is no problem */
    LIKE_US = 8191,      /* networks with longer times may be anywhere */
    LIKE_PEER_US = 2047, /* peers of one network with longer times may be mobile */
    LIKE_NETWORKS = 2,   /* least number of networks that are much faster */
    LIKE_PEERS = 8,      /* least number of peers that are much faster */
    ZONE_LEAST = 3,      /* connections of each network that is compared */
    ZONE_PEERS = 3,      /* a slow network has this number of peers, or */
    ZONE_TIMED = 8,      /* this number of connections from here: one client may be anywhere */
    RTT_BUCKETS = 32,
};

/* Members that should have similar round-trip times: the peers of a network, or the networks of a
 * neighbourhood, that use the same service. */
struct rtt_group {
    struct group_key key;
    uint32_t timed, rtt; /* connections, and the shortest time of all, in microseconds */
    uint32_t members;
    uint32_t by_rtt[RTT_BUCKETS]; /* number of members; index: log2 of the member's time */
};

/* Returns the network in which networks are compared: an organisation that uses private addresses,
 * or a part of a provider. Clients elsewhere are farther away. */
static struct network neighbourhood(const struct address *address)
{
    const uint8_t *bytes = address->bytes;
    uint8_t prefix = 16;

    if (!is_ipv4(address))
        prefix = (bytes[0] & 0xfe) == 0xfc ? 8 : 32; /* RFC 4193: unique local addresses */
    else if (bytes[0] == 10)
        prefix = 8;
    else if (bytes[0] == 172 && (bytes[1] & 0xf0) == 16)
        prefix = 12;
    return network_of(address, prefix);
}

static int rtt_add(struct hash_table *groups, const struct group_key *key, uint32_t timed,
                   uint32_t rtt)
{
    struct rtt_group *group = group_add(groups, sizeof *group, key);
    unsigned bucket = 0;

    if (!group)
        return -ENOMEM;
    for (uint32_t rest = rtt; rest > 1; rest >>= 1)
        bucket++;
    group->by_rtt[bucket]++;
    group->members++;
    group->timed += timed;
    take_shortest(&group->rtt, rtt);
    return 0;
}

static struct group_key rtt_zone(const struct path_key *path)
{
    return (struct group_key){peer_network(&path->peer), path->is_client, path->port};
}

static struct group_key rtt_hood(const struct rtt_group *zone)
{
    struct group_key key = zone->key;

    key.network = neighbourhood(&key.network.address);
    return key;
}

/* Groups paths by network, and networks by neighbourhood. Returns 0 or -ENOMEM. */
static int rtt_group_all(struct hash_table *zones, struct hash_table *hoods,
                         const struct hash_table *paths)
{
    int error = 0;

    for (size_t i = 0; i < paths->count && !error; i++) {
        const struct path *path = hash_table_at(paths, i);
        const struct group_key key = rtt_zone(&path->key);
        error = path->timed ? rtt_add(zones, &key, path->timed, path->rtt) : 0;
    }
    for (size_t i = 0; i < zones->count && !error; i++) {
        const struct rtt_group *zone = hash_table_at(zones, i);
        const struct group_key key = rtt_hood(zone);
        error = zone->timed >= ZONE_LEAST ? rtt_add(hoods, &key, zone->timed, zone->rtt) : 0;
    }
    return error;
}

/* A peer or a network that is slow. */
struct slow_path {
    struct group_key key;
    uint32_t rtt, timed;    /* the shortest time, in microseconds; connections */
    uint32_t faster, limit; /* the number of others whose times are at most `limit` */
    size_t count;           /* number of all such paths */
};

/* Keeps the path if it is much slower than two thirds of its group, and has more connections than
 * the slow path before. like: the longest time of members that are compared. least: the least
 * number of members that must be much faster. */
static void slow_keep(struct slow_path *slow, struct slow_path path, const struct rtt_group *group,
                      uint32_t like, uint32_t least)
{
    const uint32_t limit = path.rtt / SLOW_TIMES < like ? path.rtt / SLOW_TIMES : like;

    for (unsigned bucket = 0; UINT32_C(2) << bucket <= limit + 1; bucket++) {
        path.faster += group->by_rtt[bucket];
        if (group->by_rtt[bucket])
            path.limit = (UINT32_C(2) << bucket) - 1;
    }
    if (path.faster < least || path.faster < 2 * (group->members - path.faster))
        return;
    path.count = slow->count + 1;
    if (path.timed > slow->timed)
        *slow = path;
    slow->count = path.count;
}

static bool is_slow_zone(const struct rtt_group *zone)
{
    return zone->rtt >= SLOW_US && zone->timed >= ZONE_LEAST &&
           (zone->members >= ZONE_PEERS || (!zone->key.is_client && zone->timed >= ZONE_TIMED));
}

/* Finds slow networks; without any, slow peers of networks that are not slow. */
static int slow_find(struct slow_path *slow, const struct hash_table *paths,
                     const struct losses *losses)
{
    struct hash_table zones = {.count = 0}, hoods = {.count = 0};
    const int error = rtt_group_all(&zones, &hoods, paths);

    for (size_t i = 0; i < zones.count && !error; i++) {
        const struct rtt_group *zone = hash_table_at(&zones, i);
        const struct group_key hood = rtt_hood(zone);
        const struct slow_path path = {zone->key, zone->rtt, zone->timed, .count = 0};
        if (is_slow_zone(zone) && !losses_have(losses, &zone->key.network))
            slow_keep(slow, path, group_add(&hoods, sizeof *zone, &hood), LIKE_US, LIKE_NETWORKS);
    }
    const size_t count = error || slow->count ? 0 : paths->count;
    for (size_t i = 0; i < count; i++) {
        const struct path *path = hash_table_at(paths, i);
        const struct group_key zone = rtt_zone(&path->key);
        struct slow_path peer = {zone, path->rtt, path->timed, .count = 0};
        peer.key.network = peer_host(&path->key.peer);
        if (path->rtt >= SLOW_US && !losses_have(losses, &peer.key.network))
            slow_keep(slow, peer, group_add(&zones, sizeof(struct rtt_group), &zone), LIKE_PEER_US,
                      LIKE_PEERS);
    }
    hash_table_finish(&zones);
    hash_table_finish(&hoods);
    return error;
}

static void emit_slow(struct examination *examination, const struct slow_path *slow)
{
    const char *others = network_is_host(&slow->key.network) ? "peers of its network" : "networks";
    const char *which = slow->key.is_client ? "local_port" : "remote_port";
    char text[TEXT_NETWORK_MAX + 1], rtt[TEXT_ROUNDED], limit[TEXT_ROUNDED], command[256];
    struct finding finding;

    finding_begin(&finding, examination, SEVERITY_WARNING, "%s",
                  network_text(text, &slow->key.network));
    finding_summary(&finding,
                    "%s is far away: packets take %s ms there and back; for %" PRIu32
                    " other %s, the same service %s port %u takes at most %s ms",
                    text, text_rounded(rtt, (double)slow->rtt / 1000), slow->faster, others,
                    slow->key.is_client ? "on" : "at", slow->key.port,
                    text_rounded(limit, (double)slow->limit / 1000));
    finding_evidence(&finding, "%s ms is the shortest round-trip time of %" PRIu32 " connection%s",
                     rtt, slow->timed, slow->timed == 1 ? "" : "s");
    if (slow->count > 1)
        finding_evidence(&finding, "%zu more like this", slow->count - 1);
    snprintf(command, sizeof command,
             "fastnet sockets -t --where '%s = %u' --columns +min_rtt --sort -min_rtt --limit 20",
             which, slow->key.port);
    finding.record.finding.command = as_text(command);
    finding_emit(&finding, examination, slow->rtt, ABSENT, ABSENT);
}

void rule_slow_zone(struct examination *examination)
{
    const struct hash_table *paths = &examination->now->sockets.paths.paths;
    struct slow_path slow = {.count = 0};
    struct losses losses = {.count = 0};
    uint32_t longest = 0;

    for (size_t i = 0; i < paths->count; i++) {
        const struct path *path = hash_table_at(paths, i);
        longest = path->rtt > longest ? path->rtt : longest;
    }
    if (longest < SLOW_US)
        return;
    if (loss_is_chosen(examination) && !losses_find(examination, &losses))
        losses.kept = 0;
    if (slow_find(&slow, paths, &losses) < 0)
        examination->error = -ENOMEM;
    else if (slow.count)
        emit_slow(examination, &slow);
}
