/* SPDX-License-Identifier: MIT */
/* Rows that are kept: what they borrow outlives the buffer that it was borrowed from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "engine/rows.h"
#include "fastnet/field.h"
#include "fastnet/hosts.h"
#include "fastnet/interfaces.h"
#include "fastnet/kernel_info.h"
#include "kept_rows.h"
#include "kit.h"

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
    const struct record *kept = row_at(&rows, 0);
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
    assert_is(&row_at(&rows, 0)->flow.secctx, "sip");
    assert_is(&row_at(&rows, 1)->flow.helper, "sip");
    assert_int_equal(row_at(&rows, 2)->flow.helper.length, 0);
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
    assert_is(&row_at(&rows, 0)->expectation.helper, "sip-5060");
    assert_int_equal(row_at(&rows, 0)->expectation.class, 3);
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
    assert_int_equal(row_at(&rows, 0)->statistics.counters[FLOW_COUNTERS - 1], 4711);
    assert_int_equal(row_at(&rows, 1)->usage.early_drop, 4712);
    rows_clear(&rows);
}

static void many_rows_keep_their_texts_while_they_are_sorted(void **state)
{
    const struct listing listing = {.sort = {{field_find(&kind_flow, "mark", 4), false}}};
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
        const struct flow_record *flow = &row_at(&rows, i)->flow;
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
    const struct record record = {.kind = &kind_flow, .netns_index = 5};
    struct rows rows = {.netns_index = 3}, others = {.netns_index = 0};

    (void)state;
    assert_int_equal(rows_add(&rows, &record), 0);
    assert_int_equal(row_at(&rows, 0)->netns_index, 3);
    assert_int_equal(rows_add(&others, row_at(&rows, 0)), 0);
    assert_int_equal(row_at(&others, 0)->netns_index, 3);
    rows_clear(&rows);
    rows_clear(&others);
}

/* One index has a name in each namespace. */
static void assert_order(bool descending, const uint64_t *netns_walk)
{
    const struct listing listing = {
        .sort = {{field_find(&kind_neighbour, "interface", 9), descending}}};
    const struct netns_lookups seen[] = {{.interfaces = one_interface("mid")},
                                         {.interfaces = one_interface("zulu")},
                                         {.interfaces = one_interface("alpha")}};
    struct record record = {.kind = &kind_neighbour, .has = NEIGHBOUR_INTERFACE};
    struct rows rows = {0};

    assert_non_null(listing.sort->field);
    record.neighbour.interface = 7;
    for (record.netns_index = 0; record.netns_index < 3; record.netns_index++)
        assert_int_equal(rows_add(&rows, &record), 0);
    assert_int_equal(rows_sort(&rows, &listing, &no_names, seen), 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(row_at(&rows, i)->netns_index, netns_walk[i]);
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

/* There are more combinations of fields than bases (rows.c), and of two kinds. */
static void rows_with_any_fields_and_of_several_kinds_keep_their_values(void **state)
{
    struct rows rows = {0};
    char path[] = "/run/a";

    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        struct record record = {.kind = &kind_socket, .has = SOCKET_UID | i << 20, .identity = i};
        if (i % 2)
            record.has = SOCKET_PATH | (uint64_t)i << 55;
        record.socket.uid = i;
        record.socket.path = (struct text){i % 2 ? path : NULL, i % 2 ? 6 : 0};
        if (i % 3 == 0)
            record = (struct record){.kind = &kind_flow, .has = i, .flow = {.mark = i}};
        assert_int_equal(rows_add(&rows, &record), 0);
    }
    overwrite(path, sizeof path);
    for (uint32_t i = 0; i < 200; i++) {
        const struct record *record = row_at(&rows, i);
        assert_ptr_equal(record->kind, i % 3 ? &kind_socket : &kind_flow);
        assert_int_equal(i % 3 ? record->socket.uid : record->flow.mark, i);
        if (i % 3 && i % 2)
            assert_is(&record->socket.path, "/run/a");
    }
    rows_clear(&rows);
}

static void a_row_keeps_the_row_before_it(void **state)
{
    char name[] = "eth0";
    struct record before = {.kind = &kind_interface,
                            .has = INTERFACE_COUNTERS,
                            .interface = {.name = {name, 4}, .counters = {7, 8}}};
    struct record record = before;
    struct rows rows = {0};

    (void)state;
    record.interface.counters[1] = 80;
    assert_int_equal(rows_add(&rows, &record), 0);
    record = before;
    record.before = &before;
    record.elapsed = 9;
    record.interface.counters[0] = 70;
    assert_int_equal(rows_add(&rows, &record), 0);
    overwrite(name, sizeof name);
    memset(&before, '!', sizeof before);
    assert_null(row_at(&rows, 0)->before);
    const struct record *kept = row_at(&rows, 1);
    assert_int_equal(kept->elapsed, 9);
    assert_int_equal(kept->interface.counters[0], 70);
    assert_int_equal(kept->before->interface.counters[0], 7);
    assert_int_equal(kept->before->interface.counters[1], 8);
    assert_is(&kept->interface.name, "eth0");
    assert_is(&kept->before->interface.name, "eth0");
    rows_clear(&rows);
}

/* Listeners come first, and have other fields than the connections that follow. */
static void a_connection_takes_few_bytes(void **state)
{
    struct record record = {.kind = &kind_socket, .has = SOCKET_ADDRESSES | SOCKET_BACKLOG};
    struct rows rows = {0};

    (void)state;
    record.socket.backlog = 4096;
    record.socket.local = (struct endpoint){{AF_INET, {127, 0, 0, 1}}, 22};
    assert_int_equal(rows_add(&rows, &record), 0);
    record.has = SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_UID | SOCKET_INODE | SOCKET_QUEUES;
    record.socket = (struct socket_record){.family = AF_INET, .state = 1, .protocol = 6};
    for (unsigned i = 0; i < 100; i++) {
        record.identity = 1000 + i;
        record.socket.inode = 5000 + i;
        record.socket.local = (struct endpoint){{AF_INET, {192, 0, 2, (uint8_t)i}}, 443};
        record.socket.remote =
            (struct endpoint){{AF_INET, {198, 51, (uint8_t)i, 1}}, (uint16_t)(9000 + i)};
        assert_int_equal(rows_add(&rows, &record), 0);
    }
    assert_in_range(rows.packed[100] - rows.packed[2], 98, 98 * (56 / sizeof(uint64_t)));
    rows_clear(&rows);
}

/* --- Parts of the kernel's structs ------------------------------------------------------------ */

enum { PARTED = sizeof(struct kernel_tcp_info) };

/* A connection of which the kernel sent tcp_info and memory, both of any bytes. */
static struct record connection(char *bytes, unsigned seed)
{
    struct record record = {.kind = &kind_socket, .has = UINT64_MAX};

    srand(seed);
    for (size_t i = 0; i < PARTED; i++)
        bytes[i] = (char)(seed == 1 ? 0x7f : rand() % 3 ? rand() : 0);
    record.has &= ~(SOCKET_MPTCP_INFO | SOCKET_SCTP_INFO | SOCKET_TIMER | SOCKET_RETRANSMITS);
    record.socket = (struct socket_record){.state = 1, .send_q = 5, .recv_q = 7};
    record.socket.info = (struct text){bytes, PARTED - seed % 3};
    record.socket.memory = (struct text){bytes + seed, 9 * sizeof(uint32_t)};
    return record;
}

static void assert_same(const struct field *field, const struct record *a, const struct record *b)
{
    const struct value x = field_value(field, a, &no_names), y = field_value(field, b, &no_names);
    char text[256];

    snprintf(text, sizeof text, "%s: %s", field->name, text_of_value(&x));
    const size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "\n%s: %s", field->name, text_of_value(&y));
    text[length] = '\0';
    assert_string_equal(text, text + length + 1);
}

