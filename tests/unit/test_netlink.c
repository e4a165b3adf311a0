/* SPDX-License-Identifier: MIT */
/* Dumps over netlink: which messages count, how a dump ends, what is told. */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <string.h>

#include "backend/netlink/netlink.h"
#include "fastnet/report.h"
#include "kit.h"

enum { TRIES_MAX = 5 };

/* A conversation, and what came of it. */
struct talk {
    struct stage stage;
    size_t messages; /* that were handed on */
    uint16_t ports[64];
    int answer; /* of the callback */
};

static int count_message(const struct nlmsghdr *message, void *arg)
{
    struct talk *talk = arg;
    struct inet_diag_msg diag;

    assert_in_range(talk->messages, 0, 63);
    if (message->nlmsg_len >= sizeof *message + sizeof diag) {
        memcpy(&diag, message + 1, sizeof diag);
        talk->ports[talk->messages] = ntohs(diag.id.idiag_sport);
    }
    talk->messages++;
    return talk->answer;
}

static int dump(struct talk *talk)
{
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 diag;
    } request = {.header = {.nlmsg_len = sizeof request,
                            .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};

    return netlink_dump(talk->stage.netlink, NETLINK_SOCK_DIAG, &request.header, count_message,
                        talk, &talk->stage.report);
}

static void a_dump_is_complete_with_done(void **state)
{
    struct talk *talk = *state;

    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 1, 80, 1);
    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 1, 81, 2);
    stage_send(&talk->stage);
    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 1, 82, 3);
    stage_send_done(&talk->stage, 1, 0);
    assert_int_equal(dump(talk), 0);
    assert_int_equal(talk->messages, 3);
    assert_int_equal(talk->ports[2], 82);
    assert_int_equal(talk->stage.report.count, 0);
    assert_false(talk->stage.report.partial);
}

static void each_request_has_a_sequence_number_of_its_own(void **state)
{
    struct talk *talk = *state;
    struct nlmsghdr request;

    talk->stage.peer.replays = true;
    wire_done(&talk->stage.wire, 0, 1, 0);
    stage_send(&talk->stage);
    for (uint32_t i = 1; i <= 3; i++) {
        assert_int_equal(dump(talk), 0);
        memcpy(&request, talk->stage.peer.requests[i - 1], sizeof request);
        assert_int_equal(request.nlmsg_seq, i);
        assert_int_equal(request.nlmsg_pid, 1);
        assert_int_equal(request.nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
    }
}

static void without_done_it_is_an_error(void **state)
{
    struct talk *talk = *state;

    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 1, 80, 1);
    stage_send(&talk->stage);
    assert_int_equal(dump(talk), -EPIPE);
    assert_int_equal(talk->messages, 1);
}

static void a_request_that_cannot_be_sent_is_an_error(void **state)
{
    struct talk *talk = *state;

    talk->stage.peer.refusal = -EPERM;
    assert_int_equal(dump(talk), -EPERM);
    assert_int_equal(talk->messages, 0);
}

static void a_failing_receive_is_an_error(void **state)
{
    struct talk *talk = *state;

    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 1, 80, 1);
    stage_send(&talk->stage);
    talk->stage.peer.last_error = -ENOBUFS;
    assert_int_equal(dump(talk), -ENOBUFS);
}

static void a_message_from_another_sender_is_refused_and_reported_once(void **state)
{
    struct talk *talk = *state;

    for (int i = 0; i < 3; i++) {
        talk->stage.wire.length = 0;
        wire_tcp(&talk->stage.wire, NLM_F_MULTI, 1, 6666, 66);
        wire_done(&talk->stage.wire, NLM_F_MULTI, 1, 0);
        peer_add(&talk->stage.peer, talk->stage.wire.data, talk->stage.wire.length, 4242);
    }
    peer_add(&talk->stage.peer, "", 0, 4242); /* nor does an empty one end the dump */
    talk->stage.wire.length = 0;
    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 1, 80, 1);
    stage_send_done(&talk->stage, 1, 0);
    assert_int_equal(dump(talk), 0);
    assert_int_equal(talk->messages, 1);
    assert_int_equal(talk->ports[0], 80);
    assert_int_equal(talk->stage.report.count, 1);
    assert_true(report_says(&talk->stage.report, "ignored a netlink message"));
    assert_false(talk->stage.report.partial);
}

