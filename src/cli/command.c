#include "cli/command.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/nearest.h"
#include "fastnet/array.h"
#include "fastnet/proc_tree.h"

static bool uses_columns(const struct listing_command *command)
{
    return !command->layout_ops || common_uses_columns(command->common);
}

/* --- Which columns ---------------------------------------------------------------------------- */

static int print_columns(const struct listing_command *command)
{
    const struct kind *kind = command->kind;
    struct page page;
    FILE *stream = page_open(&page);
    size_t width = 16;

    for (size_t i = 0; i < kind->field_count; i++)
        if (strlen(kind->fields[i].name) > width)
            width = strlen(kind->fields[i].name);
    for (size_t i = 0; i < kind->field_count; i++)
        fprintf(stream, "%-*s %s\n", (int)width, kind->fields[i].name, kind->fields[i].help);
    return page_finish(&page, command->common->program);
}

static void show(struct listing_command *command, const struct field *field)
{
    for (size_t i = 0; i < command->shown_count; i++)
        if (command->shown[i] == field)
            return;
    if (field && command->shown_count < LISTING_COLUMNS_MAX)
        command->shown[command->shown_count++] = field;
}

static void show_named(struct listing_command *command, const char *names)
{
    while (*names) {
        const size_t length = strcspn(names, " ");
        const struct field *field = field_find(command->kind, names, length);
        if (field && !(field->fields & command->unknown))
            show(command, field);
        names += length + (names[length] == ' ');
    }
}

static void show_defaults(struct listing_command *command)
{
    const struct kind *kind = command->kind;

    for (size_t i = 0; i < COUNT(command->columns); i++)
        if (command->columns[i])
            show_named(command, command->columns[i]);
    if (command->shown_count)
        return;
    for (size_t i = 0; i < kind->field_count; i++)
        if (!(kind->fields[i].lookups & NEED_HOSTS))
            show(command, &kind->fields[i]);
}

static int fail_column(const struct listing_command *command, const char *option, const char *name,
                       size_t length)
{
    char message[NO_COLUMN];

    return common_misuse(command->common, "%s: %s", option,
                         nearest_column(command->kind, name, length, message));
}

/* A comma-separated list of column names. */
static int find_columns(const struct listing_command *command, const char *option,
                        const char *names, const struct field *columns[LISTING_COLUMNS_MAX],
                        size_t *count)
{
    *count = 0;
    for (;;) {
        const size_t length = strcspn(names, ",");
        const struct field *column = field_find(command->kind, names, length);
        const char *wrong = *count == LISTING_COLUMNS_MAX ? "too many columns from" : NULL;
        if (!column)
            return fail_column(command, option, names, length);
        for (size_t i = 0; i < *count; i++)
            if (columns[i] == column)
                wrong = "named twice:";
        if (wrong)
            return common_misuse_typed(command->common, option, wrong, names, length);
        columns[(*count)++] = column;
        if (!names[length])
            return 0;
        names += length + 1;
    }
}

/* The columns of a --count-by listing: what was counted by, and the count. */
static int resolve_counting(struct listing_command *command)
{
    const char *names = command->common->count_by;
    struct listing *listing = &command->listing;
    int status =
        find_columns(command, "--count-by", names, listing->count_by, &listing->count_by_count);

    if (status)
        return status;
    if (listing->count_by_count == LISTING_COLUMNS_MAX)
        return common_misuse_typed(command->common, "--count-by", "too many columns in", names,
                                   strlen(names));
    for (size_t i = 0; i < listing->count_by_count; i++) {
        field_counted(&command->counted[i], listing->count_by[i], i);
        show(command, &command->counted[i]);
        needs_add(&listing->needs, field_needs(listing->count_by[i]));
    }
    show(command, &field_count);
    return 0;
}

static int resolve_shown(struct listing_command *command)
{
    const struct common *common = command->common;
    int status = 0;

    if (common->count_by)
        return resolve_counting(command);
    if (common->columns)
        status = find_columns(command, "--columns", common->columns, command->shown,
                              &command->shown_count);
    else
        show_defaults(command);
    if (!uses_columns(command)) {
        needs_add(&command->listing.needs, command->layout_needs);
        return status;
    }
    for (size_t i = 0; !status && i < command->shown_count; i++) {
        struct needs needs = field_needs(command->shown[i]);
        needs.lookups &= common->columns ? UINT64_MAX : ~command->without;
        needs_add(&command->listing.needs, needs);
    }
    return status;
}

