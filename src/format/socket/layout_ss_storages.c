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
    BYTE_TEXT_MAX = 4,   /* -128, or '\0' with its quotes */
    REAL_TEXT_MAX = 320, /* DBL_MAX with six decimals */
    TEXT_MOST =
        4 * 1024 * 1024, /* bytes of text for a value; the kernel sends at most 64 KiB of it */
    STEPS_MOST = 64 * 1024,
};

/* Follows the type of a value to its end, before the value is shown. This finds types that contain
 * themselves or are nested too deeply, so the functions that show a value need not check for
 * them. */
struct measure {
    const struct btf *btf;
    size_t steps; /* steps left: unions of unions can need endless work */
    unsigned depth;
    bool in_array;
};

static size_t measure_value(struct measure *measure, uint32_t id, size_t name_length);

/* Each measure function returns an upper bound for the bytes of text; 0: the type cannot be
 * shown. */
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
    size_t most = NUMBER_TEXT_MAX;

    for (uint32_t i = 0; i < type->count; i++) {
        if (!btf_enumerator(measure->btf, type, i, &enumerator))
            return 0;
        if (most < ESCAPE_FACTOR * enumerator.name.length)
            most = ESCAPE_FACTOR * enumerator.name.length;
    }
    return measure_number(type) ? most : 0;
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
    return length && array.count <= TEXT_MOST / length ? length * array.count + 1 : 0;
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
        if (!length || sum > TEXT_MOST)
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
    /* tabs before the value and before its closing bracket, brackets, comma and newline */
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

/* Returns an upper bound for the text of a value; 0 if its type is unknown or does not fit its
 * size. */
static size_t storages_bound_of(const struct bpf_values *values, struct text value)
{
    struct measure measure = {.btf = &values->btf, .steps = STEPS_MOST};
    size_t size;

    if (!btf_size(&values->btf, values->type, &size) || size != value.length)
        return 0;
    return measure_value(&measure, values->type, 0);
}

/* --- Values ----------------------------------------------------------------------------------- */

struct shown {
    struct ss_row *row;
    const struct btf *btf;
    char *dst;
    unsigned depth;
    bool in_array; /* elements of an array are shown without their type */
};

/* Where a value is: its bytes, and for a bit field its bits. */
struct storage_position {
    const char *bytes;
    unsigned bit,
        bits; /* bit field: its first bit (0 to 7) and number of bits; bits 0: no bit field */
};

static void storages_show_value(struct shown *shown, uint32_t id, struct text name,
                                struct storage_position place);

static void storages_put_indent(struct shown *shown)
{
    shown->dst = ss_more(shown->row, shown->dst);
    if (!shown->row->layout->one_line)
        for (unsigned i = 0; i < INDENT + shown->depth; i++)
            *shown->dst++ = '\t';
}

static void storages_put_end(struct shown *shown)
{
    if (shown->depth)
        *shown->dst++ = ',';
    if (shown->depth && !shown->row->layout->one_line)
        *shown->dst++ = '\n';
}

static void open_bracket(struct shown *shown, char bracket)
{
    *shown->dst++ = bracket;
    if (!shown->row->layout->one_line)
        *shown->dst++ = '\n';
    shown->depth++;
}

static void close_bracket(struct shown *shown, char bracket)
{
    shown->depth--;
    storages_put_indent(shown);
    *shown->dst++ = bracket;
}

/* Returns the number of a bit field. Bit 0 is the lowest bit of the first byte on a little-endian
 * machine, and the highest on a big-endian machine. */
