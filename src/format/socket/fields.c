/* The fields of sockets. */
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "fastnet/lookup.h"
#include "format/fields/fields.h"

/* --- What kind of socket ---------------------------------------------------------------------- */

static const char *protocol_name(uint64_t protocol)
{
    switch (protocol) {
    case 0:
        return "unix";
    case IPPROTO_TCP:
        return "tcp";
    case IPPROTO_UDP:
        return "udp";
    case IPPROTO_UDPLITE:
        return "udplite";
    case IPPROTO_RAW:
        return "raw";
    case IPPROTO_SCTP:
        return "sctp";
    case PROTOCOL_MPTCP:
        return "mptcp";
    case PROTOCOL_PACKET:
        return "packet";
    case PROTOCOL_NETLINK:
        return "netlink";
    case PROTOCOL_VSOCK:
        return "vsock";
    case PROTOCOL_XDP:
        return "xdp";
    case PROTOCOL_TIPC:
        return "tipc";
    default:
        return NULL;
    }
}

const char *socket_state_name(uint64_t state)
{
    /* In the order of netinet/tcp.h, then of include/net/tcp_states.h of the kernel. */
    static const char *const names[] = {
        NULL,        "ESTABLISHED", "SYN_SENT",     "SYN_RECV",       "FIN_WAIT1",
        "FIN_WAIT2", "TIME_WAIT",   "CLOSE",        "CLOSE_WAIT",     "LAST_ACK",
        "LISTEN",    "CLOSING",     "NEW_SYN_RECV", "BOUND_INACTIVE",
    };

    return POINTER_AT(names, state);
}

static const char *type_name(uint64_t type)
{
    static const char *const names[] = {
        [SOCK_STREAM] = "stream", [SOCK_DGRAM] = "dgram",         [SOCK_RAW] = "raw",
        [SOCK_RDM] = "rdm",       [SOCK_SEQPACKET] = "seqpacket",
    };

    return POINTER_AT(names, type);
}

/* By three bits in a row, of which UNIX_ACCEPTCON is the lowest. */
static const char *flags_name(uint64_t flags)
{
    static const char *const names[] = {"", "ACC", "W", "ACC,W", "N", "ACC,N", "W,N", "ACC,W,N"};

    return names[flags / UNIX_ACCEPTCON % COUNT(names)];
}

/* --- Its ends --------------------------------------------------------------------------------- */

/* A unix socket has no ports. */
static struct value port(const struct cell *cell)
{
    return cell->record->socket.family == AF_UNIX ? unknown : number_member(cell);
}

/* A raw socket has no remote port, whatever connect(2) was told. */
static struct value remote_port(const struct cell *cell)
{
    return cell->record->socket.protocol == IPPROTO_RAW ? number(0) : port(cell);
}

static struct value service_of(const struct cell *cell, struct value port)
{
    const struct services *services = cell->context->services;

    if (!services || port.type == VALUE_UNKNOWN || port.number == 0)
        return unknown;
    return string(services_name(services, cell->record->socket.protocol, (uint16_t)port.number));
}

static struct value service(const struct cell *cell)
{
    return service_of(cell, port(cell));
}

static struct value remote_service(const struct cell *cell)
{
    return service_of(cell, remote_port(cell));
}

/* --- Its queues ------------------------------------------------------------------------------- */

/* A listener has nothing to send: what the kernel says there is its backlog. */
static struct value send_q(const struct cell *cell)
{
    return cell->record->socket.state == TCP_LISTEN ? number(0) : number_member(cell);
}

/* --- Its timer -------------------------------------------------------------------------------- */

static const char *timer_name(uint64_t timer)
{
    static const char *const names[] = {
        [TIMER_OFF] = "off",
        [TIMER_RETRANSMIT] = "retransmit",
        [TIMER_KEEPALIVE] = "keepalive",
        [TIMER_TIME_WAIT] = "time_wait",
        [TIMER_PROBE] = "probe",
    };

    return POINTER_AT(names, timer);
}

static struct value expires(const struct cell *cell)
{
    return cell->record->socket.timer == TIMER_OFF ? unknown : milliseconds_member(cell);
}

/* --- Whose it is ------------------------------------------------------------------------------ */

static struct value user(const struct cell *cell)
{
    const uint32_t uid = cell->record->socket.uid;

    return name(cell->context->users ? users_name(cell->context->users, uid) : NULL, uid);
}

/* The owners of a socket, none where the lookup or the inode is missing. */
static size_t find_owners(const struct cell *cell, const struct owner **first)
{
    const uint64_t inode = cell->record->socket.inode;

    *first = NULL;
    if (!cell->context->owners || inode == 0)
        return 0;
    return owners_find(cell->context->owners, inode, first);
}

