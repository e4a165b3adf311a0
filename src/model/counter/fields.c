/* SPDX-License-Identifier: MIT */
/* The fields of the protocols' counters. */
#include "model/fields/fields.h"

static struct value value(const struct cell *cell)
{
    const struct counter_record *counter = &cell->record->counter;

    return integer(counter->magnitude, counter->negative);
}

static bool counter_is_of_machine(const struct record *record)
{
    return record->counter.machine;
}

/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    TEXT(protocol, counter.protocol, COUNTER_PROTOCOL,
         "the kernel's group of counters: Ip, Icmp, Tcp, TcpExt, Udp ...", .key = true,
         .any_case = true),
    TEXT(name, counter.name, COUNTER_NAME,
         "the kernel's name of the counter: InSegs, Udp6InDatagrams ...", .key = true,
         .any_case = true),
    COMPUTED(value, VALUE_SIGNED, value, COUNTER_VALUE,
             "value of this counter, state or limit; -1: no limit", MEMBER(counter.magnitude),
             .counter = true, .partly = true, .optional = COUNTER_GROWS),
    WORD(scope, counter.machine, machine_scope_name, COUNTER_SCOPE,
         "scope of the number: this network namespace or the machine"),
};

static const struct borrowed borrowed[] = {
    BORROWED_TEXT(counter.protocol, COUNTER_PROTOCOL),
    BORROWED_TEXT(counter.name, COUNTER_NAME),
};

const struct kind kind_counter = {
    .name = "counters",
    .metric = "protocol",
    .is_of_machine = counter_is_of_machine,
    .size = RECORD_SIZE(counter),
    FIELDS(fields),
    BORROWED(borrowed),
};
