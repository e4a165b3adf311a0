/* SPDX-License-Identifier: MIT */
/* Names of users. */
#ifndef FASTNET_USERS_H
#define FASTNET_USERS_H

#include <stdbool.h>
#include <stdint.h>

/* Names of users by getpwuid(3), each uid once. getpwuid(3) may run modules of nsswitch.conf(5). So
 * either all rights must be gone, or users_ask_in_child() starts a child without rights that asks
 * from now on. While it starts the child, no other thread may allocate memory (threads that read
 * packets cannot). */
struct users;
/* Returns NULL if memory is short. */
struct users *users_create(void);
/* Returns 0 or -errno. */
int users_ask_in_child(struct users *users);
void users_forget(struct users *users); /* forgets all answers, because names change */
void users_destroy(struct users *users);
/* Returns the name of a user; NULL: no name. */
const char *users_name(struct users *users, uint32_t uid);
/* Finds a user by his name, in a child without rights, within 5 seconds. Returns 0, -ENOENT if no
 * user has this name, or -errno. */
int users_find(const char *name, uint32_t *uid, uint32_t *gid);
/* True if no user has this name; false if that cannot be known. */
bool users_lack(const char *name);
/* Returns the errno of the first lookup that failed, or 0. A uid without a name is not an error.
 * Like every *_error() it returns 0 for NULL. */
int users_error(const struct users *users);

#endif
