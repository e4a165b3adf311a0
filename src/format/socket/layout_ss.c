/* SPDX-License-Identifier: MIT */
/* The layout of iproute2 7.1 ss. As in ss, a column is as wide as its longest cell, and columns
 * fill a terminal. The first rows are kept to find these widths; later rows are written at once. */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/cgroups.h"
#include "fastnet/owners.h"
#include "format/socket/layout_ss.h"
#include "model/socket/view_fields.h"

static char *put_recv_q(char *dst, struct ss_row *row)
{
    return put_signed(dst, row->record->socket.recv_q);
}

/* A listener's send_q is its backlog, but its column send_q is always 0. */
static char *put_send_q(char *dst, struct ss_row *row)
{
    const struct socket_record *sock = &row->record->socket;

    if (!row->record->saved || !socket_listens(sock))
        return put_signed(dst, sock->send_q);
    return ss_has(row, SOCKET_BACKLOG) ? put_signed(dst, sock->backlog) : PUT(dst, "-");
}

static const struct {
    const char *heading;
    bool gap;     /* a space is written before the column */
    bool right;   /* cells are aligned at the right */
    ss_part *put; /* NULL: the family writes the column */
} columns[SS_COLUMNS] = {
    [SS_NETID] = {"Netid", false, false, ss_put_netid},
    [SS_STATE] = {"State", true, false, ss_put_state},
    [SS_RECV_Q] = {"Recv-Q", true, false, put_recv_q},
    [SS_SEND_Q] = {"Send-Q", true, false, put_send_q},
    [SS_LOCAL] = {"Local Address:", true, true, NULL},
    [SS_LOCAL_PORT] = {"Port", false, false, NULL},
    [SS_PEER] = {"Peer Address:", true, true, NULL},
    [SS_PEER_PORT] = {"Port", false, false, NULL},
    [SS_PROCESS] = {"Process", true, false, ss_put_process},
    [SS_DETAILS] = {"", false, false, NULL},
};

enum {
    SCREEN_MAX = 1000, /* a wider terminal is not filled */
    /* The longest names of a host and a service, and the spaces that fill the columns. */
    PEER_BOUND = ESCAPE_FACTOR * (HOST_MAX + NAME_MAX_SHOWN) + 3 * SCREEN_MAX,
    /* A row without lists, with the longest names at both ends. */
    ROW_BOUND = 2 * PEER_BOUND + 2 * SS_ROOM,
    LIST_FACTOR = 4, /* bytes of text for a byte of a list, at most */
    OWNER_BOUND = 128,
    WAITING_MAX = 64 * 1024, /* bytes of kept rows, from which the widths follow */
};

struct ss_sink {
    struct sink sink;
    struct ss_layout layout;
    bool shown[SS_COLUMNS];
    struct ss_sink *origin;    /* this sink, or the sink that it was cloned from */
    size_t gaps[SS_COLUMNS];   /* spaces before a column: 0 or 1 */
    size_t widths[SS_COLUMNS]; /* without the gap; kept rows widen the columns of the origin only */
    size_t heading_spaces; /* used in the origin: spaces after the heading, see note_details() */
    size_t latest_details; /* length of the details of the last kept row */
    uint64_t endpoint;     /* inode of the last row, perhaps an SCTP endpoint */
    char *waiting;         /* kept cells, each with a NUL after it */
    size_t waiting_length; /* bytes used in `waiting`, at most WAITING_MAX */
    struct writer kept;    /* the last kept rows, not yet moved to `waiting` */
    bool keeping;
};

_Static_assert(PEER_BOUND + SS_ROOM <= WRITER_RESERVE_MAX, "the reserve holds this part");

/* --- Cells ------------------------------------------------------------------------------------ */

static inline __attribute__((always_inline)) char *put_right(char *dst, char *cell, size_t blanks)
{
    const size_t length = (size_t)(dst - cell);
    char text[32]; /* nearly all cells are shorter */

    if (length > sizeof text)
        return align_right(dst, cell, length + blanks);
    memcpy(text, cell, sizeof text);
    memcpy(put_spaces(cell, blanks), text, sizeof text);
    return dst + blanks;
}

