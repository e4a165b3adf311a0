/* SPDX-License-Identifier: MIT */
#include "doctor/neighbours.h"

#include <errno.h>
#include <limits.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/neighbour.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "doctor/reading.h"
#include "fastnet/array.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/neighbour_events.h"
#include "fastnet/netlink.h"
#include "fastnet/record.h"

/* In larger tables, only the first NEIGHBOURS_MAX neighbours are compared. */
enum { NEIGHBOURS_MAX = 8192 };

enum { NOT_OPEN = INT_MIN }; /* a descriptor */

/* A neighbour, and its MAC addresses since the reading before. */
struct watched_neighbour {
    uint64_t identity;
    uint8_t macs[FLAP_MACS][MAC_SIZE];
    uint8_t mac_count, current; /* 0: no MAC address is known; current: index of the latest */
    bool flaps;
    uint32_t changes;
};

struct neighbour_watch {
    struct neighbour_watcher *watcher;
    int events, packets; /* descriptors; NOT_OPEN, or -errno */
    bool is_open, needs_packets;
    bool has_table; /* a table was read */
    bool settles;   /* a table is being read: events may be older than its rows */
    bool begins;    /* the first table is being read: all its neighbours may be old */
    struct hash_table neighbours;
    struct neighbours_reading seen;        /* since the reading before; without addresses */
    struct own_ipv4 removed[REMOVED_KEPT]; /* addresses that the machine lost meanwhile */
    size_t removed_count;
};

/* --- Own addresses ---------------------------------------------------------------------------- */

/* Leaves out interfaces without ARP, because load balancers give their address to dummy interfaces
 * of other machines; and link-local addresses, which several machines may have on purpose. */
int neighbours_take_interface(struct neighbours_reading *reading,
                              const struct interface_record *interface)
{
    const uint32_t without = IFF_LOOPBACK | IFF_NOARP | IFF_POINTOPOINT;

    if (interface->type != ARPHRD_ETHER || interface->flags & without)
        return 0;
    for (size_t i = 0; i < interface->address_count; i++) {
        const struct address *address = &interface->addresses[i].local.address;
        struct own_ipv4 *own;
        if (address->family != AF_INET || (address->bytes[0] == 169 && address->bytes[1] == 254))
            continue;
        own = ARRAY_ADD(reading->own, reading->own_count, reading->own_capacity);
        if (!own)
            return -ENOMEM;
        own->interface = interface->index;
        memcpy(own->bytes, address->bytes, sizeof own->bytes);
    }
    return 0;
}

bool own_ipv4_has(const struct own_ipv4 *list, size_t count, const struct own_ipv4 *address)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].interface == address->interface &&
            memcmp(list[i].bytes, address->bytes, sizeof list[i].bytes) == 0)
            return true;
    return false;
}

/* --- MAC addresses ---------------------------------------------------------------------------- */

/* A virtual router has such an address; GLBP has several for one router. Sources: RFC 9568 7.3
 * (VRRP, also CARP), Cisco (HSRP, HSRP of version 2, HSRP of IPv6, GLBP). */
static bool mac_is_virtual(const uint8_t *mac)
{
    static const struct {
        uint8_t bytes[5], size;
    } virtual[] = {
        {{0x00, 0x00, 0x5e, 0x00, 0x01}, 5}, {{0x00, 0x00, 0x5e, 0x00, 0x02}, 5},
        {{0x00, 0x00, 0x0c, 0x07, 0xac}, 5}, {{0x00, 0x00, 0x0c, 0x9f}, 4},
        {{0x00, 0x05, 0x73, 0xa0}, 4},       {{0x00, 0x07, 0xb4, 0x00}, 4},
    };

    for (size_t i = 0; i < COUNT(virtual); i++)
        if (memcmp(mac, virtual[i].bytes, virtual[i].size) == 0)
            return true;
    return false;
}

/* The ports of a network card have consecutive addresses. A machine answers with several of them if
 * it balances its load (mode balance-alb of bonding), or if two ports are in one network. */
static bool mac_is_of_same_card(const uint8_t *a, const uint8_t *b)
{
    enum { LOCAL = 2, PORTS = 4 }; /* LOCAL: the address is not from the maker of the card */
    const int distance = (a[3] << 16 | a[4] << 8 | a[5]) - (b[3] << 16 | b[4] << 8 | b[5]);

    return !(a[0] & LOCAL) && memcmp(a, b, 3) == 0 && distance < PORTS && distance > -PORTS;
}

static bool neighbour_has_mac(const struct record *record)
{
    const struct neighbour_record *neighbour = &record->neighbour;

    return record->has & NEIGHBOUR_LLADDR && neighbour->lladdr_length == MAC_SIZE &&
           !(neighbour->state & (NUD_PERMANENT | NUD_NOARP)) &&
           !(neighbour->flags & (NTF_PROXY | NTF_EXT_LEARNED)) &&
           !mac_is_virtual(neighbour->lladdr);
}

