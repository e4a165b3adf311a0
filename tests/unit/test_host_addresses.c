/* SPDX-License-Identifier: MIT */
/* All addresses of a host name, with a resolver that the test plays. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastnet/addresses.h"
#include "fastnet/hosts.h"
#include "fastnet/rights.h"
#include "kit.h"

static struct sockaddr_in in;
static struct sockaddr_in6 in6;
static struct addrinfo second = {
    .ai_family = AF_INET6, .ai_addr = (struct sockaddr *)&in6, .ai_addrlen = sizeof in6};
static struct addrinfo first = {.ai_family = AF_INET,
                                .ai_addr = (struct sockaddr *)&in,
                                .ai_addrlen = sizeof in,
                                .ai_next = &second};

enum { MANY = 100, ETH0 = 3 };

static struct addrinfo many[MANY];

/* The C library's. It runs in the child, except with AI_NUMERICHOST. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **all)
{
    const bool is_numeric = strchr(name, ':');

    if (service || strcmp(name, "none") == 0 || is_numeric != !!(hints->ai_flags & AI_NUMERICHOST))
        return EAI_NONAME;
    if (strcmp(name, "late") == 0)
        pause();
    if (strcmp(name, "rights") == 0)
        return rights_any() ? EAI_FAIL : EAI_NONAME;
    if (strcmp(name, "crash") == 0)
        raise(SIGKILL);
    if (strcmp(name, "many") == 0) {
        *all = many;
        return 0;
    }
    if (is_numeric) {
        *all = &second;
        return 0;
    }
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
    in6.sin6_scope_id = ETH0;
    for (size_t i = 0; i < MANY; i++) {
        many[i] = first;
        many[i].ai_next = i + 1 < MANY ? &many[i + 1] : NULL;
    }
    return rights_init();
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

/* --- addresses_find() ------------------------------------------------------------------------- */

static struct addresses found_by(const char *name, unsigned milliseconds)
{
    struct addresses found;

    memset(&found, 0xa5, sizeof found);
    assert_int_equal(addresses_find(&found, name, AF_UNSPEC, milliseconds), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    return found;
}

static void addresses_keep_the_order_of_the_resolver(void **state)
{
    const struct addresses found = found_by("both", 10000);

    (void)state;
    assert_int_equal(found.count, 2);
    assert_ip(&found.list[0], "192.0.2.1");
    assert_int_equal(found.interfaces[0], 0);
    assert_ip(&found.list[1], "2001:db8::1");
    assert_int_equal(found.interfaces[1], ETH0);
    assert_int_equal(found.more, 0);
    assert_int_equal(found.error, 0);
}

/* The resolver of the test knows it only with AI_NUMERICHOST. */
static void an_address_is_not_looked_up(void **state)
{
    const struct addresses found = found_by("2001:db8::1%eth0", 0);

    (void)state;
    assert_int_equal(found.count, 1);
    assert_ip(&found.list[0], "2001:db8::1");
    assert_int_equal(found.interfaces[0], ETH0);
    assert_int_equal(found.error, 0);
}

static void addresses_beyond_the_list_are_counted(void **state)
{
    const struct addresses found = found_by("many", 10000);

    (void)state;
    assert_int_equal(found.count, ADDRESSES_MAX);
    assert_int_equal(found.more, MANY - ADDRESSES_MAX);
}

static void a_name_that_does_not_exist_has_the_error_of_the_resolver(void **state)
{
    const struct addresses found = found_by("none", 10000);

    (void)state;
    assert_int_equal(found.count, 0);
    assert_int_equal(found.error, EAI_NONAME);
    assert_string_equal(addresses_error(found.error), gai_strerror(EAI_NONAME));
}

static void a_resolver_that_does_not_answer_is_ended(void **state)
{
    const struct addresses found = found_by("late", 50);

    (void)state;
    assert_int_equal(found.count, 0);
    assert_int_equal(found.error, ADDRESSES_NO_ANSWER);
    assert_string_equal(addresses_error(found.error), "no answer in time");
}

static void a_name_is_looked_up_without_rights(void **state)
{
    (void)state;
    assert_int_equal(found_by("rights", 10000).error, EAI_NONAME);
}

static void a_resolver_that_crashes_is_an_error(void **state)
{
    const struct addresses found = found_by("crash", 10000);

    (void)state;
    assert_int_equal(found.count, 0);
    assert_int_equal(found.error, EAI_FAIL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_addresses_of_both_families),
        cmocka_unit_test(no_more_are_stored_than_there_is_room_for),
        cmocka_unit_test(a_name_without_addresses_is_not_found),
        cmocka_unit_test(a_late_answer_is_not_waited_for),
        cmocka_unit_test(addresses_keep_the_order_of_the_resolver),
        cmocka_unit_test(an_address_is_not_looked_up),
        cmocka_unit_test(addresses_beyond_the_list_are_counted),
        cmocka_unit_test(a_name_that_does_not_exist_has_the_error_of_the_resolver),
        cmocka_unit_test(a_resolver_that_does_not_answer_is_ended),
        cmocka_unit_test(a_name_is_looked_up_without_rights),
        cmocka_unit_test(a_resolver_that_crashes_is_an_error),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
