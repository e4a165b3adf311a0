/* SPDX-License-Identifier: MIT */
#include "model/flow/view_fields.h"

#include <netinet/in.h>

#include "fastnet/flow_names.h"
#include "model/fields/fields.h"
#include "model/value.h"
#include "text/put.h"

static const struct flow_tuple *flow_view_tuple_of(const struct value *view, enum flow_way way)
{
    return &view->view.record->flow.way[way].tuple;
}

static char *flow_view_put_end(char *dst, const struct flow_tuple *tuple, bool source)
{
    const bool has_ports = flow_has_ports(tuple->protocol) && tuple->has_ports;

    return put_address_port(dst, source ? &tuple->src : &tuple->dst, has_ports,
                            source ? tuple->src_port : tuple->dst_port);
}

char *write_flow_from(char *dst, const struct value *view, bool human)
{
    (void)human;
    return flow_view_put_end(dst, flow_view_tuple_of(view, WAY_ORIG), true);
}

char *write_flow_to(char *dst, const struct value *view, bool human)
{
    (void)human;
    return flow_view_put_end(dst, flow_view_tuple_of(view, WAY_ORIG), false);
}

/* If `source`: whether the reply does not go to the original source. Else: whether it does not come
 * from the original destination. */
static bool flow_view_is_translated(const struct flow_direction way[], bool source)
{
    const struct flow_tuple *orig = &way[WAY_ORIG].tuple, *reply = &way[WAY_REPLY].tuple;

    return !address_equal(source ? &orig->src : &orig->dst, source ? &reply->dst : &reply->src) ||
           (flow_has_ports(orig->protocol) && (source ? orig->src_port : orig->dst_port) !=
                                                  (source ? reply->dst_port : reply->src_port));
}

/* Writes the source address that the destination sees, and the real destination. */
static char *write_nat(char *dst, const struct value *view, bool human)
{
    const struct flow_direction *way = view->view.record->flow.way;
    const char *start = dst;

    if (flow_view_is_translated(way, true))
        dst = flow_view_put_end(human ? PUT(dst, "as ") : PUT(dst, "as="),
                                flow_view_tuple_of(view, WAY_REPLY), false);
    if (!flow_view_is_translated(way, false))
        return dst;
    if (dst != start)
        *dst++ = human ? ' ' : ',';
    return flow_view_put_end(human ? PUT(dst, "at ") : PUT(dst, "at="),
                             flow_view_tuple_of(view, WAY_REPLY), true);
}

struct value view_flow_nat(const struct cell *cell)
{
    const struct flow_direction *way = cell->record->flow.way;

    return flow_view_is_translated(way, true) || flow_view_is_translated(way, false)
               ? view(cell, write_nat)
               : unknown;
}

/* --- Other differences of flows ----------------------------------------------------------------
 */

enum { PARTS_MOST = 7 };

struct view_part {
    const char *column;
    uint64_t number;
};

static size_t flow_view_put_part(struct view_part *parts, size_t count, const char *column,
                                 uint64_t number)
{
    parts[count] = (struct view_part){column, number};
    return count + 1;
}

/* Type and code of ICMP, except for echo requests: type 8, ICMPv6 128 (RFC 792, RFC 4443), code
 * 0. */
static size_t icmp_parts(struct view_part *parts, size_t count, const struct flow_tuple *tuple)
{
    const bool is_echo =
        tuple->icmp_type == (tuple->protocol == IPPROTO_ICMP ? 8 : 128) && !tuple->icmp_code;

    if (!is_echo) {
        count = flow_view_put_part(parts, count, "icmp_type", tuple->icmp_type);
        count = flow_view_put_part(parts, count, "icmp_code", tuple->icmp_code);
    }
    return flow_view_put_part(parts, count, "icmp_id", tuple->src_port);
}

static size_t parts_of(struct view_part parts[PARTS_MOST], const struct record *record)
{
    const struct flow_direction *way = record->flow.way;
    const struct flow_tuple *orig = &way[WAY_ORIG].tuple, *reply = &way[WAY_REPLY].tuple;
    size_t count = 0;

    if (flow_is_icmp(orig->protocol))
        count = icmp_parts(parts, count, orig);
    if (orig->protocol == IPPROTO_GRE && orig->has_ports) {
        count = flow_view_put_part(parts, count, "orig_srckey", orig->src_port);
        count = flow_view_put_part(parts, count, "orig_dstkey", orig->dst_port);
        if (record->has & FLOW_REPLY && reply->has_ports) {
            count = flow_view_put_part(parts, count, "reply_srckey", reply->src_port);
            count = flow_view_put_part(parts, count, "reply_dstkey", reply->dst_port);
        }
    }
    if (record->has & FLOW_ORIG_ZONE)
        count = flow_view_put_part(parts, count, "orig_zone", way[WAY_ORIG].zone);
    if (record->has & FLOW_REPLY_ZONE)
        count = flow_view_put_part(parts, count, "reply_zone", way[WAY_REPLY].zone);
    return count;
}

static char *write_details(char *dst, const struct value *view, bool human)
{
    struct view_part parts[PARTS_MOST];
    const size_t count = parts_of(parts, view->view.record);

    (void)human;
    for (size_t i = 0; i < count; i++) {
        dst = put_string(i ? PUT(dst, ",") : dst, parts[i].column);
        dst = text_u64(PUT(dst, "="), parts[i].number);
    }
    return dst;
}

struct value view_flow_details(const struct cell *cell)
{
    struct view_part parts[PARTS_MOST];

    return parts_of(parts, cell->record) ? view(cell, write_details) : unknown;
}

char *write_flow_traffic(char *dst, const struct value *view, bool human)
{
    const struct flow_direction *way = view->view.record->flow.way;

    dst = put_amount(dst, way[WAY_ORIG].bytes, human);
    *dst++ = '/';
    return put_amount(dst, way[WAY_REPLY].bytes, human);
}
