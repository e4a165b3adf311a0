/* SPDX-License-Identifier: MIT */
/* Tables for people: the views of sockets and flows, and how they fit a terminal. */
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastnet/array.h"
#include "fastnet/hosts.h"
#include "fastnet/kernel_info.h"
#include "fastnet/owners.h"
#include "fastnet/sink.h"
#include "kit.h"
#include "text/width.h"

/* --- Who holds the sockets -------------------------------------------------------------------- */

enum { SHARED = 100, OWN = 101 }; /* inodes */

/* In a captured tree: four processes of one name hold a socket, one of another twice. */
static void make_process(const char *root, int pid, const char *name, int inode, int descriptors)
{
    char path[128], target[32];
    FILE *comm;

    snprintf(path, sizeof path, "%s/%d", root, pid);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/%d/fd", root, pid);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/%d/comm", root, pid);
    comm = fopen(path, "w");
    assert_non_null(comm);
    fprintf(comm, "%s\n", name);
    fclose(comm);
    snprintf(target, sizeof target, "socket:[%d]", inode);
    for (int fd = 3; fd < 3 + descriptors; fd++) {
        snprintf(path, sizeof path, "%s/%d/fd/%d", root, pid, fd);
        assert_int_equal(symlink(target, path), 0);
    }
}

static struct tree processes;

static int make_processes(void **state)
{
    (void)state;
    tree_make(&processes);
    for (int pid = 10; pid < 14; pid++)
        make_process(processes.root, pid, "nginx", SHARED, 1);
    make_process(processes.root, 20, "log shipper", SHARED, 2);
    make_process(processes.root, 30, "a-long-name-15b", OWN, 1);
    return 0;
}

static int remove_processes(void **state)
{
    (void)state;
    tree_remove(&processes);
    return 0;
}

static struct owners *some_owners(void)
{
    struct owners *owners = NULL;
    const struct owners_options options = {.proc_root = processes.root};

    assert_int_equal(owners_create(&owners, &options), 0);
    return owners;
}

/* --- Sockets ---------------------------------------------------------------------------------- */

enum { ALL = SOCKET_ADDRESSES | SOCKET_STATE | SOCKET_QUEUES | SOCKET_UID | SOCKET_INODE };

static struct record socket_of(uint16_t protocol, uint8_t state, const char *local, uint16_t port)
{
    struct record record = {.kind = &kind_socket, .has = ALL};

    record.socket.protocol = protocol;
    record.socket.state = state;
    record.socket.local = (struct endpoint){ip(local), port};
    record.socket.remote.address = ip(strchr(local, ':') ? "::" : "0.0.0.0");
    record.socket.family = record.socket.local.address.family;
    record.socket.inode = SHARED;
    return record;
}

static struct record listener(uint32_t waiting, uint32_t backlog)
{
    struct record record = socket_of(IPPROTO_TCP, TCP_LISTEN, "0.0.0.0", 443);

    record.has |= SOCKET_BACKLOG;
    record.socket.recv_q = waiting;
    record.socket.backlog = backlog;
    return record;
}

static struct record connection(const char *local, const char *remote)
{
    struct record record = socket_of(IPPROTO_TCP, TCP_ESTABLISHED, local, 40000);

    record.socket.remote = (struct endpoint){ip(remote), 443};
    record.socket.inode = OWN;
    return record;
}

static void set_info(struct record *record, const struct kernel_tcp_info *info, size_t length)
{
    record->has |= SOCKET_TCP_INFO | SOCKET_TCP_BASICS;
    record->socket.info = (struct text){(const char *)info, length};
}

static void set_memory(struct record *record, const uint32_t memory[SK_MEMINFO_VARS])
{
    record->has |= SOCKET_MEMORY | SOCKET_DROPS;
    record->socket.memory = (struct text){(const char *)memory, SK_MEMINFO_VARS * sizeof memory[0]};
}

static const char *for_people(const char *name, const struct record *record,
                              const struct context *context)
{
    static char text[VALUE_VIEW_MAX + 1];
    const struct value value = value_of(name, record, context);

    *value_write_human(text, &value, UNIT_NONE) = '\0';
    return text;
}

