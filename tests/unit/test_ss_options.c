/* SPDX-License-Identifier: MIT */
/* ss's command line: which tables, families and states each selects, as ss of iproute2 7.1. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/ss/ss.h"
#include "kit.h"
#include "reference.h"

enum { WORDS_MAX = 16 };

struct parsed {
    struct ss_options options;
    int status;
    bool done;
    char said[CAPTURE_MAX], printed[CAPTURE_MAX];
};

/* The words are separated by blanks. They stay as long as the caller keeps `text`. */
static struct parsed parse(char *text)
{
    static char program[] = "ss";
    char *argv[WORDS_MAX + 1] = {program}, *rest = NULL;
    struct parsed parsed = {.status = 0};
    struct capture out, err;
    int argc = 1;

    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        assert_true(argc < WORDS_MAX);
        argv[argc++] = word;
    }
    capture_begin(&out, STDOUT_FILENO);
    capture_begin(&err, STDERR_FILENO);
    parsed.status = ss_parse(&parsed.options, argc, argv);
    parsed.done = parsed.status == STATUS_OK;
    parsed.status = parsed.status == PARSED ? 0 : parsed.status;
    capture_end(&err);
    capture_end(&out);
    memcpy(parsed.said, err.text, sizeof parsed.said);
    memcpy(parsed.printed, out.text, sizeof parsed.printed);
    return parsed;
}

static void add_word(char *to, size_t size, const char *word)
{
    const size_t used = strlen(to);

    snprintf(to + used, size - used, "%s%s", used ? " " : "", word);
}

static void put_tables(char *to, size_t size, uint32_t tables)
{
    static const char *const names[SS_TABLES] = {
        [SS_NETLINK] = "nl",        [SS_PACKET_RAW] = "p_raw", [SS_PACKET_DGRAM] = "p_dgr",
        [SS_UNIX_STREAM] = "u_str", [SS_UNIX_DGRAM] = "u_dgr", [SS_UNIX_SEQPACKET] = "u_seq",
        [SS_RAW] = "raw",           [SS_UDP] = "udp",          [SS_TCP] = "tcp",
        [SS_DCCP] = "dccp",         [SS_SCTP] = "sctp",        [SS_VSOCK_STREAM] = "v_str",
        [SS_VSOCK_DGRAM] = "v_dgr", [SS_TIPC] = "tipc",        [SS_XDP] = "xdp",
        [SS_MPTCP] = "mptcp",
    };

    for (size_t i = 0; i < SS_TABLES; i++)
        if (tables >> i & 1)
            add_word(to, size, names[i]);
}

static void put_families(char *to, size_t size, uint64_t families)
{
    static const char *const names[] = {
        [AF_UNIX] = "unix",   [AF_INET] = "4", [AF_INET6] = "6",     [AF_NETLINK] = "netlink",
        [AF_PACKET] = "link", [30] = "tipc",   [AF_VSOCK] = "vsock", [44] = "xdp",
    };

    for (size_t i = 0; i < COUNT(names); i++)
        if (families >> i & 1)
            add_word(to, size, names[i]);
}

/* "TABLES; FAMILIES; STATES" */
static const char *selected(const char *command_line)
{
    static char said[512];
    char text[256], tables[256] = "", families[128] = "";
    struct parsed parsed;

    snprintf(text, sizeof text, "%s", command_line);
    parsed = parse(text);
    assert_string_equal(parsed.said, "");
    assert_int_equal(parsed.status, 0);
    put_tables(tables, sizeof tables, parsed.options.selection.tables);
    put_families(families, sizeof families, parsed.options.selection.families);
    snprintf(said, sizeof said, "%s; %s; %#x", tables, families, parsed.options.selection.states);
    ss_options_finish(&parsed.options);
    return said;
}

struct selecting {
    const char *typed, *selects;
};

static void check(const struct selecting *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_string_equal(selected(cases[i].typed), cases[i].selects);
}

#define INET  "raw udp tcp dccp sctp mptcp"
#define UNIX  "u_str u_dgr u_seq"
#define ALL   "nl p_raw p_dgr u_str u_dgr u_seq raw udp tcp dccp sctp v_str v_dgr xdp mptcp"
#define EVERY "unix 4 6 netlink link vsock xdp"

/* State masks: 0x3b3f are the connected ones, with half-open ones (3, 12) and the state 13; 0x480
 * are LISTEN and CLOSE. */

