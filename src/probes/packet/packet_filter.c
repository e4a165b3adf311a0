/* SPDX-License-Identifier: MIT */
/* The program first reads the headers into words of the memory that classic BPF has; this part
 * exists once for each kind of link and version of IP. Then it judges these words. It checks the
 * length before each load, because a load after the packet's end would refuse the packet. It does
 * not use SKF_NET_OFF: with that, older kernels read only headers in the first piece of a packet,
 * not in pages. */
#include "probes/packet/packet_filter.h"

#include <errno.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/flow_names.h"
#include "fastnet/predicate.h"
#include "fastnet/record.h"
#include "model/explanation.h"

/* Indexes of words in BPF's memory. An address has four words; IPv4 uses the last of them. */
enum { AT_SRC = 0, AT_DST = 4, AT_SPORT = 8, AT_DPORT, AT_PROTOCOL, AT_ETHERTYPE, WORDS };

/* Record members that the program judges, and their words. AT_ETHERTYPE is the type after all VLAN
 * tags. */
static const struct {
    size_t offset; /* in struct record */
    uint8_t index;
    bool is_address;
} members[] = {
    {offsetof(struct record, traffic.src), AT_SRC, true},
    {offsetof(struct record, traffic.dst), AT_DST, true},
    {offsetof(struct record, traffic.sport), AT_SPORT, false},
    {offsetof(struct record, traffic.dport), AT_DPORT, false},
    {offsetof(struct record, traffic.protocol), AT_PROTOCOL, false},
    {offsetof(struct record, traffic.ethertype), AT_ETHERTYPE, false},
};

/* Words that are not 16-bit numbers. NO_NUMBER: the packet has no number, so it is in no range.
 * ANY_NUMBER: the program did not read the number, so it can be any. */
enum { NO_NUMBER = 1 << 16, ANY_NUMBER = 1 << 17 };

/* All jumps lead forward. Until the program is complete, a jump holds the number of its label. */
enum { LABEL_REFUSE, LABEL_TAKE, LABEL_JUDGE, LABELS, LABELS_MAX = 4096 };

struct filter_compiler {
    struct sock_filter *code; /* array of BPF_MAXINSNS */
    size_t count, label_count;
    bool full; /* too many instructions or labels */
    bool judged[COUNT(members)];
    uint16_t labels[LABELS_MAX]; /* for each label: instructions from the start */
};

static unsigned filter_new_label(struct filter_compiler *compiler)
{
    if (compiler->label_count == LABELS_MAX) {
        compiler->full = true;
        return LABEL_TAKE;
    }
    return (unsigned)compiler->label_count++;
}

static void filter_set_label(struct filter_compiler *compiler, unsigned label)
{
    compiler->labels[label] = (uint16_t)compiler->count;
}

static void filter_add(struct filter_compiler *compiler, struct sock_filter instruction)
{
    if (compiler->count == BPF_MAXINSNS)
        compiler->full = true;
    else
        compiler->code[compiler->count++] = instruction;
}

static void filter_emit(struct filter_compiler *compiler, unsigned code, uint32_t k)
{
    filter_add(compiler, (struct sock_filter){.code = (uint16_t)code, .k = k});
}

static void filter_jump(struct filter_compiler *compiler, unsigned label)
{
    filter_emit(compiler, BPF_JMP | BPF_JA, label);
}

/* Jumps to `label` if the comparison of A with k (or X) has this result. */
static void branch(struct filter_compiler *compiler, unsigned comparison, uint32_t k, bool result,
                   unsigned label)
{
    filter_add(compiler,
               (struct sock_filter){(uint16_t)(BPF_JMP | comparison), !result, result, k});
    filter_jump(compiler, label);
}

/* --- Reading headers -------------------------------------------------------------------------- */

static void read_to(struct filter_compiler *compiler, unsigned what, uint32_t from, uint32_t index)
{
    filter_emit(compiler, BPF_LD | what, from);
    filter_emit(compiler, BPF_ST, index);
}

static void set_no_ports(struct filter_compiler *compiler)
{
    filter_emit(compiler, BPF_LD | BPF_IMM, NO_NUMBER);
    filter_emit(compiler, BPF_ST, AT_SPORT);
    filter_emit(compiler, BPF_ST, AT_DPORT);
}

