/* SPDX-License-Identifier: MIT */
/* All kinds of rows, by name. */
#include "fastnet/array.h"
#include "fastnet/saved.h"

static const struct kind *const kinds[] = {
    &kind_socket,     &kind_flow,      &kind_expectation,     &kind_flow_statistics,
    &kind_flow_usage, &kind_neighbour, &kind_neighbour_usage, &kind_route,
    &kind_interface,  &kind_queue,     &kind_qdisc,           &kind_counter,
    &kind_group,      &kind_summary,   &kind_finding,         &kind_step,
    &kind_drop,       &kind_traffic,
};

const struct kind *kind_at(size_t i)
{
    return POINTER_AT(kinds, i);
}

const struct kind *kind_by_name(struct text name)
{
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (text_is(name, kinds[i]->name))
            return kinds[i];
    return NULL;
}
