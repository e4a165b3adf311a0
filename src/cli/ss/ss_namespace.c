#include "cli/ss/ss_namespace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/personality.h"
#include "fastnet/namespace.h"
#include "fastnet/rights.h"

/* In the words of ss. */
static int fail(const struct ss_options *options, const char *before, const char *after, int error)
{
    char typed[TYPED_MAX];

    options_typed(typed, options->namespace, strlen(options->namespace));
    fprintf(stderr, "%s: %s network namespace \"%s\"%s: %s%s\n", options->common.program, before,
            typed, after, strerror(error), error == EPERM ? " (needs CAP_SYS_ADMIN)" : "");
    return STATUS_FAILURE;
}

static int enter(const struct ss_options *options)
{
    int fd, status;

    if (options->common.proc_root)
        return common_misuse(&options->common, "-N: cannot be combined with --proc-root");
    fd = namespace_open(options->namespace);
    if (fd < 0)
        return fail(options, "Cannot open", "", -fd);
    status = namespace_enter(fd);
    return status < 0 ? fail(options, "setting the", " failed", -status) : 0;
}

int ss_enter_namespace(const struct ss_options *options)
{
    const int status = options->namespace ? enter(options) : 0;

    rights_limit(RIGHTS_ALL & ~RIGHTS_EARLY);
    return status;
}