/* Jumps to `otherwise` if fewer than `bytes` (BPF_K) or X (BPF_X) bytes follow offset `from`. */
static void expect_bytes(struct filter_compiler *compiler, uint32_t from, unsigned source,
                         uint32_t bytes, unsigned otherwise)
{
    filter_emit(compiler, BPF_LD | BPF_W | BPF_LEN, 0);
    filter_emit(compiler, BPF_ALU | BPF_SUB, from);
    branch(compiler, BPF_JGE | source, bytes, false, otherwise);
}

/* Takes the packet unless least <= first byte < limit. This byte has the version and, in IPv4, the
 * header's size. */
static void expect_first(struct filter_compiler *compiler, uint32_t from, uint32_t least,
                         uint32_t limit)
{
    filter_emit(compiler, BPF_LD | BPF_B | BPF_ABS, from);
    branch(compiler, BPF_JGE, least, false, LABEL_TAKE);
    branch(compiler, BPF_JGE, limit, true, LABEL_TAKE);
}

/* Reads the ports. A: the protocol; X: size of the IP header, which begins at `from`. */
static void read_ports(struct filter_compiler *compiler, uint32_t from)
{
    const unsigned ports = filter_new_label(compiler);

    for (unsigned protocol = 0; protocol <= UINT8_MAX; protocol++)
        if (flow_has_ports((uint8_t)protocol))
            branch(compiler, BPF_JEQ, protocol, true, ports);
    set_no_ports(compiler);
    filter_jump(compiler, LABEL_JUDGE);
    filter_set_label(compiler, ports);
    expect_bytes(compiler, from + 4, BPF_X, 0, LABEL_JUDGE);
    read_to(compiler, BPF_IND | BPF_H, from, AT_SPORT);
    read_to(compiler, BPF_IND | BPF_H, from + 2, AT_DPORT);
    filter_jump(compiler, LABEL_JUDGE);
}

/* Offsets are those of struct iphdr (linux/ip.h) and struct ipv6hdr (linux/ipv6.h). */
static void read_ipv4(struct filter_compiler *compiler, uint32_t from)
{
    expect_bytes(compiler, from, BPF_K, 20, LABEL_TAKE);
    expect_first(compiler, from, 0x45, 0x50);
    filter_emit(compiler, BPF_LDX | BPF_B | BPF_MSH, from);
    expect_bytes(compiler, from, BPF_X, 0, LABEL_TAKE);
    read_to(compiler, BPF_ABS | BPF_W, from + 12, AT_SRC + 3);
    read_to(compiler, BPF_ABS | BPF_W, from + 16, AT_DST + 3);
    read_to(compiler, BPF_ABS | BPF_B, from + 9, AT_PROTOCOL);
    filter_emit(compiler, BPF_LD | BPF_H | BPF_ABS, from + 6);
    branch(compiler, BPF_JSET, 0x1fff, true, LABEL_JUDGE); /* a later fragment has no ports */
    filter_emit(compiler, BPF_LD | BPF_MEM, AT_PROTOCOL);
    read_ports(compiler, from);
}

static void read_ipv6(struct filter_compiler *compiler, uint32_t from)
{
    /* After these headers some kernels or programs expect another header. */
    static const uint8_t extensions[] = {
        IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_FRAGMENT, IPPROTO_AH,
        IPPROTO_DSTOPTS, IPPROTO_MH,      139 /* HIP */,    140 /* Shim6 */,
    };

    expect_bytes(compiler, from, BPF_K, 40, LABEL_TAKE);
    expect_first(compiler, from, 0x60, 0x70);
    for (uint32_t i = 0; i < 8; i++) /* source and destination */
        read_to(compiler, BPF_ABS | BPF_W, from + 8 + 4 * i, AT_SRC + i);
    filter_emit(compiler, BPF_LD | BPF_ABS | BPF_B, from + 6);
    for (size_t i = 0; i < COUNT(extensions); i++)
        branch(compiler, BPF_JEQ, extensions[i], true, LABEL_JUDGE);
    filter_emit(compiler, BPF_ST, AT_PROTOCOL);
    filter_emit(compiler, BPF_LDX | BPF_IMM, 40);
    read_ports(compiler, from);
}

