/* SPDX-License-Identifier: MIT */
/*
 * A segment of any bytes: reading it ends without an error of the program, and rows are no more
 * than the lines of the segment. The first byte of an input chooses what is asked for, the second
 * byte the moment; the others are the segment.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fastnet/clock.h"
#include "fastnet/recording.h"
#include "fastnet/report.h"
#include "fuzz.h"

/* 2026-11-29 03:00:00 UTC, with which the segments of the corpus begin. */
#define FIRST (UINT64_C(1795921200) * CLOCK_SECOND)

static char directory[] = "/tmp/fastnet-fuzz-XXXXXX";
static char path[80];

static void remove_segment(void)
{
    unlink(path);
    rmdir(directory);
}

/* All inputs use one directory. */
static void make_directory(void)
{
    static bool made;

    if (made)
        return;
    require(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/fastnet-20261129T030000Z-000001.ndjson", directory);
    require(atexit(remove_segment) == 0);
    made = true;
}

static void write_segment(const uint8_t *data, size_t size)
{
    const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);

    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

static int count_row(const struct record *record, void *arg)
{
    static const struct context nothing;
    const struct field *field;
    char text[VALUE_PART];

    for (size_t i = 0; (field = field_at(record->kind, i)); i++) {
        const struct value value = field_value(field, record, &nothing);
        (void)value_write_part(text, &value, 0);
    }
    ++*(size_t *)arg;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct report report;
    const struct query query = {.report = &report};
    size_t rows = 0, lines = 1;

    if (size < 2)
        return 0;
    make_directory();
    write_segment(data + 2, size - 2);
    const uint64_t from = FIRST + data[1] / 4 * CLOCK_SECOND;
    const struct recording_query asked = {
        .directory = directory,
        .span = {from, from + data[1] % 4 * (10 * CLOCK_SECOND)},
        .ended = data[0] & 1,
        .findings = data[0] & 2,
    };
    report = (struct report){.partial = false};
    struct saved_source *source = recording_open(&asked, &report);
    require(source != NULL);
    require(source->read(source, &query, count_row, &rows) == 0);
    saved_source_close(source);
    for (size_t i = 2; i < size; i++)
        lines += data[i] == '\n' || data[i] == '}';
    require(rows <= lines);
    require(report.count <= REPORT_LINES);
    return 0;
}
