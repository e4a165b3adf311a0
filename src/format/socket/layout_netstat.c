/* SPDX-License-Identifier: MIT */
/* Layout of net-tools 2.10 netstat -W and -g: headings, widths, wording. "-": unknown number. */
#include <linux/net.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/layouts.h"
#include "fastnet/owners.h"
#include "fastnet/services.h"
#include "fastnet/text.h"
#include "fastnet/users.h"
#include "model/socket/owner_fields.h"
#include "model/socket/view_fields.h"
#include "text/put.h"

enum {
    PROTO_WIDTH = 6,
    QUEUE_WIDTH = 6,
    ADDRESS_WIDTH = 23,
    STATE_WIDTH = 11,
    USER_WIDTH = 10,
    INODE_WIDTH = 10,
    PROGRAM_WIDTH = 20,
    PROGRAM_MAX = 19, /* bytes of "PID/name" that are shown */
    UNIX_PROTO_WIDTH = 6,
    UNIX_REFCOUNT_WIDTH = 6,
    UNIX_FLAGS_WIDTH = 12,
    UNIX_TYPE_WIDTH = 11,
    UNIX_STATE_WIDTH = 14,
    UNIX_INODE_WIDTH = 8,
    GROUP_INTERFACE_WIDTH = 15,
    GROUP_USERS_WIDTH = 6,
    NUMERIC_ROW_MAX = 512, /* longest row without names */
};

/* with the names of two hosts, two services and a user */
_Static_assert(NUMERIC_ROW_MAX + ESCAPE_FACTOR * (2 * HOST_MAX + 3 * NAME_MAX_SHOWN) <=
                   WRITER_RESERVE_MAX,
               "a row fits");

struct netstat_sink {
    struct sink sink;
    struct netstat_layout layout;
};

/* Returns the bytes to escape in texts that others chose, so that a text remains one column. */
static const char *delimiters_of(const struct netstat_sink *netstat)
{
    return netstat->layout.one_word_names ? " " : NULL;
}

/* Writes a space and the number of bytes in a queue. */
static char *put_queue(char *dst, uint32_t bytes)
{
    if (bytes == 0)
        return PUT(dst, "      0");
    return put_number_right(PUT(dst, " "), bytes, QUEUE_WIDTH);
}

static const char *proto_name(const struct socket_record *sock)
{
    bool v6 = sock->family == AF_INET6;

    switch (sock->protocol) {
    case IPPROTO_TCP:
        return v6 ? "tcp6  " : "tcp   ";
    case IPPROTO_UDP:
        return v6 ? "udp6  " : "udp   ";
    case IPPROTO_UDPLITE:
        return v6 ? "udpl6 " : "udpl  ";
    default:
        return v6 ? "raw6  " : "raw   ";
    }
}

static char *put_endpoint(char *dst, const struct netstat_sink *netstat, uint16_t protocol,
                          const struct address *address, uint16_t port)
{
    const struct services *services =
        netstat->layout.numeric_ports ? NULL : netstat->sink.context->services;
    char *start = dst;

    if (netstat->layout.numeric_hosts)
        dst = text_address(dst, address);
    else if (address_is_unspecified(address))
        dst = put_string(dst, address->family == AF_INET ? "0.0.0.0" : "[::]");
    else
        dst = put_host(dst, netstat->sink.context->hosts, address, delimiters_of(netstat));
    dst = put_port(PUT(dst, ":"), services, protocol, port, delimiters_of(netstat));
    return end_cell(dst, start, ADDRESS_WIDTH);
}

static const char *inet_state(const struct socket_record *sock)
{
    const char *name = socket_state_name(sock->state);

    if (sock->protocol == IPPROTO_TCP)
        return name ? name : sock->state ? "UNKNOWN" : "";
    if (sock->state == TCP_CLOSE)
        return "";
    return sock->state == TCP_ESTABLISHED ? "ESTABLISHED" : "UNKNOWN";
}

/* Writes a state in its colour. The padding does not count the colour's bytes. */
static char *put_state(char *dst, const struct netstat_sink *netstat, const char *state,
                       size_t width)
{
    const char *colour = netstat->layout.colour ? colour_of_state(state, strlen(state)) : NULL;

    if (!colour)
        return put_padded(dst, state, width);
    dst = put_string(put_string(dst, colour), state);
    return text_pad(PUT(dst, COLOUR_RESET), dst - strlen(state), width + strlen(COLOUR_RESET));
}

static char *put_user_and_inode(char *dst, const struct netstat_sink *netstat,
                                const struct record *record)
{
    const uint32_t uid = record->socket.uid;
    const char *name = NULL;
    char *start = dst = PUT(dst, " ");

    /* like netstat, writes user 0 for TIME_WAIT, which has no socket any more */
    if (!(record->has & SOCKET_UID) && record->socket.timer != TIMER_TIME_WAIT)
        name = "-";
    else if (!netstat->layout.numeric_users)
        name = name_within(users_name(netstat->sink.context->users, uid), NAME_MAX_SHOWN);
    dst = name ? put_escaped(dst, name, delimiters_of(netstat)) : text_u64(dst, uid);
    dst = end_cell(dst, start, USER_WIDTH);
    return text_pad(text_u64(dst, record->socket.inode), dst, INODE_WIDTH);
}

