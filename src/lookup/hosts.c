/* SPDX-License-Identifier: MIT */
/* Names and addresses of hosts. First all addresses are collected, then several threads look up the
 * names; one thread looks up the address of a name. A resolver cannot be interrupted, so threads
 * that still wait when the time is up are abandoned. An abandoned thread touches only its round,
 * and the last user of a round frees it. */
#include "fastnet/hosts.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "fastnet/clock.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/thread.h"

enum { THREADS_MAX = 32 };

/* Bytes that a resolver may need for one name with all its addresses. */
enum { ANSWER_MAX = 15 * 1024 };

struct host {
    struct address address; /* AF_UNSPEC: the address is wanted, and not found */
    char *name;             /* NULL: no answer, or the address has no name */
    int error;              /* if the address is wanted: h_errno; if the name is wanted: errno */
};

struct hosts {
    struct hash_table table; /* elements: struct host */
    size_t asked;            /* hosts with a lower index have been asked for */
};

/* Addresses that are looked up at the same time. */
struct round {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    unsigned users; /* the threads, and the thread that waits for them */
    char *wanted;   /* the name whose address is wanted (count is 1); NULL: names are wanted */
    size_t count, next, pending;
    struct host hosts[];
};

struct hosts *hosts_create(void)
{
    return calloc(1, sizeof(struct hosts));
}

static struct host *host_at(const struct hosts *hosts, size_t index)
{
    return hash_table_at(&hosts->table, index);
}

void hosts_destroy(struct hosts *hosts)
{
    if (!hosts)
        return;
    for (size_t i = 0; i < hosts->table.count; i++)
        free(host_at(hosts, i)->name);
    hash_table_finish(&hosts->table);
    free(hosts);
}

/* Keyed, so that peers cannot choose addresses that collide. */
static uint64_t hosts_hash_of(const struct address *address)
{
    return hash_word(hash_bytes(hash_seed(), address->bytes, sizeof address->bytes),
                     address->family);
}

static bool has_address(const void *element, const void *key)
{
    return address_equal(&((const struct host *)element)->address, key);
}

int hosts_add(struct hosts *hosts, const struct address *address)
{
    const uint64_t hash = hosts_hash_of(address);
    if (address_size(address) == 0 || address_is_unspecified(address) ||
        hash_table_find(&hosts->table, hash, has_address, address))
        return 0;
    struct host *added = hash_table_add(&hosts->table, hash, sizeof *added);
    if (!added)
        return -ENOMEM;
    added->address = *address;
    return 0;
}

const char *hosts_name(const struct hosts *hosts, const struct address *address)
{
    const struct host *known =
        hash_table_find(&hosts->table, hosts_hash_of(address), has_address, address);
    return known ? known->name : NULL;
}

/* Looks up the name of an address. host->error stays 0 if a server was asked, also if the server
 * has no name. A resolver that cannot open a file or a socket returns the same status as without an
 * answer, so errno is checked. */
static void ask_name(struct host *host)
{
    char name[NI_MAXHOST];
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } address = {.any.sa_family = host->address.family};
    socklen_t length = sizeof address.in;

    if (host->address.family == AF_INET) {
        memcpy(&address.in.sin_addr, host->address.bytes, sizeof address.in.sin_addr);
    } else {
        memcpy(&address.in6.sin6_addr, host->address.bytes, sizeof address.in6.sin6_addr);
        length = sizeof address.in6;
    }
    errno = 0;
    const int status = getnameinfo(&address.any, length, name, sizeof name, NULL, 0, NI_NAMEREQD);
    if (status == EAI_MEMORY || (status == 0 && !(host->name = strdup(name))))
        host->error = ENOMEM;
    else if (status == EAI_SYSTEM ||
             (status != 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)))
        host->error = errno;
}

static void ask_address(const char *name, struct host *host)
{
    char buffer[ANSWER_MAX];
    struct hostent entry, *found = NULL;

    if (gethostbyname_r(name, &entry, buffer, sizeof buffer, &found, &host->error) == 0 && found &&
        found->h_addrtype == AF_INET && found->h_length == sizeof(struct in_addr) &&
        found->h_addr_list[0])
        host->address = address_make(AF_INET, found->h_addr_list[0]);
}

/* Call this with the lock held; it releases the lock. The last user frees the round. */
static void round_leave(struct round *round)
{
    const bool last = --round->users == 0;
    pthread_mutex_unlock(&round->lock);
    if (!last)
        return;
    for (size_t i = 0; i < round->count; i++)
        free(round->hosts[i].name);
    free(round->wanted);
    pthread_cond_destroy(&round->answered);
    pthread_mutex_destroy(&round->lock);
    free(round);
}

