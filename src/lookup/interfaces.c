/*
 * Interfaces: each index that was not added is asked for once, even if the interface is gone. By
 * ioctl(2) (netdevice(7)), which answers in less than a microsecond: even thousands of calls are
 * faster than a netlink dump of all interfaces, which sends a kilobyte for each.
 */
#include "fastnet/array.h"
#include "fastnet/lookup.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lookup/number_map.h"

enum { HARDWARE_UNKNOWN = -1, NAMESPACE_NONE = -1 };

struct known {
    struct number_name name; /* by the index */
    struct interface interface;
};

struct interfaces {
    struct hash_table names;  /* of struct known */
    const struct known *last; /* found last, in names: columns ask for one interface in turn */
    int fd;                   /* any socket will do */
    int error;                /* errno, or 0 */
};

struct interfaces *interfaces_create(void)
{
    struct interfaces *interfaces = calloc(1, sizeof *interfaces);

    if (interfaces)
        interfaces->fd = -1;
    return interfaces;
}

void interfaces_destroy(struct interfaces *interfaces)
{
    if (!interfaces)
        return;
    number_map_finish(&interfaces->names);
    if (interfaces->fd >= 0)
        close(interfaces->fd);
    free(interfaces);
}

/* Without IPv4, a socket of another family will do. */
static bool open_socket(struct interfaces *interfaces)
{
    static const int families[] = {AF_INET, AF_UNIX, AF_INET6};

    for (size_t i = 0; interfaces->fd < 0 && i < COUNT(families); i++)
        do
            interfaces->fd = socket(families[i], SOCK_DGRAM | SOCK_CLOEXEC, 0);
        while (interfaces->fd < 0 && errno == EINTR);
    return interfaces->fd >= 0;
}

static bool ask(struct interfaces *interfaces, unsigned long what, struct ifreq *request)
{
    int result = -1;

    if (open_socket(interfaces))
        do
            result = ioctl(interfaces->fd, what, request);
        while (result < 0 && errno == EINTR);
    if (result < 0 && errno != ENODEV && errno != ENXIO && interfaces->error == 0)
        interfaces->error = errno;
    return result == 0;
}

static const struct known *put(struct interfaces *interfaces, const struct interface *interface)
{
    struct known *known =
        number_map_put(&interfaces->names, interface->index, interface->name, sizeof *known);

    interfaces->last = known;
    if (known) {
        known->interface = *interface;
        known->interface.name = known->name.name;
    } else if (interfaces->error == 0) {
        interfaces->error = ENOMEM;
    }
    return known;
}

static const struct known *look_up(struct interfaces *interfaces, uint32_t index)
{
    struct ifreq request = {.ifr_ifindex = (int)index};
    struct interface interface = {
        .index = index, .hardware = HARDWARE_UNKNOWN, .netns = NAMESPACE_NONE};

    if (ask(interfaces, SIOCGIFNAME, &request)) {
        request.ifr_name[IFNAMSIZ - 1] = '\0';
        interface.name = request.ifr_name;
        if (ask(interfaces, SIOCGIFHWADDR, &request))
            interface.hardware = request.ifr_hwaddr.sa_family;
    }
    return put(interfaces, &interface);
}

int interfaces_add(struct interfaces *interfaces, const struct interface *interface)
{
    return put(interfaces, interface) ? 0 : -ENOMEM;
}

const struct interface *interfaces_get(struct interfaces *interfaces, uint32_t index)
{
    static const struct interface unknown = {.hardware = HARDWARE_UNKNOWN, .netns = NAMESPACE_NONE};
    const struct known *known = interfaces->last;

    if (index == 0)
        return &unknown;
    if (!known || known->name.number != index)
        known = number_map_find(&interfaces->names, index);
    if (!known)
        known = look_up(interfaces, index);
    interfaces->last = known;
    return known ? &known->interface : &unknown;
}

const char *interfaces_name(struct interfaces *interfaces, uint32_t index)
{
    return interfaces_get(interfaces, index)->name;
}

int interfaces_find(const char *name, uint32_t *index)
{
    const unsigned found = if_nametoindex(name);

    if (!found)
        return -errno;
    *index = found;
    return 0;
}

int interfaces_error(const struct interfaces *interfaces)
{
    return interfaces ? interfaces->error : 0;
}
