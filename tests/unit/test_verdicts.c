/* SPDX-License-Identifier: MIT */
/* Evidence is made for each cause, in IPv4 and IPv6. */
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <stdio.h>

#include "fastnet/clock.h"
#include "kit.h"
#include "why/verdicts.h"

enum { HERE = 101, THERE = 102, OTHER = 103, PORT = 5432 };

static bool is_6;

static struct address pick(const char *four, const char *six)
{
    return ip(is_6 ? six : four);
}

/* Packets leave, nothing is known of the other end, and no attempt was made. */
static struct evidence quiet(void)
{
    struct evidence evidence = {
        .read = EVIDENCE_NAME | EVIDENCE_ROUTE | EVIDENCE_LINK | EVIDENCE_NEIGHBOUR |
                EVIDENCE_TRACKING | EVIDENCE_HOME | EVIDENCE_OTHERS,
        .peer = {pick("10.9.2.2", "2001:db8:2::2"), PORT},
        .protocol = IPPROTO_TCP,
        .here = {HERE, NULL},
        .own_netns = HERE,
        .route = {.end = ROUTING_LEADS, .type = RTN_UNICAST, .interface = 2},
        .interface = "eth0",
        .is_up = true,
        .has_link = true,
        .neighbour = {.address = pick("10.9.1.1", "2001:db8:1::1"), .state = NUD_REACHABLE},
    };

    evidence.target = evidence.peer;
    return evidence;
}

/* An attempt without an answer for three seconds, and everything that can be noted was noted. */
static struct evidence waiting(void)
{
    struct evidence evidence = quiet();

    evidence.read |= EVIDENCE_DROPS | EVIDENCE_RESETS;
    evidence.attempt = (struct attempt_result){
        .state = ATTEMPT_WAITS, .elapsed = 3 * CLOCK_SECOND, .retransmits = 2};
    evidence.has_waited = true;
    return evidence;
}

static struct evidence failed(int error)
{
    struct evidence evidence = waiting();

    evidence.attempt = (struct attempt_result){
        .state = ATTEMPT_FAILED, .error = error, .elapsed = 400 * CLOCK_MILLISECOND / 1000};
    return evidence;
}

static struct evidence at_once(int error)
{
    struct evidence evidence = failed(error);

    evidence.attempt.at_once = true;
    return evidence;
}

static struct evidence answered(uint8_t type4, uint8_t code4, uint8_t type6, uint8_t code6)
{
    struct evidence evidence = failed(EHOSTUNREACH);

    evidence.attempt.has_icmp = true;
    evidence.attempt.icmp_type = is_6 ? type6 : type4;
    evidence.attempt.icmp_code = is_6 ? code6 : code4;
    evidence.attempt.offender = pick("10.9.1.1", "2001:db8:1::1");
    return evidence;
}

static struct evidence connected(void)
{
    struct evidence evidence = waiting();

    evidence.attempt =
        (struct attempt_result){.state = ATTEMPT_CONNECTED, .elapsed = CLOCK_MILLISECOND};
    return evidence;
}

/* Each SYN was dropped in the network namespace. */
static struct evidence_event *drop(struct evidence *evidence, const char *reason, uint64_t netns)
{
    struct evidence_event *event = &evidence->events[evidence->event_count++];

    *event = (struct evidence_event){
        .event = {.type = ATTEMPT_DROP,
                  .protocol = evidence->protocol,
                  .flags = TH_SYN,
                  .count = 1 + evidence->attempt.retransmits,
                  .netns = (uint32_t)netns,
                  .destination = evidence->peer,
                  .reason = reason},
        .netns = {netns, netns == THERE ? "db" : NULL},
        .is_here = netns == HERE,
    };
    return event;
}

/* The peer's address is one of this network namespace, and listeners could be read. */
static void come_home(struct evidence *evidence)
{
    evidence->route.type = RTN_LOCAL;
    evidence->is_home_here = true;
    evidence->home = evidence->here;
    evidence->read |= EVIDENCE_LISTENERS | EVIDENCE_MISSES | EVIDENCE_QUEUE;
}

static void go_there(struct evidence *evidence)
{
    evidence->home = (struct evidence_netns){THERE, "db"};
    evidence->read |= EVIDENCE_LISTENERS | EVIDENCE_MISSES | EVIDENCE_QUEUE;
}

