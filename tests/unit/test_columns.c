/* SPDX-License-Identifier: MIT */
/* Which columns a listing shows, as they are typed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "kit.h"
#include "reference.h"

static const struct grammar grammar = {.name = "test"};

struct resolved {
    struct common common;
    struct listing_command command;
    struct counting counting;
    struct capture said;
    int status;
    char shown[4096]; /* names, joined by commas */
};

/* The columns of sockets with --columns=WORDS, or other common options. columns: the first ones. */
static void resolve_of(struct resolved *resolved, struct common common, const char *columns)
{
    struct listing_command *command = &resolved->command;
    bool done = false;

    memset(resolved, 0, sizeof *resolved);
    resolved->common = common;
    resolved->common.program = "test";
    resolved->common.grammar = &grammar;
    *command = (struct listing_command){.common = &resolved->common,
                                        .kind = &kind_socket,
                                        .columns = {columns, "uid inode"},
                                        .drop = "uid",
                                        .counting = &resolved->counting};
    capture_begin(&resolved->said, STDERR_FILENO);
    resolved->status = command_resolve(command, &done);
    capture_end(&resolved->said);
    for (size_t i = 0, used = 0; i < command->shown_count; i++)
        used += (size_t)snprintf(resolved->shown + used, sizeof resolved->shown - used, "%s%s",
                                 i ? "," : "", command->shown[i]->name);
    where_finish(&command->where);
}

static void resolve(struct resolved *resolved, struct common common)
{
    resolve_of(resolved, common, "protocol state");
}

static void assert_kept(struct common common, const char *where, const char *names)
{
    static const struct option option = {.name = "where"};
    struct resolved resolved;

    if (where)
        assert_true(filters_take(&common.filters, &option, where));
    resolve_of(&resolved, common, "recv send resent");
    assert_string_equal(resolved.said.text, "");
    assert_string_equal(resolved.command.keep, names);
}

static void columns_that_are_asked_for_stay_on_a_narrow_terminal(void **state)
{
    (void)state;
    assert_kept((struct common){.columns = NULL}, NULL, "");
    assert_kept((struct common){.columns = "+rtt,-uid"}, NULL, " rtt");
    assert_kept((struct common){.sort = "-send_q,inode"}, NULL, " send inode");
    assert_kept((struct common){.sort = "-send"}, "total_retrans > 0", " send resent");
    assert_kept((struct common){.columns = NULL}, "rcv_wnd > 0 && process != 'uids'", "");
}

static void assert_shown(const char *words, const char *columns)
{
    struct resolved resolved;

    resolve(&resolved, (struct common){.columns = words});
    assert_string_equal(resolved.said.text, "");
    assert_int_equal(resolved.status, STATUS_OK);
    assert_string_equal(resolved.shown, columns);
}

static void assert_refused(struct common common, const char *words)
{
    struct resolved resolved;

    resolve(&resolved, common);
    assert_int_equal(resolved.status, STATUS_REFUSED);
    assert_non_null(strstr(resolved.said.text, words));
}

static void columns_are_shown_as_they_are_named(void **state)
{
    (void)state;
    assert_shown(NULL, "protocol,state,uid,inode");
    assert_shown("uid,protocol", "uid,protocol");
}

static void assert_stream(struct common common, const char *columns)
{
    struct resolved resolved;

    common.interval_ms = 1000;
    resolve(&resolved, common);
    assert_string_equal(resolved.shown, columns);
    if (strstr(columns, "host"))
        assert_true(resolved.command.listing.needs.lookups & NEED_MACHINE);
}

