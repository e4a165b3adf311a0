/* SPDX-License-Identifier: MIT */
#include "kit.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct writer *output_begin(struct output *output)
{
    *output = (struct output){.fd = memfd_create("output", MFD_CLOEXEC)};
    assert_int_equal(writer_init(&output->writer, output->fd), 0);
    return &output->writer;
}

const char *output_end(struct output *output, struct sink *sink)
{
    static char *text;
    off_t length;

    assert_int_equal(writer_flush(&output->writer), 0);
    length = lseek(output->fd, 0, SEEK_END);
    free(text);
    text = malloc((size_t)length + 1);
    assert_non_null(text);
    assert_int_equal(pread(output->fd, text, (size_t)length, 0), length);
    text[length] = '\0';
    sink_destroy(sink);
    writer_finish(&output->writer);
    close(output->fd);
    return text;
}

void output_columns(struct output *output, sink_create_fn create, struct sink_options options)
{
    options.writer = output_begin(output);
    options.context = options.context ? options.context : &no_names;
    output->sink = create(&options);
    assert_non_null(output->sink);
    sink_begin(output->sink);
}

void output_row(struct output *output, const struct record *record)
{
    output->sink->ops->row(output->sink, record);
}

const char *output_text(struct output *output)
{
    sink_end(output->sink);
    return output_end(output, output->sink);
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
