/* SPDX-License-Identifier: MIT */
/*
 * Routes, interfaces and addresses: rtnetlink's messages, and lines of the kernel's files. The
 * first byte says which of them the rest is.
 */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/interface/decode.h"
#include "backend/proc/lines.h"
#include "backend/route/decode.h"
#include "fastnet/hosts.h"
#include "fastnet/interfaces.h"
#include "fastnet/route.h"
#include "fuzz.h"
#include "written.h"

enum { MESSAGE_MAX = 4096, LAYOUTS = 4 };

/* The layouts of routes with few and with all numbers, then those of interfaces. */
static struct written layouts[LAYOUTS];

static void write_route(const struct record *record)
{
    written_row(&layouts[0], record);
    written_row(&layouts[1], record);
}

static void write_interface(const struct record *record)
{
    written_row(&layouts[2], record);
    written_row(&layouts[3], record);
}

static void begin_layouts(const struct context *context)
{
    for (size_t i = 0; i < LAYOUTS; i++) {
        const struct route_layout routes = {
            .sections = {{AF_INET, false}}, .extended = i ? 2 : 0, .numeric = true, .header = true};
        const struct interface_layout interfaces = {.extended = i == 3, .header = true};
        struct writer *writer = written_writer(&layouts[i]);
        written_begin(&layouts[i],
                      i < 2 ? sink_create(&sink_route, &routes, writer, context)
                            : sink_create(&sink_interface, &interfaces, writer, context),
                      "", true);
    }
}

static void check_text(const struct text *text, const char *start, const char *end)
{
    require(!text->length || (text->data >= start && text->data + text->length <= end));
}

static void check_addresses(const struct record *record)
{
    const struct route_record *route = &record->route;

    require_address(&route->destination, route->destination.family);
    if (record->has & ROUTE_GATEWAY)
        require_address(&route->gateway, route->gateway.family);
    if (record->has & ROUTE_SOURCE)
        require_address(&route->source, route->destination.family);
    if (record->has & ROUTE_FROM)
        require_address(&route->from, route->destination.family);
}

static void check_route(const struct record *record)
{
    const struct route_record *route = &record->route;
    const unsigned bits = 8 * (unsigned)address_size(&route->destination);

    require(record->kind == &kind_route && record->identity == 0);
    require(!(record->has & ~backend_fields(&backend_route, &table_route)));
    require(route->prefix <= bits && route->from_prefix <= bits);
    check_addresses(record);
    require(!(record->has & ROUTE_MSS) == !route->mss);
    (void)route_is_to_host(record);
    (void)route_is_listed(record);
    write_route(record);
}

static void decode_route(const struct nlmsghdr *message)
{
    struct route_rows rows;
    int result;

    memset(&rows, 0xa5, sizeof rows);
    result = route_decode(message, &rows);
    require(result == 0 || result == -EBADMSG || result == -EOPNOTSUPP);
    if (!rows.record.has)
        return;
    check_route(&rows.record);
    while ((result = route_decode_nexthop(&rows)) > 0)
        check_route(&rows.record);
    require(result == 0 || result == -EBADMSG);
}

static void decode_link(const struct nlmsghdr *message)
{
    const char *start = (const char *)message, *end = start + message->nlmsg_len;
    const struct interface_record *interface;
    struct record record;

    memset(&record, 0xa5, sizeof record);
    link_decode(message, &record);
    if (!record.has)
        return;
    interface = &record.interface;
    require(interface->name.length > 0);
    check_text(&interface->name, start, end);
    check_text(&interface->kind, start, end);
    check_text(&interface->alias, start, end);
    require(interface->lladdr_length <= LLADDR_MAX);
    write_interface(&record);
}

static void decode_address(const struct nlmsghdr *message)
{
    struct interface_address address;

    memset(&address, 0xa5, sizeof address);
    if (address_decode(message, &address) < 0)
        return;
    require_address(&address.local.address, address.local.address.family);
    require_address(&address.peer, address.local.address.family);
    if (address.broadcast.family != AF_UNSPEC)
        require_address(&address.broadcast, address.local.address.family);
    require(address.local.prefix <= 8 * address_size(&address.local.address));
    require(memchr(address.label, '\0', sizeof address.label) != NULL);
}

/* The whole input is one message, whose length says so. */
static void decode_message(uint8_t kind, const uint8_t *data, size_t size)
{
    _Alignas(struct nlmsghdr) char place[MESSAGE_MAX];
    struct nlmsghdr *message = (void *)place;
    const size_t payload =
        size < MESSAGE_MAX - sizeof *message ? size : MESSAGE_MAX - sizeof *message;

    memset(message, 0, sizeof *message);
    message->nlmsg_len = (uint32_t)(sizeof *message + payload);
    memcpy(place + sizeof *message, data, payload);
    if (kind == 0)
        decode_route(message);
    else if (kind == 1)
        decode_link(message);
    else
        decode_address(message);
}

static void check_route_of_file(const struct record *record, const struct table *table,
                                const struct line *line)
{
    const struct text *device = &record->route.device;

    require(!(record->has & ~backend_fields(&backend_proc_route, table)));
    check_addresses(record);
    write_route(record);
    if (!(record->has & ROUTE_DEVICE))
        return;
    require(device->length > 0 && device->length <= INTERFACE_TEXT_MAX);
    check_text(device, line->data, line->data + line->length);
}

static void check_interface_of_file(const struct record *record, const struct line *line)
{
    check_text(&record->interface.name, line->data, line->data + line->length);
    write_interface(record);
}

static void decode_line(uint8_t kind, const struct line *line)
{
    struct record record;
    uint64_t routes = 0;

    memset(&record, 0xa5, sizeof record);
    if (kind == 3 && proc_route_decode_ipv4(line, &record) == 0)
        check_route_of_file(&record, &table_route, line);
    else if (kind == 4 && proc_route_decode_ipv6(line, &record) == 0)
        check_route_of_file(&record, &table_route6, line);
    else if (kind == 5 && proc_dev_decode(line, &record) == 0)
        check_interface_of_file(&record, line);
    else if (kind == 6 && proc_route_decode_statistics(line, &routes) == 0)
        require(routes <= UINT32_MAX);
}

static void decode_file(uint8_t kind, const uint8_t *data, size_t size)
{
    struct lines lines;
    struct line line;
    int fd = memfd_create("file", 0);

    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    require(lseek(fd, 0, SEEK_SET) == 0 && lines_init(&lines, fd) == 0);
    while (lines_next(&lines, &line) > 0)
        decode_line(kind, &line);
    lines_close(&lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t kind = size ? data[0] & 7 : 7;
    const struct context context = {.netns.interfaces = interfaces_create()};

    require(context.netns.interfaces != NULL);
    begin_layouts(&context);
    if (kind < 3)
        decode_message(kind, data + 1, size - 1);
    else if (kind < 7)
        decode_file(kind, data + 1, size - 1);
    for (size_t i = 0; i < LAYOUTS; i++)
        written_end(&layouts[i]);
    interfaces_destroy(context.netns.interfaces);
    return 0;
}
