/* SPDX-License-Identifier: MIT */
/* The rule about servers of DNS, over servers that are made. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/dns.h"
#include "doctor/rules.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/namespace.h"
#include "fastnet/report.h"
#include "kit.h"

enum { FINDINGS = 8, TEXT = 1024 };

static struct {
    struct reading before, now;
    struct doctor_options options;
    struct doctor_summary summary;
    struct report report;
    struct hash_table servers;
    bool is_blind; /* without the probe */
    bool lacks;    /* a part is missing, because BPF may not be used */
    size_t count;
    char subject[FINDINGS][TEXT], summaries[FINDINGS][TEXT], evidence[FINDINGS][TEXT];
} scene;

static int keep(const struct record *record, void *arg)
{
    const struct finding_record *finding = &record->finding;
    const size_t i = scene.count++;

    (void)arg;
    assert_true(i < FINDINGS);
    snprintf(scene.subject[i], TEXT, "%.*s", (int)finding->subject.length, finding->subject.data);
    snprintf(scene.summaries[i], TEXT, "%.*s", (int)finding->summary.length, finding->summary.data);
    snprintf(scene.evidence[i], TEXT, "%.*s", (int)finding->evidence.length,
             finding->evidence.data);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    memset(&scene, 0, sizeof scene);
    scene.options.proc_root = "/nowhere"; /* no cause is searched */
    scene.before.at = 1;
    scene.now.at = 1 + 5 * CLOCK_SECOND;
    return 0;
}

static int end(void **state)
{
    (void)state;
    hash_table_finish(&scene.servers);
    return 0;
}

static struct address v4(const char *text)
{
    struct in_addr in;

    assert_int_equal(inet_pton(AF_INET, text, &in), 1);
    return address_make(AF_INET, &in);
}

/* A server of this network namespace, whose process has the pid. */
static struct dns_server *add_server(const char *address, uint32_t pid)
{
    struct dns_server *server = hash_table_add(&scene.servers, scene.servers.count, sizeof *server);

    assert_non_null(server);
    server->netns = (uint32_t)namespace_own_id();
    server->address = v4(address);
    server->pid = pid;
    snprintf(server->process, sizeof server->process, "program");
    return server;
}

/* Returns the number of findings. */
static size_t examine(void)
{
    const struct rule *rule = rules;
    struct examination examination = {
        .options = &scene.options,
        .before = &scene.before,
        .now = &scene.now,
        .searched_owners = true, /* there are none */
        .dns = &scene.servers,
        .sees_dns = !scene.is_blind,
        .summary = &scene.summary,
        .report = &scene.report,
        .fn = keep,
    };

    while (rule->evaluate != rule_dns)
        rule++;
    examination.rule = rule;
    scene.count = 0;
    rule->evaluate(&examination);
    assert_int_equal(examination.error, 0);
    assert_false(examination.lacking);
    scene.lacks = strstr(examination.missing, "BPF");
    return scene.count;
}

/* --- Servers that do not answer --------------------------------------------------------------- */

static void a_server_that_answers_none_of_three_queries_is_silent(void **state)
{
    struct dns_server *server = add_server("192.0.2.1", 5);

    (void)state;
    server->sent = server->unanswered = 2;
    assert_int_equal(examine(), 0);
    server->sent = server->unanswered = 3;
    assert_int_equal(examine(), 1);
    assert_string_equal(scene.subject[0], "192.0.2.1");
    assert_non_null(strstr(scene.summaries[0], "none of 3 queries"));
    assert_non_null(strstr(scene.evidence[0], "\"program\" (pid 5) asked last"));
    server->answered = 1;
    assert_int_equal(examine(), 0);
}

static void one_query_has_to_wait_for_three_seconds(void **state)
{
    struct dns_server *server = add_server("192.0.2.1", 5);

    (void)state;
    server->sent = server->unanswered = 1;
    server->waiting = clock_nanoseconds(CLOCK_MONOTONIC);
    assert_int_equal(examine(), 0);
    server->waiting -= DNS_WAIT_LONE;
    assert_int_equal(examine(), 1);
    assert_non_null(strstr(scene.summaries[0], "none of 1 query"));
}

