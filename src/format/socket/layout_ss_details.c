/* SPDX-License-Identifier: MIT */
/* The layout of ss: processes, and the details of a socket that options ask for. */
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>

#include "fastnet/array.h"
#include "fastnet/cgroups.h"
#include "fastnet/kernel_info.h"
#include "fastnet/owners.h"
#include "fastnet/saved.h"
#include "format/socket/layout_ss.h"
#include "model/socket/owner_fields.h"
#include "text/escape.h"

enum { PATH_PIECE = SS_ROOM / ESCAPE_FACTOR };

/* --- Processes -------------------------------------------------------------------------------- */

/* Writes owners, highest pid first. As in ss, a netlink socket shows its port instead. */
char *ss_put_process(char *dst, struct ss_row *row)
{
    struct value owners = {.type = VALUE_UNKNOWN};
    size_t count;

    if (row->record->socket.family != AF_NETLINK)
        owners = owner_all(row->record, row->context, OWN_END, NULL);
    count = owners.owners.count;
    if (!count || !owners.owners.first->process->pid) /* ss does not show that it is the kernel's */
        return dst;
    dst = PUT(dst, "users:(");
    while (count-- > 0) {
        const struct owner *owner = &owners.owners.first[count];
        dst = PUT(dst, "(");
        if (!owner->process->unnamed)
            dst = PUT(put_escaped(PUT(dst, "\""), owner->process->name, "\""), "\",");
        dst = text_u64(PUT(dst, "pid="), (uint64_t)owner->process->pid);
        if (owner->tid)
            dst = text_u64(PUT(dst, ",tid="), (uint64_t)owner->tid);
        if (owner->fd >= 0)
            dst = text_u64(PUT(dst, ",fd="), (uint64_t)owner->fd);
        dst = ss_more(row, count ? PUT(dst, "),") : PUT(dst, ")"));
    }
    return PUT(dst, ")");
}

/* --- Timers ----------------------------------------------------------------------------------- */

/* Writes a time. Like ss, the longer the time, the fewer units: minutes (with seconds below ten
 * minutes), seconds (with thousandths below ten seconds), or milliseconds. */
static char *put_time(char *dst, uint64_t milliseconds)
{
    const uint64_t minutes = milliseconds / 60000;
    const unsigned seconds = minutes > 9 ? 0 : (unsigned)(milliseconds / 1000 % 60);
    const unsigned rest = minutes || seconds > 9 ? 0 : (unsigned)(milliseconds % 1000);

    if (minutes)
        dst = PUT(text_u64(dst, minutes), "min");
    if (seconds)
        dst = text_u64(dst, seconds);
    if (seconds && rest)
        *dst++ = '.';
    if (rest) {
        *dst++ = (char)('0' + rest / 100);
        dst = put_two_digits(dst, rest % 100);
    }
    return seconds ? PUT(dst, "sec") : rest ? PUT(dst, "ms") : dst;
}

static char *ss_details_put_timer(char *dst, const struct ss_row *row)
{
    static const char *const names[] = {"off", "on", "keepalive", "timewait", "persist", "delack"};
    const struct socket_record *sock = &row->record->socket;
    const char *name = POINTER_AT(names, sock->timer);

    if (!ss_has(row, SOCKET_TIMER) || sock->timer == TIMER_OFF)
        return dst;
    if (sock->protocol == IPPROTO_SCTP)
        name = "T3_RTX";
    dst = put_string(PUT(dst, " timer:("), name ? name : "unknown");
    dst = PUT(put_time(PUT(dst, ","), sock->timer_ms), ",");
    if (ss_has(row, SOCKET_TIMER_COUNT))
        dst = text_u64(dst, sock->timer_count);
    else if (ss_has(row, SOCKET_RETRANSMITS))
        dst = text_u64(dst, ss_file_count(sock));
    return PUT(dst, ")");
}

/* --- What several families have --------------------------------------------------------------- */

/* Writes a path of any length, in pieces that fit into the room. */
static char *put_path(char *dst, struct ss_row *row, const char *path)
{
    enum text_part part = PART_TEXT;
    size_t left = strlen(path);

    for (;;) {
        const size_t size = escape_piece(path, left, PATH_PIECE);
        dst = escape_part(ss_more(row, dst), path, size, NULL, &part);
        if (size == left)
            return ss_more(row, dst);
        path += size;
        left -= size;
    }
}

const char *ss_cgroup_path(const struct context *context, const struct record *record)
{
    return context->cgroups ? cgroups_path(context->cgroups, record->socket.cgroup)
                            : saved_string(record, "cgroup");
}

static char *put_cgroup(char *dst, struct ss_row *row)
{
    struct cgroups *cgroups = row->context->cgroups;
    const uint64_t id = row->record->socket.cgroup;
    const char *path = ss_cgroup_path(row->context, row->record);

    if (!path && cgroups && cgroups_failed(cgroups_summary(cgroups)))
        return dst; /* reading cgroups failed: the path may exist */
    dst = PUT(dst, " cgroup:");
    return path ? put_path(dst, row, path) : put_hex(PUT(dst, "unreachable:"), id);
}

