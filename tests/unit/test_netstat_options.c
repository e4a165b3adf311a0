/* SPDX-License-Identifier: MIT */
/* netstat's command line: what is asked for, and what net-tools 2.10 would say to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/netstat/netstat.h"
#include "cli/personality.h"
#include "kit.h"
#include "reference.h"

enum { WORDS_MAX = 16 };

struct parsed {
    struct netstat_options options;
    int status;
    bool done;
    char said[CAPTURE_MAX], printed[CAPTURE_MAX];
};

static const struct grammar *const *commands; /* set: as fastnet, with these */

static void parse_words(struct parsed *parsed, int argc, char *const argv[])
{
    struct capture out, err;

    memset(parsed, 0, sizeof *parsed);
    parsed->options.common.words = commands;
    capture_begin(&out, STDOUT_FILENO);
    capture_begin(&err, STDERR_FILENO);
    parsed->status = netstat_parse(&parsed->options, argc, argv);
    parsed->done = parsed->status == STATUS_OK;
    parsed->status = parsed->status == PARSED ? 0 : parsed->status;
    capture_end(&err);
    capture_end(&out);
    memcpy(parsed->said, err.text, sizeof parsed->said);
    memcpy(parsed->printed, out.text, sizeof parsed->printed);
}

static struct parsed parse(const char *const words[])
{
    char *argv[WORDS_MAX + 1] = {(char *)(uintptr_t) "netstat"};
    struct parsed parsed;
    int argc = 1;

    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    parse_words(&parsed, argc, argv);
    return parsed;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

static struct netstat_options accepted(const char *const words[])
{
    struct parsed parsed = parse(words);

