/* SPDX-License-Identifier: MIT */
/* Names of the kernel's functions, by places in their code. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastnet/array.h"
#include "fastnet/hosts.h"
#include "fastnet/symbols.h"
#include "kit.h"

struct scene {
    struct tree tree;
    char path[PATH_MAX + 16];
    struct symbols *symbols;
};

/* Not in order: modules follow the kernel, whatever their addresses are. */
static const char usual[] = "ffffffff81000100 T first\n"
                            "ffffffff81000200 t second.cold\n"
                            "ffffffff81000300 T third\n"
                            "ffffffff81000300 T third_alias\n"
                            "ffffffff81000400 T last\n"
                            "ffffffff80000010 t of_module\t[veth]\n";

static int make(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);

    if (!scene)
        return -1;
    tree_make(&scene->tree);
    snprintf(scene->path, sizeof scene->path, "%s/kallsyms", scene->tree.root);
    scene->symbols = symbols_create();
    *state = scene;
    return scene->symbols ? 0 : -1;
}

static int finish(void **state)
{
    struct scene *scene = *state;

    symbols_destroy(scene->symbols);
    tree_remove(&scene->tree);
    free(scene);
    return 0;
}

static void read_of(struct scene *scene, const char *text, const uint64_t *places, size_t count)
{
    tree_put_file(&scene->tree, "kallsyms", text);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(symbols_add(scene->symbols, places[i]), 0);
    assert_int_equal(symbols_read(scene->symbols, scene->path), 0);
}

static void assert_name(const struct scene *scene, uint64_t place, const char *name)
{
    const char *found = symbols_name(scene->symbols, place);

    assert_true(!found == !name);
    if (name)
        assert_string_equal(found, name);
}

static void a_place_is_in_the_function_that_begins_last_before_it(void **state)
{
    static const uint64_t places[] = {0xffffffff81000350, 0xffffffff81000101, 0xffffffff81000250,
                                      0xffffffff80000020, 0xffffffff90000000};
    struct scene *scene = *state;

    read_of(scene, usual, places, COUNT(places));
    assert_name(scene, 0xffffffff81000101, "first");
    assert_name(scene, 0xffffffff81000250, "second");
    assert_name(scene, 0xffffffff81000350, "third");
    assert_name(scene, 0xffffffff80000020, "of_module");
    assert_name(scene, 0xffffffff90000000, "last");
    assert_name(scene, 0xffffffff81000102, NULL);
}

/* The place is behind a call, which may be the last instruction of its function. */
static void a_place_where_the_next_one_begins_is_of_the_one_before(void **state)
{
    static const uint64_t places[] = {0xffffffff81000200, 0xffffffff80000010};
    struct scene *scene = *state;

    read_of(scene, usual, places, COUNT(places));
    assert_name(scene, 0xffffffff81000200, "first");
    assert_name(scene, 0xffffffff80000010, NULL);
}

static void places_of_one_function_have_its_name(void **state)
{
    static const uint64_t places[] = {0xffffffff81000310, 0xffffffff81000320, 0xffffffff81000330,
                                      0xffffffff81000310};
    struct scene *scene = *state;

    read_of(scene, usual, places, COUNT(places));
    for (size_t i = 0; i < COUNT(places); i++)
        assert_name(scene, places[i], "third");
}

static void places_may_be_added_later(void **state)
{
    static const uint64_t first[] = {0xffffffff81000310}, second[] = {0xffffffff81000110};
    struct scene *scene = *state;

    read_of(scene, usual, first, 1);
    assert_int_equal(symbols_add(scene->symbols, first[0]), 0);
    assert_int_equal(symbols_read(scene->symbols, "nowhere"), 0); /* nothing is new */
    read_of(scene, usual, second, 1);
    assert_name(scene, first[0], "third");
    assert_name(scene, second[0], "first");
}

/* What the kernel tells who lacks CAP_SYSLOG. */
static void without_the_right_no_function_is_known(void **state)
{
    static const uint64_t places[] = {0xffffffff81000310};
    struct scene *scene = *state;

    read_of(scene, "0000000000000000 T first\n0000000000000000 T second\n", places, 1);
    assert_name(scene, places[0], NULL);
}

static void lines_that_are_wrong_are_left_out(void **state)
{
    static const uint64_t places[] = {0xffffffff81000310};
    struct scene *scene = *state;

    read_of(scene,
            "\nffffffff81000300\nffffffff81000301 \nffffffff81000302 T\nzz T no\n"
            "ffffffff81000303 TT two\nffffffff81000200 T right\nffffffff81000305 T cut",
            places, 1);
    assert_name(scene, places[0], "right");
}

/* The function before it is not named in its place. */
static void a_name_that_is_long_is_cut(void **state)
{
    static const uint64_t places[] = {0xffffffff81000310, 0xffffffff81000410};
    struct scene *scene = *state;
    char text[1024], name[512];

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(text, sizeof text,
             "ffffffff81000200 T before\nffffffff81000300 T %s\nffffffff81000400 T %.64s\n", name,
             name);
    read_of(scene, text, places, COUNT(places));
    name[127] = '\0';
    assert_name(scene, places[0], name);
    name[64] = '\0';
    assert_name(scene, places[1], name);
}

/* Lines that do not end where a buffer does, and one that no buffer holds. */
static void a_long_file_is_read_whole(void **state)
{
    enum { LINES = 5000, LINE = 40 };
    static const uint64_t places[] = {0x1000 + 16 * LINES - 8, 0x1000 + 8};
    struct scene *scene = *state;
    char *text = malloc((size_t)LINES * LINE + 1);
    size_t length = 0;

    assert_non_null(text);
    for (unsigned i = 0; i < LINES; i++)
        length += (size_t)snprintf(text + length, LINE, "%016x t f%u\n", 0x1000 + 16 * i, i);
    read_of(scene, text, places, COUNT(places));
    assert_name(scene, places[0], "f4999");
    assert_name(scene, places[1], "f0");
    memset(text, 'x', (size_t)LINES * LINE);
    text[(size_t)LINES * LINE] = '\0';
    read_of(scene, text, &(uint64_t){77}, 1);
    assert_name(scene, 77, NULL);
    free(text);
}

static void a_file_that_is_not_there_is_an_error(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(symbols_add(scene->symbols, 5000), 0);
    assert_int_equal(symbols_read(scene->symbols, scene->path), -ENOENT);
    assert_name(scene, 5000, NULL);
    symbols_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_place_is_in_the_function_that_begins_last_before_it),
        TEST(a_place_where_the_next_one_begins_is_of_the_one_before),
        TEST(places_of_one_function_have_its_name),
        TEST(places_may_be_added_later),
        TEST(without_the_right_no_function_is_known),
        TEST(lines_that_are_wrong_are_left_out),
        TEST(a_name_that_is_long_is_cut),
        TEST(a_long_file_is_read_whole),
        TEST(a_file_that_is_not_there_is_an_error),
    };

    return cmocka_run_group_tests_name("symbols", tests, NULL, NULL);
}
