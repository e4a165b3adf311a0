/* SPDX-License-Identifier: MIT */
/* Neighbours out of rtnetlink messages: made by hand, recorded, cut and twisted. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/neighbour/decode.h"
#include "fastnet/kernel_abi.h"
#include "kit.h"
#include "predicates.h"

#define RECORDED "tests/fixtures/neighbours/netlink/"

enum { ENTRIES = 29 }; /* in the recorded dump */

static const uint64_t always =
    NEIGHBOUR_INTERFACE | NEIGHBOUR_STATE | NEIGHBOUR_FLAGS | NEIGHBOUR_TYPE;

/* --- Decoding one message --------------------------------------------------------------------- */

static const struct ndmsg ipv4_header = {
    .ndm_family = AF_INET, .ndm_ifindex = 3, .ndm_state = NUD_REACHABLE, .ndm_type = RTN_UNICAST};
static const struct ndmsg ipv6_header = {.ndm_family = AF_INET6,
                                         .ndm_ifindex = 3,
                                         .ndm_state = NUD_STALE,
                                         .ndm_flags = NTF_ROUTER,
                                         .ndm_type = RTN_UNICAST};

static void begin(struct wire *wire, const struct ndmsg *header, const char *address)
{
    wire->length = 0;
    wire_message(wire, RTM_NEWNEIGH, NLM_F_MULTI, 1);
    wire_put(wire, header, sizeof *header);
    if (address)
        wire_attribute(wire, NDA_DST, address, header->ndm_family == AF_INET ? 4 : 16);
}

static int decode(struct wire *wire, struct record *record)
{
    struct nlmsghdr *exact = wire_exact(wire);
    int result;

    memset(record, 0xa5, sizeof *record);
    result = neighbour_decode(exact, record);
    free(exact);
    return result;
}

static struct record decoded(struct wire *wire)
{
    struct record record;

    assert_int_equal(decode(wire, &record), 0);
    return record;
}

static void an_entry_has_all_that_its_message_says(void **state)
{
    const struct nda_cacheinfo info = {
        .ndm_confirmed = 1, .ndm_used = 250, .ndm_updated = UINT32_MAX, .ndm_refcnt = 4};
    const uint32_t probes = 5, flags = 1; /* managed */
    const uint8_t protocol = RTPROT_ZEBRA;
    struct wire wire;
    struct record record;

    (void)state;
    begin(&wire, &ipv6_header, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x07");
    wire_attribute(&wire, NDA_LLADDR, "\x02\0\x5e\x10\0\xff", 6);
    wire_attribute(&wire, NDA_PROBES, &probes, sizeof probes);
    wire_attribute(&wire, NDA_CACHEINFO, &info, sizeof info);
    wire_attribute(&wire, NDA_PROTOCOL, &protocol, sizeof protocol);
    wire_attribute(&wire, NDA_FLAGS_EXT, &flags, sizeof flags);
    record = decoded(&wire);
    assert_int_equal(record.kind, &kind_neighbour);
    assert_int_equal(record.has, always | NEIGHBOUR_LLADDR | NEIGHBOUR_PROBES |
                                     NEIGHBOUR_CACHEINFO | NEIGHBOUR_PROTOCOL);
    assert_ip(&record.neighbour.address, "2001:db8::7");
    assert_int_equal(record.neighbour.lladdr_length, 6);
    assert_memory_equal(record.neighbour.lladdr, "\x02\0\x5e\x10\0\xff", 6);
    assert_int_equal(record.neighbour.interface, 3);
    assert_string_equal(record.neighbour.interface_name, "");
    assert_int_equal(record.neighbour.state, NUD_STALE);
    assert_int_equal(record.neighbour.type, RTN_UNICAST);
    assert_int_equal(record.neighbour.flags, NTF_ROUTER | 1 << 8);
    assert_int_equal(record.neighbour.protocol, RTPROT_ZEBRA);
    assert_int_equal(record.neighbour.probes, 5);
    assert_int_equal(record.neighbour.references, 4);
    assert_int_equal(record.neighbour.used_ms, 2500);
    assert_int_equal(record.neighbour.confirmed_ms, 10);
    assert_true(record.neighbour.updated_ms == UINT64_C(42949672950));
}

static void an_ipv4_address_is_followed_by_zeros(void **state)
{
    struct wire wire;
    struct record record;

    (void)state;
    begin(&wire, &ipv4_header, "\xc0\0\2\1");
    record = decoded(&wire);
    assert_ip(&record.neighbour.address, "192.0.2.1");
    assert_int_equal(record.has, always);
}

static void link_layer_addresses_have_0_to_32_bytes(void **state)
{
    char bytes[40];

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)i;
    for (size_t length = 0; length < sizeof bytes; length++) {
        struct wire wire;
        begin(&wire, &ipv4_header, "\xc0\0\2\1");
        wire_attribute(&wire, NDA_LLADDR, bytes, length);
        struct record record = decoded(&wire);
        assert_int_equal(!!(record.has & NEIGHBOUR_LLADDR), length <= LLADDR_MAX);
        if (length > LLADDR_MAX)
            continue;
        assert_int_equal(record.neighbour.lladdr_length, length);
        assert_memory_equal(record.neighbour.lladdr, bytes, length);
    }
}

