/* SPDX-License-Identifier: MIT */
/* Packets that bytes describe, the rows that they may be counted in, and expressions about these.
 */
#ifndef FUZZ_MADE_PACKET_H
#define FUZZ_MADE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "fastnet/record.h"
#include "kernel_filter.h"

enum { MADE_PACKET_MAX = 160, MADE_TEXT_MAX = 1024 };

struct made_packet {
    uint8_t bytes[MADE_PACKET_MAX];
    struct kernel_packet packet; /* points to the bytes */
    struct record record;
    bool certain; /* the packet says all that the record does */
};

/* What is packed, one byte each; numbers stand for the values of a few lists. */
void made_packet_init(struct made_packet *made, struct bytes *bytes);

/* An expression of --where; *judged: packets tell all that it is about. */
void made_packet_where(char text[MADE_TEXT_MAX], struct bytes *bytes, bool *judged);

#endif
