/*
 * Services, in one pass over services(5) and protocols(5): a listing names far more ports than
 * there are entries. Of several entries for one port the last wins, as in net-tools; for raw
 * sockets, whose port is their protocol, protocols win over services.
 */
#include "fastnet/lookup.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "number_map.h"

struct services {
    struct number_map names; /* protocol << 16 | port */
};

static uint32_t key(uint8_t protocol, uint16_t port)
{
    /* services(5) knows no UDP-Lite (RFC 3828): its ports are those of UDP. */
    const uint32_t table = protocol == IPPROTO_UDPLITE ? IPPROTO_UDP : protocol;
    return table << 16 | port;
}

static int protocol_of(const char *name)
{
    if (strcmp(name, "tcp") == 0)
        return IPPROTO_TCP;
    if (strcmp(name, "udp") == 0)
        return IPPROTO_UDP;
    return strcmp(name, "raw") == 0 ? IPPROTO_RAW : -1;
}

/* An entry without a name, or that memory is short for, leaves the port to its number. */
static void put(struct services *services, int protocol, int port, const char *name)
{
    if (protocol >= 0 && port > 0 && port <= UINT16_MAX && name != NULL && name[0] != '\0')
        (void)number_map_put(&services->names, key((uint8_t)protocol, (uint16_t)port), name);
}

struct services *services_create(void)
{
    struct services *services = calloc(1, sizeof(*services));
    if (services == NULL)
        return NULL;

    const struct servent *service;
    setservent(1);
    while ((service = getservent()) != NULL)
        put(services, protocol_of(service->s_proto), ntohs((uint16_t)service->s_port),
            service->s_name);
    endservent();

    const struct protoent *protocol;
    setprotoent(1);
    while ((protocol = getprotoent()) != NULL)
        put(services, IPPROTO_RAW, protocol->p_proto, protocol->p_name);
    endprotoent();
    return services;
}

void services_destroy(struct services *services)
{
    if (services == NULL)
        return;
    number_map_finish(&services->names);
    free(services);
}

const char *services_name(const struct services *services, uint8_t protocol, uint16_t port)
{
    const struct number_name *known = number_map_find(&services->names, key(protocol, port));
    return known != NULL ? known->name : NULL;
}
