/* SPDX-License-Identifier: MIT */
/*
 * The kernel's side of INET_DIAG_REQ_BYTECODE: which programs it takes, and which sockets they
 * pass. By the rules of inet_diag_bc_audit() and inet_diag_bc_run() in net/ipv4/inet_diag.c.
 */
#ifndef FUZZ_KERNEL_BYTECODE_H
#define FUZZ_KERNEL_BYTECODE_H

#include <linux/inet_diag.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/record.h"

/* From this port on this kernel chose them all. */
enum { KERNEL_PORT_FIRST = 40000 };

struct kernel_program {
    const char *code;
    int length; /* bytes */
};

static inline struct inet_diag_bc_op kernel_op(struct kernel_program program, int at)
{
    struct inet_diag_bc_op op;

    memcpy(&op, program.code + at, sizeof op);
    return op;
}

/* Bytes of the instruction with its operands; 0: the kernel does not take it. */
static inline int kernel_op_length(struct kernel_program program, int at)
{
    const int left = program.length - at;
    struct inet_diag_hostcond host;
    int length = sizeof(struct inet_diag_bc_op), bytes;

    switch (kernel_op(program, at).code) {
    case INET_DIAG_BC_S_COND:
    case INET_DIAG_BC_D_COND:
        length += (int)sizeof host;
        if (left < length)
            return 0;
        memcpy(&host, program.code + at + sizeof(struct inet_diag_bc_op), sizeof host);
        bytes = host.family == AF_INET ? 4 : host.family == AF_INET6 ? 16 : 0;
        if (host.prefix_len > 8 * bytes || (host.family && !bytes))
            return 0;
        length += bytes;
        break;
    case INET_DIAG_BC_S_GE:
    case INET_DIAG_BC_S_LE:
    case INET_DIAG_BC_D_GE:
    case INET_DIAG_BC_D_LE:
    case INET_DIAG_BC_DEV_COND:
        length += 4;
        break;
    case INET_DIAG_BC_MARK_COND:
        length += (int)sizeof(struct inet_diag_markcond);
        break;
    case INET_DIAG_BC_CGROUP_COND:
        length += (int)sizeof(uint64_t);
        break;
    case INET_DIAG_BC_AUTO:
    case INET_DIAG_BC_JMP:
    case INET_DIAG_BC_NOP:
        break;
    default:
        return 0;
    }
    return left < length ? 0 : length;
}

/* Whether an instruction begins there, when each is followed by its `yes`. */
static inline bool kernel_begins(struct kernel_program program, int target)
{
    int at = 0;

    while (at < target && at < program.length)
        at += kernel_op(program, at).yes;
    return at == target;
}

static inline bool kernel_takes(struct kernel_program program)
{
    int at = 0;

    if (program.length <= 0 || program.length % 4)
        return false;
    while (at < program.length) {
        const int left = program.length - at, least = kernel_op_length(program, at);
        const struct inet_diag_bc_op op = kernel_op(program, at);
        if (!least || op.yes < least || op.yes > left + 4 || op.yes % 4 || op.no < least ||
            op.no > left + 4 || op.no % 4)
            return false;
        if (op.no < left && !kernel_begins(program, at + op.no))
            return false;
        at += op.yes;
    }
    return at == program.length;
}

static inline bool kernel_same_bits(const void *a, const void *b, int bits)
{
    const uint8_t *x = a, *y = b;

    for (int i = 0; i < bits; i++)
        if ((x[i / 8] ^ y[i / 8]) & 0x80 >> i % 8)
            return false;
    return true;
}

static inline bool kernel_host_passes(const char *operands, const struct endpoint *end)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    const uint8_t *bytes = end->address.bytes;
    struct inet_diag_hostcond host;

    memcpy(&host, operands, sizeof host);
    if (host.port != -1 && host.port != end->port)
        return false;
    if (host.family && host.family != end->address.family) {
        if (end->address.family != AF_INET6 || host.family != AF_INET ||
            memcmp(bytes, mapped, sizeof mapped) != 0)
            return false;
        bytes += sizeof mapped;
    }
    return kernel_same_bits(bytes, operands + sizeof host, host.prefix_len);
}

static inline bool kernel_op_passes(const char *code, const struct socket_record *socket)
{
    const struct kernel_program program = {code, sizeof(struct inet_diag_bc_op) + 4};
    const char *operands = code + sizeof(struct inet_diag_bc_op);
    struct inet_diag_markcond mark;
    uint32_t index;
    uint64_t cgroup;

    switch (kernel_op(program, 0).code) {
    case INET_DIAG_BC_S_COND:
        return kernel_host_passes(operands, &socket->local);
    case INET_DIAG_BC_D_COND:
        return kernel_host_passes(operands, &socket->remote);
    case INET_DIAG_BC_S_GE:
        return socket->local.port >= kernel_op(program, 4).no;
    case INET_DIAG_BC_S_LE:
        return socket->local.port <= kernel_op(program, 4).no;
    case INET_DIAG_BC_D_GE:
        return socket->remote.port >= kernel_op(program, 4).no;
    case INET_DIAG_BC_D_LE:
        return socket->remote.port <= kernel_op(program, 4).no;
    case INET_DIAG_BC_DEV_COND:
        memcpy(&index, operands, sizeof index);
        return socket->interface == index;
    case INET_DIAG_BC_MARK_COND:
        memcpy(&mark, operands, sizeof mark);
        return (socket->mark & mark.mask) == mark.mark;
    case INET_DIAG_BC_CGROUP_COND:
        memcpy(&cgroup, operands, sizeof cgroup);
        return socket->cgroup == cgroup;
    case INET_DIAG_BC_AUTO: /* the record does not say who chose it */
        return socket->local.port >= KERNEL_PORT_FIRST;
    default:
        return kernel_op(program, 0).code == INET_DIAG_BC_NOP;
    }
}

/* Of a program that kernel_takes(). */
static inline bool kernel_passes(struct kernel_program program, const struct socket_record *socket)
{
    int at = 0;

    while (at < program.length) {
        const struct inet_diag_bc_op op = kernel_op(program, at);
        at += kernel_op_passes(program.code + at, socket) ? op.yes : op.no;
    }
    return at == program.length;
}

#endif
