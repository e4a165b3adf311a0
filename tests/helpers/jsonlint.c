/* SPDX-License-Identifier: MIT */
/*
 * A strict reader of JSON (RFC 8259), its strings valid UTF-8 (RFC 3629) and its member names
 * unique within an object.
 *
 *     jsonlint [--lines] [--hex] [MEMBER...] < TEXT
 *
 * The text is one array of objects or, with --lines, an object a line. With no MEMBER it prints
 * how many objects there are; else a line for each object with these members, tab-separated:
 * strings decoded, everything else as it stands, "(none)" for a member that is not there. With
 * --hex strings are also rid of fastnet's own escapes, two backslashes and \xHH, and written as
 * hexadecimal numbers.
 *
 * Exit status: 0 valid, 1 not (the byte is named on stderr), 2 trouble.
 */
#include <err.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16, MEMBERS_MAX = 512 };

struct span {
    const char *data;
    size_t length;
};

struct reader {
    const char *start, *at, *end;
    unsigned depth;
};

struct request {
    char *const *members;
    size_t count;
    bool hex;
};

static void value_skip(struct reader *reader);

static _Noreturn void fail(const struct reader *reader, const char *what)
{
    fprintf(stderr, "jsonlint: byte %zu: %s\n", (size_t)(reader->at - reader->start), what);
    exit(1);
}

static unsigned char peek(const struct reader *reader)
{
    if (reader->at == reader->end)
        fail(reader, "unexpected end");
    return (unsigned char)*reader->at;
}

static void blanks_skip(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) != NULL && *reader->at != 0)
        reader->at++;
}

static void expect(struct reader *reader, char byte)
{
    if (peek(reader) != (unsigned char)byte) {
        char message[] = "expected _";
        message[sizeof message - 2] = byte;
        fail(reader, message);
    }
    reader->at++;
}

static unsigned hex4(struct reader *reader)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        unsigned char byte = peek(reader);
        const char *digits = "0123456789abcdef";
        unsigned char lower = byte >= 'A' && byte <= 'F' ? (unsigned char)(byte + 32) : byte;
        const char *digit = lower != 0 ? strchr(digits, lower) : NULL;
        if (digit == NULL)
            fail(reader, "not a hexadecimal digit");
        value = value * 16 + (unsigned)(digit - digits);
        reader->at++;
    }
    return value;
}

/* After "\u": a character of the basic plane or a pair of surrogates (RFC 8259, section 7). */
static uint32_t escape_read(struct reader *reader)
{
    uint32_t first = hex4(reader);
    if (first >= 0xdc00 && first <= 0xdfff)
        fail(reader, "a low surrogate alone");
    if (first < 0xd800 || first > 0xdbff)
        return first;
    expect(reader, '\\');
    expect(reader, 'u');
    uint32_t second = hex4(reader);
    if (second < 0xdc00 || second > 0xdfff)
        fail(reader, "a high surrogate alone");
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

static void utf8_put(uint32_t code, FILE *out)
{
    if (code < 0x80) {
        putc((int)code, out);
    } else if (code < 0x800) {
        putc((int)(0xc0 | code >> 6), out);
        putc((int)(0x80 | (code & 0x3f)), out);
    } else if (code < 0x10000) {
        putc((int)(0xe0 | code >> 12), out);
        putc((int)(0x80 | (code >> 6 & 0x3f)), out);
        putc((int)(0x80 | (code & 0x3f)), out);
    } else {
        putc((int)(0xf0 | code >> 18), out);
        putc((int)(0x80 | (code >> 12 & 0x3f)), out);
        putc((int)(0x80 | (code >> 6 & 0x3f)), out);
        putc((int)(0x80 | (code & 0x3f)), out);
    }
}

/* One character beyond ASCII; its bytes must be the shortest form and no surrogate. */
static void utf8_skip(struct reader *reader)
{
    unsigned char lead = peek(reader);
    size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    uint32_t code = lead & (0x3fU >> more);
    if (lead < 0xc2 || lead > 0xf4)
        fail(reader, "not UTF-8");
    reader->at++;
    for (size_t i = 0; i < more; i++) {
        unsigned char byte = peek(reader);
        if ((byte & 0xc0) != 0x80)
            fail(reader, "not UTF-8");
        code = code << 6 | (byte & 0x3f);
        reader->at++;
    }
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        fail(reader, "not UTF-8");
}

/* Reads a string and writes what it means to out, if out is not NULL. */
static void string_read(struct reader *reader, FILE *out)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    expect(reader, '"');
    while (peek(reader) != '"') {
        const char *start = reader->at;
        unsigned char byte = peek(reader);
        if (byte < 0x20)
            fail(reader, "a control byte in a string");
        if (byte >= 0x80) {
            utf8_skip(reader);
        } else {
            reader->at++;
        }
        if (byte != '\\') {
            if (out != NULL)
                fwrite(start, 1, (size_t)(reader->at - start), out);
            continue;
        }
        byte = peek(reader);
        const char *letter = byte != 0 ? strchr(letters, byte) : NULL;
        if (byte != 'u' && letter == NULL)
            fail(reader, "an unknown escape");
        reader->at++;
        uint32_t code =
            letter == NULL ? escape_read(reader) : (unsigned char)meanings[letter - letters];
        if (out != NULL)
            utf8_put(code, out);
    }
    reader->at++;
}

