/* SPDX-License-Identifier: MIT */
/* Counters of lost packets, as drops. The engine, which reads them, is played here. */
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/drop_probe.h"
#include "fastnet/engine.h"
#include "fastnet/hosts.h"
#include "fastnet/record.h"
#include "kit.h"
#include "makers/drop_counters.h"

/* --- The engine ------------------------------------------------------------------------------- */

/* Rows that each reading has, of the tables that are asked for. */
static struct {
    struct record rows[8];
    uint32_t memory[8][SK_MEMINFO_VARS]; /* of sockets */
    const struct table *tables[8];
    size_t count;
    bool udp_was_read;
    const struct table *unreadable;
    int error;
} world;

void engine_change_netns(struct engine *engine)
{
    (void)engine;
}

const struct context *engine_context(const struct engine *engine)
{
    (void)engine;
    return NULL;
}

int engine_run(struct engine *engine, const struct listing *listing, struct sink *sink,
               struct report *report)
{
    (void)engine;
    for (size_t i = 0; i < listing->table_count; i++) {
        world.udp_was_read |= listing->tables[i].table == &table_udp;
        if (listing->tables[i].table == world.unreadable)
            report_loss(report, "unreadable");
        for (size_t j = 0; j < world.count; j++)
            if (world.tables[j] == listing->tables[i].table)
                sink->ops->row(sink, &world.rows[j]);
    }
    return world.error;
}

/* --- What it has ------------------------------------------------------------------------------ */

static struct record *add(const struct table *table, const struct kind *kind, uint64_t has)
{
    struct record *row = &world.rows[world.count];

    assert_true(world.count < COUNT(world.rows));
    *row = (struct record){.kind = kind, .has = has};
    world.tables[world.count++] = table;
    return row;
}

static void add_counter(const struct table *table, const char *protocol, const char *name,
                        uint64_t value)
{
    add(table, &kind_counter, UINT64_MAX)->counter = (struct counter_record){
        .protocol = as_text(protocol), .name = as_text(name), .magnitude = value};
}

static void add_socket(const struct table *table, uint16_t protocol, uint64_t cookie,
                       uint32_t drops)
{
    uint32_t *memory = world.memory[world.count];
    struct record *row = add(table, &kind_socket, UINT64_MAX);

    memory[SK_MEMINFO_DROPS] = drops;
    row->identity = cookie;
    row->socket = (struct socket_record){
        .family = AF_INET,
        .protocol = protocol,
        .inode = 40 + cookie,
        .uid = 1000,
        .local = {ip("127.0.0.1"), 7000},
        .memory = {(const char *)memory, sizeof world.memory[0]},
    };
}

/* --- A scene ---------------------------------------------------------------------------------- */

struct scene {
    struct drop_counters *counters;
    struct record told[8];
    size_t count;
    struct report report;
};

static int make(void **state)
{
    static struct scene scene;

    memset(&world, 0, sizeof world);
    scene = (struct scene){.counters = drop_counters_create(NULL, false)};
    *state = &scene;
    return scene.counters ? 0 : -1;
}

static int finish(void **state)
{
    struct scene *scene = *state;

    drop_counters_destroy(scene->counters);
    drop_counters_destroy(NULL);
    return 0;
}

static int take(struct record *record, void *arg)
{
    struct scene *scene = arg;

    assert_ptr_equal(record->kind, &kind_drop);
    assert_int_equal(record->drop.source, DROP_BY_COUNTER);
    assert_true(scene->count < COUNT(scene->told));
    scene->told[scene->count++] = *record;
    return 0;
}

static void begin(struct scene *scene)
{
    assert_int_equal(drop_counters_read(scene->counters, NULL), 0);
}

static int list(struct scene *scene)
{
    const int error = drop_counters_read(scene->counters, NULL);

    scene->count = 0;
    return error ? error : drop_counters_list(scene->counters, &scene->report, take, scene);
}

static void assert_told(const struct scene *scene, size_t i, const char *reason, uint64_t drops)
{
    assert_true(i < scene->count);
    assert_true(text_is(scene->told[i].drop.reason, reason));
    assert_int_equal(scene->told[i].drop.drops, drops);
}

/* --- Tests ------------------------------------------------------------------------------------ */

