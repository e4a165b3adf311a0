/* Dividing a large dump by ports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backend/shards.h"

/* Local ports from one function, remote ones from another. */
static struct sample sample_of(uint16_t (*local)(size_t), uint16_t (*remote)(size_t))
{
    struct sample sample = {.count = SAMPLE_MAX};

    for (size_t i = 0; i < SAMPLE_MAX; i++) {
        sample.local[i] = local(i);
        sample.remote[i] = remote(i);
    }
    return sample;
}

static uint16_t one_port(size_t i)
{
    (void)i;
    return 443;
}

static uint16_t spread(size_t i)
{
    return (uint16_t)(32768 + i * 7919 % 28000);
}

/* Nine in ten on one port. */
static uint16_t mostly_one(size_t i)
{
    return i % 10 ? 443 : (uint16_t)(1000 + i);
}

static uint16_t to_the_end(size_t i)
{
    return (uint16_t)(UINT16_MAX - i % 4);
}

/* Each port there is belongs to one part, and to one only. */
static void assert_divides(const struct shard *shards, size_t count)
{
    for (unsigned port = 0; port <= UINT16_MAX; port++) {
        size_t parts = 0;
        for (size_t i = 0; i < count; i++)
            parts += port >= shards[i].low && port <= shards[i].high;
        assert_int_equal(parts, 1);
    }
    for (size_t i = 1; i < count; i++)
        assert_int_equal(shards[i].remote, shards[0].remote);
}

static void every_port_is_in_one_part_whatever_the_sample(void **state)
{
    uint16_t (*const ports[])(size_t) = {one_port, spread, to_the_end};
    struct shard shards[SHARDS_MAX];

    (void)state;
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < 3; b++)
            for (size_t wanted = 2; wanted <= SHARDS_MAX; wanted++) {
                struct sample sample = sample_of(ports[a], ports[b]);
                size_t count = shards_choose(&sample, wanted, shards);
                assert_in_range(count, 1, wanted);
                if (count > 1)
                    assert_divides(shards, count);
            }
}

static void random_samples_are_divided_too(void **state)
{
    struct shard shards[SHARDS_MAX];

    (void)state;
    srand(1);
    for (int round = 0; round < 300; round++) {
        struct sample sample = {.count = (size_t)(rand() % (SAMPLE_MAX + 1))};
        int range = 1 + rand() % (round % 2 ? 10 : 65535);
        for (size_t i = 0; i < sample.count; i++) {
            sample.local[i] = (uint16_t)(rand() % range);
            sample.remote[i] = (uint16_t)(UINT16_MAX - rand() % range);
        }
        size_t wanted = 2 + (size_t)(rand() % (SHARDS_MAX - 1));
        size_t count = shards_choose(&sample, wanted, shards);
        assert_in_range(count, 1, wanted);
        if (count > 1)
            assert_divides(shards, count);
    }
}

static void a_server_is_divided_by_the_ports_of_its_clients(void **state)
{
    struct sample sample = sample_of(one_port, spread);
    struct shard shards[SHARDS_MAX];

    (void)state;
    assert_int_equal(shards_choose(&sample, 2, shards), 2);
    assert_true(shards[0].remote);
    sample = sample_of(spread, one_port);
    assert_int_equal(shards_choose(&sample, 2, shards), 2);
    assert_false(shards[0].remote);
}

static void what_no_ports_divide_well_is_not_divided(void **state)
{
    struct sample sample = sample_of(one_port, one_port);
    struct shard shards[SHARDS_MAX];

    (void)state;
    assert_int_equal(shards_choose(&sample, 2, shards), 1);
    sample = sample_of(mostly_one, mostly_one);
    assert_int_equal(shards_choose(&sample, 2, shards), 1);
    sample.count = 0;
    assert_int_equal(shards_choose(&sample, 2, shards), 1);
}

/* What the kernel does with it (net/ipv4/inet_diag.c: inet_diag_bc_run). */
static bool passes(const struct shard_filter *filter, uint16_t local, uint16_t remote)
{
    int length = sizeof filter->ops;

    for (const char *at = (const char *)filter->ops; length > 0;) {
        struct inet_diag_bc_op op, port;
        bool yes = true;
        memcpy(&op, at, sizeof op);
        memcpy(&port, at + sizeof op, sizeof port);
        if (op.code == INET_DIAG_BC_S_GE)
            yes = local >= port.no;
        else if (op.code == INET_DIAG_BC_S_LE)
            yes = local <= port.no;
        else if (op.code == INET_DIAG_BC_D_GE)
            yes = remote >= port.no;
        else if (op.code == INET_DIAG_BC_D_LE)
            yes = remote <= port.no;
        else
            fail();
        length -= yes ? op.yes : op.no;
        at += yes ? op.yes : op.no;
        if (length <= 0)
            return length == 0;
    }
    return false;
}

static void a_parts_filter_lets_its_ports_pass(void **state)
{
    struct shard_filter filter;

    (void)state;
    for (int remote = 0; remote < 2; remote++) {
        const struct shard shard = {.remote = remote, .low = 100, .high = 200};
        shard_filter_init(&filter, &shard);
        assert_int_equal(filter.header.nla_len, sizeof filter);
        for (uint16_t port = 0; port < 300; port++) {
            bool inside = port >= 100 && port <= 200;
            assert_int_equal(passes(&filter, remote ? 150 : port, remote ? port : 0), inside);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_port_is_in_one_part_whatever_the_sample),
        cmocka_unit_test(random_samples_are_divided_too),
        cmocka_unit_test(a_server_is_divided_by_the_ports_of_its_clients),
        cmocka_unit_test(what_no_ports_divide_well_is_not_divided),
        cmocka_unit_test(a_parts_filter_lets_its_ports_pass),
    };

    return cmocka_run_group_tests_name("shards", tests, NULL, NULL);
}
