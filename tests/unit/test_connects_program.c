/* SPDX-License-Identifier: MIT */
/* The programs that note who connects, who sends and how connections end: made from types of a
 * kernel, and run here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h> /* linux/errqueue.h has a struct timespec, and does not include this */

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "../helpers/made_connects.h"
#include "fastnet/array.h"
#include "fastnet/kernel_abi.h"
#include "probes/connects_program.h"
#include "processor.h"

static char bytes[MADE_BTF_MAX];

static int layout_of(const struct made_connects *kernel, struct connect_layout *layout)
{
    struct made_btf made = {.types = 0};
    struct btf btf;
    int status;

    made_connects(&made, kernel);
    assert_int_equal(btf_init(&btf, (struct text){bytes, made_bytes(&made, bytes)}), 0);
    status = connect_layout_init(layout, &btf, NOTE_CONNECTS);
    btf_finish(&btf);
    return status;
}

/* --- Kernels ---------------------------------------------------------------------------------- */

static void a_kernel_without_ipv6_is_no_worse(void **state)
{
    struct made_connects kernel = made_connects_usual;
    struct connect_layout layout;

    (void)state;
    assert_int_equal(layout_of(&kernel, &layout), 0);
    assert_true(layout.has_v6);
    kernel.without_v6 = true;
    assert_int_equal(layout_of(&kernel, &layout), 0);
    assert_false(layout.has_v6);
}

static void an_event_with_other_parameters_is_refused(void **state)
{
    struct made_connects kernel = made_connects_usual;
    struct connect_layout layout;

    (void)state;
    kernel.parameters = 5;
    assert_int_equal(layout_of(&kernel, &layout), -ENOTSUP);
    kernel = made_connects_usual;
    kernel.error = 40000; /* no load reaches it */
    assert_int_equal(layout_of(&kernel, &layout), -ENOTSUP);
}

static char *find_name(size_t length, const char *name)
{
    char *at = bytes + length;

    while (memcmp(--at, name, strlen(name) + 1) != 0 || at[-1] != '\0')
        ;
    return at;
}

/* A name that is spoilt is not found: no part can be missing unnoticed. */
static void every_part_is_needed(void **state)
{
    static const char *const names[] = {"btf_trace_inet_sock_set_state",
                                        "sock",
                                        "__sk_common",
                                        "skc_daddr",
                                        "skc_rcv_saddr",
                                        "skc_dport",
                                        "skc_family",
                                        "sk_err",
                                        "sk_err_soft",
                                        "task_struct",
                                        "flags",
                                        "group_leader",
                                        "comm"};
    struct made_btf made = {.types = 0};
    const size_t length = (made_connects(&made, &made_connects_usual), made_bytes(&made, bytes));

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        char *at = find_name(length, names[i]);
        struct connect_layout layout;
        struct btf btf;
        *at ^= 1;
        assert_int_equal(btf_init(&btf, (struct text){bytes, length}), 0);
        assert_int_equal(connect_layout_init(&layout, &btf, NOTE_CONNECTS), -ENOTSUP);
        btf_finish(&btf);
        *at ^= 1;
    }
}

/* Such a kernel is watched all the same: then nobody is known to have given up. */
static void the_queue_of_errors_is_not_needed(void **state)
{
    static const char *const names[] = {
        "sock_exterr_skb", "sk_shutdown", "sk_error_queue", "qlen", "prev", "cb",
        "ee_errno",        "ee_origin"};
    struct made_btf made = {.types = 0};
    const size_t length = (made_connects(&made, &made_connects_usual), made_bytes(&made, bytes));
    struct connect_layout layout;

    (void)state;
    assert_int_equal(layout_of(&made_connects_usual, &layout), 0);
    assert_true(layout.has_messages);
    for (size_t i = 0; i < COUNT(names); i++) {
        char *name = find_name(length, names[i]);
        struct btf btf;
        *name ^= 1;
        assert_int_equal(btf_init(&btf, (struct text){bytes, length}), 0);
        assert_int_equal(connect_layout_init(&layout, &btf, NOTE_CONNECTS), 0);
        assert_false(layout.has_messages);
        btf_finish(&btf);
        *name ^= 1;
    }
}

static void a_kernel_without_the_event_of_sends_is_good_for_connections(void **state)
{
    static const char *const names[] = {"btf_trace_sock_send_length", "sk_protocol", "skc_num"};
    struct made_connects kernel = made_connects_usual;
    struct made_btf made = {.types = 0};
    const size_t length = (made_connects(&made, &kernel), made_bytes(&made, bytes));
    struct connect_layout layout;

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        char *name = find_name(length, names[i]);
        struct btf btf;
        *name ^= 1;
        assert_int_equal(btf_init(&btf, (struct text){bytes, length}), 0);
        assert_int_equal(connect_layout_init(&layout, &btf, NOTE_CONNECTS), 0);
        assert_int_equal(layout.sends, 0);
        btf_finish(&btf);
        *name ^= 1;
    }
    assert_int_equal(layout_of(&kernel, &layout), 0);
    assert_true(layout.sends);
    kernel.without_sends = true;
    assert_int_equal(layout_of(&kernel, &layout), 0);
    assert_false(layout.sends);
}

/* --- Connections ------------------------------------------------------------------------------ */

enum { MAP = 7, ANSWERS, RING, LOST, COOKIE = 77, OBJECT = 256, KERNEL_THREAD = 0x00200000 };
#define NETNS 4026531840u /* as ids are: it does not fit in an int */

