/* SPDX-License-Identifier: MIT */
/* The first program runs at the tracepoint sock:inet_sock_set_state (net/ipv4/af_inet.c).
 * connect(2) sets SYN_SENT, so the process that runs then is the process that connects. An accepted
 * connection becomes established when a packet arrives, while any process may run.
 *
 * UDP has no such states. The second program runs at sock:sock_send_length (net/socket.c, Linux
 * 6.3), at the end of each call that sends.
 *
 * Two more programs note resets. They run at tcp:tcp_send_reset and tcp:tcp_receive_reset
 * (net/ipv4/tcp_output.c, tcp_ipv4.c, tcp_input.c), which most connections never reach.
 *
 * With a ring, each event is also put there, and one more program notes retransmissions, at
 * tcp:tcp_retransmit_skb (net/ipv4/tcp_output.c). */
#include "probes/connects_program.h"

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "fastnet/bpf_assembly.h"
#include "fastnet/kernel_abi.h"
#include "fastnet/kernel_types.h"
#include "probes/dns_program.h"

/* --- The programs ----------------------------------------------------------------------------- */

/* Registers that keep their values; registers 0 to 5 hold results and arguments. */
enum {
    CONTEXT = BPF_REG_6,
    SOCKET,
    OLD, /* the first program */
    NEW,
    NUMBER = OLD, /* the second program: the cookie, and its slot */
    SLOT = NEW,
    TRUSTED = CONTEXT, /* the second program: the socket, as get_socket_cookie() wants it */
    TASK = CONTEXT,    /* in connects_put_process(), after the last use of the context */
};

_Static_assert(sizeof(struct connect_note) % 8 == 0, "8-byte stores fill it");
_Static_assert(CONNECT_NAME == 16 && sizeof((struct connect_note){0}.v6) == 16, "for put_16()");

/* Offsets on the stack. */
enum { COOKIE = -8, PORT = COOKIE - 8, NOTE = PORT - (int)sizeof(struct connect_note) };
#define NOTE_AT(member) (NOTE + (int)offsetof(struct connect_note, member))

enum { KERNEL_THREAD = 0x00200000 /* PF_KTHREAD of linux/sched.h */ };

/* Loads argument `which` of the tracepoint. An int has an undefined upper half, which is
 * cleared. */
static void put_parameter(struct assembly *to, unsigned into, unsigned which)
{
    assembly_parameter(to, into, CONTEXT, which);
    assembly_number(to, BPF_LSH, into, 32);
    assembly_number(to, BPF_RSH, into, 32);
}

static void put_result(struct assembly *to, int function, int at, uint8_t size)
{
    assembly_call(to, function);
    assembly_store(to, BPF_REG_0, at, size);
}

/* Loads the socket of the tracepoint, through which the program reads members. */
static void put_socket(struct assembly *to, const struct connect_layout *layout)
{
    assembly_parameter(to, SOCKET, CONTEXT, 0);
    assembly_cast(to, SOCKET, SOCKET, layout->of_sock, layout->cast);
}

/* get_socket_cookie() takes only the pointer that the kernel passed, and no null pointer. */
static void put_cookie(struct assembly *to)
{
    assembly_parameter(to, BPF_FIRST, CONTEXT, 0);
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, 0);
    put_result(to, BPF_FUNC_get_socket_cookie, COOKIE, BPF_DW);
}

/* Copies 16 bytes of a member to `at` bytes from the address in register `in`. Register `from`
 * points to the member's struct. */
static void put_16(struct assembly *to, unsigned from, struct kernel_member member, unsigned in,
                   int at)
{
    member.size = BPF_DW;
    for (int end = at + 16; at < end; at += 8, member.offset = (int16_t)(member.offset + 8)) {
        assembly_load(to, BPF_SECOND, from, member);
        assembly_store_in(to, in, BPF_SECOND, at, BPF_DW);
    }
}

/* key, value: offsets on the stack. */
static void connects_put_update(struct assembly *to, int map, int key, int value, int flags)
{
    assembly_map(to, BPF_FIRST, map);
    assembly_address(to, BPF_SECOND, key);
    assembly_address(to, BPF_THIRD, value);
    assembly_number(to, BPF_MOV, BPF_REG_4, flags);
    assembly_call(to, BPF_FUNC_map_update_elem);
}

