/* SPDX-License-Identifier: MIT */
/* Rules about counters that should not grow. */
#include <inttypes.h>

#include "doctor/rules.h"

/* Returns the number of packets without those to groups. The counter and the drops were not read at
 * the same moment, so the drops decide if there were such packets. */
static uint64_t moved_without_groups(const struct examination *examination, const char *reason,
                                     uint64_t moved)
{
    const struct drop *other;
    const uint64_t groups = drops_to_groups(examination, reason, &other);
    const uint64_t others = groups ? drops_of(examination, reason, NULL) - groups : moved;

    return others < moved ? others : moved;
}

static void emit_growth(struct examination *examination, const struct rule_growth *growth)
{
    const uint64_t all = counter_moved(examination, growth->counter);
    const uint64_t less = counter_moved(examination, growth->less);
    uint64_t moved = all > less ? all - less : 0;
    const uint64_t whole = counter_moved(examination, growth->whole);
    struct finding finding;

    if (moved && growth->reason)
        moved = moved_without_groups(examination, growth->reason, moved);
    if (!moved || moved < growth->least ||
        (growth->percent && !reaches(moved, growth->percent, whole)))
        return;
    finding_begin(&finding, examination, SEVERITY_WARNING, "%s", growth->subject);
    if (growth->advice)
        finding.record.finding.advice = as_text(growth->advice);
    if (growth->command)
        finding.record.finding.command = as_text(growth->command);
    finding_summary(&finding, "%s: %" PRIu64 " %s %s in %.7g s", growth->subject, moved,
                    loss_noun(&growth->loss, moved), growth->loss.what,
                    seconds_between(examination));
    finding_evidence(&finding, "%s grew by %" PRIu64, kernel_numbers[growth->counter].name, all);
    if (growth->less)
        finding_evidence(&finding, "%s grew by %" PRIu64, kernel_numbers[growth->less].name, less);
    if (growth->whole)
        finding_evidence(&finding, "%s grew by %" PRIu64, kernel_numbers[growth->whole].name,
                         whole);
    finding_emit(&finding, examination, moved, ABSENT, moved);
}

void rule_growth(struct examination *examination)
{
    bool known = !examination->is_captured; /* the own kernel may have no such counter */

    for (const struct rule_growth *growth = examination->rule->growths; growth->counter; growth++) {
        known |= examination->now->counts.known[growth->counter];
        emit_growth(examination, growth);
    }
    examination->lacking |= !known;
}
