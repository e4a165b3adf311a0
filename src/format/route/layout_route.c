/* SPDX-License-Identifier: MIT */
/* The layout of net-tools 2.10 netstat -r: headings, widths and wording of its lib/inet_gr.c and
 * lib/inet6_gr.c, except that names are not cut. */
#include <linux/ipv6_route.h>
#include <linux/route.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/interfaces.h"
#include "fastnet/layouts.h"
#include "fastnet/networks.h"
#include "fastnet/route.h"
#include "fastnet/saved.h"
#include "fastnet/text.h"
#include "text/put.h"

enum {
    ADDRESS_WIDTH = 15,
    FLAGS_WIDTH = 5,
    DESTINATION6_WIDTH = 30,
    GATEWAY6_WIDTH = 26,
    FLAGS6_WIDTH = 4,
    MSS_ADDED = 40,           /* bytes of the headers of IPv4 and TCP */
    NETWORK_MAX_SHOWN = 1024, /* a network with a longer name is shown as its address */
    ROW_MAX = 1024,           /* longest row without names of hosts and networks */
    NUMBERS_MAX = 256,        /* longest row without any names: addresses, flags, numbers, spaces */
};

_Static_assert(NUMBERS_MAX + ESCAPE_FACTOR * INTERFACE_TEXT_MAX <= ROW_MAX, "a row fits");
_Static_assert(ROW_MAX + 2 * ESCAPE_FACTOR * HOST_MAX <= WRITER_RESERVE_MAX, "with names");

/* The text of a part of the last row, kept because the next rows often have the same text. */
struct remembered_route {
    uint64_t key;
    size_t length; /* 0: no text */
    char text[80];
};

struct route_sink {
    struct sink sink;
    struct route_layout layout;
    bool cache; /* the section lists the routing cache */
    struct remembered_route mask_and_flags, device;
    const struct netns *netns; /* netns of the remembered device */
};

static bool is_known(const struct remembered_route *last, uint64_t key)
{
    return last->length && last->key == key;
}

static char *put_remembered(char *dst, const struct remembered_route *last)
{
    return put_bytes(dst, last->text, last->length);
}

/* Remembers the text from start to end, if it fits. */
static void layout_route_remember(struct remembered_route *last, uint64_t key, const char *start,
                                  const char *end)
{
    const size_t length = (size_t)(end - start);

    last->key = key;
    last->length = length <= sizeof last->text ? length : 0;
    memcpy(last->text, start, last->length);
}

/* --- Parts of a row --------------------------------------------------------------------------- */

static char *layout_route_put_number(char *dst, uint32_t number, size_t width)
{
    return end_cell(put_signed(dst, number), dst, width);
}

static char *put_signed_right(char *dst, uint32_t number, size_t width)
{
    return align_right(put_signed(dst, number), dst, width);
}

static char *put_host_of(char *dst, const struct route_sink *routes, const struct address *address)
{
    return put_host(dst, routes->sink.context->hosts, address, " ");
}

/* --- IPv4 ------------------------------------------------------------------------------------- */

static char *put_destination(char *dst, const struct route_sink *routes,
                             const struct record *record)
{
    const struct route_record *route = &record->route;
    const char *name;

    if (routes->layout.numeric)
        return text_ipv4(dst, route->destination.bytes);
    if (address_is_unspecified(&route->destination))
        return put_string(dst, route->prefix ? "0.0.0.0" : "default");
    if (route_is_to_host(record))
        return put_host_of(dst, routes, &route->destination);
    name = name_within(networks_name(routes->sink.context->networks, &route->destination),
                       NETWORK_MAX_SHOWN);
    return name ? put_escaped(dst, name, " ") : text_ipv4(dst, route->destination.bytes);
}

/* Whether the kernel does not report flags: then it is unknown whether the route has a gateway. */
static bool layout_route_is_hidden(const struct record *record)
{
    return !(record->has & ROUTE_FLAGS);
}

/* Writes the interface: /proc files have its name, netlink its number. */
static char *layout_route_put_device(char *dst, struct route_sink *routes,
                                     const struct record *record)
{
    const struct route_record *route = &record->route;
    const struct netns_lookups *lookups = &routes->sink.context->netns;

    const char *saved = saved_string(record, "interface");

    if (saved)
        return put_escaped(dst, saved, " ");
    if (record->has & ROUTE_DEVICE)
        return escape_text(dst, route->device.data, route->device.length, " ");
    if (!(record->has & ROUTE_INTERFACE))
        return put_string(dst, route->destination.family == AF_INET ? "*" : "");
    if (is_known(&routes->device, route->interface) && routes->netns == lookups->netns)
        return put_remembered(dst, &routes->device);
    const char *name =
        lookups->interfaces ? interfaces_name(lookups->interfaces, route->interface) : NULL;
    char *end = name ? put_escaped(dst, name, " ") : text_u64(dst, route->interface);
    layout_route_remember(&routes->device, route->interface, dst, end);
    routes->netns = lookups->netns;
    return end;
}

