/* The layout of ss: processes, and what options show of a socket besides. */
#include <string.h>

#include "fastnet/lookup.h"
#include "format/socket/layout_ss.h"

/* --- Processes -------------------------------------------------------------------------------- */

static char *put_owner(char *dst, const struct owner *owner)
{
    dst = put_escaped(PUT(dst, "(\""), owner->name, "\"");
    dst = text_u64(PUT(dst, "\",pid="), (uint64_t)owner->pid);
    return PUT(text_u64(PUT(dst, ",fd="), (uint64_t)owner->fd), ")");
}

/* The highest process first, as ss has them. */
char *ss_put_process(char *dst, struct ss_row *row)
{
    const struct owners *owners = row->context->owners;
    const uint64_t inode = row->record->socket.inode;
    const struct owner *first;
    size_t count;

    if (!owners || !inode || !ss_has(row, SOCKET_INODE))
        return dst;
    count = owners_find(owners, inode, &first);
    if (!count)
        return dst;
    dst = PUT(dst, "users:(");
    while (count-- > 0) {
        dst = put_owner(dst, &first[count]);
        dst = ss_more(row, count ? PUT(dst, ",") : dst);
    }
    return PUT(dst, ")");
}

char *ss_put_details(char *dst, struct ss_row *row)
{
    (void)row;
    return dst;
}
