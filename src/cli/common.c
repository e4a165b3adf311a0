#include "cli/common.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/personality.h"
#include "cli/run.h"
#include "fastnet/array.h"

enum {
    OPTION_JSON = 1000,
    OPTION_NDJSON,
    OPTION_CSV,
    OPTION_CSV_SAFE,
    OPTION_COLUMNS,
    OPTION_NO_HEADER,
    OPTION_SORT,
    OPTION_COUNT_BY,
    OPTION_EXACT,
    OPTION_BACKEND,
    OPTION_PROC_ROOT,
    OPTION_COMPLETION,
};

enum { GROUP_OUTPUT, GROUP_SOURCE };
static const char *const groups[] = {"Output", "Source"};

static const struct option options[] = {
    {OPTION_JSON, 0, "json", ARGUMENT_NONE, NULL, NULL, "one JSON array of objects", GROUP_OUTPUT},
    {OPTION_NDJSON, 0, "ndjson", ARGUMENT_NONE, NULL, NULL, "one JSON object a line", GROUP_OUTPUT},
    {OPTION_CSV, 0, "csv", ARGUMENT_NONE, NULL, NULL, "RFC 4180, with a header line", GROUP_OUTPUT},
    {OPTION_CSV_SAFE, 0, "csv-safe", ARGUMENT_NONE, NULL, NULL,
     "the same, with no formulas for spreadsheets", GROUP_OUTPUT},
    {OPTION_COLUMNS, 0, "columns", ARGUMENT_REQUIRED, "A,B,...", CHOICES_COLUMNS,
     "show these columns (--columns=help lists them)", GROUP_OUTPUT},
    {OPTION_NO_HEADER, 0, "no-header", ARGUMENT_NONE, NULL, NULL, "no titles and no heading line",
     GROUP_OUTPUT},
    {OPTION_SORT, 0, "sort", ARGUMENT_REQUIRED, "[-]COLUMN", CHOICES_COLUMNS,
     "sort by one column, with - downwards", GROUP_OUTPUT},
    {OPTION_COUNT_BY, 0, "count-by", ARGUMENT_REQUIRED, "A,B,...", CHOICES_COLUMNS,
     "count the rows of each value, largest first", GROUP_OUTPUT},
    {OPTION_EXACT, 0, "exact", ARGUMENT_NONE, NULL, NULL,
     "read twice, to list all that is there throughout", GROUP_SOURCE},
    {OPTION_BACKEND, 0, "backend", ARGUMENT_REQUIRED, "NAME", "auto netlink proc",
     "ask this one only: netlink, proc; or auto", GROUP_SOURCE},
    {OPTION_PROC_ROOT, 0, "proc-root", ARGUMENT_REQUIRED, "DIR", NULL,
     "read a captured tree in place of /proc", GROUP_SOURCE},
    {OPTION_COMPLETION, 0, "completion", ARGUMENT_REQUIRED, "SHELL", "bash zsh fish",
     "print completions for bash, zsh or fish", GROUP_OUTPUT},
};

const struct option_table common_options = {groups, COUNT(groups), options, COUNT(options)};

/* Says what was wrong with an argument; what was typed is shown escaped. */
static int misuse(const char *program, const char *option, const char *what, const char *typed,
                  size_t length)
{
    char text[TYPED_MAX];

    fprintf(stderr, "%s: %s: %s '%s'\n", program, option, what, options_typed(text, typed, length));
    return STATUS_MISUSE;
}

static int take_backend(struct common *common, const char *name, const char *program)
{
    if (strcmp(name, "auto") == 0)
        common->backend = BACKEND_AUTO;
    else if (strcmp(name, "netlink") == 0)
        common->backend = BACKEND_NETLINK;
    else if (strcmp(name, "proc") == 0)
        common->backend = BACKEND_PROC;
    else
        return misuse(program, "--backend", "auto, netlink or proc, not", name, strlen(name));
    return 0;
}

