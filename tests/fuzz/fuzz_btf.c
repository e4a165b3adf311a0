/* SPDX-License-Identifier: MIT */
/*
 * Types of any content, and what ss shows of a value by one of them: every byte is safe to show, no
 * more text comes out than was expected, and on a terminal the same words as elsewhere. An input is
 * 2 bytes with the number of the type, 2 with the value's length, the value, then BTF.
 */
#include <netinet/in.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/socket/socket_pass.h"
#include "bytes.h"
#include "fastnet/layouts.h"
#include "format/socket/layout_ss.h"
#include "fuzz.h"
#include "lookup/owners_bpf.h"
#include "probes/byte_counts_program.h"
#include "probes/connects_program.h"
#include "probes/drop/drop_decode.h"
#include "probes/drop/reset_program.h"
#include "probes/drop/scan_program.h"
#include "probes/failures_program.h"

enum { MAP = 1, VALUE_MAX = 1024, SHOWN_MAX = 8 * 1024 * 1024, ROW_MOST = 256 };

/* --- The reader ------------------------------------------------------------------------------- */

static void look_at_text(struct text text)
{
    require(text.length <= BTF_NAME_MAX && text.data[text.length] == '\0');
}

static void look_at_parts(const struct btf *btf, const struct btf_type *type)
{
    struct btf_member member;
    struct btf_enumerator enumerator;
    struct btf_parameter parameter;

    for (uint32_t i = 0; i < type->count; i++) {
        const bool is_struct = type->kind == BTF_STRUCT || type->kind == BTF_UNION;
        const bool is_enum = type->kind == BTF_ENUM || type->kind == BTF_ENUM64;
        if (is_struct && btf_member(btf, type, i, &member))
            look_at_text(member.name);
        else if (is_enum && btf_enumerator(btf, type, i, &enumerator))
            look_at_text(enumerator.name);
        else if (type->kind == BTF_PROTOTYPE && btf_parameter(btf, type, i, &parameter))
            look_at_text(parameter.name);
    }
}

/* Whatever is found has that name. */
static void look_for(const struct btf *btf, uint32_t id, const struct btf_type *type)
{
    const uint32_t same = btf_find(btf, type->kind, type->name.data);
    const bool is_struct = type->kind == BTF_STRUCT || type->kind == BTF_UNION;
    struct btf_type found;
    struct btf_member member;
    char name[BTF_NAME_MAX + 1];

    if (same)
        require(btf_type(btf, same, &found) && found.kind == type->kind &&
                strcmp(found.name.data, type->name.data) == 0);
    if (!is_struct || !type->count || !btf_member(btf, type, type->count - 1, &member))
        return;
    memcpy(name, member.name.data, member.name.length + 1);
    if (btf_find_member(btf, id, name, &member))
        require(*name && strcmp(member.name.data, name) == 0);
}

static void search_owners(const struct btf *btf)
{
    struct bpf_insn program[OWNERS_PROGRAM_MAX];
    struct kernel_layout layout;

    if (kernel_layout_init(&layout, btf) < 0)
        return;
    require(layout.pid.offset >= 0 && layout.number.offset >= 0 && layout.magic.offset >= 0);
    require(owners_program_make(&layout, program) > 0);
}

static void look_for_sockets(const struct btf *btf)
{
    struct bpf_insn program[PASS_PROGRAM_MAX];
    struct pass_layout layout;

    if (pass_layout_init(&layout, btf) < 0)
        return;
    require(layout.netns.offset >= 0 && layout.deficit.offset >= 0 && layout.local6.offset >= 0);
    require(layout.v6only.shift < 8 && layout.netns.size == BPF_W && layout.probes.size == BPF_B);
    require(pass_program_make(&layout, true, program) > 0);
}

/* Every jump leads into the program. */
static void look_at_jumps(const struct bpf_insn *program, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (BPF_CLASS(program[i].code) == BPF_JMP && BPF_OP(program[i].code) < BPF_CALL)
            require(program[i].off > 0 && (size_t)program[i].off < count - i);
}

