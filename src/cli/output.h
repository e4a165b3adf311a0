/* What is written to stdout and is no listing: help, versions, columns and completions. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdio.h>

/* It is printed to memory first, because stdio does not wait where stdout does not block. */
struct page {
    FILE *stream;
    char *text;
    size_t size;
};

/* Returns the stream to print to. */
FILE *page_open(struct page *page);
/* Writes out what was printed. Returns the exit status. */
int page_finish(struct page *page, const char *program);

/* Says what a write to stdout met (0 or -errno); returns the exit status. */
int output_status(const char *program, int error);

#endif
