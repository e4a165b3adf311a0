/* SPDX-License-Identifier: MIT */
/* Lookups of what the kernel shows as files: control groups, and the ports that it chooses from. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/cgroups.h"
#include "fastnet/hosts.h"
#include "fastnet/owners.h"
#include "fastnet/sysctl.h"
#include "kit.h"
#include "ss_rows.h"

/* --- Control groups --------------------------------------------------------------------------- */

/* In a directory that stands for the mount: name is a path with a slash in front. */
static uint64_t make_group(const struct tree *tree, const char *name)
{
    char path[PATH_MAX];
    struct stat made;

    snprintf(path, sizeof path, "%s/net%s", tree->root, name);
    assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
    assert_int_equal(stat(path, &made), 0);
    return made.st_ino;
}

static void remove_group(const struct tree *tree, const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/net%s", tree->root, name);
    assert_int_equal(rmdir(path), 0);
}

/* The list of mounts, as a file in the tree. */
static void put_mounts(const struct tree *tree, char path[PATH_MAX])
{
    char text[4096];

    snprintf(
        text, sizeof text,
        "proc /proc proc rw 0 0\ncgroup /nowhere cgroup rw 0 0\ncgroup2 %s/net cgroup2 rw 0 0\n"
        "cgroup2 /elsewhere cgroup2 rw 0 0\n",
        tree->root);
    tree_puts(tree, "mounts", text);
    snprintf(path, PATH_MAX, "%s/net/mounts", tree->root);
}

static void a_group_is_found_by_the_inode_of_its_directory(void **state)
{
    struct cgroups *cgroups = NULL;
    char mounts[PATH_MAX];
    struct tree tree;

    (void)state;
    tree_make(&tree);
    put_mounts(&tree, mounts);
    const uint64_t root = make_group(&tree, ""), outer = make_group(&tree, "/system.slice");
    const uint64_t inner = make_group(&tree, "/system.slice/a b.service");
    const uint64_t hidden = make_group(&tree, "/.hidden");
    assert_int_equal(cgroups_create(&cgroups, mounts), 0);
    assert_string_equal(cgroups_path(cgroups, root), "/");
    assert_string_equal(cgroups_path(cgroups, outer), "/system.slice");
    assert_string_equal(cgroups_path(cgroups, inner), "/system.slice/a b.service");
    assert_string_equal(cgroups_path(cgroups, hidden), "/.hidden");
    assert_null(cgroups_path(cgroups, UINT64_MAX));
    cgroups_destroy(cgroups);
    remove_group(&tree, "/system.slice/a b.service");
    remove_group(&tree, "/system.slice");
    remove_group(&tree, "/.hidden");
    tree_remove(&tree);
}

static void without_a_mount_there_are_no_groups(void **state)
{
    struct cgroups *cgroups = NULL;
    char mounts[PATH_MAX];
    struct tree tree;

    (void)state;
    tree_make(&tree);
    put_mounts(&tree, mounts);
    tree_puts(&tree, "mounts", "proc /proc proc rw 0 0\n");
    assert_int_equal(cgroups_create(&cgroups, mounts), 0);
    assert_int_equal(cgroups_summary(cgroups)->error, ENOENT);
    assert_false(cgroups_summary(cgroups)->version1);
    assert_int_equal(cgroups_count(cgroups), 0);
    assert_null(cgroups_path(cgroups, 1));
    cgroups_destroy(cgroups);
    tree_puts(&tree, "mounts", "cgroup /nowhere cgroup rw,cpu 0 0\n");
    assert_int_equal(cgroups_create(&cgroups, mounts), 0);
    assert_int_equal(cgroups_summary(cgroups)->error, ENOENT);
    assert_true(cgroups_summary(cgroups)->version1);
    cgroups_destroy(cgroups);
    assert_int_equal(cgroups_create(&cgroups, "/nonexistent"), 0);
    assert_int_equal(cgroups_summary(cgroups)->error, ENOENT);
    cgroups_destroy(cgroups);
    assert_int_equal(cgroups_create(&cgroups, ""), 0);
    assert_int_equal(cgroups_summary(cgroups)->error, 0);
    assert_null(cgroups_path(cgroups, 1));
    cgroups_destroy(cgroups);
    tree_remove(&tree);
}

