/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/form.h"
#include "cli/misuse.h"
#include "cli/saved.h"
#include "fastnet/array.h"

bool columns_used(const struct listing_command *command)
{
    return !command->layout_ops || common_uses_columns(command->common);
}

int columns_misuse(const struct listing_command *command, const char *option, struct text name)
{
    char wrong[NO_COLUMN];
    struct misuse misuse = misuse_of_column(command->kind, name, wrong);

    misuse.subject = option;
    return common_refuse(command->common, &misuse);
}

/* --- Shown columns ---------------------------------------------------------------------------- */

/* Index of a column among the shown columns; shown_count if it is not shown. */
static size_t columns_index_of(const struct listing_command *command, const struct field *field)
{
    size_t i = 0;

    while (i < command->shown_count && command->shown[i] != field)
        i++;
    return i;
}

/* True if a column of this name is shown, also if the kind lacks it (--count-by makes columns). */
static bool columns_is_counted(const struct listing_command *command, const char *name)
{
    for (size_t i = 0; i < command->shown_count; i++)
        if (strcmp(command->shown[i]->name, name) == 0)
            return true;
    return false;
}

static bool is_shown(const struct listing_command *command, const struct field *field)
{
    return columns_index_of(command, field) < command->shown_count;
}

static void columns_show(struct listing_command *command, const struct field *field)
{
    if (!is_shown(command, field) && command->shown_count < LISTING_COLUMNS_MAX)
        command->shown[command->shown_count++] = field;
    if (field->rate && field->of && field->of->partly)
        columns_show(command, field + 1); /* the next field, for rows that have no rate */
}

static void show_named(struct listing_command *command, const char *names)
{
    for (struct text name; text_next(&names, ' ', &name);) {
        const struct field *field = field_find(command->kind, name.data, name.length);
        if (field && !(field->fields & command->unknown) && saved_has(command, field))
            columns_show(command, field);
    }
}

/* True if "all" includes this column. It excludes names of hosts, interfaces of addresses and files
 * of processes, which take long to look up, views, which repeat other columns, and columns that no
 * row has. */
static bool all_includes(const struct field *field)
{
    return !(field->lookups & (NEED_HOSTS | NEED_ADDRESSES | NEED_PROFILES)) &&
           field->type != VALUE_VIEW && !field->turnover;
}

/* With -c or --all-netns, adds columns that say when and where each row was read. They come before
 * the chosen columns, unless the user named them. */
static void show_stream(struct listing_command *command)
{
    enum { NETNS };
    static const char *const names[] = {[NETNS] = "netns", "host", "listing", "time"};
    const struct common *common = command->common;

    for (size_t i = 0; i < COUNT(names); i++) {
        if (i == NETNS ? !common->all_netns || common_counts(common)
                       : !common->interval_ms || common->save) /* a head has them */
            continue;
        if (common->format == FORMAT_PLAIN || common_is_metrics(common) ||
            columns_is_counted(command, names[i]) || command->shown_count == LISTING_COLUMNS_MAX)
            continue;
        memmove(&command->shown[1], command->shown,
                command->shown_count++ * sizeof(const struct field *));
        command->shown[0] = field_named(command->kind, names[i]);
        needs_add(&command->listing.needs, field_needs(command->shown[0]));
    }
}

/* With --save, adds the columns from which the layout is made. */
static void show_of_layout(struct listing_command *command)
{
    const struct kind *kind = command->kind;

    for (size_t i = 0; i < kind->field_count && command->common->save; i++)
        if (kind->fields[i].plain && kind->fields[i].fields & command->layout_needs.fields &&
            !never_fills(command, &kind->fields[i]))
            columns_show(command, &kind->fields[i]);
}

