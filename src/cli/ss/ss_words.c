#include "cli/ss/ss_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add_line(struct ss_words *words, const char *line, size_t length)
{
    char *lines = realloc(words->lines, words->size + length + 1);

    if (!lines)
        return -ENOMEM;
    words->lines = lines;
    memcpy(lines + words->size, line, length);
    lines[words->size + length] = '\0';
    words->size += length + 1;
    return 0;
}

static int read_lines(struct ss_words *words, FILE *file)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    int error = 0;

    errno = 0;
    while (!error && (length = getline(&line, &capacity, file)) >= 0) {
        if (length && line[length - 1] == '\n')
            length--;
        if (length && line[0] != '#' && line[0] != '0')
            error = add_line(words, line, (size_t)length);
    }
    if (!error && ferror(file))
        error = errno ? -errno : -EIO;
    free(line);
    return error;
}

int ss_words_read(struct ss_words *words, const char *path)
{
    const bool is_stdin = path[0] == '-';
    FILE *file = is_stdin ? stdin : fopen(path, "re");
    int error;

    if (!file)
        return -errno;
    error = read_lines(words, file);
    if (!is_stdin)
        fclose(file);
    return error;
}

/* Where the next argument or line begins; NULL: there is none. */
static const char *next_text(struct ss_words *words)
{
    const char *text;

    if (words->argument < words->count)
        return words->arguments[words->argument++];
    if (words->line >= words->size)
        return NULL;
    text = words->lines + words->line;
    words->line += strlen(text) + 1;
    return text;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

bool ss_words_next(struct ss_words *words, struct text *word)
{
    const char *start, *end;

    while (!words->at || !*(words->at += strspn(words->at, " \t"))) {
        words->at = next_text(words);
        if (!words->at)
            return false;
    }
    start = words->at;
    for (end = start; *end && !is_blank(*end); end++)
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
