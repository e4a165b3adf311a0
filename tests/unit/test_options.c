/* SPDX-License-Identifier: MIT */
/* The option parser, which is to understand what getopt_long(3) does, and say what it says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/completion.h"
#include "cli/options.h"
#include "kit.h"
#include "reference.h"

enum { EXACT = 1000, NO_HEADER, SORT, JSON };

static const struct option old_options[] = {
    LONG('f', "inet", 0, NULL),
    LONG('f', "inet6", 0, NULL),
    OPTION('i', "interfaces", 0, NULL),
    OPTION('a', "all", 0, "everything"),
    OPTION('e', "extend", 0, NULL),
    OPTION('A', "protocol", 0, "family", TAKES("FAMILY")),
    OPTION('p', "programs", 0, NULL),
    OPTION('n', "numeric", 0, NULL),
    LONG('h', "numeric-hosts", 0, NULL),
    OPTION('T', "notrim", 0, NULL),
    OPTION('4', NULL, 0, NULL),
    OPTION('c', "continuous", 0, NULL, .argument = ARGUMENT_INTERVAL),
};

static const struct option time_options[] = {
    OPTION('c', "continuous", 0, NULL, .argument = ARGUMENT_DURATION),
    LONG('F', "for", 0, NULL, TAKES("TIME"), .form = FORM_SECONDS),
    OPTION('s', NULL, 0, NULL),
    INSTEAD('i', "format", "IF", "--other=%s"),
};
static const struct option_table time_table = {.options = time_options,
                                               .count = COUNT(time_options)};
static const struct option_table *const times_only[] = {&time_table, NULL};

/* As conntrack has them. */
static const struct option word_options[] = {
    OPTION('L', "dump", 0, "list", .argument = ARGUMENT_WORD, .metavar = "[TABLE]",
           OF("conntrack expect")),
    OPTION('n', "src-nat", 0, NULL, .argument = ARGUMENT_WORD),
    OPTION('z', "zero", 0, NULL),
};

static const struct option new_options[] = {
    LONG(EXACT, "exact", 0, "read twice"),
    LONG(NO_HEADER, "no-header", 0, NULL),
    LONG(SORT, "sort", 0, NULL, .argument = ARGUMENT_REQUIRED),
    LONG(JSON, "json", 0, NULL),
};

static const struct option_table old_table = {.options = old_options, .count = COUNT(old_options)};
static const struct option_table new_table = {.options = new_options, .count = COUNT(new_options)};
static const char *const word_groups[] = {"Commands"};
static const struct option_table word_table = {
    .groups = word_groups, .group_count = 1, .options = word_options, .count = COUNT(word_options)};
static const struct option_table *const words_only[] = {&word_table, NULL};
static const struct option_table *const both[] = {&old_table, &new_table, NULL};

static const struct grammar grammar = {
    .name = "program", .tables = {&old_table, &new_table}, .kind = &kind_socket};

static const char letters[] = "iaeA:pnT4c";

enum { TAKEN_MAX = 64, WORDS_MAX = 16, STOP_AT = 'T' };

struct parsed {
    int ids[TAKEN_MAX];
    const char *arguments[TAKEN_MAX];
    size_t count;
    const char *operands[WORDS_MAX];
    size_t operand_count;
    int result;
    char message[OPTIONS_MESSAGE];
};

static int take(const struct option *option, const char *argument, void *arg)
{
    struct parsed *parsed = arg;

    if (option->id == OPTION_OPERAND) {
        parsed->operands[parsed->operand_count++] = argument;
        return 0;
    }
    assert_in_range(parsed->count, 0, TAKEN_MAX - 1);
    parsed->ids[parsed->count] = option->id;
    parsed->arguments[parsed->count++] = argument;
    return 0;
}

static int take_or_stop(const struct option *option, const char *argument, void *arg)
{
    take(option, argument, arg);
    return option->id == STOP_AT ? STOPPED : 0;
}

