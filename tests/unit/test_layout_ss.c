/* SPDX-License-Identifier: MIT */
/* The columns of ss, byte for byte. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "kit.h"
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
    assert_string_equal(ss_written(&plain, &record), "ESTAB 123456 36     192.0.2.1:22 "
                                                     "198.51.100.200:65535\n");
}

static void columns_have_headings_and_a_blank_between_them(void **state)
{
    struct ss_layout on_a_terminal = all_columns;

    (void)state;
    on_a_terminal.width = 1;
    assert_non_null(strstr(ss_written(&on_a_terminal, NULL), "Port Process\n"));
    assert_string_equal(ss_written(&all_columns, NULL),
                        "Netid State Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n");
}

/* As many as the longest details have letters, but for those of the last row. */
static void blanks_after_the_heading_are_those_of_ss(void **state)
{
    const struct ss_layout timers = {.timers = true, .header = true};
    const struct context none = {0};
    struct record rows[2] = {tcp_row("192.0.2.1", 22, "192.0.2.2", 5000),
                             tcp_row("192.0.2.1", 22, "192.0.2.2", 5000)};

    (void)state;
    rows[1].has |= SOCKET_TIMER;
    rows[1].socket.timer = TIMER_RETRANSMIT;
    rows[1].socket.timer_ms = 59000;
    assert_string_equal(ss_written_rows(&timers, &none, rows, 2),
                        "Local Address:Port Peer Address:Port\n"
                        "    192.0.2.1:22      192.0.2.2:5000\n"
                        "    192.0.2.1:22      192.0.2.2:5000 timer:(on,59sec,)\n");
    rows[0] = rows[1];
    assert_memory_equal(ss_written_rows(&timers, &none, rows, 2),
                        "Local Address:Port Peer Address:Port                  \n", 55);
}

static void ipv6_has_brackets_and_a_mapped_address_stays_ipv6(void **state)
{
    struct record record = tcp_row("::1", 22, "::ffff:192.0.2.1", 5000);

    (void)state;
    assert_string_equal(ss_written(&narrow, &record), "[::1]:22 [::ffff:192.0.2.1]:5000\n");
}

static void a_socket_for_both_families_is_bound_to_a_star(void **state)
{
    struct record record = tcp_row("::", 22, "::", 0);

    (void)state;
    assert_string_equal(ss_written(&narrow, &record), "*:22 *:*\n");
    record.socket.v6only = 1;
    assert_string_equal(ss_written(&narrow, &record), "[::]:22 [::]:*\n");
}

/* --- Other families --------------------------------------------------------------------------- */

static void a_unix_socket_has_its_name_and_inodes(void **state)
{
    struct record record = other_row(AF_UNIX, SOCK_SEQPACKET);
    const struct ss_layout named = {.netid = true, .state = true};

    (void)state;
    assert_string_equal(ss_written(&named, &record), "u_seq UNCONN * 12345 * 0\n");
    record.socket.path = (struct text){"\0a b\033", 5};
    record.socket.peer = 7;
    record.socket.state = TCP_LISTEN;
    assert_string_equal(ss_written(&named, &record), "u_seq LISTEN @a b\\x1b 12345 * 7\n");
}

static void a_packet_socket_has_its_protocol_and_device(void **state)
{
    const struct ss_layout named = {.netid = true, .state = true};
    struct record record = other_row(AF_PACKET, SOCK_RAW);

    (void)state;
    record.socket.ether_protocol = 3;
    assert_string_equal(ss_written(&named, &record), "p_raw UNCONN *:* *\n");
    record.socket.ether_protocol = 0x800;
    record.socket.interface = 4;
    record.socket.type = SOCK_DGRAM;
    assert_string_equal(ss_written(&named, &record), "p_dgr UNCONN ip:if4 *\n");
    assert_string_equal(ss_written(&narrow, &record), "[2048]:if4 *\n");
}

