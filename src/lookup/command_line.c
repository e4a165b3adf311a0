/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "fastnet/lookup.h"
#include "fastnet/rights.h"

const char *process_command_line(pid_t pid, char *text, size_t size)
{
    enum { MOST = 1024 };
    char path[40], words[MOST], escaped[ESCAPE_FACTOR * MOST + sizeof "..."];
    ssize_t length = -1;
    bool more;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    rights_raise(RIGHT_OWNERS); /* for hidepid= of proc(5) */
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        length = read(fd, words, sizeof words);
    rights_lower();
    if (fd >= 0)
        close(fd);
    more = length == MOST;
    while (length > 0 && !words[length - 1])
        length--;
    for (ssize_t i = 0; i < length; i++) /* arguments end with NUL */
        words[i] = words[i] ? words[i] : ' ';
    strcpy(escape_text(escaped, words, length > 0 ? (size_t)length : 0, NULL), more ? "..." : "");
    const struct text_room room = {size - 1, SIZE_MAX, SIZE_MAX};
    const struct text shown = as_text(length > 0 ? escaped : "-");
    const struct text_fit part = text_cut(shown, room, "...");
    snprintf(text, size, "%.*s%s", (int)part.length, shown.data, part.cut ? "..." : "");
    return text;
}
