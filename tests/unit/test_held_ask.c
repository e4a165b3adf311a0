/* SPDX-License-Identifier: MIT */
/* What a socket of a process is, by a copy of its descriptor and by the name of its protocol; and
 * that a copy delays nobody. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/kernel_abi.h"
#include "fastnet/namespace.h"
#include "fastnet/record.h"
#include "kit.h"
#include "lookup/protocol_names.h"

static struct held_socket held_of(pid_t pid, int fd)
{
    struct stat file = {.st_ino = 0};

    assert_int_equal(fstat(fd, &file), 0);
    return (struct held_socket){.pid = pid, .fd = fd, .socket.inode = file.st_ino};
}

/* Skips the test where a seccomp filter or an old kernel refuses copies. */
static void needs_copies(void)
{
    const int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0),
              copy = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, STDERR_FILENO, 0);

    if (pidfd >= 0)
        close(pidfd);
    if (copy < 0)
        skip();
    close(copy);
}

static struct held_socket asked(int fd)
{
    struct held_socket held = held_of(getpid(), fd);

    assert_int_equal(held_sockets_ask(&held, 1, "/proc"), 0);
    return held;
}

/* --- Names ------------------------------------------------------------------------------------ */

static void a_name_decides_family_type_and_protocol(void **state)
{
    struct pass_socket socket = {.family = 77, .protocol = 78};

    (void)state;
    assert_false(protocol_name_decode(as_text("TC"), &socket));
    assert_false(protocol_name_decode(as_text(""), &socket));
    assert_int_equal(socket.family, 77);
    assert_int_equal(socket.protocol, 78);
    assert_true(protocol_name_decode(as_text("TCPv6"), &socket));
    assert_int_equal(socket.family, AF_INET6);
    assert_int_equal(socket.type, SOCK_STREAM);
    assert_int_equal(socket.protocol, IPPROTO_TCP);
    assert_true(protocol_name_decode(as_text("PACKET"), &socket));
    assert_int_equal(socket.family, AF_PACKET);
    assert_int_equal(socket.type, 0);
    assert_int_equal(socket.protocol, HELD_PROTOCOL_UNKNOWN);
}

/* --- Copies ----------------------------------------------------------------------------------- */

static void a_copy_knows_a_socket_that_no_table_has(void **state)
{
    const int fd = socket(AF_INET6, SOCK_STREAM, 0);
    uint64_t cookie = 0;
    socklen_t size = sizeof cookie;
    const struct held_socket held = asked(fd);

    (void)state;
    needs_copies();
    assert_int_equal(held.socket.family, AF_INET6);
    assert_int_equal(held.socket.type, SOCK_STREAM);
    assert_int_equal(held.socket.protocol, IPPROTO_TCP);
    assert_int_equal(held.socket.state, TCP_CLOSE);
    assert_int_equal(held.socket.local_port, 0);
    assert_true(held.socket.uid == geteuid());
    assert_true(held.has == (SOCKET_STATE | SOCKET_ADDRESSES | SOCKET_UID));
    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size), 0);
    assert_true(held.socket.cookie == cookie);
    assert_true(held.socket.netns == namespace_own_id());
    close(fd);
}

static void a_copy_knows_both_ends(void **state)
{
    struct sockaddr_in end = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof end;
    const int one = socket(AF_INET, SOCK_DGRAM, 0), other = socket(AF_INET, SOCK_DGRAM, 0);
    struct held_socket held;

    (void)state;
    needs_copies();
    assert_int_equal(bind(one, (struct sockaddr *)&end, sizeof end), 0);
    assert_int_equal(getsockname(one, (struct sockaddr *)&end, &size), 0);
    assert_int_equal(connect(other, (struct sockaddr *)&end, sizeof end), 0);
    held = asked(one);
    assert_int_equal(held.socket.local_port, ntohs(end.sin_port));
    assert_int_equal(held.socket.state, TCP_CLOSE);
    held = asked(other);
    assert_int_equal(held.socket.remote_port, end.sin_port);
    assert_memory_equal(held.socket.remote, &end.sin_addr, 4);
    assert_int_equal(held.socket.state, TCP_ESTABLISHED);
    close(one);
    close(other);
}

