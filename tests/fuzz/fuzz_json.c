/* SPDX-License-Identifier: MIT */
/*
 * Rows of JSON out of any bytes: they stay inside of the row's text, their number is bounded, and
 * they are the same whether the bytes come at once or in pieces.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "text/json.h"

enum { PIECES_MAX = 100 };

/* A reader of the bytes, which come in pieces of this size. Closes the descriptors at the end. */
struct source {
    int ends[2];
    struct json_reader *reader;
};

static struct source open_source(const uint8_t *data, size_t size, size_t piece)
{
    struct source source;

    require(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, source.ends) == 0);
    for (size_t at = 0; at < size; at += piece) {
        const size_t length = size - at < piece ? size - at : piece;
        require(send(source.ends[1], data + at, length, 0) == (ssize_t)length);
    }
    shutdown(source.ends[1], SHUT_WR);
    source.reader = json_reader_create(source.ends[0]);
    require(source.reader != NULL);
    return source;
}

static void close_source(struct source *source)
{
    json_reader_destroy(source->reader);
    close(source->ends[0]);
    close(source->ends[1]);
}

/* The elements of a nested value lie inside of it, one after another. */
static void check_elements(struct text value)
{
    char unescaped[1 << 16];
    struct json_element element;
    struct text rest = value;
    size_t left = value.length + 1;

    while (json_next_element(&rest, &element)) {
        require(rest.length < left && rest.data + rest.length == value.data + value.length);
        left = rest.length;
        require(element.value.data >= value.data &&
                element.value.data + element.value.length <= rest.data);
        if (element.type == JSON_STRING && element.value.length <= sizeof unescaped) {
            const char *end = json_unescape(unescaped, element.value);
            require(!end || (size_t)(end - unescaped) <= element.value.length);
        }
    }
}

static void check_row(const struct json_row *row, const struct json_row *other)
{
    require(row->count == other->count && row->count <= JSON_MEMBERS_MAX);
    require(row->line == other->line);
    for (size_t i = 0; i < row->count; i++) {
        const struct json_member *one = &row->members[i], *two = &other->members[i];
        require(one->type == two->type);
        require(text_equal(json_key(row, one), json_key(other, two)));
        require(text_equal(json_value(row, one), json_value(other, two)));
        if (one->type == JSON_NESTED)
            check_elements(json_value(row, one));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source whole, pieces;
    struct json_row row, other;
    int result;

    if (size > 20000)
        return 0;
    whole = open_source(data, size, size + 1);
    pieces = open_source(data, size, size / PIECES_MAX + 1);
    do {
        result = json_reader_next(whole.reader, &row);
        require(json_reader_next(pieces.reader, &other) == result);
        require(result == 1 || result == 0 || result == -EBADMSG);
        if (result == 1) {
            check_row(&row, &other);
        } else if (result < 0) {
            uint64_t line, again;
            require(strcmp(json_reader_problem(whole.reader, &line),
                           json_reader_problem(pieces.reader, &again)) == 0);
            require(line == again);
        }
    } while (result);
    close_source(&whole);
    close_source(&pieces);
    return 0;
}
