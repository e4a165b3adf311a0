/* SPDX-License-Identifier: MIT */
#include "cli/thresholds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/form.h"
#include "fastnet/array.h"

/* --- Options ---------------------------------------------------------------------------------- */

#define SETS(of_common) .member = offsetof(struct common, of_common)

static const char *const groups[] = {"Thresholds"};

static const struct option options[] = {
    LONG(THIS_ROW, "warn", 0, "counted rows to warn about: 'count > 500'", TAKES("EXPR"),
         SETS(warn), .newer = true),
    LONG(THIS_ROW, "crit", 0, "counted rows that are critical: 'count > 800'", TAKES("EXPR"),
         SETS(crit), .newer = true),
    LONG(THIS_ROW, "for-each", 0, "count these values, too, if no row has them", TAKES("A,B,..."),
         SETS(for_each), .newer = true),
    LONG(OPTION_NAGIOS, "nagios", 0, NAGIOS_HELP, SETS(nagios), .newer = true),
};

const struct option_table threshold_options = {groups, COUNT(groups), options, COUNT(options)};

int thresholds_check(struct common *common)
{
    if (common->for_each && !common->count_by)
        return common_misuse(common, "--for-each needs --count-by");
    if (common->nagios && !common->warn && !common->crit)
        return common_misuse(common, "--nagios needs --warn or --crit");
    if (common->nagios && (common->format != FORMAT_PLAIN || common->human || common->explain))
        return common_misuse(common, "--nagios prints one line: it cannot be combined with %s",
                             common->explain ? "--explain" : "a form of output");
    common->no_header |= common->nagios;
    return 0;
}

/* --- The columns of groups, as a kind --------------------------------------------------------- */

/* Conditions compare the network of a key as an address: its first. */
static struct value network_start(const struct cell *cell)
{
    const struct value value = cell->record->count.values[cell->field->index];

    return value.type == VALUE_NETWORK
               ? (struct value){.type = VALUE_ADDRESS, .address = value.network.address}
               : value;
}

/* Makes the kind for the parser, which needs to know which values the counted columns can have. */
static void make_kind(struct threshold_parts *parts, const struct listing_command *command)
{
    const struct listing *listing = &command->listing;
    const size_t keys = listing->count_by_count, sums = listing->sum_count,
                 values =
                     keys + sums + (listing->percent ? 1 + sums : 0) + listing->aggregate_count;

    for (size_t i = 0; i < keys; i++) {
        struct field *field = &parts->fields[i];
        *field = *listing->count_by[i];
        /* groups have values, no members */
        field->plain = field->owner = field->each_owner = false;
        field->lookups &= ~(uint32_t)(NEED_LISTING | NEED_MACHINE); /* the listing looks them up */
        if (field->type == VALUE_NETWORK)
            field->type = VALUE_ADDRESS;
    }
    parts->fields[keys] = field_count;
    for (size_t i = keys; i < values; i++)
        parts->fields[i + 1] = command->counting->columns[i];
    parts->kind = (struct kind){.name = kind_count.name,
                                .fields = parts->fields,
                                .field_count = values + 1,
                                .synonym = command->kind->synonym};
}

/* Makes the columns of the parsed conditions show the values of groups. */
static void finish_kind(struct threshold_parts *parts, const struct listing *listing)
{
    for (size_t i = 0; i < parts->kind.field_count; i++) {
        struct field *field = &parts->fields[i];
        const bool is_key = i < listing->count_by_count;
        if (is_key)
            field_counted(field, listing->count_by[i], i);
        if (is_key && field->type == VALUE_NETWORK)
            field->value = network_start;
        field->fields = i > listing->count_by_count ? COUNT_NUMBER(i - 1) : 0;
    }
}

/* --- Conditions ------------------------------------------------------------------------------- */

