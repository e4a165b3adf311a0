/* SPDX-License-Identifier: MIT */
/* Owners of sockets, over trees of processes made for the purpose. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fastnet/clock.h"
#include "fastnet/hosts.h"
#include "fastnet/owners.h"
#include "kit.h"
#include "lookup/kernel_sockets.h"

enum { PATH_LENGTH = 256, NOBODY = 65534 };

static char root[PATH_LENGTH];

static int make_tree(void **state)
{
    (void)state;
    const char *directory = getenv("TMPDIR");
    snprintf(root, sizeof(root), "%.200s/fastnet-owners-XXXXXX",
             directory != NULL ? directory : "/tmp");
    if (mkdtemp(root) == NULL)
        return -1;
    return chmod(root, 0755);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

static int remove_tree(void **state)
{
    (void)state;
    return nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void add_file(int pid, const char *name, const char *data, size_t size)
{
    char path[PATH_LENGTH + 64];
    snprintf(path, sizeof(path), "%s/%d/%s", root, pid, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    close(fd);
}

static void add_process(int pid, const char *comm)
{
    char path[PATH_LENGTH + 64];
    snprintf(path, sizeof(path), "%s/%d", root, pid);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/%d/fd", root, pid);
    assert_int_equal(mkdir(path, 0755), 0);
    if (comm != NULL)
        add_file(pid, "comm", comm, strlen(comm));
}

static void add_link(int pid, int fd, const char *target)
{
    char path[PATH_LENGTH + 64];
    snprintf(path, sizeof(path), "%s/%d/fd/%d", root, pid, fd);
    assert_int_equal(symlink(target, path), 0);
}

static void add_socket(int pid, int fd, uint64_t inode)
{
    char target[64];
    snprintf(target, sizeof(target), "socket:[%llu]", (unsigned long long)inode);
    add_link(pid, fd, target);
}

static struct owners *walk(bool commands, unsigned threads)
{
    struct owners *owners = NULL;
    const struct owners_options options = {
        .proc_root = root, .commands = commands, .threads = threads};
    assert_int_equal(owners_create(&owners, &options), 0);
    assert_int_equal(owners_summary(owners)->error, 0);
    return owners;
}

static void assert_owner(const struct owner *owner, int pid, int fd, const char *name)
{
    assert_int_equal(owner->process->pid, pid);
    assert_int_equal(owner->fd, fd);
    assert_string_equal(owner->process->name, name);
}

static void assert_single_name(int pid, uint64_t inode, const char *name)
{
    const struct owner *first;
    struct owners *owners = walk(false, 1);
    assert_int_equal(owners_find(owners, inode, &first), 1);
    assert_int_equal(first->process->pid, pid);
    assert_string_equal(first->process->name, name);
    assert_null(first->process->command);
    owners_destroy(owners);
}

static void sockets_of_a_ring_have_an_owner_if_that_is_asked_for(void **state)
{
    static const char ring[] = "pos:\t0\nUserFiles:\t3\n    0: socket:[501]\n    1: /dev/null\n"
                               "    2: socket:[502]\nsocket:[503]\n   3: x socket:[504]\n";
    struct owners_options options = {.proc_root = root, .threads = 1, .rings = true};
    struct owners *owners = NULL;
    const struct owner *first;
    char path[PATH_LENGTH + 64];

    (void)state;
    add_process(42, "uring\n");
    add_link(42, 5, "anon_inode:[io_uring]");
    add_link(42, 6, "anon_inode:[eventpoll]");
    snprintf(path, sizeof path, "%s/42/fdinfo", root);
    assert_int_equal(mkdir(path, 0755), 0);
    add_file(42, "fdinfo/5", ring, sizeof ring - 1);
    add_file(42, "fdinfo/6", "    0: socket:[505]\n", 20);
    for (int rings = 1; rings >= 0; rings--) {
        options.rings = rings;
        assert_int_equal(owners_create(&owners, &options), 0);
        for (uint64_t inode = 501; inode <= 505; inode++)
            assert_int_equal(owners_find(owners, inode, &first), rings && inode <= 502);
        if (rings && owners_find(owners, 502, &first))
            assert_owner(first, 42, -1, "uring");
        owners_destroy(owners);
    }
}

static void socket_is_found_by_its_inode(void **state)
{
    (void)state;
    const struct owner *first = NULL;
    add_process(42, "sshd\n");
    add_socket(42, 3, 123);
    add_socket(42, 7, UINT64_MAX);
    struct owners *owners = walk(false, 0);
    assert_int_equal(owners_find(owners, 123, &first), 1);
    assert_owner(first, 42, 3, "sshd");
    assert_int_equal(owners_find(owners, UINT64_MAX, &first), 1);
    assert_owner(first, 42, 7, "sshd");
    assert_int_equal(owners_find(owners, 124, &first), 0);
    assert_int_equal(owners_find(owners, 0, &first), 0);
    assert_true(owners_summary(owners)->any);
    assert_int_equal(owners_summary(owners)->denied, 0);
    owners_destroy(owners);
}

/* The inodes that were passed on, and the number of calls that are allowed. */
struct passed {
    uint64_t inodes[4];
    pid_t pids[4];
    size_t count, most;
};

