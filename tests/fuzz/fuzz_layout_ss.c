/* SPDX-License-Identifier: MIT */
/*
 * Rows of ss from records of any content: every byte of them is safe to show, no buffer is too
 * short, and on a terminal the same words come out as elsewhere. An input is 4 bytes with options,
 * 2 with the terminal's width, then records.
 */
#include <netinet/in.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bytes.h"
#include "engine/rows.h"
#include "fastnet/array.h"
#include "fastnet/layouts.h"
#include "fuzz.h"
#include "made_records.h"

#ifndef AF_XDP
#define AF_XDP 44 /* linux/socket.h */
#endif

enum { RECORDS_MAX = 64, TEXTS_MAX = 12, LARGE = 64 * 1024, SHOWN_MAX = 32 * 1024 * 1024 };

/* A record, and the memory of its texts: their sizes are exact, so that reading behind one shows.
 */
struct made {
    struct record record;
    char *texts[TEXTS_MAX];
    size_t text_count;
};

static uint64_t bytes_u64(struct bytes *bytes)
{
    const uint64_t high = bytes_u32(bytes);

    return high << 32 | bytes_u32(bytes);
}

/* A short text of the input's bytes, or a long one that repeats them. */
static struct text make_text(struct made *made, struct bytes *bytes)
{
    const uint16_t number = bytes_u16(bytes);
    const size_t length = number & 0x8000 ? LARGE - (number & 0xff) : number % 512;
    const size_t taken = length < 256 ? length : 256;
    char *text = malloc(length ? length : 1);

    require(text != NULL && made->text_count < TEXTS_MAX);
    made->texts[made->text_count++] = text;
    bytes_take(bytes, text, taken);
    for (size_t i = taken; i < length; i++)
        text[i] = text[i - taken];
    return (struct text){text, length};
}

static void make_inet(struct made *made, struct bytes *bytes, uint8_t family)
{
    struct socket_record *sock = &made->record.socket;
    struct text *const texts[] = {&sock->info, &sock->cc_info, &sock->md5,
                                  &sock->ulp,  &sock->locals,  &sock->peers};

    for (size_t i = 0; i < COUNT(texts); i++)
        *texts[i] = make_text(made, bytes);
    sock->congestion = make_text(made, bytes);
    sock->local.address = address_make(family, sock->local.address.bytes);
    sock->remote.address = address_make(family, sock->remote.address.bytes);
    sock->v6only &= 1;
}

static void make_others(struct made *made, struct bytes *bytes, uint8_t family)
{
    struct socket_record *sock = &made->record.socket;
    struct text *const of_packet[] = {&sock->rx_ring, &sock->tx_ring,   &sock->filter,
                                      &sock->umem,    &sock->fill_ring, &sock->completion_ring,
                                      &sock->stats};

    switch (family) {
    case AF_UNIX:
        sock->path = make_text(made, bytes);
        sock->path.length %= SOCKET_PATH_MAX + 1;
        sock->waiting = make_text(made, bytes);
        break;
    case AF_PACKET:
    case AF_XDP:
        for (size_t i = 0; i < COUNT(of_packet); i++)
            *of_packet[i] = make_text(made, bytes);
        break;
    case AF_NETLINK:
        sock->groups = make_text(made, bytes);
        break;
    case AF_TIPC:
        sock->tipc = make_text(made, bytes);
        break;
    default:
        break;
    }
}

/* Bits of texts that the family does not have. */
static uint64_t foreign_texts(uint8_t family)
{
    const uint64_t inet = SOCKET_TCP_INFO | SOCKET_TCP_BASICS | SOCKET_MPTCP_INFO |
                          SOCKET_SCTP_INFO | SOCKET_CONGESTION | SOCKET_CC_INFO | SOCKET_MD5 |
                          SOCKET_ULP | SOCKET_LOCALS | SOCKET_PEERS;
    const uint64_t local = SOCKET_PATH | SOCKET_ICONS;
    const uint64_t packet = SOCKET_RX_RING | SOCKET_TX_RING | SOCKET_FILTER | SOCKET_UMEM |
                            SOCKET_FILL_RING | SOCKET_COMPLETION_RING | SOCKET_XDP_STATS;
    const uint64_t all = inet | local | packet | SOCKET_GROUPS | SOCKET_TIPC;
    const uint64_t own = family == AF_INET || family == AF_INET6   ? inet
                         : family == AF_UNIX                       ? local
                         : family == AF_PACKET || family == AF_XDP ? packet
                         : family == AF_NETLINK                    ? SOCKET_GROUPS
                         : family == AF_TIPC                       ? SOCKET_TIPC
                                                                   : 0;

    return all & ~own;
}

