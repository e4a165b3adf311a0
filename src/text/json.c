/* SPDX-License-Identifier: MIT */
#include "text/json.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BUFFER_FIRST = 1 << 18,                /* bytes at first; doubled for longer rows */
    BUFFER_MAX = 2 * (size_t)JSON_ROW_MAX, /* a row that is not whole, and room to read */
    PADDING = sizeof(uint64_t),            /* zeroes after the data, which end each string */
    READ_MIN = 1 << 16,                    /* room for a read */
    NUMBER_MAX = 512,                      /* digits of a number */
};

/* What must follow in a row. */
enum json_expected {
    EXPECT_FIRST_KEY, /* or the end of the object */
    EXPECT_KEY,
    IN_KEY,
    EXPECT_COLON,
    EXPECT_FIRST_VALUE, /* or the end of the array */
    EXPECT_VALUE,
    IN_STRING,
    EXPECT_COMMA, /* or the end of the array or object */
};

enum json_escaped { ESCAPED_KEY = 1, ESCAPED_VALUE = 2 };

enum json_scanned { SCANNED_ROW, SCANNED_PART, SCANNED_BROKEN };

struct json_reader {
    int fd;
    bool ended; /* all bytes were read */
    char *buffer;
    size_t capacity;       /* without the padding */
    size_t row, at, end;   /* in the buffer: start of the row, place of the scan, end of the data */
    const char *allowed;   /* the bytes that may follow between rows */
    bool begun;            /* a byte came that is not white space */
    bool in_array;         /* rows are elements of an array */
    bool in_row, skipping; /* skipping: searches a line that begins a row */
    bool line_begins;      /* while skipping */
    size_t marked; /* bytes of the byte order mark, which may begin the data, that were read */
    size_t column, indent; /* bytes of this line that were read; of the row's line before the row */
    uint64_t line, row_line;
    const char *problem;
    /* The row, as far as it was scanned. */
    enum json_expected expected;
    size_t token;     /* start of the string or of the nested value, from the start of the row */
    unsigned depth;   /* open arrays and objects in the row, which is 1 itself */
    uint32_t objects; /* bit n: the array or object at depth n + 1 is an object */
    bool has_escape;  /* the string that is scanned has an escape */
    bool escaped;     /* a string of the row has an escape */
    size_t count;
    struct json_member members[JSON_MEMBERS_MAX];
    uint8_t escapes[JSON_MEMBERS_MAX]; /* enum json_escaped */
};

/* What may follow between rows. */
static const char outside[] = "{[", array_begin[] = "{]", array_after_row[] = ",]",
                  array_after_comma[] = "{", array_resumed[] = "{,]";

struct json_reader *json_reader_create(int fd)
{
    struct json_reader *reader = calloc(1, sizeof *reader);

    if (!reader)
        return NULL;
    reader->buffer = malloc(BUFFER_FIRST + PADDING);
    if (!reader->buffer) {
        free(reader);
        return NULL;
    }
    memset(reader->buffer, 0, PADDING);
    reader->capacity = BUFFER_FIRST;
    reader->fd = fd;
    reader->allowed = outside;
    reader->line = 1;
    return reader;
}

void json_reader_destroy(struct json_reader *reader)
{
    if (!reader)
        return;
    free(reader->buffer);
    free(reader);
}

bool json_reader_is_empty(const struct json_reader *reader)
{
    return !reader->begun;
}

const char *json_reader_problem(const struct json_reader *reader, uint64_t *line)
{
    *line = reader->row_line;
    return reader->problem;
}

/* --- Strings ---------------------------------------------------------------------------------- */

/* Returns the first quote, backslash or control character from `at` on. The data ends with zeroes.
 */
