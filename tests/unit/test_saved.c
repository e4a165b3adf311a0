/* SPDX-License-Identifier: MIT */
/* Rows that were printed before: the values of their columns, and the members of their records. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>

#include "fastnet/owners.h"
#include "fastnet/predicate.h"
#include "fastnet/sink.h"
#include "kit.h"
#include "model/fields/fields.h"
#include "saved_rows.h"

/* JSON that a column of this type can have. */
static const char *json_of(const struct field *field)
{
    static const char *const by_type[] = {
        [VALUE_NUMBER] = "200",
        [VALUE_SIGNED] = "-70000",
        [VALUE_DECIMAL] = "1.250",
        [VALUE_FINE] = "0.000045",
        [VALUE_BOOLEAN] = "true",
        [VALUE_TIME] = "\"2026-11-29T03:12:00.123456Z\"",
        [VALUE_TEXT] = "\"a \\\"b\\\" \\\\\\\\ \\\\xff \\u0001 é\"",
        [VALUE_SOCKET_NAME] = "\"\\u0000name@\"",
        [VALUE_NAME] = "\"somebody\"",
        [VALUE_ADDRESS] = "\"2001:db8::1\"",
        /* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one long text */
        [VALUE_OWNERS] = "[{\"pid\":17,\"fd\":3,\"name\":\"sshd\"},"
                         "{\"pid\":204,\"tid\":205,\"fd\":12,\"name\":\"a \\\"b\\\"\"},"
                         "{\"pid\":null,\"name\":\"kernel\"},{\"pid\":9,\"fd\":1,\"name\":null}]",
        [VALUE_LLADDR] = "\"02:00:5e:10:00:ff\"",
        [VALUE_NETWORKS] = "[\"192.0.2.1/24\",\"2001:db8::1\"]",
        [VALUE_NAMES] = "[\"systemd\",\"a\\\\\\\\b\"]",
        [VALUE_NETWORK] = "\"192.0.2.0/24\"",
        [VALUE_VIEW] = "\"nginx×4\"",
        [VALUE_FLAGS] = "[\"5\"]",
    };

    return field->type == VALUE_FLAGS && field->flags && field->flags->count > 0
               ? "[]"
               : by_type[field->type];
}

static void columns_are_written_as_they_were_read_in_every_kind(void **state)
{
    const struct field *columns[SAVED_COLUMNS_MAX], *field;
    static char text[1 << 16], written[1 << 16];
    const struct kind *kind;
    struct output output;
    struct record record;

    (void)state;
    for (size_t i = 0; (kind = kind_at(i)); i++) {
        size_t count = 0, length = 0;
        for (; (field = field_at(kind, count)); count++) {
            columns[count] = field;
            length += (size_t)snprintf(text + length, sizeof text - length, "%s\"%s\":%s",
                                       count ? "," : "{", field->name, json_of(field));
        }
        snprintf(text + length, sizeof text - length, "}\n");
        struct saved_maker *maker = saved_record(&record, kind, text, NULL);
        output_columns(&output, sink_ndjson_create,
                       (struct sink_options){.columns = columns, .count = count});
        output_row(&output, &record);
        snprintf(written, sizeof written, "%s", output_text(&output));
        assert_string_equal(written, text);
        saved_maker_destroy(maker);
    }
}

/* The value of a column in a row of sockets with this JSON. */
static struct saved_maker *saved_value_of(struct value *value, const char *column, const char *json)
{
    static const struct context nothing;
    char text[512];
    struct record record;

    snprintf(text, sizeof text, "{\"%s\":%s}\n", column, json);
    struct saved_maker *maker = saved_record(&record, &kind_socket, text, NULL);
    *value = field_value(field_named(&kind_socket, column), &record, &nothing);
    return maker;
}

static void assert_value(const char *column, const char *json, const char *expected)
{
    char written[256];
    struct value value;
    struct saved_maker *maker = saved_value_of(&value, column, json);

    *value_write(written, &value, NULL) = '\0';
    assert_string_equal(written, expected);
    saved_maker_destroy(maker);
}

