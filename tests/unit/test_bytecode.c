/* SPDX-License-Identifier: MIT */
/* What the kernel is asked to leave out: by its own rules it takes each program, and each passes
 * the sockets that are wanted. */
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fuzz/kernel_bytecode.h"
#include "backend/socket/bytecode.h"
#include "cli/where/where.h"
#include "fastnet/cgroups.h"
#include "fastnet/hosts.h"
#include "kit.h"

static struct record made(struct address local, uint16_t local_port, struct address remote,
                          uint16_t remote_port)
{
    return (struct record){.kind = &kind_socket,
                           .has = UINT64_MAX,
                           .socket = {.family = local.family,
                                      .protocol = IPPROTO_TCP,
                                      .state = TCP_ESTABLISHED,
                                      .interface = local_port == 22 ? 7 : 0,
                                      .mark = local_port == 22    ? 0x17
                                              : local_port == 443 ? 7
                                                                  : 0,
                                      .cgroup = local_port == 8080 ? 5000000000 : 1,
                                      .local = {local, local_port},
                                      .remote = {remote, remote_port}}};
}

static size_t make_sockets(struct record sockets[8])
{
    const struct address ten = IPV4(10, 1, 2, 3), other = IPV4(192, 0, 2, 1), any = IPV4(0);
    const struct address mapped = IPV6([10] = 0xff, [11] = 0xff, [12] = 10, [15] = 9);
    const struct address six = IPV6(0x20, 0x01, 0x0d, 0xb8, [15] = 1), any6 = IPV6(0);
    size_t count = 0;

    sockets[count++] = made(ten, 22, other, 40000);
    sockets[count++] = made(other, 40000, ten, 443);
    sockets[count++] = made(any, 443, any, 0);
    sockets[count++] = made(any6, 65535, any6, 0);
    sockets[count++] = made(mapped, 8080, mapped, 1);
    sockets[count++] = made(six, 8999, six, 65535);
    return count;
}

/* The program of an expression, until the next one is compiled; of length 0 if there is none. */
static struct kernel_program compile(const char *text, const struct record *sockets, bool wanted[8],
                                     size_t count)
{
    static uint32_t words[BYTECODE_WORDS];
    struct kernel_program program = {(const char *)words, 0};
    struct where where = {0};
    const struct predicate *predicate = where_parse(&where, &kind_socket, text);

    if (!predicate)
        fail_msg("%s: %s", text, where.message);
    program.length = (int)(4 * bytecode_compile(words, predicate, NULL));
    for (size_t i = 0; i < count; i++)
        wanted[i] = predicate_holds(predicate, &sockets[i], &no_names);
    where_finish(&where);
    return program;
}

static void the_kernel_alone_judges_what_bytecode_can_compare(void **state)
{
    static const char *const texts[] = {
        "local_port = 22",
        "local_port != 22",
        "local_port = 0",
        "remote_port = 65535",
        "local_port < 443",
        "local_port < 0",
        "local_port < 1",
        "local_port <= 443",
        "local_port > 443",
        "local_port > 65535",
        "local_port > 65534",
        "local_port >= 65535",
        "local_port in 22,443,8000-8999",
        "local_port not in 22,443,8000-8999",
        "local_port in 0-65535 and remote_port = 0",
        "local_address = 10.1.2.3",
        "local_address in 10.0.0.0/8",
        "local_address in 0.0.0.0/0",
        "local_address != 0.0.0.0/1",
        "local_address = ::",
        "remote_address in 2001:db8::/32",
        "local_address in ::/0",
        "remote_address in ::ffff:10.0.0.0/104",
        "interface = 7",
        "mark = 7",
        "mark != 7",
        "mark = 0x10/0xf0",
        "cgroup_id = 5000000000",
        "not cgroup_id = 5000000000 or mark = 0x17",
        "not (local_port = 22 or remote_port = 443) and not local_address = ::/0",
        "(local_port = 22 or local_address = ::) and (remote_port > 0 or local_port = 65535)",
        "not not local_port = 22",
        "not (local_port = 22 and not (remote_port = 40000 or remote_port = 1))",
    };
    struct record sockets[8];
    const size_t count = make_sockets(sockets);

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        bool wanted[8];
        const struct kernel_program program = compile(texts[i], sockets, wanted, count);
        if (!kernel_takes(program))
            fail_msg("%s: refused", texts[i]);
        for (size_t j = 0; j < count; j++)
            if (kernel_passes(program, &sockets[j].socket) != wanted[j])
                fail_msg("%s: socket %zu", texts[i], j);
    }
}

