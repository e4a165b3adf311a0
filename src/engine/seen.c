#include "engine/seen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A window is two sets: when the newer one holds WINDOW rows it becomes the older one, so the last
 * WINDOW to 2 * WINDOW rows are remembered, more than any two datagrams hold (32 KiB, 250 rows).
 */
enum { WINDOW = 1024, WINDOW_SLOTS = 2 * WINDOW };

struct set {
    uint64_t *slots; /* 0: free */
    size_t mask, count;
};

struct seen {
    bool all;
    struct set newer, older; /* all: newer only */
};

static int set_init(struct set *set, size_t slots)
{
    set->slots = calloc(slots, sizeof *set->slots);
    set->mask = slots - 1;
    set->count = 0;
    return set->slots ? 0 : -ENOMEM;
}

/* The slot of identity, or the free one where it belongs. */
static uint64_t *set_find(const struct set *set, uint64_t identity)
{
    size_t at = (size_t)((identity * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & set->mask;

    while (set->slots[at] && set->slots[at] != identity)
        at = (at + 1) & set->mask;
    return &set->slots[at];
}

static int set_grow(struct set *set)
{
    struct set larger;

    if (set_init(&larger, 2 * (set->mask + 1)) < 0)
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

    if (!seen)
        return NULL;
    if (set_init(&seen->newer, WINDOW_SLOTS) < 0 || set_init(&seen->older, WINDOW_SLOTS) < 0) {
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
    if (seen->newer.count)
        set_clear(&seen->newer);
    if (seen->older.count)
        set_clear(&seen->older);
}

static void slide(struct seen *seen)
{
    struct set oldest = seen->older;

    seen->older = seen->newer;
    seen->newer = oldest;
    set_clear(&seen->newer);
}

int seen_before(struct seen *seen, uint64_t identity)
{
    uint64_t *slot;

    if (seen->all) {
        if (2 * seen->newer.count > seen->newer.mask && set_grow(&seen->newer) < 0)
            return -ENOMEM;
    } else if (*set_find(&seen->older, identity)) {
        return 1;
    } else if (seen->newer.count == WINDOW) {
        slide(seen);
        return seen_before(seen, identity);
    }
    slot = set_find(&seen->newer, identity);
    if (*slot)
        return 1;
    *slot = identity;
    seen->newer.count++;
    return 0;
}
