/* SPDX-License-Identifier: MIT */
/* The programs that note queries of DNS and their answers: made from types of a kernel, and run
 * here. */
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

#include "../helpers/made_connects.h"
#include "fastnet/array.h"
#include "fastnet/kernel_abi.h"
#include "probes/dns_program.h"
#include "processor.h"

enum {
    MAP = 7,
    SLOTS_MAP = 8,
    SOCKET_COOKIE = 88,
    SOCKET_INODE = 77,
    OBJECT = 256,
    REGISTERS = 64,
    TGID = 300,
    INSIDE = 12
};
enum {
    CALL_AT = 0,
    SECOND_AT = 16,
    FIFTH_AT = 40
}; /* regs[0] of arm64 is 8 bytes before SECOND_AT */
#define NETNS    4026531840u
#define SLOTS_AT (size_t)((char *)scene.slots - (char *)&scene.notes)

static char bytes[MADE_BTF_MAX];

static size_t make_types(const struct made_connects *kernel)
{
    struct made_btf made = {.types = 0};
    uint32_t four, eight, array, registers;

    made_connects(&made, kernel);
    four = made_int(&made, "unsigned int", 4, 0);
    eight = made_int(&made, "unsigned long", 8, 0);
    array = made_array(&made, eight, four, 6);
    registers = made_struct(&made, "pt_regs", 8);
    made_member(&made, "orig_ax", eight, CALL_AT * 8);
    made_member(&made, "si", eight, SECOND_AT * 8);
    made_member(&made, "r8", eight, FIFTH_AT * 8);
    made_member(&made, "syscallno", four, CALL_AT * 8);
    made_member(&made, "regs", array, (SECOND_AT - 8) * 8);
    made_member(&made, "a7", eight, CALL_AT * 8);
    made_member(&made, "a1", eight, SECOND_AT * 8);
    made_member(&made, "a4", eight, FIFTH_AT * 8);
    (void)made_event(&made, "btf_trace_sys_exit", made_pointer(&made, registers), eight, 3);
    return made_bytes(&made, bytes);
}

static int layout_of(size_t length, struct dns_layout *layout)
{
    struct btf btf;
    int status;

    memset(layout, 0, sizeof *layout);
    assert_int_equal(btf_init(&btf, (struct text){bytes, length}), 0);
    status = dns_layout_init(layout, &btf);
    btf_finish(&btf);
    return status;
}

/* --- Calls ------------------------------------------------------------------------------------ */

static struct {
    struct made_connects kernel;
    _Alignas(uint64_t) char sock[OBJECT], task[OBJECT], leader[OBJECT], net[OBJECT],
        registers[REGISTERS];
    _Alignas(uint64_t) char socket[REGISTERS], file[REGISTERS], inode[REGISTERS];
    uint64_t now;
    struct sockaddr_in to;
    struct sockaddr_in6 to6;
    char query[32];
    struct iovec buffers[2];
    struct mmsghdr messages[2];
    bool is_unreadable, is_outside, in_namespace;
    struct dns_notes notes;
    struct send_slot slots[SEND_SLOTS];
} scene;

static bool notes_sends; /* one program notes queries, and the first send of each socket */

static void make_scene(void)
{
    memset(&scene, 0, sizeof scene);
    scene.kernel = made_connects_usual;
    scene.now = 1000;
    place_u64(scene.inode + scene.kernel.i_ino, SOCKET_INODE);
    place_pointer(scene.sock + scene.kernel.socket, scene.socket);
    place_pointer(scene.socket + scene.kernel.file, scene.file);
    place_pointer(scene.file + scene.kernel.inode, scene.inode);
    place_pointer(scene.sock + scene.kernel.net, scene.net);
    place_u32(scene.net + scene.kernel.netns, NETNS);
    place_u16(scene.sock + scene.kernel.protocol, IPPROTO_UDP);
    place_u16(scene.sock + scene.kernel.local_port, 40001);
    place_u16(scene.sock + scene.kernel.family, AF_INET);
    place_pointer(scene.task + scene.kernel.leader, scene.leader);
    memcpy(scene.leader + scene.kernel.name, "a name of 15 by", CONNECT_NAME);
}

