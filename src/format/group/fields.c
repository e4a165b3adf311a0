/* The columns of multicast groups. */
#include "fastnet/array.h"
#include "fastnet/lookup.h"
#include "format/fields/columns.h"
#include "format/fields/values.h"

static struct value group(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    return member_address(column, record, record->group.family);
}

static struct value group_host(const struct column *column, const struct record *record,
                               const struct context *context)
{
    if (!is_filled(column, record) || !context->hosts)
        return unknown;
    return string(hosts_name(context->hosts, record->group.family, record->group.address));
}

/* In the order in which --columns=help lists them. Names and meanings stay once released. */
static const struct column columns[] = {
    {.name = "interface",
     .heading = "INTERFACE",
     .help = "interface that is in the group",
     .needs = GROUP_INTERFACE,
     .type = VALUE_TEXT,
     MEMBER(group.interface),
     .value = member_text},
    {.name = "interface_index",
     .heading = "INTERFACE_INDEX",
     .help = "its number",
     .needs = GROUP_INTERFACE,
     .type = VALUE_NUMBER,
     MEMBER(group.index),
     .value = member_number},
    {.name = "family",
     .heading = "FAMILY",
     .help = "inet or inet6",
     .type = VALUE_TEXT,
     MEMBER(group.family),
     .value = member_family},
    {.name = "group",
     .heading = "GROUP",
     .help = "multicast address",
     .needs = GROUP_ADDRESS,
     .type = VALUE_ADDRESS,
     MEMBER(group.address),
     .value = group},
    {.name = "group_host",
     .heading = "GROUP_HOST",
     .help = "name of that address",
     .needs = GROUP_ADDRESS | NEED_HOSTS,
     .type = VALUE_TEXT,
     .value = group_host},
    {.name = "users",
     .heading = "USERS",
     .help = "how many joined it on that interface: sockets and the kernel itself",
     .needs = GROUP_USERS,
     .type = VALUE_NUMBER,
     MEMBER(group.users),
     .value = member_number},
};

const struct column_table columns_group = {
    .kind = RECORD_GROUP,
    .columns = columns,
    .count = COUNT(columns),
};
