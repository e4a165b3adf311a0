/* SPDX-License-Identifier: MIT */
/* Reports why tables were not read, or only in part. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/run.h"
#include "fastnet/array.h"
#include "fastnet/rights.h"
#include "fastnet/text.h"

/* --- Words ------------------------------------------------------------------------------------ */

/* Errors that mean "not by this backend". Any other error is a fault and is reported. */
static const int refusals[] = {EPERM,      ENOENT,          ENOTDIR,      ENOSYS,         EACCES,
                               EOPNOTSUPP, EPROTONOSUPPORT, EAFNOSUPPORT, ESOCKTNOSUPPORT};

/* Texts for errors of files. Other errors have the text of strerror(3). */
static const struct wording {
    int error;
    bool captured; /* the file is in a captured tree */
    const char *text;
} wordings[] = {
    {ENOTDIR, false, "is missing (is /proc mounted with subset=pid?)"},
    {ENOTDIR, true, "is missing"},
    {EINVAL, true, "not a regular file"},
    {EXDEV, true, "a symbolic link that leads out of the tree"},
};

/* Why no backend may read a table, for each value of --backend. */
static const char *const why_no_backend[] = {
    [BACKEND_AUTO] = "this needs /proc, not netlink",
    [BACKEND_NETLINK] = "this needs /proc, not netlink",
    [BACKEND_PROC] = "this needs netlink, not /proc",
};

static bool is_refusal(int error)
{
    for (size_t i = 0; i < COUNT(refusals); i++)
        if (refusals[i] == -error)
            return true;
    return false;
}

static const char *refusals_words_of(const struct run *run, int error)
{
    for (size_t i = 0; i < COUNT(wordings); i++)
        if (wordings[i].error == -error && wordings[i].captured == run_is_captured(run))
            return wordings[i].text;
    return strerror(-error);
}

/* Words of the backend about the missing thing (a right, a module), or NULL. */
static const char *remedy_of(const struct backend *backend, const struct table *table, int error)
{
    return backend->remedy ? backend->remedy(table, error) : NULL;
}

/* --- Tables that were not read ---------------------------------------------------------------- */

/* In a captured tree, reports the missing file: nobody knows which tables its kernel had. */
static bool note_missing_file(const struct run *run, const struct table *table)
{
    const bool captured = run_is_captured(run) && table && table->file;

    if (captured)
        report_note(run->report, "%s/net/%s is missing", run->listing->proc_root, table->file);
    return captured;
}

/* Reports missing tables, unless a loss has set exit status 1 already. */
void run_report_lacking(struct run *run)
{
    if (!run->lacking_count || run->report->partial)
        return;
    for (size_t i = 0; i < run->lacking_count; i++)
        if (!note_missing_file(run, run->lacking[i].table) && run->lacking[i].message)
            report_note(run->report, "%s", run->lacking[i].message);
    run->report->partial = run->report->ended = true;
}

void run_report_missing(struct run *run, const struct listing_table *table, const char *remedy)
{
    const bool ends = table->if_missing == MISSING_ENDS;

    if (table->if_missing == MISSING_COSTS_STATUS && run->lacking_count < LACKING_MAX)
        run->lacking[run->lacking_count++] =
            (struct lacking){table->table, remedy ? remedy : table->missing};
    else if (table->missing && !note_missing_file(run, table->table))
        report_add(run->report,
                   table->if_missing == MISSING_IS_QUOTED ? REPORT_VERBATIM : REPORT_NOTE, "%s",
                   table->missing);
    run->report->partial |= ends;
    run->report->ended |= ends;
    run->limits.ended |= ends;
}

