/* SPDX-License-Identifier: MIT */
/* What is known of the reasons for which packets are dropped. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/drop_probe.h"
#include "fastnet/drop_reasons.h"
#include "kit.h"

static const struct drop_reason *find(const char *reason, const char *function)
{
    return drop_reason_find(as_text(reason), as_text(function));
}

/* The kernel's names follow, which are those again that it has. */
static bool is_of_kernel(uint64_t i)
{
    for (uint64_t before = 0; before < i; before++)
        if (strcmp(drop_reason_word(before), drop_reason_word(i)) == 0)
            return true;
    return !drop_reason_find(as_text(drop_reason_word(i)), as_text(NULL));
}

static void the_names_of_this_kernel_follow(void **state)
{
    size_t sockets = 0, consumed = 0;
    const char *name;
    uint16_t magic;

    (void)state;
    const int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
    const bool ours = fd >= 0 && read(fd, &magic, sizeof magic) == sizeof magic && magic == 0xeb9f;
    close(fd);
    if (!ours)
        skip(); /* by an emulator it is that of another machine */
    drop_reasons_extend(drop_probe_kernel_word);
    for (uint64_t i = 0; (name = drop_reason_word(i)); i++) {
        sockets += strcmp(name, "NO_SOCKET") == 0;
        consumed += strstr(name, "CONSUMED") || strcmp(name, "MAX") == 0;
    }
    assert_int_equal(consumed, 0); /* these are none */
    assert_int_equal(sockets, 2);
}

static void each_reason_is_found_by_its_name_and_has_a_sentence(void **state)
{
    uint64_t count = 0;
    const char *name;

    (void)state;
    while ((name = drop_reason_word(count)) && !is_of_kernel(count)) {
        const struct drop_reason *reason = find(name, "");
        assert_non_null(reason);
        assert_string_equal(reason->name, name); /* there is no second one of this name */
        assert_true(strlen(reason->meaning) > 10);
        assert_int_not_equal(reason->meaning[strlen(reason->meaning) - 1], '.');
        assert_in_range(reason->class, DROP_IS_LOSS, DROP_IS_HARMLESS);
        assert_ptr_equal(drop_reason_find(as_text(name), as_text(name)), reason);
        count++;
    }
    assert_true(count >= 60);
    assert_null(drop_reason_word(UINT64_MAX));
}

static void reasons_have_the_class_that_they_should(void **state)
{
    static const struct {
        const char *name;
        enum drop_class class;
    } known[] = {
        {"NO_SOCKET", DROP_IS_POLICY},
        {"NETFILTER_DROP", DROP_IS_POLICY},
        {"TCP_OLD_DATA", DROP_IS_POLICY},
        {"TC_INGRESS", DROP_IS_POLICY},
        {"XDP", DROP_IS_POLICY},
        {"SOCKET_FILTER", DROP_IS_POLICY},
        {"NO_TX_TARGET", DROP_IS_POLICY},
        {"SOCKET_RCVBUFF", DROP_IS_LOSS},
        {"IP_OUTNOROUTES", DROP_IS_LOSS},
        {"IP_INADDRERRORS", DROP_IS_LOSS},
        {"NEIGH_FAILED", DROP_IS_LOSS},
        {"CPU_BACKLOG", DROP_IS_LOSS},
        {"ListenOverflows", DROP_IS_LOSS},
        {"SOCKET_CLOSE", DROP_IS_HARMLESS},
        {"TCP_OLD_ACK", DROP_IS_HARMLESS},
        {"QUEUE_PURGE", DROP_IS_HARMLESS},
        {"UNIX_SKIP_OOB", DROP_IS_HARMLESS},
        {"NOT_SPECIFIED", DROP_IS_LOSS},
        {"TCPReqQFullDrop", DROP_IS_LOSS},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        const struct drop_reason *reason = find(known[i].name, "");
        assert_non_null(reason);
        assert_int_equal(reason->class, known[i].class);
    }
}

static void without_a_reason_the_function_explains_the_drop(void **state)
{
    static const struct {
        const char *name;
        enum drop_class class;
    } functions[] = {
        {"netlink_release", DROP_IS_HARMLESS}, {"unix_release_sock", DROP_IS_HARMLESS},
        {"skb_queue_purge", DROP_IS_HARMLESS}, {"skb_release_data", DROP_IS_HARMLESS},
        {"tun_queue_purge", DROP_IS_HARMLESS}, {"inet_csk_destroy_sock", DROP_IS_HARMLESS},
        {"ip6_mc_input", DROP_IS_HARMLESS},    {"ip_rcv_finish_core", DROP_IS_POLICY},
        {"dst_discard", DROP_IS_POLICY},       {"ip_error", DROP_IS_POLICY},
        {"do_xdp_generic", DROP_IS_POLICY},    {"bpf_prog_run_generic_xdp", DROP_IS_POLICY},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(functions); i++) {
        const struct drop_reason *reason = find("NOT_SPECIFIED", functions[i].name);
        assert_non_null(reason);
        assert_string_equal(reason->name, functions[i].name);
        assert_int_equal(reason->class, functions[i].class);
        assert_string_equal(find("NO_SOCKET", functions[i].name)->name, "NO_SOCKET");
    }
    assert_string_equal(find("NOT_SPECIFIED", "some_other")->name, "NOT_SPECIFIED");
}

static void a_reason_without_a_name_is_unknown(void **state)
{
    (void)state;
    assert_null(find("0x20003", ""));
    assert_null(find("", "netlink_release"));
    assert_null(find("NO_SOCKE", ""));
    assert_null(find("NO_SOCKETS", ""));
    assert_null(find("no_socket", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reason_is_found_by_its_name_and_has_a_sentence),
        cmocka_unit_test(the_names_of_this_kernel_follow),
        cmocka_unit_test(reasons_have_the_class_that_they_should),
        cmocka_unit_test(without_a_reason_the_function_explains_the_drop),
        cmocka_unit_test(a_reason_without_a_name_is_unknown),
    };

    return cmocka_run_group_tests_name("drop_reasons", tests, NULL, NULL);
}