/* The words up to NULL, behind the program's name. */
static struct parsed parse_by(const struct option_table *const *tables, option_fn fn,
                              const char *const words[])
{
    struct parsed parsed = {.count = 0};
    char *argv[WORDS_MAX + 1] = {(char *)(uintptr_t) "prog"};
    int argc = 1;

    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    parsed.result = options_parse(tables, argc, argv, fn, &parsed, parsed.message);
    return parsed;
}

static struct parsed parse(option_fn fn, const char *const words[])
{
    return parse_by(both, fn, words);
}

#define PARSE(...)       parse(take, (const char *const[]){__VA_ARGS__, NULL})
#define PARSE_TIMES(...) parse_by(times_only, take, (const char *const[]){__VA_ARGS__, NULL})
#define PARSE_WORDS(...) parse_by(words_only, take, (const char *const[]){__VA_ARGS__, NULL})

static void assert_taken(const struct parsed *parsed, const int *ids, size_t count)
{
    assert_int_equal(parsed->result, 0);
    assert_int_equal(parsed->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(parsed->ids[i], ids[i]);
}

#define ASSERT_TAKEN(parsed, ...)                                                                  \
    assert_taken(parsed, (const int[]){__VA_ARGS__}, COUNT(((const int[]){__VA_ARGS__})))

static void assert_misuse(const struct parsed *parsed, const char *message)
{
    assert_int_equal(parsed->result, OPTIONS_MISUSE);
    assert_string_equal(parsed->message, message);
}

static void letters_may_be_bundled_and_operands_anywhere(void **state)
{
    struct parsed parsed = PARSE("junk", "-an4", "more", "-", "-e", "rest");

    (void)state;
    ASSERT_TAKEN(&parsed, 'a', 'n', '4', 'e');
}

static void operands_are_handed_on_in_their_order(void **state)
{
    struct parsed parsed = PARSE("junk", "-A", "inet", "-", "-n", "--", "-a", "--", "rest");

    (void)state;
    ASSERT_TAKEN(&parsed, 'A', 'n');
    assert_int_equal(parsed.operand_count, 5);
    assert_string_equal(parsed.operands[0], "junk");
    assert_string_equal(parsed.operands[1], "-");
    assert_string_equal(parsed.operands[2], "-a");
    assert_string_equal(parsed.operands[3], "--");
    assert_string_equal(parsed.operands[4], "rest");
}

static void an_argument_is_the_rest_of_the_word_or_the_next_one(void **state)
{
    struct parsed parsed =
        PARSE("-aAinet", "-A", "-n", "--protocol", "--all", "--protocol=a=b", "--protocol=");

    (void)state;
    ASSERT_TAKEN(&parsed, 'a', 'A', 'A', 'A', 'A', 'A');
    assert_string_equal(parsed.arguments[1], "inet");
    assert_string_equal(parsed.arguments[2], "-n");
    assert_string_equal(parsed.arguments[3], "--all");
    assert_string_equal(parsed.arguments[4], "a=b");
    assert_string_equal(parsed.arguments[5], "");
}

static void two_dashes_end_the_options(void **state)
{
    struct parsed parsed = PARSE("-a", "--", "-n", "--bogus");

    (void)state;
    ASSERT_TAKEN(&parsed, 'a');
}

static void an_interval_is_taken_when_a_number_follows(void **state)
{
    struct parsed parsed = PARSE("-c", "5", "-ac", ".5", "--continuous", "2");

    (void)state;
    ASSERT_TAKEN(&parsed, 'c', 'a', 'c', 'c');
    assert_string_equal(parsed.arguments[0], "5");
    assert_string_equal(parsed.arguments[2], ".5");
    assert_string_equal(parsed.arguments[3], "2");
}

static void anything_else_after_it_is_no_interval(void **state)
{
    static const char *const others[] = {"-a", "x", "5s", ".", "-5", "", "1.2.3", "1e3", "0x10"};

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        struct parsed parsed = PARSE("-c", others[i]);
        if (strcmp(others[i], "-5") == 0) {
            assert_misuse(&parsed, "invalid option -- '5'");
            continue;
        }
        assert_null(parsed.arguments[0]);
    }
    struct parsed parsed = PARSE("-ca", "5"); /* not the last letter */
    ASSERT_TAKEN(&parsed, 'c', 'a');
    assert_null(parsed.arguments[0]);
}

