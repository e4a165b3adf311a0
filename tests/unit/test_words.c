/* SPDX-License-Identifier: MIT */
/* Words that are not options: the form of each says which filter it is, or why it is none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/filters.h"
#include "cli/words.h"
#include "kit.h"

struct word_case {
    const char *word, *text; /* the filter, or the message */
};

/* The filter that a word means, which --where understands; or the message. Freed by the caller. */
static char *words_filter(const struct kind *kind, const char *word, bool captured)
{
    struct word_filter filter = {.kind = kind, .captured = captured};
    struct where where = {.parts = NULL};
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    assert_non_null(stream);
    const bool is_filter = words_put(&filter, word, stream);
    assert_int_equal(fclose(stream), 0);
    if (!is_filter) {
        free(text);
        return strdup(filter.message);
    }
    if (!where_parse(&where, kind, text))
        fail_msg("%s: %s: %s", word, text, where.message);
    where_finish(&where);
    return text;
}

static void words_mean(const struct kind *kind, const struct word_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *text = words_filter(kind, cases[i].word, false);
        assert_string_equal(text, cases[i].text);
        free(text);
    }
}

#define WORDS_MEAN(kind, cases) words_mean(kind, cases, COUNT(cases))

#define NOT_ANY " is not a port, a range, an address or a network; for a name type --process=NAME"
#define ANY_OF(name)                                                                               \
    "process = " name " or unit = " name " or container = " name " or container_name = " name      \
    " or pod_name = " name " or user = " name

static void a_number_or_a_range_is_a_port(void **state)
{
    static const struct word_case cases[] = {
        {"5432", "port = 5432"},
        {"1", "port = 1"},
        {"65535", "port = 65535"},
        {"8000-8999", "port in 8000-8999"},
        {"443,80", "port = 443 or port = 80"},
        {"!22", "port != 22"},
        {"!80-90", "port not in 80-90"},
        {"!443,80", "port != 443 and port != 80"},
        {":8080", "port = 8080"},
        {"*:80", "port = 80"},
        {":https", "port = https"},
        {"0", "'0' is not a port (1 to 65535); for a process type --pid=N"},
        {"65536", "'65536' is not a port (1 to 65535); for a process type --pid=65536"},
        {"!65536", "'65536' is not a port (1 to 65535); for a process type --pid=65536"},
        {"99999999999999999999",
         "'99999999999999999999' is not a port (1 to 65535); for a process type --pid=N"},
        {"80-", "'80-'" NOT_ANY},
        {"-80", "'-80'" NOT_ANY},
        {"90-80", "'90-80'" NOT_ANY},
        {"0-80", "'0-80'" NOT_ANY},
        {"1-65536", "'1-65536'" NOT_ANY},
        {"-", "'-'" NOT_ANY},
        {":", "':'" NOT_ANY},
        {":0", "':0'" NOT_ANY},
        {":no-such-service", "':no-such-service'" NOT_ANY},
    };

    (void)state;
    WORDS_MEAN(&kind_socket, cases);
}

static void addresses_networks_and_ends_are_known_by_their_form(void **state)
{
    static const struct word_case cases[] = {
        {"10.0.0.5", "local_address = 10.0.0.5 or remote_address = 10.0.0.5"},
        {"!10.0.0.5", "local_address != 10.0.0.5 and remote_address != 10.0.0.5"},
        {"10/8", "local_address in 10.0.0.0/8 or remote_address in 10.0.0.0/8"},
        {"10.0/8", "local_address in 10.0.0.0/8 or remote_address in 10.0.0.0/8"},
        {"192.168.1/24", "local_address in 192.168.1.0/24 or remote_address in 192.168.1.0/24"},
        {"10.0.0.5:80", "local_address = 10.0.0.5:80 or remote_address = 10.0.0.5:80"},
        {"::1", "local_address = ::1 or remote_address = ::1"},
        {"[::1]", "local_address = [::1] or remote_address = [::1]"},
        {"fe80::/10", "local_address in fe80::/10 or remote_address in fe80::/10"},
        {"10.0.0.5:", "'10.0.0.5:'" NOT_ANY},
        {"10.0.0.256", "'10.0.0.256'" NOT_ANY},
        {"10.0.0.0/33", "'10.0.0.0/33'" NOT_ANY},
        {"10.0", "'10.0'" NOT_ANY},
        {"[::1", "'[::1'" NOT_ANY},
        {"fe80::x", "'fe80::x'" NOT_ANY},
        {"myhost:80",
         "'myhost:80': names of hosts are not looked up; type an address, or --port=80"},
    };
    /* an interface is looked for when the filter is used */
    static const struct word_case ends[] = {
        {"fe80::1%lo", "local_address = fe80::1%lo or remote_address = fe80::1%lo"},
        {"[fe80::1%lo]:22", "local_address = [fe80::1%lo]:22 or remote_address = [fe80::1%lo]:22"},
    };

    (void)state;
    WORDS_MEAN(&kind_socket, cases);
    WORDS_MEAN(&kind_socket, ends);
}

