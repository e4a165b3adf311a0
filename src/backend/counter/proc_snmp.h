/* The lines of /proc/net/snmp, netstat, snmp6 and sctp/snmp, for the dump and for tests. */
#ifndef BACKEND_COUNTER_PROC_SNMP_H
#define BACKEND_COUNTER_PROC_SNMP_H

#include "backend/proc/lines.h"
#include "backend/proc/scan.h"
#include "fastnet/query.h"

enum {
    SNMP_NAMES_MAX = 4096,  /* counters of a protocol; the kernel has some 150 */
    SNMP_PROTOCOL_MAX = 64, /* bytes of a protocol's name in front of a counter's */
};

/* The two lines of a protocol, "Tcp: InSegs OutSegs" and "Tcp: 12 7". */
struct snmp_block {
    struct text protocol;
    struct scan names, values;
    bool first;
};

/*
 * Returns 0, or -EBADMSG: one is cut, they are not of one protocol, or there are not as many
 * values as names. The block borrows from both lines.
 */
int snmp_block_init(struct snmp_block *block, const struct line *names, const struct line *values);

/*
 * Returns 1 with the next counter, 0 at the end, or -EBADMSG for one whose value is no number or
 * does not fit; the next call goes on behind it.
 */
int snmp_block_next(struct snmp_block *block, struct record *record);

/* A line of a name and a value; the protocol is left to the caller. Returns 0 or -EBADMSG. */
int snmp_pair_decode(const struct line *line, struct record *record);

/* What is before and with the first '6' in a name of snmp6, as "Icmp6" in "Icmp6InType1". */
struct text snmp_protocol_of(struct text name);

#endif