void connects_put_process(struct assembly *to, const struct connect_layout *layout,
                          const struct process_place *place)
{
    size_t is_kernel;

    assembly_call(to, BPF_FUNC_get_current_task_btf);
    assembly_cast(to, TASK, BPF_REG_0, layout->of_task, layout->cast);
    assembly_load(to, BPF_FIRST, TASK, layout->flags);
    assembly_number(to, BPF_AND, BPF_FIRST, KERNEL_THREAD);
    is_kernel = assembly_skip_if(to, BPF_JNE, BPF_FIRST, 0);
    assembly_call(to, BPF_FUNC_get_current_uid_gid);
    assembly_store_in(to, place->in, BPF_REG_0, place->uid, BPF_W);
    assembly_call(to, BPF_FUNC_get_current_cgroup_id);
    assembly_store_in(to, place->in, BPF_REG_0, place->cgroup, BPF_DW);
    assembly_call(to, BPF_FUNC_get_current_pid_tgid);
    assembly_number(to, BPF_RSH, BPF_REG_0, 32);
    assembly_store_in(to, place->in, BPF_REG_0, place->pid, BPF_W);
    assembly_load(to, BPF_FIRST, TASK, layout->leader);
    put_16(to, BPF_FIRST, layout->name, place->in, place->name);
    assembly_land(to, is_kernel);
}

/* Stores the ends of the socket. */
static void put_ends(struct assembly *to, const struct connect_layout *layout)
{
    assembly_copy(to, SOCKET, layout->family, NOTE_AT(family));
    assembly_copy(to, SOCKET, layout->port, NOTE_AT(port));
    assembly_copy(to, SOCKET, layout->v4, NOTE_AT(v4));
    assembly_copy(to, SOCKET, layout->local_v4, NOTE_AT(local_v4));
    if (!layout->has_v6)
        return;
    put_16(to, SOCKET, layout->v6, BPF_STACK, NOTE_AT(v6));
    put_16(to, SOCKET, layout->local_v6, BPF_STACK, NOTE_AT(local_v6));
}

/* Loads the errno of the newest ICMP message in the socket's error queue into register 1. If the
 * queue is empty, notes instead whether the application gave up, that is, closed the socket.
 * Returns the jump that skips the instructions for an empty queue. */
static size_t connects_put_icmp_error(struct assembly *to, const struct connect_layout *layout)
{
    size_t is_empty, is_icmp, is_icmp6, is_known;

    assembly_load(to, BPF_SECOND, SOCKET, layout->messages);
    is_empty = assembly_skip_if(to, BPF_JEQ, BPF_SECOND, 0);
    assembly_load(to, BPF_SECOND, SOCKET, layout->newest);
    assembly_load(to, BPF_FIRST, BPF_SECOND, layout->message_errno);
    assembly_load(to, BPF_SECOND, BPF_SECOND, layout->message_origin);
    is_icmp = assembly_skip_if(to, BPF_JEQ, BPF_SECOND, SO_EE_ORIGIN_ICMP);
    is_icmp6 = assembly_skip_if(to, BPF_JEQ, BPF_SECOND, SO_EE_ORIGIN_ICMP6);
    assembly_number(to, BPF_MOV, BPF_FIRST, 0);
    assembly_land(to, is_icmp);
    assembly_land(to, is_icmp6);
    is_known = assembly_skip(to);
    assembly_land(to, is_empty);
    assembly_load(to, BPF_SECOND, SOCKET, layout->shutdown);
    assembly_store_in(to, CONTEXT, BPF_SECOND, offsetof(struct connect_note, given_up), BPF_B);
    return is_known;
}

/* Notes why a connection failed. If the application has read SO_ERROR, both errors of the socket
 * are cleared (sk_getsockopt() in net/core/sock.c), but the ICMP message is still in the queue,
 * which only recvmsg(2) with MSG_ERRQUEUE empties. */
static void connects_put_error(struct assembly *to, const struct connect_layout *layout)
{
    size_t is_hard, is_soft;

    if (layout->has_messages) {
        assembly_load(to, BPF_FIRST, SOCKET, layout->shutdown);
        assembly_store_in(to, CONTEXT, BPF_FIRST, offsetof(struct connect_note, closed), BPF_B);
    }
    assembly_load(to, BPF_FIRST, SOCKET, layout->error);
    is_hard = assembly_skip_if(to, BPF_JNE, BPF_FIRST, 0);
    assembly_load(to, BPF_FIRST, SOCKET, layout->soft_error);
    is_soft = assembly_skip_if(to, BPF_JNE, BPF_FIRST, 0);
    if (layout->has_messages) {
        const size_t is_known = connects_put_icmp_error(to, layout);
        assembly_land(to, is_known);
    }
    assembly_land(to, is_hard);
    assembly_land(to, is_soft);
    assembly_store_in(to, CONTEXT, BPF_FIRST, offsetof(struct connect_note, error), BPF_W);
}

