/*
 * Sockets by sock_diag(7): TCP, UDP, UDP-Lite and raw through inet_diag, unix through unix_diag.
 * Sources: linux/inet_diag.h, linux/unix_diag.h, net/ipv4/inet_diag.c, net/unix/diag.c.
 */
#include "backend/socket/sock_diag.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/net.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/netlink/netlink.h"
#include "backend/socket/half_open.h"
#include "fastnet/report.h"

const struct table table_tcp = {.name = "tcp",
                                .file = "tcp",
                                .kind = &kind_socket,
                                .family = AF_INET,
                                .protocol = IPPROTO_TCP,
                                .partner = &table_tcp6,
                                .joint = &table_tcp_both};
const struct table table_tcp6 = {.name = "tcp6",
                                 .file = "tcp6",
                                 .kind = &kind_socket,
                                 .family = AF_INET6,
                                 .protocol = IPPROTO_TCP};
static bool is_tcp6(const struct record *record)
{
    return record->socket.family == AF_INET6;
}

const struct table table_tcp_both = {.name = "tcp and tcp6",
                                     .kind = &kind_socket,
                                     .family = AF_UNSPEC,
                                     .protocol = IPPROTO_TCP,
                                     .is_second = is_tcp6};
const struct table table_udp = {
    .name = "udp", .file = "udp", .kind = &kind_socket, .family = AF_INET, .protocol = IPPROTO_UDP};
const struct table table_udp6 = {.name = "udp6",
                                 .file = "udp6",
                                 .kind = &kind_socket,
                                 .family = AF_INET6,
                                 .protocol = IPPROTO_UDP};
const struct table table_udplite = {.name = "udplite",
                                    .file = "udplite",
                                    .kind = &kind_socket,
                                    .family = AF_INET,
                                    .protocol = IPPROTO_UDPLITE};
const struct table table_udplite6 = {.name = "udplite6",
                                     .file = "udplite6",
                                     .kind = &kind_socket,
                                     .family = AF_INET6,
                                     .protocol = IPPROTO_UDPLITE};
const struct table table_raw = {
    .name = "raw", .file = "raw", .kind = &kind_socket, .family = AF_INET, .protocol = IPPROTO_RAW};
const struct table table_raw6 = {.name = "raw6",
                                 .file = "raw6",
                                 .kind = &kind_socket,
                                 .family = AF_INET6,
                                 .protocol = IPPROTO_RAW};
const struct table table_unix = {
    .name = "unix", .file = "unix", .kind = &kind_socket, .family = AF_UNIX, .protocol = 0};

enum { STATE_BOUND_INACTIVE = 1 << 13 }; /* TCP_BOUND_INACTIVE: no netstat lists these; since 6.8 */

#define FIELDS_INET                                                                                \
    (SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_UID | SOCKET_INODE | SOCKET_TIMER |  \
     SOCKET_RETRANSMITS | SOCKET_PROBES | SOCKET_INTERFACE | SOCKET_BACKLOG | SOCKET_COOKIE)
#define FIELDS_UNIX                                                                                \
    (SOCKET_STATE | SOCKET_QUEUES | SOCKET_UID | SOCKET_INODE | SOCKET_TYPE | SOCKET_PATH |        \
     SOCKET_UNIX_FLAGS | SOCKET_COOKIE)
/* What a half-open connection's message says 0 of, since the numbers belong to its listener. */
#define FIELDS_NOT_HALF_OPEN (SOCKET_UID | SOCKET_RETRANSMITS | SOCKET_PROBES)

static uint64_t fields(const struct table *table)
{
    if (table->kind != &kind_socket)
        return 0;
    return table->family == AF_UNIX ? FIELDS_UNIX : FIELDS_INET;
}

/* One reading of one table, or of two as one. */
struct reading {
    const struct query *query;
    record_fn fn;
    void *arg;
    struct half_open *half_open; /* read when the first such row needs it */
    bool half_open_read;
};