/* Returns the size of the largest packet: MSS plus headers; 0 if the route sets no MSS. */
static uint32_t packet_size(const struct record *record)
{
    return (record->has & ROUTE_MSS) ? record->route.mss + MSS_ADDED : 0;
}

/* Writes metric, references and use. For IPv4 newer kernels report the last two as 0. */
static char *layout_route_put_usage(char *dst, const struct route_record *route, size_t width,
                                    size_t use_width)
{
    dst = layout_route_put_number(dst, route->metric, 6);
    dst = layout_route_put_number(dst, route->references, width);
    return put_signed_right(dst, route->use, use_width);
}

static char *layout_route_put_numbers(char *dst, struct route_sink *routes,
                                      const struct record *record)
{
    const struct route_record *route = &record->route;
    const unsigned extended = routes->layout.extended;
    const bool rejects = route->flags & RTF_REJECT; /* such a route shows no interface */

    if (rejects && !extended)
        return put_string(dst, "    - -          - -");
    if (rejects) {
        dst = PUT(layout_route_put_number(dst, route->metric, 6), "-  ");
        dst = put_signed_right(dst, route->use, 7);
        return put_string(dst, extended == 1 ? " -" : " -        -     -      -");
    }
    if (extended > 1) {
        dst = PUT(layout_route_put_usage(dst, route, 3, 6), " ");
        dst = PUT(text_pad(layout_route_put_device(dst, routes, record), dst, 6), "   ");
        dst = layout_route_put_number(dst, packet_size(record), 5);
        dst = layout_route_put_number(dst, route->window, 6);
        return put_signed(dst, route->irtt);
    }
    if (extended) {
        dst = layout_route_put_usage(dst, route, 2, 7);
    } else { /* MSS, window and irtt: 0 if the route does not set them */
        dst = PUT(put_signed_right(dst, packet_size(record), 5), " ");
        dst = layout_route_put_number(dst, route->window, 5);
        dst = put_signed_right(dst, route->irtt, 6);
    }
    *dst++ = ' ';
    return layout_route_put_device(dst, routes, record);
}

/* Writes mask and flags. A route that rejects packets shows neither U nor G. */
static char *put_mask_and_flags(char *dst, struct route_sink *routes, const struct record *record)
{
    static const struct flag_text letters[] = {
        {RTF_UP, "U"},        {RTF_GATEWAY, "G"},  {RTF_REJECT, "!"},    {RTF_HOST, "H"},
        {RTF_REINSTATE, "R"}, {RTF_DYNAMIC, "D"},  {RTF_MODIFIED, "M"},  {RTF_DEFAULT, "d"},
        {RTF_ALLONLINK, "a"}, {RTF_ADDRCONF, "c"}, {RTF_NONEXTHOP, "o"}, {RTF_EXPIRES, "e"},
        {RTF_CACHE, "c"},     {RTF_FLOW, "f"},     {RTF_POLICY, "p"},    {0x80000000u, "l"},
        {RTF_MTU, "u"},       {RTF_WINDOW, "w"},   {RTF_IRTT, "i"},
    };
    const struct route_record *route = &record->route;
    const uint32_t hidden = (route->flags & RTF_REJECT) ? RTF_UP | RTF_GATEWAY : 0;
    const bool known = !layout_route_is_hidden(record);
    const uint64_t key = (uint64_t)known << 40 | (uint64_t)route->flags << 8 | route->prefix;
    char *start = dst, *end;

    if (is_known(&routes->mask_and_flags, key))
        return put_remembered(dst, &routes->mask_and_flags);
    dst = end_cell(put_netmask(dst, route->prefix), dst, ADDRESS_WIDTH);
    end = known ? put_flags(dst, route->flags & ~hidden, letters, COUNT(letters)) : PUT(dst, "-");
    dst = end_cell(end, dst, FLAGS_WIDTH);
    layout_route_remember(&routes->mask_and_flags, key, start, dst);
    return dst;
}

/* Rows of the cache begin with the source, which is unknown, and have no mask. An IPv6 gateway is
 * shown as 0.0.0.0, as in netstat, because the kernel's file does not have it. */
