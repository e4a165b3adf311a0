/* SPDX-License-Identifier: MIT */
#include "backend/netlink/netlink.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/netlink/ahead.h"
#include "backend/netlink/attributes.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"
#include "fastnet/thread.h"

enum { PROTOCOLS = 32, RESTARTS_MAX = 4 };

/* A dump of more datagrams than this (SOCKETS_ALONE: of sockets) gets a thread, which costs 0.3 ms.
 * The rows of one datagram take 20 us, or 50 to 100 us if they are sockets (measured). */
enum { DATAGRAMS_ALONE = 24, SOCKETS_ALONE = 12 };

/* If events come without a pause, `stop` is checked after this number of datagrams. */
enum { EVENTS_AT_ONCE = 256 };

struct channel {
    int fd; /* -1: not open */
    uint32_t port;
};

struct netlink {
    const struct netlink_peer *peer; /* what answers instead of the kernel, or NULL */
    uint32_t sequence;
    bool saves_cpu;                     /* receive without a thread, which saves CPU time */
    struct channel channels[PROTOCOLS]; /* indexed by netlink protocol */
    char buffer[DATAGRAM_SIZE];
};

struct dump {
    struct netlink *netlink;
    struct channel *channel;
    int protocol;
    netlink_fn fn;
    void *arg;
    struct report *report;
    size_t received;     /* datagrams so far */
    struct ahead *ahead; /* NULL: there is no thread */
    bool last_try;       /* hand on all messages, even if the table changes */
    bool handed_on;      /* fn was called */
    bool interrupted;    /* NLM_F_DUMP_INTR was seen */
};

const struct netlink_peer *netlink_peer(const struct netlink *netlink)
{
    return netlink->peer;
}

struct netlink *netlink_create(const struct netlink_peer *peer)
{
    struct netlink *netlink = malloc(sizeof *netlink);

    if (!netlink)
        return NULL;
    netlink->peer = peer;
    netlink->sequence = 0;
    netlink->saves_cpu = false;
    for (size_t i = 0; i < PROTOCOLS; i++)
        netlink->channels[i] = (struct channel){.fd = -1, .port = 1};
    return netlink;
}

void netlink_receive_inline(struct netlink *netlink)
{
    netlink->saves_cpu = true;
}

static void channel_close(struct channel *channel)
{
    if (channel->fd >= 0)
        close(channel->fd);
    channel->fd = -1;
}

void netlink_close(struct netlink *netlink)
{
    for (size_t i = 0; i < PROTOCOLS; i++)
        channel_close(&netlink->channels[i]);
}

void netlink_destroy(struct netlink *netlink)
{
    if (netlink)
        netlink_close(netlink);
    free(netlink);
}

/* Raises a right: nfnetlink needs CAP_NET_ADMIN when a request is sent or a group is joined. */
static void raise_for(int protocol)
{
    if (protocol == NETLINK_NETFILTER)
        rights_raise(RIGHT_NETFILTER);
    if (protocol == NETLINK_SOCK_DIAG)
        rights_raise(RIGHT_SOCKETS);
}

static void lower_for(int protocol)
{
    if (protocol == NETLINK_NETFILTER || protocol == NETLINK_SOCK_DIAG)
        rights_lower();
}

/* bind() makes the kernel choose the port to which it sends answers. The two options ask for strict
 * checks of requests, and for errors in words. Old kernels lack the options, which does no harm. */
static int channel_open(struct channel *channel, int protocol, uint32_t groups)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    socklen_t length = sizeof address;
    const int on = 1;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
    int result;

    if (fd < 0)
        return -errno;
    raise_for(protocol);
    result = bind(fd, (const struct sockaddr *)&address, sizeof address);
    if (result == 0)
        result = getsockname(fd, (struct sockaddr *)&address, &length);
    if (result < 0)
        result = -errno;
    lower_for(protocol);
    if (result < 0) {
        close(fd);
        return result;
    }
    setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
    setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
    channel->fd = fd;
    channel->port = address.nl_pid;
    return 0;
}

