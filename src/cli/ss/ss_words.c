/* SPDX-License-Identifier: MIT */
#include "cli/ss/ss_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In bytes. A file without an end must not use up all memory. */
enum { FILE_MAX = 16 << 20 };

/* Removes lines that are empty or begin with # or 0; ends the rest with NUL. Returns their size. */
static size_t keep_lines(char *text, size_t size)
{
    size_t kept = 0, length;

    for (size_t at = 0; at < size; at += length + 1) {
        length = strcspn(text + at, "\n");
        if (length == 0 || text[at] == '#' || text[at] == '0')
            continue;
        memmove(text + kept, text + at, length);
        text[kept + length] = '\0';
        kept += length + 1;
    }
    return kept;
}

static int ss_words_read_lines(struct ss_words *words, FILE *file)
{
    size_t size;

    words->lines = malloc(FILE_MAX + 1);
    if (!words->lines)
        return -ENOMEM;
    errno = 0;
    size = fread(words->lines, 1, FILE_MAX + 1, file);
    if (ferror(file))
        return errno ? -errno : -EIO;
    if (size > FILE_MAX)
        return -EFBIG;
    if (memchr(words->lines, '\0', size)) /* the rest of its line would be lost */
        return -EILSEQ;
    words->lines[size] = '\0';
    words->size = keep_lines(words->lines, size);
    return 0;
}

int ss_words_read(struct ss_words *words, const char *path)
{
    const bool is_stdin = path[0] == '-';
    FILE *file = is_stdin ? stdin : fopen(path, "re");
    int error;

    if (!file)
        return -errno;
    error = ss_words_read_lines(words, file);
    if (!is_stdin)
        fclose(file);
    return error;
}

bool ss_words_next(struct ss_words *words, struct text *word)
{
    const char *start, *end;

    while (!words->at || !*(words->at += strspn(words->at, " \t")))
        if (words->argument < words->count) {
            words->at = words->arguments[words->argument++];
        } else if (words->line < words->size) {
            words->at = words->lines + words->line;
            words->line += strlen(words->at) + 1;
        } else {
            return false;
        }
    start = words->at;
    for (end = start; *end && *end != ' ' && *end != '\t'; end++)
        if (*end == '\\' && end[1])
            end++;
    words->at = end;
    *word = (struct text){start, (size_t)(end - start)};
    return true;
}

void ss_words_finish(struct ss_words *words)
{
    free(words->lines);
    words->lines = NULL;
}