static void count_details(struct ss_sink *ss)
{
    if (ss->latest_details > ss->origin->heading_spaces)
        ss->origin->heading_spaces = ss->latest_details;
    ss->latest_details = 0;
}

/* Notes the length of a row's details. ss has them in a column of their own, so its heading is
 * followed by as many spaces as the longest details have letters, except those of the last row.
 * Details of netlink sockets, and of UDP and raw sockets from /proc, are not measured. */
static void note_details(struct ss_sink *ss, const struct ss_row *row, size_t length)
{
    const struct socket_record *sock = &row->record->socket;
    const bool datagrams = sock->protocol == IPPROTO_UDP || sock->protocol == IPPROTO_RAW;
    const bool ignored = sock->family == AF_NETLINK || (datagrams && !ss_is_by_netlink(row));

    count_details(ss);
    ss->latest_details = ignored ? 0 : length + row->extra_in_ss;
}

/* Ends a cell. kept: widens its column; otherwise pads the cell or aligns it at the right. */
static inline __attribute__((always_inline)) char *
end_column(struct ss_sink *ss, struct ss_row *row, char *dst, enum ss_column column, bool kept)
{
    const size_t length = ss_written_length(row, dst);
    const size_t width = kept ? ss->origin->widths[column] : ss->widths[column];

    if (kept && column == SS_DETAILS)
        note_details(ss, row, length);
    if (kept) {
        ss->origin->widths[column] = length > width ? length : width;
        *dst++ = '\0';
        return dst;
    }
    if (length >= width)
        return dst;
    return columns[column].right ? put_right(dst, row->cell, width - length)
                                 : put_spaces(dst, width - length);
}

/* --- Rows ------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) char *
put_column(struct ss_sink *ss, struct ss_row *row, char *dst, enum ss_column column, bool kept)
{
    const bool peer = column >= SS_PEER, port = column == SS_LOCAL_PORT || column == SS_PEER_PORT;

    if (!ss->shown[column])
        return dst;
    /* the first column has no space before it */
    if (columns[column].gap && !kept && (dst != row->room || row->committed))
        *dst++ = ' ';
    row->cell = dst;
    row->committed = 0;
    if (columns[column].put)
        dst = columns[column].put(dst, row);
    else if (column != SS_DETAILS)
        dst = row->family->put(dst, row, peer, port);
    else if (row->family->details)
        dst = row->family->details(dst, row);
    return end_column(ss, row, dst, column, kept);
}

/* kept: row->kept as a constant, for which the compiler makes faster code. */
static inline __attribute__((always_inline)) char *put_columns(struct ss_sink *ss,
                                                               struct ss_row *row, bool kept)
{
    char *dst = row->room;

    dst = put_column(ss, row, dst, SS_NETID, kept);
    dst = put_column(ss, row, dst, SS_STATE, kept);
    dst = put_column(ss, row, dst, SS_RECV_Q, kept);
    dst = put_column(ss, row, dst, SS_SEND_Q, kept);
    dst = put_column(ss, row, dst, SS_LOCAL, kept);
    dst = put_column(ss, row, dst, SS_LOCAL_PORT, kept);
    dst = ss_room(row, dst, PEER_BOUND + SS_ROOM);
    dst = put_column(ss, row, dst, SS_PEER, kept);
    dst = put_column(ss, row, dst, SS_PEER_PORT, kept);
    dst = put_column(ss, row, dst, SS_PROCESS, kept);
    return put_column(ss, row, ss_more(row, dst), SS_DETAILS, kept);
}

