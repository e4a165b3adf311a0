/* SPDX-License-Identifier: MIT */
#include "fastnet/namespace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/proc_tree.h"
#include "fastnet/report.h"
#include "fastnet/rights.h"

#define OWN_FILE "/proc/thread-self/ns/net"

/* The directories in which ip-netns(8) and Docker mount named network namespaces. */
static const char directory[] = "/run/netns/", directory_of_docker[] = "/run/docker/netns/";

/* Opening a FIFO must not wait, and a terminal must not become the controlling one. */
enum { FILE_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY };

static bool namespace_is_number(const char *text)
{
    return *text && !text[strspn(text, "0123456789")];
}

/* --- One namespace ---------------------------------------------------------------------------- */

static int open_named(const char *before, const char *name, const char *after)
{
    char path[PATH_MAX];

    if ((size_t)snprintf(path, sizeof path, "%s%s%s", before, name, after) >= sizeof path)
        return -ENAMETOOLONG;
    return proc_open(AT_FDCWD, path, FILE_FLAGS);
}

int namespace_open(const char *name)
{
    int fd;

    rights_raise(RIGHT_NAMESPACE_FILES);
    fd = open_named(strchr(name, '/') ? "" : directory, name, "");
    if (fd == -ENOENT && !strchr(name, '/'))
        fd = open_named(directory_of_docker, name, "");
    if (fd == -ENOENT && namespace_is_number(name))
        fd = open_named("/proc/", name, "/ns/net");
    rights_lower();
    return fd;
}

int namespace_open_own(void)
{
    return proc_open(AT_FDCWD, OWN_FILE, FILE_FLAGS);
}

int namespace_enter(int fd)
{
    int status;

    rights_raise(RIGHT_NAMESPACES);
    status = setns(fd, CLONE_NEWNET) < 0 ? -errno : 0;
    rights_lower();
    return status;
}

/* --- Names, by mounts ------------------------------------------------------------------------- */

/* Fields of /proc/self/mountinfo, which are separated by spaces. */
enum { ROOT = 3, MOUNT_POINT };

/* Returns field `number` of the line, or NULL if it has fewer. */
static const char *field(const char *line, int number)
{
    for (; number && *line; number--) {
        line += strcspn(line, " ");
        line += *line == ' ';
    }
    return *line ? line : NULL;
}

/* Undoes the escapes of mountinfo: a space, a backslash and some other bytes are a backslash and
 * three octal digits. Returns the length of the field; 0 if it is not an absolute path, is too
 * long, or is the last field of the line. */
static size_t take_path(const char *from, char *path, size_t size)
{
    size_t length = 0;

    while (*from && *from != ' ' && length + 1 < size) {
        if (from[0] == '\\' && strspn(from + 1, "01234567") >= 3) {
            path[length] = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
            from += 4;
        } else {
            path[length] = *from++;
        }
        if (!path[length++])
            return 0;
    }
    path[length] = '\0';
    return *from == ' ' ? length : 0;
}

/* The short name of a path: its last part if ip-netns(8) or Docker keeps namespaces there,
 * otherwise the whole path. */
static const char *namespace_name_of(const char *path, bool *by_ip)
{
    static const char *const kept[] = {"/run/netns/", "/var/run/netns/", "/run/docker/netns/",
                                       "/var/run/docker/netns/"};
    enum { BY_IP = 2 };
    const char *rootless = "/run/user/", *netns;

    for (size_t i = 0; i < COUNT(kept); i++)
        if (strncmp(path, kept[i], strlen(kept[i])) == 0) {
            *by_ip = i < BY_IP;
            return path + strlen(kept[i]);
        }
    netns = strncmp(path, rootless, strlen(rootless)) == 0 ? strstr(path, "/netns/") : NULL;
    return netns ? netns + strlen("/netns/") : path;
}

