/* SPDX-License-Identifier: MIT */
/* Ring buffers of BPF programs, in memory that has the form of the kernel's. */
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"
#include "sys/bpf_ring.h"

struct made_ring {
    struct bpf_ring ring;
    char *memory;
    size_t page;
};

static uint64_t *written_of(const struct made_ring *made)
{
    return (uint64_t *)(void *)(made->memory + made->page);
}

/* A ring whose programs have written all until `position`, and all events are taken. */
static struct made_ring made_ring(uint64_t position)
{
    struct made_ring made = {.page = (size_t)sysconf(_SC_PAGESIZE)};

    made.memory = calloc(4, made.page); /* the reader's page, the programs', the events twice */
    assert_non_null(made.memory);
    made.ring = (struct bpf_ring){.fd = -1,
                                  .size = made.page,
                                  .taken = (uint64_t *)(void *)made.memory,
                                  .written = made.memory + made.page};
    *made.ring.taken = *written_of(&made) = position;
    return made;
}

/* Writes an event as a program does. */
static void write_event(struct made_ring *made, const char *text, uint32_t length, uint32_t flags)
{
    uint64_t *written = written_of(made);
    const size_t at = (size_t)(*written % made->page);
    const uint32_t head[] = {length | flags, 0};

    for (size_t i = 0; i < sizeof head + length; i++) {
        const char byte = i < sizeof head ? ((const char *)head)[i] : text[i - sizeof head];
        for (size_t copy = 0; copy < 2; copy++)
            made->memory[2 * made->page + copy * made->page + (at + i) % made->page] = byte;
    }
    *written += sizeof head + ((size_t)length + 7) / 8 * 8;
}

static void assert_event(struct made_ring *made, const char *text)
{
    char event[8] = "";

    assert_int_equal(bpf_ring_take(&made->ring, event, sizeof event), strlen(text));
    assert_string_equal(event, text);
}

static void assert_no_event(struct made_ring *made)
{
    char event[8];

    assert_int_equal(bpf_ring_take(&made->ring, event, sizeof event), 0);
}

static void events_come_in_their_order(void **state)
{
    struct made_ring made = made_ring(0);

    (void)state;
    assert_no_event(&made);
    write_event(&made, "one", 3, 0);
    write_event(&made, "two", 3, 0);
    assert_event(&made, "one");
    assert_event(&made, "two");
    assert_no_event(&made);
    free(made.memory);
}

/* The positions of a kernel of 64 bits have 64 bits, also for programs of 32 bits. */
static void positions_grow_beyond_32_bits(void **state)
{
    const uint64_t before = (UINT64_C(1) << 32) - 16, after = (UINT64_C(5) << 32) + 64;
    struct made_ring made = made_ring(before);

    (void)state;
    write_event(&made, "one", 3, 0);
    write_event(&made, "two", 3, 0);
    assert_event(&made, "one");
    assert_event(&made, "two");
    assert_true(*made.ring.taken == before + 32);
    assert_no_event(&made);
    *made.ring.taken = *written_of(&made) = after;
    assert_no_event(&made);
    write_event(&made, "three", 5, 0);
    assert_event(&made, "three");
    assert_true(*made.ring.taken == after + 16);
    write_event(&made, "four", 4, 0);
    bpf_ring_forget(&made.ring);
    assert_true(*made.ring.taken == after + 32);
    assert_no_event(&made);
    free(made.memory);
}

static void an_event_at_the_end_is_in_one_piece(void **state)
{
    struct made_ring made = made_ring(0);

    (void)state;
    *made.ring.taken = *written_of(&made) = made.page - 8;
    write_event(&made, "around", 6, 0);
    assert_event(&made, "around");
    assert_true(*made.ring.taken == made.page + 8);
    free(made.memory);
}

static void an_event_that_is_still_written_is_left(void **state)
{
    struct made_ring made = made_ring(0);

    (void)state;
    write_event(&made, "one", 3, BPF_RINGBUF_BUSY_BIT);
    assert_no_event(&made);
    assert_true(*made.ring.taken == 0);
    *written_of(&made) = 0;
    write_event(&made, "one", 3, 0);
    assert_event(&made, "one");
    free(made.memory);
}

/* Nothing is written behind the caller's memory. */
static void a_long_event_is_cut_but_its_length_is_known(void **state)
{
    struct made_ring made = made_ring(0);
    char event[] = "........";

    (void)state;
    write_event(&made, "a long event", 12, 0);
    write_event(&made, "next", 4, 0);
    assert_int_equal(bpf_ring_take(&made.ring, event, 4), 12);
    assert_string_equal(event, "a lo....");
    assert_event(&made, "next");
    free(made.memory);
}

/* The kernel writes no such length. It ends the reading, and leads nowhere outside of the ring. */
static void a_length_beyond_the_ring_ends_the_reading(void **state)
{
    struct made_ring made = made_ring(0);
    char event[8];

    (void)state;
    write_event(&made, "one", 3, BPF_RINGBUF_BUSY_BIT >> 1);
    assert_int_equal(bpf_ring_take(&made.ring, event, sizeof event),
                     (BPF_RINGBUF_BUSY_BIT >> 1) + 3);
    assert_no_event(&made);
    write_event(&made, "two", 3, 0);
    assert_no_event(&made);
    free(made.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_in_their_order),
        cmocka_unit_test(positions_grow_beyond_32_bits),
        cmocka_unit_test(an_event_at_the_end_is_in_one_piece),
        cmocka_unit_test(an_event_that_is_still_written_is_left),
        cmocka_unit_test(a_long_event_is_cut_but_its_length_is_known),
        cmocka_unit_test(a_length_beyond_the_ring_ends_the_reading),
    };

    return cmocka_run_group_tests_name("bpf_ring", tests, NULL, NULL);
}
