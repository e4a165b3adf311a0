/* SPDX-License-Identifier: MIT */
#include "fastnet/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/namespace.h"
#include "fastnet/rights.h"
#include "why/attempt_error.h"

/* States of TCP: net/tcp_states.h of the kernel. linux/tcp.h and netinet/tcp.h exclude each other.
 */
enum { STATE_SYN_SENT = 2, STATE_CLOSE = 7 };

enum {
    FIRST_BYTES = 64,
    RETRANSMIT_INTERVAL = 100, /* ms: no event says that the SYN was sent again */
    ACKED_INTERVAL = 5,        /* ms: no event says that the peer has acknowledged bytes */
    GOODBYE_PATIENCE = 200,    /* ms to wait for the peer's FIN */
    END_PATIENCE = 700,        /* ms to wait for the child, which may say goodbye */
    READS_MAX = 64
};

/* A message of the child to the parent. */
struct attempt_news {
    struct attempt_result result;
    bool is_final;
};

struct attempt {
    pid_t child;
    int pair;     /* an end of a socket pair, which ends with the child; never blocks */
    uint64_t end; /* when the time is over: CLOCK_MONOTONIC, ns */
    struct attempt_news news;
    bool has_ended; /* the child has ended */
};

/* The child's own data. */
struct attempt_child {
    const struct attempt_question *question;
    int socket;
    int pair; /* the other end, which ends with the parent, or by attempt_end() */
    bool is_v6;
    uint64_t end;
    struct attempt_result result;
};

/* --- What the child is ------------------------------------------------------------------------ */

static void child_report(const struct attempt_child *child, bool is_final)
{
    struct attempt_news news;

    memset(&news, 0, sizeof news);
    news.result = child->result;
    news.is_final = is_final;
    if (send(child->pair, &news, sizeof news, MSG_NOSIGNAL) < 0)
        _exit(1);
}

/* Keeps the permitted rights until rights_drop(), because the mark of the socket needs one. */
static int child_become(const struct attempt_as *as)
{
    const gid_t gid = as->gid;
    int error = 0;

    if (as->uid == getuid() && gid == getgid())
        return 0;
    rights_raise(RIGHT_USER);
    if (prctl(PR_SET_KEEPCAPS, 1L, 0L, 0L, 0L) < 0 || setgroups(1, &gid) < 0 ||
        setresgid(gid, gid, gid) < 0 || setresuid(as->uid, as->uid, as->uid) < 0)
        error = -errno;
    rights_lower();
    return error;
}

/* Ends the child if it cannot enter the network namespace. */
static void child_enter(struct attempt_child *child)
{
    const struct attempt_as *as = child->question->as;
    struct attempt_result *result = &child->result;

    if (!as)
        return;
    result->lacks = as->lacks;
    result->error = as->lacks & ATTEMPT_LACKS_NETNS ? EACCES
                    : as->netns                     ? -namespace_enter(as->netns)
                                                    : 0;
    if (result->error) {
        result->lacks |= ATTEMPT_LACKS_NETNS;
        child_report(child, true);
        _exit(0);
    }
    rights_raise(RIGHT_CGROUPS);
    if (as->cgroup && write(as->cgroup, "0", 1) < 0) /* the process that writes (cgroups(7)) */
        result->lacks |= ATTEMPT_LACKS_CGROUP;
    rights_lower();
    if (as->has_user && child_become(as) < 0)
        result->lacks |= ATTEMPT_LACKS_USER;
}

/* The socket belongs to the user and control group of now, so it is opened after the child has
 * entered them. Returns 0 or -errno. */
static int child_open_socket(struct attempt_child *child)
{
    const struct attempt_question *question = child->question;
    const int type = question->protocol == IPPROTO_UDP ? SOCK_DGRAM : SOCK_STREAM, on = 1;
    socklen_t size = sizeof child->result.cookie;

    child->socket = socket(question->peer.address.family, type | SOCK_NONBLOCK | SOCK_CLOEXEC,
                           question->protocol);
    if (child->socket < 0)
        return -errno;
    rights_raise(RIGHT_MARK);
    if (question->mark &&
        setsockopt(child->socket, SOL_SOCKET, SO_MARK, &question->mark, sizeof question->mark) < 0)
        child->result.lacks |= ATTEMPT_LACKS_MARK;
    rights_lower();
    (void)setsockopt(child->socket, child->is_v6 ? IPPROTO_IPV6 : IPPROTO_IP,
                     child->is_v6 ? IPV6_RECVERR : IP_RECVERR, &on, sizeof on);
    (void)getsockopt(child->socket, SOL_SOCKET, SO_COOKIE, &child->result.cookie, &size);
    return 0;
}

/* --- Connecting ------------------------------------------------------------------------------- */

