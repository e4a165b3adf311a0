/* SPDX-License-Identifier: MIT */
/* BTF: C types as the kernel describes them (the kernel's Documentation/bpf/btf.rst). Every user
 * that may load BPF programs can choose the bytes of a BTF, so no function here trusts them. */
#ifndef FASTNET_BTF_H
#define FASTNET_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/text.h"

/* The BTF_KIND_* numbers of linux/btf.h, which old headers do not have completely. */
enum btf_kind {
    BTF_VOID, /* type 0 */
    BTF_INT,
    BTF_POINTER,
    BTF_ARRAY,
    BTF_STRUCT,
    BTF_UNION,
    BTF_ENUM,
    BTF_FORWARD, /* a struct or union whose members are not described */
    BTF_TYPEDEF,
    BTF_VOLATILE,
    BTF_CONST,
    BTF_RESTRICT,
    BTF_FUNCTION,
    BTF_PROTOTYPE,
    BTF_VARIABLE,
    BTF_SECTION,
    BTF_FLOAT,
    BTF_DECL_TAG,
    BTF_TYPE_TAG,
    BTF_ENUM64,
    BTF_KINDS
};

/* BTF_DEPTH_MAX limits chains of typedefs, qualifiers and arrays, and the depth of nested structs;
 * the kernel has the same limit (MAX_RESOLVE_DEPTH of kernel/bpf/btf.c). */
enum { BTF_DEPTH_MAX = 32, BTF_NAME_MAX = 511 /* KSYM_NAME_LEN - 1 of linux/kallsyms.h */ };

/* The largest BTF that is accepted. A kernel's BTF has 5 to 10 MB. */
enum { BTF_BYTES_MAX = 64 * 1024 * 1024 };

/* The types that btf_init() found. btf_finish() frees `offsets` and `found`. Copies share both. */
struct btf {
    struct text types, names; /* sections of the bytes given to btf_init(), borrowed */
    uint32_t *offsets;        /* where each type begins in `types`, from type 1 on */
    struct btf_found *found;  /* results of btf_find() */
    size_t count;
    size_t pointer_size; /* bytes of a pointer: 4 in the types of a 32-bit kernel, otherwise 8 */
};

/* A type. It borrows from struct btf. */
struct btf_type {
    struct text name; /* may be empty; not escaped */
    enum btf_kind kind;
    bool flag;        /* struct: members may be bit fields; enum: signed; BTF_FORWARD: a union */
    uint32_t count;   /* number of members, enumerators or parameters */
    uint32_t size;    /* bytes of an int, float, enum, struct or union */
    uint32_t type;    /* number of the type that this type points to, qualifies, names or returns */
    const char *rest; /* further data; its form depends on the kind */
};

struct btf_array {
    uint32_t type, count; /* type of an element, number of elements */
};

struct btf_member {
    struct text name;
    uint32_t type;
    uint32_t offset; /* bits from the beginning of the struct */
    unsigned bits;   /* width of a bit field; 0: not a bit field */
};

struct btf_enumerator {
    struct text name;
    uint64_t value; /* sign-extended to 64 bits */
};

struct btf_parameter {
    struct text name;
    uint32_t type;
};

/* Finds all types in `bytes`, which must live as long as `btf`. Returns 0, -ENOMEM, or -EINVAL if
 * the bytes are not BTF, have another byte order, or have unknown kinds of types. */
int btf_init(struct btf *btf, struct text bytes);
void btf_finish(struct btf *btf);

/* Reads type number `id`. Returns false if it is missing, or has a name that is too long. */
bool btf_type(const struct btf *btf, uint32_t id, struct btf_type *type);

/* Reads type number `id`; for typedefs and qualifiers, the type that they lead to. Returns false as
 * btf_type(), or if more than BTF_DEPTH_MAX of these follow each other. */
bool btf_resolve(const struct btf *btf, uint32_t id, struct btf_type *type);

/* Returns the number of the first type with this kind and name; 0 if it is missing. Compares with
 * every type, so it is slow. */
uint32_t btf_find(const struct btf *btf, enum btf_kind kind, const char *name);

/* True if the type is const, volatile, restrict, or a type tag. */
bool btf_is_qualifier(const struct btf_type *type);

/* True if the integer type is signed. */
bool btf_is_signed(const struct btf_type *type);

/* Reads the element type and the length of an array type. */
struct btf_array btf_array(const struct btf_type *type);

/* Read part `i` of a type, from 0 to type->count - 1. Return false if the name is missing or too
 * long. */
bool btf_member(const struct btf *btf, const struct btf_type *type, uint32_t i,
                struct btf_member *member);
bool btf_enumerator(const struct btf *btf, const struct btf_type *type, uint32_t i,
                    struct btf_enumerator *enumerator);
bool btf_parameter(const struct btf *btf, const struct btf_type *type, uint32_t i,
                   struct btf_parameter *parameter);

/* Finds a member of struct or union `id` by its name, also inside of unnamed structs and unions.
 * member->offset counts from the beginning of type `id`. Returns false if no member has this
 * name. */
bool btf_find_member(const struct btf *btf, uint32_t id, const char *name,
                     struct btf_member *member);

/* Sets *size to the bytes of a value of type `id`. Returns false if the type has no size, or it is
 * too large. */
bool btf_size(const struct btf *btf, uint32_t id, size_t *size);

#endif
