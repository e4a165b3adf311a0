/* SPDX-License-Identifier: MIT */
#include "fastnet/live.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "engine/delta.h"
#include "engine/run.h"
#include "fastnet/array.h"
#include "fastnet/byte_counts.h"
#include "fastnet/clock.h"
#include "fastnet/connects.h"
#include "fastnet/hash.h"
#include "fastnet/hash_table.h"
#include "fastnet/netlink.h"
#include "fastnet/socket_watch.h"

enum {
    ASKED_MAX = 2000, /* active rows that are asked for between two looks: some 5 ms */
    ENDED_MAX = 512,  /* ended rows that are kept to be shown, of each half */
    GROUP_NAME = 64,
};

/* Of a remembered row (remembered.flags). */
enum { IS_WANTED = 1, HAS_ENDED = 2, IS_NEW = 4, IS_ASKED = 8 };

/* What is remembered of a row besides its counters. */
struct live_row {
    uint64_t rank; /* by what rows are sorted */
    uint8_t local[16], remote[16];
    uint16_t local_port, remote_port;
    uint32_t interface;
    uint8_t family, protocol;
    uint32_t inode;
    uint32_t since;   /* when it was seen first; this and the next in ms since the beginning */
    uint32_t active;  /* when it moved last */
    uint32_t elapsed; /* microseconds that it moved in */
    uint32_t group;   /* number of its group */
    /*
     * Changes of its counters: of late, and behind these of those that stood before all changes. As
     * float, because rows are many, and few digits are shown.
     */
    float moved[];
};

/* A network namespace. */
struct live_place {
    struct socket_watch *watch;
    struct netns netns; /* id 0: the only one */
    uint32_t run;       /* the last look that found a row in it */
    int refused;        /* why it has no watch: -errno */
};

struct group {
    uint64_t hash;         /* of the whole name */
    char name[GROUP_NAME]; /* the beginning of it: so many bytes */
    size_t length;
    size_t place; /* in their order */
    struct live_group sums;
};

/* A line of a view. */
enum line_kind { LINE_ROW, LINE_ENDED, LINE_GROUP };
struct line {
    enum line_kind kind;
    size_t index;           /* of the row, of the group, or ENDED_MAX * list + index */
    const uint64_t *packed; /* what was asked for; NULL: it is gone */
};

struct live {
    struct sink sink; /* takes the rows of looks */
    struct engine *engine;
    struct listing *listing;
    struct sink *stream;
    unsigned kinds;
    struct live_view view;    /* what rows are ranked and grouped by */
    const struct field *idle; /* how long a row is idle */
    uint64_t began;           /* CLOCK_MONOTONIC */
    uint32_t looked;          /* when rows were looked at last: ms since then */
    bool first;               /* the first look: what it finds stood before */
    bool said_refused;        /* that some namespaces have no watch */
    struct live_place *places;
    size_t place_count, place_capacity;
    size_t here;                 /* the place that rows are read in */
    struct rows ended[2];        /* rows that have ended: of late, and before */
    uint64_t ended_since;        /* ... when the first of late did: CLOCK_REALTIME */
    struct hash_table groups;    /* of struct group */
    struct socket_origin origin; /* that a record borrows */
    struct writer no_writer;
    uint64_t told;         /* rows of the stream */
    struct ranked *ranked; /* room for the lines of a view */
    size_t ranked_capacity;
    struct line lines[LIVE_LINES]; /* that are handed on */
    size_t line_count;
    struct rows asked; /* ... and what the kernel tells of them */
};

static struct live_row *row_of(const struct live *live, struct remembered *row)
{
    return delta_extra(live->engine->delta, row);
}

static uint32_t now_of(const struct live *live)
{
    return (uint32_t)((clock_nanoseconds(CLOCK_MONOTONIC) - live->began) / (CLOCK_SECOND / 1000));
}

/* --- Rows as they come ------------------------------------------------------------------------ */

static void take_id(struct live_row *to, const struct socket_record *sock)
{
    memcpy(to->local, sock->local.address.bytes, sizeof to->local);
    memcpy(to->remote, sock->remote.address.bytes, sizeof to->remote);
    to->local_port = sock->local.port;
    to->remote_port = sock->remote.port;
    to->interface = sock->interface;
    to->family = sock->family;
    to->protocol = (uint8_t)sock->protocol;
    to->inode = (uint32_t)sock->inode;
}

static struct socket_id id_of(const struct live *live, struct remembered *row)
{
    const struct live_row *of = row_of(live, row);
    struct socket_id id = {.cookie = row->key,
                           .local_port = of->local_port,
                           .remote_port = of->remote_port,
                           .inode = of->inode,
                           .interface = of->interface,
                           .family = of->family,
                           .protocol = of->protocol};

    memcpy(id.local, of->local, sizeof id.local);
    memcpy(id.remote, of->remote, sizeof id.remote);
    return id;
}