    assert_int_equal(parsed.status, 0);
    assert_false(parsed.done);
    assert_string_equal(parsed.said, "");
    return parsed.options;
}

#define ACCEPT(...) accepted((const char *const[]){__VA_ARGS__, NULL})

static void assert_refused(const struct parsed *parsed, int status, const char *said)
{
    assert_int_equal(parsed->status, status);
    assert_string_equal(parsed->said, said);
    assert_string_equal(parsed->printed, "");
}

/* --- What is asked for ------------------------------------------------------------------------ */

static void without_options_every_table_is_listed(void **state)
{
    struct netstat_options options = accepted((const char *const[]){NULL});

    (void)state;
    assert_int_equal(options.named_protocols, 0);
    assert_false(options.all || options.listening || options.tcp || options.unix_sockets);
}

static void a_bundle_is_all_of_its_letters(void **state)
{
    struct netstat_options options = ACCEPT("-tulpenva");

    (void)state;
    assert_true(options.tcp && options.udp && options.listening && options.layout.programs);
    assert_true(options.layout.extended && options.verbose && options.all);
    assert_true(options.layout.numeric_hosts && options.layout.numeric_ports &&
                options.layout.numeric_users);
    assert_true(options.inet && options.inet6);
    assert_int_equal(options.named_protocols, 2);
    assert_false(options.all_protocols);
}

static void a_family_without_a_protocol_means_all_of_its_protocols(void **state)
{
    struct netstat_options options = ACCEPT("-4");

    (void)state;
    assert_true(options.inet && !options.inet6 && options.all_protocols);
    assert_true(options.tcp && options.udp && options.udplite && options.raw && options.sctp);
    options = ACCEPT("-6t");
    assert_true(!options.inet && options.inet6 && options.tcp && !options.udp);
    assert_false(options.all_protocols);
}

static void families_are_named_in_several_ways(void **state)
{
    static const char *const inet[] = {"--inet", "--ip", "--tcpip", "-Ainet", "-Aip", "-Atcpip"};

    (void)state;
    for (size_t i = 0; i < COUNT(inet); i++) {
        struct netstat_options options = ACCEPT(inet[i]);
        assert_true(options.inet && !options.inet6);
    }
    struct netstat_options options = ACCEPT("--protocol=inet,inet6,unix", "--ipx");
    assert_true(options.inet && options.inet6 && options.unix_sockets);
    assert_true(options.ipx && !options.ax25 && !options.rose);
}

static void numeric_can_be_asked_for_in_parts(void **state)
{
    struct netstat_options options = ACCEPT("--numeric-ports", "--numeric-u");

    (void)state;
    assert_true(options.layout.numeric_ports && options.layout.numeric_users &&
                !options.layout.numeric_hosts);
}

static void netstat_repeats_each_second_or_at_an_interval(void **state)
{
    (void)state;
    assert_int_equal(ACCEPT("-c").common.interval_ms, 1000);
    assert_int_equal(ACCEPT("-tc", "5").common.interval_ms, 5000);
    assert_int_equal(ACCEPT("--conti", "0.25").common.interval_ms, 250);
    assert_int_equal(ACCEPT("-c", "junk").common.interval_ms, 1000);
    assert_true(ACCEPT("-c", "5").common.interval_ms);
}

static void operands_are_ignored(void **state)
{
    struct netstat_options options = ACCEPT("junk", "-t", "5", "more", "--", "-l");

    (void)state;
    assert_true(options.tcp);
    assert_false(options.listening);
}

static void as_fastnet_an_operand_is_refused_with_a_suggestion(void **state)
{
    static const struct grammar *const all[] = {
        &netstat_grammar, &arp_grammar, &neigh_grammar, &conntrack_grammar, &ss_grammar,
        &sockets_grammar, NULL};
    static const struct {
        const char *words[4], *said;
    } cases[] = {
        {{"-atn", "8080"}, "unexpected '8080'; did you mean --port=8080?"},
        {{"-M", ":8080"}, "unexpected ':8080'; did you mean --port=8080?"},
        {{"-i", "8080"}, "unexpected '8080' (see fastnet --help)"}, /* -i has no such column */
        {{"-i", "lo"}, "unexpected 'lo'; did you mean -I=lo?"},
        {{"-s", "TIME_WAIT"}, "unexpected 'TIME_WAIT' (see fastnet --help)"},
        {{"-r", "192.0.2.1"}, "unexpected '192.0.2.1'; did you mean --host=192.0.2.1?"},
        {{"192.0.2.0/24"}, "unexpected '192.0.2.0/24'; did you mean fastnet s 192.0.2.0/24?"},
        {{"fe80::1"}, "unexpected 'fe80::1'; did you mean fastnet s fe80::1?"},
        {{"conntrak"}, "unexpected 'conntrak'; did you mean fastnet conntrack?"},
        {{"neighbour"}, "unexpected 'neighbour'; did you mean fastnet neigh?"},
        {{"Sockets"}, "unexpected 'Sockets'; did you mean fastnet sockets?"},
        {{"lsof", "-i"}, "unexpected 'lsof'; did you mean fastnet s?"},
        {{"TCPDUMP"}, "unexpected 'TCPDUMP'; did you mean fastnet traffic?"},
        {{"-N", "web", "-tan"}, "unexpected 'web'; did you mean fastnet ss -N web?"},
        {{"state", "close-wait"}, "unexpected 'state'; did you mean fastnet s --state=CLOSE_WAIT?"},
        {{"estab"}, "unexpected 'estab'; did you mean fastnet s estab?"},
        {{"listen"}, "unexpected 'listen'; did you mean fastnet s listen?"},
        {{"-o", "json"}, "unexpected 'json'; did you mean --json?"},
        {{"-c", "five"}, "unexpected 'five'; did you mean -c 5?"},
        {{"123456"}, "unexpected '123456' (see fastnet --help)"},
        {{"nginx"}, "unexpected 'nginx'; did you mean fastnet s nginx?"},
        {{"my app"}, "unexpected 'my app'; did you mean fastnet s 'my app'?"},
        {{"-t", "nginx"}, "unexpected 'nginx' (see fastnet --help)"},
        {{"-N", "w\033b"}, "unexpected 'w\\x1bb'; did you mean fastnet ss -N w\\x1bb?"},
        {{"65535"}, "unexpected '65535'; did you mean fastnet s 65535?"},
        {{"65536"}, "unexpected '65536' (see fastnet --help)"},
        {{"192.0.2.0/33"}, "unexpected '192.0.2.0/33' (see fastnet --help)"},
        {{"fe80::/128"}, "unexpected 'fe80::/128'; did you mean fastnet s fe80::/128?"},
        {{"fe80::/129"}, "unexpected 'fe80::/129' (see fastnet --help)"},
        {{"wo\nrd"}, "unexpected 'wo\\x0ard' (see fastnet --help)"},
    };
    char line[CAPTURE_MAX];

    (void)state;
    commands = all;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct parsed parsed = parse(cases[i].words);
        snprintf(line, sizeof line, "netstat: %s\n", cases[i].said);
        assert_refused(&parsed, STATUS_REFUSED, line);
    }
    commands = NULL;
}

