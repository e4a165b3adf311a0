/* SPDX-License-Identifier: MIT */
/* What the program counted, as a row, and the names of reasons. */
#ifndef PROBES_DROP_DROP_DECODE_H
#define PROBES_DROP_DROP_DECODE_H

#include "fastnet/drop_probe.h"
#include "probes/drop/drop_program.h"

/* The headers are any bytes: a packet is dropped where one is wrong, too. Sets no reason. */
void drop_decode(const struct drop_key *key, const struct drop_seen *seen, struct drop *drop);

/* The names of a kernel's reasons, without what all begin with. */
struct drop_names {
    struct drop_name {
        uint32_t number;
        char name[60];
    } * list;
    size_t count, capacity;
};

/*
 * Adds the enumerators of a type, of which some are no reasons. Those of a subsystem have its
 * number in their upper half. Returns 0 or -ENOMEM.
 */
int drop_names_add(struct drop_names *names, const struct btf *btf, uint32_t id, bool of_subsystem);

#endif