static void each_name_of_an_owner_is_shown_once_with_the_number_of_processes(void **state)
{
    const struct context context = {.owners = some_owners()};
    struct record record = listener(0, 128);

    (void)state;
    assert_string_equal(for_people("owners", &record, &context), "nginx ×4, log shipper");
    assert_string_equal(text_of("owners", &record, &context), "nginx×4,log\\x20shipper");
    record.socket.inode = 1;
    assert_string_equal(text_of("owners", &record, &context), "-");
    owners_destroy(context.owners);
}

static void the_number_of_processes_has_a_sign_of_ascii_where_the_locale_is(void **state)
{
    const struct context context = {.owners = some_owners(), .ascii = true};
    struct record record = listener(0, 128);

    (void)state;
    assert_string_equal(for_people("owners", &record, &context), "nginx x4, log shipper");
    assert_string_equal(text_of("owners", &record, &context), "nginx*4,log\\x20shipper");
    owners_destroy(context.owners);
}

static void an_end_has_its_port_and_its_interface(void **state)
{
    struct record record = connection("192.0.2.1", "198.51.100.7");

    (void)state;
    assert_field("local", &record, "192.0.2.1:40000");
    assert_field("remote", &record, "198.51.100.7:443");
    record = connection("fe80::1", "fe80::2");
    record.socket.interface = 4294967295U;
    record.has |= SOCKET_INTERFACE;
    assert_field("local", &record, "[fe80::1%4294967295]:40000");
    assert_field("remote", &record, "[fe80::2%4294967295]:443");
    record = connection("::ffff:192.0.2.1", "::ffff:192.0.2.2");
    assert_field("local", &record, "192.0.2.1:40000");
    record = listener(0, 1);
    assert_field("local", &record, "0.0.0.0:443");
    assert_field("remote", &record, "*");
    record.socket.local.port = 0;
    assert_field("local", &record, "0.0.0.0:*");
}

static void a_unix_socket_is_at_its_name(void **state)
{
    struct record record = {.kind = &kind_socket, .has = SOCKET_PATH};

    (void)state;
    record.socket.family = AF_UNIX;
    record.socket.path = (struct text){"\0a b", 4};
    assert_field("local", &record, "@a\\x20b");
    assert_string_equal(for_people("local", &record, &no_names), "@a b");
    record.socket.path.length = 0;
    assert_field("local", &record, "-");
    assert_field("remote", &record, "-");
}

static void the_queue_of_a_listener_is_full_when_one_more_waits_than_it_may(void **state)
{
    struct record record = listener(5, 5);

    (void)state;
    assert_field("recv", &record, "5/5");
    assert_field("attention", &record, "-");
    record = listener(6, 5);
    assert_field("recv", &record, "6/5");
    assert_field("attention", &record, "accept_queue_full");
    assert_field("send", &record, "0");
}

static void people_see_the_limit_of_a_buffer_when_it_is_near(void **state)
{
    uint32_t memory[SK_MEMINFO_VARS] = {
        [SK_MEMINFO_RCVBUF] = 131072, [SK_MEMINFO_RMEM_ALLOC] = 117964};
    struct record record = connection("192.0.2.1", "198.51.100.7");

    (void)state;
    record.socket.recv_q = 65536;
    assert_field("recv", &record, "65536");
    set_memory(&record, memory);
    assert_field("recv", &record, "65536/131072");
    assert_string_equal(for_people("recv", &record, &no_names), "64K/128K");
    assert_field("attention", &record, "-");
    memory[SK_MEMINFO_RMEM_ALLOC]++; /* cppcheck-suppress unreadVariable */
    assert_field("attention", &record, "receive_buffer_full");
    record.socket.recv_q--;
    assert_string_equal(for_people("recv", &record, &no_names), "63K");
}