bool namespace_of_mount(const char *line, struct netns *netns)
{
    char path[PATH_MAX] = "", *end;
    const char *at = field(line, ROOT), *name;

    if (!at || strncmp(at, "net:[", 5) != 0 || at[5] < '0' || at[5] > '9')
        return false;
    *netns = (struct netns){.id = strtoull(at + 5, &end, 10), .fd = -1};
    if (end[0] != ']' || end[1] != ' ' || take_path(end + 2, path, sizeof path) == 0)
        return false;
    name = namespace_name_of(path, &netns->named_by_ip);
    if (strlen(name) < sizeof netns->name) /* a cut name could be the name of another namespace */
        memcpy(netns->name, name, strlen(name) + 1);
    return netns->id && *name;
}

/* Calls fn for each mounted network namespace, with its mount point. */
static void read_mounts(void (*fn)(const struct netns *netns, const char *path, void *arg),
                        void *arg)
{
    FILE *file = fopen("/proc/thread-self/mountinfo", "re");
    char *line = NULL, path[PATH_MAX];
    size_t size = 0;
    struct netns netns;

    while (file && getline(&line, &size, file) > 0)
        if (namespace_of_mount(line, &netns)) {
            take_path(field(line, MOUNT_POINT), path, sizeof path);
            fn(&netns, path, arg);
        }
    free(line);
    if (file)
        fclose(file);
}

/* Takes a name. A name from ip-netns(8) replaces other names, because users know it. */
static void namespace_take_name(struct netns *netns, const struct netns *named)
{
    if (*netns->name && (netns->named_by_ip || !named->named_by_ip))
        return;
    memcpy(netns->name, named->name, sizeof netns->name);
    netns->named_by_ip = named->named_by_ip;
}

static void namespace_name_if_same(const struct netns *mounted, const char *path, void *arg)
{
    struct netns *netns = arg;

    (void)path;
    if (mounted->id == netns->id)
        namespace_take_name(netns, mounted);
}

/* Returns the id of this thread's netns. A socket belongs to the netns of the thread that opens it,
 * and leads to the file of that netns (SIOCGSKNS of socket(7)). */
static uint64_t id_by_socket(void)
{
    const int of_family = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct stat file = {.st_ino = 0};
    int fd;

    rights_raise(RIGHT_BUFFERS); /* SIOCGSKNS needs CAP_NET_ADMIN */
    fd = ioctl(of_family, SIOCGSKNS);
    rights_lower();
    if (fd >= 0 && fstat(fd, &file) < 0)
        file.st_ino = 0;
    if (fd >= 0)
        close(fd);
    if (of_family >= 0)
        close(of_family);
    return file.st_ino;
}

uint64_t namespace_own_id(void)
{
    struct stat file;

    return stat(OWN_FILE, &file) == 0 ? file.st_ino : id_by_socket();
}

uint64_t namespace_own_cookie(void)
{
    uint64_t number = namespace_own_id();
#ifdef SO_NETNS_COOKIE
    uint64_t cookie;
    socklen_t size = sizeof cookie;
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size) == 0)
        number = cookie;
    if (fd >= 0)
        close(fd);
#endif
    return number;
}

struct netns namespace_of_id(uint64_t id)
{
    struct netns netns = {.id = id, .fd = -1};

    read_mounts(namespace_name_if_same, &netns);
    return netns;
}

struct netns namespace_own(void)
{
    return namespace_of_id(namespace_own_id());
}

/* --- All namespaces --------------------------------------------------------------------------- */

struct namespace_search {
    struct hash_table found; /* elements: struct netns */
    struct report *report;
    size_t hidden; /* number of processes whose namespace may not be read */
    uint64_t own;  /* id of this thread's namespace */
    bool lacks_memory;
    bool again; /* this is the second search of the mounts */
};

static struct netns *namespace_find(const struct namespace_search *search, uint64_t id)
{
    return hash_table_find_number(&search->found, hash_word(0, id), id);
}

static void namespace_add(struct namespace_search *search, const struct netns *netns)
{
    struct netns *added = hash_table_add(&search->found, hash_word(0, netns->id), sizeof *added);

    if (added)
        *added = *netns;
    else
        close(netns->fd);
    search->lacks_memory |= !added;
}

/* Whether the process has ended, or the file was unmounted: then nothing is lost. */
static bool is_gone(int error)
{
    return error == -ENOENT || error == -ESRCH;
}

