/* SPDX-License-Identifier: MIT */
/* The answer of fastnet why PORT: the sockets of a port, and the verdict that they prove. */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "kit.h"
#include "why/verdicts.h"

enum { HERE = 840, OTHER = 77 };

/* Evidence about a port on which a process listens. */
static struct evidence port_of(uint8_t protocol, const char *process)
{
    struct evidence evidence = {
        .read = EVIDENCE_LISTENERS | EVIDENCE_QUEUE,
        .peer.port = 5432,
        .target.port = 5432,
        .protocol = protocol,
        .here.id = HERE,
        .home.id = HERE,
        .own_netns = HERE,
        .is_port = true,
        .is_home_here = true,
        .is_of_others = true,
        .near = "",
        .unseen = "only --for can show whether rules drop packets for it",
        .listener = {.miss = MISS_NONE,
                     .local = {{AF_INET, {10, 9, 2, 2}}, 5432},
                     .netns.id = HERE,
                     .pid = 812,
                     .queue_limit = 128,
                     .has_cookies = true},
    };

    snprintf(evidence.listener.process, sizeof evidence.listener.process, "%s", process);
    return evidence;
}

static struct evidence nobody(void)
{
    struct evidence evidence = port_of(IPPROTO_TCP, "");

    evidence.listener = (struct evidence_listener){.miss = MISS_NO_LISTENER};
    return evidence;
}

static struct evidence watched(uint8_t protocol, const char *process)
{
    struct evidence evidence = port_of(protocol, process);

    evidence.read |= EVIDENCE_DROPS | EVIDENCE_RESETS;
    return evidence;
}

/* Adds a packet to `destination` that was dropped. */
static void add_drop(struct evidence *evidence, const char *reason, struct endpoint destination)
{
    evidence->events[evidence->event_count++] = (struct evidence_event){
        .event = {.type = ATTEMPT_DROP,
                  .protocol = evidence->protocol,
                  .count = 12,
                  .reason = reason,
                  .destination = destination},
        .netns.id = HERE,
        .is_here = true,
    };
}

static void expect(const struct evidence *evidence, enum ending ending, enum cause cause,
                   const char *sentence)
{
    struct verdict verdict;

    verdict_find(evidence, &verdict);
    assert_string_equal(verdict.sentence, sentence);
    assert_int_equal(verdict.ending, ending);
    assert_string_equal(cause_name(verdict.cause), cause_name(cause));
    assert_true(verdict.cause == CAUSE_OPEN || *verdict.advice);
}

static void a_port_without_a_socket_ends(void **state)
{
    const struct evidence evidence = nobody();

    (void)state;
    expect(&evidence, ENDING_ENDS, CAUSE_NOBODY_LISTENS, "nobody listens on TCP port 5432");
}

/* A rule may lead the packets of clients to another machine or network namespace. */
static void a_port_without_a_socket_is_not_known_with_nat(void **state)
{
    struct evidence evidence = nobody();

    (void)state;
    evidence.diversions = DIVERSION_NAT;
    expect(&evidence, ENDING_UNKNOWN, CAUSE_UNKNOWN,
           "nobody listens on TCP port 5432; a NAT rule may lead its packets elsewhere");
    evidence.read = 0;
    expect(&evidence, ENDING_UNKNOWN, CAUSE_UNKNOWN,
           "nobody listens on TCP port 5432; not all sockets could be read");
}

static void the_nearest_miss_is_named(void **state)
{
    struct evidence evidence = port_of(IPPROTO_TCP, "postgres");

    (void)state;
    evidence.listener.miss = MISS_OTHER;
    evidence.near = "; \"postgres\" (pid 812) listens on /run/.s.PGSQL.5432";
    expect(&evidence, ENDING_ENDS, CAUSE_NOBODY_LISTENS,
           "nobody listens on TCP port 5432; \"postgres\" (pid 812) listens on "
           "/run/.s.PGSQL.5432");
    evidence.listener.miss = MISS_NETNS;
    evidence.listener.netns = (struct evidence_netns){OTHER, "db"};
    expect(&evidence, ENDING_ENDS, CAUSE_LISTENS_NETNS,
           "nobody listens on TCP port 5432; \"postgres\" (pid 812) listens on 10.9.2.2:5432 in "
           "netns db");
}