static void tables_have_their_families_and_states(void **state)
{
    static const struct selecting cases[] = {
        {"", ALL "; " EVERY "; 0x3b3f"},
        {"-t", "tcp; 4 6; 0x3b3f"},
        {"-u", "udp; 4 6; 0x2"},
        {"-w", "raw; 4 6; 0x2"},
        {"-tu", "udp tcp; 4 6; 0x3b3f"},
        {"-uw", "raw udp; 4 6; 0x2"},
        {"-M", "mptcp; 4 6; 0x3b3f"},
        {"-S", "sctp; 4 6; 0x3b3f"},
        {"-d", "dccp; 4 6; 0x3b3f"},
        {"-x", UNIX "; unix; 0x3b3f"},
        {"-0", "p_raw p_dgr; link; 0x80"},
        {"-t0", "p_raw p_dgr tcp; 4 6 link; 0x3bbf"},
        {"--vsock", "v_str v_dgr; vsock; 0x3b3f"},
        {"--tipc", "tipc; tipc; 0x482"},
        {"--xdp", "xdp; xdp; 0x80"},
        {"-f netlink", "nl; netlink; 0x80"},
        {"-f link", "p_raw p_dgr; link; 0x80"},
        {"-4", INET "; 4; 0x3b3f"},
        {"-6", INET "; 6; 0x3b3f"},
        {"-46", INET "; 4 6; 0x3b3f"},
        {"-4t", "tcp; 4; 0x3b3f"},
        {"-t6", "tcp; 6; 0x3b3f"},
        {"-4x", UNIX " " INET "; unix 4; 0x3b3f"},
        {"-tx", UNIX " tcp; unix 4 6; 0x3b3f"},
        {"-4tx", UNIX " tcp; unix 4; 0x3b3f"},
        {"-f inet -f unix", UNIX " " INET "; unix 4; 0x3b3f"},
    };

    (void)state;
    check(cases, COUNT(cases));
}

static void queries_start_from_no_table_and_from_connected_states(void **state)
{
    static const struct selecting cases[] = {
        {"-A tcp", "tcp; 4 6; 0x3b3f"},
        {"-A packet", "p_raw p_dgr; link; 0x3b3f"},
        {"-A packet -a", "p_raw p_dgr; link; 0x3fff"},
        {"-a -A packet", "p_raw p_dgr; link; 0x3fff"},
        {"-A p_raw", "p_raw; link; 0x3b3f"},
        {"-l -A udp", "udp; 4 6; 0x480"},
        {"-A udp -l", "udp; 4 6; 0x480"},
        {"-t -A udp", "udp; 4 6; 0x3b3f"},
        {"-A udp -t", "udp tcp; 4 6; 0x3b3f"},
        {"-A udp -A tcp", "udp tcp; 4 6; 0x3b3f"},
        {"-A all,!unix,!inet", "nl p_raw p_dgr v_str v_dgr xdp; netlink link vsock xdp; 0x3b3f"},
        {"-A inet,!tcp", "raw udp dccp sctp mptcp; 4 6; 0x3b3f"},
        {"--query=u_str,u_seq", "u_str u_seq; unix; 0x3b3f"},
        {"--socket unix_dgram", "u_dgr; unix; 0x3b3f"},
        {"-A vsock_stream,v_dgr", "v_str v_dgr; vsock; 0x3b3f"},
        {"-A netlink,tipc", "nl tipc; netlink tipc; 0x3b3f"},
        {"-4 -A unix", UNIX " " INET "; unix 4; 0x3b3f"},
    };

    (void)state;
    check(cases, COUNT(cases));
}

static void the_last_option_about_states_counts(void **state)
{
    static const struct selecting cases[] = {
        {"-ta", "tcp; 4 6; 0x3fff"},      {"-tl", "tcp; 4 6; 0x480"},
        {"-tB", "tcp; 4 6; 0x2000"},      {"-tal", "tcp; 4 6; 0x480"},
        {"-tla", "tcp; 4 6; 0x3fff"},     {"-taB", "tcp; 4 6; 0x2000"},
        {"-l", ALL "; " EVERY "; 0x480"}, {"-xl", UNIX "; unix; 0x480"},
    };

    (void)state;
    check(cases, COUNT(cases));
}

