/* SPDX-License-Identifier: MIT */
/* The programs run at the tracepoints sock:sock_send_length and sock:sock_recv_length
 * (net/socket.c, Linux 6.3), at the end of each call that sends or receives. Sockets with another
 * protocol, or with a peer on another port, end them after a few instructions.
 *
 * The kernel does not pass the address that sendto(2) names. So for a socket without a peer the
 * programs read the arguments of the system call, and the id of the query or answer. */
#include "probes/dns_program.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "fastnet/array.h"
#include "fastnet/kernel_abi.h"
#include "probes/call_registers.h"

/* --- The kernel's structs --------------------------------------------------------------------- */

/* Both tracepoints have the same parameters, as one class of events. struct pt_regs is found by a
 * tracepoint that other probes have found, because a search for a name takes 0.1 ms. */
int dns_layout_init(struct dns_layout *layout, const struct btf *btf)
{
    const int status = connect_layout_init(&layout->connect, btf, NOTE_SENDS);
    const uint32_t sock = layout->connect.of_sock;
    const uint32_t registers =
        kernel_event_struct(btf, btf_find(btf, BTF_TYPEDEF, "btf_trace_sys_exit"), 2, "pt_regs");
    uint32_t bytes, to;

    if (status < 0 || !layout->connect.sends || !layout->connect.has_netns ||
        !kernel_member_find(btf, sock, "sk_socket", &layout->socket, &to) ||
        !kernel_member_find(btf, kernel_pointed_to(btf, to), "file", &layout->file, &to) ||
        !kernel_member_find(btf, kernel_pointed_to(btf, to), "f_inode", &layout->inode, &to) ||
        !kernel_member_find(btf, kernel_pointed_to(btf, to), "i_ino", &layout->number, NULL))
        return -ENOTSUP;
    layout->has_calls =
        kernel_member_find(btf, registers, CALL_NUMBER, &layout->call, NULL) &&
        kernel_struct_find(btf, registers, SECOND_ARGUMENT, &layout->second, &bytes) &&
        kernel_struct_find(btf, registers, FIFTH_ARGUMENT, &layout->fifth, &bytes);
    layout->second.offset = (int16_t)(layout->second.offset + SECOND_AT);
    layout->fifth.offset = (int16_t)(layout->fifth.offset + FIFTH_AT);
    layout->second.size = layout->fifth.size = BPF_DW;
    return 0;
}

/* --- Registers and the stack ------------------------------------------------------------------ */

/* Registers that keep their values; registers 0 to 5 hold results and arguments. */
enum { CONTEXT = BPF_REG_6, SOCKET, NUMBER, NOTE };

/* Offsets on the stack. */
enum {
    RESULT = -8, /* number of bytes that the call returned, or -errno */
    ID = -16,    /* as in struct dns_note */
    TIME = -24,
    SERVER = -40,
    FAMILY = -48,
    INDEX = -56,   /* place of the note */
    NAME = -64,    /* address of the struct sockaddr in the memory of the process */
    ADDRESS = -96, /* a copy of that struct */
    HEADER = -128, /* a copy of a struct msghdr, as far as it is needed */
};
enum { IS_BIG_ENDIAN = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };
#define NOTE_MEMBER(member) ((int)offsetof(struct dns_note, member))

static struct kernel_member dns_word(int offset, uint8_t size)
{
    return (struct kernel_member){.offset = (int16_t)offset, .size = size};
}

static void dns_put_store(struct assembly *to, int at, unsigned from, uint8_t size)
{
    assembly_store_in(to, NOTE, from, at, size);
}

/* Copies an address of IPv4 to SERVER. */
static void dns_put_v4(struct assembly *to, unsigned from, struct kernel_member member)
{
    assembly_load(to, BPF_FIRST, from, member);
    if (IS_BIG_ENDIAN)
        assembly_number(to, BPF_LSH, BPF_FIRST, 32);
    assembly_store(to, BPF_FIRST, SERVER, BPF_DW);
}

static void dns_put_flag(struct assembly *to, int at, int value)
{
    assembly_number(to, BPF_MOV, BPF_FIRST, value);
    dns_put_store(to, at, BPF_FIRST, BPF_B);
}

/* --- Arguments of system calls ---------------------------------------------------------------- */