static void a_time_with_a_unit_is_taken_where_one_may_be(void **state)
{
    static const char *const times[] = {"5", ".5", "5s", "500ms", "1.5h", "3h05m", "2min"};

    (void)state;
    for (size_t i = 0; i < COUNT(times); i++) {
        struct parsed parsed = PARSE_TIMES("-c", times[i], "-s");
        ASSERT_TAKEN(&parsed, 'c', 's');
        assert_string_equal(parsed.arguments[0], times[i]);
    }
    struct parsed parsed = PARSE_TIMES("--continuous=5m", "--for", "x");
    ASSERT_TAKEN(&parsed, 'c', 'F');
    assert_string_equal(parsed.arguments[0], "5m");
    /* a wrong unit is taken, too, so that a message can name it */
    parsed = PARSE_TIMES("-c", "5x");
    assert_string_equal(parsed.arguments[0], "5x");
}

static void a_word_that_is_no_time_is_an_operand(void **state)
{
    static const char *const others[] = {"nginx", "s", "ms", "10.0.0.5", "fe80::1", "1e9", "", "."};

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        struct parsed parsed = PARSE_TIMES("-c", others[i]);
        ASSERT_TAKEN(&parsed, 'c');
        assert_null(parsed.arguments[0]);
        assert_string_equal(parsed.operands[0], others[i]);
    }
}

static void a_unit_in_a_word_of_its_own_is_refused(void **state)
{
    static const char message[] = "write the number and its unit as one word: '5s'";
    struct parsed parsed = PARSE_TIMES("-c", "5", "s");

    (void)state;
    assert_misuse(&parsed, message);
    parsed = PARSE_TIMES("--for=5", "s");
    assert_misuse(&parsed, message);
    parsed = PARSE_TIMES("-c5s");
    assert_misuse(&parsed, "invalid option -- '5'; did you mean -c 5s?");
    parsed = PARSE_TIMES("-c", "5", "nginx");
    assert_int_equal(parsed.result, 0);
    parsed = PARSE_TIMES("--for", "5", "7", "-c", "5", "");
    assert_int_equal(parsed.result, 0);
}

static void an_option_of_another_program_has_no_abbreviation(void **state)
{
    struct parsed parsed = PARSE_TIMES("--fo", "5", "-i", "eth0", "--format=x", "-i");

    (void)state;
    ASSERT_TAKEN(&parsed, 'F', time_options[3].id, time_options[3].id, time_options[3].id);
    assert_string_equal(parsed.arguments[1], "eth0");
    assert_string_equal(parsed.arguments[2], "x");
    assert_null(parsed.arguments[3]);
    parsed = PARSE_TIMES("--form");
    assert_int_equal(parsed.result, OPTIONS_MISUSE);
}

static void assert_arguments(const struct parsed *parsed, const char *first, const char *second)
{
    const char *const expected[] = {first, second};

    assert_int_equal(parsed->result, 0);
    for (size_t i = 0; i < 2 && expected[i]; i++) {
        assert_non_null(parsed->arguments[i]);
        assert_string_equal(parsed->arguments[i], expected[i]);
    }
}

