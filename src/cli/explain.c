/* SPDX-License-Identifier: MIT */
/* --explain: which rows a listing has, and what chooses them. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

struct explaining {
    const struct listing_command *command;
    FILE *stream;
};

/* Fields, each once. */
enum { FIELDS_MAX = 64 };
struct fields {
    const struct field *items[FIELDS_MAX];
    size_t count;
};

static void add_field(struct fields *fields, const struct field *field)
{
    for (size_t i = 0; i < fields->count; i++)
        if (strcmp(fields->items[i]->name, field->name) == 0)
            return;
    if (fields->count < FIELDS_MAX)
        fields->items[fields->count++] = field;
}

/* All fields that the predicate, which may be NULL, compares. */
static void add_fields(struct fields *fields, const struct predicate *predicate)
{
    if (predicate && predicate->field)
        add_field(fields, predicate->field);
    for (const struct predicate *part = predicate ? predicate->parts : NULL; part;
         part = part->next)
        add_fields(fields, part);
}

static void put_names(FILE *stream, const struct fields *fields)
{
    for (size_t i = 0; i < fields->count; i++)
        fprintf(stream, "%s%s", i ? ", " : "", fields->items[i]->name);
}

/* Texts of the command line, which a terminal must not obey. */
static void put_where(const struct explaining *explaining, const struct predicate *where)
{
    char *text = NULL, *escaped;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);

    if (!memory)
        return;
    where_put(memory, where);
    fclose(memory);
    escaped = malloc(ESCAPE_FACTOR * size + 1);
    if (escaped)
        *escape_text(escaped, text, size, NULL) = '\0';
    for (const char *at = escaped; at && *at; at++) {
        fputc(*at, explaining->stream);
        at += at[0] == '\\' && at[1] == '\\'; /* it stays one: it is part of a pattern */
    }
    free(escaped);
    free(text);
}

/* Options of the personalities compare fields that --where does not know. */
static void put_unknown(const struct explaining *explaining, const struct fields *fields)
{
    struct fields unknown = {.count = 0};

    for (size_t i = 0; i < fields->count; i++)
        if (!field_named(explaining->command->kind, fields->items[i]->name))
            add_field(&unknown, fields->items[i]);
    if (!unknown.count)
        return;
    fprintf(explaining->stream, "  no column, so --where does not take it: ");
    put_names(explaining->stream, &unknown);
    fputc('\n', explaining->stream);
}

/* The column that shows this member: of those with a name of their own, the first. */
static const struct field *column_of(const struct kind *kind, size_t member)
{
    for (size_t i = 0; i < kind->field_count; i++)
        if (kind->fields[i].offset == member && kind->fields[i].member != MEMBER_NONE)
            return &kind->fields[i];
    return NULL;
}

static bool compares(const struct explanation *kernel, const struct field *field)
{
    for (size_t i = 0; i < kernel->count && field->member != MEMBER_NONE; i++)
        if (kernel->members[i] == field->offset)
            return true;
    return false;
}

/* Says which columns the kernel compares, and which are left to fastnet. */
static void put_shares(const struct explaining *explaining, const struct explained *explained)
{
    const struct explanation *kernel = &explained->kernel;
    struct fields compared = {.count = 0}, columns = {.count = 0}, rest = {.count = 0};
    FILE *stream = explaining->stream;

    add_fields(&compared, explaining->command->listing.where);
    add_fields(&compared, explained->table->where);
    for (size_t i = 0; i < kernel->count; i++) {
        const struct field *column = column_of(explained->read->kind, kernel->members[i]);
        if (column)
            add_field(&columns, column);
    }
    for (size_t i = 0; i < compared.count; i++)
        if (!compares(kernel, compared.items[i]))
            add_field(&rest, compared.items[i]);
    if (!compared.count)
        return;
    fprintf(stream, "  the kernel compares: ");
    put_names(stream, &columns);
    fprintf(stream, columns.count ? "" : "nothing");
    fprintf(stream, *kernel->text ? " (%s)\n" : "\n", kernel->text);
    fprintf(stream, "  fastnet compares: ");
    put_names(stream, &rest);
    fprintf(stream, rest.count ? "\n" : "nothing more\n");
}

/* For explain_fn. */
static void put_table(const struct explained *explained, void *arg)
{
    const struct explaining *explaining = arg;
    FILE *stream = explaining->stream;

    if (!explained->read)
        return;
    fprintf(stream, "\n%s\n", explained->read->name);
    if (explained->table->where) {
        fprintf(stream, "  its rows: ");
        put_where(explaining, explained->table->where);
        fputc('\n', stream);
    }
    fprintf(stream, "  read by: ");
    for (size_t i = 0; i < explained->backend_count; i++)
        fprintf(stream, "%s%s", i ? ", else by " : "", explained->backends[i]->name);
    fprintf(stream, explained->backend_count ? "\n" : "nothing that is allowed\n");
    put_shares(explaining, explained);
}

int command_explain(const struct listing_command *command, struct engine *engine, struct sink *sink)
{
    struct page page;
    struct explaining explaining = {command, page_open(&page)};
    const struct listing *listing = &command->listing;
    struct fields fields = {.count = 0};
    int error, status;

    fprintf(explaining.stream, "filter: ");
    if (listing->where)
        put_where(&explaining, listing->where);
    fprintf(explaining.stream, listing->where ? "\n" : "none\n");
    add_fields(&fields, listing->where);
    put_unknown(&explaining, &fields);
    error = engine_explain(engine, listing, sink, put_table, &explaining);
    if (listing->needs.lookups & NEED_PEERS) /* other sources than the rows */
        fputs(listing->backend == BACKEND_PROC || listing->diag_file
                  ? "\nother ends: unknown, because only netlink tells them\n"
                  : "\nother ends: one netlink dump more of each protocol, before the rows\n",
              explaining.stream);
    status = page_finish(&page, command->common->program);
    if (error)
        fprintf(stderr, "%s: %s\n", command->common->program, strerror(-error));
    return error ? STATUS_FAILURE : status;
}
