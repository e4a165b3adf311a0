/* SPDX-License-Identifier: MIT */
/* The pass over all sockets: its program, run here, and what is made of what the program writes. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../helpers/made_sockets.h"
#include "backend/socket/socket_pass.h"
#include "fastnet/array.h"
#include "fastnet/kernel_abi.h"
#include "fastnet/predicate.h"
#include "kit.h"
#include "processor.h"

/* --- The kernel's types ----------------------------------------------------------------------- */

static char bytes[MADE_BTF_MAX];

static size_t make_types(void)
{
    struct made_btf made = {.types = 0};

    made_kernel_with_sockets(&made);
    return made_bytes(&made, bytes);
}

static int layout_of(size_t length, struct pass_layout *layout)
{
    struct btf btf;
    int status;

    assert_int_equal(btf_init(&btf, (struct text){bytes, length}), 0);
    status = pass_layout_init(layout, &btf);
    btf_finish(&btf);
    return status;
}

static void offsets_are_those_of_the_kernels_types(void **state)
{
    struct pass_layout layout;

    (void)state;
    assert_int_equal(layout_of(make_types(), &layout), 0);
    assert_int_equal(layout.file.offset, 24);
    assert_int_equal(layout.netns.offset, MADE_NET_NUMBER);
    assert_int_equal(layout.net.offset, MADE_NET);
    assert_int_equal(layout.cgroup.offset, MADE_CGROUP);
    assert_int_equal(layout.local.offset, MADE_LOCAL);
    assert_int_equal(layout.local.size, BPF_W);
    assert_int_equal(layout.remote6.offset, MADE_REMOTE6);
    assert_int_equal(layout.local_port.size, BPF_H);
    assert_int_equal(layout.v6only.offset, MADE_V6ONLY);
    assert_int_equal(layout.v6only.shift, MADE_V6ONLY_SHIFT);
    assert_int_equal(layout.received.offset, MADE_RECEIVED);
    assert_int_equal(layout.probes.offset, MADE_PROBES);
    assert_int_equal(layout.probes.size, BPF_B);
}

static const char members[] =
    "bpf_iter_task_file meta file seq f_inode i_ino socket sk __sk_common skc_net net ns "
    "inum sk_cgrp_data cgroup kn id skc_family skc_state skc_bound_dev_if skc_num "
    "skc_dport skc_rcv_saddr skc_daddr skc_v6_rcv_saddr skc_v6_daddr skc_ipv6only "
    "sk_type sk_protocol sk_shutdown sk_uid sk_mark sk_backlog rmem_alloc sk_wmem_alloc "
    "sk_ack_backlog sk_max_ack_backlog tcp_sock rcv_nxt copied_seq write_seq snd_una "
    "inet_conn icsk_retransmits icsk_probes_out icsk_accept_queue qlen udp_sock forward_deficit";

/* Returns how often the name was there. */
static size_t spoil(const char *name, size_t length)
{
    const size_t size = strlen(name) + 1;
    size_t spoilt = 0;

    for (char *at = bytes + 1; at + size <= bytes + length; at++)
        if (at[-1] == '\0' && memcmp(at, name, size) == 0) {
            *at ^= 1;
            spoilt++;
        }
    return spoilt;
}

/* A name that is spoilt is not found: no part can be missing unnoticed. */
static void every_part_is_needed(void **state)
{
    char copy[sizeof members], *rest = NULL;
    struct pass_layout layout;

    (void)state;
    memcpy(copy, members, sizeof members);
    for (const char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        const size_t length = make_types();
        assert_true(spoil(name, length) > 0);
        assert_int_equal(layout_of(length, &layout), -ENOTSUP);
    }
}

/* --- The program, run ------------------------------------------------------------------------- */

/* As the kernel of made_sockets.h has them. struct sock is the beginning of all kinds of sockets.
 */
struct scene {
    char file[64], inode[128], socket[64], net[128], cgroup[64], node[128], meta[8];
    char sock[1200];
    uint64_t context[4];
    bool is_socket, is_tcp;
    bool only_unlisted; /* for pass_program_make() */
    struct pass_socket said;
    size_t count; /* of these */
};

