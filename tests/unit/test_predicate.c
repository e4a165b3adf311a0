/* SPDX-License-Identifier: MIT */
/* Predicates: each operator on values of each type, and what and, or and not make of them. */
#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "../helpers/libc.h"
#include "kit.h"
#include "predicates.h"

static const struct record nothing = {.kind = &kind_flow};

/* 't': it holds, 'f': its opposite holds, 'u': neither. */
static char outcome(const struct predicate *predicate, const struct record *record)
{
    struct predicate part = *predicate;
    const struct predicate not = {.operation = PREDICATE_NOT, .parts = &part};
    const bool holds = predicate_holds(predicate, record, &no_names);
    const bool fails = predicate_holds(&not, record, &no_names);

    part.next = NULL;
    assert_false(holds && fails);
    return holds ? 't' : fails ? 'f' : 'u';
}

/* --- Operators on values ---------------------------------------------------------------------- */

/* A field of this value. */
static struct value given;

static struct value give(const struct cell *cell)
{
    (void)cell;
    return given;
}

static const struct field any = {.name = "any", .value = give};

#define NUMBER(of)                                                                                 \
    {                                                                                              \
        .type = VALUE_NUMBER, .number = (of)                                                       \
    }
#define DECIMAL(of)                                                                                \
    {                                                                                              \
        .type = VALUE_DECIMAL, .number = (of)                                                      \
    }
#define SIGNED(of, minus)                                                                          \
    {                                                                                              \
        .type = VALUE_SIGNED, .integer = {(of), (minus) }                                          \
    }
#define TEXT_OF(as, of)                                                                            \
    {                                                                                              \
        .type = (as), .text = {(of), sizeof(of) - 1 }                                              \
    }
#define TEXT(of) TEXT_OF(VALUE_TEXT, of)
#define NAME(of, number_)                                                                          \
    {                                                                                              \
        .type = VALUE_NAME, .name = {(of), (number_) }                                             \
    }
#define FLAGS(low, high)                                                                           \
    {                                                                                              \
        .type = VALUE_FLAGS, .flags = { NULL, {(low), (high)} }                                    \
    }
#define ADDRESS(...)                                                                               \
    {                                                                                              \
        .type = VALUE_ADDRESS, .address = __VA_ARGS__                                              \
    }

/* What becomes of: equal, below, above. */
static const struct {
    struct value value, constant;
    const char *outcomes;
} compared[] = {
    {NUMBER(5), NUMBER(5), "tff"},
    {NUMBER(4), NUMBER(5), "ftf"},
    {NUMBER(UINT64_MAX), NUMBER(5), "fft"},
    {DECIMAL(1500), DECIMAL(1500), "tff"},
    {DECIMAL(1499), DECIMAL(1500), "ftf"},
    {DECIMAL(1500), NUMBER(1500), "tff"}, /* as it is held */
    {SIGNED(5, true), SIGNED(5, true), "tff"},
    {SIGNED(5, true), SIGNED(5, false), "ftf"},
    {SIGNED(5, true), SIGNED(6, true), "fft"},
    {TEXT("abc"), TEXT("abc"), "tff"},
    {TEXT("ab"), TEXT("abc"), "ftf"},
    {TEXT("b"), TEXT("abc"), "fft"},
    {TEXT("a\0c"), TEXT("a\0d"), "ftf"},
    {TEXT(""), TEXT(""), "tff"},
    {{.type = VALUE_TEXT, .text = {NULL, 0}}, TEXT(""), "tff"},
    {TEXT_OF(VALUE_SOCKET_NAME, "\0a"), TEXT("\0a"), "tff"},
    {TEXT_OF(VALUE_SOCKET_NAME, "/a"), TEXT("/b"), "ftf"},
    {{.type = VALUE_SOCKET_NAME, .text = {NULL, 0}}, TEXT(""), "tff"},
    {{.type = VALUE_SOCKET_NAME, .text = {NULL, 0}}, TEXT("a"), "ftf"},
    {NAME("tcp", 6), NUMBER(6), "tff"},
    {NAME("tcp", 6), NUMBER(7), "ftf"},
    {NAME("tcp", 6), TEXT("tcp"), "tff"},
    {NAME("tcp", 6), TEXT("udp"), "ftf"},
    {NAME(NULL, 6), NUMBER(6), "tff"},
    {NAME(NULL, 6), TEXT("6"), "fff"}, /* it has no text */
    {NAME("tcp", 6), NAME("tcp", 0), "tff"},
    {FLAGS(5, 0), FLAGS(5, 0), "tff"},
    {FLAGS(5, 1), FLAGS(5, 0), "fft"},
    {FLAGS(5, 1), FLAGS(4, 2), "ftf"},
    {FLAGS(5, 0), NUMBER(5), "tff"},
    {ADDRESS(IPV4(10, 0, 0, 1)), ADDRESS(IPV4(10, 0, 0, 1)), "tff"},
    {ADDRESS(IPV4(10, 0, 0, 1)), ADDRESS(IPV4(10, 0, 1, 0)), "ftf"},
    {ADDRESS(IPV4(10, 0, 0, 1)), ADDRESS(IPV6([15] = 1)), "ftf"},
    {ADDRESS(IPV6([15] = 2)), ADDRESS(IPV6([15] = 1)), "fft"},
    {TEXT_OF(VALUE_LLADDR, "\2\0\0\0\0\1"), TEXT_OF(VALUE_LLADDR, "\2\0\0\0\0\1"), "tff"},
    {TEXT_OF(VALUE_LLADDR, "\2\0\0\0\0\1"), TEXT_OF(VALUE_LLADDR, "\2\0\0\0\0\2"), "ftf"},
    /* what cannot be compared is neither below nor above */
    {NUMBER(5), TEXT("5"), "fff"},
    {TEXT("5"), NUMBER(5), "fff"},
    {NUMBER(5), ADDRESS(IPV4(0)), "fff"},
    {ADDRESS(IPV4(0)), NUMBER(0), "fff"},
    {SIGNED(5, false), NUMBER(5), "fff"},
    {{.type = VALUE_UNKNOWN}, NUMBER(0), "uuu"},
    {{.type = VALUE_UNKNOWN}, TEXT(""), "uuu"},
};