static int thresholds_parse(struct listing_command *command, const char *option, const char *text,
                            const struct predicate **condition)
{
    struct threshold_parts *parts = &command->counting->thresholds;

    if (!text)
        return 0;
    *condition = where_parse(&command->where, &parts->kind, text);
    if (!*condition)
        return common_misuse(command->common, "%s: %s", option, command->where.message);
    if (predicate_needs(*condition).lookups & (NEED_LISTING | NEED_MACHINE))
        return common_misuse(command->common,
                             "%s: time, listing, host and netns need --count-by of this column",
                             option);
    return 0;
}

/* True if the number of a group grows (1) or falls (-1) when rows are added; 0: it may do both. */
static int growth_of(const struct listing *listing, const struct threshold_parts *parts,
                     const struct field *field)
{
    const size_t index = (size_t)(field - parts->fields),
                 first = parts->kind.field_count - listing->aggregate_count;

    if (index <= listing->count_by_count + listing->sum_count)
        return field->type != VALUE_SIGNED;
    if (index < first)
        return 0;
    const enum aggregate_function function = listing->aggregates[index - first].function;
    return function == AGGREGATE_MAX || function == AGGREGATE_UNKNOWN ? 1
           : function == AGGREGATE_MIN                                ? -1
                                                                      : 0;
}

/* True if a condition that is met stays so when rows are added: then it is certain, even if the
 * listing is incomplete. */
static bool condition_lasts(const struct listing *listing, const struct threshold_parts *parts,
                            const struct predicate *condition, bool negated)
{
    const struct field *field = condition->field;
    const int sign = negated ? -1 : 1;
    bool lasts = true;

    negated ^= condition->operation == PREDICATE_NOT;
    for (const struct predicate *part = condition->parts; part && lasts && !field;
         part = part->next)
        lasts = condition_lasts(listing, parts, part, negated);
    if (!field || (size_t)(field - parts->fields) < listing->count_by_count)
        return lasts; /* keys do not change */
    return (condition->operation == PREDICATE_ABOVE && growth_of(listing, parts, field) == sign) ||
           (condition->operation == PREDICATE_BELOW && growth_of(listing, parts, field) == -sign);
}

/* --- Groups that must be there ---------------------------------------------------------------- */

/* Finds the value of a key that a list of --where names. Returns false if it names several values,
 * such as a range. */
static bool key_named(const struct predicate *is, const struct field *key, struct value *value)
{
    while (is->operation == PREDICATE_OR)
        is = is->parts;
    const uint64_t number = is->constant.number;
    *value = is->constant;
    if (is->operation == PREDICATE_WITHIN && key->type == VALUE_NETWORK) {
        struct network network = {.address = is->constant.address};
        *value = (struct value){.type = VALUE_NETWORK};
        const bool is_prefix =
            mask_prefix(is->mask.address, address_size(&network.address), &network.prefix);
        value->network = network;
        return is_prefix;
    }
    if (key->type == VALUE_BOOLEAN)
        value->type = VALUE_BOOLEAN;
    if (key->type == VALUE_NAME && is->constant.type == VALUE_NUMBER)
        *value = (struct value){.type = VALUE_NAME,
                                .name = {key->word ? key->word(number) : NULL, number}};
    return is->operation == PREDICATE_EQUAL || is->operation == PREDICATE_GLOB;
}

/* True for a name like ngin*, which = of --where takes literally. In quotes it is meant so. */
static bool key_is_pattern(const struct named_group *named, const char *typed)
{
    return named->key.type == VALUE_TEXT && !strchr("\"'", *typed) && strpbrk(typed, "*?");
}

