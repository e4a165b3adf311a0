/* SPDX-License-Identifier: MIT */
/* Lists rows that were printed before, in place of tables of the kernel. Nothing of this machine
 * may get into the listing of another, so no lookup is made. */
#include "fastnet/saved.h"

#include <errno.h>

#include "engine/run.h"

struct saved_run {
    struct run *run;
    /* The columns that say to which table a row belongs; NULL: the kind has no such column. */
    const struct field *family, *protocol, *listed;
    uint64_t unchosen; /* rows of tables that the listing does not have */
};

/* False if the row has this number, and it is not the number of the table. */
static bool may_have(const struct field *field, const struct record *record, uint64_t number)
{
    return !number || !field || !saved_has_number(record, field) ||
           field_number(field, record) == number;
}

static bool is_unlisted(const struct saved_run *saved, const struct record *record)
{
    const struct value listed =
        saved->listed ? field_value(saved->listed, record, &saved->run->engine->context)
                      : (struct value){.type = VALUE_UNKNOWN};

    return listed.type == VALUE_BOOLEAN && !listed.number;
}

/* Returns the first table to which the row may belong, or NULL. */
static const struct listing_table *saved_table_of(const struct saved_run *saved,
                                                  const struct record *record)
{
    const struct listing *listing = saved->run->listing;
    const struct needs known = {.fields = UINT64_MAX};

    for (size_t i = 0; i < listing->table_count; i++) {
        const struct listing_table *at = &listing->tables[i];
        const struct table *table = at->table;
        if (!table || table->kind->name != record->kind->name) /* a kind with rates has its name */
            continue;
        const bool fits = table == &table_unlisted ? is_unlisted(saved, record)
                          : listing->unlisted == UNLISTED_ONLY
                              ? false
                              : may_have(saved->family, record, table->family) &&
                                    may_have(saved->protocol, record, table->protocol);
        if (fits && (!at->where || predicate_may_be_met(at->where, record, NULL, known)))
            return at;
    }
    return NULL;
}

/* Takes a row of the source. */
static int saved_take(const struct record *record, void *arg)
{
    struct saved_run *saved = arg;
    struct run *run = saved->run;
    const struct listing_table *table = saved_table_of(saved, record);

    if (!table)
        saved->unchosen +=
            predicate_holds(run->listing->where, record, &run->engine->context); /* not refused */
    if (!table || !run_wants(run, record))
        return 0;
    if (run->listing->limit && run->limits.taken++ == run->listing->limit)
        return -ECANCELED;
    if (run->keep_all)
        return rows_add(run_rows(run, 0, run_section(run, table)), record);
    return run_emit(run, run->sink, record);
}

/* Returns a column whose member is a number; NULL: the kind has no such column. */
static const struct field *saved_number_field(const struct kind *kind, const char *name)
{
    const struct field *field = field_named(kind, name);

    return field && field->plain && field->member <= MEMBER_UINT64 ? field : NULL;
}

int run_saved(struct run *run)
{
    const struct listing *listing = run->listing;
    struct saved_source *source = listing->saved;
    const struct query query = {.saved = source, .where = listing->where, .report = run->report};
    struct saved_run saved = {.run = run,
                              .family = saved_number_field(source->kind, "family"),
                              .protocol = saved_number_field(source->kind, "protocol"),
                              .listed = field_named(source->kind, "listed")};
    int error;

    /* a sink with sections needs the rows of one after those of another */
    run->keep_all =
        listing->sort->field || listing->compare || (run->sink->ops->section && !run->groups);
    run->found = true;
    run->report->found = true;
    sink_begin(run->sink);
    error = source->read(source, &query, saved_take, &saved);
    if (error == -ECANCELED)
        error = 0; /* the limit */
    if (saved.unchosen && !source->all_tables)
        report_note(run->report,
                    "%llu row%s of other tables %s not listed (try fastnet --from=FILE)",
                    (unsigned long long)saved.unchosen, saved.unchosen == 1 ? "" : "s",
                    saved.unchosen == 1 ? "is" : "are");
    if (!error && run->keep_all)
        error = run_emit_gathered(run, 0, listing->table_count);
    if (!error && run->groups)
        error = run_emit_groups(run);
    sink_end(run->sink);
    return error;
}
