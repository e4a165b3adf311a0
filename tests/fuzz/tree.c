/* SPDX-License-Identifier: MIT */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fuzz.h"

enum { MARK_LENGTH = 3, LINK_TARGET_SIZE = 4096 };

/* Not each nftw() goes deeper than this: as many levels as a path can have. */
enum { OPEN_FILES_MAX = TREE_PATH_SIZE / 2 };

static struct {
    char directory[PATH_MAX];
    char root[PATH_MAX + 8], beside[PATH_MAX + 8]; /* in it */
} tree;

/* --- What an input says ----------------------------------------------------------------------- */

static bool find_mark(const char *at, const char *end, enum tree_kind *kind, bool *trimmed)
{
    static const struct {
        const char *mark;
        enum tree_kind kind;
        bool trimmed;
    } marks[] = {{"== ", TREE_FILE, false},   {"=| ", TREE_FILE, true},
                 {"-> ", TREE_LINK, true},    {"?? ", TREE_FIFO, false},
                 {"++\n", TREE_LATER, false}, {"// ", TREE_DIRECTORY, false}};

    for (size_t i = 0; i < COUNT(marks); i++) {
        if (end - at < MARK_LENGTH || memcmp(at, marks[i].mark, MARK_LENGTH) != 0)
            continue;
        *kind = marks[i].kind;
        *trimmed = marks[i].trimmed;
        return true;
    }
    return false;
}

/* The start of the first line from `at`, itself a start, that is an entry's; else the end. */
static const char *find_entry(const char *at, const char *end)
{
    enum tree_kind kind;
    bool trimmed;

    while (at < end && !find_mark(at, end, &kind, &trimmed)) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    return at;
}

struct tree_input tree_input(const uint8_t *data, size_t size)
{
    const char *start = (const char *)data;

    return (struct tree_input){.at = size ? find_entry(start, start + size) : start,
                               .end = start + size};
}

static void set_path(struct tree_entry *entry, const char *path, size_t length)
{
    entry->path[0] = '\0';
    if (length >= sizeof entry->path || memchr(path, '\0', length))
        return;
    memcpy(entry->path, path, length);
    entry->path[length] = '\0';
}

bool tree_next(struct tree_input *input, struct tree_entry *entry)
{
    const char *path = input->at + MARK_LENGTH, *line_end, *next;
    bool trimmed;

    if (input->count == TREE_ENTRIES_MAX ||
        !find_mark(input->at, input->end, &entry->kind, &trimmed))
        return false;
    input->count++;
    if (entry->kind == TREE_LATER)
        path--;
    line_end = memchr(path, '\n', (size_t)(input->end - path));
    line_end = line_end ? line_end : input->end;
    set_path(entry, path, (size_t)(line_end - path));
    line_end += line_end < input->end;
    next = find_entry(line_end, input->end);
    entry->content = (struct text){line_end, (size_t)(next - line_end)};
    if (trimmed && entry->content.length && next[-1] == '\n')
        entry->content.length--;
    input->at = next;
    return true;
}

/* --- The files -------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    if (where->level > 0)
        require((type == FTW_DP ? rmdir(path) : unlink(path)) == 0);
    return 0;
}

static void clear(const char *path)
{
    require(nftw(path, remove_one, OPEN_FILES_MAX, FTW_DEPTH | FTW_PHYS) == 0);
}

void tree_clear(void)
{
    clear(tree_root());
}

static void remove_all(void)
{
    clear(tree.directory);
    rmdir(tree.directory);
}

/* In memory where that can be: an input is a few files, made and removed thousands of times. */
static void make_directories(void)
{
    const char *parent = getenv("TMPDIR");

    if (!parent)
        parent = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(tree.directory, sizeof tree.directory, "%s/fuzz-XXXXXX", parent);
    require(mkdtemp(tree.directory) != NULL && atexit(remove_all) == 0);
    snprintf(tree.root, sizeof tree.root, "%s/tree", tree.directory);
    snprintf(tree.beside, sizeof tree.beside, "%s/beside", tree.directory);
    require(mkdir(tree.root, 0700) == 0 && mkdir(tree.beside, 0700) == 0);
}

const char *tree_root(void)
{
    if (!tree.directory[0])
        make_directories();
    return tree.root;
}

const char *tree_beside(void)
{
    tree_root();
    return tree.beside;
}

static bool is_name(const char *name, size_t length)
{
    return length > 0 && length <= NAME_MAX && !(length == 1 && name[0] == '.') &&
           !(length == 2 && name[0] == '.' && name[1] == '.');
}

/* The directory that the last name of the path is in, and that name; -1 when there is none. */
static int open_parent(const char *path, const char **last)
{
    int parent = open(tree_root(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *slash;

    for (; parent >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        char name[TREE_PATH_SIZE];
        const size_t length = (size_t)(slash - path);
        int below = -1;
        memcpy(name, path, length);
        name[length] = '\0';
        if (is_name(name, length) && (mkdirat(parent, name, 0700) == 0 || errno == EEXIST))
            below = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(parent);
        parent = below;
    }
    *last = path;
    return parent;
}

static bool make_file(int parent, const char *name, struct text content)
{
    int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return false;
    require(write(fd, content.data, content.length) == (ssize_t)content.length);
    close(fd);
    return true;
}

static bool make_link(int parent, const char *name, struct text target)
{
    char terminated[LINK_TARGET_SIZE];

    if (target.length >= sizeof terminated || memchr(target.data, '\0', target.length))
        return false;
    memcpy(terminated, target.data, target.length);
    terminated[target.length] = '\0';
    return symlinkat(terminated, parent, name) == 0;
}

static bool make_in(int parent, const char *name, const struct tree_entry *entry)
{
    if (!is_name(name, strlen(name)))
        return false;
    switch (entry->kind) {
    case TREE_FILE:
        return make_file(parent, name, entry->content);
    case TREE_LINK:
        return make_link(parent, name, entry->content);
    case TREE_FIFO:
        return mkfifoat(parent, name, 0600) == 0;
    case TREE_DIRECTORY:
        return mkdirat(parent, name, 0700) == 0;
    case TREE_LATER:
        break;
    }
    return false;
}

bool tree_make(const struct tree_entry *entry)
{
    const char *name;
    int parent = open_parent(entry->path, &name);
    bool made;

    if (parent < 0)
        return false;
    made = make_in(parent, name, entry);
    close(parent);
    return made;
}
