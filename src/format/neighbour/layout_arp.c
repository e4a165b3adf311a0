/* SPDX-License-Identifier: MIT */
/* The layouts of net-tools 2.10 arp: headings, widths and wording, except that nothing is cut.
 * Texts that others chose are escaped. */
#include <linux/neighbour.h>
#include <net/if_arp.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/hardware.h"
#include "fastnet/hosts.h"
#include "fastnet/interfaces.h"
#include "fastnet/layouts.h"
#include "fastnet/saved.h"
#include "fastnet/text.h"
#include "text/put.h"

enum {
    ADDRESS_WIDTH = 23,
    HARDWARE_WIDTH = 8,
    LLADDR_WIDTH = 20,
    FLAGS_WIDTH = 6,
    MASK_WIDTH = 15,
    NUMERIC_ROW_MAX = 512, /* longest row without a host name */
    DEVICE_MAX = ESCAPE_FACTOR * INTERFACE_NAME_SIZE,
    CALL_SIGN_BYTES = 7, /* AX25_ADDR_LEN of linux/ax25.h */
};

_Static_assert(NUMERIC_ROW_MAX + ESCAPE_FACTOR * HOST_MAX <= WRITER_RESERVE_MAX, "a row fits");

/* States in which the MAC address is valid (NUD_VALID of include/net/neighbour.h). */
enum {
    STATES_VALID = NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY,
};

/* An interface as rows show it. */
struct device {
    uint32_t interface;        /* its index; 0: no interface yet */
    const struct netns *netns; /* netns in which it has this index */
    const char *hardware;
    bool is_radio; /* its addresses are call signs of radio amateurs */
    size_t length;
    char name[DEVICE_MAX]; /* escaped */
};

struct arp_sink {
    struct sink sink;
    struct arp_layout layout;
    size_t found;       /* number of rows until now */
    struct device last; /* interface of the last row: most rows of one interface are consecutive */
};

/* An entry as a row shows it. */
struct entry {
    const struct record *record;
    const char *host; /* NULL: show the address */
    const struct device *device;
    unsigned flags; /* ATF_* */
};

/* Returns the flags of /proc/net/arp, which the kernel derives from the state (net/ipv4/arp.c). */
static unsigned layout_arp_flags_of(const struct record *record)
{
    const struct neighbour_record *neighbour = &record->neighbour;

    if (record->has & NEIGHBOUR_ATF)
        return neighbour->atf;
    if (neighbour->flags & NTF_PROXY)
        return ATF_PUBL | ATF_PERM;
    if (neighbour->state & NUD_PERMANENT)
        return ATF_PERM | ATF_COM;
    return (neighbour->state & STATES_VALID) ? ATF_COM : 0;
}

/* Returns net-tools' name for a hardware type. Like arp, names an unknown type as Ethernet. */
static const char *net_tools_name(int type)
{
    const struct hardware *hardware;

    if (type == ARPHRD_ETHER || type < 0)
        return "ether";
    hardware = hardware_by_type(type);
    return hardware && hardware->net_tools ? hardware->net_tools : "ether";
}

static const struct device *device_of(struct arp_sink *arp, const struct record *record)
{
    const struct neighbour_record *neighbour = &record->neighbour;
    const uint32_t interface = neighbour->interface;
    const struct netns_lookups *lookups = &arp->sink.context->netns;
    struct device *device = &arp->last;
    const char *name = saved_string(record, "interface"), *stop;
    int type;

    if (interface && interface == device->interface && lookups->netns == device->netns)
        return device;
    if (name) {
        type = (record->has & NEIGHBOUR_HARDWARE) ? neighbour->hardware : ARPHRD_ETHER;
    } else if (interface) { /* shown by its name, or by its number if it no longer exists */
        name = interfaces_name(lookups->interfaces, interface);
        type = interfaces_get(lookups->interfaces, interface)->hardware;
    } else { /* named by /proc; a proxy entry for all interfaces has no interface */
        name = (record->has & NEIGHBOUR_INTERFACE) ? neighbour->interface_name : "*";
        type = (record->has & NEIGHBOUR_HARDWARE) ? neighbour->hardware : ARPHRD_ETHER;
    }
    stop = name ? escape_text(device->name, name, strnlen(name, INTERFACE_NAME_SIZE), NULL)
                : text_u64(device->name, interface);
    device->interface = interface;
    device->netns = lookups->netns;
    device->hardware = net_tools_name(type);
    device->is_radio = type == ARPHRD_AX25 || type == ARPHRD_NETROM;
    device->length = (size_t)(stop - device->name);
    return device;
}

