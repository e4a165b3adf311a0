/* SPDX-License-Identifier: MIT */
/* A child process copies each descriptor (pidfd_getfd(2), Linux 5.6), asks its copy, and closes it.
 *
 * A copy keeps the socket open: if its process closes the socket meanwhile, the peer learns of that
 * only when the copy is closed. So the child has one copy at a time, for microseconds. A signal
 * cannot stop the child while it has a copy, except SIGSTOP and SIGKILL.
 *
 * If the process closes the socket meanwhile, the child closes it last, and close(2) waits for the
 * peer if SO_LINGER is set (socket(7)). A signal ends this wait (sk_stream_wait_close() of
 * net/core/stream.c), and the FIN was sent before it. So a timer interrupts the child again and
 * again. Everything that the child does for longer than STALLED ends the child: pidfd_getfd(2)
 * waits while the process is in execve(2), which a file system can delay without limit.
 *
 * The child never reads SO_ERROR, because that clears the error. */
#include "fastnet/held_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "fastnet/kernel_abi.h"
#include "fastnet/namespace.h"
#include "fastnet/record/socket.h"
#include "fastnet/rights.h"
#include "lookup/processes.h"
#include "lookup/protocol_names.h"

enum {
    LINGER_MICROSECONDS = 5000, /* interval of the timer */
    STALLED = 1000,             /* milliseconds without an answer after which the child is ended */
    STALLS_MAX = 3,             /* after this number of children the rest stays unknown */
};

/* Memory that the child shares with its parent. */
struct copying {
    atomic_size_t next; /* index of the socket that the child asks about */
    struct held_socket sockets[];
};

/* What the child uses. */
struct copier {
    const struct proc_tree *tree;
    bool may_copy;
    pid_t pid; /* the process that pidfd refers to */
    int pidfd; /* -1: none */
    /* The last network namespace that was found, by its cookie; netns 0: it may not be known. */
    uint64_t netns_cookie;
    uint32_t netns;
};

/* --- A copy ----------------------------------------------------------------------------------- */

static bool copy_option(int copy, int level, int option, void *value, socklen_t size)
{
    const socklen_t wanted = size;

    return getsockopt(copy, level, option, value, &size) == 0 && size == wanted;
}

/* Returns an option that is a number; `otherwise` if the socket does not have it. */
static int copy_number(int copy, int option, int otherwise)
{
    int number;

    return copy_option(copy, SOL_SOCKET, option, &number, sizeof number) ? number : otherwise;
}

/* The ioctl needs CAP_NET_ADMIN. Many sockets have the same network namespace, which the cookie
 * (Linux 5.14) shows. */
static uint32_t copy_netns(int copy, struct copier *copier)
{
    uint64_t cookie = 0;
    struct stat file;
    int fd;

#ifdef SO_NETNS_COOKIE
    if (copy_option(copy, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, sizeof cookie) &&
        cookie == copier->netns_cookie)
        return copier->netns;
#endif
    fd = ioctl(copy, SIOCGSKNS);
    copier->netns_cookie = cookie;
    copier->netns = fd >= 0 && fstat(fd, &file) == 0 ? (uint32_t)file.st_ino : 0;
    if (fd >= 0)
        close(fd);
    return copier->netns;
}

/* Copies address and port; *port is in network byte order. */
static void take_end(const struct sockaddr_storage *from, uint8_t address[16], uint16_t *port)
{
    struct sockaddr_in in;
    struct sockaddr_in6 in6;

    if (from->ss_family == AF_INET) {
        memcpy(&in, from, sizeof in);
        memcpy(address, &in.sin_addr, sizeof in.sin_addr);
        *port = in.sin_port;
    } else if (from->ss_family == AF_INET6) {
        memcpy(&in6, from, sizeof in6);
        memcpy(address, &in6.sin6_addr, sizeof in6.sin6_addr);
        *port = in6.sin6_port;
    }
}

/* Reads both ends and the state of a socket of IP. Returns the bits of struct held_socket. Sockets
 * of UDP and raw sockets have the state ESTABLISHED while they are connected. */
