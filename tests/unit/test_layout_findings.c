/* SPDX-License-Identifier: MIT */
/* What fastnet doctor says to people, and the line for monitoring plugins. */
#include <string.h>

#include "fastnet/array.h"
#include "kit.h"

static const uint64_t rules = 24, milliseconds = 5004, one = 1;
static const bool yes = true, no = false;

static struct record finding(enum severity severity, const char *summary)
{
    struct record record;

    record_begin(&record, &kind_finding, sizeof record.finding);
    record.finding.severity = (uint8_t)severity;
    record.finding.rule = as_text("accept-queue");
    record.finding.summary = as_text(summary);
    return record;
}

static const char *written(const struct sink_ops *ops, const struct findings_layout *layout,
                           const struct record *records, size_t count)
{
    uint64_t counts[SEVERITIES] = {0};
    struct findings_layout counted = *layout;

    for (size_t i = 0; i < count; i++)
        counts[records[i].finding.severity]++;
    if (!layout->counts)
        counted.counts = counts;
    return output_of(ops, &counted, &no_names, -1, records, count);
}

static void a_finding_is_a_sentence_and_its_parts(void **state)
{
    const struct findings_layout layout = {
        .header = true, .rules = &rules, .milliseconds = &milliseconds, .partial = &no};
    struct record record = finding(SEVERITY_FAULT, "nginx (pid 812) does not accept");

    (void)state;
    record.finding.evidence = as_text("Recv-Q 129");
    record.finding.advice = as_text("find out why");
    record.finding.command = as_text("fastnet sockets -lt");
    assert_string_equal(written(&sink_findings, &layout, &record, 1),
                        "fault: nginx (pid 812) does not accept\n"
                        "    to do:    find out why\n"
                        "    see:      fastnet sockets -lt\n"
                        "    evidence: Recv-Q 129\n"
                        "    rule:     accept-queue\n"
                        "\n"
                        "1 fault, 0 warnings (24 rules, 5.004 s)\n");
}

static void the_last_line_counts_the_findings(void **state)
{
    struct findings_layout layout = {
        .header = true, .rules = &one, .milliseconds = &milliseconds, .partial = &no};
    const struct record past = finding(SEVERITY_PAST, "once");

    (void)state;
    assert_string_equal(written(&sink_findings, &layout, NULL, 0),
                        "nothing found by 1 rule (5.004 s)\n");
    assert_non_null(strstr(written(&sink_findings, &layout, &past, 1),
                           "\nnothing found by 1 rule; 1 in the past (5.004 s)\n"));
    layout.partial = &yes;
    assert_string_equal(written(&sink_findings, &layout, NULL, 0),
                        "nothing found by 1 rule, but not all could be checked (5.004 s)\n");
    layout.header = false;
    assert_string_equal(written(&sink_findings, &layout, NULL, 0), "");
}

/* The exit status is that of all findings, so the line must not say that all is well. */
static void findings_that_a_filter_leaves_out_are_counted(void **state)
{
    static const uint64_t counts[SEVERITIES] = {[SEVERITY_WARNING] = 2};
    const struct findings_layout layout = {.counts = counts,
                                           .header = true,
                                           .rules = &rules,
                                           .milliseconds = &milliseconds,
                                           .partial = &no};

    (void)state;
    assert_string_equal(written(&sink_findings, &layout, NULL, 0),
                        "0 faults, 2 warnings (24 rules, 5.004 s)\n");
    assert_string_equal(written(&sink_findings_line, &layout, NULL, 0),
                        "FASTNET WARNING: 0 faults, 2 warnings | faults=0 warnings=2\n");
}

static void the_last_line_counts_the_findings_that_are_not_shown(void **state)
{
    static const uint64_t counts[SEVERITIES] = {[SEVERITY_PAST] = 1, [SEVERITY_WARNING] = 2};
    uint64_t shown = 1; /* before this listing */
    const struct findings_layout layout = {.counts = counts,
                                           .header = true,
                                           .rules = &rules,
                                           .milliseconds = &milliseconds,
                                           .partial = &no,
                                           .shown = &shown};
    const struct record records[] = {finding(SEVERITY_WARNING, "w"), finding(SEVERITY_PAST, "p")};

    (void)state;
    assert_non_null(strstr(written(&sink_findings, &layout, records, 1),
                           "\n0 faults, 2 warnings; 1 in the past; 1 not shown (24 rules"));
    assert_int_equal(shown, 0); /* so the next listing counts from the beginning */
    shown = 1;
    assert_non_null(strstr(written(&sink_findings, &layout, records, 2),
                           "\n0 faults, 2 warnings; 1 in the past (24 rules"));
}

