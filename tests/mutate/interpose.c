/* SPDX-License-Identifier: MIT */
/*
 * Stands between the program and netlink, by LD_PRELOAD: what the kernel sent is cut, repeated,
 * dropped, reordered and altered before recvmsg(2), the only call that the program reads netlink
 * with, returns it. Nothing waits for a message that was dropped: a socket that has nothing to read
 * comes to its end.
 *
 *     MUTATE_SEED      which mutations; without it there are none
 *     MUTATE_TRACE     a file that each mutation is written to, a line each
 *     MUTATE_EVENTS    recorded events, as tests/helpers/record writes them, for a socket that
 *                      listens to events and has none
 *     MUTATE_RECORD    a file that takes what the kernel sent, before it is mutated
 *     MUTATE_REPLAY    such a file, which is read in place of what the kernel sends
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "chance.h"
#include "fastnet/array.h"

/* The kernel answers a dump while it takes the request, so that little patience is enough. */
enum { CAPACITY = 64 * 1024, PENDING_MAX = 4, PATIENCE = 20, MUTATIONS_MAX = 3 };

struct datagram {
    size_t length;
    uint32_t port;     /* who sent it: 0 for the kernel */
    uint32_t receiver; /* the port of the program's socket */
    int error;         /* in place of the datagram */
    bool truncated;
    char bytes[CAPACITY]; /* last, because recordings have no more of it than there is */
};

/* A message within a datagram; its length is aligned. */
struct span {
    size_t at, length;
};

static struct {
    bool ready;
    struct chance chance;
    size_t rarity;     /* one datagram in so many is mutated */
    unsigned received; /* datagrams so far */
    FILE *trace, *events, *record, *replay;
    ssize_t (*recvmsg)(int fd, struct msghdr *header, int flags);
    struct datagram pending[PENDING_MAX]; /* to be returned, the first one first */
    size_t count;
} peer;

/* --- Messages of a datagram ------------------------------------------------------------------- */

/* The message that begins at a place; none, of length 0, where no whole one does. */
static struct span message_at(const struct datagram *datagram, size_t at)
{
    struct nlmsghdr header;
    struct span span = {.at = at};

    if (at > datagram->length || datagram->length - at < sizeof header)
        return span;
    memcpy(&header, datagram->bytes + at, sizeof header);
    if (header.nlmsg_len >= sizeof header && header.nlmsg_len <= datagram->length - at)
        span.length = NLMSG_ALIGN(header.nlmsg_len);
    if (span.length > datagram->length - at)
        span.length = datagram->length - at;
    return span;
}

static struct span pick_message(const struct datagram *datagram)
{
    struct span span = message_at(datagram, 0), picked = span;

    for (size_t count = 1; span.length; count++) {
        if (chance_one_in(&peer.chance, count))
            picked = span;
        span = message_at(datagram, span.at + span.length);
    }
    return picked;
}

static struct nlmsghdr header_of(const struct datagram *datagram, struct span span)
{
    struct nlmsghdr header = {.nlmsg_len = 0};

    if (span.length >= sizeof header)
        memcpy(&header, datagram->bytes + span.at, sizeof header);
    return header;
}

static void set_header(struct datagram *datagram, struct span span, const struct nlmsghdr *header)
{
    if (span.length >= sizeof *header)
        memcpy(datagram->bytes + span.at, header, sizeof *header);
}

/* Takes bytes out, and makes room for others, which are whatever was there. */
static bool splice(struct datagram *datagram, size_t at, size_t remove, size_t insert)
{
    if (datagram->length - remove + insert > CAPACITY)
        return false;
    memmove(datagram->bytes + at + insert, datagram->bytes + at + remove,
            datagram->length - at - remove);
    datagram->length = datagram->length - remove + insert;
    return true;
}

/* --- Numbers that decoders stumble over ------------------------------------------------------- */