/* A socket of TCP over IPv4: 10.0.0.1:8080, connected to 10.0.0.2:443. */
static void make_scene(struct scene *scene)
{
    *scene = (struct scene){.is_socket = true, .is_tcp = true};
    place_pointer(scene->file + MADE_FILE_INODE, scene->inode);
    place_u64(scene->inode + MADE_INODE_NUMBER, UINT64_C(5000000000));
    place_pointer(scene->socket + MADE_SOCKET_SOCK, scene->sock);
    place_u32(scene->net + MADE_NET_NUMBER, UINT32_C(4026531840));
    place_pointer(scene->cgroup + MADE_CGROUP_NODE, scene->node);
    place_u64(scene->node + MADE_NODE_ID, UINT64_C(6000000000));
    place_u64(scene->meta, 99);
    place_pointer(scene->sock + MADE_NET, scene->net);
    place_pointer(scene->sock + MADE_CGROUP, scene->cgroup);
    place_u16(scene->sock + MADE_FAMILY, AF_INET);
    place_u16(scene->sock + MADE_TYPE, SOCK_STREAM);
    place_u16(scene->sock + MADE_PROTOCOL, IPPROTO_TCP);
    scene->sock[MADE_STATE] = TCP_ESTABLISHED;
    scene->sock[MADE_SHUTDOWN] = 2;
    place_u32(scene->sock + MADE_LOCAL, htonl(0x0a000001));
    place_u32(scene->sock + MADE_REMOTE, htonl(0x0a000002));
    place_u16(scene->sock + MADE_LOCAL_PORT, 8080);
    place_u16(scene->sock + MADE_REMOTE_PORT, htons(443));
    place_u32(scene->sock + MADE_INTERFACE, 3);
    place_u32(scene->sock + MADE_UID, 1000);
    place_u32(scene->sock + MADE_MARK, 77);
    place_u32(scene->sock + MADE_RECEIVED, 500);
    place_u32(scene->sock + MADE_SENT, 41);
    place_u32(scene->sock + MADE_WAITING, 2);
    place_u32(scene->sock + MADE_BACKLOG, 128);
    place_u32(scene->sock + MADE_DEFICIT, 100);
    place_u32(scene->sock + MADE_RECEIVED_NEXT, 1010);
    place_u32(scene->sock + MADE_COPIED, 1000);
    place_u32(scene->sock + MADE_WRITTEN, 5);
    place_u32(scene->sock + MADE_ACKNOWLEDGED, UINT32_MAX);
    place_u32(scene->sock + MADE_HALF_OPEN, 3);
    scene->sock[MADE_RETRANSMITS] = 4;
    scene->sock[MADE_PROBES] = 5;
    scene->context[0] = (uintptr_t)scene->meta;
    scene->context[3] = (uintptr_t)scene->file;
}

static uint64_t take_row(struct scene *scene, const uint64_t *registers)
{
    const void *said = (const void *)(uintptr_t)registers[2];

    assert_int_equal(registers[1], 99);
    assert_int_equal(registers[3], sizeof scene->said);
    assert_non_null(said);
    if (said)
        memcpy(&scene->said, said, sizeof scene->said);
    scene->count++;
    return 0;
}

static uint64_t call(struct processor *processor, int function)
{
    struct scene *scene = processor->arg;
    const uint64_t *registers = processor->registers;

    switch (function) {
    case BPF_FUNC_sock_from_file:
        assert_int_equal(registers[1], (uintptr_t)scene->file);
        return scene->is_socket ? (uintptr_t)scene->socket : 0;
    case BPF_FUNC_skc_to_tcp_sock:
        assert_int_equal(registers[1], (uintptr_t)scene->sock);
        return scene->is_tcp ? (uintptr_t)scene->sock : 0;
    case BPF_FUNC_get_socket_cookie:
        assert_int_equal(registers[1], (uintptr_t)scene->sock);
        return UINT64_C(7000000000);
    case BPF_FUNC_probe_read_kernel:
        assert_in_range(registers[3], (uintptr_t)scene->sock,
                        (uintptr_t)scene->sock + sizeof scene->sock - registers[2]);
        memcpy((void *)(uintptr_t)registers[1], (const void *)(uintptr_t)registers[3],
               (size_t)registers[2]);
        return 0;
    default:
        assert_int_equal(function, BPF_FUNC_seq_write);
        return take_row(scene, registers);
    }
}

static void run(struct scene *scene)
{
    struct processor processor = {.call = call, .arg = scene};
    struct bpf_insn program[PASS_PROGRAM_MAX];
    struct pass_layout layout;
    size_t count;

    assert_int_equal(layout_of(make_types(), &layout), 0);
    count = pass_program_make(&layout, scene->only_unlisted, program);
    assert_int_not_equal(count, 0);
    processor_run(&processor, program, count, scene->context);
}

static struct record row_of(struct scene *scene)
{
    struct record record;

    run(scene);
    assert_int_equal(scene->count, 1);
    held_socket_decode(&scene->said, &record);
    return record;
}

static void assert_endpoint(const struct endpoint *endpoint, const char *address, unsigned port)
{
    char text[INET6_ADDRSTRLEN];

    assert_non_null(
        inet_ntop(endpoint->address.family, endpoint->address.bytes, text, sizeof text));
    assert_string_equal(text, address);
    assert_int_equal(endpoint->port, port);
}

/* Returns whether the program for unlisted sockets writes a socket of IPv4. */
static bool is_written(uint16_t type, uint16_t protocol, char state, uint16_t port)
{
    struct scene scene;

    make_scene(&scene);
    scene.only_unlisted = true;
    place_u16(scene.sock + MADE_TYPE, type);
    place_u16(scene.sock + MADE_PROTOCOL, protocol);
    scene.sock[MADE_STATE] = state;
    place_u16(scene.sock + MADE_LOCAL_PORT, port);
    run(&scene);
    return scene.count;
}

