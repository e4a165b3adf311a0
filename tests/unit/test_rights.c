/* SPDX-License-Identifier: MIT */
/* Capabilities and the standard descriptors; each test changes a process of its own. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastnet/rights.h"
#include "kit.h"

/* cmocka's assertions would jump back into the parent's tests: a child says where it failed. */
#define REQUIRE(condition)                                                                         \
    if (!(condition))                                                                              \
    return __LINE__ % 250 + 1

static void run_child(int (*body)(void))
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(body());
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static bool has(cap_value_t value, cap_flag_t set)
{
    cap_flag_value_t flag = CAP_CLEAR;
    cap_t caps = cap_get_proc();
    cap_get_flag(caps, value, set, &flag);
    cap_free(caps);
    return flag == CAP_SET;
}

static unsigned count(cap_flag_t set)
{
    unsigned held = 0;
    for (cap_value_t value = 0; value < cap_max_bits(); value++)
        held += has(value, set);
    return held;
}

/* What the user who runs the tests can be given: nothing, unless that is root. */
static bool can_trace(void)
{
    return has(CAP_SYS_PTRACE, CAP_PERMITTED) && has(CAP_DAC_READ_SEARCH, CAP_PERMITTED);
}

static const cap_value_t usable[] = {
    CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_NET_ADMIN,    CAP_BPF,    CAP_SYS_ADMIN, CAP_PERFMON,
    CAP_SYSLOG,     CAP_NET_RAW,         CAP_DAC_OVERRIDE, CAP_SETUID, CAP_SETGID,    CAP_KILL};

static int init_body(void)
{
    unsigned permitted = 0;
    for (size_t i = 0; i < sizeof(usable) / sizeof(usable[0]); i++)
        permitted += has(usable[i], CAP_PERMITTED);
    REQUIRE(rights_init() == 0);
    REQUIRE(count(CAP_EFFECTIVE) == 0);
    REQUIRE(count(CAP_PERMITTED) == permitted);
    REQUIRE(rights_any() == (permitted > 0));
    REQUIRE(prctl(PR_GET_NO_NEW_PRIVS, 0L, 0L, 0L, 0L) == 1);
    return 0;
}

static void init_keeps_what_can_ever_be_needed_and_raises_nothing(void **state)
{
    (void)state;
    run_child(init_body);
}

static int limit_body(void)
{
    const bool admin = has(CAP_NET_ADMIN, CAP_PERMITTED);
    REQUIRE(rights_init() == 0);
    rights_limit(1u << RIGHT_NETFILTER);
    REQUIRE(count(CAP_PERMITTED) == (admin ? 1 : 0));
    REQUIRE(has(CAP_NET_ADMIN, CAP_PERMITTED) == admin);
    rights_limit(RIGHTS_ALL); /* what is gone does not come back */
    REQUIRE(count(CAP_PERMITTED) == (admin ? 1 : 0));
    rights_raise(RIGHT_OWNERS);
    REQUIRE(count(CAP_EFFECTIVE) == 0);
    rights_limit(0);
    REQUIRE(!rights_any() && count(CAP_PERMITTED) == 0);
    return 0;
}

static void a_limit_is_for_good(void **state)
{
    (void)state;
    run_child(limit_body);
}

/* What follows stands in for the system call's own function, which libcap calls. */
static bool capset_fails;

int capset(cap_user_header_t header, cap_user_data_t data)
{
    if (capset_fails) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_capset, header, data);
}

