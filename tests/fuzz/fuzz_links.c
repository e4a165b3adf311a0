/* SPDX-License-Identifier: MIT */
/*
 * Interfaces and their addresses as the backend lists them, and as names are completed with them:
 * the dumps of rtnetlink. The first byte says which; then come datagrams, each behind two bytes of
 * length, as in the recorded dumps. Each dump is answered with all of them: the sequence number
 * of a message says which one it is for.
 */
#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/interface/decode.h"
#include "backend/netlink/netlink.h"
#include "datagrams.h"
#include "fastnet/array.h"
#include "fastnet/field.h"
#include "fastnet/hosts.h"
#include "fastnet/interfaces.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fuzz.h"
#include "written.h"

enum { LAYOUTS = 2, NONE = -1 };

/* What the rows are checked against: the addresses in the order in which they came. */
struct addresses {
    struct interface_address *all;
    size_t count, capacity;
};

struct input {
    struct addresses addresses;
    struct record row;  /* of an interface, whose labels follow */
    int label;          /* the address whose label came last, or NONE */
    size_t labels_left; /* how many are still to come */
    struct written written[LAYOUTS];
};

static struct value value_of(const struct record *record, const char *name)
{
    static const struct context none = {0};

    return field_value(field_find(record->kind, name, strlen(name)), record, &none);
}

static int keep_address(const struct nlmsghdr *message, void *arg)
{
    struct addresses *addresses = arg;
    struct interface_address address, *all;

    if (message->nlmsg_type != RTM_NEWADDR || address_decode(message, &address) < 0)
        return 0;
    all = array_with_room(addresses->all, &addresses->capacity, addresses->count + 1, sizeof *all);
    require(all != NULL);
    addresses->all = all;
    all[addresses->count++] = address;
    return 0;
}

/* The first dump of the backend, once more. */
static int read_addresses(struct datagrams *datagrams, struct addresses *addresses)
{
    struct netlink_peer peer = datagrams_peer(datagrams);
    struct report report = {.partial = false};
    struct netlink *netlink = netlink_create(&peer);
    struct nlmsghdr request = {.nlmsg_len = sizeof request, .nlmsg_type = RTM_GETADDR};
    int result;

    require(netlink != NULL);
    result = netlink_dump(netlink, NETLINK_ROUTE, &request, keep_address, addresses, &report);
    netlink_destroy(netlink);
    return result;
}

/* The next one of the interface; after NONE the first. */
static int next_address(const struct addresses *addresses, uint32_t interface, int after)
{
    for (int i = after + 1; i < (int)addresses->count; i++)
        if (addresses->all[i].interface == interface)
            return i;
    return NONE;
}

static void check_address(const struct interface_address *address,
                          const struct interface_address *expected)
{
    require(address->interface == expected->interface &&
            address->local.prefix == expected->local.prefix);
    require(address_equal(&address->local.address, &expected->local.address));
    require(address_equal(&address->peer, &expected->peer));
    require(address_equal(&address->broadcast, &expected->broadcast));
    require(strcmp(address->label, expected->label) == 0);
}

/* A mapped address is written as the IPv4 address that it holds. */
static void check_written(const char *text, const struct address *address)
{
    const bool mapped = address_is_mapped(address);
    const bool ipv4 = address->family == AF_INET || mapped;
    uint8_t read_back[16];

    require(inet_pton(ipv4 ? AF_INET : AF_INET6, text, read_back) == 1);
    require(memcmp(read_back, address->bytes + (mapped ? 12 : 0), ipv4 ? 4 : 16) == 0);
}

/* The next item of a list with commas must be this address. */
static const char *check_address_text(const char *at, const char *end,
                                      const struct interface_address *address)
{
    const size_t left = (size_t)(end - at);
    const char *comma = memchr(at, ',', left);
    char text[INET6_ADDRSTRLEN + 5], expected[5];
    const size_t length = comma ? (size_t)(comma - at) : left;
    char *slash;

    require(length > 0 && length < sizeof text);
    memcpy(text, at, length);
    text[length] = '\0';
    slash = strchr(text, '/');
    require(slash != NULL);
    *slash = '\0';
    check_written(text, &address->local.address);
    snprintf(expected, sizeof expected, "%u", address->local.prefix);
    require(strcmp(slash + 1, expected) == 0);
    return comma ? comma + 1 : end;
}

/* All addresses of the interface and no other, in the order in which they came, also as text. */
static void check_addresses(const struct input *input, const struct record *row)
{
    const struct interface_record *interface = &row->interface;
    const struct value value = value_of(row, "addresses");
    char *text = malloc(value_bound(&value) + 1);
    const char *at = text, *end;
    int found = NONE;

    require(text != NULL);
    end = interface->address_count ? value_write(text, &value, NULL) : text;

    for (size_t i = 0; i < interface->address_count; i++) {
        found = next_address(&input->addresses, interface->index, found);
        require(found != NONE);
        check_address(&interface->addresses[i], &input->addresses.all[found]);
        at = check_address_text(at, end, &interface->addresses[i]);
    }
    require(next_address(&input->addresses, interface->index, found) == NONE);
    require(at == end);
    free(text);
}

static bool is_name(const struct text *name, const char *label)
{
    return strlen(label) == name->length && memcmp(label, name->data, name->length) == 0;
}

