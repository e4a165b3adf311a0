/* SPDX-License-Identifier: MIT */
/*
 * Columns of saved rows out of any bytes: each value has the type of its column, is written within
 * its bound, and is the same in a row that waited. The first byte chooses the kind.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/rows.h"
#include "fastnet/array.h"
#include "fastnet/predicate.h"
#include "fuzz.h"
#include "model/saved.h"
#include "model/value.h"

static const struct context nothing;

/* Another type may only be that of a view or of a group. */
static void check_type(const struct field *field, const struct value *value)
{
    require(value->type == field->type || value->type == VALUE_UNKNOWN ||
            (field->type == VALUE_VIEW && value->type == VALUE_TEXT) ||
            (field->type == VALUE_ADDRESS && value->type == VALUE_NETWORK) ||
            (field->type == VALUE_FLAGS && value->type == VALUE_NAMES));
}

static char *written(const struct value *value, size_t *length)
{
    const size_t bound = value_bound(value);
    char *text = malloc(bound + 1);

    require(text != NULL);
    *length = (size_t)(value_write(text, value, " ") - text);
    require(*length <= bound);
    return text;
}

/* The record that waited has the same columns. */
static void check_columns(const struct record *record, const struct record *waited)
{
    const struct field *field;
    char part[VALUE_PART];

    for (size_t i = 0; (field = field_at(record->kind, i)); i++) {
        const struct value value = field_value(field, record, &nothing);
        const struct predicate known = predicate_known(field);
        size_t length, again;
        char *text = written(&value, &length);
        check_type(field, &value);
        require(value_write_part(part, &value, UNIT_NONE) <= sizeof part);
        (void)predicate_holds(&known, record, &nothing);
        const struct value other = field_value(field, waited, &nothing);
        char *text_again = written(&other, &again);
        require(length == again && memcmp(text, text_again, length) == 0);
        require(value.type == other.type);
        free(text);
        free(text_again);
    }
}

static void check_record(const struct record *record)
{
    struct rows rows = {0};
    struct kept_row kept;

    require(rows_add(&rows, record) == 0);
    check_columns(record, rows_at(&rows, 0, &kept));
    rows_clear(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct saved_maker *maker;
    struct json_reader *reader;
    struct record record;
    struct json_row row;
    size_t kinds = 0;
    int result;

    while (kind_at(kinds))
        kinds++;
    if (!size)
        return 0;
    const int fd = memfd_create("saved", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
    require(lseek(fd, 0, SEEK_SET) == 0);
    reader = json_reader_create(fd);
    maker = saved_maker_create(kind_at(*data % kinds));
    require(reader && maker);
    while ((result = json_reader_next(reader, &row)) == 1 || result == -EBADMSG)
        if (result == 1 && saved_maker_record(maker, &row, &record))
            check_record(&record);
    require(result == 0);
    saved_maker_destroy(maker);
    json_reader_destroy(reader);
    close(fd);
    return 0;
}
