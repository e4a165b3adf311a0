/* SPDX-License-Identifier: MIT */
#include "net_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "tree.h"

const char *net_files_root(void)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/net", tree_root());
    require(mkdir(path, 0700) == 0 || errno == EEXIST);
    return tree_root();
}

void net_files_write(const char *name, const void *data, size_t size)
{
    char path[PATH_MAX + 64];
    int fd;

    snprintf(path, sizeof path, "%s/net/%s", net_files_root(), name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

void net_files_remove(const char *name)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/net/%s", net_files_root(), name);
    unlink(path);
}