static int pass_socket_on(uint64_t inode, pid_t pid, int fd, void *arg)
{
    struct passed *passed = arg;

    assert_int_equal(fd, 3);
    passed->inodes[passed->count] = inode;
    passed->pids[passed->count] = pid;
    return ++passed->count == passed->most ? -ECANCELED : 0;
}

static void each_held_socket_is_passed_on_once(void **state)
{
    struct passed passed = {.most = 4}, first = {.most = 1};

    (void)state;
    add_process(42, "sshd\n");
    add_process(43, "child\n");
    add_process(44, "other\n");
    add_socket(42, 3, 124);
    add_socket(43, 3, 124);
    add_socket(43, 5, 124);
    add_socket(44, 3, 123);
    struct owners *owners = walk(false, 1);
    assert_int_equal(owners_each_socket(owners, pass_socket_on, &passed), 0);
    assert_int_equal(passed.count, 2);
    assert_int_equal(passed.inodes[0], 123);
    assert_int_equal(passed.pids[0], 44);
    assert_int_equal(passed.inodes[1], 124);
    assert_int_equal(passed.pids[1], 42);
    assert_int_equal(owners_each_socket(owners, pass_socket_on, &first), -ECANCELED);
    assert_int_equal(first.count, 1);
    assert_false(owners_deny(owners, 42));
    assert_false(owners_deny(owners, 99));
    owners_destroy(owners);
}

static void old_kernels_link_is_understood(void **state)
{
    (void)state;
    add_process(5, "old\n");
    add_link(5, 3, "[0000]:77");
    assert_single_name(5, 77, "old");
}

static void only_sockets_count(void **state)
{
    (void)state;
    static const char *const others[] = {
        "/dev/null",
        "pipe:[123]",
        "anon_inode:[eventpoll]",
        "socket:[123",
        "socket:123]",
        "socket:[]",
        "socket:[0]",
        "socket:[12x]",
        "xsocket:[123]",
        "socket:[-1]",
        "socket:[18446744073709551739]",
        "[0000]:",
        "socket:[18446744073709551616]",
        "socket:[123] (deleted)",
    };
    const struct owner *first;
    add_process(6, "other\n");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        add_link(6, (int)i, others[i]);
    struct owners *owners = walk(false, 0);
    assert_false(owners_summary(owners)->any);
    assert_int_equal(owners_find(owners, 123, &first), 0);
    assert_int_equal(owners_find(owners, 12, &first), 0);
    owners_destroy(owners);
}

/* One that was seen, one that came later, and one that is another process by now. */
static void who_made_a_socket_has_its_name(void **state)
{
    (void)state;
    struct owners *owners;
    add_process(42, "sshd\n");
    add_socket(42, 3, 123);
    add_file(42, "cmdline", "/usr/sbin/sshd\0-D", 18);
    owners = walk(true, 1);
    add_process(43, "curl\n");
    add_file(43, "cmdline", "curl-8.1", 9);
    assert_owner(owners_creator(owners, 42, "sshd"), 42, -1, "sshd");
    assert_string_equal(owners_creator(owners, 42, "sshd")->process->command, "sshd");
    assert_owner(owners_creator(owners, 43, "curl"), 43, -1, "curl");
    assert_string_equal(owners_creator(owners, 43, "curl")->process->command, "curl-8.1");
    assert_owner(owners_creator(owners, 43, "wget"), 43, -1, "wget");
    assert_string_equal(owners_creator(owners, 43, "wget")->process->command, "wget");
    assert_owner(owners_creator(owners, 42, "older"), 42, -1, "older");
    assert_owner(owners_creator(owners, 4444, "gone"), 4444, -1, "gone");
    assert_owner(owners_creator(owners, 42, "sshd"), 42, -1, "sshd");
    owners_destroy(owners);
}

static void names_that_are_no_numbers_are_passed_over(void **state)
{
    (void)state;
    char path[PATH_LENGTH + 64];
    const struct owner *first;
    add_process(8, "eight\n");
    add_socket(8, 1, 80);
    snprintf(path, sizeof(path), "%s/8/fd/2x", root);
    assert_int_equal(symlink("socket:[81]", path), 0);
    snprintf(path, sizeof(path), "%s/8/fd/99999999999", root);
    assert_int_equal(symlink("socket:[82]", path), 0);
    snprintf(path, sizeof(path), "%s/8/fd/5", root);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/99", root);
    assert_int_equal(symlink("8", path), 0);
    snprintf(path, sizeof(path), "%s/self", root);
    assert_int_equal(symlink("8", path), 0);
    snprintf(path, sizeof(path), "%s/77", root);
    close(open(path, O_WRONLY | O_CREAT, 0644));
    struct owners *owners = walk(false, 0);
    assert_int_equal(owners_find(owners, 80, &first), 2); /* as 8 and as 99 */
    assert_int_equal(owners_find(owners, 81, &first), 0);
    assert_int_equal(owners_find(owners, 82, &first), 0);
    owners_destroy(owners);
}

