/* SPDX-License-Identifier: MIT */
#include "tree.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"

enum { DESCRIPTORS = 16, RARITY_MAX = 6, OTHER_KIND_RARITY = 24 };

struct copying {
    struct chance *chance;
    size_t rarity; /* one file in so many is mutated */
};

static void read_file(const char *path, struct text *text)
{
    char block[4096];
    FILE *file = fopen(path, "re");
    size_t length;

    if (!file)
        err(2, "%s", path);
    while ((length = fread(block, 1, sizeof block, file)) > 0)
        text_replace(text, text->length, 0, block, length);
    fclose(file);
}

static void write_file(const char *path, const struct text *text)
{
    FILE *file = fopen(path, "we");

    if (!file || (text->length && fwrite(text->data, text->length, 1, file) != 1) ||
        fclose(file) != 0)
        err(2, "%s", path);
}

/* Something else in a file's place, or nothing. */
static void make_other_kind(const char *path, struct chance *chance)
{
    int result = 0;

    switch (chance_below(chance, 5)) {
    case 0:
        result = mkdir(path, 0755);
        break;
    case 1:
        result = mkfifo(path, 0644);
        break;
    case 2:
        result = symlink("nowhere", path);
        break;
    case 3:
        result = symlink("/dev/zero", path);
        break;
    default:
        break;
    }
    if (result < 0)
        err(2, "%s", path);
}

static void copy_file(const char *from, const char *to, const struct copying *copying)
{
    struct text text = {.data = NULL};
    const bool mutated = chance_one_in(copying->chance, copying->rarity);

    if (mutated && chance_one_in(copying->chance, OTHER_KIND_RARITY)) {
        make_other_kind(to, copying->chance);
        return;
    }
    read_file(from, &text);
    if (mutated)
        text_mutate(&text, copying->chance);
    write_file(to, &text);
    free(text.data);
}

/* What it leads to is a text, too. */
static void copy_link(const char *from, const char *to, const struct copying *copying)
{
    char target[PATH_MAX];
    const ssize_t length = readlink(from, target, sizeof target);
    struct text text = {.data = NULL};

    if (length < 0)
        err(2, "%s", from);
    text_replace(&text, 0, 0, target, (size_t)length);
    if (chance_one_in(copying->chance, copying->rarity))
        text_mutate(&text, copying->chance);
    text_replace(&text, text.length, 0, "", 1);
    if (strlen(text.data) > 0 && strlen(text.data) < sizeof target && symlink(text.data, to) < 0)
        err(2, "%s", to);
    free(text.data);
}

static void copy_directory(const char *from, const char *to, const struct copying *copying);

static void copy(const char *from, const char *to, const struct copying *copying)
{
    struct stat status;

    if (lstat(from, &status) < 0)
        err(2, "%s", from);
    if (S_ISDIR(status.st_mode))
        copy_directory(from, to, copying);
    else if (S_ISLNK(status.st_mode))
        copy_link(from, to, copying);
    else
        copy_file(from, to, copying);
}

/* In alphabetical order, so that a seed has one outcome. */
static void copy_directory(const char *from, const char *to, const struct copying *copying)
{
    struct dirent **entries = NULL;
    const int count = scandir(from, &entries, NULL, alphasort);

    if (count < 0 || mkdir(to, 0755) < 0)
        err(2, "%s", count < 0 ? from : to);
    for (int i = 0; i < count; i++) {
        char inside[PATH_MAX], outside[PATH_MAX];
        const char *name = entries[i]->d_name;
        if (snprintf(inside, sizeof inside, "%s/%s", from, name) >= (int)sizeof inside ||
            snprintf(outside, sizeof outside, "%s/%s", to, name) >= (int)sizeof outside)
            errx(2, "%s is too deep", from);
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            copy(inside, outside, copying);
        free(entries[i]);
    }
    free(entries);
}

void tree_mutate(const char *from, const char *to, struct chance *chance)
{
    const struct copying copying = {chance, 1 + chance_below(chance, RARITY_MAX)};

    copy_directory(from, to, &copying);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

void tree_remove(const char *path)
{
    if (nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS) < 0 && errno != ENOENT)
        err(2, "%s", path);
}