/* Whether every process was looked into, so that a process that was not found is not there. */
static bool is_complete(const struct owners *owners)
{
    const struct owners_summary *summary = owners_summary(owners);

    return summary->denied == 0 && !summary->hidden && summary->error == 0;
}

/* Whether a socket for which no owner was found is known to have none. */
static bool is_ownerless(const struct cell *cell)
{
    const struct owners *owners = cell->context->owners;

    return cell->record->socket.inode == 0 || (owners && is_complete(owners));
}

static struct value pid(const struct cell *cell)
{
    const struct owner *first;

    return find_owners(cell, &first) ? number((uint64_t)first->pid) : unknown;
}

static struct value process(const struct cell *cell)
{
    const struct owner *first;

    return find_owners(cell, &first) ? string(first->name) : unknown;
}

/* In TIME_WAIT the inode is not known, but there is no socket that a process could hold. */
static struct value processes(const struct cell *cell)
{
    const struct record *record = cell->record;
    const bool has_socket = record->has & SOCKET_INODE;
    const struct owner *first;
    const size_t count = find_owners(cell, &first);

    if (!has_socket && record->socket.timer != TIMER_TIME_WAIT)
        return unknown;
    if (count == 0 && !is_ownerless(cell))
        return unknown;
    return (struct value){.type = VALUE_OWNERS, .owners = {first, count}};
}

/* --- The rest --------------------------------------------------------------------------------- */

/* Its path, by the type that has rules of its own for abstract names. */
#define SOCKET_NAME(id, path, ...)                                                                 \
    FIELD(id, VALUE_SOCKET_NAME, text_member, __VA_ARGS__, MEMBER(path))
#define SERVICE(id, path, function, ...)                                                           \
    COMPUTED(id, VALUE_TEXT, function, SOCKET_ADDRESSES, __VA_ARGS__, MEMBER(path),                \
             .needs.lookups = NEED_SERVICES)
#define OWNED(id, type, function, ...)                                                             \
    COMPUTED(id, type, function, SOCKET_INODE, __VA_ARGS__, .needs.lookups = NEED_OWNERS)

/* In the order in which --columns=help lists them. Names and meanings stay once released. */
static const struct field fields[] = {
    WORD(protocol, socket.protocol, protocol_name, 0, "tcp, udp, udplite, raw or unix"),
    WORD(family, socket.family, family_name, 0, "inet, inet6 or unix"),
    WORD(state, socket.state, socket_state_name, SOCKET_STATE,
         "the kernel's name of the state: ESTABLISHED, LISTEN, CLOSE, ...", .coloured = true),
    GAUGE(recv_q, socket.recv_q, SOCKET_QUEUES,
          "bytes not yet read; for a listener, connections that wait to be accepted",
          .unit = UNIT_BYTES),
    COMPUTED(send_q, VALUE_NUMBER, send_q, SOCKET_QUEUES,
             "bytes not yet sent or acknowledged; for a listener 0", MEMBER(socket.send_q),
             .gauge = true, .unit = UNIT_BYTES),
    ADDRESS(local_address, socket.local.address, SOCKET_ADDRESSES,
            "local address; an IPv4-mapped address is shown as IPv4"),
    COMPUTED(local_port, VALUE_NUMBER, port, SOCKET_ADDRESSES,
             "local port, 0 for any; for a raw socket its protocol number",
             MEMBER(socket.local.port), .port = true),
    ADDRESS(remote_address, socket.remote.address, SOCKET_ADDRESSES,
            "the peer's address, in the same form"),
    COMPUTED(remote_port, VALUE_NUMBER, remote_port, SOCKET_ADDRESSES, "the peer's port, 0 for any",
             MEMBER(socket.remote.port), .port = true),
    HOST(local_host, socket.local.address, SOCKET_ADDRESSES,
         "host name of the local address, if it has one"),
    HOST(remote_host, socket.remote.address, SOCKET_ADDRESSES,
         "host name of the peer's address, if it has one"),
    SERVICE(local_service, socket.local.port, service,
            "service name of the local port, if it has one"),
    SERVICE(remote_service, socket.remote.port, remote_service,
            "service name of the peer's port, if it has one"),
    INTERFACE(
        interface, socket.interface, SOCKET_INTERFACE,
        "interface that it or its link-local address is bound to; the index if it has no name"),
    COMPUTED(user, VALUE_NAME, user, SOCKET_UID,
             "user who made it; the number if the user has no name", .needs.lookups = NEED_USERS),
    NUMBER(uid, socket.uid, SOCKET_UID, "number of the user who made it"),
    NUMBER(inode, socket.inode, SOCKET_INODE,
           "inode of its file; 0 if it has none: closed, not yet accepted"),
    OWNED(pid, VALUE_NUMBER, pid,
          "process that holds it open; the lowest number if there are several", .set = "processes"),
    OWNED(process, VALUE_TEXT, process, "name of that process", .set = "processes"),
    COMPUTED(processes, VALUE_OWNERS, processes, 0,
             "all processes that hold it open: name/pid/fd; objects in JSON",
             .optional = SOCKET_INODE | SOCKET_TIMER, .needs.lookups = NEED_OWNERS),
    WORD(timer, socket.timer, timer_name, SOCKET_TIMER,
         "off, retransmit, keepalive, time_wait or probe"),
    COMPUTED(expires, VALUE_DECIMAL, expires, SOCKET_TIMER, "seconds until that timer fires",
             MEMBER(socket.timer_ms), .unit = UNIT_SECONDS),
    GAUGE(retransmits, socket.retransmits, SOCKET_RETRANSMITS,
          "retransmissions that were not answered yet"),
    GAUGE(probes, socket.probes, SOCKET_PROBES,
          "keepalive or window probes that were not answered yet"),
    WORD(type, socket.type, type_name, SOCKET_TYPE,
         "for a unix socket: stream, dgram, raw, rdm or seqpacket"),
    NUMBER(references, socket.refcount, SOCKET_REFCOUNT,
           "for a unix socket: references to it in the kernel"),
    WORD(flags, socket.flags, flags_name, SOCKET_UNIX_FLAGS,
         "for a unix socket: ACC it listens, W it waits for data, N it waits for space"),
    SOCKET_NAME(path, socket.path, SOCKET_PATH,
                "for a unix socket: its name; an abstract name begins with @ (in JSON, NUL)"),
    NUMBER(backlog, socket.backlog, SOCKET_BACKLOG,
           "for a TCP listener: how many connections may wait to be accepted"),
    NUMBER(cookie, identity, SOCKET_COOKIE,
           "the kernel's number for the socket, unique until the machine restarts", .key = true),
    NANOSECONDS(received, socket.received, SOCKET_RECEIVED,
                "for an event: when it was read, in seconds since 1970"),
};

