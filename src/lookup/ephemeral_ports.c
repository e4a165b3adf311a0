/* The ports that the kernel chooses from: ip_local_port_range of ip(7). */
#include <errno.h>
#include <stdlib.h>

#include "fastnet/lookup.h"
#include "fastnet/sysctl.h"

struct ephemeral_ports {
    uint64_t range[2]; /* the first and the last */
};

int ephemeral_ports_create(struct ephemeral_ports **ports, const char *proc_root)
{
    struct ephemeral_ports read, *created;
    const int error = sysctl_numbers(proc_root, "net/ipv4/ip_local_port_range", read.range, 2);

    if (error)
        return error;
    created = malloc(sizeof *created);
    if (!created)
        return -ENOMEM;
    *created = read;
    *ports = created;
    return 0;
}

void ephemeral_ports_destroy(struct ephemeral_ports *ports)
{
    free(ports);
}

bool port_is_ephemeral(const struct ephemeral_ports *ports, uint16_t port)
{
    return port >= ports->range[0] && port <= ports->range[1];
}