/* What moved since the last time. Returns whether anything did. */
static bool take_moves(const struct live *live, struct live_row *to, const struct record *change)
{
    const struct listing *listing = live->listing;
    bool moved = false;

    for (size_t i = 0; i < listing->rate_count && change->before; i++) {
        const struct field *field = listing->rates[i];
        const uint64_t more = field_grows(field, change) ? field_number(field, change) -
                                                               field_number(field, change->before)
                                                         : 0;
        to->moved[i] = (float)more;
        to->moved[listing->rate_count + i] += (float)more;
        moved |= more > 0;
    }
    to->elapsed =
        change->before ? (uint32_t)(change->elapsed / 1000 ? change->elapsed / 1000 : 1) : 0;
    return moved;
}

/* How old it is: older, if it stood before. What else is known of its origin stays. */
static void take_age(struct live *live, const struct remembered *row, const struct live_row *of,
                     uint32_t now, struct record *record)
{
    live->origin = (struct socket_origin){.age_ms = 0};
    if (record->has & SOCKET_ORIGIN)
        memcpy(&live->origin, record->socket.origin.data, sizeof live->origin);
    live->origin.age_ms = now - of->since;
    live->origin.age_at_least = !(row->flags & IS_NEW);
    record->socket.origin = (struct text){(const char *)&live->origin, sizeof live->origin};
    record->has |= SOCKET_ORIGIN | SOCKET_AGE;
}

/* What a row has moved since the beginning, by a counter; NULL: no look has seen it. */
static double total_of(const struct live *live, const struct remembered *row, size_t i)
{
    const struct live_row *of =
        delta_extra(live->engine->delta, (struct remembered *)(uintptr_t)row);

    if (!(row->flags & IS_NEW))
        return of->moved[live->listing->rate_count + i];
    return row->before[i] != UINT64_MAX ? (double)row->before[i] : 0;
}

/* Makes the row's rates its totals: all that moved did so within a second. */
static void take_totals(struct live *live, const struct remembered *row, struct record *record)
{
    const struct listing *listing = live->listing;
    uint64_t before[LIVE_SUMS];

    for (size_t i = 0; i < listing->rate_count; i++) {
        const bool grows = field_grows(listing->rates[i], record);
        const uint64_t now = grows ? field_number(listing->rates[i], record) : 0;
        const uint64_t moved = row ? (uint64_t)total_of(live, row, i) : now;
        before[i] = !grows ? UINT64_MAX : moved < now ? now - moved : 0;
    }
    record->before = delta_recall(live->engine->delta, record, before);
    record->elapsed = CLOCK_SECOND;
}

/* A namespace can be looked at without a watch, of which each takes two descriptors. */
static int find_place(struct live *live, uint64_t netns)
{
    const struct remembered *row = delta_last(live->engine->delta);
    const struct netns *here = live->engine->context.here.netns;
    struct live_place *places = live->places;
    int error;

    live->here = row->place;
    if (live->here < live->place_count &&
        (places[live->here].watch ||
         (places[live->here].refused && places[live->here].run == row->run)))
        return 0;
    places = array_with_room(live->places, &live->place_capacity, live->here + 1, sizeof *places);
    if (!places)
        return -ENOMEM;
    live->places = places;
    for (; live->place_count <= live->here; live->place_count++)
        places[live->place_count] = (struct live_place){.watch = NULL};
    if (here && netns)
        places[live->here].netns = *here;
    error = socket_watch_create(&places[live->here].watch, live->kinds,
                                netlink_peer(live->engine->netlink));
    places[live->here].refused = error;
    return error == -ENOMEM ? error : 0;
}

/* Says so once: a stream prints its report again and again. */
static void report_refused(struct live *live, struct report *report)
{
    for (size_t i = 0; i < live->place_count && !live->said_refused; i++) {
        live->said_refused = !live->places[i].watch && live->places[i].refused;
        if (live->said_refused)
            report_loss(report, "ends of sockets in some network namespaces are not told: %s",
                        strerror(-live->places[i].refused));
    }
}

/* A row that was seen shortly before moves as it did then. */
static void move_as_before(struct live *live, struct record *change, const struct live_row *row)
{
    const struct listing *listing = live->listing;
    uint64_t before[LIVE_SUMS];

    for (size_t i = 0; i < listing->rate_count; i++) {
        before[i] = field_grows(listing->rates[i], change) ? field_number(listing->rates[i], change)
                                                           : UINT64_MAX;
        if (before[i] != UINT64_MAX)
            before[i] -= (uint64_t)row->moved[i] < before[i] ? (uint64_t)row->moved[i] : before[i];
    }
    change->before = row->elapsed ? delta_recall(live->engine->delta, change, before) : NULL;
    change->elapsed = (uint64_t)row->elapsed * 1000;
}

