/* SPDX-License-Identifier: MIT */
/* Kinds of records: what engine and sinks are promised of each of them. */
#include <string.h>

#include "engine/rows.h"
#include "fastnet/predicate.h"
#include "fastnet/query.h"
#include "kept_rows.h"
#include "kit.h"
#include "model/fields/fields.h"

/* Those of the tables. */
static const struct kind *kinds[32];
static size_t kinds_count;

static int gather_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < backend_count; i++)
        for (const struct table_fields *told = backends[i]->provides; told->table; told++) {
            size_t at = 0;
            while (at < kinds_count && kinds[at] != told->table->kind)
                at++;
            assert_true(at < COUNT(kinds));
            kinds[at] = told->table->kind;
            kinds_count += at == kinds_count;
        }
    return 0;
}

/* Of groups of --count-by the fields depend on the listing: the kind has none. */
static const struct {
    const struct kind *kind;
    size_t size;
} known_sizes[] = {
    {&kind_socket, RECORD_SIZE(socket)},
    {&kind_flow, RECORD_SIZE(flow)},
    {&kind_expectation, RECORD_SIZE(expectation)},
    {&kind_flow_statistics, RECORD_SIZE(statistics)},
    {&kind_flow_usage, RECORD_SIZE(usage)},
    {&kind_drop, RECORD_SIZE(drop)},
    {&kind_traffic, RECORD_SIZE(traffic)},
    {&kind_neighbour, RECORD_SIZE(neighbour)},
    {&kind_neighbour_usage, RECORD_SIZE(neighbour_usage)},
    {&kind_finding, RECORD_SIZE(finding)},
    {&kind_step, RECORD_SIZE(step)},
    {&kind_summary, RECORD_SIZE(summary)},
    {&kind_counter, RECORD_SIZE(counter)},
    {&kind_group, RECORD_SIZE(group)},
    {&kind_route, RECORD_SIZE(route)},
    {&kind_interface, RECORD_SIZE(interface)},
    {&kind_queue, RECORD_SIZE(queue)},
    {&kind_qdisc, RECORD_SIZE(qdisc)},
    {&kind_count, RECORD_SIZE(count)},
};

/*
 * Every text of a record, whatever shows it. What it needs is given where other texts of the record
 * lie in the same place.
 */
