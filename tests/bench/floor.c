/*
 * The floor of a listing: asks the kernel the same as fastnet does, receives the answer and counts
 * its messages. What fastnet takes longer than this is what decoding and printing cost.
 *
 *   floor tcp|udp [STATES [EXTENSIONS [PORT]]]
 *                             both families; STATES is a mask of (1 << TCP_*), all by default,
 *                             EXTENSIONS one of (1 << (INET_DIAG_* - 1)); PORT is the remote one
 *                             of the sockets that the kernel does not leave out
 *   floor unix_diag           netlink alone
 *   floor unix                /proc/net/unix, too, which has what netlink does not tell
 *   floor flows               the connection tracking table
 *   floor arp                 IPv4 neighbours, then the addresses that are answered for
 *   floor neigh               the same of both families
 *   floor routes|routes6      the main table of IPv4, all of IPv6
 *   floor interfaces          addresses, then interfaces
 *   floor read FILE...        reads files and counts their lines
 */
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/inet_diag.h>
#include <linux/neighbour.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_SIZE = 64 * 1024, REQUEST_SIZE = 128, ALL_STATES = 0xfff, MORE = 1 };

static char buffer[BUFFER_SIZE];

/* Counts a datagram's rows; returns MORE, 0 at the end of the dump, or -errno. */
static int count_rows(size_t length, size_t *rows)
{
    const struct nlmsghdr *message = (const void *)buffer;
    int left = (int)length;

    for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
        if (message->nlmsg_type == NLMSG_DONE)
            return 0;
        if (message->nlmsg_type == NLMSG_ERROR)
            return ((const struct nlmsgerr *)mnl_nlmsg_get_payload(message))->error;
        ++*rows;
    }
    return MORE;
}

static int dump(const struct mnl_socket *netlink, const struct nlmsghdr *request, size_t *rows)
{
    int result = MORE;

    if (mnl_socket_sendto(netlink, request, request->nlmsg_len) < 0)
        return -errno;
    while (result == MORE) {
        ssize_t length = recv(mnl_socket_get_fd(netlink), buffer, sizeof buffer, 0);
        if (length < 0)
            return -errno;
        result = count_rows((size_t)length, rows);
    }
    return result;
}

static struct nlmsghdr *request_header(char *place)
{
    struct nlmsghdr *request = mnl_nlmsg_put_header(place);

    request->nlmsg_type = SOCK_DIAG_BY_FAMILY;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    return request;
}

/* What is asked for of TCP and UDP. */
struct wanted {
    uint32_t states;
    uint8_t extensions;
    uint16_t port; /* 0: any */
};

/* Two tests, as fastnet makes them. The program fails four bytes behind its end. */
static void put_port(struct nlmsghdr *request, uint16_t port)
{
    enum { TEST_SIZE = 2 * sizeof(struct inet_diag_bc_op) };
    const struct inet_diag_bc_op program[] = {
        {.code = INET_DIAG_BC_D_GE, .yes = TEST_SIZE, .no = 2 * TEST_SIZE + 4},
        {.no = port},
        {.code = INET_DIAG_BC_D_LE, .yes = TEST_SIZE, .no = TEST_SIZE + 4},
        {.no = port},
    };

    if (port)
        mnl_attr_put(request, INET_DIAG_REQ_BYTECODE, sizeof program, program);
}

/* TCP of both families by the request that is older than sock_diag: one walk of the table. */
static int dump_tcp(const struct mnl_socket *netlink, const struct wanted *wanted, size_t *rows)
{
    char place[REQUEST_SIZE];
    struct nlmsghdr *request = request_header(place);
    struct inet_diag_req *body = mnl_nlmsg_put_extra_header(request, sizeof *body);

    request->nlmsg_type = TCPDIAG_GETSOCK;
    body->idiag_family = AF_INET;
    body->idiag_states = wanted->states;
    body->idiag_ext = wanted->extensions;
    put_port(request, wanted->port);
    return dump(netlink, request, rows);
}

static int dump_udp(const struct mnl_socket *netlink, const struct wanted *wanted, size_t *rows)
{
    static const uint8_t families[] = {AF_INET, AF_INET6};
    char place[REQUEST_SIZE];
    int result = 0;

    for (size_t i = 0; i < sizeof families && result == 0; i++) {
        struct nlmsghdr *request = request_header(place);
        struct inet_diag_req_v2 *body = mnl_nlmsg_put_extra_header(request, sizeof *body);
        body->sdiag_family = families[i];
        body->sdiag_protocol = IPPROTO_UDP;
        body->idiag_states = wanted->states;
        body->idiag_ext = wanted->extensions;
        put_port(request, wanted->port);
        result = dump(netlink, request, rows);
    }
    return result;
}

static int floor_of_file(const char *path, size_t *rows)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = 0;

    if (fd < 0)
        return -errno;
    while ((length = read(fd, buffer, sizeof buffer)) > 0)
        for (const char *at = buffer; (at = memchr(at, '\n', (size_t)(buffer + length - at))); at++)
            ++*rows;
    close(fd);
    return length < 0 ? -errno : 0;
}

