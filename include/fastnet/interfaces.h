/* SPDX-License-Identifier: MIT */
/* Network interfaces by their indexes. */
#ifndef FASTNET_INTERFACES_H
#define FASTNET_INTERFACES_H

#include <stdint.h>

/* The names of interfaces. The kernel is asked once for each index that was not added. */
struct interfaces;
struct interface {
    uint32_t index;
    int hardware;     /* ARPHRD_* of linux/if_arp.h; -1: unknown */
    uint32_t master;  /* index of its bridge or bond; 0: none, or not added */
    int32_t netns;    /* id of the network namespace of its peer; -1: none, or not added */
    const char *name; /* ends with NUL, borrowed; NULL: the interface has none (any more) */
};

/* Returns NULL if memory is short. */
struct interfaces *interfaces_create(void);
void interfaces_destroy(struct interfaces *interfaces);
/* Lets all later lookups use the network namespace that this thread is in now. Without this call,
 * the first lookup decides. */
void interfaces_fix_netns(struct interfaces *interfaces);
/* Reads names from files of the captured tree `proc_root`. The running kernel is never asked. */
void interfaces_of_tree(struct interfaces *interfaces, const char *proc_root);
/* Adds an interface, so that it needs no lookup. Returns 0 or -ENOMEM. */
int interfaces_add(struct interfaces *interfaces, const struct interface *interface);
/* Return the interface, never NULL, or its name, which may be NULL. Both are valid until the next
 * call. */
const struct interface *interfaces_get(struct interfaces *interfaces, uint32_t index);
const char *interfaces_name(struct interfaces *interfaces, uint32_t index);
/* Finds an interface by any of its names (altname of ip-link(8)). Returns 0 or -errno. */
int interfaces_find(const char *name, uint32_t *index);
/* Returns the first errno that made a lookup fail, or 0. A missing interface is not an error. */
int interfaces_error(const struct interfaces *interfaces);

#endif
