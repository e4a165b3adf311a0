/* What the kernel calls what sockets hold. */
#ifndef FORMAT_SOCKET_SOCKET_NAMES_H
#define FORMAT_SOCKET_SOCKET_NAMES_H

#include <stdint.h>

/* "ESTABLISHED" ...: TCP_* of netinet/tcp.h; NULL for a number that has no name. */
const char *socket_state_name(uint64_t state);

#endif
