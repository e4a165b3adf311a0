#include "engine/glob.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wctype.h>

static unsigned char folded(char letter)
{
    const unsigned char byte = (unsigned char)letter;

    return byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte - 'A' + 'a') : byte;
}

/* A byte of a set, which may be escaped. Returns where the next one is. */
static size_t set_byte(struct text pattern, size_t at, unsigned char *byte)
{
    if (pattern.data[at] == '\\' && at + 1 < pattern.length)
        at++;
    *byte = folded(pattern.data[at]);
    return at + 1;
}

/* The classes of the C locale. In what match_class() takes case counts, as in fnmatch(3). */
static bool is_in_class(struct text name, char letter)
{
    char word[8] = "";

    if (name.length >= sizeof word || (unsigned char)letter >= 0x80)
        return false;
    memcpy(word, name.data, name.length);
    return iswctype((wint_t)letter, wctype(word));
}

/*
 * In a set: [:class:], [=byte=] or [.byte.]. Returns where the next one is, or 0 if it is none of
 * these and the [ stands for itself.
 */
static size_t match_class(struct text pattern, size_t at, char letter, bool *found)
{
    const size_t name = at + 2;
    size_t end = name;

    if (pattern.data[at] != '[' || name >= pattern.length ||
        !memchr(":=.", pattern.data[at + 1], 3))
        return 0;
    while (end + 1 < pattern.length &&
           (pattern.data[end] != pattern.data[at + 1] || pattern.data[end + 1] != ']'))
        end++;
    if (end + 1 >= pattern.length || (pattern.data[at + 1] != ':' && end != name + 1))
        return 0;
    *found |= pattern.data[at + 1] == ':'
                  ? is_in_class((struct text){pattern.data + name, end - name}, letter)
                  : letter == pattern.data[name];
    return end + 2;
}

/*
 * The set that begins at a [. Returns where the pattern goes on, or 0 if there is no ] and the [
 * stands for itself. A ] in the first place is one of the set.
 */
static size_t match_set(struct text pattern, size_t at, char letter, bool *matches)
{
    const size_t start = at + 1;
    const bool negated =
        start < pattern.length && (pattern.data[start] == '!' || pattern.data[start] == '^');
    bool found = false;

    at = start + negated;
    for (size_t first = at; at < pattern.length; first = SIZE_MAX) {
        unsigned char low, high;
        size_t next;
        if (pattern.data[at] == ']' && at != first) {
            *matches = found != negated;
            return at + 1;
        }
        if ((next = match_class(pattern, at, letter, &found))) {
            at = next;
            continue;
        }
        at = set_byte(pattern, at, &low);
        high = low;
        if (at + 1 < pattern.length && pattern.data[at] == '-' && pattern.data[at + 1] != ']')
            at = set_byte(pattern, at + 1, &high);
        found |= folded(letter) >= low && folded(letter) <= high;
    }
    return 0;
}

/* What is no star, against one byte. Returns where the pattern goes on. */
static size_t match_one(struct text pattern, size_t at, char letter, bool loose, bool *matches)
{
    const char shown = letter ? letter : '@';
    size_t next;

    if (pattern.data[at] == '?') {
        *matches = true;
        return at + 1;
    }
    if (loose && pattern.data[at] == '[' && (next = match_set(pattern, at, shown, matches)))
        return next;
    if (pattern.data[at] == '\\' && at + 1 < pattern.length)
        at++;
    *matches = loose ? folded(pattern.data[at]) == folded(shown) : pattern.data[at] == letter;
    return at + 1;
}

bool glob_matches(struct text pattern, struct text text, bool loose)
{
    size_t at = 0, from = 0, star = SIZE_MAX, i = 0;

    while (i < text.length) {
        size_t next = at;
        bool matches = false;
        if (at < pattern.length && pattern.data[at] == '*') {
            star = ++at;
            from = i;
            continue;
        }
        if (at < pattern.length)
            next = match_one(pattern, at, text.data[i], loose, &matches);
        if (matches) {
            at = next;
            i++;
        } else if (star != SIZE_MAX) {
            at = star;
            i = ++from;
        } else {
            return false;
        }
    }
    while (at < pattern.length && pattern.data[at] == '*')
        at++;
    return at == pattern.length;
}
