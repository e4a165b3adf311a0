/*
 * Neighbours by /proc/net/arp: IPv4 only, nothing that needs no resolving (NOARP), and of the state
 * no more than whether an entry is complete and permanent. Format: net/ipv4/arp.c, arp_seq_show.
 */
#include "backend/neighbour/proc_arp.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/neighbour/neighbour_identity.h"
#include "backend/proc/lines.h"
#include "backend/proc/scan.h"
#include "fastnet/report.h"

#define FIELDS                                                                                     \
    (NEIGHBOUR_LLADDR | NEIGHBOUR_INTERFACE | NEIGHBOUR_HARDWARE | NEIGHBOUR_STATE |               \
     NEIGHBOUR_FLAGS | NEIGHBOUR_ATF)

static uint64_t fields(const struct table *table)
{
    return table->kind == &kind_neighbour && table->family != AF_INET6 ? FIELDS : 0;
}

static bool scan_ipv4(struct scan *scan, uint8_t address[4])
{
    for (size_t i = 0; i < 4; i++) {
        uint64_t octet;
        if ((i > 0 && !scan_char(scan, '.')) || !scan_decimal(scan, &octet, UINT8_MAX))
            return false;
        address[i] = (uint8_t)octet;
    }
    return true;
}

/* 0x and up to 32 bits, behind blanks. */
static bool scan_flags(struct scan *scan, uint64_t *value)
{
    scan_blanks(scan);
    return scan_char(scan, '0') && scan_char(scan, 'x') && scan_hex(scan, value, 8);
}

/* The bytes before the blank, as 02:00:5e:10:00:ff. */
static bool scan_lladdr(struct scan *scan, struct neighbour_record *neighbour)
{
    neighbour->lladdr_length = 0;
    do {
        uint64_t byte;
        if (neighbour->lladdr_length == LLADDR_MAX || !scan_hex(scan, &byte, 2))
            return false;
        neighbour->lladdr[neighbour->lladdr_length++] = (uint8_t)byte;
    } while (scan_char(scan, ':'));
    return scan->at < scan->end && *scan->at == ' ';
}

/* A word up to a blank or the end. */
static struct text scan_word(struct scan *scan)
{
    const char *start;

    scan_blanks(scan);
    start = scan->at;
    while (scan->at < scan->end && *scan->at != ' ')
        scan->at++;
    return (struct text){start, (size_t)(scan->at - start)};
}

/* Link-layer address, mask and device; a device without addresses leaves the first blank. */
static bool scan_words(struct scan *scan, struct neighbour_record *neighbour)
{
    struct text mask, device;

    scan_blanks(scan);
    if (scan->at < scan->end && *scan->at != '*' && !scan_lladdr(scan, neighbour))
        return false;
    mask = scan_word(scan);
    device = scan_word(scan);
    scan_blanks(scan);
    if (mask.length == 0 || device.length == 0 || device.length >= INTERFACE_NAME_SIZE ||
        scan->at < scan->end)
        return false;
    memcpy(neighbour->interface_name, device.data, device.length);
    return true;
}

/* A proxy for all interfaces has '*' for one. */
static bool has_interface(const struct neighbour_record *neighbour)
{
    return !(neighbour->flags & NTF_PROXY) || strcmp(neighbour->interface_name, "*") != 0;
}

/* What the flags of arp(7) say in the words of today. */
static void settle(struct record *record)
{
    struct neighbour_record *neighbour = &record->neighbour;

    record->has = NEIGHBOUR_HARDWARE | NEIGHBOUR_FLAGS | NEIGHBOUR_ATF;
    if (neighbour->atf & ATF_PUBL) {
        neighbour->flags = NTF_PROXY;
    } else if (neighbour->atf & ATF_PERM) {
        neighbour->state = NUD_PERMANENT;
        record->has |= NEIGHBOUR_STATE;
    }
    if (neighbour->atf & ATF_COM)
        record->has |= NEIGHBOUR_LLADDR;
    if (has_interface(neighbour))
        record->has |= NEIGHBOUR_INTERFACE;
    else
        neighbour->interface_name[0] = '\0';
}