struct scene {
    struct made_connects kernel;
    _Alignas(uint64_t) char sock[OBJECT], task[OBJECT], leader[OBJECT], net[OBJECT], skb[OBJECT];
    uint64_t wanted; /* the namespace that is watched */
    uint64_t context[3];
    uint64_t now;
    bool known; /* the map has the note */
    struct connect_note note;
    /* A packet that a reset answers, and the note about the answer. */
    _Alignas(uint64_t) char packet[OBJECT], device[OBJECT];
    bool answered;
    struct reset_key key;
    struct reset_answer answer;
    /* The ring of events, and the last event in it. */
    struct connect_ring events;
    bool full;
    unsigned happened;
    struct connect_note event;
};

static void make_scene(struct scene *scene)
{
    *scene = (struct scene){
        .kernel = made_connects_usual, .now = 1000, .wanted = NETNS, .events = {-1, -1}};
    place_u64(scene->sock + scene->kernel.net, (uintptr_t)scene->net);
    place_u32(scene->net + scene->kernel.netns, NETNS);
    memcpy(scene->sock + scene->kernel.v4, "\x7f\0\0\1", 4);
    place_u16(scene->sock + scene->kernel.port, htons(443));
    place_u16(scene->sock + scene->kernel.family, AF_INET);
    memcpy(scene->sock + scene->kernel.local_v4, "\x7f\0\0\2", 4);
    memcpy(scene->sock + scene->kernel.local_v6, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\2", 16);
    memcpy(scene->sock + scene->kernel.v6, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1", 16);
    place_u64(scene->task + scene->kernel.leader, (uintptr_t)scene->leader);
    memcpy(scene->task + scene->kernel.name, "a thread", 9);
    memcpy(scene->leader + scene->kernel.name, "a name of 15 by", CONNECT_NAME);
    scene->context[0] = (uintptr_t)scene->sock;
}

static void *pointer(uint64_t address)
{
    assert_true(address >= 4096);
    return (void *)(uintptr_t)address;
}

static uint64_t update(struct scene *scene, const uint64_t *arguments)
{
    if (arguments[1] == ANSWERS) {
        scene->answered = true;
        memcpy(&scene->key, pointer(arguments[2]), sizeof scene->key);
        memcpy(&scene->answer, pointer(arguments[3]), sizeof scene->answer);
        return 0;
    }
    assert_int_equal(arguments[1], MAP);
    assert_int_equal(*(uint64_t *)pointer(arguments[2]), COOKIE);
    if (scene->known && arguments[4] == BPF_NOEXIST)
        return (uint64_t)-EEXIST;
    scene->known = true;
    memcpy(&scene->note, pointer(arguments[3]), sizeof scene->note);
    return 0;
}

static uint64_t call(struct processor *processor, int function)
{
    const uint64_t *arguments = processor->registers;
    struct scene *scene = processor->arg;

    switch (function) {
    case BPF_FUNC_get_socket_cookie:
        assert_int_equal(arguments[1], (uintptr_t)scene->sock);
        return COOKIE;
    case BPF_FUNC_ktime_get_ns:
        return scene->now;
    case BPF_FUNC_get_current_task_btf:
        return (uintptr_t)scene->task;
    case BPF_FUNC_get_current_uid_gid:
        return UINT64_C(5) << 32 | 1001;
    case BPF_FUNC_get_current_cgroup_id:
        return 4242;
    case BPF_FUNC_get_current_pid_tgid:
        return UINT64_C(300) << 32 | 301;
    case BPF_FUNC_probe_read_kernel:
        memcpy(pointer(arguments[1]), pointer(arguments[3]), arguments[2]);
        return 0;
    case BPF_FUNC_ringbuf_output:
        assert_int_equal(arguments[1], RING);
        assert_int_equal(arguments[3], sizeof scene->event);
        memcpy(&scene->event, pointer(arguments[2]), sizeof scene->event);
        scene->happened++;
        return scene->full ? (uint64_t)-EAGAIN : 0;
    case BPF_FUNC_map_lookup_elem:
        if (arguments[1] == ANSWERS)
            return scene->answered &&
                           memcmp(&scene->key, pointer(arguments[2]), sizeof scene->key) == 0
                       ? (uintptr_t)&scene->answer
                       : 0;
        assert_int_equal(arguments[1], MAP);
        assert_int_equal(*(uint64_t *)pointer(arguments[2]), COOKIE);
        return scene->known ? (uintptr_t)&scene->note : 0;
    default:
        assert_int_equal(function, BPF_FUNC_map_update_elem);
        return update(scene, arguments);
    }
}

/* What is above an int in the context means nothing. */
static void change(struct scene *scene, uint32_t from, uint32_t to)
{
    struct processor processor = {
        .call = call, .arg = scene, .map = &scene->note, .map_size = sizeof scene->note};
    struct bpf_insn program[CONNECT_PROGRAM_MAX];
    struct connect_layout layout;
    size_t count;

    assert_int_equal(layout_of(&scene->kernel, &layout), 0);
    count = connect_program_make(&layout, scene->wanted, MAP, &scene->events, program);
    assert_int_not_equal(count, 0);
    scene->context[1] = from | UINT64_C(0xdead) << 32;
    scene->context[2] = to | UINT64_C(0xdead) << 32;
    processor_run(&processor, program, count, scene->context);
}

static void who_connects_is_noted(void **state)
{
    static const uint8_t mapped[] = {[10] = 0xff, 0xff, 127, 0, 0, 1};
    struct scene scene;

    (void)state;
    make_scene(&scene);
    change(&scene, TCP_CLOSE, TCP_SYN_SENT);
    assert_true(scene.known);
    assert_int_equal(scene.note.time, 1000);
    assert_int_equal(scene.note.ended, 0);
    assert_int_equal(scene.note.pid, 300);
    assert_int_equal(scene.note.uid, 1001);
    assert_int_equal(scene.note.cgroup, 4242);
    assert_int_equal(scene.note.accepted, 0);
    assert_int_equal(scene.note.error, 0);
    assert_int_equal(scene.note.family, AF_INET);
    assert_int_equal(scene.note.port, htons(443));
    assert_memory_equal(scene.note.v4, mapped + 12, 4);
    assert_memory_equal(scene.note.v6, mapped, 16);
    assert_memory_equal(scene.note.local_v4, "\x7f\0\0\2", 4);
    assert_memory_equal(scene.note.local_v6 + 10, "\xff\xff\x7f\0\0\2", 6);
    assert_string_equal(scene.note.name, "a name of 15 by");
}

static void a_thread_of_the_kernel_is_no_process(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    place_u32(scene.task + scene.kernel.flags, KERNEL_THREAD | 1);
    change(&scene, TCP_CLOSE, TCP_SYN_SENT);
    assert_true(scene.known);
    assert_int_equal(scene.note.pid, 0);
    assert_int_equal(scene.note.uid, 0);
    assert_int_equal(scene.note.cgroup, 0);
    assert_string_equal(scene.note.name, "");
    assert_int_equal(scene.note.port, htons(443));
}

static void an_accepted_connection_has_a_time_a_peer_and_nobody(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    change(&scene, TCP_SYN_RECV, TCP_ESTABLISHED);
    assert_true(scene.known);
    assert_int_equal(scene.note.accepted, 1);
    assert_int_equal(scene.note.time, 1000);
    assert_int_equal(scene.note.port, htons(443));
    assert_int_equal(scene.note.pid, 0);
    assert_string_equal(scene.note.name, "");
}

static void both_ends_may_begin_a_connection_at_once(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    change(&scene, TCP_CLOSE, TCP_SYN_SENT);
    change(&scene, TCP_SYN_SENT, TCP_SYN_RECV);
    scene.now = 2000;
    change(&scene, TCP_SYN_RECV, TCP_ESTABLISHED);
    assert_int_equal(scene.note.time, 1000);
    assert_int_equal(scene.note.accepted, 0);
    assert_int_equal(scene.note.pid, 300);
}

static void its_end_is_noted(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    change(&scene, TCP_CLOSE, TCP_SYN_SENT);
    change(&scene, TCP_SYN_SENT, TCP_ESTABLISHED);
    scene.now = 3000;
    place_u32(scene.sock + scene.kernel.error, ECONNRESET); /* why it ended, not why it failed */
    change(&scene, TCP_ESTABLISHED, TCP_CLOSE);
    assert_int_equal(scene.note.time, 1000);
    assert_int_equal(scene.note.ended, 3000);
    assert_int_equal(scene.note.error, 0);
    assert_int_equal(scene.note.pid, 300);
}

static void why_it_failed_is_noted(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    change(&scene, TCP_CLOSE, TCP_SYN_SENT);
    place_u32(scene.sock + scene.kernel.error, ECONNREFUSED);
    change(&scene, TCP_SYN_SENT, TCP_CLOSE);
    assert_int_equal(scene.note.error, ECONNREFUSED);
    assert_int_equal(scene.note.failed, 1);
    /* and it may try again */
    scene.now = 4000;
    change(&scene, TCP_CLOSE, TCP_SYN_SENT);
    assert_int_equal(scene.note.error, 0);
    assert_int_equal(scene.note.failed, 0);
    assert_int_equal(scene.note.time, 4000);
    /* what the way says counts where the program gives up */
    place_u32(scene.sock + scene.kernel.error, 0);
    place_u32(scene.sock + scene.kernel.soft_error, EHOSTUNREACH);
    change(&scene, TCP_SYN_SENT, TCP_CLOSE);
    assert_int_equal(scene.note.error, EHOSTUNREACH);
}

/* As it is when SO_ERROR has cleared both errors. */
static void queue_error(struct scene *scene, uint32_t error, char origin)
{
    const struct made_connects *kernel = &scene->kernel;

    place_u64(scene->sock + kernel->queue + 8, (uintptr_t)scene->skb);
    place_u32(scene->sock + kernel->queue + 16, 1);
    place_u32(scene->skb + kernel->room + kernel->message_errno, error);
    scene->skb[kernel->room + kernel->message_origin] = origin;
}

static void the_queue_of_errors_knows_what_the_program_has_read(void **state)
{
    static const struct {
        char origin;
        uint32_t error;
    } cases[] = {{SO_EE_ORIGIN_ICMP, EHOSTUNREACH},
                 {SO_EE_ORIGIN_ICMP6, EHOSTUNREACH},
                 {SO_EE_ORIGIN_LOCAL, 0},
                 {SO_EE_ORIGIN_TIMESTAMPING, 0}};
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        make_scene(&scene);
        change(&scene, TCP_CLOSE, TCP_SYN_SENT);
        scene.sock[scene.kernel.shutdown] = 3;
        queue_error(&scene, EHOSTUNREACH, cases[i].origin);
        change(&scene, TCP_SYN_SENT, TCP_CLOSE);
        assert_int_equal(scene.note.failed, 1);
        assert_int_equal(scene.note.error, cases[i].error);
        assert_int_equal(scene.note.given_up, 0);
    }
}

static void a_program_gives_up_by_closing_a_socket_without_any_error(void **state)
{
    struct scene scene;

    (void)state;
    for (int closed = 0; closed < 2; closed++)
        for (int known = 0; known < 2; known++) {
            make_scene(&scene);
            scene.kernel.without_queue = !known;
            change(&scene, TCP_CLOSE, TCP_SYN_SENT);
            scene.sock[scene.kernel.shutdown] = closed ? 3 : 0;
            change(&scene, TCP_SYN_SENT, TCP_CLOSE);
            assert_int_equal(scene.note.failed, 1);
            assert_int_equal(scene.note.error, 0);
            assert_int_equal(scene.note.given_up != 0, closed && known);
            assert_int_equal(scene.note.closed != 0, closed && known);
        }
}

static void an_error_goes_before_giving_up(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    change(&scene, TCP_CLOSE, TCP_SYN_SENT);
    scene.sock[scene.kernel.shutdown] = 3;
    place_u32(scene.sock + scene.kernel.soft_error, ECONNREFUSED);
    queue_error(&scene, EHOSTUNREACH, SO_EE_ORIGIN_ICMP);
    change(&scene, TCP_SYN_SENT, TCP_CLOSE);
    assert_int_equal(scene.note.error, ECONNREFUSED);
    assert_int_equal(scene.note.given_up, 0);
    assert_int_not_equal(scene.note.closed, 0);
}

static void other_states_are_not_noted(void **state)
{
    static const uint32_t changes[][2] = {
        {TCP_CLOSE, TCP_LISTEN},           {TCP_ESTABLISHED, TCP_FIN_WAIT1},
        {TCP_ESTABLISHED, TCP_CLOSE_WAIT}, {TCP_SYN_SENT, TCP_ESTABLISHED},
        {TCP_LISTEN, TCP_CLOSE},           {TCP_CLOSE, TCP_CLOSE},
        {TCP_FIN_WAIT1, TCP_FIN_WAIT2},    {TCP_CLOSE_WAIT, TCP_LAST_ACK},
    };
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < COUNT(changes); i++) {
        make_scene(&scene);
        change(&scene, changes[i][0], changes[i][1]);
        assert_false(scene.known);
    }
}

