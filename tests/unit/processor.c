/* SPDX-License-Identifier: MIT */
#include "processor.h"

#include <stdbool.h>
#include <string.h>

#include "fastnet/kernel_abi.h"
#include "kit.h"

void place_u64(char *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

void place_u32(char *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}

void place_u16(char *at, uint16_t value)
{
    memcpy(at, &value, sizeof value);
}

void place_pointer(char *at, const void *to)
{
    place_u64(at, (uintptr_t)to);
}

static size_t bytes_of(unsigned size)
{
    return size == BPF_B ? 1 : size == BPF_H ? 2 : size == BPF_W ? 4 : 8;
}

static uint64_t number_at(const char *at, unsigned size)
{
    uint64_t word;
    uint32_t half;
    uint16_t quarter;

    switch (size) {
    case BPF_B:
        return (uint8_t)*at;
    case BPF_H:
        memcpy(&quarter, at, sizeof quarter);
        return quarter;
    case BPF_W:
        memcpy(&half, at, sizeof half);
        return half;
    default:
        memcpy(&word, at, sizeof word);
        return word;
    }
}

static uint64_t load(const struct processor *processor, uint64_t address, unsigned size)
{
    if (address < 4096 && processor->nowhere_is_zero)
        return 0;
    assert_true(address >= 4096);
    return number_at((const char *)(uintptr_t)address, size);
}

/* A number in the map, which the instruction may write. */
static char *in_map(const struct processor *processor, const struct bpf_insn *code)
{
    char *at = (char *)(uintptr_t)(processor->registers[code->dst_reg] + (uint64_t)code->off);
    const size_t size = bytes_of(BPF_SIZE(code->code));

    /* The kernel's begins at a multiple of eight, on every machine. */
    assert_int_equal(((uintptr_t)at - (uintptr_t)processor->map) % size, 0);
    assert_in_range((uintptr_t)at, (uintptr_t)processor->map,
                    (uintptr_t)processor->map + processor->map_size - size);
    return at;
}

/* As one step of all processors. */
static void change(struct processor *processor, const struct bpf_insn *code)
{
    char *at = in_map(processor, code);

    assert_int_equal(BPF_SIZE(code->code), BPF_DW);
    const uint64_t number = number_at(at, BPF_DW), with = processor->registers[code->src_reg];

    if (code->imm == BPF_ADD) {
        place_u64(at, number + with);
        return;
    }
    assert_int_equal(code->imm, BPF_CMPXCHG);
    if (number == processor->registers[0])
        place_u64(at, with);
    processor->registers[0] = number;
}

/* On the stack, or in the map. */
static char *place_of(struct processor *processor, const struct bpf_insn *code)
{
    const size_t size = bytes_of(BPF_SIZE(code->code));

    if (code->dst_reg != BPF_REG_10)
        return in_map(processor, code);
    assert_in_range(-code->off, size, sizeof processor->stack);
    assert_int_equal(code->off % (int)size, 0);
    return processor->stack + sizeof processor->stack + code->off;
}

static void store(struct processor *processor, const struct bpf_insn *code, uint64_t value)
{
    char *to = place_of(processor, code);
    const unsigned size = BPF_SIZE(code->code);
    const uint8_t byte = (uint8_t)value;
    const uint16_t quarter = (uint16_t)value;

    if (size == BPF_B)
        memcpy(to, &byte, sizeof byte);
    else if (size == BPF_H)
        place_u16(to, quarter);
    else if (size == BPF_W)
        place_u32(to, (uint32_t)value);
    else
        place_u64(to, value);
}

static void calculate(uint64_t *with, unsigned operation, uint64_t other)
{
    switch (operation) {
    case BPF_MOV:
        *with = other;
        break;
    case BPF_ADD:
        *with += other;
        break;
    case BPF_SUB:
        *with -= other;
        break;
    case BPF_LSH:
        *with <<= other;
        break;
    case BPF_RSH:
        *with >>= other;
        break;
    case BPF_ARSH: /* gcc and clang shift the sign in */
        *with = (uint64_t)((int64_t)*with >> other);
        break;
    case BPF_AND:
        *with &= other;
        break;
    case BPF_OR:
        *with |= other;
        break;
    case BPF_XOR:
        *with ^= other;
        break;
    case BPF_MUL:
        *with *= other;
        break;
    default:
        fail();
    }
}

/* The kernel keeps none of the arguments. */
static void call(struct processor *processor, int function)
{
    processor->registers[0] = processor->call(processor, function);
    for (unsigned i = 1; i <= 5; i++)
        processor->registers[i] = 0xdead;
}

/* Returns how many instructions to skip. */
static int jump(struct processor *processor, const struct bpf_insn *code, uint64_t with,
                uint64_t other)
{
    if (BPF_OP(code->code) == BPF_JA)
        return code->off;
    if (BPF_OP(code->code) == BPF_JEQ)
        return with == other ? code->off : 0;
    if (BPF_OP(code->code) == BPF_JNE)
        return with != other ? code->off : 0;
    if (BPF_OP(code->code) == BPF_JSLE)
        return (int64_t)with <= (int64_t)other ? code->off : 0;
    if (BPF_OP(code->code) == BPF_JSLT)
        return (int64_t)with < (int64_t)other ? code->off : 0;
    if (BPF_OP(code->code) == BPF_JSGT)
        return (int64_t)with > (int64_t)other ? code->off : 0;
    if (BPF_OP(code->code) == BPF_JLT)
        return with < other ? code->off : 0;
    if (BPF_OP(code->code) == BPF_JSGE)
        return (int64_t)with >= (int64_t)other ? code->off : 0;
    if (BPF_OP(code->code) == BPF_JGE)
        return with >= other ? code->off : 0;
    assert_int_equal(BPF_OP(code->code), BPF_CALL);
    call(processor, code->src_reg == BPF_PSEUDO_KFUNC_CALL ? -code->imm : code->imm);
    return 0;
}

static int step(struct processor *processor, const struct bpf_insn *code)
{
    uint64_t *with = &processor->registers[code->dst_reg];
    const uint64_t other = BPF_SRC(code->code) == BPF_X ? processor->registers[code->src_reg]
                                                        : (uint64_t)(int64_t)code->imm;

    switch (BPF_CLASS(code->code)) {
    case BPF_LDX:
        *with = load(processor, processor->registers[code->src_reg] + (uint64_t)(int64_t)code->off,
                     BPF_SIZE(code->code));
        return 0;
    case BPF_LD: /* a number of 64 bits, or what is known by one: its upper half comes next */
        assert_int_equal(code->code, BPF_LD | BPF_DW | BPF_IMM);
        *with = code->src_reg == BPF_PSEUDO_MAP_VALUE
                    ? (uintptr_t)processor->map + (uint32_t)code[1].imm
                    : (uint32_t)code->imm | (uint64_t)(uint32_t)code[1].imm << 32;
        return 1;
    case BPF_STX:
        if (BPF_MODE(code->code) == BPF_XADD)
            change(processor, code);
        else
            store(processor, code, processor->registers[code->src_reg]);
        return 0;
    case BPF_ST:
        store(processor, code, (uint64_t)(int64_t)code->imm);
        return 0;
    case BPF_ALU64:
        calculate(with, BPF_OP(code->code), other);
        return 0;
    default:
        break;
    }
    assert_int_equal(BPF_CLASS(code->code), BPF_JMP);
    return jump(processor, code, *with, other);
}

void processor_run(struct processor *processor, const struct bpf_insn *program, size_t count,
                   const void *context)
{
    size_t at = 0;

    memset(processor->stack, 0xa5, sizeof processor->stack); /* nothing is zero by itself */
    processor->registers[1] = (uintptr_t)context;
    processor->registers[10] = (uintptr_t)(processor->stack + sizeof processor->stack);
    for (; program[at].code != (BPF_JMP | BPF_EXIT); at++) {
        at += (size_t)step(processor, &program[at]);
        assert_true(at + 1 < count);
    }
    assert_int_equal(at, count - 1);
    assert_int_equal(processor->registers[0], 0);
}
