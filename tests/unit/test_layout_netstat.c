/* SPDX-License-Identifier: MIT */
/* The lines of netstat -W, byte for byte. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fastnet/hosts.h"
#include "fastnet/owners.h"
#include "kit.h"

static const struct netstat_layout numeric = {
    .numeric_hosts = true, .numeric_ports = true, .numeric_users = true, .header = true};

/* What a layout writes for a section's heading (or none, when -1) and a row (or none, when NULL).
 */
static const char *written(const struct netstat_layout *layout, const struct context *context,
                           int section, const struct record *record)
{
    return output_of(&sink_netstat, layout, context, section, record, record != NULL);
}

static const char *row(const struct netstat_layout *layout, const struct record *record)
{
    return written(layout, &no_names, -1, record);
}

static struct record inet_record(const char *local, uint16_t local_port, const char *remote,
                                 uint16_t remote_port)
{
    struct record record = {.kind = &kind_socket, .has = UINT64_MAX};

    record.socket.family = ip(local).family;
    record.socket.protocol = IPPROTO_TCP;
    record.socket.state = TCP_ESTABLISHED;
    record.socket.local.address = ip(local);
    record.socket.remote.address = ip(remote);
    record.socket.local.port = local_port;
    record.socket.remote.port = remote_port;
    return record;
}

static struct record unix_record(const char *path, size_t length)
{
    return (struct record){.kind = &kind_socket,
                           .has = UINT64_MAX,
                           .socket = {.family = AF_UNIX,
                                      .state = TCP_CLOSE,
                                      .type = SOCK_DGRAM,
                                      .unix_state = 1,
                                      .refcount = 2,
                                      .inode = 12345,
                                      .path = {path, length}}};
}

/* --- Internet sockets ------------------------------------------------------------------------- */

static void listener_send_queue_is_zero_in_netstat_layout(void **state)
{
    struct record record = inet_record("0.0.0.0", 22, "0.0.0.0", 0);

    (void)state;
    record.socket.state = TCP_LISTEN;
    record.socket.recv_q = 2;
    record.socket.send_q = record.socket.backlog = 128;
    assert_string_equal(row(&numeric, &record), "tcp        2      0 0.0.0.0:22              "
                                                "0.0.0.0:*               LISTEN     \n");
}

static void a_raw_socket_has_no_remote_port(void **state)
{
    struct record record = inet_record("192.0.2.1", 1, "198.51.100.2", 443);

    (void)state;
    record.socket.protocol = IPPROTO_RAW;
    record.socket.state = 7;
    assert_string_equal(row(&numeric, &record), "raw        0      0 192.0.2.1:1             "
                                                "198.51.100.2:*          7          \n");
}

static void a_connection_has_its_queues_and_ends(void **state)
{
    struct record record = inet_record("192.0.2.1", 22, "198.51.100.200", 65535);

    (void)state;
    record.socket.recv_q = 123456;
    record.socket.send_q = 36;
    assert_string_equal(row(&numeric, &record), "tcp   123456     36 192.0.2.1:22            "
                                                "198.51.100.200:65535    ESTABLISHED\n");
}

static void columns_too_wide_push_the_others_on_and_are_never_cut(void **state)
{
    struct record record = inet_record("2001:db8:1111:2222:3333:4444:5555:6666", 65535,
                                       "2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff", 1);

    (void)state;
    record.socket.recv_q = record.socket.send_q = UINT32_MAX;
    assert_string_equal(row(&numeric, &record),
                        "tcp6  4294967295 4294967295 "
                        "2001:db8:1111:2222:3333:4444:5555:6666:65535 "
                        "2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff:1 ESTABLISHED\n");
}

static void a_v4_mapped_address_is_written_as_ipv4_under_tcp6(void **state)
{
    struct record record = inet_record("::ffff:127.0.0.1", 80, "::ffff:127.0.0.1", 41000);

    (void)state;
    assert_string_equal(row(&numeric, &record), "tcp6       0      0 127.0.0.1:80            "
                                                "127.0.0.1:41000         ESTABLISHED\n");
}

