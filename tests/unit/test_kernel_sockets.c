/* SPDX-License-Identifier: MIT */
/* The program that finds the kernel's own sockets: made from types of a kernel, and run here. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "../helpers/made_kernel.h"
#include "fastnet/array.h"
#include "kit.h"
#include "lookup/kernel_sockets.h"
#include "processor.h"

/* Offsets in the structs that made_types() describes. */
enum {
    SK_SOCKET = 104,
    SOCKET_FILE = 16,
    INODE_OF_SOCKET = 128,
    INODE_NUMBER = 64,
    IS_MPTCP = 1200,
    SYN_SMC = 1201, /* the lowest bit in the order of this machine */
    SYN_SMC_BIT = 3,
    SYN_SMC_SHIFT = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 3 : 7 - 3,
};

static char bytes[MADE_BTF_MAX];

static uint32_t holder_of(struct made_btf *made, const char *name, const char *member,
                          uint32_t type, uint32_t offset)
{
    const uint32_t id = made_struct(made, name, 1);

    made_member(made, member, type, offset * 8);
    return id;
}

/* flags: the names of both flags in struct tcp_sock. */
static void made_types(struct made_btf *made, uint32_t number_size, const char *const flags[2])
{
    const uint32_t byte = made_int(made, "_Bool", 1, MADE_BOOL);
    const uint32_t number = made_int(made, "unsigned long", number_size, 0);
    const uint32_t file = made_pointer(made, made_struct(made, "file", 0));
    const uint32_t socket = holder_of(made, "socket", "file", file, SOCKET_FILE);
    const uint32_t inode = holder_of(made, "inode", "i_ino", number, INODE_NUMBER);
    uint32_t sock, inet, connection, meta, parameter;

    made_struct(made, "socket_alloc", 2);
    made_member(made, "socket", socket, 0);
    made_member(made, "vfs_inode", inode, INODE_OF_SOCKET * 8);
    sock = holder_of(made, "sock", "sk_socket", made_pointer(made, socket), SK_SOCKET);
    inet = holder_of(made, "inet_sock", "sk", sock, 0);
    connection = holder_of(made, "inet_connection_sock", "icsk_inet", inet, 0);
    made_flagged(made, "tcp_sock", KERNEL_STRUCT, 3, 2000);
    made_member(made, "inet_conn", connection, 0);
    made_member(made, flags[0], byte, IS_MPTCP * 8);
    made_member(made, flags[1], byte, 1u << 24 | (SYN_SMC * 8 + SYN_SMC_BIT));
    holder_of(made, "udp_sock", "inet", inet, 0);
    meta = holder_of(made, "bpf_iter_meta", "seq", made_pointer(made, file), 0);
    meta = made_pointer(made, meta);
    parameter = made_pointer(made, sock);
    for (int tcp = 0; tcp < 2; tcp++) {
        const uint32_t prototype = made_type(made, "", KERNEL_PROTOTYPE, 2, byte);
        made_pair(made, "meta", meta);
        made_pair(made, tcp ? "sk_common" : "udp_sk", parameter);
        made_type(made, tcp ? "bpf_iter_tcp" : "bpf_iter_udp", KERNEL_FUNCTION, 0, prototype);
    }
}

static const char *const usual_flags[] = {"is_mptcp", "syn_smc"}, *const no_flags[] = {"a", "b"};

static int layout_in(size_t length, uint16_t protocol, struct kernel_sockets_layout *layout)
{
    struct btf btf;
    int status;

    assert_int_equal(btf_init(&btf, (struct text){bytes, length}), 0);
    status = kernel_sockets_layout_init(layout, &btf, protocol);
    btf_finish(&btf);
    return status;
}

static size_t make_bytes(uint32_t number_size, const char *const flags[2])
{
    struct made_btf made = {.types = 0};

    made_types(&made, number_size, flags);
    return made_bytes(&made, bytes);
}

/* --- The program, run ------------------------------------------------------------------------- */

struct scene {
    char sock[2000], socket[INODE_OF_SOCKET + 128], meta[8];
    uint64_t context[2];
    bool is_half_open; /* bpf_skc_to_tcp_sock() refuses it */
    uint64_t written[2];
    size_t count;
};

static uint64_t call(struct processor *processor, int function)
{
    const uint64_t *registers = processor->registers;
    struct scene *scene = processor->arg;

    switch (function) {
    case BPF_FUNC_skc_to_tcp_sock:
        assert_int_equal(registers[1], (uintptr_t)scene->sock);
        return scene->is_half_open ? 0 : registers[1];
    case BPF_FUNC_probe_read_kernel:
        assert_in_range(registers[3], (uintptr_t)scene->socket,
                        (uintptr_t)scene->socket + sizeof scene->socket - registers[2]);
        memcpy((void *)(uintptr_t)registers[1], (const void *)(uintptr_t)registers[3],
               (size_t)registers[2]);
        return 0;
    default:
        assert_int_equal(function, BPF_FUNC_seq_write);
        assert_int_equal(registers[1], 99);
        assert_int_equal(registers[3], sizeof *scene->written);
        assert_true(scene->count < COUNT(scene->written));
        memcpy(&scene->written[scene->count++], (const void *)(uintptr_t)registers[2],
               sizeof *scene->written);
        return 0;
    }
}

/* A socket of the kernel, with this inode. */
static void make_scene(struct scene *scene, uint64_t inode, size_t size)
{
    memset(scene, 0, sizeof *scene);
    char *at = scene->socket + INODE_OF_SOCKET + INODE_NUMBER;
    place_u64(scene->sock + SK_SOCKET, (uintptr_t)scene->socket);
    if (size == 4)
        place_u32(at, (uint32_t)inode);
    else
        place_u64(at, inode);
    place_u64(scene->meta, 99);
    scene->context[0] = (uintptr_t)scene->meta;
    scene->context[1] = (uintptr_t)scene->sock;
}