static void values_of_each_type_are_compared(void **state)
{
    static const enum predicate_operator operations[] = {PREDICATE_EQUAL, PREDICATE_BELOW,
                                                         PREDICATE_ABOVE};

    (void)state;
    for (size_t i = 0; i < COUNT(compared) * COUNT(operations); i++) {
        const size_t row = i / COUNT(operations), column = i % COUNT(operations);
        const struct predicate predicate = {
            .operation = operations[column], .field = &any, .constant = compared[row].constant};
        const char expected = compared[row].outcomes[column];
        given = compared[row].value;
        if (outcome(&predicate, &nothing) != expected)
            fail_msg("row %zu, column %zu: not '%c'", row, column, expected);
    }
}

static void a_value_is_known_or_not(void **state)
{
    const struct predicate known = predicate_known(&any);

    (void)state;
    for (size_t i = 0; i < COUNT(compared); i++) {
        given = compared[i].value;
        assert_int_equal(outcome(&known, &nothing), given.type == VALUE_UNKNOWN ? 'f' : 't');
    }
}

static void bits_are_compared_under_a_mask(void **state)
{
    static const struct {
        struct value value, constant;
        uint64_t mask[2];
        char expected;
    } rows[] = {
        {NUMBER(0x12), NUMBER(0x10), {0xf0}, 't'},
        {NUMBER(0x12), NUMBER(0x12), {0xf0}, 'f'}, /* a bit that the mask takes away */
        {NUMBER(0x12), NUMBER(0), {0}, 't'},
        {NUMBER(UINT64_MAX), NUMBER(UINT64_C(1) << 63), {UINT64_C(1) << 63}, 't'},
        {NAME("x", 0x12), NUMBER(0x10), {0xf0}, 't'},
        {NAME(NULL, 0x12), NUMBER(0x20), {0xf0}, 'f'},
        {FLAGS(3, 0), FLAGS(1, 0), {1}, 't'},
        {FLAGS(3, 0), FLAGS(1, 0), {3}, 'f'},
        {FLAGS(3, 4), FLAGS(3, 4), {3, 4}, 't'},
        {FLAGS(3, 4), FLAGS(3, 0), {3, 4}, 'f'},
        {FLAGS(3, 4), FLAGS(3, 0), {3, 0}, 't'},
        {FLAGS(0, UINT64_C(1) << 63), FLAGS(0, UINT64_C(1) << 63), {0, UINT64_C(1) << 63}, 't'},
        {TEXT("1"), NUMBER(0), {0}, 'f'},
        {ADDRESS(IPV4(0)), NUMBER(0), {0}, 'f'},
        {{.type = VALUE_UNKNOWN}, NUMBER(0), {0}, 'u'},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct predicate masked = {
            .operation = PREDICATE_MASKED, .field = &any, .constant = rows[i].constant};
        memcpy(masked.mask.bits, rows[i].mask, sizeof rows[i].mask);
        given = rows[i].value;
        if (outcome(&masked, &nothing) != rows[i].expected)
            fail_msg("row %zu: not '%c'", i, rows[i].expected);
    }
}

static void a_number_may_be_one_of_several(void **state)
{
    const struct predicate numbers = predicate_one_of(&any, 1u << 1 | 1u << 10 | UINT64_C(1) << 63);
    static const struct {
        struct value value;
        char expected;
    } rows[] = {
        {NUMBER(1), 't'},       {NUMBER(10), 't'},         {NUMBER(63), 't'},
        {NUMBER(0), 'f'},       {NUMBER(64), 'f'},         {NUMBER(65), 'f'},
        {NUMBER(64 + 10), 'f'}, {NUMBER(UINT64_MAX), 'f'}, {NAME("x", 10), 't'},
        {NAME("x", 9), 'f'},    {TEXT("1"), 'f'},          {{.type = VALUE_UNKNOWN}, 'u'},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        given = rows[i].value;
        assert_int_equal(outcome(&numbers, &nothing), rows[i].expected);
    }
}

/* Whether the address is (its bytes & mask) == network. */
static char within(const char *address, const char *network, const char *mask)
{
    const struct address bits = ip(mask);
    struct predicate predicate = {.operation = PREDICATE_WITHIN,
                                  .field = &any,
                                  .constant = {.type = VALUE_ADDRESS, .address = ip(network)}};

    memcpy(predicate.mask.address, bits.bytes, sizeof bits.bytes);
    given = (struct value){.type = VALUE_ADDRESS, .address = ip(address)};
    return outcome(&predicate, &nothing);
}

