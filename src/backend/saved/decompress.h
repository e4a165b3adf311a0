/* SPDX-License-Identifier: MIT */
/* Reads compressed files by zstd(1) and gzip(1). A process that is started before the sandbox
 * starts these programs, because the sandbox forbids to execute files. */
#ifndef BACKEND_SAVED_DECOMPRESS_H
#define BACKEND_SAVED_DECOMPRESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "fastnet/report.h"
#include "text/json.h"

struct decompress {
    int socket; /* to the process; -1: not started */
    pid_t process;
};

/* True if the name of a file ends with .zst or .gz. */
bool decompress_is_needed(const char *name);

/* Starts the process. Returns 0 or -errno. */
int decompress_begin(struct decompress *decompress);
void decompress_finish(struct decompress *decompress);

/* A file of rows, which is decompressed if its name says so. */
struct row_file {
    const char *name;
    struct json_reader *reader; /* NULL: the file is closed */
    int file, fd;               /* fd: of the decompressed bytes; of other files it is `file` */
    struct decompress *decompress;
};

/* Reads the descriptor, which it closes, also after an error. Borrows the other arguments. Only one
 * compressed file can be open at a time. Returns 0 or -errno. */
int row_file_open(struct row_file *file, struct decompress *decompress, const char *name, int fd);

/* Closes the file. report: gets the problem if the file, which was read to its end, could not be
 * decompressed; NULL: it was not read to its end. */
void row_file_close(struct row_file *file, struct report *report);

#endif
