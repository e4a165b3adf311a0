/* SPDX-License-Identifier: MIT */
/* Files of trees that others made: what is opened, and what is only looked at. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/proc_tree.h"
#include "kit.h"

struct scene {
    struct tree made;
    struct proc_tree tree;
    int watch; /* inotify(7): what is opened in net/ */
};

static const char *path_of(const struct scene *scene, const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/net/%s", scene->made.root, name);
    return path;
}

static void put_link(const struct scene *scene, const char *name, const char *target)
{
    assert_int_equal(symlink(target, path_of(scene, name)), 0);
}

/* How often something in net/ was opened, directories apart. */
static unsigned count_opened(const struct scene *scene)
{
    _Alignas(struct inotify_event) char buffer[4096];
    unsigned opened = 0;
    ssize_t length;

    while ((length = read(scene->watch, buffer, sizeof buffer)) > 0)
        for (ssize_t at = 0; at < length;) {
            const struct inotify_event *event = (const void *)(buffer + at);
            opened += event->len > 0 && !(event->mask & IN_ISDIR);
            at += (ssize_t)(sizeof *event + event->len);
        }
    return opened;
}

static void assert_holds(const struct scene *scene, const char *path, const char *text)
{
    char buffer[16] = "";
    int fd = proc_tree_open(&scene->tree, path);

    assert_true(fd >= 0);
    assert_int_equal(read(fd, buffer, sizeof buffer - 1), strlen(text));
    assert_string_equal(buffer, text);
    close(fd);
}

static void a_file_is_opened_also_through_a_link_that_stays_inside(void **state)
{
    const struct scene *scene = *state;

    put_link(scene, "link", "tcp");
    put_link(scene, "up", "../net/tcp");
    assert_holds(scene, "net/tcp", "rows\n");
    assert_holds(scene, "net/link", "rows\n");
    assert_holds(scene, "net/up", "rows\n");
}

static void a_file_is_found_without_opening_it(void **state)
{
    const struct scene *scene = *state;
    const char *root = scene->made.root;

    count_opened(scene);
    assert_int_equal(proc_tree_find(root), 0);
    assert_true(proc_tree_has(root, "net/tcp"));
    assert_false(proc_tree_has(root, "net/udp"));
    assert_int_equal(proc_tree_find(path_of(scene, "tcp")), -ENOTDIR);
    assert_int_equal(proc_tree_find(path_of(scene, "udp")), -ENOENT);
    assert_int_equal(count_opened(scene), 0);
}

static void a_link_that_leads_out_of_the_tree_is_not_followed(void **state)
{
    static const char *const targets[] = {"/etc/passwd", "/dev/null", "../../../../../etc/passwd",
                                          "/proc/self/net/tcp"};
    const struct scene *scene = *state;

    if (!links_stay_inside())
        skip();
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        put_link(scene, "out", targets[i]);
        assert_int_equal(proc_tree_open(&scene->tree, "net/out"), -EXDEV);
        assert_int_equal(unlink(path_of(scene, "out")), 0);
    }
    put_link(scene, "out", "/");
    assert_int_equal(proc_tree_open_directory(&scene->tree, "net/out"), -EXDEV);
    assert_int_equal(proc_tree_open(&scene->tree, "net/../../../etc/passwd"), -EXDEV);
}

static void only_regular_files_are_opened(void **state)
{
    const struct scene *scene = *state;

    assert_int_equal(mkfifo(path_of(scene, "fifo"), 0600), 0);
    put_link(scene, "to-fifo", "fifo");
    if (mknod(path_of(scene, "null"), S_IFCHR | 0600, 1 << 8 | 3) < 0)
        assert_int_equal(mkfifo(path_of(scene, "null"), 0600), 0); /* who is not root */
    count_opened(scene);
    assert_int_equal(proc_tree_open(&scene->tree, "net/fifo"), -EINVAL);
    assert_int_equal(proc_tree_open(&scene->tree, "net/to-fifo"), -EINVAL);
    assert_int_equal(proc_tree_open(&scene->tree, "net/null"), -EINVAL);
    assert_int_equal(proc_tree_open(&scene->tree, "net"), -EISDIR);
    assert_int_equal(count_opened(scene), 0);
    assert_holds(scene, "net/tcp", "rows\n");
    assert_int_equal(count_opened(scene), 1); /* this is how one would be seen */
}