static void listen_on(struct evidence *evidence, enum evidence_miss miss, struct address address)
{
    evidence->listener = (struct evidence_listener){.miss = (uint8_t)miss,
                                                    .local = {address, PORT},
                                                    .netns = evidence->home,
                                                    .inode = 7,
                                                    .process = "postgres",
                                                    .pid = 812,
                                                    .queue_limit = 128,
                                                    .has_cookies = true};
}

static struct verdict verdict_of(const struct evidence *evidence)
{
    struct verdict verdict;

    verdict_find(evidence, &verdict);
    return verdict;
}

/* The sentence, the advice or the command has each of the `words` (separated by '|'). */
static void check(const struct evidence *evidence, enum cause cause, const char *words)
{
    const struct verdict verdict = verdict_of(evidence);
    char all[3 * VERDICT_TEXT], word[128];

    assert_string_equal(cause_name(verdict.cause), cause_name(cause));
    assert_int_equal(verdict.ending, cause == CAUSE_OPEN      ? ENDING_OPEN
                                     : cause == CAUSE_UNKNOWN ? ENDING_UNKNOWN
                                                              : ENDING_ENDS);
    snprintf(all, sizeof all, "%s\n%s\n%s", verdict.sentence, verdict.advice, verdict.command);
    assert_null(strpbrk(all, "{}"));
    while (*words) {
        const size_t length = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        if (!strstr(all, word))
            fail_msg("\"%s\" is not in: %s", word, all);
        words += length + (words[length] == '|');
    }
}

static void for_both(void (*test)(void))
{
    for (int family = 0; family < 2; family++) {
        is_6 = family;
        test();
    }
}

/* Defines a test that runs for both IP versions. */
#define TEST(name)                                                                                 \
    static void name##_(void);                                                                     \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        for_both(name##_);                                                                         \
    }                                                                                              \
    static void name##_(void)

/* --- Names and ways --------------------------------------------------------------------------- */

TEST(a_name_without_address_is_no_address)
{
    struct evidence evidence = {.read = EVIDENCE_NAME, .name = "db.example", .no_name = "unknown"};

    check(&evidence, CAUSE_NO_ADDRESS, "no address was found for the name db.example: unknown");
    evidence.read = 0;
    check(&evidence, CAUSE_UNKNOWN, "");
}

TEST(a_first_address_that_fails_is_named_with_the_address_that_works)
{
    struct evidence first = waiting(), other = connected();
    struct verdict verdict = verdict_of(&first);

    first.name = "db.example";
    other.peer.address = pick("10.9.2.3", "2001:db8:2::3");
    verdict_first_address(&first, &other, &verdict);
    assert_int_equal(verdict.cause, CAUSE_FIRST_ADDRESS);
    assert_int_equal(verdict.ending, ENDING_ENDS);
    assert_non_null(strstr(verdict.sentence, is_6 ? "2001:db8:2::3 does" : "10.9.2.3 does"));
    assert_non_null(strstr(verdict.sentence, "no answer") ? "" : strstr(verdict.sentence, "SYNs"));
}

TEST(each_way_that_ends_here_has_its_cause)
{
    static const struct {
        enum routing_end end;
        int error;
        enum cause cause;
    } ways[] = {{ROUTING_NONE, ENETUNREACH, CAUSE_NO_ROUTE},
                {ROUTING_BLACKHOLE, EINVAL, CAUSE_ROUTE_BLACKHOLE},
                {ROUTING_UNREACHABLE, EHOSTUNREACH, CAUSE_ROUTE_UNREACHABLE},
                {ROUTING_PROHIBIT, EACCES, CAUSE_ROUTE_PROHIBIT}};

    for (size_t i = 0; i < COUNT(ways); i++) {
        struct evidence looked = quiet(), tried = at_once(ways[i].error),
                        other = at_once(ECONNRESET);
        looked.route = tried.route = other.route =
            (struct routing_answer){.end = ways[i].end, .error = ways[i].error};
        check(&looked, ways[i].cause, is_6 ? "2001:db8:2::2" : "10.9.2.2");
        check(&looked, ways[i].cause, is_6 ? "netstat -rn6" : "netstat -rn");
        check(&tried, ways[i].cause, "");
        check(&other, CAUSE_UNKNOWN, ""); /* the route has changed meanwhile */
        looked.read &= ~(unsigned)EVIDENCE_ROUTE;
        check(&looked, CAUSE_UNKNOWN, "--probe");
        looked.read |= EVIDENCE_ROUTE;
        looked.route.rule = (struct routing_rule){.known = true, .ends = true, .priority = 114};
        check(&looked, CAUSE_POLICY_RULE, "114");
    }
}

