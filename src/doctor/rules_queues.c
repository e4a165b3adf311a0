/* SPDX-License-Identifier: MIT */
/* Queues that programs do not empty fast enough. */
#include <inttypes.h>
#include <stdio.h>

#include "doctor/rules.h"

/* Begins a finding about a socket, and finds its process. */
static void queues_begin(struct finding *finding, struct examination *examination,
                         enum severity severity, const char *socket, uint64_t inode,
                         char process[PROCESS_TEXT])
{
    finding_begin(finding, examination, severity, "%s", socket);
    process_text(process, examination, finding, inode);
}

/* Ends the finding of one of the worst suspects. The first says how many have no finding. */
static void queues_end(struct finding *finding, struct examination *examination,
                       const struct suspects *suspects, size_t at, uint64_t limit, uint64_t moved)
{
    if (!at && suspects->count > suspects->kept)
        finding_evidence(finding, "%" PRIu64 " more like this", suspects->count - suspects->kept);
    finding_emit(finding, examination, suspects->worst[at].value, limit, moved);
}

static int pid_of(struct examination *examination, const struct suspect *suspect)
{
    const struct owner *owner = owner_of(examination, suspect->inode);

    return owner ? owner->process->pid : 0;
}

/* Counts the suspects in [from, to) that belong to the same process as suspect `at`, and to the
 * same listener or peer: both addresses are equal, and the port of one end. */
static size_t count_alike(struct examination *examination, const struct suspects *suspects,
                          size_t at, size_t from, size_t to)
{
    const struct suspect *this = &suspects->worst[at];
    size_t count = 0;

    for (const struct suspect *other = suspects->worst + from; other < suspects->worst + to;
         other++)
        count += address_equal(&other->local.address, &this->local.address) &&
                 address_equal(&other->remote.address, &this->remote.address) &&
                 (other->local.port == this->local.port ||
                  (this->remote.port && other->remote.port == this->remote.port)) &&
                 pid_of(examination, other) == pid_of(examination, this);
    return count;
}

typedef void (*emit_fn)(struct examination *examination, const struct suspects *suspects,
                        size_t at);

/* Makes one finding for each group of suspects that are alike, about the worst of the group. */
static void emit_each(struct examination *examination, const struct suspects *suspects,
                      emit_fn emit)
{
    for (size_t i = 0; i < suspects->kept; i++)
        if (!count_alike(examination, suspects, i, 0, i))
            emit(examination, suspects, i);
}

static void add_alike(struct finding *finding, struct examination *examination,
                      const struct suspects *suspects, size_t at)
{
    const size_t more = count_alike(examination, suspects, at, at + 1, suspects->kept);

    if (more)
        finding_evidence(finding, "%zu more %s", more,
                         pid_of(examination, &suspects->worst[at]) ? "of this process"
                                                                   : "like this");
}

/* Reports drops without a known socket: the socket is closed by now, there are too many sockets to
 * compare, or only the counter is known. sockets: READS_* of these sockets. */
static void emit_unknown(struct examination *examination, enum severity severity, unsigned sockets,
                         const char *counter, uint64_t dropped, const char *what, const char *why,
                         const char *command)
{
    const struct reading *now = examination->now;
    const bool unread = sockets & (~now->read | now->cut);
    struct finding finding;

    finding_begin(&finding, examination, severity, "%s", counter);
    finding_summary(&finding, "%" PRIu64 " %s%s dropped in %.7g s because %s%s", dropped, what,
                    dropped == 1 ? " was" : "s were", seconds_between(examination), why,
                    unread ? "" : " that is closed now");
    finding_evidence(&finding, "%s grew by %" PRIu64 "%s", counter, dropped,
                     unread ? "" : ", but no open socket counted such a drop");
    finding.record.finding.command = as_text(command);
    finding_emit(&finding, examination, ABSENT, ABSENT, dropped);
}

/* --- Connections that wait for accept(2) ------------------------------------------------------ */

/* The drops of a listener have other reasons, too (a flood of SYNs). They are due to its queue only
 * if accept queues overflow, which the kernel counts for the network namespace as a whole. */