/* Reads memory of the process at the address in register `from`. Ends the program on failure. */
static void dns_put_read(struct assembly *to, int at, size_t size, unsigned from)
{
    assembly_register(to, BPF_MOV, BPF_THIRD, from);
    assembly_address(to, BPF_FIRST, at);
    assembly_number(to, BPF_MOV, BPF_SECOND, (int)size);
    assembly_call(to, BPF_FUNC_probe_read_user);
    assembly_end_if(to, BPF_JNE, BPF_REG_0, 0);
}

/* NOTE: address of a struct msghdr. Replaces it by the address of the first buffer, and notes the
 * address of the struct sockaddr. */
static void dns_put_header(struct assembly *to)
{
    dns_put_read(to, HEADER, offsetof(struct msghdr, msg_iovlen), NOTE);
    assembly_copy(to, BPF_STACK, dns_word(HEADER + (int)offsetof(struct msghdr, msg_name), BPF_DW),
                  NAME);
    assembly_load(to, NOTE, BPF_STACK,
                  dns_word(HEADER + (int)offsetof(struct msghdr, msg_iov), BPF_DW));
    dns_put_read(to, HEADER, sizeof(uint64_t), NOTE);
    assembly_load(to, NOTE, BPF_STACK, dns_word(HEADER, BPF_DW));
}

/* Loads the number of the system call into register 1, and its second argument into NOTE. */
static void dns_put_call(struct assembly *to, const struct dns_layout *layout)
{
    assembly_call(to, BPF_FUNC_get_current_task_btf);
    assembly_register(to, BPF_MOV, BPF_FIRST, BPF_REG_0);
    assembly_call(to, BPF_FUNC_task_pt_regs);
    assembly_copy(to, BPF_REG_0, layout->fifth, NAME);
    assembly_load(to, NOTE, BPF_REG_0, layout->second);
    assembly_load(to, BPF_FIRST, BPF_REG_0, layout->call);
}

/* NOTE: address of the buffer. Notes the id, which is never 0 then. ID is 0 before. The verifier
 * does not know that 16 bits are enough, so it checks the next instructions only once, and not
 * again for connected sockets. The same is true of dns_put_v4(). */
static void dns_put_id(struct assembly *to)
{
    dns_put_read(to, ID + (IS_BIG_ENDIAN ? 6 : 0), sizeof(uint16_t), NOTE);
    assembly_load(to, BPF_FIRST, BPF_STACK, dns_word(ID, BPF_DW));
    assembly_number(to, BPF_ADD, BPF_FIRST, 1);
    assembly_store(to, BPF_FIRST, ID, BPF_DW);
}

/* Notes server and id of a query. Ends the program if the datagram goes to another port. */
static void dns_put_destination(struct assembly *to, const struct dns_layout *layout)
{
    const int v6 = ADDRESS + (int)offsetof(struct sockaddr_in6, sin6_addr);
    size_t is_to, is_v4, is_copied;

    dns_put_call(to, layout);
    is_to = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, SYS_sendto);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, SYS_sendmsg);
    dns_put_header(to);
    assembly_land(to, is_to);
    assembly_load(to, BPF_FIRST, BPF_STACK, dns_word(NAME, BPF_DW));
    dns_put_read(to, ADDRESS, sizeof(struct sockaddr_in), BPF_FIRST);
    assembly_load(to, BPF_FIRST, BPF_STACK,
                  dns_word(ADDRESS + (int)offsetof(struct sockaddr_in, sin_port), BPF_H));
    assembly_end_if(to, BPF_JNE, BPF_FIRST, htons(DNS_SERVER_PORT));
    assembly_load(to, BPF_FIRST, BPF_STACK, dns_word(ADDRESS, BPF_H));
    is_v4 = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, AF_INET);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, AF_INET6);
    assembly_load(to, BPF_FIRST, BPF_STACK, dns_word(NAME, BPF_DW));
    dns_put_read(to, ADDRESS, sizeof(struct sockaddr_in6), BPF_FIRST);
    assembly_copy(to, BPF_STACK, dns_word(v6, BPF_DW), SERVER);
    assembly_copy(to, BPF_STACK, dns_word(v6 + 8, BPF_DW), SERVER + 8);
    is_copied = assembly_skip(to);
    assembly_land(to, is_v4);
    dns_put_v4(to, BPF_STACK,
               dns_word(ADDRESS + (int)offsetof(struct sockaddr_in, sin_addr), BPF_W));
    assembly_land(to, is_copied);
    dns_put_id(to);
    assembly_load(to, BPF_FIRST, BPF_STACK, dns_word(ADDRESS, BPF_H));
    assembly_store(to, BPF_FIRST, FAMILY, BPF_DW);
}

