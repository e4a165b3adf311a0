/* SPDX-License-Identifier: MIT */
/* What inet_diag says of one socket besides its ends, in messages made by hand. */
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/socket/decode.h"
#include "fastnet/array.h"
#include "fastnet/kernel_info.h"
#include "fastnet/predicate.h"
#include "kit.h"

#define ALWAYS                                                                                     \
    (SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_UID | SOCKET_INODE | SOCKET_TIMER |  \
     SOCKET_INTERFACE | SOCKET_COOKIE | SOCKET_TIMER_COUNT)

static void begin(struct wire *wire, uint8_t state)
{
    struct inet_diag_msg diag = tcp_message(80, 7);

    diag.idiag_state = state;
    wire->length = 0;
    wire_message(wire, SOCK_DIAG_BY_FAMILY, 0, 1);
    wire_put(wire, &diag, sizeof diag);
}

/* A record, and the message that it borrows from. */
struct decoded {
    struct record record;
    struct nlmsghdr *message;
    int result;
};

static struct decoded decode(struct wire *wire, const struct table *table)
{
    struct decoded decoded = {.message = wire_exact(wire)};

    memset(&decoded.record, 0xa5, sizeof decoded.record);
    decoded.result = sock_diag_decode_inet(decoded.message, table, UINT64_MAX, &decoded.record);
    return decoded;
}

static void finish(struct decoded *decoded)
{
    free(decoded->message);
}

static void put_u8(struct wire *wire, uint16_t type, uint8_t number)
{
    wire_attribute(wire, type, &number, sizeof number);
}

/* --- Attributes ------------------------------------------------------------------------------- */

static void numbers_are_taken_as_they_are(void **state)
{
    const uint64_t cgroup = 0x123456789a;
    struct decoded decoded;
    struct wire wire;

    (void)state;
    begin(&wire, TCP_LISTEN);
    put_u8(&wire, INET_DIAG_TOS, 0xb8);
    put_u8(&wire, INET_DIAG_TCLASS, 0x20);
    put_u8(&wire, INET_DIAG_SHUTDOWN, 3);
    put_u8(&wire, INET_DIAG_SKV6ONLY, 1);
    wire_u32(&wire, INET_DIAG_MARK, 0xfedcba98);
    wire_u32(&wire, INET_DIAG_CLASS_ID, 0x10001);
    wire_attribute(&wire, INET_DIAG_CGROUP_ID, &cgroup, sizeof cgroup);
    decoded = decode(&wire, &table_tcp);
    const struct socket_record *sock = &decoded.record.socket;
    assert_int_equal(decoded.result, 0);
    assert_int_equal(decoded.record.has, ALWAYS | SOCKET_BACKLOG | SOCKET_TOS | SOCKET_TCLASS |
                                             SOCKET_SHUTDOWN | SOCKET_V6ONLY | SOCKET_MARK |
                                             SOCKET_CLASS_ID | SOCKET_CGROUP);
    assert_int_equal(sock->tos, 0xb8);
    assert_int_equal(sock->tclass, 0x20);
    assert_int_equal(sock->shutdown, 3);
    assert_int_equal(sock->v6only, 1);
    assert_int_equal(sock->mark, 0xfedcba98);
    assert_int_equal(sock->class_id, 0x10001);
    assert_true(sock->cgroup == cgroup);
    finish(&decoded);
}

static void attributes_that_nobody_needs_are_not_looked_at(void **state)
{
    struct record record;
    struct wire wire;

    (void)state;
    begin(&wire, TCP_ESTABLISHED);
    wire_u32(&wire, INET_DIAG_MARK, 7);
    assert_int_equal(sock_diag_decode_inet(wire_last(&wire), &table_tcp,
                                           SOCKET_STATE | SOCKET_BACKLOG | SOCKET_PATH, &record),
                     0);
    assert_int_equal(record.has, ALWAYS);
    assert_int_equal(sock_diag_decode_inet(wire_last(&wire), &table_tcp, SOCKET_MARK, &record), 0);
    assert_int_equal(record.has, ALWAYS | SOCKET_MARK);
}

