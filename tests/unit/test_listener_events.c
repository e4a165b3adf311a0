/* SPDX-License-Identifier: MIT */
/* The BPF program that notes when a TCP socket begins or ends to listen. */
#include <netinet/tcp.h>
#include <string.h>

#include "kit.h"
#include "probes/listener_events.h"
#include "processor.h"

enum { RING = 5, NETNS = 77, NET_AT = 8, NUMBER_AT = 16 };

static uint64_t call(struct processor *processor, int function)
{
    assert_int_equal(function, BPF_FUNC_ringbuf_output);
    assert_int_equal(processor->registers[3], 8);
    assert_int_equal(processor->registers[4], BPF_RB_FORCE_WAKEUP);
    ++*(unsigned *)processor->arg;
    return 0;
}

/* Returns the number of events that the program makes if a socket in network namespace 77 changes
 * its state. wanted: the network namespace whose events are wanted; 0: all. */
static unsigned change(uint64_t wanted, int from, int into)
{
    static const struct listener_layout layout = {.net = {.offset = NET_AT, .size = BPF_DW},
                                                  .netns = {.offset = NUMBER_AT, .size = BPF_W}};
    const uint64_t dirty = UINT64_C(1) << 40; /* the upper half of an int is undefined */
    _Alignas(uint64_t) char sock[32] = "", net[32] = "";
    const uint64_t context[] = {(uintptr_t)sock, dirty | (unsigned)from, dirty | (unsigned)into};
    unsigned events = 0;
    struct processor processor = {.call = call, .arg = &events};
    struct bpf_insn program[LISTENER_PROGRAM_MAX];

    place_pointer(sock + NET_AT, net);
    place_u32(net + NUMBER_AT, NETNS);
    const size_t count = listener_program_make(&layout, wanted, RING, program);
    assert_int_not_equal(count, 0);
    processor_run(&processor, program, count, context);
    return events;
}

static void a_listener_that_begins_or_ends_is_an_event(void **state)
{
    (void)state;
    assert_int_equal(change(0, TCP_CLOSE, TCP_LISTEN), 1);
    assert_int_equal(change(0, TCP_LISTEN, TCP_CLOSE), 1);
    assert_int_equal(change(NETNS, TCP_CLOSE, TCP_LISTEN), 1);
    assert_int_equal(change(NETNS, TCP_LISTEN, TCP_CLOSE), 1);
}

static void connections_and_other_network_namespaces_are_no_events(void **state)
{
    (void)state;
    assert_int_equal(change(0, TCP_CLOSE, TCP_SYN_SENT), 0);
    assert_int_equal(change(0, TCP_SYN_RECV, TCP_ESTABLISHED), 0);
    assert_int_equal(change(0, TCP_ESTABLISHED, TCP_CLOSE), 0);
    assert_int_equal(change(NETNS + 1, TCP_CLOSE, TCP_LISTEN), 0);
    assert_int_equal(change(NETNS + 1, TCP_LISTEN, TCP_CLOSE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_listener_that_begins_or_ends_is_an_event),
        cmocka_unit_test(connections_and_other_network_namespaces_are_no_events),
    };

    return cmocka_run_group_tests_name("listener_events", tests, NULL, NULL);
}
