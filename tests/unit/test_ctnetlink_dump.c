/* SPDX-License-Identifier: MIT */
/* Dumps of flows by ctnetlink: filtered by the kernel, and while the table is resized. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "ct_line.h"
#include "ct_scene.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* --- Filters in the kernel -------------------------------------------------------------------- */

static void filter_by_mark(struct ct_scene *scene)
{
    scene->query.where = ct_where("-m 1/255");
}

static void the_kernel_is_asked_to_leave_out_what_it_can(void **state)
{
    struct ct_scene *scene = *state;

    filter_by_mark(scene);
    ct_send_done(scene, 1, 0);
    assert_int_equal(ct_list(scene, &table_flows), 0);
    assert_int_equal(scene->peer.request_count, 1);
    assert_non_null(ct_find(ct_request(&scene->peer, 0), CTA_MARK));
}

/* Elsewhere the kernel does not filter, and zeroes the counters of what it leaves out. */
static void other_tables_are_not_filtered(void **state)
{
    static const struct table *const tables[] = {&table_flows_zeroed, &table_flows_dying,
                                                 &table_flows_unconfirmed, &table_expectations,
                                                 &table_flow_statistics};
    struct ct_scene *scene = *state;

    filter_by_mark(scene);
    for (size_t i = 0; i < COUNT(tables); i++) {
        scene->peer.request_count = 0;
        ct_list(scene, tables[i]);
        assert_null(ct_find(ct_request(&scene->peer, 0), CTA_MARK));
    }
}

/* An answer in the kernel's words. */
static void refuse_with_words(struct ct_scene *scene, uint32_t sequence, int error)
{
    const struct nlmsgerr body = {.error = error, .msg = {.nlmsg_len = 64}};

    wire_message(&scene->wire, NLMSG_ERROR, NLM_F_ACK_TLVS | NLM_F_CAPPED, sequence);
    wire_put(&scene->wire, &body, sizeof body);
    wire_attribute(&scene->wire, NLMSGERR_ATTR_MSG, "no such filter", 15);
    ct_send(scene);
}

static void a_filter_that_this_kernel_refuses_is_left_out(void **state)
{
    static const int refusals[] = {-EINVAL, -EOPNOTSUPP, -ERANGE, -EAFNOSUPPORT};
    struct ct_scene *scene = *state;

    filter_by_mark(scene);
    for (uint32_t i = 0; i < COUNT(refusals); i++) {
        scene->peer.request_count = 0;
        refuse_with_words(scene, 2 * i + 1, refusals[i]);
        ct_flow(&scene->wire, 2 * i + 2, AF_INET, 1000, 1);
        ct_send_done(scene, 2 * i + 2, 0);
        assert_int_equal(ct_list(scene, &table_flows), 0);
        assert_int_equal(scene->count, 1);
        assert_int_equal(scene->peer.request_count, 2);
        assert_null(ct_find(ct_request(&scene->peer, 1), CTA_MARK));
        assert_int_equal(ct_request(&scene->peer, 1)->nlmsg_len,
                         NLMSG_LENGTH(sizeof(struct nfgenmsg)));
    }
    assert_int_equal(scene->report.count, 0);
}

static void words_that_were_told_before_stay(void **state)
{
    struct ct_scene *scene = *state;

    filter_by_mark(scene);
    report_note(&scene->report, "before");
    refuse_with_words(scene, 1, -EINVAL);
    ct_send_done(scene, 2, 0);
    assert_int_equal(ct_list(scene, &table_flows), 0);
    assert_int_equal(scene->report.count, 1);
    assert_true(report_says(&scene->report, "before"));
}

static void a_refusal_without_a_filter_is_final_and_told(void **state)
{
    struct ct_scene *scene = *state;

    refuse_with_words(scene, 1, -EINVAL);
    ct_send_done(scene, 2, 0);
    assert_int_equal(ct_list(scene, &table_flows), -EINVAL);
    assert_int_equal(scene->peer.request_count, 1);
    assert_true(report_says(&scene->report, "no such filter"));
}

static void another_error_is_no_matter_of_the_filter(void **state)
{
    struct ct_scene *scene = *state;

    filter_by_mark(scene);
    refuse_with_words(scene, 1, -EPERM);
    assert_int_equal(ct_list(scene, &table_flows), -EPERM);
    assert_int_equal(scene->peer.request_count, 1);
}

