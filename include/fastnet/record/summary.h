/* SPDX-License-Identifier: MIT */
/* How much of the network's resources is in use: sockets, memory, entries of tables. */
#ifndef FASTNET_RECORD_SUMMARY_H
#define FASTNET_RECORD_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/kind.h"
#include "fastnet/text.h"

struct record;

extern const struct kind kind_summary;

/* A row has a value and maybe its limit, or memory in bytes with its limits. */
#define SUMMARY_VALUE       (UINT64_C(1) << 0)
#define SUMMARY_LIMIT       (UINT64_C(1) << 1)
#define SUMMARY_BYTES       (UINT64_C(1) << 2)
#define SUMMARY_LIMIT_BYTES (UINT64_C(1) << 3)
#define SUMMARY_PRESSURE    (UINT64_C(1) << 4) /* pressure_bytes */
#define SUMMARY_SYSCTL      (UINT64_C(1) << 5)

struct summary_record {
    struct text subject; /* "tcp", "unix", "frag6", "files" */
    struct text name;    /* the counted resource: "sockets", "TIME_WAIT", "memory" */
    struct text sysctl;  /* sysctl(8) that sets the limit */
    uint64_t value, limit;
    uint64_t bytes, limit_bytes;
    uint64_t
        pressure_bytes; /* from this number of bytes on, the kernel gives sockets less memory */
    bool machine;       /* the value is about all network namespaces together */
    bool unnamed;       /* these sockets were not looked for among the descriptors of processes */
};

/* Sets *thousandths to the used part of the limit in thousandths of a percent. Returns false if the
 * value or the limit is unknown, or the limit is 0. */
bool summary_percent(const struct record *record, uint64_t *thousandths);

/* Values of summary_percent(): from SUMMARY_CLOSE on a number is close to its limit; at SUMMARY_ALL
 * it has reached the limit. */
enum { SUMMARY_CLOSE = 90 * 1000, SUMMARY_ALL = 100 * 1000 };

#endif
