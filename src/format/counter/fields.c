/* The columns of the protocols' counters. */
#include "fastnet/array.h"
#include "format/fields/columns.h"
#include "format/fields/values.h"

static struct value counter(const struct column *column, const struct record *record,
                            const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? integer(record->counter.magnitude, record->counter.negative)
                                     : unknown;
}

/* In the order in which --columns=help lists them. Names and meanings stay once released. */
static const struct column columns[] = {
    {.name = "protocol",
     .heading = "PROTOCOL",
     .help = "what the kernel counts under: Ip, Icmp, Tcp, TcpExt, Udp, Ip6 ...",
     .needs = COUNTER_PROTOCOL,
     .type = VALUE_TEXT,
     MEMBER(counter.protocol),
     .value = member_text},
    {.name = "name",
     .heading = "NAME",
     .help = "the kernel's name of the counter: InSegs, Udp6InDatagrams ...",
     .needs = COUNTER_NAME,
     .type = VALUE_TEXT,
     MEMBER(counter.name),
     .value = member_text},
    {.name = "value",
     .heading = "VALUE",
     .help = "its value; a limit may be -1 for none",
     .needs = COUNTER_VALUE,
     .type = VALUE_SIGNED,
     .value = counter},
};

const struct column_table columns_counter = {
    .kind = RECORD_COUNTER,
    .columns = columns,
    .count = COUNT(columns),
};
