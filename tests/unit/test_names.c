/* SPDX-License-Identifier: MIT */
/* Names of states and bits: by number and back, and the words that completions propose for them. */
#include <linux/neighbour.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "cli/completion.h"
#include "cli/personality.h"
#include "ct_line.h"
#include "fastnet/array.h"
#include "fastnet/flow_names.h"
#include "fastnet/record.h"
#include "kit.h"
#include "predicates.h"

static void states_of_flows_are_found_by_number_and_by_name(void **state)
{
    static const struct {
        uint8_t protocol;
        int count;
        const char *name; /* in small letters */
        int number;
    } protocols[] = {{IPPROTO_TCP, 10, "established", 3},
                     {IPPROTO_SCTP, 10, "shutdown_ack_sent", 7},
                     {IPPROTO_DCCP, 10, "partopen", 3},
                     {IPPROTO_UDP, 0, "established", -1}};

    (void)state;
    for (size_t i = 0; i < COUNT(protocols); i++) {
        const uint8_t protocol = protocols[i].protocol;
        const char *name = protocols[i].name;
        for (int number = 0; number < protocols[i].count; number++) {
            const struct text text = flow_state_name(protocol, (uint8_t)number);
            assert_non_null(text.data);
            assert_int_equal(flow_state_number(protocol, text.data, text.length), number);
        }
        assert_null(flow_state_name(protocol, (uint8_t)protocols[i].count).data);
        assert_int_equal(flow_state_number(protocol, name, strlen(name)), protocols[i].number);
        assert_int_equal(flow_state_number(protocol, "", 0), -1);
        assert_int_equal(flow_state_number(protocol, "SHUTDOWN_SEN", 12), -1);
    }
}

static void protocols_are_found_by_number_and_by_name(void **state)
{
    int named = 0;

    (void)state;
    for (int number = 0; number <= UINT8_MAX; number++) {
        const struct text text = flow_protocol_name((uint8_t)number);
        if (!text.data)
            continue;
        assert_int_equal(flow_protocol_number(text.data, text.length), number);
        named++;
    }
    assert_int_equal(named, 8);
    assert_int_equal(flow_protocol_number("SCTP", 4), IPPROTO_SCTP);
    assert_int_equal(flow_protocol_number("esp", 3), -1);
    assert_int_equal(flow_protocol_number("", 0), -1);
}

static void states_of_neighbours_are_found_by_number(void **state)
{
    (void)state;
    for (int bits = NUD_NONE; bits <= NUD_PERMANENT; bits = bits ? 2 * bits : 1)
        assert_non_null(neighbour_state_name((uint64_t)bits));
    assert_null(neighbour_state_name(NUD_STALE | NUD_DELAY));
    assert_null(neighbour_state_name(NUD_PERMANENT << 1));
}

/* --- What completions propose ----------------------------------------------------------------- */

static const char *choices_of(const struct grammar *grammar, const char *name)
{
    const struct option *option;

    for (size_t i = 0; (option = options_at(grammar->tables, i)); i++)
        if (option->name && strcmp(option->name, name) == 0)
            return option->choices;
    fail_msg("no option --%s", name);
    return NULL;
}

/* The next word of *words, which is then behind it; empty at the end. */
static struct text next_word(const char **words)
{
    const char *word = *words + strspn(*words, " ");

    *words = word + strcspn(word, " ");
    return (struct text){word, (size_t)(*words - word)};
}

static bool has_word(const char *words, const char *name)
{
    for (struct text word = next_word(&words); word.length; word = next_word(&words))
        if (word.length == strlen(name) && memcmp(word.data, name, word.length) == 0)
            return true;
    return false;
}

/* NONE is a flow's state for an instant only, SYN_SENT2 a name that nobody types. */
static void completed_states_of_flows_are_those_of_tcp(void **state)
{
    const char *const choices = choices_of(&conntrack_grammar, "state"), *words = choices;

    (void)state;
    for (struct text word = next_word(&words); word.length; word = next_word(&words))
        assert_true(flow_state_number(IPPROTO_TCP, word.data, word.length) >= 0);
    for (uint8_t number = 0; flow_state_name(IPPROTO_TCP, number).data; number++) {
        const char *name = flow_state_name(IPPROTO_TCP, number).data;
        const bool left_out = strcmp(name, "NONE") == 0 || strcmp(name, "SYN_SENT2") == 0;
        assert_int_equal(has_word(choices, name), !left_out);
    }
}

static bool is_status(struct text word)
{
    char argument[64];

    snprintf(argument, sizeof argument, "%.*s", (int)word.length, word.data);
    return !PARSE("-L", "-u", argument).status;
}

static void completed_status_words_are_those_that_are_taken(void **state)
{
    const char *const choices = choices_of(&conntrack_grammar, "status"), *words = choices;

    (void)state;
    for (struct text word = next_word(&words); word.length; word = next_word(&words))
        assert_true(is_status(word));
    assert_true(has_word(choices, "UNSET"));
    for (size_t i = 0; i < flow_status_names.count; i++) {
        const char *name = flow_status_names.names[i];
        const unsigned bit = 1U << i;
        char line[64], expected[64];
        const bool taken = is_status(as_text(name));
        assert_int_equal(has_word(choices, name), taken);
        snprintf(line, sizeof line, "-u %s", name);
        snprintf(expected, sizeof expected, "status & %#x = %#x", bit, bit);
        if (taken)
            assert_string_equal(said_of(ct_where(line)), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_of_flows_are_found_by_number_and_by_name),
        cmocka_unit_test(protocols_are_found_by_number_and_by_name),
        cmocka_unit_test(states_of_neighbours_are_found_by_number),
        cmocka_unit_test(completed_states_of_flows_are_those_of_tcp),
        cmocka_unit_test(completed_status_words_are_those_that_are_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
