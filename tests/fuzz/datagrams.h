/* SPDX-License-Identifier: MIT */
/*
 * A netlink peer that says what an input holds: datagrams, each behind two bytes of its length,
 * the lower first. With the highest bit it is not the kernel's; a length of 0x7fff is none: the
 * socket fails.
 */
#ifndef FUZZ_DATAGRAMS_H
#define FUZZ_DATAGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastnet/netlink.h"

struct datagrams {
    const uint8_t *data;
    size_t size, next;
    bool endless; /* where nothing comes, something may later */
};

/* The peer that gives these; asked again, it says the same again. */
struct netlink_peer datagrams_peer(struct datagrams *datagrams);

#endif
