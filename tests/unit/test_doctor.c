/* SPDX-License-Identifier: MIT */
/*
 * The doctor's rules over readings that are made: what the kernels of test machines refuse to do,
 * and the arithmetic of limits, losses and crowds.
 */
#include <arpa/inet.h>
#include <linux/sock_diag.h>
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

enum { KEPT = 32, SUMMARY = 512 };

/* Two readings, and the findings of the last rule that was tried. */
struct scene {
    struct reading before, now;
    struct doctor_options options;
    struct doctor_summary summary;
    struct report report;
    uint64_t done; /* rules that found something in the first reading */
    bool is_first; /* only the first reading is there */
    bool follows_first;
    const struct drop_probe *drops;
    size_t count;
    uint8_t severity[KEPT];
    bool has_moved[KEPT];
    uint64_t value[KEPT];
    char summaries[KEPT][SUMMARY], evidence[KEPT][SUMMARY], subject[KEPT][192];
};

static int keep(const struct record *record, void *arg)
{
    struct scene *scene = arg;
    const struct finding_record *finding = &record->finding;
    const size_t i = scene->count++;

    assert_true(i < KEPT);
    scene->severity[i] = finding->severity;
    scene->value[i] = finding->value;
    scene->has_moved[i] = record->has & FINDING_MOVED;
    snprintf(scene->summaries[i], SUMMARY, "%.*s", (int)finding->summary.length,
             finding->summary.data);
    snprintf(scene->evidence[i], SUMMARY, "%.*s", (int)finding->evidence.length,
             finding->evidence.data);
    snprintf(scene->subject[i], sizeof scene->subject[i], "%.*s", (int)finding->subject.length,
             finding->subject.data);
    return 0;
}

/* Tries a rule; returns how many findings it has. */
static size_t examine(struct scene *scene, const struct rule *rule)
{
    struct examination examination = {
        .options = &scene->options,
        .before = &scene->before,
        .now = &scene->now,
        .done = &scene->done,
        .is_first = scene->is_first,
        .follows_first = scene->follows_first,
        .drops = scene->drops,
        .searched_owners = true, /* there are none */
        .rule = rule,
        .summary = &scene->summary,
        .report = &scene->report,
        .fn = keep,
        .arg = scene,
    };

    scene->count = 0;
    rule->evaluate(&examination);
    assert_int_equal(examination.error, 0);
    return scene->count;
}

static size_t try_rule(struct scene *scene, const char *name)
{
    size_t i = 0;

    while (i < rule_count && strcmp(rules[i].text.name, name) != 0)
        i++;
    assert_true(i < rule_count);
    return examine(scene, &rules[i]);
}

static void make_sockets(struct sockets_reading *sockets)
{
    sockets->half_open = calloc(UINT16_MAX + 1, sizeof *sockets->half_open);
    sockets->busiest = calloc(BUSIEST_SLOTS, sizeof *sockets->busiest);
    assert_true(sockets->half_open && sockets->busiest);
}

static int make_scene(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    make_sockets(&scene->before.sockets);
    make_sockets(&scene->now.sockets);
    scene->before.interfaces = calloc(1, sizeof *scene->before.interfaces);
    scene->now.interfaces = calloc(1, sizeof *scene->now.interfaces);
    assert_true(scene->before.interfaces && scene->now.interfaces);
    scene->options.proc_root = "/nonexistent";
    scene->before.at = CLOCK_SECOND;
    scene->now.at = 6 * CLOCK_SECOND;
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

static void set_counter(struct reading *reading, enum kernel_number counter, uint64_t value)
{
    reading->counts.numbers[counter] = value;
    reading->counts.known[counter] = true;
}

static void set_sysctl(struct reading *reading, enum kernel_number sysctl, uint64_t value)
{
    reading->counts.numbers[sysctl] = value;
    reading->counts.known[sysctl] = true;
}

/* --- Parts of rules --------------------------------------------------------------------------- */

/* Checks the parts of a rule, and tries it. Returns what is missing: "" if nothing, "all" if no
 * part can be tried. */
static const char *missing_for(struct scene *scene, const char *name, unsigned read, bool captured)
{
    static struct examination examination;
    size_t i = 0;

    while (i < rule_count && strcmp(rules[i].text.name, name) != 0)
        i++;
    assert_true(i < rule_count);
    examination = (struct examination){
        .options = &scene->options,
        .before = &scene->before,
        .now = &scene->now,
        .done = &scene->done,
        .searched_owners = true,
        .is_captured = captured,
        .rule = &rules[i],
        .summary = &scene->summary,
        .report = &scene->report,
        .fn = keep,
        .arg = scene,
    };
    scene->now.read = read;
    parts_check(&examination);
    rules[i].evaluate(&examination);
    return examination.lacking ? "all" : examination.missing;
}

static void each_part_of_a_rule_lacks_its_own_data(void **state)
{
    static const unsigned sockets = READS_TCP | READS_TCP_INFO;
    struct scene *scene = *state;

    assert_string_equal(missing_for(scene, "accept-queue", sockets | READS_COUNTERS, false), "");
    assert_string_equal(missing_for(scene, "accept-queue", sockets, false), "no ListenOverflows");
    assert_string_equal(missing_for(scene, "accept-queue", READS_TCP | READS_COUNTERS, false),
                        "no backlogs of listeners");
    assert_string_equal(missing_for(scene, "accept-queue", READS_TCP_INFO, false), "all");
    /* in a captured tree, a counter that is unknown shows that its file is missing */
    assert_string_equal(missing_for(scene, "accept-queue", sockets | READS_COUNTERS, true),
                        "no ListenOverflows");
    assert_string_equal(missing_for(scene, "accept-queue", READS_COUNTERS, true), "all");
    set_counter(&scene->now, LISTEN_OVERFLOWS, 0);
    assert_string_equal(missing_for(scene, "accept-queue", READS_COUNTERS, true),
                        "no backlogs of listeners");
    /* a rule without parts requires all of its readings */
    assert_string_equal(missing_for(scene, "close-wait", READS_TCP, false), "all");
    assert_string_equal(missing_for(scene, "close-wait", sockets, false), "");
}

static void a_gauge_a_limit_and_its_counter_are_tried_by_themselves(void **state)
{
    const unsigned read = READS_COUNTERS | READS_MACHINE;
    struct scene *scene = *state;

    set_counter(&scene->before, ABORTS_ON_MEMORY, 1);
    set_counter(&scene->now, ABORTS_ON_MEMORY, 3);
    assert_string_equal(missing_for(scene, "orphans", read, true),
                        "no number of TCP connections without a process");
    assert_int_equal(scene->count, 1);
    assert_string_equal(scene->summaries[0], "orphans: in 5 s 2 connections were reset, because "
                                             "there were too many orphans or no memory");
    set_counter(&scene->now, TCP_ORPHANS, 900);
    assert_string_equal(missing_for(scene, "orphans", read, true), "no net.ipv4.tcp_max_orphans");
    set_sysctl(&scene->now, ORPHANS_MAX, 1000);
    assert_string_equal(missing_for(scene, "orphans", read, true), "");
    scene->now.counts.known[ABORTS_ON_MEMORY] = false;
    scene->count = 0;
    assert_string_equal(missing_for(scene, "orphans", read, true), "no TCPAbortOnMemory");
    assert_int_equal(scene->count, 1);
    scene->now.counts.known[ORPHANS_MAX] = false;
    assert_string_equal(missing_for(scene, "orphans", read, true), "all");
}

/* A counter that is subtracted must be known, or its losses would be found. */
static void losses_without_the_part_that_is_subtracted_are_not_tried(void **state)
{
    struct scene *scene = *state;

    set_counter(&scene->before, SEGMENTS_SENT, 1000);
    set_counter(&scene->now, SEGMENTS_SENT, 2000);
    set_counter(&scene->before, SEGMENTS_RETRANSMITTED, 0);
    set_counter(&scene->now, SEGMENTS_RETRANSMITTED, 500);
    set_counter(&scene->now, BLOCKS_DUPLICATED, 0);
    assert_string_equal(missing_for(scene, "retransmissions", READS_COUNTERS, false), "all");
    set_counter(&scene->before, ATTEMPTS, 0);
    set_counter(&scene->now, ATTEMPTS, 500);
    set_counter(&scene->before, ATTEMPTS_FAILED, 0);
    set_counter(&scene->now, ATTEMPTS_FAILED, 500);
    assert_string_equal(
        missing_for(scene, "refused", READS_COUNTERS | READS_REFUSED | READS_DROPS, false), "all");
    assert_int_equal(scene->count, 0);
    set_counter(&scene->now, SYNS_RETRANSMITTED, 0);
    set_counter(&scene->now, ATTEMPTS_FAILED_INCOMING, 0);
    assert_string_equal(missing_for(scene, "retransmissions", READS_COUNTERS, false), "");
    assert_string_equal(
        missing_for(scene, "refused", READS_COUNTERS | READS_REFUSED | READS_DROPS, false), "");
    assert_int_equal(scene->count, 2);
}

/* --- Rules ------------------------------------------------------------------------------------ */

/* Names are a promise, and the bits of doctor_options. */
static void rules_have_names_of_their_own_and_all_their_texts(void **state)
{
    (void)state;
    assert_true(rule_count <= 64);
    assert_null(doctor_rule(rule_count));
    for (size_t i = 0; i < rule_count; i++) {
        const struct doctor_rule *rule = doctor_rule(i);
        assert_true(*rule->name && *rule->help && *rule->advice && *rule->command && *rule->source);
        assert_int_equal(strspn(rule->name, "abcdefghijklmnopqrstuvwxyz-"), strlen(rule->name));
        assert_true(rules[i].needs != 0);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(rule->name, doctor_rule(j)->name);
    }
}

static void rules_say_their_thresholds_in_a_few_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < rule_count; i++) {
        const char *threshold = doctor_rule(i)->threshold;
        if (!threshold || !*threshold || strlen(threshold) > 60)
            fail_msg("%s: threshold: %s", doctor_rule(i)->name, threshold);
        assert_null(strstr(threshold, "  ")); /* it separates the columns of doctor --list */
    }
}