static void owners_come_by_pid_then_descriptor(void **state)
{
    (void)state;
    static const int pids[] = {1000, 9, 100000, 55};
    const struct owner *first = NULL;
    for (size_t i = 0; i < 4; i++) {
        add_process(pids[i], "worker\n");
        add_socket(pids[i], 12, 500);
        add_socket(pids[i], 9, 500);
        add_socket(pids[i], 300, 500);
        add_socket(pids[i], 4, 501 + i);
    }
    struct owners *owners = walk(false, 0);
    assert_int_equal(owners_find(owners, 500, &first), 12);
    static const int sorted[] = {9, 55, 1000, 100000}, fds[] = {9, 12, 300};
    for (size_t i = 0; i < 12; i++)
        assert_owner(&first[i], sorted[i / 3], fds[i % 3], "worker");
    owners_destroy(owners);
}

static void many_descriptors_come_in_order(void **state)
{
    (void)state;
    const struct owner *first = NULL;
    add_process(5, "many\n");
    for (int i = 0; i < 200; i++)
        add_socket(5, i * 7 % 200 * 5, 500);
    struct owners *owners = walk(false, 0);
    assert_int_equal(owners_find(owners, 500, &first), 200);
    for (int i = 0; i < 200; i++)
        assert_int_equal(first[i].fd, i * 5);
    owners_destroy(owners);
}

static void inodes_are_distinguished_by_every_byte(void **state)
{
    (void)state;
    const struct owner *first = NULL;
    for (int pid = 1; pid <= 3; pid++) {
        add_process(pid, "wide\n");
        for (int byte = 0; byte < 8; byte++)
            add_socket(pid, byte, UINT64_C(1) << 8 * byte);
    }
    struct owners *owners = walk(false, 0);
    for (int byte = 0; byte < 8; byte++) {
        assert_int_equal(owners_find(owners, UINT64_C(1) << 8 * byte, &first), 3);
        for (int pid = 1; pid <= 3; pid++)
            assert_owner(&first[pid - 1], pid, byte, "wide");
    }
    owners_destroy(owners);
}

static void name_keeps_all_but_the_files_newline(void **state)
{
    (void)state;
    add_process(10, "a) (b\n");
    add_socket(10, 1, 100);
    add_process(11, "x\ny\n\n");
    add_socket(11, 1, 101);
    add_process(12, "\033[31m\",pid=1\n");
    add_socket(12, 1, 102);
    add_process(13, "\n");
    add_socket(13, 1, 103);
    add_process(14, "123456789012345\n");
    add_socket(14, 1, 104);
    assert_single_name(10, 100, "a) (b");
    assert_single_name(11, 101, "x\ny\n");
    assert_single_name(12, 102, "\033[31m\",pid=1");
    assert_single_name(13, 103, "");
    assert_single_name(14, 104, "123456789012345");
}

static void overlong_name_is_cut_at_the_promised_length(void **state)
{
    (void)state;
    add_process(15, "1234567890123456789\n");
    add_socket(15, 1, 105);
    assert_single_name(15, 105, "123456789012345");
}

