/* SPDX-License-Identifier: MIT */
/* Packet and netlink sockets with their reference counts, which only /proc has. All rows come from
 * netlink; the file adds the counts of the sockets that are also in it. The file is read before
 * netlink is asked. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/socket/sock_diag.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"

struct reference_count {
    uint64_t key; /* must be first: see hash_table_find_number() */
    uint32_t count;
};

struct references {
    struct hash_table counts;
    record_fn fn; /* takes the rows */
    void *arg;
};

/* The key of a netlink socket is its protocol and port, because sockets of the kernel have no
 * inode. */
static uint64_t references_key_of(const struct socket_record *sock)
{
    return sock->family == AF_NETLINK ? (uint64_t)sock->netlink_protocol << 32 | sock->portid
                                      : sock->inode;
}

static int references_note(const struct record *record, void *arg)
{
    struct references *references = arg;
    const uint64_t key = references_key_of(&record->socket);
    struct reference_count *noted =
        hash_table_find_number(&references->counts, hash_word(0, key), key);

    if (!noted)
        noted = hash_table_add(&references->counts, hash_word(0, key), sizeof *noted);
    if (!noted)
        return -ENOMEM;
    *noted = (struct reference_count){key, record->socket.refcount};
    return 0;
}

static int references_hand_on(const struct record *record, void *arg)
{
    const struct references *references = arg;
    const uint64_t key = references_key_of(&record->socket);
    const struct reference_count *noted =
        hash_table_find_number(&references->counts, hash_word(0, key), key);
    struct record counted;

    memcpy(&counted, record, record->kind->size);
    if (noted) {
        counted.has |= SOCKET_REFCOUNT;
        counted.socket.refcount = noted->count;
    }
    return references->fn(&counted, references->arg);
}

static int references_dump(const struct query *query, record_fn fn, void *arg)
{
    const bool netlink = query->table->family == AF_NETLINK;
    const struct backend *file = netlink ? &backend_proc_netlink : &backend_proc_packet;
    struct references references = {.fn = fn, .arg = arg};
    struct query all = *query;
    int result;

    all.where = NULL; /* the filter may compare fields that only netlink has */
    result = file->dump(&all, references_note, &references);
    if (result == 0)
        result = backend_sock_diag.dump(query, references_hand_on, &references);
    hash_table_finish(&references.counts);
    return result;
}

const struct backend backend_references = {
    .name = "netlink with proc",
    .source = BACKEND_AUTO,
    .provides = PROVIDES({&table_packet, FIELDS_PACKET | SOCKET_REFCOUNT},
                         {&table_netlink, FIELDS_NETLINK | SOCKET_REFCOUNT}),
    .dump = references_dump,
    .counts_rows = THESE_TABLES(&table_packet, &table_netlink),
};
