/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"

/* Some lines of 100,000 bytes; no listing takes long for it. */
enum { TEXT_MAX = 1024 * 1024, OVERLONG_MAX = 100000, MUTATIONS_MAX = 3 };

struct span {
    size_t at, length;
};

static void reserve(struct text *text, size_t length)
{
    if (text->data && length <= text->capacity)
        return;
    text->capacity = 2 * length + 64;
    text->data = realloc(text->data, text->capacity);
    if (!text->data)
        err(2, NULL);
}

void text_replace(struct text *text, size_t at, size_t remove, const char *insert, size_t length)
{
    if (text->length - remove + length > TEXT_MAX)
        return;
    reserve(text, text->length - remove + length);
    memmove(text->data + at + length, text->data + at + remove, text->length - at - remove);
    if (length)
        memcpy(text->data + at, insert, length);
    text->length = text->length - remove + length;
}

/* A copy of a part of it, put somewhere else. */
static void copy_to(struct text *text, struct span span, size_t at)
{
    char *copy = malloc(span.length ? span.length : 1);

    if (!copy)
        err(2, NULL);
    memcpy(copy, text->data + span.at, span.length);
    text_replace(text, at, 0, copy, span.length);
    free(copy);
}

/* --- Parts ------------------------------------------------------------------------------------ */

/* The part around a place that ends at one of these bytes, on either side. */
static struct span around(const struct text *text, size_t at, const char *ends)
{
    size_t from = at, to = at;

    while (from > 0 && !memchr(ends, text->data[from - 1], strlen(ends)))
        from--;
    while (to < text->length && !memchr(ends, text->data[to], strlen(ends)))
        to++;
    return (struct span){from, to - from};
}

/* A line with its newline. */
static struct span pick_line(const struct text *text, struct chance *chance)
{
    struct span line = around(text, chance_below(chance, text->length), "\n");

    if (line.at + line.length < text->length)
        line.length++;
    return line;
}

static struct span pick_field(const struct text *text, struct chance *chance)
{
    return around(text, chance_below(chance, text->length), " \t\n:=");
}

/* --- Mutations -------------------------------------------------------------------------------- */

static void change_bytes(struct text *text, struct chance *chance)
{
    for (size_t i = 1 + chance_below(chance, 8); i > 0 && text->length > 0; i--)
        text->data[chance_below(chance, text->length)] = (char)chance_next(chance);
}

static void write_awkward(struct text *text, struct chance *chance)
{
    static const struct {
        const char *data;
        size_t length;
    } texts[] = {{"\0", 1},       {"\n", 1},   {"\33[31m", 5},
                 {"\r", 1},       {"\t", 1},   {" ", 1},
                 {"\"", 1},       {"\\", 1},   {"\177", 1},
                 {"\302\233", 2}, {"\xff", 1}, {"\342\200\213", 3},
                 {":", 1},        {"=", 1},    {"[", 1},
                 {"]", 1},        {"/", 1},    {"@", 1},
                 {"-", 1},        {"%s%n", 4}, {"\0\0\0\0\0\0\0\0", 8}};
    const size_t which = chance_below(chance, COUNT(texts));
    const size_t at = chance_below(chance, text->length + 1);
    const size_t remove = at < text->length && chance_one_in(chance, 2) ? 1 : 0;

    text_replace(text, at, remove, texts[which].data, texts[which].length);
}

static void write_number(struct text *text, struct chance *chance)
{
    static const char *const numbers[] = {"0",
                                          "-1",
                                          "00000000000000000000000000001",
                                          "127",
                                          "128",
                                          "255",
                                          "256",
                                          "65535",
                                          "65536",
                                          "2147483647",
                                          "2147483648",
                                          "-2147483648",
                                          "4294967295",
                                          "4294967296",
                                          "FFFFFFFF",
                                          "100000000",
                                          "9223372036854775807",
                                          "9223372036854775808",
                                          "-9223372036854775808",
                                          "18446744073709551615",
                                          "18446744073709551616",
                                          "FFFFFFFFFFFFFFFF",
                                          "10000000000000000",
                                          "99999999999999999999999999999999999999999999",
                                          "0x10",
                                          "1e9",
                                          "1.5",
                                          "+1",
                                          "",
                                          "nan"};
    const struct span field = pick_field(text, chance);
    const char *number = numbers[chance_below(chance, COUNT(numbers))];

    text_replace(text, field.at, field.length, number, strlen(number));
}

