/* SPDX-License-Identifier: MIT */
/*
 * Names of protocols out of any bytes: an unknown name changes nothing, and a known name gives a
 * family, and a type that a socket can have.
 */
#include <sys/socket.h>

#include "fuzz.h"
#include "lookup/protocol_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pass_socket socket = {.family = 4711, .type = 4712, .protocol = 4713};
    const struct text name = {(const char *)data, size};

    if (!protocol_name_decode(name, &socket)) {
        require(socket.family == 4711 && socket.type == 4712 && socket.protocol == 4713);
        return 0;
    }
    require(socket.family > AF_UNSPEC && socket.family < AF_MAX && socket.type <= SOCK_PACKET);
    require(size > 0 && size < 64 && !memchr(data, '\0', size));
    return 0;
}
