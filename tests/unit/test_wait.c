/* SPDX-License-Identifier: MIT */
/* --wait: which events announce other rows, and when the next sample is taken. Functions here take
 * the place of the clock, of ppoll(2) and of the BPF program for listeners. */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "backend/socket/sock_diag.h"
#include "cli/wait.h"
#include "fastnet/kind.h"
#include "fastnet/predicate.h"
#include "fastnet/query.h"
#include "kit.h"
#include "probes/listener_events.h"

#define MS CLOCK_MILLISECOND

/* --- Time ------------------------------------------------------------------------------------- */

static struct {
    uint64_t now, processor; /* ns */
    uint64_t event;          /* when an event comes; 0: never */
    nfds_t source;           /* from which descriptor */
    bool has_bpf;
    unsigned forgotten; /* calls of listener_events_forget() */
} world;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    *time = (struct timespec){.tv_sec = (time_t)(world.now / CLOCK_SECOND),
                              .tv_nsec = (long)(world.now % CLOCK_SECOND)};
    return 0;
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
    const uint64_t time = who == RUSAGE_SELF ? world.processor : 0;

    *usage = (struct rusage){.ru_utime = {.tv_sec = (time_t)(time / CLOCK_SECOND),
                                          .tv_usec = (suseconds_t)(time % CLOCK_SECOND / 1000)}};
    return 0;
}

/* Waits until the event, which only a wait for descriptors sees, or until the time is over. */
int ppoll(struct pollfd *waited, nfds_t count, const struct timespec *most, const sigset_t *set)
{
    const uint64_t end =
        world.now + (uint64_t)most->tv_sec * CLOCK_SECOND + (uint64_t)most->tv_nsec;
    const bool comes = count && world.event && world.event <= end;

    (void)set;
    for (nfds_t i = 0; i < count; i++)
        waited[i].revents = comes && i == world.source ? POLLIN : 0;
    if (!comes)
        world.now = end;
    else if (world.event > world.now)
        world.now = world.event;
    if (comes)
        world.event = 0;
    return comes;
}

struct listener_events *listener_events_begin(uint64_t netns)
{
    (void)netns;
    return world.has_bpf ? (void *)&world : NULL;
}

void listener_events_end(struct listener_events *events)
{
    (void)events;
}

int listener_events_descriptor(const struct listener_events *events)
{
    return events ? 0 : -1;
}

/* cppcheck-suppress constParameter; as listener_events.h declares it */
void listener_events_forget(struct listener_events *events)
{
    world.forgotten += events != NULL;
}

/* Takes a sample of `processor` ns at `now`. Returns how long after its begin the next sample is
 * taken, in milliseconds; -1: the time was over. */
static int pause_after(struct wait *wait, uint64_t now, uint64_t processor)
{
    world.now = now;
    const struct pace_time sampled = pace_now();
    world.processor += processor;

    if (!wait_next(wait, sampled))
        return -1;
    return (int)((world.now - now) / MS);
}

static struct wait wait_for(bool others)
{
    world.processor = world.event = 0;
    world.source = 2; /* none: those of the wait have no descriptor */
    return (struct wait){.begun = 0, .end = UINT64_MAX, .changes = {.others = others, .fd = -1}};
}

static void rows_without_events_are_sampled_often_in_the_first_second(void **state)
{
    struct wait wait = wait_for(true);

    (void)state;
    assert_int_equal(pause_after(&wait, 100 * MS, 0), 50);
    assert_int_equal(pause_after(&wait, 2000 * MS, 0), 200);
    assert_int_equal(pause_after(&wait, 2000 * MS, 10 * MS), 1000);
    assert_int_equal(pause_after(&wait, 2000 * MS, 60 * MS), 5000);
}

static void rows_with_events_are_sampled_after_an_event_or_the_longest_pause(void **state)
{
    struct wait wait = wait_for(false);

    (void)state;
    assert_int_equal(pause_after(&wait, 100 * MS, MS), 5000);
    world.event = 170 * MS;
    assert_int_equal(pause_after(&wait, 100 * MS, MS), 70);
}

/* The kernel reports a listener before it can be listed. */
static void a_second_sample_follows_an_event_soon(void **state)
{
    struct wait wait = wait_for(false);

    (void)state;
    world.event = 120 * MS;
    assert_int_equal(pause_after(&wait, 100 * MS, MS / 10), 20);
    assert_int_equal(pause_after(&wait, 130 * MS, MS / 10), 50);
    assert_int_equal(pause_after(&wait, 180 * MS, MS / 10), 5000);
}

static void many_events_do_not_take_more_of_the_processor(void **state)
{
    struct wait wait = wait_for(false);

    (void)state;
    world.event = 101 * MS;
    assert_int_equal(pause_after(&wait, 100 * MS, 3 * MS), 1);
    world.event = 102 * MS;
    assert_int_equal(pause_after(&wait, 101 * MS, 3 * MS), 300);
}

static void no_sample_is_taken_later_than_the_end_of_the_time(void **state)
{
    struct wait wait = wait_for(true);

    (void)state;
    wait.end = 1000 * MS;
    assert_int_equal(pause_after(&wait, 980 * MS, 0), 20);
    assert_int_equal(pause_after(&wait, 1000 * MS, 0), -1);
    wait.changed = true;
    assert_int_equal(pause_after(&wait, 900 * MS, 30 * MS), 100);
    assert_int_equal(pause_after(&wait, 2000 * MS, 0), -1);
}

/* --- Events ----------------------------------------------------------------------------------- */

static struct changes changes_of(const struct table *table, const struct predicate *where,
                                 bool gone)
{
    struct changes changes = {.others = false};

    changes_add(&changes, table, where, NULL, gone);
    return changes;
}

