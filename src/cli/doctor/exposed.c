/* SPDX-License-Identifier: MIT */
/* fastnet doctor --exposed: what listens where other machines can reach it. No fault, a list. */
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "cli/command.h"
#include "cli/doctor/doctor.h"
#include "cli/netstat/netstat.h"
#include "fastnet/array.h"

int doctor_exposed(const struct doctor_command *command)
{
    static const struct table *const tables[] = {
        &table_tcp,      &table_tcp6, &table_udp,  &table_udp6, &table_udplite,
        &table_udplite6, &table_raw,  &table_raw6, &table_sctp, &table_sctp6};
    /* a mapped address is shown, and compared, as IPv4 */
    static const struct network loopback[] = {{{AF_INET, {127}}, 8}, {{AF_INET6, {[15] = 1}}, 128}};
    const struct field *local = field_named(&kind_socket, "local_address");
    struct predicate listening[COUNT(tables)][2];
    struct listing_table listed[COUNT(tables)];
    struct predicate_tree where = {.count = 0};
    const bool plain = command->common.format == FORMAT_PLAIN;
    struct listing_command listing = {
        .common = &command->common,
        .kind = &kind_socket,
        .columns = {"protocol local_address local_port",
                    plain ? "process pid user unit"
                          : "interface process pid user uid cgroup unit container pod"},
        .drop = "unit pid",
        .shorten = "unit process user",
        .whole = "local_address",
        .listing.table_count = COUNT(tables),
    };

    for (size_t i = 0; i < COUNT(tables); i++) {
        /* where both families are read as one, they have one predicate */
        const size_t first = i && tables[i - 1]->partner == tables[i] ? i - 1 : i;
        listed[i] = (struct listing_table){
            .table = tables[i],
            .where = netstat_where(listening[first], tables[i], SHOW_LISTENING),
            .unnamed = true,
        };
    }
    listing.listing.tables = listed;
    for (size_t i = 0; i < COUNT(loopback); i++)
        predicate_tree_refuse(&where, &where.whole, predicate_within(local, &loopback[i]));
    listing.listing.where = predicate_of(&where);
    return command_run(&listing);
}