int live_mark(struct live *live, struct record *change, uint64_t netns)
{
    struct remembered *row = delta_last(live->engine->delta);
    const bool is_tcp = change->socket.protocol == IPPROTO_TCP;
    const bool waits = is_tcp && change->socket.timer == TIMER_TIME_WAIT;
    struct live_row *to;
    uint8_t event = 0;

    if (!row)
        return 0;
    if (find_place(live, netns) < 0)
        return -ENOMEM;
    live->places[live->here].run = row->run;
    to = row_of(live, row);
    if (!to->family) {
        take_id(to, &change->socket);
        to->since = now_of(live);
        row->flags = waits ? HAS_ENDED : live->first ? 0 : IS_NEW;
        event = row->flags & IS_NEW ? LIVE_OPENED : 0;
    } else if (delta_waits(live->engine->delta)) {
        move_as_before(live, change, to);
    } else if (take_moves(live, to, change) || row->state != change->socket.state) {
        to->active = now_of(live);
        event = LIVE_CHANGED;
    }
    take_age(live, row, to, now_of(live), change);
    if (change->socket.state == TCP_LISTEN && live->places[live->here].watch &&
        socket_watch_listener(live->places[live->here].watch, change) < 0)
        return -ENOMEM;
    if (change->socket.inode)
        to->inode = (uint32_t)change->socket.inode;
    if (waits && !(row->flags & HAS_ENDED) && event == LIVE_CHANGED)
        event = 0; /* its end is an event of its own, at the latest when a look misses it */
    row->flags &= (uint8_t)~IS_WANTED;
    row->state = change->socket.state;
    if (event && !(row->flags & HAS_ENDED)) {
        change->socket.event = event;
        change->has |= SOCKET_EVENT;
    }
    return 0;
}

/* Names may begin alike: the hash, which is keyed, stands for the rest. */
static bool is_group(const void *element, const void *key)
{
    const struct group *group = element;

    return group->hash == *(const uint64_t *)key;
}

/* The number of the group that the row is in. */
static uint32_t group_of(struct live *live, const struct record *record)
{
    const struct value value = field_value(live->view.group, record, &live->engine->context);
    char text[4096];
    struct text name = {text, 0};
    uint64_t secret[2];

    if (value.type != VALUE_UNKNOWN && value_bound(&value) <= sizeof text)
        name.length = (size_t)(value_write_human(text, &value, (int)live->view.group->unit) - text);
    hash_secret(secret);
    const uint64_t hash = hash_bytes(hash_word(*secret, name.length), text, name.length);
    struct group *group = hash_table_find(&live->groups, hash, is_group, &hash);
    if (!group && (group = hash_table_add(&live->groups, hash, sizeof *group))) {
        size_t length = name.length < GROUP_NAME ? name.length : GROUP_NAME;
        while (length && length < name.length && (text[length] & 0xc0) == 0x80)
            length--; /* not within a character */
        group->hash = hash;
        memcpy(group->name, text, group->length = length);
    }
    if (!group)
        return 0;
    return (uint32_t)(group - (struct group *)live->groups.elements);
}

/* Bytes a second that it sent and received together: the first two rates. */
static uint64_t movement(const struct live *live, const struct record *record)
{
    double moved = 0;

    for (size_t i = 0; i < 2 && i < live->listing->rate_count && record->before; i++)
        if (field_grows(live->listing->rates[i], record))
            moved += (double)(field_number(live->listing->rates[i], record) -
                              field_number(live->listing->rates[i], record->before));
    return (uint64_t)(moved * (double)CLOCK_SECOND /
                      (double)(record->elapsed ? record->elapsed : CLOCK_SECOND));
}

static uint64_t rank_of(const struct live *live, const struct record *record)
{
    const struct sort_key *order = &live->view.order;
    bool exact;

    if (!order->field) {
        const uint64_t moved = movement(live, record);
        return order->descending ? ~moved : moved;
    }
    const struct value value = field_value(order->field, record, &live->engine->context);
    const uint64_t rank = value_rank(&value, &exact);
    return order->descending && value.type != VALUE_UNKNOWN ? ~rank : rank;
}

static void tell(struct live *live, const struct record *record)
{
    const uint64_t most = live->listing->most;

    if (most && live->told == most)
        return;
    live->told++;
    live->stream->ops->row(live->stream, record);
}

/* A row that was marked, and that the filter leaves. */
static void take_row(struct sink *sink, const struct record *record)
{
    struct live *live = (struct live *)sink;
    struct remembered *row = delta_last(live->engine->delta);
    struct live_row *to;

    if (!row || row->key != record->identity) /* it waited for its owner */
        row = delta_find(live->engine->delta, record->identity, live->here);
    if (!row)
        return;
    to = row_of(live, row);
    row->flags |= IS_WANTED;
    if (live->stream && record->has & SOCKET_EVENT)
        tell(live, record);
    if (live->stream)
        return;
    if (!to->active) {
        const struct value idle = field_value(live->idle, record, &live->engine->context);
        to->active = idle.type != VALUE_UNKNOWN && idle.number < LIVE_AGE ? now_of(live) : 1;
    }
    if (live->view.totals) {
        struct record whole;
        memcpy(&whole, record, record->kind->size);
        take_totals(live, row, &whole);
        to->rank = rank_of(live, &whole);
    } else {
        to->rank = rank_of(live, record);
    }
    if (live->view.group)
        to->group = group_of(live, record);
}

/* --- Single sockets --------------------------------------------------------------------------- */

static void look_from(struct live *live, size_t place)
{
    live->here = place;
    live->engine->context.here.netns =
        live->places[place].netns.id ? &live->places[place].netns : &live->engine->own;
}

static void look_from_nowhere(struct live *live)
{
    live->engine->context.here.netns = NULL;
}

