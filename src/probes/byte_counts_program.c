/* SPDX-License-Identifier: MIT */
/* The programs run at the tracepoints sock:sock_send_length and sock:sock_recv_length
 * (include/trace/events/sock.h, net/socket.c). Their arguments are the socket, the call's return
 * value and its flags. */
#include "probes/byte_counts_program.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/bpf_assembly.h"
#include "fastnet/kernel_types.h"

/* --- The kernel's structs --------------------------------------------------------------------- */

int byte_layout_init(struct byte_layout *layout, const struct btf *btf)
{
    static const struct wanted_member wanted[] = {
        {"__sk_common.skc_family", offsetof(struct byte_layout, family), BPF_H},
        {"sk_protocol", offsetof(struct byte_layout, protocol), BPF_H},
    };
    static const char *const names[WAYS] = {"btf_trace_sock_send_length",
                                            "btf_trace_sock_recv_length"};
    uint32_t sock = 1;

    for (size_t way = 0; way < WAYS && sock; way++) {
        layout->tracepoints[way] = btf_find(btf, BTF_TYPEDEF, names[way]);
        sock = kernel_event_struct(btf, layout->tracepoints[way], 3, "sock");
    }
    return sock && kernel_members_find(btf, sock, wanted, COUNT(wanted), layout) ? 0 : -ENOTSUP;
}

/* --- The programs ----------------------------------------------------------------------------- */

/* Registers that keep their values; registers 0 to 5 hold results and arguments. */
enum { CONTEXT = BPF_REG_6, SOCKET = BPF_REG_7, BYTES = BPF_REG_8 };

/* Offsets on the stack. */
enum { COOKIE = -8, ZEROES = COOKIE - (int)sizeof(struct byte_count) };

/* Loads the return value, an int: the upper half of its word is undefined. Ends the program after
 * an error, or if no bytes moved. */
static void byte_counts_put_bytes(struct assembly *to, enum byte_way way)
{
    assembly_parameter(to, BYTES, CONTEXT, 1);
    assembly_number(to, BPF_LSH, BYTES, 32);
    assembly_number(to, BPF_ARSH, BYTES, 32);
    assembly_end_if(to, BPF_JSLE, BYTES, 0);
    if (way == WAY_SENT)
        return;
    assembly_parameter(to, BPF_FIRST, CONTEXT,
                       2); /* bytes read with MSG_PEEK are read again later */
    assembly_number(to, BPF_AND, BPF_FIRST, MSG_PEEK);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, 0);
}

/* Ends the program for TCP, which has its own counters, and for families other than IP and unix. */
static void byte_counts_put_choice(struct assembly *to, const struct byte_layout *layout)
{
    size_t is_unix, is_ipv4;

    assembly_load(to, BPF_FIRST, SOCKET, layout->family);
    is_unix = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, AF_UNIX);
    is_ipv4 = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, AF_INET);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, AF_INET6);
    assembly_land(to, is_ipv4);
    assembly_load(to, BPF_FIRST, SOCKET, layout->protocol);
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, IPPROTO_TCP);
    assembly_land(to, is_unix);
}

static void byte_counts_put_find(struct assembly *to, int map)
{
    assembly_map(to, BPF_FIRST, map);
    assembly_address(to, BPF_SECOND, COOKIE);
    assembly_call(to, BPF_FUNC_map_lookup_elem);
}

size_t byte_program_make(const struct byte_layout *layout, enum byte_way way, int map,
                         struct bpf_insn program[BYTE_PROGRAM_MAX])
{
    struct assembly to = {.code = program, .most = BYTE_PROGRAM_MAX};
    size_t is_known;

    assembly_register(&to, BPF_MOV, CONTEXT, BPF_FIRST);
    byte_counts_put_bytes(&to, way);
    assembly_parameter(&to, SOCKET, CONTEXT, 0);
    byte_counts_put_choice(&to, layout);
    assembly_register(&to, BPF_MOV, BPF_FIRST, SOCKET);
    assembly_call(&to, BPF_FUNC_get_socket_cookie);
    assembly_store(&to, BPF_REG_0, COOKIE, BPF_DW);
    byte_counts_put_find(&to, map);
    is_known = assembly_skip_if(&to, BPF_JNE, BPF_REG_0, 0);
    /* if two CPUs add the socket at once, the second update fails, which does no harm */
    assembly_store_zeroes(&to, ZEROES, sizeof(struct byte_count));
    assembly_map(&to, BPF_FIRST, map);
    assembly_address(&to, BPF_SECOND, COOKIE);
    assembly_address(&to, BPF_THIRD, ZEROES);
    assembly_number(&to, BPF_MOV, BPF_REG_4, BPF_NOEXIST);
    assembly_call(&to, BPF_FUNC_map_update_elem);
    byte_counts_put_find(&to, map);
    assembly_end_if(&to, BPF_JEQ, BPF_REG_0, 0);
    assembly_land(&to, is_known);
    assembly_add(&to, BPF_REG_0, (int)way * (int)sizeof(uint64_t), BYTES);
    return assembly_finish(&to);
}