static void a_stream_says_when_and_where(void **state)
{
    (void)state;
    assert_stream((struct common){.format = FORMAT_PLAIN}, "protocol,state,uid,inode");
    assert_stream((struct common){.format = FORMAT_NDJSON},
                  "time,listing,host,protocol,state,uid,inode");
    assert_stream((struct common){.format = FORMAT_CSV, .columns = "uid"}, "time,listing,host,uid");
    assert_stream((struct common){.format = FORMAT_JSON, .columns = "uid,host"},
                  "time,listing,uid,host");
    assert_stream((struct common){.format = FORMAT_JSON, .columns = "-host,-state"},
                  "time,listing,protocol,uid,inode");
    assert_stream((struct common){.format = FORMAT_JSON, .count_by = "state,host"},
                  "time,listing,state,host,count");
    assert_shown("netns,uid,time", "netns,uid,time");
}

static void plus_and_minus_change_the_default_columns(void **state)
{
    (void)state;
    assert_shown("+backlog,-uid", "protocol,state,inode,backlog");
    assert_shown("-uid,-state", "protocol,inode");
    assert_shown("+uid,-rto", "protocol,state,uid,inode"); /* as it is already */
    assert_shown("-uid,rto", "protocol,state,inode,rto");
}

static void minus_after_a_name_removes_that_column(void **state)
{
    (void)state;
    assert_shown("mem,-mem_backlog,-mem-optmem,-mem_queued,uid",
                 "mem_rmem,mem_rcvbuf,mem_wmem,mem_sndbuf,mem_forward,uid");
}

static void a_group_is_all_of_its_columns(void **state)
{
    (void)state;
    assert_shown("vegas", "vegas_rtt,vegas_minrtt");
    assert_shown("+vegas,-protocol", "state,uid,inode,vegas_rtt,vegas_minrtt");
    assert_shown("sctp,-sctp,uid", "uid");
}

static void a_column_that_is_shown_already_can_be_added(void **state)
{
    (void)state;
    assert_shown("+process,state", "protocol,state,uid,inode,process");
    assert_shown("+state,-uid,inode", "protocol,state,inode");
    assert_refused((struct common){.columns = "-uid,state"}, "named twice: 'state'");
}

static void all_columns_but_slow_lookups_are_shown_by_one_word(void **state)
{
    struct resolved resolved;

    (void)state;
    resolve(&resolved, (struct common){.columns = "all"});
    /* also not shown: the three columns that only groups have */
    assert_int_equal(resolved.command.shown_count,
                     kind_socket.field_count - kind_socket.view_count - 3 - 8 - 3);
    assert_false(resolved.command.listing.needs.lookups &
                 (NEED_HOSTS | NEED_ADDRESSES | NEED_PROFILES));
    resolve(&resolved, (struct common){.columns = "all,-all,uid"});
    assert_string_equal(resolved.shown, "uid");
}

static void a_view_is_shown_by_its_name_and_means_a_column_elsewhere(void **state)
{
    struct resolved resolved;

    (void)state;
    assert_shown("owners,recv", "owners,recv");
    resolve(&resolved, (struct common){.columns = "local", .sort = "recv"});
    assert_string_equal(resolved.command.listing.sort[0].field->name, "recv_q");
    resolve(&resolved, (struct common){.count_by = "owners,local/24", .sum = "recv"});
    assert_string_equal(resolved.shown, "process,local_address,count,recv_q");
}

static void a_counted_view_keeps_its_heading(void **state)
{
    struct resolved resolved;

    (void)state;
    resolve(&resolved, (struct common){.count_by = "owners,proto,state", .sort = "-owners"});
    assert_string_equal(resolved.said.text, "");
    assert_string_equal(resolved.shown, "process,protocol,state,count");
    assert_string_equal(resolved.command.titles, "process=owners protocol=proto ");
    assert_string_equal(resolved.command.listing.sort[0].field->name, "process");
    resolve(&resolved, (struct common){.count_by = "state,remote"});
    assert_string_equal(resolved.shown, "state,remote_address,count");
    assert_null(resolved.command.titles);
}

static void a_local_end_is_counted_with_its_port(void **state)
{
    struct resolved resolved;

    (void)state;
    resolve(&resolved, (struct common){.count_by = "local,state"});
    assert_string_equal(resolved.shown, "local_address,local_port,state,count");
    resolve(&resolved, (struct common){.count_by = "local,local_port"});
    assert_string_equal(resolved.shown, "local_address,local_port,count");
}