static void other_namespaces_are_not_noted(void **state)
{
    static const uint32_t changes[][2] = {{TCP_CLOSE, TCP_SYN_SENT},
                                          {TCP_SYN_RECV, TCP_ESTABLISHED}};
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < COUNT(changes); i++) {
        make_scene(&scene);
        scene.wanted = NETNS + 1;
        change(&scene, changes[i][0], changes[i][1]);
        assert_false(scene.known);
        scene.wanted = 0; /* all */
        change(&scene, changes[i][0], changes[i][1]);
        assert_true(scene.known);
        make_scene(&scene);
        scene.kernel.without_netns = true;
        scene.wanted = NETNS + 1; /* there is only one */
        change(&scene, changes[i][0], changes[i][1]);
        assert_true(scene.known);
    }
}

/* --- Ends ------------------------------------------------------------------------------------- */

static void the_state_and_the_error_of_the_end_are_noted(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    change(&scene, TCP_SYN_RECV, TCP_ESTABLISHED);
    scene.now = 3000;
    place_u32(scene.sock + scene.kernel.error, ETIMEDOUT);
    change(&scene, TCP_LAST_ACK, TCP_CLOSE);
    assert_int_equal(scene.note.time, 1000);
    assert_int_equal(scene.note.accepted, 1);
    assert_int_equal(scene.note.ended, 3000);
    assert_int_equal(scene.note.old_state, TCP_LAST_ACK);
    assert_int_equal(scene.note.end_error, ETIMEDOUT);
    assert_int_equal(scene.note.error, 0);
    assert_int_equal(scene.note.reset_state, 0);
    assert_int_equal(scene.note.received_reset, 0);
}

