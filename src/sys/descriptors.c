#include "fastnet/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int descriptors_fill(void)
{
    for (int wanted = STDIN_FILENO; wanted <= STDERR_FILENO; wanted++) {
        if (fcntl(wanted, F_GETFD) >= 0)
            continue;
        /* open() returns the lowest free descriptor: those below the wanted one are open by now. */
        int fd;
        do
            fd = open("/dev/null", O_RDONLY);
        while (fd < 0 && errno == EINTR);
        if (fd < 0)
            return -errno;
    }
    return 0;
}
