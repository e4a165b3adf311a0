/* The decoders of netfilter's files in /proc/net, apart from the files that bring them. */
#ifndef BACKEND_FLOW_PROC_CONNTRACK_H
#define BACKEND_FLOW_PROC_CONNTRACK_H

#include "fastnet/query.h"

struct line;

/*
 * Fill the record from one line of PROC_ROOT/net/nf_conntrack (ct_seq_show() of the kernel's
 * nf_conntrack_standalone.c) or nf_conntrack_expect (exp_seq_show(), nf_conntrack_expect.c).
 * Return 0, or -EBADMSG when the line is not of that form, in which case nothing of the record may
 * be used. Words that nobody knows are passed over. The record borrows its texts from the line.
 *
 * What the file says otherwise than ctnetlink, or not at all:
 * - status: of a flow in the table IPS_CONFIRMED is sure, IPS_SEEN_REPLY by the lack of
 *   [UNREPLIED], the bits of NAT by how the two tuples differ, IPS_ASSURED, IPS_OFFLOAD and
 *   IPS_HW_OFFLOAD where they are named (of the three the file names but one). The other bits are
 *   0 for want of knowledge.
 * - use: without the reference that reading the line takes itself.
 * - zone: absent when it is 0, as in ctnetlink, though the file has it.
 * - start: absent. The file has whole seconds since then, counted from when the kernel wrote that
 *   piece of it: every listing would tell another start, and a captured tree a wrong one.
 * - helper, labels, id, SCTP's tags, DCCP's role; of an expectation mask, master, zone and class:
 *   not in the file. Nor is therefore an expectation's identity: two of them may look alike.
 */
int proc_conntrack_decode_flow(const struct line *line, struct record *record);
int proc_conntrack_decode_expectation(const struct line *line, struct record *record);

#endif
