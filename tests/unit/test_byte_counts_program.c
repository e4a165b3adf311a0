/* SPDX-License-Identifier: MIT */
/* The programs that count bytes: made from types of a kernel, and run here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "../helpers/made_counts.h"
#include "fastnet/array.h"
#include "fastnet/kernel_abi.h"
#include "probes/byte_counts_program.h"
#include "processor.h"

static char bytes[MADE_BTF_MAX];

static int layout_of(const struct made_counts *kernel, struct byte_layout *layout)
{
    struct made_btf made = {.types = 0};
    struct btf btf;
    int status;

    made_counts(&made, kernel);
    assert_int_equal(btf_init(&btf, (struct text){bytes, made_bytes(&made, bytes)}), 0);
    status = byte_layout_init(layout, &btf);
    btf_finish(&btf);
    return status;
}

/* --- Kernels ---------------------------------------------------------------------------------- */

static void an_event_with_other_parameters_is_refused(void **state)
{
    struct made_counts kernel = made_counts_usual;
    struct byte_layout layout;

    (void)state;
    assert_int_equal(layout_of(&kernel, &layout), 0);
    kernel.parameters = 5;
    assert_int_equal(layout_of(&kernel, &layout), -ENOTSUP);
    kernel = made_counts_usual;
    kernel.protocol = 40000; /* no load reaches it */
    assert_int_equal(layout_of(&kernel, &layout), -ENOTSUP);
}

/* A name that is spoilt is not found: no part can be missing unnoticed. */
static void every_part_is_needed(void **state)
{
    static const char *const names[] = {"btf_trace_sock_send_length",
                                        "btf_trace_sock_recv_length",
                                        "sock",
                                        "__sk_common",
                                        "skc_family",
                                        "sk_protocol"};
    struct made_btf made = {.types = 0};
    const size_t length = (made_counts(&made, &made_counts_usual), made_bytes(&made, bytes));

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const size_t size = strlen(names[i]) + 1;
        char *at = bytes + length;
        struct byte_layout layout;
        struct btf btf;
        while (memcmp(--at, names[i], size) != 0 || at[-1] != '\0')
            ;
        *at ^= 1;
        assert_int_equal(btf_init(&btf, (struct text){bytes, length}), 0);
        assert_int_equal(byte_layout_init(&layout, &btf), -ENOTSUP);
        btf_finish(&btf);
        *at ^= 1;
    }
}

/* --- Sockets ---------------------------------------------------------------------------------- */

enum { MAP = 7, COOKIE = 77, OBJECT = 256 };

struct scene {
    struct made_counts kernel;
    _Alignas(uint64_t) char sock[OBJECT];
    bool known;   /* the map has the socket */
    bool is_full; /* ... and has no room */
    struct byte_count count;
};

static struct scene scene_of(uint16_t family, uint16_t protocol)
{
    struct scene scene = {.kernel = made_counts_usual};

    place_u16(scene.sock + scene.kernel.family, family);
    place_u16(scene.sock + scene.kernel.protocol, protocol);
    return scene;
}

static void *pointer(uint64_t address)
{
    assert_true(address >= 4096);
    return (void *)(uintptr_t)address;
}

static uint64_t call(struct processor *processor, int function)
{
    const uint64_t *arguments = processor->registers;
    struct scene *scene = processor->arg;

    if (function == BPF_FUNC_get_socket_cookie) {
        assert_int_equal(arguments[1], (uintptr_t)scene->sock);
        return COOKIE;
    }
    assert_int_equal(arguments[1], MAP);
    assert_int_equal(*(uint64_t *)pointer(arguments[2]), COOKIE);
    if (function == BPF_FUNC_map_lookup_elem)
        return scene->known ? (uintptr_t)&scene->count : 0;
    assert_int_equal(function, BPF_FUNC_map_update_elem);
    assert_int_equal(arguments[4], BPF_NOEXIST);
    assert_false(scene->known);
    scene->known = !scene->is_full;
    memcpy(&scene->count, pointer(arguments[3]), sizeof scene->count);
    return 0;
}

