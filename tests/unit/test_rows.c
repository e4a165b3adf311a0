/* Rows that are kept: what they borrow outlives the buffer that it was borrowed from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/rows.h"
#include "fastnet/field.h"
#include "fastnet/lookup.h"

enum { MANY = 3000 };

static void assert_is(const struct text *text, const char *expected)
{
    assert_int_equal(text->length, strlen(expected));
    assert_memory_equal(text->data, expected, strlen(expected));
}

/* The buffer that texts were borrowed from is used again. */
static void overwrite(char *buffer, size_t size)
{
    memset(buffer, '!', size);
}

static void texts_of_a_flow_are_its_own(void **state)
{
    char helper[] = "ftp", secctx[] = "unlabeled_t";
    const struct record record = {.kind = &kind_flow,
                                  .has = FLOW_HELPER | FLOW_SECCTX | FLOW_MARK,
                                  .identity = 7,
                                  .flow = {.mark = 5,
                                           .helper = {helper, strlen(helper)},
                                           .secctx = {secctx, strlen(secctx)}}};
    struct rows rows = {0};

    (void)state;
    assert_int_equal(rows_add(&rows, &record), 0);
    overwrite(helper, sizeof helper);
    overwrite(secctx, sizeof secctx);
    const struct record *kept = rows.records[0];
    assert_is(&kept->flow.helper, "ftp");
    assert_is(&kept->flow.secctx, "unlabeled_t");
    assert_int_equal(kept->flow.mark, 5);
    assert_true(kept->has == record.has && kept->identity == 7);
    rows_clear(&rows);
}

static void one_text_of_a_flow_may_be_without_the_other(void **state)
{
    char text[] = "sip";
    struct record record = {.kind = &kind_flow, .has = FLOW_SECCTX};
    struct rows rows = {0};

    (void)state;
    record.flow.secctx = (struct text){text, 3};
    record.flow.helper = (struct text){(const char *)16, 4711}; /* not there: never looked at */
    assert_int_equal(rows_add(&rows, &record), 0);
    record.has = FLOW_HELPER;
    record.flow.helper = (struct text){text, 3};
    record.flow.secctx = (struct text){(const char *)16, 4711};
    assert_int_equal(rows_add(&rows, &record), 0);
    record.flow.helper = (struct text){(const char *)16, 0}; /* empty */
    assert_int_equal(rows_add(&rows, &record), 0);
    overwrite(text, sizeof text);
    assert_is(&rows.records[0]->flow.secctx, "sip");
    assert_is(&rows.records[1]->flow.helper, "sip");
    assert_int_equal(rows.records[2]->flow.helper.length, 0);
    rows_clear(&rows);
}

static void the_helper_of_an_expectation_is_its_own(void **state)
{
    char helper[] = "sip-5060";
    const struct record record = {.kind = &kind_expectation,
                                  .has = FLOW_HELPER,
                                  .expectation = {.class = 3, .helper = {helper, 8}}};
    struct rows rows = {0};

    (void)state;
    assert_int_equal(rows_add(&rows, &record), 0);
    overwrite(helper, sizeof helper);
    assert_is(&rows.records[0]->expectation.helper, "sip-5060");
    assert_int_equal(rows.records[0]->expectation.class, 3);
    rows_clear(&rows);
}

static void counters_of_processors_are_kept_whole(void **state)
{
    struct record record = {.kind = &kind_flow_statistics, .has = 1};
    struct rows rows = {0};

    (void)state;
    record.statistics.counters[FLOW_COUNTERS - 1] = 4711;
    assert_int_equal(rows_add(&rows, &record), 0);
    record = (struct record){.kind = &kind_flow_usage, .has = USAGE_DROPS};
    record.usage.early_drop = 4712;
    assert_int_equal(rows_add(&rows, &record), 0);
    assert_int_equal(rows.records[0]->statistics.counters[FLOW_COUNTERS - 1], 4711);
    assert_int_equal(rows.records[1]->usage.early_drop, 4712);
    rows_clear(&rows);
}

