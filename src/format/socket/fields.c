/* The columns of sockets. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/array.h"
#include "fastnet/lookup.h"
#include "format/fields/columns.h"
#include "format/fields/values.h"
#include "format/states.h"

static const char *name_at(const char *const *names, size_t count, size_t index)
{
    return index < count ? names[index] : NULL;
}

#define NAME_AT(names, index) name_at(names, COUNT(names), index)

/* --- What kind of socket ---------------------------------------------------------------------- */

static struct value proto(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)column;
    (void)context;
    if (record->socket.family == AF_UNIX)
        return string("unix");
    switch (record->socket.protocol) {
    case IPPROTO_TCP:
        return string("tcp");
    case IPPROTO_UDP:
        return string("udp");
    case IPPROTO_UDPLITE:
        return string("udplite");
    case IPPROTO_RAW:
        return string("raw");
    default:
        return unknown;
    }
}

static struct value state(const struct column *column, const struct record *record,
                          const struct context *context)
{
    (void)context;
    if (!is_filled(column, record))
        return unknown;
    return string(state_name(record->socket.state));
}

static struct value type(const struct column *column, const struct record *record,
                         const struct context *context)
{
    static const char *const names[] = {
        [SOCK_STREAM] = "stream", [SOCK_DGRAM] = "dgram",         [SOCK_RAW] = "raw",
        [SOCK_RDM] = "rdm",       [SOCK_SEQPACKET] = "seqpacket",
    };

    (void)context;
    if (!is_filled(column, record))
        return unknown;
    return string(NAME_AT(names, record->socket.type));
}

static struct value flags(const struct column *column, const struct record *record,
                          const struct context *context)
{
    static const char *const names[] = {"", "ACC", "W", "ACC,W", "N", "ACC,N", "W,N", "ACC,W,N"};

    (void)context;
    if (!is_filled(column, record))
        return unknown;
    const uint32_t bits = record->socket.flags;
    const size_t accepts = (bits & UNIX_ACCEPTCON) != 0;
    const size_t waits = (bits & UNIX_WAITDATA) != 0;
    const size_t full = (bits & UNIX_NOSPACE) != 0;
    return string(names[accepts | waits << 1 | full << 2]);
}

/* --- Its ends --------------------------------------------------------------------------------- */

static bool has_endpoints(const struct column *column, const struct record *record)
{
    return is_filled(column, record) && record->socket.family != AF_UNIX;
}

static struct value endpoint_address(const struct column *column, const struct record *record,
                                     const struct context *context)
{
    (void)context;
    if (!has_endpoints(column, record))
        return unknown;
    return member_address(column, record, record->socket.family);
}

static struct value endpoint_port(const struct column *column, const struct record *record,
                                  const struct context *context)
{
    return has_endpoints(column, record) ? member_number(column, record, context) : unknown;
}

static struct value host(const struct record *record, const struct endpoint *endpoint,
                         const struct context *context)
{
    if (!context->hosts)
        return unknown;
    return string(hosts_name(context->hosts, record->socket.family, endpoint->address));
}

static struct value local_host(const struct column *column, const struct record *record,
                               const struct context *context)
{
    return has_endpoints(column, record) ? host(record, &record->socket.local, context) : unknown;
}

static struct value remote_host(const struct column *column, const struct record *record,
                                const struct context *context)
{
    return has_endpoints(column, record) ? host(record, &record->socket.remote, context) : unknown;
}

static struct value service(const struct record *record, const struct endpoint *endpoint,
                            const struct context *context)
{
    if (!context->services || endpoint->port == 0)
        return unknown;
    return string(services_name(context->services, record->socket.protocol, endpoint->port));
}

static struct value local_service(const struct column *column, const struct record *record,
                                  const struct context *context)
{
    if (!has_endpoints(column, record))
        return unknown;
    return service(record, &record->socket.local, context);
}

