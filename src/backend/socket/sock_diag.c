/* SPDX-License-Identifier: MIT */
/* Sockets by sock_diag(7): the parts that all families share. Sockets of IP are in inet_diag.c;
 * each other family has its own file. */
#include "backend/socket/sock_diag.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/netlink/netlink.h"
#include "fastnet/predicate.h"
#include "model/explanation.h"

static const struct diag_family *const families[] = {&unix_diag,  &packet_diag, &netlink_diag,
                                                     &vsock_diag, &xdp_diag,    &tipc_diag};

/* Returns NULL if the table is a table of IP. */
static const struct diag_family *find_family(const struct table *table)
{
    for (size_t i = 0; i < COUNT(families); i++)
        if (families[i]->table == table)
            return families[i];
    return NULL;
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

/* --- Families that are not IP ----------------------------------------------------------------- */

/* The state of reading one table. */
struct sock_diag_reading {
    const struct diag_family *family;
    const struct query *query;
    record_fn fn;
    void *arg;
};

int diag_decode(const struct diag_family *family, const struct nlmsghdr *message,
                struct record *record)
{
    struct decoding decoding = {.object = record};
    struct attributes attributes;
    const uint8_t *header = message_header(message, family->header, &attributes);

    if (!header || (family->header && *header != family->table->family))
        return -EBADMSG;
    record_begin(record, &kind_socket, sizeof record->socket);
    record->has = family->always;
    record->socket.family = family->table->family;
    record->socket.protocol = family->table->protocol;
    record->socket.state = TCP_CLOSE; /* for sockets without states */
    if (family->begin)
        family->begin(header, record);
    attributes_decode(&decoding, attributes, family->targets);
    record->has |= decoding.has;
    if (decoding.malformed)
        return -EBADMSG;
    return family->finish ? family->finish(record) : 0;
}

static int sock_diag_take(const struct nlmsghdr *message, void *arg)
{
    const struct sock_diag_reading *reading = arg;
    struct record record;
    int result;

    if (message->nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return 0;
    result = diag_decode(reading->family, message, &record);
    if (result < 0)
        return report_malformed(reading->query);
    return result == DIAG_NO_ROW ? 0 : reading->fn(&record, reading->arg);
}

/* Writes the request that follows the header. */
static void sock_diag_put_request(const struct diag_family *family, const struct query *query,
                                  char *body)
{
    const struct sock_diag_req request = {family->table->family, family->protocol};
    uint32_t bits = 0;

    memset(body, 0, family->size);
    memcpy(body, &request, sizeof request);
    for (const struct diag_show *show = family->shows; show->fields; show++)
        if (query->needs & show->fields)
            bits |= show->bit;
    if (family->show_at)
        memcpy(body + family->show_at, &bits, sizeof bits);
    bits = family->states_at ? sock_diag_states(query) : 0;
    if (family->states_at)
        memcpy(body + family->states_at, &bits, sizeof bits);
}

int unix_diag_ask(const struct query *query, const struct socket_id ids[], size_t count,
                  record_fn fn, void *arg)
{
    struct sock_diag_reading reading = {.family = &unix_diag, .query = query, .fn = fn, .arg = arg};
    struct {
        struct nlmsghdr header;
        struct unix_diag_req body;
    } requests[SOCKETS_AT_ONCE];

    for (size_t i = 0; i < count; i++) {
        requests[i].header = (struct nlmsghdr){.nlmsg_len = sizeof *requests,
                                               .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                                               .nlmsg_flags = NLM_F_REQUEST};
        sock_diag_put_request(&unix_diag, query, (char *)&requests[i].body);
        requests[i].body.udiag_ino = ids[i].inode;
        requests[i].body.udiag_cookie[0] = (uint32_t)ids[i].cookie;
        requests[i].body.udiag_cookie[1] = (uint32_t)(ids[i].cookie >> 32);
    }
    return netlink_ask(query->netlink, NETLINK_SOCK_DIAG, requests, count * sizeof *requests,
                       sock_diag_take, &reading, query->report);
}

/* --- The backend ------------------------------------------------------------------------------ */

static int sock_diag_dump(const struct query *query, record_fn fn, void *arg)
{
    const struct diag_family *family = find_family(query->table);
    struct sock_diag_reading reading = {.family = family, .query = query, .fn = fn, .arg = arg};
    struct {
        struct nlmsghdr header;
        _Alignas(uint64_t) char body[DIAG_REQUEST_MAX];
    } request = {
        .header = {.nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
    int result;

    if (!family)
        return inet_diag_dump(query, fn, arg);
    request.header.nlmsg_len = (uint32_t)NLMSG_LENGTH(family->size);
    sock_diag_put_request(family, query, request.body);
    result = netlink_dump(query->netlink, NETLINK_SOCK_DIAG, &request.header, sock_diag_take,
                          &reading, query->report);
    if (result == 0 && family->report_gaps)
        family->report_gaps(query);
    return result;
}

void sock_diag_explain_states(uint32_t states, struct explanation *explanation)
{
    const bool refused = __builtin_popcount(states) > 16;
    const uint32_t named = refused ? ~states : states;
    char names[EXPLAINED_TEXT_MAX] = "";
    size_t length = 0;

    if (states == UINT32_MAX)
        return;
    explanation_add(explanation, offsetof(struct record, socket.state));
    for (unsigned state = 0; state < 32 && length < sizeof names; state++)
        if (named >> state & 1 && socket_state_name(state))
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                       length ? "," : "", socket_state_name(state));
    explanation_describe(explanation, "%s %s", refused ? "all states except" : "states",
                         states ? names : "none");
}

static void sock_diag_explain(const struct query *query, struct explanation *explanation)
{
    const struct diag_family *family = find_family(query->table);
    _Alignas(uint64_t) char body[DIAG_REQUEST_MAX];
    uint32_t states;

    if (!family) {
        inet_diag_explain(query, explanation);
    } else if (family->states_at) {
        sock_diag_put_request(family, query, body);
        memcpy(&states, body + family->states_at, sizeof states);
        sock_diag_explain_states(states, explanation);
    }
}

/* Since Linux 4.13 ENOENT means that the kernel has no module for the request (sock_diag.c,
 * inet_diag.c). */
static const char *sock_diag_remedy(const struct table *table, int error)
{
    const struct diag_family *family = find_family(table);

    if (error != -ENOENT)
        return NULL;
    return family ? family->missing : inet_diag_remedy(table);
}

static const struct table_fields provides[] = {
    {&table_tcp, FIELDS_TCP | SOCKET_AUTOBOUND},
    {&table_tcp6, FIELDS_TCP | SOCKET_AUTOBOUND},
    {&table_tcp_both, FIELDS_TCP | SOCKET_AUTOBOUND},
    {&table_udp, FIELDS_OTHER | SOCKET_AUTOBOUND},
    {&table_udp6, FIELDS_OTHER | SOCKET_AUTOBOUND},
    {&table_udplite, FIELDS_OTHER | SOCKET_AUTOBOUND},
    {&table_udplite6, FIELDS_OTHER | SOCKET_AUTOBOUND},
    {&table_raw, FIELDS_OTHER},
    {&table_raw6, FIELDS_OTHER},
    {&table_mptcp, FIELDS_MPTCP | SOCKET_AUTOBOUND},
    {&table_mptcp6, FIELDS_MPTCP | SOCKET_AUTOBOUND},
    {&table_sctp, FIELDS_SCTP | SOCKET_AUTOBOUND},
    {&table_sctp6, FIELDS_SCTP | SOCKET_AUTOBOUND},
    {&table_unix, FIELDS_UNIX},
    {&table_packet, FIELDS_PACKET},
    {&table_netlink, FIELDS_NETLINK},
    {&table_vsock, ALWAYS_VSOCK},
    {&table_xdp, FIELDS_XDP},
    {&table_tipc, FIELDS_TIPC},
    {NULL, 0},
};

const struct backend backend_sock_diag = {
    .name = "netlink",
    .source = BACKEND_NETLINK,
    .provides = provides,
    /* the kernel resumes dumps of other tables at a bucket, not by counting rows */
    .counts_rows = THESE_TABLES(&table_packet, &table_netlink, &table_xdp),
    .dump = sock_diag_dump,
    .explain = sock_diag_explain,
    .remedy = sock_diag_remedy,
};
