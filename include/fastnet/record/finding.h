/* SPDX-License-Identifier: MIT */
/* Findings of the doctor: a problem of this machine's network, and the evidence. */
#ifndef FASTNET_RECORD_FINDING_H
#define FASTNET_RECORD_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/kind.h"
#include "fastnet/text.h"

extern const struct kind kind_finding;

/* Rule, severity, subject, summary, evidence, advice, command and source are always known. */
#define FINDING_VALUE   (UINT64_C(1) << 0)
#define FINDING_LIMIT   (UINT64_C(1) << 1)
#define FINDING_MOVED   (UINT64_C(1) << 2)
#define FINDING_PROCESS (UINT64_C(1) << 3) /* process and pid */

enum severity {
    SEVERITY_PAST,    /* happened since the machine started, but not now */
    SEVERITY_WARNING, /* close to a limit, or caused by other machines */
    SEVERITY_FAULT,   /* packets or connections are lost or refused now */
    SEVERITIES
};

/* "past", "warning" or "fault"; NULL for any other number. */
const char *severity_name(uint64_t severity);

struct finding_record {
    uint8_t severity;
    bool machine; /* the finding is about the whole machine, not about one network namespace */
    uint32_t pid;
    uint64_t value, limit; /* the compared numbers; the rule says which these are */
    uint64_t moved;        /* growth of the rule's counter between the two samples */
    struct text rule;      /* name of the rule (doctor.h) */
    struct text subject;   /* an address and port, an interface, a table */
    struct text process;   /* the kernel's name of the process (comm) */
    struct text summary;   /* a sentence without a full stop */
    struct text evidence;  /* numbers, counters, rows; separated by "; " */
    struct text advice;    /* what to change */
    struct text command;   /* a command line that shows more */
    struct text source;    /* the files and tables that the evidence is from */
};

#endif