/* A machine without IPv4 has no route to servers of IPv4. A resolver on a router tries addresses
 * that the router refuses. */
static void a_server_without_a_route_is_a_finding_unless_others_answer(void **state)
{
    struct dns_server *server = add_server("192.0.2.1", 5), *other = add_server("192.0.2.2", 5);

    (void)state;
    server->connects = server->failed = server->unanswered = 2;
    server->error = EINVAL;
    assert_int_equal(examine(), 1);
    assert_non_null(strstr(scene.summaries[0], "none of 2 queries"));
    assert_non_null(strstr(scene.summaries[0], "route of type blackhole"));
    assert_non_null(strstr(scene.evidence[0], "2 calls failed: Invalid argument"));
    other->sent = other->answered = 5;
    assert_int_equal(examine(), 0);
    other->pid = 6;
    assert_int_equal(examine(), 1);
    server->error = ENETUNREACH;
    assert_int_equal(examine(), 0);
    server->sent = server->failed = 3; /* sendto(2) */
    server->connects = 0;
    assert_int_equal(examine(), 0);
    server->sent++; /* a query left this machine */
    assert_int_equal(examine(), 1);
}

static void two_refused_queries_are_a_finding_at_once(void **state)
{
    struct dns_server *server = add_server("192.0.2.1", 5);

    (void)state;
    server->sent = server->unanswered = server->failed = 1;
    server->error = ECONNREFUSED;
    assert_int_equal(examine(), 0);
    server->sent = server->unanswered = server->failed = 2;
    assert_int_equal(examine(), 1);
    assert_non_null(strstr(scene.evidence[0], "2 calls failed: "));
    assert_non_null(strstr(scene.evidence[0], "ICMP: port unreachable"));
}

static void a_few_lost_queries_are_usual(void **state)
{
    struct dns_server *server = add_server("192.0.2.1", 5);

    (void)state;
    server->answered = server->timed = 97;
    server->unanswered = 32;
    assert_int_equal(examine(), 0);
    server->unanswered = 33;
    assert_int_equal(examine(), 1);
    assert_non_null(strstr(scene.summaries[0], "does not answer 33 of 130"));
    server->answered = server->timed = 8;
    server->unanswered = 4;
    assert_int_equal(examine(), 0);
}

static void other_namespaces_have_their_own_servers(void **state)
{
    struct dns_server *server = add_server("192.0.2.1", 5);

    (void)state;
    server->unanswered = 9;
    server->netns++;
    assert_int_equal(examine(), 0);
}

/* --- Slow servers ----------------------------------------------------------------------------- */

static void most_answers_have_to_be_slow(void **state)
{
    struct dns_server *server = add_server("192.0.2.1", 5);

    (void)state;
    server->answered = server->timed = 6;
    server->slow = 3;
    server->time = 6 * CLOCK_SECOND;
    assert_int_equal(examine(), 0);
    server->answered = server->timed = 5;
    assert_int_equal(examine(), 1);
    assert_non_null(strstr(scene.summaries[0], "3 of 5 answers took longer than 1 s, 1.2 s"));
}

static void two_slow_answers_have_to_take_three_seconds(void **state)
{
    struct dns_server *server = add_server("192.0.2.1", 5);

    (void)state;
    server->answered = server->timed = server->slow = 2;
    server->time = 3 * CLOCK_SECOND - 1;
    assert_int_equal(examine(), 0);
    server->time = 3 * CLOCK_SECOND;
    assert_int_equal(examine(), 1);
    server->answered = server->timed = server->slow = 1;
    server->time = 4 * CLOCK_SECOND;
    assert_int_equal(examine(), 0);
    server->unanswered = 1; /* waits for the next slow answer */
    assert_int_equal(examine(), 1);
}

