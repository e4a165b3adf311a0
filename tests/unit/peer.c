/* SPDX-License-Identifier: MIT */
#include "kit.h"

#include <arpa/inet.h>
#include <endian.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct nlmsghdr *wire_last(struct wire *wire)
{
    return (struct nlmsghdr *)(void *)(wire->data + wire->last);
}

struct nlmsghdr *wire_exact(struct wire *wire)
{
    const struct nlmsghdr *last = wire_last(wire);
    struct nlmsghdr *exact = malloc(last->nlmsg_len);

    assert_non_null(exact);
    return memcpy(exact, last, last->nlmsg_len);
}

void wire_message(struct wire *wire, uint16_t type, uint16_t flags, uint32_t sequence)
{
    const struct nlmsghdr header = {.nlmsg_len = sizeof header,
                                    .nlmsg_type = type,
                                    .nlmsg_flags = flags,
                                    .nlmsg_seq = sequence,
                                    .nlmsg_pid = 1};

    wire->last = NLMSG_ALIGN(wire->length);
    assert_in_range(wire->last + sizeof header, 0, sizeof wire->data);
    memcpy(wire->data + wire->last, &header, sizeof header);
    wire->length = wire->last + sizeof header;
}

void wire_put(struct wire *wire, const void *data, size_t size)
{
    assert_in_range(wire->length + size, 0, sizeof wire->data);
    if (size)
        memcpy(wire->data + wire->length, data, size);
    wire->length += size;
    wire_last(wire)->nlmsg_len = (uint32_t)(wire->length - wire->last);
}

void wire_attribute(struct wire *wire, uint16_t type, const void *data, size_t size)
{
    const struct nlattr attribute = {(uint16_t)(sizeof attribute + size), type};
    const char padding[NLA_ALIGNTO] = {0};

    wire_put(wire, &attribute, sizeof attribute);
    wire_put(wire, data, size);
    wire_put(wire, padding, -size % NLA_ALIGNTO);
}

void wire_u32(struct wire *wire, uint16_t type, uint32_t number)
{
    wire_attribute(wire, type, &number, sizeof number);
}

void wire_done(struct wire *wire, uint16_t flags, uint32_t sequence, int error)
{
    wire_message(wire, NLMSG_DONE, flags, sequence);
    wire_put(wire, &error, sizeof error);
}

struct inet_diag_msg tcp_message(uint16_t port, uint64_t cookie)
{
    struct inet_diag_msg diag = {.idiag_family = AF_INET, .idiag_state = TCP_ESTABLISHED};

    diag.id.idiag_sport = htons(port);
    diag.id.idiag_dport = htons(443);
    diag.id.idiag_src[0] = htonl(0x7f000001);
    diag.id.idiag_dst[0] = htonl(0xc0000201);
    diag.id.idiag_cookie[0] = (uint32_t)cookie;
    diag.id.idiag_cookie[1] = (uint32_t)(cookie >> 32);
    diag.idiag_uid = 1000;
    diag.idiag_inode = 50000u + port;
    return diag;
}

void wire_tcp(struct wire *wire, uint16_t flags, uint32_t sequence, uint16_t port, uint64_t cookie)
{
    const struct inet_diag_msg diag = tcp_message(port, cookie);

    wire_message(wire, SOCK_DIAG_BY_FAMILY, flags, sequence);
    wire_put(wire, &diag, sizeof diag);
}

static uint32_t sequence_of(const struct peer *peer)
{
    struct nlmsghdr request;

    memcpy(&request, peer->requests[peer->request_count - 1], sizeof request);
    return request.nlmsg_seq;
}

static int take_request(void *arg, const void *message, size_t size)
{
    struct peer *peer = arg;

    assert_in_range(peer->request_count, 0, PEER_REQUESTS - 1);
    assert_in_range(size, sizeof(struct nlmsghdr), sizeof peer->requests[0]);
    memcpy(peer->requests[peer->request_count++], message, size);
    if (peer->replays)
        peer->next = 0;
    if (peer->asked)
        peer->asked(peer->arg);
    return peer->refusal;
}

static void renumber(char *data, size_t length, uint32_t sequence)
{
    struct nlmsghdr header;

    for (size_t at = 0; at + sizeof header <= length; at += NLMSG_ALIGN(header.nlmsg_len)) {
        memcpy(&header, data + at, sizeof header);
        if (header.nlmsg_len < sizeof header)
            return;
        header.nlmsg_seq = sequence;
        memcpy(data + at, &header, sizeof header);
    }
}

static ssize_t give_answer(void *arg, void *buffer, size_t size, uint32_t *port)
{
    struct peer *peer = arg;
    const struct queued *datagram = &peer->datagrams[peer->next];

    if (peer->answers)
        peer->answers(peer->arg);
    if (peer->next == peer->count)
        return peer->last_error;
    peer->next++;
    if (datagram->error)
        return datagram->error;
    assert_in_range(datagram->length, 0, size);
    memcpy(buffer, datagram->data, datagram->length);
    if (peer->replays)
        renumber(buffer, datagram->length, sequence_of(peer));
    *port = datagram->port;
    return (ssize_t)datagram->length;
}

void peer_init(struct peer *peer)
{
    memset(peer, 0, sizeof *peer);
    peer->netlink = (struct netlink_peer){take_request, give_answer, peer};
}

void peer_finish(struct peer *peer)
{
    for (size_t i = 0; i < peer->count; i++)
        free(peer->datagrams[i].data);
    peer->count = peer->next = 0;
}

void peer_add(struct peer *peer, const void *data, size_t length, uint32_t port)
{
    struct queued *datagram = &peer->datagrams[peer->count];

    assert_in_range(peer->count, 0, PEER_DATAGRAMS - 1);
    *datagram = (struct queued){.data = malloc(length + 1), .length = length, .port = port};
    assert_non_null(datagram->data);
    memcpy(datagram->data, data, length);
    peer->count++;
}

void peer_add_wire(struct peer *peer, const struct wire *wire)
{
    peer_add(peer, wire->data, wire->length, 0);
}

void peer_add_error(struct peer *peer, int error)
{
    peer_add(peer, "", 0, 0);
    peer->datagrams[peer->count - 1].error = error;
}

size_t peer_add_recorded(struct peer *peer, const char *path, size_t most)
{
    static char data[65536];
    FILE *file = fopen(path, "r");
    uint32_t length;
    size_t total = 0;

    assert_non_null(file);
    while (fread(&length, sizeof length, 1, file) == 1) {
        size_t left = most > total ? most - total : 0;
        length = le32toh(length);
        assert_in_range(length, 1, sizeof data);
        assert_int_equal(fread(data, 1, length, file), length);
        recorded_turn(data, length);
        if (left)
            peer_add(peer, data, length < left ? length : left, 0);
        total += length;
    }
    fclose(file);
    assert_int_not_equal(total, 0);
    return total;
}