static void look_for_connections(const struct btf *btf)
{
    struct bpf_insn program[CONNECT_PROGRAM_MAX];
    struct connect_layout layout;
    const struct connect_ring events = {8, 9};
    size_t count;

    if (connect_layout_init(&layout, btf, NOTE_CONNECTS) < 0)
        return;
    require(layout.port.size == BPF_H && layout.error.size == BPF_W && layout.flags.offset >= 0);
    count = connect_program_make(&layout, 4026531840, 7, &events, program);
    require(count > 0);
    look_at_jumps(program, count);
    count = retransmit_program_make(&layout, 4026531840, 7, &events, program);
    require(count > 0);
    look_at_jumps(program, count);
}

static void look_for_failures(const struct btf *btf)
{
    struct bpf_insn program[FAILURES_PROGRAM_MAX];
    struct failures_layout layout;
    size_t count;

    if (failures_layout_init(&layout, btf) < 0)
        return;
    require(layout.netns.size == BPF_W && layout.name.offset >= 0);
    count = failures_program_make(&layout, 4026531840, 7, program);
    require(count > 0);
    look_at_jumps(program, count);
}

static void look_for_bytes(const struct btf *btf)
{
    struct bpf_insn program[BYTE_PROGRAM_MAX];
    struct byte_layout layout;

    if (byte_layout_init(&layout, btf) < 0)
        return;
    require(layout.family.size == BPF_H && layout.protocol.offset >= 0);
    for (int way = 0; way < WAYS; way++) {
        const size_t count = byte_program_make(&layout, (enum byte_way)way, 7, program);
        require(layout.tracepoints[way] && count > 0);
        look_at_jumps(program, count);
    }
}

static void look_for_drops(const struct btf *btf)
{
    struct bpf_insn program[DROP_PROGRAM_MAX];
    struct drop_names names = {.list = NULL};
    const struct drop_filter filter = {.protocol = IPPROTO_TCP, .port = 80};
    const struct scan_part scans = {.no_socket = 3, .filtered = 8, .map = 8};
    struct drop_layout layout;
    struct reset_layout resets;
    size_t count;

    if (drop_layout_init(&layout, btf) < 0)
        return;
    for (int which = SKB_DROP_REASONS; which <= RESET_REASONS; which++)
        require(drop_names_add(&names, btf, layout.reasons, (enum drop_names_of)which) == 0);
    for (size_t i = 0; i < names.count; i++)
        require(*names.list[i].name && strcmp(names.list[i].name, "MAX") != 0);
    free(names.list);
    require(layout.skb.offset >= 0 && layout.location.offset >= 0 && layout.reason.offset >= 0);
    require(layout.skb.size == BPF_DW && layout.index.size == BPF_W && layout.uid.size == BPF_W);
    require(layout.netns.offset >= 0 && layout.number.offset >= 0 && layout.head.offset >= 0);
    layout.apart[0] = 2;
    for (int filtered = 0; filtered < 2; filtered++) {
        count = drop_program_make(&layout, filtered ? &filter : NULL, filtered ? NULL : &scans, 7,
                                  program);
        require(count > 0);
        look_at_jumps(program, count);
    }
    for (int sent = 0; sent < 2; sent++) {
        if (reset_layout_init(&resets, &layout, btf, sent) < 0)
            continue;
        require(resets.sock.size == BPF_DW && resets.family.size == BPF_H);
        count = reset_program_make(&resets, &layout, &filter, sent, 7, program);
        require(count > 0);
        look_at_jumps(program, count);
    }
}

