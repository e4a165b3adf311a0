/*
 * The layout of net-tools 2.10 netstat -r: headings, widths and wording of its lib/inet_gr.c and
 * lib/inet6_gr.c. Names are not cut, other than there.
 */
#include <linux/ipv6_route.h>
#include <linux/route.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/lookup.h"
#include "fastnet/route.h"
#include "fastnet/sink.h"
#include "fastnet/text.h"
#include "format/text/put.h"

enum {
    ADDRESS_WIDTH = 15,
    FLAGS_WIDTH = 5,
    DESTINATION6_WIDTH = 30,
    GATEWAY6_WIDTH = 26,
    FLAGS6_WIDTH = 4,
    MSS_ADDED = 40, /* what is shown is how large packets are */
    NAME_MAX_SHOWN = 1024,
    ROW_MAX = 1024,    /* the longest row without names of hosts and networks */
    NUMBERS_MAX = 256, /* all of it but names: addresses, flags, numbers, blanks */
};

_Static_assert(NUMBERS_MAX + ESCAPE_FACTOR * INTERFACE_TEXT_MAX <= ROW_MAX, "a row fits");
_Static_assert(ROW_MAX + 2 * ESCAPE_FACTOR * NAME_MAX_SHOWN <= WRITER_RESERVE_MAX, "with names");

/* What rows that follow each other often have in common, as it was written last. */
struct piece {
    uint64_t key;
    size_t length; /* 0: nothing was written */
    char text[80];
};

struct route_sink {
    struct sink sink;
    struct route_layout layout;
    bool cache; /* of the section at hand */
    struct piece mask_and_flags, device;
};

static bool is_known(const struct piece *piece, uint64_t key)
{
    return piece->length && piece->key == key;
}

static char *put_piece(char *dst, const struct piece *piece)
{
    return (char *)memcpy(dst, piece->text, piece->length) + piece->length;
}

/* Remembers what stands from start to end, if there is room for it. */
static void remember(struct piece *piece, uint64_t key, const char *start, const char *end)
{
    const size_t length = (size_t)(end - start);

    piece->key = key;
    piece->length = length <= sizeof piece->text ? length : 0;
    memcpy(piece->text, start, piece->length);
}

/* --- Parts of a row --------------------------------------------------------------------------- */

static char *put_number(char *dst, uint32_t number, size_t width)
{
    return text_pad(put_signed(dst, number), dst, width);
}

static char *put_number_right(char *dst, uint32_t number, size_t width)
{
    return put_right(put_signed(dst, number), dst, width);
}

/* A name from a database, with nothing in it that a terminal obeys; NULL when there is none. */
static char *put_name(char *dst, const char *name)
{
    if (!name || strnlen(name, NAME_MAX_SHOWN + 1) > NAME_MAX_SHOWN)
        return NULL;
    return escape_text(dst, name, strlen(name), " ");
}

/* The first bits of an IPv4 address. */
static void mask_of(uint8_t prefix, uint8_t mask[4])
{
    for (unsigned i = 0; i < 4; i++) {
        const unsigned bits = prefix > 8 * i ? prefix - 8 * i : 0;
        mask[i] = bits >= 8 ? 0xff : (uint8_t)(0xff00u >> bits);
    }
}

static char *put_host(char *dst, const struct route_sink *routes, const struct address *address)
{
    const struct hosts *hosts = routes->sink.context->hosts;
    char *end = hosts ? put_name(dst, hosts_name(hosts, address)) : NULL;

    return end ? end : text_address(dst, address);
}

/* --- IPv4 ------------------------------------------------------------------------------------- */

static char *put_destination(char *dst, const struct route_sink *routes,
                             const struct record *record)
{
    const struct route_record *route = &record->route;
    const struct context *context = routes->sink.context;
    char *end;

    if (routes->layout.numeric)
        return text_ipv4(dst, route->destination.bytes);
    if (address_is_unspecified(&route->destination))
        return put_string(dst, route->prefix ? "0.0.0.0" : "default");
    if (route_is_to_host(record))
        return put_host(dst, routes, &route->destination);
    end = put_name(dst, networks_name(context->networks, &route->destination));
    return end ? end : text_ipv4(dst, route->destination.bytes);
}

