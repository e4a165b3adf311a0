/* SPDX-License-Identifier: MIT */
/* Sentences about evidence: fills the slots of templates such as "{peer} does not answer{in}". */
#ifndef WHY_SENTENCE_H
#define WHY_SENTENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "why/evidence.h"

struct sentence {
    const struct evidence *evidence;
    const struct evidence_netns *netns; /* network namespace that the sentence is about */
    bool is_other;                      /* it is not evidence->here, so {in} names it */
    const struct evidence_event *event; /* the event that proves the sentence; or NULL */
    FILE *stream;                       /* used inside sentence.c */
};

/* Writes the template `from` with its slots filled. */
void sentence_put(FILE *stream, const struct sentence *sentence, const char *from);

/* Fills the slots of the template `from`; a sentence that does not fit is cut. */
void sentence_make(char *text, size_t size, const struct sentence *sentence, const char *from);

/* As sentence_make(), but adds the options that make fastnet read the network namespace. Leaves
 * `text` empty if the command does not fit, or is empty. */
void sentence_make_command(char *text, size_t size, const struct sentence *sentence,
                           const char *from);

void put_address(FILE *stream, const struct address *address);
void put_endpoint(FILE *stream, const struct endpoint *endpoint);

/* Writes " in netns db". */
void put_netns(FILE *stream, const struct evidence_netns *netns);

/* Writes "\"nginx\" (pid 812)". */
void put_process(FILE *stream, const char *name, uint32_t pid);

#endif