static uint32_t awkward_number(void)
{
    static const uint32_t numbers[] = {
        0,          1,          2,          3,          4,         5,       7,          8,
        15,         16,         17,         19,         20,        32,      127,        128,
        255,        256,        0x7fff,     0x8000,     0xffff,    0x10000, 0x7fffffff, 0x80000000,
        0x80000001, 0xfffffff0, 0xfffffffc, 0xfffffffe, 0xffffffff};

    if (chance_one_in(&peer.chance, 4))
        return (uint32_t)chance_next(&peer.chance);
    return numbers[chance_below(&peer.chance, COUNT(numbers))];
}

/* A place for a number within a message, behind its header; 0 when there is no room. */
static size_t place_in(struct span span, size_t size)
{
    size_t places;

    if (span.length < sizeof(struct nlmsghdr) + size)
        return 0;
    places = (span.length - sizeof(struct nlmsghdr) - size) / 4 + 1;
    return span.at + sizeof(struct nlmsghdr) + 4 * chance_below(&peer.chance, places);
}

/* --- Mutations of datagrams ------------------------------------------------------------------- */

static void cut(struct datagram *datagram)
{
    datagram->length = chance_below(&peer.chance, datagram->length);
}

static void truncate_datagram(struct datagram *datagram)
{
    cut(datagram);
    datagram->truncated = true;
}

/* Not EAGAIN: the program would wait for what never comes. */
static void fail(struct datagram *datagram)
{
    static const int errors[] = {ENOBUFS, ENOMEM, EINTR, EPERM, EIO, EBADF, ECONNREFUSED};

    datagram->error = errors[chance_below(&peer.chance, COUNT(errors))];
}

static void come_from_a_stranger(struct datagram *datagram)
{
    datagram->port = 1 + (uint32_t)chance_below(&peer.chance, 100000);
}

static void come_to_an_end(struct datagram *datagram)
{
    datagram->length = 0;
}

static void change_bytes(struct datagram *datagram)
{
    for (size_t i = 1 + chance_below(&peer.chance, 8); i > 0 && datagram->length > 0; i--)
        datagram->bytes[chance_below(&peer.chance, datagram->length)] =
            (char)chance_next(&peer.chance);
}

/* --- Mutations of messages -------------------------------------------------------------------- */

static void drop_message(struct datagram *datagram)
{
    const struct span span = pick_message(datagram);

    splice(datagram, span.at, span.length, 0);
}

static void repeat_message(struct datagram *datagram)
{
    const struct span span = pick_message(datagram);

    if (splice(datagram, span.at, 0, span.length))
        memcpy(datagram->bytes + span.at, datagram->bytes + span.at + span.length, span.length);
}

static void swap_messages(struct datagram *datagram)
{
    static char copy[CAPACITY];
    const struct span span = pick_message(datagram);
    struct span other;

    memcpy(copy, datagram->bytes + span.at, span.length);
    splice(datagram, span.at, span.length, 0);
    other = pick_message(datagram);
    if (splice(datagram, other.at, 0, span.length))
        memcpy(datagram->bytes + other.at, copy, span.length);
}

/* Its length says so: the datagram stays well formed. */
static void shorten_message(struct datagram *datagram)
{
    const struct span span = pick_message(datagram);
    struct nlmsghdr header = header_of(datagram, span);
    size_t payload, kept;

    if (header.nlmsg_len < sizeof header)
        return;
    payload = header.nlmsg_len - sizeof header;
    kept = sizeof header + chance_below(&peer.chance, payload + 1);
    if (chance_one_in(&peer.chance, 2))
        kept = NLMSG_ALIGN(kept);
    if (kept > header.nlmsg_len)
        return;
    header.nlmsg_len = (uint32_t)kept;
    set_header(datagram, span, &header);
    if (NLMSG_ALIGN(kept) < span.length)
        splice(datagram, span.at + NLMSG_ALIGN(kept), span.length - NLMSG_ALIGN(kept), 0);
}

