/* SPDX-License-Identifier: MIT */
/*
 * The kernel's side of SO_ATTACH_FILTER: what classic BPF does with a packet, by the rules of
 * bpf_check_classic() and bpf_convert_filter() in net/core/filter.c, as far as fastnet uses them.
 */
#ifndef FUZZ_KERNEL_FILTER_H
#define FUZZ_KERNEL_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_packet {
    const uint8_t *bytes; /* from the link-layer header on */
    size_t length;
    uint16_t link;     /* ARPHRD_* of its device */
    uint16_t protocol; /* ETH_P_*, host byte order: what the kernel takes it for */
};

/* Whether each jump leads forward and to an instruction, and the last one ends the program. */
static inline bool kernel_filter_ends(const struct sock_fprog *program)
{
    for (uint32_t i = 0; i < program->len; i++) {
        const struct sock_filter *at = &program->filter[i];
        const uint32_t left = program->len - i - 1;
        if (BPF_CLASS(at->code) == BPF_JMP &&
            (BPF_OP(at->code) == BPF_JA ? at->k >= left : at->jt >= left || at->jf >= left))
            return false;
    }
    return program->len > 0 && program->len <= BPF_MAXINSNS &&
           BPF_CLASS(program->filter[program->len - 1].code) == BPF_RET;
}

/* False: so much is not there, and the packet is refused. */
static inline bool kernel_filter_load(const struct kernel_packet *packet, uint16_t code,
                                      uint32_t offset, uint32_t *value)
{
    const size_t size = BPF_SIZE(code) == BPF_W ? 4 : BPF_SIZE(code) == BPF_H ? 2 : 1;

    if (offset == (uint32_t)(SKF_AD_OFF + SKF_AD_HATYPE)) {
        *value = packet->link;
    } else if (offset == (uint32_t)(SKF_AD_OFF + SKF_AD_PROTOCOL)) {
        *value = packet->protocol;
    } else {
        if (offset > packet->length || size > packet->length - offset)
            return false;
        *value = 0;
        for (size_t i = 0; i < size; i++)
            *value = *value << 8 | packet->bytes[offset + i];
    }
    return true;
}

static inline bool kernel_filter_compare(uint16_t code, uint32_t a, uint32_t b)
{
    switch (BPF_OP(code)) {
    case BPF_JEQ:
        return a == b;
    case BPF_JGT:
        return a > b;
    case BPF_JGE:
        return a >= b;
    default:
        return a & b; /* BPF_JSET */
    }
}

static inline uint32_t kernel_filter_calculate(uint16_t code, uint32_t a, uint32_t b)
{
    switch (BPF_OP(code)) {
    case BPF_SUB:
        return a - b;
    case BPF_AND:
        return a & b;
    case BPF_RSH:
        return a >> b;
    default:
        return ~a; /* not used: wrong on purpose */
    }
}

/* How many bytes of the packet are taken; 0: it is refused. */
static inline uint32_t kernel_filter_run(const struct sock_fprog *program,
                                         const struct kernel_packet *packet)
{
    uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = {0};

    for (const struct sock_filter *at = program->filter;; at++) {
        const uint32_t b = BPF_SRC(at->code) == BPF_X ? x : at->k;
        switch (BPF_CLASS(at->code)) {
        case BPF_LD:
            if (BPF_MODE(at->code) == BPF_IMM)
                a = at->k;
            else if (BPF_MODE(at->code) == BPF_MEM)
                a = memory[at->k];
            else if (BPF_MODE(at->code) == BPF_LEN)
                a = (uint32_t)packet->length;
            else if (!kernel_filter_load(packet, at->code,
                                         at->k + (BPF_MODE(at->code) == BPF_IND ? x : 0), &a))
                return 0;
            break;
        case BPF_LDX:
            if (BPF_MODE(at->code) == BPF_IMM)
                x = at->k;
            else if (!kernel_filter_load(packet, BPF_B, at->k, &x))
                return 0;
            else
                x = 4 * (x & 0xf); /* BPF_MSH */
            break;
        case BPF_ST:
            memory[at->k] = a;
            break;
        case BPF_ALU:
            a = kernel_filter_calculate(at->code, a, b);
            break;
        case BPF_JMP:
            if (BPF_OP(at->code) == BPF_JA)
                at += at->k;
            else
                at += kernel_filter_compare(at->code, a, b) ? at->jt : at->jf;
            break;
        case BPF_MISC:
            if (BPF_MISCOP(at->code) == BPF_TAX)
                x = a;
            else
                a = x; /* BPF_TXA */
            break;
        default:
            return at->k; /* BPF_RET */
        }
    }
}

#endif
