/* SPDX-License-Identifier: MIT */
/* Finds the process that a connection is tried as. All files of a process are opened below its open
 * directory in /proc, so that they belong to one process even if its pid is used again. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/attempt.h"
#include "fastnet/cgroups.h"
#include "fastnet/containers.h"
#include "fastnet/namespace.h"
#include "fastnet/proc_tree.h"
#include "fastnet/process_netns.h"
#include "fastnet/rights.h"
#include "fastnet/text.h"
#include "fastnet/users.h"

enum { STATUS_FILE_MAX = 4096, CGROUP_FILE_MAX = 3 * PATH_MAX };

/* --- A process -------------------------------------------------------------------------------- */

/* Finds the path of version 2, in the line "0::PATH"; NULL: the kernel has no groups of version 2.
 * The caller frees it. Returns 0, or -EIO if the file cannot be read as a whole. */
static int as_read_cgroup(const struct proc_tree *process, char **path)
{
    char *const text = calloc(1, CGROUP_FILE_MAX); /* too large for the stack */
    ssize_t length = 0;
    const char *line = NULL;

    if (text) {
        text[0] = '\n';
        length = proc_tree_read(process, "cgroup", text + 1, CGROUP_FILE_MAX - 1);
        line = length > 0 && length < CGROUP_FILE_MAX - 2 ? strstr(text, "\n0::") : NULL;
    }
    *path = line ? strndup(line + 4, strcspn(line + 4, "\n")) : NULL;
    free(text);
    return length <= 0 || length == CGROUP_FILE_MAX - 2 || (line && !*path) ? -EIO : 0;
}

/* The group of this process need not be entered. */
static void as_take_cgroup(struct attempt_as *as, const struct proc_tree *process)
{
    char *path = NULL, *own = NULL;
    struct proc_tree self;
    int fd = as_read_cgroup(process, &path);

    if (proc_tree_init(&self, "/proc/self") == 0)
        (void)as_read_cgroup(&self, &own);
    proc_tree_finish(&self);
    if (path && !(own && strcmp(path, own) == 0))
        fd = cgroups_open_processes(path);
    if (fd < 0)
        as->lacks |= ATTEMPT_LACKS_CGROUP;
    else
        as->cgroup = fd;
    free(path);
    free(own);
}

/* Takes the descriptor. Returns 0, or -EINVAL if it is no network namespace. */
static int as_take_netns(struct attempt_as *as, int fd)
{
    struct statfs system;
    struct stat file;
    const bool is_netns =
        fstatfs(fd, &system) == 0 && system.f_type == NSFS_MAGIC && fstat(fd, &file) == 0;

    if (!is_netns || file.st_ino == namespace_own_id()) {
        close(fd);
        return is_netns ? 0 : -EINVAL;
    }
    as->netns = fd;
    as->netns_id = file.st_ino;
    return 0;
}

/* Takes the last of the four numbers of a line of PID/status, such as "Uid: 0 0 0 0": sockets get
 * the user of the file system (proc(5)). line: NULL, if the file lacks it. */
static bool as_take_id(const char *line, uint32_t *id)
{
    enum { WORD = sizeof "\nUid:" - 1, IDS = 4 };
    unsigned long number = 0;
    char *end;

    if (!line)
        return false;
    line += WORD;
    for (int i = 0; i < IDS; i++, line = end) {
        number = strtoul(line, &end, 10);
        if (end == line)
            return false;
    }
    *id = (uint32_t)number;
    return true;
}

/* Takes all from the open directory of a process. Returns 0, or -ESRCH if it has ended. name: its
 * comm. */
static int as_take_directory(struct attempt_as *as, const struct proc_tree *process,
                             char name[PROCESS_NAME_SIZE])
{
    char status[STATUS_FILE_MAX];
    const char *state, *uid, *gid;
    int fd;

    if (proc_tree_read(process, "status", status, sizeof status) <= 0)
        return -ESRCH;
    state = strstr(status, "\nState:\t");
    uid = strstr(status, "\nUid:");
    gid = strstr(status, "\nGid:");
    if (!state || strchr("ZX", state[8])) /* it has no namespace any more */
        return -ESRCH;
    (void)sscanf(status, "Name:\t%15[^\n]", name);
    as->has_user = as_take_id(uid, &as->uid) && as_take_id(gid, &as->gid);
    as->lacks |= as->has_user ? 0 : ATTEMPT_LACKS_USER;
    rights_raise(RIGHT_NAMESPACE_FILES);
    fd = proc_open(process->fd, "ns/net", O_RDONLY | O_NONBLOCK);
    rights_lower();
    if (fd < 0 || as_take_netns(as, fd) < 0)
        as->lacks |= ATTEMPT_LACKS_NETNS;
    as_take_cgroup(as, process);
    return 0;
}