static struct value remote_service(const struct column *column, const struct record *record,
                                   const struct context *context)
{
    if (!has_endpoints(column, record))
        return unknown;
    return service(record, &record->socket.remote, context);
}

static struct value interface(const struct column *column, const struct record *record,
                              const struct context *context)
{
    const uint32_t index = record->socket.interface;

    if (!is_filled(column, record) || index == 0)
        return unknown;
    return (struct value){
        .type = VALUE_NAME,
        .name = {context->interfaces ? interfaces_name(context->interfaces, index) : NULL, index},
    };
}

static struct value path(const struct column *column, const struct record *record,
                         const struct context *context)
{
    (void)context;
    if (!is_filled(column, record))
        return unknown;
    return (struct value){.type = VALUE_SOCKET_NAME, .text = record->socket.path};
}

/* --- Its queues, timers and counts ------------------------------------------------------------ */

static struct value timer(const struct column *column, const struct record *record,
                          const struct context *context)
{
    static const char *const names[] = {
        [TIMER_OFF] = "off",
        [TIMER_RETRANSMIT] = "retransmit",
        [TIMER_KEEPALIVE] = "keepalive",
        [TIMER_TIME_WAIT] = "time_wait",
        [TIMER_PROBE] = "probe",
    };

    (void)context;
    if (!is_filled(column, record))
        return unknown;
    return string(NAME_AT(names, record->socket.timer));
}

static struct value expires(const struct column *column, const struct record *record,
                            const struct context *context)
{
    (void)context;
    if (!is_filled(column, record) || record->socket.timer == TIMER_OFF)
        return unknown;
    return decimal(record->socket.timer_ms);
}

/* --- Whose it is ------------------------------------------------------------------------------ */

static struct value user(const struct column *column, const struct record *record,
                         const struct context *context)
{
    const uint32_t id = record->socket.uid;

    if (!is_filled(column, record))
        return unknown;
    return (struct value){
        .type = VALUE_NAME,
        .name = {context->users ? users_name(context->users, id) : NULL, id},
    };
}

/* The owners of a socket, none where the lookup or the inode is missing. */
static size_t find_owners(const struct column *column, const struct record *record,
                          const struct context *context, const struct owner **first)
{
    *first = NULL;
    if (!context->owners || !is_filled(column, record) || record->socket.inode == 0)
        return 0;
    return owners_find(context->owners, record->socket.inode, first);
}

/* Whether every process was looked into, so that who was not found is not there. */
static bool is_complete(const struct owners *owners)
{
    return owners_denied(owners) == 0 && !owners_hidden(owners) && owners_error(owners) == 0;
}

/* Whether a socket for which no owner was found is known to have none. */
static bool is_ownerless(const struct column *column, const struct record *record,
                         const struct context *context)
{
    if (!context->owners || !is_filled(column, record))
        return false;
    return record->socket.inode == 0 || is_complete(context->owners);
}

static struct value pid(const struct column *column, const struct record *record,
                        const struct context *context)
{
    const struct owner *first = NULL;

    if (find_owners(column, record, context, &first) == 0)
        return unknown;
    return number((uint64_t)first->pid);
}

static struct value process(const struct column *column, const struct record *record,
                            const struct context *context)
{
    const struct owner *first = NULL;

    if (find_owners(column, record, context, &first) == 0)
        return unknown;
    return string(first->name);
}

static struct value processes(const struct column *column, const struct record *record,
                              const struct context *context)
{
    const struct owner *first = NULL;
    const size_t count = find_owners(column, record, context, &first);

    if (count == 0 && !is_ownerless(column, record, context))
        return unknown;
    return (struct value){.type = VALUE_OWNERS, .owners = {first, count}};
}

/* --- The rest --------------------------------------------------------------------------------- */