static void a_netlink_socket_has_its_protocol_and_port(void **state)
{
    const struct ss_layout named = {.netid = true};
    struct record record = other_row(AF_NETLINK, SOCK_RAW);

    (void)state;
    record.socket.netlink_protocol = 16;
    assert_string_equal(ss_written(&named, &record), "nl genl:kernel *\n");
    record.has |= SOCKET_DESTINATION;
    assert_string_equal(ss_written(&named, &record), "nl genl:kernel 0:0\n");
    record.socket.portid = UINT32_MAX - 1;
    record.socket.dst_group = 2;
    assert_string_equal(ss_written(&named, &record), "nl genl:-2 2:0\n");
    record.socket.portid = UINT32_MAX;
    record.socket.netlink_protocol = 17;
    assert_string_equal(ss_written(&narrow, &record), "17:* 2:0\n");
}

static void vsock_and_xdp_have_numbers_and_stars(void **state)
{
    const struct ss_layout named = {.netid = true};
    struct record vsock = other_row(AF_VSOCK, SOCK_STREAM);
    struct record xdp = other_row(44, SOCK_RAW);

    (void)state;
    vsock.socket.cid = UINT32_MAX;
    vsock.socket.vsock_port = 1234;
    vsock.socket.peer_cid = 2;
    vsock.socket.peer_port = UINT32_MAX;
    assert_string_equal(ss_written(&named, &vsock), "v_str *:1234 2:*\n");
    assert_string_equal(ss_written(&named, &xdp), "xdp * *\n");
    xdp.socket.interface = 9;
    xdp.socket.queue_id = 3;
    assert_string_equal(ss_written(&named, &xdp), "xdp if9:q3 *\n");
}

static void an_association_is_below_its_endpoint(void **state)
{
    const struct ss_layout named = {.netid = true, .state = true, .numeric = true};
    struct record rows[2] = {tcp_row("192.0.2.1", 1, "192.0.2.2", 2),
                             tcp_row("192.0.2.1", 1, "192.0.2.2", 2)};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        rows[i].socket.protocol = IPPROTO_SCTP;
        rows[i].socket.inode = 5;
        rows[i].socket.state = i ? 3 : TCP_LISTEN;
    }
    assert_string_equal(ss_written_rows(&named, &no_names, rows, 2),
                        "sctp LISTEN   192.0.2.1:1 192.0.2.2:2\n"
                        "     `- ESTAB 192.0.2.1:1 192.0.2.2:2\n");
}

/* --- Widths ----------------------------------------------------------------------------------- */

static void columns_are_as_wide_as_their_longest_cells(void **state)
{
    const struct record rows[] = {tcp_row("192.0.2.1", 22, "192.0.2.22", 50000),
                                  tcp_row("192.0.2.122", 22000, "192.0.2.2", 1)};

    (void)state;
    assert_string_equal(ss_written_rows(&narrow, &no_names, rows, 2),
                        "  192.0.2.1:22    192.0.2.22:50000\n"
                        "192.0.2.122:22000  192.0.2.2:1\n");
}

static void a_clones_rows_are_as_wide_as_those_of_its_origin(void **state)
{
    const struct record first = tcp_row("192.0.2.1", 22, "192.0.2.22", 50000);
    const struct record second = tcp_row("2001:db8::1", 22000, "::1", 1);
    struct output output, outputs;
    struct sink *sink = sink_create(&sink_ss, &narrow, output_begin(&output), &no_names);
    struct sink *clone;

    (void)state;
    sink_begin(sink);
    clone = sink->ops->clone(sink, output_begin(&outputs));
    clone->ops->row(clone, &second);
    sink->ops->row(sink, &first);
    clone->ops->pause(clone);
    assert_string_equal(output_end(&outputs, clone), "");
    sink_end(sink);
    assert_string_equal(output_end(&output, sink), "    192.0.2.1:22    192.0.2.22:50000\n"
                                                   "[2001:db8::1]:22000      [::1]:1\n");
}

