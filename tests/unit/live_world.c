/* SPDX-License-Identifier: MIT */
#include "live_world.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>

#include "fastnet/kernel_info.h"
#include "fastnet/row_tracker.h"
#include "fastnet/socket_tracker.h"

struct world world;
struct kind world_kind;

static struct rates rates; /* the fields of that kind */

/* --- Rows of the kernel ----------------------------------------------------------------------- */

static struct record record_of(const struct made *made)
{
    static struct kernel_tcp_info info;
    struct record record = {.kind = &world_kind,
                            .has = SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_COOKIE |
                                   SOCKET_INTERFACE | SOCKET_INODE | SOCKET_TCP_INFO,
                            .identity = made->identity};
    struct socket_record *sock = &record.socket;

    info.last_data_sent = info.last_data_recv = made->idle;
    sock->info = (struct text){(const char *)&info, sizeof info};
    sock->family = AF_INET;
    sock->protocol = IPPROTO_TCP;
    sock->state = made->state;
    sock->timer = made->state == TCP_TIME_WAIT ? TIMER_TIME_WAIT : TIMER_OFF;
    sock->local = (struct endpoint){ip("192.0.2.1"), made->port};
    sock->remote = (struct endpoint){ip("192.0.2.2"), 443};
    sock->inode = made->inode;
    if (made->congestion) {
        record.has |= SOCKET_CONGESTION;
        sock->congestion = (struct text){made->congestion, strlen(made->congestion)};
    }
    if (made->uncounted)
        return record;
    record.has |= SOCKET_BYTES;
    sock->bytes_sent = made->sent;
    sock->bytes_received = made->received;
    return record;
}

static int dump(const struct query *query, record_fn fn, void *arg)
{
    int error = 0;

    assert_ptr_equal(query->table, &world.table);
    for (size_t i = 0; i < world.count && !error; i++) {
        const struct made *made = &world.rows[world.shuffled ? world.count - 1 - i : i];
        const struct record record = record_of(made);
        if (!made->gone && !made->unlisted && made->netns == world.current)
            error = fn(&record, arg);
    }
    return error;
}

const struct backend world_backend = {.name = "world",
                                      .source = BACKEND_NETLINK,
                                      .provides = PROVIDES({&world.table, UINT64_MAX}),
                                      .dump = dump};

/* --- Single rows ------------------------------------------------------------------------------ */

/* What a row is found by. */
struct made_id {
    uint16_t port;
    bool uncounted, unaskable, end_unreported;
    uint32_t inode;
};

struct made_watch {
    size_t netns;
};

static struct made_id made_id_of(const struct row_id *id)
{
    struct made_id made;

    memcpy(&made, id->bytes, sizeof made);
    return made;
}

/* Most are asked for in the order of the one before. */
static struct made *find(uint64_t identity, size_t netns)
{
    static size_t last;

    for (size_t i = 0; i < world.count; i++) {
        struct made *made = &world.rows[(last + i) % world.count];
        if (made->identity != identity || made->netns != netns)
            continue;
        last = (size_t)(made - world.rows);
        return made;
    }
    return NULL;
}

static void *watch_create(unsigned kinds, const struct netlink_peer *peer, int *error)
{
    struct made_watch *watch = world.refused[world.current] ? NULL : calloc(1, sizeof *watch);

    assert_ptr_equal(peer, &world.peer.netlink);
    assert_int_equal(kinds, WORLD_KINDS);
    world.attempts++;
    *error = world.refused[world.current];
    if (!watch)
        return NULL;
    watch->netns = world.current;
    world.watches++;
    return watch;
}

static void watch_destroy(void *watch)
{
    world.watches -= watch != NULL;
    free(watch);
}

static int watch_descriptor(const void *of)
{
    const struct made_watch *watch = of;

    return world.no_ends ? -1 : (int)watch->netns;
}

static void watch_take_id(struct row_id *id, const struct record *record)
{
    const struct made *made = find(record->identity, world.current);
    struct made_id known = made_id_of(id);

    known.port = record->socket.local.port;
    known.uncounted = !(record->has & SOCKET_BYTES);
    if (record->socket.inode)
        known.inode = (uint32_t)record->socket.inode;
    if (made) {
        known.uncounted = made->uncounted;
        known.unaskable = made->unaskable;
        known.end_unreported = made->end_unreported;
    }
    memcpy(id->bytes, &known, sizeof known);
    id->state = record->socket.state;
    id->identity = record->identity;
}

