/* SPDX-License-Identifier: MIT */
/* Findings: what is wrong with this machine's network, and how that is known. */
#ifndef FASTNET_RECORD_FINDING_H
#define FASTNET_RECORD_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/kind.h"
#include "fastnet/text.h"

extern const struct kind kind_finding;

/* Rule, severity, subject, summary, evidence, advice, command and source are always there. */
#define FINDING_VALUE   (UINT64_C(1) << 0)
#define FINDING_LIMIT   (UINT64_C(1) << 1)
#define FINDING_MOVED   (UINT64_C(1) << 2)
#define FINDING_PROCESS (UINT64_C(1) << 3) /* process and pid */

enum severity {
    SEVERITY_PAST,    /* it has happened since the machine was started, but does not happen now */
    SEVERITY_WARNING, /* close to a limit; or other machines are the cause */
    SEVERITY_FAULT,   /* it happens now: something is lost or refused */
    SEVERITIES
};

/* "past", "warning" or "fault"; NULL for any other number. */
const char *severity_name(uint64_t severity);

struct finding_record {
    uint8_t severity;
    bool machine; /* it is about the whole machine, not about this network namespace alone */
    uint32_t pid;
    uint64_t value, limit; /* what was compared; the rule says what they count */
    uint64_t moved;        /* by how much its counter grew between the readings */
    struct text rule;      /* the name of the rule (doctor.h) */
    struct text subject;   /* where it is: an address and port, an interface, a table */
    struct text process;   /* the name of the process, as the kernel has it */
    struct text summary;   /* a sentence without a full stop */
    struct text evidence;  /* numbers, counters, rows; parted by "; " */
    struct text advice;    /* what to change */
    struct text command;   /* a command line that shows more */
    struct text source;    /* its sources */
};

#endif
