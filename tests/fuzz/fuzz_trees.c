/* SPDX-License-Identifier: MIT */
/*
 * Which rows are wanted: a row and a tree of comparisons of its fields are made from the input (see
 * made_tree.h). What becomes of the tree must be what becomes of it in the plainest way; less that
 * is known, or less that is asked for, must not make a row that is wanted impossible; and what the
 * kernel is asked to leave out must never be such a row. The input: the kind of the row, a number
 * for its table, the row, the tree, what is known of the row; what is missing is 0.
 */
#include <linux/inet_diag.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "ct_request.h"
#include "fastnet/array.h"
#include "fastnet/netlink.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fuzz.h"
#include "kernel_bytecode.h"
#include "made_flow.h"
#include "made_records.h"
#include "made_tree.h"

/* --- Trees ------------------------------------------------------------------------------------ */

static const struct context no_names;

/* What is true of the row may be true of one of which less is known. */
static void check_less(const struct predicate *tree, const struct record *record,
                       struct bytes *bytes)
{
    const uint64_t known = bytes_u32(bytes) | (uint64_t)bytes_u32(bytes) << 32;
    struct record less = *record;

    less.has = (record->has & known) | (bytes_u32(bytes) & ~known);
    if (made_outcome(tree, record, &no_names) == TRUE)
        require(predicate_may_hold(tree, &less, known));
    /* where all is known but names, it says no more than what is */
    if (!predicate_needs(tree).lookups)
        require(predicate_may_hold(tree, record, UINT64_MAX) ==
                predicate_holds(tree, record, NULL));
}

/* What is required is true of every row that is wanted; and what is not needed does not matter. */
static void check_requirements(const struct predicate *tree, const struct record *record)
{
    const struct needs needs = predicate_needs(tree);
    const struct kind *kind = record->kind;
    const bool wanted = predicate_holds(tree, record, &no_names);
    struct record bare = *record;

    for (size_t i = 0; i < kind->field_count && wanted; i++)
        for (enum predicate_operator operation = PREDICATE_KNOWN; operation <= PREDICATE_LIKE;
             operation++) {
            const struct predicate *required =
                predicate_requires(tree, kind->fields[i].offset, operation);
            require(!required || (required->operation == operation &&
                                  predicate_holds(required, record, &no_names)));
        }
    bare.has &= needs.fields;
    if (!needs.lookups)
        require(predicate_holds(tree, &bare, &no_names) == wanted);
}

static void check_tree(const struct predicate *tree, const struct record *record,
                       struct bytes *bytes)
{
    const enum outcome outcome = made_outcome(tree, record, &no_names);
    struct predicate whole = *tree;
    const struct predicate not = {.operation = PREDICATE_NOT, .parts = &whole};

    require(predicate_holds(tree, record, &no_names) == (outcome == TRUE));
    require(predicate_holds(&not, record, &no_names) == (outcome == FALSE));
    check_less(tree, record, bytes);
    check_requirements(tree, record);
}

/* --- What the kernel is asked ----------------------------------------------------------------- */

/* A kernel with one row, that says that it filtered. */
struct dumped {
    const struct record *record;
    bool listed;
    struct nlmsghdr request;
};

static bool is_dumped_flow(const struct flow_record *flow, const void *message, size_t size)
{
    struct ct_request request;

    ct_request_parse(&request, message, size);
    return ct_request_lists(&request, flow);
}

/* neigh_dump_filtered(), pneigh_dump_table(); family 0 asks for all. */
static bool is_dumped_neighbour(const struct neighbour_record *neighbour, bool has_master,
                                const struct nlmsghdr *message)
{
    const struct ndmsg *header = (const void *)(message + 1);
    const char *at = (const char *)(header + 1), *end = (const char *)message + message->nlmsg_len;
    bool dumped = header->ndm_flags == (neighbour->flags & NTF_PROXY) &&
                  (!header->ndm_family || header->ndm_family == neighbour->address.family);

    for (; at < end; at += sizeof(struct nlattr) + sizeof(uint32_t)) {
        const struct nlattr *attribute = (const void *)at;
        uint32_t index;
        require(attribute->nla_len == sizeof *attribute + sizeof index);
        memcpy(&index, attribute + 1, sizeof index);
        require(index && (attribute->nla_type == NDA_IFINDEX || attribute->nla_type == NDA_MASTER));
        if (attribute->nla_type == NDA_IFINDEX)
            dumped = dumped && index == neighbour->interface;
        else
            dumped = dumped && has_master && index == neighbour->master;
    }
    return dumped;
}

