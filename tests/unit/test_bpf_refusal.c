/* SPDX-License-Identifier: MIT */
/* How the refusal of a BPF program is worded. */
#include <errno.h>
#include <string.h>

#include "fastnet/bpf_refusal.h"
#include "kit.h"

static void a_reason_says_all(void **state)
{
    struct bpf_refusal refusal;

    (void)state;
    assert_int_equal(bpf_refuse(&refusal, -ENOTSUP, "this kernel does not report drop reasons"),
                     -ENOTSUP);
    assert_int_equal(refusal.error, -ENOTSUP);
    assert_string_equal(refusal.reason, "this kernel does not report drop reasons");
}

static void a_step_is_named_with_its_error(void **state)
{
    struct bpf_refusal refusal;

    (void)state;
    assert_int_equal(bpf_refuse_step(&refusal, -EPERM, "bpf(2)"), -EPERM);
    assert_int_equal(refusal.error, -EPERM);
    assert_string_equal(refusal.reason, "bpf(2): Operation not permitted");
}

static void a_program_without_room_is_a_fault_of_fastnet(void **state)
{
    struct bpf_refusal refusal;

    (void)state;
    assert_int_equal(bpf_refuse_step(&refusal, -ENOBUFS, "bpf(2)"), -ENOBUFS);
    assert_string_equal(refusal.reason,
                        "bpf(2): the program is longer than fastnet expected (please report this)");
}

static void a_step_without_an_error_is_no_refusal(void **state)
{
    struct bpf_refusal refusal = {.error = 0};

    (void)state;
    assert_int_equal(bpf_refuse_step(&refusal, 7 /* a descriptor */, "bpf(2)"), 0);
    assert_int_equal(refusal.error, 0);
    assert_string_equal(refusal.reason, "");
}

static void a_long_reason_is_cut(void **state)
{
    struct bpf_refusal refusal;
    char step[2 * sizeof refusal.reason];

    (void)state;
    memset(step, 'x', sizeof step - 1);
    step[sizeof step - 1] = '\0';
    assert_int_equal(bpf_refuse_step(&refusal, -EIO, step), -EIO);
    assert_int_equal(strlen(refusal.reason), sizeof refusal.reason - 1);
}

static void who_wants_no_reason_gets_the_error(void **state)
{
    (void)state;
    assert_int_equal(bpf_refuse(NULL, -EMFILE, "too few files may be open"), -EMFILE);
    assert_int_equal(bpf_refuse_step(NULL, -EPERM, "bpf(2)"), -EPERM);
}

/* rights_init() was not called: no right can be raised. */
static void missing_rights_are_named(void **state)
{
    struct bpf_refusal refusal = {.error = 0};

    (void)state;
    assert_int_equal(bpf_check_rights(&refusal, "packets"), -EPERM);
    assert_int_equal(refusal.error, -EPERM);
    assert_non_null(strstr(refusal.reason, "needs CAP_BPF and CAP_PERFMON"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reason_says_all),
        cmocka_unit_test(a_step_is_named_with_its_error),
        cmocka_unit_test(a_program_without_room_is_a_fault_of_fastnet),
        cmocka_unit_test(a_step_without_an_error_is_no_refusal),
        cmocka_unit_test(a_long_reason_is_cut),
        cmocka_unit_test(who_wants_no_reason_gets_the_error),
        cmocka_unit_test(missing_rights_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
