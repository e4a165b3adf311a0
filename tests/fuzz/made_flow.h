/* A filter of flows, and a flow, that an input describes. */
#ifndef FUZZ_MADE_FLOW_H
#define FUZZ_MADE_FLOW_H

#include "bytes.h"
#include "fastnet/array.h"
#include "fastnet/flow_filter.h"

/* Where a member of struct flow_filter is, and its bytes. */
#define FILTER(member) offsetof(struct flow_filter, member)
#define SIZE(member)   sizeof(((struct flow_filter *)0)->member)

/* Members that do not count are 0, as those of a command line are. */
struct flow_filter made_filter(struct bytes *bytes);

/*
 * A flow as the kernel may have it. It has what the filter asks for, but where the input says
 * otherwise.
 */
struct record made_flow(struct bytes *bytes, const struct flow_filter *filter);

#endif
