/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "cli/form.h"
#include "cli/misuse.h"
#include "cli/personality.h"
#include "cli/thresholds.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"
#include "fastnet/interface_sets.h"
#include "fastnet/proc_tree.h"
#include "fastnet/text.h"

/* --- Order ------------------------------------------------------------------------------------ */

/* Finds a column to sort by. With --count-by, it must be a column that is shown. */
static const struct field *find_sort(const struct listing_command *command, struct text name)
{
    const struct field *compared = field_compared(command->kind, name.data, name.length);

    if (!common_counts(command->common))
        return compared;
    for (size_t i = 0; i < command->shown_count; i++)
        if (field_is_named(command->shown[i], name.data, name.length) ||
            (compared && strcmp(command->shown[i]->name, compared->name) == 0))
            return command->shown[i];
    return NULL;
}

static int misuse_sort(const struct listing_command *command, struct text name)
{
    char words[512] = "";

    if (!common_counts(command->common))
        return columns_misuse(command, "--sort", name);
    for (size_t i = 0; i < command->shown_count; i++)
        if (command->shown[i])
            text_list(words, sizeof words, " ", as_text(command->shown[i]->name));
    return common_misuse_of(command->common,
                            .wrong = command->common->count_by
                                         ? "'%s' is not a column of this --count-by"
                                         : "'%s' is not a column of these sums",
                            .typed = name, .words = words);
}

/* Removes " desc" or " asc", as in SQL, from the end of a column to sort by. Returns true if the
 * order is descending; without such a word, returns `minus`. */
static bool take_direction(struct text *name, bool minus)
{
    static const char *const directions[] = {" asc", " desc"};

    for (size_t i = 0; i < COUNT(directions); i++) {
        const size_t length = strlen(directions[i]);
        if (name->length <= length ||
            strncasecmp(name->data + name->length - length, directions[i], length) != 0)
            continue;
        name->length -= length;
        while (name->length && name->data[name->length - 1] == ' ')
            name->length--;
        return i;
    }
    return minus;
}

/* Resolves --sort: columns separated by commas. Each orders rows that are equal in those before. */
static int resolve_sort(struct listing_command *command)
{
    struct listing *listing = &command->listing;
    const char *words = command->common->sort;
    struct text name;

    for (size_t i = 0; form_next(&words, &name); i++) {
        const bool minus = name.length && *name.data == '-';
        name = (struct text){name.data + minus, name.length - minus};
        const bool descending = take_direction(&name, minus);
        const struct field *field = find_sort(command, name);
        if (!field)
            return misuse_sort(command, name);
        const int refused =
            common_counts(command->common) ? 0 : never_refuse(command, "--sort", field, name);
        if (refused)
            return refused;
        if (i == SORT_KEYS_MAX)
            return common_misuse(command->common, "--sort: more than %d columns", SORT_KEYS_MAX);
        listing->sort[i] = (struct sort_key){field, descending};
        needs_add(&listing->needs, field_needs(field));
    }
    return 0;
}

/* --- Rows ------------------------------------------------------------------------------------- */

/* The interfaces of this network namespace or captured tree. Returns NULL if they are unknown. */
static struct interface_sets *read_interface_names(const struct common *common)
{
    struct interface_sets *const sets = interface_sets_create();
    struct if_nameindex *const own = common->proc_root ? NULL : if_nameindex();
    int error = sets ? 0 : -ENOMEM;

    if (common->proc_root && !error)
        error = interface_sets_of_tree(sets, common->proc_root);
    for (size_t i = 0; own && own[i].if_index && !error; i++)
        error = interface_sets_add(sets, as_text(own[i].if_name));
    if (own)
        if_freenameindex(own);
    if (!error && interface_sets_finish(sets) == 0)
        return sets;
    interface_sets_destroy(sets);
    return NULL;
}

