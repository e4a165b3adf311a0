#include "engine/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "engine/order.h"
#include "fastnet/hash.h"
#include "fastnet/lookup.h"

struct group {
    uint64_t hash, count;
    struct value *values;
};

struct groups {
    const struct column *const *columns;
    size_t column_count;
    uint64_t seed;        /* peers choose addresses: they shall not choose slots */
    struct group **slots; /* open addressing */
    size_t mask, count;
    struct rows memory;    /* of groups, values and text */
    struct value *scratch; /* the values of the record at hand */
};

enum { FIRST_SLOTS = 256 };

struct groups *groups_create(const struct column *const *columns, size_t count)
{
    struct groups *groups = calloc(1, sizeof *groups);
    uint64_t secret[2];

    if (!groups)
        return NULL;
    hash_secret(secret);
    groups->seed = secret[0];
    groups->columns = columns;
    groups->column_count = count;
    groups->mask = FIRST_SLOTS - 1;
    groups->slots = calloc(FIRST_SLOTS, sizeof(struct group *));
    groups->scratch = calloc(count, sizeof *groups->scratch);
    if (!groups->slots || !groups->scratch) {
        groups_destroy(groups);
        return NULL;
    }
    return groups;
}

void groups_destroy(struct groups *groups)
{
    if (!groups)
        return;
    rows_clear(&groups->memory);
    free(groups->slots);
    free(groups->scratch);
    free(groups);
}

static uint64_t hash_value(uint64_t hash, const struct value *value)
{
    hash = hash_bytes(hash, &value->type, sizeof value->type);
    switch (value->type) {
    case VALUE_NUMBER:
    case VALUE_DECIMAL:
        return hash_bytes(hash, &value->number, sizeof value->number);
    case VALUE_SIGNED:
        hash = hash_bytes(hash, &value->integer.negative, sizeof value->integer.negative);
        return hash_bytes(hash, &value->integer.magnitude, sizeof value->integer.magnitude);
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_LLADDR:
        return hash_bytes(hash, value->text.data, value->text.length);
    case VALUE_NAME:
        if (value->name.string)
            return hash_bytes(hash, value->name.string, strlen(value->name.string));
        return hash_bytes(hash, &value->name.number, sizeof value->name.number);
    case VALUE_ADDRESS:
        return hash_bytes(hash, value->address, value->family == AF_INET ? 4 : 16);
    case VALUE_OWNERS:
        for (size_t i = 0; i < value->owners.count; i++)
            hash = hash_bytes(hash, &value->owners.first[i].pid, sizeof(pid_t));
        return hash;
    case VALUE_FLAGS:
        return hash_bytes(hash, value->flags.bits, sizeof value->flags.bits);
    case VALUE_UNKNOWN:
        break;
    }
    return hash;
}

static bool same_values(const struct groups *groups, const struct value *a, const struct value *b)
{
    for (size_t i = 0; i < groups->column_count; i++)
        if (value_compare(&a[i], &b[i]) != 0)
            return false;
    return true;
}

/* The slot of the group that scratch belongs to, or the free one where it would be. */
static struct group **find_slot(const struct groups *groups, uint64_t hash)
{
    size_t at = (size_t)hash & groups->mask;
    struct group *group;

    while ((group = groups->slots[at]) &&
           (group->hash != hash || !same_values(groups, group->values, groups->scratch)))
        at = (at + 1) & groups->mask;
    return &groups->slots[at];
}

static int grow(struct groups *groups)
{
    size_t mask = 2 * groups->mask + 1;
    struct group **slots = calloc(mask + 1, sizeof(struct group *));

    if (!slots)
        return -ENOMEM;
    for (size_t i = 0; i <= groups->mask; i++) {
        struct group *group = groups->slots[i];
        size_t at;
        if (!group)
            continue;
        for (at = (size_t)group->hash & mask; slots[at]; at = (at + 1) & mask)
            continue;
        slots[at] = group;
    }
    free(groups->slots);
    groups->slots = slots;
    groups->mask = mask;
    return 0;
}

static char *keep_bytes(struct groups *groups, const char *data, size_t length)
{
    char *bytes = rows_allocate(&groups->memory, length);

    return bytes ? memcpy(bytes, data, length) : NULL;
}

/* The text of a value dies with its record, and so may a name; a group keeps its own. */
static int keep_value(struct groups *groups, struct value *value)
{
    switch (value->type) {
    case VALUE_TEXT:
    case VALUE_SOCKET_NAME:
    case VALUE_LLADDR:
        if (!value->text.length)
            return 0;
        value->text.data = keep_bytes(groups, value->text.data, value->text.length);
        return value->text.data ? 0 : -ENOMEM;
    case VALUE_NAME:
        if (!value->name.string)
            return 0;
        value->name.string = keep_bytes(groups, value->name.string, strlen(value->name.string) + 1);
        return value->name.string ? 0 : -ENOMEM;
    default:
        return 0;
    }
}

static struct group *create_group(struct groups *groups, uint64_t hash)
{
    struct group *group = rows_allocate(&groups->memory, sizeof *group);
    size_t size = groups->column_count * sizeof *group->values;

    if (!group)
        return NULL;
    *group = (struct group){.hash = hash, .values = rows_allocate(&groups->memory, size)};
    if (!group->values)
        return NULL;
    memcpy(group->values, groups->scratch, size);
    for (size_t i = 0; i < groups->column_count; i++)
        if (keep_value(groups, &group->values[i]) < 0)
            return NULL;
    return group;
}

int groups_add(struct groups *groups, const struct record *record, const struct context *context)
{
    uint64_t hash = groups->seed;
    struct group **slot;

    if (2 * groups->count > groups->mask && grow(groups) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < groups->column_count; i++) {
        const struct column *column = groups->columns[i];
        groups->scratch[i] = column->value(column, record, context);
        hash = hash_value(hash, &groups->scratch[i]);
    }
    slot = find_slot(groups, hash);
    if (!*slot) {
        *slot = create_group(groups, hash);
        if (!*slot)
            return -ENOMEM;
        groups->count++;
    }
    (*slot)->count++;
    return 0;
}

static int compare_groups(const void *a, const void *b, void *arg)
{
    const struct groups *groups = arg;
    const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
    int order = 0;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    for (size_t i = 0; i < groups->column_count && !order; i++)
        order = value_compare(&x->values[i], &y->values[i]);
    return order;
}

int groups_finish(struct groups *groups, struct rows *rows)
{
    size_t count = 0;
    int error = 0;

    for (size_t i = 0; i <= groups->mask; i++)
        if (groups->slots[i])
            groups->slots[count++] = groups->slots[i];
    qsort_r(groups->slots, count, sizeof(struct group *), compare_groups, groups);
    for (size_t i = 0; i < count && !error; i++) {
        const struct group *group = groups->slots[i];
        error = rows_add(
            rows, &(struct record){.kind = RECORD_COUNT,
                                   .count = {.values = group->values, .count = group->count}});
    }
    return error;
}