/* --- Both programs ---------------------------------------------------------------------------- */

void dns_put_result(struct assembly *to, unsigned context)
{
    assembly_parameter(to, BPF_SECOND, context, 1);
    assembly_number(to, BPF_LSH, BPF_SECOND, 32); /* an int: the upper half is undefined */
    assembly_number(to, BPF_ARSH, BPF_SECOND, 32);
    assembly_store(to, BPF_SECOND, RESULT, BPF_DW);
}

/* Ends the program unless the UDP socket may speak DNS. Afterwards NUMBER is the
 * inode, and register 1 is the port of the peer, or 0. */
static void dns_put_ports(struct assembly *to, const struct dns_layout *layout)
{
    const struct connect_layout *members = &layout->connect;

    assembly_load(to, BPF_FIRST, SOCKET, members->port);
    assembly_register(to, BPF_MOV, BPF_SECOND, BPF_FIRST);
    assembly_number(to, BPF_SUB, BPF_SECOND, htons(DNS_SERVER_PORT));
    assembly_register(to, BPF_MUL, BPF_SECOND, BPF_FIRST); /* 0 for port 53, and without a peer */
    assembly_end_if(to, BPF_JNE, BPF_SECOND, 0);
    assembly_load(to, BPF_FIRST, SOCKET, members->local_port); /* servers answer, too */
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, DNS_SERVER_PORT);
    assembly_load(to, NUMBER, SOCKET, layout->socket);
    assembly_load(to, NUMBER, NUMBER, layout->file);
    assembly_load(to, NUMBER, NUMBER, layout->inode);
    assembly_load(to, NUMBER, NUMBER, layout->number);
    assembly_end_if(to, BPF_JEQ, NUMBER, 0);
    assembly_store_zeroes(to, ID, sizeof(uint64_t));
    assembly_load(to, BPF_FIRST, SOCKET, members->port);
}

/* Begins a program of its own: sets CONTEXT, SOCKET and RESULT, and ends for other protocols and
 * network namespaces. */
static void dns_put_socket(struct assembly *to, const struct dns_layout *layout, uint64_t netns)
{
    const struct connect_layout *members = &layout->connect;

    assembly_register(to, BPF_MOV, CONTEXT, BPF_FIRST);
    assembly_parameter(to, SOCKET, CONTEXT, 0);
    assembly_cast(to, SOCKET, SOCKET, members->of_sock, members->cast);
    assembly_load(to, BPF_FIRST, SOCKET, members->protocol);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, IPPROTO_UDP);
    connects_put_netns(to, members, netns);
    dns_put_result(to, CONTEXT);
}

/* Sets `into` to the address of an element: an array begins at `base`, with 1 << shift bytes an
 * element. `into` is the index. Loses register 5. */
static void dns_put_element(struct assembly *to, unsigned into, int map, size_t base, int count,
                            int shift)
{
    assembly_number(to, BPF_AND, into, count - 1);
    if (shift)
        assembly_number(to, BPF_LSH, into, shift);
    assembly_value(to, BPF_REG_5, map, base);
    assembly_register(to, BPF_ADD, into, BPF_REG_5);
}

static void dns_put_note(struct assembly *to, unsigned into, int map)
{
    dns_put_element(to, into, map, offsetof(struct dns_notes, notes), DNS_NOTES, DNS_NOTE_SHIFT);
}

/* Sets `into` to the hash of the socket and the id. */
static void dns_put_hash(struct assembly *to, unsigned into)
{
    assembly_load(to, into, BPF_STACK, dns_word(ID, BPF_DW));
    assembly_number(to, BPF_MUL, into, DNS_SPREAD);
    assembly_register(to, BPF_ADD, into, NUMBER);
}

/* Sets register 2, which is the hash of the socket and the id, to the address of their element of
 * `last`. */
static void dns_put_last(struct assembly *to, int map)
{
    dns_put_element(to, BPF_SECOND, map, offsetof(struct dns_notes, last), DNS_LAST, 1);
}

