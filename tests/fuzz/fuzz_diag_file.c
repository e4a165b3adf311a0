/* SPDX-License-Identifier: MIT */
/*
 * A file of saved answers (TCPDIAG_FILE): its framing, the decoder behind it, and what is written
 * of its rows. The two families apart are what they are together, and what -D writes of the rows is
 * a file with the same rows.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/layouts.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fuzz.h"
#include "written.h"

struct input {
    const struct table *table;
    struct written written;
    struct sink *saved;
    size_t rows;
};

static int check_record(const struct record *record, void *arg)
{
    struct input *input = arg;
    const struct socket_record *sock = &record->socket;

    require(record->kind == &kind_socket);
    require(!(record->has & ~backend_fields(&backend_diag_file, input->table)));
    require(input->table->family == AF_UNSPEC || sock->family == input->table->family);
    require_address(&sock->local.address, sock->family);
    require_address(&sock->remote.address, sock->family);
    input->rows++;
    written_row(&input->written, record);
    if (input->saved)
        input->saved->ops->row(input->saved, record);
    return 0;
}

/* The file's rows of one table. */
static size_t read_rows(int fd, const struct table *table, struct sink *saved,
                        struct report *report)
{
    static const struct context no_names;
    static const struct ss_layout layout = {.netid = true,
                                            .state = true,
                                            .queues = true,
                                            .processes = true,
                                            .extended = true,
                                            .timers = true,
                                            .memory = true,
                                            .info = true,
                                            .tos = true,
                                            .options = true,
                                            .numeric = true};
    struct input input = {.table = table, .saved = saved};
    char path[] = "/proc/self/fd/0000000000";
    const struct query query = {.table = table,
                                .needs = UINT64_MAX,
                                .proc_root = "/nonexistent",
                                .diag_file = path,
                                .report = report};

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    written_begin(&input.written,
                  sink_create(&sink_ss, &layout, written_writer(&input.written), &no_names), "\t",
                  true);
    require(backend_diag_file.dump(&query, check_record, &input) == 0);
    written_end(&input.written);
    return input.rows;
}

static void put(int fd, const uint8_t *data, size_t size)
{
    while (size) {
        const ssize_t length = write(fd, data, size);
        require(length > 0);
        data += length;
        size -= (size_t)length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("input", MFD_CLOEXEC), copy = memfd_create("copy", MFD_CLOEXEC);
    struct report report = {.partial = false}, again = {.partial = false};
    struct writer writer;
    struct sink *saved;
    size_t rows;

    require(fd >= 0 && copy >= 0 && writer_init(&writer, copy) == 0);
    put(fd, data, size);
    saved = sink_create(&sink_diag, NULL, &writer, NULL);
    require(saved != NULL);
    sink_begin(saved);
    rows = read_rows(fd, &table_tcp_both, saved, &report);
    sink_end(saved);
    require(writer_flush(&writer) == 0);
    sink_destroy(saved);
    writer_finish(&writer);
    require(report.partial == (report.count > 0));
    require(read_rows(fd, &table_tcp, NULL, &report) + read_rows(fd, &table_tcp6, NULL, &report) ==
            rows);
    require(read_rows(copy, &table_tcp_both, NULL, &again) == rows && again.count == 0);
    close(fd);
    close(copy);
    return 0;
}