/* After --count-by only what was counted can be sorted by. */
static int resolve_sort(struct listing_command *command)
{
    const char *name = command->common->sort;
    const bool counted = command->common->count_by;
    struct listing *listing = &command->listing;

    if (!name)
        return 0;
    listing->descending = *name == '-';
    name += listing->descending;
    if (!counted)
        listing->sort = field_find(command->kind, name, strlen(name));
    for (size_t i = 0; counted && i < command->shown_count; i++)
        if (strcmp(command->shown[i]->name, name) == 0)
            listing->sort = command->shown[i];
    if (!listing->sort && counted)
        return common_misuse_typed(command->common, "--sort",
                                   "not count, and not a column of --count-by:", name,
                                   strlen(name));
    if (!listing->sort)
        return fail_column(command, "--sort", name, strlen(name));
    needs_add(&listing->needs, field_needs(listing->sort));
    return 0;
}

/* --- Which rows ------------------------------------------------------------------------------- */

static int resolve_filters(struct listing_command *command)
{
    struct listing *listing = &command->listing;
    const char *wrong =
        filters_resolve(&command->common->filters, &command->where, command->kind, &listing->typed);

    if (wrong)
        return common_misuse(command->common, "--%s: %s", wrong, command->where.message);
    if (listing->typed)
        listing->where = where_both(&command->where, listing->where, listing->typed);
    if (listing->typed && !listing->where)
        return common_misuse(command->common, "%s", command->where.message);
    needs_add(&listing->needs, predicate_needs(listing->where));
    return 0;
}

/* --- Where rows are read ---------------------------------------------------------------------- */

static int resolve_source(struct listing_command *command)
{
    const struct common *common = command->common;
    struct listing *listing = &command->listing;
    const char *root = common->proc_root;

    listing->delta = common->delta;
    listing->exact = common->exact;
    listing->backend = common->backend;
    listing->proc_root = root ? root : "/proc";
    if (!root)
        return 0;
    if (!proc_tree_is_directory(root) || strlen(root) > PATH_MAX / 2)
        return common_misuse_typed(common, "--proc-root", "no such directory:", root, strlen(root));
    if (common->backend == BACKEND_NETLINK)
        return common_misuse(common, "--proc-root: cannot be combined with --backend=netlink");
    listing->backend = BACKEND_PROC; /* a captured tree says nothing of this machine's sockets */
    return 0;
}

/* Whether some column that is shown may be a counter. */
static bool has_counters(const struct listing_command *command)
{
    const struct kind *kind = command->kind;

    for (size_t i = 0; i < kind->field_count; i++)
        if (kind->fields[i].counter && !(kind->fields[i].fields & ~command->listing.needs.fields))
            return true;
    return false;
}

int command_resolve(struct listing_command *command, bool *done)
{
    const struct common *common = command->common;
    int status;

    if (common->columns && strcmp(common->columns, "help") == 0) {
        *done = true;
        return print_columns(command);
    }
    if (common->columns && common->count_by)
        return common_misuse(common, "--columns and --count-by cannot be combined");
    status = resolve_shown(command);
    if (!status && common->delta && !has_counters(command))
        return common_misuse(common, "--delta: the columns of %s that are shown have no counters",
                             command->kind->name);
    if (!status)
        status = resolve_sort(command);
    if (!status)
        status = resolve_filters(command);
    return status ? status : resolve_source(command);
}

/* --- How they are shown ----------------------------------------------------------------------- */

bool command_colour(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && *term &&
           strcmp(term, "dumb") != 0;
}

static sink_create_fn sink_of_columns(const struct common *common)
{
    switch (common->format) {
    case FORMAT_JSON:
        return sink_json_create;
    case FORMAT_NDJSON:
        return sink_ndjson_create;
    case FORMAT_CSV:
    case FORMAT_CSV_SAFE:
        return sink_csv_create;
    default:
        return sink_table_create;
    }
}

/* With names of columns, or an order, rows are asked for. */
static bool makes_objects(const struct listing_command *command)
{
    const struct common *common = command->common;

    return command->objects && !common->columns && !common->count_by && !common->sort &&
           (common->format == FORMAT_JSON || common->format == FORMAT_NDJSON);
}

struct sink *command_sink(const struct listing_command *command, struct writer *writer)
{
    const struct common *common = command->common;

    if (!uses_columns(command))
        return sink_create(command->layout_ops, command->layout, writer, command->context);
    const struct sink_options options = {
        .writer = writer,
        .context = command->context,
        .columns = command->shown,
        .count = command->shown_count,
        .header = !common->no_header,
        .colour = common->format == FORMAT_PLAIN && command_colour(),
        .spreadsheet = common->format == FORMAT_CSV_SAFE,
    };
    if (makes_objects(command))
        return sink_objects_create(&options, sink_of_columns(common));
    return sink_of_columns(common)(&options);
}