static void watch_fill_record(const struct row_id *id, struct record *record)
{
    const struct made_id known = made_id_of(id);

    record->socket.inode = known.inode;
    record->has |= SOCKET_INODE;
    if (record->has & SOCKET_STATE)
        return;
    record->has |= SOCKET_STATE | SOCKET_ADDRESSES | (known.uncounted ? 0 : SOCKET_BYTES);
    record->identity = id->identity;
    record->socket.state = id->state;
    record->socket.bytes_sent = record->socket.bytes_received = UINT64_MAX;
    record->socket.local = (struct endpoint){ip("192.0.2.1"), known.port};
    record->socket.remote = (struct endpoint){ip("192.0.2.2"), 443};
}

static bool watch_is_over(const struct record *record)
{
    return record->socket.timer == TIMER_TIME_WAIT;
}

static bool watch_asks(const struct row_id *id)
{
    return !made_id_of(id).unaskable;
}

static bool watch_tells(const void *watch, const struct row_id *id)
{
    assert_non_null(watch);
    return !world.no_ends && !made_id_of(id).end_unreported;
}

static void say(char text[WORLD_TEXT], const char *separator, const char *word)
{
    const size_t length = strlen(text);

    assert_in_range(length + strlen(word) + 3, 0, WORLD_TEXT);
    snprintf(text + length, WORLD_TEXT - length, "%s%s", length ? separator : "", word);
}

static int watch_ask(void *of, const struct row_id ids[], size_t count, uint64_t needs,
                     record_fn fn, void *arg, struct report *report)
{
    const struct made_watch *watch = of;
    char port[8];
    int error = world.ask_error;

    assert_non_null(report);
    world.asks++;
    world.asked_needs = needs;
    world.all_asked += count;
    world.most_asked = count > world.most_asked ? count : world.most_asked;
    if (world.stray && !error) {
        const struct record record = record_of(
            &(struct made){.identity = world.stray, .port = world.stray, .state = TCP_ESTABLISHED});
        error = fn(&record, arg);
    }
    for (size_t i = 0; i < count && !error; i++) {
        const struct made *made = find(ids[i].identity, watch->netns);
        snprintf(port, sizeof port, "%u", made_id_of(&ids[i]).port);
        if (strlen(world.asked) < 1000)
            say(world.asked, " ", port);
        if (!made || made->gone)
            continue;
        const struct record record = record_of(made);
        error = fn(&record, arg);
    }
    return error;
}

static int watch_note(void *watch, const struct record *row)
{
    assert_non_null(watch);
    assert_true(row->has & SOCKET_STATE);
    world.noted++;
    return world.note_error;
}

static void watch_forget(void *watch)
{
    assert_non_null(watch);
    world.forgotten++;
}

static int watch_ended(void *of, struct connects *connects, record_fn fn, void *arg,
                       struct report *report)
{
    const struct made_watch *watch = of;
    size_t left = 0;
    int error = world.end_error;

    assert_non_null(report);
    world.ended_connects = connects;
    for (size_t i = 0; i < world.end_count; i++) {
        struct record record = record_of(&world.ends[i]);
        record.socket.inode = 0;
        if (world.ends[i].netns != watch->netns || error)
            world.ends[left++] = world.ends[i];
        else
            error = fn(&record, arg);
    }
    world.end_count = left;
    if (!error && world.ends_lost[watch->netns])
        error = -ENOBUFS;
    world.ends_lost[watch->netns] = false;
    return error;
}

const struct row_tracker_ops world_tracker = {
    .create = watch_create,
    .destroy = watch_destroy,
    .descriptor = watch_descriptor,
    .take_id = watch_take_id,
    .fill_record = watch_fill_record,
    .is_over = watch_is_over,
    .asks = watch_asks,
    .reports_end = watch_tells,
    .ask = watch_ask,
    .note = watch_note,
    .forget = watch_forget,
    .ended = watch_ended,
};

/* --- The machine ------------------------------------------------------------------------------ */

int world_clock(clockid_t clock, struct timespec *time)
{
    const uint64_t now = clock == CLOCK_REALTIME ? world.day : world.now;

    *time = (struct timespec){.tv_sec = (time_t)(now / CLOCK_SECOND),
                              .tv_nsec = (long)(now % CLOCK_SECOND)};
    return 0;
}

void world_wait(uint64_t milliseconds)
{
    world.now += milliseconds * (CLOCK_SECOND / 1000);
    world.day += milliseconds * (CLOCK_SECOND / 1000);
}