/* Reads the packet at `from`. A: its ethertype; below 0x600 it is the length of an IEEE 802.3
 * frame. */
static void read_packet(struct filter_compiler *compiler, uint32_t from)
{
    static const uint16_t tags[] = {ETH_P_8021Q, ETH_P_8021AD, ETH_P_QINQ1, ETH_P_QINQ2,
                                    ETH_P_QINQ3};
    const unsigned ipv4 = filter_new_label(compiler), ipv6 = filter_new_label(compiler);

    filter_emit(compiler, BPF_ST, AT_ETHERTYPE);
    branch(compiler, BPF_JEQ, ETH_P_IP, true, ipv4);
    branch(compiler, BPF_JEQ, ETH_P_IPV6, true, ipv6);
    for (size_t i = 0; i < COUNT(tags); i++)
        branch(compiler, BPF_JEQ, tags[i], true, LABEL_TAKE);
    branch(compiler, BPF_JGE, ETH_P_802_3_MIN, false, LABEL_TAKE);
    filter_emit(compiler, BPF_ST, AT_PROTOCOL);
    set_no_ports(compiler);
    filter_jump(compiler, LABEL_JUDGE);
    filter_set_label(compiler, ipv4);
    read_ipv4(compiler, from);
    filter_set_label(compiler, ipv6);
    read_ipv6(compiler, from);
}

static void filter_read_link(struct filter_compiler *compiler)
{
    static const uint16_t links[] = {ARPHRD_ETHER, ARPHRD_LOOPBACK, ARPHRD_NONE, ARPHRD_PPP,
                                     ARPHRD_RAWIP};
    enum { OF_ETHERNET = 2 }; /* links with Ethernet headers; the others have no header */
    const unsigned ethernet = filter_new_label(compiler), bare = filter_new_label(compiler);
    const uint32_t protocol = (uint32_t)(SKF_AD_OFF + SKF_AD_PROTOCOL);

    filter_emit(compiler, BPF_LD | BPF_IMM, ANY_NUMBER);
    for (uint32_t i = 0; i < WORDS; i++) /* the kernel requires that all are set */
        filter_emit(compiler, BPF_ST, i);
    filter_emit(compiler, BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_HATYPE));
    for (size_t i = 0; i < COUNT(links); i++)
        branch(compiler, BPF_JEQ, links[i], true, i < OF_ETHERNET ? ethernet : bare);
    filter_jump(compiler, LABEL_TAKE);
    filter_set_label(compiler, ethernet);
    expect_bytes(compiler, 0, BPF_K, ETH_HLEN, LABEL_TAKE);
    /* Takes the packet if the kernel's ethertype is not that of the Ethernet header: frames of a
     * switch's ports have another header between the addresses and the ethertype. */
    filter_emit(compiler, BPF_LD | BPF_W | BPF_ABS, protocol);
    filter_emit(compiler, BPF_MISC | BPF_TAX, 0);
    filter_emit(compiler, BPF_LD | BPF_H | BPF_ABS, ETH_HLEN - 2);
    branch(compiler, BPF_JEQ | BPF_X, 0, false, LABEL_TAKE);
    read_packet(compiler, ETH_HLEN);
    filter_set_label(compiler, bare);
    filter_emit(compiler, BPF_LD | BPF_W | BPF_ABS, protocol);
    read_packet(compiler, 0);
}

/* --- Judging ---------------------------------------------------------------------------------- */

/* Returns the index of the compared member; COUNT(members): headers cannot decide. */
static size_t member_of(const struct predicate *comparison)
{
    const struct field *field = comparison->field;
    const struct value *constant = &comparison->constant;
    size_t member = 0;

    if (comparison->operation <= PREDICATE_KNOWN ||
        comparison->operation >= PREDICATE_EQUAL_COLUMN || field->lookups || !field->plain)
        return COUNT(members);
    while (member < COUNT(members) && members[member].offset != field->offset)
        member++;
    if (member < COUNT(members) && members[member].is_address &&
        (constant->type != VALUE_ADDRESS || !address_size(&constant->address) ||
         (comparison->operation != PREDICATE_EQUAL && comparison->operation != PREDICATE_WITHIN)))
        return COUNT(members);
    return member;
}