static struct watched_neighbour *watch_find(const struct neighbour_watch *watch, uint64_t identity)
{
    return hash_table_find_number(&watch->neighbours, hash_word(0, identity), identity);
}

static struct watched_neighbour *watch_add(struct neighbour_watch *watch, uint64_t identity)
{
    struct watched_neighbour *added =
        watch->neighbours.count < NEIGHBOURS_MAX
            ? hash_table_add(&watch->neighbours, hash_word(0, identity), sizeof *added)
            : NULL;

    if (added)
        added->identity = identity;
    return added;
}

/* Forgets earlier MAC addresses. */
static void watched_begin(struct watched_neighbour *neighbour)
{
    memmove(neighbour->macs[0], neighbour->macs[neighbour->current], MAC_SIZE);
    neighbour->mac_count = neighbour->mac_count > 0;
    neighbour->current = 0;
    neighbour->flaps = false;
    neighbour->changes = 0;
}

/* Keeps the neighbour, or updates it. */
static void watch_keep_flap(struct neighbour_watch *watch, const struct record *record,
                            struct watched_neighbour *neighbour)
{
    struct neighbours_reading *seen = &watch->seen;
    size_t i = 0;

    while (i < FLAPS_KEPT && i < seen->flap_count &&
           (seen->flaps[i].interface != record->neighbour.interface ||
            !address_equal(&seen->flaps[i].address, &record->neighbour.address)))
        i++;
    seen->flap_count += !neighbour->flaps;
    neighbour->flaps = true;
    if (i == FLAPS_KEPT)
        return;
    seen->flaps[i] = (struct neighbour_flap){.address = record->neighbour.address,
                                             .interface = record->neighbour.interface,
                                             .changes = neighbour->changes,
                                             .mac_count = neighbour->mac_count,
                                             .again = neighbour->current};
    memcpy(seen->flaps[i].macs, neighbour->macs, sizeof neighbour->macs);
}

void neighbour_watch_take_event(const struct record *record, void *arg)
{
    struct neighbour_watch *watch = arg;
    const uint8_t *mac = record->neighbour.lladdr;
    struct watched_neighbour *neighbour = watch_find(watch, record->identity);
    uint8_t i = 0;

    if (!neighbour_has_mac(record) ||
        (!neighbour && !(neighbour = watch_add(watch, record->identity))))
        return;
    while (i < neighbour->mac_count && memcmp(neighbour->macs[i], mac, MAC_SIZE) != 0)
        i++;
    const bool is_known = i < neighbour->mac_count;
    if (neighbour->mac_count && (mac_is_of_same_card(mac, neighbour->macs[neighbour->current]) ||
                                 (is_known && i == neighbour->current)))
        return;
    if (!is_known && i == FLAP_MACS)
        i = (uint8_t)((neighbour->current + 1) % FLAP_MACS);
    neighbour->changes += neighbour->mac_count > 0;
    neighbour->mac_count = (uint8_t)(neighbour->mac_count + (neighbour->mac_count == i));
    memcpy(neighbour->macs[i], mac, MAC_SIZE);
    neighbour->current = i;
    if (watch->settles)
        watched_begin(neighbour);
    else if (is_known)
        watch_keep_flap(watch, record, neighbour);
}

enum neighbour_past neighbour_watch_learn(struct neighbour_watch *watch,
                                          const struct record *record)
{
    struct watched_neighbour *neighbour = watch_find(watch, record->identity);

    if (neighbour)
        return neighbour->mac_count ? NEIGHBOUR_HAD_MAC : NEIGHBOUR_HAD_ENTRY;
    neighbour = watch_add(watch, record->identity);
    if (neighbour && neighbour_has_mac(record)) {
        memcpy(neighbour->macs[0], record->neighbour.lladdr, MAC_SIZE);
        neighbour->mac_count = 1;
    }
    return neighbour && !watch->begins ? NEIGHBOUR_IS_NEW : NEIGHBOUR_HAD_MAC;
}

/* --- Sockets ---------------------------------------------------------------------------------- */

/* If too many addresses were removed, the claims of all are worth nothing. */
void neighbour_watch_take_removed(const struct interface_address *address, void *arg)
{
    struct neighbour_watch *watch = arg;
    struct own_ipv4 *removed = &watch->removed[watch->removed_count];

    if (watch->removed_count == REMOVED_KEPT)
        return;
    watch->removed_count++;
    removed->interface = address->interface;
    memcpy(removed->bytes, address->local.address.bytes, sizeof removed->bytes);
}

