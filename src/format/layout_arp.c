/*
 * The layouts of net-tools 2.10 arp: headings, widths and wording. Only what it would cut short is
 * written in full, and what others chose is escaped.
 */
#include <linux/neighbour.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/hardware.h"
#include "fastnet/lookup.h"
#include "fastnet/sink.h"
#include "fastnet/text.h"

enum {
    ADDRESS_WIDTH = 23,
    HARDWARE_WIDTH = 8,
    LLADDR_WIDTH = 20,
    FLAGS_WIDTH = 6,
    MASK_WIDTH = 15,
    NUMERIC_ROW_MAX = 512, /* the longest row without a host name */
    HOST_MAX = 1025,       /* NI_MAXHOST of netdb.h */
};

_Static_assert(NUMERIC_ROW_MAX + ESCAPE_FACTOR * HOST_MAX <= WRITER_RESERVE_MAX, "a row fits");

/* States in which the link-layer address holds (NUD_VALID of include/net/neighbour.h). */
enum {
    STATES_VALID = NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY,
};

struct arp_sink {
    struct sink sink;
    struct arp_layout layout;
    size_t found; /* rows so far */
};

/* What is said of one entry. */
struct entry {
    const struct record *record;
    const char *host; /* NULL: its address */
    const char *hardware;
    unsigned flags; /* ATF_* */
};

static inline char *put(char *dst, const char *string)
{
    size_t length = strlen(string); /* mostly known to the compiler */

    memcpy(dst, string, length);
    return dst + length;
}

static char *put_padded(char *dst, const char *string, size_t width)
{
    return text_pad(put(dst, string), dst, width);
}

static char *put_escaped(char *dst, const char *string, size_t most)
{
    return escape_text(dst, string, strnlen(string, most), NULL);
}

/* The flags of /proc/net/arp, as the kernel makes them of states (net/ipv4/arp.c). */
static unsigned flags_of(const struct record *record)
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

/* A type that arp does not know is Ethernet to it. */
static const char *hardware_of(const struct record *record, const struct context *context)
{
    const struct neighbour_record *neighbour = &record->neighbour;
    int type = ARPHRD_ETHER;
    const struct hardware *hardware;

    if (record->has & NEIGHBOUR_HARDWARE)
        type = neighbour->hardware;
    else if (record->has & NEIGHBOUR_INTERFACE)
        type = interfaces_hardware(context->interfaces, neighbour->interface);
    if (type == ARPHRD_ETHER)
        return "ether";
    hardware = type < 0 ? NULL : hardware_by_type(type);
    return hardware && hardware->arp_name ? hardware->arp_name : "ether";
}

static const char *host_of(const struct arp_sink *arp, const struct record *record)
{
    const struct neighbour_record *neighbour = &record->neighbour;

    if (arp->layout.numeric || !arp->sink.context->hosts)
        return NULL;
    return hosts_name(arp->sink.context->hosts, neighbour->family, neighbour->address);
}

static char *put_lladdr(char *dst, const struct record *record)
{
    if (!(record->has & NEIGHBOUR_LLADDR))
        return dst;
    return text_lladdr(dst, record->neighbour.lladdr, record->neighbour.lladdr_length);
}

/* A proxy for all interfaces has none. */
static char *put_device(char *dst, const struct record *record, const struct context *context)
{
    const struct neighbour_record *neighbour = &record->neighbour;
    const char *name = neighbour->interface_name;

    if (!(record->has & NEIGHBOUR_INTERFACE)) {
        *dst++ = '*';
        return dst;
    }
    if (neighbour->interface)
        name = interfaces_name(context->interfaces, neighbour->interface);
    if (!name)
        return text_u64(dst, neighbour->interface); /* gone since */
    return escape_text(dst, name, strlen(name), NULL);
}

/* A letter or a word for each flag that is set. */
struct flag {
    unsigned bit;
    const char *text;
};

static char *put_flags(char *dst, unsigned flags, const struct flag *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (flags & names[i].bit)
            dst = put(dst, names[i].text);
    return dst;
}

static char *put_bsd(char *dst, const struct arp_sink *arp, const struct entry *entry)
{
    static const struct flag words[] = {
        {ATF_NETMASK, "netmask * "}, {ATF_PERM, "PERM "},       {ATF_PUBL, "PUB "},
        {ATF_MAGIC, "AUTO "},        {ATF_DONTPUB, "DONTPUB "}, {ATF_USETRAILERS, "TRAIL "},
    };

    dst = put_escaped(dst, entry->host ? entry->host : "?", HOST_MAX);
    dst = put(dst, " (");
    dst = text_ipv4(dst, entry->record->neighbour.address);
    dst = put(dst, ") at ");
    if (entry->flags & ATF_COM) {
        dst = put_lladdr(dst, entry->record);
        dst = put(dst, " [");
        dst = put(dst, entry->hardware);
        dst = put(dst, "] ");
    } else {
        dst = put(dst, entry->flags & ATF_PUBL ? "<from_interface> " : "<incomplete> ");
    }
    dst = put_flags(dst, entry->flags, words, sizeof words / sizeof *words);
    return put_device(put(dst, "on "), entry->record, arp->sink.context);
}

