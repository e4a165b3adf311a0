/* A listing from the command line: once or again and again, its output, its exit status. */
#include "cli/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/columns.h"
#include "cli/pace.h"
#include "cli/personality.h"
#include "cli/waiting.h"
#include "fastnet/clock.h"
#include "fastnet/netlink.h"
#include "fastnet/proc_tree.h"
#include "fastnet/rights.h"

/* In tables nothing else says when a listing began. Local time, as RFC 3339 has it. */
static void put_clock(const struct listing_command *command, struct writer *writer)
{
    const struct common *common = command->common;
    const time_t seconds = (time_t)(command->listing.time / CLOCK_SECOND);
    char text[32];
    struct tm local;

    if (!command->listing.number || common->format != FORMAT_PLAIN || common->no_header ||
        !columns_used(command) || !localtime_r(&seconds, &local))
        return;
    const size_t length = strftime(text, sizeof text, "%FT%T%z", &local);
    writer_put(writer, text, length - 2);
    writer_put(writer, ":", 1);
    writer_put(writer, text + length - 2, 2);
    writer_put(writer, "\n", 1);
}

/* *last is set when another pass would be of no use. */
static int list_once(const struct listing_command *command, struct engine *engine,
                     struct sink *sink, bool *last)
{
    struct report report = {.verbose = command->verbose};

    put_clock(command, sink->writer);
    int result = engine_run(engine, &command->listing, sink, &report);
    int error = writer_flush(sink->writer);

    if (command->after_each_pass && !error)
        command->after_each_pass(command->arg, &report);
    if (result < 0 && !error)
        report_loss(&report, "%s", strerror(-result));
    if (report.unshown && command->common->format == FORMAT_PLAIN)
        report_note(&report, "%llu more row%s not shown", (unsigned long long)report.unshown,
                    report.unshown == 1 ? " is" : "s are");
    report_print(&report, stderr, command->common->program);
    *last = error || report.ended;
    if (error)
        return output_status(command->common->program, error);
    return report.partial ? STATUS_FAILURE : STATUS_OK;
}

/*
 * Names are looked up with no rights left, but the owners or the captured files of the next pass
 * need rights: then each pass runs in a child. A bit of its status says that it was the last.
 */
static int list_in_child(const struct listing_command *command, struct engine *engine,
                         struct sink *sink, bool *last)
{
    enum { LAST = 64 };
    int status = 0;
    pid_t child = fork(), ended;

    if (child == 0) {
        status = list_once(command, engine, sink, last);
        _exit(status | (*last ? LAST : 0));
    }
    if (child < 0) /* rows are worth more than the owners of later passes */
        return list_once(command, engine, sink, last);
    do
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    if (ended != child || !WIFEXITED(status)) {
        fprintf(stderr, "%s: the process that made the listing ended unexpectedly\n",
                command->common->program);
        *last = true;
        return STATUS_FAILURE;
    }
    *last = WEXITSTATUS(status) & LAST;
    return WEXITSTATUS(status) & ~LAST;
}

