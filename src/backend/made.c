/* SPDX-License-Identifier: MIT */
/* Tables whose rows are made by the engine's caller (struct maker), not read by a backend. */
#include <errno.h>

#include "fastnet/query.h"
#include "fastnet/rights.h"
#include "probes/packet/packet_filter.h"

/* rights for the tables that the doctor reads */
const struct table table_findings = {
    .name = "findings",
    .kind = &kind_finding,
    .rights =
        1u << RIGHT_OWNERS | 1u << RIGHT_BPF | 1u << RIGHT_NETFILTER | 1u << RIGHT_NETFILTER_FILES,
};

/* rights to see packets, to find their sockets, and to name kernel functions */
const struct table table_drops = {
    .name = "drops",
    .kind = &kind_drop,
    /* RIGHT_BUFFERS: for namespace_own_id() if there is no /proc */
    .rights = 1u << RIGHT_BPF | 1u << RIGHT_OWNERS | 1u << RIGHT_SYMBOLS | 1u << RIGHT_BUFFERS,
};

/* rights to see packets, sockets of all processes, and flows; to enter a network namespace */
const struct table table_steps = {
    .name = "steps",
    .kind = &kind_step,
    .rights = 1u << RIGHT_OWNERS | 1u << RIGHT_BPF | 1u << RIGHT_NETFILTER |
              1u << RIGHT_NETFILTER_FILES | 1u << RIGHT_SYMBOLS | 1u << RIGHT_BUFFERS,
};

/* rights to see packets, and to find their sockets */
const struct table table_traffic = {
    .name = "packets",
    .kind = &kind_traffic,
    .rights = 1u << RIGHT_PACKETS | 1u << RIGHT_OWNERS,
};

static int made_dump(const struct query *query, record_fn fn, void *arg)
{
    return query->maker->make(query->maker->maker, query, fn, arg);
}

const struct backend backend_made = {
    .name = "doctor",
    .source = BACKEND_MADE,
    .provides = PROVIDES(
        {&table_findings, FINDING_VALUE | FINDING_LIMIT | FINDING_MOVED | FINDING_PROCESS}),
    .dump = made_dump,
};

const struct backend backend_drops = {
    .name = "BPF at skb:kfree_skb, and counters",
    .source = BACKEND_MADE,
    .provides = PROVIDES({&table_drops, DROP_FUNCTION | DROP_PROTOCOL | DROP_ADDRESSES |
                                            DROP_PORTS | DROP_INTERFACE | DROP_SOCKET}),
    .dump = made_dump,
};

const struct backend backend_why = {
    .name = "tables and probes",
    .source = BACKEND_MADE,
    .provides = PROVIDES({&table_steps, STEP_PEER | STEP_ADDRESS | STEP_INTERFACE | STEP_SOURCE |
                                            STEP_PROCESS | STEP_NETNS | STEP_TIME | STEP_ENDING |
                                            STEP_ERRNO}),
    .dump = made_dump,
};

static const char *packets_remedy(const struct table *table, int error)
{
    (void)table;
    return error != -EPERM                    ? NULL
           : rights_have(1u << RIGHT_PACKETS) ? REFUSED_IN_SPITE_OF("CAP_NET_RAW")
                                              : RIGHTS_MISSING("CAP_NET_RAW");
}

const struct backend backend_traffic = {
    .name = "AF_PACKET",
    .source = BACKEND_MADE,
    .provides = PROVIDES({&table_traffic, TRAFFIC_ADDRESSES | TRAFFIC_PORTS | TRAFFIC_VLAN |
                                              TRAFFIC_LLADDRS | TRAFFIC_TCP | TRAFFIC_SOCKET |
                                              TRAFFIC_END}),
    .dump = made_dump,
    .explain = packet_filter_explain,
    .remedy = packets_remedy,
};
