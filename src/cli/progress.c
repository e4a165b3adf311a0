/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Writes the line, cut to the width of the terminal, because a wrapped line cannot be erased. */
static void progress_show(const struct clock_progress *progress, bool over)
{
    const struct progress_line *line = (const struct progress_line *)progress;
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC),
                   until = line->began + line->milliseconds * CLOCK_MILLISECOND,
                   left = until > now ? (until - now + CLOCK_SECOND / 2) / CLOCK_SECOND : 0;
    struct winsize size = {.ws_col = 0};
    char text[256];

    fputs("\r\033[K", stderr);
    if (over)
        return;
    (void)ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    snprintf(text, sizeof text, "%s: %s for %g s (%llu s left); ctrl-C %s", line->program,
             line->doing, line->milliseconds / 1000.0, (unsigned long long)left, line->interrupt);
    fprintf(stderr, "%.*s", size.ws_col ? size.ws_col - 1 : 79, text);
}

const struct clock_progress *progress_begin(struct progress_line *line, const struct common *common,
                                            const char *doing, unsigned milliseconds,
                                            const char *interrupt)
{
    const bool is_screen = common->interval_ms && isatty(STDOUT_FILENO);

    *line = (struct progress_line){{progress_show}, common->program,
                                   doing,           interrupt,
                                   milliseconds,    clock_nanoseconds(CLOCK_MONOTONIC)};
    if (!milliseconds || common->explain || common->quiet || is_screen || !isatty(STDERR_FILENO))
        return NULL;
    if (common_can_erase())
        return &line->progress;
    fprintf(stderr, "%s: %s for %g s; ctrl-C %s\n", common->program, doing, milliseconds / 1000.0,
            interrupt);
    return NULL;
}
