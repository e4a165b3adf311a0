/* SPDX-License-Identifier: MIT */
/* Attributes within an attribute (struct nlattr of linux/netlink.h), in bytes of a record. */
#ifndef MODEL_SOCKET_NESTED_H
#define MODEL_SOCKET_NESTED_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <string.h>

#include "fastnet/text.h"

/* Removes the first attribute from *rest. Returns false at the end, or if the attribute is cut
 * off. */
static inline bool nested_next(struct text *rest, uint16_t *type, struct text *payload)
{
    struct nlattr header;
    size_t whole;

    if (rest->length < sizeof header)
        return false;
    memcpy(&header, rest->data, sizeof header);
    if (header.nla_len < sizeof header || header.nla_len > rest->length)
        return false;
    *type = header.nla_type & (uint16_t)NLA_TYPE_MASK;
    *payload = (struct text){rest->data + sizeof header, header.nla_len - sizeof header};
    whole = (size_t)NLA_ALIGN(header.nla_len);
    if (whole > rest->length)
        whole = rest->length; /* the last attribute has no padding */
    *rest = (struct text){rest->data + whole, rest->length - whole};
    return true;
}

/* Returns the payload of the first attribute of a type; data is NULL if the type is missing. */
static inline struct text nested_find(struct text attributes, uint16_t type)
{
    struct text payload;
    uint16_t found;

    while (nested_next(&attributes, &found, &payload))
        if (found == type)
            return payload;
    return (struct text){NULL, 0};
}

/* Reads a number of 1, 2, 4 or 8 bytes in native byte order. */
static inline bool nested_number(struct text attributes, uint16_t type, uint64_t *number)
{
    const struct text payload = nested_find(attributes, type);
    const size_t size = payload.length;

    if (!payload.data || !size || size > sizeof *number || size & (size - 1))
        return false;
    *number = bytes_number(payload.data, size);
    return true;
}

#endif