static void the_summary_says_which_groups_are_known(void **state)
{
    const struct cgroups_summary *summary;
    struct cgroups *cgroups = NULL;
    char mounts[PATH_MAX];
    struct tree tree;

    (void)state;
    tree_make(&tree);
    put_mounts(&tree, mounts);
    const uint64_t root = make_group(&tree, "");
    assert_int_equal(cgroups_create(&cgroups, mounts), 0);
    summary = cgroups_summary(cgroups);
    assert_true(summary->flat && summary->version1);
    assert_false(summary->asked);
    assert_true(summary->inside); /* the root of the machine has the inode 1 */
    assert_non_null(cgroups_by_id(cgroups, root));
    assert_true(summary->asked);
    assert_false(summary->unknown);
    assert_null(cgroups_by_id(cgroups, UINT64_MAX));
    assert_true(summary->unknown);
    cgroups_destroy(cgroups);
    make_group(&tree, "/system.slice");
    assert_int_equal(cgroups_create(&cgroups, mounts), 0);
    summary = cgroups_summary(cgroups);
    assert_false(summary->flat);
    assert_non_null(cgroups_by_path(cgroups, "/anything"));
    assert_false(summary->unknown);
    assert_null(cgroups_by_path(cgroups, "/.."));
    assert_true(summary->unknown);
    cgroups_destroy(cgroups);
    remove_group(&tree, "/system.slice");
    tree_remove(&tree);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void a_group_names_unit_container_and_pod(void **state)
{
    static const char *const paths[] = {"/lxc.payload.web", "/lxc.payload.web/nginx.service",
                                        "/docker-" ID ".scope", "/kubepods"};
    struct record record = {.kind = &kind_socket, .has = SOCKET_CGROUP};
    struct context context = {0};
    char mounts[PATH_MAX];
    uint64_t ids[COUNT(paths)];
    struct tree tree;

    (void)state;
    tree_make(&tree);
    put_mounts(&tree, mounts);
    make_group(&tree, "");
    for (size_t i = 0; i < COUNT(paths); i++)
        ids[i] = make_group(&tree, paths[i]);
    assert_int_equal(cgroups_create(&context.cgroups, mounts), 0);
    record.socket.cgroup = ids[1];
    assert_string_equal(text_of("cgroup", &record, &context), "/lxc.payload.web/nginx.service");
    assert_string_equal(text_of("unit", &record, &context), "nginx.service");
    assert_string_equal(text_of("container", &record, &context), "web");
    assert_string_equal(text_of("pod", &record, &context), "-");
    record.socket.cgroup = ids[2];
    assert_string_equal(text_of("unit", &record, &context), "docker-" ID ".scope");
    assert_string_equal(text_of("container", &record, &context), "0123456789ab");
    record.socket.cgroup = ids[3];
    assert_string_equal(text_of("unit", &record, &context), "-");
    assert_string_equal(text_of("container", &record, &context), "-");
    cgroups_destroy(context.cgroups);
    for (size_t i = COUNT(paths); i-- > 0;)
        if (i != 0)
            remove_group(&tree, paths[i]);
    remove_group(&tree, paths[0]);
    tree_remove(&tree);
}

/* A process of a tree as in proc(5), which holds socket 77. */
static void put_process(const struct tree *tree, int pid, const char *cgroup)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%d", tree->root, pid);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/%d/fd", tree->root, pid);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/%d/fd/3", tree->root, pid);
    assert_int_equal(symlink("socket:[77]", path), 0);
    snprintf(path, sizeof path, "../%d/comm", pid);
    tree_puts(tree, path, "zoo\n");
    snprintf(path, sizeof path, "../%d/cgroup", pid);
    tree_puts(tree, path, cgroup);
}

static void remove_process(const struct tree *tree, int pid)
{
    static const char *const names[] = {"/fd/3", "/fd", "/comm", "/cgroup", ""};
    char path[PATH_MAX];

    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%d%s", tree->root, pid, names[i]);
        assert_int_equal(remove(path), 0);
    }
}

/* The column of socket 77, whose own group the kernel does not say. */
static void assert_stand_in(const struct tree *tree, const char *name, const char *expected)
{
    const struct owners_options options = {.proc_root = tree->root, .cgroups = true, .threads = 1};
    struct record record = {
        .kind = &kind_socket, .has = SOCKET_INODE, .socket = {.family = AF_UNIX, .inode = 77}};
    struct context context = {0};

    assert_int_equal(cgroups_create(&context.cgroups, ""), 0);
    assert_int_equal(owners_create(&context.owners, &options), 0);
    assert_string_equal(text_of(name, &record, &context), expected);
    owners_destroy(context.owners);
    cgroups_destroy(context.cgroups);
}