static void a_missing_file_is_an_error(void **state)
{
    const struct scene *scene = *state;
    struct proc_tree none;

    assert_int_equal(proc_tree_open(&scene->tree, "net/udp"), -ENOENT);
    assert_int_equal(proc_tree_open(&scene->tree, "net/tcp/x"), -ENOTDIR);
    assert_int_equal(proc_tree_open_directory(&scene->tree, "net/tcp"), -ENOTDIR);
    put_link(scene, "loop", "loop");
    assert_int_equal(proc_tree_open(&scene->tree, "net/loop"), -ELOOP);
    assert_int_equal(proc_tree_init(&none, path_of(scene, "udp")), -ENOENT);
    assert_int_equal(none.fd, -1);
    proc_tree_finish(&none);
}

/* There "self" and "net" are links, and nobody else can put anything. */
static void the_kernels_own_tree_is_read_as_it_is(void **state)
{
    struct proc_tree proc;
    int fd;

    (void)state;
    assert_int_equal(proc_tree_init(&proc, "/proc"), 0);
    assert_false(proc.captured);
    fd = proc_tree_open(&proc, "net/dev");
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(proc_tree_open(&proc, "self/fd"), -EISDIR);
    proc_tree_finish(&proc);
}

/* --- The machine that wrote it ---------------------------------------------------------------- */

/* The byte order that the tree shows, apart from that of this machine. */
static const char *order_of(const struct scene *scene)
{
    struct proc_machine machine;
    const bool here = __BYTE_ORDER == __BIG_ENDIAN;

    assert_int_equal(proc_tree_machine(scene->made.root, &machine), 0);
    assert_false(machine.differs & machine.unsure);
    if (machine.unsure & MACHINE_ORDER)
        return "unsure";
    return here != (machine.differs & MACHINE_ORDER) ? "big" : "little";
}

static void remove_machine(const struct scene *scene)
{
    assert_int_equal(unlink(path_of(scene, "../machine")), 0);
}

static void put_machine(const struct scene *scene, const char *bytes, size_t size)
{
    tree_put(&scene->made, "../machine", bytes, size);
}

