/* SPDX-License-Identifier: MIT */
/* Users: each uid is looked up once, even if it has no name. */
#include "fastnet/lookup.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>

#include "lookup/number_map.h"

enum { BUFFER_FIRST = 1024, BUFFER_MAX = 1024 * 1024 };

struct users {
    struct hash_table names;
    int error; /* errno, or 0 */
};

struct users *users_create(void)
{
    return calloc(1, sizeof(struct users));
}

void users_destroy(struct users *users)
{
    if (!users)
        return;
    number_map_finish(&users->names);
    free(users);
}

/* Further errors mean an unknown uid, depending on the source of names (getpwuid_r(3)). */
static bool is_fault(int error)
{
    return error != 0 && error != ENOENT && error != ESRCH && error != EBADF && error != EPERM;
}

/* The buffer grows because entries of directory services can be very long. */
static int ask(uint32_t uid, struct passwd *entry, char **buffer, struct passwd **found)
{
    int error = ERANGE;
    for (size_t size = BUFFER_FIRST; error == ERANGE && size <= BUFFER_MAX; size *= 2) {
        char *larger = realloc(*buffer, size);
        if (!larger)
            return ENOMEM;
        *buffer = larger;
        do
            error = getpwuid_r(uid, entry, *buffer, size, found);
        while (error == EINTR);
    }
    return error;
}

const char *users_name(struct users *users, uint32_t uid)
{
    const struct number_name *known = number_map_find(&users->names, uid);
    if (!known) {
        struct passwd entry, *found = NULL;
        char *buffer = NULL;
        const int error = ask(uid, &entry, &buffer, &found);
        const char *name = error == 0 && found ? found->pw_name : NULL;
        known = number_map_put(&users->names, uid, name, sizeof *known);
        free(buffer);
        if (users->error == 0 && is_fault(error))
            users->error = error;
        if (users->error == 0 && !known)
            users->error = ENOMEM;
    }
    return known ? known->name : NULL;
}

bool users_lack(const char *name)
{
    errno = 0;
    return !getpwnam(name) && !is_fault(errno);
}

int users_error(const struct users *users)
{
    return users ? users->error : 0;
}