static void states_are_added_and_excluded_by_name(void **state)
{
    static const struct selecting cases[] = {
        {"-t state established", "tcp; 4 6; 0x2"},
        {"-t state ESTABLISHED", "tcp; 4 6; 0x2"},
        {"-t state established state syn-sent", "tcp; 4 6; 0x6"},
        {"-ta state listening", "tcp; 4 6; 0x400"},
        {"state listening -t", "tcp; 4 6; 0x400"},
        {"-t exclude syn-recv", "tcp; 4 6; 0x2ff7"},
        {"-t exclude listening", "tcp; 4 6; 0x3bff"},
        {"-t excl listening exclude closed", "tcp; 4 6; 0x3b7f"},
        {"-t state all exclude established", "tcp; 4 6; 0x3ffd"},
        {"-t exclude established state established", "tcp; 4 6; 0x3fff"},
        {"-t state connected", "tcp; 4 6; 0x3b7f"},
        {"-t state synchronized", "tcp; 4 6; 0x3b7b"},
        {"-t state bucket", "tcp; 4 6; 0x48"},
        {"-t state big", "tcp; 4 6; 0x3fbf"},
        {"-t state syn-rcv state fin-wait-1 state fin-wait-2", "tcp; 4 6; 0x38"},
        {"-t state time-wait state unconnected state close-wait", "tcp; 4 6; 0x1c0"},
        {"-t state last-ack state closing state bound-inactive", "tcp; 4 6; 0x2a00"},
        {"-u state close", "udp; 4 6; 0x80"},
        {"-t exclude all", "tcp; 4 6; 0x3b3f"},
        {"state syn-recv", ALL "; " EVERY "; 0x8"},
    };

    (void)state;
    check(cases, COUNT(cases));
}

/* Words behind the states are the filter, wherever they stand. */
static void the_filter_is_what_is_left(void **state)
{
    char text[] = "dport = -t :22 -n";
    struct parsed parsed = parse(text);

    (void)state;
    assert_int_equal(parsed.options.word_count, 3);
    assert_string_equal(parsed.options.words[0], "dport");
    assert_string_equal(parsed.options.words[1], "=");
    assert_string_equal(parsed.options.words[2], ":22");
    assert_true(parsed.options.layout.numeric);
    ss_options_finish(&parsed.options);
    char behind[] = "state established dport = :22 state closed";
    parsed = parse(behind);
    assert_int_equal(parsed.options.word_count, 5);
    assert_string_equal(parsed.options.words[3], "state");
    assert_int_equal(parsed.options.selection.states, 2);
    ss_options_finish(&parsed.options);
}

static void process_is_short_for_processes_and_with_an_argument_a_filter(void **state)
{
    static const char *const typed[] = {"-p", "--processes", "--process", "--proces", "--proc"};
    char text[64];
    struct parsed parsed;

    (void)state;
    for (size_t i = 0; i < COUNT(typed); i++) {
        snprintf(text, sizeof text, "%s", typed[i]);
        parsed = parse(text);
        assert_int_equal(parsed.status, 0);
        assert_true(parsed.options.layout.processes);
        ss_options_finish(&parsed.options);
    }
    snprintf(text, sizeof text, "--process=nginx");
    parsed = parse(text);
    assert_int_equal(parsed.status, 0);
    assert_false(parsed.options.layout.processes);
    assert_int_equal(parsed.options.common.filters.count, 1);
    assert_string_equal(parsed.options.common.filters.typed[0].text, "nginx");
    ss_options_finish(&parsed.options);
}

static void the_summary_is_alone_unless_sockets_are_named(void **state)
{
    static const struct {
        const char *typed;
        bool listed;
        int status;
    } cases[] = {
        {"-s", false, 0},      {"-s -a -p", false, 0},          {"-s --json -c", false, 0},
        {"-st", true, 0},      {"-s -A udp", true, 0},          {"-s -f inet", true, 0},
        {"-s sport", true, 0}, {"-s state all", true, 0},       {"-t", true, 0},
        {"-s -E", false, 255}, {"-s -D -", false, 255},         {"-st --csv", true, 255},
        {"-st -c", true, 255}, {"-su --sort=state", true, 255},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[64];
        struct parsed parsed;
        snprintf(text, sizeof text, "%s", cases[i].typed);
        parsed = parse(text);
        assert_int_equal(parsed.status, cases[i].status);
        assert_int_equal(parsed.options.listed, cases[i].listed);
        ss_options_finish(&parsed.options);
    }
}

/* What ss says of it, and status 0. */
static void a_selection_without_tables_is_no_listing(void **state)
{
    char text[] = "-A tcp,!tcp";
    struct parsed parsed = parse(text);

    (void)state;
    assert_int_equal(parsed.status, 0);
    assert_true(parsed.done);
    assert_string_equal(parsed.said, "ss: no socket tables to show with such filter.\n");
    ss_options_finish(&parsed.options);
}

static void the_version_is_found_where_scripts_look_for_it(void **state)
{
    static const char *const typed[] = {"-V", "-v", "--version", "-tV"};

    (void)state;
    for (size_t i = 0; i < COUNT(typed); i++) {
        char text[32];
        struct parsed parsed;
        snprintf(text, sizeof text, "%s", typed[i]);
        parsed = parse(text);
        assert_int_equal(parsed.status, 0);
        assert_true(parsed.done);
        assert_string_equal(parsed.printed,
                            "ss utility, iproute2-7.1.0 (fastnet " FASTNET_VERSION ")\n");
        ss_options_finish(&parsed.options);
    }
}