static void an_address_is_in_a_network_of_any_mask(void **state)
{
    (void)state;
    assert_int_equal(within("10.1.2.3", "10.0.0.0", "255.0.0.0"), 't');
    assert_int_equal(within("11.1.2.3", "10.0.0.0", "255.0.0.0"), 'f');
    assert_int_equal(within("10.1.2.3", "10.0.2.0", "255.0.255.0"), 't');
    assert_int_equal(within("10.1.3.3", "10.0.2.0", "255.0.255.0"), 'f');
    assert_int_equal(within("10.9.2.9", "10.0.2.0", "255.0.255.0"), 't');
    assert_int_equal(within("10.1.2.3", "0.0.0.3", "0.0.0.255"), 't');
    assert_int_equal(within("10.1.2.3", "0.0.0.0", "0.0.0.0"), 't');
    assert_int_equal(within("2001:db8::1", "2001:db8::", "ffff:ffff::"), 't');
    assert_int_equal(within("2001:db8::1", "::1", "::ffff"), 't');
    assert_int_equal(within("2001:db8::1", "::2", "::ffff"), 'f');
    assert_int_equal(within("::", "0.0.0.0", "0.0.0.0"), 'f');
    assert_int_equal(within("0.0.0.0", "::", "::"), 'f');
    given = (struct value)TEXT("10.1.2.3");
    assert_int_equal(outcome(&(const struct predicate){.operation = PREDICATE_WITHIN,
                                                       .field = &any,
                                                       .constant = ADDRESS(IPV4(0))},
                             &nothing),
                     'f');
}

static void a_text_is_like_a_pattern(void **state)
{
    static const struct {
        const char *pattern, *text;
        char expected;
    } rows[] = {
        {"", "", 't'},           {"", "a", 'f'},          {"a", "", 'f'},
        {"abc", "abc", 't'},     {"abc", "abcd", 'f'},    {"abc", "Abc", 'f'},
        {"*", "", 't'},          {"*", "anything", 't'},  {"**", "", 't'},
        {"a*", "a", 't'},        {"a*", "ba", 'f'},       {"*a", "bba", 't'},
        {"*a", "bab", 'f'},      {"a*c", "abcbc", 't'},   {"a*c", "abcb", 'f'},
        {"*a*b*", "xaxbx", 't'}, {"*a*b*", "xbxax", 'f'}, {"*aab", "aaaab", 't'},
        {"?", "a", 't'},         {"?", "", 'f'},          {"?", "ab", 'f'},
        {"a?c", "abc", 't'},     {"?*?", "a", 'f'},       {"?*?", "ab", 't'},
        {"\\*", "*", 't'},       {"\\*", "a", 'f'},       {"\\?", "?", 't'},
        {"\\?", "a", 'f'},       {"\\\\", "\\", 't'},     {"\\a", "a", 't'},
        {"\\", "\\", 't'},       {"a\\", "a\\", 't'},     {"*\\*", "a*", 't'},
        {"*\\*", "ab", 'f'},     {"\\**", "*ab", 't'},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct predicate like = predicate_text(&any, rows[i].pattern);
        like.operation = PREDICATE_LIKE;
        given = (struct value){.type = VALUE_TEXT, .text = {rows[i].text, strlen(rows[i].text)}};
        if (outcome(&like, &nothing) != rows[i].expected)
            fail_msg("'%s' and '%s': not '%c'", rows[i].pattern, rows[i].text, rows[i].expected);
    }
}

struct glob_row {
    const char *pattern;
    struct text text;
    char expected;
};

static void assert_globs(const struct glob_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct predicate glob = predicate_text(&any, rows[i].pattern);
        glob.operation = PREDICATE_GLOB;
        given = (struct value){.type = VALUE_SOCKET_NAME, .text = rows[i].text};
        if (outcome(&glob, &nothing) != rows[i].expected)
            fail_msg("'%s' and row %zu: not '%c'", rows[i].pattern, i, rows[i].expected);
    }
}

/* As fnmatch(3) with FNM_CASEFOLD; a NUL of the text is @. */
static void globs_have_sets_and_ignore_case(void **state)
{
    static const struct glob_row rows[] = {
        {"abc", TEXT_LITERAL("ABC"), 't'},     {"ABC", TEXT_LITERAL("abc"), 't'},
        {"*", TEXT_LITERAL(""), 't'},          {"", TEXT_LITERAL(""), 't'},
        {"", TEXT_LITERAL("a"), 'f'},          {"*B*", TEXT_LITERAL("aabaa"), 't'},
        {"a*c", TEXT_LITERAL("abcb"), 'f'},    {"*aab", TEXT_LITERAL("aaaab"), 't'},
        {"?", TEXT_LITERAL(""), 'f'},          {"[abc]", TEXT_LITERAL("B"), 't'},
        {"[abc]", TEXT_LITERAL("d"), 'f'},     {"[a-c]x", TEXT_LITERAL("bx"), 't'},
        {"[a-c]", TEXT_LITERAL("d"), 'f'},     {"[!a-c]", TEXT_LITERAL("d"), 't'},
        {"[^a-c]", TEXT_LITERAL("b"), 'f'},    {"[]x]", TEXT_LITERAL("]"), 't'},
        {"[!]x]", TEXT_LITERAL("]"), 'f'},     {"[a-]", TEXT_LITERAL("-"), 't'},
        {"[ab", TEXT_LITERAL("[ab"), 't'},     {"a[", TEXT_LITERAL("a["), 't'},
        {"*[bc]", TEXT_LITERAL("aabac"), 't'}, {"\\*", TEXT_LITERAL("*"), 't'},
        {"\\*", TEXT_LITERAL("a"), 'f'},       {"@a", TEXT_LITERAL("\0a"), 't'},
        {"@?b", TEXT_LITERAL("\0\0b"), 't'},
    };

    (void)state;
    assert_globs(rows, COUNT(rows));
}