/* Writes the cgroup. With -e and --cgroup ss writes it twice: row->extra_in_ss counts that. */
static char *put_cgroup_once(char *dst, struct ss_row *row)
{
    const size_t before = ss_written_length(row, dst);

    dst = put_cgroup(dst, row);
    if (row->layout->cgroup)
        row->extra_in_ss += ss_written_length(row, dst) - before;
    return dst;
}

char *ss_put_extended(char *dst, struct ss_row *row)
{
    const struct socket_record *sock = &row->record->socket;
    const bool is_ip = sock->family == AF_INET || sock->family == AF_INET6;

    if (ss_has(row, SOCKET_UID) && sock->uid)
        dst = text_u64(PUT(dst, " uid:"), sock->uid);
    if (ss_has(row, SOCKET_INODE) || sock->timer == TIMER_TIME_WAIT) /* TIME_WAIT: inode 0 */
        dst = text_u64(PUT(dst, " ino:"), sock->inode);
    if (ss_has(row, SOCKET_COOKIE))
        dst = put_hex(PUT(dst, " sk:"), row->record->identity);
    else if (ss_has(row, SOCKET_PEERS) || ss_has(row, SOCKET_POINTER))
        dst = put_hex(PUT(dst, " sk:"), sock->endpoint);
    if (is_ip && ss_has(row, SOCKET_MARK) && sock->mark)
        dst = put_hex(PUT(dst, " fwmark:0x"), sock->mark);
    if (ss_has(row, SOCKET_CGROUP) && sock->cgroup)
        dst = put_cgroup_once(dst, row);
    return dst;
}

/* Writes "<->" with an arrow for each open direction, and '-' in place of a closed one. */
static char *put_shutdown(char *dst, const struct ss_row *row)
{
    const uint8_t shut = row->record->socket.shutdown;

    if (!ss_has(row, SOCKET_SHUTDOWN))
        return dst;
    *dst++ = ' ';
    *dst++ = shut & 1 ? '-' : '<';
    *dst++ = '-';
    *dst++ = shut & 2 ? '-' : '>';
    return dst;
}

char *ss_put_memory(char *dst, const struct ss_row *row)
{
    static const char *const names[] = {
        [SK_MEMINFO_RMEM_ALLOC] = " skmem:(r",
        [SK_MEMINFO_RCVBUF] = ",rb",
        [SK_MEMINFO_WMEM_ALLOC] = ",t",
        [SK_MEMINFO_SNDBUF] = ",tb",
        [SK_MEMINFO_FWD_ALLOC] = ",f",
        [SK_MEMINFO_WMEM_QUEUED] = ",w",
        [SK_MEMINFO_OPTMEM] = ",o",
        [SK_MEMINFO_BACKLOG] = ",bl",
        [SK_MEMINFO_DROPS] = ",d",
    };
    const size_t count = row->record->socket.memory.length / sizeof(uint32_t);

    if (!row->layout->memory || !ss_has(row, SOCKET_MEMORY) || count <= SK_MEMINFO_OPTMEM)
        return dst;
    for (size_t i = 0; i < count && i < COUNT(names); i++)
        dst = text_u64(put_string(dst, names[i]), socket_memory(row->record, i));
    return PUT(dst, ")");
}

/* --- Internet --------------------------------------------------------------------------------- */

/* Writes hex digits as printf(3) does with %#x: 0 has no 0x. */
static char *put_prefixed_hex(char *dst, uint32_t number)
{
    return put_hex(number ? PUT(dst, "0x") : dst, number);
}

static char *put_tos(char *dst, const struct ss_row *row)
{
    const struct socket_record *sock = &row->record->socket;

    if (ss_has(row, SOCKET_TOS))
        dst = put_prefixed_hex(PUT(dst, " tos:"), sock->tos);
    if (ss_has(row, SOCKET_TCLASS))
        dst = put_prefixed_hex(PUT(dst, " tclass:"), sock->tclass);
    if (ss_has(row, SOCKET_CLASS_ID))
        dst = put_prefixed_hex(PUT(dst, " class_id:"), sock->class_id);
    return dst;
}

static char *ss_details_put_options(char *dst, struct ss_row *row)
{
    /* struct inet_diag_sockopt of linux/inet_diag.h */
    static const struct flag_text texts[] = {
        {1 << 0, " recverr"},         {1 << 1, " is_icsk"},        {1 << 2, " freebind"},
        {1 << 3, " hdrincl"},         {1 << 4, " mc_loop"},        {1 << 5, " transparent"},
        {1 << 6, " mc_all"},          {1 << 7, " nodefrag"},       {1 << 8, " bind_addr_no_port"},
        {1 << 9, " recverr_rfc4884"}, {1 << 10, " defer_connect"},
    };

    if (!ss_has(row, SOCKET_OPTIONS))
        return dst;
    dst = PUT(ss_break(row, dst), "inet-sockopt: (");
    return PUT(put_flags(dst, row->record->socket.options, texts, COUNT(texts)), ")");
}