static void only_counters_that_grew_have_a_row(void **state)
{
    struct scene *scene = *state;

    add_counter(&table_counters, "Udp", "NoPorts", 100);
    add_counter(&table_counters, "Ip", "InHdrErrors", 7);
    add_counter(&table_counters, "Udp", "InDatagrams", 100); /* no drops */
    add_counter(&table_counters, "Tcp", "NoPorts", 100);     /* there is none */
    begin(scene);
    assert_int_equal(list(scene), 0);
    assert_int_equal(scene->count, 0);
    for (size_t i = 0; i < world.count; i++)
        world.rows[i].counter.magnitude += i == 1 ? 0 : 5;
    assert_int_equal(list(scene), 0);
    assert_int_equal(scene->count, 1);
    assert_told(scene, 0, "NO_SOCKET", 5);
    assert_int_equal(scene->told[0].has, 0);
    assert_true(scene->told[0].drop.elapsed > 0);
    world.rows[0].counter.magnitude += 2; /* since the last time */
    assert_int_equal(list(scene), 0);
    assert_told(scene, 0, "NO_SOCKET", 2);
    world.rows[0].counter.magnitude = 1; /* it began anew */
    assert_int_equal(list(scene), 0);
    assert_int_equal(scene->count, 0);
}

static void without_a_reading_before_nothing_has_grown(void **state)
{
    struct scene *scene = *state;

    add_counter(&table_counters, "Udp", "NoPorts", 100);
    assert_int_equal(list(scene), 0);
    assert_int_equal(scene->count, 0);
    world.rows[0].counter.magnitude = 101;
    assert_int_equal(list(scene), 0);
    assert_told(scene, 0, "NO_SOCKET", 1);
}

static void a_counter_of_each_processor_is_added_up(void **state)
{
    struct scene *scene = *state;

    add_counter(&table_softnet, "cpu0", "SoftnetDropped", 1);
    add_counter(&table_softnet, "cpu1", "SoftnetDropped", 2);
    begin(scene);
    world.rows[0].counter.magnitude = 4;
    world.rows[1].counter.magnitude = 4;
    assert_int_equal(list(scene), 0);
    assert_int_equal(scene->count, 1);
    assert_told(scene, 0, "CPU_BACKLOG", 5);
}

static void a_counter_that_comes_with_both_families_counts_once(void **state)
{
    struct scene *scene = *state;

    add_counter(&table_counters, "Tcp", "InCsumErrors", 1);
    add_counter(&table_counters6, "Tcp", "InCsumErrors", 1);
    begin(scene);
    world.rows[0].counter.magnitude = 4;
    world.rows[1].counter.magnitude = 5; /* read later */
    assert_int_equal(list(scene), 0);
    assert_int_equal(scene->count, 1);
    assert_told(scene, 0, "TCP_CSUM", 4);
}

/* The counter of all has the rest. */
static void packets_that_a_socket_lost_have_one_row(void **state)
{
    struct scene *scene = *state;

    add_socket(&table_udp, IPPROTO_UDP, 1, 10);
    add_socket(&table_udp, IPPROTO_UDP, 2, 10);
    add_counter(&table_counters, "Udp", "RcvbufErrors", 50);
    add_counter(&table_counters6, "Udp6", "Udp6RcvbufErrors", 0);
    begin(scene);
    assert_true(world.udp_was_read);
    world.memory[0][SK_MEMINFO_DROPS] = 14;
    world.rows[2].counter.magnitude = 57;
    assert_int_equal(list(scene), 0);
    assert_int_equal(scene->count, 2);
    assert_told(scene, 0, "SOCKET_RCVBUFF", 4);
    assert_int_equal(scene->told[0].drop.inode, 41);
    assert_int_equal(scene->told[0].drop.uid, 1000);
    assert_int_equal(scene->told[0].drop.local.port, 7000);
    assert_int_equal(scene->told[0].drop.protocol, IPPROTO_UDP);
    assert_int_equal(scene->told[0].has, DROP_PROTOCOL | DROP_ADDRESSES | DROP_PORTS | DROP_SOCKET);
    assert_told(scene, 1, "SOCKET_RCVBUFF", 3);
    world.memory[0][SK_MEMINFO_DROPS] = 20;
    world.rows[2].counter.magnitude = 61;
    world.rows[3].counter.magnitude = 3; /* one of the 7 has no socket any more */
    assert_int_equal(list(scene), 0);
    assert_int_equal(scene->count, 2);
    assert_told(scene, 0, "SOCKET_RCVBUFF", 6);
    assert_int_equal(scene->told[1].drop.drops, 1);
    assert_int_equal(scene->told[1].has, 0);
}

static void a_socket_that_was_not_there_had_lost_nothing(void **state)
{
    struct scene *scene = *state;

    begin(scene);
    add_socket(&table_udp, IPPROTO_UDP, 1, 3);
    assert_int_equal(list(scene), 0);
    assert_told(scene, 0, "SOCKET_RCVBUFF", 3);
}