static void options_are_bits_in_the_order_of_the_struct(void **state)
{
    const struct inet_diag_sockopt options = {
        .recverr = 1, .nodefrag = 1, .bind_address_no_port = 1, .defer_connect = 1};
    struct decoded decoded;
    struct wire wire;

    (void)state;
    begin(&wire, TCP_ESTABLISHED);
    wire_attribute(&wire, INET_DIAG_SOCKOPT, &options, sizeof options);
    decoded = decode(&wire, &table_tcp);
    assert_int_equal(decoded.record.has, ALWAYS | SOCKET_OPTIONS);
    assert_int_equal(decoded.record.socket.options, 1 << 0 | 1 << 7 | 1 << 8 | 1 << 10);
    finish(&decoded);
}

static void structs_and_lists_are_borrowed_whole(void **state)
{
    static const struct {
        uint16_t type;
        uint64_t bit;
        size_t offset;
    } borrowed[] = {
        {INET_DIAG_INFO, SOCKET_TCP_INFO, offsetof(struct record, socket.info)},
        {INET_DIAG_SKMEMINFO, SOCKET_MEMORY, offsetof(struct record, socket.memory)},
        {INET_DIAG_BBRINFO, SOCKET_CC_INFO, offsetof(struct record, socket.cc_info)},
        {INET_DIAG_MD5SIG, SOCKET_MD5, offsetof(struct record, socket.md5)},
        {INET_DIAG_ULP_INFO, SOCKET_ULP, offsetof(struct record, socket.ulp)},
        {INET_DIAG_SK_BPF_STORAGES, SOCKET_STORAGES, offsetof(struct record, socket.storages)},
    };
    static const size_t lengths[] = {0, 1, 36, 280, 1000};

    (void)state;
    for (size_t i = 0; i < COUNT(borrowed); i++)
        for (size_t j = 0; j < COUNT(lengths); j++) {
            char content[1000];
            struct text taken;
            struct wire wire;
            memset(content, (int)('a' + i), sizeof content);
            content[5] = '\0';
            begin(&wire, TCP_ESTABLISHED);
            wire_attribute(&wire, borrowed[i].type, content, lengths[j]);
            struct decoded decoded = decode(&wire, &table_tcp);
            assert_int_equal(decoded.result, 0);
            assert_true(decoded.record.has & borrowed[i].bit);
            memcpy(&taken, (const char *)&decoded.record + borrowed[i].offset, sizeof taken);
            assert_text(&taken, content, lengths[j]);
            finish(&decoded);
        }
}

static void the_algorithms_name_ends_at_its_nul(void **state)
{
    struct decoded decoded;
    struct wire wire;

    (void)state;
    begin(&wire, TCP_ESTABLISHED);
    wire_attribute(&wire, INET_DIAG_CONG, "cubic\0rest", 10);
    decoded = decode(&wire, &table_tcp);
    assert_true(decoded.record.has & SOCKET_CONGESTION);
    assert_text(&decoded.record.socket.congestion, "cubic", 5);
    finish(&decoded);
}

static void the_attribute_decides_whose_numbers_they_are(void **state)
{
    static const uint16_t types[] = {INET_DIAG_VEGASINFO, INET_DIAG_DCTCPINFO, INET_DIAG_BBRINFO};

    (void)state;
    for (size_t i = 0; i < COUNT(types); i++) {
        struct wire wire;
        begin(&wire, TCP_ESTABLISHED);
        wire_attribute(&wire, types[i], "0123456789abcdef", 16);
        struct decoded decoded = decode(&wire, &table_tcp);
        assert_int_equal(decoded.record.socket.cc_type, types[i]);
        assert_text(&decoded.record.socket.cc_info, "0123456789abcdef", 16);
        finish(&decoded);
    }
}

