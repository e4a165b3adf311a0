/* SPDX-License-Identifier: MIT */
/* Runs the listing of a command line once or repeatedly, and returns the exit status. */
#include "cli/command.h"
#include "cli/counts.h"
#include "cli/empty.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/known_names.h"
#include "cli/pace.h"
#include "cli/personality.h"
#include "cli/replacement.h"
#include "cli/saved.h"
#include "cli/terminal/listing_screen.h"
#include "cli/terminal/terminal.h"
#include "cli/thresholds.h"
#include "cli/wait.h"
#include "fastnet/clock.h"
#include "fastnet/netlink.h"
#include "fastnet/proc_tree.h"
#include "fastnet/rights.h"

/* Facts about a run, in addition to its exit status. */
struct repeated_run {
    bool silent;  /* it only reads values for --delta to compare with */
    bool last;    /* another run would be useless */
    bool useless; /* nothing could be read or written: the file of --output stays as it was */
    struct report *kept; /* gets the report, which is not printed then; NULL: it is printed */
    bool needs_row; /* without a row, nothing is written or reported; the status: STATUS_NO_ROW */
};

static void run_end_report(const struct repeated_run *run, struct report *report,
                           const char *program)
{
    if (run->kept)
        *run->kept = *report;
    else
        report_print(report, stderr, program);
}

/* Ends a run with --quiet, after the writer returned `error` and the engine `result`. Only a run
 * whose answer is not certain prints the reason. */
static int quiet_status(const struct listing_command *command, const struct repeated_run *run,
                        struct report *report, int error, int result)
{
    if (error == -ECANCELED) /* a row came, which is certain even if other rows are missing */
        return STATUS_OK;
    if (result < 0)
        report_loss(report, "%s", strerror(-result));
    if (report->partial)
        run_end_report(run, report, command->common->program);
    return report->partial ? STATUS_FAILURE : command->own_status ? STATUS_OK : STATUS_NO_ROW;
}

static int list_once(const struct listing_command *command, struct engine *engine,
                     struct sink *sink, struct repeated_run *run)
{
    struct report report = {.verbose = command->verbose};

    if (command->problems)
        report_hand_on(&report, command->problems);
    command_put_clock(command, sink->writer);
    if (command->common->save && !run->silent)
        saved_put_head(command, sink->writer);
    if (command->listing.thresholds)
        *command->listing.thresholds->counts = (struct level_counts){.unsure = false};
    const struct field *lacks = saved_lacks(command, command->listing.typed);
    int result = engine_run(engine, &command->listing, sink, &report);
    if (run->needs_row && !report.listed) {
        sink->writer->length = 0;
        run->useless = true;
        return STATUS_NO_ROW;
    }
    if (lacks && !report.listed)
        report_loss(&report, "'%s' was not saved, so no row can match this filter", lacks->name);
    thresholds_end(command, sink, &report, result < 0);
    int error = writer_flush(sink->writer);

    if (command->after_each_run && !error)
        command->after_each_run(command->arg, &report);
    if (command->common->quiet)
        return thresholds_status(command, &report,
                                 quiet_status(command, run, &report, error, result));
    if (result < 0 && !error)
        report_loss(&report, "%s", strerror(-result));
    if (command->common->save && !run->silent) {
        saved_put_end(sink, !report.partial);
        error = writer_flush(sink->writer);
    }
    if (report.unshown && command->common->format == FORMAT_PLAIN)
        report_note(&report, "%llu more row%s not shown", (unsigned long long)report.unshown,
                    report.unshown == 1 ? " is" : "s are");
    if (!run->silent && !command->quiet && !command->listing.saved && !command->common->nagios &&
        command->common->wait != WAIT_GONE) {
        empty_explain(command, &report);
        if (!report.listed && command->listing.number <= 1 && !command->listing.events)
            known_names_report(command->common, command->kind, false, &report);
    }
    if (!command->quiet)
        run_end_report(run, &report, command->common->program);
    run->last = error || report.ended;
    run->useless = error || run->silent || (report.partial && !report.listed);
    return thresholds_status(command, &report,
                             error            ? output_status(command->common->program, error)
                             : report.partial ? STATUS_FAILURE
                                              : STATUS_OK);
}