static void ss_put_row(struct ss_sink *ss, const struct record *record, struct writer *writer)
{
    const struct socket_record *sock = &record->socket;
    /* an SCTP association follows its endpoint and has the same inode */
    const bool same_inode = sock->inode && sock->inode == ss->endpoint;
    struct ss_row line = {
        .layout = &ss->layout,
        .context = ss->sink.context,
        .record = record,
        .family = ss_family_of(record),
        .writer = writer,
        .association = same_inode && sock->protocol == IPPROTO_SCTP,
        .kept = ss->keeping,
    };
    char *dst;

    line.room = line.cell = writer_reserve(writer, WRITER_RESERVE_MAX);
    ss->endpoint = sock->inode;
    dst = line.kept ? put_columns(ss, &line, true) : put_columns(ss, &line, false);
    while (!line.kept && dst > line.room && dst[-1] == ' ')
        dst--; /* a line does not end with spaces */
    writer_commit(writer, line.kept ? dst : PUT(dst, "\n"));
}

/* --- The terminal's width --------------------------------------------------------------------- */

/* Fits columns from `first` on into one line, and spreads the rest of the line's width over them.
 * Returns the first column that does not fit. */
static enum ss_column fit_line(size_t widths[], enum ss_column first, size_t screen)
{
    size_t used = 0, count = 0, rest;
    enum ss_column next = first;

    for (; next < SS_COLUMNS && used + widths[next] <= screen; next++) {
        used += widths[next];
        count += widths[next] > 0;
    }
    rest = screen - used;
    for (enum ss_column column = next; column-- > first && count;) {
        const size_t share = (rest + count - 1) / count;
        if (!widths[column])
            continue;
        widths[column] += share;
        rest -= share;
        count--;
    }
    return next;
}

/* Makes the columns fill lines of the terminal: each line holds as many columns as fit. So the next
 * column begins on the next line without a newline. */
static void ss_fit_columns(struct ss_sink *ss)
{
    const size_t screen = ss->layout.width < SCREEN_MAX ? ss->layout.width : SCREEN_MAX;
    size_t widths[SS_COLUMNS];

    for (enum ss_column column = 0; column < SS_COLUMNS; column++) {
        widths[column] = ss->widths[column] ? ss->widths[column] + ss->gaps[column] : 0;
        if (widths[column] > screen)
            widths[column] = screen;
    }
    for (enum ss_column column = 0; column < SS_COLUMNS;)
        column = fit_line(widths, column, screen);
    for (enum ss_column column = 0; column < SS_COLUMNS; column++) {
        const size_t gap = ss->gaps[column];
        ss->widths[column] = widths[column] > gap ? widths[column] - gap : 0;
    }
}

/* A line that is being written. Spaces come before the next cell, so no line ends with them. */
struct ss_line {
    const struct ss_sink *ss;
    char *dst; /* where the next byte goes, in the writer's reserved space */
    size_t blanks;
    bool glued; /* the column of processes has no space before it */
};

/* Writes a text that is longer than the writer can reserve at once. */
static __attribute__((noinline)) char *
ss_line_put_long(struct writer *writer, char *dst, size_t blanks, const char *text, size_t length)
{
    writer_commit(writer, dst);
    writer_put_after(writer, blanks, text, length);
    return writer_reserve(writer, WRITER_ROOM);
}

static inline __attribute__((always_inline)) void ss_line_put(struct ss_line *line, size_t blanks,
                                                              const char *text, size_t length)
{
    struct writer *writer = line->ss->sink.writer;
    const size_t size = blanks + PUT_BLANKS_MORE + length;

    if (size > WRITER_RESERVE_MAX) {
        line->dst = ss_line_put_long(writer, line->dst, blanks, text, length);
        return;
    }
    line->dst = put_spaces(writer_more(writer, line->dst, size), blanks);
    memcpy(line->dst, text, length);
    line->dst += length;
}

static inline __attribute__((always_inline)) void
put_cell(struct ss_line *line, enum ss_column column, const char *text, size_t length)
{
    const struct ss_sink *ss = line->ss;
    const size_t width = ss->widths[column];
    const size_t blanks = length < width ? width - length : 0;
    const bool right = columns[column].right;

    line->blanks += line->glued && column == SS_PROCESS ? 0 : ss->gaps[column];
    line->blanks += right ? blanks : 0;
    if (length > 0) {
        ss_line_put(line, *text == '\n' ? 0 : line->blanks, text, length);
        line->blanks = 0;
    }
    line->blanks += right ? 0 : blanks;
}

