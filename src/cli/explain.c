/* SPDX-License-Identifier: MIT */
/* --explain: says which rows a listing has, and whether the kernel or fastnet chooses them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/known_names.h"
#include "fastnet/array.h"
#include "fastnet/proc_tree.h"

struct explaining {
    const struct listing_command *command;
    FILE *stream;
};

enum { NAMES_MAX = 2048 };

static void add_name(char names[NAMES_MAX], const struct field *field)
{
    if (!text_has_word(names, field->name))
        text_list(names, NAMES_MAX, ", ", as_text(field->name));
}

static bool explain_compares(const struct explanation *kernel, const struct field *field)
{
    for (size_t i = 0; i < kernel->count && field->member != MEMBER_NONE; i++)
        if (kernel->members[i] == field->offset)
            return true;
    return false;
}

/* Adds the fields that `predicate` compares to `names`, except columns of `kind` and fields that
 * `kernel` compares. Each of the three may be NULL. */
static void list_fields(char names[NAMES_MAX], const struct predicate *predicate,
                        const struct kind *kind, const struct explanation *kernel)
{
    const struct field *field = predicate ? predicate->field : NULL;

    if (field && !(kind && field_named(kind, field->name)) &&
        !(kernel && explain_compares(kernel, field)))
        add_name(names, field);
    for (const struct predicate *part = predicate ? predicate->parts : NULL; part;
         part = part->next)
        list_fields(names, part, kind, kernel);
}

/* Writes a predicate. It has texts of the command line, so control characters are escaped. */
static void explain_put_where(FILE *stream, const struct predicate *where)
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
        fputc(*at, stream);
        at += at[0] == '\\' && at[1] == '\\'; /* not doubled: part of a pattern */
    }
    free(escaped);
    free(text);
}

void explain_words(const struct listing_command *command, const struct predicate *where)
{
    const char *options = command->common->filters.options;

    if (command->common->explain || command->common->quiet || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "filter: %s%s", options, where && *options ? " and " : "");
    if (where)
        explain_put_where(stderr, where);
    fputc('\n', stderr);
    if (command->run_endless || command->listing.events) { /* the user would wait for nothing */
        struct report report = {.partial = false};
        known_names_report(command->common, command->kind, true, &report);
        report_print(&report, stderr, command->common->program);
    }
}

/* Adds the column that shows this member; the first, if several columns show it. */
static void add_column_of(char names[NAMES_MAX], const struct kind *kind, size_t member)
{
    for (size_t i = 0; i < kind->field_count; i++)
        if (kind->fields[i].offset == member && kind->fields[i].member != MEMBER_NONE) {
            add_name(names, &kind->fields[i]);
            return;
        }
}

/* Writes which columns the kernel compares, and which columns fastnet compares. */
static void put_shares(const struct explaining *explaining, const struct explained *explained)
{
    const struct predicate *const wheres[] = {explaining->command->listing.where,
                                              explained->table->where};
    const struct explanation *kernel = &explained->kernel;
    char all[NAMES_MAX] = "", columns[NAMES_MAX] = "", rest[NAMES_MAX] = "";
    FILE *stream = explaining->stream;

    for (size_t i = 0; i < COUNT(wheres); i++) {
        list_fields(all, wheres[i], NULL, NULL);
        list_fields(rest, wheres[i], NULL, kernel);
    }
    for (size_t i = 0; i < kernel->count; i++)
        add_column_of(columns, explained->read->kind, kernel->members[i]);
    if (!*all)
        return;
    fprintf(stream, "  the kernel compares: %s", *columns ? columns : "nothing");
    fprintf(stream, *kernel->text ? " (%s)\n" : "\n", kernel->text);
    fprintf(stream, "  fastnet compares: %s\n", *rest ? rest : "nothing more");
}

/* An explain_fn: writes how one table is read. */
static void explain_put_table(const struct explained *explained, void *arg)
{
    const struct explaining *explaining = arg;
    FILE *stream = explaining->stream;

    if (!explained->read)
        return;
    fprintf(stream, "\n%s\n", explained->read->name);
    if (explained->table->where) {
        fprintf(stream, "  only rows with: ");
        explain_put_where(stream, explained->table->where);
        fputc('\n', stream);
    }
    fprintf(stream, "  read by: ");
    for (size_t i = 0; i < explained->backend_count; i++)
        fprintf(stream, "%s%s", i ? ", else by " : "", explained->backends[i]->name);
    fprintf(stream, explained->backend_count ? "\n" : "no backend (check --backend)\n");
    put_shares(explaining, explained);
}

int command_explain(const struct listing_command *command, struct engine *engine, struct sink *sink)
{
    struct page page;
    struct explaining explaining = {command, page_open(&page)};
    const struct listing *listing = &command->listing;
    char unknown[NAMES_MAX] = "";
    int error, status;

    fprintf(explaining.stream, "filter: ");
    if (listing->where)
        explain_put_where(explaining.stream, listing->where);
    fprintf(explaining.stream, listing->where ? "\n" : "none\n");
    /* options of personalities may compare fields that --where does not know */
    list_fields(unknown, listing->where, command->kind, NULL);
    if (*unknown)
        fprintf(explaining.stream, "  internal fields, which --where does not know: %s\n", unknown);
    error = engine_explain(engine, listing, sink, explain_put_table, &explaining);
    if (listing->needs.lookups & NEED_PEERS) /* separate requests find the other ends */
        fputs(listing->backend == BACKEND_PROC || listing->diag_file
                  ? "\nother ends: unknown, because only netlink reports them\n"
                  : "\nother ends: read before the rows, by one more netlink dump for each "
                    "protocol\n",
              explaining.stream);
    if (listing->needs.lookups & NEED_FIREWALL)
        fputs("\nreachable: the rules of nftables are read before the rows\n", explaining.stream);
    if (listing->sockets && listing->needs.fields & listing->sockets->fields)
        fputs(
            proc_tree_is_own(listing->proc_root)
                ? "\nowners of both ends: before the rows, the TCP and UDP sockets of all network "
                  "namespaces are read once\n"
                : "\nowners of both ends: before the rows, the TCP and UDP sockets of the tree are "
                  "read once\n",
            explaining.stream);
    status = page_finish(&page, command->common->program);
    if (error)
        fprintf(stderr, "%s: %s\n", command->common->program, strerror(-error));
    return error ? STATUS_FAILURE : status;
}