/* Returns 0, or -ENOENT. wanted: how the process was found; NULL: by its pid. It is found again
 * after its directory was opened: if it has not ended then, its pid was not used for another
 * process. */
static int as_take_process(struct attempt_as *as, const char *proc_root, pid_t pid,
                           const struct process_wanted *wanted, char name[PROCESS_NAME_SIZE])
{
    struct process_found again = {.pid = pid};
    struct proc_tree process;
    char path[PATH_MAX];
    int error;

    snprintf(path, sizeof path, "%s/%d", proc_root, (int)pid);
    error = proc_tree_init(&process, path);
    if (!error && wanted)
        error = process_netns_find(proc_root, wanted, 0, &again);
    if (error || again.pid != pid || as_take_directory(as, &process, name) < 0)
        error = -ENOENT;
    proc_tree_finish(&process);
    as->pid = pid;
    return error;
}

/* --- The forms of the argument ---------------------------------------------------------------- */

static bool as_is_number(const char *text, const char *digits)
{
    return *text && !text[strspn(text, digits)];
}

static int as_find_pid(struct attempt_as *as, const char *word, const char *proc_root)
{
    const unsigned long pid = strtoul(word, NULL, 10);
    char name[PROCESS_NAME_SIZE] = "";

    if (!as_is_number(word, "0123456789") || pid == 0 || pid > INT_MAX ||
        as_take_process(as, proc_root, (pid_t)pid, NULL, name) < 0)
        return -ENOENT;
    snprintf(as->text, sizeof as->text, "pid %d (%s)", (int)pid, name);
    return 0;
}

/* Takes the first process of a unit or container. */
static int as_find_group(struct attempt_as *as, const char *proc_root,
                         const struct process_wanted *wanted)
{
    struct process_found found;
    char name[PROCESS_NAME_SIZE] = "";
    const int error = process_netns_find(proc_root, wanted, 0, &found);

    if (error || !found.count)
        return error ? error : -ENOENT;
    snprintf(as->text, sizeof as->text, "%s %.*s",
             wanted->property == PROCESS_UNIT ? "unit" : "container", (int)wanted->text.length,
             wanted->text.data);
    return as_take_process(as, proc_root, found.pid, wanted, name);
}

/* ".service" may be left out, as for systemctl(1). */
static int as_find_unit(struct attempt_as *as, const char *word, const char *proc_root)
{
    struct process_wanted wanted = {.property = PROCESS_UNIT, .text = as_text(word)};
    char service[2 * CGROUP_NAME_MAX + 16];
    const int error = as_find_group(as, proc_root, &wanted);

    if (error != -ENOENT)
        return error;
    snprintf(service, sizeof service, "%s.service", word);
    wanted.text = as_text(service);
    return as_find_group(as, proc_root, &wanted);
}

/* word: the name of a container, or 12 or more digits of its id. */
static int as_find_container(struct attempt_as *as, const char *word, const char *proc_root)
{
    enum { ID_SHOWN = 12 };
    struct process_wanted wanted = {.property = PROCESS_CONTAINER, .text = as_text(word)};
    struct containers *names;
    int error;

    if (wanted.text.length > ID_SHOWN && as_is_number(word, "0123456789abcdef"))
        wanted.text.length = ID_SHOWN;
    error = as_find_group(as, proc_root, &wanted);
    if (error != -ENOENT)
        return error;
    names = containers_create(NULL);
    wanted.names = names;
    error = names ? as_find_group(as, proc_root, &wanted) : -ENOMEM;
    containers_destroy(names);
    return error;
}

static int as_find_netns(struct attempt_as *as, const char *word, const char *proc_root)
{
    const int fd = namespace_open(word);

    (void)proc_root;
    snprintf(as->text, sizeof as->text, "network namespace %s", word);
    if (fd == -EACCES || fd == -EPERM) {
        as->lacks |= ATTEMPT_LACKS_NETNS;
        return 0;
    }
    return fd < 0 ? fd : as_take_netns(as, fd);
}