static void a_proxy_has_no_state_and_perhaps_no_interface(void **state)
{
    struct ndmsg header = {.ndm_family = AF_INET, .ndm_flags = NTF_PROXY, .ndm_type = RTN_UNICAST};
    struct wire wire;
    struct record record;

    (void)state;
    begin(&wire, &header, "\xc0\0\2\1");
    assert_int_equal(decoded(&wire).has, NEIGHBOUR_FLAGS | NEIGHBOUR_TYPE);
    header.ndm_ifindex = -1;
    begin(&wire, &header, "\xc0\0\2\1");
    assert_int_equal(decoded(&wire).has, NEIGHBOUR_FLAGS | NEIGHBOUR_TYPE);
    header.ndm_ifindex = 7;
    begin(&wire, &header, "\xc0\0\2\1");
    record = decoded(&wire);
    assert_int_equal(record.has, NEIGHBOUR_FLAGS | NEIGHBOUR_TYPE | NEIGHBOUR_INTERFACE);
    assert_int_equal(record.neighbour.interface, 7);
}

static void rare_attributes_are_taken(void **state)
{
    const uint32_t master = 9, vni = 4711;
    const int32_t netns = 2;
    const uint16_t vlan = 100, port = htons(4789);
    struct wire wire;
    struct record record;

    (void)state;
    begin(&wire, &ipv4_header, "\xc0\0\2\1");
    wire_attribute(&wire, NDA_MASTER, &master, sizeof master);
    wire_attribute(&wire, NDA_LINK_NETNSID, &netns, sizeof netns);
    wire_attribute(&wire, NDA_VLAN, &vlan, sizeof vlan);
    wire_attribute(&wire, NDA_VNI, &vni, sizeof vni);
    wire_attribute(&wire, NDA_PORT, &port, sizeof port);
    record = decoded(&wire);
    assert_int_equal(record.has, always | NEIGHBOUR_MASTER | NEIGHBOUR_NETNS | NEIGHBOUR_VLAN |
                                     NEIGHBOUR_VNI | NEIGHBOUR_PORT);
    assert_int_equal(record.neighbour.master, 9);
    assert_int_equal(record.neighbour.netns, 2);
    assert_int_equal(record.neighbour.vlan, 100);
    assert_int_equal(record.neighbour.vni, 4711);
    assert_int_equal(record.neighbour.port, 4789);
}

static void attributes_too_short_or_unknown_are_skipped(void **state)
{
    static const uint16_t types[] = {NDA_CACHEINFO,    NDA_PROBES, NDA_PROTOCOL, NDA_FLAGS_EXT,
                                     NDA_MASTER,       NDA_VLAN,   NDA_VNI,      NDA_PORT,
                                     NDA_LINK_NETNSID, 4711};
    static const char bytes[16];
    static const size_t sizes[] = {15, 3, 0, 3, 3, 1, 3, 1, 3, 16};

    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct wire wire;
        begin(&wire, &ipv4_header, "\xc0\0\2\1");
        wire_attribute(&wire, types[i], bytes, sizes[i]);
        assert_int_equal(decoded(&wire).has, always);
    }
}

