/*
 * The layout of net-tools 2.10 netstat -i and -ie: lib/interface.c, ife_print_short() and
 * ife_print_long().
 */
#include <linux/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/hardware.h"
#include "fastnet/sink.h"
#include "fastnet/text.h"
#include "format/interface/interface_names.h"
#include "format/text/put.h"

enum {
    NAME_WIDTH = 15,
    NAME_MAX_SHOWN = 256,
    STATISTICS_WIDTH = 56,
    LINES_MAX = 4096,   /* one interface, without its IPv6 addresses */
    ADDRESS_LINE = 256, /* one of them */
};

struct interface_sink {
    struct sink sink;
    struct interface_layout layout;
    bool titled; /* the title is written once, however often the listing comes */
};

static char *put_number(char *dst, uint64_t number)
{
    return text_u64(dst, number);
}

static char *put_number_right(char *dst, uint64_t number, size_t width)
{
    return put_right(text_u64(dst, number), dst, width);
}

static char *put_interface_name(char *dst, const struct interface_record *interface)
{
    const size_t length = interface->name.length;

    return escape_text(dst, interface->name.data, length < NAME_MAX_SHOWN ? length : NAME_MAX_SHOWN,
                       " ");
}

/* --- A line an interface ---------------------------------------------------------------------- */

static char *put_counters(char *dst, const struct record *record)
{
    static const enum interface_counter left[] = {RX_PACKETS, RX_ERRORS, RX_DROPPED};
    static const enum interface_counter right[] = {TX_PACKETS, TX_ERRORS, TX_DROPPED, TX_OVERRUNS};
    const uint64_t *counters = record->interface.counters;

    if (!(record->has & INTERFACE_COUNTERS))
        return text_pad(put_string(dst, "     - no statistics available -"), dst, STATISTICS_WIDTH);
    for (size_t i = 0; i < COUNT(left); i++) {
        dst = put_number_right(dst, counters[left[i]], i ? 6 : 8);
        *dst++ = ' ';
    }
    dst = text_pad(put_number(dst, counters[RX_OVERRUNS]), dst, 6);
    *dst++ = ' ';
    for (size_t i = 0; i < COUNT(right); i++) {
        dst = put_number_right(dst, counters[right[i]], i ? 6 : 8);
        *dst++ = ' ';
    }
    return dst;
}

/* ioctl(2) has 16 bits of the flags, and net-tools what it has. */
static uint16_t flags_of(const struct record *record)
{
    return (uint16_t)record->interface.flags;
}

static char *put_letters(char *dst, const struct record *record)
{
    static const struct {
        unsigned flag;
        char letter;
    } letters[] = {
        {IFF_ALLMULTI, 'A'},  {IFF_BROADCAST, 'B'},   {IFF_DEBUG, 'D'},   {IFF_LOOPBACK, 'L'},
        {IFF_MULTICAST, 'M'}, {IFF_DYNAMIC, 'd'},     {IFF_PROMISC, 'P'}, {IFF_NOTRAILERS, 'N'},
        {IFF_NOARP, 'O'},     {IFF_POINTOPOINT, 'P'}, {IFF_SLAVE, 's'},   {IFF_MASTER, 'm'},
        {IFF_RUNNING, 'R'},   {IFF_UP, 'U'},
    };
    const unsigned flags = flags_of(record);

    if (!(record->has & INTERFACE_FLAGS))
        return put_string(dst, "-");
    if (!flags)
        return put_string(dst, "[NO FLAGS]");
    for (size_t i = 0; i < COUNT(letters); i++)
        if (flags & letters[i].flag)
            *dst++ = letters[i].letter;
    return dst;
}

static char *put_mtu(char *dst, const struct record *record)
{
    return (record->has & INTERFACE_MTU) ? text_u64(dst, record->interface.mtu)
                                         : put_string(dst, "-");
}

static char *put_short(char *dst, const struct record *record)
{
    char *start = dst;

    dst = text_pad(put_interface_name(dst, &record->interface), start, NAME_WIDTH);
    *dst++ = ' ';
    start = dst;
    dst = put_right(put_mtu(dst, record), start, 5);
    *dst++ = ' ';
    dst = put_counters(dst, record);
    dst = put_letters(dst, record);
    *dst++ = '\n';
    return dst;
}

/* --- Several lines an interface --------------------------------------------------------------- */

static char *indent(char *dst)
{
    return put_string(dst, "        ");
}

