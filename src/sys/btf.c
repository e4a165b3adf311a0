/* SPDX-License-Identifier: MIT */
#include "fastnet/btf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"

/* Format: linux/btf.h. A type is three words of 32 bits, and further words that depend on its
 * kind. */
enum { MAGIC = 0xeb9f, VERSION = 1, WORD = sizeof(uint32_t), TYPE_SIZE = 3 * WORD };

struct btf_header {
    uint16_t magic;
    uint8_t version[2]; /* version, flags */
    uint32_t length;
    uint32_t types_offset, types_length; /* offset from the end of the header */
    uint32_t names_offset, names_length;
};

static uint32_t btf_word_at(const char *bytes, size_t i)
{
    uint32_t word;

    memcpy(&word, bytes + i * WORD, sizeof word);
    return word;
}

/* Several probes search the same names, and each search reads megabytes. */
struct btf_found {
    uint32_t types[64];
    size_t count;
    size_t name; /* offset of the name that was found last */
};

/* --- The index -------------------------------------------------------------------------------- */

static bool take_section(struct text *section, struct text bytes, uint32_t offset, uint32_t length)
{
    if (offset > bytes.length || length > bytes.length - offset)
        return false;
    *section = (struct text){bytes.data + offset, length};
    return true;
}

/* The string section begins with an empty name, and each name ends with a NUL byte. */
static bool take_sections(struct btf *btf, struct text bytes)
{
    struct btf_header header;

    if (bytes.length < sizeof header)
        return false;
    memcpy(&header, bytes.data, sizeof header);
    if (header.magic != MAGIC || header.version[0] != VERSION || header.length < sizeof header ||
        header.length > bytes.length)
        return false;
    bytes = (struct text){bytes.data + header.length, bytes.length - header.length};
    return take_section(&btf->types, bytes, header.types_offset, header.types_length) &&
           take_section(&btf->names, bytes, header.names_offset, header.names_length) &&
           btf->names.length && !btf->names.data[0] && !btf->names.data[btf->names.length - 1];
}

static enum btf_kind kind_of(uint32_t info)
{
    return (enum btf_kind)(info >> 24 & 0x7f);
}

/* Returns vlen. Up to Linux 7.1 at least, vlen has 16 bits, and the next 8 bits are zeroes. */
static uint32_t count_of(uint32_t info)
{
    return info & 0xffffff;
}

/* Returns the size of the type in bytes; 0 for an unknown kind. */
static size_t length_of(uint32_t info)
{
    static const struct {
        uint8_t fixed, each; /* words after the first three; words of each member */
    } words[BTF_KINDS] = {
        [BTF_INT] = {1, 0},      [BTF_ARRAY] = {3, 0},   [BTF_STRUCT] = {0, 3},
        [BTF_UNION] = {0, 3},    [BTF_ENUM] = {0, 2},    [BTF_PROTOTYPE] = {0, 2},
        [BTF_VARIABLE] = {1, 0}, [BTF_SECTION] = {0, 3}, [BTF_DECL_TAG] = {1, 0},
        [BTF_ENUM64] = {0, 3},
    };
    const enum btf_kind kind = kind_of(info);

    if (kind == BTF_VOID || kind >= BTF_KINDS)
        return 0;
    return TYPE_SIZE + WORD * (words[kind].fixed + words[kind].each * (size_t)count_of(info));
}

static int find_types(struct btf *btf)
{
    size_t capacity = 0, length;

    for (size_t at = 0; at < btf->types.length; at += length) {
        const size_t left = btf->types.length - at;
        uint32_t *offsets;
        if (left < TYPE_SIZE)
            return -EINVAL;
        length = length_of(btf_word_at(btf->types.data + at, 1));
        if (!length || length > left)
            return -EINVAL;
        offsets = array_with_room(btf->offsets, &capacity, btf->count + 1, sizeof *offsets);
        if (!offsets)
            return -ENOMEM;
        btf->offsets = offsets;
        offsets[btf->count++] = (uint32_t)at;
    }
    return 0;
}