static void unacknowledged_data_needs_attention(void **state)
{
    struct kernel_tcp_info info = {.last_ack_recv = 1001, .last_data_sent = 1001};
    struct record record = connection("192.0.2.1", "198.51.100.7");

    (void)state;
    set_info(&record, &info, sizeof info);
    assert_field("attention", &record, "-"); /* nothing waits */
    record.socket.send_q = 1;
    assert_field("attention", &record, "not_acknowledged");
    info.last_data_sent = 1000; /* it may still be on its way */
    assert_field("attention", &record, "-");
    record.has |= SOCKET_TIMER;
    record.socket.timer = TIMER_PROBE;
    assert_field("attention", &record, "peer_not_reading");
    record.has |= SOCKET_RETRANSMITS;
    record.socket.retransmits = 1;
    assert_field("attention", &record, "not_acknowledged");
}

/* "-", or "none" where it is known that there is no reason. */
static void assert_attention(const struct record *record, const char *expected)
{
    const struct value value = value_of("attention", record, &no_names);
    const bool is_none = value.type == VALUE_FLAGS && !value.flags.bits[0];

    assert_string_equal(is_none ? "none" : text_of_value(&value), expected);
}

static void attention_is_unknown_until_all_reasons_were_looked_for(void **state)
{
    const struct kernel_tcp_info info = {.last_ack_recv = 1};
    uint32_t memory[SK_MEMINFO_VARS] = {0};
    struct record tcp = connection("192.0.2.1", "198.51.100.7"), waiting = listener(5, 5),
                  udp = socket_of(IPPROTO_UDP, TCP_CLOSE, "0.0.0.0", 53), queued = listener(6, 5),
                  unread = {.kind = &kind_socket, .socket.family = AF_VSOCK};

    (void)state;
    assert_attention(&unread, "-");
    assert_attention(&udp, "-");
    set_memory(&udp, memory);
    assert_attention(&udp, "none");
    set_memory(&tcp, memory);
    assert_attention(&tcp, "-");
    set_info(&tcp, &info, sizeof info);
    assert_attention(&tcp, "none");
    assert_attention(&waiting, "-");
    assert_attention(&queued, "accept_queue_full"); /* one reason is enough */
    set_memory(&waiting, memory);
    assert_attention(&waiting, "none");
    waiting.has &= ~SOCKET_BACKLOG;
    assert_attention(&waiting, "-");
}

static void a_closing_connection_has_no_full_buffers(void **state)
{
    struct record record = connection("192.0.2.1", "198.51.100.7");

    (void)state;
    record.socket.state = TCP_SYN_RECV;
    assert_attention(&record, "none");
    record.socket.state = TCP_FIN_WAIT2;
    assert_attention(&record, "-");
    record.socket.timer = TIMER_TIME_WAIT;
    assert_attention(&record, "none");
}

static void a_queue_has_one_reason_and_a_socket_may_have_several(void **state)
{
    uint32_t memory[SK_MEMINFO_VARS] = {[SK_MEMINFO_RCVBUF] = 10,
                                        [SK_MEMINFO_RMEM_ALLOC] = 9,
                                        [SK_MEMINFO_SNDBUF] = 10,
                                        [SK_MEMINFO_DROPS] = 1,
                                        [SK_MEMINFO_WMEM_QUEUED] = 9};
    struct record record = connection("192.0.2.1", "198.51.100.7");

    (void)state;
    set_memory(&record, memory);
    assert_attention(&record, "receive_buffer_full,send_buffer_full,dropped_packets");
    record.socket.send_q = 1;
    record.socket.timer = TIMER_PROBE;
    record.has |= SOCKET_TIMER;
    assert_attention(&record, "receive_buffer_full,peer_not_reading,dropped_packets");
}

static void activity_is_a_timer_that_matters_or_how_long_it_is_idle(void **state)
{
    struct kernel_tcp_info info = {
        .last_data_sent = 12000, .last_data_recv = 13000, .total_retrans = 7};
    struct record record = connection("192.0.2.1", "198.51.100.7");

    (void)state;
    assert_field("activity", &record, "-");
    set_info(&record, &info, sizeof info);
    assert_field("activity", &record, "idle=12.000");
    assert_field("idle", &record, "12.000");
    assert_field("resent", &record, "7");
    assert_string_equal(for_people("activity", &record, &no_names), "idle 12.0s");
    info.last_data_recv = 999;
    assert_string_equal(for_people("activity", &record, &no_names), "active");
    record.has |= SOCKET_TIMER;
    record.socket.timer = TIMER_KEEPALIVE;
    assert_field("activity", &record, "idle=0.999");
    record.socket.timer = TIMER_RETRANSMIT;
    record.socket.timer_ms = 1500;
    assert_field("activity", &record, "retransmit=1.500");
    assert_string_equal(for_people("activity", &record, &no_names), "retransmit in 1.5s");
}