/* Refuses an unknown interface in `words`, a list of --interface. */
static int refuse_interfaces(const struct common *common, const char *words)
{
    static const struct address any = {AF_INET, {0}};
    struct interface_sets *const sets = read_interface_names(common);
    const struct interface_set all =
        sets ? interface_sets_of_address(sets, &any) : (struct interface_set){.count = 0};
    struct misuse misuse = {.subject = "--interface", .wrong = "there is no interface '%s'"};
    bool known = !all.count;

    words += *words == '!';
    for (struct text word; all.count && text_next(&words, ',', &word);) {
        known = false;
        for (size_t i = 0; i < all.count && !known; i++)
            known = text_is(word, all.names[i]);
        misuse.typed = word;
        if (!known)
            break;
    }
    for (size_t i = 0; i < all.count && !known; i++)
        misuse_offer(&misuse, all.names[i]);
    const int status = known ? 0 : common_refuse(common, &misuse);
    interface_sets_destroy(sets);
    return status;
}

/* Refuses unknown names of interfaces. Not with --all-netns: another netns may have the name. */
static int resolve_interfaces(struct listing_command *command)
{
    const struct common *common = command->common;
    const struct filters *filters = &common->filters;
    int status = 0;

    for (size_t i = 0;
         i < filters->count && !status && !common->all_netns && !common_is_saved(common); i++)
        if (filters->typed[i].option->columns &&
            strcmp(filters->typed[i].option->columns, "interfaces") == 0)
            status = refuse_interfaces(common, filters->typed[i].text);
    return status;
}

static int resolve_filters(struct listing_command *command)
{
    struct listing *listing = &command->listing;
    const struct predicate *words = NULL;

    command->where.interfaces_are_own = !command->common->all_netns &&
                                        !command->common->proc_root &&
                                        !common_is_saved(command->common);
    const char *wrong =
        filters_resolve(&command->common->filters, &command->where, command->kind, &listing->typed);

    if (wrong)
        return common_misuse(command->common, "--%s: %s", wrong, command->where.message);
    if (!filters_resolve_words(&command->common->filters, &command->where, command->kind,
                               command->common->proc_root, &words))
        return common_misuse(command->common, "%s", command->where.message);
    if (words || *command->common->filters.options)
        explain_words(command, where_both(&command->where, listing->typed, words));
    const int refused = listing->typed ? never_refuse_filter(command, listing->typed) : 0;
    if (refused)
        return refused;
    words = where_both(&command->where, listing->typed, words);
    if (words)
        listing->where = where_both(&command->where, listing->where, words);
    if (words && !listing->where)
        return common_misuse(command->common, "%s", command->where.message);
    needs_add(&listing->needs, predicate_needs(listing->where));
    return 0;
}

/* --- Terminals -------------------------------------------------------------------------------- */

bool command_colour(const struct common *common)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    const char *force = getenv("CLICOLOR_FORCE");

    if (common->color)
        return common->color == COLOR_ALWAYS;
    if (no_color && *no_color)
        return false;
    if (force && *force && strcmp(force, "0") != 0)
        return true;
    return !common->output && isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

/* If stdout is a pipe, uses $COLUMNS if a terminal will show the output: if colours are on, or if
 * LINES is exported, too, as watch(1) does (shells export neither). */
unsigned command_width(const struct common *common)
{
    const unsigned width = common_width(common);
    const char *columns = getenv("COLUMNS");

    if (width || common->output || !columns || !(getenv("LINES") || command_colour(common)))
        return width;
    return (unsigned)strtoul(columns, NULL, 10);
}

/* Finds the character set of the locale as locale(7) describes. The C library knows it only after
 * setlocale(3), which may read files. */
bool command_is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    static const char *const names[] = {"UTF-8", "utf-8", "UTF8", "utf8"};
    const char *locale = NULL;
    bool found = false;

    for (size_t i = 0; i < COUNT(variables) && !(locale && *locale); i++)
        locale = getenv(variables[i]);
    for (size_t i = 0; i < COUNT(names) && locale; i++)
        found |= strstr(locale, names[i]) != NULL;
    return found;
}

