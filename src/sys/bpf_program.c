/* SPDX-License-Identifier: MIT */
#include "fastnet/bpf_program.h"

/* --- Where the kernel keeps it ---------------------------------------------------------------- */

static int opcode_of(const struct btf *btf, uint32_t type)
{
    size_t size;

    if (!btf_size(btf, type, &size))
        return -1;
    switch (size) {
    case sizeof(uint8_t):
        return BPF_B;
    case sizeof(uint16_t):
        return BPF_H;
    case sizeof(uint32_t):
        return BPF_W;
    case sizeof(uint64_t):
        return BPF_DW;
    default:
        return -1;
    }
}

/* Bytes from the beginning of the struct; -1 if a load cannot reach it. */
static int reach(uint32_t bits)
{
    return bits / 8 <= INT16_MAX ? (int)(bits / 8) : -1;
}

bool kernel_struct_find(const struct btf *btf, uint32_t type, const char *name,
                        struct kernel_member *member, uint32_t *its_type)
{
    struct btf_member found;

    if (!btf_find_member(btf, type, name, &found) || found.bits || found.offset % 8 ||
        reach(found.offset) < 0)
        return false;
    *member = (struct kernel_member){.offset = (int16_t)reach(found.offset)};
    *its_type = found.type;
    return true;
}

bool kernel_member_find(const struct btf *btf, uint32_t type, const char *name,
                        struct kernel_member *member, uint32_t *its_type)
{
    uint32_t own_type;
    int size;

    if (!kernel_struct_find(btf, type, name, member, &own_type))
        return false;
    size = opcode_of(btf, own_type);
    member->size = (uint8_t)size;
    if (its_type)
        *its_type = own_type;
    return size >= 0;
}

/* Where the high byte is stored first, the first bit is the highest of its byte. */
bool kernel_flag_find(const struct btf *btf, uint32_t type, const char *name,
                      struct kernel_member *member)
{
    struct btf_member found;
    unsigned bit;

    if (!btf_find_member(btf, type, name, &found) || found.bits != 1 || reach(found.offset) < 0)
        return false;
    bit = found.offset % 8;
    *member = (struct kernel_member){
        .offset = (int16_t)reach(found.offset),
        .size = BPF_B,
        .shift = (uint8_t)(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? bit : 7 - bit)};
    return true;
}

uint32_t kernel_pointed_to(const struct btf *btf, uint32_t id)
{
    struct btf_type type;

    return btf_resolve(btf, id, &type) && type.kind == BTF_POINTER ? type.type : 0;
}

/* They follow each other, 8 bytes each. */
bool kernel_parameter_find(const struct btf *btf, const struct btf_type *prototype,
                           const char *name, struct kernel_member *member, uint32_t *its_type)
{
    struct btf_parameter parameter;
    uint32_t i = 0;
    int size;

    while (i < prototype->count &&
           !(btf_parameter(btf, prototype, i, &parameter) && text_is(parameter.name, name)))
        i++;
    if (i >= prototype->count || i >= 8)
        return false;
    size = opcode_of(btf, parameter.type);
    *member = (struct kernel_member){.offset = (int16_t)(8 * i), .size = (uint8_t)size};
    *its_type = parameter.type;
    return size >= 0;
}

/* --- Instructions ----------------------------------------------------------------------------- */

static void put(struct assembly *to, struct bpf_insn instruction)
{
    to->code[to->count++] = instruction;
}

void assembly_load(struct assembly *to, unsigned into, unsigned from, struct kernel_member member)
{
    put(to, (struct bpf_insn){.code = (uint8_t)(BPF_LDX | BPF_MEM | member.size),
                              .dst_reg = into & 0xf,
                              .src_reg = from & 0xf,
                              .off = member.offset});
}

void assembly_store(struct assembly *to, unsigned from, int offset, uint8_t size)
{
    put(to, (struct bpf_insn){.code = (uint8_t)(BPF_STX | BPF_MEM | size),
                              .dst_reg = BPF_STACK,
                              .src_reg = from & 0xf,
                              .off = (int16_t)offset});
}

void assembly_store_zero(struct assembly *to, int offset)
{
    put(to, (struct bpf_insn){
                .code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_STACK, .off = (int16_t)offset});
}

void assembly_register(struct assembly *to, unsigned operation, unsigned with, unsigned other)
{
    put(to, (struct bpf_insn){.code = (uint8_t)(BPF_ALU64 | operation | BPF_X),
                              .dst_reg = with & 0xf,
                              .src_reg = other & 0xf});
}

void assembly_number(struct assembly *to, unsigned operation, unsigned with, int number)
{
    put(to, (struct bpf_insn){.code = (uint8_t)(BPF_ALU64 | operation | BPF_K),
                              .dst_reg = with & 0xf,
                              .imm = number});
}

/* assembly_finish() sets how far the jump goes. */
void assembly_end_if(struct assembly *to, unsigned comparison, unsigned of, int number)
{
    put(to, (struct bpf_insn){.code = (uint8_t)(BPF_JMP | comparison | BPF_K),
                              .dst_reg = of & 0xf,
                              .imm = number});
}

void assembly_end_if_unequal(struct assembly *to, unsigned one, unsigned other)
{
    put(to, (struct bpf_insn){
                .code = BPF_JMP | BPF_JNE | BPF_X, .dst_reg = one & 0xf, .src_reg = other & 0xf});
}

size_t assembly_skip_if(struct assembly *to, unsigned comparison, unsigned of, int number)
{
    assembly_end_if(to, comparison, of, number);
    return to->count - 1;
}

/* At least one instruction is skipped, so 0 says that a jump has no place to land yet. */
void assembly_land(struct assembly *to, size_t skip)
{
    to->code[skip].off = (int16_t)(to->count - skip - 1);
}

void assembly_call(struct assembly *to, int function)
{
    put(to, (struct bpf_insn){.code = BPF_JMP | BPF_CALL, .imm = function});
}

void assembly_finish(struct assembly *to)
{
    for (size_t i = 0; i < to->count; i++) {
        const unsigned operation = BPF_OP(to->code[i].code);
        if (BPF_CLASS(to->code[i].code) == BPF_JMP && operation != BPF_CALL && !to->code[i].off)
            to->code[i].off = (int16_t)(to->count - i - 1);
    }
    assembly_number(to, BPF_MOV, BPF_REG_0, 0);
    put(to, (struct bpf_insn){.code = BPF_JMP | BPF_EXIT});
}