/* C libraries differ in backslashes within sets and at the end, and in classes without case. */
static void globs_have_the_classes_of_glibc(void **state)
{
    static const struct glob_row rows[] = {
        {"[\\]]", TEXT_LITERAL("\\]"), 'f'},
        {"[\\]]", TEXT_LITERAL("]"), 't'},
        {"a\\", TEXT_LITERAL("a\\"), 'f'},
        {"a[[:digit:]]", TEXT_LITERAL("a7"), 't'},
        {"a[[:digit:]]", TEXT_LITERAL("ad]"), 'f'},
        {"[![:alpha:]x-z_]", TEXT_LITERAL("Y"), 'f'},
        {"[[:upper:][:space:]]", TEXT_LITERAL("a"), 'f'},
        {"[[:upper:][:space:]]", TEXT_LITERAL("A"), 't'},
        {"[![:upper:]]", TEXT_LITERAL("a"), 't'},
        {"[[:lower:]]", TEXT_LITERAL("A"), 'f'},
        {"*.[[=s=]]ock", TEXT_LITERAL("a.sock"), 't'},
        {"*.[[=s=]]ock", TEXT_LITERAL("a.Sock"), 'f'},
        {"[[.-.]a]", TEXT_LITERAL("-"), 't'},
        {"[[:nosuch:]]", TEXT_LITERAL("n"), 'f'},
        {"[[:a]", TEXT_LITERAL(":"), 't'},
    };

    (void)state;
    if (!IS_GLIBC)
        skip();
    assert_globs(rows, COUNT(rows));
}

static void whatever_has_a_text_may_be_like_a_pattern(void **state)
{
    struct predicate like = predicate_text(&any, "*");
    static const struct {
        struct value value;
        char expected;
    } rows[] = {
        {TEXT("a\0b"), 't'},
        {TEXT_OF(VALUE_SOCKET_NAME, "\0a"), 't'},
        {NAME("tcp", 6), 't'},
        {NAME(NULL, 6), 't'},
        {NUMBER(5), 'f'},
        {ADDRESS(IPV4(0)), 't'},
        {{.type = VALUE_UNKNOWN}, 'u'},
        {{.type = VALUE_SOCKET_NAME, .text = {NULL, 0}}, 't'},
    };

    (void)state;
    like.operation = PREDICATE_LIKE;
    for (size_t i = 0; i < COUNT(rows); i++) {
        given = rows[i].value;
        assert_int_equal(outcome(&like, &nothing), rows[i].expected);
    }
}

/* --- Fields of records ------------------------------------------------------------------------ */

static char of_number(const struct record *record, const char *name, uint64_t number)
{
    const struct predicate equal = predicate_number(field_named(record->kind, name), number);

    return outcome(&equal, record);
}

static char of_text(const struct record *record, const char *name, const char *text)
{
    const struct predicate equal = predicate_text(field_named(record->kind, name), text);

    return outcome(&equal, record);
}

static char of_address(const struct record *record, const char *name, const char *text)
{
    const struct address address = ip(text);
    const struct predicate equal = predicate_address(field_named(record->kind, name), &address);

    return outcome(&equal, record);
}

static void a_word_is_meant_by_its_number_or_by_its_text(void **state)
{
    struct record record = {.kind = &kind_flow, .has = FLOW_ROLE | FLOW_ORIG, .flow.role = 1};

    (void)state;
    record.flow.way[WAY_ORIG].tuple.protocol = IPPROTO_TCP;
    assert_int_equal(of_number(&record, "role", 1), 't');
    assert_int_equal(of_number(&record, "role", 0), 'f');
    assert_int_equal(of_text(&record, "role", "server"), 't');
    assert_int_equal(of_text(&record, "role", "client"), 'f');
    assert_int_equal(of_number(&record, "protocol", 6), 't');
    assert_int_equal(of_number(&record, "protocol", 17), 'f');
    assert_int_equal(of_text(&record, "protocol", "tcp"), 't');
    assert_int_equal(of_text(&record, "protocol", "udp"), 'f');
    record.flow.role = 7; /* it has no word: the column is null, and two opposites list no row */
    assert_int_equal(of_number(&record, "role", 7), 'u');
    assert_int_equal(of_number(&record, "role", 1), 'u');
    struct predicate other = predicate_number(field_named(&kind_flow, "role"), 1);
    const struct predicate opposite = {.operation = PREDICATE_NOT, .parts = &other};
    assert_false(predicate_is_met(&opposite, &record, &no_names));
    assert_true(predicate_is_met(&opposite, &record, NULL)); /* of a table */
    assert_int_equal(of_text(&record, "role", "server"), 'u');
    record.has = 0;
    assert_int_equal(of_number(&record, "role", 7), 'u');
    assert_int_equal(of_text(&record, "protocol", "tcp"), 'u');
}

