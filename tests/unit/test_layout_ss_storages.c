/* SPDX-License-Identifier: MIT */
/* What BPF programs keep for a socket, as ss shows it by its type. */
#include <stdio.h>
#include <string.h>

#include "../helpers/made_btf.h"
#include "fastnet/array.h"
#include "kit.h"
#include "ss_rows.h"

enum { MAP = 7 };

static struct made_btf made;
static uint32_t u8, i8, u16, i32, u32, i64, u64, u128; /* the types that each test has */

static int make_integers(void **state)
{
    (void)state;
    made = (struct made_btf){.types = 0};
    u8 = made_int(&made, "unsigned char", 1, 0);
    i8 = made_int(&made, "char", 1, MADE_SIGNED | MADE_CHAR);
    u16 = made_int(&made, "u16", 2, 0);
    i32 = made_int(&made, "int", 4, MADE_SIGNED);
    u32 = made_int(&made, "unsigned", 4, 0);
    i64 = made_int(&made, "long", 8, MADE_SIGNED);
    u64 = made_int(&made, "unsigned long", 8, 0);
    u128 = made_int(&made, "unsigned __int128", 16, 0);
    return 0;
}

/* A row with this value of the map. */
static const char *shown_in(struct ss_layout layout, uint32_t type, const void *value, size_t size)
{
    struct attribute_bytes storage = {0}, storages = {0};
    struct record record = tcp_row("192.0.2.1", 1, "192.0.2.2", 2);
    struct bpf_values values = {.map = MAP, .type = type};
    static char bytes[MADE_BTF_MAX];
    const char *text;

    put_u32(&storage, 2, MAP);
    put_attribute(&storage, 3, value, size);
    put_attribute(&storages, 1, storage.data, storage.length);
    record.has |= SOCKET_STORAGES;
    record.socket.storages = (struct text){storages.data, storages.length};
    assert_int_equal(btf_init(&values.btf, (struct text){bytes, made_bytes(&made, bytes)}), 0);
    layout.storages = true;
    layout.maps = &values;
    layout.map_count = 1;
    text = ss_tokens(&layout, &record);
    btf_finish(&values.btf);
    return text;
}

/* In one line, without the map's number. */
static const char *shown(uint32_t type, const void *value, size_t size)
{
    static const char before[] = " map_id:7";
    const char *token = shown_in((struct ss_layout){.one_line = true}, type, value, size);

    assert_memory_equal(token, before, strlen(before));
    return token + strlen(before);
}

static bool is_shown_as_bytes(uint32_t type, const void *value, size_t size)
{
    const char *token = shown(type, value, size);

    return strncmp(token, " 0x", 3) == 0 && strlen(token) == 3 + 2 * size;
}

#define SHOWN(type, ...) shown(type, &(__VA_ARGS__), sizeof(__VA_ARGS__))

/* --- Numbers ---------------------------------------------------------------------------------- */

static void integers_have_their_size_and_sign(void **state)
{
    (void)state;
    assert_string_equal(SHOWN(u8, (uint8_t){'A'}), "(unsigned char)65");
    assert_string_equal(SHOWN(i8, (int8_t){INT8_MIN}), "(char)-128");
    assert_string_equal(SHOWN(u16, (uint16_t){UINT16_MAX}), "(u16)65535");
    assert_string_equal(SHOWN(i32, (int32_t){INT32_MIN}), "(int)-2147483648");
    assert_string_equal(SHOWN(u32, (uint32_t){UINT32_MAX}), "(unsigned)4294967295");
    assert_string_equal(SHOWN(i64, (int64_t){INT64_MIN}), "(long)-9223372036854775808");
    assert_string_equal(SHOWN(u64, (uint64_t){UINT64_MAX}), "(unsigned long)18446744073709551615");
}

static void a_bool_is_a_number(void **state)
{
    const uint32_t boolean = made_int(&made, "_Bool", 1, MADE_BOOL);

    (void)state;
    assert_string_equal(SHOWN(boolean, (uint8_t){1}), "(_Bool)1");
}

static void a_wide_integer_is_hexadecimal(void **state)
{
    const bool little = *(const uint8_t *)&(const uint16_t){1};
    uint64_t halves[2] = {0};

    (void)state;
    halves[!little] = 0x1f;
    assert_string_equal(SHOWN(u128, halves), "(unsigned __int128)0x1f");
    halves[little] = 0xabc;
    assert_string_equal(SHOWN(u128, halves), "(unsigned __int128)0xabc000000000000001f");
}