static void wait_for(uint64_t nanoseconds)
{
    struct timespec left = {.tv_sec = (time_t)(nanoseconds / CLOCK_SECOND),
                            .tv_nsec = (long)(nanoseconds % CLOCK_SECOND)};

    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

/* Waits for the next listing, after one that began then. */
static void wait_interval(const struct common *common, struct pace *pace, struct pace_time began)
{
    const struct pace_time now = pace_now();
    const struct pace_time took = {now.clock - began.clock, now.processor - began.processor};
    const uint64_t pause = pace_pause(pace, took);
    const double seconds = 1.0 / CLOCK_SECOND;

    if (pace_is_news(pace))
        fprintf(stderr,
                "%s: a listing takes %.3g s of CPU time: -c waits %.3g s, not %.3g s, to use at "
                "most half of a CPU (--strict-interval: no limit)\n",
                common->program, (double)took.processor * seconds, (double)pause * seconds,
                (double)pace->interval * seconds);
    wait_for(pause);
}

static bool is_captured(const struct listing *listing)
{
    return !proc_tree_is_own(listing->proc_root);
}

/* The rights that lookups and tables of the listing may need. */
static unsigned rights_of(const struct listing *listing)
{
    unsigned rights = is_captured(listing) || listing->diag_file ? 1u << RIGHT_READ : 0;

    if (listing->needs.lookups & (NEED_OWNERS | NEED_SENDERS))
        rights |= 1u << RIGHT_OWNERS;
    if (listing->needs.lookups & NEED_OWNERS && listing->owners != OWNERS_PROC)
        rights |= 1u << RIGHT_ITERATORS;
    for (size_t i = 0; i < listing->table_count; i++) {
        const struct table *table = listing->tables[i].table;
        if (table && (!table->privileged || table->privileged & listing->needs.fields))
            rights |= table->rights;
    }
    return rights;
}

/* To look these up, the C library may load and run anything (nsswitch.conf(5)). */
#define NAMES (NEED_USERS | NEED_SERVICES | NEED_HOSTS | NEED_NETWORKS)

/*
 * Whether what is read may come from anybody, and the sandbox is not in the way: it would hide the
 * owners of this machine's sockets.
 */
static bool is_untrusted(const struct listing *listing)
{
    const uint64_t lookups = listing->needs.lookups;

    if (lookups & NAMES)
        return false;
    return is_captured(listing) || (listing->diag_file && !(lookups & NEED_OWNERS));
}

static int list(struct listing_command *command, struct engine *engine, struct sink *sink)
{
    const struct common *common = command->common;
    const uint64_t needs = command->listing.needs.lookups;
    bool rights = (needs & NEED_OWNERS) || is_captured(&command->listing);
    /* for --delta this process must remember what the last pass found */
    bool in_child =
        common->interval_ms && (needs & NAMES) && rights && rights_any() && !common->delta;

    struct pace pace = {.interval = common->interval_ms * (CLOCK_SECOND / 1000),
                        .strict = common->strict_interval};

    if (in_child) /* a parent may have left it ignored, which hides how a child ended */
        signal(SIGCHLD, SIG_DFL);
    for (uint64_t number = !common->delta;; number++) { /* the first of --delta shows nothing */
        const struct pace_time began = pace_now();
        bool last = false;
        command->listing.time = clock_nanoseconds(CLOCK_REALTIME);
        command->listing.number = common->interval_ms ? number : 0;
        if (in_child)
            engine_prepare(engine, &command->listing);
        int status = in_child ? list_in_child(command, engine, sink, &last)
                              : list_once(command, engine, sink, &last);
        if (!common->interval_ms || last)
            return status;
        wait_interval(common, &pace, began);
    }
}

static int run(struct listing_command *command)
{
    struct engine *engine;
    struct writer writer = {0};
    struct sink *sink = NULL;
    int status = STATUS_FAILURE;

    command->listing.wait = waiting();
    if (!command->another)
        rights_limit(rights_of(&command->listing));
    engine = engine_create(netlink_create(NULL));
    if (engine && writer_init(&writer, command->output ? command->output : STDOUT_FILENO) == 0) {
        command->context = engine_context(engine);
        writer_hurry(&writer);
        sink = command_sink(command, &writer);
    }
    if (sink && !command->another && is_untrusted(&command->listing))
        sandbox_enter();
    if (sink)
        status = command->common->explain ? command_explain(command, engine, sink)
                                          : list(command, engine, sink);
    else
        fprintf(stderr, "%s: out of memory\n", command->common->program);
    sink_destroy(sink);
    writer_finish(&writer);
    engine_destroy(engine);
    return status;
}

int command_run(struct listing_command *command)
{
    struct counting counting;
    struct rates rates;
    bool done = false;
    int status;

    command->counting = &counting;
    command->rates = &rates;
    status = command_resolve(command, &done);
    if (!status && !done && command->open_output && !command->common->explain)
        status = command->open_output(command);
    if (!status && !done)
        status = run(command);
    where_finish(&command->where);
    command->counting = NULL;
    command->rates = NULL;
    return status;
}