static void the_group_of_the_first_owner_is_used(void **state)
{
    static const struct {
        const char *file, *cgroup, *unit;
    } rows[] = {
        {"0::/system.slice/nginx.service\n", "/system.slice/nginx.service", "nginx.service"},
        {"9:name=systemd:/a.service\n1:cpu:/b.service\n0::/c.service\n", "/c.service", "c.service"},
        {"0::/\n", "/", "-"},
        {"0::/../a.service\n", "/../a.service", "a.service"}, /* outside of the namespace */
        {"0::/../..\n", "-", "-"},
        {"9:cpu:/user.slice/b\n2:name=systemd:/b.service\n0::/\n", "/b.service", "b.service"},
        {"9:cpu:/docker/x/b.service\n8:name=systemd:/\n0::/\n", "/docker/x/b.service", "b.service"},
        {"9:cpu,cpuacct:/\n8:pids:/b.service\n", "/b.service", "b.service"},
        {"8:pids:b.service\n", "-", "-"},
        {"0::/a.service", "/a.service", "a.service"}, /* without a newline */
        {"1:cpu:/x\n0::/b.service\n3:pids:/docker/a", "/b.service", "b.service"},
        {"10::/a.service\n", "-", "-"},
        {"0::a.service\n", "-", "-"},
        {"", "-", "-"},
    };
    struct tree tree;

    (void)state;
    tree_make(&tree);
    put_process(&tree, 30, "0::/later.service\n");
    for (size_t i = 0; i < COUNT(rows); i++) {
        put_process(&tree, 20, rows[i].file);
        assert_stand_in(&tree, "cgroup", rows[i].cgroup);
        assert_stand_in(&tree, "unit", rows[i].unit);
        remove_process(&tree, 20);
    }
    assert_stand_in(&tree, "unit", "later.service");
    remove_process(&tree, 30);
    tree_remove(&tree);
}

/* Hierarchies of version 1 and version 2 side by side: systemd's hybrid mode, or less. */
static void containers_of_version_1_are_found_beside_version_2(void **state)
{
#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "8c6fd7e2-4b1a-4f0e-9c55-0a1b2c3d4e5f"
    static const struct {
        const char *file, *container, *pod, *unit;
    } rows[] = {
        {"8:memory:/docker/" ID "\n1:name=systemd:/docker/" ID
         "\n0::/system.slice/containerd.service\n",
         "0123456789ab", "-", "-"},
        {"1:name=systemd:/docker/" ID "\n0::/system.slice/docker.service", "0123456789ab", "-",
         "-"},
        {"0::/system.slice/containerd.service\n1:name=systemd:/kubepods/burstable/pod" UID "/" ID
         "\n",
         "0123456789ab", UID, "-"},
        {"11:pids:/kubepods/besteffort/pod" UID "/" ID
         "\n1:name=systemd:/system.slice/k3s.service\n0::/system.slice/k3s.service\n",
         "0123456789ab", UID, "-"},
        {"4:devices:/system.slice/docker-" ID ".scope\n0::/\n", "0123456789ab", "-",
         "docker-" ID ".scope"},
        {"1:name=systemd:/system.slice/containerd.service/kubepods-burstable-pod" UID
         ".slice:cri-containerd:" ID "\n0::/system.slice/containerd.service\n",
         "0123456789ab", UID, "containerd.service"},
        {"1:name=systemd:/lxc.payload.web\n0::/system.slice/lxc.service\n", "web", "-", "-"},
        /* what version 2 names itself is right */
        {"1:name=systemd:/docker/" ID "\n0::/kubepods/pod" UID "\n", "-", UID, "-"},
        {"1:name=systemd:/a.service\n0::/machine.slice/libpod-" ID ".scope\n", "0123456789ab", "-",
         "libpod-" ID ".scope"},
        /* a daemon is in no container */
        {"1:name=systemd:/system.slice/docker.service\n0::/system.slice/docker.service\n", "-", "-",
         "docker.service"},
        /* a unit tells more than a group without any */
        {"1:name=systemd:/system.slice/nginx.service\n0::/other\n", "-", "-", "nginx.service"},
        /* from a cgroup namespace beside it */
        {"0::/../../../../system.slice/docker-" ID ".scope\n", "0123456789ab", "-",
         "docker-" ID ".scope"},
        {"1:name=systemd:/../docker/" ID "\n0::/../../../system.slice/containerd.service\n",
         "0123456789ab", "-", "-"},
    };
    struct tree tree;

    (void)state;
    tree_make(&tree);
    for (size_t i = 0; i < COUNT(rows); i++) {
        put_process(&tree, 20, rows[i].file);
        assert_stand_in(&tree, "container", rows[i].container);
        assert_stand_in(&tree, "pod", rows[i].pod);
        assert_stand_in(&tree, "unit", rows[i].unit);
        remove_process(&tree, 20);
    }
    tree_remove(&tree);
}