/* What the program behind a request of that size passes; without one all sockets. */
static bool is_passed(const struct socket_record *socket, const struct nlmsghdr *message,
                      size_t size)
{
    const struct nlattr *attribute = (const void *)((const char *)(message + 1) + size);
    struct kernel_program program;

    if (message->nlmsg_len == sizeof *message + size)
        return true;
    program = (struct kernel_program){(const char *)(attribute + 1),
                                      attribute->nla_len - (int)sizeof *attribute};
    require(attribute->nla_type == INET_DIAG_REQ_BYTECODE && kernel_takes(program));
    require(message->nlmsg_len == sizeof *message + size + attribute->nla_len);
    return kernel_passes(program, socket);
}

/* inet_diag_dump_icsk() and its kin, unix_diag_dump(). */
static bool is_dumped_socket(const struct socket_record *socket, const struct nlmsghdr *message)
{
    const void *request = message + 1;
    const size_t size = message->nlmsg_type == TCPDIAG_GETSOCK ? sizeof(struct inet_diag_req)
                        : *(const uint8_t *)request == AF_UNIX ? sizeof(struct unix_diag_req)
                                                               : sizeof(struct inet_diag_req_v2);
    const uint32_t states = message->nlmsg_type == TCPDIAG_GETSOCK
                                ? ((const struct inet_diag_req *)request)->idiag_states
                            : *(const uint8_t *)request == AF_UNIX
                                ? ((const struct unix_diag_req *)request)->udiag_states
                                : ((const struct inet_diag_req_v2 *)request)->idiag_states;

    return (states >> socket->state & 1) && is_passed(socket, message, size);
}

static int take_dump(void *arg, const void *message, size_t size)
{
    struct dumped *dumped = arg;
    const struct record *record = dumped->record;

    memcpy(&dumped->request, message, sizeof dumped->request);
    require(dumped->request.nlmsg_len == size);
    if (record->kind == &kind_flow)
        dumped->listed |= is_dumped_flow(&record->flow, message, size);
    else if (record->kind == &kind_neighbour)
        dumped->listed |=
            is_dumped_neighbour(&record->neighbour, record->has & NEIGHBOUR_MASTER, message);
    else
        dumped->listed |= is_dumped_socket(&record->socket, message);
    return 0;
}

static ssize_t give_end(void *arg, void *buffer, size_t size, uint32_t *port)
{
    const struct dumped *dumped = arg;
    struct nlmsghdr header = dumped->request;

    header.nlmsg_len = sizeof header + sizeof(int); /* the error: none */
    header.nlmsg_type = NLMSG_DONE;
    header.nlmsg_flags = NLM_F_MULTI;
    require(size >= header.nlmsg_len);
    memset(buffer, 0, header.nlmsg_len);
    memcpy(buffer, &header, sizeof header);
    *port = 0;
    return (ssize_t)header.nlmsg_len;
}

static int take_row(const struct record *record, void *arg)
{
    (void)record;
    (void)arg;
    require(0); /* none is sent */
    return 0;
}

static void ask_dump(const struct backend *backend, const struct table *table,
                     const struct predicate *where, const struct record *record)
{
    struct dumped dumped = {.record = record};
    const struct netlink_peer peer = {take_dump, give_end, &dumped};
    struct report report = {.partial = false};
    struct query query = {.table = table,
                          .needs = ~SOCKET_STORAGES, /* which stand before the program */
                          .proc_root = "/nonexistent",
                          .netlink = netlink_create(&peer),
                          .report = &report,
                          .where = where};

    require(query.netlink != NULL);
    require(backend->dump(&query, take_row, NULL) == 0);
    require(dumped.listed || !predicate_holds(where, record, &no_names));
    netlink_destroy(query.netlink);
}

