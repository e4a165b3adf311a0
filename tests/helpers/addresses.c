/* SPDX-License-Identifier: MIT */
/*
 * Prints the addresses of a name (fastnet/addresses.h) in their order, a line each, with the
 * interface if there is one; or the error.
 *
 *     addresses NAME [MILLISECONDS [inet|inet6]]
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "fastnet/addresses.h"

static void print(const struct addresses *found, size_t index)
{
    const struct address *address = &found->list[index];
    char text[INET6_ADDRSTRLEN];

    fputs(inet_ntop(address->family, address->bytes, text, sizeof text), stdout);
    if (found->interfaces[index]) {
        char name[IF_NAMESIZE];
        printf(" dev %s", if_indextoname(found->interfaces[index], name));
    }
    putchar('\n');
}

int main(int argc, char *argv[])
{
    static struct addresses found;
    const unsigned milliseconds =
        argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : ADDRESSES_WAIT_MS;
    const int family = argc < 4 ? AF_UNSPEC : strcmp(argv[3], "inet") == 0 ? AF_INET : AF_INET6;

    if (argc < 2 || addresses_find(&found, argv[1], family, milliseconds) < 0)
        return 2;
    for (size_t i = 0; i < found.count; i++)
        print(&found, i);
    if (found.more)
        printf("%zu more\n", found.more);
    if (found.error)
        puts(addresses_error(found.error));
    if (waitpid(-1, NULL, WNOHANG) >= 0)
        puts("a child is left");
    return 0;
}
