/* SPDX-License-Identifier: MIT */
/* Network interfaces by their indexes. */
#ifndef FASTNET_INTERFACES_H
#define FASTNET_INTERFACES_H

#include <stdint.h>

/* Interfaces: the kernel is asked once for each index that was not added. */
struct interfaces;
struct interface {
    uint32_t index;
    int hardware;     /* ARPHRD_* of linux/if_arp.h; -1: not known */
    uint32_t master;  /* index of the device it belongs to; 0: none, or not added */
    int32_t netns;    /* number of the network namespace of its other end; -1: none, or not added */
    const char *name; /* terminated, borrowed; NULL when it has none (any more) */
};

struct interfaces *interfaces_create(void);
void interfaces_destroy(struct interfaces *interfaces);
/* From now on it asks the network namespace of this thread; else that of the first question. */
void interfaces_settle(struct interfaces *interfaces);
/* The names are those in the files of a captured tree, and this machine is never asked. */
void interfaces_of_tree(struct interfaces *interfaces, const char *proc_root);
/* Adds an interface, which then needs no lookup. Returns 0 or -ENOMEM. */
int interfaces_add(struct interfaces *interfaces, const struct interface *interface);
/* What is known of an interface; never NULL, valid until the next call. */
const struct interface *interfaces_get(struct interfaces *interfaces, uint32_t index);
const char *interfaces_name(struct interfaces *interfaces, uint32_t index);
/* Finds an interface by any of its names (ip-link(8): altname). Returns 0 or -errno. */
int interfaces_find(const char *name, uint32_t *index);
/* The first errno that made a lookup fail, or 0. A missing interface is no error. */
int interfaces_error(const struct interfaces *interfaces);

#endif
