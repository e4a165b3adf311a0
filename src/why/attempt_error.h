/* SPDX-License-Identifier: MIT */
/* Messages of a socket's error queue (IP_RECVERR of ip(7)). */
#ifndef WHY_ATTEMPT_ERROR_H
#define WHY_ATTEMPT_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "fastnet/record/socket.h"

struct attempt_result;

/* Makes an endpoint of a socket address (ip(7), ipv6(7)), which need not be aligned. AF_UNSPEC: the
 * address is of another family, or shorter than its family needs. */
struct endpoint endpoint_of(const void *bytes, size_t size);

/* Takes the ICMP message from the control data that recvmsg(2) returned with MSG_ERRQUEUE. Sets the
 * members has_icmp, icmp_* and offender. Returns false if there is no such message. */
bool attempt_take_error(const struct msghdr *message, struct attempt_result *result);

#endif
