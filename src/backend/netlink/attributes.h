/* SPDX-License-Identifier: MIT */
/* Netlink attributes (struct nlattr, linux/netlink.h) and their decoder. A table of targets says
 * into which member each type of attribute goes; attributes_decode() follows it. The length is
 * always checked before the content. If an attribute is malformed or too short, nothing is taken
 * from it, and the record lacks its field. The cursor is inline: flows have thirty attributes. */
#ifndef BACKEND_NETLINK_ATTRIBUTES_H
#define BACKEND_NETLINK_ATTRIBUTES_H

#include <endian.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fastnet/address.h"
#include "fastnet/array.h"
#include "fastnet/record.h"

/* --- The cursor ------------------------------------------------------------------------------- */

struct attributes {
    const char *at;
    ptrdiff_t left; /* bytes; negative if the last attribute has no padding */
};

struct attribute {
    unsigned type; /* without its flags (NLA_F_NESTED and others) */
    struct text content;
};

struct decoding {
    void *object;   /* the struct whose members are set, such as a struct record */
    uint64_t has;   /* presence bits of the values that were stored */
    uint8_t family; /* the family of the message, and of its addresses */
    bool malformed; /* something was not a valid attribute */
};

/* Returns the header (size bytes) of the message, and sets *attributes to the bytes that follow it;
 * NULL if the message is shorter. nlmsg_len bytes must be in memory. */
static inline const void *message_header(const struct nlmsghdr *message, size_t size,
                                         struct attributes *attributes)
{
    const char *start = (const char *)message;
    const size_t before = NLMSG_HDRLEN + NLMSG_ALIGN(size);

    if (message->nlmsg_len < before)
        return NULL;
    *attributes = (struct attributes){start + before, (ptrdiff_t)(message->nlmsg_len - before)};
    return start + NLMSG_HDRLEN;
}

/* Takes the next attribute. Returns false at the end, or if the rest is not a valid attribute. */
static inline bool attributes_next(struct decoding *decoding, struct attributes *attributes,
                                   struct attribute *attribute)
{
    const char *at = attributes->at;
    struct nlattr header;
    ptrdiff_t taken;

    if (attributes->left < (ptrdiff_t)sizeof header) {
        decoding->malformed |= attributes->left > 0;
        return false;
    }
    memcpy(&header, at, sizeof header);
    attribute->type = header.nla_type & (unsigned)NLA_TYPE_MASK;
    attribute->content.data = at + sizeof header; /* NLA_HDRLEN is not more */
    attribute->content.length = header.nla_len - sizeof header;
    if (header.nla_len < sizeof header || header.nla_len > attributes->left) {
        decoding->malformed = true;
        return false;
    }
    taken = NLA_ALIGN(header.nla_len);
    attributes->at = at + taken;
    attributes->left -= taken;
    return true;
}

static inline struct attributes attribute_nested(struct text content)
{
    return (struct attributes){content.data, (ptrdiff_t)content.length};
}

/* --- Values: each function returns false if the content is too short -------------------------- */

static inline bool attribute_bytes(struct text content, void *value, size_t size)
{
    if (content.length < size)
        return false;
    memcpy(value, content.data, size);
    return true;
}

static inline bool attribute_u8(struct text content, uint8_t *value)
{
    return attribute_bytes(content, value, sizeof *value);
}

static inline bool attribute_u32(struct text content, uint32_t *value)
{
    return attribute_bytes(content, value, sizeof *value);
}

static inline bool attribute_be16(struct text content, uint16_t *value)
{
    if (!attribute_bytes(content, value, sizeof *value))
        return false;
    *value = be16toh(*value);
    return true;
}

static inline bool attribute_be32(struct text content, uint32_t *value)
{
    if (!attribute_bytes(content, value, sizeof *value))
        return false;
    *value = be32toh(*value);
    return true;
}

static inline bool attribute_be64(struct text content, uint64_t *value)
{
    if (!attribute_bytes(content, value, sizeof *value))
        return false;
    *value = be64toh(*value);
    return true;
}

/* Returns false if the length is not that of the family's addresses. */
static inline bool attribute_address(struct text content, uint8_t family, struct address *address)
{
    if (content.length != (family == AF_INET ? 4 : 16))
        return false;
    *address = (struct address){.family = family};
    if (family == AF_INET)
        memcpy(address->bytes, content.data, 4);
    else
        memcpy(address->bytes, content.data, 16);
    return true;
}

/* Returns false if the content is longer than any MAC address (MAX_ADDR_LEN, linux/netdevice.h). */
static inline bool attribute_lladdr(struct text content, uint8_t bytes[LLADDR_MAX], uint8_t *length)
{
    if (content.length > LLADDR_MAX)
        return false;
    memcpy(bytes, content.data, content.length);
    *length = (uint8_t)content.length;
    return true;
}