static void each_table_that_has_events_joins_their_groups(void **state)
{
    static const struct {
        const struct table *table;
        int protocol;
    } cases[] = {{&table_route, NETLINK_ROUTE},
                 {&table_neighbours, NETLINK_ROUTE},
                 {&table_interfaces, NETLINK_ROUTE},
                 {&table_flows, NETLINK_NETFILTER}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct changes changes = changes_of(cases[i].table, NULL, false);
        assert_true(changes.groups && !changes.others && !changes.listeners);
        assert_int_equal(changes.protocol, cases[i].protocol);
    }
    assert_true(changes_of(&table_counters, NULL, false).others);
}

/* Sockets report their ends only, except listeners. */
static void sockets_have_events_of_their_ends_and_of_listeners(void **state)
{
    const struct predicate listening =
        predicate_one_of(field_named(&kind_socket, "state"), UINT64_C(1) << TCP_LISTEN);
    struct changes changes = changes_of(&table_tcp, &listening, false);

    (void)state;
    assert_true(changes.listeners && !changes.others && !changes.groups);
    changes = changes_of(&table_udp, NULL, false);
    assert_true(changes.others && !changes.groups);
    changes = changes_of(&table_tcp, NULL, false);
    assert_true(changes.others && !changes.groups && !changes.listeners);
    changes = changes_of(&table_tcp, NULL, true);
    assert_true(!changes.others && changes.groups && !changes.listeners);
    assert_int_equal(changes.protocol, NETLINK_SOCK_DIAG);
    changes = changes_of(&table_unix, NULL, true);
    assert_true(changes.others && !changes.groups);
}

static void a_table_that_can_have_no_row_needs_no_events(void **state)
{
    const struct predicate none = {.operation = PREDICATE_OR};
    const struct changes changes = changes_of(&table_udp, &none, false);

    (void)state;
    assert_true(!changes.others && !changes.groups && !changes.listeners);
}

/* The events of a table come from a netlink socket of its protocol. With tables of two protocols,
 * --wait takes samples instead. */
static void tables_of_two_protocols_are_sampled(void **state)
{
    struct changes changes = changes_of(&table_route, NULL, false);

    (void)state;
    changes_add(&changes, &table_interfaces, NULL, NULL, false);
    assert_true(!changes.others && changes.groups & 1u << (RTNLGRP_LINK - 1) &&
                changes.groups & 1u << (RTNLGRP_IPV4_ROUTE - 1));
    changes_add(&changes, &table_tcp, NULL, NULL, true);
    assert_true(changes.others);
    assert_int_equal(changes.protocol, NETLINK_ROUTE);
}

/* The events of other network namespaces cannot be joined. */
static void all_network_namespaces_are_sampled(void **state)
{
    struct changes changes = changes_of(&table_route, NULL, false);

    (void)state;
    changes_open(&changes, true);
    assert_true(changes.others && changes.fd < 0);
    changes_finish(&changes);
    changes = changes_of(&table_route, NULL, false);
    changes_open(&changes, false);
    assert_true(!changes.others && changes.fd >= 0);
    changes_finish(&changes);
}

static void without_bpf_listeners_are_sampled(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct changes changes = {.listeners = true};
        world.has_bpf = i;
        changes_open(&changes, false);
        assert_true(changes.others == !i && !changes.opened == !i);
        changes_finish(&changes);
    }
}

/* Otherwise each later wait would end at once. */
static void an_event_of_a_listener_ends_one_wait(void **state)
{
    struct changes changes = {.listeners = true};

    (void)state;
    world.has_bpf = true;
    world.forgotten = 0;
    world.now = MS;
    world.event = 2 * MS;
    world.source = 1;
    changes_open(&changes, false);
    assert_true(changes_wait(&changes, 9 * MS));
    assert_int_equal(world.forgotten, 1);
    assert_false(changes_wait(&changes, 9 * MS));
    assert_int_equal(world.forgotten, 1);
    changes_finish(&changes);
}

/* Sets the loopback interface of a new network namespace up, which is an event. False: no right. */
static bool make_event(struct changes *changes)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};

    if (unshare(CLONE_NEWNET) < 0)
        return false;
    changes_open(changes, false);
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &request), 0);
    return close(fd) == 0;
}

static void an_event_of_netlink_ends_one_wait(void **state)
{
    struct changes changes = changes_of(&table_interfaces, NULL, false);
    char byte;

    (void)state;
    if (!make_event(&changes))
        skip();
    assert_true(recv(changes.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0);
    world.now = MS;
    world.event = 2 * MS;
    world.source = 0;
    assert_true(changes_wait(&changes, 9 * MS));
    assert_true(recv(changes.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0);
    changes_finish(&changes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_without_events_are_sampled_often_in_the_first_second),
        cmocka_unit_test(rows_with_events_are_sampled_after_an_event_or_the_longest_pause),
        cmocka_unit_test(a_second_sample_follows_an_event_soon),
        cmocka_unit_test(many_events_do_not_take_more_of_the_processor),
        cmocka_unit_test(no_sample_is_taken_later_than_the_end_of_the_time),
        cmocka_unit_test(each_table_that_has_events_joins_their_groups),
        cmocka_unit_test(sockets_have_events_of_their_ends_and_of_listeners),
        cmocka_unit_test(a_table_that_can_have_no_row_needs_no_events),
        cmocka_unit_test(tables_of_two_protocols_are_sampled),
        cmocka_unit_test(all_network_namespaces_are_sampled),
        cmocka_unit_test(without_bpf_listeners_are_sampled),
        cmocka_unit_test(an_event_of_a_listener_ends_one_wait),
        cmocka_unit_test(an_event_of_netlink_ends_one_wait), /* the last: another netns */
    };

    return cmocka_run_group_tests_name("wait", tests, NULL, NULL);
}