/* Sets register 0 to the address of the value of the key; 0: the map lacks the key. key: offset of
 * the key on the stack. */
static void connects_put_lookup(struct assembly *to, int map, int key)
{
    assembly_map(to, BPF_FIRST, map);
    assembly_address(to, BPF_SECOND, key);
    assembly_call(to, BPF_FUNC_map_lookup_elem);
}

/* Sets CONTEXT to the address of the socket's note. If the connection is older than this program,
 * makes a note whose time is 0. */
static void connects_put_find(struct assembly *to, const struct connect_layout *layout, int map)
{
    size_t is_known;

    put_cookie(to);
    connects_put_lookup(to, map, COOKIE);
    is_known = assembly_skip_if(to, BPF_JNE, BPF_REG_0, 0);
    assembly_store_zeroes(to, NOTE, sizeof(struct connect_note));
    put_ends(to, layout);
    connects_put_update(to, map, COOKIE, NOTE, BPF_NOEXIST);
    connects_put_lookup(to, map, COOKIE);
    assembly_end_if(to, BPF_JEQ, BPF_REG_0, 0);
    assembly_land(to, is_known);
    assembly_register(to, BPF_MOV, CONTEXT, BPF_REG_0);
}

/* Reads `size` bytes, `offset` bytes after the address in register `from`, to the stack. */
static void connects_put_read(struct assembly *to, int at, int size, unsigned from, int offset)
{
    assembly_address(to, BPF_FIRST, at);
    assembly_number(to, BPF_MOV, BPF_SECOND, size);
    assembly_register(to, BPF_MOV, BPF_THIRD, from);
    assembly_number(to, BPF_ADD, BPF_THIRD, offset);
    assembly_call(to, BPF_FUNC_probe_read_kernel);
}

/* Puts a copy of the note into the ring. in, at: where the note is; the cookie is on the stack. */
static void connects_put_event(struct assembly *to, const struct connect_layout *layout,
                               const struct connect_ring *events, unsigned in, int at,
                               enum connect_event event)
{
    const struct kernel_member cookie = {.offset = COOKIE, .size = BPF_DW},
                               port = {.offset = PORT, .size = BPF_DW};
    size_t is_kept;

    if (events->ring < 0)
        return;
    assembly_load(to, BPF_FIRST, BPF_STACK, cookie);
    assembly_store_in(to, in, BPF_FIRST, at + (int)offsetof(struct connect_note, cookie), BPF_DW);
    if (layout->local_sport.size) { /* skc_num is 0 at the end; this member keeps the port */
        size_t is_unbound;
        assembly_store_zeroes(to, PORT, 8);
        connects_put_read(to, PORT, 2, SOCKET, layout->local_sport.offset);
        assembly_load(to, BPF_FIRST, BPF_STACK, port);
        is_unbound = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, 0);
        assembly_store_in(to, in, BPF_FIRST, at + (int)offsetof(struct connect_note, local_port),
                          BPF_DW);
        assembly_land(to, is_unbound);
    }
    assembly_call(to, BPF_FUNC_ktime_get_ns);
    assembly_store_in(to, in, BPF_REG_0, at + (int)offsetof(struct connect_note, happened), BPF_DW);
    assembly_number(to, BPF_MOV, BPF_FIRST, (int)event);
    assembly_store_in(to, in, BPF_FIRST, at + (int)offsetof(struct connect_note, event), BPF_H);
    assembly_map(to, BPF_FIRST, events->ring);
    assembly_register(to, BPF_MOV, BPF_SECOND, in);
    assembly_number(to, BPF_ADD, BPF_SECOND, at);
    assembly_number(to, BPF_MOV, BPF_THIRD, sizeof(struct connect_note));
    assembly_number(to, BPF_MOV, BPF_REG_4, 0);
    assembly_call(to, BPF_FUNC_ringbuf_output);
    is_kept = assembly_skip_if(to, BPF_JEQ, BPF_REG_0, 0);
    assembly_value(to, BPF_SECOND, events->lost, 0);
    assembly_count(to, BPF_SECOND, 0);
    assembly_land(to, is_kept);
}

