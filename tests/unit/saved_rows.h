/* SPDX-License-Identifier: MIT */
/* Saved rows made of text. */
#ifndef UNIT_SAVED_ROWS_H
#define UNIT_SAVED_ROWS_H

#include "model/saved.h"

/* A reader of the text. */
struct saved_text {
    int fd;
    struct json_reader *reader;
};
struct saved_text saved_text_open(const char *text, size_t length);
void saved_text_close(struct saved_text *text);

/* Sets *record to the record of the only row in the text, of this kind; the test fails if it has
 * another row. The record lives until the maker is destroyed, which is returned. */
struct saved_maker *saved_record(struct record *record, const struct kind *kind, const char *text,
                                 const struct saved_head *head);

#endif