/* Sets register 2 to the address of the element of `sockets`. */
static void dns_put_known(struct assembly *to, int map)
{
    assembly_register(to, BPF_MOV, BPF_SECOND, NUMBER);
    dns_put_element(to, BPF_SECOND, map, offsetof(struct dns_notes, sockets), DNS_SOCKETS, 0);
}

/* Sets register 1 to 0 if the note in register `in` is about this socket and id. Loses register
 * 3. */
static void dns_put_compare(struct assembly *to, unsigned in)
{
    assembly_load(to, BPF_FIRST, in, dns_word(NOTE_MEMBER(inode), BPF_DW));
    assembly_register(to, BPF_XOR, BPF_FIRST, NUMBER);
    assembly_load(to, BPF_THIRD, in, dns_word(NOTE_MEMBER(id), BPF_W));
    assembly_load(to, BPF_REG_4, BPF_STACK, dns_word(ID, BPF_DW));
    assembly_register(to, BPF_XOR, BPF_THIRD, BPF_REG_4);
    assembly_register(to, BPF_OR, BPF_FIRST, BPF_THIRD);
}

/* Counts an error of the call. Ends the program for errors that say nothing about the server. The
 * errors are bits of a number, because the verifier would check all that follows once for each
 * comparison. Other errors with the same bit do not happen to UDP. */
static void dns_put_failure(struct assembly *to)
{
    enum { BITS = 64 };
    const uint64_t errors = UINT64_C(1) << EPERM % BITS | UINT64_C(1) << EACCES % BITS |
                            UINT64_C(1) << EINVAL % BITS | UINT64_C(1) << ECONNREFUSED % BITS |
                            UINT64_C(1) << EHOSTUNREACH % BITS | UINT64_C(1) << ENETUNREACH % BITS;

    assembly_load(to, BPF_SECOND, BPF_STACK, dns_word(RESULT, BPF_DW));
    assembly_end_if(to, BPF_JEQ, BPF_SECOND, 0);
    assembly_number(to, BPF_MOV, BPF_FIRST, 0);
    assembly_register(to, BPF_SUB, BPF_FIRST, BPF_SECOND);
    assembly_register(to, BPF_MOV, BPF_THIRD, BPF_FIRST);
    assembly_number(to, BPF_AND, BPF_THIRD, BITS - 1);
    assembly_wide(to, BPF_SECOND, errors);
    assembly_register(to, BPF_RSH, BPF_SECOND, BPF_THIRD);
    assembly_number(to, BPF_AND, BPF_SECOND, 1);
    assembly_end_if(to, BPF_JEQ, BPF_SECOND, 0);
    dns_put_store(to, NOTE_MEMBER(error), BPF_FIRST, BPF_W);
    assembly_count(to, NOTE, NOTE_MEMBER(failed));
}

/* --- Queries ---------------------------------------------------------------------------------- */

/* Notes the peer of a connected socket as the server. */
static void dns_put_peer(struct assembly *to, const struct connect_layout *members)
{
    struct kernel_member half = members->v6;
    size_t is_v4;

    assembly_load(to, BPF_SECOND, SOCKET, members->family);
    assembly_store(to, BPF_SECOND, FAMILY, BPF_DW);
    dns_put_v4(to, SOCKET, members->v4);
    if (!members->has_v6)
        return;
    is_v4 = assembly_skip_if(to, BPF_JEQ, BPF_SECOND, AF_INET);
    half.size = BPF_DW;
    assembly_copy(to, SOCKET, half, SERVER);
    half.offset = (int16_t)(half.offset + 8);
    assembly_copy(to, SOCKET, half, SERVER + 8);
    assembly_land(to, is_v4);
}

/* Finds the place of the note by socket, id and server. Sockets of one server get places one after
 * another, because their inodes are numbers one after another. */
