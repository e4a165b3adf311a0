/* SPDX-License-Identifier: MIT */
/* The rule nic-queue over two readings: answers of the kernel about a card with some queues, in
 * which single counters differ. */
#include <linux/genetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/queue/decode.h"
#include "cells.h"
#include "cli/where/where.h"
#include "doctor/rules.h"
#include "fastnet/clock.h"
#include "fastnet/kernel_abi.h"
#include "fastnet/kernel_info.h"
#include "kit.h"

enum { CARD = 4, SECONDS = 5, KEPT_MAX = 8, TEXT_SIZE = 512 };

struct scene {
    struct reading before, now;
    struct doctor_options options;
    struct doctor_summary summary;
    struct report report;
    uint64_t done;
    size_t count;
    uint8_t severity[KEPT_MAX];
    char summaries[KEPT_MAX][TEXT_SIZE], evidence[KEPT_MAX][TEXT_SIZE], advice[KEPT_MAX][TEXT_SIZE];
    char command[TEXT_SIZE]; /* command of the last finding */
};

static void copy(char text[TEXT_SIZE], struct text from)
{
    snprintf(text, TEXT_SIZE, "%.*s", (int)from.length, from.data);
}

static int keep(const struct record *record, void *arg)
{
    struct scene *scene = arg;
    const struct finding_record *finding = &record->finding;

    assert_in_range(scene->count, 0, KEPT_MAX - 1);
    scene->severity[scene->count] = finding->severity;
    copy(scene->summaries[scene->count], finding->summary);
    copy(scene->evidence[scene->count], finding->evidence);
    copy(scene->advice[scene->count], finding->advice);
    copy(scene->command, finding->command);
    scene->count++;
    return 0;
}

/* Returns how many findings the rule has; numbers that are missing do not matter. */
static size_t try_rule(struct scene *scene, const char *name)
{
    struct examination examination = {
        .options = &scene->options,
        .before = &scene->before,
        .now = &scene->now,
        .done = &scene->done,
        .searched_owners = true,
        .summary = &scene->summary,
        .report = &scene->report,
        .fn = keep,
        .arg = scene,
    };

    scene->count = 0;
    for (size_t i = 0; i < rule_count; i++)
        if (strcmp(rules[i].text.name, name) == 0)
            examination.rule = &rules[i];
    assert_non_null(examination.rule);
    examination.rule->evaluate(&examination);
    assert_int_equal(examination.error, 0);
    return scene->count;
}

static void put_interface(struct reading *reading)
{
    reading->interfaces = calloc(1, sizeof *reading->interfaces);
    assert_non_null(reading->interfaces);
    reading->interface_count = 1;
    *reading->interfaces = (struct interface_reading){.index = CARD, .name = "eth0"};
}

static int make_scene(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    put_interface(&scene->before);
    put_interface(&scene->now);
    scene->options.proc_root = "/nonexistent";
    scene->before.at = CLOCK_SECOND;
    scene->now.at = scene->before.at + SECONDS * CLOCK_SECOND;
    scene->before.read = scene->now.read = UINT32_MAX;
    *state = scene;
    return 0;
}

static int remove_scene(void **state)
{
    struct scene *scene = *state;

    reading_finish(&scene->before);
    reading_finish(&scene->now);
    free(scene);
    return 0;
}

/* A counter in the answer of the kernel; type 0 ends a list. */
struct counter {
    uint16_t type;
    uint32_t value;
};

/* Fills the record of a queue from an answer of the kernel. */
static void fill_queue(struct record *record, uint32_t direction, uint32_t id,
                       const struct counter *counters)
{
    const struct genlmsghdr header = {.cmd = NETDEV_COMMAND_QSTATS_GET, .version = 1};
    struct wire wire = {.length = 0};

    wire_message(&wire, 20, NLM_F_MULTI, 1);
    wire_put(&wire, &header, sizeof header);
    wire_u32(&wire, QSTATS_IFINDEX, CARD);
    wire_u32(&wire, QSTATS_QUEUE_TYPE, direction);
    wire_u32(&wire, QSTATS_QUEUE_ID, id);
    for (; counters->type; counters++)
        wire_u32(&wire, counters->type, counters->value);
    assert_int_equal(queue_decode(wire_last(&wire), record), 0);
}

/* Adds a queue to the reading. */
static void put_queue(struct reading *reading, uint32_t direction, uint32_t id,
                      const struct counter *counters)
{
    struct record record;

    fill_queue(&record, direction, id, counters);
    assert_int_equal(nic_queues_take(&reading->queues, &record), 0);
}

#define COUNTERS(...) ((const struct counter[]){__VA_ARGS__, {0, 0}})

