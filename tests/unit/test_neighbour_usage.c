/* SPDX-License-Identifier: MIT */
/* How full the tables of neighbours are: out of rtnetlink messages, and out of files. */
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/neighbour/decode.h"
#include "backend/proc/lines.h"
#include "backend/proc/stat_file.h"
#include "fastnet/array.h"
#include "kit.h"

#define THRESHOLDS (NEIGHBOUR_THRESHOLD(0) | NEIGHBOUR_THRESHOLD(1) | NEIGHBOUR_THRESHOLD(2))
#define DISCARDS   NEIGHBOUR_COUNTER(NEIGHBOUR_UNRESOLVED_DISCARDS)
#define COUNTERS   (NEIGHBOUR_COUNTER(NEIGHBOUR_COUNTERS) - 1)

/* --- By netlink ------------------------------------------------------------------------------- */

static const struct ndt_stats stats = {.ndts_allocs = 1,
                                       .ndts_destroys = 2,
                                       .ndts_hash_grows = 3,
                                       .ndts_res_failed = 4,
                                       .ndts_lookups = UINT64_MAX,
                                       .ndts_hits = 6,
                                       .ndts_rcv_probes_mcast = 7,
                                       .ndts_rcv_probes_ucast = 8,
                                       .ndts_periodic_gc_runs = 9,
                                       .ndts_forced_gc_runs = 10,
                                       .ndts_table_fulls = 11};

static void begin(struct wire *wire, uint8_t family, const char *name)
{
    const struct ndtmsg header = {.ndtm_family = family};

    wire_message(wire, RTM_NEWNEIGHTBL, NLM_F_MULTI, 1);
    wire_put(wire, &header, sizeof header);
    wire_attribute(wire, NDTA_NAME, name, strlen(name) + 1);
}

static void put_table(struct wire *wire, uint8_t family, uint32_t entries)
{
    const struct ndt_config config = {.ndtc_entries = entries, .ndtc_hash_mask = 7};

    begin(wire, family, family == AF_INET ? "arp_cache" : "ndisc_cache");
    for (unsigned i = 0; i < NEIGHBOUR_THRESHOLDS; i++)
        wire_attribute(wire, (uint16_t)(NDTA_THRESH1 + i), &(uint32_t){128u << 2 * i}, 4);
    wire_attribute(wire, NDTA_CONFIG, &config, sizeof config);
}

/* What the kernel sends for each interface. */
static void put_interface(struct wire *wire, uint8_t family)
{
    begin(wire, family, "arp_cache");
    wire_attribute(wire, NDTA_PARMS, "", 0);
}

static int decode(struct wire *wire, struct record *record)
{
    struct nlmsghdr *exact = wire_exact(wire);
    int result;

    memset(record, 0xa5, sizeof *record);
    result = neighbour_usage_decode(exact, record);
    free(exact);
    return result;
}

static void a_table_has_all_that_its_message_says(void **state)
{
    struct wire wire = {.length = 0};
    struct record record;
    const struct neighbour_usage_record *usage = &record.neighbour_usage;

    (void)state;
    put_table(&wire, AF_INET6, 17);
    wire_attribute(&wire, NDTA_STATS, &stats, sizeof stats);
    assert_int_equal(decode(&wire, &record), 0);
    assert_ptr_equal(record.kind, &kind_neighbour_usage);
    assert_int_equal(record.has, NEIGHBOUR_ENTRIES | THRESHOLDS | (COUNTERS & ~DISCARDS));
    assert_int_equal(usage->family, AF_INET6);
    assert_int_equal(usage->entries, 17);
    assert_int_equal(usage->thresholds[0], 128);
    assert_int_equal(usage->thresholds[1], 512);
    assert_int_equal(usage->thresholds[2], 2048);
    assert_int_equal(usage->counters[NEIGHBOUR_ALLOCS], 1);
    assert_int_equal(usage->counters[NEIGHBOUR_DESTROYS], 2);
    assert_int_equal(usage->counters[NEIGHBOUR_HASH_GROWS], 3);
    assert_int_equal(usage->counters[NEIGHBOUR_RES_FAILED], 4);
    assert_true(usage->counters[NEIGHBOUR_LOOKUPS] == UINT64_MAX);
    assert_int_equal(usage->counters[NEIGHBOUR_HITS], 6);
    assert_int_equal(usage->counters[NEIGHBOUR_RCV_PROBES_MCAST], 7);
    assert_int_equal(usage->counters[NEIGHBOUR_RCV_PROBES_UCAST], 8);
    assert_int_equal(usage->counters[NEIGHBOUR_PERIODIC_GC_RUNS], 9);
    assert_int_equal(usage->counters[NEIGHBOUR_FORCED_GC_RUNS], 10);
    assert_int_equal(usage->counters[NEIGHBOUR_TABLE_FULLS], 11);
}