static void what_is_no_longer_that_socket_has_no_inode(void **state)
{
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), null = open("/dev/null", O_RDONLY);
    struct held_socket held[4];
    pid_t ended = fork();

    (void)state;
    if (ended == 0)
        _exit(0);
    assert_int_equal(waitpid(ended, NULL, 0), ended);
    held[0] = held_of(getpid(), fd);
    held[1] = held[0];
    held[1].fd = null; /* another file has its descriptor */
    held[2] = held[0];
    held[2].pid = ended;
    held[3] = held[0];
    held[3].fd = 4000; /* closed */
    assert_int_equal(held_sockets_ask(held, COUNT(held), "/proc"), 0);
    assert_int_equal(held[0].socket.family, AF_UNIX);
    assert_true(held[0].socket.inode != 0);
    for (size_t i = 1; i < COUNT(held); i++)
        assert_true(held[i].socket.inode == 0);
    close(fd);
    close(null);
}

static void a_captured_tree_has_nobody_to_ask(void **state)
{
    struct tree tree;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct held_socket held = held_of(getpid(), fd);

    (void)state;
    tree_make(&tree);
    assert_int_equal(held_sockets_ask(&held, 1, tree.root), 0);
    assert_true(held.socket.inode != 0 && held.socket.family == 0 && held.has == 0);
    assert_true(held_sockets_ask(&held, 1, "/nonexistent") < 0);
    tree_remove(&tree);
    close(fd);
}

/* --- Connections ------------------------------------------------------------------------------ */

struct connected {
    int owner, peer;
};

static struct connected connected_make(void)
{
    struct sockaddr_in end = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof end;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct connected connected = {.owner = socket(AF_INET, SOCK_STREAM, 0)};

    assert_int_equal(bind(listener, (struct sockaddr *)&end, sizeof end), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&end, &size), 0);
    assert_int_equal(connect(connected.owner, (struct sockaddr *)&end, sizeof end), 0);
    connected.peer = accept(listener, NULL, NULL);
    assert_true(connected.peer >= 0);
    close(listener);
    return connected;
}

