/* SPDX-License-Identifier: MIT */
/* Names of containers and pods: an input is the tree (tree.h) below the root of a machine. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/containers.h"
#include "fastnet/hosts.h"
#include "fuzz.h"
#include "tree.h"

#define PODS "var/log/pods/"
#define LOGS "var/log/containers/"
enum { ID_LENGTH = 64, ID_SHOWN = 12, UUID_LENGTH = 36 };

static const char of_ids[] = "0123456789abcdef";
static const char of_names[] = "/_.-0123456789abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

static const char *name_of(const struct containers *containers, const char *id, size_t length)
{
    char text[UUID_LENGTH + 1];

    snprintf(text, sizeof text, "%.*s", (int)length, id);
    return containers_name(containers, text);
}

/* A name is made of few characters, and stands in the input; of a pod with / in place of _. */
static void check_name(const char *name, const uint8_t *data, size_t size)
{
    char name_of_pod[512];

    if (!name)
        return;
    require(*name && strlen(name) < 256 && strspn(name, of_names) == strlen(name));
    snprintf(name_of_pod, sizeof name_of_pod, "%s", name);
    name_of_pod[strcspn(name_of_pod, "/")] = '_';
    require(memmem(data, size, name, strlen(name)) ||
            memmem(data, size, name_of_pod, strlen(name_of_pod)));
}

/* Every place where an id may begin. */
static void check_names(const struct containers *containers, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + ID_SHOWN <= size; i++)
        if (strchr(of_ids, data[i]) && data[i] && (!i || !isxdigit(data[i - 1])))
            check_name(name_of(containers, (const char *)data + i, ID_SHOWN), data, size);
}

static bool is_plain(const char *text, size_t length)
{
    return length && strspn(text, of_names) >= length && !memchr(text, '_', length);
}

/* POD_NAMESPACE_CONTAINER-ID.log: whatever else is there, the container has a name, mostly this. */
static void check_log(const struct containers *containers, const char *file)
{
    const char *name = strrchr(file, '_'), *end = name ? strrchr(name, '-') : NULL;

    if (name && end > name + 1 && is_plain(name + 1, (size_t)(end - name) - 1) &&
        strspn(end + 1, of_ids) == ID_LENGTH && strcmp(end + 1 + ID_LENGTH, ".log") == 0)
        require(name_of(containers, end + 1, ID_SHOWN) != NULL);
}

static void check_pod(const struct containers *containers, const char *directory)
{
    const char *first = strchr(directory, '_'), *last = strrchr(directory, '_');
    const char *known;

    if (!first || first == last || strlen(last + 1) != UUID_LENGTH ||
        strspn(last + 1, "0123456789abcdef-") != UUID_LENGTH ||
        !is_plain(directory, (size_t)(first - directory)) ||
        !is_plain(first + 1, (size_t)(last - first) - 1))
        return;
    known = name_of(containers, last + 1, UUID_LENGTH);
    require(!known || strchr(known, '/'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tree_input input = tree_input(data, size);
    struct containers *containers;
    struct containers_found found;
    struct tree_entry entry;
    bool made[TREE_ENTRIES_MAX] = {false};

    tree_clear();
    for (size_t i = 0; tree_next(&input, &entry); i++)
        made[i] = tree_make(&entry);
    containers = containers_create(tree_root());
    found = containers_read(tree_root());
    require(containers != NULL);
    check_names(containers, data, size);
    input = tree_input(data, size);
    for (size_t i = 0; tree_next(&input, &entry); i++) {
        if (!made[i])
            continue;
        if (strncmp(entry.path, LOGS, strlen(LOGS)) == 0 && !strchr(entry.path + strlen(LOGS), '/'))
            check_log(containers, entry.path + strlen(LOGS));
        if (strncmp(entry.path, PODS, strlen(PODS)) == 0)
            check_pod(containers, entry.path + strlen(PODS));
    }
    require(!found.pods || memmem(data, size, PODS, strlen(PODS)));
    containers_destroy(containers);
    return 0;
}
