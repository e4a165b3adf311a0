/* SPDX-License-Identifier: MIT */
#include "fastnet/byte_counts.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/bpf_map.h"
#include "fastnet/bpf_program.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/kernel_types.h"
#include "fastnet/rights.h"
#include "probes/byte_counts_program.h"

enum { KEPT = 32768 };

struct seen_socket {
    uint64_t cookie;
    struct byte_count count;
};

struct byte_counts {
    int map, links[WAYS]; /* descriptors, or -1 */
    struct hash_table seen;
};

struct byte_counts *byte_counts_create(void)
{
    struct byte_counts *counts = calloc(1, sizeof *counts);

    if (counts)
        counts->map = counts->links[WAY_SENT] = counts->links[WAY_RECEIVED] = -1;
    return counts;
}

void byte_counts_destroy(struct byte_counts *counts)
{
    if (!counts)
        return;
    for (size_t way = 0; way < WAYS; way++)
        bpf_close(counts->links[way]);
    bpf_close(counts->map);
    hash_table_finish(&counts->seen);
    free(counts);
}

/* --- Start ------------------------------------------------------------------------------------ */

/* Creates the map and attaches the programs. A program lives as long as its link, and the map as
 * long as a program, so no descriptor of a program is kept. */
static int byte_counts_attach(struct byte_counts *counts, const struct byte_layout *layout)
{
    static const char *const names[WAYS] = {"fastnet_sent", "fastnet_got"};
    struct bpf_insn code[BYTE_PROGRAM_MAX];

    counts->map =
        bpf_map_create_recent(sizeof(uint64_t), sizeof(struct byte_count), KEPT, "fastnet_bytes");
    for (size_t way = 0; way < WAYS && counts->map >= 0; way++) {
        const size_t length = byte_program_make(layout, (enum byte_way)way, counts->map, code);
        counts->links[way] =
            bpf_tracepoint_attach(code, length, layout->tracepoints[way], names[way]);
        if (counts->links[way] < 0)
            return counts->links[way];
    }
    return counts->map < 0 ? counts->map : 0;
}

int byte_counts_begin(struct byte_counts *counts, struct bpf_refusal *refusal)
{
    struct byte_layout layout = {.tracepoints = {0}};
    struct kernel_types types;
    int status = bpf_check_rights(refusal, "bytes");

    if (status == 0)
        status = bpf_check_namespaces(refusal, false);
    if (status < 0)
        return status;
    status = kernel_types_init(&types);
    if (status == 0)
        status = byte_layout_init(&layout, &types.btf);
    kernel_types_finish(&types);
    if (status < 0)
        return bpf_refuse_step(refusal, status,
                               status == -ENOTSUP ? "no tracepoint sock_send_length (Linux 6.3)"
                                                  : "/sys/kernel/btf/vmlinux");
    return bpf_refuse_step(refusal, byte_counts_attach(counts, &layout), "bpf(2)");
}

/* --- Counts ----------------------------------------------------------------------------------- */

int byte_counts_read(struct byte_counts *counts)
{
    uint64_t *cookies = calloc(KEPT, sizeof *cookies);
    struct byte_count *values = calloc(KEPT, sizeof *values);
    int count = cookies && values ? bpf_map_read(counts->map, cookies, values, KEPT) : -ENOMEM;

    if (count >= 0)
        hash_table_finish(&counts->seen);
    for (int i = 0; i < count; i++) {
        struct seen_socket *seen =
            hash_table_add(&counts->seen, hash_word(0, cookies[i]), sizeof *seen);
        if (seen)
            *seen = (struct seen_socket){cookies[i], values[i]};
        else
            count = -ENOMEM;
    }
    free(cookies);
    free(values);
    return count < 0 ? count : 0;
}

/* Whether the programs count the bytes of this socket. */
static bool byte_counts_is_counted(const struct record *record)
{
    const struct socket_record *sock = &record->socket;
    const bool of_ip = sock->family == AF_INET || sock->family == AF_INET6;

    return record->kind == &kind_socket && record->has & SOCKET_COOKIE &&
           !(record->has & SOCKET_BYTES) &&
           (of_ip ? sock->protocol != IPPROTO_TCP : sock->family == AF_UNIX);
}

static void byte_counts_set(struct record *record, const struct byte_count *count)
{
    record->socket.bytes_sent = count->bytes[WAY_SENT];
    record->socket.bytes_received = count->bytes[WAY_RECEIVED];
    record->has |= SOCKET_BYTES;
}

void byte_counts_complete(const struct byte_counts *counts, struct record *record)
{
    static const struct byte_count nothing;
    const struct seen_socket *seen;

    if (!counts || !byte_counts_is_counted(record))
        return;
    seen = hash_table_find_number(&counts->seen, hash_word(0, record->identity), record->identity);
    byte_counts_set(record, seen ? &seen->count : &nothing);
}

void byte_counts_take(const struct byte_counts *counts, struct record *record)
{
    struct byte_count count;

    if (counts && byte_counts_is_counted(record) &&
        bpf_map_take_one(counts->map, &record->identity, &count) == 0)
        byte_counts_set(record, &count);
    else
        byte_counts_complete(counts, record);
}
