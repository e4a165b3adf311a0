/* Lookups that take long. */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

#include "fastnet/lookup.h"

/* What says on a terminal that names are looked up; NULL if stderr is none that can erase it. */
hosts_wait_fn waiting(void);

#endif