/* --- What the kernel is asked for ------------------------------------------------------------- */

/* The tables of the listing by name; behind a colon the states that are wanted of each. */
static const char *listed(const char *command_line)
{
    static struct ss_tables tables;
    static char said[512];
    char text[256];
    struct parsed parsed;

    snprintf(text, sizeof text, "%s", command_line);
    parsed = parse(text);
    assert_int_equal(parsed.status, 0);
    ss_choose_tables(&tables, &parsed.options);
    said[0] = '\0';
    for (size_t i = 0; i < tables.count; i++) {
        const struct table *table = tables.tables[i].table;
        uint32_t states = 0;
        for (uint8_t number = 0; table && number < 14; number++) {
            const struct record record = {
                .kind = &kind_socket,
                .has = SOCKET_STATE,
                .socket = {.family = table->family, .protocol = table->protocol, .state = number}};
            if (predicate_may_hold(tables.tables[i].where, &record, SOCKET_STATE | KNOWN_ALWAYS))
                states |= UINT32_C(1) << number;
        }
        snprintf(text, sizeof text, "%s:%x", table ? table->name : "none", states);
        add_word(said, sizeof said, text);
    }
    ss_options_finish(&parsed.options);
    return said;
}

/* The kernel says of a bound socket that it is closed: that state is asked for with it. */
static void closed_sockets_of_tcp_are_not_asked_for(void **state)
{
    (void)state;
    assert_string_equal(listed("-t"), "tcp:3b3f tcp6:3b3f");
    assert_string_equal(listed("-4tB"), "tcp:2000");
    assert_string_equal(listed("-4tu state established"), "udp:2 tcp:2");
    assert_string_equal(listed("-4tul"), "udp:480 tcp:400");
    assert_string_equal(listed("-4tu -a"), "udp:3fff tcp:3fff");
    assert_string_equal(listed("-x"), "unix:3b3f");
}

static void filters_of_columns_find_listening_sockets_too(void **state)
{
    (void)state;
    assert_string_equal(listed("-4t --state=LISTEN"), "tcp:3fff");
    assert_string_equal(listed("-4t --port=80"), "tcp:3fff");
    assert_string_equal(listed("-4tl --port=80"), "tcp:400");
    assert_string_equal(listed("-4t --port=80 state established"), "tcp:2");
}

static void only_wanted_families_are_read_and_missing_tables_only_if_named(void **state)
{
    (void)state;
    assert_string_equal(listed("-6 -t -a"), "tcp6:3fff");
    assert_string_equal(listed("-A tcp,udp -f inet6 -a"), "udp6:3fff tcp6:3fff");
    assert_string_equal(listed("-4ad"), "none:0");
    assert_null(strstr(listed("-a"), "none"));
    assert_null(strstr(listed("-A inet"), "none"));
}

static void types_of_unix_sockets_are_distinguished(void **state)
{
    static struct ss_tables tables;
    char text[] = "-a -A u_dgr,u_seq";
    struct parsed parsed = parse(text);
    struct record record = {
        .kind = &kind_socket, .has = SOCKET_TYPE, .socket = {.family = AF_UNIX}};
    static const struct context nothing;

    (void)state;
    ss_choose_tables(&tables, &parsed.options);
    assert_int_equal(tables.count, 1);
    record.socket.type = SOCK_STREAM;
    assert_false(predicate_holds(tables.tables[0].where, &record, &nothing));
    record.socket.type = SOCK_DGRAM;
    assert_true(predicate_holds(tables.tables[0].where, &record, &nothing));
    record.socket.type = SOCK_SEQPACKET;
    assert_true(predicate_holds(tables.tables[0].where, &record, &nothing));
    ss_options_finish(&parsed.options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_have_their_families_and_states),
        cmocka_unit_test(queries_start_from_no_table_and_from_connected_states),
        cmocka_unit_test(the_last_option_about_states_counts),
        cmocka_unit_test(states_are_added_and_excluded_by_name),
        cmocka_unit_test(the_filter_is_what_is_left),
        cmocka_unit_test(process_is_short_for_processes_and_with_an_argument_a_filter),
        cmocka_unit_test(the_summary_is_alone_unless_sockets_are_named),
        cmocka_unit_test(a_selection_without_tables_is_no_listing),
        cmocka_unit_test(the_version_is_found_where_scripts_look_for_it),
        cmocka_unit_test(closed_sockets_of_tcp_are_not_asked_for),
        cmocka_unit_test(filters_of_columns_find_listening_sockets_too),
        cmocka_unit_test(only_wanted_families_are_read_and_missing_tables_only_if_named),
        cmocka_unit_test(types_of_unix_sockets_are_distinguished),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