/* Notes when the handshake ended of a connection that this machine began. */
static void connects_put_connected(struct assembly *to, int map)
{
    put_cookie(to);
    connects_put_lookup(to, map, COOKIE);
    assembly_end_if(to, BPF_JEQ, BPF_REG_0, 0);
    assembly_register(to, BPF_MOV, CONTEXT, BPF_REG_0);
    assembly_call(to, BPF_FUNC_ktime_get_ns);
    assembly_store_in(to, CONTEXT, BPF_REG_0, offsetof(struct connect_note, connected), BPF_DW);
}

/* Completes the note of a closed socket. The note stays: a socket whose connection failed may
 * connect again, which overwrites the note. */
static void connects_put_end(struct assembly *to, const struct connect_layout *layout, int map,
                             const struct connect_ring *events)
{
    size_t is_failed;

    assembly_end_if(to, BPF_JEQ, OLD, TCP_LISTEN);
    assembly_end_if(to, BPF_JEQ, OLD, TCP_CLOSE);
    connects_put_find(to, layout, map);
    assembly_call(to, BPF_FUNC_ktime_get_ns);
    assembly_store_in(to, CONTEXT, BPF_REG_0, offsetof(struct connect_note, ended), BPF_DW);
    assembly_store_in(to, CONTEXT, OLD, offsetof(struct connect_note, old_state), BPF_B);
    assembly_load(to, BPF_FIRST, SOCKET, layout->error);
    assembly_store_in(to, CONTEXT, BPF_FIRST, offsetof(struct connect_note, end_error), BPF_W);
    is_failed = assembly_skip_if(to, BPF_JEQ, OLD, TCP_SYN_SENT);
    connects_put_event(to, layout, events, CONTEXT, 0, CONNECT_END);
    (void)assembly_skip(to);
    assembly_land(to, is_failed);
    assembly_number(to, BPF_MOV, BPF_FIRST, 1);
    assembly_store_in(to, CONTEXT, BPF_FIRST, offsetof(struct connect_note, failed), BPF_B);
    connects_put_error(to, layout);
    connects_put_event(to, layout, events, CONTEXT, 0, CONNECT_FAIL);
}

/* Ends the program for sockets of other network namespaces, so that they take no room in the
 * map. */
void connects_put_netns(struct assembly *to, const struct connect_layout *layout, uint64_t netns)
{
    if (!netns || !layout->has_netns)
        return;
    assembly_load(to, BPF_FIRST, SOCKET, layout->net);
    assembly_load(to, BPF_FIRST, BPF_FIRST, layout->netns);
    assembly_wide(to, BPF_SECOND, netns);
    assembly_end_if_unequal(to, BPF_FIRST, BPF_SECOND);
}

size_t connect_program_make(const struct connect_layout *layout, uint64_t netns, int map,
                            const struct connect_ring *events,
                            struct bpf_insn program[CONNECT_PROGRAM_MAX])
{
    static const struct process_place process = PROCESS_AT(BPF_STACK, struct connect_note, NOTE);
    struct assembly to = {.code = program, .most = CONNECT_PROGRAM_MAX};
    size_t is_closed, is_ended, is_begun, is_connected, is_known, connects;

