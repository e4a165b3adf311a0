/* SPDX-License-Identifier: MIT */
/* Dumps of flows by ctnetlink: filtered by the kernel, and while the table is resized. */
#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "ct_line.h"
#include "ct_messages.h"
#include "kit.h"

/* --- Filters in the kernel -------------------------------------------------------------------- */

static void filter_by_mark(struct stage *stage)
{
    stage->query.where = ct_where("-m 1/255");
}

static void the_kernel_filters_flows_if_it_can(void **state)
{
    struct stage *stage = *state;

    filter_by_mark(stage);
    stage_send_done(stage, 1, 0);
    assert_int_equal(ct_list(stage, &table_flows), 0);
    assert_int_equal(stage->peer.request_count, 1);
    assert_non_null(ct_find(ct_request(&stage->peer, 0), CTA_MARK));
}

/* Elsewhere the kernel does not filter, and zeroes the counters of what it leaves out. */
static void other_tables_are_not_filtered(void **state)
{
    static const struct table *const tables[] = {&table_flows_zeroed, &table_flows_dying,
                                                 &table_flows_unconfirmed, &table_expectations,
                                                 &table_flow_statistics};
    struct stage *stage = *state;

    filter_by_mark(stage);
    for (size_t i = 0; i < COUNT(tables); i++) {
        stage->peer.request_count = 0;
        ct_list(stage, tables[i]);
        assert_null(ct_find(ct_request(&stage->peer, 0), CTA_MARK));
    }
}

/* An answer in the kernel's words. */
static void refuse_with_words(struct stage *stage, uint32_t sequence, int error)
{
    const struct nlmsgerr body = {.error = error, .msg = {.nlmsg_len = 64}};

    wire_message(&stage->wire, NLMSG_ERROR, NLM_F_ACK_TLVS | NLM_F_CAPPED, sequence);
    wire_put(&stage->wire, &body, sizeof body);
    wire_attribute(&stage->wire, NLMSGERR_ATTR_MSG, "no such filter", 15);
    stage_send(stage);
}

static void a_filter_that_this_kernel_refuses_is_left_out(void **state)
{
    static const int refusals[] = {-EINVAL, -EOPNOTSUPP, -ERANGE, -EAFNOSUPPORT};
    struct stage *stage = *state;

    filter_by_mark(stage);
    for (uint32_t i = 0; i < COUNT(refusals); i++) {
        stage->peer.request_count = 0;
        refuse_with_words(stage, 2 * i + 1, refusals[i]);
        ct_flow(&stage->wire, 2 * i + 2, AF_INET, 1000, 1);
        stage_send_done(stage, 2 * i + 2, 0);
        assert_int_equal(ct_list(stage, &table_flows), 0);
        assert_int_equal(stage->kept.count, 1);
        assert_int_equal(stage->peer.request_count, 2);
        assert_null(ct_find(ct_request(&stage->peer, 1), CTA_MARK));
        assert_int_equal(ct_request(&stage->peer, 1)->nlmsg_len,
                         NLMSG_LENGTH(sizeof(struct nfgenmsg)));
    }
    assert_int_equal(stage->report.count, 0);
}

static void an_earlier_explanation_stays(void **state)
{
    struct stage *stage = *state;

    filter_by_mark(stage);
    report_note(&stage->report, "before");
    refuse_with_words(stage, 1, -EINVAL);
    stage_send_done(stage, 2, 0);
    stage->query.table = &table_flows;
    assert_int_equal(backend_ctnetlink.dump(&stage->query, stage_keep, stage), 0);
    assert_int_equal(stage->report.count, 1);
    assert_true(report_says(&stage->report, "before"));
}

static void a_refusal_without_a_filter_is_final_and_reported(void **state)
{
    struct stage *stage = *state;

    refuse_with_words(stage, 1, -EINVAL);
    stage_send_done(stage, 2, 0);
    assert_int_equal(ct_list(stage, &table_flows), -EINVAL);
    assert_int_equal(stage->peer.request_count, 1);
    assert_true(report_says(&stage->report, "no such filter"));
}

static void another_error_is_no_matter_of_the_filter(void **state)
{
    struct stage *stage = *state;

    filter_by_mark(stage);
    refuse_with_words(stage, 1, -EPERM);
    assert_int_equal(ct_list(stage, &table_flows), -EPERM);
    assert_int_equal(stage->peer.request_count, 1);
}

static void after_the_first_row_a_filter_is_not_left_out(void **state)
{
    struct stage *stage = *state;

    filter_by_mark(stage);
    ct_flow(&stage->wire, 1, AF_INET, 1000, 1);
    stage_send_done(stage, 1, -EINVAL);
    assert_int_equal(ct_list(stage, &table_flows), -EINVAL);
    assert_int_equal(stage->peer.request_count, 1);
    assert_int_equal(stage->kept.count, 1);
}

