/* SPDX-License-Identifier: MIT */
/* The doctor's rules about NAT, connection tracking and multicast groups, over rows that are made.
 */
#include <arpa/inet.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/multicast.h"
#include "doctor/nat.h"
#include "doctor/rules.h"
#include "fastnet/clock.h"
#include "fastnet/kernel_info.h"
#include "kit.h"

static struct address address_of(const char *text)
{
    const uint8_t family = strchr(text, ':') ? AF_INET6 : AF_INET;
    struct address address = {.family = family};

    assert_int_equal(inet_pton(family, text, address.bytes), 1);
    return address;
}

/* --- Flows ------------------------------------------------------------------------------------ */

/* A flow of a client to a service, which NAT leads to a pod. */
static struct record dnat_flow(uint32_t timeout)
{
    struct record record = {.kind = &kind_flow,
                            .identity = 7,
                            .has = FLOW_ORIG | FLOW_REPLY | FLOW_STATUS | FLOW_TIMEOUT,
                            .flow = {.status = IPS_DST_NAT | IPS_SEEN_REPLY, .timeout = timeout}};
    struct flow_tuple *orig = &record.flow.way[WAY_ORIG].tuple;
    struct flow_tuple *reply = &record.flow.way[WAY_REPLY].tuple;

    *orig = (struct flow_tuple){address_of("10.1.0.1"), address_of("10.96.0.10"), 40000, 53,
                                .protocol = IPPROTO_UDP};
    *reply = (struct flow_tuple){address_of("10.3.0.2"), address_of("10.1.0.1"), 5353, 40000,
                                 .protocol = IPPROTO_UDP};
    return record;
}

static void count_packets(struct record *record, uint64_t sent, uint64_t received)
{
    record->has |= FLOW_ORIG_COUNTERS | FLOW_REPLY_COUNTERS;
    record->flow.way[WAY_ORIG].packets = sent;
    record->flow.way[WAY_REPLY].packets = received;
}

static void only_udp_flows_with_a_translated_destination_are_taken(void **state)
{
    struct record record = dnat_flow(30);
    struct nat_flow flow;

    (void)state;
    assert_true(nat_flow_of(&flow, &record));
    assert_int_equal(flow.target.port, 5353);
    assert_int_equal(flow.service.port, 53);
    assert_int_equal(flow.client.port, 40000);
    record.flow.status = IPS_SRC_NAT;
    assert_false(nat_flow_of(&flow, &record));
    record = dnat_flow(30);
    record.flow.way[WAY_ORIG].tuple.protocol = IPPROTO_TCP;
    assert_false(nat_flow_of(&flow, &record));
    record = dnat_flow(30);
    record.flow.way[WAY_ORIG].tuple.dst = address_of("10.3.0.2"); /* only another port */
    assert_false(nat_flow_of(&flow, &record));
    record = dnat_flow(30);
    record.flow.status |= 1u << 14; /* IPS_OFFLOAD: packets do not renew its timeout */
    assert_false(nat_flow_of(&flow, &record));
    record = dnat_flow(30);
    record.has &= ~FLOW_TIMEOUT;
    assert_false(nat_flow_of(&flow, &record));
}

/* Compares a flow with itself some seconds before. */
static bool is_unanswered(const struct record *before, const struct record *now, uint64_t seconds)
{
    struct nat_flow old, flow;

    assert_true(nat_flow_of(&old, before) && nat_flow_of(&flow, now));
    const struct nat_flows first = {.at = CLOCK_SECOND, .count = 1, .list = &old};
    const struct nat_flows second = {
        .at = CLOCK_SECOND + seconds * CLOCK_SECOND, .count = 1, .list = &flow};
    return nat_flow_is_unanswered(&first, &second, 0);
}

static void a_flow_whose_timeout_was_renewed_has_a_client_that_sends(void **state)
{
    struct record before = dnat_flow(29), now = dnat_flow(29);

    (void)state;
    assert_true(is_unanswered(&before, &now, 5));
    now = dnat_flow(26); /* 24 if no packet came, and a second of rounding */
    assert_true(is_unanswered(&before, &now, 5));
    now = dnat_flow(25);
    assert_false(is_unanswered(&before, &now, 5));
    now = dnat_flow(24);
    assert_false(is_unanswered(&before, &now, 5));
    now = dnat_flow(29);
    now.identity = 8; /* another flow */
    assert_false(is_unanswered(&before, &now, 5));
}

static void packets_that_are_counted_decide(void **state)
{
    struct record before = dnat_flow(29), now = dnat_flow(29);

    (void)state;
    count_packets(&before, 10, 5);
    count_packets(&now, 20, 5);
    assert_true(is_unanswered(&before, &now, 5));
    count_packets(&now, 20, 6);
    assert_false(is_unanswered(&before, &now, 5));
    count_packets(&now, 10, 5);
    assert_false(is_unanswered(&before, &now, 5));
}