static int ended_by(void (*change)(void))
{
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        if (rights_init() < 0 || dup2(null, STDERR_FILENO) < 0)
            _exit(3);
        rights_raise(RIGHT_OWNERS);
        capset_fails = true;
        change();
        _exit(0); /* with the rights that should be gone */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void limit_to_none(void)
{
    rights_limit(0);
}

static void rights_that_cannot_be_given_up_end_the_process(void **state)
{
    (void)state;
    assert_int_equal(ended_by(rights_drop), 1);
    assert_int_equal(ended_by(rights_lower), can_trace() ? 1 : 0); /* a user has raised nothing */
    assert_int_equal(ended_by(limit_to_none), 1);
}

static int capset_fails_at_start_body(void)
{
    capset_fails = true;
    REQUIRE(rights_init() == -EPERM);
    return 0;
}

static void rights_that_cannot_be_limited_at_start_are_an_error(void **state)
{
    (void)state;
    run_child(capset_fails_at_start_body);
}

static void *thread_without_rights(void *arg)
{
    rights_drop_thread();
    *(bool *)arg = count(CAP_PERMITTED) == 0 && count(CAP_EFFECTIVE) == 0;
    return NULL;
}

static int thread_body(void)
{
    bool none = false;
    pthread_t thread;

    REQUIRE(rights_init() == 0);
    const unsigned permitted = count(CAP_PERMITTED);
    REQUIRE(pthread_create(&thread, NULL, thread_without_rights, &none) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0 && none);
    REQUIRE(count(CAP_PERMITTED) == permitted);
    return 0;
}

static void a_thread_gives_up_its_rights_alone(void **state)
{
    (void)state;
    run_child(thread_body);
}

static int raise_body(void)
{
    const unsigned expected = can_trace() ? 2 : 0;
    REQUIRE(rights_init() == 0);
    rights_raise(RIGHT_OWNERS);
    REQUIRE(count(CAP_EFFECTIVE) == expected);
    REQUIRE(has(CAP_SYS_PTRACE, CAP_EFFECTIVE) == (expected == 2));
    REQUIRE(has(CAP_DAC_READ_SEARCH, CAP_EFFECTIVE) == (expected == 2));
    rights_lower();
    REQUIRE(count(CAP_EFFECTIVE) == 0);
    rights_raise(RIGHT_READ);
    REQUIRE(count(CAP_EFFECTIVE) == expected / 2);
    REQUIRE(has(CAP_DAC_READ_SEARCH, CAP_EFFECTIVE) == (expected == 2));
    rights_lower();
    REQUIRE(count(CAP_EFFECTIVE) == 0);
    return 0;
}

static int whole_body(void)
{
    const cap_value_t missing = CAP_DAC_READ_SEARCH;
    const bool traces = can_trace();
    REQUIRE(rights_init() == 0);
    REQUIRE(rights_have_all_of(RIGHT_OWNERS) == traces);
    cap_t caps = cap_get_proc();
    cap_set_flag(caps, CAP_EFFECTIVE, 1, &missing, CAP_CLEAR);
    cap_set_flag(caps, CAP_PERMITTED, 1, &missing, CAP_CLEAR);
    REQUIRE(cap_set_proc(caps) == 0);
    cap_free(caps);
    REQUIRE(rights_init() == 0);
    REQUIRE(rights_have(1u << RIGHT_OWNERS) == traces);
    REQUIRE(!rights_have_all_of(RIGHT_OWNERS));
    return 0;
}

static void a_right_can_be_there_in_part(void **state)
{
    (void)state;
    run_child(whole_body);
}

static int shared_body(void)
{
    const bool bpf = has(CAP_BPF, CAP_PERMITTED);
    REQUIRE(rights_init() == 0);
    rights_limit(1u << RIGHT_BPF);
    rights_raise(RIGHT_SOCKETS);
    REQUIRE(count(CAP_EFFECTIVE) == 0);
    REQUIRE(!rights_have(1u << RIGHT_SOCKETS));
    rights_raise(RIGHT_BPF);
    REQUIRE(has(CAP_BPF, CAP_EFFECTIVE) == bpf);
    return 0;
}

static void a_capability_of_two_rights_is_raised_for_the_one_that_was_kept(void **state)
{
    (void)state;
    run_child(shared_body);
}

static void raise_gives_exactly_what_is_needed(void **state)
{
    (void)state;
    run_child(raise_body);
}

static int raise_netfilter_body(void)
{
    const bool admin = has(CAP_NET_ADMIN, CAP_PERMITTED);
    const bool reads = has(CAP_DAC_READ_SEARCH, CAP_PERMITTED);
    REQUIRE(rights_init() == 0);
    rights_raise(RIGHT_NETFILTER);
    REQUIRE(count(CAP_EFFECTIVE) == (admin ? 1 : 0));
    REQUIRE(has(CAP_NET_ADMIN, CAP_EFFECTIVE) == admin);
    rights_lower();
    REQUIRE(count(CAP_EFFECTIVE) == 0);
    rights_raise(RIGHT_NETFILTER_FILES);
    REQUIRE(count(CAP_EFFECTIVE) == (reads ? 1 : 0));
    REQUIRE(has(CAP_DAC_READ_SEARCH, CAP_EFFECTIVE) == reads);
    rights_limit(1u << RIGHT_NETFILTER_FILES); /* it shares its capability with another right */
    rights_raise(RIGHT_CONTAINERS);
    REQUIRE(count(CAP_EFFECTIVE) == 0);
    return 0;
}

static void asking_netfilter_and_reading_its_files_are_rights_apart(void **state)
{
    (void)state;
    run_child(raise_netfilter_body);
}

static int partly_permitted_body(void)
{
    const bool traces = can_trace();
    const cap_value_t missing = CAP_SYS_PTRACE;
    cap_t caps = cap_get_proc();
    cap_set_flag(caps, CAP_EFFECTIVE, 1, &missing, CAP_CLEAR);
    cap_set_flag(caps, CAP_PERMITTED, 1, &missing, CAP_CLEAR);
    REQUIRE(cap_set_proc(caps) == 0);
    cap_free(caps);
    REQUIRE(rights_init() == 0);
    rights_raise(RIGHT_OWNERS);
    REQUIRE(count(CAP_EFFECTIVE) == (traces ? 1 : 0));
    return 0;
}

static void rights_that_are_not_permitted_are_left_out(void **state)
{
    (void)state;
    run_child(partly_permitted_body);
}

static void *count_in_thread(void *arg)
{
    unsigned *held = arg;
    *held = count(CAP_EFFECTIVE) + count(CAP_PERMITTED) + count(CAP_INHERITABLE);
    return NULL;
}

static int drop_body(void)
{
    pthread_t thread;
    unsigned held = 1;
    const cap_value_t kept = CAP_DAC_READ_SEARCH;
    cap_t caps = cap_get_proc();
    if (can_trace())
        cap_set_flag(caps, CAP_INHERITABLE, 1, &kept, CAP_SET);
    REQUIRE(cap_set_proc(caps) == 0);
    cap_free(caps);
    if (can_trace())
        REQUIRE(cap_set_ambient(kept, CAP_SET) == 0);

    REQUIRE(rights_init() == 0);
    rights_drop();
    REQUIRE(!rights_any());
    REQUIRE(count(CAP_PERMITTED) + count(CAP_INHERITABLE) == 0);
    REQUIRE(cap_get_ambient(kept) == CAP_CLEAR);
    rights_raise(RIGHT_OWNERS);
    rights_raise(RIGHT_READ);
    REQUIRE(count(CAP_EFFECTIVE) == 0);
    REQUIRE(pthread_create(&thread, NULL, count_in_thread, &held) == 0);
    pthread_join(thread, NULL);
    REQUIRE(held == 0);
    return 0;
}

static void drop_is_for_good(void **state)
{
    (void)state;
    run_child(drop_body);
}

static void tests_do_not_run_with_elevated_rights(void **state)
{
    (void)state;
    assert_false(rights_elevated());
}

static int fill_body(void)
{
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    REQUIRE(rights_init() == 0);
    for (int fd = 0; fd <= 2; fd++)
        REQUIRE(fcntl(fd, F_GETFD) == 0);
    char byte = 'x';
    REQUIRE(read(STDIN_FILENO, &byte, 1) == 0);
    REQUIRE(write(STDOUT_FILENO, &byte, 1) == -1 && errno == EBADF);
    REQUIRE(write(STDERR_FILENO, &byte, 1) == -1 && errno == EBADF);
    REQUIRE(socket(AF_UNIX, SOCK_STREAM, 0) > 2);
    return 0;
}

static void closed_descriptors_are_filled_and_not_writable(void **state)
{
    (void)state;
    run_child(fill_body);
}

static int keep_body(void)
{
    char byte = 0;
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    REQUIRE(dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
    close(STDIN_FILENO);
    REQUIRE(rights_init() == 0);
    REQUIRE(write(STDOUT_FILENO, "y", 1) == 1);
    REQUIRE(read(ends[0], &byte, 1) == 1 && byte == 'y');
    return 0;
}

static void open_descriptors_are_kept(void **state)
{
    (void)state;
    run_child(keep_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_keeps_what_can_ever_be_needed_and_raises_nothing),
        cmocka_unit_test(a_limit_is_for_good),
        cmocka_unit_test(rights_that_cannot_be_given_up_end_the_process),
        cmocka_unit_test(a_thread_gives_up_its_rights_alone),
        cmocka_unit_test(rights_that_cannot_be_limited_at_start_are_an_error),
        cmocka_unit_test(a_right_can_be_there_in_part),
        cmocka_unit_test(a_capability_of_two_rights_is_raised_for_the_one_that_was_kept),
        cmocka_unit_test(raise_gives_exactly_what_is_needed),
        cmocka_unit_test(asking_netfilter_and_reading_its_files_are_rights_apart),
        cmocka_unit_test(rights_that_are_not_permitted_are_left_out),
        cmocka_unit_test(drop_is_for_good),
        cmocka_unit_test(tests_do_not_run_with_elevated_rights),
        cmocka_unit_test(closed_descriptors_are_filled_and_not_writable),
        cmocka_unit_test(open_descriptors_are_kept),
    };
    return cmocka_run_group_tests_name("rights", tests, NULL, NULL);
}