/* The flags in a number that is signed, and in words. */
static char *put_flags(char *dst, const struct record *record)
{
    static const struct {
        unsigned flag;
        const char *name;
    } words[] = {
        {IFF_UP, "UP"},
        {IFF_BROADCAST, "BROADCAST"},
        {IFF_DEBUG, "DEBUG"},
        {IFF_LOOPBACK, "LOOPBACK"},
        {IFF_POINTOPOINT, "POINTOPOINT"},
        {IFF_NOTRAILERS, "NOTRAILERS"},
        {IFF_RUNNING, "RUNNING"},
        {IFF_NOARP, "NOARP"},
        {IFF_PROMISC, "PROMISC"},
        {IFF_ALLMULTI, "ALLMULTI"},
        {IFF_SLAVE, "SLAVE"},
        {IFF_MASTER, "MASTER"},
        {IFF_MULTICAST, "MULTICAST"},
        {IFF_DYNAMIC, "DYNAMIC"},
    };
    const unsigned flags = flags_of(record);
    bool named = false;

    dst = put_string(dst, ": flags=");
    if (!(record->has & INTERFACE_FLAGS))
        return put_string(dst, "-");
    dst = put_signed(dst, (uint32_t)(int32_t)(int16_t)flags);
    for (size_t i = 0; i < COUNT(words); i++) {
        if (!(flags & words[i].flag))
            continue;
        dst = put_string(dst, named ? "," : "<");
        dst = put_string(dst, words[i].name);
        named = true;
    }
    /* as it comes out in net-tools when there is nothing to put into brackets */
    return put_string(dst, named ? ">" : flags ? "" : "<");
}

static char *put_netmask(char *dst, uint8_t prefix)
{
    const uint32_t bits = prefix ? UINT32_MAX << (32 - prefix) : 0;
    const uint8_t mask[4] = {(uint8_t)(bits >> 24), (uint8_t)(bits >> 16), (uint8_t)(bits >> 8),
                             (uint8_t)bits};

    return text_ipv4(put_string(dst, "  netmask "), mask);
}

/* The first IPv4 address that has the interface's name for a label. */
static const struct interface_address *find_ipv4(const struct interface_record *interface)
{
    for (size_t i = 0; i < interface->address_count; i++) {
        const struct interface_address *address = &interface->addresses[i];
        if (address->local.family == AF_INET && strlen(address->label) == interface->name.length &&
            memcmp(address->label, interface->name.data, interface->name.length) == 0)
            return address;
    }
    return NULL;
}

static char *put_ipv4(char *dst, const struct record *record)
{
    const struct interface_address *address = find_ipv4(&record->interface);
    const unsigned flags = flags_of(record);

    if (!address)
        return dst;
    dst = text_ipv4(put_string(indent(dst), "inet "), address->local.bytes);
    dst = put_netmask(dst, address->prefix);
    if (flags & IFF_BROADCAST)
        dst = text_ipv4(put_string(dst, "  broadcast "), address->broadcast.bytes);
    if (flags & IFF_POINTOPOINT)
        dst = text_ipv4(put_string(dst, "  destination "), address->peer.bytes);
    *dst++ = '\n';
    return dst;
}

/* IPV6_ADDR_* as the kernel numbers them (net/ipv6.h), of those that if_inet6 shows. */
enum { SCOPE_HOST = 0x10, SCOPE_LINK = 0x20, SCOPE_SITE = 0x40, SCOPE_COMPATIBLE = 0x80 };

/* The scope is a matter of the address alone (__ipv6_addr_type(), net/ipv6/addrconf_core.c). */
static unsigned scope_of(const uint8_t *address)
{
    static const uint8_t none[16];
    const bool ends_in_ipv4 = memcmp(address, none, 12) == 0;

    if (address[0] == 0xfe && (address[1] & 0xc0) == 0x80)
        return SCOPE_LINK;
    if (address[0] == 0xfe && (address[1] & 0xc0) == 0xc0)
        return SCOPE_SITE;
    if (!ends_in_ipv4 || memcmp(address, none, sizeof none) == 0)
        return 0;
    return memcmp(address, none, 15) == 0 && address[15] == 1 ? SCOPE_HOST : SCOPE_COMPATIBLE;
}

