/* SPDX-License-Identifier: MIT */
/* All addresses of a host name, with a resolver that the test plays. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/hosts.h"
#include "kit.h"

static struct sockaddr_in in;
static struct sockaddr_in6 in6;
static struct addrinfo second = {
    .ai_family = AF_INET6, .ai_addr = (struct sockaddr *)&in6, .ai_addrlen = sizeof in6};
static struct addrinfo first = {.ai_family = AF_INET,
                                .ai_addr = (struct sockaddr *)&in,
                                .ai_addrlen = sizeof in,
                                .ai_next = &second};

/* The C library's. It runs in the child. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **all)
{
    if (service || strcmp(name, "none") == 0)
        return EAI_NONAME;
    if (strcmp(name, "late") == 0)
        pause();
    *all = hints->ai_family == AF_INET6 ? &second : &first;
    return 0;
}

void freeaddrinfo(struct addrinfo *all)
{
    (void)all;
}

static int set_up(void **state)
{
    const struct address ipv4 = ip("192.0.2.1"), ipv6 = ip("2001:db8::1");

    (void)state;
    memcpy(&in.sin_addr, ipv4.bytes, sizeof in.sin_addr);
    memcpy(&in6.sin6_addr, ipv6.bytes, sizeof in6.sin6_addr);
    return 0;
}

static void a_name_has_addresses_of_both_families(void **state)
{
    struct address found[4];

    (void)state;
    assert_int_equal(hosts_addresses("both", AF_UNSPEC, 0, 10000, found, 4, NULL), 2);
    assert_ip(&found[0], "192.0.2.1");
    assert_ip(&found[1], "2001:db8::1");
    assert_int_equal(hosts_addresses("both", AF_INET6, 0, 10000, found, 4, NULL), 1);
    assert_ip(&found[0], "2001:db8::1");
}

static void no_more_are_stored_than_there_is_room_for(void **state)
{
    struct address found[2] = {{.family = AF_UNSPEC}, {.family = AF_UNSPEC}};

    (void)state;
    assert_int_equal(hosts_addresses("both", AF_UNSPEC, 0, 10000, found, 1, NULL), 1);
    assert_int_equal(found[1].family, AF_UNSPEC);
}

static void a_name_without_addresses_is_not_found(void **state)
{
    struct address found[1];

    (void)state;
    assert_int_equal(hosts_addresses("none", AF_UNSPEC, 0, 10000, found, 1, NULL), -ENOENT);
}

/* The test would not end otherwise. */
static void a_late_answer_is_not_waited_for(void **state)
{
    struct address found[1];

    (void)state;
    assert_int_equal(hosts_addresses("late", AF_UNSPEC, 0, 50, found, 1, NULL), -ETIMEDOUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_addresses_of_both_families),
        cmocka_unit_test(no_more_are_stored_than_there_is_room_for),
        cmocka_unit_test(a_name_without_addresses_is_not_found),
        cmocka_unit_test(a_late_answer_is_not_waited_for),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
