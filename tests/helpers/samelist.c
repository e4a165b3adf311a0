/* SPDX-License-Identifier: MIT */
/*
 * Compares two listings of netstat. They must be equal: headings in the same order, the rows
 * between two headings in any order. Spaces at the ends of lines do not count.
 *
 *     samelist [--tolerance SECONDS] [--no-refcount] EXPECTED ACTUAL
 *
 * --tolerance lets the first number of a running timer, "on (0.42/2/0)", differ by SECONDS.
 * --no-refcount takes any RefCnt of a unix socket for equal.
 *
 * Exit status: 0 the same, 1 not (the first differences are printed), 2 trouble.
 */
#include <err.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIFFERENCES_MAX = 12 };

struct options {
    double tolerance; /* negative: timers must be equal */
    bool no_refcount;
};

struct line {
    size_t section; /* headings have sections of their own */
    char *text;     /* with a masked timer */
    double timer;   /* what was masked, or 0 */
};

struct listing {
    char *data; /* what the lines point into */
    struct line *lines;
    size_t count;
};

static char *file_read(const char *path)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        err(2, "%s", path);
    char *data = NULL;
    size_t capacity = 0;
    ssize_t length = getdelim(&data, &capacity, '\0', file);
    if (length < 0 && ferror(file))
        err(2, "%s", path);
    if (length < 0 && data != NULL)
        data[0] = '\0';
    if (length > 0 && strlen(data) != (size_t)length)
        errx(2, "%s: a NUL byte", path);
    fclose(file);
    return data != NULL ? data : strdup("");
}

/* Cuts "(12.34/" to "(/" where a running timer is shown, and returns the number. */
static double timer_mask(char *text)
{
    static const char *const names[] = {" on (", " keepalive (", " timewait (", " probe ("};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *found = strstr(text, names[i]);
        if (found == NULL)
            continue;
        char *number = found + strlen(names[i]);
        char *end;
        double value = strtod(number, &end);
        if (end == number || *end != '/')
            continue;
        memmove(number, end, strlen(end) + 1);
        return value;
    }
    return 0;
}

static void refcount_mask(char *text)
{
    if (strncmp(text, "unix  ", 6) == 0 && strlen(text) > 12)
        memset(text + 6, '*', 6);
}

static bool is_heading(const char *text)
{
    return strncmp(text, "Active ", 7) == 0 || strncmp(text, "Proto ", 6) == 0;
}

static struct line line_parse(char *text, const struct options *options)
{
    struct line line = {.text = text};
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ')
        text[--length] = '\0';
    if (options->tolerance >= 0)
        line.timer = timer_mask(text);
    if (options->no_refcount)
        refcount_mask(text);
    return line;
}

static int line_compare(const void *left, const void *right)
{
    const struct line *a = left;
    const struct line *b = right;
    if (a->section != b->section)
        return a->section < b->section ? -1 : 1;
    int order = strcmp(a->text, b->text);
    if (order != 0)
        return order;
    return (a->timer > b->timer) - (a->timer < b->timer);
}

static size_t count_lines(const char *path, const char *data)
{
    size_t lines = 0;
    size_t length = strlen(data);
    for (size_t i = 0; i < length; i++)
        lines += data[i] == '\n';
    if (length > 0 && data[length - 1] != '\n')
        errx(2, "%s: the last line has no end", path);
    return lines;
}

static struct listing listing_read(const char *path, const struct options *options)
{
    struct listing listing = {.data = file_read(path)};
    char *rest = listing.data;
    size_t section = 0;
    listing.count = count_lines(path, listing.data);
    listing.lines = calloc(listing.count + 1, sizeof *listing.lines);
    if (listing.lines == NULL)
        err(2, NULL);
    for (size_t i = 0; i < listing.count; i++) {
        struct line line = line_parse(strsep(&rest, "\n"), options);
        bool heading = is_heading(line.text);
        line.section = section + heading;
        section += heading ? 2 : 0;
        listing.lines[i] = line;
    }
    qsort(listing.lines, listing.count, sizeof *listing.lines, line_compare);
    return listing;
}

static void listing_free(struct listing *listing)
{
    free(listing->lines);
    free(listing->data);
}

/* Which comes first; a listing that has ended comes last. */
static int order_of(const struct listing *expected, size_t i, const struct listing *actual,
                    size_t j)
{
    if (i == expected->count || j == actual->count)
        return i < expected->count ? -1 : 1;
    const struct line *a = &expected->lines[i];
    const struct line *b = &actual->lines[j];
    if (a->section != b->section)
        return a->section < b->section ? -1 : 1;
    return strcmp(a->text, b->text);
}

/* A line that is not in the other listing, or whose timer is too far off. */
static int differ(char sign, const struct line *line)
{
    printf("%c %s", sign, line->text);
    if (line->timer > 0)
        printf(" [%.2f]", line->timer);
    putchar('\n');
    return 1;
}

static int listings_compare(const struct listing *expected, const struct listing *actual,
                            double tolerance)
{
    int differences = 0;
    size_t i = 0;
    size_t j = 0;
    while ((i < expected->count || j < actual->count) && differences < DIFFERENCES_MAX) {
        int order = order_of(expected, i, actual, j);
        bool late =
            order == 0 && fabs(expected->lines[i].timer - actual->lines[j].timer) > tolerance;
        if (order < 0 || (late && tolerance >= 0))
            differences += differ('-', &expected->lines[i]);
        if (order > 0 || (late && tolerance >= 0))
            differences += differ('+', &actual->lines[j]);
        i += order <= 0;
        j += order >= 0;
    }
    return differences;
}

int main(int argc, char **argv)
{
    struct options options = {.tolerance = -1};
    int next = 1;
    for (; next < argc && strncmp(argv[next], "--", 2) == 0; next++) {
        if (strcmp(argv[next], "--no-refcount") == 0)
            options.no_refcount = true;
        else if (strcmp(argv[next], "--tolerance") == 0 && next + 1 < argc)
            options.tolerance = strtod(argv[++next], NULL);
        else
            errx(2, "unknown option %s", argv[next]);
    }
    if (argc - next != 2)
        errx(2, "usage: samelist [--tolerance SECONDS] [--no-refcount] EXPECTED ACTUAL");
    struct listing expected = listing_read(argv[next], &options);
    struct listing actual = listing_read(argv[next + 1], &options);
    int differences = listings_compare(&expected, &actual, options.tolerance);
    listing_free(&expected);
    listing_free(&actual);
    return differences > 0 ? 1 : 0;
}