static void a_message_without_an_address_is_malformed(void **state)
{
    struct wire wire;
    struct record record;

    (void)state;
    begin(&wire, &ipv4_header, NULL);
    assert_int_equal(decode(&wire, &record), -EBADMSG);
    for (size_t size = 0; size < 20; size++) {
        begin(&wire, &ipv6_header, NULL);
        wire_attribute(&wire, NDA_DST, "0123456789abcdefghij", size);
        assert_int_equal(decode(&wire, &record), size == 16 ? 0 : -EBADMSG);
        begin(&wire, &ipv4_header, NULL);
        wire_attribute(&wire, NDA_DST, "0123456789abcdefghij", size);
        assert_int_equal(decode(&wire, &record), size == 4 ? 0 : -EBADMSG);
    }
}

static void a_message_cut_anywhere_is_malformed(void **state)
{
    struct wire wire;
    struct record record;
    uint32_t whole;

    (void)state;
    begin(&wire, &ipv4_header, "\xc0\0\2\1");
    wire_attribute(&wire, NDA_LLADDR, "\x02\0\x5e\x10\0\xff\0\0", 8);
    whole = wire_last(&wire)->nlmsg_len;
    for (uint32_t length = sizeof(struct nlmsghdr); length < whole; length++) {
        wire_last(&wire)->nlmsg_len = length;
        if (length != whole - 12) /* where the second attribute begins it is whole again */
            assert_int_equal(decode(&wire, &record), -EBADMSG);
    }
}

static void other_families_are_none_of_ours(void **state)
{
    static const uint8_t families[] = {AF_UNSPEC, AF_BRIDGE, 12, 255};
    struct record record;

    (void)state;
    for (size_t i = 0; i < sizeof families; i++) {
        struct ndmsg header = ipv4_header;
        struct wire wire;
        header.ndm_family = families[i];
        begin(&wire, &header, "0123456789abcdef");
        assert_int_equal(decode(&wire, &record), -EAFNOSUPPORT);
    }
}

static uint64_t identity(const struct ndmsg *header, const char *address)
{
    struct wire wire;

    begin(&wire, header, address);
    return decoded(&wire).identity;
}

static void different_neighbours_have_different_identities(void **state)
{
    struct ndmsg other = ipv4_header, proxy = ipv4_header, later = ipv4_header;
    uint64_t first = identity(&ipv4_header, "\xc0\0\2\1");

    (void)state;
    other.ndm_ifindex = 4;
    proxy.ndm_flags = NTF_PROXY;
    later.ndm_state = NUD_FAILED;
    later.ndm_flags = NTF_ROUTER;
    assert_true(first == identity(&later, "\xc0\0\2\1"));
    assert_true(first != identity(&other, "\xc0\0\2\1"));
    assert_true(first != identity(&proxy, "\xc0\0\2\1"));
    assert_true(first != identity(&ipv4_header, "\xc0\0\2\2"));
    assert_true(identity(&ipv6_header, "0123456789abcdef") !=
                identity(&ipv6_header, "0123456789abcdeg"));
    assert_true(identity(&ipv6_header, "0123456789abcdef") !=
                identity(&ipv6_header, "1123456789abcdef"));
}

/* --- Whole dumps ------------------------------------------------------------------------------ */

static int list(struct stage *stage, const struct table *table, const struct predicate *where)
{
    stage->query.where = where;
    return stage_list(stage, &backend_neighbour, table, stage_keep);
}

static struct predicate of_flag(bool proxy)
{
    return predicate_masked(field_named(&kind_neighbour, "flags"), proxy ? NTF_PROXY : 0,
                            NTF_PROXY);
}

static struct predicate of_number(const char *field, uint64_t number)
{
    return predicate_number(field_named(&kind_neighbour, field), number);
}

static void list_entries(struct stage *stage)
{
    const struct predicate entries = of_flag(false);

    list(stage, &table_neighbours, &entries);
}

/* Returns how many bytes were recorded. */
static size_t list_recorded(struct stage *stage, const struct table *table, bool proxies,
                            size_t most)
{
    const struct predicate where = of_flag(proxies);
    size_t total;

    stage_anew(stage);
    total =
        peer_add_recorded(&stage->peer, proxies ? RECORDED "proxies" : RECORDED "neighbours", most);
    list(stage, table, &where);
    return total;
}

static size_t count_states(const struct kept *kept, uint16_t state)
{
    size_t count = 0;

    for (size_t i = 0; i < kept->count; i++)
        count += kept->records[i].neighbour.state == state;
    return count;
}

