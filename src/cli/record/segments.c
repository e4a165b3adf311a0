/* SPDX-License-Identifier: MIT */
#include "cli/record/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fastnet/clock.h"

/* --- The directory ---------------------------------------------------------------------------- */

/* The results of a walk over the directory. */
struct segments_found {
    const struct record_segments *segments;
    struct recording_segment oldest; /* number 0: no segment, except the newest */
    uint64_t modified;               /* when the oldest was last written, seconds since 1970 */
    struct recording_segment raw;    /* the oldest that is not compressed, after `compressed` */
    uint64_t last, bytes;
};

static int segments_take(const struct recording_segment *segment, const struct stat *file,
                         void *arg)
{
    struct segments_found *found = arg;
    const struct record_segments *segments = found->segments;

    found->bytes += (uint64_t)file->st_blocks * 512;
    if (segment->number > found->last)
        found->last = segment->number;
    if (segments->last && segment->number >= segments->last)
        return 0;
    if (!found->oldest.number || segment->number < found->oldest.number) {
        found->oldest = *segment;
        found->modified = (uint64_t)file->st_mtime;
    }
    if (segment->form == RECORDING_RAW && segment->number > segments->compressed &&
        (!found->raw.number || segment->number < found->raw.number))
        found->raw = *segment;
    return 0;
}

/* Returns zeroes if the directory cannot be read. */
static struct segments_found segments_find(const struct record_segments *segments)
{
    struct segments_found found = {.segments = segments};

    (void)recording_each_segment(segments->directory, segments_take, &found);
    return found;
}

int segments_open(struct record_segments *segments, const char *directory)
{
    segments->lock = segments->directory = -1;
    if (mkdir(directory, 0700) < 0 && errno != EEXIST)
        return -errno;
    segments->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (segments->directory < 0)
        return -errno;
    segments->lock =
        openat(segments->directory, ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (segments->lock < 0 || flock(segments->lock, LOCK_EX | LOCK_NB) < 0)
        return -errno;
    /* a compressor left it that was ended */
    (void)unlinkat(segments->directory, COMPRESS_TEMPORARY, 0);
    segments->last = segments_find(segments).last;
    return 0;
}

/* Waits for the child that compresses. */
static void segments_reap(struct record_segments *segments, int options)
{
    if (segments->compressor && waitpid(segments->compressor, NULL, options) != 0)
        segments->compressor = 0;
}

void segments_close(struct record_segments *segments)
{
    if (segments->compressor)
        kill(segments->compressor, SIGKILL);
    segments_reap(segments, 0);
    if (segments->lock >= 0)
        close(segments->lock);
    if (segments->directory >= 0)
        close(segments->directory);
}

/* Removes a segment, in each form. */
static void segments_remove(const struct record_segments *segments,
                            struct recording_segment segment)
{
    char name[RECORDING_NAME];

    for (segment.form = 0; segment.form < RECORDING_FORMS; segment.form++) {
        recording_segment_put(name, &segment);
        (void)unlinkat(segments->directory, name, 0);
    }
}

void segments_tidy(struct record_segments *segments, uint64_t now)
{
    struct segments_found found = segments_find(segments);

    while (found.oldest.number &&
           (found.bytes > segments->keep_bytes ||
            (segments->keep_seconds < now / CLOCK_SECOND &&
             found.modified < now / CLOCK_SECOND - segments->keep_seconds))) {
        const uint64_t number = found.oldest.number;
        segments_remove(segments, found.oldest);
        found = segments_find(segments);
        if (found.oldest.number == number)
            break; /* it cannot be removed */
    }
    segments_reap(segments, WNOHANG);
    if (segments->compressor || !found.raw.number)
        return;
    segments->compressed = found.raw.number;
    segments->compressor = compress_start(segments, &found.raw);
}

/* --- A segment -------------------------------------------------------------------------------- */

/* Bytes that wait for a commit; bytes of memory that stay after it. */
enum { SEGMENT_KEPT_MAX = 256 * 1024, SEGMENT_KEPT_USUAL = 64 * 1024 };

static bool segment_is_full_disk(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

/* Makes room on a full disk. Keeps the newest segment, and segment number `written`, which is being
 * written: its bytes stay on the disk until it is closed. Returns false if no other is left. */
static bool segments_drop_oldest(struct record_segments *segments, uint64_t written)
{
    const struct segments_found found = segments_find(segments);

    if (!found.oldest.number || found.oldest.number == written)
        return false;
    segments_remove(segments, found.oldest);
    segments->dropped++;
    return true;
}

static int segment_write(struct segment *segment)
{
    bool dropped = false;

    for (size_t done = 0; done < segment->length;) {
        const ssize_t written = write(segment->fd, segment->kept + done, segment->length - done);
        if (written > 0)
            done += (size_t)written;
        else if (written == 0)
            return -EIO;
        else if (segment_is_full_disk(errno) && !dropped &&
                 segments_drop_oldest(segment->segments, segment->name.number))
            dropped = true;
        else if (errno != EINTR)
            return -errno;
    }
    segment->length = 0;
    return 0;
}

/* Keeps bytes of the writer. */
static int segment_keep(void *arg, const char *data, size_t size)
{
    struct segment *segment = arg;
    const size_t needed = segment->length + size;
    int error = 0;

    if (needed > SEGMENT_KEPT_MAX)
        error = segment_write(segment);
    if (!error && needed > segment->capacity && segment->capacity < SEGMENT_KEPT_MAX) {
        const size_t capacity =
            2 * needed < SEGMENT_KEPT_MAX ? 2 * needed : (size_t)SEGMENT_KEPT_MAX;
        char *larger = realloc(segment->kept, capacity);
        if (!larger)
            return -ENOMEM;
        segment->kept = larger;
        segment->capacity = capacity;
    }
    if (error)
        return error;
    memcpy(segment->kept + segment->length, data, size);
    segment->length += size;
    return 0;
}

int segment_create(struct segment *segment, struct record_segments *segments, uint64_t now)
{
    char name[RECORDING_NAME];
    int error;

    *segment = (struct segment){.segments = segments, .fd = -1};
    error = writer_init(&segment->writer, -1);
    if (error)
        return error;
    segment->writer.take = segment_keep;
    segment->writer.arg = segment;
    segment->name = (struct recording_segment){now, segments->last + 1, RECORDING_RAW};
    recording_segment_put(name, &segment->name);
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_APPEND;
    segment->fd = openat(segments->directory, name, flags, 0600);
    if (segment->fd < 0 && segment_is_full_disk(errno) &&
        segments_drop_oldest(segments, segments->last))
        segment->fd = openat(segments->directory, name, flags, 0600);
    if (segment->fd < 0)
        return -errno;
    segments->last = segment->name.number;
    return 0;
}

int segment_commit(struct segment *segment)
{
    int error = writer_flush(&segment->writer);

    if (!error)
        error = segment_write(segment);
    if (error && ftruncate(segment->fd, (off_t)segment->size) < 0)
        return error; /* a reader ignores rows without a mark */
    if (error)
        return error;
    segment->size = (uint64_t)lseek(segment->fd, 0, SEEK_END);
    if (segment->capacity > SEGMENT_KEPT_USUAL) {
        free(segment->kept);
        segment->kept = NULL;
        segment->capacity = 0;
    }
    return 0;
}

void segment_close(struct segment *segment)
{
    if (segment->writer.buffer && segment->fd >= 0) {
        close(segment->fd);
        if (!segment->size)
            segments_remove(segment->segments, segment->name); /* not even the frame fitted */
    }
    writer_finish(&segment->writer);
    free(segment->kept);
    *segment = (struct segment){.fd = -1};
}