static void floats_have_six_decimals(void **state)
{
    const uint32_t single = made_type(&made, "float", BTF_FLOAT, 0, 4);
    const uint32_t twice = made_type(&made, "double", BTF_FLOAT, 0, 8);
    const char *largest;

    (void)state;
    assert_string_equal(SHOWN(single, (float){-0.5F}), "(float)-0.500000");
    assert_string_equal(SHOWN(twice, (double){1e6 / 3}), "(double)333333.333333");
    largest = SHOWN(twice, (double){-1.7976931348623157e308});
    assert_int_equal(strlen(largest), strlen("(double)-.000000") + 309);
}

static void a_pointer_says_to_what(void **state)
{
    const uint32_t type = made_type(&made, "", BTF_POINTER, 0, 0);

    (void)state;
    assert_string_equal(SHOWN(type, (uint64_t){0xffff1234}), "(void *)0xffff1234");
    assert_string_equal(SHOWN(type, (uint64_t){0}), "(void *)(nil)");
}

/* --- Enums ------------------------------------------------------------------------------------ */

static void an_enum_has_names(void **state)
{
    const uint32_t plain = made_type(&made, "plain", BTF_ENUM, 2, 4);

    (void)state;
    made_pair(&made, "ONE", 1);
    made_pair(&made, "MANY", UINT32_MAX);
    assert_string_equal(SHOWN(plain, (uint32_t){1}), "(enum plain)ONE");
    assert_string_equal(SHOWN(plain, (uint32_t){UINT32_MAX}), "(enum plain)MANY");
    assert_string_equal(SHOWN(plain, (uint32_t){UINT32_MAX - 1}), "(enum plain)4294967294");
}

static void a_small_enum_may_be_signed(void **state)
{
    const uint32_t small = made_flagged(&made, "", BTF_ENUM, 1, 1);

    (void)state;
    made_pair(&made, "LESS", (uint32_t)-1);
    assert_string_equal(SHOWN(small, (int8_t){-1}), "(enum )LESS");
    assert_string_equal(SHOWN(small, (int8_t){-2}), "(enum )-2");
}

static void a_wide_enum_has_a_suffix_without_a_name(void **state)
{
    uint32_t natural, whole;

    (void)state;
    natural = made_type(&made, "natural", BTF_ENUM64, 1, 8);
    made_pair(&made, "HUGE", 0);
    made_word(&made, 1);
    whole = made_flagged(&made, "whole", BTF_ENUM64, 0, 8);
    assert_string_equal(SHOWN(natural, (uint64_t){UINT64_C(1) << 32}), "(enum natural)HUGE");
    assert_string_equal(SHOWN(natural, (uint64_t){1}), "(enum natural)1ULL");
    assert_string_equal(SHOWN(whole, (int64_t){-1}), "(enum whole)-1LL");
}

/* --- Structs and unions ----------------------------------------------------------------------- */

static void a_struct_has_a_line_for_each_member(void **state)
{
    const uint32_t none = made_type(&made, "none", BTF_STRUCT, 0, 0);
    const uint32_t inner = made_type(&made, "", BTF_UNION, 2, 4);
    uint32_t outer;

    (void)state;
    made_member(&made, "all", u32, 0);
    made_member(&made, "first", i32, 0);
    outer = made_type(&made, "outer", BTF_STRUCT, 3, 8);
    made_member(&made, "a", i32, 0);
    made_member(&made, "", inner, 32);
    made_member(&made, "none", none, 64);
    assert_string_equal(
        shown_in((struct ss_layout){.one_line = false}, outer, (int32_t[]){1, -1}, 8),
        "\n\tmap_id:7 [\n"
        "\t\t(struct outer){\n"
        "\t\t\t.a = (int)1,\n"
        "\t\t\t(union){\n"
        "\t\t\t\t.all = (unsigned)4294967295,\n"
        "\t\t\t\t.first = (int)-1,\n"
        "\t\t\t},\n"
        "\t\t\t.none = (struct none){\n"
        "\t\t\t},\n"
        "\t\t}\n"
        "\t]");
}