static void flags_are_meant_by_their_bits(void **state)
{
    const struct field *status = field_named(&kind_flow, "status");
    struct record record = {.kind = &kind_flow,
                            .has = FLOW_STATUS | FLOW_LABELS,
                            .flow.status = IPS_ASSURED | IPS_CONFIRMED,
                            .flow.labels = {1, 0, 0, 0x80000000}};
    struct predicate masked = predicate_masked(status, IPS_ASSURED, IPS_ASSURED | IPS_SEEN_REPLY);

    (void)state;
    assert_int_equal(outcome(&masked, &record), 't');
    masked.constant = (struct value)NUMBER(IPS_ASSURED); /* the same as a number */
    assert_int_equal(outcome(&masked, &record), 't');
    masked.constant = (struct value)NUMBER(IPS_SEEN_REPLY);
    assert_int_equal(outcome(&masked, &record), 'f');
    assert_int_equal(of_number(&record, "status", IPS_ASSURED | IPS_CONFIRMED), 't');
    masked = predicate_masked(&field_label_bits, 1, 1);
    assert_int_equal(outcome(&masked, &record), 't');
    masked.mask.bits[1] = masked.constant.flags.bits[1] = UINT64_C(1) << 63;
    assert_int_equal(outcome(&masked, &record), 't');
    masked.mask.bits[1] = masked.constant.flags.bits[1] = UINT64_C(3) << 62;
    assert_int_equal(outcome(&masked, &record), 'f');
}

static void a_mapped_address_is_one_of_ipv4_and_of_ipv6(void **state)
{
    struct record record = {.kind = &kind_socket, .has = SOCKET_ADDRESSES};
    struct endpoint *local = &record.socket.local;

    (void)state;
    record.socket.family = AF_INET6;
    local->address = ip("::ffff:192.0.2.1");
    assert_int_equal(of_address(&record, "local_address", "192.0.2.1"), 't');
    assert_int_equal(of_address(&record, "local_address", "::ffff:192.0.2.1"), 't');
    assert_int_equal(of_address(&record, "local_address", "192.0.2.2"), 'f');
    assert_int_equal(of_address(&record, "local_address", "::ffff:192.0.2.2"), 'f');
    local->address = ip("192.0.2.1");
    assert_int_equal(of_address(&record, "local_address", "192.0.2.1"), 't');
    assert_int_equal(of_address(&record, "local_address", "::ffff:192.0.2.1"), 'f');
}

/* As a unix socket has none, whatever it is compared with. */
static void addresses_of_a_unix_socket_are_unknown(void **state)
{
    const struct record record = {
        .kind = &kind_socket, .has = SOCKET_ADDRESSES, .socket.family = AF_UNIX};
    struct predicate network = {.operation = PREDICATE_WITHIN,
                                .field = field_named(&kind_socket, "local_address"),
                                .constant = ADDRESS(IPV6(0))};

    (void)state;
    assert_int_equal(of_address(&record, "local_address", "0.0.0.0"), 'u');
    assert_int_equal(of_address(&record, "local_address", "::"), 'u');
    assert_int_equal(outcome(&network, &record), 'u');
}

/* --- And, or, not ----------------------------------------------------------------------------- */

enum { TRUE, FALSE, UNKNOWN };
static const char outcomes[] = "tfu";

/* One that holds, one that does not, and one of which nothing is known, of the record `nothing`. */
static struct predicate certain(int which)
{
    struct predicate predicate = predicate_known(field_named(&kind_flow, "mark"));

    if (which == TRUE)
        return (struct predicate){.operation = PREDICATE_AND};
    if (which == UNKNOWN)
        predicate = predicate_number(field_named(&kind_flow, "mark"), 0);
    return predicate;
}

static void the_empty_and_holds_and_the_empty_or_does_not(void **state)
{
    const struct predicate and = {.operation = PREDICATE_AND}, or = {.operation = PREDICATE_OR};

    (void)state;
    assert_int_equal(outcome(&and, &nothing), 't');
    assert_int_equal(outcome(& or, &nothing), 'f');
    assert_true(predicate_holds(NULL, &nothing, NULL));
}

static void a_field_that_a_backend_lacks_is_neither_present_nor_absent(void **state)
{
    const struct field *mark = field_named(&kind_flow, "mark");
    struct predicate known = predicate_known(mark);
    const struct predicate absent = {.operation = PREDICATE_NOT, .parts = &known};
    const struct context context = {.time = 0};
    struct record record = nothing;

    (void)state;
    assert_true(predicate_is_met(&absent, &record, &context));
    record.unavailable = mark->fields;
    assert_false(predicate_is_met(&absent, &record, &context));
    assert_false(predicate_is_met(&known, &record, &context));
}