static void a_pass_may_leave_out_listed_sockets(void **state)
{
    struct scene scene;

    (void)state;
    assert_false(is_written(SOCK_STREAM, IPPROTO_TCP, TCP_ESTABLISHED, 80));
    assert_false(is_written(SOCK_STREAM, IPPROTO_TCP, TCP_LISTEN, 80));
    assert_true(is_written(SOCK_STREAM, IPPROTO_TCP, TCP_CLOSE, 0));
    assert_true(is_written(SOCK_STREAM, IPPROTO_TCP, TCP_CLOSE, 80));
    assert_false(is_written(SOCK_DGRAM, IPPROTO_UDP, TCP_CLOSE, 53));
    assert_false(is_written(SOCK_DGRAM, IPPROTO_UDPLITE, TCP_ESTABLISHED, 53));
    assert_true(is_written(SOCK_DGRAM, IPPROTO_UDP, TCP_CLOSE, 0));
    assert_true(is_written(SOCK_DGRAM, IPPROTO_UDPLITE, TCP_CLOSE, 0));
    assert_false(is_written(SOCK_RAW, IPPROTO_ICMP, TCP_CLOSE, 1));
    assert_true(is_written(SOCK_STREAM, PROTOCOL_MPTCP, TCP_ESTABLISHED, 80));
    for (uint16_t family = AF_UNIX; family <= AF_NETLINK; family++) {
        make_scene(&scene);
        scene.only_unlisted = true;
        place_u16(scene.sock + MADE_FAMILY, family);
        run(&scene);
        assert_int_equal(scene.count, family != AF_UNIX && family != AF_INET && family != AF_INET6);
    }
}

static void a_connection_is_a_row(void **state)
{
    struct scene scene;
    struct record record;

    (void)state;
    make_scene(&scene);
    record = row_of(&scene);
    assert_int_equal(scene.said.netns, UINT32_C(4026531840));
    assert_ptr_equal(held_socket_table(&scene.said), &table_tcp);
    assert_int_equal(record.identity, UINT64_C(7000000000));
    assert_int_equal(record.socket.inode, UINT64_C(5000000000));
    assert_int_equal(record.socket.cgroup, UINT64_C(6000000000));
    assert_int_equal(record.socket.state, TCP_ESTABLISHED);
    assert_int_equal(record.socket.uid, 1000);
    assert_int_equal(record.socket.mark, 77);
    assert_int_equal(record.socket.interface, 3);
    assert_int_equal(record.socket.shutdown, 2);
    assert_int_equal(record.socket.recv_q, 10);
    assert_int_equal(record.socket.send_q, 6);
    assert_int_equal(record.socket.retransmits, 4);
    assert_int_equal(record.socket.probes, 5);
    assert_endpoint(&record.socket.local, "10.0.0.1", 8080);
    assert_endpoint(&record.socket.remote, "10.0.0.2", 443);
    assert_false(record.has & (SOCKET_BACKLOG | SOCKET_V6ONLY | SOCKET_TIMER));
}

static void a_listener_has_its_queue_of_connections(void **state)
{
    struct scene scene;
    struct record record;

    (void)state;
    make_scene(&scene);
    scene.sock[MADE_STATE] = TCP_LISTEN;
    record = row_of(&scene);
    assert_int_equal(record.socket.recv_q, 2);
    assert_int_equal(record.socket.send_q, 128);
    assert_true(record.has & SOCKET_BACKLOG);
    assert_int_equal(record.socket.backlog, 128);
    assert_int_equal(scene.said.sent[1], 3); /* half-open */
}

static void an_address_of_ipv6_has_16_bytes(void **state)
{
    struct scene scene;
    struct record record;

    (void)state;
    make_scene(&scene);
    place_u16(scene.sock + MADE_FAMILY, AF_INET6);
    scene.sock[MADE_STATE] = TCP_LISTEN;
    memcpy(scene.sock + MADE_LOCAL6, "\xfe\x80\0\0\0\0\0\0\1\2\3\4\5\6\7\x8", 16);
    memcpy(scene.sock + MADE_REMOTE6, "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\x9", 16);
    record = row_of(&scene);
    assert_ptr_equal(held_socket_table(&scene.said), &table_tcp6);
    assert_endpoint(&record.socket.local, "fe80::102:304:506:708", 8080);
    assert_endpoint(&record.socket.remote, "2001:db8::9", 443);
    assert_true(record.has & SOCKET_V6ONLY);
    assert_int_equal(record.socket.v6only, 0);
    scene.count = 0;
    scene.sock[MADE_V6ONLY] = (char)(1 << MADE_V6ONLY_SHIFT);
    assert_int_equal(row_of(&scene).socket.v6only, 1);
    scene.count = 0;
    scene.sock[MADE_V6ONLY] = (char)~(1 << MADE_V6ONLY_SHIFT);
    assert_int_equal(row_of(&scene).socket.v6only, 0);
    scene.count = 0;
    scene.sock[MADE_STATE] = TCP_ESTABLISHED;
    assert_false(row_of(&scene).has & SOCKET_V6ONLY);
}

/* What was read but not yet given back counts as read; one byte stands for the socket itself. */
static void queues_of_udp_are_memory(void **state)
{
    static const uint16_t protocols[] = {IPPROTO_UDP, IPPROTO_UDPLITE};
    static const struct table *const tables[] = {&table_udp, &table_udplite};

    (void)state;
    for (size_t i = 0; i < COUNT(protocols); i++) {
        struct scene scene;
        struct record record;
        make_scene(&scene);
        scene.is_tcp = false;
        place_u16(scene.sock + MADE_TYPE, SOCK_DGRAM);
        place_u16(scene.sock + MADE_PROTOCOL, protocols[i]);
        scene.sock[MADE_STATE] = TCP_CLOSE;
        record = row_of(&scene);
        assert_ptr_equal(held_socket_table(&scene.said), tables[i]);
        assert_int_equal(record.socket.state, TCP_CLOSE);
        assert_int_equal(record.socket.recv_q, 400);
        assert_int_equal(record.socket.send_q, 40);
        assert_int_equal(record.socket.retransmits, 0);
        assert_true(record.has & SOCKET_RETRANSMITS);
    }
}