static void bit_fields_are_hexadecimal(void **state)
{
    const bool big = __BYTE_ORDER == __BIG_ENDIAN; /* the first bit is the highest one there */
    const uint32_t value = big ? 5U << 29 | 0x1fffffffU : 5 | 0x1fffffffU << 3;
    uint32_t state_type, bits;

    (void)state;
    state_type = made_type(&made, "state", BTF_ENUM, 1, 4);
    made_pair(&made, "OPEN", 5);
    bits = made_flagged(&made, "bits", BTF_STRUCT, 3, 4);
    made_member(&made, "first", u32, 3 << 24);
    made_member(&made, "named", state_type, 3 << 24);
    made_member(&made, "all", u32, 29 << 24 | 3);
    assert_string_equal(SHOWN(bits, value), "(struct bits){.first = (unsigned)0x5,.named = (enum "
                                            "state)OPEN,.all = (unsigned)0x1fffffff,}");
}

static void a_bit_field_of_64_bits_may_begin_anywhere(void **state)
{
    const uint8_t value[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    const uint32_t bits = made_flagged(&made, "bits", BTF_STRUCT, 1, 16);

    (void)state;
    made_member(&made, "all", u64, 64 << 24 | 7);
    assert_string_equal(SHOWN(bits, value),
                        "(struct bits){.all = (unsigned long)0xffffffffffffffff,}");
}

/* --- Arrays ----------------------------------------------------------------------------------- */

static void elements_do_not_repeat_their_type(void **state)
{
    static const uint16_t numbers[] = {1, 2, 3, 4};
    const uint32_t point = made_type(&made, "point", BTF_STRUCT, 2, 4);
    uint32_t points, rows;

    (void)state;
    made_member(&made, "x", u16, 0);
    made_member(&made, "y", u16, 16);
    points = made_array(&made, point, u32, 2);
    rows = made_array(&made, made_array(&made, u16, u32, 2), u32, 2);
    assert_string_equal(SHOWN(points, numbers),
                        "(struct point[2])[{.x = 1,.y = 2,},{.x = 3,.y = 4,},]");
    assert_string_equal(SHOWN(rows, numbers), "(u16[2][2])[[1,2,],[3,4,],]");
}

static void characters_end_with_the_string(void **state)
{
    const uint32_t string = made_array(&made, i8, u32, 6), mac = made_array(&made, u8, u32, 6);

    (void)state;
    assert_string_equal(shown(string, "a'\n\377\0z", 6), "(char[6])['a',''',10,-1,'\\0',]");
    assert_string_equal(shown(mac, "\x02~\x7f z\x80", 6),
                        "(unsigned char[6])[2,'~',127,' ','z',128,]");
}

/* Because of an error of libbpf, ss shows such bytes as characters, and none behind a 0. */
static void a_byte_after_a_string_is_a_number(void **state)
{
    const uint32_t string = made_array(&made, i8, u32, 2);
    const uint32_t type = made_type(&made, "", BTF_STRUCT, 3, 4);

    (void)state;
    made_member(&made, "name", string, 0);
    made_member(&made, "a", u8, 16);
    made_member(&made, "b", i8, 24);
    assert_string_equal(
        shown(type, "x\0\0B", 4),
        "(struct){.name = (char[2])['x','\\0',],.a = (unsigned char)0,.b = (char)66,}");
}

static void an_array_may_be_empty(void **state)
{
    const uint32_t none = made_array(&made, u32, u32, 0);

    (void)state;
    assert_string_equal(shown(none, "", 0), "(unsigned[0])[]");
}

/* --- Declarations ----------------------------------------------------------------------------- */

static const char *declared(uint32_t type)
{
    static char text[1024];
    const char *end, *whole = SHOWN(type, (uint64_t){1});

    end = strstr(whole, ")0x1");
    assert_non_null(end);
    snprintf(text, sizeof text, "%.*s", (int)(end - whole) - 1, whole + 1);
    return text;
}

static uint32_t pointer_to(uint32_t type)
{
    return made_type(&made, "", BTF_POINTER, 0, type);
}

static void a_name_means_its_type_and_qualifiers_are_left_out(void **state)
{
    const uint32_t fixed = made_type(&made, "", BTF_CONST, 0, u16);
    const uint32_t name = made_type(&made, "port_t", BTF_TYPEDEF, 0, fixed);
    const uint32_t restricted = made_type(&made, "", BTF_RESTRICT, 0, pointer_to(name));
    const uint32_t tagged = made_type(&made, "user", BTF_TYPE_TAG, 0, fixed);
    const uint32_t changing = made_type(&made, "", BTF_VOLATILE, 0, name);

    (void)state;
    assert_string_equal(SHOWN(changing, (uint16_t){9}), "(port_t)9");
    assert_string_equal(SHOWN(tagged, (uint16_t){9}), "(u16)9");
    assert_string_equal(declared(pointer_to(restricted)), "port_t **");
}

static void declarations_are_those_of_c(void **state)
{
    const uint32_t structure = made_type(&made, "far", BTF_FORWARD, 0, 0);
    const uint32_t either = made_flagged(&made, "far", BTF_FORWARD, 0, 0);
    const uint32_t rows = made_array(&made, pointer_to(u8), u32, 2);
    const uint32_t grid = made_array(&made, rows, u32, 3);
    uint32_t nothing, any, strange;

    (void)state;
    nothing = made_type(&made, "", BTF_PROTOTYPE, 0, 0);
    any = made_type(&made, "", BTF_PROTOTYPE, 2, i32);
    made_pair(&made, "p", made.types + 1);
    made_pair(&made, "", 0);
    assert_int_equal(pointer_to(either), any + 1);
    strange = made_array(&made, pointer_to(any), u32, 4);
    assert_string_equal(declared(pointer_to(structure)), "struct far *");
    assert_string_equal(declared(any + 1), "union far *");
    assert_string_equal(declared(pointer_to(rows)), "unsigned char *(*)[2]");
    assert_string_equal(declared(pointer_to(pointer_to(grid))), "unsigned char *(**)[3][2]");
    assert_string_equal(declared(pointer_to(nothing)), "void (*)(void)");
    assert_string_equal(declared(pointer_to(any)), "int (*)(union far *p, ...)");
    assert_string_equal(declared(pointer_to(strange)), "int (*(*)[4])(union far *p, ...)");
}

/* --- What is hostile -------------------------------------------------------------------------- */

static void names_are_escaped(void **state)
{
    const uint32_t inner = made_int(&made, "i\033[2J", 4, 0);
    const uint32_t list = made_type(&made, "l\n", BTF_ENUM, 1, 4);
    uint32_t outer;

    (void)state;
    made_pair(&made, "e\\", 0);
    outer = made_type(&made, "\xff", BTF_STRUCT, 2, 8);
    made_member(&made, "m\t", inner, 0);
    made_member(&made, "\xc2\x85", list, 32);
    assert_string_equal(SHOWN(outer, (uint32_t[2]){0}), "(struct \\xff){.m\\x09 = (i\\x1b[2J)0,"
                                                        ".\\xc2\\x85 = (enum l\\x0a)e\\\\,}");
}

static void values_of_unknown_types_are_shown_as_bytes(void **state)
{
    const uint32_t types[] = {
        0,
        made_type(&made, "f", BTF_FUNCTION, 0, 1),
        made_type(&made, "p", BTF_PROTOTYPE, 0, 1),
        made_type(&made, "s", BTF_FORWARD, 0, 4),
        made_type(&made, "d", BTF_SECTION, 0, 4),
        made_type(&made, "r", BTF_FLOAT, 0, 2),
        made_int(&made, "odd", 4, 0) + 1000,
    };

    (void)state;
    for (size_t i = 0; i < COUNT(types); i++)
        assert_true(is_shown_as_bytes(types[i], "abcd", 4));
    assert_true(is_shown_as_bytes(made_int(&made, "odd", 3, 0), "abc", 3));
    assert_true(is_shown_as_bytes(u32, "abcde", 5));
    assert_true(is_shown_as_bytes(u32, "abc", 3));
}

static void a_member_lies_within_its_struct(void **state)
{
    const struct {
        uint32_t type, bits, offset;
    } wrong[] = {{u32, 0, 8},  {u8, 0, 1},  {u32, 0, 0xffffff}, {u32, 31, 2},
                 {u32, 33, 0}, {u8, 65, 0}, {u32, 255, 0},      {u128, 65, 0}};

    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const uint32_t size = wrong[i].type == u128 ? 16 : 4;
        const uint32_t type = made_flagged(&made, "", BTF_STRUCT, 1, size);
        made_member(&made, "m", wrong[i].type, wrong[i].bits << 24 | wrong[i].offset);
        assert_true(is_shown_as_bytes(type, "abcdefghijklmnop", size));
    }
}

