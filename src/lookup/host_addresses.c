/* SPDX-License-Identifier: MIT */
/* Finds all addresses of a host name. A child asks the resolver, which may load modules of
 * nsswitch.conf(5): the child has no rights, and this process keeps the rights that a listing
 * needs. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastnet/addresses.h"
#include "fastnet/clock.h"
#include "fastnet/hosts.h"
#include "fastnet/namespace.h"
#include "fastnet/rights.h"

/* A message of the child: an address; or the end, whose address is AF_UNSPEC. */
struct found_address {
    struct address address;
    uint32_t interface;
    int error; /* in the end: 0 or EAI_* */
};

static struct found_address address_of(const struct addrinfo *info)
{
    struct found_address found = {.address.family = AF_UNSPEC};
    struct sockaddr_in in;
    struct sockaddr_in6 in6;

    if (info->ai_family == AF_INET && info->ai_addrlen >= sizeof in) {
        memcpy(&in, info->ai_addr, sizeof in);
        found.address = address_make(AF_INET, &in.sin_addr);
    } else if (info->ai_family == AF_INET6 && info->ai_addrlen >= sizeof in6) {
        memcpy(&in6, info->ai_addr, sizeof in6);
        found.address = address_make(AF_INET6, &in6.sin6_addr);
        found.interface = in6.sin6_scope_id;
    }
    return found;
}

/* Looks up the name, and passes each address and the end to `take`. flags: AI_* of getaddrinfo(3).
 * Returns the error of getaddrinfo(3). */
static int host_addresses_look_up(const char *name, int family, int flags,
                                  bool (*take)(const struct found_address *found, void *arg),
                                  void *arg)
{
    const struct addrinfo hints = {
        .ai_family = family, .ai_flags = flags, .ai_socktype = SOCK_STREAM};
    struct found_address end = {.address.family = AF_UNSPEC};
    struct addrinfo *all = NULL;
    bool goes_on = true;

    end.error = getaddrinfo(name, NULL, &hints, &all);
    if (end.error == 0) {
        for (const struct addrinfo *info = all; info && goes_on; info = info->ai_next) {
            const struct found_address found = address_of(info);
            goes_on = found.address.family == AF_UNSPEC || take(&found, arg);
        }
        freeaddrinfo(all);
    }
    if (goes_on)
        take(&end, arg);
    return end.error;
}

/* Runs in the child: writes to the pipe. */
static bool host_addresses_write(const struct found_address *found, void *arg)
{
    const int *pipe = arg;

    return write(*pipe, found, sizeof *found) == (ssize_t)sizeof *found;
}

/* Waits until the pipe can be read. Returns 0, -ETIMEDOUT at the time `end`, or -errno. */
static int await(int pipe, uint64_t end)
{
    struct pollfd readable = {.fd = pipe, .events = POLLIN};
    uint64_t now;

    while ((now = clock_nanoseconds(CLOCK_MONOTONIC)) < end) {
        const int ready = poll(&readable, 1, (int)((end - now) / 1000000) + 1);
        if (ready > 0)
            return 0;
        if (ready < 0 && errno != EINTR)
            return -errno;
    }
    return -ETIMEDOUT;
}

/* Stores an address, or the error of the end. */
static bool host_addresses_take(const struct found_address *found, void *arg)
{
    struct addresses *addresses = arg;

    if (found->address.family == AF_UNSPEC) {
        addresses->error = found->error;
    } else if (addresses->count == ADDRESSES_MAX) {
        addresses->more++;
    } else {
        addresses->interfaces[addresses->count] = found->interface;
        addresses->list[addresses->count++] = found->address;
    }
    return true;
}

/* Reads up to the end. A resolver that crashes writes no end. Returns 0 or -errno. */
static int host_addresses_read(int pipe, uint64_t deadline, struct addresses *addresses)
{
    addresses->error = EAI_FAIL;
    for (;;) {
        struct found_address found;
        const int error = await(pipe, deadline);
        if (error < 0)
            return error;
        if (read(pipe, &found, sizeof found) != (ssize_t)sizeof found)
            return 0;
        host_addresses_take(&found, addresses);
        if (found.address.family == AF_UNSPEC)
            return 0;
    }
}

/* Fills *found. netns: descriptor of a network namespace to look up the name in; 0: this thread's.
 * Returns 0, -ETIMEDOUT, or another -errno. */
static int host_addresses_ask(struct addresses *found, const char *name, int family, int netns,
                              unsigned milliseconds, hosts_wait_fn wait)
{
    const uint64_t start = clock_nanoseconds(CLOCK_MONOTONIC),
                   deadline = start + milliseconds * UINT64_C(1000000);
    int ends[2], result;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    child = fork();
    if (child == 0) {
        if (netns && namespace_enter(netns) < 0)
            _exit(1);
        rights_drop();
        host_addresses_look_up(name, family, 0, host_addresses_write, &ends[1]);
        _exit(0);
    }
    result = child < 0 ? -errno : 0;
    close(ends[1]);
    if (child > 0) {
        if (wait && start + HOSTS_SLOW < deadline && await(ends[0], start + HOSTS_SLOW) < 0) {
            wait(1, name);
            (void)await(ends[0], deadline);
            wait(0, name);
        }
        result = host_addresses_read(ends[0], deadline, found);
        kill(child, SIGKILL); /* it has answered, or its answer comes too late */
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    close(ends[0]);
    return result;
}

int hosts_addresses(const char *name, uint8_t family, int netns, unsigned milliseconds,
                    struct address addresses[], size_t most, hosts_wait_fn wait)
{
    struct addresses found = {.count = 0};
    const int result = host_addresses_ask(&found, name, family, netns, milliseconds, wait);

    if (result < 0 || !found.count)
        return result < 0 ? result : -ENOENT;
    if (found.count < most)
        most = found.count;
    memcpy(addresses, found.list, most * sizeof *addresses);
    return (int)most;
}

int addresses_find(struct addresses *found, const char *name, int family, unsigned milliseconds)
{
    *found = (struct addresses){.count = 0};
    /* a numeric address needs no resolver, and no child */
    if (host_addresses_look_up(name, family, AI_NUMERICHOST, host_addresses_take, found) == 0)
        return 0;
    found->error = 0;
    const int result = host_addresses_ask(found, name, family, 0, milliseconds, NULL);
    if (result == -ETIMEDOUT) {
        *found = (struct addresses){.error = ADDRESSES_NO_ANSWER};
        return 0;
    }
    return result;
}

const char *addresses_error(int error)
{
    return error == ADDRESSES_NO_ANSWER ? "no answer in time" : gai_strerror(error);
}
