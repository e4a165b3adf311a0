#include "fastnet/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/rights.h"

/* Where ip-netns(8) keeps them by default. */
static const char directory[] = "/var/run/netns/";

int namespace_open(const char *name)
{
    char path[PATH_MAX];
    int fd, error;

    if ((size_t)snprintf(path, sizeof path, "%s%s", strchr(name, '/') ? "" : directory, name) >=
        sizeof path)
        return -ENAMETOOLONG;
    rights_raise(RIGHT_NAMESPACE_FILES);
    do /* a FIFO would wait, a terminal would become this program's own */
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    error = errno;
    rights_lower();
    return fd < 0 ? -error : fd;
}

int namespace_enter(int fd)
{
    int status;

    rights_raise(RIGHT_NAMESPACES);
    status = setns(fd, CLONE_NEWNET) < 0 ? -errno : 0;
    rights_lower();
    close(fd);
    return status;
}
