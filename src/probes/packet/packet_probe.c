/* SPDX-License-Identifier: MIT */
#include "fastnet/packet_probe.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/kernel_abi.h"
#include "fastnet/rights.h"
#include "fastnet/thread.h"
#include "probes/packet/packet_filter.h"
#include "probes/packet/packet_ring.h"

enum {
    RING_BYTES = 28 << 20, /* size of all rings; with 65,536 flows the process needs 40 MiB */
    RING_OF_TICKS =
        14 << 20, /* size of all rings if the probe repeats: it has two tables of flows */
    BLOCK_BYTES = 4 << 20,
    /* Least number of blocks of a ring: blocks get smaller to reach it. A reader that does not run
     * for this number of RETIRE_MS loses packets even if few come, as each block then has few. */
    BLOCKS_MIN = 4,
    BLOCKS_OF_TICKS = 16, /* the same if the probe repeats */
    RETIRE_MS = 40,       /* a block waits for more packets this long, or twice this long */
    SETTLE_MS = 100,      /* longest wait until all earlier packets are handed over */
    NO_GROUP = -1,
};

/* A ring and the thread that reads it. Other threads use its flows only while this thread waits. */
struct packet_reader {
    struct packet_probe *probe;
    int fd;
    struct packet_ring ring;
    bool down;
    bool froze;                   /* the ring was full in the interval before */
    uint64_t counted_undescribed; /* frames without description (count_drops()), since the start */
    pthread_t thread;
    int wake, done; /* eventfd(2). wake: asks the thread to stop, then to continue. done: it has
                       stopped */
};

struct packet_probe {
    struct packet_probe_options options;
    size_t ring_bytes;
    uint64_t from;  /* start of the interval, nanoseconds since 1970: the origin of flows' times */
    uint64_t began; /* start of the interval by CLOCK_MONOTONIC, nanoseconds */
    uint64_t until; /* readers stop at the first later packet; changes while threads run */
    bool ending;    /* threads must end, not continue */
    unsigned running;
    struct packet_totals totals;
    uint64_t taken_fields; /* optional fields in the keys of the flows that were taken */
    struct packet_flows *taken[PACKET_THREADS_MAX];
    struct packet_reader readers[PACKET_THREADS_MAX];
};

/* --- Threads ---------------------------------------------------------------------------------- */

static void packet_probe_signal(int event)
{
    const uint64_t one = 1;
    const ssize_t written = write(event, &one, sizeof one);

    (void)written; /* cannot block: the sum of unread events is small */
}

static void packet_probe_wait_for(int event)
{
    uint64_t number;

    while (read(event, &number, sizeof number) < 0 && errno == EINTR)
        continue;
}

/* This thread parses untrusted packets. It drops all capabilities and installs a seccomp filter, so
 * it must not open files or allocate memory. If the kernel has no seccomp, the thread runs without
 * the filter. */
static void *read_ring(void *arg)
{
    static const int calls[] = {
        SYS_read,         SYS_write, SYS_ppoll,
#ifdef SYS_poll
        SYS_poll,
#endif
#ifdef SYS_ppoll_time64
        SYS_ppoll_time64,
#endif
    };
    struct packet_reader *reader = arg;
    const struct packet_probe *probe = reader->probe;
    char nothing;

    rights_drop_thread();
    (void)seccomp_only(calls, COUNT(calls));
    for (;;) {
        struct pollfd ready[] = {{reader->fd, POLLIN, 0}, {reader->wake, POLLIN, 0}};
        if (!packet_ring_take(&reader->ring, probe->from, &probe->until)) {
            (void)poll(ready, COUNT(ready), -1);
            if (ready[0].revents & POLLERR) /* read(2) returns and clears the error */
                reader->down |= read(reader->fd, &nothing, sizeof nothing) < 0 && errno == ENETDOWN;
            if (!(ready[1].revents & POLLIN))
                continue;
            /* Reads on until a packet later than `until` comes, or one more block was read: then
             * all earlier packets are counted, and other rings wait no longer than necessary. */
            for (int settle = probe->until ? SETTLE_MS : 0;
                 !packet_ring_take(&reader->ring, probe->from, &probe->until) &&
                 poll(ready, 1, settle) > 0 && ready[0].revents & POLLIN;
                 settle = 0)
                continue;
        }
        packet_probe_wait_for(reader->wake);
        packet_probe_signal(reader->done);
        packet_probe_wait_for(reader->wake);
        if (probe->ending)
            return NULL;
    }
}

/* --- Start ------------------------------------------------------------------------------------ */