static void show_defaults(struct listing_command *command)
{
    const struct kind *kind = command->kind;

    if (command->listing.events && command->common->format != FORMAT_PLAIN)
        show_named(command, "time host");
    if (command->common->all_netns)
        show_named(command, "netns");
    const size_t before = command->shown_count;
    for (size_t i = 0; i < COUNT(command->columns); i++)
        if (command->columns[i])
            show_named(command, command->columns[i]);
    if (command->common->delta && kind->rates && command->shown_count > before)
        show_named(command, kind->rates);
    const bool all = command->shown_count == before;
    for (size_t i = 0; i < kind->field_count && all; i++)
        if (all_includes(&kind->fields[i]) && saved_has(command, &kind->fields[i]))
            columns_show(command, &kind->fields[i]);
    for (size_t i = 0; i < COUNT(command->table) && command->common->save; i++)
        if (command->table[i])
            show_named(command, command->table[i]);
    if (command->common->save && command->drop)
        show_named(command, "attention");
    show_of_layout(command);
    show_stream(command);
}

/* --- --columns -------------------------------------------------------------------------------- */

/* Shows the column or the group of columns that `word` names; hides them if `sign` is '-'. */
static int columns_choose(struct listing_command *command, char sign, struct text word)
{
    const struct kind *kind = command->kind;
    const struct field *named = field_find(kind, word.data, word.length), *field, *never = NULL;
    size_t found = 0;
    bool filled = false;

    if (named && !sign && is_shown(command, named))
        return common_misuse_typed(command->common, "--columns", "column named twice: '%s'", word);
    for (size_t i = 0; (field = field_at(kind, i)); i++) {
        const struct field_group *group = field_group(kind, field);
        const bool listed = text_is(word, "all") || (group && text_is(word, group->name));
        if (named ? field != named : i >= kind->field_count || !listed)
            continue;
        const size_t index = columns_index_of(command, field);
        found++;
        filled = filled || !never_fills(command, field);
        never = field;
        if (sign == '-' && index < command->shown_count)
            memmove(&command->shown[index], &command->shown[index + 1],
                    (--command->shown_count - index) * sizeof(const struct field *));
        else if (sign != '-' && (named || all_includes(field)))
            columns_show(command, field);
    }
    if (found && !filled && sign != '-') /* the command fills no column of that name or group */
        return never_refuse(command, "--columns", never, word);
    return found ? 0 : columns_misuse(command, "--columns", word);
}

/* If the first word begins with '+' or '-', the words change the default columns. After a first
 * '+', words without a sign count as '+', so a word may name a default column again: which columns
 * are default columns may depend on the machine. */
static int choose_all(struct listing_command *command, const char *words)
{
    words += strspn(words, " ");
    const char others = *words == '+' ? '+' : '\0';
    const bool changes = others || *words == '-';
    int status = 0;

    if (changes)
        show_defaults(command);
    for (struct text word; !status && form_next(&words, &word);) {
        const bool is_signed = *word.data == '+' || *word.data == '-';
        status = columns_choose(command, is_signed ? *word.data : others,
                                (struct text){word.data + is_signed, word.length - is_signed});
    }
    if (!status && !command->shown_count)
        return common_misuse(command->common, "--columns: this removes all columns");
    if (!changes)
        show_stream(command);
    return status;
}

/* --- --count-by ------------------------------------------------------------------------------- */

/* Shows a column for value `index` of the groups, which is described by `of`. */
static void columns_show_value(struct listing_command *command, const struct field *of,
                               size_t index)
{
    struct field *column = &command->counting->columns[index];

    field_counted(column, of, index);
    columns_show(command, column);
}

/* Removes "/BITS" from the beginning of `from`. Returns false if there is none. */
static bool take_prefix(struct text *from, unsigned long *bits)
{
    char *end;

    if (from->length < 2 || from->data[0] != '/' || !isdigit((unsigned char)from->data[1]))
        return false;
    *bits = strtoul(from->data + 1, &end, 10);
    *from = (struct text){end, from->length - (size_t)(end - from->data)};
    return *bits <= 128;
}

/* Makes a column of networks from the column `of` and prefixes: "/24", "/24/56" or "/48". With a
 * single prefix, IPv6 gets /64; above 32 it is for IPv6, and IPv4 addresses stay whole. */
static const struct field *make_network(struct network_field *network, const struct field *of,
                                        struct text prefixes)
{
    unsigned long ipv4, ipv6 = 64;