static void many_rows_keep_their_texts_while_they_are_sorted(void **state)
{
    const struct listing listing = {.sort = {{field_find(&kind_flow, "mark", 4), false}}};
    static const struct context no_names;
    struct record record = {.kind = &kind_flow, .has = FLOW_HELPER | FLOW_MARK};
    struct rows rows = {0};
    char helper[16];

    (void)state;
    assert_non_null(listing.sort->field);
    for (uint32_t i = 0; i < MANY; i++) {
        const uint32_t mark = i * 7919 % MANY; /* a prime: each once */
        memset(helper, 'a' + (int)(mark % 26), sizeof helper);
        record.flow.mark = mark;
        record.flow.helper = (struct text){helper, mark % 16};
        assert_int_equal(rows_add(&rows, &record), 0);
    }
    assert_int_equal(rows_sort(&rows, &listing, &no_names, NULL), 0);
    assert_int_equal(rows.count, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        const struct flow_record *flow = &rows.records[i]->flow;
        assert_int_equal(flow->mark, i);
        assert_int_equal(flow->helper.length, i % 16);
        for (size_t n = 0; n < flow->helper.length; n++)
            assert_int_equal(flow->helper.data[n], 'a' + (int)(i % 26));
    }
    rows_clear(&rows);
    assert_int_equal(rows.count, 0);
}

static void a_row_says_in_which_namespace_it_was_read(void **state)
{
    const struct record record = {.kind = &kind_flow, .visit = 5};
    struct rows rows = {.visit = 3}, others = {.visit = 0};

    (void)state;
    assert_int_equal(rows_add(&rows, &record), 0);
    assert_int_equal(rows.records[0]->visit, 3);
    assert_int_equal(rows_add(&others, rows.records[0]), 0);
    assert_int_equal(others.records[0]->visit, 3);
    rows_clear(&rows);
    rows_clear(&others);
}

/* One index has a name in each namespace. */
static struct interfaces *interface_named(const char *name)
{
    struct interfaces *interfaces = interfaces_create();

    assert_non_null(interfaces);
    assert_int_equal(interfaces_add(interfaces, &(struct interface){.index = 7, .name = name}), 0);
    return interfaces;
}

static void assert_order(bool descending, const uint64_t *visits)
{
    const struct listing listing = {
        .sort = {{field_find(&kind_neighbour, "interface", 9), descending}}};
    const struct here seen[] = {{.interfaces = interface_named("mid")},
                                {.interfaces = interface_named("zulu")},
                                {.interfaces = interface_named("alpha")}};
    static const struct context no_names;
    struct record record = {.kind = &kind_neighbour, .has = NEIGHBOUR_INTERFACE};
    struct rows rows = {0};

    assert_non_null(listing.sort->field);
    record.neighbour.interface = 7;
    for (record.visit = 0; record.visit < 3; record.visit++)
        assert_int_equal(rows_add(&rows, &record), 0);
    assert_int_equal(rows_sort(&rows, &listing, &no_names, seen), 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(rows.records[i]->visit, visits[i]);
        interfaces_destroy(seen[i].interfaces);
    }
    rows_clear(&rows);
}

static void interfaces_of_several_namespaces_are_sorted_by_their_names(void **state)
{
    (void)state;
    assert_order(false, (const uint64_t[]){2, 0, 1});
    assert_order(true, (const uint64_t[]){1, 0, 2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_a_flow_are_its_own),
        cmocka_unit_test(one_text_of_a_flow_may_be_without_the_other),
        cmocka_unit_test(the_helper_of_an_expectation_is_its_own),
        cmocka_unit_test(counters_of_processors_are_kept_whole),
        cmocka_unit_test(many_rows_keep_their_texts_while_they_are_sorted),
        cmocka_unit_test(a_row_says_in_which_namespace_it_was_read),
        cmocka_unit_test(interfaces_of_several_namespaces_are_sorted_by_their_names),
    };

    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
