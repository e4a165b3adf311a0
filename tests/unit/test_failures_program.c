/* SPDX-License-Identifier: MIT */
/* The program that counts calls of connect(2) that fail at once: made, and run here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "../helpers/made_kernel.h"
#include "fastnet/array.h"
#include "fastnet/kernel_abi.h"
#include "probes/failures_program.h"
#include "processor.h"

/* Where members are, in bytes. All machines that are known have their registers here. */
enum {
    CALL_AT = 0,
    ARGUMENT_AT = 8, /* regs[0] of arm64: the second argument is 8 bytes on */
    REGISTERS = 32,
    SPACES_AT = 8,
    LEADER_AT = 16,
    NAME_AT = 24,
    NET_AT = 16,
    NUMBER_AT = 40,
    DESCRIPTOR_AT = 24,
    FILES_AT = 56,
    TABLE_AT = 32,
    ARRAY_AT = 8,
    DATA_AT = 48,
    TYPE_AT = 4,
    DESCRIPTOR = 5,
    OBJECT = 128
};
enum { TYPEDEF = 8, MAP = 7 };
#define NETNS 4026531840u

static char bytes[MADE_BTF_MAX];

static size_t make_types(uint32_t parameters)
{
    struct made_btf made = {.types = 0};
    const uint32_t four = made_int(&made, "unsigned int", 4, 0),
                   eight = made_int(&made, "unsigned long", 8, 0),
                   name = made_array(&made, made_int(&made, "char", 1, MADE_CHAR), four, 16),
                   array = made_array(&made, eight, four, 3),
                   two = made_int(&made, "short int", 2, MADE_SIGNED),
                   nothing = made_type(&made, "", KERNEL_POINTER, 0, 0);
    uint32_t part, net, spaces, files, task, registers, prototype;

    part = made_struct(&made, "ns_common", 1);
    made_member(&made, "inum", four, 0);
    net = made_struct(&made, "net", 1);
    made_member(&made, "ns", part, NUMBER_AT * 8);
    net = made_pointer(&made, net);
    spaces = made_struct(&made, "nsproxy", 1);
    made_member(&made, "net_ns", net, NET_AT * 8);
    spaces = made_pointer(&made, spaces);
    (void)made_struct(&made, "socket", 1);
    made_member(&made, "type", two, TYPE_AT * 8);
    part = made_struct(&made, "file", 1);
    made_member(&made, "private_data", nothing, DATA_AT * 8);
    part = made_pointer(&made, made_pointer(&made, part));
    files = made_struct(&made, "fdtable", 1);
    made_member(&made, "fd", part, ARRAY_AT * 8);
    part = made_pointer(&made, files);
    files = made_struct(&made, "files_struct", 1);
    made_member(&made, "fdt", part, TABLE_AT * 8);
    files = made_pointer(&made, files);
    task = made_struct(&made, "task_struct", 4);
    made_member(&made, "nsproxy", spaces, SPACES_AT * 8);
    made_member(&made, "files", files, FILES_AT * 8);
    made_member(&made, "group_leader", task + 1, LEADER_AT * 8);
    made_member(&made, "comm", name, NAME_AT * 8);
    made_pointer(&made, task);
    registers = made_struct(&made, "pt_regs", 9);
    made_member(&made, "orig_ax", eight, CALL_AT * 8);
    made_member(&made, "si", eight, (ARGUMENT_AT + 8) * 8);
    made_member(&made, "di", eight, DESCRIPTOR_AT * 8);
    made_member(&made, "orig_x0", eight, DESCRIPTOR_AT * 8);
    made_member(&made, "orig_a0", eight, DESCRIPTOR_AT * 8);
    made_member(&made, "syscallno", four, CALL_AT * 8);
    made_member(&made, "regs", array, ARGUMENT_AT * 8);
    made_member(&made, "a7", eight, CALL_AT * 8);
    made_member(&made, "a1", eight, (ARGUMENT_AT + 8) * 8);
    registers = made_pointer(&made, registers);
    prototype = made_type(&made, "", KERNEL_PROTOTYPE, parameters, 0);
    made_pair(&made, "", nothing);
    made_pair(&made, "", registers);
    for (uint32_t i = 2; i < parameters; i++)
        made_pair(&made, "", eight);
    prototype = made_pointer(&made, prototype);
    made_type(&made, "btf_trace_sys_exit", TYPEDEF, 0, prototype);
    return made_bytes(&made, bytes);
}

static int layout_of(size_t length, struct failures_layout *layout)
{
    struct btf btf;
    int status;

    assert_int_equal(btf_init(&btf, (struct text){bytes, length}), 0);
    status = failures_layout_init(layout, &btf);
    btf_finish(&btf);
    return status;
}

/* Machines whose registers are not known are refused as kernels without the event are. */
static void need_machine(void)
{
    struct failures_layout layout;

    if (layout_of(make_types(3), &layout) < 0)
        skip();
}

/* --- Kernels ---------------------------------------------------------------------------------- */

