/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "fastnet/command_line.h"
#include "fastnet/proc_tree.h"
#include "fastnet/rights.h"
#include "fastnet/text.h"
#include "lookup/processes.h"

const char *process_command_line(const char *proc_root, pid_t pid, char *text, size_t size)
{
    enum { MOST = 1024 };
    char words[MOST], escaped[(size_t)ESCAPE_FACTOR * MOST + sizeof "..."];
    struct proc_tree tree;
    ssize_t length = -1;

    if (proc_tree_init(&tree, proc_root) == 0) {
        rights_raise(tree.right); /* hidepid= of proc(5) may hide the process */
        length = process_read_file(&tree, pid, "cmdline", words, sizeof words);
        rights_lower();
    }
    proc_tree_finish(&tree);
    const bool more = length == MOST;
    while (length > 0 && !words[length - 1])
        length--;
    for (ssize_t i = 0; i < length; i++) /* a NUL ends each argument */
        words[i] = words[i] ? words[i] : ' ';
    char *end = escape_text(escaped, words, length > 0 ? (size_t)length : 0, NULL);
    *end = '\0';
    if (more)
        memcpy(end, "...", sizeof "...");
    const struct text_room room = {size - 1, SIZE_MAX, SIZE_MAX};
    const struct text shown = as_text(length > 0 ? escaped : "-");
    const struct text_fit part = text_cut(shown, room, "...");
    snprintf(text, size, "%.*s%s", (int)part.length, shown.data, part.cut ? "..." : "");
    return text;
}