static void comparisons_that_bytecode_lacks_filter_nothing(void **state)
{
    static const struct {
        const char *text;
        bool filters;
    } rows[] = {
        {"uid = 1", false},
        {"uid = 1 or local_port = 22", false},
        {"not (uid = 1 and local_port = 22)", false},
        {"local_service = ssh", false},
        {"local_port = null", false},
        {"local_address in 10.0.0.0-10.0.0.9", false},
        {"interface = no_such_device0", false},
        {"local_port >= 0", false},
        {"uid = 1 and local_port = 22", true},
        {"not (uid = 1 or local_port = 22)", true},
        {"(uid = 1 or local_port = 22) and remote_port = 40000", true},
    };
    struct record sockets[8];
    const size_t count = make_sockets(sockets);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool wanted[8];
        const struct kernel_program program = compile(rows[i].text, sockets, wanted, count);
        assert_int_equal(program.length > 0, rows[i].filters);
        if (program.length && !kernel_takes(program))
            fail_msg("%s: refused", rows[i].text);
        for (size_t j = 0; j < count && program.length; j++)
            if (wanted[j] && !kernel_passes(program, &sockets[j].socket))
                fail_msg("%s: socket %zu", rows[i].text, j);
    }
}

/* Of a port that nobody looked up, only the kernel says anything. */
static void who_chose_a_port_only_the_kernel_knows(void **state)
{
    static const struct {
        const char *text;
        bool chosen;
    } rows[] = {{"autobound = 1", true},
                {"autobound = 0", false},
                {"autobound != 1", false},
                {"not autobound = 0", true}};
    struct record sockets[8];
    const size_t count = make_sockets(sockets);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool wanted[8];
        const struct kernel_program program = compile(rows[i].text, sockets, wanted, count);
        assert_true(kernel_takes(program));
        for (size_t j = 0; j < count; j++)
            assert_int_equal(kernel_passes(program, &sockets[j].socket),
                             (sockets[j].socket.local.port >= KERNEL_PORT_FIRST) == rows[i].chosen);
    }
}

static void a_program_that_is_too_long_is_not_made(void **state)
{
    static char text[40 * BYTECODE_WORDS];
    struct kernel_program program;
    struct record sockets[8];
    bool wanted[8];
    char *at = text;

    (void)state;
    make_sockets(sockets);
    for (unsigned i = 0; i < 300; i++)
        at += sprintf(at, "local_port = %u or ", 1000 + i);
    sprintf(at, "local_port = 22");
    program = compile(text, sockets, wanted, 1);
    assert_true(wanted[0]);
    assert_true(kernel_takes(program));
    assert_true(kernel_passes(program, &sockets[0].socket));
    for (unsigned i = 0; i < 1000; i++)
        at += sprintf(at, "local_port = %u or ", 1000 + i);
    sprintf(at, "local_port = 22");
    assert_int_equal(compile(text, sockets, wanted, 1).length, 0);
    assert_int_equal(bytecode_compile(NULL, NULL, NULL), 0);
}

/* --- Control groups --------------------------------------------------------------------------- */

/* Directories that stand for groups, below the mount, and a list of mounts. */
static const char *const groups[] = {"", "/nginx.service", "/lxc.payload.web",
                                     "/lxc.payload.web/nginx.service", "/b.service"};