/* An address that fills its column still has a blank behind it. */
static char *put_table_lladdr(char *dst, const struct entry *entry)
{
    char *start;

    if (!(entry->flags & ATF_COM)) {
        bool proxy = entry->flags & ATF_PUBL;
        dst = put_padded(dst, proxy ? "*" : "", HARDWARE_WIDTH);
        return put_padded(dst, proxy ? "<from_interface>" : "(incomplete)", LLADDR_WIDTH);
    }
    start = dst = put_padded(dst, entry->hardware, HARDWARE_WIDTH);
    dst = text_pad(put_lladdr(dst, entry->record), start, LLADDR_WIDTH);
    if (dst[-1] != ' ')
        *dst++ = ' ';
    return dst;
}

static char *put_table(char *dst, const struct arp_sink *arp, const struct entry *entry)
{
    static const struct flag letters[] = {
        {ATF_COM, "C"},   {ATF_PERM, "M"},    {ATF_PUBL, "P"},
        {ATF_MAGIC, "A"}, {ATF_DONTPUB, "!"}, {ATF_USETRAILERS, "T"},
    };
    char *start = dst;

    /* a name that begins so means none to arp */
    if (entry->host && entry->host[0] != '?')
        dst = put_escaped(dst, entry->host, HOST_MAX);
    else
        dst = text_ipv4(dst, entry->record->neighbour.address);
    dst = put(text_pad(dst, start, ADDRESS_WIDTH), "  ");
    dst = put_table_lladdr(dst, entry);
    start = dst;
    dst = put_flags(dst, entry->flags, letters, sizeof letters / sizeof *letters);
    dst = text_pad(dst, start, FLAGS_WIDTH);
    dst = put_padded(dst, entry->flags & ATF_NETMASK ? "*" : "", MASK_WIDTH);
    *dst++ = ' ';
    return put_device(dst, entry->record, arp->sink.context);
}

static void put_title(const struct arp_sink *arp)
{
    if (!arp->found && !arp->layout.bsd && arp->layout.header)
        writer_puts(arp->sink.writer, "Address                  HWtype  HWaddress           Flags "
                                      "Mask            Iface\n");
}

static void row(struct sink *sink, const struct record *record)
{
    struct arp_sink *arp = (struct arp_sink *)sink;
    const struct entry entry = {.record = record,
                                .host = host_of(arp, record),
                                .hardware = hardware_of(record, sink->context),
                                .flags = flags_of(record)};
    char *dst;

    put_title(arp);
    arp->found++;
    dst = writer_reserve(sink->writer, entry.host ? WRITER_RESERVE_MAX : NUMERIC_ROW_MAX);
    dst = arp->layout.bsd ? put_bsd(dst, arp, &entry) : put_table(dst, arp, &entry);
    *dst++ = '\n';
    writer_commit(sink->writer, dst);
}

static void put_number(struct writer *writer, const char *before, size_t number)
{
    writer_puts(writer, before);
    writer_commit(writer, text_u64(writer_reserve(writer, TEXT_U64_MAX), number));
}

static void put_totals(struct writer *writer, size_t skipped, size_t found)
{
    put_number(writer, "Entries: ", skipped + found);
    put_number(writer, "\tSkipped: ", skipped);
    put_number(writer, "\tFound: ", found);
    writer_puts(writer, "\n");
}

/* Whatever length was typed, no more of a host is shown than there are in a name. */
static void put_no_entry(struct writer *writer, const struct arp_layout *layout)
{
    char *dst = writer_reserve(writer, WRITER_RESERVE_MAX);

    dst = put_escaped(dst, layout->host, HOST_MAX);
    dst = put(dst, " (");
    dst = text_ipv4(dst, layout->host_address);
    dst = put(dst, ") -- no entry\n");
    writer_commit(writer, dst);
}

static void begin(struct sink *sink)
{
    ((struct arp_sink *)sink)->found = 0;
}

static void end(struct sink *sink)
{
    const struct arp_sink *arp = (const struct arp_sink *)sink;
    const struct arp_layout *layout = &arp->layout;
    const size_t skipped = layout->totals->skipped / layout->totals->passes;

    if (layout->verbose)
        put_totals(sink->writer, skipped, arp->found);
    if (arp->found)
        return;
    if (layout->host) {
        put_no_entry(sink->writer, layout);
    } else if (layout->chosen) {
        put_number(sink->writer, "arp: in ", skipped);
        writer_puts(sink->writer, " entries no match found.\n");
    }
}

static void destroy(struct sink *sink)
{
    free(sink);
}

struct sink *sink_arp_create(const struct arp_layout *layout, struct writer *writer,
                             const struct context *context)
{
    static const struct sink_ops ops = {.begin = begin, .row = row, .end = end, .destroy = destroy};
    struct arp_sink *arp = malloc(sizeof *arp);

    if (!arp)
        return NULL;
    *arp = (struct arp_sink){.sink = {&ops, writer, context}, .layout = *layout};
    return &arp->sink;
}