static uint64_t copy_ends(int copy, struct pass_socket *socket)
{
    struct sockaddr_storage local = {.ss_family = AF_UNSPEC}, remote = local;
    socklen_t local_size = sizeof local, remote_size = sizeof remote;
    const bool connected = getpeername(copy, (struct sockaddr *)&remote, &remote_size) == 0;
    uint64_t has = 0;
    uint16_t port = 0;

    if (getsockname(copy, (struct sockaddr *)&local, &local_size) == 0) {
        take_end(&local, socket->local, &port);
        socket->local_port = ntohs(port);
        take_end(&remote, socket->remote, &socket->remote_port);
        has |= SOCKET_ADDRESSES;
    }
    if (socket->type == SOCK_DGRAM || socket->type == SOCK_RAW) {
        socket->state = connected ? TCP_ESTABLISHED : TCP_CLOSE;
        has |= SOCKET_STATE;
    } else if (socket->protocol == IPPROTO_TCP &&
               copy_option(copy, IPPROTO_TCP, TCP_INFO, &socket->state, sizeof socket->state)) {
        has |= SOCKET_STATE;            /* tcpi_state is the first byte */
        if (socket->state == TCP_CLOSE) /* getsockname(2) still has the port, which is free again */
            socket->local_port = 0;
    }
    return has;
}

/* Returns false if the copy is not the wanted socket. */
static bool copy_read(int copy, struct held_socket *held, struct copier *copier)
{
    struct pass_socket *socket = &held->socket;
    struct stat file;

    if (fstat(copy, &file) < 0 || !S_ISSOCK(file.st_mode) || file.st_ino != socket->inode)
        return false;
    socket->family = (uint16_t)copy_number(copy, SO_DOMAIN, AF_UNSPEC);
    socket->type = (uint16_t)copy_number(copy, SO_TYPE, 0);
    socket->protocol = (uint16_t)copy_number(copy, SO_PROTOCOL, HELD_PROTOCOL_UNKNOWN);
    socket->uid = file.st_uid;
    held->has |= SOCKET_UID;
    (void)copy_option(copy, SOL_SOCKET, SO_COOKIE, &socket->cookie, sizeof socket->cookie);
    socket->netns = copy_netns(copy, copier);
    if (socket->family == AF_INET || socket->family == AF_INET6)
        held->has |= copy_ends(copy, socket);
    else if (copy_number(copy, SO_ACCEPTCONN, 0)) {
        socket->state = TCP_LISTEN;
        held->has |= SOCKET_STATE;
    }
    return true;
}

/* --- The child -------------------------------------------------------------------------------- */

static bool ask_by_copy(struct copier *copier, struct held_socket *held)
{
    int copy;
    bool found;

    if (!copier->may_copy)
        return false;
    if (held->pid != copier->pid) {
        if (copier->pidfd >= 0)
            close(copier->pidfd);
        copier->pid = held->pid;
        copier->pidfd = (int)syscall(SYS_pidfd_open, held->pid, 0);
    }
    copy = copier->pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, copier->pidfd, held->fd, 0);
    if (copy < 0)
        return false;
    found = copy_read(copy, held, copier);
    close(copy);
    return found;
}

/* The link is read first, because an attribute of another file could be that of a file system that
 * never answers, and last, because the name may be that of another socket by then. */
static void ask_by_name(const struct copier *copier, struct held_socket *held)
{
    char path[PROCESS_PATH_MAX], name[64];
    ssize_t size = -1;

    snprintf(path, sizeof path, "%d/fd/%d", (int)held->pid, held->fd);
    if (process_holds(copier->tree, held->pid, held->fd, held->socket.inode))
        size = getxattr(path, "system.sockprotoname", name, sizeof name);
    if (!process_holds(copier->tree, held->pid, held->fd, held->socket.inode))
        held->socket.inode = 0;
    else if (size > 0 && !name[size - 1])
        (void)protocol_name_decode((struct text){name, (size_t)size - 1}, &held->socket);
}

static void ignore_signal(int number)
{
    (void)number;
}

/* Lent rights are for the names of owners only (rights.h): they are given up, so that the child
 * learns what the user could learn. ptrace(2) compares permitted capabilities, too. */