/* The next address that is the first one of its interface with a label that is not the name. */
static int next_label(const struct input *input, int after)
{
    const struct interface_record *interface = &input->row.interface;
    const struct interface_address *all = input->addresses.all;

    for (int i = after;;) {
        int first = NONE;
        i = next_address(&input->addresses, interface->index, i);
        if (i == NONE)
            return NONE;
        if (!*all[i].label || is_name(&interface->name, all[i].label))
            continue;
        do
            first = next_address(&input->addresses, interface->index, first);
        while (strcmp(all[first].label, all[i].label) != 0);
        if (first == i)
            return i;
    }
}

static void check_label(struct input *input, const struct record *record)
{
    const struct interface_record *interface = &record->interface;
    const int found = next_label(input, input->label);

    require(found != NONE);
    require(interface->address_count == 1 &&
            is_name(&interface->name, interface->addresses->label));
    check_address(interface->addresses, &input->addresses.all[found]);
    require(!(record->has & (INTERFACE_COUNTERS | INTERFACE_DETAILS | INTERFACE_NOHANDLER |
                             INTERFACE_QUEUE_DROPS)));
    require(value_of(record, "addresses").type == VALUE_UNKNOWN);
    require(interface->index == input->row.interface.index);
    require(input->labels_left-- > 0);
    input->label = found;
}

/* An interface; no label of the one before it may be missing. */
static void check_interface(struct input *input, const struct record *record)
{
    require(input->labels_left == 0);
    input->row = *record;
    input->label = NONE;
    if (!(record->has & INTERFACE_ADDRESSES))
        return;
    check_addresses(input, record);
    for (int i = next_label(input, NONE); i != NONE; i = next_label(input, i))
        input->labels_left++;
}

static int take_row(const struct record *record, void *arg)
{
    struct input *input = arg;

    require(record->kind == &kind_interface && record->identity == 0);
    require(!(record->has & ~backend_fields(&backend_link, &table_interfaces)));
    require(record->interface.name.length > 0);
    if (record->interface.labelled)
        check_label(input, record);
    else
        check_interface(input, record);
    require(!(record->has & INTERFACE_QUEUE_DROPS) ||
            value_of(record, "tx_queue_drops").number == record->interface.queue_drops);
    for (size_t i = 0; i < LAYOUTS; i++)
        written_row(&input->written[i], record);
    return 0;
}

/* With addresses, or else without: then no row has any, and there are no labels. */
static void list_interfaces(struct datagrams *datagrams, uint64_t needs)
{
    const bool with_addresses = needs & INTERFACE_ADDRESSES;
    static const struct context no_names;
    const struct netlink_peer peer = datagrams_peer(datagrams);
    struct input input = {.label = NONE};
    struct report report = {.partial = false};
    struct query query = {.table = &table_interfaces,
                          .needs = needs,
                          .proc_root = "/nonexistent",
                          .netlink = netlink_create(&peer),
                          .report = &report};
    const int known = with_addresses ? read_addresses(datagrams, &input.addresses) : 0;
    int result;

    require(query.netlink != NULL);
    for (size_t i = 0; i < LAYOUTS; i++) {
        const struct interface_layout layout = {.extended = i == 1, .header = true};
        struct writer *writer = written_writer(&input.written[i]);
        written_begin(&input.written[i], sink_create(&sink_interface, &layout, writer, &no_names),
                      "", true);
    }
    result = backend_link.dump(&query, take_row, &input);
    require(result <= 0 && (known == 0 || result == known));
    require(result < 0 || input.labels_left == 0);
    for (size_t i = 0; i < LAYOUTS; i++)
        written_end(&input.written[i]);
    netlink_destroy(query.netlink);
    free(input.addresses.all);
}

/* What is said of an interface last is what is known of it. */
static int add_interface(const struct interface *interface, void *arg)
{
    struct interfaces *interfaces = arg;

    require(interface->index != 0 && interface->name != NULL);
    require(interfaces_add(interfaces, interface) == 0);
    require(strcmp(interfaces_name(interfaces, interface->index), interface->name) == 0);
    require(interfaces_get(interfaces, interface->index)->hardware == interface->hardware);
    require(interfaces_get(interfaces, interface->index)->master == interface->master);
    require(interfaces_get(interfaces, interface->index)->netns == interface->netns);
    return 0;
}

static void name_interfaces(struct datagrams *datagrams)
{
    const struct netlink_peer peer = datagrams_peer(datagrams);
    struct netlink *netlink = netlink_create(&peer);
    struct interfaces *interfaces = interfaces_create();
    struct report report = {.partial = false};

    require(netlink != NULL && interfaces != NULL);
    require(links_dump(netlink, add_interface, interfaces, &report) <= 0);
    require(interfaces_error(interfaces) == 0);
    interfaces_destroy(interfaces);
    netlink_destroy(netlink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct datagrams datagrams;

    if (size == 0)
        return 0;
    datagrams = (struct datagrams){data + 1, size - 1, 0, false};
    switch (data[0] % 4) {
    case 0:
        list_interfaces(&datagrams, ~INTERFACE_QUEUE_DROPS);
        break;
    case 1:
        list_interfaces(&datagrams, ~(INTERFACE_QUEUE_DROPS | INTERFACE_ADDRESSES));
        break;
    case 2:
        name_interfaces(&datagrams);
        break;
    default:
        list_interfaces(&datagrams, ~INTERFACE_ADDRESSES);
        break;
    }
    return 0;
}
