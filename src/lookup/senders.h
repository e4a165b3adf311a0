/* Senders of netlink messages, from another directory than /proc. */
#ifndef LOOKUP_SENDERS_H
#define LOOKUP_SENDERS_H

#include "fastnet/lookup.h"

/* proc_root is borrowed. NULL without memory. */
struct senders *senders_create_below(const char *proc_root);

#endif
