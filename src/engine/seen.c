/* SPDX-License-Identifier: MIT */
#include "engine/seen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fastnet/hash.h"

/* The window is two sets. When the newer set has WINDOW rows, it becomes the older set. So the last
 * WINDOW to 2 * WINDOW rows are remembered: more than two datagrams (32 KiB, 250 rows each). */
enum { WINDOW = 1024, WINDOW_BITS = 12, FIRST_BITS = 9 /* one page: most listings are short */ };

struct set {
    uint64_t *slots; /* keys; 0: free */
    size_t mask, count;
    unsigned shift; /* key >> shift is the key's first slot */
};

/* A key is an identity times a secret odd number: different for each identity, never 0. Its upper
 * bits depend on the whole identity, and an attacker cannot choose identities that crowd some
 * slots. The sets are not a hash_table.h, because every row is looked up: slots that hold the keys
 * themselves save calls and memory. */
struct seen {
    bool all;
    unsigned fill; /* a set is full if one in 1 << fill of its slots has a key */
    uint64_t factor;
    struct set newer, older; /* if `all`, only newer is used; older gets slots when needed */
};

/* Returns zeroed memory. Lookups are all over a large set, so nearly every lookup needs another
 * page: with huge pages (MADV_HUGEPAGE is a hint) they take half the time. */
static void *allocate_slots(size_t size)
{
    enum { HUGE_PAGE = 2 * 1024 * 1024 }; /* on x86-64, and on arm64 with pages of 4 KiB */
    void *slots;

    if (size < HUGE_PAGE)
        return calloc(1, size);
    slots = aligned_alloc(HUGE_PAGE, size); /* the size is a power of two, too */
    if (!slots)
        return NULL;
    madvise(slots, size, MADV_HUGEPAGE);
    return memset(slots, 0, size);
}

static int set_init(struct set *set, unsigned bits)
{
    const size_t slots = (size_t)1 << bits;

    set->slots = allocate_slots(slots * sizeof *set->slots);
    set->mask = slots - 1;
    set->shift = 64 - bits;
    set->count = 0;
    return set->slots ? 0 : -ENOMEM;
}

/* The slot that has the key, or the free slot for it. */
static uint64_t *set_find(const struct set *set, uint64_t key)
{
    size_t at = (size_t)(key >> set->shift);

    while (set->slots[at] && set->slots[at] != key)
        at = (at + 1) & set->mask;
    return &set->slots[at];
}

static int set_grow(struct set *set)
{
    struct set larger;

    if (set_init(&larger, 64 - set->shift + 1) < 0)
        return -ENOMEM;
    for (size_t i = 0; i <= set->mask; i++)
        if (set->slots[i])
            *set_find(&larger, set->slots[i]) = set->slots[i];
    larger.count = set->count;
    free(set->slots);
    *set = larger;
    return 0;
}

static void set_clear(struct set *set)
{
    memset(set->slots, 0, (set->mask + 1) * sizeof *set->slots);
    set->count = 0;
}

struct seen *seen_create(void)
{
    struct seen *seen = calloc(1, sizeof *seen);
    uint64_t secret[2];

    if (!seen)
        return NULL;
    hash_secret(secret);
    seen->factor = (secret[0] ^ UINT64_C(0x9e3779b97f4a7c15)) | 1;
    if (set_init(&seen->newer, FIRST_BITS) < 0) {
        seen_destroy(seen);
        return NULL;
    }
    return seen;
}

void seen_destroy(struct seen *seen)
{
    if (!seen)
        return;
    free(seen->newer.slots);
    free(seen->older.slots);
    free(seen);
}

void seen_start(struct seen *seen, bool all)
{
    seen->all = all;
    seen->fill = all ? 1 : 2; /* a window has 4 slots per key: most find the first slot free */
    if (seen->newer.count)
        set_clear(&seen->newer);
    if (seen->older.count)
        set_clear(&seen->older);
}

/* Makes the newer set the older set. Returns 0 or -ENOMEM. */
static int slide_window(struct seen *seen)
{
    struct set oldest = seen->older;

    if (oldest.slots)
        set_clear(&oldest);
    else if (set_init(&oldest, WINDOW_BITS) < 0)
        return -ENOMEM;
    seen->older = seen->newer;
    seen->newer = oldest;
    return 0;
}

/* Makes room for a key when the newer set is full. Returns 0 or -ENOMEM. Not inlined, because
 * seen_before() would then save more registers for every row. */
static __attribute__((noinline)) int seen_make_room(struct seen *seen)
{
    return !seen->all && seen->newer.count >= WINDOW ? slide_window(seen) : set_grow(&seen->newer);
}

int seen_before(struct seen *seen, uint64_t identity)
{
    const uint64_t key = identity * seen->factor;
    uint64_t *slot;

    if (seen->newer.count << seen->fill > seen->newer.mask && seen_make_room(seen) < 0)
        return -ENOMEM;
    slot = set_find(&seen->newer, key);
    if (*slot || (seen->older.count && *set_find(&seen->older, key)))
        return 1;
    *slot = key;
    seen->newer.count++;
    return 0;
}

bool seen_has(const struct seen *seen, uint64_t identity)
{
    const uint64_t key = identity * seen->factor;

    return *set_find(&seen->newer, key) || (seen->older.count && *set_find(&seen->older, key));
}