/* Writes a call sign as ax2asc() of net/ax25/ax25_addr.c: 6 characters, and a number up to 15. */
static char *put_call_sign(char *dst, const uint8_t address[CALL_SIGN_BYTES])
{
    char call[CALL_SIGN_BYTES];
    size_t length = 0;

    for (size_t i = 0; i < CALL_SIGN_BYTES - 1; i++)
        if (address[i] >> 1 != ' ')
            call[length++] = (char)(address[i] >> 1);
    dst = escape_text(dst, call, length, " ");
    return text_u64(PUT(dst, "-"), address[CALL_SIGN_BYTES - 1] >> 1 & 15);
}

/* Writes a MAC address. If /proc/net/arp has only a part of it, shows that part, like arp. */
static char *put_lladdr(char *dst, const struct entry *entry)
{
    const struct neighbour_record *neighbour = &entry->record->neighbour;

    if (!(entry->record->has & (NEIGHBOUR_LLADDR | NEIGHBOUR_LLADDR_CUT)))
        return dst;
    if (entry->device->is_radio && neighbour->lladdr_length == CALL_SIGN_BYTES)
        return put_call_sign(dst, neighbour->lladdr);
    return text_lladdr(dst, neighbour->lladdr, neighbour->lladdr_length);
}

static char *put_bsd(char *dst, const struct entry *entry)
{
    static const struct flag_text words[] = {
        {ATF_NETMASK, "netmask * "}, {ATF_PERM, "PERM "},       {ATF_PUBL, "PUB "},
        {ATF_MAGIC, "AUTO "},        {ATF_DONTPUB, "DONTPUB "}, {ATF_USETRAILERS, "TRAIL "},
    };

    dst = entry->host ? put_escaped(dst, entry->host, NULL) : PUT(dst, "?");
    dst = text_ipv4(PUT(dst, " ("), entry->record->neighbour.address.bytes);
    dst = PUT(dst, ") at ");
    if (entry->flags & ATF_COM) {
        dst = PUT(put_lladdr(dst, entry), " [");
        dst = PUT(put_string(dst, entry->device->hardware), "] ");
    } else {
        dst = put_string(dst, entry->flags & ATF_PUBL ? "<from_interface> " : "<incomplete> ");
    }
    dst = put_flags(dst, entry->flags & ~(unsigned)ATF_COM, words, COUNT(words)); /* has no word */
    return put_bytes(PUT(dst, "on "), entry->device->name, entry->device->length);
}

/* Writes HWtype and HWaddress. An address that fills its column gets a space after it, too. */
static char *put_table_lladdr(char *dst, const struct entry *entry)
{
    char *start;

    if (!(entry->flags & ATF_COM)) {
        bool proxy = entry->flags & ATF_PUBL;
        dst = put_padded(dst, proxy ? "*" : "", HARDWARE_WIDTH);
        return put_padded(dst, proxy ? "<from_interface>" : "(incomplete)", LLADDR_WIDTH);
    }
    start = dst = put_padded(dst, entry->device->hardware, HARDWARE_WIDTH);
    dst = text_pad(put_lladdr(dst, entry), start, LLADDR_WIDTH);
    if (dst[-1] != ' ')
        *dst++ = ' ';
    return dst;
}

static char *layout_arp_put_table(char *dst, const struct entry *entry)
{
    static const struct flag_text letters[] = {
        {ATF_COM, "C"},   {ATF_PERM, "M"},    {ATF_PUBL, "P"},
        {ATF_MAGIC, "A"}, {ATF_DONTPUB, "!"}, {ATF_USETRAILERS, "T"},
    };
    char *start = dst;

    /* arp treats a name that begins with "?" as no name */
    if (entry->host && entry->host[0] != '?')
        dst = put_escaped(dst, entry->host, NULL);
    else
        dst = text_ipv4(dst, entry->record->neighbour.address.bytes);
    dst = put_table_lladdr(PUT(text_pad(dst, start, ADDRESS_WIDTH), "  "), entry);
    dst = text_pad(put_flags(dst, entry->flags, letters, COUNT(letters)), dst, FLAGS_WIDTH);
    dst = end_cell(put_string(dst, entry->flags & ATF_NETMASK ? "*" : ""), dst, MASK_WIDTH);
    return put_bytes(dst, entry->device->name, entry->device->length);
}