static void an_empty_attention_set_is_null_and_its_reasons_are_certain(void **state)
{
    static const uint64_t one = 1, other = 2;
    static const struct field set = {
        .name = "set", .type = VALUE_FLAGS, .value = give, .optional = 8, .confirmed = 3};
    const struct predicate known = predicate_known(&set),
                           has_one = predicate_masked(&set, one, one),
                           has_other = predicate_masked(&set, other, other);
    struct record record = nothing;

    (void)state;
    given = (struct value){.type = VALUE_FLAGS, .flags.bits = {one}};
    assert_int_equal(outcome(&known, &record), 't');
    assert_int_equal(outcome(&has_one, &record), 't');
    assert_int_equal(outcome(&has_other, &record), 'f');
    record.unavailable = 8; /* there may be more */
    assert_int_equal(outcome(&known, &record), 't');
    assert_int_equal(outcome(&has_one, &record), 't');
    assert_int_equal(outcome(&has_other, &record), 'u');
    given.flags.bits[0] = 0;
    assert_int_equal(outcome(&known, &record), 'u');
    record.unavailable = 0;
    assert_int_equal(outcome(&known, &record), 'f');
    assert_int_equal(outcome(&has_one, &record), 'f');
    given.type = VALUE_UNKNOWN;
    assert_int_equal(outcome(&known, &record), 'u');
    assert_int_equal(outcome(&has_one, &record), 'u');
}

static void a_comparison_with_unknown_is_neither_true_nor_false(void **state)
{
    static const char *const ands[] = {"tfu", "fff", "ufu"};
    static const char *const ors[] = {"ttt", "tfu", "tuu"};

    (void)state;
    for (int a = TRUE; a <= UNKNOWN; a++)
        for (int b = TRUE; b <= UNKNOWN; b++) {
            struct predicate parts[] = {certain(a), certain(b)};
            const struct predicate and = WHOLE_OF(PREDICATE_AND, parts);
            const struct predicate or = WHOLE_OF(PREDICATE_OR, parts);
            assert_int_equal(outcome(&parts[1], &nothing), outcomes[b]);
            assert_int_equal(outcome(&and, &nothing), ands[a][b]);
            assert_int_equal(outcome(& or, &nothing), ors[a][b]);
        }
}

/* The marks and the zone of flows, which may be unknown. */
static void a_column_is_compared_with_another_one(void **state)
{
    static const enum predicate_operator operators[] = {
        PREDICATE_BELOW_COLUMN, PREDICATE_EQUAL_COLUMN, PREDICATE_ABOVE_COLUMN};
    static const struct {
        uint32_t mark;
        uint64_t factor;
        const char *outcomes; /* below, equal, above */
    } cases[] = {{6, 1000000, "tff"},  {7, 1000000, "ftf"},  {8, 1000000, "fft"},
                 {10, 1500000, "tff"}, {21, 3000000, "ftf"}, {1, 0, "fft"}};
    struct predicate id = predicate_known(field_named(&kind_flow, "id"));

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t j = 0; j < COUNT(operators); j++) {
            struct record record = {.kind = &kind_flow,
                                    .has = FLOW_MARK | FLOW_ID,
                                    .flow = {.mark = cases[i].mark, .id = 7}};
            struct predicate comparison = {
                .operation = operators[j],
                .field = field_named(&kind_flow, "mark"),
                .constant = {.type = VALUE_FINE, .number = cases[i].factor}};
            predicate_add(&comparison, &id);
            assert_int_equal(outcome(&comparison, &record), cases[i].outcomes[j]);
            assert_true(predicate_may_hold(&comparison, &record, FLOW_MARK));
            assert_true(predicate_needs(&comparison).fields == (FLOW_MARK | FLOW_ID));
            for (record.has = 0; record.has != FLOW_ID;
                 record.has = record.has ? FLOW_ID : FLOW_MARK)
                assert_int_equal(outcome(&comparison, &record), 'u');
            record.has = FLOW_MARK; /* it is known to have no id */
            assert_false(predicate_may_hold(&comparison, &record, FLOW_MARK | FLOW_ID));
        }
}

/* A double has 53 bits; the largest product has 134. */
static void a_column_is_compared_by_all_of_its_bits(void **state)
{
    static const enum predicate_operator operators[] = {
        PREDICATE_BELOW_COLUMN, PREDICATE_EQUAL_COLUMN, PREDICATE_ABOVE_COLUMN};
    const uint64_t large = UINT64_C(1) << 53, million = 1000000;
    const struct {
        uint64_t sent, received, factor;
        const char *outcomes; /* below, equal, above */
    } cases[] = {{2 * large - 1, large, 2 * million, "tff"},
                 {2 * large, large, 2 * million, "ftf"},
                 {2 * large + 1, large, 2 * million, "fft"},
                 {large * 3, large * 2 + 1, million * 3 / 2, "tff"},
                 {UINT64_MAX - 1, UINT64_MAX - 1, 1000000000 * million, "tff"},
                 {UINT64_MAX - 1, UINT64_MAX - 1, million - 1, "fft"},
                 {0, UINT64_MAX - 1, 0, "ftf"}};
    struct predicate received = predicate_known(field_named(&kind_socket, "bytes_received"));

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t j = 0; j < COUNT(operators); j++) {
            const struct record record = {
                .kind = &kind_socket,
                .has = SOCKET_BYTES,
                .socket = {.bytes_sent = cases[i].sent, .bytes_received = cases[i].received}};
            struct predicate comparison = {
                .operation = operators[j],
                .field = field_named(&kind_socket, "bytes_sent"),
                .constant = {.type = VALUE_FINE, .number = cases[i].factor}};
            predicate_add(&comparison, &received);
            assert_int_equal(outcome(&comparison, &record), cases[i].outcomes[j]);
        }
}