static void a_socket_shows_the_path_of_its_group(void **state)
{
    struct record record = {.kind = &kind_socket, .has = SOCKET_CGROUP};
    struct context context = {0};
    char mounts[PATH_MAX];
    struct tree tree;

    (void)state;
    tree_make(&tree);
    put_mounts(&tree, mounts);
    record.socket.cgroup = make_group(&tree, "");
    assert_string_equal(text_of("cgroup", &record, &context), "-");
    assert_int_equal(cgroups_create(&context.cgroups, mounts), 0);
    assert_string_equal(text_of("cgroup", &record, &context), "/");
    record.socket.cgroup = UINT64_MAX;
    assert_string_equal(text_of("cgroup", &record, &context), "-");
    cgroups_destroy(context.cgroups);
    tree_remove(&tree);
}

static void a_row_of_ss_has_the_path_of_its_group(void **state)
{
    const struct ss_layout layout = {.cgroup = true, .numeric = true};
    struct record record = tcp_row("192.0.2.1", 1, "192.0.2.2", 2);
    struct context context = {0};
    char mounts[PATH_MAX];
    struct tree tree;

    (void)state;
    tree_make(&tree);
    put_mounts(&tree, mounts);
    record.has |= SOCKET_CGROUP;
    make_group(&tree, "");
    record.socket.cgroup = make_group(&tree, "/a b.service");
    assert_int_equal(cgroups_create(&context.cgroups, mounts), 0);
    assert_string_equal(ss_written_rows(&layout, &context, &record, 1),
                        "192.0.2.1:1 192.0.2.2:2 cgroup:/a b.service\n");
    record.socket.cgroup = 0xffffffffffff;
    assert_string_equal(ss_written_rows(&layout, &context, &record, 1),
                        "192.0.2.1:1 192.0.2.2:2 "
                        "cgroup:unreachable:ffffffffffff\n");
    cgroups_destroy(context.cgroups);
    remove_group(&tree, "/a b.service");
    tree_remove(&tree);
}

/* --- Ports ------------------------------------------------------------------------------------ */

#define RANGE "sys/net/ipv4/ip_local_port_range"

static int read_range(const char *text, struct netns_lookups *lookups)
{
    static const char *const directories[] = {"sys", "sys/net", "sys/net/ipv4"};
    char path[PATH_MAX];
    struct tree tree;
    int result;

    tree_make(&tree);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", tree.root, directories[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    if (text) {
        snprintf(path, sizeof path, "../" RANGE);
        tree_puts(&tree, path, text);
    }
    result = sysctl_numbers(tree.root, "net/ipv4/ip_local_port_range", lookups->ephemeral, 2);
    if (text) {
        snprintf(path, sizeof path, "%s/" RANGE, tree.root);
        assert_int_equal(unlink(path), 0);
    }
    for (size_t i = 3; i-- > 0;) {
        snprintf(path, sizeof path, "%s/%s", tree.root, directories[i]);
        assert_int_equal(rmdir(path), 0);
    }
    tree_remove(&tree);
    return result;
}

static void the_kernel_chooses_from_a_range(void **state)
{
    struct netns_lookups lookups = {.interfaces = NULL};

    (void)state;
    assert_int_equal(read_range("32768\t60999\n", &lookups), 0);
    assert_false(port_is_ephemeral(&lookups, 32767));
    assert_true(port_is_ephemeral(&lookups, 32768));
    assert_true(port_is_ephemeral(&lookups, 60999));
    assert_false(port_is_ephemeral(&lookups, 61000));
}