/* --- Time ------------------------------------------------------------------------------------- */

static void nobody_waits_for_healthy_servers(void **state)
{
    struct dns_server *server = add_server("192.0.2.1", 5);

    (void)state;
    assert_int_equal(dns_servers_due(&scene.servers, 1000), 0);
    server->answered = 1000;
    server->unanswered = 20; /* they are in flight */
    assert_int_equal(dns_servers_due(&scene.servers, 1000), 0);
}

static void queries_that_may_become_a_finding_get_their_time(void **state)
{
    struct dns_server *server = add_server("192.0.2.1", 5);

    (void)state;
    server->unanswered = 3;
    server->waiting = 500;
    assert_int_equal(dns_servers_due(&scene.servers, 1000), 1000 + DNS_WAIT);
    server->unanswered = 1;
    assert_int_equal(dns_servers_due(&scene.servers, 1000), 500 + DNS_WAIT_LONE);
    server->waiting = 1000;
    assert_int_equal(dns_servers_due(&scene.servers, 1000 + DNS_WAIT_LONE),
                     1000 + DNS_WAIT_LONE + DNS_WAIT);
    server->waiting = 5000; /* new queries do not prolong the run */
    assert_int_equal(dns_servers_due(&scene.servers, 1000), 1000 + DNS_WAIT_LONE);
}

/* --- Tables ----------------------------------------------------------------------------------- */

static void flows_without_a_reply_are_added_by_server(void **state)
{
    struct dns_client *clients = scene.now.sockets.clients;

    (void)state;
    clients[0] = (struct dns_client){v4("10.0.0.1"), v4("192.0.2.1"), 2, false, false};
    assert_int_equal(examine(), 0);
    hash_table_finish(&scene.servers);
    clients[1] = (struct dns_client){v4("10.0.0.2"), v4("192.0.2.1"), 2, false, false};
    assert_int_equal(examine(), 1);
    assert_string_equal(scene.subject[0], "192.0.2.1");
    assert_string_equal(scene.summaries[0],
                        "192.0.2.1 does not answer DNS: 4 queries wait for an answer");
    assert_non_null(strstr(scene.evidence[0], "of 2 clients"));
    hash_table_finish(&scene.servers);
    clients[1].answered = true;
    assert_int_equal(examine(), 0);
}

static void clients_that_ask_each_server_once_search_for_servers(void **state)
{
    (void)state;
    for (size_t i = 0; i < DNS_CLIENTS; i++)
        scene.now.sockets.clients[i] =
            (struct dns_client){v4("10.0.0.1"), v4("192.0.2.1"), 1, false, false};
    assert_int_equal(examine(), 0);
}

/* A flow of a client to a server, which is in both readings. */
static void take_flow(const char *client, const char *server, uint32_t status)
{
    static uint64_t identity;
    struct record record = {.kind = &kind_flow, .flow = {.status = status}};

    record.identity = ++identity;
    record.flow.way[WAY_ORIG].tuple.src = v4(client);
    record.flow.way[WAY_ORIG].tuple.dst = v4(server);
    scene.now.before = &scene.before;
    assert_int_equal(sockets_take_query(&scene.before, &record), 0);
    assert_int_equal(sockets_take_query(&scene.now, &record), 0);
}

static void a_server_that_answers_others_may_ignore_clients_of_the_internet(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        take_flow("198.51.100.1", "192.0.2.1", 0);
    take_flow("198.51.100.1", "192.0.2.2", 0);
    assert_int_equal(examine(), 1);
    assert_non_null(strstr(scene.summaries[0], ": 3 queries"));
    hash_table_finish(&scene.servers);
    take_flow("198.51.100.2", "192.0.2.1", IPS_SEEN_REPLY);
    assert_int_equal(examine(), 0);
    /* another client may have the same hash */
    memset(scene.before.sockets.clients, 0, sizeof scene.before.sockets.clients);
    memset(scene.now.sockets.clients, 0, sizeof scene.now.sockets.clients);
    for (int i = 0; i < 3; i++)
        take_flow("10.0.0.1", "192.0.2.1", 0);
    assert_int_equal(examine(), 1);
    hash_table_finish(&scene.before.sockets.remembered);
    hash_table_finish(&scene.now.sockets.remembered);
}