static void answers_to_another_question_are_ignored(void **state)
{
    struct talk *talk = *state;

    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 7, 7000, 7);
    wire_done(&talk->stage.wire, NLM_F_MULTI, 0, 0);
    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 1, 7001, 8);
    wire_last(&talk->stage.wire)->nlmsg_pid = 2;
    wire_done(&talk->stage.wire, NLM_F_MULTI, 1, -EIO);
    wire_last(&talk->stage.wire)->nlmsg_pid = 99;
    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 1, 80, 1);
    stage_send_done(&talk->stage, 1, 0);
    assert_int_equal(dump(talk), 0);
    assert_int_equal(talk->messages, 1);
    assert_int_equal(talk->ports[0], 80);
}

static void done_that_does_not_say_how_it_went_is_a_loss(void **state)
{
    struct talk *talk = *state;

    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 1, 80, 1);
    wire_message(&talk->stage.wire, NLMSG_DONE, NLM_F_MULTI, 1);
    stage_send(&talk->stage);
    assert_int_equal(dump(talk), 0);
    assert_int_equal(talk->messages, 1);
    assert_true(talk->stage.report.partial);
    assert_true(report_says(&talk->stage.report, "ended without a status"));
}

static void a_message_of_another_sequence_within_a_dump_is_a_loss(void **state)
{
    struct talk *talk = *state;

    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 1, 80, 1);
    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 7, 81, 2);
    stage_send_done(&talk->stage, 1, 0);
    assert_int_equal(dump(talk), 0);
    assert_int_equal(talk->messages, 1);
    assert_true(talk->stage.report.partial);
    assert_true(report_says(&talk->stage.report, "answers another request"));
}

static void done_can_be_an_error(void **state)
{
    struct talk *talk = *state;

    wire_done(&talk->stage.wire, NLM_F_MULTI, 1, -ENOENT);
    stage_send(&talk->stage);
    assert_int_equal(dump(talk), -ENOENT);
    assert_int_equal(talk->messages, 0);
}

static void put_error(struct wire *wire, uint16_t flags, int error, const char *request_rest)
{
    struct nlmsgerr body = {.error = error, .msg = {.nlmsg_len = sizeof body.msg}};

    body.msg.nlmsg_len += (uint32_t)strlen(request_rest);
    wire_message(wire, NLMSG_ERROR, flags, 1);
    wire_put(wire, &body, sizeof body);
    wire_put(wire, request_rest, strlen(request_rest));
}

/* MAX_ERRNO of include/linux/err.h; a number below it may be one that has no positive. */
static void an_error_that_no_kernel_has_is_malformed(void **state)
{
    static const struct {
        int said, is;
    } errors[] = {{-4095, -4095}, {-4096, -EBADMSG}, {INT_MIN, -EBADMSG}, {1, -EBADMSG}};
    struct talk *talk = *state;
    uint32_t sequence = 1;

    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        wire_done(&talk->stage.wire, NLM_F_MULTI, sequence++, errors[i].said);
        stage_send(&talk->stage);
        assert_int_equal(dump(talk), errors[i].is);
        put_error(&talk->stage.wire, 0, errors[i].said, "");
        wire_last(&talk->stage.wire)->nlmsg_seq = sequence++;
        stage_send(&talk->stage);
        assert_int_equal(dump(talk), errors[i].is);
    }
}