/* Adds a table to the failure with this reason or, if there are too many, to the last failure. */
static void add_failure(struct run *run, const struct table *table, const char *reason, bool unread,
                        bool costs_status)
{
    struct failure *failure = run->failures, *last = &run->failures[FAILURES_MAX - 1];
    size_t length;

    while (failure < last && *failure->tables && strcmp(failure->reason, reason) != 0)
        failure++;
    if (!*failure->tables)
        snprintf(failure->reason, sizeof failure->reason, "%s", reason);
    failure->costs_status |= costs_status;
    failure->unread |= unread;
    if (run->netns_walk.current && text_has_word(failure->tables, table->name))
        return; /* reported for another network namespace */
    length = strlen(failure->tables);
    snprintf(failure->tables + length, sizeof failure->tables - length, "%s%s", length ? ", " : "",
             table->name);
}

/* Adds the failure that no backend could read the table, with the reason of each backend, in the
 * backend's own words if it has some. A backend that only calls other backends (BACKEND_AUTO) is
 * named only if no other backend was asked. */
static void add_refusals(struct run *run, const struct table *table, const struct answers *answers)
{
    char reason[sizeof run->failures->reason] = "";
    const char *root = run->listing->proc_root;
    size_t length = 0;

    for (size_t i = 0; i < answers->count && length + 2 < sizeof reason; i++) {
        const struct backend *this = answers->asked[i];
        const int error = answers->errors[i];
        const char *remedy = remedy_of(this, table, error);
        if (this->source == BACKEND_AUTO && answers->count > 1)
            continue;
        if (length)
            length += (size_t)snprintf(reason + length, sizeof reason - length, "; ");
        char *at = reason + length;
        const size_t left = sizeof reason - length;
        if (error == -ENOTDIR)
            snprintf(at, left, "%s/net %s", root, refusals_words_of(run, error));
        else if (run_is_captured(run) && table->file && this->source == BACKEND_PROC && !remedy)
            snprintf(at, left, "%s/net/%s: %s", root, table->file, refusals_words_of(run, error));
        else
            snprintf(at, left, "%s: %s", this->name, remedy ? remedy : strerror(-error));
        run->report->unreadable |= error != -ENOTDIR;
        length = strlen(reason);
    }
    add_failure(run, table, reason, true, true);
    run->report->partial = true;
}

void run_report_failures(struct run *run)
{
    for (size_t i = 0; i < FAILURES_MAX && *run->failures[i].tables; i++)
        report_add(run->report, run->failures[i].costs_status ? REPORT_LOSS : REPORT_NOTE,
                   "%s%s: %s", run->failures[i].unread ? "cannot read " : "",
                   run->failures[i].tables, run->failures[i].reason);
}

void run_report_unread(struct run *run, const struct listing_table *table,
                       const struct answers *answers)
{
    /* if every row needs a right that is missing, a missing file does not mean that the kernel
     * lacks the table */
    const bool private = table->table->rights && !table->table->privileged;
    bool kernel_lacks_it = false, refused = false;

    for (size_t i = 0; i < answers->count; i++) {
        refused |= private && answers->errors[i] == -EPERM;
        if (answers->asked[i]->source == BACKEND_PROC)
            kernel_lacks_it = answers->errors[i] == -ENOENT;
        else if (answers->errors[i] == -ENOENT && answers->count == 1)
            kernel_lacks_it = run->listing->backend == BACKEND_AUTO;
    }
    if (!answers->count && table->unnamed && run->listing->backend == BACKEND_NETLINK)
        report_detail(run->report, "%s: %s", table->table->name, why_no_backend[BACKEND_NETLINK]);
    else if (!answers->count)
        report_loss(run->report, "cannot read %s: %s", table->table->name,
                    run_is_captured(run) ? "a captured tree has no file for this"
                                         : why_no_backend[run->listing->backend]);
    else if (kernel_lacks_it && !refused)
        run_report_missing(run, table,
                           answers->count == 1
                               ? remedy_of(*answers->asked, table->table, *answers->errors)
                               : NULL);
    else
        add_refusals(run, table->table, answers);
}

/* --- Tables that another backend read --------------------------------------------------------- */

