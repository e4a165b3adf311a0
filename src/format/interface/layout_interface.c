/* SPDX-License-Identifier: MIT */
/* Layout of net-tools 2.10 netstat -i and -ie (ife_print_short(), _long() in lib/interface.c). */
#include <linux/if.h>
#include <linux/if_arp.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/hardware.h"
#include "fastnet/layouts.h"
#include "fastnet/text.h"
#include "text/put.h"

enum {
    NAME_WIDTH = 15,
    INTERFACE_MAX_SHOWN = 256,
    STATISTICS_WIDTH = 56,
    LINES_MAX = 4096,   /* bytes for an interface without its IPv6 addresses */
    ADDRESS_LINE = 256, /* bytes for a line with an IPv6 address */
};

struct interface_sink {
    struct sink sink;
    struct interface_layout layout;
    bool titled; /* the title was written; with -c it comes only once */
};

static char *put_interface_name(char *dst, const struct interface_record *interface)
{
    const size_t length = interface->name.length;

    return escape_text(dst, interface->name.data,
                       length < INTERFACE_MAX_SHOWN ? length : INTERFACE_MAX_SHOWN, " ");
}

/* --- One line for an interface ---------------------------------------------------------------- */

/* Numbers of packets are 8 characters wide, other counters 6; right-aligned, except RX-OVR. */
static char *put_counters(char *dst, const struct record *record)
{
    static const enum interface_counter columns[] = {RX_PACKETS,  RX_ERRORS,  RX_DROPPED,
                                                     RX_OVERRUNS, TX_PACKETS, TX_ERRORS,
                                                     TX_DROPPED,  TX_OVERRUNS};
    const uint64_t *counters = record->interface.counters;

    if (!(record->has & INTERFACE_COUNTERS))
        return put_padded(dst, "     - no statistics available -", STATISTICS_WIDTH);
    for (size_t i = 0; i < COUNT(columns); i++) {
        const size_t width = columns[i] == RX_PACKETS || columns[i] == TX_PACKETS ? 8 : 6;
        char *end = text_u64(dst, counters[columns[i]]);
        if (columns[i] != RX_OVERRUNS)
            end = align_right(end, dst, width);
        dst = end_cell(end, dst, width);
    }
    return dst;
}

/* Returns the 16 bits that ioctl(2) returns, from which net-tools reads the flags. */
static uint16_t layout_interface_flags_of(const struct record *record)
{
    return (uint16_t)record->interface.flags;
}

static char *put_letters(char *dst, const struct record *record)
{
    static const struct flag_text letters[] = {
        {IFF_ALLMULTI, "A"},  {IFF_BROADCAST, "B"},   {IFF_DEBUG, "D"},   {IFF_LOOPBACK, "L"},
        {IFF_MULTICAST, "M"}, {IFF_DYNAMIC, "d"},     {IFF_PROMISC, "P"}, {IFF_NOTRAILERS, "N"},
        {IFF_NOARP, "O"},     {IFF_POINTOPOINT, "P"}, {IFF_SLAVE, "s"},   {IFF_MASTER, "m"},
        {IFF_RUNNING, "R"},   {IFF_UP, "U"},
    };
    const unsigned flags = layout_interface_flags_of(record);

    if (!(record->has & INTERFACE_FLAGS))
        return PUT(dst, "-");
    return flags ? put_flags(dst, flags, letters, COUNT(letters)) : PUT(dst, "[NO FLAGS]");
}

static char *put_mtu(char *dst, const struct record *record)
{
    return (record->has & INTERFACE_MTU) ? text_u64(dst, record->interface.mtu) : PUT(dst, "-");
}

/* --- Several lines for an interface ----------------------------------------------------------- */

static char *put_indent(char *dst)
{
    return PUT(dst, "        ");
}

/* clang-format off */
#define WORD(flag) {IFF_##flag, "," #flag}
/* clang-format on */

/* Writes the flags as a signed number, then in words. */
static char *put_flags_and_words(char *dst, const struct record *record)
{
    static const struct flag_text words[] = {
        WORD(UP),         WORD(BROADCAST), WORD(DEBUG),     WORD(LOOPBACK), WORD(POINTOPOINT),
        WORD(NOTRAILERS), WORD(RUNNING),   WORD(NOARP),     WORD(PROMISC),  WORD(ALLMULTI),
        WORD(SLAVE),      WORD(MASTER),    WORD(MULTICAST), WORD(DYNAMIC),
    };
    const unsigned flags = layout_interface_flags_of(record);
    char *start;

    dst = PUT(dst, ": flags=");
    if (!(record->has & INTERFACE_FLAGS))
        return PUT(dst, "-");
    start = put_signed(dst, (uint32_t)(int32_t)(int16_t)flags);
    dst = put_flags(start, flags, words, COUNT(words));
    if (dst == start) /* without a word there are no brackets, as in net-tools */
        return put_string(dst, flags ? "" : "<");
    *start = '<';
    return PUT(dst, ">");
}

