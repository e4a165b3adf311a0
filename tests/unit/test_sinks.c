/* SPDX-License-Identifier: MIT */
/* The sinks that are driven by columns, over rows of any kind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fastnet/field.h"
#include "fastnet/hosts.h"
#include "fastnet/labels.h"
#include "fastnet/owners.h"
#include "fastnet/sink.h"
#include "fastnet/text.h"
#include "kit.h"
#include "text/width.h"

enum { COLUMNS = 8, MANY_OWNERS = 3000, LONG_TEXT = 50000 };

/* --- Columns and rows of the tests' own ------------------------------------------------------- */

#define COLUMN(n, column_name, column_type)                                                        \
    {                                                                                              \
        .name = (column_name), .help = "", .type = (column_type), .index = (n),                    \
        .value = given_value                                                                       \
    }

static const struct field name_column = COLUMN(0, "name", VALUE_TEXT);
static const struct field size_column = COLUMN(1, "size", VALUE_NUMBER);
static const struct field age_column = COLUMN(2, "age", VALUE_DECIMAL);
static const struct field address_column = COLUMN(3, "address", VALUE_ADDRESS);
static const struct field path_column = COLUMN(4, "path", VALUE_SOCKET_NAME);
static const struct field user_column = COLUMN(5, "user", VALUE_NAME);
static const struct field holders_column = COLUMN(6, "holders", VALUE_OWNERS);
static const struct field marks_column = COLUMN(7, "marks", VALUE_FLAGS);

/* The same values as name_column. */
static const struct field state_column = {
    .name = "state",
    .help = "",
    .type = VALUE_TEXT,
    .coloured = true,
    .value = given_value,
};

static const struct field *const all_columns[COLUMNS] = {
    &name_column, &size_column, &age_column,     &address_column,
    &path_column, &user_column, &holders_column, &marks_column,
};

static const struct owner_process two_processes[] = {
    {.pid = 17, .name = "sshd"},
    {.pid = 204, .name = "a \"b\",/\n"},
};
static const struct owner two_owners[] = {
    {.process = &two_processes[0], .fd = 3},
    {.process = &two_processes[1], .fd = 12},
};

static const char *const bit_names[] = {"first", NULL, "a \"b\",\n"};
static const struct flag_names three_bits = {bit_names, 3};

static struct value flags_value(uint64_t low, uint64_t high)
{
    return (struct value){.type = VALUE_FLAGS, .flags = {&three_bits, {low, high}}};
}

/* One of each. */
static void fill_values(struct value *values)
{
    values[0] = string_value("tcp");
    values[1] = number_value(UINT64_MAX);
    values[2] = (struct value){.type = VALUE_DECIMAL, .number = 1250};
    values[3] = (struct value){.type = VALUE_ADDRESS, .address = ip("2001:db8::1")};
    values[4] = (struct value){.type = VALUE_SOCKET_NAME, .text = {"\0a@,b", 5}};
    values[5] = (struct value){.type = VALUE_NAME, .name = {NULL, 1000}};
    values[6] = (struct value){.type = VALUE_OWNERS, .owners = {two_owners, 2}};
    values[7] = flags_value(1 << 0 | 1 << 1 | 1 << 2, UINT64_C(1) << 63);
}

/* --- A listing into a file in memory ---------------------------------------------------------- */

static void listing_begin(struct output *listing, sink_create_fn create,
                          const struct field *const *columns, size_t count, bool header,
                          bool colour)
{
    output_columns(listing, create,
                   (struct sink_options){
                       .columns = columns, .count = count, .header = header, .colour = colour});
}

static void listing_row(struct output *listing, const struct value *values)
{
    output_row(listing,
               &(struct record){.kind = &kind_count, .count = {.values = values, .count = 1}});
}