/* True if this answer is a fault of the machine and not a refusal. */
static bool refusals_is_fault(const struct table *table, const struct answers *answers, size_t i)
{
    const int error = answers->errors[i];
    const bool next_reports_it = i + 1 < answers->count && answers->errors[i + 1] == error;

    return !is_refusal(error) && !remedy_of(answers->asked[i], table, error) && !next_reports_it;
}

static void put_answer(char *reason, size_t size, const struct table *table,
                       const struct backend *backend, int error, bool unknown)
{
    const char *remedy = remedy_of(backend, table, error);

    const char *verdict = remedy || is_refusal(error) ? "refused" : "failed";
    const int length = snprintf(reason, size, "%s %s: %s", backend->name, verdict,
                                remedy ? remedy : strerror(-error));

    if (unknown && (size_t)length < size)
        snprintf(reason + length, size - (size_t)length,
                 "; columns that only %s provides are unknown", backend->name);
}

void run_report_fallback(struct run *run, const struct listing_table *listed,
                         const struct answers *answers, size_t tried, const struct backend *had_it)
{
    const struct table *table = listed->table;
    char reason[sizeof run->failures->reason];

    for (size_t i = 0; tried && i < answers->count; i++) {
        const struct backend *this = answers->asked[i];
        const bool fault = i < tried && refusals_is_fault(table, answers, i);
        /* fields that are unknown because had_it read the table instead of this backend */
        const uint64_t misses =
            answers->wanted && had_it && this->source != BACKEND_AUTO
                ? run->needs.fields & backend_fields(this, table) & ~backend_fields(had_it, table)
                : 0;
        const bool named = misses & run->listing->named.fields,
                   unknown = listed->unnamed ? named : misses;
        if (!fault && !unknown)
            continue;
        if (i < tried)
            put_answer(reason, sizeof reason, table, this, answers->errors[i], unknown);
        else
            snprintf(reason, sizeof reason, "read by %s; columns that only %s provides are unknown",
                     had_it->name, this->name);
        add_failure(run, table, reason, false, named);
    }
}

/* --- Fields that the backend lacks ------------------------------------------------------------ */

/* The fields of a table that this backend lacks and another backend has. */
static uint64_t lacking(const struct table *table, const struct backend *backend)
{
    return backends_fields(table) & ~backend_fields(backend, table);
}

/* The fields that the kernel does not give to this process, because it lacks a right. */
static uint64_t withheld(const struct table *table, const struct backend *backend)
{
    return rights_have(table->rights) ? 0 : table->privileged & backend_fields(backend, table);
}

uint64_t run_unavailable(const struct table *table, const struct backend *backend,
                         const struct predicate *where)
{
    uint64_t fields = 0;

    for (const struct predicate *part = where ? where->parts : NULL; part; part = part->next)
        fields |= run_unavailable(table, backend, part);
    if (where && where->field)
        fields |=
            field_compares(where->field) & (lacking(table, backend) | withheld(table, backend));
    return fields;
}

void run_report_unavailable(struct run *run, const struct table *table,
                            const struct backend *backend, const struct predicate *where,
                            uint64_t lacks)
{
    const struct field *field = where->field;
    const bool is_lacking = field && field_compares(field) & lacks;

    if (is_lacking && field->fields & withheld(table, backend))
        report_loss(run->report, "the column %s needs CAP_NET_ADMIN%s: rows may be missing",
                    field->name, rights_advice());
    else if (is_lacking && backend->source == BACKEND_PROC && table->file)
        report_loss(run->report, "%s: the column %s is not in %s/net/%s: rows may be missing",
                    table->name, field->name, run->listing->proc_root, table->file);
    else if (is_lacking)
        report_loss(run->report, "%s: the column %s is unknown to %s: rows may be missing",
                    table->name, field->name, backend->name);
    for (const struct predicate *part = where->parts; part; part = part->next)
        run_report_unavailable(run, table, backend, part, lacks);
}
