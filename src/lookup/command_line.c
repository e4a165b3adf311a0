/* SPDX-License-Identifier: MIT */
#include "fastnet/command_line.h"

#include <stdio.h>
#include <stdlib.h>

#include "fastnet/profiles.h"

const char *process_command_line(const char *proc_root, pid_t pid, char *text, size_t size)
{
    const struct text_room room = {size - 1, SIZE_MAX, SIZE_MAX};
    struct profiles *profiles = NULL;
    const struct profile *profile =
        profiles_create(&profiles, proc_root, false) == 0 ? profiles_find(profiles, pid, 0) : NULL;
    const struct text words = profile ? profile->command : (struct text){NULL, 0};
    char *escaped = words.length ? malloc(ESCAPE_FACTOR * words.length) : NULL;

    snprintf(text, size, "-");
    if (escaped) {
        const char *end = escape_text(escaped, words.data, words.length, NULL);
        const struct text whole = {escaped, (size_t)(end - escaped)};
        const struct text_fit part = text_cut(whole, room, "...");
        snprintf(text, size, "%.*s%s", (int)part.length, escaped, part.cut ? "..." : "");
    }
    free(escaped);
    profiles_destroy(profiles);
    return text;
}
