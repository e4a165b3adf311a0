/* SPDX-License-Identifier: MIT */
#include "ct_line.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"

enum { WORDS_MAX = 48 };

struct ct_parsed ct_parse_as(const char *program, const char *const words[])
{
    char *argv[WORDS_MAX + 1] = {(char *)(uintptr_t)program};
    struct capture out, err;
    struct ct_parsed parsed;
    int argc = 1;

    memset(&parsed, 0, sizeof parsed);
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    capture_begin(&out, STDOUT_FILENO);
    capture_begin(&err, STDERR_FILENO);
    parsed.status = conntrack_parse(&parsed.options, argc, argv);
    parsed.done = parsed.status == STATUS_OK;
    parsed.status = parsed.status == PARSED ? 0 : parsed.status;
    capture_end(&err);
    capture_end(&out);
    memcpy(parsed.said, err.text, sizeof parsed.said);
    memcpy(parsed.printed, out.text, sizeof parsed.printed);
    return parsed;
}

struct conntrack_options ct_accept(const char *const words[])
{
    const struct ct_parsed parsed = ct_parse_as("conntrack", words);

    if (parsed.status || *parsed.said)
        fail_msg("%s: %d: %s", words[0] ? words[0] : "", parsed.status, parsed.said);
    assert_false(parsed.done);
    assert_string_equal(parsed.printed, "");
    return parsed.options;
}

struct conntrack_filter *ct_filter(const char *line)
{
    static struct conntrack_options kept[CT_FILTERS];
    static size_t next;
    struct conntrack_options *options = &kept[next++ % CT_FILTERS];
    char text[512], program[] = "conntrack";
    char *argv[WORDS_MAX + 1] = {program}, *rest = NULL;
    int argc = 1;

    assert_in_range(snprintf(text, sizeof text, "%s", line), 0, sizeof text - 1);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    assert_in_range(argc, 1, WORDS_MAX);
    memset(options, 0, sizeof *options);
    if (conntrack_parse(options, argc, argv) != PARSED)
        fail_msg("%s: it was not accepted", line);
    return &options->filter;
}

const struct predicate *ct_where(const char *line)
{
    return conntrack_filter_where(ct_filter(line), &kind_flow);
}

void ct_assert_wrong(const char *const words[], const char *said)
{
    static const char hint[] = "Try `conntrack -h' or 'conntrack --help' for more information.\n";
    const struct ct_parsed parsed = ct_parse_as("conntrack", words);
    char expected[CAPTURE_MAX];

    snprintf(expected, sizeof expected, "conntrack: %s\n%s", said, hint);
    assert_string_equal(parsed.said, expected);
    assert_int_equal(parsed.status, STATUS_PARAMETER);
    assert_int_equal(parsed.status, 2);
    assert_string_equal(parsed.printed, "");
}