static struct cgroups *make_groups(struct tree *tree, uint64_t ids[COUNT(groups)])
{
    static char mounts[PATH_MAX];
    struct cgroups *cgroups = NULL;
    char text[PATH_MAX + 64], path[PATH_MAX];

    tree_make(tree);
    for (size_t i = 0; i < COUNT(groups); i++) {
        struct stat status;
        snprintf(path, sizeof path, "%s/net%s", tree->root, groups[i]);
        assert_true(i == 0 || mkdir(path, 0700) == 0);
        assert_int_equal(stat(path, &status), 0);
        ids[i] = status.st_ino;
    }
    snprintf(text, sizeof text, "cgroup2 %s/net cgroup2 rw 0 0\n", tree->root);
    tree_puts(tree, "mounts", text);
    snprintf(mounts, sizeof mounts, "%s/net/mounts", tree->root);
    assert_int_equal(cgroups_create(&cgroups, mounts), 0);
    return cgroups;
}

static void remove_groups(struct tree *tree)
{
    char path[PATH_MAX];

    for (size_t i = COUNT(groups); i-- > 1;) {
        snprintf(path, sizeof path, "%s/net%s", tree->root, groups[i]);
        assert_int_equal(rmdir(path), 0);
    }
    tree_remove(tree);
}

static void the_kernel_judges_paths_of_groups_by_their_ids(void **state)
{
    static const char *const texts[] = {
        "unit = nginx.service",
        "unit != null and not unit = nginx.service",
        "container != null and not (unit = null or local_port = 0)",
        "unit ~ '*.service'",
        "unit = none.service",
        "unit = none.service or local_port = 22",
        "unit in nginx.service,b.service",
        "unit = nginx.service and container = null",
        "container = web",
        "container = null",
        "cgroup = /lxc.payload.web",
        "cgroup ~ /lxc*",
        "cgroup != null and pod = null",
    };
    struct record sock = made((struct address)IPV4(0), 22, (struct address)IPV4(0), 0);
    uint64_t ids[COUNT(groups)];
    struct context context = {0};
    struct tree tree;

    (void)state;
    context.cgroups = make_groups(&tree, ids);
    for (size_t i = 0; i < COUNT(texts); i++) {
        static uint32_t words[BYTECODE_WORDS];
        struct where where = {0};
        const struct predicate *predicate = where_parse(&where, &kind_socket, texts[i]);
        struct kernel_program program = {(const char *)words, 0};
        if (!predicate)
            fail_msg("%s: %s", texts[i], where.message);
        program.length = (int)(4 * bytecode_compile(words, predicate, context.cgroups));
        assert_true(program.length > 0);
        assert_true(kernel_takes(program));
        for (size_t j = 0; j < COUNT(groups); j++) {
            sock.socket.cgroup = ids[j];
            if (kernel_passes(program, &sock.socket) != predicate_holds(predicate, &sock, &context))
                fail_msg("%s: %s", texts[i], groups[j]);
        }
        where_finish(&where);
    }
    cgroups_destroy(context.cgroups);
    remove_groups(&tree);
}

static void without_groups_the_kernel_judges_no_unit(void **state)
{
    struct record sockets[8];
    bool wanted[8];

    (void)state;
    make_sockets(sockets);
    assert_int_equal(compile("unit = nginx.service", sockets, wanted, 1).length, 0);
    assert_true(compile("unit = a.service and local_port = 22", sockets, wanted, 1).length > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_alone_judges_what_bytecode_can_compare),
        cmocka_unit_test(comparisons_that_bytecode_lacks_filter_nothing),
        cmocka_unit_test(who_chose_a_port_only_the_kernel_knows),
        cmocka_unit_test(a_program_that_is_too_long_is_not_made),
        cmocka_unit_test(the_kernel_judges_paths_of_groups_by_their_ids),
        cmocka_unit_test(without_groups_the_kernel_judges_no_unit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
