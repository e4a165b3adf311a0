#include "backend/shards.h"

#include <stdlib.h>

enum { WORST_SHARE = 80 }; /* percent: with one part larger than this, two would not be faster */

static int compare_ports(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/*
 * Cuts the sorted ports into parts. Sockets of one port stay together, so a cut is where the next
 * port begins. Returns the size of the largest part.
 */
static size_t cut(const uint16_t *ports, size_t count, size_t wanted, struct shard *shards,
                  size_t *made)
{
    size_t from = 0, largest = 0;
    uint16_t low = 0;

    for (*made = 0; from < count; (*made)++) {
        size_t parts_left = wanted - *made, to = from + (count - from) / parts_left;
        if (to == from)
            to++;
        while (to < count && (parts_left == 1 || ports[to] == ports[to - 1]))
            to++;
        shards[*made] = (struct shard){.low = low, .high = to < count ? ports[to - 1] : UINT16_MAX};
        low = (uint16_t)(shards[*made].high + 1);
        largest = to - from > largest ? to - from : largest;
        from = to;
    }
    return largest;
}

size_t shards_choose(struct sample *sample, size_t wanted, struct shard shards[SHARDS_MAX])
{
    struct shard by_remote[SHARDS_MAX];
    size_t locals, remotes, largest_local, largest_remote;

    if (sample->count < wanted || wanted < 2)
        return 1;
    qsort(sample->local, sample->count, sizeof *sample->local, compare_ports);
    qsort(sample->remote, sample->count, sizeof *sample->remote, compare_ports);
    largest_local = cut(sample->local, sample->count, wanted, shards, &locals);
    largest_remote = cut(sample->remote, sample->count, wanted, by_remote, &remotes);
    if (largest_remote < largest_local) {
        for (size_t i = 0; i < remotes; i++) {
            shards[i] = by_remote[i];
            shards[i].remote = true;
        }
        locals = remotes;
        largest_local = largest_remote;
    }
    return largest_local * 100 <= sample->count * WORST_SHARE ? locals : 1;
}

/*
 * Two comparisons, each an operation and its port. "yes" and "no" are how far to go on from the
 * operation, in bytes: behind the last one the socket is taken, four bytes further it is not.
 */
void shard_filter_init(struct shard_filter *filter, const struct shard *shard)
{
    enum { STEP = 2 * sizeof(struct inet_diag_bc_op), REFUSE = sizeof(struct inet_diag_bc_op) };

    *filter = (struct shard_filter){
        .header = {.nla_len = sizeof *filter, .nla_type = INET_DIAG_REQ_BYTECODE},
        .ops = {
            {shard->remote ? INET_DIAG_BC_D_GE : INET_DIAG_BC_S_GE, STEP, 2 * STEP + REFUSE},
            {0, 0, shard->low},
            {shard->remote ? INET_DIAG_BC_D_LE : INET_DIAG_BC_S_LE, STEP, STEP + REFUSE},
            {0, 0, shard->high},
        }};
}