static void a_number_that_is_too_short_is_not_known(void **state)
{
    static const struct {
        uint16_t type, size;
    } numbers[] = {
        {INET_DIAG_TOS, 1},      {INET_DIAG_TCLASS, 1},    {INET_DIAG_SHUTDOWN, 1},
        {INET_DIAG_SKV6ONLY, 1}, {INET_DIAG_MARK, 4},      {INET_DIAG_CLASS_ID, 4},
        {INET_DIAG_SOCKOPT, 2},  {INET_DIAG_CGROUP_ID, 8},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(numbers); i++)
        for (size_t size = 0; size <= numbers[i].size; size++) {
            struct wire wire;
            begin(&wire, TCP_ESTABLISHED);
            wire_attribute(&wire, numbers[i].type, "\1\1\1\1\1\1\1\1", size);
            struct decoded decoded = decode(&wire, &table_tcp);
            assert_int_equal(decoded.result, 0);
            assert_int_equal(decoded.record.has != ALWAYS, size == numbers[i].size);
            finish(&decoded);
        }
}

static void an_attribute_longer_than_its_message_makes_it_malformed(void **state)
{
    (void)state;
    for (unsigned type = 1; type <= INET_DIAG_MAX; type++) {
        const struct nlattr attribute = {.nla_len = 100, .nla_type = (uint16_t)type};
        struct wire wire;
        begin(&wire, TCP_ESTABLISHED);
        wire_put(&wire, &attribute, sizeof attribute);
        wire_put(&wire, "0123456789", 10);
        struct decoded decoded = decode(&wire, &table_tcp);
        assert_int_equal(decoded.result, -EBADMSG);
        finish(&decoded);
    }
}

/* --- Protocols -------------------------------------------------------------------------------- */

static void the_protocol_decides_which_struct_the_info_is(void **state)
{
    static const struct {
        const struct table *table;
        uint64_t bits;
    } protocols[] = {
        {&table_tcp, SOCKET_TCP_INFO | SOCKET_TCP_BASICS | SOCKET_BYTES | SOCKET_RETRANSMITS},
        {&table_mptcp, SOCKET_MPTCP_INFO},
        {&table_sctp, SOCKET_SCTP_INFO},
        {&table_udp, SOCKET_RETRANSMITS},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(protocols); i++) {
        const char info[96] = "\1\2\3\4\5";
        struct wire wire;
        begin(&wire, TCP_ESTABLISHED);
        wire_attribute(&wire, INET_DIAG_INFO, info, sizeof info);
        struct decoded decoded = decode(&wire, protocols[i].table);
        assert_int_equal(decoded.record.has, ALWAYS | protocols[i].bits);
        assert_int_equal(decoded.record.socket.retransmits, i == 0 ? 3 : 0);
        finish(&decoded);
    }
}

/* The struct grew: bytes_received came with Linux 4.1, bytes_sent with 4.19. */
static void bytes_that_an_old_kernel_does_not_count_are_unknown(void **state)
{
    const struct kernel_tcp_info info = {.bytes_received = 5, .bytes_sent = 7};
    const size_t ends[] = {offsetof(struct kernel_tcp_info, bytes_retrans),
                           offsetof(struct kernel_tcp_info, bytes_sent),
                           offsetof(struct kernel_tcp_info, bytes_received)};

    (void)state;
    for (size_t i = 0; i <= COUNT(ends); i++) {
        struct wire wire;
        begin(&wire, i < COUNT(ends) ? TCP_ESTABLISHED : TCP_LISTEN);
        wire_attribute(&wire, INET_DIAG_INFO, &info, i < COUNT(ends) ? ends[i] : sizeof info);
        struct decoded decoded = decode(&wire, &table_tcp);
        assert_field("bytes_sent", &decoded.record, i == 0 ? "7" : "-");
        assert_field("bytes_received", &decoded.record, i < 2 ? "5" : "-");
        finish(&decoded);
    }
}

static void a_protocol_has_no_field_that_it_cannot_have(void **state)
{
    static const struct table *const tables[] = {&table_tcp, &table_udp,   &table_udplite,
                                                 &table_raw, &table_mptcp, &table_sctp};

    (void)state;
    for (size_t i = 0; i < COUNT(tables); i++) {
        struct wire wire;
        begin(&wire, TCP_LISTEN);
        for (unsigned type = 1; type <= INET_DIAG_MAX; type++)
            wire_attribute(&wire, (uint16_t)type, "0123456789abcdef", 16);
        struct decoded decoded = decode(&wire, tables[i]);
        assert_int_equal(decoded.record.has & ~backend_fields(&backend_sock_diag, tables[i]), 0);
        finish(&decoded);
    }
}

