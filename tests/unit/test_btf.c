/* SPDX-License-Identifier: MIT */
/* BTF of any content: what is found in it, and what is refused. */
#include <errno.h>

#include "../helpers/made_btf.h"
#include "fastnet/array.h"
#include "fastnet/btf.h"
#include "kit.h"

static char bytes[MADE_BTF_MAX];

static struct btf read_made(const struct made_btf *made)
{
    struct btf btf;

    assert_int_equal(btf_init(&btf, (struct text){bytes, made_bytes(made, bytes)}), 0);
    return btf;
}

static bool is_refused(size_t length)
{
    struct btf btf;
    const int status = btf_init(&btf, (struct text){bytes, length});

    btf_finish(&btf);
    assert_true(status == 0 || status == -EINVAL);
    return status < 0;
}

/* A byte of the header, counted from the lowest one of each number: 16, 8, 8, and 32 bits each. */
static char *header_byte(size_t at)
{
    const bool big = __BYTE_ORDER == __BIG_ENDIAN;

    return &bytes[!big || at == 2 || at == 3 ? at : at < 2 ? at ^ 1 : at ^ 3];
}

/* One int, and a struct with it. */
static size_t make_few(void)
{
    struct made_btf made = {.types = 0};
    const uint32_t number = made_int(&made, "int", 4, MADE_SIGNED);

    made_type(&made, "few", BTF_STRUCT, 1, 4);
    made_member(&made, "number", number, 0);
    return made_bytes(&made, bytes);
}

static void types_have_names_and_members(void **state)
{
    struct btf btf;
    struct btf_type type;
    struct btf_member member;

    (void)state;
    assert_int_equal(btf_init(&btf, (struct text){bytes, make_few()}), 0);
    assert_true(btf_type(&btf, 2, &type) && text_is(type.name, "few"));
    assert_int_equal(type.kind, BTF_STRUCT);
    assert_int_equal(type.size, 4);
    assert_int_equal(type.count, 1);
    assert_true(btf_member(&btf, &type, 0, &member) && text_is(member.name, "number"));
    assert_int_equal(member.type, 1);
    btf_finish(&btf);
}

static void a_cut_is_refused_wherever_it_is(void **state)
{
    const size_t whole = make_few();

    (void)state;
    assert_false(is_refused(whole));
    for (size_t length = 0; length < whole; length++)
        assert_true(is_refused(length));
}

static void a_wrong_header_is_refused(void **state)
{
    static const struct {
        size_t at;
        uint8_t byte;
    } wrong[] = {
        {0, 0xeb},              /* another byte order, or no BTF */
        {1, 0x9f},  {2, 2},     /* version */
        {4, 23},    {5, 1},     /* length of the header */
        {11, 0xff},             /* offset of the types */
        {12, 39},   {15, 0xff}, /* ... and their length: a byte of the last one is missing */
        {19, 0xff}, {23, 0xff}, /* the same of the names */
        {20, 0},    {20, 3},    /* no names, or one without an end */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const size_t length = make_few();
        *header_byte(wrong[i].at) = (char)wrong[i].byte;
        assert_true(is_refused(length));
    }
}

/* Sections that would lie within the header, or far behind the end. */
static void a_header_of_wrong_length_is_refused(void **state)
{
    size_t length = make_few();

    (void)state;
    *header_byte(4) = 0;
    *header_byte(8) += 24;
    *header_byte(16) += 24;
    assert_true(is_refused(length));
    length = make_few();
    *header_byte(5) = 1;
    *header_byte(12) = 0;
    assert_true(is_refused(length));
}

static void the_first_name_is_empty(void **state)
{
    const size_t length = make_few();

    (void)state;
    bytes[24 + 40] = 'x';
    assert_true(is_refused(length));
}

/* Words that Linux may add to the header one day. */
static void a_longer_header_is_skipped(void **state)
{
    const size_t length = make_few();

    (void)state;
    memmove(bytes + 32, bytes + 24, length - 24);
    *header_byte(4) = 32;
    assert_false(is_refused(length + 8));
}

static void parts_and_kinds_are_checked(void **state)
{
    static const uint32_t infos[] = {
        0, /* void has the number 0 alone */
        (uint32_t)BTF_KINDS << 24,
        0x7fu << 24, /* no kind that is known */
        BTF_STRUCT << 24 | 0xffffff,
        BTF_ENUM << 24 | 1, /* more parts than there is room */
        BTF_ARRAY << 24,
        BTF_INT << 24,
        BTF_VARIABLE << 24,
        BTF_DECL_TAG << 24,
    };

    (void)state;
    for (size_t i = 0; i < COUNT(infos); i++) {
        struct made_btf made = {.types = 0};
        made_type(&made, "", 0, 0, 0);
        made.words[1] = infos[i];
        assert_true(is_refused(made_bytes(&made, bytes)));
    }
}

