/* SPDX-License-Identifier: MIT */
/* Names of users. */
#ifndef FASTNET_USERS_H
#define FASTNET_USERS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Users: getpwuid(3), each uid once. NULL when it has no name. Modules of nsswitch.conf(5) may run
 * there: all rights must be gone, or a child that gave them up asks from now on. Threads that are
 * there when it is made may not allocate (those that read packets cannot); users_ask_in_child()
 * returns 0 or -errno.
 */
struct users;
struct users *users_create(void);
int users_ask_in_child(struct users *users);
void users_forget(struct users *users); /* what was asked: names change */
void users_destroy(struct users *users);
const char *users_name(struct users *users, uint32_t uid);
/* Whether no user has this name; false if that cannot be known. */
bool users_lack(const char *name);
/*
 * The errno of the first lookup that failed, or 0. A uid without a name is no error. Like every
 * *_error() below it returns 0 for NULL.
 */
int users_error(const struct users *users);

#endif
