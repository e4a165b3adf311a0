/* SPDX-License-Identifier: MIT */
#include "cli/doctor/rule_list.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "fastnet/doctor.h"

enum { PATTERN_MAX = 256 };

#define GLOB_SIGNS "*?[]\\"

uint64_t rule_list_find(struct text pattern)
{
    char text[PATTERN_MAX];
    uint64_t rules = 0;

    if (pattern.length >= sizeof text)
        return 0;
    snprintf(text, sizeof text, "%.*s", (int)pattern.length, pattern.data);
    for (size_t i = 0; doctor_rule(i); i++)
        if (fnmatch(text, doctor_rule(i)->name, 0) == 0)
            rules |= UINT64_C(1) << i;
    return rules;
}

/* --- Names that are near ---------------------------------------------------------------------- */

/* Returns the longest piece of the pattern that has no sign of a pattern. */
static struct text rule_list_piece(struct text pattern)
{
    struct text longest = {pattern.data, 0};

    for (size_t at = 0, length; at < pattern.length; at += length + 1) {
        for (length = 0;
             at + length < pattern.length && !strchr(GLOB_SIGNS, pattern.data[at + length]);)
            length++;
        if (length > longest.length)
            longest = (struct text){pattern.data + at, length};
    }
    return longest;
}

/* Returns whether a part of the rule's name, between '-', is near to the typed piece. */
static bool rule_list_is_near(const char *name, struct text typed)
{
    struct misuse part = {.typed = typed};
    char parts[64];

    for (struct text text; typed.length && text_next(&name, '-', &text) && !part.meant.data;) {
        snprintf(parts, sizeof parts, "%.*s", (int)text.length, text.data);
        misuse_offer(&part, parts);
    }
    return part.meant.data;
}

int rule_list_refuse(const struct common *common, const char *wrong, struct text pattern)
{
    const struct text piece = rule_list_piece(pattern);
    const bool is_pattern = piece.length < pattern.length;
    char all[2048] = "", near[2048] = "";

    for (size_t i = 0; doctor_rule(i); i++) {
        const char *name = doctor_rule(i)->name;
        (void)text_list(all, sizeof all, " ", as_text(name));
        if (is_pattern && rule_list_is_near(name, piece))
            (void)text_list(near, sizeof near, " ", as_text(name));
    }
    return common_misuse_of(common, .wrong = wrong, .typed = pattern, .words = *near ? near : all);
}

/* --- The list --------------------------------------------------------------------------------- */

enum { RULE_WIDTH = 18, HELP_LEAST = 24, GAP = 2 };

static const char *rule_list_threshold(const struct doctor_rule *rule)
{
    return rule->threshold ? rule->threshold : "-";
}

/* Takes the beginning of a text, up to a blank, that fits into `width` columns. */
static struct text rule_list_take(const char **text, size_t width)
{
    struct text taken = as_text(*text);

    if (!*text)
        return taken;
    if (taken.length > width)
        for (taken.length = width; taken.length && taken.data[taken.length] != ' ';)
            taken.length--;
    *text += taken.length;
    *text += strspn(*text, " ");
    return taken;
}

/* Prints a row. Texts that are wider than their columns continue in the next line. */
static void rule_list_put(FILE *stream, const char *name, const char *help, const char *threshold,
                          const size_t widths[2])
{
    do {
        const struct text left = rule_list_take(&help, widths[0]);
        const struct text right = rule_list_take(&threshold, widths[1]);
        fprintf(stream, "%-*s %-*.*s", RULE_WIDTH, name, right.length ? (int)widths[0] + GAP : 0,
                (int)left.length, left.data);
        fprintf(stream, "%.*s\n", (int)right.length, right.data);
        name = "";
    } while (*help || *threshold);
}

int rule_list_print(const struct common *common, uint64_t rules)
{
    const size_t terminal = command_width(common);
    const struct doctor_rule *rule;
    size_t widths[2] = {HELP_LEAST, HELP_LEAST};
    struct page page;
    FILE *stream = page_open(&page);

    for (size_t i = 0; (rule = doctor_rule(i)); i++) {
        const size_t help = strlen(rule->help), threshold = strlen(rule_list_threshold(rule));
        widths[0] = help > widths[0] ? help : widths[0];
        widths[1] = threshold > widths[1] ? threshold : widths[1];
    }
    if (terminal && terminal < RULE_WIDTH + widths[0] + widths[1] + 1 + GAP) {
        const size_t room =
            terminal > RULE_WIDTH + 1 + GAP ? (terminal - RULE_WIDTH - 1 - GAP) / 2 : 0;
        widths[0] = widths[1] = room > HELP_LEAST ? room : HELP_LEAST;
    }
    if (!common->no_header)
        rule_list_put(stream, "RULE", "FINDS", "THRESHOLD", widths);
    for (size_t i = 0; (rule = doctor_rule(i)); i++)
        if (rules >> i & 1)
            rule_list_put(stream, rule->name, rule->help, rule_list_threshold(rule), widths);
    return page_finish(&page, common->program);
}
