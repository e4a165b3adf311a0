/* SPDX-License-Identifier: MIT */
/* Decoders for lines of /proc/net/snmp, netstat, snmp6, sctp/snmp, sockstat and softnet_stat. */
#ifndef BACKEND_COUNTER_DECODE_H
#define BACKEND_COUNTER_DECODE_H

#include <stdint.h>

#include "backend/proc/lines.h"
#include "backend/proc/scan.h"
#include "fastnet/query.h"

enum {
    SNMP_NAMES_MAX = 4096,  /* counters of a protocol; the kernel has some 150 */
    SNMP_PROTOCOL_MAX = 64, /* bytes of a protocol's name that begins the name of a counter */
};

/*
 * The two lines of a protocol, "Tcp: InSegs OutSegs" and "Tcp: 12 7"; or the one line that sockstat
 * has, "UDP: inuse 3 mem 0": then each value stands behind its name.
 */
struct snmp_block {
    struct text protocol;
    struct scan names, values;
    bool one_line;
    bool first;
};

/*
 * Returns 0, or -EBADMSG if one line is cut, if they belong to two protocols, or if there are not
 * as many values as names. The block borrows from both lines.
 */
int snmp_block_init(struct snmp_block *block, const struct line *names, const struct line *values);

/* The same for a line of sockstat: -EBADMSG if it is cut, or if its last name has no value. */
int sockstat_block_init(struct snmp_block *block, const struct line *line);

/*
 * Returns 1 with the next counter, 0 at the end, or -EBADMSG for a counter whose value is no number
 * or does not fit; the next call goes on behind it.
 */
int snmp_block_next(struct snmp_block *block, struct record *record);

/* Decodes a line of a name and a value, without the protocol. Returns 0 or -EBADMSG. */
int snmp_pair_decode(const struct line *line, struct record *record);

/* Returns a name of snmp6 up to its first '6': "Icmp6" of "Icmp6InType1". */
struct text snmp_protocol_of(struct text name);

/* A line of the file: the counters of a processor (softnet_seq_show() of net/core/net-procfs.c). */
enum { SOFTNET_COUNTERS = 5, SOFTNET_NAME_SIZE = 24 };
struct softnet {
    char name[SOFTNET_NAME_SIZE]; /* "Cpu7" */
    uint32_t values[SOFTNET_COUNTERS];
    size_t count; /* how many of them this kernel has */
};

/*
 * number: of the line, the first is 1. Kernels before 5.10 do not say which processor a line is of:
 * then it is taken from the number, which is wrong behind a processor that is not in use. Returns 0
 * or -EBADMSG.
 */
int softnet_decode(const struct line *line, size_t number, struct softnet *softnet);

/* Makes the row of one counter (below softnet->count), which borrows its protocol from softnet. */
void softnet_row(const struct softnet *softnet, size_t i, struct record *record);

#endif
