/* SPDX-License-Identifier: MIT */
/* Neighbours out of rtnetlink messages: made by hand, recorded, cut and twisted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "addresses.h"
#include "backend/neighbour/neighbour.h"
#include "fastnet/kernel_abi.h"
#include "peer.h"
#include "predicates.h"
#include "scene.h"

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

static void what_is_another_neighbour_has_another_identity(void **state)
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

struct listing {
    struct kept kept;
    struct report report;
    int result;
};

static struct listing list(struct peer *peer, const struct table *table,
                           const struct predicate *where)
{
    struct netlink *netlink = netlink_create(&peer->netlink);
    struct listing listing = {.result = 0};
    struct query query = {.table = table,
                          .proc_root = "/nonexistent",
                          .netlink = netlink,
                          .report = &listing.report,
                          .where = where};

    assert_non_null(netlink);
    listing.result = backend_neighbour.dump(&query, keep_record, &listing.kept);
    netlink_destroy(netlink);
    return listing;
}

static struct predicate of_flag(bool proxy)
{
    return predicate_masked(field_of(&kind_neighbour, "flags"), proxy ? NTF_PROXY : 0, NTF_PROXY);
}

static struct predicate of_number(const char *field, uint64_t number)
{
    return predicate_number(field_of(&kind_neighbour, field), number);
}

static struct listing list_entries(struct peer *peer)
{
    const struct predicate entries = of_flag(false);

    return list(peer, &table_neighbours, &entries);
}

static struct listing list_recorded(bool proxies, size_t most)
{
    const struct predicate where = of_flag(proxies);
    struct peer peer;
    struct listing listing;

    peer_init(&peer);
    peer_add_recorded(&peer, proxies ? RECORDED "proxies" : RECORDED "neighbours", most);
    listing = list(&peer, &table_neighbours, &where);
    peer_finish(&peer);
    return listing;
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
    struct listing listing = list_recorded(false, SIZE_MAX);

    (void)state;
    assert_int_equal(listing.result, 0);
    assert_int_equal(listing.report.count, 0);
    assert_int_equal(listing.kept.count, ENTRIES);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        assert_int_not_equal(count_states(&listing.kept, states[i]), 0);
    kept_finish(&listing.kept);
    listing = list_recorded(true, SIZE_MAX);
    assert_int_equal(listing.result, 0);
    assert_int_equal(listing.kept.count, 3);
    for (size_t i = 0; i < listing.kept.count; i++)
        assert_true(listing.kept.records[i].neighbour.flags & NTF_PROXY);
    kept_finish(&listing.kept);
}

static void the_arp_table_has_the_rows_of_its_file(void **state)
{
    struct peer peer;
    struct listing listing;

    (void)state;
    for (int proxies = 0; proxies < 2; proxies++) {
        const struct predicate where = of_flag(proxies);
        peer_init(&peer);
        peer_add_recorded(&peer, proxies ? RECORDED "proxies" : RECORDED "neighbours", SIZE_MAX);
        listing = list(&peer, &table_arp, &where);
        assert_int_equal(listing.result, 0);
        assert_int_not_equal(listing.kept.count, 0);
        for (size_t i = 0; i < listing.kept.count; i++)
            assert_int_equal(listing.kept.records[i].neighbour.address.family, AF_INET);
        if (!proxies) {
            assert_int_not_equal(count_states(&listing.kept, NUD_STALE), 0);
            assert_int_equal(count_states(&listing.kept, NUD_NOARP), 0);
            assert_int_equal(count_states(&listing.kept, NUD_NONE), 0);
        }
        kept_finish(&listing.kept);
        peer_finish(&peer);
    }
}

/* Whatever the connection breaks off at, it is seen; and the rows before that are right. */
static void a_dump_cut_at_any_byte_is_never_a_success(void **state)
{
    struct listing whole = list_recorded(false, SIZE_MAX);
    struct peer peer;
    size_t total;

    (void)state;
    peer_init(&peer);
    total = peer_add_recorded(&peer, RECORDED "neighbours", SIZE_MAX);
    peer_finish(&peer);
    for (size_t cut = 0; cut < total; cut++) {
        struct listing listing = list_recorded(false, cut);
        assert_true(listing.result < 0 || listing.report.partial);
        assert_true(listing.kept.count <= whole.kept.count);
        for (size_t row = 0; row < listing.kept.count; row++) {
            assert_true(listing.kept.records[row].identity == whole.kept.records[row].identity);
            assert_int_equal(listing.kept.records[row].has, whole.kept.records[row].has);
        }
        kept_finish(&listing.kept);
    }
    kept_finish(&whole.kept);
}

/* A dump of one entry. */
static void answer_once(struct peer *peer, uint16_t flags)
{
    struct wire wire;

    peer_init(peer);
    begin(&wire, &ipv4_header, "\xc0\0\2\1");
    wire_last(&wire)->nlmsg_flags = flags | NLM_F_MULTI;
    wire_done(&wire, flags | NLM_F_MULTI, 1, 0);
    peer_add_wire(peer, &wire);
}