static void make_record(struct made *made, struct bytes *bytes)
{
    static const uint8_t families[] = {AF_INET,    AF_INET6, AF_UNIX, AF_PACKET,
                                       AF_NETLINK, AF_VSOCK, AF_XDP,  AF_TIPC};
    static const uint16_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP,    IPPROTO_SCTP,
                                         IPPROTO_RAW, PROTOCOL_MPTCP, 99};
    const uint8_t kind = bytes_u8(bytes), family = families[kind % COUNT(families)];
    struct socket_record *sock = &made->record.socket;

    made->text_count = 0;
    memset(&made->record, bytes_u8(bytes), sizeof made->record);
    made->record.kind = &kind_socket;
    made->record.before = NULL;
    made->record.saved = NULL;
    made->record.has = socket_fields_with(bytes_u64(bytes) & ~foreign_texts(family));
    made->record.identity = bytes_u64(bytes);
    bytes_take(bytes, sock, offsetof(struct socket_record, local));
    bytes_take(bytes, &sock->local, 2 * sizeof sock->local);
    sock->family = family;
    sock->protocol = protocols[kind / COUNT(families) % COUNT(protocols)];
    sock->inode %= 4; /* owners, and associations of SCTP */
    sock->age = (struct age){.ms = made->record.identity, .at_least = kind & 128};
    if (family == AF_INET || family == AF_INET6)
        make_inet(made, bytes, family);
    else
        make_others(made, bytes, family);
    sock->memory = make_text(made, bytes);
    sock->storages = make_text(made, bytes);
}

static void free_record(struct made *made)
{
    while (made->text_count > 0)
        free(made->texts[--made->text_count]);
}

static struct ss_layout make_layout(uint32_t options)
{
    struct ss_layout layout = {.width = 0};
    bool *const members[] = {
        &layout.netid,   &layout.state,   &layout.queues,   &layout.processes, &layout.extended,
        &layout.timers,  &layout.memory,  &layout.info,     &layout.tos,       &layout.cgroup,
        &layout.options, &layout.filters, &layout.storages, &layout.tipc,      &layout.threads,
        &layout.numeric, &layout.resolve, &layout.header,   &layout.one_line,
    };

    for (size_t i = 0; i < COUNT(members); i++)
        *members[i] = options >> i & 1;
    return layout;
}

/* --- What is written -------------------------------------------------------------------------- */

static char shown[2][SHOWN_MAX];

/* All that a listing writes; returns its length. */
static size_t show(const struct ss_layout *layout, const struct made *made, size_t count,
                   char *text)
{
    static const struct context context;
    const int fd = memfd_create("shown", MFD_CLOEXEC);
    struct writer writer;
    struct sink *sink;
    ssize_t length;

    require(fd >= 0 && writer_init(&writer, fd) == 0);
    sink = sink_create(&sink_ss, layout, &writer, &context);
    require(sink != NULL);
    sink_begin(sink);
    for (size_t i = 0; i < count; i++) {
        sink->ops->row(sink, &made[i].record);
        if (i % 7 == 6 && sink->ops->pause)
            sink->ops->pause(sink);
    }
    sink_end(sink);
    sink_destroy(sink);
    require(writer_flush(&writer) == 0);
    writer_finish(&writer);
    length = pread(fd, text, SHOWN_MAX, 0);
    require(length >= 0 && length < SHOWN_MAX);
    close(fd);
    return (size_t)length;
}

/* Every column has a value that is whole. */
static void look_at_columns(const struct record *record)
{
    static const struct context context;

    for (size_t i = 0; i < kind_socket.field_count; i++) {
        const struct value value = field_value(&kind_socket.fields[i], record, &context);
        require(value_bound(&value) > 0);
        (void)value_hash(0, &value); /* reads all of it */
    }
}

/* Without its blanks and line breaks; returns the length. */
static size_t squeeze(char *text, size_t length)
{
    size_t kept = 0;

    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];
        require((byte >= ' ' && byte != 0x7f) || byte == '\n' || byte == '\t');
        if (byte > ' ')
            text[kept++] = text[i];
    }
    return kept;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct made made[RECORDS_MAX];
    struct bytes bytes = {data, size};
    struct ss_layout layout = make_layout(bytes_u32(&bytes));
    const unsigned width = bytes_u16(&bytes);
    size_t count = 0, lengths[2];

    while (bytes.left > 0 && count < RECORDS_MAX)
        make_record(&made[count++], &bytes);
    lengths[0] = squeeze(shown[0], show(&layout, made, count, shown[0]));
    layout.width = width;
    lengths[1] = squeeze(shown[1], show(&layout, made, count, shown[1]));
    require(lengths[0] == lengths[1] && memcmp(shown[0], shown[1], lengths[0]) == 0);
    while (count > 0) {
        look_at_columns(&made[--count].record);
        free_record(&made[count]);
    }
    return 0;
}
