/* The columns of expectations: the flows that helpers wait for. */
#include "fastnet/flow_names.h"
#include "format/column_values.h"
#include "format/columns.h"

static struct value proto(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    const uint8_t protocol = record->expectation.orig.protocol;

    if (!is_filled(column, record))
        return unknown;
    return (struct value){.type = VALUE_NAME,
                          .name = {flow_protocol_name(protocol).data, protocol}};
}

static struct value family(const struct column *column, const struct record *record,
                           const struct context *context)
{
    (void)column;
    (void)context;
    return family_name(record->expectation.family);
}

static struct value timeout(const struct column *column, const struct record *record,
                            const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->expectation.timeout) : unknown;
}

static struct value end_address(const struct column *column, const struct record *record,
                                const uint8_t *bytes)
{
    return is_filled(column, record) ? address(record->expectation.family, bytes) : unknown;
}

/* A port may be 0 here: it is not known yet, and its mask is 0 too. */
static struct value end_port(const struct column *column, const struct record *record,
                             const struct flow_tuple *tuple, uint16_t port)
{
    if (!is_filled(column, record) || !flow_has_ports(tuple->protocol))
        return unknown;
    return number(port);
}

static struct value src(const struct column *column, const struct record *record,
                        const struct context *context)
{
    (void)context;
    return end_address(column, record, record->expectation.orig.src);
}

static struct value dst(const struct column *column, const struct record *record,
                        const struct context *context)
{
    (void)context;
    return end_address(column, record, record->expectation.orig.dst);
}

static struct value sport(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    const struct flow_tuple *tuple = &record->expectation.orig;

    return end_port(column, record, tuple, tuple->src_port);
}

static struct value dport(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    const struct flow_tuple *tuple = &record->expectation.orig;

    return end_port(column, record, tuple, tuple->dst_port);
}

static struct value mask_src(const struct column *column, const struct record *record,
                             const struct context *context)
{
    (void)context;
    return end_address(column, record, record->expectation.mask.src);
}

static struct value mask_dst(const struct column *column, const struct record *record,
                             const struct context *context)
{
    (void)context;
    return end_address(column, record, record->expectation.mask.dst);
}

static struct value mask_sport(const struct column *column, const struct record *record,
                               const struct context *context)
{
    (void)context;
    const struct flow_tuple *tuple = &record->expectation.mask;

    return end_port(column, record, tuple, tuple->src_port);
}

static struct value mask_dport(const struct column *column, const struct record *record,
                               const struct context *context)
{
    (void)context;
    const struct flow_tuple *tuple = &record->expectation.mask;

    return end_port(column, record, tuple, tuple->dst_port);
}

static struct value master_src(const struct column *column, const struct record *record,
                               const struct context *context)
{
    (void)context;
    return end_address(column, record, record->expectation.master.src);
}

static struct value master_dst(const struct column *column, const struct record *record,
                               const struct context *context)
{
    (void)context;
    return end_address(column, record, record->expectation.master.dst);
}

static struct value master_sport(const struct column *column, const struct record *record,
                                 const struct context *context)
{
    (void)context;
    const struct flow_tuple *tuple = &record->expectation.master;

    return end_port(column, record, tuple, tuple->src_port);
}

static struct value master_dport(const struct column *column, const struct record *record,
                                 const struct context *context)
{
    (void)context;
    const struct flow_tuple *tuple = &record->expectation.master;

    return end_port(column, record, tuple, tuple->dst_port);
}

/* The kernel has not told the zone of any so far, so none is no zone 0. */
static struct value zone(const struct column *column, const struct record *record,
                         const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->expectation.zone) : unknown;
}

static struct value flags(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    if (!is_filled(column, record))
        return unknown;
    return (struct value){.type = VALUE_FLAGS,
                          .flags = {&expectation_flag_names, {record->expectation.flags, 0}}};
}

static struct value class(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->expectation.class) : unknown;
}

static struct value helper(const struct column *column, const struct record *record,
                           const struct context *context)
{
    (void)context;
    return is_filled(column, record)
               ? ((struct value){.type = VALUE_TEXT, .text = record->expectation.helper})
               : unknown;
}

static struct value id(const struct column *column, const struct record *record,
                       const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? number(record->expectation.id) : unknown;
}

static struct value event(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? string(flow_event_name(record->expectation.event)) : unknown;
}

static struct value received(const struct column *column, const struct record *record,
                             const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? decimal(record->expectation.received / 1000000) : unknown;
}