static void options_of_fastnet_are_understood(void **state)
{
    struct netstat_options options =
        ACCEPT("--json", "--columns=pid,inode", "--sort", "-inode", "--count-by=state",
               "--no-header", "--exact", "--backend=proc", "--proc-root", "/captured");

    (void)state;
    assert_int_equal(options.common.format, FORMAT_JSON);
    assert_string_equal(options.common.columns, "pid,inode");
    assert_string_equal(options.common.sort, "-inode");
    assert_string_equal(options.common.count_by, "state");
    assert_string_equal(options.common.proc_root, "/captured");
    assert_true(options.common.no_header && options.common.exact);
    assert_int_equal(options.common.backend, BACKEND_PROC);
    assert_int_equal(ACCEPT("--ndjson").common.format, FORMAT_NDJSON);
    assert_int_equal(ACCEPT("--csv").common.format, FORMAT_CSV);
    assert_int_equal(ACCEPT("--backend", "auto").common.backend, BACKEND_AUTO);
    assert_int_equal(ACCEPT("--backend", "netlink").common.backend, BACKEND_NETLINK);
}

/* They were clear before there were --exact, --csv, --sort, --columns and --no-header. */
static void abbreviations_of_netstats_mean_what_they_meant(void **state)
{
    struct netstat_options options = ACCEPT("--ex", "--e", "--sy", "--ti", "--al", "--lis");

    (void)state;
    assert_true(options.layout.extended && options.layout.timers && options.listening);
    assert_false(options.common.exact);
    assert_true(ACCEPT("--contin").common.interval_ms);
    assert_true(PARSE("--sta").options.kind == &kind_counter);
}

/* --- What is refused -------------------------------------------------------------------------- */