/* errno is from a call on fd. Waits, and returns 0, if the call can be repeated, else -errno. */
static int wait_again(int fd, short events)
{
    struct pollfd pollfd = {.fd = fd, .events = events};

    if (errno == EINTR)
        return 0;
    if (errno != EAGAIN)
        return -errno;
    return poll(&pollfd, 1, -1) < 0 && errno != EINTR && errno != EAGAIN ? -errno : 0;
}

static int send_bytes(const struct dump *dump, const void *request, size_t size)
{
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    const struct netlink_peer *peer = dump->netlink->peer;
    int fd = dump->channel->fd;
    int error = 0;

    if (peer)
        return peer->send(peer->arg, request, size);
    raise_for(dump->protocol);
    while (!error &&
           sendto(fd, request, size, 0, (const struct sockaddr *)&kernel, sizeof kernel) < 0)
        error = wait_again(fd, POLLOUT);
    lower_for(dump->protocol);
    return error;
}

/* Receives a datagram into the buffer. Length -EAGAIN: nothing came, and flags forbid to wait. */
static struct datagram netlink_receive(struct netlink *netlink, int fd, int flags)
{
    const struct netlink_peer *peer = netlink->peer;
    struct datagram datagram = {.data = netlink->buffer};
    struct sockaddr_nl from = {.nl_family = AF_NETLINK};
    struct iovec vector = {.iov_base = netlink->buffer, .iov_len = DATAGRAM_SIZE};
    struct msghdr header = {
        .msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &vector, .msg_iovlen = 1};
    ssize_t length;

    if (peer) {
        datagram.length = peer->receive(peer->arg, netlink->buffer, DATAGRAM_SIZE, &datagram.port);
        return datagram;
    }
    while ((length = recvmsg(fd, &header, flags)) < 0) {
        int error = flags & MSG_DONTWAIT && errno == EAGAIN ? -EAGAIN : wait_again(fd, POLLIN);
        if (error) {
            datagram.length = error;
            return datagram;
        }
    }
    datagram.length = datagram_length(&header, (size_t)length);
    datagram.port = from.nl_pid;
    return datagram;
}

/* Reports the kernel's own words about an error (NETLINK_EXT_ACK), if the message has any. */
static void note_kernel_words(const struct dump *dump, const struct nlmsghdr *message,
                              size_t offset)
{
    struct decoding decoding = {0};
    struct attributes attributes;
    struct attribute attribute;

    if (!(message->nlmsg_flags & NLM_F_ACK_TLVS) || !message_header(message, offset, &attributes))
        return;
    while (attributes_next(&decoding, &attributes, &attribute))
        if (attribute.type == NLMSGERR_ATTR_MSG)
            report_note(dump->report, "the kernel says: %.*s", (int)attribute.content.length,
                        attribute.content.data);
}

/* Returns the error of a message, or -EBADMSG if the kernel cannot have sent it. */
static int checked_error(int error)
{
    enum { MAX_ERRNO = 4095 }; /* include/linux/err.h */

    return error > 0 || error < -MAX_ERRNO ? -EBADMSG : error;
}

/* NLMSG_ERROR: the kernel refuses the request, or acknowledges it (error 0). */
static int error_status(const struct dump *dump, const struct nlmsghdr *message)
{
    const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);
    size_t offset = sizeof *error;
    int result;

    if (mnl_nlmsg_get_payload_len(message) < sizeof *error)
        return -EBADMSG;
    result = checked_error(error->error);
    if (!result || result != error->error)
        return result;
    if (!(message->nlmsg_flags & NLM_F_CAPPED) && error->msg.nlmsg_len >= sizeof error->msg)
        offset += error->msg.nlmsg_len - sizeof error->msg;
    note_kernel_words(dump, message, NLMSG_ALIGN(offset));
    return error->error;
}

/* NLMSG_DONE: a dump can fail as late as here, for example for a protocol that the kernel lacks. */
static int done_status(const struct dump *dump, const struct nlmsghdr *message)
{
    int error = 0;

    if (mnl_nlmsg_get_payload_len(message) < sizeof error) {
        report_loss(dump->report, "a netlink dump ended without a status: rows may be missing");
        return 0;
    }
    memcpy(&error, mnl_nlmsg_get_payload(message), sizeof error);
    if (error < 0)
        note_kernel_words(dump, message, sizeof error);
    return checked_error(error);
}