enum { FIRST_ID = 4026531840, FIRST_DESCRIPTOR = 1000 };

static struct netns netns_at(size_t i)
{
    struct netns netns = {.id = (uint64_t)FIRST_ID + i, .fd = FIRST_DESCRIPTOR + (int)i};

    snprintf(netns.name, sizeof netns.name, "netns%zu", i);
    return netns;
}

struct netns world_namespace(void)
{
    return netns_at(world.current);
}

uint64_t world_cookie(void)
{
    return 7000 + world.current;
}

int world_namespaces_find(struct namespaces *namespaces)
{
    namespaces->list = calloc(WORLD_NETNS, sizeof *namespaces->list);
    namespaces->count = 0;
    assert_non_null(namespaces->list);
    for (size_t i = 0; i < WORLD_NETNS; i++)
        if (!world.absent[i])
            namespaces->list[namespaces->count++] = netns_at(i);
    return 0;
}

int world_namespace_enter(int fd)
{
    assert_in_range(fd, FIRST_DESCRIPTOR, FIRST_DESCRIPTOR + WORLD_NETNS - 1);
    if (world.barred[fd - FIRST_DESCRIPTOR])
        return -EPERM;
    world.current = (size_t)(fd - FIRST_DESCRIPTOR);
    return 0;
}

/* --- What happens ----------------------------------------------------------------------------- */

struct made *world_add(uint16_t port)
{
    struct made *made = &world.rows[world.count++];

    assert_in_range(world.count, 1, WORLD_ROWS);
    *made =
        (struct made){.identity = port, .port = port, .state = TCP_ESTABLISHED, .idle = WORLD_IDLE};
    return made;
}

struct made *world_row(uint16_t port)
{
    for (size_t i = 0; i < world.count; i++)
        if (world.rows[i].port == port)
            return &world.rows[i];
    fail_msg("no row %u", port);
    return world.rows;
}

void world_report_end(const struct made *made)
{
    assert_in_range(world.end_count, 0, COUNT(world.ends) - 1);
    world.ends[world.end_count++] = *made;
}

void world_drop(uint16_t port)
{
    world_row(port)->gone = true;
}

void world_end(uint16_t port)
{
    world_drop(port);
    world_report_end(world_row(port));
}

struct predicate world_where(const char *field, enum predicate_operator operation, uint64_t number)
{
    const struct field *of = world_field(field);

    return (struct predicate){
        .operation = operation, .field = of, .constant = {.type = of->type, .number = number}};
}

struct predicate world_is(const char *field, const char *text)
{
    return (struct predicate){
        .operation = PREDICATE_EQUAL, .field = world_field(field), .constant = string_value(text)};
}

/* --- The listing ------------------------------------------------------------------------------ */

const struct field *world_field(const char *name)
{
    const struct field *field = field_find(&world_kind, name, strlen(name));

    assert_non_null(field);
    return field;
}

static const char *cell(const struct record *record, const char *column)
{
    const struct value value =
        field_value(world_field(column), record, engine_context(world.engine));

    return text_of_value(&value);
}

/* The row in the columns of the world. */
static void say_row(char text[WORLD_TEXT], const struct record *record)
{
    char columns[256], *rest = columns;
    const char *separator = ", ";

    snprintf(columns, sizeof columns, "%s", world.columns);
    for (const char *column; (column = strsep(&rest, " ")); separator = " ")
        say(text, separator, cell(record, column));
}

static void take_name_part(struct sink *sink, const struct record *record)
{
    assert_ptr_equal(sink, &world.stream);
    say_row(world.told, record);
}

int world_set_up(void **state)
{
    static struct lasting lasting;

    (void)state;
    memset(&world, 0, sizeof world);
    rates_add(&rates, &kind_socket);
    lasting = *kind_socket.lasting;
    world_kind = rates.kind;
    world_kind.lasting = &lasting;
    world.now = 1000 * (uint64_t)CLOCK_SECOND;
    world.day = 1700000000 * (uint64_t)CLOCK_SECOND;
    for (size_t i = 1; i < WORLD_NETNS; i++)
        world.absent[i] = true;
    world.table =
        (struct table){.name = "rows", .kind = &world_kind, .family = AF_INET, .protocol = 6};
    world.listed.table = &world.table;
    world.rates[SENT] = field_named(&kind_socket, "bytes_sent");
    world.rates[RECEIVED] = field_named(&kind_socket, "bytes_received");
    world.listing = (struct listing){.tables = &world.listed,
                                     .table_count = 1,
                                     .needs.fields = SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_BYTES,
                                     .proc_root = "/nonexistent",
                                     .backend = BACKEND_NETLINK,
                                     .owners = OWNERS_PROC,
                                     .rates = world.rates,
                                     .rate_count = COUNT(world.rates)};
    world.view = (struct live_view){
        .order = {world_field("local_port"), false}, .idle = true, .count = LIVE_LINES};
    world.columns = "local_port";
    peer_init(&world.peer);
    return 0;
}