static void time_wait_has_no_user_and_no_inode(void **state)
{
    static const uint8_t states[] = {TCP_TIME_WAIT, TCP_FIN_WAIT2};

    (void)state;
    for (size_t i = 0; i < COUNT(states); i++) {
        struct inet_diag_msg diag = tcp_message(80, 7);
        struct wire wire = {.length = 0};
        diag.idiag_state = states[i];
        diag.idiag_timer = TIMER_TIME_WAIT;
        diag.idiag_uid = 0;
        diag.idiag_inode = 0;
        wire_message(&wire, SOCK_DIAG_BY_FAMILY, 0, 1);
        wire_put(&wire, &diag, sizeof diag);
        struct decoded decoded = decode(&wire, &table_tcp);
        assert_int_equal(decoded.record.has & (SOCKET_UID | SOCKET_INODE), 0);
        finish(&decoded);
    }
}

/* Associations have the cookie of their endpoint, and states of their own. */
static void associations_of_one_endpoint_are_rows_of_their_own(void **state)
{
    struct inet_diag_msg diag = tcp_message(80, 7);
    const struct sockaddr_storage peer = {.ss_family = AF_INET};
    struct wire wire;
    uint64_t identities[3];

    (void)state;
    for (size_t i = 0; i < COUNT(identities); i++) {
        diag.id.idiag_dport = htons((uint16_t)(1000 + i));
        wire.length = 0;
        wire_message(&wire, SOCK_DIAG_BY_FAMILY, 0, 1);
        wire_put(&wire, &diag, sizeof diag);
        wire_attribute(&wire, INET_DIAG_LOCALS, &peer, sizeof peer);
        if (i > 0)
            wire_attribute(&wire, INET_DIAG_PEERS, &peer, sizeof peer);
        struct decoded decoded = decode(&wire, &table_sctp);
        identities[i] = decoded.record.identity;
        assert_int_equal(!(decoded.record.has & SOCKET_COOKIE), i > 0);
        assert_int_equal(decoded.record.socket.peers.length, i > 0 ? sizeof peer : 0);
        assert_int_equal(decoded.record.socket.endpoint, i > 0 ? 7 : 0);
        finish(&decoded);
    }
    assert_true(identities[0] == 7);
    assert_true(identities[1] != 7 && identities[2] != 7 && identities[1] != identities[2]);
}

/* --- Requests --------------------------------------------------------------------------------- */

static int list(struct stage *stage, const struct table *table, uint64_t needs,
                const struct predicate *where)
{
    stage->query.needs = needs;
    stage->query.where = where;
    return stage_list(stage, &backend_sock_diag, table, stage_keep);
}

/* The peer's answer is only an error; returns what dump() returns. */
static int ask(struct stage *stage, const struct table *table, uint64_t needs,
               const struct predicate *where, int error)
{
    stage_anew(stage);
    stage->peer.replays = true;
    stage_send_done(stage, 1, error);
    return list(stage, table, needs, where);
}

static struct inet_diag_req_v2 header_of(const struct peer *peer, size_t request)
{
    struct inet_diag_req_v2 header;

    memcpy(&header, peer->requests[request] + sizeof(struct nlmsghdr), sizeof header);
    return header;
}

/* The attribute of a request, or NULL. */
static const struct nlattr *find_attribute(const struct peer *peer, size_t request, uint16_t type)
{
    const struct nlmsghdr *message = (const void *)peer->requests[request];
    size_t at = NLMSG_LENGTH(sizeof(struct inet_diag_req_v2));

    while (at < message->nlmsg_len) {
        const struct nlattr *attribute = (const void *)(peer->requests[request] + at);
        if ((attribute->nla_type & NLA_TYPE_MASK) == type)
            return attribute;
        at += (size_t)NLA_ALIGN(attribute->nla_len);
    }
    return NULL;
}