/* In the order in which --columns=help lists them. Names and meanings stay once released. */
static const struct column columns[] = {
    {.name = "proto",
     .heading = "PROTO",
     .help = "tcp, udp, ...; the number where it has no name",
     .needs = FLOW_ORIG,
     .type = VALUE_NAME,
     .value = proto},
    {.name = "family",
     .heading = "FAMILY",
     .help = "inet or inet6",
     .type = VALUE_TEXT,
     .value = family},
    {.name = "timeout",
     .heading = "TIMEOUT",
     .help = "seconds until it is given up",
     .needs = FLOW_TIMEOUT,
     .type = VALUE_NUMBER,
     .value = timeout},
    {.name = "src",
     .heading = "SRC",
     .help = "who is expected to send",
     .needs = FLOW_ORIG,
     .type = VALUE_ADDRESS,
     .value = src},
    {.name = "dst",
     .heading = "DST",
     .help = "to whom",
     .needs = FLOW_ORIG,
     .type = VALUE_ADDRESS,
     .value = dst},
    {.name = "sport",
     .heading = "SPORT",
     .help = "port of the sender",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     .value = sport},
    {.name = "dport",
     .heading = "DPORT",
     .help = "port that it will be sent to",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     .value = dport},
    {.name = "mask_src",
     .heading = "MASK_SRC",
     .help = "the bits of src that count",
     .needs = FLOW_MASK,
     .type = VALUE_ADDRESS,
     .value = mask_src},
    {.name = "mask_dst",
     .heading = "MASK_DST",
     .help = "the bits of dst that count",
     .needs = FLOW_MASK,
     .type = VALUE_ADDRESS,
     .value = mask_dst},
    {.name = "mask_sport",
     .heading = "MASK_SPORT",
     .help = "the bits of sport that count",
     .needs = FLOW_MASK,
     .type = VALUE_NUMBER,
     .value = mask_sport},
    {.name = "mask_dport",
     .heading = "MASK_DPORT",
     .help = "the bits of dport that count",
     .needs = FLOW_MASK,
     .type = VALUE_NUMBER,
     .value = mask_dport},
    {.name = "master_src",
     .heading = "MASTER_SRC",
     .help = "the flow that it belongs to: its original direction",
     .needs = FLOW_MASTER,
     .type = VALUE_ADDRESS,
     .value = master_src},
    {.name = "master_dst",
     .heading = "MASTER_DST",
     .help = "... to whom",
     .needs = FLOW_MASTER,
     .type = VALUE_ADDRESS,
     .value = master_dst},
    {.name = "master_sport",
     .heading = "MASTER_SPORT",
     .help = "... port of the sender",
     .needs = FLOW_MASTER,
     .type = VALUE_NUMBER,
     .value = master_sport},
    {.name = "master_dport",
     .heading = "MASTER_DPORT",
     .help = "... port that it was sent to",
     .needs = FLOW_MASTER,
     .type = VALUE_NUMBER,
     .value = master_dport},
    {.name = "zone",
     .heading = "ZONE",
     .help = "its zone",
     .needs = FLOW_ZONE,
     .type = VALUE_NUMBER,
     .value = zone},
    {.name = "flags",
     .heading = "FLAGS",
     .help = "PERMANENT, INACTIVE, USERSPACE; by commas",
     .needs = FLOW_FLAGS,
     .type = VALUE_FLAGS,
     .value = flags},
    {.name = "class",
     .heading = "CLASS",
     .help = "number of the helper's class of expectations",
     .needs = FLOW_CLASS,
     .type = VALUE_NUMBER,
     .value = class},
    {.name = "helper",
     .heading = "HELPER",
     .help = "the helper of the flow that it belongs to",
     .needs = FLOW_HELPER,
     .type = VALUE_TEXT,
     .value = helper},
    {.name = "id",
     .heading = "ID",
     .help = "the kernel's own number for it",
     .needs = FLOW_ID,
     .type = VALUE_NUMBER,
     .value = id},
    {.name = "event",
     .heading = "EVENT",
     .help = "of an event: NEW or DESTROY",
     .needs = FLOW_EVENT,
     .type = VALUE_TEXT,
     .value = event},
    {.name = "received",
     .heading = "RECEIVED",
     .help = "of an event: when it was read, seconds since 1970",
     .needs = FLOW_EVENT,
     .type = VALUE_DECIMAL,
     .value = received},
};

const struct column_table columns_expectation = {
    .kind = RECORD_EXPECTATION,
    .columns = columns,
    .count = sizeof(columns) / sizeof(columns[0]),
};