    assembly_register(&to, BPF_MOV, CONTEXT, BPF_FIRST);
    put_socket(&to, layout);
    put_parameter(&to, OLD, 1);
    put_parameter(&to, NEW, 2);
    is_closed = assembly_skip_if(&to, BPF_JEQ, NEW, TCP_CLOSE);
    is_begun = assembly_skip_if(&to, BPF_JEQ, NEW, TCP_SYN_SENT);
    assembly_end_if(&to, BPF_JNE, NEW, TCP_ESTABLISHED);
    is_connected = assembly_skip_if(&to, BPF_JEQ, OLD, TCP_SYN_SENT);
    assembly_end_if(&to, BPF_JNE, OLD, TCP_SYN_RECV);
    assembly_land(&to, is_closed);
    assembly_land(&to, is_begun);
    connects_put_netns(&to, layout, netns);
    is_ended = assembly_skip_if(&to, BPF_JEQ, NEW, TCP_CLOSE);
    assembly_store_zeroes(&to, NOTE, sizeof(struct connect_note));
    put_cookie(&to);
    put_result(&to, BPF_FUNC_ktime_get_ns, NOTE_AT(time), BPF_DW);
    put_ends(&to, layout);
    connects = assembly_skip_if(&to, BPF_JEQ, NEW, TCP_SYN_SENT);
    /* a connection that both ends began has a note since SYN_SENT: BPF_NOEXIST keeps it */
    assembly_number(&to, BPF_MOV, BPF_FIRST, 1);
    assembly_store(&to, BPF_FIRST, NOTE_AT(accepted), BPF_B);
    connects_put_update(&to, map, COOKIE, NOTE, BPF_NOEXIST);
    is_known = assembly_skip_if(&to, BPF_JNE, BPF_REG_0, 0);
    connects_put_event(&to, layout, events, BPF_STACK, NOTE, CONNECT_ARRIVE);
    (void)assembly_skip(&to);
    assembly_land(&to, is_known);
    assembly_land(&to, is_connected);
    connects_put_connected(&to, map);
    connects_put_event(&to, layout, events, CONTEXT, 0, CONNECT_MADE);
    (void)assembly_skip(&to);
    assembly_land(&to, connects);
    connects_put_process(&to, layout, &process);
    connects_put_update(&to, map, COOKIE, NOTE, BPF_ANY);
    (void)assembly_skip(&to);
    assembly_land(&to, is_ended);
    connects_put_end(&to, layout, map, events);
    return assembly_finish(&to);
}

/* --- Resets ----------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct reset_key) % 8 == 0, "8-byte stores fill it");
enum {
    KEY = NOTE - (int)sizeof(struct reset_key),
    ANSWER = KEY - (int)sizeof(struct reset_answer),
    HEADER = ANSWER - 40, /* an IP header */
    MAPPED = 10,          /* offset of the two bytes 0xff in an IPv4-mapped address */
    ANSWER_TIME = 1000000000,
};
#define KEY_AT(member) (KEY + (int)offsetof(struct reset_key, member))

/* Makes both addresses of the key IPv4-mapped addresses, from two members of a struct. */
static void connects_put_mapped(struct assembly *to, unsigned from, struct kernel_member local,
                                struct kernel_member remote)
{
    assembly_number(to, BPF_MOV, BPF_FIRST, 0xffff);
    assembly_store(to, BPF_FIRST, KEY_AT(local) + MAPPED, BPF_H);
    assembly_store(to, BPF_FIRST, KEY_AT(remote) + MAPPED, BPF_H);
    assembly_copy(to, from, local, KEY_AT(local) + MAPPED + 2);
    assembly_copy(to, from, remote, KEY_AT(remote) + MAPPED + 2);
}

/* Stores the ends of the packet that register OLD points to: its source is the end that receives
 * the answer. Ends the program if the packet has no IP header. Loses SOCKET. */
static void connects_put_packet(struct assembly *to, const struct connect_layout *layout)
{
    const struct kernel_member first = {.offset = HEADER, .size = BPF_B},
                               source = {.offset = HEADER + 12, .size = BPF_W},
                               destination = {.offset = HEADER + 16, .size = BPF_W},
                               source_v6 = {.offset = HEADER + 8},
                               destination_v6 = {.offset = HEADER + 24};
    size_t is_v4, is_read;

    assembly_load(to, SOCKET, OLD, layout->head);
    assembly_load(to, BPF_FIRST, OLD, layout->transport);
    assembly_register(to, BPF_ADD, SOCKET, BPF_FIRST);
    connects_put_read(to, KEY_AT(local_port), 4, SOCKET, 0);
    assembly_load(to, SOCKET, OLD, layout->head);
    assembly_load(to, BPF_FIRST, OLD, layout->network);
    assembly_register(to, BPF_ADD, SOCKET, BPF_FIRST);
    connects_put_read(to, HEADER, 40, SOCKET, 0);
    assembly_load(to, BPF_FIRST, BPF_STACK, first);
    assembly_number(to, BPF_RSH, BPF_FIRST, 4);
    is_v4 = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, 4);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, 6);
    put_16(to, BPF_STACK, source_v6, BPF_STACK, KEY_AT(local));
    put_16(to, BPF_STACK, destination_v6, BPF_STACK, KEY_AT(remote));
    is_read = assembly_skip(to);
    assembly_land(to, is_v4);
    connects_put_mapped(to, BPF_STACK, source, destination);
    assembly_land(to, is_read);
}