static void a_word_is_the_rest_of_the_word_or_the_next_one(void **state)
{
    struct parsed parsed;

    (void)state;
    parsed = PARSE_WORDS("-L", "expect", "-n", ":80");
    assert_arguments(&parsed, "expect", ":80");
    parsed = PARSE_WORDS("-Lexpect", "-n1.2.3.4");
    assert_arguments(&parsed, "expect", "1.2.3.4");
    parsed = PARSE_WORDS("--dump", "expect", "--src-nat=:80");
    assert_arguments(&parsed, "expect", ":80");
    parsed = PARSE_WORDS("--dump=", "--du", "x");
    assert_arguments(&parsed, "", "x");
    parsed = PARSE_WORDS("-Lnz"); /* what follows the letter is its argument, no letters */
    assert_arguments(&parsed, "nz", NULL);
    assert_int_equal(parsed.count, 1);
    parsed = PARSE_WORDS("-zL", "expect");
    assert_int_equal(parsed.count, 2);
    assert_string_equal(parsed.arguments[1], "expect");
}

/* As conntrack takes the next word of its optional arguments. */
static void a_word_may_be_left_out(void **state)
{
    static const char *const others[] = {"-z", "--zero", "-", "--", "!ASSURED", "!"};

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        struct parsed parsed = PARSE_WORDS("-L", others[i]);
        assert_int_equal(parsed.result, 0);
        assert_null(parsed.arguments[0]);
        parsed = PARSE_WORDS("--dump", others[i]);
        assert_int_equal(parsed.result, 0);
        assert_null(parsed.arguments[0]);
    }
    struct parsed parsed = PARSE_WORDS("-n");
    ASSERT_TAKEN(&parsed, 'n');
    assert_null(parsed.arguments[0]);
    parsed = PARSE_WORDS("-L", "expect", "more");
    assert_int_equal(parsed.count, 1);
}

static void help_shows_a_word_after_a_blank(void **state)
{
    struct capture capture;

    (void)state;
    capture_begin(&capture, STDOUT_FILENO);
    options_help(&word_table, 0, word_table.group_count, "", NULL, stdout);
    capture_end(&capture);
    assert_string_equal(capture.text, "\nCommands:\n  -L, --dump [TABLE]          list\n");
}

static void help_leaves_out_refused_options(void **state)
{
    static const struct refused refused[] = {{"other dump", "conntrack", "why"},
                                             {NULL, NULL, NULL}};
    const struct option *dump = word_table.options;
    struct capture capture;

    (void)state;
    while (!dump->name || strcmp(dump->name, "dump") != 0)
        dump++;
    assert_string_equal(options_refused(refused, dump)->why, "why");
    assert_null(options_refused(&refused[1], dump));
    assert_null(options_refused(NULL, dump));
    capture_begin(&capture, STDOUT_FILENO);
    options_help(&word_table, 0, word_table.group_count, "", refused, stdout);
    capture_end(&capture);
    assert_string_equal(capture.text, "\nCommands:\n");
}

static void an_abbreviation_may_be_as_short_as_it_is_clear(void **state)
{
    struct parsed parsed = PARSE("--al", "--prog", "--prot=x", "--numeric", "--numeric-", "--j");

    (void)state;
    ASSERT_TAKEN(&parsed, 'a', 'p', 'A', 'n', 'h', JSON);
}

static void names_of_one_meaning_make_no_abbreviation_ambiguous(void **state)
{
    struct parsed parsed = PARSE("--ine");

    (void)state;
    ASSERT_TAKEN(&parsed, 'f');
}

/* --ex was --extend before there was --exact, --no was --notrim before --no-header. */
static void newer_options_do_not_make_older_abbreviations_ambiguous(void **state)
{
    struct parsed parsed = PARSE("--ex", "--e", "--no", "--exa", "--no-", "--exact", "--no-header");

    (void)state;
    ASSERT_TAKEN(&parsed, 'e', 'e', 'T', EXACT, NO_HEADER, EXACT, NO_HEADER);
}

