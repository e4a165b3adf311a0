/* SPDX-License-Identifier: MIT */
/* Facts about connections, from notes and events as BPF programs write them. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>

#include "kit.h"
#include "probes/connects_decode.h"

static struct drop_name names[] = {{2, "NO_SOCKET"}, {3, ""}};
static const struct drop_names reasons = {.list = names, .count = 2};

static struct connect_note usual_note(void)
{
    return (struct connect_note){.time = 10,
                                 .connected = 20,
                                 .ended = 30,
                                 .cgroup = 40,
                                 .cookie = 50,
                                 .pid = 60,
                                 .uid = 70,
                                 .error = ECONNREFUSED,
                                 .end_error = ECONNRESET,
                                 .family = AF_INET,
                                 .port = htons(80),
                                 .v4 = {192, 0, 2, 1},
                                 .local_v4 = {192, 0, 2, 2},
                                 .old_state = TCP_ESTABLISHED,
                                 .reset_state = TCP_CLOSE,
                                 .reset_reason = 3,
                                 .event = CONNECT_RESET,
                                 .name = "program",
                                 .local_port = htons(4000),
                                 .happened = 25};
}

static bool decode(const struct connect_note *note, struct connect_happened *happened)
{
    return connect_event_decode((struct text){(const char *)note, sizeof *note}, &reasons,
                                happened);
}

static void assert_address(const struct address *address, const char *text)
{
    char buffer[INET6_ADDRSTRLEN];

    assert_string_equal(inet_ntop(address->family, address->bytes, buffer, sizeof buffer), text);
}

static void an_event_has_the_facts_of_its_note(void **state)
{
    const struct connect_note note = usual_note();
    struct connect_happened happened;
    const struct connect *made = &happened.note;

    (void)state;
    assert_true(decode(&note, &happened));
    assert_int_equal(happened.event, CONNECT_RESET);
    assert_int_equal(happened.cookie, 50);
    assert_int_equal(happened.time, 25);
    assert_int_equal(happened.port, 4000);
    assert_int_equal(made->time, 10);
    assert_int_equal(made->connected, 20);
    assert_int_equal(made->ended, 30);
    assert_int_equal(made->cgroup, 40);
    assert_int_equal(made->pid, 60);
    assert_int_equal(made->uid, 70);
    assert_int_equal(made->error, ECONNREFUSED);
    assert_int_equal(made->end.error, ECONNRESET);
    assert_int_equal(made->end.state, TCP_ESTABLISHED);
    assert_int_equal(made->end.reset_state, TCP_CLOSE);
    assert_string_equal(made->end.reset_reason, "NO_SOCKET");
    assert_int_equal(made->port, 80);
    assert_string_equal(made->name, "program");
    assert_address(&made->remote, "192.0.2.1");
    assert_address(&made->local, "192.0.2.2");
    assert_false(made->accepted || made->failed || made->closed || made->given_up || made->sent);
}

static void addresses_of_ipv6_have_16_bytes(void **state)
{
    struct connect_note note = usual_note();
    struct connect_happened happened;

    (void)state;
    note.family = AF_INET6;
    note.v6[0] = 0x20;
    note.v6[15] = 1;
    note.local_v6[0] = 0x20;
    note.local_v6[15] = 2;
    assert_true(decode(&note, &happened));
    assert_address(&happened.note.remote, "2000::1");
    assert_address(&happened.note.local, "2000::2");
}

static void each_flag_is_of_its_member(void **state)
{
    struct connect_note note = usual_note();
    struct connect_happened happened;
    const struct connect *made = &happened.note;

    (void)state;
    note.accepted = 1;
    assert_true(decode(&note, &happened));
    assert_true(made->accepted && !made->failed && !made->closed && !made->given_up);
    note = usual_note();
    note.failed = 255; /* only 1 is usual */
    assert_true(decode(&note, &happened));
    assert_true(!made->accepted && made->failed && !made->closed && !made->given_up);
    note = usual_note();
    note.closed = 1;
    note.end_error = 0;
    assert_true(decode(&note, &happened));
    assert_true(!made->failed && made->closed && !made->given_up && !made->end.received_reset);
    note = usual_note();
    note.given_up = note.received_reset = 1;
    assert_true(decode(&note, &happened));
    assert_true(!made->closed && made->given_up && made->end.received_reset);
}

/* An event that is shorter or longer than those of the program is refused, and nothing after its
 * end is read. */
static void an_event_of_another_length_is_none(void **state)
{
    const struct connect_note note = usual_note();
    struct connect_happened happened;

    (void)state;
    for (size_t length = 0; length < sizeof note; length++) {
        char *cut = malloc(length ? length : 1); /* exactly this long, for the sanitizers */
        assert_non_null(cut);
        memcpy(cut, &note, length);
        assert_false(connect_event_decode((struct text){cut, length}, &reasons, &happened));
        free(cut);
    }
    assert_false(connect_event_decode((struct text){(const char *)&note, sizeof note + 1}, &reasons,
                                      &happened));
}

static void unknown_events_and_families_are_no_events(void **state)
{
    static const uint16_t families[] = {0, AF_UNIX, 256 + AF_INET, UINT16_MAX};
    struct connect_note note = usual_note();
    struct connect_happened happened;
    unsigned known = 0;

    (void)state;
    for (unsigned event = 0; event <= UINT16_MAX; event++) {
        note.event = (uint16_t)event;
        known += decode(&note, &happened);
    }
    assert_int_equal(known, CONNECT_END - CONNECT_MADE + 1);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        note = usual_note();
        note.family = families[i];
        assert_false(decode(&note, &happened));
    }
}

static void names_end_and_unknown_reasons_are_empty(void **state)
{
    struct connect_note note = usual_note();
    struct connect_happened happened;

    (void)state;
    memset(note.name, 'x', sizeof note.name);
    assert_true(decode(&note, &happened));
    assert_string_equal(happened.note.name, "xxxxxxxxxxxxxxx");
    note.reset_reason = UINT16_MAX;
    assert_true(decode(&note, &happened));
    assert_string_equal(happened.note.end.reset_reason, "");
    note.reset_reason = 0;
    assert_true(decode(&note, &happened));
    assert_string_equal(happened.note.end.reset_reason, "");
    memset(names[1].name, 'Y', sizeof names[1].name - 1); /* longer than a reason may be */
    note.reset_reason = 4;
    assert_true(decode(&note, &happened));
    assert_string_equal(happened.note.end.reset_reason, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_has_the_facts_of_its_note),
        cmocka_unit_test(addresses_of_ipv6_have_16_bytes),
        cmocka_unit_test(each_flag_is_of_its_member),
        cmocka_unit_test(an_event_of_another_length_is_none),
        cmocka_unit_test(unknown_events_and_families_are_no_events),
        cmocka_unit_test(names_end_and_unknown_reasons_are_empty),
    };

    return cmocka_run_group_tests_name("connects_decode", tests, NULL, NULL);
}
