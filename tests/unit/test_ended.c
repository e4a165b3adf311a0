/* SPDX-License-Identifier: MIT */
/* How a connection ended, from the facts that the kernel leaves. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

#include "backend/socket/ended.h"
#include "fastnet/array.h"
#include "fastnet/connects.h"
#include "kit.h"

enum { UNKNOWN = ENDED_UNKNOWN };
#define QUEUE_UNKNOWN UINT32_MAX

/* The facts about a connection, and what they prove. */
struct ended_case {
    const char *what;
    uint8_t state, reset_state;
    const char *reason;
    bool received;
    int error;
    uint32_t unacked;
    uint8_t ended, by;
};

static void ended_check(const struct ended_case *cases, size_t count, bool sees_resets)
{
    for (size_t i = 0; i < count; i++) {
        const struct ended_case *one = &cases[i];
        struct connect made = {.end = {.state = one->state,
                                       .reset_state = one->reset_state,
                                       .error = one->error,
                                       .received_reset = one->received,
                                       .sees_resets = sees_resets}};
        struct record record = {.has = one->unacked == QUEUE_UNKNOWN ? 0 : SOCKET_QUEUES,
                                .socket.send_q = one->unacked};
        struct socket_origin origin = {.pid = 7};
        char wanted[200], got[200];
        strcpy(made.end.reset_reason, one->reason ? one->reason : "");
        ended_decide(&made, &record, &origin);
        snprintf(wanted, sizeof wanted, "%s: %u by %u", one->what, one->ended, one->by);
        snprintf(got, sizeof got, "%s: %u by %u", one->what, origin.ended, origin.ended_by);
        assert_string_equal(got, wanted);
        assert_int_equal(origin.pid, 7);
    }
}

#define CHECK(cases) ended_check(cases, COUNT(cases), true)

static void the_end_that_sends_its_fin_first_has_closed(void **state)
{
    static const struct ended_case cases[] = {
        {"local first", TCP_FIN_WAIT2, 0, NULL, false, 0, 0, ENDED_CLOSED, ENDED_BY_LOCAL},
        {"peer first", TCP_LAST_ACK, 0, NULL, false, 0, 0, ENDED_CLOSED, ENDED_BY_PEER},
        {"both at once", TCP_CLOSING, 0, NULL, false, 0, 0, ENDED_CLOSED, ENDED_BY_UNKNOWN},
    };

    (void)state;
    CHECK(cases);
}

/* IP_RECVERR, or an attempt before whose error the program has not read. */
static void an_error_that_was_left_does_not_count(void **state)
{
    static const struct ended_case cases[] = {
        {"local", TCP_FIN_WAIT2, 0, NULL, false, EHOSTUNREACH, 0, ENDED_CLOSED, ENDED_BY_LOCAL},
        {"reset", TCP_FIN_WAIT2, 0, NULL, false, ECONNRESET, 0, ENDED_CLOSED, ENDED_BY_LOCAL},
        {"peer", TCP_LAST_ACK, 0, NULL, false, ETIMEDOUT, 0, ENDED_CLOSED, ENDED_BY_PEER},
    };

    (void)state;
    CHECK(cases);
}

static void a_reset_of_the_peer_must_have_arrived(void **state)
{
    static const struct ended_case cases[] = {
        {"open", TCP_ESTABLISHED, 0, NULL, true, ECONNRESET, 0, ENDED_RESET, ENDED_BY_PEER},
        {"half closed", TCP_CLOSE_WAIT, 0, NULL, true, EPIPE, 0, ENDED_RESET, ENDED_BY_PEER},
        {"SO_ERROR was faster", TCP_ESTABLISHED, 0, NULL, true, 0, 0, ENDED_RESET, ENDED_BY_PEER},
        {"not accepted", TCP_SYN_RECV, 0, NULL, true, ECONNRESET, 1, ENDED_RESET, ENDED_BY_PEER},
        {"none arrived", TCP_ESTABLISHED, 0, NULL, false, ECONNRESET, 0, UNKNOWN, 0},
    };

    (void)state;
    CHECK(cases);
}

