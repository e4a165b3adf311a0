/* SPDX-License-Identifier: MIT */
/* Finds names of containers and pods in files, so that no daemon has to be asked: in the names of
 * the kubelet's log files (pkg/kubelet/kuberuntime), in Docker's config.v2.json, and in the lists
 * that Podman, Buildah and CRI-O keep (containers-storage.conf(5)). */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/cgroups.h"
#include "fastnet/containers.h"
#include "fastnet/hash.h"
#include "fastnet/proc_tree.h"
#include "fastnet/rights.h"
#include "lookup/cgroup_names.h"
#include "lookup/number_map.h"
#include "lookup/processes.h"

enum { FILES_MAX = 64 * 1024 * 1024 }; /* bytes of all files: enough for 10,000 containers */

struct containers {
    struct hash_table names; /* by hash of the id; keyed, so that nobody can cause collisions */
    size_t pods;             /* number of names that are names of pods */
    bool first_only;         /* stop after the first name of each directory */
    size_t taken;            /* bytes that were read from files */
    int error;               /* errno of the first failure that may hide names, or 0 */
    struct proc_tree tree;   /* the directory that is being read */
};

static uint64_t containers_hash_of(struct text id)
{
    return hash_bytes(hash_seed(), id.data, id.length);
}

/* Adds a name unless the id already has a name. Ignores names with characters that container
 * programs do not allow. Returns 0, 1 to stop reading the directory, or -ENOMEM. */
static int containers_add(struct containers *containers, struct text id, struct text name)
{
    static const char characters[] = "/_.-0123456789"
                                     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char copy[NAME_MAX + 1] = "";

    if (name.length > NAME_MAX || number_map_find(&containers->names, containers_hash_of(id)))
        return 0;
    if (name.length)
        memcpy(copy, name.data, name.length);
    if (!name.length || strspn(copy, characters) != name.length)
        return 0;
    if (!number_map_put(&containers->names, containers_hash_of(id), copy,
                        sizeof(struct number_name)))
        return -ENOMEM;
    return containers->first_only;
}

static int add_container(struct containers *containers, struct text id, struct text name)
{
    const bool rooted = name.length && *name.data == '/'; /* Docker writes a / before the name */

    if (!name_matches("%i", id, &id))
        return 0;
    return containers_add(containers, (struct text){id.data, CONTAINER_ID_SHOWN},
                          (struct text){name.data + rooted, name.length - rooted});
}

/* --- The kubelet ------------------------------------------------------------------------------ */

/* Takes the name of a log file: POD_NAMESPACE_CONTAINER-ID.log */
static int take_log(const char *file, void *containers)
{
    struct text id;
    const char *before = strrchr(file, '_'), *name = before ? before + 1 : "";

    if (!name_matches("*-%i.log", as_text(name), &id))
        return 0;
    return add_container(containers, id, (struct text){name, (size_t)(id.data - name) - 1});
}

/* Takes the name of a pod's directory: NAMESPACE_POD_UID */
static int take_pod(const char *directory, void *containers)
{
    struct containers *all = containers;
    char name[NAME_MAX + 1];
    struct text uid;

    snprintf(name, sizeof name, "%s", directory);
    if (!name_matches("*_*_%u", as_text(name), &uid))
        return 0;
    name[strcspn(name, "_")] = '/';
    const size_t before = all->names.count;
    const int result = containers_add(all, uid, (struct text){name, (size_t)(uid.data - name) - 1});
    all->pods += all->names.count - before;
    return result;
}

/* --- Docker and Podman ------------------------------------------------------------------------ */

/* Takes the string up to the next quote, with its escapes: no id, key or name has escapes. */
static struct text take_string(struct text *json)
{
    const char *start = json->data, *end = start + json->length, *at = start;

    for (; at < end && *at != '"'; at++)
        at += *at == '\\' && at + 1 < end;
    *json = at < end ? (struct text){at + 1, (size_t)(end - at) - 1} : (struct text){end, 0};
    return (struct text){start, (size_t)(at - start)};
}

/* Takes names. Docker writes an object {"ID":"0a...","Name":"/web"}, Podman writes a list of
 * {"id":"0a...","names":["web"]}; both have more members. The bytes need not be valid JSON: at
 * worst they give containers wrong names. */
