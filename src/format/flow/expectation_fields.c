/* The columns of expectations: the flows that helpers wait for. */
#include "fastnet/array.h"
#include "fastnet/flow_names.h"
#include "format/fields/columns.h"
#include "format/fields/values.h"

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

static struct value end_address(const struct column *column, const struct record *record,
                                const struct context *context)
{
    (void)context;
    return member_address(column, record, record->expectation.family);
}

/* A port may be 0 here: it is not known yet, and its mask is 0 too. */
static struct value end_port(const struct column *column, const struct record *record,
                             const struct context *context, const struct flow_tuple *tuple)
{
    if (!is_filled(column, record) || !flow_has_ports(tuple->protocol) || !tuple->has_ports)
        return unknown;
    return member_number(column, record, context);
}

static struct value orig_port(const struct column *column, const struct record *record,
                              const struct context *context)
{
    return end_port(column, record, context, &record->expectation.orig);
}

static struct value mask_port(const struct column *column, const struct record *record,
                              const struct context *context)
{
    return end_port(column, record, context, &record->expectation.mask);
}

static struct value master_port(const struct column *column, const struct record *record,
                                const struct context *context)
{
    return end_port(column, record, context, &record->expectation.master);
}

static struct value flags(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    return flags_of(column, record, &expectation_flag_names, record->expectation.flags);
}

static struct value event(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    return is_filled(column, record) ? string(flow_event_name(record->expectation.event)) : unknown;
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
     MEMBER(expectation.family),
     .value = member_family},
    {.name = "timeout",
     .heading = "TIMEOUT",
     .help = "seconds until it is given up",
     .needs = FLOW_TIMEOUT,
     .type = VALUE_NUMBER,
     MEMBER(expectation.timeout),
     .value = member_number},
    {.name = "src",
     .heading = "SRC",
     .help = "who is expected to send",
     .needs = FLOW_ORIG,
     .type = VALUE_ADDRESS,
     MEMBER(expectation.orig.src),
     .value = end_address},
    {.name = "dst",
     .heading = "DST",
     .help = "to whom",
     .needs = FLOW_ORIG,
     .type = VALUE_ADDRESS,
     MEMBER(expectation.orig.dst),
     .value = end_address},
    {.name = "sport",
     .heading = "SPORT",
     .help = "port of the sender",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     MEMBER(expectation.orig.src_port),
     .value = orig_port},
    {.name = "dport",
     .heading = "DPORT",
     .help = "port that it will be sent to",
     .needs = FLOW_ORIG,
     .type = VALUE_NUMBER,
     MEMBER(expectation.orig.dst_port),
     .value = orig_port},
    {.name = "mask_src",
     .heading = "MASK_SRC",
     .help = "the bits of src that count",
     .needs = FLOW_MASK,
     .type = VALUE_ADDRESS,
     MEMBER(expectation.mask.src),
     .value = end_address},
    {.name = "mask_dst",
     .heading = "MASK_DST",
     .help = "the bits of dst that count",
     .needs = FLOW_MASK,
     .type = VALUE_ADDRESS,
     MEMBER(expectation.mask.dst),
     .value = end_address},
    {.name = "mask_sport",
     .heading = "MASK_SPORT",
     .help = "the bits of sport that count",
     .needs = FLOW_MASK,
     .type = VALUE_NUMBER,
     MEMBER(expectation.mask.src_port),
     .value = mask_port},
    {.name = "mask_dport",
     .heading = "MASK_DPORT",
     .help = "the bits of dport that count",
     .needs = FLOW_MASK,
     .type = VALUE_NUMBER,
     MEMBER(expectation.mask.dst_port),
     .value = mask_port},
    {.name = "master_src",
     .heading = "MASTER_SRC",
     .help = "the flow that it belongs to: its original direction",
     .needs = FLOW_MASTER,
     .type = VALUE_ADDRESS,
     MEMBER(expectation.master.src),
     .value = end_address},
    {.name = "master_dst",
     .heading = "MASTER_DST",
     .help = "... to whom",
     .needs = FLOW_MASTER,
     .type = VALUE_ADDRESS,
     MEMBER(expectation.master.dst),
     .value = end_address},
    {.name = "master_sport",
     .heading = "MASTER_SPORT",
     .help = "... port of the sender",
     .needs = FLOW_MASTER,
     .type = VALUE_NUMBER,
     MEMBER(expectation.master.src_port),
     .value = master_port},
    {.name = "master_dport",
     .heading = "MASTER_DPORT",
     .help = "... port that it was sent to",
     .needs = FLOW_MASTER,
     .type = VALUE_NUMBER,
     MEMBER(expectation.master.dst_port),
     .value = master_port},
    /* The kernel has not told the zone of any so far, so none is no zone 0. */
    {.name = "zone",
     .heading = "ZONE",
     .help = "its zone",
     .needs = FLOW_ZONE,
     .type = VALUE_NUMBER,
     MEMBER(expectation.zone),
     .value = member_number},
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
     MEMBER(expectation.class),
     .value = member_number},
    {.name = "helper",
     .heading = "HELPER",
     .help = "the helper of the flow that it belongs to",
     .needs = FLOW_HELPER,
     .type = VALUE_TEXT,
     MEMBER(expectation.helper),
     .value = member_text},
    {.name = "id",
     .heading = "ID",
     .help = "the kernel's own number for it",
     .needs = FLOW_ID,
     .type = VALUE_NUMBER,
     MEMBER(expectation.id),
     .value = member_number},
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
     MEMBER(expectation.received),
     .value = member_nanoseconds},
};

const struct column_table columns_expectation = {
    .kind = RECORD_EXPECTATION,
    .columns = columns,
    .count = COUNT(columns),
};