/* Notes a reset that does not end a connection of its own socket, if it answers a packet. NEW: the
 * reason plus 1. */
static void connects_put_answer(struct assembly *to, const struct connect_layout *layout,
                                uint64_t netns, int answers)
{
    assembly_parameter(to, BPF_FIRST, CONTEXT, 1);
    assembly_cast(to, OLD, BPF_FIRST, layout->of_skb, layout->cast);
    assembly_end_if(to, BPF_JEQ, OLD, 0);
    assembly_store_zeroes(to, KEY, sizeof(struct reset_key));
    assembly_store_zeroes(to, HEADER, 40);
    assembly_load(to, BPF_FIRST, OLD, layout->device);
    assembly_load(to, BPF_FIRST, BPF_FIRST, layout->net_of_device);
    assembly_load(to, BPF_FIRST, BPF_FIRST, layout->netns);
    assembly_store(to, BPF_FIRST, KEY_AT(netns), BPF_W);
    if (netns) {
        assembly_wide(to, BPF_SECOND, netns);
        assembly_end_if_unequal(to, BPF_FIRST, BPF_SECOND);
    }
    connects_put_packet(to, layout);
    put_result(to, BPF_FUNC_ktime_get_ns, ANSWER, BPF_DW);
    assembly_store(to, NEW, ANSWER + (int)offsetof(struct reset_answer, reason), BPF_DW);
    connects_put_update(to, answers, KEY, ANSWER, BPF_ANY);
}

/* Takes the reason of the reset that the socket receives, if it answers a packet of this socket
 * and was sent in this network namespace a moment ago, since the connection began: an earlier
 * connection may have had the same addresses and ports. CONTEXT: the note. */
static void connects_take_answer(struct assembly *to, const struct connect_layout *layout,
                                 int answers)
{
    const struct kernel_member time = {.size = BPF_DW},
                               begun = {.offset = offsetof(struct connect_note, time),
                                        .size = BPF_DW},
                               reason = {.offset = offsetof(struct reset_answer, reason),
                                         .size = BPF_DW};
    size_t is_read = 0;

    assembly_register(to, BPF_MOV, OLD, SOCKET);
    assembly_store_zeroes(to, KEY, sizeof(struct reset_key));
    assembly_load(to, BPF_FIRST, OLD, layout->net);
    assembly_copy(to, BPF_FIRST, layout->netns, KEY_AT(netns));
    connects_put_read(to, KEY_AT(local_port), 2, OLD, layout->local_sport.offset);
    assembly_copy(to, OLD, layout->port, KEY_AT(remote_port));
    if (layout->has_v6) {
        assembly_load(to, BPF_FIRST, OLD, layout->family);
        const size_t is_v4 = assembly_skip_if(to, BPF_JNE, BPF_FIRST, AF_INET6);
        put_16(to, OLD, layout->local_v6, BPF_STACK, KEY_AT(local));
        put_16(to, OLD, layout->v6, BPF_STACK, KEY_AT(remote));
        is_read = assembly_skip(to);
        assembly_land(to, is_v4);
    }
    connects_put_mapped(to, OLD, layout->local_v4, layout->v4);
    if (layout->has_v6)
        assembly_land(to, is_read);
    connects_put_lookup(to, answers, KEY);
    assembly_end_if(to, BPF_JEQ, BPF_REG_0, 0);
    assembly_register(to, BPF_MOV, NEW, BPF_REG_0);
    assembly_call(to, BPF_FUNC_ktime_get_ns);
    assembly_load(to, BPF_FIRST, NEW, time);
    assembly_register(to, BPF_SUB, BPF_REG_0, BPF_FIRST);
    assembly_end_if(to, BPF_JGE, BPF_REG_0, ANSWER_TIME);
    assembly_load(to, BPF_SECOND, CONTEXT, begun);
    assembly_register(to, BPF_SUB, BPF_FIRST, BPF_SECOND);
    assembly_end_if(to, BPF_JSLT, BPF_FIRST, 0);
    assembly_load(to, BPF_FIRST, NEW, reason);
    assembly_store_in(to, CONTEXT, BPF_FIRST, offsetof(struct connect_note, reset_reason), BPF_H);
}

