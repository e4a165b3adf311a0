/* SPDX-License-Identifier: MIT */
/*
 * What a process says of itself: a line of stat, the link of its program, its name and its first
 * argument, with a NUL after each.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lookup/processes.h"

static char *next_text(const uint8_t **data, size_t *size)
{
    const size_t length = strnlen((const char *)*data, *size), taken = length + (length < *size);
    char *text = malloc(length + 1);

    require(text != NULL);
    memcpy(text, *data, length);
    text[length] = '\0';
    *data += taken;
    *size -= taken;
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char sign[] = " (deleted)";
    char *line = next_text(&data, &size), *path = next_text(&data, &size);
    char *name = next_text(&data, &size), *argument = next_text(&data, &size);
    const size_t length = strlen(path);
    char *before = strdup(path);
    struct process_stat stat;

    require(before != NULL);
    if (process_stat_parse(line, &stat)) {
        require(memchr(stat.name, '\0', sizeof stat.name) != NULL);
        require(stat.parent >= 0 && stat.state);
        require(strncmp(strchr(line, '(') + 1, stat.name, strlen(stat.name)) == 0);
    }
    if (process_cut_deleted(path, name, argument)) {
        require(strlen(path) + sizeof sign - 1 == length);
        require(strcmp(before + strlen(path), sign) == 0 && *path);
    }
    require(strncmp(before, path, strlen(path)) == 0);
    free(line);
    free(path);
    free(name);
    free(argument);
    free(before);
    return 0;
}
