/* SPDX-License-Identifier: MIT */
/* Files with the kernel's answers about TCP sockets: written by -D, read instead of the kernel. */
#include "cli/ss/ss.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/personality.h"
#include "fastnet/layouts.h"
#include "fastnet/rights.h"

/* Attributes that inet_diag sends only on request. */
#define ASKED                                                                                      \
    (SOCKET_TCP_INFO | SOCKET_MEMORY | SOCKET_CONGESTION | SOCKET_CC_INFO | SOCKET_TOS |           \
     SOCKET_TCLASS)

/* Only TCP can be saved. If TCP is not selected, message and status are those of ss. */
int ss_dump_choose(struct ss_options *options, bool *done)
{
    const struct common *common = &options->common;

    if (common->backend == BACKEND_PROC || common->proc_root)
        return common_misuse(common,
                             "-D: /proc does not have the kernel's answers, only netlink does");
    if (common_uses_columns(common))
        return common_misuse(
            common, "-D: cannot be combined with --json, --ndjson, --csv, --columns or --count-by");
    if (common->interval_ms)
        return common_misuse(common, "-D: cannot be combined with -c");
    if (!ss_selects(&options->selection, 1 << SS_TCP)) {
        fprintf(stderr, "%s: tcpdiag dump requested and no tcp in filter.\n",
                options->common.program);
        *done = true;
    }
    options->selection.tables = options->selection.named = 1 << SS_TCP;
    options->common.backend = BACKEND_NETLINK;
    return 0;
}

static int ss_dump_complain(const struct ss_options *options, int error, int status)
{
    fprintf(stderr, "%s: -D: '%s': %s%s\n", options->common.program, TYPED(options->dump),
            strerror(error), error == EACCES ? " (the shell can open it: -D - >FILE)" : "");
    return status;
}

/* Options that say where to read have priority over the environment. */
const char *ss_diag_file(const struct ss_options *options)
{
    const struct common *common = &options->common;
    const char *path = getenv("TCPDIAG_FILE");
    const char *ignored = common->proc_root                 ? "--proc-root was given"
                          : common->backend != BACKEND_AUTO ? "--backend was given"
                          : options->events                 ? "-E shows events, not a file"
                          : rights_elevated() ? "fastnet has more rights than its user"
                                              : NULL;

    if (!path || !*path)
        return NULL;
    if (ignored)
        fprintf(stderr, "%s: TCPDIAG_FILE is ignored: %s\n", common->program, ignored);
    else if ((options->layout.processes || options->layout.threads) &&
             ss_selects(&options->selection, 1 << SS_TCP))
        fprintf(stderr, "%s: processes are from this machine, sockets from TCPDIAG_FILE\n",
                common->program);
    return ignored ? NULL : path;
}

/* Opens the file of -D. As in ss, every name that begins with a dash means stdout. */
static int open_output(struct listing_command *command)
{
    const struct ss_options *options = command->arg;
    int fd = STDOUT_FILENO;

    if (*options->dump != '-')
        do
            fd = open(options->dump, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
        while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return ss_dump_complain(options, errno, STATUS_SS_MISUSE);
    command->output = fd;
    return 0;
}

int ss_dump(const struct ss_options *options, struct listing_command *command)
{
    int status;

    command->open_output = open_output;
    command->arg = options;
    command->layout_ops = &sink_diag;
    command->layout_needs.fields = SOCKET_MESSAGE | ASKED;
    status = command_run(command);
    if (command->output && command->output != STDOUT_FILENO && close(command->output) < 0)
        return ss_dump_complain(options, errno, STATUS_FAILURE);
    return status;
}