static inline const char *string_stop(const char *at)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t word;

    for (;; at += sizeof word) {
        memcpy(&word, at, sizeof word);
        word = le64toh(word); /* so that the first byte has the lowest bits */
        const uint64_t quotes = word ^ each * '"', backslashes = word ^ each * '\\';
        const uint64_t stops =
            (((quotes - each) & ~quotes) | ((backslashes - each) & ~backslashes) |
             ((word - each * ' ') & ~word)) &
            each << 7;
        if (stops) /* a byte after the first mark may be marked in error */
            return at + __builtin_ctzll(stops) / 8;
    }
}

/* Returns the quote that ends the string, or the first byte that cannot be scanned: a control
 * character, the end of the data, or a backslash right before that end. */
static inline const char *string_end(const char *at, const char *end, bool *escaped)
{
    for (;;) {
        at = string_stop(at);
        if (*at != '\\' || end - at < 2)
            return at < end ? at : end;
        *escaped = true;
        at += 2;
    }
}

/* --- Tokens ----------------------------------------------------------------------------------- */

static inline bool json_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static const char *skip_digits(const char *at)
{
    while (json_is_digit(*at))
        at++;
    return at;
}

/* Returns the end of a number, which must be followed by a byte that is in no number. NULL: it is
 * no number, or `end` was reached. */
static const char *number_end(const char *at)
{
    at += *at == '-';
    if (!json_is_digit(*at))
        return NULL;
    at = *at == '0' ? at + 1 : skip_digits(at);
    if (*at == '.') {
        if (!json_is_digit(*++at))
            return NULL;
        at = skip_digits(at);
    }
    if ((*at | 0x20) == 'e') {
        at++;
        at += *at == '+' || *at == '-';
        if (!json_is_digit(*at))
            return NULL;
        at = skip_digits(at);
    }
    return at;
}

/* Returns the end of a number or a word, and its type. NULL: it is neither. */
static const char *scalar_end(const char *at, const char *end, enum json_type *type)
{
    const size_t size = (size_t)(end - at);

    *type = JSON_NUMBER;
    if (*at == '-' || json_is_digit(*at))
        return number_end(at);
    *type = *at == 'n' ? JSON_NULL : *at == 't' ? JSON_TRUE : JSON_FALSE;
    const char *word = *type == JSON_NULL ? "null" : *type == JSON_TRUE ? "true" : "false";
    const size_t length = strlen(word);
    return size >= length && memcmp(at, word, length) == 0 ? at + length : NULL;
}

/* --- A row ------------------------------------------------------------------------------------ */

/* The member whose value is scanned; its value has the bytes from `token` to `at`. */
static void set_value(struct json_reader *reader, size_t token, size_t at, enum json_type type)
{
    struct json_member *member = &reader->members[reader->count++];

    member->value = (uint32_t)token;
    member->length = (uint32_t)(at - token);
    member->type = type;
}

/* Enters an array or object. */
static bool json_enter(struct json_reader *reader, size_t at, bool is_object)
{
    if (reader->depth == JSON_DEPTH_MAX)
        return false;
    if (reader->depth == 1)
        reader->token = at;
    reader->objects &= ~(UINT32_C(1) << reader->depth);
    reader->objects |= (uint32_t)is_object << reader->depth++;
    reader->expected = is_object ? EXPECT_FIRST_KEY : EXPECT_FIRST_VALUE;
    return true;
}

/* Leaves the array or object that ends before `at`. */
static void json_leave(struct json_reader *reader, size_t at)
{
    if (--reader->depth == 1)
        set_value(reader, reader->token, at, JSON_NESTED);
    reader->expected = EXPECT_COMMA;
}

/* Begins a string after its quote. */
static inline void begin_string(struct json_reader *reader, size_t at, enum json_expected inside)
{
    if (reader->depth == 1)
        reader->token = at;
    reader->has_escape = false;
    reader->expected = inside;
}