static int dump_unix(const struct mnl_socket *netlink, size_t *rows)
{
    char place[REQUEST_SIZE];
    struct nlmsghdr *request = request_header(place);
    struct unix_diag_req *body = mnl_nlmsg_put_extra_header(request, sizeof *body);

    body->sdiag_family = AF_UNIX;
    body->udiag_states = UINT32_MAX;
    body->udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_RQLEN;
    return dump(netlink, request, rows);
}

static int dump_flows(const struct mnl_socket *netlink, size_t *rows)
{
    char place[REQUEST_SIZE];
    struct nlmsghdr *request = request_header(place);
    struct nfgenmsg *body = mnl_nlmsg_put_extra_header(request, sizeof *body);

    request->nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET;
    body->nfgen_family = AF_UNSPEC;
    return dump(netlink, request, rows);
}

static int dump_neighbours(const struct mnl_socket *netlink, uint8_t family, size_t *rows)
{
    static const uint8_t flags[] = {0, NTF_PROXY};
    char place[REQUEST_SIZE];
    int result = 0;

    for (size_t i = 0; i < sizeof flags && result == 0; i++) {
        struct nlmsghdr *request = request_header(place);
        struct ndmsg *body = mnl_nlmsg_put_extra_header(request, sizeof *body);
        request->nlmsg_type = RTM_GETNEIGH;
        body->ndm_family = family;
        body->ndm_flags = flags[i];
        result = dump(netlink, request, rows);
    }
    return result;
}

static int dump_routes(const struct mnl_socket *netlink, uint8_t family, size_t *rows)
{
    char place[REQUEST_SIZE];
    struct nlmsghdr *request = request_header(place);
    struct rtmsg *body = mnl_nlmsg_put_extra_header(request, sizeof *body);

    request->nlmsg_type = RTM_GETROUTE;
    body->rtm_family = family;
    if (family == AF_INET)
        mnl_attr_put_u32(request, RTA_TABLE, RT_TABLE_MAIN);
    return dump(netlink, request, rows);
}

static int dump_interfaces(const struct mnl_socket *netlink, size_t *rows)
{
    char place[REQUEST_SIZE];
    struct nlmsghdr *request = request_header(place);
    int result;

    request->nlmsg_type = RTM_GETADDR;
    mnl_nlmsg_put_extra_header(request, sizeof(struct ifaddrmsg));
    result = dump(netlink, request, rows);
    if (result)
        return result;
    request = request_header(place);
    request->nlmsg_type = RTM_GETLINK;
    mnl_nlmsg_put_extra_header(request, sizeof(struct ifinfomsg));
    return dump(netlink, request, rows);
}

static int protocol_of(const char *what)
{
    if (strcmp(what, "flows") == 0)
        return NETLINK_NETFILTER;
    if (strncmp(what, "routes", 6) == 0 || strcmp(what, "interfaces") == 0 ||
        strcmp(what, "arp") == 0 || strcmp(what, "neigh") == 0)
        return NETLINK_ROUTE;
    return NETLINK_SOCK_DIAG;
}

static int floor_of_netlink(const char *what, const struct wanted *wanted, size_t *rows)
{
    struct mnl_socket *netlink = mnl_socket_open(protocol_of(what));
    int on = 1;
    int result;

    if (!netlink)
        return -errno;
    mnl_socket_setsockopt(netlink, NETLINK_GET_STRICT_CHK, &on, sizeof on);
    mnl_socket_setsockopt(netlink, NETLINK_EXT_ACK, &on, sizeof on);
    if (mnl_socket_bind(netlink, 0, MNL_SOCKET_AUTOPID) < 0)
        result = -errno;
    else if (strcmp(what, "flows") == 0)
        result = dump_flows(netlink, rows);
    else if (strcmp(what, "arp") == 0 || strcmp(what, "neigh") == 0)
        result = dump_neighbours(netlink, *what == 'a' ? AF_INET : AF_UNSPEC, rows);
    else if (strncmp(what, "routes", 6) == 0)
        result = dump_routes(netlink, what[6] == '6' ? AF_INET6 : AF_INET, rows);
    else if (strcmp(what, "interfaces") == 0)
        result = dump_interfaces(netlink, rows);
    else if (strncmp(what, "unix", 4) == 0)
        result = dump_unix(netlink, rows);
    else if (strcmp(what, "udp") == 0)
        result = dump_udp(netlink, wanted, rows);
    else
        result = dump_tcp(netlink, wanted, rows);
    mnl_socket_close(netlink);
    return result;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "tcp";
    const struct wanted wanted = {
        .states = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : ALL_STATES,
        .extensions = argc > 3 ? (uint8_t)strtoul(argv[3], NULL, 0) : 0,
        .port = argc > 4 ? (uint16_t)strtoul(argv[4], NULL, 0) : 0,
    };
    const bool is_read = strcmp(what, "read") == 0;
    size_t rows = 0;
    int result = 0;

    if (strcmp(what, "unix") == 0)
        result = floor_of_file("/proc/net/unix", &rows);
    for (int i = 2; i < argc && result == 0 && is_read; i++)
        result = floor_of_file(argv[i], &rows);
    if (result == 0 && !is_read)
        result = floor_of_netlink(what, &wanted, &rows);
    if (result < 0) {
        fprintf(stderr, "floor: %s\n", strerror(-result));
        return EXIT_FAILURE;
    }
    fprintf(stderr, "%zu\n", rows);
    return EXIT_SUCCESS;
}
