/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <unistd.h>

enum { OUTPUT_MAX = 256 * 1024 };

struct writer *output_begin(struct output *output)
{
    *output = (struct output){.fd = memfd_create("output", MFD_CLOEXEC)};
    assert_int_equal(writer_init(&output->writer, output->fd), 0);
    return &output->writer;
}

const char *output_end(struct output *output, struct sink *sink)
{
    static char text[OUTPUT_MAX];
    ssize_t length;

    assert_int_equal(writer_flush(&output->writer), 0);
    length = pread(output->fd, text, sizeof text, 0);
    assert_in_range(length, 0, sizeof text - 1);
    text[length] = '\0';
    sink_destroy(sink);
    writer_finish(&output->writer);
    close(output->fd);
    return text;
}

const char *output_of(const struct sink_ops *ops, const void *layout, const struct context *context,
                      int section, const struct record *records, size_t count)
{
    struct output output;
    struct sink *sink = sink_create(ops, layout, output_begin(&output), context);

    assert_non_null(sink);
    sink_begin(sink);
    if (section >= 0)
        sink->ops->section(sink, (unsigned)section);
    for (size_t i = 0; i < count; i++)
        sink->ops->row(sink, &records[i]);
    sink_end(sink);
    return output_end(&output, sink);
}