/* Ends a string before the quote at `at`. Only strings of the row itself are noted. */
static inline void end_string(struct json_reader *reader, size_t at)
{
    struct json_member *member = &reader->members[reader->count];
    uint8_t *escapes = &reader->escapes[reader->count];
    const bool is_key = reader->expected == IN_KEY;

    reader->expected = is_key ? EXPECT_COLON : EXPECT_COMMA;
    if (reader->depth > 1)
        return;
    reader->escaped |= reader->has_escape;
    if (is_key) {
        member->key = (uint32_t)reader->token;
        member->key_length = (uint32_t)(at - reader->token);
        *escapes = reader->has_escape ? ESCAPED_KEY : 0;
    } else {
        *escapes |= reader->has_escape ? ESCAPED_VALUE : 0;
        set_value(reader, reader->token, at, JSON_STRING);
    }
}

/* Takes a value other than a string, or the beginning of an array or object. Returns its end; NULL:
 * it is broken, or not whole yet. */
static const char *take_value(struct json_reader *reader, const char *at, const char *row,
                              const char *end)
{
    const size_t start = (size_t)(at - row);
    enum json_type type;

    if (*at == '"') {
        begin_string(reader, start + 1, IN_STRING);
        return at + 1;
    }
    if (*at == '{' || *at == '[')
        return json_enter(reader, start, *at == '{') ? at + 1 : NULL;
    at = scalar_end(at, end, &type);
    if (!at || at >= end)
        return NULL;
    if (reader->depth == 1)
        set_value(reader, start, (size_t)(at - row), type);
    reader->expected = EXPECT_COMMA;
    return at;
}

/* Takes one token that is not the rest of a string, as take_value() does. */
static inline const char *take_token(struct json_reader *reader, const char *at, const char *row,
                                     const char *end)
{
    const bool in_object = reader->objects >> (reader->depth - 1) & 1;
    const bool ends = *at == (in_object ? '}' : ']');

    switch (reader->expected) {
    case EXPECT_COMMA:
        if (*at == ',') {
            reader->expected = in_object ? EXPECT_KEY : EXPECT_VALUE;
            return at + 1;
        }
        if (!ends)
            return NULL;
        json_leave(reader, (size_t)(at + 1 - row));
        return at + 1;
    case EXPECT_COLON:
        if (*at != ':')
            return NULL;
        reader->expected = EXPECT_VALUE;
        return at + 1;
    case EXPECT_FIRST_KEY:
    case EXPECT_KEY:
        if (ends && reader->expected == EXPECT_FIRST_KEY) {
            json_leave(reader, (size_t)(at + 1 - row));
            return at + 1;
        }
        if (*at != '"' || reader->count == JSON_MEMBERS_MAX)
            return NULL;
        begin_string(reader, (size_t)(at + 1 - row), IN_KEY);
        return at + 1;
    case EXPECT_FIRST_VALUE:
        if (ends) {
            json_leave(reader, (size_t)(at + 1 - row));
            return at + 1;
        }
        /* fall through */
    default:
        return take_value(reader, at, row, end);
    }
}

