/*
 * Interfaces by rtnetlink(7): their addresses by one dump (RTM_GETADDR), where they are needed, and
 * then all interfaces by another (RTM_GETLINK).
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/interface/link_decode.h"
#include "backend/netlink/netlink.h"
#include "fastnet/array.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fastnet/sort.h"
#include "fastnet/text.h"

const struct table table_interfaces = {.name = "dev", .file = "dev", .kind = &kind_interface};

static uint64_t fields(const struct table *table)
{
    return table->kind == &kind_interface ? UINT64_MAX : 0;
}

/* One reading of the two tables. */
struct reading {
    const struct query *query;
    record_fn fn;
    void *arg;
    struct interface_address *addresses; /* by interface, else as they came */
    size_t count, capacity;
    char *text; /* of the addresses of the interface at hand */
    size_t text_size;
    char lladdr[LLADDR_TEXT_MAX];
    struct record record;
};

static void report_malformed(const struct reading *reading)
{
    report_loss(reading->query->report, "%s: a netlink message is malformed",
                reading->query->table->name);
}

/* --- Addresses -------------------------------------------------------------------------------- */

static int take_address(const struct nlmsghdr *message, void *arg)
{
    struct reading *reading = arg;
    struct interface_address address, *addresses;
    int result;

    if (message->nlmsg_type != RTM_NEWADDR)
        return 0;
    result = address_decode(message, &address);
    if (result == -EBADMSG)
        report_malformed(reading);
    if (result < 0)
        return 0;
    addresses = array_with_room(reading->addresses, &reading->capacity, reading->count + 1,
                                sizeof *addresses);
    if (!addresses)
        return -ENOMEM;
    addresses[reading->count++] = address;
    reading->addresses = addresses;
    return 0;
}

static int compare_interfaces(const void *a, const void *b, void *arg)
{
    const uint32_t left = ((const struct interface_address *)a)->interface;
    const uint32_t right = ((const struct interface_address *)b)->interface;

    (void)arg;
    return (left > right) - (left < right);
}

static int read_addresses(struct reading *reading)
{
    enum { REQUEST_MAX = 64 };
    _Alignas(struct nlmsghdr) char place[REQUEST_MAX];
    struct nlmsghdr *request = mnl_nlmsg_put_header(place);
    int result;

    mnl_nlmsg_put_extra_header(request, sizeof(struct ifaddrmsg));
    request->nlmsg_type = RTM_GETADDR;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    result = netlink_dump(reading->query->netlink, NETLINK_ROUTE, request, take_address, reading,
                          reading->query->report);
    if (result < 0)
        return result;
    /* Those of one interface stay as the kernel dumps them: IPv4 before IPv6. */
    return sort_stable(reading->addresses, reading->count, sizeof *reading->addresses,
                       compare_interfaces, NULL);
}

/* The first address of the interface, or of one with a greater number. */
static size_t find_addresses(const struct reading *reading, uint32_t interface)
{
    size_t from = 0, to = reading->count;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (reading->addresses[middle].interface < interface)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static int put_text(struct reading *reading, struct interface_record *interface)
{
    const size_t bound = interface->address_count * (TEXT_ADDRESS_MAX + 5) + 1;
    char *text = reading->text_size < bound ? realloc(reading->text, bound) : reading->text;
    char *end = text;

    if (!text)
        return -ENOMEM;
    reading->text = text;
    reading->text_size = reading->text_size < bound ? bound : reading->text_size;
    for (size_t i = 0; i < interface->address_count; i++) {
        const struct interface_address *address = &interface->addresses[i];
        if (i)
            *end++ = ',';
        end = text_address(end, &address->local);
        *end++ = '/';
        end = text_u64(end, address->prefix);
    }
    interface->addresses_text = (struct text){text, (size_t)(end - text)};
    return 0;
}

static int set_addresses(struct reading *reading)
{
    struct interface_record *interface = &reading->record.interface;
    size_t at;

    if (!(reading->query->needs & INTERFACE_ADDRESSES))
        return 0;
    reading->record.has |= INTERFACE_ADDRESSES;
    if (!reading->count) /* nor is there an array */
        return 0;
    at = find_addresses(reading, interface->index);
    interface->addresses = reading->addresses + at;
    while (at < reading->count && reading->addresses[at].interface == interface->index) {
        interface->address_count++;
        at++;
    }
    reading->record.has |= INTERFACE_ADDRESSES;
    return put_text(reading, interface);
}

/* --- Interfaces ------------------------------------------------------------------------------- */

/* Whether an address before this one has its label. */
static bool is_known_label(const struct interface_record *interface, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (strcmp(interface->addresses[before].label, interface->addresses[i].label) == 0)
            return true;
    return false;
}

/*
 * What ifconfig(8) calls an alias: a label other than the name, which is shown as an interface with
 * neither statistics nor IPv6. One address of it is enough, since no more is shown.
 */
static int hand_on_labels(struct reading *reading)
{
    const struct interface_record *interface = &reading->record.interface;
    int result = 0;

    for (size_t i = 0; i < interface->address_count && result >= 0; i++) {
        const struct interface_address *address = &interface->addresses[i];
        const struct text label = {address->label, strlen(address->label)};
        struct record row = reading->record;
        if (!label.length ||
            (label.length == interface->name.length &&
             memcmp(label.data, interface->name.data, label.length) == 0) ||
            is_known_label(interface, i))
            continue;
        row.has &= ~INTERFACE_COUNTERS;
        row.interface.name = label;
        row.interface.labelled = true;
        row.interface.addresses = address;
        row.interface.address_count = 1;
        row.interface.addresses_text = (struct text){0};
        result = reading->fn(&row, reading->arg);
    }
    return result;
}

static int take_link(const struct nlmsghdr *message, void *arg)
{
    struct reading *reading = arg;
    int result;

    if (message->nlmsg_type != RTM_NEWLINK)
        return 0;
    if (link_decode(message, &reading->record, reading->lladdr) < 0)
        report_malformed(reading);
    if (!reading->record.has)
        return 0;
    result = set_addresses(reading);
    if (result < 0)
        return result;
    result = reading->fn(&reading->record, reading->arg);
    return result < 0 ? result : hand_on_labels(reading);
}

static int read_links(struct reading *reading)
{
    enum { REQUEST_MAX = 64 };
    _Alignas(struct nlmsghdr) char place[REQUEST_MAX];
    struct nlmsghdr *request = mnl_nlmsg_put_header(place);

    mnl_nlmsg_put_extra_header(request, sizeof(struct ifinfomsg));
    request->nlmsg_type = RTM_GETLINK;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    return netlink_dump(reading->query->netlink, NETLINK_ROUTE, request, take_link, reading,
                        reading->query->report);
}

static int dump(const struct query *query, record_fn fn, void *arg)
{
    struct reading reading = {.query = query, .fn = fn, .arg = arg};
    int result = (query->needs & INTERFACE_ADDRESSES) ? read_addresses(&reading) : 0;

    if (result == 0)
        result = read_links(&reading);
    free(reading.addresses);
    free(reading.text);
    return result;
}

const struct backend backend_link = {
    .name = "netlink",
    .source = BACKEND_NETLINK,
    .fields = fields,
    .dump = dump,
};