static uint64_t dropped_by(const struct examination *examination, const struct suspect *suspect)
{
    return counter_moved(examination, LISTEN_OVERFLOWS) ? suspect->dropped : 0;
}

static void end_listener(struct finding *finding, struct examination *examination,
                         const struct suspects *suspects, size_t at)
{
    const uint64_t dropped = dropped_by(examination, &suspects->worst[at]);

    if (examination->before->at)
        finding_evidence(finding, "drops of the listener grew by %" PRIu64, dropped);
    if (!at && examination->before->at)
        finding_evidence(finding, "ListenOverflows of all listeners grew by %" PRIu64,
                         counter_moved(examination, LISTEN_OVERFLOWS));
    add_alike(finding, examination, suspects, at);
    queues_end(finding, examination, suspects, at, suspects->worst[at].limit, dropped);
}

/* Writes the name. An abstract name begins with a NUL and may contain others: each becomes "@". */
static const char *queues_unix_name(char text[SOCKET_PATH_MAX + 1], const struct suspect *suspect)
{
    for (size_t i = 0; i < suspect->path_length; i++)
        text[i] = suspect->path[i] ? suspect->path[i] : '@';
    text[suspect->path_length] = '\0';
    return text;
}

/* Reports a full queue: of a unix socket, which has no counter of drops, or of a TCP listener. */
static void emit_full(struct examination *examination, const struct suspects *full, size_t at)
{
    const bool is_unix = full == &examination->now->sockets.suspects[UNIX_QUEUES];
    const struct suspect *suspect = &full->worst[at];
    const uint64_t dropped = is_unix ? 0 : dropped_by(examination, suspect);
    char process[PROCESS_TEXT], local[ENDPOINT_TEXT], path[SOCKET_PATH_MAX + 1], losses[64] = "";
    const char *name =
        is_unix ? queues_unix_name(path, suspect) : endpoint_text(local, &suspect->local);
    struct finding finding;

    /* a queue that is full in only one of two readings may be a burst */
    queues_begin(&finding, examination,
                 suspect->was_full || dropped || !examination->before->at ? SEVERITY_FAULT
                                                                          : SEVERITY_WARNING,
                 name, suspect->inode, process);
    if (dropped)
        snprintf(losses, sizeof losses, ", %" PRIu64 " %s dropped in %.7g s", dropped,
                 dropped == 1 ? "was" : "were", seconds_between(examination));
    finding_summary(&finding,
                    "%s does not accept: %" PRIu64 " connection%s on %s (limit %" PRIu64 ")%s",
                    process, suspect->value, suspect->value == 1 ? " waits" : "s wait", name,
                    suspect->limit, losses);
    finding_evidence(&finding, "Recv-Q %" PRIu64 " of the listener, its backlog %" PRIu64,
                     suspect->value, suspect->limit);
    if (examination->before->at)
        finding_evidence(&finding, "%s in both readings", suspect->was_full ? "full" : "not full");
    if (is_unix)
        queues_end(&finding, examination, full, at, suspect->limit, ABSENT);
    else
        end_listener(&finding, examination, full, at);
}

/* Reports a queue that overflowed between the readings, but is not full in this reading. */
static void emit_burst(struct examination *examination, const struct suspects *bursts, size_t at)
{
    const struct suspect *suspect = &bursts->worst[at];
    char process[PROCESS_TEXT], local[ENDPOINT_TEXT];
    struct finding finding;

    queues_begin(&finding, examination, SEVERITY_FAULT, endpoint_text(local, &suspect->local),
                 suspect->inode, process);
    finding_summary(&finding,
                    "%s accepts too slowly for bursts: the queue on %s (limit %" PRIu64
                    ") overflowed, %" PRIu64 " attempt%s to connect %s dropped in %.7g s",
                    process, local, suspect->limit, suspect->value, suspect->value == 1 ? "" : "s",
                    suspect->value == 1 ? "was" : "were", seconds_between(examination));
    end_listener(&finding, examination, bursts, at);
}