/* A card with `queues` receive queues, of which the first got `first` packets, and others `rest`.
 */
static void put_card(struct scene *scene, uint32_t queues, uint32_t first, uint32_t rest)
{
    for (uint32_t i = 0; i < queues; i++) {
        put_queue(&scene->before, QUEUE_RX, i, COUNTERS({QSTATS_RX_PACKETS, 1000}));
        put_queue(&scene->now, QUEUE_RX, i,
                  COUNTERS({QSTATS_RX_PACKETS, 1000 + (i ? rest : first)}));
    }
}

/* Queue 0 of one that got 10,000 packets, and whose counter grew by `moved`. */
static void put_loss(struct scene *scene, uint16_t type, uint32_t moved)
{
    reading_finish(&scene->before);
    reading_finish(&scene->now);
    put_interface(&scene->before);
    put_interface(&scene->now);
    scene->before.at = CLOCK_SECOND;
    scene->now.at = scene->before.at + SECONDS * CLOCK_SECOND;
    put_queue(&scene->before, QUEUE_RX, 0, COUNTERS({QSTATS_RX_PACKETS, 5}, {type, 70}));
    put_queue(&scene->now, QUEUE_RX, 0, COUNTERS({QSTATS_RX_PACKETS, 10005}, {type, 70 + moved}));
}

/* --- Drops ------------------------------------------------------------------------------------ */