static void a_program_resets_by_closing(void **state)
{
    static const struct ended_case cases[] = {
        {"unread data", TCP_ESTABLISHED, TCP_CLOSE, "TCP_ABORT_ON_CLOSE", false, 0, 0, ENDED_RESET,
         ENDED_BY_LOCAL},
        {"SO_LINGER 0", TCP_FIN_WAIT1, TCP_CLOSE, "TCP_STATE", false, 0, QUEUE_UNKNOWN, ENDED_RESET,
         ENDED_BY_LOCAL},
        /* the kernel treats the data as a reset (tcp_rcv_state_process() of tcp_input.c) */
        {"data for a closed socket", TCP_FIN_WAIT2, TCP_CLOSE, "TCP_ABORT_ON_DATA", true,
         ECONNRESET, 0, ENDED_RESET, ENDED_BY_LOCAL},
        {"no memory", TCP_LAST_ACK, TCP_CLOSE, "TCP_ABORT_ON_MEMORY", false, 0, 1, ENDED_RESET,
         ENDED_BY_KERNEL},
        {"an older kernel", TCP_ESTABLISHED, TCP_CLOSE, NULL, false, 0, 0, ENDED_RESET,
         ENDED_BY_LOCAL},
        {"an older kernel, perhaps without memory", TCP_LAST_ACK, TCP_CLOSE, NULL, false, 0, 0,
         ENDED_RESET, ENDED_BY_UNKNOWN},
    };

    (void)state;
    CHECK(cases);
}

static void ss_kill_is_the_local_end(void **state)
{
    static const struct ended_case cases[] = {
        {"open", TCP_ESTABLISHED, TCP_ESTABLISHED, "TCP_STATE", false, ECONNABORTED, 0, ENDED_RESET,
         ENDED_BY_LOCAL},
        {"nearly closed", TCP_LAST_ACK, 0, NULL, false, ECONNABORTED, 1, ENDED_CLOSED,
         ENDED_BY_LOCAL},
    };

    (void)state;
    CHECK(cases);
}

static void the_kernel_ends_by_its_timers(void **state)
{
    static const struct ended_case cases[] = {
        {"no acknowledgement", TCP_ESTABLISHED, 0, NULL, false, ETIMEDOUT, 5, ENDED_TIMEOUT,
         ENDED_BY_KERNEL},
        {"of the FIN", TCP_FIN_WAIT1, 0, NULL, false, ETIMEDOUT, 1, ENDED_TIMEOUT, ENDED_BY_KERNEL},
        {"and ICMP came", TCP_ESTABLISHED, 0, NULL, false, EHOSTUNREACH, 5, ENDED_UNREACHABLE,
         ENDED_BY_KERNEL},
        {"port unreachable", TCP_ESTABLISHED, 0, NULL, false, ECONNREFUSED, 5, ENDED_UNREACHABLE,
         ENDED_BY_KERNEL},
        {"keepalive", TCP_ESTABLISHED, TCP_ESTABLISHED, "TCP_KEEPALIVE_TIMEOUT", false, ETIMEDOUT,
         0, ENDED_TIMEOUT, ENDED_BY_KERNEL},
        {"keepalive and ICMP", TCP_ESTABLISHED, TCP_ESTABLISHED, "TCP_KEEPALIVE_TIMEOUT", false,
         EHOSTUNREACH, 0, ENDED_UNREACHABLE, ENDED_BY_KERNEL},
        {"keepalive of an older kernel", TCP_ESTABLISHED, TCP_ESTABLISHED, NULL, false, ETIMEDOUT,
         0, ENDED_TIMEOUT, ENDED_BY_KERNEL},
        {"no FIN of the peer", TCP_FIN_WAIT2, TCP_FIN_WAIT2, "TCP_STATE", false, EHOSTUNREACH, 0,
         ENDED_RESET, ENDED_BY_KERNEL},
        {"no memory", TCP_ESTABLISHED, TCP_ESTABLISHED, "TCP_ABORT_ON_MEMORY", false, 0, 9,
         ENDED_RESET, ENDED_BY_KERNEL},
        {"a path of MPTCP", TCP_ESTABLISHED, TCP_ESTABLISHED, "MPTCP_RST_EUNSPEC", false, 0, 0,
         ENDED_RESET, ENDED_BY_UNKNOWN},
    };

    (void)state;
    CHECK(cases);
}