static void after_the_first_row_a_filter_is_not_left_out(void **state)
{
    struct ct_scene *scene = *state;

    filter_by_mark(scene);
    ct_flow(&scene->wire, 1, AF_INET, 1000, 1);
    ct_send_done(scene, 1, -EINVAL);
    assert_int_equal(ct_list(scene, &table_flows), -EINVAL);
    assert_int_equal(scene->peer.request_count, 1);
    assert_int_equal(scene->count, 1);
}

static void filter_by_port(struct ct_scene *scene)
{
    scene->query.where = ct_where("-p tcp --dport 443");
}

static void one_family_after_the_other_is_asked_for_ports(void **state)
{
    struct ct_scene *scene = *state;

    filter_by_port(scene);
    ct_flow(&scene->wire, 1, AF_INET, 1000, 1);
    ct_send_done(scene, 1, 0);
    ct_flow(&scene->wire, 2, AF_INET6, 1001, 2);
    ct_send_done(scene, 2, 0);
    assert_int_equal(ct_list(scene, &table_flows), 0);
    assert_int_equal(scene->count, 2);
    assert_int_equal(scene->peer.request_count, 2);
    assert_int_equal(ct_family(ct_request(&scene->peer, 0)), AF_INET);
    assert_int_equal(ct_family(ct_request(&scene->peer, 1)), AF_INET6);
    for (size_t i = 0; i < 2; i++)
        assert_non_null(ct_find(ct_request(&scene->peer, i), CTA_FILTER));
}

static void one_family_is_asked_for_ports_where_it_is_named(void **state)
{
    struct ct_scene *scene = *state;

    scene->query.where = ct_where("-p tcp --dport 443 -f ipv4");
    ct_send_done(scene, 1, 0);
    assert_int_equal(ct_list(scene, &table_flows), 0);
    assert_int_equal(scene->peer.request_count, 1);
    assert_int_equal(ct_family(ct_request(&scene->peer, 0)), AF_INET);
}

static void a_filter_may_be_refused_for_the_second_family_only(void **state)
{
    struct ct_scene *scene = *state;

    filter_by_port(scene);
    ct_flow(&scene->wire, 1, AF_INET, 1000, 1);
    ct_send_done(scene, 1, 0);
    ct_send_error(scene, 2, -EOPNOTSUPP);
    ct_flow(&scene->wire, 3, AF_INET6, 1001, 2);
    ct_send_done(scene, 3, 0);
    assert_int_equal(ct_list(scene, &table_flows), 0);
    assert_int_equal(scene->count, 2);
    assert_int_equal(scene->peer.request_count, 3);
    assert_int_equal(ct_family(ct_request(&scene->peer, 2)), AF_INET6);
    assert_null(ct_find(ct_request(&scene->peer, 2), CTA_FILTER));
}

static void an_error_of_the_first_family_ends_both(void **state)
{
    struct ct_scene *scene = *state;

    filter_by_port(scene);
    ct_send_done(scene, 1, -EIO);
    assert_int_equal(ct_list(scene, &table_flows), -EIO);
    assert_int_equal(scene->peer.request_count, 1);
}

/* --- A table that is resized meanwhile -------------------------------------------------------- */

static const char resized[] = "the table was resized while it was read";

/* Each request is answered by a flow, or by none, and one datagram. */
static void answer_each(struct ct_scene *scene, bool flows)
{
    scene->peer.replays = true;
    if (flows)
        ct_flow(&scene->wire, 1, AF_INET, 1000, 1);
    ct_send_done(scene, 1, 0);
    ct_put_buckets(scene, "1024\n");
}

static void a_table_that_stays_is_read_once(void **state)
{
    struct ct_scene *scene = *state;

    answer_each(scene, true);
    assert_int_equal(ct_list(scene, &table_flows), 0);
    assert_int_equal(scene->peer.request_count, 1);
    assert_false(scene->report.partial);
}

static void a_table_whose_size_nobody_knows_is_read_once(void **state)
{
    struct ct_scene *scene = *state;

    ct_send_done(scene, 1, 0);
    assert_int_equal(ct_list(scene, &table_flows), 0);
    assert_int_equal(scene->peer.request_count, 1);
    assert_int_equal(scene->report.count, 0);
}

static void a_resized_table_is_read_again_while_nothing_was_handed_on(void **state)
{
    static const char *const after[] = {"2048\n", NULL};
    struct ct_scene *scene = *state;

    answer_each(scene, false);
    scene->after = after;
    assert_int_equal(ct_list(scene, &table_flows), 0);
    assert_int_equal(scene->peer.request_count, 2);
    assert_int_equal(scene->report.count, 0);
}

