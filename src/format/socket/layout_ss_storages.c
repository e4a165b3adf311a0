/* SPDX-License-Identifier: MIT */
/* The layout of ss: values that BPF programs keep for a socket, shown by their types (BTF). */
#include <endian.h>
#include <stdio.h>

#include "format/socket/c_declaration.h"
#include "format/socket/layout_ss.h"
#include "model/socket/nested.h"

/* Attributes of linux/sock_diag.h. */
enum { STORAGE = 1, STORAGE_MAP_ID = 2, STORAGE_MAP_VALUE = 3, HEX_PIECE = 1024 };

/* --- How much text there can be --------------------------------------------------------------- */

enum {
    INDENT = 2, /* tabs before the outermost value */
    NUMBER_TEXT_MAX = 40,
    BYTE_TEXT_MAX = 4,          /* -128, or '\0' with its quotes */
    REAL_TEXT_MAX = 320,        /* DBL_MAX with six decimals */
    TEXT_MAX = 4 * 1024 * 1024, /* bytes of text for a value of at most 64 KiB */
    STEPS_MAX = 64 * 1024,
};

/* Follows the type of a value to its end before the value is shown. This finds types that contain
 * themselves or are nested too deeply, so functions that show a value need not check. */
struct measure {
    const struct btf *btf;
    size_t steps; /* steps left: unions of unions can need endless work */
    unsigned depth;
    bool in_array;
};

static size_t measure_value(struct measure *measure, uint32_t id, size_t name_length);

/* Each measure function returns an upper bound for bytes of text; 0: the type cannot be shown. */
static size_t measure_number(const struct btf_type *type)
{
    const uint32_t size = type->size;
    const bool is_known =
        size == 2 || size == 4 || size == 8 || (size == 16 && type->kind == BTF_INT);

    return size == 1 ? BYTE_TEXT_MAX : is_known ? NUMBER_TEXT_MAX : 0;
}

static size_t measure_enum(const struct measure *measure, const struct btf_type *type)
{
    struct btf_enumerator enumerator;
    size_t longest = NUMBER_TEXT_MAX;

    for (uint32_t i = 0; i < type->count; i++) {
        if (!btf_enumerator(measure->btf, type, i, &enumerator))
            return 0;
        if (longest < ESCAPE_FACTOR * enumerator.name.length)
            longest = ESCAPE_FACTOR * enumerator.name.length;
    }
    return measure_number(type) ? longest : 0;
}

static size_t measure_array(struct measure *measure, const struct btf_type *type)
{
    const struct btf_array array = btf_array(type);
    const bool in_array = measure->in_array;
    size_t size, length;

    if (!btf_size(measure->btf, array.type, &size) || !size)
        return 0;
    measure->in_array = true;
    length = measure_value(measure, array.type, 0);
    measure->in_array = in_array;
    return length && array.count <= TEXT_MAX / length ? length * array.count + 1 : 0;
}

/* Whether a member is within its struct and, if it is a bit field, is an integer or enum. */
static bool check_member(const struct btf *btf, const struct btf_type *type,
                         const struct btf_member *member)
{
    const uint64_t room = 8 * (uint64_t)type->size;
    struct btf_type inner;
    size_t size;

    if (!btf_resolve(btf, member->type, &inner) || !btf_size(btf, member->type, &size))
        return false;
    if (!member->bits)
        return member->offset % 8 == 0 && member->offset + 8 * (uint64_t)size <= room;
    return member->bits <= 64 && member->offset + (uint64_t)member->bits <= room &&
           (inner.kind == BTF_INT || inner.kind == BTF_ENUM || inner.kind == BTF_ENUM64);
}

static size_t measure_struct(struct measure *measure, const struct btf_type *type)
{
    struct btf_member member;
    size_t sum = 1;

    for (uint32_t i = 0; i < type->count; i++) {
        size_t length = 0;
        if (btf_member(measure->btf, type, i, &member) && check_member(measure->btf, type, &member))
            length = measure_value(measure, member.type, member.name.length);
        sum += length;
        if (!length || sum > TEXT_MAX)
            return 0;
    }
    return sum;
}