static void the_wildcard_has_brackets_where_ipv6_hosts_have_names(void **state)
{
    const struct netstat_layout named = {.numeric_ports = true};
    struct record record = inet_record("0.0.0.0", 22, "0.0.0.0", 0);
    struct context context = {.hosts = hosts_create()};

    (void)state;
    assert_non_null(context.hosts);
    assert_string_equal(written(&named, &context, -1, &record),
                        "tcp        0      0 0.0.0.0:22              0.0.0.0:*               "
                        "ESTABLISHED\n");
    record = inet_record("::", 22, "::", 0);
    assert_string_equal(written(&named, &context, -1, &record),
                        "tcp6       0      0 [::]:22                 [::]:*                  "
                        "ESTABLISHED\n");
    record = inet_record("192.0.2.77", 22, "0.0.0.0", 0); /* has no name: never asked */
    assert_string_equal(written(&named, &context, -1, &record),
                        "tcp        0      0 192.0.2.77:22           0.0.0.0:*               "
                        "ESTABLISHED\n");
    hosts_destroy(context.hosts);
}

/* The state of a row is the last thing in it, apart from blanks. */
static void assert_state(uint8_t protocol, uint8_t number, const char *name)
{
    struct record record = inet_record("127.0.0.1", 1, "127.0.0.1", 2);
    char expected[24];
    const char *text;

    record.socket.protocol = protocol;
    record.socket.state = number;
    snprintf(expected, sizeof expected, "%-11s\n", name);
    text = row(&numeric, &record);
    assert_string_equal(text + strlen(text) - strlen(expected), expected);
}

static void states_have_netstats_names(void **state)
{
    static const char *const names[] = {"",           "ESTABLISHED", "SYN_SENT",  "SYN_RECV",
                                        "FIN_WAIT1",  "FIN_WAIT2",   "TIME_WAIT", "CLOSE",
                                        "CLOSE_WAIT", "LAST_ACK",    "LISTEN",    "CLOSING"};

    (void)state;
    for (size_t i = 1; i < sizeof names / sizeof *names; i++)
        assert_state(IPPROTO_TCP, (uint8_t)i, names[i]);
    assert_state(IPPROTO_TCP, 0x63, "UNKNOWN");
    assert_state(IPPROTO_TCP, 0xff, "UNKNOWN");
    assert_state(IPPROTO_UDP, TCP_ESTABLISHED, "ESTABLISHED");
    assert_state(IPPROTO_UDP, TCP_CLOSE, "");
    assert_state(IPPROTO_UDPLITE, 0xff, "UNKNOWN");
    assert_state(IPPROTO_RAW, TCP_CLOSE, "7");
    assert_state(IPPROTO_RAW, 0xff, "255");
}

static void protocols_have_netstats_names(void **state)
{
    static const struct {
        uint8_t protocol;
        const char *v4, *v6;
    } names[] = {{IPPROTO_TCP, "tcp    ", "tcp6   "},
                 {IPPROTO_UDP, "udp    ", "udp6   "},
                 {IPPROTO_UDPLITE, "udpl   ", "udpl6  "},
                 {IPPROTO_RAW, "raw    ", "raw6   "}};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct record record = inet_record("127.0.0.1", 1, "127.0.0.1", 2);
        record.socket.protocol = names[i].protocol;
        assert_memory_equal(row(&numeric, &record), names[i].v4, 7);
        record.socket.family = AF_INET6;
        assert_memory_equal(row(&numeric, &record), names[i].v6, 7);
    }
}

/* What stands behind the state. */
static const char *behind_state(const struct netstat_layout *layout, const struct record *record)
{
    const char *text = row(layout, record);

    assert_true(strlen(text) > 79);
    return text + 79;
}

static void user_and_inode_are_numbers_on_demand(void **state)
{
    struct netstat_layout layout = numeric;
    struct record record = inet_record("127.0.0.1", 1, "127.0.0.1", 2);

    (void)state;
    layout.extended = true;
    record.socket.uid = 4000000000;
    record.socket.inode = 76543210;
    assert_string_equal(behind_state(&layout, &record), " 4000000000 76543210  \n");
    record.socket.uid = 0;
    record.socket.inode = 0;
    assert_string_equal(behind_state(&layout, &record), " 0          0         \n");
}

static void a_user_that_is_not_known_is_not_root(void **state)
{
    struct netstat_layout layout = numeric;
    struct record record = inet_record("127.0.0.1", 1, "127.0.0.1", 2);

    (void)state;
    layout.extended = true;
    record.has &= ~SOCKET_UID;
    assert_string_equal(behind_state(&layout, &record), " -          0         \n");
}

