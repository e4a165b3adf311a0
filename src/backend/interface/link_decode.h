/* The decoders of rtnetlink's interfaces and addresses, apart from what brings them. */
#ifndef BACKEND_INTERFACE_LINK_DECODE_H
#define BACKEND_INTERFACE_LINK_DECODE_H

#include <linux/netlink.h>

#include "fastnet/query.h"

/*
 * Fills the record from an RTM_NEWLINK, all but its addresses; the name and the other texts borrow
 * from the message. Unknown attributes are skipped. Returns 0 or -EBADMSG: the message is too short
 * or has no name (record.has is 0), or something in it is no attribute.
 */
int link_decode(const struct nlmsghdr *message, struct record *record);

/* The same for an RTM_NEWADDR of IPv4 or IPv6; one of another family is -EAFNOSUPPORT. */
int address_decode(const struct nlmsghdr *message, struct interface_address *address);

#endif
