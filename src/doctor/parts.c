/* SPDX-License-Identifier: MIT */
/* Which parts of a rule can be tried. A captured tree, for example, may have counters, but nothing
 * about single sockets. */
#include <stdio.h>

#include "doctor/rules.h"
#include "fastnet/array.h"

bool parts_lack_number(const struct examination *examination, enum kernel_number number)
{
    return examination->is_captured && number && !examination->now->counts.known[number];
}

void parts_add_missing(struct examination *examination, const char *before, const char *name)
{
    char text[128];

    snprintf(text, sizeof text, "no %s%s", before, name);
    (void)text_list(examination->missing, sizeof examination->missing, ", ", as_text(text));
}

/* Finds what a rule about a gauge and its limit lacks: the gauge, the limit or the counters. */
static void parts_check_filling(struct examination *examination, const struct filling *filling)
{
    const enum kernel_number limit = kernel_numbers[filling->gauge].limit;
    const bool lacks_limit = sysctl_is_missing(examination, limit);
    const bool lacks_gauge = parts_lack_number(examination, filling->gauge);
    bool has_losses = false;

    for (size_t i = 0; i < COUNT(filling->losses); i++)
        has_losses |= filling->losses[i] && !parts_lack_number(examination, filling->losses[i]);
    if (lacks_gauge)
        parts_add_missing(examination, "number of ", filling->what);
    else if (lacks_limit)
        parts_add_missing(examination, "", kernel_numbers[limit].name);
    if (filling->losses[0] && !has_losses)
        parts_add_missing(examination, "",
                          filling->counter ? filling->counter
                                           : kernel_numbers[filling->losses[0]].name);
    examination->lacking |= (lacks_gauge || lacks_limit) && !has_losses;
}

void parts_check(struct examination *examination)
{
    const struct rule *rule = examination->rule;
    const unsigned unread = ~examination->now->read;
    const unsigned evidence = READS_DROPS; /* a rule without parts does not need it */
    size_t count = 0, lacking = 0;

    *examination->missing = '\0';
    for (const struct rule_part *part = rule->parts; part && part->name; part++) {
        count++;
        if (!(part->needs & unread) && !parts_lack_number(examination, part->numbers[0]) &&
            !parts_lack_number(examination, part->numbers[1]))
            continue;
        parts_add_missing(examination, "", part->name);
        lacking++;
    }
    examination->lacking = count ? lacking == count : rule->needs & unread & ~evidence;
    if (rule->filling)
        parts_check_filling(examination, rule->filling);
}
