/* SPDX-License-Identifier: MIT */
#include "cli/terminal/line_edit.h"

#include <stdio.h>
#include <string.h>

#include "cli/terminal/key_decoder.h"
#include "text/width.h"

void line_edit_begin(struct line_edit *line, const char *text)
{
    snprintf(line->text, sizeof line->text, "%s", text);
    line->at = strlen(line->text);
    line->first = 0;
    line->history_at = line->history_count;
    line->completes = false;
}

void line_edit_remember(struct line_edit *line)
{
    const size_t count = line->history_count;

    if (!*line->text || (count && strcmp(line->history[count - 1], line->text) == 0))
        return;
    if (count == LINE_HISTORY)
        memmove(line->history[0], line->history[1], sizeof line->history - sizeof *line->history);
    else
        line->history_count++;
    memcpy(line->history[line->history_count - 1], line->text, sizeof line->text);
}

/* --- Characters ------------------------------------------------------------------------------- */

/* Whether the byte is inside a character, not at its beginning. */
static bool line_edit_is_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

static size_t line_edit_before(const struct line_edit *line, size_t at)
{
    while (at && line_edit_is_inside(line->text[--at]))
        ;
    return at;
}

static size_t line_edit_after(const struct line_edit *line, size_t at)
{
    at += line->text[at] != '\0';
    while (line_edit_is_inside(line->text[at]))
        at++;
    return at;
}

static void line_edit_remove(struct line_edit *line, size_t from, size_t to)
{
    memmove(line->text + from, line->text + to, strlen(line->text + to) + 1);
    line->at = from;
}

/* Inserts bytes before the cursor, unless the line is full. */
static bool line_edit_insert(struct line_edit *line, const char *bytes, size_t length)
{
    char *at = line->text + line->at;

    if (strlen(line->text) + length > LINE_MAX_BYTES)
        return false;
    memmove(at + length, at, strlen(at) + 1);
    memcpy(at, bytes, length);
    line->at += length;
    return true;
}

/* Inserts a character, as UTF-8 (RFC 3629). Returns false for control characters. */
static bool line_edit_type(struct line_edit *line, int key)
{
    const unsigned code = (unsigned)key;
    const size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    char bytes[4] = {(char)code};

    if (key < ' ' || key >= KEY_UP || (key >= KEY_BACKSPACE && key < 0xa0))
        return false;
    for (size_t i = length; length > 1 && i-- > 0;)
        bytes[i] = (char)(i ? 0x80 | (code >> 6 * (length - 1 - i) & 0x3f)
                            : (0xf00U >> length & 0xff) | code >> 6 * (length - 1));
    (void)line_edit_insert(line, bytes, length);
    return true;
}

/* --- Keys ------------------------------------------------------------------------------------- */

/* Returns the beginning of the word before the cursor, and of the spaces after that word. */
static size_t line_edit_word(const struct line_edit *line)
{
    size_t at = line->at;

    while (at && line->text[at - 1] == ' ')
        at--;
    while (at && line->text[at - 1] != ' ')
        at--;
    return at;
}

/* Replaces the text by an older or a newer line of the history. After the last line of the history
 * comes what the user typed. */
static void line_edit_recall(struct line_edit *line, bool older)
{
    const size_t count = line->history_count, at = line->history_at;

    if (older ? at == 0 : at >= count)
        return;
    if (at == count)
        memcpy(line->draft, line->text, sizeof line->draft);
    line->history_at = older ? at - 1 : at + 1;
    memcpy(line->text, line->history_at < count ? line->history[line->history_at] : line->draft,
           sizeof line->text);
    line->at = strlen(line->text);
}

bool line_edit_key(struct line_edit *line, int key)
{
    const size_t end = strlen(line->text);

    line->completes = false;
    switch (key) {
    case KEY_LEFT:
        line->at = line_edit_before(line, line->at);
        return true;
    case KEY_RIGHT:
        line->at = line_edit_after(line, line->at);
        return true;
    case KEY_HOME:
    case KEY_CTRL('a'):
        line->at = 0;
        return true;
    case KEY_END:
    case KEY_CTRL('e'):
        line->at = end;
        return true;
    case KEY_UP:
    case KEY_DOWN:
        line_edit_recall(line, key == KEY_UP);
        return true;
    case KEY_BACKSPACE:
        line_edit_remove(line, line_edit_before(line, line->at), line->at);
        return true;
    case KEY_DELETE:
    case KEY_CTRL('d'):
        line_edit_remove(line, line->at, line_edit_after(line, line->at));
        return true;
    case KEY_CTRL('u'):
        line_edit_remove(line, 0, line->at);
        return true;
    case KEY_CTRL('k'):
        line_edit_remove(line, line->at, end);
        return true;
    case KEY_CTRL('w'):
        line_edit_remove(line, line_edit_word(line), line->at);
        return true;
    default:
        return line_edit_type(line, key);
    }
}