static void connections_that_hang_are_a_finding_unless_others_are_answered(void **state)
{
    struct doctor_socket list[] = {
        {.inode = 1, .end = {v4("192.0.2.1"), 853}, .state = DNS_HANGS},
        {.inode = 2, .end = {v4("192.0.2.1"), 853}, .state = DNS_WAITS},
    };

    (void)state;
    scene.now.sockets.dns_connections = (struct doctor_sockets){list, 1, 0};
    assert_int_equal(examine(), 1);
    assert_string_equal(scene.subject[0], "192.0.2.1:853");
    hash_table_finish(&scene.servers);
    scene.now.sockets.dns_connections.count = 2;
    scene.now.sockets.dns_connections.list[0].state = DNS_ANSWERED;
    assert_int_equal(examine(), 0);
    hash_table_finish(&scene.servers);
    scene.now.sockets.dns_connections.list[0].state = DNS_WAITS;
    assert_int_equal(examine(), 0);
}

/* Takes a connection to port 853, open or ended. Returns its enum dns_connection, or -1. */
static int taken(struct kernel_tcp_info info, bool has_ended)
{
    struct record record = {
        .has = SOCKET_TCP_INFO,
        .socket = {.protocol = IPPROTO_TCP,
                   .state = has_ended ? TCP_CLOSE : TCP_ESTABLISHED,
                   .inode = 7,
                   .local = {v4("192.0.2.9"), 50000},
                   .remote = {v4("192.0.2.1"), 853},
                   .info = {(const char *)&info, sizeof info}},
    };
    const struct doctor_sockets *all = &scene.now.sockets.dns_connections;
    int state = -1;

    if (has_ended)
        sockets_take_destroyed(&scene.now, &record);
    else
        assert_int_equal(sockets_take(&scene.now, &record), 0);
    if (all->count)
        state = all->list[0].state;
    reading_finish(&scene.now);
    return state;
}

/* Programs that ask several servers at once give up the slower. */
static void connections_that_are_soon_given_up_count_if_no_other_is_answered(void **state)
{
    const struct kernel_tcp_info info = {.last_data_sent = 1};
    const struct socket_origin origin = {.pid = 5, .name = "program", .error = ECANCELED};
    const struct record record = {
        .has = SOCKET_TCP_INFO | SOCKET_ORIGIN,
        .socket = {.protocol = IPPROTO_TCP,
                   .remote = {v4("192.0.2.1"), 853},
                   .info = {(const char *)&info, sizeof info},
                   .origin = {(const char *)&origin, sizeof origin}},
    };
    struct doctor_socket other = {.end = {v4("192.0.2.2"), 53}, .state = DNS_ANSWERED};

    (void)state;
    for (int i = 0; i < 4; i++)
        sockets_take_destroyed(&scene.before, &record);
    assert_int_equal(examine(), 0);
    hash_table_finish(&scene.servers);
    sockets_take_destroyed(&scene.before, &record);
    assert_int_equal(examine(), 1);
    assert_string_equal(scene.subject[0], "192.0.2.1:853");
    assert_non_null(strstr(scene.evidence[0], "0 wait, 5 were given up, 0 failed"));
    hash_table_finish(&scene.servers);
    scene.now.sockets.dns_connections = (struct doctor_sockets){&other, 1, 0};
    assert_int_equal(examine(), 0);
    hash_table_finish(&scene.servers);
    scene.now.sockets.dns_connections.count = 0;
    add_server("192.0.2.2", 5)->answered = 1;
    assert_int_equal(examine(), 0);
    reading_finish(&scene.before);
}