/* Its first thread has no descriptors any more. */
static void a_process_whose_first_thread_has_ended_has_its_sockets(void **state)
{
    static const char *const directories[] = {"task", "task/30", "task/30/fd", "task/31",
                                              "task/31/fd"};
    char path[PATH_LENGTH + 64];

    (void)state;
    add_process(30, "worker");
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        snprintf(path, sizeof(path), "%s/30/%s", root, directories[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    snprintf(path, sizeof(path), "%s/30/task/31/fd/4", root);
    assert_int_equal(symlink("socket:[900]", path), 0);
    assert_single_name(30, 900, "worker");
}

static void a_name_without_comm_comes_from_stat_or_the_command_line(void **state)
{
    (void)state;
    add_process(30, NULL);
    add_file(30, "cmdline", "/usr/sbin/sshd\0-D", 17);
    add_socket(30, 3, 77);
    assert_single_name(30, 77, "sshd");
    add_file(30, "stat", "30 (a) (b) S 1 30", 17);
    assert_single_name(30, 77, "a) (b");
}

static void process_without_a_name_keeps_its_sockets(void **state)
{
    (void)state;
    add_process(16, NULL);
    add_socket(16, 1, 106);
    assert_single_name(16, 106, "");
}

static void assert_command(uint64_t inode, const char *command)
{
    const struct owner *first;
    struct owners *owners = walk(true, 1);
    assert_int_equal(owners_find(owners, inode, &first), 1);
    assert_string_equal(first->process->command, command);
    owners_destroy(owners);
}

static void command_is_cut_as_netstat_cuts_it(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        size_t size;
        const char *command;
    } cases[] = {
        {"/usr/sbin/nginx\0-g\0daemon off;", 31, "nginx"},
        {"sshd: root@pts/0", 17, "sshd: root@pts/0"},
        {"./a/b", 6, "./a/b"},
        {"/bin/", 6, ""},
        {"", 0, ""},
        {"/x/no end", 9, "no end"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        add_process(20 + (int)i, "comm\n");
        add_socket(20 + (int)i, 1, 200 + i);
        add_file(20 + (int)i, "cmdline", cases[i].data, cases[i].size);
        assert_command(200 + i, cases[i].command);
    }
}

static void command_is_the_first_511_bytes(void **state)
{
    (void)state;
    char data[600];
    memset(data, 'x', sizeof(data));
    data[0] = data[500] = data[520] = '/';
    add_process(30, "long\n");
    add_socket(30, 1, 300);
    add_file(30, "cmdline", data, sizeof(data));
    assert_command(300, "xxxxxxxxxx");
}

static void command_that_cannot_be_read_is_the_name(void **state)
{
    (void)state;
    add_process(31, "kept\n");
    add_socket(31, 1, 301);
    assert_command(301, "kept");
}

static void the_innermost_pid_is_the_last_of_several(void **state)
{
    (void)state;
    static const struct {
        const char *status;
        pid_t inside;
    } cases[] = {
        {"Name:\ta\nNSpid:\t812\t7\t1\nNSpgid:\t812\t7\t5\n", 1},
        {"Name:\ta\nNSpid:\t812\nNSpgid:\t812\t1\n", 0},
        {"Name:\tNSpid:\t9\t8\nNSpid:\t812\t44\n", 44},
        {"Name:\ta\nNSpid:", 0},
        {"Name:\ta\nNSpid:\t812\t4", 0}, /* cut */
        {"Name:\ta\nNSpid:\t812\t4294967297\n", 0},
        {"Name:\ta\nNSpid:\t812\t\n", 0},
        {"Name:\ta\n", 0}, /* before Linux 4.1 */
        {"", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct owners_options options = {.proc_root = root, .pids_inside = true};
        struct owners *owners = NULL;
        const struct owner *first;
        add_process(40 + (int)i, "inner\n");
        add_socket(40 + (int)i, 1, 400 + i);
        add_file(40 + (int)i, "status", cases[i].status, strlen(cases[i].status));
        assert_int_equal(owners_create(&owners, &options), 0);
        assert_int_equal(owners_find(owners, 400 + i, &first), 1);
        assert_int_equal(first->process->pid_inside, cases[i].inside);
        owners_destroy(owners);
        owners = walk(false, 1);
        assert_int_equal(owners_find(owners, 400 + i, &first), 1);
        assert_int_equal(first->process->pid_inside, 0);
        owners_destroy(owners);
    }
}

/* Before it stands a line with the groups of the process. */
static void the_innermost_pid_is_found_after_any_number_of_groups(void **state)
{
    static const char before[] = "Name:\ta\nGroups:\t", after[] = "\nNSpid:\t18127\t42\n";
    static char text[sizeof before + 65536 + sizeof after];

    (void)state;
    for (size_t groups = 500; groups < 560; groups++) {
        const struct owners_options options = {.proc_root = root, .pids_inside = true};
        struct owners *owners = NULL;
        const struct owner *first;
        const size_t all = groups < 559 ? groups : 65536;
        snprintf(text, sizeof text, "%s", before);
        memset(text + sizeof before - 1, '7', all);
        memcpy(text + sizeof before - 1 + all, after, sizeof after);
        add_process((int)groups, "many\n");
        add_socket((int)groups, 1, 1000 + groups);
        add_file((int)groups, "status", text, strlen(text));
        assert_int_equal(owners_create(&owners, &options), 0);
        assert_int_equal(owners_find(owners, 1000 + groups, &first), 1);
        assert_int_equal(first->process->pid_inside, 42);
        owners_destroy(owners);
    }
}

static void missing_tree_is_an_error(void **state)
{
    (void)state;
    struct owners *owners = NULL;
    const struct owners_options options = {.proc_root = "/nonexistent/proc"};
    assert_int_equal(owners_create(&owners, &options), -ENOENT);
    assert_null(owners);
}

static void empty_tree_has_no_owners(void **state)
{
    (void)state;
    const struct owner *first;
    struct owners *owners = walk(true, 0);
    assert_false(owners_summary(owners)->any);
    assert_false(owners_summary(owners)->hidden);
    assert_int_equal(owners_find(owners, 1, &first), 0);
    assert_int_equal(owners_refresh(owners), 0);
    owners_destroy(owners);
    owners_destroy(NULL);
}

static void refresh_adds_and_keeps(void **state)
{
    (void)state;
    const struct owner *first;
    char path[PATH_LENGTH + 64];
    add_process(50, "fifty\n");
    add_file(50, "cmdline", "fifty", 6);
    add_socket(50, 3, 700);
    add_socket(50, 4, 701);
    struct owners *owners = walk(true, 0);
    snprintf(path, sizeof(path), "%s/50/fd/3", root);
    assert_int_equal(unlink(path), 0);
    add_process(7, "seven\n");
    add_socket(7, 1, 701);
    add_process(60, "sixty\n");
    add_socket(60, 1, 702);
    assert_int_equal(owners_refresh(owners), 0);

    assert_int_equal(owners_find(owners, 700, &first), 1);
    assert_owner(first, 50, 3, "fifty");
    assert_int_equal(owners_find(owners, 701, &first), 2);
    assert_owner(&first[0], 7, 1, "seven");
    assert_owner(&first[1], 50, 4, "fifty");
    assert_string_equal(first[1].process->command, "fifty");
    assert_int_equal(owners_find(owners, 702, &first), 1);
    assert_owner(first, 60, 1, "sixty");
    assert_int_equal(owners_refresh(owners), 0);
    assert_int_equal(owners_find(owners, 701, &first), 2);
    owners_destroy(owners);
}

static void process_that_ended_keeps_its_sockets_and_name_when_refreshed(void **state)
{
    (void)state;
    const struct owner *first;
    char path[PATH_LENGTH + 64], away[PATH_LENGTH + 64];
    add_process(50, "ended\n");
    add_file(50, "cmdline", "/bin/ended", 11);
    add_socket(50, 3, 700);
    struct owners *owners = walk(true, 0);
    snprintf(path, sizeof(path), "%s/50", root);
    snprintf(away, sizeof(away), "%s/away", root);
    assert_int_equal(rename(path, away), 0);
    assert_int_equal(owners_refresh(owners), 0);
    assert_int_equal(owners_find(owners, 700, &first), 1);
    assert_owner(first, 50, 3, "ended");
    assert_string_equal(first->process->command, "ended");
    owners_destroy(owners);
}

/* starttime of proc(5): this is older than the machine, or comes long after it. */
static void add_stat(int pid, const char *began)
{
    char stat[128];

    snprintf(stat, sizeof stat,
             "%d (a) b) S 1 50 50 0 -1 4194560 9 0 0 0 1 2 0 0 20 0 1 0 %s 99 7\n", pid, began);
    add_file(pid, "stat", stat, strlen(stat));
}

static void remove_process(int pid)
{
    char path[PATH_LENGTH + 64];

    snprintf(path, sizeof path, "%s/%d", root, pid);
    assert_int_equal(nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* The present, as starttime has it. */
static uint64_t ticks_now(void)
{
    return clock_nanoseconds(CLOCK_BOOTTIME) / (CLOCK_SECOND / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Creates owners within one clock tick, and writes this into `began`. */
static void create_within_a_tick(struct owners **owners, const struct owners_options *options,
                                 char began[32])
{
    uint64_t tick = ticks_now();

    assert_int_equal(owners_create(owners, options), 0);
    while (tick != ticks_now()) {
        owners_destroy(*owners);
        tick = ticks_now();
        assert_int_equal(owners_create(owners, options), 0);
    }
    snprintf(began, 32, "%" PRIu64, tick);
}

static void a_new_process_with_the_number_of_an_old_one_has_its_own_name_and_sockets(void **state)
{
    char in_the_tick_of_the_sample[32];
    const char *const began[] = {"0", "99999999999", in_the_tick_of_the_sample};
    struct owners_options options = {.proc_root = root, .commands = true, .names_at_once = true};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct owners *owners = NULL;
        const struct owner *first;
        const bool is_new = i == 1;
        add_process(50, "old\n");
        add_file(50, "cmdline", "/bin/old", 9);
        add_stat(50, "0");
        add_socket(50, 3, 700);
        create_within_a_tick(&owners, &options, in_the_tick_of_the_sample);
        remove_process(50);
        add_process(50, "new\n");
        add_stat(50, began[i]);
        add_socket(50, 3, 701);
        assert_int_equal(owners_refresh(owners), 0);
        assert_int_equal(owners_find(owners, 700, &first), 0);
        assert_int_equal(owners_find_last(owners, 700, &first), !is_new);
        assert_int_equal(owners_find(owners, 701, &first), 1);
        assert_owner(first, 50, 3, "new");
        assert_string_equal(first->process->command, is_new ? "new" : "old");
        owners_destroy(owners);
        remove_process(50);
    }
}

/* Runs a check as a user who is not root; a failure there is a failure here. */
static void run_as_nobody(int (*check)(void))
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 &&
            (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            _exit(100);
        _exit(check());
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int check_denied(void)
{
    struct owners *owners = NULL;
    const struct owner *first;
    const struct owners_options options = {.proc_root = root};
    if (owners_create(&owners, &options) != 0)
        return 1;
    if (owners_summary(owners)->denied != 2 || owners_summary(owners)->error != 0)
        return 2;
    if (owners_find(owners, 800, &first) != 1 || owners_find(owners, 801, &first) != 0)
        return 3;
    if (owners_refresh(owners) != 0 || owners_summary(owners)->denied != 2)
        return 4;
    owners_destroy(owners);
    return 0;
}

static void denied_processes_are_counted_once(void **state)
{
    (void)state;
    char path[PATH_LENGTH + 64];
    add_process(70, "open\n");
    add_socket(70, 1, 800);
    add_process(71, "closed\n");
    add_socket(71, 1, 801);
    snprintf(path, sizeof(path), "%s/71/fd", root);
    assert_int_equal(chmod(path, 0), 0);
    add_process(72, "unlisted\n"); /* its links can be listed but not read */
    add_socket(72, 1, 802);
    add_socket(72, 2, 803);
    snprintf(path, sizeof(path), "%s/72/fd", root);
    assert_int_equal(chmod(path, 0444), 0);
    run_as_nobody(check_denied);
    snprintf(path, sizeof(path), "%s/71/fd", root);
    assert_int_equal(chmod(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/72/fd", root);
    assert_int_equal(chmod(path, 0755), 0);
}

/* Scattered, so that some meet in the index. */
static uint64_t crowded_inode(int fd)
{
    const uint64_t number = (unsigned)fd;
    return 100000 + number * number * 31;
}

/* More processes and descriptors than one thread is left alone with. */
static void assert_crowd(unsigned threads)
{
    enum { PROCESSES = 40, SOCKETS = 60, CROWDED = 4000 };
    static const uint64_t common = 1000;
    const struct owner *first;
    for (int pid = 1; pid <= PROCESSES; pid++) {
        add_process(pid, "crowd\n");
        for (int fd = 0; fd < SOCKETS; fd++)
            add_socket(pid, fd, common + (unsigned)fd);
    }
    add_process(PROCESSES + 1, "crowded\n");
    for (int fd = 0; fd < CROWDED; fd++)
        add_socket(PROCESSES + 1, fd, crowded_inode(fd));

    struct owners *owners = walk(false, threads);
    for (int fd = 0; fd < SOCKETS; fd++) {
        assert_int_equal(owners_find(owners, common + (unsigned)fd, &first), PROCESSES);
        for (int pid = 1; pid <= PROCESSES; pid++)
            assert_owner(&first[pid - 1], pid, fd, "crowd");
    }
    for (int fd = 0; fd < CROWDED; fd++) {
        assert_int_equal(owners_find(owners, crowded_inode(fd), &first), 1);
        assert_owner(first, PROCESSES + 1, fd, "crowded");
    }
    owners_destroy(owners);
}

static void crowd_is_found_by_one_thread(void **state)
{
    (void)state;
    assert_crowd(1);
}

static void crowd_is_found_by_many_threads(void **state)
{
    (void)state;
    assert_crowd(8);
}

static void crowd_is_found_by_as_many_threads_as_pay(void **state)
{
    (void)state;
    assert_crowd(0);
}

static void want_of_descriptors_is_an_error(void **state)
{
    (void)state;
    struct rlimit before, none;
    add_process(90, "starved\n");
    add_socket(90, 1, 900);
    struct owners *owners = walk(false, 1);
    const int free_fd = open("/dev/null", O_RDONLY);
    assert_true(free_fd >= 0);
    close(free_fd);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = (rlim_t)free_fd;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const int status = owners_refresh(owners);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(status, 0);
    assert_int_equal(owners_summary(owners)->error, EMFILE);
    owners_destroy(owners);
}

static void own_socket_is_found_in_the_real_tree(void **state)
{
    (void)state;
    struct stat status;
    const struct owner *first = NULL;
    struct owners *owners = NULL;
    const struct owners_options options = {.proc_root = "/proc", .commands = true};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(owners_create(&owners, &options), 0);
    assert_int_equal(owners_find(owners, status.st_ino, &first), 1);
    assert_int_equal(first->process->pid, getpid());
    assert_int_equal(first->tid, 0);
    assert_int_equal(first->fd, fd);
    assert_true(strlen(first->process->command) > 0);
    owners_destroy(owners);
    close(fd);
}

/* --- Owners of what goes on ------------------------------------------------------------------- */

static void remove_link(int pid, int fd)
{
    char path[PATH_LENGTH + 64];

    snprintf(path, sizeof path, "%s/%d/fd/%d", root, pid, fd);
    assert_int_equal(unlink(path), 0);
}

static struct owners *walk_that_lasts(void)
{
    const struct owners_options options = {.proc_root = root, .names_at_once = true};
    struct owners *owners = NULL;

    assert_int_equal(owners_create(&owners, &options), 0);
    return owners;
}

static void who_holds_a_socket_no_more_is_dropped(void **state)
{
    const struct owner *first;

    (void)state;
    add_process(50, "fifty\n");
    add_process(60, "sixty\n");
    add_socket(50, 3, 700);
    add_socket(60, 4, 700);
    add_socket(60, 5, 701);
    struct owners *owners = walk_that_lasts();
    assert_int_equal(owners_confirm(owners, 700), OWNERS_HOLD);
    assert_int_equal(owners_find(owners, 700, &first), 2);
    remove_link(50, 3);
    add_socket(50, 3, 702); /* another one has its number */
    assert_int_equal(owners_confirm(owners, 700), OWNERS_CHANGED);
    assert_int_equal(owners_find(owners, 700, &first), 1);
    assert_owner(first, 60, 4, "sixty");
    assert_int_equal(owners_confirm(owners, 700), OWNERS_HOLD);
    remove_process(60);
    assert_int_equal(owners_confirm(owners, 700), OWNERS_CHANGED);
    assert_int_equal(owners_find(owners, 700, &first), 0);
    assert_int_equal(owners_find_last(owners, 700, &first), 1);
    assert_owner(first, 60, 4, "sixty");
    assert_int_equal(owners_confirm(owners, 700), OWNERS_NONE);
    assert_int_equal(owners_confirm(owners, 999), OWNERS_NONE);
    owners_destroy(owners);
}

static void a_socket_that_no_process_holds_may_be_the_kernels(void **state)
{
    static const uint64_t inodes[] = {700, 701, 701};
    struct kernel_sockets *kernel = kernel_sockets_create();
    const struct owners_options options = {.proc_root = root, .kernel = kernel};
    const struct owner *first;
    struct owners *owners = NULL;

    (void)state;
    add_process(50, "fifty\n");
    add_socket(50, 3, 700);
    assert_int_equal(owners_create(&owners, &options), 0);
    assert_int_equal(owners_find(owners, 701, &first), 0);
    assert_int_equal(kernel_sockets_add(kernel, inodes, 3), 0); /* found later than the owners */
    assert_int_equal(owners_find(owners, 700, &first), 1);
    assert_owner(first, 50, 3, "fifty");
    assert_int_equal(owners_find(owners, 701, &first), 1);
    assert_owner(first, 0, -1, "kernel");
    assert_int_equal(owners_find_last(owners, 701, &first), 1);
    assert_int_equal(owners_confirm(owners, 701), OWNERS_HOLD);
    assert_int_equal(owners_find(owners, 702, &first), 0);
    assert_int_equal(owners_confirm(owners, 702), OWNERS_NONE);
    owners_destroy(owners);
    kernel_sockets_destroy(kernel);
}

static void who_holds_a_socket_now_takes_the_place_of_others(void **state)
{
    const struct owner *first;

    (void)state;
    add_process(50, "fifty\n");
    add_socket(50, 3, 700);
    add_socket(50, 4, 701);
    struct owners *owners = walk_that_lasts();
    remove_link(50, 3);
    remove_link(50, 4);
    add_process(40, "forty\n");
    add_socket(40, 9, 700);
    for (int look = 0; look < 3; look++) {
        assert_int_equal(owners_refresh(owners), 0);
        assert_int_equal(owners_find(owners, 700, &first), 1);
        assert_owner(first, 40, 9, "forty");
        assert_int_equal(owners_find_last(owners, 700, &first), 1);
        assert_owner(first, 40, 9, "forty");
        assert_int_equal(owners_find(owners, 701, &first), 0);
        assert_int_equal(owners_find_last(owners, 701, &first), 1);
        assert_owner(first, 50, 4, "fifty");
    }
    remove_link(40, 9);
    add_socket(50, 3, 700); /* it was given back */
    assert_int_equal(owners_refresh(owners), 0);
    assert_int_equal(owners_find(owners, 700, &first), 1);
    assert_owner(first, 50, 3, "fifty");
    owners_destroy(owners);
}

/* execve(2) changes it, and prctl(2). */
static void a_name_that_changes_is_read_again(void **state)
{
    const struct owner *first;

    (void)state;
    add_process(50, "bash\n");
    add_socket(50, 3, 700);
    struct owners *owners = walk_that_lasts();
    add_file(50, "comm", "tail\n", 5);
    assert_int_equal(owners_confirm(owners, 700), OWNERS_HOLD);
    assert_int_equal(owners_find(owners, 700, &first), 1);
    assert_owner(first, 50, 3, "tail");
    add_file(50, "comm", "cat\n", 4);
    assert_int_equal(owners_refresh(owners), 0);
    assert_int_equal(owners_find(owners, 700, &first), 1);
    assert_owner(first, 50, 3, "cat");
    owners_destroy(owners);
}

/* State Z: /proc/PID/fd is empty, and other threads go on. */
static void threads_hold_the_sockets_of_a_process_whose_first_thread_has_ended(void **state)
{
    static const char *const states[] = {"50 (a) Z b) S 1", "50 (a) S b) Z 1"};
    static const char *const directories[] = {"task", "task/51", "task/51/fd"};
    char path[PATH_LENGTH + 64];

    (void)state;
    add_process(50, "fifty\n");
    add_socket(50, 3, 700);
    struct owners *owners = walk_that_lasts();
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        snprintf(path, sizeof path, "%s/50/%s", root, directories[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    snprintf(path, sizeof path, "%s/50/task/51/fd/3", root);
    assert_int_equal(symlink("socket:[700]", path), 0);
    remove_link(50, 3);
    for (size_t i = 2; i-- > 0;) {
        add_file(50, "stat", states[i], strlen(states[i]));
        assert_int_equal(owners_confirm(owners, 700), i ? OWNERS_HOLD : OWNERS_CHANGED);
    }
    owners_destroy(owners);
}

static void *wait_for_end(void *arg)
{
    char byte;
    assert_int_equal(read(*(int *)arg, &byte, 1), 0);
    return NULL;
}

static void threads_own_the_sockets_of_their_process(void **state)
{
    (void)state;
    struct stat status;
    const struct owner *first = NULL;
    struct owners *owners = NULL;
    const struct owners_options options = {.proc_root = "/proc", .tasks = true};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    int ends[2];
    pthread_t thread;
    char name[16];
    if (stat("/proc/self/task", &status) != 0 || status.st_nlink != 3)
        skip(); /* an emulator has threads of its own */
    assert_int_equal(prctl(PR_GET_NAME, name), 0);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(owners_create(&owners, &options), 0);
    assert_int_equal(owners_find(owners, status.st_ino, &first), 1);
    assert_int_equal(first->tid, getpid());

    assert_int_equal(pthread_create(&thread, NULL, wait_for_end, &ends[0]), 0);
    assert_int_equal(pthread_setname_np(thread, "other"), 0);
    assert_int_equal(owners_refresh(owners), 0);
    assert_int_equal(owners_find(owners, status.st_ino, &first), 2);
    assert_owner(&first[0], getpid(), fd, name);
    assert_int_equal(first[0].tid, getpid());
    assert_owner(&first[1], getpid(), fd, "other");
    assert_true(first[1].tid > 0 && first[1].tid != getpid());
    owners_destroy(owners);
    close(ends[1]);
    pthread_join(thread, NULL);
    close(ends[0]);
    close(fd);
}

/* Children that open sockets and are gone at once, until the parent ends. */
static void come_and_go(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        const pid_t child = fork();
        if (child < 0)
            _exit(1);
        if (child == 0) {
            for (int i = 0; i < 8; i++)
                (void)socket(AF_UNIX, SOCK_STREAM, 0);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

/* Walks the real tree for a moment. Returns the first error. */
static int walk_for_a_moment(void)
{
    const struct owners_options options = {.proc_root = "/proc", .commands = true, .threads = 2};
    const time_t end = time(NULL) + 2;
    int status = 0;
    for (int i = 0; i < 50 && status == 0 && time(NULL) < end; i++) {
        struct owners *owners = NULL;
        status = owners_create(&owners, &options);
        if (status == 0)
            status = owners_refresh(owners);
        if (status == 0)
            status = owners_summary(owners)->error;
        owners_destroy(owners);
    }
    return status;
}

static void vanishing_processes_are_silent(void **state)
{
    (void)state;
    pid_t parents[2];
    for (size_t i = 0; i < 2; i++) {
        parents[i] = fork();
        if (parents[i] == 0)
            come_and_go();
        assert_true(parents[i] > 0);
    }
    const int status = walk_for_a_moment();
    for (size_t i = 0; i < 2; i++) {
        kill(parents[i], SIGKILL);
        waitpid(parents[i], NULL, 0);
    }
    assert_int_equal(status, 0);
}

#define OVER_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, remove_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TREE(sockets_of_a_ring_have_an_owner_if_that_is_asked_for),
        OVER_TREE(socket_is_found_by_its_inode),
        OVER_TREE(each_held_socket_is_passed_on_once),
        OVER_TREE(old_kernels_link_is_understood),
        OVER_TREE(only_sockets_count),
        OVER_TREE(names_that_are_no_numbers_are_passed_over),
        OVER_TREE(owners_come_by_pid_then_descriptor),
        OVER_TREE(many_descriptors_come_in_order),
        OVER_TREE(inodes_are_distinguished_by_every_byte),
        OVER_TREE(name_keeps_all_but_the_files_newline),
        OVER_TREE(overlong_name_is_cut_at_the_promised_length),
        OVER_TREE(a_process_whose_first_thread_has_ended_has_its_sockets),
        OVER_TREE(a_name_without_comm_comes_from_stat_or_the_command_line),
        OVER_TREE(process_without_a_name_keeps_its_sockets),
        OVER_TREE(the_innermost_pid_is_the_last_of_several),
        OVER_TREE(the_innermost_pid_is_found_after_any_number_of_groups),
        OVER_TREE(command_is_cut_as_netstat_cuts_it),
        OVER_TREE(command_is_the_first_511_bytes),
        OVER_TREE(command_that_cannot_be_read_is_the_name),
        OVER_TREE(missing_tree_is_an_error),
        OVER_TREE(empty_tree_has_no_owners),
        OVER_TREE(refresh_adds_and_keeps),
        OVER_TREE(a_new_process_with_the_number_of_an_old_one_has_its_own_name_and_sockets),
        OVER_TREE(process_that_ended_keeps_its_sockets_and_name_when_refreshed),
        OVER_TREE(who_holds_a_socket_no_more_is_dropped),
        OVER_TREE(a_socket_that_no_process_holds_may_be_the_kernels),
        OVER_TREE(who_holds_a_socket_now_takes_the_place_of_others),
        OVER_TREE(a_name_that_changes_is_read_again),
        OVER_TREE(threads_hold_the_sockets_of_a_process_whose_first_thread_has_ended),
        OVER_TREE(denied_processes_are_counted_once),
        OVER_TREE(crowd_is_found_by_one_thread),
        OVER_TREE(crowd_is_found_by_many_threads),
        OVER_TREE(crowd_is_found_by_as_many_threads_as_pay),
        OVER_TREE(want_of_descriptors_is_an_error),
        OVER_TREE(who_made_a_socket_has_its_name),
        cmocka_unit_test(vanishing_processes_are_silent),
        cmocka_unit_test(own_socket_is_found_in_the_real_tree),
        cmocka_unit_test(threads_own_the_sockets_of_their_process),
    };
    return cmocka_run_group_tests_name("owners", tests, NULL, NULL);
}