/* Asks for sockets, which are completed by what was counted of them. */
struct asked {
    const struct live *live;
    record_fn fn;
    void *arg;
};

static int take_asked(const struct record *record, void *arg)
{
    const struct asked *asked = arg;
    struct record counted;

    memcpy(&counted, record, record->kind->size);
    byte_counts_tell(asked->live->listing->byte_counts, &counted);
    return asked->fn(&counted, asked->arg);
}

static int ask_for(const struct live *live, size_t place, const struct socket_id *const ids[],
                   size_t count, uint64_t needs, record_fn fn, void *arg, struct report *report)
{
    struct asked asked = {live, fn, arg};

    return socket_watch_ask(live->places[place].watch, ids, count, needs, take_asked, &asked,
                            report);
}

/* A socket that was asked for. */
static int take_again(const struct record *record, void *arg)
{
    struct live *live = arg;
    struct delta *delta = live->engine->delta;
    const struct predicate *where = live->listing->where;
    struct record change;
    int error;

    if (!delta_find(delta, record->identity, live->here))
        return 0;
    error = delta_take(delta, record, delta_netns(delta, live->here), &change);
    if (!error)
        error = live_mark(live, &change, delta_netns(delta, live->here));
    if (!error && (!where || predicate_holds(where, &change, &live->engine->context)))
        take_row(&live->sink, &change);
    return error;
}

static uint64_t needs_of(const struct live *live)
{
    return live->listing->needs.fields | predicate_needs(live->listing->where).fields;
}

/* Asks for the rows of one namespace that are marked so, at most so many. */
static int ask_from(struct live *live, size_t place, size_t most, struct report *report)
{
    const size_t count = delta_count(live->engine->delta);
    struct socket_id ids[SOCKETS_AT_ONCE];
    const struct socket_id *these[SOCKETS_AT_ONCE];
    size_t asked = 0, chosen = 0;
    int error = 0;

    look_from(live, place);
    for (size_t i = 0; i < count && asked < most && error >= 0; i++) {
        struct remembered *row = delta_at(live->engine->delta, i);
        if (row->flags & IS_ASKED && row->place == place) {
            row->flags &= (uint8_t)~IS_ASKED;
            ids[chosen] = id_of(live, row);
            these[chosen] = &ids[chosen];
            chosen++;
            asked++;
        }
        if (chosen == SOCKETS_AT_ONCE || (chosen && (i + 1 == count || asked == most))) {
            error = ask_for(live, place, these, chosen, needs_of(live), take_again, live, report);
            chosen = 0;
        }
    }
    look_from_nowhere(live);
    return error;
}

static int ask(struct live *live, size_t most, struct report *report)
{
    int error = 0;

    for (size_t i = 0; i < live->place_count && error >= 0; i++)
        if (live->places[i].watch)
            error = ask_from(live, i, most, report);
    return error < 0 ? error : 0;
}

/* How old what happened to a row may be, to be shown: milliseconds. */
static uint32_t age_of(const struct live *live)
{
    const uint64_t apart = live->view.interval / (CLOCK_SECOND / 1000) + 1;

    return apart < LIVE_AGE ? LIVE_AGE : apart < UINT32_MAX / 2 ? (uint32_t)apart : UINT32_MAX / 2;
}

static bool is_active(const struct live *live, const struct live_row *row)
{
    return row->active > 1 && live->looked - row->active < age_of(live);
}

static bool is_new(const struct live *live, const struct remembered *row, const struct live_row *of)
{
    return row->flags & IS_NEW && live->looked - of->since < age_of(live);
}

int live_refresh(struct live *live, struct report *report)
{
    int error;

    live->engine->context.time = live->listing->time = clock_nanoseconds(CLOCK_REALTIME);
    engine_read_counts(live->listing, report);
    for (size_t i = 0; i < delta_count(live->engine->delta); i++) {
        struct remembered *row = delta_at(live->engine->delta, i);
        if (row->flags & IS_WANTED && !(row->flags & HAS_ENDED) &&
            is_active(live, row_of(live, row)))
            row->flags |= IS_ASKED;
    }
    error = ask(live, ASKED_MAX, report);
    live->looked = now_of(live);
    return error;
}

/* --- What ends -------------------------------------------------------------------------------- */

/* Ended rows are kept in two lists, of which the older one goes when it is too old to be shown. */
static void keep_ended(struct live *live, const struct record *record)
{
    const uint64_t now = clock_nanoseconds(CLOCK_REALTIME);
    const uint64_t age = age_of(live) * (CLOCK_SECOND / 1000);

    if (live->ended[0].count && now - live->ended_since > age) {
        rows_clear(&live->ended[1]);
        live->ended[1] = live->ended[0];
        live->ended[0] = (struct rows){0};
    }
    if (!live->ended[0].count)
        live->ended_since = now;
    if (live->ended[0].count < ENDED_MAX)
        (void)rows_add(&live->ended[0], record);
}

static void tell_end(struct live *live, struct record *record)
{
    record->visit = live->here;
    if (!(record->has & SOCKET_RECEIVED))
        record->socket.received = clock_nanoseconds(CLOCK_REALTIME);
    record->has |= SOCKET_RECEIVED;
    if (live->stream)
        tell(live, record);
    else
        keep_ended(live, record);
}

