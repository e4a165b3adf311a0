/* SPDX-License-Identifier: MIT */
#include "fastnet/traffic.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/connects.h"
#include "fastnet/engine.h"
#include "fastnet/namespace.h"
#include "fastnet/netlink.h"
#include "fastnet/predicate.h"
#include "makers/local_addresses.h"
#include "makers/packet_sockets.h"

/* Counters of the interfaces whose packets are seen. */
struct shares {
    struct traffic_share *list;
    size_t count, capacity;
};

enum { SENDER, RECEIVER, ENDS };

struct traffic {
    const struct traffic_options *options;
    struct packet_probe *probe;
    struct engine *engine;
    struct connects *connects; /* notes who sends on UDP sockets; NULL: not needed */
    int error;                 /* error of the probe, or 0 */
    struct shares before, now;
    struct traffic_seen seen;
    struct local_addresses local;
    struct sought *sought;
    size_t sought_count, sought_capacity;
    struct fitting (*fitting)[ENDS]; /* the sockets of both ends of each flow; NULL: not needed */
    size_t fitting_capacity;
    bool last;                 /* ctrl-C came before the packets of this listing were taken */
    bool noted_frames;         /* the report has the note about frames */
    bool sockets_found;        /* sockets were found since the last traffic_begin() */
    const struct query *query; /* this and the next three members: of the current listing */
    record_fn fn;
    void *arg;
    size_t row;
};

struct traffic *traffic_create(const struct traffic_options *options)
{
    struct traffic *traffic = calloc(1, sizeof *traffic);

    if (!traffic)
        return NULL;
    traffic->options = options;
    traffic->engine = engine_create(netlink_create(NULL));
    if (traffic->engine)
        return traffic;
    traffic_destroy(traffic);
    return NULL;
}

void traffic_destroy(struct traffic *traffic)
{
    if (!traffic)
        return;
    packet_probe_destroy(traffic->probe);
    connects_destroy(traffic->connects);
    engine_destroy(traffic->engine);
    free(traffic->before.list);
    free(traffic->now.list);
    local_addresses_finish(&traffic->local);
    free(traffic->sought);
    free(traffic->fitting);
    free(traffic);
}

const struct traffic_seen *traffic_seen(const struct traffic *traffic)
{
    return &traffic->seen;
}

/* --- Interfaces ------------------------------------------------------------------------------- */

/* Hands interfaces with these fields to fn. Interfaces that cannot be read are unknown. */
static int read_interfaces(struct traffic *traffic, uint64_t fields, record_fn fn)
{
    static const struct listing_table table = {.table = &table_interfaces, .unnamed = true};
    const struct listing listing = {
        .needs.fields = fields, .proc_root = "/proc", .tables = &table, .table_count = 1};
    struct report losses = {.partial = false};

    return engine_gather(traffic->engine, &listing, fn, traffic, &losses);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

    return (one > other) - (one < other);
}

static struct traffic_share *share_of(const struct shares *shares, uint32_t interface)
{
    return shares->count
               ? bsearch(&interface, shares->list, shares->count, sizeof *shares->list, by_number)
               : NULL;
}

static void sort_shares(struct shares *shares, int (*compare)(const void *a, const void *b))
{
    if (shares->count)
        qsort(shares->list, shares->count, sizeof *shares->list, compare);
}

/* lo counts bytes without the link-layer header, and each packet as sent and as received. The probe
 * counts packets of lo once, when they are received. */
static int traffic_take_counters(const struct record *record, void *arg)
{
    struct traffic *traffic = arg;
    struct shares *now = &traffic->now;
    const struct interface_record *interface = &record->interface;
    const uint64_t *counters = interface->counters;
    const uint32_t only = traffic->options->how.interface;
    const bool is_lo = interface->index == LOOPBACK_IFINDEX;
    const bool counts_frames = record->has & INTERFACE_KIND || is_lo;
    const struct traffic_share *was = share_of(&traffic->before, interface->index);
    struct traffic_share *share;

    if ((only && interface->index != only) || interface->labelled ||
        !(record->has & INTERFACE_COUNTERS))
        return 0;
    share = ARRAY_ADD(now->list, now->count, now->capacity);
    if (!share)
        return -ENOMEM;
    *share = (struct traffic_share){
        .interface = interface->index,
        .all_frames = counters[RX_PACKETS] + (is_lo ? 0 : counters[TX_PACKETS]),
        .all_bytes =
            counters[RX_BYTES] + (is_lo ? counters[RX_PACKETS] * ETH_HLEN : counters[TX_BYTES]),
    };
    snprintf(share->name, sizeof share->name, "%.*s", (int)interface->name.length,
             interface->name.data);
    if (was && share->all_bytes > was->all_bytes) {
        traffic->seen.share_count++;
        share->counted_bytes = share->all_bytes - was->all_bytes;
        share->counted_frames = counts_frames ? share->all_frames - was->all_frames : 0;
    }
    return 0;
}

