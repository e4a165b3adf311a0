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
    SNMP_PROTOCOL_MAX = 64, /* bytes of a protocol's name at the start of a counter's name */
};

/* A protocol and its counters: from two lines, "Tcp: InSegs OutSegs" and "Tcp: 12 7", or from one
 * line of sockstat, "UDP: inuse 3 mem 0", where each value follows its name. */
struct snmp_block {
    struct text protocol;
    struct scan names, values;
    bool one_line;
    bool first;
};

/* Returns 0, or -EBADMSG if a line is cut, if the lines have different protocols, or if the numbers
 * of names and values differ. The block borrows from both lines. */
int snmp_block_init(struct snmp_block *block, const struct line *names, const struct line *values);

/* As snmp_block_init(), for a line of sockstat. -EBADMSG: the line is cut, or lacks a value. */
int sockstat_block_init(struct snmp_block *block, const struct line *line);

/* Returns 1 with the next counter, 0 at the end, or -EBADMSG for a value that is not a number or is
 * too large; the next call continues after this value. */
int snmp_block_next(struct snmp_block *block, struct record *record);

/* Decodes a line of a name and a value, without the protocol. Returns 0 or -EBADMSG. */
int snmp_pair_decode(const struct line *line, struct record *record);

/* Returns the protocol in a name of snmp6, up to the first '6': "Icmp6" for "Icmp6InType1". */
struct text snmp_protocol_of(struct text name);

/* The counters of one CPU, a line of softnet_stat (softnet_seq_show() of net/core/net-procfs.c). */
enum { SOFTNET_COUNTERS = 5, SOFTNET_NAME_SIZE = 24 };
struct softnet {
    char name[SOFTNET_NAME_SIZE]; /* "Cpu7" */
    uint32_t values[SOFTNET_COUNTERS];
    size_t count; /* number of values: older kernels have fewer */
};

/* number: the line's number, from 1. Before Linux 5.10 a line does not name its CPU. Then `number`
 * counts CPUs, which is wrong after a CPU that is not in use. Returns 0 or -EBADMSG. */
int softnet_decode(const struct line *line, size_t number, struct softnet *softnet);

/* Makes the row of counter i (below softnet->count). The row borrows the name from softnet. */
void softnet_row(const struct softnet *softnet, size_t i, struct record *record);

#endif