/* The width that the table must fit. 0: any width, because the user chose columns or the form. */
static unsigned width_of(const struct listing_command *command)
{
    const struct common *common = command->common;
    const char *chosen = common->columns;

    if (!command->drop || common->format != FORMAT_PLAIN || common_counts(common) ||
        (chosen && *chosen != '+' && *chosen != '-'))
        return 0;
    return command_width(common);
}

/* The field with the reasons why a row needs attention; NULL if tables do not show it. */
static const struct field *attention_of(const struct listing_command *command)
{
    return common_counts(command->common) ? NULL : field_named(command->kind, "attention");
}

static int resolve_attention(struct listing_command *command)
{
    const struct field *attention = width_of(command) ? attention_of(command) : NULL;

    if (attention)
        needs_add(&command->listing.needs, field_needs(attention));
    return 0;
}

/* --- Columns that a narrow terminal keeps ----------------------------------------------------- */

static bool is_filtered_by(const struct common *common, const char *name)
{
    bool is_filtered = false;

    for (size_t i = 0; i < common->filters.count && !is_filtered; i++)
        is_filtered = text_has_word(common->filters.typed[i].text, name) ||
                      text_has_word(common->filters.typed[i].option->columns, name);
    return is_filtered;
}

static bool is_asked_for(const struct common *common, const char *name)
{
    return text_has_word(common->columns, name) || text_has_word(common->sort, name) ||
           is_filtered_by(common, name);
}

/* Fills command->keep: columns that --columns, --sort or filters name are the answer to the user's
 * question, so a narrow terminal must not drop them. */
static void keep_asked(struct listing_command *command)
{
    for (size_t i = 0; i < command->shown_count && command->drop; i++) {
        const char *name = command->shown[i]->name;
        const struct field *compared = field_compared(command->kind, name, strlen(name));
        if (strlen(command->keep) + strlen(name) + 2 <= sizeof command->keep &&
            (is_asked_for(command->common, name) ||
             (compared && is_asked_for(command->common, compared->name))))
            message_append(command->keep, sizeof command->keep, " %s", name);
    }
}

static void add_named(struct listing *listing, const struct field *field)
{
    listing->named.fields |= field_compares(field);
    listing->named.lookups |= field->lookups;
}

/* Collects needs of columns that the user named: if they are unknown, the listing reports it. */
static int resolve_asked(struct listing_command *command)
{
    struct listing *listing = &command->listing;

    keep_asked(command);
    for (size_t i = 0; i < listing->count_by_count; i++)
        add_named(listing, listing->count_by[i]);
    for (size_t i = 0; i < listing->sum_count; i++)
        add_named(listing, listing->sum[i]);
    for (size_t i = 0; i < listing->aggregate_count; i++)
        add_named(listing, listing->aggregates[i].field);
    for (const struct sort_key *key = listing->sort; key->field && !common_counts(command->common);
         key++)
        add_named(listing, key->field);
    for (size_t i = 0; i < command->shown_count; i++) {
        const struct field *field = command->shown[i], *compared;
        if (!text_has_word(command->common->columns, field->name))
            continue;
        compared = field_compared(command->kind, field->name, strlen(field->name));
        add_named(listing, field);
        if (compared)
            add_named(listing, compared);
    }
    return 0;
}

/* --- Source of the rows ----------------------------------------------------------------------- */