/* That, and one that ends at once. */
static void answer_twice(struct peer *peer, uint16_t flags)
{
    struct wire wire = {.length = 0};

    answer_once(peer, flags);
    wire_done(&wire, NLM_F_MULTI, 2, 0);
    peer_add_wire(peer, &wire);
}

static struct ndmsg requested(const struct peer *peer, size_t i, struct nlmsghdr *header)
{
    struct ndmsg body;

    memcpy(header, peer->requests[i], sizeof *header);
    memcpy(&body, peer->requests[i] + sizeof *header, sizeof body);
    return body;
}

static void what_is_resolved_is_asked_for_before_what_is_answered_for(void **state)
{
    struct peer peer;
    struct listing listing;
    struct nlmsghdr header;
    struct ndmsg body;

    (void)state;
    answer_twice(&peer, 0);
    listing = list(&peer, &table_arp, NULL);
    assert_int_equal(listing.result, 0);
    assert_int_equal(listing.kept.count, 1);
    assert_int_equal(peer.request_count, 2);
    body = requested(&peer, 0, &header);
    assert_int_equal(header.nlmsg_type, RTM_GETNEIGH);
    assert_int_equal(header.nlmsg_len, sizeof header + sizeof body);
    assert_int_equal(body.ndm_family, AF_INET);
    assert_int_equal(body.ndm_flags, 0);
    body = requested(&peer, 1, &header);
    assert_int_equal(body.ndm_flags, NTF_PROXY);
    kept_finish(&listing.kept);
    peer_finish(&peer);
}

static void only_what_is_wanted_is_asked_for(void **state)
{
    struct predicate parts[] = {of_flag(false), of_number("interface_index", 3),
                                of_number("master", 8)};
    const struct predicate where = WHOLE_OF(PREDICATE_AND, parts);
    struct peer peer;
    struct listing listing;
    struct nlmsghdr header;

    (void)state;
    answer_twice(&peer, NLM_F_DUMP_FILTERED);
    listing = list(&peer, &table_neighbours6, &where);
    assert_int_equal(listing.result, 0);
    assert_int_equal(peer.request_count, 1);
    assert_int_equal(requested(&peer, 0, &header).ndm_family, AF_INET6);
    assert_int_equal(header.nlmsg_len, sizeof header + sizeof(struct ndmsg) + 16);
    assert_memory_equal(peer.requests[0] + sizeof header + sizeof(struct ndmsg),
                        (&(const uint16_t[]){8, NDA_IFINDEX}), 4);
    assert_int_equal(listing.kept.count, 0); /* an IPv4 entry is none of this table */
    kept_finish(&listing.kept);
    peer_finish(&peer);
}

/* A kernel that does not know these attributes hands on everything. */
static void a_kernel_that_filters_nothing_is_noticed(void **state)
{
    struct predicate parts[] = {of_flag(false), of_number("interface_index", 4)};
    struct predicate where = WHOLE_OF(PREDICATE_AND, parts);
    struct peer peer;
    struct listing listing;

    (void)state;
    answer_twice(&peer, 0);
    listing = list(&peer, &table_neighbours, &where);
    assert_int_equal(listing.result, 0);
    assert_int_equal(listing.kept.count, 0);
    peer_finish(&peer);
    answer_twice(&peer, 0);
    parts[1] = of_number("master", 4);
    where = WHOLE_OF(PREDICATE_AND, parts);
    listing = list(&peer, &table_neighbours, &where);
    assert_int_equal(listing.result, -EOPNOTSUPP);
    assert_int_equal(listing.kept.count, 0);
    peer_finish(&peer);
}

/* How many requests are made, and the flags of the first. */
static size_t requests_for(const struct table *table, const struct predicate *where, uint8_t *flags)
{
    struct peer peer;
    struct nlmsghdr header;
    struct listing listing;
    size_t count;

    answer_twice(&peer, 0);
    listing = list(&peer, table, where);
    count = peer.request_count;
    *flags = requested(&peer, 0, &header).ndm_flags;
    kept_finish(&listing.kept);
    peer_finish(&peer);
    return count;
}

static void proxies_are_not_asked_for_by_those_who_want_a_state(void **state)
{
    const struct predicate stale = predicate_text(field_of(&kind_neighbour, "state"), "STALE");
    struct predicate states[] = {stale, of_number("state", NUD_NOARP)};
    const struct predicate both = WHOLE_OF(PREDICATE_OR, states);
    struct predicate mixed[] = {stale, of_number("interface_index", 3)};
    const struct predicate either = WHOLE_OF(PREDICATE_OR, mixed);
    uint8_t flags;

    (void)state;
    assert_int_equal(requests_for(&table_neighbours, &stale, &flags), 1);
    assert_int_equal(flags, 0);
    assert_int_equal(requests_for(&table_neighbours, &both, &flags), 1);
    assert_int_equal(flags, 0);
    assert_int_equal(requests_for(&table_neighbours, &either, &flags), 2);
}