static void change_header(struct datagram *datagram)
{
    const struct span span = pick_message(datagram);
    struct nlmsghdr header = header_of(datagram, span);
    const uint32_t number = awkward_number();

    switch (chance_below(&peer.chance, 6)) {
    case 0:
        header.nlmsg_len = number;
        break;
    case 1:
        header.nlmsg_len += (uint32_t)chance_below(&peer.chance, 9) - 4;
        break;
    case 2:
        header.nlmsg_type = (uint16_t)number;
        break;
    case 3:
        header.nlmsg_flags = (uint16_t)number;
        break;
    case 4:
        header.nlmsg_seq = number;
        break;
    default:
        header.nlmsg_pid = number;
    }
    set_header(datagram, span, &header);
}

/* It becomes one of those that are about the dump. */
static void turn_to_control(struct datagram *datagram)
{
    const struct span span = pick_message(datagram);
    struct nlmsghdr header = header_of(datagram, span);
    int error = chance_one_in(&peer.chance, 2) ? -(int)chance_below(&peer.chance, 134)
                                               : (int)awkward_number();

    header.nlmsg_type = (uint16_t)(NLMSG_NOOP + chance_below(&peer.chance, 4));
    if (chance_one_in(&peer.chance, 2))
        header.nlmsg_flags |= NLM_F_ACK_TLVS;
    set_header(datagram, span, &header);
    if (span.length >= sizeof header + sizeof error)
        memcpy(datagram->bytes + span.at + sizeof header, &error, sizeof error);
}

static void interrupt_dump(struct datagram *datagram)
{
    const struct span span = pick_message(datagram);
    struct nlmsghdr header = header_of(datagram, span);

    header.nlmsg_flags |= NLM_F_DUMP_INTR;
    set_header(datagram, span, &header);
}

/* --- Mutations within messages ---------------------------------------------------------------- */

static void change_short(struct datagram *datagram)
{
    const uint16_t number = (uint16_t)awkward_number();
    size_t place = place_in(pick_message(datagram), 4);

    if (place && chance_one_in(&peer.chance, 2))
        place += 2;
    if (place)
        memcpy(datagram->bytes + place, &number, sizeof number);
}

static void change_long(struct datagram *datagram)
{
    const uint32_t number = awkward_number();
    const size_t place = place_in(pick_message(datagram), sizeof number);

    if (place)
        memcpy(datagram->bytes + place, &number, sizeof number);
}

/* A little more or less than it was, as the length of an attribute can be. */
static void nudge_short(struct datagram *datagram)
{
    const size_t place = place_in(pick_message(datagram), sizeof(uint16_t));
    uint16_t number;

    if (!place)
        return;
    memcpy(&number, datagram->bytes + place, sizeof number);
    number = (uint16_t)(number + chance_below(&peer.chance, 17) - 8);
    memcpy(datagram->bytes + place, &number, sizeof number);
}

/* What a terminal or a reader of the listing would stumble over. */
static void write_text(struct datagram *datagram)
{
    static const char *const texts[] = {"\33[31m",  "\n",           "\r",   "\"", "\\", "\302\233",
                                        "\xff\xfe", "\342\200\213", "\177", "/",  "@",  "%s%n",
                                        ",",        "\t",           "="};
    const char *text = texts[chance_below(&peer.chance, COUNT(texts))];
    size_t place = place_in(pick_message(datagram), sizeof(uint32_t));

    for (size_t i = chance_below(&peer.chance, 64); place && i > 0; i--)
        for (const char *next = text; *next && place < datagram->length; next++)
            datagram->bytes[place++] = *next;
}

/* The message says that it is longer or shorter by these. */
static void move_attributes(struct datagram *datagram)
{
    const struct span span = pick_message(datagram);
    struct nlmsghdr header = header_of(datagram, span);
    const size_t size = 4 * (1 + chance_below(&peer.chance, 8));
    const size_t place = place_in(span, size);

    if (!place)
        return;
    if (chance_one_in(&peer.chance, 2)) {
        header.nlmsg_len -= (uint32_t)size;
        splice(datagram, place, size, 0);
    } else if (splice(datagram, place, 0, size)) {
        header.nlmsg_len += (uint32_t)size;
    }
    set_header(datagram, span, &header);
}