static int resolve_source(struct listing_command *command)
{
    const struct common *common = command->common;
    struct listing *listing = &command->listing;
    const char *root = common->proc_root;
    const char *option = common->typed_root == common->usual_root ? "PROC_ROOT" : "--proc-root";
    const int error = !root                         ? 0
                      : strlen(root) > PATH_MAX / 2 ? -ENAMETOOLONG
                                                    : proc_tree_find(root);

    listing->delta = common->delta;
    listing->exact = common->exact;
    listing->most = common->limit;
    listing->backend = common->backend;
    listing->owners = common->owners;
    listing->proc_root = root ? root : "/proc";
    listing->processes = common->processes;
    listing->own_netns = common->own_netns;
    listing->all_netns = common->all_netns;
    listing->netns_implied = common->netns_implied;
    listing->headings = common->all_netns && !common->no_header && !columns_used(command);
    if (!root)
        return 0;
    if (error < 0)
        return common_misuse(common, "%s: '%s': %s", option, TYPED(root), strerror(-error));
    if (common->backend == BACKEND_NETLINK)
        return common_misuse(common, "--proc-root: cannot be combined with --backend=netlink");
    listing->backend = BACKEND_PROC; /* netlink would list the sockets of this machine */
    return 0;
}

/* Checks --delta, which needs a column with a rate. --nonzero keeps rows with a rate above 0. */
static int resolve_rates(struct listing_command *command)
{
    struct listing *listing = &command->listing;
    const struct field *summed[SUMS_MAX + AGGREGATES_MAX];
    const struct predicate *moved;

    for (size_t i = 0; i < listing->sum_count + listing->aggregate_count; i++)
        summed[i] = i < listing->sum_count ? listing->sum[i]
                                           : listing->aggregates[i - listing->sum_count].field;
    moved =
        listing_counts(listing)
            ? where_any_rate(&command->where, summed, listing->sum_count + listing->aggregate_count)
            : where_any_rate(&command->where, command->shown, command->shown_count);

    if (!command->common->delta)
        return 0;
    if (!moved)
        return common_misuse(command->common,
                             "--delta: none of the shown columns of %s is a counter",
                             command->kind->name);
    if (command->common->nonzero)
        listing->where = where_both(&command->where, listing->where, moved);
    return 0;
}

bool command_is_untrusted(const struct listing_command *command)
{
    const struct listing *listing = &command->listing;
    const uint64_t lookups = listing->needs.lookups;

    if (listing->saved) /* nothing is looked up */
        return true;
    if (lookups & NEED_NAMES)
        return false;
    if (!proc_tree_is_own(listing->proc_root) && !listing->processes)
        return true;
    /* landlock(7) would prevent reading the links of PID/fd in a proc file system. */
    return (listing->diag_file || !proc_tree_is_own(listing->proc_root)) &&
           !(lookups & NEED_ANY_OWNERS);
}

/* --- Metrics and --output --------------------------------------------------------------------- */

static int resolve_metrics(struct listing_command *command)
{
    const struct common *common = command->common;
    const struct kind *kind = command->kind;
    const char *option = common->format == FORMAT_PROMETHEUS ? "--prometheus" : "--openmetrics";

    if (!common_is_metrics(common))
        return 0;
    if (!common_counts(common) && !kind->metric) {
        common_misuse_bare(common, "%s: %s have no metrics except counts (try --count-by=%s)",
                           option, kind->name, kind->count_by);
        return STATUS_REFUSED;
    }
    if (common->interval_ms && !common->output && common->format == FORMAT_PROMETHEUS)
        return common_misuse_bare(common,
                                  "%s: with -c a reader cannot see where a listing ends (try "
                                  "--output=FILE or --openmetrics)",
                                  option);
    return 0;
}

static int resolve_output(struct listing_command *command)
{
    const struct common *common = command->common;
    const char *conflict = NULL;

    if (command->open_output)
        conflict = "cannot be combined with -D, which writes its own file";
    else if (command->listing.events)
        conflict = common->save
                       ? "events never end, so the file would never be complete (try "
                         "--save=- >FILE)"
                       : "the file is replaced at the end, but events never end (try >FILE)";
    else if (common->explain)
        conflict = "cannot be combined with --explain";
    else if (command_is_untrusted(command) && common->delta)
        conflict = "cannot be combined with --delta and a captured tree (try >FILE)";
    if (!common->output || !conflict)
        return 0;
    return common_misuse_bare(common, common->save ? "--save: %s" : "--output: %s", conflict);
}