static void an_older_kernel_has_fewer_counters(void **state)
{
    struct wire wire = {.length = 0};
    struct record record;

    (void)state;
    put_table(&wire, AF_INET, 1);
    wire_attribute(&wire, NDTA_STATS, &stats, offsetof(struct ndt_stats, ndts_table_fulls) + 7);
    assert_int_equal(decode(&wire, &record), 0);
    assert_false(record.has & NEIGHBOUR_COUNTER(NEIGHBOUR_TABLE_FULLS));
    assert_int_equal(record.neighbour_usage.counters[NEIGHBOUR_TABLE_FULLS], 0);
    assert_true(record.has & NEIGHBOUR_COUNTER(NEIGHBOUR_FORCED_GC_RUNS));
}

static void a_message_without_a_table_is_not_a_row(void **state)
{
    struct wire wire = {.length = 0};
    struct record record;

    (void)state;
    put_interface(&wire, AF_INET);
    assert_int_equal(decode(&wire, &record), -ENODATA);
    begin(&wire, AF_INET, "arp_cache");
    wire_attribute(&wire, NDTA_CONFIG, "short", 5);
    assert_int_equal(decode(&wire, &record), -ENODATA);
    put_table(&wire, AF_BRIDGE, 3);
    assert_int_equal(decode(&wire, &record), -EAFNOSUPPORT);
    put_table(&wire, AF_INET, 3);
    wire_put(&wire, "\x02\x00\x01\x00", 4); /* an attribute that is shorter than its header */
    assert_int_equal(decode(&wire, &record), -EBADMSG);
    wire_message(&wire, RTM_NEWNEIGHTBL, NLM_F_MULTI, 1);
    assert_int_equal(decode(&wire, &record), -EBADMSG);
}

/* --- Listings --------------------------------------------------------------------------------- */

static int list_files(struct stage *stage)
{
    return stage_list(stage, &backend_proc_neighbour_usage, &table_neighbour_usage, stage_keep);
}

static const char counted[] =
    "entries  allocs   destroys hash_grows lookups  hits     res_failed rcv_probes_mcast "
    "rcv_probes_ucast periodic_gc_runs forced_gc_runs unresolved_discards table_fulls\n"
    "00000002 00000001 00000000 00000003   0000000a 00000005 00000000   00000000         00000000  "
    "       00000022         00000000       00000001            00000000\n"
    "00000002 00000010 00000000 00000000   100000000000000f 00000001 00000000   00000000         "
    "00000000         00000000         00000000       000000ff            00000007\n";

static void put_files(const struct stage *stage)
{
    tree_put_file(&stage->tree, "net/stat/arp_cache", counted);
    tree_put_file(&stage->tree, "sys/net/ipv4/neigh/default/gc_thresh1", "128\n");
    tree_put_file(&stage->tree, "sys/net/ipv4/neigh/default/gc_thresh2", "512\n");
    tree_put_file(&stage->tree, "sys/net/ipv4/neigh/default/gc_thresh3", "1024\n");
}