static void digits_skip(struct reader *reader)
{
    if (peek(reader) < '0' || peek(reader) > '9')
        fail(reader, "expected a digit");
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
        reader->at++;
}

static void number_skip(struct reader *reader)
{
    if (peek(reader) == '-')
        reader->at++;
    if (peek(reader) == '0')
        reader->at++;
    else
        digits_skip(reader);
    if (reader->at < reader->end && *reader->at == '.') {
        reader->at++;
        digits_skip(reader);
    }
    if (reader->at < reader->end && (*reader->at == 'e' || *reader->at == 'E')) {
        reader->at++;
        if (peek(reader) == '+' || peek(reader) == '-')
            reader->at++;
        digits_skip(reader);
    }
}

static void word_skip(struct reader *reader)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(reader->end - reader->at) >= length &&
            memcmp(reader->at, words[i], length) == 0) {
            reader->at += length;
            return;
        }
    }
    fail(reader, "not a value");
}

/* After an element: true when another one follows, false after the closing bracket. */
static bool another(struct reader *reader, char closing)
{
    blanks_skip(reader);
    if (peek(reader) == ',') {
        reader->at++;
        blanks_skip(reader);
        return true;
    }
    expect(reader, closing);
    return false;
}

static void member_check(const struct reader *reader, struct span *names, size_t *count,
                         struct span name)
{
    for (size_t i = 0; i < *count; i++)
        if (names[i].length == name.length && memcmp(names[i].data, name.data, name.length) == 0)
            fail(reader, "a member twice");
    if (*count == MEMBERS_MAX)
        fail(reader, "too many members");
    names[(*count)++] = name;
}

/* Reads an object; values[i] becomes the text of the i-th requested member. */
static void object_read(struct reader *reader, const struct request *request, struct span *values)
{
    struct span names[MEMBERS_MAX];
    size_t count = 0;
    expect(reader, '{');
    blanks_skip(reader);
    bool more = peek(reader) != '}';
    if (!more)
        reader->at++;
    while (more) {
        struct span name = {.data = reader->at + 1};
        string_read(reader, NULL);
        name.length = (size_t)(reader->at - name.data) - 1;
        member_check(reader, names, &count, name);
        blanks_skip(reader);
        expect(reader, ':');
        blanks_skip(reader);
        struct span value = {.data = reader->at};
        value_skip(reader);
        value.length = (size_t)(reader->at - value.data);
        for (size_t i = 0; i < request->count; i++)
            if (strlen(request->members[i]) == name.length &&
                memcmp(request->members[i], name.data, name.length) == 0)
                values[i] = value;
        more = another(reader, '}');
    }
}

static void array_skip(struct reader *reader)
{
    expect(reader, '[');
    blanks_skip(reader);
    if (peek(reader) == ']') {
        reader->at++;
        return;
    }
    do {
        value_skip(reader);
    } while (another(reader, ']'));
}

static void value_skip(struct reader *reader)
{
    static const struct request nothing = {.count = 0};
    unsigned char byte = peek(reader);
    if (++reader->depth > DEPTH_MAX)
        fail(reader, "nested too deep");
    if (byte == '{')
        object_read(reader, &nothing, NULL);
    else if (byte == '[')
        array_skip(reader);
    else if (byte == '"')
        string_read(reader, NULL);
    else if (byte == '-' || (byte >= '0' && byte <= '9'))
        number_skip(reader);
    else
        word_skip(reader);
    reader->depth--;
}