static const struct {
    const struct kind *kind;
    size_t place;
    uint64_t fields;
} texts[] = {
    {&kind_finding, offsetof(struct record, finding.rule), 0},
    {&kind_finding, offsetof(struct record, finding.subject), 0},
    {&kind_finding, offsetof(struct record, finding.process), FINDING_PROCESS},
    {&kind_finding, offsetof(struct record, finding.summary), 0},
    {&kind_finding, offsetof(struct record, finding.evidence), 0},
    {&kind_finding, offsetof(struct record, finding.advice), 0},
    {&kind_finding, offsetof(struct record, finding.command), 0},
    {&kind_finding, offsetof(struct record, finding.source), 0},
    {&kind_step, offsetof(struct record, step.result), 0},
    {&kind_step, offsetof(struct record, step.cause), STEP_ENDING},
    {&kind_step, offsetof(struct record, step.advice), STEP_ENDING},
    {&kind_step, offsetof(struct record, step.command), STEP_ENDING},
    {&kind_step, offsetof(struct record, step.source), 0},
    {&kind_step, offsetof(struct record, step.process), STEP_PROCESS},
    {&kind_step, offsetof(struct record, step.netns), STEP_NETNS},
    {&kind_socket, offsetof(struct record, socket.path), SOCKET_PATH},
    {&kind_socket, offsetof(struct record, socket.waiting), SOCKET_ICONS},
    {&kind_socket, offsetof(struct record, socket.info), SOCKET_TCP_BASICS},
    {&kind_socket, offsetof(struct record, socket.info), SOCKET_MPTCP_INFO},
    {&kind_socket, offsetof(struct record, socket.info), SOCKET_SCTP_INFO},
    {&kind_socket, offsetof(struct record, socket.congestion), SOCKET_CONGESTION},
    {&kind_socket, offsetof(struct record, socket.cc_info), SOCKET_CC_INFO},
    {&kind_socket, offsetof(struct record, socket.md5), SOCKET_MD5},
    {&kind_socket, offsetof(struct record, socket.ulp), SOCKET_ULP},
    {&kind_socket, offsetof(struct record, socket.locals), SOCKET_LOCALS},
    {&kind_socket, offsetof(struct record, socket.peers), SOCKET_PEERS},
    {&kind_socket, offsetof(struct record, socket.memory), SOCKET_DROPS},
    {&kind_socket, offsetof(struct record, socket.storages), SOCKET_STORAGES},
    {&kind_socket, offsetof(struct record, socket.rx_ring), SOCKET_RX_RING},
    {&kind_socket, offsetof(struct record, socket.tx_ring), SOCKET_TX_RING},
    {&kind_socket, offsetof(struct record, socket.filter), SOCKET_FILTER},
    {&kind_socket, offsetof(struct record, socket.umem), SOCKET_UMEM},
    {&kind_socket, offsetof(struct record, socket.fill_ring), SOCKET_FILL_RING},
    {&kind_socket, offsetof(struct record, socket.completion_ring), SOCKET_COMPLETION_RING},
    {&kind_socket, offsetof(struct record, socket.stats), SOCKET_XDP_STATS},
    {&kind_socket, offsetof(struct record, socket.groups), SOCKET_GROUPS},
    {&kind_socket, offsetof(struct record, socket.tipc), SOCKET_TIPC},
    {&kind_flow, offsetof(struct record, flow.helper), 0},
    {&kind_flow, offsetof(struct record, flow.secctx), 0},
    {&kind_expectation, offsetof(struct record, expectation.helper), 0},
    {&kind_drop, offsetof(struct record, drop.reason), 0},
    {&kind_drop, offsetof(struct record, drop.meaning), 0},
    {&kind_drop, offsetof(struct record, drop.function), DROP_FUNCTION},
    {&kind_counter, offsetof(struct record, counter.protocol), 0},
    {&kind_counter, offsetof(struct record, counter.name), 0},
    {&kind_group, offsetof(struct record, group.interface), 0},
    {&kind_route, offsetof(struct record, route.device), 0},
    {&kind_interface, offsetof(struct record, interface.name), 0},
    {&kind_interface, offsetof(struct record, interface.kind), 0},
    {&kind_interface, offsetof(struct record, interface.alias), 0},
    {&kind_qdisc, offsetof(struct record, qdisc.kind), 0},
    {&kind_summary, offsetof(struct record, summary.subject), 0},
    {&kind_summary, offsetof(struct record, summary.name), 0},
    {&kind_summary, offsetof(struct record, summary.sysctl), SUMMARY_SYSCTL},
};

typedef void check_fn(const struct kind *kind, const struct field *field);

static void each_field(check_fn *check)
{
    for (size_t i = 0; i < kinds_count; i++)
        for (size_t j = 0; j < kinds[i]->field_count; j++)
            check(kinds[i], &kinds[i]->fields[j]);
}

#define ASSERT_FIELD(condition, kind, field, words)                                                \
    if (!(condition))                                                                              \
    fail_msg("%s of %s: %s", (field)->name, (kind)->name, words)

/* --- Tables of fields ------------------------------------------------------------------------- */

static void every_kind_has_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < kinds_count; i++)
        assert_true(kinds[i]->field_count > 0);
}

/* Or else the message of --prometheus would offer nothing. */
static void every_kind_has_metrics_or_columns_to_count_by(void **state)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";

    (void)state;
    for (size_t i = 0; i < kinds_count; i++) {
        const struct kind *kind = kinds[i];
        if (!kind->metric == !kind->count_by)
            fail_msg("%s: one of metric and count_by", kind->name);
        assert_true(!kind->metric || !kind->metric[strspn(kind->metric, letters)]);
        for (const char *at = kind->count_by; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
            assert_non_null(field_find(kind, at, strcspn(at, ",")));
    }
}