static struct ss_line ss_line_begin(const struct ss_sink *ss)
{
    return (struct ss_line){.ss = ss, .dst = writer_reserve(ss->sink.writer, WRITER_ROOM)};
}

static inline void ss_line_end(struct ss_line *line, size_t blanks)
{
    ss_line_put(line, blanks, "\n", 1);
    writer_commit(line->ss->sink.writer, line->dst);
}

/* Writes a kept row, in which a NUL ends each cell; returns its end. */
static const char *put_kept_row(struct ss_sink *ss, const char *cell)
{
    struct ss_line line = ss_line_begin(ss);

    for (enum ss_column column = 0; column < SS_COLUMNS; column++) {
        if (!ss->shown[column])
            continue;
        const size_t length = strlen(cell);
        put_cell(&line, column, cell, length);
        cell += length + 1;
    }
    ss_line_end(&line, 0);
    return cell;
}

/* Writes the heading. Without a terminal it equals the heading of ss: parsers search for it. */
static void put_heading(struct ss_sink *ss)
{
    struct ss_line heading = ss_line_begin(ss);

    heading.glued = !ss->layout.width;
    for (enum ss_column column = 0; column < SS_COLUMNS; column++)
        if (ss->shown[column])
            put_cell(&heading, column, columns[column].heading, strlen(columns[column].heading));
    ss_line_end(&heading, heading.glued ? ss->heading_spaces : 0);
}

static void ss_put_rows(struct ss_sink *ss, const char *rows, size_t length)
{
    for (const char *at = rows; at < rows + length;)
        at = put_kept_row(ss, at);
}

static void forget_kept(struct ss_sink *ss)
{
    free(ss->waiting);
    ss->waiting = NULL;
    ss->waiting_length = 0;
    writer_finish(&ss->kept);
}

/* Fixes the widths and writes the kept rows, the origin's first. If a clone's rows may not fit into
 * its writer, flushes both writers, so that no row of one splits a row of the other. */
static void ss_put_kept(struct ss_sink *ss)
{
    const bool many = ss->origin != ss && ss->waiting_length;

    ss->keeping = false;
    if (ss->origin != ss && ss->origin->keeping) {
        count_details(ss->origin);
        ss_put_kept(ss->origin);
    }
    if (ss->origin != ss) {
        memcpy(ss->widths, ss->origin->widths, sizeof ss->widths);
    } else {
        if (ss->layout.width)
            ss_fit_columns(ss);
        else /* details follow directly after the last column */
            ss->widths[ss->shown[SS_PROCESS] ? SS_PROCESS : SS_PEER_PORT] = 0;
        ss->widths[SS_DETAILS] = 0;
        if (ss->layout.header)
            put_heading(ss);
    }
    if (many)
        writer_flush(ss->origin->sink.writer);
    ss_put_rows(ss, ss->waiting, ss->waiting_length);
    ss_put_rows(ss, ss->kept.buffer, ss->kept.length);
    if (many)
        writer_flush(ss->sink.writer);
    forget_kept(ss);
}

/* Whether no row is kept. */
static bool has_no_kept_row(const struct ss_sink *ss)
{
    return !ss->waiting_length && !ss->kept.length;
}

/* Moves kept rows to `waiting` of `to` (this sink or its origin); false: they do not fit. */
static bool move_rows(struct ss_sink *ss, struct ss_sink *to)
{
    const size_t others = ss == to ? 0 : ss->waiting_length;

    if (to->waiting_length + others + ss->kept.length > WAITING_MAX)
        return false;
    if (others)
        memcpy(to->waiting + to->waiting_length, ss->waiting, others);
    memcpy(to->waiting + to->waiting_length + others, ss->kept.buffer, ss->kept.length);
    to->waiting_length += others + ss->kept.length;
    ss->waiting_length -= others;
    ss->kept.length = 0;
    return true;
}

