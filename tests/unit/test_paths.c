/* SPDX-License-Identifier: MIT */
/* The rules loss, slow-zone and close-wait, over rows of sockets that the test makes. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/rules.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/kernel_info.h"
#include "fastnet/report.h"
#include "kit.h"

/* Two readings, and the last finding of the rule that was tried last. */
struct paths_scene {
    struct reading before, now;
    struct doctor_options options;
    struct doctor_summary summary;
    struct report report;
    size_t count;
    char subject[192], text[512], evidence[512];
};

static int paths_keep(const struct record *record, void *arg)
{
    const struct finding_record *finding = &record->finding;
    struct paths_scene *scene = arg;

    scene->count++;
    snprintf(scene->subject, sizeof scene->subject, "%s", finding->subject.data);
    snprintf(scene->text, sizeof scene->text, "%s", finding->summary.data);
    snprintf(scene->evidence, sizeof scene->evidence, "%s", finding->evidence.data);
    return 0;
}

/* Tries a rule. Returns the number of findings. */
static size_t try_rule(struct paths_scene *scene, const char *name)
{
    uint64_t done = 0;
    struct examination examination = {
        .options = &scene->options,
        .before = &scene->before,
        .now = &scene->now,
        .done = &done,
        .searched_owners = true, /* there are none */
        .summary = &scene->summary,
        .report = &scene->report,
        .fn = paths_keep,
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

static void make_reading(struct reading *reading)
{
    struct sockets_reading *sockets = &reading->sockets;

    sockets->half_open = calloc(UINT16_MAX + 1, sizeof *sockets->half_open);
    sockets->busiest = calloc(BUSIEST_SLOTS, sizeof *sockets->busiest);
    assert_true(sockets->half_open && sockets->busiest);
    sockets->paths.is_wanted = true;
    for (enum kernel_number i = 0; i < KERNEL_NUMBERS; i++)
        reading->counts.known[i] = true;
}

static int make_scene(void **state)
{
    struct paths_scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    make_reading(&scene->before);
    make_reading(&scene->now);
    scene->options.proc_root = "/nonexistent";
    scene->options.rules = UINT64_MAX;
    scene->before.at = CLOCK_SECOND;
    scene->before.sockets.paths.knows_ended = true;
    scene->now.at = 6 * CLOCK_SECOND;
    scene->now.counts.numbers[SEGMENTS_SENT] = 100000;
    *state = scene;
    return 0;
}

static int remove_scene(void **state)
{
    struct paths_scene *scene = *state;

    reading_finish(&scene->before);
    reading_finish(&scene->now);
    free(scene);
    return 0;
}

/* --- Rows ------------------------------------------------------------------------------------- */

/* Makes a connection that this machine opened to port 443 of the peer. It borrows `info`. */
static struct record connection(uint64_t cookie, const char *peer,
                                const struct kernel_tcp_info *info)
{
    struct record record;

    record_begin(&record, &kind_socket, sizeof record.socket);
    record.identity = cookie;
    record.has = SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_TIMER | SOCKET_TCP_INFO |
                 SOCKET_TCP_BASICS;
    record.socket.protocol = IPPROTO_TCP;
    record.socket.state = TCP_ESTABLISHED;
    record.socket.inode = cookie;
    record.socket.local = (struct endpoint){IPV4(10, 8, 0, 1), 40000};
    record.socket.remote = (struct endpoint){ip(peer), 443};
    record.socket.info = (struct text){(const char *)info, sizeof *info};
    return record;
}

/* Returns the info of a connection that sent and lost these numbers of segments. */
static struct kernel_tcp_info info_of_sent(uint32_t segments, uint32_t lost)
{
    return (struct kernel_tcp_info){.options = TCP_OPTION_SACK,
                                    .data_segs_out = segments,
                                    .total_retrans = lost,
                                    .bytes_retrans = lost,
                                    .snd_cwnd = 10,
                                    .snd_ssthresh = TCP_SSTHRESH_NONE,
                                    .min_rtt = UINT32_MAX};
}

static void take_row(struct reading *reading, const struct reading *before, struct record record)
{
    reading->before = before;
    assert_int_equal(sockets_take(reading, &record), 0);
}

static void take_before(struct paths_scene *scene, uint64_t cookie, const char *peer,
                        struct kernel_tcp_info info)
{
    take_row(&scene->before, NULL, connection(cookie, peer, &info));
}

static void take_now(struct paths_scene *scene, uint64_t cookie, const char *peer,
                     struct kernel_tcp_info info)
{
    take_row(&scene->now, &scene->before, connection(cookie, peer, &info));
}

/* A connection that lost segments before the first reading, and between the readings. */
static void take_lossy(struct paths_scene *scene, uint64_t cookie, const char *peer,
                       uint32_t before, uint32_t lost)
{
    take_before(scene, cookie, peer, info_of_sent(1000, before));
    take_now(scene, cookie, peer, info_of_sent(1100, before + lost));
}

/* --- Loss ------------------------------------------------------------------------------------- */

static void one_lossy_peer_of_ten_thousand_is_named(void **state)
{
    struct paths_scene *scene = *state;

    for (unsigned i = 0; i < 10000; i++) {
        char peer[32];
        snprintf(peer, sizeof peer, "10.9.%u.%u", i / 250, i % 250);
        take_lossy(scene, i + 1, peer, i == 5003 ? 30 : 0, i == 5003 ? 3 : 0);
    }
    scene->now.counts.numbers[SEGMENTS_SENT] = 1000000;
    scene->now.counts.numbers[SEGMENTS_RETRANSMITTED] = 3;
    assert_int_equal(try_rule(scene, "loss"), 1);
    assert_string_equal(scene->subject, "10.9.20.3");
    assert_non_null(strstr(scene->text, "3.0 %, 3 of 100,"));
    assert_non_null(strstr(scene->evidence, "before that 3.0 %, 30 of 1000"));
}

static void a_network_is_named_if_several_of_its_peers_are_lossy(void **state)
{
    struct paths_scene *scene = *state;

    take_lossy(scene, 1, "10.9.1.1", 30, 3);
    take_lossy(scene, 2, "10.9.1.2", 30, 4);
    take_lossy(scene, 3, "2001:db8::1", 30, 3);
    take_lossy(scene, 4, "2001:db8::2", 30, 3);
    take_lossy(scene, 5, "10.9.2.1", 0, 0);
    assert_int_equal(try_rule(scene, "loss"), 1);
    assert_string_equal(scene->subject, "10.9.1.0/24");
    assert_non_null(strstr(scene->evidence, "also 2001:db8::/64: 6 of 200"));
}

static void less_than_a_percent_now_or_before_is_usual(void **state)
{
    struct paths_scene *scene = *state;

    take_lossy(scene, 1, "10.9.1.1", 30, 2);
    assert_int_equal(try_rule(scene, "loss"), 0);
    take_lossy(scene, 2, "10.9.2.1", 9, 3);
    assert_int_equal(try_rule(scene, "loss"), 0);
    take_lossy(scene, 3, "10.9.3.1", 10, 3);
    assert_int_equal(try_rule(scene, "loss"), 1);
    assert_string_equal(scene->subject, "10.9.3.1");
}

static void a_new_loss_is_not_that_of_one_moment(void **state)
{
    struct paths_scene *scene = *state;
    struct kernel_tcp_info info = info_of_sent(1100, 20);

    take_lossy(scene, 1, "10.9.1.1", 0, 20); /* two windows of 10 segments */
    assert_int_equal(try_rule(scene, "loss"), 0);
    take_lossy(scene, 2, "10.9.2.1", 0, 21);
    assert_int_equal(try_rule(scene, "loss"), 1);
    assert_string_equal(scene->subject, "10.9.2.1");
    for (uint64_t i = 3; i < 8; i++)
        take_lossy(scene, i, "10.9.3.1", 0, 15);              /* all of them at the same time */
    take_before(scene, 10, "10.9.5.1", info_of_sent(100, 3)); /* it lost segments before, too */
    take_now(scene, 10, "10.9.5.1", info_of_sent(1100, 23));
    assert_int_equal(try_rule(scene, "loss"), 1);
    assert_null(strstr(scene->evidence, "10.9.3.1"));
    assert_non_null(strstr(scene->evidence, "also 10.9.5.1: 20 of 1000"));
    info.snd_ssthresh = 20;
    take_before(scene, 9, "10.9.4.1", info_of_sent(1000, 0));
    take_now(scene, 9, "10.9.4.1", info);
    assert_int_equal(try_rule(scene, "loss"), 1);
    assert_null(strstr(scene->evidence, "10.9.4.1"));
}

/* --- What is not lost ------------------------------------------------------------------------- */

static void try_info(struct paths_scene *scene, struct kernel_tcp_info info, size_t expected)
{
    paths_trim(&scene->now.sockets.paths);
    take_before(scene, 1, "10.9.1.1", info_of_sent(1000, 30));
    take_now(scene, 1, "10.9.1.1", info);
    assert_int_equal(try_rule(scene, "loss"), expected);
}

static void needless_and_unanswered_retransmissions_are_not_lost(void **state)
{
    struct paths_scene *scene = *state;
    struct kernel_tcp_info info = info_of_sent(1100, 33);

    info.dsack_dups = 1;
    try_info(scene, info, 0);
    info = info_of_sent(1100, 33);
    info.retransmits = 1;
    try_info(scene, info, 0);
    info = info_of_sent(1100, 133);
    info.retransmits = 2; /* the peer may be gone */
    try_info(scene, info, 0);
    info = info_of_sent(1100, 133);
    info.total_rto = 2; /* nothing passed for a time */
    info.total_rto_recoveries = 1;
    try_info(scene, info, 0);
    info = info_of_sent(1100, 133);
    info.options = 0; /* the peer cannot say that a segment had arrived */
    try_info(scene, info, 0);
    info = info_of_sent(1100, 133);
    info.bytes_retrans = 0; /* only SYNs */
    try_info(scene, info, 0);
    info = info_of_sent(1100, 133);
    info.total_rto = 3;
    info.total_rto_recoveries = 2;
    try_info(scene, info, 1);
}

static void a_kernel_that_does_not_report_needless_segments_is_not_believed(void **state)
{
    struct paths_scene *scene = *state;
    const struct kernel_tcp_info before = info_of_sent(1000, 30), now = info_of_sent(1100, 40);
    struct record first = connection(1, "10.9.1.1", &before),
                  second = connection(1, "10.9.1.1", &now);

    first.socket.info.length = second.socket.info.length =
        offsetof(struct kernel_tcp_info, dsack_dups);
    take_row(&scene->before, NULL, first);
    take_row(&scene->now, &scene->before, second);
    assert_int_equal(try_rule(scene, "loss"), 0);
}

static void connections_within_the_machine_have_no_path(void **state)
{
    struct paths_scene *scene = *state;

    take_lossy(scene, 1, "127.0.0.1", 30, 50);
    take_lossy(scene, 2, "10.8.0.1", 30, 50); /* the own address */
    assert_int_equal(try_rule(scene, "loss"), 0);
}

/* --- Connections that begin and end ----------------------------------------------------------- */

static void short_connections_count_if_all_that_ended_are_known(void **state)
{
    struct paths_scene *scene = *state;

    for (uint64_t i = 1; i <= 10; i++) {
        const struct kernel_tcp_info info = info_of_sent(10, 2);
        struct record record = connection(i, "10.9.1.1", &info);
        assert_int_equal(try_rule(scene, "loss"), 0);
        paths_take_ended(&scene->before.sockets.paths, &record, &info, i / 4 * CLOCK_SECOND);
    }
    assert_int_equal(try_rule(scene, "loss"), 1);
    for (uint64_t i = 11; i <= 20; i++)
        take_now(scene, i, "10.9.1.2", info_of_sent(10, 2));
    assert_int_equal(try_rule(scene, "loss"), 1);
    assert_string_equal(scene->subject, "10.9.1.0/24");
    paths_trim(&scene->before.sockets.paths);
    paths_trim(&scene->now.sockets.paths);
    scene->before.sockets.paths.knows_ended = false;
    for (uint64_t i = 21; i <= 30; i++)
        take_now(scene, i, "10.9.1.2", info_of_sent(10, 2));
    assert_int_equal(try_rule(scene, "loss"), 0);
}

static void clean_connections_to_the_same_peer_dilute_the_loss(void **state)
{
    struct paths_scene *scene = *state;

    take_lossy(scene, 1, "10.9.1.1", 30, 5);
    assert_int_equal(try_rule(scene, "loss"), 1);
    take_now(scene, 2, "10.9.1.1", info_of_sent(400, 0));
    assert_int_equal(try_rule(scene, "loss"), 1);
    take_now(scene, 3, "10.9.1.1", info_of_sent(1, 0));
    assert_int_equal(try_rule(scene, "loss"), 0);
}

static void memory_is_bounded(void **state)
{
    struct paths_scene *scene = *state;

    for (unsigned i = 0; i < 100000; i++) {
        char peer[32];
        snprintf(peer, sizeof peer, "10.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
        take_lossy(scene, i + 1, peer, 0, 0);
    }
    assert_int_equal(scene->now.sockets.paths.paths.count, PATHS_MAX);
    assert_int_equal(scene->before.sockets.paths.senders.count, SENDERS_MAX);
}

/* --- The whole machine ------------------------------------------------------------------------ */

static void without_counters_no_peer_is_known_to_be_different(void **state)
{
    static const enum kernel_number needed[] = {SEGMENTS_SENT, SEGMENTS_RETRANSMITTED};
    struct paths_scene *scene = *state;

    take_lossy(scene, 1, "10.9.1.1", 30, 10);
    assert_int_equal(try_rule(scene, "loss"), 1);
    for (size_t i = 0; i < COUNT(needed); i++) {
        scene->now.counts.known[needed[i]] = false;
        assert_int_equal(try_rule(scene, "loss"), 0);
        scene->now.counts.known[needed[i]] = true;
    }
}

static void loss_to_all_is_not_that_of_a_peer(void **state)
{
    struct paths_scene *scene = *state;

    take_lossy(scene, 1, "10.9.1.1", 30, 10);
    scene->now.counts.numbers[SEGMENTS_RETRANSMITTED] = 2010;
    assert_int_equal(try_rule(scene, "loss"), 0);
    assert_int_equal(try_rule(scene, "retransmissions"), 1);
    scene->now.counts.numbers[SEGMENTS_RETRANSMITTED] = 10;
    scene->now.counts.numbers[SEGMENTS_SENT] = 150; /* 10 more are retransmissions */
    assert_int_equal(try_rule(scene, "loss"), 0);
    assert_int_equal(try_rule(scene, "retransmissions"), 1);
    scene->now.counts.numbers[SEGMENTS_SENT] = 190;
    assert_int_equal(try_rule(scene, "loss"), 1);
    assert_int_equal(try_rule(scene, "retransmissions"), 0);
    scene->options.rules = 0; /* the rule loss is skipped */
    assert_int_equal(try_rule(scene, "retransmissions"), 1);
}

/* --- Round-trip times ------------------------------------------------------------------------- */

/* Takes a connection to each of `count` peers of a network. */
static void take_zone(struct paths_scene *scene, const char *network, unsigned count, uint32_t rtt)
{
    struct kernel_tcp_info info = info_of_sent(5, 0);

    info.min_rtt = rtt;
    for (unsigned i = 1; i <= count; i++) {
        char peer[64];
        snprintf(peer, sizeof peer, "%s%u", network, i);
        take_now(scene, 0, peer, info);
    }
}

static void a_network_that_is_ten_times_as_slow_as_two_others_is_found(void **state)
{
    struct paths_scene *scene = *state;

    take_zone(scene, "10.9.1.", 3, 300);
    take_zone(scene, "10.9.2.", 3, 40000);
    assert_int_equal(try_rule(scene, "slow-zone"), 0);
    take_zone(scene, "10.1.3.", 2, 300); /* too few connections */
    assert_int_equal(try_rule(scene, "slow-zone"), 0);
    take_zone(scene, "10.1.3.", 3, 300);
    assert_int_equal(try_rule(scene, "slow-zone"), 1);
    assert_string_equal(scene->subject, "10.9.2.0/24");
    take_zone(scene, "10.9.2.", 1, 300); /* its packets can be fast */
    assert_int_equal(try_rule(scene, "slow-zone"), 0);
}

static void networks_of_ipv6_are_compared(void **state)
{
    struct paths_scene *scene = *state;

    take_zone(scene, "2001:db8:0:1::", 3, 300);
    take_zone(scene, "2001:db8:0:2::", 3, 300);
    take_zone(scene, "2001:db9:0:3::", 3, 80000); /* another provider */
    assert_int_equal(try_rule(scene, "slow-zone"), 0);
    take_zone(scene, "2001:db8:0:3::", 3, 80000);
    assert_int_equal(try_rule(scene, "slow-zone"), 1);
    assert_string_equal(scene->subject, "2001:db8:0:3::/64");
}

static void clients_all_over_the_world_are_healthy(void **state)
{
    struct paths_scene *scene = *state;

    for (unsigned i = 1; i < 200; i++) {
        char network[32];
        snprintf(network, sizeof network, "%u.%u.%u.", 20 + i % 10, i % 3, i);
        take_zone(scene, network, 1 + i % 9, 2000 * i);
    }
    take_zone(scene, "192.168.1.", 9, 300);
    assert_int_equal(try_rule(scene, "slow-zone"), 0);
}

static void one_machine_that_is_far_away_is_healthy(void **state)
{
    struct paths_scene *scene = *state;

    take_zone(scene, "10.9.1.", 9, 300);
    take_zone(scene, "10.9.2.", 9, 300);
    take_zone(scene, "10.200.1.", 1, 80000);
    assert_int_equal(try_rule(scene, "slow-zone"), 0);
}

static void a_peer_is_compared_with_eight_others_of_its_network(void **state)
{
    struct paths_scene *scene = *state;
    struct kernel_tcp_info info = info_of_sent(5, 0);

    info.min_rtt = 50000;
    take_now(scene, 0, "10.9.1.77", info);
    take_zone(scene, "10.9.1.", 7, 900);
    assert_int_equal(try_rule(scene, "slow-zone"), 0);
    take_zone(scene, "10.9.1.", 8, 900);
    assert_int_equal(try_rule(scene, "slow-zone"), 1);
    assert_string_equal(scene->subject, "10.9.1.77");
    take_zone(scene, "10.9.1.1", 5, 30000); /* 10.9.1.11 to 15: the times differ anyway */
    assert_int_equal(try_rule(scene, "slow-zone"), 0);
}

static void a_lossy_path_is_not_reported_as_slow_too(void **state)
{
    struct paths_scene *scene = *state;
    struct kernel_tcp_info info = info_of_sent(1100, 40);

    take_zone(scene, "10.9.1.", 9, 300);
    info.min_rtt = 50000;
    take_before(scene, 1, "10.9.1.77", info_of_sent(1000, 30));
    take_now(scene, 1, "10.9.1.77", info);
    assert_int_equal(try_rule(scene, "loss"), 1);
    assert_non_null(strstr(scene->evidence, "the shortest round-trip time is 50 ms"));
    assert_int_equal(try_rule(scene, "slow-zone"), 0);
    scene->options.rules = 0; /* the rule loss is skipped */
    assert_int_equal(try_rule(scene, "slow-zone"), 1);
}

/* --- CLOSE_WAIT ------------------------------------------------------------------------------- */

static void take_unclosed(struct reading *reading, const struct reading *before, uint64_t cookie,
                          uint32_t silence)
{
    const struct kernel_tcp_info info = {.last_ack_recv = silence, .last_data_recv = silence};
    struct record record = connection(cookie, "10.9.1.1", &info);

    record.socket.state = TCP_CLOSE_WAIT;
    take_row(reading, before, record);
}

static void connections_are_kept_if_they_are_silent_in_both_readings(void **state)
{
    struct paths_scene *scene = *state;
    const struct doctor_sockets *unclosed = &scene->now.sockets.unclosed;

    take_unclosed(&scene->before, NULL, 1, 100);
    take_unclosed(&scene->before, NULL, 2, 100);
    take_unclosed(&scene->now, &scene->before, 1, 3001);
    take_unclosed(&scene->now, &scene->before, 2, 3000); /* the other end still acknowledges data */
    take_unclosed(&scene->now, &scene->before, 3, 60001);
    assert_int_equal(unclosed->count, 3);
    assert_true(unclosed->list[0].is_kept && !unclosed->list[0].is_old);
    assert_false(unclosed->list[1].is_kept);
    assert_true(unclosed->list[2].is_old && !unclosed->list[2].is_kept);
    assert_true(sockets_have_unclosed(&scene->now.sockets, 3));
    assert_false(sockets_have_unclosed(&scene->now.sockets, 4));
}

static void a_peer_that_answers_no_keepalive_probe_is_gone(void **state)
{
    struct kernel_tcp_info info = {.probes = 1, .last_ack_recv = 20000, .last_data_recv = 20000};
    struct paths_scene *scene = *state;
    struct record record = connection(1, "10.9.1.1", &info);

    record.socket.timer = TIMER_KEEPALIVE;
    take_row(&scene->now, NULL, record);
    assert_int_equal(try_rule(scene, "peer-gone"), 0);
    info.probes = 2;
    take_row(&scene->now, NULL, record);
    assert_int_equal(try_rule(scene, "peer-gone"), 1);
    assert_string_equal(scene->subject, "10.9.1.1:443");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_scene, remove_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_lossy_peer_of_ten_thousand_is_named),
        TEST(a_network_is_named_if_several_of_its_peers_are_lossy),
        TEST(less_than_a_percent_now_or_before_is_usual),
        TEST(a_new_loss_is_not_that_of_one_moment),
        TEST(needless_and_unanswered_retransmissions_are_not_lost),
        TEST(a_kernel_that_does_not_report_needless_segments_is_not_believed),
        TEST(connections_within_the_machine_have_no_path),
        TEST(short_connections_count_if_all_that_ended_are_known),
        TEST(clean_connections_to_the_same_peer_dilute_the_loss),
        TEST(memory_is_bounded),
        TEST(without_counters_no_peer_is_known_to_be_different),
        TEST(loss_to_all_is_not_that_of_a_peer),
        TEST(a_network_that_is_ten_times_as_slow_as_two_others_is_found),
        TEST(networks_of_ipv6_are_compared),
        TEST(clients_all_over_the_world_are_healthy),
        TEST(one_machine_that_is_far_away_is_healthy),
        TEST(a_peer_is_compared_with_eight_others_of_its_network),
        TEST(a_lossy_path_is_not_reported_as_slow_too),
        TEST(connections_are_kept_if_they_are_silent_in_both_readings),
        TEST(a_peer_that_answers_no_keepalive_probe_is_gone),
    };

    return cmocka_run_group_tests_name("paths", tests, NULL, NULL);
}
