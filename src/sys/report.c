/* Gathers the problems of a listing. */
#include "fastnet/report.h"

#include <stdarg.h>
#include <string.h>

#include "fastnet/text.h"

static bool is_known(const struct report *report, const char *line)
{
    for (size_t i = 0; i < report->count && i < REPORT_LINES; i++) {
        if (strcmp(report->lines[i], line) == 0)
            return true;
    }
    return false;
}

/* count also counts lines that no longer fit: only their number is printed. */
static __attribute__((format(printf, 3, 0))) void add(struct report *report, bool verbatim,
                                                      const char *format, va_list arguments)
{
    char line[REPORT_LENGTH];

    vsnprintf(line, sizeof line, format, arguments);
    if (is_known(report, line))
        return;
    if (report->count < REPORT_LINES) {
        memcpy(report->lines[report->count], line, sizeof line);
        report->verbatim[report->count] = verbatim;
    }
    report->count++;
}

void report_note(struct report *report, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add(report, false, format, arguments);
    va_end(arguments);
}

void report_loss(struct report *report, const char *format, ...)
{
    va_list arguments;

    report->partial = true;
    va_start(arguments, format);
    add(report, false, format, arguments);
    va_end(arguments);
}

void report_verbatim(struct report *report, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add(report, true, format, arguments);
    va_end(arguments);
}

/* Lines contain file names and words of the kernel. A terminal must obey neither: escape them. */
static void print_line(FILE *stream, const char *program, const char *line)
{
    char escaped[ESCAPE_FACTOR * REPORT_LENGTH + 1];

    *escape_text(escaped, line, strlen(line), NULL) = '\0';
    fprintf(stream, "%s: %s\n", program, escaped);
}

void report_print(struct report *report, FILE *stream, const char *program)
{
    for (size_t i = 0; i < report->count && i < REPORT_LINES; i++) {
        if (report->verbatim[i])
            fprintf(stream, "%s\n", report->lines[i]);
        else
            print_line(stream, program, report->lines[i]);
    }
    if (report->count > REPORT_LINES)
        fprintf(stream, "%s: and %zu more\n", program, report->count - REPORT_LINES);
    report->count = 0;
}
