/* SPDX-License-Identifier: MIT */
/* Who is behind a netlink port: in a tree made for the purpose, and in the kernel's own. */
#include <linux/netlink.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastnet/hosts.h"
#include "fastnet/senders.h"
#include "kit.h"

static const char heading[] =
    "sk               Eth Pid        Groups   Rmem     Wmem     Dump  Locks    Drops    Inode\n";
#define SOCKET_LINE(protocol, port, inode)                                                         \
    "00000000dae70eff " protocol " " port                                                          \
    "        00000000 0        0        0     2        0        " inode "      \n"

/* The process PID, whose descriptor 3 is the socket. */
static void put_process(const struct tree *tree, const char *pid, const char *name, int inode)
{
    char path[128], target[32];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", tree->root, pid);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/%s/comm", tree->root, pid);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", name);
    fclose(file);
    snprintf(path, sizeof(path), "%s/%s/fd", tree->root, pid);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof(path), "%s/%s/fd/0", tree->root, pid);
    assert_int_equal(symlink("/dev/null", path), 0);
    snprintf(path, sizeof(path), "%s/%s/fd/3", tree->root, pid);
    snprintf(target, sizeof(target), "socket:[%d]", inode);
    assert_int_equal(symlink(target, path), 0);
}

static void put_sockets(const struct tree *tree, const char *lines)
{
    char text[1024];

    snprintf(text, sizeof(text), "%s%s", heading, lines);
    tree_puts(tree, "netlink", text);
}

static void assert_sender(const struct tree *tree, uint32_t port, const char *name)
{
    struct senders *senders = senders_create(tree->root);
    const char *found = senders_name(senders, port);

    if (name == NULL)
        assert_null(found);
    else
        assert_string_equal(found, name);
    senders_destroy(senders);
}

static void the_process_that_holds_the_socket_is_the_sender(void **state)
{
    const struct tree *tree = *state;

    put_sockets(tree, SOCKET_LINE("12 ", "4000000000", "700") SOCKET_LINE("12 ", "500", "701"));
    put_process(tree, "10", "other", 699);
    put_process(tree, "20", "far", 700);
    put_process(tree, "500", "near", 701);
    assert_sender(tree, 4000000000, "far");
    assert_sender(tree, 500, "near");
    assert_sender(tree, 501, NULL);
    assert_sender(tree, 0, NULL);
}

/* A port that is a process's number need not be of that process. */
static void the_process_of_the_ports_number_is_only_asked_first(void **state)
{
    const struct tree *tree = *state;

    put_sockets(tree, SOCKET_LINE("12 ", "20", "700") SOCKET_LINE("12 ", "30", "701"));
    put_process(tree, "10", "first", 701);
    put_process(tree, "20", "other", 702);
    put_process(tree, "25", "holder", 700);
    put_process(tree, "30", "named", 701);
    assert_sender(tree, 20, "holder");
    assert_sender(tree, 30, "named");
}

static void a_socket_of_another_protocol_is_another(void **state)
{
    const struct tree *tree = *state;

    put_sockets(tree, SOCKET_LINE("0  ", "77", "700") SOCKET_LINE("112", "77", "700")
                          SOCKET_LINE("12 ", "77", "701"));
    put_process(tree, "10", "route", 700);
    assert_sender(tree, 77, NULL);
    put_process(tree, "11", "netfilter", 701);
    assert_sender(tree, 77, "netfilter");
}

static void a_name_is_taken_as_it_is(void **state)
{
    const struct tree *tree = *state;

    put_sockets(tree, SOCKET_LINE("12 ", "77", "700"));
    put_process(tree, "10", "a (b)\x1b\n c", 700);
    assert_sender(tree, 77, "a (b)\x1b\n c");
}

static void lines_that_are_none_of_the_kernels_name_nobody(void **state)
{
    static const char *const lines[] = {
        "",
        "\n\n",
        "x",
        "00000000dae70eff 12  77         00000000 0        0        0     2        0\n",
        SOCKET_LINE("12 ", "77x", "700"),
        SOCKET_LINE("12x", "77", "700"),
        SOCKET_LINE("12 ", "77", "0"),
        SOCKET_LINE("12 ", "77", "-700"),
        SOCKET_LINE("12 ", "77", "700x"),
        SOCKET_LINE("12 ", "4294967373", "700"),
        SOCKET_LINE("12 ", "77", "99999999999999999999999"),
    };
    const struct tree *tree = *state;

    put_process(tree, "10", "holder", 700);
    assert_sender(tree, 77, NULL); /* no file at all */
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        put_sockets(tree, lines[i]);
        assert_sender(tree, 77, NULL);
    }
    put_sockets(tree, "x\n" SOCKET_LINE("12 ", "77", "700"));
    assert_sender(tree, 77, "holder");
}