static void connect_scene(void)
{
    make_scene();
    place_u16(scene.sock + scene.kernel.port, htons(53));
    memcpy(scene.sock + scene.kernel.v4, "\xc0\0\2\1", 4);
    memcpy(scene.sock + scene.kernel.v6, "\0\0\0\0\0\0\0\0\0\0\xff\xff\xc0\0\2\1", 16);
}

static uint64_t call(struct processor *processor, int function)
{
    const uint64_t *arguments = processor->registers;
    const struct bpf_pidns_info inside = {INSIDE + 1, INSIDE};

    switch (function) {
    case BPF_FUNC_get_socket_cookie:
        assert_int_equal(arguments[1], (uintptr_t)scene.sock);
        return SOCKET_COOKIE;
    case BPF_FUNC_ktime_get_ns:
        return scene.now;
    case BPF_FUNC_get_current_task_btf:
        return (uintptr_t)scene.task;
    case BPF_FUNC_task_pt_regs:
        assert_int_equal(arguments[1], (uintptr_t)scene.task);
        return (uintptr_t)scene.registers;
    case BPF_FUNC_get_current_uid_gid:
    case BPF_FUNC_get_current_cgroup_id:
        return 4242;
    case BPF_FUNC_get_current_pid_tgid:
        return (uint64_t)TGID << 32 | 301;
    case BPF_FUNC_get_ns_current_pid_tgid:
        assert_int_equal(arguments[1], 4);
        assert_int_equal(arguments[2], 5);
        assert_int_equal(arguments[4], sizeof inside);
        if (!scene.is_outside)
            memcpy((void *)(uintptr_t)arguments[3], &inside, sizeof inside);
        return scene.is_outside ? (uint64_t)-EINVAL : 0;
    default:
        assert_int_equal(function, BPF_FUNC_probe_read_user);
        if (scene.is_unreadable || arguments[3] < 4096)
            return (uint64_t)-EFAULT;
        memcpy((void *)(uintptr_t)arguments[1], (const void *)(uintptr_t)arguments[3],
               (size_t)arguments[2]);
        return 0;
    }
}

/* Makes the program that notes sends, and queries. The map of the notes is also that of the slots
 * here, which come later in it. */
static size_t make_both(const struct dns_layout *layout, uint64_t netns, int map,
                        struct bpf_insn *program)
{
    const struct query_part queries = {layout, map};
    struct bpf_insn both[SEND_PROGRAM_MAX];
    const size_t count = send_program_make(&layout->connect, netns, SLOTS_MAP, &queries, both);

    assert_int_not_equal(count, 0);
    for (size_t i = 0; i < count; i++)
        if (BPF_CLASS(both[i].code) == BPF_LD && both[i].src_reg == BPF_PSEUDO_MAP_VALUE &&
            both[i].imm == SLOTS_MAP)
            both[i + 1].imm += (int)SLOTS_AT;
    memcpy(program, both, count * sizeof *both);
    return count;
}

typedef size_t (*maker)(const struct dns_layout *layout, uint64_t netns, int map,
                        struct bpf_insn *program);

static void run(maker make, int result, int flags)
{
    const uint64_t context[] = {(uintptr_t)scene.sock, (uint32_t)result | UINT64_C(9) << 32,
                                (uint32_t)flags};
    struct processor processor = {
        .call = call, .map = &scene.notes, .map_size = SLOTS_AT + sizeof scene.slots};
    struct bpf_insn program[SEND_PROGRAM_MAX];
    struct dns_layout layout;
    size_t count;

    assert_int_equal(layout_of(make_types(&scene.kernel), &layout), 0);
    if (scene.in_namespace) {
        layout.pid_device = 4;
        layout.pid_inode = 5;
    }
    count = make(&layout, NETNS, MAP, program);
    assert_int_not_equal(count, 0);
    processor_run(&processor, program, count, context);
}

static void sent(int result)
{
    run(notes_sends ? make_both : dns_send_program_make, result, 0);
}

static void received(int result)
{
    run(dns_receive_program_make, result, 0);
}

