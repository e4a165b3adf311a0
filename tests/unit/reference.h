/* SPDX-License-Identifier: MIT */
/* getopt_long(3), which has a struct option of its own; to compare with. */
#ifndef UNIT_REFERENCE_H
#define UNIT_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

enum { REFERENCE_TAKEN = 64, REFERENCE_OPTIONS = 64, CAPTURE_MAX = 4096 };

struct reference_option {
    const char *name;
    int id;
    bool argument;
};

struct reference {
    int ids[REFERENCE_TAKEN];
    const char *arguments[REFERENCE_TAKEN];
    size_t count;
    bool misused; /* and what getopt said of it is on stderr */
};

/* Skips the test where getopt_long() is not glibc's: others read some words, and say mistakes,
 * otherwise. */
void reference_needed(void);
/* Parses as getopt_long() does, up to the first mistake. letters is its optstring. */
void reference_parse(struct reference *reference, const struct reference_option *options,
                     size_t option_count, const char *letters, int argc, char *const argv[]);

/* What goes to a stream's descriptor in between is kept, at most CAPTURE_MAX - 1 bytes of it. */
struct capture {
    int fd, saved, file;
    char text[CAPTURE_MAX];
};
void capture_begin(struct capture *capture, int fd);
void capture_end(struct capture *capture);

#endif