static void look_at_types(const struct btf *btf)
{
    enum { LOOKED_FOR_MAX = 8 }; /* because a search may take long */

    struct btf_type type;
    size_t size;

    for (uint32_t id = 0; id <= btf->count; id++) {
        if (btf_size(btf, id, &size))
            require(size <= INT32_MAX && btf_resolve(btf, id, &type));
        if (btf_resolve(btf, id, &type))
            require(type.kind != BTF_TYPEDEF && !btf_is_qualifier(&type));
        if (!btf_type(btf, id, &type))
            continue;
        look_at_text(type.name);
        look_at_parts(btf, &type);
        if (id < LOOKED_FOR_MAX)
            look_for(btf, id, &type);
    }
    search_owners(btf);
    look_for_sockets(btf);
    look_for_drops(btf);
    look_for_connections(btf);
    look_for_failures(btf);
    look_for_bytes(btf);
}

/* --- Values ----------------------------------------------------------------------------------- */

static char shown[2][SHOWN_MAX];

/* Two rows; returns their length. */
static size_t show(const struct ss_layout *layout, const struct record *record, char *text)
{
    static const struct context context;
    const int fd = memfd_create("shown", MFD_CLOEXEC);
    struct writer writer;
    struct sink *sink;
    ssize_t length;

    require(fd >= 0 && writer_init(&writer, fd) == 0);
    sink = sink_create(&sink_ss, layout, &writer, &context);
    require(sink != NULL);
    sink_begin(sink);
    for (unsigned i = 0; i < 2; i++)
        sink->ops->row(sink, record);
    sink_end(sink);
    sink_destroy(sink);
    require(writer_flush(&writer) == 0);
    writer_finish(&writer);
    length = pread(fd, text, SHOWN_MAX, 0);
    require(length >= 0 && length < SHOWN_MAX);
    close(fd);
    return (size_t)length;
}

/* Without its blanks and line breaks; returns the length. */
static size_t squeeze(char *text, size_t length)
{
    size_t kept = 0;

    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];
        require((byte >= ' ' && byte != 0x7f) || byte == '\n' || byte == '\t');
        if (byte > ' ')
            text[kept++] = text[i];
    }
    return kept;
}

/* The attributes of one value; their size is exact, so that reading behind them shows. */
static struct text make_storages(struct bytes *input)
{
    const uint16_t size = bytes_u16(input) % (VALUE_MAX + 1);
    const uint16_t length = (uint16_t)(size + 4);
    const uint16_t headers[] = {(uint16_t)(size + 16), 1, 8, 2, MAP, 0, length, 3};
    char *bytes = malloc(sizeof headers + size);

    require(bytes != NULL);
    memcpy(bytes, headers, sizeof headers);
    bytes_take(input, bytes + sizeof headers, size);
    return (struct text){bytes, sizeof headers + size};
}

static void show_value(const struct bpf_values *values, struct text storages)
{
    const struct record record = {
        .kind = &kind_socket,
        .has = SOCKET_STORAGES,
        .socket = {.family = AF_INET, .protocol = IPPROTO_TCP, .storages = storages}};

    for (unsigned i = 0; i < 2; i++) {
        struct ss_layout layout = {.storages = true, .maps = values, .map_count = 1, .one_line = i};
        const size_t bound = ss_storages_bound(&layout, storages) + 2 * storages.length;
        size_t lengths[2] = {show(&layout, &record, shown[0])};
        require(lengths[0] <= 2 * (bound + ROW_MOST));
        layout.width = 80;
        lengths[0] = squeeze(shown[0], lengths[0]);
        lengths[1] = squeeze(shown[1], show(&layout, &record, shown[1]));
        require(lengths[0] == lengths[1] && memcmp(shown[0], shown[1], lengths[0]) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = {data, size};
    struct bpf_values values = {.map = MAP, .type = bytes_u16(&input)};
    const struct text storages = make_storages(&input);

    values.bytes = malloc(input.left ? input.left : 1);
    require(values.bytes != NULL);
    memcpy(values.bytes, input.at, input.left);
    if (btf_init(&values.btf, (struct text){values.bytes, input.left}) == 0)
        look_at_types(&values.btf);
    show_value(&values, storages);
    bpf_values_finish(&values);
    free((void *)(uintptr_t)storages.data);
    return 0;
}
