#include "backend/socket/half_open.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/report.h"

struct entry {
    uint8_t family;
    struct endpoint local, remote;
    uint32_t uid, retransmits, probes;
};

struct half_open {
    struct entry *entries; /* sorted by family and the two ends */
    size_t count, capacity;
    int error, error6; /* of reading the files of the two families */
};

static int compare_ends(const struct endpoint *a, const struct endpoint *b)
{
    int order = memcmp(a->address.bytes, b->address.bytes, sizeof a->address.bytes);

    return order ? order : (int)a->port - (int)b->port;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = (int)x->family - (int)y->family;

    if (!order)
        order = compare_ends(&x->remote, &y->remote);
    return order ? order : compare_ends(&x->local, &y->local);
}

static int remember(const struct record *record, void *arg)
{
    struct half_open *half_open = arg;
    const struct socket_record *sock = &record->socket;
    struct entry *entries;

    if (sock->state != TCP_SYN_RECV)
        return 0;
    entries = array_with_room(half_open->entries, &half_open->capacity, half_open->count + 1,
                              sizeof *entries);
    if (!entries)
        return -ENOMEM;
    half_open->entries = entries;
    entries[half_open->count++] = (struct entry){.family = sock->family,
                                                 .local = sock->local,
                                                 .remote = sock->remote,
                                                 .uid = sock->uid,
                                                 .retransmits = sock->retransmits,
                                                 .probes = sock->probes};
    return 0;
}

static void report_unknown(const struct query *query, const struct table *table, const char *why)
{
    report_note(query->report, "%s: some details of half-open connections are missing: %s",
                table->name, why);
}

/* Rows that are lost here are only noted, because netlink still lists all of them. */
static int read_table(struct half_open *half_open, const struct query *query,
                      const struct table *table)
{
    struct report losses = {0};
    struct query half = *query;
    int error;

    half.table = table;
    half.where = NULL;
    half.report = &losses;
    error = backend_proc_net.dump(&half, remember, half_open);
    if (losses.count)
        report_unknown(query, table, losses.lines[0]);
    return error;
}

struct half_open *half_open_create(const struct query *query)
{
    struct half_open *half_open = calloc(1, sizeof *half_open);
    bool both = query->table == &table_tcp_both;

    if (!half_open) {
        report_unknown(query, query->table, strerror(ENOMEM));
        return NULL;
    }
    if (both || query->table == &table_tcp)
        half_open->error = read_table(half_open, query, &table_tcp);
    if (both || query->table == &table_tcp6)
        half_open->error6 = read_table(half_open, query, &table_tcp6);
    if (half_open->count)
        qsort(half_open->entries, half_open->count, sizeof *half_open->entries, compare_entries);
    return half_open;
}

void half_open_destroy(struct half_open *half_open)
{
    if (!half_open)
        return;
    free(half_open->entries);
    free(half_open);
}

void half_open_complete(const struct half_open *half_open, struct record *record)
{
    const struct socket_record *sock = &record->socket;
    struct entry key = {.family = sock->family, .local = sock->local, .remote = sock->remote};
    const struct entry *found;

    if (!half_open || !half_open->count)
        return;
    found = bsearch(&key, half_open->entries, half_open->count, sizeof key, compare_entries);
    if (!found)
        return;
    record->socket.uid = found->uid;
    record->socket.retransmits = found->retransmits;
    record->socket.probes = found->probes;
    record->has |= SOCKET_UID | SOCKET_RETRANSMITS | SOCKET_PROBES;
}

void half_open_report(const struct half_open *half_open, const struct query *query, uint8_t family)
{
    const struct table *table = family == AF_INET6 ? &table_tcp6 : &table_tcp;
    int error = !half_open ? 0 : family == AF_INET6 ? half_open->error6 : half_open->error;
    char why[128];

    if (!error)
        return;
    snprintf(why, sizeof why, "%s/net/%s: %s", query->proc_root, table->file,
             strerror(error == -ENOTDIR ? ENOENT : -error));
    report_unknown(query, table, why);
}
