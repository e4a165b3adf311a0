/* SPDX-License-Identifier: MIT */
/* A listing of saved rows: which rows it has, in what order, and that nothing else is read. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>

#include "fastnet/engine.h"
#include "kit.h"
#include "saved_rows.h"

/* A source whose rows are the lines of a text. */
struct text_source {
    struct saved_source source;
    const char *text;
    struct saved_maker *maker;
    size_t passed;
};

static int read_text(struct saved_source *source, const struct query *query, record_fn fn,
                     void *arg)
{
    struct text_source *lines = (struct text_source *)source;
    struct saved_text opened = saved_text_open(lines->text, strlen(lines->text));
    struct record record;
    struct json_row row;
    int result = 0;

    assert_ptr_equal(query->saved, source);
    assert_non_null(query->report);
    while (result == 0 && json_reader_next(opened.reader, &row) == 1) {
        assert_non_null(saved_maker_record(lines->maker, &row, &record));
        lines->passed++;
        result = fn(&record, arg);
    }
    saved_text_close(&opened);
    return result;
}

static const char rows[] =
    "{\"protocol\":\"udp\",\"family\":\"inet\",\"state\":\"CLOSE\",\"local_port\":53,\"recv_q\":1,"
    "\"processes\":[{\"pid\":7,\"fd\":3,\"name\":\"named\"},{\"pid\":8,\"fd\":1,\"name\":\"x\"}]}\n"
    "{\"protocol\":\"tcp\",\"family\":\"inet6\",\"state\":\"LISTEN\",\"local_port\":22,"
    "\"recv_q\":2,\"processes\":[],\"user\":\"root\"}\n"
    "{\"protocol\":\"tcp\",\"family\":\"inet\",\"state\":\"LISTEN\",\"local_port\":80,"
    "\"recv_q\":3,\"processes\":null,\"user\":null}\n"
    "{\"protocol\":\"tcp\",\"family\":\"inet\",\"state\":\"ESTABLISHED\",\"local_port\":22,"
    "\"recv_q\":4,\"cookie\":9}\n"
    "{\"protocol\":\"tcp\",\"family\":\"inet\",\"state\":\"ESTABLISHED\",\"local_port\":22,"
    "\"recv_q\":4,\"cookie\":9}\n"
    "{\"local_port\":1}\n";

struct saved_scene {
    struct text_source lines;
    struct listing_table tables[3];
    struct listing listing;
    struct report report;
    struct output output;
    const struct field *columns[4];
};

/* A listing of all saved rows, of TCP of IPv4. */
static struct saved_scene *scene_of(void)
{
    static struct saved_scene scene;
    static const char *const columns[] = {"protocol", "family", "local_port", "processes"};

    scene = (struct saved_scene){
        .lines = {.source = {.kind = &kind_socket, .read = read_text}, .text = rows},
        .tables = {{.table = &table_tcp}},
        .listing = {.tables = scene.tables, .table_count = 1, .saved = &scene.lines.source},
    };
    scene.lines.maker = saved_maker_create(&kind_socket);
    for (size_t i = 0; i < COUNT(columns); i++)
        scene.columns[i] = field_named(&kind_socket, columns[i]);
    return &scene;
}

/* The kernel must not be asked. */
static int refuse_to_send(void *arg, const void *message, size_t size)
{
    (void)arg;
    (void)message;
    (void)size;
    fail();
    return -EIO;
}

/* Runs the listing as CSV, whose lines here end with a newline alone. */
static const char *listed(struct saved_scene *scene)
{
    static const struct netlink_peer kernel = {.send = refuse_to_send};
    struct engine *engine = engine_create(netlink_create(&kernel));
    const struct listing *listing = &scene->listing;
    const size_t groups = listing->count_by_count, count = groups + listing->sum_count;
    const struct field *const *columns = scene->columns;
    const struct field *counted[COUNT(scene->columns)];
    struct field fields[COUNT(scene->columns)];
    static char text[1024];
    char *dst = text;

    assert_non_null(engine);
    scene->listing.proc_root = "/nonexistent";
    counted[0] = &field_count;
    for (size_t i = 0; i < count; i++) {
        field_counted(&fields[i], i < groups ? listing->count_by[i] : listing->sum[i - groups], i);
        counted[i + 1] = &fields[i];
    }
    output_columns(&scene->output, sink_csv_create,
                   (struct sink_options){.columns = groups ? counted : columns,
                                         .count = groups ? count + 1 : COUNT(scene->columns),
                                         .context = engine_context(engine)});
    assert_int_equal(engine_run(engine, &scene->listing, scene->output.sink, &scene->report), 0);
    for (const char *at = output_text(&scene->output); *at; at++)
        if (*at != '\r')
            *dst++ = *at;
    *dst = '\0';
    engine_destroy(engine);
    return text;
}

static void finish(struct saved_scene *scene)
{
    saved_maker_destroy(scene->lines.maker);
}

/* Without family and protocol a row may belong to any table. */
static void rows_belong_to_tables_by_family_and_protocol(void **state)
{
    struct saved_scene *scene = scene_of();

    (void)state;
    assert_string_equal(listed(scene), "tcp,inet,80,\ntcp,inet,22,\ntcp,inet,22,\n,,1,\n");
    scene->tables[0].table = &table_tcp6;
    assert_string_equal(listed(scene), "tcp,inet6,22,\"\"\n,,1,\n");
    scene->tables[0].table = &table_unix;
    assert_string_equal(listed(scene), ",,1,\n");
    scene->tables[0].table = &table_neighbours;
    assert_string_equal(listed(scene), "");
    scene->tables[0].table = NULL;
    assert_string_equal(listed(scene), "");
    finish(scene);
}

