/* SPDX-License-Identifier: MIT */
/* conntrack's command line: what is asked for, and what conntrack-tools 1.4.7 would say to it. */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/personality.h"
#include "ct_line.h"
#include "kit.h"

/* A line that names the option stands before the one that names its argument. */
#define FORMS                                                                                      \
    "--output: extended, id, timestamp, ktimestamp, labels, xml, save, userspace, or "             \
    "./FILE\nconntrack: Bad parameter "
#define TABLES(name)                                                                               \
    "--" name ": conntrack, expect, dying, unconfirmed, or nothing\nconntrack: unknown type "

/* --- Commands and tables ---------------------------------------------------------------------- */

static void without_a_command_flows_are_listed(void **state)
{
    const struct conntrack_options options = ct_accept((const char *const[]){NULL});

    (void)state;
    assert_int_equal(options.command, COMMAND_LIST);
    assert_int_equal(options.table, TABLE_CONNTRACK);
    assert_false(conntrack_filter_given(&options.filter));
    assert_int_equal(options.filter.family, AF_UNSPEC);
    assert_int_equal(ACCEPT("-p", "tcp").command, COMMAND_LIST);
}

static void commands_have_letters_and_names(void **state)
{
    static const struct {
        const char *letter, *name;
        enum conntrack_command command;
    } commands[] = {
        {"-L", "--dump", COMMAND_LIST},        {"-E", "--event", COMMAND_EVENT},
        {"-C", "--counter", COMMAND_COUNT},    {"-S", "--stats", COMMAND_STATISTICS},
        {"--usage", "--usage", COMMAND_USAGE},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(commands); i++) {
        assert_int_equal(ACCEPT(commands[i].letter).command, commands[i].command);
        assert_int_equal(ACCEPT(commands[i].name).command, commands[i].command);
    }
    assert_int_equal(ACCEPT("-G", "-p", "253", "-s", "1.1.1.1", "-d", "2.2.2.2").command,
                     COMMAND_GET);
}

static void a_table_may_be_the_rest_of_the_word_or_the_next_one(void **state)
{
    (void)state;
    assert_int_equal(ACCEPT("-L", "expect").table, TABLE_EXPECT);
    assert_int_equal(ACCEPT("-Lexpect").table, TABLE_EXPECT);
    assert_int_equal(ACCEPT("--dump", "expect").table, TABLE_EXPECT);
    assert_int_equal(ACCEPT("--dump=expect").table, TABLE_EXPECT);
    assert_int_equal(ACCEPT("-L", "exp", "-o", "id").table, TABLE_EXPECT);
    assert_int_equal(ACCEPT("-L", "conntrack").table, TABLE_CONNTRACK);
    assert_int_equal(ACCEPT("-L", "dying").table, TABLE_DYING);
    assert_int_equal(ACCEPT("-L", "unconfirmed").table, TABLE_UNCONFIRMED);
    assert_int_equal(ACCEPT("-L", "-p", "tcp").table, TABLE_CONNTRACK);
    assert_int_equal(ACCEPT("-C", "expect").table, TABLE_EXPECT);
    assert_int_equal(ACCEPT("-S", "expect").table, TABLE_EXPECT);
    assert_int_equal(ACCEPT("-E", "expect").table, TABLE_EXPECT);
}

static void a_table_that_there_is_not_is_named(void **state)
{
    (void)state;
    WRONG(TABLES("dump") "`foo'", "-L", "foo");
    /* the original passes over these, and over what follows: it lists every flow */
    WRONG(TABLES("dump") "`f'", "-Lf", "ipv4");
    WRONG(TABLES("dump") "`n'", "-Ln");
    WRONG(TABLES("dump") "`p'", "-Lp", "tcp");
    WRONG(TABLES("event") "`x'", "--event=x");
    WRONG(TABLES("dump") "`\\x1b[2J'", "-L", "\033[2J");
    WRONG("Can't do that command with tables `dying' and `unconfirmed'", "-E", "dying");
    WRONG("Can't do that command with tables `dying' and `unconfirmed'", "-C", "unconfirmed");
}