static size_t measure_content(struct measure *measure, const struct btf_type *type)
{
    switch (type->kind) {
    case BTF_INT:
        return measure_number(type);
    case BTF_FLOAT:
        return type->size == sizeof(float) || type->size == sizeof(double) ? REAL_TEXT_MAX : 0;
    case BTF_POINTER:
        return NUMBER_TEXT_MAX;
    case BTF_ENUM:
    case BTF_ENUM64:
        return measure_enum(measure, type);
    case BTF_ARRAY:
        return measure_array(measure, type);
    case BTF_STRUCT:
    case BTF_UNION:
        return measure_struct(measure, type);
    default:
        return 0;
    }
}

static size_t measure_value(struct measure *measure, uint32_t id, size_t name_length)
{
    /* tabs before the value and before its closing bracket; brackets, comma, newline */
    const size_t around = 2 * (INDENT + (size_t)measure->depth) + 6;
    char cast[C_DECLARATION_MAX];
    const char *end = measure->in_array ? cast : c_declaration_put(cast, measure->btf, id);
    struct btf_type type;
    size_t length;

    if (!end || measure->depth == BTF_DEPTH_MAX || !measure->steps ||
        !btf_resolve(measure->btf, id, &type))
        return 0;
    measure->steps--;
    measure->depth++;
    length = measure_content(measure, &type);
    measure->depth--;
    return length ? length + around + (size_t)(end - cast) + 6 + ESCAPE_FACTOR * name_length : 0;
}

/* Returns an upper bound for a value's text; 0: its type is unknown or has another size. */
static size_t storages_bound_of(const struct bpf_values *values, struct text value)
{
    struct measure measure = {.btf = &values->btf, .steps = STEPS_MAX};
    size_t size;

    if (!btf_size(&values->btf, values->type, &size) || size != value.length)
        return 0;
    return measure_value(&measure, values->type, 0);
}

/* --- Values ----------------------------------------------------------------------------------- */

struct storage_text {
    struct ss_row *row;
    const struct btf *btf;
    char *dst;
    unsigned depth;
    bool in_array; /* elements of an array are shown without their type */
};

/* Where a value is: its bytes, and for a bit field its bits. */
struct storage_position {
    const char *bytes;
    unsigned bit, bits; /* bit field: its first bit (0 to 7), its length */
};

static void storages_show_value(struct storage_text *out, uint32_t id, struct text name,
                                struct storage_position position);

static void storages_put_indent(struct storage_text *out)
{
    out->dst = ss_more(out->row, out->dst);
    if (!out->row->layout->one_line)
        for (unsigned i = 0; i < INDENT + out->depth; i++)
            *out->dst++ = '\t';
}

static void storages_put_end(struct storage_text *out)
{
    if (out->depth)
        *out->dst++ = ',';
    if (out->depth && !out->row->layout->one_line)
        *out->dst++ = '\n';
}

static void open_bracket(struct storage_text *out, char bracket)
{
    *out->dst++ = bracket;
    if (!out->row->layout->one_line)
        *out->dst++ = '\n';
    out->depth++;
}

static void close_bracket(struct storage_text *out, char bracket)
{
    out->depth--;
    storages_put_indent(out);
    *out->dst++ = bracket;
}

/* Returns the number of a bit field. Bit 0 is the lowest bit of the first byte on a little-endian
 * machine, and the highest on a big-endian machine. */
static uint64_t bits_at(struct storage_position position)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < position.bits; i++) {
        const bool little = __BYTE_ORDER == __LITTLE_ENDIAN;
        const unsigned bit = position.bit + (little ? position.bits - 1 - i : i);
        const unsigned shift = little ? bit % 8 : 7 - bit % 8;
        number = number << 1 | ((uint8_t)position.bytes[bit / 8] >> shift & 1);
    }
    return number;
}

/* Returns a number of up to eight bytes; a signed number is extended to 64 bits. */
static uint64_t number_at(const char *bytes, size_t size, bool is_signed)
{
    const uint64_t number = bits_at((struct storage_position){bytes, 0, 8 * (unsigned)size});
    const uint64_t sign = UINT64_C(1) << (8 * size - 1);

    return is_signed ? (number ^ sign) - sign : number;
}

static char *storages_put_number(char *dst, uint64_t number, bool is_signed)
{
    const bool negative = is_signed && number > INT64_MAX;

    return text_signed(dst, negative ? 0 - number : number, negative);
}

