/* SPDX-License-Identifier: MIT */
#include "datagrams.h"

#include <errno.h>
#include <string.h>

#include "fuzz.h"

enum { NOTHING_CAME = 0x7fff, REQUEST_MIN = 16 }; /* a header of netlink, at least */

static int take_request(void *arg, const void *message, size_t size)
{
    struct datagrams *datagrams = arg;

    (void)message;
    require(size >= REQUEST_MIN);
    datagrams->next = 0;
    return 0;
}

static ssize_t give_datagram(void *arg, void *buffer, size_t size, uint32_t *port)
{
    struct datagrams *datagrams = arg;
    const uint8_t *at = datagrams->data + datagrams->next;
    size_t left = datagrams->size - datagrams->next, length;

    if (left < 2)
        return 0;
    length = (size_t)at[0] | (size_t)at[1] << 8;
    *port = (uint32_t)(length >> 15);
    length &= 0x7fff;
    datagrams->next += 2;
    if (length == NOTHING_CAME)
        return *port ? -ENOBUFS : datagrams->endless ? -EAGAIN : -EIO;
    length = length < left - 2 ? length : left - 2;
    require(length <= size);
    memcpy(buffer, at + 2, length);
    datagrams->next += length;
    return (ssize_t)length;
}

struct netlink_peer datagrams_peer(struct datagrams *datagrams)
{
    return (struct netlink_peer){take_request, give_datagram, datagrams};
}