static void mistakes_are_reported_in_getopts_words(void **state)
{
    struct parsed parsed;

    (void)state;
    parsed = PARSE("-aXn");
    assert_misuse(&parsed, "invalid option -- 'X'");
    parsed = PARSE("-A");
    assert_misuse(&parsed, "option requires an argument -- 'A'");
    parsed = PARSE("--bogus=1");
    assert_misuse(&parsed, "unrecognized option '--bogus=1'");
    parsed = PARSE("--al=1");
    assert_misuse(&parsed, "option '--all' doesn't allow an argument");
    parsed = PARSE("--prot");
    assert_misuse(&parsed, "option '--protocol' requires an argument");
    parsed = PARSE("--pro=x");
    assert_misuse(&parsed,
                  "option '--pro=x' is ambiguous; possibilities: '--protocol' '--programs'");
    parsed = PARSE("--in");
    assert_misuse(&parsed, "option '--in' is ambiguous; possibilities: '--inet' '--interfaces'");
}

static void the_option_that_was_probably_meant_is_named(void **state)
{
    struct parsed parsed;

    (void)state;
    parsed = PARSE("--protcol=x");
    assert_misuse(&parsed, "unrecognized option '--protcol=x'; did you mean --protocol?");
    parsed = PARSE("--exakt");
    assert_misuse(&parsed, "unrecognized option '--exakt'; did you mean --exact?");
    parsed = PARSE("--notirm"); /* --help does not show it */
    assert_misuse(&parsed, "unrecognized option '--notirm'");
}

static void typed_words_are_escaped_in_messages(void **state)
{
    struct parsed parsed;
    char longest[3000];

    (void)state;
    parsed = PARSE("--\033[2J\n");
    assert_misuse(&parsed, "unrecognized option '--\\x1b[2J\\x0a'");
    parsed = PARSE("-\377");
    assert_misuse(&parsed, "invalid option -- '\\xff'");
    memset(longest, '\001', sizeof longest);
    longest[0] = longest[1] = '-';
    longest[sizeof longest - 1] = '\0';
    parsed = PARSE(longest);
    assert_int_equal(parsed.result, OPTIONS_MISUSE);
    assert_in_range(strlen(parsed.message), 1, OPTIONS_MESSAGE - 1);
    longest[2] = 'p';
    longest[3] = '=';
    parsed = PARSE(longest);
    assert_int_equal(parsed.result, OPTIONS_MISUSE);
    assert_in_range(strlen(parsed.message), 1, OPTIONS_MESSAGE - 1);
}

static void a_callback_error_ends_the_parsing(void **state)
{
    static const char *const words[] = {"-aTn", "--bogus", NULL};
    static const char *const long_words[] = {"--notrim", "--bogus", NULL};
    struct parsed parsed = parse(take_or_stop, words);

    (void)state;
    assert_int_equal(parsed.result, STOPPED);
    assert_int_equal(parsed.count, 2);
    parsed = parse(take_or_stop, long_words);
    assert_int_equal(parsed.result, STOPPED);
}

static void no_words_are_no_options(void **state)
{
    char name[] = "-a"; /* of the program, which is no option */
    char *argv[] = {name, NULL};
    struct parsed parsed = {.count = 0};

    (void)state;
    assert_int_equal(options_parse(both, 0, argv, take, &parsed, parsed.message), 0);
    assert_int_equal(options_parse(both, 1, argv, take, &parsed, parsed.message), 0);
    assert_int_equal(parsed.count, 0);
}

static void a_word_is_an_option_if_it_can_mean_no_other(void **state)
{
    (void)state;
    assert_true(options_is(both, "--exact", EXACT) && options_is(both, "--exa", EXACT));
    assert_true(options_is(both, "--inet", 'f') && options_is(both, "--ine", 'f'));
    assert_false(options_is(both, "--ex", EXACT)); /* --extend of the first table */
    assert_false(options_is(both, "--in", 'f'));   /* or --interfaces */
    assert_false(options_is(both, "--", EXACT));
    assert_false(options_is(both, "exact", EXACT));
    assert_false(options_is(both, "--exact=", EXACT));
}

