/*
 * Sockets of IP by inet_diag: TCP, UDP, UDP-Lite and raw.
 * Sources: linux/inet_diag.h, net/ipv4/inet_diag.c.
 */
#include "backend/socket/decode.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/netlink/attributes.h"
#include "backend/netlink/netlink.h"
#include "backend/socket/bytecode.h"
#include "backend/socket/half_open.h"
#include "backend/socket/sock_diag.h"
#include "fastnet/report.h"

static bool is_tcp6(const struct record *record)
{
    return record->socket.family == AF_INET6;
}

/* clang-format off */
const struct table table_tcp = SOCKET_TABLE("tcp", AF_INET, IPPROTO_TCP, .partner = &table_tcp6,
                                            .joint = &table_tcp_both);
const struct table table_tcp6 = SOCKET_TABLE("tcp6", AF_INET6, IPPROTO_TCP);
const struct table table_tcp_both = {.name = "tcp and tcp6", .kind = &kind_socket,
                                     .family = AF_UNSPEC, .protocol = IPPROTO_TCP,
                                     .is_second = is_tcp6};
const struct table table_udp = SOCKET_TABLE("udp", AF_INET, IPPROTO_UDP);
const struct table table_udp6 = SOCKET_TABLE("udp6", AF_INET6, IPPROTO_UDP);
const struct table table_udplite = SOCKET_TABLE("udplite", AF_INET, IPPROTO_UDPLITE);
const struct table table_udplite6 = SOCKET_TABLE("udplite6", AF_INET6, IPPROTO_UDPLITE);
const struct table table_raw = SOCKET_TABLE("raw", AF_INET, IPPROTO_RAW);
const struct table table_raw6 = SOCKET_TABLE("raw6", AF_INET6, IPPROTO_RAW);
/* clang-format on */

#define FIELDS_INET                                                                                \
    (SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_UID | SOCKET_INODE | SOCKET_TIMER |  \
     SOCKET_RETRANSMITS | SOCKET_PROBES | SOCKET_INTERFACE | SOCKET_BACKLOG | SOCKET_COOKIE |      \
     SOCKET_TCP_INFO | SOCKET_MEMORY | SOCKET_TIMER_COUNT | SOCKET_MESSAGE)
/* These are 0 in a half-open connection's message, because the numbers belong to its listener. */
#define FIELDS_NOT_HALF_OPEN (SOCKET_UID | SOCKET_RETRANSMITS | SOCKET_PROBES)

uint64_t inet_diag_fields(const struct table *table)
{
    (void)table;
    return FIELDS_INET;
}

static void decode_endpoint(struct endpoint *endpoint, uint8_t family, const __be32 *address,
                            __be16 port)
{
    endpoint->address.family = family;
    memcpy(endpoint->address.bytes, address, sizeof endpoint->address.bytes);
    if (family == AF_INET)
        memset(endpoint->address.bytes + 4, 0, sizeof endpoint->address.bytes - 4);
    endpoint->port = ntohs(port);
}

static bool is_of(const struct table *table, uint8_t family)
{
    if (table->family == AF_UNSPEC)
        return family == AF_INET || family == AF_INET6;
    return family == table->family;
}

static void decode_header(const struct inet_diag_msg *header, struct socket_record *sock)
{
    sock->family = header->idiag_family;
    sock->state = header->idiag_state;
    sock->timer = header->idiag_timer;
    sock->timer_ms = header->idiag_expires;
    sock->timer_count = header->idiag_retrans;
    sock->recv_q = header->idiag_rqueue;
    sock->send_q = header->idiag_wqueue;
    sock->interface = header->id.idiag_if;
    sock->uid = header->idiag_uid;
    sock->inode = header->idiag_inode;
    decode_endpoint(&sock->local, sock->family, header->id.idiag_src, header->id.idiag_sport);
    decode_endpoint(&sock->remote, sock->family, header->id.idiag_dst, header->id.idiag_dport);
}

static const struct target inet_targets[] = {
    [INET_DIAG_INFO] = TAKE_BYTES(socket.info, SOCKET_TCP_INFO),
    [INET_DIAG_SKMEMINFO] = TAKE_BYTES(socket.memory, SOCKET_MEMORY),
};

/* What TCP says in struct tcp_info, which grew over the years, other protocols never count. */
static void set_counts(struct record *record)
{
    struct socket_record *sock = &record->socket;
    const char *info = sock->info.data;
    const bool counts = sock->protocol == IPPROTO_TCP && sock->timer != TIMER_TIME_WAIT;

    if (sock->info.length > offsetof(struct tcp_info, tcpi_probes)) {
        sock->retransmits = (uint8_t)info[offsetof(struct tcp_info, tcpi_retransmits)];
        sock->probes = (uint8_t)info[offsetof(struct tcp_info, tcpi_probes)];
    } else if (counts) {
        return; /* FIN_WAIT2 ends with the timer of TIME_WAIT, too: there is nothing left */
    }
    record->has |= SOCKET_RETRANSMITS | SOCKET_PROBES;
}

int sock_diag_decode_inet(const struct nlmsghdr *message, const struct table *table,
                          struct record *record)
{
    struct socket_record *sock = &record->socket;
    struct decoding decoding = {.object = record};
    struct attributes attributes;
    const struct inet_diag_msg *header = message_header(message, sizeof *header, &attributes);

