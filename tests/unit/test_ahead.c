/* SPDX-License-Identifier: MIT */
/* Datagrams that a thread receives ahead: from a pair of sockets, which stands in for the kernel.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/netlink/ahead.h"
#include "kit.h"

enum { SMALL = 100 };

struct pair {
    int near, far;
};

static int open_pair(void **state)
{
    static struct pair pair;
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds) < 0)
        return -1;
    pair = (struct pair){fds[0], fds[1]};
    *state = &pair;
    return 0;
}

static int close_pair(void **state)
{
    const struct pair *pair = *state;

    close(pair->near);
    close(pair->far);
    return 0;
}

static void send_number(const struct pair *pair, uint32_t number)
{
    char bytes[SMALL] = {0};

    memcpy(bytes, &number, sizeof number);
    assert_int_equal(send(pair->far, bytes, sizeof bytes, MSG_DONTWAIT), sizeof bytes);
}

static void expect_number(struct ahead *ahead, uint32_t expected)
{
    struct datagram datagram;
    uint32_t number;

    assert_true(ahead_receive(ahead, &datagram));
    assert_int_equal(datagram.length, SMALL);
    assert_int_equal(datagram.port, 0);
    memcpy(&number, datagram.data, sizeof number);
    assert_int_equal(number, expected);
}

static void datagrams_come_in_order_until_there_are_none(void **state)
{
    enum { COUNT_SENT = 9 }; /* more than two batches, the last one not full */
    struct ahead *ahead;
    struct datagram datagram;

    for (uint32_t i = 0; i < COUNT_SENT; i++)
        send_number(*state, i);
    ahead = ahead_start(((struct pair *)*state)->near);
    assert_non_null(ahead);
    for (uint32_t i = 0; i < COUNT_SENT; i++)
        expect_number(ahead, i);
    assert_false(ahead_receive(ahead, &datagram));
    send_number(*state, 0);
    assert_false(ahead_receive(ahead, &datagram)); /* the thread has ended */
    ahead_end(ahead);
}

static void without_any_datagram_the_thread_ends_at_once(void **state)
{
    struct ahead *ahead = ahead_start(((struct pair *)*state)->near);
    struct datagram datagram;

    assert_non_null(ahead);
    assert_false(ahead_receive(ahead, &datagram));
    ahead_end(ahead);
}

static void datagrams_that_nobody_takes_do_not_stop_the_end(void **state)
{
    struct ahead *ahead;

    for (uint32_t i = 0; i < 10; i++) /* the thread waits for room */
        send_number(*state, i);
    ahead = ahead_start(((struct pair *)*state)->near);
    assert_non_null(ahead);
    expect_number(ahead, 0);
    ahead_end(ahead);
}

static void an_error_is_handed_on_and_stays(void **state)
{
    struct ahead *ahead = ahead_start(-1);
    struct datagram datagram;

    (void)state;
    assert_non_null(ahead);
    assert_true(ahead_receive(ahead, &datagram));
    assert_int_equal(datagram.length, -EBADF);
    assert_true(ahead_receive(ahead, &datagram)); /* and stays */
    assert_int_equal(datagram.length, -EBADF);
    ahead_end(ahead);
}

static void a_datagram_that_does_not_fit_is_an_error_of_its_own(void **state)
{
    static char large[DATAGRAM_SIZE + 1];
    const struct pair *pair = *state;
    struct ahead *ahead;
    struct datagram datagram;

    assert_int_equal(send(pair->far, large, sizeof large, MSG_DONTWAIT), sizeof large);
    send_number(pair, 7);
    ahead = ahead_start(pair->near);
    assert_non_null(ahead);
    assert_true(ahead_receive(ahead, &datagram));
    assert_int_equal(datagram.length, -EMSGSIZE);
    expect_number(ahead, 7);
    ahead_end(ahead);
}

#define WITH_PAIR(test) cmocka_unit_test_setup_teardown(test, open_pair, close_pair)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PAIR(datagrams_come_in_order_until_there_are_none),
        WITH_PAIR(without_any_datagram_the_thread_ends_at_once),
        WITH_PAIR(datagrams_that_nobody_takes_do_not_stop_the_end),
        WITH_PAIR(an_error_is_handed_on_and_stays),
        WITH_PAIR(a_datagram_that_does_not_fit_is_an_error_of_its_own),
    };

    return cmocka_run_group_tests_name("ahead", tests, NULL, NULL);
}
