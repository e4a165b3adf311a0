/* SPDX-License-Identifier: MIT */
/* The problems of a listing, each once. */
#include "fastnet/report.h"

#include <stdarg.h>
#include <string.h>

/* `count` also counts lines without room: report_print() prints only their number. */
void report_add(struct report *report, enum report_line what, const char *format, ...)
{
    size_t cut = REPORT_LENGTH - 1 - sizeof "...";
    char line[REPORT_LENGTH];
    va_list arguments;

    report->partial |= what == REPORT_LOSS;
    va_start(arguments, format);
    if (vsnprintf(line, sizeof line, format, arguments) >= (int)sizeof line) {
        while (((unsigned char)line[cut] & 0xc0) == 0x80) /* do not cut a UTF-8 character */
            cut--;
        memcpy(line + cut, "...", sizeof "...");
    }
    va_end(arguments);
    for (size_t i = 0; i < report->count && i < REPORT_LINES; i++)
        if (strcmp(report->lines[i], line) == 0)
            return;
    if (report->count < REPORT_LINES) {
        memcpy(report->lines[report->count], line, sizeof line);
        report->verbatim[report->count] = what == REPORT_VERBATIM;
    }
    report->count++;
}

void report_hand_on(struct report *report, const struct report *losses)
{
    for (size_t i = 0; i < losses->count && i < REPORT_LINES && losses->partial; i++)
        report_loss(report, "%s", losses->lines[i]);
    if (losses->count > REPORT_LINES && losses->partial)
        report_loss(report, "and %zu more", losses->count - REPORT_LINES);
}

/* Whether the lines are equal except for numbers. */
static bool is_alike(const char *one, const char *other)
{
    static const char digits[] = "0123456789";

    while (*one && *other) {
        const size_t number = strspn(one, digits), other_number = strspn(other, digits);
        if (!number != !other_number || (!number && *one != *other))
            return false;
        one += number ? number : 1;
        other += number ? other_number : 1;
    }
    return *one == *other;
}

static bool was_reported(const struct report *reported, size_t count, const char *line)
{
    bool found = count >= REPORT_LINES;

    for (size_t i = 0; i < count && !found; i++)
        found = is_alike(reported->lines[i], line);
    return found;
}

void report_add_news(struct report *report, const struct report *sample, struct report *reported)
{
    const size_t earlier = reported->count;

    report->partial |= sample->partial;
    report->unreadable |= sample->unreadable;
    report->ended |= sample->ended;
    report->listed += sample->listed;
    report->unshown = sample->unshown;
    for (size_t i = 0; i < sample->count && i < REPORT_LINES; i++) {
        const char *line = sample->lines[i];
        if (was_reported(reported, earlier, line))
            continue;
        report_add(report, sample->verbatim[i] ? REPORT_VERBATIM : REPORT_NOTE, "%s", line);
        if (!was_reported(reported, reported->count, line))
            report_add(reported, REPORT_NOTE, "%s", line);
    }
}