static size_t count_notes(void)
{
    size_t count = 0;

    for (size_t i = 0; i < DNS_NOTES; i++)
        count += scene.notes.notes[i].inode != 0;
    return count;
}

/* Returns the only note. */
static const struct dns_note *the_note(void)
{
    size_t i = 0;

    assert_int_equal(count_notes(), 1);
    while (i < DNS_NOTES - 1 && !scene.notes.notes[i].inode)
        i++;
    return &scene.notes.notes[i];
}

/* The system call, with the address of its second argument. */
static void make_call(long number, const void *second)
{
#if defined __aarch64__
    place_u32(scene.registers + CALL_AT, (uint32_t)number);
#else
    place_u64(scene.registers + CALL_AT, (uint64_t)number);
#endif
    place_pointer(scene.registers + SECOND_AT, second);
}

static void send_to(const char *address, uint16_t port, const char *id)
{
    scene.to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
    assert_int_equal(inet_pton(AF_INET, address, &scene.to.sin_addr), 1);
    memcpy(scene.query, id, 2);
    make_call(SYS_sendto, scene.query);
    place_pointer(scene.registers + FIFTH_AT, &scene.to);
    sent(30);
}

static void receive_from(const char *id, int result)
{
    memcpy(scene.query, id, 2);
    make_call(SYS_recvfrom, scene.query);
    received(result);
}

/* Skips the test on machines whose registers are not known. */
static void need_machine(void)
{
    struct dns_layout layout;

    make_scene();
    assert_int_equal(layout_of(make_types(&scene.kernel), &layout), 0);
    if (!layout.has_calls)
        skip();
}

/* --- Kernels ---------------------------------------------------------------------------------- */

static void a_kernel_without_the_events_is_refused(void **state)
{
    struct made_connects kernel = made_connects_usual;
    struct dns_layout layout;

    (void)state;
    assert_int_equal(layout_of(make_types(&kernel), &layout), 0);
    kernel.without_sends = true;
    assert_int_equal(layout_of(make_types(&kernel), &layout), -ENOTSUP);
    kernel = made_connects_usual;
    kernel.without_netns = true;
    assert_int_equal(layout_of(make_types(&kernel), &layout), -ENOTSUP);
}

/* --- Connected sockets ------------------------------------------------------------------------ */

