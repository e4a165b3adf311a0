/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../helpers/libc.h"
#include "kit.h"

enum { WORDS_MAX = 64 };

void reference_needed(void)
{
    if (!IS_GLIBC)
        skip();
}

void reference_parse(struct reference *reference, const struct reference_option *options,
                     size_t option_count, const char *letters, int argc, char *const argv[])
{
    struct option table[REFERENCE_OPTIONS + 1] = {{NULL, 0, NULL, 0}};
    char *words[WORDS_MAX] = {NULL}; /* getopt sorts them */
    int id;

    assert_in_range(option_count, 0, REFERENCE_OPTIONS);
    assert_in_range(argc, 1, WORDS_MAX - 1);
    for (size_t i = 0; i < option_count; i++)
        table[i] = (struct option){options[i].name, options[i].argument, NULL, options[i].id};
    for (int i = 0; i < argc; i++)
        words[i] = argv[i];
    *reference = (struct reference){.count = 0};
    optind = 0;
    opterr = 1;
    while ((id = getopt_long(argc, words, letters, table, NULL)) != -1) {
        if (id == '?') {
            reference->misused = true;
            return;
        }
        assert_in_range(reference->count, 0, REFERENCE_TAKEN - 1);
        reference->ids[reference->count] = id;
        reference->arguments[reference->count++] = optarg;
    }
}

void capture_begin(struct capture *capture, int fd)
{
    fflush(NULL);
    capture->fd = fd;
    capture->saved = dup(fd);
    capture->file = memfd_create("capture", 0);
    assert_true(capture->saved >= 0 && capture->file >= 0);
    dup2(capture->file, fd);
}

void capture_end(struct capture *capture)
{
    ssize_t length;

    fflush(NULL);
    dup2(capture->saved, capture->fd);
    close(capture->saved);
    length = pread(capture->file, capture->text, CAPTURE_MAX - 1, 0);
    capture->text[length > 0 ? length : 0] = '\0';
    close(capture->file);
}