/* A row that was wanted may have had a state or a rate that its end has not. */
static bool wants_end(const struct live *live, const struct remembered *row, struct record *end)
{
    const struct listing *listing = live->listing;
    const bool by_event = predicate_needs(listing->where).fields & SOCKET_EVENT;

    end->socket.event = LIVE_CLOSED;
    end->has |= SOCKET_EVENT;
    if (row && row->flags & IS_WANTED && !by_event)
        return true;
    if (listing->tables->where) /* it asks for a state that the end has not */
        return false;
    return !listing->where || predicate_holds(listing->where, end, &live->engine->context);
}

static int take_end(const struct record *record, void *arg)
{
    struct live *live = arg;
    struct delta *delta = live->engine->delta;
    struct remembered *row = delta_find(delta, record->identity, live->here);
    struct record end = *record, change;

    if (row && row->flags & HAS_ENDED)
        return 0;
    byte_counts_take(live->listing->byte_counts, &end);
    change = end;
    if (row) {
        end.socket.inode = row_of(live, row)->inode;
        end.has |= SOCKET_INODE;
        if (delta_take(delta, &end, delta_netns(delta, live->here), &change) < 0)
            return -ENOMEM;
        row = delta_last(delta);
        row->flags |= HAS_ENDED;
        if (!(change.has & SOCKET_AGE))
            take_age(live, row, row_of(live, row), now_of(live), &change);
    }
    if (!wants_end(live, row, &change))
        return 0;
    if (live->view.totals)
        take_totals(live, row, &change);
    tell_end(live, &change);
    return 0;
}

static void tell_loss(struct live *live)
{
    struct record lost = {
        .kind = &kind_socket,
        .has = SOCKET_EVENT | SOCKET_RECEIVED,
        .socket = {.event = LIVE_LOST, .received = clock_nanoseconds(CLOCK_REALTIME)}};

    if (live->stream)
        live->stream->ops->row(live->stream, &lost);
}

/*
 * Who connects is noted once the first look is over, which it would delay. Where that is refused,
 * the owners of connections that no look has seen are those of their listeners, or unknown.
 */
static struct connects *note_connects(struct live *live)
{
    struct engine *engine = live->engine;

    if (live->first || live->listing->owners == OWNERS_PROC ||
        (!engine->connects && !(engine->connects = connects_create())))
        return NULL;
    return connects_watch(engine->connects) ? engine->connects : NULL;
}

int live_read_ends(struct live *live, struct report *report)
{
    struct connects *connects = note_connects(live);
    bool lost = false;
    int error = 0;

    for (size_t i = 0; i < live->place_count && error >= 0; i++) {
        if (!live->places[i].watch || socket_watch_descriptor(live->places[i].watch) < 0)
            continue;
        look_from(live, i);
        error = socket_watch_ended(live->places[i].watch, connects, take_end, live, report);
        look_from_nowhere(live);
        lost |= error == -ENOBUFS;
        error = error == -ENOBUFS ? 0 : error;
    }
    if (lost)
        tell_loss(live);
    return error < 0 ? error : lost;
}

/* Of a row of which the kernel no longer tells anything. */
static struct record memory_of(const struct live *live, struct remembered *row)
{
    const struct live_row *of = row_of(live, row);
    struct record record = {.kind = &kind_socket,
                            .identity = row->key,
                            .visit = row->place,
                            .has = SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_COOKIE |
                                   SOCKET_INTERFACE | SOCKET_INODE,
                            .socket = {.family = of->family,
                                       .protocol = of->protocol,
                                       .state = row->state,
                                       .inode = of->inode,
                                       .interface = of->interface,
                                       .local = {{.family = of->family}, of->local_port},
                                       .remote = {{.family = of->family}, of->remote_port}}};

    memcpy(record.socket.local.address.bytes, of->local, sizeof of->local);
    memcpy(record.socket.remote.address.bytes, of->remote, sizeof of->remote);
    if (of->family == AF_UNIX)
        record.has &= ~SOCKET_ADDRESSES;
    return record;
}

static bool keeps(struct remembered *row, void *arg)
{
    return row->run == *(const uint32_t *)arg;
}

/*
 * What the look did not see may have been missed by the dump, or its end was lost: then it is asked
 * for. What is still not there has ended.
 */
static int drop_missing(struct live *live, struct report *report)
{
    struct delta *delta = live->engine->delta;
    uint32_t run = delta_run(delta);
    int error;

    for (size_t i = 0; i < delta_count(delta); i++) {
        struct remembered *row = delta_at(delta, i);
        if (row->run != run && !(row->flags & HAS_ENDED))
            row->flags |= IS_ASKED;
    }
    error = ask(live, SIZE_MAX, report);
    for (size_t i = 0; i < delta_count(delta); i++) {
        struct remembered *row = delta_at(delta, i);
        if (row->run == run || row->flags & HAS_ENDED)
            continue;
        struct record gone = memory_of(live, row);
        byte_counts_take(live->listing->byte_counts, &gone);
        take_age(live, row, row_of(live, row), now_of(live), &gone);
        look_from(live, row->place);
        if (wants_end(live, row, &gone))
            tell_end(live, &gone);
        look_from_nowhere(live);
    }
    delta_forget(delta, keeps, &run);
    /* a namespace cannot end as long as its sockets are open here */
    for (size_t i = 0; i < live->place_count && live->listing->all_netns; i++)
        if (live->places[i].run != run) {
            socket_watch_destroy(live->places[i].watch);
            live->places[i].watch = NULL;
        }
    return error;
}