static void decode_endpoint(struct endpoint *endpoint, uint8_t family, const __be32 *address,
                            __be16 port)
{
    endpoint->address = address_make(family, address);
    endpoint->port = ntohs(port);
}

/* struct tcp_info grew over the years; the two bytes wanted are in its first four. */
static void decode_tcp_info(struct record *record, const struct nlattr *attr)
{
    const uint8_t *info = mnl_attr_get_payload(attr);

    if (mnl_attr_get_payload_len(attr) <= offsetof(struct tcp_info, tcpi_probes))
        return;
    record->socket.retransmits = info[offsetof(struct tcp_info, tcpi_retransmits)];
    record->socket.probes = info[offsetof(struct tcp_info, tcpi_probes)];
    record->has |= SOCKET_RETRANSMITS | SOCKET_PROBES;
}

/* Where the message ends, which is not always where the next one may begin. */
static const char *end_of(const struct nlmsghdr *message)
{
    return (const char *)message + message->nlmsg_len;
}

static int decode_inet_attributes(struct record *record, const struct nlmsghdr *message)
{
    const char *end = end_of(message);
    const struct nlattr *attr = mnl_nlmsg_get_payload_offset(message, sizeof(struct inet_diag_msg));

    for (; mnl_attr_ok(attr, (int)(end - (const char *)attr)); attr = mnl_attr_next(attr))
        if (mnl_attr_get_type(attr) == INET_DIAG_INFO)
            decode_tcp_info(record, attr);
    return (const char *)attr < end ? -EBADMSG : 0;
}

/* What the numbers mean depends on the state and the protocol. */
static void settle_inet(struct record *record, uint32_t queue_limit)
{
    struct socket_record *sock = &record->socket;
    bool tcp = sock->protocol == IPPROTO_TCP;

    if (tcp && sock->state == TCP_LISTEN) {
        sock->backlog = queue_limit;
        sock->send_q = 0;
        record->has |= SOCKET_BACKLOG;
    }
    if (tcp && sock->state == TCP_SYN_RECV)
        record->has &= ~FIELDS_NOT_HALF_OPEN;
    else if (!tcp || sock->timer == TIMER_TIME_WAIT) /* FIN_WAIT2 ends as one, too */
        record->has |= SOCKET_RETRANSMITS | SOCKET_PROBES;
    if (sock->protocol == IPPROTO_RAW)
        sock->remote.port = 0; /* raw sockets have a protocol for a local port, and no other */
}

static bool is_of(const struct table *table, uint8_t family)
{
    if (table->family == AF_UNSPEC)
        return family == AF_INET || family == AF_INET6;
    return family == table->family;
}

int sock_diag_decode_inet(const struct nlmsghdr *message, const struct table *table,
                          struct record *record)
{
    const struct inet_diag_msg *diag = mnl_nlmsg_get_payload(message);
    struct socket_record *sock = &record->socket;

    if (mnl_nlmsg_get_payload_len(message) < sizeof *diag || !is_of(table, diag->idiag_family))
        return -EBADMSG;
    record->kind = &kind_socket;
    record->has = SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_UID | SOCKET_INODE |
                  SOCKET_TIMER | SOCKET_INTERFACE | SOCKET_COOKIE;
    record->identity = (uint64_t)diag->id.idiag_cookie[1] << 32 | diag->id.idiag_cookie[0];
    sock->family = diag->idiag_family;
    sock->protocol = table->protocol;
    sock->state = diag->idiag_state;
    sock->timer = diag->idiag_timer;
    sock->timer_ms = diag->idiag_expires;
    sock->retransmits = sock->probes = 0;
    sock->recv_q = diag->idiag_rqueue;
    sock->send_q = diag->idiag_wqueue;
    sock->interface = diag->id.idiag_if;
    sock->uid = diag->idiag_uid;
    sock->inode = diag->idiag_inode;
    decode_endpoint(&sock->local, sock->family, diag->id.idiag_src, diag->id.idiag_sport);
    decode_endpoint(&sock->remote, sock->family, diag->id.idiag_dst, diag->id.idiag_dport);
    if (message->nlmsg_len > NLMSG_LENGTH(sizeof *diag) &&
        decode_inet_attributes(record, message) < 0)
        return -EBADMSG;
    settle_inet(record, diag->idiag_wqueue);
    return 0;
}