/* Makes a run in a child, for two reasons. To look up names, all rights are given up, but the next
 * run needs rights for owners or captured files. And in the sandbox this process could not replace
 * the file of --output. The child's exit status has bits for the members of *run. */
static int list_in_child(const struct listing_command *command, struct engine *engine,
                         struct sink *sink, struct repeated_run *run)
{
    enum { LAST = 64, USELESS = 32 };
    int status = 0;
    const pid_t self = getpid();
    pid_t child = fork(), ended = -1;

    if (child == 0) {
        terminal_disown();
        /* The child must not go on after its parent ended, which may have happened already. */
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != self)
            _exit(STATUS_FAILURE);
        if (command_is_untrusted(command))
            sandbox_enter();
        status = list_once(command, engine, sink, run);
        _exit(status | (run->last ? LAST : 0) | (run->useless ? USELESS : 0));
    }
    /* If fork(2) fails, lists in this process, although later runs will not find owners. Not after
     * --netns: later runs could list another network namespace. */
    if (child < 0 && !command_is_untrusted(command) && !command->listing.own_netns)
        return list_once(command, engine, sink, run);
    while (child > 0 && (ended = waitpid(child, &status, 0)) < 0 && errno == EINTR)
        continue;
    if (ended < 0 || !WIFEXITED(status)) {
        struct report report = {.partial = false};
        report_loss(&report, "the process that made the listing ended unexpectedly");
        run_end_report(run, &report, command->common->program);
        run->last = run->useless = true;
        return STATUS_FAILURE;
    }
    run->last = WEXITSTATUS(status) & LAST;
    run->useless = WEXITSTATUS(status) & USELESS;
    return WEXITSTATUS(status) & ~(LAST | USELESS);
}

/* Waits for the next listing. `began`: when the last listing began. */
static void wait_interval(const struct common *common, struct pace *pace, struct pace_time began)
{
    const struct pace_time now = pace_now();
    const struct pace_time took = {now.clock - began.clock, now.processor - began.processor};
    const uint64_t pause = pace_pause(pace, took);
    char news[PACE_NEWS];

    if (pace_put_news(pace, took.processor, pause, news))
        fprintf(stderr, "%s: %s\n", common->program, news);
    clock_wait(now.clock + pause);
}

/* True if sockets of all network namespaces are read to complete the rows. */
static bool needs_sockets(const struct listing *listing)
{
    return listing->sockets && listing->needs.fields & listing->sockets->fields;
}

/* The rights that lookups and tables of the listing may need. */
static unsigned rights_of(const struct listing *listing)
{
    const bool all_netns = listing->all_netns || needs_sockets(listing);

    if (listing->saved)
        return 1u << RIGHT_READ;
    unsigned rights =
        !proc_tree_is_own(listing->proc_root) || listing->diag_file ? 1u << RIGHT_READ : 0;

    if (all_netns)
        rights |= RIGHTS_OF_NAMESPACES;
    if (listing->own_netns && listing->needs.lookups & NEED_NAMES)
        rights |= 1u << RIGHT_NAMESPACES;
    if (listing->needs.lookups & (NEED_ANY_OWNERS | NEED_PROFILES | NEED_SENDERS | NEED_CONNECTS))
        rights |= 1u << RIGHT_OWNERS | (listing->processes ? 1u << RIGHT_NAMESPACE_FILES : 0);
    if (listing->needs.lookups & NEED_FIREWALL)
        rights |= 1u << RIGHT_NETFILTER | 1u << RIGHT_NETFILTER_FILES;
    if (listing->needs.lookups & NEED_CONTAINERS)
        rights |= 1u << RIGHT_CONTAINERS;
    if (((listing->needs.lookups & (NEED_ANY_OWNERS | NEED_CONNECTS) || all_netns) &&
         listing->owners != OWNERS_PROC) ||
        listing->byte_counts)
        rights |= 1u << RIGHT_BPF;
    for (size_t i = 0; i < listing->table_count; i++) {
        const struct table *table = listing->tables[i].table;
        if (table && (!table->privileged || table->privileged & listing->needs.fields))
            rights |= table->rights;
    }
    return rights;
}