/* --- Other network namespaces ----------------------------------------------------------------- */

/* Refuses options that do not fit together. With --delta, one process makes all listings: if it
 * gave up its rights to look up names, it could not enter another network namespace. */
static int resolve_namespaces(struct listing_command *command)
{
    const struct common *common = command->common;
    const char *option = common->all_netns ? "--all-netns" : "--netns";

    if (common->all_netns && command->listing.events && command->kind != &kind_socket)
        return common_misuse_bare(
            common, "--all-netns: events come from one network namespace only (try --netns=NAME)");
    if (common->all_netns && (command->listing.diag_file || command->open_output))
        return common_misuse_bare(common, "--all-netns: a saved file has no network namespaces");
    if ((common->all_netns || common->netns) && common->delta &&
        command->listing.needs.lookups & NEED_NAMES)
        return common_misuse_bare(common, "%s: cannot look up names with --delta (add -n)", option);
    return 0;
}

/* --- --quiet ---------------------------------------------------------------------------------- */

/* Only the filter matters: nothing is shown, sorted, counted or looked up. */
void command_make_quiet(struct listing *listing)
{
    listing->count_by_count = listing->sum_count = listing->aggregate_count = 0;
    listing->percent = listing->headings = false;
    listing->sort->field = NULL;
    listing->compare = NULL;
    listing->most = 0;
    const uint64_t probe = listing->needs.lookups & NEED_CONNECTS; /* rows of trace come from it */
    listing->needs = predicate_needs(listing->where);
    listing->needs.lookups |= probe;
    listing->named = (struct needs){.fields = 0};
}

static int resolve_quiet(struct listing_command *command)
{
    const struct common *common = command->common;

    if (!common->quiet)
        return 0;
    if (common->format != FORMAT_PLAIN || common->output || command->open_output)
        return common_misuse_bare(common, "--quiet prints nothing: it cannot be combined with "
                                          "--output or a form of output");
    if (common->explain || common->interval_ms)
        return common_misuse_bare(common, "--quiet cannot be combined with %s",
                                  common->explain ? "--explain" : "-c");
    if (!command->own_status)
        command_make_quiet(&command->listing);
    return 0;
}

static int resolve_wait(struct listing_command *command)
{
    const struct common *common = command->common;
    const struct listing *listing = &command->listing;
    const char *conflict = common->interval_ms    ? "-c"
                           : common->explain      ? "--explain"
                           : command->open_output ? "-D"
                           : command->run_endless ? "a listing without end"
                           : listing->thresholds  ? "--warn and --crit"
                           : listing->events ? "events, which are waited for anyway (try --limit=1)"
                           : listing->diag_file || !proc_tree_is_own(listing->proc_root)
                               ? "a captured tree, which does not change"
                               : NULL;

    if (!common->wait || !conflict)
        return 0;
    return common_misuse_bare(common, "%s cannot be combined with %s", common_wait_option(common),
                              conflict);
}

/* In this order: each step sets members that later steps read. */
static int (*const steps[])(struct listing_command *command) = {
    resolve_metrics,    columns_resolve,    thresholds_resolve, resolve_attention, resolve_sort,
    resolve_filters,    resolve_interfaces, resolve_rates,      resolve_asked,     resolve_source,
    resolve_namespaces, resolve_output,     resolve_quiet,      resolve_wait,
};

int command_resolve(struct listing_command *command, bool *help)
{
    const struct common *common = command->common;
    int status = 0;

    if (common->delta && !common->interval_ms)
        return common_misuse(common, "--delta needs -c");
    if (common->nonzero && !common->delta)
        return common_misuse(common, "--nonzero needs --delta");
    if (common->delta) {
        rates_init(command->rates, command->kind);
        command->kind = &command->rates->kind;
    }
    *help = common->columns && strcmp(common->columns, "help") == 0;
    if (common->columns && common_counts(common) && !*help)
        return common_misuse(common, common->count_by
                                         ? "--columns and --count-by cannot be combined"
                                         : "--columns cannot be combined with sums, averages or "
                                           "thresholds");
    for (size_t i = 0; i < COUNT(steps) && !status && !*help; i++)
        status = steps[i](command);
    return status;
}