static char *layout_route_put_ipv4(char *dst, struct route_sink *routes,
                                   const struct record *record)
{
    const struct address *gateway = &record->route.gateway;
    const bool hidden = (record->route.flags & RTF_REJECT) || layout_route_is_hidden(record);
    const bool known = record->has & ROUTE_GATEWAY && gateway->family == AF_INET;
    char *end;

    if (routes->cache)
        dst = end_cell(PUT(dst, "0.0.0.0"), dst, ADDRESS_WIDTH);
    dst = end_cell(put_destination(dst, routes, record), dst, ADDRESS_WIDTH);
    end = hidden && !routes->cache ? PUT(dst, "-")
          : !known                 ? PUT(dst, "0.0.0.0")
          : routes->layout.numeric ? text_ipv4(dst, gateway->bytes)
                                   : put_host_of(dst, routes, gateway);
    dst = end_cell(end, dst, ADDRESS_WIDTH);
    if (!routes->cache)
        return layout_route_put_numbers(put_mask_and_flags(dst, routes, record), routes, record);
    dst = end_cell(put_string(dst, (record->has & ROUTE_GATEWAY) ? "G" : ""), dst, FLAGS_WIDTH);
    return layout_route_put_numbers(dst, routes, record);
}

/* --- IPv6 ------------------------------------------------------------------------------------- */

static char *put_address6(char *dst, const struct route_sink *routes, const struct address *address)
{
    if (routes->layout.numeric)
        return text_address(dst, address);
    if (address_is_unspecified(address))
        return put_string(dst, "[::]");
    return put_host_of(dst, routes, address);
}

/* Netlink does not report the number of references to a route. */
static char *put_ipv6(char *dst, struct route_sink *routes, const struct record *record)
{
    static const struct flag_text letters[] = {
        {RTF_UP, "U"},      {RTF_REJECT, "!"},   {RTF_GATEWAY, "G"},   {RTF_HOST, "H"},
        {RTF_DEFAULT, "D"}, {RTF_ADDRCONF, "A"}, {RTF_CACHE, "C"},     {RTF_ALLONLINK, "a"},
        {RTF_EXPIRES, "e"}, {RTF_MODIFIED, "m"}, {RTF_NONEXTHOP, "n"}, {RTF_FLOW, "f"},
    };
    const struct route_record *route = &record->route;
    char *start = dst, *end;

    dst = put_address6(dst, routes, &route->destination);
    *dst++ = '/';
    dst = end_cell(text_u64(dst, route->prefix), start, DESTINATION6_WIDTH);
    end =
        layout_route_is_hidden(record) ? PUT(dst, "-") : put_address6(dst, routes, &route->gateway);
    dst = end_cell(end, dst, GATEWAY6_WIDTH);
    end = layout_route_is_hidden(record) ? PUT(dst, "-")
                                         : put_flags(dst, route->flags, letters, COUNT(letters));
    dst = end_cell(end, dst, FLAGS6_WIDTH);
    dst = layout_route_put_number(dst, route->metric, 3);
    dst = (record->has & ROUTE_REFERENCES) ? layout_route_put_number(dst, route->references, 1)
                                           : PUT(dst, "- ");
    dst = put_signed_right(dst, route->use, 6);
    *dst++ = ' ';
    return layout_route_put_device(dst, routes, record);
}

/* --- The sink --------------------------------------------------------------------------------- */

static void layout_route_row(struct sink *sink, const struct record *record)
{
    struct route_sink *routes = (struct route_sink *)sink;
    char *dst = writer_reserve(sink->writer, routes->layout.numeric ? ROW_MAX : WRITER_RESERVE_MAX);

    if (record->route.destination.family == AF_INET6)
        dst = put_ipv6(dst, routes, record);
    else
        dst = layout_route_put_ipv4(dst, routes, record);
    *dst++ = '\n';
    writer_commit(sink->writer, dst);
}

static void layout_route_section(struct sink *sink, unsigned number)
{
    static const char *const numbers[] = {
        "Flags   MSS Window  irtt Iface",
        "Flags Metric Ref    Use Iface",
        "Flags Metric Ref    Use Iface    MSS   Window irtt",
    };
    struct route_sink *routes = (struct route_sink *)sink;
    const struct route_section *section = &routes->layout.sections[number];
    const unsigned extended = routes->layout.extended;

    routes->cache = section->cache;
    routes->device.length = 0; /* an interface may have been renamed since the last listing */
    if (!routes->layout.header)
        return;
    if (section->family == AF_INET) {
        writer_puts(sink->writer, section->cache
                                      ? "Kernel IP routing cache\n"
                                        "Source          Destination     Gateway         "
                                      : "Kernel IP routing table\n"
                                        "Destination     Gateway         Genmask         ");
        writer_puts(sink->writer, numbers[extended]);
        writer_puts(sink->writer,
                    section->cache && extended > 1 ? "  TOS HHRef HHUptod     SpecDst\n" : "\n");
        return;
    }
    writer_puts(sink->writer,
                section->cache ? "Kernel IPv6 routing cache\n" : "Kernel IPv6 routing table\n");
    writer_puts(sink->writer, "Destination                    Next Hop                   "
                              "Flag Met Ref  Use If\n");
}

const struct sink_ops sink_route = {
    .size = sizeof(struct route_sink),
    .layout_size = sizeof(struct route_layout),
    .section = layout_route_section,
    .row = layout_route_row,
};
