/* The columns of ss, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ss_rows.h"

static const struct ss_layout plain = {.state = true, .queues = true, .numeric = true};
static const struct ss_layout all_columns = {
    .netid = true, .state = true, .queues = true, .processes = true, .header = true};
static const struct ss_layout narrow = {.numeric = true};

/* --- Internet sockets ------------------------------------------------------------------------- */

static void a_connection_has_its_state_queues_and_ends(void **state)
{
    struct record record = tcp_row("192.0.2.1", 22, "198.51.100.200", 65535);

    (void)state;
    record.socket.recv_q = 123456;
    record.socket.send_q = 36;
    assert_string_equal(ss_written(&plain, &record), "ESTAB      123456 36           "
                                                     "192.0.2.1:22     198.51.100.200:65535\n");
}

static void columns_have_headings_and_a_blank_between_them(void **state)
{
    (void)state;
    assert_string_equal(ss_written(&all_columns, NULL),
                        "Netid State      Recv-Q Send-Q   Local Address:Port     Peer Address:Port"
                        "  Process\n");
}

static void ipv6_has_brackets_and_a_mapped_address_stays_ipv6(void **state)
{
    struct record record = tcp_row("::1", 22, "::ffff:192.0.2.1", 5000);

    (void)state;
    assert_string_equal(ss_written(&narrow, &record),
                        "          [::1]:22    [::ffff:192.0.2.1]:5000\n");
}

static void a_socket_for_both_families_is_bound_to_a_star(void **state)
{
    struct record record = tcp_row("::", 22, "::", 0);

    (void)state;
    assert_string_equal(ss_written(&narrow, &record), "              *:22                  *:*\n");
    record.socket.v6only = 1;
    assert_string_equal(ss_written(&narrow, &record), "           [::]:22               [::]:*\n");
}

int main(void)
{
    const struct CMUnitTest tests_of_columns[] = {
        cmocka_unit_test(a_connection_has_its_state_queues_and_ends),
        cmocka_unit_test(columns_have_headings_and_a_blank_between_them),
        cmocka_unit_test(ipv6_has_brackets_and_a_mapped_address_stays_ipv6),
        cmocka_unit_test(a_socket_for_both_families_is_bound_to_a_star),
    };

    return cmocka_run_group_tests(tests_of_columns, NULL, NULL);
}
