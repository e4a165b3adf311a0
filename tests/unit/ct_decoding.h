/* SPDX-License-Identifier: MIT */
/* What tests of ctnetlink's decoders share: a flow with everything, and what comes of it. */
#ifndef UNIT_CT_DECODING_H
#define UNIT_CT_DECODING_H

#include <stddef.h>
#include <stdint.h>

#include "ct_messages.h"
#include "fastnet/record.h"

enum { CT_TEXT_MAX = 256, CT_TYPE_MAX = 0x3fff };

/* What a message is decoded as. */
enum ct_kind {
    CT_FLOW,
    CT_EXPECTATION,
    CT_STATISTICS,
    CT_EXPECTATION_STATISTICS,
    CT_USAGE,
    CT_KINDS
};

/* What came of a message; the texts of the record died with it, these are copies. */
struct ct_decoded {
    int result;
    struct record record;
    char helper[CT_TEXT_MAX], secctx[CT_TEXT_MAX];
    size_t helper_length, secctx_length;
};

/* Decodes the message begun last, from memory that ends where it does. */
struct ct_decoded ct_decode(enum ct_kind kind, struct wire *wire);
/* The first bytes of a message, with the length that they have. */
struct ct_decoded ct_decode_first(enum ct_kind kind, const struct nlmsghdr *message, size_t length);

void ct_assert_tuple(const struct flow_tuple *tuple, const struct flow_tuple *expected);

/* A wire that holds nothing but the beginning of one flow. */
void ct_begin_flow(struct wire *wire, uint8_t family);

/* The original tuple of the flow with everything; of both tuples, and of the original's zone. */
struct flow_tuple ct_tcp(void);
void ct_put_orig(struct wire *wire);
void ct_put_orig_zone(struct wire *wire);

/* A text in an attribute that is nested in another. */
void ct_put_text(struct wire *wire, uint16_t type, uint16_t inner, const char *text, size_t size);

/* A flow with everything but what the bits in without are for. Returns what it has. */
uint64_t ct_put_all_but(struct wire *wire, uint64_t without);

/* Attributes that are a number of 32 bits, as the flow with everything has them. */
struct ct_number {
    uint64_t bit;
    size_t offset; /* in struct flow_record */
    uint32_t value;
    uint16_t type;
};

enum { CT_NUMBERS = 6 };
extern const struct ct_number ct_numbers[CT_NUMBERS];

extern const char ct_context[33]; /* of SELinux */

#endif