static void only_numbers_have_bits(void **state)
{
    const uint32_t single = made_type(&made, "float", BTF_FLOAT, 0, 4);
    const uint32_t type = made_flagged(&made, "", BTF_STRUCT, 1, 4);

    (void)state;
    made_member(&made, "m", single, 3 << 24);
    assert_true(is_shown_as_bytes(type, "abcd", 4));
}

static void a_type_that_contains_itself_is_shown_as_bytes(void **state)
{
    const uint32_t type = made_type(&made, "self", BTF_STRUCT, 1, 4);
    uint32_t endless;

    (void)state;
    made_member(&made, "", type, 0);
    endless = made_type(&made, "", BTF_PROTOTYPE, 1, 0);
    made_pair(&made, "", endless + 1);
    assert_int_equal(pointer_to(endless), endless + 1);
    assert_true(is_shown_as_bytes(type, "abcd", 4));
    assert_true(is_shown_as_bytes(endless + 1, "abcdefgh", 8));
}

/* Of two members each, so that there is twice as much to show in each: 2 to the 25 in all. */
static void unions_that_would_fill_the_disk_are_shown_as_bytes(void **state)
{
    uint32_t type = u8;

    (void)state;
    for (unsigned depth = 0; depth < 25; depth++) {
        const uint32_t inner = type;
        type = made_type(&made, "", BTF_UNION, 2, 1);
        made_member(&made, "", inner, 0);
        made_member(&made, "", inner, 0);
    }
    assert_true(is_shown_as_bytes(type, "a", 1));
}