static void expect_word(struct filter_compiler *compiler, uint32_t index, uint32_t mask,
                        uint32_t word, unsigned otherwise)
{
    if (!mask && !word)
        return;
    filter_emit(compiler, BPF_LD | BPF_MEM, index);
    if (mask != UINT32_MAX)
        filter_emit(compiler, BPF_ALU | BPF_AND, mask);
    branch(compiler, BPF_JEQ, word, false, otherwise);
}

/* Returns word `i` of the four words of an address. */
static uint32_t filter_word_of(const uint8_t *bytes, size_t i)
{
    uint32_t word;

    memcpy(&word, bytes + i * sizeof word, sizeof word);
    return ntohl(word);
}

/* Jumps to `label` if the address does not meet the comparison (negated: its opposite). An IPv4
 * address is also found in IPv6, as a mapped address. */
static void compile_address(struct filter_compiler *compiler, const struct predicate *comparison,
                            uint32_t index, bool negated, unsigned label)
{
    const struct address *address = &comparison->constant.address;
    const bool exact = comparison->operation == PREDICATE_EQUAL, ipv4 = address->family == AF_INET;
    const unsigned differs = negated ? filter_new_label(compiler) : label,
                   words = filter_new_label(compiler);

    filter_emit(compiler, BPF_LD | BPF_MEM, AT_ETHERTYPE);
    branch(compiler, BPF_JEQ, ETH_P_IP, true, ipv4 ? words : differs);
    branch(compiler, BPF_JEQ, ETH_P_IPV6, false,
           label); /* not IP: the address is unknown, so nothing holds */
    for (uint32_t i = 0; i < 3 && ipv4; i++)
        expect_word(compiler, index + i, UINT32_MAX, i == 2 ? 0xffff : 0, differs);
    filter_set_label(compiler, words);
    for (uint32_t i = 0; i < address_size(address) / 4; i++)
        expect_word(compiler, index + i + (ipv4 ? 3 : 0),
                    exact ? UINT32_MAX : filter_word_of(comparison->mask.address, i),
                    filter_word_of(address->bytes, i), differs);
    if (negated) {
        filter_jump(compiler, label);
        filter_set_label(compiler, differs);
    }
}

/* Whether a row with this number meets the comparison (negated: its opposite). */
static bool filter_passes(const struct predicate *comparison, bool negated, struct record *row,
                          uint32_t number)
{
    static const struct context nothing;

    field_set_number(comparison->field, row, number);
    return predicate_is_met(comparison, row, &nothing) != negated;
}

/* Returns the next number whose result may differ from the result of `number`. */
static uint64_t next_number(const struct predicate *comparison, uint64_t number)
{
    const struct value *constant = &comparison->constant;

    if (comparison->operation > PREDICATE_ABOVE || constant->type != VALUE_NUMBER ||
        number == constant->number)
        return number + 1;
    return number < constant->number ? constant->number : UINT64_MAX;
}

/* Jumps to `label` unless the number is in one of the ranges that pass. The ranges are in order. */
static void compile_number(struct filter_compiler *compiler, const struct predicate *comparison,
                           uint32_t index, bool negated, unsigned label)
{
    struct record row = {.has = UINT64_MAX};
    const unsigned yes = filter_new_label(compiler);
    uint64_t first = 0, end;

    filter_emit(compiler, BPF_LD | BPF_MEM, index);
    branch(compiler, BPF_JEQ, ANY_NUMBER, true, yes);
    for (; first < NO_NUMBER && !compiler->full; first = end) {
        end = next_number(comparison, first);
        if (!filter_passes(comparison, negated, &row, (uint32_t)first))
            continue;
        while (end < NO_NUMBER && filter_passes(comparison, negated, &row, (uint32_t)end))
            end = next_number(comparison, end);
        if (end == first + 1) {
            branch(compiler, BPF_JEQ, (uint32_t)first, true, yes);
            continue;
        }
        branch(compiler, BPF_JGE, (uint32_t)first, false, label);
        branch(compiler, BPF_JGE, end < NO_NUMBER ? (uint32_t)end : NO_NUMBER, false, yes);
    }
    filter_jump(compiler, label);
    filter_set_label(compiler, yes);
}