    if (of->type != VALUE_ADDRESS || !take_prefix(&prefixes, &ipv4))
        return NULL;
    if (ipv4 > 32) {
        ipv6 = ipv4;
        ipv4 = 32;
    } else if (prefixes.length && !take_prefix(&prefixes, &ipv6)) {
        return NULL;
    }
    if (prefixes.length)
        return NULL;
    field_network(network, of, (uint8_t)ipv4, (uint8_t)ipv6);
    return &network->field;
}

/* If the user counts by a view, rows are counted by the first field of the view. Tables then show
 * the view's name as the heading of that field. An address keeps its own heading, because its view
 * also has a port. */
static void add_title(struct listing_command *command, struct text name, const struct field *field)
{
    const struct field *view = field_find(command->kind, name.data, name.length);

    if (!view || view->type != VALUE_VIEW || field->type == VALUE_ADDRESS)
        return;
    message_append(command->counting->titles, sizeof command->counting->titles, "%s=%s ",
                   field->name, view->name);
    command->titles = command->counting->titles;
}

static int add_counted(struct listing_command *command, struct text word)
{
    struct listing *listing = &command->listing;
    const char *slash = memchr(word.data, '/', word.length);
    const size_t at = listing->count_by_count,
                 length = slash ? (size_t)(slash - word.data) : word.length;
    const bool ends = command->both_ends && text_is((struct text){word.data, length}, "host");
    const struct field *field = ends ? field_named(command->kind, command->both_ends)
                                     : field_compared(command->kind, word.data, length);

    if (!field)
        return columns_misuse(command, "--count-by", (struct text){word.data, length});
    const int refused = never_refuse(command, "--count-by", field, word);
    if (refused)
        return refused;
    if (columns_is_counted(command, field->name))
        return common_misuse_typed(command->common, "--count-by", "column named twice: '%s'", word);
    add_title(command, (struct text){word.data, length}, field);
    if (slash)
        field = make_network(&command->counting->networks[at], field,
                             (struct text){slash, word.length - length});
    if (!field)
        return common_misuse_typed(command->common, "--count-by",
                                   "expected ADDRESS_COLUMN/LENGTH, not '%s'", word);
    listing->count_by[listing->count_by_count++] = field;
    needs_add(&listing->needs, field_needs(field));
    columns_show_value(command, field, at);
    command->counting->columns[at].key = true;
    return 0;
}

/* Adds a column that --count-by names. `local` is counted with its port, as it is shown: the port
 * is that of a service. `remote` is counted without its port, which is random. */
static int add_counted_word(struct listing_command *command, struct text word)
{
    static const char port[] = "local_port";
    const bool has_port = text_is(word, "local") && field_named(command->kind, port) &&
                          !text_has_word(command->common->count_by, port);
    const int status = add_counted(command, word);

    return status || !has_port ? status : add_counted(command, as_text(port));
}

static int add_sum(struct listing_command *command, struct text word)
{
    struct listing *listing = &command->listing;
    const struct field *field = field_compared(command->kind, word.data, word.length);

    if (!field)
        return columns_misuse(command, "--sum", word);
    const int refused = never_refuse(command, "--sum", field, word);
    if (refused)
        return refused;
    if (columns_is_counted(command, field->name))
        return common_misuse_typed(command->common, "--sum", "column named twice: '%s'", word);
    if (!value_is_number(field->type))
        return common_misuse_typed(command->common, "--sum", "column '%s' has no numbers to add",
                                   word);
    if (listing->sum_count == SUMS_MAX)
        return common_misuse(command->common, "--sum: more than %d columns", SUMS_MAX);
    listing->sum[listing->sum_count++] = field;
    needs_add(&listing->needs, field_needs(field));
    const size_t at = listing->count_by_count + listing->sum_count - 1;
    columns_show_value(command, field, at);
    command->counting->columns[at].sum = true;
    return 0;
}

/* --- Aggregates: --avg, --min, --max, --median, --quantile and --unknown ---------------------- */

/* Reads COLUMN:QUANTILE, such as rtt:0.95; *word becomes the column. Returns false for other
 * texts. */