int proc_arp_decode(const struct line *line, struct record *record)
{
    struct scan scan = {line->data, line->data + line->length};
    struct neighbour_record *neighbour = &record->neighbour;
    uint64_t hardware, flags;

    memset(record, 0, sizeof *record);
    if (line->cut || !scan_ipv4(&scan, neighbour->address.bytes) || !scan_flags(&scan, &hardware) ||
        !scan_flags(&scan, &flags) || hardware > UINT16_MAX || flags > UINT16_MAX ||
        !scan_char(&scan, ' ') || !scan_words(&scan, neighbour))
        return -EBADMSG;
    neighbour->address.family = AF_INET;
    neighbour->hardware = (uint16_t)hardware;
    neighbour->atf = (uint16_t)flags;
    record->kind = &kind_neighbour;
    settle(record);
    record->identity = neighbour_identity(neighbour);
    return 0;
}

/* A reading of the file. */
struct reading {
    const struct query *query;
    record_fn fn;
    void *arg;
    size_t skipped, first; /* malformed lines, and the number of the first */
};

static bool is_wanted(const struct query *query, const struct record *record)
{
    const struct neighbour_filter *filter = query->neighbours;

    if (!filter)
        return true;
    return (record->neighbour.flags & NTF_PROXY) ? filter->proxies : filter->entries;
}

static bool is_heading(const struct line *line, size_t number)
{
    return number == 1 && memmem(line->data, line->length, "HW address", 10);
}

static int take_line(struct reading *reading, const struct lines *lines, const struct line *line)
{
    struct record record;

    if (line->unended)
        report_loss(reading->query->report, "%s/net/arp is cut: its last line has no end",
                    reading->query->proc_root);
    if (proc_arp_decode(line, &record) == 0)
        return is_wanted(reading->query, &record) ? reading->fn(&record, reading->arg) : 0;
    if (line->length && !is_heading(line, lines->number) && !reading->skipped++)
        reading->first = lines->number;
    return 0;
}

/* What a listing of all neighbours lacks when this file is what it is made from. */
static void report_missing(const struct query *query)
{
    if (query->table != &table_arp)
        report_loss(query->report,
                    "%s/net/arp is all that was read: it has no %sNOARP entries, and no state but "
                    "PERMANENT",
                    query->proc_root, query->table->family == AF_UNSPEC ? "IPv6, no " : "");
}

static int read_lines(struct reading *reading, struct lines *lines)
{
    const struct query *query = reading->query;
    struct line line;
    int result;

    report_missing(query);
    while ((result = lines_next(lines, &line)) > 0) {
        result = take_line(reading, lines, &line);
        if (result < 0)
            break;
    }
    if (result == 0 && !lines->number)
        report_loss(query->report, "%s/net/arp is empty: not even a heading", query->proc_root);
    if (reading->skipped)
        report_loss(
            query->report, "%s/net/arp: skipped %zu malformed line%s, the first is line %zu",
            query->proc_root, reading->skipped, reading->skipped == 1 ? "" : "s", reading->first);
    return result;
}

static int dump(const struct query *query, record_fn fn, void *arg)
{
    struct reading reading = {.query = query, .fn = fn, .arg = arg};
    struct lines lines;
    int result;

    if (query->neighbours && query->neighbours->master)
        return -EOPNOTSUPP; /* nothing in the file tells */
    result = lines_open_table(&lines, query->proc_root, "arp");
    if (result < 0)
        return result;
    result = read_lines(&reading, &lines);
    lines_close(&lines);
    return result;
}

/* neigh_seq_start() (net/core/neighbour.c) */
static bool counts_rows(const struct table *table)
{
    (void)table;
    return true;
}

const struct backend backend_proc_arp = {
    .name = "proc",
    .source = BACKEND_PROC,
    .fields = fields,
    .dump = dump,
    .counts_rows = counts_rows,
};