/* Of tcp_info and memory a row keeps what its columns read; so they must name all that they read.
 */
static void a_column_names_all_parts_that_it_reads(void **state)
{
    char bytes[PARTED];

    (void)state;
    for (size_t i = 0; i < kind_socket.field_count; i++) {
        const struct field *field = &kind_socket.fields[i];
        const uint64_t reads = field->fields | field->optional;
        if (!(reads & (SOCKET_TCP_INFO | SOCKET_TCP_BASICS | SOCKET_MEMORY | SOCKET_DROPS)))
            continue;
        for (unsigned seed = 0; seed < 20; seed++) {
            struct record record = connection(bytes, seed);
            struct rows rows = {.unused = ~field->parts};
            record.has &= reads | SOCKET_STATE;
            assert_int_equal(rows_add(&rows, &record), 0);
            assert_same(field, &record, row_at(&rows, 0));
            rows_clear(&rows);
        }
    }
}

static void parts_that_nobody_needs_are_not_kept(void **state)
{
    const struct field *rtt = field_named(&kind_socket, "rtt");
    struct rows rows = {.unused = ~rtt->parts}, all = {.unused = 0};
    char bytes[PARTED];
    struct record record = connection(bytes, 1), before = record;

    (void)state;
    record.has = before.has = SOCKET_TCP_INFO | SOCKET_TCP_BASICS | SOCKET_MEMORY | SOCKET_DROPS;
    record.before = &before;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rows_add(&rows, &record), 0);
        assert_int_equal(rows_add(&all, &record), 0);
    }
    assert_in_range(rows.packed[1] - rows.packed[0], 1, 10);
    assert_in_range(all.packed[1] - all.packed[0], PARTED / sizeof(uint32_t), 100);
    const struct record *kept = row_at(&rows, 1), *whole = row_at(&all, 1);
    assert_same(rtt, &record, kept);
    assert_same(rtt, &before, kept->before);
    assert_int_equal(kept->socket.info.length, record.socket.info.length);
    assert_memory_equal(whole->socket.info.data, bytes, whole->socket.info.length);
    assert_memory_equal(whole->before->socket.info.data, bytes, whole->socket.info.length);
    rows_clear(&rows);
    rows_clear(&all);
}

/* Room for what is read is made for two of a row (struct kept_row). */
static void a_kind_has_at_most_two_structs_in_parts(void **state)
{
    static const struct kind *const kinds[] = {&kind_socket, &kind_flow, &kind_interface,
                                               &kind_route, &kind_finding};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t parted = 0;
        for (size_t j = 0; j < kinds[i]->borrowed_count; j++)
            parted += kinds[i]->borrowed[j].parted;
        assert_in_range(parted, 0, 2);
    }
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
        cmocka_unit_test(rows_with_any_fields_and_of_several_kinds_keep_their_values),
        cmocka_unit_test(a_row_keeps_the_row_before_it),
        cmocka_unit_test(a_connection_takes_few_bytes),
        cmocka_unit_test(a_column_names_all_parts_that_it_reads),
        cmocka_unit_test(parts_that_nobody_needs_are_not_kept),
        cmocka_unit_test(a_kind_has_at_most_two_structs_in_parts),
    };

    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
