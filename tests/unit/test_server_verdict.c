/* SPDX-License-Identifier: MIT */
/* The answer of fastnet why PORT: the sockets of a port, and the verdict that they prove. */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "kit.h"
#include "why/server.h"

enum { HERE = 840, OTHER = 77 };

static const struct why_options tcp = {.port = 5432, .protocol = IPPROTO_TCP};
static const struct why_options tcp_watched = {
    .port = 5432, .protocol = IPPROTO_TCP, .milliseconds = 1000};
static const struct why_options udp_watched = {
    .port = 5432, .protocol = IPPROTO_UDP, .milliseconds = 1000};

static struct server_listener listener_of(const char *process, uint8_t protocol, uint64_t netns)
{
    struct server_listener listener = {
        .protocol = protocol,
        .local = {{AF_INET, {10, 9, 2, 2}}, 5432},
        .netns.id = netns,
        .pid = 812,
        .has_queue = true,
        .limit = 128,
    };

    snprintf(listener.process, sizeof listener.process, "%s", process);
    return listener;
}

static struct server server_with(const struct why_options *options, struct server_listener listener)
{
    struct server server = {.options = options, .here = HERE, .listener_count = 1};

    listener.is_wanted = listener.netns.id == HERE && listener.protocol == options->protocol &&
                         !listener.is_bound_only;
    server.listeners[0] = listener;
    return server;
}

static void expect(const struct server *server, enum ending ending, enum cause cause,
                   const char *sentence)
{
    struct verdict verdict;

    server_conclude(server, &verdict);
    assert_string_equal(verdict.sentence, sentence);
    assert_int_equal(verdict.ending, ending);
    assert_string_equal(cause_name(verdict.cause), cause_name(cause));
    assert_true(verdict.cause == CAUSE_OPEN || *verdict.advice);
}

static void a_port_without_a_socket_ends(void **state)
{
    const struct server server = {.options = &tcp, .here = HERE};

    (void)state;
    expect(&server, ENDING_ENDS, CAUSE_NOBODY_LISTENS, "nobody listens on TCP port 5432");
}

/* A rule may lead the packets of clients to another machine or network namespace. */
static void a_port_without_a_socket_is_not_known_with_nat(void **state)
{
    struct server server = {.options = &tcp, .here = HERE, .may_translate = true};

    (void)state;
    expect(&server, ENDING_UNKNOWN, CAUSE_UNKNOWN,
           "nobody listens on TCP port 5432; a NAT rule may lead its packets elsewhere");
    server = (struct server){.options = &tcp, .here = HERE, .is_partial = true};
    expect(&server, ENDING_UNKNOWN, CAUSE_UNKNOWN,
           "nobody listens on TCP port 5432; not all sockets could be read");
}

static void the_nearest_miss_is_named(void **state)
{
    struct server server = server_with(&tcp, listener_of("postgres", IPPROTO_UDP, HERE));

    (void)state;
    expect(&server, ENDING_ENDS, CAUSE_NOBODY_LISTENS,
           "nobody listens on TCP port 5432; \"postgres\" (pid 812) listens on 10.9.2.2:5432, but "
           "only for UDP");
    server = server_with(&tcp, listener_of("postgres", IPPROTO_TCP, OTHER));
    server.listeners[0].netns.name = "db";
    expect(&server, ENDING_ENDS, CAUSE_LISTENS_NETNS,
           "nobody listens on TCP port 5432; \"postgres\" (pid 812) listens on 10.9.2.2:5432 in "
           "netns db");
    server.listeners[0] = listener_of("postgres", IPPROTO_TCP, HERE);
    server.listeners[0].is_bound_only = true;
    expect(&server, ENDING_ENDS, CAUSE_NOBODY_LISTENS,
           "nobody listens on TCP port 5432; \"postgres\" (pid 812) is bound to 10.9.2.2:5432, but "
           "does not listen");
    server.listeners[0] = listener_of("postgres", 0, HERE);
    strcpy(server.listeners[0].path, "/run/.s.PGSQL.5432");
    expect(&server, ENDING_ENDS, CAUSE_NOBODY_LISTENS,
           "nobody listens on TCP port 5432; \"postgres\" (pid 812) listens on "
           "/run/.s.PGSQL.5432");
}