static void check_name(const struct kind *kind, const struct field *field)
{
    const size_t letters = strspn(field->name, "abcdefghijklmnopqrstuvwxyz0123456789_");

    ASSERT_FIELD(letters && !field->name[letters], kind, field, "not a name");
    ASSERT_FIELD(field_find(kind, field->name, letters) == field, kind, field, "there twice");
    ASSERT_FIELD(*field->help && !strchr(field->help, '\n'), kind, field, "help is not a line");
}

static void names_of_fields_are_unique_and_help_is_a_line(void **state)
{
    (void)state;
    each_field(check_name);
}

static void check_unknown(const struct kind *kind, const struct field *field)
{
    const struct record record = {.kind = kind, .has = ~field->fields};

    if (field->fields)
        ASSERT_FIELD(field_value(field, &record, &no_names).type == VALUE_UNKNOWN, kind, field,
                     "is made up");
}

static void fields_that_nobody_filled_are_unknown(void **state)
{
    (void)state;
    each_field(check_unknown);
}

static void check_bits(const struct kind *kind, const struct field *field)
{
    ASSERT_FIELD(!((field->fields | field->optional) & KNOWN_ALWAYS), kind, field,
                 "has the bit of KNOWN_ALWAYS: a filter would be decided before it is read");
}

static void no_field_is_taken_for_one_that_is_always_known(void **state)
{
    (void)state;
    each_field(check_bits);
}

static void check_type(const struct kind *kind, const struct field *field)
{
    const struct record record = {.kind = kind, .has = UINT64_MAX};
    const struct value value = field_value(field, &record, &no_names);

    ASSERT_FIELD(value.type == field->type || value.type == VALUE_UNKNOWN, kind, field,
                 "has a value of another type");
}

static void values_are_of_the_type_of_their_field(void **state)
{
    (void)state;
    each_field(check_type);
}

static void check_words(const struct kind *kind, const struct field *field)
{
    const struct flag_names *flags = field->type == VALUE_FLAGS ? field->flags : NULL;
    const size_t count = flags ? flags->count : field->word ? 0x10000 : 0;

    for (size_t i = 0; i < count; i++) {
        const char *word = flags ? flags->names[i] : field->word(i);
        for (const char *at = word; at && *at; at++)
            ASSERT_FIELD(*at > ' ' && *at < 0x7f, kind, field, "has a word of other characters");
    }
}

/* So that tables need not measure them. */
static void words_are_visible_ascii_characters(void **state)
{
    (void)state;
    each_field(check_words);
}

/* --- Counters --------------------------------------------------------------------------------- */

static bool has_key(const struct kind *kind)
{
    for (size_t i = 0; i < kind->field_count; i++)
        if (kind->fields[i].key)
            return true;
    return false;
}

/* Of the row before, by its key or its identity; field_number() finds counters that fell. */
static void check_rate(const struct kind *kind, const struct field *field)
{
    const bool is_part = field->member == MEMBER_TEXT;
    const enum member_type type = is_part ? field->part.type : field->member;

    if (!field->counter)
        return;
    ASSERT_FIELD(type == MEMBER_UINT32 || type == MEMBER_UINT64 ||
                     (is_part && type == MEMBER_UINT16),
                 kind, field, "is no number to compare");
    ASSERT_FIELD(has_key(kind) || kind->identified, kind, field, "is in rows that nothing tells");
    ASSERT_FIELD(!field->gauge && !field->key, kind, field, "is a counter and something else");
}

static void a_rate_can_be_made_of_every_counter(void **state)
{
    (void)state;
    each_field(check_rate);
}

/* --- What a record holds ---------------------------------------------------------------------- */

static size_t member_size(const struct field *field)
{
    static const size_t sizes[] = {
        [MEMBER_NONE] = 0,
        [MEMBER_UINT8] = 1,
        [MEMBER_UINT16] = 2,
        [MEMBER_UINT32] = 4,
        [MEMBER_UINT64] = 8,
        [MEMBER_TEXT] = sizeof(struct text),
        [MEMBER_ADDRESS] = sizeof(struct address),
    };

    return sizes[field->member];
}

static void check_place(const struct kind *kind, const struct field *field)
{
    ASSERT_FIELD(field->offset + member_size(field) <= kind->size, kind, field,
                 "is not in what is kept of a record");
}