static const char *scope_words(unsigned scope)
{
    switch (scope) {
    case 0:
        return "<global>";
    case SCOPE_LINK:
        return "<link>";
    case SCOPE_SITE:
        return "<site>";
    case SCOPE_HOST:
        return "<host>";
    default:
        return "<compat,global>";
    }
}

static char *put_ipv6(char *dst, const struct interface_address *address)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned scope = scope_of(address->local.bytes);

    dst = text_address(put_string(indent(dst), "inet6 "), &address->local);
    dst = put_number(put_string(dst, "  prefixlen "), address->prefix);
    dst = put_string(dst, "  scopeid 0x");
    if (scope)
        *dst++ = digits[scope >> 4];
    *dst++ = '0';
    dst = put_string(dst, scope_words(scope));
    *dst++ = '\n';
    return dst;
}

static void write_ipv6(struct writer *writer, const struct interface_record *interface)
{
    for (size_t i = 0; i < interface->address_count; i++)
        if (interface->addresses[i].local.family == AF_INET6) {
            char *dst = writer_reserve(writer, ADDRESS_LINE);
            writer_commit(writer, put_ipv6(dst, &interface->addresses[i]));
        }
}

/* Of the address the first eight bytes are known to net-tools; the others are 0. */
static char *put_hardware_address(char *dst, const struct interface_record *interface,
                                  const struct hardware *hardware)
{
    enum { KNOWN_BYTES = 8 };
    const char *digits = hardware->capitals ? "0123456789ABCDEF" : "0123456789abcdef";

    for (size_t i = 0; i < hardware->bytes; i++) {
        const uint8_t byte = i < KNOWN_BYTES ? interface->lladdr[i] : 0;
        if (i)
            *dst++ = hardware->separator;
        *dst++ = digits[byte >> 4];
        *dst++ = digits[byte & 15];
    }
    return dst;
}

static char *put_hardware(char *dst, const struct record *record)
{
    const struct interface_record *interface = &record->interface;
    const struct hardware *hardware = hardware_by_type(interface->type);

    if (!(record->has & INTERFACE_TYPE))
        return dst;
    if (!hardware || !hardware->title)
        hardware = hardware_by_type(HARDWARE_UNSPECIFIED);
    dst = put_string(indent(dst), hardware->net_tools);
    if (hardware->bytes || hardware->empty)
        *dst++ = ' ';
    dst = put_hardware_address(dst, interface, hardware);
    if (record->has & INTERFACE_QUEUE)
        dst = put_signed(put_string(dst, "  txqueuelen "), interface->queue);
    dst = put_string(put_string(dst, "  ("), hardware->title);
    return put_string(dst, ")\n");
}

/* "1.5 KiB": the largest unit that there is more than one of, with one decimal that is cut. */
static char *put_size(char *dst, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned unit = 0;
    uint64_t tenths;

    while (unit + 1 < COUNT(units) && bytes > UINT64_C(1) << 10 * (unit + 1))
        unit++;
    /* ten times an EiB may be too large a number */
    tenths =
        unit < 6 ? bytes * 10 / (UINT64_C(1) << 10 * unit) : bytes / UINT64_C(115292150460684697);
    dst = text_u64(put_string(dst, " ("), tenths / 10);
    *dst++ = '.';
    *dst++ = (char)('0' + tenths % 10);
    *dst++ = ' ';
    return put_string(put_string(dst, units[unit]), ")\n");
}

static char *put_traffic(char *dst, const char *way, uint64_t packets, uint64_t bytes)
{
    dst = text_u64(put_string(put_string(indent(dst), way), " packets "), packets);
    dst = text_u64(put_string(dst, "  bytes "), bytes);
    return put_size(dst, bytes);
}

static char *put_compressed(char *dst, const char *words, uint64_t packets)
{
    return put_string(text_u64(put_string(indent(dst), words), packets), "\n");
}