/* --- Tables ----------------------------------------------------------------------------------- */

enum target_form {
    TARGET_NONE, /* the attribute is ignored */
    TARGET_U8,   /* numbers in host byte order */
    TARGET_U16,
    TARGET_U32,
    TARGET_U64,
    TARGET_UINT, /* a uint64_t from nla_put_uint(): 4 or 8 bytes */
    TARGET_BE16, /* numbers in network byte order */
    TARGET_BE32,
    TARGET_BE64,
    TARGET_U32_TO_U8, /* a number of 32 bits, for a member of another width */
    TARGET_U32_TO_U16,
    TARGET_U32_TO_U64,
    TARGET_STRING,  /* a struct text: up to the first NUL, or else the whole content */
    TARGET_BYTES,   /* a struct text: the whole content */
    TARGET_ADDRESS, /* an address of the message's family */
    TARGET_NEST,    /* nested attributes, with a table of their own */
    TARGET_NEST_BY, /* nested attributes that a function decodes */
    TARGET_BY,      /* content that a function decodes */
};

struct targets {
    const struct target *by_type;
    size_t count;
};

/* Where the content of one type of attribute goes. */
struct target {
    uint64_t bit;    /* set in decoding.has if the value was stored */
    uint16_t offset; /* bytes from the start of the object to the member */
    uint8_t form;    /* enum target_form */
    union {
        const struct targets *nested;
        /* Both return true if they stored a value. */
        bool (*take_nested)(struct decoding *decoding, struct attributes nested, void *member);
        bool (*take)(struct text content, void *member);
    };
};

/* clang-format off */

/* Macros for writing tables: [IFLA_MTU] = TAKE(interface.mtu, INTERFACE_MTU). The target's form
 * follows from the type of the member. The member is in struct record, or in `of`. */
#define TAKE(path, bits)          TAKE_INTO(struct record, path, bits)
#define TAKE_INTO(of, path, bits) TARGET(of, path, bits, TARGET_FORM(of, path))
#define TAKE_U32(path, bits)      TARGET(struct record, path, bits, TARGET_FORM_U32(path))
#define TAKE_UINT(path, bits)     TARGET(struct record, path, bits, TARGET_UINT)
#define TAKE_BE(path, bits)       TARGET(struct record, path, bits, TARGET_FORM_BE(path))
#define TAKE_BYTES(path, bits)    TAKE_BYTES_INTO(struct record, path, bits)
#define TAKE_BYTES_INTO(of, path, bits) TARGET(of, path, bits, TARGET_BYTES)
#define TAKE_BY(function, path, bits)                                                              \
    TARGET(struct record, path, bits, TARGET_BY, .take = (function))
#define TAKE_NEST(table)          {.form = TARGET_NEST, .nested = &(const struct targets)TARGETS(table)}
#define TAKE_NEST_BY(function, path, bits)                                                         \
    TARGET(struct record, path, bits, TARGET_NEST_BY, .take_nested = (function))

#define TARGETS(table) {table, COUNT(table)}
#define TARGET(of, path, bits, of_form, ...)                                                       \
    {.bit = (bits), .offset = offsetof(of, path), .form = (of_form), __VA_ARGS__}
#define TARGET_FORM(of, path)                                                                      \
    _Generic(&((of *)NULL)->path,                                                                  \
        uint8_t *: TARGET_U8,                                                                      \
        uint16_t *: TARGET_U16,                                                                    \
        uint32_t *: TARGET_U32,                                                                    \
        int32_t *: TARGET_U32,                                                                     \
        uint64_t *: TARGET_U64,                                                                    \
        struct text *: TARGET_STRING,                                                              \
        struct address *: TARGET_ADDRESS)
#define TARGET_FORM_U32(path)                                                                      \
    _Generic(&((struct record *)NULL)->path,                                                       \
        uint8_t *: TARGET_U32_TO_U8,                                                               \
        uint16_t *: TARGET_U32_TO_U16,                                                             \
        uint64_t *: TARGET_U32_TO_U64)
#define TARGET_FORM_BE(path)                                                                       \
    _Generic(&((struct record *)NULL)->path,                                                       \
        uint16_t *: TARGET_BE16,                                                                   \
        uint32_t *: TARGET_BE32,                                                                   \
        uint64_t *: TARGET_BE64)

/* clang-format on */

/* Decodes attributes into decoding->object. Types without a target are ignored. */
void attributes_decode(struct decoding *decoding, struct attributes attributes,
                       struct targets targets);

#endif