static void what_is_kept_of_a_record_covers_all_of_its_members(void **state)
{
    (void)state;
    each_field(check_place);
    for (size_t i = 0; i < COUNT(known_sizes); i++) {
        const struct kind *kind = known_sizes[i].kind;
        assert_int_equal(kind->size, known_sizes[i].size);
        for (size_t j = 0; j < kind->borrowed_count; j++)
            assert_in_range(kind->borrowed[j].offset + sizeof(struct text), 0, kind->size);
        for (size_t j = 0; j < kind->host_count; j++)
            assert_in_range(kind->hosts[j].offset + sizeof(struct address), 0, kind->size);
        assert_in_range(kind->inode + sizeof(uint64_t), 0, kind->size);
    }
}

static bool is_text(const struct kind *kind, size_t place)
{
    for (size_t i = 0; i < COUNT(texts); i++)
        if (texts[i].kind == kind && texts[i].place == place)
            return true;
    return false;
}

static void check_text(const struct kind *kind, const struct field *field)
{
    if (field->member == MEMBER_TEXT)
        ASSERT_FIELD(is_text(kind, field->offset), kind, field, "is a text that is not tested");
}

/* A row of these fields whose texts lie in the buffer is kept, then the buffer is used again. */
static struct record *kept_row(struct rows *rows, const struct kind *kind, uint64_t has)
{
    static char buffer[] = "borrowed";
    const struct text text = {buffer, sizeof buffer - 1};
    struct record record = {.kind = kind, .has = has};

    for (size_t i = 0; i < COUNT(texts); i++)
        if (texts[i].kind == kind && !(texts[i].fields & ~has))
            memcpy((char *)&record + texts[i].place, &text, sizeof text);
    memcpy(buffer, "borrowed", sizeof buffer);
    assert_int_equal(rows_add(rows, &record), 0);
    memset(buffer, '#', sizeof buffer);
    return (struct record *)(uintptr_t)row_at(rows, rows->count - 1);
}

static void every_text_of_a_row_outlives_the_buffer_that_it_lay_in(void **state)
{
    struct rows rows = {0};
    struct text text;

    (void)state;
    each_field(check_text);
    for (size_t i = 0; i < COUNT(texts); i++) {
        const struct record *record =
            kept_row(&rows, texts[i].kind, texts[i].fields ? texts[i].fields : UINT64_MAX);
        memcpy(&text, (const char *)record + texts[i].place, sizeof text);
        assert_int_equal(text.length, 8);
        assert_memory_equal(text.data, "borrowed", 8);
    }
    rows_clear(&rows);
}

/* Of a row that has nothing but what the field needs. */
static void check_kept(const struct kind *kind, const struct field *field)
{
    struct rows rows = {0};
    const struct record *record = kept_row(&rows, kind, field->fields);
    const struct value value = field_value(field, record, &no_names);

    if (value.type == VALUE_TEXT || value.type == VALUE_SOCKET_NAME)
        ASSERT_FIELD(!memchr(value.text.data, '#', value.text.length), kind, field,
                     "is a text that is not kept");
    rows_clear(&rows);
}

static void a_text_is_kept_whenever_its_field_is_filled(void **state)
{
    (void)state;
    each_field(check_kept);
}

static void the_addresses_of_an_interface_are_kept_with_it(void **state)
{
    struct interface_address addresses[2] = {{.local.prefix = 24}, {.local.prefix = 64}};
    struct record record = {.kind = &kind_interface,
                            .interface = {.addresses = addresses, .address_count = 2}};
    struct rows rows = {0};

    (void)state;
    assert_int_equal(rows_add(&rows, &record), 0);
    memset(addresses, 0, sizeof addresses);
    assert_int_equal(row_at(&rows, 0)->interface.addresses[0].local.prefix, 24);
    assert_int_equal(row_at(&rows, 0)->interface.addresses[1].local.prefix, 64);
    rows_clear(&rows);
}

/* --- What is looked up for a record ----------------------------------------------------------- */

