/*
 * What unix_diag knows better than /proc/net/unix. That file writes a socket's name as it is, so
 * that a newline in it makes a second line, which can be forged to look like another socket; and
 * it writes every NUL as '@'. The exact names of such sockets are fetched before the file is
 * read, and with them the queues, users and cookies of all, if those are wanted.
 */
#ifndef BACKEND_UNIX_DETAILS_H
#define BACKEND_UNIX_DETAILS_H

#include <stdbool.h>

#include "fastnet/query.h"

struct line;
struct unix_details;

/* NULL when unix_diag cannot be had: the file is then all there is. */
struct unix_details *unix_details_create(const struct query *query);
void unix_details_destroy(struct unix_details *details);

/*
 * Mends a record of /proc/net/unix. The path then borrows from details. Every record of the file
 * must come by here, in order, since lines that follow may belong to its name.
 */
void unix_details_complete(struct unix_details *details, struct record *record);

/* Whether this line is not a socket's but goes on with the name of the one before. */
bool unix_details_continue(struct unix_details *details, const struct line *line);

#endif