int live_look(struct live *live, struct report *report)
{
    int error, lost;

    hash_table_finish(&live->groups);
    for (size_t i = 0; i < live->place_count; i++)
        if (live->places[i].watch)
            socket_watch_forget(live->places[i].watch);
    live->listing->time = clock_nanoseconds(CLOCK_REALTIME);
    error = engine_run(live->engine, live->listing, &live->sink, report);
    report_refused(live, report);
    lost = error < 0 ? error : live_read_ends(live, report);
    error = lost < 0 ? lost : drop_missing(live, report);
    live->first = false;
    live->looked = now_of(live);
    if (live->stream) /* a screen has its first frame before */
        (void)note_connects(live);
    return error;
}

size_t live_descriptors(const struct live *live, int *descriptors, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < live->place_count && count < most; i++)
        if (live->places[i].watch && socket_watch_descriptor(live->places[i].watch) >= 0)
            descriptors[count++] = socket_watch_descriptor(live->places[i].watch);
    return count;
}

uint64_t live_told(const struct live *live)
{
    return live->told;
}

/* --- What is shown ---------------------------------------------------------------------------- */

static double rate_of(const struct live_row *row, size_t i)
{
    enum { SECOND = 1000000 };

    return row->elapsed ? (double)row->moved[i] * SECOND / row->elapsed : 0;
}

static void add_to_group(struct live *live, const struct remembered *row, const struct live_row *of)
{
    struct group *group;

    if (of->group >= live->groups.count)
        return;
    group = hash_table_at(&live->groups, of->group);
    group->sums.rows++;
    for (size_t i = 0; i < live->listing->rate_count; i++) {
        group->sums.rates[i] += live->view.totals ? total_of(live, row, i) : rate_of(of, i);
        group->sums.totals[i] += row->before[i] != UINT64_MAX ? (double)row->before[i] : 0;
    }
}

static void add_ranked(struct live *live, size_t *count, uint64_t rank, size_t item)
{
    struct ranked *ranked =
        array_with_room(live->ranked, &live->ranked_capacity, *count + 1, sizeof *ranked);

    if (!ranked)
        return;
    live->ranked = ranked;
    ranked[(*count)++] = (struct ranked){rank, (const void *)(uintptr_t)item};
}

/* Items are numbers, of which the lowest bit says that the row has ended. */
static size_t rank_rows(struct live *live, const struct live_view *view,
                        struct live_summary *summary)
{
    size_t count = 0;

    for (size_t i = 0; i < live->groups.count; i++)
        ((struct group *)hash_table_at(&live->groups, i))->sums = (struct live_group){.rows = 0};
    for (size_t i = 0; i < delta_count(live->engine->delta); i++) {
        struct remembered *row = delta_at(live->engine->delta, i);
        const struct live_row *of = row_of(live, row);
        if (!(row->flags & IS_WANTED) || (row->flags & HAS_ENDED && row->state != TCP_TIME_WAIT))
            continue;
        summary->rows++;
        summary->states[row->state < LIVE_STATES ? row->state : 0]++;
        for (size_t j = 0; j < live->listing->rate_count; j++)
            summary->rates[j] += rate_of(of, j);
        if (!view->idle && !is_active(live, of) && !is_new(live, row, of))
            continue;
        if (live->view.group)
            add_to_group(live, row, of);
        add_ranked(live, &count, of->rank, i << 1);
    }
    return count;
}

static size_t rank_ended(struct live *live, size_t count)
{
    const uint64_t age = age_of(live) * (CLOCK_SECOND / 1000);
    struct kept_row kept;

    for (size_t i = 0; i < COUNT(live->ended); i++)
        for (size_t j = 0; j < live->ended[i].count; j++) {
            const struct record *record = rows_at(&live->ended[i], j, &kept);
            if (record->socket.received + age > live->listing->time)
                add_ranked(live, &count, rank_of(live, record), (i * ENDED_MAX + j) << 1 | 1);
        }
    return count;
}

/* The most of what rows are sorted by comes first, or else the most rows. */
static double weight_of(const struct live *live, const struct group *group)
{
    const struct field *by = live->view.order.field;

    for (size_t i = 0; by && i < live->listing->rate_count; i++)
        if (by == live->listing->rates[i])
            return group->sums.totals[i];
        else if (by->rate && by->of->name == live->listing->rates[i]->name)
            return group->sums.rates[i];
    return by ? (double)group->sums.rows : group->sums.rates[0] + group->sums.rates[1];
}

