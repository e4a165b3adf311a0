/* SPDX-License-Identifier: MIT */
/* Sockets of IP by inet_diag: TCP, UDP, UDP-Lite, raw, MPTCP and SCTP.
 * Sources: linux/inet_diag.h; net/ipv4/inet_diag.c, tcp_diag.c, udp_diag.c and raw_diag.c,
 * net/mptcp/mptcp_diag.c, net/sctp/diag.c. */
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
#include "fastnet/bpf_map.h"
#include "fastnet/hash.h"
#include "fastnet/kernel_info.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"

static bool is_tcp6(const struct record *record)
{
    return record->socket.family == AF_INET6;
}

/* The kernel shows marks, keys and BPF storages only to processes with capabilities. */
#define PRIVILEGED (SOCKET_MARK | SOCKET_MD5 | SOCKET_ULP | SOCKET_STORAGES)
#define TABLE(of_name, of_family, of_protocol, ...)                                                \
    {                                                                                              \
        .name = (of_name), .kind = &kind_socket, .family = (of_family), .protocol = (of_protocol), \
        .rights = 1u << RIGHT_SOCKETS, .privileged = PRIVILEGED, __VA_ARGS__                       \
    }

/* clang-format off */
const struct table table_tcp = TABLE("tcp", AF_INET, IPPROTO_TCP, .file = "tcp", .shared = true,
                                     .partner = &table_tcp6, .joint = &table_tcp_both);
const struct table table_tcp6 = TABLE("tcp6", AF_INET6, IPPROTO_TCP, .file = "tcp6", .shared = true);
const struct table table_tcp_both = TABLE("tcp and tcp6", AF_UNSPEC, IPPROTO_TCP, .shared = true,
                                          .is_second = is_tcp6, .counted = &table_tcp_states);
const struct table table_udp = TABLE("udp", AF_INET, IPPROTO_UDP, .file = "udp");
const struct table table_udp6 = TABLE("udp6", AF_INET6, IPPROTO_UDP, .file = "udp6");
const struct table table_udplite = TABLE("udplite", AF_INET, IPPROTO_UDPLITE, .file = "udplite");
const struct table table_udplite6 = TABLE("udplite6", AF_INET6, IPPROTO_UDPLITE,
                                          .file = "udplite6");
const struct table table_raw = TABLE("raw", AF_INET, IPPROTO_RAW, .file = "raw");
const struct table table_raw6 = TABLE("raw6", AF_INET6, IPPROTO_RAW, .file = "raw6");
const struct table table_mptcp = TABLE("mptcp", AF_INET, PROTOCOL_MPTCP);
const struct table table_mptcp6 = TABLE("mptcp6", AF_INET6, PROTOCOL_MPTCP);
const struct table table_sctp = TABLE("sctp", AF_INET, IPPROTO_SCTP);
const struct table table_sctp6 = TABLE("sctp6", AF_INET6, IPPROTO_SCTP);
/* clang-format on */

/* Fields that are 0 in the message of a half-open connection: its numbers belong to its
 * listener. */
#define FIELDS_NOT_HALF_OPEN (SOCKET_UID | SOCKET_RETRANSMITS)
/* Fields that are 0 if only a timer of TIME_WAIT is left, because the socket is gone. */
#define FIELDS_NOT_GONE (SOCKET_UID | SOCKET_INODE)

static const struct protocol {
    uint16_t number; /* 0: all other protocols */
    uint64_t fields;
    uint64_t info; /* fields of INET_DIAG_INFO, which is another struct for each protocol */
    char missing[40];
} protocols[] = {
    {IPPROTO_TCP, FIELDS_TCP, SOCKET_TCP_INFO | SOCKET_TCP_BASICS,
     "the kernel lacks the module tcp_diag"},
    {IPPROTO_UDP, FIELDS_OTHER, 0, "the kernel lacks the module udp_diag"},
    {PROTOCOL_MPTCP, FIELDS_MPTCP, SOCKET_MPTCP_INFO, "the kernel lacks the module mptcp_diag"},
    {IPPROTO_SCTP, FIELDS_SCTP, SOCKET_SCTP_INFO, "the kernel lacks the module sctp_diag"},
    {IPPROTO_RAW, FIELDS_OTHER, 0, "the kernel lacks the module raw_diag"},
    {0, FIELDS_OTHER, 0, "the kernel lacks the module udp_diag"},
};