enum { MORE = INT_MAX };

/* Returns MORE to go on, 0 if the dump is complete, or a negative value that ends it. */
static int netlink_take_message(struct dump *dump, const struct nlmsghdr *message)
{
    if (message->nlmsg_seq != dump->netlink->sequence ||
        message->nlmsg_pid != dump->channel->port) {
        /* an old answer cannot come: its socket would have been closed */
        report_loss(dump->report, "ignored a netlink message that answers another request");
        return MORE;
    }
    if (message->nlmsg_flags & NLM_F_DUMP_INTR)
        dump->interrupted = true;
    switch (message->nlmsg_type) {
    case NLMSG_NOOP:
        return MORE;
    case NLMSG_ERROR:
        return error_status(dump, message);
    case NLMSG_DONE:
        return done_status(dump, message);
    case NLMSG_OVERRUN:
        return -ENOBUFS;
    default:
        if (dump->interrupted && !dump->handed_on && !dump->last_try)
            return MORE; /* netlink_dump() asks again after the rest of the answer */
        dump->handed_on = true;
        int result = dump->fn(message, dump->arg);
        return result < 0 ? result : MORE;
    }
}

/* Not mnl_nlmsg_ok(): it reads a length of 2 GiB or more as negative, which always fits. */
static bool netlink_fits(const struct nlmsghdr *message, int left)
{
    return left >= (int)sizeof *message && message->nlmsg_len >= sizeof *message &&
           message->nlmsg_len <= (uint32_t)left;
}

static int take_datagram(struct dump *dump, const struct datagram *datagram)
{
    const struct nlmsghdr *message = (const void *)datagram->data;
    int left = (int)datagram->length; /* signed: padding can make it negative */

    for (; netlink_fits(message, left); message = mnl_nlmsg_next(message, &left)) {
        int result = netlink_take_message(dump, message);
        if (result != MORE)
            return result;
    }
    return left > 0 ? -EBADMSG : MORE;
}

/* Whether receiving needs rights: inet_diag checks them again for each datagram of a dump. */
static bool needs_rights(const struct dump *dump)
{
    return dump->protocol == NETLINK_SOCK_DIAG && !dump->netlink->peer;
}

/* The next datagram of the answer. A thread is useful only if there are several CPUs. */
static struct datagram netlink_receive_answer(struct dump *dump)
{
    const bool is_of_sockets = dump->protocol == NETLINK_SOCK_DIAG;
    struct datagram datagram;

    if (++dump->received == (is_of_sockets ? SOCKETS_ALONE : DATAGRAMS_ALONE) &&
        !dump->netlink->peer && !dump->netlink->saves_cpu && thread_cpus() > 1) {
        if (needs_rights(dump))
            raise_for(dump->protocol);
        dump->ahead = ahead_start(dump->channel->fd);
        if (needs_rights(dump))
            lower_for(dump->protocol);
    }
    if (dump->ahead && ahead_receive(dump->ahead, &datagram))
        return datagram;
    if (needs_rights(dump))
        raise_for(dump->protocol);
    datagram = netlink_receive(dump->netlink, dump->channel->fd, 0);
    if (needs_rights(dump))
        lower_for(dump->protocol);
    return datagram;
}

static void note_stranger(struct report *report)
{
    report_note(report, "ignored a netlink message that the kernel did not send");
}

static int run_dump(struct dump *dump, struct nlmsghdr *request)
{
    int result;

    request->nlmsg_seq = ++dump->netlink->sequence;
    request->nlmsg_pid = dump->channel->port;
    result = send_bytes(dump, request, request->nlmsg_len);
    if (result < 0)
        return result;
    dump->received = 0;
    for (result = MORE; result == MORE;) {
        const struct datagram datagram = netlink_receive_answer(dump);
        if (datagram.length < 0)
            result = (int)datagram.length;
        else if (datagram.port != 0)
            note_stranger(dump->report);
        else
            result = datagram.length ? take_datagram(dump, &datagram) : -EPIPE;
    }
    ahead_end(dump->ahead);
    dump->ahead = NULL;
    return result;
}

