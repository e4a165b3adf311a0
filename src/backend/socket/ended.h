/* SPDX-License-Identifier: MIT */
/* Decides how a connection ended. */
#ifndef BACKEND_SOCKET_ENDED_H
#define BACKEND_SOCKET_ENDED_H

#include "fastnet/record.h"

struct connect;

/* Sets origin->ended and ended_by, which stay unknown if the facts do not prove anything. made: the
 * note about the connection; record: the kernel's last message about the socket; origin: its error
 * is set if the attempt to connect failed. */
void ended_decide(const struct connect *made, const struct record *record,
                  struct socket_origin *origin);

#endif
