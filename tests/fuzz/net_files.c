#include "net_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

static char root[PATH_MAX];
static int net = -1; /* the directory of the files */

static void remove_all(void)
{
    DIR *directory = fdopendir(net);
    const struct dirent *entry;
    char path[PATH_MAX + 4];

    while (directory && (entry = readdir(directory)))
        unlinkat(net, entry->d_name, 0); /* "." and ".." stay, as directories do */
    if (directory)
        closedir(directory);
    snprintf(path, sizeof path, "%s/net", root);
    rmdir(path);
    rmdir(root);
}

static void make(void)
{
    const char *where = getenv("TMPDIR");
    char path[PATH_MAX + 4];

    snprintf(root, sizeof root, "%s/fuzz-XXXXXX", where ? where : "/tmp");
    require(mkdtemp(root) != NULL);
    snprintf(path, sizeof path, "%s/net", root);
    require(mkdir(path, 0700) == 0);
    net = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(net >= 0 && atexit(remove_all) == 0);
}

const char *net_files_root(void)
{
    if (net < 0)
        make();
    return root;
}

void net_files_write(const char *name, const void *data, size_t size)
{
    int fd;

    net_files_root();
    fd = openat(net, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

void net_files_remove(const char *name)
{
    net_files_root();
    unlinkat(net, name, 0);
}