/* --- Which one -------------------------------------------------------------------------------- */

struct mutation {
    const char *name;
    void (*apply)(struct datagram *datagram);
};

static const struct mutation mutations[] = {
    {"cut", cut},
    {"truncated", truncate_datagram},
    {"an error in its place", fail},
    {"from a stranger", come_from_a_stranger},
    {"the end in its place", come_to_an_end},
    {"bytes changed", change_bytes},
    {"message dropped", drop_message},
    {"message repeated", repeat_message},
    {"messages swapped", swap_messages},
    {"message shortened", shorten_message},
    {"message shortened", shorten_message},
    {"header changed", change_header},
    {"header changed", change_header},
    {"message about the dump", turn_to_control},
    {"dump interrupted", interrupt_dump},
    {"16 bits changed", change_short},
    {"16 bits changed", change_short},
    {"32 bits changed", change_long},
    {"32 bits changed", change_long},
    {"16 bits nudged", nudge_short},
    {"16 bits nudged", nudge_short},
    {"text written", write_text},
    {"text written", write_text},
    {"attributes moved", move_attributes},
};

__attribute__((format(printf, 1, 2))) static void trace(const char *format, ...)
{
    va_list arguments;

    if (!peer.trace)
        return;
    va_start(arguments, format);
    vfprintf(peer.trace, format, arguments);
    va_end(arguments);
    fflush(peer.trace);
}

static void mutate(struct datagram *datagram)
{
    for (size_t i = 1 + chance_below(&peer.chance, MUTATIONS_MAX); i > 0; i--) {
        const size_t which = chance_below(&peer.chance, COUNT(mutations));
        mutations[which].apply(datagram);
        trace("datagram %u: %s\n", peer.received, mutations[which].name);
    }
}

/* --- Datagrams that wait to be returned ------------------------------------------------------- */

static bool has_more(int fd, int patience)
{
    struct pollfd pollfd = {.fd = fd, .events = POLLIN};

    return poll(&pollfd, 1, patience) > 0;
}

static bool next_event(struct datagram *datagram)
{
    uint32_t length;

    if (!peer.events || fread(&length, sizeof length, 1, peer.events) != 1 || length > CAPACITY)
        return false;
    datagram->length = length;
    return fread(datagram->bytes, 1, length, peer.events) == length;
}

/* The next datagram of the kernel; the end when it has none. */
static void receive_from_kernel(int fd, int flags, struct datagram *datagram)
{
    struct sockaddr_nl from = {.nl_family = AF_NETLINK};
    struct iovec vector = {.iov_base = datagram->bytes, .iov_len = CAPACITY};
    struct msghdr header = {
        .msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &vector, .msg_iovlen = 1};
    ssize_t length;

    if (!has_more(fd, PATIENCE)) {
        if (!(flags & MSG_DONTWAIT) || !next_event(datagram))
            datagram->length = 0;
        return;
    }
    length = peer.recvmsg(fd, &header, flags);
    datagram->length = length < 0 ? 0 : (size_t)length;
    datagram->error = length < 0 ? errno : 0;
    datagram->port = from.nl_pid;
    datagram->truncated = header.msg_flags & MSG_TRUNC;
}

static void record(const struct datagram *datagram)
{
    if (!peer.record)
        return;
    fwrite(datagram, offsetof(struct datagram, bytes), 1, peer.record);
    fwrite(datagram->bytes, 1, datagram->length, peer.record);
    fflush(peer.record);
}

/* What was recorded last time; its messages are made answers to this program. */
static void replay(struct datagram *datagram)
{
    const uint32_t receiver = datagram->receiver;

    if (fread(datagram, offsetof(struct datagram, bytes), 1, peer.replay) != 1 ||
        datagram->length > CAPACITY ||
        fread(datagram->bytes, 1, datagram->length, peer.replay) != datagram->length) {
        datagram->length = 0;
        return;
    }
    for (struct span span = message_at(datagram, 0); span.length;
         span = message_at(datagram, span.at + span.length)) {
        struct nlmsghdr header = header_of(datagram, span);
        if (header.nlmsg_pid == datagram->receiver)
            header.nlmsg_pid = receiver;
        set_header(datagram, span, &header);
    }
}

