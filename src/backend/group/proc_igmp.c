/* SPDX-License-Identifier: MIT */
/* The multicast groups of the interfaces, from /proc/net/igmp and igmp6. */
#include "backend/group/proc_igmp.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"

const struct table table_groups = {
    .name = "igmp", .file = "igmp", .kind = &kind_group, .family = AF_INET, .unidentified = true};
const struct table table_groups6 = {.name = "igmp6",
                                    .file = "igmp6",
                                    .kind = &kind_group,
                                    .family = AF_INET6,
                                    .unidentified = true};

enum { FIELDS = GROUP_INTERFACE | GROUP_ADDRESS | GROUP_USERS };

/* --- Lines ------------------------------------------------------------------------------------ */

static bool igmp_take_number(struct scan *scan, uint32_t *number)
{
    if (!SCAN_DECIMAL(scan, *number) || *number > INT32_MAX)
        return false;
    return scan->at == scan->end || *scan->at == ' ' || *scan->at == '\t';
}

/* Takes an interface: "1\tlo        :     1      V3". Its name has no spaces and no colon. */
static int igmp_take_interface(struct scan scan, struct igmp_interface *interface)
{
    const char *colon, *end;

    interface->length = 0;
    if (!igmp_take_number(&scan, &interface->index) || !scan_char(&scan, '\t'))
        return -EBADMSG;
    colon = memchr(scan.at, ':', (size_t)(scan.end - scan.at));
    for (end = colon; end && end > scan.at && end[-1] == ' '; end--)
        continue;
    if (!end || end == scan.at || (size_t)(end - scan.at) > sizeof interface->name)
        return -EBADMSG;
    interface->length = (size_t)(end - scan.at);
    memcpy(interface->name, scan.at, interface->length);
    return 0;
}

/* Takes a group: "\t\t\t\t010000E0     1 0:00000000\t\t0". */
static int igmp_take_group(struct scan scan, const struct igmp_interface *interface,
                           struct record *record)
{
    struct group_record *group = &record->group;
    uint32_t word;

    *record = (struct record){.kind = &kind_group, .has = FIELDS, .group.address.family = AF_INET};
    while (scan_char(&scan, '\t'))
        continue;
    if (!interface->length || !scan_eight_digits(&scan, &word) || !scan_char(&scan, ' ') ||
        !igmp_take_number(&scan, &group->users))
        return -EBADMSG;
    memcpy(group->address.bytes, &word, sizeof word); /* a number in host byte order */
    group->index = interface->index;
    group->interface = (struct text){interface->name, interface->length};
    return 0;
}

int igmp_decode(const struct line *line, struct igmp_interface *interface, struct record *record)
{
    const struct scan scan = {line->data, line->data + line->length};

    if (line->cut || !line->length)
        return -EBADMSG;
    if (line->data[0] == '\t')
        return igmp_take_group(scan, interface, record);
    return igmp_take_interface(scan, interface) < 0 ? -EBADMSG : NO_ROW;
}

/* A line is "4    eth0            ff020000000000000000000000000001     1 0000000C 0". */
int igmp6_decode(const struct line *line, struct record *record)
{
    struct scan scan = {line->data, line->data + line->length};
    struct group_record *group = &record->group;

    *record = (struct record){.kind = &kind_group, .has = FIELDS, .group.address.family = AF_INET6};
    if (line->cut || !igmp_take_number(&scan, &group->index) ||
        !scan_word(&scan, &group->interface) || group->interface.length > INTERFACE_TEXT_MAX)
        return -EBADMSG;
    scan_spaces(&scan);
    if (!scan_ipv6_digits(&scan, group->address.bytes) || !scan_char(&scan, ' ') ||
        !igmp_take_number(&scan, &group->users))
        return -EBADMSG;
    return 0;
}

/* --- Files ------------------------------------------------------------------------------------ */

static int igmp_take(struct proc_file *file, const struct line *line, struct record *record)
{
    return igmp_decode(line, file->state, record);
}

static int igmp_dump(const struct query *query, record_fn fn, void *arg)
{
    struct igmp_interface interface = {.length = 0};
    struct proc_file file = {.query = query,
                             .name = "igmp",
                             .heading = "Device",
                             .take = igmp_take,
                             .state = &interface};

    if (query->table == &table_groups6)
        file = (struct proc_file){.query = query, .name = "igmp6", .decode = igmp6_decode};
    return proc_file_read(&file, fn, arg);
}

const struct backend backend_proc_igmp = {
    .name = "proc",
    .source = BACKEND_PROC,
    .provides = PROVIDES({&table_groups, FIELDS}, {&table_groups6, FIELDS}),
    .dump = igmp_dump,
};