/* Writes "PID/name" of the first owner. Like netstat, shows 19 bytes (before escaping), and no name
 * for an empty command or '/'. With one_word_names the process name replaces an empty name. */
static char *netstat_put_program(char *dst, const struct netstat_sink *netstat,
                                 const struct record *record)
{
    struct owners *owners = netstat->sink.context->owners;
    const uint64_t inode = record->socket.inode;
    const struct owner *owner;
    char *start = dst = PUT(dst, " ");
    size_t count = 0;

    if (record->saved) {
        const struct value all = owner_all(record, netstat->sink.context, OWN_END, NULL);
        owner = all.owners.first;
        count = all.owners.count;
    } else if (owners && inode) {
        count = owners_find(owners, inode, &owner);
    }
    if (!count || !owner->process->pid)
        return put_padded(dst, "-", PROGRAM_WIDTH);
    dst = PUT(text_u64(dst, (uint64_t)owner->process->pid), "/");
    const char *name = owner->process->command ? owner->process->command
                       : record->saved         ? owner->process->name
                                               : "";
    if (!*name && netstat->layout.one_word_names)
        name = owner->process->name;
    dst = escape_text(dst, name, strnlen(name, PROGRAM_MAX - (size_t)(dst - start)),
                      delimiters_of(netstat));
    return text_pad(dst, start, PROGRAM_WIDTH);
}

static char *netstat_put_count(char *dst, bool known, uint32_t count)
{
    return known ? text_u64(dst, count) : put_string(dst, "-");
}

static char *netstat_put_timer(char *dst, const struct record *record)
{
    static const char tcp_timers[][10] = {"off", "on", "keepalive", "timewait", "probe"};
    static const char other_timers[][4] = {"off", "on1", "on2"};
    const struct socket_record *sock = &record->socket;
    const char *name = sock->protocol == IPPROTO_TCP ? STRING_AT(tcp_timers, sock->timer)
                                                     : STRING_AT(other_timers, sock->timer);

    dst = PUT(dst, " ");
    dst = name ? put_string(dst, name) : text_u64(PUT(dst, "unkn-"), sock->timer);
    dst = put_hundredths(PUT(dst, " ("), sock->timer == TIMER_OFF ? 0 : sock->timer_ms);
    dst = netstat_put_count(PUT(dst, "/"), record->has & SOCKET_RETRANSMITS, sock->retransmits);
    dst = netstat_put_count(PUT(dst, "/"), record->has & SOCKET_RETRANSMITS, sock->probes);
    return PUT(dst, ")");
}

static char *netstat_put_inet(char *dst, const struct netstat_sink *netstat,
                              const struct record *record)
{
    const struct socket_record *sock = &record->socket;
    /* a listener's send_q is its backlog; raw sockets have no remote port */
    const uint32_t send_q = socket_listens(sock) ? 0 : sock->send_q;
    const uint16_t remote_port = sock->protocol == IPPROTO_RAW ? 0 : sock->remote.port;

    /* put_queue() writes the space after the protocol */
    dst = put_bytes(dst, proto_name(sock), PROTO_WIDTH - 1);
    dst = put_queue(dst, sock->recv_q);
    dst = PUT(put_queue(dst, send_q), " ");
    dst = put_endpoint(dst, netstat, sock->protocol, &sock->local.address, sock->local.port);
    dst = put_endpoint(dst, netstat, sock->protocol, &sock->remote.address, remote_port);
    if (sock->protocol == IPPROTO_RAW)
        dst = text_pad(text_u64(dst, sock->state), dst, STATE_WIDTH);
    else
        dst = put_state(dst, netstat, inet_state(sock), STATE_WIDTH);
    if (netstat->layout.extended)
        dst = put_user_and_inode(dst, netstat, record);
    if (netstat->layout.programs)
        dst = netstat_put_program(dst, netstat, record);
    if (netstat->layout.timers)
        dst = netstat_put_timer(dst, record);
    return dst;
}

/* Names of the states of linux/net.h, from SS_FREE to SS_DISCONNECTING. */
static const char *unix_state(const struct record *record, uint64_t flags)
{
    static const char *const states[] = {"FREE", "", "CONNECTING", "CONNECTED", "DISCONNECTING"};
    const struct socket_record *sock = &record->socket;
    const unsigned saved = sock->state == TCP_ESTABLISHED ? SS_CONNECTED : SS_UNCONNECTED;
    const unsigned state = record->saved ? saved : sock->unix_state; /* no column has it */

    if (state >= COUNT(states))
        return "UNKNOWN";
    if (!*states[state] && (flags & UNIX_ACCEPTCON))
        return "LISTENING";
    return states[state];
}