/* A client knocks at another address than the listener's. */
static void a_client_that_knocks_in_vain_is_a_near_miss(void **state)
{
    const struct endpoint knocked = {{AF_INET, {10, 9, 2, 2}}, 5432};
    struct evidence evidence = watched(IPPROTO_TCP, "postgres");

    (void)state;
    evidence.target = knocked;
    add_drop(&evidence, "NO_SOCKET", knocked);
    evidence.listener.local.address = (struct address){AF_INET, {127, 0, 0, 1}};
    evidence.listener.miss = MISS_LOOPBACK;
    evidence.fresh = 1; /* another client knocks at the right address */
    expect(&evidence, ENDING_ENDS, CAUSE_LISTENS_LOOPBACK,
           "nobody listens on 10.9.2.2:5432; \"postgres\" (pid 812) listens on 127.0.0.1:5432 "
           "there");
}

static void a_full_queue_ends(void **state)
{
    struct evidence evidence = port_of(IPPROTO_TCP, "nginx");

    (void)state;
    evidence.diversions = DIVERSION_NAT;
    evidence.listener.queue = 129;
    expect(
        &evidence, ENDING_ENDS, CAUSE_ACCEPT_QUEUE,
        "the accept queue of \"nginx\" (pid 812) on 10.9.2.2:5432 is full: 129 of 128 connections "
        "wait to be accepted");
    evidence.listener.queue = 128; /* the kernel takes one connection more */
    expect(&evidence, ENDING_UNKNOWN, CAUSE_UNKNOWN,
           "\"nginx\" (pid 812) listens on 10.9.2.2:5432; only --for can show whether rules drop "
           "packets for it");
    evidence.listener.half_open = evidence.listener.half_open_limit = 96;
    evidence.listener.has_cookies = false;
    expect(&evidence, ENDING_ENDS, CAUSE_HALF_OPEN_QUEUE,
           "the queue of half-open connections of \"nginx\" (pid 812) on 10.9.2.2:5432 is full (96 "
           "of 96), and SYN cookies are off");
}

static void only_a_new_connection_proves_that_clients_get_through(void **state)
{
    struct evidence evidence = watched(IPPROTO_TCP, "nginx");

    (void)state;
    expect(&evidence, ENDING_UNKNOWN, CAUSE_UNKNOWN,
           "\"nginx\" (pid 812) listens on 10.9.2.2:5432; no packet for it was dropped, but no "
           "new connection was seen, either");
    evidence.events_lost = 1;
    evidence.unseen = "packets could not be noted: there were too many";
    expect(&evidence, ENDING_UNKNOWN, CAUSE_UNKNOWN,
           "\"nginx\" (pid 812) listens on 10.9.2.2:5432; packets could not be noted: there were "
           "too many");
    evidence.fresh = 1;
    expect(&evidence, ENDING_OPEN, CAUSE_OPEN,
           "\"nginx\" (pid 812) listens on 10.9.2.2:5432, and clients reach it: 1 connected while "
           "fastnet watched");
}

static void a_rule_that_drops_is_more_than_a_client_that_connects(void **state)
{
    struct evidence evidence = watched(IPPROTO_TCP, "nginx");

    (void)state;
    evidence.fresh = 1;
    evidence.diversions = DIVERSION_NAT;
    add_drop(&evidence, "NETFILTER_DROP", (struct endpoint){{AF_INET, {10, 9, 2, 2}}, 5432});
    expect(&evidence, ENDING_ENDS, CAUSE_OWN_RULE_DROPS,
           "a rule of this machine's firewall drops the packets");
}

static void udp_is_never_open(void **state)
{
    const struct evidence evidence = watched(IPPROTO_UDP, "named");

    (void)state;
    expect(&evidence, ENDING_UNKNOWN, CAUSE_UNKNOWN,
           "\"named\" (pid 812) listens on 10.9.2.2:5432; no packet for it was dropped, but UDP "
           "does not confirm that packets arrive");
}

static void a_loopback_address_is_for_this_machine_only(void **state)
{
    struct evidence evidence = port_of(IPPROTO_TCP, "nginx");

    (void)state;
    evidence.listener.local.address = (struct address){AF_INET, {127, 0, 0, 1}};
    expect(&evidence, ENDING_UNKNOWN, CAUSE_UNKNOWN,
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
        cmocka_unit_test(a_client_that_knocks_in_vain_is_a_near_miss),
        cmocka_unit_test(a_full_queue_ends),
        cmocka_unit_test(only_a_new_connection_proves_that_clients_get_through),
        cmocka_unit_test(a_rule_that_drops_is_more_than_a_client_that_connects),
        cmocka_unit_test(udp_is_never_open),
        cmocka_unit_test(a_loopback_address_is_for_this_machine_only),
        cmocka_unit_test(each_cause_has_a_name_and_a_meaning),
    };

    return cmocka_run_group_tests_name("server verdict", tests, NULL, NULL);
}
