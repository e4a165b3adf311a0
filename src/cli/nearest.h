/* The word that was probably meant, among those that would be right. */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include <stddef.h>

#include "fastnet/kind.h"

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
