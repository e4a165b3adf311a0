/* SPDX-License-Identifier: MIT */
/* The program runs at the tracepoint raw_syscalls:sys_exit (include/trace/events/syscalls.h). Its
 * arguments are the registers of the process and the call's return value. For calls that do not
 * fail, it ends after a few instructions. */
#include "probes/failures_program.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "fastnet/array.h"
#include "fastnet/bpf_assembly.h"
#include "fastnet/kernel_abi.h"
#include "fastnet/kernel_types.h"
#include "probes/call_registers.h"

/* --- The kernel's structs --------------------------------------------------------------------- */

/* Finds the way to the type of a socket. task: number of struct task_struct. */
static bool failures_find_type(struct failures_layout *layout, const struct btf *btf, uint32_t task)
{
    uint32_t to;

    return kernel_member_find(btf, task, "files", &layout->files, &to) &&
           kernel_member_find(btf, kernel_pointed_to(btf, to), "fdt", &layout->table, &to) &&
           kernel_member_find(btf, kernel_pointed_to(btf, to), "fd", &layout->array, &to) &&
           kernel_member_find(btf, kernel_pointed_to(btf, kernel_pointed_to(btf, to)),
                              "private_data", &layout->socket, NULL) &&
           kernel_member_find(btf, btf_find(btf, BTF_STRUCT, "socket"), "type", &layout->type,
                              NULL) &&
           layout->type.size == BPF_H;
}

int failures_layout_init(struct failures_layout *layout, const struct btf *btf)
{
    const uint32_t task = btf_find(btf, BTF_STRUCT, "task_struct");
    uint32_t registers, to, bytes;

    *layout =
        (struct failures_layout){.tracepoint = btf_find(btf, BTF_TYPEDEF, "btf_trace_sys_exit")};
    registers = kernel_event_struct(btf, layout->tracepoint, 2, "pt_regs");
    if (!registers || !kernel_member_find(btf, registers, CALL_NUMBER, &layout->call, NULL) ||
        !kernel_member_find(btf, registers, FIRST_ARGUMENT, &layout->descriptor, NULL) ||
        !kernel_struct_find(btf, registers, SECOND_ARGUMENT, &layout->argument, &bytes) ||
        !kernel_member_find(btf, task, "nsproxy", &layout->spaces, &to) ||
        !kernel_member_find(btf, kernel_pointed_to(btf, to), "net_ns", &layout->net, &to) ||
        !kernel_path_find(btf, kernel_pointed_to(btf, to), "ns.inum", &layout->netns, NULL) ||
        !kernel_member_find(btf, task, "group_leader", &layout->leader, NULL) ||
        !kernel_struct_find(btf, task, "comm", &layout->name, &bytes) ||
        !failures_find_type(layout, btf, task))
        return -ENOTSUP;
    layout->of_registers = registers;
    layout->of_task = task;
    layout->cast = btf_find(btf, BTF_FUNCTION, "bpf_rdonly_cast");
    layout->argument.offset = (int16_t)(layout->argument.offset + SECOND_AT);
    layout->argument.size = BPF_DW;
    layout->name.size = BPF_DW;
    return 0;
}

/* --- The program ------------------------------------------------------------------------------ */

/* Registers that keep their values; registers 0 to 5 hold results and arguments. */
enum { CONTEXT = BPF_REG_6, ERROR = BPF_REG_7, NOTE = BPF_REG_8, ARGUMENT = BPF_REG_9 };
enum { TASK = CONTEXT }; /* after the last use of the context */

_Static_assert(sizeof(struct failure_note) == 64, "NOTE_BITS is log2 of the size");
_Static_assert(sizeof(struct sockaddr_in6) <= sizeof((struct failure_note){0}.address), "it fits");
enum { NOTE_BITS = 6 };

/* Offset of the address on the stack. */
enum { ADDRESS = -(int)sizeof((struct failure_note){0}.address) };
static const struct kernel_member pointer = {.offset = ADDRESS, .size = BPF_DW};