static void each_extension_is_asked_for_when_it_is_needed(void **state)
{
    struct stage *stage = *state;
    static const struct {
        const struct table *table;
        uint64_t needs;
        uint8_t attribute;
    } cases[] = {
        {&table_tcp, SOCKET_TCP_INFO, INET_DIAG_INFO},
        {&table_tcp, SOCKET_RETRANSMITS, INET_DIAG_INFO},
        {&table_tcp, SOCKET_MD5, INET_DIAG_INFO},
        {&table_tcp, SOCKET_ULP, INET_DIAG_INFO},
        {&table_tcp, SOCKET_CONGESTION, INET_DIAG_CONG},
        {&table_tcp, SOCKET_CC_INFO, INET_DIAG_VEGASINFO},
        {&table_tcp, SOCKET_TOS, INET_DIAG_TOS},
        {&table_tcp, SOCKET_TCLASS, INET_DIAG_TCLASS},
        {&table_tcp, SOCKET_CLASS_ID, INET_DIAG_TCLASS},
        {&table_tcp, SOCKET_MEMORY, INET_DIAG_SKMEMINFO},
        {&table_tcp, SOCKET_TCP_BASICS, INET_DIAG_INFO},
        {&table_udp, SOCKET_DROPS, INET_DIAG_SKMEMINFO},
        {&table_tcp, SOCKET_MPTCP_INFO, 0},
        {&table_tcp, SOCKET_MARK | SOCKET_CGROUP | SOCKET_SHUTDOWN | SOCKET_OPTIONS, 0},
        {&table_udp, SOCKET_MEMORY, INET_DIAG_SKMEMINFO},
        {&table_udp, SOCKET_TOS, INET_DIAG_TOS},
        {&table_udp, SOCKET_TCP_INFO | SOCKET_RETRANSMITS | SOCKET_CONGESTION, 0},
        {&table_sctp, SOCKET_SCTP_INFO, INET_DIAG_INFO},
        {&table_sctp, SOCKET_PEERS | SOCKET_LOCALS, 0},
        {&table_mptcp, 0, INET_DIAG_INFO}, /* always, see below */
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(ask(stage, cases[i].table, cases[i].needs, NULL, 0), 0);
        assert_int_equal(header_of(&stage->peer, 0).idiag_ext,
                         cases[i].attribute ? 1 << (cases[i].attribute - 1) : 0);
    }
}

static void mptcp_has_its_number_in_an_attribute(void **state)
{
    struct stage *stage = *state;
    const uint32_t number = 262;

    assert_int_equal(ask(stage, &table_mptcp6, 0, NULL, 0), 0);
    assert_int_equal(header_of(&stage->peer, 0).sdiag_protocol, IPPROTO_TCP);
    assert_int_equal(header_of(&stage->peer, 0).sdiag_family, AF_INET6);
    const struct nlattr *attribute = find_attribute(&stage->peer, 0, INET_DIAG_REQ_PROTOCOL);
    assert_true(attribute && attribute->nla_len == sizeof *attribute + sizeof number &&
                memcmp(attribute + 1, &number, sizeof number) == 0);
    assert_int_equal(ask(stage, &table_tcp, 0, NULL, 0), 0);
    assert_null(find_attribute(&stage->peer, 0, INET_DIAG_REQ_PROTOCOL));
}

static void an_answer_about_tcp_is_none_about_mptcp(void **state)
{
    struct stage *stage = *state;
    static const char info[232];

    begin(&stage->wire, TCP_ESTABLISHED);
    wire_attribute(&stage->wire, INET_DIAG_INFO, info, sizeof info);
    stage_send_done(stage, 1, 0);
    assert_int_equal(list(stage, &table_mptcp, 0, NULL), -ENOENT);
    assert_int_equal(stage->kept.count, 0);
}

/* Associations of SCTP have other states than those that the request could name. */
static void all_states_of_sctp_are_asked_for(void **state)
{
    struct stage *stage = *state;
    const struct field *of_state = field_named(&kind_socket, "state");
    const struct predicate where = predicate_one_of(of_state, 1u << TCP_ESTABLISHED);

    assert_int_equal(ask(stage, &table_sctp, 0, &where, 0), 0);
    assert_int_equal(header_of(&stage->peer, 0).idiag_states, UINT32_MAX);
    assert_int_equal(ask(stage, &table_tcp, 0, &where, 0), 0);
    assert_int_equal(header_of(&stage->peer, 0).idiag_states, 1u << TCP_ESTABLISHED);
}