void neighbour_watch_take_claim(const struct arp_claim *claim, void *arg)
{
    struct neighbours_reading *seen = &((struct neighbour_watch *)arg)->seen;
    size_t i = 0;

    if (mac_is_virtual(claim->mac))
        return;
    while (i < seen->claim_count &&
           (!own_ipv4_has(&seen->claims[i].claim.to, 1, &claim->to) ||
            memcmp(seen->claims[i].claim.mac, claim->mac, sizeof claim->mac) != 0))
        i++;
    if (i == CLAIMS_KEPT)
        return;
    seen->claim_count += i == seen->claim_count;
    seen->claims[i].claim = *claim;
    seen->claims[i].count++;
}

void neighbour_watch_drain(struct neighbour_watch *watch)
{
    const struct neighbour_events events = {neighbour_watch_take_event,
                                            neighbour_watch_take_removed, watch};

    if (watch->events >= 0)
        (void)neighbour_events_read(watch->watcher->netlink, watch->events, &events);
    if (watch->packets >= 0)
        arp_claims_read(watch->packets, neighbour_watch_take_claim, watch);
}

/* Closes a descriptor if few are left for others. Returns the descriptor, or -errno. */
static int watch_keep_descriptor(int fd)
{
    enum { OTHERS = 64 };
    struct rlimit limit;

    if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0 || (rlim_t)fd + OTHERS < limit.rlim_cur)
        return fd;
    close(fd);
    return -EMFILE;
}

/* Opens the socket for ARP, or gives it the addresses of this reading. */
static void watch_arp(struct neighbour_watch *watch, struct neighbours_reading *reading)
{
    struct neighbour_watcher *watcher = watch->watcher;

    watch->needs_packets = reading->own_count > 0;
    if (watch->packets >= 0) {
        (void)arp_claims_watch(watch->packets, reading->own, reading->own_count);
        return;
    }
    if (!watch->needs_packets || watch->packets != NOT_OPEN)
        return; /* there is nothing to watch, or it was tried */
    reading->unwatched = watcher->packet_sockets >= WATCHED_MAX;
    if (reading->unwatched)
        watch->needs_packets = false;
    else if (watch->events < 0)
        watch->packets = watch->events; /* there may be too few descriptors */
    else
        watch->packets = watch_keep_descriptor(arp_claims_open(reading->own, reading->own_count));
    watcher->packet_sockets += watch->packets >= 0;
}

void neighbour_watch_open(struct neighbour_watch *watch, struct neighbours_reading *reading)
{
    if (!watch->is_open && watch->watcher->netlink)
        watch->events = watch_keep_descriptor(neighbour_events_open(watch->watcher->netlink));
    watch->is_open = true;
    watch_arp(watch, reading);
}

void neighbour_watch_begin_table(struct neighbour_watch *watch, struct neighbours_reading *reading)
{
    neighbour_watch_drain(watch);
    for (size_t i = 0; i < watch->neighbours.count; i++)
        watched_begin(hash_table_at(&watch->neighbours, i));
    watch->begins = !watch->has_table || watch->neighbours.count >= NEIGHBOURS_MAX;
    if (watch->begins)
        hash_table_finish(&watch->neighbours);
    reading->flap_count = watch->seen.flap_count;
    memcpy(reading->flaps, watch->seen.flaps, sizeof reading->flaps);
    for (size_t i = 0; i < watch->seen.claim_count && watch->removed_count < REMOVED_KEPT; i++)
        if (!own_ipv4_has(watch->removed, watch->removed_count, &watch->seen.claims[i].claim.to))
            reading->claims[reading->claim_count++] = watch->seen.claims[i];
    memset(&watch->seen, 0, sizeof watch->seen);
    watch->removed_count = 0;
    watch->settles = watch->has_table = true;
}

void neighbour_watch_end_table(struct neighbour_watch *watch)
{
    neighbour_watch_drain(watch);
    watch->settles = false;
}

unsigned neighbour_watch_reads(const struct neighbour_watch *watch)
{
    return (watch->events >= 0 ? READS_CHANGES : 0) |
           (watch->packets >= 0 || !watch->needs_packets ? READS_ARP : 0);
}

/* --- Beginning and end ------------------------------------------------------------------------ */

struct neighbour_watch *neighbour_watch_create(struct neighbour_watcher *watcher)
{
    struct neighbour_watch *watch = calloc(1, sizeof *watch);

    if (watch) {
        watch->watcher = watcher;
        watch->events = watch->packets = NOT_OPEN;
    }
    return watch;
}

void neighbour_watch_destroy(struct neighbour_watch *watch)
{
    if (!watch)
        return;
    if (watch->events >= 0)
        close(watch->events);
    if (watch->packets >= 0) {
        close(watch->packets);
        watch->watcher->packet_sockets--;
    }
    hash_table_finish(&watch->neighbours);
    free(watch);
}
