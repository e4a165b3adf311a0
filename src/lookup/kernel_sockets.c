/* SPDX-License-Identifier: MIT */
/* A socket that a program made has a struct socket with a file (sock_map_fd() of net/socket.c). A
 * connection that is not accepted yet, an orphan and TIME_WAIT have no struct socket. A struct
 * socket without a file is the kernel's own: sock_create_kern() and kernel_accept() make such
 * sockets. They cannot be found by sk_net_refcnt: most of them do not hold their network namespace,
 * but since Linux 6.14 sockets of NFS hold it.
 *
 * MPTCP and SMC make TCP sockets in the same way, as parts of the sockets of programs: the BPF
 * program leaves these out. */
#include "lookup/kernel_sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/bpf_assembly.h"
#include "fastnet/bpf_iterator.h"
#include "fastnet/bpf_program.h"
#include "fastnet/bpf_refusal.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"

/* --- The kernel's structs --------------------------------------------------------------------- */

/* Finds the number of the inode: sock_alloc() allocates it together with the struct socket. */
static bool kernel_sockets_find_inode(const struct btf *btf, struct kernel_sockets_layout *layout)
{
    const uint32_t both = btf_find(btf, BTF_STRUCT, "socket_alloc");
    struct kernel_member socket;
    uint32_t type;

    return kernel_struct_find(btf, both, "socket", &socket, &type) && socket.offset == 0 &&
           kernel_path_find(btf, both, "vfs_inode.i_ino", &layout->inode, NULL);
}

static void kernel_sockets_find_parts(const struct btf *btf, uint32_t tcp_sock,
                                      struct kernel_sockets_layout *layout)
{
    static const char *const names[] = {"is_mptcp", "syn_smc"};

    for (size_t i = 0; i < COUNT(names); i++)
        if (!kernel_member_find(btf, tcp_sock, names[i], &layout->parts[i], NULL) &&
            !kernel_flag_find(btf, tcp_sock, names[i], &layout->parts[i]))
            layout->parts[i] = (struct kernel_member){.size = BPF_DW};
}

int kernel_sockets_layout_init(struct kernel_sockets_layout *layout, const struct btf *btf,
                               uint16_t protocol)
{
    const bool tcp = protocol == IPPROTO_TCP;
    const uint32_t sock = btf_find(btf, BTF_STRUCT, tcp ? "tcp_sock" : "udp_sock");
    struct btf_type function, prototype;
    uint32_t meta, socket, parameter;

    *layout = (struct kernel_sockets_layout){
        .function = btf_find(btf, BTF_FUNCTION, tcp ? "bpf_iter_tcp" : "bpf_iter_udp"), .tcp = tcp};
    if (!layout->function || !sock || !btf_type(btf, layout->function, &function) ||
        !btf_type(btf, function.type, &prototype) || prototype.kind != BTF_PROTOTYPE ||
        !kernel_parameter_find(btf, &prototype, "meta", &layout->meta, &meta) ||
        !kernel_parameter_find(btf, &prototype, tcp ? "sk_common" : "udp_sk", &layout->sock,
                               &parameter) ||
        !kernel_member_find(btf, kernel_pointed_to(btf, meta), "seq", &layout->seq, NULL) ||
        !kernel_path_find(btf, sock, tcp ? "inet_conn.icsk_inet.sk.sk_socket" : "inet.sk.sk_socket",
                          &layout->socket, &socket) ||
        !kernel_member_find(btf, kernel_pointed_to(btf, socket), "file", &layout->file, NULL) ||
        !kernel_sockets_find_inode(btf, layout))
        return -ENOTSUP;
    if (tcp)
        kernel_sockets_find_parts(btf, sock, layout);
    return 0;
}

/* --- The program ------------------------------------------------------------------------------ */

/* Registers that keep their values; registers 0 to 5 hold results and arguments. */
enum { CONTEXT = BPF_REG_6, SOCK = BPF_REG_7, SOCKET = BPF_REG_8 };

enum { INODE_AT = -8 }; /* offset on the stack */

/* Sets SOCK to the socket. bpf_skc_to_tcp_sock() refuses half-open connections and TIME_WAIT. */
static void kernel_sockets_put_sock(struct assembly *to, const struct kernel_sockets_layout *layout)
{
    assembly_load(to, SOCK, CONTEXT, layout->sock);
    assembly_end_if(to, BPF_JEQ, SOCK, 0); /* the end of the walk */
    if (!layout->tcp)
        return;
    assembly_register(to, BPF_MOV, BPF_FIRST, SOCK);
    assembly_call(to, BPF_FUNC_skc_to_tcp_sock);
    assembly_end_if(to, BPF_JEQ, BPF_REG_0, 0);
    assembly_register(to, BPF_MOV, SOCK, BPF_REG_0);
}