/* --- Against getopt_long itself --------------------------------------------------------------- */

/* One word, made of pieces that are likely to matter. */
static void make_word(char *word, size_t size)
{
    static const char *const pieces[] = {
        "-a", "-n", "-p", "-A", "-c", "-X", "--", "-", "junk", "", "-4e", "-:", "-A=", "-W",
    };
    const struct option *option = &old_options[(size_t)rand() % COUNT(old_options)];
    const char *name = option->name ? option->name : "four";
    int length = 1 + rand() % (int)strlen(name);

    switch (rand() % 6) {
    case 0:
        snprintf(word, size, "%s", pieces[(size_t)rand() % COUNT(pieces)]);
        break;
    case 1:
        snprintf(word, size, "-%c%c%c", letters[(size_t)rand() % (COUNT(letters) - 1)],
                 letters[(size_t)rand() % (COUNT(letters) - 1)], "aA?x"[rand() % 4]);
        break;
    case 2:
        snprintf(word, size, "--%s", name);
        break;
    case 3:
        snprintf(word, size, "--%.*s=%s", length, name, rand() % 2 ? "" : "x=y");
        break;
    case 4:
        snprintf(word, size, "--%.*s%s", length, name, rand() % 3 ? "" : "x");
        break;
    default:
        snprintf(word, size, "--%.*s", length, name);
    }
}

static void compare(const struct parsed *parsed, const struct reference *reference,
                    const char *said)
{
    char expected[CAPTURE_MAX];
    const char *hint = strstr(parsed->message, "; did you mean ");
    const size_t length = hint ? (size_t)(hint - parsed->message) : strlen(parsed->message);

    snprintf(expected, sizeof expected, "prog: %.*s\n", (int)length, parsed->message);
    assert_int_equal(parsed->result == OPTIONS_MISUSE, reference->misused);
    assert_string_equal(reference->misused ? expected : "", said);
    assert_int_equal(parsed->count, reference->count);
    for (size_t i = 0; i < parsed->count; i++) {
        const char *mine = parsed->arguments[i], *theirs = reference->arguments[i];
        assert_int_equal(parsed->ids[i], reference->ids[i]);
        assert_int_equal(mine != NULL, theirs != NULL);
        if (mine)
            assert_string_equal(mine, theirs);
    }
}

static void command_lines_mean_what_they_mean_to_getopt(void **state)
{
    static const struct option_table *const old[] = {&old_table, NULL};
    struct reference_option options[COUNT(old_options)];
    size_t count = 0;

    (void)state;
    reference_needed();
    for (size_t i = 0; i < COUNT(old_options); i++)
        if (old_options[i].name)
            options[count++] =
                (struct reference_option){old_options[i].name, old_options[i].id,
                                          old_options[i].argument == ARGUMENT_REQUIRED};
    srand(1);
    for (int round = 0; round < 20000; round++) {
        char words[5][64];
        char *argv[7] = {(char *)(uintptr_t) "prog"};
        int argc = 1;
        struct parsed parsed = {.count = 0};
        struct reference reference;
        struct capture capture;
        for (; argc < 2 + rand() % 5; argc++) {
            make_word(words[argc - 1], sizeof words[0]);
            argv[argc] = words[argc - 1];
        }
        parsed.result = options_parse(old, argc, argv, take, &parsed, parsed.message);
        capture_begin(&capture, STDERR_FILENO);
        reference_parse(&reference, options, count, letters, argc, argv);
        capture_end(&capture);
        compare(&parsed, &reference, capture.text);
    }
}

/* --- The table's other uses ------------------------------------------------------------------- */