static void count_interfaces(struct traffic *traffic)
{
    const struct shares last = traffic->before;

    traffic->before = traffic->now;
    traffic->now = (struct shares){last.list, 0, last.capacity};
    traffic->seen.share_count = 0;
    sort_shares(&traffic->before, by_number);
    (void)read_interfaces(traffic, INTERFACE_INDEX | INTERFACE_COUNTERS | INTERFACE_KIND,
                          traffic_take_counters);
    traffic->seen.shares = traffic->now.list;
}

static int most_bytes_first(const void *a, const void *b)
{
    const struct traffic_share *one = a, *other = b;

    return (one->counted_bytes < other->counted_bytes) -
           (one->counted_bytes > other->counted_bytes);
}

/* --- Sockets ---------------------------------------------------------------------------------- */

static int traffic_seek_sockets(const struct record *record, void *arg)
{
    struct traffic *traffic = arg;
    const struct traffic_record *seen = &record->traffic;
    const struct endpoint ends[ENDS] = {{seen->src, seen->sport}, {seen->dst, seen->dport}};
    struct fitting *fitting = traffic->fitting[traffic->row++];

    for (int end = 0; end < ENDS && record->has & TRAFFIC_PORTS; end++) {
        struct sought *sought;
        const enum reception reception = local_addresses_find(&traffic->local, &ends[end].address);
        if (reception == RECEPTION_NONE) /* addresses of other machines have no sockets here */
            continue;
        sought = ARRAY_ADD(traffic->sought, traffic->sought_count, traffic->sought_capacity);
        if (!sought)
            return -ENOMEM;
        *sought = (struct sought){(uint8_t)seen->protocol, ends[end], ends[!end], &fitting[end],
                                  reception == RECEPTION_ALL};
    }
    return 0;
}

static int traffic_find_sockets(struct traffic *traffic, struct report *report)
{
    const size_t rows = traffic->seen.totals->most_rows;
    int error;
    void *fitting = array_with_room(traffic->fitting, &traffic->fitting_capacity, rows + 1,
                                    sizeof *traffic->fitting);
    if (!fitting)
        return -ENOMEM;
    traffic->fitting = fitting;
    memset(fitting, 0, (rows + 1) * sizeof *traffic->fitting);
    traffic->row = traffic->sought_count = 0;
    error = local_addresses_read(&traffic->local, traffic->engine, false);
    if (!error)
        error = packet_probe_list(traffic->probe, traffic_seek_sockets, traffic);
    return error ? error
                 : packet_sockets_find(traffic->engine, traffic->connects, traffic->sought,
                                       traffic->sought_count, report);
}

/* Takes the sender's socket; if that is unknown or on another machine, the receiver's socket. The
 * record borrows the sender of a socket that has ended. */
static void traffic_take_socket(const struct fitting fitting[ENDS], struct record *record)
{
    for (int end = 0; end < ENDS && !(record->has & TRAFFIC_SOCKET); end++) {
        const struct fitting *socket = &fitting[end];
        if (!socket->sent_at && (socket->count != 1 || !socket->inode))
            continue;
        record->traffic.inode = socket->inode;
        record->traffic.uid = socket->uid;
        record->has |= TRAFFIC_SOCKET | (socket->sent_at ? TRAFFIC_ORIGIN : 0);
        record->traffic.origin =
            (struct text){(const char *)&socket->sender, sizeof socket->sender};
    }
}

/* Notes who sends on UDP sockets, because short sockets have ended when the flows are listed.
 * Without BPF they have no owner. */
static void traffic_note_sends(struct traffic *traffic)
{
    const struct listing *listing = traffic->options->listing;
    struct needs needs = listing->needs;

    needs_add(&needs, predicate_needs(listing->where));
    if (traffic->connects || !(needs.fields & TRAFFIC_SOCKET) || listing->owners == OWNERS_PROC ||
        listing->processes)
        return;
    traffic->connects = connects_create();
    if (traffic->connects)
        (void)connects_begin(traffic->connects, NOTE_SENDS, namespace_own_id(), NULL);
}

/* --- Probe ------------------------------------------------------------------------------------ */

/* Fields that the listing needs and that belong to the key of a flow. */
static uint64_t key_fields(const struct traffic *traffic)
{
    return traffic->options->listing->needs.fields & (TRAFFIC_VLAN | TRAFFIC_LLADDRS);
}

static int traffic_start(struct traffic *traffic)
{
    struct packet_probe_options how = traffic->options->how;
    int error;

    how.fields = key_fields(traffic);
    how.where = traffic->options->listing->where;
    error = packet_probe_create(&traffic->probe, &how);
    if (error)
        return error;
    if (!traffic->options->screen)
        clock_catch_interrupt();
    count_interfaces(traffic);
    error = packet_probe_start(traffic->probe);
    if (!error && !traffic->options->screen)
        clock_wait_shown(clock_nanoseconds(CLOCK_MONOTONIC) +
                             traffic->options->milliseconds * CLOCK_MILLISECOND,
                         traffic->options->progress);
    return error;
}

