/* SPDX-License-Identifier: MIT */
/* How much of the network's resources is used: sockets, memory, entries of tables. */
#ifndef FASTNET_RECORD_SUMMARY_H
#define FASTNET_RECORD_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/kind.h"
#include "fastnet/text.h"

struct record;

extern const struct kind kind_summary;

/* A row has either a value and perhaps its limit, or these in bytes. */
#define SUMMARY_VALUE       (UINT64_C(1) << 0)
#define SUMMARY_LIMIT       (UINT64_C(1) << 1)
#define SUMMARY_BYTES       (UINT64_C(1) << 2)
#define SUMMARY_LIMIT_BYTES (UINT64_C(1) << 3)
#define SUMMARY_PRESSURE    (UINT64_C(1) << 4) /* pressure_bytes */
#define SUMMARY_SYSCTL      (UINT64_C(1) << 5)

struct summary_record {
    struct text subject; /* "tcp", "unix", "frag6", "files" */
    struct text name;    /* what of it: "sockets", "TIME_WAIT", "memory" */
    struct text sysctl;  /* that sets the limit, as sysctl(8) names it */
    uint64_t value, limit;
    uint64_t bytes, limit_bytes;
    uint64_t pressure_bytes; /* from so many bytes on, the kernel gives sockets less memory */
    bool machine;            /* of all network namespaces together, not of this one alone */
};

/*
 * Thousandths of a percent of the limit that are used, in *thousandths. Returns false if one of the
 * two is unknown, or the limit is 0.
 */
bool summary_percent(const struct record *record, uint64_t *thousandths);

/* So much of a limit, in thousandths of a percent, is close to it, and all of it. */
enum { SUMMARY_CLOSE = 90 * 1000, SUMMARY_ALL = 100 * 1000 };

#endif