/* Writes the first IPv4 address whose label is the name of the interface. */
static char *layout_interface_put_ipv4(char *dst, const struct record *record)
{
    const struct interface_record *interface = &record->interface;
    const struct interface_address *address = NULL;
    const unsigned flags = layout_interface_flags_of(record);

    for (size_t i = 0; i < interface->address_count && !address; i++)
        if (interface->addresses[i].local.address.family == AF_INET &&
            text_is(interface->name, interface->addresses[i].label))
            address = &interface->addresses[i];
    if (!address)
        return dst;
    dst = text_ipv4(PUT(put_indent(dst), "inet "), address->local.address.bytes);
    dst = put_netmask(PUT(dst, "  netmask "), address->local.prefix);
    if (flags & IFF_BROADCAST)
        dst = text_ipv4(PUT(dst, "  broadcast "), address->broadcast.bytes);
    if (flags & IFF_POINTOPOINT)
        dst = text_ipv4(PUT(dst, "  destination "), address->peer.bytes);
    return PUT(dst, "\n");
}

struct scope {
    unsigned number; /* IPV6_ADDR_* of net/ipv6.h, as in /proc/net/if_inet6 */
    const char *words;
};

/* The scope depends only on the address (__ipv6_addr_type(), net/ipv6/addrconf_core.c). */
static struct scope scope_of(const struct address *address)
{
    static const uint8_t zeroes[16];
    const uint8_t *bytes = address->bytes;

    if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80)
        return (struct scope){0x20, "<link>"};
    if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0xc0)
        return (struct scope){0x40, "<site>"};
    if (memcmp(bytes, zeroes, 12) != 0 || address_is_unspecified(address))
        return (struct scope){0, "<global>"};
    if (memcmp(bytes, zeroes, 15) == 0 && bytes[15] == 1)
        return (struct scope){0x10, "<host>"};
    return (struct scope){0x80, "<compat,global>"}; /* the address ends with an IPv4 address */
}

static void write_ipv6(struct writer *writer, const struct interface_record *interface)
{
    for (size_t i = 0; i < interface->address_count; i++) {
        const struct network *network = &interface->addresses[i].local;
        if (network->address.family != AF_INET6)
            continue;
        const struct scope scope = scope_of(&network->address);
        char *dst = writer_reserve(writer, ADDRESS_LINE);
        dst = text_address(PUT(put_indent(dst), "inet6 "), &network->address);
        dst = text_u64(PUT(dst, "  prefixlen "), network->prefix);
        dst = put_hex(PUT(dst, "  scopeid 0x"), scope.number);
        writer_commit(writer, PUT(put_string(dst, scope.words), "\n"));
    }
}

/* Writes hardware type, MAC address and queue length. net-tools reads only the first eight bytes of
 * an address and shows all further bytes as 0. */
static char *put_hardware(char *dst, const struct record *record)
{
    const struct interface_record *interface = &record->interface;
    const struct hardware *hardware = hardware_by_type(interface->type);
    enum { KNOWN_BYTES = 8 };

    if (!(record->has & INTERFACE_TYPE))
        return dst;
    if (!hardware || !hardware->title)
        hardware = hardware_by_type(HARDWARE_UNSPECIFIED);
    dst = put_string(put_indent(dst), hardware->net_tools);
    if (hardware->bytes || hardware->empty)
        *dst++ = ' ';
    const char *digits = hardware->capitals ? "0123456789ABCDEF" : "0123456789abcdef";
    for (size_t i = 0; i < hardware->bytes; i++) {
        const uint8_t byte = i < KNOWN_BYTES ? interface->lladdr[i] : 0;
        if (i)
            *dst++ = hardware->separator;
        *dst++ = digits[byte >> 4];
        *dst++ = digits[byte & 15];
    }
    if (record->has & INTERFACE_QUEUE)
        dst = put_signed(PUT(dst, "  txqueuelen "), interface->queue);
    dst = put_string(PUT(dst, "  ("), hardware->title);
    return PUT(dst, ")\n");
}

static char *put_traffic(char *dst, const char *way, uint64_t packets, uint64_t bytes)
{
    dst = text_u64(put_string(put_string(put_indent(dst), way), " packets "), packets);
    dst = text_u64(PUT(dst, "  bytes "), bytes);
    return PUT(put_size(PUT(dst, " ("), bytes, true), ")\n");
}