static void a_server_that_answers_on_port_53_needs_no_tls(void **state)
{
    struct doctor_socket tls = {.inode = 1, .end = {v4("192.0.2.1"), 853}, .state = DNS_HANGS};
    struct doctor_socket plain = {.inode = 1, .end = {v4("192.0.2.1"), 53}, .state = DNS_HANGS};
    struct dns_server *server = add_server("192.0.2.1", 5);

    (void)state;
    scene.now.sockets.dns_connections = (struct doctor_sockets){&tls, 1, 0};
    assert_int_equal(examine(), 1);
    server->sent = server->answered = 1;
    assert_int_equal(examine(), 0);
    scene.now.sockets.dns_connections = (struct doctor_sockets){&plain, 1, 0};
    assert_int_equal(examine(), 1);
}

static void a_fin_is_no_answer(void **state)
{
    (void)state;
    assert_int_equal(taken((struct kernel_tcp_info){.bytes_acked = 32,
                                                    .bytes_received = 1,
                                                    .last_data_sent = 3000,
                                                    .last_data_recv = 3000},
                           true),
                     DNS_HANGS);
    assert_int_equal(taken((struct kernel_tcp_info){.bytes_acked = 32,
                                                    .bytes_received = 60,
                                                    .last_data_sent = 3000,
                                                    .last_data_recv = 2980},
                           true),
                     DNS_ENDED);
}

/* The query was sent when the answer to the one before came. */
static void a_connection_that_has_only_begun_tls_waits_for_nothing(void **state)
{
    struct kernel_tcp_info info = {.bytes_acked = 380,
                                   .bytes_received = 800,
                                   .snd_mss = 1448,
                                   .data_segs_out = 2,
                                   .last_data_sent = 4000,
                                   .last_data_recv = 4050};

    (void)state;
    assert_int_equal(taken(info, false), -1);
    assert_int_equal(taken(info, true), -1);
    info.data_segs_out = 3;
    assert_int_equal(taken(info, false), DNS_HANGS);
    assert_int_equal(taken(info, true), DNS_HANGS);
    info.bytes_acked = 1800; /* the first message has two segments */
    assert_int_equal(taken(info, false), -1);
    info.data_segs_out = 1; /* the first message has no answer, or was sent with the last */
    assert_int_equal(taken(info, false), DNS_HANGS);
    info.data_segs_out = 2;
    info.bytes_acked = 380;
    info.bytes_received = 0;
    assert_int_equal(taken(info, false), DNS_HANGS);
}

static void a_query_with_the_time_of_an_answer_hangs_if_acknowledged_later(void **state)
{
    struct kernel_tcp_info info = {.bytes_acked = 200,
                                   .bytes_received = 300,
                                   .last_data_sent = 4000,
                                   .last_data_recv = 4000,
                                   .last_ack_recv = 3956};

    (void)state;
    assert_int_equal(taken(info, false), DNS_HANGS);
    info.last_ack_recv = 4000; /* it came with the answer */
    assert_int_equal(taken(info, false), DNS_ANSWERED);
    info.last_ack_recv = 2500; /* a keepalive probe */
    assert_int_equal(taken(info, false), DNS_ANSWERED);
    info.last_data_recv = info.last_ack_recv = 3980; /* the next answer came soon */
    assert_int_equal(taken(info, false), DNS_ANSWERED);
}

static void without_the_probe_a_part_is_missing(void **state)
{
    (void)state;
    assert_int_equal(examine(), 0);
    assert_false(scene.lacks);
    scene.is_blind = true;
    assert_int_equal(examine(), 0);
    assert_true(scene.lacks);
    scene.before.at = 0; /* one reading compares nothing */
    assert_int_equal(examine(), 0);
    assert_false(scene.lacks);
}

/* --- Resolvers -------------------------------------------------------------------------------- */