static void a_short_tcp_info_shows_its_fields(void **state)
{
    const struct kernel_tcp_info info = {.last_data_sent = 12000, .last_data_recv = 13000};
    struct record record = connection("192.0.2.1", "198.51.100.7");

    (void)state;
    set_info(&record, &info, offsetof(struct kernel_tcp_info, last_ack_recv));
    assert_field("idle", &record, "12.000");
    assert_field("resent", &record, "-");
    set_info(&record, &info, offsetof(struct kernel_tcp_info, last_ack_recv) - 1);
    assert_field("idle", &record, "-");
    assert_field("activity", &record, "-");
}

static void drops_need_attention_while_they_grow(void **state)
{
    uint32_t memory[SK_MEMINFO_VARS] = {[SK_MEMINFO_DROPS] = 1},
             earlier[SK_MEMINFO_VARS] = {[SK_MEMINFO_DROPS] = 1};
    struct record record = listener(0, 1), before = record;

    (void)state;
    set_memory(&record, memory);
    set_memory(&before, earlier);
    record.before = &before;
    assert_field("attention", &record, "-");
    earlier[SK_MEMINFO_DROPS] = 0; /* cppcheck-suppress unreadVariable */
    assert_field("attention", &record, "dropped_packets");
}

static void drops_of_an_unknown_time_need_attention_only_if_the_queue_is_full(void **state)
{
    uint32_t memory[SK_MEMINFO_VARS] = {[SK_MEMINFO_DROPS] = 9};
    struct record empty = listener(0, 1), full = listener(2, 1);

    (void)state;
    set_memory(&empty, memory);
    set_memory(&full, memory);
    assert_field("attention", &empty, "-");
    assert_field("attention", &full, "accept_queue_full,dropped_packets");
}

/* --- Flows ------------------------------------------------------------------------------------ */

static void a_flow_has_two_ends_what_they_were_translated_to_and_its_bytes(void **state)
{
    struct record record = {.kind = &kind_flow, .has = FLOW_ORIG | FLOW_REPLY};
    struct flow_direction *way = record.flow.way;

    (void)state;
    way[WAY_ORIG].tuple =
        (struct flow_tuple){ip("10.0.0.1"), ip("192.0.2.9"), 1000, 80, 0, 0, IPPROTO_TCP, true};
    way[WAY_REPLY].tuple =
        (struct flow_tuple){ip("192.0.2.9"), ip("10.0.0.1"), 80, 1000, 0, 0, IPPROTO_TCP, true};
    assert_field("from", &record, "10.0.0.1:1000");
    assert_field("to", &record, "192.0.2.9:80");
    assert_field("nat", &record, "-");
    assert_field("traffic", &record, "-");
    way[WAY_REPLY].tuple.dst_port = 2000;
    assert_field("nat", &record, "as=10.0.0.1:2000");
    way[WAY_REPLY].tuple.src = ip("10.0.0.8");
    assert_field("nat", &record, "as=10.0.0.1:2000,at=10.0.0.8:80");
    assert_string_equal(for_people("nat", &record, &no_names), "as 10.0.0.1:2000 at 10.0.0.8:80");
    record.has |= FLOW_ORIG_COUNTERS | FLOW_REPLY_COUNTERS;
    way[WAY_REPLY].bytes = 2048;
    assert_field("traffic", &record, "0/2048");
    assert_string_equal(for_people("traffic", &record, &no_names), "0/2.0K");
    way[WAY_ORIG].tuple.has_ports = false;
    assert_field("from", &record, "10.0.0.1");
}

/* --- Tables ----------------------------------------------------------------------------------- */