static void run(struct scene *scene, uint16_t protocol, size_t length)
{
    struct processor processor = {.call = call, .arg = scene};
    struct kernel_sockets_layout layout;
    struct bpf_insn program[KERNEL_SOCKETS_PROGRAM_MAX];
    size_t count;

    assert_int_equal(layout_in(length, protocol, &layout), 0);
    count = kernel_sockets_program_make(&layout, program);
    assert_int_not_equal(count, 0);
    processor_run(&processor, program, count, scene->context);
}

static const uint16_t protocols[] = {IPPROTO_UDP, IPPROTO_TCP};

static void a_socket_without_a_file_is_the_kernels(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(protocols); i++)
        for (uint32_t size = 4; size <= 8; size += 4) {
            const uint64_t inode = size == 4 ? 4000000000 : UINT64_C(5000000000);
            struct scene scene;
            make_scene(&scene, inode, size);
            run(&scene, protocols[i], make_bytes(size, usual_flags));
            assert_int_equal(scene.count, 1);
            assert_int_equal(scene.written[0], inode);
        }
}

static void a_socket_with_a_file_is_a_programs(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(protocols); i++) {
        struct scene scene;
        make_scene(&scene, 5, 8);
        place_u64(scene.socket + SOCKET_FILE, 1);
        run(&scene, protocols[i], make_bytes(8, usual_flags));
        assert_int_equal(scene.count, 0);
    }
}

static void a_connection_that_is_not_accepted_or_orphaned_is_nobodys(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(protocols); i++) {
        struct scene scene;
        make_scene(&scene, 5, 8);
        place_u64(scene.sock + SK_SOCKET, 0);
        run(&scene, protocols[i], make_bytes(8, usual_flags));
        assert_int_equal(scene.count, 0);
    }
}

static void half_open_connections_and_the_end_are_passed_over(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene, 5, 8);
    scene.is_half_open = true;
    run(&scene, IPPROTO_TCP, make_bytes(8, usual_flags));
    assert_int_equal(scene.count, 0);
    for (size_t i = 0; i < COUNT(protocols); i++) {
        make_scene(&scene, 5, 8);
        scene.context[1] = 0;
        run(&scene, protocols[i], make_bytes(8, usual_flags));
        assert_int_equal(scene.count, 0);
    }
}

static void parts_of_mptcp_and_smc_sockets_are_a_programs(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene, 5, 8);
    scene.sock[IS_MPTCP] = 1;
    run(&scene, IPPROTO_TCP, make_bytes(8, usual_flags));
    assert_int_equal(scene.count, 0);
    make_scene(&scene, 5, 8);
    scene.sock[SYN_SMC] = 1 << SYN_SMC_SHIFT;
    run(&scene, IPPROTO_TCP, make_bytes(8, usual_flags));
    assert_int_equal(scene.count, 0);
    scene.sock[SYN_SMC] = (char)~(1 << SYN_SMC_SHIFT);
    run(&scene, IPPROTO_TCP, make_bytes(8, usual_flags));
    assert_int_equal(scene.count, 1);
}

static void a_kernel_without_mptcp_and_smc_has_no_such_parts(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene, 5, 8);
    scene.sock[IS_MPTCP] = 1;
    run(&scene, IPPROTO_TCP, make_bytes(8, no_flags));
    assert_int_equal(scene.count, 1);
}

/* --- The kernel's types ----------------------------------------------------------------------- */

/* A name that is spoilt is not found: no part can be missing unnoticed. */
static void every_part_is_needed(void **state)
{
    static const char *const names[] = {"socket_alloc", "vfs_inode", "i_ino",
                                        "sk_socket",    "file",      "meta",
                                        "seq",          "sk_common", "bpf_iter_tcp"};
    const size_t length = make_bytes(8, usual_flags);

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const size_t size = strlen(names[i]) + 1;
        struct kernel_sockets_layout layout;
        for (char *at = bytes + length - size; at > bytes; at--)
            if (at[-1] == '\0' && memcmp(at, names[i], size) == 0)
                *at ^= 1;
        assert_int_equal(layout_in(length, IPPROTO_TCP, &layout), -ENOTSUP);
        (void)make_bytes(8, usual_flags);
    }
}

/* --- The sockets ------------------------------------------------------------------------------ */

static void without_rights_none_is_found(void **state)
{
    struct kernel_sockets *sockets = kernel_sockets_create();

    (void)state; /* rights_init() was not called: no right can be raised */
    assert_non_null(sockets);
    for (int i = 0; i < 2; i++)
        assert_int_equal(kernel_sockets_find(sockets, IPPROTO_UDP), -EPERM);
    assert_false(kernel_sockets_have(sockets, 5));
    assert_false(kernel_sockets_have(NULL, 5));
    kernel_sockets_destroy(sockets);
    kernel_sockets_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_socket_without_a_file_is_the_kernels),
        cmocka_unit_test(a_socket_with_a_file_is_a_programs),
        cmocka_unit_test(a_connection_that_is_not_accepted_or_orphaned_is_nobodys),
        cmocka_unit_test(half_open_connections_and_the_end_are_passed_over),
        cmocka_unit_test(parts_of_mptcp_and_smc_sockets_are_a_programs),
        cmocka_unit_test(a_kernel_without_mptcp_and_smc_has_no_such_parts),
        cmocka_unit_test(every_part_is_needed),
        cmocka_unit_test(without_rights_none_is_found),
    };

    return cmocka_run_group_tests_name("kernel_sockets", tests, NULL, NULL);
}