static void filter_by_port(struct stage *stage)
{
    stage->query.where = ct_where("-p tcp --dport 443");
}

static void one_family_after_the_other_is_asked_for_ports(void **state)
{
    struct stage *stage = *state;

    filter_by_port(stage);
    ct_flow(&stage->wire, 1, AF_INET, 1000, 1);
    stage_send_done(stage, 1, 0);
    ct_flow(&stage->wire, 2, AF_INET6, 1001, 2);
    stage_send_done(stage, 2, 0);
    assert_int_equal(ct_list(stage, &table_flows), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_int_equal(stage->peer.request_count, 2);
    assert_int_equal(ct_family(ct_request(&stage->peer, 0)), AF_INET);
    assert_int_equal(ct_family(ct_request(&stage->peer, 1)), AF_INET6);
    for (size_t i = 0; i < 2; i++)
        assert_non_null(ct_find(ct_request(&stage->peer, i), CTA_FILTER));
}

static void one_family_is_asked_for_ports_where_it_is_named(void **state)
{
    struct stage *stage = *state;

    stage->query.where = ct_where("-p tcp --dport 443 -f ipv4");
    stage_send_done(stage, 1, 0);
    assert_int_equal(ct_list(stage, &table_flows), 0);
    assert_int_equal(stage->peer.request_count, 1);
    assert_int_equal(ct_family(ct_request(&stage->peer, 0)), AF_INET);
}

static void a_filter_may_be_refused_for_the_second_family_only(void **state)
{
    struct stage *stage = *state;

    filter_by_port(stage);
    ct_flow(&stage->wire, 1, AF_INET, 1000, 1);
    stage_send_done(stage, 1, 0);
    ct_send_error(stage, 2, -EOPNOTSUPP);
    ct_flow(&stage->wire, 3, AF_INET6, 1001, 2);
    stage_send_done(stage, 3, 0);
    assert_int_equal(ct_list(stage, &table_flows), 0);
    assert_int_equal(stage->kept.count, 2);
    assert_int_equal(stage->peer.request_count, 3);
    assert_int_equal(ct_family(ct_request(&stage->peer, 2)), AF_INET6);
    assert_null(ct_find(ct_request(&stage->peer, 2), CTA_FILTER));
}

static void an_error_of_the_first_family_ends_both(void **state)
{
    struct stage *stage = *state;

    filter_by_port(stage);
    stage_send_done(stage, 1, -EIO);
    assert_int_equal(ct_list(stage, &table_flows), -EIO);
    assert_int_equal(stage->peer.request_count, 1);
}

/* --- A table that is resized meanwhile -------------------------------------------------------- */

static const char resized[] = "the table was resized while it was read";

/* Each request is answered by a flow, or by none, and one datagram. */
static void answer_each(struct stage *stage, bool flows)
{
    stage->peer.replays = true;
    if (flows)
        ct_flow(&stage->wire, 1, AF_INET, 1000, 1);
    stage_send_done(stage, 1, 0);
    ct_put_buckets(stage, "1024\n");
}

static void a_table_that_stays_is_read_once(void **state)
{
    struct stage *stage = *state;

    answer_each(stage, true);
    assert_int_equal(ct_list(stage, &table_flows), 0);
    assert_int_equal(stage->peer.request_count, 1);
    assert_false(stage->report.partial);
}

static void a_table_whose_size_nobody_knows_is_read_once(void **state)
{
    struct stage *stage = *state;

    stage_send_done(stage, 1, 0);
    assert_int_equal(ct_list(stage, &table_flows), 0);
    assert_int_equal(stage->peer.request_count, 1);
    assert_int_equal(stage->report.count, 0);
}

static void a_resized_table_is_read_again_while_nothing_was_handed_on(void **state)
{
    static const char *const after[] = {"2048\n", NULL};
    struct stage *stage = *state;

    answer_each(stage, false);
    ct_put_each_buckets(stage, after);
    assert_int_equal(ct_list(stage, &table_flows), 0);
    assert_int_equal(stage->peer.request_count, 2);
    assert_int_equal(stage->report.count, 0);
}

static void a_resized_table_is_read_again_where_repeats_are_dropped(void **state)
{
    static const char *const after[] = {"2048\n", "4096\n", NULL};
    struct stage *stage = *state;

    answer_each(stage, true);
    stage->query.repeatable = true;
    ct_put_each_buckets(stage, after);
    assert_int_equal(ct_list(stage, &table_flows), 0);
    assert_int_equal(stage->peer.request_count, 3);
    assert_int_equal(stage->kept.count, 3);
    assert_int_equal(stage->report.count, 0);
    assert_false(stage->report.partial);
}

static void a_resize_after_the_first_row_is_reported_as_a_loss(void **state)
{
    static const char *const after[] = {"2048\n", NULL};
    struct stage *stage = *state;

    answer_each(stage, true);
    ct_put_each_buckets(stage, after);
    assert_int_equal(ct_list(stage, &table_flows), 0);
    assert_int_equal(stage->peer.request_count, 1);
    assert_true(report_says(&stage->report, resized));
    assert_true(stage->report.partial);
}

static void a_table_that_is_resized_for_ever_is_listed_in_the_end(void **state)
{
    static const char *const after[] = {"1\n", "2\n", "3\n", "4\n", "5\n",
                                        "6\n", "7\n", "8\n", "9\n", NULL};
    struct stage *stage = *state;

    answer_each(stage, true);
    stage->query.repeatable = true;
    ct_put_each_buckets(stage, after);
    assert_int_equal(ct_list(stage, &table_flows), 0);
    assert_int_equal(stage->peer.request_count, 5);
    assert_true(report_says(&stage->report, resized));
    assert_true(stage->report.partial);
}

static void a_failing_dump_of_a_resized_table_just_fails(void **state)
{
    static const char *const after[] = {"2048\n", NULL};
    struct stage *stage = *state;

    ct_put_buckets(stage, "1024\n");
    stage_send_done(stage, 1, -EIO);
    ct_put_each_buckets(stage, after);
    assert_int_equal(ct_list(stage, &table_flows), -EIO);
    assert_int_equal(stage->peer.request_count, 1);
    assert_int_equal(stage->report.count, 0);
}

/* A second reading would show the zeroes that the first one left. */
static void a_table_that_is_zeroed_is_read_once_whatever_becomes_of_it(void **state)
{
    static const char *const after[] = {"2048\n", NULL};
    struct stage *stage = *state;

    answer_each(stage, false);
    stage->query.repeatable = true;
    ct_put_each_buckets(stage, after);
    assert_int_equal(ct_list(stage, &table_flows_zeroed), 0);
    assert_int_equal(stage->peer.request_count, 1);
    assert_true(report_says(&stage->report, resized));
    assert_true(stage->report.partial);
}

static void other_tables_are_never_read_again(void **state)
{
    static const char *const after[] = {"2048\n", NULL};
    static const struct table *const tables[] = {&table_flows_dying, &table_flows_unconfirmed};
    struct stage *stage = *state;

    for (size_t i = 0; i < COUNT(tables); i++) {
        peer_finish(&stage->peer);
        answer_each(stage, false);
        stage->peer.request_count = 0;
        ct_put_each_buckets(stage, after);
        assert_int_equal(ct_list(stage, tables[i]), 0);
        assert_int_equal(stage->peer.request_count, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(the_kernel_filters_flows_if_it_can),
        ON_STAGE(other_tables_are_not_filtered),
        ON_STAGE(a_filter_that_this_kernel_refuses_is_left_out),
        ON_STAGE(an_earlier_explanation_stays),
        ON_STAGE(a_refusal_without_a_filter_is_final_and_reported),
        ON_STAGE(another_error_is_no_matter_of_the_filter),
        ON_STAGE(after_the_first_row_a_filter_is_not_left_out),
        ON_STAGE(one_family_after_the_other_is_asked_for_ports),
        ON_STAGE(one_family_is_asked_for_ports_where_it_is_named),
        ON_STAGE(a_filter_may_be_refused_for_the_second_family_only),
        ON_STAGE(an_error_of_the_first_family_ends_both),
        ON_STAGE(a_table_that_stays_is_read_once),
        ON_STAGE(a_table_whose_size_nobody_knows_is_read_once),
        ON_STAGE(a_resized_table_is_read_again_while_nothing_was_handed_on),
        ON_STAGE(a_resized_table_is_read_again_where_repeats_are_dropped),
        ON_STAGE(a_resize_after_the_first_row_is_reported_as_a_loss),
        ON_STAGE(a_table_that_is_resized_for_ever_is_listed_in_the_end),
        ON_STAGE(a_failing_dump_of_a_resized_table_just_fails),
        ON_STAGE(a_table_that_is_zeroed_is_read_once_whatever_becomes_of_it),
        ON_STAGE(other_tables_are_never_read_again),
    };

    return cmocka_run_group_tests_name("ctnetlink_dump", tests, NULL, NULL);
}
