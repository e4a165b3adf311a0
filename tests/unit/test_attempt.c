/* SPDX-License-Identifier: MIT */
/* Messages of the error queue of a socket, and the argument of --as with processes that are made.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h> /* linux/errqueue.h uses struct timespec */
#include <unistd.h>

#include <linux/errqueue.h>

#include "fastnet/attempt.h"
#include "kit.h"
#include "why/attempt_error.h"

/* --- The error queue -------------------------------------------------------------------------- */

/* Control data with one message, as recvmsg(2) returns it. */
struct made_control {
    _Alignas(struct cmsghdr) unsigned char bytes[256];
    struct msghdr message;
};

static void control_begin(struct made_control *made, int level, int type)
{
    struct cmsghdr *control;

    memset(made, 0, sizeof *made);
    made->message.msg_control = made->bytes;
    made->message.msg_controllen = sizeof made->bytes;
    control = CMSG_FIRSTHDR(&made->message);
    control->cmsg_level = level;
    control->cmsg_type = type;
    control->cmsg_len = CMSG_LEN(0);
    made->message.msg_controllen = CMSG_SPACE(0);
}

static void control_add(struct made_control *made, const void *data, size_t size)
{
    struct cmsghdr *control = (struct cmsghdr *)made->bytes;

    memcpy((unsigned char *)control + control->cmsg_len, data, size);
    control->cmsg_len += size;
    made->message.msg_controllen = CMSG_SPACE(control->cmsg_len - CMSG_LEN(0));
}

static void control_add_error(struct made_control *made, uint8_t origin)
{
    const struct sock_extended_err error = {.ee_errno = EHOSTUNREACH,
                                            .ee_origin = origin,
                                            .ee_type = 3,
                                            .ee_code = 13,
                                            .ee_info = 1280};
    control_add(made, &error, sizeof error);
}

static void a_message_of_icmp_names_its_sender(void **state)
{
    const struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a010001)};
    struct attempt_result result = {.state = ATTEMPT_WAITS};
    struct made_control made;

    (void)state;
    control_begin(&made, IPPROTO_IP, IP_RECVERR);
    control_add_error(&made, SO_EE_ORIGIN_ICMP);
    control_add(&made, &in, sizeof in);
    assert_true(attempt_take_error(&made.message, &result));
    assert_true(result.has_icmp);
    assert_false(result.icmp_is_local);
    assert_int_equal(result.icmp_type, 3);
    assert_int_equal(result.icmp_code, 13);
    assert_int_equal(result.icmp_error, EHOSTUNREACH);
    assert_int_equal(result.icmp_info, 1280);
    assert_int_equal(result.offender.family, AF_INET);
    assert_memory_equal(result.offender.bytes, "\x0a\x01\x00\x01", 4);
}

static void a_message_of_icmpv6_names_its_sender(void **state)
{
    const struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_addr.s6_addr = {0xfd, 1}};
    struct attempt_result result = {.state = ATTEMPT_WAITS};
    struct made_control made;

    (void)state;
    control_begin(&made, IPPROTO_IPV6, IPV6_RECVERR);
    control_add_error(&made, SO_EE_ORIGIN_ICMP6);
    control_add(&made, &in6, sizeof in6);
    assert_true(attempt_take_error(&made.message, &result));
    assert_int_equal(result.offender.family, AF_INET6);
    assert_memory_equal(result.offender.bytes, &in6.sin6_addr, 16);
}

static void a_message_of_this_kernel_is_local(void **state)
{
    struct attempt_result result = {.state = ATTEMPT_WAITS};
    struct made_control made;

    (void)state;
    control_begin(&made, IPPROTO_IP, IP_RECVERR);
    control_add_error(&made, SO_EE_ORIGIN_LOCAL);
    assert_true(attempt_take_error(&made.message, &result));
    assert_true(result.icmp_is_local);
    assert_int_equal(result.offender.family, AF_UNSPEC);
}