/* Names of processes and sockets are chosen by others. */
static void names_of_others_cannot_write_lines_or_colours(void **state)
{
    const struct findings_layout layout = {
        .rules = &rules, .milliseconds = &milliseconds, .partial = &no};
    const struct record record = finding(SEVERITY_WARNING, "a\n\033[31mfault: b\xc2\x9b");

    (void)state;
    assert_string_equal(written(&sink_findings, &layout, &record, 1),
                        "warning: a\\x0a\\x1b[31mfault: b\\xc2\\x9b\n"
                        "    rule:     accept-queue\n\n");
}

static void only_the_severity_is_coloured(void **state)
{
    const struct findings_layout layout = {
        .colour = true, .rules = &rules, .milliseconds = &milliseconds, .partial = &no};
    const struct record records[] = {finding(SEVERITY_WARNING, "w"), finding(SEVERITY_PAST, "p")};

    (void)state;
    assert_string_equal(written(&sink_findings, &layout, records, COUNT(records)),
                        "\033[1;33mwarning\033[0m: w\n    rule:     accept-queue\n\n"
                        "past: p\n    rule:     accept-queue\n\n");
}

/* A bar would begin the numbers of a plugin. */
static void a_plugin_prints_one_line_with_the_worst_finding(void **state)
{
    struct findings_layout layout = {
        .header = true, .rules = &rules, .milliseconds = &milliseconds, .partial = &no};
    const struct record records[] = {
        finding(SEVERITY_FAULT, "a|b\nc"),
        finding(SEVERITY_WARNING, "d"),
        finding(SEVERITY_PAST, "e"),
    };

    (void)state;
    assert_string_equal(
        written(&sink_findings_line, &layout, records, 3),
        "FASTNET CRITICAL: 1 fault, 1 warning; a\\x7cb\\x0ac | faults=1 warnings=1\n");
    assert_string_equal(written(&sink_findings_line, &layout, records + 1, 2),
                        "FASTNET WARNING: 0 faults, 1 warning; d | faults=0 warnings=1\n");
    assert_string_equal(written(&sink_findings_line, &layout, records + 2, 1),
                        "FASTNET OK: 0 faults, 0 warnings | faults=0 warnings=0\n");
    layout.partial = &yes;
    assert_string_equal(written(&sink_findings_line, &layout, records, 0),
                        "FASTNET UNKNOWN: 0 faults, 0 warnings | faults=0 warnings=0\n");
    assert_string_equal(written(&sink_findings_line, &layout, records + 1, 1),
                        "FASTNET WARNING: 0 faults, 1 warning; d | faults=0 warnings=1\n");
}

/* The longest sentence that a rule can write, all of it escaped, fits. */
static void the_longest_sentence_fits(void **state)
{
    const struct findings_layout layout = {
        .rules = &rules, .milliseconds = &milliseconds, .partial = &no};
    char summary[512];
    struct record record;

    (void)state;
    memset(summary, '\033', sizeof summary - 1);
    summary[sizeof summary - 1] = '\0';
    record = finding(SEVERITY_FAULT, summary);
    assert_int_equal(strlen(written(&sink_findings_line, &layout, &record, 1)),
                     strlen("FASTNET CRITICAL: 1 fault, 0 warnings;  | faults=1 warnings=0\n") +
                         4 * strlen(summary));
    assert_non_null(written(&sink_findings, &layout, &record, 1));
}

/* Each word on a line of its own, and each byte of it escaped. */
static void all_parts_at_their_longest_fit(void **state)
{
    const struct findings_layout layout = {.verbose = true,
                                           .width = 1,
                                           .rules = &rules,
                                           .milliseconds = &milliseconds,
                                           .partial = &no};
    char words[768], command[1023];
    struct record record;

    (void)state;
    for (size_t i = 0; i < sizeof words; i++)
        words[i] = i % 2 ? '\033' : ' ';
    memset(command, '\033', sizeof command);
    record = finding(SEVERITY_FAULT, "");
    record.finding.summary = (struct text){words, 511};
    record.finding.evidence = (struct text){words, 767};
    record.finding.command = (struct text){command, sizeof command};
    record.finding.advice = record.finding.source = as_text("a b c d e f g h i j k l m n");
    assert_non_null(written(&sink_findings, &layout, &record, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finding_is_a_sentence_and_its_parts),
        cmocka_unit_test(the_last_line_counts_the_findings),
        cmocka_unit_test(findings_that_a_filter_leaves_out_are_counted),
        cmocka_unit_test(the_last_line_counts_the_findings_that_are_not_shown),
        cmocka_unit_test(names_of_others_cannot_write_lines_or_colours),
        cmocka_unit_test(only_the_severity_is_coloured),
        cmocka_unit_test(a_plugin_prints_one_line_with_the_worst_finding),
        cmocka_unit_test(the_longest_sentence_fits),
        cmocka_unit_test(all_parts_at_their_longest_fit),
    };

    return cmocka_run_group_tests_name("layout_findings", tests, NULL, NULL);
}