static void dns_put_place(struct assembly *to, int map)
{
    enum { MIXED_BITS = 32 };

    assembly_load(to, NOTE, BPF_STACK, dns_word(ID, BPF_DW));
    for (int at = SERVER; at < SERVER + 16; at += 8) {
        assembly_load(to, BPF_FIRST, BPF_STACK, dns_word(at, BPF_DW));
        assembly_register(to, BPF_XOR, NOTE, BPF_FIRST);
        assembly_number(to, BPF_MUL, NOTE, DNS_SPREAD);
        assembly_register(to, BPF_MOV, BPF_FIRST, NOTE);
        assembly_number(to, BPF_RSH, BPF_FIRST, MIXED_BITS);
        assembly_register(to, BPF_XOR, NOTE, BPF_FIRST);
    }
    assembly_number(to, BPF_MUL, NOTE, DNS_SPREAD);
    assembly_number(to, BPF_RSH, NOTE, MIXED_BITS);
    assembly_register(to, BPF_ADD, NOTE, NUMBER);
    assembly_number(to, BPF_AND, NOTE, DNS_NOTES - 1);
    assembly_store(to, NOTE, INDEX, BPF_DW);
    dns_put_note(to, NOTE, map);
}

/* Sets register 1 to 0 if a query of the note in register `in` still waits. Without a branch,
 * because the verifier would check all further instructions twice. Loses register 3. */
static void dns_put_room(struct assembly *to, unsigned in)
{
    assembly_load(to, BPF_FIRST, BPF_STACK, dns_word(TIME, BPF_DW));
    assembly_load(to, BPF_THIRD, in, dns_word(NOTE_MEMBER(sent_at), BPF_DW));
    assembly_register(to, BPF_SUB, BPF_FIRST, BPF_THIRD);
    assembly_number(to, BPF_RSH, BPF_FIRST, DNS_WAIT_SHIFT);
    assembly_load(to, BPF_THIRD, in, dns_word(NOTE_MEMBER(waiting), BPF_B));
    assembly_number(to, BPF_SUB, BPF_THIRD, 1); /* has bits if the flag is 0 */
    assembly_register(to, BPF_OR, BPF_FIRST, BPF_THIRD);
}

/* Remembers that this note is the last with this socket and id. Ends the program if another socket
 * or id has the same hash, and its query still waits. */
static void dns_put_order(struct assembly *to, int map)
{
    size_t is_same;

    dns_put_known(to, map);
    assembly_load(to, BPF_FIRST, BPF_SECOND, dns_word(0, BPF_B));
    assembly_number(to, BPF_OR, BPF_FIRST, DNS_ASKED);
    assembly_store_in(to, BPF_SECOND, BPF_FIRST, 0, BPF_B);
    dns_put_hash(to, BPF_SECOND);
    dns_put_last(to, map);
    assembly_load(to, BPF_REG_0, BPF_SECOND, dns_word(0, BPF_H));
    dns_put_note(to, BPF_REG_0, map);
    dns_put_compare(to, BPF_REG_0);
    is_same = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, 0);
    dns_put_room(to, BPF_REG_0);
    dns_put_hash(to, BPF_THIRD);
    assembly_load(to, BPF_REG_5, BPF_REG_0, dns_word(NOTE_MEMBER(id), BPF_W));
    assembly_number(to, BPF_MUL, BPF_REG_5, DNS_SPREAD);
    assembly_load(to, BPF_REG_4, BPF_REG_0, dns_word(NOTE_MEMBER(inode), BPF_DW));
    assembly_register(to, BPF_ADD, BPF_REG_5, BPF_REG_4);
    assembly_register(to, BPF_XOR, BPF_THIRD, BPF_REG_5);
    assembly_number(to, BPF_AND, BPF_THIRD, DNS_LAST - 1);
    assembly_register(to, BPF_OR, BPF_FIRST, BPF_THIRD); /* has bits if the note was replaced */
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, 0);
    assembly_land(to, is_same);
    assembly_load(to, BPF_FIRST, BPF_STACK, dns_word(INDEX, BPF_DW));
    assembly_store_in(to, BPF_SECOND, BPF_FIRST, 0, BPF_H);
}

/* Replaces the pid by the pid in the namespace of the layout; 0: the process is in another. */
static void dns_put_pid(struct assembly *to, const struct dns_layout *layout)
{
    size_t is_inside;

    if (!layout->pid_inode)
        return;
    assembly_store_zeroes(to, HEADER, sizeof(struct bpf_pidns_info));
    assembly_wide(to, BPF_FIRST, layout->pid_device);
    assembly_wide(to, BPF_SECOND, layout->pid_inode);
    assembly_address(to, BPF_THIRD, HEADER);
    assembly_number(to, BPF_MOV, BPF_REG_4, (int)sizeof(struct bpf_pidns_info));
    assembly_call(to, BPF_FUNC_get_ns_current_pid_tgid);
    assembly_load(to, BPF_FIRST, BPF_STACK,
                  dns_word(HEADER + (int)offsetof(struct bpf_pidns_info, tgid), BPF_W));
    is_inside = assembly_skip_if(to, BPF_JEQ, BPF_REG_0, 0);
    assembly_number(to, BPF_MOV, BPF_FIRST, 0);
    assembly_land(to, is_inside);
    dns_put_store(to, NOTE_MEMBER(pid), BPF_FIRST, BPF_W);
}

