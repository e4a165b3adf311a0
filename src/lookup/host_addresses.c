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
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastnet/clock.h"
#include "fastnet/hosts.h"
#include "fastnet/namespace.h"
#include "fastnet/rights.h"

static struct address address_of(const struct addrinfo *info)
{
    struct sockaddr_in in;
    struct sockaddr_in6 in6;

    if (info->ai_family == AF_INET && info->ai_addrlen >= sizeof in) {
        memcpy(&in, info->ai_addr, sizeof in);
        return address_make(AF_INET, &in.sin_addr);
    }
    if (info->ai_family == AF_INET6 && info->ai_addrlen >= sizeof in6) {
        memcpy(&in6, info->ai_addr, sizeof in6);
        return address_make(AF_INET6, &in6.sin6_addr);
    }
    return (struct address){.family = AF_UNSPEC};
}

/* Runs in the child: writes the addresses that it finds to the pipe. netns: descriptor of a network
 * namespace to enter first; 0: none. */
static void host_addresses_ask(const char *name, uint8_t family, int netns, size_t most, int pipe)
{
    const struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM};
    struct addrinfo *all = NULL;

    if (netns && namespace_enter(netns) < 0)
        return;
    rights_drop();
    if (getaddrinfo(name, NULL, &hints, &all) != 0)
        return;
    for (const struct addrinfo *info = all; info && most; info = info->ai_next) {
        const struct address address = address_of(info);
        if (address.family == AF_UNSPEC)
            continue;
        if (write(pipe, &address, sizeof address) < 0)
            break;
        most--;
    }
    freeaddrinfo(all);
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

/* Reads addresses up to the end of the pipe. Returns their number, or -errno. */
static int host_addresses_take(int pipe, uint64_t deadline, struct address addresses[], size_t most)
{
    size_t count = 0;

    for (;;) {
        struct address address;
        ssize_t length;
        const int error = await(pipe, deadline);
        if (error < 0)
            return error;
        length = read(pipe, &address, sizeof address);
        if (length != (ssize_t)sizeof address || count == most)
            return (int)count;
        addresses[count++] = address;
    }
}

int hosts_addresses(const char *name, uint8_t family, int netns, unsigned milliseconds,
                    struct address addresses[], size_t most, hosts_wait_fn wait)
{
    const uint64_t start = clock_nanoseconds(CLOCK_MONOTONIC),
                   deadline = start + milliseconds * UINT64_C(1000000);
    int ends[2], result;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    child = fork();
    if (child == 0) {
        host_addresses_ask(name, family, netns, most, ends[1]);
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
        result = host_addresses_take(ends[0], deadline, addresses, most);
        kill(child, SIGKILL); /* it has answered, or its answer comes too late */
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    close(ends[0]);
    return result == 0 ? -ENOENT : result;
}