static void not_turns_what_is_known(void **state)
{
    static const char turned[] = "ftu";

    (void)state;
    for (int a = TRUE; a <= UNKNOWN; a++) {
        struct predicate part = certain(a);
        struct predicate not = {.operation = PREDICATE_NOT, .parts = &part};
        const struct predicate twice = {.operation = PREDICATE_NOT, .parts = &not };
        assert_int_equal(outcome(&not, &nothing), turned[a]);
        assert_int_equal(outcome(&twice, &nothing), outcomes[a]);
    }
}

/* --- Rows of which little is known ------------------------------------------------------------ */

static void an_undecided_comparison_may_hold_or_not(void **state)
{
    struct predicate mark = predicate_number(field_named(&kind_flow, "mark"), 7);
    const struct predicate not = {.operation = PREDICATE_NOT, .parts = &mark};
    struct record record = {.kind = &kind_flow, .has = FLOW_MARK, .flow.mark = 8};

    (void)state;
    assert_true(predicate_may_hold(&mark, &record, 0));
    assert_true(predicate_may_hold(&not, &record, 0));
    assert_false(predicate_may_hold(&mark, &record, FLOW_MARK));
    assert_true(predicate_may_hold(&not, &record, FLOW_MARK));
    record.has = 0; /* it is known to have none */
    assert_false(predicate_may_hold(&mark, &record, FLOW_MARK));
    assert_false(predicate_may_hold(&not, &record, FLOW_MARK));
    assert_true(predicate_may_hold(NULL, &record, 0));
}

/* Each part of a whole that may hold decides where it is known. */
static void a_known_comparison_may_decide_an_open_one(void **state)
{
    struct predicate parts[] = {predicate_number(field_named(&kind_flow, "mark"), 7),
                                predicate_number(field_named(&kind_flow, "id"), 1)};
    const struct predicate and = WHOLE_OF(PREDICATE_AND, parts);
    struct record record = {.kind = &kind_flow, .has = FLOW_MARK, .flow.mark = 8};

    (void)state;
    assert_false(predicate_may_hold(&and, &record, FLOW_MARK));
    record.flow.mark = 7;
    assert_true(predicate_may_hold(&and, &record, FLOW_MARK));

    struct predicate or = WHOLE_OF(PREDICATE_OR, parts);
    const struct predicate neither = {.operation = PREDICATE_NOT, .parts = & or };
    assert_true(predicate_may_hold(& or, &record, FLOW_MARK));
    assert_false(predicate_may_hold(&neither, &record, FLOW_MARK));
    record.flow.mark = 8;
    assert_true(predicate_may_hold(& or, &record, FLOW_MARK));
    assert_true(predicate_may_hold(&neither, &record, FLOW_MARK));
}

/* A field is known only with what it may depend on. */
static void an_optional_field_is_open_too(void **state)
{
    const struct predicate zone = predicate_number(field_named(&kind_flow, "zone"), 5);
    const struct record record = {.kind = &kind_flow, .has = FLOW_ORIG};

    (void)state;
    assert_true(predicate_may_hold(&zone, &record, FLOW_ORIG));
    assert_false(predicate_may_hold(&zone, &record, FLOW_ORIG | FLOW_ZONE));
}

static void members_that_are_always_there_are_known_where_that_is_said(void **state)
{
    const struct predicate family = predicate_number(field_named(&kind_flow, "family"), AF_INET6);
    const struct record record = {.kind = &kind_flow, .flow.family = AF_INET};

    (void)state;
    assert_true(predicate_may_hold(&family, &record, 0));
    assert_true(predicate_may_hold(&family, &record, UINT64_MAX & ~KNOWN_ALWAYS));
    assert_false(predicate_may_hold(&family, &record, KNOWN_ALWAYS));
    assert_false(predicate_may_hold(&family, &record, UINT64_MAX));
}

static void fields_that_need_lookups_are_undecided(void **state)
{
    const struct predicate device =
        predicate_text(field_named(&kind_neighbour, "interface"), "eth0");
    const struct record record = {
        .kind = &kind_neighbour, .has = NEIGHBOUR_INTERFACE, .neighbour.interface_name = "eth1"};

    (void)state;
    assert_true(predicate_may_hold(&device, &record, UINT64_MAX));
    assert_false(predicate_holds(&device, &record, NULL));
    assert_int_equal(outcome(&device, &record), 'f');
}

/* --- What a predicate is about ---------------------------------------------------------------- */

#define MARK offsetof(struct record, flow.mark)

static void a_comparison_of_an_and_is_required(void **state)
{
    struct predicate parts[] = {predicate_number(field_named(&kind_flow, "id"), 1),
                                predicate_number(field_named(&kind_flow, "mark"), 7)};
    const struct predicate and = WHOLE_OF(PREDICATE_AND, parts);
    struct predicate inner = and;
    const struct predicate nested = {.operation = PREDICATE_AND, .parts = &inner};

    (void)state;
    assert_ptr_equal(predicate_requires(&parts[1], MARK, PREDICATE_EQUAL), &parts[1]);
    assert_ptr_equal(predicate_requires(&and, MARK, PREDICATE_EQUAL), &parts[1]);
    assert_ptr_equal(predicate_requires(&nested, MARK, PREDICATE_EQUAL), &parts[1]);
    assert_null(predicate_requires(&and, MARK, PREDICATE_MASKED));
    assert_null(predicate_requires(&and, offsetof(struct record, flow.status), PREDICATE_EQUAL));
    assert_null(predicate_requires(NULL, MARK, PREDICATE_EQUAL));
}

