/* SPDX-License-Identifier: MIT */
/* Messages about a wrong command line: what the user typed, and probably meant. */
#ifndef CLI_MISUSE_H
#define CLI_MISUSE_H

#include <stddef.h>

#include "fastnet/kind.h"

/* Copies words of the user into a message: escaped, and with "..." at the end if they have more
 * than `most` bytes (up to TYPED_BYTES_MAX). Returns `text`. */
enum { TYPED_SHORT_MAX = 40, TYPED_BYTES_MAX = 80, TYPED_MAX = 4 * TYPED_BYTES_MAX + 1 };
const char *typed_text(char text[TYPED_MAX], const char *typed, size_t length, size_t most);
/* Like typed_text(), in memory that lives until the end of the enclosing block. */
#define TYPED_BYTES(typed, length) typed_text((char[TYPED_MAX]){""}, typed, length, TYPED_BYTES_MAX)
#define TYPED(word)                TYPED_BYTES(word, strlen(word))
#define TYPED_SHORT(word)          typed_text((char[TYPED_MAX]){""}, word, strlen(word), TYPED_SHORT_MAX)

/* Formats a text as printf(3) does; cuts it if it is too long. Returns `text`. */
enum { MESSAGE_TEXT_MAX = 512 };
const char *message_format(char text[MESSAGE_TEXT_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Like message_format(), in memory that lives until the end of the enclosing block. */
#define MESSAGE_TEXT(...) message_format((char[MESSAGE_TEXT_MAX]){""}, __VA_ARGS__)
/* Appends to a text in a buffer of `size` bytes; cuts what does not fit. */
void message_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Where a message mentions the help. */
enum misuse_help {
    HELP_AFTER, /* after the message */
    HELP_NONE,
    HELP_OWN, /* as the personality wants it (struct manner); by default, after the message */
};

/* The message "SUBJECT: WRONG; did you mean BEFOREMEANT?", made from the members of these names.
 * Borrows texts; all except `wrong` may be NULL. */
struct misuse {
    const char *subject; /* the option, or the position in a filter, that is wrong */
    const char *wrong;   /* the message; if `typed` is given, it replaces each %s, escaped */
    struct text typed;
    const char *words; /* correct words: the message names the nearest word, or all */
    const char *before;
    struct text meant; /* the nearest word that was offered */
    size_t distance;   /* edit distance of `meant`; before the first offer: 0, or the limit */
    enum misuse_help help;
};

/* Offers a correct word. It becomes `meant` if it is near enough, and nearer than earlier words. */
void misuse_offer(struct misuse *misuse, const char *word);

/* Writes the message, without the help. */
void misuse_put(const struct misuse *misuse, char *message, size_t size);

/* Appends words to the message, with `text` in place of each %s. */
void misuse_put_words(const char *words, const char *text, char *message, size_t size);

/* Makes the message that rows of this kind have no column `typed`, with the column that was
 * probably meant. The words of the message are written to `wrong`. */
enum { NO_COLUMN = 480 };
struct misuse misuse_of_column(const struct kind *kind, struct text typed, char wrong[NO_COLUMN]);

#endif