/* Its port is its protocol. */
static void raw_sockets_of_all_protocols_are_one_table(void **state)
{
    struct scene scene;
    struct record record;

    (void)state;
    make_scene(&scene);
    scene.is_tcp = false;
    place_u16(scene.sock + MADE_TYPE, SOCK_RAW);
    place_u16(scene.sock + MADE_PROTOCOL, IPPROTO_ICMP);
    place_u16(scene.sock + MADE_LOCAL_PORT, IPPROTO_ICMP);
    record = row_of(&scene);
    assert_ptr_equal(held_socket_table(&scene.said), &table_raw);
    assert_int_equal(record.socket.protocol, IPPROTO_RAW);
    assert_int_equal(record.socket.local.port, IPPROTO_ICMP);
    assert_int_equal(record.socket.recv_q, 500);
    assert_int_equal(record.socket.send_q, 40);
}

/* The kernel's own look at the protocol alone: bpf_skc_to_tcp_sock() in net/core/filter.c. */
static void nothing_is_read_of_a_raw_socket_because_of_its_protocol(void **state)
{
    static const uint16_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_UDPLITE};

    (void)state;
    for (size_t i = 0; i < COUNT(protocols); i++) {
        struct scene scene;
        struct record record;
        make_scene(&scene);
        scene.is_tcp = protocols[i] == IPPROTO_TCP;
        place_u16(scene.sock + MADE_TYPE, SOCK_RAW);
        place_u16(scene.sock + MADE_PROTOCOL, protocols[i]);
        scene.sock[MADE_STATE] = TCP_LISTEN;
        record = row_of(&scene);
        assert_ptr_equal(held_socket_table(&scene.said), &table_raw);
        assert_int_equal(record.socket.recv_q, 500);
        assert_int_equal(record.socket.send_q, 40);
        assert_int_equal(record.socket.retransmits, 0);
        assert_int_equal(record.socket.probes, 0);
    }
}

static void nothing_else_is_written(void **state)
{
    struct scene scene;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        make_scene(&scene);
        if (i == 0)
            scene.context[3] = 0; /* the end of the walk */
        else if (i == 1)
            scene.is_socket = false;
        else
            place_u64(scene.socket + MADE_SOCKET_SOCK, 0);
        run(&scene);
        assert_int_equal(scene.count, 0);
    }
}

/* The kernel counts it among those of its namespace. */
static void a_socket_of_another_family_is_told_without_addresses_and_queues(void **state)
{
    struct scene scene;
    struct pass_socket none = {.cookie = 0};

    (void)state;
    make_scene(&scene);
    place_u16(scene.sock + MADE_FAMILY, AF_UNIX);
    run(&scene);
    assert_int_equal(scene.count, 1);
    assert_int_equal(scene.said.family, AF_UNIX);
    assert_true(scene.said.netns && scene.said.cookie);
    assert_int_equal(scene.said.local_port, 0);
    assert_memory_equal(scene.said.local, none.local, sizeof none.local);
    assert_memory_equal(scene.said.received, none.received, sizeof none.received);
    assert_memory_equal(scene.said.sent, none.sent, sizeof none.sent);
    assert_null(held_socket_table(&scene.said));
}

/* --- What is made of it ----------------------------------------------------------------------- */

enum { HERE = 100, THERE = 200 };

static struct pass_socket held(uint32_t netns, uint64_t cookie, uint16_t family, uint16_t protocol)
{
    return (struct pass_socket){.cookie = cookie,
                                .inode = cookie + 1000,
                                .netns = netns,
                                .family = family,
                                .type = protocol == IPPROTO_UDP ? SOCK_DGRAM : SOCK_STREAM,
                                .protocol = protocol,
                                .local_port = 80,
                                .state = TCP_ESTABLISHED};
}

static void a_fin_that_was_read_is_no_byte(void **state)
{
    struct pass_socket socket = held(HERE, 1, AF_INET, IPPROTO_TCP);
    struct record record;

    (void)state;
    socket.received[0] = 7;
    socket.received[1] = 8;
    held_socket_decode(&socket, &record);
    assert_int_equal(record.socket.recv_q, 0);
}

static void a_socket_that_is_only_bound_is_told_as_sock_diag_does(void **state)
{
    struct pass_socket socket = held(HERE, 1, AF_INET6, IPPROTO_TCP);
    struct record record;

    (void)state;
    socket.state = TCP_CLOSE;
    held_socket_decode(&socket, &record);
    assert_int_equal(record.socket.state, STATE_BOUND_INACTIVE);
    assert_true(record.has & SOCKET_V6ONLY);
    assert_false(record.has & SOCKET_RETRANSMITS);
    assert_ptr_equal(held_socket_table(&socket), &table_tcp6);
    socket.local_port = 0;
    assert_null(held_socket_table(&socket));
}

static void other_protocols_are_no_rows(void **state)
{
    struct pass_socket socket = held(HERE, 1, AF_INET, IPPROTO_SCTP);

    (void)state;
    assert_null(held_socket_table(&socket));
    socket = held(HERE, 1, AF_INET, IPPROTO_ICMP);
    socket.type = SOCK_DGRAM;
    assert_null(held_socket_table(&socket));
    socket = held(HERE, 1, AF_INET, PROTOCOL_MPTCP);
    assert_null(held_socket_table(&socket));
    socket = held(HERE, 1, AF_UNIX, IPPROTO_TCP);
    assert_null(held_socket_table(&socket));
}

