/* What this machine and its network namespace are called. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "fastnet/lookup.h"
#include "fastnet/proc_tree.h"

/* ip-netns(8) mounts the namespaces that it names there. */
#define NAMED_NAMESPACES "/run/netns"

static void find_namespace(struct machine *machine)
{
    struct stat own, named;
    struct dirent *entry;
    DIR *directory;

    if (stat("/proc/thread-self/ns/net", &own) < 0)
        return;
    machine->namespace = own.st_ino;
    directory = opendir(NAMED_NAMESPACES);
    while (directory && (entry = readdir(directory)))
        if (fstatat(dirfd(directory), entry->d_name, &named, 0) == 0 &&
            named.st_ino == own.st_ino && named.st_dev == own.st_dev) {
            snprintf(machine->namespace_name, sizeof machine->namespace_name, "%s", entry->d_name);
            break;
        }
    if (directory)
        closedir(directory);
}

static void read_captured(struct machine *machine, const char *proc_root)
{
    const int fd = proc_tree_open_file(proc_root, "sys/kernel/hostname");

    if (fd < 0)
        return;
    (void)!read(fd, machine->host, sizeof machine->host - 1);
    machine->host[strcspn(machine->host, "\n")] = '\0';
    close(fd);
}

struct machine *machine_create(const char *proc_root)
{
    struct machine *machine = calloc(1, sizeof *machine);
    struct utsname names;

    if (!machine)
        return NULL;
    if (!proc_tree_is_own(proc_root)) {
        read_captured(machine, proc_root);
        return machine;
    }
    if (uname(&names) == 0)
        snprintf(machine->host, sizeof machine->host, "%s", names.nodename);
    find_namespace(machine);
    return machine;
}

void machine_destroy(struct machine *machine)
{
    free(machine);
}
