/* SPDX-License-Identifier: MIT */
#include "backend/proc/proc_file.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fastnet/report.h"

#define HINT " (to capture it: head -c 20 /proc/self/exe >machine)"

int proc_file_open(struct proc_file *file)
{
    const struct query *query = file->query;
    char path[PATH_MAX];
    int status, error;

    snprintf(path, sizeof path, "net/%s", file->name);
    status = (file->open ? file->open : lines_open)(&file->lines, query->proc_root, path);
    if (status < 0)
        return status;
    error = proc_tree_machine(query->proc_root, &file->machine);
    if (error)
        report_loss(query->report, "%s/machine: %s" HINT, query->proc_root,
                    error == -EBADMSG ? "expected the first 20 bytes of a program"
                                      : strerror(-error));
    return status;
}

/* The kernel ends every line with a newline: a line without newline was cut, perhaps in a field. */
static void report_truncated(const struct proc_file *file)
{
    report_loss(file->query->report, "%s/net/%s is truncated: its last line has no newline",
                file->query->proc_root, file->name);
}

static void report_empty(const struct proc_file *file)
{
    if (file->heading || file->counters)
        report_loss(file->query->report, "%s/net/%s is empty%s", file->query->proc_root, file->name,
                    file->heading ? ": it lacks even the heading line" : "");
}

int proc_file_next(struct proc_file *file, struct line *line)
{
    int result = lines_next(&file->lines, line);

    if (result > 0 && line->unended)
        report_truncated(file);
    if (result == 0 && !file->lines.number)
        report_empty(file);
    return result;
}

int proc_file_rest(struct proc_file *file, struct line *rest)
{
    struct lines *lines = &file->lines;
    int error = lines_read(lines, SIZE_MAX);

    if (error)
        return error;
    if (lines->to == lines->from) {
        report_empty(file);
    } else if (lines->buffer[lines->to - 1] != '\n') {
        report_truncated(file);
        lines->buffer[lines->to++] = '\n'; /* the buffer has room, as read(2) returned 0 */
    }
    *rest = (struct line){.data = lines->buffer + lines->from, .length = lines->to - lines->from};
    return 0;
}

void proc_file_malformed(struct proc_file *file, const struct line *line, size_t number)
{
    const bool is_heading = file->heading && number <= 1 + file->more_headings && !line->cut &&
                            memmem(line->data, line->length, file->heading, strlen(file->heading));

    if (line->length && !is_heading && !file->skipped++)
        file->first = number;
}

void proc_file_close(struct proc_file *file)
{
    const struct query *query = file->query;
    const char *plural = file->skipped == 1 ? "" : "s";

    lines_close(&file->lines);
    if (file->skipped && file->counters)
        report_loss(query->report,
                    "%s/net/%s: skipped %zu malformed line%s or counter%s, the first in line %zu",
                    query->proc_root, file->name, file->skipped, plural, plural, file->first);
    else if (file->skipped)
        report_loss(query->report, "%s/net/%s: skipped %zu malformed line%s, the first is line %zu",
                    query->proc_root, file->name, file->skipped, plural, file->first);
    file->skipped = 0;
}

/* Returns whether the file's machine differs in `bit`. If nobody knows, reports once that the
 * values `what` may be swapped. */
static bool machine_differs(struct proc_file *file, unsigned bit, const char *what)
{
    if (file->machine.unsure & bit)
        report_note(file->query->report,
                    "%s does not show the CPU that it is from, so %s may be swapped" HINT,
                    file->query->proc_root, what);
    file->machine.unsure &= ~bit;
    return file->machine.differs & bit;
}

/* Swaps what the kernel of another machine prints in another way: addresses of sockets, and IPv4
 * addresses of routes and groups, are numbers of 32 bits (%08X), and types of sockets are numbers.
 * Nothing else depends on the machine. */
static void adapt(struct proc_file *file, struct record *record)
{
    const struct kind *kind = record->kind;
    const bool ipv4 = file->query->table->family == AF_INET;
    const bool numbers =
        (file->machine.differs | file->machine.unsure) & MACHINE_ORDER &&
        (kind == &kind_socket || (ipv4 && (kind == &kind_route || kind == &kind_group)));
    uint16_t *type = &record->socket.type;

    for (size_t i = 0; numbers && i < kind->host_count; i++) {
        struct address *address = (void *)((char *)record + kind->hosts[i].offset);
        struct address other = *address;
        for (size_t byte = 0; byte < address_size(address); byte++)
            other.bytes[byte] = address->bytes[byte ^ 3];
        if (!address_equal(&other, address) &&
            machine_differs(file, MACHINE_ORDER, "the bytes of addresses"))
            *address = other;
    }
    if (kind == &kind_socket && record->has & SOCKET_TYPE &&
        (*type == SOCK_STREAM || *type == SOCK_DGRAM) &&
        machine_differs(file, MACHINE_TYPES, "the types stream and dgram"))
        *type ^= SOCK_STREAM ^ SOCK_DGRAM;
}

int proc_file_rows(struct proc_file *file, record_fn fn, void *arg)
{
    struct record record = {.kind = NULL}; /* zero: fn may also copy members that no line sets */
    struct line line;
    int result;

    while ((result = proc_file_next(file, &line)) > 0) {
        result = file->take ? file->take(file, &line, &record) : file->decode(&line, &record);
        if (result == -EBADMSG) {
            proc_file_malformed(file, &line, file->lines.number);
            continue;
        }
        if (result == 0 && (file->machine.differs | file->machine.unsure))
            adapt(file, &record);
        if (result == 0)
            result = fn(&record, arg);
        if (result < 0)
            break;
    }
    proc_file_close(file);
    return result;
}

int proc_file_read(struct proc_file *file, record_fn fn, void *arg)
{
    int result = proc_file_open(file);

    return result < 0 ? result : proc_file_rows(file, fn, arg);
}

void proc_file_note(const struct query *query, const char *path, int error)
{
    report_note(query->report, "%s/%s: %s", query->proc_root, path,
                error == -EBADMSG ? "malformed" : strerror(-error));
}