/* Two readings: the second one finds all but the first `gone` sockets, too. */
static struct socket_pass *pass_with(const struct pass_socket *sockets, size_t count, size_t gone,
                                     const struct socket_numbers *numbers)
{
    struct socket_pass *pass = socket_pass_create_empty();
    const size_t size = sizeof *sockets;

    assert_non_null(pass);
    assert_int_equal(socket_pass_take(pass, (const void *)sockets, count * size), 0);
    socket_pass_halve(pass);
    for (; numbers && numbers->netns; numbers++)
        assert_int_equal(socket_pass_count_as(pass, numbers), 0);
    assert_int_equal(socket_pass_take(pass, (const void *)(sockets + gone), (count - gone) * size),
                     0);
    assert_int_equal(socket_pass_settle(pass), 0);
    return pass;
}

/* Returns what dump() did; the cookies of the rows are in `cookies`, terminated by 0. */
static int list(const struct socket_pass *pass, const struct table *table, uint64_t netns,
                uint64_t cookies[8])
{
    struct query query = {.table = table, .pass = pass, .netns = netns};
    struct kept kept = {.count = 0};
    const int result = backend_socket_pass.dump(&query, keep_record, &kept);

    assert_true(kept.count < 8);
    memset(cookies, 0, 8 * sizeof *cookies);
    for (size_t i = 0; i < kept.count; i++) {
        const struct record *record = &kept.records[i];
        cookies[i] = record->identity;
        assert_int_equal(record->socket.protocol, table->protocol);
        assert_int_equal(record->has & ~backend_fields(&backend_socket_pass, table), 0);
    }
    kept_finish(&kept);
    return result;
}

static void assert_rows(const struct socket_pass *pass, const struct table *table, uint64_t netns,
                        uint64_t first, uint64_t second, uint64_t third)
{
    uint64_t cookies[8];

    assert_int_equal(list(pass, table, netns, cookies), 0);
    assert_int_equal(cookies[0], first);
    assert_int_equal(cookies[1], second);
    assert_int_equal(cookies[2], third);
    assert_int_equal(cookies[3], 0);
}

static void each_namespace_has_its_own_rows_without_repeats(void **state)
{
    const struct pass_socket sockets[] = {
        held(THERE, 9, AF_INET, IPPROTO_TCP),  held(HERE, 3, AF_INET, IPPROTO_TCP),
        held(HERE, 2, AF_INET6, IPPROTO_TCP),  held(HERE, 1, AF_INET, IPPROTO_TCP),
        held(HERE, 3, AF_INET, IPPROTO_TCP),   held(HERE, 4, AF_INET, IPPROTO_UDP),
        held(THERE, 8, AF_INET6, IPPROTO_UDP), held(HERE, 5, AF_INET, IPPROTO_SCTP),
        held(THERE, 9, AF_INET, IPPROTO_TCP),
    };
    const struct socket_numbers numbers[] = {{.netns = THERE, .in_use = {1, 0, 0, 1}},
                                             {.netns = HERE, .in_use = {2, 1, 1}},
                                             {.netns = HERE + 1},
                                             {.netns = 0}};
    struct socket_pass *pass = pass_with(sockets, COUNT(sockets), 0, numbers);

    (void)state;
    assert_int_equal(socket_pass_count(pass), 7); /* also SCTP's */
    assert_rows(pass, &table_tcp, HERE, 1, 3, 0);
    assert_rows(pass, &table_tcp6, HERE, 2, 0, 0);
    assert_rows(pass, &table_tcp_both, HERE, 1, 3, 2);
    assert_rows(pass, &table_udp, HERE, 4, 0, 0);
    assert_rows(pass, &table_udp6, HERE, 0, 0, 0);
    assert_rows(pass, &table_tcp_both, THERE, 9, 0, 0);
    assert_rows(pass, &table_udp6, THERE, 8, 0, 0);
    assert_rows(pass, &table_tcp, HERE + 1, 0, 0, 0);
    socket_pass_destroy(pass);
}

/* Whether the pass leaves these tables of a namespace to the dumps; the others it has. */
static void assert_left(const struct pass_socket *sockets, size_t count, size_t gone,
                        struct socket_numbers numbers, const struct table *const left[])
{
    const struct socket_numbers all[] = {numbers, {.netns = 0}};
    struct socket_pass *pass = pass_with(sockets, count, gone, all);
    static const struct table *const tables[] = {&table_tcp, &table_tcp6, &table_udp, &table_raw6};
    uint64_t cookies[8];

    for (size_t i = 0; i < COUNT(tables); i++) {
        bool is_left = false;
        for (const struct table *const *table = left; *table; table++)
            is_left |= *table == tables[i];
        assert_int_equal(list(pass, tables[i], HERE, cookies), is_left ? -EOPNOTSUPP : 0);
    }
    socket_pass_destroy(pass);
}

#define LEFT(...) ((const struct table *const[]){__VA_ARGS__})