    if (!header || !is_of(table, header->idiag_family))
        return -EBADMSG;
    record_begin(record, &kind_socket, sizeof record->socket);
    record->identity = (uint64_t)header->id.idiag_cookie[1] << 32 | header->id.idiag_cookie[0];
    sock->protocol = table->protocol;
    decode_header(header, sock);
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(inet_targets));
    if (decoding.malformed)
        return -EBADMSG;
    record->has = decoding.has | SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_UID |
                  SOCKET_INODE | SOCKET_TIMER | SOCKET_TIMER_COUNT | SOCKET_INTERFACE |
                  SOCKET_COOKIE;
    set_counts(record);
    if (sock->protocol == IPPROTO_TCP && sock->state == TCP_SYN_RECV)
        record->has &= ~FIELDS_NOT_HALF_OPEN;
    if (sock->protocol == IPPROTO_TCP && sock->state == TCP_LISTEN) {
        sock->backlog = sock->send_q;
        record->has |= SOCKET_BACKLOG;
    }
    return 0;
}

/* One reading of one table, or of two as one. */
struct reading {
    const struct query *query;
    record_fn fn;
    void *arg;
    struct half_open half_open; /* read when the first such row needs it */
};

static int take_inet(const struct nlmsghdr *message, void *arg)
{
    struct reading *reading = arg;
    const struct query *query = reading->query;
    struct record record;

    if (message->nlmsg_type != SOCK_DIAG_BY_FAMILY && message->nlmsg_type != TCPDIAG_GETSOCK)
        return 0;
    if (sock_diag_decode_inet(message, query->table, &record) < 0)
        return report_malformed(query);
    /* what only /proc knows of a half-open connection, unless this backend must stay alone */
    if (record.socket.state == TCP_SYN_RECV && !query->exclusive &&
        (query->needs & FIELDS_NOT_HALF_OPEN & ~record.has))
        half_open_complete(&reading->half_open, query, &record);
    sock_diag_bring_message(query, message, &record);
    return reading->fn(&record, reading->arg);
}

/* What is asked for besides, one bit (1 << (INET_DIAG_* - 1)) each. */
static uint8_t extensions(const struct query *query)
{
    uint8_t ext = 0;

    if (query->table->protocol == IPPROTO_TCP &&
        (query->needs & (SOCKET_RETRANSMITS | SOCKET_PROBES | SOCKET_TCP_INFO)))
        ext |= 1 << (INET_DIAG_INFO - 1);
    if (query->needs & SOCKET_MEMORY)
        ext |= 1 << (INET_DIAG_SKMEMINFO - 1);
    return ext;
}

struct request {
    struct nlmsghdr header;
    union {
        struct inet_diag_req_v2 one;
        struct inet_diag_req both;
    };
};

/*
 * The request that knows no family is older than sock_diag and about TCP only: it lists IPv4 and
 * IPv6 in one walk of the kernel's table, where two requests make two. The family in it is for
 * readers of a trace: the kernel does not look at it (inet_diag_dump_compat).
 */
static struct request request_for(const struct query *query)
{
    const struct table *table = query->table;

    if (table->family == AF_UNSPEC)
        return (struct request){.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct inet_diag_req)),
                                           .nlmsg_type = TCPDIAG_GETSOCK},
                                .both = {.idiag_family = AF_INET,
                                         .idiag_ext = extensions(query),
                                         .idiag_states = sock_diag_states(query)}};
    return (struct request){.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct inet_diag_req_v2)),
                                       .nlmsg_type = SOCK_DIAG_BY_FAMILY},
                            .one = {.sdiag_family = table->family,
                                    .sdiag_protocol = (uint8_t)table->protocol,
                                    .idiag_ext = extensions(query),
                                    .idiag_states = sock_diag_states(query)}};
}

/* Adds a program to the request, if there is something that the kernel can leave out. */
static bool add_bytecode(struct nlmsghdr *request, const struct query *query)
{
    struct bytecode bytecode;

    /* the kernel has another idea of the ports of raw sockets */
    if (query->table->protocol == IPPROTO_RAW)
        return false;
    bytecode_compile(&bytecode, query->where);
    if (bytecode.count)
        mnl_attr_put(request, INET_DIAG_REQ_BYTECODE, bytecode.count * sizeof *bytecode.words,
                     bytecode.words);
    return bytecode.count > 0;
}

int inet_diag_dump(const struct query *query, record_fn fn, void *arg)
{
    enum { BYTECODE_MAX = sizeof(struct nlattr) + sizeof(struct bytecode) };
    struct reading reading = {.query = query, .fn = fn, .arg = arg};
    struct request request = request_for(query);
    _Alignas(struct nlmsghdr) char filtered[sizeof request + BYTECODE_MAX];
    int result = -EINVAL;

    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    memcpy(filtered, &request, sizeof request);
    if (add_bytecode((struct nlmsghdr *)filtered, query))
        result = netlink_dump(query->netlink, NETLINK_SOCK_DIAG, (struct nlmsghdr *)filtered,
                              take_inet, &reading, query->report);
    if (result == -EINVAL) /* there is no program, or the kernel lacks an instruction of it */
        result = netlink_dump(query->netlink, NETLINK_SOCK_DIAG, &request.header, take_inet,
                              &reading, query->report);
    half_open_finish(&reading.half_open);
    return result;
}

const char *inet_diag_remedy(const struct table *table)
{
    switch (table->protocol) {
    case IPPROTO_TCP:
        return "the kernel lacks tcp_diag";
    case IPPROTO_RAW:
        return "the kernel lacks raw_diag";
    default:
        return "the kernel lacks udp_diag";
    }
}
