/* SPDX-License-Identifier: MIT */
/* What the owners of shown rows are. A process is visited when a row of it is shown or compared. */
#include "fastnet/profiles.h"

#include <string.h>

#include "engine/run.h"
#include "fastnet/owners.h"
#include "fastnet/rights.h"

/* Each run visits the processes again, except runs of live rows: there a process may have ended,
 * and its row is still shown. Live rows can get columns later, which need owners that were found
 * with these profiles. */
void run_prepare_profiles(struct run *run)
{
    struct engine *engine = run->engine;
    struct context *context = &engine->context;
    const uint64_t needs = run->needs.lookups & (NEED_PROFILES | NEED_PROGRAMS);
    int error;

    if (!(needs & NEED_PROFILES))
        return;
    if (context->profiles && !(needs & ~engine->profiled_for)) {
        if (!run->listing->live)
            profiles_forget(context->profiles);
        return;
    }
    owners_destroy(context->owners);
    profiles_destroy(context->profiles);
    context->owners = NULL;
    context->profiles = NULL;
    engine->profiled_for = needs;
    error = profiles_create(&context->profiles, run_processes(run), needs & NEED_PROGRAMS);
    if (error < 0)
        report_note(run->report, "processes: %s: %s", run_processes(run), strerror(-error));
}

static void visit_owners(const struct context *context, uint64_t inode)
{
    const struct owner *first;
    const size_t count = owners_find(context->owners, inode, &first);

    for (size_t i = 0; i < count; i++)
        if (profiles_find(context->profiles, first[i].process->pid, first[i].process->seen_at))
            (void)profiles_parent(context->profiles, first[i].process->pid);
}

/* Names are looked up without rights. Before that, visits the owners of rows that may be shown. */
void run_read_profiles(struct run *run, struct rows *rows)
{
    const struct context *context = &run->engine->context;
    const struct needs known = {UINT64_MAX, ~(uint64_t)NEED_NAMES, 0};
    struct kept_row row;
    uint64_t inode;

    if (!context->profiles || !context->owners || !(run->needs.lookups & NEED_NAMES))
        return;
    for (size_t i = 0; i < rows->count; i++) {
        const struct record *record = rows_at(rows, i, &row);
        run_use_netns(run, record->netns_index);
        if (!record->kind->inode ||
            !predicate_may_be_met(run->listing->where, record, context, known))
            continue;
        memcpy(&inode, (const char *)record + record->kind->inode, sizeof inode);
        visit_owners(context, inode);
    }
}

/* Reports once what could not be read. */
void run_report_profiles(struct run *run)
{
    const struct profiles *profiles = run->engine->context.profiles;
    const struct profiles_summary *summary = profiles ? profiles_summary(profiles) : NULL;
    const uint64_t filter = predicate_needs(run->listing->where).lookups & NEED_PROFILES;
    const enum report_line type = filter ? REPORT_LOSS : REPORT_NOTE;
    const char *missing = filter ? ": rows may be missing" : "";

    if (!summary || !(run->needs.lookups & NEED_PROFILES) || run->engine->profiles_reported)
        return;
    if (summary->denied)
        report_add(run->report, type,
                   "not allowed to read all about %zu process%s, such as %s%s%d%s%s%s",
                   summary->denied, summary->denied == 1 ? "" : "es", summary->name,
                   *summary->name ? " (pid " : "pid ", (int)summary->pid, *summary->name ? ")" : "",
                   rights_advice(), missing);
    else if (summary->absent)
        report_add(run->report, type, "%s lacks the arguments of %zu process%s%s",
                   run_processes(run), summary->absent, summary->absent == 1 ? "" : "es", missing);
    if (summary->error)
        report_add(run->report, type, "processes: %s%s", strerror(summary->error), missing);
    run->engine->profiles_reported =
        run->listing->live && (summary->denied || summary->absent || summary->error);
}