static inline const char *skip_space(struct json_reader *reader, const char *at)
{
    for (; *at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'; at++)
        reader->line += *at == '\n';
    return at;
}

/* Says why the token at `at` could not be taken: it may also be a number or word that is cut. */
static enum json_scanned json_refuse(struct json_reader *reader, const char *at, const char *end)
{
    const size_t left = (size_t)(end - at);
    const bool is_word = *at == 't' || *at == 'f' || *at == 'n';
    const bool may_be_cut = is_word ? left < sizeof "false"
                                    : (*at == '-' || json_is_digit(*at)) && left < NUMBER_MAX &&
                                          strspn(at, "-+.eE0123456789") == left;

    if (may_be_cut && (reader->expected == EXPECT_VALUE || reader->expected == EXPECT_FIRST_VALUE))
        return SCANNED_PART;
    reader->problem = reader->count == JSON_MEMBERS_MAX ? "an object has too many members"
                      : reader->depth == JSON_DEPTH_MAX ? "too many arrays inside of each other"
                                                        : "this is not JSON";
    return SCANNED_BROKEN;
}

/* Scans the row from reader->at on, where an earlier call stopped. */
static enum json_scanned scan_row(struct json_reader *reader)
{
    const char *const row = reader->buffer + reader->row, *const end = reader->buffer + reader->end;
    const char *at = reader->buffer + reader->at, *next = at;
    enum json_scanned result = SCANNED_ROW;

    while (reader->depth > 0 && result == SCANNED_ROW) {
        at = next;
        if (reader->expected == IN_KEY || reader->expected == IN_STRING) {
            at = string_end(at, end, &reader->has_escape);
            next = at + 1;
            if (*at == '"')
                end_string(reader, (size_t)(at - row));
            else
                result = end - at < 2 ? SCANNED_PART : SCANNED_BROKEN;
            continue;
        }
        at = skip_space(reader, at);
        next = at < end ? take_token(reader, at, row, end) : NULL;
        if (!next)
            result = at < end ? json_refuse(reader, at, end) : SCANNED_PART;
    }
    reader->at = (size_t)((result == SCANNED_ROW ? next : at) - reader->buffer);
    return result;
}

/* Takes the escapes out of the strings of a whole row. Returns false if one is no character. */
static bool unescape_row(struct json_reader *reader)
{
    char *row = reader->buffer + reader->row, *end;

    for (size_t i = 0; i < reader->count && reader->escaped; i++) {
        struct json_member *member = &reader->members[i];
        if (reader->escapes[i] & ESCAPED_KEY) {
            end = json_unescape(row + member->key,
                                (struct text){row + member->key, member->key_length});
            if (!end)
                return false;
            member->key_length = (uint32_t)(end - row) - member->key;
        }
        if (reader->escapes[i] & ESCAPED_VALUE) {
            end = json_unescape(row + member->value,
                                (struct text){row + member->value, member->length});
            if (!end)
                return false;
            member->length = (uint32_t)(end - row) - member->value;
        }
    }
    return true;
}

/* --- Between rows ----------------------------------------------------------------------------- */

/* Begins the row whose `{` is at reader->at. */
static void begin_row(struct json_reader *reader)
{
    reader->in_row = true;
    reader->row = reader->at++;
    reader->row_line = reader->line;
    reader->indent = reader->column;
    reader->expected = EXPECT_FIRST_KEY;
    reader->depth = 1;
    reader->objects = 1;
    reader->escaped = false;
    reader->count = 0;
    reader->problem = "this is not JSON";
}

/* Goes on until a row begins. Returns 1 there, 0 if more data is needed, or -EBADMSG. */
static int find_row(struct json_reader *reader)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";

    for (; reader->at < reader->end; reader->at++, reader->column++) {
        const char byte = reader->buffer[reader->at];
        if (byte == '\n') {
            reader->line++;
            reader->column = (size_t)-1; /* 0 after this byte */
            continue;
        }
        if (byte == ' ' || byte == '\t' || byte == '\r')
            continue;
        if (reader->line == 1 && reader->column == reader->marked && reader->marked < 3 &&
            byte == byte_order_mark[reader->marked]) {
            reader->marked++;
            continue;
        }
        reader->begun = true;
        if (!byte || !strchr(reader->allowed, byte)) {
            reader->row_line = reader->line;
            reader->indent = reader->column;
            reader->problem = "this is not JSON";
            return -EBADMSG;
        }
        if (byte == '{')
            return 1;
        reader->in_array = byte != ']';
        reader->allowed = byte == '[' ? array_begin : byte == ',' ? array_after_comma : outside;
    }
    return 0;
}

/* After a broken row, goes on to the next line that can begin a row: a line that begins with a
 * brace or bracket, and no deeper than the broken row. Returns false if more data is needed. */
static bool skip_lines(struct json_reader *reader)
{
    while (reader->at < reader->end) {
        const char *at = reader->buffer + reader->at;
        const char *newline = memchr(at, '\n', reader->end - reader->at);
        if (reader->line_begins && (*at == ' ' || *at == '\t')) {
            reader->at++;
            reader->column++;
            continue;
        }
        if (reader->line_begins && *at && strchr("{[],", *at) && reader->column <= reader->indent)
            return true;
        reader->line_begins = newline;
        reader->at = newline ? (size_t)(newline + 1 - reader->buffer) : reader->end;
        reader->column = 0;
        reader->line += newline != NULL;
    }
    return false;
}

