/* SPDX-License-Identifier: MIT */
/* Names of ports. */
#ifndef FASTNET_SERVICES_H
#define FASTNET_SERVICES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Services by port and protocol: IPPROTO_TCP, _UDP; _UDPLITE has the names of UDP, _RAW those of
 * protocols. Of several entries the last one counts, as in netstat. NULL when a port has no name.
 */
struct services;
struct services *services_create(void);
void services_destroy(struct services *services);
const char *services_name(const struct services *services, uint16_t protocol, uint16_t port);
/* The first errno that left ports without names (ENOENT: no list of services), or 0. */
int services_error(const struct services *services);
/*
 * The ports of a service by its name or an alias, in any case: from services(5) itself, because no
 * module of nsswitch.conf(5) may run as long as there are rights. Stores distinct ones, at most
 * `most`; returns how many. path NULL: /etc/services. protocols: "tcp udp", for example; NULL: any.
 */
size_t services_ports(const char *path, const char *name, const char *protocols, uint16_t ports[],
                      size_t most);

#endif