static int take_json(struct containers *containers, struct text json)
{
    struct text key = {"", 0}, id = key, name = key;
    unsigned depth = 0, inside = 0; /* inside: depth of the objects with ids; 0: not known yet */
    int result = 0;

    while (json.length && !result) {
        const char c = *json.data++;
        json.length--;
        if (c == '{' || c == '[') {
            depth++;
            if (c == '{' && !inside)
                inside = depth;
        } else if (c == '}' || c == ']') {
            if (depth == inside) {
                result = add_container(containers, id, name);
                id = name = key = (struct text){"", 0};
            }
            depth -= depth > 0;
        } else if (c == '"') {
            const struct text string = take_string(&json);
            if (depth == inside && json.length && *json.data == ':')
                key = string;
            else if (depth == inside && (text_is(key, "ID") || text_is(key, "id")))
                id = string;
            else if (text_is(key, depth == inside ? "Name" : "names") && !name.length)
                name = string;
        }
    }
    return result;
}

/* Keeps the first error. A missing file or directory is not an error: it has no names. */
static void containers_note(struct containers *containers, int error)
{
    if (error < 0 && !error_is_absence(error) && !containers->error)
        containers->error = -error;
}

static int containers_take_file(struct containers *containers, const char *directory,
                                const char *file)
{
    char path[2 * NAME_MAX];
    const size_t room = FILES_MAX - containers->taken;
    struct stat status = {.st_size = FILES_MAX};
    size_t length = 0;
    ssize_t more = 1;

    snprintf(path, sizeof path, "%s/%s", directory, file);
    const int fd = proc_tree_open(&containers->tree, path);
    containers_note(containers, fd);
    if (fd < 0)
        return 0;
    (void)fstat(fd, &status);
    const bool fits = status.st_size <= (off_t)room;
    const size_t size = fits ? (size_t)status.st_size : room;
    char *json = malloc(size + 1);
    for (; json && more > 0; length += more > 0 ? (size_t)more : 0)
        more = read(fd, json + length, size - length);
    containers_note(containers, more < 0 ? -errno : fits ? 0 : -EFBIG);
    containers->taken += length;
    close(fd);
    const int result = json ? take_json(containers, (struct text){json, length}) : -ENOMEM;
    free(json);
    return result;
}

/* Reads the files of a directory: of a container (Docker), or of a storage driver (Podman). */
static int take_engine(const char *directory, void *containers)
{
    static const char *const files[] = {"config.v2.json", "containers.json",
                                        "volatile-containers.json"};
    int result = 0;

    for (size_t i = 0; *directory != '.' && i < COUNT(files) && !result; i++)
        result = containers_take_file(containers, directory, files[i]);
    return result;
}

/* --- All of them ------------------------------------------------------------------------------ */

/* Calls `take` for each name in the directory `below` of `base`. */
static void read_directory(struct containers *containers, const char *base, const char *below,
                           int (*take)(const char *name, void *containers))
{
    char path[PATH_MAX];
    int directory, error;

    snprintf(path, sizeof path, "%s/%s", base, below);
    error = proc_tree_init(&containers->tree, path);
    directory = error ? error : proc_tree_open_directory(&containers->tree, ".");
    error = directory < 0 ? directory : directory_each(directory, take, containers);
    if (directory >= 0)
        close(directory);
    proc_tree_finish(&containers->tree);
    containers_note(containers, error);
}

static void read_engines(struct containers *containers, const char *base)
{
    read_directory(containers, base, "docker/containers", take_engine);
    read_directory(containers, base, "containers/storage", take_engine);
}

/* Reads the user's own files last, without raised rights. */
static void read_all(struct containers *containers, const char *root)
{
    const char *home = root ? "/root" : getenv("HOME");
    char base[PATH_MAX];

    root = root ? root : "";
    snprintf(base, sizeof base, "%s/var/lib", root);
    rights_raise(RIGHT_CONTAINERS);
    read_directory(containers, root, "var/log/containers", take_log);
    read_directory(containers, root, "var/log/pods", take_pod);
    read_engines(containers, base);
    rights_lower();
    if (!home)
        return;
    snprintf(base, sizeof base, "%s%s/.local/share", root, home);
    read_engines(containers, base);
}

struct containers *containers_create(const char *root)
{
    struct containers *containers = calloc(1, sizeof *containers);

    if (containers)
        read_all(containers, root);
    return containers;
}

struct containers_found containers_read(const char *root)
{
    struct containers containers = {.first_only = true};

    read_all(&containers, root);
    const struct containers_found found = {containers.names.count > containers.pods,
                                           containers.pods > 0};
    number_map_finish(&containers.names);
    return found;
}

void containers_destroy(struct containers *containers)
{
    if (containers)
        number_map_finish(&containers->names);
    free(containers);
}

const char *containers_name(const struct containers *containers, const char *id)
{
    return containers ? number_map_name(&containers->names, containers_hash_of(as_text(id))) : NULL;
}

int containers_error(const struct containers *containers)
{
    return containers ? containers->error : ENOTSUP;
}
