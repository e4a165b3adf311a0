/* SPDX-License-Identifier: MIT */
#include "fastnet/held_sockets.h"

int held_sockets_ask(struct held_socket *sockets, size_t count, const char *proc_root)
{
    (void)sockets;
    (void)count;
    (void)proc_root;
    return 0;
}
