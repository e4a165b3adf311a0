#include "cli/waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/misuse.h"

static void say(size_t count, const char *name)
{
    if (count == 0)
        fputs("\r\033[K", stderr); /* erases the line */
    else if (name)
        fprintf(stderr, "looking up the address of %.40s...", TYPED(name));
    else
        fprintf(stderr, "looking up names of %zu address%s...", count, count == 1 ? "" : "es");
}

hosts_wait_fn waiting(void)
{
    const char *term = getenv("TERM");

    return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0 ? say : NULL;
}