static void recorded_dumps_give_all_their_rows(void **state)
{
    static const uint16_t states[] = {NUD_NONE,   NUD_INCOMPLETE, NUD_REACHABLE,
                                      NUD_STALE,  NUD_DELAY,      NUD_PROBE,
                                      NUD_FAILED, NUD_NOARP,      NUD_PERMANENT};
    struct stage *stage = *state;

    list_recorded(stage, &table_neighbours, false, SIZE_MAX);
    assert_int_equal(stage->result, 0);
    assert_int_equal(stage->report.count, 0);
    assert_int_equal(stage->kept.count, ENTRIES);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        assert_int_not_equal(count_states(&stage->kept, states[i]), 0);
    list_recorded(stage, &table_neighbours, true, SIZE_MAX);
    assert_int_equal(stage->result, 0);
    assert_int_equal(stage->kept.count, 3);
    for (size_t i = 0; i < stage->kept.count; i++)
        assert_true(stage->kept.records[i].neighbour.flags & NTF_PROXY);
}

static void the_arp_table_has_the_rows_of_its_file(void **state)
{
    struct stage *stage = *state;

    for (int proxies = 0; proxies < 2; proxies++) {
        list_recorded(stage, &table_arp, proxies, SIZE_MAX);
        assert_int_equal(stage->result, 0);
        assert_int_not_equal(stage->kept.count, 0);
        for (size_t i = 0; i < stage->kept.count; i++)
            assert_int_equal(stage->kept.records[i].neighbour.address.family, AF_INET);
        if (!proxies) {
            assert_int_not_equal(count_states(&stage->kept, NUD_STALE), 0);
            assert_int_equal(count_states(&stage->kept, NUD_NOARP), 0);
            assert_int_equal(count_states(&stage->kept, NUD_NONE), 0);
        }
    }
}

/* Whatever the connection breaks off at, it is seen; and the rows before that are right. */
static void a_dump_cut_at_any_byte_is_never_a_success(void **state)
{
    struct stage *stage = *state;
    const size_t total = list_recorded(stage, &table_neighbours, false, SIZE_MAX);
    struct kept whole = stage->kept;

    stage->kept = (struct kept){.count = 0};
    for (size_t cut = 0; cut < total; cut++) {
        list_recorded(stage, &table_neighbours, false, cut);
        assert_true(stage->result < 0 || stage->report.partial);
        assert_true(stage->kept.count <= whole.count);
        for (size_t row = 0; row < stage->kept.count; row++) {
            assert_true(stage->kept.records[row].identity == whole.records[row].identity);
            assert_int_equal(stage->kept.records[row].has, whole.records[row].has);
        }
    }
    kept_finish(&whole);
}

/* A dump of one entry. */
static void answer_once(struct stage *stage, uint16_t flags)
{
    stage_anew(stage);
    begin(&stage->wire, &ipv4_header, "\xc0\0\2\1");
    wire_last(&stage->wire)->nlmsg_flags = flags | NLM_F_MULTI;
    wire_done(&stage->wire, flags | NLM_F_MULTI, 1, 0);
    stage_send(stage);
}

/* That, and one that ends at once. */
static void answer_twice(struct stage *stage, uint16_t flags)
{
    answer_once(stage, flags);
    stage_send_done(stage, 2, 0);
}

static struct ndmsg requested(const struct peer *peer, size_t i, struct nlmsghdr *header)
{
    struct ndmsg body;

    memcpy(header, peer->requests[i], sizeof *header);
    memcpy(&body, peer->requests[i] + sizeof *header, sizeof body);
    return body;
}

static void neighbours_are_asked_for_before_proxies(void **state)
{
    struct stage *stage = *state;
    struct nlmsghdr header;
    struct ndmsg body;

    answer_twice(stage, 0);
    list(stage, &table_arp, NULL);
    assert_int_equal(stage->result, 0);
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->peer.request_count, 2);
    body = requested(&stage->peer, 0, &header);
    assert_int_equal(header.nlmsg_type, RTM_GETNEIGH);
    assert_int_equal(header.nlmsg_len, sizeof header + sizeof body);
    assert_int_equal(body.ndm_family, AF_INET);
    assert_int_equal(body.ndm_flags, 0);
    body = requested(&stage->peer, 1, &header);
    assert_int_equal(body.ndm_flags, NTF_PROXY);
}

