/* Text of any bytes, escaped: harmless, bounded, and readable back. */
#include <stdbool.h>
#include <string.h>

#include "fastnet/text.h"
#include "format/escape.h"
#include "fuzz.h"

static const char delimiters[] = " ,/\"";

/* Nothing below a blank, and no DEL, whatever came in. */
static void check_harmless(const char *from, const char *end)
{
    for (; from < end; from++)
        require((unsigned char)*from >= ' ' && *from != 0x7f);
}

static void check_text(const char *data, size_t size, const char *without)
{
    char *escaped = malloc(ESCAPE_FACTOR * size + 1), *again = malloc(ESCAPE_FACTOR * size + 1);
    char *end = escape_text(escaped, data, size, without);

    require(end >= escaped && (size_t)(end - escaped) <= ESCAPE_FACTOR * size);
    check_harmless(escaped, end);
    for (const char *at = escaped; without && at < end; at++)
        require(!strchr(without, *at));
    end = unescape_text(again, escaped, (size_t)(end - escaped));
    require(end && (size_t)(end - again) == size);
    require(!size || memcmp(again, data, size) == 0);
    free(escaped);
    free(again);
}

/* In pieces it is the same as at once. */
static void check_pieces(const char *data, size_t size, size_t most, enum text_part kind)
{
    char *whole = malloc(ESCAPE_FACTOR * size + 1), *joined = malloc(ESCAPE_FACTOR * size + 1);
    char *end = joined;
    enum text_part part = kind;
    size_t length;

    length = (size_t)(escape_part(whole, data, size, delimiters, &part) - whole);
    part = kind;
    for (size_t at = 0; at < size;) {
        size_t piece = escape_piece(data + at, size - at, most);
        require(piece > 0 && piece <= most);
        end = escape_part(end, data + at, piece, delimiters, &part);
        at += piece;
    }
    require((size_t)(end - joined) == length);
    require(!length || memcmp(whole, joined, length) == 0);
    free(whole);
    free(joined);
}

/* A socket's name can be read back, too: its '@' are NULs when it starts with one. */
static void check_socket_name(const char *data, size_t size)
{
    char *escaped = malloc(ESCAPE_FACTOR * size + 1), *again = malloc(ESCAPE_FACTOR * size + 1);
    char *end = escape_socket_name(escaped, data, size, delimiters);
    bool abstract = end > escaped && *escaped == '@';

    require((size_t)(end - escaped) <= ESCAPE_FACTOR * size);
    require(abstract == (size > 0 && data[0] == '\0'));
    check_harmless(escaped, end);
    for (char *at = escaped; abstract && at < end; at++)
        if (*at == '@')
            *at = '\0';
    end = unescape_text(again, escaped, (size_t)(end - escaped));
    require(end && (size_t)(end - again) == size);
    require(!size || memcmp(again, data, size) == 0);
    free(escaped);
    free(again);
}

/* Every backslash begins an escape of JSON, no quote stands alone. */
static void check_json(const char *data, size_t size)
{
    char *json = malloc(ESCAPE_JSON_FACTOR * size + 1);
    char *end = escape_json(json, data, size);

    require((size_t)(end - json) <= ESCAPE_JSON_FACTOR * size);
    check_harmless(json, end);
    for (const char *at = json; at < end; at++) {
        require(*at != '"');
        if (*at != '\\')
            continue;
        at++;
        require(at < end && (*at == '\\' || *at == '"' || *at == 'u'));
        if (*at == 'u') {
            require(end - at > 4 && strspn(at + 1, "0123456789abcdef") >= 4);
            at += 4;
        }
    }
    free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    char *undone = malloc(size + 1);
    const char *end = unescape_text(undone, text, size);

    require(!end || (size_t)(end - undone) <= size);
    free(undone);
    check_text(text, size, NULL);
    check_text(text, size, delimiters);
    check_socket_name(text, size);
    check_json(text, size);
    for (size_t most = 4; most < 9; most++) {
        check_pieces(text, size, most, PART_TEXT);
        check_pieces(text, size, most, PART_SOCKET_NAME);
    }
    return 0;
}