static void timers_have_their_three_numbers(void **state)
{
    static const struct {
        uint8_t protocol, timer;
        uint64_t ms;
        uint32_t retransmits, probes;
        const char *text;
    } timers[] = {
        {IPPROTO_TCP, TIMER_OFF, 0, 0, 0, " off (0.00/0/0)\n"},
        {IPPROTO_TCP, TIMER_OFF, 1234, 0, 0, " off (0.00/0/0)\n"},
        {IPPROTO_TCP, TIMER_RETRANSMIT, 420, 2, 0, " on (0.42/2/0)\n"},
        {IPPROTO_TCP, TIMER_KEEPALIVE, 7199250, 0, 3, " keepalive (7199.25/0/3)\n"},
        {IPPROTO_TCP, TIMER_TIME_WAIT, 59960, 0, 0, " timewait (59.96/0/0)\n"},
        {IPPROTO_TCP, TIMER_PROBE, 200, 1, 9, " probe (0.20/1/9)\n"},
        {IPPROTO_TCP, 5, 10, 0, 0, " unkn-5 (0.01/0/0)\n"},
        {IPPROTO_TCP, 255, UINT64_MAX, 0, 0, " unkn-255 (18446744073709551.61/0/0)\n"},
        {IPPROTO_UDP, 1, 10, 0, 0, " on1 (0.01/0/0)\n"},
        {IPPROTO_UDP, 2, 10, 0, 0, " on2 (0.01/0/0)\n"},
        {IPPROTO_UDP, 3, 10, 0, 0, " unkn-3 (0.01/0/0)\n"},
    };
    struct netstat_layout layout = numeric;

    (void)state;
    layout.timers = true;
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++) {
        struct record record = inet_record("127.0.0.1", 1, "127.0.0.1", 2);
        record.socket.protocol = timers[i].protocol;
        record.socket.timer = timers[i].timer;
        record.socket.timer_ms = timers[i].ms;
        record.socket.retransmits = timers[i].retransmits;
        record.socket.probes = timers[i].probes;
        assert_string_equal(behind_state(&layout, &record), timers[i].text);
    }
}

static void counts_that_are_not_known_are_not_zero(void **state)
{
    struct netstat_layout layout = numeric;
    struct record record = inet_record("127.0.0.1", 1, "127.0.0.1", 2);

    (void)state;
    layout.timers = true;
    record.socket.timer = TIMER_RETRANSMIT;
    record.has &= ~SOCKET_RETRANSMITS;
    assert_string_equal(behind_state(&layout, &record), " on (0.00/-/-)\n");
}

/* --- Owners: a captured tree with one process ------------------------------------------------- */

static struct owners *owners_of(struct tree *tree, unsigned inode, const char *command)
{
    const struct owners_options options = {.proc_root = tree->root, .commands = true};
    struct owners *owners = NULL;
    char shell[4096];

    assert_in_range(snprintf(shell, sizeof shell,
                             "cd %s && mkdir -p 4242/fd && ln -s 'socket:[%u]' 4242/fd/3 && "
                             "echo short >4242/comm && printf '4242 (short) S 1\\n' >4242/stat && "
                             "printf '%s\\0-x\\0' >4242/cmdline",
                             tree->root, inode, command),
                    1, sizeof shell - 1);
    assert_int_equal(system(shell), 0);
    assert_int_equal(owners_create(&owners, &options), 0);
    return owners;
}

static void assert_program_of(const struct netstat_layout *wanted, const char *command,
                              const char *expected)
{
    struct netstat_layout layout = *wanted;
    struct record record = inet_record("127.0.0.1", 1, "127.0.0.1", 2);
    struct context context = {.owners = NULL};
    struct tree tree;

    tree_make(&tree);
    context.owners = owners_of(&tree, 777, command);
    layout.programs = true;
    record.socket.inode = 777;
    assert_string_equal(written(&layout, &context, -1, &record) + 79, expected);
    owners_destroy(context.owners);
    tree_remove(&tree);
}

static void assert_program(const char *command, const char *expected)
{
    assert_program_of(&numeric, command, expected);
}

static void assert_word(const char *command, const char *expected)
{
    struct netstat_layout layout = numeric;

    layout.one_word_names = true;
    assert_program_of(&layout, command, expected);
}

static void a_program_is_its_pid_and_name_in_19_bytes(void **state)
{
    (void)state;
    assert_program("/usr/sbin/sshd", " 4242/sshd           \n");
    assert_program("a-program-with-quite-a-name", " 4242/a-program-with \n");
    assert_program("e\\033[2J", " 4242/e\\x1b[2J       \n");
}

static void blanks_in_a_program_are_netstats_unless_it_must_be_one_word(void **state)
{
    (void)state;
    assert_program("x LISTEN 1/init", " 4242/x LISTEN 1/ini \n");
    assert_word("x LISTEN 1/init", " 4242/x\\x20LISTEN\\x201/ini\n");
    assert_word("/usr/sbin/sshd", " 4242/sshd           \n");
    assert_word("a-program-with-quite-a-name", " 4242/a-program-with \n");
    assert_word("./server", " 4242/./server       \n");
    assert_word("e\\033[2J", " 4242/e\\x1b[2J       \n");
}