static void a_heading_means_its_column_unless_a_column_is_called_so(void **state)
{
    const struct field_heading *heading;

    (void)state;
    assert_shown("sent,Retrans%", "bytes_sent,resent_percent");
    assert_shown("proto,flags", "proto,flags");
    assert_refused((struct common){.columns = "tx/s"}, "no column 'tx/s'");
    assert_string_equal(field_named(&kind_flow, "proto")->name, "protocol");
    assert_string_equal(field_named(&kind_traffic, "FLAGS")->name, "tcp_flags");
    for (size_t i = 0; (heading = field_heading(i)); i++) /* it leads to no other heading */
        for (size_t other = 0; field_heading(other); other++)
            assert_string_not_equal(heading->name, field_heading(other)->heading);
}

static void a_column_brings_its_needs(void **state)
{
    struct resolved resolved;

    (void)state;
    resolve(&resolved, (struct common){.columns = "+process,-process"});
    assert_int_equal(resolved.command.listing.needs.lookups, 0);
    resolve(&resolved, (struct common){.columns = "+process"});
    assert_true(resolved.command.listing.needs.lookups & NEED_OWNERS);
}

static void an_unknown_column_is_refused_with_the_nearest_name(void **state)
{
    (void)state;
    assert_refused((struct common){.columns = "+uidd"}, "no column 'uidd'");
    assert_refused((struct common){.columns = "+mtpcp"}, "did you mean mptcp?");
    assert_refused((struct common){.columns = "uid,+"}, "no column ''");
    assert_refused((struct common){.columns = "-"}, "no column ''");
    assert_refused((struct common){.columns = "uid,UID"}, "named twice: 'UID'");
    assert_refused((struct common){.columns = "-all"}, "this removes all columns");
}

static void several_columns_to_sort_by_have_a_direction_each(void **state)
{
    struct resolved resolved;
    const struct sort_key *keys;

    (void)state;
    resolve(&resolved, (struct common){.sort = "state,-send_q,uid"});
    keys = resolved.command.listing.sort;
    assert_int_equal(resolved.status, STATUS_OK);
    assert_string_equal(keys[0].field->name, "state");
    assert_string_equal(keys[1].field->name, "send_q");
    assert_string_equal(keys[2].field->name, "uid");
    assert_false(keys[0].descending);
    assert_true(keys[1].descending);
    assert_false(keys[2].descending);
    assert_null(keys[3].field);
    assert_refused((struct common){.sort = "state,"}, "--sort: no column ''");
    assert_refused((struct common){.sort = "uid,uid,uid,uid,uid,uid,uid,uid,uid"}, "more than 8");
    assert_refused((struct common){.sort = "uid", .count_by = "state"}, "'uid'");
}

static void groups_have_columns_of_counts_sums_and_shares(void **state)
{
    struct resolved resolved;

    (void)state;
    resolve(&resolved, (struct common){.count_by = "state,remote_address/24",
                                       .sum = "recv_q,bytes_sent",
                                       .percent = true,
                                       .sort = "-recv_q_percent"});
    assert_string_equal(resolved.said.text, "");
    assert_string_equal(resolved.shown, "state,remote_address,count,recv_q,bytes_sent,"
                                        "count_percent,recv_q_percent,bytes_sent_percent");
    assert_true(resolved.command.listing.needs.fields & SOCKET_BYTES);
    assert_true(resolved.command.listing.percent);
}