/* Notes a reset that a socket sends. The kernel passes a null pointer if no socket is bound to the
 * port (tcp_v4_send_reset() of net/ipv4/tcp_ipv4.c); the program reads state 0 from it. In the
 * states SYN_SENT, SYN_RECV, LISTEN and TIME_WAIT a reset answers a wrong packet, and does not end
 * the socket's own connection. */
size_t send_reset_program_make(const struct connect_layout *layout, uint64_t netns, int map,
                               int answers, const struct connect_ring *events,
                               struct bpf_insn program[CONNECT_PROGRAM_MAX])
{
    enum {
        ENDS = 1 << TCP_ESTABLISHED | 1 << TCP_FIN_WAIT1 | 1 << TCP_FIN_WAIT2 | 1 << TCP_CLOSE |
               1 << TCP_CLOSE_WAIT | 1 << TCP_LAST_ACK | 1 << TCP_CLOSING
    };
    struct assembly to = {.code = program, .most = CONNECT_PROGRAM_MAX};
    size_t is_null, is_end;

    assembly_register(&to, BPF_MOV, CONTEXT, BPF_FIRST);
    put_socket(&to, layout);
    assembly_number(&to, BPF_MOV, NEW, 0);
    if (layout->has_reasons) {
        put_parameter(&to, NEW, 2);
        assembly_number(&to, BPF_ADD, NEW, 1);
    }
    is_null = assembly_skip_if(&to, BPF_JEQ, SOCKET, 0);
    assembly_load(&to, OLD, SOCKET, layout->state);
    assembly_number(&to, BPF_MOV, BPF_FIRST, 1);
    assembly_register(&to, BPF_LSH, BPF_FIRST, OLD);
    assembly_number(&to, BPF_AND, BPF_FIRST, ENDS);
    is_end = assembly_skip_if(&to, BPF_JNE, BPF_FIRST, 0);
    assembly_land(&to, is_null);
    if (layout->has_answers)
        connects_put_answer(&to, layout, netns, answers);
    (void)assembly_skip(&to);
    assembly_land(&to, is_end);
    connects_put_netns(&to, layout, netns);
    connects_put_find(&to, layout, map);
    assembly_store_in(&to, CONTEXT, OLD, offsetof(struct connect_note, reset_state), BPF_B);
    assembly_store_in(&to, CONTEXT, NEW, offsetof(struct connect_note, reset_reason), BPF_H);
    connects_put_event(&to, layout, events, CONTEXT, 0, CONNECT_RESET);
    return assembly_finish(&to);
}

size_t receive_reset_program_make(const struct connect_layout *layout, uint64_t netns, int map,
                                  int answers, const struct connect_ring *events,
                                  struct bpf_insn program[CONNECT_PROGRAM_MAX])
{
    struct assembly to = {.code = program, .most = CONNECT_PROGRAM_MAX};

    assembly_register(&to, BPF_MOV, CONTEXT, BPF_FIRST);
    put_socket(&to, layout);
    assembly_load(&to, BPF_FIRST, SOCKET, layout->state);
    assembly_end_if(&to, BPF_JEQ, BPF_FIRST, TCP_CLOSE);
    connects_put_netns(&to, layout, netns);
    connects_put_find(&to, layout, map);
    assembly_number(&to, BPF_MOV, BPF_FIRST, 1);
    assembly_store_in(&to, CONTEXT, BPF_FIRST, offsetof(struct connect_note, received_reset),
                      BPF_B);
    connects_put_event(&to, layout, events, CONTEXT, 0, CONNECT_RESET);
    if (layout->has_answers)
        connects_take_answer(&to, layout, answers);
    return assembly_finish(&to);
}

size_t retransmit_program_make(const struct connect_layout *layout, uint64_t netns, int map,
                               const struct connect_ring *events,
                               struct bpf_insn program[CONNECT_PROGRAM_MAX])
{
    struct assembly to = {.code = program, .most = CONNECT_PROGRAM_MAX};

    assembly_register(&to, BPF_MOV, CONTEXT, BPF_FIRST);
    put_socket(&to, layout);
    connects_put_netns(&to, layout, netns);
    connects_put_find(&to, layout, map);
    connects_put_event(&to, layout, events, CONTEXT, 0, CONNECT_RETRANSMIT);
    return assembly_finish(&to);
}

/* --- Sends ------------------------------------------------------------------------------------ */

