/* SPDX-License-Identifier: MIT */
/* Names of interfaces. Each index that was not added is asked for once, even if the interface is
 * gone. ioctl(2) (netdevice(7)) answers in about a microsecond: even thousands of calls are faster
 * than a netlink dump of all interfaces, which sends a kilobyte for each. */
#include "fastnet/interfaces.h"
#include "fastnet/array.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fastnet/proc_tree.h"
#include "lookup/number_map.h"

enum { HARDWARE_UNKNOWN = -1, NAMESPACE_NONE = -1 };

struct known_interface {
    struct number_name name; /* key: the index */
    struct interface interface;
    bool complete; /* the hardware type need not be asked for */
};

struct interfaces {
    struct hash_table names;      /* elements: struct known_interface */
    struct known_interface *last; /* found last; a row asks several times for one interface */
    int fd;                       /* a socket of any family; -1: not opened yet */
    int error;                    /* errno, or 0 */
    bool netns_fixed;             /* do not open fd any more: it could be in another netns */
    bool captured; /* the interfaces are of another machine: do not ask this kernel */
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

/* Opens a socket for ioctl(2). Netlink comes first, because a netlink socket does not show fastnet
 * as a program that uses the network. If the kernel has no netlink, another family will do. */
static bool open_socket(struct interfaces *interfaces)
{
    static const int families[] = {AF_NETLINK, AF_INET, AF_UNIX, AF_INET6};

    for (size_t i = 0; interfaces->fd < 0 && i < COUNT(families) && !interfaces->netns_fixed; i++)
        do
            interfaces->fd = socket(families[i], SOCK_DGRAM | SOCK_CLOEXEC, 0);
        while (interfaces->fd < 0 && errno == EINTR);
    return interfaces->fd >= 0;
}

void interfaces_fix_netns(struct interfaces *interfaces)
{
    if (!open_socket(interfaces))
        interfaces->error = errno;
    interfaces->netns_fixed = true;
}

/* Asks by ioctl(2). `what` has 16 bits: C libraries differ in the type that ioctl() has for it. */
static bool interfaces_ask(struct interfaces *interfaces, uint16_t what, struct ifreq *request)
{
    int result = -1;

    if (interfaces->captured)
        return false;
    if (open_socket(interfaces))
        do
            result = ioctl(interfaces->fd, what, request);
        while (result < 0 && errno == EINTR);
    if (result < 0 && errno != ENODEV && errno != ENXIO && interfaces->error == 0)
        interfaces->error = errno;
    return result == 0;
}

static struct known_interface *interfaces_put(struct interfaces *interfaces,
                                              const struct interface *interface, bool is_complete)
{
    struct known_interface *known =
        number_map_put(&interfaces->names, interface->index, interface->name, sizeof *known);

    interfaces->last = known;
    if (known) {
        known->interface = *interface;
        known->interface.name = known->name.name;
        known->complete = is_complete;
    } else if (interfaces->error == 0) {
        interfaces->error = ENOMEM;
    }
    return known;
}

/* Asks for the hardware type: only when it is needed, because this takes longer than the name. */
static void interfaces_complete(struct interfaces *interfaces, struct known_interface *known)
{
    struct ifreq request = {0};

    known->complete = true;
    if (!known->interface.name)
        return;
    memccpy(request.ifr_name, known->interface.name, 0, sizeof request.ifr_name - 1);
    if (interfaces_ask(interfaces, SIOCGIFHWADDR, &request))
        known->interface.hardware = request.ifr_hwaddr.sa_family;
}

int interfaces_add(struct interfaces *interfaces, const struct interface *interface)
{
    return interfaces_put(interfaces, interface, true) ? 0 : -ENOMEM;
}

/* --- Of a captured tree ----------------------------------------------------------------------- */

/* Files below PROC_ROOT. Each line that does not begin with a tab has an index and a name. */
static const struct name_file {
    const char *path;
    int base;     /* number base of the index */
    size_t at[2]; /* numbers of the words that are the index and the name */
} name_files[] = {
    {"net/if_inet6", 16, {1, 5}},  /* if6_seq_show() of the kernel's net/ipv6/addrconf.c */
    {"net/igmp", 10, {0, 1}},      /* igmp_mc_seq_show() of net/ipv4/igmp.c */
    {"net/igmp6", 10, {0, 1}},     /* igmp6_mc_seq_show() of net/ipv6/mcast.c */
    {"net/dev_mcast", 10, {0, 1}}, /* dev_mc_seq_show() of net/core/net-procfs.c */
};

/* Cuts the line into words. Returns false if the line has no index or no name. */
static bool interfaces_take_name(char *line, const struct name_file *file,
                                 struct interface *interface)
{
    enum { WORDS = 6 };
    char *words[WORDS] = {NULL}, *rest = line, *end;
    unsigned long index;
    size_t length;