static void sockets_that_no_process_holds_are_left_to_dumps(void **state)
{
    struct pass_socket sockets[] = {
        held(HERE, 1, AF_INET, IPPROTO_TCP), held(HERE, 2, AF_INET6, IPPROTO_TCP),
        held(HERE, 3, AF_INET, IPPROTO_UDP), held(THERE, 4, AF_INET, IPPROTO_TCP)};
    const struct socket_numbers same = {.netns = HERE, .in_use = {1, 1, 1}};
    struct socket_numbers more = same;
    const size_t count = COUNT(sockets);

    (void)state;
    assert_left(sockets, count, 0, same, LEFT(NULL));
    more.in_use[0] = 2; /* not accepted, orphaned, on the way to another process, MPTCP */
    assert_left(sockets, count, 0, more, LEFT(&table_tcp, NULL));
    more = same;
    more.time_wait = 1; /* of which family is unknown */
    assert_left(sockets, count, 0, more, LEFT(&table_tcp, &table_tcp6, NULL));
    more = same;
    more.in_use[2] = 2; /* VXLAN */
    assert_left(sockets, count, 0, more, LEFT(&table_udp, NULL));
    more = same;
    more.in_use[7] = 1;
    assert_left(sockets, count, 0, more, LEFT(&table_raw6, NULL));
    sockets[1].state = TCP_LISTEN;
    assert_left(sockets, count, 0, same, LEFT(NULL));
    sockets[1].sent[1] = 1; /* half-open */
    assert_left(sockets, count, 0, same, LEFT(&table_tcp6, NULL));
    more = same;
    more.netns = THERE; /* it cannot be entered */
    assert_left(sockets, count, 0, more,
                LEFT(&table_tcp, &table_tcp6, &table_udp, &table_raw6, NULL));
}

/* The kernel counts one that was not accepted yet, and one that was closed between the readings. */
static void a_socket_that_only_one_reading_finds_does_not_replace_another(void **state)
{
    const struct pass_socket sockets[] = {held(HERE, 1, AF_INET, IPPROTO_TCP),
                                          held(HERE, 2, AF_INET, IPPROTO_TCP)};
    const struct socket_numbers counted = {.netns = HERE, .in_use = {2}};

    (void)state;
    assert_left(sockets, 2, 0, counted, LEFT(NULL));
    assert_left(sockets, 2, 1, counted, LEFT(&table_tcp, NULL));
}

/* It is in no number of its namespace. */
static void a_socket_that_was_bound_in_one_reading_is_bound(void **state)
{
    struct pass_socket sockets[] = {held(HERE, 1, AF_INET, IPPROTO_TCP),
                                    held(HERE, 2, AF_INET, IPPROTO_TCP),
                                    held(HERE, 2, AF_INET, IPPROTO_TCP)};
    const struct socket_numbers numbers[] = {{.netns = HERE, .in_use = {1}}, {.netns = 0}};
    struct socket_pass *pass;

    (void)state;
    sockets[1].state = TCP_CLOSE;
    pass = pass_with(sockets, COUNT(sockets), 0, numbers);
    assert_rows(pass, &table_tcp, HERE, 1, 2, 0);
    socket_pass_destroy(pass);
}

/* No table counts these, but `used` has the sockets of all families. */
static void a_bound_socket_that_no_process_holds_is_asked_for(void **state)
{
    struct pass_socket sockets[] = {held(HERE, 1, AF_INET, IPPROTO_TCP),
                                    held(THERE, 2, AF_INET6, IPPROTO_TCP),
                                    held(HERE, 3, AF_INET, IPPROTO_TCP), held(HERE, 4, AF_UNIX, 0)};

    (void)state;
    sockets[2].local_port = 0;
    sockets[3].local_port = 0;
    for (unsigned more = 0; more < 2; more++) {
        const struct socket_numbers numbers[] = {{.netns = HERE, .in_use = {1}, .used = 3 + more},
                                                 {.netns = THERE, .in_use = {0, 1}, .used = 1},
                                                 {.netns = 0}};
        struct socket_pass *pass = pass_with(sockets, COUNT(sockets), 0, numbers);
        assert_int_equal(socket_pass_has_all_bound(pass, HERE), !more);
        assert_true(socket_pass_has_all_bound(pass, THERE));
        assert_false(socket_pass_has_all_bound(pass, THERE + 1));
        socket_pass_destroy(pass);
        pass = pass_with(sockets, COUNT(sockets), 1, numbers); /* one came between the readings */
        assert_false(socket_pass_has_all_bound(pass, HERE));
        socket_pass_destroy(pass);
        sockets[1].family = AF_SMC; /* holds one in the kernel, as MPTCP does */
        pass = pass_with(sockets, COUNT(sockets), 0, numbers);
        assert_false(socket_pass_has_all_bound(pass, THERE));
        socket_pass_destroy(pass);
        sockets[1].family = AF_INET6;
    }
}

/* Also where it compares what the pass does not know: the rows are then those of netlink. */
static void a_filter_that_refuses_all_sockets_leaves_nothing_to_the_dumps(void **state)
{
    const struct pass_socket sockets[] = {held(HERE, 1, AF_INET, IPPROTO_TCP)};
    const struct socket_numbers numbers[] = {{.netns = HERE, .in_use = {1, 1}}, {.netns = 0}};
    struct socket_pass *pass = pass_with(sockets, COUNT(sockets), 0, numbers);

    (void)state;
    for (unsigned port = 80; port < 82; port++) {
        struct predicate_tree both = {.count = 0};
        struct query query = {.table = &table_tcp, .pass = pass, .netns = HERE};
        predicate_tree_add(&both, &both.whole,
                           predicate_number(field_named(&kind_socket, "local_port"), port));
        predicate_tree_add(&both, &both.whole,
                           predicate_number(field_named(&kind_socket, "rtt"), 1));
        assert_false(socket_pass_has_none(&query));
        query.where = predicate_of(&both);
        assert_int_equal(socket_pass_has_none(&query), port == 81);
        query.table = &table_tcp6; /* the kernel has one more */
        assert_false(socket_pass_has_none(&query));
        query.table = &table_udp;
        assert_true(socket_pass_has_none(&query));
        query.pass = NULL;
        assert_false(socket_pass_has_none(&query));
    }
    socket_pass_destroy(pass);
}