static const char *const shown[] = {"owners", "proto", "local", "remote",
                                    "state",  "recv",  "rtt",   "uid"};
static const char *see;
static bool attention_first;

/* The table of these sockets on a terminal of that width, until the next call. */
static const char *table_with(const struct record *rows, size_t count, size_t width, bool header,
                              const char *keep, const char *shorten)
{
    const struct context context = {.owners = some_owners()};
    const struct field *columns[COUNT(shown)];
    struct output output;
    const struct sink_options options = {.writer = output_begin(&output),
                                         .context = &context,
                                         .columns = columns,
                                         .count = COUNT(shown),
                                         .header = header,
                                         .human = width,
                                         .width = width,
                                         .drop = "uid rtt | proto recv",
                                         .shorten = shorten,
                                         .whole = "local remote",
                                         .keep = keep,
                                         .attention = field_named(&kind_socket, "attention"),
                                         .attention_first = attention_first,
                                         .totals = width ? "sockets" : NULL,
                                         .see = see};
    struct sink *sink;

    for (size_t i = 0; i < COUNT(shown); i++)
        columns[i] = field_named(&kind_socket, shown[i]);
    sink = sink_table_create(&options);
    assert_non_null(sink);
    sink_begin(sink);
    for (size_t i = 0; i < count; i++)
        sink->ops->row(sink, &rows[i]);
    sink_end(sink);
    const char *text = output_end(&output, sink);
    owners_destroy(context.owners);
    return text;
}

static const char *table_of(const struct record *rows, size_t count, size_t width, bool header)
{
    return table_with(rows, count, width, header, NULL, "owners state");
}

static void assert_table(const struct record *rows, size_t count, size_t width,
                         const char *expected)
{
    assert_string_equal(table_of(rows, count, width, true), expected);
}

static void a_table_leaves_out_and_cuts_what_a_terminal_has_no_room_for(void **state)
{
    const struct record rows[] = {listener(6, 5), connection("192.0.2.100", "198.51.100.200"),
                                  connection("192.0.2.100", "198.51.100.201")};

    (void)state;
    assert_table(rows, 3, 0,
                 "OWNERS                  PROTO  LOCAL              REMOTE              STATE      "
                 "  RECV  RTT  UID\n"
                 "nginx×4,log\\x20shipper  tcp    0.0.0.0:443        *                   LISTEN    "
                 "    6/5    -    0\n"
                 "a-long-name-15b         tcp    192.0.2.100:40000  198.51.100.200:443  "
                 "ESTABLISHED     0    -    0\n"
                 "a-long-name-15b         tcp    192.0.2.100:40000  198.51.100.201:443  "
                 "ESTABLISHED     0    -    0\n");
    assert_table(rows, 3, 200,
                 "OWNERS                 PROTO  LOCAL              REMOTE              STATE       "
                 " RECV  RTT  UID\n"
                 "nginx ×4, log shipper  tcp    0.0.0.0:443        *                   LISTEN      "
                 "  6/5    -    0\n"
                 "a-long-name-15b        tcp    192.0.2.100:40000  198.51.100.200:443  ESTABLISHED "
                 "    0    -    0\n"
                 "a-long-name-15b        tcp    192.0.2.100:40000  198.51.100.201:443  ESTABLISHED "
                 "    0    -    0\n"
                 "3 sockets: 2 ESTABLISHED, 1 LISTEN; accept queue full ×1\n");
    assert_table(
        rows, 3, 80,
        "OWNERS           PROTO  LOCAL              REMOTE              STATE        RECV\n"
        "nginx ×4, log …  tcp    0.0.0.0:443        *                   LISTEN        6/5\n"
        "a-long-name-15b  tcp    192.0.2.100:40000  198.51.100.200:443  ESTABLISHED     0\n"
        "a-long-name-15b  tcp    192.0.2.100:40000  198.51.100.201:443  ESTABLISHED     0\n"
        "3 sockets: 2 ESTABLISHED, 1 LISTEN; accept queue full ×1\n");
    assert_table(rows, 3, 60,
                 "OWNERS     LOCAL              REMOTE              STATE\n"
                 "nginx ×4…  0.0.0.0:443        *                   LISTEN\n"
                 "a-long-n…  192.0.2.100:40000  198.51.100.200:443  ESTABLISH…\n"
                 "a-long-n…  192.0.2.100:40000  198.51.100.201:443  ESTABLISH…\n"
                 "3 sockets: 2 ESTABLISHED, 1 LISTEN; accept queue full ×1\n");
}