/* A number is a uid, whose group has the same number. */
static int as_find_user(struct attempt_as *as, const char *word, const char *proc_root)
{
    const bool is_uid = as_is_number(word, "0123456789");
    const unsigned long uid = strtoul(word, NULL, 10);
    int error = is_uid && uid >= UINT32_MAX ? -ENOENT : 0;

    (void)proc_root;
    as->uid = as->gid = (uint32_t)uid;
    if (!is_uid)
        error = users_find(word, &as->uid, &as->gid);
    as->has_user = !error;
    snprintf(as->text, sizeof as->text, "user %s", word);
    return error;
}

/* The forms, as messages name them. */
static const struct as_form {
    const char *prefix, *kind, *thing;
    int (*find)(struct attempt_as *as, const char *word, const char *proc_root);
} as_forms[] = {
    {"pid:", "a process", "process with the pid", as_find_pid},
    {"unit:", "a unit", "running unit", as_find_unit},
    {"container:", "a container", "running container", as_find_container},
    {"netns:", "a network namespace", "network namespace", as_find_netns},
    {"user:", "a user", "user", as_find_user},
};

static int as_find_form(struct attempt_as *as, const struct as_form *form, const char *word,
                        const char *proc_root, char wrong[ATTEMPT_WRONG])
{
    const int error = *word ? form->find(as, word, proc_root) : -ENOENT;

    if (error == -ENOENT)
        snprintf(wrong, ATTEMPT_WRONG, "there is no %s \"%.200s\"", form->thing, word);
    else if (error)
        snprintf(wrong, ATTEMPT_WRONG, "cannot find the %s \"%.200s\": %s", form->thing, word,
                 error == -EINVAL ? "it is something else" : strerror(-error));
    return error;
}

/* Lists the forms that a word can have: "web is a unit and a container: type --as=unit:web or
 * --as=container:web". `found`: bits of as_forms. */
static void as_list_choices(char wrong[ATTEMPT_WRONG], const char *word, unsigned found)
{
    FILE *stream = fmemopen(wrong, ATTEMPT_WRONG, "w");
    const char *between = " is ";

    if (!stream)
        return;
    fprintf(stream, "%.60s", word);
    for (size_t i = 0; i < COUNT(as_forms); i++)
        if (found >> i & 1) {
            fprintf(stream, "%s%s", between, as_forms[i].kind);
            between = " and ";
        }
    between = ": type ";
    for (size_t i = 0; i < COUNT(as_forms); i++)
        if (found >> i & 1) {
            fprintf(stream, "%s--as=%s%.60s", between, as_forms[i].prefix, word);
            between = " or ";
        }
    (void)fclose(stream);
}

/* Finds out what a word without a prefix names. A number is only a pid. */
static int as_find_word(struct attempt_as *as, const char *word, const char *proc_root,
                        char wrong[ATTEMPT_WRONG])
{
    unsigned found = 0, count = 0;

    if (as_is_number(word, "0123456789"))
        return as_find_form(as, &as_forms[0], word, proc_root, wrong);
    for (size_t i = 1; i < COUNT(as_forms); i++) {
        struct attempt_as one = {.pid = 0};
        const bool is = as_forms[i].find(&one, word, proc_root) == 0;
        found |= (unsigned)is << i;
        if (is && !count++)
            *as = one;
        else
            attempt_as_finish(&one);
    }
    if (count == 0)
        snprintf(wrong, ATTEMPT_WRONG,
                 "\"%.200s\" is no running unit or container, no network namespace and no user",
                 word);
    else if (count > 1)
        as_list_choices(wrong, word, found);
    return count == 1 ? 0 : -EINVAL;
}

int attempt_as_find(struct attempt_as *as, const char *argument, const char *proc_root,
                    char wrong[ATTEMPT_WRONG])
{
    *as = (struct attempt_as){.pid = 0};
    for (size_t i = 0; i < COUNT(as_forms); i++) {
        const size_t length = strlen(as_forms[i].prefix);
        if (strncmp(argument, as_forms[i].prefix, length) == 0)
            return as_find_form(as, &as_forms[i], argument + length, proc_root, wrong);
    }
    return as_find_word(as, argument, proc_root, wrong);
}

void attempt_as_finish(struct attempt_as *as)
{
    if (as->netns)
        close(as->netns);
    if (as->cgroup)
        close(as->cgroup);
    as->netns = as->cgroup = 0;
}