/* --- The clock -------------------------------------------------------------------------------- */

/* True if a line with the time precedes each listing: tables do not show when they began. */
bool command_has_clock(const struct listing_command *command)
{
    const struct common *common = command->common;

    return command->listing.number && common->format == FORMAT_PLAIN && !common->no_header &&
           (columns_used(command) || command->clock);
}

void command_put_clock(const struct listing_command *command, struct writer *writer)
{
    char text[CLOCK_LOCAL_SIZE];

    if (!command_has_clock(command))
        return;
    writer_puts(writer, clock_local(text, command->listing.time));
    writer_put(writer, "\n", 1);
}

/* --- The sink --------------------------------------------------------------------------------- */

/* --quiet: the first row ends the listing, as if the reader of the output had gone. */
static void quiet_row(struct sink *sink, const struct record *record)
{
    (void)record;
    sink->writer->error = ECANCELED;
}

static void silent_row(struct sink *sink, const struct record *record)
{
    (void)sink;
    (void)record;
}

static const struct sink_ops quiet = {
    .size = sizeof(struct sink), .row = quiet_row, .clone = sink_clone};
static const struct sink_ops silent = {.size = sizeof(struct sink), .row = silent_row};

#define SINK_OF(its, letter, name, newer, create, help) create,
static const sink_create_fn sinks_of_columns[] = {sink_table_create, OUTPUT_FORMATS(SINK_OF)};

/* True if rows become JSON objects. Named columns, an order or a limit ask for rows instead. */
static bool makes_objects(const struct listing_command *command)
{
    const struct common *common = command->common;

    return command->objects && !common->columns && !common_counts(common) && !common->sort &&
           !common->limit && !common->save &&
           (common->format == FORMAT_JSON || common->format == FORMAT_NDJSON);
}

struct sink *command_sink(const struct listing_command *command, struct writer *writer)
{
    const struct common *common = command->common;

    if (common->quiet)
        return sink_create(command->own_status ? &silent : &quiet, NULL, writer, command->context);
    if (!columns_used(command))
        return sink_create(command->layout_ops, command->layout, writer, command->context);
    if (common->nagios) {
        const struct groups_line line = {command->shown, command->shown_count,
                                         command->listing.thresholds};
        return sink_create(&sink_groups_line, &line, writer, command->context);
    }
    const unsigned width = width_of(command);
    const bool colour = common->format == FORMAT_PLAIN && command_colour(common);
    struct sink_options options = {
        .writer = writer,
        .context = command->context,
        .columns = command->shown,
        .count = command->shown_count,
        .header = !common->no_header,
        .colour = colour,
        .human = common->human || width,
        .width = width,
        .ascii = !command_is_utf8(),
        .drop = command->drop,
        .shorten = command->shorten,
        .whole = command->whole,
        .keep = command->keep,
        .titles = command->titles,
        .synonym = command->synonym ? command->kind->synonym : NULL,
        .attention = width || colour ? attention_of(command) : NULL,
        .attention_first = width && !command->listing.sort->field,
        .totals = width && !common->no_header ? command->kind->name : NULL,
        .see = is_filtered_by(common, "attention") ? NULL : command->see,
        .metric = common_counts(common) ? command->kind->name : command->kind->metric,
        .more_metrics = command->more_metrics,
        .layout = command->layout,
        .one_line = common->interval_ms,
        .silent = command->silent,
        .spreadsheet = common->format == FORMAT_CSV_SAFE,
    };
    if (makes_objects(command)) {
        options.count -= common->delta; /* --delta adds a last column: values that have no rate */
        return sink_objects_create(&options, sinks_of_columns[common->format]);
    }
    return sinks_of_columns[common->format](&options);
}
