/* SPDX-License-Identifier: MIT */
/*
 * The filter of packets that the kernel runs: it drops no packet whose row is wanted, and all other
 * packets if a packet has every field that the filter compares. The input: a packet, then an
 * expression, as made_packet.c takes them; missing bytes are 0.
 */
#include "cli/where/where.h"
#include "fuzz.h"
#include "made_packet.h"
#include "probes/packet/packet_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct context nothing;
    struct bytes bytes = {data, size};
    char text[MADE_TEXT_MAX];
    struct made_packet made;
    struct where where = {0};
    struct sock_fprog program;
    const struct predicate *predicate;
    bool judged, wanted;
    uint32_t taken;

    made_packet_init(&made, &bytes);
    made_packet_where(text, &bytes, &judged);
    predicate = where_parse(&where, &kind_traffic, text);
    require(predicate != NULL);
    require(packet_filter_make(predicate, 96, &program) == 0);
    require(kernel_filter_ends(&program));
    taken = kernel_filter_run(&program, &made.packet);
    wanted = predicate_holds(predicate, &made.record, &nothing);
    require(taken == 96 || (taken == 0 && !wanted));
    require(!judged || !made.certain || (taken == 96) == wanted);
    free(program.filter);
    where_finish(&where);
    return 0;
}