static char *put_statistics(char *dst, const struct record *record)
{
    enum { ARPHRD_OF_CSLIP = 257, ARPHRD_OF_CSLIP6 = 259 };
    const struct interface_record *interface = &record->interface;
    const uint64_t *counters = interface->counters;
    const bool compresses = record->has & INTERFACE_TYPE && (interface->type == ARPHRD_OF_CSLIP ||
                                                             interface->type == ARPHRD_OF_CSLIP6);

    if (!(record->has & INTERFACE_COUNTERS))
        return dst;
    dst = put_traffic(dst, "RX", counters[RX_PACKETS], counters[RX_BYTES]);
    if (compresses)
        dst = put_compressed(dst, "RX compressed:", counters[RX_COMPRESSED]);
    dst = text_u64(put_string(indent(dst), "RX errors "), counters[RX_ERRORS]);
    dst = text_u64(put_string(dst, "  dropped "), counters[RX_DROPPED]);
    dst = text_u64(put_string(dst, "  overruns "), counters[RX_OVERRUNS]);
    dst = text_u64(put_string(dst, "  frame "), counters[RX_FRAME]);
    *dst++ = '\n';
    dst = put_traffic(dst, "TX", counters[TX_PACKETS], counters[TX_BYTES]);
    if (compresses)
        dst = put_compressed(dst, "TX compressed ", counters[TX_COMPRESSED]);
    dst = text_u64(put_string(indent(dst), "TX errors "), counters[TX_ERRORS]);
    dst = text_u64(put_string(dst, "  dropped "), counters[TX_DROPPED]);
    dst = text_u64(put_string(dst, " overruns "), counters[TX_OVERRUNS]);
    dst = text_u64(put_string(dst, "  carrier "), counters[TX_CARRIER]);
    dst = text_u64(put_string(dst, "  collisions "), counters[TX_COLLISIONS]);
    *dst++ = '\n';
    return dst;
}

static char *put_hex(char *dst, uint64_t number)
{
    static const char digits[] = "0123456789abcdef";
    unsigned shift = 60;

    while (shift && !(number >> shift))
        shift -= 4;
    for (;; shift -= 4) {
        *dst++ = digits[number >> shift & 15];
        if (!shift)
            return dst;
    }
}

/* Where an old card sits; a low base address is a number of another kind. */
static char *put_map(char *dst, const struct record *record)
{
    enum { BASE_ADDRESS_MIN = 0x100 };
    const struct interface_record *interface = &record->interface;
    const bool base = interface->base_address >= BASE_ADDRESS_MIN;

    if (!interface->irq && !interface->memory_start && !interface->dma && !base)
        return dst;
    dst = put_string(dst, "        device ");
    if (interface->irq)
        dst = put_string(text_u64(put_string(dst, "interrupt "), interface->irq), "  ");
    if (base)
        dst = put_string(put_hex(put_string(dst, "base 0x"), interface->base_address), "  ");
    if (interface->memory_start) {
        dst = put_hex(put_string(dst, "memory 0x"), interface->memory_start);
        dst = put_hex(put_string(dst, "-"), interface->memory_end);
        dst = put_string(dst, "  ");
    }
    if (interface->dma)
        dst = put_hex(put_string(dst, "  dma 0x"), interface->dma);
    *dst++ = '\n';
    return dst;
}

static void write_long(struct writer *writer, const struct record *record)
{
    char *dst = writer_reserve(writer, LINES_MAX);

    dst = put_interface_name(dst, &record->interface);
    dst = put_flags(dst, record);
    dst = put_string(dst, "  mtu ");
    dst = put_mtu(dst, record);
    *dst++ = '\n';
    dst = put_ipv4(dst, record);
    writer_commit(writer, dst);
    write_ipv6(writer, &record->interface);
    dst = writer_reserve(writer, LINES_MAX);
    dst = put_hardware(dst, record);
    dst = put_statistics(dst, record);
    dst = put_map(dst, record);
    *dst++ = '\n';
    writer_commit(writer, dst);
}

/* --- The sink --------------------------------------------------------------------------------- */

static void row(struct sink *sink, const struct record *record)
{
    const struct interface_sink *interfaces = (const struct interface_sink *)sink;

    if (interfaces->layout.extended)
        write_long(sink->writer, record);
    else
        writer_commit(sink->writer, put_short(writer_reserve(sink->writer, LINES_MAX), record));
}

static void begin(struct sink *sink)
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

static void end(struct sink *sink)
{
    (void)sink;
}

static void destroy(struct sink *sink)
{
    free(sink);
}

struct sink *sink_interface_create(const struct interface_layout *layout, struct writer *writer,
                                   const struct context *context)
{
    static const struct sink_ops ops = {
        .begin = begin, .section = NULL, .row = row, .end = end, .destroy = destroy, .clone = NULL};
    struct interface_sink *interfaces = malloc(sizeof *interfaces);

    if (!interfaces)
        return NULL;
    *interfaces = (struct interface_sink){.sink = {&ops, writer, context}, .layout = *layout};
    return &interfaces->sink;
}