/* Nothing is known of them before they are there: not even their address. */
static void a_condition_on_the_address_asks_for_both(void **state)
{
    const struct address one = ip("192.0.2.1"), none = ip("0.0.0.0");
    struct predicate conditions[] = {
        predicate_address(field_of(&kind_neighbour, "address"), &one),
        of_number("family", AF_INET),
        predicate_text(field_of(&kind_neighbour, "family"), "inet"),
        {.operation = PREDICATE_WITHIN,
         .field = field_of(&kind_neighbour, "address"),
         .constant = {.type = VALUE_ADDRESS, .address = none}},
        predicate_known(field_of(&kind_neighbour, "address")),
    };
    uint8_t flags;

    (void)state;
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        assert_int_equal(requests_for(&table_arp, &conditions[i], &flags), 2);
}

static void the_flag_of_proxies_says_which_of_both_is_asked_for(void **state)
{
    const struct predicate entries = of_flag(false), proxies = of_flag(true);
    const struct predicate number = of_number("flags", NTF_PROXY);
    struct predicate masked = proxies; /* the same with a number for a constant */
    const struct predicate router =
        predicate_masked(field_of(&kind_neighbour, "flags"), NTF_ROUTER, NTF_ROUTER);
    uint8_t flags;

    (void)state;
    assert_int_equal(requests_for(&table_arp, &entries, &flags), 1);
    assert_int_equal(flags, 0);
    assert_int_equal(requests_for(&table_arp, &proxies, &flags), 1);
    assert_int_equal(flags, NTF_PROXY);
    masked.constant = (struct value){.type = VALUE_NUMBER, .number = NTF_PROXY};
    assert_int_equal(requests_for(&table_arp, &masked, &flags), 1);
    assert_int_equal(flags, NTF_PROXY);
    assert_int_equal(requests_for(&table_arp, &router, &flags), 2);
    assert_int_equal(requests_for(&table_arp, &number, &flags), 2);
}

static void a_malformed_message_is_told_and_the_rest_listed(void **state)
{
    struct wire wire = {.length = 0};
    struct peer peer;
    struct listing listing;

    (void)state;
    peer_init(&peer);
    begin(&wire, &ipv4_header, NULL);
    wire_message(&wire, RTM_NEWNEIGH, NLM_F_MULTI, 1);
    wire_put(&wire, &ipv4_header, sizeof ipv4_header);
    wire_attribute(&wire, NDA_DST, "\xc0\0\2\1", 4);
    wire_message(&wire, RTM_NEWLINK, NLM_F_MULTI, 1); /* of no matter */
    wire_done(&wire, NLM_F_MULTI, 1, 0);
    peer_add_wire(&peer, &wire);
    listing = list_entries(&peer);
    assert_int_equal(listing.result, 0);
    assert_int_equal(listing.kept.count, 1);
    assert_true(listing.report.partial);
    assert_true(report_says(&listing.report, "malformed"));
    kept_finish(&listing.kept);
    peer_finish(&peer);
}

static void a_table_that_changes_meanwhile_is_read_again_or_told(void **state)
{
    struct wire wire;
    struct peer peer;
    struct listing listing;

    (void)state;
    answer_once(&peer, NLM_F_DUMP_INTR);
    begin(&wire, &ipv4_header, "\xc0\0\2\2"); /* the answer to the second try */
    wire_last(&wire)->nlmsg_seq = 2;
    wire_done(&wire, NLM_F_MULTI, 2, 0);
    peer_add_wire(&peer, &wire);
    listing = list_entries(&peer);
    assert_int_equal(listing.result, 0);
    assert_false(listing.report.partial);
    assert_int_equal(listing.kept.count, 1);
    assert_int_equal(listing.kept.records[0].neighbour.address.bytes[3], 2);
    kept_finish(&listing.kept);
    peer_finish(&peer);

    answer_once(&peer, NLM_F_DUMP_INTR);
    peer.replays = true;
    listing = list_entries(&peer);
    assert_int_equal(listing.kept.count, 1);
    assert_true(listing.report.partial);
    kept_finish(&listing.kept);
    peer_finish(&peer);
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
        cmocka_unit_test(what_is_another_neighbour_has_another_identity),
        cmocka_unit_test(recorded_dumps_give_all_their_rows),
        cmocka_unit_test(the_arp_table_has_the_rows_of_its_file),
        cmocka_unit_test(a_dump_cut_at_any_byte_is_never_a_success),
        cmocka_unit_test(what_is_resolved_is_asked_for_before_what_is_answered_for),
        cmocka_unit_test(only_what_is_wanted_is_asked_for),
        cmocka_unit_test(a_kernel_that_filters_nothing_is_noticed),
        cmocka_unit_test(proxies_are_not_asked_for_by_those_who_want_a_state),
        cmocka_unit_test(a_condition_on_the_address_asks_for_both),
        cmocka_unit_test(the_flag_of_proxies_says_which_of_both_is_asked_for),
        cmocka_unit_test(a_malformed_message_is_told_and_the_rest_listed),
        cmocka_unit_test(a_table_that_changes_meanwhile_is_read_again_or_told),
        cmocka_unit_test(sockets_are_not_its_tables),
    };

    return cmocka_run_group_tests_name("neighbour", tests, NULL, NULL);
}
