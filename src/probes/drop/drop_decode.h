/* SPDX-License-Identifier: MIT */
/* Makes rows from the counts of the BPF program, and collects names of drop reasons. */
#ifndef PROBES_DROP_DROP_DECODE_H
#define PROBES_DROP_DROP_DECODE_H

#include "fastnet/drop_probe.h"
#include "probes/drop/drop_program.h"

/* Fills `drop`, except its reason. The headers can be any bytes: malformed packets are dropped,
 * too. */
void drop_decode(const struct drop_key *key, const struct drop_seen *seen, struct drop *drop);

/* The names of a kernel's drop reasons, without their common prefix. */
struct drop_names {
    struct drop_name {
        uint32_t number;
        char name[60];
    } * list;
    size_t count, capacity;
};

/* Adds the enumerators of type `id` that are drop reasons. of_subsystem: reasons of a subsystem,
 * which have its number in their upper half. Returns 0 or -ENOMEM. */
int drop_names_add(struct drop_names *names, const struct btf *btf, uint32_t id, bool of_subsystem);

#endif
