/* SPDX-License-Identifier: MIT */
/*
 * The pass over all sockets, with what its program wrote of any content and cut anywhere: each
 * socket is listed once, in its namespace and its table. The first byte says where it is cut. The
 * second reading finds the same, in one piece; the kernel counted as many as the second byte says.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/socket/socket_pass.h"
#include "bytes.h"
#include "fastnet/array.h"
#include "fastnet/hosts.h"
#include "fastnet/peers.h"
#include "fastnet/socket_pass.h"
#include "fuzz.h"

static const struct table *const tables[] = {&table_tcp,     &table_tcp6,    &table_udp,
                                             &table_udp6,    &table_raw,     &table_raw6,
                                             &table_udplite, &table_udplite6};

struct looking {
    const struct table *table;
    uint64_t last; /* cookie of the row before */
    size_t rows;
};

/* The socket that has the same addresses the other way round is its other end (peers.h). */
static void look_from_other_end(const struct record *record)
{
    struct peers *peers = peers_create();
    struct record other = *record;

    other.socket.local = record->socket.remote;
    other.socket.remote = record->socket.local;
    require(peers != NULL && peers_add(peers, record) == 0);
    require(peers_inode(peers, &other) == (record->socket.remote.port ? record->socket.inode : 0));
    require(peers_path(peers, record->socket.inode).length == 0);
    peers_destroy(peers);
}

static int look_at_row(const struct record *record, void *arg)
{
    struct looking *looking = arg;
    const struct socket_record *sock = &record->socket;

    require(record->kind == &kind_socket && sock->protocol == looking->table->protocol);
    require(looking->table->family == AF_UNSPEC || sock->family == looking->table->family);
    require((record->has & ~backend_fields(&backend_socket_pass, looking->table)) == 0);
    require_address(&sock->local.address, sock->family);
    require_address(&sock->remote.address, sock->family);
    require(sock->local.port != 0);
    look_from_other_end(record);
    if (looking->table->family != AF_UNSPEC) /* those that are only bound come last */
        require(!looking->rows || record->identity > looking->last ||
                sock->state == STATE_BOUND_INACTIVE);
    looking->last = record->identity;
    looking->rows++;
    return 0;
}

/* Returns the number of rows. The backend gives all of them, or none and an error. */
static size_t list(const struct socket_pass *pass, const struct table *table, uint32_t netns)
{
    struct looking looking = {.table = table}, again = looking;
    const struct query query = {.table = table, .pass = pass, .netns = netns};
    int status;

    require(socket_pass_list(&query, look_at_row, &looking) == 0);
    status = backend_socket_pass.dump(&query, look_at_row, &again);
    require(again.rows == (status == 0 ? looking.rows : 0));
    require(status == 0 || status == -EOPNOTSUPP);
    return looking.rows;
}

/* Rows of one namespace. */
static size_t list_all(const struct socket_pass *pass, uint32_t netns)
{
    size_t rows[COUNT(tables)], sum = 0;

    for (size_t i = 0; i < COUNT(tables); i++) {
        rows[i] = list(pass, tables[i], netns);
        sum += rows[i];
    }
    require(socket_pass_pays(&table_tcp, NULL) && !socket_pass_pays(&table_udp, NULL));
    require(list(pass, &table_tcp_both, netns) == rows[0] + rows[1]);
    return sum;
}

static bool is_listed_before(const char *bytes, size_t i, uint32_t netns)
{
    struct pass_socket other;

    for (size_t j = 0; j < i; j++) {
        memcpy(&other, bytes + j * sizeof other, sizeof other);
        if (other.netns == netns)
            return true;
    }
    return false;
}

/* All namespaces that the input names. */
static void look_at(const struct socket_pass *pass, const char *bytes, size_t size)
{
    enum { LOOKED_AT_MAX = 64 }; /* because it takes the square of the time */
    const size_t count = size / sizeof(struct pass_socket);
    size_t rows = 0;

    require(socket_pass_count(pass) <= count);
    for (size_t i = 0; i < count && i < LOOKED_AT_MAX; i++) {
        struct pass_socket held;
        memcpy(&held, bytes + i * sizeof held, sizeof held);
        if (!is_listed_before(bytes, i, held.netns))
            rows += list_all(pass, held.netns);
    }
    require(rows <= socket_pass_count(pass));
}

/* Wherever the kernel's types have their members, the program fits and ends. */
static void make_program(const char *bytes, size_t size)
{
    struct bpf_insn code[PASS_PROGRAM_MAX];
    struct pass_layout layout = {.function = 0};
    size_t count;

    memcpy(&layout, bytes, size < sizeof layout ? size : sizeof layout);
    count = pass_program_make(&layout, false, code);
    require(count > 0);
    require(code[count - 1].code == (BPF_JMP | BPF_EXIT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = {data, size};
    const size_t step = 1 + bytes_u8(&input), number = bytes_u8(&input);
    const char *bytes = (const char *)input.at;
    struct socket_pass *pass = socket_pass_create_empty();
    int status;

    require(pass != NULL);
    for (size_t from = 0; from < input.left; from += step) {
        const size_t left = input.left - from;
        require(socket_pass_take(pass, bytes + from, left < step ? left : step) == 0);
    }
    socket_pass_halve(pass);
    for (unsigned i = 0; i < 4; i++) {
        struct socket_numbers numbers = {.netns = i, .used = number};
        for (size_t j = 0; j < PASS_TABLES; j++)
            numbers.in_use[j] = number;
        require(socket_pass_count_as(pass, &numbers) == 0);
    }
    require(socket_pass_take(pass, bytes, input.left) == 0);
    status = socket_pass_settle(pass);
    require((status == 0) == (input.left % sizeof(struct pass_socket) == 0));
    if (status == 0)
        look_at(pass, bytes, input.left);
    else
        require(socket_pass_count(pass) == 0);
    socket_pass_destroy(pass);
    make_program(bytes, input.left);
    return 0;
}