static void nothing_is_found_in_readings_without_anything(void **state)
{
    struct scene *scene = *state;

    for (size_t i = 0; i < rule_count; i++)
        if (!(rules[i].needs & READS_PROCESSES)) /* these are read by the rule */
            assert_int_equal(try_rule(scene, rules[i].text.name), 0);
}

/* --- Numbers ---------------------------------------------------------------------------------- */

static void a_percentage_is_exact_and_does_not_overflow(void **state)
{
    (void)state;
    assert_true(reaches(90, 90, 100) && !reaches(89, 90, 100));
    assert_true(reaches(1, 90, 1) && !reaches(0, 90, 1));
    assert_true(reaches(922, 90, 1024) && !reaches(921, 90, 1024));
    assert_false(reaches(0, 90, 0)); /* a limit of 0 is not reached by nothing */
    assert_false(reaches(UINT64_MAX, 90, 10));
    assert_false(reaches(UINT64_MAX, 90, UINT64_MAX));
    assert_false(reaches(UINT64_MAX / 100, 90, UINT64_MAX));
}

static void nothing_grows_in_one_reading(void **state)
{
    struct scene *scene = *state;

    scene->before.at = 0;
    set_counter(&scene->now, LISTEN_OVERFLOWS, 7);
    set_counter(&scene->now, SEGMENTS_SENT, 100000);
    set_counter(&scene->now, SEGMENTS_RETRANSMITTED, 50000);
    assert_int_equal(try_rule(scene, "accept-queue"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_PAST);
    assert_false(scene->has_moved[0]);
    assert_int_equal(try_rule(scene, "retransmissions"), 0);
    set_counter(&scene->now, FLOWS_TRACKED, 0);
    set_sysctl(&scene->now, FLOWS_MAX, 9);
    set_counter(&scene->now, FLOWS_RACED, 1000);
    assert_int_equal(try_rule(scene, "conntrack-races"), 0);
}

static void a_rule_that_found_something_at_once_does_not_find_it_again(void **state)
{
    struct scene *scene = *state;

    set_sysctl(&scene->now, FILES_MAX, 100);
    set_counter(&scene->now, FILES_OPEN, 95);
    scene->is_first = true;
    assert_int_equal(try_rule(scene, "open-files"), 1);
    scene->is_first = false;
    set_counter(&scene->now, FILES_OPEN, 96);
    assert_int_equal(try_rule(scene, "open-files"), 0);
    assert_int_equal(scene->summary.findings[SEVERITY_WARNING], 1);
    scene->done = 0;
    assert_int_equal(try_rule(scene, "open-files"), 1);
}

static void one_loss_is_reported_in_the_singular(void **state)
{
    struct scene *scene = *state;

    set_counter(&scene->now, LISTEN_OVERFLOWS, 1);
    assert_int_equal(try_rule(scene, "accept-queue"), 1);
    assert_string_equal(scene->summaries[0],
                        "so far 1 connection was dropped because an accept queue was full");
    set_counter(&scene->now, LISTEN_OVERFLOWS, 2);
    assert_int_equal(try_rule(scene, "accept-queue"), 1);
    assert_string_equal(scene->summaries[0],
                        "so far 2 connections were dropped because an accept queue was full");
    set_counter(&scene->before, TIME_WAIT_OVERFLOW, 8);
    set_counter(&scene->now, TIME_WAIT_OVERFLOW, 9);
    set_counter(&scene->now, TCP_WAITING, 0);
    assert_int_equal(try_rule(scene, "time-wait"), 1);
    assert_string_equal(
        scene->summaries[0],
        "TIME_WAIT: in 5 s 1 connection skipped TIME_WAIT, because the table is full; "
        "now there are 0 connections in TIME_WAIT");
    scene->now.at = scene->before.at + 3601 * CLOCK_SECOND + 4321;
    assert_int_equal(try_rule(scene, "time-wait"), 1);
    assert_non_null(strstr(scene->summaries[0], ": in 3601 s 1 connection"));
}

/* Counters of 32 bits wrap, and namespaces and drivers come anew. */
static void a_counter_that_shrinks_has_not_grown(void **state)
{
    struct scene *scene = *state;

    set_counter(&scene->before, LISTEN_OVERFLOWS, 9);
    set_counter(&scene->now, LISTEN_OVERFLOWS, 3);
    assert_int_equal(try_rule(scene, "accept-queue"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_PAST);
    set_counter(&scene->now, LISTEN_OVERFLOWS, 10);
    scene->before.counts.known[LISTEN_OVERFLOWS] = false;
    assert_int_equal(try_rule(scene, "accept-queue"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_PAST);
}

static void a_limit_that_is_not_known_is_not_reached(void **state)
{
    struct scene *scene = *state;

    set_counter(&scene->now, TCP_ORPHANS, 1000000);
    set_counter(&scene->now, TCP_PAGES, 1000000);
    set_counter(&scene->now, TCP_WAITING, 1000000);
    set_sysctl(&scene->now, FILES_OPEN, 1000000);
    assert_int_equal(try_rule(scene, "orphans"), 0);
    assert_int_equal(try_rule(scene, "tcp-memory"), 0);
    assert_int_equal(try_rule(scene, "time-wait"), 0);
    assert_int_equal(try_rule(scene, "open-files"), 0);
}

/* --- Sockets that no table lists -------------------------------------------------------------- */

/* Tries the rule with a process that had these numbers of sockets, the latest first. */
static size_t try_leak(struct scene *scene, struct leak leak)
{
    leak.process.pid = 7;
    leak.process.open = leak.sockets[0];
    strcpy(leak.process.name, "java");
    scene->now.leaks.count = 0;
    struct leak *added =
        ARRAY_ADD(scene->now.leaks.list, scene->now.leaks.count, scene->now.leaks.capacity);
    if (added)
        *added = leak;
    assert_non_null(added);
    return try_rule(scene, "socket-leak");
}

static void sockets_without_a_table_that_grow_in_both_intervals_are_found(void **state)
{
    struct scene *scene = *state;
    const struct process_descriptors unlimited = {.limit = UINT64_MAX};

    assert_int_equal(try_leak(scene, (struct leak){unlimited, {161, 131, 101}, 3, false}), 1);
    assert_int_equal(scene->severity[0], SEVERITY_WARNING);
    assert_int_equal(scene->value[0], 161);
    assert_non_null(strstr(scene->summaries[0], "\"java\" (pid 7) holds 161 sockets"));
    assert_non_null(strstr(scene->evidence[0], "101, 131 and 161 in three samples"));
    assert_int_equal(try_leak(scene, (struct leak){unlimited, {140, 120, 100}, 3, false}), 1);
    assert_int_equal(try_leak(scene, (struct leak){unlimited, {140, 121, 100}, 3, false}), 0);
    assert_int_equal(try_leak(scene, (struct leak){unlimited, {139, 120, 100}, 3, false}), 0);
    assert_int_equal(try_leak(scene, (struct leak){unlimited, {139, 119, 100}, 3, false}), 0);
    assert_int_equal(try_leak(scene, (struct leak){unlimited, {500, 101, 0}, 2, false}), 0);
}

static void more_than_1000_or_half_of_the_limit_are_found_at_once(void **state)
{
    struct scene *scene = *state;
    const struct process_descriptors unlimited = {.limit = UINT64_MAX}, limited = {.limit = 256};

    assert_int_equal(try_leak(scene, (struct leak){unlimited, {1001}, 1, false}), 1);
    assert_int_equal(try_leak(scene, (struct leak){unlimited, {1000}, 1, false}), 0);
    assert_int_equal(try_leak(scene, (struct leak){limited, {129}, 1, false}), 1);
    assert_int_equal(try_leak(scene, (struct leak){limited, {128}, 1, false}), 0);
    assert_int_equal(scene->report.count, 0);
}

/* The number of descriptors is an upper bound: a process with few needs no message. */
static void processes_that_may_not_be_seen_are_reported_only_if_they_may_leak(void **state)
{
    struct scene *scene = *state;
    const struct process_descriptors unlimited = {.limit = UINT64_MAX};

    assert_int_equal(try_leak(scene, (struct leak){unlimited, {1000}, 1, true}), 0);
    assert_false(scene->report.partial);
    assert_int_equal(try_leak(scene, (struct leak){unlimited, {1001}, 1, true}), 0);
    assert_true(scene->report.partial);
}

/* --- Tables of the whole machine -------------------------------------------------------------- */

static void neighbours_close_to_their_limit_are_a_warning(void **state)
{
    struct scene *scene = *state;

    set_counter(&scene->now, ARP_ENTRIES, 921);
    set_sysctl(&scene->now, ARP_MAX, 1024);
    assert_int_equal(try_rule(scene, "neighbour-table"), 0);
    set_counter(&scene->now, ARP_ENTRIES, 922);
    assert_int_equal(try_rule(scene, "neighbour-table"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_WARNING);
    assert_string_equal(scene->summaries[0], "neighbours of IPv4 (ARP): 922 of 1024 entries, 90 %");
    scene->now.counts.known[ARP_MAX] = false;
    assert_int_equal(try_rule(scene, "neighbour-table"), 0);
}

static void permanent_neighbours_fill_no_table(void **state)
{
    struct scene *scene = *state;

    set_counter(&scene->now, NDISC_ENTRIES, 4010);
    set_sysctl(&scene->now, NDISC_MAX, 1024);
    assert_int_equal(try_rule(scene, "neighbour-table"), 0);
    set_counter(&scene->before, NDISC_FULLS, 0);
    set_counter(&scene->now, NDISC_FULLS, 3);
    assert_int_equal(try_rule(scene, "neighbour-table"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_FAULT);
    assert_string_equal(scene->summaries[0],
                        "neighbours of IPv6: in 5 s 3 neighbours did not fit into the table; "
                        "now there are 4010 of 1024 entries");
}

static void packets_that_race_do_not_fill_the_table_of_flows(void **state)
{
    struct scene *scene = *state;

    set_counter(&scene->now, FLOWS_TRACKED, 10);
    set_sysctl(&scene->now, FLOWS_MAX, 100);
    set_counter(&scene->now, FLOWS_DROPPED, 9);
    set_counter(&scene->now, FLOWS_SQUEEZED, 0);
    set_counter(&scene->now, FLOWS_RACED, 100);
    assert_int_equal(try_rule(scene, "conntrack-races"), 0); /* the reading before did not know */
    set_counter(&scene->now, FLOWS_RACED, 9);
    set_counter(&scene->before, FLOWS_DROPPED, 0);
    set_counter(&scene->before, FLOWS_SQUEEZED, 0);
    set_counter(&scene->before, FLOWS_RACED, 0);
    assert_int_equal(try_rule(scene, "conntrack-full"), 0);
    assert_int_equal(try_rule(scene, "conntrack-races"), 0); /* fewer than two a second */
    set_counter(&scene->now, FLOWS_RACED, 10);
    assert_int_equal(try_rule(scene, "conntrack-races"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_WARNING);
    set_counter(&scene->now, FLOWS_SQUEEZED, 1);
    assert_int_equal(try_rule(scene, "conntrack-full"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_FAULT);
}

static void lateness_of_processors_is_a_warning_from_a_percent_on(void **state)
{
    static const struct rule softnet = {
        {.name = "softnet", .command = ""}, READS_SOFTNET, .evaluate = rule_softnet};
    struct scene *scene = *state;

    set_counter(&scene->before, SOFTNET_PROCESSED, 5);
    set_counter(&scene->before, SOFTNET_SQUEEZED, 7);
    set_counter(&scene->before, SOFTNET_DROPPED, 2);
    set_counter(&scene->now, SOFTNET_DROPPED, 2);
    set_counter(&scene->now, SOFTNET_PROCESSED, 10006);
    set_counter(&scene->now, SOFTNET_SQUEEZED, 107);
    assert_int_equal(examine(scene, &softnet), 1);
    assert_int_equal(scene->severity[0], SEVERITY_PAST); /* 100 of 10001 */
    set_counter(&scene->now, SOFTNET_PROCESSED, 10005);
    assert_int_equal(examine(scene, &softnet), 1);
    assert_int_equal(scene->severity[0], SEVERITY_WARNING);
    set_counter(&scene->now, SOFTNET_PROCESSED, 2000);
    set_counter(&scene->now, SOFTNET_SQUEEZED, 106);
    assert_int_equal(examine(scene, &softnet), 1);
    assert_int_equal(scene->severity[0], SEVERITY_PAST); /* 99 */
    set_counter(&scene->now, SOFTNET_DROPPED, 3);
    assert_int_equal(examine(scene, &softnet), 1);
    assert_int_equal(scene->severity[0], SEVERITY_FAULT);
}

/* --- Interfaces ------------------------------------------------------------------------------- */

static void a_few_errors_and_counters_that_fell_are_no_fault(void **state)
{
    struct scene *scene = *state;
    struct interface_reading *before = scene->before.interfaces, *now = scene->now.interfaces;

    scene->before.interface_count = scene->now.interface_count = 1;
    *before = (struct interface_reading){.index = 7, .name = "eth0", .received = 100};
    *now = (struct interface_reading){.index = 7, .name = "eth0", .received = 103, .broken = 9};
    assert_int_equal(try_rule(scene, "interface-errors"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_WARNING);
    now->lost = 1;
    assert_int_equal(try_rule(scene, "interface-errors"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_FAULT);
    now->received = 99; /* the driver was loaded again */
    assert_int_equal(try_rule(scene, "interface-errors"), 0);
}

static void a_queue_that_drops_ten_and_a_percent_is_a_warning(void **state)
{
    struct scene *scene = *state;
    struct interface_reading *before = scene->before.interfaces, *now = scene->now.interfaces;

    scene->before.interface_count = scene->now.interface_count = 1;
    *before = (struct interface_reading){.index = 7, .name = "eth0", .has_queue_drops = true};
    *now = *before;
    now->sent = 991;
    now->queue_drops = 10;
    assert_int_equal(try_rule(scene, "queue-drops"), 0);
    now->sent = 990;
    assert_int_equal(try_rule(scene, "queue-drops"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_WARNING);
    now->sent = 0;
    now->queue_drops = 9;
    assert_int_equal(try_rule(scene, "queue-drops"), 0);
}

/* With net.ipv4.tcp_syncookies = 2 every SYN is answered by a cookie. */
static void cookies_say_nothing_where_all_syns_get_one(void **state)
{
    struct scene *scene = *state;

    set_counter(&scene->before, SYNCOOKIES_SENT, 1);
    set_counter(&scene->now, SYNCOOKIES_SENT, 6);
    assert_int_equal(try_rule(scene, "syn-flood"), 0); /* the sysctl may be 2 */
    set_sysctl(&scene->now, SYNCOOKIES, 1);
    assert_int_equal(try_rule(scene, "syn-flood"), 1);
    set_sysctl(&scene->now, SYNCOOKIES, 2);
    assert_int_equal(try_rule(scene, "syn-flood"), 0);
}

/* Connections that it has no room for stay half-open: accept-queue names the listener. */
static void cookies_say_nothing_where_an_accept_queue_is_full(void **state)
{
    struct scene *scene = *state;

    set_counter(&scene->before, SYNCOOKIES_SENT, 1);
    set_counter(&scene->now, SYNCOOKIES_SENT, 6);
    set_counter(&scene->before, LISTEN_OVERFLOWS, 1);
    set_counter(&scene->now, LISTEN_OVERFLOWS, 1);
    set_sysctl(&scene->now, SYNCOOKIES, 1);
    assert_int_equal(try_rule(scene, "syn-flood"), 1);
    set_counter(&scene->now, LISTEN_OVERFLOWS, 2);
    assert_int_equal(try_rule(scene, "syn-flood"), 0);
}

static void a_unix_socket_is_named_whole(void **state)
{
    static const char name[] = {'\0', 'a', '\0', 'b'};
    struct scene *scene = *state;

    scene->now.sockets.suspects[UNIX_QUEUES] = (struct suspects){
        .count = 1, .kept = 1, .worst[0] = {.value = 3, .limit = 2, .path_length = sizeof name}};
    memcpy(scene->now.sockets.suspects[UNIX_QUEUES].worst[0].path, name, sizeof name);
    assert_int_equal(try_rule(scene, "unix-backlog"), 1);
    assert_string_equal(scene->subject[0], "@a@b");
}

static void another_interface_of_the_same_number_is_not_compared(void **state)
{
    struct scene *scene = *state;

    scene->before.interface_count = scene->now.interface_count = 1;
    scene->before.interfaces[0] = (struct interface_reading){.index = 7, .name = "eth0"};
    scene->now.interfaces[0] = (struct interface_reading){.index = 7, .name = "ppp0", .broken = 9};
    assert_int_equal(try_rule(scene, "interface-errors"), 0);
    scene->before.interfaces[0] = (struct interface_reading){.index = 8, .name = "ppp0"};
    assert_int_equal(try_rule(scene, "interface-errors"), 0);
    scene->before.interfaces[0].index = 7;
    assert_int_equal(try_rule(scene, "interface-errors"), 1);
    assert_string_equal(scene->subject[0], "ppp0");
    scene->before.at = 0;
    scene->before.interface_count = 0;
    assert_int_equal(try_rule(scene, "interface-errors"), 0);
}

static void an_address_that_is_a_duplicate_is_a_fault(void **state)
{
    struct scene *scene = *state;
    struct interface_reading *interface = &scene->now.interfaces[0];

    scene->now.interface_count = 1;
    *interface = (struct interface_reading){.index = 2, .name = "eth0"};
    assert_int_equal(try_rule(scene, "duplicate-address"), 0);
    interface->duplicate.address.family = AF_INET6;
    interface->duplicate.prefix = 64;
    inet_pton(AF_INET6, "2001:db8::5", interface->duplicate.address.bytes);
    assert_int_equal(try_rule(scene, "duplicate-address"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_FAULT);
    assert_string_equal(scene->summaries[0], "eth0 has the address 2001:db8::5/64, which another "
                                             "machine has, too, so this machine does not use it");
}

/* --- Sockets ---------------------------------------------------------------------------------- */

static struct record socket_row(uint16_t protocol, uint8_t state, uint64_t cookie)
{
    struct record record;

    record_begin(&record, &kind_socket, sizeof record.socket);
    record.identity = cookie;
    record.has = SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES;
    record.socket.protocol = protocol;
    record.socket.state = state;
    record.socket.local =
        (struct endpoint){{AF_INET, {127, 0, 0, 1}}, (uint16_t)(cookie % UINT16_MAX)};
    record.socket.remote.address.family = AF_INET;
    return record;
}

static struct record listener(uint64_t cookie, uint32_t waiting, uint32_t backlog)
{
    struct record record = socket_row(IPPROTO_TCP, TCP_LISTEN, cookie);

    record.has |= SOCKET_BACKLOG;
    record.socket.recv_q = waiting;
    record.socket.backlog = record.socket.send_q = backlog;
    return record;
}

static void take(struct scene *scene, struct record record)
{
    scene->now.before = &scene->before;
    assert_int_equal(sockets_take(&scene->now, &record), 0);
}

/* The first reading has nothing to compare with. */
static void take_before(struct scene *scene, struct record record)
{
    assert_int_equal(sockets_take(&scene->before, &record), 0);
}

static void the_worst_of_ten_thousand_suspects_are_kept(void **state)
{
    struct scene *scene = *state;
    enum { MANY = 10000 };
    uint64_t least = UINT64_MAX;

    /* 7919 is a prime, so they come in no order */
    for (uint32_t i = 0; i < MANY; i++)
        take(scene, listener(i + 1, 11 + i * 7919 % MANY, 10));
    const struct suspects *suspects = &scene->now.sockets.suspects[ACCEPT_QUEUES];
    assert_int_equal(suspects->count, MANY);
    assert_int_equal(suspects->kept, SUSPECTS_MAX);
    for (size_t i = 0; i < SUSPECTS_MAX; i++)
        least = suspects->worst[i].value < least ? suspects->worst[i].value : least;
    assert_int_equal(least, 10 + MANY - SUSPECTS_MAX + 1);
    assert_int_equal(try_rule(scene, "accept-queue"), SUSPECTS_MAX);
    assert_non_null(strstr(scene->evidence[0], "9992 more like this"));
}

static void the_worst_of_a_crowd_come_first(void **state)
{
    struct scene *scene = *state;

    for (uint32_t i = 0; i < 2 * SUSPECTS_MAX; i++)
        take(scene, listener(i + 1, 200 + i * 7 % 16, 100));
    assert_int_equal(try_rule(scene, "accept-queue"), SUSPECTS_MAX);
    for (uint32_t i = 0; i < SUSPECTS_MAX; i++)
        assert_int_equal(scene->value[i], 215 - i);
}

static void a_queue_is_full_with_one_more_than_its_backlog(void **state)
{
    struct scene *scene = *state;

    take(scene, listener(1, 128, 128));
    assert_int_equal(try_rule(scene, "accept-queue"), 0);
    take(scene, listener(2, 129, 128));
    assert_int_equal(try_rule(scene, "accept-queue"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_WARNING); /* not full before: maybe a burst */
    take_before(scene, listener(3, 129, 128));
    take(scene, listener(3, 129, 128));
    assert_int_equal(try_rule(scene, "accept-queue"), 2);
    assert_int_equal(scene->severity[1], SEVERITY_FAULT);
    assert_string_equal(scene->summaries[1],
                        "a socket without a process does not accept: 129 connections wait on "
                        "127.0.0.1:3 (limit 128)");
}

static void take_unix(struct scene *scene, bool before, uint64_t cookie, uint32_t backlog,
                      uint32_t first)
{
    const uint32_t waiting[] = {first, 99};
    struct record record = listener(cookie, backlog + 1, backlog);

    record.socket.protocol = 0;
    record.has |= SOCKET_ICONS;
    record.socket.waiting = (struct text){(const char *)waiting, sizeof waiting};
    (before ? take_before : take)(scene, record);
}

/* The socket that waits first is another one. */
static void a_unix_socket_whose_queue_moves_is_healthy(void **state)
{
    struct scene *scene = *state;

    take_unix(scene, true, 1, 2, 50);
    take_unix(scene, false, 1, 2, 51);
    take_unix(scene, false, 2, 0, 60); /* a moment */
    assert_int_equal(try_rule(scene, "unix-backlog"), 0);
    assert_int_equal(scene->now.sockets.suspects[BURSTS].count, 0);
    take_unix(scene, true, 3, 0, 70);
    take_unix(scene, false, 3, 0, 70);
    assert_int_equal(try_rule(scene, "unix-backlog"), 1);
    take_unix(scene, true, 4, 2, 0); /* the programs that waited are gone */
    take_unix(scene, false, 4, 2, 0);
    take_unix(scene, false, 5, 2, 80);
    assert_int_equal(try_rule(scene, "unix-backlog"), 3);
}

/* Two that nobody visible holds may be of two processes. */
static void listeners_without_a_process_are_of_no_one_process(void **state)
{
    struct scene *scene = *state;

    take(scene, listener(6, 129, 128));
    take(scene, listener(6, 129, 128));
    assert_int_equal(try_rule(scene, "accept-queue"), 1);
    assert_non_null(strstr(scene->evidence[0], "; 1 more like this"));
}

/* Of UDP sockets: a buffer and a counter of drops. */
static struct record datagrams(uint64_t cookie, uint32_t drops, uint32_t memory[SK_MEMINFO_VARS])
{
    struct record record = socket_row(IPPROTO_UDP, TCP_CLOSE, cookie);

    memset(memory, 0, SK_MEMINFO_VARS * sizeof *memory);
    memory[SK_MEMINFO_DROPS] = drops;
    memory[SK_MEMINFO_RCVBUF] = 2048;
    record.has |= SOCKET_MEMORY | SOCKET_DROPS;
    record.socket.memory = (struct text){(const char *)memory, SK_MEMINFO_VARS * sizeof *memory};
    return record;
}

/* The kernel's counter of drops because a buffer was full. */
/* A counter of the namespace blames nobody. */
static void each_listener_answers_for_its_own_drops(void **state)
{
    uint32_t memory[SK_MEMINFO_VARS] = {[SK_MEMINFO_DROPS] = 7};
    struct scene *scene = *state;
    struct record record = listener(4, 0, 128);

    record.has |= SOCKET_MEMORY | SOCKET_DROPS;
    record.socket.memory = (struct text){(const char *)memory, sizeof memory};
    take_before(scene, record);
    take_before(scene, listener(5, 129, 128));
    memory[SK_MEMINFO_DROPS] = 22;
    take(scene, record);
    take(scene, listener(5, 129, 128));
    assert_int_equal(try_rule(scene, "accept-queue"), 1); /* dropped, but not by a full queue */
    set_counter(&scene->before, LISTEN_OVERFLOWS, 100);
    set_counter(&scene->now, LISTEN_OVERFLOWS, 115);
    assert_int_equal(try_rule(scene, "accept-queue"), 2);
    assert_string_equal(scene->summaries[0],
                        "a socket without a process does not accept: 129 connections wait on "
                        "127.0.0.1:5 (limit 128)");
    assert_string_equal(scene->summaries[1],
                        "a socket without a process accepts too slowly for bursts: the queue "
                        "on 127.0.0.1:4 (limit 128) overflowed, 15 attempts to connect were "
                        "dropped in 5 s");
    assert_int_equal(scene->severity[1], SEVERITY_FAULT);
}

/* A flood of SYNs makes a listener drop more than all queues overflow. */
static void a_flooded_listener_is_not_blamed_for_the_queue_of_another(void **state)
{
    uint32_t memory[SK_MEMINFO_VARS] = {[SK_MEMINFO_DROPS] = 0};
    struct scene *scene = *state;
    struct record stuck = listener(5, 3, 2), flooded = listener(4, 0, 500);

    stuck.has |= SOCKET_MEMORY | SOCKET_DROPS;
    stuck.socket.memory = (struct text){(const char *)memory, sizeof memory};
    flooded.has = stuck.has;
    flooded.socket.memory = stuck.socket.memory;
    take_before(scene, stuck);
    take_before(scene, flooded);
    set_counter(&scene->before, LISTEN_OVERFLOWS, 100);
    set_counter(&scene->now, LISTEN_OVERFLOWS, 142);
    memory[SK_MEMINFO_DROPS] = 385;
    take(scene, flooded);
    assert_int_equal(try_rule(scene, "accept-queue"), 1); /* no other queue overflowed */
    memory[SK_MEMINFO_DROPS] = 40; /* read a little earlier than the counter */
    take(scene, stuck);
    assert_int_equal(try_rule(scene, "accept-queue"), 1);
    assert_non_null(strstr(scene->summaries[0], "3 connections wait on 127.0.0.1:5 (limit 2)"));
}

static void buffer_errors(struct scene *scene)
{
    set_counter(&scene->before, UDP_BUFFER_ERRORS, 1);
    set_counter(&scene->now, UDP_BUFFER_ERRORS, 9);
}

static void drops_of_a_socket_count_from_the_reading_before(void **state)
{
    struct scene *scene = *state;
    uint32_t memory[SK_MEMINFO_VARS];

    take_before(scene, datagrams(1, 100, memory));
    take_before(scene, datagrams(2, UINT32_MAX, memory));
    take(scene, datagrams(1, 100, memory));
    assert_int_equal(try_rule(scene, "udp-buffer"), 0);
    take(scene, datagrams(2, 4, memory));               /* the counter has 32 bits */
    assert_int_equal(try_rule(scene, "udp-buffer"), 0); /* a filter dropped them */
    buffer_errors(scene);
    assert_int_equal(try_rule(scene, "udp-buffer"), 1);
    assert_int_equal(scene->value[0], 5);
    take(scene, datagrams(3, 1, memory)); /* it is new */
    assert_int_equal(try_rule(scene, "udp-buffer"), 2);
    assert_string_equal(scene->summaries[1],
                        "a socket without a process does not read fast enough: 1 datagram for "
                        "127.0.0.1:3 was dropped in 5 s");
}

/* Only so many are remembered; of the others nothing is said, because what they had is unknown. */
static void sockets_that_were_not_remembered_are_not_compared(void **state)
{
    struct scene *scene = *state;
    uint32_t memory[SK_MEMINFO_VARS];

    for (uint64_t cookie = 1; cookie <= 20000; cookie++)
        take_before(scene, datagrams(cookie, 7, memory));
    for (uint64_t cookie = 1; cookie <= 20000; cookie++)
        take(scene, datagrams(cookie, 7, memory));
    assert_int_equal(try_rule(scene, "udp-buffer"), 0);
    take(scene, datagrams(5, 9, memory));
    buffer_errors(scene);
    assert_int_equal(try_rule(scene, "udp-buffer"), 1);
    assert_int_equal(scene->value[0], 2);
}

static void a_group_that_nobody_reads_is_a_warning(void **state)
{
    static const uint8_t v6[16] = {0xff, 0x02, [15] = 0xfb};
    struct scene *scene = *state;
    uint32_t memory[SK_MEMINFO_VARS];
    struct record record = datagrams(1, 5, memory);

    buffer_errors(scene);
    record.socket.local.address = (struct address){AF_INET, {239, 1, 2, 3}};
    take(scene, record);
    record.identity = 2;
    record.socket.local.address.family = AF_INET6;
    memcpy(record.socket.local.address.bytes, v6, sizeof v6);
    take(scene, record);
    assert_int_equal(try_rule(scene, "udp-buffer"), 2);
    assert_int_equal(scene->severity[0], SEVERITY_WARNING);
    assert_int_equal(scene->severity[1], SEVERITY_WARNING);
}

static struct record connection(uint64_t cookie, uint8_t timer, const struct kernel_tcp_info *info)
{
    struct record record = socket_row(IPPROTO_TCP, TCP_ESTABLISHED, cookie);

    record.has |= SOCKET_TIMER | SOCKET_TCP_INFO | SOCKET_TCP_BASICS;
    record.socket.timer = timer;
    record.socket.send_q = 5000;
    record.socket.remote = (struct endpoint){{AF_INET, {192, 0, 2, 1}}, 443};
    record.socket.info = (struct text){(const char *)info, sizeof *info};
    return record;
}

static void a_finding_says_that_connections_have_several_peers(void **state)
{
    static const char *const expected[] = {"(1 connection)", "(2 connections)",
                                           "(3 connections, also to others)"};
    struct kernel_tcp_info info = {.backoff = 3, .last_ack_recv = 10001, .last_data_recv = 10001};
    struct scene *scene = *state;

    for (size_t i = 0; i < COUNT(expected); i++) {
        struct record record = connection(1 + i, TIMER_RETRANSMIT, &info);
        record.socket.remote.port = i == 2 ? 444 : 443;
        take(scene, record);
        assert_int_equal(try_rule(scene, "peer-gone"), 1);
        assert_non_null(strstr(scene->summaries[0], expected[i]));
    }
}

static void a_peer_that_answers_again_is_shown_at_a_terminal(void **state)
{
    struct kernel_tcp_info info = {.backoff = 3, .last_ack_recv = 10001, .last_data_recv = 10001};
    struct scene *scene = *state;

    take(scene, connection(1, TIMER_RETRANSMIT, &info));
    scene->is_first = true;
    scene->drops = (const struct drop_probe *)scene; /* only that there are drops */
    assert_int_equal(try_rule(scene, "peer-gone"), 0);
    scene->is_first = false;
    scene->drops = NULL;
    scene->before.sockets.suspects[SILENT_PEERS] = scene->now.sockets.suspects[SILENT_PEERS];
    scene->before.sockets.connections = 1;
    scene->now.sockets.suspects[SILENT_PEERS].kept =
        scene->now.sockets.suspects[SILENT_PEERS].count = 0;
    assert_int_equal(try_rule(scene, "peer-gone"), 0);
    scene->follows_first = true;
    assert_int_equal(try_rule(scene, "peer-gone"), 1);
}

static void silence_counts_from_a_percent_of_connections_on(void **state)
{
    struct scene *scene = *state;
    struct kernel_tcp_info info = {
        .backoff = 3, .snd_mss = 1448, .last_ack_recv = 10001, .last_data_recv = 10001};

    take(scene, connection(1, TIMER_RETRANSMIT, &info));
    scene->now.sockets.connections = 100;
    assert_int_equal(try_rule(scene, "peer-gone"), 1);
    assert_int_equal(try_rule(scene, "mtu-black-hole"), 0);
    scene->now.sockets.connections = 101;
    assert_int_equal(try_rule(scene, "peer-gone"), 0);
}

/* Programs that gave up their connections must not hide that nobody answers. */
static void connections_that_end_count_among_those_that_may_be_silent(void **state)
{
    static const uint8_t counted[] = {TCP_ESTABLISHED, TCP_FIN_WAIT1, TCP_LAST_ACK, TCP_CLOSING};
    static const uint8_t others[] = {TCP_LISTEN, TCP_TIME_WAIT, TCP_SYN_SENT, TCP_SYN_RECV};
    struct scene *scene = *state;
    struct kernel_tcp_info info = {.backoff = 3, .last_ack_recv = 10001, .last_data_recv = 10001};

    for (uint64_t i = 0; i < 4; i++) {
        struct record record = connection(i + 1, TIMER_RETRANSMIT, &info);
        record.socket.state = counted[i];
        take(scene, record);
        record.socket.state = others[i];
        take(scene, record);
    }
    assert_int_equal(scene->now.sockets.connections, 4);
    assert_int_equal(try_rule(scene, "peer-gone"), 1);
}

/* A client that has shut down its side waits for the answer. Connections that nobody closes wait
 * for nothing, and do not hide it. */
static void a_peer_that_has_shut_down_its_side_may_be_gone(void **state)
{
    struct scene *scene = *state;
    struct kernel_tcp_info info = {.backoff = 3, .last_ack_recv = 10001, .last_data_recv = 10001};
    struct record record = connection(1, TIMER_RETRANSMIT, &info);

    record.socket.state = TCP_CLOSE_WAIT;
    take(scene, record);
    assert_int_equal(try_rule(scene, "peer-gone"), 1);
    for (uint64_t cookie = 2; cookie < 202; cookie++) {
        record.identity = cookie;
        record.socket.timer = TIMER_OFF;
        take(scene, record);
    }
    assert_int_equal(scene->now.sockets.connections, 1);
    assert_int_equal(scene->now.sockets.suspects[SILENT_PEERS].count, 1);
}

/* A peer that gets nothing has nothing to say: it may still be there. */
static void silence_after_large_segments_alone_names_both_causes(void **state)
{
    struct scene *scene = *state;
    struct kernel_tcp_info info = {.backoff = 3,
                                   .snd_mss = 1448,
                                   .unacked = 3,
                                   .bytes_acked = 1,
                                   .last_ack_recv = 20000,
                                   .last_data_recv = 20000};
    struct kernel_tcp_info answered = {.last_ack_recv = 10, .last_data_recv = 20000};

    take(scene, connection(1, TIMER_RETRANSMIT, &info));
    assert_int_equal(try_rule(scene, "peer-gone"), 0);
    assert_int_equal(try_rule(scene, "mtu-black-hole"), 1);
    assert_non_null(strstr(scene->summaries[0], "or the peer is gone"));
    take(scene, connection(2, 0, &answered));
    assert_int_equal(try_rule(scene, "mtu-black-hole"), 1);
    assert_non_null(strstr(scene->summaries[0], "small segments pass, but large segments do not"));
}

static void silence_after_small_or_acknowledged_segments_is_a_peer_gone(void **state)
{
    struct scene *scene = *state;
    struct kernel_tcp_info info = {.backoff = 3,
                                   .snd_mss = 1448,
                                   .unacked = 5, /* 1000 bytes each */
                                   .bytes_acked = 1,
                                   .last_ack_recv = 20000,
                                   .last_data_recv = 20000};

    take(scene, connection(1, TIMER_RETRANSMIT, &info));
    info.unacked = 3;
    info.bytes_acked = 1448;
    take(scene, connection(2, TIMER_RETRANSMIT, &info));
    assert_int_equal(try_rule(scene, "mtu-black-hole"), 0);
    assert_int_equal(try_rule(scene, "peer-gone"), 1);
    assert_int_equal(scene->value[0], 2);
    assert_string_equal(scene->evidence[0],
                        "192.0.2.1:443 x2: 10000 bytes not acknowledged"); /* each peer once */
}

static void keepalive_probes_without_an_answer_are_counted(void **state)
{
    struct scene *scene = *state;
    struct kernel_tcp_info info = {.probes = 3, .last_ack_recv = 20000, .last_data_recv = 20000};
    struct record record = connection(1, TIMER_KEEPALIVE, &info);

    record.socket.send_q = 0;
    take(scene, record);
    info = (struct kernel_tcp_info){.backoff = 3, .last_ack_recv = 20000, .last_data_recv = 20000};
    take(scene, connection(2, TIMER_RETRANSMIT, &info));
    assert_int_equal(try_rule(scene, "peer-gone"), 1);
    assert_null(strstr(scene->summaries[0], "also to others"));
    assert_string_equal(scene->evidence[0], "192.0.2.1:443: 5000 bytes not acknowledged; "
                                            "192.0.2.1:443: 3 keepalive probes without an answer");
}

/* An orphan has no process that the finding could name. */
static void a_connection_with_a_process_comes_before_an_orphan(void **state)
{
    struct scene *scene = *state;
    struct kernel_tcp_info info = {.backoff = 3, .last_ack_recv = 20000, .last_data_recv = 20000};
    struct record record = connection(1, TIMER_RETRANSMIT, &info);

    record.socket.inode = 7;
    record.socket.remote.port = 444;
    take(scene, record);
    record.socket.inode = 0;
    record.socket.remote.port = 445;
    record.socket.send_q *= 2;
    take(scene, record);
    assert_int_equal(try_rule(scene, "peer-gone"), 1);
    assert_string_equal(scene->subject[0], "192.0.2.1:444");
}

/* Some connections to it are silent and others are not. */
static void a_path_with_a_smaller_mtu_is_one_finding(void **state)
{
    struct scene *scene = *state;
    struct kernel_tcp_info info = {.backoff = 3,
                                   .rto = 1600000,
                                   .snd_mss = 1448,
                                   .unacked = 3,
                                   .last_ack_recv = 20000,
                                   .last_data_recv = 1199};

    take(scene, connection(1, TIMER_RETRANSMIT, &info));
    info.last_data_recv = 20000;
    take(scene, connection(2, TIMER_RETRANSMIT, &info));
    info.bytes_acked = 100000;
    take(scene, connection(3, TIMER_RETRANSMIT, &info));
    assert_int_equal(try_rule(scene, "mtu-black-hole"), 1);
    assert_int_equal(try_rule(scene, "peer-gone"), 0);
}

static void a_peer_that_is_heard_has_not_gone(void **state)
{
    struct scene *scene = *state;
    struct kernel_tcp_info info = {.backoff = 3,
                                   .rto = 1600000,
                                   .snd_mss = 1448,
                                   .last_ack_recv = 20000,
                                   .last_data_recv = 1199};

    take(scene, connection(1, TIMER_RETRANSMIT, &info));
    info.last_data_recv = 1200; /* maybe it was heard before the segment was sent */
    take(scene, connection(5, TIMER_RETRANSMIT, &info));
    info.last_data_recv = 1199;
    assert_int_equal(try_rule(scene, "peer-gone"), 0);
    assert_int_equal(try_rule(scene, "mtu-black-hole"), 1);
    info.snd_mss = 1000; /* so small segments pass any path */
    take(scene, connection(2, TIMER_RETRANSMIT, &info));
    info.snd_mss = 1448;
    info.backoff = 2;
    take(scene, connection(3, TIMER_RETRANSMIT, &info));
    info.backoff = 3;
    info.snd_mss = 5001; /* more than waits */
    take(scene, connection(4, TIMER_RETRANSMIT, &info));
    assert_int_equal(try_rule(scene, "mtu-black-hole"), 1);
    assert_int_equal(scene->value[0], 1);
}

static void a_closed_window_must_have_stayed_closed(void **state)
{
    struct scene *scene = *state;
    struct kernel_tcp_info info = {.busy_time = 1000, .rwnd_limited = 500, .bytes_acked = 77};

    take(scene, connection(1, TIMER_PROBE, &info)); /* it is new */
    assert_int_equal(try_rule(scene, "peer-not-reading"), 0);
    for (uint64_t cookie = 2; cookie <= 4; cookie++)
        take_before(scene, connection(cookie, TIMER_PROBE, &info));
    info.bytes_acked = 78;
    take(scene, connection(2, TIMER_PROBE, &info));
    info.bytes_acked = 77;
    info.rwnd_limited = 499;
    take(scene, connection(3, TIMER_PROBE, &info));
    assert_int_equal(try_rule(scene, "peer-not-reading"), 0);
    info.rwnd_limited = 500;
    take(scene, connection(4, TIMER_PROBE, &info));
    assert_int_equal(try_rule(scene, "peer-not-reading"), 1);
    assert_int_equal(scene->value[0], 1);
}

static void a_reader_is_slow_where_the_other_end_has_to_wait(void **state)
{
    static const uint32_t closed[] = {1447, 0}; /* 0: a kernel that does not tell it, too */
    struct scene *scene = *state;

    for (uint64_t i = 0; i < COUNT(closed); i++) {
        const struct kernel_tcp_info infos[] = {
            {.rcv_space = 14480, .advmss = 1448, .bytes_received = 30000, .rcv_wnd = 1448},
            {.rcv_space = 14480, .advmss = 1448, .bytes_received = 30000, .rcv_wnd = closed[i]}};
        for (size_t j = 0; j < COUNT(infos); j++) {
            struct record record = connection(1 + i, TIMER_OFF, &infos[j]);
            record.socket.recv_q = 30000;
            record.socket.remote.port = (uint16_t)(443 + i);
            take(scene, record);
            assert_int_equal(try_rule(scene, "slow-reader"), i);
            take_before(scene, record);
            take(scene, record);
            assert_int_equal(try_rule(scene, "slow-reader"), i + j);
        }
    }
}

/* A program that has shut down its side may still read; an orphan has no program. */
static void a_reader_that_has_shut_down_its_side_is_slow_too(void **state)
{
    const struct kernel_tcp_info info = {.rcv_space = 14480, .advmss = 1448};
    struct scene *scene = *state;
    struct record record = connection(1, TIMER_OFF, &info);

    record.socket.state = TCP_FIN_WAIT2;
    record.socket.recv_q = 30000;
    record.socket.inode = 0;
    take_before(scene, record);
    take(scene, record);
    assert_int_equal(try_rule(scene, "slow-reader"), 0);
    record.identity = 2;
    record.socket.inode = 7;
    take_before(scene, record);
    take(scene, record);
    assert_int_equal(try_rule(scene, "slow-reader"), 1);
}

static void half_open_connections_count_for_each_port(void **state)
{
    struct scene *scene = *state;
    struct record half = socket_row(IPPROTO_TCP, TCP_SYN_RECV, 80), other = half;

    take(scene, listener(80, 0, 50)); /* both listen on one port */
    take(scene, listener(80, 0, 50));
    take(scene, listener(81, 0, 4000));
    other.socket.local.port = 81;
    for (int i = 0; i < 79; i++)
        take(scene, half);
    for (int i = 0; i < 3000; i++)
        take(scene, other);
    assert_int_equal(try_rule(scene, "syn-flood"), 0);
    take(scene, half);
    assert_int_equal(try_rule(scene, "syn-flood"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_WARNING);
    assert_string_equal(scene->subject[0], "port 80");
    set_counter(&scene->before, SYNCOOKIES_SENT, 1);
    set_counter(&scene->now, SYNCOOKIES_SENT, 2);
    set_sysctl(&scene->now, SYNCOOKIES, 1);
    assert_int_equal(try_rule(scene, "syn-flood"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_FAULT);
}

/* The peers have answered, but have sent no data: no SYN-ACK was sent again. */
static void connections_that_wait_for_data_are_no_flood(void **state)
{
    struct scene *scene = *state;
    struct record half = socket_row(IPPROTO_TCP, TCP_SYN_RECV, 80);

    take(scene, listener(80, 0, 128));
    half.has |= SOCKET_TIMER_COUNT;
    half.socket.timer_ms = 3000;
    for (int i = 0; i < 60; i++)
        take(scene, half);
    half.has |= SOCKET_RETRANSMITS;
    half.socket.timer_ms = 500;
    half.socket.retransmits = 2;
    for (int i = 0; i < 50; i++)
        take(scene, half);
    assert_int_equal(try_rule(scene, "syn-flood"), 0);
    set_counter(&scene->before, SYNCOOKIES_SENT, 1);
    set_counter(&scene->now, SYNCOOKIES_SENT, 2);
    set_sysctl(&scene->now, SYNCOOKIES, 1);
    assert_int_equal(try_rule(scene, "syn-flood"), 1);
    assert_non_null(strstr(scene->evidence[0], "110 of them wait only for data"));
    set_counter(&scene->now, SYNCOOKIES_SENT, 1);
    half.socket.timer_count = 2; /* two SYN-ACKs were sent again: within 4 s the third */
    half.socket.timer_ms = 3000;
    for (int i = 0; i < 60; i++)
        take(scene, half);
    half.has &= ~SOCKET_TIMER_COUNT; /* a file has only the timeouts */
    half.socket.timer_count = 0;
    for (int i = 0; i < 50; i++)
        take(scene, half);
    assert_int_equal(try_rule(scene, "syn-flood"), 1);
}

/* All work on: cookies let them connect. */
static void few_cookies_for_a_small_backlog_are_a_warning(void **state)
{
    const struct record half = socket_row(IPPROTO_TCP, TCP_SYN_RECV, 80);
    struct scene *scene = *state;

    take(scene, listener(80, 0, 5));
    for (int i = 0; i < 6; i++)
        take(scene, half);
    set_counter(&scene->before, SYNCOOKIES_SENT, 1);
    set_counter(&scene->now, SYNCOOKIES_SENT, 26);
    set_sysctl(&scene->now, SYNCOOKIES, 1);
    assert_int_equal(try_rule(scene, "syn-flood"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_WARNING);
    set_counter(&scene->before, REQUESTS_DROPPED, 1);
    set_counter(&scene->now, REQUESTS_DROPPED, 2);
    assert_int_equal(try_rule(scene, "syn-flood"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_FAULT);
}

/* With 0 the last quarter of tcp_max_syn_backlog is kept for peers that are known. */
static void without_cookies_the_queue_is_full_at_three_quarters(void **state)
{
    const struct record half = socket_row(IPPROTO_TCP, TCP_SYN_RECV, 80);
    struct scene *scene = *state;

    set_sysctl(&scene->now, SYNCOOKIES, 0);
    set_sysctl(&scene->now, SYN_BACKLOG, 128);
    set_counter(&scene->before, LISTEN_DROPS, 1);
    set_counter(&scene->now, LISTEN_DROPS, 3);
    set_counter(&scene->before, LISTEN_OVERFLOWS, 1);
    set_counter(&scene->now, LISTEN_OVERFLOWS, 2);
    take(scene, listener(80, 0, 4096));
    for (int i = 0; i < 76; i++)
        take(scene, half);
    assert_int_equal(try_rule(scene, "syn-flood"), 0);
    take(scene, half);
    assert_int_equal(try_rule(scene, "syn-flood"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_FAULT);
    set_counter(&scene->now, LISTEN_OVERFLOWS, 3);
    assert_int_equal(try_rule(scene, "syn-flood"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_WARNING);
}

/* --- Ports ------------------------------------------------------------------------------------ */

static struct record outgoing(uint32_t port, uint32_t destination)
{
    struct record record = socket_row(IPPROTO_TCP, TCP_ESTABLISHED, 0);
    const uint32_t address = htonl(0x0a000000 + destination);

    record.socket.local.port = (uint16_t)port;
    memcpy(record.socket.remote.address.bytes, &address, sizeof address);
    record.socket.remote.port = 443;
    return record;
}

static void ports_are_counted_for_each_destination(void **state)
{
    struct scene *scene = *state;

    set_sysctl(&scene->now, PORT_FIRST, 40000);
    set_sysctl(&scene->now, PORT_LAST, 40999);
    for (uint32_t i = 0; i < 899; i++)
        take(scene, outgoing(40000 + i, 1));
    for (uint32_t i = 0; i < 1000; i++)
        take(scene, outgoing(40000 + i, 2 + i % 2));
    assert_int_equal(try_rule(scene, "ephemeral-ports"), 0);
    take(scene, outgoing(50000, 1)); /* not one that the kernel chose */
    assert_int_equal(try_rule(scene, "ephemeral-ports"), 0);
    take(scene, outgoing(40999, 1));
    assert_int_equal(try_rule(scene, "ephemeral-ports"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_WARNING);
    assert_string_equal(scene->subject[0], "127.0.0.1 to 10.0.0.1:443");
    scene->now.ports_reserved = 100;
    assert_int_equal(try_rule(scene, "ephemeral-ports"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_FAULT);
    scene->now.ports_reserved = 1000;
    assert_int_equal(try_rule(scene, "ephemeral-ports"), 1);
    assert_int_equal(scene->severity[0], SEVERITY_FAULT);
}

static void ports_in_time_wait_are_not_used_where_the_kernel_takes_them_again(void **state)
{
    struct scene *scene = *state;

    set_sysctl(&scene->now, PORT_FIRST, 40000);
    set_sysctl(&scene->now, PORT_LAST, 40099);
    for (uint32_t i = 0; i < 300; i++) {
        const uint64_t reuse = i / 100; /* never, always, within this machine */
        struct record record = outgoing(40000 + i % 100, 1);
        record.socket.state = TCP_TIME_WAIT;
        set_sysctl(&scene->now, TIME_WAIT_REUSE, reuse);
        if (reuse == 2)
            record.socket.remote.address.bytes[0] = 127;
        take(scene, record);
        if (i % 100 == 99)
            assert_int_equal(try_rule(scene, "ephemeral-ports"), 1);
    }
}

/* Among 200,000 others a key is found, and its count is at most `missed` too small, never larger.
 */
static void the_busiest_key_is_found_among_many(void **state)
{
    enum { MANY = 200000, BUSY = 1000 };
    struct busy *slots = calloc(BUSIEST_SLOTS, sizeof *slots);
    struct destination key;
    uint64_t found = 0;

    (void)state;
    assert_non_null(slots);
    for (uint32_t i = 0; i < MANY; i++) {
        const uint32_t address = (i % (MANY / BUSY)) ? htonl(0x0a000000 + i) : htonl(0x01000000);
        memset(&key, 0, sizeof key);
        key.local.family = key.remote.family = AF_INET;
        memcpy(key.remote.bytes, &address, sizeof address);
        key.port = 443;
        busiest_add(slots, BUSIEST_SLOTS, &key);
    }
    for (size_t i = 0; i < BUSIEST_SLOTS; i++) {
        if (slots[i].key.remote.bytes[0] != 1)
            continue;
        assert_true(slots[i].count <= BUSY);
        assert_true(slots[i].count + slots[i].missed >= BUSY);
        found += slots[i].count;
    }
    assert_true(found > BUSY * 9 / 10);
    free(slots);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_scene, remove_scene)

static const struct CMUnitTest tests[] = {
    TEST(rules_have_names_of_their_own_and_all_their_texts),
    TEST(each_part_of_a_rule_lacks_its_own_data),
    TEST(a_gauge_a_limit_and_its_counter_are_tried_by_themselves),
    TEST(losses_without_the_part_that_is_subtracted_are_not_tried),
    TEST(rules_say_their_thresholds_in_a_few_words),
    TEST(nothing_is_found_in_readings_without_anything),
    TEST(a_percentage_is_exact_and_does_not_overflow),
    TEST(nothing_grows_in_one_reading),
    TEST(a_rule_that_found_something_at_once_does_not_find_it_again),
    TEST(one_loss_is_reported_in_the_singular),
    TEST(a_counter_that_shrinks_has_not_grown),
    TEST(a_limit_that_is_not_known_is_not_reached),
    TEST(sockets_without_a_table_that_grow_in_both_intervals_are_found),
    TEST(more_than_1000_or_half_of_the_limit_are_found_at_once),
    TEST(processes_that_may_not_be_seen_are_reported_only_if_they_may_leak),
    TEST(neighbours_close_to_their_limit_are_a_warning),
    TEST(permanent_neighbours_fill_no_table),
    TEST(packets_that_race_do_not_fill_the_table_of_flows),
    TEST(lateness_of_processors_is_a_warning_from_a_percent_on),
    TEST(another_interface_of_the_same_number_is_not_compared),
    TEST(a_few_errors_and_counters_that_fell_are_no_fault),
    TEST(a_queue_that_drops_ten_and_a_percent_is_a_warning),
    TEST(cookies_say_nothing_where_all_syns_get_one),
    TEST(cookies_say_nothing_where_an_accept_queue_is_full),
    TEST(a_unix_socket_is_named_whole),
    TEST(an_address_that_is_a_duplicate_is_a_fault),
    TEST(the_worst_of_ten_thousand_suspects_are_kept),
    TEST(the_worst_of_a_crowd_come_first),
    TEST(a_queue_is_full_with_one_more_than_its_backlog),
    TEST(a_unix_socket_whose_queue_moves_is_healthy),
    TEST(listeners_without_a_process_are_of_no_one_process),
    TEST(each_listener_answers_for_its_own_drops),
    TEST(a_flooded_listener_is_not_blamed_for_the_queue_of_another),
    TEST(drops_of_a_socket_count_from_the_reading_before),
    TEST(sockets_that_were_not_remembered_are_not_compared),
    TEST(a_group_that_nobody_reads_is_a_warning),
    TEST(a_finding_says_that_connections_have_several_peers),
    TEST(a_peer_that_answers_again_is_shown_at_a_terminal),
    TEST(silence_counts_from_a_percent_of_connections_on),
    TEST(connections_that_end_count_among_those_that_may_be_silent),
    TEST(a_peer_that_has_shut_down_its_side_may_be_gone),
    TEST(silence_after_large_segments_alone_names_both_causes),
    TEST(silence_after_small_or_acknowledged_segments_is_a_peer_gone),
    TEST(keepalive_probes_without_an_answer_are_counted),
    TEST(a_connection_with_a_process_comes_before_an_orphan),
    TEST(a_path_with_a_smaller_mtu_is_one_finding),
    TEST(a_peer_that_is_heard_has_not_gone),
    TEST(a_closed_window_must_have_stayed_closed),
    TEST(a_reader_is_slow_where_the_other_end_has_to_wait),
    TEST(a_reader_that_has_shut_down_its_side_is_slow_too),
    TEST(half_open_connections_count_for_each_port),
    TEST(connections_that_wait_for_data_are_no_flood),
    TEST(few_cookies_for_a_small_backlog_are_a_warning),
    TEST(without_cookies_the_queue_is_full_at_three_quarters),
    TEST(ports_are_counted_for_each_destination),
    TEST(ports_in_time_wait_are_not_used_where_the_kernel_takes_them_again),
    TEST(the_busiest_key_is_found_among_many),
};

int main(void)
{
    return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