/* The flags of a unix socket: in a saved row they are in a column, without the bits below. */
static uint64_t unix_flags_of(const struct record *record, const struct context *context)
{
    const struct value flags =
        record->saved ? field_value(field_named(record->kind, "flags"), record, context)
                      : (struct value){.type = VALUE_UNKNOWN};

    return flags.type == VALUE_FLAGS ? flags.flags.bits[0] * UNIX_ACCEPTCON : record->socket.flags;
}

static char *netstat_put_unix(char *dst, const struct netstat_sink *netstat,
                              const struct record *record)
{
    static const struct flag_text words[] = {
        {UNIX_ACCEPTCON, "ACC "}, {UNIX_WAITDATA, "W "}, {UNIX_NOSPACE, "N "}};
    static const char types[][10] = {
        [SOCK_STREAM] = "STREAM", [SOCK_DGRAM] = "DGRAM",         [SOCK_RAW] = "RAW",
        [SOCK_RDM] = "RDM",       [SOCK_SEQPACKET] = "SEQPACKET",
    };
    const struct socket_record *sock = &record->socket;
    const uint64_t flags = unix_flags_of(record, netstat->sink.context);
    const char *type = STRING_AT(types, sock->type);
    char *end;

    dst = put_padded(dst, "unix", UNIX_PROTO_WIDTH);
    dst = end_cell(netstat_put_count(dst, record->has & SOCKET_REFCOUNT, sock->refcount), dst,
                   UNIX_REFCOUNT_WIDTH);
    end = put_flags(PUT(dst, "[ "), (unsigned)flags, words, COUNT(words));
    dst = text_pad(PUT(end, "]"), dst, UNIX_FLAGS_WIDTH);
    dst = put_padded(dst, type ? type : "UNKNOWN", UNIX_TYPE_WIDTH);
    dst = put_state(dst, netstat, unix_state(record, flags), UNIX_STATE_WIDTH);
    dst = text_pad(text_u64(dst, sock->inode), dst, UNIX_INODE_WIDTH);
    if (netstat->layout.programs)
        dst = netstat_put_program(dst, netstat, record);
    *dst++ = ' ';
    return escape_socket_name(dst, sock->path.data, sock->path.length, NULL);
}

static void netstat_row(struct sink *sink, const struct record *record)
{
    const struct netstat_sink *netstat = (const struct netstat_sink *)sink;
    const struct netstat_layout *layout = &netstat->layout;
    const struct text *name = &record->group.interface;
    bool plain = layout->numeric_hosts && layout->numeric_ports && !layout->extended;
    char *dst;

    if (record->kind == &kind_group) {
        dst = writer_reserve(sink->writer, WRITER_RESERVE_MAX);
        dst =
            end_cell(escape_text(dst, name->data, name->length, NULL), dst, GROUP_INTERFACE_WIDTH);
        dst = end_cell(text_u64(dst, record->group.users), dst, GROUP_USERS_WIDTH);
        dst = put_host(dst, layout->numeric_hosts ? NULL : sink->context->hosts,
                       &record->group.address, NULL);
    } else if (record->socket.family == AF_UNIX) {
        dst = writer_reserve(sink->writer, NUMERIC_ROW_MAX + ESCAPE_FACTOR * SOCKET_PATH_MAX);
        dst = netstat_put_unix(dst, netstat, record);
    } else {
        dst = writer_reserve(sink->writer, plain ? NUMERIC_ROW_MAX : WRITER_RESERVE_MAX);
        dst = netstat_put_inet(dst, netstat, record);
    }
    *dst++ = '\n';
    writer_commit(sink->writer, dst);
}

static void netstat_section(struct sink *sink, unsigned section_number)
{
    static const char *const titles[] = {[SHOW_CONNECTED] = "(w/o servers)\n",
                                         [SHOW_LISTENING] = "(only servers)\n",
                                         [SHOW_ALL] = "(servers and established)\n"};
    const struct netstat_layout *layout = &((const struct netstat_sink *)sink)->layout;
    const bool is_unix = section_number == SECTION_UNIX;
    struct writer *writer = sink->writer;

    if (!layout->header)
        return;
    if (section_number == SECTION_GROUPS) {
        writer_puts(writer, "IPv6/IPv4 Group Memberships\n"
                            "Interface       RefCnt Group\n"
                            "--------------- ------ ---------------------\n");
        return;
    }
    writer_puts(writer, is_unix ? "Active UNIX domain sockets " : "Active Internet connections ");
    writer_puts(writer, titles[layout->show]);
    writer_puts(writer, is_unix ? "Proto RefCnt Flags       Type       State         I-Node  "
                                : "Proto Recv-Q Send-Q Local Address           "
                                  "Foreign Address         State      ");
    if (layout->extended && !is_unix)
        writer_puts(writer, " User       Inode     ");
    if (layout->programs)
        writer_puts(writer, " PID/Program name    ");
    if (layout->timers && !is_unix)
        writer_puts(writer, " Timer");
    writer_puts(writer, is_unix ? " Path\n" : "\n");
}

const struct sink_ops sink_netstat = {
    .size = sizeof(struct netstat_sink),
    .layout_size = sizeof(struct netstat_layout),
    .section = netstat_section,
    .row = netstat_row,
    .clone = sink_clone,
};
