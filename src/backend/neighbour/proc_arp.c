/* SPDX-License-Identifier: MIT */
/* Neighbours from /proc/net/arp. The file has only IPv4, no entries that need no resolution
 * (NOARP), and of the state only whether an entry is complete and whether it is permanent. The
 * kernel writes the file in net/ipv4/arp.c, arp_seq_show(). */
#include "backend/neighbour/decode.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/proc/proc_file.h"
#include "backend/proc/scan.h"
#include "fastnet/predicate.h"
#include "fastnet/report.h"

#define FIELDS                                                                                     \
    (NEIGHBOUR_LLADDR | NEIGHBOUR_INTERFACE | NEIGHBOUR_HARDWARE | NEIGHBOUR_STATE |               \
     NEIGHBOUR_FLAGS | NEIGHBOUR_ATF | NEIGHBOUR_LLADDR_CUT)

/* The kernel writes at most 9 bytes of a MAC address (HBUFFERLEN is 30). No device has addresses of
 * exactly 9 bytes, so 9 bytes mean that the address was cut. */
enum { LLADDR_KEPT = 9 };

/* Takes a number of up to 32 bits after spaces, written as 0x1. */
static bool scan_flags(struct scan *scan, uint64_t *value)
{
    scan_spaces(scan);
    return scan_char(scan, '0') && scan_char(scan, 'x') && scan_hex(scan, value, 8);
}

/* True for hardware with call signs. A proxy for all interfaces has the type 0 (NET/ROM), too. */
static bool is_radio(uint64_t hardware)
{
    return hardware == ARPHRD_AX25 || hardware == ARPHRD_NETROM;
}

/* Takes a call sign such as N0CALL-5, which ax2asc() of the kernel's net/ax25/ax25_addr.c makes
 * from the 7 bytes of an address: six characters, and a number in bits 1 to 4 of the last byte. The
 * other bits of that byte do not belong to the address (ax25cmp()). They are 0 here. "*": no
 * address. */
static bool scan_call_sign(struct scan *scan, struct neighbour_record *neighbour)
{
    enum { CALL = 6, STATION_MAX = 15 };
    struct scan ahead = *scan;
    uint8_t address[CALL + 1];
    uint64_t station = 0;
    size_t length = 0;
    const bool none = scan_char(&ahead, '*');

    memset(address, ' ' << 1, CALL);
    for (; !none && ahead.at<ahead.end && * ahead.at> ' ' && *ahead.at <= '~'; ahead.at++) {
        if (*ahead.at == '-' || length == CALL)
            break;
        address[length++] = (uint8_t)(*ahead.at << 1);
    }
    if (!none &&
        (!length || !scan_char(&ahead, '-') || !scan_decimal(&ahead, &station, STATION_MAX)))
        return false;
    if (ahead.at == ahead.end || *ahead.at != ' ')
        return false;
    address[CALL] = (uint8_t)(station << 1);
    memcpy(neighbour->lladdr, address, none ? 0 : sizeof address);
    neighbour->lladdr_length = none ? 0 : sizeof address;
    *scan = ahead;
    return true;
}

/* Takes a MAC address such as 02:00:5e:10:00:ff, a space, and the mask. A line of a device without
 * addresses has only the mask. */
static bool scan_words(struct scan *scan, uint64_t hardware, struct neighbour_record *neighbour)
{
    struct text mask;

    scan_spaces(scan);
    if (is_radio(hardware) && scan_call_sign(scan, neighbour))
        return scan_word(scan, &mask);
    if (scan->at < scan->end && *scan->at != '*') {
        do {
            if (neighbour->lladdr_length == LLADDR_MAX ||
                !SCAN_HEX(scan, neighbour->lladdr[neighbour->lladdr_length]))
                return false;
            neighbour->lladdr_length++;
        } while (scan_char(scan, ':'));
        if (scan->at == scan->end || *scan->at != ' ')
            return false;
    }
    return scan_word(scan, &mask);
}

/* Takes the hardware's type, flags, MAC address and mask of an Ethernet line by their positions:
 *
 * 192.168.100.100  0x1         0x2         02:00:5e:10:00:ff     *        eth0 */