static void a_program_without_a_name_has_the_one_of_its_process(void **state)
{
    (void)state;
    assert_program("/", " 4242/               \n");
    assert_program("", " 4242/               \n");
    assert_word("/", " 4242/short          \n");
    assert_word("", " 4242/short          \n");
    assert_word(" ", " 4242/\\x20           \n");
}

static void without_an_owner_there_is_a_dash(void **state)
{
    struct netstat_layout layout = numeric;
    struct record record = inet_record("127.0.0.1", 1, "127.0.0.1", 2);

    (void)state;
    layout.programs = true;
    assert_string_equal(behind_state(&layout, &record), " -                   \n");
}

/* --- Unix sockets ----------------------------------------------------------------------------- */

static void a_unix_listener_is_listening(void **state)
{
    struct record record = unix_record("/run/some.socket", 16);

    (void)state;
    record.socket.state = TCP_LISTEN;
    record.socket.type = SOCK_STREAM;
    record.socket.flags = 1 << 16;
    assert_string_equal(row(&numeric, &record),
                        "unix  2      [ ACC ]     STREAM     LISTENING     12345    "
                        "/run/some.socket\n");
}

static void unix_flags_types_and_states_have_netstats_names(void **state)
{
    struct record record = unix_record(NULL, 0);

    (void)state;
    record.socket.flags = 7u << 16;
    record.socket.type = SOCK_SEQPACKET;
    record.socket.unix_state = 3;
    assert_string_equal(row(&numeric, &record),
                        "unix  2      [ ACC W N ] SEQPACKET  CONNECTED     12345    \n");
    record.socket.flags = 0;
    record.socket.type = 4711;
    record.socket.unix_state = 2;
    record.socket.refcount = 1234567;
    record.socket.inode = 0;
    assert_string_equal(row(&numeric, &record),
                        "unix  1234567 [ ]         UNKNOWN    CONNECTING    0        \n");
    record.socket.type = SOCK_DGRAM;
    record.socket.unix_state = 255;
    record.has &= ~SOCKET_REFCOUNT;
    assert_string_equal(row(&numeric, &record),
                        "unix  -      [ ]         DGRAM      UNKNOWN       0        \n");
}

static void a_unix_name_is_escaped(void **state)
{
    struct record record = unix_record("\0ab\nc@\0", 7);

    (void)state;
    assert_string_equal(row(&numeric, &record),
                        "unix  2      [ ]         DGRAM                    12345    "
                        "@ab\\x0ac\\x40@\n");
    record = unix_record("@path", 5);
    assert_string_equal(row(&numeric, &record),
                        "unix  2      [ ]         DGRAM                    12345    "
                        "\\x40path\n");
}

static void the_longest_name_of_the_worst_bytes_fits(void **state)
{
    char worst[SOCKET_PATH_MAX] = "";
    struct record record = unix_record(worst, sizeof worst);
    const char *text;

    (void)state;
    memset(worst, '\x01', sizeof worst);
    text = row(&numeric, &record);
    assert_int_equal(strlen(text), 59 + 4 * SOCKET_PATH_MAX + 1);
}

/* --- Headings --------------------------------------------------------------------------------- */

static void headings_fit_the_listed_sockets(void **state)
{
    struct netstat_layout layout = numeric;

    (void)state;
    assert_string_equal(written(&layout, &no_names, SECTION_INTERNET, NULL),
                        "Active Internet connections (w/o servers)\n"
                        "Proto Recv-Q Send-Q Local Address           Foreign Address         "
                        "State      \n");
    layout.show = SHOW_LISTENING;
    layout.extended = layout.programs = layout.timers = true;
    assert_string_equal(written(&layout, &no_names, SECTION_INTERNET, NULL),
                        "Active Internet connections (only servers)\n"
                        "Proto Recv-Q Send-Q Local Address           Foreign Address         "
                        "State       User       Inode      PID/Program name     Timer\n");
    assert_string_equal(written(&layout, &no_names, SECTION_UNIX, NULL),
                        "Active UNIX domain sockets (only servers)\n"
                        "Proto RefCnt Flags       Type       State         I-Node   "
                        "PID/Program name     Path\n");
    layout = numeric;
    layout.show = SHOW_ALL;
    assert_string_equal(written(&layout, &no_names, SECTION_UNIX, NULL),
                        "Active UNIX domain sockets (servers and established)\n"
                        "Proto RefCnt Flags       Type       State         I-Node   Path\n");
    layout.header = false;
    assert_string_equal(written(&layout, &no_names, SECTION_UNIX, NULL), "");
}