/* Of an IPv6 gateway the kernel's file, and so netstat, does not know. */
static char *put_gateway(char *dst, const struct route_sink *routes, const struct record *record)
{
    const struct route_record *route = &record->route;

    if (!(record->has & ROUTE_GATEWAY) || route->gateway.family != AF_INET)
        return put_string(dst, "0.0.0.0");
    if (routes->layout.numeric)
        return text_ipv4(dst, route->gateway.bytes);
    return put_host(dst, routes, &route->gateway);
}

struct letter {
    uint32_t flag;
    char letter;
};

static char *put_letters(char *dst, uint32_t flags, const struct letter *letters, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (flags & letters[i].flag)
            *dst++ = letters[i].letter;
    return dst;
}

/* A route that is rejected is neither up nor has it a gateway, in letters. */
static char *put_flags(char *dst, uint32_t flags)
{
    static const struct letter letters[] = {
        {RTF_UP, 'U'},        {RTF_GATEWAY, 'G'},  {RTF_REJECT, '!'},    {RTF_HOST, 'H'},
        {RTF_REINSTATE, 'R'}, {RTF_DYNAMIC, 'D'},  {RTF_MODIFIED, 'M'},  {RTF_DEFAULT, 'd'},
        {RTF_ALLONLINK, 'a'}, {RTF_ADDRCONF, 'c'}, {RTF_NONEXTHOP, 'o'}, {RTF_EXPIRES, 'e'},
        {RTF_CACHE, 'c'},     {RTF_FLOW, 'f'},     {RTF_POLICY, 'p'},    {0x80000000u, 'l'},
        {RTF_MTU, 'u'},       {RTF_WINDOW, 'w'},   {RTF_IRTT, 'i'},
    };

    if (flags & RTF_REJECT)
        flags &= ~(uint32_t)(RTF_UP | RTF_GATEWAY);
    return put_letters(dst, flags, letters, COUNT(letters));
}

/* The name of an interface that netlink has the number of. */
static char *put_interface(char *dst, struct route_sink *routes, uint32_t index)
{
    struct interfaces *interfaces = routes->sink.context->interfaces;
    const char *name = NULL;
    char *end;

    if (is_known(&routes->device, index))
        return put_piece(dst, &routes->device);
    if (interfaces)
        name = interfaces_name(interfaces, index);
    end = name ? escape_text(dst, name, strlen(name), " ") : text_u64(dst, index);
    remember(&routes->device, index, dst, end);
    return end;
}

static char *put_device(char *dst, struct route_sink *routes, const struct record *record)
{
    const struct route_record *route = &record->route;

    if (record->has & ROUTE_DEVICE)
        return escape_text(dst, route->device.data, route->device.length, " ");
    if (!(record->has & ROUTE_INTERFACE))
        return put_string(dst, route->destination.family == AF_INET ? "*" : "");
    return put_interface(dst, routes, route->interface);
}

/* MSS, window and irtt, which are 0 where they are not set. */
static char *put_path(char *dst, const struct record *record)
{
    const struct route_record *route = &record->route;
    const uint32_t mss = (record->has & ROUTE_MSS) ? route->mss + MSS_ADDED : 0;

    dst = put_number_right(dst, mss, 5);
    *dst++ = ' ';
    dst = put_number(dst, route->window, 5);
    *dst++ = ' ';
    return put_number_right(dst, route->irtt, 6);
}

/* Metric, references and use; the kernel has counted the last two for IPv4 as 0 for long. */
static char *put_usage(char *dst, const struct route_record *route, size_t width, size_t use_width)
{
    dst = put_number(dst, route->metric, 6);
    *dst++ = ' ';
    dst = put_number(dst, route->references, width);
    *dst++ = ' ';
    return put_number_right(dst, route->use, use_width);
}

static char *put_all(char *dst, struct route_sink *routes, const struct record *record)
{
    const struct route_record *route = &record->route;
    char *start;

    dst = put_usage(dst, route, 3, 6);
    *dst++ = ' ';
    start = dst;
    dst = text_pad(put_device(dst, routes, record), start, 6);
    dst = put_string(dst, "   ");
    dst = put_number(dst, (record->has & ROUTE_MSS) ? route->mss + MSS_ADDED : 0, 5);
    *dst++ = ' ';
    dst = put_number(dst, route->window, 6);
    *dst++ = ' ';
    return put_signed(dst, route->irtt);
}

