/* SPDX-License-Identifier: MIT */
/* BTF (the kernel's Documentation/bpf/btf.rst) that a test makes. */
#ifndef HELPERS_MADE_BTF_H
#define HELPERS_MADE_BTF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MADE_WORDS_MAX = 1024, MADE_NAMES_MAX = 4096, MADE_BTF_MAX = 24 + 4 * 1024 + 4096 };

/* All zeroes before the first type. */
struct made_btf {
    uint32_t words[MADE_WORDS_MAX];
    size_t word_count;
    char names[MADE_NAMES_MAX];
    size_t names_length;
    uint32_t types;
};

static inline void made_word(struct made_btf *made, uint32_t word)
{
    made->words[made->word_count++] = word;
}

static inline uint32_t made_name(struct made_btf *made, const char *name)
{
    uint32_t at;

    made->names_length += !made->names_length; /* the first name is empty */
    if (!*name)
        return 0;
    at = (uint32_t)made->names_length;
    memcpy(made->names + at, name, strlen(name) + 1);
    made->names_length += strlen(name) + 1;
    return at;
}

/* size_or_type is that of struct btf_type in linux/btf.h. Returns the number of the type. */
static inline uint32_t made_type(struct made_btf *made, const char *name, uint32_t kind,
                                 uint32_t count, uint32_t size_or_type)
{
    made_word(made, made_name(made, name));
    made_word(made, kind << 24 | count);
    made_word(made, size_or_type);
    return ++made->types;
}

/* As made_type(), with kind_flag. */
static inline uint32_t made_flagged(struct made_btf *made, const char *name, uint32_t kind,
                                    uint32_t count, uint32_t size_or_type)
{
    return made_type(made, name, 0x80 | kind, count, size_or_type);
}

/* BTF_INT_* of linux/btf.h. */
enum { MADE_SIGNED = 1, MADE_CHAR = 2, MADE_BOOL = 4 };

static inline uint32_t made_int(struct made_btf *made, const char *name, uint32_t size,
                                uint32_t encoding)
{
    const uint32_t id = made_type(made, name, 1, 0, size);

    made_word(made, encoding << 24 | size * 8);
    return id;
}

static inline uint32_t made_array(struct made_btf *made, uint32_t type, uint32_t index,
                                  uint32_t count)
{
    const uint32_t id = made_type(made, "", 3, 0, 0);

    made_word(made, type);
    made_word(made, index);
    made_word(made, count);
    return id;
}

/* offset: in bits, with the bits of a bit field << 24 in a flagged struct. */
static inline void made_member(struct made_btf *made, const char *name, uint32_t type,
                               uint32_t offset)
{
    made_word(made, made_name(made, name));
    made_word(made, type);
    made_word(made, offset);
}

/* An enumerator, or a parameter with its type. */
static inline void made_pair(struct made_btf *made, const char *name, uint32_t value)
{
    made_word(made, made_name(made, name));
    made_word(made, value);
}

/* Returns the length. */
static inline size_t made_bytes(const struct made_btf *made, char dst[MADE_BTF_MAX])
{
    const uint32_t size = 4 * (uint32_t)made->word_count, names = (uint32_t)made->names_length;
    const uint16_t magic = 0xeb9f;
    const uint32_t rest[] = {24, 0, size, size, names};

    memcpy(dst, &magic, sizeof magic);
    memcpy(dst + 2, "\1", 2); /* version, flags */
    memcpy(dst + 4, rest, sizeof rest);
    memcpy(dst + 24, made->words, size);
    memcpy(dst + 24 + size, made->names, names);
    return 24 + (size_t)size + names;
}

#endif