/* Opens a namespace, and checks the opened file, because its process may have changed its namespace
 * meanwhile. Returns 0 or -errno. */
static int open_found(struct namespace_search *search, int directory_fd, const char *path)
{
    struct netns netns = {.fd = proc_open(directory_fd, path, FILE_FLAGS)};
    struct statfs system;
    struct stat file;

    if (netns.fd < 0)
        return netns.fd;
    /* another file may now be at this path */
    if (fstatfs(netns.fd, &system) < 0 || system.f_type != NSFS_MAGIC ||
        fstat(netns.fd, &file) < 0 || namespace_find(search, file.st_ino)) {
        close(netns.fd);
        return 0;
    }
    netns.id = file.st_ino;
    namespace_add(search, &netns);
    return 0;
}

static void report_unopened(struct namespace_search *search, uint64_t id, const char *why)
{
    report_loss(search->report, "cannot open network namespace %llu: %s", (unsigned long long)id,
                why);
}

/* Reads the link PID/ns/net, such as "net:[4026531840]". Returns 0 or -errno. */
static int namespace_read_link(int proc, const char *path, uint64_t *id)
{
    char link[64];
    const ssize_t length = readlinkat(proc, path, link, sizeof link - 1);

    if (length < 0)
        return -errno;
    link[length] = '\0';
    *id = strncmp(link, "net:[", 5) == 0 ? strtoull(link + 5, NULL, 10) : 0;
    return 0;
}

/* Finds the link of a process: PID/ns/net or, if its first thread has ended, the link of another
 * thread. process: "812", in the directory proc. Returns 0 with path and id, or -errno. */
static int namespace_find_link(int proc, const char *process, char path[PATH_MAX], uint64_t *id)
{
    const struct dirent *entry;
    DIR *threads;
    int error, fd;

    snprintf(path, PATH_MAX, "%s/ns/net", process);
    error = namespace_read_link(proc, path, id);
    if (error != -ENOENT)
        return error;
    snprintf(path, PATH_MAX, "%s/task", process);
    fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    threads = fd < 0 ? NULL : fdopendir(fd);
    while (threads && error && (entry = readdir(threads))) {
        snprintf(path, PATH_MAX, "%s/task/%.16s/ns/net", process, entry->d_name);
        error = namespace_read_link(proc, path, id);
    }
    if (threads)
        closedir(threads);
    else if (fd >= 0)
        close(fd);
    return error;
}

uint64_t namespace_of_process(const char *proc_root, pid_t pid)
{
    char process[PATH_MAX], path[PATH_MAX];
    uint64_t id = 0;

    snprintf(process, sizeof process, "%s/%d", proc_root, (int)pid);
    rights_raise(proc_tree_is_own(proc_root) ? RIGHT_OWNERS : RIGHT_NAMESPACE_FILES);
    (void)namespace_find_link(AT_FDCWD, process, path, &id);
    rights_lower();
    return id;
}

static void namespace_search_process(struct namespace_search *search, int proc, const char *number)
{
    char path[PATH_MAX];
    uint64_t id = 0;
    int error = namespace_find_link(proc, number, path, &id);

    if (error) {
        search->hidden += !is_gone(error);
        return;
    }
    error = id && !namespace_find(search, id) ? open_found(search, proc, path) : 0;
    if (error && !is_gone(error))
        report_unopened(search, id, strerror(-error));
}

static void namespace_search_processes(struct namespace_search *search)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry = NULL;

    while (proc && (errno = 0, entry = readdir(proc)))
        if (namespace_is_number(entry->d_name))
            namespace_search_process(search, dirfd(proc), entry->d_name);
    if (!entry && errno)
        report_loss(search->report, "cannot search /proc for network namespaces: %s",
                    strerror(errno));
    if (proc)
        closedir(proc);
}

/* Adds namespaces without a process, and the names of all namespaces. The second search reports
 * namespaces that no process and no other mount led to. */
