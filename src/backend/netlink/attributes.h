/*
 * A cursor over netlink attributes (struct nlattr, linux/netlink.h): length before content, nothing
 * that is malformed is handed out. Inline, for a flow has thirty of them.
 */
#ifndef BACKEND_NETLINK_ATTRIBUTES_H
#define BACKEND_NETLINK_ATTRIBUTES_H

#include <endian.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fastnet/address.h"

struct attributes {
    const char *at, *end;
};

struct attribute {
    unsigned type; /* without the flags */
    const char *data;
    size_t length;
};

/* Takes the next one; false at the end, or where what is left is no attribute. */
static inline bool attributes_next(struct attributes *attributes, struct attribute *attribute)
{
    const size_t left = (size_t)(attributes->end - attributes->at);
    struct nlattr header;
    size_t taken;

    if (left < sizeof header)
        return false;
    memcpy(&header, attributes->at, sizeof header);
    if (header.nla_len < sizeof header || header.nla_len > left)
        return false;
    attribute->type = header.nla_type & (unsigned)NLA_TYPE_MASK;
    attribute->data = attributes->at + sizeof header; /* NLA_HDRLEN: it is aligned */
    attribute->length = header.nla_len - sizeof header;
    taken = (header.nla_len + (size_t)NLA_ALIGNTO - 1) & ~((size_t)NLA_ALIGNTO - 1);
    attributes->at += taken < left ? taken : left;
    return true;
}

/* Whether all there was has been taken. */
static inline bool attributes_ended(const struct attributes *attributes)
{
    return attributes->at == attributes->end;
}

/* What is nested in one. */
static inline struct attributes attribute_nested(const struct attribute *attribute)
{
    return (struct attributes){attribute->data, attribute->data + attribute->length};
}

/* Each of these takes a number, and says whether the attribute is long enough for it. */

static inline bool attribute_u8(const struct attribute *attribute, uint8_t *value)
{
    if (attribute->length < sizeof *value)
        return false;
    memcpy(value, attribute->data, sizeof *value);
    return true;
}

static inline bool attribute_be16(const struct attribute *attribute, uint16_t *value)
{
    if (attribute->length < sizeof *value)
        return false;
    memcpy(value, attribute->data, sizeof *value);
    *value = be16toh(*value);
    return true;
}

static inline bool attribute_be32(const struct attribute *attribute, uint32_t *value)
{
    if (attribute->length < sizeof *value)
        return false;
    memcpy(value, attribute->data, sizeof *value);
    *value = be32toh(*value);
    return true;
}

static inline bool attribute_be64(const struct attribute *attribute, uint64_t *value)
{
    if (attribute->length < sizeof *value)
        return false;
    memcpy(value, attribute->data, sizeof *value);
    *value = be64toh(*value);
    return true;
}

static inline bool attribute_bytes(const struct attribute *attribute, void *value, size_t size)
{
    if (attribute->length < size)
        return false;
    memcpy(value, attribute->data, size);
    return true;
}

/* An address of another length than its family's is none. */
static inline bool attribute_address(const struct attribute *attribute, uint8_t family,
                                     struct address *address)
{
    if (attribute->length != (family == AF_INET ? 4 : 16))
        return false;
    *address = address_make(family, attribute->data);
    return true;
}

#endif
