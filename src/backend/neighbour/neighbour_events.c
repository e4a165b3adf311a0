/* SPDX-License-Identifier: MIT */
#include "fastnet/neighbour_events.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/interface/decode.h"
#include "backend/neighbour/decode.h"
#include "backend/netlink/netlink.h"
#include "fastnet/array.h"
#include "fastnet/record.h"
#include "fastnet/report.h"

/* Room for some 10,000 events, if the user may have it. */
enum { EVENTS_BUFFER = 4 << 20 };

/* Fields are in the machine's byte order, but the program loads them in network byte order. */
size_t neighbour_filter_make(struct sock_filter *code)
{
    enum { FAMILY = NLMSG_HDRLEN, STATE = NLMSG_HDRLEN + offsetof(struct ndmsg, ndm_state) };
    const struct sock_filter program[NEIGHBOUR_FILTER_SIZE] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, offsetof(struct nlmsghdr, nlmsg_type)),
        BPF_JUMP(BPF_JMP | BPF_JEQ, htons(RTM_DELADDR), 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ, htons(RTM_NEWNEIGH), 0, 6),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FAMILY),
        BPF_JUMP(BPF_JMP | BPF_JEQ, AF_INET, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ, AF_INET6, 0, 3),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, STATE),
        BPF_JUMP(BPF_JMP | BPF_JSET, htons(NUD_REACHABLE | NUD_STALE), 0, 1),
        BPF_STMT(BPF_RET, UINT32_MAX),
        BPF_STMT(BPF_RET, 0),
    };

    memcpy(code, program, sizeof program);
    return COUNT(program);
}

int neighbour_events_open(struct netlink *netlink)
{
    const struct netlink_listening listening = {
        .protocol = NETLINK_ROUTE,
        .groups = 1u << (RTNLGRP_NEIGH - 1) | 1u << (RTNLGRP_IPV4_IFADDR - 1),
        .buffer_size = EVENTS_BUFFER,
    };
    struct sock_filter code[NEIGHBOUR_FILTER_SIZE];
    const struct sock_fprog program = {.len = (unsigned short)neighbour_filter_make(code),
                                       .filter = code};
    const int fd = netlink_join(netlink, &listening);

    if (fd >= 0) /* if the kernel refuses the program, all events come */
        (void)setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
    return fd;
}

/* Ignores an event that is malformed, or about another table. */
static int neighbour_events_take(const struct nlmsghdr *message, void *arg)
{
    const struct neighbour_events *events = arg;
    struct interface_address address;
    struct record record;

    if (message->nlmsg_type == RTM_DELADDR && address_decode(message, &address) == 0 &&
        address.local.address.family == AF_INET)
        events->removed(&address, events->arg);
    else if (message->nlmsg_type == RTM_NEWNEIGH && neighbour_decode(message, &record) == 0)
        events->changed(&record, events->arg);
    return 0;
}

int neighbour_events_read(struct netlink *netlink, int fd, const struct neighbour_events *events)
{
    enum { AT_ONCE = 65536 }; /* events may come without end */
    struct report report = {.partial = false};
    const struct netlink_listening listening = {
        .fn = neighbour_events_take, .arg = (void *)(uintptr_t)events, .most = AT_ONCE};

    return netlink_read_events(netlink, fd, &listening, &report);
}
