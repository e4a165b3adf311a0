/* SPDX-License-Identifier: MIT */
/* Names of services. services(5) and protocols(5) are read once, because a listing looks up far
 * more ports than there are entries. If several entries have the same port, the last is used, as in
 * net-tools. The port of a raw socket is its protocol, so protocols(5) overrides services(5)
 * there. */
#include "fastnet/services.h"
#include "fastnet/record/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lookup/number_map.h"

struct services {
    struct hash_table names; /* protocol << 16 | port */
    int error;               /* errno, or 0 */
};

/* services(5) has no UDP-Lite (RFC 3828), whose ports are those of UDP, and no MPTCP. */
static uint32_t services_key(uint16_t protocol, uint16_t port)
{
    const uint32_t table = protocol == IPPROTO_UDPLITE  ? IPPROTO_UDP
                           : protocol == PROTOCOL_MPTCP ? IPPROTO_TCP
                                                        : protocol;
    return table << 16 | port;
}

static int services_protocol_of(const char *name)
{
    if (strcmp(name, "tcp") == 0)
        return IPPROTO_TCP;
    if (strcmp(name, "udp") == 0)
        return IPPROTO_UDP;
    return strcmp(name, "raw") == 0 ? IPPROTO_RAW : -1;
}

/* Stores a name. A port without a name is shown as a number, also if memory was short. */
static void services_put(struct services *services, int protocol, int port, const char *name)
{
    if (protocol >= 0 && port > 0 && port <= UINT16_MAX && name && name[0] != '\0')
        if (!number_map_put(&services->names, services_key((uint16_t)protocol, (uint16_t)port),
                            name, sizeof(struct number_name)))
            services->error = ENOMEM;
}

/* Notes errors: only errno distinguishes the end of the entries from a source that cannot be read.
 * A missing source is an error only if no source had an entry. */
static void note_end(struct services *services, int error, bool any)
{
    if (services->error == 0 && error != 0 && (error != ENOENT || !any))
        services->error = error;
}

struct services *services_create(void)
{
    struct services *services = calloc(1, sizeof *services);
    const struct servent *service;
    const struct protoent *protocol;
    bool any = false;

    if (!services)
        return NULL;
    setservent(1);
    while (errno = 0, (service = getservent())) {
        any = true;
        services_put(services, services_protocol_of(service->s_proto),
                     ntohs((uint16_t)service->s_port), service->s_name);
    }
    note_end(services, errno, any);
    endservent();
    setprotoent(1);
    while (errno = 0, (protocol = getprotoent()))
        services_put(services, IPPROTO_RAW, protocol->p_proto, protocol->p_name);
    note_end(services, errno,
             true); /* only raw sockets need protocols, so a missing file is not an error */
    endprotoent();
    return services;
}

void services_destroy(struct services *services)
{
    if (services)
        number_map_finish(&services->names);
    free(services);
}

int services_error(const struct services *services)
{
    return services ? services->error : 0;
}

const char *services_name(const struct services *services, uint16_t protocol, uint16_t port)
{
    return number_map_name(&services->names, services_key(protocol, port));
}

/* --- The ports of a service ------------------------------------------------------------------- */

/* Returns whether "port/protocol" has one of these protocols (separated by spaces; NULL: any). */
static bool services_is_of(const char *number, const char *protocols)
{
    const char *protocol = strchr(number, '/');

    while (protocols && *protocols) {
        const size_t length = strcspn(protocols, " ");
        if (protocol && strlen(protocol + 1) == length &&
            strncasecmp(protocol + 1, protocols, length) == 0)
            return true;
        protocols += length + (protocols[length] == ' ');
    }
    return !protocols;
}

/* A line is "name port/protocol alias..."; a comment follows a #. Returns the port, or 0. */
static uint16_t port_of_line(char *line, const char *name, const char *protocols)
{
    static const char spaces[] = " \t\r\n";
    char *rest = NULL;
    const char *word, *number;
    unsigned long port;
    bool found;

    line[strcspn(line, "#")] = '\0';
    word = strtok_r(line, spaces, &rest);
    number = word ? strtok_r(NULL, spaces, &rest) : NULL;
    if (!number || !services_is_of(number, protocols))
        return 0;
    port = strtoul(number, NULL, 10);
    found = strcasecmp(word, name) == 0;
    while (!found && (word = strtok_r(NULL, spaces, &rest)))
        found = strcasecmp(word, name) == 0;
    return found && port <= UINT16_MAX ? (uint16_t)port : 0;
}

/* Reads the file itself, because the C library might load modules. */
size_t services_ports(const char *path, const char *name, const char *protocols, uint16_t ports[],
                      size_t most)
{
    FILE *file = fopen(path ? path : "/etc/services", "re");
    size_t count = 0, capacity = 0;
    char *line = NULL;

    if (!file)
        return 0;
    while (count < most && getline(&line, &capacity, file) >= 0) {
        const uint16_t port = port_of_line(line, name, protocols);
        bool known = !port;
        for (size_t i = 0; i < count && !known; i++)
            known = ports[i] == port;
        if (!known)
            ports[count++] = port;
    }
    free(line);
    fclose(file);
    return count;
}
