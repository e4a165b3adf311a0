/* The ports that the kernel chooses from: ip_local_port_range of ip(7). */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "fastnet/lookup.h"
#include "fastnet/proc_tree.h"

struct ephemeral_ports {
    unsigned long first, last;
};

/* Two numbers. */
static bool parse_range(const char *text, struct ephemeral_ports *range)
{
    char *end, *start;

    range->first = strtoul(text, &start, 10);
    range->last = strtoul(start, &end, 10);
    return start > text && end > start;
}

int ephemeral_ports_create(struct ephemeral_ports **ports, const char *proc_root)
{
    char text[64];
    struct ephemeral_ports range;
    const int fd = proc_tree_open_file(proc_root, "sys/net/ipv4/ip_local_port_range");
    ssize_t length;

    if (fd < 0)
        return fd;
    length = read(fd, text, sizeof text - 1);
    if (length < 0)
        length = -errno;
    close(fd);
    if (length < 0)
        return (int)length;
    text[length] = '\0';
    if (!parse_range(text, &range))
        return -EBADMSG;
    *ports = malloc(sizeof **ports);
    if (!*ports)
        return -ENOMEM;
    **ports = range;
    return 0;
}

void ephemeral_ports_destroy(struct ephemeral_ports *ports)
{
    free(ports);
}

bool port_is_ephemeral(const struct ephemeral_ports *ports, uint16_t port)
{
    return port >= ports->first && port <= ports->last;
}
