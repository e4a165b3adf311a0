/* SPDX-License-Identifier: MIT */

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/misuse.h"
#include "fastnet/field.h"
#include "fastnet/text.h"

enum { WORD_MAX = 40 }; /* longer words are not compared */
enum { FEW = 6 };       /* columns that a message lists */

const char *typed_text(char text[TYPED_MAX], const char *typed, size_t length)
{
    const size_t most = (TYPED_MAX - 1) / ESCAPE_FACTOR;

    *escape_text(text, typed, length < most ? length : most, NULL) = '\0';
    return text;
}

struct nearest nearest_to(const char *typed, size_t length)
{
    /* one letter in three may be wrong; only words that are nearer than this are taken */
    return (struct nearest){.typed = typed, .length = length, .distance = (length + 1) / 3 + 1};
}

static char folded(char letter)
{
    return letter == '-' ? '_' : (char)tolower((unsigned char)letter);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * Letters to insert, remove, replace or swap with the next one: the optimal string alignment
 * distance. Case, and '-' for '_', do not count.
 */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_MAX + 1];
    size_t *earlier = rows[0], *before = rows[1], *now = rows[2];

    for (size_t j = 0; j <= b_length; j++)
        before[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            const bool same = folded(a[i - 1]) == folded(b[j - 1]);
            now[j] = least(before[j - 1] + !same, least(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
                folded(a[i - 2]) == folded(b[j - 1]))
                now[j] = least(now[j], earlier[j - 2] + 1);
        }
        size_t *const oldest = earlier;
        earlier = before;
        before = now;
        now = oldest;
    }
    return before[b_length];
}

static void offer(struct nearest *nearest, const char *word, size_t length)
{
    if (length > WORD_MAX || nearest->length > WORD_MAX)
        return;
    size_t found = distance(nearest->typed, nearest->length, word, length);
    /* the beginning of a word, three letters at least, is nearly that word */
    if (found && nearest->length >= 3 && nearest->length < length &&
        distance(nearest->typed, nearest->length, word, nearest->length) == 0)
        found = 1;
    if (found >= nearest->distance)
        return;
    nearest->distance = found;
    nearest->word = word;
    nearest->word_length = length;
}

void nearest_offer(struct nearest *nearest, const char *word)
{
    offer(nearest, word, strlen(word));
}

void nearest_offer_words(struct nearest *nearest, const char *words)
{
    for (struct text word; text_next(&words, ' ', &word);)
        offer(nearest, word.data, word.length);
}

const char *nearest_hint(const struct nearest *nearest, const char *before, char hint[NEAREST_HINT])
{
    *hint = '\0';
    if (nearest->word)
        snprintf(hint, NEAREST_HINT, "; did you mean %s%.*s?", before, (int)nearest->word_length,
                 nearest->word);
    return hint;
}

const char *nearest_column(const struct kind *kind, const char *typed, size_t length,
                           char message[NO_COLUMN])
{
    struct nearest nearest = nearest_to(typed, length);
    const struct field *field;

    for (size_t i = 0; (field = field_at(kind, i)); i++)
        nearest_offer(&nearest, field->name);
    for (size_t i = 0; i < kind->group_count; i++)
        nearest_offer(&nearest, kind->groups[i].name);
    const bool few = kind->field_count <= FEW;
    const char *hint = nearest.word ? HINT(&nearest, "")
                       : few        ? ""
                                    : " (--columns=help lists them)";
    size_t used = (size_t)snprintf(message, NO_COLUMN, "no column '%s' for %s%s",
                                   TYPED_BYTES(typed, length), kind->name, hint);
    for (size_t i = 0; !nearest.word && few && i < kind->field_count && used < NO_COLUMN; i++)
        used += (size_t)snprintf(message + used, NO_COLUMN - used, "%s%s",
                                 i ? ", " : "; there are: ", kind->fields[i].name);
    return message;
}
