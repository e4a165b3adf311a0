/* Senders of netlink messages, by a directory other than /proc. */
#ifndef LOOKUP_SENDERS_H
#define LOOKUP_SENDERS_H

#include "fastnet/lookup.h"

/* proc_root is borrowed. NULL when memory is short. */
struct senders *senders_create_below(const char *proc_root);

#endif