/* In the order in which --columns=help lists them. Names and meanings stay once released. */
static const struct column columns[] = {
    {.name = "proto",
     .heading = "PROTO",
     .help = "tcp, udp, udplite, raw or unix",
     .type = VALUE_TEXT,
     .value = proto},
    {.name = "family",
     .heading = "FAMILY",
     .help = "inet, inet6 or unix",
     .type = VALUE_TEXT,
     MEMBER(socket.family),
     .value = member_family},
    {.name = "state",
     .heading = "STATE",
     .help = "state by its kernel name: ESTABLISHED, TIME_WAIT, LISTEN, CLOSE, ...",
     .needs = SOCKET_STATE,
     .type = VALUE_TEXT,
     .coloured = true,
     .value = state},
    {.name = "recv_q",
     .heading = "RECV_Q",
     .help = "bytes not yet read; of a TCP listener, connections waiting to be accepted",
     .needs = SOCKET_QUEUES,
     .type = VALUE_NUMBER,
     MEMBER(socket.recv_q),
     .value = member_number},
    {.name = "send_q",
     .heading = "SEND_Q",
     .help = "bytes not yet acknowledged or sent; of a TCP listener 0",
     .needs = SOCKET_QUEUES,
     .type = VALUE_NUMBER,
     MEMBER(socket.send_q),
     .value = member_number},
    {.name = "local_address",
     .heading = "LOCAL_ADDRESS",
     .help = "local address; an IPv4-mapped one as IPv4",
     .needs = SOCKET_ADDRESSES,
     .type = VALUE_ADDRESS,
     MEMBER(socket.local.address),
     .value = endpoint_address},
    {.name = "local_port",
     .heading = "LOCAL_PORT",
     .help = "local port, 0 for any; of a raw socket its protocol number",
     .needs = SOCKET_ADDRESSES,
     .type = VALUE_NUMBER,
     MEMBER(socket.local.port),
     .value = endpoint_port},
    {.name = "remote_address",
     .heading = "REMOTE_ADDRESS",
     .help = "the peer's address; an IPv4-mapped one as IPv4",
     .needs = SOCKET_ADDRESSES,
     .type = VALUE_ADDRESS,
     MEMBER(socket.remote.address),
     .value = endpoint_address},
    {.name = "remote_port",
     .heading = "REMOTE_PORT",
     .help = "the peer's port, 0 for any",
     .needs = SOCKET_ADDRESSES,
     .type = VALUE_NUMBER,
     MEMBER(socket.remote.port),
     .value = endpoint_port},
    {.name = "local_host",
     .heading = "LOCAL_HOST",
     .help = "host name of the local address, where it has one",
     .needs = SOCKET_ADDRESSES | NEED_HOSTS,
     .type = VALUE_TEXT,
     .value = local_host},
    {.name = "remote_host",
     .heading = "REMOTE_HOST",
     .help = "host name of the peer's address, where it has one",
     .needs = SOCKET_ADDRESSES | NEED_HOSTS,
     .type = VALUE_TEXT,
     .value = remote_host},
    {.name = "local_service",
     .heading = "LOCAL_SERVICE",
     .help = "service name of the local port, where it has one",
     .needs = SOCKET_ADDRESSES | NEED_SERVICES,
     .type = VALUE_TEXT,
     .value = local_service},
    {.name = "remote_service",
     .heading = "REMOTE_SERVICE",
     .help = "service name of the peer's port, where it has one",
     .needs = SOCKET_ADDRESSES | NEED_SERVICES,
     .type = VALUE_TEXT,
     .value = remote_service},
    {.name = "interface",
     .heading = "INTERFACE",
     .help = "device it is bound to, or of a link-local address; the index where it has no name",
     .needs = SOCKET_INTERFACE | NEED_INTERFACES,
     .type = VALUE_NAME,
     .value = interface},
    {.name = "user",
     .heading = "USER",
     .help = "user who made it; the number where it has no name",
     .needs = SOCKET_UID | NEED_USERS,
     .type = VALUE_NAME,
     .value = user},
    {.name = "uid",
     .heading = "UID",
     .help = "number of the user who made it",
     .needs = SOCKET_UID,
     .type = VALUE_NUMBER,
     MEMBER(socket.uid),
     .value = member_number},
    {.name = "inode",
     .heading = "INODE",
     .help = "inode of its file; 0 when it has none: TIME_WAIT, orphaned, not yet accepted",
     .needs = SOCKET_INODE,
     .type = VALUE_NUMBER,
     MEMBER(socket.inode),
     .value = member_number},
    {.name = "pid",
     .heading = "PID",
     .help = "the first process that holds it open",
     .needs = SOCKET_INODE | NEED_OWNERS,
     .type = VALUE_NUMBER,
     .value = pid},
    {.name = "process",
     .heading = "PROCESS",
     .help = "name of that process",
     .needs = SOCKET_INODE | NEED_OWNERS,
     .type = VALUE_TEXT,
     .value = process},
    {.name = "processes",
     .heading = "PROCESSES",
     .help = "all that hold it open: name/pid/fd; in JSON objects with pid, fd and name",
     .needs = SOCKET_INODE | NEED_OWNERS,
     .type = VALUE_OWNERS,
     .value = processes},
    {.name = "timer",
     .heading = "TIMER",
     .help = "off, retransmit, keepalive, time_wait or probe",
     .needs = SOCKET_TIMER,
     .type = VALUE_TEXT,
     .value = timer},
    {.name = "expires",
     .heading = "EXPIRES",
     .help = "seconds until that timer fires",
     .needs = SOCKET_TIMER,
     .type = VALUE_DECIMAL,
     .value = expires},
    {.name = "retransmits",
     .heading = "RETRANSMITS",
     .help = "retransmissions that were not answered",
     .needs = SOCKET_RETRANSMITS,
     .type = VALUE_NUMBER,
     MEMBER(socket.retransmits),
     .value = member_number},
    {.name = "probes",
     .heading = "PROBES",
     .help = "keepalive or window probes that were not answered",
     .needs = SOCKET_PROBES,
     .type = VALUE_NUMBER,
     MEMBER(socket.probes),
     .value = member_number},
    {.name = "type",
     .heading = "TYPE",
     .help = "of a unix socket: stream, dgram, raw, rdm or seqpacket",
     .needs = SOCKET_TYPE,
     .type = VALUE_TEXT,
     .value = type},
    {.name = "refcount",
     .heading = "REFCOUNT",
     .help = "of a unix socket: references to it in the kernel",
     .needs = SOCKET_REFCOUNT,
     .type = VALUE_NUMBER,
     MEMBER(socket.refcount),
     .value = member_number},
    {.name = "flags",
     .heading = "FLAGS",
     .help = "of a unix socket: ACC it listens, W it waits for data, N for room; by commas",
     .needs = SOCKET_UNIX_FLAGS,
     .type = VALUE_TEXT,
     .value = flags},
    {.name = "path",
     .heading = "PATH",
     .help = "of a unix socket: its name; an abstract one begins with @ (in JSON with NUL)",
     .needs = SOCKET_PATH,
     .type = VALUE_SOCKET_NAME,
     .value = path},
    {.name = "backlog",
     .heading = "BACKLOG",
     .help = "of a TCP listener: how many connections may wait to be accepted",
     .needs = SOCKET_BACKLOG,
     .type = VALUE_NUMBER,
     MEMBER(socket.backlog),
     .value = member_number},
    {.name = "cookie",
     .heading = "COOKIE",
     .help = "the kernel's own number for the socket, the same as long as it lives",
     .needs = SOCKET_COOKIE,
     .type = VALUE_NUMBER,
     MEMBER(identity),
     .value = member_number},
};

const struct column_table columns_socket = {
    .kind = RECORD_SOCKET,
    .columns = columns,
    .count = COUNT(columns),
};
