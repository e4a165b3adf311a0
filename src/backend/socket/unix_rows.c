#include "backend/socket/unix_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/proc/lines.h"
#include "fastnet/array.h"

enum {
    LINE_MAX_KEPT = 512
}; /* bytes; the kernel's longest, numbers and name, have less than 200 */

int unix_rows_add(struct unix_rows *rows, const struct line *line)
{
    size_t length = line->length < LINE_MAX_KEPT ? line->length : LINE_MAX_KEPT;
    char *text = array_with_room(rows->text, &rows->capacity, rows->length + length + 1, 1);

    if (!text)
        return -ENOMEM;
    rows->text = text;
    memcpy(rows->text + rows->length, line->data, length);
    rows->length += length;
    rows->text[rows->length++] = '\n';
    return 0;
}

void unix_rows_finish(struct unix_rows *rows)
{
    free(rows->text);
    *rows = (struct unix_rows){.text = NULL};
}

bool unix_rows_next(struct unix_rows *rows, struct line *line)
{
    char *start, *newline;

    if (rows->from == rows->length)
        return false;
    start = rows->text + rows->from;
    newline = memchr(start, '\n', rows->length - rows->from);
    *line = (struct line){.data = start, .length = (size_t)(newline - start)};
    unix_rows_go_on(rows, newline);
    return true;
}

const char *unix_rows_end(const struct unix_rows *rows)
{
    return rows->text + rows->length;
}

void unix_rows_go_on(struct unix_rows *rows, const char *end)
{
    rows->from = (size_t)(end + 1 - rows->text);
}