/* Copies the process from the struct send_slot that register 6 points to, which takes the verifier
 * less time than connects_put_process(). */
static void dns_put_sender(struct assembly *to)
{
    const int name = (int)offsetof(struct send_slot, name);

    assembly_load(to, BPF_FIRST, CONTEXT, dns_word((int)offsetof(struct send_slot, pid), BPF_W));
    dns_put_store(to, NOTE_MEMBER(pid), BPF_FIRST, BPF_W);
    assembly_load(to, BPF_FIRST, CONTEXT, dns_word((int)offsetof(struct send_slot, uid), BPF_W));
    dns_put_store(to, NOTE_MEMBER(uid), BPF_FIRST, BPF_W);
    for (int half = 0; half < CONNECT_NAME; half += 8) {
        assembly_load(to, BPF_FIRST, CONTEXT, dns_word(name + half, BPF_DW));
        dns_put_store(to, NOTE_MEMBER(name) + half, BPF_FIRST, BPF_DW);
    }
}

/* Begins a note, unless the place has the note of this socket, id and server. */
static void dns_put_begin(struct assembly *to, const struct dns_layout *layout, bool has_slot)
{
    const struct connect_layout *members = &layout->connect;
    static const struct process_place process = {
        NOTE, NOTE_MEMBER(pid), NOTE_MEMBER(uid),
        NOTE_MEMBER(begun), /* no rule needs the control group: begun replaces it */
        NOTE_MEMBER(name)};
    size_t is_known;

    dns_put_compare(to, NOTE);
    for (int half = 0; half < 16; half += 8) {
        assembly_load(to, BPF_SECOND, NOTE, dns_word(NOTE_MEMBER(server) + half, BPF_DW));
        assembly_load(to, BPF_THIRD, BPF_STACK, dns_word(SERVER + half, BPF_DW));
        assembly_register(to, BPF_XOR, BPF_SECOND, BPF_THIRD);
        assembly_register(to, BPF_OR, BPF_FIRST, BPF_SECOND);
    }
    is_known = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, 0);
    dns_put_room(to, NOTE);
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, 0);
    assembly_number(to, BPF_MOV, BPF_FIRST, 0);
    for (int at = 0; at < NOTE_MEMBER(server); at += 8)
        dns_put_store(to, at, BPF_FIRST, BPF_DW);
    for (int half = 0; half < 16; half += 8) {
        assembly_load(to, BPF_FIRST, BPF_STACK, dns_word(SERVER + half, BPF_DW));
        dns_put_store(to, NOTE_MEMBER(server) + half, BPF_FIRST, BPF_DW);
    }
    assembly_load(to, BPF_FIRST, BPF_STACK, dns_word(ID, BPF_DW));
    dns_put_store(to, NOTE_MEMBER(id), BPF_FIRST, BPF_W);
    assembly_load(to, BPF_FIRST, BPF_STACK, dns_word(FAMILY, BPF_DW));
    dns_put_store(to, NOTE_MEMBER(family), BPF_FIRST, BPF_B);
    assembly_load(to, BPF_FIRST, SOCKET, members->net);
    assembly_load(to, BPF_FIRST, BPF_FIRST, members->netns);
    dns_put_store(to, NOTE_MEMBER(netns), BPF_FIRST, BPF_W);
    if (has_slot)
        dns_put_sender(to);
    else
        connects_put_process(to, members, &process);
    dns_put_pid(to, layout);
    dns_put_store(to, NOTE_MEMBER(inode), NUMBER, BPF_DW);
    assembly_land(to, is_known);
}