static void receive(int fd, int flags, struct datagram *datagram)
{
    struct sockaddr_nl own = {.nl_family = AF_NETLINK};
    socklen_t length = sizeof own;

    getsockname(fd, (struct sockaddr *)&own, &length);
    datagram->length = 0;
    datagram->port = 0;
    datagram->receiver = own.nl_pid;
    datagram->error = 0;
    datagram->truncated = false;
    peer.received++;
    if (peer.replay)
        replay(datagram);
    else
        receive_from_kernel(fd, flags, datagram);
    record(datagram);
}

static void hold(const struct datagram *datagram)
{
    if (peer.count < PENDING_MAX)
        peer.pending[peer.count++] = *datagram;
}

/* One datagram becomes none, one, or more of them. */
static void refill(int fd, int flags)
{
    static struct datagram datagram, next;

    receive(fd, flags, &datagram);
    if (datagram.length == 0 || !chance_one_in(&peer.chance, peer.rarity)) {
        hold(&datagram);
        return;
    }
    switch (chance_below(&peer.chance, 16)) {
    case 0:
        trace("datagram %u: dropped\n", peer.received);
        return;
    case 1:
        trace("datagram %u: repeated\n", peer.received);
        hold(&datagram);
        break;
    case 2:
        trace("datagram %u: behind the next one\n", peer.received);
        receive(fd, flags, &next);
        hold(&next);
        break;
    default:
        mutate(&datagram);
    }
    hold(&datagram);
}

/* The first that waits, as recvmsg(2) returns it. */
static ssize_t hand_out(struct msghdr *header)
{
    const struct datagram *first = &peer.pending[0];
    const struct sockaddr_nl from = {.nl_family = AF_NETLINK, .nl_pid = first->port};
    const size_t room = header->msg_iovlen ? header->msg_iov->iov_len : 0;
    const bool fits = first->length <= room;
    const size_t length = fits ? first->length : room;
    const int error = first->error;

    if (length)
        memcpy(header->msg_iov->iov_base, first->bytes, length);
    if (header->msg_name && header->msg_namelen >= sizeof from)
        memcpy(header->msg_name, &from, sizeof from);
    header->msg_namelen = sizeof from;
    header->msg_flags = first->truncated || !fits ? MSG_TRUNC : 0;
    peer.count--;
    memmove(peer.pending, peer.pending + 1, peer.count * sizeof *peer.pending);
    errno = error;
    return error ? -1 : (ssize_t)length;
}

/* --- In place of the C library's -------------------------------------------------------------- */

static FILE *open_named(const char *variable, const char *mode)
{
    const char *path = getenv(variable);

    return path ? fopen(path, mode) : NULL;
}

static void begin(void)
{
    const char *seed = getenv("MUTATE_SEED");

    *(void **)&peer.recvmsg = dlsym(RTLD_NEXT, "recvmsg");
    peer.chance.state = seed ? strtoull(seed, NULL, 10) : 0;
    peer.rarity = seed ? (size_t)1 << chance_below(&peer.chance, 4) : SIZE_MAX;
    peer.trace = open_named("MUTATE_TRACE", "we");
    peer.events = open_named("MUTATE_EVENTS", "re");
    peer.record = open_named("MUTATE_RECORD", "we");
    peer.replay = open_named("MUTATE_REPLAY", "re");
    peer.ready = true;
}

ssize_t recvmsg(int fd, struct msghdr *header, int flags)
{
    int domain = 0;
    socklen_t length = sizeof domain;

    if (!peer.ready)
        begin();
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) < 0 || domain != AF_NETLINK)
        return peer.recvmsg(fd, header, flags);
    while (peer.count == 0)
        refill(fd, flags);
    return hand_out(header);
}