/* Puts the groups, and then the rows of each, in order. */
static int order_groups(struct live *live, size_t count)
{
    struct ranked *order = calloc(live->groups.count + 1, sizeof *order);
    int error = order ? 0 : -ENOMEM;

    for (size_t i = 0; i < live->groups.count && !error; i++) {
        const double weight = weight_of(live, hash_table_at(&live->groups, i));
        order[i] = (struct ranked){~(uint64_t)(weight * 1000), hash_table_at(&live->groups, i)};
    }
    if (!error)
        error = sort_ranked(order, live->groups.count);
    for (size_t i = 0; i < live->groups.count && !error; i++)
        ((struct group *)(uintptr_t)order[i].item)->place = i;
    free(order);
    for (size_t i = 0; i < count && !error; i++) {
        struct remembered *row =
            delta_at(live->engine->delta, (uintptr_t)live->ranked[i].item >> 1);
        const size_t group = row_of(live, row)->group;
        live->ranked[i].rank = group < live->groups.count
                                   ? ((struct group *)hash_table_at(&live->groups, group))->place
                                   : SIZE_MAX;
    }
    return error ? error : sort_ranked(live->ranked, count);
}

static void add_line(struct live *live, const struct live_view *view, size_t *at,
                     enum line_kind kind, size_t index)
{
    if (*at >= view->first && *at - view->first < view->count && live->line_count < LIVE_LINES)
        live->lines[live->line_count++] = (struct line){kind, index, NULL};
    ++*at;
}

/* Chooses the lines of the view; returns how many there are in all. */
static size_t choose_lines(struct live *live, const struct live_view *view, size_t count)
{
    size_t at = 0, last = SIZE_MAX;

    live->line_count = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t item = (uintptr_t)live->ranked[i].item;
        struct remembered *row = item & 1 ? NULL : delta_at(live->engine->delta, item >> 1);
        const size_t group = row && live->view.group ? row_of(live, row)->group : SIZE_MAX;
        if (group != last)
            add_line(live, view, &at, LINE_GROUP, last = group);
        if (!view->folded || !live->view.group)
            add_line(live, view, &at, row ? LINE_ROW : LINE_ENDED, item >> 1);
    }
    return at;
}

struct asking {
    struct live *live;
    size_t place;
};

static int take_line(const struct record *record, void *arg)
{
    const struct asking *asking = arg;
    struct live *live = asking->live;

    for (size_t i = 0; i < live->line_count; i++) {
        struct line *line = &live->lines[i];
        if (line->kind != LINE_ROW || line->packed)
            continue;
        const struct remembered *row = delta_at(live->engine->delta, line->index);
        if (row->key != record->identity || row->place != asking->place)
            continue;
        if (rows_add(&live->asked, record) < 0)
            return -ENOMEM;
        line->packed = live->asked.packed[live->asked.count - 1];
        break;
    }
    return 0;
}

/* Asks for all that is shown of these rows. */
static int ask_for_lines(struct live *live, struct report *report)
{
    int error = 0;

    rows_clear(&live->asked);
    for (size_t place = 0; place < live->place_count && error >= 0; place++) {
        struct asking asking = {live, place};
        struct socket_id ids[LIVE_LINES];
        const struct socket_id *these[LIVE_LINES];
        size_t count = 0;
        for (size_t i = 0; i < live->line_count; i++) {
            struct remembered *row = delta_at(live->engine->delta, live->lines[i].index);
            if (live->lines[i].kind != LINE_ROW || row->place != place)
                continue;
            ids[count] = id_of(live, row);
            these[count] = &ids[count];
            count++;
        }
        if (count && live->places[place].watch)
            error = ask_for(live, place, these, count, needs_of(live), take_line, &asking, report);
    }
    return error < 0 ? error : 0;
}

/* The numbers are those of the look, whose rates are shown, too. */
static void complete(struct live *live, struct record *record, struct remembered *row)
{
    const struct listing *listing = live->listing;
    const struct live_row *of = row_of(live, row);
    uint64_t before[LIVE_SUMS];

    for (size_t i = 0; i < listing->rate_count; i++) {
        before[i] = row->before[i];
        if (row->before[i] == UINT64_MAX || !field_grows(listing->rates[i], record))
            continue;
        field_set_number(listing->rates[i], record, row->before[i]);
        before[i] -= (uint64_t)of->moved[i] < before[i] ? (uint64_t)of->moved[i] : before[i];
    }
    record->elapsed = (uint64_t)of->elapsed * 1000;
    record->before = of->elapsed ? delta_recall(live->engine->delta, record, before) : NULL;
    if (is_new(live, row, of)) {
        record->socket.event = LIVE_OPENED;
        record->has |= SOCKET_EVENT;
    }
}