static void a_refused_request_is_not_sent_again(void **state)
{
    struct stage *stage = *state;
    static const int refusals[] = {-EPERM, -EINVAL};
    const struct field *port = field_named(&kind_socket, "local_port");
    const struct predicate where = {.field = port,
                                    .operation = PREDICATE_EQUAL,
                                    .constant = {.type = VALUE_NUMBER, .number = 22}};

    for (size_t i = 0; i < COUNT(refusals); i++) {
        assert_int_equal(ask(stage, &table_tcp, SOCKET_STORAGES, &where, refusals[i]), refusals[i]);
        assert_int_equal(stage->peer.request_count, 3);
        assert_non_null(find_attribute(&stage->peer, 0, INET_DIAG_REQ_BYTECODE));
        assert_non_null(find_attribute(&stage->peer, 0, INET_DIAG_REQ_SK_BPF_STORAGES));
        assert_null(find_attribute(&stage->peer, 1, INET_DIAG_REQ_BYTECODE));
        assert_non_null(find_attribute(&stage->peer, 1, INET_DIAG_REQ_SK_BPF_STORAGES));
        assert_null(find_attribute(&stage->peer, 2, INET_DIAG_REQ_SK_BPF_STORAGES));
        assert_int_equal(ask(stage, &table_tcp, 0, NULL, refusals[i]), refusals[i]);
        assert_int_equal(stage->peer.request_count, 1);
    }
}

static void a_refusal_after_rows_is_no_reason_to_ask_again(void **state)
{
    struct stage *stage = *state;
    const struct predicate where = {.field = field_named(&kind_socket, "local_port"),
                                    .operation = PREDICATE_EQUAL,
                                    .constant = {.type = VALUE_NUMBER, .number = 22}};

    stage->peer.replays = true;
    wire_tcp(&stage->wire, NLM_F_MULTI, 1, 22, 0);
    stage_send_done(stage, 1, -EINVAL);
    assert_int_equal(list(stage, &table_tcp, 0, &where), -EINVAL);
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->peer.request_count, 1);
}

static void a_missing_module_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(backend_sock_diag.remedy(&table_sctp, -ENOENT),
                        "the kernel lacks the module sctp_diag");
    assert_string_equal(backend_sock_diag.remedy(&table_mptcp6, -ENOENT),
                        "the kernel lacks the module mptcp_diag");
    assert_string_equal(backend_sock_diag.remedy(&table_tcp, -ENOENT),
                        "the kernel lacks the module tcp_diag");
    assert_null(backend_sock_diag.remedy(&table_sctp, -EPERM));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_taken_as_they_are),
        cmocka_unit_test(attributes_that_nobody_needs_are_not_looked_at),
        cmocka_unit_test(options_are_bits_in_the_order_of_the_struct),
        cmocka_unit_test(structs_and_lists_are_borrowed_whole),
        cmocka_unit_test(the_algorithms_name_ends_at_its_nul),
        cmocka_unit_test(the_attribute_decides_whose_numbers_they_are),
        cmocka_unit_test(a_number_that_is_too_short_is_not_known),
        cmocka_unit_test(an_attribute_longer_than_its_message_makes_it_malformed),
        cmocka_unit_test(the_protocol_decides_which_struct_the_info_is),
        cmocka_unit_test(bytes_that_an_old_kernel_does_not_count_are_unknown),
        cmocka_unit_test(a_protocol_has_no_field_that_it_cannot_have),
        cmocka_unit_test(time_wait_has_no_user_and_no_inode),
        cmocka_unit_test(associations_of_one_endpoint_are_rows_of_their_own),
        ON_STAGE(each_extension_is_asked_for_when_it_is_needed),
        ON_STAGE(mptcp_has_its_number_in_an_attribute),
        ON_STAGE(an_answer_about_tcp_is_none_about_mptcp),
        ON_STAGE(all_states_of_sctp_are_asked_for),
        ON_STAGE(a_refused_request_is_not_sent_again),
        ON_STAGE(a_refusal_after_rows_is_no_reason_to_ask_again),
        cmocka_unit_test(a_missing_module_has_a_name),
    };

    return cmocka_run_group_tests_name("inet_diag", tests, NULL, NULL);
}
