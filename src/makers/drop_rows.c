/* SPDX-License-Identifier: MIT */
#include "makers/drop_rows.h"

#include <errno.h>

#include "fastnet/hash.h"
#include "fastnet/owners.h"

struct drop_row {
    struct record record;
    struct socket_origin origin;
};

/* The fields that are equal in all packets of a row, if they are known. */
#define DROP_ROW_FIELDS                                                                            \
    (DROP_FUNCTION | DROP_PROTOCOL | DROP_ADDRESSES | DROP_PORTS | DROP_INTERFACE | DROP_SOCKET)

struct drop_row_search {
    struct drop_rows *rows;
    const struct record *record;
    const struct socket_origin *origin;
};

/* Returns the process of a socket; 0: unknown. */
static uint32_t drop_rows_pid(struct drop_rows *rows, const struct record *record,
                              const struct socket_origin *origin)
{
    const struct owners_options options = {.proc_root = rows->processes};
    const struct owner *first;

    if (origin->pid || !record->drop.inode)
        return origin->pid;
    if (!rows->searched && owners_create(&rows->owners, &options) < 0)
        rows->owners = NULL;
    rows->searched = true;
    return rows->owners && owners_find(rows->owners, record->drop.inode, &first)
               ? (uint32_t)first->process->pid
               : 0;
}

static const struct endpoint *drop_rows_destination(const struct drop_record *drop)
{
    return drop->received ? &drop->local : &drop->remote;
}

static bool drop_rows_are_one(const void *element, const void *key)
{
    const struct drop_row_search *search = key;
    const struct drop_row *row = element;
    const struct record *other = search->record;
    const struct drop_record *a = &row->record.drop, *b = &other->drop;
    const struct endpoint *to = drop_rows_destination(a), *other_to = drop_rows_destination(b);

    if (!text_equal(a->reason, b->reason) || !text_equal(a->function, b->function))
        return false;
    if (search->rows->by_reason)
        return true;
    return (row->record.has & DROP_ROW_FIELDS) == (other->has & DROP_ROW_FIELDS) &&
           a->source == b->source && a->protocol == b->protocol && a->interface == b->interface &&
           a->received == b->received && a->uid == b->uid && to->port == other_to->port &&
           address_equal(&to->address, &other_to->address) &&
           drop_rows_pid(search->rows, &row->record, &row->origin) ==
               drop_rows_pid(search->rows, other, search->origin);
}

static uint64_t drop_rows_hash(const struct drop_rows *rows, const struct drop_record *drop)
{
    const struct endpoint *to = drop_rows_destination(drop);
    uint64_t hash = hash_bytes(hash_seed(), drop->reason.data, drop->reason.length);

    if (rows->by_reason)
        return hash;
    return hash_bytes(hash_word(hash, (uint64_t)drop->interface << 16 | to->port),
                      to->address.bytes, sizeof to->address.bytes);
}

int drop_rows_add(struct drop_rows *rows, const struct record *record,
                  const struct socket_origin *origin)
{
    const struct drop_row_search search = {rows, record, origin};
    const uint64_t hash = drop_rows_hash(rows, &record->drop);
    struct drop_row *row = hash_table_find(&rows->list, hash, drop_rows_are_one, &search);

    if (row) {
        row->record.drop.drops += record->drop.drops;
        row->record.rows = row->record.drop.drops;
        return 0;
    }
    row = hash_table_add(&rows->list, hash, sizeof *row);
    if (!row)
        return -ENOMEM;
    row->record = *record;
    row->origin = *origin;
    if (rows->by_reason) {
        row->record.has &= DROP_FUNCTION;
        row->record.drop.inode = 0;
        row->origin.pid = 0;
    }
    return 0;
}

int drop_rows_each(struct drop_rows *rows, int (*fn)(const struct record *record, void *arg),
                   void *arg)
{
    int result = 0;

    for (size_t i = 0; i < rows->list.count && result >= 0; i++) {
        struct drop_row *row = hash_table_at(&rows->list, i);
        if (row->origin.pid) {
            row->record.drop.origin = (struct text){(const char *)&row->origin, sizeof row->origin};
            row->record.has |= DROP_ORIGIN;
        }
        result = fn(&row->record, arg);
    }
    return result < 0 ? result : 0;
}

void drop_rows_clear(struct drop_rows *rows)
{
    hash_table_finish(&rows->list);
    owners_destroy(rows->owners);
    rows->owners = NULL;
    rows->searched = false;
}