static void numbers_are_exact_or_unknown(void **state)
{
    static const struct {
        const char *column, *json, *expected;
    } cases[] = {
        {"recv_q", "0", "0"},
        {"recv_q", "4294967295", "4294967295"},
        {"recv_q", "4294967296", "-"}, /* the kernel's number has 32 bits */
        {"recv_q", "-1", "-"},
        {"recv_q", "-0", "0"},
        {"recv_q", "1.5", "-"},
        {"recv_q", "12.0", "12"},
        {"recv_q", "12e2", "1200"},
        {"recv_q", "\"1\"", "-"},
        {"recv_q", "true", "-"},
        {"recv_q", "[1]", "-"},
        {"recv_q", "null", "-"},
        {"inode", "18446744073709551615", "18446744073709551615"},
        {"inode", "18446744073709551616", "-"},
        {"inode", "1e99999", "-"},
        {"inode", "0e99999", "0"},
        {"local_port", "65535", "65535"},
        {"local_port", "65536", "-"},
        {"expires", "1.250", "1.250"},
        {"expires", "1.25", "1.250"},
        {"expires", "2", "2.000"},
        {"expires", "1.2505", "-"},
        {"expires", "125e-2", "1.250"},
        {"rtt", "0.000045", "0.000045"},
        {"rtt", "4.5e-05", "0.000045"},
        {"rtt", "4.5e-06", "-"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_value(cases[i].column, cases[i].json, cases[i].expected);
}

static void other_types_are_decoded_or_unknown(void **state)
{
    static const struct {
        const char *column, *json, *expected;
    } cases[] = {
        {"v6only", "true", "yes"},
        {"v6only", "false", "no"},
        {"v6only", "1", "-"},
        {"state", "\"LISTEN\"", "LISTEN"},
        {"state", "1", "-"},
        {"local_address", "\"::ffff:192.0.2.1\"", "::ffff:192.0.2.1"},
        {"local_address", "\"192.0.2\"", "-"},
        {"local_address", "\"192.0.2.1\\u0000\"", "-"},
        {"local_address", "\"192.0.2.0/24\"", "192.0.2.0/24"},
        {"local_address", "\"192.0.2.0/33\"", "-"},
        {"local_address", "\"192.0.2.0/\"", "-"},
        {"user", "\"root\"", "root"},
        {"user", "\"1000\"", "1000"},
        {"user", "\"a\\u0000b\"", "-"},
        {"user", "\"\"", "-"},
        {"ether_protocol", "\"0x88b5\"", "0x88b5"},
        {"shutdown", "[\"receive\",\"send\"]", "receive,send"},
        {"shutdown", "[\"receive\",\"sideways\"]", "-"},
        {"shutdown", "[\"7\"]", "7"},
        {"shutdown", "[\"128\"]", "-"},
        {"shutdown", "{\"receive\":\"send\"}", "-"},
        {"ancestors", "[\"systemd\",\"sh\"]", "systemd,sh"},
        {"ancestors", "[\"systemd\",1]", "-"},
        {"ancestors", "[]", "-"},
        {"md5_peers", "[\"192.0.2.1/24\",\"2001:db8::1\"]", "192.0.2.1/24,2001:db8::1"},
        {"md5_peers", "[\"192.0.2.1/24\",\"x\"]", "-"},
        {"processes", "[{\"pid\":17,\"fd\":3,\"name\":\"sshd\"}]", "sshd/17/3"},
        {"processes", "[{\"pid\":-17,\"fd\":3,\"name\":\"sshd\"}]", "-"},
        {"processes", "[{\"pid\":17,\"fd\":4294967296,\"name\":\"sshd\"}]", "-"},
        {"processes", "[{\"pid\":17,\"name\":\"s\\u0000h\"}]", "-"},
        {"processes", "[{},{},{},{},{}]", "-"},
        {"processes", "[17]", "-"},
        {"started", "\"2026-11-29T03:12:00.123456Z\"", "2026-11-29T03:12:00.123456Z"},
        {"started", "\"2026-11-29T03:12:00+01:30\"", "2026-11-29T01:42:00.000000Z"},
        {"started", "\"2024-02-29T23:59:59-00:01\"", "2024-03-01T00:00:59.000000Z"},
        {"started", "\"1970-01-01T00:00:00.000001Z\"", "1970-01-01T00:00:00.000001Z"},
        {"started", "\"1969-12-31T23:59:59Z\"", "-"},
        {"started", "\"2026-13-29T03:12:00Z\"", "-"},
        {"started", "\"2026-11-29T24:12:00Z\"", "-"},
        {"started", "\"2026-11-29\"", "-"},
        {"started", "\"9999-12-31T23:59:59Z\"", "-"},
        {"started", "\"2026-11-29T03:12:00Zx\"", "-"},
        {"owners", "\"nginx×4\"", "nginx×4"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_value(cases[i].column, cases[i].json, cases[i].expected);
}

static void assert_lladdr(const char *json, const char *expected)
{
    static const struct context nothing;
    char text[128], written[256];
    struct record record;

    snprintf(text, sizeof text, "{\"lladdr\":\"%s\"}\n", json);
    struct saved_maker *maker = saved_record(&record, &kind_neighbour, text, NULL);
    const struct value value =
        field_value(field_named(&kind_neighbour, "lladdr"), &record, &nothing);
    *value_write(written, &value, NULL) = '\0';
    assert_string_equal(written, expected);
    saved_maker_destroy(maker);
}

static void link_layer_addresses_are_bytes_or_ip_addresses(void **state)
{
    (void)state;
    assert_lladdr("02:00:5e:10:00:ff", "02:00:5e:10:00:ff");
    assert_lladdr("192.0.2.1", "192.0.2.1");
    assert_lladdr("2001:db8::1", "2001:db8::1");
    assert_lladdr("0a", "0a");
    assert_lladdr("02:00:5", "-");
    assert_lladdr("02-00", "-");
    assert_lladdr("", "-");
}

/* --- Members ---------------------------------------------------------------------------------- */

static void members_are_those_of_their_columns(void **state)
{
    struct record record;
    struct saved_maker *maker = saved_record(
        &record, &kind_socket,
        "{\"protocol\":\"tcp\",\"family\":\"inet\",\"state\":\"LISTEN\",\"recv_q\":3,\"send_q\":0,"
        "\"local_address\":\"192.0.2.1\",\"local_port\":22,\"remote_address\":\"0.0.0.0\","
        "\"remote_port\":0,\"uid\":1000,\"inode\":77,\"timer\":\"off\",\"expires\":null,"
        "\"cookie\":4455,\"congestion\":\"bbr\"}",
        NULL);
    const struct socket_record *sock = &record.socket;

    (void)state;
    assert_int_equal(sock->protocol, IPPROTO_TCP);
    assert_int_equal(sock->family, AF_INET);
    assert_int_equal(sock->state, TCP_LISTEN);
    assert_int_equal(sock->recv_q, 3);
    assert_ip(&sock->local.address, "192.0.2.1");
    assert_int_equal(sock->local.port, 22);
    assert_int_equal(sock->uid, 1000);
    assert_int_equal(sock->timer, TIMER_OFF);
    assert_int_equal(record.identity, 4455);
    assert_true(text_is(sock->congestion, "bbr"));
    assert_true(record.has == (SOCKET_STATE | SOCKET_QUEUES | SOCKET_ADDRESSES | SOCKET_UID |
                               SOCKET_INODE | SOCKET_TIMER | SOCKET_COOKIE | SOCKET_CONGESTION));
    saved_maker_destroy(maker);
}

static void a_presence_bit_needs_all_of_its_members(void **state)
{
    static const struct {
        const char *text;
        uint64_t bit;
    } cases[] = {
        {"{\"local_address\":\"192.0.2.1\",\"local_port\":1,\"remote_port\":2}", SOCKET_ADDRESSES},
        {"{\"local_address\":\"192.0.2.1\",\"local_port\":1,\"remote_address\":\"192.0.2.2\"}",
         SOCKET_ADDRESSES},
        {"{\"recv_q\":1}", SOCKET_QUEUES},
        {"{\"recv_q\":1,\"send_q\":\"0\"}", SOCKET_QUEUES},
        {"{\"state\":\"NO_SUCH_STATE\"}", SOCKET_STATE},
        {"{\"uid\":null}", SOCKET_UID},
        {"{\"uid\":4294967296}", SOCKET_UID},
    };
    struct record record;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct saved_maker *maker = saved_record(&record, &kind_socket, cases[i].text, NULL);
        assert_false(record.has & cases[i].bit);
        saved_maker_destroy(maker);
    }
}

/* The time of a step is in ns, and its column in us. */
static void a_member_with_another_unit_than_its_column_is_not_set(void **state)
{
    struct record record;
    struct saved_maker *maker =
        saved_record(&record, &kind_step, "{\"step\":\"name\",\"elapsed\":0.001500}", NULL);

    (void)state;
    assert_int_equal(record.step.elapsed, 0);
    assert_false(record.has & STEP_TIME);
    saved_maker_destroy(maker);
}

/* Families share bytes of the record: a number must not become a part of a pointer. */
static void a_row_has_members_of_one_family(void **state)
{
    struct record record;
    struct saved_maker *maker = saved_record(
        &record, &kind_socket,
        "{\"path\":\"name\",\"peer_inode\":1,\"ether_protocol\":\"ip\",\"portid\":77,"
        "\"netlink_protocol\":\"route\",\"cid\":5,\"vsock_port\":6,\"peer_cid\":7,\"peer_port\":8}",
        NULL);
    const uint64_t others = SOCKET_ETHER | SOCKET_NETLINK | SOCKET_VSOCK;

    (void)state;
    assert_true(!(record.has & SOCKET_PATH) || text_is(record.socket.path, "name"));
    assert_true(__builtin_popcountll(record.has & (SOCKET_PATH | others)) <= 1);
    saved_maker_destroy(maker);
}

static const char one_socket[] =
    "{\"protocol\":\"tcp\",\"family\":\"inet\",\"state\":\"ESTABLISHED\","
    "\"local_address\":\"192.0.2.1\",\"local_port\":22,\"remote_address\":\"192.0.2.2\","
    "\"remote_port\":4000,\"processes\":[{\"pid\":17,\"fd\":3,\"name\":\"sshd\"},"
    "{\"pid\":18,\"fd\":4,\"name\":\"sh\"}],\"command\":\"sshd -D\"}";

static void views_and_first_processes_are_made_of_other_columns(void **state)
{
    static const struct {
        const char *column, *expected;
    } cases[] = {
        {"local", "192.0.2.1:22"},
        {"remote", "192.0.2.2:4000"},
        {"proto", "tcp"},
        {"owners", "sshd,sh"},
        {"pid", "17"},
        {"process", "sshd"},
        {"user", "-"},
        {"listed", "-"},
        {"recv", "-"},
        {"cgroup", "-"},
        {"time", "-"},
        {"host", "-"},
    };
    static const struct context nothing;
    struct record record;
    struct saved_maker *maker = saved_record(&record, &kind_socket, one_socket, NULL);
    char written[256];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct value value =
            field_value(field_named(&kind_socket, cases[i].column), &record, &nothing);
        *value_write(written, &value, NULL) = '\0';
        assert_string_equal(written, cases[i].expected);
    }
    saved_maker_destroy(maker);
}

static void a_single_process_is_an_owner(void **state)
{
    static const struct context nothing;
    struct record record;
    struct saved_maker *maker = saved_record(
        &record, &kind_socket, "{\"pid\":17,\"process\":\"sshd\",\"processes\":null}", NULL);
    char written[256];
    const struct value value = field_value(field_named(&kind_socket, "owners"), &record, &nothing);

    (void)state;
    *value_write(written, &value, NULL) = '\0';
    assert_string_equal(written, "sshd");
    saved_maker_destroy(maker);
}

static void columns_of_the_listing_are_those_of_the_row_or_the_head(void **state)
{
    const struct saved_head head = {.host = "web1", .time = 1000, .listing = 3};
    static const struct context here = {.host = "here", .time = 5, .number = 9};
    static const char *const columns[] = {"host", "time", "listing", "netns"};
    static const char *const expected[][4] = {
        {"web1", "1970-01-01T00:00:00.000001Z", "3", "-"},
        {"db1", "1970-01-01T00:00:00.000001Z", "3", "blue"},
    };
    static const char *const rows[] = {"{}", "{\"host\":\"db1\",\"netns\":\"blue\"}"};
    struct record record;
    char written[256];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct saved_maker *maker = saved_record(&record, &kind_socket, rows[i], &head);
        for (size_t j = 0; j < COUNT(columns); j++) {
            const struct value value =
                field_value(field_named(&kind_socket, columns[j]), &record, &here);
            *value_write(written, &value, NULL) = '\0';
            assert_string_equal(written, expected[i][j]);
        }
        saved_maker_destroy(maker);
    }
}

static void an_address_is_restored_with_its_family(void **state)
{
    static const struct address expected = IPV4(10, 7, 0, 0);
    struct record record;
    struct saved_maker *maker =
        saved_record(&record, &kind_route,
                     "{\"family\":\"inet\",\"destination\":\"10.7.0.0\",\"prefix\":16}", NULL);

    (void)state;
    assert_memory_equal(&record.route.destination, &expected, sizeof expected);
    saved_maker_destroy(maker);
}

static void the_last_of_duplicate_keys_counts(void **state)
{
    assert_value("recv_q", "1,\"recv_q\":2", "2");
    assert_value("recv_q", "1,\"recv_q\":null", "-");
    (void)state;
}

static void a_key_above_256_bytes_is_no_column(void **state)
{
    (void)state;
    for (int length = 255; length <= 258; length++) {
        char text[512];
        struct record record;
        snprintf(text, sizeof text, "{\"%0*d\":1,\"recv_q\":2}", length, 0);
        struct saved_maker *maker = saved_record(&record, &kind_socket, text, NULL);
        const bool kept = length <= 256;
        const size_t head = 3; /* columns of the head: time, listing, host */
        assert_int_equal(record.saved->columns->count, head + (kept ? 2 : 1));
        assert_int_equal(record.socket.recv_q, 2);
        saved_maker_destroy(maker);
    }
}

static void a_group_stands_for_its_rows(void **state)
{
    const struct saved_head head = {.counted = true};
    static const struct context nothing;
    struct record record;
    struct saved_maker *maker =
        saved_record(&record, &kind_socket, "{\"state\":\"LISTEN\",\"count\":12}", &head);
    const struct value value = field_value(&field_count, &record, &nothing);

    (void)state;
    assert_int_equal(record_rows(&record), 12);
    assert_int_equal(value.number, 12);
    saved_maker_destroy(maker);
}

/* --- Filters ---------------------------------------------------------------------------------- */

static bool is_met(const struct record *record, struct predicate predicate)
{
    static const struct context nothing;

    return predicate_holds(&predicate, record, &nothing);
}

static const struct field *column(const char *name)
{
    return field_named(&kind_socket, name);
}

static void filters_compare_columns_that_were_saved(void **state)
{
    struct record record;
    struct saved_maker *maker = saved_record(&record, &kind_socket, one_socket, NULL);
    const struct address local = IPV4(192, 0, 2, 1);

    (void)state;
    assert_true(is_met(&record, predicate_number(column("state"), TCP_ESTABLISHED)));
    assert_false(is_met(&record, predicate_number(column("state"), TCP_LISTEN)));
    assert_true(is_met(&record, predicate_number(column("local_port"), 22)));
    assert_true(is_met(&record, predicate_address(column("local_address"), &local)));
    assert_true(is_met(&record, predicate_number(column("processes"), 18)));
    assert_true(is_met(&record, predicate_text(column("processes"), "sh")));
    assert_true(is_met(&record, predicate_text(column("command"), "sshd -D")));
    assert_true(is_met(&record, predicate_known(column("command"))));
    assert_false(is_met(&record, predicate_known(column("uid"))));
    saved_maker_destroy(maker);
}

static bool is_refused(const struct record *record, struct predicate part)
{
    struct predicate_tree tree = {.count = 0};
    static const struct context nothing;

    predicate_tree_refuse(&tree, &tree.whole, part);
    return predicate_holds(predicate_of(&tree), record, &nothing);
}

static void what_was_not_saved_matches_no_filter(void **state)
{
    struct record record;
    struct saved_maker *maker = saved_record(
        &record, &kind_socket, "{\"state\":\"NO_SUCH_STATE\",\"local_port\":null}", NULL);
    static const char *const columns[] = {"protocol", "family", "uid", "local_port", "recv_q"};

    (void)state;
    for (size_t i = 0; i < COUNT(columns); i++) {
        assert_false(is_met(&record, predicate_number(column(columns[i]), 0)));
        assert_false(is_refused(&record, predicate_number(column(columns[i]), 1)));
    }
    assert_false(is_refused(&record, predicate_number(column("state"), TCP_LISTEN)));
    assert_false(is_refused(&record, predicate_text(column("process"), "sshd")));
    saved_maker_destroy(maker);
}

/* The command of the second process was not saved. */
static void a_column_of_each_process_is_known_of_the_first(void **state)
{
    struct record record;
    struct saved_maker *maker = saved_record(&record, &kind_socket, one_socket, NULL);

    (void)state;
    assert_false(is_met(&record, predicate_text(column("command"), "sh")));
    assert_false(is_refused(&record, predicate_text(column("command"), "sh")));
    saved_maker_destroy(maker);
}

static void each_kind_is_found_by_its_name(void **state)
{
    const struct kind *kind;

    (void)state;
    for (size_t i = 0; (kind = kind_at(i)); i++)
        assert_ptr_equal(kind_by_name(as_text(kind->name)), kind);
    assert_non_null(kind_at(0));
    assert_null(kind_by_name(as_text("socket")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_written_as_they_were_read_in_every_kind),
        cmocka_unit_test(numbers_are_exact_or_unknown),
        cmocka_unit_test(other_types_are_decoded_or_unknown),
        cmocka_unit_test(link_layer_addresses_are_bytes_or_ip_addresses),
        cmocka_unit_test(members_are_those_of_their_columns),
        cmocka_unit_test(a_presence_bit_needs_all_of_its_members),
        cmocka_unit_test(a_row_has_members_of_one_family),
        cmocka_unit_test(a_member_with_another_unit_than_its_column_is_not_set),
        cmocka_unit_test(views_and_first_processes_are_made_of_other_columns),
        cmocka_unit_test(a_single_process_is_an_owner),
        cmocka_unit_test(columns_of_the_listing_are_those_of_the_row_or_the_head),
        cmocka_unit_test(an_address_is_restored_with_its_family),
        cmocka_unit_test(the_last_of_duplicate_keys_counts),
        cmocka_unit_test(a_key_above_256_bytes_is_no_column),
        cmocka_unit_test(a_group_stands_for_its_rows),
        cmocka_unit_test(filters_compare_columns_that_were_saved),
        cmocka_unit_test(what_was_not_saved_matches_no_filter),
        cmocka_unit_test(a_column_of_each_process_is_known_of_the_first),
        cmocka_unit_test(each_kind_is_found_by_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