static void numbers_of_columns_that_were_asked_for_end_at_the_edge_of_the_terminal(void **state)
{
    const struct record rows[] = {listener(6, 5), connection("192.0.2.100", "198.51.100.200")};

    (void)state;
    for (size_t width = 60; width < 80; width++) {
        const char *line = table_with(rows, 2, width, true, "uid rtt recv", "owners state");
        for (size_t i = 0; i < 3; i++) {
            const size_t length = strcspn(line, "\n");
            assert_true(text_width(line, length) <= width);
            line += length + 1;
        }
    }
}

static void the_totals_name_the_command_that_lists_what_needs_attention(void **state)
{
    const struct record rows[] = {listener(6, 5), listener(5, 5)};

    (void)state;
    see = "fastnet s --attention";
    assert_string_equal(strstr(table_of(rows, 2, 80, true), "2 sockets"),
                        "2 sockets: 2 LISTEN; accept queue full ×1; see: fastnet s --attention\n");
    assert_string_equal(strstr(table_of(rows, 2, 60, true), "2 sockets"),
                        "2 sockets; accept queue full ×1; see: fastnet s --attention\n");
    assert_string_equal(strstr(table_of(rows, 2, 36, true), "2 sockets"),
                        "2 sockets; accept queue full ×1\nsee: fastnet s --attention\n");
    assert_string_equal(strstr(table_of(rows + 1, 1, 80, true), "1 socket"),
                        "1 socket: 1 LISTEN\n");
    see = NULL;
}

static void the_totals_cut_no_reason_for_the_command_and_say_that_states_are_left_out(void **state)
{
    struct record rows[] = {listener(6, 5), listener(5, 5), listener(5, 5)};

    (void)state;
    rows[1].socket.state = TCP_CLOSE_WAIT;
    rows[2].socket.state = TCP_CLOSE_WAIT;
    assert_string_equal(strstr(table_of(rows, 3, 80, true), "3 sockets"),
                        "3 sockets: 2 CLOSE_WAIT, 1 LISTEN; accept queue full ×1\n");
    assert_string_equal(strstr(table_of(rows, 3, 54, true), "3 sockets"),
                        "3 sockets: 2 CLOSE_WAIT, …; accept queue full ×1\n");
    assert_string_equal(strstr(table_of(rows, 3, 47, true), "3 sockets"),
                        "3 sockets; accept queue full ×1\n");
    see = "fastnet s --attention --process=nginx";
    assert_string_equal(strstr(table_of(rows, 3, 60, true), "3 sockets"),
                        "3 sockets: 2 CLOSE_WAIT, 1 LISTEN; accept queue full ×1\n"
                        "see: fastnet s --attention --process=nginx\n");
    see = NULL;
}

static void rows_that_need_attention_come_first_among_those_that_are_kept(void **state)
{
    enum { ROWS = 1200, KEPT = 1000 };
    struct record *rows = calloc(ROWS, sizeof *rows);
    const char *text;

    (void)state;
    assert_non_null(rows);
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = listener(i % 600 == 599 ? 6 : 0, 5);
        rows[i].socket.local.port = (uint16_t)(10000 + i);
    }
    attention_first = true;
    text = strchr(table_of(rows, ROWS, 80, true), '\n') + 1;
    attention_first = false;
    assert_true(strstr(text, ":10599 ") < strchr(text, '\n'));
    assert_true(strstr(text, ":10000 ") < strstr(text, ":10598 "));
    assert_true(strstr(text, ":10598 ") < strstr(text, ":10600 "));
    assert_true(strstr(text, ":11198 ") < strstr(text, ":11199 ")); /* it came too late */
    assert_non_null(strstr(text, "\n1200 sockets: 1200 LISTEN; accept queue full ×2\n"));
    free(rows);
}