int netlink_open(struct netlink *netlink, int protocol)
{
    struct channel *channel = &netlink->channels[protocol];
    int result = 0;

    if (!netlink->peer && channel->fd < 0)
        do
            result = channel_open(channel, protocol, 0);
        while (result == -EINTR);
    return result;
}

int netlink_dump(struct netlink *netlink, int protocol, struct nlmsghdr *request, netlink_fn fn,
                 void *arg, struct report *report)
{
    struct dump dump = {.netlink = netlink,
                        .channel = &netlink->channels[protocol],
                        .protocol = protocol,
                        .fn = fn,
                        .arg = arg,
                        .report = report};
    int result = netlink_open(netlink, protocol);

    if (result < 0)
        return result;
    for (int restarts = 0;; restarts++) {
        dump.interrupted = false;
        dump.last_try = restarts == RESTARTS_MAX;
        result = run_dump(&dump, request);
        if (result < 0 || !dump.interrupted || dump.handed_on || dump.last_try)
            break;
    }
    if (result < 0) /* further messages may be queued, and a socket has only one dump at a time */
        channel_close(dump.channel);
    else if (dump.interrupted)
        report_loss(report, "the table changed while it was read: rows may be missing or repeated");
    return result;
}

/* --- Several requests, each for one object ---------------------------------------------------- */

/* Takes answers (messages or errors). Returns their number, or a negative value. */
static int take_answers(struct dump *dump, const struct datagram *datagram)
{
    const struct nlmsghdr *message = (const void *)datagram->data;
    int left = (int)datagram->length, result = 0, count = 0;

    for (; netlink_fits(message, left) && result >= 0; message = mnl_nlmsg_next(message, &left)) {
        if (message->nlmsg_seq != dump->netlink->sequence)
            continue;
        count++;
        if (message->nlmsg_type >= NLMSG_MIN_TYPE)
            result = dump->fn(message, dump->arg);
    }
    return result < 0 ? result : left > 0 ? -EBADMSG : count;
}

static size_t number_requests(const struct dump *dump, void *requests, size_t size)
{
    struct nlmsghdr *request = requests;
    size_t count = 0;

    for (int left = (int)size; netlink_fits(request, left);
         request = mnl_nlmsg_next(request, &left)) {
        request->nlmsg_seq = dump->netlink->sequence;
        request->nlmsg_pid = dump->channel->port;
        count++;
    }
    return count;
}

int netlink_ask(struct netlink *netlink, int protocol, void *requests, size_t size, netlink_fn fn,
                void *arg, struct report *report)
{
    struct dump dump = {.netlink = netlink,
                        .channel = &netlink->channels[protocol],
                        .protocol = protocol,
                        .fn = fn,
                        .arg = arg,
                        .report = report};
    int result = netlink_open(netlink, protocol);
    size_t awaited;

    if (result < 0)
        return result;
    netlink->sequence++;
    awaited = number_requests(&dump, requests, size);
    result = send_bytes(&dump, requests, size);
    while (result >= 0 && awaited) {
        const struct datagram datagram = netlink_receive_answer(&dump);
        if (datagram.length > 0 && datagram.port == 0)
            result = take_answers(&dump, &datagram);
        else if (datagram.length <= 0)
            result = datagram.length ? (int)datagram.length : -EPIPE;
        awaited -= result > 0 ? (size_t)result < awaited ? (size_t)result : awaited : 0;
    }
    ahead_end(dump.ahead);
    if (result < 0)
        channel_close(dump.channel);
    return result < 0 ? result : 0;
}

/* --- Events ----------------------------------------------------------------------------------- */

/* Waits for fd or `stop`, at most `milliseconds`. Returns 1 if `stop` is readable, 0, or -errno. */
static int wait_for_event(int fd, int stop, int milliseconds)
{
    struct pollfd pollfds[] = {{.fd = fd, .events = POLLIN}, {.fd = stop, .events = POLLIN}};

    if (poll(pollfds, 2, milliseconds) < 0)
        return errno == EINTR || errno == EAGAIN ? 0 : -errno;
    return pollfds[1].revents != 0;
}

