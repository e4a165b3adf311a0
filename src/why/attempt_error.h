/* SPDX-License-Identifier: MIT */
/* Messages of a socket's error queue (IP_RECVERR of ip(7)). */
#ifndef WHY_ATTEMPT_ERROR_H
#define WHY_ATTEMPT_ERROR_H

#include <stdbool.h>
#include <sys/socket.h>

struct attempt_result;

/* Takes the ICMP message from the control data that recvmsg(2) returned with MSG_ERRQUEUE. Sets the
 * members has_icmp, icmp_* and offender. Returns false if there is no such message. */
bool attempt_take_error(const struct msghdr *message, struct attempt_result *result);

#endif
