/* The range of ports that the kernel chooses from, and control groups: an input is a tree. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fastnet/lookup.h"
#include "fuzz.h"
#include "tree.h"

#define RANGE "sys/net/ipv4/ip_local_port_range"
enum { RANGE_READ = 63 }; /* bytes of the file that count */

struct made {
    struct text range; /* content of that file, if it is one */
    bool has_range;
    char paths[TREE_ENTRIES_MAX][TREE_PATH_SIZE];
    size_t count;
};

static void make_tree(struct made *made, const uint8_t *data, size_t size)
{
    struct tree_input input = tree_input(data, size);
    struct tree_entry entry;

    while (tree_next(&input, &entry)) {
        if (!tree_make(&entry))
            continue;
        if (entry.kind == TREE_FILE && strcmp(entry.path, RANGE) == 0) {
            made->range = entry.content;
            made->has_range = true;
        }
        if (entry.kind == TREE_DIRECTORY)
            memcpy(made->paths[made->count++], entry.path, sizeof entry.path);
    }
}

/* A number as strtoul(3) reads it. */
static bool take_number(const char **at, unsigned long *number)
{
    const char *digit = *at + strspn(*at, " \f\n\r\t\v");
    const bool negative = *digit == '-';
    bool too_large = false;

    *number = 0;
    digit += negative || *digit == '+';
    *at = digit;
    for (; *digit >= '0' && *digit <= '9'; digit++)
        too_large |= __builtin_mul_overflow(*number, 10, number) ||
                     __builtin_add_overflow(*number, (unsigned long)(*digit - '0'), number);
    if (too_large)
        *number = ULONG_MAX;
    else if (negative)
        *number = -*number;
    return digit > *at && (*at = digit);
}

static void check_range(const struct made *made)
{
    char text[RANGE_READ + 1];
    const char *at = text;
    unsigned long first, last;
    struct ephemeral_ports *ports = NULL;
    const int error = ephemeral_ports_create(&ports, tree_root());

    require(!error == !!ports);
    if (made->has_range) {
        snprintf(text, sizeof text, "%.*s", (int)made->range.length, made->range.data);
        require(!error == (take_number(&at, &first) && take_number(&at, &last)));
        for (uint32_t port = 0; ports && port <= UINT16_MAX; port++)
            require(port_is_ephemeral(ports, (uint16_t)port) == (port >= first && port <= last));
    }
    ephemeral_ports_destroy(ports);
}

/* Groups whose names begin with a dot may be left out, and those at great depth. */
static bool must_be_known(const char *path)
{
    unsigned depth = 0;

    for (const char *slash = path; slash; slash = strchr(slash + 1, '/'))
        depth++;
    return depth < 32 && path[0] != '.' && !strstr(path, "/.");
}

static void check_groups(const struct made *made)
{
    char text[2 * TREE_PATH_SIZE];
    struct tree_entry mounts = {.path = "mounts", .content = {text, 0}};
    struct cgroups *cgroups = NULL;
    struct stat status;

    snprintf(text, sizeof text, "none %s cgroup2 rw 0 0\n", tree_root());
    mounts.content.length = strlen(text);
    if (!tree_make(&mounts))
        return; /* the input has one */
    snprintf(text, sizeof text, "%s/mounts", tree_root());
    require(cgroups_create(&cgroups, text) == 0);
    require(stat(tree_root(), &status) == 0);
    require(strcmp(cgroups_path(cgroups, status.st_ino), "/") == 0);
    for (size_t i = 0; i < made->count; i++) {
        snprintf(text, sizeof text, "%s/%s", tree_root(), made->paths[i]);
        require(lstat(text, &status) == 0);
        const char *path = cgroups_path(cgroups, status.st_ino);
        require(path || !must_be_known(made->paths[i]));
        require(!path || (path[0] == '/' && strcmp(path + 1, made->paths[i]) == 0));
    }
    cgroups_destroy(cgroups);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct made made = {.count = 0};

    tree_clear();
    make_tree(&made, data, size);
    check_range(&made);
    check_groups(&made);
    return 0;
}
