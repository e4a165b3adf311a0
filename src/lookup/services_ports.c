/* SPDX-License-Identifier: MIT */
/* The ports of a service: services(5), without the C library, which might load modules. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fastnet/lookup.h"

/* True if "port/protocol" is of one of these protocols, separated by blanks; NULL: of any. */
static bool is_of(const char *number, const char *protocols)
{
    const char *protocol = strchr(number, '/');

    while (protocols && *protocols) {
        const size_t length = strcspn(protocols, " ");
        if (protocol && strlen(protocol + 1) == length &&
            strncasecmp(protocol + 1, protocols, length) == 0)
            return true;
        protocols += length + (protocols[length] == ' ');
    }
    return !protocols;
}

/* A line is "name port/protocol alias..."; behind a # is a comment. Returns the port, or 0. */
static uint16_t port_of_line(char *line, const char *name, const char *protocols)
{
    static const char blanks[] = " \t\r\n";
    char *rest = NULL;
    const char *word, *number;
    unsigned long port;
    bool found;

    line[strcspn(line, "#")] = '\0';
    word = strtok_r(line, blanks, &rest);
    number = word ? strtok_r(NULL, blanks, &rest) : NULL;
    if (!number || !is_of(number, protocols))
        return 0;
    port = strtoul(number, NULL, 10);
    found = strcasecmp(word, name) == 0;
    while (!found && (word = strtok_r(NULL, blanks, &rest)))
        found = strcasecmp(word, name) == 0;
    return found && port <= UINT16_MAX ? (uint16_t)port : 0;
}

size_t services_ports(const char *path, const char *name, const char *protocols, uint16_t ports[],
                      size_t most)
{
    FILE *file = fopen(path ? path : "/etc/services", "re");
    size_t count = 0, capacity = 0;
    char *line = NULL;

    if (!file)
        return 0;
    while (count < most && getline(&line, &capacity, file) >= 0) {
        const uint16_t port = port_of_line(line, name, protocols);
        bool known = !port;
        for (size_t i = 0; i < count && !known; i++)
            known = ports[i] == port;
        if (!known)
            ports[count++] = port;
    }
    free(line);
    fclose(file);
    return count;
}