static void the_error_of_a_reset_socket_stays(void **state)
{
    const struct connected connected = connected_make();
    const struct linger reset = {.l_onoff = 1};
    struct pollfd hung = {.fd = connected.owner, .events = POLLIN};
    int error = 0;
    socklen_t size = sizeof error;

    (void)state;
    assert_int_equal(setsockopt(connected.peer, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
    close(connected.peer);
    assert_int_equal(poll(&hung, 1, -1), 1);
    (void)asked(connected.owner);
    assert_int_equal(getsockopt(connected.owner, SOL_SOCKET, SO_ERROR, &error, &size), 0);
    assert_int_equal(error, ECONNRESET);
    close(connected.owner);
}

/* A thread that asks for one socket again and again, so that there is nearly always a copy. */
enum { QUESTIONS = 5000 };

static void *asks(void *arg)
{
    struct held_socket *held = arg;

    assert_int_equal(held_sockets_ask(held, QUESTIONS, "/proc"), 0);
    return NULL;
}

/* A process that closes the socket when it can read `go`, and lives on. */
static pid_t owner_start(struct connected connected, const int go[2])
{
    const pid_t owner = fork();
    char byte;

    if (owner)
        return owner;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed assertion ends the test */
    close(go[1]);
    close(connected.peer);
    if (read(go[0], &byte, 1) == 1)
        close(connected.owner);
    for (;;)
        pause();
}

static bool was_answered(const struct held_socket *held)
{
    return held->socket.inode && held->socket.family == AF_INET;
}

/* Closes the owner's end while copies of it are made. *fin: how long the peer then waits for its
 * FIN, in nanoseconds; NULL: the peer does not wait. yields: how often other threads may run
 * before. Returns true if the owner's end was closed between two questions. */
static bool closed_while_asked(struct connected connected, unsigned yields, uint64_t *fin)
{
    struct held_socket *held = calloc(QUESTIONS, sizeof *held);
    struct pollfd end = {.fd = connected.peer, .events = POLLRDHUP};
    uint64_t start;
    pid_t owner;
    pthread_t thread;
    int go[2];
    bool meanwhile;

    assert_non_null(held);
    assert_int_equal(pipe(go), 0);
    owner = owner_start(connected, go);
    held[0] = held_of(owner, connected.owner);
    for (size_t i = 1; i < QUESTIONS; i++)
        held[i] = held[0];
    close(connected.owner);
    assert_int_equal(pthread_create(&thread, NULL, asks, held), 0);
    while (yields--)
        sched_yield();
    start = clock_nanoseconds(CLOCK_MONOTONIC);
    assert_int_equal(write(go[1], "x", 1), 1);
    if (fin) {
        assert_int_equal(poll(&end, 1, -1), 1);
        *fin = clock_nanoseconds(CLOCK_MONOTONIC) - start;
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (size_t i = 0; i < QUESTIONS; i++) /* no question was given up */
        assert_true(!held[i].socket.inode || was_answered(&held[i]));
    meanwhile = was_answered(&held[0]) && !was_answered(&held[QUESTIONS - 1]);
    kill(owner, SIGKILL);
    assert_int_equal(waitpid(owner, NULL, 0), owner);
    close(connected.peer);
    close(go[0]);
    close(go[1]);
    free(held);
    return meanwhile;
}

/* Other programs may take the CPU for longer, so the shortest of some times counts. */
static void the_peer_sees_the_fin_of_a_socket_that_is_closed_meanwhile(void **state)
{
    uint64_t shortest = UINT64_MAX, fin;

    (void)state;
    needs_copies();
    for (unsigned i = 0, rounds = 0; rounds < 10 && shortest >= 50 * CLOCK_MILLISECOND; i++) {
        if (!closed_while_asked(connected_make(), i * 100, &fin))
            continue;
        rounds++;
        shortest = fin < shortest ? fin : shortest;
    }
    assert_true(shortest < 50 * CLOCK_MILLISECOND);
}

/* The peer reads nothing, so the owner's data cannot be sent, and close(2) would wait a minute. */
static void the_last_copy_of_a_socket_does_not_wait_for_its_peer(void **state)
{
    const struct linger minute = {.l_onoff = 1, .l_linger = 60};
    static const char bytes[65536];

    (void)state;
    needs_copies();
    for (unsigned i = 0, rounds = 0; rounds < 5; i++) {
        const struct connected connected = connected_make();
        while (send(connected.owner, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
            continue;
        assert_int_equal(setsockopt(connected.owner, SOL_SOCKET, SO_LINGER, &minute, sizeof minute),
                         0);
        rounds += closed_while_asked(connected, i * 100, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_decides_family_type_and_protocol),
        cmocka_unit_test(a_copy_knows_a_socket_that_no_table_has),
        cmocka_unit_test(a_copy_knows_both_ends),
        cmocka_unit_test(what_is_no_longer_that_socket_has_no_inode),
        cmocka_unit_test(a_captured_tree_has_nobody_to_ask),
        cmocka_unit_test(the_error_of_a_reset_socket_stays),
        cmocka_unit_test(the_peer_sees_the_fin_of_a_socket_that_is_closed_meanwhile),
        cmocka_unit_test(the_last_copy_of_a_socket_does_not_wait_for_its_peer),
    };

    return cmocka_run_group_tests_name("held ask", tests, NULL, NULL);
}