static void the_end_of_an_older_connection_is_noted_with_its_addresses(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    change(&scene, TCP_FIN_WAIT2, TCP_CLOSE);
    assert_true(scene.known);
    assert_int_equal(scene.note.time, 0);
    assert_int_equal(scene.note.ended, 1000);
    assert_int_equal(scene.note.old_state, TCP_FIN_WAIT2);
    assert_int_equal(scene.note.port, htons(443));
    assert_int_equal(scene.note.pid, 0);
    assert_memory_equal(scene.note.local_v4, "\x7f\0\0\2", 4);
}

static void the_end_of_the_handshake_is_noted(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    change(&scene, TCP_CLOSE, TCP_SYN_SENT);
    scene.now = 1700;
    change(&scene, TCP_SYN_SENT, TCP_ESTABLISHED);
    assert_int_equal(scene.note.time, 1000);
    assert_int_equal(scene.note.connected, 1700);
    assert_int_equal(scene.note.pid, 300);
    /* both ends connect at once: the state goes through SYN_RECV */
    change(&scene, TCP_CLOSE, TCP_SYN_SENT);
    assert_int_equal(scene.note.connected, 0);
    change(&scene, TCP_SYN_SENT, TCP_SYN_RECV);
    scene.now = 2900;
    change(&scene, TCP_SYN_RECV, TCP_ESTABLISHED);
    assert_int_equal(scene.note.connected, 2900);
    assert_int_equal(scene.note.accepted, 0);
}

static void an_accepted_connection_has_no_end_of_its_handshake(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    change(&scene, TCP_SYN_RECV, TCP_ESTABLISHED);
    assert_int_equal(scene.note.connected, 0);
}

