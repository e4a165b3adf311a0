/* SPDX-License-Identifier: MIT */
#include "watch/drop_sockets.h"

#include <errno.h>
#include <stdlib.h>

#include "fastnet/drop_watch.h"

int drop_sockets_find(struct engine *engine, const struct drop_watch *watch, uint64_t id,
                      struct fitting *fitting, struct report *report)
{
    struct sought *sought = calloc(drop_watch_count(watch) + 1, sizeof *sought);
    size_t count = 0;

    if (!sought)
        return -ENOMEM;
    for (size_t i = 0; i < drop_watch_count(watch); i++) {
        const struct drop *drop = drop_watch_at(watch, i);
        const struct drop_record *seen = &drop->record.drop;
        if (drop->netns == id && drop->record.has & DROP_PORTS && !(drop->record.has & DROP_SOCKET))
            sought[count++] =
                (struct sought){seen->protocol, seen->local, seen->remote, &fitting[i]};
    }
    const int error = packet_sockets_find(engine, sought, count, report);
    free(sought);
    return error;
}

void drop_sockets_take(const struct fitting *fitting, struct record *record)
{
    if (record->has & DROP_SOCKET || fitting->count != 1 || !fitting->inode)
        return;
    record->drop.inode = fitting->inode;
    record->drop.uid = fitting->uid;
    record->has |= DROP_SOCKET;
}
