/* SPDX-License-Identifier: MIT */
/* Marks: lines of a segment that are not rows (recording.h). */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/record/record.h"
#include "fastnet/clock.h"
#include "fastnet/namespace.h"
#include "text/escape.h"

enum { MARK_MAX = 512 };

#define MARK_BEGIN "{\"" SAVED_MARK "\":\"" FASTNET_VERSION "\",\"mark\":"

/* Writes a text of JSON, with quotes. */
static void mark_put_text(struct writer *writer, const char *text)
{
    enum { PIECE = 256 };

    writer_puts(writer, "\"");
    for (size_t left = strlen(text), size; left > 0; left -= size, text += size) {
        size = escape_piece(text, left, PIECE);
        writer_commit(writer,
                      escape_json(writer_reserve(writer, ESCAPE_JSON_FACTOR * size), text, size));
    }
    writer_puts(writer, "\"");
}

/* Writes the members `time` and `uptime`. */
static void mark_put_time(struct writer *writer, uint64_t time)
{
    const uint64_t uptime = clock_nanoseconds(CLOCK_BOOTTIME) / 1000;
    char text[TEXT_TIME_MAX + 1], line[MARK_MAX];

    *text_time(text, time) = '\0';
    snprintf(line, sizeof line, ",\"time\":\"%s\",\"uptime\":%" PRIu64 ".%06" PRIu64, text,
             uptime / 1000000, uptime % 1000000);
    writer_puts(writer, line);
}

/* Writes the id of this boot, or null. */
static void mark_put_boot(struct writer *writer)
{
    char id[64] = "";
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? 0 : read(fd, id, sizeof id - 1);

    if (fd >= 0)
        close(fd);
    id[length > 0 ? strcspn(id, "\n") : 0] = '\0';
    writer_puts(writer, ",\"boot_id\":");
    if (*id)
        mark_put_text(writer, id);
    else
        writer_puts(writer, "null");
}

/* The arguments may have addresses, so --no-remote leaves them out. */
static void mark_put_arguments(struct writer *writer, const struct record_command *command)
{
    char *const *argument = command->arguments;

    writer_puts(writer, "\"arguments\":[\"record\"");
    if (command->no_remote)
        writer_puts(writer, ",\"--no-remote\"");
    for (; *argument && !command->no_remote; argument++) {
        writer_puts(writer, ",");
        mark_put_text(writer, *argument);
    }
    writer_puts(writer, "]");
}

void mark_put_head(struct segment *segment, const struct record_command *command)
{
    struct writer *writer = &segment->writer;
    char host[HOST_NAME_SIZE] = "", line[MARK_MAX];

    writer_puts(writer, MARK_BEGIN "\"head\",\"format\":1,\"kind\":\"sockets\",");
    mark_put_arguments(writer, command);
    writer_puts(writer, ",\"host\":");
    (void)gethostname(host, sizeof host - 1);
    mark_put_text(writer, host);
    mark_put_boot(writer);
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

    writer_puts(writer, MARK_BEGIN);
    mark_put_text(writer, mark->name);
    mark_put_time(writer, mark->time);
    snprintf(line, sizeof line, ",\"rows\":%" PRIu64 ",\"complete\":%s%s}\n", mark->rows,
             mark->complete ? "true" : "false", mark->more);
    writer_puts(writer, line);
}