static void only_what_is_wanted_is_asked_for(void **state)
{
    struct stage *stage = *state;
    struct predicate parts[] = {of_flag(false), of_number("interface_index", 3),
                                of_number("master", 8)};
    const struct predicate where = WHOLE_OF(PREDICATE_AND, parts);
    struct nlmsghdr header;

    answer_twice(stage, NLM_F_DUMP_FILTERED);
    list(stage, &table_neighbours6, &where);
    assert_int_equal(stage->result, 0);
    assert_int_equal(stage->peer.request_count, 1);
    assert_int_equal(requested(&stage->peer, 0, &header).ndm_family, AF_INET6);
    assert_int_equal(header.nlmsg_len, sizeof header + sizeof(struct ndmsg) + 16);
    assert_memory_equal(stage->peer.requests[0] + sizeof header + sizeof(struct ndmsg),
                        (&(const uint16_t[]){8, NDA_IFINDEX}), 4);
    assert_int_equal(stage->kept.count, 0); /* an IPv4 entry is none of this table */
}

/* A kernel that does not know these attributes hands on everything. */
static void a_kernel_that_filters_nothing_is_noticed(void **state)
{
    struct stage *stage = *state;
    struct predicate parts[] = {of_flag(false), of_number("interface_index", 4)};
    struct predicate where = WHOLE_OF(PREDICATE_AND, parts);

    answer_twice(stage, 0);
    list(stage, &table_neighbours, &where);
    assert_int_equal(stage->result, 0);
    assert_int_equal(stage->kept.count, 0);
    answer_twice(stage, 0);
    parts[1] = of_number("master", 4);
    where = WHOLE_OF(PREDICATE_AND, parts);
    list(stage, &table_neighbours, &where);
    assert_int_equal(stage->result, -EOPNOTSUPP);
    assert_int_equal(stage->kept.count, 0);
}

/* How many requests are made, and the flags of the first. */
static size_t requests_for(struct stage *stage, const struct table *table,
                           const struct predicate *where, uint8_t *flags)
{
    struct nlmsghdr header;

    answer_twice(stage, 0);
    list(stage, table, where);
    *flags = requested(&stage->peer, 0, &header).ndm_flags;
    return stage->peer.request_count;
}

static void proxies_are_not_asked_for_by_those_who_want_a_state(void **state)
{
    struct stage *stage = *state;
    const struct predicate stale = predicate_text(field_named(&kind_neighbour, "state"), "STALE");
    struct predicate states[] = {stale, of_number("state", NUD_NOARP)};
    const struct predicate both = WHOLE_OF(PREDICATE_OR, states);
    struct predicate mixed[] = {stale, of_number("interface_index", 3)};
    const struct predicate either = WHOLE_OF(PREDICATE_OR, mixed);
    uint8_t flags;

    assert_int_equal(requests_for(stage, &table_neighbours, &stale, &flags), 1);
    assert_int_equal(flags, 0);
    assert_int_equal(requests_for(stage, &table_neighbours, &both, &flags), 1);
    assert_int_equal(flags, 0);
    assert_int_equal(requests_for(stage, &table_neighbours, &either, &flags), 2);
}

/* Nothing is known of them before they are there: not even their address. */
static void a_condition_on_the_address_asks_for_both(void **state)
{
    struct stage *stage = *state;
    const struct address one = ip("192.0.2.1"), none = ip("0.0.0.0");
    struct predicate conditions[] = {
        predicate_address(field_named(&kind_neighbour, "address"), &one),
        of_number("family", AF_INET),
        predicate_text(field_named(&kind_neighbour, "family"), "inet"),
        {.operation = PREDICATE_WITHIN,
         .field = field_named(&kind_neighbour, "address"),
         .constant = {.type = VALUE_ADDRESS, .address = none}},
        predicate_known(field_named(&kind_neighbour, "address")),
    };
    uint8_t flags;

    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        assert_int_equal(requests_for(stage, &table_arp, &conditions[i], &flags), 2);
}