/* --- Resets ----------------------------------------------------------------------------------- */

static void run_reset(struct scene *scene, bool sends, uint8_t at)
{
    struct processor processor = {
        .call = call, .arg = scene, .map = &scene->note, .map_size = sizeof scene->note};
    struct bpf_insn program[CONNECT_PROGRAM_MAX];
    struct connect_layout layout;
    size_t count;

    assert_int_equal(layout_of(&scene->kernel, &layout), 0);
    assert_true(layout.send_reset && layout.receive_reset);
    count = (sends ? send_reset_program_make : receive_reset_program_make)(
        &layout, scene->wanted, MAP, ANSWERS, &scene->events, program);
    assert_int_not_equal(count, 0);
    scene->sock[scene->kernel.state] = (char)at;
    processor_run(&processor, program, count, scene->context);
}

enum { REASON = 14 };

static void send_reset(struct scene *scene, uint8_t at)
{
    scene->context[2] = REASON | UINT64_C(0xdead) << 32;
    run_reset(scene, true, at);
}

static void a_sent_reset_is_noted_with_its_state_and_reason(void **state)
{
    static const uint8_t ends[] = {TCP_ESTABLISHED, TCP_FIN_WAIT1, TCP_FIN_WAIT2, TCP_CLOSE,
                                   TCP_CLOSE_WAIT,  TCP_LAST_ACK,  TCP_CLOSING};
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < COUNT(ends); i++) {
        make_scene(&scene);
        change(&scene, TCP_CLOSE, TCP_SYN_SENT);
        send_reset(&scene, ends[i]);
        assert_int_equal(scene.note.reset_state, ends[i]);
        assert_int_equal(scene.note.reset_reason, REASON + 1);
        assert_int_equal(scene.note.time, 1000);
        assert_int_equal(scene.note.old_state, 0);
    }
}

static void a_reset_that_answers_a_wrong_packet_is_not_noted(void **state)
{
    static const uint8_t others[] = {TCP_SYN_SENT, TCP_SYN_RECV, TCP_LISTEN, TCP_TIME_WAIT, 12, 0};
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        make_scene(&scene);
        send_reset(&scene, others[i]);
        assert_false(scene.known);
    }
    make_scene(&scene);
    scene.context[0] = 0;
    send_reset(&scene, TCP_ESTABLISHED);
    assert_false(scene.known);
}

static void a_reset_without_a_reason_is_noted(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    scene.kernel.without_reasons = true;
    send_reset(&scene, TCP_CLOSE);
    assert_int_equal(scene.note.reset_state, TCP_CLOSE);
    assert_int_equal(scene.note.reset_reason, 0);
}

static void a_received_reset_is_noted_unless_the_socket_is_closed(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    change(&scene, TCP_CLOSE, TCP_SYN_SENT);
    run_reset(&scene, false, TCP_CLOSE);
    assert_int_equal(scene.note.received_reset, 0);
    run_reset(&scene, false, TCP_SYN_SENT);
    assert_int_equal(scene.note.received_reset, 1);
    change(&scene, TCP_CLOSE, TCP_SYN_SENT); /* it tries again */
    assert_int_equal(scene.note.received_reset, 0);
}

/* A packet from the scene's socket, which a reset answers. */
static void place_packet(struct scene *scene, bool ipv6)
{
    const struct made_connects *kernel = &scene->kernel;
    const size_t network = 14, transport = network + (ipv6 ? 40 : 20);

    place_u64(scene->skb + kernel->head, (uintptr_t)scene->packet);
    place_u16(scene->skb + kernel->network, (uint16_t)network);
    place_u16(scene->skb + kernel->transport, (uint16_t)transport);
    place_u64(scene->skb + kernel->device, (uintptr_t)scene->device);
    place_u64(scene->device + kernel->device_net, (uintptr_t)scene->net);
    scene->packet[network] = ipv6 ? 0x60 : 0x45;
    if (ipv6) {
        memcpy(scene->packet + network + 8, scene->sock + kernel->local_v6, 16);
        memcpy(scene->packet + network + 24, scene->sock + kernel->v6, 16);
    } else {
        memcpy(scene->packet + network + 12, scene->sock + kernel->local_v4, 4);
        memcpy(scene->packet + network + 16, scene->sock + kernel->v4, 4);
    }
    place_u16(scene->packet + transport, htons(40001));
    place_u16(scene->packet + transport + 2, htons(443));
    place_u16(scene->sock + kernel->sport, htons(40001));
    scene->context[1] = (uintptr_t)scene->skb;
}

/* The reset of a port without a socket. */
static void answer(struct scene *scene)
{
    scene->context[0] = 0;
    send_reset(scene, 0);
    scene->context[0] = (uintptr_t)scene->sock;
}

static void who_receives_a_reset_learns_its_reason_from_the_same_netns(void **state)
{
    struct scene scene;

    (void)state;
    for (int ipv6 = 0; ipv6 < 2; ipv6++) {
        make_scene(&scene);
        if (ipv6) {
            place_u16(scene.sock + scene.kernel.family, AF_INET6);
            memcpy(scene.sock + scene.kernel.v6, "\x20\1another peer6", 16);
            memcpy(scene.sock + scene.kernel.local_v6, "\x20\1its own addr6", 16);
        }
        place_packet(&scene, ipv6);
        answer(&scene);
        assert_true(scene.answered);
        assert_int_equal(scene.answer.reason, REASON + 1);
        assert_int_equal(scene.key.netns, NETNS);
        assert_false(scene.known);
        run_reset(&scene, false, TCP_SYN_SENT);
        assert_int_equal(scene.note.received_reset, 1);
        assert_int_equal(scene.note.reset_reason, REASON + 1);
        assert_int_equal(scene.note.reset_state, 0);
    }
}