static void a_queue_without_free_buffers_is_a_fault_from_one_in_a_thousand_on(void **state)
{
    struct scene *scene = *state;

    put_loss(scene, QSTATS_RX_HW_DROP_OVERRUNS, 10);
    assert_int_equal(try_rule(scene, "nic-queue"), 0); /* 10 of 10,010 */
    put_loss(scene, QSTATS_RX_HW_DROP_OVERRUNS, 11);
    assert_int_equal(try_rule(scene, "nic-queue"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_FAULT);
    assert_string_equal(scene->summaries[0], "eth0: receive queue 0 dropped 11 of 10011 packets in "
                                             "5 s, because no buffer was free");
}

static void other_drops_are_a_warning_from_one_percent_on(void **state)
{
    struct scene *scene = *state;

    put_loss(scene, QSTATS_RX_HW_DROPS, 101);
    assert_int_equal(try_rule(scene, "nic-queue"), 0);
    put_loss(scene, QSTATS_RX_HW_DROPS, 102);
    assert_int_equal(try_rule(scene, "nic-queue"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_WARNING);
    assert_non_null(strstr(scene->summaries[0], "dropped 102 of 10102 packets in 5 s; the card"));
    assert_non_null(strstr(scene->advice[0], "filters of the card"));
}

static void drops_by_a_limit_of_the_rate_are_named_so(void **state)
{
    struct scene *scene = *state;

    put_queue(&scene->before, QUEUE_RX, 3,
              COUNTERS({QSTATS_RX_PACKETS, 0}, {QSTATS_RX_HW_DROPS, 0},
                       {QSTATS_RX_HW_DROP_RATELIMITS, 0}));
    put_queue(&scene->now, QUEUE_RX, 3,
              COUNTERS({QSTATS_RX_PACKETS, 900}, {QSTATS_RX_HW_DROPS, 100},
                       {QSTATS_RX_HW_DROP_RATELIMITS, 60}));
    assert_int_equal(try_rule(scene, "nic-queue"), 1);
    assert_string_equal(scene->summaries[0], "eth0: receive queue 3 dropped 100 of 1000 packets in "
                                             "5 s, because a limit of their rate was exceeded");
}

static void the_queue_that_dropped_most_is_named(void **state)
{
    struct scene *scene = *state;

    for (uint32_t i = 0; i < 3; i++) {
        put_queue(&scene->before, QUEUE_RX, i,
                  COUNTERS({QSTATS_RX_PACKETS, 0}, {QSTATS_RX_HW_DROP_OVERRUNS, 1000}));
        put_queue(&scene->now, QUEUE_RX, i,
                  COUNTERS({QSTATS_RX_PACKETS, 500},
                           {QSTATS_RX_HW_DROP_OVERRUNS, 1000 + (i == 1 ? 60 : 20)}));
    }
    assert_int_equal(try_rule(scene, "nic-queue"), 1);
    assert_non_null(strstr(scene->summaries[0], "receive queue 1 dropped 60 of 560"));
    assert_non_null(strstr(scene->evidence[0], "receive queues: 3, drops of all: 100"));
}

static void missing_memory_is_a_warning(void **state)
{
    struct scene *scene = *state;

    put_loss(scene, QSTATS_RX_ALLOC_FAIL, 10);
    assert_int_equal(try_rule(scene, "nic-queue"), 0);
    put_loss(scene, QSTATS_RX_ALLOC_FAIL, 11);
    assert_int_equal(try_rule(scene, "nic-queue"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_WARNING);
    assert_string_equal(scene->summaries[0],
                        "eth0: receive queue 0 got no memory for packets 11 times in 5 s");
}

static void nine_packets_are_never_a_finding(void **state)
{
    static const uint16_t types[] = {QSTATS_RX_HW_DROPS, QSTATS_RX_HW_DROP_OVERRUNS,
                                     QSTATS_RX_ALLOC_FAIL};
    struct scene *scene = *state;

    for (size_t i = 0; i < COUNT(types); i++) {
        put_queue(&scene->before, QUEUE_RX, (uint32_t)i, COUNTERS({types[i], 0}));
        put_queue(&scene->now, QUEUE_RX, (uint32_t)i, COUNTERS({types[i], 9}));
    }
    assert_int_equal(try_rule(scene, "nic-queue"), 0);
}

/* --- Readings that cannot be compared --------------------------------------------------------- */

static void a_driver_that_was_loaded_again_is_not_compared(void **state)
{
    struct scene *scene = *state;

    put_queue(&scene->before, QUEUE_RX, 0,
              COUNTERS({QSTATS_RX_PACKETS, 5000}, {QSTATS_RX_HW_DROP_OVERRUNS, 0}));
    put_queue(&scene->now, QUEUE_RX, 0,
              COUNTERS({QSTATS_RX_PACKETS, 100}, {QSTATS_RX_HW_DROP_OVERRUNS, 50}));
    put_queue(&scene->now, QUEUE_RX, 1, /* a queue that was added */
              COUNTERS({QSTATS_RX_PACKETS, 100}, {QSTATS_RX_HW_DROP_OVERRUNS, 50}));
    assert_int_equal(try_rule(scene, "nic-queue"), 0);
}

static void a_counter_that_only_one_reading_has_did_not_grow(void **state)
{
    struct scene *scene = *state;

    put_queue(&scene->before, QUEUE_RX, 0, COUNTERS({QSTATS_RX_PACKETS, 0}));
    put_queue(&scene->now, QUEUE_RX, 0,
              COUNTERS({QSTATS_RX_PACKETS, 100}, {QSTATS_RX_HW_DROP_OVERRUNS, 5000}));
    assert_int_equal(try_rule(scene, "nic-queue"), 0);
}

static void one_reading_is_not_enough(void **state)
{
    struct scene *scene = *state;

    put_loss(scene, QSTATS_RX_HW_DROP_OVERRUNS, 5000);
    scene->before.at = 0;
    assert_int_equal(try_rule(scene, "nic-queue"), 0);
}

static void queues_that_send_are_not_receive_queues(void **state)
{
    struct scene *scene = *state;

    put_queue(&scene->before, QUEUE_TX, 0,
              COUNTERS({QSTATS_TX_PACKETS, 0}, {QSTATS_TX_HW_DROPS, 0}));
    put_queue(&scene->now, QUEUE_TX, 0,
              COUNTERS({QSTATS_TX_PACKETS, 100}, {QSTATS_TX_HW_DROPS, 5000}));
    assert_int_equal(try_rule(scene, "nic-queue"), 0);
}

static void more_queues_than_the_limit_are_ignored(void **state)
{
    struct scene *scene = *state;

    for (uint32_t i = 0; i < NIC_QUEUES_MAX + 10; i++)
        put_queue(&scene->now, QUEUE_RX, i, COUNTERS({QSTATS_RX_PACKETS, 1}));
    assert_int_equal(scene->now.queues.count, NIC_QUEUES_MAX);
}

/* --- Uneven queues ---------------------------------------------------------------------------- */

static void set_counter(struct reading *reading, enum kernel_number counter, uint64_t value)
{
    reading->counts.numbers[counter] = value;
    reading->counts.known[counter] = true;
}

/* CPUs ran out of time for packets this often. */
static void put_squeezed(struct scene *scene, uint64_t times)
{
    set_counter(&scene->before, SOFTNET_SQUEEZED, 10);
    set_counter(&scene->now, SOFTNET_SQUEEZED, 10 + times);
}

static void one_queue_with_nearly_all_packets_is_a_warning_if_a_cpu_is_late(void **state)
{
    struct scene *scene = *state;

    put_card(scene, 4, 48500, 500); /* 10,000 packets per second, 97 % in one queue */
    put_squeezed(scene, 99);
    assert_int_equal(try_rule(scene, "nic-queue"), 0);
    put_squeezed(scene, 100);
    assert_int_equal(try_rule(scene, "nic-queue"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_WARNING);
    assert_string_equal(scene->summaries[0],
                        "eth0: 48500 of 50000 packets came through receive queue 0 of 4 in 5 s, so "
                        "that one CPU handles them (one flow?)");
    scene->now.at += SECONDS; /* nanoseconds: a little less than 10,000 packets per second */
    assert_int_equal(try_rule(scene, "nic-queue"), 0);
}

/* 10 of 50,000 are too few for a finding of their own. */
static void what_one_queue_with_nearly_all_packets_lost_is_evidence(void **state)
{
    struct scene *scene = *state;

    for (uint32_t i = 0; i < 4; i++) {
        put_queue(&scene->before, QUEUE_RX, i,
                  COUNTERS({QSTATS_RX_PACKETS, 5}, {QSTATS_RX_HW_DROPS, 7}));
        put_queue(&scene->now, QUEUE_RX, i,
                  COUNTERS({QSTATS_RX_PACKETS, i ? 505 : 48505}, {QSTATS_RX_HW_DROPS, i ? 7 : 17}));
    }
    assert_int_equal(try_rule(scene, "nic-queue"), 1);
    assert_non_null(strstr(scene->evidence[0], "; the queue lost 10 packets"));
}

static void packets_that_are_spread_are_healthy(void **state)
{
    struct scene *scene = *state;

    put_card(scene, 4, 890000, 110000 / 3);
    put_squeezed(scene, 5000);
    assert_int_equal(try_rule(scene, "nic-queue"), 0);
}

static void a_card_of_few_queues_is_healthy(void **state)
{
    struct scene *scene = *state;

    put_card(scene, 3, 1000000, 0);
    put_squeezed(scene, 5000);
    assert_int_equal(try_rule(scene, "nic-queue"), 0);
}

static void a_card_of_one_queue_is_healthy(void **state)
{
    struct scene *scene = *state;

    put_card(scene, 1, 1000000, 0);
    put_squeezed(scene, 5000);
    assert_int_equal(try_rule(scene, "nic-queue"), 0);
}

static void an_idle_card_is_healthy(void **state)
{
    struct scene *scene = *state;

    put_card(scene, 8, 0, 0);
    put_squeezed(scene, 5000);
    assert_int_equal(try_rule(scene, "nic-queue"), 0);
}

/* 150,000 packets per second. */
static void at_a_high_rate_one_queue_is_a_warning_unless_one_connection_is_the_reason(void **state)
{
    struct scene *scene = *state;

    put_card(scene, 8, 749930, 10);
    assert_int_equal(try_rule(scene, "nic-queue"), 1);
    scene->before.sockets.receivers[3] = (struct busy_receiver){815, UINT32_MAX - 99};
    scene->now.sockets.receivers[0] = (struct busy_receiver){815, 374864}; /* half, less one */
    assert_int_equal(try_rule(scene, "nic-queue"), 1);
    scene->now.sockets.receivers[0].segments++;
    assert_int_equal(try_rule(scene, "nic-queue"), 0);
    scene->now.sockets.receivers[0].cookie++; /* another connection */
    assert_int_equal(try_rule(scene, "nic-queue"), 1);
}

static void the_connections_that_received_most_segments_are_kept(void **state)
{
    struct scene *scene = *state;
    const struct busy_receiver *receivers = scene->now.sockets.receivers;
    uint64_t kept = 0;

    for (uint32_t i = 1; i <= 1000; i++) {
        const struct kernel_tcp_info info = {.segs_in = i * 7919 % 1009};
        const struct record record = {
            .kind = &kind_socket,
            .has = SOCKET_TCP_INFO,
            .identity = info.segs_in,
            .socket = {.protocol = IPPROTO_TCP,
                       .state = TCP_ESTABLISHED,
                       .info = {(const char *)&info, sizeof info}},
        };
        assert_int_equal(sockets_take(&scene->now, &record), 0);
    }
    for (size_t i = 0; i < RECEIVERS; i++) {
        assert_int_equal(receivers[i].cookie, receivers[i].segments);
        assert_in_range(receivers[i].segments, 1000, 1008);
        kept += receivers[i].segments;
    }
    assert_in_range(kept, 4 * 1000, 4 * 1008);
}

/* --- Evidence for other rules ----------------------------------------------------------------- */

static void errors_of_an_interface_name_the_queue(void **state)
{
    struct scene *scene = *state;

    put_loss(scene, QSTATS_RX_HW_DROP_OVERRUNS, 40);
    scene->now.interfaces->lost = 40;
    assert_int_equal(try_rule(scene, "interface-errors"), 1);
    assert_non_null(strstr(scene->evidence[0], "; receive queue 0 dropped 40 of 40"));
    put_loss(scene, QSTATS_RX_CSUM_BAD, 40);
    scene->now.interfaces->lost = 40;
    assert_int_equal(try_rule(scene, "interface-errors"), 1);
    assert_null(strstr(scene->evidence[0], "receive queue"));
}

static void late_cpus_name_the_busiest_queue(void **state)
{
    struct scene *scene = *state;

    put_card(scene, 2, 900, 100);
    set_counter(&scene->before, SOFTNET_DROPPED, 0);
    set_counter(&scene->now, SOFTNET_DROPPED, 7);
    assert_int_equal(try_rule(scene, "softnet"), 1);
    assert_non_null(
        strstr(scene->evidence[0], "; receive queue 0 of 2 of eth0 got 900 of 1000 packets"));
}

static void drops_before_a_card_name_the_queue_that_was_full(void **state)
{
    struct scene *scene = *state;

    for (uint32_t i = 0; i < 2; i++) {
        put_queue(&scene->before, QUEUE_TX, i,
                  COUNTERS({QSTATS_TX_PACKETS, 0}, {QSTATS_TX_STOP, 1}));
        put_queue(&scene->now, QUEUE_TX, i,
                  COUNTERS({QSTATS_TX_PACKETS, 10}, {QSTATS_TX_STOP, 1 + 12 * i}));
    }
    scene->before.interfaces->has_queue_drops = scene->now.interfaces->has_queue_drops = true;
    scene->now.interfaces->queue_drops = 20;
    assert_int_equal(try_rule(scene, "queue-drops"), 1);
    assert_non_null(strstr(scene->evidence[0], "; the driver stopped queue 1 12 times"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_scene, remove_scene)

/* --- The command ------------------------------------------------------------------------------ */

/* Most machines have no card with such counters, so the filter of the command is tried here. */
static void the_command_shows_receive_queues(void **state)
{
    static const char begin[] = "fastnet netstat -i --queues --where '";
    struct scene *scene = *state;
    struct where where = {0};
    struct record received, sent;
    char filter[64] = "";

    put_loss(scene, QSTATS_RX_HW_DROP_OVERRUNS, 11);
    assert_int_equal(try_rule(scene, "nic-queue"), 1);
    assert_memory_equal(scene->command, begin, strlen(begin));
    assert_int_equal(sscanf(scene->command + strlen(begin), "%63[^']", filter), 1);
    fill_queue(&received, QUEUE_RX, 0, COUNTERS({QSTATS_RX_PACKETS, 1}));
    fill_queue(&sent, QUEUE_TX, 0, COUNTERS({QSTATS_TX_PACKETS, 1}));
    const struct predicate *predicate = where_parse(&where, &kind_queue, filter);
    assert_non_null(predicate);
    assert_true(predicate_holds(predicate, &received, &no_names));
    assert_false(predicate_holds(predicate, &sent, &no_names));
    where_finish(&where);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_command_shows_receive_queues),
        TEST(a_queue_without_free_buffers_is_a_fault_from_one_in_a_thousand_on),
        TEST(other_drops_are_a_warning_from_one_percent_on),
        TEST(drops_by_a_limit_of_the_rate_are_named_so),
        TEST(the_queue_that_dropped_most_is_named),
        TEST(missing_memory_is_a_warning),
        TEST(nine_packets_are_never_a_finding),
        TEST(a_driver_that_was_loaded_again_is_not_compared),
        TEST(a_counter_that_only_one_reading_has_did_not_grow),
        TEST(one_reading_is_not_enough),
        TEST(queues_that_send_are_not_receive_queues),
        TEST(more_queues_than_the_limit_are_ignored),
        TEST(one_queue_with_nearly_all_packets_is_a_warning_if_a_cpu_is_late),
        TEST(what_one_queue_with_nearly_all_packets_lost_is_evidence),
        TEST(packets_that_are_spread_are_healthy),
        TEST(a_card_of_few_queues_is_healthy),
        TEST(a_card_of_one_queue_is_healthy),
        TEST(an_idle_card_is_healthy),
        TEST(at_a_high_rate_one_queue_is_a_warning_unless_one_connection_is_the_reason),
        TEST(the_connections_that_received_most_segments_are_kept),
        TEST(errors_of_an_interface_name_the_queue),
        TEST(late_cpus_name_the_busiest_queue),
        TEST(drops_before_a_card_name_the_queue_that_was_full),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
