#include "cli/netns.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/personality.h"
#include "fastnet/namespace.h"

/* In the words of ss and ip. */
static int fail(const struct common *common, const char *before, const char *after, int error)
{
    fprintf(stderr, "%s: %s network namespace \"%s\"%s: %s%s\n", common->program, before,
            TYPED(common->netns), after, strerror(-error),
            error == -EPERM    ? " (needs CAP_SYS_ADMIN)"
            : error == -EACCES ? " (try sudo)"
                               : "");
    return STATUS_FAILURE;
}

int netns_enter(struct common *common)
{
    int away, home, error;

    if (common->all_netns && common->netns)
        return common_misuse(common, "--all-netns and --netns cannot be combined");
    if ((common->all_netns || common->netns) && common->proc_root)
        return common_misuse(common, "%s: cannot be combined with --proc-root",
                             common->netns ? "--netns" : "--all-netns");
    if (!common->netns)
        return 0;
    away = namespace_open(common->netns);
    if (away < 0)
        return fail(common, "Cannot open", "", away);
    home = namespace_open_own();
    error = home < 0 ? home : namespace_enter(away);
    close(away);
    if (error)
        return fail(common, "setting the", " failed", error);
    common->home = home;
    return 0;
}
