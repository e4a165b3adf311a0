/* A listing from the command line: once or again and again, its output, its exit status. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdbool.h>
#include <stdio.h>

#include "fastnet/engine.h"

struct cli_listing {
    const char *program; /* for messages */
    const struct listing *listing;
    /* Returns NULL when memory is short. arg is the member below. */
    struct sink *(*make_sink)(const void *arg, struct writer *writer,
                              const struct context *context);
    /* After each pass whose output could be written; may be NULL. */
    void (*amend)(const void *arg, struct report *report);
    const void *arg;
    bool continuous;
    unsigned interval_ms; /* between two passes */
};

/* Returns the exit status. */
int cli_run_listing(const struct cli_listing *options);

/*
 * Where help, versions, columns and completions are printed to: memory, since stdio does not wait
 * where stdout does not block.
 */
FILE *cli_stdout(void);
/* Writes out what was printed there. Returns status, or failure when it could not be written. */
int cli_finish_stdout(const char *program, int status);

#endif