static bool is_hex_digit(char byte)
{
    return byte != '\0' && strchr("0123456789abcdef", byte) != NULL;
}

/* What stands in a string's text after fastnet's escapes are undone, in hexadecimal. */
static void hex_print(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '\\') {
            printf("%02x", (unsigned char)text[i]);
        } else if (length - i >= 2 && text[i + 1] == '\\') {
            fputs("5c", stdout);
            i++;
        } else if (length - i >= 4 && text[i + 1] == 'x' && is_hex_digit(text[i + 2]) &&
                   is_hex_digit(text[i + 3])) {
            printf("%c%c", text[i + 2], text[i + 3]);
            i += 3;
        } else {
            errx(1, "a backslash that escapes nothing");
        }
    }
}

static void string_print(struct span value, bool hex)
{
    struct reader string = {
        .start = value.data, .at = value.data, .end = value.data + value.length};
    if (!hex) {
        string_read(&string, stdout);
        return;
    }
    char *text = NULL;
    size_t length = 0;
    FILE *copy = open_memstream(&text, &length);
    if (copy == NULL)
        err(2, NULL);
    string_read(&string, copy);
    fclose(copy);
    hex_print(text, length);
    free(text);
}

static void values_print(const struct request *request, const struct span *values)
{
    for (size_t i = 0; i < request->count; i++) {
        if (i > 0)
            putchar('\t');
        if (values[i].data == NULL) {
            fputs("(none)", stdout);
        } else if (values[i].data[0] == '"') {
            string_print(values[i], request->hex);
        } else {
            fwrite(values[i].data, 1, values[i].length, stdout);
        }
    }
    putchar('\n');
}

static void row_read(struct reader *reader, const struct request *request)
{
    struct span values[MEMBERS_MAX] = {{NULL, 0}};
    object_read(reader, request, values);
    if (request->count > 0)
        values_print(request, values);
}

static size_t rows_read(struct reader *reader, const struct request *request)
{
    size_t rows = 0;
    blanks_skip(reader);
    expect(reader, '[');
    blanks_skip(reader);
    bool more = peek(reader) != ']';
    if (!more)
        reader->at++;
    for (; more; rows++) {
        row_read(reader, request);
        more = another(reader, ']');
    }
    blanks_skip(reader);
    if (reader->at != reader->end)
        fail(reader, "something after the end");
    return rows;
}

/* Newline-delimited: no line feed but the one after each object, and that one is there. */
static size_t lines_read(struct reader *reader, const struct request *request)
{
    size_t rows = 0;
    for (; reader->at < reader->end; rows++) {
        const char *newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
        if (newline == NULL)
            fail(reader, "the last line has no end");
        struct reader line = {.start = reader->start, .at = reader->at, .end = newline};
        row_read(&line, request);
        if (line.at != newline)
            fail(&line, "something after an object");
        reader->at = newline + 1;
    }
    return rows;
}

int main(int argc, char **argv)
{
    bool by_line = false;
    struct request request = {.hex = false};
    int first = 1;
    for (; first < argc && strncmp(argv[first], "--", 2) == 0; first++) {
        by_line |= strcmp(argv[first], "--lines") == 0;
        request.hex |= strcmp(argv[first], "--hex") == 0;
    }
    request.members = argv + first;
    request.count = (size_t)(argc - first);
    if (request.count > MEMBERS_MAX)
        errx(2, "too many members asked for");
    char *data = NULL;
    size_t size = 0;
    FILE *copy = open_memstream(&data, &size);
    if (copy == NULL)
        err(2, NULL);
    char block[65536];
    for (size_t got; (got = fread(block, 1, sizeof block, stdin)) > 0;)
        fwrite(block, 1, got, copy);
    if (ferror(stdin) || fclose(copy) != 0)
        err(2, "stdin");
    struct reader reader = {.start = data, .at = data, .end = data + size};
    size_t rows = by_line ? lines_read(&reader, &request) : rows_read(&reader, &request);
    if (request.count == 0)
        printf("%zu\n", rows);
    free(data);
    return 0;
}