/* A name is looked up of the addresses that the kind names, when their fields are filled. */
static bool is_looked_up(const struct kind *kind, const struct field *field)
{
    for (size_t i = 0; i < kind->host_count; i++)
        if (kind->hosts[i].offset == field->offset && !(kind->hosts[i].fields & ~field->fields))
            return true;
    return false;
}

static void check_lookups(const struct kind *kind, const struct field *field)
{
    if (field->lookups & NEED_HOSTS)
        ASSERT_FIELD(is_looked_up(kind, field), kind, field,
                     "has an address that is not asked for");
    if (field->lookups & (NEED_OWNERS | NEED_COMMANDS))
        ASSERT_FIELD(kind->inode, kind, field, "has no inode to find owners by");
}

static void what_a_field_looks_up_is_found_by_its_kind(void **state)
{
    (void)state;
    each_field(check_lookups);
    assert_int_equal(kind_socket.inode, offsetof(struct record, socket.inode));
}

/* Whose name is a column would never be meant by it. */
static void groups_of_columns_have_names_of_their_own_and_members(void **state)
{
    (void)state;
    for (size_t i = 0; i < kinds_count; i++) {
        const struct kind *kind = kinds[i];
        assert_true(kind->field_count <= LISTING_COLUMNS_MAX);
        assert_null(field_named(kind, "all"));
        for (size_t k = 0; k < kind->group_count; k++) {
            const struct field_group *group = &kind->groups[k];
            size_t members = 0;
            for (size_t j = 0; j < kind->field_count; j++)
                members += field_group(kind, &kind->fields[j]) == group;
            assert_null(field_named(kind, group->name));
            assert_true(members > 1);
        }
    }
}

static uint64_t bytes_in_a_second(uint64_t bytes, uint64_t elapsed)
{
    struct record record;

    record_begin(&record, &kind_traffic, sizeof record.traffic);
    record.traffic.bytes = bytes;
    record.traffic.elapsed = elapsed;
    const struct value rate =
        field_value(field_named(&kind_traffic, "bytes_per_second"), &record, NULL);
    assert_int_equal(rate.type, VALUE_DECIMAL);
    return rate.number;
}

/* Thousandths; also where bytes * 10^12 are more than a number can be. */
static void rates_are_right_for_any_number_of_bytes(void **state)
{
    enum { SECOND = 1000000000 };

    (void)state;
    assert_true(bytes_in_a_second(18000000, UINT64_C(2) * SECOND) == UINT64_C(9000000000));
    assert_true(bytes_in_a_second(20000000, UINT64_C(2) * SECOND) == UINT64_C(10000000000));
    assert_true(bytes_in_a_second(20021120, UINT64_C(2001000000)) == UINT64_C(10005557221));
    assert_true(bytes_in_a_second(UINT64_C(1) << 50, UINT64_C(10) * SECOND) ==
                (UINT64_C(1) << 50) * 100);
    assert_true(bytes_in_a_second(UINT64_MAX, 1) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_fields),
        cmocka_unit_test(every_kind_has_metrics_or_columns_to_count_by),
        cmocka_unit_test(names_of_fields_are_unique_and_help_is_a_line),
        cmocka_unit_test(fields_that_nobody_filled_are_unknown),
        cmocka_unit_test(no_field_is_taken_for_one_that_is_always_known),
        cmocka_unit_test(values_are_of_the_type_of_their_field),
        cmocka_unit_test(words_are_visible_ascii_characters),
        cmocka_unit_test(rates_are_right_for_any_number_of_bytes),
        cmocka_unit_test(a_rate_can_be_made_of_every_counter),
        cmocka_unit_test(what_is_kept_of_a_record_covers_all_of_its_members),
        cmocka_unit_test(every_text_of_a_row_outlives_the_buffer_that_it_lay_in),
        cmocka_unit_test(a_text_is_kept_whenever_its_field_is_filled),
        cmocka_unit_test(the_addresses_of_an_interface_are_kept_with_it),
        cmocka_unit_test(what_a_field_looks_up_is_found_by_its_kind),
        cmocka_unit_test(groups_of_columns_have_names_of_their_own_and_members),
    };

    return cmocka_run_group_tests_name("kinds", tests, gather_kinds, NULL);
}
