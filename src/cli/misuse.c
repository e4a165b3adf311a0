/* SPDX-License-Identifier: MIT */

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/misuse.h"
#include "fastnet/array.h"
#include "fastnet/field.h"
#include "fastnet/text.h"

enum { WORD_MAX = 40 }; /* longer words are not compared */
enum { FEW = 6 };       /* a message lists all columns of a kind that has no more than this */

const char *typed_text(char text[TYPED_MAX], const char *typed, size_t length, size_t most)
{
    const struct text_room room = {most, SIZE_MAX, SIZE_MAX};
    static const char sign[] = "...";
    const struct text_fit part = text_cut((struct text){typed, length}, room, sign);
    char *end = escape_text(text, typed, part.length, NULL);

    *end = '\0';
    if (part.cut)
        memcpy(end, sign, sizeof sign);
    return text;
}

const char *message_format(char text[MESSAGE_TEXT_MAX], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    text_print(text, MESSAGE_TEXT_MAX, format, arguments);
    va_end(arguments);
    return text;
}

void message_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    text_print(text + used, size - used, format, arguments);
    va_end(arguments);
}

static char folded(char letter)
{
    return letter == '-' ? '_' : (char)tolower((unsigned char)letter);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Number of letters to insert, remove, replace or swap with the next letter: the optimal string
 * alignment distance. Upper and lower case are the same; '-' is the same as '_'. */
static size_t misuse_distance(const char *a, size_t a_length, const char *b, size_t b_length)
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

static void offer(struct misuse *misuse, struct text word)
{
    const struct text typed = misuse->typed;
    /* Up to a third of the letters may be wrong. A later word must be nearer than earlier words. */
    const size_t limit =
        misuse->meant.data || misuse->distance ? misuse->distance : (typed.length + 1) / 3 + 1;

    if (word.length > WORD_MAX || typed.length > WORD_MAX)
        return;
    size_t found = misuse_distance(typed.data, typed.length, word.data, word.length);
    /* if the typed letters, at least three, begin a word, its distance is 1 */
    if (found && typed.length >= 3 && typed.length < word.length &&
        misuse_distance(typed.data, typed.length, word.data, typed.length) == 0)
        found = 1;
    if (found >= limit)
        return;
    misuse->distance = found;
    misuse->meant = word;
}

void misuse_offer(struct misuse *misuse, const char *word)
{
    offer(misuse, as_text(word));
}

void misuse_put_words(const char *words, const char *text, char *message, size_t size)
{
    for (const char *at; (at = strstr(words, "%s")); words = at + 2)
        message_append(message, size, "%.*s%s", (int)(at - words), words, text);
    message_append(message, size, "%s", words);
}

void misuse_put(const struct misuse *misuse, char *message, size_t size)
{
    struct misuse found = *misuse;

    *message = '\0';
    if (misuse->subject)
        message_append(message, size, "%s: ", misuse->subject);
    if (misuse->typed.data)
        misuse_put_words(misuse->wrong, TYPED_BYTES(misuse->typed.data, misuse->typed.length),
                         message, size);
    else
        message_append(message, size, "%s", misuse->wrong);
    for (struct text word; text_next(&found.words, ' ', &word);)
        offer(&found, word);
    if (found.meant.data)
        message_append(message, size, "; did you mean %s%.*s?",
                       misuse->before ? misuse->before : "", (int)found.meant.length,
                       found.meant.data);
    else if (misuse->words)
        message_append(message, size, "; there are: %s", misuse->words);
}

/* Columns that people expect, and what there is instead. */
static const char *column_instead(const struct kind *kind, struct text typed)
{
    static const char *const commands[] = {"cmdline", "cmd", "command", "args", "argv", "exe"};

    for (size_t i = 0; i < COUNT(commands) && field_named(kind, "process"); i++)
        if (typed.length == strlen(commands[i]) &&
            strncasecmp(typed.data, commands[i], typed.length) == 0)
            return field_named(kind, "process_command")
                       ? "; process_command has the arguments of the process, exe its program"
                   : field_named(kind, "exe")
                       ? "; command has the arguments of the process, exe its program"
                       : "; process is the name of the program, pid its process (ps -p PID shows "
                         "more)";
    return NULL;
}

struct misuse misuse_of_column(const struct kind *kind, struct text typed, char wrong[NO_COLUMN])
{
    struct misuse misuse = {.wrong = wrong, .typed = typed};
    const struct field *field;
    const char *instead = column_instead(kind, typed);
    const bool few = kind->field_count <= FEW || strcmp(kind->name, kind_count.name) == 0;

    for (size_t i = 0; !instead && (field = field_at(kind, i)); i++)
        misuse_offer(&misuse, field->name);
    for (size_t i = 0; !instead && i < kind->group_count; i++)
        misuse_offer(&misuse, kind->groups[i].name);
    snprintf(wrong, NO_COLUMN, "no column '%%s' for %s%s", kind->name,
             instead                    ? instead
             : misuse.meant.data || few ? ""
                                        : " (--columns=help lists them)");
    for (size_t i = 0; !misuse.meant.data && !instead && few && i < kind->field_count; i++)
        message_append(wrong, NO_COLUMN, "%s%s", i ? ", " : "; there are: ", kind->fields[i].name);
    return misuse;
}