/* Loads the errno of a call that failed. Ends the program if the return value is not an errno. */
static void failures_put_error(struct assembly *to)
{
    assembly_parameter(to, BPF_FIRST, CONTEXT, 1);
    assembly_number(to, BPF_MOV, ERROR, 0);
    assembly_register(to, BPF_SUB, ERROR, BPF_FIRST);
    assembly_end_if(to, BPF_JEQ, ERROR, 0);
    assembly_end_if(to, BPF_JGE, ERROR, CONNECT_ERRNOS);
}

static void put_call(struct assembly *to, const struct failures_layout *layout, uint64_t netns)
{
    assembly_parameter(to, ARGUMENT, CONTEXT, 0);
    assembly_cast(to, ARGUMENT, ARGUMENT, layout->of_registers, layout->cast);
    assembly_load(to, BPF_FIRST, ARGUMENT, layout->call);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, SYS_connect);
    assembly_load(to, NOTE, ARGUMENT, layout->descriptor);
    assembly_load(to, ARGUMENT, ARGUMENT, layout->argument);
    assembly_call(to, BPF_FUNC_get_current_task_btf);
    assembly_cast(to, TASK, BPF_REG_0, layout->of_task, layout->cast);
    assembly_load(to, BPF_FIRST, TASK, layout->spaces);
    assembly_load(to, BPF_FIRST, BPF_FIRST, layout->net);
    assembly_load(to, BPF_FIRST, BPF_FIRST, layout->netns);
    assembly_wide(to, BPF_SECOND, netns);
    assembly_end_if_unequal(to, BPF_FIRST, BPF_SECOND);
}

/* Replaces a pointer at ADDRESS by the first bytes of the member that it leads to. Ends the program
 * if that is unmapped by now. */
static void failures_put_follow(struct assembly *to, int offset)
{
    assembly_load(to, BPF_THIRD, BPF_STACK, pointer);
    assembly_number(to, BPF_ADD, BPF_THIRD, offset);
    assembly_address(to, BPF_FIRST, ADDRESS);
    assembly_number(to, BPF_MOV, BPF_SECOND, sizeof(uint64_t));
    assembly_call(to, BPF_FUNC_probe_read_kernel);
    assembly_end_if(to, BPF_JNE, BPF_REG_0, 0);
}

/* NOTE: a descriptor. Sets it to 0 for a stream and to 1 for a datagram socket, and ends the
 * program for other sockets. */
static void failures_put_type(struct assembly *to, const struct failures_layout *layout)
{
    enum { POINTER_SHIFT = 3 };
    const struct kernel_member type = {.offset = ADDRESS, .size = BPF_H};

    assembly_number(to, BPF_LSH, NOTE, 32); /* an int: the upper half is undefined */
    assembly_number(to, BPF_RSH, NOTE, 32 - POINTER_SHIFT);
    assembly_load(to, BPF_FIRST, TASK, layout->files);
    assembly_store(to, BPF_FIRST, ADDRESS, BPF_DW);
    failures_put_follow(to, layout->table.offset);
    failures_put_follow(to, layout->array.offset);
    assembly_load(to, BPF_FIRST, BPF_STACK, pointer);
    assembly_register(to, BPF_ADD, BPF_FIRST, NOTE);
    assembly_store(to, BPF_FIRST, ADDRESS, BPF_DW);
    failures_put_follow(to, 0);
    failures_put_follow(to, layout->socket.offset);
    failures_put_follow(to, layout->type.offset);
    assembly_load(to, NOTE, BPF_STACK, type);
    assembly_number(to, BPF_SUB, NOTE, SOCK_STREAM);
    assembly_end_if(to, BPF_JGE, NOTE, SOCK_DGRAM - SOCK_STREAM + 1);
}

/* Moves ERROR to the notes about DNS if the socket sends datagrams. Ends the program if they go to
 * another port: getaddrinfo(3) and others connect sockets of UDP to each address of a name, to see
 * which have a route. */
static void failures_put_query(struct assembly *to)
{
    const struct kernel_member port = {
        .offset = ADDRESS + (int)offsetof(struct sockaddr_in, sin_port), .size = BPF_H};
    const size_t is_stream = assembly_skip_if(to, BPF_JEQ, NOTE, 0);

    assembly_load(to, BPF_FIRST, BPF_STACK, port);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, htons(FAILURES_DNS_PORT));
    assembly_number(to, BPF_ADD, ERROR, CONNECT_ERRNOS);
    assembly_land(to, is_stream);
}

