/* SPDX-License-Identifier: MIT */
#include "backend/saved/segment_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/saved/marks.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"

/* Compares by number. If a segment has two files, the file that is not compressed is first. */
static int segment_file_compare(const void *a, const void *b)
{
    const struct segment_file *one = a, *other = b;

    if (one->segment.number != other->segment.number)
        return one->segment.number < other->segment.number ? -1 : 1;
    return (int)one->segment.form - (int)other->segment.form;
}

static int segment_files_add(const struct recording_segment *segment, const struct stat *file,
                             void *arg)
{
    struct segment_files *segments = arg;
    struct segment_file *added =
        segments->count < SEGMENT_FILES_MAX
            ? ARRAY_ADD(segments->list, segments->count, segments->capacity)
            : NULL;

    if (!added)
        return -ENOMEM;
    *added = (struct segment_file){.segment = *segment, .size = (uint64_t)file->st_size};
    return 0;
}

/* Removes the second file of a segment. */
static void segment_files_unite(struct segment_files *segments)
{
    size_t kept = 0;

    for (size_t i = 0; i < segments->count; i++)
        if (!kept || segments->list[kept - 1].segment.number != segments->list[i].segment.number)
            segments->list[kept++] = segments->list[i];
    segments->count = kept;
}

int segment_files_init(struct segment_files *segments, const char *directory)
{
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = fd < 0 ? -errno : 0;

    *segments = (struct segment_files){.directory = fd, .decompress.socket = -1};
    if (!error)
        error = recording_each_segment(fd, segment_files_add, segments);
    if (!error && segments->count) {
        qsort(segments->list, segments->count, sizeof *segments->list, segment_file_compare);
        segment_files_unite(segments);
        error = decompress_begin(&segments->decompress);
    }
    if (error)
        segment_files_finish(segments);
    return error;
}

void segment_files_finish(struct segment_files *segments)
{
    decompress_finish(&segments->decompress);
    if (segments->directory >= 0)
        close(segments->directory);
    segments->directory = -1;
    free(segments->list);
    segments->list = NULL;
}

bool segment_files_continue(const struct segment_files *segments, size_t i)
{
    return i + 1 < segments->count &&
           segments->list[i + 1].segment.number == segments->list[i].segment.number + 1;
}

bool segment_files_cover(const struct segment_files *segments, size_t i, uint64_t from, uint64_t to)
{
    const uint64_t begin = segments->list[i].segment.time;
    const uint64_t next = segment_files_continue(segments, i)
                              ? segments->list[i + 1].segment.time + CLOCK_SECOND
                              : UINT64_MAX;

    return begin <= to && (next >= from || next < begin);
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* Opens the file of a segment, which may have been compressed since its name was read. */
static int segment_open_file(const struct segment_files *segments, struct segment_file *segment)
{
    struct stat file;
    int fd = -1;

    for (int form = -1; form < RECORDING_FORMS && fd < 0; form++) {
        if (form >= 0)
            segment->segment.form = (enum recording_form)form;
        recording_segment_put(segment->name, &segment->segment);
        fd = openat(segments->directory, segment->name,
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0 && errno != ENOENT)
            return -errno;
    }
    if (fd < 0)
        return -ENOENT;
    if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode))
        return fd;
    close(fd);
    return -EINVAL;
}

static void segment_report(const struct segment_file *segment, int error, struct report *report)
{
    if (error == -ENOENT)
        report_loss(report, "%s: the segment was removed meanwhile", segment->name);
    else
        report_loss(report, "%s: %s", segment->name, strerror(-error));
}

int segment_reader_open(struct segment_reader *reader, struct segment_files *segments, size_t i,
                        struct report *report)
{
    struct segment_file *segment = &segments->list[i];
    const int fd = segment_open_file(segments, segment);

    *reader = (struct segment_reader){.segment = segment};
    const int error =
        fd < 0 ? fd : row_file_open(&reader->bytes, &segments->decompress, segment->name, fd);
    if (error)
        segment_report(segment, error, report);
    return error;
}

static void segment_report_broken(struct segment_reader *reader, struct report *report)
{
    if (reader->line)
        report_loss(report, "%s:%" PRIu64 ": %s", reader->segment->name, reader->line,
                    reader->broken);
    reader->line = 0;
}

int segment_reader_next(struct segment_reader *reader, struct json_row *row, struct report *report)
{
    int result;

    while ((result = json_reader_next(reader->bytes.reader, row)) == -EBADMSG) {
        uint64_t line;
        segment_report_broken(reader, report);
        snprintf(reader->broken, sizeof reader->broken, "%s",
                 json_reader_problem(reader->bytes.reader, &line));
        reader->line = line;
    }
    if (result > 0)
        segment_report_broken(reader, report);
    if (result < 0)
        segment_report(reader->segment, result, report);
    return result > 0;
}

void segment_reader_close(struct segment_reader *reader, bool complete, struct report *report)
{
    row_file_close(&reader->bytes, complete ? report : NULL);
}

uint64_t recording_interval(const struct json_row *head)
{
    enum { INTERVAL_MAX = 1000000 /* seconds */, NANOSECONDS = 9 };
    uint64_t interval;

    return mark_decimal(head, "interval", NANOSECONDS, &interval) && interval &&
                   interval < INTERVAL_MAX * CLOCK_SECOND
               ? interval
               : RECORDING_INTERVAL * CLOCK_SECOND;
}
