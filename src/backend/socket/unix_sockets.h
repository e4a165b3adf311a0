/*
 * What unix_diag says of unix sockets, which is true, and /proc/net/unix, where every user can
 * write: a socket's name stands there as it is, so that a newline in it makes a second line, which
 * can look like another socket; and every NUL in it is an '@'.
 *
 * So the sockets that are listed are netlink's. The file adds what only it knows: how often each
 * is referred to (RefCnt), and the connections that nobody has accepted yet. What it says is taken
 * only where it agrees with netlink, which is asked after the file was read: a name that was in the
 * file is then known here, or its socket has gone, and what stands behind such a name is in doubt.
 */
#ifndef BACKEND_SOCKET_UNIX_SOCKETS_H
#define BACKEND_SOCKET_UNIX_SOCKETS_H

#include <stdbool.h>

#include "fastnet/query.h"

struct unix_sockets;

/* Asks unix_diag. Returns 0, or -errno: nothing can then be confirmed. */
int unix_sockets_create(struct unix_sockets **sockets, const struct query *query);
void unix_sockets_destroy(struct unix_sockets *sockets);

/* Whether a name holds a newline: lines that are no rows are then to be expected. */
bool unix_sockets_have_newlines(const struct unix_sockets *sockets);

/*
 * Takes what is true of a row of the file. The row's path is in the file's text, which ends before
 * `end` and has a newline behind every line. *name_end becomes the newline behind the whole name
 * when it is known, or stays as it is. Returns 0 or -ENOMEM.
 */
int unix_sockets_take_row(struct unix_sockets *sockets, const struct record *row, const char *end,
                          const char **name_end);

/* Hands on all sockets, each once, and then the connections that wait to be accepted. */
int unix_sockets_hand_on(const struct unix_sockets *sockets, record_fn fn, void *arg);

#endif