/* snap: bytes that are copied of each frame; 0: refuses all frames. If the program is longer than
 * net.core.optmem_max allows, all frames pass: this costs only work, because rows are filtered
 * again. */
static int attach_filter(int fd, const struct predicate *where, unsigned snap)
{
    struct sock_fprog program;
    int error = packet_filter_make(where, snap, &program);

    if (error)
        return error;
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0)
        error = -errno;
    free(program.filter);
    return error == -ENOMEM && where ? attach_filter(fd, NULL, snap) : error;
}

static int packet_probe_set(int fd, int option, const void *value, size_t size)
{
    return setsockopt(fd, SOL_PACKET, option, value, (socklen_t)size) < 0 ? -errno : 0;
}

static int map_ring(struct packet_reader *reader)
{
    const struct packet_probe *probe = reader->probe;
    const int version = TPACKET_V3, yes = 1;
    const struct tpacket_req3 request = {
        .tp_block_size = (unsigned)reader->ring.block_bytes,
        .tp_block_nr = reader->ring.blocks,
        .tp_frame_size = 2048, /* TPACKET_V3 uses only size * number */
        .tp_frame_nr = (unsigned)(probe->ring_bytes / 2048),
        .tp_retire_blk_tov = RETIRE_MS,
    };
    int error = packet_probe_set(reader->fd, PACKET_VERSION, &version, sizeof version);

    if (!error && reader->ring.has_offload)
        error = packet_probe_set(reader->fd, PACKET_VNET_HDR, &yes, sizeof yes);
    if (!error && probe->options.interface == LOOPBACK_IFINDEX)
        (void)packet_probe_set(reader->fd, PACKET_IGNORE_OUTGOING, &yes,
                               sizeof yes); /* Linux 4.20 */
    if (!error)
        error = packet_probe_set(reader->fd, PACKET_RX_RING, &request, sizeof request);
    if (error)
        return error;
    void *ring = mmap(NULL, probe->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, reader->fd, 0);
    if (ring == MAP_FAILED)
        return -errno;
    reader->ring.memory = ring;
    return 0;
}

/* All packets of a flow go to the same ring of the group. *group: the group's number, which the
 * kernel chooses, or NO_GROUP: the first ring makes the group. 0 is a valid number. */
static int join_group(const struct packet_reader *reader, int *group)
{
    int flags = PACKET_FANOUT_HASH, value;
    socklen_t size = sizeof value;

    if (reader->probe->options.threads == 1)
        return 0;
    if (reader->probe->options.interface == LOOPBACK_IFINDEX)
        flags |= PACKET_FANOUT_IGNORES_OUTGOING;
    value = *group == NO_GROUP ? (flags | PACKET_FANOUT_FLAG_UNIQUEID) << 16 : flags << 16 | *group;
    if (packet_probe_set(reader->fd, PACKET_FANOUT, &value, sizeof value) < 0 ||
        getsockopt(reader->fd, SOL_PACKET, PACKET_FANOUT, &value, &size) < 0)
        return -errno;
    *group = value & 0xffff;
    return 0;
}

/* Opens a ring. A filter refuses all packets until all rings are in the group: before that, several
 * rings would get each packet. */
static int open_ring(struct packet_reader *reader, int *group)
{
    const struct sockaddr_ll all = {
        .sll_family = AF_PACKET,
        .sll_protocol = htons(ETH_P_ALL),
        .sll_ifindex = (int)reader->probe->options.interface,
    };
    int error;

    rights_raise(RIGHT_PACKETS);
    reader->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    error = reader->fd < 0 ? -errno : 0;
    rights_lower();
    if (!error)
        error = map_ring(reader);
    if (!error)
        error = attach_filter(reader->fd, NULL, 0);
    if (!error && bind(reader->fd, (const void *)&all, sizeof all) < 0)
        error = -errno;
    return error ? error : join_group(reader, group);
}

static int open_readers(struct packet_probe *probe)
{
    const unsigned threads = probe->options.threads;
    int group = NO_GROUP, error = 0;

    for (unsigned i = 0; i < threads && !error; i++)
        error = open_ring(&probe->readers[i], &group);
    rights_limit(RIGHTS_ALL & ~(1U << RIGHT_PACKETS));
    for (unsigned i = 0; i < threads && !error; i++) {
        struct packet_reader *reader = &probe->readers[i];
        const size_t flows = probe->options.flows / threads + (i < probe->options.flows % threads);
        reader->ring.flows = packet_flows_create(flows);
        probe->taken[i] = probe->options.repeats ? packet_flows_create(flows) : NULL;
        if (!reader->ring.flows || (probe->options.repeats && !probe->taken[i]))
            error = -ENOMEM;
        reader->wake = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE); /* two wake-ups may be unread */
        reader->done = eventfd(0, EFD_CLOEXEC);
        if (!error && (reader->wake < 0 || reader->done < 0))
            error = -errno;
    }
    return error;
}

