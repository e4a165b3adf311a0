/* SPDX-License-Identifier: MIT */
/* The names and meanings of reasons for TCP resets. */
#include <string.h>

#include "fastnet/reset_reasons.h"
#include "kit.h"

static void each_reset_reason_has_a_sentence(void **state)
{
    const char *name;
    uint64_t count = 0;

    (void)state;
    while ((name = reset_reason_word(count))) {
        const char *meaning = reset_reason_meaning(as_text(name));
        assert_non_null(meaning);
        assert_true(strlen(meaning) > 10);
        assert_true(strlen(name) < RESET_REASON_NAME);
        assert_int_not_equal(meaning[strlen(meaning) - 1], '.');
        count++;
    }
    assert_true(count > 20);
    assert_null(reset_reason_meaning(as_text("A_LATER_REASON")));
    assert_null(reset_reason_meaning(as_text("")));
}

/* mptcp_do_fastclose() of net/mptcp/protocol.c, also for SO_LINGER 0. */
static void mptcp_has_the_reason_of_unread_data(void **state)
{
    (void)state;
    assert_non_null(strstr(reset_reason_meaning(as_text("TCP_ABORT_ON_CLOSE")), "MPTCP"));
}

static void a_full_queue_has_the_reason_of_a_wrong_syn(void **state)
{
    (void)state;
    assert_non_null(strstr(reset_reason_meaning(as_text("INVALID_SYN")), "tcp_abort_on_overflow"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reset_reason_has_a_sentence),
        cmocka_unit_test(mptcp_has_the_reason_of_unread_data),
        cmocka_unit_test(a_full_queue_has_the_reason_of_a_wrong_syn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