static void every_part_is_needed(void **state)
{
    static const char *const names[] = {"btf_trace_sys_exit",
                                        "pt_regs",
                                        "task_struct",
                                        "nsproxy",
                                        "net_ns",
                                        "ns",
                                        "inum",
                                        "comm",
                                        "group_leader",
                                        "files",
                                        "fdt",
                                        "fd",
                                        "private_data",
                                        "socket",
                                        "type"};
    const size_t length = make_types(3);
    struct failures_layout layout;

    (void)state;
    need_machine();
    for (size_t i = 0; i < COUNT(names); i++) {
        char *at = bytes + length;
        while (memcmp(--at, names[i], strlen(names[i]) + 1) != 0 || at[-1] != '\0')
            ;
        *at ^= 1;
        assert_int_equal(layout_of(length, &layout), -ENOTSUP);
        *at ^= 1;
    }
    assert_int_equal(layout_of(make_types(4), &layout), -ENOTSUP);
}

/* --- Calls ------------------------------------------------------------------------------------ */

struct scene {
    _Alignas(uint64_t) char registers[REGISTERS], task[OBJECT], leader[OBJECT], spaces[OBJECT],
        net[OBJECT], files[OBJECT], table[OBJECT],
        descriptors[OBJECT], file[OBJECT], socket[OBJECT];
    struct failure_note notes[FAILURE_NOTES];
    union {
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } address;
    bool unreadable;
};

