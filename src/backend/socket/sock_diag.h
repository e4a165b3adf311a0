/* The decoders of sock_diag's messages, apart from the conversation that brings them. */
#ifndef BACKEND_SOCKET_SOCK_DIAG_H
#define BACKEND_SOCKET_SOCK_DIAG_H

#include <linux/netlink.h>

#include "fastnet/query.h"

/*
 * Fill the record from one message of a dump; unknown attributes and ones of unknown length are
 * skipped. Return 0, or -EBADMSG when the message is too short, of another family, or its
 * attributes do not end where it does. The unix record borrows its path from the message.
 */
int sock_diag_decode_inet(const struct nlmsghdr *message, const struct table *table,
                          struct record *record);
int sock_diag_decode_unix(const struct nlmsghdr *message, struct record *record);

#endif