static void a_full_queue_ends(void **state)
{
    struct server server = server_with(&tcp, listener_of("nginx", IPPROTO_TCP, HERE));

    (void)state;
    server.listeners[0].queue = 129;
    expect(
        &server, ENDING_ENDS, CAUSE_ACCEPT_QUEUE,
        "the accept queue of \"nginx\" (pid 812) on 10.9.2.2:5432 is full: 129 connections wait, "
        "and its limit is 128");
    server.listeners[0].queue = 128; /* the kernel takes one connection more */
    expect(&server, ENDING_UNKNOWN, CAUSE_UNKNOWN,
           "\"nginx\" (pid 812) listens on 10.9.2.2:5432; only --for can show whether rules drop "
           "packets for it");
}

static void only_a_new_connection_proves_that_clients_get_through(void **state)
{
    struct server server = server_with(&tcp_watched, listener_of("nginx", IPPROTO_TCP, HERE));

    (void)state;
    server.clients.established = 7;
    expect(&server, ENDING_UNKNOWN, CAUSE_UNKNOWN,
           "\"nginx\" (pid 812) listens on 10.9.2.2:5432; no packet for it was dropped, but no "
           "client connected, either");
    server.is_blind = true;
    expect(&server, ENDING_UNKNOWN, CAUSE_UNKNOWN,
           "\"nginx\" (pid 812) listens on 10.9.2.2:5432; whether rules drop packets for it could "
           "not be noted");
    server.clients.fresh = 1;
    expect(&server, ENDING_OPEN, CAUSE_OPEN,
           "\"nginx\" (pid 812) listens on 10.9.2.2:5432, and clients reach it: 1 connected while "
           "fastnet watched");
}

static void a_rule_that_drops_is_more_than_a_client_that_connects(void **state)
{
    struct server server = server_with(&tcp_watched, listener_of("nginx", IPPROTO_TCP, HERE));

    (void)state;
    server.clients.fresh = 1;
    server.events[server.event_count++] = (struct server_event){
        .reason = "NETFILTER_DROP", .count = 12, .client = {AF_INET, {10, 9, 1, 2}}};
    expect(&server, ENDING_ENDS, CAUSE_OWN_RULE_DROPS,
           "a rule of this machine's firewall drops packets of clients: 12, the first from "
           "10.9.1.2");
}

static void udp_is_never_open(void **state)
{
    const struct server server = server_with(&udp_watched, listener_of("named", IPPROTO_UDP, HERE));

    (void)state;
    expect(&server, ENDING_UNKNOWN, CAUSE_UNKNOWN,
           "\"named\" (pid 812) listens on 10.9.2.2:5432; no packet for it was dropped, but UDP "
           "does not confirm that packets arrive");
}

static void a_loopback_address_is_for_this_machine_only(void **state)
{
    struct server server = server_with(&tcp, listener_of("nginx", IPPROTO_TCP, HERE));

    (void)state;
    server.listeners[0].local.address = (struct address){AF_INET, {127, 0, 0, 1}};
    expect(&server, ENDING_UNKNOWN, CAUSE_UNKNOWN,
           "\"nginx\" (pid 812) listens on 127.0.0.1:5432; other machines cannot reach this "
           "address; only --for can show whether rules drop packets for it");
}

static void each_cause_has_a_name_and_a_meaning(void **state)
{
    (void)state;
    for (uint64_t cause = 0; cause < CAUSES; cause++) {
        assert_non_null(cause_name(cause));
        assert_non_null(cause_meaning(cause));
        assert_true(*cause_meaning(cause));
    }
    assert_null(cause_meaning(CAUSES));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_without_a_socket_ends),
        cmocka_unit_test(a_port_without_a_socket_is_not_known_with_nat),
        cmocka_unit_test(the_nearest_miss_is_named),
        cmocka_unit_test(a_full_queue_ends),
        cmocka_unit_test(only_a_new_connection_proves_that_clients_get_through),
        cmocka_unit_test(a_rule_that_drops_is_more_than_a_client_that_connects),
        cmocka_unit_test(udp_is_never_open),
        cmocka_unit_test(a_loopback_address_is_for_this_machine_only),
        cmocka_unit_test(each_cause_has_a_name_and_a_meaning),
    };

    return cmocka_run_group_tests_name("server verdict", tests, NULL, NULL);
}
