/* SPDX-License-Identifier: MIT */
/*
 * The floor of a listing: asks the kernel the same as the listing does, receives the answers and
 * discards them. What the listing takes longer than this is what decoding and printing cost.
 *
 *   floor WORD...        in this order:
 *     PROTOCOL=HEX           a request over netlink, until its answer ends
 *     SIOCGIFNAME=INDEX      the name of an interface
 *     SIOCGIFHWADDR=NAME     its address
 *     PATH                   a file
 *
 * `requests` prints these words for a command.
 */
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* As fastnet has them. */
enum { DATAGRAM_SIZE = 64 * 1024, FILE_SIZE = 128 * 1024, REQUEST_SIZE = 64 * 1024 };

static char buffer[FILE_SIZE];

static const struct protocol {
    const char *name; /* as strace has it */
    int number;
} protocols[] = {
    {"ROUTE", NETLINK_ROUTE},
    {"SOCK_DIAG", NETLINK_SOCK_DIAG},
    {"NETFILTER", NETLINK_NETFILTER},
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "floor: %.80s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static int protocol_of(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
        if (strlen(protocols[i].name) == length && strncmp(protocols[i].name, name, length) == 0)
            return protocols[i].number;
    errno = EPROTONOSUPPORT;
    die(name);
}

/* The socket of a protocol, opened when it is first asked for. */
static struct mnl_socket *netlink_of(int protocol)
{
    static struct mnl_socket *opened[MAX_LINKS];
    struct mnl_socket *netlink = opened[protocol];
    int on = 1;

    if (netlink)
        return netlink;
    netlink = mnl_socket_open(protocol);
    if (!netlink || mnl_socket_bind(netlink, 0, MNL_SOCKET_AUTOPID) < 0)
        die("netlink");
    mnl_socket_setsockopt(netlink, NETLINK_GET_STRICT_CHK, &on, sizeof on);
    mnl_socket_setsockopt(netlink, NETLINK_EXT_ACK, &on, sizeof on);
    return opened[protocol] = netlink;
}

/* Returns whether the answer ends with this datagram. */
static int is_last(const struct nlmsghdr *request, size_t length)
{
    const struct nlmsghdr *message = (const void *)buffer;
    int left = (int)length;

    for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
        if (message->nlmsg_type == NLMSG_ERROR) {
            errno = -((const struct nlmsgerr *)mnl_nlmsg_get_payload(message))->error;
            if (errno)
                die("the kernel refuses");
        }
        if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR)
            return 1;
    }
    return !(request->nlmsg_flags & (NLM_F_DUMP | NLM_F_ACK));
}

static unsigned digit(char hex)
{
    return (unsigned)(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

static size_t unhex(const char *hex, unsigned char *bytes)
{
    size_t count = 0;

    for (; count < REQUEST_SIZE && hex[0] && hex[1]; hex += 2)
        bytes[count++] = (unsigned char)(digit(hex[0]) << 4 | digit(hex[1]));
    return count;
}

static void ask_netlink(int protocol, const char *hex)
{
    static _Alignas(struct nlmsghdr) unsigned char place[REQUEST_SIZE];
    struct mnl_socket *netlink = netlink_of(protocol);
    struct nlmsghdr *request = (void *)place;
    size_t size = unhex(hex, place);
    ssize_t length;

    request->nlmsg_pid = mnl_socket_get_portid(netlink);
    if (mnl_socket_sendto(netlink, request, size) < 0)
        die("send");
    do {
        length = recv(mnl_socket_get_fd(netlink), buffer, DATAGRAM_SIZE, 0);
        if (length < 0)
            die("recv");
    } while (!is_last(request, (size_t)length));
}

/* Interfaces may be gone: what the kernel says is discarded, too. */
static void ask_interface(uint16_t what, const char *which)
{
    static int fd = -1;
    struct ifreq request = {0};

    if (fd < 0)
        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (what == SIOCGIFNAME)
        request.ifr_ifindex = (int)strtol(which, NULL, 10);
    else
        memccpy(request.ifr_name, which, 0, sizeof request.ifr_name - 1);
    ioctl(fd, what, &request);
}

static void read_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length;

    if (fd < 0)
        die(path);
    do
        length = read(fd, buffer, sizeof buffer);
    while (length > 0);
    if (length < 0)
        die(path);
    close(fd);
}

static void ask(const char *word)
{
    const size_t length = strcspn(word, "=");
    const char *value = word + length + 1;

    if (*word == '/')
        read_file(word);
    else if (strncmp(word, "SIOCGIFNAME=", length + 1) == 0)
        ask_interface(SIOCGIFNAME, value);
    else if (strncmp(word, "SIOCGIFHWADDR=", length + 1) == 0)
        ask_interface(SIOCGIFHWADDR, value);
    else
        ask_netlink(protocol_of(word, length), value);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        ask(argv[i]);
    return EXIT_SUCCESS;
}
