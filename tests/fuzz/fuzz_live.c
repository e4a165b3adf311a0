/* SPDX-License-Identifier: MIT */
/*
 * Sockets that the live store samples again and again, while they begin, change and end: the rows
 * on the screen are those of the sockets. An input is a list of steps; the kernel is made here.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bytes.h"
#include "fastnet/array.h"
#include "fastnet/byte_counts.h"
#include "fastnet/clock.h"
#include "fastnet/kernel_info.h"
#include "fastnet/live.h"
#include "fastnet/netlink.h"
#include "fastnet/report.h"
#include "fastnet/sink.h"
#include "fastnet/socket_tracker.h"
#include "fastnet/writer.h"
#include "fuzz.h"
#include "tree.h"

enum {
    SOCKETS = 16,
    PROCESSES = 4,
    FIRST_PID = 100,
    FIRST_INODE = 5000,
    STEPS_MAX = 40,
    ANSWER_MAX = 32768
};

/* A socket of the kernel. cookie 0: it is not there. */
struct made {
    uint64_t cookie, sent, received;
    uint16_t port;
    uint8_t state;
    uint8_t owner; /* 1 + the process that holds it; 0: none does */
};

struct world {
    struct made sockets[SOCKETS];
    uint64_t cookies; /* that were given */
    bool owned;       /* there are processes, in a tree */
    _Alignas(8) char answer[ANSWER_MAX];
    size_t length;
};

/* Seconds that have passed for the target, and for nobody else. */
static time_t ahead;

int clock_gettime(clockid_t clock, struct timespec *time)
{
#ifdef SYS_clock_gettime64
    const int result = (int)syscall(SYS_clock_gettime64, clock, time);
#else
    const int result = (int)syscall(SYS_clock_gettime, clock, time);
#endif

    time->tv_sec += clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME ? ahead : 0;
    return result;
}

/* --- Processes -------------------------------------------------------------------------------- */

static void make_processes(void)
{
    for (int i = 0; i < PROCESSES; i++) {
        struct tree_entry entry = {.kind = TREE_FILE, .content = {"process\n", 8}};
        snprintf(entry.path, sizeof entry.path, "%d/comm", FIRST_PID + i);
        require(tree_make(&entry));
        entry.kind = TREE_DIRECTORY;
        snprintf(entry.path, sizeof entry.path, "%d/fd", FIRST_PID + i);
        require(tree_make(&entry));
    }
}

/* Gives a socket to another process, to nobody, or back. */
static void move_socket(struct world *world, struct made *made, uint8_t owner)
{
    const int number = (int)(made - world->sockets);
    char path[512], target[32];

    if (!world->owned)
        return;
    snprintf(path, sizeof path, "%s/%d/fd/%d", tree_root(), FIRST_PID + made->owner - 1, number);
    require(!made->owner || unlink(path) == 0);
    made->owner = owner % (PROCESSES + 1);
    snprintf(path, sizeof path, "%s/%d/fd/%d", tree_root(), FIRST_PID + made->owner - 1, number);
    snprintf(target, sizeof target, "socket:[%d]", FIRST_INODE + number);
    require(!made->owner || symlink(target, path) == 0);
}

/* --- The kernel ------------------------------------------------------------------------------- */

static void *put(struct world *world, size_t size)
{
    void *at = world->answer + world->length;

    require(world->length + NLMSG_ALIGN(size) <= ANSWER_MAX);
    memset(at, 0, NLMSG_ALIGN(size));
    world->length += NLMSG_ALIGN(size);
    return at;
}

static void put_socket(struct world *world, const struct made *made, uint32_t sequence,
                       uint16_t flags)
{
    const size_t info = sizeof(struct kernel_tcp_info);
    struct nlmsghdr *header = put(world, sizeof *header);
    struct inet_diag_msg *diag = put(world, sizeof *diag);
    struct rtattr *attribute = put(world, sizeof *attribute);
    const struct kernel_tcp_info told = {.bytes_sent = made->sent,
                                         .bytes_received = made->received};

    *header = (struct nlmsghdr){
        .nlmsg_len = (uint32_t)(sizeof *header + sizeof *diag + sizeof *attribute + info),
        .nlmsg_type = SOCK_DIAG_BY_FAMILY,
        .nlmsg_flags = flags,
        .nlmsg_seq = sequence,
        .nlmsg_pid = 1};
    diag->idiag_family = AF_INET;
    diag->idiag_state = made->state;
    diag->idiag_inode = (uint32_t)(FIRST_INODE + (made - world->sockets));
    diag->idiag_timer = made->state == TCP_TIME_WAIT ? 3 : 0;
    diag->id.idiag_sport = htons(made->port);
    diag->id.idiag_dport = htons(443);
    diag->id.idiag_cookie[0] = (uint32_t)made->cookie;
    diag->id.idiag_cookie[1] = (uint32_t)(made->cookie >> 32);
    *attribute = (struct rtattr){(unsigned short)(sizeof *attribute + info), INET_DIAG_INFO};
    memcpy(put(world, info), &told, info);
}