static void copier_begin(const struct proc_tree *tree)
{
    const struct timeval interval = {.tv_usec = LINGER_MICROSECONDS};
    const struct itimerval timer = {.it_interval = interval, .it_value = interval};
    const struct sigaction ignored = {.sa_handler = ignore_signal};
    sigset_t signals;

    sigfillset(&signals);
    sigdelset(&signals, SIGALRM);
    (void)sigaction(SIGALRM, &ignored, NULL);
    (void)sigprocmask(SIG_SETMASK, &signals, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
    close(STDIN_FILENO); /* who reads the output of fastnet must not wait for the child */
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    if (rights_elevated()) {
        rights_drop();
    } else {
        rights_raise(RIGHT_OWNERS);
        rights_raise(RIGHT_BUFFERS);
    }
    if (fchdir(tree->fd) < 0) /* for getxattr(2), which takes no directory */
        _exit(1);
}

static _Noreturn void copier_run(struct copier *copier, struct copying *copying, size_t count)
{
    size_t i;

    copier_begin(copier->tree);
    while ((i = atomic_load(&copying->next)) < count) {
        struct held_socket held = copying->sockets[i];
        held.socket.protocol = HELD_PROTOCOL_UNKNOWN;
        if (held.fd >= 0 && !ask_by_copy(copier, &held))
            ask_by_name(copier, &held);
        copying->sockets[i] = held;
        atomic_store(&copying->next, i + 1);
    }
    _exit(0);
}

/* --- The parent ------------------------------------------------------------------------------- */

/* Waits until the child has ended, which closes its end of the pipe, or until it stalls. */
static bool await_child(const struct copying *copying, int pipe)
{
    struct pollfd end = {.fd = pipe, .events = POLLIN};
    size_t before;
    int ready;

    do {
        before = atomic_load(&copying->next);
        ready = poll(&end, 1, STALLED);
    } while ((ready < 0 && errno == EINTR) ||
             (ready == 0 && before != atomic_load(&copying->next)));
    return ready > 0;
}

/* Asks with one child. Does not wait for a child that not even SIGKILL ends. Returns 0 or
 * -errno. */
static int copying_run(struct copying *copying, size_t count, struct copier *copier)
{
    int ends[2];
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    child = fork();
    if (child == 0)
        copier_run(copier, copying, count);
    const int error = child < 0 ? -errno : 0;
    close(ends[1]);
    if (child > 0) {
        bool ended = await_child(copying, ends[0]);
        (void)kill(child, SIGKILL);
        ended = ended || await_child(copying, ends[0]);
        while (waitpid(child, NULL, ended ? 0 : WNOHANG) < 0 && errno == EINTR)
            continue;
    }
    close(ends[0]);
    return error;
}

/* After a child that did not finish, skips the other sockets of the process that it asked. */
static int copying_run_all(struct copying *copying, size_t count, struct copier *copier)
{
    size_t next = 0;
    int error = 0;

    for (unsigned children = 0; !error && next < count && children < STALLS_MAX; children++) {
        error = copying_run(copying, count, copier);
        next = atomic_load(&copying->next);
        for (const pid_t pid = next < count ? copying->sockets[next].pid : 0;
             next < count && copying->sockets[next].pid == pid;)
            next++;
        atomic_store(&copying->next, next);
    }
    return error;
}

int held_sockets_ask(struct held_socket *sockets, size_t count, const char *proc_root)
{
    const size_t bytes = count * sizeof *sockets, size = sizeof(struct copying) + bytes;
    struct proc_tree tree;
    struct copying *copying;
    int result = proc_tree_init(&tree, proc_root);

    if (result < 0 || !count || !tree.living) {
        proc_tree_finish(&tree);
        return result;
    }
    copying = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (copying != MAP_FAILED) {
        /* pidfd_open(2) knows the pids of this pid namespace only (pid_namespaces(7)) */
        struct copier copier = {.tree = &tree,
                                .may_copy = procfs_self(&tree) == getpid(),
                                .pidfd = -1,
                                .netns_cookie = namespace_own_cookie(),
                                .netns = (uint32_t)namespace_own_id()};
        memcpy(copying->sockets, sockets, bytes);
        result = copying_run_all(copying, count, &copier);
        memcpy(sockets, copying->sockets, bytes);
        munmap(copying, size);
    } else {
        result = -errno;
    }
    proc_tree_finish(&tree);
    return result;
}