/* Returns a skip that is taken if the socket has a note already. If the slot has the note of
 * another socket, that note is lost: it is older, mostly by thousands of sockets. */
static size_t connects_put_slot(struct assembly *to, int slots)
{
    const struct kernel_member cookie = {.size = BPF_DW};

    assembly_register(to, BPF_MOV, SLOT, NUMBER);
    assembly_number(to, BPF_AND, SLOT, SEND_SLOTS - 1);
    assembly_number(to, BPF_LSH, SLOT, SEND_SLOT_SHIFT);
    assembly_value(to, BPF_FIRST, slots, 0);
    assembly_register(to, BPF_ADD, SLOT, BPF_FIRST);
    assembly_load(to, BPF_FIRST, SLOT, cookie);
    return assembly_skip_if_equal(to, BPF_FIRST, NUMBER);
}

#define SLOT_AT(member) ((int)offsetof(struct send_slot, member))

static void connects_put_in_slot(struct assembly *to, struct kernel_member member, int at)
{
    assembly_load(to, BPF_FIRST, SOCKET, member);
    assembly_store_in(to, SLOT, BPF_FIRST, at, member.size);
}

/* Notes the addresses of the socket's family only: the others may be in another line of the
 * cache. */
static void connects_put_slot_ends(struct assembly *to, const struct connect_layout *layout)
{
    size_t is_v4;

    connects_put_in_slot(to, layout->port, SLOT_AT(port));
    connects_put_in_slot(to, layout->local_port, SLOT_AT(local_port));
    connects_put_in_slot(to, layout->v4, SLOT_AT(v4));
    connects_put_in_slot(to, layout->local_v4, SLOT_AT(local_v4));
    connects_put_in_slot(to, layout->family, SLOT_AT(family));
    if (!layout->has_v6)
        return;
    is_v4 = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, AF_INET);
    put_16(to, SOCKET, layout->v6, SLOT, SLOT_AT(v6));
    put_16(to, SOCKET, layout->local_v6, SLOT, SLOT_AT(local_v6));
    assembly_land(to, is_v4);
}

/* The cookie in the slot is 0 until the note is complete, so that nobody reads it before. If the
 * pid stays 0 because a kernel thread sends, uid, cgroup and name are those of an older note. */
size_t send_program_make(const struct connect_layout *layout, uint64_t netns, int slots,
                         const struct query_part *queries,
                         struct bpf_insn program[SEND_PROGRAM_MAX])
{
    static const struct process_place process = PROCESS_AT(SLOT, struct send_slot, 0);
    struct assembly to = {.code = program, .most = SEND_PROGRAM_MAX};
    size_t is_known;

    if (queries)
        dns_put_result(&to, BPF_FIRST);
    assembly_parameter(&to, TRUSTED, BPF_FIRST, 0);
    assembly_cast(&to, SOCKET, TRUSTED, layout->of_sock, layout->cast);
    assembly_load(&to, BPF_FIRST, SOCKET, layout->protocol);
    assembly_end_if(&to, BPF_JNE, BPF_FIRST, IPPROTO_UDP);
    connects_put_netns(&to, layout, netns);
    assembly_register(&to, BPF_MOV, BPF_FIRST, TRUSTED);
    assembly_call(&to, BPF_FUNC_get_socket_cookie);
    assembly_register(&to, BPF_MOV, NUMBER, BPF_REG_0);
    is_known = connects_put_slot(&to, slots);
    assembly_number(&to, BPF_MOV, BPF_FIRST, 0);
    assembly_store_in(&to, SLOT, BPF_FIRST, SLOT_AT(cookie), BPF_DW);
    assembly_store_in(&to, SLOT, BPF_FIRST, SLOT_AT(pid), BPF_W);
    connects_put_slot_ends(&to, layout);
    assembly_call(&to, BPF_FUNC_ktime_get_ns);
    assembly_store_in(&to, SLOT, BPF_REG_0, SLOT_AT(time), BPF_DW);
    connects_put_process(&to, layout, &process);
    assembly_store_in(&to, SLOT, NUMBER, SLOT_AT(cookie), BPF_DW);
    if (queries) { /* a known socket sends further queries; otherwise is_known leads to the end */
        assembly_land(&to, is_known);
        assembly_register(&to, BPF_MOV, CONTEXT, SLOT);
        dns_put_query(&to, queries->layout, queries->map, true);
    }
    return assembly_finish(&to);
}
