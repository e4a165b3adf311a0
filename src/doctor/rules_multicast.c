/* SPDX-License-Identifier: MIT */
/* Multicast packets of a group that a program wants, but that no interface has joined. */
#include "doctor/multicast.h"

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>

#include "doctor/rules.h"
#include "fastnet/array.h"
#include "fastnet/drop_reasons.h"
#include "fastnet/engine.h"
#include "fastnet/kernel_info.h"
#include "fastnet/namespace.h"
#include "fastnet/report.h"

/* The index of lo in each network namespace (LOOPBACK_IFINDEX of the kernel). */
enum { LO = 1 };

/* Fewer packets may have come before a program joined the group, soon after bind(2). */
enum { MULTICAST_LEAST = 3 };

/* The kernel gives no reason for packets of groups that the interface has not joined. A newer
 * kernel may give a reason that this program does not know. Packets on lo come from this machine,
 * from programs that send by all interfaces. */
void multicast_take_drop(struct multicast_arrivals *arrivals, const struct record *record)
{
    const uint64_t known = DROP_PORTS | DROP_PROTOCOL | DROP_INTERFACE;
    const struct drop_record *drop = &record->drop;
    struct multicast_arrival *arrival = arrivals->list;

    if ((record->has & known) != known || !drop->received || drop->protocol != IPPROTO_UDP ||
        drop->interface == LO || !address_is_multicast(&drop->local.address) ||
        (!text_is(drop->reason, "NOT_SPECIFIED") && drop_reason_find(drop->reason, as_text(NULL))))
        return;
    while (arrival < arrivals->list + arrivals->count &&
           (arrival->interface != drop->interface || arrival->group.port != drop->local.port ||
            !address_equal(&arrival->group.address, &drop->local.address)))
        arrival++;
    if (arrival == arrivals->list + MULTICAST_ARRIVALS)
        return;
    if (arrival == arrivals->list + arrivals->count) {
        *arrival = (struct multicast_arrival){
            .group = drop->local, .sender = drop->remote, .interface = drop->interface};
        arrivals->count++;
    }
    arrival->packets += drop->drops;
}

void multicast_take_group(struct multicast_arrivals *arrivals, const struct record *record)
{
    const struct group_record *group = &record->group;

    for (size_t i = 0; i < arrivals->count; i++) {
        struct multicast_arrival *arrival = &arrivals->list[i];
        if (!address_equal(&arrival->group.address, &group->address))
            continue;
        arrival->joined |= group->index != LO;
        arrival->joined_on_lo |= group->index == LO;
    }
}

/* A socket that is bound to an interface, or connected to a peer, gets no packets of others. */
void multicast_take_socket(struct multicast_arrivals *arrivals, const struct record *record)
{
    const struct socket_record *socket = &record->socket;
    const struct address local = address_unmapped(&socket->local.address);

    for (size_t i = 0; i < arrivals->count && socket->inode; i++) {
        struct multicast_arrival *arrival = &arrivals->list[i];
        if (socket->local.port != arrival->group.port || socket->remote.port ||
            (socket->interface && socket->interface != arrival->interface))
            continue;
        if (address_equal(&local, &arrival->group.address)) {
            const bool has_received = record->has & SOCKET_MEMORY && socket_has_received(record);
            *(has_received ? &arrival->paused : &arrival->bound) = socket->inode;
        }
        if (address_is_unspecified(&local) && (local.family == arrival->group.address.family ||
                                               arrival->group.address.family == AF_INET))
            arrival->wildcard = socket->inode;
    }
}

uint64_t multicast_waiting(const struct multicast_arrival *arrival)
{
    if (arrival->joined || arrival->packets < MULTICAST_LEAST)
        return 0;
    if (arrival->bound || !arrival->joined_on_lo)
        return arrival->bound;
    return arrival->paused ? arrival->paused : arrival->wildcard;
}

/* --- The rule --------------------------------------------------------------------------------- */

