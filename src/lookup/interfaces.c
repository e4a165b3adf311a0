/*
 * Interfaces: each index that was not added is asked for once, also when it is gone. By ioctl(2),
 * see netdevice(7): an answer costs less than a microsecond, so that even thousands of interfaces
 * cost less than the dump of all of them over netlink, which tells a kilobyte of each.
 */
#include "fastnet/array.h"
#include "fastnet/lookup.h"

#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lookup/number_map.h"

enum { HARDWARE_UNKNOWN = -1, NAMESPACE_NONE = -1 };

/* What is known of an interface besides its name. */
struct properties {
    int hardware;
    uint32_t master;
    int32_t netns;
};

struct interfaces {
    struct number_map names; /* with the place of the properties as detail */
    struct properties *properties;
    size_t count, capacity;
    int fd;    /* any socket will do */
    int error; /* errno, or 0 */
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
    free(interfaces->properties);
    if (interfaces->fd >= 0)
        close(interfaces->fd);
    free(interfaces);
}

/* Where there is no IPv4, another family has sockets. */
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

/* Returns the place of new properties, -1 without memory. */
static int add_properties(struct interfaces *interfaces, struct properties properties)
{
    if (interfaces->count == interfaces->capacity) {
        const size_t wanted = interfaces->capacity == 0 ? 32 : 2 * interfaces->capacity;
        struct properties *moved = NULL;
        if (wanted <= INT_MAX)
            moved = reallocarray(interfaces->properties, wanted, sizeof *moved);
        if (!moved)
            return -1;
        interfaces->properties = moved;
        interfaces->capacity = wanted;
    }
    interfaces->properties[interfaces->count] = properties;
    return (int)interfaces->count++;
}

static const struct number_name *put(struct interfaces *interfaces, uint32_t index,
                                     const char *name, struct properties properties)
{
    const int place = add_properties(interfaces, properties);
    struct number_name *known = NULL;

    if (place >= 0)
        known = number_map_put(&interfaces->names, index, name);
    if (known)
        known->detail = place;
    else if (interfaces->error == 0)
        interfaces->error = ENOMEM;
    return known;
}

static const struct number_name *look_up(struct interfaces *interfaces, uint32_t index)
{
    struct ifreq request = {.ifr_ifindex = (int)index};
    struct properties properties = {.hardware = HARDWARE_UNKNOWN, .netns = NAMESPACE_NONE};
    const bool found = ask(interfaces, SIOCGIFNAME, &request);

    request.ifr_name[IFNAMSIZ - 1] = '\0';
    if (found && ask(interfaces, SIOCGIFHWADDR, &request))
        properties.hardware = request.ifr_hwaddr.sa_family;
    return put(interfaces, index, found ? request.ifr_name : NULL, properties);
}

int interfaces_add(struct interfaces *interfaces, const struct interface *interface)
{
    const struct properties properties = {interface->hardware, interface->master, interface->netns};

    return put(interfaces, interface->index, interface->name, properties) ? 0 : -ENOMEM;
}

static const struct number_name *find(struct interfaces *interfaces, uint32_t index)
{
    const struct number_name *known;

    if (index == 0)
        return NULL;
    known = number_map_find(&interfaces->names, index);
    return known ? known : look_up(interfaces, index);
}

const char *interfaces_name(struct interfaces *interfaces, uint32_t index)
{
    const struct number_name *known = find(interfaces, index);

    return known ? known->name : NULL;
}

int interfaces_hardware(struct interfaces *interfaces, uint32_t index)
{
    const struct number_name *known = find(interfaces, index);

    return known ? interfaces->properties[known->detail].hardware : HARDWARE_UNKNOWN;
}

uint32_t interfaces_master(const struct interfaces *interfaces, uint32_t index)
{
    const struct number_name *known = number_map_find(&interfaces->names, index);

    return known ? interfaces->properties[known->detail].master : 0;
}

int32_t interfaces_netns(const struct interfaces *interfaces, uint32_t index)
{
    const struct number_name *known = number_map_find(&interfaces->names, index);

    return known ? interfaces->properties[known->detail].netns : NAMESPACE_NONE;
}

int interfaces_error(const struct interfaces *interfaces)
{
    return interfaces->error;
}