/* A socket of IPv6 with addresses of IPv4. */
static void mapped_addresses_are_those_of_the_packet(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    place_u16(scene.sock + scene.kernel.family, AF_INET6);
    place_packet(&scene, false);
    answer(&scene);
    run_reset(&scene, false, TCP_SYN_SENT);
    assert_int_equal(scene.note.reset_reason, REASON + 1);
}

static void another_reset_has_no_reason(void **state)
{
    struct scene scene;

    (void)state;
    for (int other = 0; other < 6; other++) {
        make_scene(&scene);
        place_packet(&scene, false);
        answer(&scene);
        if (other == 1)
            place_u16(scene.sock + scene.kernel.sport, htons(40002));
        if (other == 2)
            place_u16(scene.sock + scene.kernel.port, htons(444));
        if (other == 3)
            scene.sock[scene.kernel.v4] = 126;
        if (other == 4)
            scene.now += 1000000000;
        if (other == 5) {
            place_u32(scene.net + scene.kernel.netns, NETNS + 1);
            scene.wanted = 0; /* all */
        }
        run_reset(&scene, false, TCP_SYN_SENT);
        assert_int_equal(scene.note.received_reset, 1);
        assert_int_equal(scene.note.reset_reason, other ? 0 : REASON + 1);
    }
}

/* Both connections have the same addresses and ports. */
static void the_reason_of_an_earlier_connection_is_not_taken(void **state)
{
    struct scene scene;

    (void)state;
    for (int earlier = 0; earlier < 2; earlier++) {
        make_scene(&scene);
        place_packet(&scene, false);
        scene.now = earlier ? 900 : 1000;
        answer(&scene);
        scene.now = 1000;
        change(&scene, TCP_CLOSE, TCP_SYN_SENT);
        run_reset(&scene, false, TCP_ESTABLISHED);
        assert_int_equal(scene.note.received_reset, 1);
        assert_int_equal(scene.note.reset_reason, earlier ? 0 : REASON + 1);
    }
}

static void an_answer_without_a_packet_is_not_noted(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    answer(&scene);
    assert_false(scene.answered);
    place_packet(&scene, false);
    scene.packet[14] = 0x15; /* no version of IP */
    answer(&scene);
    assert_false(scene.answered);
    scene.packet[14] = 0x45;
    scene.wanted = NETNS + 1;
    answer(&scene);
    assert_false(scene.answered);
}

static void resets_of_older_connections_are_noted(void **state)
{
    struct scene scene;

    (void)state;
    for (int sends = 0; sends < 2; sends++) {
        make_scene(&scene);
        run_reset(&scene, sends, TCP_ESTABLISHED);
        assert_true(scene.known);
        assert_int_equal(scene.note.time, 0);
        assert_int_equal(scene.note.port, htons(443));
        make_scene(&scene);
        scene.wanted = NETNS + 1;
        run_reset(&scene, sends, TCP_ESTABLISHED);
        assert_false(scene.known);
    }
}

static void a_kernel_without_the_events_of_resets_is_good_for_connections(void **state)
{
    static const char *const names[] = {"btf_trace_tcp_send_reset", "btf_trace_tcp_receive_reset",
                                        "skc_state"};
    struct made_connects kernel = made_connects_usual;
    struct made_btf made = {.types = 0};
    const size_t length = (made_connects(&made, &kernel), made_bytes(&made, bytes));
    struct connect_layout layout;

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        char *name = find_name(length, names[i]);
        struct btf btf;
        *name ^= 1;
        assert_int_equal(btf_init(&btf, (struct text){bytes, length}), 0);
        assert_int_equal(connect_layout_init(&layout, &btf, NOTE_CONNECTS), 0);
        assert_int_equal(layout.send_reset | layout.receive_reset, 0);
        btf_finish(&btf);
        *name ^= 1;
    }
    assert_int_equal(layout_of(&kernel, &layout), 0);
    assert_true(layout.has_reasons);
    kernel.without_reasons = true;
    assert_int_equal(layout_of(&kernel, &layout), 0);
    assert_true(layout.send_reset);
    assert_false(layout.has_reasons);
    kernel.without_resets = true;
    assert_int_equal(layout_of(&kernel, &layout), 0);
    assert_int_equal(layout.send_reset, 0);
}

/* --- Sends ------------------------------------------------------------------------------------ */

struct sending {
    struct scene scene;
    struct send_slot slots[SEND_SLOTS];
    unsigned calls;
};

static struct sending sending;

static void make_sending(void)
{
    memset(&sending, 0, sizeof sending);
    make_scene(&sending.scene);
    place_u16(sending.scene.sock + sending.scene.kernel.protocol, IPPROTO_UDP);
    place_u16(sending.scene.sock + sending.scene.kernel.local_port, 40001);
}

static uint64_t count_call(struct processor *processor, int function)
{
    sending.calls++;
    return call(processor, function);
}

static void send_once(void)
{
    struct processor processor = {.call = count_call,
                                  .arg = &sending.scene,
                                  .map = sending.slots,
                                  .map_size = sizeof sending.slots};
    struct bpf_insn program[SEND_PROGRAM_MAX];
    struct connect_layout layout;
    size_t count;

    assert_int_equal(layout_of(&sending.scene.kernel, &layout), 0);
    count = send_program_make(&layout, sending.scene.wanted, MAP, NULL, program);
    assert_int_not_equal(count, 0);
    processor_run(&processor, program, count, sending.scene.context);
}