static void aggregates_are_columns_that_say_what_they_are(void **state)
{
    struct resolved resolved;
    const struct listing *listing = &resolved.command.listing;

    (void)state;
    resolve(&resolved, (struct common){.count_by = "state",
                                       .sum = "recv_q",
                                       .percent = true,
                                       .avg = "rtt,recv_q",
                                       .min = "started",
                                       .max = "rtt",
                                       .median = "rtt",
                                       .quantile = "rtt:0.95,rtt:.999,rtt:1,rtt:0,rtt:0.005",
                                       .unknown = "rtt",
                                       .sort = "-rtt_avg,rtt_p99_9"});
    assert_string_equal(resolved.said.text, "");
    assert_string_equal(resolved.shown, "state,count,recv_q,count_percent,recv_q_percent,rtt_avg,"
                                        "recv_q_avg,started_min,rtt_max,rtt_median,rtt_p95,"
                                        "rtt_p99_9,rtt_p100,rtt_p0,rtt_p0_5,rtt_unknown");
    assert_string_equal(listing->sort[0].field->name, "rtt_avg");
    assert_true(listing->sort[0].descending);
    assert_true(listing->needs.fields & SOCKET_TCP_INFO);
    assert_true(listing->named.fields & SOCKET_TCP_INFO);
    assert_int_equal(listing->aggregates[5].millionths, 950000);
    assert_int_equal(resolved.command.shown[5]->type, VALUE_FINE);
    assert_int_equal(resolved.command.shown[5]->unit, UNIT_SECONDS);
    assert_int_equal(resolved.command.shown[6]->type, VALUE_DECIMAL); /* an average of integers */
    assert_int_equal(resolved.command.shown[7]->type, VALUE_TIME);
    assert_int_equal(resolved.command.shown[15]->type, VALUE_NUMBER);
    assert_int_equal(resolved.command.shown[15]->unit, UNIT_NONE);
}

static void sums_and_aggregates_need_no_column_to_count_by(void **state)
{
    struct resolved resolved;

    (void)state;
    resolve(&resolved, (struct common){.sum = "recv_q", .avg = "rtt"});
    assert_string_equal(resolved.said.text, "");
    assert_string_equal(resolved.shown, "count,recv_q,rtt_avg");
    assert_true(listing_counts(&resolved.command.listing));
}

/* The network of ::1 or 192.0.2.77 in the words of --count-by. */
static void assert_network(const char *words, const char *address, const char *expected)
{
    struct resolved resolved;
    struct record record = {.kind = &kind_socket, .has = SOCKET_ADDRESSES};
    char text[TEXT_NETWORK_MAX + 1];
    struct value value;

    resolve(&resolved, (struct common){.count_by = words});
    assert_string_equal(resolved.said.text, "");
    record.socket.remote.address = ip(address);
    value = field_value(resolved.command.listing.count_by[0], &record, &(struct context){0});
    assert_int_equal(value.type, VALUE_NETWORK);
    *value_write(text, &value, NULL) = '\0';
    assert_string_equal(text, expected);
}

static void addresses_are_counted_by_their_networks(void **state)
{
    (void)state;
    assert_network("remote_address/24", "192.0.2.77", "192.0.2.0/24");
    assert_network("remote_address/25", "192.0.2.177", "192.0.2.128/25");
    assert_network("remote_address/0", "192.0.2.177", "0.0.0.0/0");
    assert_network("remote_address/24", "2001:db8:1:2:3::1", "2001:db8:1:2::/64");
    assert_network("remote_address/24/33", "2001:db8:ffff:2:3::1", "2001:db8:8000::/33");
    assert_network("remote_address/48", "2001:db8:1:2:3::1", "2001:db8:1::/48");
    assert_network("remote_address/48", "192.0.2.177", "192.0.2.177/32");
}