static void cut(struct text *text, struct chance *chance)
{
    text->length = chance_below(chance, text->length + 1);
}

static void drop_end_of_line(struct text *text, struct chance *chance)
{
    (void)chance;
    if (text->length > 0 && text->data[text->length - 1] == '\n')
        text->length--;
}

static void drop_line(struct text *text, struct chance *chance)
{
    const struct span line = pick_line(text, chance);

    text_replace(text, line.at, line.length, NULL, 0);
}

static void repeat_line(struct text *text, struct chance *chance)
{
    const struct span line = pick_line(text, chance);

    for (size_t i = 1 + chance_below(chance, 20); i > 0; i--)
        copy_to(text, line, line.at);
}

static void move_line(struct text *text, struct chance *chance)
{
    const struct span line = pick_line(text, chance);
    const struct span other = pick_line(text, chance);

    copy_to(text, line, other.at);
}

static void cut_line(struct text *text, struct chance *chance)
{
    const struct span line = around(text, chance_below(chance, text->length), "\n");
    const size_t kept = chance_below(chance, line.length + 1);

    text_replace(text, line.at + kept, line.length - kept, NULL, 0);
}

static void join_lines(struct text *text, struct chance *chance)
{
    const struct span line = around(text, chance_below(chance, text->length), "\n");
    const size_t end = line.at + line.length;

    if (end < text->length)
        text_replace(text, end, 1, " ", chance_one_in(chance, 2) ? 1 : 0);
}

static void drop_field(struct text *text, struct chance *chance)
{
    const struct span field = pick_field(text, chance);

    text_replace(text, field.at, field.length, NULL, 0);
}

static void move_field(struct text *text, struct chance *chance)
{
    const struct span field = pick_field(text, chance);

    copy_to(text, field, chance_below(chance, text->length + 1));
}

/* Of one byte, in the middle of whatever is there. */
static void overlong(struct text *text, struct chance *chance)
{
    static const char bytes[] = "A0 f\t:/\\\"\x1b\xff=-";
    static char long_text[OVERLONG_MAX];
    const size_t length = chance_below(chance, chance_one_in(chance, 4) ? OVERLONG_MAX : 300);

    memset(long_text, bytes[chance_below(chance, sizeof bytes)], length);
    text_replace(text, chance_below(chance, text->length + 1), 0, long_text, length);
}

static void move_part(struct text *text, struct chance *chance)
{
    const size_t at = chance_below(chance, text->length);
    const struct span span = {at, chance_below(chance, text->length - at)};

    copy_to(text, span, chance_below(chance, text->length + 1));
}

static void drop_part(struct text *text, struct chance *chance)
{
    const size_t at = chance_below(chance, text->length);

    text_replace(text, at, chance_below(chance, text->length - at), NULL, 0);
}

static void empty(struct text *text, struct chance *chance)
{
    (void)chance;
    text->length = 0;
}

static void junk(struct text *text, struct chance *chance)
{
    text->length = 0;
    for (size_t i = chance_below(chance, 1024); i > 0; i--) {
        const char byte = (char)chance_next(chance);
        text_replace(text, text->length, 0, &byte, 1);
    }
}

void text_mutate(struct text *text, struct chance *chance)
{
    static void (*const mutations[])(struct text *, struct chance *) = {
        change_bytes, change_bytes, write_awkward, write_awkward,    write_number,
        write_number, write_number, cut,           drop_end_of_line, drop_line,
        repeat_line,  move_line,    cut_line,      join_lines,       drop_field,
        move_field,   overlong,     move_part,     drop_part,        empty,
        junk,
    };

    for (size_t i = 1 + chance_below(chance, MUTATIONS_MAX); i > 0; i--)
        mutations[chance_below(chance, COUNT(mutations))](text, chance);
}