static void a_refusal_is_an_error_in_the_kernels_words(void **state)
{
    static const char words[] = "Unsupported \033[31mfilter";
    struct talk *talk = *state;

    put_error(&talk->stage.wire, NLM_F_ACK_TLVS, -EINVAL, "12345678");
    wire_attribute(&talk->stage.wire, NLMSGERR_ATTR_OFFS, "\1\0\0\0", 4);
    wire_attribute(&talk->stage.wire, NLMSGERR_ATTR_MSG, words, sizeof words);
    stage_send(&talk->stage);
    assert_int_equal(dump(talk), -EINVAL);
    assert_true(report_says(&talk->stage.report, words));
}

static void a_capped_refusal_has_its_words_right_after_the_header(void **state)
{
    struct talk *talk = *state;
    struct nlmsgerr body = {.error = -EPERM, .msg = {.nlmsg_len = 72}};

    wire_message(&talk->stage.wire, NLMSG_ERROR, NLM_F_ACK_TLVS | NLM_F_CAPPED, 1);
    wire_put(&talk->stage.wire, &body, sizeof body);
    wire_attribute(&talk->stage.wire, NLMSGERR_ATTR_MSG, "not for you", 12);
    stage_send(&talk->stage);
    assert_int_equal(dump(talk), -EPERM);
    assert_true(report_says(&talk->stage.report, "not for you"));
}

static void done_has_words_too(void **state)
{
    struct talk *talk = *state;

    wire_done(&talk->stage.wire, NLM_F_MULTI | NLM_F_ACK_TLVS, 1, -EOPNOTSUPP);
    wire_attribute(&talk->stage.wire, NLMSGERR_ATTR_MSG, "no such dump", 13);
    stage_send(&talk->stage);
    assert_int_equal(dump(talk), -EOPNOTSUPP);
    assert_true(report_says(&talk->stage.report, "no such dump"));
}

/* Lengths that lie: words of no length, past the end, behind a request past the end. */
static void words_that_are_not_there_are_not_read(void **state)
{
    struct talk *talk = *state;
    const struct nlattr beyond = {400, NLMSGERR_ATTR_MSG};
    struct nlmsgerr body = {.error = -EINVAL, .msg = {.nlmsg_len = UINT32_MAX}};

    put_error(&talk->stage.wire, NLM_F_ACK_TLVS, -EINVAL, "");
    wire_put(&talk->stage.wire, &beyond, sizeof beyond);
    stage_send(&talk->stage);
    assert_int_equal(dump(talk), -EINVAL);
    put_error(&talk->stage.wire, NLM_F_ACK_TLVS, -EINVAL, "");
    wire_attribute(&talk->stage.wire, NLMSGERR_ATTR_MSG, "", 0);
    wire_last(&talk->stage.wire)->nlmsg_seq = 2;
    stage_send(&talk->stage);
    assert_int_equal(dump(talk), -EINVAL);
    wire_message(&talk->stage.wire, NLMSG_ERROR, NLM_F_ACK_TLVS, 3);
    wire_put(&talk->stage.wire, &body, sizeof body);
    stage_send(&talk->stage);
    assert_int_equal(dump(talk), -EINVAL);
    assert_false(report_says(&talk->stage.report, "says: a"));
}

static void a_refusal_too_short_to_say_why_is_malformed(void **state)
{
    struct talk *talk = *state;

    wire_message(&talk->stage.wire, NLMSG_ERROR, 0, 1);
    wire_put(&talk->stage.wire, "\0\0\0", 4);
    stage_send(&talk->stage);
    assert_int_equal(dump(talk), -EBADMSG);
}

static void an_overrun_is_an_error(void **state)
{
    struct talk *talk = *state;

    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 1, 80, 1);
    wire_message(&talk->stage.wire, NLMSG_OVERRUN, NLM_F_MULTI, 1);
    stage_send_done(&talk->stage, 1, 0);
    assert_int_equal(dump(talk), -ENOBUFS);
}

