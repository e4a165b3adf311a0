/* SPDX-License-Identifier: MIT */
/*
 * A strict reader of CSV (RFC 4180): every record has as many fields as the first, quotes stand
 * around whole fields only, the last record has its line end, and all line ends are alike.
 *
 *     csvlint < TEXT
 *
 * Prints the number of records and of fields. Exit status: 0 valid, 1 not.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct reader {
    size_t records, fields, fields_first;
    int line_end; /* '\r' or '\n', once known: how the first record ended */
};

static _Noreturn void fail(const struct reader *reader, const char *what)
{
    fprintf(stderr, "csvlint: record %zu, field %zu: %s\n", reader->records + 1, reader->fields + 1,
            what);
    exit(1);
}

/* Reads a field; returns the byte that ended it. */
static int field_read(const struct reader *reader)
{
    int byte = getchar();
    if (byte != '"') {
        for (; byte != ',' && byte != '\r' && byte != '\n'; byte = getchar()) {
            if (byte == EOF)
                fail(reader, "no line end");
            if (byte == '"')
                fail(reader, "a quote inside a field that is not quoted");
        }
        return byte;
    }
    for (;;) {
        byte = getchar();
        if (byte == EOF)
            fail(reader, "a quoted field without end");
        if (byte != '"')
            continue;
        byte = getchar();
        if (byte == ',' || byte == '\r' || byte == '\n')
            return byte;
        if (byte != '"')
            fail(reader, "text after a quoted field");
    }
}

static void record_end(struct reader *reader, int end)
{
    if (end == '\r' && getchar() != '\n')
        fail(reader, "a carriage return alone");
    if (reader->records == 0) {
        reader->line_end = end;
        reader->fields_first = reader->fields;
    }
    if (end != reader->line_end)
        fail(reader, "another kind of line end");
    if (reader->fields != reader->fields_first)
        fail(reader, "another number of fields");
    reader->records++;
    reader->fields = 0;
}

int main(void)
{
    struct reader reader = {.records = 0};
    for (int next; (next = getchar()) != EOF;) {
        ungetc(next, stdin);
        int end = field_read(&reader);
        reader.fields++;
        /* A field after the last comma is there even when the text ends. */
        while (end == ',') {
            end = field_read(&reader);
            reader.fields++;
        }
        record_end(&reader, end);
    }
    printf("%zu %zu\n", reader.records, reader.fields_first);
    return 0;
}