static void put_status(struct world *world, uint16_t type, uint16_t flags, uint32_t sequence,
                       int error)
{
    struct nlmsghdr *header = put(world, sizeof *header);
    struct nlmsgerr *status = put(world, sizeof *status);

    *header = (struct nlmsghdr){.nlmsg_len = sizeof *header + sizeof *status,
                                .nlmsg_type = type,
                                .nlmsg_flags = flags,
                                .nlmsg_seq = sequence,
                                .nlmsg_pid = 1};
    status->error = error;
}

static const struct made *find(const struct world *world, const struct inet_diag_sockid *id)
{
    const uint64_t cookie = (uint64_t)id->idiag_cookie[1] << 32 | id->idiag_cookie[0];

    for (size_t i = 0; i < SOCKETS && cookie; i++)
        if (world->sockets[i].cookie == cookie)
            return &world->sockets[i];
    return NULL;
}

static int take_request(void *arg, const void *message, size_t size)
{
    struct world *world = arg;
    const struct nlmsghdr *header = message;
    size_t left = size;

    world->length = 0;
    for (; left >= sizeof *header && header->nlmsg_len >= sizeof *header;
         header = (const void *)((const char *)header + NLMSG_ALIGN(header->nlmsg_len))) {
        const struct inet_diag_req_v2 *request = (const void *)(header + 1);
        require(header->nlmsg_len >= sizeof *header + sizeof *request && header->nlmsg_len <= left);
        if (header->nlmsg_flags & NLM_F_DUMP) {
            for (size_t i = 0; i < SOCKETS; i++)
                if (world->sockets[i].cookie && request->sdiag_protocol == IPPROTO_TCP)
                    put_socket(world, &world->sockets[i], header->nlmsg_seq, NLM_F_MULTI);
            put_status(world, NLMSG_DONE, NLM_F_MULTI, header->nlmsg_seq, 0);
        } else if (find(world, &request->id)) {
            put_socket(world, find(world, &request->id), header->nlmsg_seq, 0);
        } else {
            put_status(world, NLMSG_ERROR, 0, header->nlmsg_seq, -ENOENT);
        }
        left -= left < NLMSG_ALIGN(header->nlmsg_len) ? left : NLMSG_ALIGN(header->nlmsg_len);
    }
    return 0;
}

static ssize_t give_answer(void *arg, void *buffer, size_t size, uint32_t *port)
{
    struct world *world = arg;
    const size_t length = world->length;

    require(length <= size);
    *port = 0;
    memcpy(buffer, world->answer, length);
    world->length = 0;
    return length ? (ssize_t)length : -EAGAIN;
}

/* --- What is shown ---------------------------------------------------------------------------- */

struct shown {
    const struct world *world;
    const struct context *context;
    size_t rows, in_groups;
};

static void take_group(void *arg, const struct live_group *group)
{
    struct shown *shown = arg;

    require(group->rows > 0 && group->totals[0] >= 0 && group->rates[0] >= 0);
    shown->in_groups += group->rows;
}

/* Each has a cookie that was given, and a process of the tree or none. */
static void take_row(void *arg, const struct record *record)
{
    struct shown *shown = arg;

    require(record->kind == &kind_socket && record->identity);
    require(record->identity <= shown->world->cookies);
    require(record->socket.remote.port == 443);
    const struct value pid = field_value(field_named(&kind_socket, "pid"), record, shown->context);
    require(pid.type == VALUE_UNKNOWN ||
            (pid.number >= FIRST_PID && pid.number < FIRST_PID + PROCESSES));
    shown->rows++;
}

static void count_rates(void *arg, const struct live_rates *of)
{
    const struct socket_id id = socket_id_of(&of->id);

    require(id.local_port && !id.interface && of->rates[0] >= 0 && of->rates[1] >= 0);
    ++*(size_t *)arg;
}

static int take_one(const struct record *record, void *arg)
{
    require(record->identity == *(const uint64_t *)arg);
    return 0;
}

static void show(struct live *live, const struct engine *engine, const struct world *world,
                 struct bytes *input, const struct live_view *chosen)
{
    struct shown shown = {.world = world, .context = engine_context(engine)};
    const struct live_taker taker = {take_group, take_row, &shown};
    struct live_view view = *chosen;
    struct live_summary summary;
    struct report report = {.partial = false};
    size_t each = 0;

    view.first = bytes_u8(input) % 8;
    view.count = bytes_u8(input);
    if (live_show(live, &view, &taker, &summary, &report) < 0)
        return;
    require(shown.rows <= view.count && shown.rows <= LIVE_LINES);
    require(summary.rows <= SOCKETS && summary.rates[0] >= 0);
    live_each(live, count_rates, &each);
    require(each <= SOCKETS);
    for (size_t i = 0; i < SOCKETS; i++) {
        uint64_t cookie = world->sockets[i].cookie;
        (void)live_show_one(live, cookie, 0, UINT64_MAX, take_one, &cookie, &report);
    }
}

