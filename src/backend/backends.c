/* SPDX-License-Identifier: MIT */
#include "fastnet/array.h"
#include "fastnet/query.h"

const struct backend *const backends[] = {
    &backend_socket_pass,
    &backend_sock_diag,
    &backend_unix,
    &backend_references,
    &backend_proc_net,
    &backend_proc_packet,
    &backend_proc_netlink,
    &backend_ctnetlink,
    &backend_proc_conntrack,
    &backend_neighbour,
    &backend_proc_arp,
    &backend_neighbour_usage,
    &backend_proc_neighbour_usage,
    &backend_proc_snmp,
    &backend_proc_softnet,
    &backend_proc_igmp,
    &backend_route,
    &backend_proc_route,
    &backend_link,
    &backend_proc_dev,
    &backend_queues,
    &backend_qdiscs,
    &backend_diag_file,
    &backend_socket_events,
    &backend_socket_trace,
    &backend_socket_states,
    &backend_held_sockets,
    &backend_made,
    &backend_drops,
    &backend_why,
    &backend_traffic,
    &backend_summary,
    &backend_proc_summary,
};
const size_t backend_count = COUNT(backends);

uint64_t backends_fields(const struct table *table)
{
    uint64_t all = 0;

    for (size_t i = 0; i < backend_count; i++)
        all |= backend_fields(backends[i], table);
    return all;
}