static void *hosts_work(void *arg)
{
    struct round *round = arg;
    pthread_mutex_lock(&round->lock);
    while (round->next < round->count) {
        struct host *host = &round->hosts[round->next++];
        struct host answer = *host;
        pthread_mutex_unlock(&round->lock);
        if (round->wanted)
            ask_address(round->wanted, &answer);
        else
            ask_name(&answer);
        pthread_mutex_lock(&round->lock);
        *host = answer;
        if (--round->pending == 0)
            pthread_cond_signal(&round->answered);
    }
    round_leave(round);
    return NULL;
}

/* Copies the hosts. wanted: see struct round. Returns NULL when memory is short. */
static struct round *round_create(const struct host *hosts, size_t count, const char *wanted)
{
    pthread_condattr_t monotonic;
    struct round *round = calloc(1, sizeof *round + count * sizeof round->hosts[0]);
    if (!round)
        return NULL;
    if (wanted && !(round->wanted = strdup(wanted))) {
        free(round);
        return NULL;
    }
    round->users = 1;
    round->count = round->pending = count;
    memcpy(round->hosts, hosts, count * sizeof *hosts);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&round->answered, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&round->lock, NULL);
    return round;
}

/* Call this with the round's lock held. Returns 0 if at least one thread works, or -errno. */
static int round_start(struct round *round)
{
    int error = 0;

    while (error == 0 && round->users <= THREADS_MAX && round->users <= round->count) {
        pthread_t thread;
        error = thread_start(&thread, hosts_work, round);
        if (error == 0) {
            pthread_detach(thread);
            round->users++;
        }
    }
    return round->users > 1 ? 0 : error;
}

/* Waits until no lookup is pending, or until the time `end`. Call this with the lock held. */
static void round_await(struct round *round, uint64_t end)
{
    const struct timespec deadline = {(time_t)(end / CLOCK_SECOND), (long)(end % CLOCK_SECOND)};
    int waited = 0;

    while (round->pending > 0 && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&round->answered, &round->lock, &deadline);
}

/* Calls `wait` without the lock, so that the threads can continue. */
static void round_call(struct round *round, hosts_wait_fn wait, size_t count)
{
    pthread_mutex_unlock(&round->lock);
    wait(count, round->wanted);
    pthread_mutex_lock(&round->lock);
}

/* Like round_await(). If that takes long, calls `wait` first, and again with 0 at the end. */
static void round_wait(struct round *round, uint64_t end, hosts_wait_fn wait)
{
    const uint64_t slow = clock_nanoseconds(CLOCK_MONOTONIC) + HOSTS_SLOW;

    if (wait && slow < end)
        round_await(round, slow);
    if (wait && slow < end && round->pending > 0) {
        round_call(round, wait, round->count);
        round_await(round, end);
        round_call(round, wait, 0);
    }
    round_await(round, end);
}

/* Fills in the answers that came in time. Returns the number of missing answers, or -errno. */
static int hosts_resolve_address(struct host *hosts, size_t count, const char *wanted,
                                 unsigned milliseconds, hosts_wait_fn wait)
{
    const uint64_t end = clock_nanoseconds(CLOCK_MONOTONIC) + milliseconds * UINT64_C(1000000);
    struct round *round = round_create(hosts, count, wanted);
    if (!round)
        return -ENOMEM;

    pthread_mutex_lock(&round->lock);
    int status = round_start(round);
    if (status == 0) {
        round_wait(round, end, wait);
        for (size_t i = 0; i < round->count; i++) {
            hosts[i] = round->hosts[i];
            round->hosts[i].name = NULL;
        }
        round->next = round->count; /* the threads take no further hosts */
        status = (int)round->pending;
    }
    round_leave(round);
    return status;
}

int hosts_resolve(struct hosts *hosts, unsigned milliseconds, hosts_wait_fn wait)
{
    const size_t first = hosts->asked, count = hosts->table.count - first;
    if (count == 0)
        return 0;
    hosts->asked = hosts->table.count;
    if (milliseconds == 0)
        return (int)count;
    return hosts_resolve_address(host_at(hosts, first), count, NULL, milliseconds, wait);
}

int hosts_error(const struct hosts *hosts)
{
    for (size_t i = 0; hosts && i < hosts->asked; i++)
        if (host_at(hosts, i)->error != 0)
            return host_at(hosts, i)->error;
    return 0;
}

int hosts_find(const char *name, unsigned milliseconds, uint8_t address[4], int *error,
               hosts_wait_fn wait)
{
    struct host host = {.address = {.family = AF_UNSPEC}, .error = HOST_NOT_FOUND};
    const int unanswered = hosts_resolve_address(&host, 1, name, milliseconds, wait);

    if (unanswered != 0)
        return unanswered < 0 ? unanswered : -ETIMEDOUT;
    *error = host.error;
    if (host.address.family == AF_UNSPEC)
        return -ENOENT;
    memcpy(address, host.address.bytes, sizeof(struct in_addr));
    return 0;
}