/* Whether the program can find that the predicate (negated: its opposite) does not hold. */
static bool filter_is_judged(const struct predicate *predicate, bool negated)
{
    bool any = false, all = true;

    if (predicate->field)
        return member_of(predicate) < COUNT(members);
    negated ^= predicate->operation == PREDICATE_NOT;
    for (const struct predicate *part = predicate->parts; part; part = part->next) {
        const bool judged = filter_is_judged(part, negated);
        any |= judged;
        all &= judged;
    }
    return (predicate->operation == PREDICATE_OR) != negated ? all : any;
}

/* Jumps to `label` if the predicate (negated: its opposite) cannot hold; continues if it could
 * hold. A `not` is the opposite of its parts. */
static void filter_compile(struct filter_compiler *compiler, const struct predicate *predicate,
                           bool negated, unsigned label)
{
    const size_t member = predicate->field ? member_of(predicate) : 0;

    if (!filter_is_judged(predicate, negated))
        return;
    if (predicate->field) {
        compiler->judged[member] = true;
        (members[member].is_address ? compile_address : compile_number)(
            compiler, predicate, members[member].index, negated, label);
        return;
    }
    negated ^= predicate->operation == PREDICATE_NOT;
    const bool is_or = (predicate->operation == PREDICATE_OR) != negated;
    const unsigned done = filter_new_label(compiler);
    for (const struct predicate *part = predicate->parts; part; part = part->next) {
        const unsigned next = is_or ? filter_new_label(compiler) : label;
        filter_compile(compiler, part, negated, next);
        if (is_or) {
            filter_jump(compiler, done);
            filter_set_label(compiler, next);
        }
    }
    if (is_or)
        filter_jump(compiler, label);
    filter_set_label(compiler, done);
}

/* Makes the program: labels become offsets. If no condition can be judged from a packet, it takes
 * all packets. */
static int filter_make(struct filter_compiler *compiler, const struct predicate *where,
                       unsigned snap)
{
    *compiler = (struct filter_compiler){.label_count = LABELS};
    compiler->code = calloc(BPF_MAXINSNS, sizeof *compiler->code);
    if (!compiler->code)
        return -ENOMEM;
    if (where && filter_is_judged(where, false)) {
        filter_read_link(compiler);
        filter_set_label(compiler, LABEL_JUDGE);
        filter_compile(compiler, where, false, LABEL_REFUSE);
        filter_set_label(compiler, LABEL_TAKE);
        filter_emit(compiler, BPF_RET, snap);
        filter_set_label(compiler, LABEL_REFUSE);
        filter_emit(compiler, BPF_RET, 0);
    }
    for (uint32_t i = 0; i < compiler->count; i++)
        if (compiler->code[i].code == (BPF_JMP | BPF_JA))
            compiler->code[i].k = compiler->labels[compiler->code[i].k] - (i + 1);
    if (compiler->full || !compiler->count) {
        memset(compiler->judged, 0, sizeof compiler->judged);
        compiler->code[0] = (struct sock_filter)BPF_STMT(BPF_RET, snap);
        compiler->count = 1;
    }
    return 0;
}

int packet_filter_make(const struct predicate *where, unsigned snap, struct sock_fprog *program)
{
    struct filter_compiler compiler;
    const int error = filter_make(&compiler, where, snap);

    program->filter = compiler.code;
    program->len = (unsigned short)compiler.count;
    return error;
}

void packet_filter_explain(const struct query *query, struct explanation *explanation)
{
    struct filter_compiler compiler;

    if (filter_make(&compiler, query->where, 1) < 0)
        return;
    for (size_t i = 0; i < COUNT(members); i++)
        if (compiler.judged[i])
            explanation_add(explanation, members[i].offset);
    if (compiler.count > 1)
        explanation_describe(explanation, "program of %zu instructions", compiler.count);
    free(compiler.code);
}
