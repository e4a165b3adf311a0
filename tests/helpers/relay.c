/* SPDX-License-Identifier: MIT */
/*
 * A path between two network namespaces that delays and drops packets, for kernels without netem.
 *
 *     relay NAMESPACE [PREFIX MILLISECONDS PERMILLE]...
 *
 * Makes the TUN interface relay0 here and in NAMESPACE, and carries packets between them. A packet
 * from or to an address that begins with the bytes of PREFIX, such as 10.9.3.0/24, is dropped with
 * a probability of PERMILLE in 1000, or else delivered MILLISECONDS later in each direction. The
 * first PREFIX counts; other packets are delivered at once. Prints "ready", and ends when stdin
 * does.
 */
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>

#include "sockets.h"

enum { RULES_MAX = 16, QUEUE = 4096, PACKET_MAX = 2048, FAMILY4 = 4 };

struct packet {
    uint64_t due; /* CLOCK_MONOTONIC, nanoseconds */
    int to;       /* file descriptor */
    size_t size;
    uint8_t data[PACKET_MAX];
};

/* All packets of a rule wait for the same time, so they leave in the order in which they came. */
struct relay_rule {
    uint8_t bytes[16];
    unsigned bits, version;
    uint64_t delay;
    long permille;
    struct packet *queue; /* QUEUE packets */
    size_t first, count;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int tun_open(void)
{
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI, .ifr_name = "relay0"};
    const int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) < 0)
        err(1, "/dev/net/tun");
    return fd;
}

static int tun_open_in(const char *namespace)
{
    char path[256];

    snprintf(path, sizeof path, "/run/netns/%s", namespace);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
        err(1, "%s", path);
    return tun_open();
}

static struct relay_rule rule_of(const char *prefix, const char *milliseconds, const char *permille)
{
    struct relay_rule rule = {.delay = strtoul(milliseconds, NULL, 10) * 1000000,
                              .permille = strtol(permille, NULL, 10),
                              .version = strchr(prefix, ':') ? 6 : FAMILY4};
    const char *slash = strchr(prefix, '/');
    char address[64];

    snprintf(address, sizeof address, "%.*s", (int)strcspn(prefix, "/"), prefix);
    rule.bits = slash ? (unsigned)strtoul(slash + 1, NULL, 10) : 129;
    if (rule.bits > 128 ||
        inet_pton(rule.version == 6 ? AF_INET6 : AF_INET, address, rule.bytes) != 1)
        errx(2, "not a prefix: %s", prefix);
    rule.queue = calloc(QUEUE, sizeof *rule.queue);
    if (!rule.queue)
        err(1, "calloc");
    return rule;
}

static bool begins_with(const uint8_t *address, const struct relay_rule *rule)
{
    const unsigned whole = rule->bits / 8, rest = rule->bits % 8;

    return memcmp(address, rule->bytes, whole) == 0 &&
           (!rest || (address[whole] ^ rule->bytes[whole]) >> (8 - rest) == 0);
}

static struct relay_rule *rule_for(struct relay_rule *rules, size_t count, const uint8_t *packet)
{
    const unsigned version = packet[0] >> 4;
    const size_t source = version == 6 ? 8 : 12, size = version == 6 ? 16 : 4;

    for (size_t i = 0; i < count; i++)
        if (rules[i].version == version && (begins_with(packet + source, &rules[i]) ||
                                            begins_with(packet + source + size, &rules[i])))
            return &rules[i];
    return NULL;
}

static void relay_take(struct relay_rule *rules, size_t count, int from, int to)
{
    uint8_t data[PACKET_MAX] = {0};
    ssize_t size;

    while ((size = read(from, data, sizeof data)) > 0) {
        struct relay_rule *rule = rule_for(rules, count, data);
        if (rule && (rule->count == QUEUE || random() % 1000 < rule->permille))
            continue;
        if (!rule || !rule->delay) {
            (void)!write(to, data, (size_t)size);
            continue;
        }
        struct packet *packet = &rule->queue[(rule->first + rule->count++) % QUEUE];
        packet->due = now_ns() + rule->delay;
        packet->to = to;
        packet->size = (size_t)size;
        memcpy(packet->data, data, (size_t)size);
    }
}

/* Delivers the packets that are due. Returns the nanoseconds until the next packet is due. */
static uint64_t relay_deliver(struct relay_rule *rules, size_t count)
{
    uint64_t next = 1000000000;

    for (size_t i = 0; i < count; i++)
        while (rules[i].count) {
            const struct packet *packet = &rules[i].queue[rules[i].first];
            const uint64_t now = now_ns();
            if (packet->due > now) {
                next = packet->due - now < next ? packet->due - now : next;
                break;
            }
            (void)!write(packet->to, packet->data, packet->size);
            rules[i].first = (rules[i].first + 1) % QUEUE;
            rules[i].count--;
        }
    return next;
}

int main(int argc, char **argv)
{
    struct relay_rule rules[RULES_MAX];
    size_t count = 0;

    if (argc < 2 || argc % 3 != 2 || argc > 2 + 3 * RULES_MAX)
        errx(2, "usage: relay NAMESPACE [PREFIX MILLISECONDS PERMILLE]...");
    for (char **word = argv + 2; *word; word += 3)
        rules[count++] = rule_of(word[0], word[1], word[2]);
    struct pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {tun_open(), POLLIN, 0}, {-1, POLLIN, 0}};
    fds[2].fd = tun_open_in(argv[1]);
    puts("ready");
    fflush(stdout);
    while (!fds[0].revents) {
        const uint64_t next = relay_deliver(rules, count);
        const struct timespec time = {.tv_sec = (time_t)(next / 1000000000),
                                      .tv_nsec = (long)(next % 1000000000)};
        (void)ppoll(fds, ARRAY_SIZE(fds), &time, NULL);
        relay_take(rules, count, fds[1].fd, fds[2].fd);
        relay_take(rules, count, fds[2].fd, fds[1].fd);
    }
    return 0;
}