static void a_query_and_its_answer_are_counted(void **state)
{
    (void)state;
    connect_scene();
    sent(30);
    scene.now = 3000;
    received(60);
    const struct dns_note *note = the_note();
    assert_int_equal(note->inode, SOCKET_INODE);
    assert_int_equal(note->sent, 1);
    assert_int_equal(note->received, 1);
    assert_int_equal(note->timed, 1);
    assert_int_equal(note->time, 2000);
    assert_int_equal(note->slow, 0);
    assert_int_equal(note->waiting, 0);
    assert_true(dns_note_is_query(note));
    assert_int_equal(note->netns, NETNS);
    assert_int_equal(note->pid, TGID);
    assert_string_equal(note->name, "a name of 15 by");
    assert_memory_equal(note->server, "\xc0\0\2\1\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}

static void both_programs_note_a_query(void **state)
{
    const struct send_slot *slot = &scene.slots[SOCKET_COOKIE];

    (void)state;
    connect_scene();
    sent(30);
    sent(30);
    assert_int_equal(the_note()->sent, 2);
    assert_int_equal(slot->cookie, notes_sends ? SOCKET_COOKIE : 0);
    assert_int_equal(slot->pid, notes_sends ? TGID : 0);
    place_u32(scene.net + scene.kernel.netns, NETNS + 1);
    sent(30);
    assert_int_equal(the_note()->sent, 2);
}

static void a_query_without_an_answer_waits_since_the_first(void **state)
{
    (void)state;
    connect_scene();
    sent(30);
    scene.now = 9000;
    sent(30);
    assert_int_equal(the_note()->sent, 2);
    assert_int_equal(the_note()->received, 0);
    assert_int_equal(the_note()->waiting, 1);
    assert_int_equal(the_note()->begun, 1000);
    assert_int_equal(the_note()->sent_at, 9000);
}

static void an_answer_after_a_second_is_slow(void **state)
{
    (void)state;
    connect_scene();
    sent(30);
    scene.now += DNS_SLOW;
    received(60);
    assert_int_equal(the_note()->slow, 1);
}

static void errors_are_not_answers(void **state)
{
    (void)state;
    connect_scene();
    sent(30);
    received(-EAGAIN);
    received(0);
    assert_int_equal(the_note()->failed, 0);
    received(-ECONNREFUSED);
    sent(-ECONNREFUSED);
    assert_int_equal(the_note()->failed, 2);
    assert_int_equal(the_note()->sent, 1);
    assert_int_equal(the_note()->error, ECONNREFUSED);
    sent(-EPERM);
    assert_int_equal(the_note()->sent, 2);
    assert_int_equal(the_note()->error, EPERM);
    sent(-EINVAL); /* a route of type blackhole */
    sent(-EACCES); /* a route of type prohibit */
    assert_int_equal(the_note()->failed, 5);
    assert_int_equal(the_note()->error, EACCES);
    assert_int_equal(the_note()->received, 0);
}

static void a_socket_without_an_inode_has_no_note(void **state)
{
    (void)state;
    connect_scene();
    place_u64(scene.inode + scene.kernel.i_ino, 0);
    sent(30);
    for (size_t i = 0; i < DNS_NOTES; i++)
        assert_int_equal(scene.notes.notes[i].sent, 0);
}

static void a_peek_is_no_answer(void **state)
{
    (void)state;
    connect_scene();
    sent(30);
    run(dns_receive_program_make, 60, MSG_PEEK);
    run(dns_receive_program_make, 60, MSG_ERRQUEUE);
    assert_int_equal(the_note()->received, 0);
}

static void a_short_datagram_is_no_query(void **state)
{
    (void)state;
    connect_scene();
    sent(DNS_QUERY_LEAST - 1);
    assert_false(dns_note_is_query(the_note()));
    sent(DNS_QUERY_LEAST);
    assert_true(dns_note_is_query(the_note()));
    sent(-EPERM);
    sent(DNS_QUERY_LIMIT - 1);
    assert_true(dns_note_is_query(the_note()));
    sent(DNS_QUERY_LIMIT);
    sent(DNS_QUERY_LEAST);
    assert_false(dns_note_is_query(the_note()));
}

static void the_server_of_a_socket_of_ipv6_is_whole(void **state)
{
    (void)state;
    connect_scene();
    place_u16(scene.sock + scene.kernel.family, AF_INET6);
    sent(30);
    assert_int_equal(the_note()->family, AF_INET6);
    assert_memory_equal(the_note()->server, scene.sock + scene.kernel.v6, 16);
}

static void other_sockets_are_not_noted(void **state)
{
    (void)state;
    connect_scene();
    place_u16(scene.sock + scene.kernel.port, htons(5353));
    sent(30);
    connect_scene();
    place_u16(scene.sock + scene.kernel.protocol, IPPROTO_TCP);
    sent(30);
    connect_scene();
    place_u16(scene.sock + scene.kernel.local_port, 53);
    sent(30);
    connect_scene();
    place_u32(scene.net + scene.kernel.netns, NETNS + 1);
    sent(30);
    assert_int_equal(count_notes(), 0);
}

/* A socket that asked before the program ran. */
static void an_answer_without_a_query_is_not_noted(void **state)
{
    (void)state;
    connect_scene();
    received(60);
    assert_int_equal(count_notes(), 0);
}

static void inside_a_pid_namespace_its_pids_are_noted(void **state)
{
    (void)state;
    connect_scene();
    scene.in_namespace = true;
    sent(30);
    assert_int_equal(the_note()->pid, INSIDE);
    connect_scene();
    scene.in_namespace = scene.is_outside = true;
    sent(30);
    assert_int_equal(the_note()->pid, 0);
}

/* --- Sockets without a peer ------------------------------------------------------------------- */

static void the_address_of_sendto_is_the_server(void **state)
{
    (void)state;
    need_machine();
    send_to("192.0.2.9", 53, "ab");
    assert_memory_equal(the_note()->server, "\xc0\0\2\x9", 4);
    assert_int_equal(the_note()->family, AF_INET);
    assert_true(dns_note_is_query(the_note()));
    receive_from("ab", 60);
    assert_int_equal(the_note()->received, 1);
}

static void datagrams_to_other_ports_are_not_noted(void **state)
{
    (void)state;
    need_machine();
    send_to("192.0.2.9", 5353, "ab");
    scene.is_unreadable = true;
    send_to("192.0.2.9", 53, "ab");
    scene.is_unreadable = false;
    make_call(SYS_write, scene.query);
    sent(30);
    receive_from("ab", 60);
    assert_int_equal(count_notes(), 0);
}

static void an_answer_belongs_to_the_query_with_its_id(void **state)
{
    const struct dns_note *note;
    size_t answered = 0;

    (void)state;
    need_machine();
    send_to("192.0.2.1", 53, "ab");
    send_to("192.0.2.2", 53, "cd");
    receive_from("cd", 60);
    receive_from("xx", 60);
    assert_int_equal(count_notes(), 2);
    for (note = scene.notes.notes; note < scene.notes.notes + DNS_NOTES; note++)
        if (note->received) {
            answered++;
            assert_memory_equal(note->server, "\xc0\0\2\2", 4);
        }
    assert_int_equal(answered, 1);
}

/* Returns the note about the server 192.0.2.NUMBER. */
static const struct dns_note *note_of(char number)
{
    size_t i = 0;

    while (i < DNS_NOTES - 1 &&
           (!scene.notes.notes[i].inode || scene.notes.notes[i].server[3] != (uint8_t)number))
        i++;
    assert_int_equal(scene.notes.notes[i].server[3], (uint8_t)number);
    return &scene.notes.notes[i];
}

static bool has_answer_elsewhere(char number)
{
    return dns_note_has_answer_elsewhere(&scene.notes,
                                         (size_t)(note_of(number) - scene.notes.notes));
}

static void two_servers_that_get_one_query_race(void **state)
{
    (void)state;
    need_machine();
    send_to("192.0.2.1", 53, "ab");
    scene.now += 1000;
    send_to("192.0.2.2", 53, "ab");
    receive_from("ab", 60);
    assert_true(has_answer_elsewhere(1));
    assert_false(has_answer_elsewhere(2));
    assert_int_equal(note_of(2)->received, 1);
}

static void a_server_that_is_asked_after_a_timeout_does_not_race(void **state)
{
    (void)state;
    need_machine();
    send_to("192.0.2.1", 53, "ab");
    scene.now += DNS_SLOW;
    send_to("192.0.2.2", 53, "ab");
    assert_false(has_answer_elsewhere(1));
    assert_int_equal(note_of(1)->waiting, 1);
}

/* Two sockets whose queries have the same place in `last`: the second query is not noted. */
static void a_query_that_waits_keeps_its_place(void **state)
{
    (void)state;
    need_machine();
    send_to("192.0.2.1", 53, "ab");
    place_u64(scene.inode + scene.kernel.i_ino, SOCKET_INODE + DNS_LAST);
    send_to("192.0.2.2", 53, "ab");
    assert_int_equal(count_notes(), 1);
    place_u64(scene.inode + scene.kernel.i_ino, SOCKET_INODE);
    receive_from("ab", 60);
    assert_int_equal(note_of(1)->received, 1);
}

/* An element of `last` is 0 at first, and 0 is the number of a note, too. */
static void a_query_in_the_first_place_stops_no_other(void **state)
{
    (void)state;
    need_machine();
    scene.notes.notes[0] = (struct dns_note){.inode = 1, .id = 1, .waiting = 1, .sent_at = 1};
    scene.notes.notes[0].server[3] = 9;
    send_to("192.0.2.1", 53, "ab");
    assert_int_equal(note_of(1)->sent, 1);
}

/* After 9 seconds nobody waits any more. */
static void a_query_that_loses_its_place_is_not_judged(void **state)
{
    (void)state;
    need_machine();
    send_to("192.0.2.1", 53, "ab");
    place_u64(scene.inode + scene.kernel.i_ino, SOCKET_INODE + DNS_LAST);
    scene.now += (uint64_t)9 * DNS_SLOW;
    send_to("192.0.2.2", 53, "ab");
    assert_true(has_answer_elsewhere(1));
}

static void messages_have_the_same_parts(void **state)
{
    (void)state;
    need_machine();
    send_to("192.0.2.1", 53, "ab");
    memset(&scene.notes, 0, sizeof scene.notes);
    scene.to6 = (struct sockaddr_in6){
        .sin6_family = AF_INET6, .sin6_port = htons(53), .sin6_addr = {{{[0] = 0x20, [15] = 9}}}};
    for (size_t i = 0; i < COUNT(scene.messages); i++) {
        scene.buffers[i] = (struct iovec){scene.query + 2 * i, 2};
        scene.messages[i].msg_hdr.msg_name = i ? (void *)&scene.to : (void *)&scene.to6;
        scene.messages[i].msg_hdr.msg_iov = &scene.buffers[i];
    }
    memcpy(scene.query, "abcd", 4);
    make_call(SYS_sendmsg, &scene.messages[0].msg_hdr);
    sent(30);
    assert_int_equal(the_note()->family, AF_INET6);
    assert_memory_equal(the_note()->server, &scene.to6.sin6_addr, 16);
    make_call(SYS_sendmsg, &scene.messages[1].msg_hdr);
    sent(30);
    assert_int_equal(count_notes(), 2);
    make_call(SYS_recvmsg, &scene.messages[1].msg_hdr);
    received(60);
    assert_int_equal(note_of(1)->received, 1);
}

/* A call whose buffer is not known may have received any answer. */
static void an_answer_that_cannot_be_read_is_marked(void **state)
{
    (void)state;
    need_machine();
    make_call(SYS_recvmmsg, scene.messages);
    received(60);
    assert_int_equal(scene.notes.sockets[SOCKET_INODE], 0);
    send_to("192.0.2.1", 53, "ab");
    assert_int_equal(scene.notes.sockets[SOCKET_INODE], 1);
    make_call(SYS_recvmmsg, scene.messages);
    received(60);
    assert_int_equal(scene.notes.sockets[SOCKET_INODE], DNS_ASKED | DNS_UNREAD);
    send_to("192.0.2.1", 53, "ef");
    assert_int_equal(scene.notes.sockets[SOCKET_INODE], DNS_ASKED | DNS_UNREAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_without_the_events_is_refused),
        cmocka_unit_test(a_query_and_its_answer_are_counted),
        cmocka_unit_test(both_programs_note_a_query),
        cmocka_unit_test(a_query_without_an_answer_waits_since_the_first),
        cmocka_unit_test(an_answer_after_a_second_is_slow),
        cmocka_unit_test(errors_are_not_answers),
        cmocka_unit_test(a_socket_without_an_inode_has_no_note),
        cmocka_unit_test(a_peek_is_no_answer),
        cmocka_unit_test(a_short_datagram_is_no_query),
        cmocka_unit_test(the_server_of_a_socket_of_ipv6_is_whole),
        cmocka_unit_test(other_sockets_are_not_noted),
        cmocka_unit_test(an_answer_without_a_query_is_not_noted),
        cmocka_unit_test(inside_a_pid_namespace_its_pids_are_noted),
        cmocka_unit_test(the_address_of_sendto_is_the_server),
        cmocka_unit_test(datagrams_to_other_ports_are_not_noted),
        cmocka_unit_test(an_answer_belongs_to_the_query_with_its_id),
        cmocka_unit_test(two_servers_that_get_one_query_race),
        cmocka_unit_test(a_server_that_is_asked_after_a_timeout_does_not_race),
        cmocka_unit_test(a_query_that_waits_keeps_its_place),
        cmocka_unit_test(a_query_in_the_first_place_stops_no_other),
        cmocka_unit_test(a_query_that_loses_its_place_is_not_judged),
        cmocka_unit_test(messages_have_the_same_parts),
        cmocka_unit_test(an_answer_that_cannot_be_read_is_marked),
    };

    int failed = cmocka_run_group_tests_name("dns_program", tests, NULL, NULL);

    notes_sends = true;
    failed += cmocka_run_group_tests_name("dns_program_with_sends", tests, NULL, NULL);
    return failed;
}
