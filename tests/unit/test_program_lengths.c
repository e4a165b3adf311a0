/* SPDX-License-Identifier: MIT */
/* Every BPF program fits into its array, whichever parts the running kernel has and the caller asks
 * for: each program is made once for each combination of its parts. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "backend/socket/socket_pass.h"
#include "fastnet/attempt_probe.h"
#include "fastnet/bpf_assembly.h"
#include "fastnet/bpf_program.h"
#include "kit.h"
#include "lookup/kernel_sockets.h"
#include "lookup/owners_bpf.h"
#include "probes/byte_counts_program.h"
#include "probes/connects_program.h"
#include "probes/dns_program.h"
#include "probes/drop/reset_program.h"
#include "probes/drop/scan_program.h"
#include "probes/failures_program.h"
#include "probes/listener_events.h"

enum { MAP = 7, MORE_MAPS, RING, LOST, TYPE = 11 };

/* A jump whose length is not set yet. */
static const struct bpf_insn untouched = {.code = BPF_JMP | BPF_JNE, .imm = 0x5a5a5a5a};

/* --- The limit -------------------------------------------------------------------------------- */

/* Makes a program of five instructions, with a jump to its end and one over an instruction, where
 * there is room for `most`. */
static size_t make_five(struct bpf_insn *code, size_t most)
{
    struct assembly to = {.code = code, .most = most};
    size_t skip;

    assembly_end_if(&to, BPF_JEQ, BPF_FIRST, 0);
    skip = assembly_skip_if(&to, BPF_JEQ, BPF_FIRST, 1);
    assembly_number(&to, BPF_MOV, BPF_FIRST, 2);
    assembly_land(&to, skip);
    return assembly_finish(&to);
}

static void nothing_is_written_after_the_room_for_a_program(void **state)
{
    enum { LENGTH = 5 };
    struct bpf_insn code[LENGTH + 1];

    (void)state;
    for (size_t most = 0; most <= LENGTH; most++) {
        for (size_t i = 0; i <= LENGTH; i++)
            code[i] = untouched;
        assert_int_equal(make_five(code, most), most < LENGTH ? 0 : LENGTH);
        for (size_t i = most; i <= LENGTH; i++)
            assert_memory_equal(&code[i], &untouched, sizeof untouched);
    }
}

static void a_program_without_room_is_not_loaded(void **state)
{
    struct bpf_insn code[4];
    const size_t count = make_five(code, 4);

    (void)state;
    assert_int_equal(bpf_program_load(code, count, BPF_TRACE_RAW_TP, TYPE, "test"), -ENOBUFS);
    assert_int_equal(bpf_tracepoint_attach(code, count, TYPE, "test"), -ENOBUFS);
    assert_int_equal(bpf_event_attach(code, count, "sys_exit", "test"), -ENOBUFS);
}

/* --- Programs --------------------------------------------------------------------------------- */

/* Takes the lowest bit of *bits. */
static bool take(unsigned *bits)
{
    const bool taken = *bits & 1;

    *bits >>= 1;
    return taken;
}

static uint64_t take_netns(unsigned *bits)
{
    return take(bits) ? 4026531840 : 0;
}

static struct connect_layout take_connect_layout(unsigned *bits)
{
    struct connect_layout layout = {.tracepoint = TYPE, .sends = TYPE};

    layout.has_v6 = take(bits);
    layout.has_messages = take(bits);
    layout.has_netns = take(bits);
    layout.has_reasons = take(bits);
    layout.has_answers = take(bits);
    layout.cast = take(bits) ? TYPE : 0;
    layout.local_sport.size = take(bits) ? BPF_H : 0;
    return layout;
}
enum { CONNECT_BITS = 7 };

static void programs_of_connections_fit(void **state)
{
    struct bpf_insn code[CONNECT_PROGRAM_MAX];

    (void)state;
    for (unsigned number = 0; number < 1u << (CONNECT_BITS + 2); number++) {
        unsigned bits = number;
        const struct connect_layout layout = take_connect_layout(&bits);
        const uint64_t netns = take_netns(&bits);
        const struct connect_ring events = {take(&bits) ? RING : -1, LOST};
        assert_int_not_equal(connect_program_make(&layout, netns, MAP, &events, code), 0);
        assert_int_not_equal(send_reset_program_make(&layout, netns, MAP, MORE_MAPS, &events, code),
                             0);
        assert_int_not_equal(
            receive_reset_program_make(&layout, netns, MAP, MORE_MAPS, &events, code), 0);
        assert_int_not_equal(retransmit_program_make(&layout, netns, MAP, &events, code), 0);
    }
}

static void programs_of_sends_and_queries_fit(void **state)
{
    struct bpf_insn sends[SEND_PROGRAM_MAX], code[DNS_PROGRAM_MAX];

    (void)state;
    for (unsigned number = 0; number < 1u << (CONNECT_BITS + 4); number++) {
        unsigned bits = number;
        struct dns_layout layout = {.connect = take_connect_layout(&bits)};
        const uint64_t netns = take_netns(&bits);
        const struct query_part queries = {&layout, MORE_MAPS};
        layout.has_calls = take(&bits);
        layout.pid_inode = take(&bits) ? 4026531836 : 0;
        assert_int_not_equal(
            send_program_make(&layout.connect, netns, MAP, take(&bits) ? &queries : NULL, sends),
            0);
        assert_int_not_equal(dns_send_program_make(&layout, netns, MAP, code), 0);
        assert_int_not_equal(dns_receive_program_make(&layout, netns, MAP, code), 0);
    }
}