/* Returns the drops of listeners that may all be overflows of their queues. */
static uint64_t count_overflows(const struct suspects *listeners, uint64_t overflows)
{
    uint64_t count = 0;

    for (size_t i = 0; i < listeners->kept; i++)
        count += listeners->worst[i].dropped <= overflows ? listeners->worst[i].dropped : 0;
    return count;
}

/* Takes the listeners of which some drops may be overflows. More drops than all queues overflowed
 * are due to a flood of SYNs, unless the other listeners leave more than an eighth of the overflows
 * unexplained. */
static struct suspects overflowing(const struct suspects *bursts, const struct suspects *full,
                                   uint64_t overflows)
{
    const uint64_t explained =
        count_overflows(bursts, overflows) + count_overflows(full, overflows);
    struct suspects found = *bursts;

    found.kept = 0;
    for (size_t i = 0; i < bursts->kept; i++) {
        if (bursts->worst[i].dropped <= overflows || explained + explained / 8 < overflows)
            found.worst[found.kept++] = bursts->worst[i];
        else
            found.count--;
    }
    return found;
}

/* Takes the listeners with a full queue, without those whose programs accept and that dropped
 * nothing. With one reading, it is not known whether the listener drops connections now. */
static struct suspects stuck_listeners(const struct examination *examination,
                                       const struct suspects *full)
{
    const bool drops = !examination->now->counts.known[LISTEN_OVERFLOWS] ||
                       (!examination->before->at && counter_total(examination, LISTEN_OVERFLOWS));
    struct suspects stuck = *full;

    stuck.kept = 0;
    for (size_t i = 0; i < full->kept; i++) {
        const struct suspect *suspect = &full->worst[i];
        if (drops || dropped_by(examination, suspect) ||
            !accepts_lately(&examination->now->sockets.waiting, &suspect->local, suspect->value))
            stuck.worst[stuck.kept++] = *suspect;
        else
            stuck.count--;
    }
    return stuck;
}

void rule_accept_queue(struct examination *examination)
{
    const struct suspects *full = &examination->now->sockets.suspects[ACCEPT_QUEUES];
    const struct suspects stuck = stuck_listeners(examination, full);
    const uint64_t dropped = counter_moved(examination, LISTEN_OVERFLOWS);
    const struct suspects bursts =
        overflowing(&examination->now->sockets.suspects[BURSTS], full, dropped);

    emit_each(examination, &stuck, emit_full);
    if (dropped)
        emit_each(examination, &bursts, emit_burst);
    if (stuck.kept || (bursts.kept && dropped))
        return;
    if (dropped)
        emit_unknown(examination, SEVERITY_WARNING, READS_TCP | READS_TCP_INFO, "ListenOverflows",
                     dropped, "connection", "the accept queue of a listener overflowed",
                     "fastnet netstat -s --where 'name = ListenOverflows'");
    else
        emit_past(examination, counter_total(examination, LISTEN_OVERFLOWS), "ListenOverflows",
                  &(struct loss){"connection was", "connections were",
                                 "dropped because an accept queue was full"});
}

void rule_unix_backlog(struct examination *examination)
{
    const struct suspects *full = &examination->now->sockets.suspects[UNIX_QUEUES];

    /* with a backlog of 0, one connection that waits for a moment fills the queue */
    for (size_t i = 0; i < full->kept; i++)
        if (!full->worst[i].accepted && (full->worst[i].limit || full->worst[i].was_full))
            emit_full(examination, full, i);
}

/* --- Half-open connections -------------------------------------------------------------------- */

/* From 80 % of its backlog on, a listener is close to answering with cookies. Fewer than 64
 * half-open connections are usual: they are a finding only if the kernel drops SYNs. */
enum { HALF_OPEN_PERCENT = 80, HALF_OPEN_LEAST = 64 };