static void a_state_comes_before_a_service_and_a_service_before_a_name(void **state)
{
    static const struct word_case cases[] = {
        {"established", "state = established"},
        {"LISTEN", "state = LISTEN"},
        {"!time_wait", "state != time_wait"},
        {"https", "port = https"},
        {"!udp", "protocol != udp"},
        {"nginx", ANY_OF("nginx")},
        {"/run/x.sock", "path = '/run/x.sock'"},
        {"@abstract", "path = '@abstract'"},
        {"ngi*", "process ~ 'ngi*' or unit ~ 'ngi*' or container ~ 'ngi*' or container_name ~ "
                 "'ngi*' or pod_name ~ 'ngi*' or user ~ 'ngi*'"},
        {"0123456789ab",
         "process = '0123456789ab' or container = '0123456789ab' or pod = '0123456789ab'"},
    };

    (void)state;
    WORDS_MEAN(&kind_socket, cases);
}

static void any_other_text_is_a_name_and_is_quoted_if_it_must_be(void **state)
{
    static const struct word_case cases[] = {
        {"and", ANY_OF("'and'")},
        {"null", "port = 'null'"}, /* a service */
        {"'listen'", ANY_OF("'''listen'''")},
        {"Web Content", ANY_OF("'Web Content'")},
        {"it's", ANY_OF("'it''s'")},
        {"x' or pid = 1", ANY_OF("'x'' or pid = 1'")},
        {"w\033b", ANY_OF("'w\033b'")},
        {"w\\x1bb", ANY_OF("'w\\x1bb'")},
        {"7zip", ANY_OF("'7zip'")},
        {"a,b", ANY_OF("a") " or " ANY_OF("b")},
    };

    (void)state;
    WORDS_MEAN(&kind_socket, cases);
}

/* A socket without a unit is none of the unit nginx, so it belongs to the opposite. */
static void the_opposite_of_a_name_has_rows_without_such_a_name(void **state)
{
    static const struct word_case cases[] = {
        {"!nginx",
         "(process = null or process != nginx) and (unit = null or unit != nginx) and (container = "
         "null or container != nginx) and (container_name = null or container_name != nginx) and "
         "(pod_name = null or pod_name != nginx) and (user = null or user != nginx)"},
    };

    (void)state;
    WORDS_MEAN(&kind_socket, cases);
}

static void words_without_a_value_are_refused(void **state)
{
    static const struct word_case cases[] = {
        {"", "'' is not a filter: a value is missing"},
        {"!", "'!' is not a filter: a value is missing"},
        {"!!x", "'!!x' is not a filter: a value is missing"},
        {",", "a value between commas is empty"},
        {"a,,b", "a value between commas is empty"},
    };
    char word[5000];

    (void)state;
    WORDS_MEAN(&kind_socket, cases);
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    char *text = words_filter(&kind_socket, word, false);
    assert_non_null(strstr(text, " is too long for a filter"));
    free(text);
}

