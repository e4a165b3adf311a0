/* SPDX-License-Identifier: MIT */
/* Names of network namespaces: an input is a line of /proc/PID/mountinfo. */
#include <string.h>

#include "fastnet/namespace.h"
#include "fuzz.h"

/* The path of the mount, its fifth field: what is escaped is decoded into bytes. */
static char *mounted_on(const char *line)
{
    for (int blanks = 0; blanks < 4; line++)
        blanks += *line == ' ';
    char *path = strdup(line), *to = path;

    require(path != NULL);
    path[strcspn(path, " ")] = '\0';
    for (const char *from = path; *from; from++) {
        char digits[4] = {0};
        *to = *from;
        if (*from == '\\')
            memcpy(digits, from + 1, strnlen(from + 1, 3));
        if (strlen(digits) == 3 && !digits[strspn(digits, "01234567")]) {
            *to = (char)strtoul(digits, NULL, 8);
            from += 3;
        }
        to++;
    }
    *to = '\0';
    return path;
}

/* All of the path, or all of it that follows a directory of namespaces. */
static void require_end_of(const char *path, const char *name)
{
    const size_t whole = strlen(path), length = strlen(name);

    require(length <= whole && strcmp(path + whole - length, name) == 0);
    require(length == whole || strncmp(path + whole - length - 7, "/netns/", 7) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct netns netns;
    char *line = calloc(1, size + 1);

    require(line != NULL);
    if (size)
        memcpy(line, data, size);
    memset(&netns, 'x', sizeof netns);
    if (namespace_of_mount(line, &netns)) {
        char *path = mounted_on(line);
        require(netns.id != 0 && netns.fd == -1);
        require(memchr(netns.name, '\0', sizeof netns.name) != NULL);
        if (*netns.name)
            require_end_of(path, netns.name);
        else
            require(strlen(path) > NAME_MAX);
        free(path);
    }
    free(line);
    return 0;
}