static bool needs_child(const struct listing_command *command)
{
    const struct common *common = command->common;
    const uint64_t needs = command->listing.needs.lookups;
    const bool names = engine_gives_up_rights(&command->listing, needs);
    /* with --wait, the listing after the samples may need rights that samples do not need */
    const bool rights = common->wait || (needs & NEED_ANY_OWNERS) ||
                        !proc_tree_is_own(command->listing.proc_root) ||
                        command->listing.own_netns || command->listing.all_netns;

    if (common->output && command_is_untrusted(command))
        return true;
    /* for --delta and ages, this process must remember the values of the last run */
    return (common->interval_ms || common->wait) && names && rights && rights_any() &&
           !common->delta && !command->listing.ages;
}

/* Makes one run, to stdout or to a new file. */
static int list_to(struct replacement *file, struct listing_command *command, struct engine *engine,
                   struct sink *sink, struct repeated_run *run)
{
    int status = replacement_open(file), replaced;

    if (status) {
        run->last = true;
        return status;
    }
    if (file->fd >= 0)
        sink->writer->fd = file->fd;
    if (command->listing.maker)
        command->listing.maker->begin(command->listing.maker->maker);
    command->listing.time = clock_nanoseconds(CLOCK_REALTIME); /* the maker may have waited */
    if (needs_child(command)) {
        engine_prepare(engine, &command->listing);
        status = list_in_child(command, engine, sink, run);
    } else {
        status = list_once(command, engine, sink, run);
    }
    replaced = replacement_close(file, !run->useless);
    run->last |= replaced != 0;
    return status ? status : replaced;
}

/* The listing of a screen. */
struct run_in_place {
    struct repeated_listing repeated; /* must be first */
    struct replacement *file;         /* does nothing without --output */
    struct engine *engine;
    uint64_t number;
};

/* Runs the listing for a screen (struct repeated_listing). Each run has a sink of its own, because
 * the width of the terminal may have changed. */
static int run_for_screen(struct repeated_listing *repeated, int output, struct report *report,
                          bool *last)
{
    struct run_in_place *place = (struct run_in_place *)(void *)repeated;
    struct listing_command *command = repeated->command;
    struct repeated_run run = {.silent = !place->number, .kept = report};
    struct writer writer;
    int status;

    command->listing.number = place->number++;
    if (writer_init(&writer, output) < 0)
        return no_memory_status(command->common->program);
    struct sink *sink = command_sink(command, &writer);
    status = sink ? list_to(place->file, command, place->engine, sink, &run)
                  : no_memory_status(command->common->program);
    *last = run.last || !sink;
    sink_destroy(sink);
    writer_finish(&writer);
    return status;
}

/* --- Waiting for a row ------------------------------------------------------------------------ */

/* A listing of the same rows, which only finds out whether there is a row. */
struct sampler {
    struct engine *engine;
    struct common common;
    struct listing_command command;
    struct replacement file; /* no file */
    struct writer writer;
    struct sink *sink;
};

static void sampler_destroy(struct sampler *sampler)
{
    sink_destroy(sampler->sink);
    writer_finish(&sampler->writer);
    free(sampler);
}

/* Returns NULL if memory is short. */
static struct sampler *sampler_create(const struct listing_command *command, struct engine *engine)
{
    struct sampler *sampler = calloc(1, sizeof *sampler);

    if (!sampler)
        return NULL;
    sampler->engine = engine;
    sampler->common = *command->common;
    sampler->command = *command;
    sampler->file = (struct replacement){.directory = -1, .fd = -1};
    sampler->command.common = &sampler->common;
    sampler->common.quiet = true;
    command_make_quiet(&sampler->command.listing);
    if (writer_init(&sampler->writer, STDOUT_FILENO) == 0)
        sampler->sink = command_sink(&sampler->command, &sampler->writer);
    if (sampler->sink)
        return sampler;
    sampler_destroy(sampler);
    return NULL;
}

/* Returns the status of --quiet. kept: gets the reasons if the sample is incomplete; NULL: they are
 * printed. */