static bool take_quantile(struct text *word, uint32_t *millionths)
{
    const char *colon = memchr(word->data, ':', word->length);
    const char *end = word->data + word->length;
    uint64_t whole;
    unsigned parts;

    if (!colon || form_millionths(colon + 1, &whole, &parts) != end || whole > 1 ||
        (whole && parts))
        return false;
    word->length = (size_t)(colon - word->data);
    *millionths = (uint32_t)whole * FORM_MILLION + parts;
    return true;
}

/* Writes the name of the aggregate's column. A quantile is named after its percentage: p95; p99_9
 * for 0.999. */
static void name_aggregate(const struct aggregate *aggregate, bool median, char name[64])
{
    static const char *const suffixes[] = {[AGGREGATE_AVG] = "avg",
                                           [AGGREGATE_MIN] = "min",
                                           [AGGREGATE_MAX] = "max",
                                           [AGGREGATE_QUANTILE] = "median",
                                           [AGGREGATE_UNKNOWN] = "unknown"};
    enum { PERCENT = FORM_MILLION / 100 };
    const uint32_t whole = aggregate->millionths / PERCENT, parts = aggregate->millionths % PERCENT;
    char decimals[8] = "";

    if (aggregate->function != AGGREGATE_QUANTILE || median) {
        snprintf(name, 64, "%s_%s", aggregate->field->name, suffixes[aggregate->function]);
        return;
    }
    snprintf(decimals, sizeof decimals, "_%04" PRIu32, parts);
    for (size_t end = strlen(decimals); decimals[end - 1] == '0' || !parts;) {
        decimals[--end] = '\0';
        if (!end)
            break;
    }
    snprintf(name, 64, "%s_p%" PRIu32 "%s", aggregate->field->name, whole, decimals);
}

static int show_aggregate(struct listing_command *command, struct aggregate aggregate, bool median)
{
    struct listing *listing = &command->listing;
    struct counting *counting = command->counting;
    const size_t at = listing->count_by_count + listing->sum_count +
                      (listing->percent ? 1 + listing->sum_count : 0) + listing->aggregate_count;
    const bool counts = aggregate.function == AGGREGATE_UNKNOWN;

    if (listing->aggregate_count == AGGREGATES_MAX)
        return common_misuse(command->common, "--avg, --quantile ...: more than %d columns",
                             AGGREGATES_MAX);
    char *name = counting->aggregates[listing->aggregate_count];
    name_aggregate(&aggregate, median, name);
    if (columns_is_counted(command, name))
        return common_misuse(command->common, "column named twice: '%s'", name);
    counting->aggregated[listing->aggregate_count++] = aggregate;
    listing->aggregates = counting->aggregated;
    needs_add(&listing->needs, field_needs(aggregate.field));
    columns_show_value(
        command,
        &(struct field){.name = name,
                        .help = aggregate.field->help,
                        .type = aggregate_type(aggregate.function, aggregate.field->type),
                        .unit = counts ? UNIT_NONE : aggregate.field->unit},
        at);
    counting->columns[at].aggregate = true;
    return 0;
}

/* Adds the columns of an option; words: its argument. */
static int columns_add_aggregates(struct listing_command *command, const char *option,
                                  enum aggregate_function function, uint32_t millionths,
                                  const char *words)
{
    const struct common *common = command->common;
    int status = 0;

    for (struct text word; !status && form_next(&words, &word);) {
        struct aggregate aggregate = {.function = function, .millionths = millionths};
        if (function == AGGREGATE_QUANTILE && !millionths &&
            !take_quantile(&word, &aggregate.millionths))
            return common_misuse_typed(
                common, option, "expected COLUMN:QUANTILE, such as rtt:0.95, not '%s'", word);
        const struct field *field = field_compared(command->kind, word.data, word.length);
        if (!field)
            return columns_misuse(command, option, word);
        status = never_refuse(command, option, field, word);
        if (status)
            return status;
        if (!value_is_number(field->type) && field->type != VALUE_TIME)
            return common_misuse_typed(common, option, "column '%s' has no numbers", word);
        aggregate.field = field;
        status = show_aggregate(command, aggregate, millionths);
    }
    return status;
}