/* The kernel clears the address if it does not know it; here its last byte is missing, too. */
static void a_sender_may_be_unknown(void **state)
{
    const struct sockaddr_in none = {.sin_family = AF_UNSPEC}, in = {.sin_family = AF_INET};
    struct attempt_result result = {.state = ATTEMPT_WAITS};
    struct made_control made;

    (void)state;
    control_begin(&made, IPPROTO_IP, IP_RECVERR);
    control_add_error(&made, SO_EE_ORIGIN_ICMP);
    control_add(&made, &none, sizeof none);
    assert_true(attempt_take_error(&made.message, &result));
    assert_int_equal(result.offender.family, AF_UNSPEC);
    control_begin(&made, IPPROTO_IP, IP_RECVERR);
    control_add_error(&made, SO_EE_ORIGIN_ICMP);
    control_add(&made, &in, sizeof in - 1);
    assert_true(attempt_take_error(&made.message, &result));
    assert_int_equal(result.offender.family, AF_UNSPEC);
}

static void other_messages_are_ignored(void **state)
{
    struct attempt_result result = {.state = ATTEMPT_WAITS};
    struct made_control made;

    (void)state;
    control_begin(&made, IPPROTO_IP, IP_RECVERR);
    control_add_error(&made, SO_EE_ORIGIN_TIMESTAMPING);
    assert_false(attempt_take_error(&made.message, &result));
    control_begin(&made, IPPROTO_IP, IP_TTL);
    control_add_error(&made, SO_EE_ORIGIN_ICMP);
    assert_false(attempt_take_error(&made.message, &result));
    control_begin(&made, IPPROTO_IP, IP_RECVERR);
    control_add(&made, "short", 5);
    assert_false(attempt_take_error(&made.message, &result));
    assert_false(result.has_icmp);
}

static void a_length_beyond_the_data_is_refused(void **state)
{
    struct attempt_result result = {.state = ATTEMPT_WAITS};
    struct made_control made;

    (void)state;
    control_begin(&made, IPPROTO_IP, IP_RECVERR);
    control_add_error(&made, SO_EE_ORIGIN_ICMP);
    ((struct cmsghdr *)made.bytes)->cmsg_len += 64;
    assert_false(attempt_take_error(&made.message, &result));
    made.message.msg_controllen = 0;
    assert_false(attempt_take_error(&made.message, &result));
    assert_false(result.has_icmp);
}

/* --- --as ------------------------------------------------------------------------------------- */

static void put_process(const struct tree *tree, int pid, const char *status, const char *cgroup)
{
    char path[128];

    snprintf(path, sizeof path, "%d/status", pid);
    tree_put_file(tree, path, status);
    snprintf(path, sizeof path, "%d/comm", pid);
    tree_put_file(tree, path, "web\n");
    snprintf(path, sizeof path, "%d/cgroup", pid);
    tree_put_file(tree, path, cgroup);
    snprintf(path, sizeof path, "%s/%d/fd", tree->root, pid);
    assert_int_equal(mkdir(path, 0755), 0);
}

#define STATUS(state, ids)                                                                         \
    "Name:\tweb\\nserver\nState:\t" state "\nNgid:\t0\nUid:\t" ids "\nGid:\t1\t2\t3\t4\n"
#define NO_SUCH_GROUP "/no-such-group-of-fastnet.slice/web.service"

static struct attempt_as find(const struct tree *tree, const char *argument, int error)
{
    char wrong[ATTEMPT_WRONG] = "";
    struct attempt_as as;

    assert_int_equal(attempt_as_find(&as, argument, tree->root, wrong), error);
    assert_int_equal(*wrong != '\0', error != 0);
    attempt_as_finish(&as);
    return as;
}

static void a_process_gives_its_user_as_sockets_get_it(void **state)
{
    put_process(*state, 7, STATUS("S (sleeping)", "10\t11\t12\t13"),
                "3:cpu:/\n0::" NO_SUCH_GROUP "\n");
    const struct attempt_as as = find(*state, "pid:7", 0);
    assert_string_equal(as.text, "pid 7 (web\\nserver)");
    assert_int_equal(as.pid, 7);
    assert_true(as.has_user);
    assert_int_equal(as.uid, 13);
    assert_int_equal(as.gid, 4);
    assert_int_equal(as.lacks, ATTEMPT_LACKS_NETNS | ATTEMPT_LACKS_CGROUP);
}

