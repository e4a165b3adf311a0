/* What this machine is called. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "fastnet/lookup.h"
#include "fastnet/proc_tree.h"

struct machine *machine_create(const char *proc_root)
{
    struct machine *machine = calloc(1, sizeof *machine);
    struct utsname names;

    if (!machine)
        return NULL;
    if (proc_tree_is_own(proc_root)) {
        if (uname(&names) == 0)
            snprintf(machine->host, sizeof machine->host, "%s", names.nodename);
        return machine;
    }
    const int fd = proc_tree_open_file(proc_root, "sys/kernel/hostname");
    if (fd < 0)
        return machine;
    (void)!read(fd, machine->host, sizeof machine->host - 1);
    machine->host[strcspn(machine->host, "\n")] = '\0';
    close(fd);
    return machine;
}

void machine_destroy(struct machine *machine)
{
    free(machine);
}
