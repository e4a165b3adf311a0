/* SPDX-License-Identifier: MIT */
#include "backend/saved/segment_files.h"

#include <dirent.h>
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

static int segment_files_add(struct segment_files *segments, size_t *capacity, const char *name)
{
    struct segment_file segment;
    struct stat file;
    void *list;

    if (!recording_segment_parse(name, &segment.segment))
        return 0;
    if (fstatat(segments->directory, name, &file, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(file.st_mode))
        return 0;
    segment.size = (uint64_t)file.st_size;
    list = segments->count < SEGMENT_FILES_MAX
               ? array_with_room(segments->list, capacity, segments->count + 1, sizeof segment)
               : NULL;
    if (!list)
        return -ENOMEM;
    segments->list = list;
    segments->list[segments->count++] = segment;
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
    DIR *names = fd < 0 ? NULL : fdopendir(fd);
    size_t capacity = 0;
    int error = names ? 0 : -errno;

    *segments = (struct segment_files){.directory = -1, .decompress.socket = -1};
    if (!names) {
        if (fd >= 0)
            close(fd);
        return error;
    }
    segments->directory = dup(fd);
    for (struct dirent *entry; !error && (entry = readdir(names));)
        error = segment_files_add(segments, &capacity, entry->d_name);
    closedir(names);
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
    int error = 0;

    *reader = (struct segment_reader){.segments = segments, .segment = segment, .fd = -1};
    reader->file = segment_open_file(segments, segment);
    if (reader->file < 0)
        error = reader->file;
    else if (decompress_is_needed(segment->name))
        reader->fd = decompress_open(&segments->decompress, segment->name, reader->file);
    else
        reader->fd = reader->file;
    if (!error)
        error = reader->fd < 0 ? reader->fd : 0;
    reader->json = error ? NULL : json_reader_create(reader->fd);
    if (!error && !reader->json)
        error = -ENOMEM;
    if (!error)
        return 0;
    segment_report(segment, error, report);
    segment_reader_close(reader, false, report);
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

    while ((result = json_reader_next(reader->json, row)) == -EBADMSG) {
        uint64_t line;
        segment_report_broken(reader, report);
        snprintf(reader->broken, sizeof reader->broken, "%s",
                 json_reader_problem(reader->json, &line));
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
    const char *program = reader->segments->decompress.program;
    int status = 0;

    json_reader_destroy(reader->json);
    if (reader->fd >= 0)
        close(reader->fd);
    if (reader->fd >= 0 && reader->fd != reader->file)
        status = decompress_end(&reader->segments->decompress);
    if (reader->file >= 0 && reader->fd != reader->file)
        close(reader->file);
    if (status == 127)
        report_loss(report, "%s: needs %s(1), which is not installed", reader->segment->name,
                    program);
    else if (status && complete)
        report_loss(report, "%s: %s(1) could not read all of it", reader->segment->name, program);
    *reader = (struct segment_reader){.file = -1, .fd = -1};
}

uint64_t recording_interval(const struct json_row *head)
{
    const struct json_member *member = mark_member(head, "interval");
    const struct text text = member ? json_value(head, member) : (struct text){.length = 0};
    uint64_t unit = CLOCK_SECOND, interval = 0;
    bool fraction = false;

    for (size_t i = 0; i < text.length && unit && interval < 1000000 * CLOCK_SECOND; i++) {
        if (text.data[i] == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (text.data[i] < '0' || text.data[i] > '9')
            return RECORDING_INTERVAL * CLOCK_SECOND;
        unit /= fraction ? 10 : 1;
        interval = (fraction ? interval : interval * 10) + unit * (uint64_t)(text.data[i] - '0');
    }
    return interval ? interval : RECORDING_INTERVAL * CLOCK_SECOND;
}
