/* SPDX-License-Identifier: MIT */
#include "fastnet/bpf_program.h"
#include "fastnet/bpf_assembly.h"
#include "fastnet/bpf_iterator.h"
#include "fastnet/kernel_types.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "fastnet/array.h"
#include "fastnet/kernel_abi.h"
#include "fastnet/proc_tree.h"
#include "sys/bpf_call.h"

/* --- The kernel's types ----------------------------------------------------------------------- */

static int bpf_program_copy(int fd, struct kernel_types *types)
{
    size_t have = 0;
    ssize_t length = 1;

    types->bytes = malloc(types->length);
    if (!types->bytes)
        return -ENOMEM;
    while (have < types->length && length) {
        length = read(fd, types->bytes + have, types->length - have);
        if (length < 0 && errno != EINTR)
            return -errno;
        have += length > 0 ? (size_t)length : 0;
    }
    return have == types->length ? 0 : -EIO;
}

/* Maps the file, but only if it is on sysfs: any other file could become shorter while it is
 * mapped. */
static int bpf_program_take_bytes(int fd, struct kernel_types *types)
{
    struct statfs system;
    struct stat status;
    void *bytes;

    if (fstatfs(fd, &system) < 0 || fstat(fd, &status) < 0)
        return -errno;
    if (system.f_type != SYSFS_MAGIC)
        return -ENOTSUP;
    if (status.st_size <= 0 || status.st_size > BTF_BYTES_MAX)
        return -EFBIG;
    types->length = (size_t)status.st_size;
    bytes = mmap(NULL, types->length, PROT_READ, MAP_PRIVATE, fd,
                 0); /* sysfs can map this file since Linux 6.16 */
    types->mapped = bytes != MAP_FAILED;
    if (!types->mapped)
        return bpf_program_copy(fd, types);
    types->bytes = bytes;
    return 0;
}

static void kernel_types_free(struct kernel_types *types)
{
    btf_finish(&types->btf);
    if (types->mapped)
        munmap(types->bytes, types->length);
    else
        free(types->bytes);
    *types = (struct kernel_types){.bytes = NULL};
}

static int kernel_types_read(struct kernel_types *types)
{
    const int fd = proc_open(AT_FDCWD, "/sys/kernel/btf/vmlinux", O_RDONLY | O_NONBLOCK);
    int status;

    if (fd < 0)
        return fd;
    status = bpf_program_take_bytes(fd, types);
    close(fd);
    if (!status)
        status = btf_init(&types->btf, (struct text){types->bytes, types->length});
    if (status < 0)
        kernel_types_free(types);
    return status;
}

/* The types that this thread has read, and how many users they have. */
static _Thread_local struct kernel_types shared_types;
static _Thread_local unsigned shared_users;

int kernel_types_init(struct kernel_types *types)
{
    const int status = shared_users ? 0 : kernel_types_read(&shared_types);

    shared_users += status == 0;
    *types = shared_types;
    return status;
}

void kernel_types_finish(struct kernel_types *types)
{
    if (types->bytes && --shared_users == 0)
        kernel_types_free(&shared_types);
    *types = (struct kernel_types){.bytes = NULL};
}

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

/* Bytes from the beginning of the struct; -1 if the 16-bit offset of a load cannot reach the
 * member. */
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

bool kernel_path_find(const struct btf *btf, uint32_t type, const char *path,
                      struct kernel_member *member, uint32_t *its_type)
{
    const char *end;
    int offset = 0;

    while ((end = strchr(path, '.'))) {
        struct kernel_member part;
        char name[32];
        const size_t length = (size_t)(end - path);
        if (length >= sizeof name)
            return false;
        memcpy(name, path, length);
        name[length] = '\0';
        if (!kernel_struct_find(btf, type, name, &part, &type))
            return false;
        offset += part.offset;
        path = end + 1;
    }
    if (!kernel_member_find(btf, type, path, member, its_type) ||
        offset + member->offset > INT16_MAX)
        return false;
    member->offset = (int16_t)(offset + member->offset);
    return true;
}

