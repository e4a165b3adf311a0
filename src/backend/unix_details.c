#include "backend/unix_details.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/lines.h"
#include "fastnet/report.h"

struct entry {
    uint64_t inode;
    uint64_t has, cookie;
    uint32_t recv_q, send_q, uid;
    bool awkward; /* the file does not say this name unmistakably */
    size_t name;  /* offset into names */
    size_t name_length;
};

struct unix_details {
    bool all;              /* every socket is wanted, not only those of an awkward name */
    struct entry *entries; /* sorted by inode */
    size_t count, capacity;
    char *names;
    size_t names_length, names_capacity;
    struct text rest; /* of the name of the record before: the lines that are still to come */
};

static bool is_awkward(const struct text *name)
{
    const char *data = name->data;
    size_t length = name->length;

    if (!length)
        return false;
    return memchr(data, '\n', length) || memchr(data, '@', length) ||
           memchr(data + 1, '\0', length - 1);
}

/* The array with room for `needed` elements, or NULL, when it stays as it was. */
static void *with_room(void *array, size_t *capacity, size_t needed, size_t size)
{
    size_t larger = *capacity ? *capacity * 2 : 256;
    void *moved;

    if (needed <= *capacity)
        return array;
    if (larger < needed)
        larger = needed;
    moved = reallocarray(array, larger, size);
    if (moved)
        *capacity = larger;
    return moved;
}

static int keep_name(struct unix_details *details, struct entry *entry, const struct text *name)
{
    size_t needed = details->names_length + name->length;
    char *names = with_room(details->names, &details->names_capacity, needed, 1);

    if (!names)
        return -ENOMEM;
    details->names = names;
    memcpy(details->names + details->names_length, name->data, name->length);
    entry->name = details->names_length;
    entry->name_length = name->length;
    details->names_length = needed;
    return 0;
}

static int keep(const struct record *record, void *arg)
{
    struct unix_details *details = arg;
    const struct socket_record *sock = &record->socket;
    struct entry entry = {.inode = sock->inode,
                          .has = record->has & (SOCKET_QUEUES | SOCKET_UID | SOCKET_COOKIE),
                          .cookie = record->identity,
                          .recv_q = sock->recv_q,
                          .send_q = sock->send_q,
                          .uid = sock->uid,
                          .awkward = is_awkward(&sock->path)};
    struct entry *entries;

    if (!details->all && !entry.awkward)
        return 0;
    if (entry.awkward && keep_name(details, &entry, &sock->path) < 0)
        return -ENOMEM;
    entries = with_room(details->entries, &details->capacity, details->count + 1, sizeof entry);
    if (!entries)
        return -ENOMEM;
    details->entries = entries;
    entries[details->count++] = entry;
    return 0;
}

static int compare_inodes(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return (x->inode > y->inode) - (x->inode < y->inode);
}

struct unix_details *unix_details_create(const struct query *query)
{
    struct unix_details *details = calloc(1, sizeof *details);
    struct query names = *query;
    struct report unheard = {0};

    if (!details)
        return NULL;
    names.needs |= SOCKET_PATH;
    names.states = STATES_ALL;
    names.report = &unheard; /* the file still has every row */
    details->all = query->needs & (SOCKET_QUEUES | SOCKET_UID | SOCKET_COOKIE);
    if (backend_sock_diag.dump(&names, keep, details) < 0) {
        unix_details_destroy(details);
        return NULL;
    }
    if (details->count)
        qsort(details->entries, details->count, sizeof *details->entries, compare_inodes);
    return details;
}

void unix_details_destroy(struct unix_details *details)
{
    if (!details)
        return;
    free(details->entries);
    free(details->names);
    free(details);
}

static struct text name_of(const struct unix_details *details, const struct entry *entry)
{
    return (struct text){details->names + entry->name, entry->name_length};
}

/* Whether the file writes the beginning of name, up to its first newline, as this line. */
static bool begins_with_line(const struct text *name, const char *line, size_t length)
{
    if (name->length < length || (name->length > length && name->data[length] != '\n'))
        return false;
    for (size_t i = 0; i < length; i++) {
        char shown = name->data[i] ? name->data[i] : '@';
        char found = line[i] ? line[i] : '@';
        if (shown != found)
            return false;
    }
    return true;
}

/* A connection that waits to be accepted has its listener's name, and no inode to find it by. */
static const struct entry *find_by_name(const struct unix_details *details, const struct text *path)
{
    for (size_t i = 0; i < details->count; i++) {
        const struct entry *entry = &details->entries[i];
        struct text name = name_of(details, entry);
        if (entry->awkward && memchr(name.data, '\n', name.length) &&
            begins_with_line(&name, path->data, path->length))
            return entry;
    }
    return NULL;
}

static void remember_rest(struct unix_details *details, const struct text *name)
{
    const char *newline = memchr(name->data, '\n', name->length);

    details->rest = (struct text){NULL, 0};
    if (newline)
        details->rest =
            (struct text){newline + 1, name->length - (size_t)(newline + 1 - name->data)};
}

void unix_details_complete(struct unix_details *details, struct record *record)
{
    struct socket_record *sock = &record->socket;
    struct entry key = {.inode = sock->inode};
    const struct entry *entry = NULL;

    if (!details || !details->count)
        return;
    if (sock->inode)
        entry = bsearch(&key, details->entries, details->count, sizeof key, compare_inodes);
    else
        entry = find_by_name(details, &sock->path);
    details->rest = (struct text){NULL, 0};
    if (!entry)
        return;
    if (entry->awkward) {
        sock->path = name_of(details, entry);
        remember_rest(details, &sock->path);
    }
    if (!sock->inode)
        return;
    record->has |= entry->has;
    sock->recv_q = entry->recv_q;
    sock->send_q = entry->send_q;
    sock->uid = entry->uid;
    if (entry->has & SOCKET_COOKIE)
        record->identity = entry->cookie;
}

bool unix_details_continue(struct unix_details *details, const struct line *line)
{
    struct text *rest;

    if (!details || !details->rest.data)
        return false;
    rest = &details->rest;
    if (!begins_with_line(rest, line->data, line->length)) {
        *rest = (struct text){NULL, 0};
        return false;
    }
    remember_rest(details, &(struct text){rest->data, rest->length});
    return true;
}