static void namespace_search_mount(const struct netns *mounted, const char *path, void *arg)
{
    struct namespace_search *search = arg;
    struct stat file;
    int error = 0;

    if (!namespace_find(search, mounted->id)) {
        error = stat(path, &file) < 0 ? -errno : 0;
        /* another file, even a device, may be mounted over this file */
        if (!error && file.st_ino == mounted->id)
            error = open_found(search, AT_FDCWD, path);
    }
    struct netns *known = namespace_find(search, mounted->id);
    if (known)
        namespace_take_name(known, mounted);
    else if (search->again)
        report_unopened(search, mounted->id,
                        error ? strerror(-error) : "something else is mounted over it");
}

/* Opens the own netns first: without it the listing could not return from another netns. */
static bool namespace_search_own(struct namespace_search *search)
{
    struct netns own = {.id = namespace_own_id(), .fd = -1};

    own.fd = namespace_open_own();
    if (own.fd < 0)
        report_loss(search->report, "cannot list other network namespaces: " OWN_FILE ": %s",
                    strerror(-own.fd));
    namespace_add(search, &own);
    search->own = own.id;
    return own.fd >= 0;
}

static int namespace_compare(const void *left, const void *right)
{
    const struct netns *a = left, *b = right;

    if (!*a->name != !*b->name)
        return *a->name ? -1 : 1;
    if (*a->name && strcmp(a->name, b->name) != 0)
        return strcmp(a->name, b->name);
    return (a->id > b->id) - (a->id < b->id);
}

/* Sorts the list, own netns first. If several have one name, only names of ip-netns(8) stay. */
static void namespace_put_in_order(struct netns *list, size_t count, uint64_t own)
{
    size_t first = 0;

    qsort(list, count, sizeof *list, namespace_compare);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && strcmp(list[end].name, list[i].name) == 0; end++)
            ;
        for (size_t j = i; j < end && end - i > 1; j++)
            if (!list[j].named_by_ip)
                *list[j].name = '\0';
    }
    while (list[first].id != own)
        first++;
    const struct netns moved = list[first];
    list[first] = list[0];
    list[0] = moved;
    qsort(list + 1, count - 1, sizeof *list, namespace_compare);
}

int namespaces_find(struct namespaces *namespaces, struct report *report)
{
    struct namespace_search search = {.report = report};
    struct rlimit limit;

    /* each namespace stays open, so that it cannot end during the listing */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)!setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (namespace_search_own(&search)) {
        rights_raise(RIGHT_NAMESPACE_FILES);
        namespace_search_processes(&search);
        read_mounts(namespace_search_mount, &search);
        search.again = true;
        read_mounts(namespace_search_mount, &search);
        rights_lower();
    }
    /* it is unknown whether the namespaces of these processes are among those that were found */
    if (search.hidden)
        report_loss(report, "not allowed to see the network namespaces of %zu process%s%s",
                    search.hidden, search.hidden == 1 ? "" : "es",
                    rights_have(1u << RIGHT_NAMESPACE_FILES) ? "" : rights_advice());
    *namespaces = (struct namespaces){search.found.elements, search.found.count};
    free(search.found.slots);
    if (search.lacks_memory)
        return -ENOMEM;
    namespace_put_in_order(namespaces->list, namespaces->count, search.own);
    return 0;
}

void namespaces_finish(struct namespaces *namespaces)
{
    for (size_t i = 0; i < namespaces->count; i++)
        if (namespaces->list[i].fd >= 0)
            close(namespaces->list[i].fd);
    free(namespaces->list);
    *namespaces = (struct namespaces){.count = 0};
}

int namespaces_each(int (*fn)(void *arg), void *arg, bool *whole)
{
    struct report details = {.partial = false};
    struct namespaces all;
    int status = namespaces_find(&all, &details);
    bool moved = false; /* this thread left the own netns, so it must return */

    *whole = !details.partial;
    for (size_t i = 0; i < all.count && !status; i++)
        if (i && namespace_enter(all.list[i].fd) < 0) {
            *whole = false;
        } else {
            moved = i > 0;
            status = fn(arg);
        }
    if (moved && namespace_enter(all.list[0].fd) < 0 && !status)
        status = -EPERM;
    namespaces_finish(&all);
    return status;
}