/* Reads digits. Returns false if there are no digits, or too many for any version. */
static bool take_version(const char **at, unsigned *number)
{
    const char *begin = *at;

    for (*number = 0; **at >= '0' && **at <= '9' && *at - begin < 5; ++*at)
        *number = *number * 10 + (unsigned)(**at - '0');
    return *at > begin && !(**at >= '0' && **at <= '9');
}

bool packet_probe_describes_udp(const char *release)
{
    const char *at = release;
    unsigned version, patch_level;

    if (!take_version(&at, &version) || *at++ != '.' || !take_version(&at, &patch_level) ||
        (*at && !strchr(".-+_~", *at)))
        return false;
    return version > 6 || (version == 6 && patch_level >= 2);
}

static bool describes_udp(void)
{
    struct utsname names;

    return uname(&names) == 0 && packet_probe_describes_udp(names.release);
}

int packet_probe_create(struct packet_probe **result, const struct packet_probe_options *options)
{
    const size_t room = options->repeats ? RING_OF_TICKS : RING_BYTES;
    const size_t blocks = options->repeats ? BLOCKS_OF_TICKS : BLOCKS_MIN;
    struct packet_ring ring = {
        .block_bytes = BLOCK_BYTES, .fields = options->fields, .has_offload = describes_udp()};
    const size_t page = (size_t)getpagesize();
    struct packet_probe *probe = calloc(1, sizeof *probe);
    int error;

    if (!probe)
        return -ENOMEM;
    probe->options = *options;
    while (ring.block_bytes * blocks * options->threads > room &&
           ring.block_bytes / 2 % page == 0) /* the kernel wants whole pages */
        ring.block_bytes /= 2;
    ring.blocks = (unsigned)(room / ring.block_bytes / options->threads);
    probe->ring_bytes = ring.blocks * ring.block_bytes;
    for (size_t i = 0; i < COUNT(probe->readers); i++)
        probe->readers[i] =
            (struct packet_reader){.probe = probe, .fd = -1, .ring = ring, .wake = -1, .done = -1};
    error = open_readers(probe);
    if (error) {
        packet_probe_destroy(probe);
        return error;
    }
    *result = probe;
    return 0;
}

int packet_probe_start(struct packet_probe *probe)
{
    int error = 0;

    probe->from = clock_nanoseconds(CLOCK_REALTIME);
    probe->began = clock_nanoseconds(CLOCK_MONOTONIC);
    probe->until = UINT64_MAX;
    for (unsigned i = 0; i < probe->options.threads && !error; i++)
        error = attach_filter(probe->readers[i].fd, probe->options.where, PACKET_RING_SNAP);
    for (unsigned i = 0; i < probe->options.threads && !error; i++) {
        error = thread_start(&probe->readers[i].thread, read_ring, &probe->readers[i]);
        probe->running += !error;
    }
    return error;
}

/* --- Results ---------------------------------------------------------------------------------- */

static void wake_all(const struct packet_probe *probe)
{
    for (unsigned i = 0; i < probe->running; i++)
        packet_probe_signal(probe->readers[i].wake);
}

/* Waits until the readers have counted all packets up to `until`, and have stopped. */
static void stop_readers(struct packet_probe *probe, uint64_t until)
{
    __atomic_store_n(&probe->until, until, __ATOMIC_RELAXED);
    wake_all(probe);
    for (unsigned i = 0; i < probe->running; i++)
        packet_probe_wait_for(probe->readers[i].done);
}

static void packet_probe_go_on(struct packet_probe *probe)
{
    probe->until = UINT64_MAX;
    wake_all(probe);
    for (; probe->ending && probe->running; probe->running--)
        pthread_join(probe->readers[probe->running - 1].thread, NULL);
}

/* The kernel counts frames that it could not describe together with frames that found no room. It
 * says only whether a ring was full since the last call. If no ring was full, all these frames were
 * undescribed. Otherwise only frames that left an empty slot were undescribed; such a slot may be
 * read one interval after its frame was counted. */