TEST(a_link_without_carrier_is_named)
{
    struct evidence evidence = quiet();

    evidence.has_link = false;
    check(&evidence, CAUSE_LINK_DOWN, "eth0|has no carrier");
    evidence.is_up = false;
    check(&evidence, CAUSE_LINK_DOWN, "is down");
    evidence.attempt = connected().attempt;
    check(&evidence, CAUSE_OPEN, "");
}

TEST(a_silent_neighbour_is_named)
{
    struct evidence looked = quiet(), tried = waiting(), reported = answered(3, 1, 1, 3);

    tried.neighbour.state = NUD_INCOMPLETE;
    check(&tried, CAUSE_NO_NEIGHBOUR, is_6 ? "2001:db8:1::1" : "10.9.1.1");
    reported.neighbour.state = NUD_FAILED;
    reported.offender_is_here = true;
    check(&reported, CAUSE_NO_NEIGHBOUR, "eth0");
    reported.neighbour.state = NUD_REACHABLE; /* a rule may have caused the message */
    check(&reported, CAUSE_UNKNOWN, "");
    looked.neighbour.state = NUD_FAILED;
    looked.neighbour.used_ms = 60000; /* long ago */
    check(&looked, CAUSE_UNKNOWN, "");
    looked.neighbour.used_ms = 100;
    check(&looked, CAUSE_NO_NEIGHBOUR, "");
}

TEST(errors_of_connect_itself_have_their_causes)
{
    struct evidence ports = at_once(EADDRNOTAVAIL), program = at_once(EPERM),
                    landlock = at_once(EACCES), later = failed(EACCES);

    check(&ports, CAUSE_NO_LOCAL_PORT, "ip_local_port_range");
    check(&program, CAUSE_NOT_PERMITTED, "EPERM|which policy is not known");
    check(&landlock, CAUSE_NOT_PERMITTED, "EACCES");
    check(&later, CAUSE_UNKNOWN, "");
    landlock.read &= ~(unsigned)EVIDENCE_ROUTE; /* a route of type prohibit gives EACCES, too */
    check(&landlock, CAUSE_UNKNOWN, "");
}

/* --- Packets on this machine ------------------------------------------------------------------ */

TEST(a_rule_is_known_by_its_drop_and_its_answer)
{
    static const uint64_t places[] = {HERE, THERE};
    static const enum cause drops[] = {CAUSE_OWN_RULE_DROPS, CAUSE_THEIR_RULE_DROPS},
                            rejects[] = {CAUSE_OWN_RULE_REJECTS, CAUSE_THEIR_RULE_REJECTS},
                            resets[] = {CAUSE_OWN_RULE_RESETS, CAUSE_THEIR_RULE_RESETS};

    for (size_t i = 0; i < COUNT(places); i++) {
        struct evidence dropped = waiting(), rejected = answered(3, 3, 1, 4),
                        reset = failed(ECONNREFUSED), watched = quiet();
        drop(&dropped, "NETFILTER_DROP", places[i]);
        drop(&rejected, "NETFILTER_DROP", places[i]);
        drop(&reset, "NETFILTER_DROP", places[i]);
        drop(&watched, "NETFILTER_DROP", places[i]);
        check(&dropped, drops[i], i ? "in netns db|--netns db" : "this machine's firewall");
        check(&rejected, rejects[i], "ICMP");
        check(&reset, resets[i], "reset");
        check(&watched, drops[i], "nft list ruleset");
        dropped.events[0].is_answer = true;
        check(&dropped, drops[i], "answers (SYN, ACK)");
    }
}

TEST(drops_that_some_packets_survive_prove_nothing)
{
    struct evidence evidence = waiting();
    struct evidence_event *event = drop(&evidence, "NETFILTER_DROP", HERE);

    event->event.count = 1; /* of three SYNs */
    check(&evidence, CAUSE_UNKNOWN, "");
    event->event.count = 3;
    event->event.flags = TH_ACK;
    check(&evidence, CAUSE_NO_ANSWER, "");
    evidence.attempt = connected().attempt;
    check(&evidence, CAUSE_OPEN, "");
}

