/* SPDX-License-Identifier: MIT */
/* What a message says of a word: as it was typed, and which was probably meant. */
#ifndef CLI_MISUSE_H
#define CLI_MISUSE_H

#include <stddef.h>

#include "fastnet/kind.h"

/* The user's words as a message shows them: escaped, cut when they are very long, terminated. */
enum { TYPED_MAX = 4 * 80 + 1 };
const char *typed_text(char text[TYPED_MAX], const char *typed, size_t length);
/* The same, into memory that lives as long as the block that this stands in; of a whole word. */
#define TYPED_BYTES(typed, length) typed_text((char[TYPED_MAX]){""}, typed, length)
#define TYPED(word)                TYPED_BYTES(word, strlen(word))

/* The word that is nearest, among those that would be right. */
struct nearest {
    const char *typed; /* length bytes */
    size_t length;
    const char *word; /* the best so far, or NULL; borrowed */
    size_t word_length;
    size_t distance;
};

/* Starts a search. Only words that share most of their letters with the typed word are found. */
struct nearest nearest_to(const char *typed, size_t length);

void nearest_offer(struct nearest *nearest, const char *word);
/* Each of these words, separated by blanks. */
void nearest_offer_words(struct nearest *nearest, const char *words);

/* "; did you mean BEFOREword?", or "" if there is no such word. */
enum { NEAREST_HINT = 80 };
const char *nearest_hint(const struct nearest *nearest, const char *before,
                         char hint[NEAREST_HINT]);
/* The same, into memory that lives as long as the block that this stands in. */
#define HINT(nearest, before) nearest_hint(nearest, before, (char[NEAREST_HINT]){""})

/* Says that rows of this kind have no such column, and which one was probably meant. */
enum { NO_COLUMN = 480 };
const char *nearest_column(const struct kind *kind, const char *typed, size_t length,
                           char message[NO_COLUMN]);

#endif
