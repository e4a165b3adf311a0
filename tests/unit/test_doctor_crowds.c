/* SPDX-License-Identifier: MIT */
/* The doctor's rules about many connections, over made rows: accept-wait, storm, scan, refused; and
 * no-answer about attempts to connect that programs gave up. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/rules.h"
#include "fastnet/clock.h"
#include "fastnet/kernel_info.h"
#include "fastnet/namespace.h"
#include "fastnet/report.h"
#include "kit.h"

enum { KEPT = 16, SUMMARY = 512 };

/* Two readings, and the findings of the rule that was tried last. */
struct scene {
    struct reading before, now;
    struct doctor_options options;
    struct doctor_summary summary;
    struct report report;
    uint64_t done;
    struct port_scan scans[4];
    size_t scan_count;
    size_t count;
    char summaries[KEPT][SUMMARY], evidence[KEPT][SUMMARY], subject[KEPT][192], process[KEPT][64];
};

static int keep(const struct record *record, void *arg)
{
    const struct finding_record *finding = &record->finding;
    struct scene *scene = arg;
    const size_t i = scene->count++;

    assert_true(i < KEPT);
    snprintf(scene->summaries[i], SUMMARY, "%.*s", (int)finding->summary.length,
             finding->summary.data);
    snprintf(scene->evidence[i], SUMMARY, "%.*s", (int)finding->evidence.length,
             finding->evidence.data);
    snprintf(scene->subject[i], sizeof scene->subject[i], "%.*s", (int)finding->subject.length,
             finding->subject.data);
    snprintf(scene->process[i], sizeof scene->process[i], "%.*s", (int)finding->process.length,
             finding->process.data);
    return 0;
}

/* Returns the number of findings. */
static size_t try_rule(struct scene *scene, const char *name)
{
    size_t i = 0;

    while (i < rule_count && strcmp(rules[i].text.name, name) != 0)
        i++;
    assert_true(i < rule_count);
    struct examination examination = {
        .options = &scene->options,
        .before = &scene->before,
        .now = &scene->now,
        .done = &scene->done,
        .scans = scene->scans,
        .scan_count = scene->scan_count,
        .searched_owners = true, /* no socket has an owner */
        .rule = &rules[i],
        .summary = &scene->summary,
        .report = &scene->report,
        .fn = keep,
        .arg = scene,
    };
    scene->count = 0;
    rules[i].evaluate(&examination);
    assert_int_equal(examination.error, 0);
    return scene->count;
}

static void make_sockets(struct sockets_reading *sockets)
{
    sockets->half_open = calloc(UINT16_MAX + 1, sizeof *sockets->half_open);
    sockets->busiest = calloc(BUSIEST_SLOTS, sizeof *sockets->busiest);
    assert_true(sockets->half_open && sockets->busiest);
}

static void set_number(struct reading *reading, enum kernel_number number, uint64_t value)
{
    reading->counts.numbers[number] = value;
    reading->counts.known[number] = true;
}

