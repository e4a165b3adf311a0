/* The names that the kernel has for the values of routes. */
#ifndef FORMAT_ROUTE_ROUTE_NAMES_H
#define FORMAT_ROUTE_ROUTE_NAMES_H

#include <stdint.h>

#include "fastnet/value.h"

/* RTF_* (linux/route.h, linux/ipv6_route.h), by their bits. */
extern const struct flag_names route_flag_names;

/* RTN_*, RTPROT_*, RT_SCOPE_* and RT_TABLE_* of linux/rtnetlink.h, in small letters, as in ip(8);
 * NULL if it has no name. */
const char *route_type_name(uint64_t type);
const char *route_protocol_name(uint64_t protocol);
const char *route_scope_name(uint64_t scope);
const char *route_table_name(uint64_t table);

#endif
