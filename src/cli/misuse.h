/* SPDX-License-Identifier: MIT */
/* What is wrong with a command line, what was typed and what was probably meant. */
#ifndef CLI_MISUSE_H
#define CLI_MISUSE_H

#include <stddef.h>

#include "fastnet/kind.h"

/* The user's words as a message shows them: escaped, with "..." at the end if they have more bytes
 * than `most` (up to TYPED_BYTES_MAX), terminated. */
enum { TYPED_SHORT_MAX = 40, TYPED_BYTES_MAX = 80, TYPED_MAX = 4 * TYPED_BYTES_MAX + 1 };
const char *typed_text(char text[TYPED_MAX], const char *typed, size_t length, size_t most);
/* The same, into memory that lives as long as the block that this stands in; of a whole word. */
#define TYPED_BYTES(typed, length) typed_text((char[TYPED_MAX]){""}, typed, length, TYPED_BYTES_MAX)
#define TYPED(word)                TYPED_BYTES(word, strlen(word))
#define TYPED_SHORT(word)          typed_text((char[TYPED_MAX]){""}, word, strlen(word), TYPED_SHORT_MAX)

/* A text made as printf(3) does, cut if it is very long, terminated. */
enum { SAID_MAX = 512 };
const char *said_text(char text[SAID_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, into memory that lives as long as the block that this stands in. */
#define SAID(...) said_text((char[SAID_MAX]){""}, __VA_ARGS__)
/* Adds to a text in so many bytes; what has no room is cut. */
void said_add(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Where a message says that help is. */
enum misuse_help {
    HELP_BEHIND, /* behind it */
    HELP_NONE,
    HELP_OWN, /* as the personality says it (struct manner); most do so behind it */
};

/* "PLACE: WRONG; did you mean BEFOREmeant?". Texts are borrowed; all but `wrong` may be missing. */
struct misuse {
    const char *place; /* what it is about: an option, or where in a filter */
    const char *wrong; /* in which each %s is what was typed, escaped, if that is given */
    struct text typed;
    const char *words; /* that would be right, by blanks: the nearest is meant, or all are named */
    const char *before;
    struct text meant; /* the nearest word that was offered */
    size_t distance;   /* of it, in letters; before the first 0, or how many are too many */
    enum misuse_help help;
};

/* Offers a word that would be right: taken if it shares most of its letters with the typed one. */
void misuse_offer(struct misuse *misuse, const char *word);

/* Writes all of it but the help. */
void misuse_put(const struct misuse *misuse, char *message, size_t size);

/* Adds words to the message, with the text in place of each %s. */
void misuse_put_words(const char *words, const char *text, char *message, size_t size);

/* Rows of this kind have no such column; another was probably meant. `wrong` gets the words. */
enum { NO_COLUMN = 480 };
struct misuse misuse_of_column(const struct kind *kind, struct text typed, char wrong[NO_COLUMN]);

#endif
