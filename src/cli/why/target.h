/* SPDX-License-Identifier: MIT */
/* The words of `fastnet why` that are not options: to which host and port a connection leads, or
 * which port of this machine is meant. */
#ifndef CLI_WHY_TARGET_H
#define CLI_WHY_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "cli/misuse.h"

enum { TARGET_HOST = 256, TARGET_SERVICE = 64 };

struct target {
    char host[TARGET_HOST];       /* name or address; empty: the listener on `port` */
    uint16_t port;                /* host byte order */
    char service[TARGET_SERVICE]; /* name of the port as it was typed; empty: a number was typed */
};

/* Reads "HOST:PORT", "HOST PORT", a URL, or a port alone. The port is a number or the name of a
 * service. services, protocol: arguments of services_ports(). Returns 0, or -EINVAL with a message
 * that says what to type; it never quotes the user name and password of a URL. */
int target_parse(struct target *target, const char *const words[], size_t count,
                 const char *services, const char *protocol, char wrong[MESSAGE_TEXT_MAX]);

#endif