/* Returns the port with nearly full listeners that has most half-open connections, or -1. */
static int fullest_port(const struct sockets_reading *sockets)
{
    int fullest = -1;

    for (int port = 0; port <= UINT16_MAX; port++) {
        const struct half_open_queue *half_open = &sockets->half_open[port];
        if (half_open->count && reaches(half_open->count, HALF_OPEN_PERCENT, half_open->backlog) &&
            (fullest < 0 || half_open->count > sockets->half_open[fullest].count))
            fullest = port;
    }
    return fullest;
}

static void emit_flood(struct examination *examination, int port, uint64_t cookies,
                       uint64_t dropped)
{
    const struct sockets_reading *sockets = &examination->now->sockets;
    const struct half_open_queue *half_open = port >= 0 ? &sockets->half_open[port] : NULL;
    struct finding finding;
    char name[24];

    snprintf(name, sizeof name, "port %d", port);
    finding_begin(&finding, examination,
                  half_open && (dropped || (cookies && half_open->count >= HALF_OPEN_LEAST))
                      ? SEVERITY_FAULT
                      : SEVERITY_WARNING,
                  "%s", half_open ? name : "SyncookiesSent");
    if (half_open)
        finding_summary(&finding,
                        "%" PRIu32 " half-open connections on port %d, whose listeners allow "
                        "%" PRIu32 ": a SYN flood, or too small a backlog",
                        half_open->count, port, half_open->backlog);
    else
        finding_summary(&finding,
                        "%" PRIu64
                        " SYNs were answered by cookies or dropped in %.7g s: a queue of "
                        "half-open connections was full",
                        cookies + dropped, seconds_between(examination));
    finding_evidence(&finding, "%" PRIu64 " half-open connections", sockets->half_open_count);
    if (half_open && half_open->deferred)
        finding_evidence(&finding, "%" PRIu32 " of them wait only for data (TCP_DEFER_ACCEPT)",
                         half_open->deferred);
    if (examination->before->at) {
        finding_evidence(&finding, "SyncookiesSent grew by %" PRIu64, cookies);
        finding_evidence(&finding, "%" PRIu64 " SYNs were dropped", dropped);
    }
    finding_emit(&finding, examination, half_open ? half_open->count : sockets->half_open_count,
                 half_open ? half_open->backlog : ABSENT, cookies + dropped);
}

/* Returns whether the port has nearly no room for connections whose peers do not answer. */
static bool is_flooded(const struct half_open_queue *half_open)
{
    const uint32_t unanswered = half_open->count - half_open->deferred;

    return unanswered >= HALF_OPEN_LEAST &&
           reaches(unanswered, HALF_OPEN_PERCENT, half_open->backlog);
}

void rule_syn_flood(struct examination *examination)
{
    const struct sockets_reading *sockets = &examination->now->sockets;
    const int port = fullest_port(sockets);
    const uint64_t sysctl = counter_total(examination, SYNCOOKIES);
    const bool known = examination->now->counts.known[SYNCOOKIES];
    const uint64_t cookies =
        !known || sysctl == 2 ? 0 : counter_moved(examination, SYNCOOKIES_SENT);
    const uint64_t all = counter_moved(examination, LISTEN_DROPS);
    const uint64_t less = counter_moved(examination, LISTEN_OVERFLOWS);
    uint64_t dropped = counter_moved(examination, REQUESTS_DROPPED);

    if (!dropped && port >= 0 && known && !sysctl && all > less)
        dropped = all - less;
    /* a full accept queue leaves connections half-open: rule_accept_queue() reports them */
    if ((cookies + dropped && !less) || (port >= 0 && is_flooded(&sockets->half_open[port])))
        emit_flood(examination, port, cookies, dropped);
    else
        emit_past(examination, counter_total(examination, REQUESTS_DROPPED), "TCPReqQFullDrop",
                  &(struct loss){"SYN was", "SYNs were",
                                 "dropped because a queue of half-open connections was full"});
}

/* --- Datagrams and data that nobody reads ----------------------------------------------------- */

