/* The fields of expectations: the flows that helpers wait for. */
#include "fastnet/flow_names.h"
#include "format/fields/fields.h"
#include "format/flow/flow_values.h"

/* In the order in which --columns=help lists them. Names and meanings stay once released. */
static const struct field fields[] = {
    NAMED(protocol, expectation.orig.protocol, flow_protocol_word, FLOW_ORIG,
          "tcp, udp, ...; the number where it has no name"),
    WORD(family, expectation.family, family_name, 0, "inet or inet6"),
    NUMBER(timeout, expectation.timeout, FLOW_TIMEOUT, "seconds until it is given up",
           .unit = UNIT_SECONDS),
    ADDRESS(src, expectation.orig.src, FLOW_ORIG, "who is expected to send"),
    ADDRESS(dst, expectation.orig.dst, FLOW_ORIG, "to whom"),
    /* A port may be 0 here: it is not known yet, and its mask is 0 too. */
    PORT(sport, expectation.orig, src_port, FLOW_ORIG, "port of the sender"),
    PORT(dport, expectation.orig, dst_port, FLOW_ORIG, "port that it will be sent to"),
    ADDRESS(mask_src, expectation.mask.src, FLOW_MASK, "the bits of src that count"),
    ADDRESS(mask_dst, expectation.mask.dst, FLOW_MASK, "the bits of dst that count"),
    PORT(mask_sport, expectation.mask, src_port, FLOW_MASK, "the bits of sport that count"),
    PORT(mask_dport, expectation.mask, dst_port, FLOW_MASK, "the bits of dport that count"),
    ADDRESS(master_src, expectation.master.src, FLOW_MASTER,
            "the flow that it belongs to: its original direction"),
    ADDRESS(master_dst, expectation.master.dst, FLOW_MASTER, "... to whom"),
    PORT(master_sport, expectation.master, src_port, FLOW_MASTER, "... port of the sender"),
    PORT(master_dport, expectation.master, dst_port, FLOW_MASTER, "... port that it was sent to"),
    /* No kernel so far tells the zone of any, so one that is absent is unknown, and not zone 0. */
    NUMBER(zone, expectation.zone, FLOW_ZONE, "its zone"),
    FLAGS(flags, expectation.flags, expectation_flag_names, FLOW_FLAGS,
          "PERMANENT, INACTIVE, USERSPACE; by commas"),
    NUMBER(class, expectation.class, FLOW_CLASS, "number of the helper's class of expectations"),
    TEXT(helper, expectation.helper, FLOW_HELPER, "the helper of the flow that it belongs to"),
    NUMBER(id, expectation.id, FLOW_ID, "the kernel's own number for it"),
    WORD(event, expectation.event, flow_event_name, FLOW_EVENT, "of an event: NEW or DESTROY"),
    NANOSECONDS(received, expectation.received, FLOW_EVENT,
                "of an event: when it was read, seconds since 1970"),
};

static const struct borrowed borrowed[] = {BORROWED_TEXT(expectation.helper, FLOW_HELPER)};

const struct kind kind_expectation = {
    .name = "expectations",
    .size = RECORD_SIZE(expectation),
    .identified = true,
    FIELDS(fields),
    BORROWED(borrowed),
};
