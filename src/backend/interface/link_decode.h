/* The decoders of rtnetlink's interfaces and addresses, apart from what brings them. */
#ifndef BACKEND_INTERFACE_LINK_DECODE_H
#define BACKEND_INTERFACE_LINK_DECODE_H

#include <linux/netlink.h>

#include "fastnet/query.h"

/* Space for an interface's address as text: 32 bytes, each two digits and a colon. */
enum { LLADDR_TEXT_MAX = 96 };

/*
 * Fills the record from an RTM_NEWLINK, all but its addresses; the name and the other texts borrow
 * from the message, lladdr_text from text. Unknown attributes are skipped. Returns 0 or -EBADMSG:
 * the message is too short, has no name, or its attributes do not end where it does.
 */
int link_decode(const struct nlmsghdr *message, struct record *record, char text[LLADDR_TEXT_MAX]);

/* The same for an RTM_NEWADDR of IPv4 or IPv6; one of another family is -EAFNOSUPPORT. */
int address_decode(const struct nlmsghdr *message, struct interface_address *address);

#endif