static char *put_statistics(char *dst, const struct record *record)
{
    const uint64_t *counters = record->interface.counters;
    const uint16_t type = record->interface.type;
    const bool compresses =
        record->has & INTERFACE_TYPE && (type == ARPHRD_CSLIP || type == ARPHRD_CSLIP6);

    if (!(record->has & INTERFACE_COUNTERS))
        return dst;
    dst = put_traffic(dst, "RX", counters[RX_PACKETS], counters[RX_BYTES]);
    if (compresses)
        dst = PUT(text_u64(PUT(put_indent(dst), "RX compressed:"), counters[RX_COMPRESSED]), "\n");
    dst = text_u64(PUT(put_indent(dst), "RX errors "), counters[RX_ERRORS]);
    dst = text_u64(PUT(dst, "  dropped "), counters[RX_DROPPED]);
    dst = text_u64(PUT(dst, "  overruns "), counters[RX_OVERRUNS]);
    dst = PUT(text_u64(PUT(dst, "  frame "), counters[RX_FRAME]), "\n");
    dst = put_traffic(dst, "TX", counters[TX_PACKETS], counters[TX_BYTES]);
    if (compresses)
        dst = PUT(text_u64(PUT(put_indent(dst), "TX compressed "), counters[TX_COMPRESSED]), "\n");
    dst = text_u64(PUT(put_indent(dst), "TX errors "), counters[TX_ERRORS]);
    dst = text_u64(PUT(dst, "  dropped "), counters[TX_DROPPED]);
    dst = text_u64(PUT(dst, " overruns "), counters[TX_OVERRUNS]);
    dst = text_u64(PUT(dst, "  carrier "), counters[TX_CARRIER]);
    return PUT(text_u64(PUT(dst, "  collisions "), counters[TX_COLLISIONS]), "\n");
}

/* Writes resources of an old card. net-tools shows a base address only if it is at least 0x100: a
 * smaller number is not an I/O port. */
static char *put_map(char *dst, const struct record *record)
{
    enum { BASE_ADDRESS_MIN = 0x100 };
    const struct interface_record *interface = &record->interface;
    const bool base = interface->base_address >= BASE_ADDRESS_MIN;

    if (!interface->irq && !interface->memory_start && !interface->dma && !base)
        return dst;
    dst = PUT(dst, "        device ");
    if (interface->irq)
        dst = put_string(text_u64(PUT(dst, "interrupt "), interface->irq), "  ");
    if (base)
        dst = put_string(put_hex(PUT(dst, "base 0x"), interface->base_address), "  ");
    if (interface->memory_start) {
        dst = put_hex(PUT(dst, "memory 0x"), interface->memory_start);
        dst = PUT(put_hex(PUT(dst, "-"), interface->memory_end), "  ");
    }
    if (interface->dma)
        dst = put_hex(PUT(dst, "  dma 0x"), interface->dma);
    return PUT(dst, "\n");
}

/* --- The sink --------------------------------------------------------------------------------- */

static void layout_interface_row(struct sink *sink, const struct record *record)
{
    char *const start = writer_reserve(sink->writer, LINES_MAX);
    char *dst = put_interface_name(start, &record->interface);

    if (((const struct interface_sink *)sink)->layout.extended) {
        dst = put_mtu(PUT(put_flags_and_words(dst, record), "  mtu "), record);
        writer_commit(sink->writer, layout_interface_put_ipv4(PUT(dst, "\n"), record));
        write_ipv6(sink->writer, &record->interface);
        dst = put_hardware(writer_reserve(sink->writer, LINES_MAX), record);
        dst = put_map(put_statistics(dst, record), record);
    } else {
        dst = end_cell(dst, start, NAME_WIDTH);
        dst = PUT(align_right(put_mtu(dst, record), dst, 5), " ");
        dst = put_letters(put_counters(dst, record), record);
    }
    writer_commit(sink->writer, PUT(dst, "\n"));
}

static void layout_interface_begin(struct sink *sink)
{
    struct interface_sink *interfaces = (struct interface_sink *)sink;

    if (!interfaces->layout.header)
        return;
    if (!interfaces->titled)
        writer_puts(sink->writer, "Kernel Interface table\n");
    interfaces->titled = true;
    if (!interfaces->layout.extended)
        writer_puts(sink->writer, "Iface             MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK "
                                  "TX-ERR TX-DRP TX-OVR Flg\n");
}

const struct sink_ops sink_interface = {
    .size = sizeof(struct interface_sink),
    .layout_size = sizeof(struct interface_layout),
    .begin = layout_interface_begin,
    .row = layout_interface_row,
};