static void an_unknown_shell_has_no_completion(void **state)
{
    struct capture capture;

    (void)state;
    capture_begin(&capture, STDOUT_FILENO);
    assert_false(completion_put_script("csh", "fastnet", stdout));
    assert_false(completion_put_script("", "fastnet", stdout));
    capture_end(&capture);
    assert_string_equal(capture.text, "");
}

static void a_script_names_its_command(void **state)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};
    struct capture capture;

    (void)state;
    for (size_t i = 0; i < COUNT(shells); i++) {
        capture_begin(&capture, STDOUT_FILENO);
        assert_true(completion_put_script(shells[i], "conntrack", stdout));
        capture_end(&capture);
        assert_non_null(strstr(capture.text, "completion for conntrack, by fastnet"));
        assert_null(strchr(capture.text, '\1'));
    }
}

static void options_of_help_are_completed(void **state)
{
    static const struct grammar other = {.name = "almost", .help = "another"};
    static const struct grammar *const grammars[] = {&other, NULL};
    static char program[] = "program", dashes[] = "--", begun[] = "al", lines[] = "--x=\n!ls\n,";
    char *words[] = {program, dashes};
    struct capture capture;

    (void)state;
    capture_begin(&capture, STDOUT_FILENO);
    completion_offer(&grammar, NULL, false, 2, words, stdout);
    capture_end(&capture);
    assert_non_null(strstr(capture.text, "--all"));
    assert_null(strstr(capture.text, "notrim")); /* no help: understood, not advertised */
    words[1] = begun;
    capture_begin(&capture, STDOUT_FILENO);
    completion_offer(&grammar, grammars, true, 2, words, stdout);
    capture_end(&capture);
    assert_string_equal(capture.text, "word\t\nalmost\tanother\n");
    words[1] = lines;
    capture_begin(&capture, STDOUT_FILENO);
    completion_offer(&grammar, grammars, true, 2, words, stdout);
    capture_end(&capture);
    assert_string_equal(capture.text, ""); /* a shell would run it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_may_be_bundled_and_operands_anywhere),
        cmocka_unit_test(operands_are_handed_on_in_their_order),
        cmocka_unit_test(an_argument_is_the_rest_of_the_word_or_the_next_one),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(an_interval_is_taken_when_a_number_follows),
        cmocka_unit_test(anything_else_after_it_is_no_interval),
        cmocka_unit_test(a_time_with_a_unit_is_taken_where_one_may_be),
        cmocka_unit_test(a_word_that_is_no_time_is_an_operand),
        cmocka_unit_test(a_unit_in_a_word_of_its_own_is_refused),
        cmocka_unit_test(an_option_of_another_program_has_no_abbreviation),
        cmocka_unit_test(a_word_is_the_rest_of_the_word_or_the_next_one),
        cmocka_unit_test(a_word_may_be_left_out),
        cmocka_unit_test(help_shows_a_word_after_a_blank),
        cmocka_unit_test(help_leaves_out_refused_options),
        cmocka_unit_test(an_abbreviation_may_be_as_short_as_it_is_clear),
        cmocka_unit_test(names_of_one_meaning_make_no_abbreviation_ambiguous),
        cmocka_unit_test(newer_options_do_not_make_older_abbreviations_ambiguous),
        cmocka_unit_test(mistakes_are_reported_in_getopts_words),
        cmocka_unit_test(the_option_that_was_probably_meant_is_named),
        cmocka_unit_test(typed_words_are_escaped_in_messages),
        cmocka_unit_test(a_callback_error_ends_the_parsing),
        cmocka_unit_test(no_words_are_no_options),
        cmocka_unit_test(a_word_is_an_option_if_it_can_mean_no_other),
        cmocka_unit_test(command_lines_mean_what_they_mean_to_getopt),
        cmocka_unit_test(an_unknown_shell_has_no_completion),
        cmocka_unit_test(a_script_names_its_command),
        cmocka_unit_test(options_of_help_are_completed),
    };

    unsetenv("POSIXLY_CORRECT");
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