/* What is above an int in the context means nothing. */
static void move(struct scene *scene, enum byte_way way, int returns, uint32_t flags)
{
    const uint64_t context[] = {(uintptr_t)scene->sock, (uint32_t)returns | UINT64_C(0xdead) << 32,
                                flags | UINT64_C(0xdead) << 32};
    struct processor processor = {
        .call = call, .arg = scene, .map = &scene->count, .map_size = sizeof scene->count};
    struct bpf_insn program[BYTE_PROGRAM_MAX];
    struct byte_layout layout;
    size_t count;

    assert_int_equal(layout_of(&scene->kernel, &layout), 0);
    count = byte_program_make(&layout, way, MAP, program);
    assert_int_not_equal(count, 0);
    processor_run(&processor, program, count, context);
}

static void assert_counted(const struct scene *scene, uint64_t sent, uint64_t received)
{
    assert_true(scene->known);
    assert_int_equal(scene->count.bytes[WAY_SENT], sent);
    assert_int_equal(scene->count.bytes[WAY_RECEIVED], received);
}

static void bytes_sent_and_received_are_added(void **state)
{
    struct scene scene = scene_of(AF_INET, IPPROTO_UDP);

    (void)state;
    move(&scene, WAY_SENT, 1000, 0);
    assert_counted(&scene, 1000, 0);
    move(&scene, WAY_SENT, INT32_MAX, 0);
    move(&scene, WAY_RECEIVED, 7, MSG_TRUNC | MSG_DONTWAIT);
    assert_counted(&scene, UINT64_C(1000) + INT32_MAX, 7);
}

static void sockets_that_the_kernel_does_not_count_are_counted(void **state)
{
    static const uint16_t kinds[][3] = {
        {AF_INET, IPPROTO_UDP, true},
        {AF_INET6, IPPROTO_UDP, true},
        {AF_INET6, IPPROTO_UDPLITE, true},
        {AF_INET, IPPROTO_ICMP, true},
        {AF_UNIX, 0, true},
        {AF_UNIX, IPPROTO_TCP, true},
        {AF_INET, IPPROTO_TCP, false},
        {AF_INET6, IPPROTO_TCP, false},
        {AF_NETLINK, 0, false},
        {AF_PACKET, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct scene scene = scene_of(kinds[i][0], kinds[i][1]);
        move(&scene, WAY_SENT, 5, 0);
        assert_int_equal(scene.known, kinds[i][2]);
        move(&scene, WAY_RECEIVED, 6, 0);
        assert_int_equal(scene.count.bytes[WAY_RECEIVED], kinds[i][2] ? 6 : 0);
    }
}

static void failed_and_peeked_bytes_are_not_counted(void **state)
{
    struct scene scene = scene_of(AF_INET6, IPPROTO_UDP);

    (void)state;
    move(&scene, WAY_SENT, -EAGAIN, 0);
    move(&scene, WAY_SENT, 0, 0);
    move(&scene, WAY_RECEIVED, -EINTR, 0);
    move(&scene, WAY_RECEIVED, 9, MSG_PEEK | MSG_TRUNC);
    assert_false(scene.known);
    move(&scene, WAY_SENT, 9, MSG_PEEK); /* which means nothing there */
    assert_counted(&scene, 9, 0);
}

static void where_no_socket_can_be_added_nothing_happens(void **state)
{
    struct scene scene = scene_of(AF_UNIX, 0);

    (void)state;
    scene.is_full = true;
    move(&scene, WAY_SENT, 9, 0);
    assert_int_equal(scene.count.bytes[WAY_SENT], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_with_other_parameters_is_refused),
        cmocka_unit_test(every_part_is_needed),
        cmocka_unit_test(bytes_sent_and_received_are_added),
        cmocka_unit_test(sockets_that_the_kernel_does_not_count_are_counted),
        cmocka_unit_test(failed_and_peeked_bytes_are_not_counted),
        cmocka_unit_test(where_no_socket_can_be_added_nothing_happens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