static void count_drops(struct packet_totals *totals, struct packet_reader *reader,
                        const struct tpacket_stats_v3 *statistics)
{
    const uint64_t drops = statistics->tp_drops, seen = reader->ring.undescribed;
    const bool froze = statistics->tp_freeze_q_cnt, was_full = froze || reader->froze;
    uint64_t undescribed =
        seen > reader->counted_undescribed ? seen - reader->counted_undescribed : 0;

    if (!was_full && undescribed < drops)
        undescribed = drops;
    reader->froze = froze;
    reader->counted_undescribed += undescribed;
    totals->undescribed += undescribed;
    totals->lost += drops > undescribed ? drops - undescribed : 0;
}

/* Takes the newer table of each reader, and gives it the older one, after idle flows of the older
 * table were copied (keep_ms). later: nanoseconds from the older table's origin to the newer's. */
static void swap_tables(struct packet_probe *probe, int64_t later, uint64_t fields)
{
    const bool keeps = probe->options.keep_ms && probe->readers->ring.fields == probe->taken_fields;

    probe->taken_fields = probe->readers->ring.fields;
    for (unsigned i = 0; i < probe->options.threads; i++) {
        struct packet_reader *reader = &probe->readers[i];
        struct packet_flows *flows = reader->ring.flows, *next = probe->taken[i];
        struct tpacket_stats_v3 statistics = {.tp_drops = 0};
        socklen_t size = sizeof statistics;
        if (next && keeps)
            packet_flows_keep(flows, next, probe->options.keep_ms,
                              (uint32_t)(later / (int64_t)CLOCK_MILLISECOND),
                              (uint32_t)(probe->totals.elapsed / CLOCK_MILLISECOND));
        if (next)
            packet_flows_reset(next);
        probe->taken[i] = flows;
        reader->ring.flows = next;
        reader->ring.fields = fields;
        if (getsockopt(reader->fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &size) == 0)
            count_drops(&probe->totals, reader, &statistics); /* reading resets the statistics */
        probe->totals.most_rows += flows->count;
        flow_totals_add(&probe->totals.forgotten, flows->made_room);
        probe->totals.down |= reader->down;
        reader->down = false;
    }
}

/* Unmaps the ring early, so that the rows that follow can use that memory. */
static void close_ring(struct packet_reader *reader)
{
    if (reader->ring.memory)
        munmap(reader->ring.memory, reader->probe->ring_bytes);
    if (reader->fd >= 0)
        close(reader->fd);
    reader->ring.memory = NULL;
    reader->fd = -1;
}

void packet_probe_take(struct packet_probe *probe, uint64_t fields)
{
    const uint64_t until = clock_nanoseconds(CLOCK_REALTIME);
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    const int64_t later = (int64_t)(probe->from - probe->totals.from);

    probe->totals = (struct packet_totals){.from = probe->from,
                                           .elapsed = now - probe->began,
                                           .frames_only = !probe->readers->ring.has_offload};
    stop_readers(probe, until);
    swap_tables(probe, later, fields); /* readers are stopped: the rings buffer packets meanwhile */
    probe->from = until + 1;
    probe->began = now;
    probe->ending = !probe->options.repeats;
    packet_probe_go_on(probe);
    for (unsigned i = 0; i < probe->options.threads && probe->ending; i++)
        close_ring(&probe->readers[i]);
    packet_flows_join(probe->taken, probe->options.threads);
}

const struct packet_totals *packet_probe_totals(const struct packet_probe *probe)
{
    return &probe->totals;
}

int packet_probe_list(const struct packet_probe *probe, record_fn fn, void *arg)
{
    int result = 0;

    for (unsigned i = 0; i < probe->options.threads; i++)
        for (size_t j = 0; j < probe->taken[i]->count && result >= 0; j++) {
            struct record record;
            packet_flow_fill_record(&probe->taken[i]->flows[j], probe->totals.from, &record);
            record.traffic.elapsed = probe->totals.elapsed;
            record.traffic.lost = probe->totals.lost;
            record.traffic.undescribed = probe->totals.undescribed;
            result = fn(&record, arg);
        }
    return result;
}

/* --- End -------------------------------------------------------------------------------------- */

void packet_probe_destroy(struct packet_probe *probe)
{
    if (!probe)
        return;
    stop_readers(probe, 0);
    probe->ending = true;
    packet_probe_go_on(probe);
    for (size_t i = 0; i < COUNT(probe->readers); i++) {
        struct packet_reader *reader = &probe->readers[i];
        close_ring(reader);
        if (reader->wake >= 0)
            close(reader->wake);
        if (reader->done >= 0)
            close(reader->done);
        packet_flows_destroy(reader->ring.flows);
        packet_flows_destroy(probe->taken[i]);
    }
    free(probe);
}
