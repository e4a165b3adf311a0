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
#include "fastnet/engine.h"
#include "fastnet/netlink.h"
#include "fastnet/predicate.h"
#include "makers/local_addresses.h"
#include "makers/packet_sockets.h"

/* Of all interfaces that are watched. */
struct shares {
    struct traffic_share *of;
    size_t count, capacity;
};

enum { SENDER, RECEIVER, ENDS };

struct traffic {
    const struct traffic_options *options;
    struct packet_probe *watch;
    struct engine *engine;
    int error; /* of the watch, or 0 */
    struct shares before, now;
    struct traffic_seen seen;
    struct local_addresses own;
    struct sought *sought;
    size_t sought_count, sought_capacity;
    struct fitting (*fitting)[ENDS]; /* of each flow; NULL: sockets are not asked for */
    size_t fitting_capacity;
    bool last;                 /* ctrl-C came before the packets of this listing were taken */
    bool noted_frames;         /* that packets are frames, in the first listing */
    bool found;                /* ... or they were, since the last traffic_begin() */
    const struct query *query; /* this and the next three: of the listing under way */
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
    packet_probe_destroy(traffic->watch);
    engine_destroy(traffic->engine);
    free(traffic->before.of);
    free(traffic->now.of);
    local_addresses_finish(&traffic->own);
    free(traffic->sought);
    free(traffic->fitting);
    free(traffic);
}

const struct traffic_seen *traffic_seen(const struct traffic *traffic)
{
    return &traffic->seen;
}

/* --- Interfaces ------------------------------------------------------------------------------- */

/* Hands on the interfaces with these fields. What cannot be read is not known. */
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
               ? bsearch(&interface, shares->of, shares->count, sizeof *shares->of, by_number)
               : NULL;
}

static void sort_shares(struct shares *shares, int (*compare)(const void *a, const void *b))
{
    if (shares->count)
        qsort(shares->of, shares->count, sizeof *shares->of, compare);
}

/* lo counts packets without a header, and each of them twice: a packet is seen when it comes in. */
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
    struct traffic_share *of;

    if ((only && interface->index != only) || interface->labelled ||
        !(record->has & INTERFACE_COUNTERS))
        return 0;
    of = ARRAY_ADD(now->of, now->count, now->capacity);
    if (!of)
        return -ENOMEM;
    *of = (struct traffic_share){
        .interface = interface->index,
        .all_frames = counters[RX_PACKETS] + (is_lo ? 0 : counters[TX_PACKETS]),
        .all_bytes =
            counters[RX_BYTES] + (is_lo ? counters[RX_PACKETS] * ETH_HLEN : counters[TX_BYTES]),
    };
    snprintf(of->name, sizeof of->name, "%.*s", (int)interface->name.length, interface->name.data);
    if (was && of->all_bytes > was->all_bytes) {
        traffic->seen.share_count++;
        of->counted_bytes = of->all_bytes - was->all_bytes;
        of->counted_frames = counts_frames ? of->all_frames - was->all_frames : 0;
    }
    return 0;
}

static void count_interfaces(struct traffic *traffic)
{
    const struct shares last = traffic->before;

    traffic->before = traffic->now;
    traffic->now = (struct shares){last.of, 0, last.capacity};
    traffic->seen.share_count = 0;
    sort_shares(&traffic->before, by_number);
    (void)read_interfaces(traffic, INTERFACE_INDEX | INTERFACE_COUNTERS | INTERFACE_KIND,
                          traffic_take_counters);
    traffic->seen.shares = traffic->now.of;
}

static int flows_most_first(const void *a, const void *b)
{
    const struct traffic_share *one = a, *other = b;

    return (one->counted_bytes < other->counted_bytes) -
           (one->counted_bytes > other->counted_bytes);
}

/* --- Whose packets they are ------------------------------------------------------------------- */