/* The pass has no sockets in TIME_WAIT and no half-open connections. */
static void a_filter_that_refuses_the_states_that_are_missing_needs_no_dump(void **state)
{
    static const struct {
        uint64_t time_wait;
        unsigned half_open;
        uint8_t missing, other;
    } cases[] = {{1, 0, TCP_TIME_WAIT, TCP_SYN_RECV}, {0, 1, TCP_SYN_RECV, TCP_TIME_WAIT}};
    struct pass_socket sockets[] = {held(HERE, 1, AF_INET, IPPROTO_TCP)};
    const struct field *const compared = field_named(&kind_socket, "state");

    (void)state;
    sockets[0].state = TCP_LISTEN;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct socket_numbers numbers[] = {
            {.netns = HERE, .in_use = {1}, .time_wait = cases[i].time_wait}, {.netns = 0}};
        struct query query = {.table = &table_tcp, .netns = HERE};
        struct kept kept = {.count = 0};
        struct predicate_tree where = {.count = 0}, others = {.count = 0};
        sockets[0].sent[1] = cases[i].half_open;
        struct socket_pass *pass = pass_with(sockets, COUNT(sockets), 0, numbers);
        query.pass = pass;
        predicate_tree_refuse(&where, &where.whole, predicate_number(compared, cases[i].missing));
        predicate_tree_refuse(&others, &others.whole, predicate_number(compared, cases[i].other));
        query.where = predicate_of(&others);
        assert_int_equal(backend_socket_pass.dump(&query, keep_record, &kept), -EOPNOTSUPP);
        query.where = predicate_of(&where);
        assert_int_equal(backend_socket_pass.dump(&query, keep_record, &kept), 0);
        assert_int_equal(kept.count, 1);
        kept_finish(&kept);
        socket_pass_destroy(pass);
    }
}

static void the_numbers_are_those_of_sockstat(void **state)
{
    static const char v4[] = "sockets: used 1\nTCP: inuse 1 orphan 0 tw %s alloc 1 mem 1\n"
                             "UDP: inuse 0 mem 0\nUDPLITE: inuse 0\nRAW: inuse 0\n"
                             "FRAG: inuse 0 memory 0\n";
    const struct pass_socket socket = held(HERE, 1, AF_INET, IPPROTO_TCP);
    const char *const files[][2] = {{"0", "TCP6: inuse 0\nUDP6: inuse 0\nUDPLITE6: inuse 0\n"},
                                    {"1", "TCP6: inuse 0\n"},
                                    {"0", "TCP6: inuse 1\n"}};

    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        struct socket_pass *pass = socket_pass_create_empty();
        uint64_t cookies[8];
        struct tree tree;
        char text[256];
        assert_non_null(pass);
        tree_make(&tree);
        snprintf(text, sizeof text, v4, files[i][0]);
        tree_puts(&tree, "sockstat", text);
        tree_puts(&tree, "sockstat6", files[i][1]);
        tree_puts(&tree, "snmp", "Tcp: CurrEstab\nTcp: 0\n");
        assert_int_equal(socket_pass_take(pass, (const void *)&socket, sizeof socket), 0);
        socket_pass_halve(pass);
        assert_int_equal(socket_pass_add_numbers(pass, HERE, tree.root), 0);
        assert_int_equal(socket_pass_take(pass, (const void *)&socket, sizeof socket), 0);
        assert_int_equal(socket_pass_settle(pass), 0);
        assert_int_equal(list(pass, &table_tcp_both, HERE, cookies), i ? -EOPNOTSUPP : 0);
        assert_true(socket_pass_has_all_bound(pass, HERE));
        tree_puts(&tree, "sockstat", "TCP: inuse 1\n");
        assert_int_equal(socket_pass_add_numbers(pass, HERE, tree.root), -EBADMSG);
        tree_remove(&tree);
        assert_true(socket_pass_add_numbers(pass, HERE, tree.root) < 0);
        socket_pass_destroy(pass);
    }
}

static void output_of_the_program_may_be_cut_anywhere(void **state)
{
    const struct pass_socket sockets[] = {held(HERE, 1, AF_INET, IPPROTO_TCP),
                                          held(HERE, 2, AF_INET, IPPROTO_TCP)};
    const struct socket_numbers numbers = {.netns = HERE, .in_use = {2}};
    const char *const all = (const void *)sockets;

    (void)state;
    for (size_t cut = 0; cut <= sizeof sockets; cut++) {
        struct socket_pass *pass = socket_pass_create_empty();
        assert_non_null(pass);
        assert_int_equal(socket_pass_take(pass, all, cut), 0);
        assert_int_equal(socket_pass_take(pass, all + cut, sizeof sockets - cut), 0);
        socket_pass_halve(pass);
        assert_int_equal(socket_pass_count_as(pass, &numbers), 0);
        assert_int_equal(socket_pass_take(pass, all, sizeof sockets), 0);
        assert_int_equal(socket_pass_settle(pass), 0);
        assert_rows(pass, &table_tcp, HERE, 1, 2, 0);
        socket_pass_destroy(pass);
    }
}

