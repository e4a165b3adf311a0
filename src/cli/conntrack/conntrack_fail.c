#include "cli/conntrack/conntrack_fail.h"

#include <stdio.h>
#include <string.h>

void conntrack_hint(const char *program)
{
    const char *command = strcmp(program, "conntrack") == 0 ? "conntrack" : "fastnet conntrack";

    fprintf(stderr, "Try `%s -h' or '%s --help' for more information.\n", command, command);
}

int conntrack_fail(const struct conntrack_parsing *parsing, const char *before, const char *typed,
                   const char *after)
{
    const struct common *common = &parsing->options->common;
    char text[TYPED_MAX];
    const int status =
        common_misuse(common, "%s%s%s", before, options_typed(text, typed, strlen(typed)), after);

    conntrack_hint(common->program);
    return status;
}

int conntrack_fail_argument(const struct conntrack_parsing *parsing, const struct option *option,
                            const char *takes, const char *before, const char *typed,
                            const char *after)
{
    common_misuse(&parsing->options->common, "--%s: %s", option->name, takes);
    return conntrack_fail(parsing, before, typed, after);
}