static void an_answer_is_kept_until_another_port_is_asked_for_or_it_is_forgotten(void **state)
{
    const struct tree *tree = *state;
    struct senders *senders = senders_create(tree->root);

    put_sockets(tree, SOCKET_LINE("12 ", "77", "700"));
    put_process(tree, "10", "holder", 700);
    assert_null(senders_name(senders, 78));
    assert_string_equal(senders_name(senders, 77), "holder");
    put_sockets(tree, "");
    assert_string_equal(senders_name(senders, 77), "holder");
    assert_null(senders_name(senders, 78));
    assert_null(senders_name(senders, 77));
    put_sockets(tree, SOCKET_LINE("12 ", "77", "700"));
    assert_null(senders_name(senders, 77));
    senders_forget(senders);
    assert_string_equal(senders_name(senders, 77), "holder");
    senders_forget(NULL);
    senders_destroy(senders);
    senders_destroy(NULL);
}

/* Its port, 0 where the kernel has no nfnetlink. */
static uint32_t open_socket(int *fd, uint32_t port)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_pid = port};
    socklen_t length = sizeof(address);

    *fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
    if (*fd < 0 || bind(*fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        getsockname(*fd, (struct sockaddr *)&address, &length) < 0)
        return 0;
    return address.nl_pid;
}

static void hold_socket(int announce, uint32_t port)
{
    int fd;
    const uint32_t bound = open_socket(&fd, port);

    prctl(PR_SET_NAME, "sender) x");
    if (write(announce, &bound, sizeof(bound)) == sizeof(bound))
        pause();
    _exit(0);
}

static void try_own_kernel(uint32_t asked)
{
    struct senders *senders = senders_create("/proc");
    uint32_t port = 0;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        hold_socket(ends[1], asked);
    const ssize_t size = read(ends[0], &port, sizeof(port));
    const char *name = port != 0 ? senders_name(senders, port) : NULL;
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(size, sizeof(port));
    if (port != 0) {
        assert_non_null(name);
        assert_string_equal(name, "sender) x");
        assert_null(senders_name(senders, port == 1 ? 2 : 1));
        assert_null(senders_name(senders, port)); /* it is gone */
    }
    senders_destroy(senders);
    if (port == 0)
        skip();
}

static void a_running_process_is_found_by_the_port_that_it_was_given(void **state)
{
    (void)state;
    try_own_kernel(0);
}

static void a_running_process_is_found_by_a_port_of_its_choice(void **state)
{
    (void)state;
    try_own_kernel(0x80000000u | (uint32_t)getpid());
}

static void a_port_can_be_the_number_of_a_process(void **state)
{
    const struct tree *tree = *state;
    struct senders *senders;

    put_process(tree, "77", "holder", 5);
    senders = senders_create(tree->root);
    assert_string_equal(senders_process(senders, 77), "holder");
    assert_null(senders_process(senders, 78));
    assert_null(senders_process(senders, 0));
    assert_null(senders_process(senders, UINT32_MAX));
    senders_destroy(senders);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(the_process_that_holds_the_socket_is_the_sender),
        IN_TREE(the_process_of_the_ports_number_is_only_asked_first),
        IN_TREE(a_socket_of_another_protocol_is_another),
        IN_TREE(a_name_is_taken_as_it_is),
        IN_TREE(lines_that_are_none_of_the_kernels_name_nobody),
        IN_TREE(an_answer_is_kept_until_another_port_is_asked_for_or_it_is_forgotten),
        IN_TREE(a_port_can_be_the_number_of_a_process),
        cmocka_unit_test(a_running_process_is_found_by_the_port_that_it_was_given),
        cmocka_unit_test(a_running_process_is_found_by_a_port_of_its_choice),
    };
    return cmocka_run_group_tests_name("senders", tests, NULL, NULL);
}