static void flows_that_are_kept_are_limited(void **state)
{
    const struct record record = dnat_flow(30);
    struct nat_flows flows = {.count = 0};
    struct nat_flow flow;

    (void)state;
    assert_true(nat_flow_of(&flow, &record));
    for (int i = 0; i < NAT_FLOWS_MAX + 10; i++)
        assert_int_equal(nat_flows_add(&flows, &flow), 0);
    assert_int_equal(flows.count, NAT_FLOWS_MAX);
    assert_true(flows.at > 0);
    free(flows.list);
}

/* --- Rules ------------------------------------------------------------------------------------ */

struct flows_scene {
    struct reading before, now;
    struct doctor_options options;
    struct doctor_summary summary;
    struct report report;
    size_t count;
    char subject[64], text[512];
};

static int flows_scene_keep(const struct record *record, void *arg)
{
    struct flows_scene *scene = arg;
    const struct finding_record *finding = &record->finding;

    scene->count++;
    snprintf(scene->subject, sizeof scene->subject, "%.*s", (int)finding->subject.length,
             finding->subject.data);
    snprintf(scene->text, sizeof scene->text, "%.*s", (int)finding->summary.length,
             finding->summary.data);
    return 0;
}

static size_t flows_scene_try(struct flows_scene *scene, const char *name)
{
    struct examination examination = {.options = &scene->options,
                                      .before = &scene->before,
                                      .now = &scene->now,
                                      .searched_owners = true,
                                      .summary = &scene->summary,
                                      .report = &scene->report,
                                      .fn = flows_scene_keep,
                                      .arg = scene};

    scene->count = 0;
    for (size_t i = 0; i < rule_count; i++)
        if (strcmp(rules[i].text.name, name) == 0) {
            examination.rule = &rules[i];
            rules[i].evaluate(&examination);
        }
    assert_non_null(examination.rule);
    return scene->count;
}

static int flows_scene_make(void **state)
{
    struct flows_scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    scene->options.proc_root = "/proc";
    scene->before.at = CLOCK_SECOND;
    scene->now.at = 6 * CLOCK_SECOND;
    *state = scene;
    return 0;
}

static int flows_scene_remove(void **state)
{
    struct flows_scene *scene = *state;

    reading_finish(&scene->before);
    reading_finish(&scene->now);
    free(scene);
    return 0;
}

static void set_tracked(struct reading *reading, uint64_t flows)
{
    reading->counts.known[FLOWS_TRACKED] = true;
    reading->counts.numbers[FLOWS_TRACKED] = flows;
}

static void set_silent(struct reading *reading, const char *address)
{
    free(reading->silent);
    reading->silent = calloc(1, sizeof *reading->silent);
    assert_non_null(reading->silent);
    reading->silent[0] = (struct silent_neighbour){.address = address_of(address), .interface = 4};
    reading->silent_count = 1;
}

static void take_flow(struct reading *reading, uint32_t timeout)
{
    const struct record record = dnat_flow(timeout);

    assert_int_equal(nat_take(reading, &record), 0);
}

static void nat_to_a_neighbour_that_is_silent_in_both_readings_is_found(void **state)
{
    struct flows_scene *scene = *state;

    set_tracked(&scene->now, 1);
    set_silent(&scene->before, "10.3.0.2");
    set_silent(&scene->now, "10.3.0.2");
    take_flow(&scene->before, 29);
    take_flow(&scene->now, 29);
    scene->before.nat.at = CLOCK_SECOND;
    scene->now.nat.at = 6 * CLOCK_SECOND;
    assert_int_equal(flows_scene_try(scene, "stale-nat"), 1);
    assert_string_equal(scene->subject, "10.3.0.2:5353");
    assert_non_null(
        strstr(scene->text, "NAT leads 1 UDP flow to 10.96.0.10:53 on to 10.3.0.2:5353"));
    scene->now.nat.list[0].timeout = 24; /* the client has stopped */
    assert_int_equal(flows_scene_try(scene, "stale-nat"), 0);
    scene->now.nat.list[0].timeout = 29;
    set_silent(&scene->before, "10.3.0.9"); /* it answered then */
    assert_int_equal(flows_scene_try(scene, "stale-nat"), 0);
}

static void flows_to_neighbours_that_answer_are_not_kept(void **state)
{
    struct flows_scene *scene = *state;

    take_flow(&scene->now, 29);
    assert_int_equal(scene->now.nat.count, 0);
    set_silent(&scene->now, "10.3.0.3");
    take_flow(&scene->now, 29);
    assert_int_equal(scene->now.nat.count, 0);
    set_silent(&scene->now, "10.3.0.2");
    take_flow(&scene->now, 29);
    assert_int_equal(scene->now.nat.count, 1);
}

