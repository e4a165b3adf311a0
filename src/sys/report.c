/* SPDX-License-Identifier: MIT */
/* Gathers the problems of a listing. */
#include "fastnet/report.h"

#include <stdarg.h>
#include <string.h>

#include "fastnet/text.h"

/* count also counts lines that no longer fit: only their number is printed. */
void report_add(struct report *report, enum report_line what, const char *format, ...)
{
    char line[REPORT_LENGTH];
    va_list arguments;

    report->partial |= what == REPORT_LOSS;
    va_start(arguments, format);
    text_print(line, sizeof line, format, arguments);
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

/* Lines contain file names and words of the kernel. A terminal must obey neither: escape them. */
void report_hand_on(struct report *report, const struct report *losses)
{
    for (size_t i = 0; i < losses->count && losses->partial; i++)
        report_loss(report, "%s", losses->lines[i]);
}

void report_print(struct report *report, FILE *stream, const char *program)
{
    char escaped[ESCAPE_FACTOR * REPORT_LENGTH + 1];

    for (size_t i = 0; i < report->count && i < REPORT_LINES; i++) {
        const char *line = report->lines[i];
        *escape_text(escaped, line, strlen(line), NULL) = '\0';
        if (report->verbatim[i])
            fprintf(stream, "%s\n", line);
        else
            fprintf(stream, "%s: %s\n", program, escaped);
    }
    if (report->count > REPORT_LINES)
        fprintf(stream, "%s: and %zu more\n", program, report->count - REPORT_LINES);
    report->count = 0;
}
