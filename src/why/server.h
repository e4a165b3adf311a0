/* SPDX-License-Identifier: MIT */
/* The server's side: who listens on a port of this machine, and who connects to it. */
#ifndef WHY_SERVER_H
#define WHY_SERVER_H

#include "fastnet/report.h"
#include "fastnet/why.h"

/* Reads sockets of all network namespaces, watches for options->milliseconds, and passes the steps
 * to `fn`. Returns 0 or -errno. */
int server_explain(const struct why_options *options, struct report *report, record_fn fn,
                   void *arg, struct why_summary *summary);

#endif