static void the_machine_is_that_of_the_file(void **state)
{
    const struct scene *scene = *state;
    struct proc_machine machine;

    put_machine(scene, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\x3e", 20);
    assert_string_equal(order_of(scene), "little");
    put_machine(scene, "\177ELF\2\2\1\0\0\0\0\0\0\0\0\0\0\2\0\x16", 20);
    tree_puts(&scene->made, "tcp", "   0: 0100007F:0016 00000000:0000 0A\n"); /* which is wrong */
    assert_string_equal(order_of(scene), "big");
    assert_int_equal(proc_tree_machine(scene->made.root, &machine), 0);
    assert_int_equal(machine.unsure, 0);
}

static void only_mips_has_other_types(void **state)
{
    static const unsigned char others[] = {3, 20, 22, 40, 183, 243}, mips[] = {8, 10};
    const unsigned here = SOCK_STREAM == 2 ? MACHINE_TYPES : 0;
    const struct scene *scene = *state;
    struct proc_machine machine;
    char bytes[] = "\177ELF\1\2\1\0\0\0\0\0\0\0\0\0\0\2\0\0";

    for (size_t i = 0; i < sizeof others + sizeof mips; i++) {
        const bool is_mips = i >= sizeof others;
        bytes[19] = (char)(is_mips ? mips[i - sizeof others] : others[i]);
        put_machine(scene, bytes, 20);
        assert_int_equal(proc_tree_machine(scene->made.root, &machine), 0);
        assert_int_equal(machine.differs & MACHINE_TYPES, here ^ (is_mips ? MACHINE_TYPES : 0));
        assert_int_equal(machine.unsure, 0);
    }
}

static void a_file_that_is_no_program_is_an_error_and_clues_count(void **state)
{
    const struct scene *scene = *state;
    struct proc_machine machine;

    remove_machine(scene);
    tree_puts(&scene->made, "igmp", "\t\t\t\t010000E0     1 0:00000000\t\t0\n");
    assert_string_equal(order_of(scene), "little");
    put_machine(scene, "\177ELF\2\2\1\0\0\0\0\0\0\0\0\0\0\2\0", 19);
    assert_int_equal(proc_tree_machine(scene->made.root, &machine), -EBADMSG);
    assert_int_equal(machine.unsure, MACHINE_TYPES);
    assert_int_equal(machine.differs, __BYTE_ORDER == __BIG_ENDIAN ? MACHINE_ORDER : 0);
    put_machine(scene, "\177ELF\2\3\1\0\0\0\0\0\0\0\0\0\0\2\0\x16", 20);
    assert_int_equal(proc_tree_machine(scene->made.root, &machine), -EBADMSG);
}

static void clues_that_contradict_each_other_leave_the_machine_unknown(void **state)
{
    const struct scene *scene = *state;

    remove_machine(scene);
    tree_puts(&scene->made, "tcp", "   0: 7F000001:0016 00000000:0000 0A\n");
    assert_string_equal(order_of(scene), "big");
    tree_puts(&scene->made, "udp", "   0: 0100007F:0016 00000000:0000 07\n");
    assert_string_equal(order_of(scene), "unsure");
}

/* ::1, a link-local address, and an IPv4-mapped one, as either end. */
static void addresses_of_ipv6_show_the_byte_order(void **state)
{
    static const struct {
        const char *order, *row;
    } rows[] = {
        {"little", "   0: 00000000000000000000000001000000:0016 0:0 0A\n"},
        {"big", "   0: 00000000000000000000000000000001:0016 0:0 0A\n"},
        {"little", "   0: 000080FE00000000FF010A02FE010203:0016 0:0 0A\n"},
        {"big", "   0: FE80000000000000020A01FF030201FE:0016 0:0 0A\n"},
        {"little", "   0: 0:0 0000000000000000FFFF000001020304:0016 0A\n"},
        {"big", "   0: 0:0 00000000000000000000FFFF04030201:0016 0A\n"},
        {"unsure", "   0: B80D0120000080FE00000000FF010A02:0016 0:0 0A\n"},
    };
    const struct scene *scene = *state;

    remove_machine(scene);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tree_puts(&scene->made, "tcp6", rows[i].row);
        tree_puts(&scene->made, "udp6", "");
        assert_string_equal(order_of(scene), rows[i].order);
        tree_puts(&scene->made, "tcp6", "");
        tree_puts(&scene->made, "udp6", rows[i].row);
        assert_string_equal(order_of(scene), rows[i].order);
    }
}

/* Below /proc/PID/root is a proc file system, which is this machine's. */
static void a_proc_file_system_is_of_this_machine(void **state)
{
    struct proc_machine machine;

    (void)state;
    assert_int_equal(proc_tree_machine("/proc/self/root/proc", &machine), 0);
    assert_int_equal(machine.differs | machine.unsure, 0);
}

static int begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    tree_make(&scene->made);
    tree_puts(&scene->made, "tcp", "rows\n");
    scene->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    assert_true(inotify_add_watch(scene->watch, path_of(scene, ""), IN_OPEN) >= 0);
    assert_int_equal(proc_tree_init(&scene->tree, scene->made.root), 0);
    assert_true(scene->tree.captured);
    *state = scene;
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;

    proc_tree_finish(&scene->tree);
    close(scene->watch);
    tree_remove(&scene->made);
    free(scene);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_opened_also_through_a_link_that_stays_inside),
        TEST(a_file_is_found_without_opening_it),
        TEST(a_link_that_leads_out_of_the_tree_is_not_followed),
        TEST(only_regular_files_are_opened),
        TEST(a_missing_file_is_an_error),
        TEST(the_machine_is_that_of_the_file),
        TEST(only_mips_has_other_types),
        TEST(a_file_that_is_no_program_is_an_error_and_clues_count),
        TEST(clues_that_contradict_each_other_leave_the_machine_unknown),
        TEST(addresses_of_ipv6_show_the_byte_order),
        cmocka_unit_test(a_proc_file_system_is_of_this_machine),
        cmocka_unit_test(the_kernels_own_tree_is_read_as_it_is),
    };

    return cmocka_run_group_tests_name("proc_tree", tests, NULL, NULL);
}
