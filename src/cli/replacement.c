/* SPDX-License-Identifier: MIT */
#include "cli/replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/personality.h"
#include "fastnet/hash.h"

/* Removes the new file, if it exists. */
static void abandon(struct replacement *file)
{
    if (file->fd < 0)
        return;
    close(file->fd);
    file->fd = -1;
    unlinkat(file->directory, file->temporary, 0);
}

static int replacement_complain(struct replacement *file, const char *what)
{
    const struct common *common = file->common;

    fprintf(stderr, "%s: --%s: '%s': %s\n", common->program, common->save ? "save" : "output",
            TYPED(common->output), what);
    abandon(file);
    return STATUS_FAILURE;
}

/* Takes a name that is free, so that no other process or user writes to the new file. */
int replacement_open(struct replacement *file)
{
    enum { ATTEMPTS = 100 };
    uint64_t secret[2];

    if (!file->name)
        return 0;
    hash_secret(secret);
    for (uint64_t i = 0; i < ATTEMPTS; i++) {
        /* Begins with '.' and does not end like FILE, so nobody reads it before it is complete. */
        snprintf(file->temporary, sizeof file->temporary, ".fastnet-%016llx",
                 (unsigned long long)hash_word(secret[0], i));
        file->fd = openat(file->directory, file->temporary,
                          O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                          file->common->save ? 0600 : 0666);
        if (file->fd >= 0 || (errno != EEXIST && errno != EINTR))
            break;
    }
    return file->fd < 0 ? replacement_complain(file, strerror(errno)) : 0;
}

int replacement_close(struct replacement *file, bool replace)
{
    int error = 0;

    if (file->fd < 0 || !replace) {
        abandon(file);
        return 0;
    }
    if (close(file->fd) < 0 ||
        renameat(file->directory, file->temporary, file->directory, file->name) < 0)
        error = errno;
    file->fd = -1;
    if (!error)
        return 0;
    unlinkat(file->directory, file->temporary, 0);
    return replacement_complain(file, strerror(error));
}

/* Says why the file cannot be replaced; NULL: it can. Renaming would replace a link instead of its
 * target, and would remove a device. */
static const char *find_obstacle(const struct replacement *file)
{
    struct stat there;

    if (!*file->name)
        return strerror(EISDIR);
    if (fstatat(file->directory, file->name, &there, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? NULL : strerror(errno);
    if (S_ISDIR(there.st_mode))
        return strerror(EISDIR);
    if (S_ISLNK(there.st_mode))
        return "is a symbolic link: name the file itself";
    return S_ISREG(there.st_mode) ? NULL
           : file->common->save   ? "is not a regular file (try --save=- >FILE)"
                                  : "is not a regular file (try >FILE)";
}

int replacement_begin(struct replacement *file, const struct common *common)
{
    const char *path = common->output, *slash = path ? strrchr(path, '/') : NULL;
    const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char directory[PATH_MAX] = ".";
    const char *obstacle;

    *file = (struct replacement){.common = common, .directory = -1, .fd = -1};
    if (!path)
        return 0;
    if (length >= sizeof directory)
        return replacement_complain(file, strerror(ENAMETOOLONG));
    if (slash) { /* with the slash, because the directory may be / */
        memcpy(directory, path, length);
        directory[length] = '\0';
    }
    file->name = path + length;
    file->directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (file->directory < 0)
        return replacement_complain(file, strerror(errno));
    obstacle = find_obstacle(file);
    return obstacle ? replacement_complain(file, obstacle) : 0;
}

void replacement_finish(struct replacement *file)
{
    abandon(file);
    if (file->directory >= 0)
        close(file->directory);
}