static void two_commands_are_one_too_many(void **state)
{
    (void)state;
    WRONG("Invalid commands combination", "-L", "-E");
    WRONG("Invalid commands combination", "-L", "-L");
    WRONG("Invalid commands combination", "--usage", "-C");
}

static void commands_that_change_the_table_are_refused_in_one_line(void **state)
{
    static const struct {
        const char *letter, *name, *said;
    } changes[] = {
        {"-D", "--delete", "conntrack: conntrack -D (--delete) changes the table, "},
        {"-I", "--create", "conntrack: conntrack -I (--create) changes the table, "},
        {"-U", "--update", "conntrack: conntrack -U (--update) changes the table, "},
        {"-F", "--flush", "conntrack: conntrack -F (--flush) changes the table, "},
        {"-A", "--add", "conntrack: conntrack -A (--add) changes the table, "},
        {"-Rfile", "--load-file=x", "conntrack: conntrack -R (--load-file) changes the table, "},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(changes) * 2; i++) {
        const char *word = i % 2 ? changes[i / 2].name : changes[i / 2].letter;
        const struct ct_parsed parsed = PARSE("-p", "tcp", word);
        assert_int_equal(parsed.status, 2);
        assert_memory_equal(parsed.said, changes[i / 2].said, strlen(changes[i / 2].said));
        assert_non_null(strstr(parsed.said, " of conntrack-tools\n"));
        assert_ptr_equal(strchr(parsed.said, '\n') + 1, parsed.said + strlen(parsed.said));
    }
    assert_int_equal(PARSE("-D", "expect").status, 2);
}

/* --- What is shown ---------------------------------------------------------------------------- */

static void forms_of_output_may_be_combined(void **state)
{
    struct conntrack_options options = ACCEPT("-o", "extended,id", "-o", "labels", "--output=xml");

    (void)state;
    assert_true(options.layout.extended && options.layout.id && options.layout.labels);
    assert_true(options.layout.xml && !options.layout.save && !options.layout.timestamp);
    options = ACCEPT("-osave");
    assert_true(options.layout.save);
    WRONG(FORMS "`foo'", "-o", "foo");
    WRONG(FORMS "`id,'", "-o", "id,");
}

static void save_is_a_form_of_its_own(void **state)
{
    static const char *const others[] = {"xml", "extended",   "timestamp",
                                         "id",  "ktimestamp", "labels"};

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        const struct ct_parsed parsed = PARSE("-o", "save", "-o", others[i]);
        assert_int_equal(parsed.status, 1);
        assert_string_equal(parsed.said, "conntrack: cannot combine save output with any other "
                                         "output type, use -o save only\n");
    }
    assert_int_equal(PARSE("-o", "save,save,userspace").status, 0);
}

static void a_name_with_a_slash_is_a_file(void **state)
{
    (void)state;
    assert_string_equal(ACCEPT("-S", "--output=./out").common.output, "./out");
    assert_string_equal(ACCEPT("-L", "-o", "xml", "-o", "/tmp/out").common.output, "/tmp/out");
    assert_null(ACCEPT("-L", "-o", "xml").common.output);
}

static void events_may_be_chosen(void **state)
{
    struct conntrack_options options = ACCEPT("-E", "-e", "NEW,DESTROY", "-b", "1048576");

    (void)state;
    assert_int_equal(options.events, 1u << FLOW_NEW | 1u << FLOW_DESTROY);
    assert_int_equal(options.buffer_size, 1048576);
    assert_int_equal(ACCEPT("-E").events, 0);
    assert_int_equal(ACCEPT("-E", "-e", "ALL").events, 7);
    assert_int_equal(ACCEPT("-E", "-e", "new", "-e", "updates").events,
                     1u << FLOW_NEW | 1u << FLOW_UPDATE);
    WRONG("--event-mask: NEW, UPDATES, DESTROY, ALL\nconntrack: Bad parameter `FOO'", "-E", "-e",
          "FOO");
    WRONG("--exact cannot be combined with -E", "-E", "--exact");
}