static int seek(const struct record *record, void *arg)
{
    struct traffic *traffic = arg;
    const struct traffic_record *seen = &record->traffic;
    const struct endpoint ends[ENDS] = {{seen->src, seen->sport}, {seen->dst, seen->dport}};
    struct fitting *fitting = traffic->fitting[traffic->row++];

    for (int end = 0; end < ENDS && record->has & TRAFFIC_PORTS; end++) {
        struct sought *sought;
        const enum reception reception = local_addresses_find(&traffic->own, &ends[end].address);
        if (reception == RECEPTION_NONE) /* others have no sockets here */
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
    error = local_addresses_read(&traffic->own, traffic->engine);
    if (!error)
        error = packet_probe_list(traffic->watch, seek, traffic);
    return error ? error
                 : packet_sockets_find(traffic->engine, traffic->sought, traffic->sought_count,
                                       report);
}

/* The sender's socket; the receiver's, if the sender is elsewhere or not known. */
static void traffic_take_socket(const struct fitting fitting[ENDS], struct record *record)
{
    for (int end = 0; end < ENDS && !(record->has & TRAFFIC_SOCKET); end++)
        if (fitting[end].count == 1 && fitting[end].inode) {
            record->traffic.inode = fitting[end].inode;
            record->traffic.uid = fitting[end].uid;
            record->has |= TRAFFIC_SOCKET;
        }
}

/* --- To watch --------------------------------------------------------------------------------- */

/* Of the fields that the listing needs those that part flows. */
static uint64_t parting_fields(const struct traffic *traffic)
{
    return traffic->options->listing->needs.fields & (TRAFFIC_VLAN | TRAFFIC_LLADDRS);
}

static int traffic_start(struct traffic *traffic)
{
    struct packet_probe_options how = traffic->options->how;
    int error;

    how.fields = parting_fields(traffic);
    how.where = traffic->options->listing->where;
    error = packet_probe_create(&traffic->watch, &how);
    if (error)
        return error;
    if (!traffic->options->live)
        clock_catch_interrupt();
    count_interfaces(traffic);
    error = packet_probe_start(traffic->watch);
    if (!error && !traffic->options->live)
        clock_wait(clock_nanoseconds(CLOCK_MONOTONIC) +
                   traffic->options->milliseconds * CLOCK_MILLISECOND);
    return error;
}

void traffic_begin(void *maker)
{
    struct traffic *traffic = maker;

    if (!traffic->watch && !traffic->error)
        traffic->error = traffic_start(traffic);
    if (traffic->error)
        return;
    traffic->found = false;
    traffic->seen.totals = packet_probe_totals(traffic->watch);
    count_interfaces(traffic);
    traffic->last = clock_interrupted();
    packet_probe_take(traffic->watch, parting_fields(traffic));
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

/* A flow is a row, or one for each of its ends. */
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
                    " frame%s in no row, because this kernel cannot describe %s (segmentation "
                    "offload of SCTP, for example)",
                    totals->undescribed, totals->undescribed == 1 ? " is" : "s are",
                    totals->undescribed == 1 ? "it" : "them");
    if (forgotten->flows)
        report_note(report,
                    "%" PRIu64 " flow%s removed to make room for others, with %" PRIu64
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
    if (!traffic->options->live)
        traffic_report(traffic->seen.totals, query->report);
    if (traffic->seen.totals->frames_only && !traffic->noted_frames)
        report_note(query->report,
                    "frames are counted as packets, because before Linux 6.2 the kernel does not "
                    "report how many packets a UDP frame contains");
    traffic->noted_frames = true;
    if (traffic->seen.totals->down || /* or there is no such interface any more */
        (traffic->options->how.interface && !traffic->now.count))
        report_note(query->report, "an interface went down or was removed during the listing");
    traffic->seen.sums = (struct flow_totals){.flows = 0};
    sort_shares(&traffic->now, by_number);
    for (size_t i = 0; i < traffic->now.count; i++)
        traffic->now.of[i].bytes = traffic->now.of[i].frames = 0;
    if (query->needs & TRAFFIC_SOCKET && !traffic->found)
        error = traffic_find_sockets(traffic, query->report);
    traffic->found |= query->needs & TRAFFIC_SOCKET && !error;
    traffic->query = query;
    traffic->fn = fn;
    traffic->arg = arg;
    traffic->row = 0;
    if (!error)
        error = packet_probe_list(traffic->watch, traffic_take_row, traffic);
    sort_shares(&traffic->now, flows_most_first);
    return error;
}
