/* SPDX-License-Identifier: MIT */
/* Names of networks, read from networks(5) itself. nsswitch.conf(5) can name other sources, but in
 * practice only this file is used, and other sources may not answer in a bounded time. */
#include "fastnet/networks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lookup/number_map.h"

struct networks {
    struct hash_table names; /* key: the address in host byte order */
};

/* Parses one to four numbers with dots between them: "127" and "127.0" are 127.0.0.0. */
static bool parse_network(const char *text, uint32_t *address)
{
    uint32_t sum = 0;

    for (unsigned shift = 24;; shift -= 8) {
        char *end;
        if (*text < '0' || *text > '9')
            return false;
        const unsigned long octet = strtoul(text, &end, 10);
        if (octet > UINT8_MAX)
            return false;
        sum |= (uint32_t)octet << shift;
        text = end;
        if (*text == '\0')
            break;
        if (*text++ != '.' || shift == 0)
            return false;
    }
    *address = sum;
    return true;
}

static const char spaces[] = " \t\r\n";

/* rest: further names of the network, for strtok_r(). Reading ends when the result is not 0. */
typedef int (*network_fn)(void *arg, const char *name, uint32_t address, char *rest);

static int each_network(const char *path, network_fn take, void *arg)
{
    FILE *file = fopen(path ? path : "/etc/networks", "re");
    if (!file)
        return 0;

    char *line = NULL;
    size_t capacity = 0;
    int status = 0;
    while (status == 0 && getline(&line, &capacity, file) >= 0) {
        char *rest = NULL;
        uint32_t address;
        line[strcspn(line, "#")] = '\0';
        const char *name = strtok_r(line, spaces, &rest);
        const char *number = name ? strtok_r(NULL, spaces, &rest) : NULL;
        if (number && parse_network(number, &address))
            status = take(arg, name, address, rest);
    }
    free(line);
    fclose(file);
    return status;
}

static int networks_keep(void *arg, const char *name, uint32_t address, char *rest)
{
    struct networks *networks = arg;

    (void)rest;
    if (number_map_find(&networks->names, address))
        return 0;
    return number_map_put(&networks->names, address, name, sizeof(struct number_name)) ? 0
                                                                                       : -ENOMEM;
}

struct networks *networks_create(const char *path)
{
    struct networks *networks = calloc(1, sizeof *networks);
    if (networks && each_network(path, networks_keep, networks) < 0) {
        networks_destroy(networks);
        return NULL;
    }
    return networks;
}

void networks_destroy(struct networks *networks)
{
    if (networks)
        number_map_finish(&networks->names);
    free(networks);
}

const char *networks_name(const struct networks *networks, const struct address *address)
{
    uint32_t number;

    if (!networks)
        return NULL;
    memcpy(&number, address->bytes, sizeof number);
    return number_map_name(&networks->names, ntohl(number));
}

struct wanted {
    const char *name;
    uint32_t address;
};

static int networks_compare(void *arg, const char *name, uint32_t address, char *rest)
{
    struct wanted *wanted = arg;

    wanted->address = address;
    while (name && strcmp(name, wanted->name) != 0)
        name = strtok_r(NULL, spaces, &rest);
    return name ? 1 : 0;
}

bool networks_find(const char *path, const char *name, uint8_t address[4])
{
    struct wanted wanted = {.name = name};
    if (each_network(path, networks_compare, &wanted) == 0)
        return false;
    wanted.address = htonl(wanted.address);
    memcpy(address, &wanted.address, sizeof wanted.address);
    return true;
}