static int sampler_take(struct sampler *sampler, struct report *kept)
{
    struct repeated_run run = {.kept = kept};

    sampler->writer.error = 0; /* a row of the last sample has set it */
    return list_to(&sampler->file, &sampler->command, sampler->engine, sampler->sink, &run);
}

/* A writer.take that writes nothing. */
static int write_nothing(void *arg, const char *data, size_t size)
{
    (void)arg;
    (void)data;
    (void)size;
    return 0;
}

/* The time is over. Reports on stderr what there is now. */
static void list_last(struct listing_command *command, struct engine *engine)
{
    enum { LAST_ROWS = 20 };
    struct replacement file = {.directory = -1, .fd = -1};
    struct repeated_run run = {.silent = false};
    struct writer writer;
    struct sink *sink = NULL;

    if (writer_init(&writer, STDERR_FILENO) == 0)
        sink = command_sink(command, &writer);
    if (command->common->wait == WAIT_ROW) /* only hints why there is no row */
        writer.take = write_nothing;
    if (!command->listing.most)
        command->listing.most = LAST_ROWS;
    if (sink)
        (void)list_to(&file, command, engine, sink, &run);
    sink_destroy(sink);
    writer_finish(&writer);
}

/* A sample found what --wait waits for. Lists it, and returns the status; STATUS_NO_ROW: the row is
 * gone again. After --wait-gone the listing is empty, even if a new row came meanwhile. */
static int list_found(struct replacement *file, struct listing_command *command,
                      struct engine *engine, struct sink *sink)
{
    static const struct predicate nothing = {.operation = PREDICATE_OR};
    struct repeated_run run = {.needs_row = command->common->wait == WAIT_ROW};

    if (command->common->quiet)
        return STATUS_OK;
    if (command->common->wait == WAIT_GONE)
        command->listing.where = &nothing;
    return list_to(file, command, engine, sink, &run);
}

static int run_waiting(struct replacement *file, struct listing_command *command,
                       struct engine *engine, struct sink *sink)
{
    const struct common *common = command->common;
    const int wanted = common->wait == WAIT_ROW ? STATUS_OK : STATUS_NO_ROW;
    struct sampler *sampler = sampler_create(command, engine);
    bool known = false, reported = common->quiet;
    struct pace_time began;
    struct report kept;
    struct wait wait;
    int status;

    if (!sampler)
        return no_memory_status(common->program);
    wait_begin(&wait, command);
    do {
        began = pace_now();
        status = sampler_take(sampler, reported ? &kept : NULL);
        known |= status != STATUS_FAILURE;
        reported |= status == STATUS_FAILURE;
        status = status == wanted ? list_found(file, command, engine, sink) : STATUS_NO_ROW;
    } while (status == STATUS_NO_ROW && wait_next(&wait, began));
    wait_finish(&wait);
    if (status == STATUS_NO_ROW && !known && common->quiet)
        (void)sampler_take(sampler, NULL);
    sampler_destroy(sampler);
    if (status != STATUS_NO_ROW)
        return status;
    if (!common->quiet)
        wait_report(common, known);
    if (!common->quiet && known)
        list_last(command, engine);
    return known ? STATUS_TIME_OVER : STATUS_FAILURE;
}

/* --- All listings ---------------------------------------------------------------------------- */

static int run_list(struct replacement *file, struct listing_command *command,
                    struct engine *engine, struct sink *sink)
{
    const struct common *common = command->common;
    const uint64_t needs =
        command->listing.needs.fields | predicate_needs(command->listing.where).fields;
    struct pace pace = {.interval = common->interval_ms * CLOCK_MILLISECOND,
                        .strict = common->strict_interval,
                        .has_option = options_named(common->grammar->tables, "strict-interval")};
    struct run_in_place place = {
        {.command = command, .run = run_for_screen}, file, engine, !common->delta};