static void who_sends_first_is_noted(void **state)
{
    const struct send_slot *note = &sending.slots[COOKIE];

    (void)state;
    make_sending();
    send_once();
    assert_int_equal(note->time, 1000);
    assert_int_equal(note->pid, 300);
    assert_int_equal(note->uid, 1001);
    assert_int_equal(note->cgroup, 4242);
    assert_int_equal(note->family, AF_INET);
    assert_int_equal(note->port, htons(443));
    assert_int_equal(note->local_port, 40001);
    assert_memory_equal(note->local_v4, "\x7f\0\0\2", 4);
    assert_string_equal(note->name, "a name of 15 by");
    assert_int_equal(sending.slots[COOKIE].cookie, COOKIE);
    /* for the cookie, the time, the task, the user, the cgroup and the process */
    assert_int_equal(sending.calls, 6);
}

static void a_sender_of_ipv6_has_addresses_of_ipv6(void **state)
{
    (void)state;
    make_sending();
    place_u16(sending.scene.sock + sending.scene.kernel.family, AF_INET6);
    send_once();
    assert_int_equal(sending.slots[COOKIE].family, AF_INET6);
    assert_memory_equal(sending.slots[COOKIE].v6 + 10, "\xff\xff\x7f\0\0\1", 6);
    assert_memory_equal(sending.slots[COOKIE].local_v6 + 10, "\xff\xff\x7f\0\0\2", 6);
}

static void a_kernel_thread_that_sends_leaves_no_process_in_the_slot(void **state)
{
    (void)state;
    make_sending();
    send_once();
    sending.slots[COOKIE].cookie = COOKIE + SEND_SLOTS;
    place_u32(sending.scene.task + sending.scene.kernel.flags, KERNEL_THREAD);
    send_once();
    assert_int_equal(sending.slots[COOKIE].cookie, COOKIE);
    assert_int_equal(sending.slots[COOKIE].pid, 0);
}

static void a_later_send_only_asks_for_the_cookie(void **state)
{
    (void)state;
    make_sending();
    send_once();
    memcpy(sending.scene.leader + sending.scene.kernel.name, "another name", 13);
    sending.calls = 0;
    send_once();
    assert_int_equal(sending.calls, 1);
    assert_string_equal(sending.slots[COOKIE].name, "a name of 15 by");
}

static void a_socket_with_the_same_slot_takes_it(void **state)
{
    (void)state;
    make_sending();
    send_once();
    sending.slots[COOKIE].cookie = COOKIE + SEND_SLOTS;
    memcpy(sending.scene.leader + sending.scene.kernel.name, "another name", 13);
    send_once();
    assert_string_equal(sending.slots[COOKIE].name, "another name");
    assert_int_equal(sending.slots[COOKIE].cookie, COOKIE);
}

static void only_sends_of_udp_are_noted(void **state)
{
    static const uint16_t others[] = {IPPROTO_TCP, IPPROTO_ICMP, IPPROTO_UDPLITE, 0};

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        make_sending();
        place_u16(sending.scene.sock + sending.scene.kernel.protocol, others[i]);
        send_once();
        assert_int_equal(sending.calls, 0);
    }
}

static void a_send_in_another_netns_is_not_noted(void **state)
{
    (void)state;
    make_sending();
    sending.scene.wanted = NETNS + 1;
    send_once();
    assert_int_equal(sending.slots[COOKIE].cookie, 0);
    sending.scene.wanted = 0; /* all */
    send_once();
    assert_int_equal(sending.slots[COOKIE].cookie, COOKIE);
}

/* --- Events ----------------------------------------------------------------------------------- */

static void make_traced(struct scene *scene)
{
    make_scene(scene);
    scene->events = (struct connect_ring){RING, LOST};
    place_u16(scene->sock + scene->kernel.sport, htons(4567));
}

static void expect_event(const struct scene *scene, unsigned happened, enum connect_event event)
{
    assert_int_equal(scene->happened, happened);
    if (happened)
        assert_int_equal(scene->event.event, event);
}

static void each_event_comes_into_the_ring_once(void **state)
{
    struct scene scene;

    (void)state;
    make_traced(&scene);
    change(&scene, TCP_CLOSE, TCP_SYN_SENT);
    expect_event(&scene, 0, CONNECT_MADE); /* not before it is known whether it succeeds */
    change(&scene, TCP_SYN_SENT, TCP_ESTABLISHED);
    expect_event(&scene, 1, CONNECT_MADE);
    change(&scene, TCP_ESTABLISHED, TCP_CLOSE);
    expect_event(&scene, 2, CONNECT_END);
    make_traced(&scene);
    change(&scene, TCP_SYN_RECV, TCP_ESTABLISHED);
    expect_event(&scene, 1, CONNECT_ARRIVE);
    assert_int_equal(scene.event.accepted, 1);
}

static void an_event_has_the_port_and_the_error(void **state)
{
    struct scene scene;

    (void)state;
    make_traced(&scene);
    change(&scene, TCP_CLOSE, TCP_SYN_SENT);
    place_u32(scene.sock + scene.kernel.error, ECONNREFUSED);
    change(&scene, TCP_SYN_SENT, TCP_CLOSE);
    expect_event(&scene, 1, CONNECT_FAIL);
    assert_int_equal(scene.event.error, ECONNREFUSED);
    assert_int_equal(scene.event.pid, 300);
    assert_int_equal(scene.event.cookie, COOKIE);
    assert_int_equal(scene.event.local_port, htons(4567));
    assert_int_equal(scene.event.port, htons(443));
}