static void decode_unix_attribute(struct record *record, const struct nlattr *attr)
{
    struct socket_record *sock = &record->socket;
    const void *payload = mnl_attr_get_payload(attr);
    size_t length = mnl_attr_get_payload_len(attr);
    struct unix_diag_rqlen queues;

    switch (mnl_attr_get_type(attr)) {
    case UNIX_DIAG_NAME:
        sock->path = (struct text){payload, length};
        if (length && sock->path.data[0] && !sock->path.data[length - 1])
            sock->path.length--; /* a path comes with its terminating NUL */
        break;
    case UNIX_DIAG_RQLEN:
        if (length < sizeof queues)
            break;
        memcpy(&queues, payload, sizeof queues);
        sock->recv_q = queues.udiag_rqueue;
        /* of a listener it is the backlog (net/unix/diag.c) */
        sock->send_q = sock->state == TCP_LISTEN ? 0 : queues.udiag_wqueue;
        record->has |= SOCKET_QUEUES;
        break;
    case UNIX_DIAG_UID:
        if (length < sizeof sock->uid)
            break;
        memcpy(&sock->uid, payload, sizeof sock->uid);
        record->has |= SOCKET_UID;
        break;
    default:
        break;
    }
}

int sock_diag_decode_unix(const struct nlmsghdr *message, struct record *record)
{
    const struct unix_diag_msg *diag = mnl_nlmsg_get_payload(message);
    const char *end = end_of(message);
    const struct nlattr *attr = mnl_nlmsg_get_payload_offset(message, sizeof *diag);
    struct socket_record *sock = &record->socket;

    if (mnl_nlmsg_get_payload_len(message) < sizeof *diag || diag->udiag_family != AF_UNIX)
        return -EBADMSG;
    memset(record, 0, sizeof *record);
    record->kind = &kind_socket;
    record->has =
        SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_PATH | SOCKET_UNIX_FLAGS | SOCKET_COOKIE;
    record->identity = (uint64_t)diag->udiag_cookie[1] << 32 | diag->udiag_cookie[0];
    sock->family = AF_UNIX;
    sock->state = diag->udiag_state;
    sock->type = diag->udiag_type;
    sock->inode = diag->udiag_ino;
    sock->flags = sock->state == TCP_LISTEN ? UNIX_ACCEPTCON : 0;
    sock->unix_state = sock->state == TCP_ESTABLISHED ? SS_CONNECTED : SS_UNCONNECTED;
    for (; mnl_attr_ok(attr, (int)(end - (const char *)attr)); attr = mnl_attr_next(attr))
        decode_unix_attribute(record, attr);
    return (const char *)attr < end || sock->path.length > SOCKET_PATH_MAX ? -EBADMSG : 0;
}

/* Fills in what only /proc knows of a half-open connection, unless this backend must stay alone. */
static void complete_half_open(struct reading *reading, struct record *record)
{
    const struct query *query = reading->query;

    if (query->exclusive || !(query->needs & FIELDS_NOT_HALF_OPEN & ~record->has))
        return;
    if (!reading->half_open_read) {
        reading->half_open_read = true;
        reading->half_open = half_open_create(query);
    }
    half_open_complete(reading->half_open, record);
    if (!(record->has & SOCKET_UID))
        half_open_report(reading->half_open, query, record->socket.family);
}

static int take_inet(const struct nlmsghdr *message, void *arg)
{
    struct reading *reading = arg;
    struct record record;

    if (message->nlmsg_type != SOCK_DIAG_BY_FAMILY && message->nlmsg_type != TCPDIAG_GETSOCK)
        return 0;
    if (sock_diag_decode_inet(message, reading->query->table, &record) < 0) {
        report_loss(reading->query->report, "%s: skipped a netlink message that is malformed",
                    reading->query->table->name);
        return 0;
    }
    if (record.socket.state == TCP_SYN_RECV)
        complete_half_open(reading, &record);
    return reading->fn(&record, reading->arg);
}