static char *put_info_line(char *dst, struct ss_row *row)
{
    const bool sctp = row->record->socket.protocol == IPPROTO_SCTP;

    if (!row->layout->one_line)
        dst = ss_break(row, dst);
    dst = ss_more(row, dst);
    dst = ss_put_memory(dst, row);
    if (sctp)
        dst = ss_put_sctp_addresses(dst, row);
    if (!row->layout->info)
        return dst;
    dst = ss_put_info(dst, row);
    return sctp ? dst : ss_put_ulp(ss_put_md5_keys(dst, row), row);
}

char *ss_put_inet(char *dst, struct ss_row *row)
{
    const struct ss_layout *layout = row->layout;
    const struct socket_record *sock = &row->record->socket;

    if (layout->timers)
        dst = ss_details_put_timer(dst, row);
    if (layout->extended) {
        dst = ss_put_extended(dst, row);
        if (sock->family == AF_INET6 && ss_has(row, SOCKET_V6ONLY))
            dst = text_u64(PUT(dst, " v6only:"), sock->v6only);
        dst = put_shutdown(dst, row);
    }
    if (layout->tos)
        dst = put_tos(dst, row);
    if (layout->cgroup && ss_has(row, SOCKET_CGROUP) && !(layout->extended && sock->cgroup))
        dst = put_cgroup(dst, row);
    if (layout->options)
        dst = ss_details_put_options(dst, row);
    /* Rows from netlink get another line for -m and -i, which may be empty, as for half-open
     * connections. Rows from /proc do not: TCP's numbers follow on the same line. For UDP, and for
     * raw sockets of protocol UDP, -i shows nothing. */
    if (ss_is_by_netlink(row) &&
        (layout->memory || (layout->info && ss_protocol(row) != IPPROTO_UDP)))
        dst = put_info_line(dst, row);
    else if (layout->info && sock->protocol == IPPROTO_TCP)
        dst = ss_put_file_info(dst, row);
    return layout->storages ? ss_put_storages(dst, row) : dst;
}

/* --- Unix, netlink ---------------------------------------------------------------------------- */

/* Writes the device of a unix socket's file. ss reads the kernel's number as a dev_t of the C
 * library, which has the bits at other positions; row->extra_in_ss gets the difference in
 * length. */
static char *put_file_device(char *dst, struct ss_row *row)
{
    enum { MINOR_BITS = 20 }; /* MINORBITS of the kernel's linux/kdev_t.h */
    const uint32_t device = row->record->socket.file_device;
    char other[2 * sizeof "4294967295"];
    char *end = text_u64(PUT(text_u64(other, major(device)), "/"), minor(device));
    const char *const begin = dst;

    dst = PUT(text_u64(dst, device >> MINOR_BITS), "/");
    dst = text_u64(dst, device & ((UINT32_C(1) << MINOR_BITS) - 1));
    row->extra_in_ss += (size_t)(end - other) - (size_t)(dst - begin);
    return dst;
}

char *ss_put_unix(char *dst, struct ss_row *row)
{
    const struct socket_record *sock = &row->record->socket;
    uint32_t inode;

    dst = ss_put_memory(dst, row);
    if (!row->layout->extended)
        return dst;
    dst = put_shutdown(dst, row);
    if (ss_has(row, SOCKET_VFS)) {
        dst = text_u64(PUT(dst, " ino:"), sock->file_inode);
        dst = put_file_device(PUT(dst, " dev:"), row);
    }
    if (!ss_has(row, SOCKET_ICONS))
        return dst;
    dst = PUT(dst, " peers:"); /* inodes of connections that wait to be accepted */
    for (size_t at = 0; at + sizeof inode <= sock->waiting.length; at += sizeof inode) {
        memcpy(&inode, sock->waiting.data + at, sizeof inode);
        dst = ss_more(row, text_u64(PUT(dst, " "), inode));
    }
    return dst;
}

char *ss_put_netlink(char *dst, struct ss_row *row)
{
    uint64_t first = 0; /* bits of the first groups; 32 are shown */

    if (ss_has(row, SOCKET_GROUPS))
        first = text_number(row->record->socket.groups, 0, sizeof(unsigned long));
    if (row->layout->extended) {
        dst = put_hex(PUT(dst, " sk="), row->record->identity);
        dst = PUT(dst, " cb=0 groups=0x");
        for (unsigned shift = 32; shift > 0; shift -= 8)
            dst = put_hex_byte(dst, (uint8_t)(first >> (shift - 8)));
    }
    return ss_put_memory(dst, row);
}