static void without_a_range_nothing_is_known(void **state)
{
    struct netns_lookups lookups = {.interfaces = NULL};
    const struct record record = {.kind = &kind_socket,
                                  .has = SOCKET_ADDRESSES,
                                  .socket = {.family = 2, .protocol = 6, .local.port = 40000}};

    (void)state;
    assert_int_equal(read_range(NULL, &lookups), -ENOENT);
    assert_int_equal(read_range("32768\n", &lookups), -EBADMSG);
    assert_int_equal(read_range("", &lookups), -EBADMSG);
    assert_int_equal(read_range("32768\t60999", &lookups),
                     -EBADMSG); /* more digits may have followed */
    assert_int_equal(lookups.ephemeral[1], 0);
    assert_string_equal(text_of("autobound", &record, &no_names), "-");
}

static void a_socket_shows_whether_its_port_may_be_chosen(void **state)
{
    struct record record = {.kind = &kind_socket,
                            .has = SOCKET_ADDRESSES,
                            .socket = {.family = 2, .protocol = 6, .local.port = 40000}};
    struct context context = {0};

    (void)state;
    assert_int_equal(read_range("32768 60999\n", &context.netns), 0);
    assert_string_equal(text_of("autobound", &record, &context), "yes");
    record.socket.local.port = 22;
    assert_string_equal(text_of("autobound", &record, &context), "no");
    record.socket.local.port = 40000;
    record.socket.protocol = 255; /* its port is a protocol */
    assert_string_equal(text_of("autobound", &record, &context), "no");
}

static void names_that_the_kernel_finds_are_five_digits(void **state)
{
    static const struct {
        struct text path;
        const char *autobound;
    } names[] = {
        {{"", 0}, "yes"},
        {{"\0"
          "0a1f9",
          6},
         "yes"},
        {{"\0"
          "0a1fg",
          6},
         "no"},
        {{"\0"
          "0a1f",
          5},
         "no"},
        {{"00a1f9", 6}, "no"},
        {{"\0"
          "00a1f9",
          7},
         "no"},
    };
    struct record record = {.kind = &kind_socket, .has = SOCKET_PATH, .socket = {.family = 1}};

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        record.socket.path = names[i].path;
        assert_string_equal(text_of("autobound", &record, &no_names), names[i].autobound);
    }
    record.has = 0;
    assert_string_equal(text_of("autobound", &record, &no_names), "-");
}

static void what_the_kernel_chooses_depends_on_the_family(void **state)
{
    struct record packet = {.kind = &kind_socket,
                            .has = SOCKET_ETHER,
                            .socket = {.family = AF_PACKET, .protocol = PROTOCOL_PACKET}};
    struct record netlink = {.kind = &kind_socket,
                             .has = SOCKET_NETLINK,
                             .socket = {.family = AF_NETLINK, .portid = UINT32_C(1) << 31}};

    (void)state;
    assert_string_equal(text_of("autobound", &packet, &no_names), "yes");
    packet.socket.ether_protocol = 3;
    assert_string_equal(text_of("autobound", &packet, &no_names), "no");
    assert_string_equal(text_of("autobound", &netlink, &no_names), "yes");
    netlink.socket.portid--;
    assert_string_equal(text_of("autobound", &netlink, &no_names), "no");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_is_found_by_the_inode_of_its_directory),
        cmocka_unit_test(without_a_mount_there_are_no_groups),
        cmocka_unit_test(the_summary_says_which_groups_are_known),
        cmocka_unit_test(a_group_names_unit_container_and_pod),
        cmocka_unit_test(the_group_of_the_first_owner_is_used),
        cmocka_unit_test(containers_of_version_1_are_found_beside_version_2),
        cmocka_unit_test(a_socket_shows_the_path_of_its_group),
        cmocka_unit_test(a_row_of_ss_has_the_path_of_its_group),
        cmocka_unit_test(the_kernel_chooses_from_a_range),
        cmocka_unit_test(without_a_range_nothing_is_known),
        cmocka_unit_test(a_socket_shows_whether_its_port_may_be_chosen),
        cmocka_unit_test(names_that_the_kernel_finds_are_five_digits),
        cmocka_unit_test(what_the_kernel_chooses_depends_on_the_family),
    };

    return cmocka_run_group_tests_name("kernel_lookups", tests, NULL, NULL);
}