/* Copies a saved row, and sets members that its columns do not hold unchanged. */
static const struct record *layout_arp_restore(struct record *copy, const struct record *record,
                                               const struct context *context)
{
    struct neighbour_record *neighbour = &copy->neighbour;
    const struct value lladdr = field_value(field_named(record->kind, "lladdr"), record, context);
    const struct value type = field_value(field_named(record->kind, "hardware"), record, context);

    memcpy(copy, record, kind_neighbour.size);
    if (lladdr.type == VALUE_LLADDR && lladdr.text.length <= LLADDR_MAX) {
        memcpy(neighbour->lladdr, lladdr.text.data, lladdr.text.length);
        neighbour->lladdr_length = (uint8_t)lladdr.text.length;
        copy->has |= NEIGHBOUR_LLADDR;
    }
    if (type.type == VALUE_NAME && type.name.number <= UINT16_MAX) {
        neighbour->hardware = (uint16_t)type.name.number;
        copy->has |= NEIGHBOUR_HARDWARE;
    }
    return copy;
}

static void layout_arp_row(struct sink *sink, const struct record *record)
{
    struct arp_sink *arp = (struct arp_sink *)sink;
    struct record copy;
    if (record->saved)
        record = layout_arp_restore(&copy, record, sink->context);
    const struct hosts *hosts = arp->layout.numeric ? NULL : sink->context->hosts;
    const struct entry entry = {.record = record,
                                .host =
                                    hosts ? hosts_name(hosts, &record->neighbour.address) : NULL,
                                .device = device_of(arp, record),
                                .flags = layout_arp_flags_of(record)};
    char *dst;

    if (!arp->found++ && !arp->layout.bsd && arp->layout.header)
        writer_puts(sink->writer, "Address                  HWtype  HWaddress           Flags "
                                  "Mask            Iface\n");
    dst = writer_reserve(sink->writer, entry.host ? WRITER_RESERVE_MAX : NUMERIC_ROW_MAX);
    dst = arp->layout.bsd ? put_bsd(dst, &entry) : layout_arp_put_table(dst, &entry);
    *dst++ = '\n';
    writer_commit(sink->writer, dst);
}

static void layout_arp_begin(struct sink *sink)
{
    struct arp_sink *arp = (struct arp_sink *)sink;

    arp->found = 0;
    arp->last.interface = 0;
}

static void layout_arp_end(struct sink *sink)
{
    const struct arp_sink *arp = (const struct arp_sink *)sink;
    const struct arp_layout *layout = &arp->layout;
    const size_t skipped = layout->totals->skipped;
    char *dst = writer_reserve(sink->writer, WRITER_RESERVE_MAX);

    if (layout->verbose) {
        dst = text_u64(PUT(dst, "Entries: "), skipped + arp->found);
        dst = text_u64(PUT(dst, "\tSkipped: "), skipped);
        dst = PUT(text_u64(PUT(dst, "\tFound: "), arp->found), "\n");
    }
    if (!arp->found && layout->host) {
        /* show at most the bytes that a host name can have */
        dst = escape_text(dst, layout->host, strnlen(layout->host, HOST_MAX), NULL);
        dst = PUT(text_ipv4(PUT(dst, " ("), layout->host_address), ") -- no entry\n");
    } else if (!arp->found && layout->chosen) {
        dst = text_u64(PUT(dst, "arp: in "), skipped);
        dst = PUT(dst, " entries no match found.\n");
    }
    writer_commit(sink->writer, dst);
}

const struct sink_ops sink_arp = {
    .size = sizeof(struct arp_sink),
    .layout_size = sizeof(struct arp_layout),
    .begin = layout_arp_begin,
    .row = layout_arp_row,
    .end = layout_arp_end,
};
