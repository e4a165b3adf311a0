/* SPDX-License-Identifier: MIT */
/* The counters of netstat -s, byte for byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/counter/statistics_texts.h"
#include "kit.h"

enum sign { POSITIVE, NEGATIVE, NO_VALUE };

struct counter {
    const char *protocol, *name;
    uint64_t magnitude;
    enum sign sign;
};

static struct record record_of(const struct counter *counter, const struct counter *before)
{
    return (struct record){
        .kind = &kind_counter,
        .has = COUNTER_PROTOCOL | COUNTER_NAME | (counter->sign == NO_VALUE ? 0 : COUNTER_VALUE),
        .counter = {.protocol = {counter->protocol, strlen(counter->protocol)},
                    .name = {counter->name, strlen(counter->name)},
                    .magnitude = counter->magnitude,
                    .negative = counter->sign == NEGATIVE,
                    .first = !before || strcmp(counter->protocol, before->protocol) != 0},
    };
}

/* What the layout writes for counters, up to one without a protocol, so many times. */
static const char *written(const struct statistics_layout *layout, const struct counter *counters,
                           int times)
{
    struct output output;
    struct sink *sink = sink_create(&sink_statistics, layout, output_begin(&output),
                                    &(struct context){.hosts = NULL});

    assert_non_null(sink);
    for (; times > 0; times--) {
        sink_begin(sink);
        for (size_t i = 0; counters[i].protocol; i++) {
            struct record record = record_of(&counters[i], i ? &counters[i - 1] : NULL);
            sink->ops->row(sink, &record);
        }
        sink_end(sink);
    }
    return output_end(&output, sink);
}

static const struct statistics_layout everything = {.header = true};

static void known_counters_have_words_and_some_are_left_out_when_0(void **state)
{
    static const struct counter counters[] = {
        {"Ip", "InReceives", 0, POSITIVE},     {"Ip", "OutNoRoutes", 0, POSITIVE},
        {"Ip", "ReasmFails", 7, POSITIVE},     {"Tcp", "ActiveOpens", 1, POSITIVE},
        {"Tcp", "RtoMin", 200, POSITIVE},      {"TcpExt", "TCPHPHits", 0, POSITIVE},
        {"TcpExt", "TW", 0, POSITIVE},         {"TcpExt", "DelayedACKLost", 3, POSITIVE},
        {"Sctp", "SctpAborteds", 2, POSITIVE}, {NULL, NULL, 0, POSITIVE},
    };

    (void)state;
    assert_string_equal(written(&everything, counters, 1), "Ip:\n"
                                                           "    0 total packets received\n"
                                                           "    7 packet reassemblies failed\n"
                                                           "Tcp:\n"
                                                           "    1 active connection openings\n"
                                                           "TcpExt:\n"
                                                           "    0 packet headers predicted\n"
                                                           "    Quick ack mode was activated 3 "
                                                           "times\n"
                                                           "Sctp:\n"
                                                           "    2 Number of Aborteds \n");
}

static void unknown_counters_have_the_names_of_the_kernel_unless_they_are_0(void **state)
{
    static const struct counter counters[] = {
        {"Ip", "Forwarding", 2, POSITIVE},           {"Ip", "OutTransmits", 0, POSITIVE},
        {"IpExt", "InOctets", UINT64_MAX, POSITIVE}, {"IpExt", "Strange", 1, NEGATIVE},
        {"TcpExt", "TCPTimeouts", 4, POSITIVE},      {NULL, NULL, 0, POSITIVE},
    };

    (void)state;
    assert_string_equal(written(&everything, counters, 1), "Ip:\n"
                                                           "    Forwarding: 2\n"
                                                           "IpExt:\n"
                                                           "    InOctets: 18446744073709551615\n"
                                                           "    Strange: 18446744073709551615\n"
                                                           "TcpExt:\n"
                                                           "    TCPTimeouts: 4\n");
}

/* Not 0, which some leave out. */
static void a_change_that_is_not_known_is_a_dash(void **state)
{
    static const struct counter counters[] = {
        {"Tcp", "ActiveOpens", 5, NO_VALUE}, {"Tcp", "AttemptFails", 5, NO_VALUE},
        {"Tcp", "Strange", 5, NO_VALUE},     {"TcpExt", "TW", 5, NO_VALUE},
        {NULL, NULL, 0, POSITIVE},
    };

    (void)state;
    assert_string_equal(written(&everything, counters, 1),
                        "Tcp:\n"
                        "    - active connection openings\n"
                        "    - failed connection attempts\n"
                        "    Strange: -\n"
                        "TcpExt:\n"
                        "    - TCP sockets finished time wait in fast timer\n");
}

static const struct counter icmp[] = {
    {"Icmp", "InMsgs", 5, POSITIVE},
    {"Icmp", "InCsumErrors", 1, POSITIVE},
    {"Icmp", "InDestUnreachs", 4, POSITIVE},
    {"Icmp", "InTimeExcds", 0, POSITIVE},
    {"Icmp", "OutMsgs", 9, POSITIVE},
    {"Icmp", "InEchos", 0, POSITIVE},
    {"Icmp", "OutEchos", 0, POSITIVE},
    {"Icmp", "OutEchoReps", 2, POSITIVE},
    {"Icmp", "OutRateLimitHost", 1, POSITIVE},
    {"IcmpMsg", "InType3", 4, POSITIVE},
    {"Udp", "NoPorts", 6, POSITIVE},
    {"Udp", "IgnoredMulti", 1, POSITIVE},
    {NULL, NULL, 0, POSITIVE},
};