/* The width of its widest line. */
static size_t widest(const char *text)
{
    size_t widest = 0;

    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        const size_t width = text_width(line, strcspn(line, "\n"));
        widest = width > widest ? width : widest;
    }
    return widest;
}

static void no_line_of_ipv4_is_wider_than_a_terminal_of_60_columns_or_more(void **state)
{
    enum { ROWS = 1200 }; /* more than are kept to find the widths */
    struct record *rows = calloc(ROWS, sizeof *rows);

    (void)state;
    assert_non_null(rows);
    for (size_t i = 0; i < ROWS; i++)
        rows[i] = i < 1100 ? listener(0, 5) : connection("255.255.255.255", "255.255.255.254");
    for (size_t width = 60; width <= 200; width++) {
        assert_true(widest(table_of(rows, ROWS, width, true)) <= width);
    }
    free(rows);
}

static void an_address_is_never_cut_and_a_few_long_ones_take_no_room_from_others(void **state)
{
    const struct record rows[] = {
        connection("192.0.2.1", "198.51.100.2"),
        connection("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:7"),
    };

    (void)state;
    assert_table(
        rows, 2, 80,
        "OWNERS          PROTO  LOCAL            REMOTE            STATE        RECV  RTT\n"
        "a-long-name-1…  tcp    192.0.2.1:40000  198.51.100.2:443  ESTABLISHED     0    -\n"
        "a-long-name-1…  tcp    [2001:db8:1:2:3:4:5:6]:40000  [2001:db8:1:2:3:4:5:7]:443\n"
        "2 sockets: 2 ESTABLISHED\n");
}

/* Where a word is in a line: as many columns of the terminal are before it. */
static size_t place_of(const char *line, const char *word)
{
    const char *end = strchr(line, '\n'), *at = strstr(line, word);

    if (!at || at > end)
        fail_msg("%.*s: no %s", (int)(end - line), line, word);
    return text_width(line, (size_t)(at - line));
}

#define LONG "2001:1db8:85a3:1234:5678:8a2e:1370:7334"

/* The table of listeners and connections of both versions, at any width; the rows by their ends. */
static void assert_columns_stand_below_each_other(size_t width)
{
    const struct record rows[] = {
        listener(6, 5),
        connection("255.255.255.255", "255.255.255.254"),
        connection(LONG, LONG),
        socket_of(IPPROTO_TCP, TCP_LISTEN, LONG, 65535),
        connection("::1", "2001:db8::7"),
    };
    const char *line = table_of(rows, COUNT(rows), width, true);
    const size_t remote = place_of(line, "REMOTE"), at = place_of(line, "STATE");

    for (size_t i = 0; i < COUNT(rows); i++) {
        const bool has_long = i == 2 || i == 3;
        line = strchr(line, '\n') + 1;
        if (width < 120 && has_long)
            continue;
        assert_int_equal(place_of(line, i == 0 || i == 3 ? "LISTEN" : "ESTABL"), at);
        assert_int_equal(place_of(line, i == 0 || i == 3 ? "*  "
                                        : i == 1         ? "255.255.255.254:"
                                        : i == 2         ? "[" LONG "]:443"
                                                         : "[2001:db8::7]"),
                         remote);
        assert_true(text_width(line, strcspn(line, "\n")) <= width);
    }
}

static void no_long_address_shifts_its_row_where_both_would_fit(void **state)
{
    (void)state;
    for (size_t width = 80; width <= 200; width++)
        assert_columns_stand_below_each_other(width);
}

static void addresses_are_measured_before_columns_are_left_out(void **state)
{
    const struct record rows[] = {listener(6, 5), connection("fe80::1234:5678:9abc:def0", "::7")};

    (void)state;
    assert_table(
        rows, 2, 86,
        "OWNERS          PROTO  LOCAL                              REMOTE     STATE        RECV\n"
        "nginx ×4, log…  tcp    0.0.0.0:443                        *          LISTEN        6/5\n"
        "a-long-name-1…  tcp    [fe80::1234:5678:9abc:def0]:40000  [::7]:443  ESTABLISHED     0\n"
        "2 sockets: 1 ESTABLISHED, 1 LISTEN; accept queue full ×1\n");
}

