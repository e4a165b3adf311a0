/* SPDX-License-Identifier: MIT */
/* Names of network namespaces, from lines of /proc/PID/mountinfo as kernels write them. */
#include <stdio.h>
#include <string.h>

#include "fastnet/namespace.h"
#include "kit.h"

static void expect_none(const char *line)
{
    struct netns netns;

    if (namespace_of_mount(line, &netns))
        fail_msg("%s has the name '%s'", line, netns.name);
}

static struct netns netns_of(const char *line)
{
    struct netns netns;

    memset(&netns, 'x', sizeof netns);
    if (!namespace_of_mount(line, &netns))
        fail_msg("no namespace: %s", line);
    assert_int_equal(netns.fd, -1);
    return netns;
}

static void expect_name(const char *name, uint64_t id, const char *line)
{
    const struct netns netns = netns_of(line);

    assert_string_equal(netns.name, name);
    assert_int_equal(netns.id, id);
}

static void the_name_of_ip_netns_is_its_file(void **state)
{
    (void)state;
    expect_name("blue", 4026532177,
                "80 79 0:4 net:[4026532177] /run/netns/blue rw - nsfs nsfs rw\n");
    assert_true(netns_of("80 79 0:4 net:[1] /run/netns/blue rw - nsfs nsfs rw\n").named_by_ip);
    expect_name("blue", 4026532177,
                "80 79 0:4 net:[4026532177] /var/run/netns/blue rw - nsfs nsfs rw\n");
    assert_true(netns_of("80 79 0:4 net:[1] /var/run/netns/blue rw - nsfs nsfs rw\n").named_by_ip);
}

static void optional_fields_do_not_matter(void **state)
{
    (void)state;
    expect_name("blue", 4026532177,
                "85 84 0:4 net:[4026532177] /run/netns/blue rw shared:5 - nsfs nsfs rw\n");
    expect_name("blue", 4026532177,
                "85 84 0:4 net:[4026532177] /run/netns/blue rw,nosuid shared:5 master:2 "
                "propagate_from:1 unbindable - nsfs nsfs rw\n");
}

static void containers_have_the_names_of_their_files(void **state)
{
    (void)state;
    expect_name("5c1f0d0ad21e", 4026532553,
                "1042 25 0:4 net:[4026532553] /run/docker/netns/5c1f0d0ad21e rw shared:560 - nsfs "
                "nsfs rw\n");
    expect_name("default", 4026531840,
                "498 25 0:4 net:[4026531840] /run/docker/netns/default rw shared:244 - nsfs nsfs "
                "rw\n");
    assert_false(
        netns_of("1 2 0:4 net:[3] /run/docker/netns/5c1f0d0ad21e rw - nsfs nsfs rw\n").named_by_ip);
    expect_name("netns-2b21e1f5-8a3c-90a1-d7b7-0f1c3e1f7a11", 4026532740,
                "711 26 0:4 net:[4026532740] "
                "/run/netns/netns-2b21e1f5-8a3c-90a1-d7b7-0f1c3e1f7a11 rw shared:397 - nsfs nsfs "
                "rw\n");
    expect_name("cni-0f1c3e1f-7a11-2b21-8a3c-90a1d7b7e1f5", 4026532741,
                "712 26 0:4 net:[4026532741] /var/run/netns/cni-0f1c3e1f-7a11-2b21-8a3c-"
                "90a1d7b7e1f5 rw shared:398 - nsfs nsfs rw\n");
}

static void namespaces_of_a_user_have_the_names_of_their_files(void **state)
{
    const char *line = "913 880 0:4 net:[4026532888] /run/user/1000/netns/netns-6d1e rw shared:7 - "
                       "nsfs nsfs rw\n";

    (void)state;
    expect_name("netns-6d1e", 4026532888, line);
    assert_false(netns_of(line).named_by_ip);
    expect_name("rootless-netns-1", 4026532889,
                "914 880 0:4 net:[4026532889] "
                "/run/user/1000/containers/networks/rootless-netns/netns/rootless-netns-1 rw - "
                "nsfs nsfs rw\n");
}