/* Counts the query. ECONNREFUSED is about an earlier query; this query was not sent. */
static void dns_put_sent(struct assembly *to)
{
    size_t is_sent, is_waiting;

    assembly_load(to, BPF_FIRST, BPF_STACK, dns_word(RESULT, BPF_DW));
    is_sent = assembly_skip_if(to, BPF_JSGT, BPF_FIRST, 0);
    dns_put_failure(to);
    assembly_load(to, BPF_FIRST, BPF_STACK, dns_word(RESULT, BPF_DW));
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, -ECONNREFUSED);
    assembly_land(to, is_sent);
    assembly_count(to, NOTE, NOTE_MEMBER(sent));
    assembly_load(to, BPF_SECOND, BPF_STACK, dns_word(TIME, BPF_DW));
    dns_put_store(to, NOTE_MEMBER(sent_at), BPF_SECOND, BPF_DW);
    assembly_load(to, BPF_FIRST, NOTE, dns_word(NOTE_MEMBER(waiting), BPF_B));
    is_waiting = assembly_skip_if(to, BPF_JNE, BPF_FIRST, 0);
    dns_put_store(to, NOTE_MEMBER(begun), BPF_SECOND, BPF_DW);
    assembly_land(to, is_waiting);
    dns_put_flag(to, NOTE_MEMBER(waiting), 1);
    assembly_load(to, BPF_FIRST, BPF_STACK, dns_word(RESULT, BPF_DW));
    assembly_end_if(to, BPF_JSLT, BPF_FIRST, 0);
    assembly_load(to, BPF_SECOND, NOTE, dns_word(NOTE_MEMBER(lengths), BPF_H));
    assembly_register(to, BPF_OR, BPF_FIRST, BPF_SECOND);
    dns_put_store(to, NOTE_MEMBER(lengths), BPF_FIRST, BPF_H);
}

/* Is appended to both ways of dns_put_query(), not after them: the verifier remembers its state at
 * the end of a way only if the way has 8 instructions after its last branch. */
static void dns_put_time(struct assembly *to)
{
    assembly_call(to, BPF_FUNC_ktime_get_ns);
    assembly_store(to, BPF_REG_0, TIME, BPF_DW);
}

void dns_put_query(struct assembly *to, const struct dns_layout *layout, int map, bool has_slot)
{
    size_t has_peer, is_ready;

    dns_put_ports(to, layout);
    assembly_store_zeroes(to, SERVER, 16);
    has_peer = assembly_skip_if(to, BPF_JNE, BPF_FIRST, 0);
    if (layout->has_calls)
        dns_put_destination(to, layout);
    dns_put_time(to);
    is_ready = assembly_skip(to); /* without has_calls: to the end */
    assembly_land(to, has_peer);
    dns_put_peer(to, &layout->connect);
    dns_put_time(to);
    if (layout->has_calls)
        assembly_land(to, is_ready);
    dns_put_place(to, map);
    dns_put_order(to, map);
    dns_put_begin(to, layout, has_slot);
    dns_put_sent(to);
}

size_t dns_send_program_make(const struct dns_layout *layout, uint64_t netns, int map,
                             struct bpf_insn program[DNS_PROGRAM_MAX])
{
    struct assembly to = {.code = program, .most = DNS_PROGRAM_MAX};

    dns_put_socket(&to, layout, netns);
    dns_put_query(&to, layout, map, false);
    return assembly_finish(&to);
}

/* --- Answers ---------------------------------------------------------------------------------- */

/* Notes the id of an answer that a socket without a peer received. */
static void dns_put_answer(struct assembly *to, const struct dns_layout *layout, int map)
{
    static const int calls[] = {SYS_recvfrom, SYS_read, SYS_recvmsg};
    size_t is_known[COUNT(calls)];

    dns_put_known(to, map);
    assembly_load(to, BPF_FIRST, BPF_SECOND, dns_word(0, BPF_B));
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, 0);
    assembly_load(to, BPF_FIRST, BPF_STACK, dns_word(RESULT, BPF_DW));
    assembly_number(to, BPF_ARSH, BPF_FIRST, 1); /* so that the verifier learns no limit of it */
    assembly_end_if(to, BPF_JSLT, BPF_FIRST, (int)sizeof(uint16_t) >> 1);
    dns_put_call(to, layout);
    for (size_t i = 0; i < COUNT(calls); i++)
        is_known[i] = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, calls[i]);
    dns_put_known(to, map);
    assembly_number(to, BPF_MOV, BPF_FIRST, DNS_ASKED | DNS_UNREAD);
    assembly_store_in(to, BPF_SECOND, BPF_FIRST, 0, BPF_B);
    (void)assembly_skip(to);
    assembly_land(to, is_known[2]);
    dns_put_header(to);
    assembly_land(to, is_known[0]);
    assembly_land(to, is_known[1]);
    dns_put_id(to);
}

