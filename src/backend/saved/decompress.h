/* SPDX-License-Identifier: MIT */
/* Reads compressed files by zstd(1) and gzip(1). A process that is started before the sandbox
 * starts these programs, because the sandbox forbids to execute files. */
#ifndef BACKEND_SAVED_DECOMPRESS_H
#define BACKEND_SAVED_DECOMPRESS_H

#include <stdbool.h>
#include <sys/types.h>

struct decompress {
    int socket; /* to the process; -1: not started */
    pid_t process;
    const char *program; /* the program that decompresses the current file */
};

/* True if the name of a file ends with .zst or .gz. */
bool decompress_is_needed(const char *name);

/* Starts the process. Returns 0 or -errno. */
int decompress_begin(struct decompress *decompress);
void decompress_finish(struct decompress *decompress);

/* Decompresses an open file, which stays open. Returns a descriptor to read from, or -errno. Only
 * one file at a time: call decompress_end() before the next. */
int decompress_open(struct decompress *decompress, const char *name, int file);

/* Waits until the program has ended, after its descriptor was closed. Returns its exit status: 0 if
 * it read the whole file and it could write all; 127: the program is not installed. */
int decompress_end(struct decompress *decompress);

#endif