/* What people choose. */
static struct live_view view_of(struct bytes *input, bool totals, bool owned)
{
    static const char *const orders[2][8] = {
        {NULL, "bytes_sent", "bytes_sent_per_second", "state", "local_port", "congestion", "path",
         "remote_address"},
        {NULL, "process", "processes", "pid", "process", "processes", "pid", "remote_address"}};
    static const char *const groups[2][4] = {{NULL, "state", "local_port", "remote_address"},
                                             {NULL, "process", "processes", "state"}};
    const uint8_t choice = bytes_u8(input);
    const char *order = orders[owned][choice % COUNT(orders[0])],
               *group = groups[owned][choice / 8 % COUNT(groups[0])];

    return (struct live_view){
        .order = {order ? field_named(&kind_socket, order) : NULL, choice & 64},
        .group = group ? field_named(&kind_socket, group) : NULL,
        .folded = choice & 128,
        .idle = choice & 32,
        .totals = totals,
        .interval = choice & 16 ? CLOCK_SECOND : 0, /* then the numbers of a look stay */
    };
}

/* --- What happens ----------------------------------------------------------------------------- */

static void change(struct world *world, struct bytes *input)
{
    struct made *made = &world->sockets[bytes_u8(input) % SOCKETS];
    const uint8_t how = bytes_u8(input);

    if (how % 8 == 0) {
        move_socket(world, made, 0);
        *made = (struct made){.cookie = 0};
    } else if (world->owned && how % 8 == 7) {
        move_socket(world, made, bytes_u8(input));
    } else if (how % 8 == 1 || !made->cookie) {
        move_socket(world, made, 0);
        *made = (struct made){.cookie = ++world->cookies,
                              .port = (uint16_t)(1000 + bytes_u8(input)),
                              .state = (uint8_t)(1 + bytes_u8(input) % 12)};
    } else if (how % 8 == 2) {
        made->state = (uint8_t)(1 + bytes_u8(input) % 12);
    } else if (how % 8 == 3) {
        made->sent = bytes_u16(input); /* counters may also fall */
    } else {
        made->sent += bytes_u16(input);
        made->received += bytes_u16(input);
    }
}

static void step(struct live *live, struct engine *engine, struct world *world, struct bytes *input,
                 struct live_view *view)
{
    struct report report = {.partial = false};
    const uint8_t what = bytes_u8(input);

    ahead += world->owned ? what >> 5 : 0;

    if (what % 8 < 4)
        change(world, input);
    else if (what % 8 == 4)
        require(live_sample(live, &report) == 0);
    else if (what % 8 == 5)
        require(live_refresh(live, &report) == 0 && live_read_ends(live, &report) == 0);
    else if (what % 8 == 6)
        show(live, engine, world, input, view);
    else
        *view = view_of(input, what & 64, world->owned);
    live_set_view(live, view);
}

/* What a stream is told: something has happened to each row. */
static void take_name_part(struct sink *sink, const struct record *record)
{
    (void)sink;
    require(record->kind == &kind_socket && record->has & SOCKET_EVENT);
}

/*
 * Without a screen, if the input has an odd length, and with processes, if half of it is odd. Bytes
 * of other sockets are never counted here.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sink_ops ops = {.row = take_name_part};
    struct writer writer = {.error = 0};
    struct sink stream = {.ops = &ops, .writer = &writer};
    const struct listing_table tables[] = {{.table = &table_tcp}};
    const struct field *rates[] = {field_named(&kind_socket, "bytes_sent"),
                                   field_named(&kind_socket, "bytes_received")};
    struct bytes input = {data, size};
    struct world world = {.cookies = 0, .owned = size / 2 % 2};
    const struct netlink_peer peer = {take_request, give_answer, &world};
    struct listing listing = {.tables = tables,
                              .table_count = COUNT(tables),
                              .needs.fields =
                                  SOCKET_TCP_INFO | SOCKET_BYTES | SOCKET_ADDRESSES | SOCKET_STATE,
                              .proc_root = world.owned ? tree_root() : "/nonexistent",
                              .backend = BACKEND_NETLINK,
                              .byte_counts = byte_counts_create(),
                              .rates = rates,
                              .rate_count = COUNT(rates)};
    struct engine *engine = engine_create(netlink_create(&peer));
    struct live_view view = {.idle = true};
    struct live *live;
    int error;

    require(engine != NULL);
    ahead = 0;
    tree_clear();
    if (world.owned) {
        make_processes();
        listing.needs.lookups = NEED_OWNERS;
        listing.needs.fields |= SOCKET_INODE;
    }
    live = live_create(engine, &listing, &socket_tracker, size % 2 ? &stream : NULL, 0, &error);
    require(live != NULL);
    live_set_view(live, &view);
    for (size_t i = 0; i < STEPS_MAX && input.left; i++)
        step(live, engine, &world, &input, &view);
    int descriptor;
    require(live_descriptors(live, &descriptor, 1) == 0); /* nothing was subscribed to */
    require(size % 2 || live_reported(live) == 0);
    live_destroy(live);
    engine_destroy(engine);
    byte_counts_destroy(listing.byte_counts);
    ahead = 0;
    return 0;
}