static void emit_udp_buffer(struct examination *examination, const struct suspects *dropping,
                            size_t at)
{
    const struct suspect *suspect = &dropping->worst[at];
    char process[PROCESS_TEXT], local[ENDPOINT_TEXT];
    struct finding finding;

    queues_begin(&finding, examination, suspect->multicast ? SEVERITY_WARNING : SEVERITY_FAULT,
                 endpoint_text(local, &suspect->local), suspect->inode, process);
    finding_summary(&finding,
                    "%s does not read fast enough: %" PRIu64 " datagram%s for %s %s dropped in "
                    "%.7g s",
                    process, suspect->value, suspect->value == 1 ? "" : "s", local,
                    suspect->value == 1 ? "was" : "were", seconds_between(examination));
    finding_evidence(&finding, "the socket's counter of drops grew by %" PRIu64, suspect->value);
    if (suspect->limit) /* no file has it */
        finding_evidence(&finding, "its receive buffer has %" PRIu64 " bytes", suspect->limit);
    queues_end(&finding, examination, dropping, at, ABSENT, suspect->value);
}

/* Returns whether only filters of the socket dropped datagrams. Its counter of drops has these,
 * too, but its buffer may be empty. */
static bool is_only_filtered(const struct examination *examination, const struct suspect *suspect)
{
    const struct drop_probe *probe = examination->drops;
    uint64_t filtered = 0, others = 0;

    for (size_t i = 0; probe && i < drop_probe_count(probe); i++) {
        const struct record *record = &drop_probe_at(probe, i)->record;
        if (!(record->has & DROP_SOCKET) || record->drop.inode != suspect->inode)
            continue;
        if (text_is(record->drop.reason, "SOCKET_FILTER"))
            filtered += record->drop.drops;
        else
            others += record->drop.drops;
    }
    return filtered && !others;
}

void rule_udp_buffer(struct examination *examination)
{
    const struct suspects *dropping = &examination->now->sockets.suspects[UDP_DROPS];
    const uint64_t dropped = counter_moved(examination, UDP_BUFFER_ERRORS) +
                             counter_moved(examination, UDP6_BUFFER_ERRORS);
    bool is_known = false;

    /* if RcvbufErrors does not grow, filters dropped the datagrams: the program is not too slow */
    for (size_t i = 0; i < dropping->kept && dropped; i++) {
        if (is_only_filtered(examination, &dropping->worst[i]))
            continue;
        emit_udp_buffer(examination, dropping, i);
        is_known = true;
    }
    if (!is_known && dropped)
        emit_unknown(examination, SEVERITY_FAULT, READS_UDP, "RcvbufErrors", dropped, "datagram",
                     "the buffer of a UDP socket was full",
                     "fastnet netstat -s --where 'name = RcvbufErrors,Udp6RcvbufErrors'");
    else if (!dropping->kept)
        emit_past(examination,
                  counter_total(examination, UDP_BUFFER_ERRORS) +
                      counter_total(examination, UDP6_BUFFER_ERRORS),
                  "RcvbufErrors",
                  &(struct loss){"datagram was", "datagrams were",
                                 "dropped because the buffer of a UDP socket was full"});
}

static void emit_slow_reader(struct examination *examination, const struct suspects *unread,
                             size_t at)
{
    const struct suspect *suspect = &unread->worst[at];
    char process[PROCESS_TEXT], local[ENDPOINT_TEXT], remote[ENDPOINT_TEXT];
    struct finding finding;

    queues_begin(&finding, examination, SEVERITY_WARNING, endpoint_text(local, &suspect->local),
                 suspect->inode, process);
    finding_summary(
        &finding, "%s does not read: %" PRIu64 " bytes from %s wait, and it read nothing in %.7g s",
        process, suspect->value, endpoint_text(remote, &suspect->remote),
        seconds_between(examination));
    finding_evidence(&finding, "Recv-Q %" PRIu64 " of %s", suspect->value, local);
    add_alike(&finding, examination, unread, at);
    queues_end(&finding, examination, unread, at, ABSENT, ABSENT);
}

void rule_slow_reader(struct examination *examination)
{
    emit_each(examination, &examination->now->sockets.suspects[FULL_BUFFERS], emit_slow_reader);
}