int common_take(struct common *common, const struct option *option, const char *argument,
                const char *program, bool *taken)
{
    *taken = true;
    switch (option->id) {
    case OPTION_JSON:
        common->format = FORMAT_JSON;
        return 0;
    case OPTION_NDJSON:
        common->format = FORMAT_NDJSON;
        return 0;
    case OPTION_CSV:
        common->format = FORMAT_CSV;
        return 0;
    case OPTION_CSV_SAFE:
        common->format = FORMAT_CSV_SAFE;
        return 0;
    case OPTION_COLUMNS:
        common->columns = argument;
        return 0;
    case OPTION_NO_HEADER:
        common->no_header = true;
        return 0;
    case OPTION_SORT:
        common->sort = argument;
        return 0;
    case OPTION_COUNT_BY:
        common->count_by = argument;
        return 0;
    case OPTION_EXACT:
        common->exact = true;
        return 0;
    case OPTION_BACKEND:
        return take_backend(common, argument, program);
    case OPTION_PROC_ROOT:
        common->proc_root = argument;
        return 0;
    case OPTION_COMPLETION:
        common->completion = argument;
        return 0;
    default:
        *taken = false;
        return 0;
    }
}

static void print_columns(const struct kind *kind)
{
    size_t width = 16;

    for (size_t i = 0; i < kind->field_count; i++)
        if (strlen(kind->fields[i].name) > width)
            width = strlen(kind->fields[i].name);
    for (size_t i = 0; i < kind->field_count; i++)
        fprintf(cli_stdout(), "%-*s %s\n", (int)width, kind->fields[i].name, kind->fields[i].help);
}

void common_add_columns(const struct kind *kind, const char *names,
                        const struct field *columns[LISTING_COLUMNS_MAX], size_t *count)
{
    while (*names && *count < LISTING_COLUMNS_MAX) {
        size_t length = strcspn(names, " ");
        const struct field *column = field_find(kind, names, length);
        if (column)
            columns[(*count)++] = column;
        names += length + (names[length] == ' ');
    }
}

int common_complete(const struct common *common, const struct grammar *grammar, bool for_fastnet,
                    const char *program)
{
    const struct grammar *words[PERSONALITIES_MAX];
    size_t count = 0;

    for (size_t i = 0; for_fastnet && i < personality_count; i++)
        if (personalities[i].grammar)
            words[count++] = personalities[i].grammar;
    if (completion_print(grammar, words, count, common->completion, cli_stdout()) == 0)
        return STATUS_OK;
    fprintf(stderr, "%s: --completion: bash, zsh or fish\n", program);
    return STATUS_MISUSE;
}

/* A comma-separated list of column names. */
static int find_columns(const char *names, const struct kind *kind,
                        const struct field *columns[LISTING_COLUMNS_MAX], size_t *count,
                        const char *program, const char *option)
{
    *count = 0;
    for (;;) {
        size_t length = strcspn(names, ",");
        const struct field *column = field_find(kind, names, length);
        if (!column)
            return misuse(program, option, "no such column (--columns=help lists them):", names,
                          length);
        for (size_t i = 0; i < *count; i++)
            if (columns[i] == column)
                return misuse(program, option, "named twice:", names, length);
        if (*count == LISTING_COLUMNS_MAX)
            return misuse(program, option, "too many columns from", names, length);
        columns[(*count)++] = column;
        if (!names[length])
            return 0;
        names += length + 1;
    }
}

/* The columns of a --count-by listing: what was counted by, and the count. */
static int resolve_counting(struct common *common, const struct kind *kind, struct listing *listing,
                            const char *program)
{
    int status = find_columns(common->count_by, kind, listing->count_by, &listing->count_by_count,
                              program, "--count-by");

    if (status)
        return status;
    if (listing->count_by_count == LISTING_COLUMNS_MAX)
        return misuse(program, "--count-by", "too many columns in", common->count_by,
                      strlen(common->count_by));
    common->shown_count = 0;
    for (size_t i = 0; i < listing->count_by_count; i++) {
        field_counted(&common->counted[i], listing->count_by[i], i);
        common->shown[common->shown_count++] = &common->counted[i];
        needs_add(&listing->needs, field_needs(listing->count_by[i]));
    }
    common->shown[common->shown_count++] = &field_count;
    return 0;
}