/* A route that is rejected leads nowhere. */
static char *put_rejected(char *dst, const struct route_sink *routes,
                          const struct route_record *route)
{
    if (routes->layout.extended == 0)
        return put_string(dst, "    - -          - -");
    dst = put_number(dst, route->metric, 6);
    dst = put_string(dst, " -  ");
    dst = put_number_right(dst, route->use, 7);
    return put_string(dst, routes->layout.extended == 1 ? " -" : " -        -     -      -");
}

static char *put_numbers(char *dst, struct route_sink *routes, const struct record *record)
{
    const struct route_record *route = &record->route;

    if (route->flags & RTF_REJECT)
        return put_rejected(dst, routes, route);
    if (routes->layout.extended > 1)
        return put_all(dst, routes, record);
    dst = routes->layout.extended ? put_usage(dst, route, 2, 7) : put_path(dst, record);
    *dst++ = ' ';
    return put_device(dst, routes, record);
}

static char *put_mask(char *dst, uint8_t prefix)
{
    uint8_t mask[4];

    mask_of(prefix, mask);
    return text_ipv4(dst, mask);
}

static char *put_mask_and_flags(char *dst, struct route_sink *routes,
                                const struct route_record *route)
{
    const uint64_t key = (uint64_t)route->flags << 8 | route->prefix;
    char *start = dst;

    if (is_known(&routes->mask_and_flags, key))
        return put_piece(dst, &routes->mask_and_flags);
    dst = text_pad(put_mask(dst, route->prefix), start, ADDRESS_WIDTH);
    *dst++ = ' ';
    dst = text_pad(put_flags(dst, route->flags), dst, FLAGS_WIDTH);
    *dst++ = ' ';
    remember(&routes->mask_and_flags, key, start, dst);
    return dst;
}

static char *put_ipv4(char *dst, struct route_sink *routes, const struct record *record)
{
    const struct route_record *route = &record->route;
    char *start = dst;

    dst = text_pad(put_destination(dst, routes, record), start, ADDRESS_WIDTH);
    *dst++ = ' ';
    start = dst;
    dst = (route->flags & RTF_REJECT) ? put_string(dst, "-") : put_gateway(dst, routes, record);
    dst = text_pad(dst, start, ADDRESS_WIDTH);
    *dst++ = ' ';
    dst = put_mask_and_flags(dst, routes, route);
    return put_numbers(dst, routes, record);
}

/* The cache's rows begin with the source, which is not known, and have no mask. */
static char *put_cached_ipv4(char *dst, struct route_sink *routes, const struct record *record)
{
    char *start;

    dst = put_padded(dst, "0.0.0.0", ADDRESS_WIDTH);
    *dst++ = ' ';
    start = dst;
    dst = text_pad(put_destination(dst, routes, record), start, ADDRESS_WIDTH);
    *dst++ = ' ';
    start = dst;
    dst = text_pad(put_gateway(dst, routes, record), start, ADDRESS_WIDTH);
    *dst++ = ' ';
    dst = put_padded(dst, (record->has & ROUTE_GATEWAY) ? "G" : "", FLAGS_WIDTH);
    *dst++ = ' ';
    return put_numbers(dst, routes, record);
}

/* --- IPv6 ------------------------------------------------------------------------------------- */

static char *put_address6(char *dst, const struct route_sink *routes, const struct address *address)
{
    if (routes->layout.numeric)
        return text_address(dst, address);
    if (address_is_unspecified(address))
        return put_string(dst, "[::]");
    return put_host(dst, routes, address);
}

static char *put_flags6(char *dst, uint32_t flags)
{
    static const struct letter letters[] = {
        {RTF_UP, 'U'},      {RTF_REJECT, '!'},   {RTF_GATEWAY, 'G'},   {RTF_HOST, 'H'},
        {RTF_DEFAULT, 'D'}, {RTF_ADDRCONF, 'A'}, {RTF_CACHE, 'C'},     {RTF_ALLONLINK, 'a'},
        {RTF_EXPIRES, 'e'}, {RTF_MODIFIED, 'm'}, {RTF_NONEXTHOP, 'n'}, {RTF_FLOW, 'f'},
    };

    return put_letters(dst, flags, letters, COUNT(letters));
}