static void a_message_for_nobody_is_passed_over(void **state)
{
    struct talk *talk = *state;

    wire_message(&talk->stage.wire, NLMSG_NOOP, 0, 1);
    stage_send_done(&talk->stage, 1, 0);
    assert_int_equal(dump(talk), 0);
    assert_int_equal(talk->messages, 0);
}

static void a_callback_error_ends_the_dump(void **state)
{
    struct talk *talk = *state;

    talk->answer = -ECANCELED;
    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 1, 80, 1);
    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 1, 81, 2);
    stage_send_done(&talk->stage, 1, 0);
    assert_int_equal(dump(talk), -ECANCELED);
    assert_int_equal(talk->messages, 1);
}

/* One whole dump of two sockets, of which the second says that the table changed. */
static void add_interrupted(struct talk *talk, uint32_t sequence, bool from_the_first)
{
    wire_tcp(&talk->stage.wire, from_the_first ? NLM_F_DUMP_INTR : 0, sequence, 80, 1);
    wire_tcp(&talk->stage.wire, NLM_F_MULTI | NLM_F_DUMP_INTR, sequence, 81, 2);
    wire_done(&talk->stage.wire, NLM_F_MULTI | NLM_F_DUMP_INTR, sequence, 0);
    stage_send(&talk->stage);
}

static void an_interrupted_dump_is_asked_again_before_anything_is_handed_on(void **state)
{
    struct talk *talk = *state;

    add_interrupted(talk, 1, true);
    add_interrupted(talk, 2, true);
    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 3, 90, 9);
    wire_done(&talk->stage.wire, NLM_F_MULTI, 3, 0);
    stage_send(&talk->stage);
    assert_int_equal(dump(talk), 0);
    assert_int_equal(talk->stage.peer.request_count, 3);
    assert_int_equal(talk->messages, 1);
    assert_int_equal(talk->ports[0], 90);
    assert_int_equal(talk->stage.report.count, 0);
    assert_false(talk->stage.report.partial);
}

static void a_dump_interrupted_after_rows_is_partial(void **state)
{
    struct talk *talk = *state;

    add_interrupted(talk, 1, false);
    assert_int_equal(dump(talk), 0);
    assert_int_equal(talk->stage.peer.request_count, 1);
    assert_int_equal(talk->messages, 2);
    assert_true(talk->stage.report.partial);
    assert_true(report_says(&talk->stage.report, "changed while it was read"));
}

static void a_dump_interrupted_each_time_is_listed_in_the_end_and_partial(void **state)
{
    struct talk *talk = *state;

    for (uint32_t i = 1; i <= TRIES_MAX; i++)
        add_interrupted(talk, i, true);
    assert_int_equal(dump(talk), 0);
    assert_int_equal(talk->stage.peer.request_count, TRIES_MAX);
    assert_int_equal(talk->messages, 2);
    assert_true(talk->stage.report.partial);
}

static void an_empty_interrupted_dump_is_asked_again(void **state)
{
    struct talk *talk = *state;

    wire_done(&talk->stage.wire, NLM_F_MULTI | NLM_F_DUMP_INTR, 1, 0);
    stage_send(&talk->stage);
    wire_tcp(&talk->stage.wire, NLM_F_MULTI, 2, 80, 1);
    wire_done(&talk->stage.wire, NLM_F_MULTI, 2, 0);
    stage_send(&talk->stage);
    assert_int_equal(dump(talk), 0);
    assert_int_equal(talk->messages, 1);
    assert_false(talk->stage.report.partial);
}

/* The last message's length is odd, and what is left after alignment less than nothing. */
static void a_length_that_alignment_takes_past_the_end_is_no_trouble(void **state)
{
    for (uint32_t odd = 1; odd < 4; odd++) {
        struct talk *talk = *state;
        wire_tcp(&talk->stage.wire, NLM_F_MULTI, odd, 80, 1);
        wire_put(&talk->stage.wire, "\0\0\0", odd);
        stage_send(&talk->stage);
        wire_done(&talk->stage.wire, NLM_F_MULTI, odd, 0);
        wire_put(&talk->stage.wire, "\0\0\0", odd);
        stage_send(&talk->stage);
        assert_int_equal(dump(talk), 0);
        assert_int_equal(talk->messages, odd);
    }
}

