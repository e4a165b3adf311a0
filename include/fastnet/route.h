/* SPDX-License-Identifier: MIT */
/* Questions about a route. */
#ifndef FASTNET_ROUTE_H
#define FASTNET_ROUTE_H

#include <sys/socket.h>

#include "fastnet/record.h"

/* True if the destination is one host, not a network. Checks host bits, as net-tools does. */
static inline bool route_is_to_host(const struct record *record)
{
    const struct route_record *route = &record->route;

    for (unsigned i = 0; i < 4 && route->destination.family == AF_INET; i++) {
        const unsigned bits = route->prefix > 8 * i ? route->prefix - 8 * i : 0;
        if (bits < 8 && (route->destination.bytes[i] & 0xffu >> bits))
            return true;
    }
    return route->destination.family != AF_INET || route->prefix == 32;
}

#endif