static bool take_columns(struct scan *scan, const char *line, struct neighbour_record *neighbour,
                         uint64_t *flags)
{
    uint8_t lladdr[6];
    unsigned bad;

    scan_spaces(scan);
    if (scan->at != line + 17 || scan->end - line < 72 ||
        memcmp(line + 17, "0x1         0x", 14) != 0 || memcmp(line + 32, "         ", 9) != 0 ||
        memcmp(line + 58, "     *        ", 14) != 0)
        return false;
    *flags = bad = scan_digit(line[31]);
    for (size_t i = 0; i < sizeof lladdr; i++) {
        const char *const byte = line + 41 + 3 * i;
        const unsigned high = scan_digit(byte[0]), low = scan_digit(byte[1]);
        bad |= high | low | (byte[2] == (i < 5 ? ':' : ' ') ? 0 : 16);
        lladdr[i] = (uint8_t)(high << 4 | low);
    }
    if (bad > 15)
        return false;
    memcpy(neighbour->lladdr, lladdr, sizeof lladdr);
    neighbour->lladdr_length = sizeof lladdr;
    scan->at = line + 72;
    return true;
}

/* Takes the interface's name, which is the last word of the line. */
static bool take_device(struct scan *scan, struct neighbour_record *neighbour)
{
    struct text device;

    if (!scan_word(scan, &device) || device.length >= INTERFACE_NAME_SIZE)
        return false;
    scan_spaces(scan);
    if (scan->at < scan->end)
        return false;
    memcpy(neighbour->interface_name, device.data, device.length);
    return true;
}

/* Sets the fields that follow from the flags of arp(7). */
static void set_by_flags(struct record *record)
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
        record->has |=
            neighbour->lladdr_length == LLADDR_KEPT ? NEIGHBOUR_LLADDR_CUT : NEIGHBOUR_LLADDR;
    /* a proxy for all interfaces has '*' instead of an interface's name */
    if (neighbour->flags & NTF_PROXY && strcmp(neighbour->interface_name, "*") == 0)
        neighbour->interface_name[0] = '\0';
    else
        record->has |= NEIGHBOUR_INTERFACE;
}

int proc_arp_decode(const struct line *line, struct record *record)
{
    struct scan scan = {line->data, line->data + line->length};
    struct neighbour_record *neighbour = &record->neighbour;
    uint64_t hardware = ARPHRD_ETHER, flags;

    memset(record, 0, sizeof *record);
    if (line->cut || !scan_ipv4(&scan, neighbour->address.bytes) ||
        (!take_columns(&scan, line->data, neighbour, &flags) &&
         (!scan_flags(&scan, &hardware) || !scan_flags(&scan, &flags) || hardware > UINT16_MAX ||
          flags > UINT16_MAX || !scan_char(&scan, ' ') ||
          !scan_words(&scan, hardware, neighbour))) ||
        !take_device(&scan, neighbour))
        return -EBADMSG;
    neighbour->address.family = AF_INET;
    neighbour->hardware = (uint16_t)hardware;
    neighbour->atf = (uint16_t)flags;
    record->kind = &kind_neighbour;
    set_by_flags(record);
    record->identity = neighbour_identity(neighbour);
    return 0;
}

/* Decodes a line, and counts the addresses that the file cuts. */
static int proc_arp_take(struct proc_file *file, const struct line *line, struct record *record)
{
    const int error = proc_arp_decode(line, record);
    size_t *const cut = file->state;

    *cut += !error && record->has & NEIGHBOUR_LLADDR_CUT;
    return error;
}

static int proc_arp_dump(const struct query *query, record_fn fn, void *arg)
{
    size_t cut = 0;
    struct proc_file file = {.query = query,
                             .name = "arp",
                             .heading = "HW address",
                             .take = proc_arp_take,
                             .state = &cut};
    int result;

    if (predicate_requires(query->where, offsetof(struct record, neighbour.master),
                           PREDICATE_EQUAL))
        return -EOPNOTSUPP; /* the file does not name masters */
    result = proc_file_open(&file);
    if (result < 0)
        return result;
    if (query->table != &table_arp) /* the table has more neighbours than this file */
        report_loss(query->report,
                    "neighbours were read from %s/net/arp, which has no %sNOARP entries and no "
                    "state except PERMANENT",
                    query->proc_root,
                    query->table->family == AF_UNSPEC ? "IPv6 neighbours, no " : "");
    result = proc_file_rows(&file, fn, arg);
    if (cut && query->needs & NEIGHBOUR_LLADDR)
        report_note(query->report, "%s/net/arp has only the first %d bytes of %zu MAC address%s",
                    query->proc_root, LLADDR_KEPT, cut, cut == 1 ? "" : "es");
    return result;
}

const struct backend backend_proc_arp = {
    .name = "proc",
    .source = BACKEND_PROC,
    .provides =
        PROVIDES({&table_neighbours, FIELDS}, {&table_neighbours4, FIELDS}, {&table_arp, FIELDS}),
    .dump = proc_arp_dump,
    .counts_rows = THESE_TABLES(&table_neighbours, &table_neighbours4,
                                &table_arp), /* neigh_seq_start() (net/core/neighbour.c) */
};
