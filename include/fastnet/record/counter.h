/* SPDX-License-Identifier: MIT */
/* Counters of the protocols. */
#ifndef FASTNET_RECORD_COUNTER_H
#define FASTNET_RECORD_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "fastnet/kind.h"
#include "fastnet/text.h"

extern const struct kind kind_counter;

/* Counters of a protocol: /proc/net/snmp, sockstat and similar files. */
#define COUNTER_PROTOCOL (UINT64_C(1) << 0)
#define COUNTER_NAME     (UINT64_C(1) << 1)
#define COUNTER_VALUE    (UINT64_C(1) << 2) /* magnitude and negative */
/* The value only grows; without this bit it is a state or a limit (RFC 4293, 4022, 3873). */
#define COUNTER_GROWS (UINT64_C(1) << 3)
#define COUNTER_SCOPE (UINT64_C(1) << 4) /* machine is known */

struct counter_record {
    struct text protocol; /* "Tcp", "TcpExt", "Ip6" */
    struct text name;     /* as in the file; in IPv6 and SCTP it begins with the protocol */
    uint64_t magnitude;
    bool negative; /* the value is -magnitude, e.g. a limit of -1: no limit (MaxConn) */
    bool machine;  /* the value is about all network namespaces together */
    bool first;    /* the first counter after a heading, or of a protocol without headings */
};

#endif