/* Reads the address from the process's memory. Ends the program if that memory is unmapped by
 * now. */
static void failures_put_read(struct assembly *to, int size)
{
    assembly_address(to, BPF_FIRST, ADDRESS);
    assembly_number(to, BPF_MOV, BPF_SECOND, size);
    assembly_register(to, BPF_MOV, BPF_THIRD, ARGUMENT);
    assembly_call(to, BPF_FUNC_probe_read_user);
    assembly_end_if(to, BPF_JNE, BPF_REG_0, 0);
}

/* Ends the program if IPv6 has no route: without IPv6, connect(2) always fails for programs that
 * try IPv6 first. An IPv4 address in IPv6 (::ffff:0:0/96, RFC 4291 2.5.5.2) counts as IPv4. */
static void put_if_routed(struct assembly *to)
{
    enum { IN = ADDRESS + (int)offsetof(struct sockaddr_in6, sin6_addr) };
    const struct kernel_member zeroes = {.offset = IN, .size = BPF_DW},
                               ones = {.offset = IN + 10, .size = BPF_H};
    const size_t has_route = assembly_skip_if(to, BPF_JNE, ERROR, ENETUNREACH);

    assembly_load(to, BPF_FIRST, BPF_STACK, zeroes);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, 0);
    assembly_load(to, BPF_FIRST, BPF_STACK, ones);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, 0xffff);
    assembly_land(to, has_route);
}

static void failures_put_address(struct assembly *to)
{
    const struct kernel_member family = {.offset = ADDRESS, .size = BPF_H};
    size_t is_ipv4;

    assembly_store_zeroes(to, ADDRESS, -ADDRESS);
    failures_put_read(to, sizeof(struct sockaddr_in));
    assembly_load(to, BPF_FIRST, BPF_STACK, family);
    is_ipv4 = assembly_skip_if(to, BPF_JEQ, BPF_FIRST, AF_INET);
    assembly_end_if(to, BPF_JNE, BPF_FIRST, AF_INET6);
    failures_put_read(to, sizeof(struct sockaddr_in6));
    put_if_routed(to);
    assembly_land(to, is_ipv4);
}

/* Copies `size` bytes into the note, to offset `at`, from offset `offset` of the struct that
 * register `from` points to. */
static void failures_put_words(struct assembly *to, unsigned from, int offset, size_t size,
                               size_t at)
{
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        const struct kernel_member word = {.offset = (int16_t)(offset + (int)i), .size = BPF_DW};
        assembly_load(to, BPF_SECOND, from, word);
        assembly_store_in(to, NOTE, BPF_SECOND, (int)(at + i), BPF_DW);
    }
}

/* If two CPUs note the same errno at once, the last call in the note may be a mixture of both. */
size_t failures_program_make(const struct failures_layout *layout, uint64_t netns, int map,
                             struct bpf_insn program[FAILURES_PROGRAM_MAX])
{
    struct assembly to = {.code = program, .most = FAILURES_PROGRAM_MAX};

    assembly_register(&to, BPF_MOV, CONTEXT, BPF_FIRST);
    failures_put_error(&to);
    put_call(&to, layout, netns);
    failures_put_type(&to, layout);
    failures_put_address(&to);
    failures_put_query(&to);
    assembly_value(&to, NOTE, map, 0);
    assembly_number(&to, BPF_LSH, ERROR, NOTE_BITS);
    assembly_register(&to, BPF_ADD, NOTE, ERROR);
    failures_put_words(&to, BPF_STACK, ADDRESS, -ADDRESS, offsetof(struct failure_note, address));
    assembly_call(&to, BPF_FUNC_get_current_pid_tgid);
    assembly_number(&to, BPF_RSH, BPF_REG_0, 32);
    assembly_store_in(&to, NOTE, BPF_REG_0, offsetof(struct failure_note, pid), BPF_W);
    assembly_load(&to, BPF_FIRST, TASK, layout->leader);
    failures_put_words(&to, BPF_FIRST, layout->name.offset, CONNECT_NAME,
                       offsetof(struct failure_note, name));
    assembly_count(&to, NOTE, offsetof(struct failure_note, count));
    return assembly_finish(&to);
}