static void a_long_path_is_cut_after_other_columns_are_left_out(void **state)
{
    const struct record row = connection("2001:db8:1:2:3:4:5:6", "192.0.2.1");
    const char *const whole = "2001:db8:1:2:3:4:5:6]:40000", *const least = "2001:db8:1:2:3:4:5:6";

    (void)state;
    for (size_t width = 48; width <= 80; width++) {
        const char *text = table_with(&row, 1, width, false, NULL, "owners local");
        assert_non_null(strstr(text, width < 70 ? least : whole));
        assert_int_equal(!!strstr(text, "tcp"), width >= 78);
    }
}

static void a_column_that_was_asked_for_is_not_left_out(void **state)
{
    const struct record row = connection("192.0.2.1", "198.51.100.2");

    (void)state;
    assert_null(strstr(table_with(&row, 1, 60, true, "pid uidd", "owners"), "UID"));
    assert_non_null(strstr(table_with(&row, 1, 60, true, "pid uid", "owners"), "UID"));
}

static void a_table_without_heading_is_as_wide_as_its_contents(void **state)
{
    const struct record row = listener(0, 5);

    (void)state;
    assert_string_equal(table_of(&row, 1, 0, false),
                        "nginx×4,log\\x20shipper  tcp  0.0.0.0:443  *  LISTEN  0/5  -  0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_of_an_owner_is_shown_once_with_the_number_of_processes),
        cmocka_unit_test(the_number_of_processes_has_a_sign_of_ascii_where_the_locale_is),
        cmocka_unit_test(an_end_has_its_port_and_its_interface),
        cmocka_unit_test(a_unix_socket_is_at_its_name),
        cmocka_unit_test(the_queue_of_a_listener_is_full_when_one_more_waits_than_it_may),
        cmocka_unit_test(people_see_the_limit_of_a_buffer_when_it_is_near),
        cmocka_unit_test(unacknowledged_data_needs_attention),
        cmocka_unit_test(attention_is_unknown_until_all_reasons_were_looked_for),
        cmocka_unit_test(a_closing_connection_has_no_full_buffers),
        cmocka_unit_test(a_queue_has_one_reason_and_a_socket_may_have_several),
        cmocka_unit_test(activity_is_a_timer_that_matters_or_how_long_it_is_idle),
        cmocka_unit_test(a_short_tcp_info_shows_its_fields),
        cmocka_unit_test(drops_need_attention_while_they_grow),
        cmocka_unit_test(drops_of_an_unknown_time_need_attention_only_if_the_queue_is_full),
        cmocka_unit_test(a_flow_has_two_ends_what_they_were_translated_to_and_its_bytes),
        cmocka_unit_test(a_table_leaves_out_and_cuts_what_a_terminal_has_no_room_for),
        cmocka_unit_test(numbers_of_columns_that_were_asked_for_end_at_the_edge_of_the_terminal),
        cmocka_unit_test(the_totals_name_the_command_that_lists_what_needs_attention),
        cmocka_unit_test(the_totals_cut_no_reason_for_the_command_and_say_that_states_are_left_out),
        cmocka_unit_test(rows_that_need_attention_come_first_among_those_that_are_kept),
        cmocka_unit_test(no_line_of_ipv4_is_wider_than_a_terminal_of_60_columns_or_more),
        cmocka_unit_test(an_address_is_never_cut_and_a_few_long_ones_take_no_room_from_others),
        cmocka_unit_test(no_long_address_shifts_its_row_where_both_would_fit),
        cmocka_unit_test(addresses_are_measured_before_columns_are_left_out),
        cmocka_unit_test(a_long_path_is_cut_after_other_columns_are_left_out),
        cmocka_unit_test(a_column_that_was_asked_for_is_not_left_out),
        cmocka_unit_test(a_table_without_heading_is_as_wide_as_its_contents),
    };

    return cmocka_run_group_tests_name("views", tests, make_processes, remove_processes);
}