/* Reads the number of the inode by its address, which is outside of the struct socket. */
static void kernel_sockets_put_inode(struct assembly *to,
                                     const struct kernel_sockets_layout *layout)
{
    static const int bytes[] = {
        [BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8};

    assembly_store_zeroes(to, INODE_AT, sizeof(uint64_t));
    assembly_address(to, BPF_FIRST, INODE_AT);
    assembly_number(to, BPF_MOV, BPF_SECOND, bytes[layout->inode.size >> 3]);
    assembly_register(to, BPF_MOV, BPF_THIRD, SOCKET);
    assembly_number(to, BPF_ADD, BPF_THIRD, layout->inode.offset);
    assembly_call(to, BPF_FUNC_probe_read_kernel);
    assembly_load(to, BPF_FIRST, BPF_STACK,
                  (struct kernel_member){.offset = INODE_AT, .size = layout->inode.size});
    assembly_end_if(to, BPF_JEQ, BPF_FIRST, 0);
    assembly_store(to, BPF_FIRST, INODE_AT, BPF_DW);
}

size_t kernel_sockets_program_make(const struct kernel_sockets_layout *layout,
                                   struct bpf_insn program[KERNEL_SOCKETS_PROGRAM_MAX])
{
    struct assembly to = {.code = program, .most = KERNEL_SOCKETS_PROGRAM_MAX};

    assembly_register(&to, BPF_MOV, CONTEXT, BPF_FIRST);
    kernel_sockets_put_sock(&to, layout);
    for (size_t i = 0; i < COUNT(layout->parts) && layout->tcp; i++) {
        if (layout->parts[i].size != BPF_B)
            continue;
        assembly_load(&to, BPF_FIRST, SOCK, layout->parts[i]);
        assembly_number(&to, BPF_RSH, BPF_FIRST, layout->parts[i].shift);
        assembly_number(&to, BPF_AND, BPF_FIRST, 1);
        assembly_end_if(&to, BPF_JNE, BPF_FIRST, 0);
    }
    assembly_load(&to, SOCKET, SOCK, layout->socket);
    assembly_end_if(&to, BPF_JEQ, SOCKET, 0);
    assembly_load(&to, BPF_FIRST, SOCKET, layout->file);
    assembly_end_if(&to, BPF_JNE, BPF_FIRST, 0);
    kernel_sockets_put_inode(&to, layout);
    assembly_load(&to, BPF_FIRST, CONTEXT, layout->meta);
    assembly_load(&to, BPF_FIRST, BPF_FIRST, layout->seq);
    assembly_address(&to, BPF_SECOND, INODE_AT);
    assembly_number(&to, BPF_MOV, BPF_THIRD, sizeof(uint64_t));
    assembly_call(&to, BPF_FUNC_seq_write);
    return assembly_finish(&to);
}

/* --- The sockets ------------------------------------------------------------------------------ */

struct kernel_sockets {
    int programs[2]; /* descriptors: UDP, TCP; -1: not loaded */
    int refused[2];  /* -errno: why it cannot be loaded */
    struct hash_table inodes;
};

struct kernel_sockets *kernel_sockets_create(void)
{
    struct kernel_sockets *sockets = calloc(1, sizeof *sockets);

    for (size_t i = 0; sockets && i < COUNT(sockets->programs); i++)
        sockets->programs[i] = -1;
    return sockets;
}

void kernel_sockets_destroy(struct kernel_sockets *sockets)
{
    if (!sockets)
        return;
    for (size_t i = 0; i < COUNT(sockets->programs); i++)
        if (sockets->programs[i] >= 0)
            close(sockets->programs[i]);
    hash_table_finish(&sockets->inodes);
    free(sockets);
}

/* Returns a descriptor of the program, or -errno. */
static int kernel_sockets_load(uint16_t protocol)
{
    struct bpf_insn code[KERNEL_SOCKETS_PROGRAM_MAX];
    struct kernel_types types;
    struct kernel_sockets_layout layout = {.function = 0};
    int status = bpf_check_rights(NULL, NULL);

    if (status == 0)
        status = bpf_check_namespaces(NULL, false);
    if (status < 0)
        return status;
    status = kernel_types_init(&types);
    if (status == 0)
        status = kernel_sockets_layout_init(&layout, &types.btf, protocol);
    kernel_types_finish(&types);
    return status < 0 ? status
                      : bpf_program_load(code, kernel_sockets_program_make(&layout, code),
                                         BPF_TRACE_ITER, layout.function, "fastnet_kernel");
}

int kernel_sockets_add(struct kernel_sockets *sockets, const uint64_t inodes[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t hash = hash_word(0, inodes[i]);
        uint64_t *added;
        if (hash_table_find_number(&sockets->inodes, hash, inodes[i]))
            continue;
        added = hash_table_add(&sockets->inodes, hash, sizeof *added);
        if (!added)
            return -ENOMEM;
        *added = inodes[i];
    }
    return 0;
}

int kernel_sockets_find(struct kernel_sockets *sockets, uint16_t protocol)
{
    const size_t which = protocol == IPPROTO_TCP;
    int *program = &sockets->programs[which], status, fd;
    uint64_t *inodes;
    ssize_t length;

    if (*program < 0 && !sockets->refused[which]) {
        *program = kernel_sockets_load(protocol);
        sockets->refused[which] = *program < 0 ? *program : 0;
    }
    if (*program < 0)
        return sockets->refused[which];
    fd = bpf_iterator_start(*program, 0);
    inodes = fd < 0 ? NULL : malloc(BPF_ITERATOR_AT_ONCE);
    status = fd < 0 ? fd : inodes ? 0 : -ENOMEM;
    while (status == 0 && (length = bpf_iterator_read(fd, inodes, BPF_ITERATOR_AT_ONCE)) != 0)
        status = length < 0 ? (int)length
                            : kernel_sockets_add(sockets, inodes, (size_t)length / sizeof *inodes);
    if (fd >= 0)
        close(fd);
    free(inodes);
    return status;
}

bool kernel_sockets_have(const struct kernel_sockets *sockets, uint64_t inode)
{
    return sockets && hash_table_find_number(&sockets->inodes, hash_word(0, inode), inode);
}