static void histograms_have_titles_indented_like_what_is_before_them(void **state)
{
    (void)state;
    assert_string_equal(written(&everything, icmp, 1), "Icmp:\n"
                                                       "    5 ICMP messages received\n"
                                                       "    InCsumErrors: 1\n"
                                                       "    ICMP input histogram:\n"
                                                       "        destination unreachable: 4\n"
                                                       "    9 ICMP messages sent\n"
                                                       "    ICMP input histogram:\n"
                                                       "        ICMP output histogram:\n"
                                                       "        echo replies: 2\n"
                                                       "        OutRateLimitHost: 1\n"
                                                       "IcmpMsg:\n"
                                                       "        InType3: 4\n"
                                                       "Udp:\n"
                                                       "    6 packets to unknown port received\n"
                                                       "    IgnoredMulti: 1\n");
}

static void a_protocol_that_is_not_shown_still_ends_a_histogram(void **state)
{
    static const struct counter counters[] = {
        {"Icmp", "OutEchos", 1, POSITIVE},
        {"TcpExt", "TW", 1, POSITIVE},
        {"IpExt", "InOctets", 1, POSITIVE},
        {NULL, NULL, 0, POSITIVE},
    };
    const struct field *field = field_find(&kind_counter, "protocol", strlen("protocol"));
    const struct predicate is_tcp = predicate_text(field, "TcpExt");
    const struct predicate others = {.operation = PREDICATE_NOT, .parts = &is_tcp};
    const struct statistics_layout layout = {.header = true, .where = &others};

    (void)state;
    assert_string_equal(written(&layout, counters, 1), "Icmp:\n"
                                                       "    ICMP output histogram:\n"
                                                       "        echo requests: 1\n"
                                                       "IpExt:\n"
                                                       "    InOctets: 1\n");
}

static void every_listing_starts_from_zero(void **state)
{
    static const struct counter counters[] = {
        {"Other", "A", 1, POSITIVE}, {"Icmp", "OutEchos", 1, POSITIVE}, {NULL, NULL, 0, POSITIVE}};
    static const char once[] = "Other:\n    A: 1\nIcmp:\n    ICMP output histogram:\n"
                               "        echo requests: 1\n";
    char twice[2 * sizeof once];

    (void)state;
    snprintf(twice, sizeof twice, "%s%s", once, once);
    assert_string_equal(written(&everything, counters, 2), twice);
}

static void without_header_there_are_no_titles_of_protocols(void **state)
{
    static const struct counter counters[] = {
        {"Udp", "NoPorts", 6, POSITIVE}, {"Other", "A", 1, POSITIVE}, {NULL, NULL, 0, POSITIVE}};
    const struct statistics_layout layout = {.header = false};

    (void)state;
    assert_string_equal(written(&layout, counters, 1),
                        "    6 packets to unknown port received\n    A: 1\n");
}

static void names_from_the_file_are_escaped(void **state)
{
    static const struct counter counters[] = {{"P\033", "A\x9b\\", 6, POSITIVE},
                                              {NULL, NULL, 0, POSITIVE}};

    (void)state;
    assert_string_equal(written(&everything, counters, 1), "P\\x1b:\n    A\\x9b\\\\: 6\n");
}

/* What it looks for by halving an unsorted table. */
static void what_netstat_does_not_find_is_not_in_the_tables(void **state)
{
    static const char *const missed[] = {
        "TCPDirectCopyFromPrequeue",
        "TCPDSACKOfoRecv",
        "TCPDSACKOfoSent",
        "TCPDSACKOldSent",
        "TCPDSACKRecv",
        "TCPDSackUndo",
        "TCPDSACKUndo",
        "TCPLoss",
        "TCPPrequeueDropped",
        "TCPRenoRecoveryFailed",
        "TCPRenoRecoveryFail",
        "TCPSackFailures",
        "TCPSackRecoveryFail",
        "TCPSackRecovery",
        "TCPSACKReneging",
        "TCPTimeouts",
        "TWKilled",
    };
    const struct statistics_table *table = statistics_table_of((struct text){"TcpExt", 6});

    (void)state;
    assert_non_null(table);
    assert_int_equal(table->count, 50);
    for (size_t i = 0; i < sizeof missed / sizeof *missed; i++)
        assert_null(statistics_text_of(table, (struct text){missed[i], strlen(missed[i])}));
    assert_null(statistics_table_of((struct text){"UdpLite", 7}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_counters_have_words_and_some_are_left_out_when_0),
        cmocka_unit_test(unknown_counters_have_the_names_of_the_kernel_unless_they_are_0),
        cmocka_unit_test(a_change_that_is_not_known_is_a_dash),
        cmocka_unit_test(histograms_have_titles_indented_like_what_is_before_them),
        cmocka_unit_test(a_protocol_that_is_not_shown_still_ends_a_histogram),
        cmocka_unit_test(every_listing_starts_from_zero),
        cmocka_unit_test(without_header_there_are_no_titles_of_protocols),
        cmocka_unit_test(names_from_the_file_are_escaped),
        cmocka_unit_test(what_netstat_does_not_find_is_not_in_the_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