/* A header that claims less than itself or more than there is. */
static void a_message_of_an_impossible_length_ends_the_dump(void **state)
{
    static const uint32_t lengths[] = {
        0, 1, 15, 1000, INT32_MAX, (uint32_t)INT32_MAX + 1, UINT32_MAX - 3, UINT32_MAX};
    struct talk *talk = *state;

    for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        wire_tcp(&talk->stage.wire, NLM_F_MULTI, i + 1, 80, 1);
        wire_tcp(&talk->stage.wire, NLM_F_MULTI, i + 1, 81, 2);
        wire_last(&talk->stage.wire)->nlmsg_len = lengths[i];
        stage_send(&talk->stage);
        talk->messages = 0;
        assert_int_equal(dump(talk), -EBADMSG);
        assert_int_equal(talk->messages, 1);
    }
}

static void a_datagram_smaller_than_a_header_is_malformed(void **state)
{
    struct talk *talk = *state;

    for (size_t length = 1; length < sizeof(struct nlmsghdr); length++) {
        peer_add(&talk->stage.peer, "\377\0\0\0\3\0\0\0\1\0\0\0\1\0\0", length, 0);
        assert_int_equal(dump(talk), -EBADMSG);
    }
}

/* A question about one object: its answer, and that this was all. */
static int ask_for_one(struct talk *talk)
{
    struct nlmsghdr request = {.nlmsg_len = sizeof request,
                               .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                               .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK};

    return netlink_dump(talk->stage.netlink, NETLINK_SOCK_DIAG, &request, count_message, talk,
                        &talk->stage.report);
}

static void one_answer_is_complete_with_its_acknowledgement(void **state)
{
    struct talk *talk = *state;
    struct nlmsghdr request;

    wire_tcp(&talk->stage.wire, 0, 1, 80, 1);
    stage_send(&talk->stage);
    put_error(&talk->stage.wire, NLM_F_CAPPED, 0, "");
    stage_send(&talk->stage);
    assert_int_equal(ask_for_one(talk), 0);
    assert_int_equal(talk->messages, 1);
    assert_int_equal(talk->ports[0], 80);
    memcpy(&request, talk->stage.peer.requests[0], sizeof request);
    assert_int_equal(request.nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
}

static void one_answer_without_an_acknowledgement_is_not_complete(void **state)
{
    struct talk *talk = *state;

    wire_tcp(&talk->stage.wire, 0, 1, 80, 1);
    stage_send(&talk->stage);
    assert_int_equal(ask_for_one(talk), -EPIPE);
    assert_int_equal(talk->messages, 1);
}

static void a_missing_object_is_an_error_and_not_an_empty_answer(void **state)
{
    struct talk *talk = *state;

    put_error(&talk->stage.wire, NLM_F_CAPPED, -ENOENT, "");
    stage_send(&talk->stage);
    assert_int_equal(ask_for_one(talk), -ENOENT);
    assert_int_equal(talk->messages, 0);
    assert_int_equal(talk->stage.report.count, 0);
}

static void an_error_above_zero_is_malformed(void **state)
{
    struct talk *talk = *state;

    put_error(&talk->stage.wire, NLM_F_CAPPED, 1, "");
    stage_send(&talk->stage);
    assert_int_equal(ask_for_one(talk), -EBADMSG);
}

/* The second question finds nothing of the first. */
static void the_rest_of_an_earlier_answer_is_skipped(void **state)
{
    struct talk *talk = *state;

    talk->answer = -ECANCELED;
    wire_tcp(&talk->stage.wire, 0, 1, 80, 1);
    stage_send(&talk->stage);
    assert_int_equal(ask_for_one(talk), -ECANCELED);
    talk->answer = 0;
    put_error(&talk->stage.wire, NLM_F_CAPPED, -EIO, "");
    stage_send(&talk->stage);
    wire_tcp(&talk->stage.wire, 0, 2, 81, 2);
    put_error(&talk->stage.wire, NLM_F_CAPPED, 0, "");
    wire_last(&talk->stage.wire)->nlmsg_seq = 2;
    stage_send(&talk->stage);
    assert_int_equal(ask_for_one(talk), 0);
    assert_int_equal(talk->messages, 2);
    assert_int_equal(talk->ports[1], 81);
}

static void recorded_dumps_are_complete(void **state)
{
    static const char *const names[] = {"tcp", "tcp6", "udp", "udp6", "udplite", "udplite6"};
    struct talk *talk = *state;
    char path[64];

    talk->stage.peer.replays = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        peer_finish(&talk->stage.peer);
        snprintf(path, sizeof path, "tests/fixtures/zoo/netlink/%s", names[i]);
        peer_add_recorded(&talk->stage.peer, path, SIZE_MAX);
        talk->messages = 0;
        if (i > 1)
            assert_int_equal(dump(talk), 0);
    }
    assert_int_equal(talk->stage.report.count, 0);
}