    if (!(needs & SOCKET_BYTES))
        command->listing.byte_counts = NULL;
    if (command->listing.byte_counts) { /* the listing uses bytes of sockets */
        struct report report = {.partial = false};
        char text[COUNTS_TEXT];
        counts_begin(&command->listing, text, &report);
        report_print(&report, stderr, common->program);
    }
    if (listing_screen_is_wanted(common) && !command->listing.events) {
        command->listing.wait = NULL; /* its message would be drawn into the screen */
        return listing_screen_run(&place.repeated, sink->writer);
    }
    if (common->wait)
        return run_waiting(file, command, engine, sink);
    for (uint64_t number = !common->delta;; number++) { /* the first run of --delta shows nothing */
        const struct pace_time began = pace_now();
        struct repeated_run run = {.silent = !number};
        command->listing.number = common->interval_ms ? number : 0;
        const int status = list_to(file, command, engine, sink, &run);
        if (!common->interval_ms || run.last)
            return status;
        wait_interval(common, &pace, began);
    }
}

/* Prints hints before a listing that goes on until the user stops it. */
static void foresee(const struct listing_command *command)
{
    struct report report = {.partial = false};

    if (command->common->explain || command->common->quiet ||
        !(command->run_endless || command->listing.events))
        return;
    empty_foresee(&command->listing, &report);
    report_print(&report, stderr, command->common->program);
}

static int run_run(struct replacement *file, struct listing_command *command)
{
    struct engine *engine;
    struct writer writer = {0};
    struct sink *sink = NULL;
    int status;

    command->listing.wait = command->common->quiet ? NULL : common_waiting();
    command->listing.ages =
        command_sees_age(command) &
        (command->listing.needs.fields | predicate_needs(command->listing.where).fields);
    if (!command->another_follows)
        rights_limit(rights_of(&command->listing) | command->rights |
                     (command->run_endless ? 1u << RIGHT_BUFFERS : 0) |
                     (command->common->wait ? 1u << RIGHT_BPF : 0));
    engine = engine_create(netlink_create(NULL));
    if (engine && writer_init(&writer, command->output ? command->output : STDOUT_FILENO) == 0) {
        command->context = engine_context(engine);
        if (command->common->format == FORMAT_PLAIN && !command_is_utf8())
            engine_use_ascii(engine);
        if (!command->common->wait) /* a listing without a row must not be written */
            writer_hurry(&writer);
        sink = command_sink(command, &writer);
    }
    if (sink && !command->another_follows && !needs_child(command) && command_is_untrusted(command))
        sandbox_enter();
    foresee(command);
    status = !sink                      ? no_memory_status(command->common->program)
             : command->common->explain ? command_explain(command, engine, sink)
             : command->run_endless     ? command->run_endless(command, engine, sink)
                                        : run_list(file, command, engine, sink);
    sink_destroy(sink);
    writer_finish(&writer);
    engine_destroy(engine);
    return status;
}

static int run_listing(struct listing_command *command)
{
    const struct common *common = command->common;
    bool help = false;
    int status;

    command->counting = common_counts(common) ? malloc(sizeof *command->counting) : NULL;
    command->rates = common->delta ? malloc(sizeof *command->rates) : NULL;
    if (!command->counting == !common_counts(common) && !command->rates == !common->delta)
        status = command_resolve(command, &help);
    else
        status = no_memory_status(common->program);
    if (!status && !help && command->open_output && !common->explain)
        status = command->open_output(command);
    if (!status && help) {
        status = columns_help(command);
    } else if (!status) {
        struct replacement file;
        status = replacement_begin(&file, common);
        if (!status)
            status = run_run(&file, command);
        replacement_finish(&file);
    }
    where_finish(&command->where);
    free(command->counting);
    free(command->rates);
    command->counting = NULL;
    command->rates = NULL;
    return status;
}

/* Lists saved rows. Not inlined, because of its large frame. */
static __attribute__((noinline)) int run_saved(struct listing_command *command)
{
    struct report problems = {.partial = false};
    const struct common *typed = command->common;
    struct common common = *typed;
    int status;

    command->common = &common;
    command->problems = &problems;
    status = saved_begin(command, &common, &problems);
    if (!status)
        status = run_listing(command);
    saved_finish(command);
    command->common = typed;
    command->problems = NULL;
    return status;
}

int command_run(struct listing_command *command)
{
    return common_is_saved(command->common) ? run_saved(command) : run_listing(command);
}