bool kernel_members_find(const struct btf *btf, uint32_t type, const struct wanted_member *wanted,
                         size_t count, void *layout)
{
    for (size_t i = 0; i < count; i++) {
        struct kernel_member member;
        if (!kernel_path_find(btf, type, wanted[i].path, &member, NULL) ||
            member.size != wanted[i].size)
            return false;
        memcpy((char *)layout + wanted[i].at, &member, sizeof member);
    }
    return true;
}

/* On big-endian machines the first bit of a bit field is the highest bit of its byte. */
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

bool kernel_points_to(const struct btf *btf, uint32_t type, const char *name)
{
    const uint32_t to = kernel_pointed_to(btf, type);
    struct btf_type of;

    return to && btf_resolve(btf, to, &of) && of.kind == BTF_STRUCT && text_is(of.name, name);
}

/* The prototype of btf_trace_EVENT has one parameter more, before those of the event. */
uint32_t kernel_event_struct(const struct btf *btf, uint32_t tracepoint, uint32_t parameters,
                             const char *name)
{
    struct btf_type prototype;
    struct btf_parameter parameter;

    if (!tracepoint || !btf_resolve(btf, kernel_pointed_to(btf, tracepoint), &prototype) ||
        prototype.kind != BTF_PROTOTYPE || prototype.count != parameters + 1 ||
        !btf_parameter(btf, &prototype, 1, &parameter) ||
        !kernel_points_to(btf, parameter.type, name))
        return 0;
    return kernel_pointed_to(btf, parameter.type);
}

/* Parameters are in the context one after another, 8 bytes each. */
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

/* The parameters are in the order of BPF_RAW_INSN() in the kernel's linux/filter.h. */
static void bpf_program_put(struct assembly *to, unsigned code, unsigned into, unsigned from,
                            int offset, int number)
{
    if (to->count < to->most)
        to->code[to->count] = (struct bpf_insn){.code = (uint8_t)code,
                                                .dst_reg = into & 0xf,
                                                .src_reg = from & 0xf,
                                                .off = (int16_t)offset,
                                                .imm = number};
    to->count++;
}

void assembly_load(struct assembly *to, unsigned into, unsigned from, struct kernel_member member)
{
    bpf_program_put(to, BPF_LDX | BPF_MEM | member.size, into, from, member.offset, 0);
}

void assembly_store_in(struct assembly *to, unsigned in, unsigned from, int offset, uint8_t size)
{
    bpf_program_put(to, BPF_STX | BPF_MEM | (unsigned)size, in, from, offset, 0);
}

void assembly_store(struct assembly *to, unsigned from, int offset, uint8_t size)
{
    assembly_store_in(to, BPF_STACK, from, offset, size);
}

void assembly_parameter(struct assembly *to, unsigned into, unsigned context, unsigned which)
{
    const struct kernel_member member = {.offset = (int16_t)(8 * which), .size = BPF_DW};

    assembly_load(to, into, context, member);
}

void assembly_copy(struct assembly *to, unsigned from, struct kernel_member member, int offset)
{
    assembly_load(to, BPF_FIRST, from, member);
    assembly_store(to, BPF_FIRST, offset, member.size);
}

void assembly_store_zeroes(struct assembly *to, int offset, size_t size)
{
    for (const int end = offset + (int)size; offset < end; offset += 8)
        bpf_program_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_STACK, 0, offset, 0);
}

void assembly_register(struct assembly *to, unsigned operation, unsigned with, unsigned other)
{
    bpf_program_put(to, BPF_ALU64 | operation | BPF_X, with, other, 0, 0);
}

void assembly_number(struct assembly *to, unsigned operation, unsigned with, int number)
{
    bpf_program_put(to, BPF_ALU64 | operation | BPF_K, with, 0, 0, number);
}

/* assembly_finish() sets the length of the jump. */
void assembly_end_if(struct assembly *to, unsigned comparison, unsigned of, int number)
{
    bpf_program_put(to, BPF_JMP | comparison | BPF_K, of, 0, 0, number);
}

void assembly_end_if_unequal(struct assembly *to, unsigned one, unsigned other)
{
    bpf_program_put(to, BPF_JMP | BPF_JNE | BPF_X, one, other, 0, 0);
}

