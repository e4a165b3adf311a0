/* SPDX-License-Identifier: MIT */
/* The name of this machine, or of the machine of a captured tree. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "fastnet/field.h"
#include "fastnet/machine.h"
#include "fastnet/proc_tree.h"

void machine_name(const char *proc_root, char host[HOST_NAME_SIZE])
{
    struct utsname names;

    memset(host, 0, HOST_NAME_SIZE);
    if (proc_tree_is_own(proc_root)) {
        if (uname(&names) == 0)
            snprintf(host, HOST_NAME_SIZE, "%s", names.nodename);
        return;
    }
    const int fd = proc_tree_open_file(proc_root, "sys/kernel/hostname");
    if (fd < 0)
        return;
    (void)!read(fd, host, HOST_NAME_SIZE - 1);
    host[strcspn(host, "\n")] = '\0';
    close(fd);
}