int btf_init(struct btf *btf, struct text bytes)
{
    struct btf_type word;
    uint32_t id;
    int status;

    *btf = (struct btf){.count = 0};
    status = take_sections(btf, bytes) ? find_types(btf) : -EINVAL;
    btf->found = status < 0 ? NULL : calloc(1, sizeof *btf->found);
    if (status == 0 && !btf->found)
        status = -ENOMEM;
    if (status < 0) {
        btf_finish(btf);
        return status;
    }
    id = btf_find(btf, BTF_INT, "long unsigned int"); /* every kernel has it in its own types */
    btf->pointer_size = btf_type(btf, id, &word) && word.size == 4 ? 4 : 8;
    return 0;
}

void btf_finish(struct btf *btf)
{
    if (!btf)
        return;
    free(btf->offsets);
    free(btf->found);
    *btf = (struct btf){.count = 0};
}

/* --- Types ------------------------------------------------------------------------------------ */

static bool btf_take_name(const struct btf *btf, uint32_t offset, struct text *name)
{
    if (offset >= btf->names.length)
        return false;
    name->data = btf->names.data + offset;
    name->length = strnlen(name->data, BTF_NAME_MAX + 1);
    return name->length <= BTF_NAME_MAX;
}

bool btf_type(const struct btf *btf, uint32_t id, struct btf_type *type)
{
    const char *bytes;
    uint32_t info;

    *type = (struct btf_type){.kind = BTF_VOID, .name = {"", 0}};
    if (!id || id > btf->count)
        return !id;
    bytes = btf->types.data + btf->offsets[id - 1];
    info = btf_word_at(bytes, 1);
    *type = (struct btf_type){
        .kind = kind_of(info),
        .flag = info >> 31,
        .count = count_of(info),
        .size = btf_word_at(bytes, 2),
        .type = btf_word_at(bytes, 2),
        .rest = bytes + TYPE_SIZE,
    };
    return btf_take_name(btf, btf_word_at(bytes, 0), &type->name);
}

bool btf_is_qualifier(const struct btf_type *type)
{
    return type->kind == BTF_VOLATILE || type->kind == BTF_CONST || type->kind == BTF_RESTRICT ||
           type->kind == BTF_TYPE_TAG;
}

bool btf_resolve(const struct btf *btf, uint32_t id, struct btf_type *type)
{
    for (unsigned depth = 0; depth < BTF_DEPTH_MAX; depth++) {
        if (!btf_type(btf, id, type))
            return false;
        if (type->kind != BTF_TYPEDEF && !btf_is_qualifier(type))
            return true;
        id = type->type;
    }
    return false;
}

/* Searches the string section first: it contains each name once. */
static uint32_t btf_find_again(const struct btf *btf, enum btf_kind kind, const char *name)
{
    const struct btf_found *found = btf->found;
    struct btf_type type;

    for (size_t i = 0; i < found->count; i++)
        if (btf_type(btf, found->types[i], &type) && type.kind == kind && text_is(type.name, name))
            return found->types[i];
    return 0;
}

/* Returns the offset of a name; 0: there is no such name. First searches beside the last name that
 * was found: names of one source file follow each other. */
static uint32_t btf_find_name(const struct btf *btf, const char *name, size_t length)
{
    enum { NEAR = 4096 };
    char whole[BTF_NAME_MAX + 2] = ""; /* the name with the NUL bytes around it */
    const char *const names = btf->names.data;
    const size_t left = btf->names.length - btf->found->name;

    memcpy(whole + 1, name, length + 1);
    const char *at = memmem(names + btf->found->name, left < NEAR ? left : NEAR, whole, length + 2);
    if (!at)
        at = memmem(names, btf->names.length, whole, length + 2);
    return at ? (uint32_t)(at + 1 - names) : 0;
}

uint32_t btf_find(const struct btf *btf, enum btf_kind kind, const char *name)
{
    const size_t length = strlen(name);
    struct btf_found *found = btf->found;

    if (!length || length > BTF_NAME_MAX || !found)
        return 0;
    uint32_t type = btf_find_again(btf, kind, name);
    const uint32_t wanted = type ? 0 : btf_find_name(btf, name, length);
    for (size_t i = 0; wanted && !type && i < btf->count; i++) {
        const char *bytes = btf->types.data + btf->offsets[i];
        if (btf_word_at(bytes, 0) == wanted && kind_of(btf_word_at(bytes, 1)) == kind)
            type = (uint32_t)i + 1;
    }
    if (wanted)
        found->name = wanted - 1;
    if (wanted && type && found->count < COUNT(found->types))
        found->types[found->count++] = type;
    return type;
}