/* As if its module had been unloaded: this needs no question to the kernel. */
static void tracking_that_ended_is_found_if_many_flows_were_tracked(void **state)
{
    struct flows_scene *scene = *state;

    set_tracked(&scene->before, 10);
    assert_int_equal(flows_scene_try(scene, "tracking-off"), 1);
    assert_non_null(strstr(scene->text, "10 flows were tracked 5 s ago, and now no flow is"));
    set_tracked(&scene->before, 9);
    assert_int_equal(flows_scene_try(scene, "tracking-off"), 0);
    set_tracked(&scene->before, 10);
    set_tracked(&scene->now, 1);
    assert_int_equal(flows_scene_try(scene, "tracking-off"), 0);
    scene->now.counts.known[FLOWS_TRACKED] = false;
    scene->now.cut = READS_FLOWS; /* it could not be read */
    assert_int_equal(flows_scene_try(scene, "tracking-off"), 0);
    scene->now.cut = 0;
    scene->options.proc_root = "/nonexistent";
    assert_int_equal(flows_scene_try(scene, "tracking-off"), 0);
}

/* --- Multicast -------------------------------------------------------------------------------- */

/* Packets to a group that interface 3 dropped. */
static struct record drop_to(const char *group, uint16_t port, uint64_t packets)
{
    return (struct record){.kind = &kind_drop,
                           .has = DROP_PORTS | DROP_ADDRESSES | DROP_PROTOCOL | DROP_INTERFACE,
                           .drop = {.drops = packets,
                                    .received = true,
                                    .protocol = IPPROTO_UDP,
                                    .interface = 3,
                                    .reason = TEXT_LITERAL("NOT_SPECIFIED"),
                                    .local = {address_of(group), port},
                                    .remote = {address_of("10.7.0.2"), 40000}}};
}

static struct record group_on(const char *group, uint32_t interface)
{
    return (struct record){.kind = &kind_group,
                           .has = GROUP_ADDRESS | GROUP_INTERFACE,
                           .group = {.address = address_of(group), .index = interface, .users = 1}};
}

static struct record bound_to(const char *address, uint16_t port)
{
    return (struct record){
        .kind = &kind_socket,
        .has = SOCKET_ADDRESSES | SOCKET_INODE,
        .socket = {.protocol = IPPROTO_UDP, .inode = 77, .local = {address_of(address), port}}};
}

/* Returns the inode of the socket that waits; group NULL: nobody has joined it. */
static uint64_t waits(struct record drop, const struct record *group, struct record socket)
{
    struct multicast_arrivals arrivals = {.count = 0};

    multicast_take_drop(&arrivals, &drop);
    if (group)
        multicast_take_group(&arrivals, group);
    multicast_take_socket(&arrivals, &socket);
    return arrivals.count ? multicast_waiting(&arrivals.list[0]) : 0;
}

static void a_socket_that_is_bound_to_a_group_that_nobody_joined_waits(void **state)
{
    const struct record other = group_on("239.1.2.4", 3), here = group_on("239.1.2.3", 3);

    (void)state;
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 3), NULL, bound_to("239.1.2.3", 5000)), 77);
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 3), &other, bound_to("239.1.2.3", 5000)), 77);
    assert_int_equal(waits(drop_to("ff15::55", 5000, 3), NULL, bound_to("ff15::55", 5000)), 77);
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 2), NULL, bound_to("239.1.2.3", 5000)), 0);
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 3), NULL, bound_to("239.1.2.3", 5001)), 0);
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 3), NULL, bound_to("239.1.2.4", 5000)), 0);
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 3), &here, bound_to("239.1.2.3", 5000)), 0);
}

static void a_server_of_all_addresses_waits_only_if_lo_has_joined_the_group(void **state)
{
    const struct record lo = group_on("239.1.2.3", 1), elsewhere = group_on("239.1.2.3", 5);

    (void)state;
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 9), NULL, bound_to("0.0.0.0", 5000)), 0);
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 9), &lo, bound_to("0.0.0.0", 5000)), 77);
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 9), &lo, bound_to("::", 5000)), 77);
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 9), &elsewhere, bound_to("0.0.0.0", 5000)),
                     0);
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 9), &lo, bound_to("10.7.0.1", 5000)), 0);
}

/* Two interfaces may lead to networks with the same groups, of which a program wants one. */
static void a_group_that_another_interface_joined_is_not_missing(void **state)
{
    const struct record elsewhere = group_on("239.1.2.3", 5);
    struct record socket = bound_to("239.1.2.3", 5000);
    uint32_t memory[SK_MEMINFO_VARS] = {0}; /* nothing ever came */

    (void)state;
    socket.has |= SOCKET_MEMORY | SOCKET_DROPS;
    socket.socket.memory = (struct text){(const char *)memory, sizeof memory};
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 9), &elsewhere, socket), 0);
}

