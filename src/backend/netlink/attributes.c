/* SPDX-License-Identifier: MIT */
#include "backend/netlink/attributes.h"

static bool take_u32(struct text content, const struct target *target, void *member)
{
    uint32_t number;

    if (!attribute_u32(content, &number))
        return false;
    if (target->form == TARGET_U32_TO_U8)
        *(uint8_t *)member = (uint8_t)number;
    else if (target->form == TARGET_U32_TO_U16)
        *(uint16_t *)member = (uint16_t)number;
    else
        *(uint64_t *)member = number;
    return true;
}

static inline bool attributes_take(struct decoding *decoding, struct text content,
                                   const struct target *target)
{
    void *member = (char *)decoding->object + target->offset;

    switch ((enum target_form)target->form) {
    case TARGET_NONE:
        break;
    case TARGET_U8:
        return attribute_bytes(content, member, 1);
    case TARGET_U16:
        return attribute_bytes(content, member, 2);
    case TARGET_U32:
        return attribute_bytes(content, member, 4);
    case TARGET_U64:
        return attribute_bytes(content, member, 8);
    case TARGET_UINT:
        if (content.length != sizeof(uint32_t) && content.length != sizeof(uint64_t))
            return false;
        *(uint64_t *)member = bytes_number(content.data, content.length);
        return true;
    case TARGET_BE16:
        return attribute_be16(content, member);
    case TARGET_BE32:
        return attribute_be32(content, member);
    case TARGET_BE64:
        return attribute_be64(content, member);
    case TARGET_U32_TO_U8:
    case TARGET_U32_TO_U16:
    case TARGET_U32_TO_U64:
        return take_u32(content, target, member);
    case TARGET_STRING:
        content.length = strnlen(content.data, content.length);
        *(struct text *)member = content;
        return true;
    case TARGET_BYTES:
        *(struct text *)member = content;
        return true;
    case TARGET_ADDRESS:
        return attribute_address(content, decoding->family, member);
    case TARGET_NEST:
        attributes_decode(decoding, attribute_nested(content), *target->nested);
        break;
    case TARGET_NEST_BY:
        return target->take_nested(decoding, attribute_nested(content), member);
    case TARGET_BY:
        return target->take(content, member);
    }
    return false;
}

void attributes_decode(struct decoding *decoding, struct attributes attributes,
                       struct targets targets)
{
    struct attribute attribute;
    uint64_t has = 0;

    while (attributes_next(decoding, &attributes, &attribute))
        if (attribute.type < targets.count &&
            attributes_take(decoding, attribute.content, &targets.by_type[attribute.type]))
            has |= targets.by_type[attribute.type].bit;
    decoding->has |= has;
}