/* --- Completion ------------------------------------------------------------------------------- */

#define MORE " ..." /* after a list that has no room for all words */

/* The candidates that begin with the prefix. */
struct line_matches {
    size_t count;
    size_t common;      /* length of the longest beginning that all candidates share */
    const char *chosen; /* candidate number line->word, or the first candidate */
};

static struct line_matches line_edit_match(const struct line_edit *line,
                                           const char *(*candidate)(const void *arg, size_t i),
                                           const void *arg, char *list, size_t size)
{
    const size_t length = strlen(line->prefix);
    struct line_matches matches = {.count = 0};
    const char *word, *first = NULL;
    bool is_whole = true;

    for (size_t i = 0; (word = candidate(arg, i)); i++) {
        size_t same = 0;
        if (strncmp(word, line->prefix, length) != 0)
            continue;
        first = first ? first : word;
        while (word[same] && word[same] == first[same])
            same++;
        matches.common = !matches.count || same < matches.common ? same : matches.common;
        if (!matches.count || matches.count == line->word)
            matches.chosen = word;
        is_whole = is_whole && text_list(list, size - sizeof MORE, " ", as_text(word));
        matches.count++;
    }
    if (!is_whole)
        stpcpy(list + strlen(list), MORE);
    return matches;
}

/* Replaces the word before the cursor, from the prefix on. */
static void line_edit_replace(struct line_edit *line, const char *word, size_t length)
{
    if (strlen(line->text) - (line->at - line->prefix_at) + length > LINE_MAX_BYTES)
        return;
    line_edit_remove(line, line->prefix_at, line->at);
    (void)line_edit_insert(line, word, length);
}

void line_edit_complete(struct line_edit *line, const char *(*candidate)(const void *arg, size_t i),
                        const void *arg, char *list, size_t size)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const bool again = line->completes;
    struct line_matches matches;

    *list = '\0';
    if (!again) {
        line->prefix_at = line->at;
        while (line->prefix_at &&
               memchr(letters, line->text[line->prefix_at - 1], sizeof letters - 1))
            line->prefix_at--;
        snprintf(line->prefix, sizeof line->prefix, "%.*s", (int)(line->at - line->prefix_at),
                 line->text + line->prefix_at);
        line->word = 0;
    }
    matches = line_edit_match(line, candidate, arg, list, size);
    if (!matches.count) {
        snprintf(list, size, "no column begins with '%s'", line->prefix);
        return;
    }
    line_edit_replace(line, matches.chosen, again ? strlen(matches.chosen) : matches.common);
    if (matches.count == 1) {
        *list = '\0';
        if (!again && line->text[line->at] != ' ')
            (void)line_edit_insert(line, " ", 1);
        return;
    }
    line->word = again ? (line->word + 1) % matches.count : 0;
    line->completes = true;
}

/* --- On the screen ---------------------------------------------------------------------------- */

static size_t line_edit_width(const struct line_edit *line, size_t from, size_t to)
{
    char escaped[ESCAPE_FACTOR * LINE_MAX_BYTES];
    const char *end = escape_text(escaped, line->text + from, to - from, NULL);

    return text_width(escaped, (size_t)(end - escaped));
}

/* Scrolls as little as is needed to show the cursor between the signs of cut text at both ends. */
static void line_edit_scroll(struct line_edit *line, size_t columns)
{
    enum { ROOM = 4 /* both signs, and the character under the cursor */ };

    if (line_edit_width(line, 0, strlen(line->text)) < columns) {
        line->first = 0;
        return;
    }
    if (line->first > line->at)
        line->first = line->at;
    while (line->first < line->at && line_edit_width(line, line->first, line->at) + ROOM > columns)
        line->first = line_edit_after(line, line->first);
}

size_t line_edit_show(struct line_edit *line, size_t columns, const char *sign,
                      char dst[LINE_SHOWN])
{
    char escaped[ESCAPE_FACTOR * LINE_MAX_BYTES + 1], *end;

    line_edit_scroll(line, columns);
    end = escape_text(escaped, line->text + line->first, strlen(line->text + line->first), NULL);
    *end++ = '_';
    const size_t hidden = line->first > 0;
    const struct text_room room = {SIZE_MAX, columns > hidden ? columns - hidden : 0, SIZE_MAX};
    const struct text_fit fit =
        text_cut((struct text){escaped, (size_t)(end - escaped)}, room, sign);
    snprintf(dst, LINE_SHOWN, "%s%.*s%s", hidden && columns ? sign : "", (int)fit.length, escaped,
             fit.cut && room.columns ? sign : "");
    return hidden + line_edit_width(line, line->first, line->at);
}
