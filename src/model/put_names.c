/* SPDX-License-Identifier: MIT */
/* Writes an address or a port by its name, or as a number if it has none. */
#include "fastnet/hosts.h"
#include "fastnet/services.h"
#include "fastnet/text.h"
#include "text/put.h"

char *put_host(char *dst, const struct hosts *hosts, const struct address *address,
               const char *delimiters)
{
    const char *name = hosts ? hosts_name(hosts, address) : NULL;

    return name ? put_escaped(dst, name, delimiters) : text_address(dst, address);
}

char *put_service(char *dst, const struct services *services, uint16_t protocol, uint16_t port,
                  const char *delimiters)
{
    const char *name = name_within(services_name(services, protocol, port), NAME_MAX_SHOWN);

    return name ? put_escaped(dst, name, delimiters) : text_u64(dst, port);
}
