/* SPDX-License-Identifier: MIT */
/*
 * Events of connections as BPF programs write them, and the listing before them. The first byte is
 * the number of events. Each has 2 bytes with its length, the lower first, and the content, which
 * is cut where the input ends; then come datagrams (datagrams.h).
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bytes.h"
#include "datagrams.h"
#include "fastnet/engine.h"
#include "fastnet/query.h"
#include "fastnet/report.h"
#include "fastnet/sink.h"
#include "fuzz.h"
#include "probes/connects_decode.h"
#include "written.h"

/* --- Events, in place of those of connects.c: the Makefile allows two definitions --------------
 */

struct connects {
    struct bytes input;
    uint8_t left; /* number of events */
};

int connects_begin(struct connects *connects, unsigned what, uint64_t netns,
                   struct bpf_refusal *refusal)
{
    (void)connects, (void)netns, (void)refusal;
    require(what == (NOTE_CONNECTS | NOTE_EVENTS));
    return 0;
}

bool connects_note_sends(const struct connects *connects)
{
    (void)connects;
    return false;
}

bool connects_take(struct connects *connects, uint64_t cookie, struct connect *made)
{
    (void)connects, (void)cookie, (void)made;
    return false;
}

int connects_descriptor(const struct connects *connects)
{
    (void)connects;
    return -1;
}

uint64_t connects_lost(const struct connects *connects)
{
    return connects->left; /* a number that changes */
}

static void check_note(const struct connect_happened *happened)
{
    require(happened->event >= CONNECT_MADE && happened->event <= CONNECT_END);
    require_address(&happened->note.remote, happened->note.remote.family);
    require_address(&happened->note.local, happened->note.remote.family);
    require(strlen(happened->note.name) < sizeof happened->note.name);
    require(strlen(happened->note.end.reset_reason) < sizeof happened->note.end.reset_reason);
}

bool connects_next(struct connects *connects, struct connect_happened *happened)
{
    static struct drop_name name = {2, "NO_SOCKET"};
    static const struct drop_names names = {.list = &name, .count = 1};

    while (connects->left) {
        const uint16_t length = bytes_u16(&connects->input) % 512;
        char *event = malloc(length ? length : 1); /* exactly so large, for the sanitizers */
        require(event != NULL);
        connects->left--;
        bytes_take(&connects->input, event, length);
        const bool is_event = connect_event_decode((struct text){event, length}, &names, happened);
        free(event);
        require(!is_event || length == sizeof(struct connect_note));
        if (!is_event)
            continue;
        check_note(happened);
        return true;
    }
    return false;
}

/* --- Rows ------------------------------------------------------------------------------------- */

static int check_record(const struct record *record, void *arg)
{
    const struct socket_record *sock = &record->socket;

    require(record->kind == &kind_socket && sock->protocol == IPPROTO_TCP);
    require(!(record->has & ~backend_fields(&backend_socket_trace, &table_socket_trace)));
    require(sock->event >= CONNECT_MADE && sock->event <= CONNECT_END && sock->remote.port);
    require_address(&sock->local.address, sock->family);
    require_address(&sock->remote.address, sock->family);
    written_row(arg, record);
    return 0;
}

/* Passes over the events: the datagrams come after them. */
static struct datagrams datagrams_after(struct connects connects)
{
    struct connect_happened happened;

    while (connects_next(&connects, &happened))
        ;
    return (struct datagrams){connects.input.at, connects.input.left, 0, false};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct context no_names;
    static const struct field *columns[LISTING_COLUMNS_MAX];
    struct connects connects = {.input = {data, size}};
    struct report report = {.partial = false};
    struct written written;

    connects.left = bytes_u8(&connects.input);
    struct datagrams datagrams = datagrams_after(connects);
    const struct netlink_peer peer = datagrams_peer(&datagrams);
    const struct query_events events = {.stop = eventfd(1, EFD_CLOEXEC), .kinds = 3};
    struct query query = {.table = &table_socket_trace,
                          .needs = SOCKET_INODE | SOCKET_AGE | SOCKET_UID,
                          .proc_root = "/nonexistent",
                          .report = &report,
                          .connects = &connects,
                          .events = &events};
    const struct sink_options options = {.writer = written_writer(&written),
                                         .context = &no_names,
                                         .columns = columns,
                                         .count = kind_socket.field_count};

    for (size_t i = 0; i < kind_socket.field_count; i++)
        columns[i] = &kind_socket.fields[i];
    require(kind_socket.field_count <= LISTING_COLUMNS_MAX);
    query.netlink = netlink_create(&peer);
    require(query.netlink != NULL && events.stop >= 0);
    written_begin(&written, sink_ndjson_create(&options), "", true);
    require(backend_socket_trace.dump(&query, check_record, &written) <= 0);
    written_end(&written);
    netlink_destroy(query.netlink);
    close(events.stop);
    return 0;
}