static int child_connect(const struct attempt_child *child)
{
    const struct attempt_question *question = child->question;
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(question->peer.port)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
                               .sin6_port = htons(question->peer.port),
                               .sin6_scope_id = question->interface};
    const struct sockaddr *to = child->is_v6 ? (struct sockaddr *)&in6 : (struct sockaddr *)&in;

    memcpy(&in.sin_addr, question->peer.address.bytes, sizeof in.sin_addr);
    memcpy(&in6.sin6_addr, question->peer.address.bytes, sizeof in6.sin6_addr);
    if (connect(child->socket, to, child->is_v6 ? sizeof in6 : sizeof in) < 0)
        return -errno;
    return question->protocol == IPPROTO_UDP && send(child->socket, "", 0, 0) < 0 ? -errno : 0;
}

/* Takes all messages of the error queue. Returns whether there was an ICMP message. */
static bool child_read_icmp(struct attempt_child *child)
{
    _Alignas(struct cmsghdr) unsigned char control[512];
    struct attempt_result *result = &child->result;
    bool found = false;

    for (;;) {
        struct msghdr message = {.msg_control = control, .msg_controllen = sizeof control};
        if (recvmsg(child->socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
            break;
        found |= attempt_take_error(&message, result);
    }
    result->icmp_is_local |= found && address_equal(&result->offender, &result->local.address) &&
                             result->offender.family != AF_UNSPEC;
    return found;
}

/* Returns the errno of the socket, or 0, and the ICMP message that caused it. SO_ERROR comes first,
 * because reading the last message of the queue clears it (sock_dequeue_err_skb() of the kernel's
 * net/core/skbuff.c); an error may also come between the two calls. */
static int child_read_error(struct attempt_child *child)
{
    int error = 0;
    socklen_t size = sizeof error;

    (void)getsockopt(child->socket, SOL_SOCKET, SO_ERROR, &error, &size);
    return child_read_icmp(child) && !error ? child->result.icmp_error : error;
}

static struct tcp_info child_tcp_info(const struct attempt_child *child)
{
    struct tcp_info info = {.tcpi_state = STATE_SYN_SENT};
    socklen_t size = sizeof info;

    (void)getsockopt(child->socket, IPPROTO_TCP, TCP_INFO, &info, &size);
    return info;
}

static void child_read_path(struct attempt_child *child, const struct tcp_info *info)
{
    int mtu = 0;
    socklen_t size = sizeof mtu;

    (void)getsockopt(child->socket, child->is_v6 ? IPPROTO_IPV6 : IPPROTO_IP,
                     child->is_v6 ? IPV6_MTU : IP_MTU, &mtu, &size);
    child->result.mtu = (uint32_t)mtu;
    child->result.mss = info->tcpi_snd_mss;
}

static bool child_fail(struct attempt_child *child, int error)
{
    child->result.state = ATTEMPT_FAILED;
    child->result.error = error;
    return true;
}

/* Notes a reset after the handshake, each time that a call returns an error of the socket, which
 * clears it. A reset before the handshake is ECONNREFUSED (tcp_reset() of the kernel's
 * net/ipv4/tcp_input.c). */
static void child_note_error(struct attempt_child *child, int error)
{
    child->result.reset |= error == ECONNRESET || error == EPIPE;
}

/* Returns whether there is a proof. A SYN that is refused within connect(2) leaves the socket in
 * SYN_SENT with a soft error, which SO_ERROR returns, too. */
static bool child_settle_tcp(struct attempt_child *child)
{
    const int error = child_read_error(child);
    const struct tcp_info info = child_tcp_info(child);

    child->result.retransmits = info.tcpi_total_retrans;
    child_note_error(child, error);
    if (child->result.reset ||
        (info.tcpi_state != STATE_SYN_SENT && info.tcpi_state != STATE_CLOSE)) {
        child->result.state = ATTEMPT_CONNECTED;
        child_read_path(child, &info);
        return true;
    }
    if (error)
        return child_fail(child, error);
    return info.tcpi_state == STATE_CLOSE; /* another process has closed the socket (ss -K) */
}

static bool child_settle_udp(struct attempt_child *child)
{
    const int error = child_read_error(child);

    if (error)
        return child_fail(child, error);
    if (recv(child->socket, NULL, 0, MSG_DONTWAIT) < 0)
        return false;
    child->result.state = ATTEMPT_CONNECTED;
    return true;
}

/* Waits for the socket, at most for `milliseconds`. Returns false at once if the time is over. If
 * the parent has ended, or has called attempt_end(), the child ends here: the parent may not send
 * signals to a process of another user. */
static bool child_poll(const struct attempt_child *child, short events, unsigned milliseconds)
{
    struct pollfd both[] = {{.fd = child->socket, .events = events},
                            {.fd = child->pair, .events = POLLIN}};
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);

    if (now >= child->end)
        return false;
    if (child->end - now < milliseconds * CLOCK_MILLISECOND)
        milliseconds = (unsigned)((child->end - now) / CLOCK_MILLISECOND) + 1;
    if (poll(both, COUNT(both), (int)milliseconds) > 0 && both[1].revents)
        _exit(0);
    return true;
}

/* Waits for a proof. Reports each SYN that was sent again. */
static void child_await(struct attempt_child *child)
{
    const bool is_udp = child->question->protocol == IPPROTO_UDP;
    uint32_t reported = 0;

    while (!(is_udp ? child_settle_udp(child) : child_settle_tcp(child)) &&
           child_poll(child, is_udp ? POLLIN : POLLOUT, RETRANSMIT_INTERVAL)) {
        if (child->result.retransmits != reported)
            child_report(child, false);
        reported = child->result.retransmits;
    }
    child->result.elapsed = clock_nanoseconds(CLOCK_MONOTONIC) - child->result.began;
}

/* --- Bytes, and the end ----------------------------------------------------------------------- */

/* Discards what the peer has sent, because close(2) with unread bytes sends a reset. Stops after a
 * while, because a peer may send without end. Returns false at the end of the stream. */
static bool child_drain(struct attempt_child *child)
{
    char unread[4096];
    ssize_t length = 1;

    for (int i = 0; i < READS_MAX && length > 0; i++)
        length = recv(child->socket, unread, sizeof unread, MSG_DONTWAIT);
    if (length < 0)
        child_note_error(child, errno);
    return length > 0 || (length < 0 && errno == EAGAIN);
}

/* abort: close(2) resets the connection, and discards the bytes that are not sent yet. */
static void child_set_abort(const struct attempt_child *child, bool abort)
{
    const struct linger linger = {.l_onoff = abort, .l_linger = 0};

    (void)setsockopt(child->socket, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

/* Returns how many bytes may be sent so far: first only a few, whose acknowledgement shows that
 * small packets pass. */
static size_t child_may_send(const struct attempt_child *child)
{
    const size_t bytes = child->question->bytes;

    return bytes > FIRST_BYTES && child->result.acked < FIRST_BYTES ? FIRST_BYTES : bytes;
}

static void child_fill(struct attempt_child *child, size_t *given)
{
    static const char zeroes[4096];
    const size_t end = child_may_send(child);
    ssize_t length = 1;

    while (length > 0 && *given < end) {
        const size_t left = end - *given;
        length = send(child->socket, zeroes, left < sizeof zeroes ? left : sizeof zeroes,
                      MSG_DONTWAIT | MSG_NOSIGNAL);
        *given += length > 0 ? (size_t)length : 0;
    }
    if (length < 0)
        child_note_error(child, errno);
}

static void child_count_bytes(struct attempt_child *child, size_t given)
{
    struct attempt_result *result = &child->result;
    const struct tcp_info info = child_tcp_info(child);
    int unacked = 0;

    child_note_error(child, child_read_error(child));
    result->data_retransmits = info.tcpi_total_retrans - result->retransmits;
    if (ioctl(child->socket, SIOCOUTQ, &unacked) == 0 && (size_t)unacked <= given) {
        result->acked = given - (size_t)unacked;
        result->sent = given - (info.tcpi_notsent_bytes < (size_t)unacked ? info.tcpi_notsent_bytes
                                                                          : (size_t)unacked);
    }
    if (!result->reset)
        child_read_path(child, &info);
}

/* Sends zero bytes until the peer has acknowledged all, or resets, or the time is over. */
static void child_send(struct attempt_child *child)
{
    size_t given = 0;

    child_set_abort(child, true);
    do {
        child_fill(child, &given);
        (void)child_drain(child);
        child_count_bytes(child, given);
    } while (!child->result.reset && child->result.acked < child->question->bytes &&
             child_poll(child, given < child_may_send(child) ? POLLOUT : 0, ACKED_INTERVAL));
    child_set_abort(child, child->result.acked < given);
}

/* Closes the connection as a program does that has nothing to say. Waits for the peer's FIN,
 * because the kernel answers data for a closed socket with a reset. */
static void child_say_goodbye(struct attempt_child *child)
{
    child->end = clock_nanoseconds(CLOCK_MONOTONIC) + GOODBYE_PATIENCE * CLOCK_MILLISECOND;
    (void)shutdown(child->socket, SHUT_WR);
    while (child_drain(child) && child_poll(child, POLLIN, GOODBYE_PATIENCE))
        continue;
}

/* --- The child, from begin to end ------------------------------------------------------------- */

/* Called at once, because the control group may be frozen, and again after the child has become
 * another user, because the kernel then forgets PR_SET_PDEATHSIG. But it sends no signal to another
 * user: child_poll() ends that child. */
static void child_die_with(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
}

/* error: of socket(2), or 0. */
static void child_try(struct attempt_child *child, int error)
{
    struct attempt_result *result = &child->result;
    struct sockaddr_storage name;
    socklen_t size = sizeof name;

    result->began = clock_nanoseconds(CLOCK_MONOTONIC);
    child->end = result->began + child->question->milliseconds * CLOCK_MILLISECOND;
    if (!error)
        error = child_connect(child);
    if (error && error != -EINPROGRESS) {
        result->at_once = child_fail(child, -error);
        result->elapsed = clock_nanoseconds(CLOCK_MONOTONIC) - result->began;
        return;
    }
    result->state = ATTEMPT_WAITS;
    if (getsockname(child->socket, (struct sockaddr *)&name, &size) == 0)
        result->local = endpoint_of(&name, sizeof name);
    child_report(child, false);
    child_await(child);
}

/* Uses the open connection, and closes it. Without bytes the handshake is the final result. With
 * bytes the result includes the end, because the peer may reset the connection when it has all
 * bytes.
 */
static void child_use(struct attempt_child *child)
{
    child_report(child, !child->question->bytes);
    if (child->question->bytes && !child->result.reset)
        child_send(child);
    child_say_goodbye(child);
}

static _Noreturn void child_run(struct attempt_child *child, pid_t parent)
{
    int error;
    sigset_t all;

    sigfillset(&all); /* blocks the parent's handlers, which write to the terminal */
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    child_die_with(parent);
    child_enter(child);
    error = child_open_socket(child);
    rights_drop();
    child_die_with(parent);
    child_try(child, error);
    if (child->result.state == ATTEMPT_CONNECTED && child->question->protocol == IPPROTO_TCP)
        child_use(child);
    child_report(child, true);
    _exit(0);
}

/* --- The parent ------------------------------------------------------------------------------- */

int attempt_begin(struct attempt **attempt, const struct attempt_question *question)
{
    struct attempt *made = calloc(1, sizeof *made);
    struct attempt_question asked = *question;
    const pid_t self = getpid();
    int pair[2] = {-1, -1}, error;

    if (!made)
        return -ENOMEM;
    asked.peer.address = address_unmapped(&question->peer.address);
    made->end = clock_nanoseconds(CLOCK_MONOTONIC) + question->milliseconds * CLOCK_MILLISECOND;
    made->child = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0
                      ? -1
                      : fork();
    error = made->child < 0 ? -errno : 0;
    if (made->child == 0) {
        close(pair[0]);
        child_run(&(struct attempt_child){.question = &asked,
                                          .pair = pair[1],
                                          .is_v6 = asked.peer.address.family == AF_INET6},
                  self);
    }
    if (pair[1] >= 0)
        close(pair[1]);
    if (error) {
        if (pair[0] >= 0)
            close(pair[0]);
        free(made);
        return error;
    }
    made->pair = pair[0];
    *attempt = made;
    return 0;
}

bool attempt_read(struct attempt *attempt, struct attempt_result *result)
{
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    struct attempt_news news;
    ssize_t length;

    while ((length = read(attempt->pair, &news, sizeof news)) == (ssize_t)sizeof news)
        attempt->news = news;
    attempt->has_ended |= length == 0;
    /* A child that was killed has not waited for an answer. */
    if (attempt->has_ended && !attempt->news.is_final &&
        attempt->news.result.state == ATTEMPT_WAITS)
        attempt->news.result.state = ATTEMPT_NONE;
    *result = attempt->news.result;
    if (attempt->news.is_final || attempt->has_ended)
        return true;
    if (result->state == ATTEMPT_WAITS)
        result->elapsed = now - result->began;
    return now > attempt->end + CLOCK_SECOND;
}

int attempt_descriptor(const struct attempt *attempt)
{
    return attempt->pair;
}

/* A child that was stopped, as by a frozen control group, is killed. */
void attempt_end(struct attempt *attempt)
{
    const uint64_t end = clock_nanoseconds(CLOCK_MONOTONIC) + END_PATIENCE * CLOCK_MILLISECOND;
    struct attempt_result result;

    if (!attempt)
        return;
    (void)attempt_read(attempt, &result);
    if (!attempt->news.is_final)
        (void)shutdown(attempt->pair, SHUT_WR);
    while (!attempt->has_ended && clock_nanoseconds(CLOCK_MONOTONIC) < end) {
        struct pollfd event = {.fd = attempt->pair, .events = POLLIN};
        (void)poll(&event, 1, END_PATIENCE);
        (void)attempt_read(attempt, &result);
    }
    rights_raise(RIGHT_USER);
    const bool will_end = attempt->has_ended || kill(attempt->child, SIGKILL) == 0;
    rights_lower();
    while (waitpid(attempt->child, NULL, will_end ? 0 : WNOHANG) < 0 && errno == EINTR)
        continue;
    close(attempt->pair);
    free(attempt);
}