TEST(a_message_of_an_own_address_is_of_an_own_rule)
{
    struct evidence evidence = answered(3, 13, 1, 1);

    evidence.offender_is_here = true;
    evidence.read &= ~(unsigned)(EVIDENCE_DROPS | EVIDENCE_RESETS);
    check(&evidence, CAUSE_OWN_RULE_REJECTS, "");
}

TEST(a_full_table_of_flows_is_known_by_its_drops)
{
    struct evidence evidence = waiting();

    drop(&evidence, "NETFILTER_DROP", THERE);
    evidence.flows_full = (struct evidence_netns){THERE, "db"};
    check(&evidence, CAUSE_TRACKING_FULL, "in netns db|nf_conntrack_max");
    evidence.flows_full.id = OTHER; /* a table that did not see the packet */
    check(&evidence, CAUSE_THEIR_RULE_DROPS, "");
}

TEST(each_drop_of_a_router_has_its_cause)
{
    static const struct {
        const char *reason;
        enum cause cause;
    } drops[] = {{"IP_RPFILTER", CAUSE_RP_FILTER},
                 {"IP_INNOROUTES", CAUSE_ROUTER_NO_ROUTE},
                 {"IP_INADDRERRORS", CAUSE_ROUTER_NO_ROUTE},
                 {"IP_INHDR", CAUSE_ROUTER_TTL},
                 {"XDP", CAUSE_DROPPED},
                 {"NOT_SPECIFIED", CAUSE_DROPPED}};

    for (size_t i = 0; i < COUNT(drops); i++) {
        struct evidence evidence = waiting();
        drop(&evidence, drops[i].reason, THERE);
        check(&evidence, drops[i].cause, "in netns db");
        evidence.events[0].netns.name = NULL;
        check(&evidence, drops[i].cause, "in the network namespace 102");
        evidence.attempt = failed(ECONNREFUSED).attempt; /* so a packet has passed */
        check(&evidence, CAUSE_UNKNOWN, "");
    }
}

TEST(copies_that_a_bridge_drops_prove_nothing)
{
    struct evidence evidence = waiting();

    drop(&evidence, "OTHERHOST", THERE);
    drop(&evidence, "NEIGH_FAILED", HERE);
    check(&evidence, CAUSE_NO_ANSWER, "3 SYNs left by eth0");
}

/* --- Answers ---------------------------------------------------------------------------------- */

TEST(each_message_of_a_router_has_its_cause)
{
    static const struct {
        uint8_t type4, code4, type6, code6;
        enum cause cause;
    } messages[] = {{3, 0, 1, 0, CAUSE_NET_UNREACHABLE},  {3, 1, 1, 3, CAUSE_HOST_UNREACHABLE},
                    {3, 3, 1, 4, CAUSE_PORT_UNREACHABLE}, {3, 13, 1, 1, CAUSE_PROHIBITED},
                    {3, 9, 1, 5, CAUSE_PROHIBITED},       {3, 10, 1, 6, CAUSE_PROHIBITED},
                    {11, 0, 3, 0, CAUSE_ROUTER_TTL},      {3, 99, 1, 99, CAUSE_UNKNOWN}};

    for (size_t i = 0; i < COUNT(messages); i++) {
        struct evidence evidence =
            answered(messages[i].type4, messages[i].code4, messages[i].type6, messages[i].code6);
        check(&evidence, messages[i].cause,
              messages[i].cause == CAUSE_UNKNOWN ? ""
              : is_6                             ? "2001:db8:1::1"
                                                 : "10.9.1.1");
        evidence.offender_home = (struct evidence_netns){THERE, "db"};
        if (messages[i].cause != CAUSE_UNKNOWN)
            check(&evidence, messages[i].cause, "in netns db");
        evidence.attempt.state = ATTEMPT_WAITS; /* the message did not end the attempt */
        evidence.has_waited = true;
        check(&evidence, CAUSE_NO_ANSWER, "");
    }
}