/* Empty arrays of unions with empty arrays: there is nothing to show, but endless work. */
static void types_without_end_are_shown_as_bytes(void **state)
{
    uint32_t type = u8;

    (void)state;
    for (unsigned depth = 0; depth < 14; depth++) {
        const uint32_t none = made_array(&made, type, u32, 0);
        type = made_type(&made, "", BTF_UNION, 9, 1);
        made_member(&made, "", u8, 0);
        for (unsigned i = 0; i < 8; i++)
            made_member(&made, "", none, 0);
    }
    assert_true(is_shown_as_bytes(type, "a", 1));
}

static void elements_without_bytes_are_not_counted(void **state)
{
    const uint32_t none = made_type(&made, "none", BTF_STRUCT, 0, 0);

    (void)state;
    assert_true(is_shown_as_bytes(made_array(&made, none, u32, 5), "", 0));
    assert_true(is_shown_as_bytes(made_array(&made, none, u32, UINT32_MAX), "", 0));
}

static void functions_of_functions_have_an_end(void **state)
{
    uint32_t type = i32;

    (void)state;
    for (unsigned depth = 0; depth < 8; depth++) {
        const uint32_t function = made_type(&made, "", BTF_PROTOTYPE, 1, 0);
        made_pair(&made, "", type);
        type = pointer_to(function);
        assert_int_equal(is_shown_as_bytes(type, "abcdefgh", 8), depth == 7);
    }
}

static void a_type_with_too_long_a_declaration_is_shown_as_bytes(void **state)
{
    const uint32_t function = made_type(&made, "", BTF_PROTOTYPE, 200, 0);

    (void)state;
    for (unsigned i = 0; i < 200; i++)
        made_pair(&made, "number", i32);
    assert_true(is_shown_as_bytes(pointer_to(function), "abcdefgh", 8));
}

#define SHOWS(test) cmocka_unit_test_setup(test, make_integers)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHOWS(integers_have_their_size_and_sign),
        SHOWS(a_bool_is_a_number),
        SHOWS(a_wide_integer_is_hexadecimal),
        SHOWS(floats_have_six_decimals),
        SHOWS(a_pointer_says_to_what),
        SHOWS(an_enum_has_names),
        SHOWS(a_small_enum_may_be_signed),
        SHOWS(a_wide_enum_has_a_suffix_without_a_name),
        SHOWS(a_struct_has_a_line_for_each_member),
        SHOWS(bit_fields_are_hexadecimal),
        SHOWS(a_bit_field_of_64_bits_may_begin_anywhere),
        SHOWS(elements_do_not_repeat_their_type),
        SHOWS(characters_end_with_the_string),
        SHOWS(a_byte_after_a_string_is_a_number),
        SHOWS(an_array_may_be_empty),
        SHOWS(a_name_means_its_type_and_qualifiers_are_left_out),
        SHOWS(declarations_are_those_of_c),
        SHOWS(names_are_escaped),
        SHOWS(values_of_unknown_types_are_shown_as_bytes),
        SHOWS(a_member_lies_within_its_struct),
        SHOWS(only_numbers_have_bits),
        SHOWS(a_type_that_contains_itself_is_shown_as_bytes),
        SHOWS(unions_that_would_fill_the_disk_are_shown_as_bytes),
        SHOWS(types_without_end_are_shown_as_bytes),
        SHOWS(functions_of_functions_have_an_end),
        SHOWS(elements_without_bytes_are_not_counted),
        SHOWS(a_type_with_too_long_a_declaration_is_shown_as_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