/* Counts an answer, and its time if the last query had none before. */
static void dns_put_received(struct assembly *to)
{
    size_t is_fast;

    assembly_count(to, NOTE, NOTE_MEMBER(received));
    assembly_load(to, BPF_FIRST, NOTE, dns_word(NOTE_MEMBER(waiting), BPF_B));
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, 0);
    dns_put_flag(to, NOTE_MEMBER(waiting), 0);
    assembly_call(to, BPF_FUNC_ktime_get_ns);
    assembly_load(to, BPF_FIRST, NOTE, dns_word(NOTE_MEMBER(sent_at), BPF_DW));
    assembly_register(to, BPF_SUB, BPF_REG_0, BPF_FIRST);
    assembly_add(to, NOTE, NOTE_MEMBER(time), BPF_REG_0);
    is_fast = assembly_skip_if(to, BPF_JLT, BPF_REG_0, DNS_SLOW);
    assembly_count(to, NOTE, NOTE_MEMBER(slow));
    assembly_land(to, is_fast);
    assembly_count(to, NOTE, NOTE_MEMBER(timed));
}

size_t dns_receive_program_make(const struct dns_layout *layout, uint64_t netns, int map,
                                struct bpf_insn program[DNS_PROGRAM_MAX])
{
    struct assembly to = {.code = program, .most = DNS_PROGRAM_MAX};
    size_t has_peer, is_ready, is_received;

    dns_put_socket(&to, layout, netns);
    dns_put_ports(&to, layout);
    assembly_parameter(&to, BPF_SECOND, CONTEXT, 2); /* flags: the data is read again */
    assembly_number(&to, BPF_AND, BPF_SECOND, MSG_PEEK | MSG_ERRQUEUE);
    assembly_end_if(&to, BPF_JNE, BPF_SECOND, 0);
    has_peer = assembly_skip_if(&to, BPF_JNE, BPF_FIRST, 0);
    if (layout->has_calls)
        dns_put_answer(&to, layout, map);
    dns_put_hash(&to, BPF_SECOND); /* on both ways: see dns_put_time() */
    is_ready = assembly_skip(&to); /* without has_calls: to the end */
    assembly_land(&to, has_peer);
    dns_put_hash(&to, BPF_SECOND);
    if (layout->has_calls)
        assembly_land(&to, is_ready);
    dns_put_last(&to, map);
    assembly_load(&to, NOTE, BPF_SECOND, dns_word(0, BPF_H));
    dns_put_note(&to, NOTE, map);
    dns_put_compare(&to, NOTE);
    assembly_end_if(&to, BPF_JNE, BPF_FIRST, 0);
    assembly_load(&to, BPF_FIRST, BPF_STACK, dns_word(RESULT, BPF_DW));
    is_received = assembly_skip_if(&to, BPF_JSGT, BPF_FIRST, 0);
    dns_put_failure(&to);
    dns_put_flag(&to, NOTE_MEMBER(waiting), 0);
    (void)assembly_skip(&to);
    assembly_land(&to, is_received);
    dns_put_received(&to);
    return assembly_finish(&to);
}

/* --- Reading ---------------------------------------------------------------------------------- */

bool dns_note_is_query(const struct dns_note *note)
{
    return note->lengths >= DNS_QUERY_LEAST && note->lengths < DNS_QUERY_LIMIT;
}

bool dns_note_has_answer_elsewhere(const struct dns_notes *notes, size_t i)
{
    enum { TIMEOUT = DNS_SLOW / 10 * 9 };
    const struct dns_note *note = &notes->notes[i];
    const size_t last =
        notes->last[(note->id * (uint64_t)DNS_SPREAD + note->inode) % DNS_LAST] % DNS_NOTES;
    const struct dns_note *other = &notes->notes[last];

    return note->waiting && last != i &&
           (other->inode != note->inode || other->id != note->id ||
            other->sent_at < note->sent_at + TIMEOUT);
}