static void no_part_of_an_or_or_a_not_is_required(void **state)
{
    struct predicate mark = predicate_number(field_named(&kind_flow, "mark"), 7);
    struct predicate whole = {.operation = PREDICATE_OR, .parts = &mark};
    const struct predicate outer = {.operation = PREDICATE_AND, .parts = &whole};

    (void)state;
    assert_null(predicate_requires(&whole, MARK, PREDICATE_EQUAL));
    assert_null(predicate_requires(&outer, MARK, PREDICATE_EQUAL));
    whole.operation = PREDICATE_NOT;
    assert_null(predicate_requires(&whole, MARK, PREDICATE_EQUAL));
    assert_null(predicate_requires(&outer, MARK, PREDICATE_EQUAL));
}

/* A field that is made from no member lies at no place, and not at the first. */
static void computed_fields_have_no_offset(void **state)
{
    const struct predicate number = predicate_number(&any, 1);

    (void)state;
    assert_null(predicate_requires(&number, 0, PREDICATE_EQUAL));
}

static void every_compared_field_is_needed(void **state)
{
    struct predicate parts[] = {predicate_number(field_named(&kind_flow, "zone"), 1),
                                predicate_known(field_named(&kind_flow, "process"))};
    struct predicate or = WHOLE_OF(PREDICATE_OR, parts);
    struct predicate outer[] = {{.operation = PREDICATE_NOT, .parts = & or },
                                predicate_number(field_named(&kind_flow, "mark"), 1)};
    const struct predicate and = WHOLE_OF(PREDICATE_AND, outer);

    (void)state;
    assert_int_equal(predicate_needs(&and).fields, FLOW_ORIG | FLOW_ZONE | FLOW_SENDER | FLOW_MARK);
    assert_int_equal(predicate_needs(&and).lookups, NEED_SENDERS);
    assert_int_equal(predicate_needs(NULL).fields, 0);
    assert_int_equal(predicate_needs(NULL).lookups, 0);
}

/* Typed in any order, a user or an owner is looked for only where the record's own fields match. */
static void parts_that_are_looked_up_are_judged_last(void **state)
{
    struct predicate process = predicate_text(field_named(&kind_socket, "process"), "nginx"),
                     user = predicate_text(field_named(&kind_socket, "user"), "root"),
                     state_ = predicate_number(field_named(&kind_socket, "state"), 1),
                     uid = predicate_number(field_named(&kind_socket, "uid"), 0),
                     port = predicate_number(field_named(&kind_socket, "local_port"), 22);
    struct predicate either = {.operation = PREDICATE_OR}, neither = {.operation = PREDICATE_NOT},
                     all = {.operation = PREDICATE_AND};

    (void)state;
    predicate_add(&either, &user);
    predicate_add(&either, &uid);
    predicate_add(&neither, &port);
    predicate_add(&all, &process);
    predicate_add(&all, &state_);
    predicate_add(&all, &either);
    predicate_add(&all, &neither);
    assert_string_equal(said_of(&all),
                        "state = 1 and not (local_port = 22) and process = nginx and "
                        "(uid = 0 or user = root)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_each_type_are_compared),
        cmocka_unit_test(a_value_is_known_or_not),
        cmocka_unit_test(bits_are_compared_under_a_mask),
        cmocka_unit_test(a_number_may_be_one_of_several),
        cmocka_unit_test(an_address_is_in_a_network_of_any_mask),
        cmocka_unit_test(a_text_is_like_a_pattern),
        cmocka_unit_test(globs_have_sets_and_ignore_case),
        cmocka_unit_test(globs_have_the_classes_of_glibc),
        cmocka_unit_test(whatever_has_a_text_may_be_like_a_pattern),
        cmocka_unit_test(a_word_is_meant_by_its_number_or_by_its_text),
        cmocka_unit_test(flags_are_meant_by_their_bits),
        cmocka_unit_test(a_mapped_address_is_one_of_ipv4_and_of_ipv6),
        cmocka_unit_test(addresses_of_a_unix_socket_are_unknown),
        cmocka_unit_test(the_empty_and_holds_and_the_empty_or_does_not),
        cmocka_unit_test(a_field_that_a_backend_lacks_is_neither_present_nor_absent),
        cmocka_unit_test(an_empty_attention_set_is_null_and_its_reasons_are_certain),
        cmocka_unit_test(a_comparison_with_unknown_is_neither_true_nor_false),
        cmocka_unit_test(a_column_is_compared_with_another_one),
        cmocka_unit_test(a_column_is_compared_by_all_of_its_bits),
        cmocka_unit_test(not_turns_what_is_known),
        cmocka_unit_test(an_undecided_comparison_may_hold_or_not),
        cmocka_unit_test(a_known_comparison_may_decide_an_open_one),
        cmocka_unit_test(an_optional_field_is_open_too),
        cmocka_unit_test(members_that_are_always_there_are_known_where_that_is_said),
        cmocka_unit_test(fields_that_need_lookups_are_undecided),
        cmocka_unit_test(a_comparison_of_an_and_is_required),
        cmocka_unit_test(no_part_of_an_or_or_a_not_is_required),
        cmocka_unit_test(computed_fields_have_no_offset),
        cmocka_unit_test(every_compared_field_is_needed),
        cmocka_unit_test(parts_that_are_looked_up_are_judged_last),
    };

    return cmocka_run_group_tests_name("predicate", tests, NULL, NULL);
}