static int take_unix(const struct nlmsghdr *message, void *arg)
{
    struct reading *reading = arg;
    struct record record;

    if (message->nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return 0;
    if (sock_diag_decode_unix(message, &record) < 0) {
        report_loss(reading->query->report, "unix: skipped a netlink message that is malformed");
        return 0;
    }
    return reading->fn(&record, reading->arg);
}

/*
 * The request that knows no family is older than sock_diag and about TCP only: it lists IPv4 and
 * IPv6 in one walk of the kernel's table, where two requests make two. The family in it is for who
 * reads a trace: the kernel does not look at it (inet_diag_dump_compat).
 */
static void put_request_for_both(struct nlmsghdr *message, const struct query *query, uint8_t ext)
{
    struct inet_diag_req *request = mnl_nlmsg_put_extra_header(message, sizeof *request);

    message->nlmsg_type = TCPDIAG_GETSOCK;
    request->idiag_family = AF_INET;
    request->idiag_ext = ext;
    request->idiag_states = query->states & ~(uint32_t)STATE_BOUND_INACTIVE;
}

static void put_request(struct nlmsghdr *message, const struct query *query, uint8_t ext)
{
    struct inet_diag_req_v2 *request = mnl_nlmsg_put_extra_header(message, sizeof *request);

    message->nlmsg_type = SOCK_DIAG_BY_FAMILY;
    request->sdiag_family = query->table->family;
    request->sdiag_protocol = query->table->protocol;
    request->idiag_ext = ext;
    request->idiag_states = query->states & ~(uint32_t)STATE_BOUND_INACTIVE;
}

enum { REQUEST_MAX = 128 }; /* bytes; the largest is 76 */

static int dump_inet(struct reading *reading)
{
    const struct query *query = reading->query;
    bool counts = query->table->protocol == IPPROTO_TCP &&
                  (query->needs & (SOCKET_RETRANSMITS | SOCKET_PROBES));
    uint8_t ext = counts ? 1 << (INET_DIAG_INFO - 1) : 0;
    _Alignas(struct nlmsghdr) char buffer[REQUEST_MAX];
    struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);

    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    if (query->table->family == AF_UNSPEC)
        put_request_for_both(message, query, ext);
    else
        put_request(message, query, ext);
    return netlink_dump(query->netlink, NETLINK_SOCK_DIAG, message, take_inet, reading,
                        query->report);
}

static int dump_unix(struct reading *reading)
{
    const struct query *query = reading->query;
    struct {
        struct nlmsghdr header;
        struct unix_diag_req diag;
    } request = {
        .header = {.nlmsg_len = sizeof request,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .diag = {.sdiag_family = AF_UNIX, .udiag_states = query->states},
    };
    int result;

    if (query->needs & SOCKET_PATH)
        request.diag.udiag_show |= UDIAG_SHOW_NAME;
    if (query->needs & SOCKET_QUEUES)
        request.diag.udiag_show |= UDIAG_SHOW_RQLEN;
    if (query->needs & SOCKET_UID)
        request.diag.udiag_show |= UDIAG_SHOW_UID;
    result = netlink_dump(query->netlink, NETLINK_SOCK_DIAG, &request.header, take_unix, reading,
                          query->report);
    if (result == 0 && (query->needs & SOCKET_PENDING))
        report_loss(query->report, "unix: netlink does not list connections not yet accepted");
    return result;
}

static int dump(const struct query *query, record_fn fn, void *arg)
{
    struct reading reading = {.query = query, .fn = fn, .arg = arg};
    int result = query->table->family == AF_UNIX ? dump_unix(&reading) : dump_inet(&reading);

    half_open_destroy(reading.half_open);
    return result;
}

const struct backend backend_sock_diag = {
    .name = "netlink",
    .source = BACKEND_NETLINK,
    .fields = fields,
    .dump = dump,
};