/* Far more than are kept: some of them of a clone, whose rows are written apart then. */
static void later_rows_have_the_widths_of_the_first_ones(void **state)
{
    enum { ROWS = 5000 };
    const struct record usual = tcp_row("192.0.2.1", 22, "192.0.2.2", 80);
    const struct record longer = tcp_row("192.0.2.100", 22, "192.0.2.2", 80);
    struct output output, outputs;
    struct sink *sink = sink_create(&sink_ss, &narrow, output_begin(&output), &no_names);
    struct sink *clone;
    size_t length;
    const char *text;

    (void)state;
    sink_begin(sink);
    clone = sink->ops->clone(sink, output_begin(&outputs));
    for (size_t i = 0; i < ROWS; i++)
        clone->ops->row(clone, &usual);
    clone->ops->row(clone, &longer);
    sink->ops->row(sink, &longer);
    sink_end(sink);
    clone->ops->pause(clone);
    text = output_end(&outputs, clone);
    length = strlen("192.0.2.1:22 192.0.2.2:80\n");
    assert_memory_equal(text, "192.0.2.1:22 192.0.2.2:80\n", length);
    assert_string_equal(text + ROWS * length, "192.0.2.100:22 192.0.2.2:80\n");
    assert_string_equal(output_end(&output, sink), "192.0.2.100:22 192.0.2.2:80\n");
}

/* --- Terminals -------------------------------------------------------------------------------- */

static void columns_fill_the_terminal(void **state)
{
    const struct ss_layout layout = {
        .state = true, .queues = true, .numeric = true, .header = true, .width = 60};
    const struct record rows[] = {tcp_row("192.0.2.1", 22, "192.0.2.22", 50000),
                                  tcp_row("192.0.2.122", 22, "192.0.2.2", 1)};

    (void)state;
    assert_string_equal(ss_written_rows(&layout, &no_names, rows, 2),
                        "State Recv-Q Send-Q Local Address:Port   Peer Address:Port\n"
                        "ESTAB 0      0          192.0.2.1:22       192.0.2.22:50000\n"
                        "ESTAB 0      0        192.0.2.122:22        192.0.2.2:1\n");
}

static void columns_that_do_not_fit_begin_on_the_next_line(void **state)
{
    const struct ss_layout layout = {.state = true, .queues = true, .numeric = true, .width = 30};
    const struct record row = tcp_row("192.0.2.1", 22, "192.0.2.22", 50000);

    (void)state;
    assert_string_equal(ss_written(&layout, &row), "ESTAB 0      0      192.0.2.1:22  "
                                                   "      192.0.2.22:50000\n");
}

int main(void)
{
    const struct CMUnitTest tests_of_columns[] = {
        cmocka_unit_test(a_connection_has_its_state_queues_and_ends),
        cmocka_unit_test(columns_have_headings_and_a_blank_between_them),
        cmocka_unit_test(blanks_after_the_heading_are_those_of_ss),
        cmocka_unit_test(ipv6_has_brackets_and_a_mapped_address_stays_ipv6),
        cmocka_unit_test(a_socket_for_both_families_is_bound_to_a_star),
        cmocka_unit_test(a_unix_socket_has_its_name_and_inodes),
        cmocka_unit_test(a_packet_socket_has_its_protocol_and_device),
        cmocka_unit_test(a_netlink_socket_has_its_protocol_and_port),
        cmocka_unit_test(vsock_and_xdp_have_numbers_and_stars),
        cmocka_unit_test(an_association_is_below_its_endpoint),
        cmocka_unit_test(columns_are_as_wide_as_their_longest_cells),
        cmocka_unit_test(a_clones_rows_are_as_wide_as_those_of_its_origin),
        cmocka_unit_test(later_rows_have_the_widths_of_the_first_ones),
        cmocka_unit_test(columns_fill_the_terminal),
        cmocka_unit_test(columns_that_do_not_fit_begin_on_the_next_line),
    };

    return cmocka_run_group_tests(tests_of_columns, NULL, NULL);
}