static void mistakes_are_reported_in_one_line_and_exit_3(void **state)
{
    static const struct {
        const char *word, *said;
    } mistakes[] = {
        {"-Q", "invalid option -- 'Q'"},
        {"-aA", "option requires an argument -- 'A'"},
        {"--bogus", "unrecognized option '--bogus'"},
        {"--tcp=1", "option '--tcp' doesn't allow an argument"},
        {"--proto", "option '--protocol' requires an argument"},
        {"--i", "option '--i' is ambiguous; possibilities: '--ip' '--interfaces'"},
        {"--nu=3", "option '--nu=3' is ambiguous; possibilities: '--numeric' "
                   "'--numeric-hosts' '--numeric-ports' '--numeric-users'"},
        {"--backend=ss", "--backend: auto, netlink or proc, not 'ss'"},
        {"--completion=csh", "--completion: expected bash, zsh or fish, not 'csh'"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(mistakes); i++) {
        struct parsed parsed = PARSE(mistakes[i].word);
        char line[OPTIONS_MESSAGE];
        snprintf(line, sizeof line, "netstat: %s (see netstat --help)\n", mistakes[i].said);
        assert_refused(&parsed, STATUS_MISUSE, line);
    }
}

static void an_interval_beyond_reason_is_refused(void **state)
{
    static const char *const intervals[] = {"0", "0.0", "0.0001", "1000001",
                                            "99999999999999999999999999999999999999"};

    (void)state;
    for (size_t i = 0; i < COUNT(intervals); i++) {
        struct parsed parsed = PARSE("-c", intervals[i]);
        assert_int_equal(parsed.status, STATUS_MISUSE);
        assert_non_null(strstr(parsed.said, "interval"));
    }
}

static void an_unknown_family_is_refused_as_netstat_does(void **state)
{
    struct parsed parsed = PARSE("-A", "inet,bo\033gus");

    (void)state;
    assert_refused(&parsed, STATUS_FAILURE, "Unknown address family `bo\\x1bgus'.\n");
    parsed = PARSE("-A", "");
    assert_refused(&parsed, STATUS_FAILURE, "Unknown address family `'.\n");
}

static void other_tables_exclude_one_another(void **state)
{
    struct parsed parsed = PARSE("-i", "-s");

    (void)state;
    assert_int_equal(parsed.status, STATUS_MISUSE);
    assert_true(PARSE("-r").options.kind == &kind_route);
    assert_true(PARSE("-gt").options.kind == &kind_group);
    parsed = PARSE("-Z");
    assert_refused(&parsed, STATUS_FAILURE, "SELinux is not enabled on this machine.\n");
}

static void groups_are_listed_with_sockets_but_after_all_other_tables(void **state)
{
    struct netstat_options options = ACCEPT("-s", "-g");

    (void)state;
    assert_true(options.kind == &kind_counter);
    options = ACCEPT("-g", "-M");
    assert_true(options.kind == &kind_flow);
    options = ACCEPT("-g");
    assert_true(options.kind == &kind_group);
    assert_int_equal(options.named_protocols, 1);
    assert_true(options.inet && options.inet6 && !options.tcp);
    options = ACCEPT("-gt");
    assert_int_equal(options.named_protocols, 2);
    options = ACCEPT("-g6");
    assert_true(options.inet6 && !options.inet && options.tcp && options.all_protocols);
}

static void names_of_families_are_kept_together_as_net_tools_keeps_them(void **state)
{
    (void)state;
    assert_string_equal(ACCEPT("-s").afname, "");
    assert_string_equal(ACCEPT("-s4").afname, "inet");
    assert_string_equal(ACCEPT("-s", "-A", "tcpip,ip6", "-x").afname, "inet,inet6,unix");
    assert_string_equal(ACCEPT("-s", "--appletalk").afname, "ddp");
}

static void too_many_families_are_reported_once_and_left_out(void **state)
{
    char names[512], *end = names;

    (void)state;
    for (int i = 0; i < 30; i++)
        end = stpcpy(end, i ? ",bluetooth" : "bluetooth");
    const struct parsed parsed = PARSE("-A", names);
    assert_int_equal(parsed.status, STATUS_OK);
    assert_true(strlen(parsed.options.afname) < sizeof parsed.options.afname);
    assert_string_equal(parsed.said, "Too much address family arguments.\n");
}

static void an_interface_can_be_named_in_the_same_word(void **state)
{
    (void)state;
    assert_null(PARSE("-i").options.interface);
    assert_null(PARSE("-I").options.interface);
    assert_null(PARSE("--interfaces").options.interface);
    assert_null(PARSE("-I", "lo").options.interface);
    assert_string_equal(PARSE("-Ilo").options.interface, "lo");
    assert_string_equal(PARSE("-I=lo").options.interface, "lo");
    assert_string_equal(PARSE("-niI=lo").options.interface, "lo");
    assert_string_equal(PARSE("-I=lo", "-i").options.interface, "lo");
    assert_string_equal(PARSE("--interfaces=lo").options.interface, "lo");
    assert_string_equal(PARSE("--int=lo").options.interface, "lo");
    assert_true(PARSE("-Ilo").options.kind == &kind_interface);
    assert_int_equal(PARSE("-i", "-Ilo").status, 0);
    assert_int_equal(PARSE("-r", "-Ilo").status, STATUS_MISUSE);
}

static void changes_are_for_counters_that_come_again(void **state)
{
    (void)state;
    assert_int_equal(PARSE("-i", "-c", "--delta").status, 0);
    assert_true(PARSE("-s", "-c", "--delta").options.common.delta);
}

static void families_are_kept_as_they_were_named(void **state)
{
    (void)state;
    assert_string_equal(PARSE("-r").options.afname, "");
    assert_string_equal(PARSE("-r64").options.afname, "inet6,inet");
    assert_string_equal(PARSE("-r", "-A", "ip,ip6", "--tcpip").options.afname, "inet,inet6,inet");
    assert_string_equal(PARSE("-rx").options.afname, "unix");
}

static void help_version_and_completion_are_answered_on_stdout(void **state)
{
    static const char *const questions[] = {"-h", "--help", "-V", "--version", "--completion=fish"};

    (void)state;
    for (size_t i = 0; i < COUNT(questions); i++) {
        struct parsed parsed = PARSE("-t", questions[i], "-n");
        assert_int_equal(parsed.status, STATUS_OK);
        assert_true(parsed.done);
        assert_string_equal(parsed.said, "");
        assert_true(strlen(parsed.printed) > 30);
    }
}

/* --- Against getopt_long itself, with the table of net-tools 2.10 ----------------------------- */

static const char letters[] = "A:CFMacdeghilnNoprsStuUvVWw2fx64?Z";

static const struct reference_option options_of_netstat[] = {
    {"ax25", 1, false},
    {"x25", 1, false},
    {"ip", 1, false},
    {"ipx", 1, false},
    {"appletalk", 1, false},
    {"netrom", 1, false},
    {"inet", 1, false},
    {"inet6", 1, false},
    {"ddp", 1, false},
    {"rose", 1, false},
    {"unix", 1, false},
    {"bluetooth", 1, false},
    {"tcpip", 1, false},
    {"version", 'V', false},
    {"interfaces", 'i', false},
    {"help", 'h', false},
    {"route", 'r', false},
    {"masquerade", 'M', false},
    {"protocol", 'A', true},
    {"tcp", 't', false},
    {"sctp", 'S', false},
    {"udp", 'u', false},
    {"udplite", 'U', false},
    {"raw", 'w', false},
    {"unix", 'x', false},
    {"l2cap", '2', false},
    {"rfcomm", 'f', false},
    {"listening", 'l', false},
    {"all", 'a', false},
    {"timers", 'o', false},
    {"continuous", 'c', false},
    {"extend", 'e', false},
    {"programs", 'p', false},
    {"verbose", 'v', false},
    {"statistics", 's', false},
    {"wide", 'W', false},
    {"numeric", 'n', false},
    {"numeric-hosts", '!', false},
    {"numeric-ports", '@', false},
    {"numeric-users", '#', false},
    {"symbolic", 'N', false},
    {"cache", 'C', false},
    {"fib", 'F', false},
    {"groups", 'g', false},
    {"context", 'Z', false},
};

/* Options that are answered, or refused, whatever comes behind them. */
static bool ends_there(int id)
{
    return id == 'h' || id == 'V' || id == 'Z';
}

static bool is_other_table(int id)
{
    return strchr("risM", id) != NULL;
}

static void assert_flags(const struct netstat_options *options, const struct reference *reference)
{
    bool seen[256] = {false};

    for (size_t i = 0; i < reference->count; i++)
        seen[reference->ids[i]] = true;
    assert_int_equal(options->all, seen['a']);
    assert_int_equal(options->listening, seen['l']);
    assert_int_equal(options->layout.extended, seen['e']);
    assert_int_equal(options->layout.timers, seen['o']);
    assert_int_equal(options->layout.programs, seen['p']);
    assert_int_equal(options->verbose, seen['v']);
    assert_int_equal(options->common.interval_ms != 0, seen['c']);
    assert_int_equal(options->layout.numeric_hosts, seen['n'] || seen['!']);
    assert_int_equal(options->layout.numeric_ports, seen['n'] || seen['@']);
    assert_int_equal(options->layout.numeric_users, seen['n'] || seen['#']);
    assert_int_equal(options->bluetooth && !seen[1] && !seen['A'],
                     (seen['2'] || seen['f']) && !seen[1] && !seen['A']);
    if (seen['t'])
        assert_true(options->tcp);
    if (seen['u'])
        assert_true(options->udp);
    if (seen['x'])
        assert_true(options->unix_sockets);
}

/* Returns whether the line was one that can be compared. */
static bool compare(int argc, char *const argv[])
{
    struct reference reference;
    struct capture capture;
    struct parsed parsed;
    unsigned tables = 0;

    capture_begin(&capture, STDERR_FILENO);
    reference_parse(&reference, options_of_netstat, COUNT(options_of_netstat), letters, argc, argv);
    capture_end(&capture);
    for (size_t i = 0; i < reference.count; i++)
        if (ends_there(reference.ids[i]))
            return false;
    parse_words(&parsed, argc, argv);
    if (reference.misused) {
        assert_int_equal(parsed.status, STATUS_MISUSE);
        capture.text[strcspn(capture.text, "\n")] = '\0';
        assert_memory_equal(parsed.said, capture.text, strlen(capture.text));
        assert_string_equal(parsed.said + strlen(capture.text), " (see netstat --help)\n");
        return true;
    }
    for (size_t i = 0; i < reference.count; i++)
        tables += is_other_table(reference.ids[i]);
    if (tables > 1) {
        assert_int_not_equal(parsed.status, 0);
        return true;
    }
    assert_int_equal(parsed.status, 0);
    assert_flags(&parsed.options, &reference);
    return true;
}

static void every_abbreviation_means_what_it_means_to_netstat(void **state)
{
    size_t compared = 0;

    (void)state;
    reference_needed();
    for (size_t i = 0; i < COUNT(options_of_netstat); i++) {
        const char *name = options_of_netstat[i].name;
        for (int length = 0; length <= (int)strlen(name); length++) {
            char word[32];
            char *argv[] = {(char *)(uintptr_t) "netstat", word, (char *)(uintptr_t) "inet", NULL};
            snprintf(word, sizeof word, "--%.*s", length, name);
            if (length > 0)
                compared += compare(3, argv);
            snprintf(word, sizeof word, "--%.*s=inet", length, name);
            if (strcmp(name, "interfaces") == 0 && length > 2)
                continue; /* netstat's takes no name */
            compared += compare(3, argv);
        }
    }
    assert_true(compared > 500);
}

static void make_word(char *word, size_t size)
{
    static const char *const pieces[] = {"junk", "5", "-", "-Ainet", "-A", "inet6", "-Q", "-tc"};
    const char *name = options_of_netstat[(size_t)rand() % COUNT(options_of_netstat)].name;
    const char *plain = "aelnoptuvwxU46WNSCFd";

    if (rand() % 4 == 0)
        snprintf(word, size, "%s", pieces[(size_t)rand() % COUNT(pieces)]);
    else if (rand() % 2)
        snprintf(word, size, "-%c%c%c", plain[(size_t)rand() % 20], plain[(size_t)rand() % 20],
                 plain[(size_t)rand() % 20]);
    else
        snprintf(word, size, "--%.*s", 1 + rand() % 12, name);
}

static void command_lines_mean_what_they_mean_to_netstat(void **state)
{
    size_t compared = 0;

    (void)state;
    reference_needed();
    srand(1);
    for (int round = 0; round < 10000; round++) {
        char words[5][64];
        char *argv[7] = {(char *)(uintptr_t) "netstat"};
        int argc = 1;
        for (; argc < 2 + rand() % 5; argc++) {
            make_word(words[argc - 1], sizeof words[0]);
            if (argc > 1 && strncmp(argv[argc - 1], "-A", 3) == 0)
                strcpy(words[argc - 1], "inet"); /* a family, or else that is told */
            if (argc > 1 && strncmp(argv[argc - 1], "--p", 3) == 0)
                strcpy(words[argc - 1], "unix");
            argv[argc] = words[argc - 1];
        }
        compared += compare(argc, argv);
    }
    assert_true(compared > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_options_every_table_is_listed),
        cmocka_unit_test(a_bundle_is_all_of_its_letters),
        cmocka_unit_test(a_family_without_a_protocol_means_all_of_its_protocols),
        cmocka_unit_test(families_are_named_in_several_ways),
        cmocka_unit_test(numeric_can_be_asked_for_in_parts),
        cmocka_unit_test(netstat_repeats_each_second_or_at_an_interval),
        cmocka_unit_test(operands_are_ignored),
        cmocka_unit_test(as_fastnet_an_operand_is_refused_with_a_suggestion),
        cmocka_unit_test(options_of_fastnet_are_understood),
        cmocka_unit_test(abbreviations_of_netstats_mean_what_they_meant),
        cmocka_unit_test(mistakes_are_reported_in_one_line_and_exit_3),
        cmocka_unit_test(an_interval_beyond_reason_is_refused),
        cmocka_unit_test(an_unknown_family_is_refused_as_netstat_does),
        cmocka_unit_test(other_tables_exclude_one_another),
        cmocka_unit_test(groups_are_listed_with_sockets_but_after_all_other_tables),
        cmocka_unit_test(names_of_families_are_kept_together_as_net_tools_keeps_them),
        cmocka_unit_test(too_many_families_are_reported_once_and_left_out),
        cmocka_unit_test(an_interface_can_be_named_in_the_same_word),
        cmocka_unit_test(changes_are_for_counters_that_come_again),
        cmocka_unit_test(families_are_kept_as_they_were_named),
        cmocka_unit_test(help_version_and_completion_are_answered_on_stdout),
        cmocka_unit_test(every_abbreviation_means_what_it_means_to_netstat),
        cmocka_unit_test(command_lines_mean_what_they_mean_to_netstat),
    };

    unsetenv("POSIXLY_CORRECT");
    return cmocka_run_group_tests_name("netstat_options", tests, NULL, NULL);
}