static void the_flag_of_proxies_says_which_of_both_is_asked_for(void **state)
{
    struct stage *stage = *state;
    const struct predicate entries = of_flag(false), proxies = of_flag(true);
    const struct predicate number = of_number("flags", NTF_PROXY);
    struct predicate masked = proxies; /* the same with a number for a constant */
    const struct predicate router =
        predicate_masked(field_named(&kind_neighbour, "flags"), NTF_ROUTER, NTF_ROUTER);
    uint8_t flags;

    assert_int_equal(requests_for(stage, &table_arp, &entries, &flags), 1);
    assert_int_equal(flags, 0);
    assert_int_equal(requests_for(stage, &table_arp, &proxies, &flags), 1);
    assert_int_equal(flags, NTF_PROXY);
    masked.constant = (struct value){.type = VALUE_NUMBER, .number = NTF_PROXY};
    assert_int_equal(requests_for(stage, &table_arp, &masked, &flags), 1);
    assert_int_equal(flags, NTF_PROXY);
    assert_int_equal(requests_for(stage, &table_arp, &router, &flags), 2);
    assert_int_equal(requests_for(stage, &table_arp, &number, &flags), 2);
}

static void a_malformed_message_is_reported_and_the_rest_listed(void **state)
{
    struct stage *stage = *state;

    begin(&stage->wire, &ipv4_header, NULL);
    wire_message(&stage->wire, RTM_NEWNEIGH, NLM_F_MULTI, 1);
    wire_put(&stage->wire, &ipv4_header, sizeof ipv4_header);
    wire_attribute(&stage->wire, NDA_DST, "\xc0\0\2\1", 4);
    wire_message(&stage->wire, RTM_NEWLINK, NLM_F_MULTI, 1); /* of no matter */
    stage_send_done(stage, 1, 0);
    list_entries(stage);
    assert_int_equal(stage->result, 0);
    assert_int_equal(stage->kept.count, 1);
    assert_true(stage->report.partial);
    assert_true(report_says(&stage->report, "malformed"));
}

static void a_table_that_changes_meanwhile_is_read_again_or_reported(void **state)
{
    struct stage *stage = *state;

    answer_once(stage, NLM_F_DUMP_INTR);
    begin(&stage->wire, &ipv4_header, "\xc0\0\2\2"); /* the answer to the second try */
    wire_last(&stage->wire)->nlmsg_seq = 2;
    stage_send_done(stage, 2, 0);
    list_entries(stage);
    assert_int_equal(stage->result, 0);
    assert_false(stage->report.partial);
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->kept.records[0].neighbour.address.bytes[3], 2);

    answer_once(stage, NLM_F_DUMP_INTR);
    stage->peer.replays = true;
    list_entries(stage);
    assert_int_equal(stage->kept.count, 1);
    assert_true(stage->report.partial);
}

static void sockets_are_not_its_tables(void **state)
{
    (void)state;
    assert_int_equal(backend_fields(&backend_neighbour, &table_tcp), 0);
    assert_int_not_equal(backend_fields(&backend_neighbour, &table_arp), 0);
    assert_int_not_equal(backend_fields(&backend_neighbour, &table_neighbours6), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_has_all_that_its_message_says),
        cmocka_unit_test(an_ipv4_address_is_followed_by_zeros),
        cmocka_unit_test(link_layer_addresses_have_0_to_32_bytes),
        cmocka_unit_test(a_proxy_has_no_state_and_perhaps_no_interface),
        cmocka_unit_test(rare_attributes_are_taken),
        cmocka_unit_test(attributes_too_short_or_unknown_are_skipped),
        cmocka_unit_test(a_message_without_an_address_is_malformed),
        cmocka_unit_test(a_message_cut_anywhere_is_malformed),
        cmocka_unit_test(other_families_are_none_of_ours),
        cmocka_unit_test(different_neighbours_have_different_identities),
        ON_STAGE(recorded_dumps_give_all_their_rows),
        ON_STAGE(the_arp_table_has_the_rows_of_its_file),
        ON_STAGE(a_dump_cut_at_any_byte_is_never_a_success),
        ON_STAGE(neighbours_are_asked_for_before_proxies),
        ON_STAGE(only_what_is_wanted_is_asked_for),
        ON_STAGE(a_kernel_that_filters_nothing_is_noticed),
        ON_STAGE(proxies_are_not_asked_for_by_those_who_want_a_state),
        ON_STAGE(a_condition_on_the_address_asks_for_both),
        ON_STAGE(the_flag_of_proxies_says_which_of_both_is_asked_for),
        ON_STAGE(a_malformed_message_is_reported_and_the_rest_listed),
        ON_STAGE(a_table_that_changes_meanwhile_is_read_again_or_reported),
        cmocka_unit_test(sockets_are_not_its_tables),
    };

    return cmocka_run_group_tests_name("neighbour", tests, NULL, NULL);
}