static void resets_and_retransmissions_are_events(void **state)
{
    struct processor processor = {.call = call};
    struct bpf_insn program[CONNECT_PROGRAM_MAX];
    struct connect_layout layout;
    struct scene scene;
    size_t count;

    (void)state;
    make_traced(&scene);
    send_reset(&scene, TCP_ESTABLISHED);
    expect_event(&scene, 1, CONNECT_RESET);
    assert_int_equal(scene.event.reset_reason, REASON + 1);
    run_reset(&scene, false, TCP_ESTABLISHED);
    expect_event(&scene, 2, CONNECT_RESET);
    assert_int_equal(scene.event.received_reset, 1);
    assert_int_equal(layout_of(&scene.kernel, &layout), 0);
    processor.arg = &scene;
    processor.map = &scene.note;
    processor.map_size = sizeof scene.note;
    count = retransmit_program_make(&layout, NETNS, MAP, &scene.events, program);
    processor_run(&processor, program, count, scene.context);
    expect_event(&scene, 3, CONNECT_RETRANSMIT);
}

/* The processor has one map, so the counter of lost events is at the beginning of the note. */
static void a_lost_event_is_counted(void **state)
{
    struct scene scene;

    (void)state;
    make_traced(&scene);
    change(&scene, TCP_CLOSE, TCP_SYN_SENT);
    change(&scene, TCP_SYN_SENT, TCP_ESTABLISHED);
    assert_int_equal(scene.note.time, 1000);
    scene.full = true;
    change(&scene, TCP_ESTABLISHED, TCP_CLOSE);
    assert_int_equal(scene.note.time, 1001);
}

static void without_a_ring_nothing_is_put_there(void **state)
{
    struct scene scene;

    (void)state;
    make_scene(&scene);
    change(&scene, TCP_CLOSE, TCP_SYN_SENT);
    change(&scene, TCP_SYN_SENT, TCP_ESTABLISHED);
    change(&scene, TCP_ESTABLISHED, TCP_CLOSE);
    assert_int_equal(scene.happened, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_without_ipv6_is_no_worse),
        cmocka_unit_test(an_event_with_other_parameters_is_refused),
        cmocka_unit_test(every_part_is_needed),
        cmocka_unit_test(the_queue_of_errors_is_not_needed),
        cmocka_unit_test(who_connects_is_noted),
        cmocka_unit_test(a_kernel_without_the_event_of_sends_is_good_for_connections),
        cmocka_unit_test(the_state_and_the_error_of_the_end_are_noted),
        cmocka_unit_test(the_end_of_an_older_connection_is_noted_with_its_addresses),
        cmocka_unit_test(the_end_of_the_handshake_is_noted),
        cmocka_unit_test(an_accepted_connection_has_no_end_of_its_handshake),
        cmocka_unit_test(a_sent_reset_is_noted_with_its_state_and_reason),
        cmocka_unit_test(a_reset_that_answers_a_wrong_packet_is_not_noted),
        cmocka_unit_test(a_reset_without_a_reason_is_noted),
        cmocka_unit_test(a_received_reset_is_noted_unless_the_socket_is_closed),
        cmocka_unit_test(who_receives_a_reset_learns_its_reason_from_the_same_netns),
        cmocka_unit_test(mapped_addresses_are_those_of_the_packet),
        cmocka_unit_test(another_reset_has_no_reason),
        cmocka_unit_test(the_reason_of_an_earlier_connection_is_not_taken),
        cmocka_unit_test(an_answer_without_a_packet_is_not_noted),
        cmocka_unit_test(resets_of_older_connections_are_noted),
        cmocka_unit_test(a_kernel_without_the_events_of_resets_is_good_for_connections),
        cmocka_unit_test(who_sends_first_is_noted),
        cmocka_unit_test(a_sender_of_ipv6_has_addresses_of_ipv6),
        cmocka_unit_test(a_kernel_thread_that_sends_leaves_no_process_in_the_slot),
        cmocka_unit_test(a_later_send_only_asks_for_the_cookie),
        cmocka_unit_test(a_socket_with_the_same_slot_takes_it),
        cmocka_unit_test(only_sends_of_udp_are_noted),
        cmocka_unit_test(a_send_in_another_netns_is_not_noted),
        cmocka_unit_test(a_thread_of_the_kernel_is_no_process),
        cmocka_unit_test(an_accepted_connection_has_a_time_a_peer_and_nobody),
        cmocka_unit_test(both_ends_may_begin_a_connection_at_once),
        cmocka_unit_test(its_end_is_noted),
        cmocka_unit_test(why_it_failed_is_noted),
        cmocka_unit_test(the_queue_of_errors_knows_what_the_program_has_read),
        cmocka_unit_test(a_program_gives_up_by_closing_a_socket_without_any_error),
        cmocka_unit_test(an_error_goes_before_giving_up),
        cmocka_unit_test(each_event_comes_into_the_ring_once),
        cmocka_unit_test(an_event_has_the_port_and_the_error),
        cmocka_unit_test(resets_and_retransmissions_are_events),
        cmocka_unit_test(a_lost_event_is_counted),
        cmocka_unit_test(without_a_ring_nothing_is_put_there),
        cmocka_unit_test(other_states_are_not_noted),
        cmocka_unit_test(other_namespaces_are_not_noted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
