/* SPDX-License-Identifier: MIT */
/* Why a listing has no row: what the user may have meant instead. */
#include "cli/empty.h"

#include <string.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/engine.h"

/* Finds a pattern that matches only a whole text, because it has no '*'. */
static const struct value *whole_pattern(const struct predicate *where)
{
    const struct value *found = NULL;

    if ((where->operation == PREDICATE_LIKE || where->operation == PREDICATE_GLOB) &&
        !memchr(where->constant.text.data, '*', where->constant.text.length))
        return &where->constant;
    for (const struct predicate *part = where->parts;
         part && !found && where->operation != PREDICATE_NOT; part = part->next)
        found = whole_pattern(part);
    return found;
}

/* Suggests patterns to a user at a terminal, who may have meant a part of the text. */
static void hint_at_patterns(const struct listing *listing, struct report *report)
{
    const bool first = !report->listed && listing->number <= 1 && isatty(STDERR_FILENO);
    const struct value *pattern = first && listing->where ? whole_pattern(listing->where) : NULL;
    const int length = pattern ? (int)pattern->text.length : 0;

    if (length)
        report_note(
            report,
            "a pattern must match the whole text; no text is '%.*s' (try '%.*s*' or '*%.*s*')",
            length, pattern->text.data, length, pattern->text.data, length, pattern->text.data);
}

/* Reports a container, pod or unit that no row has: it may have ended, its name may be mistyped, or
 * only the group of its daemon may be known. */
static void report_groups(const struct predicate *typed, struct report *report)
{
    static const struct {
        const char *field, *described;
    } groups[] = {
        {"container", "container with the name or id"},
        {"pod", "pod with the name or uid"},
        {"unit", "unit with the name"},
    };
    const struct value *constant = &typed->constant;

    for (size_t i = 0; i < COUNT(groups); i++)
        if (typed->operation == PREDICATE_EQUAL && typed->field && constant->type == VALUE_TEXT &&
            strcmp(typed->field->name, groups[i].field) == 0)
            report_note(report, "no row of this listing belongs to a %s '%.*s'",
                        groups[i].described, (int)constant->text.length, constant->text.data);
    for (const struct predicate *part = typed->parts; part && typed->operation != PREDICATE_NOT;
         part = part->next)
        report_groups(part, report);
}

void empty_explain(const struct listing *listing, struct report *report)
{
    hint_at_patterns(listing, report);
    if (!report->listed && !report->partial && listing->number <= 1 && listing->typed)
        report_groups(listing->typed, report);
}