static int columns_add_all_aggregates(struct listing_command *command)
{
    const struct common *common = command->common;
    const struct {
        const char *option, *words;
        enum aggregate_function function;
        uint32_t millionths;
    } options[] = {
        {"--avg", common->avg, AGGREGATE_AVG, 0},
        {"--min", common->min, AGGREGATE_MIN, 0},
        {"--max", common->max, AGGREGATE_MAX, 0},
        {"--median", common->median, AGGREGATE_QUANTILE, FORM_MILLION / 2},
        {"--quantile", common->quantile, AGGREGATE_QUANTILE, 0},
        {"--unknown", common->unknown, AGGREGATE_UNKNOWN, 0},
    };
    int status = 0;

    for (size_t i = 0; i < COUNT(options) && !status; i++)
        status = columns_add_aggregates(command, options[i].option, options[i].function,
                                        options[i].millionths, options[i].words);
    return status;
}

/* Shows columns with the shares of the number of rows, and of each sum. */
static void show_shares(struct listing_command *command)
{
    struct listing *listing = &command->listing;
    const size_t first = listing->count_by_count + listing->sum_count;

    listing->percent = true;
    for (size_t i = 0; i <= listing->sum_count; i++) {
        char *name = command->counting->names[i];
        snprintf(name, sizeof *command->counting->names, "%s_percent",
                 i ? listing->sum[i - 1]->name : field_count.name);
        columns_show_value(command,
                           &(struct field){.name = name,
                                           .help = "share of the whole",
                                           .type = VALUE_DECIMAL,
                                           .unit = UNIT_PERCENT},
                           first + i);
    }
}

/* Shows how many rows of each group opened, failed and closed. */
static void show_turnover(struct listing_command *command)
{
    static const char *const names[TURNOVER_COLUMNS] = {"opened", "failed", "closed"};
    const struct listing *listing = &command->listing;
    const size_t first = listing->count_by_count + listing->sum_count +
                         (listing->percent ? 1 + listing->sum_count : 0) + listing->aggregate_count;

    for (size_t i = 0; i < TURNOVER_COLUMNS; i++)
        columns_show_value(command, field_named(command->kind, names[i]), first + i);
}

/* Shows the columns of counted rows: the counted columns, the count, sums, shares, aggregates, and
 * the turnover. */
static int resolve_counting(struct listing_command *command)
{
    const struct common *common = command->common;
    const char *words = common->count_by, *sums = common->sum;
    struct text word;
    int status = 0;

    snprintf(command->counting->titles, sizeof command->counting->titles, "%s ",
             command->titles ? command->titles : "");
    while (!status && form_next(&words, &word))
        status = add_counted_word(command, word);
    columns_show(command, &field_count);
    while (!status && form_next(&sums, &word))
        status = add_sum(command, word);
    if (status)
        return status;
    if (common->percent)
        show_shares(command);
    status = columns_add_all_aggregates(command);
    if (status)
        return status;
    if (command->listing.turnover)
        show_turnover(command);
    show_stream(command);
    return command->shown_count == LISTING_COLUMNS_MAX
               ? common_misuse(common, "--count-by: too many columns")
               : 0;
}

int columns_resolve(struct listing_command *command)
{
    const char *words = command->common->columns;
    const struct kind *kind = command->kind;
    int status = 0;

    if (command->common->percent && !command->common->count_by)
        return common_misuse(command->common, "--percent needs --count-by");
    if (common_counts(command->common))
        return resolve_counting(command);
    if (words)
        status = choose_all(command, words);
    else
        show_defaults(command);
    /* Without its keys a metric would look like the metric of another row. */
    for (size_t i = 0; i < kind->field_count && common_is_metrics(command->common); i++)
        if (kind->fields[i].key && !kind->fields[i].constant)
            columns_show(command, &kind->fields[i]);
    if (common_is_metrics(command->common) && command->common->all_netns)
        show_named(command, "netns");
    if (!columns_used(command)) {
        needs_add(&command->listing.needs, command->layout_needs);
        command->listing.hides_kernel = true;
        return status;
    }
    for (size_t i = 0; !status && i < command->shown_count; i++) {
        struct needs needs = field_needs(command->shown[i]);
        needs.lookups &= words && *words != '+' && *words != '-' ? UINT64_MAX : ~command->without;
        needs_add(&command->listing.needs, needs);
    }
    return status;
}