TEST(a_way_for_small_packets_is_known_by_what_is_lost)
{
    struct evidence reported = waiting(), large = connected(), learnt, dropped;

    reported.route.mtu_is_learnt = reported.mtu_is_new = true;
    reported.route.mtu = 600;
    check(&reported, CAUSE_TOO_BIG, "600 bytes");
    reported.mtu_is_new = false; /* learnt before: it does not prove why packets are lost now */
    check(&reported, CAUSE_NO_ANSWER, "");
    large.attempt.mss = 1448;
    large.attempt.sent = 5000;
    large.attempt.data_retransmits = 3;
    check(&large, CAUSE_UNKNOWN,
          "has not acknowledged all data"); /* small packets may be lost, too */
    large.attempt.acked = 64;
    learnt = dropped = large;
    check(&large, CAUSE_MTU, "no segment of 1448 bytes");
    learnt.route.mtu_is_learnt = true;
    check(&learnt, CAUSE_TOO_BIG, "");
    drop(&dropped, "PKT_TOO_BIG", THERE)->event.flags = TH_ACK;
    check(&dropped, CAUSE_MTU, "in netns db");
    large.attempt.acked = 1448;
    check(&large, CAUSE_UNKNOWN, "has not acknowledged all data");
    large.attempt.acked = 5000;
    check(&large, CAUSE_OPEN, "accepts connections");
    large.attempt.reset = true;
    check(&large, CAUSE_RESET, "then resets it");
}

/* --- Listeners -------------------------------------------------------------------------------- */

TEST(each_near_miss_has_its_cause)
{
    static const enum cause causes[] = {[MISS_NO_LISTENER] = CAUSE_NOBODY_LISTENS,
                                        [MISS_LOOPBACK] = CAUSE_LISTENS_LOOPBACK,
                                        [MISS_ADDRESS] = CAUSE_LISTENS_ADDRESS,
                                        [MISS_FAMILY] = CAUSE_LISTENS_FAMILY,
                                        [MISS_NETNS] = CAUSE_LISTENS_NETNS};

    for (size_t miss = 0; miss < COUNT(causes); miss++) {
        struct evidence looked = quiet(), refused = failed(ECONNREFUSED),
                        there = failed(ECONNREFUSED), translated = quiet();
        const char *words = miss ? "\"postgres\" (pid 812)|127.0.0.1:5432" : "nobody listens on";
        if (miss == MISS_NONE || miss == MISS_INTERFACE)
            continue;
        come_home(&looked);
        come_home(&refused);
        come_home(&translated);
        go_there(&there);
        if (miss) {
            listen_on(&looked, (enum evidence_miss)miss, ip("127.0.0.1"));
            listen_on(&refused, (enum evidence_miss)miss, ip("127.0.0.1"));
            listen_on(&there, (enum evidence_miss)miss, ip("127.0.0.1"));
        }
        check(&looked, causes[miss], words);
        check(&refused, causes[miss], words);
        drop(&there, "NO_SOCKET", THERE);
        check(&there, causes[miss], "in netns db");
        translated.diversions = DIVERSION_NAT; /* a NAT rule may lead elsewhere */
        check(&translated, CAUSE_UNKNOWN, "NAT");
    }
}

TEST(a_listener_bound_to_an_interface_needs_proof)
{
    struct evidence evidence = failed(ECONNREFUSED);

    go_there(&evidence);
    listen_on(&evidence, MISS_INTERFACE, pick("10.9.2.2", "2001:db8:2::2"));
    drop(&evidence, "NO_SOCKET", THERE);
    check(&evidence, CAUSE_LISTENS_INTERFACE, "only on another interface");
    evidence.event_count = 0;
    come_home(&evidence);
    check(&evidence, CAUSE_UNKNOWN, "");
}

TEST(an_address_of_another_namespace_proves_nothing)
{
    struct evidence looked = quiet(), refused = failed(ECONNREFUSED);

    go_there(&looked);
    go_there(&refused);
    check(&looked, CAUSE_UNKNOWN, "nobody listens on|in netns db|--probe");
    check(&refused, CAUSE_REFUSED, "nobody listens there, or a firewall there rejects");
    listen_on(&looked, MISS_NONE, looked.peer.address);
    check(&looked, CAUSE_UNKNOWN, "nothing seems to be in the way|in netns db, which has this");
}