/* As the kernel has them: an entry has a state and an interface, a proxy has no state. */
static const struct table *settle_neighbour(struct record *record)
{
    struct neighbour_record *neighbour = &record->neighbour;
    const bool proxy = neighbour->flags & NTF_PROXY;

    neighbour->interface &= INT32_MAX;
    neighbour->interface |= !proxy;
    neighbour->interface_name[0] = '\0';
    record->has &= ~(NEIGHBOUR_STATE | NEIGHBOUR_INTERFACE);
    record->has |= NEIGHBOUR_FLAGS | NEIGHBOUR_TYPE | (proxy ? 0 : NEIGHBOUR_STATE) |
                   (neighbour->interface ? NEIGHBOUR_INTERFACE : 0);
    return neighbour->address.family == AF_INET ? &table_neighbours4 : &table_neighbours6;
}

/* Each is in the table of its family and protocol, and in one of eleven states. */
static const struct table *settle_socket(struct record *record, uint8_t number)
{
    static const struct table *const tables[] = {&table_tcp, &table_udp, &table_raw,
                                                 &table_udplite};
    static const struct table *const tables6[] = {&table_tcp6, &table_udp6, &table_raw6,
                                                  &table_udplite6};
    struct socket_record *socket = &record->socket;
    const struct table *table = socket->family == AF_INET ? tables[number % COUNT(tables)]
                                                          : tables6[number % COUNT(tables6)];

    table = socket->family == AF_UNIX ? &table_unix : table;
    socket->protocol = table->protocol;
    socket->state = (uint8_t)(1 + socket->state % TCP_CLOSING);
    record->has |= SOCKET_STATE;
    return table->joint && number & 0x80 ? table->joint : table;
}

enum { MAPPED = 0x40 }; /* bit of the number: addresses of IPv6 are IPv4-mapped */

static void map_addresses(struct record *record, uint8_t number)
{
    static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};
    const struct kind *kind = record->kind;

    for (size_t i = 0; i < kind->field_count && number & MAPPED; i++) {
        struct address *address = (void *)((char *)record + kind->fields[i].offset);
        if (kind->fields[i].member == MEMBER_ADDRESS && address->family == AF_INET6)
            memcpy(address->bytes, prefix, sizeof prefix);
    }
}

static void take_flow(uint8_t number, struct bytes *bytes)
{
    static const struct table *const tables[] = {&table_flows, &table_flows_dying};
    const struct flow_filter none = {.fields = 0};
    struct record record = made_flow(bytes, &none);
    struct made_tree tree;
    const struct predicate *where;

    map_addresses(&record, number);
    where = made_tree(&tree, &record, bytes);
    check_tree(where, &record, bytes);
    ask_dump(&backend_ctnetlink, tables[number % COUNT(tables)], where, &record);
}

static void take_any(uint8_t kind, uint8_t number, struct bytes *bytes)
{
    struct made_record made;
    struct record *record = &made.record;
    const struct table *table = NULL;
    struct made_tree tree;
    const struct predicate *where;

    made_record_init(&made, kind, bytes);
    map_addresses(record, number);
    if (record->kind == &kind_neighbour)
        table = settle_neighbour(record);
    else if (record->kind == &kind_socket)
        table = settle_socket(record, number);
    where = made_tree(&tree, record, bytes);
    check_tree(where, record, bytes);
    if (record->kind == &kind_neighbour)
        ask_dump(&backend_neighbour, number & 1 ? &table_neighbours : table, where, record);
    else if (table)
        ask_dump(&backend_sock_diag, table, where, record);
    made_record_finish(&made);
}

/* Flows of any shape, or as the kernel may have them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    const uint8_t kind = bytes_u8(&bytes), number = bytes_u8(&bytes);

    if (kind == UINT8_MAX)
        take_flow(number, &bytes);
    else
        take_any(kind, number, &bytes);
    return 0;
}