static void make_scene(struct scene *scene)
{
    memset(scene, 0, sizeof *scene);
#if defined __aarch64__
    place_u32(scene->registers + CALL_AT, SYS_connect);
#else
    place_u64(scene->registers + CALL_AT, SYS_connect);
#endif
    place_pointer(scene->registers + ARGUMENT_AT + 8, &scene->address);
    place_pointer(scene->task + SPACES_AT, scene->spaces);
    place_pointer(scene->task + LEADER_AT, scene->leader);
    place_pointer(scene->spaces + NET_AT, scene->net);
    place_u32(scene->net + NUMBER_AT, NETNS);
    place_u64(scene->registers + DESCRIPTOR_AT, DESCRIPTOR | UINT64_C(9) << 32);
    place_pointer(scene->task + FILES_AT, scene->files);
    place_pointer(scene->files + TABLE_AT, scene->table);
    place_pointer(scene->table + ARRAY_AT, scene->descriptors);
    place_pointer(scene->descriptors + DESCRIPTOR * sizeof(void *), scene->file);
    place_pointer(scene->file + DATA_AT, scene->socket);
    place_u16(scene->socket + TYPE_AT, SOCK_STREAM);
    memcpy(scene->leader + NAME_AT, "a name of 15 by", CONNECT_NAME);
    scene->address.in = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(443), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static uint64_t call(struct processor *processor, int function)
{
    const uint64_t *arguments = processor->registers;
    const struct scene *scene = processor->arg;

    switch (function) {
    case BPF_FUNC_get_current_task_btf:
        return (uintptr_t)scene->task;
    case BPF_FUNC_get_current_pid_tgid:
        return UINT64_C(300) << 32 | 301;
    case BPF_FUNC_probe_read_kernel:
        if (scene->unreadable)
            return (uint64_t)-EFAULT;
        memcpy((void *)(uintptr_t)arguments[1], (const void *)(uintptr_t)arguments[3],
               (size_t)arguments[2]);
        return 0;
    default:
        assert_int_equal(function, BPF_FUNC_probe_read_user);
        assert_int_equal(arguments[3], (uintptr_t)&scene->address);
        if (scene->unreadable)
            return (uint64_t)-EFAULT;
        memcpy((void *)(uintptr_t)arguments[1], &scene->address, (size_t)arguments[2]);
        return 0;
    }
}

static void end_call(struct scene *scene, int64_t result)
{
    const uint64_t context[] = {(uintptr_t)scene->registers, (uint64_t)result};
    struct processor processor = {
        .call = call, .arg = scene, .map = scene->notes, .map_size = sizeof scene->notes};
    struct bpf_insn program[FAILURES_PROGRAM_MAX];
    struct failures_layout layout;
    size_t count;

    assert_int_equal(layout_of(make_types(3), &layout), 0);
    count = failures_program_make(&layout, NETNS, MAP, program);
    assert_int_not_equal(count, 0);
    processor_run(&processor, program, count, context);
}

static uint64_t counted(const struct scene *scene)
{
    uint64_t count = 0;

    for (size_t i = 0; i < FAILURE_NOTES; i++)
        count += scene->notes[i].count;
    return count;
}

static void a_call_that_fails_is_counted_with_who_and_where(void **state)
{
    struct scene scene;
    const struct failure_note *note = &scene.notes[EINVAL];

    (void)state;
    need_machine();
    make_scene(&scene);
    end_call(&scene, -EINVAL);
    end_call(&scene, -EINVAL);
    end_call(&scene, -EACCES);
    assert_int_equal(note->count, 2);
    assert_int_equal(scene.notes[EACCES].count, 1);
    assert_int_equal(note->pid, 300);
    assert_string_equal(note->name, "a name of 15 by");
    assert_memory_equal(note->address, &scene.address.in, sizeof scene.address.in);
}

static void an_address_of_ipv6_is_whole(void **state)
{
    struct scene scene;

    (void)state;
    need_machine();
    make_scene(&scene);
    scene.address.in6 = (struct sockaddr_in6){
        .sin6_family = AF_INET6, .sin6_port = htons(80), .sin6_addr = {{{[15] = 9}}}};
    end_call(&scene, -EPERM);
    assert_int_equal(scene.notes[EPERM].count, 1);
    assert_memory_equal(scene.notes[EPERM].address, &scene.address.in6, sizeof scene.address.in6);
}

static void ipv6_without_a_route_does_not_count_but_ipv4_within_it(void **state)
{
    struct scene scene;

    (void)state;
    need_machine();
    make_scene(&scene);
    end_call(&scene, -ENETUNREACH);
    assert_int_equal(scene.notes[ENETUNREACH].count, 1);
    scene.address.in6 =
        (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = {{{[0] = 0x20, [15] = 9}}}};
    end_call(&scene, -ENETUNREACH);
    scene.address.in6.sin6_addr.s6_addr[0] = 0;
    end_call(&scene, -ENETUNREACH);
    assert_int_equal(scene.notes[ENETUNREACH].count, 1);
    end_call(&scene, -EHOSTUNREACH);
    assert_int_equal(scene.notes[EHOSTUNREACH].count, 1);
    memset(scene.address.in6.sin6_addr.s6_addr + 10, 0xff, 2);
    end_call(&scene, -ENETUNREACH);
    assert_int_equal(scene.notes[ENETUNREACH].count, 2);
}

static void results_that_are_not_errnos_do_not_count(void **state)
{
    static const int64_t results[] = {0, 5, INT64_MAX, -CONNECT_ERRNOS, -512, INT64_MIN};
    struct scene scene;

    (void)state;
    need_machine();
    make_scene(&scene);
    for (size_t i = 0; i < COUNT(results); i++)
        end_call(&scene, results[i]);
    assert_int_equal(counted(&scene), 0);
    end_call(&scene, 1 - CONNECT_ERRNOS);
    assert_int_equal(scene.notes[CONNECT_ERRNOS - 1].count, 1);
}

/* getaddrinfo(3) sorts addresses with such sockets. */
static void sockets_of_udp_count_for_port_53_and_apart(void **state)
{
    struct scene scene;

    (void)state;
    need_machine();
    make_scene(&scene);
    place_u16(scene.socket + TYPE_AT, SOCK_DGRAM);
    end_call(&scene, -ENETUNREACH);
    assert_int_equal(counted(&scene), 0);
    scene.address.in.sin_port = htons(53);
    end_call(&scene, -ENETUNREACH);
    assert_int_equal(counted(&scene), 1);
    assert_int_equal(scene.notes[CONNECT_ERRNOS + ENETUNREACH].count, 1);
    place_u16(scene.socket + TYPE_AT, SOCK_RAW);
    end_call(&scene, -ENETUNREACH);
    assert_int_equal(counted(&scene), 1);
    place_u16(scene.socket + TYPE_AT, SOCK_STREAM);
    end_call(&scene, -ENETUNREACH);
    assert_int_equal(scene.notes[ENETUNREACH].count, 1);
}

static void other_calls_namespaces_and_families_do_not_count(void **state)
{
    struct scene scene;

    (void)state;
    need_machine();
    make_scene(&scene);
    place_u32(scene.registers + CALL_AT, SYS_connect + 1);
    end_call(&scene, -EINVAL);
    assert_int_equal(counted(&scene), 0);
    make_scene(&scene);
    place_u32(scene.net + NUMBER_AT, NETNS + 1);
    end_call(&scene, -EINVAL);
    assert_int_equal(counted(&scene), 0);
    make_scene(&scene);
    scene.address.in.sin_family = AF_UNIX;
    end_call(&scene, -EINVAL);
    assert_int_equal(counted(&scene), 0);
    make_scene(&scene);
    scene.unreadable = true;
    end_call(&scene, -EINVAL);
    assert_int_equal(counted(&scene), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_is_needed),
        cmocka_unit_test(a_call_that_fails_is_counted_with_who_and_where),
        cmocka_unit_test(an_address_of_ipv6_is_whole),
        cmocka_unit_test(ipv6_without_a_route_does_not_count_but_ipv4_within_it),
        cmocka_unit_test(results_that_are_not_errnos_do_not_count),
        cmocka_unit_test(sockets_of_udp_count_for_port_53_and_apart),
        cmocka_unit_test(other_calls_namespaces_and_families_do_not_count),
    };

    return cmocka_run_group_tests_name("failures_program", tests, NULL, NULL);
}
