/* SPDX-License-Identifier: MIT */
/* Prints the problems of a listing. */
#include <string.h>

#include "fastnet/report.h"
#include "fastnet/text.h"

/* Escapes each line, because it may contain file names and words of the kernel: a terminal must not
 * obey them. */
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
