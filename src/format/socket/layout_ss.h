/* What the files of ss' layout share: a row that is being written, and the parts of a row. */
#ifndef FORMAT_SOCKET_LAYOUT_SS_H
#define FORMAT_SOCKET_LAYOUT_SS_H

#include <stdint.h>

#include "fastnet/layouts.h"
#include "format/text/put.h"

/* An address is two columns: up to its delimiter it stands at the right, the port at the left. */
enum ss_column {
    SS_NETID,
    SS_STATE,
    SS_RECV_Q,
    SS_SEND_Q,
    SS_LOCAL,
    SS_LOCAL_PORT,
    SS_PEER,
    SS_PEER_PORT,
    SS_PROCESS,
    SS_DETAILS, /* without a heading; begins on the row's line and may have more lines */
    SS_COLUMNS
};

struct ss_row {
    const struct ss_layout *layout;
    const struct context *context;
    const struct record *record;
    struct writer *writer;
    bool association; /* of SCTP, which stands below its endpoint */
    bool kept;        /* cells are kept until the widths are known */
    char *room;       /* what was reserved begins here */
    char *cell;       /* the cell begins here, or goes on here */
    size_t before;    /* bytes of the cell that are written already */
};

/* Keeps what was written, and returns WRITER_RESERVE_MAX bytes of room. */
static inline char *ss_more(struct ss_row *row, char *dst)
{
    writer_commit(row->writer, dst);
    row->before += (size_t)(dst - row->cell);
    return row->room = row->cell = writer_reserve(row->writer, WRITER_RESERVE_MAX);
}

/* Whether all these fields are known. */
static inline bool ss_has(const struct ss_row *row, uint64_t fields)
{
    return !(fields & ~row->record->has);
}

/* A host's name, or its address without brackets. */
char *ss_put_host(char *dst, const struct ss_row *row, const struct address *address);
const char *ss_sctp_state(uint32_t state);

/*
 * Each writes one column. Where the last two begin, SS_ROOM bytes are left: lists in them get more
 * with ss_more(), element by element.
 */
enum { SS_ROOM = 4096 };
char *ss_put_netid(char *dst, const struct ss_row *row);
char *ss_put_state(char *dst, const struct ss_row *row);
char *ss_put_local(char *dst, const struct ss_row *row);
char *ss_put_local_port(char *dst, const struct ss_row *row);
char *ss_put_peer(char *dst, const struct ss_row *row);
char *ss_put_peer_port(char *dst, const struct ss_row *row);
char *ss_put_process(char *dst, struct ss_row *row);
char *ss_put_details(char *dst, struct ss_row *row);

#endif