static void the_filter_of_a_table_keeps_rows_without_the_compared_column(void **state)
{
    struct saved_scene *scene = scene_of();
    const struct predicate listens =
        predicate_number(field_named(&kind_socket, "state"), TCP_LISTEN);
    struct predicate_tree others = {.count = 0};

    (void)state;
    scene->tables[0].where = &listens;
    assert_string_equal(listed(scene), "tcp,inet,80,\n,,1,\n");
    predicate_tree_refuse(&others, &others.whole, listens);
    scene->tables[0].where = predicate_of(&others);
    assert_string_equal(listed(scene), "tcp,inet,22,\ntcp,inet,22,\n,,1,\n");
    /* a row belongs to the first table that wants it */
    scene->tables[1] = (struct listing_table){.table = &table_tcp, .where = &listens};
    scene->listing.table_count = 2;
    assert_string_equal(listed(scene), "tcp,inet,80,\ntcp,inet,22,\ntcp,inet,22,\n,,1,\n");
    finish(scene);
}

static void the_filter_of_the_listing_needs_known_values(void **state)
{
    struct saved_scene *scene = scene_of();
    const struct predicate where = predicate_number(field_named(&kind_socket, "local_port"), 22);
    size_t refused = 0;

    (void)state;
    scene->listing.where = &where;
    scene->listing.refused = &refused;
    assert_string_equal(listed(scene), "tcp,inet,22,\ntcp,inet,22,\n");
    assert_int_equal(refused, 2);
    finish(scene);
}

static void sorted_rows_keep_their_columns(void **state)
{
    struct saved_scene *scene = scene_of();

    (void)state;
    scene->tables[0].table = &table_udp;
    scene->tables[1].table = &table_tcp6;
    scene->listing.table_count = 2;
    scene->listing.sort[0].field = field_named(&kind_socket, "local_port");
    assert_string_equal(listed(scene),
                        ",,1,\ntcp,inet6,22,\"\"\nudp,inet,53,\"named/7/3,x/8/1\"\n");
    scene->listing.sort[0].descending = true;
    scene->listing.most = 1;
    assert_string_equal(listed(scene), "udp,inet,53,\"named/7/3,x/8/1\"\n");
    assert_int_equal(scene->report.unshown, 2);
    finish(scene);
}

static void groups_and_sums_are_those_of_saved_columns(void **state)
{
    struct saved_scene *scene = scene_of();

    (void)state;
    scene->tables[1].table = &table_udp;
    scene->listing.table_count = 2;
    scene->listing.count_by[0] = field_named(&kind_socket, "state");
    scene->listing.count_by[1] = field_named(&kind_socket, "processes");
    scene->listing.count_by_count = 2;
    scene->listing.sum[0] = field_named(&kind_socket, "recv_q");
    scene->listing.sum_count = 1;
    assert_string_equal(listed(scene), "2,ESTABLISHED,,8\n1,LISTEN,,3\n"
                                       "1,CLOSE,\"named/7/3,x/8/1\",1\n1,,,\n");
    finish(scene);
}

/* A group that an earlier --count-by made stands for all of its rows. */
static void groups_of_groups_add_their_counts(void **state)
{
    const struct saved_head head = {.counted = true};
    struct saved_scene *scene = scene_of();

    (void)state;
    scene->lines.text = "{\"state\":\"LISTEN\",\"user\":\"a\",\"count\":5}\n"
                        "{\"state\":\"LISTEN\",\"user\":\"b\",\"count\":7}\n"
                        "{\"state\":\"CLOSE\",\"user\":\"b\",\"count\":0}\n";
    saved_maker_set_head(scene->lines.maker, &head);
    scene->listing.count_by[0] = field_named(&kind_socket, "state");
    scene->listing.count_by_count = 1;
    assert_string_equal(listed(scene), "12,LISTEN\n0,CLOSE\n");
    assert_int_equal(scene->report.listed, 12);
    finish(scene);
}

static void a_limit_ends_the_reading(void **state)
{
    struct saved_scene *scene = scene_of();

    (void)state;
    scene->listing.limit = 1;
    assert_string_equal(listed(scene), "tcp,inet,80,\n");
    assert_true(scene->lines.passed < 6);
    finish(scene);
}

/* Names of this machine: root has the number 0 here, too. */
static void no_name_of_this_machine_gets_into_the_listing(void **state)
{
    struct saved_scene *scene = scene_of();
    static const char *const columns[] = {"host", "time", "netns", "user"};

    (void)state;
    scene->lines.text = "{\"protocol\":\"tcp\",\"family\":\"inet\",\"uid\":0}\n";
    for (size_t i = 0; i < COUNT(columns); i++)
        scene->columns[i] = field_named(&kind_socket, columns[i]);
    scene->listing.needs = (struct needs){.fields = UINT64_MAX, .lookups = UINT64_MAX};
    scene->listing.time = 1000;
    assert_string_equal(listed(scene), ",,,\n");
    finish(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_belong_to_tables_by_family_and_protocol),
        cmocka_unit_test(the_filter_of_a_table_keeps_rows_without_the_compared_column),
        cmocka_unit_test(the_filter_of_the_listing_needs_known_values),
        cmocka_unit_test(sorted_rows_keep_their_columns),
        cmocka_unit_test(groups_and_sums_are_those_of_saved_columns),
        cmocka_unit_test(groups_of_groups_add_their_counts),
        cmocka_unit_test(a_limit_ends_the_reading),
        cmocka_unit_test(no_name_of_this_machine_gets_into_the_listing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