/* How often the kernel refers to a route is not known by netlink. */
static char *put_ipv6(char *dst, struct route_sink *routes, const struct record *record)
{
    const struct route_record *route = &record->route;
    char *start = dst;

    dst = put_address6(dst, routes, &route->destination);
    *dst++ = '/';
    dst = text_pad(text_u64(dst, route->prefix), start, DESTINATION6_WIDTH);
    *dst++ = ' ';
    start = dst;
    dst = text_pad(put_address6(dst, routes, &route->gateway), start, GATEWAY6_WIDTH);
    *dst++ = ' ';
    dst = text_pad(put_flags6(dst, route->flags), dst, FLAGS6_WIDTH);
    *dst++ = ' ';
    dst = put_number(dst, route->metric, 3);
    *dst++ = ' ';
    dst = (record->has & ROUTE_REFERENCES) ? put_number(dst, route->references, 1)
                                           : put_string(dst, "-");
    *dst++ = ' ';
    dst = put_number_right(dst, route->use, 6);
    *dst++ = ' ';
    return put_device(dst, routes, record);
}

/* --- The sink --------------------------------------------------------------------------------- */

static void row(struct sink *sink, const struct record *record)
{
    struct route_sink *routes = (struct route_sink *)sink;
    char *dst = writer_reserve(sink->writer, routes->layout.numeric ? ROW_MAX : WRITER_RESERVE_MAX);

    if (record->route.destination.family == AF_INET6)
        dst = put_ipv6(dst, routes, record);
    else if (routes->cache)
        dst = put_cached_ipv4(dst, routes, record);
    else
        dst = put_ipv4(dst, routes, record);
    *dst++ = '\n';
    writer_commit(sink->writer, dst);
}

static void put_heading_ipv4(struct writer *writer, bool cache, unsigned extended)
{
    static const char *const numbers[] = {
        "Flags   MSS Window  irtt Iface",
        "Flags Metric Ref    Use Iface",
        "Flags Metric Ref    Use Iface    MSS   Window irtt",
    };

    writer_puts(writer, cache ? "Kernel IP routing cache\n"
                                "Source          Destination     Gateway         "
                              : "Kernel IP routing table\n"
                                "Destination     Gateway         Genmask         ");
    writer_puts(writer, numbers[extended]);
    if (cache && extended > 1)
        writer_puts(writer, "  TOS HHRef HHUptod     SpecDst");
    writer_puts(writer, "\n");
}

static void put_heading_ipv6(struct writer *writer, bool cache)
{
    writer_puts(writer, cache ? "Kernel IPv6 routing cache\n" : "Kernel IPv6 routing table\n");
    writer_puts(writer, "Destination                    Next Hop                   "
                        "Flag Met Ref  Use If\n");
}

static void section(struct sink *sink, unsigned number)
{
    struct route_sink *routes = (struct route_sink *)sink;
    const struct route_section *of = &routes->layout.sections[number];

    routes->cache = of->cache;
    routes->device.length = 0; /* a number can have got another name since the listing before */
    if (!routes->layout.header)
        return;
    if (of->family == AF_INET6)
        put_heading_ipv6(sink->writer, of->cache);
    else
        put_heading_ipv4(sink->writer, of->cache, routes->layout.extended);
}

static void nothing(struct sink *sink)
{
    (void)sink;
}

static void destroy(struct sink *sink)
{
    free(sink);
}

struct sink *sink_route_create(const struct route_layout *layout, struct writer *writer,
                               const struct context *context)
{
    static const struct sink_ops ops = {.begin = nothing,
                                        .section = section,
                                        .row = row,
                                        .end = nothing,
                                        .destroy = destroy,
                                        .clone = NULL};
    struct route_sink *routes = malloc(sizeof *routes);

    if (!routes)
        return NULL;
    *routes = (struct route_sink){.sink = {&ops, writer, context}, .layout = *layout};
    return &routes->sink;
}