static const struct borrowed borrowed[] = {
    BORROWED_TEXT(socket.path, SOCKET_PATH),
    BORROWED_TEXT(socket.waiting, SOCKET_ICONS),
    BORROWED_TEXT(socket.info, SOCKET_TCP_INFO),
    BORROWED_TEXT(socket.info, SOCKET_MPTCP_INFO),
    BORROWED_TEXT(socket.info, SOCKET_SCTP_INFO),
    BORROWED_TEXT(socket.congestion, SOCKET_CONGESTION),
    BORROWED_TEXT(socket.cc_info, SOCKET_CC_INFO),
    BORROWED_TEXT(socket.md5, SOCKET_MD5),
    BORROWED_TEXT(socket.ulp, SOCKET_ULP),
    BORROWED_TEXT(socket.locals, SOCKET_LOCALS),
    BORROWED_TEXT(socket.peers, SOCKET_PEERS),
    BORROWED_TEXT(socket.memory, SOCKET_MEMORY),
    BORROWED_TEXT(socket.storages, SOCKET_STORAGES),
    BORROWED_TEXT(socket.message, SOCKET_MESSAGE),
    BORROWED_TEXT(socket.rx_ring, SOCKET_RX_RING),
    BORROWED_TEXT(socket.tx_ring, SOCKET_TX_RING),
    BORROWED_TEXT(socket.filter, SOCKET_FILTER),
    BORROWED_TEXT(socket.umem, SOCKET_UMEM),
    BORROWED_TEXT(socket.fill_ring, SOCKET_FILL_RING),
    BORROWED_TEXT(socket.completion_ring, SOCKET_COMPLETION_RING),
    BORROWED_TEXT(socket.stats, SOCKET_XDP_STATS),
    BORROWED_TEXT(socket.groups, SOCKET_GROUPS),
    BORROWED_TEXT(socket.tipc, SOCKET_TIPC),
};
static const struct named_address hosts[] = {
    NAMED_ADDRESS(socket.local.address, SOCKET_ADDRESSES),
    NAMED_ADDRESS(socket.remote.address, SOCKET_ADDRESSES),
};

const struct kind kind_socket = {
    .name = "sockets",
    .size = RECORD_SIZE(socket),
    .identified = true,
    FIELDS(fields),
    BORROWED(borrowed),
    HOSTS(hosts),
    .inode = offsetof(struct record, socket.inode),
};
