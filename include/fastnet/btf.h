/* SPDX-License-Identifier: MIT */
/*
 * Types of C as the kernel describes them: BTF (the kernel's Documentation/bpf/btf.rst). Anybody
 * who may load a BPF program chooses these bytes, so each function expects any bytes.
 */
#ifndef FASTNET_BTF_H
#define FASTNET_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/text.h"

/* BTF_KIND_* of linux/btf.h: old headers do not have all of them. */
enum btf_kind {
    BTF_VOID, /* the type 0 */
    BTF_INT,
    BTF_POINTER,
    BTF_ARRAY,
    BTF_STRUCT,
    BTF_UNION,
    BTF_ENUM,
    BTF_FORWARD, /* a struct or union without its members */
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

/* How long a chain of typedefs, qualifiers and arrays may be, and how deep structs may be nested;
 * the kernel takes no more (MAX_RESOLVE_DEPTH of kernel/bpf/btf.c). */
enum { BTF_DEPTH_MAX = 32, BTF_NAME_MAX = 511 /* KSYM_NAME_LEN - 1 */ };

/* A description that is larger is not read. That of a kernel has 5 to 10 MB. */
enum { BTF_BYTES_MAX = 64 * 1024 * 1024 };

struct btf {
    struct text types, names; /* borrowed */
    uint32_t *offsets;        /* of each type in these bytes, from type 1 on */
    size_t count;
    size_t pointer_size; /* 8 bytes, also for BPF programs; 4 for a kernel of 32 bits */
};

struct btf_type {
    struct text name; /* may be empty; not escaped */
    enum btf_kind kind;
    bool flag;      /* a struct: members may be bit fields; an enum: signed; BTF_FORWARD: a union */
    uint32_t count; /* of members, enumerators or parameters */
    uint32_t size;  /* bytes, of an int, float, enum, struct or union */
    uint32_t type;  /* that it points to, qualifies, names or returns */
    const char *rest; /* all that depends on the kind */
};

struct btf_array {
    uint32_t type, count; /* of its elements */
};

struct btf_member {
    struct text name;
    uint32_t type;
    uint32_t offset; /* in bits */
    unsigned bits;   /* of a bit field, else 0 */
};

struct btf_enumerator {
    struct text name;
    uint64_t value; /* with its sign extended */
};

struct btf_parameter {
    struct text name;
    uint32_t type;
};

/*
 * Finds all types in these bytes, which must live as long as btf. Returns 0, -ENOMEM, or -EINVAL:
 * no BTF, of another byte order, or with kinds of types that are not known.
 */
int btf_init(struct btf *btf, struct text bytes);
void btf_finish(struct btf *btf);

/* A type by its number. Returns false if there is none, or if its name is missing or too long. */
bool btf_type(const struct btf *btf, uint32_t id, struct btf_type *type);

/* The same behind typedefs and qualifiers, except chains that are too long. */
bool btf_resolve(const struct btf *btf, uint32_t id, struct btf_type *type);

/* The first type of this kind and name; 0 if there is none. It takes one step for each type. */
uint32_t btf_find(const struct btf *btf, enum btf_kind kind, const char *name);

/* True if the type is const, volatile, restrict, or tagged. */
bool btf_is_qualifier(const struct btf_type *type);

/* True if the integer is signed. */
bool btf_is_signed(const struct btf_type *type);

struct btf_array btf_array(const struct btf_type *type);

/* Parts of a type, from 0 to type->count - 1. Return false if a name is missing or too long. */
bool btf_member(const struct btf *btf, const struct btf_type *type, uint32_t i,
                struct btf_member *member);
bool btf_enumerator(const struct btf *btf, const struct btf_type *type, uint32_t i,
                    struct btf_enumerator *enumerator);
bool btf_parameter(const struct btf *btf, const struct btf_type *type, uint32_t i,
                   struct btf_parameter *parameter);

/*
 * A member by its name, with its offset from the beginning of the type: also one of a struct or
 * union that has no name in it. Returns false if there is none.
 */
bool btf_find_member(const struct btf *btf, uint32_t id, const char *name,
                     struct btf_member *member);

/* Finds the size of a value of this type. Returns false if there is none, or it is too large. */
bool btf_size(const struct btf *btf, uint32_t id, size_t *size);

#endif