static void a_resized_table_is_read_again_where_repeats_are_dropped(void **state)
{
    static const char *const after[] = {"2048\n", "4096\n", NULL};
    struct ct_scene *scene = *state;

    answer_each(scene, true);
    scene->query.repeatable = true;
    scene->after = after;
    assert_int_equal(ct_list(scene, &table_flows), 0);
    assert_int_equal(scene->peer.request_count, 3);
    assert_int_equal(scene->count, 3);
    assert_int_equal(scene->report.count, 0);
    assert_false(scene->report.partial);
}

static void a_resize_behind_the_first_row_is_told_as_a_loss(void **state)
{
    static const char *const after[] = {"2048\n", NULL};
    struct ct_scene *scene = *state;

    answer_each(scene, true);
    scene->after = after;
    assert_int_equal(ct_list(scene, &table_flows), 0);
    assert_int_equal(scene->peer.request_count, 1);
    assert_true(report_says(&scene->report, resized));
    assert_true(scene->report.partial);
}

static void a_table_that_is_resized_for_ever_is_listed_in_the_end(void **state)
{
    static const char *const after[] = {"1\n", "2\n", "3\n", "4\n", "5\n",
                                        "6\n", "7\n", "8\n", "9\n", NULL};
    struct ct_scene *scene = *state;

    answer_each(scene, true);
    scene->query.repeatable = true;
    scene->after = after;
    assert_int_equal(ct_list(scene, &table_flows), 0);
    assert_int_equal(scene->peer.request_count, 5);
    assert_true(report_says(&scene->report, resized));
    assert_true(scene->report.partial);
}

static void a_failing_dump_of_a_resized_table_just_fails(void **state)
{
    static const char *const after[] = {"2048\n", NULL};
    struct ct_scene *scene = *state;

    ct_put_buckets(scene, "1024\n");
    ct_send_done(scene, 1, -EIO);
    scene->after = after;
    assert_int_equal(ct_list(scene, &table_flows), -EIO);
    assert_int_equal(scene->peer.request_count, 1);
    assert_int_equal(scene->report.count, 0);
}

/* A second reading would show the zeroes that the first one left. */
static void a_table_that_is_zeroed_is_read_once_whatever_becomes_of_it(void **state)
{
    static const char *const after[] = {"2048\n", NULL};
    struct ct_scene *scene = *state;

    answer_each(scene, false);
    scene->query.repeatable = true;
    scene->after = after;
    assert_int_equal(ct_list(scene, &table_flows_zeroed), 0);
    assert_int_equal(scene->peer.request_count, 1);
    assert_true(report_says(&scene->report, resized));
    assert_true(scene->report.partial);
}

static void other_tables_are_never_read_again(void **state)
{
    static const char *const after[] = {"2048\n", NULL};
    static const struct table *const tables[] = {&table_flows_dying, &table_flows_unconfirmed};
    struct ct_scene *scene = *state;

    for (size_t i = 0; i < COUNT(tables); i++) {
        peer_finish(&scene->peer);
        answer_each(scene, false);
        scene->peer.request_count = 0;
        scene->after = after;
        assert_int_equal(ct_list(scene, tables[i]), 0);
        assert_int_equal(scene->peer.request_count, 1);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, ct_scene_make, ct_scene_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_kernel_is_asked_to_leave_out_what_it_can),
        TEST(other_tables_are_not_filtered),
        TEST(a_filter_that_this_kernel_refuses_is_left_out),
        TEST(words_that_were_told_before_stay),
        TEST(a_refusal_without_a_filter_is_final_and_told),
        TEST(another_error_is_no_matter_of_the_filter),
        TEST(after_the_first_row_a_filter_is_not_left_out),
        TEST(one_family_after_the_other_is_asked_for_ports),
        TEST(one_family_is_asked_for_ports_where_it_is_named),
        TEST(a_filter_may_be_refused_for_the_second_family_only),
        TEST(an_error_of_the_first_family_ends_both),
        TEST(a_table_that_stays_is_read_once),
        TEST(a_table_whose_size_nobody_knows_is_read_once),
        TEST(a_resized_table_is_read_again_while_nothing_was_handed_on),
        TEST(a_resized_table_is_read_again_where_repeats_are_dropped),
        TEST(a_resize_behind_the_first_row_is_told_as_a_loss),
        TEST(a_table_that_is_resized_for_ever_is_listed_in_the_end),
        TEST(a_failing_dump_of_a_resized_table_just_fails),
        TEST(a_table_that_is_zeroed_is_read_once_whatever_becomes_of_it),
        TEST(other_tables_are_never_read_again),
    };

    return cmocka_run_group_tests_name("ctnetlink_dump", tests, NULL, NULL);
}