static void show_line(struct live *live, const struct line *line, const struct live_taker *taker)
{
    struct kept_row kept;
    struct record record;

    if (line->kind == LINE_GROUP) {
        struct group *group =
            line->index < live->groups.count ? hash_table_at(&live->groups, line->index) : NULL;
        if (group) {
            group->sums.name = (struct text){group->name, group->length};
            taker->group(taker->arg, &group->sums);
        }
        return;
    }
    if (line->kind == LINE_ENDED) {
        const struct record *ended =
            rows_at(&live->ended[line->index / ENDED_MAX], line->index % ENDED_MAX, &kept);
        look_from(live, (size_t)ended->visit);
        taker->row(taker->arg, ended);
        return;
    }
    struct remembered *row = delta_at(live->engine->delta, line->index);
    record = memory_of(live, row);
    byte_counts_tell(live->listing->byte_counts, &record);
    if (line->packed)
        memcpy(&record, rows_unpack(&live->asked, line->packed, &kept), record.kind->size);
    record.visit = row->place;
    complete(live, &record, row);
    if (live->view.totals)
        take_totals(live, row, &record);
    take_age(live, row, row_of(live, row), live->looked, &record);
    look_from(live, row->place);
    taker->row(taker->arg, &record);
}

int live_show(struct live *live, const struct live_view *view, const struct live_taker *taker,
              struct live_summary *summary, struct report *report)
{
    size_t count;
    int error;

    *summary = (struct live_summary){.rows = 0};
    count = rank_rows(live, view, summary);
    if (!live->view.group)
        count = rank_ended(live, count);
    error = sort_ranked(live->ranked, count);
    if (!error && live->view.group)
        error = order_groups(live, count);
    summary->listed = choose_lines(live, view, count);
    if (!error)
        error = ask_for_lines(live, report);
    for (size_t i = 0; i < live->line_count && !error; i++)
        show_line(live, &live->lines[i], taker);
    look_from_nowhere(live);
    return error;
}

int live_show_one(struct live *live, uint64_t cookie, size_t place, uint64_t needs, record_fn fn,
                  void *arg, struct report *report)
{
    struct remembered *row =
        place < live->place_count ? delta_find(live->engine->delta, cookie, place) : NULL;
    int error;

    if (!row || !live->places[place].watch)
        return -ENOENT;
    const struct socket_id id = id_of(live, row), *only = &id;
    const struct record known = memory_of(live, row);
    look_from(live, place);
    if (!socket_watch_asks(id.protocol))
        error = fn(&known, arg);
    else
        error = ask_for(live, place, &only, 1, needs, fn, arg, report);
    look_from_nowhere(live);
    return error;
}

void live_each(const struct live *live, live_rates_fn fn, void *arg)
{
    for (size_t i = 0; i < delta_count(live->engine->delta); i++) {
        struct remembered *row = delta_at(live->engine->delta, i);
        const struct live_row *of = row_of(live, row);
        struct live_rates moves = {.local = {{.family = of->family}, of->local_port},
                                   .netns = live->places[row->place].netns.id,
                                   .interface = of->interface};
        if (row->flags & HAS_ENDED || !of->elapsed)
            continue;
        memcpy(moves.local.address.bytes, of->local, sizeof of->local);
        for (size_t j = 0; j < live->listing->rate_count; j++)
            moves.rates[j] = rate_of(of, j);
        fn(arg, &moves);
    }
}

/* --- Its life --------------------------------------------------------------------------------- */

struct live *live_create(struct engine *engine, struct listing *listing, struct sink *stream,
                         unsigned kinds, int *error)
{
    static const struct sink_ops ops = {.row = take_row};
    struct live *live = calloc(1, sizeof *live);

    *error = -ENOMEM;
    if (!live)
        return NULL;
    *live = (struct live){.engine = engine,
                          .listing = listing,
                          .stream = stream,
                          .kinds = kinds,
                          .began = clock_nanoseconds(CLOCK_MONOTONIC),
                          .idle = field_named(&kind_socket, "idle"),
                          .first = true};
    live->sink = (struct sink){&ops, stream ? stream->writer : &live->no_writer, &engine->context};
    listing->live = live;
    listing->delta = true;
    delta_destroy(engine->delta);
    engine->delta =
        delta_create_for(listing->rates, listing->rate_count,
                         sizeof(struct live_row) + 2 * listing->rate_count * sizeof(float));
    /* from now on, so that no end is missed; of all namespaces, when a row of one comes */
    if (engine->delta && !listing->all_netns) {
        live->places = calloc(1, sizeof *live->places);
        live->place_count = live->place_capacity = live->places != NULL;
        if (live->places && delta_place(engine->delta, 0) == 0)
            *error =
                socket_watch_create(&live->places->watch, kinds, netlink_peer(engine->netlink));
    } else if (engine->delta) {
        *error = 0;
    }
    if (!*error)
        return live;
    live_destroy(live);
    return NULL;
}

void live_destroy(struct live *live)
{
    if (!live)
        return;
    for (size_t i = 0; i < live->place_count; i++)
        socket_watch_destroy(live->places[i].watch);
    for (size_t i = 0; i < COUNT(live->ended); i++)
        rows_clear(&live->ended[i]);
    rows_clear(&live->asked);
    hash_table_finish(&live->groups);
    delta_destroy(live->engine->delta);
    live->engine->delta = NULL;
    live->listing->live = NULL;
    free(live->places);
    free(live->ranked);
    free(live);
}

void live_choose(struct live *live, const struct live_view *view)
{
    for (size_t i = 0; i < COUNT(live->ended) && live->view.totals != view->totals; i++)
        rows_clear(&live->ended[i]); /* they have the others */
    live->view = *view;
    delta_wait(live->engine->delta, view->interval / 2);
}