static void a_process_with_an_unreadable_user_lacks_him(void **state)
{
    put_process(*state, 7, STATUS("S (sleeping)", "10\t11\t12"), "0::" NO_SUCH_GROUP "\n");
    const struct attempt_as as = find(*state, "7", 0);
    assert_false(as.has_user);
    assert_true(as.lacks & ATTEMPT_LACKS_USER);
}

static void a_process_that_has_ended_is_no_process(void **state)
{
    put_process(*state, 7, STATUS("Z (zombie)", "10\t11\t12\t13"), "0::/\n");
    find(*state, "pid:7", -ENOENT);
    find(*state, "pid:8", -ENOENT);
    find(*state, "pid:", -ENOENT);
    find(*state, "pid:7x", -ENOENT);
    find(*state, "pid:-7", -ENOENT);
    find(*state, "pid:99999999999999999999", -ENOENT);
}

static void a_unit_is_found_with_and_without_its_suffix(void **state)
{
    put_process(*state, 7, STATUS("S (sleeping)", "1\t1\t1\t1"), "0::" NO_SUCH_GROUP "\n");
    assert_int_equal(find(*state, "unit:web", 0).pid, 7);
    assert_string_equal(find(*state, "unit:web.service", 0).text, "unit web.service");
    find(*state, "unit:we", -ENOENT);
    find(*state, "unit:", -ENOENT);
}

static void a_container_is_found_by_its_whole_id_too(void **state)
{
    static const char id[] = "0000000000aa0123456789abcdef0123456789abcdef0123456789abcdef0123";
    char cgroup[128], argument[128];

    snprintf(cgroup, sizeof cgroup, "0::/system.slice/docker-%s.scope\n", id);
    put_process(*state, 7, STATUS("S (sleeping)", "1\t1\t1\t1"), cgroup);
    snprintf(argument, sizeof argument, "container:%s", id);
    assert_int_equal(find(*state, argument, 0).pid, 7);
    assert_string_equal(find(*state, argument, 0).text, "container 0000000000aa");
    assert_int_equal(find(*state, "0000000000aa", 0).pid, 7);
}

static void a_word_that_is_two_things_is_refused_with_the_choices(void **state)
{
    char wrong[ATTEMPT_WRONG];
    struct attempt_as as;

    put_process(*state, 7, STATUS("S (sleeping)", "1\t1\t1\t1"), "0::" NO_SUCH_GROUP "\n");
    put_process(*state, 8, STATUS("S (sleeping)", "1\t1\t1\t1"), "0::/lxc.payload.web\n");
    assert_int_equal(attempt_as_find(&as, "web", ((struct tree *)*state)->root, wrong), -EINVAL);
    assert_string_equal(wrong, "web is a unit and a container: type --as=unit:web or "
                               "--as=container:web");
    attempt_as_finish(&as);
    assert_int_equal(find(*state, "container:web", 0).pid, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_of_icmp_names_its_sender),
        cmocka_unit_test(a_message_of_icmpv6_names_its_sender),
        cmocka_unit_test(a_message_of_this_kernel_is_local),
        cmocka_unit_test(a_sender_may_be_unknown),
        cmocka_unit_test(other_messages_are_ignored),
        cmocka_unit_test(a_length_beyond_the_data_is_refused),
        IN_TREE(a_process_gives_its_user_as_sockets_get_it),
        IN_TREE(a_process_with_an_unreadable_user_lacks_him),
        IN_TREE(a_process_that_has_ended_is_no_process),
        IN_TREE(a_unit_is_found_with_and_without_its_suffix),
        IN_TREE(a_container_is_found_by_its_whole_id_too),
        IN_TREE(a_word_that_is_two_things_is_refused_with_the_choices),
    };

    return cmocka_run_group_tests_name("attempt", tests, NULL, NULL);
}