/* Whether a row fits into the memory for kept rows, however long its lists are. */
static bool can_keep_row(struct ss_sink *ss, const struct record *record)
{
    struct owners *owners = ss->sink.context->owners;
    const struct owner *first;
    const char *path;
    size_t bound = ROW_BOUND;

    for (size_t i = 0; i < kind_socket.borrowed_count; i++) {
        const struct borrowed *borrowed = &kind_socket.borrowed[i];
        if (record->has & borrowed->fields)
            bound += LIST_FACTOR *
                     ((const struct text *)((const char *)record + borrowed->offset))->length;
    }
    if (owners)
        bound += OWNER_BOUND * owners_find(owners, record->socket.inode, &first);
    path = (record->has & SOCKET_CGROUP) ? ss_cgroup_path(ss->sink.context, record) : NULL;
    bound += path ? LIST_FACTOR * strlen(path) : 0;
    if (ss->layout.storages && record->has & SOCKET_STORAGES)
        bound += ss_storages_bound(&ss->layout, record->socket.storages);
    bound += WRITER_RESERVE_MAX;
    return bound <= WRITER_CAPACITY - ss->kept.length ||
           (bound <= WRITER_CAPACITY && move_rows(ss, ss));
}

/* --- Needs ----------------------------------------------------------------------------------- */

/* Fields that the columns show. The port of a unix socket is its inode. */
#define FIELDS_COLUMNS                                                                             \
    (SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_INODE | SOCKET_INTERFACE |           \
     SOCKET_TYPE | SOCKET_COOKIE | SOCKET_V6ONLY | SOCKET_PATH | SOCKET_PEER | SOCKET_ETHER |      \
     SOCKET_NETLINK | SOCKET_VSOCK | SOCKET_QUEUE_ID | SOCKET_TIPC)
/* SOCKET_UID is not requested, because sock_diag always sends it. For half-open connections and
 * unix sockets a request would read /proc, and ss shows no user for them. */
#define FIELDS_EXTENDED                                                                            \
    (SOCKET_MARK | SOCKET_CGROUP | SOCKET_SHUTDOWN | SOCKET_VFS | SOCKET_ICONS | SOCKET_PACKET |   \
     SOCKET_RX_RING | SOCKET_TX_RING | SOCKET_FANOUT | SOCKET_UMEM | SOCKET_FILL_RING |            \
     SOCKET_COMPLETION_RING | SOCKET_XDP_STATS | SOCKET_GROUPS)
#define FIELDS_SCTP (SOCKET_LOCALS | SOCKET_PEERS)
#define FIELDS_INFO                                                                                \
    (SOCKET_TCP_INFO | SOCKET_TCP_BASICS | SOCKET_MPTCP_INFO | SOCKET_SCTP_INFO |                  \
     SOCKET_CONGESTION | SOCKET_CC_INFO | SOCKET_MD5 | SOCKET_ULP | FIELDS_SCTP)

struct needs ss_layout_needs(const struct ss_layout *layout)
{
    const struct {
        bool option;
        uint64_t fields, lookups;
    } parts[] = {
        {true, FIELDS_COLUMNS, NEED_INTERFACES},
        {!layout->numeric, 0, NEED_SERVICES | NEED_EPHEMERAL | NEED_SENDERS},
        {layout->resolve, 0, NEED_HOSTS | NEED_UNMAPPED},
        {layout->resolve && !layout->numeric, 0, NEED_RPC_PROGRAMS},
        {layout->processes, 0, NEED_OWNERS},
        {layout->timers, SOCKET_TIMER | SOCKET_TIMER_COUNT, 0},
        {layout->extended, FIELDS_EXTENDED, NEED_CGROUPS},
        {layout->memory, SOCKET_MEMORY | FIELDS_SCTP, 0},
        {layout->info, FIELDS_INFO, 0},
        {layout->tos, SOCKET_TOS | SOCKET_TCLASS | SOCKET_CLASS_ID, 0},
        {layout->cgroup, SOCKET_CGROUP, NEED_CGROUPS},
        {layout->options, SOCKET_OPTIONS, 0},
        {layout->filters, SOCKET_FILTER, 0},
        {layout->storages, SOCKET_STORAGES, 0},
    };
    struct needs needs = {.parts = layout->info || layout->memory ? UINT32_MAX : 0};