static void a_missing_protocol_is_an_error_and_no_empty_table(void **state)
{
    struct talk *talk = *state;

    peer_add_recorded(&talk->stage.peer, "tests/fixtures/zoo/netlink/raw", SIZE_MAX);
    assert_int_equal(dump(talk), -ENOENT);
}

static int begin(void **state)
{
    stage_make_in(state, sizeof(struct talk));
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, stage_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_dump_is_complete_with_done),
        TEST(each_request_has_a_sequence_number_of_its_own),
        TEST(without_done_it_is_an_error),
        TEST(a_request_that_cannot_be_sent_is_an_error),
        TEST(a_failing_receive_is_an_error),
        TEST(a_message_from_another_sender_is_refused_and_reported_once),
        TEST(answers_to_another_question_are_ignored),
        TEST(done_that_does_not_say_how_it_went_is_a_loss),
        TEST(a_message_of_another_sequence_within_a_dump_is_a_loss),
        TEST(done_can_be_an_error),
        TEST(an_error_that_no_kernel_has_is_malformed),
        TEST(a_refusal_is_an_error_in_the_kernels_words),
        TEST(a_capped_refusal_has_its_words_right_after_the_header),
        TEST(done_has_words_too),
        TEST(words_that_are_not_there_are_not_read),
        TEST(a_refusal_too_short_to_say_why_is_malformed),
        TEST(an_overrun_is_an_error),
        TEST(a_message_for_nobody_is_passed_over),
        TEST(a_callback_error_ends_the_dump),
        TEST(an_interrupted_dump_is_asked_again_before_anything_is_handed_on),
        TEST(a_dump_interrupted_after_rows_is_partial),
        TEST(a_dump_interrupted_each_time_is_listed_in_the_end_and_partial),
        TEST(an_empty_interrupted_dump_is_asked_again),
        TEST(a_length_that_alignment_takes_past_the_end_is_no_trouble),
        TEST(a_message_of_an_impossible_length_ends_the_dump),
        TEST(a_datagram_smaller_than_a_header_is_malformed),
        TEST(one_answer_is_complete_with_its_acknowledgement),
        TEST(one_answer_without_an_acknowledgement_is_not_complete),
        TEST(a_missing_object_is_an_error_and_not_an_empty_answer),
        TEST(an_error_above_zero_is_malformed),
        TEST(the_rest_of_an_earlier_answer_is_skipped),
        TEST(recorded_dumps_are_complete),
        TEST(a_missing_protocol_is_an_error_and_no_empty_table),
    };

    return cmocka_run_group_tests_name("netlink", tests, NULL, NULL);
}
