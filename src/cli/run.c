#include "cli/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/personality.h"
#include "fastnet/proc_tree.h"
#include "fastnet/rights.h"
#include "fastnet/sandbox.h"

/* Says what a write to stdout met; a reader that has gone is not an error. */
static int output_status(const char *program, int error)
{
    if (error == 0 || error == -EPIPE)
        return STATUS_OK;
    fprintf(stderr, "%s: write error: %s\n", program, strerror(-error));
    return STATUS_FAILURE;
}

/* There is one stdout for the whole program. */
static struct {
    FILE *stream; /* NULL: nothing was printed */
    char *text;
    size_t size;
} printed;

FILE *cli_stdout(void)
{
    if (!printed.stream)
        printed.stream = open_memstream(&printed.text, &printed.size);
    return printed.stream ? printed.stream : stdout;
}

int cli_finish_stdout(const char *program, int status)
{
    int error = fflush(stdout) != 0 || ferror(stdout) ? -EIO : 0; /* if memory was short */

    if (printed.stream) {
        error = fclose(printed.stream) != 0 ? -errno : 0;
        struct writer writer = {
            .fd = STDOUT_FILENO, .buffer = printed.text, .length = printed.size};
        if (!error)
            error = writer_flush(&writer);
        free(printed.text);
        printed.stream = NULL;
    }
    return error ? output_status(program, error) : status;
}

/* *last is set when there is no use in another pass. */
static int list_once(const struct cli_listing *options, struct engine *engine, struct sink *sink,
                     bool *last)
{
    struct report report = {0};
    int result = engine_run(engine, options->listing, sink, &report);
    int error = writer_flush(sink->writer);

    if (options->amend && !error)
        options->amend(options->arg, &report);
    if (result < 0 && !error)
        report_loss(&report, "%s", strerror(-result));
    report_print(&report, stderr, options->program);
    *last = error || report.ended;
    if (error)
        return output_status(options->program, error);
    return report.partial ? STATUS_FAILURE : STATUS_OK;
}

/*
 * Names are looked up with no rights left, but the owners or the captured files of the next pass
 * need them: then each pass is a child's. A bit of its status says that there is no use in another.
 */
static int list_in_child(const struct cli_listing *options, struct engine *engine,
                         struct sink *sink, bool *last)
{
    enum { LAST = 64 };
    int status = 0;
    pid_t child = fork(), ended;

    if (child == 0) {
        status = list_once(options, engine, sink, last);
        _exit(status | (*last ? LAST : 0));
    }
    if (child < 0) /* rows are worth more than the owners of later passes */
        return list_once(options, engine, sink, last);
    do
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    if (ended != child || !WIFEXITED(status)) {
        fprintf(stderr, "%s: a pass of the listing failed\n", options->program);
        *last = true;
        return STATUS_FAILURE;
    }
    *last = WEXITSTATUS(status) & LAST;
    return WEXITSTATUS(status) & ~LAST;
}

static void wait_interval(unsigned milliseconds)
{
    struct timespec left = {.tv_sec = milliseconds / 1000,
                            .tv_nsec = (long)(milliseconds % 1000) * 1000000};

    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

static bool is_captured(const struct listing *listing)
{
    return !proc_tree_is_own(listing->proc_root);
}

/* What the listing looks up and reads may take these. */
static unsigned rights_of(const struct listing *listing)
{
    unsigned rights = is_captured(listing) ? 1u << RIGHT_READ : 0;

    if (listing->needs.lookups & (NEED_OWNERS | NEED_SENDERS))
        rights |= 1u << RIGHT_OWNERS;
    for (size_t i = 0; i < listing->table_count; i++)
        if (listing->tables[i].table)
            rights |= listing->tables[i].table->rights;
    return rights;
}

/* What the C library loads to look these up may do anything. */
#define NAMES (NEED_USERS | NEED_SERVICES | NEED_HOSTS | NEED_NETWORKS)

static int list(const struct cli_listing *options, struct engine *engine, struct sink *sink)
{
    const uint64_t needs = options->listing->needs.lookups;
    bool rights = (needs & NEED_OWNERS) || is_captured(options->listing);
    /* what changes are counted from stays here */
    bool in_child = options->continuous && (needs & NAMES) && rights && rights_any() &&
                    !options->listing->delta;

    if (in_child) /* ignored, as a parent may leave it, it hides how a child ended */
        signal(SIGCHLD, SIG_DFL);
    for (;;) {
        bool last = false;
        int status = in_child ? list_in_child(options, engine, sink, &last)
                              : list_once(options, engine, sink, &last);
        if (!options->continuous || last)
            return status;
        wait_interval(options->interval_ms);
    }
}

int cli_run_listing(const struct cli_listing *options)
{
    struct engine *engine = NULL;
    struct writer writer = {0};
    struct sink *sink = NULL;
    int status = STATUS_FAILURE;

    rights_limit(rights_of(options->listing));
    if (engine_create(&engine) == 0 && writer_init(&writer, STDOUT_FILENO) == 0)
        sink = options->make_sink(options->arg, &writer, engine_context(engine));
    /* a captured tree may come from anybody */
    if (sink && is_captured(options->listing) && !(options->listing->needs.lookups & NAMES))
        sandbox_enter();
    if (sink)
        status = list(options, engine, sink);
    else
        fprintf(stderr, "%s: out of memory\n", options->program);
    sink_destroy(sink);
    writer_finish(&writer);
    engine_destroy(engine);
    return status;
}
