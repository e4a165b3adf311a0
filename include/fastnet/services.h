/* SPDX-License-Identifier: MIT */
/* Names of ports. */
#ifndef FASTNET_SERVICES_H
#define FASTNET_SERVICES_H

#include <stddef.h>
#include <stdint.h>

/* Names of services by port and protocol: IPPROTO_TCP, IPPROTO_UDP; IPPROTO_UDPLITE has the names
 * of UDP, IPPROTO_RAW the names of protocols. If several entries match, the last is used, as in
 * netstat. */
struct services;
/* Returns NULL if memory is short. */
struct services *services_create(void);
void services_destroy(struct services *services);
/* Returns the name of a port (host byte order), borrowed; NULL: it has no name. */
const char *services_name(const struct services *services, uint16_t protocol, uint16_t port);
/* Returns the first errno that hid names of ports (ENOENT: no list of services), or 0. */
int services_error(const struct services *services);
/* Finds the ports of a service by its name or an alias, ignoring case. Reads services(5) itself,
 * because no module of nsswitch.conf(5) may run while there are rights. Stores distinct ports, at
 * most `most`, and returns their number. path: NULL for /etc/services. protocols: "tcp udp", for
 * example; NULL: any. */
size_t services_ports(const char *path, const char *name, const char *protocols, uint16_t ports[],
                      size_t most);

#endif
