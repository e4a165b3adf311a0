/* SPDX-License-Identifier: MIT */
/* The fields of queueing disciplines (tc(8)). */
#include "model/fields/fields.h"

static struct value qdisc_handle(const struct cell *cell)
{
    return string(cell->record->qdisc.handle);
}

static struct value qdisc_parent(const struct cell *cell)
{
    return string(cell->record->qdisc.parent);
}

#define COUNTED(id, path, has, ...) COUNTER(id, qdisc.path, has, __VA_ARGS__)

/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    INTERFACE(interface, qdisc.interface, 0, "interface; its index if it no longer has a name",
              .key = true),
    NUMBER(interface_index, qdisc.interface, 0, "index of the interface", .moving = true),
    COMPUTED(kind, VALUE_TEXT, text_unless_empty, QDISC_KIND,
             "kind of the discipline: fq_codel, pfifo_fast, mq, noqueue ...", MEMBER(qdisc.kind),
             .key = true, .any_case = true),
    COMPUTED(handle, VALUE_TEXT, qdisc_handle, 0,
             "handle of the discipline, in hexadecimal: 8001:", .key = true),
    COMPUTED(parent, VALUE_TEXT, qdisc_parent, 0,
             "root, or the class that the discipline belongs to: 1:10", .key = true),
    COUNTED(bytes, bytes, QDISC_BASIC, "bytes sent", .unit = UNIT_BYTES),
    COUNTED(packets, packets, QDISC_BASIC, "packets sent", .unit = UNIT_PACKETS),
    COUNTED(drops, drops, QDISC_QUEUE, "packets dropped, also by the disciplines below",
            .unit = UNIT_PACKETS),
    COUNTED(overlimits, overlimits, QDISC_QUEUE, "times that a limit of the rate was reached"),
    COUNTED(requeues, requeues, QDISC_QUEUE,
            "packets put back because the driver could not take them", .unit = UNIT_PACKETS),
    GAUGE(backlog, qdisc.backlog, QDISC_QUEUE, "bytes that wait", .unit = UNIT_BYTES),
    GAUGE(qlen, qdisc.qlen, QDISC_QUEUE, "packets that wait", .unit = UNIT_PACKETS),
};

static const struct borrowed borrowed[] = {BORROWED_TEXT(qdisc.kind, QDISC_KIND)};

const struct kind kind_qdisc = {
    .name = "queueing disciplines",
    .metric = "qdisc",
    .size = RECORD_SIZE(qdisc),
    FIELDS(fields),
    BORROWED(borrowed),
};