static struct drop_layout take_drop_layout(unsigned *bits)
{
    struct drop_layout layout = {.tracepoint = TYPE, .reasons = TYPE, .of_sock = TYPE};

    layout.has_receiver = take(bits);
    layout.has_cookie = take(bits);
    layout.cast = take(bits) ? TYPE : 0;
    layout.apart[0] = take(bits) ? 2 : 0;
    return layout;
}
enum { DROP_LAYOUT_BITS = 4 };

static void programs_of_drops_fit(void **state)
{
    static const struct scan_part scans = {.no_socket = 3, .filtered = 8, .map = MORE_MAPS};
    struct bpf_insn code[DROP_PROGRAM_MAX];

    (void)state;
    for (unsigned number = 0; number < 1u << (DROP_LAYOUT_BITS + 1); number++) {
        unsigned bits = number;
        const struct drop_layout layout = take_drop_layout(&bits);
        assert_int_not_equal(
            drop_program_make(&layout, NULL, take(&bits) ? &scans : NULL, MAP, code), 0);
        for (int i = 0; i < 2; i++) {
            const struct drop_filter filter = {.protocol = i ? IPPROTO_TCP : IPPROTO_UDP,
                                               .port = 53};
            assert_int_not_equal(drop_program_make(&layout, &filter, NULL, MAP, code), 0);
        }
    }
}

static void programs_of_resets_fit(void **state)
{
    static const struct drop_filter filter = {.protocol = IPPROTO_TCP, .port = 80};
    struct bpf_insn code[DROP_PROGRAM_MAX];

    (void)state;
    for (unsigned number = 0; number < 1u << (DROP_LAYOUT_BITS + 4); number++) {
        unsigned bits = number;
        const struct drop_layout drops = take_drop_layout(&bits);
        struct reset_layout layout = {.tracepoint = TYPE};
        layout.reasons = take(&bits) ? TYPE : 0;
        layout.has_skb = take(&bits);
        layout.has_v6 = take(&bits);
        assert_int_not_equal(reset_program_make(&layout, &drops, &filter, take(&bits), MAP, code),
                             0);
    }
}

static void programs_of_events_and_counters_fit(void **state)
{
    static const struct listener_layout listeners = {.tracepoint = TYPE};
    static const struct byte_layout bytes = {.tracepoints = {TYPE, TYPE}};
    struct failures_layout failures = {.tracepoint = TYPE};
    struct bpf_insn listening[LISTENER_PROGRAM_MAX], failing[FAILURES_PROGRAM_MAX],
        counting[BYTE_PROGRAM_MAX];

    (void)state;
    for (unsigned number = 0; number < 2; number++) {
        unsigned bits = number;
        const uint64_t netns = take_netns(&bits);
        failures.cast = number ? TYPE : 0;
        assert_int_not_equal(listener_program_make(&listeners, netns, RING, listening), 0);
        assert_int_not_equal(failures_program_make(&failures, 4026531840, MAP, failing), 0);
        assert_int_not_equal(byte_program_make(&bytes, (enum byte_way)number, MAP, counting), 0);
    }
}

static void programs_of_walks_fit(void **state)
{
    static const struct kernel_layout owners = {.function = TYPE};
    static const struct pass_layout pass = {.function = TYPE};
    struct kernel_sockets_layout kernel = {.function = TYPE};
    struct bpf_insn owning[OWNERS_PROGRAM_MAX], passing[PASS_PROGRAM_MAX],
        of_kernel[KERNEL_SOCKETS_PROGRAM_MAX];

    (void)state;
    assert_int_not_equal(owners_program_make(&owners, owning), 0);
    assert_int_not_equal(pass_program_make(&pass, false, passing), 0);
    assert_int_not_equal(pass_program_make(&pass, true, passing), 0);
    for (unsigned number = 0; number < 1u << 3; number++) {
        unsigned bits = number;
        kernel.tcp = take(&bits);
        kernel.parts[0].size = take(&bits) ? BPF_B : BPF_W;
        kernel.parts[1].size = take(&bits) ? BPF_B : BPF_W;
        assert_int_not_equal(kernel_sockets_program_make(&kernel, of_kernel), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_written_after_the_room_for_a_program),
        cmocka_unit_test(a_program_without_room_is_not_loaded),
        cmocka_unit_test(programs_of_connections_fit),
        cmocka_unit_test(programs_of_sends_and_queries_fit),
        cmocka_unit_test(programs_of_drops_fit),
        cmocka_unit_test(programs_of_resets_fit),
        cmocka_unit_test(programs_of_events_and_counters_fit),
        cmocka_unit_test(programs_of_walks_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
