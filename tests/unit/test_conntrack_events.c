/* Events that are kept to be sorted: so many, and then the listing is to end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/conntrack/conntrack_events.h"

static struct record event(uint8_t protocol)
{
    return (struct record){.kind = &kind_flow,
                           .has = UINT64_MAX,
                           .flow.family = AF_INET,
                           .flow.way[WAY_ORIG].tuple.protocol = protocol};
}

static bool is_to_end(const struct event_bound *bound)
{
    eventfd_t times = 0;

    return eventfd_read(bound->stop, &times) == 0 && times == 1;
}

static void the_last_event_that_fits_ends_the_listing(void **state)
{
    const struct record record = event(IPPROTO_TCP);
    size_t kept = 0;
    const struct event_bound bound = {
        .most = 3, .kept = &kept, .stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

    (void)state;
    assert_true(event_bound_keeps(&record, &bound));
    assert_true(event_bound_keeps(&record, &bound));
    assert_false(is_to_end(&bound));
    assert_true(event_bound_keeps(&record, &bound));
    assert_true(is_to_end(&bound));
    assert_int_equal(kept, 3);
    assert_false(event_bound_keeps(&record, &bound));
    assert_false(is_to_end(&bound));
    assert_int_equal(kept, 3);
    close(bound.stop);
}

static void events_that_nobody_wants_do_not_count(void **state)
{
    const struct flow_filter udp = {.fields = FILTER_PROTOCOL, .protocol = IPPROTO_UDP};
    const struct record wanted = event(IPPROTO_UDP), unwanted = event(IPPROTO_TCP);
    size_t kept = 0;
    const struct event_bound bound = {
        .filter = &udp, .most = 1, .kept = &kept, .stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

    (void)state;
    assert_false(event_bound_keeps(&unwanted, &bound));
    assert_false(is_to_end(&bound));
    assert_true(event_bound_keeps(&wanted, &bound));
    assert_true(is_to_end(&bound));
    close(bound.stop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_event_that_fits_ends_the_listing),
        cmocka_unit_test(events_that_nobody_wants_do_not_count),
    };

    return cmocka_run_group_tests_name("conntrack_events", tests, NULL, NULL);
}