static void a_number_without_type_is_refused(void **state)
{
    struct made_btf made = {.types = 0};
    struct btf_type type;
    struct btf btf;
    size_t size;

    (void)state;
    made_type(&made, "", BTF_CONST, 0, 2);
    btf = read_made(&made);
    assert_true(btf_type(&btf, 0, &type));
    assert_int_equal(type.kind, BTF_VOID);
    assert_true(btf_type(&btf, 1, &type));
    btf.offsets[1] = 0; /* there is room for more types */
    assert_false(btf_type(&btf, 2, &type) || btf_type(&btf, UINT32_MAX, &type));
    assert_false(btf_resolve(&btf, 1, &type) || btf_size(&btf, 1, &size));
    btf_finish(&btf);
}

static void names_lie_in_the_names_and_are_short(void **state)
{
    static char name[BTF_NAME_MAX + 2];
    struct made_btf made = {.types = 0};
    struct btf_type type;
    struct btf btf;

    (void)state;
    memset(name, 'n', BTF_NAME_MAX);
    made_type(&made, name, BTF_FORWARD, 0, 0);
    name[BTF_NAME_MAX] = 'n';
    made_type(&made, name, BTF_FORWARD, 0, 0);
    made_type(&made, "", BTF_FORWARD, 0, 0);
    made.words[6] = (uint32_t)made.names_length;
    btf = read_made(&made);
    assert_true(btf_type(&btf, 1, &type));
    assert_int_equal(type.name.length, BTF_NAME_MAX);
    assert_false(btf_type(&btf, 2, &type));
    assert_false(btf_type(&btf, 3, &type));
    btf_finish(&btf);
}

static void a_chain_that_never_ends_is_refused(void **state)
{
    struct made_btf made = {.types = 0};
    struct btf_type type;
    struct btf btf;
    size_t size;

    (void)state;
    made_type(&made, "a", BTF_TYPEDEF, 0, 2);
    made_type(&made, "", BTF_VOLATILE, 0, 1);
    made_array(&made, 3, 3, 1);
    btf = read_made(&made);
    assert_false(btf_resolve(&btf, 1, &type) || btf_size(&btf, 1, &size));
    assert_false(btf_size(&btf, 3, &size));
    btf_finish(&btf);
}

static void a_size_is_that_of_all_elements(void **state)
{
    struct made_btf made = {.types = 0};
    uint32_t many, few, wide, none, pointers, function;
    struct btf btf;
    size_t size = 77;

    (void)state;
    made_int(&made, "int", 4, 0);
    many = made_array(&made, 1, 1, 0x10000);
    wide = made_array(&made, many, 1, 0x10000);
    few = made_array(&made, many, 1, 3);
    none = made_array(&made, wide, 1, 0);
    pointers = made_array(&made, made_type(&made, "", BTF_POINTER, 0, 0), 1, 2);
    function = made_type(&made, "", BTF_PROTOTYPE, 0, 0);
    btf = read_made(&made);
    assert_false(btf_size(&btf, wide, &size) || btf_size(&btf, 0, &size));
    assert_false(btf_size(&btf, function, &size));
    assert_true(btf_size(&btf, few, &size));
    assert_int_equal(size, 3 * 4 * 0x10000);
    assert_true(btf_size(&btf, none, &size));
    assert_int_equal(size, 0);
    assert_true(btf_size(&btf, pointers, &size));
    assert_int_equal(size, 2 * 8);
    btf_finish(&btf);
}

static void a_pointer_is_as_large_as_a_long_of_the_kernel(void **state)
{
    for (unsigned width = 4; width <= 8; width += 4) {
        struct made_btf made = {.types = 0};
        const uint32_t pointer = made_type(&made, "", BTF_POINTER, 0, 0);
        struct btf btf;
        size_t size = 0;
        (void)state;
        made_int(&made, "long unsigned int", width, 0);
        btf = read_made(&made);
        assert_true(btf_size(&btf, pointer, &size));
        assert_int_equal(size, width);
        btf_finish(&btf);
    }
}