static void counters_are_zeroed_only_without_a_filter(void **state)
{
    (void)state;
    assert_true(ACCEPT("-z").zero);
    assert_true(ACCEPT("-L", "-z", "-o", "id", "-f", "ipv4").zero);
    WRONG("Can't use -z with filtering parameters", "-L", "-z", "-p", "tcp");
    WRONG("Can't use -z with filtering parameters", "-zs", "1.1.1.1");
    WRONG("Can't use -z with filtering parameters", "-z", "--port=80");
    WRONG("Can't use -z with filtering parameters", "-L", "-z", "--where=mark = 1");
    WRONG("Can't use -z with --exact, which reads twice", "-z", "--exact");
}

/* --- What goes with what ---------------------------------------------------------------------- */

static void options_that_a_command_does_not_take_are_named(void **state)
{
    static const struct {
        const char *command, *table, *option, *argument, *name;
    } others[] = {
        {"-L", "conntrack", "-b", "1", "buffer-size"},
        {"-L", "conntrack", "-e", "NEW", "event-mask"},
        {"-L", "expect", "-p", "tcp", "protonum"},
        {"-L", "expect", "-z", NULL, "zero"},
        {"-E", "conntrack", "-z", NULL, "zero"},
        {"-E", "expect", "-p", "tcp", "protonum"},
        {"-E", "expect", "-e", "NEW", "event-mask"},
        {"-G", "conntrack", "-m", "1", "mark"},
        {"-G", "conntrack", "-n", NULL, "src-nat"},
        {"-G", "conntrack", "--mask-src", "255.0.0.0", "mask-src"},
        {"-G", "expect", "-w", "1", "zone"},
        {"-G", "expect", "--orig-zone", "1", "orig-zone"},
        {"-G", "expect", "--reply-zone", "1", "reply-zone"},
        {"-G", "expect", "--mask-dst", "255.0.0.0", "mask-dst"},
        {"-C", "conntrack", "-p", "tcp", "protonum"},
        {"-C", "expect", "-o", "id", "output"},
        {"-S", "conntrack", "-o", "id", "output"},
        {"-S", "expect", "-f", "ipv4", "family"},
        {"--usage", "-s", "1.1.1.1", NULL, "orig-src"},
        {"--usage", "-o", "id", NULL, "output"},
        {"-C", "conntrack", "--sport", "1", "sport"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        char said[128];
        snprintf(said, sizeof said, "Illegal option `--%s' with this command", others[i].name);
        WRONG(said, others[i].command, others[i].table, others[i].option, others[i].argument);
    }
}

static void all_filters_go_with_lists_and_events(void **state)
{
    static const char *const commands[] = {"-L", "-E"};

    (void)state;
    for (size_t i = 0; i < COUNT(commands); i++)
        ACCEPT(commands[i], "-fipv4", "-ptcp", "-s1.1.1.1", "-d2.2.2.2", "-r3.3.3.3", "-q4.4.4.4",
               "-uASSURED", "-m1", "-c1", "-l1", "-w1", "-n", "-g", "--orig-zone=1",
               "--reply-zone=1", "--sport=1", "--state=CLOSE", "--mask-src=255.0.0.0", "-oid");
}

static void options_of_fastnet_go_with_every_command(void **state)
{
    static const char *const commands[] = {"-L", "-C", "-S", "-E", "--usage"};

    (void)state;
    for (size_t i = 0; i < COUNT(commands); i++) {
        const struct conntrack_options options =
            ACCEPT(commands[i], "--json", "--columns=help", "--backend=netlink", "--no-header",
                   "--count-by=state", "--proc-root=/x");
        assert_int_equal(options.common.format, FORMAT_JSON);
        assert_int_equal(options.common.backend, BACKEND_NETLINK);
        assert_string_equal(options.common.count_by, "state");
        assert_true(options.common.no_header);
    }
    assert_int_equal(PARSE("--backend=ss").status, STATUS_PARAMETER);
}

static void operands_are_refused(void **state)
{
    (void)state;
    WRONG("`expect' is not an option; the name of a table comes after -L, -G, -E, -C or -S",
          "expect", "--json");
    WRONG("`more' is not an option; the name of a table comes after -L, -G, -E, -C or -S", "-p",
          "tcp", "more");
    WRONG("`-D' is not an option; the name of a table comes after -L, -G, -E, -C or -S", "-p",
          "tcp", "--", "-D");
}

static void mistakes_are_reported_in_getopts_words(void **state)
{
    (void)state;
    WRONG("invalid option -- 'x'", "-x");
    WRONG("unrecognized option '--bogus'", "--bogus");
    WRONG("option requires an argument -- 'p'", "-p");
    WRONG("option '--sport' requires an argument", "--sport");
    WRONG("option '--zero' doesn't allow an argument", "--zero=1");
    WRONG("option '--rep' is ambiguous; possibilities: '--reply-src' '--reply-dst' '--reply-zone' "
          "'--reply-port-src' '--reply-port-dst' '--reply-key-src' '--reply-key-dst' "
          "'--reply-vtag'",
          "--rep");
}

static void fastnet_conntrack_names_itself(void **state)
{
    static const char *const words[] = {"-p", "foo", NULL};
    const struct ct_parsed parsed = ct_parse_as("fastnet", words);

    (void)state;
    assert_string_equal(parsed.said, "fastnet: --protonum: a number of at most 255, or a name: "
                                     "tcp, udp, icmp, sctp, gre ...\n"
                                     "fastnet: `foo' unsupported protocol\n"
                                     "Try `fastnet conntrack -h' or 'fastnet conntrack --help' for "
                                     "more information.\n");
}

/* --- Answers ---------------------------------------------------------------------------------- */

static void help_and_version_are_answers(void **state)
{
    static const char *const words[] = {"-h", "--help", "-V", "--version", "--completion=bash"};

    (void)state;
    for (size_t i = 0; i < COUNT(words); i++) {
        const struct ct_parsed parsed = PARSE(words[i]);
        assert_int_equal(parsed.status, 0);
        assert_true(parsed.done);
        assert_string_equal(parsed.said, "");
        assert_true(*parsed.printed != '\0');
    }
    assert_non_null(strstr(PARSE("-h").printed, "Usage: conntrack [COMMAND]"));
    assert_null(strstr(PARSE("-h").printed, "--delete"));
    const struct ct_parsed parsed = PARSE("--completion=csh");
    assert_int_equal(parsed.status, STATUS_PARAMETER);
    assert_string_equal(parsed.printed, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_command_flows_are_listed),
        cmocka_unit_test(commands_have_letters_and_names),
        cmocka_unit_test(a_table_may_be_the_rest_of_the_word_or_the_next_one),
        cmocka_unit_test(a_table_that_there_is_not_is_named),
        cmocka_unit_test(two_commands_are_one_too_many),
        cmocka_unit_test(commands_that_change_the_table_are_refused_in_one_line),
        cmocka_unit_test(forms_of_output_may_be_combined),
        cmocka_unit_test(save_is_a_form_of_its_own),
        cmocka_unit_test(a_name_with_a_slash_is_a_file),
        cmocka_unit_test(events_may_be_chosen),
        cmocka_unit_test(counters_are_zeroed_only_without_a_filter),
        cmocka_unit_test(options_that_a_command_does_not_take_are_named),
        cmocka_unit_test(all_filters_go_with_lists_and_events),
        cmocka_unit_test(options_of_fastnet_go_with_every_command),
        cmocka_unit_test(operands_are_refused),
        cmocka_unit_test(mistakes_are_reported_in_getopts_words),
        cmocka_unit_test(fastnet_conntrack_names_itself),
        cmocka_unit_test(help_and_version_are_answers),
    };

    unsetenv("POSIXLY_CORRECT");
    return cmocka_run_group_tests_name("conntrack_options", tests, NULL, NULL);
}
