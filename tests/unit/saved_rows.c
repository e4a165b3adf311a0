/* SPDX-License-Identifier: MIT */
#include "saved_rows.h"

#include <sys/mman.h>
#include <unistd.h>

#include "kit.h"

struct saved_text saved_text_open(const char *text, size_t length)
{
    struct saved_text opened = {.fd = memfd_create("saved", MFD_CLOEXEC)};

    assert_true(opened.fd >= 0);
    assert_int_equal(write(opened.fd, text, length), length);
    assert_int_equal(lseek(opened.fd, 0, SEEK_SET), 0);
    opened.reader = json_reader_create(opened.fd);
    assert_non_null(opened.reader);
    return opened;
}

void saved_text_close(struct saved_text *text)
{
    json_reader_destroy(text->reader);
    close(text->fd);
}

struct saved_maker *saved_record(struct record *record, const struct kind *kind, const char *text,
                                 const struct saved_head *head)
{
    struct saved_text opened = saved_text_open(text, strlen(text));
    struct saved_maker *maker = saved_maker_create(kind);
    struct json_row row;

    assert_non_null(maker);
    saved_maker_set_head(maker, head);
    assert_int_equal(json_reader_next(opened.reader, &row), 1);
    assert_non_null(saved_maker_record(maker, &row, record));
    assert_int_equal(json_reader_next(opened.reader, &row), 0);
    saved_text_close(&opened);
    return maker;
}