static int make_scene(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    make_sockets(&scene->before.sockets);
    make_sockets(&scene->now.sockets);
    scene->options.proc_root = "/nonexistent";
    scene->before.at = CLOCK_SECOND;
    scene->now.at = 6 * CLOCK_SECOND;
    scene->now.before = &scene->before;
    set_number(&scene->now, PORT_FIRST, 40000);
    set_number(&scene->now, PORT_LAST, 49999);
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

static struct endpoint end_of(uint8_t last, uint16_t port)
{
    return (struct endpoint){{AF_INET, {10, 0, 0, last}}, port};
}

static struct record row(uint8_t state, uint64_t cookie, struct endpoint local)
{
    struct record record;

    record_begin(&record, &kind_socket, sizeof record.socket);
    record.identity = cookie;
    record.has = SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES;
    record.socket.protocol = IPPROTO_TCP;
    record.socket.state = state;
    record.socket.local = local;
    record.socket.remote = end_of(200, (uint16_t)(50000 + cookie));
    return record;
}

static void take(struct reading *reading, struct record record)
{
    assert_int_equal(sockets_take(reading, &record), 0);
}

/* --- Connections that wait for accept(2) ------------------------------------------------------ */

static void take_listener(struct reading *reading, struct endpoint local, uint32_t queued,
                          uint32_t backlog)
{
    struct record record = row(TCP_LISTEN, 1000U + local.port, local);

    record.has |= SOCKET_BACKLOG;
    record.socket.recv_q = queued;
    record.socket.backlog = backlog;
    record.socket.inode = 77;
    take(reading, record);
}

static const struct kernel_tcp_info *silent_for(uint32_t milliseconds)
{
    static struct kernel_tcp_info info;

    info = (struct kernel_tcp_info){.last_data_recv = milliseconds, .last_ack_recv = milliseconds};
    return &info;
}

static void take_connection(struct reading *reading, uint8_t state, uint64_t cookie,
                            struct endpoint local, uint32_t milliseconds)
{
    struct record record = row(state, cookie, local);

    record.has |= SOCKET_TCP_INFO;
    record.socket.info =
        (struct text){(const char *)silent_for(milliseconds), sizeof(struct kernel_tcp_info)};
    take(reading, record);
}

static void a_connection_that_waits_in_both_readings_is_found(void **state)
{
    const struct endpoint any = {{.family = AF_INET}, 80};
    struct scene *scene = *state;

    take_listener(&scene->before, any, 2, 128);
    take_connection(&scene->before, TCP_ESTABLISHED, 1, end_of(1, 80), 100);
    take_listener(&scene->now, any, 2, 128);
    take_connection(&scene->now, TCP_ESTABLISHED, 1, end_of(1, 80), 5300);
    take_connection(&scene->now, TCP_CLOSE_WAIT, 2, end_of(1, 80), 9000); /* it is new */
    assert_int_equal(try_rule(scene, "accept-wait"), 1);
    assert_string_equal(scene->subject[0], "0.0.0.0:80");
    assert_string_equal(scene->summaries[0], "a process that is not visible lets 1 connection on "
                                             "0.0.0.0:80 wait for accept(2) for at least 5.3 s");
}

/* Data that comes later makes the kernel's own time shorter. */
static void the_time_between_the_readings_is_a_lower_bound(void **state)
{
    const struct endpoint local = {{AF_INET6, {[15] = 1}}, 80};
    struct scene *scene = *state;

    take_listener(&scene->before, local, 1, 128);
    take_connection(&scene->before, TCP_CLOSE_WAIT, 1, local, 10);
    take_listener(&scene->now, local, 1, 128);
    take_connection(&scene->now, TCP_CLOSE_WAIT, 1, local, 10);
    assert_int_equal(try_rule(scene, "accept-wait"), 1);
    assert_non_null(strstr(scene->summaries[0], "for at least 5.0 s"));
}

static void a_queue_with_new_connections_is_healthy(void **state)
{
    struct scene *scene = *state;

    take_listener(&scene->before, end_of(1, 80), 10, 128);
    take_listener(&scene->now, end_of(1, 80), 10, 128);
    for (uint64_t i = 0; i < 10; i++) {
        take_connection(&scene->before, TCP_ESTABLISHED, 1 + i, end_of(1, 80), 10);
        take_connection(&scene->now, TCP_ESTABLISHED, 101 + i, end_of(1, 80), 10);
    }
    assert_int_equal(try_rule(scene, "accept-wait"), 0);
    /* a process holds it; no listener; another port; it waits for a short time only */
    scene->now.at = scene->before.at + 3 * CLOCK_SECOND;
    take_connection(&scene->before, TCP_ESTABLISHED, 50, end_of(1, 80), 10);
    take_connection(&scene->now, TCP_ESTABLISHED, 50, end_of(1, 80), 3010);
    take_connection(&scene->before, TCP_ESTABLISHED, 51, end_of(1, 81), 10);
    take_connection(&scene->now, TCP_ESTABLISHED, 51, end_of(1, 81), 9000);
    take_connection(&scene->before, TCP_ESTABLISHED, 52, end_of(2, 80), 10);
    take_connection(&scene->now, TCP_ESTABLISHED, 52, end_of(2, 80), 9000);
    assert_int_equal(try_rule(scene, "accept-wait"), 0);
}

static struct record twin(uint64_t number, uint32_t interface, uint32_t queued)
{
    struct record record = row(TCP_LISTEN, 1000 + number, end_of(1, 80));

    record.has |= SOCKET_BACKLOG;
    record.socket.recv_q = queued;
    record.socket.backlog = 128;
    record.socket.inode = 70 + number;
    record.socket.interface = interface;
    return record;
}

/* A connection does not say in whose queue it is, but its listener's queue is not empty before. */
static void the_longest_queue_of_twins_may_be_that_of_a_healthy_process(void **state)
{
    struct scene *scene = *state;

    take(&scene->before, twin(1, 0, 2));
    take_connection(&scene->before, TCP_ESTABLISHED, 1, end_of(1, 80), 100);
    take(&scene->now, twin(1, 0, 2));
    take(&scene->now, twin(2, 0, 20));
    take_connection(&scene->now, TCP_ESTABLISHED, 1, end_of(1, 80), 5300);
    assert_int_equal(try_rule(scene, "accept-wait"), 1);
    assert_non_null(strstr(scene->evidence[0], "Recv-Q 2 of the listener,"));
    assert_int_equal(scene->now.sockets.waiting.list[0].inode, 71);
    assert_non_null(strstr(scene->summaries[0], "a process that is not visible lets 1 connection"));
}

static void no_process_of_twins_that_wait_alike_is_named(void **state)
{
    struct scene *scene = *state;

    for (uint64_t i = 1; i <= 2; i++)
        take(&scene->before, twin(i, 0, 2));
    take_connection(&scene->before, TCP_ESTABLISHED, 1, end_of(1, 80), 100);
    for (uint64_t i = 1; i <= 3; i++)
        take(&scene->now, twin(i, 0, 2));
    take_connection(&scene->now, TCP_ESTABLISHED, 1, end_of(1, 80), 5300);
    assert_int_equal(try_rule(scene, "accept-wait"), 1);
    assert_non_null(strstr(scene->summaries[0], "one of 2 listeners lets 1 connection"));
}

static void listeners_of_several_interfaces_are_no_twins(void **state)
{
    const struct waiting_listener *list;
    struct scene *scene = *state;
    struct record connection = row(TCP_ESTABLISHED, 1, end_of(1, 80));

    connection.socket.interface = 3;
    for (uint32_t i = 0; i < 3; i++)
        take(&scene->now, twin(i, i + 2, 9 - i));
    list = scene->now.sockets.waiting.list;
    assert_ptr_equal(accepts_find(&scene->now.sockets.waiting, &connection.socket), &list[1]);
    take(&scene->now, twin(4, 0, 1)); /* for all other interfaces */
    assert_ptr_equal(accepts_find(&scene->now.sockets.waiting, &connection.socket), &list[1]);
    connection.socket.interface = 9;
    assert_ptr_equal(accepts_find(&scene->now.sockets.waiting, &connection.socket), &list[3]);
}

/* accept-queue reports it. */
static void a_full_queue_is_no_second_finding(void **state)
{
    struct scene *scene = *state;

    take_listener(&scene->before, end_of(1, 80), 3, 2);
    take_connection(&scene->before, TCP_ESTABLISHED, 1, end_of(1, 80), 100);
    take_listener(&scene->now, end_of(1, 80), 3, 2);
    take_connection(&scene->now, TCP_ESTABLISHED, 1, end_of(1, 80), 5300);
    assert_int_equal(try_rule(scene, "accept-wait"), 0);
    assert_int_equal(try_rule(scene, "accept-queue"), 1);
}

/* A short queue is often full, although each connection waits only for a moment. */
static void a_full_queue_whose_connections_are_young_is_healthy(void **state)
{
    struct scene *scene = *state;

    set_number(&scene->before, LISTEN_OVERFLOWS, 0);
    set_number(&scene->now, LISTEN_OVERFLOWS, 0);
    take_listener(&scene->before, end_of(1, 80), 1, 0);
    take_connection(&scene->before, TCP_ESTABLISHED, 1, end_of(1, 80), 60);
    take_listener(&scene->now, end_of(1, 80), 1, 0);
    assert_int_equal(try_rule(scene, "accept-queue"), 1); /* it was reset, or is not listed */
    take_connection(&scene->now, TCP_ESTABLISHED, 2, end_of(1, 80), 60);
    assert_int_equal(try_rule(scene, "accept-queue"), 0);
    take_connection(&scene->now, TCP_ESTABLISHED, 3, end_of(1, 80), 1000);
    assert_int_equal(try_rule(scene, "accept-queue"), 1);
}

/* Its data may be young, but it waits since the first reading. */
static void a_full_queue_with_a_connection_of_both_readings_is_found(void **state)
{
    struct scene *scene = *state;

    set_number(&scene->now, LISTEN_OVERFLOWS, 0);
    take_listener(&scene->before, end_of(1, 80), 1, 0);
    take_connection(&scene->before, TCP_ESTABLISHED, 1, end_of(1, 80), 60);
    take_listener(&scene->now, end_of(1, 80), 1, 0);
    take_connection(&scene->now, TCP_ESTABLISHED, 1, end_of(1, 80), 60);
    assert_int_equal(try_rule(scene, "accept-queue"), 1);
}

static void the_listeners_with_the_longest_queues_are_kept(void **state)
{
    struct scene *scene = *state;
    struct waiting_listeners *waiting = &scene->now.sockets.waiting;

    for (uint16_t i = 0; i < 100; i++)
        take_listener(&scene->now, end_of(1, (uint16_t)(1 + i)), 1U + i, 128);
    take_listener(&scene->now, end_of(1, 100), 120, 128); /* a twin (SO_REUSEPORT) */
    take_listener(&scene->now, end_of(1, 200), 1, 128);
    assert_int_equal(waiting->count, WAITING_LISTENERS);
    for (size_t i = 0; i < waiting->count; i++) {
        assert_true(waiting->list[i].queued > 100 - WAITING_LISTENERS);
        if (waiting->list[i].local.port == 100)
            assert_int_equal(waiting->list[i].queued, 120);
    }
}

/* --- Storms ----------------------------------------------------------------------------------- */

/* Takes `count` connections to 10.0.0.`last`:5432 in TIME_WAIT, which ended in the last
 * `seconds`. */
static void take_ended(struct scene *scene, uint8_t last, unsigned count, unsigned seconds)
{
    static uint16_t port;

    if (!scene->now.counts.known[TIME_WAIT_REUSE])
        set_number(&scene->now, TIME_WAIT_REUSE, 0);
    for (unsigned i = 0; i < count; i++) {
        struct record record = row(TCP_TIME_WAIT, 0, end_of(1, (uint16_t)(40000 + port++ % 10000)));
        record.has |= SOCKET_TIMER;
        record.socket.remote = end_of(last, 5432);
        record.socket.timer_ms = 60000 - (uint64_t)i * seconds * 1000 / count;
        take(&scene->now, record);
    }
}

static void connections_that_will_use_up_the_ports_are_a_storm(void **state)
{
    struct scene *scene = *state;

    take_ended(scene, 2, 2100, 15); /* 21 % of 10,000 ports; 84 % at this rate */
    assert_int_equal(try_rule(scene, "storm"), 1);
    assert_string_equal(scene->subject[0], "10.0.0.2:5432");
    assert_string_equal(scene->summaries[0],
                        "this machine opens and ends 140 connections a second to 10.0.0.2:5432: "
                        "21 % of the local ports are in TIME_WAIT");
    assert_non_null(strstr(scene->evidence[0], "2100 connections from 10.0.0.1 to 10.0.0.2:5432"));
}

static void a_program_had_at_least_the_connections_whose_ends_were_read(void **state)
{
    const struct socket_origin origin = {.pid = 77, .name = "client"};
    struct scene *scene = *state;
    struct ended_connections *ended = &scene->before.sockets.ended;
    const struct endpoint peer = end_of(2, 5432);

    for (int i = 0; i < 3; i++)
        storms_take_ended(ended, &peer, &origin);
    take_ended(scene, 2, 2100, 15);
    assert_int_equal(try_rule(scene, "storm"), 1);
    assert_non_null(strstr(scene->evidence[0], "\"client\" (pid 77) had 3 connections there"));
    ended->missed = true;
    assert_int_equal(try_rule(scene, "storm"), 1);
    assert_non_null(strstr(scene->evidence[0], "(pid 77) had at least 3 connections there"));
}

static void half_of_the_ports_are_a_storm_at_a_lower_rate(void **state)
{
    struct scene *scene = *state;

    take_ended(scene, 2, 5000, 60);
    assert_int_equal(try_rule(scene, "storm"), 1);
    scene->now.counts.numbers[PORT_LAST] = 50099; /* 49 % */
    assert_int_equal(try_rule(scene, "storm"), 0);
}

static void a_storm_that_has_ended_is_healthy(void **state)
{
    struct scene *scene = *state;

    take_ended(scene, 2, 5000, 2); /* a benchmark, which has just begun */
    assert_int_equal(try_rule(scene, "storm"), 0);
    assert_int_equal(
        scene->now.sockets.storms->all.ended[0] + scene->now.sockets.storms->all.ended[1], 5000);
}

static void the_lowest_of_three_rates_counts(void **state)
{
    struct scene *scene = *state;

    take_ended(scene, 2, 1500, 15);
    take_ended(scene, 2, 1700, 2); /* together 32 % of the ports; 440, 100 and 100 a second */
    assert_int_equal(try_rule(scene, "storm"), 0);
    take_ended(scene, 2, 1500, 15);
    assert_int_equal(try_rule(scene, "storm"), 1);
    assert_non_null(strstr(scene->summaries[0], " 200 connections a second"));
}

static void a_storm_that_began_before_the_first_reading_is_found(void **state)
{
    struct scene *scene = *state;

    take_ended(scene, 2, 2000, 5); /* 20 % of the ports; 240 % at this rate */
    assert_int_equal(try_rule(scene, "storm"), 1);
    assert_non_null(strstr(scene->summaries[0], " 400 connections a second "));
    scene->now.at += CLOCK_SECOND; /* the first of six seconds had no connection */
    assert_int_equal(try_rule(scene, "storm"), 0);
}

static void a_single_second_is_no_storm(void **state)
{
    struct scene *scene = *state;

    take_ended(scene, 2, 8000, 5);
    assert_int_equal(try_rule(scene, "storm"), 1);
    scene->before.at = scene->now.at - 2 * CLOCK_SECOND + 1;
    assert_int_equal(try_rule(scene, "storm"), 0);
    scene->before.at = 0; /* there is one reading */
    assert_int_equal(try_rule(scene, "storm"), 0);
}

static void a_benchmark_of_five_seconds_is_no_storm(void **state)
{
    struct scene *scene = *state;

    take_ended(scene, 2, 8000, 4); /* it began after the first reading */
    assert_int_equal(try_rule(scene, "storm"), 0);
    take_ended(scene, 2, 500, 5); /* 100 a second */
    assert_int_equal(try_rule(scene, "storm"), 0);
}

static void few_connections_and_ports_that_are_reused_are_healthy(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(try_rule(scene, "storm"), 0); /* none is in TIME_WAIT */
    assert_null(scene->now.sockets.storms);
    take_ended(scene, 2, 1900, 5); /* 19 % */
    assert_int_equal(try_rule(scene, "storm"), 0);
    set_number(&scene->now, TIME_WAIT_REUSE, 1);
    take_ended(scene, 2, 5000, 15);
    assert_int_equal(try_rule(scene, "storm"), 0);
}

static void a_load_balancer_is_healthy(void **state)
{
    struct scene *scene = *state;

    for (uint8_t i = 0; i < 5; i++)
        take_ended(scene, (uint8_t)(2 + i), 3000, 15);
    assert_int_equal(try_rule(scene, "storm"), 0);
}

/* ephemeral-ports reports them. */
static void ports_that_are_used_up_are_no_second_finding(void **state)
{
    struct scene *scene = *state;

    take_ended(scene, 2, 9000, 40);
    assert_int_equal(try_rule(scene, "storm"), 0);
    assert_int_equal(try_rule(scene, "ephemeral-ports"), 1);
}

static void the_program_with_most_of_the_connections_is_named(void **state)
{
    struct socket_origin origin = {.pid = 812, .name = "php-fpm"}, other = {.pid = 9, .name = "nc"};
    struct record record = row(TCP_CLOSE, 1, end_of(1, 40000));
    struct scene *scene = *state;

    take_ended(scene, 2, 5000, 20);
    record.has |= SOCKET_ORIGIN;
    record.socket.remote = end_of(2, 5432);
    for (unsigned i = 0; i < 100; i++) {
        const bool is_other = i % 5 == 4;
        record.socket.origin =
            (struct text){(const char *)(is_other ? &other : &origin), sizeof origin};
        sockets_take_destroyed(&scene->before, &record);
    }
    assert_int_equal(try_rule(scene, "storm"), 1);
    assert_string_equal(scene->process[0], "php-fpm");
    assert_non_null(strstr(scene->summaries[0], "\"php-fpm\" (pid 812) opens and ends 250 "));
    origin.pid = 813;
    record.socket.origin = (struct text){(const char *)&origin, sizeof origin};
    sockets_take_destroyed(&scene->before, &record);
    assert_int_equal(try_rule(scene, "storm"), 1);
    assert_non_null(
        strstr(scene->summaries[0], "\"php-fpm\" (pid 813) and others of its name open "));
    /* from now on, no name has most of them */
    record.socket.origin = (struct text){(const char *)&other, sizeof other};
    for (unsigned i = 0; i < 40; i++)
        sockets_take_destroyed(&scene->before, &record);
    assert_int_equal(try_rule(scene, "storm"), 1);
    assert_string_equal(scene->process[0], "");
}

/* --- Attempts to connect that programs gave up ------------------------------------------------ */

/* Attempts of the process 7 that have ended after `waited_ms` with this error; 0: they ended after
 * an answer. */
static void end_attempts(struct scene *scene, struct endpoint to, unsigned count,
                         uint64_t waited_ms, int error)
{
    const struct kernel_tcp_info info = {.bytes_acked = !error, .total_retrans = waited_ms > 1000};
    const struct socket_origin origin = {.pid = 7, .name = "app", .error = (uint32_t)error};
    struct record record = row(TCP_CLOSE, 1, end_of(1, 40000));

    record.has |= SOCKET_ORIGIN | SOCKET_TCP_INFO | SOCKET_AGE;
    record.socket.remote = to;
    record.socket.age.ms = waited_ms;
    record.socket.info = (struct text){(const char *)&info, sizeof info};
    record.socket.origin = (struct text){(const char *)&origin, sizeof origin};
    for (unsigned i = 0; i < count; i++)
        sockets_take_destroyed(&scene->before, &record);
}

/* Other destinations may have the same hash. */
static void forget_attempts(struct scene *scene)
{
    memset(&scene->before.sockets.attempts, 0, sizeof scene->before.sockets.attempts);
}

static size_t try_no_answer(struct scene *scene)
{
    memset(&scene->now.sockets.suspects[NO_ANSWERS], 0, sizeof(struct suspects));
    sockets_take_attempts(&scene->now.sockets, &scene->before.sockets);
    return try_rule(scene, "no-answer");
}

static void patient_attempts_without_an_answer_for_3_s_are_found(void **state)
{
    struct scene *scene = *state;

    end_attempts(scene, end_of(2, 8080), 2, 1100, ECANCELED);
    assert_int_equal(try_no_answer(scene), 0);
    end_attempts(scene, end_of(2, 8080), 1, 1000, ECANCELED);
    assert_int_equal(try_no_answer(scene), 1);
    assert_string_equal(scene->subject[0], "10.0.0.2:8080");
    assert_string_equal(scene->process[0], "app");
    assert_string_equal(
        scene->summaries[0],
        "\"app\" (pid 7) waits for 10.0.0.2:8080: SYNs get no answer (3 connections)");
    assert_string_equal(scene->evidence[0], "10.0.0.2:8080 x3: 2 SYNs retransmitted; "
                                            "programs gave up 3 of these attempts in 5 s");
}

static void one_attempt_that_was_given_up_is_healthy(void **state)
{
    struct scene *scene = *state;

    end_attempts(scene, end_of(2, 8080), 1, 20000, ECANCELED);
    assert_int_equal(try_no_answer(scene), 0);
}

static void an_attempt_with_one_repeated_syn_is_found_after_others(void **state)
{
    struct scene *scene = *state;
    struct record record = row(TCP_SYN_SENT, 2, end_of(1, 40001));

    record.has |= SOCKET_RETRANSMITS;
    record.socket.remote = end_of(2, 8080);
    record.socket.retransmits = 1;
    assert_int_equal(sockets_take(&scene->now, &record), 0);
    assert_int_equal(try_rule(scene, "no-answer"), 0);
    end_attempts(scene, end_of(2, 8080), 1, 3000, ECANCELED);
    assert_int_equal(sockets_take(&scene->now, &record), 0);
    assert_int_equal(try_rule(scene, "no-answer"), 1);
}

static void attempts_to_a_destination_that_answered_are_healthy(void **state)
{
    struct scene *scene = *state;

    end_attempts(scene, end_of(2, 8080), 20, 2000, ECANCELED);
    assert_int_equal(try_no_answer(scene), 1);
    end_attempts(scene, end_of(2, 8080), 1, 2000, 0);
    assert_int_equal(try_no_answer(scene), 0);
    forget_attempts(scene);
    end_attempts(scene, end_of(3, 8080), 20, 2000, ECANCELED);
    assert_int_equal(try_no_answer(scene), 1);
    end_attempts(scene, end_of(3, 8080), 1, 10, ECONNREFUSED);
    assert_int_equal(try_no_answer(scene), 0);
}

static void ten_impatient_attempts_are_found(void **state)
{
    struct scene *scene = *state;

    end_attempts(scene, end_of(2, 8080), 9, 300, ECANCELED);
    assert_int_equal(try_no_answer(scene), 0);
    end_attempts(scene, end_of(2, 8080), 1, 300, ECANCELED);
    assert_int_equal(try_no_answer(scene), 1);
}

/* They try several addresses of a name at once, and take the first that answers (RFC 8305). */
static void programs_that_take_the_first_answer_are_healthy(void **state)
{
    struct scene *scene = *state;
    struct record record = row(TCP_ESTABLISHED, 2, end_of(1, 40001));
    const struct kernel_tcp_info info = {.bytes_acked = 100};

    end_attempts(scene, end_of(2, 8080), 50, 150, ECANCELED);
    assert_int_equal(try_no_answer(scene), 0);
    forget_attempts(scene);
    end_attempts(scene, end_of(2, 80), 50, 400, ECANCELED);
    assert_int_equal(try_no_answer(scene), 1);
    end_attempts(scene, end_of(3, 80), 1, 400, 0);
    assert_int_equal(try_no_answer(scene), 0);
    forget_attempts(scene);
    end_attempts(scene, end_of(2, 443), 50, 400, ECANCELED);
    assert_int_equal(try_no_answer(scene), 1);
    record.has |= SOCKET_TCP_INFO;
    record.socket.remote = end_of(3, 443);
    record.socket.info = (struct text){(const char *)&info, sizeof info};
    assert_int_equal(sockets_take(&scene->now, &record), 0);
    assert_int_equal(try_no_answer(scene), 0);
}

/* A crawler tries a host that is away a few times. */
static void attempts_of_a_crawler_are_found_only_if_they_are_many(void **state)
{
    struct scene *scene = *state;

    set_number(&scene->before, PORT_FIRST, 32768);
    for (uint8_t host = 10; host < 150; host++)
        end_attempts(scene, end_of(host, 443), 1, 10, 0);
    forget_attempts(scene);
    end_attempts(scene, end_of(2, 80), 9, 1500, ECANCELED);
    assert_int_equal(try_no_answer(scene), 0);
    end_attempts(scene, end_of(2, 80), 1, 1500, ECANCELED);
    assert_int_equal(try_no_answer(scene), 1);
}

static void attempts_to_a_full_queue_of_this_machine_are_not_found(void **state)
{
    struct scene *scene = *state;
    struct suspects *bursts = &scene->now.sockets.suspects[BURSTS];

    end_attempts(scene, end_of(1, 8080), 5, 1500, ECANCELED);
    assert_int_equal(try_no_answer(scene), 1);
    bursts->worst[bursts->kept++].local = end_of(1, 8080);
    assert_int_equal(try_no_answer(scene), 0);
}

/* --- Failed connections ----------------------------------------------------------------------- */

/* Connections that were refused, each by the next of several destinations. */
static void refuse(struct scene *scene, unsigned count, unsigned destinations)
{
    const struct kernel_tcp_info info = {.rto = 1};
    const struct socket_origin origin = {.pid = 812, .name = "scanner", .error = ECONNREFUSED};
    struct record record = row(TCP_CLOSE, 1, end_of(1, 40000));

    record.has |= SOCKET_ORIGIN | SOCKET_TCP_INFO;
    record.socket.origin = (struct text){(const char *)&origin, sizeof origin};
    record.socket.info = (struct text){(const char *)&info, sizeof info};
    for (unsigned i = 0; i < count; i++) {
        const unsigned serial = i % destinations;
        record.socket.remote = end_of((uint8_t)(serial / 3), (uint16_t)(80 + serial % 3));
        sockets_take_destroyed(&scene->before, &record);
    }
}

static void set_attempts(struct scene *scene, uint64_t attempts, uint64_t failed)
{
    set_number(&scene->before, ATTEMPTS, 0);
    set_number(&scene->before, ATTEMPTS_FAILED, 0);
    set_number(&scene->before, ATTEMPTS_FAILED_INCOMING, 0);
    set_number(&scene->now, ATTEMPTS, attempts);
    set_number(&scene->now, ATTEMPTS_FAILED, failed);
    set_number(&scene->now, ATTEMPTS_FAILED_INCOMING, 0);
}

static void a_scanner_that_is_refused_by_many_is_healthy(void **state)
{
    struct scene *scene = *state;

    refuse(scene, 150, 150);
    set_attempts(scene, 300, 150);
    assert_int_equal(try_rule(scene, "refused"), 0);
    set_attempts(scene, 160, 150); /* nearly all fail */
    assert_int_equal(try_rule(scene, "refused"), 1);
    set_attempts(scene, 600, 300); /* the kernel reported too few of them */
    assert_int_equal(try_rule(scene, "refused"), 1);
}

/* 30 machines have two services, and each machine refuses one of them. */
static void destinations_that_are_tried_again_are_found(void **state)
{
    struct scene *scene = *state;

    refuse(scene, 60, 30);
    set_attempts(scene, 120, 60);
    assert_int_equal(try_rule(scene, "refused"), 1);
}

/* --- Scans ------------------------------------------------------------------------------------ */

static struct port_scan *add_scan(struct scene *scene, uint8_t protocol, unsigned ports)
{
    struct port_scan *scan = &scene->scans[scene->scan_count++];

    *scan = (struct port_scan){.source = end_of(9, 0).address,
                               .destination = end_of(1, 0).address,
                               .netns = (uint32_t)namespace_own_id(),
                               .protocol = protocol,
                               .port = 443,
                               .packets = UINT64_C(2) * ports};
    for (unsigned i = 0; i < ports; i++)
        scan->ports[i / 64] |= UINT64_C(1) << i % 64;
    return scan;
}

static void twenty_ports_are_a_scan(void **state)
{
    struct scene *scene = *state;

    add_scan(scene, IPPROTO_TCP, 20);
    assert_int_equal(try_rule(scene, "scan"), 1);
    assert_string_equal(scene->subject[0], "10.0.0.9");
    assert_string_equal(scene->summaries[0],
                        "10.0.0.9 tries many ports of 10.0.0.1 that no socket is bound to: at "
                        "least 20 TCP ports in 5 s, 40 packets were dropped");
    scene->scans[0].filtered = 30;
    assert_int_equal(try_rule(scene, "scan"), 1);
    assert_non_null(strstr(scene->summaries[0], "10.0.0.1 that a firewall protects: "));
    scene->scan_count = 0;
    add_scan(scene, IPPROTO_UDP, 19);
    assert_int_equal(try_rule(scene, "scan"), 0);
}

/* Answers come late to many ports that the kernel chose. */
static void clients_with_low_ports_are_not_scanned(void **state)
{
    struct scene *scene = *state;

    add_scan(scene, IPPROTO_UDP, 200);
    assert_int_equal(try_rule(scene, "scan"), 1);
    set_number(&scene->now, PORT_FIRST, 1024);
    assert_int_equal(try_rule(scene, "scan"), 0);
    add_scan(scene, IPPROTO_TCP, 200);
    assert_int_equal(try_rule(scene, "scan"), 1);
}

static void a_long_examination_needs_a_port_a_second(void **state)
{
    struct scene *scene = *state;

    add_scan(scene, IPPROTO_TCP, 60);
    scene->now.at = scene->before.at + 60 * CLOCK_SECOND;
    assert_int_equal(try_rule(scene, "scan"), 1);
    scene->now.at = scene->before.at + 61 * CLOCK_SECOND;
    assert_int_equal(try_rule(scene, "scan"), 0);
    scene->scan_count = 0;
    add_scan(scene, IPPROTO_TCP, 500);
    scene->now.at = scene->before.at + 3600 * CLOCK_SECOND;
    assert_int_equal(try_rule(scene, "scan"), 1);
}

static void scans_of_other_namespaces_are_not_found(void **state)
{
    struct scene *scene = *state;

    add_scan(scene, IPPROTO_TCP, 100)->netns++;
    add_scan(scene, IPPROTO_TCP, 100)->netns = 0;
    assert_int_equal(try_rule(scene, "scan"), 0);
}

static void a_source_has_one_finding(void **state)
{
    struct scene *scene = *state;

    add_scan(scene, IPPROTO_TCP, 30);
    add_scan(scene, IPPROTO_UDP, 90);
    add_scan(scene, IPPROTO_TCP, 60)->destination = end_of(2, 0).address;
    add_scan(scene, IPPROTO_TCP, 60)->source = end_of(8, 0).address;
    assert_int_equal(try_rule(scene, "scan"), 2);
    assert_non_null(strstr(scene->summaries[0], "at least 90 UDP ports"));
    assert_non_null(strstr(scene->evidence[0], "2 more scans of other addresses or protocols"));
    assert_string_equal(scene->subject[1], "10.0.0.8");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_scene, remove_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_connection_that_waits_in_both_readings_is_found),
        TEST(the_time_between_the_readings_is_a_lower_bound),
        TEST(a_queue_with_new_connections_is_healthy),
        TEST(the_longest_queue_of_twins_may_be_that_of_a_healthy_process),
        TEST(no_process_of_twins_that_wait_alike_is_named),
        TEST(listeners_of_several_interfaces_are_no_twins),
        TEST(a_full_queue_is_no_second_finding),
        TEST(a_full_queue_whose_connections_are_young_is_healthy),
        TEST(a_full_queue_with_a_connection_of_both_readings_is_found),
        TEST(the_listeners_with_the_longest_queues_are_kept),
        TEST(connections_that_will_use_up_the_ports_are_a_storm),
        TEST(a_program_had_at_least_the_connections_whose_ends_were_read),
        TEST(half_of_the_ports_are_a_storm_at_a_lower_rate),
        TEST(a_storm_that_has_ended_is_healthy),
        TEST(the_lowest_of_three_rates_counts),
        TEST(a_storm_that_began_before_the_first_reading_is_found),
        TEST(a_single_second_is_no_storm),
        TEST(a_benchmark_of_five_seconds_is_no_storm),
        TEST(few_connections_and_ports_that_are_reused_are_healthy),
        TEST(a_load_balancer_is_healthy),
        TEST(ports_that_are_used_up_are_no_second_finding),
        TEST(the_program_with_most_of_the_connections_is_named),
        TEST(patient_attempts_without_an_answer_for_3_s_are_found),
        TEST(one_attempt_that_was_given_up_is_healthy),
        TEST(an_attempt_with_one_repeated_syn_is_found_after_others),
        TEST(attempts_to_a_destination_that_answered_are_healthy),
        TEST(ten_impatient_attempts_are_found),
        TEST(programs_that_take_the_first_answer_are_healthy),
        TEST(attempts_of_a_crawler_are_found_only_if_they_are_many),
        TEST(attempts_to_a_full_queue_of_this_machine_are_not_found),
        TEST(a_scanner_that_is_refused_by_many_is_healthy),
        TEST(destinations_that_are_tried_again_are_found),
        TEST(twenty_ports_are_a_scan),
        TEST(clients_with_low_ports_are_not_scanned),
        TEST(a_long_examination_needs_a_port_a_second),
        TEST(scans_of_other_namespaces_are_not_found),
        TEST(a_source_has_one_finding),
    };

    return cmocka_run_group_tests_name("doctor_crowds", tests, NULL, NULL);
}
