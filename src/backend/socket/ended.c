/* SPDX-License-Identifier: MIT */
/* The error of a socket (sk_err) alone proves little: the program may have left it from an earlier
 * attempt, and ICMP messages set it without ending the connection (IP_RECVERR). So an error counts
 * only together with data that was never acknowledged, or with a reset. */
#include "backend/socket/ended.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>

#include "fastnet/connects.h"

static void ended_set(struct socket_origin *origin, enum socket_ended ended,
                      enum socket_ended_by by)
{
    origin->ended = (uint8_t)ended;
    origin->ended_by = (uint8_t)by;
}

/* Returns whether the kernel makes this errno from ICMP messages: icmp_err_convert[] of
 * net/ipv4/icmp.c, tab_unreach[] of net/ipv6/icmp.c. */
static bool ended_is_unreachable(uint32_t error)
{
    return error == EHOSTUNREACH || error == ENETUNREACH || error == EHOSTDOWN || error == ENONET ||
           error == ENOPROTOOPT || error == EACCES;
}

/* The kernel gives up after a time without any answer. `error` is that of the last ICMP message;
 * without ICMP messages it is ETIMEDOUT (tcp_write_err() of net/ipv4/tcp_timer.c). */
static void ended_give_up(uint32_t error, struct socket_origin *origin)
{
    if (error == ETIMEDOUT)
        ended_set(origin, ENDED_TIMEOUT, ENDED_BY_KERNEL);
    else if (ended_is_unreachable(error) || error == ECONNREFUSED)
        ended_set(origin, ENDED_UNREACHABLE, ENDED_BY_KERNEL);
}

/* An attempt to connect that failed. Only a reset proves that the peer refused it: the ICMP message
 * "port unreachable" may come from any machine. */
static void ended_failed(const struct connect_end *end, struct socket_origin *origin)
{
    if (end->received_reset)
        ended_set(origin, ENDED_REFUSED, ENDED_BY_PEER);
    else if (origin->error == ECONNREFUSED)
        ended_set(origin, ENDED_REFUSED, ENDED_BY_UNKNOWN);
    else if (origin->error == ECANCELED || origin->error == ECONNABORTED)
        ended_set(origin, ENDED_CLOSED, ENDED_BY_LOCAL);
    else if (end->error)
        ended_give_up(origin->error, origin);
    else if (ended_is_unreachable(origin->error)) /* the program closed the socket afterwards */
        ended_set(origin, ENDED_UNREACHABLE, ENDED_BY_UNKNOWN);
}

/* The socket sent the reset after it had entered CLOSE: in __tcp_close() or tcp_disconnect() of
 * net/ipv4/tcp.c, or because data came later. The kernel also resets closed sockets if it lacks
 * memory. Without a reason (before Linux 6.10) only two states exclude this. */
static enum socket_ended_by ended_after_close(const struct connect_end *end)
{
    if (*end->reset_reason)
        return strcmp(end->reset_reason, "TCP_ABORT_ON_MEMORY") == 0 ? ENDED_BY_KERNEL
                                                                     : ENDED_BY_LOCAL;
    return end->state == TCP_ESTABLISHED || end->state == TCP_CLOSE_WAIT ? ENDED_BY_LOCAL
                                                                         : ENDED_BY_UNKNOWN;
}

/* The socket sent the reset before it entered CLOSE: by tcp_abort() of net/ipv4/tcp.c (ss -K,
 * whose error is ECONNABORTED), or by a timer of net/ipv4/tcp_timer.c. */
static void ended_before_close(const struct connect_end *end, struct socket_origin *origin)
{
    const char *reason = end->reset_reason;
    const bool waits_for_fin = end->state == TCP_FIN_WAIT2;
    const bool is_keepalive =
        *reason ? strcmp(reason, "TCP_KEEPALIVE_TIMEOUT") == 0 : end->error && !waits_for_fin;

    if (end->error == ECONNABORTED)
        ended_set(origin, ENDED_RESET, ENDED_BY_LOCAL);
    else if (is_keepalive)
        ended_give_up((uint32_t)end->error, origin);
    else if ((waits_for_fin && (*reason || !end->error)) ||
             strcmp(reason, "TCP_ABORT_ON_MEMORY") == 0)
        ended_set(origin, ENDED_RESET, ENDED_BY_KERNEL);
    else
        ended_set(origin, ENDED_RESET, ENDED_BY_UNKNOWN);
}

/* No reset was sent or received. unacked: sequence numbers of data and FIN that the peer did not
 * acknowledge; known: `unacked` is known.
 *
 * FIN_WAIT2: the peer has acknowledged the FIN of this end. LAST_ACK: this end sent its FIN after
 * the FIN of the peer. CLOSING: both sent a FIN before the other FIN came. */
static void ended_quietly(const struct connect_end *end, bool known, uint32_t unacked,
                          struct socket_origin *origin)
{
    if (end->error == ECONNABORTED || end->state == TCP_FIN_WAIT2)
        ended_set(origin, ENDED_CLOSED, ENDED_BY_LOCAL);
    else if (known && unacked)
        ended_give_up((uint32_t)end->error, origin);
    else if (known && end->state == TCP_LAST_ACK)
        ended_set(origin, ENDED_CLOSED, ENDED_BY_PEER);
    else if (known && end->state == TCP_CLOSING)
        ended_set(origin, ENDED_CLOSED, ENDED_BY_UNKNOWN);
}

void ended_decide(const struct connect *made, const struct record *record,
                  struct socket_origin *origin)
{
    const struct connect_end *end = &made->end;

    if (made->failed)
        ended_failed(end, origin);
    else if (!end->state || !end->sees_resets)
        return;
    else if (end->reset_state == TCP_CLOSE)
        ended_set(origin, ENDED_RESET, ended_after_close(end));
    else if (end->reset_state)
        ended_before_close(end, origin);
    else if (end->received_reset)
        ended_set(origin, ENDED_RESET, ENDED_BY_PEER);
    else
        ended_quietly(end, record->has & SOCKET_QUEUES, record->socket.send_q, origin);
}