/* After --count-by only what was counted can be sorted by. */
static int resolve_sort(const struct common *common, const struct kind *kind,
                        struct listing *listing, const char *program)
{
    const char *name = common->sort;

    if (!name)
        return 0;
    listing->descending = *name == '-';
    name += listing->descending;
    if (!common->count_by) {
        listing->sort = field_find(kind, name, strlen(name));
    } else {
        for (size_t i = 0; i < common->shown_count; i++)
            if (strcmp(common->shown[i]->name, name) == 0)
                listing->sort = common->shown[i];
    }
    if (!listing->sort)
        return misuse(program, "--sort",
                      common->count_by ? "neither count nor one of the columns counted by:"
                                       : "no such column (--columns=help lists them):",
                      name, strlen(name));
    needs_add(&listing->needs, field_needs(listing->sort));
    return 0;
}

static int resolve_shown(struct common *common, const struct kind *kind,
                         const struct field *const *defaults, size_t default_count,
                         struct listing *listing, const char *program)
{
    int status = 0;

    if (common->count_by)
        return resolve_counting(common, kind, listing, program);
    if (common->columns) {
        status = find_columns(common->columns, kind, common->shown, &common->shown_count, program,
                              "--columns");
    } else {
        memcpy(common->shown, defaults, default_count * sizeof(const struct field *));
        common->shown_count = default_count;
    }
    for (size_t i = 0; !status && common_uses_columns(common) && i < common->shown_count; i++)
        needs_add(&listing->needs, field_needs(common->shown[i]));
    return status;
}

static bool is_directory(const char *path)
{
    struct stat status;

    /* access(2) goes by the real user: lent rights do not tell him what is hidden from him. */
    return access(path, F_OK) == 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int resolve_source(const struct common *common, struct listing *listing, const char *program)
{
    listing->exact = common->exact;
    listing->backend = common->backend;
    listing->proc_root = common->proc_root ? common->proc_root : "/proc";
    if (!common->proc_root)
        return 0;
    if (!is_directory(common->proc_root) || strlen(common->proc_root) > PATH_MAX / 2)
        return misuse(program, "--proc-root", "no such directory:", common->proc_root,
                      strlen(common->proc_root));
    if (common->backend == BACKEND_NETLINK)
        return misuse(program, "--proc-root",
                      "does not go with --backend=netlink:", common->proc_root,
                      strlen(common->proc_root));
    listing->backend = BACKEND_PROC; /* a captured tree says nothing of this machine's sockets */
    return 0;
}

int common_resolve(struct common *common, const struct kind *kind,
                   const struct field *const *defaults, size_t default_count,
                   struct listing *listing, const char *program, bool *done)
{
    int status;

    if (common->columns && strcmp(common->columns, "help") == 0) {
        print_columns(kind);
        *done = true;
        return STATUS_OK;
    }
    if (common->columns && common->count_by) {
        fprintf(stderr, "%s: --columns and --count-by exclude each other\n", program);
        return STATUS_MISUSE;
    }
    status = resolve_shown(common, kind, defaults, default_count, listing, program);
    if (!status)
        status = resolve_sort(common, kind, listing, program);
    return status ? status : resolve_source(common, listing, program);
}

bool common_uses_columns(const struct common *common)
{
    return common->format != FORMAT_PLAIN || common->columns || common->count_by;
}

bool common_colour(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && *term &&
           strcmp(term, "dumb") != 0;
}

struct sink *common_sink(const struct common *common, struct writer *writer,
                         const struct context *context)
{
    const struct sink_options sink_options = {
        .writer = writer,
        .context = context,
        .columns = common->shown,
        .count = common->shown_count,
        .header = !common->no_header,
        .colour = common->format == FORMAT_PLAIN && common_colour(),
        .spreadsheet = common->format == FORMAT_CSV_SAFE,
    };

    switch (common->format) {
    case FORMAT_JSON:
        return sink_json_create(&sink_options);
    case FORMAT_NDJSON:
        return sink_ndjson_create(&sink_options);
    case FORMAT_CSV:
    case FORMAT_CSV_SAFE:
        return sink_csv_create(&sink_options);
    default:
        return sink_table_create(&sink_options);
    }
}