size_t assembly_skip_if(struct assembly *to, unsigned comparison, unsigned of, int number)
{
    assembly_end_if(to, comparison, of, number);
    return to->count - 1;
}

size_t assembly_skip_if_equal(struct assembly *to, unsigned one, unsigned other)
{
    bpf_program_put(to, BPF_JMP | BPF_JEQ | BPF_X, one, other, 0, 0);
    return to->count - 1;
}

/* A jump skips at least one instruction, so length 0 means that its target is not set yet. */
void assembly_land(struct assembly *to, size_t skip)
{
    if (skip < to->most)
        to->code[skip].off = (int16_t)(to->count - skip - 1);
}

size_t assembly_skip(struct assembly *to)
{
    return assembly_skip_if(to, BPF_JA, BPF_REG_0, 0);
}

void assembly_address(struct assembly *to, unsigned into, int offset)
{
    assembly_register(to, BPF_MOV, into, BPF_STACK);
    assembly_number(to, BPF_ADD, into, offset);
}

/* A load of 8 bytes takes two instructions; the second has the upper half of the number. */
static void bpf_program_put_wide(struct assembly *to, unsigned into, unsigned source,
                                 uint64_t number)
{
    bpf_program_put(to, BPF_LD | BPF_DW, into, source, 0, (int)(uint32_t)number); /* BPF_IMM is 0 */
    bpf_program_put(to, 0, 0, 0, 0, (int)(number >> 32));
}

void assembly_wide(struct assembly *to, unsigned into, uint64_t number)
{
    bpf_program_put_wide(to, into, 0, number);
}

void assembly_map(struct assembly *to, unsigned into, int map)
{
    bpf_program_put_wide(to, into, BPF_PSEUDO_MAP_FD, (uint32_t)map);
}

void assembly_value(struct assembly *to, unsigned into, int map, size_t offset)
{
    bpf_program_put_wide(to, into, BPF_PSEUDO_MAP_VALUE, (uint32_t)map | (uint64_t)offset << 32);
}

enum { ATOMIC = BPF_STX | BPF_XADD | BPF_DW }; /* BPF_ATOMIC has the number of BPF_XADD */

void assembly_add(struct assembly *to, unsigned at, int offset, unsigned more)
{
    bpf_program_put(to, ATOMIC, at, more, offset, BPF_ADD);
}

void assembly_count(struct assembly *to, unsigned at, int offset)
{
    assembly_number(to, BPF_MOV, BPF_FIRST, 1);
    assembly_add(to, at, offset, BPF_FIRST);
}

void assembly_exchange(struct assembly *to, unsigned at, unsigned with)
{
    bpf_program_put(to, ATOMIC, at, with, 0, BPF_CMPXCHG);
}

void assembly_cast(struct assembly *to, unsigned into, unsigned from, uint32_t type, uint32_t cast)
{
    if (!cast) {
        assembly_register(to, BPF_MOV, into, from);
        return;
    }
    assembly_register(to, BPF_MOV, BPF_FIRST, from);
    assembly_number(to, BPF_MOV, BPF_SECOND, (int)type);
    bpf_program_put(to, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, (int)cast);
    assembly_register(to, BPF_MOV, into, BPF_REG_0);
}