static char *put_prefixed(char *dst, uint64_t number)
{
    return put_hex(PUT(dst, "0x"), number);
}

/* Writes a number of 16 bytes; leaves out its upper half if that is 0. */
static char *storages_put_wide(char *dst, const char *bytes)
{
    const bool little = __BYTE_ORDER == __LITTLE_ENDIAN;
    const uint64_t high = number_at(bytes + (little ? 8 : 0), 8, false);
    const uint64_t low = number_at(bytes + (little ? 0 : 8), 8, false);

    if (!high)
        return put_prefixed(dst, low);
    dst = put_prefixed(dst, high);
    for (unsigned shift = 64; shift > 0; shift -= 8)
        dst = put_hex_byte(dst, (uint8_t)(low >> (shift - 8)));
    return dst;
}

static char *put_int(char *dst, const struct btf_type *type, struct storage_position position)
{
    if (position.bits)
        return put_prefixed(dst, bits_at(position));
    if (type->size > sizeof(uint64_t))
        return storages_put_wide(dst, position.bytes);
    return storages_put_number(dst, number_at(position.bytes, type->size, btf_is_signed(type)),
                               btf_is_signed(type));
}

static char *put_enum(char *dst, const struct btf *btf, const struct btf_type *type,
                      struct storage_position position)
{
    const uint64_t number =
        position.bits ? bits_at(position) : number_at(position.bytes, type->size, type->flag);
    struct btf_enumerator enumerator;

    for (uint32_t i = 0; i < type->count; i++)
        if (btf_enumerator(btf, type, i, &enumerator) && enumerator.value == number)
            return escape_text(dst, enumerator.name.data, enumerator.name.length, NULL);
    dst = storages_put_number(dst, number, type->flag);
    if (type->kind == BTF_ENUM)
        return dst;
    return type->flag ? PUT(dst, "LL") : PUT(dst, "ULL");
}

/* Writes a number like printf(3). BPF programs cannot calculate with floats, so they are rare. */
static char *put_real(char *dst, size_t size, const char *bytes)
{
    double number;
    float small;

    if (size == sizeof small)
        memcpy(&small, bytes, sizeof small);
    else
        memcpy(&number, bytes, sizeof number);
    return dst + snprintf(dst, REAL_TEXT_MAX, "%f", size == sizeof small ? (double)small : number);
}

/* Shows a character, or the number of an invisible byte. Returns false at the string's end. */
static bool show_character(struct storage_text *out, const struct btf_type *type, const char *byte)
{
    storages_put_indent(out);
    if (*byte == '\0')
        out->dst = PUT(out->dst, "'\\0'");
    else if (*byte >= ' ' && *byte < 0x7f) {
        *out->dst++ = '\'';
        *out->dst++ = *byte;
        *out->dst++ = '\'';
    } else
        out->dst = put_int(out->dst, type, (struct storage_position){byte, 0, 0});
    storages_put_end(out);
    return *byte;
}

static void show_array(struct storage_text *out, const struct btf_type *type, const char *bytes)
{
    const struct btf_array array = btf_array(type);
    const bool in_array = out->in_array;
    struct btf_type element;
    bool characters, more = true;
    size_t size = 0;

    btf_resolve(out->btf, array.type, &element);
    btf_size(out->btf, array.type, &size);
    characters = element.kind == BTF_INT && size == 1;
    open_bracket(out, '[');
    out->in_array = true;
    for (uint32_t i = 0; i < array.count && more; i++, bytes += size)
        if (characters)
            more = show_character(out, &element, bytes);
        else
            storages_show_value(out, array.type, (struct text){"", 0},
                                (struct storage_position){bytes, 0, 0});
    out->in_array = in_array;
    close_bracket(out, ']');
}

static void show_struct(struct storage_text *out, const struct btf_type *type, const char *bytes)
{
    struct btf_member member;

    open_bracket(out, '{');
    for (uint32_t i = 0; i < type->count; i++)
        if (btf_member(out->btf, type, i, &member))
            storages_show_value(out, member.type, member.name,
                                (struct storage_position){bytes + member.offset / 8,
                                                          member.offset % 8, member.bits});
    close_bracket(out, '}');
}