int world_tear_down(void **state)
{
    (void)state;
    world.allocations = 0;
    live_destroy(world.live);
    engine_destroy(world.engine);
    assert_int_equal(world.watches, 0);
    peer_finish(&world.peer);
    return 0;
}

void world_stream(void)
{
    static const struct sink_ops ops = {.row = take_name_part};

    world.stream = (struct sink){.ops = &ops, .writer = &world.writer};
}

void world_create(void)
{
    int error = -1;

    if (!world.engine)
        world.engine = engine_create(netlink_create(&world.peer.netlink));
    assert_non_null(world.engine);
    world.live = live_create(world.engine, &world.listing, &world_tracker,
                             world.stream.ops ? &world.stream : NULL, WORLD_KINDS, &error);
    assert_non_null(world.live);
    assert_int_equal(error, 0);
}

/* Between two calls columns are computed as in no netns, where rows are of several. */
static void check_netns(void)
{
    assert_true(!world.listing.all_netns || !engine_context(world.engine)->netns.netns);
}

void world_sample(void)
{
    if (!world.live)
        world_create();
    world.report = (struct report){.partial = false};
    live_set_view(world.live, &world.view);
    assert_int_equal(live_sample(world.live, &world.report), 0);
    check_netns();
}

void world_refresh(void)
{
    world.report = (struct report){.partial = false};
    assert_int_equal(live_refresh(world.live, &world.report), 0);
    check_netns();
}

int world_read_ends(void)
{
    world.report = (struct report){.partial = false};
    const int result = live_read_ends(world.live, &world.report);
    check_netns();
    return result;
}

static void take_row(void *arg, const struct record *record)
{
    (void)arg;
    say_row(world.shown, record);
}

static void take_group(void *arg, const struct live_group *group)
{
    char text[256];

    (void)arg;
    snprintf(text, sizeof text, "[%.*s %zu]", (int)group->name.length, group->name.data,
             group->rows);
    say(world.shown, ", ", text);
}

const char *world_show(void)
{
    const struct live_taker taker = {take_group, take_row, NULL};

    world.report = (struct report){.partial = false};
    *world.shown = '\0';
    assert_int_equal(live_show(world.live, &world.view, &taker, &world.summary, &world.report), 0);
    check_netns();
    return world.shown;
}

struct wanted {
    uint16_t port;
    const char *column;
    char text[128];
};

static void take_wanted(void *arg, const struct record *record)
{
    struct wanted *wanted = arg;

    if (record->socket.local.port == wanted->port)
        snprintf(wanted->text, sizeof wanted->text, "%s", cell(record, wanted->column));
}

static void take_no_group(void *arg, const struct live_group *group)
{
    (void)arg;
    assert_true(group->rows > 0);
}

const char *world_cell(uint16_t port, const char *column)
{
    static struct wanted wanted;
    const struct live_taker taker = {take_no_group, take_wanted, &wanted};

    wanted = (struct wanted){.port = port, .column = column};
    world.report = (struct report){.partial = false};
    assert_int_equal(live_show(world.live, &world.view, &taker, &world.summary, &world.report), 0);
    return *wanted.text ? wanted.text : NULL;
}

static int take_one(const struct record *record, void *arg)
{
    (void)arg;
    say_row(world.shown, record);
    return 0;
}

const char *world_show_one(uint64_t identity, size_t netns)
{
    *world.shown = '\0';
    world.report = (struct report){.partial = false};
    const int error =
        live_show_one(world.live, identity, netns, UINT64_MAX, take_one, NULL, &world.report);
    assert_true(!error || error == -ENOENT);
    check_netns();
    return *world.shown ? world.shown : NULL;
}

static const char *taken(char text[WORLD_TEXT])
{
    static char taken[WORLD_TEXT];

    memcpy(taken, text, sizeof taken);
    *text = '\0';
    return taken;
}

const char *world_take_told(void)
{
    return taken(world.told);
}

const char *world_take_asked(void)
{
    return taken(world.asked);
}