static void a_word_means_only_what_the_rows_have(void **state)
{
    static const struct word_case neighbours[] = {
        {"10.0.0.1", "address = 10.0.0.1"},
        {"reachable", "state = reachable"},
        {"eth0", "interface = eth0"},
        {"https", "interface = https"},
        {"02:00:5e:10:00:ff", "lladdr = 02:00:5e:10:00:ff"},
        {"22", "'22': neighbours have no ports"},
        {"[x", "'[x' is not a filter that neighbours have"},
    };
    static const struct word_case drops[] = {
        {"udp", "protocol = udp"},
        {"NO_SOCKET", "reason = NO_SOCKET"},
        {"53", "port = 53"},
        {"eth0", ANY_OF("eth0") " or interface = eth0"},
    };
    static const struct word_case traffic[] = {
        {"443", "port = 443"},
        {"10/8", "src in 10.0.0.0/8 or dst in 10.0.0.0/8"},
        {"icmp", "protocol = icmp"},
        {"nginx", ANY_OF("nginx")},
    };
    static const struct word_case findings[] = {
        {"nginx", "process = nginx"},
        {"80", "'80': findings have no ports; for a process type --pid=80"},
    };
    static const struct word_case usage[] = {
        {"x", "'x' is not a filter that neighbour tables have"}};

    (void)state;
    WORDS_MEAN(&kind_neighbour, neighbours);
    WORDS_MEAN(&kind_drop, drops);
    WORDS_MEAN(&kind_traffic, traffic);
    WORDS_MEAN(&kind_finding, findings);
    WORDS_MEAN(&kind_neighbour_usage, usage);
}

static void a_captured_tree_has_no_names_of_containers(void **state)
{
    char *text = words_filter(&kind_socket, "nginx", true);

    (void)state;
    assert_string_equal(text,
                        "process = nginx or unit = nginx or container = nginx or user = nginx");
    free(text);
}

static void words_are_joined_and_written_as_they_can_be_typed(void **state)
{
    struct filters filters = {.count = 0};
    struct where where = {.parts = NULL};
    const struct predicate *all = NULL;
    char written[256] = "";
    FILE *stream = fmemopen(written, sizeof written, "w");

    (void)state;
    assert_non_null(stream);
    assert_true(filters_take(&filters, &filters_word, "5432"));
    assert_true(filters_take(&filters, &filters_word, "!established"));
    assert_true(filters_resolve_words(&filters, &where, &kind_socket, false, &all));
    where_put(stream, all);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(written, "port = 5432 and state != established");
    where_finish(&where);
    for (size_t i = filters.count; i < FILTERS_MAX; i++)
        assert_true(filters_take(&filters, &filters_word, "x"));
    for (size_t i = 0; i < 1000; i++)
        assert_false(filters_take(&filters, &filters_word, "x"));
}

/* The position in a text that nobody typed would puzzle. */
static void a_message_names_the_word_and_no_position(void **state)
{
    struct filters filters = {.count = 0};
    struct where where = {.interfaces_are_own = true};
    const struct predicate *all = NULL;

    (void)state;
    assert_true(filters_take(&filters, &filters_word, "fe80::1%no0such"));
    assert_false(filters_resolve_words(&filters, &where, &kind_socket, false, &all));
    assert_string_equal(where.message, "'fe80::1%no0such': no interface has the name 'no0such'");
    where_finish(&where);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_or_a_range_is_a_port),
        cmocka_unit_test(addresses_networks_and_ends_are_known_by_their_form),
        cmocka_unit_test(a_state_comes_before_a_service_and_a_service_before_a_name),
        cmocka_unit_test(any_other_text_is_a_name_and_is_quoted_if_it_must_be),
        cmocka_unit_test(the_opposite_of_a_name_has_rows_without_such_a_name),
        cmocka_unit_test(words_without_a_value_are_refused),
        cmocka_unit_test(a_word_means_only_what_the_rows_have),
        cmocka_unit_test(a_captured_tree_has_no_names_of_containers),
        cmocka_unit_test(words_are_joined_and_written_as_they_can_be_typed),
        cmocka_unit_test(a_message_names_the_word_and_no_position),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