void assembly_call(struct assembly *to, int function)
{
    bpf_program_put(to, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

size_t assembly_finish(struct assembly *to)
{
    for (size_t i = 0; i < to->count && i < to->most; i++) {
        const unsigned operation = BPF_OP(to->code[i].code);
        if (BPF_CLASS(to->code[i].code) == BPF_JMP && operation != BPF_CALL && !to->code[i].off)
            to->code[i].off = (int16_t)(to->count - i - 1);
    }
    assembly_number(to, BPF_MOV, BPF_REG_0, 0);
    bpf_program_put(to, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
    return to->count <= to->most ? to->count : 0;
}

/* --- Loading ---------------------------------------------------------------------------------- */

/* The verifier gives up with EAGAIN while a signal is pending, even an ignored one
 * (kernel/bpf/verifier.c): try again. */
enum { LOAD_TRIES = 5 };

/* The caller sets the type of the program. */
static int bpf_program_load_typed(union bpf_attr *attributes, const struct bpf_insn *program,
                                  size_t count, const char *name)
{
    /* the kernel allows bpf_seq_write() only to programs with a GPL-compatible license */
    static const char license[] = "Dual MIT/GPL";

    if (!count)
        return -ENOBUFS;
    attributes->insns = (uintptr_t)program;
    attributes->insn_cnt = (uint32_t)count;
    attributes->license = (uintptr_t)license;
    strncpy(attributes->prog_name, name, sizeof attributes->prog_name - 1);
    int loaded = -EAGAIN;
    for (int i = 0; i < LOAD_TRIES && loaded == -EAGAIN; i++)
        loaded = bpf_call_raised(RIGHT_BPF, BPF_PROG_LOAD, attributes);
    return loaded;
}

int bpf_program_load(const struct bpf_insn *program, size_t count, uint32_t type, uint32_t of,
                     const char *name)
{
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.prog_type = BPF_PROG_TYPE_TRACING;
    attributes.expected_attach_type = type;
    attributes.attach_btf_id = of;
    return bpf_program_load_typed(&attributes, program, count, name);
}

/* Attaches a program, and closes its descriptor. event: NULL: the program names its tracepoint. */
static int bpf_program_attach(int loaded, const char *event)
{
    union bpf_attr attributes;

    if (loaded < 0)
        return loaded;
    memset(&attributes, 0, sizeof attributes);
    attributes.raw_tracepoint.name = (uintptr_t)event;
    attributes.raw_tracepoint.prog_fd = (uint32_t)loaded;
    const int link = bpf_call_raised(RIGHT_BPF, BPF_RAW_TRACEPOINT_OPEN, &attributes);
    close(loaded);
    return link;
}

int bpf_tracepoint_attach(const struct bpf_insn *program, size_t count, uint32_t tracepoint,
                          const char *name)
{
    return bpf_program_attach(bpf_program_load(program, count, BPF_TRACE_RAW_TP, tracepoint, name),
                              NULL);
}

int bpf_event_attach(const struct bpf_insn *program, size_t count, const char *event,
                     const char *name)
{
    union bpf_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
    return bpf_program_attach(bpf_program_load_typed(&attributes, program, count, name), event);
}

void bpf_close(int descriptor)
{
    if (descriptor >= 0)
        close(descriptor);
}

/* --- Iterators -------------------------------------------------------------------------------- */

/* A kernel that cannot limit the walk to one task refuses its number: E2BIG. The iterator keeps the
 * program, so the link can be closed. */
static int iterator_start(int program, const struct kernel_task_iterator *info)
{
    union bpf_attr attributes;
    int link, fd;

    memset(&attributes, 0, sizeof attributes);
    attributes.link_create.prog_fd = (uint32_t)program;
    attributes.link_create.attach_type = BPF_TRACE_ITER;
    if (info) {
        attributes.link_create.iter_info = (uintptr_t)info;
        attributes.link_create.iter_info_len = sizeof *info;
    }
    link = bpf_call_raised(RIGHT_BPF, BPF_LINK_CREATE, &attributes);
    if (link < 0)
        return link;
    memset(&attributes, 0, sizeof attributes);
    attributes.iter_create.link_fd = (uint32_t)link;
    fd = bpf_call_raised(RIGHT_BPF, BPF_ITER_CREATE, &attributes);
    close(link);
    return fd;
}

int bpf_iterator_start(int program, uint32_t task)
{
    const struct kernel_task_iterator info = {.tid = task};

    return iterator_start(program, task ? &info : NULL);
}

int bpf_iterator_start_process(int program, uint32_t process)
{
    const struct kernel_task_iterator info = {.pid = process};

    return iterator_start(program, &info);
}

/* After a million objects without output the kernel returns EAGAIN; the next read continues. */
ssize_t bpf_iterator_read(int fd, void *buffer, size_t size)
{
    ssize_t length;

    do
        length = read(fd, buffer, size);
    while (length < 0 && (errno == EINTR || errno == EAGAIN));
    return length < 0 ? -errno : length;
}
