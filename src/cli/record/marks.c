/* SPDX-License-Identifier: MIT */
/* Marks: lines of a segment that are not rows (recording.h). */
#include <inttypes.h>
#include <stdio.h>

#include "cli/record/record.h"
#include "cli/saved.h"
#include "fastnet/clock.h"
#include "fastnet/namespace.h"

enum { MARK_MAX = 512 };

/* Writes the members `time` and `uptime`. */
static void mark_put_time(struct writer *writer, uint64_t time)
{
    const uint64_t uptime = clock_nanoseconds(CLOCK_BOOTTIME) / 1000;
    char line[MARK_MAX];

    saved_put_time(writer, time);
    snprintf(line, sizeof line, ",\"uptime\":%" PRIu64 ".%06" PRIu64, uptime / 1000000,
             uptime % 1000000);
    writer_puts(writer, line);
}

/* The arguments may have addresses, so --no-remote leaves them out. */
static void mark_put_arguments(struct writer *writer, const struct record_command *command)
{
    char *const *argument = command->arguments;

    writer_puts(writer, ",\"arguments\":[\"record\"");
    if (command->no_remote)
        writer_puts(writer, ",\"--no-remote\"");
    for (; *argument && !command->no_remote; argument++) {
        writer_puts(writer, ",");
        sink_put_json(writer, as_text(*argument));
    }
    writer_puts(writer, "]");
}

void mark_put_head(struct segment *segment, const struct record_command *command)
{
    struct writer *writer = &segment->writer;
    char line[MARK_MAX];

    saved_put_mark(writer, "head");
    writer_puts(writer, ",\"format\":1,\"kind\":\"sockets\"");
    mark_put_arguments(writer, command);
    saved_put_machine(writer, "/proc");
    mark_put_time(writer, segment->name.time);
    snprintf(line, sizeof line,
             ",\"listing\":null,\"segment\":%" PRIu64 ",\"interval\":%u.%03u,\"netns_id\":%" PRIu64
             "}\n",
             segment->name.number, command->interval_ms / 1000, command->interval_ms % 1000,
             namespace_own_id());
    writer_puts(writer, line);
}

void mark_put(struct segment *segment, const struct mark *mark)
{
    struct writer *writer = &segment->writer;
    char line[MARK_MAX];

    saved_put_mark(writer, mark->name);
    mark_put_time(writer, mark->time);
    snprintf(line, sizeof line, ",\"rows\":%" PRIu64 ",\"complete\":%s%s}\n", mark->rows,
             mark->complete ? "true" : "false", mark->more);
    writer_puts(writer, line);
}