static void a_cut_socket_is_an_error_and_none_is_left(void **state)
{
    const struct pass_socket sockets[] = {held(HERE, 1, AF_INET, IPPROTO_TCP),
                                          held(HERE, 2, AF_INET, IPPROTO_TCP)};
    struct socket_pass *pass = pass_with(sockets, 1, 0, NULL);

    (void)state;
    assert_int_equal(socket_pass_count(pass), 1);
    assert_int_equal(socket_pass_take(pass, (const void *)&sockets[1], sizeof *sockets - 1), 0);
    assert_int_equal(socket_pass_settle(pass), -EIO);
    assert_int_equal(socket_pass_count(pass), 0);
    assert_int_equal(socket_pass_settle(pass), 0);
    assert_int_equal(socket_pass_count(pass), 0);
    socket_pass_destroy(pass);
}

static int refuse_row(const struct record *record, void *arg)
{
    (void)record;
    ++*(unsigned *)arg;
    return -EPIPE;
}

static void a_dump_ends_where_its_reader_does(void **state)
{
    const struct pass_socket sockets[] = {held(HERE, 1, AF_INET, IPPROTO_TCP),
                                          held(HERE, 2, AF_INET6, IPPROTO_TCP)};
    struct socket_pass *pass = pass_with(sockets, COUNT(sockets), 0, NULL);
    const struct query query = {.table = &table_tcp_both, .pass = pass, .netns = HERE};
    unsigned rows = 0;

    (void)state;
    assert_int_equal(socket_pass_list(&query, refuse_row, &rows), -EPIPE);
    assert_int_equal(rows, 1);
    socket_pass_destroy(pass);
}

static void a_listing_without_a_pass_is_refused(void **state)
{
    const struct query query = {.table = &table_tcp};
    struct kept kept = {.count = 0};

    (void)state;
    assert_int_equal(backend_socket_pass.dump(&query, keep_record, &kept), -EOPNOTSUPP);
    assert_int_equal(backend_fields(&backend_socket_pass, &table_mptcp), 0);
    assert_int_equal(backend_fields(&backend_socket_pass, &table_tcp_states), 0);
    assert_int_equal(backend_fields(&backend_socket_pass, &table_socket_events), 0);
}

static void without_rights_there_is_no_pass(void **state)
{
    struct bpf_refusal refusal;
    struct socket_pass *pass = NULL;

    (void)state; /* rights_init() was not called: no right can be raised */
    assert_int_equal(socket_pass_create(&pass, false, &refusal), -EPERM);
    assert_null(pass);
    assert_int_equal(refusal.error, -EPERM);
    assert_non_null(strstr(refusal.reason, "CAP_BPF"));
    pass = socket_pass_create_empty();
    assert_non_null(pass);
    assert_true(socket_pass_begin(pass) < 0);
    assert_true(socket_pass_end(pass) < 0);
    assert_int_equal(socket_pass_count(pass), 0);
    socket_pass_destroy(pass);
    socket_pass_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_those_of_the_kernels_types),
        cmocka_unit_test(every_part_is_needed),
        cmocka_unit_test(a_pass_may_leave_out_listed_sockets),
        cmocka_unit_test(a_connection_is_a_row),
        cmocka_unit_test(a_listener_has_its_queue_of_connections),
        cmocka_unit_test(an_address_of_ipv6_has_16_bytes),
        cmocka_unit_test(queues_of_udp_are_memory),
        cmocka_unit_test(raw_sockets_of_all_protocols_are_one_table),
        cmocka_unit_test(nothing_is_read_of_a_raw_socket_because_of_its_protocol),
        cmocka_unit_test(nothing_else_is_written),
        cmocka_unit_test(a_socket_of_another_family_is_told_without_addresses_and_queues),
        cmocka_unit_test(a_fin_that_was_read_is_no_byte),
        cmocka_unit_test(a_socket_that_is_only_bound_is_told_as_sock_diag_does),
        cmocka_unit_test(other_protocols_are_no_rows),
        cmocka_unit_test(each_namespace_has_its_own_rows_without_repeats),
        cmocka_unit_test(sockets_that_no_process_holds_are_left_to_dumps),
        cmocka_unit_test(a_socket_that_only_one_reading_finds_does_not_replace_another),
        cmocka_unit_test(a_socket_that_was_bound_in_one_reading_is_bound),
        cmocka_unit_test(a_bound_socket_that_no_process_holds_is_asked_for),
        cmocka_unit_test(a_filter_that_refuses_all_sockets_leaves_nothing_to_the_dumps),
        cmocka_unit_test(a_filter_that_refuses_the_states_that_are_missing_needs_no_dump),
        cmocka_unit_test(the_numbers_are_those_of_sockstat),
        cmocka_unit_test(output_of_the_program_may_be_cut_anywhere),
        cmocka_unit_test(a_cut_socket_is_an_error_and_none_is_left),
        cmocka_unit_test(a_dump_ends_where_its_reader_does),
        cmocka_unit_test(a_listing_without_a_pass_is_refused),
        cmocka_unit_test(without_rights_there_is_no_pass),
    };

    return cmocka_run_group_tests_name("socket_pass", tests, NULL, NULL);
}