/* A player that pauses leaves the group. If lo has joined it, the data may have come from there. */
static void a_socket_that_has_received_data_waits_only_if_lo_has_joined_the_group(void **state)
{
    const struct record lo = group_on("239.1.2.3", 1);
    struct record socket = bound_to("239.1.2.3", 5000);
    uint32_t memory[SK_MEMINFO_VARS] = {[SK_MEMINFO_FWD_ALLOC] = 4096};

    (void)state;
    socket.has |= SOCKET_MEMORY;
    socket.socket.memory = (struct text){(const char *)memory, sizeof memory};
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 9), NULL, socket), 0);
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 9), &lo, socket), 77);
    memory[SK_MEMINFO_FWD_ALLOC] = 0;
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 9), NULL, socket), 77);
}

static void sockets_that_want_no_such_packets_do_not_wait(void **state)
{
    struct record socket = bound_to("239.1.2.3", 5000);

    (void)state;
    socket.socket.interface = 5;
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 9), NULL, socket), 0);
    socket.socket.interface = 3;
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 9), NULL, socket), 77);
    socket.socket.remote.port = 9; /* connected */
    assert_int_equal(waits(drop_to("239.1.2.3", 5000, 9), NULL, socket), 0);
}

static void other_drops_are_no_missing_membership(void **state)
{
    const struct record socket = bound_to("239.1.2.3", 5000);
    struct record drop = drop_to("239.1.2.3", 5000, 9);

    (void)state;
    drop.drop.reason = as_text("SOCKET_RCVBUFF");
    assert_int_equal(waits(drop, NULL, socket), 0);
    drop.drop.reason = as_text("IP_NOT_JOINED"); /* a reason that newer kernels name */
    assert_int_equal(waits(drop, NULL, socket), 77);
    drop = drop_to("239.1.2.3", 5000, 9);
    drop.drop.interface = 1; /* lo */
    assert_int_equal(waits(drop, NULL, socket), 0);
    drop = drop_to("239.1.2.3", 5000, 9);
    drop.drop.received = false;
    assert_int_equal(waits(drop, NULL, socket), 0);
    drop = drop_to("239.1.2.3", 5000, 9);
    drop.drop.protocol = IPPROTO_TCP;
    assert_int_equal(waits(drop, NULL, socket), 0);
    assert_int_equal(waits(drop_to("10.7.0.1", 5000, 9), NULL, bound_to("10.7.0.1", 5000)), 0);
}

static void groups_beyond_the_limit_are_left_out(void **state)
{
    struct multicast_arrivals arrivals = {.count = 0};

    (void)state;
    for (unsigned port = 1; port < 2 * MULTICAST_ARRIVALS; port++) {
        const struct record drop = drop_to("239.1.2.3", (uint16_t)port, 9);
        multicast_take_drop(&arrivals, &drop);
        multicast_take_drop(&arrivals, &drop);
    }
    assert_int_equal(arrivals.count, MULTICAST_ARRIVALS);
    assert_int_equal(arrivals.list[0].packets, 18);
}

#define SCENE_TEST(name) cmocka_unit_test_setup_teardown(name, flows_scene_make, flows_scene_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_udp_flows_with_a_translated_destination_are_taken),
        cmocka_unit_test(a_flow_whose_timeout_was_renewed_has_a_client_that_sends),
        cmocka_unit_test(packets_that_are_counted_decide),
        cmocka_unit_test(flows_that_are_kept_are_limited),
        SCENE_TEST(nat_to_a_neighbour_that_is_silent_in_both_readings_is_found),
        SCENE_TEST(flows_to_neighbours_that_answer_are_not_kept),
        SCENE_TEST(tracking_that_ended_is_found_if_many_flows_were_tracked),
        cmocka_unit_test(a_socket_that_is_bound_to_a_group_that_nobody_joined_waits),
        cmocka_unit_test(a_server_of_all_addresses_waits_only_if_lo_has_joined_the_group),
        cmocka_unit_test(a_group_that_another_interface_joined_is_not_missing),
        cmocka_unit_test(a_socket_that_has_received_data_waits_only_if_lo_has_joined_the_group),
        cmocka_unit_test(sockets_that_want_no_such_packets_do_not_wait),
        cmocka_unit_test(other_drops_are_no_missing_membership),
        cmocka_unit_test(groups_beyond_the_limit_are_left_out),
    };
    return cmocka_run_group_tests_name("doctor_flows", tests, NULL, NULL);
}