/* It asks the servers of each domain. */
static void a_process_that_asks_many_servers_may_miss_some(void **state)
{
    struct dns_server *silent;

    (void)state;
    for (unsigned i = 2; i < 10; i++) {
        char address[INET_ADDRSTRLEN];
        snprintf(address, sizeof address, "192.0.2.%u", i);
        add_server(address, 5)->answered = 1;
    }
    silent = add_server("192.0.2.1", 5);
    silent->unanswered = 7;
    assert_int_equal(examine(), 0);
    silent->unanswered = 8;
    assert_int_equal(examine(), 1);
    silent = hash_table_at(&scene.servers, 8);
    silent->unanswered = 7;
    silent->pid = 6;
    assert_int_equal(examine(), 1);
}

/* It searches for servers. */
static void a_process_that_asks_many_silent_servers_is_no_finding(void **state)
{
    (void)state;
    for (unsigned i = 1; i < 10; i++) {
        char address[INET_ADDRSTRLEN];
        snprintf(address, sizeof address, "192.0.2.%u", i);
        add_server(address, 5)->unanswered = 3;
    }
    assert_int_equal(examine(), 0);
    scene.servers.count = 8;
    assert_int_equal(examine(), 8);
}

/* --- Programs that do not wait ---------------------------------------------------------------- */

static void only_awaited_queries_count_if_answers_may_have_come_too_late(void **state)
{
    struct dns_server *server = add_server("192.0.2.1", 5);

    (void)state;
    server->sent = server->unanswered = 9;
    scene.before.counts.numbers[UDP_NO_PORTS] = 1;
    scene.now.counts.numbers[UDP_NO_PORTS] = 2;
    assert_int_equal(examine(), 0);
    server->unanswered = 9;
    server->awaited = 3;
    assert_int_equal(examine(), 1);
    assert_non_null(strstr(scene.summaries[0], "none of 3 queries"));
}

static void only_awaited_queries_count_if_the_program_does_not_read(void **state)
{
    struct dns_server *server = add_server("192.0.2.1", 5);

    (void)state;
    server->sent = server->unanswered = 9;
    assert_int_equal(examine(), 1);
    server->unread = 1;
    assert_int_equal(examine(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(a_server_that_answers_none_of_three_queries_is_silent),
        TEST(one_query_has_to_wait_for_three_seconds),
        TEST(a_server_without_a_route_is_a_finding_unless_others_answer),
        TEST(two_refused_queries_are_a_finding_at_once),
        TEST(a_few_lost_queries_are_usual),
        TEST(other_namespaces_have_their_own_servers),
        TEST(most_answers_have_to_be_slow),
        TEST(two_slow_answers_have_to_take_three_seconds),
        TEST(nobody_waits_for_healthy_servers),
        TEST(queries_that_may_become_a_finding_get_their_time),
        TEST(flows_without_a_reply_are_added_by_server),
        TEST(clients_that_ask_each_server_once_search_for_servers),
        TEST(a_server_that_answers_others_may_ignore_clients_of_the_internet),
        TEST(connections_that_hang_are_a_finding_unless_others_are_answered),
        TEST(connections_that_are_soon_given_up_count_if_no_other_is_answered),
        TEST(a_server_that_answers_on_port_53_needs_no_tls),
        TEST(a_fin_is_no_answer),
        TEST(a_connection_that_has_only_begun_tls_waits_for_nothing),
        TEST(a_query_with_the_time_of_an_answer_hangs_if_acknowledged_later),
        TEST(without_the_probe_a_part_is_missing),
        TEST(a_process_that_asks_many_servers_may_miss_some),
        TEST(a_process_that_asks_many_silent_servers_is_no_finding),
        TEST(only_awaited_queries_count_if_answers_may_have_come_too_late),
        TEST(only_awaited_queries_count_if_the_program_does_not_read),
    };

    return cmocka_run_group_tests_name("dns", tests, NULL, NULL);
}