static const struct protocol *inet_protocol_of(const struct table *table)
{
    const struct protocol *protocol = protocols;

    while (protocol->number && protocol->number != table->protocol)
        protocol++;
    return protocol;
}

/* Fills an empty record: the bytes after an address of IPv4 are 0. */
static void decode_endpoint(struct endpoint *endpoint, uint8_t family, const __be32 *address,
                            __be16 port)
{
    endpoint->address.family = family;
    if (family == AF_INET)
        memcpy(endpoint->address.bytes, address, 4);
    else
        memcpy(endpoint->address.bytes, address, sizeof endpoint->address.bytes);
    endpoint->port = ntohs(port);
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

/* Takes one of these structs: the congestion algorithm decides which one the kernel sends. */
static bool take_cc_info(struct socket_record *sock, struct text content, uint16_t type)
{
    sock->cc_info = content;
    sock->cc_type = type;
    return true;
}

static bool take_vegas(struct text content, void *sock)
{
    return take_cc_info(sock, content, INET_DIAG_VEGASINFO);
}

static bool take_dctcp(struct text content, void *sock)
{
    return take_cc_info(sock, content, INET_DIAG_DCTCPINFO);
}

static bool take_bbr(struct text content, void *sock)
{
    return take_cc_info(sock, content, INET_DIAG_BBRINFO);
}

/* Reads bit fields. On big-endian machines the first bit field is the highest bit. */
static bool take_options(struct text content, void *member)
{
    uint8_t bytes[2];
    uint16_t options;

    if (!attribute_bytes(content, bytes, sizeof bytes))
        return false;
    options = (uint16_t)(bytes[0] | bytes[1] << 8);
    if (__BYTE_ORDER != __LITTLE_ENDIAN) {
        options = 0;
        for (unsigned i = 0; i < 8 * sizeof bytes; i++)
            if (bytes[i / 8] & 0x80 >> i % 8)
                options |= (uint16_t)(1u << i);
    }
    *(uint16_t *)member = options;
    return true;
}

static const struct target inet_targets[] = {
    [INET_DIAG_INFO] = TAKE_BYTES(socket.info, SOCKET_TCP_INFO),
    [INET_DIAG_VEGASINFO] = TAKE_BY(take_vegas, socket, SOCKET_CC_INFO),
    [INET_DIAG_CONG] = TAKE(socket.congestion, SOCKET_CONGESTION),
    [INET_DIAG_TOS] = TAKE(socket.tos, SOCKET_TOS),
    [INET_DIAG_TCLASS] = TAKE(socket.tclass, SOCKET_TCLASS),
    [INET_DIAG_SKMEMINFO] = TAKE_BYTES(socket.memory, SOCKET_MEMORY | SOCKET_DROPS),
    [INET_DIAG_SHUTDOWN] = TAKE(socket.shutdown, SOCKET_SHUTDOWN),
    [INET_DIAG_DCTCPINFO] = TAKE_BY(take_dctcp, socket, SOCKET_CC_INFO),
    [INET_DIAG_SKV6ONLY] = TAKE(socket.v6only, SOCKET_V6ONLY),
    [INET_DIAG_LOCALS] = TAKE_BYTES(socket.locals, SOCKET_LOCALS),
    [INET_DIAG_PEERS] = TAKE_BYTES(socket.peers, SOCKET_PEERS),
    [INET_DIAG_MARK] = TAKE(socket.mark, SOCKET_MARK),
    [INET_DIAG_BBRINFO] = TAKE_BY(take_bbr, socket, SOCKET_CC_INFO),
    [INET_DIAG_CLASS_ID] = TAKE(socket.class_id, SOCKET_CLASS_ID),
    [INET_DIAG_MD5SIG] = TAKE_BYTES(socket.md5, SOCKET_MD5),
    [INET_DIAG_ULP_INFO] = TAKE_BYTES(socket.ulp, SOCKET_ULP),
    [INET_DIAG_SK_BPF_STORAGES] = TAKE_BYTES(socket.storages, SOCKET_STORAGES),
    [INET_DIAG_CGROUP_ID] = TAKE(socket.cgroup, SOCKET_CGROUP),
    [INET_DIAG_SOCKOPT] = TAKE_BY(take_options, socket.options, SOCKET_OPTIONS),
};

/* Sets counters. TCP's are in struct tcp_info, which is shorter in old kernels. Protocols without
 * connections always have 0; the counters of MPTCP and SCTP are unknown. */
static uint64_t set_counts(struct socket_record *sock)
{
    const char *info = sock->info.data;

    if (sock->protocol == PROTOCOL_MPTCP || sock->protocol == IPPROTO_SCTP)
        return 0;
    if (sock->protocol == IPPROTO_TCP &&
        sock->info.length > offsetof(struct tcp_info, tcpi_probes)) {
        sock->retransmits = (uint8_t)info[offsetof(struct tcp_info, tcpi_retransmits)];
        sock->probes = (uint8_t)info[offsetof(struct tcp_info, tcpi_probes)];
    } else if (sock->protocol == IPPROTO_TCP && sock->timer != TIMER_TIME_WAIT) {
        return 0; /* unknown; but with the timer of TIME_WAIT (also in FIN_WAIT2) both are 0 */
    }
    return SOCKET_RETRANSMITS;
}

/* Returns UINT64_MAX if the kernel's struct is too short. */
static uint64_t bytes_at(const struct text *info, size_t at)
{
    uint64_t bytes = UINT64_MAX;

    if (info->length >= at + sizeof bytes)
        memcpy(&bytes, info->data + at, sizeof bytes);
    return bytes;
}

/* Adds fields that follow from protocol and state; removes fields that are wrong in this state. */
static uint64_t inet_complete(struct socket_record *sock, const struct protocol *protocol,
                              uint64_t has)
{
    const bool is_tcp = sock->protocol == IPPROTO_TCP;

    if (has & SOCKET_TCP_INFO)
        has = (has & ~SOCKET_TCP_INFO) | protocol->info;
    if (has & SOCKET_TCP_INFO && sock->state != TCP_LISTEN) { /* a listener moves no bytes */
        sock->bytes_sent = bytes_at(&sock->info, offsetof(struct kernel_tcp_info, bytes_sent));
        sock->bytes_received =
            bytes_at(&sock->info, offsetof(struct kernel_tcp_info, bytes_received));
        has |= SOCKET_BYTES;
    }
    has |= set_counts(sock);
    if (is_tcp && sock->state == TCP_SYN_RECV)
        has &= ~FIELDS_NOT_HALF_OPEN;
    if (is_tcp && sock->timer == TIMER_TIME_WAIT)
        has &= ~FIELDS_NOT_GONE;
    if ((is_tcp || sock->protocol == PROTOCOL_MPTCP) && sock->state == TCP_LISTEN) {
        sock->backlog = sock->send_q;
        has |= SOCKET_BACKLOG;
    }
    return has;
}

/* Makes the ends of an SCTP association a part of its identity, because it has the cookie of its
 * endpoint. Only associations have peers. */
static void identify_association(struct record *record)
{
    struct socket_record *sock = &record->socket;
    const uint32_t ports = (uint32_t)sock->local.port << 16 | sock->remote.port;
    uint64_t hash = hash_word(record->identity, ports);

    hash = hash_bytes(hash, sock->remote.address.bytes, sizeof sock->remote.address.bytes);
    sock->endpoint = record->identity;
    record->identity = hash ? hash : 1;
    record->has &= ~SOCKET_COOKIE;
}

/* Whether attributes must be decoded. The kernel always sends some, and a listing has many rows. */
static bool needs_attributes(const struct protocol *protocol, uint8_t family, uint64_t needs)
{
    if (protocol->number == PROTOCOL_MPTCP || protocol->number == IPPROTO_SCTP)
        return true; /* used by inet_take_socket() and identify_association() */
    if (family == AF_INET)
        needs &= ~SOCKET_V6ONLY;
    return needs & protocol->fields & ~(FIELDS_OF_HEADER | SOCKET_BACKLOG | SOCKET_MESSAGE);
}

static bool inet_is_of(const struct table *table, uint8_t family)
{
    if (table->family == AF_UNSPEC)
        return family == AF_INET || family == AF_INET6;
    return family == table->family;
}

int sock_diag_decode_inet(const struct nlmsghdr *message, const struct table *table, uint64_t needs,
                          struct record *record)
{
    const struct protocol *protocol = inet_protocol_of(table);
    struct socket_record *sock = &record->socket;
    struct decoding decoding = {.object = record};
    struct attributes attributes;
    const struct inet_diag_msg *header = message_header(message, sizeof *header, &attributes);

    if (!header || !inet_is_of(table, header->idiag_family))
        return -EBADMSG;
    record_begin(record, &kind_socket, sizeof record->socket);
    record->identity = (uint64_t)header->id.idiag_cookie[1] << 32 | header->id.idiag_cookie[0];
    sock->protocol = table->protocol;
    decode_header(header, sock);
    if (needs_attributes(protocol, sock->family, needs))
        attributes_decode(&decoding, attributes, (struct targets)TARGETS(inet_targets));
    if (decoding.malformed)
        return -EBADMSG;
    record->has = inet_complete(sock, protocol, decoding.has | FIELDS_OF_HEADER);
    record->has &= protocol->fields;
    if (record->has & SOCKET_PEERS)
        identify_association(record);
    return 0;
}

/* The state of reading one table, or two tables together. */
struct inet_reading {
    const struct query *query;
    record_fn fn;
    void *arg;
    struct half_open half_open; /* read when the first half-open connection needs it */
    bool begun;                 /* a row was handed on: another try would repeat it */
};

/* Reports that a row is left out because the filter compares a field that cannot be read. */
static void note_undecided(const struct query *query, const struct record *record)
{
    if (query->where && predicate_needs(query->where).fields & FIELDS_NOT_HALF_OPEN &&
        predicate_may_hold(query->where, record, KNOWN_ALWAYS | ~FIELDS_NOT_HALF_OPEN) &&
        !predicate_may_be_met(query->where, record, NULL,
                              (struct needs){.fields = UINT64_MAX, .lookups = UINT64_MAX}))
        report_note(query->report,
                    "%s: the filter leaves out some half-open connections, because netlink does "
                    "not report their users and counters",
                    query->table->name);
}

static int inet_take_socket(const struct nlmsghdr *message, void *arg)
{
    enum { TCP_INFO_LEAST = 160 };
    struct inet_reading *reading = arg;
    const struct query *query = reading->query;
    struct record record;

    if (message->nlmsg_type != SOCK_DIAG_BY_FAMILY && message->nlmsg_type != TCPDIAG_GETSOCK)
        return 0;
    if (sock_diag_decode_inet(message, query->table, query->needs, &record) < 0)
        return report_malformed(query);
    /* A request for MPTCP has the number of TCP in its header, and that of MPTCP in an attribute.
     * Kernels before 5.9 ignore the attribute, so they answer with TCP sockets: these have a struct
     * tcp_info, which is always requested, and which has at least this size since Linux 4.9. */
    if (record.socket.protocol == PROTOCOL_MPTCP && record.socket.info.length >= TCP_INFO_LEAST)
        return -ENOENT;
    diag_mark_bound(&record.socket);
    /* /proc has the missing fields of a half-open connection, unless no other source is allowed */
    if (record.socket.state == TCP_SYN_RECV &&
        (query->needs & FIELDS_NOT_HALF_OPEN & ~record.has)) {
        if (query->exclusive)
            note_undecided(query, &record);
        else
            half_open_complete(&reading->half_open, query, &record);
    }
    sock_diag_bring_message(query, message, &record);
    reading->begun = true;
    return reading->fn(&record, reading->arg);
}

/* Fields in INET_DIAG_INFO, and in attributes that come only with it (idiag_get_aux). */
#define FIELDS_WITH_INFO                                                                           \
    (FIELDS_COUNTED | SOCKET_TCP_INFO | SOCKET_TCP_BASICS | SOCKET_BYTES | SOCKET_MPTCP_INFO |     \
     SOCKET_SCTP_INFO | SOCKET_MD5 | SOCKET_ULP)

/* Returns attributes to request, as bits 1 << (INET_DIAG_* - 1); others come unrequested. */
static uint8_t extensions(const struct query *query)
{
    static const struct {
        uint64_t fields;
        uint8_t attribute;
    } asked[] = {
        {FIELDS_WITH_INFO, INET_DIAG_INFO},
        {SOCKET_CONGESTION, INET_DIAG_CONG},
        {SOCKET_CC_INFO, INET_DIAG_VEGASINFO},
        {SOCKET_TOS, INET_DIAG_TOS},
        {SOCKET_TCLASS | SOCKET_CLASS_ID, INET_DIAG_TCLASS},
        {SOCKET_MEMORY | SOCKET_DROPS, INET_DIAG_SKMEMINFO},
    };
    const uint16_t protocol = query->table->protocol;
    uint64_t needs = query->needs & inet_protocol_of(query->table)->fields;
    uint8_t ext = 0;

    if (protocol == PROTOCOL_MPTCP)
        needs |= SOCKET_MPTCP_INFO; /* used by inet_take_socket() */
    if (protocol != IPPROTO_TCP)    /* counters of other protocols are always 0 */
        needs &= ~FIELDS_COUNTED;
    for (size_t i = 0; i < COUNT(asked); i++)
        if (needs & asked[i].fields)
            ext |= (uint8_t)(1u << (asked[i].attribute - 1));
    return ext;
}

/* A request, with room for all attributes. */
struct inet_request {
    struct nlmsghdr header;
    char rest[sizeof(struct inet_diag_req) + 3 * sizeof(struct nlattr) + sizeof(uint32_t) +
              BPF_MAPS_MAX * (sizeof(struct nlattr) + sizeof(uint32_t)) +
              BYTECODE_WORDS * sizeof(uint32_t)];
};

/* TCPDIAG_GETSOCK is older than sock_diag, and only for TCP. One request lists IPv4 and IPv6 in one
 * walk over the kernel's table, where two requests need two walks. The kernel ignores the family in
 * the request (inet_diag_dump_compat); it is there for readers of a trace. */
static void put_header(struct nlmsghdr *request, const struct query *query)
{
    const struct table *table = query->table;
    /* associations of SCTP have their own states, which the kernel cannot filter */
    const uint32_t states = table->protocol == IPPROTO_SCTP ? UINT32_MAX : sock_diag_states(query);
    const struct inet_diag_req both = {
        .idiag_family = AF_INET, .idiag_ext = extensions(query), .idiag_states = states};
    const struct inet_diag_req_v2 one = {.sdiag_family = table->family,
                                         .sdiag_protocol = (uint8_t)table->protocol,
                                         .idiag_ext = both.idiag_ext,
                                         .idiag_states = both.idiag_states};
    const bool is_joint = table->family == AF_UNSPEC;

    request->nlmsg_type = is_joint ? TCPDIAG_GETSOCK : SOCK_DIAG_BY_FAMILY;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    if (is_joint)
        memcpy(mnl_nlmsg_put_extra_header(request, sizeof both), &both, sizeof both);
    else
        memcpy(mnl_nlmsg_put_extra_header(request, sizeof one), &one, sizeof one);
}

/* Compiles the program in the request's memory. Returns false if the kernel can reject nothing. */
static bool inet_put_program(struct nlmsghdr *request, const struct query *query)
{
    struct nlattr *attribute = mnl_nlmsg_get_payload_tail(request);
    const size_t words =
        bytecode_compile(mnl_attr_get_payload(attribute), query->where, query->cgroups);
    const size_t size = words * sizeof(uint32_t);

    *attribute = (struct nlattr){(uint16_t)(sizeof *attribute + size), INET_DIAG_REQ_BYTECODE};
    request->nlmsg_len += size ? attribute->nla_len : 0;
    return size > 0;
}

/* Optional parts of a request, after its header. The kernel may refuse the last two. */
enum { WITH_PROTOCOL = 1, WITH_STORAGES = 2, WITH_PROGRAM = 4 };

static unsigned put_attributes(struct nlmsghdr *request, const struct query *query, unsigned wanted)
{
    const uint16_t protocol = query->table->protocol;
    unsigned put = 0;

    if (wanted & WITH_PROTOCOL && protocol > UINT8_MAX) {
        mnl_attr_put_u32(request, INET_DIAG_REQ_PROTOCOL, protocol);
        put |= WITH_PROTOCOL;
    }
    if (wanted & WITH_STORAGES && query->needs & SOCKET_STORAGES) {
        struct nlattr *storages = mnl_attr_nest_start(request, INET_DIAG_REQ_SK_BPF_STORAGES);
        for (size_t i = 0; i < query->map_count && i < BPF_MAPS_MAX; i++)
            mnl_attr_put_u32(request, SK_DIAG_BPF_STORAGE_REQ_MAP_FD, (uint32_t)query->maps[i]);
        mnl_attr_nest_end(request, storages);
        put |= WITH_STORAGES;
    }
    /* the kernel's programs compare other ports of raw sockets than rows show */
    if (wanted & WITH_PROGRAM && protocol != IPPROTO_RAW && inet_put_program(request, query))
        put |= WITH_PROGRAM;
    return put;
}

static unsigned make_request(struct inet_request *request, const struct query *query,
                             unsigned wanted)
{
    mnl_nlmsg_put_header(request);
    put_header(&request->header, query);
    return put_attributes(&request->header, query, wanted);
}

void inet_diag_explain(const struct query *query, struct explanation *explanation)
{
    struct inet_request request;
    struct decoding decoding = {.object = explanation};
    struct inet_diag_req both;
    struct inet_diag_req_v2 one;
    struct attributes attributes;
    struct attribute attribute;
    const bool is_joint = query->table->family == AF_UNSPEC;

    make_request(&request, query, WITH_PROTOCOL | WITH_STORAGES | WITH_PROGRAM);
    memcpy(is_joint ? (void *)&both : &one, request.rest, is_joint ? sizeof both : sizeof one);
    sock_diag_explain_states(is_joint ? both.idiag_states : one.idiag_states, explanation);
    if (!message_header(&request.header, is_joint ? sizeof both : sizeof one, &attributes))
        return;
    while (attributes_next(&decoding, &attributes, &attribute))
        if (attribute.type == INET_DIAG_REQ_BYTECODE)
            bytecode_explain(attribute.content, explanation);
}

/* Requests as many attributes as the kernel does not refuse. */
int inet_diag_dump(const struct query *query, record_fn fn, void *arg)
{
    static const unsigned tries[] = {WITH_PROTOCOL | WITH_STORAGES | WITH_PROGRAM,
                                     WITH_PROTOCOL | WITH_STORAGES, WITH_PROTOCOL};
    struct inet_reading reading = {.query = query, .fn = fn, .arg = arg};
    unsigned put = 0;
    int result = -EINVAL;

    for (size_t i = 0;
         i < COUNT(tries) && (result == -EINVAL || result == -EPERM) && !reading.begun; i++) {
        struct inet_request request;
        const unsigned last = put;
        put = make_request(&request, query, tries[i]);
        if (i == 0 || put != last)
            result = netlink_dump(query->netlink, NETLINK_SOCK_DIAG, &request.header,
                                  inet_take_socket, &reading, query->report);
    }
    half_open_finish(&reading.half_open);
    return result;
}

/* --- Exact requests --------------------------------------------------------------------------- */

struct exact_request {
    struct nlmsghdr header;
    struct inet_diag_req_v2 body;
};

/* UDP's ends "are swapped for historical reasons" (udp_dump_one() of net/ipv4/udp_diag.c). */
static struct exact_request request_for(const struct query *query, const struct socket_id *id)
{
    const bool swapped = query->table->protocol == IPPROTO_UDP;
    struct exact_request one = {
        .header = {.nlmsg_len = sizeof one,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST},
        .body = {.sdiag_family = id->family,
                 .sdiag_protocol = (uint8_t)query->table->protocol,
                 .idiag_ext = extensions(query),
                 .idiag_states = UINT32_MAX,
                 .id = {.idiag_sport = htons(swapped ? id->remote_port : id->local_port),
                        .idiag_dport = htons(swapped ? id->local_port : id->remote_port),
                        .idiag_if = id->interface,
                        .idiag_cookie = {(uint32_t)id->cookie, (uint32_t)(id->cookie >> 32)}}}};

    memcpy(one.body.id.idiag_src, swapped ? id->remote : id->local, sizeof id->local);
    memcpy(one.body.id.idiag_dst, swapped ? id->local : id->remote, sizeof id->remote);
    return one;
}

int inet_diag_ask(const struct query *query, const struct socket_id ids[], size_t count,
                  record_fn fn, void *arg)
{
    struct inet_reading reading = {.query = query, .fn = fn, .arg = arg};
    struct exact_request requests[SOCKETS_AT_ONCE];

    for (size_t i = 0; i < count; i++)
        requests[i] = request_for(query, &ids[i]);
    return netlink_ask(query->netlink, NETLINK_SOCK_DIAG, requests, count * sizeof *requests,
                       inet_take_socket, &reading, query->report);
}

const char *inet_diag_remedy(const struct table *table)
{
    return inet_protocol_of(table)->missing;
}