/* Reads one datagram. Returns 0 to go on, 1 at the end, -EAGAIN if no event is queued, or -errno.
 * Messages to a group answer no request, so their sequence numbers are not checked. */
static int read_events(struct netlink *netlink, int fd, const struct netlink_listening *listening,
                       struct report *report)
{
    const struct datagram datagram = netlink_receive(netlink, fd, MSG_DONTWAIT);
    const struct nlmsghdr *message = (const void *)datagram.data;
    int left = (int)datagram.length; /* signed: padding can make it negative */

    if (datagram.length <= 0)
        return datagram.length < 0 ? (int)datagram.length : 1;
    if (datagram.port != 0) {
        note_stranger(report);
        return 0;
    }
    for (; netlink_fits(message, left); message = mnl_nlmsg_next(message, &left)) {
        const int result =
            message->nlmsg_type >= NLMSG_MIN_TYPE ? listening->fn(message, listening->arg) : 0;
        if (result < 0)
            return result;
    }
    if (left > 0)
        report_loss(report, "events were lost, because a netlink message is malformed");
    return 0;
}

int netlink_read_events(struct netlink *netlink, int fd, const struct netlink_listening *listening,
                        struct report *report)
{
    bool lost = false;
    unsigned count = 0;
    int result;

    do {
        result = read_events(netlink, fd, listening, report);
        lost |= result == -ENOBUFS;
    } while ((result == 0 || result == -ENOBUFS) && ++count != listening->most);
    return result < 0 && result != -ENOBUFS && result != -EAGAIN ? result : lost ? -ENOBUFS : 0;
}

/* Reads a datagram, or calls idle() and waits. Returns 0 to go on, 1 at the end, or -errno. */
static int listen_once(struct netlink *netlink, int fd, const struct netlink_listening *listening,
                       struct report *report)
{
    int result = read_events(netlink, fd, listening, report);

    if (result == -ENOBUFS) {
        report_loss(report, "events were lost, because fastnet reads them too slowly%s",
                    listening->remedy ? listening->remedy : "");
        return 0;
    }
    if (result != -EAGAIN)
        return result;
    result = listening->idle(listening->arg);
    return result < 0 || netlink->peer
               ? result
               : wait_for_event(fd, listening->stop,
                                listening->interval ? listening->interval : -1);
}

int netlink_join(struct netlink *netlink, const struct netlink_listening *listening)
{
    const size_t size = listening->buffer_size;
    const int bytes = size > INT_MAX / 2 ? INT_MAX / 2 : (int)size;
    struct channel channel = {.fd = -1};
    int result = 0;

    if (!netlink->peer)
        do
            result = channel_open(&channel, listening->protocol, listening->groups);
        while (result == -EINTR);
    if (result < 0)
        return result;
    if (size && channel.fd >= 0) {
        /* beyond net.core.rmem_max, if the kernel allows that */
        rights_raise(RIGHT_BUFFERS);
        if (setsockopt(channel.fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
            setsockopt(channel.fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
        rights_lower();
    }
    return channel.fd;
}

int netlink_listen(struct netlink *netlink, const struct netlink_listening *listening,
                   struct report *report)
{
    struct channel channel = {.fd = netlink_join(netlink, listening)};
    int result = channel.fd < 0 && !netlink->peer ? channel.fd : 0;

    if (result < 0)
        return result;
    for (unsigned count = 1; result == 0; count++) {
        result = listen_once(netlink, channel.fd, listening, report);
        if (result || netlink->peer || count % EVENTS_AT_ONCE)
            continue;
        /* listen_once() did not call idle(): events came without a pause */
        if (listening->interval)
            result = listening->idle(listening->arg);
        if (result >= 0)
            result = wait_for_event(channel.fd, listening->stop, 0);
    }
    channel_close(&channel);
    return result < 0 ? result : 0;
}

int report_malformed(const struct query *query)
{
    report_loss(query->report, "%s: a netlink message is malformed", query->table->name);
    return 0;
}