bool btf_is_signed(const struct btf_type *type)
{
    return btf_word_at(type->rest, 0) >> 24 & 1; /* BTF_INT_SIGNED */
}

struct btf_array btf_array(const struct btf_type *type)
{
    /* the word between these two is the type of the index */
    return (struct btf_array){.type = btf_word_at(type->rest, 0),
                              .count = btf_word_at(type->rest, 2)};
}

bool btf_member(const struct btf *btf, const struct btf_type *type, uint32_t i,
                struct btf_member *member)
{
    const char *bytes = type->rest + (size_t)i * 3 * WORD;
    const uint32_t offset = btf_word_at(bytes, 2);

    member->type = btf_word_at(bytes, 1);
    member->offset = type->flag ? offset & 0xffffff : offset;
    member->bits = type->flag ? offset >> 24 : 0;
    return btf_take_name(btf, btf_word_at(bytes, 0), &member->name);
}

/* Members without a name are searched, too. `depth` limits this: hostile types can contain each
 * other. */
struct member_search {
    const char *name;
    unsigned steps, depth;
};

enum { SEARCH_STEPS_MAX = 1 << 16 };

static bool find_member(const struct btf *btf, uint32_t id, struct member_search *search,
                        struct btf_member *member)
{
    struct btf_type type;
    struct btf_member each;

    if (!btf_resolve(btf, id, &type) || (type.kind != BTF_STRUCT && type.kind != BTF_UNION))
        return false;
    for (uint32_t i = 0; i < type.count && search->steps++ < SEARCH_STEPS_MAX; i++) {
        if (!btf_member(btf, &type, i, &each))
            continue;
        if (text_is(each.name, search->name)) {
            *member = each;
            return true;
        }
        if (each.name.length || search->depth == BTF_DEPTH_MAX)
            continue;
        search->depth++;
        const bool found = find_member(btf, each.type, search, member) &&
                           !__builtin_add_overflow(member->offset, each.offset, &member->offset);
        search->depth--;
        if (found)
            return true;
    }
    return false;
}

bool btf_find_member(const struct btf *btf, uint32_t id, const char *name,
                     struct btf_member *member)
{
    struct member_search search = {.name = name};

    return *name && find_member(btf, id, &search, member);
}

bool btf_enumerator(const struct btf *btf, const struct btf_type *type, uint32_t i,
                    struct btf_enumerator *enumerator)
{
    const bool wide = type->kind == BTF_ENUM64;
    const char *bytes = type->rest + (size_t)i * (wide ? 3 : 2) * WORD;
    const uint32_t low = btf_word_at(bytes, 1);

    enumerator->value = low;
    if (wide)
        enumerator->value |= (uint64_t)btf_word_at(bytes, 2) << 32;
    else if (type->flag && low > INT32_MAX)
        enumerator->value |= UINT64_MAX << 32;
    return btf_take_name(btf, btf_word_at(bytes, 0), &enumerator->name);
}

bool btf_parameter(const struct btf *btf, const struct btf_type *type, uint32_t i,
                   struct btf_parameter *parameter)
{
    const char *bytes = type->rest + (size_t)i * 2 * WORD;

    parameter->type = btf_word_at(bytes, 1);
    return btf_take_name(btf, btf_word_at(bytes, 0), &parameter->name);
}

bool btf_size(const struct btf *btf, uint32_t id, size_t *size)
{
    struct btf_type type;
    uint64_t product = 1;

    for (unsigned depth = 0; depth < BTF_DEPTH_MAX && btf_resolve(btf, id, &type); depth++) {
        const enum btf_kind kind = type.kind;
        const bool ends = kind != BTF_ARRAY;
        if (ends && kind != BTF_POINTER && kind != BTF_INT && kind != BTF_FLOAT &&
            kind != BTF_ENUM && kind != BTF_ENUM64 && kind != BTF_STRUCT && kind != BTF_UNION)
            return false;
        product *= !ends                 ? btf_array(&type).count
                   : kind == BTF_POINTER ? btf->pointer_size
                                         : type.size;
        if (product > INT32_MAX)
            return false;
        *size = (size_t)product;
        if (ends)
            return true;
        id = btf_array(&type).type;
    }
    return false;
}