static void counters_are_added_up_and_entries_are_not(void **state)
{
    struct stage *stage = *state;
    const struct neighbour_usage_record *usage;

    put_files(stage);
    assert_int_equal(list_files(stage), 0);
    usage = &stage->kept.records[0].neighbour_usage;
    assert_int_equal(stage->kept.count, 1);
    assert_int_equal(stage->report.count, 0);
    assert_int_equal(stage->kept.records[0].has, NEIGHBOUR_ENTRIES | THRESHOLDS | COUNTERS);
    assert_int_equal(usage->family, AF_INET);
    assert_int_equal(usage->entries, 2);
    assert_int_equal(usage->thresholds[0], 128);
    assert_int_equal(usage->thresholds[2], 1024);
    assert_int_equal(usage->counters[NEIGHBOUR_ALLOCS], 0x11);
    assert_true(usage->counters[NEIGHBOUR_LOOKUPS] == UINT64_C(0x1000000000000019));
    assert_int_equal(usage->counters[NEIGHBOUR_UNRESOLVED_DISCARDS], 0x100);
    assert_int_equal(usage->counters[NEIGHBOUR_TABLE_FULLS], 7);
}

static void each_family_has_files_of_its_own(void **state)
{
    struct stage *stage = *state;

    put_files(stage);
    tree_put_file(&stage->tree, "net/stat/ndisc_cache", "entries what table_fulls\n5 6 7\n");
    tree_put_file(&stage->tree, "sys/net/ipv6/neigh/default/gc_thresh3", "99\n");
    assert_int_equal(list_files(stage), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_int_equal(stage->kept.records[1].neighbour_usage.family, AF_INET6);
    assert_int_equal(stage->kept.records[1].has, NEIGHBOUR_ENTRIES | NEIGHBOUR_THRESHOLD(2) |
                                                     NEIGHBOUR_COUNTER(NEIGHBOUR_TABLE_FULLS));
    assert_int_equal(stage->kept.records[1].neighbour_usage.thresholds[2], 99);
    assert_true(report_says(&stage->report, "sys/net/ipv6/neigh: No such file or directory"));
    assert_false(stage->report.partial);
}

static void without_any_file_there_is_no_table(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(list_files(stage), -ENOENT);
    tree_put_file(&stage->tree, "net/stat/arp_cache", "some heading\n1 2\n");
    assert_int_equal(list_files(stage), -EBADMSG);
    put_files(stage);
    stage->kept.answer = STOPPED;
    assert_int_equal(list_files(stage), STOPPED);
    assert_int_equal(stage->kept.count, 1);
}

static void a_file_that_was_cut_is_a_loss(void **state)
{
    struct stage *stage = *state;

    put_files(stage);
    tree_put_file(&stage->tree, "net/stat/arp_cache", "entries lookups\n1 2\n1 3");
    assert_int_equal(list_files(stage), 0);
    assert_int_equal(stage->kept.records[0].neighbour_usage.counters[NEIGHBOUR_LOOKUPS], 2);
    assert_true(stage->report.partial);
}

/* The kernel's answer: both tables, and what it says of interfaces. */
static int list_messages(struct stage *stage, bool exclusive, uint64_t needs)
{
    int result;

    stage->query.exclusive = exclusive;
    stage->query.needs = needs;
    stage->peer.replays = true;
    if (stage->peer.count == 0) {
        put_table(&stage->wire, AF_INET, 2);
        put_interface(&stage->wire, AF_INET);
        put_table(&stage->wire, AF_INET6, 4);
        put_interface(&stage->wire, AF_INET6);
        put_table(&stage->wire, AF_INET6, 5); /* where the kernel resumes */
        stage_send_done(stage, 1, 0);
    }
    stage->peer.request_count = 0;
    result = stage_list(stage, &backend_neighbour_usage, &table_neighbour_usage, stage_keep);
    assert_int_equal(stage->peer.request_count, 1);
    assert_int_equal(((const struct nlmsghdr *)stage->peer.requests[0])->nlmsg_type,
                     RTM_GETNEIGHTBL);
    return result;
}

static void netlink_has_a_row_for_each_table(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(list_messages(stage, false, UINT64_MAX), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_int_equal(stage->kept.records[0].neighbour_usage.family, AF_INET);
    assert_int_equal(stage->kept.records[1].neighbour_usage.entries, 4);
    assert_false(stage->kept.records[0].has & DISCARDS);
    assert_int_equal(stage->report.count, 0);
}

static void fields_that_netlink_lacks_come_from_the_file_if_needed(void **state)
{
    struct stage *stage = *state;

    put_files(stage);
    assert_int_equal(list_messages(stage, false, UINT64_MAX), 0);
    assert_true(stage->kept.records[0].has & DISCARDS);
    assert_int_equal(stage->kept.records[0].neighbour_usage.counters[NEIGHBOUR_UNRESOLVED_DISCARDS],
                     0x100);
    assert_false(stage->kept.records[0].has & NEIGHBOUR_COUNTER(NEIGHBOUR_ALLOCS));
    assert_false(stage->kept.records[1].has & DISCARDS);
    assert_int_equal(list_messages(stage, true, UINT64_MAX), 0);
    assert_false(stage->kept.records[0].has & DISCARDS);
    assert_int_equal(list_messages(stage, false, ~DISCARDS), 0);
    assert_false(stage->kept.records[0].has & DISCARDS);
}

/* --- Fields ----------------------------------------------------------------------------------- */

static void promised_columns_are_there(void **state)
{
    static const char *const promised[] = {"family",
                                           "entries",
                                           "gc_thresh1",
                                           "gc_thresh2",
                                           "gc_thresh3",
                                           "percent_full",
                                           "table_fulls",
                                           "forced_gc_runs",
                                           "res_failed",
                                           "unresolved_discards",
                                           "allocs",
                                           "destroys",
                                           "lookups",
                                           "hits",
                                           "hash_grows",
                                           "rcv_probes_mcast",
                                           "rcv_probes_ucast",
                                           "periodic_gc_runs",
                                           "scope",
                                           "sysctl"};

    (void)state;
    ASSERT_NAMES(&kind_neighbour_usage, promised);
}

static void fields_show_what_the_record_has(void **state)
{
    struct record record = {
        .kind = &kind_neighbour_usage,
        .has = NEIGHBOUR_ENTRIES | THRESHOLDS,
        .neighbour_usage = {.family = AF_INET, .entries = 1000, .thresholds = {1, 2, 1024}}};

    (void)state;
    assert_string_equal(text_of("family", &record, &no_names), "inet");
    assert_string_equal(text_of("percent_full", &record, &no_names), "97.656");
    assert_string_equal(text_of("table_fulls", &record, &no_names), "-");
    assert_string_equal(text_of("scope", &record, &no_names), "machine");
    assert_string_equal(text_of("sysctl", &record, &no_names), "net.ipv4.neigh.default.gc_thresh3");
    record.neighbour_usage.family = AF_INET6;
    assert_string_equal(text_of("sysctl", &record, &no_names), "net.ipv6.neigh.default.gc_thresh3");
    record.neighbour_usage.thresholds[2] = 0;
    assert_string_equal(text_of("percent_full", &record, &no_names), "-");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, stage_make, stage_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_has_all_that_its_message_says),
        cmocka_unit_test(an_older_kernel_has_fewer_counters),
        cmocka_unit_test(a_message_without_a_table_is_not_a_row),
        TEST(counters_are_added_up_and_entries_are_not),
        TEST(each_family_has_files_of_its_own),
        TEST(without_any_file_there_is_no_table),
        TEST(a_file_that_was_cut_is_a_loss),
        TEST(netlink_has_a_row_for_each_table),
        TEST(fields_that_netlink_lacks_come_from_the_file_if_needed),
        cmocka_unit_test(promised_columns_are_there),
        cmocka_unit_test(fields_show_what_the_record_has),
    };

    return cmocka_run_group_tests_name("neighbour_usage", tests, NULL, NULL);
}
