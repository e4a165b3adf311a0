/*
 * Sockets by sock_diag(7): the tables of all families, and unix sockets by unix_diag. Those of IP
 * are in inet_diag.c. Sources: linux/unix_diag.h, net/unix/diag.c.
 */
#include "backend/socket/decode.h"

#include <errno.h>
#include <linux/net.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/netlink/attributes.h"
#include "backend/netlink/netlink.h"
#include "backend/socket/sock_diag.h"
#include "fastnet/predicate.h"
#include "fastnet/report.h"

const struct table table_unix = SOCKET_TABLE("unix", AF_UNIX, 0);

#define FIELDS_UNIX                                                                                \
    (SOCKET_STATE | SOCKET_QUEUES | SOCKET_UID | SOCKET_INODE | SOCKET_TYPE | SOCKET_PATH |        \
     SOCKET_UNIX_FLAGS | SOCKET_COOKIE)

static uint64_t fields(const struct table *table)
{
    if (table->kind != &kind_socket)
        return 0;
    return table->family == AF_UNIX ? FIELDS_UNIX : inet_diag_fields(table);
}

/* A path comes with its terminating NUL; an abstract name begins with one. */
static bool take_name(struct text content, void *member)
{
    if (content.length && content.data[0] && !content.data[content.length - 1])
        content.length--;
    *(struct text *)member = content;
    return true;
}

static bool take_queues(struct text content, void *member)
{
    struct socket_record *sock = member;
    struct unix_diag_rqlen queues;

    if (!attribute_bytes(content, &queues, sizeof queues))
        return false;
    sock->recv_q = queues.udiag_rqueue;
    sock->send_q = queues.udiag_wqueue;
    return true;
}

static const struct target unix_targets[] = {
    [UNIX_DIAG_NAME] = TAKE_BY(take_name, socket.path, 0),
    [UNIX_DIAG_RQLEN] = TAKE_BY(take_queues, socket, SOCKET_QUEUES),
    [UNIX_DIAG_UID] = TAKE(socket.uid, SOCKET_UID),
};

int sock_diag_decode_unix(const struct nlmsghdr *message, struct record *record)
{
    struct socket_record *sock = &record->socket;
    struct decoding decoding = {.object = record};
    struct attributes attributes;
    const struct unix_diag_msg *header = message_header(message, sizeof *header, &attributes);

    if (!header || header->udiag_family != AF_UNIX)
        return -EBADMSG;
    record_begin(record, &kind_socket, sizeof record->socket);
    record->identity = (uint64_t)header->udiag_cookie[1] << 32 | header->udiag_cookie[0];
    sock->family = AF_UNIX;
    sock->state = header->udiag_state;
    sock->type = header->udiag_type;
    sock->inode = header->udiag_ino;
    sock->flags = sock->state == TCP_LISTEN ? UNIX_ACCEPTCON : 0;
    sock->unix_state = sock->state == TCP_ESTABLISHED ? SS_CONNECTED : SS_UNCONNECTED;
    attributes_decode(&decoding, attributes, (struct targets)TARGETS(unix_targets));
    record->has = decoding.has | SOCKET_STATE | SOCKET_INODE | SOCKET_TYPE | SOCKET_PATH |
                  SOCKET_UNIX_FLAGS | SOCKET_COOKIE;
    return decoding.malformed || sock->path.length > SOCKET_PATH_MAX ? -EBADMSG : 0;
}

/* One reading of the table. */
struct reading {
    const struct query *query;
    record_fn fn;
    void *arg;
};

static int take_unix(const struct nlmsghdr *message, void *arg)
{
    struct reading *reading = arg;
    struct record record;

    if (message->nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return 0;
    if (sock_diag_decode_unix(message, &record) < 0)
        return report_malformed(reading->query);
    return reading->fn(&record, reading->arg);
}

uint32_t sock_diag_states(const struct query *query)
{
    const struct table *table = query->table;
    struct record record = {.kind = &kind_socket,
                            .has = SOCKET_STATE,
                            .socket = {.family = table->family, .protocol = table->protocol}};
    uint32_t states = 0;

    if (!query->where)
        return UINT32_MAX;
    for (uint8_t state = 0; state < 32; state++)
        for (int v6 = 0; v6 < 2; v6++) {
            record.socket.state = state;
            if (table->family == AF_UNSPEC)
                record.socket.family = v6 ? AF_INET6 : AF_INET;
            if (predicate_may_hold(query->where, &record, SOCKET_STATE | KNOWN_ALWAYS))
                states |= UINT32_C(1) << state;
        }
    return states;
}

struct request {
    struct nlmsghdr header;
    struct unix_diag_req local;
};

static struct request request_for_unix(const struct query *query)
{
    const uint32_t name = (query->needs & SOCKET_PATH) ? UDIAG_SHOW_NAME : 0;
    const uint32_t queues = (query->needs & SOCKET_QUEUES) ? UDIAG_SHOW_RQLEN : 0;
    const uint32_t uid = (query->needs & SOCKET_UID) ? UDIAG_SHOW_UID : 0;

    return (struct request){.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct unix_diag_req)),
                                       .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                                       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
                            .local = {.sdiag_family = AF_UNIX,
                                      .udiag_states = sock_diag_states(query),
                                      .udiag_show = name | queues | uid}};
}

static int dump_unix(const struct query *query, record_fn fn, void *arg)
{
    struct reading reading = {.query = query, .fn = fn, .arg = arg};
    struct request request = request_for_unix(query);
    const int result = netlink_dump(query->netlink, NETLINK_SOCK_DIAG, &request.header, take_unix,
                                    &reading, query->report);

    if (result == 0 && (query->needs & SOCKET_PENDING))
        report_loss(query->report,
                    "unix: netlink does not list connections that are not accepted yet: these rows "
                    "are missing");
    return result;
}

static int dump(const struct query *query, record_fn fn, void *arg)
{
    return query->table->family == AF_UNIX ? dump_unix(query, fn, arg)
                                           : inet_diag_dump(query, fn, arg);
}

/* Since 4.13 the kernel answers so if it has no module for the request (sock_diag.c, inet_diag.c).
 */
static const char *remedy(const struct table *table, int error)
{
    if (error != -ENOENT)
        return NULL;
    return table->family == AF_UNIX ? "the kernel lacks unix_diag" : inet_diag_remedy(table);
}

const struct backend backend_sock_diag = {
    .name = "netlink",
    .source = BACKEND_NETLINK,
    .fields = fields,
    .dump = dump,
    .remedy = remedy,
};
