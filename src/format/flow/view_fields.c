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

static bool has_ports(const struct flow_tuple *tuple)
{
    return flow_has_ports(tuple->protocol) && tuple->has_ports;
}

static char *put_source(char *dst, const struct flow_tuple *tuple)
{
    return put_address_port(dst, &tuple->src, has_ports(tuple), tuple->src_port);
}

static char *put_destination(char *dst, const struct flow_tuple *tuple)
{
    return put_address_port(dst, &tuple->dst, has_ports(tuple), tuple->dst_port);
}

char *write_flow_from(char *dst, const struct value *view, bool human)
{
    (void)human;
    return put_source(dst, tuple_of(view, WAY_ORIG));
}

char *write_flow_to(char *dst, const struct value *view, bool human)
{
    (void)human;
    return put_destination(dst, tuple_of(view, WAY_ORIG));
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
        dst = put_destination(human ? PUT(dst, "as ") : PUT(dst, "as="), tuple_of(view, WAY_REPLY));
    if (!is_translated(way, false))
        return dst;
    if (dst != start)
        *dst++ = human ? ' ' : ',';
    return put_source(human ? PUT(dst, "at ") : PUT(dst, "at="), tuple_of(view, WAY_REPLY));
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