TEST(a_full_queue_needs_a_listener_that_dropped_the_connection)
{
    struct evidence evidence = waiting(), looked = quiet();

    go_there(&evidence);
    listen_on(&evidence, MISS_NONE, pick("10.9.2.2", "2001:db8:2::2"));
    evidence.listener.queue = 129;
    check(&evidence, CAUSE_UNKNOWN,
          "whether packets arrive there"); /* is this where packets arrive? */
    evidence.listener.dropped = 3;
    check(&evidence, CAUSE_ACCEPT_QUEUE, "129 of 128 connections wait to be accepted|postgres");
    evidence.listener.queue = 128; /* not yet full */
    check(&evidence, CAUSE_UNKNOWN, "");
    evidence.listener.has_cookies = false;
    evidence.listener.half_open = evidence.listener.half_open_limit = 8;
    check(&evidence, CAUSE_HALF_OPEN_QUEUE, "8 of 8|tcp_syncookies");
    come_home(&looked);
    listen_on(&looked, MISS_NONE, pick("10.9.2.2", "2001:db8:2::2"));
    check(&looked, CAUSE_UNKNOWN, "nothing seems to be in the way|--probe");
    looked.listener.queue = 129;
    check(&looked, CAUSE_ACCEPT_QUEUE, "");
}

/* --- Elsewhere, and not known ----------------------------------------------------------------- */

TEST(an_answer_from_elsewhere_is_known_only_if_packets_were_noted)
{
    struct evidence refused = failed(ECONNREFUSED), silent = waiting();

    check(&refused, CAUSE_REFUSED, "after 0.4 ms");
    check(&silent, CAUSE_NO_ANSWER, "3 SYNs left by eth0|3 s");
    silent.has_waited = false;
    check(&silent, CAUSE_UNKNOWN, "");
    silent.has_waited = true;
    silent.events_lost = refused.events_lost = 1;
    check(&refused, CAUSE_UNKNOWN, "who refused is not known");
    check(&silent, CAUSE_UNKNOWN, "is not known");
    silent.events_lost = refused.events_lost = 0;
    silent.read &= ~(unsigned)EVIDENCE_DROPS;
    refused.read &= ~(unsigned)EVIDENCE_RESETS;
    check(&refused, CAUSE_UNKNOWN, "");
    check(&silent, CAUSE_UNKNOWN, "");
}

TEST(a_refusal_while_another_namespace_refused_may_be_after_nat)
{
    struct evidence evidence = failed(ECONNREFUSED);

    check(&evidence, CAUSE_REFUSED, "");
    evidence.has_strays = true;
    check(&evidence, CAUSE_UNKNOWN, "a NAT rule");
}

TEST(an_attempt_that_lacks_something_is_unknown)
{
    struct evidence evidence = connected(), refused = failed(ECONNREFUSED);

    evidence.attempt.lacks = ATTEMPT_LACKS_CGROUP | ATTEMPT_LACKS_USER;
    check(&evidence, CAUSE_UNKNOWN, "the control group and the user");
    refused.attempt.lacks = ATTEMPT_LACKS_NETNS;
    drop(&refused, "NO_SOCKET", THERE);
    check(&refused, CAUSE_UNKNOWN, "the network namespace");
}

TEST(a_peer_that_answers_for_itself_is_no_router)
{
    struct evidence host = answered(3, 1, 1, 3), net = answered(3, 0, 1, 0);

    check(&host, CAUSE_HOST_UNREACHABLE, "the router");
    host.attempt.offender = host.peer.address;
    net.attempt.offender = net.peer.address;
    check(&host, CAUSE_HOST_UNREACHABLE, "itself answers");
    check(&net, CAUSE_NET_UNREACHABLE, "itself answers");
}

TEST(udp_is_open_only_after_an_answer)
{
    struct evidence silent = waiting(), answer = connected(), refused = answered(3, 3, 1, 4),
                    rule = failed(EPERM);

    silent.protocol = answer.protocol = refused.protocol = rule.protocol = IPPROTO_UDP;
    check(&silent, CAUSE_UNKNOWN, "a datagram left by eth0");
    check(&answer, CAUSE_OPEN, "");
    check(&refused, CAUSE_PORT_UNREACHABLE, "");
    refused.attempt.offender = refused.peer.address;
    check(&refused, CAUSE_REFUSED, "");
    drop(&rule, "NETFILTER_DROP", HERE)->event.flags = 0;
    check(&rule, CAUSE_OWN_RULE_DROPS, "datagrams");
}