static void without_a_proof_the_end_is_unknown(void **state)
{
    static const struct ended_case cases[] = {
        {"no note of the end", 0, 0, NULL, false, 0, 0, UNKNOWN, 0},
        {"only a reset is noted", 0, 0, NULL, false, ECONNRESET, 0, UNKNOWN, 0},
        {"the netns ended", TCP_ESTABLISHED, 0, NULL, false, 0, 0, UNKNOWN, 0},
        {"data was not acknowledged", TCP_LAST_ACK, 0, NULL, false, 0, 1, UNKNOWN, 0},
        {"the queue is unknown", TCP_LAST_ACK, 0, NULL, false, 0, QUEUE_UNKNOWN, UNKNOWN, 0},
        {"the queue is unknown", TCP_ESTABLISHED, 0, NULL, false, ETIMEDOUT, QUEUE_UNKNOWN, UNKNOWN,
         0},
        {"another error", TCP_ESTABLISHED, 0, NULL, false, EBADMSG, 3, UNKNOWN, 0},
    };
    static const struct ended_case blind[] = {
        {"resets are not seen", TCP_FIN_WAIT2, 0, NULL, false, 0, 0, UNKNOWN, 0}};

    (void)state;
    CHECK(cases);
    ended_check(blind, COUNT(blind), false);
}

static void an_attempt_ends_as_its_error_says(void **state)
{
    static const struct {
        int error;        /* sk_err */
        uint32_t connect; /* origin.error */
        bool received;
        uint8_t ended, by;
    } cases[] = {
        {ECONNREFUSED, ECONNREFUSED, true, ENDED_REFUSED, ENDED_BY_PEER},
        {ECONNREFUSED, ECONNREFUSED, false, ENDED_REFUSED, ENDED_BY_UNKNOWN}, /* ICMP */
        {0, ECONNREFUSED, false, ENDED_REFUSED, ENDED_BY_UNKNOWN},
        {ETIMEDOUT, ETIMEDOUT, false, ENDED_TIMEOUT, ENDED_BY_KERNEL},
        {EHOSTUNREACH, EHOSTUNREACH, false, ENDED_UNREACHABLE, ENDED_BY_KERNEL},
        {EACCES, EACCES, false, ENDED_UNREACHABLE, ENDED_BY_KERNEL},
        {0, EHOSTUNREACH, false, ENDED_UNREACHABLE, ENDED_BY_UNKNOWN},
        {0, ECANCELED, false, ENDED_CLOSED, ENDED_BY_LOCAL},
        {ECONNABORTED, ECONNABORTED, false, ENDED_CLOSED, ENDED_BY_LOCAL},
        {0, EADDRNOTAVAIL, false, ENDED_UNKNOWN, 0},
        {0, 0, false, ENDED_UNKNOWN, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct connect made = {.failed = true,
                                     .end = {.state = TCP_SYN_SENT,
                                             .error = cases[i].error,
                                             .received_reset = cases[i].received}};
        const struct record record = {.has = 0};
        struct socket_origin origin = {.error = cases[i].connect};
        ended_decide(&made, &record, &origin);
        assert_int_equal(origin.ended, cases[i].ended);
        assert_int_equal(origin.ended_by, cases[i].by);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_that_sends_its_fin_first_has_closed),
        cmocka_unit_test(an_error_that_was_left_does_not_count),
        cmocka_unit_test(a_reset_of_the_peer_must_have_arrived),
        cmocka_unit_test(a_program_resets_by_closing),
        cmocka_unit_test(ss_kill_is_the_local_end),
        cmocka_unit_test(the_kernel_ends_by_its_timers),
        cmocka_unit_test(without_a_proof_the_end_is_unknown),
        cmocka_unit_test(an_attempt_ends_as_its_error_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