static int rule_multicast_take(const struct record *record, void *arg)
{
    if (record->kind == &kind_group)
        multicast_take_group(arg, record);
    else if (record->kind == &kind_socket)
        multicast_take_socket(arg, record);
    return 0;
}

/* Reads the groups, then the UDP sockets that are bound to one of the ports. */
static int multicast_read(struct multicast_arrivals *arrivals,
                          const struct examination *examination)
{
    const struct field *port = field_named(&kind_socket, "local_port");
    struct predicate_tree where = {.whole.operation = PREDICATE_OR};
    struct listing_table groups[] = {{.table = &table_groups, .unnamed = true},
                                     {.table = &table_groups6, .unnamed = true}};
    struct listing_table sockets[] = {{.table = &table_udp, .unnamed = true},
                                      {.table = &table_udp6, .unnamed = true}};
    struct listing listing = {
        .needs.fields = GROUP_INTERFACE | GROUP_ADDRESS,
        .proc_root = examination->options->proc_root,
        .tables = groups,
        .table_count = COUNT(groups),
    };
    struct report losses = {.partial = false};
    const int error =
        engine_gather(examination->engine, &listing, rule_multicast_take, arrivals, &losses);

    if (error || losses.partial)
        return error ? error : -ENODATA;
    for (size_t i = 0; i < arrivals->count; i++)
        predicate_tree_add(&where, &where.whole,
                           predicate_number(port, arrivals->list[i].group.port));
    listing.needs.fields =
        SOCKET_ADDRESSES | SOCKET_INODE | SOCKET_INTERFACE | SOCKET_QUEUES | SOCKET_MEMORY;
    listing.tables = sockets;
    listing.where = predicate_of(&where);
    return engine_gather(examination->engine, &listing, rule_multicast_take, arrivals, &losses);
}

static void emit_multicast(struct examination *examination, const struct multicast_arrival *arrival,
                           bool others)
{
    char group[ENDPOINT_TEXT], other[ENDPOINT_TEXT], process[PROCESS_TEXT], command[96];
    char here[IF_NAMESIZE];
    struct finding finding;

    finding_begin(&finding, examination, SEVERITY_WARNING, "%s",
                  endpoint_text(group, &arrival->group));
    process_text(process, examination, &finding, multicast_waiting(arrival));
    if (!if_indextoname(arrival->interface, here))
        snprintf(here, sizeof here, "%" PRIu32, arrival->interface);
    finding_summary(&finding,
                    "%s waits for packets of the multicast group %s, but interface %s, at which "
                    "they arrive, has not joined the group: in %.7g s %s%" PRIu64 " were dropped",
                    process, address_text(other, &arrival->group.address), here,
                    seconds_between(examination), others ? "at least " : "", arrival->packets);
    finding_evidence(&finding, "%s",
                     arrival->joined_on_lo ? "only lo has joined it" : "no interface has");
    finding_evidence(&finding, "some packets came from %s",
                     address_text(other, &arrival->sender.address));
    snprintf(command, sizeof command, "fastnet sockets -u --where 'local_port = %" PRIu16 "'",
             arrival->group.port);
    finding.record.finding.command = as_text(command);
    finding_emit(&finding, examination, ABSENT, ABSENT, arrival->packets);
}

void rule_multicast(struct examination *examination)
{
    const struct drop_probe *probe = examination->drops;
    const uint64_t own = namespace_own_id();
    struct multicast_arrivals arrivals = {.count = 0};

    for (size_t i = 0; probe && own && i < drop_probe_count(probe); i++) {
        const struct drop *drop = drop_probe_at(probe, i);
        if (drop->netns == own && drop->others)
            arrivals.others = true;
        else if (drop->netns == own)
            multicast_take_drop(&arrivals, &drop->record);
    }
    if (!arrivals.count || !examination->engine || multicast_read(&arrivals, examination) < 0)
        return;
    for (size_t i = 0; i < arrivals.count; i++)
        if (multicast_waiting(&arrivals.list[i]))
            emit_multicast(examination, &arrivals.list[i], arrivals.others);
}