TEST(without_any_evidence_nothing_is_known)
{
    struct evidence nothing = {.read = 0}, looked = quiet();

    check(&nothing, CAUSE_UNKNOWN, "");
    check(&looked, CAUSE_UNKNOWN, "only --probe shows");
}

/* A hostile name of a process or namespace changes no other text, and long names are cut. */
TEST(names_of_strangers_stay_inside_their_quotes)
{
    char name[300];
    struct evidence evidence = waiting();

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    name[0] = '\'';
    drop(&evidence, "NETFILTER_DROP", THERE)->netns.name = name;
    const struct verdict verdict = verdict_of(&evidence);
    assert_int_equal(verdict.cause, CAUSE_THEIR_RULE_DROPS);
    assert_true(strlen(verdict.sentence) < VERDICT_TEXT && strlen(verdict.command) < VERDICT_TEXT);
    come_home(&evidence);
    evidence.event_count = 0;
    evidence.attempt = (struct attempt_result){.state = ATTEMPT_NONE};
    listen_on(&evidence, MISS_LOOPBACK, ip("127.0.0.1"));
    memcpy(evidence.listener.process, "a\" (pid 1)", sizeof "a\" (pid 1)");
    check(&evidence, CAUSE_LISTENS_LOOPBACK, "\"a' (pid 1)\" (pid 812)");
}

TEST(commands_read_the_network_namespace_of_the_verdict)
{
    struct evidence evidence = waiting();

    drop(&evidence, "NETFILTER_DROP", HERE);
    assert_null(strstr(verdict_of(&evidence).command, "netns"));
    evidence.here.name = "web";
    check(&evidence, CAUSE_OWN_RULE_DROPS, "--netns web");
    evidence.here.name = NULL;
    evidence.own_netns = OTHER;
    check(&evidence, CAUSE_OWN_RULE_DROPS, "netns_id = 101");
}

TEST(each_cause_has_a_name)
{
    for (size_t cause = 0; cause < CAUSES; cause++)
        assert_non_null(cause_name(cause));
    assert_null(cause_name(CAUSES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_without_address_is_no_address),
        cmocka_unit_test(a_first_address_that_fails_is_named_with_the_address_that_works),
        cmocka_unit_test(each_way_that_ends_here_has_its_cause),
        cmocka_unit_test(a_link_without_carrier_is_named),
        cmocka_unit_test(a_silent_neighbour_is_named),
        cmocka_unit_test(errors_of_connect_itself_have_their_causes),
        cmocka_unit_test(a_rule_is_known_by_its_drop_and_its_answer),
        cmocka_unit_test(drops_that_some_packets_survive_prove_nothing),
        cmocka_unit_test(a_message_of_an_own_address_is_of_an_own_rule),
        cmocka_unit_test(a_full_table_of_flows_is_known_by_its_drops),
        cmocka_unit_test(each_drop_of_a_router_has_its_cause),
        cmocka_unit_test(copies_that_a_bridge_drops_prove_nothing),
        cmocka_unit_test(each_message_of_a_router_has_its_cause),
        cmocka_unit_test(a_way_for_small_packets_is_known_by_what_is_lost),
        cmocka_unit_test(each_near_miss_has_its_cause),
        cmocka_unit_test(a_listener_bound_to_an_interface_needs_proof),
        cmocka_unit_test(an_address_of_another_namespace_proves_nothing),
        cmocka_unit_test(a_full_queue_needs_a_listener_that_dropped_the_connection),
        cmocka_unit_test(an_answer_from_elsewhere_is_known_only_if_packets_were_noted),
        cmocka_unit_test(a_refusal_while_another_namespace_refused_may_be_after_nat),
        cmocka_unit_test(an_attempt_that_lacks_something_is_unknown),
        cmocka_unit_test(a_peer_that_answers_for_itself_is_no_router),
        cmocka_unit_test(udp_is_open_only_after_an_answer),
        cmocka_unit_test(without_any_evidence_nothing_is_known),
        cmocka_unit_test(names_of_strangers_stay_inside_their_quotes),
        cmocka_unit_test(commands_read_the_network_namespace_of_the_verdict),
        cmocka_unit_test(each_cause_has_a_name),
    };

    return cmocka_run_group_tests_name("verdicts", tests, NULL, NULL);
}