static int resolve_names(struct listing_command *command)
{
    struct listing *listing = &command->listing;
    struct threshold_parts *parts = &command->counting->thresholds;
    const char *words = command->common->for_each;

    if (words && listing->count_by_count != 1)
        return common_misuse(command->common,
                             "--for-each: needs --count-by with one column, not with %zu",
                             listing->count_by_count);
    for (struct text word; form_next(&words, &word);) {
        struct named_group *named = &parts->named[listing->named_group_count];
        char text[WHERE_MESSAGE];
        if (listing->named_group_count == NAMED_GROUPS_MAX)
            return common_misuse(command->common, "--for-each: more than %d values",
                                 NAMED_GROUPS_MAX);
        snprintf(text, sizeof text, "%.*s", (int)word.length, word.data);
        const char *kept = where_keep(&command->where, text);
        named->is = kept
                        ? where_parse_list(&command->where, &parts->kind, parts->fields->name, kept)
                        : NULL;
        if (!named->is)
            return common_misuse(command->common, "--for-each: %s", command->where.message);
        if (!key_named(named->is, listing->count_by[0], &named->key) || key_is_pattern(named, kept))
            return common_misuse_typed(command->common, "--for-each", "'%s' may be several values",
                                       word);
        listing->named_groups = parts->named;
        listing->named_group_count++;
    }
    return 0;
}

int thresholds_resolve(struct listing_command *command)
{
    const struct common *common = command->common;
    struct listing *listing = &command->listing;

    if (!common->warn && !common->crit && !common->for_each)
        return 0;
    if (command->run_endless)
        return common_misuse(common, "--warn, --crit, --for-each: this listing never ends");
    struct threshold_parts *parts = &command->counting->thresholds;
    parts->thresholds = (struct thresholds){.counts = &parts->counts};
    make_kind(parts, command);
    int status = thresholds_parse(command, "--warn", common->warn, &parts->thresholds.warning);
    if (!status)
        status = thresholds_parse(command, "--crit", common->crit, &parts->thresholds.critical);
    if (!status)
        status = resolve_names(command);
    finish_kind(parts, listing);
    if (status || (!common->warn && !common->crit))
        return status;
    parts->warning_lasts =
        common->warn && condition_lasts(listing, parts, parts->thresholds.warning, false);
    parts->critical_lasts =
        common->crit && condition_lasts(listing, parts, parts->thresholds.critical, false);
    listing->thresholds = &parts->thresholds;
    command->own_status = true;
    return 0;
}

/* --- The end of a run ------------------------------------------------------------------------- */

/* A level that more rows could change is unknown in an incomplete listing. With --nagios an unknown
 * level is worse than a warning. */
static enum level level_of_run(const struct listing_command *command, bool partial)
{
    const struct threshold_parts *parts = &command->counting->thresholds;
    const uint64_t *counts = parts->counts.groups;
    const bool warning = counts[LEVEL_WARNING] && (!partial || parts->warning_lasts);
    const bool is_unknown = partial || parts->counts.unsure || counts[LEVEL_UNKNOWN];

    if (partial ? parts->critical_lasts && counts[LEVEL_CRITICAL] > parts->counts.keyless
                : counts[LEVEL_CRITICAL] > 0)
        return LEVEL_CRITICAL;
    if (warning && !(is_unknown && command->common->nagios))
        return LEVEL_WARNING;
    return is_unknown ? LEVEL_UNKNOWN : LEVEL_OK;
}

void thresholds_end(const struct listing_command *command, struct sink *sink, struct report *report,
                    bool failed)
{
    const bool partial = failed || report->partial;

    if (!command->listing.thresholds)
        return;
    const uint64_t count = command->counting->thresholds.counts.groups[LEVEL_UNKNOWN];
    if (command->common->nagios && !command->common->quiet)
        groups_line_put(sink, level_of_run(command, partial), partial);
    else if (count)
        report_note(report, "the level of %" PRIu64 " row%s is unknown, because a value is unknown",
                    count, count == 1 ? "" : "s");
}

int thresholds_status(const struct listing_command *command, const struct report *report,
                      int status)
{
    static const int statuses[LEVELS] = {[LEVEL_UNKNOWN] = STATUS_FAILURE,
                                         [LEVEL_WARNING] = STATUS_WARNING,
                                         [LEVEL_CRITICAL] = STATUS_FAULT};
    const enum level level =
        command->listing.thresholds ? level_of_run(command, report->partial) : LEVEL_OK;

    return level == LEVEL_OK ? status : statuses[level];
}