static void a_coloured_state_is_as_wide_as_a_plain_one(void **state)
{
    struct netstat_layout layout = numeric;
    struct record record = inet_record("127.0.0.1", 1, "127.0.0.1", 2);
    char plain[256], coloured[256];
    size_t length = 0;

    (void)state;
    layout.programs = true;
    record.socket.state = TCP_LISTEN;
    snprintf(plain, sizeof plain, "%s", row(&layout, &record));
    layout.colour = true;
    for (const char *at = row(&layout, &record); *at; at++)
        if (*at == '\033')
            at += strcspn(at, "m");
        else
            coloured[length++] = *at;
    coloured[length] = '\0';
    assert_string_equal(coloured, plain);
    assert_non_null(strchr(row(&layout, &record), '\033'));
}

/* --- Multicast groups ------------------------------------------------------------------------- */

static struct record group_record(const char *address, const char *interface)
{
    return (struct record){
        .kind = &kind_group,
        .has = GROUP_INTERFACE | GROUP_ADDRESS | GROUP_USERS,
        .group = {.address = ip(address), .users = 3, .interface = {interface, strlen(interface)}}};
}

static void groups_have_a_section_with_a_heading_of_three_lines(void **state)
{
    struct record record = group_record("224.0.0.251", "eth0");

    (void)state;
    assert_string_equal(written(&numeric, &no_names, SECTION_GROUPS, &record),
                        "IPv6/IPv4 Group Memberships\n"
                        "Interface       RefCnt Group\n"
                        "--------------- ------ ---------------------\n"
                        "eth0            3      224.0.0.251\n");
}

static void groups_are_never_cut_and_their_interfaces_escaped(void **state)
{
    struct record record = group_record("ff02::1:ff00:2", "\033abcdefghijklmn");

    (void)state;
    record.group.users = 12345678;
    assert_string_equal(row(&numeric, &record), "\\x1babcdefghijklmn 12345678 ff02::1:ff00:2\n");
}

static void groups_without_a_name_are_addresses(void **state)
{
    const struct netstat_layout named = {.numeric_ports = true};
    struct record record = group_record("ff02::1", "lo");
    struct context context = {.hosts = hosts_create()};

    (void)state;
    assert_non_null(context.hosts);
    assert_string_equal(written(&named, &context, SECTION_GROUPS, &record),
                        "lo              3      ff02::1\n");
    hosts_destroy(context.hosts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listener_send_queue_is_zero_in_netstat_layout),
        cmocka_unit_test(a_raw_socket_has_no_remote_port),
        cmocka_unit_test(a_connection_has_its_queues_and_ends),
        cmocka_unit_test(columns_too_wide_push_the_others_on_and_are_never_cut),
        cmocka_unit_test(a_v4_mapped_address_is_written_as_ipv4_under_tcp6),
        cmocka_unit_test(the_wildcard_has_brackets_where_ipv6_hosts_have_names),
        cmocka_unit_test(states_have_netstats_names),
        cmocka_unit_test(protocols_have_netstats_names),
        cmocka_unit_test(user_and_inode_are_numbers_on_demand),
        cmocka_unit_test(a_user_that_is_not_known_is_not_root),
        cmocka_unit_test(timers_have_their_three_numbers),
        cmocka_unit_test(counts_that_are_not_known_are_not_zero),
        cmocka_unit_test(a_program_is_its_pid_and_name_in_19_bytes),
        cmocka_unit_test(blanks_in_a_program_are_netstats_unless_it_must_be_one_word),
        cmocka_unit_test(a_program_without_a_name_has_the_one_of_its_process),
        cmocka_unit_test(without_an_owner_there_is_a_dash),
        cmocka_unit_test(a_unix_listener_is_listening),
        cmocka_unit_test(unix_flags_types_and_states_have_netstats_names),
        cmocka_unit_test(a_unix_name_is_escaped),
        cmocka_unit_test(the_longest_name_of_the_worst_bytes_fits),
        cmocka_unit_test(headings_fit_the_listed_sockets),
        cmocka_unit_test(a_coloured_state_is_as_wide_as_a_plain_one),
        cmocka_unit_test(groups_have_a_section_with_a_heading_of_three_lines),
        cmocka_unit_test(groups_are_never_cut_and_their_interfaces_escaped),
        cmocka_unit_test(groups_without_a_name_are_addresses),
    };

    return cmocka_run_group_tests_name("layout_netstat", tests, NULL, NULL);
}