static void show_content(struct storage_text *out, const struct btf_type *type,
                         struct storage_position position)
{
    char *dst = ss_more(out->row, out->dst);
    uint64_t pointer;

    out->dst = dst;
    switch (type->kind) {
    case BTF_ARRAY:
        show_array(out, type, position.bytes);
        break;
    case BTF_STRUCT:
    case BTF_UNION:
        show_struct(out, type, position.bytes);
        break;
    case BTF_ENUM:
    case BTF_ENUM64:
        out->dst = put_enum(dst, out->btf, type, position);
        break;
    case BTF_FLOAT:
        out->dst = put_real(dst, type->size, position.bytes);
        break;
    case BTF_POINTER:
        pointer = number_at(position.bytes, out->btf->pointer_size, false);
        out->dst = pointer ? put_prefixed(dst, pointer) : PUT(dst, "(nil)");
        break;
    default:
        out->dst = put_int(dst, type, position);
        break;
    }
}

/* Shows a value whose type storages_bound_of() has checked. */
static void storages_show_value(struct storage_text *out, uint32_t id, struct text name,
                                struct storage_position position)
{
    struct btf_type type;

    storages_put_indent(out);
    if (name.length) {
        out->dst = escape_text(PUT(out->dst, "."), name.data, name.length, NULL);
        out->dst = PUT(out->dst, " = ");
    }
    if (!out->in_array) {
        char *end = c_declaration_put(PUT(out->dst, "("), out->btf, id);
        if (end)
            out->dst = PUT(end, ")");
    }
    if (btf_resolve(out->btf, id, &type))
        show_content(out, &type, position);
    storages_put_end(out);
}

/* --- Storages --------------------------------------------------------------------------------- */

static const struct bpf_values *find_values(const struct ss_layout *layout, uint64_t map)
{
    for (size_t i = 0; i < layout->map_count; i++)
        if (layout->maps[i].map == map)
            return &layout->maps[i];
    return NULL;
}

/* Shows a value by its type, or in hex if its type is unknown. */
static char *storages_put_value(char *dst, struct ss_row *row, uint64_t map, struct text value)
{
    const struct bpf_values *values = find_values(row->layout, map);
    struct storage_text out = {.row = row, .dst = dst};

    if (values && storages_bound_of(values, value)) {
        out.btf = &values->btf;
        storages_show_value(&out, values->type, (struct text){"", 0},
                            (struct storage_position){value.data, 0, 0});
        return ss_more(row, out.dst);
    }
    dst = row->layout->one_line ? PUT(dst, " 0x") : PUT(dst, "\t\t0x");
    for (size_t i = 0; i < value.length; i++) {
        if (i % HEX_PIECE == 0)
            dst = ss_more(row, dst);
        dst = put_hex_byte(dst, (uint8_t)value.data[i]);
    }
    return ss_more(row, dst);
}

char *ss_put_storages(char *dst, struct ss_row *row)
{
    const bool one_line = row->layout->one_line;
    struct text rest = row->record->socket.storages, storage;
    uint64_t map;
    uint16_t type;

    if (!ss_has(row, SOCKET_STORAGES))
        return dst;
    while (nested_next(&rest, &type, &storage)) {
        if (type != STORAGE || !nested_number(storage, STORAGE_MAP_ID, &map))
            continue;
        dst = text_u64(PUT(ss_break(row, ss_more(row, dst)), "map_id:"), map);
        dst = one_line ? dst : PUT(dst, " [\n");
        dst = storages_put_value(dst, row, map, nested_find(storage, STORAGE_MAP_VALUE));
        if (!one_line)
            dst = PUT(dst, "\n\t]");
    }
    return dst;
}

size_t ss_storages_bound(const struct ss_layout *layout, struct text storages)
{
    struct text storage, value;
    size_t sum = 0;
    uint64_t map;
    uint16_t type;

    while (nested_next(&storages, &type, &storage)) {
        const struct bpf_values *values;
        if (type != STORAGE || !nested_number(storage, STORAGE_MAP_ID, &map))
            continue;
        values = find_values(layout, map);
        value = nested_find(storage, STORAGE_MAP_VALUE);
        sum += 32 + (values ? storages_bound_of(values, value) : 0);
    }
    return sum;
}