    for (size_t i = 0; i < WORDS && (*line != '\t' || i); i++)
        words[i] = strtok_r(rest, " \t\n", &rest);
    char *const name = words[file->at[1]];
    if (!name)
        return false;
    length = strlen(name);
    if (length > 1 && name[length - 1] == ':') /* igmp writes a colon after a long name */
        name[--length] = '\0';
    index = strtoul(words[file->at[0]], &end, file->base);
    *interface = (struct interface){.index = (uint32_t)index,
                                    .hardware = HARDWARE_UNKNOWN,
                                    .netns = NAMESPACE_NONE,
                                    .name = name};
    return !*end && index && index <= INT32_MAX && length < IFNAMSIZ;
}

static void interfaces_read_names(struct interfaces *interfaces, const char *proc_root,
                                  const struct name_file *from)
{
    const int fd = proc_tree_open_file(proc_root, from->path);
    FILE *const file = fd < 0 ? NULL : fdopen(fd, "r");
    char line[256];
    bool whole = true; /* the previous line was read up to its end */

    if (fd >= 0 && !file)
        close(fd);
    while (file && fgets(line, sizeof line, file)) {
        struct interface interface;
        const bool begins = whole;
        whole = strchr(line, '\n');
        if (begins && whole && interfaces_take_name(line, from, &interface) &&
            !number_map_find(&interfaces->names, interface.index))
            interfaces_put(interfaces, &interface, true);
    }
    if (file)
        fclose(file);
}

void interfaces_of_tree(struct interfaces *interfaces, const char *proc_root)
{
    interfaces->captured = true;
    for (size_t i = 0; i < COUNT(name_files); i++)
        interfaces_read_names(interfaces, proc_root, &name_files[i]);
}

/* --- Answers ---------------------------------------------------------------------------------- */

/* Returns NULL for index 0, or when memory is short. */
static struct known_interface *interfaces_find_entry(struct interfaces *interfaces, uint32_t index)
{
    struct known_interface *known = interfaces->last;

    if (index == 0)
        return NULL;
    if (!known || known->name.number != index)
        known = number_map_find(&interfaces->names, index);
    if (!known) { /* ask for its name alone */
        struct ifreq request = {.ifr_ifindex = (int)index};
        struct interface interface = {
            .index = index, .hardware = HARDWARE_UNKNOWN, .netns = NAMESPACE_NONE};
        if (interfaces_ask(interfaces, SIOCGIFNAME, &request)) {
            request.ifr_name[IFNAMSIZ - 1] = '\0';
            interface.name = request.ifr_name;
        }
        known = interfaces_put(interfaces, &interface, false);
    }
    interfaces->last = known;
    return known;
}

const struct interface *interfaces_get(struct interfaces *interfaces, uint32_t index)
{
    static const struct interface unknown = {.hardware = HARDWARE_UNKNOWN, .netns = NAMESPACE_NONE};
    struct known_interface *known = interfaces_find_entry(interfaces, index);

    if (known && !known->complete)
        interfaces_complete(interfaces, known);
    return known ? &known->interface : &unknown;
}

const char *interfaces_name(struct interfaces *interfaces, uint32_t index)
{
    const struct known_interface *known = interfaces_find_entry(interfaces, index);

    return known ? known->interface.name : NULL;
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