static void other_places_are_whole_paths(void **state)
{
    (void)state;
    expect_name("/srv/netns/blue", 7, "80 79 0:4 net:[7] /srv/netns/blue rw - nsfs nsfs rw\n");
    expect_name("/run/netns", 7, "80 79 0:4 net:[7] /run/netns rw - nsfs nsfs rw\n");
    expect_name("/run/user/0/ns", 7, "80 79 0:4 net:[7] /run/user/0/ns rw - nsfs nsfs rw\n");
    expect_name("/home/run/netns/x", 7, "80 79 0:4 net:[7] /home/run/netns/x rw - nsfs nsfs rw\n");
}

static void octal_digits_mean_bytes(void **state)
{
    (void)state;
    expect_name("/tmp/a b\tc\nd\\e#", 9,
                "80 79 0:4 net:[9] /tmp/a\\040b\\011c\\012d\\134e\\043 rw - nsfs nsfs rw\n");
    expect_name("a b", 9, "80 79 0:4 net:[9] /run/netns/a\\040b rw - nsfs nsfs rw\n");
    expect_name("\xc3\xa9", 9, "80 79 0:4 net:[9] /run/netns/\\303\\251 rw - nsfs nsfs rw\n");
    expect_name("a\\04", 9, "80 79 0:4 net:[9] /run/netns/a\\04 rw - nsfs nsfs rw\n");
    expect_name("\\x", 9, "80 79 0:4 net:[9] /run/netns/\\x rw - nsfs nsfs rw\n");
}

/* A name that is cut may be that of another namespace. */
static void a_name_that_does_not_fit_is_none(void **state)
{
    char name[NAME_MAX + 2], line[512];

    (void)state;
    memset(name, 'n', sizeof name);
    name[NAME_MAX] = '\0';
    snprintf(line, sizeof line, "80 79 0:4 net:[9] /run/netns/%s rw - nsfs nsfs rw\n", name);
    expect_name(name, 9, line);
    memset(name, 'n', sizeof name);
    name[NAME_MAX + 1] = '\0';
    snprintf(line, sizeof line, "80 79 0:4 net:[9] /run/netns/%s rw - nsfs nsfs rw\n", name);
    expect_name("", 9, line);
}

static void other_mounts_are_none(void **state)
{
    (void)state;
    expect_none("36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n");
    expect_none("80 79 0:4 mnt:[4026532177] /run/mnt rw - nsfs nsfs rw\n");
    expect_none("80 79 0:4 uts:[4026532177] /run/netns/blue rw - nsfs nsfs rw\n");
    expect_none("80 79 0:4 / /run/netns/net:[5] rw - tmpfs net:[5] rw\n");
    expect_none("80 79 0:4 /net:[5] /run/netns/blue rw - tmpfs tmpfs rw\n");
}

static void malformed_lines_are_none(void **state)
{
    static const char *const lines[] = {
        "",
        "\n",
        " ",
        "80",
        "80 79 0:4",
        "80 79 0:4 ",
        "80 79 0:4 net:[",
        "80 79 0:4 net:[]",
        "80 79 0:4 net:[] /run/netns/blue rw",
        "80 79 0:4 net:[0] /run/netns/blue rw",
        "80 79 0:4 net:[-5] /run/netns/blue rw",
        "80 79 0:4 net:[ 5] /run/netns/blue rw",
        "80 79 0:4 net:[5",
        "80 79 0:4 net:[5]",
        "80 79 0:4 net:[5] ",
        "80 79 0:4 net:[5]  rw",
        "80 79 0:4 net:[5]x /run/netns/blue rw",
        "80 79 0:4 net:[5x] /run/netns/blue rw",
        "80 79 0:4 net:[5] /run/netns/blue", /* the line was cut, and perhaps the path */
        "80 79 0:4 net:[5] /run/netns/blue\n",
        "80 79 0:4 net:[5] /run/netns/ rw",
        "80 79 0:4 net:[5] /run/netns/blu\\000e rw",
        "net:[5] /run/netns/blue rw - nsfs nsfs rw\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_none(lines[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_of_ip_netns_is_its_file),
        cmocka_unit_test(optional_fields_do_not_matter),
        cmocka_unit_test(containers_have_the_names_of_their_files),
        cmocka_unit_test(namespaces_of_a_user_have_the_names_of_their_files),
        cmocka_unit_test(other_places_are_whole_paths),
        cmocka_unit_test(octal_digits_mean_bytes),
        cmocka_unit_test(a_name_that_does_not_fit_is_none),
        cmocka_unit_test(other_mounts_are_none),
        cmocka_unit_test(malformed_lines_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
