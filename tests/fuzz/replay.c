/* SPDX-License-Identifier: MIT */
/*
 * Feeds a fuzz target with files in place of libFuzzer: each that is named, and each in the
 * directories that are named. Exits 1 when there was none.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static void replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "r");
    uint8_t *data = malloc(size ? size : 1); /* exactly so large, for the sanitizers */

    if (!file || !data || fread(data, 1, size, file) != size)
        err(1, "%s", path);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
}

static size_t replay(const char *path);

static size_t replay_directory(const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    size_t files = 0;

    if (count < 0)
        err(1, "%s", path);
    for (int i = 0; i < count; i++) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            files += replay(inside);
        free(entries[i]);
    }
    free(entries);
    return files;
}

/* Returns how many files there were. */
static size_t replay(const char *path)
{
    struct stat status;

    if (stat(path, &status) < 0)
        err(1, "%s", path);
    if (S_ISDIR(status.st_mode))
        return replay_directory(path);
    replay_file(path, (size_t)status.st_size);
    return 1;
}

int main(int argc, char *argv[])
{
    size_t files = 0;

    for (int i = 1; i < argc; i++)
        files += replay(argv[i]);
    if (!files)
        errx(1, "no file to replay");
    return 0;
}