/* Makes room after the data, and reads more. Returns 0, or -errno; at the end sets `ended`. */
static int json_fill(struct json_reader *reader)
{
    const size_t keep = reader->in_row ? reader->row : reader->at;

    if (reader->capacity - reader->end < READ_MIN && keep) {
        memmove(reader->buffer, reader->buffer + keep, reader->end - keep);
        reader->row -= reader->in_row ? keep : 0;
        reader->at -= keep;
        reader->end -= keep;
    }
    if (reader->capacity - reader->end < READ_MIN && reader->capacity < BUFFER_MAX) {
        char *larger = realloc(reader->buffer, 2 * reader->capacity + PADDING);
        if (!larger)
            return -ENOMEM;
        reader->buffer = larger;
        reader->capacity *= 2;
    }
    ssize_t got;
    do
        got = read(reader->fd, reader->buffer + reader->end, reader->capacity - reader->end);
    while (got < 0 && errno == EINTR);
    const int error = got < 0 ? -errno : 0;
    reader->ended = got <= 0;
    reader->end += got > 0 ? (size_t)got : 0;
    memset(reader->buffer + reader->end, 0, PADDING);
    return error;
}

/* Notes that the row is broken, so that the next call goes on after it. If the row goes on in
 * another line, that line may begin a row: perhaps only the end of this row is missing. */
static int skip_row(struct json_reader *reader, const char *problem)
{
    const char *row = reader->buffer + reader->row;
    const char *newline = reader->in_row ? memrchr(row, '\n', reader->at - reader->row) : NULL;

    if (newline)
        reader->at = (size_t)(newline + 1 - reader->buffer);
    reader->column = 0;
    reader->problem = problem;
    reader->in_row = false;
    reader->skipping = true;
    reader->line_begins = newline;
    reader->allowed = reader->in_array ? array_resumed : outside;
    return -EBADMSG;
}

/* Passes the row on, which ends before reader->at. */
static int pass_row(struct json_reader *reader, struct json_row *row)
{
    if (!unescape_row(reader))
        return skip_row(reader, "an escape in a string is no character");
    reader->in_row = false;
    reader->column = reader->at - reader->row + reader->indent;
    reader->allowed = reader->in_array ? array_after_row : outside;
    *row = (struct json_row){reader->buffer + reader->row, reader->members, reader->count,
                             reader->row_line};
    return 1;
}

/* After the last byte: 0, or -EBADMSG if something is not whole. */
static int json_finish(struct json_reader *reader)
{
    const bool cut = reader->in_row || reader->in_array;

    if (!reader->in_row)
        reader->row_line = reader->line;
    reader->problem = reader->in_row ? "the row is cut off" : "the array is cut off";
    reader->in_row = reader->in_array = false;
    reader->at = reader->end;
    return cut ? -EBADMSG : 0;
}

int json_reader_next(struct json_reader *reader, struct json_row *row)
{
    for (;;) {
        enum json_scanned scanned = SCANNED_PART;
        if (reader->skipping)
            reader->skipping = !skip_lines(reader);
        const int found = reader->skipping || reader->in_row ? 0 : find_row(reader);
        if (found < 0)
            return skip_row(reader, reader->problem);
        if (found)
            begin_row(reader);
        if (reader->in_row)
            scanned = scan_row(reader);
        if (scanned == SCANNED_ROW)
            return pass_row(reader, row);
        if (scanned == SCANNED_BROKEN)
            return skip_row(reader, reader->problem);
        if (reader->in_row && reader->end - reader->row > JSON_ROW_MAX)
            return skip_row(reader, "the row is longer than 1 MiB");
        if (reader->ended)
            return json_finish(reader);
        const int error = json_fill(reader);
        if (error)
            return error;
    }
}
