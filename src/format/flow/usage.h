/* SPDX-License-Identifier: MIT */
/* Figures that are derived from how full the table of flows is. */
#ifndef FORMAT_FLOW_USAGE_H
#define FORMAT_FLOW_USAGE_H

#include "fastnet/record.h"

/* The sysctl that limits the number of entries. */
#define USAGE_SYSCTL "net.netfilter.nf_conntrack_max"

/*
 * The record is a &kind_flow_usage. The first two return thousandths. An entry is in two chains,
 * because it is found by either direction.
 */
uint64_t usage_percent(const struct record *record);       /* maximum is not 0 */
uint64_t usage_average_chain(const struct record *record); /* buckets are not 0 */
uint64_t usage_memory(const struct record *record);        /* bytes: entries and buckets */

#endif
