/* SPDX-License-Identifier: MIT */
/* Runs a BPF program in place of the kernel, as far as the programs that are made here go. */
#ifndef UNIT_PROCESSOR_H
#define UNIT_PROCESSOR_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct processor {
    uint64_t registers[11];
    _Alignas(uint64_t) char stack[512];
    /*
     * A function of the kernel: BPF_FUNC_*, or less the number of its type. Arguments are in
     * registers 1 to 5; returns register 0.
     */
    uint64_t (*call)(struct processor *processor, int function);
    void *arg; /* of call() */
    void *map; /* the value of the map that the program knows, if it knows one */
    size_t map_size;
    bool nowhere_is_zero; /* what is loaded through a pointer that leads nowhere (BPF_PROBE_MEM) */
};

/* Fails the test if the program does what the kernel would refuse, or does not return 0. */
void processor_run(struct processor *processor, const struct bpf_insn *program, size_t count,
                   const void *context);

/* To make what programs look at. */
void place_u64(char *at, uint64_t value);
void place_u32(char *at, uint32_t value);
void place_u16(char *at, uint16_t value);
void place_pointer(char *at, const void *to);

#endif