void traffic_begin(void *maker)
{
    struct traffic *traffic = maker;

    traffic_note_sends(traffic);
    if (!traffic->probe && !traffic->error)
        traffic->error = traffic_start(traffic);
    if (traffic->error)
        return;
    traffic->sockets_found = false;
    traffic->seen.totals = packet_probe_totals(traffic->probe);
    count_interfaces(traffic);
    traffic->last = clock_interrupted();
    packet_probe_take(traffic->probe, key_fields(traffic));
    traffic->seen.all.lost += traffic->seen.totals->lost;
    traffic->seen.all.undescribed += traffic->seen.totals->undescribed;
    flow_totals_add(&traffic->seen.all.forgotten, traffic->seen.totals->forgotten);
}

/* --- Rows ------------------------------------------------------------------------------------- */

static int traffic_hand_on(const struct traffic *traffic, const struct record *row, bool *wanted)
{
    *wanted |= predicate_may_hold(traffic->query->where, row, UINT64_MAX);
    return traffic->fn(row, traffic->arg);
}

/* Hands on a flow as one row, or as one row for each of its ends. */
static int traffic_take_row(const struct record *record, void *arg)
{
    struct traffic *traffic = arg;
    struct record row = *record;
    const struct traffic_record *seen = &record->traffic;
    struct traffic_share *share;
    bool wanted = false;
    int result = 0;

    if (traffic->query->needs & TRAFFIC_SOCKET)
        traffic_take_socket(traffic->fitting[traffic->row], &row);
    traffic->row++;
    if (traffic->query->needs & TRAFFIC_END && row.has & TRAFFIC_ADDRESSES) {
        row.has |= TRAFFIC_END;
        row.traffic.address = seen->dst;
        if (!address_equal(&seen->src, &seen->dst))
            result = traffic_hand_on(traffic, &row, &wanted);
        row.traffic.address = seen->src;
    }
    if (result >= 0)
        result = traffic_hand_on(traffic, &row, &wanted);
    if (!wanted)
        return result;
    flow_totals_add(&traffic->seen.sums, (struct flow_totals){seen->frames > 0, seen->packets,
                                                              seen->frames, seen->bytes});
    share = share_of(&traffic->now, seen->interface);
    if (share) {
        share->bytes += seen->bytes;
        share->frames += seen->frames;
    }
    return result;
}

void traffic_report(const struct packet_totals *totals, struct report *report)
{
    const struct flow_totals *forgotten = &totals->forgotten;

    if (totals->lost)
        report_loss(report,
                    "%" PRIu64
                    " frame%s lost, because fastnet was too slow (try --threads or a filter)",
                    totals->lost, totals->lost == 1 ? " was" : "s were");
    if (totals->undescribed)
        report_loss(report,
                    "%" PRIu64
                    " frame%s missing from the rows, because this kernel cannot describe %s "
                    "(segmentation offload of SCTP, for example)",
                    totals->undescribed, totals->undescribed == 1 ? " is" : "s are",
                    totals->undescribed == 1 ? "it" : "them");
    if (forgotten->flows)
        report_note(report,
                    "%" PRIu64 " flow%s removed to make room for new flows, with %" PRIu64
                    " packet%s and %" PRIu64 " bytes (try a larger --flows)",
                    forgotten->flows, forgotten->flows == 1 ? " was" : "s were", forgotten->packets,
                    forgotten->packets == 1 ? "" : "s", forgotten->bytes);
}

int traffic_list(void *maker, const struct query *query, record_fn fn, void *arg)
{
    struct traffic *traffic = maker;
    int error = traffic->error;

    query->report->ended |= traffic->last || error;
    if (error)
        return error;
    if (!traffic->options->screen)
        traffic_report(traffic->seen.totals, query->report);
    if (traffic->seen.totals->frames_only && !traffic->noted_frames)
        report_note(query->report,
                    "frames are counted as packets, because before Linux 6.2 the kernel does not "
                    "report how many packets a UDP frame contains");
    traffic->noted_frames = true;
    if (traffic->seen.totals->down || /* or the interface no longer exists */
        (traffic->options->how.interface && !traffic->now.count))
        report_note(query->report, "an interface went down or was removed during the listing");
    traffic->seen.sums = (struct flow_totals){.flows = 0};
    sort_shares(&traffic->now, by_number);
    for (size_t i = 0; i < traffic->now.count; i++)
        traffic->now.list[i].bytes = traffic->now.list[i].frames = 0;
    if (query->needs & TRAFFIC_SOCKET && !traffic->sockets_found)
        error = traffic_find_sockets(traffic, query->report);
    traffic->sockets_found |= query->needs & TRAFFIC_SOCKET && !error;
    traffic->query = query;
    traffic->fn = fn;
    traffic->arg = arg;
    traffic->row = 0;
    if (!error)
        error = packet_probe_list(traffic->probe, traffic_take_row, traffic);
    sort_shares(&traffic->now, most_bytes_first);
    return error;
}
