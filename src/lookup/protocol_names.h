/* SPDX-License-Identifier: MIT */
/* What the kernel's name of a protocol says about a socket. */
#ifndef LOOKUP_PROTOCOL_NAMES_H
#define LOOKUP_PROTOCOL_NAMES_H

#include <stdbool.h>

#include "fastnet/held_sockets.h"
#include "fastnet/text.h"

/* Fills family, type and protocol of the socket, as far as the name decides them. name: that of the
 * extended attribute system.sockprotoname, without a NUL. Returns false, and changes nothing, if
 * the name is unknown. */
bool protocol_name_decode(struct text name, struct pass_socket *socket);

#endif