static void a_type_is_found_by_its_kind_and_name(void **state)
{
    struct made_btf made = {.types = 0};
    uint32_t file, inode, other;
    struct btf btf;

    (void)state;
    made_type(&made, "filesystem", BTF_STRUCT, 0, 0);
    made_type(&made, "file", BTF_FORWARD, 0, 0);
    file = made_type(&made, "", BTF_STRUCT, 0, 0);
    made.words[made.word_count - 3] = made.words[3]; /* the name of the type before */
    inode = made_int(&made, "inode", 4, 0);
    other = made_type(&made, "inode_other", BTF_STRUCT, 0, 0);
    btf = read_made(&made);
    assert_int_equal(btf_find(&btf, BTF_STRUCT, "file"), file);
    assert_int_equal(btf_find(&btf, BTF_INT, "inode"), inode);
    assert_int_equal(btf_find(&btf, BTF_STRUCT, "inode_other"), other);
    assert_int_equal(btf_find(&btf, BTF_UNION, "file"), 0);
    assert_int_equal(btf_find(&btf, BTF_STRUCT, "inode"), 0);
    assert_int_equal(btf_find(&btf, BTF_STRUCT, "fil"), 0);
    assert_int_equal(btf_find(&btf, BTF_STRUCT, "system"), 0);
    assert_int_equal(btf_find(&btf, BTF_STRUCT, "nothing"), 0);
    assert_int_equal(btf_find(&btf, BTF_STRUCT, ""), 0);
    btf_finish(&btf);
}

static bool find_at(const struct btf *btf, uint32_t id, const char *name, uint32_t offset)
{
    struct btf_member member = {.offset = 1};

    return btf_find_member(btf, id, name, &member) && text_is(member.name, name) &&
           member.offset == offset;
}

static void members_are_found_in_nameless_parts_of_a_type(void **state)
{
    struct made_btf made = {.types = 0};
    const uint32_t number = made_int(&made, "int", 4, 0);
    struct btf btf;
    struct btf_member member;
    uint32_t both, outer;

    (void)state;
    both = made_type(&made, "", BTF_UNION, 2, 4);
    made_member(&made, "one", number, 0);
    made_member(&made, "other", number, 8);
    outer = made_type(&made, "outer", BTF_STRUCT, 4, 16);
    made_member(&made, "first", number, 0);
    made_member(&made, "named", both, 32);
    made_member(&made, "", both, 64);
    made_member(&made, "last", number, 96);
    btf = read_made(&made);
    assert_true(find_at(&btf, outer, "first", 0));
    assert_true(find_at(&btf, outer, "one", 64));
    assert_true(find_at(&btf, outer, "other", 72));
    assert_true(find_at(&btf, outer, "last", 96));
    assert_false(btf_find_member(&btf, outer, "nothing", &member));
    assert_false(btf_find_member(&btf, outer, "", &member));
    assert_false(btf_find_member(&btf, number, "one", &member));
    assert_false(btf_find_member(&btf, 0, "one", &member));
    btf_finish(&btf);
}

static void the_search_in_a_struct_of_itself_ends(void **state)
{
    struct made_btf made = {.types = 0};
    struct btf btf;
    struct btf_member member;

    (void)state;
    made_type(&made, "itself", BTF_STRUCT, 3, 4);
    made_member(&made, "", 1, 8);
    made_member(&made, "", 1, UINT32_MAX);
    made_member(&made, "", 1, 0);
    btf = read_made(&made);
    assert_false(btf_find_member(&btf, 1, "nothing", &member));
    btf_finish(&btf);
}

static void nothing_is_left_to_free_after_a_refusal(void **state)
{
    struct btf btf = {.count = 7};

    (void)state;
    assert_int_equal(btf_init(&btf, (struct text){bytes, 0}), -EINVAL);
    assert_null(btf.offsets);
    btf_finish(&btf);
    btf_finish(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_have_names_and_members),
        cmocka_unit_test(a_cut_is_refused_wherever_it_is),
        cmocka_unit_test(a_wrong_header_is_refused),
        cmocka_unit_test(a_header_of_wrong_length_is_refused),
        cmocka_unit_test(the_first_name_is_empty),
        cmocka_unit_test(a_longer_header_is_skipped),
        cmocka_unit_test(parts_and_kinds_are_checked),
        cmocka_unit_test(a_number_without_type_is_refused),
        cmocka_unit_test(names_lie_in_the_names_and_are_short),
        cmocka_unit_test(a_chain_that_never_ends_is_refused),
        cmocka_unit_test(a_size_is_that_of_all_elements),
        cmocka_unit_test(a_pointer_is_as_large_as_a_long_of_the_kernel),
        cmocka_unit_test(a_type_is_found_by_its_kind_and_name),
        cmocka_unit_test(members_are_found_in_nameless_parts_of_a_type),
        cmocka_unit_test(the_search_in_a_struct_of_itself_ends),
        cmocka_unit_test(nothing_is_left_to_free_after_a_refusal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
