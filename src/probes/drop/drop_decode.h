/* SPDX-License-Identifier: MIT */
/* Makes rows from the counts of the BPF program, and collects names of drop reasons. */
#ifndef PROBES_DROP_DROP_DECODE_H
#define PROBES_DROP_DROP_DECODE_H

#include "fastnet/attempt_probe.h"
#include "fastnet/drop_probe.h"
#include "probes/drop/drop_program.h"

/* Fills `drop`, except its reason and cookie. The headers can be any bytes: malformed packets are
 * dropped, too. */
void drop_decode(const struct drop_key *key, const struct drop_seen *seen, struct drop *drop);

/* Fills `event`, except its reason, from a slot of a program with a filter. */
void attempt_decode(const struct drop_slot *slot, struct attempt_event *event);

/* The names of a kernel's reasons for drops or resets, without their common prefix. */
struct drop_names {
    struct drop_name {
        uint32_t number;
        char name[60];
    } * list;
    size_t count, capacity;
};

enum drop_names_of {
    SKB_DROP_REASONS,  /* the prefix is SKB_DROP_REASON_ */
    SUBSYSTEM_REASONS, /* no prefix; the upper half of the number is that of the subsystem */
    RESET_REASONS,     /* the prefix is SK_RST_REASON_ */
};

/* Adds the enumerators of type `id` that are such reasons. Returns 0 or -ENOMEM. */
int drop_names_add(struct drop_names *names, const struct btf *btf, uint32_t id,
                   enum drop_names_of which);

/* Returns the name of a reason, or NULL. */
const char *drop_names_find(const struct drop_names *names, uint32_t number);

#endif