static void columns_that_cannot_be_counted_or_added_are_refused(void **state)
{
    static const char *const wrong[] = {
        "state/24",         "remote_address/",    "remote_address/129", "remote_address/24/129",
        "remote_address/x", "remote_address/24/", "remote_address/+5",  "remote_address/48/64"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_refused((struct common){.count_by = wrong[i]}, wrong[i]);
    assert_refused((struct common){.count_by = "stat/24"}, "did you mean state?");
    assert_refused((struct common){.count_by = "state,state"}, "named twice: 'state'");
    assert_refused((struct common){.count_by = "uid", .sum = "uid"}, "named twice: 'uid'");
    assert_refused((struct common){.count_by = "uid", .sum = "state"},
                   "--sum: column 'state' has no numbers");
    assert_refused((struct common){.count_by = "uid", .sum = "recvq"}, "did you mean recv_q?");
    assert_refused((struct common){.count_by = "uid", .avg = "state"},
                   "--avg: column 'state' has no numbers");
    assert_refused((struct common){.max = "recvq"}, "did you mean recv_q?");
    assert_refused((struct common){.min = "rtt,rtt"}, "named twice: 'rtt_min'");
    assert_refused((struct common){.columns = "rtt", .median = "rtt"}, "--columns cannot be");
    assert_refused((struct common){.avg = "rtt", .sort = "rtt"}, "did you mean rtt_avg?");
    static const char *const quantiles[] = {"rtt",    "rtt:",  "rtt:95",   "rtt:1.1",
                                            "rtt:-1", "rtt:x", "rtt:0.5x", "rtt:0.95:0.99"};
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        assert_refused((struct common){.quantile = quantiles[i]}, "such as rtt:0.95");
    assert_refused((struct common){.percent = true}, "--percent needs --count-by");
}

static bool is_coloured(enum color_choice color, const char *no_color, const char *force)
{
    setenv("NO_COLOR", no_color, 1);
    setenv("CLICOLOR_FORCE", force, 1);
    return command_colour(&(struct common){.color = color});
}

static void colours_are_as_the_option_and_then_the_environment_say(void **state)
{
    struct capture out; /* no terminal */

    (void)state;
    capture_begin(&out, STDOUT_FILENO);
    const bool option = is_coloured(COLOR_ALWAYS, "1", ""),
               never = is_coloured(COLOR_NEVER, "", "1");
    const bool forced = is_coloured(COLOR_AUTO, "", "1"), both = is_coloured(COLOR_AUTO, "1", "1");
    const bool zero = is_coloured(COLOR_AUTO, "", "0"), none = is_coloured(COLOR_AUTO, "", "");
    capture_end(&out);
    assert_true(option && forced);
    assert_false(never || both || zero || none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_shown_as_they_are_named),
        cmocka_unit_test(a_stream_says_when_and_where),
        cmocka_unit_test(plus_and_minus_change_the_default_columns),
        cmocka_unit_test(minus_after_a_name_removes_that_column),
        cmocka_unit_test(a_group_is_all_of_its_columns),
        cmocka_unit_test(a_column_that_is_shown_already_can_be_added),
        cmocka_unit_test(all_columns_but_slow_lookups_are_shown_by_one_word),
        cmocka_unit_test(a_view_is_shown_by_its_name_and_means_a_column_elsewhere),
        cmocka_unit_test(a_counted_view_keeps_its_heading),
        cmocka_unit_test(a_local_end_is_counted_with_its_port),
        cmocka_unit_test(a_heading_means_its_column_unless_a_column_is_called_so),
        cmocka_unit_test(a_column_brings_its_needs),
        cmocka_unit_test(an_unknown_column_is_refused_with_the_nearest_name),
        cmocka_unit_test(columns_that_are_asked_for_stay_on_a_narrow_terminal),
        cmocka_unit_test(several_columns_to_sort_by_have_a_direction_each),
        cmocka_unit_test(colours_are_as_the_option_and_then_the_environment_say),
        cmocka_unit_test(groups_have_columns_of_counts_sums_and_shares),
        cmocka_unit_test(aggregates_are_columns_that_say_what_they_are),
        cmocka_unit_test(sums_and_aggregates_need_no_column_to_count_by),
        cmocka_unit_test(addresses_are_counted_by_their_networks),
        cmocka_unit_test(columns_that_cannot_be_counted_or_added_are_refused),
    };

    return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