    for (size_t i = 0; i < COUNT(parts); i++)
        if (parts[i].option)
            needs_add(&needs,
                      (struct needs){.fields = parts[i].fields, .lookups = parts[i].lookups});
    return needs;
}

/* --- The sink --------------------------------------------------------------------------------- */

static void ss_layout_row(struct sink *sink, const struct record *record)
{
    struct ss_sink *ss = (struct ss_sink *)sink;

    if (ss->keeping && (!ss->origin->keeping || !can_keep_row(ss, record))) {
        count_details(ss);
        ss_put_kept(ss);
    }
    ss_put_row(ss, record, ss->keeping ? &ss->kept : sink->writer);
}

static void ss_layout_end(struct sink *sink)
{
    struct ss_sink *ss = (struct ss_sink *)sink;

    if (ss->keeping)
        ss_put_kept(ss);
}

/* Fixes the widths by the rows kept so far, if any. A clone's rows move to its origin instead. */
static void ss_layout_pause(struct sink *sink)
{
    struct ss_sink *ss = (struct ss_sink *)sink, *origin = ss->origin;

    if (!ss->keeping || has_no_kept_row(ss))
        return;
    if (ss == origin || !origin->keeping || !move_rows(origin, origin) || !move_rows(ss, origin)) {
        ss_put_kept(ss);
        return;
    }
    count_details(origin);
    origin->latest_details = ss->latest_details;
    ss->latest_details = 0;
}

static void ss_destroy(struct sink *sink)
{
    forget_kept((struct ss_sink *)sink);
}

/* Starts a listing. If memory for kept rows is short, columns are as wide as their headings. */
static void ss_start(struct ss_sink *ss, struct ss_sink *origin)
{
    for (enum ss_column column = 0; column < SS_COLUMNS; column++)
        ss->shown[column] = true;
    ss->shown[SS_NETID] = ss->layout.netid;
    ss->shown[SS_STATE] = ss->layout.state;
    ss->shown[SS_RECV_Q] = ss->shown[SS_SEND_Q] = ss->layout.queues;
    ss->shown[SS_PROCESS] = ss->layout.processes;
    for (enum ss_column column = 0; column < SS_COLUMNS; column++)
        ss->widths[column] = ss->layout.header ? strlen(columns[column].heading) : 0;
    ss->widths[SS_RECV_Q] = ss->widths[SS_SEND_Q] = 6; /* the least width, also without a heading */
    bool first = true;
    for (enum ss_column column = 0; column < SS_COLUMNS; column++) {
        ss->widths[column] *= ss->shown[column];
        ss->gaps[column] = !first && columns[column].gap;
        first &= !ss->shown[column];
    }
    ss->origin = origin;
    ss->heading_spaces = ss->latest_details = 0;
    ss->endpoint = 0;
    forget_kept(ss);
    ss->waiting = malloc(WAITING_MAX);
    ss->keeping = ss->waiting && writer_init(&ss->kept, -1) == 0;
    if (!ss->keeping)
        ss_put_kept(ss);
}

static void ss_begin(struct sink *sink)
{
    ss_start((struct ss_sink *)sink, (struct ss_sink *)sink);
}

static struct sink *ss_clone(struct sink *sink, struct writer *writer)
{
    struct sink *clone = sink_clone(sink, writer);

    if (clone)
        ss_start((struct ss_sink *)clone, (struct ss_sink *)sink);
    return clone;
}

const struct sink_ops sink_ss = {
    .size = sizeof(struct ss_sink),
    .layout_size = sizeof(struct ss_layout),
    .begin = ss_begin,
    .row = ss_layout_row,
    .pause = ss_layout_pause,
    .end = ss_layout_end,
    .destroy = ss_destroy,
    .clone = ss_clone,
};
