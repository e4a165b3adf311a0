/* SPDX-License-Identifier: MIT */
/* Names of users: each uid is looked up once, even if it has no name. */
#include "fastnet/users.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastnet/rights.h"
#include "lookup/number_map.h"

enum { BUFFER_FIRST = 1024, BUFFER_MAX = 1024 * 1024, NAME_SIZE = 1020 };

struct users {
    struct hash_table names;
    int error;     /* errno, or 0 */
    pid_t child;   /* the process that looks up names; 0: this process */
    int questions; /* an eventfd, for uid + 1; not a socket: listings would show it */
    int answers;   /* a pipe: struct users_answer */
};

/* The answer of the child for a uid. */
struct users_answer {
    int error;            /* errno, or 0 */
    char name[NAME_SIZE]; /* empty: the uid has no name */
};

struct users *users_create(void)
{
    return calloc(1, sizeof(struct users));
}

void users_destroy(struct users *users)
{
    if (!users)
        return;
    if (users->child) {
        close(users->questions);
        close(users->answers);
        kill(users->child, SIGKILL);
        while (waitpid(users->child, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    number_map_finish(&users->names);
    free(users);
}

void users_forget(struct users *users)
{
    number_map_finish(&users->names);
    users->names = (struct hash_table){0};
    users->error = 0;
}

/* Other errors mean that the uid is unknown; they depend on the source of names (getpwuid_r(3)). */
static bool users_is_fault(int error)
{
    return error != 0 && error != ENOENT && error != ESRCH && error != EBADF && error != EPERM;
}

/* Asks for the name of a uid. The buffer grows: entries of directory services can be very long. */
static void users_ask(uint32_t uid, struct users_answer *answer)
{
    struct passwd entry, *found = NULL;
    char *buffer = NULL;

    *answer = (struct users_answer){.error = ERANGE};
    for (size_t size = BUFFER_FIRST; answer->error == ERANGE && size <= BUFFER_MAX; size *= 2) {
        char *larger = realloc(buffer, size);
        if (!larger) {
            answer->error = ENOMEM;
            break;
        }
        buffer = larger;
        do
            answer->error = getpwuid_r(uid, &entry, buffer, size, &found);
        while (answer->error == EINTR);
    }
    const size_t length = answer->error == 0 && found ? strlen(found->pw_name) : 0;
    if (length < sizeof answer->name)
        memcpy(answer->name, length ? found->pw_name : "", length);
    else
        answer->error = ERANGE;
    free(buffer);
}

/* Runs in the child: answers questions until the parent ends. */
static _Noreturn void answer_all(int questions, int answers, pid_t parent)
{
    struct users_answer answer;
    eventfd_t question;
    sigset_t all;

    sigfillset(&all); /* blocks the parent's handlers, which write to the terminal */
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    rights_drop();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent)
        if (eventfd_read(questions, &question) == 0) {
            users_ask((uint32_t)(question - 1), &answer);
            if (write(answers, &answer, sizeof answer) < 0)
                break;
        }
    _exit(0);
}

int users_ask_in_child(struct users *users)
{
    const pid_t self = getpid();
    int answers[2], error;

    if (users->child)
        return 0;
    if (pipe2(answers, O_CLOEXEC) < 0)
        return -errno;
    users->questions = eventfd(0, EFD_CLOEXEC);
    users->answers = answers[0];
    users->child = users->questions < 0 ? -1 : fork();
    error = users->child < 0 ? -errno : 0;
    if (users->child == 0)
        answer_all(users->questions, answers[1], self);
    close(answers[1]);
    if (!error)
        return 0;
    close(answers[0]);
    if (users->questions >= 0)
        close(users->questions);
    users->child = 0;
    return error;
}

/* Asks the child. The pipe takes a whole answer at once (PIPE_BUF). */
static void ask_child(const struct users *users, uint32_t uid, struct users_answer *answer)
{
    const bool asked = eventfd_write(users->questions, (eventfd_t)uid + 1) == 0;
    ssize_t length = 0;

    while (asked && (length = read(users->answers, answer, sizeof *answer)) < 0 && errno == EINTR)
        continue;
    if (length != (ssize_t)sizeof *answer)
        *answer = (struct users_answer){.error = EPIPE};
    answer->name[NAME_SIZE - 1] = '\0'; /* do not trust the child's modules */
}

const char *users_name(struct users *users, uint32_t uid)
{
    const struct number_name *known = number_map_find(&users->names, uid);
    if (!known) {
        struct users_answer answer;
        if (users->child)
            ask_child(users, uid, &answer);
        else
            users_ask(uid, &answer);
        known =
            number_map_put(&users->names, uid, *answer.name ? answer.name : NULL, sizeof *known);
        if (users->error == 0 && users_is_fault(answer.error))
            users->error = answer.error;
        if (users->error == 0 && !known)
            users->error = ENOMEM;
    }
    return known ? known->name : NULL;
}

/* The answer of the child of users_find(). */
struct user_found {
    int error; /* -errno, or 0 */
    uint32_t uid, gid;
};

static _Noreturn void users_find_in_child(const char *name, int pipe)
{
    struct user_found found = {.error = -ENOENT};

    rights_drop();
    errno = 0;
    const struct passwd *entry = getpwnam(name);
    if (entry)
        found = (struct user_found){0, entry->pw_uid, entry->pw_gid};
    else if (users_is_fault(errno))
        found.error = -errno;
    _exit(write(pipe, &found, sizeof found) < 0);
}

int users_find(const char *name, uint32_t *uid, uint32_t *gid)
{
    enum { PATIENCE = 5000 }; /* ms */
    struct user_found found = {.error = -EPIPE};
    struct pollfd event = {.events = POLLIN};
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    event.fd = ends[0];
    const pid_t child = fork();
    if (child == 0)
        users_find_in_child(name, ends[1]);
    found.error = child < 0 ? -errno : -EPIPE;
    close(ends[1]);
    if (child > 0) {
        if (poll(&event, 1, PATIENCE) == 0)
            found.error = -ETIMEDOUT;
        else if (read(ends[0], &found, sizeof found) != (ssize_t)sizeof found)
            found.error = -EPIPE;
        (void)kill(child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    close(ends[0]);
    if (found.error)
        return found.error;
    *uid = found.uid;
    *gid = found.gid;
    return 0;
}

bool users_lack(const char *name)
{
    errno = 0;
    return !getpwnam(name) && !users_is_fault(errno);
}

int users_error(const struct users *users)
{
    return users ? users->error : 0;
}