static void a_listener_has_a_reason_if_all_drops_were_overflows(void **state)
{
    struct scene *scene = *state;

    add_socket(&table_tcp, IPPROTO_TCP, 1, 0);
    add_counter(&table_counters, "TcpExt", "ListenDrops", 10);
    add_counter(&table_counters, "TcpExt", "ListenOverflows", 10);
    begin(scene);
    world.memory[0][SK_MEMINFO_DROPS] = 5;
    world.rows[1].counter.magnitude = 15;
    world.rows[2].counter.magnitude = 15;
    assert_int_equal(list(scene), 0);
    assert_int_equal(scene->count, 1);
    assert_told(scene, 0, "ListenOverflows", 5);
    assert_int_equal(scene->told[0].drop.protocol, IPPROTO_TCP);
    world.memory[0][SK_MEMINFO_DROPS] = 7;
    world.rows[1].counter.magnitude = 17;
    assert_int_equal(list(scene), 0);
    assert_int_equal(scene->count, 1);
    assert_told(scene, 0, "ListenDrops", 2);
}

static void drops_of_an_interface_have_a_row_of_their_own(void **state)
{
    struct scene *scene = *state;
    struct interface_record *interface;

    interface = &add(&table_interfaces, &kind_interface, UINT64_MAX)->interface;
    interface->index = 3;
    interface->counters[RX_DROPPED] = 10; /* of these the card had no room for 4 */
    interface->details[RX_MISSED] = 4;
    interface->queue_drops = 1;
    begin(scene);
    interface->counters[RX_DROPPED] = 13;
    interface->details[RX_MISSED] = 5;
    interface->queue_drops = 2;
    assert_int_equal(list(scene), 0);
    assert_int_equal(scene->count, 3);
    for (size_t i = 0; i < scene->count; i++) {
        const struct drop_record *drop = &scene->told[i].drop;
        const bool dropped = text_is(drop->reason, "rx_dropped");
        assert_true(dropped || text_is(drop->reason, "rx_missed_errors") ||
                    text_is(drop->reason, "qdisc_drops"));
        assert_int_equal(drop->drops, dropped ? 2 : 1);
        assert_int_equal(drop->interface, 3);
        assert_int_equal(scene->told[i].has, DROP_INTERFACE);
    }
}

/* What it counted since the machine started is not what was dropped now. */
static void a_table_that_was_read_once_has_no_growth(void **state)
{
    struct scene *scene = *state;

    add_counter(&table_counters, "Udp", "NoPorts", 0);
    add_counter(&table_softnet, "cpu0", "SoftnetDropped", 1);
    world.unreadable = &table_counters;
    begin(scene);
    world.unreadable = NULL;
    world.rows[0].counter.magnitude = 100;
    world.rows[1].counter.magnitude = 2;
    assert_int_equal(list(scene), 0);
    assert_false(scene->report.partial);
    assert_int_equal(scene->count, 1);
    assert_told(scene, 0, "CPU_BACKLOG", 1);
    world.rows[0].counter.magnitude = 101;
    assert_int_equal(list(scene), 0);
    assert_told(scene, 0, "NO_SOCKET", 1);
    world.unreadable = &table_counters;
    assert_int_equal(list(scene), 0);
    assert_true(scene->report.partial);
    assert_int_equal(scene->count, 0);
}

static void an_error_of_the_engine_is_handed_on(void **state)
{
    struct scene *scene = *state;

    add_counter(&table_counters, "Udp", "NoPorts", 100);
    begin(scene);
    world.rows[0].counter.magnitude = 101;
    world.error = -ENOMEM;
    assert_int_equal(list(scene), -ENOMEM);
    assert_int_equal(scene->count, 0);
    world.error = 0; /* what was not read is not compared with */
    assert_int_equal(list(scene), 0);
    assert_int_equal(scene->count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_counters_that_grew_have_a_row),
        TEST(without_a_reading_before_nothing_has_grown),
        TEST(a_counter_of_each_processor_is_added_up),
        TEST(a_counter_that_comes_with_both_families_counts_once),
        TEST(packets_that_a_socket_lost_have_one_row),
        TEST(a_socket_that_was_not_there_had_lost_nothing),
        TEST(a_listener_has_a_reason_if_all_drops_were_overflows),
        TEST(drops_of_an_interface_have_a_row_of_their_own),
        TEST(a_table_that_was_read_once_has_no_growth),
        TEST(an_error_of_the_engine_is_handed_on),
    };

    return cmocka_run_group_tests_name("drop_counters", tests, NULL, NULL);
}