static void assert_listing(struct output *listing, const char *expected)
{
    assert_string_equal(output_text(listing), expected);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void an_empty_json_listing_is_an_empty_array(void **state)
{
    struct output listing;

    (void)state;
    listing_begin(&listing, sink_json_create, all_columns, COLUMNS, true, false);
    assert_listing(&listing, "[]\n");
    listing_begin(&listing, sink_ndjson_create, all_columns, COLUMNS, true, false);
    assert_listing(&listing, "");
}

static void json_is_one_array_with_an_object_a_line(void **state)
{
    struct output listing;
    struct value values[COLUMNS] = {string_value("a"), number_value(1)};

    (void)state;
    listing_begin(&listing, sink_json_create, all_columns, 2, true, false);
    listing_row(&listing, values);
    values[1] = (struct value){.type = VALUE_UNKNOWN};
    listing_row(&listing, values);
    assert_listing(&listing,
                   "[\n{\"name\":\"a\",\"size\":1},\n{\"name\":\"a\",\"size\":null}\n]\n");
}

static void ndjson_is_an_object_a_line(void **state)
{
    struct output listing;
    struct value values[COLUMNS] = {string_value("a"), number_value(1)};

    (void)state;
    listing_begin(&listing, sink_ndjson_create, all_columns, 2, true, false);
    listing_row(&listing, values);
    listing_row(&listing, values);
    assert_listing(&listing, "{\"name\":\"a\",\"size\":1}\n{\"name\":\"a\",\"size\":1}\n");
}

static void json_has_numbers_as_numbers_owners_as_objects_and_bits_as_names(void **state)
{
    struct output listing;
    struct value values[COLUMNS];

    (void)state;
    fill_values(values);
    listing_begin(&listing, sink_ndjson_create, all_columns, COLUMNS, true, true);
    listing_row(&listing, values);
    values[5].name.string = "r\"oot";
    values[6].owners.count = 0;
    values[7] = flags_value(0, 0);
    listing_row(&listing, values);
    assert_listing(&listing,
                   "{\"name\":\"tcp\",\"size\":18446744073709551615,\"age\":1.250,"
                   "\"address\":\"2001:db8::1\",\"path\":\"\\u0000a@,b\",\"user\":\"1000\","
                   "\"holders\":[{\"pid\":17,\"fd\":3,\"name\":\"sshd\"},"
                   "{\"pid\":204,\"fd\":12,\"name\":\"a \\\"b\\\",/\\u000a\"}],"
                   "\"marks\":[\"first\",\"1\",\"a \\\"b\\\",\\u000a\",\"127\"]}\n"
                   "{\"name\":\"tcp\",\"size\":18446744073709551615,\"age\":1.250,"
                   "\"address\":\"2001:db8::1\",\"path\":\"\\u0000a@,b\",\"user\":\"r\\\"oot\","
                   "\"holders\":[],\"marks\":[]}\n");
}

/* --- CSV -------------------------------------------------------------------------------------- */

static void csv_has_a_header_unless_told_not_to(void **state)
{
    struct output listing;

    (void)state;
    listing_begin(&listing, sink_csv_create, all_columns, 3, true, false);
    assert_listing(&listing, "name,size,age\r\n");
    listing_begin(&listing, sink_csv_create, all_columns, 3, false, false);
    assert_listing(&listing, "");
}

static void csv_writes_every_type(void **state)
{
    struct output listing;
    struct value values[COLUMNS];

    (void)state;
    fill_values(values);
    listing_begin(&listing, sink_csv_create, all_columns, COLUMNS, false, true);
    listing_row(&listing, values);
    assert_listing(&listing, "tcp,18446744073709551615,1.250,2001:db8::1,\"@a\\x40,b\",1000,"
                             "\"sshd/17/3,a\\x20\\x22b\\x22\\x2c\\x2f\\x0a/204/12\","
                             "\"first,1,a\\x20\\x22b\\x22\\x2c\\x0a,127\"\r\n");
}

static void csv_distinguishes_unknown_from_empty(void **state)
{
    struct output listing;
    const struct value values[COLUMNS] = {string_value(""),
                                          {.type = VALUE_UNKNOWN},
                                          {.type = VALUE_UNKNOWN},
                                          {.type = VALUE_UNKNOWN},
                                          {.type = VALUE_SOCKET_NAME, .text = {NULL, 0}},
                                          {.type = VALUE_NAME, .name = {"-", 0}},
                                          {.type = VALUE_OWNERS},
                                          flags_value(0, 0)};

    (void)state;
    listing_begin(&listing, sink_csv_create, all_columns, COLUMNS, false, false);
    listing_row(&listing, values);
    assert_listing(&listing, "\"\",,,,\"\",-,\"\",\"\"\r\n");
}

static void csv_quotes_special_characters(void **state)
{
    static const char *const cases[][2] = {
        {"a,b", "\"a,b\"\r\n"},
        {"a\"b\"", "\"a\"\"b\"\"\"\r\n"},
        {"\"", "\"\"\"\"\r\n"},
        {" a", "\" a\"\r\n"},
        {"a ", "\"a \"\r\n"},
        {"a b", "a b\r\n"},
        {"a\r\nb", "a\\x0d\\x0ab\r\n"},
        {"\\", "\\\\\r\n"},
        {"@a", "@a\r\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct output listing;
        const struct value value = string_value(cases[i][0]);
        listing_begin(&listing, sink_csv_create, all_columns, 1, false, false);
        listing_row(&listing, &value);
        assert_listing(&listing, cases[i][1]);
    }
}

static void csv_quotes_do_not_hide_where_a_socket_name_starts(void **state)
{
    struct output listing;
    const struct field *const columns[] = {&path_column};
    struct value values[COLUMNS] = {{.type = VALUE_UNKNOWN}};

    (void)state;
    listing_begin(&listing, sink_csv_create, columns, 1, false, false);
    values[4] = (struct value){.type = VALUE_SOCKET_NAME, .text = {"@\"@\0", 4}};
    listing_row(&listing, values);
    values[4] = (struct value){.type = VALUE_SOCKET_NAME, .text = {"\0\"@\0", 4}};
    listing_row(&listing, values);
    values[4] = (struct value){.type = VALUE_SOCKET_NAME, .text = {"\"@", 2}};
    listing_row(&listing, values);
    assert_listing(&listing, "\"\\x40\"\"@\\x00\"\r\n\"@\"\"\\x40@\"\r\n\"\"\"@\"\r\n");
}

static struct sink *create_for_spreadsheets(const struct sink_options *options)
{
    struct sink_options safe = *options;

    safe.spreadsheet = true;
    return sink_csv_create(&safe);
}

static void csv_for_spreadsheets_has_no_formulas(void **state)
{
    static const char *const cases[][2] = {
        {"=HYPERLINK(\"a", "\"'=HYPERLINK(\"\"a\"\r\n"},
        {"=1+1", "'=1+1\r\n"},
        {"+a", "'+a\r\n"},
        {"-", "'-\r\n"},
        {"@SUM(1)", "'@SUM(1)\r\n"},
        {"  =1", "\"'  =1\"\r\n"},
        {"\t=1", "\\x09=1\r\n"},
        {"\r=1", "\\x0d=1\r\n"},
        {"\xef\xbc\x9d"
         "1",
         "'\xef\xbc\x9d"
         "1\r\n"},
        {"\xef\xbc\xa0", "'\xef\xbc\xa0\r\n"},
        {"\xef\xbc", "\\xef\\xbc\r\n"},
        {"'", "''\r\n"}, /* so that one ' can always be taken off */
        {"a;=1", "a\\x3b=1\r\n"},
        {"a=1", "a=1\r\n"},
        {"1", "1\r\n"},
        {"", "\"\"\r\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct output listing;
        const struct value value = string_value(cases[i][0]);
        listing_begin(&listing, create_for_spreadsheets, all_columns, 1, false, false);
        listing_row(&listing, &value);
        assert_listing(&listing, cases[i][1]);
    }
}

static void csv_for_spreadsheets_judges_a_socket_name_as_it_is_written(void **state)
{
    struct output listing;
    const struct field *const columns[] = {&path_column};
    struct value values[COLUMNS] = {{.type = VALUE_UNKNOWN}};

    (void)state;
    listing_begin(&listing, create_for_spreadsheets, columns, 1, false, false);
    values[4] = (struct value){.type = VALUE_SOCKET_NAME, .text = {"\0a;b", 4}};
    listing_row(&listing, values);
    values[4] = (struct value){.type = VALUE_SOCKET_NAME, .text = {"@a", 2}};
    listing_row(&listing, values);
    values[4] = (struct value){.type = VALUE_SOCKET_NAME, .text = {"-a", 2}};
    listing_row(&listing, values);
    values[4] = (struct value){.type = VALUE_SOCKET_NAME, .text = {NULL, 0}};
    listing_row(&listing, values);
    assert_listing(&listing, "'@a\\x3bb\r\n\\x40a\r\n'-a\r\n\"\"\r\n");
}

static void csv_for_spreadsheets_leaves_numbers_as_they_are(void **state)
{
    struct output listing;
    struct value values[COLUMNS];

    (void)state;
    fill_values(values);
    values[1] = (struct value){.type = VALUE_SIGNED, .integer = {5, true}};
    listing_begin(&listing, create_for_spreadsheets, all_columns, COLUMNS, false, false);
    listing_row(&listing, values);
    assert_listing(&listing, "tcp,-5,1.250,2001:db8::1,\"'@a\\x40,b\",1000,"
                             "\"sshd/17/3,a\\x20\\x22b\\x22\\x2c\\x2f\\x0a/204/12\","
                             "\"first,1,a\\x20\\x22b\\x22\\x2c\\x0a,127\"\r\n");
}

static void csv_for_spreadsheets_judges_a_list_by_its_first_name(void **state)
{
    static const struct owner_process processes[] = {{.pid = 1, .name = "=a;b"},
                                                     {.pid = 3, .name = "=c"}};
    static const struct owner owners[] = {{.process = &processes[0], .fd = 2},
                                          {.process = &processes[1], .fd = 4}};
    static const char *const names[] = {"-a", "=b"};
    static const struct flag_names bits = {names, 2};
    struct output listing;
    const struct field *const columns[] = {&holders_column, &marks_column};
    struct value values[COLUMNS] = {{.type = VALUE_UNKNOWN}};

    (void)state;
    listing_begin(&listing, create_for_spreadsheets, columns, 2, false, false);
    values[6] = (struct value){.type = VALUE_OWNERS, .owners = {owners, 2}};
    values[7] = (struct value){.type = VALUE_FLAGS, .flags = {&bits, {3, 0}}};
    listing_row(&listing, values);
    values[6] = (struct value){.type = VALUE_OWNERS};
    values[7] = flags_value(0, 0);
    listing_row(&listing, values);
    assert_listing(&listing, "\"'=a\\x3bb/1/2,=c/3/4\",\"'-a,=b\"\r\n\"\",\"\"\r\n");
}

/* --- The table -------------------------------------------------------------------------------- */

static void a_table_is_as_wide_as_what_is_in_it(void **state)
{
    struct output listing;
    const struct field *const columns[] = {&name_column, &size_column, &path_column};
    struct value values[COLUMNS] = {string_value("a b"), number_value(7)};

    (void)state;
    values[4] = (struct value){.type = VALUE_UNKNOWN};
    listing_begin(&listing, sink_table_create, columns, 3, true, false);
    listing_row(&listing, values);
    values[0] = string_value("longer");
    values[1] = number_value(123456);
    values[4] = (struct value){.type = VALUE_SOCKET_NAME, .text = {"/run/x", 6}};
    listing_row(&listing, values);
    assert_listing(&listing, "NAME      SIZE  PATH\n"
                             "a\\x20b       7  -\n"
                             "longer  123456  /run/x\n");
}

static void bits_are_joined_by_commas_in_a_table_and_none_is_a_dash(void **state)
{
    struct output listing;
    const struct field *const columns[] = {&marks_column, &size_column};
    struct value values[COLUMNS] = {{.type = VALUE_UNKNOWN}, number_value(7)};

    (void)state;
    listing_begin(&listing, sink_table_create, columns, 2, true, false);
    values[7] = flags_value(1 << 0 | UINT64_C(1) << 63, 1);
    listing_row(&listing, values);
    values[7] = flags_value(1 << 2, 0);
    listing_row(&listing, values);
    values[7] = flags_value(0, 0);
    listing_row(&listing, values);
    values[7] = (struct value){.type = VALUE_UNKNOWN};
    listing_row(&listing, values);
    assert_listing(&listing, "MARKS                   SIZE\n"
                             "first,63,64                7\n"
                             "a\\x20\\x22b\\x22\\x2c\\x0a     7\n"
                             "-                          7\n"
                             "-                          7\n");
}

static void a_table_without_header_has_no_headings_and_no_room_for_them(void **state)
{
    struct output listing;
    const struct value values[COLUMNS] = {string_value("a"), number_value(7)};

    (void)state;
    listing_begin(&listing, sink_table_create, all_columns, 2, false, false);
    listing_row(&listing, values);
    assert_listing(&listing, "a  7\n");
    listing_begin(&listing, sink_table_create, all_columns, 2, false, false);
    assert_listing(&listing, "");
    listing_begin(&listing, sink_table_create, all_columns, 2, true, false);
    assert_listing(&listing, "NAME  SIZE\n");
}

static void a_table_counts_characters_and_not_bytes(void **state)
{
    struct output listing;
    struct value values[COLUMNS] = {string_value("\xc3\xa4\xc3\xb6\xc3\xbc"), number_value(1)};

    (void)state;
    listing_begin(&listing, sink_table_create, all_columns, 2, false, false);
    listing_row(&listing, values);
    values[0] = string_value("four");
    listing_row(&listing, values);
    assert_listing(&listing, "\xc3\xa4\xc3\xb6\xc3\xbc   1\nfour  1\n");
}

static void only_states_are_coloured_and_only_when_asked_for(void **state)
{
    const struct field *const columns[] = {&state_column, &name_column, &size_column};
    struct value values[COLUMNS] = {string_value("LISTEN"), number_value(1)};
    struct output listing;

    (void)state;
    listing_begin(&listing, sink_table_create, columns, 3, false, true);
    listing_row(&listing, values);
    values[0] = string_value("ESTABLISHED");
    listing_row(&listing, values);
    values[0] = string_value("SYN_SENT");
    listing_row(&listing, values);
    values[0] = string_value("FIN_WAIT2");
    listing_row(&listing, values);
    assert_listing(&listing, "\033[32mLISTEN\033[0m       LISTEN       1\n"
                             "ESTABLISHED  ESTABLISHED  1\n"
                             "\033[36mSYN_SENT\033[0m     SYN_SENT     1\n"
                             "\033[33mFIN_WAIT2\033[0m    FIN_WAIT2    1\n");
    listing_begin(&listing, sink_table_create, columns, 3, false, false);
    listing_row(&listing, values);
    assert_listing(&listing, "FIN_WAIT2  FIN_WAIT2  1\n");
}

/* What stands in row i of a long table: longer and longer, but short now and then. */
static size_t number_of_row(size_t i)
{
    return i % 7 == 0 ? i % 100 : i;
}

static void a_long_table_streams_with_the_widths_of_its_first_rows(void **state)
{
    enum { ROWS = 12000 };
    struct output listing;
    char name[32], line[80];
    struct value values[COLUMNS];

    (void)state;
    listing_begin(&listing, sink_table_create, all_columns, 2, true, false);
    for (size_t i = 0; i < ROWS; i++) {
        const size_t number = number_of_row(i);
        values[0] = text_value(name, (size_t)snprintf(name, sizeof(name), "row%zu", number));
        values[1] = number_value(number);
        listing_row(&listing, values);
    }
    const char *text = output_text(&listing);
    const char *at = text;
    assert_memory_equal(at, "NAME    SIZE\n", 13);
    at += 13;
    for (size_t i = 0; i < ROWS; i++) {
        /* The first thousand rows have names of at most six characters; later ones push. */
        const size_t number = number_of_row(i);
        snprintf(name, sizeof(name), "row%zu", number);
        const size_t length = (size_t)snprintf(line, sizeof(line), "%-6s  %4zu\n", name, number);
        assert_memory_equal(at, line, length);
        at += length;
    }
    assert_string_equal(at, "");
}

/* Also behind the rows that are kept: long texts are cut, and those of no column are left out. */
static void a_long_table_stays_within_the_terminal(void **state)
{
    enum { ROWS = 1100, WIDTH = 40 };
    static const struct field *const columns[] = {&size_column, &name_column, &path_column};
    struct output listing;
    char data[200] = "";
    struct value values[COLUMNS] = {text_value(data, sizeof data), number_value(7)};

    (void)state;
    memset(data, 'x', sizeof data);
    values[4] = (struct value){.type = VALUE_SOCKET_NAME, .text = {data, sizeof data}};
    output_columns(
        &listing, sink_table_create,
        (struct sink_options){
            .columns = columns, .count = 3, .width = WIDTH, .shorten = "name", .drop = "path"});
    for (size_t i = 0; i < ROWS; i++)
        listing_row(&listing, values);
    char *text = strdup(output_text(&listing));
    unsigned lines = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"), lines++) {
        assert_int_equal(text_width(line, strlen(line)), WIDTH);
        assert_memory_equal(line, "7  xxx", 6);
    }
    assert_int_equal(lines, ROWS);
    free(text);
}

static void rows_too_large_to_keep_come_out_in_order(void **state)
{
    struct output listing;
    char *data = malloc(LONG_TEXT);
    struct value values[COLUMNS] = {string_value("first"), number_value(1)};

    (void)state;
    assert_non_null(data);
    memset(data, 'x', LONG_TEXT);
    listing_begin(&listing, sink_table_create, all_columns, 2, false, false);
    listing_row(&listing, values);
    for (unsigned i = 2; i < 9; i++) {
        values[0] = text_value(data, LONG_TEXT);
        values[1] = number_value(i);
        listing_row(&listing, values);
    }
    char *text = strdup(output_text(&listing));
    unsigned lines = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        lines++;
        assert_int_equal(line[strlen(line) - 1], '0' + lines);
        assert_int_equal(strspn(line, "x"), lines == 1 ? 0 : LONG_TEXT);
    }
    assert_int_equal(lines, 8);
    free(text);
    free(data);
}

/* --- All of them ------------------------------------------------------------------------------ */

static const sink_create_fn creators[] = {sink_json_create, sink_ndjson_create, sink_csv_create,
                                          sink_table_create};

static void thousands_of_owners_are_all_listed(void **state)
{
    struct owner *owners = calloc(MANY_OWNERS, sizeof *owners);
    struct owner_process *processes = calloc(MANY_OWNERS, sizeof *processes);
    struct value values[COLUMNS] = {string_value("x")};
    const struct field *const columns[] = {&name_column, &holders_column};

    (void)state;
    assert_non_null(owners);
    assert_non_null(processes);
    for (int i = 0; i < MANY_OWNERS; i++) {
        processes[i] = (struct owner_process){.pid = 100000 + i, .name = "work\ner"};
        owners[i] = (struct owner){.process = &processes[i], .fd = i};
    }
    values[6] = (struct value){.type = VALUE_OWNERS, .owners = {owners, MANY_OWNERS}};
    for (size_t i = 0; i < sizeof(creators) / sizeof(creators[0]); i++) {
        struct output listing;
        listing_begin(&listing, creators[i], columns, 2, true, false);
        listing_row(&listing, values);
        const char *text = output_text(&listing);
        const char *at = text;
        for (int j = 0; j < MANY_OWNERS; j++) {
            char owner[64];
            if (i < 2)
                snprintf(owner, sizeof(owner), "{\"pid\":%d,\"fd\":%d,", 100000 + j, j);
            else
                snprintf(owner, sizeof(owner), "/%d/%d", 100000 + j, j);
            at = strstr(at, owner);
            assert_non_null(at);
        }
    }
    free(owners);
    free(processes);
}

/* More than the writer has room for at once. */
static void long_names_of_many_bits_are_written_whole(void **state)
{
    enum { LONG_NAME = 300 };
    char name[LONG_NAME + 1];
    const char *names[VALUE_FLAG_BITS];
    const struct flag_names all = {names, VALUE_FLAG_BITS};
    struct value values[COLUMNS] = {{.type = VALUE_UNKNOWN}};
    const struct field *const columns[] = {&marks_column};

    (void)state;
    memset(name, 'n', LONG_NAME);
    name[LONG_NAME] = '\0';
    for (size_t i = 0; i < VALUE_FLAG_BITS; i++)
        names[i] = name;
    values[7] = (struct value){.type = VALUE_FLAGS, .flags = {&all, {UINT64_MAX, UINT64_MAX}}};
    for (size_t i = 0; i < sizeof(creators) / sizeof(creators[0]); i++) {
        struct output listing;
        size_t count = 0;
        listing_begin(&listing, creators[i], columns, 1, false, false);
        listing_row(&listing, values);
        const char *text = output_text(&listing);
        for (const char *at = text; (at = strstr(at, name)) != NULL; at += LONG_NAME)
            count++;
        assert_int_equal(count, VALUE_FLAG_BITS);
    }
}

static void long_socket_names_are_written_whole(void **state)
{
    char *data = malloc(LONG_TEXT), *expected = malloc((size_t)ESCAPE_FACTOR * LONG_TEXT);
    struct value values[COLUMNS] = {{.type = VALUE_UNKNOWN}};
    const struct field *const columns[] = {&path_column};

    (void)state;
    assert_non_null(data);
    assert_non_null(expected);
    for (size_t i = 0; i < LONG_TEXT; i++)
        data[i] = i % 3 == 0 ? '\0' : i % 3 == 1 ? '@' : (char)('a' + i / 3 % 25);
    values[4] = (struct value){.type = VALUE_SOCKET_NAME, .text = {data, LONG_TEXT}};
    const char *end = escape_socket_name(expected, data, LONG_TEXT, NULL);
    const size_t length = (size_t)(end - expected);
    for (size_t i = 2; i < sizeof(creators) / sizeof(creators[0]); i++) {
        struct output listing;
        listing_begin(&listing, creators[i], columns, 1, false, false);
        listing_row(&listing, values);
        const char *text = output_text(&listing);
        assert_memory_equal(text, expected, length);
        assert_string_equal(text + length, creators[i] == sink_csv_create ? "\r\n" : "\n");
    }
    free(expected);
    free(data);
}

static void a_sink_lists_again_from_the_start(void **state)
{
    static const char *const expected[] = {
        "[\n{\"name\":\"a\"}\n]\n[\n{\"name\":\"b\"}\n]\n",
        "{\"name\":\"a\"}\n{\"name\":\"b\"}\n",
        "name\r\na\r\nname\r\nb\r\n",
        "NAME\na\nNAME\nb\n",
    };
    const struct value first = string_value("a"), second = string_value("b");

    (void)state;
    for (size_t i = 0; i < sizeof(creators) / sizeof(creators[0]); i++) {
        struct output listing;
        listing_begin(&listing, creators[i], all_columns, 1, true, false);
        listing_row(&listing, &first);
        sink_end(listing.sink);
        sink_begin(listing.sink);
        listing_row(&listing, &second);
        assert_listing(&listing, expected[i]);
    }
    sink_destroy(NULL);
}

/* --- Views ------------------------------------------------------------------------------------ */

static char *write_sentence(char *dst, const struct value *view, bool human)
{
    static const char text[] = "a b\\c,\033\xff";

    (void)view;
    return escape_text(dst, text, sizeof text - 1, human ? "" : " ,");
}

static struct value sentence_value(const struct cell *cell)
{
    return (struct value){.type = VALUE_VIEW,
                          .view = {cell->field, cell->record, cell->context, write_sentence}};
}

/* As the text of a column is, not what a table made of it. */
static void a_view_is_escaped_once(void **state)
{
    static const struct field column = {
        .name = "why", .help = "", .type = VALUE_VIEW, .value = sentence_value};
    static const struct {
        sink_create_fn create;
        const char *expected;
    } cases[] = {
        {sink_ndjson_create, "{\"why\":\"a b\\\\\\\\c,\\u001b\\\\xff\"}\n"},
        {sink_csv_create, "\"a b\\\\c,\\x1b\\xff\"\r\n"},
        {sink_table_create, "a\\x20b\\\\c\\x2c\\x1b\\xff\n"},
    };
    const struct field *const columns[] = {&column};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct output listing;
        listing_begin(&listing, cases[i].create, columns, 1, false, false);
        listing_row(&listing, NULL);
        assert_listing(&listing, cases[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_json_listing_is_an_empty_array),
        cmocka_unit_test(json_is_one_array_with_an_object_a_line),
        cmocka_unit_test(ndjson_is_an_object_a_line),
        cmocka_unit_test(json_has_numbers_as_numbers_owners_as_objects_and_bits_as_names),
        cmocka_unit_test(csv_has_a_header_unless_told_not_to),
        cmocka_unit_test(csv_writes_every_type),
        cmocka_unit_test(csv_distinguishes_unknown_from_empty),
        cmocka_unit_test(csv_quotes_special_characters),
        cmocka_unit_test(csv_quotes_do_not_hide_where_a_socket_name_starts),
        cmocka_unit_test(csv_for_spreadsheets_has_no_formulas),
        cmocka_unit_test(csv_for_spreadsheets_judges_a_socket_name_as_it_is_written),
        cmocka_unit_test(csv_for_spreadsheets_leaves_numbers_as_they_are),
        cmocka_unit_test(csv_for_spreadsheets_judges_a_list_by_its_first_name),
        cmocka_unit_test(a_table_is_as_wide_as_what_is_in_it),
        cmocka_unit_test(bits_are_joined_by_commas_in_a_table_and_none_is_a_dash),
        cmocka_unit_test(a_table_without_header_has_no_headings_and_no_room_for_them),
        cmocka_unit_test(a_table_counts_characters_and_not_bytes),
        cmocka_unit_test(only_states_are_coloured_and_only_when_asked_for),
        cmocka_unit_test(a_long_table_streams_with_the_widths_of_its_first_rows),
        cmocka_unit_test(a_long_table_stays_within_the_terminal),
        cmocka_unit_test(rows_too_large_to_keep_come_out_in_order),
        cmocka_unit_test(thousands_of_owners_are_all_listed),
        cmocka_unit_test(long_names_of_many_bits_are_written_whole),
        cmocka_unit_test(long_socket_names_are_written_whole),
        cmocka_unit_test(a_sink_lists_again_from_the_start),
        cmocka_unit_test(a_view_is_escaped_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
