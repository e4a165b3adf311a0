/* SPDX-License-Identifier: MIT */
#include "format/flow/view_fields.h"

#include "fastnet/flow_names.h"
#include "format/fields/fields.h"
#include "format/text/put.h"
#include "format/text/value.h"

static const struct flow_tuple *tuple_of(const struct value *view, enum flow_way way)
{
    return &view->view.record->flow.way[way].tuple;
}

static char *put_end(char *dst, const struct flow_tuple *tuple, bool source)
{
    const bool has_ports = flow_has_ports(tuple->protocol) && tuple->has_ports;

    return put_address_port(dst, source ? &tuple->src : &tuple->dst, has_ports,
                            source ? tuple->src_port : tuple->dst_port);
}

char *write_flow_from(char *dst, const struct value *view, bool human)
{
    (void)human;
    return put_end(dst, tuple_of(view, WAY_ORIG), true);
}

char *write_flow_to(char *dst, const struct value *view, bool human)
{
    (void)human;
    return put_end(dst, tuple_of(view, WAY_ORIG), false);
}

/* Whether the reply goes to another end than the source, or does not come from the destination. */
static bool is_translated(const struct flow_direction way[], bool source)
{
    const struct flow_tuple *orig = &way[WAY_ORIG].tuple, *reply = &way[WAY_REPLY].tuple;

    return !address_equal(source ? &orig->src : &orig->dst, source ? &reply->dst : &reply->src) ||
           (flow_has_ports(orig->protocol) && (source ? orig->src_port : orig->dst_port) !=
                                                  (source ? reply->dst_port : reply->src_port));
}

/* What the destination sees the source as, and where the destination is. */
static char *write_nat(char *dst, const struct value *view, bool human)
{
    const struct flow_direction *way = view->view.record->flow.way;
    const char *start = dst;

    if (is_translated(way, true))
        dst = put_end(human ? PUT(dst, "as ") : PUT(dst, "as="), tuple_of(view, WAY_REPLY), false);
    if (!is_translated(way, false))
        return dst;
    if (dst != start)
        *dst++ = human ? ' ' : ',';
    return put_end(human ? PUT(dst, "at ") : PUT(dst, "at="), tuple_of(view, WAY_REPLY), true);
}

struct value view_flow_nat(const struct cell *cell)
{
    const struct flow_direction *way = cell->record->flow.way;

    return is_translated(way, true) || is_translated(way, false) ? view(cell, write_nat) : unknown;
}

char *write_flow_traffic(char *dst, const struct value *view, bool human)
{
    const struct flow_direction *way = view->view.record->flow.way;

    dst = put_amount(dst, way[WAY_ORIG].bytes, human);
    *dst++ = '/';
    return put_amount(dst, way[WAY_REPLY].bytes, human);
}