static uint64_t bits_at(struct storage_position place)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < place.bits; i++) {
        const bool little = __BYTE_ORDER == __LITTLE_ENDIAN;
        const unsigned bit = place.bit + (little ? place.bits - 1 - i : i);
        const unsigned shift = little ? bit % 8 : 7 - bit % 8;
        number = number << 1 | ((uint8_t)place.bytes[bit / 8] >> shift & 1);
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

static char *put_int(char *dst, const struct btf_type *type, struct storage_position place)
{
    if (place.bits)
        return put_prefixed(dst, bits_at(place));
    if (type->size > sizeof(uint64_t))
        return storages_put_wide(dst, place.bytes);
    return storages_put_number(dst, number_at(place.bytes, type->size, btf_is_signed(type)),
                               btf_is_signed(type));
}

static char *put_enum(char *dst, const struct btf *btf, const struct btf_type *type,
                      struct storage_position place)
{
    const uint64_t number =
        place.bits ? bits_at(place) : number_at(place.bytes, type->size, type->flag);
    struct btf_enumerator enumerator;

    for (uint32_t i = 0; i < type->count; i++)
        if (btf_enumerator(btf, type, i, &enumerator) && enumerator.value == number)
            return escape_text(dst, enumerator.name.data, enumerator.name.length, NULL);
    dst = storages_put_number(dst, number, type->flag);
    if (type->kind == BTF_ENUM)
        return dst;
    return type->flag ? PUT(dst, "LL") : PUT(dst, "ULL");
}

/* Writes a float or double as printf(3) does. BPF programs cannot calculate with them, so they are
 * rare. */
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

/* Shows a character of a string, or the number of an invisible byte. Returns false at the end of
 * the string. */
static bool show_character(struct shown *shown, const struct btf_type *type, const char *byte)
{
    storages_put_indent(shown);
    if (*byte == '\0')
        shown->dst = PUT(shown->dst, "'\\0'");
    else if (*byte >= ' ' && *byte < 0x7f) {
        *shown->dst++ = '\'';
        *shown->dst++ = *byte;
        *shown->dst++ = '\'';
    } else
        shown->dst = put_int(shown->dst, type, (struct storage_position){byte, 0, 0});
    storages_put_end(shown);
    return *byte;
}

static void show_array(struct shown *shown, const struct btf_type *type, const char *bytes)
{
    const struct btf_array array = btf_array(type);
    const bool in_array = shown->in_array;
    struct btf_type element;
    bool characters, more = true;
    size_t size = 0;

    btf_resolve(shown->btf, array.type, &element);
    btf_size(shown->btf, array.type, &size);
    characters = element.kind == BTF_INT && size == 1;
    open_bracket(shown, '[');
    shown->in_array = true;
    for (uint32_t i = 0; i < array.count && more; i++, bytes += size)
        if (characters)
            more = show_character(shown, &element, bytes);
        else
            storages_show_value(shown, array.type, (struct text){"", 0},
                                (struct storage_position){bytes, 0, 0});
    shown->in_array = in_array;
    close_bracket(shown, ']');
}

static void show_struct(struct shown *shown, const struct btf_type *type, const char *bytes)
{
    struct btf_member member;

    open_bracket(shown, '{');
    for (uint32_t i = 0; i < type->count; i++)
        if (btf_member(shown->btf, type, i, &member))
            storages_show_value(shown, member.type, member.name,
                                (struct storage_position){bytes + member.offset / 8,
                                                          member.offset % 8, member.bits});
    close_bracket(shown, '}');
}

static void show_content(struct shown *shown, const struct btf_type *type,
                         struct storage_position place)
{
    char *dst = ss_more(shown->row, shown->dst);
    uint64_t pointer;

    shown->dst = dst;
    switch (type->kind) {
    case BTF_ARRAY:
        show_array(shown, type, place.bytes);
        break;
    case BTF_STRUCT:
    case BTF_UNION:
        show_struct(shown, type, place.bytes);
        break;
    case BTF_ENUM:
    case BTF_ENUM64:
        shown->dst = put_enum(dst, shown->btf, type, place);
        break;
    case BTF_FLOAT:
        shown->dst = put_real(dst, type->size, place.bytes);
        break;
    case BTF_POINTER:
        pointer = number_at(place.bytes, shown->btf->pointer_size, false);
        shown->dst = pointer ? put_prefixed(dst, pointer) : PUT(dst, "(nil)");
        break;
    default:
        shown->dst = put_int(dst, type, place);
        break;
    }
}

/* Shows a value whose type storages_bound_of() has checked. */
static void storages_show_value(struct shown *shown, uint32_t id, struct text name,
                                struct storage_position place)
{
    struct btf_type type;

    storages_put_indent(shown);
    if (name.length) {
        shown->dst = escape_text(PUT(shown->dst, "."), name.data, name.length, NULL);
        shown->dst = PUT(shown->dst, " = ");
    }
    if (!shown->in_array) {
        char *end = c_declaration_put(PUT(shown->dst, "("), shown->btf, id);
        if (end)
            shown->dst = PUT(end, ")");
    }
    if (btf_resolve(shown->btf, id, &type))
        show_content(shown, &type, place);
    storages_put_end(shown);
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
    struct shown shown = {.row = row, .dst = dst};

    if (values && storages_bound_of(values, value)) {
        shown.btf = &values->btf;
        storages_show_value(&shown, values->type, (struct text){"", 0},
                            (struct storage_position){value.data, 0, 0});
        return ss_more(row, shown.dst);
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
